//! CSP#, the language of PAT.

//! The binary, from outside: what it prints and how it ends.

#[cfg(unix)]
mod documents;
mod formats;
mod graph;
mod limits;
mod models;
mod resume;
mod scene;
mod shell;
mod simulate;
mod traces;
mod verdicts;
mod wrong_calls;
mod ws1s;

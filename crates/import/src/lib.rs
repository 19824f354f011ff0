//! Front ends for the languages of other checkers: CSP# ([`csp`]) and Promela ([`promela`]).
//!
//! Each reads a text and returns a [`model::Model`] with its properties, or diagnostics; neither
//! knows files, searches or reports, and neither knows the other. Included files come through a
//! callback.

pub mod csp;
pub mod promela;

use base::{Diagnostic, Severity, Source, cap_errors};

/// What the caller says about a model besides its text.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values for constants and macros, by name (`-D NAME=VALUE`).
    pub defines: Vec<(String, String)>,
    /// Further properties: name and formula (`--ltl`).
    pub ltl: Vec<(String, String)>,
    /// Further properties with path quantifiers: name and formula (`--ctl`).
    pub ctl: Vec<(String, String)>,
    /// Further assumptions about runs (`--assume`).
    pub assume: Vec<String>,
    /// Timers whose values from a threshold on are not told apart (`--abstract-timer NAME=K`).
    pub abstract_timers: Vec<(String, String)>,
    /// How many processes may be alive at once where the text gives no bound; 0 leaves the choice
    /// to the front end. A run that needs more ends in a run-time error that says so.
    pub pool: usize,
}

/// What became of a text.
#[derive(Debug)]
pub struct Loaded {
    /// The model. Invariant: it is there iff no diagnostic is an error.
    pub model: Option<model::Model>,
    /// The properties of the text, then those of the options. Their atoms are those of `model`.
    pub properties: Vec<logic::NamedProperty>,
    /// All texts; the position of a text is its `SourceId`. The model is the first.
    pub sources: Vec<Source>,
    /// What is to be said about them.
    pub diagnostics: Vec<Diagnostic>,
}

impl Loaded {
    /// What became of `sources`. Errors take the model away; repetitions and a flood of errors are
    /// cut.
    pub(crate) fn new(
        model: Option<(model::Model, Vec<logic::NamedProperty>)>,
        sources: Vec<Source>,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Self {
        cap_errors(&mut diagnostics);
        let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
        let (model, properties) = match model {
            Some((model, properties)) if !failed => (Some(model), properties),
            _ => (None, Vec::new()),
        };
        debug_assert!(failed || model.is_some(), "no model and no error");
        Self {
            model,
            properties,
            sources,
            diagnostics,
        }
    }
}

/// Texts above this size are refused.
pub(crate) const MAX_BYTES: usize = 64 << 20;

//! The native language of Fairground: from `.fair` texts to models and properties.
//!
//! [`load`] never fails and never panics: it returns a model if there is one, and diagnostics with
//! positions and advice. The grammar is written down in `docs/reference/language.md`.
//!
//! This crate refuses to know files, searches and how diagnostics are shown.
//!
//! ```
//! let text = "
//!     var x : 0..3 = 0
//!     process P { step when x < 3 { x := x + 1 } }
//!     property top: eventually x == 3
//! ";
//! let source = base::Source { name: "count.fair".into(), text: text.into() };
//! let loaded = lang::load(source, &lang::Options::default());
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.properties[0].name, "top");
//! assert_eq!(loaded.model.unwrap().actions()[0].name, "P.step");
//! ```

mod ast;
mod lexer;
mod lower;
mod parser;

use base::{Diagnostic, Severity, Source, SourceId, Span};

/// What the caller says about a model besides its text.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// Values for constants and parameters, by name (`-D NAME=VALUE`).
    pub defines: Vec<(String, String)>,
    /// Further properties: name and formula (`--ltl`).
    pub ltl: Vec<(String, String)>,
    /// Further properties with path quantifiers: name and formula (`--ctl`).
    pub ctl: Vec<(String, String)>,
    /// Timers that are abstract, with the values from which on theirs are not told apart: the name, or
    /// process and name (`--abstract-timer NAME=K`).
    pub abstract_timers: Vec<(String, String)>,
    /// Further assumptions about runs (`--assume`).
    pub assume: Vec<String>,
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

/// Errors above this number are only counted.
const MAX_ERRORS: usize = 20;

/// Texts above this size are refused.
const MAX_BYTES: usize = 64 << 20;

/// Reads a model with its properties.
#[must_use]
pub fn load(source: Source, options: &Options) -> Loaded {
    let mut sources = vec![source];
    let formula_source = |name: &str, text: &str| Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let ltl = options.ltl.iter().map(|(_, text)| ("<--ltl>", text));
    let ctl = options.ctl.iter().map(|(_, text)| ("<--ctl>", text));
    let assume = options.assume.iter().map(|text| ("<--assume>", text));
    sources.extend(
        ltl.chain(ctl)
            .chain(assume)
            .map(|(name, text)| formula_source(name, text)),
    );
    let mut diagnostics = Vec::new();
    let (model, properties) = match sources.iter().position(|s| s.text.len() > MAX_BYTES) {
        Some(position) => {
            let span = Span::new(SourceId::new(position), 0, 0);
            let message = format!("the text has more than {MAX_BYTES} bytes");
            diagnostics.push(Diagnostic::error("too-large", span, message));
            (None, Vec::new())
        }
        None => read(&sources, options, &mut diagnostics),
    };
    cap_errors(&mut diagnostics);
    let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
    Loaded {
        model: model.filter(|_| !failed),
        properties: if failed { Vec::new() } else { properties },
        sources,
        diagnostics,
    }
}

fn read(
    sources: &[Source],
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> (Option<model::Model>, Vec<logic::NamedProperty>) {
    let file = parser::parse_file(&sources[0].text, SourceId(0), diagnostics);
    let mut formulas = Vec::new();
    for (position, source) in sources.iter().enumerate().skip(1) {
        let id = SourceId::new(position);
        formulas.push(parser::parse_formula(&source.text, id, diagnostics));
    }
    let Some(formulas) = formulas.into_iter().collect::<Option<Vec<_>>>() else {
        return (None, Vec::new());
    };
    if diagnostics.iter().any(|d| d.severity == Severity::Error) {
        return (None, Vec::new());
    }
    lower::lower(&file, &formulas, options, sources, diagnostics)
}

/// Drops repetitions, and errors beyond [`MAX_ERRORS`].
fn cap_errors(diagnostics: &mut Vec<Diagnostic>) {
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut n_errors = 0;
    let mut n_dropped = 0;
    let mut last_span = Span::nowhere();
    for diagnostic in diagnostics.drain(..) {
        if kept.contains(&diagnostic) {
            continue;
        }
        if diagnostic.severity == Severity::Error {
            n_errors += 1;
        }
        if n_errors > MAX_ERRORS {
            n_dropped += 1;
            last_span = diagnostic.labels[0].span;
        } else {
            kept.push(diagnostic);
        }
    }
    if n_dropped > 0 {
        let message = format!("and {n_dropped} more");
        kept.push(Diagnostic::error("too-many-errors", last_span, message));
    }
    *diagnostics = kept;
}

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

use base::{Diagnostic, Severity, Source, SourceId, Span, cap_errors};

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
    /// What the author says about the abstraction for each property, in the same order.
    pub hints: Vec<model::Hints>,
    /// All texts; the position of a text is its `SourceId`. The model is the first.
    pub sources: Vec<Source>,
    /// What is to be said about them.
    pub diagnostics: Vec<Diagnostic>,
}

/// Texts above this size are refused.
const MAX_BYTES: usize = 64 << 20;

/// Reads a model with its properties.
#[must_use]
pub fn load(source: Source, options: &Options) -> Loaded {
    let mut reading = Reading::new(source, options);
    let (model, properties) = match reading.parse() {
        Some((file, formulas)) => {
            let texts = lower::Texts {
                file: &file,
                formulas: &formulas,
                options,
                sources: &reading.sources,
            };
            lower::lower(&texts, &mut reading.said)
        }
        None => (None, Vec::new()),
    };
    let failed = reading.close();
    let questions = if failed { Vec::new() } else { properties };
    let (properties, scopes): (Vec<_>, Vec<_>) = questions.into_iter().unzip();
    Loaded {
        model: model.filter(|_| !failed),
        properties,
        hints: scopes.into_iter().map(|scope| scope.hints).collect(),
        sources: reading.sources,
        diagnostics: reading.said,
    }
}

/// What became of a text whose parameter is without value.
#[derive(Debug)]
pub struct LoadedTemplate {
    /// The template. Invariant: it is there iff no diagnostic is an error.
    pub template: Option<model::Template>,
    /// The properties of the text, then those of the options, each with the processes that it is
    /// about. Their atoms are those of the template.
    pub properties: Vec<(logic::NamedProperty, model::Scope)>,
    /// All texts; the position of a text is its `SourceId`. The model is the first.
    pub sources: Vec<Source>,
    /// What is to be said about them.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads a model with a parameter that has no value. Nothing if the text cannot be parsed or
/// every parameter has a value: then [`load`] is for it.
#[must_use]
pub fn load_template(source: Source, options: &Options) -> Option<LoadedTemplate> {
    let mut reading = Reading::new(source, options);
    let (file, formulas) = reading.parse()?;
    let is_given = |name: &str| options.defines.iter().any(|define| define.0 == name);
    let is_free = |decl: &ast::Decl| match decl {
        ast::Decl::Param { name } => !is_given(&name.text),
        _ => false,
    };
    if !file.decls.iter().any(is_free) {
        return None;
    }
    let texts = lower::Texts {
        file: &file,
        formulas: &formulas,
        options,
        sources: &reading.sources,
    };
    let (template, properties) = lower::lower_template(&texts, &mut reading.said);
    let failed = reading.close();
    Some(LoadedTemplate {
        template: template.filter(|_| !failed),
        properties: if failed { Vec::new() } else { properties },
        sources: reading.sources,
        diagnostics: reading.said,
    })
}

/// Texts and what is to be said about them.
struct Reading {
    sources: Vec<Source>,
    said: Vec<Diagnostic>,
}

impl Reading {
    fn new(source: Source, options: &Options) -> Self {
        let mut sources = vec![source];
        let ltl = options.ltl.iter().map(|(_, text)| ("<--ltl>", text));
        let ctl = options.ctl.iter().map(|(_, text)| ("<--ctl>", text));
        let assume = options.assume.iter().map(|text| ("<--assume>", text));
        sources.extend(ltl.chain(ctl).chain(assume).map(|(name, text)| Source {
            name: name.to_owned(),
            text: text.clone(),
        }));
        let said = Vec::new();
        Self { sources, said }
    }

    /// The file and the formulas, unless something is wrong with their syntax.
    fn parse(&mut self) -> Option<(ast::File, Vec<ast::Expr>)> {
        let too_large = |source: &Source| source.text.len() > MAX_BYTES;
        if let Some(position) = self.sources.iter().position(too_large) {
            let span = Span::new(SourceId::new(position), 0, 0);
            let message = format!("the text has more than {MAX_BYTES} bytes");
            self.said
                .push(Diagnostic::error("too-large", span, message));
            return None;
        }
        let file = parser::parse_file(&self.sources[0].text, SourceId(0), &mut self.said);
        let mut formulas = Vec::new();
        for (position, source) in self.sources.iter().enumerate().skip(1) {
            let id = SourceId::new(position);
            formulas.push(parser::parse_formula(&source.text, id, &mut self.said));
        }
        let formulas = formulas.into_iter().collect::<Option<Vec<_>>>()?;
        let failed = self.said.iter().any(|d| d.severity == Severity::Error);
        (!failed).then_some((file, formulas))
    }

    /// Drops what is too much; says whether there are errors.
    fn close(&mut self) -> bool {
        cap_errors(&mut self.said);
        self.said.iter().any(|d| d.severity == Severity::Error)
    }
}

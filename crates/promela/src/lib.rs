//! Promela, the language of Spin.
//!
//! [`load`] reads a text with its preprocessor directives, builds the control flow that Spin builds,
//! and writes it down as a [`model::Model`] whose states correspond one to one to those that Spin
//! stores. It never fails and never panics. Embedded C code is refused.

mod ast;
mod flow;
mod lower;
mod names;
mod parser;
mod preprocess;
mod symbols;
mod token;

use std::path::Path;

use base::{Diagnostic, Severity, Source, SourceId, Span};
use source::{
    Analysis, Content, Files, FrontEnd, Loaded, MAX_BYTES, Names, Options, System, Variation,
    beside, has_word,
};

use lower::{Extra, Role};
use names::Notes;
use preprocess::{Preprocessor, Seen};

/// Promela as a front end.
#[derive(Clone, Copy, Debug)]
pub struct Promela;

impl FrontEnd for Promela {
    fn name(&self) -> &'static str {
        "Promela"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["pml", "prm", "promela"]
    }

    /// A model has a process, and processes have no other names.
    fn recognises(&self, text: &str) -> bool {
        let opens_init = |at: usize| text[at + "init".len()..].trim_start().starts_with('{');
        has_word(text, "proctype")
            || (has_word(text, "init") && text.match_indices("init").any(|(at, _)| opens_init(at)))
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "active",
            "always",
            "assert",
            "atomic",
            "bit",
            "bool",
            "break",
            "byte",
            "chan",
            "d_step",
            "do",
            "else",
            "empty",
            "enabled",
            "equivalent",
            "eval",
            "eventually",
            "false",
            "fi",
            "for",
            "full",
            "goto",
            "hidden",
            "if",
            "implies",
            "in",
            "init",
            "inline",
            "int",
            "len",
            "ltl",
            "mtype",
            "nempty",
            "never",
            "nfull",
            "notrace",
            "od",
            "of",
            "pid",
            "printf",
            "priority",
            "proctype",
            "provided",
            "release",
            "run",
            "select",
            "short",
            "show",
            "skip",
            "timeout",
            "trace",
            "true",
            "typedef",
            "unless",
            "unsigned",
            "until",
            "weakuntil",
        ]
    }

    /// Numbers of processes. Spin allows no more than the last.
    fn larger_pools(&self) -> &'static [usize] {
        &[16, 32, 64, 128, 255]
    }

    fn accept(&self, _options: &Options) -> Result<(), String> {
        Ok(())
    }

    fn variations(&self) -> &'static [Variation] {
        &Variation::ALL
    }

    fn load(&self, source: Source, files: &dyn Files, options: &Options) -> Loaded {
        load(source, files, options).expecting_by_comments()
    }

    fn analyse(&self, source: Source, files: &dyn Files, options: &Options) -> Analysis {
        analyse(source, files, options)
    }
}

/// Reads a model with its properties. Included files lie beside those that include them in `files`.
///
/// ```
/// let text = "byte x; active proctype P() { do :: x < 3 -> x++ od } ltl top { <> (x == 3) }";
/// let source = base::Source { name: "count.pml".into(), text: text.into() };
/// let no_files = source::Memory::default();
/// let loaded = promela::load(source, &no_files, &source::Options::default());
/// assert!(loaded.diagnostics.is_empty());
/// assert_eq!(loaded.questions.last().unwrap().property.name, "top");
/// ```
#[must_use]
pub fn load(source: Source, files: &dyn Files, options: &Options) -> Loaded {
    if source.text.len() > MAX_BYTES {
        let span = Span::new(SourceId(0), 0, 0);
        let message = format!("the text has more than {MAX_BYTES} bytes");
        let diagnostics = vec![Diagnostic::error("too-large", span, message)];
        return Loaded::new(None, vec![source], diagnostics);
    }

    read(source, files, options).loaded(options)
}

/// A text that was read.
struct Read {
    program: ast::Program,
    extras: Vec<Extra>,
    sources: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
    seen: Seen,
    notes: Notes,
}

fn read(source: Source, files: &dyn Files, options: &Options) -> Read {
    let mut include = |including: &str, name: &str| -> Result<Source, String> {
        let path = beside(Path::new(including), name);
        let text = files.read(&path).map_err(|error| error.to_string())?;
        let name = path.display().to_string();
        Ok(Source { name, text })
    };

    let mut preprocessor = Preprocessor::new(&mut include);
    // The model is the first source, so that positions in it need no source of their own.
    preprocessor.sources.push(source);
    for (name, value) in &options.defines {
        preprocessor.define(name, value);
    }
    let tokens = preprocessor.read_first();
    let formulas = formula_tokens(&mut preprocessor, options);
    let Preprocessor {
        sources,
        mut diagnostics,
        seen,
        ..
    } = preprocessor;
    let (mut program, notes) = parser::parse_program(tokens, &mut diagnostics);
    let mut extras = Vec::new();

    for (extra, tokens) in formulas {
        let formula = parser::parse_formula(
            tokens,
            extra.role == Role::Ctl,
            &mut program,
            &mut diagnostics,
        );
        if let Some(formula) = formula {
            extras.push(Extra { formula, ..extra });
        }
    }
    Read {
        program,
        extras,
        sources,
        diagnostics,
        seen,
        notes,
    }
}

impl Read {
    fn has_errors(&self) -> bool {
        self.diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error)
    }

    fn loaded(mut self, options: &Options) -> Loaded {
        let lowered = if self.has_errors() {
            None
        } else {
            let (program, said) = (&self.program, &mut self.diagnostics);
            lower::lower(program, &self.extras, &self.sources, options, said)
        };
        let found = lowered.map(|(model, questions, prints)| {
            let system = System {
                prints,
                ..System::new(self.sources[0].name.clone(), model)
            };
            (Content::Systems(vec![system]), questions)
        });
        Loaded::new(found, self.sources, self.diagnostics)
    }
}

/// What is known about a text, also if something is wrong with it.
fn analyse(source: Source, files: &dyn Files, options: &Options) -> Analysis {
    if source.text.len() > MAX_BYTES {
        return Analysis::of_names(Names::default(), load(source, files, options));
    }
    let read = read(source, files, options);
    let text = &read.sources[0].text;
    let has_errors = read.has_errors();
    let names = names::names(&read.program, &read.seen, &read.notes, text, has_errors);
    let loaded = read.loaded(options).expecting_by_comments();
    Analysis::of_names(names, loaded)
}

/// The formulas of the command line as tokens; they may use the macros of the model.
fn formula_tokens(
    preprocessor: &mut Preprocessor<'_>,
    options: &Options,
) -> Vec<(Extra, Vec<token::Token>)> {
    let ltl = options
        .ltl
        .iter()
        .map(|(name, text)| ("<--ltl>", name.as_str(), text, Role::Ltl));
    let ctl = options
        .ctl
        .iter()
        .map(|(name, text)| ("<--ctl>", name.as_str(), text, Role::Ctl));
    let assume = options
        .assume
        .iter()
        .map(|text| ("<--assume>", "", text, Role::Assumption));
    let mut found = Vec::new();

    for (source, name, text, role) in ltl.chain(ctl).chain(assume) {
        let tokens = preprocessor.read(Source {
            name: source.to_owned(),
            text: text.clone(),
        });
        let extra = Extra {
            name: name.to_owned(),
            text: text.clone(),
            formula: ast::Expr {
                kind: ast::ExprKind::Int(1),
                span: Span::nowhere(),
            },
            role,
        };
        found.push((extra, tokens));
    }

    found
}

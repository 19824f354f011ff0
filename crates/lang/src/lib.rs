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
//! let loaded = lang::load(source, &source::Options::default());
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.questions[0].property.name, "top");
//! assert_eq!(loaded.systems()[0].model.actions()[0].name, "P.step");
//! ```

mod analysis;
mod ast;
mod format;
mod import;
mod keywords;
mod lexer;
mod lower;
mod parser;
mod threshold;

pub use analysis::{analyse, analyse_with};
pub use format::format;

use std::sync::Arc;

use base::{Diagnostic, Expected, Severity, Source, SourceId, Span};
use logic::NamedProperty;
use lower::FreeParameters;
use model::{Expr, Model, Scope, Stmt, StmtKind};
use rustc_hash::FxHashMap;
use source::{
    Analysis, Content, Family, Files, FrontEnd, Loaded, MAX_BYTES, Members, Memory, Options,
    Question, System,
};

/// The native language as a front end.
#[derive(Clone, Copy, Debug)]
pub struct Native;

impl FrontEnd for Native {
    fn name(&self) -> &'static str {
        "the native language"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["fair"]
    }

    /// Its files have one extension, and texts with other names are of other languages.
    fn recognises(&self, _text: &str) -> bool {
        false
    }

    fn keywords(&self) -> &'static [&'static str] {
        keywords::KEYWORDS
    }

    /// How many elements sequences and bags without a bound may have.
    fn larger_pools(&self) -> &'static [usize] {
        &lower::LARGER_ROOMS
    }

    fn accept(&self, _options: &Options) -> Result<(), String> {
        Ok(())
    }

    fn load(&self, source: Source, files: &dyn Files, options: &Options) -> Loaded {
        load_with(source, files, options)
    }

    fn analyse(&self, source: Source, files: &dyn Files, options: &Options) -> Analysis {
        analyse_with(source, files, options)
    }
}

/// Reads a model that imports nothing.
#[must_use]
pub fn load(source: Source, options: &Options) -> Loaded {
    load_with(source, &Memory::default(), options)
}

/// Reads a model with its properties, or a family of models if a parameter is without value. Imported
/// files lie beside those that import them in `files`.
#[must_use]
pub fn load_with(source: Source, files: &dyn Files, options: &Options) -> Loaded {
    let mut reading = Reading::new(source, options);
    let Some((file, formulas)) = reading.parse(files) else {
        return Loaded::new(None, reading.sources, reading.said);
    };
    let parsed = Parsed {
        file,
        formulas,
        sources: reading.sources,
        said: reading.said,
        options: options.clone(),
    };

    let free = parsed.free_parameters();
    if options.closed || free == FreeParameters::None {
        return parsed.system(options);
    }

    // Parameters that are not sizes stay numbers of one system; only sizes need instances.
    if let Some(system) = parsed.for_all_numbers() {
        return system;
    }
    if free == FreeParameters::Several {
        parsed.threshold_automata()
    } else {
        parsed.family()
    }
}

/// Texts that have been parsed, to be translated for one or more values of a parameter.
struct Parsed {
    file: ast::File,
    formulas: Vec<ast::Expr>,
    sources: Vec<Source>,
    /// What the parser says.
    said: Vec<Diagnostic>,
    options: Options,
}

impl Parsed {
    fn free_parameters(&self) -> FreeParameters {
        let defines = &self.options.defines;
        let is_given = |name: &str| defines.iter().any(|define| define.0 == name);
        let free = self.file.decls.iter().filter_map(|decl| match decl {
            ast::Decl::Param { name } => Some((name, true)),
            ast::Decl::DataParam { name, .. } => {
                Some((name, lower::is_family_size(&self.file, &name.text)))
            }
            _ => None,
        });
        let free: Vec<_> = free.filter(|(name, _)| !is_given(&name.text)).collect();
        match (free.iter().any(|(_, is_size)| *is_size), free.len()) {
            (false, _) => FreeParameters::None,
            (true, 1) => FreeParameters::One,
            (true, _) => FreeParameters::Several,
        }
    }

    /// One system whose parameters without value are numbers that never change, if they are nothing
    /// more: not the size of anything.
    fn for_all_numbers(&self) -> Option<Loaded> {
        let mut names = self.file.decls.iter().filter_map(|decl| match decl {
            ast::Decl::Param { name } | ast::Decl::DataParam { name, .. } => Some(&name.text),
            _ => None,
        });
        if names.any(|name| lower::is_family_size(&self.file, name)) {
            return None;
        }
        let loaded = self.system(&self.options);
        let has_range = |system: &System| has_range_of_state(&system.model);
        let is_fixed = |content: &Content| match content {
            Content::Systems(systems) => !systems.iter().any(has_range),
            Content::Family(_) | Content::Threshold(_) => false,
        };
        loaded
            .content
            .as_ref()
            .is_some_and(is_fixed)
            .then_some(loaded)
    }

    fn texts<'a>(&'a self, options: &'a Options) -> lower::Texts<'a> {
        lower::Texts {
            file: &self.file,
            formulas: &self.formulas,
            options,
            sources: &self.sources,
        }
    }

    fn system(&self, options: &Options) -> Loaded {
        let mut said = self.said.clone();
        let (model, properties) = lower::lower(&self.texts(options), &mut said);
        let found = model.map(|(model, picture, values)| {
            let mut system = System::new(self.sources[0].name.clone(), model);
            system.picture = picture;
            system.values = values;
            (Content::Systems(vec![system]), self.questions(properties))
        });
        Loaded::new(found, self.sources.clone(), said)
    }

    /// The questions with what the text expects of them.
    fn questions(&self, properties: Vec<(NamedProperty, Scope)>) -> Vec<Question> {
        let mut expected: FxHashMap<String, Expected> = FxHashMap::default();
        for decl in &self.file.decls {
            match decl {
                ast::Decl::Property(property) => {
                    let entry = property.expected.map(|e| (property.name.text.clone(), e));
                    expected.extend(entry);
                }
                ast::Decl::System(system) => {
                    for property in &system.properties {
                        let name = format!("{}.{}", system.name.text, property.name.text);
                        expected.extend(property.expected.map(|e| (name, e)));
                    }
                }
                _ => {}
            }
        }

        let about = |(property, scope): (NamedProperty, Scope)| Question {
            expected: expected.get(&property.name).copied(),
            ..Question::about(property, scope)
        };
        properties.into_iter().map(about).collect()
    }

    /// All counter systems of a text with several free parameters. Each question has an automaton of
    /// its own.
    fn threshold_automata(&self) -> Loaded {
        let mut said = self.said.clone();
        let (open, properties) = lower::lower_open(&self.texts(&self.options), &mut said);
        let found = open.and_then(|open| match threshold::automata(&open, &properties) {
            Ok((automata, properties)) => {
                let scopes = properties.into_iter().map(|p| (p, Scope::default()));
                let mut questions = self.questions(scopes.collect());
                for (system, question) in questions.iter_mut().enumerate() {
                    question.system = system;
                }
                Some((Content::Threshold(automata), questions))
            }
            Err(wrong) => {
                said.push(*wrong);
                None
            }
        });
        Loaded::new(found, self.sources.clone(), said)
    }

    fn family(self) -> Loaded {
        let mut said = self.said.clone();
        let (template, properties) = lower::lower_template(&self.texts(&self.options), &mut said);
        let sources = self.sources.clone();
        let questions = self.questions(properties);
        let found = template.map(|template| {
            let parameter = template.name.clone();
            let members = Arc::new(Instances {
                parsed: self,
                parameter,
            });
            let family = Family { template, members };
            (Content::Family(Box::new(family)), questions)
        });
        Loaded::new(found, sources, said)
    }
}

/// Does a quantifier or a loop range between bounds that depend on variables?
fn has_range_of_state(model: &Model) -> bool {
    let mut found = false;
    let mut visit = |expr: &Expr| {
        expr.walk(&mut |inner| {
            // shape: other expressions have no range.
            if let Expr::Quantified { lo, hi, .. } = inner {
                found |= lo.mentions_state() || hi.mentions_state();
            }
        });
    };
    let parts = model.parts();
    parts.init.iter().for_each(&mut visit);
    for atom in &parts.atoms {
        atom.meaning.for_each_operand(&mut visit);
    }
    let steps = || parts.processes.iter().flat_map(|process| &process.steps);
    for step in steps() {
        visit(&step.guard);
        step.sync.for_each_operand(&mut visit);
        Stmt::for_each_expr(&step.effect, &mut visit);
    }
    for step in steps() {
        Stmt::walk_all(&step.effect, &mut |statement| {
            // shape: what a choice ranges over may depend on the state.
            if let StmtKind::For(_, lo, hi, _) = statement {
                found |= lo.mentions_state() || hi.mentions_state();
            }
        });
    }
    found
}

/// The instances of a text with one free parameter.
struct Instances {
    parsed: Parsed,
    parameter: String,
}

impl Members for Instances {
    fn with_value(&self, value: i64) -> Loaded {
        let mut options = self.parsed.options.clone();
        let define = (self.parameter.clone(), value.to_string());
        options.defines.push(define);
        self.parsed.system(&options)
    }
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
        let values = options.values.iter().map(|text| ("<expression>", text));
        let texts = ltl.chain(ctl).chain(assume).chain(values);
        sources.extend(texts.map(|(name, text)| Source {
            name: name.to_owned(),
            text: text.clone(),
        }));
        let said = Vec::new();
        Self { sources, said }
    }

    /// The file and the formulas, unless something is wrong with their syntax.
    fn parse(&mut self, files: &dyn Files) -> Option<(ast::File, Vec<ast::Expr>)> {
        let too_large = |source: &Source| source.text.len() > MAX_BYTES;
        if let Some(position) = self.sources.iter().position(too_large) {
            let span = Span::new(SourceId::new(position), 0, 0);
            let message = format!("the text has more than {MAX_BYTES} bytes");
            self.said
                .push(Diagnostic::error("too-large", span, message));
            return None;
        }

        // Only the given sources are formulas: imported files join the list while the first is read.
        let n_given = self.sources.len();
        let file = import::read(files, &mut self.sources, &mut self.said);
        let mut formulas = Vec::new();
        for (position, source) in self.sources[..n_given].iter().enumerate().skip(1) {
            let id = SourceId::new(position);
            let text = &source.text;
            formulas.push(parser::parse_formula(
                text,
                id,
                &file.aliases,
                &mut self.said,
            ));
        }

        let formulas = formulas.into_iter().collect::<Option<Vec<_>>>()?;
        let failed = self.said.iter().any(|d| d.severity == Severity::Error);
        (!failed).then_some((file, formulas))
    }
}

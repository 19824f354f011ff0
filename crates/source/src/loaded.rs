//! What becomes of a text.

use std::fmt;
use std::sync::Arc;

use base::{Diagnostic, Severity, Source, Span, cap_errors};
use logic::NamedProperty;
use model::threshold::ThresholdAutomaton;
use model::{Expr, Hints, Model, ProcessId, Stmt, Template, Type};

use crate::doubts::Doubts;
use crate::picture::Picture;
use crate::question::Question;

/// What became of a text.
#[derive(Debug)]
pub struct Loaded {
    /// What the text describes. Invariant: it is there iff no diagnostic is an error.
    pub content: Option<Content>,
    /// The questions of the text, then those of the options.
    pub questions: Vec<Question>,
    /// All texts; the position of a text is its `SourceId`. The model is the first.
    pub sources: Vec<Source>,
    /// What is to be said about them.
    pub diagnostics: Vec<Diagnostic>,
}

/// What a text describes.
#[derive(Debug)]
pub enum Content {
    /// Systems. Invariant: there is at least one.
    Systems(Vec<System>),
    /// One system for each value of a parameter that has none.
    Family(Box<Family>),
    /// Threshold automata, each of which stands for one system for all values of the parameters that
    /// it admits. Invariant: there is at least one, and all have the same name and parameters.
    Threshold(Vec<ThresholdAutomaton>),
}

/// A system with everything in it known.
#[derive(Debug)]
pub struct System {
    /// What it is called.
    pub name: String,
    /// Its model.
    pub model: Model,
    /// A component that contains parallel compositions, if there is one: for process fairness it
    /// is a single process.
    pub compound: Option<String>,
    /// What depends on steps that the front end does not tell apart.
    pub doubts: Doubts,
    /// The picture that the model draws of its states.
    pub picture: Option<Picture>,
    /// The expressions of the options whose values are wanted, if the front end knows such.
    pub values: Vec<Observed>,
    /// What steps print.
    pub prints: Vec<Print>,
}

/// What a step prints, which does not belong to its meaning.
#[derive(Clone, Debug)]
pub struct Print {
    /// The process, and which of its steps.
    pub step: (ProcessId, usize),
    /// What the step does before it prints.
    pub before: Vec<Stmt>,
    /// What is printed, one piece after the other.
    pub pieces: Vec<PrintedPiece>,
}

/// A piece of what is printed.
#[derive(Clone, Debug)]
pub enum PrintedPiece {
    /// This text.
    Text(String),
    /// A value as a number.
    Number(Expr),
    /// A value as a character.
    Character(Expr),
    /// A value by its name, or as a number if it has none.
    Named(Expr, Vec<(i64, String)>),
}

/// An expression whose values in states are wanted.
#[derive(Clone, Debug)]
pub struct Observed {
    /// One expression for each cell of a value.
    pub cells: Vec<Expr>,
    /// The type of the value.
    pub ty: Type,
    /// Where it is written.
    pub span: Span,
}

impl System {
    /// A system about which nothing else is to be said.
    #[must_use]
    pub fn new(name: impl Into<String>, model: Model) -> Self {
        Self {
            name: name.into(),
            model,
            compound: None,
            doubts: Doubts::default(),
            picture: None,
            values: Vec::new(),
            prints: Vec::new(),
        }
    }
}

/// All systems that a text with a free parameter describes.
#[derive(Clone)]
pub struct Family {
    /// What they have in common.
    pub template: Template,
    /// Makes the system for a value of the parameter.
    pub members: Arc<dyn Members>,
}

impl fmt::Debug for Family {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let template = &self.template;
        f.debug_struct("Family")
            .field("template", template)
            .finish_non_exhaustive()
    }
}

/// The members of a family. The text is not parsed again for them.
pub trait Members: Send + Sync {
    /// What the text says if the parameter has this value.
    fn with_value(&self, value: i64) -> Loaded;
}

impl Loaded {
    /// What became of `sources`. Errors take the content away; repetitions and a flood of errors are
    /// cut.
    #[must_use]
    pub fn new(
        found: Option<(Content, Vec<Question>)>,
        sources: Vec<Source>,
        mut diagnostics: Vec<Diagnostic>,
    ) -> Self {
        cap_errors(&mut diagnostics);
        let failed = diagnostics.iter().any(|d| d.severity == Severity::Error);
        debug_assert!(failed || found.is_some(), "nothing found and no error");

        let (content, questions) = found.filter(|_| !failed).unzip();
        Self {
            content,
            questions: questions.unwrap_or_default(),
            sources,
            diagnostics,
        }
    }

    /// The systems; none for a family.
    #[must_use]
    pub fn systems(&self) -> &[System] {
        match &self.content {
            Some(Content::Systems(systems)) => systems,
            Some(Content::Family(_) | Content::Threshold(_)) | None => &[],
        }
    }

    /// The family, if a parameter has no value.
    #[must_use]
    pub fn family(&self) -> Option<&Family> {
        match &self.content {
            Some(Content::Family(family)) => Some(family),
            Some(Content::Systems(_) | Content::Threshold(_)) | None => None,
        }
    }

    /// The first system with its properties, for callers that expect nothing else.
    #[must_use]
    pub fn single(self) -> Single {
        let model = match self.content {
            Some(Content::Systems(mut systems)) => Some(systems.swap_remove(0).model),
            Some(Content::Family(_) | Content::Threshold(_)) | None => None,
        };
        let is_its = |question: &Question| question.system == 0;
        let questions = self.questions.into_iter().filter(is_its);
        let (properties, hints) = questions.map(|q| (q.property, q.scope.hints)).unzip();
        Single {
            model,
            properties,
            hints,
            sources: self.sources,
            diagnostics: self.diagnostics,
        }
    }
}

/// The first system of a text.
#[derive(Debug)]
pub struct Single {
    /// The model.
    pub model: Option<Model>,
    /// Its properties.
    pub properties: Vec<NamedProperty>,
    /// What the author says about the abstraction for each property, in the same order.
    pub hints: Vec<Hints>,
    /// All texts; the position of a text is its `SourceId`. The model is the first.
    pub sources: Vec<Source>,
    /// What is to be said about them.
    pub diagnostics: Vec<Diagnostic>,
}

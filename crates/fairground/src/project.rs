//! A model with questions about it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use base::{Diagnostic, Expected, Fairness, FairnessKind, Route, Source};
use logic::NamedProperty;
use model::{Model, Scope};
use source::{Content, Family, Files, FrontEnd, Loaded, Memory, Options, System, Unreadable};

use crate::error::{Error, WrongText};
use crate::languages;
use crate::question::{Question, QuestionKind};
use crate::{Answer, Plan};

/// A model with questions about it: one or more systems, or a family of systems whose parameter has
/// no value.
///
/// Every file is read and every text parsed when the project is opened, and never again.
#[derive(Debug)]
pub struct Project {
    /// What was asked for and read; nothing if there is no text.
    origin: Option<Origin>,
    pub(crate) content: Content,
    /// The questions as front ends ask them. Invariant: as long as `questions`.
    pub(crate) asked: Vec<source::Question>,
    questions: Vec<Question>,
    pub(crate) sources: Vec<Source>,
    diagnostics: Vec<Diagnostic>,
}

/// Where a project comes from.
struct Origin {
    front_end: &'static dyn FrontEnd,
    path: PathBuf,
    options: Options,
    /// All files that were read.
    files: Memory,
}

impl std::fmt::Debug for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Origin").field(&self.path).finish()
    }
}

impl Project {
    /// Reads a model in the language that the options or the extension of its file say, else in
    /// the one that it looks like.
    ///
    /// # Errors
    /// The file cannot be read, its language is not known, the options do not fit, or its text is
    /// wrong.
    pub fn open(
        files: &dyn Files,
        path: impl AsRef<Path>,
        options: &Options,
    ) -> Result<Self, Error> {
        let path = path.as_ref();
        let files = Remembering::new(files);
        let text = files.read(path);
        let text = text.map_err(|error| Error::Call(format!("{error:#}")))?;
        let front_end = languages::front_end(path, &text, options.language.as_deref())?;
        front_end.accept(options).map_err(Error::Call)?;

        let name = path.display().to_string();
        let mut loaded = front_end.load(Source { name, text }, &files, options);
        expect(&mut loaded, &options.expected)?;
        let origin = Origin {
            front_end,
            path: path.to_owned(),
            options: options.clone(),
            files: files.read.into_inner(),
        };
        Self::from_loaded(loaded, Some(origin))
    }

    /// A model that was built by the program, with properties about it. Their atoms are those of the
    /// model.
    #[must_use]
    pub fn from_model(name: impl Into<String>, model: Model, asked: Vec<NamedProperty>) -> Self {
        let system = System::new(name, model);
        let about = |property| source::Question::about(property, Scope::default());
        let asked = asked.into_iter().map(about).collect();
        let content = Content::Systems(vec![system]);
        let loaded = Loaded::new(Some((content, asked)), Vec::new(), Vec::new());
        Self::from_loaded(loaded, None).expect("there is nothing to be said about it")
    }

    fn from_loaded(loaded: Loaded, origin: Option<Origin>) -> Result<Self, Error> {
        let Loaded {
            content,
            questions: asked,
            sources,
            diagnostics,
        } = loaded;

        let Some(content) = content else {
            return Err(Error::Text(WrongText {
                sources,
                diagnostics,
            }));
        };

        let numbered = asked.iter().enumerate();
        let questions = numbered.map(|(position, question)| Question {
            name: question.property.name.clone(),
            text: question.property.text.clone(),
            kind: QuestionKind::of(question),
            span: question.property.span,
            system: match &content {
                Content::Systems(systems) => systems[question.system].name.clone(),
                Content::Family(family) => family.template.name.clone(),
            },
            expected: question.expected,
            position,
        });

        let questions = questions.collect();
        Ok(Self {
            origin,
            content,
            asked,
            questions,
            sources,
            diagnostics,
        })
    }

    /// What can be asked: the questions of the text, then those of the options.
    #[must_use]
    pub fn questions(&self) -> &[Question] {
        &self.questions
    }

    /// The question with this name.
    #[must_use]
    pub fn question(&self, name: &str) -> Option<&Question> {
        self.questions.iter().find(|question| question.name == name)
    }

    /// All texts; the position of a text is its [`base::SourceId`]. The model is the first.
    #[must_use]
    pub fn sources(&self) -> &[Source] {
        &self.sources
    }

    /// Warnings about the texts.
    #[must_use]
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// Is it a family of systems, for all values of a parameter?
    #[must_use]
    pub fn is_family(&self) -> bool {
        self.family().is_some()
    }

    /// Does the way of answering that the plan asks for fit the model?
    ///
    /// # Errors
    /// Why not.
    pub fn fits(&self, plan: &Plan) -> Result<(), Error> {
        match (&self.content, plan.route) {
            (Content::Systems(_), Some(Route::Ws1s)) => Err(Error::Call(
                "the model has no parameter without value (`param N`), so there is nothing to check for all values"
                    .to_owned(),
            )),
            (Content::Family(_), Some(Route::Explicit)) => Err(Error::Call(
                "the route `explicit` needs a value for every parameter, such as -D N=3".to_owned(),
            )),
            (Content::Family(family), _) => crate::family::check_members(self, family),
            (Content::Systems(_), _) => Ok(()),
        }
    }

    /// What is to be said about the model as a whole, once questions about it have been answered.
    #[must_use]
    pub fn warnings(&self, answers: &[(&Question, &Answer)], plan: &Plan) -> Vec<Diagnostic> {
        let Content::Systems(systems) = &self.content else {
            return Vec::new();
        };
        let is_everything = answers.len() == self.questions.len();
        let mut outcomes = Vec::new();
        for (question, answer) in answers {
            let asked = &self.asked[question.position];
            if asked.system == 0 {
                let mut outcome = answer.outcome.clone();
                // What is not checked may need the annotations, so they must not be called needless.
                outcome.fairness.annotated &= is_everything;
                outcomes.push((&asked.property, outcome));
            }
        }
        let checked: Vec<_> = outcomes.iter().map(|(p, outcome)| (*p, outcome)).collect();
        check::needless_annotations(&systems[0].model, &checked, plan)
    }

    /// The fairness of runs about which no question is asked: what the caller asks for, else what
    /// the model says, else its annotations.
    ///
    /// # Errors
    /// The project is a family.
    pub fn fairness(&self, asked_for: Option<Fairness>) -> Result<Fairness, Error> {
        let model = self.model()?;
        let annotated = Fairness {
            kind: FairnessKind::None,
            annotated: !model.parts().annotations.is_empty(),
            timers: false,
        };
        Ok(asked_for.or(model.parts().fairness).unwrap_or(annotated))
    }

    /// The first system.
    ///
    /// # Errors
    /// The project is a family.
    pub fn model(&self) -> Result<&Model, Error> {
        match &self.content {
            Content::Systems(systems) => Ok(&systems[0].model),
            Content::Family(family) => Err(Error::Call(format!(
                "the parameter `{0}` of the model has no value; give it one, for example with `-D {0}=3`",
                family.template.name
            ))),
        }
    }

    pub(crate) fn family(&self) -> Option<&Family> {
        match &self.content {
            Content::Family(family) => Some(family),
            Content::Systems(_) => None,
        }
    }

    /// The options that the text was read with; none without a text.
    pub(crate) fn options(&self) -> Options {
        let origin = self.origin.as_ref();
        origin.map_or_else(Options::default, |origin| origin.options.clone())
    }

    /// The files that were read, and which of them is the model; nothing without a text.
    pub(crate) fn files(&self) -> Option<(&dyn Files, &Path)> {
        let origin = self.origin.as_ref()?;
        Some((&origin.files, &origin.path))
    }

    /// The project again, with as much provided for where the text gives no bound; nothing if that is
    /// what this one has.
    pub(crate) fn with_pool(&self, pool: usize) -> Option<Result<Self, Error>> {
        let origin = self.origin.as_ref()?;
        let options = Options {
            pool,
            ..origin.options.clone()
        };
        let is_same = pool == origin.options.pool;
        (!is_same).then(|| Self::open(&origin.files, &origin.path, &options))
    }

    /// The extension of files in the language that the project was read from.
    pub(crate) fn language(&self) -> Option<&'static str> {
        let origin = self.origin.as_ref()?;
        origin.front_end.extensions().first().copied()
    }

    /// The project again, with further assumptions; nothing if it was not read from a text.
    pub(crate) fn assuming(&self, more: &[String]) -> Option<Result<Self, Error>> {
        let origin = self.origin.as_ref()?;
        let options = crate::advice::with_assumptions(&origin.options, more);
        Some(Self::open(&origin.files, &origin.path, &options))
    }

    /// The project again, with more and more provided for where the text gives no bound.
    pub(crate) fn larger(&self) -> impl Iterator<Item = Result<Self, Error>> {
        let origin = self.origin.iter();
        origin.flat_map(|origin| {
            let pools = origin.front_end.larger_pools().iter();
            pools.map(|&pool| {
                let options = Options {
                    pool,
                    ..origin.options.clone()
                };
                Self::open(&origin.files, &origin.path, &options)
            })
        })
    }
}

/// Notes what the caller expects of verdicts.
fn expect(loaded: &mut Loaded, expected: &[(String, Expected)]) -> Result<(), Error> {
    if loaded.content.is_none() {
        return Ok(());
    }
    for (name, expected) in expected {
        let mut questions = loaded.questions.iter_mut();
        match questions.find(|question| question.property.name == *name) {
            Some(question) => question.expected = Some(*expected),
            None => {
                let message = format!("there is no property `{name}` to expect something of");
                return Err(Error::Call(message));
            }
        }
    }
    Ok(())
}

/// Files that are read at most once.
struct Remembering<'f> {
    below: &'f dyn Files,
    read: RefCell<Memory>,
}

impl<'f> Remembering<'f> {
    fn new(below: &'f dyn Files) -> Self {
        let read = RefCell::default();
        Self { below, read }
    }
}

impl Files for Remembering<'_> {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        if let Ok(text) = self.read.borrow().read(path) {
            return Ok(text);
        }
        let text = self.below.read(path)?;
        self.read.borrow_mut().insert(path, text.clone());
        Ok(text)
    }
}

//! A model with questions about it.

use std::cell::RefCell;
use std::path::{Path, PathBuf};

use base::{Diagnostic, Expected, Fairness, FairnessKind, Route, Source};
use logic::NamedProperty;
use model::{Model, Scope};
use source::{Content, Files, FrontEnd, Loaded, Memory, Options, System, Unreadable, Variation};

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
        let asked_for = options.language.as_deref();
        let language_of = |text: &str| languages::front_end(path, text, asked_for);
        Self::open_in(&language_of, files, path, options)
    }

    /// Reads a model in the language that is found for its text.
    fn open_in(
        language_of: &dyn Fn(&str) -> Result<&'static dyn FrontEnd, Error>,
        files: &dyn Files,
        path: &Path,
        options: &Options,
    ) -> Result<Self, Error> {
        let files = Remembering::new(files);
        let text = files.read(path);
        let text = text.map_err(|error| Error::Call(format!("{error:#}")))?;
        let front_end = language_of(&text)?;
        front_end.accept_all(options).map_err(Error::Call)?;

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
                Content::Threshold(automata) => automata[0].name.clone(),
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

    /// Is it a family of systems, for all values of one or more parameters?
    #[must_use]
    pub fn is_family(&self) -> bool {
        match &self.content {
            Content::Systems(_) => false,
            Content::Family(_) | Content::Threshold(_) => true,
        }
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
            (
                Content::Family(_) | Content::Threshold(_),
                Some(route @ (Route::Explicit | Route::Symbolic | Route::Race)),
            ) => Err(Error::Call(format!(
                "the route `{}` needs a value for every parameter, such as -D N=3",
                route.name()
            ))),
            (Content::Threshold(_), None | Some(Route::Schemas)) => Ok(()),
            (Content::Threshold(_), Some(_)) => Err(Error::Call(
                "a threshold automaton is checked for all parameters by the route `schemas`, or with a value for each (`-D N=4`) by the route `explicit`"
                    .to_owned(),
            )),
            (Content::Systems(_) | Content::Family(_), Some(Route::Schemas)) => {
                Err(Error::Call(
                    "the route `schemas` is for threshold automata with parameters that have no values"
                        .to_owned(),
                ))
            }
            (Content::Family(_), _) if plan.sets.is_some() => Err(Error::Call(
                "`--disk` needs a value for every parameter, such as -D N=3".to_owned(),
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
            Content::Threshold(automata) => Err(Error::Call(format!(
                "the parameters {} of the model have no values; give each one, for example with `-D {}=4`",
                automata[0].parameters.join(", "),
                automata[0].parameters.first().map_or("N", String::as_str)
            ))),
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

    /// The project again, with as much provided for as ever: for single runs, which are not to end where
    /// a search would begin anew with more room.
    ///
    /// # Errors
    /// The text cannot be read again.
    pub fn for_walks(self) -> Result<Self, Error> {
        // Elsewhere it is processes that are provided for, and they are there before they are created.
        let is_native = self.language() == Some("fair");
        let origin = self.origin.as_ref().filter(|_| is_native);
        let pool = origin.and_then(|origin| origin.front_end.larger_pools().last());
        match pool.and_then(|pool| self.with_pool(*pool)) {
            Some(largest) => largest,
            None => Ok(self),
        }
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

    /// The project again, with assertions that fail passed over; nothing if its language has no such
    /// reading.
    pub(crate) fn without_assertions(&self) -> Option<Result<Self, Error>> {
        let origin = self.origin.as_ref()?;
        let variation = Variation::WithoutAssertions;
        if !origin.front_end.variations().contains(&variation) {
            return None;
        }
        let mut options = origin.options.clone();
        options.variations.push(variation);
        // The questions may be others.
        options.expected.clear();
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
                let language = |_: &str| Ok(origin.front_end);
                Self::open_in(&language, &origin.files, &origin.path, &options)
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

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicUsize, Ordering};

    use base::NoProgress;
    use source::Analysis;

    use super::*;

    /// The native language, which counts how often a text is read.
    struct Counting {
        n_loads: AtomicUsize,
    }

    impl FrontEnd for Counting {
        fn name(&self) -> &'static str {
            lang::Native.name()
        }

        fn extensions(&self) -> &'static [&'static str] {
            lang::Native.extensions()
        }

        fn recognises(&self, text: &str) -> bool {
            lang::Native.recognises(text)
        }

        fn larger_pools(&self) -> &'static [usize] {
            lang::Native.larger_pools()
        }

        fn keywords(&self) -> &'static [&'static str] {
            lang::Native.keywords()
        }

        fn accept(&self, options: &Options) -> Result<(), String> {
            lang::Native.accept(options)
        }

        fn load(&self, source: Source, files: &dyn Files, options: &Options) -> Loaded {
            self.n_loads.fetch_add(1, Ordering::Relaxed);
            lang::Native.load(source, files, options)
        }

        fn analyse(&self, source: Source, files: &dyn Files, options: &Options) -> Analysis {
            lang::Native.analyse(source, files, options)
        }
    }

    #[test]
    fn a_model_is_made_once_if_that_suffices() {
        static COUNTING: Counting = Counting {
            n_loads: AtomicUsize::new(0),
        };
        let text = "process P { init a from a { go -> b } from b { back -> a } }
            property again: always eventually P @ b
            reachable there: P @ b";
        let files = Memory::new([("m.fair", text)]);
        let language = |_: &str| -> Result<&'static dyn FrontEnd, Error> { Ok(&COUNTING) };
        let options = Options::default();
        let project = Project::open_in(&language, &files, Path::new("m.fair"), &options);
        let project = project.expect("it is right");
        assert!(!COUNTING.larger_pools().is_empty(), "it could be larger");

        let plan = Plan::default();
        let questions: Vec<&Question> = project.questions().iter().collect();
        assert_eq!(questions.len(), 2);
        for question in &questions {
            let answer = project.check(question, &plan, &mut NoProgress);
            assert_eq!(answer.expect("no bug").verdict(), crate::Verdict::Holds);
        }
        let together = project.check_together(&questions, &plan, &mut NoProgress);
        assert!(together.is_ok());
        assert_eq!(COUNTING.n_loads.load(Ordering::Relaxed), 1);
    }
}

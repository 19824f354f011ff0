//! What every backend can do.

use base::Budget;

use crate::term::Term;
use crate::value::Model;

/// What a solver says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There is a model, and this is one. It has been checked by evaluation.
    Sat(Model),
    /// There is none.
    Unsat,
    /// No answer, and why.
    Unknown(String),
}

impl Answer {
    /// May there be a model? Only "unsatisfiable" excludes one.
    #[must_use]
    pub fn may_be_sat(&self) -> bool {
        !matches!(self, Self::Unsat)
    }
}

/// What others say about the answers "unsatisfiable" of a solver. (A model is evaluated, so
/// "satisfiable" needs no second opinion.)
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trust {
    /// The solver whose answers are meant, if it is not the one that is asked.
    pub name: Option<String>,
    /// Is an answer believed only if it is confirmed?
    pub is_required: bool,
    /// How many answers were confirmed.
    pub n_confirmed: u64,
    /// The solvers that confirmed it, in alphabetical order.
    pub confirmed_by: Vec<String>,
    /// Who contradicted it, and on what question.
    pub contradiction: Option<String>,
}

/// A decision procedure with a stack of assertions.
pub trait Solver {
    /// The name that reports use.
    fn name(&self) -> String;

    /// Asserts a Boolean term until the level is left.
    fn assert(&mut self, term: &Term);

    /// Opens a level.
    fn push(&mut self);

    /// Leaves a level with everything asserted in it.
    fn pop(&mut self);

    /// Can all assertions and assumptions be true together?
    fn check(&mut self, assumptions: &[Term]) -> Answer;

    /// After [`Answer::Unsat`]: positions of assumptions that are contradictory already. `None`
    /// where the backend does not say.
    fn core(&mut self) -> Option<Vec<usize>> {
        None
    }

    /// From now on, gives up when the budget is spent.
    fn obey(&mut self, _budget: &Budget) {}

    /// From now on, until told otherwise: shall it rather have no answer than think for long?
    /// For questions of which many are asked and none is important.
    fn hurry(&mut self, _is_hurried: bool) {}

    /// What others say about its answers.
    fn trust(&self) -> Trust {
        Trust::default()
    }
}

impl<S: Solver + ?Sized> Solver for Box<S> {
    fn name(&self) -> String {
        (**self).name()
    }

    fn assert(&mut self, term: &Term) {
        (**self).assert(term);
    }

    fn push(&mut self) {
        (**self).push();
    }

    fn pop(&mut self) {
        (**self).pop();
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        (**self).check(assumptions)
    }

    fn core(&mut self) -> Option<Vec<usize>> {
        (**self).core()
    }

    fn obey(&mut self, budget: &Budget) {
        (**self).obey(budget);
    }

    fn hurry(&mut self, is_hurried: bool) {
        (**self).hurry(is_hurried);
    }

    fn trust(&self) -> Trust {
        (**self).trust()
    }
}

/// Why there is no answer after the budget is spent.
pub(crate) const STOPPED: &str = "the check was stopped";

/// Assertions by level. The last level is open forever; there is always one.
#[derive(Clone, Debug)]
pub(crate) struct Levels(Vec<Vec<Term>>);

impl Levels {
    pub(crate) fn new() -> Self {
        Self(vec![Vec::new()])
    }

    pub(crate) fn assert(&mut self, term: &Term) {
        let level = self.0.last_mut().expect("there is always a level");
        level.push(term.clone());
    }

    pub(crate) fn push(&mut self) {
        self.0.push(Vec::new());
    }

    pub(crate) fn pop(&mut self) {
        self.0.pop();
        assert!(!self.0.is_empty(), "more levels left than opened");
    }

    pub(crate) fn levels(&self) -> &[Vec<Term>] {
        &self.0
    }

    pub(crate) fn all(&self) -> impl Iterator<Item = &Term> {
        self.0.iter().flatten()
    }
}

/// A claimed model is believed only if it makes everything true.
pub(crate) fn checked(model: Model, levels: &Levels, assumptions: &[Term]) -> Answer {
    let wrong = levels
        .all()
        .chain(assumptions)
        .find(|term| model.bool(term) != Some(true));
    match wrong {
        None => Answer::Sat(model),
        Some(_) => Answer::Unknown("the model does not satisfy what was asserted".to_owned()),
    }
}

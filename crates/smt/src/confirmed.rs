//! Two solvers instead of one.

use std::collections::BTreeSet;

use base::Budget;

use crate::print::to_smtlib;
use crate::solver::{Answer, Levels, Solver, Trust};
use crate::term::Term;

/// Contradictions are shown up to this many characters of the question.
const MAX_SHOWN: usize = 400;

/// Asks others whenever the first says "unsatisfiable".
///
/// A model of another solver, which is evaluated like every model, refutes the first; from then on
/// nothing that it says alone counts.
pub struct Confirmed {
    first: Box<dyn Solver>,
    others: Vec<Box<dyn Solver>>,
    is_required: bool,
    levels: Levels,
    n_confirmed: u64,
    confirmed_by: BTreeSet<String>,
    contradiction: Option<String>,
}

impl Confirmed {
    /// "Unsatisfiable" counts only if both say so. Both solvers must be fresh.
    #[must_use]
    pub fn new(first: impl Solver + 'static, second: impl Solver + 'static) -> Self {
        Self {
            is_required: true,
            ..Self::offered(Box::new(first), vec![Box::new(second)])
        }
    }

    /// "Unsatisfiable" counts also if none of the others, asked in turn, has an answer; it is then
    /// not confirmed. All solvers must be fresh.
    #[must_use]
    pub fn offered(first: Box<dyn Solver>, others: Vec<Box<dyn Solver>>) -> Self {
        Self {
            first,
            others,
            is_required: false,
            levels: Levels::new(),
            n_confirmed: 0,
            confirmed_by: BTreeSet::new(),
            contradiction: None,
        }
    }

    /// The solvers that are told everything at once. Where an opinion is only offered, the others
    /// hear a question as a whole, when there is one for them.
    fn listeners(&mut self) -> impl Iterator<Item = &mut Box<dyn Solver>> {
        let others = self.others.iter_mut().filter(|_| self.is_required);
        std::iter::once(&mut self.first).chain(others)
    }

    /// What the others make of an answer "unsatisfiable".
    fn second_opinion(&mut self, assumptions: &[Term]) -> Answer {
        let all = self.levels.all().chain(assumptions);
        let whole: Vec<Term> = all.cloned().collect();
        let question = if self.is_required {
            assumptions
        } else {
            &whole
        };
        let mut silence = Vec::new();

        for other in &mut self.others {
            match other.check(question) {
                Answer::Unsat => {
                    self.n_confirmed += 1;
                    self.confirmed_by.insert(other.name());
                    return Answer::Unsat;
                }
                Answer::Sat(_) => {
                    let names = (self.first.name(), other.name());
                    let why = contradiction(&names, &self.levels, assumptions);
                    self.contradiction = Some(why.clone());
                    return Answer::Unknown(why);
                }
                Answer::Unknown(why) => silence.push(format!("{}: {why}", other.name())),
            }
        }

        if self.is_required {
            let why = silence.join("; ");
            return Answer::Unknown(format!("not confirmed by {why}"));
        }

        Answer::Unsat
    }
}

fn contradiction(names: &(String, String), levels: &Levels, assumptions: &[Term]) -> String {
    let parts = levels.all().chain(assumptions).map(to_smtlib);
    let question = parts.collect::<Vec<_>>().join(" ");
    let mut shown: String = question.chars().take(MAX_SHOWN).collect();
    if shown.len() < question.len() {
        shown.push('…');
    }
    let (first, second) = names;
    format!(
        "{first} and {second} contradict each other: {first} calls this impossible and {second} has a model of it: {shown}"
    )
}

impl Solver for Confirmed {
    fn name(&self) -> String {
        if !self.is_required {
            return self.first.name();
        }
        let others: Vec<String> = self.others.iter().map(|other| other.name()).collect();
        let others = others.join(", ");
        format!("{}, confirmed with {others}", self.first.name())
    }

    fn assert(&mut self, term: &Term) {
        self.levels.assert(term);
        self.listeners().for_each(|solver| solver.assert(term));
    }

    fn push(&mut self) {
        self.levels.push();
        self.listeners().for_each(|solver| solver.push());
    }

    fn pop(&mut self) {
        self.levels.pop();
        self.listeners().for_each(|solver| solver.pop());
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        match (self.first.check(assumptions), &self.contradiction) {
            // Where every answer is confirmed, the next one may be right.
            (Answer::Unsat, Some(why)) if !self.is_required => Answer::Unknown(why.clone()),
            (Answer::Unsat, _) => self.second_opinion(assumptions),
            (other, _) => other,
        }
    }

    fn core(&mut self) -> Option<Vec<usize>> {
        // A core of one solver need not be one of the others; callers who need it ask again.
        if self.is_required {
            return None;
        }
        self.first.core()
    }

    fn obey(&mut self, budget: &Budget) {
        let others = self.others.iter_mut();
        let all = std::iter::once(&mut self.first).chain(others);
        all.for_each(|solver| solver.obey(budget));
    }

    fn hurry(&mut self, is_hurried: bool) {
        let others = self.others.iter_mut();
        let all = std::iter::once(&mut self.first).chain(others);
        all.for_each(|solver| solver.hurry(is_hurried));
    }

    fn trust(&self) -> Trust {
        Trust {
            name: Some(self.first.name()),
            is_required: self.is_required,
            n_confirmed: self.n_confirmed,
            confirmed_by: self.confirmed_by.iter().cloned().collect(),
            contradiction: self.contradiction.clone(),
        }
    }
}

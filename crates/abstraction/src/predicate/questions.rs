//! Questions to the solver, asked once.
//!
//! A question is a list of assumptions and a list of terms whose possible values are wanted. It is
//! kept with its answer: after a refinement, questions in which the new
//! predicates take no part are the old ones. Where a new predicate makes an old question more
//! precise, the old answer limits the new one, so that what has been eliminated once is never
//! asked for again (Bensalem, Lakhnech, Owre, section 7; cited in full in the module above).

use std::collections::BTreeMap;

use base::{Budget, StopReason};
use smt::{Answer, Counted, Rows, Solver, Tally, Term, Trust};

/// A question: what is assumed, and the terms whose values are wanted, with their candidates.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct SolverQuestion {
    pub(crate) assumptions: Vec<Term>,
    pub(crate) dimensions: Vec<(Term, Vec<i64>)>,
}

/// A solver with a memory.
pub struct Questions {
    solver: Counted<Box<dyn Solver>>,
    answers: BTreeMap<SolverQuestion, Rows>,
    /// How many questions were answered from memory.
    n_remembered: u64,
    gave_up: bool,
    budget: Budget,
}

impl Questions {
    /// A solver that has not been asked yet, and is not asked any more once the budget is spent.
    #[must_use]
    pub fn new(solver: Box<dyn Solver>, budget: &Budget) -> Self {
        let mut solver = Counted::new(solver);
        solver.obey(budget);
        Self {
            solver,
            answers: BTreeMap::new(),
            n_remembered: 0,
            gave_up: false,
            budget: budget.clone(),
        }
    }

    /// Why nothing is asked any more, if that is so.
    #[must_use]
    pub fn stopped(&self) -> Option<StopReason> {
        self.budget.check(0, 0).err()
    }

    /// What others say about the answers of the solver.
    #[must_use]
    pub fn trust(&self) -> Trust {
        self.solver.trust()
    }

    /// How often the solver was asked.
    #[must_use]
    pub fn tally(&self) -> Tally {
        self.solver.tally()
    }

    /// How many questions were answered from memory.
    #[must_use]
    pub fn n_remembered(&self) -> u64 {
        self.n_remembered
    }

    /// The name of the solver.
    #[must_use]
    pub fn solver_name(&self) -> String {
        self.solver.name()
    }

    /// Did the solver have no answer to a question, and why the last time?
    #[must_use]
    pub fn gave_up(&self) -> Option<&str> {
        let reason = self.solver.last_reason().unwrap_or("no reason given");
        self.gave_up.then_some(reason)
    }

    /// All values that the terms can have together. `coarser` is the same question before the last
    /// refinement, over the first so many of the terms. `None` if the solver gave up and there are
    /// too many candidates to keep them all.
    pub(crate) fn rows(
        &mut self,
        question: SolverQuestion,
        coarser: Option<&(SolverQuestion, Vec<usize>)>,
    ) -> Option<Vec<Vec<i64>>> {
        if let Some(known) = self.answers.get(&question) {
            self.n_remembered += 1;
            return Some(known.rows.clone());
        }
        if self.stopped().is_some() {
            self.gave_up = true;
            return None;
        }

        let mut assumptions = question.assumptions.clone();
        let limit = coarser.and_then(|(old, columns)| Some((self.answers.get(old)?, columns)));
        if let Some((old, columns)) = limit {
            if old.rows.is_empty() {
                self.n_remembered += 1;
                let rows = Rows {
                    rows: Vec::new(),
                    gave_up: false,
                };
                self.answers.insert(question, rows);
                return Some(Vec::new());
            }
            let allowed = old.rows.iter().map(|row| {
                let entries = columns.iter().zip(row);
                Term::and(
                    entries.map(|(column, value)| equals(&question.dimensions[*column].0, *value)),
                )
            });
            assumptions.push(Term::or(allowed));
        }

        let found = smt::enumerate(&mut self.solver, &assumptions, &question.dimensions)?;
        self.gave_up |= found.gave_up;
        let rows = found.rows.clone();
        self.answers.insert(question, found);
        Some(rows)
    }

    /// Asks questions that may as well have no answer: each is given little time, and none of them
    /// counts as a reason for not knowing.
    pub(crate) fn in_a_hurry(&mut self, is_hurried: bool, gave_up: bool) -> bool {
        self.solver.hurry(is_hurried);
        std::mem::replace(&mut self.gave_up, gave_up)
    }

    /// Can all of them be true together?
    pub(crate) fn check(&mut self, assumptions: &[Term]) -> Answer {
        if assumptions.contains(&Term::Bool(false)) {
            return Answer::Unsat;
        }
        self.solver.push();
        for assumption in assumptions {
            self.solver.assert(assumption);
        }
        let answer = self.solver.check(&[]);
        self.solver.pop();
        if let Answer::Unknown(_) = answer {
            self.gave_up = true;
        }
        answer
    }

    /// Some of the parts that are impossible together with what is assumed, if the solver names
    /// them.
    pub(crate) fn core(&mut self, assumed: &[Term], parts: &[Term]) -> Option<Vec<usize>> {
        self.solver.push();
        for assumption in assumed {
            self.solver.assert(assumption);
        }
        let answer = self.solver.check(parts);
        let core = match answer {
            Answer::Unsat => self.solver.core(),
            Answer::Sat(_) | Answer::Unknown(_) => None,
        };
        self.solver.pop();
        core
    }

    /// Is the conjunction impossible for certain? Remembered.
    pub(crate) fn is_impossible(&mut self, assumptions: &[Term]) -> bool {
        let mut assumptions = assumptions.to_vec();
        assumptions.sort_unstable();
        assumptions.dedup();
        let question = SolverQuestion {
            assumptions,
            dimensions: Vec::new(),
        };
        self.rows(question, None)
            .is_some_and(|rows| rows.is_empty())
    }
}

fn equals(term: &Term, value: i64) -> Term {
    match term.sort() {
        smt::Sort::Bool if value != 0 => term.clone(),
        smt::Sort::Bool => Term::not(term.clone()),
        _ => Term::eq(term.clone(), Term::Int(i128::from(value))),
    }
}

//! A second opinion on "unsatisfiable", by code that is small enough to be read.
//!
//! Arrays are reduced to integers ([`ArrayReduction`]), disjunctions are split one after the other,
//! and each case is refuted by contradictory literals or by [`fourier_motzkin`]. That is the
//! procedure of M. Davis, G. Logemann, D. Loveland (*A machine program for theorem-proving*, CACM 5,
//! 1962) without learning. It never says "satisfiable", and gives up early: it confirms, it does not
//! decide.

use std::collections::{BTreeMap, BTreeSet};

use base::Budget;

use crate::arrays::ArrayReduction;
use crate::fourier_motzkin::{self, Row};
use crate::linear::Linear;
use crate::solver::{Answer, Levels, Solver};
use crate::term::Term;

/// How many cases are looked at.
const MAX_CASES: usize = 100;

/// Questions with more parts than this, also after arrays were reduced, are not looked at.
const MAX_SIZE: usize = 5_000;

/// Refutes by case distinction, or says nothing.
#[derive(Debug)]
pub struct CaseSplit {
    levels: Levels,
    budget: Budget,
}

impl Default for CaseSplit {
    fn default() -> Self {
        Self {
            levels: Levels::new(),
            budget: Budget::unlimited(),
        }
    }
}

impl Solver for CaseSplit {
    fn name(&self) -> String {
        "case split".to_owned()
    }

    fn assert(&mut self, term: &Term) {
        self.levels.assert(term);
    }

    fn push(&mut self) {
        self.levels.push();
    }

    fn pop(&mut self) {
        self.levels.pop();
    }

    fn obey(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        let silent = |why: &str| Answer::Unknown(why.to_owned());
        let all: Vec<&Term> = self.levels.all().chain(assumptions).collect();
        if all.iter().map(|term| term.size()).sum::<usize>() > MAX_SIZE {
            return silent("the question is too large");
        }

        let mut arrays = ArrayReduction::default();
        let mut open = Vec::new();
        for term in all {
            let (term, lemmas) = arrays.reduce(term);
            open.push(term);
            open.extend(lemmas);
        }
        if open.iter().map(Term::size).sum::<usize>() > MAX_SIZE {
            return silent("the question is too large without arrays");
        }
        let mut split = Split {
            n_left: MAX_CASES,
            budget: &self.budget,
        };
        if split.refutes(&Case::default(), open) {
            return Answer::Unsat;
        }
        silent("no contradiction was found")
    }
}

/// How much may still be tried.
struct Split<'a> {
    n_left: usize,
    budget: &'a Budget,
}

/// What is assumed in one case.
#[derive(Clone, Default)]
struct Case {
    literals: BTreeSet<Term>,
    inequalities: Vec<Row>,
    equations: Vec<Row>,
    /// Disjunctions that are not split yet.
    clauses: Vec<Vec<Term>>,
    variables: BTreeMap<Term, usize>,
}

impl Split<'_> {
    /// Is the case, with these further terms, impossible for certain?
    fn refutes(&mut self, case: &Case, open: Vec<Term>) -> bool {
        if self.n_left == 0 || self.budget.check(0, 0).is_err() {
            return false;
        }
        self.n_left -= 1;

        let mut case = case.clone();
        if !case.add_all(open) || !case.propagate() {
            return true;
        }
        if fourier_motzkin::contradict(&case.inequalities, &case.equations) {
            return true;
        }

        // The smallest disjunction has the fewest cases.
        let smallest = (0..case.clauses.len()).min_by_key(|at| case.clauses[*at].len());
        let Some(smallest) = smallest else {
            return false;
        };
        let clause = case.clauses.swap_remove(smallest);
        clause
            .into_iter()
            .all(|part| self.refutes(&case, vec![part]))
    }
}

impl Case {
    /// Assumes terms; `false` if they contradict what is assumed literally.
    fn add_all(&mut self, mut open: Vec<Term>) -> bool {
        while let Some(term) = open.pop() {
            match &term {
                Term::Bool(true) => {}
                Term::Bool(false) => return false,
                Term::And(parts) => open.extend(parts.iter().cloned()),
                Term::Or(parts) => self.clauses.push(parts.to_vec()),
                Term::Not(inner) => match &**inner {
                    Term::And(parts) => {
                        let parts = parts.iter().cloned().map(Term::not);
                        self.clauses.push(parts.collect());
                    }
                    Term::Or(parts) => open.extend(parts.iter().cloned().map(Term::not)),
                    literal => {
                        if !self.add_literal(&term, literal, false) {
                            return false;
                        }
                    }
                },
                literal => {
                    if !self.add_literal(&term, literal, true) {
                        return false;
                    }
                }
            }
        }

        true
    }

    fn add_literal(&mut self, term: &Term, atom: &Term, sign: bool) -> bool {
        if !self.literals.insert(term.clone()) {
            return true;
        }
        if self.literals.contains(&Term::not(term.clone())) {
            return false;
        }

        match (atom, sign) {
            (Term::Le(linear), true) => {
                let row = self.row(linear);
                self.inequalities.push(row);
            }
            // Not e ≤ 0 iff 1 - e ≤ 0.
            (Term::Le(linear), false) => {
                let row = self.row(&Linear::constant(1).minus(linear));
                self.inequalities.push(row);
            }
            (Term::Eq(linear), true) => {
                let row = self.row(linear);
                self.equations.push(row);
            }
            (Term::Eq(linear), false) => {
                let left = (**linear).clone().into_term();
                let less = Term::lt(left.clone(), Term::Int(0));
                self.clauses.push(vec![less, Term::lt(Term::Int(0), left)]);
            }
            // Of other atoms only the truth value is used.
            _ => {}
        }

        true
    }

    fn row(&mut self, linear: &Linear) -> Row {
        let mut row = Row {
            constant: linear.offset(),
            ..Row::default()
        };
        for (term, factor) in linear.terms() {
            let variable = self.variable(term);
            row.factors.insert(variable, factor);
        }
        row
    }

    /// The number of a term that is not a sum. Quotients and remainders come with what defines them.
    fn variable(&mut self, term: &Term) -> usize {
        if let Some(number) = self.variables.get(term) {
            return *number;
        }
        let number = self.variables.len();
        self.variables.insert(term.clone(), number);

        if let Term::Div(inner, divisor) | Term::Mod(inner, divisor) = term {
            let quotient = Term::Div(inner.clone(), *divisor);
            let multiple = Linear::of(&quotient).checked_times(*divisor);
            let Some(multiple) = multiple else {
                return number;
            };
            let rest = Linear::of(inner).minus(&multiple);
            // 0 ≤ rest ≤ divisor - 1, and it is what the remainder is.
            let not_negative = self.row(&rest.times(-1));
            let small = self.row(&rest.minus(&Linear::constant(divisor - 1)));
            self.inequalities.extend([not_negative, small]);
            if let Term::Mod(..) = term {
                let same = self.row(&rest.minus(&Linear::of(term)));
                self.equations.push(same);
            }
        }

        number
    }

    /// Drops what the literals decide; `false` if a disjunction becomes empty.
    fn propagate(&mut self) -> bool {
        loop {
            let mut units = Vec::new();
            let mut clauses = Vec::new();
            for mut clause in std::mem::take(&mut self.clauses) {
                let is_true = |part: &Term| self.literals.contains(part);
                if clause.iter().any(is_true) {
                    continue;
                }
                clause.retain(|part| !self.literals.contains(&Term::not(part.clone())));
                match clause.len() {
                    0 => return false,
                    1 => units.append(&mut clause),
                    _ => clauses.push(clause),
                }
            }
            self.clauses = clauses;
            if units.is_empty() {
                return true;
            }
            if !self.add_all(units) {
                return false;
            }
        }
    }
}

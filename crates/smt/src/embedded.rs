//! The embedded solver: the crate `rz3`, a CDCL(T) solver in Rust.
//!
//! It keeps its state between questions; leaving a level rebuilds it. It gives no values for
//! arrays, so it never sees any: see [`ArrayReduction`].
//!
//! Its branches over the integers need not end: `x = 2k` and `x % 2 != 0` have no bound to stop at. A
//! question that it has not answered after a slice is therefore put to [`CaseSplit`] once, whose
//! inequalities are divided by what their factors have in common.

use std::collections::BTreeSet;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::time::Duration;

use base::Budget;
use rz3::ast::{Expr, ModelValue, Type};
use rz3::{Rz3Solver, SolverResult};

use crate::arrays::ArrayReduction;
use crate::case_split::CaseSplit;
use crate::linear::Linear;
use crate::solver::{Answer, Levels, STOPPED, Solver, checked};
use crate::term::{Sort, Term};
use crate::value::{Model, Value};

/// The budget is polled after so much thinking. The solver goes on where it was.
const SLICE: Duration = Duration::from_millis(250);

/// How long it thinks about a question in a hurry.
const HURRIED: Duration = Duration::from_millis(300);

/// What the crate says when the time of a slice is over.
const TIME_LIMIT: &str = "time limit";

/// The embedded solver.
pub struct Embedded {
    solver: Rz3Solver,
    levels: Levels,
    arrays: ArrayReduction,
    patience: Duration,
    is_hurried: bool,
    declared: BTreeSet<(Arc<str>, Sort)>,
    budget: Budget,
}

impl Embedded {
    /// Its name in reports.
    pub const NAME: &'static str = "embedded";

    /// A solver that thinks about each question for at most `patience`.
    #[must_use]
    pub fn new(patience: Duration) -> Self {
        Self {
            solver: Rz3Solver::new(),
            levels: Levels::new(),
            arrays: ArrayReduction::default(),
            patience,
            is_hurried: false,
            declared: BTreeSet::new(),
            budget: Budget::unlimited(),
        }
    }

    fn assert_inside(&mut self, term: &Term) {
        let (term, lemmas) = self.arrays.reduce(term);
        for term in lemmas.iter().chain([&term]) {
            let mut vars = BTreeSet::new();
            term.collect_vars(&mut vars);
            for (name, sort) in vars {
                if self.declared.insert((Arc::clone(&name), sort)) {
                    self.solver.declare_fun(name.to_string(), type_of(sort));
                }
            }
            self.solver.assert(&expr_of(term));
        }
    }

    fn open_level(&mut self) {
        self.solver.push();
        self.arrays.push();
    }

    fn close_level(&mut self) {
        self.solver.pop();
        self.arrays.pop();
    }

    fn decide(&mut self, assumptions: &[Term]) -> Answer {
        let mut left = self.patience;
        if self.is_hurried {
            left = left.min(HURRIED);
        }
        let mut is_first = true;

        loop {
            let slice = left.min(SLICE);
            left -= slice;
            self.solver.set_time_limit(slice);
            let why = match self.solver.check() {
                SolverResult::Unsat => return Answer::Unsat,
                SolverResult::Sat => return self.checked_model(assumptions),
                SolverResult::Unknown => self.solver.stats().unknown_reason,
            };
            if std::mem::take(&mut is_first) && self.is_refuted_by_cases(assumptions) {
                return Answer::Unsat;
            }
            if why != Some(TIME_LIMIT) || left.is_zero() {
                return Answer::Unknown(format!("rz3: {}", why.unwrap_or("no answer")));
            }
            if self.budget.check(0, 0).is_err() {
                return Answer::Unknown(STOPPED.to_owned());
            }
        }
    }

    /// Does a case distinction find a contradiction? Arrays are reduced there once more, from scratch.
    fn is_refuted_by_cases(&self, assumptions: &[Term]) -> bool {
        let mut cases = CaseSplit::default();
        cases.obey(&self.budget);
        self.levels.all().for_each(|term| cases.assert(term));
        matches!(cases.check(assumptions), Answer::Unsat)
    }

    fn checked_model(&self, assumptions: &[Term]) -> Answer {
        match self.model() {
            Some(model) => checked(model, &self.levels, assumptions),
            None => Answer::Unknown("rz3 gives no model that can be read".to_owned()),
        }
    }

    fn model(&self) -> Option<Model> {
        let mut model = Model::default();
        for (name, value) in self.solver.get_model() {
            let value = match value {
                ModelValue::Bool(value) => Value::Bool(value),
                ModelValue::Int(value) => Value::Int(value.to_string().parse().ok()?),
                _ => continue,
            };
            model.set(&Arc::from(name), value);
        }
        self.arrays.complete(&mut model)?;
        Some(model)
    }
}

impl Solver for Embedded {
    fn name(&self) -> String {
        Self::NAME.to_owned()
    }

    fn assert(&mut self, term: &Term) {
        self.levels.assert(term);
        self.assert_inside(term);
    }

    fn push(&mut self) {
        self.levels.push();
        self.open_level();
    }

    fn pop(&mut self) {
        self.levels.pop();
        self.close_level();
    }

    fn obey(&mut self, budget: &Budget) {
        self.budget = budget.clone();
    }

    fn hurry(&mut self, is_hurried: bool) {
        self.is_hurried = is_hurried;
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        if self.budget.check(0, 0).is_err() {
            return Answer::Unknown(STOPPED.to_owned());
        }

        // A panic of the solver must not be worse than no answer.
        let answer = catch_unwind(AssertUnwindSafe(|| {
            if assumptions.is_empty() {
                return self.decide(&[]);
            }
            self.open_level();
            assumptions.iter().for_each(|term| self.assert_inside(term));
            let answer = self.decide(assumptions);
            self.close_level();
            answer
        }));

        answer.unwrap_or_else(|_| {
            self.solver = Rz3Solver::new();
            self.arrays = ArrayReduction::default();
            self.declared.clear();
            for (depth, level) in self.levels.clone().levels().iter().enumerate() {
                if depth > 0 {
                    self.open_level();
                }
                level.iter().for_each(|term| self.assert_inside(term));
            }
            Answer::Unknown("rz3 panicked".to_owned())
        })
    }
}

fn type_of(sort: Sort) -> Type {
    match sort {
        Sort::Bool => Type::Bool,
        Sort::Int => Type::Int,
        Sort::Array => unreachable!("arrays have been reduced"),
    }
}

fn int_expr(value: i128) -> Expr {
    match i64::try_from(value) {
        Ok(value) => Expr::Int(value),
        Err(_) => Expr::BigRat(value.to_string(), "1".to_owned()),
    }
}

fn linear_expr(linear: &Linear) -> Expr {
    let multiple = |(term, factor): (&Term, i128)| match factor {
        1 => expr_of(term),
        _ => Expr::Mul(vec![int_expr(factor), expr_of(term)]),
    };
    let mut parts: Vec<Expr> = linear.terms().map(multiple).collect();
    if linear.offset() != 0 || parts.is_empty() {
        parts.push(int_expr(linear.offset()));
    }
    match parts.len() {
        1 => parts.swap_remove(0),
        _ => Expr::Add(parts),
    }
}

fn expr_of(term: &Term) -> Expr {
    let boxed = |term: &Term| Box::new(expr_of(term));
    match term {
        Term::Bool(value) => Expr::Bool(*value),
        Term::Int(value) => int_expr(*value),
        Term::Var(name, sort) => Expr::Var(name.to_string(), type_of(*sort)),
        Term::Not(inner) => Expr::Not(boxed(inner)),
        Term::And(parts) => Expr::And(parts.iter().map(expr_of).collect()),
        Term::Or(parts) => Expr::Or(parts.iter().map(expr_of).collect()),
        Term::Le(linear) => Expr::Le(Box::new(linear_expr(linear)), Box::new(Expr::Int(0))),
        Term::Eq(linear) => Expr::Eq(Box::new(linear_expr(linear)), Box::new(Expr::Int(0))),
        Term::Sum(linear) => linear_expr(linear),
        Term::Div(inner, divisor) => Expr::IntDiv(boxed(inner), Box::new(int_expr(*divisor))),
        Term::Mod(inner, divisor) => Expr::IntMod(boxed(inner), Box::new(int_expr(*divisor))),
        Term::Ite(a, b, c) => Expr::Ite(boxed(a), boxed(b), boxed(c)),
        Term::Select(..) | Term::SameArray(..) | Term::Store(..) => {
            unreachable!("arrays have been reduced")
        }
    }
}

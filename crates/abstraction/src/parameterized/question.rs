//! A question about a family: its distinguished processes and what is to be kept of the states.

use base::Span;
use model::{BoundId, Expr, Scope};

use super::fields::Side;
use super::logic::{IndexVar, Logic, Term};
use super::relation::{Predicate, Ranking};
use super::steps::{Family, condition_of};
use super::system::Outside;

/// A question about a family, as its author wrote it.
#[derive(Clone, Debug)]
pub struct FamilyQuestion {
    /// The distinguished processes with their names.
    pub distinguished: Vec<(IndexVar, String)>,
    /// What stands for them in expressions.
    pub names: Vec<(BoundId, Term)>,
    /// They exist and are as the question demands.
    pub condition: Logic,
    /// What the author wants to be kept.
    pub predicates: Vec<Predicate>,
    /// What the author wants to be watched.
    pub rankings: Vec<Ranking>,
    /// What the author believes of every reachable state.
    pub invariants: Vec<Predicate>,
    /// Is nothing else to be kept?
    pub only: bool,
}

impl FamilyQuestion {
    /// Translates what is special about a question.
    ///
    /// # Errors
    /// What is outside the class.
    pub fn new(family: &mut Family<'_>, scope: &Scope, span: Span) -> Result<Self, Outside> {
        let mut question = Self {
            distinguished: Vec::new(),
            names: Vec::new(),
            condition: Logic::Const(true),
            predicates: Vec::new(),
            rankings: Vec::new(),
            invariants: Vec::new(),
            only: scope.hints.only,
        };

        if !family.system.fields.is_empty() {
            check_static(scope, span)?;
        }
        let mut conditions = Vec::new();
        for distinguished in &scope.distinguished {
            let var = family.fresh.var();
            let in_range = |family: &mut Family<'_>, names: &[(BoundId, Term)]| {
                let system = family.system.clone();
                let mut translator =
                    super::translate::Translator::new(&system, &mut family.fresh, span);
                for (bound, term) in names {
                    translator.bind(*bound, *term);
                }
                let range = (&distinguished.lo, &distinguished.hi);
                let inside = translator.range_condition(range, var)?;
                check_valued(&translator.errors, span)?;
                Ok::<Logic, Outside>(inside)
            };
            conditions.push(in_range(family, &question.names)?);
            question
                .distinguished
                .push((var, distinguished.name.clone()));
            question.names.push((distinguished.bound, Term::var(var)));
        }

        family.hold(&question.distinguished);

        // Processes for which this has no value must not count as left out.
        let (demanded, errors) = condition_of(family, &question.names, &scope.condition, span)?;
        check_valued(&errors, span)?;
        conditions.push(demanded);
        question.condition = Logic::all(conditions);
        for hint in &scope.hints.predicates {
            let logic = question.condition_of(family, &hint.expr, hint.span)?;
            let logic = family.reduced(&logic, Side::Above);
            let name = hint.name.clone();
            question.predicates.push(Predicate { name, logic });
        }
        for hint in &scope.hints.invariants {
            let logic = question.condition_of(family, &hint.expr, hint.span)?;
            let logic = family.reduced(&logic, Side::Below);
            let name = hint.name.clone();
            question.invariants.push(Predicate { name, logic });
        }

        for (bound, hint) in &scope.hints.rankings {
            let var = family.fresh.var();
            question.names.push((*bound, Term::var(var)));
            let logic = question.condition_of(family, &hint.expr, hint.span);
            question.names.pop();
            let (name, logic) = (hint.name.clone(), family.reduced(&logic?, Side::Above));
            question.rankings.push(Ranking { name, var, logic });
        }

        Ok(question)
    }

    /// The distinguished processes.
    #[must_use]
    pub fn vars(&self) -> Vec<IndexVar> {
        self.distinguished.iter().map(|(var, _)| *var).collect()
    }

    /// The meaning of an expression about the distinguished processes. Where its evaluation would
    /// fail, it has no particular value.
    ///
    /// # Errors
    /// What is outside the class.
    pub fn condition_of(
        &self,
        family: &mut Family<'_>,
        expr: &model::Expr,
        span: Span,
    ) -> Result<Logic, Outside> {
        Ok(condition_of(family, &self.names, expr, span)?.0)
    }
}

/// Refuses processes that a question chooses by the state, where the state has fields.
fn check_static(scope: &Scope, span: Span) -> Result<(), Outside> {
    let ranges = scope.distinguished.iter();
    let ends = ranges.flat_map(|process| [&process.lo, &process.hi]);
    if ends.chain([&scope.condition]).any(Expr::mentions_state) {
        let what = "a question about processes that the state chooses";
        return Err(super::system::outside(what, span));
    }
    Ok(())
}

/// Refuses ranges and conditions of a question that may have no value, or values below 0.
fn check_valued(errors: &[Logic], span: Span) -> Result<(), Outside> {
    if errors.iter().all(|error| *error == Logic::Const(false)) {
        return Ok(());
    }
    let what = "a range that may start below 0, or a condition that may have no value,";
    Err(super::system::outside(what, span))
}

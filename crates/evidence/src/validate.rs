//! Judgements without explanations, for those who only want to know whether evidence stands up.

use base::Fairness;
use logic::{CtlStar, Property};
use model::{Assumption, Model};

use crate::branching::judge_branching;
use crate::replay::Replay;
use crate::{Branching, Invalid, Judge, Trace, Violation};

/// Is the violation real? See [`Judge::violation`].
///
/// # Errors
/// The first reason why not.
pub fn validate(
    model: &Model,
    property: &Property,
    fairness: Fairness,
    assumptions: &[Assumption],
    violation: &Violation,
) -> Result<(), Invalid> {
    let judge = Judge::new(model, property, fairness, assumptions);
    judge.violation(violation).map(drop)
}

/// Is the trace a run of the model?
///
/// # Errors
/// The first reason why not.
pub fn validate_run(model: &Model, trace: &Trace) -> Result<(), Invalid> {
    Replay::new(model, trace).map(drop)
}

/// Does the trace show that the property, which asks for a reachable position, holds?
///
/// # Errors
/// The first reason why not.
pub fn validate_witness(model: &Model, property: &Property, trace: &Trace) -> Result<(), Invalid> {
    let judge = Judge::new(model, property, Fairness::default(), &[]);
    judge.witness(trace).map(drop)
}

/// Does the evidence show that the formula holds in an initial state?
///
/// # Errors
/// The first reason why not.
pub fn validate_branching(
    model: &Model,
    formula: &CtlStar,
    fairness: Fairness,
    assumptions: &[Assumption],
    evidence: &Branching,
) -> Result<(), Invalid> {
    let property = Property::CtlStar(formula.clone());
    let judge = Judge::new(model, &property, fairness, assumptions);
    judge_branching(&judge, formula, evidence).map(drop)
}

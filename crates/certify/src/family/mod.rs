//! Proofs for all values of a parameter.
//!
//! A certificate names objects: facts, predicates and which combinations of their truth occur
//! together. Nothing of them is believed. From the template and these objects the checker writes one
//! text of SMT-LIB for the initial states, each step and the property, about any state of any instance,
//! and has them answered by solvers. They share nothing with the decision procedure for WS1S that found
//! the proof, neither its logic nor the translation of the template. Besides, the objects are evaluated
//! in the states of instances.

mod columns;
mod formula;
mod instances;
mod obligations;
mod runs;

use base::{Budget, Fairness};
use model::Template;
use source::{Family, Question};

use self::formula::put_formula;
use crate::bytes::{Reader, put_list, put_truths, truths};
use crate::graph::check_runs;
use crate::symbolic::{Obligation, Solver, confirm};
use crate::{Extent, Failure};

pub use self::formula::{Base, Formula, Index};
pub use self::runs::{
    Elementary, FamilyCondition, FamilyEdge, FamilyRuns, core_system, elementary_conditions,
};

/// An invariant of all instances: in every state that can be reached, all facts hold, and the
/// predicates are true and false as in one of the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyProof {
    /// What holds in every state.
    pub facts: Vec<Formula>,
    /// What is true in some.
    pub predicates: Vec<Formula>,
    /// The truth of the predicates.
    pub rows: Vec<Vec<bool>>,
    /// For a formula of linear time, the graph that runs follow.
    pub runs: Option<FamilyRuns>,
}

pub(crate) fn put_family(bytes: &mut Vec<u8>, proof: &FamilyProof) {
    put_list(bytes, &proof.facts, put_formula);
    put_list(bytes, &proof.predicates, put_formula);
    put_list(bytes, &proof.rows, |bytes, row| put_truths(bytes, row));
    put_list(bytes, proof.runs.as_slice(), runs::put_runs);
}

pub(crate) fn family_proof(reader: &mut Reader<'_>) -> Result<FamilyProof, Failure> {
    Ok(FamilyProof {
        facts: reader.list(formula::formula)?,
        predicates: reader.list(formula::formula)?,
        rows: reader.list(truths)?,
        runs: reader.list(runs::runs)?.pop(),
    })
}

/// What solvers are asked about a proof for all values of a parameter: texts to be answered with
/// "unsat", each with a title.
///
/// # Errors
/// The proof is not well formed, or something is not expressed.
pub fn obligations_for_all(
    template: &Template,
    question: &Question,
    fairness: Fairness,
    proof: &FamilyProof,
) -> Result<Vec<(String, String)>, Failure> {
    if proof.rows.iter().any(|r| r.len() != proof.predicates.len()) {
        return Err(Failure::wrong("a row has another length"));
    }
    if let Some(graph) = &proof.runs {
        runs::check_form(template, &question.scope, proof, graph)?;
    }
    obligations::obligations(template, question, fairness, proof)
}

/// Checks that the objects show the property of all instances.
pub(crate) fn check_family(
    family: &Family,
    question: &Question,
    fairness: Fairness,
    proof: &FamilyProof,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Extent, Failure> {
    let template = &family.template;
    let all = obligations_for_all(template, question, fairness, proof)?;

    if let Some(runs) = &proof.runs {
        let asked = (&question.property.property, &question.scope);
        let (core, formula) = core_system(template, asked, fairness, proof, runs)?;
        check_runs(&core, &formula, &runs.run, budget)?;
    }

    // Solvers come last: they cost the most.
    let instances = instances::evaluate(family, question, proof, budget)?;
    let all: Vec<Obligation> = all.into_iter().map(Obligation::exact).collect();
    let confirmations = confirm(&all, solvers, budget)?;

    Ok(Extent::Family {
        confirmations,
        parameter: template.name.clone(),
        instances,
    })
}

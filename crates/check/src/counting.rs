//! How many states violate an invariant, how many fail, and what is never executed.
//!
//! A check ends at the first violation; here everything is explored, and all states are kept.

use std::collections::BTreeSet;

use base::{Diagnostic, Progress, Span};
use engine::{Built, Exploration, Found, Goal, System};
use logic::{Ltl, NamedProperty, Property};
use model::{ErrorKind, Model, Type};

use crate::warnings::never_taken;
use crate::{Plan, explicit};

/// In how many states an invariant is violated.
///
/// # Errors
/// Why they were not counted.
pub fn count_violations(
    model: &Model,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<u64, String> {
    let Property::Invariant(formula) = &property.property else {
        return Err("only states that violate an invariant are counted".to_owned());
    };
    let mut violating = BTreeSet::new();
    visit(model, formula, plan, progress, |_, graph, node| {
        let holds = logic::holds_on_lasso(formula, 1, 0, &|_, atom| graph.holds(node, atom));
        if !holds {
            violating.insert(graph.state_number(node));
        }
    })?;
    Ok(violating.len() as u64)
}

/// Where assertions fail: for each of them, in how many states. `passing` is the same model without
/// its assertions, so that what lies behind a failure is seen, too. In a state in which several fail
/// the first one counts.
///
/// # Errors
/// Why they were not counted.
pub fn count_failures(
    model: &Model,
    passing: &Model,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Vec<(Span, u64)>, String> {
    if shape(model) != shape(passing) {
        return Err("without its assertions the model has other states".to_owned());
    }
    let mut found: Vec<(Span, u64)> = Vec::new();
    let mut seen = BTreeSet::new();
    visit(
        passing,
        &Ltl::tt(),
        plan,
        progress,
        |system, graph, node| {
            if !seen.insert(graph.state_number(node)) {
                return;
            }
            let Err(error) = model.successors(&graph.state(system, node)) else {
                return;
            };
            // shape: every other error ends the exploration.
            if !matches!(error.kind, ErrorKind::AssertionFailed) {
                return;
            }
            match found.iter_mut().find(|(span, _)| *span == error.span) {
                Some((_, count)) => *count += 1,
                None => found.push((error.span, 1)),
            }
        },
    )?;
    found.sort_by_key(|(span, _)| (span.source, span.start));
    Ok(found)
}

/// The statements that no run executes, one warning for each place; one that says why if that is not
/// known.
#[must_use]
pub fn unreached(model: &Model, plan: &Plan, progress: &mut dyn Progress) -> Vec<Diagnostic> {
    let unknown = |why: &str| {
        let message = format!("which steps are never taken is not known: {why}");
        vec![Diagnostic::warning("unreached", Span::nowhere(), message)]
    };
    let Ok(mut system) = System::with_all_code(model) else {
        return unknown("the model is too large");
    };
    let exploration = Exploration {
        atoms: &[],
        goal: &Goal::Nothing,
        reduce: false,
        checkpoints: None,
    };
    let explored = engine::explore(&mut system, &exploration, &plan.budget, progress);
    let Ok(explored) = explored else {
        return unknown("the model is too large");
    };
    match explored.found {
        Found::Nothing => never_taken(model, &explored.stats),
        Found::Stopped(reason) => unknown(reason.name()),
        Found::Failure(_) | Found::Goal(_) => unknown("a run-time error ends the exploration"),
    }
}

/// What states are made of.
fn shape(model: &Model) -> (Vec<(&str, &Type)>, Vec<&[String]>) {
    let parts = model.parts();
    let vars = parts.vars.iter().map(|var| (var.name.as_str(), &var.ty));
    let locations = parts.processes.iter().map(|p| p.locations.as_slice());
    (vars.collect(), locations.collect())
}

/// Looks at all states, with the atoms of a formula.
fn visit<'m>(
    model: &'m Model,
    formula: &Ltl,
    plan: &Plan,
    progress: &mut dyn Progress,
    mut look: impl FnMut(&System<'m>, &engine::StateGraph, u32),
) -> Result<(), String> {
    let too_large = |_| "the model is too large".to_owned();
    let mut system = explicit::compiled(model, plan).map_err(too_large)?;
    let atoms = formula.atoms();
    let built = engine::state_graph(&mut system, &[], &atoms, &plan.budget, progress);
    let (built, _) = built.map_err(too_large)?;
    let graph = match built {
        Built::Graph(graph) => graph,
        Built::Failed => return Err("a run-time error ends the exploration".to_owned()),
        Built::Stopped(reason) => return Err(reason.name().to_owned()),
    };
    for node in 0..graph.n_nodes() {
        look(&system, &graph, node as u32);
    }
    Ok(())
}

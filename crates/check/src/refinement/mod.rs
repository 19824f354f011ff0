//! Questions about whole labelled transition systems: refinement and determinism.
//!
//! Refinement is decided on the explored graphs of both systems, in the traces, stable-failures and
//! failures-divergences models of CSP (Roscoe, The Theory and Practice of Concurrency, chapters 3
//! and 8). `antichain.rs` holds the search, `lts.rs` the graphs.

mod antichain;
mod lts;

use base::{Budget, Fairness, Progress, Route};
use engine::{Built, Stats, System, state_graph};
use evidence::{Judge, Trace, UnknownReason, Verdict, Violation, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::Model;
use source::Refinement;

pub use antichain::{Difference, includes};
pub use lts::Lts;

use crate::{Bug, Outcome, Plan};

/// Does the first system refine the second? Steps called `silent` are invisible. A violation shows a
/// run of the first, and a remark says what it shows.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn refines(
    systems: (&Model, &Model),
    silent: &str,
    refinement: Refinement,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let (implementation, specification) = systems;
    let spec = match explored(specification, silent, property, plan, progress)? {
        Ok(explored) => explored,
        Err(mut outcome) => {
            // An error in the specification is not a run of the implementation.
            if let Verdict::Violated(_) = outcome.verdict {
                let why = "the specification has a run-time error".to_owned();
                outcome.give_up(UnknownReason::Unsupported(why));
            }
            return Ok(outcome);
        }
    };

    let own = match explored(implementation, silent, property, plan, progress)? {
        Ok(explored) => explored,
        Err(outcome) => return Ok(outcome),
    };
    let found = includes(&own.lts, &spec.lts, refinement, &plan.budget);
    let verdict = match &found {
        Err(reason) => Verdict::Unknown(UnknownReason::Stopped(*reason)),
        Ok(None) => Verdict::Holds { witness: None },
        Ok(Some(difference)) => own.violation(difference.start, &difference.path),
    };
    let remark = match found {
        Ok(Some(difference)) => Some(difference.describe(&own.lts)),
        _ => None,
    };
    finish(implementation, property, own.stats, verdict, remark)
}

/// Does the system never have two steps with one name that lead to different states?
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn deterministic(
    model: &Model,
    silent: &str,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let explored = match explored(model, silent, property, plan, progress)? {
        Ok(explored) => explored,
        Err(outcome) => return Ok(outcome),
    };
    let (verdict, remark) = match explored.lts.ambiguous() {
        None => (Verdict::Holds { witness: None }, None),
        Some((start, path, label)) => {
            let name = explored.lts.label_name(label);
            let remark = format!("here `{name}` leads to different states");
            (explored.violation(start, &path), Some(remark))
        }
    };
    finish(model, property, explored.stats, verdict, remark)
}

fn finish(
    model: &Model,
    property: &NamedProperty,
    stats: Stats,
    verdict: Verdict,
    remark: Option<String>,
) -> Result<Outcome, Bug> {
    let mut outcome = Outcome::new(Route::Explicit, Fairness::NONE, verdict);
    outcome.stats = stats;
    outcome.remarks.extend(remark);
    // That the run is one of the model is judged; what it shows takes the graphs of both systems.
    if let Verdict::Violated(violation) = &outcome.verdict
        && let Some(trace) = &violation.trace
    {
        let judge = Judge::new(model, &property.property, Fairness::NONE, &[]);
        let judged = judge.prefix(trace).map_err(|invalid| Bug {
            property: property.name.clone(),
            invalid,
        })?;
        outcome.explain(judged);
    }
    Ok(outcome)
}

/// A system with its whole graph.
struct Explored<'m> {
    system: System<'m>,
    graph: Box<engine::StateGraph>,
    lts: Lts,
    stats: Stats,
}

impl Explored<'_> {
    /// The run along a path of the graph, as a violation.
    fn violation(&self, first: u32, path: &[(u32, u32)]) -> Verdict {
        let mut trace = Trace {
            states: vec![self.graph.state(&self.system, first)],
            steps: Vec::new(),
            loop_start: None,
        };
        for &(node, step) in path {
            let step = step as usize;
            let target = self.graph.targets(node)[step];
            let step = self.graph.trace_step(&self.system, node, step);
            trace.steps.push(step.into());
            trace.states.push(self.graph.state(&self.system, target));
        }
        Verdict::Violated(Box::new(Violation {
            kind: ViolationKind::BadPrefix,
            trace: Some(trace),
            covering: None,
            component: None,
        }))
    }
}

/// The whole graph, or why there is none.
fn explored<'m>(
    model: &'m Model,
    silent: &str,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Result<Explored<'m>, Outcome>, Bug> {
    let unknown = |reason: UnknownReason, stats: Stats| Outcome {
        stats,
        ..Outcome::unknown(Route::Explicit, Fairness::NONE, reason)
    };
    let too_large = || UnknownReason::Unsupported("the model is too large".to_owned());
    let Ok(mut system) = System::new(model) else {
        return Ok(Err(unknown(too_large(), Stats::default())));
    };
    let Ok((built, stats)) = state_graph(&mut system, &[], &[], &plan.budget, progress) else {
        return Ok(Err(unknown(too_large(), Stats::default())));
    };

    match built {
        Built::Graph(graph) => {
            let lts = Lts::new(&system, &graph, silent);
            Ok(Ok(Explored {
                system,
                graph,
                lts,
                stats,
            }))
        }
        Built::Stopped(reason) => Ok(Err(unknown(UnknownReason::Stopped(reason), stats))),
        // The search for any state at all finds the way to the error.
        Built::Failed => {
            let nothing = NamedProperty {
                property: Property::Invariant(Ltl::tt()),
                ..property.clone()
            };
            let plan = Plan {
                fairness: Some(Fairness::NONE),
                budget: plan.budget.clone(),
                ..Plan::default()
            };
            crate::check(model, &nothing, &plan, progress).map(Err)
        }
    }
}

/// Polls the budget for a search that keeps `n` items of about `bytes` bytes.
fn poll(budget: &Budget, n: usize, bytes: u64) -> Result<(), base::StopReason> {
    budget.check(n as u64, n as u64 * bytes)
}

//! Ways of searching one model for one property.

use std::sync::{Arc, Mutex};

use base::{Checkpoints, StopReason};
use check::{Outcome, Plan, Reduction, Reductions, SetCarrier};
use evidence::{UnknownReason, Verdict};
use logic::Property;
use testkit::{Random, Shelf};

use crate::answer::ask;
use crate::{Answer, Case, RouteKind};

/// How much room decision diagrams have.
const MAX_SYMBOLIC_BYTES: u64 = 8 << 20;

/// A way of searching.
pub(crate) struct Route {
    plan: Plan,
    /// After how many states the search is stopped for the first time, and how often its state is
    /// kept until then.
    stopped: Option<(u64, u32)>,
}

impl Route {
    /// What is special about it.
    pub(crate) fn describe(&self) -> String {
        let Plan {
            reduction,
            all_code,
            interpreted,
            n_depth_first,
            bitstate,
            sets,
            budget,
            route,
            ..
        } = &self.plan;

        let mut parts = vec![format!("{} threads", budget.n_threads())];
        match reduction {
            Reduction::None => {}
            Reduction::Chosen(reductions) => parts.push(format!("{reductions:?}")),
            Reduction::Auto { after } => parts.push(format!("reductions after {after} states")),
        }

        parts.extend(route.map(|route| format!("route {}", route.name())));
        parts.extend(bitstate.map(|bytes| format!("{bytes} bytes of bits")));
        parts.extend(sets.as_ref().map(|carrier| match carrier {
            SetCarrier::Memory => "sets in memory".to_owned(),
            SetCarrier::Disk(_) => "sets in files".to_owned(),
            SetCarrier::Processes(..) => "sets in several processes".to_owned(),
        }));
        parts.extend(all_code.then(|| "all code".to_owned()));
        parts.extend(interpreted.then(|| "interpreted".to_owned()));
        parts.extend(n_depth_first.map(|n| format!("edges stored after {n} nodes")));
        parts.extend(
            self.stopped
                .map(|(limit, _)| format!("stopped after {limit} states")),
        );
        parts.join(", ")
    }
}

/// All ways of searching that must agree with the complete search by one thread, which has stored
/// so many states.
pub(crate) fn alternatives(
    random: &mut Random,
    case: &Case,
    n_states: u64,
) -> Vec<(RouteKind, Route)> {
    let none = Reductions::NONE;
    let reducing = |reductions: Reductions| Plan {
        reduction: Reduction::Chosen(reductions),
        ..case.plan()
    };
    let after = random.below(12) as u64;
    let together = case.plan().budget.with_threads(2);
    let mut plans = vec![
        (
            RouteKind::PartialOrder,
            reducing(Reductions {
                partial_order: true,
                ..none
            }),
        ),
        (
            RouteKind::Symmetry,
            reducing(Reductions {
                symmetry: true,
                ..none
            }),
        ),
        (
            RouteKind::DeadVariables,
            reducing(Reductions {
                dead_variables: true,
                ..none
            }),
        ),
        (RouteKind::AllReductions, reducing(Reductions::ALL)),
        (
            RouteKind::StartedAgain,
            Plan {
                reduction: Reduction::Auto { after },
                ..case.plan()
            },
        ),
        (
            RouteKind::TwoThreads,
            Plan {
                budget: together,
                ..case.plan()
            },
        ),
        (
            RouteKind::StoredEdges,
            Plan {
                n_depth_first: Some(0),
                ..case.plan()
            },
        ),
        (
            RouteKind::Interpreter,
            Plan {
                interpreted: true,
                ..case.plan()
            },
        ),
        (
            RouteKind::AllCode,
            Plan {
                all_code: true,
                ..case.plan()
            },
        ),
        (
            RouteKind::EarlyEnd,
            Plan {
                all_states: false,
                ..case.plan()
            },
        ),
        (RouteKind::Sets, on_sets(random, case)),
        (RouteKind::Mixed, mixed(random, case)),
        (
            RouteKind::Symbolic,
            Plan {
                route: Some(check::Route::Symbolic),
                budget: case.plan().budget.with_max_memory(MAX_SYMBOLIC_BYTES),
                ..case.plan()
            },
        ),
    ];

    // A bitstate search has no answer for other properties, so there would be nothing to compare.
    if is_explored(&case.property.property) {
        let bitstate = Some(*random.pick(&[8, 1 << 16]));
        plans.push((
            RouteKind::Bitstate,
            Plan {
                bitstate,
                ..case.plan()
            },
        ));
    }

    let route = |(kind, plan)| {
        (
            kind,
            Route {
                plan,
                stopped: None,
            },
        )
    };

    let mut routes: Vec<(RouteKind, Route)> = plans.into_iter().map(route).collect();

    // Searches that are stopped somewhere and resumed must end as if they had not been stopped.
    for plan in [case.plan(), mixed(random, case)] {
        let limit = random.below(n_states as usize + 2) as u64;
        let every = 1 + random.below(4) as u32;
        let stopped = Some((limit, every));
        routes.push((RouteKind::Resumed, Route { plan, stopped }));
    }

    routes
}

/// A search on sets of states.
fn on_sets(random: &mut Random, case: &Case) -> Plan {
    let plan = case.plan();
    let carrier = if random.chance(50) {
        SetCarrier::Memory
    } else {
        SetCarrier::Disk(Arc::new(Shelf::default()))
    };
    let n_threads = 1 + usize::from(random.chance(30));
    Plan {
        sets: Some(carrier),
        budget: plan.budget.clone().with_threads(n_threads),
        ..plan
    }
}

/// Several differences at once.
fn mixed(random: &mut Random, case: &Case) -> Plan {
    let plan = case.plan();
    let n_threads = 1 + usize::from(random.chance(30));
    let reduction = match random.below(4) {
        0 => Reduction::None,
        1 => Reduction::Auto {
            after: random.below(12) as u64,
        },
        _ => Reduction::Chosen(Reductions {
            partial_order: random.chance(60),
            symmetry: random.chance(60),
            dead_variables: random.chance(60),
        }),
    };
    Plan {
        reduction,
        all_code: random.chance(40),
        interpreted: random.chance(40),
        n_depth_first: [None, Some(0), Some(12), Some(u64::MAX)][random.below(4)],
        budget: plan.budget.clone().with_threads(n_threads),
        ..plan
    }
}

/// Is the property decided without looking for loops?
fn is_explored(property: &Property) -> bool {
    match property {
        Property::Invariant(_) | Property::Reachable(_) | Property::DeadlockFree => true,
        Property::Ltl(_) | Property::CtlStar(_) | Property::Never(_) | Property::MayMust(_) => {
            false
        }
    }
}

/// The answer on a way.
pub(crate) fn take(case: &Case, route: &Route) -> (Answer, Option<Outcome>) {
    let (answer, outcome) = match route.stopped {
        Some((limit, every)) => resumed(case, &route.plan, limit, every),
        None => ask(&case.model, &case.property, &route.plan),
    };
    // Where data has no bounds, an abstraction may prove what bits cannot.
    let by_bits = |outcome: &Outcome| {
        route.plan.bitstate.is_some() && outcome.route == check::Route::Explicit
    };
    let claims = |verdict: &Verdict| match (verdict, &case.property.property) {
        (Verdict::Holds { witness }, Property::Reachable(_)) => witness.is_none(),
        (Verdict::Holds { .. }, _) => true,
        (Verdict::Violated(violation), _) => violation.trace.is_none(),
        (Verdict::Unknown(_), _) => false,
    };
    match outcome {
        Some(outcome)
            if by_bits(&outcome) && claims(&outcome.verdict) && answer != Answer::Failed =>
        {
            let why = format!("bits of states prove `{}`", outcome.verdict.name());
            (Answer::Broken(why), None)
        }
        outcome => (answer, outcome),
    }
}

/// The answer of a search that is stopped again and again, each time with more states allowed.
fn resumed(case: &Case, plan: &Plan, limit: u64, every: u32) -> (Answer, Option<Outcome>) {
    let memory = Arc::new(Memory {
        every,
        ..Memory::default()
    });
    let mut limit = limit;
    loop {
        let limited = Plan {
            checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
            budget: plan.budget.clone().with_max_states(limit),
            ..plan.clone()
        };
        let (answer, outcome) = ask(&case.model, &case.property, &limited);
        let stopped = Verdict::Unknown(UnknownReason::Stopped(StopReason::StateLimit));
        let is_stopped = outcome.as_ref().is_some_and(|o| o.verdict == stopped);
        if !is_stopped || limit >= case.max_states {
            return (answer, outcome);
        }
        limit = (2 * limit + 3).min(case.max_states);
    }
}

/// Keeps the last state in memory; due every few times that it is asked.
#[derive(Debug, Default)]
struct Memory {
    kept: Mutex<Option<(u64, Vec<u64>)>>,
    n_asked: Mutex<u32>,
    every: u32,
}

impl Checkpoints for Memory {
    fn is_due(&self) -> bool {
        let mut n_asked = self.n_asked.lock().expect("no panic");
        *n_asked += 1;
        n_asked.is_multiple_of(self.every)
    }

    fn keep(&self, search: u64, state: &[u64]) -> bool {
        *self.kept.lock().expect("no panic") = Some((search, state.to_vec()));
        true
    }

    fn take(&self, search: u64) -> Option<Vec<u64>> {
        let mut kept = self.kept.lock().expect("no panic");
        kept.take_if(|kept| kept.0 == search).map(|kept| kept.1)
    }
}

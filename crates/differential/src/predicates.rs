//! Predicate abstraction against a search, on programs whose data is bounded.

use std::sync::Arc;
use std::time::Duration;

use base::{Budget, Fairness, Source};
use check::{Plan, Route};
use testkit::Random;
use testkit::programs::{ARRAYS, CHANNELS, EVENTS, NUMBERS, SYNCHRONOUS};

use crate::answer::{Ledger, Relation, ask};
use crate::files::load;
use crate::{Finding, RouteKind, Tally};

/// How long the solver may think about one question.
const PATIENCE: Duration = Duration::from_millis(300);

/// A random program with its questions. It depends on the seed alone.
#[must_use]
pub fn random_program(seed: u64) -> String {
    let mut random = Random::new(seed);
    let families = [NUMBERS, NUMBERS, EVENTS, CHANNELS, SYNCHRONOUS, ARRAYS];
    random.pick(&families).clone().with_properties(&mut random)
}

/// Compares both routes on every question of a program.
///
/// # Panics
/// If the text is not a program.
pub fn compare(text: &str, seed: u64, tally: &mut Tally) -> Vec<Finding> {
    let name = "program.fair".to_owned();
    let source = Source {
        name,
        text: text.to_owned(),
    };
    let systems = load(source, &source::Options::default()).expect("a program");
    let mut ledger = Ledger::default();
    let kinds = ["none", "weak", "strong", "weak-process"];
    let kind = kinds[seed as usize % kinds.len()];

    for system in systems {
        for property in &system.properties {
            let mut plan = Plan {
                fairness: Fairness::parse(kind),
                route: Some(Route::Explicit),
                budget: Budget::unlimited().with_max_states(10_000),
                all_states: true,
                ..Plan::default()
            };
            let truth = ask(&system.model, property, &plan).0;
            // So few values are told apart that variables must be abstracted.
            plan.route = Some(Route::Predicate);
            plan.predicate.max_kept_values = 2;
            plan.predicate.max_refinements = 2;
            plan.predicate.solver = Arc::new(|| Box::new(smt::Embedded::new(PATIENCE)));
            let found = ask(&system.model, property, &plan).0;
            let how = format!("with predicates, {} under {kind}", property.name);
            let left = ("by a search", &truth);
            ledger.compare(RouteKind::Predicate, Relation::Same, left, (&how, &found));
        }
    }

    tally.add(&ledger.tally);
    ledger.findings
}

//! The predicate route: protocols, programs of the literature, steps of several processes together,
//! liveness, bad input, and random programs against explicit search.

mod composition;
mod exports;
mod growth;
mod liars;
mod liveness;
mod predicate;
mod predicate_quantifiers;
mod programs;
mod random;
mod refusals;
mod stopping;

use std::collections::BTreeSet;

use base::{Fairness, NoProgress, Source};
use check::predicate::{TextFormat, abstraction_text};
use check::{Outcome, Plan, Route};

/// What the front end makes of a text that is right.
fn load(text: &str) -> source::Single {
    let loaded = attempt(text);
    assert!(loaded.model.is_some(), "{:?}\n{text}", loaded.diagnostics);
    loaded
}

/// What the front end makes of a text.
fn attempt(text: &str) -> source::Single {
    let name = "test.fair".to_owned();
    let text = text.to_owned();
    lang::load(Source { name, text }, &source::Options::default()).single()
}

/// The text of a file of `examples/predicate`.
fn example(name: &str) -> String {
    let path = format!(
        "{}/../../examples/predicate/{name}.fair",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).expect("the example exists")
}

/// A plan for a route, with everything else as usual.
fn plan(route: Route) -> Plan {
    Plan {
        route: Some(route),
        ..Plan::default()
    }
}

/// Checks the property with this name.
fn check_with(text: &str, property: &str, mut plan: Plan) -> Outcome {
    let loaded = load(text);
    let model = loaded.model.expect("loaded");
    let position = loaded.properties.iter().position(|p| p.name == property);
    let position = position.expect("there is such a property");
    plan.predicate.hints = loaded.hints[position].clone();
    check::check(&model, &loaded.properties[position], &plan, &mut NoProgress)
        .expect("evidence is right")
}

/// Asserts the verdict of a route under a kind of fairness, or under that of the property.
fn assert_verdict(text: &str, property: &str, kind: Option<&str>, route: Route, expected: &str) {
    let mut plan = plan(route);
    plan.fairness = kind.map(|kind| Fairness::parse(kind).expect("it is a kind"));
    let outcome = check_with(text, property, plan);
    let remarks = outcome.remarks.join("\n");
    assert_eq!(
        outcome.verdict.name(),
        expected,
        "{property} under {kind:?} by {route:?}\n{remarks}\n{text}"
    );
}

/// The abstraction on which a property is decided, as text, with the verdict and the counts.
fn printed(text: &str, property: &str, format: TextFormat) -> (String, Outcome) {
    let loaded = load(text);
    let model = loaded.model.expect("loaded");
    let position = loaded.properties.iter().position(|p| p.name == property);
    let position = position.expect("there is such a property");
    let mut plan = plan(Route::Predicate);
    plan.predicate.hints = loaded.hints[position].clone();
    let question = &loaded.properties[position];
    let (printed, _) =
        abstraction_text(&model, question, &plan, format).expect("it can be printed");
    let outcome = check::check(&model, question, &plan, &mut NoProgress);
    (printed, outcome.expect("evidence is right"))
}

/// Asserts that the printed abstraction is a model with the same states and steps, of which the
/// same holds.
fn assert_round_trip(text: &str, property: &str) {
    let (printed, outcome) = printed(text, property, TextFormat::Native);
    assert_eq!(outcome.verdict.name(), "holds", "{property} of\n{text}");
    let again = check_with(&printed, property, plan(Route::Explicit));
    assert_eq!(again.verdict.name(), "holds", "{printed}");
    let counts = (outcome.stats.n_states, outcome.stats.n_transitions);
    let model = load(&printed).model.expect("loaded");
    assert_eq!(counts_of(&model), counts, "{printed}");
}

/// How many states and steps a model has, by the reference semantics, without idle steps.
fn counts_of(model: &model::Model) -> (u64, u64) {
    let mut states = model.initial_states().expect("no errors");
    let mut seen: BTreeSet<model::State> = states.iter().cloned().collect();
    let mut n_steps = 0;
    let mut at = 0;
    while at < states.len() {
        let steps = model.successors(&states[at]).expect("no errors");
        n_steps += steps.len() as u64;
        for step in steps {
            if seen.insert(step.target.clone()) {
                states.push(step.target);
            }
        }
        at += 1;
    }
    (states.len() as u64, n_steps)
}

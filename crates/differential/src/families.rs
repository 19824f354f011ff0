//! What is claimed for all numbers of processes against instances.

use std::fmt::Write as _;

use base::{Budget, NoProgress, Source};
use check::{ForAll, Plan, check_for_all};
use logic::NamedProperty;
use model::Model;
use source::Options;
use testkit::Random;

use crate::answer::{Ledger, Relation, ask, guarded};
use crate::{Answer, Finding, RouteKind, Tally};

/// Instances up to this number of processes are compared.
pub const MAX_INSTANCE: i64 = 7;

/// Instances with more states are given up.
const MAX_STATES: u64 = 20_000;

/// Examples whose proofs take little time.
pub const EXAMPLES: [&str; 6] = [
    "turn.fair",
    "semaphore.fair",
    "token_ring.fair",
    "priority.fair",
    "election.fair",
    "fault_ring.fair",
];

const GUARDS: [&str; 10] = [
    "",
    "",
    "when exists j in 0..N-1: P[j] @ PLACE",
    "when forall j in 0..N-1: j == i || P[j] @ PLACE",
    "when forall j in 0..i-1: !(P[j] @ PLACE)",
    "when t == i",
    "when t != i && P[t] @ PLACE",
    "when f[i]",
    "when !f[t]",
    "when i != N-1 && f[i+1]",
];

const EFFECTS: [&str; 8] = [
    "",
    "",
    "{ t := i }",
    "{ t := (t + 1) mod N }",
    "{ f[i] := true }",
    "{ f[t] := !f[i] }",
    "{ for j in 0..N-1 { f[j] := P[j] @ PLACE } }",
    "{ for j in 0..N-1 { if j != i { f[j] := f[t] } } }",
];

const FORMULAS: [&str; 7] = [
    "forall p, q in 0..N-1 where p < q: always !(P[p] @ PLACE && P[q] @ PLACE)",
    "forall p in 0..N-1: always (P[p] @ b -> eventually P[p] @ PLACE)",
    "forall p in 0..N-1: always (f[p] -> always f[p])",
    "forall p in 0..N-1: always (P[p] @ PLACE -> f[p])",
    "forall p in 0..N-1: always eventually P[p] @ PLACE",
    "always (exists j in 0..N-1: P[j] @ PLACE)",
    "always !(forall j in 0..N-1: f[j])",
];

/// A random family of processes with a shared index and shared flags, and a question about it. It
/// depends on the seed alone.
#[must_use]
pub fn random_family(seed: u64) -> String {
    let mut random = Random::new(seed);
    let places = ["a", "b", "c"];
    let mut pick = |from: &[&str]| {
        let place = *random.pick(&places);
        random.pick(from).replace("PLACE", place)
    };
    let mut text = String::from(
        "param N\nvar t : 0..N-1 = any\nvar f : bool[N] = false\nprocess P(i in 0..N-1) {\n init a\n",
    );
    for (number, source) in places.iter().enumerate() {
        let fairness = pick(&["", "", "weak fair ", "strong fair "]);
        let (guard, effect, target) = (pick(&GUARDS), pick(&EFFECTS), pick(&places));
        let step = format!("{fairness}s{number} {guard} {effect} -> {target}");
        let _ = writeln!(text, " from {source} {{ {step} }}");
    }
    let formula = pick(&FORMULAS);
    text + &format!("}}\nproperty q: {formula}\n")
}

/// Compares the answers for all instances with those for each.
pub fn compare(text: &str, tally: &mut Tally) -> Vec<Finding> {
    let loaded = lang::load(source(text), &Options::default());
    let Some(family) = loaded.family() else {
        return Vec::new();
    };
    let mut ledger = Ledger::default();
    let plan = Plan {
        budget: Budget::unlimited().with_max_states(MAX_STATES),
        all_states: true,
        ..Plan::default()
    };

    for asked in &loaded.questions {
        let property = &asked.property;
        let question = ForAll {
            template: &family.template,
            property,
            scope: &asked.scope,
            instances: &|n| instance(text, &property.name, n),
            cross_check: false,
        };
        let mut violating = None;
        let (all, _) = guarded(|| {
            let answer = check_for_all(&question, &plan, &mut NoProgress)?;
            violating = answer.instance;
            Ok(answer.outcome)
        });

        // What holds for all holds for each, and what is violated is violated where it is said.
        for n in 1..=MAX_INSTANCE {
            let Some((model, asked)) = instance(text, &property.name, n) else {
                continue;
            };
            let relation = if violating == Some(n) {
                Relation::Same
            } else {
                Relation::Implied
            };
            if all == Answer::Violated && violating != Some(n) {
                continue;
            }
            let found = ask(&model, &asked, &plan).0;
            let how = format!("{} for N = {n}", property.name);
            ledger.compare(
                RouteKind::AllInstances,
                relation,
                ("for all N", &all),
                (&how, &found),
            );
        }
    }

    tally.add(&ledger.tally);
    ledger.findings
}

fn source(text: &str) -> Source {
    Source {
        name: "family.fair".to_owned(),
        text: text.to_owned(),
    }
}

fn instance(text: &str, name: &str, n: i64) -> Option<(Model, NamedProperty)> {
    let options = Options {
        defines: vec![("N".to_owned(), n.to_string())],
        ..Options::default()
    };
    let loaded = lang::load(source(text), &options).single();
    let mut properties = loaded.properties.into_iter();
    let property = properties.find(|known| known.name == name);
    loaded.model.zip(property)
}

//! Several threads come to the same verdicts as one, whatever the fairness.

use std::collections::BTreeMap;

use base::{Budget, Fairness, NoProgress, Source, Span};
use check::{Outcome, Plan, Reduction, check};
use evidence::{Verdict, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::Model;
use testkit::{ModelShape, Random, cases, random_formula, random_model};

const KINDS: [&str; 9] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "weak+annotated",
    "strong-global+annotated",
];

/// The model of this seed has states that the automaton does not lead to.
const WITH_REST: u64 = 2_386;

fn decide(model: &Model, property: &NamedProperty, plan: &Plan) -> Outcome {
    let outcome = check(model, property, plan, &mut NoProgress);
    // A violation that cannot be replayed would be a bug here.
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Violated(violation) => match violation.kind {
            // A run-time error may hide a violation and the other way round, depending on the order.
            ViolationKind::RunTimeError(_) => "error",
            _ => "violated",
        },
        other => other.name(),
    }
}

/// What is the same whatever the threads do, if everything was explored.
fn counts(outcome: &Outcome) -> (u64, u64, Option<u64>) {
    let stats = &outcome.stats;
    (stats.n_states, stats.n_transitions, stats.n_product_states)
}

#[test]
fn threads_change_no_verdict() {
    let n_models = cases(1_500);
    let mut tally = BTreeMap::new();
    for seed in (0..u64::from(n_models)).chain([WITH_REST]) {
        let mut random = Random::new(seed);
        let shapes = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose];
        let shape = random.below(3);
        let model = random_model(&mut random, shapes[shape]);
        if model.abstract_timers().next().is_some() {
            continue;
        }
        let size = random.below(5);
        let formula = random_formula(&mut random, 8, size);
        let property = NamedProperty {
            name: "p".into(),
            text: String::new(),
            property: Property::Ltl(Ltl::always(formula)),
            fairness: None,
            span: Span::nowhere(),
        };
        let name = KINDS[random.below(KINDS.len())];
        // Counterexamples of these take long to be made short.
        if name.contains("global") && shape == 2 {
            continue;
        }
        let reduction = if random.chance(40) {
            Reduction::ALL
        } else {
            Reduction::None
        };
        let plan = |n_threads: usize, n_depth_first: u64| Plan {
            n_depth_first: Some(n_depth_first),
            fairness: Fairness::parse(name),
            reduction,
            budget: Budget::unlimited()
                .with_max_states(2_000)
                .with_threads(n_threads),
            ..Plan::default()
        };
        // On the fly by one thread and by several, and with edges stored by one and by several.
        let one = decide(&model, &property, &plan(1, u64::MAX));
        let n_threads = random.below(3) + 2;
        for (n_threads, n_depth_first) in [(n_threads, u64::MAX), (1, 0), (n_threads, 0)] {
            let several = decide(&model, &property, &plan(n_threads, n_depth_first));
            let (found, expected) = (kind(&several.verdict), kind(&one.verdict));
            if expected == "unknown" || found == "unknown" {
                continue;
            }
            let context = format!(
                "seed {seed}, {name}, {reduction:?}, {n_threads} threads, edges stored after {n_depth_first} nodes"
            );
            if found == "error" || expected == "error" {
                assert!(found != "holds" && expected != "holds", "{context}");
                continue;
            }
            assert_eq!(found, expected, "{context}");
            if found == "holds" && !several.stats.reduced {
                assert_eq!(counts(&several), counts(&one), "{context}");
                assert_eq!(several.stats.is_partial, one.stats.is_partial, "{context}");
                assert_eq!(several.stats.atoms_seen, one.stats.atoms_seen);
                assert_eq!(several.stats.commands_taken, one.stats.commands_taken);
                assert_eq!(several.stats.action_counts, one.stats.action_counts);
            }
            *tally.entry((name, found)).or_insert(0) += 1;
        }
    }

    for kind in KINDS {
        for verdict in ["holds", "violated"] {
            let n = tally.get(&(kind, verdict)).copied().unwrap_or(0);
            assert!(n >= n_models / 200, "{kind} {verdict}: {n} of {tally:?}");
        }
    }
}

fn load(text: &str, n: &str) -> (Model, Vec<NamedProperty>) {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let options = source::Options {
        defines: vec![("N".to_owned(), n.to_owned())].into_iter().collect(),
        ..source::Options::default()
    };
    let loaded = lang::load(source, &options).single();
    let diagnostics = loaded.diagnostics;
    let model = loaded.model.unwrap_or_else(|| panic!("{diagnostics:?}"));
    (model, loaded.properties)
}

/// Large enough for components that all threads look into together.
#[test]
fn threads_agree_about_large_components() {
    let models = [
        (include_str!("../../../examples/peterson.fair"), "4"),
        (include_str!("../../../examples/population/le_r.fair"), "4"),
        (
            include_str!("../../../examples/bench/ring_election.fair"),
            "5",
        ),
    ];

    let mut n_compared = 0;
    for (text, n) in models {
        let (model, properties) = load(text, n);
        for property in &properties {
            for name in ["none", "weak-process", "strong-process", "strong-global"] {
                let plan = |n_threads: usize, n_depth_first: u64| Plan {
                    n_depth_first: Some(n_depth_first),
                    fairness: Fairness::parse(name),
                    budget: Budget::unlimited().with_threads(n_threads),
                    ..Plan::default()
                };
                let one = decide(&model, property, &plan(1, u64::MAX));
                // After 100 nodes there is a turn depth first now and then.
                for (n_threads, n_depth_first) in [(2, u64::MAX), (1, 100), (2, 0)] {
                    let two = decide(&model, property, &plan(n_threads, n_depth_first));
                    assert_eq!(kind(&two.verdict), kind(&one.verdict), "{name}");
                    if kind(&one.verdict) == "holds" {
                        assert_eq!(counts(&two), counts(&one), "{name}");
                    }
                    n_compared += 1;
                }
            }
        }
    }

    assert!(n_compared >= 60, "{n_compared}");
}

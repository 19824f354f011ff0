//! Verdicts with and without reductions about random texts in which channels are asked, events have
//! several steps, and steps are fair.

use base::{Budget, NoProgress, Source};
use check::{Plan, Reduction, Reductions, check};
use testkit::{Random, cases, communicating_text};

/// Larger systems are not compared.
const MAX_STATES: u64 = 4_000;

#[test]
fn reductions_change_no_verdict_about_channels() {
    let (mut n_compared, mut n_violated, mut n_reduced) = (0, 0, 0);
    for seed in 0..u64::from(cases(250)) {
        let text = communicating_text(&mut Random::new(seed));
        let source = Source {
            name: "m.fair".into(),
            text: text.clone(),
        };
        let loaded = lang::load(source, &source::Options::default()).single();
        let model = loaded.model.expect("random texts are well formed");
        for property in &loaded.properties {
            let ask = |reductions: Reductions| {
                let plan = Plan {
                    reduction: Reduction::Chosen(reductions),
                    budget: Budget::unlimited().with_max_states(MAX_STATES),
                    ..Plan::default()
                };
                let outcome = check(&model, property, &plan, &mut NoProgress);
                outcome.unwrap_or_else(|bug| panic!("seed {seed}, {}: {bug}", property.name))
            };
            let complete = ask(Reductions::NONE);
            if complete.verdict.name() == "unknown" {
                continue;
            }
            n_violated += usize::from(complete.verdict.name() == "violated");
            let partial_order = Reductions {
                partial_order: true,
                ..Reductions::NONE
            };
            for reductions in [partial_order, Reductions::ALL] {
                let reduced = ask(reductions);
                assert_eq!(
                    reduced.verdict.name(),
                    complete.verdict.name(),
                    "seed {seed}, {}, {reductions:?}\n{text}",
                    property.name
                );
                n_compared += 1;
                n_reduced += usize::from(reduced.stats.n_states < complete.stats.n_states);
            }
        }
    }

    assert!(
        n_compared > 500 && n_violated > 100,
        "{n_compared} {n_violated}"
    );
    assert!(n_reduced > 50, "{n_reduced}");
}

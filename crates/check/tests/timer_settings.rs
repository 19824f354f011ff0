//! Verdicts about abstract timers hold of concrete settings, on random systems and formulas.

use std::collections::BTreeMap;

use base::{Budget, Fairness, NoProgress, Span};
use check::{Plan, TimerFairness, check};
use evidence::{Verdict, ViolationKind};
use logic::{NamedProperty, Property};
use model::Model;
use testkit::{ModelShape, Random, ReferenceGraph, random_ctl_star, random_formula, random_model};

fn verdict(model: &Model, property: &Property) -> Verdict {
    let plan = Plan {
        fairness: Some(Fairness::default()),
        budget: Budget::unlimited().with_max_states(5_000),
        timer_fairness: TimerFairness::BuiltIn,
        ..Plan::default()
    };
    let property = NamedProperty {
        name: "p".into(),
        text: String::new(),
        property: property.clone(),
        fairness: None,
        span: Span::nowhere(),
    };
    let outcome = check(model, &property, &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}")).verdict
}

fn is_zero_time(verdict: &Verdict) -> bool {
    matches!(verdict, Verdict::Violated(violation) if violation.kind == ViolationKind::ZeroTime)
}

#[test]
fn abstract_verdicts_hold_of_all_settings() {
    let mut n_cases: BTreeMap<(bool, &str), usize> = BTreeMap::new();
    for seed in 0..60_000 {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_none() || !model.parts().assumptions.is_empty() {
            continue;
        }
        if !matches!(ReferenceGraph::explore(&model, 100), Ok(Some(_))) {
            continue;
        }
        for _ in 0..2 {
            let is_branching = random.chance(60);
            let property = match is_branching {
                true => Property::CtlStar(random_ctl_star(&mut random, 8)),
                false => {
                    let size = random.below(4);
                    logic::classify(random_formula(&mut random, 8, size))
                }
            };
            let found = verdict(&model, &property);
            // A violation of a linear formula is one of some setting only; it was found there.
            let transfers = match &found {
                Verdict::Holds { .. } => true,
                Verdict::Violated(_) => is_branching && !is_zero_time(&found),
                Verdict::Unknown(_) => false,
            };
            if !transfers {
                continue;
            }
            for (beyond, stretched) in [(0, false), (0, true), (1, true), (2, true)] {
                let settings = model.with_settings(stretched, |timer| {
                    let setting = timer.threshold.unwrap_or(1) + beyond;
                    (setting, setting)
                });
                let concrete = settings.expect("random models are well formed");
                let expected = verdict(&concrete, &property);
                assert_eq!(
                    expected.name(),
                    found.name(),
                    "seed {seed}, {beyond} {stretched}, {property:?}"
                );
            }
            *n_cases.entry((is_branching, found.name())).or_default() += 1;
        }
    }
    let at_least = |case: (bool, &'static str)| n_cases.get(&case).copied().unwrap_or(0) > 200;
    let cases = [(true, "holds"), (true, "violated"), (false, "holds")];
    assert!(cases.into_iter().all(at_least), "{n_cases:?}");
}

//! Verdicts about abstract timers hold of concrete settings, on random systems and formulas.

use std::collections::BTreeMap;

use base::{Budget, Fairness, NoProgress, Span};
use check::{Outcome, Plan, TimerFairness, check};
use evidence::Verdict;
use logic::{Ltl, NamedProperty, Property};
use model::Model;
use testkit::{
    ModelShape, Random, ReferenceGraph, cases, random_ctl_star, random_formula, random_model,
};

fn verdict(model: &Model, property: &Property) -> Verdict {
    outcome(model, property, Fairness::default()).verdict
}

fn outcome(model: &Model, property: &Property, fairness: Fairness) -> Outcome {
    let plan = Plan {
        fairness: Some(fairness),
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
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

/// The model with each abstract timer set to one number, so far beyond its threshold.
fn with_settings(model: &Model, stretched: bool, mut beyond: impl FnMut() -> i64) -> Model {
    let settings = model.with_settings(stretched, |timer| {
        let setting = timer.threshold.unwrap_or(1) + beyond();
        (setting, setting)
    });
    settings.expect("random models are well formed")
}

/// Does time stop in some run of the abstract model?
fn stops(model: &Model) -> bool {
    let clock = model.parts().clock.expect("a model with timers");
    let ticks = Ltl::always(Ltl::eventually(Ltl::atom(clock.tick)));
    !matches!(verdict(model, &Property::Ltl(ticks)), Verdict::Holds { .. })
}

#[test]
fn abstract_verdicts_hold_of_all_settings() {
    let mut n_cases: BTreeMap<(bool, bool, &str), u32> = BTreeMap::new();
    for seed in 0..u64::from(cases(10_000)) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_none() || !model.parts().assumptions.is_empty() {
            continue;
        }
        if !matches!(ReferenceGraph::explore(&model, 100), Ok(Some(_))) {
            continue;
        }
        let is_timeless = stops(&model);
        for _ in 0..2 {
            let is_branching = random.chance(60);
            let property = if is_branching {
                Property::CtlStar(random_ctl_star(&mut random, 8))
            } else {
                let size = random.below(4);
                logic::classify(random_formula(&mut random, 8, size))
            };
            let found = verdict(&model, &property);
            // A violation of a linear formula is one of some setting only; it was found there.
            let transfers = match &found {
                Verdict::Holds { .. } => true,
                Verdict::Violated(_) => is_branching,
                Verdict::Unknown(_) => false,
            };
            if !transfers {
                continue;
            }
            for (beyond, stretched) in [(0, false), (0, true), (1, true), (2, true)] {
                let concrete = with_settings(&model, stretched, || beyond);
                let expected = verdict(&concrete, &property);
                assert_eq!(
                    expected.name(),
                    found.name(),
                    "seed {seed}, {beyond} {stretched}, {property:?}"
                );
            }
            let case = (is_timeless, is_branching, found.name());
            *n_cases.entry(case).or_default() += 1;
        }
    }

    let at_least = |case| n_cases.get(&case).copied().unwrap_or(0) >= cases(10);
    for is_timeless in [false, true] {
        let cases = [(true, "holds"), (true, "violated"), (false, "holds")];
        let mut cases = cases.map(|(is_branching, name)| (is_timeless, is_branching, name));
        assert!(cases.iter_mut().all(|case| at_least(*case)), "{n_cases:?}");
    }
}

/// What is said because settings were tried is true of others, farther off and mixed, under every
/// fairness.
#[test]
fn what_some_settings_decide_is_true_of_others() {
    let kinds = ["none", "weak", "strong-process", "strong", "weak-process"];
    let (mut n_decided, mut n_open, mut n_open_alike) = (0_u32, 0, 0);
    for seed in 0..u64::from(cases(1_500)) {
        let mut random = Random::new(seed ^ 0x7135);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_none()
            || !matches!(ReferenceGraph::explore(&model, 100), Ok(Some(_)))
        {
            continue;
        }
        let fairness = Fairness::parse(kinds[random.below(kinds.len())]).expect("it is one");
        let property = Property::CtlStar(random_ctl_star(&mut random, 8));
        let found = outcome(&model, &property, fairness);
        let is_known = !matches!(found.verdict, Verdict::Unknown(_));
        let mut remarks = found.remarks.iter();
        if is_known && !remarks.any(|r| r.starts_with("decided setting by setting")) {
            continue;
        }

        let mut are_alike = true;
        let mut first = is_known.then(|| found.verdict.name());
        for _ in 0..6 {
            let farthest = 1 + random.below(9);
            let stretched = random.chance(50);
            let concrete = with_settings(&model, stretched, || random.below(farthest) as i64);
            let other = outcome(&concrete, &property, fairness).verdict.name();
            let about = format!("seed {seed}, {fairness:?}, {property:?}");
            assert!(!is_known || first == Some(other), "{about}");
            are_alike &= *first.get_or_insert(other) == other;
        }
        n_decided += u32::from(is_known);
        n_open += u32::from(!is_known);
        n_open_alike += u32::from(!is_known && are_alike);
    }

    println!("{n_decided} decided by settings, {n_open} open, {n_open_alike} of them alike");
    assert!(n_decided >= cases(20), "{n_decided} decided by settings");
}

/// Whatever a formula says, it holds or its negation does; also where time stops.
#[test]
fn tautologies_hold_with_and_without_time() {
    let mut n_cases = [0_u32, 0];
    for seed in 0..u64::from(cases(5_000)) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_none()
            || !matches!(ReferenceGraph::explore(&model, 100), Ok(Some(_)))
        {
            continue;
        }
        let size = random.below(4);
        let formula = random_formula(&mut random, 8, size);
        let always = Ltl::always(formula.clone());
        let never = Ltl::eventually(Ltl::not(formula.clone()));
        let tautology = Ltl::or([always, never]);
        let found = verdict(&model, &Property::Ltl(tautology.clone()));
        assert_eq!(found.name(), "holds", "seed {seed}, {tautology:?}");
        n_cases[usize::from(stops(&model))] += 1;
    }
    assert!(n_cases.iter().all(|n| *n >= cases(10)), "{n_cases:?}");
}

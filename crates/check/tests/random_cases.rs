//! Verdicts against a naive oracle, on random systems, properties and kinds of fairness.
//!
//! Violations are replayed on the reference semantics by `check` itself; the oracle decides
//! whether there is a violation at all.

use base::{Budget, Fairness, NoProgress, Span};
use check::{Plan, check};
use evidence::Verdict;
use logic::{Ltl, NamedProperty, Property, classify};
use model::Model;
use testkit::{
    Judgement, ModelShape, Random, ReferenceGraph, fair_run_exists, random_formula, random_model,
};

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

fn named(property: Property) -> NamedProperty {
    NamedProperty {
        name: "p".into(),
        text: String::new(),
        property,
        fairness: None,
        span: Span::nowhere(),
    }
}

/// What a verdict about abstract timers is worth depends on more than the model; see
/// `published_timers.rs`.
fn has_abstract_timers(model: &Model) -> bool {
    model.abstract_timers().next().is_some()
}

fn verdict(model: &Model, property: Property, fairness: Fairness) -> Verdict {
    let plan = Plan {
        fairness: Some(fairness),
        reduce: false,
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    let outcome = check(model, &named(property), &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}")).verdict
}

#[test]
fn verdicts_agree_with_the_oracle() {
    let (mut n_holds, mut n_violated) = (0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= 12_000 {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if has_abstract_timers(&model) {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 24) else {
            continue;
        };
        for _ in 0..3 {
            let size = random.below(5);
            let formula = random_formula(&mut random, 8, size);
            let fairness =
                Fairness::parse(KINDS[random.below(KINDS.len())]).expect("the names are right");
            let negation = logic::translate(&Ltl::not(formula.clone())).expect("small formulas");
            let judged = fair_run_exists(&model, &graph, &negation, fairness);
            let expected = match judged.expect("atoms of tiny models have values") {
                Judgement::TooLarge => continue,
                Judgement::Exists => "violated",
                Judgement::None => "holds",
            };
            let found = verdict(&model, classify(formula.clone()), fairness);
            let name = |atom: base::AtomId| format!("p{}", atom.0);
            assert_eq!(
                found.name(),
                expected,
                "seed {seed}, fairness {}, formula {}",
                fairness.name(),
                formula.display(&name)
            );
            match expected {
                "holds" => n_holds += 1,
                _ => n_violated += 1,
            }
        }
    }
    assert!(
        n_holds > 2000 && n_violated > 2000,
        "{n_holds} {n_violated}"
    );
}

#[test]
fn a_formula_and_its_negation_never_both_hold() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if has_abstract_timers(&model) {
            continue;
        }
        if ReferenceGraph::explore(&model, 200).map(|graph| graph.is_none_or(|g| g.n_initial == 0))
            != Ok(false)
        {
            continue;
        }
        let size = random.below(6);
        let formula = random_formula(&mut random, 8, size);
        // Under these notions every system has a fair run.
        for kind in ["none", "weak", "strong-process", "strong-global"] {
            if !model.parts().assumptions.is_empty() {
                continue;
            }
            let fairness = Fairness::parse(kind).expect("the names are right");
            let both = [formula.clone(), Ltl::not(formula.clone())]
                .map(|f| verdict(&model, Property::Ltl(f), fairness).name() == "holds");
            assert_ne!(both, [true, true], "seed {seed}, fairness {kind}");
        }
    }
}

/// The verdict and how many states were needed for it.
fn reduced(model: &Model, property: Property, fairness: Fairness, reduce: bool) -> (String, u64) {
    let plan = Plan {
        fairness: Some(fairness),
        reduce,
        budget: Budget::unlimited().with_max_states(20_000),
        ..Plan::default()
    };
    let outcome = check(model, &named(property), &plan, &mut NoProgress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
    let verdict = match &outcome.verdict {
        // Which of several run-time errors is met first may differ.
        Verdict::Violated(violation) => match violation.kind {
            evidence::ViolationKind::RunTimeError(_) => "error".to_owned(),
            _ => "violated".to_owned(),
        },
        other => other.name().to_owned(),
    };
    (verdict, outcome.stats.n_states)
}

#[test]
fn reduction_changes_no_verdict() {
    let (mut n_smaller, mut n_cases) = (0, 0);
    for seed in 0..40_000 {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich][random.below(2)];
        let model = random_model(&mut random, shape);
        if has_abstract_timers(&model) {
            continue;
        }
        let size = random.below(4);
        // Mostly state propositions, for others prevent reduction.
        let n_atoms = if random.chance(80) { 4 } else { 8 };
        let formula = random_formula(&mut random, n_atoms, size);
        let property = match random.below(5) {
            0 => Property::DeadlockFree,
            1 | 2 => classify(Ltl::always(random_formula(&mut random, n_atoms, 0))),
            _ => classify(formula),
        };
        let fairness =
            Fairness::parse(KINDS[random.below(KINDS.len())]).expect("the names are right");
        let fairness = if random.chance(70) {
            Fairness::default()
        } else {
            fairness
        };
        let full = reduced(&model, property.clone(), fairness, false);
        let less = reduced(&model, property.clone(), fairness, true);
        // A run-time error may hide a violation and the other way round, depending on the order.
        if full.0 != "error" && less.0 != "error" {
            assert_eq!(
                full.0,
                less.0,
                "seed {seed}, {property:?}, {}",
                fairness.name()
            );
        } else {
            assert_ne!(full.0, "holds", "seed {seed}");
            assert_ne!(less.0, "holds", "seed {seed}");
        }
        n_cases += 1;
        n_smaller += usize::from(full.0 == "holds" && less.1 < full.1);
    }
    assert!(
        n_cases > 30_000 && n_smaller > 100,
        "{n_smaller} of {n_cases} were reduced"
    );
}

//! Verdicts against a naive oracle, on random systems, properties and kinds of fairness.
//!
//! Violations are replayed on the reference semantics by `check` itself; the oracle decides
//! whether there is a violation at all.

use std::collections::BTreeMap;

use base::{Budget, Fairness, FairnessKind, NoProgress, Span};
use check::{Outcome, Plan, Reduction, Reductions, check};
use evidence::Verdict;
use logic::{Ltl, NamedProperty, Property, classify};
use model::Model;
use testkit::{
    Judgement, ModelShape, Random, ReferenceGraph, cases, fair_run_exists, halves, random_formula,
    random_model,
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

/// The verdict, which is the same on the fly and with stored edges.
fn verdict(model: &Model, property: Property, fairness: Fairness) -> Verdict {
    let property = named(property);
    let [on_the_fly, stored] = [u64::MAX, 0].map(|n_depth_first| {
        let plan = Plan {
            fairness: Some(fairness),
            n_depth_first: Some(n_depth_first),
            budget: Budget::unlimited(),
            ..Plan::default()
        };
        let outcome = check(model, &property, &plan, &mut NoProgress);
        outcome.unwrap_or_else(|bug| panic!("{bug}")).verdict
    });
    assert_eq!(on_the_fly.name(), stored.name(), "{property:?}");
    stored
}

#[test]
fn verdicts_agree_with_the_oracle() {
    let n_wanted = cases(3_000);
    let (mut n_holds, mut n_violated) = (0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= n_wanted {
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
        n_holds > n_wanted / 6 && n_violated > n_wanted / 6,
        "{n_holds} {n_violated}"
    );
}

#[test]
fn a_formula_and_its_negation_never_both_hold() {
    for seed in 0..u64::from(cases(750)) {
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
fn reduced(
    model: &Model,
    property: Property,
    fairness: Fairness,
    reductions: Reductions,
) -> (String, u64) {
    let plan = Plan {
        fairness: Some(fairness),
        reduction: Reduction::Chosen(reductions),
        budget: Budget::unlimited().with_max_states(2_000),
        ..Plan::default()
    };
    let outcome = outcome(model, property, &plan);
    (kind_of_verdict(&outcome.verdict), outcome.stats.n_states)
}

fn outcome(model: &Model, property: Property, plan: &Plan) -> Outcome {
    let outcome = check(model, &named(property.clone()), plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}: {property:?}, {plan:?}, {model:?}"))
}

fn kind_of_verdict(verdict: &Verdict) -> String {
    match verdict {
        // Which of several run-time errors is met first may differ.
        Verdict::Violated(violation) => match violation.kind {
            evidence::ViolationKind::RunTimeError(_) => "error".to_owned(),
            _ => "violated".to_owned(),
        },
        other => other.name().to_owned(),
    }
}

/// A random property, mostly over state propositions.
fn random_property(random: &mut Random) -> Property {
    let n_atoms = if random.chance(60) { 4 } else { 8 };
    match random.below(5) {
        0 => Property::DeadlockFree,
        1 | 2 => classify(Ltl::always(random_formula(random, n_atoms, 0))),
        _ => {
            let size = random.below(4);
            classify(random_formula(random, n_atoms, size))
        }
    }
}

/// A run-time error may hide a violation and the other way round, depending on the order.
fn assert_agree(full: &str, less: &str, what: &str) {
    if full != "error" && less != "error" {
        assert_eq!(full, less, "{what}");
    } else {
        assert_ne!(full, "holds", "{what}");
        assert_ne!(less, "holds", "{what}");
    }
}

/// Each reduction alone, and all of them together.
const REDUCTIONS: [Reductions; 4] = [
    Reductions {
        symmetry: true,
        ..Reductions::NONE
    },
    Reductions {
        dead_variables: true,
        ..Reductions::NONE
    },
    Reductions {
        partial_order: true,
        ..Reductions::NONE
    },
    Reductions {
        partial_order: true,
        symmetry: true,
        dead_variables: true,
    },
];

/// Which reduction, of a search for loops or of a simpler one, with which verdict.
type Smaller = (usize, bool, String);

/// Compares reduced searches with complete ones on half of the models, and counts those that were
/// smaller.
fn smaller_searches(half: u64, n_models: u32) -> BTreeMap<Smaller, u32> {
    let mut n_smaller = BTreeMap::new();
    for seed in (half..u64::from(n_models)).step_by(2) {
        let mut random = Random::new(seed);
        let shape = if random.chance(85) {
            ModelShape::Alike
        } else {
            *random.pick(&[ModelShape::Tiny, ModelShape::Rich])
        };
        let model = random_model(&mut random, shape);
        if has_abstract_timers(&model) {
            continue;
        }
        let property = random_property(&mut random);
        let kind = if random.chance(50) {
            "none"
        } else {
            KINDS[random.below(KINDS.len())]
        };
        let fairness = Fairness::parse(kind).expect("the names are right");
        let full = reduced(&model, property.clone(), fairness, Reductions::NONE);
        if full.0 == "unknown" {
            continue;
        }
        let is_search = matches!(property, Property::Ltl(_));
        for (which, reductions) in REDUCTIONS.into_iter().enumerate() {
            let less = reduced(&model, property.clone(), fairness, reductions);
            // A violation may be met before the limit in one search and not in the other.
            if full.0 != "holds" && less.0 == "unknown" {
                continue;
            }
            let what = format!("seed {seed}, {property:?}, {kind}, {reductions:?}");
            assert_agree(&full.0, &less.0, &what);
            if full.0 == less.0 && less.1 < full.1 {
                let found = (which, is_search, full.0.clone());
                *n_smaller.entry(found).or_insert(0) += 1;
            }
        }
    }

    n_smaller
}

#[test]
fn forgetting_differences_changes_no_verdict() {
    let n_models = cases(2_500);
    let [mut n_smaller, others] = halves(|half| smaller_searches(half, n_models));
    for (found, n) in others {
        *n_smaller.entry(found).or_insert(0) += n;
    }

    for which in 0..REDUCTIONS.len() {
        for is_search in [false, true] {
            for verdict in ["holds", "violated"] {
                let n_cases = n_smaller.get(&(which, is_search, verdict.to_owned()));
                assert!(
                    n_cases.is_some_and(|n| *n >= n_models / 700),
                    "{n_smaller:?}"
                );
            }
        }
    }
}

#[test]
fn exchanging_processes_under_fairness_changes_no_verdict() {
    let kinds: Vec<&str> = KINDS
        .into_iter()
        .filter(|k| !k.contains("global"))
        .collect();
    let n_models = cases(3_000);
    let mut n_smaller = std::collections::BTreeMap::new();

    for seed in 0..u64::from(n_models) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Alike);
        let n_atoms = if random.chance(80) { 4 } else { 8 };
        let size = random.below(4);
        let formula = random_formula(&mut random, n_atoms, size);
        let property = Property::Ltl(formula);
        let kind = kinds[1 + random.below(kinds.len() - 1)];
        let fairness = Fairness::parse(kind).expect("the names are right");
        let full = reduced(&model, property.clone(), fairness, Reductions::NONE);
        if full.0 == "unknown" {
            continue;
        }
        let forgets_values = random.chance(30);
        let reductions = Reductions {
            symmetry: true,
            dead_variables: forgets_values,
            ..Reductions::NONE
        };
        let less = reduced(&model, property.clone(), fairness, reductions);
        if full.0 != "holds" && less.0 == "unknown" {
            continue;
        }
        let what = format!("seed {seed}, {property:?}, {kind}, {reductions:?}");
        assert_agree(&full.0, &less.0, &what);
        if full.0 == less.0 && less.1 < full.1 {
            *n_smaller.entry((kind, full.0.clone())).or_insert(0) += 1;
        }
    }

    for kind in &kinds[1..] {
        for verdict in ["holds", "violated"] {
            let n_cases = n_smaller.get(&(*kind, verdict.to_owned()));
            assert!(
                n_cases.is_some_and(|n| *n >= n_models / 800),
                "{n_smaller:?}"
            );
        }
    }
}

#[test]
fn reduction_changes_no_verdict() {
    let n_models = cases(10_000);
    let mut n_smaller = std::collections::BTreeMap::new();
    for seed in 0..u64::from(n_models) {
        let mut random = Random::new(seed);
        let shapes = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose];
        let shape = [0, 1, 2, 2][random.below(4)];
        let model = random_model(&mut random, shapes[shape]);
        if has_abstract_timers(&model) {
            continue;
        }
        let property = random_property(&mut random);
        let fairness =
            Fairness::parse(KINDS[random.below(KINDS.len())]).expect("the names are right");
        // Nothing is left out under this, and its counterexamples take long to be made short.
        if fairness.kind == FairnessKind::StrongGlobal && shape == 2 {
            continue;
        }
        let full = reduced(&model, property.clone(), fairness, Reductions::NONE);
        let less = reduced(&model, property.clone(), fairness, Reductions::ALL);
        if full.0 == "unknown" {
            continue;
        }
        let what = format!("seed {seed}, {property:?}, {}", fairness.name());
        assert_agree(&full.0, &less.0, &what);
        if full.0 == "holds" && less.1 < full.1 {
            let is_search = matches!(property, Property::Ltl(_));
            *n_smaller.entry((is_search, fairness.name())).or_insert(0) += 1;
        }
    }

    for kind in KINDS {
        let n_searches = n_smaller.get(&(true, kind.to_owned())).copied();
        let expected = !kind.contains("global");
        assert_eq!(
            n_searches.is_some_and(|n| n >= n_models / 4_000),
            expected,
            "{n_smaller:?}"
        );
    }
}

#[test]
fn starting_again_with_reductions_changes_no_verdict() {
    let n_models = cases(3_000);
    let mut n_switched = std::collections::BTreeMap::new();
    let mut n_unchanged = 0;
    for seed in 0..u64::from(n_models) {
        let mut random = Random::new(seed);
        let shapes = [ModelShape::Alike, ModelShape::Rich, ModelShape::Loose];
        let shape = shapes[random.below(3)];
        let model = random_model(&mut random, shape);
        if has_abstract_timers(&model) {
            continue;
        }
        let property = random_property(&mut random);
        let kind = ["none", "none", "weak", "strong-process", "annotated"][random.below(5)];
        let complete = Plan {
            fairness: Fairness::parse(kind),
            budget: Budget::unlimited().with_max_states(2_000),
            ..Plan::default()
        };
        let full = outcome(&model, property.clone(), &complete);
        if matches!(full.verdict, Verdict::Unknown(_)) {
            continue;
        }
        let n_threads = 1 + usize::from(random.chance(20));
        let switching = Plan {
            reduction: Reduction::Auto {
                after: random.below(12) as u64,
            },
            budget: complete.budget.clone().with_threads(n_threads),
            ..complete
        };
        let found = outcome(&model, property.clone(), &switching);
        let what = format!("seed {seed}, {property:?}, {kind}, {:?}", found.remarks);
        let verdict = kind_of_verdict(&full.verdict);
        // A violation may be met before the limit in one search and not in the other.
        if verdict == "holds" || !matches!(found.verdict, Verdict::Unknown(_)) {
            assert_agree(&verdict, &kind_of_verdict(&found.verdict), &what);
        }
        if found.remarks.iter().any(|r| r.contains("started again")) {
            let is_search = matches!(property, Property::Ltl(_));
            *n_switched.entry((is_search, verdict)).or_insert(0) += 1;
        } else if verdict == "holds" {
            let counts = |outcome: &Outcome| (outcome.stats.n_states, outcome.stats.n_transitions);
            assert_eq!(counts(&full), counts(&found), "{what}");
            assert!(!found.stats.reduced && found.reduced == Reductions::NONE);
            n_unchanged += 1;
        }
    }

    for is_search in [false, true] {
        for verdict in ["holds", "violated"] {
            let n_cases = n_switched.get(&(is_search, verdict.to_owned()));
            assert!(
                n_cases.is_some_and(|n| *n >= n_models / 600),
                "{n_switched:?}"
            );
        }
    }

    assert!(n_unchanged >= n_models / 24, "{n_unchanged}");
}

#[test]
fn a_search_with_bits_says_nothing_but_what_it_finds() {
    let n_models = cases(750);
    let mut n_violated = 0;
    for seed in 0..u64::from(n_models) {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose][random.below(3)];
        let model = random_model(&mut random, shape);
        // Without initial states there is nothing to search, and no doubt about the answer.
        if model.initial_states().is_ok_and(|states| states.is_empty()) {
            continue;
        }
        let property = match random.below(3) {
            0 => Property::DeadlockFree,
            1 => classify(Ltl::always(random_formula(&mut random, 8, 0))),
            _ => Property::Reachable(random_formula(&mut random, 8, 0)),
        };
        let [exact, roomy, cramped] = [None, Some(1 << 20), Some(8)].map(|bitstate| {
            let plan = Plan {
                fairness: Some(Fairness::default()),
                bitstate,
                budget: Budget::unlimited().with_max_states(20_000),
                ..Plan::default()
            };
            let outcome = check(&model, &named(property.clone()), &plan, &mut NoProgress);
            outcome.unwrap_or_else(|bug| panic!("{bug}")).verdict
        });
        let is_reachable = matches!(property, Property::Reachable(_));
        let found = |verdict: &Verdict| match verdict {
            Verdict::Holds { .. } => is_reachable,
            Verdict::Violated(violation) => violation.kind != evidence::ViolationKind::Unreachable,
            Verdict::Unknown(_) => false,
        };
        // Of several errors in one state either search may meet another first, and one of them can
        // be a bound of the front end.
        let undecided = matches!(
            roomy,
            Verdict::Unknown(
                evidence::UnknownReason::Unsupported(_) | evidence::UnknownReason::Exhausted
            )
        );
        if exact.name() == "unknown" || undecided {
            continue;
        }
        let said = format!("seed {seed}, {property:?}: {roomy:?}, but {exact:?}");
        assert_eq!(found(&roomy), found(&exact), "{said}");
        for inexact in [roomy, cramped] {
            let is_silent = matches!(inexact, Verdict::Unknown(_));
            assert_ne!(is_silent, found(&inexact), "seed {seed}, {property:?}");
        }
        n_violated += u32::from(found(&exact));
    }

    assert!(n_violated > n_models / 3, "{n_violated}");
}

/// A formula about the past of an atom.
fn past(random: &mut Random, depth: usize) -> Ltl {
    let atom = Ltl::atom(base::AtomId::new(random.below(8)));
    let inner = if depth == 0 {
        atom.clone()
    } else {
        past(random, depth - 1)
    };
    match random.below(4) {
        0 => Ltl::previously(inner),
        1 => Ltl::once(inner),
        2 => Ltl::historically(&inner),
        _ => Ltl::since(atom, inner),
    }
}

/// Paths of the graph, each with the steps that lead to its states.
type Path<'g> = Vec<(usize, &'g [model::CommandId])>;

/// Do all lassos with few states satisfy the formula, by definition?
fn short_lassos_satisfy(model: &Model, graph: &ReferenceGraph, formula: &Ltl) -> bool {
    const MAX_STATES: usize = 5;
    let mut open: Vec<Path<'_>> = (0..graph.n_initial).map(|s| vec![(s, &[][..])]).collect();
    while let Some(path) = open.pop() {
        let (last, _) = path[path.len() - 1];
        for (step, target) in &graph.steps[last] {
            for start in (0..path.len()).filter(|at| path[*at].0 == *target) {
                // The loop once more, entered by its last step.
                let mut word = path.clone();
                word.push((*target, &step.commands));
                word.extend_from_slice(&path[start + 1..]);
                let letter = |position: usize, atom: base::AtomId| {
                    let (state, commands) = word[position];
                    let holds = model.atom_holds(atom, &graph.states[state], commands);
                    holds.expect("atoms of tiny models have values")
                };
                if !logic::holds_on_lasso(formula, word.len(), path.len(), &letter) {
                    return false;
                }
            }
            if path.len() < MAX_STATES {
                let mut longer = path.clone();
                longer.push((*target, &step.commands));
                open.push(longer);
            }
        }
    }
    true
}

/// What holds has no short counterexample. That what is violated has one is confirmed by `check`.
#[test]
fn what_held_in_the_past() {
    let n_wanted = cases(100);
    let (mut n_holds, mut n_violated) = (0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= n_wanted {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if has_abstract_timers(&model) || !model.parts().assumptions.is_empty() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 8) else {
            continue;
        };
        let size = random.below(4);
        let depth = random.below(2);
        let replaced = past(&mut random, depth);
        let formula = random_formula(&mut random, 8, size).map_atoms(&|atom| match atom.0 % 2 {
            0 => replaced.clone(),
            _ => Ltl::atom(atom),
        });
        let found = verdict(&model, classify(formula.clone()), Fairness::NONE);
        if found.name() == "holds" {
            let name = |atom: base::AtomId| format!("p{}", atom.0);
            assert!(
                short_lassos_satisfy(&model, &graph, &formula),
                "seed {seed}, formula {}",
                formula.display(&name)
            );
            n_holds += 1;
        } else {
            assert_eq!(found.name(), "violated", "seed {seed}");
            n_violated += 1;
        }
    }
    assert!(
        n_holds > n_wanted / 8 && n_violated > n_wanted / 8,
        "{n_holds} {n_violated}"
    );
}

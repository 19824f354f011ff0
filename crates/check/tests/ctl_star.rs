//! Formulas of CTL* on concrete systems, against independent decision procedures.

use base::{Budget, Fairness, NoProgress, Span};
use check::{Plan, check};
use logic::{CtlStar, NamedProperty, Property};
use model::Model;
use testkit::{BranchingOracle, ModelShape, Random, ReferenceGraph, random_ctl_star, random_model};

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

/// The verdict of the tool; its evidence is validated by `check` itself.
fn verdict(model: &Model, formula: &CtlStar, fairness: Fairness) -> (&'static str, usize) {
    let property = NamedProperty {
        name: "p".into(),
        text: String::new(),
        property: Property::CtlStar(formula.clone()),
        fairness: None,
        span: Span::nowhere(),
    };
    let plan = Plan {
        fairness: Some(fairness),
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    let outcome = check(model, &property, &plan, &mut NoProgress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
    let shown = match &outcome.verdict {
        evidence::Verdict::Violated(violation) => match &violation.kind {
            evidence::ViolationKind::Branching(shown) => shown.branches.len(),
            _ => 0,
        },
        _ => outcome.branching.map_or(0, |shown| shown.branches.len()),
    };
    (outcome.verdict.name(), shown)
}

#[test]
fn verdicts_agree_with_the_tableau_oracle() {
    let (mut n_holds, mut n_violated, mut n_shown, mut n_nested) = (0, 0, 0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= 10_000 {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 16) else {
            continue;
        };
        for _ in 0..4 {
            let formula = random_ctl_star(&mut random, 8);
            let kind = KINDS[random.below(KINDS.len())];
            let fairness = Fairness::parse(kind).expect("the names are right");
            let oracle = BranchingOracle::new(&model, &graph, fairness);
            let Some(oracle) = oracle.expect("atoms of tiny models have values") else {
                continue;
            };
            let Some(holds) = oracle.holds(&formula) else {
                continue;
            };
            let (found, n_branches) = verdict(&model, &formula, fairness);
            let expected = if holds { "holds" } else { "violated" };
            let text = formula.text(&|atom| format!("p{}", atom.0));
            assert_eq!(found, expected, "seed {seed}, fairness {kind}, {text}");
            n_holds += usize::from(holds);
            n_violated += usize::from(!holds);
            n_shown += usize::from(n_branches > 0);
            n_nested += usize::from(n_branches > 1);
        }
    }
    assert!(
        n_holds > 2000 && n_violated > 2000 && n_shown > 2000 && n_nested > 500,
        "{n_holds} {n_violated} {n_shown} {n_nested}"
    );
}

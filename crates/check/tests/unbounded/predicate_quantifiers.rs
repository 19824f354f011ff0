//! Path quantifiers over unbounded data: must steps of predicate abstractions.

use base::{Budget, Fairness, NoProgress, Source, Span};
use check::{Outcome, Plan, Route};
use evidence::Verdict;
use logic::{CtlStar, NamedProperty, Property};
use model::Model;
use testkit::{ModelShape, Random, random_ctl_star, random_model};

fn bakery() -> String {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/predicate/bakery.fair"
    );
    std::fs::read_to_string(path).expect("the example exists")
}

fn ask(text: &str, formula: &str, fairness: &str) -> Outcome {
    ask_by(Some(Route::Predicate), text, formula, fairness)
}

/// Asks about a model as the command line does with `--ctl`.
fn ask_by(route: Option<Route>, text: &str, formula: &str, fairness: &str) -> Outcome {
    let options = source::Options {
        ctl: vec![("asked".to_owned(), formula.to_owned())],
        ..source::Options::default()
    };
    let name = "test.fair".to_owned();
    let text = text.to_owned();
    let loaded = lang::load(Source { name, text }, &options).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let position = loaded.properties.iter().position(|p| p.name == "asked");
    let position = position.expect("it was asked");
    let mut plan = Plan {
        route,
        fairness: Fairness::parse(fairness),
        ..Plan::default()
    };
    plan.predicate.hints = loaded.hints[position].clone();
    check::check(&model, &loaded.properties[position], &plan, &mut NoProgress)
        .unwrap_or_else(|bug| panic!("{bug}"))
}

fn verdict(text: &str, formula: &str, fairness: &str) -> &'static str {
    ask(text, formula, fairness).verdict.name()
}

#[test]
fn bakery_has_true_answers_for_both_quantifiers() {
    let text = bakery();
    let cases = [
        ("A[] !(P1 @ critical && P2 @ critical)", "none", "holds"),
        ("A[](P1 @ waiting -> A<> P1 @ critical)", "none", "holds"),
        ("E<> P1 @ critical", "none", "holds"),
        ("E[] !(P1 @ critical)", "none", "holds"),
        ("A[] E<> P1 @ critical", "none", "holds"),
        ("E<>(P1 @ waiting && P2 @ waiting)", "none", "holds"),
        ("E<>(P1 @ critical && P2 @ critical)", "none", "violated"),
        ("A<> P1 @ critical", "none", "violated"),
        ("A[] A<> P1 @ critical", "none", "violated"),
        ("A[] A<> P1 @ critical", "weak", "holds"),
        ("E[] !(P1 @ critical)", "weak", "violated"),
        ("E[] A<> P1 @ critical", "strong", "holds"),
        ("A<> A[] P1 @ idle", "strong-process", "violated"),
    ];
    for (formula, fairness, expected) in cases {
        let found = verdict(&text, formula, fairness);
        assert_eq!(found, expected, "{formula} under {fairness}");
    }
}

#[test]
fn models_with_unbounded_data_take_this_route() {
    let open = "param N >= 1\nvar x : int = 0\nprocess P { up when x < N { x := x + 1 } }\n";
    for (text, formula) in [
        (open.to_owned(), "A[] x <= N"),
        (bakery(), "A[] E<> P1 @ critical"),
    ] {
        let outcome = ask_by(None, &text, formula, "none");
        assert_eq!(
            (outcome.route, outcome.verdict.name()),
            (Route::Predicate, "holds")
        );
    }
}

#[test]
fn strong_global_fairness_and_errors_are_refused() {
    let outcome = ask(&bakery(), "E<> P1 @ critical", "strong-global");
    assert_eq!(outcome.verdict.name(), "unknown");
    let failing = "
        var x : nat = 0
        process P { down { x := x - 1 } }
    ";
    assert_eq!(verdict(failing, "E<> x == 0", "none"), "unknown");
}

/// A program over small numbers, with some propositions.
fn random_program(random: &mut Random) -> String {
    const GUARDS: [&str; 6] = ["x < y", "x == 0", "x + y >= 3", "y != 2", "flag", "true"];
    const EFFECTS: [&str; 7] = [
        "x := y",
        "x := if x < 3 then x + 1 else 0",
        "y := 3 - y",
        "y := x; flag := !flag",
        "x := choose 0..3",
        "y := choose v in 0..3 where v >= x",
        "skip",
    ];

    let mut text = String::from("var x, y : 0..3 = 0\nvar flag : bool\n");
    for process in ["P", "Q"] {
        text.push_str(&format!("process {process} {{\n    init a\n"));
        for (from, to) in [("a", "b"), ("b", "a")] {
            let (guard, effect) = (*random.pick(&GUARDS), *random.pick(&EFFECTS));
            text.push_str(&format!(
                "    from {from} {{ s when {guard} {{ {effect} }} -> {to} }}\n"
            ));
        }
        text.push_str("}\n");
    }

    for (number, atom) in ["x < 2", "y > x", "flag", "P @ b"].iter().enumerate() {
        text.push_str(&format!("property p{number}: always eventually ({atom})\n"));
    }
    text
}

fn answer(model: &Model, formula: &CtlStar, plan: &Plan) -> Verdict {
    let property = NamedProperty {
        name: "p".into(),
        text: String::new(),
        property: Property::CtlStar(formula.clone()),
        fairness: None,
        span: Span::nowhere(),
    };
    let outcome = check::check(model, &property, plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}")).verdict
}

#[test]
fn what_is_claimed_agrees_with_explicit_search() {
    const KINDS: [&str; 6] = [
        "none",
        "weak-process",
        "strong-process",
        "weak",
        "strong",
        "annotated",
    ];

    let (mut n_holds, mut n_violated, mut n_unknown) = (0, 0, 0);
    for seed in 0..240 {
        let mut random = Random::new(seed);
        let (model, n_atoms, text) = match seed % 2 {
            0 => {
                let text = random_program(&mut random);
                let name = "test.fair".to_owned();
                let source = Source {
                    name,
                    text: text.clone(),
                };
                let loaded = lang::load(source, &source::Options::default()).single();
                (loaded.model.expect("it is valid"), 4, text)
            }
            _ => (
                random_model(&mut random, ModelShape::Tiny),
                8,
                String::new(),
            ),
        };
        if model.abstract_timers().next().is_some() {
            continue;
        }
        for _ in 0..3 {
            let formula = random_ctl_star(&mut random, n_atoms);
            let kind = *random.pick(&KINDS);
            let explicit = Plan {
                fairness: Fairness::parse(kind),
                route: Some(Route::Explicit),
                budget: Budget::unlimited(),
                ..Plan::default()
            };
            let mut abstracted = Plan {
                route: Some(Route::Predicate),
                ..explicit.clone()
            };
            abstracted.predicate.max_kept_values = 1;
            abstracted.predicate.hints.only = random.chance(50);
            let found = answer(&model, &formula, &abstracted);
            let counter = match found {
                Verdict::Unknown(_) => {
                    n_unknown += 1;
                    continue;
                }
                Verdict::Holds { .. } => &mut n_holds,
                Verdict::Violated(_) => &mut n_violated,
            };
            *counter += 1;
            let truth = answer(&model, &formula, &explicit);
            let shown = formula.text(&|atom| format!("p{}", atom.0));
            assert_eq!(
                found.name(),
                truth.name(),
                "seed {seed}, {shown} under {kind}\n{text}"
            );
        }
    }

    println!("{n_holds} hold, {n_violated} are violated, {n_unknown} are unknown");
    assert!(
        n_holds > 60 && n_violated > 60,
        "{n_holds} {n_violated} {n_unknown}"
    );
}

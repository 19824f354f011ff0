//! Warnings: each kind is given where it should be, at its line, and nowhere else.

use base::{Budget, Diagnostic, NoProgress, Source};
use check::{Outcome, Plan, check, needless_annotations};

/// All warnings about a model as `code line: message`.
fn warnings(text: &str) -> Vec<String> {
    warnings_about(text, false)
}

fn warnings_about(text: &str, all_states: bool) -> Vec<String> {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let plan = Plan {
        fairness: None,
        budget: Budget::unlimited(),
        all_states,
        ..Plan::default()
    };
    let outcomes: Vec<Outcome> = loaded
        .properties
        .iter()
        .map(|property| check(&model, property, &plan, &mut NoProgress).expect("no bug"))
        .collect();
    let checked: Vec<_> = loaded.properties.iter().zip(&outcomes).collect();
    let own = outcomes.iter().flat_map(|outcome| outcome.warnings.clone());
    let all: Vec<Diagnostic> = own
        .chain(needless_annotations(&model, &checked, &plan))
        .collect();
    let show = |warning: &Diagnostic| {
        let offset = warning.labels[0].span.start as usize;
        let (line, _) = loaded.sources[0].line_column(offset);
        format!("{} {line}: {}", warning.code, warning.message)
    };
    all.iter().map(show).collect()
}

#[test]
fn a_sound_model_has_none() {
    let text = "var x : bool = false
        process P { weak fair toggle { x := !x } }
        process Q { idle { skip } }
        property p: always (x -> eventually !x)";
    assert_eq!(warnings(text), [""; 0]);
}

#[test]
fn no_fair_run() {
    let text = "var x : bool = false
        process P { toggle { x := !x } }
        assume <>[] x
        property p: always eventually x";
    assert_eq!(
        warnings(text),
        ["no-fair-run 4: the system has no fair run, so `p` holds vacuously"]
    );
}

/// A violated one is not a surprise: it demands a fair run, and there is none.
#[test]
fn no_fair_run_for_path_quantifiers() {
    let text = "process S { init a  from a { go -> b }  from b { stay { skip } } }
        assume []<> S @ a
        property linear: A(<> S @ b)
        property nested: AG EF S @ a
        property demanding: E([] S @ a)";
    assert_eq!(
        warnings(text),
        [
            "no-fair-run 3: the system has no fair run, so `linear` holds vacuously",
            "no-fair-run 4: the system has no fair run, so `nested` holds vacuously",
        ]
    );
}

#[test]
fn no_initial_state() {
    let text = "var x : bool = any
        init x && !x
        process P { toggle { x := !x } }
        invariant p: x";
    let found = warnings(text);
    assert!(found[0].starts_with("no-initial-state 4:"), "{found:?}");
}

#[test]
fn a_step_that_is_never_taken() {
    let text = "var x : 0..2 = 0
        process P {
            flip { x := 1 - x }
            never when x == 2 { x := 0 }
        }
        invariant p: x < 2";
    assert_eq!(warnings(text), ["never-taken 4: `P.never` is never taken"]);
}

#[test]
fn an_implication_whose_left_side_is_never_true() {
    let text = "var x : 0..2 = 0
        process P { flip { x := 1 - x } }
        property p: always (x == 2 -> eventually x == 0)
        invariant q: (x == 2 -> true) -> x < 2
        invariant r: x == 2 -> x == 0";
    assert_eq!(
        warnings(text),
        [
            "premise-never-true 3: the left side of the implication, `x == 2`, is never true",
            "premise-never-true 5: the left side of the implication, `x == 2`, is never true",
        ]
    );
}

#[test]
fn an_annotation_that_never_matters() {
    let text = "var x : 0..2 = 0
        process P {
            weak fair flip { x := 1 - x }
            strong fair never when x == 2 { x := 0 }
        }
        process Q {
            weak fair noise { skip }
        }
        property p: always eventually x == 1";
    assert_eq!(
        warnings(text),
        [
            "never-taken 4: `P.never` is never taken",
            "needless-fairness 4: this fairness never matters: what it is about is never enabled",
            "needless-fairness 7: this fairness never matters: every property holds without it",
        ]
    );
}

#[test]
fn advice_that_takes_long_must_be_asked_for() {
    let text = "var x : 0..30000 = 0
        process P {
            up when x < 30000 { x := x + 1 }
            weak fair reset when x == 30000 { x := 0 }
        }
        property p: always eventually x == 0";
    let advice =
        ["needless-fairness 4: this fairness never matters: every property holds without it"];
    assert_eq!(warnings_about(text, true), advice);
    assert_eq!(warnings_about(text, false), [""; 0]);
    assert_eq!(warnings(&text.replace("30000", "300")), advice);
}

#[test]
fn premises_below_path_quantifiers_are_looked_at() {
    let text = "
        var x : 0..2 = 0
        process P { up when x < 1 { x := x + 1 }  reset { x := 0 } }
        property p: AG (x == 2 -> EF x == 0)
        property q: AG (x == 1 -> EF x == 0)
    ";
    let source = base::Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("no errors");
    let codes = |name: &str| -> Vec<&str> {
        let property = loaded.properties.iter().find(|p| p.name == name);
        let plan = Plan::default();
        let outcome = check(&model, property.expect("it exists"), &plan, &mut NoProgress);
        let outcome = outcome.expect("the evidence is right");
        assert_eq!(outcome.verdict.name(), "holds");
        outcome
            .warnings
            .iter()
            .map(|warning| warning.code)
            .collect()
    };
    assert_eq!(codes("p"), ["premise-never-true"]);
    assert_eq!(codes("q"), Vec::<&str>::new());
}

/// What comes after the eighth state cannot violate the property, so it is neither visited nor
/// spoken of, unless that is asked for.
/// What is asserted is looked at even if the property is known to hold before.
#[test]
fn no_search_ends_before_an_assertion() {
    let text = "var x : 0..1000 = 0
        process P { up when x < 1000 { assert x < 500; x := x + 1 } }
        property seven: eventually x == 7";
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the text is right");
    let plan = Plan::default();
    let outcome = check(&model, &loaded.properties[0], &plan, &mut NoProgress).expect("no bug");
    assert!(!outcome.holds(), "the assertion fails");
}

#[test]
fn a_search_ends_where_the_answer_is_known() {
    let text = "var x : 0..1000 = 0
        process P {
            up when x < 1000 { x := x + 1 }
            never when x == 500 && x == 7 { x := 0 }
        }
        property seven: eventually x == 7";
    assert_eq!(warnings(text), [""; 0]);

    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the text is right");
    for n_threads in [1, 2] {
        let visited = |all_states| {
            let plan = Plan {
                all_states,
                budget: Budget::unlimited().with_threads(n_threads),
                ..Plan::default()
            };
            let property = &loaded.properties[0];
            let outcome = check(&model, property, &plan, &mut NoProgress).expect("no bug");
            assert!(outcome.holds());
            let never = needless_annotations(&model, &[(property, &outcome)], &plan);
            (
                outcome.stats.n_states,
                outcome.stats.is_partial,
                never.len(),
            )
        };
        assert_eq!(visited(false), (8, true, 0));
        assert_eq!(visited(true), (1001, false, 1));
    }
}

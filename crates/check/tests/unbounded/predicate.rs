//! The predicate route on the protocols of `examples/predicate`, and on random programs.

use base::{NoProgress, Source};
use check::predicate::{Options, TextFormat, abstraction_text};
use check::{Outcome, Plan, Route};

fn load(text: &str) -> source::Single {
    let name = "test.fair".to_owned();
    let text = text.to_owned();
    let loaded = lang::load(Source { name, text }, &source::Options::default()).single();
    assert!(loaded.model.is_some(), "{:?}", loaded.diagnostics);
    loaded
}

fn example(name: &str) -> String {
    let path = format!(
        "{}/../../examples/predicate/{name}.fair",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).expect("the example exists")
}

/// The text with one part replaced.
fn mutant(name: &str, from: &str, to: &str) -> String {
    let text = example(name);
    assert!(text.contains(from), "{name} has no {from}");
    text.replacen(from, to, 1)
}

/// The text without what the author says about the abstraction.
fn without_hints(text: &str) -> String {
    let start = text.find("abstract only").expect("it has a block");
    let end = start + text[start..].find("\n}\n").expect("the block ends") + 3;
    format!("{}{}", &text[..start], &text[end..])
}

fn plan(hints: model::Hints) -> Plan {
    Plan {
        route: Some(Route::Predicate),
        predicate: Options {
            hints,
            ..Options::default()
        },
        ..Plan::default()
    }
}

fn check(text: &str, property: &str) -> Outcome {
    let loaded = load(text);
    let model = loaded.model.expect("loaded");
    let position = loaded.properties.iter().position(|p| p.name == property);
    let position = position.expect("there is such a property");
    let plan = plan(loaded.hints[position].clone());
    check::check(&model, &loaded.properties[position], &plan, &mut NoProgress)
        .expect("evidence is right")
}

fn assert_holds(text: &str, property: &str) -> Outcome {
    let outcome = check(text, property);
    let remarks = outcome.remarks.join("\n");
    assert_eq!(outcome.verdict.name(), "holds", "{property}\n{remarks}");
    outcome
}

/// Violations are validated by `check::check` itself.
fn assert_violated(text: &str, property: &str) {
    let outcome = check(text, property);
    let remarks = outcome.remarks.join("\n");
    assert_eq!(outcome.verdict.name(), "violated", "{property}\n{remarks}");
}

#[test]
fn nothing_waits_in_a_channel_without_room() {
    let text = "chan c[0] of bool
        var n : int = 0
        process S { s c ! true { n := n + 1 } }
        process R { r when len(c) == 0 c ? _ }
        invariant nothing: len(c) == 0 && n >= 0";
    assert_holds(text, "nothing");
}

#[test]
fn bakery_has_the_abstraction_of_the_paper() {
    for text in [example("bakery"), without_hints(&example("bakery"))] {
        let outcome = assert_holds(&text, "exclusion");
        assert_eq!(
            (outcome.stats.n_states, outcome.stats.n_transitions),
            (9, 14)
        );
        let found = outcome
            .remarks
            .iter()
            .any(|r| r.contains(" 0 with the solver"));
        assert!(found, "{:?}", outcome.remarks);
        assert_holds(&text, "access");
    }
    assert_violated(
        &mutant("bakery", "y2 == 0 || y1 <= y2", "y2 == 0 || y2 <= y1"),
        "exclusion",
    );
}

#[test]
fn retransmission_is_correct_for_all_lengths_bounds_and_data() {
    let outcome = assert_holds(&example("brp"), "correct");
    assert_eq!(
        (outcome.stats.n_states, outcome.stats.n_transitions),
        (288, 440)
    );
    assert_holds(&without_hints(&example("brp")), "correct");
}

#[test]
fn mutants_of_retransmission_are_refuted() {
    let mutants = [
        (
            "stog := !stog; head := head + 1; rn := 0",
            "head := head + 1; rn := 0",
        ),
        (
            "rn < Max { rn := rn + 1 }",
            "rn < Max { rn := rn + 1; head := head + 1 }",
        ),
        ("klast := head == Last", "klast := head == 1"),
        ("kdat := file[head]", "kdat := file[head + 1]"),
        (
            "ahead <= Last\n            abusy := false\n        } -> abort",
            "ahead <= Last\n            abusy := false\n        } -> idle",
        ),
    ];
    for (from, to) in mutants {
        assert_violated(&without_hints(&mutant("brp", from, to)), "correct");
    }
}

#[test]
fn requests_are_answered() {
    // Each frame is repeated at most `Max` times and there are `Last` frames.
    let outcome = assert_holds(&without_hints(&example("brp")), "answered");
    let n_rankings = outcome
        .remarks
        .iter()
        .filter(|r| r.contains("ranking:"))
        .count();
    assert!(n_rankings >= 2, "{:?}", outcome.remarks);
    let endless = mutant("brp", "rn < Max { rn := rn + 1 }", "rn < Max { rn := rn }");
    assert_violated(&without_hints(&endless), "answered");
}

#[test]
fn protocols_are_correct_and_their_mutants_are_not() {
    let cases = [
        (
            "ticket_lock",
            "exclusion",
            "mine := ticket; ticket := ticket + 1",
            "mine := ticket",
        ),
        (
            "bounded_buffer",
            "no_overflow",
            "produced - consumed < Size",
            "produced - consumed <= Size",
        ),
        (
            "bounded_buffer",
            "no_underflow",
            "consumed < produced",
            "consumed <= produced",
        ),
        (
            "leader",
            "one_leader",
            "init A != B && B != C && A != C",
            "init A != B",
        ),
        (
            "readers_writers",
            "exclusion",
            "begin when !writing { readers",
            "begin { readers",
        ),
        (
            "alternating_bit",
            "correct",
            "expected := !expected",
            "expected := expected",
        ),
        (
            "peterson",
            "exclusion",
            "ask { want2 := true; turn := 1 }",
            "ask { want2 := true; turn := 2 }",
        ),
        (
            "cache",
            "one_owner",
            "write when c2 != exclusive {\n        c1 := exclusive; c2 := invalid",
            "write when c2 != exclusive {\n        c1 := exclusive",
        ),
        (
            "cache",
            "coherent",
            "read_dirty when c1 == invalid && c2 == exclusive { memory := d2; d1 := d2;",
            "read_dirty when c1 == invalid && c2 == exclusive { d1 := memory;",
        ),
    ];

    for (name, property, from, to) in cases {
        assert_holds(&example(name), property);
        assert_violated(&mutant(name, from, to), property);
    }
}

#[test]
fn loops_that_consume_a_bounded_supply_end() {
    assert_holds(&example("bounded_buffer"), "drained");
    assert_holds(&example("peterson"), "access");
    let text = "
        param N >= 0
        var x : int = 0
        process P { up when x < N { x := x + 1 } }
        property ends: eventually x >= N
    ";
    assert_holds(text, "ends");
    let forever = text.replace("x := x + 1", "x := x");
    assert_violated(&forever, "ends");
}

#[test]
fn run_time_errors_are_found_and_excluded() {
    let text = "
        param N >= 3
        var x : nat = 0
        process P { down when x > 0 { x := x - 1 }  up when x < N { x := x + 1 } }
        property fine: always x <= N
    ";
    assert_holds(text, "fine");
    assert_violated(&text.replace("when x > 0", "when x < N"), "fine");
}

#[test]
fn printed_abstractions_are_models_with_the_same_states() {
    for (name, property, counts) in [
        ("bakery", "exclusion", (9, 14)),
        ("brp", "correct", (288, 440)),
    ] {
        let loaded = load(&example(name));
        let model = loaded.model.expect("loaded");
        let position = loaded.properties.iter().position(|p| p.name == property);
        let position = position.expect("there is such a property");
        let plan = plan(loaded.hints[position].clone());
        let question = &loaded.properties[position];
        let (text, _) = abstraction_text(&model, question, &plan, TextFormat::Native)
            .expect("it can be printed");
        let printed = load(&text);
        let explored = check::check(
            printed.model.as_ref().expect("valid"),
            &printed.properties[0],
            &Plan::default(),
            &mut NoProgress,
        )
        .expect("evidence is right");
        assert_eq!(explored.verdict.name(), "holds");
        let found = (explored.stats.n_states, explored.stats.n_transitions);
        assert_eq!(found, counts, "{text}");
        for format in [TextFormat::Smv, TextFormat::Promela] {
            let other = abstraction_text(&model, question, &plan, format).expect("printable");
            assert!(other.0.contains(property));
        }
    }
}

#[test]
fn what_cannot_be_expressed_is_said() {
    for (from, to) in [("x := x + 1", "x := x * x"), ("x := x + 1", "x := 7 / x")] {
        let text = "
            param N >= 3
            var x : int = 2
            process P { go when x < N { x := x + 1 } }
            property small: always x <= N
        ";
        let outcome = check(&text.replace(from, to), "small");
        assert_eq!(outcome.verdict.name(), "unknown");
        assert!(!outcome.warnings.is_empty(), "the place is named");
    }
}

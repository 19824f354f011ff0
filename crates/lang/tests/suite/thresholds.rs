//! Models with several parameters without value: what they become, and what is said where they are not
//! threshold automata.

use base::Source;
use model::threshold::ThresholdAutomaton;
use source::{Content, Loaded, Options};

fn load(text: &str) -> Loaded {
    let source = Source {
        name: "model.fair".to_owned(),
        text: text.to_owned(),
    };
    lang::load(source, &Options::default())
}

fn automata(text: &str) -> Vec<ThresholdAutomaton> {
    let loaded = load(text);
    match loaded.content {
        Some(Content::Threshold(automata)) => automata,
        _ => panic!("{:?}", loaded.diagnostics),
    }
}

/// The lines and messages of what is said.
fn complaints(text: &str) -> Vec<String> {
    let loaded = load(text);
    assert!(loaded.content.is_none(), "{text}");
    let shown = |diagnostic: &base::Diagnostic| {
        let before = &text[..diagnostic.labels[0].span.start as usize];
        let line = before.matches('\n').count() + 1;
        assert!(!diagnostic.help.is_empty(), "{}", diagnostic.message);
        format!("{line}: {}", diagnostic.message)
    };
    let wrong = loaded.diagnostics.iter();
    let wrong = wrong.filter(|diagnostic| diagnostic.severity == base::Severity::Error);
    wrong.map(shown).collect()
}

/// A family with these variables and steps, and a question.
fn family(shared: &str, items: &str, question: &str) -> String {
    format!(
        "param N >= 1\nparam T >= 0\ninit N > 2 * T\nvar x : nat = 0 {shared}\n\
         process P(i in 1..N-T) {{ init a, b {items}\nend c }}\n{question}\n"
    )
}

#[test]
fn a_family_becomes_an_automaton() {
    let text = family(
        "",
        "from a, b { go when x >= T + 1 { x += 2 } -> c }",
        "invariant p: x <= N",
    );
    let automata = automata(&text);
    let [automaton] = automata.as_slice() else {
        panic!("{}", automata.len());
    };
    assert_eq!(automaton.parameters, ["N", "T"]);
    assert_eq!(automaton.locations, ["P @ a", "P @ b", "P @ c"]);
    assert_eq!(automaton.shared, ["x"]);
    assert_eq!(automaton.rules[1].name, "go: P @ b -> P @ c");
    assert_eq!(automaton.rules[1].update, [(0, 2)]);
    assert!(automaton.admits(&[3, 1]) && !automaton.admits(&[2, 1]));
    // A family is not empty.
    assert!(automaton.admits(&[1, 0]) && !automaton.admits(&[0, 0]));
}

#[test]
fn variables_of_a_process_become_locations() {
    let text = family(
        "",
        "var v : 0..2 = 1\nfrom a { up when v < 2 { v += 1 }; go when v == 2 -> c }",
        "",
    );
    let found = automata(&text);
    let expected = [
        "P @ a (v = 1)",
        "P @ b (v = 1)",
        "P @ a (v = 2)",
        "P @ c (v = 2)",
    ];
    assert_eq!(sorted(&found[0].locations), sorted(&expected));
    assert_eq!(found[0].rules.len(), 2);
}

fn sorted(names: &[impl ToString]) -> Vec<String> {
    let mut names: Vec<String> = names.iter().map(ToString::to_string).collect();
    names.sort();
    names
}

#[test]
fn a_process_that_is_told_apart_has_locations_of_its_own() {
    let text = family(
        "",
        "from a, b { go -> c }",
        "property p: forall i in 1..N-T: eventually P[i] @ c
         property q: eventually exists i in 1..N-T: P[i] @ c",
    );
    let automata = automata(&text);
    assert_eq!(automata[0].locations.len(), 6);
    assert_eq!(automata[0].locations[3], "P[i] @ a");
    assert_eq!(automata[1].locations.len(), 3);
}

#[test]
fn a_value_for_all_parameters_but_one_makes_a_family() {
    let text = family("", "from a, b { go -> c }", "");
    let source = Source {
        name: "model.fair".to_owned(),
        text,
    };
    let options = Options {
        defines: vec![("T".to_owned(), "1".to_owned())],
        ..Options::default()
    };
    assert!(lang::load(source, &options).family().is_some());
}

/// What is said about a family with a step.
fn about_step(step: &str) -> Vec<String> {
    complaints(&family("", &format!("from a {{ {step} -> c }}"), ""))
}

#[test]
fn what_is_not_a_threshold_automaton_is_refused_with_its_place() {
    let cases = [
        (
            "go { x := x - 1 }",
            "5: the counter `x` is not increased by a number here",
        ),
        (
            "go { x := 0 }",
            "5: the counter `x` is not increased by a number here",
        ),
        (
            "go { x := x + T }",
            "5: the counter `x` is not increased by a number here",
        ),
        (
            "go when x >= i",
            "5: the value of `i` is used, which numbers processes",
        ),
        (
            "go when P[1] @ b",
            "5: one `P` is told apart from the others",
        ),
        ("go when x * x > T", "5: a condition here has another shape"),
        (
            "go when exists j in 2..N: P[j] @ b",
            "5: a name ranges over some of `P`, but not over all",
        ),
        (
            "go { assert x >= T }",
            "5: whether this assertion holds is not known",
        ),
    ];
    for (step, expected) in cases {
        assert_eq!(about_step(step), [expected], "{step}");
    }
}

#[test]
fn what_has_too_many_values_is_refused_where_it_is_declared() {
    let go = "from a { go -> c }";
    let cases = [
        (
            family("", &format!("var v : int = 0 {go}"), ""),
            "5: the local variable `v` may have too many values",
        ),
        (
            family("var y : 0..9 = 0", go, ""),
            "4: `y` is not a counter",
        ),
        (
            family("var y : bool = false", go, ""),
            "4: `y` is not a counter",
        ),
        (
            family("var y : int = -1", go, ""),
            "4: the counter `y` does not start with a natural number",
        ),
        (
            family("", "var v : 0..1 = 0 from a { go { v += 1 } }", ""),
            "5: a local variable may become 2, which is outside 0..1",
        ),
        (
            family("", go, "").replace("T >= 0", "T >= -1"),
            "2: where several parameters have no value, they are natural numbers",
        ),
        (
            family("var y : array[1..N] of bool = false", go, ""),
            "4: arrays have no open length where several parameters have no value",
        ),
    ];
    for (text, expected) in cases {
        assert_eq!(complaints(&text), [expected], "{text}");
    }
}

#[test]
fn questions_about_steps_or_about_some_processes_are_refused() {
    let go = "from a { go -> c }";
    let cases = [
        (
            "property p: always !P.go",
            "7: propositions about steps are not decided for all values of several parameters",
        ),
        (
            "property p: forall i in 2..N-T: eventually P[i] @ c",
            "7: `i` does not range over all processes of one family",
        ),
        (
            "property p: forall i, j in 1..N-T: eventually (P[i] @ c || P[j] @ c)",
            "7: `j` does not range over all processes of one family",
        ),
    ];
    for (question, expected) in cases {
        let text = family("", go, question);
        assert_eq!(complaints(&text), [expected], "{question}");
    }
}

/// Which process of one family has the index of one of another is not known.
#[test]
fn indices_of_two_families_are_not_compared() {
    let families = "param N >= 1\nparam T >= 0\nvar x : nat = 0\n\
        process P(i in 1..N) { init a\nfrom a { go { x += 1 } -> b }\nend b }\n\
        process Q(j in 1..N) { init c\nfrom c { go when x >= T -> d }\nend d }\n";
    let compared = [
        "property p: always !(exists i in 1..N: exists j in 1..N: i == j && P[i] @ b && Q[j] @ d)",
        "property p: always (forall i, j in 1..N where i != j: P[i] @ a || Q[j] @ c)",
        "property p: forall i in 1..N: always (P[i] @ b -> exists j in 1..N: j != i && Q[j] @ c)",
    ];
    for property in compared {
        let said = complaints(&format!("{families}{property}\n"));
        let [said] = said.as_slice() else {
            panic!("{property}: {said:?}");
        };
        assert!(said.contains("is compared with one of"), "{said}");
    }
}

//! Texts whose parameter has no value: what `abstract` blocks say about which question.

use base::Source;
use source::{Loaded, Options, Question};

const MODEL: &str = "param N
var turn : 0..N-1 = any
process P(i in 0..N-1) { init a  from a { go -> b }  from b { back -> a } }
invariant one: forall i, j in 0..N-1 where i < j: !(P[i] @ b && P[j] @ b)
property live: forall p in 0..N-1: always eventually P[p] @ b
deadlockfree
";

fn load(block: &str) -> Loaded {
    let source = Source {
        name: "model.fair".to_owned(),
        text: format!("{MODEL}{block}"),
    };
    lang::load(source, &Options::default())
}

/// For each question the names of its predicates, rankings and invariants.
fn hints(block: &str) -> Vec<String> {
    let loaded = load(block);
    assert!(loaded.family().is_some(), "{:?}", loaded.diagnostics);
    let of_question = |question: &Question| {
        let hints = &question.scope.hints;
        let predicates = hints.predicates.iter().chain(&hints.invariants);
        let rankings = hints.rankings.iter().map(|(_, hint)| hint);
        let names: Vec<&str> = predicates
            .chain(rankings)
            .map(|hint| hint.name.as_str())
            .collect();
        format!("{}: {}", question.property.name, names.join(" "))
    };
    loaded.questions.iter().map(of_question).collect()
}

/// The codes and messages for a block, with their help.
fn complaints(block: &str) -> Vec<String> {
    let loaded = load(block);
    assert!(loaded.content.is_none());
    let text = |diagnostic: &base::Diagnostic| {
        let help = diagnostic.help.join("; ");
        format!("{}: {} ({help})", diagnostic.code, diagnostic.message)
    };
    loaded.diagnostics.iter().map(text).collect()
}

#[test]
fn entries_about_processes_of_another_question_are_left_out() {
    let block = "abstract { here: P[p] @ a   first: P[i] @ b && i < j   free: P[turn] @ a
        invariant known: turn < N }";
    let expected = [
        "one: first free known",
        "live: here free known",
        "deadlockfree: free known",
    ];
    assert_eq!(hints(block), expected);
}

#[test]
fn the_index_of_a_ranking_may_be_called_like_a_process_of_another_question() {
    let block = "abstract for live { ranking left(i): P[i] @ a   ranking less(j): j < p }";
    assert_eq!(hints(block), ["one: ", "live: left less", "deadlockfree: "]);
    let block = "abstract { ranking left(i): P[i] @ a && i < p }";
    assert_eq!(hints(block), ["one: ", "live: left", "deadlockfree: "]);
}

#[test]
fn deadlock_freedom_can_have_a_block() {
    let block = "abstract only for deadlockfree, live { some: exists j in 0..N-1: P[j] @ a }";
    assert_eq!(hints(block), ["one: ", "live: some", "deadlockfree: some"]);
}

#[test]
fn blocks_for_unknown_properties_are_reported() {
    assert_eq!(
        complaints("abstract for lives { free: P[turn] @ a }"),
        ["unknown-name: there is no property `lives` (did you mean `live`?)"]
    );
    assert_eq!(
        complaints("abstract for access { free: P[turn] @ a }"),
        [
            "unknown-name: there is no property `access` (the properties are `one`, `live`, `deadlockfree`)"
        ]
    );
}

#[test]
fn processes_of_questions_that_a_block_is_not_for_are_unknown() {
    let said = complaints("abstract for live { first: P[i] @ b }");
    assert_eq!(said.len(), 1, "{said:?}");
    assert!(said[0].starts_with("unknown-name: "), "{said:?}");
}

/// The codes that a text of its own is reported with.
fn codes(text: &str) -> Vec<&'static str> {
    let source = Source {
        name: "model.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load(source, &Options::default());
    loaded.diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn a_family_may_have_a_least_size() {
    let source = Source {
        name: "model.fair".to_owned(),
        text: MODEL.replace("param N", "param N >= 2"),
    };
    let loaded = lang::load(source, &Options::default());
    let members = &loaded.family().expect("a family").members;
    assert!(members.with_value(1).content.is_none());
    assert!(members.with_value(2).content.is_some());
    assert_eq!(
        loaded.family().expect("a family").template.parts.init.len(),
        1
    );
}

#[test]
fn elements_for_each_process_may_start_by_their_index() {
    let with = |array: &str| {
        format!(
            "param N\nvar f : {array}\nprocess P(i in 0..N-1) {{ go when f[i] == f[0] {{ f[i] := f[0] }} }}\ndeadlockfree\n"
        )
    };
    let none: [&str; 0] = [];
    assert_eq!(codes(&with("bool[N] = [i in 0..N-1: i == 0]")), none);
    let enough = "array[0..N-1] of 0..2 = [i in 0..N-1: if i == 0 then 2 else 1]";
    assert_eq!(codes(&with(enough)), none);
    assert_eq!(
        codes(&with("bool[N] = [i in 0..N: i == 0]")),
        ["wrong-length"]
    );
    // For some N the value would not fit.
    let too_large = "array[0..N-1] of 0..2 = [i in 0..N-1: i]";
    assert_eq!(codes(&with(too_large)), ["open-array"]);
}

//! Models with any number of processes: proofs, what they need, and mutants with their smallest
//! violating instance.

use base::{Budget, NoProgress, Source};
use check::{Answer, ForAll, Plan, check_for_all};
use evidence::Verdict;

fn read(file: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/../../examples/parameterized/{file}")).unwrap()
}

fn answer(text: &str, name: &str) -> Answer {
    let source = Source {
        name: "model.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load_template(source.clone(), &lang::Options::default()).unwrap();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let template = loaded.template.unwrap();
    let (property, scope) = loaded
        .properties
        .iter()
        .find(|(p, _)| p.name == name)
        .unwrap();
    let instances = |value: i64| {
        let defines = vec![(template.name.clone(), value.to_string())];
        let options = lang::Options {
            defines,
            ..lang::Options::default()
        };
        let loaded = lang::load(source.clone(), &options);
        let found = loaded
            .properties
            .into_iter()
            .find(|known| known.name == name);
        loaded.model.zip(found)
    };
    let question = ForAll {
        template: &template,
        property,
        scope,
        instances: &instances,
        cross_check: true,
    };
    let plan = Plan {
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    check_for_all(&question, &plan, &mut NoProgress).unwrap()
}

/// The property holds for all numbers of processes; what the proof needs.
fn needs(text: &str, name: &str) -> Vec<String> {
    let answer = answer(text, name);
    let remarks = &answer.remarks;
    assert!(
        matches!(answer.outcome.verdict, Verdict::Holds { .. }),
        "{name}: {remarks:?}"
    );
    answer.needs
}

/// The smallest number of processes with a violation, after a change of the text.
fn mutant(file: &str, change: (&str, &str), name: &str) -> Option<i64> {
    let text = read(file);
    assert!(text.contains(change.0), "{file}: {}", change.0);
    let answer = answer(&text.replacen(change.0, change.1, 1), name);
    let is_violated = matches!(answer.outcome.verdict, Verdict::Violated(_));
    assert_eq!(is_violated, answer.instance.is_some());
    answer.instance
}

#[test]
fn mutual_exclusion_with_turn() {
    let text = read("turn.fair");
    assert!(needs(&text, "exclusion").is_empty());
    assert_eq!(
        needs(&text, "access"),
        [
            "ranking P @ idle",
            "ranking P @ waiting",
            "ranking P @ critical other than turn",
            "weak fairness of `ask` for p",
            "strong fairness of `take` for p",
        ]
    );
    let weak = ("strong fair take", "weak fair take");
    assert_eq!(mutant("turn.fair", weak, "access"), Some(3));
    assert_eq!(
        mutant("turn.fair", ("weak fair ask", "ask"), "access"),
        Some(2)
    );
    let careless = ("take when P[turn] @ idle", "take");
    assert_eq!(mutant("turn.fair", careless, "exclusion"), Some(2));
}

#[test]
fn fault_detection_ring() {
    let text = read("fault_ring.fair");
    assert_eq!(
        needs(&text, "detection"),
        ["ranking processes between turn and p"]
    );
    let silent = ("tick { turn := (turn + 1) mod N }", "tick");
    assert_eq!(mutant("fault_ring.fair", silent, "detection"), Some(2));
    let deaf = ("ack && P[turn].ack", "ack");
    assert_eq!(mutant("fault_ring.fair", deaf, "detection"), Some(2));
    let forgetful = ("if turn == i then ack", "if turn == i then true");
    assert!(mutant("fault_ring.fair", forgetful, "detection").is_some());
}

#[test]
fn szymanski() {
    let text = read("szymanski.fair");
    assert!(needs(&text, "exclusion").is_empty());
    let all: Vec<String> = (0..8).map(|l| format!("ranking P @ l{l}")).collect();
    assert_eq!(needs(&text, "access"), all);
    let open = ("forall j in 0..N-1: P[j] @ {l0, l1, l2, l4} ", "true ");
    assert_eq!(mutant("szymanski.fair", open, "exclusion"), Some(2));
    let closed = (
        "close  when forall j in 0..N-1: !(P[j] @ {l3, l4})",
        "close",
    );
    assert!(mutant("szymanski.fair", closed, "exclusion").is_some());
    let first = (
        "first  when forall j in 0..i-1: P[j] @ {l0, l1, l2}",
        "first",
    );
    assert_eq!(mutant("szymanski.fair", first, "exclusion"), Some(2));
}

#[test]
fn the_smaller_of_two_competitors_wins() {
    let text = read("szymanski.fair");
    assert_eq!(needs(&text, "competition").len(), 8);
    let swapped = "property swapped: forall a, b in 0..N-1 where a < b: always (P[b] @ l1 && P[a] @ {l0, l1} -> (!(P[a] @ l7) until P[b] @ l7))";
    assert_eq!(
        answer(&format!("{text}{swapped}"), "swapped").instance,
        Some(2)
    );
}

#[test]
fn dijkstra() {
    let text = read("dijkstra.fair");
    assert!(needs(&text, "exclusion").is_empty());
    let access = needs(&text, "access");
    assert!(access.contains(&"ranking P @ l1".to_owned()), "{access:?}");
    assert!(
        access.contains(&"weak fairness of `come` for p".to_owned()),
        "{access:?}"
    );
    let stubborn = ("weak fair leave", "leave");
    assert!(mutant("dijkstra.fair", stubborn, "access").is_some());
    let lazy = ("weak fair come", "come");
    assert!(mutant("dijkstra.fair", lazy, "access").is_some());
    let pushy = (
        "turn == i && !(exists j in 0..N-1 where j != i: P[j] @ {l4, l5})",
        "turn == i",
    );
    assert_eq!(mutant("dijkstra.fair", pushy, "exclusion"), Some(2));
}

#[test]
fn token_ring() {
    let text = read("token_ring.fair");
    assert!(needs(&text, "exclusion").is_empty());
    assert_eq!(
        needs(&text, "access"),
        ["ranking processes between token and p"]
    );
    assert!(needs(&text, "deadlockfree").is_empty());
    let stuck = ("token := (token + 1) mod N", "token := token");
    assert_eq!(mutant("token_ring.fair", stuck, "access"), Some(2));
    assert_eq!(
        mutant("token_ring.fair", ("when token == i", ""), "exclusion"),
        Some(2)
    );
    let lost = ("token := (token + 1) mod N", "token := token + 1");
    assert!(mutant("token_ring.fair", lost, "access").is_some());
}

#[test]
fn semaphore() {
    let text = read("semaphore.fair");
    assert!(needs(&text, "exclusion").is_empty());
    let access = needs(&text, "access");
    assert!(
        access.contains(&"strong fairness of `down` for p".to_owned()),
        "{access:?}"
    );
    assert!(needs(&text, "deadlockfree").is_empty());
    assert_eq!(
        mutant(
            "semaphore.fair",
            ("strong fair down", "weak fair down"),
            "access"
        ),
        Some(2)
    );
    assert_eq!(
        mutant(
            "semaphore.fair",
            ("free := false", "free := true"),
            "exclusion"
        ),
        Some(2)
    );
    assert_eq!(
        mutant("semaphore.fair", ("weak fair up", "up"), "access"),
        Some(2)
    );
}

#[test]
fn burns_and_priority() {
    for file in ["burns.fair", "priority.fair"] {
        assert!(needs(&read(file), "exclusion").is_empty(), "{file}");
    }
    let hasty = (
        "forall j in 0..i-1: !P[j].flag                                   -> wait",
        "true -> wait",
    );
    assert_eq!(mutant("burns.fair", hasty, "exclusion"), Some(2));
    let blind = ("when forall j in i+1..N-1: !P[j].flag", "");
    assert_eq!(mutant("burns.fair", blind, "exclusion"), Some(2));
    let mute = (
        "raise when forall j in 0..i-1: !P[j].flag           { flag := true }",
        "raise { skip }",
    );
    assert_eq!(mutant("burns.fair", mute, "exclusion"), Some(2));
    assert!(needs(&read("priority.fair"), "deadlockfree").is_empty());
    let twice = ("&& !(exists j in 0..N-1: P[j] @ critical)", "");
    assert_eq!(mutant("priority.fair", twice, "exclusion"), Some(2));
}

#[test]
fn cache_coherence() {
    let text = read("cache.fair");
    assert!(needs(&text, "coherence").is_empty());
    assert!(needs(&text, "deadlockfree").is_empty());
    let kept = ("for j in 0..N-1 { line[j] := invalid }", "skip");
    assert_eq!(mutant("cache.fair", kept, "coherence"), Some(2));
    let early = (
        "fill when forall j in 0..N-1: line[j] == invalid",
        "fill when line[i] == invalid",
    );
    assert_eq!(mutant("cache.fair", early, "coherence"), Some(2));
    let quiet = (
        "for j in 0..N-1 { if line[j] != invalid { line[j] := shared } }",
        "skip",
    );
    assert_eq!(mutant("cache.fair", quiet, "coherence"), Some(2));
}

#[test]
fn election_by_position() {
    let text = read("election.fair");
    assert!(needs(&text, "unique").is_empty());
    assert!(needs(&text, "settled").is_empty());
    let decided = needs(&text, "decided");
    assert!(
        decided
            .iter()
            .any(|need| need.contains("`win` for some process")),
        "{decided:?}"
    );
    assert!(mutant("election.fair", ("weak fair win", "win"), "decided").is_some());
    assert!(
        mutant(
            "election.fair",
            ("P[j] @ {candidate, leader} ", "true "),
            "decided"
        )
        .is_none()
    );
    assert_eq!(
        mutant(
            "election.fair",
            ("forall j in 0..N-1: j == i || P[j] @ follower", "true"),
            "unique"
        ),
        Some(2)
    );
}

#[test]
fn what_is_outside_the_class_is_named() {
    let text = "param N  chan c[2] of bool  process P(i in 0..N-1) { a }  property p: always true";
    let answer = answer(text, "p");
    let Verdict::Unknown(reason) = &answer.outcome.verdict else {
        panic!("{:?}", answer.outcome.verdict);
    };
    assert_eq!(reason.name(), "unsupported");
    assert!(answer.outcome.warnings[0].message.contains("channel `c`"));
}

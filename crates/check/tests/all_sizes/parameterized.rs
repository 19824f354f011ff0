//! Models with any number of processes: proofs, what they need, and mutants with their smallest
//! violating instance.

use crate::parameterized_support::{abstract_answer, answer, read};
use evidence::Verdict;

/// The property holds for all numbers of processes; what the proof needs.
fn needs(text: &str, name: &str) -> Vec<String> {
    let answer = answer(text, name);
    let remarks = &answer.outcome.remarks;
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
    assert_eq!(mutant("turn.fair", weak, "access"), Some(2));
    let lazy = ("weak fair ask", "ask");
    assert_eq!(mutant("turn.fair", lazy, "access"), Some(2));
    let careless = ("take when P[turn] @ idle", "take");
    assert_eq!(mutant("turn.fair", careless, "exclusion"), Some(2));
}

#[test]
fn without_rankings_nothing_is_claimed() {
    let block = "abstract only for access {
        at1: P[p] @ waiting  at2: P[p] @ critical  mine: turn == p  free: P[turn] @ idle
        some: exists j in 0..N-1: P[j] @ waiting && P[turn] @ idle
    }";
    let answer = answer(&format!("{}{block}", read("turn.fair")), "access");
    let Verdict::Unknown(reason) = &answer.outcome.verdict else {
        panic!("{:?}", answer.outcome.verdict);
    };
    assert_eq!(reason.name(), "abstraction-too-coarse");
}

#[test]
fn fault_detection_ring() {
    let text = read("fault_ring.fair");
    let between = ["ranking processes between turn and p"];
    assert_eq!(needs(&text, "detection"), between);
    let silent = ("tick { turn := (turn + 1) mod N }", "tick { skip }");
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
    let alone = (
        "follow when exists j in 0..N-1: P[j] @ {l5, l6, l7}",
        "follow",
    );
    assert_eq!(mutant("szymanski.fair", alone, "exclusion"), Some(2));
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
    let text = format!("{text}{swapped}");
    assert_eq!(answer(&text, "swapped").instance, Some(2));
}

#[test]
fn dijkstra() {
    let text = read("dijkstra.fair");
    assert!(needs(&text, "exclusion").is_empty());
    let access = needs(&text, "access");
    let has = |need: &str| access.iter().any(|known| known == need);
    assert!(has("ranking P @ l1"), "{access:?}");
    assert!(has("weak fairness of `come` for p"), "{access:?}");
    let stubborn = ("weak fair leave", "leave");
    assert_eq!(mutant("dijkstra.fair", stubborn, "access"), Some(3));
    let lazy = ("weak fair come", "come");
    assert_eq!(mutant("dijkstra.fair", lazy, "access"), Some(2));
    let pushy = (
        "turn == i && !(exists j in 0..N-1 where j != i: P[j] @ {l4, l5})",
        "turn == i",
    );
    assert_eq!(mutant("dijkstra.fair", pushy, "exclusion"), Some(3));
}

#[test]
fn token_ring() {
    let text = read("token_ring.fair");
    assert!(needs(&text, "exclusion").is_empty());
    let access = needs(&text, "access");
    let between = "ranking processes between token and p".to_owned();
    assert!(access.contains(&between), "{access:?}");
    assert!(needs(&text, "deadlockfree").is_empty());
    let stuck = ("token := (token + 1) mod N", "token := token");
    assert_eq!(mutant("token_ring.fair", stuck, "access"), Some(2));
    let anarchic = ("when token == i", "");
    assert_eq!(mutant("token_ring.fair", anarchic, "exclusion"), Some(2));
    let lost = ("token := (token + 1) mod N", "token := token + 1");
    assert_eq!(mutant("token_ring.fair", lost, "access"), Some(1));
}

#[test]
fn semaphore() {
    let text = read("semaphore.fair");
    assert!(needs(&text, "exclusion").is_empty());
    let access = needs(&text, "access");
    let strong = "strong fairness of `down` for p".to_owned();
    assert!(access.contains(&strong), "{access:?}");
    let weak = ("strong fair down", "weak fair down");
    assert_eq!(mutant("semaphore.fair", weak, "access"), Some(2));
    let open = ("free := false", "free := true");
    assert_eq!(mutant("semaphore.fair", open, "exclusion"), Some(2));
    let kept = ("up { free := true }", "up");
    assert_eq!(mutant("semaphore.fair", kept, "access"), Some(1));
}

#[test]
fn burns_and_priority() {
    for file in ["burns.fair", "priority.fair"] {
        assert!(needs(&read(file), "exclusion").is_empty(), "{file}");
    }
    let near = ("j in i+1..N-1", "j in i+2..N-1");
    assert_eq!(mutant("burns.fair", near, "exclusion"), Some(2));

    let blind = ("when forall j in i+1..N-1: !P[j].flag", "");
    assert_eq!(mutant("burns.fair", blind, "exclusion"), Some(2));
    let mute = (
        "raise when forall j in 0..i-1: !P[j].flag           { flag := true }",
        "raise { skip }",
    );
    assert_eq!(mutant("burns.fair", mute, "exclusion"), Some(2));

    let twice = ("&& !(exists j in 0..N-1: P[j] @ critical)", "");
    assert_eq!(mutant("priority.fair", twice, "exclusion"), Some(2));
    let beside = (
        "j in 0..N-1: P[j] @ critical",
        "j in 0..i-1: P[j] @ critical",
    );
    assert_eq!(mutant("priority.fair", beside, "exclusion"), Some(2));

    let closed = (
        "!(exists j in 0..N-1: P[j] @ critical)",
        "(exists j in 0..N-1: P[j] @ critical)",
    );
    assert_eq!(mutant("priority.fair", closed, "deadlockfree"), Some(1));
}

#[test]
fn group_membership_with_send_faults() {
    let text = read("membership.fair");
    assert!(needs(&text, "send").is_empty());
    assert!(needs(&text, "validity").is_empty());
    let sceptical = ("ack := !ack || P[turn].ack", "ack := ack && P[turn].ack");
    assert_eq!(mutant("membership.fair", sceptical, "send"), Some(3));
    let lenient = ("{ mem[turn] := false }", "{ skip }");
    assert_eq!(mutant("membership.fair", lenient, "send"), Some(3));
    let dishonest = (
        "speak when mem[turn] && turn == i       { ack := true }",
        "speak when mem[turn] && turn == i { ack := false }",
    );
    assert_eq!(mutant("membership.fair", dishonest, "send"), Some(3));
    assert_eq!(mutant("membership.fair", dishonest, "validity"), Some(2));
    let hasty = (
        "mute   when fault == none && !waiting",
        "mute   when fault == none",
    );
    assert_eq!(mutant("membership.fair", hasty, "validity"), Some(4));
}

#[test]
fn group_membership_with_receive_faults() {
    let file = "membership_receive.fair";
    let text = read(file);
    assert!(needs(&text, "receive").is_empty());

    let kept = (
        "drop  when missed(watch) && P[watch].ack                    { mem[turn] := false }",
        "drop when missed(watch) && P[watch].ack",
    );
    assert_eq!(mutant(file, kept, "receive"), Some(3));

    let trusting = (
        "doubt when arrived(watch) && !P[turn].ack && P[watch].ack   { mem[turn] := false }",
        "doubt when arrived(watch) && !P[turn].ack && P[watch].ack",
    );
    assert_eq!(mutant(file, trusting, "receive"), Some(2));

    let sulking = (
        "speak when mem[turn] && self && turn == i       { ack := true }",
        "speak when mem[turn] && self && turn == i",
    );
    assert_eq!(mutant(file, sulking, "receive"), Some(2));
    assert_eq!(mutant(file, sulking, "validity"), Some(3));

    let unnoticed = (
        "{ self := ack; ack := false }",
        "{ self := ack; ack := true }",
    );
    assert_eq!(mutant(file, unnoticed, "receive"), Some(2));
}

#[test]
fn validity_with_receive_faults() {
    assert!(needs(&read("membership_receive.fair"), "validity").is_empty());
}

#[test]
fn group_membership_agrees() {
    let file = "membership_agreement.fair";
    assert!(needs(&read(file), "agreement").is_empty());
    let trusting = (
        "doubt when hears_p && !bit && ack_p         { mem_p[turn] := false; ack_p := false }",
        "doubt when hears_p && !bit && ack_p { ack_p := false }",
    );
    assert_eq!(mutant(file, trusting, "agreement"), Some(3));

    let kept = (
        "miss  when misses_p && ack_p                { mem_p[turn] := false; ack_p := false }",
        "miss when misses_p && ack_p { ack_p := false }",
    );
    assert_eq!(mutant(file, kept, "agreement"), Some(3));

    let sulking = (
        "agree when hears_p && bit == ack_p          { ack_p := true }",
        "agree when hears_p && bit == ack_p",
    );
    assert_eq!(mutant(file, sulking, "agreement"), Some(3));

    let healthy = (
        "ok_p := ok_p && !(fault == send && turn == p) && fault != deaf_p",
        "ok_p := ok_p && !(fault == send && turn == p)",
    );
    assert_eq!(mutant(file, healthy, "agreement"), Some(2));
}

#[test]
fn ring_with_send_and_receive_faults() {
    let file = "faulty_ring.fair";
    let text = read(file);
    let between = ["ranking processes between turn and p"];
    assert_eq!(needs(&text, "detection"), between);
    assert!(needs(&text, "deadlockfree").is_empty());
    let deaf = (
        "if !ack[turn] { for j in 0..N-1 { ack[j] := false } }",
        "skip",
    );
    assert_eq!(mutant(file, deaf, "detection"), Some(2));
    let stuck = ("turn := (turn + 1) mod N", "skip");
    assert_eq!(mutant(file, stuck, "detection"), Some(3));
    let praised = (
        "{ if j != turn { ack[j] := false } }",
        "{ if j != turn { ack[j] := true } }",
    );
    assert_eq!(mutant(file, praised, "detection"), Some(2));
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
    // No process can go on forever, so no fairness is needed.
    assert_eq!(needs(&text, "decided"), ["ranking P @ candidate"]);
    let impossible = ("j == i || P[j] @ follower", "j == i || P[j] @ leader");
    assert_eq!(mutant("election.fair", impossible, "decided"), Some(2));
    let shy = ("when exists j in 0..i-1: P[j] @ {candidate, leader} ", "");
    assert_eq!(mutant("election.fair", shy, "decided"), Some(1));
    let resigning = ("from leader { }", "from leader { resign -> candidate }");
    assert_eq!(mutant("election.fair", resigning, "settled"), Some(1));
    let greedy = ("forall j in 0..N-1: j == i || P[j] @ follower", "true");
    assert_eq!(mutant("election.fair", greedy, "unique"), Some(2));
}

#[test]
fn a_deadlock_of_the_family_is_found() {
    let text = "param N  process P(i in 0..N-1) { init a  from a { go when i == 0 -> b } from b { } } deadlockfree";
    assert_eq!(answer(text, "deadlockfree").instance, Some(1));
}

/// The warning about a construct that keeps a model from being checked for all numbers of
/// processes: its text, and what it points at.
fn obstacle(text: &str) -> (String, String) {
    let answer = answer(text, "p");
    let Verdict::Unknown(reason) = &answer.outcome.verdict else {
        panic!("{:?}", answer.outcome.verdict);
    };
    let [warning] = answer.outcome.warnings.as_slice() else {
        panic!("{reason:?}: {:?}", answer.outcome.warnings);
    };
    let span = warning.labels[0].span;
    let place = &text[span.start as usize..span.end as usize];
    (warning.message.clone(), place.to_owned())
}

#[test]
fn what_is_outside_the_class_is_named() {
    let family =
        "process P(i in 0..N-1) { init a  from a { go EFFECT -> a } }  property p: always true";
    let cases = [
        ("chan c[2] of bool", "", "the channel `c`", "c"),
        ("timer w", "", "the timer `w`", "w"),
        ("event e", "", "the event `e`", "e"),
        (
            "var s : int = 0",
            "",
            "the variable `s` with more than",
            "s",
        ),
        (
            "var s : 0..N-1 = 0",
            "{ s := (s + 3) mod N }",
            "more than two steps around",
            "s := (s + 3) mod N",
        ),
        (
            "var s : 0..N-1 = 0",
            "{ s := s * 2 }",
            "arithmetic on process indices",
            "s := s * 2",
        ),
        (
            "var s : array[0..N-1] of bool = true",
            "{ for j in 0..N-1 { s[j] := s[i] } }",
            "a loop over processes whose iterations read each other",
            "s[j] := s[i]",
        ),
        (
            "process Q(i in -1..N-1) { b { skip } }",
            "",
            "the negative index of `Q`",
            "Q",
        ),
        (
            "process Q(i in 0..3) { b { skip } }",
            "",
            "the family `Q` of fixed size",
            "Q",
        ),
    ];

    for (declaration, effect, message, place) in cases {
        let text = format!(
            "param N  {declaration}  {}",
            family.replace("EFFECT", effect)
        );
        let (said, at) = obstacle(&text);
        assert!(said.contains(message), "{said}");
        assert!(at.contains(place), "{message}: {at}");
    }

    let (said, at) = obstacle(
        "param N  process P(i in 0..N-1) { init a  from a { go -> a } }  property p: always P[3] @ a",
    );
    assert!(
        said.contains("cannot be excluded that this fails"),
        "{said}"
    );
    assert!(at.contains("P[3]"), "{at}");
}

/// Sound reasons to doubt that an abstraction alone could lose: a pointer moves away from what it is
/// compared with, a process may be blocked, a proposition is about all.
#[test]
fn indices_that_are_not_known_prove_nothing() {
    let wrong = [
        "param N  var t : 0..N-1 = 0
         process P(i in 0..N-1) { var j : 0..N-1 = 0  init a
           from a { move { t := i } -> b }  from b { enter when j != t -> c }  from c { } }
         property q: always ((exists k in 0..N-1: P[k] @ c) -> false)
         abstract only for q {
           there: exists k in 0..N-1: P[k] @ c
           apart: exists k in 0..N-1: P[k].j != t }",
        "param N  process P(i in 0..N-1) { var j : 0..N-1 = any  go when j == i }  deadlockfree",
        "param N  var x : array[0..N-1] of 0..N = 0
         process P(i in 0..N-1) { up when x[i] < N { x[i] := x[i] + 1 } }
         property q: always (N < 3 || exists k in 0..N-1: x[k] < 3)",
    ];
    for text in wrong {
        let name = if text.contains("property") {
            "q"
        } else {
            "deadlockfree"
        };
        let alone = abstract_answer(text, name).outcome.verdict;
        assert!(!matches!(alone, Verdict::Holds { .. }), "{text}");
        assert!(answer(text, name).instance.is_some(), "{text}");
    }
}

/// The needs of a proof about one of the families of `testdata/`.
fn needs_of(family: &str, property: &str) -> Vec<String> {
    let root = env!("CARGO_MANIFEST_DIR");
    let text = std::fs::read_to_string(format!("{root}/../../testdata/families/{family}.fair"));
    let answer = answer(&text.unwrap(), property);
    assert!(matches!(answer.outcome.verdict, Verdict::Holds { .. }));
    assert!(answer.outcome.proof.is_none(), "not certified");
    answer.needs
}

#[test]
fn arguments_that_are_not_certified_are_named() {
    let needs = needs_of("voter", "agree");
    let is_possible = |need: &String| need.contains("there is always a way to");
    assert!(needs.iter().any(is_possible), "{needs:?}");
    let needs = needs_of("philosophers_line", "eats");
    let is_induction = |need: &String| need.starts_with("induction over p");
    assert!(needs.iter().any(is_induction), "{needs:?}");
}

/// What is not true, without instances that show it.
#[test]
fn wrong_arguments_prove_nothing() {
    let is_proved = |text: &str| {
        let verdict = abstract_answer(text, "q").outcome.verdict;
        matches!(verdict, Verdict::Holds { .. })
    };
    // All wait for each other.
    let waiting = "param N >= 2\nprocess P(i in 0..N-1) { init a\n\
                   from a { s when P[(i + 1) mod N] @ b -> b }  from b { t -> b } }\n\
                   property q under strong: forall p in 0..N-1: eventually P[p] @ b\n";
    assert!(!is_proved(waiting));
    // A token that goes up only, and one that goes both ways if it likes.
    let walk = "param N >= 3\nvar at : 0..N-1 = any\nprocess P(i in 0..N-1) {\n\
                up when at == i && i < N-1 { at := at + 1 }\n\
                DOWN }\n\
                property q under FAIRNESS: forall p in 0..N-1: always eventually at == p\n";
    let down = "down when at == i && i > 0 { at := at - 1 }";
    let both = walk.replace("DOWN", down);
    assert!(!is_proved(
        &walk
            .replace("DOWN", "")
            .replace("FAIRNESS", "strong-global")
    ));
    assert!(!is_proved(&both.replace("FAIRNESS", "none")));
    assert!(is_proved(&both.replace("FAIRNESS", "strong-global")));
    // There is always a step, but not always one that brings the token nearer.
    let idle = "param N >= 3\nvar at : 0..N-1 = 0\nvar on : bool = false\n\
                var lucky : bool[N] = any\nprocess P(i in 0..N-1) {\n\
                hop when at == i && lucky[i] { at := (at + 1) mod N }\n\
                spin when at == i { on := !on } }\n\
                property q under strong-global: forall p in 0..N-1: always eventually at == p\n";
    assert!(!is_proved(idle));
}

//! Proofs for any number of processes with exactly the abstract variables that are written down,
//! and their negative twins: without a ranking nothing may be claimed.

use crate::parameterized_support::{abstract_answer, read};
use evidence::Verdict;

/// Is the property proved with just these entries of an `abstract` block?
fn is_proved(file: &str, property: &str, entries: &[&str]) -> bool {
    is_text_proved(&read(file), property, entries)
}

fn is_text_proved(text: &str, property: &str, entries: &[&str]) -> bool {
    let block = format!(
        "\nabstract only for {property} {{ {} }}",
        entries.join("\n")
    );
    let answer = abstract_answer(&(text.to_owned() + &block), property);
    match &answer.outcome.verdict {
        Verdict::Holds { .. } => true,
        Verdict::Unknown(reason) => {
            assert_eq!(
                reason.name(),
                "abstraction-too-coarse",
                "{:?}",
                answer.outcome.remarks
            );
            false
        }
        Verdict::Violated(_) => panic!("an abstraction refutes nothing"),
    }
}

const TURN: &str = "at0: P[p] @ idle   at1: P[p] @ waiting   at2: P[p] @ critical
    e11: P[p] @ waiting && P[turn] @ idle
    e12: P[p] @ waiting && turn == p
    some11: exists j in 0..N-1: P[j] @ waiting && P[turn] @ idle
    inv: forall j in 0..N-1: P[j] @ critical -> turn == j";

/// Named like the index in another property of the model, which must not matter.
const TURN_RANKINGS: [&str; 3] = [
    "ranking l0(i): P[i] @ idle",
    "ranking l1(i): P[i] @ waiting",
    "ranking l2(i): P[i] @ critical",
];

#[test]
fn the_turn_needs_rankings_and_both_kinds_of_fairness() {
    let mut entries = vec![TURN];
    assert!(!is_proved("turn.fair", "access", &entries));
    entries.extend(TURN_RANKINGS);
    assert!(is_proved("turn.fair", "access", &entries));
    let text = read("turn.fair");
    let lazy = text.replace("weak fair ask", "ask");
    assert!(!is_text_proved(&lazy, "access", &entries));
    let weak = text.replace("strong fair take", "weak fair take");
    assert!(!is_text_proved(&weak, "access", &entries));
    let exclusion = ["inv: forall j in 0..N-1: P[j] @ critical -> turn == j"];
    let inductive =
        text + "property inv: always (forall j in 0..N-1: P[j] @ critical -> turn == j)";
    assert!(is_text_proved(&inductive, "inv", &exclusion));
}

/// The paper's sixteen variables.
const DIJKSTRA: &str = "t0: P[turn] @ l0   t1: P[turn] @ l1   t2: P[turn] @ l2
    t3: P[turn] @ l3   t4: P[turn] @ l4   t5: P[turn] @ l5
    p0: P[p] @ l0   p1: P[p] @ l1   p2: P[p] @ l2
    p3: P[p] @ l3   p4: P[p] @ l4   p5: P[p] @ l5
    xi1: exists j in 0..N-1: P[j] @ l5
    xi2: exists k in 0..N-1: forall j in 0..N-1: P[j] @ l5 -> j == k
    gamma: p == turn
    delta: exists j in 0..N-1: P[j] @ l4 && j != turn";

#[test]
fn dijkstra_needs_a_ranking_that_the_paper_leaves_out() {
    let first = "ranking r1(i): P[i] @ l1";
    let rest = "ranking room(i): P[i] @ {l2, l3, l4}
        ranking r3(i): P[i] @ l3
        ranking yielding(i): P[i] @ l4 && i != turn
        ranking r2(i): P[i] @ l2";
    // What conditions (7) to (10) come from.
    let printed = "ranking r0(i): P[i] @ l0
        ranking room(i): P[i] @ {l2, l3, l4}
        ranking r3(i): P[i] @ l3
        ranking mixed(i): (P[i] @ l4 && i != turn) || (P[i] @ l2 && i == turn)
        ranking r2(i): P[i] @ l2 && i != turn";
    let proved = |entries: &[&str]| is_proved("dijkstra.fair", "access", entries);
    assert!(proved(&[DIJKSTRA, first, rest]));
    assert!(!proved(&[DIJKSTRA, rest]));
    assert!(!proved(&[DIJKSTRA, printed]));
    assert!(!proved(&[DIJKSTRA]));
    let text = read("dijkstra.fair");
    let entries = [DIJKSTRA, first, rest];
    for fair in ["weak fair leave", "strong fair yield2", "weak fair come"] {
        let (_, action) = fair.split_once("fair ").unwrap();
        let text = text.replace(fair, action);
        assert!(!is_text_proved(&text, "access", &entries), "without {fair}");
    }
}

#[test]
fn the_fault_ring_needs_the_order_of_turns() {
    let variables = "err: !P[p].ack
        det: forall j in 0..N-1: !P[j].ack
        tp: turn == p";
    let acks = "ranking acks(i): P[i].ack";
    let before =
        "ranking before(i): (turn < i && i < p) || (p < turn && turn < i) || (i < p && p < turn)";
    let proved = |entries: &[&str]| is_proved("fault_ring.fair", "detection", entries);
    assert!(!proved(&[variables]));
    assert!(!proved(&[variables, acks]));
    assert!(proved(&[variables, before]));
}

const SZYMANSKI_GUARDS: &str = "g1: forall j in 0..N-1: P[j] @ {l0, l1, l2, l4}
    g3: exists j in 0..N-1: P[j] @ {l1, l2}
    g4: exists j in 0..N-1: P[j] @ {l5, l6, l7}
    g5: forall j in 0..N-1: !(P[j] @ {l3, l4})";

const SZYMANSKI: &str = "b0: P[b] @ l0   b1: P[b] @ l1   b2: P[b] @ l2   b3: P[b] @ l3
    b4: P[b] @ l4   b5: P[b] @ l5   b6: P[b] @ l6   b7: P[b] @ l7";

const SZYMANSKI_INVARIANTS: &str =
    "invariant room: (exists j in 0..N-1: P[j] @ {l5, l6, l7}) -> !(exists j in 0..N-1: P[j] @ l2)
    invariant closed: (exists j in 0..N-1: P[j] @ {l6, l7}) -> !(exists j in 0..N-1: P[j] @ {l3, l4})
    invariant company: (exists j in 0..N-1: P[j] @ l4) -> exists j in 0..N-1: P[j] @ {l1, l2, l3, l5, l6, l7}
    invariant order: forall x in 0..N-1: P[x] @ l7 -> forall y in 0..x-1: P[y] @ {l0, l1, l2}";

#[test]
fn szymanski_needs_every_ranking() {
    let rankings: Vec<String> = (0..8)
        .map(|l| format!("ranking r{l}(i): P[i] @ l{l}"))
        .collect();
    let proved = |left_out: Option<usize>| {
        let kept = rankings.iter().enumerate();
        let kept = kept.filter(|(position, _)| Some(*position) != left_out);
        let mut entries = vec![SZYMANSKI_GUARDS, SZYMANSKI, SZYMANSKI_INVARIANTS];
        entries.extend(kept.map(|(_, ranking)| ranking.as_str()));
        is_proved("szymanski.fair", "access", &entries)
    };
    assert!(proved(None));
    for left_out in 0..rankings.len() {
        assert!(!proved(Some(left_out)), "without l{left_out}");
    }
}

#[test]
fn szymanski_is_free_of_deadlocks_by_an_invariant() {
    let proved = |entries: &[&str]| is_proved("szymanski.fair", "deadlockfree", entries);
    assert!(!proved(&[SZYMANSKI_GUARDS]));
    assert!(proved(&[SZYMANSKI_GUARDS, SZYMANSKI_INVARIANTS]));
    // What is not inductive is not used.
    let wishful = "invariant alone: !(exists j in 0..N-1: P[j] @ l4)";
    assert!(!proved(&[SZYMANSKI_GUARDS, wishful]));
}

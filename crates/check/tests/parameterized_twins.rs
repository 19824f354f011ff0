//! Proofs for any number of processes with exactly the abstract variables that are written down,
//! and their negative twins: without a ranking nothing may be claimed.

use base::{Budget, NoProgress, Source};
use check::{Answer, ForAll, Plan, check_for_all};
use evidence::Verdict;

fn read(file: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/../../examples/parameterized/{file}")).unwrap()
}

/// The answer from the abstraction alone: instances are neither compared nor searched.
fn answer(text: &str, name: &str) -> Answer {
    let source = Source {
        name: "model.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load_template(source, &lang::Options::default()).unwrap();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    let template = loaded.template.unwrap();
    let (property, scope) = loaded
        .properties
        .iter()
        .find(|(known, _)| known.name == name)
        .unwrap();
    let question = ForAll {
        template: &template,
        property,
        scope,
        instances: &|_| None,
        cross_check: false,
    };
    let plan = Plan {
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    check_for_all(&question, &plan, &mut NoProgress).unwrap()
}

/// Is the property proved with just these entries of an `abstract` block?
fn is_proved(file: &str, property: &str, entries: &[&str]) -> bool {
    let block = format!(
        "\nabstract only for {property} {{ {} }}",
        entries.join("\n")
    );
    let answer = answer(&(read(file) + &block), property);
    match &answer.outcome.verdict {
        Verdict::Holds { .. } => true,
        Verdict::Unknown(reason) => {
            assert_eq!(
                reason.name(),
                "abstraction-too-coarse",
                "{:?}",
                answer.remarks
            );
            false
        }
        Verdict::Violated(_) => panic!("an abstraction refutes nothing"),
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

const SZYMANSKI: &str = "g1: forall j in 0..N-1: P[j] @ {l0, l1, l2, l4}
    g3: exists j in 0..N-1: P[j] @ {l1, l2}
    g4: exists j in 0..N-1: P[j] @ {l5, l6, l7}
    g5: forall j in 0..N-1: !(P[j] @ {l3, l4})
    b0: P[b] @ l0   b1: P[b] @ l1   b2: P[b] @ l2   b3: P[b] @ l3
    b4: P[b] @ l4   b5: P[b] @ l5   b6: P[b] @ l6   b7: P[b] @ l7
    invariant room: (exists j in 0..N-1: P[j] @ {l5, l6, l7}) -> !(exists j in 0..N-1: P[j] @ l2)
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
        let mut entries = vec![SZYMANSKI];
        entries.extend(kept.map(|(_, ranking)| ranking.as_str()));
        is_proved("szymanski.fair", "access", &entries)
    };
    assert!(proved(None));
    for left_out in 0..rankings.len() {
        assert!(!proved(Some(left_out)), "without l{left_out}");
    }
}

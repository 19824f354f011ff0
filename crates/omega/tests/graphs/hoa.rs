//! Reading, writing and drawing automata.

use std::collections::BTreeSet;

use crate::oracle::Random;
use base::AtomId;
use expect_test::{Expect, expect};
use omega::{
    Acceptance, Automaton, Cube, Edge, LetterMark, MarkId, Prop, StateId, TooManyLetterAtoms,
    from_hoa, to_dot, to_hoa,
};

fn edge(literals: &[(u32, bool)], marks: &[u32], target: u32) -> Edge {
    let literals = literals.iter().map(|&(atom, value)| (AtomId(atom), value));
    Edge {
        guard: Cube::new(literals).unwrap(),
        marks: marks.iter().map(|&mark| MarkId(mark)).collect(),
        target: StateId(target),
    }
}

/// `GF a ∧ GF b → …`-like: one edge mark, one letter mark.
fn example() -> Automaton {
    Automaton {
        initial: vec![StateId(0), StateId(1)],
        edges: vec![
            vec![edge(&[], &[], 0), edge(&[(0, true)], &[0], 2)],
            vec![],
            vec![edge(&[(0, true), (1, false)], &[], 2)],
        ],
        letter_marks: vec![LetterMark {
            mark: MarkId(1),
            when: Prop::Or(vec![
                Prop::Atom(AtomId(1)),
                Prop::Not(Box::new(Prop::Atom(AtomId(0)))),
            ]),
        }],
        n_marks: 2,
        acceptance: Acceptance::streett_pair(MarkId(0), MarkId(1)),
    }
}

#[test]
fn letter_marks_are_spread_over_edges() {
    let expected = expect![[r#"
        HOA: v1
        States: 3
        Start: 0
        Start: 1
        AP: 2 "p" "q \"1\""
        acc-name: Streett 1
        Acceptance: 2 Fin(0) | Inf(1)
        properties: trans-labels explicit-labels trans-acc
        --BODY--
        State: 0
        [0&1] 0 {1}
        [0&!1] 0
        [!0] 0 {1}
        [0&1] 2 {0 1}
        [0&!1] 2 {0}
        State: 1
        State: 2
        [0&!1] 2
        --END--
    "#]];
    expected.assert_eq(&to_hoa(&example(), &["p", "q \"1\""]).unwrap());
}

#[test]
fn drawings_name_atoms_and_marks() {
    let expected = expect![[r#"
        digraph automaton {
          rankdir=LR;
          node [shape=circle];
          label="accepts: Fin(0) | Inf(1)\n{1} when (\"y\" || !x > 0)";
          start0 [shape=point];
          start0 -> 0;
          start1 [shape=point];
          start1 -> 1;
          0;
          1;
          2;
          0 -> 0 [label="true"];
          0 -> 2 [label="x > 0 {0}"];
          2 -> 2 [label="x > 0 && !(\"y\")"];
        }
    "#]];
    expected.assert_eq(&to_dot(&example(), &["x > 0", "\"y\""]));
}

#[test]
fn too_many_letter_atoms_are_an_error() {
    let mut automaton = Automaton::universal();
    automaton.n_marks = 1;
    let conjunction = |n_atoms: u32| LetterMark {
        mark: MarkId(0),
        when: Prop::And((0..n_atoms).map(|atom| Prop::Atom(AtomId(atom))).collect()),
    };
    let names: Vec<_> = (0..11).map(|atom| format!("p{atom}")).collect();
    automaton.letter_marks = vec![conjunction(10)];
    assert!(to_hoa(&automaton, &names).is_ok());
    automaton.letter_marks = vec![conjunction(11)];
    // It is not even asked for.
    assert!(to_hoa(&automaton, &names).is_ok());
    automaton.acceptance = Acceptance::Fin(MarkId(0));
    let error = TooManyLetterAtoms {
        n_atoms: 11,
        limit: 10,
    };
    assert_eq!(to_hoa(&automaton, &names), Err(error));
    // A drawing lists them instead.
    assert!(to_dot(&automaton, &names).contains("{0} when ("));
}

#[test]
fn acceptance_names() {
    let name = |n_marks: usize, acceptance: Acceptance| {
        let mut automaton = Automaton::universal();
        (automaton.n_marks, automaton.acceptance) = (n_marks, acceptance);
        let text = to_hoa(&automaton, &["p"]).unwrap();
        let lines = text
            .lines()
            .filter(|line| line.starts_with("acc") || line.starts_with("Acc"));
        lines.collect::<Vec<_>>().join("; ")
    };
    use Acceptance::{Fin, Inf};
    let mark = |mark: u32| MarkId(mark);
    let rabin = |i: u32| Acceptance::rabin_pair(mark(i), mark(i + 1));
    let streett = |i: u32| Acceptance::streett_pair(mark(i), mark(i + 1));
    let names = [
        name(0, Acceptance::True),
        name(0, Acceptance::False),
        name(1, Acceptance::True),
        name(1, Inf(mark(0))),
        name(1, Fin(mark(0))),
        name(3, Acceptance::generalized_buchi((0..3).map(mark))),
        name(3, Acceptance::generalized_buchi((0..2).map(mark))),
        name(4, Acceptance::all([streett(0), streett(2)])),
        name(4, Acceptance::any([rabin(0), rabin(2)])),
        name(4, Acceptance::any([rabin(0), rabin(1)])),
        name(2, Acceptance::And(vec![])),
    ];
    let expected = expect![[r#"
        acc-name: all; Acceptance: 0 t
        acc-name: none; Acceptance: 0 f
        Acceptance: 1 t
        acc-name: Buchi; Acceptance: 1 Inf(0)
        acc-name: co-Buchi; Acceptance: 1 Fin(0)
        acc-name: generalized-Buchi 3; Acceptance: 3 Inf(0) & Inf(1) & Inf(2)
        Acceptance: 3 Inf(0) & Inf(1)
        acc-name: Streett 2; Acceptance: 4 (Fin(0) | Inf(1)) & (Fin(2) | Inf(3))
        acc-name: Rabin 2; Acceptance: 4 (Fin(0) & Inf(1)) | (Fin(2) & Inf(3))
        Acceptance: 4 (Fin(0) & Inf(1)) | (Fin(1) & Inf(2))
        Acceptance: 2 t"#]];
    expected.assert_eq(&names.join("\n"));
}

fn draw_prop(random: &mut Random, n_atoms: usize, depth: usize) -> Prop {
    let kind = if depth == 0 { 0 } else { random.below(5) };
    let parts = |random: &mut Random| {
        (0..random.below(3))
            .map(|_| draw_prop(random, n_atoms, depth - 1))
            .collect()
    };
    match kind {
        0 if random.below(8) == 0 => Prop::Const(random.below(2) == 0),
        0 | 1 => Prop::Atom(AtomId::new(random.below(n_atoms))),
        2 => Prop::Not(Box::new(draw_prop(random, n_atoms, depth - 1))),
        3 => Prop::And(parts(random)),
        _ => Prop::Or(parts(random)),
    }
}

fn draw_automaton(random: &mut Random, n_atoms: usize) -> Automaton {
    let n_states = random.below(4) + 1;
    let state = |random: &mut Random| StateId::new(random.below(n_states));
    let edge = |random: &mut Random| {
        let literals = (0..n_atoms).filter_map(|atom| match random.below(3) {
            0 => None,
            value => Some((AtomId::new(atom), value == 1)),
        });
        let guard = Cube::new(literals.collect::<Vec<_>>()).unwrap();
        let set = random.marks(5, 2);
        let marks = (0..5)
            .filter(|mark| set >> mark & 1 == 1)
            .map(MarkId)
            .collect();
        Edge {
            guard,
            marks,
            target: state(random),
        }
    };

    let edges = (0..n_states).map(|_| (0..random.below(4)).map(|_| edge(random)).collect());
    let edges = edges.collect();
    let acceptance = random.acceptance(&[0, 1, 2, 3, 4], 3);
    Automaton {
        initial: (0..random.below(3)).map(|_| state(random)).collect(),
        edges,
        letter_marks: Vec::new(),
        n_marks: 5,
        // The reader builds formulas with the constructors.
        acceptance: acceptance.within(&[0b11111]),
    }
}

#[test]
fn what_is_written_can_be_read() {
    let mut random = Random(77);
    let atoms = ["a", "b \\ \"c\"", "ä"].map(String::from).to_vec();
    for _ in 0..2_000 {
        let automaton = draw_automaton(&mut random, 3);
        let text = to_hoa(&automaton, &atoms).unwrap();
        let read = from_hoa(&text).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(read.automaton, automaton, "{text}");
        assert_eq!(read.atoms, atoms);
    }
}

/// What an automaton can do in a state on a letter.
fn moves(
    automaton: &Automaton,
    state: usize,
    letter: u32,
) -> BTreeSet<(StateId, BTreeSet<MarkId>)> {
    let holds = |atom: AtomId| letter >> atom.0 & 1 == 1;
    let letter_marks = automaton
        .letter_marks
        .iter()
        .filter(|mark| mark.when.holds(&holds));
    let from_letter: BTreeSet<_> = letter_marks.map(|mark| mark.mark).collect();
    let enabled = automaton.edges[state]
        .iter()
        .filter(|edge| edge.guard.contains(&holds));
    let mark_sets = enabled.map(|edge| {
        let marks = edge
            .marks
            .iter()
            .copied()
            .chain(from_letter.iter().copied());
        (edge.target, marks.collect())
    });
    mark_sets.collect()
}

#[test]
fn spreading_letter_marks_keeps_the_moves() {
    let mut random = Random(78);
    for _ in 0..2_000 {
        let mut automaton = draw_automaton(&mut random, 3);
        automaton.letter_marks = (0..random.below(4))
            .map(|_| LetterMark {
                mark: MarkId::new(random.below(5)),
                when: draw_prop(&mut random, 3, 3),
            })
            .collect();
        let text = to_hoa(&automaton, &["a", "b", "c"]).unwrap();
        let read = from_hoa(&text).unwrap().automaton;
        for state in 0..automaton.n_states() {
            for letter in 0..8 {
                let expected = moves(&automaton, state, letter);
                assert_eq!(
                    moves(&read, state, letter),
                    expected,
                    "{automaton:?}\n{text}"
                );
            }
        }
    }
}

/// Reads a text and writes it again in normal form.
fn check(text: &str, expected: Expect) {
    let read = from_hoa(text).unwrap();
    expected.assert_eq(&to_hoa(&read.automaton, &read.atoms).unwrap());
}

#[test]
fn state_labels_state_marks_aliases_and_complements_are_read() {
    check(
        r#"HOA: v1 /* a comment /* inside */ another */
           tool: "another tool" "1.0"
           name: "odd \"one\""
           States: 2
           Start: 0
           acc-name: something 3 else
           Acceptance: 2 (Inf(!0) & Fin(1)) | Inf(1) | f
           AP: 2 "p" "q"
           Alias: @any 0 | 1
           Alias: @other !@any & t
           properties: state-labels
           --BODY--
           State: [@any] 0 "first" {1}
             0 1 {0}
           State: 1 {0 1}
             [@other] 0
             [!(0 & !!1) | f] 1 {1}
           --END--"#,
        expect![[r#"
            HOA: v1
            States: 2
            Start: 0
            AP: 2 "p" "q"
            Acceptance: 3 (Inf(2) & Fin(1)) | Inf(1)
            properties: trans-labels explicit-labels trans-acc
            --BODY--
            State: 0
            [0] 0 {1 2}
            [!0&1] 0 {1 2}
            [0] 1 {0 1}
            [!0&1] 1 {0 1}
            State: 1
            [!0&!1] 0 {0 1}
            [0&!1] 1 {0 1}
            [!0] 1 {0 1}
            --END--
        "#]],
    );
}

#[test]
fn implicit_labels_enumerate_the_letters() {
    check(
        "HOA: v1 Start: 1 AP: 2 \"p\" \"q\" Acceptance: 1 Inf(0) --BODY--
         State: 0 0 1 0 {0} 1 State: 1 [t] 0 --END--",
        expect![[r#"
            HOA: v1
            States: 2
            Start: 1
            AP: 2 "p" "q"
            acc-name: Buchi
            Acceptance: 1 Inf(0)
            properties: trans-labels explicit-labels trans-acc
            --BODY--
            State: 0
            [!0&!1] 0
            [0&!1] 1
            [!0&1] 0 {0}
            [0&1] 1
            State: 1
            [t] 0
            --END--
        "#]],
    );
}

#[test]
fn errors_say_where_and_what() {
    let head = "HOA: v1\nStates: 2\nAP: 1 \"p\"\nAcceptance: 1 Inf(0)\n--BODY--\n";
    let body = |rest: &str| format!("{head}{rest}");
    let deep = format!("State: 0\n[{}0{}] 0", "(".repeat(300), ")".repeat(300));
    let texts = [
        String::new(),
        "HOA: v2".into(),
        "HOA: v1\nFeature: x\n".into(),
        "HOA: v1\nStart: 0 & 1\n".into(),
        "HOA: v1\nStates: 99999999999\n".into(),
        "HOA: v1\nStates: 4000000000\n".into(),
        "HOA: v1\nAP: 2 \"p\"\n--BODY--".into(),
        "HOA: v1\nAcceptance: 1 Inf(1)\n".into(),
        "HOA: v1\nAcceptance: 1 Inf(0\n--BODY--".into(),
        "HOA: v1\nAcceptance: 1 Inf(0)\nAcceptance: 0 t\n".into(),
        "HOA: v1\n/* open\n".into(),
        "HOA: v1\nname: \"open\n".into(),
        "HOA: v1\n--BODY--\n--END--".into(),
        body("State: 2"),
        body("State: 0\n[0] 2"),
        body("State: 0\n[1] 0"),
        body("State: 0\n[@a] 0"),
        body("State: 0\n[0 &] 0"),
        body("State: 0\n[0] 0 {1}"),
        body("State: [0] 0\n[0] 0"),
        body("State: 0\n0\n--END--"),
        body("State: 0\n[0] 0 & 1"),
        body(&deep),
        body("--ABORT--"),
        body("--END--\nHOA: v1"),
        format!("{}--END--", head.replace("AP", "Start: 7\nAP")),
        body("State: 0 $"),
    ];
    let errors = texts.iter().map(|text| match from_hoa(text) {
        Ok(read) => panic!("read {read:?} from {text}"),
        Err(error) => error.to_string(),
    });
    let errors: Vec<_> = errors.collect();
    let expected = expect![[r#"
        line 1: expected 'HOA: v1'
        line 1: only version v1 is known
        line 2: the header Feature is not supported
        line 2: universal branching is not supported
        line 2: the number 99999999999 is too large
        line 2: number of states 4000000000 is not below 4194304
        line 3: expected 2 quoted names
        line 2: set 1 is not below 1
        line 3: expected ')'
        line 3: a second header Acceptance
        line 3: a comment is not closed
        line 3: a quoted text is not closed
        line 3: the header Acceptance is missing
        line 6: state 2 is not below 2
        line 7: state 2 is not below 2
        line 7: atom 1 is not below 1
        line 7: unknown alias @a
        line 7: expected a label
        line 7: set 1 is not below 1
        line 7: the state has a label already
        line 8: with implicit labels a state needs one edge per letter
        line 7: universal branching is not supported
        line 7: the expression nests too deeply
        line 6: expected 'State:' or --END--
        line 7: only one automaton is read
        line 7: there is no state 7
        line 6: unexpected character '$'"#]];
    expected.assert_eq(&errors.join("\n"));
}

/// Whatever the text, reading it ends with an automaton or an error.
#[test]
fn damaged_texts_do_not_crash_the_reader() {
    let mut random = Random(79);
    let text = to_hoa(&example(), &["p", "q"]).unwrap();
    for _ in 0..20_000 {
        let mut bytes = text.clone().into_bytes();
        for _ in 0..=random.below(4) {
            let place = random.below(bytes.len().max(1));
            if place >= bytes.len() {
                break;
            }
            match random.below(3) {
                0 => bytes[place] = b"0123&|!()[]{}:@\"tfSI- \n"[random.below(23)],
                1 => drop(bytes.remove(place)),
                _ => bytes.truncate(place.max(1)),
            }
        }
        let damaged = String::from_utf8(bytes).unwrap();
        if let Ok(read) = from_hoa(&damaged) {
            let n_states = read.automaton.n_states();
            let edges = read.automaton.edges.iter().flatten();
            assert!(edges.into_iter().all(|edge| edge.target.index() < n_states));
        }
    }
}

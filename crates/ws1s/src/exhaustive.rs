//! Every operation on every automaton with at most three states over one track.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::Budget;

use crate::automaton::Automaton;
use crate::formula::{Formulas, Var, VarKind};
use crate::machine::{FALSE, Machine, TRUE, UNDEFINED, complement_output};
use crate::meter::Meter;
use crate::minimise::minimise;
use crate::mtbdd::Arena;
use crate::mtbdd::NodeRef;
use crate::text;

/// All machines with exactly `n_states` states over one track with the given outputs, as they come:
/// not minimal, perhaps with unreachable states.
fn tables(n_states: usize, outputs: &[u32]) -> Vec<(Vec<[usize; 2]>, Vec<u32>)> {
    let n_tables = n_states.pow(2 * n_states as u32);
    let n_outputs = outputs.len().pow(n_states as u32);
    let mut all = Vec::new();
    for table in 0..n_tables {
        let digit = |place: usize| table / n_states.pow(place as u32) % n_states;
        let steps: Vec<[usize; 2]> = (0..n_states)
            .map(|state| [digit(2 * state), digit(2 * state + 1)])
            .collect();
        for choice in 0..n_outputs {
            let output =
                |state: usize| outputs[choice / outputs.len().pow(state as u32) % outputs.len()];
            all.push((steps.clone(), (0..n_states).map(output).collect()));
        }
    }
    all
}

fn machine(steps: &[[usize; 2]], outputs: &[u32]) -> Machine {
    let mut arena = Arena::new();
    let roots = steps
        .iter()
        .map(|[zero, one]| arena.node(0, NodeRef::terminal(*zero), NodeRef::terminal(*one)))
        .collect();
    let raw = Machine {
        nodes: arena.into_nodes(),
        roots,
        outputs: outputs.to_vec(),
        may_be_undefined: Vec::new(),
        n_tracks: 1,
    };
    let (nodes, roots, outputs) = raw.reachable();
    let budget = Budget::unlimited();
    let mut meter = Meter::new(&budget);
    minimise(&nodes.into_nodes(), &roots, &outputs, 1, &mut meter).expect("no limit")
}

fn words(longest: usize) -> Vec<Vec<Vec<bool>>> {
    let mut all = vec![vec![]];
    let mut last = all.clone();
    for _ in 0..longest {
        let longer = |word: &Vec<Vec<bool>>| {
            [false, true].map(|bit| [word.clone(), vec![vec![bit]]].concat())
        };
        last = last.iter().flat_map(longer).collect();
        all.extend(last.clone());
    }
    all
}

fn run_table(steps: &[[usize; 2]], word: &[Vec<bool>]) -> usize {
    word.iter()
        .fold(0, |state, letter| steps[state][usize::from(letter[0])])
}

/// The minimal automata of all tables, without repetition.
fn automata(n_states: usize, outputs: &[u32], var: Var) -> Vec<Automaton> {
    let mut seen = BTreeSet::new();
    let mut all = Vec::new();
    for n in 1..=n_states {
        for (steps, outputs) in tables(n, outputs) {
            let machine = machine(&steps, &outputs);
            let key = format!("{machine:?}");
            if seen.insert(key) {
                all.push(Automaton {
                    machine: Rc::new(machine),
                    vars: vec![var],
                });
            }
        }
    }
    all
}

#[test]
fn minimisation_keeps_the_outputs_and_is_canonical() {
    let words = words(5);
    let mut by_behaviour = std::collections::BTreeMap::new();
    for n in 1..=3 {
        for (steps, outputs) in tables(n, &[UNDEFINED, FALSE, TRUE]) {
            let machine = machine(&steps, &outputs);
            machine.check_invariants();
            assert!(machine.n_states() <= n);
            let behaviour: Vec<u32> = words
                .iter()
                .map(|word| outputs[run_table(&steps, word)])
                .collect();
            for (word, &output) in words.iter().zip(&behaviour) {
                assert_eq!(machine.run(word), output);
            }
            // Three states are told apart by words of length at most 2, two machines of three
            // states by words of length at most 5.
            let known = by_behaviour
                .entry(behaviour)
                .or_insert_with(|| machine.clone());
            assert_eq!(*known, machine);
        }
    }
}

#[test]
fn two_valued_automata_are_counted_right() {
    let var = Formulas::new().var(VarKind::Set);
    // Domaratzki, Kisman and Shallit: 2 + 24 + 1028 languages over two letters.
    assert_eq!(automata(3, &[FALSE, TRUE], var).len(), 1054);
}

#[test]
fn unary_operations_agree_with_their_definitions() {
    let mut formulas = Formulas::new();
    let (var, other) = (formulas.var(VarKind::Set), formulas.var(VarKind::Set));
    let budget = Budget::unlimited();
    let words = words(4);

    for automaton in automata(3, &[UNDEFINED, FALSE, TRUE], var) {
        let run = |word: &[Vec<bool>]| automaton.machine.run(word);
        let complement = automaton.complement();
        let quotient = automaton.quotient(&[], &budget).unwrap();
        let projected = automaton.project(&[var], &budget).unwrap();
        let renamed = automaton.rename(&[other], &budget).unwrap().unwrap();
        assert_eq!(renamed.vars(), [other]);
        for word in &words[1..] {
            assert_eq!(complement.run(word), complement_output(run(word)));
            let padded = |n: usize| run(&[word.clone(), vec![vec![false]; n]].concat());
            assert_eq!(quotient.run(word), (0..4).map(padded).max().unwrap());
            let same = |other: &&Vec<Vec<bool>>| other.len() >= word.len();
            let best = words[1..].iter().filter(same).map(|other| run(other)).max();
            if word.len() == 1 {
                assert_eq!(projected.run(&[vec![]]), best.unwrap());
            }
        }
        let shortest = words[1..]
            .iter()
            .find(|word| run(word) == TRUE)
            .map(Vec::len);
        let found = automaton.shortest(TRUE).map(|word| word.letters.len() + 1);
        assert_eq!(found, shortest);
        let stored = text::Stored {
            tracks: vec![("X".to_owned(), VarKind::Set)],
            machine: (*automaton.machine).clone(),
        };
        let read = text::read(&text::write(&stored)).unwrap();
        assert_eq!(read.machine, stored.machine);
    }
}

#[test]
fn binary_operations_agree_with_their_definitions() {
    let mut formulas = Formulas::new();
    let var = formulas.var(VarKind::Set);
    let budget = Budget::unlimited();
    let three_valued = automata(2, &[UNDEFINED, FALSE, TRUE], var);
    for left in &three_valued {
        for right in &three_valued {
            check_pair(left, right, &budget);
        }
    }
}

#[test]
fn binary_operations_with_two_outputs_agree_with_their_definitions() {
    testkit::halves(|half| {
        let var = Formulas::new().var(VarKind::Set);
        let budget = Budget::unlimited();
        let two_valued = automata(3, &[FALSE, TRUE], var);
        for index in (half as usize..two_valued.len()).step_by(2) {
            // Every pair once; what is not symmetric is asked both ways.
            for right in &two_valued[index..] {
                check_two_valued_pair(&two_valued[index], right, &budget);
            }
        }
    });
}

fn check_two_valued_pair(left: &Automaton, right: &Automaton, budget: &Budget) {
    let and = left.and(right, budget).unwrap();
    let outputs = lockstep(left, right, &and, &|a, b| a.min(b));
    let or = left.or(right, budget).unwrap();
    lockstep(left, right, &or, &|a, b| a.max(b));
    let iff = left.iff(right, budget).unwrap();
    let equal = |a: u32, b: u32| if a == b { TRUE } else { FALSE };
    lockstep(left, right, &iff, &equal);
    let forth = !outputs.contains(&(TRUE, FALSE));
    let back = !outputs.contains(&(FALSE, TRUE));
    assert_eq!(left.is_included_in(right, budget).unwrap(), forth);
    assert_eq!(right.is_included_in(left, budget).unwrap(), back);
    let same = left.is_equivalent_to(right, budget).unwrap();
    assert_eq!(same, forth && back);
}

fn check_pair(left: &Automaton, right: &Automaton, budget: &Budget) {
    let strict = |f: fn(u32, u32) -> u32| {
        move |a: u32, b: u32| {
            if a.min(b) == UNDEFINED {
                UNDEFINED
            } else {
                f(a, b)
            }
        }
    };

    let and = left.and(right, budget).unwrap();
    lockstep(left, right, &and, &strict(u32::min));
    let or = left.or(right, budget).unwrap();
    lockstep(left, right, &or, &strict(u32::max));

    let iff = left.iff(right, budget).unwrap();
    lockstep(
        left,
        right,
        &iff,
        &strict(|a, b| if a == b { TRUE } else { FALSE }),
    );

    let words = words(5);
    let satisfies = |automaton: &Automaton, word: &[Vec<bool>]| automaton.machine.run(word) == TRUE;
    let included = words[1..]
        .iter()
        .all(|w| !satisfies(left, w) || satisfies(right, w));
    assert_eq!(left.is_included_in(right, budget).unwrap(), included);

    let equivalent = words[1..]
        .iter()
        .all(|w| satisfies(left, w) == satisfies(right, w));
    assert_eq!(left.is_equivalent_to(right, budget).unwrap(), equivalent);
}

/// Walks three machines together and compares the outputs after every non-empty word. Returns the
/// pairs of outputs of the first two that were met.
fn lockstep(
    left: &Automaton,
    right: &Automaton,
    both: &Automaton,
    f: &dyn Fn(u32, u32) -> u32,
) -> Vec<(u32, u32)> {
    let (mut seen, mut met) = (Vec::new(), Vec::new());
    let mut stack = vec![(0, 0, 0)];

    while let Some((a, b, c)) = stack.pop() {
        for bit in [false, true] {
            let step = |automaton: &Automaton, state| automaton.machine.step(state, |_| bit);
            let next = (step(left, a), step(right, b), step(both, c));
            let outputs = (left.machine.outputs[next.0], right.machine.outputs[next.1]);
            assert_eq!(both.machine.outputs[next.2], f(outputs.0, outputs.1));

            if !met.contains(&outputs) {
                met.push(outputs);
            }
            if !seen.contains(&next) {
                seen.push(next);
                stack.push(next);
            }
        }
    }

    met
}

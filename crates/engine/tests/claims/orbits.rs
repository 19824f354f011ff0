//! Representatives of states that differ by exchanges of processes, against all states that can be got
//! by such exchanges.

use std::collections::BTreeSet;

use base::{Budget, NoProgress};
use engine::{Differences, Exploration, Goal, System, explore};
use model::{Model, State};
use testkit::{ModelShape, Random, cases, random_model, related_text};

use crate::sources::load;
use crate::states::{arbitrary, reachable};

const SYMMETRY: Differences = Differences {
    dead_variables: false,
    symmetry: true,
};

/// All states that exchanges make of a state.
fn orbit(system: &System<'_>, state: &State) -> BTreeSet<State> {
    let mut orbit = BTreeSet::from([state.clone()]);
    let mut open = vec![state.clone()];
    while let Some(state) = open.pop() {
        for (words, _) in system.exchanged(&system.pack(&state)) {
            let other = system.unpack(&words);
            if orbit.insert(other.clone()) {
                open.push(other);
            }
        }
    }
    orbit
}

fn represent(system: &mut System<'_>, state: &State) -> State {
    let mut words = system.pack(state);
    system.canonicalize(&mut words);
    system.unpack(&words)
}

/// How many states a search visits.
fn n_visited(system: &mut System<'_>) -> u64 {
    let exploration = Exploration {
        atoms: &[],
        goal: &Goal::Nothing,
        reduce: false,
        checkpoints: None,
    };
    let explored = explore(system, &exploration, &Budget::unlimited(), &mut NoProgress);
    explored.expect("nothing has to be compiled").stats.n_states
}

/// Constant cells are not stored, so arbitrary states need all code.
fn symmetric(model: &Model) -> Option<System<'_>> {
    let mut system = System::with_all_code(model).expect("the model is small");
    system.forget(SYMMETRY, &[], &[]);
    system.forgotten().symmetry.then_some(system)
}

#[test]
fn all_states_of_an_orbit_have_one_representative_in_it() {
    let (mut n_models, mut n_several) = (0, 0);
    for seed in 0..u64::from(cases(400)) {
        let random = &mut Random::new(seed ^ 0x0b17);
        let model = match seed % 4 {
            0 => random_model(random, ModelShape::Alike),
            _ => load(&related_text(random)),
        };
        let Some(mut system) = symmetric(&model) else {
            continue;
        };
        n_models += 1;
        let mut states = reachable(&model, 10).0;
        states.extend((0..10).map(|_| arbitrary(&model, random)));
        for state in &states {
            let orbit = orbit(&system, state);
            let of_orbit = orbit.iter().map(|other| represent(&mut system, other));
            let representatives: BTreeSet<State> = of_orbit.collect();
            assert!(representatives.is_subset(&orbit), "seed {seed}, {state:?}");
            assert_eq!(representatives.len(), 1, "seed {seed}, {state:?}");
            n_several += usize::from(orbit.len() > 1);
        }
    }
    let many = cases(100).min(100) as usize;
    let is_enough = n_models > many && n_several > 10 * many;
    assert!(is_enough, "{n_models} {n_several}");
}

#[test]
fn searches_visit_one_state_of_each_orbit() {
    let (mut n_models, mut n_smaller) = (0, 0);
    for seed in 0..u64::from(cases(200)) {
        let random = &mut Random::new(seed ^ 0x5ea7);
        let model = load(&related_text(random));
        let Some(mut system) = symmetric(&model) else {
            continue;
        };
        let (states, is_complete) = reachable(&model, 300);
        // A state that fails ends the search.
        if !is_complete || states.iter().any(|state| model.successors(state).is_err()) {
            continue;
        }
        let mut left: BTreeSet<State> = states.iter().cloned().collect();
        let mut n_orbits = 0;
        while let Some(state) = left.first().cloned() {
            n_orbits += 1;
            for other in orbit(&system, &state) {
                left.remove(&other);
            }
        }
        n_models += 1;
        n_smaller += usize::from(n_orbits < states.len());
        assert_eq!(n_visited(&mut system), n_orbits as u64, "seed {seed}");
    }
    let many = cases(20).min(20) as usize;
    let is_enough = n_models > many && n_smaller > many;
    assert!(is_enough, "{n_models} {n_smaller}");
}

/// Numbers of structures up to isomorphism, from the On-Line Encyclopedia of Integer Sequences.
#[test]
fn structures_are_counted_up_to_isomorphism() {
    let models = [
        // Directed graphs without loops: A000273.
        (
            3,
            16,
            "var m : bool[N][N]",
            "s(j in 0..N-1 where j != i) { m[i][j] := !m[i][j] }",
        ),
        (
            4,
            218,
            "var m : bool[N][N]",
            "s(j in 0..N-1 where j != i) { m[i][j] := !m[i][j] }",
        ),
        // Rows of a matrix, of which nothing says that columns are processes, too: multisets.
        (
            3,
            120,
            "var m : bool[N][N]",
            "s(j in 0..N-1) { m[i][j] := !m[i][j] }",
        ),
        // Directed graphs with loops: A000595.
        (
            3,
            104,
            "var m : array[0..N-1] of set of 0..N-1",
            "s(j in 0..N-1) { if j in m[i] { m[i] := m[i] minus {j} } else { m[i] := m[i] union {j} } }\n\
             t when i in m[i] { m[i] := {} }",
        ),
        // Mappings: A001372.
        (
            4,
            19,
            "var m : array[0..N-1] of 0..N-1",
            "s(j in 0..N-1) when j != m[i] || j == i { m[i] := j }",
        ),
        (
            5,
            47,
            "var m : array[0..N-1] of 0..N-1",
            "s(j in 0..N-1) when j != m[i] || j == i { m[i] := j }",
        ),
        // Partial mappings: A126285.
        (
            4,
            45,
            "var m : array[0..N-1] of -1..N-1 = -1",
            "s(j in 0..N-1) when j != m[i] || j == i { m[i] := j } t { m[i] := -1 }",
        ),
        // Maps to one of two values: how many have none, the first and the second.
        (
            4,
            15,
            "var m : map[0..N-1] of 0..1",
            "s(v in 0..1) { m[i] := v } t when i in m { m := remove(m, i) }",
        ),
        // Graphs: A000088.
        (
            4,
            11,
            "record Edge { x: 0..N-1, y: 0..N-1 }\nvar m : set of Edge",
            "s(j in 0..N-1 where j != i) { m := m union {Edge(i, j), Edge(j, i)} }\n\
             t(j in 0..N-1 where j != i) { m := m minus {Edge(i, j), Edge(j, i)} }",
        ),
        // Bags with at most two elements: none, one, the same twice, two different ones.
        (
            4,
            4,
            "var m : bag[2] of 0..N-1",
            "s when !full(m) { m := add(m, i) } t when i in m { m := remove(m, i) }",
        ),
    ];
    for (n, expected, variable, steps) in models {
        let text = format!("const N = {n}\n{variable}\nprocess P(i in 0..N-1) {{ {steps} }}\n");
        let model = load(&text);
        let mut system = System::new(&model).expect("the model is small");
        assert_eq!(system.forget(SYMMETRY, &[], &[]), None, "{text}");
        assert_eq!(n_visited(&mut system), expected, "{text}");
    }
}

#[test]
fn processes_for_pairs_are_exchanged_with_their_indices() {
    // Directed graphs without loops (A000273), kept by the processes for the edges.
    let text = "const N = 3
var n : 0..1 = 0
process Link(x, y in 1..N) {
    var used : bool = false
    flip when x != y { used := !used; n := 1 - n }
}
process Node(i in 1..N) {
    see(j in 1..N) when Link[i][j].used { n := 0 }
}
";
    let model = load(text);
    let mut system = System::new(&model).expect("the model is small");
    assert_eq!(system.forget(SYMMETRY, &[], &[]), None);
    assert_eq!(n_visited(&mut system), 2 * 16);
}

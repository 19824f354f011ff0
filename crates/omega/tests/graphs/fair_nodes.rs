//! The nodes that start fair paths, against one search from each node and against enumeration.

use crate::oracle::{Arrow, Case, Random};
use base::bits;
use omega::{Acceptance, Closure, fair_nodes, find_fair_cycle};

/// A product: copies of system states, each system step taken by some pairs of copies.
fn draw(random: &mut Random) -> Case {
    let n_states = random.below(4) + 1;
    let n_copies = random.below(2) + 1;
    let n_steps: Vec<u32> = (0..n_states).map(|_| 1 + random.below(2) as u32).collect();
    let mut edges = Vec::new();

    for (state, &n_here) in n_steps.iter().enumerate() {
        for step in 0..n_here {
            let next = random.below(n_states);
            for _ in 0..=random.below(n_copies + 1) {
                edges.push(Arrow {
                    source: state * n_copies + random.below(n_copies),
                    step,
                    target: next * n_copies + random.below(n_copies),
                    marks: random.marks(4, 3),
                });
            }
        }
    }

    let n_nodes = n_states * n_copies;
    Case {
        n_nodes,
        initial: (0..n_nodes).collect(),
        edges,
        origins: (0..n_nodes).map(|n| (n / n_copies) as u32).collect(),
        n_steps,
        spread: vec![0, 63, 64, 130],
    }
}

/// The largest edge set that is enumerated.
const MAX_NAIVE_EDGES: usize = 8;

fn starts_fair_path(case: &Case, node: usize, acceptance: &Acceptance, closure: Closure) -> bool {
    let from_here = Case {
        initial: vec![node],
        ..case.clone()
    };
    if case.edges.len() <= MAX_NAIVE_EDGES {
        let mut sets = from_here.recurrent_sets(closure).into_iter();
        return sets.any(|set| acceptance.accepts(&case.words(case.union(set))));
    }
    let search = find_fair_cycle(&mut from_here.graph(), acceptance, closure, &mut |_| Ok(()));
    let Ok(found) = search.result;
    found.is_some()
}

#[test]
fn each_node_is_judged_as_by_a_search_of_its_own() {
    let mut random = Random(0xFA1B);
    let (mut n_fair, mut n_unfair, mut n_naive) = (0, 0, 0);
    for _ in 0..6000 {
        let case = draw(&mut random);
        n_naive += usize::from(case.edges.len() <= MAX_NAIVE_EDGES);
        let acceptance = match random.below(3) {
            0 => random.pairs(&case.spread),
            _ => random.acceptance(&case.spread, 3),
        };
        for closure in [Closure::None, Closure::OnSystem] {
            let Ok(fair) = fair_nodes(&mut case.graph(), case.n_nodes, &acceptance, closure);
            for node in 0..case.n_nodes {
                let expected = starts_fair_path(&case, node, &acceptance, closure);
                assert_eq!(bits::get(&fair, node), expected, "{acceptance:?}");
                n_fair += usize::from(expected);
                n_unfair += usize::from(!expected);
            }
        }
    }

    assert!(n_fair > 5000 && n_unfair > 5000, "{n_fair} {n_unfair}");
    assert!(n_naive > 1000, "{n_naive}");
}

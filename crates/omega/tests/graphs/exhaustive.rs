//! All marked graphs with up to three states and two marks, all acceptance conditions over them.

use std::convert::Infallible;

use crate::oracle::{Arrow, Case, Stored, conjunctive, disjunctive};
use omega::{
    Acceptance, Closure, Component, EdgeBuffer, Graph, MarkId, NodeId, find_fair_cycle,
    find_fair_cycle_stored,
};

/// Every function of two marks, in two shapes, each with its truth table.
fn all_functions() -> Vec<(u16, Acceptance)> {
    (0..16)
        .flat_map(|table| {
            [
                (table, disjunctive(table, 2)),
                (table, conjunctive(table, 2)),
            ]
        })
        .collect()
}

/// Shapes that neither normal form has.
fn other_shapes() -> Vec<(u16, Acceptance)> {
    use Acceptance::{And, Fin, Inf, Or};
    let (a, b) = (MarkId(0), MarkId(1));
    let shapes = vec![
        Acceptance::True,
        Acceptance::False,
        Acceptance::generalized_buchi([a, b]),
        Acceptance::streett_pair(a, b),
        Acceptance::streett_pair(a, a),
        Acceptance::rabin_pair(a, b),
        Acceptance::rabin_pair(a, a),
        And(vec![
            Acceptance::streett_pair(a, b),
            Acceptance::streett_pair(b, a),
        ]),
        And(vec![Fin(a), Acceptance::streett_pair(b, a)]),
        And(vec![Or(vec![Fin(a), Fin(b)]), Or(vec![Inf(a), Inf(b)])]),
        And(vec![
            Or(vec![And(vec![Fin(a), Inf(b)]), And(vec![Fin(b), Inf(a)])]),
            Inf(a),
        ]),
        Or(vec![
            And(vec![Or(vec![Fin(a)])]),
            And(vec![Inf(b), Acceptance::True]),
        ]),
        And(vec![
            Or(vec![Inf(a), Fin(b)]),
            Or(vec![Inf(a), Fin(a)]),
            Or(vec![Inf(b), Fin(a)]),
        ]),
    ];

    let table = |formula: &Acceptance| {
        (0..4).fold(0, |table, row| {
            table | u16::from(formula.accepts(&[row])) << row
        })
    };
    shapes
        .into_iter()
        .map(|formula| (table(&formula), formula))
        .collect()
}

/// Three nodes; the edge from i to j, if any, is number 3i + j.
struct Tiny {
    present: u16,
    carrying: [u16; 2],
}

impl Tiny {
    /// Digit 3i + j of `code` in base five: no edge, or one with marks digit − 1.
    fn new(mut code: u32) -> Self {
        let mut tiny = Self {
            present: 0,
            carrying: [0; 2],
        };
        for edge in 0..9 {
            let digit = code % 5;
            code /= 5;
            if digit > 0 {
                tiny.present |= 1 << edge;
                tiny.carrying[0] |= ((digit - 1) as u16 & 1) << edge;
                tiny.carrying[1] |= ((digit - 1) as u16 >> 1) << edge;
            }
        }
        tiny
    }

    fn union(&self, set: u16) -> u16 {
        u16::from(set & self.carrying[0] != 0) | u16::from(set & self.carrying[1] != 0) << 1
    }

    fn reachable(&self) -> u16 {
        let mut nodes = 1;
        for _ in 0..2 {
            for edge in 0..9 {
                if self.present >> edge & 1 == 1 && nodes >> (edge / 3) & 1 == 1 {
                    nodes |= 1 << (edge % 3);
                }
            }
        }
        nodes
    }

    /// The edges of a component.
    fn edges_of(&self, component: &Component) -> u16 {
        let nodes: u16 = component
            .nodes
            .iter()
            .fold(0, |nodes, node| nodes | 1 << node.0);
        let mut set = self.present;
        for edge in 0..9 {
            let inside = nodes >> (edge / 3) & 1 == 1 && nodes >> (edge % 3) & 1 == 1;
            let marks = u64::from(self.union(1 << edge));
            if !inside || marks & !component.marks[0] != 0 {
                set &= !(1 << edge);
            }
        }
        set
    }
}

impl Graph for Tiny {
    type Stop = Infallible;

    fn n_mark_words(&self) -> usize {
        1
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Infallible> {
        out.push(NodeId(0));
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Infallible> {
        for target in 0..3 {
            let edge = 3 * node.0 + target;
            if self.present >> edge & 1 == 1 {
                out.push(NodeId(target), 0, &[u64::from(self.union(1 << edge))]);
            }
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, _node: NodeId) -> Result<u32, Infallible> {
        Ok(1)
    }

    fn out_of_numbers(&self) -> Infallible {
        unreachable!("the graph is small")
    }
}

/// Which of the 512 edge sets on three nodes are strongly connected, by the oracle.
fn connected_sets() -> Vec<bool> {
    let edges = (0..9).map(|edge| Arrow {
        source: edge / 3,
        step: 0,
        target: edge % 3,
        marks: 0,
    });
    let all = case(3, edges.collect());
    (0..512).map(|set| all.is_strongly_connected(set)).collect()
}

fn case(n_nodes: usize, edges: Vec<Arrow>) -> Case {
    Case {
        n_nodes,
        initial: vec![0],
        edges,
        origins: (0..n_nodes as u32).collect(),
        n_steps: vec![1; n_nodes],
        spread: vec![0, 1],
    }
}

/// Swapping nodes 1 and 2, or the two marks, changes no verdict: one graph of each orbit is enough,
/// since the set of formulas is closed under swapping marks.
fn is_representative(code: u32) -> bool {
    let digit = |edge: u32| code / 5_u32.pow(edge) % 5;
    let rebuild = |swap_nodes: bool, swap_marks: bool| {
        let node = |node: u32| {
            if swap_nodes {
                [0, 2, 1][node as usize]
            } else {
                node
            }
        };
        let mark = |digit: u32| {
            if swap_marks {
                [0, 1, 3, 2, 4][digit as usize]
            } else {
                digit
            }
        };
        (0..9).rev().fold(0, |code, edge| {
            5 * code + mark(digit(3 * node(edge / 3) + node(edge % 3)))
        })
    };

    code <= rebuild(true, false) && code <= rebuild(false, true) && code <= rebuild(true, true)
}

/// Compares the search with the truth tables on every other graph with three states, and counts
/// the graphs.
fn half_of_the_graphs(half: u32) -> usize {
    let connected = connected_sets();
    let sets: Vec<u16> = (1..512).filter(|&set| connected[set as usize]).collect();
    let functions = all_functions();
    let mut n_graphs = 0;

    for code in (half..5_u32.pow(9))
        .step_by(2)
        .filter(|&code| is_representative(code))
    {
        let mut tiny = Tiny::new(code);
        if tiny.reachable() != 0b111 {
            // Such a graph behaves as one with fewer states, below.
            continue;
        }
        n_graphs += 1;
        let possible = sets
            .iter()
            .filter(|&&set| set & !tiny.present == 0)
            .fold(0, |rows, &set| rows | 1_u16 << tiny.union(set));
        let stored = Stored::new(&mut tiny, 3, false);
        for (table, acceptance) in &functions {
            let search = find_fair_cycle(&mut tiny, acceptance, Closure::None, &mut |_| Ok(()));
            let Ok(found) = search.result;
            let Ok(found_stored) = find_fair_cycle_stored(&stored, acceptance, Closure::None);
            for found in [&found, &found_stored] {
                let is_expected = possible & table != 0;
                assert_eq!(found.is_some(), is_expected, "graph {code}, {acceptance:?}");
            }
            for component in found.into_iter().chain(found_stored) {
                let set = tiny.edges_of(&component);
                assert!(connected[set as usize], "graph {code}, {acceptance:?}");
                assert_eq!(u64::from(tiny.union(set)), component.marks[0]);
                assert!(table >> component.marks[0] & 1 == 1);
            }
        }
    }

    n_graphs
}

#[test]
fn all_graphs_with_three_states() {
    // On two threads: one would leave the other core idle.
    let n_graphs: usize = std::thread::scope(|scope| {
        let halves = [0, 1].map(|half| scope.spawn(move || half_of_the_graphs(half)));
        let n_graphs = halves.map(|half| half.join().expect("the search is right"));
        n_graphs.into_iter().sum()
    });

    assert!(n_graphs > 300_000, "only {n_graphs} graphs");
}

/// The edges that join an ordered pair of nodes: at most two, with different marks.
fn bundles() -> Vec<Vec<u64>> {
    let mut bundles = vec![vec![]];
    for first in 0..4 {
        bundles.push(vec![first]);
        bundles.extend((0..first).map(|second| vec![first, second]));
    }
    bundles
}

#[test]
fn all_graphs_with_one_or_two_states_and_parallel_edges() {
    let formulas: Vec<_> = all_functions().into_iter().chain(other_shapes()).collect();
    let bundles = bundles();
    for n_nodes in 1..=2 {
        let n_pairs = n_nodes * n_nodes;
        for code in 0..bundles.len().pow(n_pairs as u32) {
            let arrows = (0..n_pairs).flat_map(|pair| {
                let bundle = &bundles[code / bundles.len().pow(pair as u32) % bundles.len()];
                bundle.iter().map(move |&marks| Arrow {
                    source: pair / n_nodes,
                    step: 0,
                    target: pair % n_nodes,
                    marks,
                })
            });
            let case = case(n_nodes, arrows.collect());
            let sets = case.recurrent_sets(Closure::None);
            for (_, acceptance) in &formulas {
                case.check(acceptance, Closure::None, &sets);
            }
        }
    }
}

#[test]
fn truth_tables_mean_what_they_say() {
    for (table, formula) in all_functions() {
        for row in 0..4 {
            assert_eq!(
                formula.accepts(&[row]),
                table >> row & 1 == 1,
                "{formula:?}"
            );
        }
    }
}

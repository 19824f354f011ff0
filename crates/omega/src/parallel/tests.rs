//! Several threads against one, on random graphs.

use base::bits;

use super::{ParallelSearch, search};
use crate::{
    Acceptance, Closure, Component, EdgeBuffer, ExplicitGraph, Graph, MarkId, NodeId,
    covering_lasso, find_fair_cycle, shortest_lasso,
};

struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % n
    }
}

const N_MARKS: usize = 5;

/// A graph whose nodes are copies of system states, `n_copies` of each.
fn draw_graph(random: &mut Random, n_states: usize) -> ExplicitGraph {
    let n_copies = random.below(2) + 1;
    let n_nodes = n_states * n_copies;
    let rarity = random.below(12) + 2;

    // With jumps far forwards only, there are many components.
    let reach = random.below(n_states) + 1;
    let mut graph = ExplicitGraph::new(n_nodes, N_MARKS);
    graph.add_initial(NodeId::new(0));
    graph.add_initial(NodeId::new(random.below(n_nodes)));

    for state in 0..n_states {
        let n_steps = random.below(3) + 1;
        for copy in 0..n_copies {
            let node = NodeId::new(state * n_copies + copy);
            graph.set_origin(node, state as u32, n_steps as u32);
        }
        for step in 0..n_steps {
            let back = random.below(reach.min(state + 1));
            let target = match random.below(3) {
                0 => random.below(n_states - state) + state,
                _ => state - back,
            };
            for copy in 0..n_copies {
                let marks: Vec<MarkId> = (0..N_MARKS)
                    .filter(|_| random.below(rarity) == 0)
                    .map(MarkId::new)
                    .collect();
                let source = NodeId::new(state * n_copies + copy);
                let target = NodeId::new(target * n_copies + random.below(n_copies));
                graph.add_edge(source, step as u32, target, &marks);
            }
        }
    }

    graph
}

fn draw_acceptance(random: &mut Random, depth: usize) -> Acceptance {
    let mark = MarkId::new(random.below(N_MARKS));
    let other = MarkId::new(random.below(N_MARKS));
    match random.below(if depth == 0 { 3 } else { 6 }) {
        0 => Acceptance::Inf(mark),
        1 => Acceptance::Fin(mark),
        2 => Acceptance::streett_pair(mark, other),
        3 => Acceptance::any((0..2).map(|_| draw_acceptance(random, depth - 1))),
        _ => Acceptance::all((0..3).map(|_| draw_acceptance(random, depth - 1))),
    }
}

/// The nodes that can be reached from the first node of a component along its edges.
fn reached(graph: &mut ExplicitGraph, component: &Component, from: NodeId) -> Vec<NodeId> {
    let mut nodes = vec![from];
    let mut edges = EdgeBuffer::new(graph.n_mark_words());
    let mut head = 0;
    while head < nodes.len() {
        edges.truncate(0);
        let Ok(()) = graph.successors(nodes[head], &mut edges);
        head += 1;
        for edge in 0..edges.len() {
            let target = edges.target(edge);
            let inside = component.nodes.contains(&target) && component.allows(edges.marks(edge));
            if inside && !nodes.contains(&target) {
                nodes.push(target);
            }
        }
    }
    nodes
}

fn check_component(
    graph: &mut ExplicitGraph,
    component: &Component,
    acceptance: &Acceptance,
    closure: Closure,
) {
    assert!(acceptance.accepts(&component.marks), "{component:?}");
    let first = component.nodes[0];
    assert_eq!(
        reached(graph, component, first).len(),
        component.nodes.len(),
        "{component:?}"
    );
    for &node in &component.nodes {
        assert!(
            reached(graph, component, node).contains(&first),
            "{component:?}"
        );
    }

    let Ok(lasso) = match closure {
        Closure::None => shortest_lasso(graph, component, acceptance),
        Closure::OnSystem => covering_lasso(graph, component, acceptance),
    };
    let mut seen = vec![0; graph.n_mark_words()];
    let mut edges = EdgeBuffer::new(seen.len());
    for step in &lasso.cycle {
        edges.truncate(0);
        let Ok(()) = graph.successors(step.source, &mut edges);
        bits::union_into(&mut seen, edges.marks(step.position as usize));
    }

    assert!(acceptance.accepts(&seen), "{component:?} {lasso:?}");
}

/// How many searches found something.
fn compare(seed: u64, n_graphs: usize, max_states: usize) -> usize {
    let mut random = Random(seed);
    let mut n_found = 0;
    for round in 0..n_graphs {
        let n_states = random.below(max_states) + 1;
        let mut graph = draw_graph(&mut random, n_states);
        let acceptance = draw_acceptance(&mut random, 2);
        let closure = [Closure::None, Closure::OnSystem][random.below(2)];
        let one = find_fair_cycle(&mut graph, &acceptance, closure, &mut |_| Ok(()));
        let Ok(one) = one.result;
        let n_threads = random.below(3) + 2;
        let min_shared = [1, 2, 8, 1 << 20][random.below(4)];
        let mut graphs = vec![graph.clone(); n_threads];
        let ParallelSearch { result, stats } = search(
            &mut graphs,
            &acceptance,
            closure,
            &mut |_| Ok(()),
            min_shared,
        );
        let Ok(several) = result;
        assert_eq!(
            one.is_some(),
            several.is_some(),
            "round {round}, {acceptance:?}, {closure:?}, {one:?}, {several:?}"
        );
        match several {
            Some(component) => {
                check_component(&mut graph, &component, &acceptance, closure);
                n_found += 1;
            }
            None => assert!(stats.n_nodes > 0),
        }
    }

    n_found
}

#[test]
fn several_threads_find_what_one_finds() {
    let n_small = compare(0x00C0_FFEE, 2_000, 12);
    assert!((300..1_700).contains(&n_small), "{n_small}");
    let n_medium = compare(0x0BAD_CAFE, 800, 100);
    assert!((100..700).contains(&n_medium), "{n_medium}");
}

/// A long cycle through which threads run into each other, and a step that leaves it.
#[test]
fn threads_meet_in_large_components() {
    let n_nodes = 50_000;
    let mut graph = ExplicitGraph::new(n_nodes, 2);
    graph.add_initial(NodeId(0));

    let mut random = Random(7);
    for node in 0..n_nodes {
        let source = NodeId::new(node);
        graph.set_origin(source, node as u32, 3);
        graph.add_edge(source, 0, NodeId::new((node + 1) % n_nodes), &[MarkId(0)]);
        for step in 1..3 {
            let target = NodeId::new(random.below(n_nodes));
            graph.add_edge(source, step, target, &[MarkId(0)]);
        }
    }

    let unfair = Acceptance::streett_pair(MarkId(0), MarkId(1));
    let fair = Acceptance::all([Acceptance::Inf(MarkId(0)), Acceptance::Fin(MarkId(1))]);
    for min_shared in [1, 1 << 20] {
        for (acceptance, closure, expected) in [
            (&unfair, Closure::None, false),
            (&unfair, Closure::OnSystem, false),
            (&fair, Closure::None, true),
            (&fair, Closure::OnSystem, true),
        ] {
            let mut graphs = vec![graph.clone(); 4];
            let observe = &mut |_: &_| Ok(());
            let found = search(&mut graphs, acceptance, closure, observe, min_shared);
            let Ok(found) = found.result;
            assert_eq!(found.is_some(), expected, "{min_shared} {closure:?}");
            if let (Some(component), Closure::OnSystem) = (found, closure) {
                assert_eq!(component.nodes.len(), n_nodes);
            }
        }
    }
}

/// A view whose thread leaves the processor to others while it expands a node, so that even in tiny
/// graphs threads meet in the middle of what they do.
struct Hesitant {
    graph: ExplicitGraph,
    random: Random,
}

impl Graph for Hesitant {
    type Stop = std::convert::Infallible;

    fn n_mark_words(&self) -> usize {
        self.graph.n_mark_words()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        self.graph.initial(out)
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        for _ in 0..self.random.below(4) {
            std::thread::yield_now();
        }
        self.graph.successors(node, out)
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.graph.origin(node)
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Self::Stop> {
        self.graph.n_steps(node)
    }

    fn out_of_numbers(&self) -> Self::Stop {
        self.graph.out_of_numbers()
    }
}

/// A thread on the path 0, 1, 2, 3 follows 3 → 0 while another has united 3 with 0: it unites 2 with
/// them, but not 1, and then each mark that is asked for seems to be there. But a run that takes
/// 2 → 3 infinitely often takes 0 → 1 infinitely often, too, where nothing serves it.
#[test]
fn sets_with_gaps_are_not_believed() {
    let (asked, enabled, taken, back) = (MarkId(0), MarkId(1), MarkId(2), MarkId(3));
    let mut graph = ExplicitGraph::new(4, 4);
    graph.add_initial(NodeId(0));
    graph.set_origin(NodeId(0), 0, 2);
    graph.add_edge(NodeId(0), 0, NodeId(1), &[enabled]);
    graph.add_edge(NodeId(0), 1, NodeId(3), &[]);
    for (source, target, marks) in [(1, 2, &[][..]), (2, 3, &[asked]), (3, 0, &[back])] {
        graph.set_origin(NodeId(source), source, 1);
        graph.add_edge(NodeId(source), 0, NodeId(target), marks);
    }
    let acceptance = Acceptance::all([
        Acceptance::Inf(asked),
        Acceptance::streett_pair(enabled, taken),
    ]);

    for round in 1..5_000 {
        let view = |thread: u64| Hesitant {
            graph: graph.clone(),
            random: Random(round << 3 | thread),
        };
        let mut views: Vec<_> = (0..4).map(view).collect();
        let observe = &mut |_: &_| Ok(());
        let found = search(&mut views, &acceptance, Closure::None, observe, 1 << 20);
        let Ok(found) = found.result;
        assert!(found.is_none(), "round {round}: {found:?}");
    }
}

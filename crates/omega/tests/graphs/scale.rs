//! Long paths, large components, many marks; observers and stops.

use omega::{
    Acceptance, Closure, Component, EdgeBuffer, ExplicitGraph, FairCycleSearch, Graph, MarkId,
    NodeId, SearchStats, Stems, covering_lasso, find_fair_cycle, shortest_lasso,
    shortest_lasso_after,
};

/// A path that ends in a cycle; the edge that closes the cycle carries mark 0, the others mark 1.
#[derive(Clone)]
struct Rope {
    n_nodes: u32,
    back_to: u32,
    /// Has every node also an edge back to its predecessor, with mark 2?
    laces: bool,
    stop_after: u64,
    n_expanded: u64,
    /// Has it had enough, although no edges are computed?
    is_over: bool,
}

impl Rope {
    fn new(n_nodes: u32, back_to: u32) -> Self {
        Self {
            n_nodes,
            back_to,
            laces: false,
            stop_after: u64::MAX,
            n_expanded: 0,
            is_over: false,
        }
    }
}

impl Graph for Rope {
    type Stop = &'static str;

    fn n_mark_words(&self) -> usize {
        1
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        out.push(NodeId(0));
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        self.n_expanded += 1;
        if self.n_expanded > self.stop_after {
            return Err("enough");
        }
        if node.0 + 1 < self.n_nodes {
            out.push(NodeId(node.0 + 1), 0, &[0b10]);
        } else {
            out.push(NodeId(self.back_to), 0, &[0b01]);
        }
        if self.laces && node.0 > 0 {
            out.push(NodeId(node.0 - 1), 1, &[0b100]);
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Self::Stop> {
        Ok(1 + u32::from(self.laces && node.0 > 0))
    }

    fn check_limits(&mut self) -> Result<(), Self::Stop> {
        if self.is_over {
            return Err("over");
        }
        Ok(())
    }

    fn out_of_numbers(&self) -> Self::Stop {
        "no numbers left"
    }
}

fn silent<S>(_: &SearchStats) -> Result<(), S> {
    Ok(())
}

/// Runs on a stack far too small for a recursion of such depth.
fn on_small_stack(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(64 << 10).spawn(test);
    thread.unwrap().join().unwrap();
}

#[test]
fn ten_million_nodes_deep() {
    on_small_stack(|| {
        let mut rope = Rope::new(10_000_000, 9_999_990);
        let both = Acceptance::generalized_buchi([MarkId(0), MarkId(1)]);
        let FairCycleSearch { result, stats, .. } =
            find_fair_cycle(&mut rope, &both, Closure::None, &mut silent);
        let component = result.unwrap().expect("the cycle has both marks");
        assert_eq!(component.nodes.len(), 10);
        assert_eq!(component.marks, [0b11]);
        assert_eq!(stats.max_depth, 10_000_000);
        let lasso = shortest_lasso(&mut rope, &component, &both).unwrap();
        assert_eq!((lasso.stem.len(), lasso.cycle.len()), (9_999_990, 10));
    });
}

#[test]
fn refining_a_component_of_a_million_nodes() {
    on_small_stack(|| {
        let mut rope = Rope::new(1_000_000, 0);
        let without_return = Acceptance::rabin_pair(MarkId(0), MarkId(1));
        let search = find_fair_cycle(&mut rope, &without_return, Closure::None, &mut silent);
        assert_eq!(search.result, Ok(None));
        assert_eq!(search.stats.n_revisits, 1_000_000);
        rope.laces = true;
        let search = find_fair_cycle(&mut rope, &without_return, Closure::None, &mut silent);
        let component = search.result.unwrap().expect("two neighbours suffice");
        let lasso = shortest_lasso(&mut rope, &component, &without_return).unwrap();
        assert_eq!(lasso.cycle.len(), 2);
    });
}

#[test]
fn closure_of_a_component_of_a_million_nodes() {
    on_small_stack(|| {
        let mut rope = Rope::new(1_000_000, 0);
        let search = find_fair_cycle(&mut rope, &Acceptance::True, Closure::OnSystem, &mut silent);
        assert_eq!(search.result.unwrap().unwrap().nodes.len(), 1_000_000);
        let mut rope = Rope::new(1_000, 0);
        rope.laces = true;
        let all = &Acceptance::True;
        let search = find_fair_cycle(&mut rope, all, Closure::OnSystem, &mut silent);
        let component = search.result.unwrap().expect("the whole graph");
        let lasso = covering_lasso(&mut rope, &component, all).unwrap();
        let mut taken: Vec<_> = lasso.cycle.iter().map(|s| (s.source, s.position)).collect();
        taken.sort_unstable();
        taken.dedup();
        assert_eq!(taken.len(), 1_999);
    });
}

/// The edges of so large a component are not kept but computed each time.
#[test]
fn evidence_in_a_component_of_a_hundred_thousand_nodes() {
    let n_nodes = 100_000;
    let mut graph = ExplicitGraph::new(n_nodes as usize, 2);
    graph.add_initial(NodeId(0));
    for node in 0..n_nodes {
        let mark = MarkId(u32::from(node == 7));
        graph.add_edge(NodeId(node), 0, NodeId((node + 1) % n_nodes), &[mark]);
    }
    // Another step to the same node.
    graph.add_edge(NodeId(5), 1, NodeId(6), &[MarkId(0)]);

    let both = Acceptance::generalized_buchi([MarkId(0), MarkId(1)]);
    let search = find_fair_cycle(&mut graph, &both, Closure::OnSystem, &mut silent);
    let Ok(found) = search.result;
    let component = found.expect("the ring");
    let Ok(lasso) = shortest_lasso(&mut graph, &component, &both);
    assert_eq!(lasso.cycle.len(), n_nodes as usize);

    let Ok(lasso) = covering_lasso(&mut graph, &component, &both);
    let fifth = lasso.cycle.iter().filter(|step| step.source == NodeId(5));
    let mut taken: Vec<u32> = fifth.map(|step| step.position).collect();
    taken.sort_unstable();
    taken.dedup();
    assert_eq!(taken, [0, 1]);
}

#[test]
fn the_graph_and_the_observer_can_stop_the_search() {
    let mut rope = Rope::new(100_000, 0);
    rope.stop_after = 50_000;
    let mut depths = Vec::new();
    let search = find_fair_cycle(&mut rope, &Acceptance::True, Closure::None, &mut |stats| {
        depths.push(stats.depth);
        Ok(())
    });
    assert_eq!(search.result, Err("enough"));
    assert_eq!(search.stats.n_nodes, 50_000);
    assert_eq!(depths.len(), 12);
    assert!(depths.is_sorted() && search.stats.memory_bytes > 49_000 * 20);

    rope = Rope::new(100_000, 0);
    let mut stop = |stats: &SearchStats| {
        if stats.n_nodes < 20_000 {
            Ok(())
        } else {
            Err("too many")
        }
    };

    let search = find_fair_cycle(&mut rope, &Acceptance::True, Closure::None, &mut stop);
    assert_eq!(search.result, Err("too many"));
    assert!(search.stats.n_nodes < 20_000 + 4096);
}

/// The edges of a component of this size are kept, so the graph is asked for none of them again.
#[test]
fn limits_hold_where_edges_are_kept() {
    let mut rope = Rope::new(30_000, 0);
    rope.laces = true;
    let all = &Acceptance::True;
    let search = find_fair_cycle(&mut rope, all, Closure::OnSystem, &mut silent);
    let component = search.result.unwrap().expect("the whole graph");
    assert!(covering_lasso(&mut rope, &component, all).is_ok());

    rope.is_over = true;
    assert_eq!(covering_lasso(&mut rope, &component, all), Err("over"));
}

/// A path with a loop at every tenth node; the loops are asked for from both ends.
#[test]
fn ways_to_several_components_are_as_short_as_each_alone() {
    let mut graph = ExplicitGraph::new(100, 1);
    graph.add_initial(NodeId(50));
    graph.add_initial(NodeId(0));
    for node in 0..99 {
        graph.add_edge(NodeId(node), 0, NodeId(node + 1), &[]);
        if node % 7 == 0 {
            graph.add_edge(NodeId(node), 1, NodeId(99 - node), &[]);
        }
    }
    let looping = |graph: &mut ExplicitGraph, node: u32| {
        graph.add_edge(NodeId(node), 2, NodeId(node), &[MarkId(0)]);
        Component {
            nodes: vec![NodeId(node)],
            marks: vec![1],
        }
    };
    let nodes = [90, 10, 80, 0, 50, 30, 70];
    let components = nodes.map(|node| looping(&mut graph, node));

    let accepted = Acceptance::Inf(MarkId(0));
    let mut stems = Stems::default();
    for component in &components {
        let Ok(after) = shortest_lasso_after(&mut stems, &mut graph, component, &accepted);
        let Ok(alone) = shortest_lasso(&mut graph, component, &accepted);
        assert_eq!(after, alone);
    }
}

/// A ring of `n` nodes. The step from node i takes action i; strong fairness for each action adds
/// the pair `Fin(2i) ∨ Inf(2i + 1)`. Action i is enabled at node i only, and node i also has a
/// shortcut home that takes no action.
struct Ring(u32);

impl Graph for Ring {
    type Stop = std::convert::Infallible;

    fn n_mark_words(&self) -> usize {
        base::bits::words_for(2 * self.0 as usize)
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Self::Stop> {
        out.push(NodeId(0));
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Self::Stop> {
        let mut marks = vec![0; self.n_mark_words()];
        base::bits::set(&mut marks, 2 * node.index());
        out.push(NodeId(0), 1, &marks);
        if node.0 + 1 < self.0 {
            base::bits::set(&mut marks, 2 * node.index() + 1);
            out.push(NodeId(node.0 + 1), 0, &marks);
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Self::Stop> {
        Ok(1 + u32::from(node.0 + 1 < self.0))
    }

    fn out_of_numbers(&self) -> Self::Stop {
        unreachable!("the graph is small")
    }
}

/// The last action is never taken, so its node must be left forever; that makes the action before
/// it impossible, and so on. Each round removes one pair: quadratic, not exponential.
#[test]
fn hundreds_of_streett_pairs_stay_polynomial() {
    let n_nodes = 300;
    let pairs = (0..n_nodes).map(|i| Acceptance::streett_pair(MarkId(2 * i), MarkId(2 * i + 1)));
    let strong = Acceptance::all(pairs);
    let mut ring = Ring(n_nodes);
    let search = find_fair_cycle(&mut ring, &strong, Closure::None, &mut silent);
    assert_eq!(search.result, Ok(None));
    assert!(search.stats.n_revisits <= u64::from(n_nodes * n_nodes));
}

/// A disjunction is split, so each Rabin pair is looked at by itself: linear in the pairs.
#[test]
fn hundreds_of_rabin_pairs_stay_polynomial() {
    let n_nodes = 300;
    let pairs = (0..n_nodes).map(|i| Acceptance::rabin_pair(MarkId(2 * i), MarkId(2 * i + 1)));
    let never = Acceptance::any(pairs);
    let mut ring = Ring(n_nodes);
    let search = find_fair_cycle(&mut ring, &never, Closure::None, &mut silent);
    assert_eq!(search.result, Ok(None));
    assert!(search.stats.n_revisits <= u64::from(n_nodes * n_nodes));
}

/// Generalized Büchi needs no second look at any node.
#[test]
fn weak_conditions_cost_one_pass() {
    let mut rope = Rope::new(100_000, 10);
    let missing = Acceptance::generalized_buchi([MarkId(0), MarkId(1), MarkId(5)]);
    let search = find_fair_cycle(&mut rope, &missing, Closure::None, &mut silent);
    assert_eq!(search.result, Ok(None));
    assert_eq!(
        (search.stats.n_nodes, search.stats.n_revisits),
        (100_000, 0)
    );
    assert_eq!(
        (search.stats.n_edges, search.stats.n_components),
        (100_000, 11)
    );
    assert_eq!(rope.n_expanded, 100_000);
}

/// Pairs whose `Inf` is absent force their `Fin`s; all of them go in one round, so one second look
/// at each node is enough.
#[test]
fn all_forced_pairs_are_removed_at_once() {
    let n_nodes = 100;
    let mut graph = ExplicitGraph::new(n_nodes as usize, 2 * n_nodes as usize);
    graph.add_initial(NodeId(0));
    for node in 0..n_nodes {
        graph.add_edge(NodeId(node), 0, NodeId((node + 1) % n_nodes), &[]);
        graph.add_edge(NodeId(node), 1, NodeId(node), &[MarkId(2 * node)]);
        graph.add_edge(NodeId(node), 2, NodeId(0), &[MarkId(2 * node)]);
    }
    let pairs = (0..n_nodes).map(|i| Acceptance::streett_pair(MarkId(2 * i), MarkId(2 * i + 1)));
    let closure = Closure::None;
    let search = find_fair_cycle(&mut graph, &Acceptance::all(pairs), closure, &mut silent);
    let Ok(found) = search.result;
    assert_eq!(found.unwrap().nodes.len(), n_nodes as usize);
    assert_eq!(search.stats.n_revisits, u64::from(n_nodes));
}

/// The search does not wait for a component to be complete, not even if its edges have no marks.
#[test]
fn a_partial_component_ends_the_search() {
    let mut graph = ExplicitGraph::new(100, 1);
    graph.add_initial(NodeId(0));
    for node in 1..100 {
        graph.add_edge(NodeId(node - 1), 0, NodeId(node), &[]);
        graph.add_edge(NodeId(node), 1, NodeId(0), &[]);
    }
    for acceptance in [Acceptance::True, Acceptance::Fin(MarkId(0))] {
        let search = find_fair_cycle(&mut graph, &acceptance, Closure::None, &mut silent);
        let Ok(found) = search.result;
        let n_nodes = found.unwrap().nodes.len() as u64;
        assert_eq!(
            (n_nodes, search.stats.n_components),
            (search.stats.n_nodes, 0)
        );
        assert!(search.stats.n_nodes >= 2 && search.stats.max_depth == n_nodes);
    }
}

//! Runs that are fair to every step: strong global fairness.
//!
//! Such a run takes every step of every state that it visits forever, so these states are a component
//! of the *system* that nothing leaves. Those components are found one after the other; inside of
//! each, a strongly connected set of nodes of the product is looked for that has the demanded marks
//! and takes, with one or another copy of each state, every step (see `omega::closure` for why the
//! largest such sets are enough). Deadlocked states are components of their own and are looked at all
//! at once: their only step is the idle one.

use std::collections::VecDeque;

use evidence::{ComponentSize, Trace};
use omega::{Automaton, MarkId};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::bdd::{Bdd, Halt};
use crate::graph::Graph;
use crate::hull::{self, Demands};
use crate::product::{Product, Query};
use crate::walk::{Edge, Node, Walk, lasso, rings, terminal_component};

/// Larger components are not shown step by step.
const MAX_SHOWN: usize = 20_000;

/// A lasso that takes every step of every state of its loop, and the size of the component.
pub(crate) fn closed_run(
    product: &Product<'_, '_>,
    reachable: &Bdd,
    reachable_states: &Bdd,
) -> Result<Option<(Trace, Option<ComponentSize>)>, Halt> {
    let system = product.system;
    let graph = Graph::new(product)?;
    let cases = hull::cases(product)?;
    let without = |demands: &Demands| {
        let mut part = graph.clone();
        for mark in &demands.never {
            part = part.without(&product.marks[mark.index()])?;
        }
        Ok::<_, Halt>(part)
    };

    // A run that ends idles in one state, and takes all steps of it.
    let idle = reachable.and(&system.deadlock)?;
    for demands in &cases {
        let part = without(demands)?;
        let nodes = hull::hull(&part, &idle, demands)?;
        if !nodes.is_false() {
            let component = terminal_component(&part, &nodes)?;
            let trace = lasso(&part, demands, &component, reachable)?;
            return Ok(Some((trace, None)));
        }
    }

    // Otherwise the loop covers a closed component of the system.
    let automaton = Automaton::universal();
    let query = Query {
        automaton: &automaton,
        conditions: &[],
        strong_global: false,
        atoms: &[],
    };
    let plain = Product::new(system, query)?;
    let plain = Graph::new(&plain)?;
    let ending = reachable_states.and(&system.deadlock)?;
    let mut open = reachable_states.minus(&plain.reaching(&ending, reachable_states)?)?;
    while !open.is_false() {
        let component = terminal_component(&plain, &open)?;
        let states = component.exists(&product.automaton_cube)?;
        for demands in &cases {
            let part = without(demands)?;
            let mut region = reachable.and(&states)?;
            loop {
                let nodes = hull::hull(&part, &region, demands)?;
                if nodes.is_false() {
                    break;
                }
                let candidate = terminal_component(&part, &nodes)?;
                if part.takes_all_steps(&candidate)? {
                    return covering(&part, demands, &candidate, reachable).map(Some);
                }
                region = nodes.minus(&candidate)?;
            }
        }
        open = open.minus(&plain.reaching(&component, &open)?)?;
    }
    Ok(None)
}

/// A lasso whose loop takes every step of a component.
fn covering(
    graph: &Graph<'_, '_, '_>,
    demands: &Demands,
    component: &Bdd,
    reachable: &Bdd,
) -> Result<(Trace, Option<ComponentSize>), Halt> {
    let product = graph.product;
    let whole = Graph::new(product)?;
    let stem = rings(&whole, component, &product.initial, reachable)?;
    let outermost = stem.last().expect("there is one").and(&product.initial)?;
    let start = product.pick(&outermost).expect("the last ring has a start");
    let mut walk = Walk::new(product, start);
    walk.inwards(&stem, &[]);

    let map = Map::new(product, demands, component, walk.node().clone())?;
    let mut tour = Tour {
        map: &map,
        open: map.all_steps(),
        missing: demands.always.iter().collect(),
        here: 0,
    };

    // Where the left side of a pair occurs in the component, its right side must be taken.
    for (enabled, taken) in &demands.streett {
        let has = |edge: &(Edge, usize, usize)| edge.0.marks[enabled.index()];
        if map.edges.iter().flatten().any(has) {
            tour.missing.push(taken);
        }
    }

    let n_states = map.states.len();
    let size = ComponentSize {
        n_states,
        n_steps: tour.open.len(),
    };
    let loop_start = walk.n_steps();
    while !tour.is_done() {
        for edge in tour.next(false) {
            walk.take_edge(edge);
        }
    }
    for edge in tour.next(true) {
        walk.take_edge(edge);
    }
    Ok((walk.finish_loop(loop_start), Some(size)))
}

/// A component, node by node.
struct Map {
    /// By node: its edges inside, with the numbers of their targets and of the steps of the system.
    edges: Vec<Vec<(Edge, usize, usize)>>,
    /// The states of the system.
    states: FxHashSet<model::State>,
}

impl Map {
    fn new(
        product: &Product<'_, '_>,
        demands: &Demands,
        component: &Bdd,
        start: Node,
    ) -> Result<Self, Halt> {
        let mut map = Self {
            edges: Vec::new(),
            states: FxHashSet::default(),
        };
        let mut nodes = vec![start.clone()];
        let mut number_by_node = FxHashMap::from_iter([(start, 0)]);
        let mut number_by_step = FxHashMap::default();

        // Nodes are listed in the order of discovery; those that have edges are a prefix of them.
        while map.edges.len() < nodes.len() {
            component.manager().poll()?;
            if nodes.len() > MAX_SHOWN {
                return Err(Halt::Unsupported(format!(
                    "a closed component has more than {MAX_SHOWN} nodes; use the route `explicit`"
                )));
            }

            let node = nodes[map.edges.len()].clone();

            map.states.insert(node.state.clone());

            let mut inside = Vec::new();
            for edge in product.edges(&node) {
                let is_avoided = demands.never.iter().any(|mark| edge.marks[mark.index()]);
                if is_avoided || !product.contains(component, &edge.target) {
                    continue;
                }
                let next = nodes.len();
                let target = *number_by_node
                    .entry(edge.target.clone())
                    .or_insert_with(|| {
                        nodes.push(edge.target.clone());
                        next
                    });
                let next = number_by_step.len();
                let key = (
                    node.state.clone(),
                    edge.step_key(),
                    edge.target.state.clone(),
                );
                let step = *number_by_step.entry(key).or_insert(next);
                inside.push((edge, target, step));
            }

            map.edges.push(inside);
        }

        Ok(map)
    }

    fn all_steps(&self) -> FxHashSet<usize> {
        self.edges.iter().flatten().map(|edge| edge.2).collect()
    }
}

/// A way around a component.
struct Tour<'a> {
    map: &'a Map,
    /// Steps that were not taken yet, and marks that were not seen.
    open: FxHashSet<usize>,
    missing: Vec<&'a Vec<MarkId>>,
    here: usize,
}

impl<'a> Tour<'a> {
    fn is_done(&self) -> bool {
        self.open.is_empty() && self.missing.is_empty()
    }

    /// The shortest way to an edge that is still needed, or back to the start.
    fn next(&mut self, home: bool) -> Vec<&'a Edge> {
        let map = self.map;
        let mut from: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        let mut queue = VecDeque::from([self.here]);
        let mut found = None;
        if home && self.here == 0 {
            return Vec::new();
        }
        'search: while let Some(node) = queue.pop_front() {
            for (number, (edge, target, step)) in map.edges[node].iter().enumerate() {
                let has = |marks: &&Vec<MarkId>| marks.iter().any(|mark| edge.marks[mark.index()]);
                let is_needed = if home {
                    *target == 0
                } else {
                    self.open.contains(step) || self.missing.iter().any(has)
                };
                if is_needed {
                    found = Some((node, number));
                    break 'search;
                }
                if *target != self.here && !from.contains_key(target) {
                    from.insert(*target, (node, number));
                    queue.push_back(*target);
                }
            }
        }

        let (mut node, number) = found.expect("the component is strongly connected");
        let mut way = vec![(node, number)];
        while node != self.here {
            let before = from[&node];
            way.push(before);
            node = before.0;
        }
        way.reverse();

        let mut edges = Vec::new();
        for (node, number) in way {
            let (edge, target, step) = &map.edges[node][number];
            self.open.remove(step);
            let has = |marks: &&Vec<MarkId>| marks.iter().any(|mark| edge.marks[mark.index()]);
            self.missing.retain(|marks| !has(marks));
            self.here = *target;
            edges.push(edge);
        }
        edges
    }
}

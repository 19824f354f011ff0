//! The naive definition of a fair cycle: try every set of edges.
//!
//! Nothing here is shared with the search. Graphs are so small that sets of nodes and edges are
//! single words.

#![allow(
    dead_code,
    reason = "each of two test programs uses its own part of the oracle"
)]

use std::convert::Infallible;

use omega::{
    Acceptance, Closure, Component, EdgeBuffer, ExplicitGraph, FairCycleSearch, Graph, Lasso,
    LassoStep, MarkId, MarkSets, NodeId, RecordWriter, StoredGraph, find_fair_cycle,
    find_fair_cycle_stored,
};

/// A small product-like graph. Marks are numbered densely here; `spread` gives the numbers that the
/// search sees, so that mark sets of several words are covered too.
#[derive(Clone, Debug)]
pub struct Case {
    pub n_nodes: usize,
    pub initial: Vec<usize>,
    pub edges: Vec<Arrow>,
    pub origins: Vec<u32>,
    /// By origin.
    pub n_steps: Vec<u32>,
    pub spread: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
pub struct Arrow {
    pub source: usize,
    pub step: u32,
    pub target: usize,
    pub marks: u64,
}

impl Case {
    pub fn graph(&self) -> ExplicitGraph {
        let n_marks = self
            .spread
            .iter()
            .max()
            .map_or(0, |&mark| mark as usize + 1);
        let mut graph = ExplicitGraph::new(self.n_nodes, n_marks);
        for &node in &self.initial {
            graph.add_initial(NodeId::new(node));
        }
        for arrow in &self.edges {
            let (source, target) = (NodeId::new(arrow.source), NodeId::new(arrow.target));
            graph.add_edge(source, arrow.step, target, &self.mark_ids(arrow.marks));
        }
        for node in 0..self.n_nodes {
            let origin = self.origins[node];
            graph.set_origin(NodeId::new(node), origin, self.n_steps[origin as usize]);
        }
        graph
    }

    pub fn mark_ids(&self, marks: u64) -> Vec<MarkId> {
        let carried = (0..self.spread.len()).filter(|mark| marks >> mark & 1 == 1);
        carried.map(|mark| MarkId(self.spread[mark])).collect()
    }

    pub fn words(&self, marks: u64) -> Vec<u64> {
        let n_marks = self
            .spread
            .iter()
            .max()
            .map_or(0, |&mark| mark as usize + 1);
        let mut words = vec![0; base::bits::words_for(n_marks)];
        for mark in self.mark_ids(marks) {
            base::bits::set(&mut words, mark.index());
        }
        words
    }

    /// The union of the marks of a set of edges.
    pub fn union(&self, set: u64) -> u64 {
        self.select(set).fold(0, |marks, arrow| marks | arrow.marks)
    }

    fn select(&self, set: u64) -> impl Iterator<Item = &Arrow> {
        let chosen = move |&(edge, _): &(usize, &Arrow)| set >> edge & 1 == 1;
        self.edges
            .iter()
            .enumerate()
            .filter(chosen)
            .map(|(_, arrow)| arrow)
    }

    /// All nodes that can be reached from `from` by edges of the set, as a bit set.
    fn closure(&self, from: u64, set: u64, backwards: bool) -> u64 {
        let mut reached = from;
        loop {
            let before = reached;
            for arrow in self.select(set) {
                let (a, b) = if backwards {
                    (arrow.target, arrow.source)
                } else {
                    (arrow.source, arrow.target)
                };
                if reached >> a & 1 == 1 {
                    reached |= 1 << b;
                }
            }
            if reached == before {
                return reached;
            }
        }
    }

    fn ends(&self, set: u64) -> u64 {
        self.select(set).fold(0, |nodes, arrow| {
            nodes | 1 << arrow.source | 1 << arrow.target
        })
    }

    /// Non-empty, and each end of an edge reaches each other one by edges of the set.
    pub fn is_strongly_connected(&self, set: u64) -> bool {
        let nodes = self.ends(set);
        let one = nodes & nodes.wrapping_neg();
        set != 0 && self.closure(one, set, false) == nodes && self.closure(one, set, true) == nodes
    }

    fn is_reachable(&self, set: u64) -> bool {
        let initial = self
            .initial
            .iter()
            .fold(0, |nodes, &node| nodes | 1 << node);
        let reached = self.closure(initial, u64::MAX >> (64 - self.edges.len().max(1)), false);
        self.ends(set) & !reached == 0
    }

    /// Does the set take every step of every system state that it visits?
    pub fn is_closed(&self, set: u64) -> bool {
        self.select(set).all(|visit| {
            let origin = self.origins[visit.source];
            (0..self.n_steps[origin as usize]).all(|step| {
                self.select(set)
                    .any(|arrow| self.origins[arrow.source] == origin && arrow.step == step)
            })
        })
    }

    /// Every set of edges that a run may take infinitely often.
    pub fn recurrent_sets(&self, closure: Closure) -> Vec<u64> {
        (1..1_u64 << self.edges.len())
            .filter(|&set| self.is_strongly_connected(set) && self.is_reachable(set))
            .filter(|&set| closure == Closure::None || self.is_closed(set))
            .collect()
    }

    /// The edges of a component that the search returned.
    pub fn edges_of(&self, component: &Component) -> u64 {
        let inside = |node| component.nodes.contains(&NodeId::new(node));
        let belongs = |arrow: &Arrow| {
            inside(arrow.source)
                && inside(arrow.target)
                && component.allows(&self.words(arrow.marks))
        };
        (0..self.edges.len())
            .filter(|&edge| belongs(&self.edges[edge]))
            .fold(0, |set, edge| set | 1 << edge)
    }

    /// Runs the search and compares it with the definition. Returns what was found.
    pub fn check(
        &self,
        acceptance: &Acceptance,
        closure: Closure,
        sets: &[u64],
    ) -> Option<Component> {
        let expected = sets
            .iter()
            .any(|&set| acceptance.accepts(&self.words(self.union(set))));
        let FairCycleSearch { result, stats, .. } =
            find_fair_cycle(&mut self.graph(), acceptance, closure, &mut |_| Ok(()));
        let Ok::<_, Infallible>(found) = result;
        assert_eq!(
            found.is_some(),
            expected,
            "{self:?} {acceptance:?} {closure:?}"
        );
        assert!(stats.n_nodes <= self.n_nodes as u64 && stats.n_edges <= self.edges.len() as u64);
        if let Some(component) = &found {
            self.check_component(component, acceptance, closure);
        }
        self.check_stored(acceptance, closure, expected);
        found
    }

    /// The same with edges that have been stored.
    fn check_stored(&self, acceptance: &Acceptance, closure: Closure, expected: bool) {
        for keeps_steps in [true, false] {
            if !keeps_steps && closure == Closure::OnSystem {
                continue;
            }
            let stored = Stored::new(&mut self.graph(), self.n_nodes, keeps_steps);
            let Ok(found) = find_fair_cycle_stored(&stored, acceptance, closure);
            assert_eq!(
                found.is_some(),
                expected,
                "stored: {self:?} {acceptance:?} {closure:?}"
            );
            if let Some(component) = &found {
                self.check_component(component, acceptance, closure);
            }
        }
    }

    fn check_component(&self, component: &Component, acceptance: &Acceptance, closure: Closure) {
        let set = self.edges_of(component);
        let nodes = component
            .nodes
            .iter()
            .fold(0, |nodes, node| nodes | 1 << node.index());
        let context = format!("{self:?} {acceptance:?} {component:?}");
        assert!(self.is_strongly_connected(set), "not connected: {context}");
        assert_eq!(self.ends(set), nodes, "foreign nodes: {context}");
        assert!(self.is_reachable(set), "not reachable: {context}");
        assert_eq!(
            self.words(self.union(set)),
            component.marks,
            "wrong marks: {context}"
        );
        assert!(
            acceptance.accepts(&component.marks),
            "not accepted: {context}"
        );
        assert!(
            closure == Closure::None || self.is_closed(set),
            "not closed: {context}"
        );
    }

    /// Is the lasso one of this graph, inside the component, and accepted?
    pub fn check_lasso(
        &self,
        lasso: &Lasso,
        component: &Component,
        acceptance: &Acceptance,
    ) -> u64 {
        let context = format!("{self:?} {acceptance:?} {component:?} {lasso:?}");
        let steps: Vec<&LassoStep> = lasso.stem.iter().chain(&lasso.cycle).collect();
        assert!(!lasso.cycle.is_empty(), "no cycle: {context}");
        assert!(
            self.initial.contains(&steps[0].source.index()),
            "no start: {context}"
        );
        for pair in steps.windows(2) {
            assert_eq!(pair[0].target, pair[1].source, "gap: {context}");
        }
        assert_eq!(
            lasso.cycle[0].source,
            lasso.cycle[lasso.cycle.len() - 1].target,
            "{context}"
        );

        let inside = self.edges_of(component);
        let mut taken = 0;
        for (place, step) in steps.iter().enumerate() {
            let edge = self.edge_at(step);
            if place >= lasso.stem.len() {
                assert!(inside >> edge & 1 == 1, "cycle leaves component: {context}");
                taken |= 1 << edge;
            }
        }

        assert!(
            acceptance.accepts(&self.words(self.union(taken))),
            "not accepted: {context}"
        );
        taken
    }

    fn edge_at(&self, step: &LassoStep) -> usize {
        let leaving = |&edge: &usize| self.edges[edge].source == step.source.index();
        let edge = (0..self.edges.len())
            .filter(leaving)
            .nth(step.position as usize)
            .expect("no such edge");
        assert_eq!(self.edges[edge].target, step.target.index());
        edge
    }
}

/// The reachable part of a graph, edge by edge.
pub struct Stored {
    records: Vec<Vec<u8>>,
    origins: Vec<u32>,
    keeps_steps: bool,
    source_sets: MarkSets,
    edge_sets: MarkSets,
}

impl Stored {
    /// Every node has a set of its own, and so has every edge.
    pub fn new<G: Graph<Stop = Infallible>>(
        graph: &mut G,
        n_nodes: usize,
        keeps_steps: bool,
    ) -> Self {
        let n_words = graph.n_mark_words();
        let mut stored = Self {
            records: vec![Vec::new(); n_nodes],
            origins: (0..n_nodes)
                .map(|node| graph.origin(NodeId::new(node)))
                .collect(),
            keeps_steps,
            source_sets: MarkSets::new(n_words),
            edge_sets: MarkSets::new(n_words),
        };
        let mut writer = RecordWriter::new(keeps_steps);
        let mut is_known = vec![false; n_nodes];
        let (mut waiting, mut n_sources, mut n_edges) = (Vec::new(), 0, 0);
        let Ok(()) = graph.initial(&mut waiting);
        while let Some(node) = waiting.pop() {
            if std::mem::replace(&mut is_known[node.index()], true) {
                continue;
            }
            let mut edges = EdgeBuffer::new(n_words);
            let Ok(()) = graph.successors(node, &mut edges);
            let Ok(n_steps) = graph.n_steps(node);
            if edges.is_empty() {
                continue;
            }

            // What all edges have in common belongs to the source; others may repeat it or not.
            let mut common = edges.marks(0).to_vec();
            for edge in 1..edges.len() {
                let marks = edges.marks(edge);
                common.iter_mut().zip(marks).for_each(|(c, m)| *c &= m);
            }
            stored.source_sets.push(&common);
            writer.begin(node);
            for edge in 0..edges.len() {
                let mut marks = edges.marks(edge).to_vec();
                if n_edges % 2 == 0 {
                    marks.iter_mut().zip(&common).for_each(|(m, c)| *m &= !c);
                }
                stored.edge_sets.push(&marks);
                writer.push(edges.target(edge), edges.step(edge), n_edges);
                waiting.push(edges.target(edge));
                n_edges += 1;
            }
            let record = &mut stored.records[node.index()];
            writer.finish(n_sources, n_steps, record);
            record.extend([0xFF; RecordWriter::PADDING]);
            n_sources += 1;
        }
        stored
    }
}

impl StoredGraph for Stored {
    type Stop = Infallible;

    fn n_nodes(&self) -> usize {
        self.records.len()
    }

    fn record(&self, node: NodeId) -> Option<u32> {
        let has_record = !self.records[node.index()].is_empty();
        has_record.then_some(node.0)
    }

    fn bytes(&self, place: u32) -> &[u8] {
        &self.records[place as usize]
    }

    fn keeps_steps(&self) -> bool {
        self.keeps_steps
    }

    fn source_sets(&self) -> &MarkSets {
        &self.source_sets
    }

    fn edge_sets(&self) -> &MarkSets {
        &self.edge_sets
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.origins[node.index()]
    }

    fn check_limits(&self, _bytes: usize) -> Result<(), Infallible> {
        Ok(())
    }

    fn out_of_numbers(&self) -> Infallible {
        unreachable!("the graph is small")
    }
}

/// Pseudo-random numbers (xorshift64*), the same on every machine.
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 16
    }

    pub fn below(&mut self, limit: usize) -> usize {
        (self.next() % limit as u64) as usize
    }

    /// A set of marks; each is in it with probability `eighths / 8`.
    pub fn marks(&mut self, n_marks: usize, eighths: usize) -> u64 {
        (0..n_marks)
            .filter(|_| self.below(8) < eighths)
            .fold(0, |marks, mark| marks | 1 << mark)
    }

    /// A formula over the given marks, without the simplifications of the constructors.
    pub fn acceptance(&mut self, marks: &[u32], depth: usize) -> Acceptance {
        let kind = if depth == 0 {
            self.below(4)
        } else {
            self.below(14)
        };

        match kind {
            0 if self.below(4) == 0 => Acceptance::True,
            1 if self.below(4) == 0 => Acceptance::False,
            0 | 1 | 4 => Acceptance::Inf(MarkId(marks[self.below(marks.len())])),
            2 | 3 | 5 => Acceptance::Fin(MarkId(marks[self.below(marks.len())])),
            kind => {
                let n_parts = self.below(4) + usize::from(self.below(8) != 0);
                let parts = (0..n_parts)
                    .map(|_| self.acceptance(marks, depth - 1))
                    .collect();
                if kind < 10 {
                    Acceptance::And(parts)
                } else {
                    Acceptance::Or(parts)
                }
            }
        }
    }

    /// A conjunction of Streett pairs or a disjunction of Rabin pairs over the marks.
    pub fn pairs(&mut self, marks: &[u32]) -> Acceptance {
        let mark = |random: &mut Self| MarkId(marks[random.below(marks.len())]);
        let drawn: Vec<_> = (0..=self.below(3))
            .map(|_| (mark(self), mark(self)))
            .collect();
        if self.below(2) == 0 {
            Acceptance::all(
                drawn
                    .into_iter()
                    .map(|(a, b)| Acceptance::streett_pair(a, b)),
            )
        } else {
            Acceptance::any(drawn.into_iter().map(|(a, b)| Acceptance::rabin_pair(a, b)))
        }
    }
}

/// The formula in disjunctive normal form whose value for the set of marks `s` is bit `s` of
/// `table`.
pub fn disjunctive(table: u16, n_marks: usize) -> Acceptance {
    let rows = (0..1 << n_marks).filter(|row| table >> row & 1 == 1);
    Acceptance::Or(
        rows.map(|row| Acceptance::And(literals(row, n_marks)))
            .collect(),
    )
}

/// The same function in conjunctive normal form.
pub fn conjunctive(table: u16, n_marks: usize) -> Acceptance {
    let rows = (0..1 << n_marks).filter(|row| table >> row & 1 == 0);
    let flipped = |row: usize| literals(!row, n_marks);
    Acceptance::And(rows.map(|row| Acceptance::Or(flipped(row))).collect())
}

fn literals(row: usize, n_marks: usize) -> Vec<Acceptance> {
    let literal = |mark: usize| match row >> mark & 1 {
        1 => Acceptance::Inf(MarkId::new(mark)),
        _ => Acceptance::Fin(MarkId::new(mark)),
    };
    (0..n_marks).map(literal).collect()
}

//! The loops of a system that a property forbids, and which of them are fair.
//!
//! The product of the state graph and the automaton of forbidden runs is searched once for its
//! maximal components in which the automaton can accept. Whatever conditions are added, a forbidden
//! fair run ends in one of these, so they alone are kept, with the marks of all conditions, and
//! searched again for each set of conditions.

use std::rc::Rc;

use base::{AtomId, Budget, StopReason};
use engine::StateGraph;
use evidence::{ComponentSize, StepPool, Trace, Violation, ViolationKind};
use logic::{Ltl, Property};
use model::Assumption;
use omega::{
    Acceptance, Automaton, Closure, Component, EdgeBuffer, Graph, Lasso, MarkId, NodeId, Stems,
};
use rustc_hash::{FxHashMap, FxHashSet};

use super::Survey;
use crate::branching::{Frame, NodeSet, Product};
use crate::fairness::{assumed, assuming};

/// All runs of the graph count; which of them are fair is judged afterwards.
impl Frame for StateGraph {
    fn n_nodes(&self) -> usize {
        self.n_nodes()
    }

    fn targets(&self, node: u32) -> &[u32] {
        self.targets(node)
    }

    fn n_mark_words(&self) -> usize {
        self.n_mark_words()
    }

    fn marks(&self, node: u32, step: usize, out: &mut [u64]) {
        self.step_marks(node, step, out);
    }

    fn origin(&self, node: u32) -> u32 {
        self.state_number(node)
    }

    fn always_continues(&self) -> bool {
        true
    }
}

/// The graph without the marks of conditions.
struct Unmarked<'g>(&'g StateGraph);

impl Frame for Unmarked<'_> {
    fn n_nodes(&self) -> usize {
        self.0.n_nodes()
    }

    fn targets(&self, node: u32) -> &[u32] {
        self.0.targets(node)
    }

    fn origin(&self, node: u32) -> u32 {
        self.0.state_number(node)
    }

    fn always_continues(&self) -> bool {
        true
    }
}

/// The forbidden loops of a system.
pub(crate) struct BadLoops<'s, 'a, 'm> {
    survey: &'s Survey<'a, 'm>,
    product: Product<'s, StateGraph>,
    /// What the automaton demands, and what the model assumes anyway.
    own: Acceptance,
    /// What each further assumption demands.
    pub(crate) offered: Vec<Acceptance>,
    loops: LoopGraph,
    /// Ways to the loops.
    stems: Stems,
}

impl<'s, 'a, 'm> BadLoops<'s, 'a, 'm> {
    /// Finds the loops that the automaton of forbidden runs accepts, under the assumptions of the
    /// model. `offered` are further assumptions that may be demanded.
    pub(crate) fn new(
        survey: &'s Survey<'a, 'm>,
        forbidden: Automaton,
        offered: &[Assumption],
    ) -> Result<Self, StopReason> {
        let graph = &survey.graph;
        let mut automaton = assuming(forbidden, &survey.check.model.parts().assumptions);
        let first = graph.n_mark_words();
        let offered: Vec<Acceptance> = offered
            .iter()
            .map(|assumption| assumed(&mut automaton, assumption))
            .map(|demand| demand.map_marks(&mut |mark| MarkId::new(first * 64 + mark.index())))
            .collect();

        let columns: FxHashMap<AtomId, Rc<NodeSet>> = survey
            .atoms
            .iter()
            .map(|&atom| {
                let set = NodeSet::those(graph.n_nodes(), graph.holding(atom));
                (atom, Rc::new(set))
            })
            .collect();
        let column = |atom: AtomId| Rc::clone(&columns[&atom]);
        let roots = 0..graph.n_initial() as u32;
        let budget = survey.check.budget;

        // Which components these are does not depend on conditions, so their marks are left out.
        let mut components = Vec::new();
        if automaton.n_states() > 0 {
            let unmarked = Unmarked(graph);
            let mut product = Product::new(&unmarked, &automaton, &column, roots.clone(), budget)?;
            let own = product.acceptance.clone();
            components = omega::promising_components(&mut product, &own)?;
        }

        let mut product = Product::new(graph, &automaton, &column, roots, budget)?;
        let own = product.acceptance.clone();
        let loops = LoopGraph::new(&mut product, &components, budget)?;
        Ok(Self {
            survey,
            product,
            own,
            offered,
            loops,
            stems: Stems::default(),
        })
    }

    /// A forbidden loop that is fair, as a part of the product.
    pub(crate) fn find(
        &mut self,
        fairness: &Acceptance,
        closure: Closure,
    ) -> Result<Option<Component>, StopReason> {
        let acceptance = Acceptance::all([self.own.clone(), fairness.clone()]);
        let mut observe = |_: &omega::SearchStats| Ok(());
        let search = omega::find_fair_cycle(&mut self.loops, &acceptance, closure, &mut observe);
        let found = search.result?;
        Ok(found.map(|inner| Component {
            nodes: inner
                .nodes
                .iter()
                .map(|n| self.loops.nodes[n.index()])
                .collect(),
            marks: inner.marks,
        }))
    }

    /// The nodes of the graph at which a forbidden fair run starts, if the automaton has one state
    /// that reads everything: the nodes that start a fair run at all.
    pub(crate) fn starts(
        &mut self,
        fairness: &Acceptance,
        closure: Closure,
    ) -> Result<NodeSet, StopReason> {
        let acceptance = Acceptance::all([self.own.clone(), fairness.clone()]);
        let n_product = self.product.n_nodes();
        let fair = omega::fair_nodes(&mut self.product, n_product, &acceptance, closure)?;
        let n_nodes = self.survey.graph.n_nodes();
        Ok(NodeSet::those(n_nodes, |node| {
            let mut copies = self.product.starts_at(node);
            copies.any(|id| base::bits::get(&fair, id.index()))
        }))
    }

    /// Runs that show a forbidden fair loop.
    pub(crate) fn violation(
        &mut self,
        component: &Component,
        fairness: &Acceptance,
        closure: Closure,
    ) -> Result<Violation, StopReason> {
        let acceptance = Acceptance::all([self.own.clone(), fairness.clone()]);
        let product = &mut self.product;
        let lasso = omega::shortest_lasso_after(&mut self.stems, product, component, &acceptance)?;
        let (mut covering, mut size) = (None, None);
        if closure == Closure::OnSystem {
            let lasso = omega::covering_lasso(&mut self.product, component, &acceptance)?;
            covering = Some(self.trace(&lasso)?);
            size = Some(self.size(component));
        }
        Ok(Violation {
            kind: ViolationKind::FairLoop,
            trace: Some(self.trace(&lasso)?),
            covering,
            component: size,
        })
    }

    /// How much of the system a part of the product visits.
    pub(crate) fn size(&self, component: &Component) -> ComponentSize {
        let graph = &self.survey.graph;
        let mut states = FxHashSet::default();
        let mut n_steps = 0;
        for &node in &component.nodes {
            let node = self.product.node(node);
            if states.insert(graph.state_number(node)) {
                n_steps += graph.targets(node).len();
            }
        }
        ComponentSize {
            n_states: states.len(),
            n_steps,
        }
    }

    fn trace(&mut self, lasso: &Lasso) -> Result<Trace, StopReason> {
        let (graph, system) = (&self.survey.graph, &self.survey.check.system);
        let mut trace = Trace {
            states: Vec::new(),
            steps: Vec::new(),
            loop_start: Some(lasso.stem.len()),
        };
        let mut pool = StepPool::default();
        let mut edges = EdgeBuffer::new(self.product.n_mark_words());
        for step in lasso.stem.iter().chain(&lasso.cycle) {
            edges.truncate(0);
            self.product.successors(step.source, &mut edges)?;
            let node = self.product.node(step.source);
            let number = edges.step(step.position as usize) as usize;
            trace.states.push(graph.state(system, node));
            trace
                .steps
                .push(pool.share(graph.trace_step(system, node, number)));
        }
        Ok(trace)
    }
}

/// The automaton of the runs that a property forbids; nothing if the property is not about single
/// runs, else why there is no automaton.
pub(crate) fn forbidden_runs(property: &Property) -> Option<Result<Automaton, String>> {
    let negated = |formula: Ltl| {
        let automaton = logic::translate(&Ltl::not(formula));
        Some(automaton.map_err(|error| error.to_string()))
    };
    match property {
        Property::Ltl(formula) => negated(formula.clone()),
        Property::Invariant(formula) => negated(Ltl::always(formula.clone())),
        Property::Never(claim) => Some(Ok(claim.automaton())),
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::MayMust(_) => None,
    }
}

/// Some components of a product, written out.
struct LoopGraph {
    budget: Budget,
    n_expansions: u64,
    n_mark_words: usize,
    /// The node of the product that each node stands for.
    nodes: Vec<NodeId>,
    origins: Vec<u32>,
    n_steps: Vec<u32>,
    /// The first node of each component.
    initial: Vec<NodeId>,
    /// The edges of node `n` are `first_edge[n]..first_edge[n + 1]`.
    first_edge: Vec<usize>,
    targets: Vec<NodeId>,
    steps: Vec<u32>,
    marks: Vec<u64>,
}

impl LoopGraph {
    fn new(
        product: &mut Product<'_, StateGraph>,
        components: &[Component],
        budget: &Budget,
    ) -> Result<Self, StopReason> {
        let n_mark_words = product.n_mark_words();
        let mut graph = Self {
            budget: budget.clone(),
            n_expansions: 0,
            n_mark_words,
            nodes: Vec::new(),
            origins: Vec::new(),
            n_steps: Vec::new(),
            initial: Vec::new(),
            first_edge: vec![0],
            targets: Vec::new(),
            steps: Vec::new(),
            marks: Vec::new(),
        };

        let mut edges = EdgeBuffer::new(n_mark_words);
        let mut number_by_node = vec![u32::MAX; product.n_nodes()];
        for component in components {
            let first = graph.nodes.len();
            graph.initial.push(NodeId::new(first));
            graph.nodes.extend_from_slice(&component.nodes);
            let end = first + component.nodes.len();
            for (number, node) in (first..end).zip(&component.nodes) {
                number_by_node[node.index()] = number as u32;
            }

            for &node in &component.nodes {
                edges.truncate(0);
                product.successors(node, &mut edges)?;
                graph.origins.push(product.origin(node));
                graph.n_steps.push(product.n_steps(node)?);
                for edge in 0..edges.len() {
                    // What leaves a component is not on a loop.
                    let target = number_by_node[edges.target(edge).index()] as usize;
                    if (first..end).contains(&target) {
                        graph.targets.push(NodeId::new(target));
                        graph.steps.push(edges.step(edge));
                        graph.marks.extend_from_slice(edges.marks(edge));
                    }
                }
                graph.first_edge.push(graph.targets.len());
            }
            budget.check(0, graph.memory())?;
        }

        Ok(graph)
    }

    fn memory(&self) -> u64 {
        let words = self.marks.capacity() + self.first_edge.capacity();
        let halves = 3 * self.nodes.capacity() + 2 * self.targets.capacity();
        (words * 8 + halves * 4) as u64
    }
}

impl Graph for LoopGraph {
    type Stop = StopReason;

    fn n_mark_words(&self) -> usize {
        self.n_mark_words
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), StopReason> {
        out.extend_from_slice(&self.initial);
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), StopReason> {
        self.n_expansions += 1;
        if self.n_expansions.is_multiple_of(1024) {
            self.budget.check(0, self.memory())?;
        }
        for edge in self.first_edge[node.index()]..self.first_edge[node.index() + 1] {
            let marks = &self.marks[edge * self.n_mark_words..][..self.n_mark_words];
            out.push(self.targets[edge], self.steps[edge], marks);
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.origins[node.index()]
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, StopReason> {
        Ok(self.n_steps[node.index()])
    }

    fn out_of_numbers(&self) -> StopReason {
        StopReason::StateLimit
    }
}

/// Does a set of marks satisfy a demand?
pub(crate) fn meets(component: &Component, demand: &Acceptance) -> bool {
    demand.accepts(&component.marks)
}

//! Runs out of sets of nodes.
//!
//! Fixpoints say that a run exists; it is made by the reference semantics, step by step, which the
//! sets only lead: from every node some step leads to a node that is nearer to the goal. So what is
//! handed over as evidence never contains a step that only relations over bits have.

use std::sync::Arc;

use evidence::{StepPool, Trace, TraceStep};
use model::{ActionId, ConditionKind, InstanceId, Model, State, Subject, Successor};
use omega::MarkId;

use crate::bdd::{Bdd, Halt};
use crate::graph::Graph;
use crate::hull::{Demands, sources};
use crate::product::{Meaning, Product};

/// A state with the state of the automaton.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Node {
    pub(crate) state: State,
    pub(crate) automaton: usize,
}

/// An edge from a node, and which marks it carries.
pub(crate) struct Edge {
    step: TraceStep,
    pub(crate) target: Node,
    pub(crate) marks: Vec<bool>,
}

impl Edge {
    /// What tells the step from others between the same states.
    pub(crate) fn step_key(&self) -> (Vec<ActionId>, Vec<InstanceId>) {
        (self.step.actions.clone(), self.step.movers.clone())
    }
}

/// A run in the making.
pub(crate) struct Walk<'a, 'p, 'm> {
    product: &'a Product<'p, 'm>,
    pool: StepPool,
    states: Vec<State>,
    steps: Vec<Arc<TraceStep>>,
    node: Node,
    /// The marks of edges since the loop began.
    seen: Vec<bool>,
}

impl Product<'_, '_> {
    fn model(&self) -> &Model {
        self.system.encoding.model
    }

    /// Some node of a set.
    pub(crate) fn pick(&self, nodes: &Bdd) -> Option<Node> {
        let point = nodes.first_point()?;
        let (state, automaton) = self.system.encoding.decode(&point);
        Some(Node { state, automaton })
    }

    pub(crate) fn contains(&self, nodes: &Bdd, node: &Node) -> bool {
        let point = self.system.encoding.point(&node.state, node.automaton);
        point.is_some_and(|point| nodes.value(|var| point[var as usize]))
    }

    /// The set of one node.
    fn only(&self, node: &Node) -> Result<Bdd, Halt> {
        let encoding = &self.system.encoding;
        let point = encoding.point(&node.state, node.automaton);
        let point = point.expect("all values are known");
        let bits = encoding.automaton_bits.iter().chain(&encoding.state_bits);
        let literals: Vec<(u32, bool)> = bits.map(|&bit| (bit, point[bit as usize])).collect();
        encoding.manager.literals(&literals)
    }

    /// The edges that leave a node, by the reference semantics.
    pub(crate) fn edges(&self, node: &Node) -> Vec<Edge> {
        let model = self.model();
        let steps = model
            .steps_or_idle(&node.state)
            .expect("states in which the reference semantics fails are known");

        let mut edges = Vec::new();
        for step in &steps {
            let letter: Vec<bool> = self.letter(step);
            let holds = |atom: base::AtomId| {
                let position = self.query.atoms.binary_search(&atom);
                letter[position.expect("the question lists all atoms")]
            };

            let automaton = self.query.automaton;
            let of_letter = automaton
                .letter_marks
                .iter()
                .filter(|l| l.when.holds(&holds));
            let of_letter: Vec<MarkId> = of_letter.map(|l| l.mark).collect();

            for edge in &automaton.edges[node.automaton] {
                if edge.guard.contains(&holds) {
                    let own: Vec<MarkId> = [&edge.marks[..], &of_letter].concat();
                    edges.push(Edge {
                        step: TraceStep::from(step),
                        target: Node {
                            state: step.target.clone(),
                            automaton: edge.target.index(),
                        },
                        marks: self.marks_of(&node.state, &steps, step, &own),
                    });
                }
            }
        }

        edges
    }

    fn letter(&self, step: &Successor) -> Vec<bool> {
        let holds = |atom: &base::AtomId| {
            self.model()
                .atom_holds_after(*atom, &step.target, &step.commands, &step.timers_set)
                .unwrap_or(false)
        };
        self.query.atoms.iter().map(holds).collect()
    }

    fn marks_of(
        &self,
        state: &State,
        steps: &[Successor],
        step: &Successor,
        own: &[MarkId],
    ) -> Vec<bool> {
        let is_free = self.model().in_control(state).is_none();
        let subject = |condition: usize| &self.query.conditions[condition].subject;
        let is_taken = |condition: usize| takes(subject(condition), step);
        let is_enabled = |condition: usize| {
            let subject = subject(condition);
            steps.iter().any(|step| takes(subject, step))
        };

        let holds = |meaning: Meaning| match meaning {
            Meaning::Weak { condition, free } => {
                debug_assert!(self.query.conditions[condition].kind == ConditionKind::Weak);
                is_taken(condition) || (is_free || !free) && !is_enabled(condition)
            }
            Meaning::Enabled(condition) => is_enabled(condition),
            Meaning::Taken(condition) => is_taken(condition),
            Meaning::Free => is_free,
            Meaning::Automaton(mark) => own.contains(&mark),
        };

        self.marks.iter().map(|mark| holds(mark.meaning)).collect()
    }
}

fn takes(subject: &Subject, step: &Successor) -> bool {
    match subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(_) | Subject::Team(_) => false,
    }
}

/// Sets of nodes from which the first one is 0, 1, 2, … edges away, up to one that has a node in common
/// with the start.
pub(crate) fn rings(
    graph: &Graph<'_, '_, '_>,
    goal: &Bdd,
    start: &Bdd,
    region: &Bdd,
) -> Result<Vec<Bdd>, Halt> {
    let mut rings = vec![goal.clone()];
    let mut seen = goal.clone();
    loop {
        let last = rings.last().expect("there is one");
        if !last.is_disjoint(start)? {
            return Ok(rings);
        }
        let next = graph.before(last)?.and(region)?.minus(&seen)?;
        assert!(!next.is_false(), "the goal can be reached from the start");
        seen = seen.or(&next)?;
        rings.push(next);
    }
}

impl<'a, 'p, 'm> Walk<'a, 'p, 'm> {
    /// A run that consists of one state.
    pub(crate) fn new(product: &'a Product<'p, 'm>, start: Node) -> Self {
        Self {
            product,
            pool: StepPool::default(),
            states: vec![start.state.clone()],
            steps: Vec::new(),
            node: start,
            seen: vec![false; product.marks.len()],
        }
    }

    /// Takes an edge that satisfies the condition.
    pub(crate) fn take(&mut self, is_right: impl Fn(&Edge) -> bool) {
        let edge = self.product.edges(&self.node).into_iter().find(is_right);
        let edge = edge.expect("the sets lead to steps of the reference semantics");
        self.follow(edge);
    }

    /// Takes an edge of the node.
    pub(crate) fn take_edge(&mut self, edge: &Edge) {
        self.follow(Edge {
            step: edge.step.clone(),
            target: edge.target.clone(),
            marks: edge.marks.clone(),
        });
    }

    fn follow(&mut self, edge: Edge) {
        for (seen, mark) in self.seen.iter_mut().zip(&edge.marks) {
            *seen |= mark;
        }
        self.steps.push(self.pool.share(edge.step));
        self.states.push(edge.target.state.clone());
        self.node = edge.target;
    }

    /// Follows rings inwards, without edges that carry one of these marks.
    pub(crate) fn inwards(&mut self, rings: &[Bdd], never: &[MarkId]) {
        let product = self.product;
        let start = rings
            .iter()
            .position(|ring| product.contains(ring, &self.node));
        let start = start.expect("the walk begins in a ring");
        for ring in rings[..start].iter().rev() {
            self.take(|edge| {
                !never.iter().any(|mark| edge.marks[mark.index()])
                    && product.contains(ring, &edge.target)
            });
        }
    }

    /// The run so far, as it ends here.
    pub(crate) fn finish(self) -> Trace {
        Trace {
            states: self.states,
            steps: self.steps,
            loop_start: None,
        }
    }

    pub(crate) fn node(&self) -> &Node {
        &self.node
    }

    /// The run whose last state is that in which its loop began.
    pub(crate) fn finish_loop(mut self, loop_start: usize) -> Trace {
        self.states.pop();
        Trace {
            states: self.states,
            steps: self.steps,
            loop_start: Some(loop_start),
        }
    }

    pub(crate) fn n_steps(&self) -> usize {
        self.steps.len()
    }

    pub(crate) fn forget_marks(&mut self) {
        self.seen.fill(false);
    }
}

/// A component of the nodes that no edge leaves for other nodes of the set.
pub(crate) fn terminal_component(graph: &Graph<'_, '_, '_>, nodes: &Bdd) -> Result<Bdd, Halt> {
    let product = graph.product;
    let pick = |set: &Bdd| product.pick(set).expect("the set is not empty");
    let mut node = product.only(&pick(nodes))?;
    let mut region = nodes.clone();
    loop {
        let forwards = graph.reachable(&node, Some(&region))?;
        let backwards = graph.reaching(&node, &forwards)?;
        let beyond = forwards.minus(&backwards)?;
        if beyond.is_false() {
            return Ok(forwards);
        }
        // What is beyond never comes back here.
        node = product.only(&pick(&beyond))?;
        region = beyond;
    }
}

/// A fair lasso into a component of which every demanded mark is an edge.
pub(crate) fn lasso(
    graph: &Graph<'_, '_, '_>,
    demands: &Demands,
    component: &Bdd,
    reachable: &Bdd,
) -> Result<Trace, Halt> {
    let product = graph.product;
    let whole = Graph::new(product)?;
    let stem = rings(&whole, component, &product.initial, reachable)?;
    let outermost = stem.last().expect("there is one").and(&product.initial)?;
    let start = product.pick(&outermost).expect("the last ring has a start");
    let mut walk = Walk::new(product, start);
    walk.inwards(&stem, &[]);
    walk.forget_marks();
    let (loop_start, home) = (walk.n_steps(), walk.node().clone());

    let mut wanted: Vec<&Vec<MarkId>> = demands.always.iter().collect();
    for (enabled, taken) in &demands.streett {
        let enabled = &product.marks[enabled.index()].source;
        if !enabled.is_disjoint(component)? {
            wanted.push(taken);
        }
    }

    for marks in wanted {
        if marks.iter().any(|mark| walk.seen[mark.index()]) {
            continue;
        }
        let goal = sources(graph, marks, component)?;
        let here = product.only(walk.node())?;
        let inwards = rings(graph, &goal, &here, component)?;
        walk.inwards(&inwards, &demands.never);
        walk.take(|edge| {
            let has = |mark: &MarkId| edge.marks[mark.index()];
            marks.iter().any(has)
                && !demands.never.iter().any(has)
                && product.contains(component, &edge.target)
        });
    }

    // A loop has an edge, even if no mark is wanted.
    if walk.n_steps() == loop_start {
        walk.take(|edge| {
            !demands.never.iter().any(|mark| edge.marks[mark.index()])
                && product.contains(component, &edge.target)
        });
    }
    let here = product.only(walk.node())?;
    let back = rings(graph, &product.only(&home)?, &here, component)?;
    walk.inwards(&back, &demands.never);
    Ok(walk.finish_loop(loop_start))
}

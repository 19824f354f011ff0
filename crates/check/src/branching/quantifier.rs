//! Where `E ψ` holds, for a path formula `ψ` over sets of nodes.
//!
//! One temporal operator is decided by fixpoints, as in CTL (E. M. Clarke, E. A. Emerson, A. P. Sistla,
//! "Automatic verification of finite-state concurrent systems using temporal logic specifications",
//! ACM TOPLAS 8(2), 1986, sections 3 and 4, doi:10.1145/5397.5399), with *fair* for the nodes that
//! start a fair path:
//!
//! | formula | nodes |
//! | --- | --- |
//! | `E p` | `p ∧ fair` |
//! | `E X p` | predecessors of `p ∧ fair` |
//! | `E (p U q)` | backwards from `q ∧ fair` through `p` |
//! | `E G p` | fair paths of the graph restricted to `p` |
//! | `E (p W q)`, `E (p R q)`, `E (p M q)` | by the two above |
//!
//! Everything else goes through the automaton of `ψ`: the nodes from which the product with the
//! automaton has a fair path ([`omega::fair_nodes`]).
//!
//! Precondition: `ψ` is in negation normal form.

use std::rc::Rc;

use base::{AtomId, Budget, StopReason};
use logic::{Ltl, Op};
use model::Assumption;
use omega::{Automaton, Lasso};
use rustc_hash::FxHashMap;

use super::frame::{Columns, Frame, Product};
use super::node_set::NodeSet;
use crate::fairness::assuming;

/// Why a quantifier could not be decided.
pub(crate) enum Obstacle {
    Stopped(StopReason),
    Unsupported(String),
}

impl Obstacle {
    /// Front ends refuse past operators below path quantifiers; who builds such a formula gets this.
    pub(crate) fn past() -> Self {
        let why = "past operators below path quantifiers are not supported: a state does not know \
                   which run led to it; remember what has happened in a variable instead";
        Self::Unsupported(why.to_owned())
    }
}

impl From<StopReason> for Obstacle {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

/// A frame with what deciding quantifiers on it needs again and again.
pub(crate) struct Quantification<'a, F> {
    pub(crate) frame: &'a F,
    pub(crate) budget: &'a Budget,
    assumptions: &'a [Assumption],
    assumption_columns: FxHashMap<AtomId, Rc<NodeSet>>,
    fair: Option<Rc<NodeSet>>,
    predecessors: Option<Predecessors>,
    /// The largest product so far.
    pub(crate) n_product_nodes: u64,
}

/// A path of a frame that ends in a cycle.
pub(crate) struct FrameLasso {
    /// Nodes and the steps that leave them.
    pub(crate) steps: Vec<(u32, u32)>,
    pub(crate) loop_start: usize,
}

impl<'a, F: Frame> Quantification<'a, F> {
    /// Quantification over the paths of the frame that satisfy the assumptions.
    pub(crate) fn new(
        frame: &'a F,
        assumptions: &'a [Assumption],
        assumption_columns: FxHashMap<AtomId, Rc<NodeSet>>,
        budget: &'a Budget,
    ) -> Self {
        Self {
            frame,
            budget,
            assumptions,
            assumption_columns,
            fair: None,
            predecessors: None,
            n_product_nodes: 0,
        }
    }

    /// The nodes that start a fair path.
    pub(crate) fn fair(&mut self) -> Result<Rc<NodeSet>, Obstacle> {
        if let Some(fair) = &self.fair {
            return Ok(Rc::clone(fair));
        }
        let n_nodes = self.frame.n_nodes();
        let fair = if self.assumptions.is_empty() && self.frame.always_continues() {
            NodeSet::all(n_nodes)
        } else {
            let nothing = |_: AtomId| Rc::new(NodeSet::empty(n_nodes));
            self.accepted(Automaton::universal(), &nothing)?
        };
        let fair = Rc::new(fair);
        self.fair = Some(Rc::clone(&fair));
        Ok(fair)
    }

    /// The nodes that start a fair path satisfying `path`.
    pub(crate) fn exists(
        &mut self,
        path: &Ltl,
        columns: &Columns<'_>,
    ) -> Result<NodeSet, Obstacle> {
        let n_nodes = self.frame.n_nodes();
        let set = |formula: &Ltl| set_of(formula, n_nodes, columns);
        let is_state = Ltl::is_propositional;
        match path.op() {
            _ if is_state(path) => Ok(set(path).intersect(&*self.fair()?)),
            Op::Or(parts) => {
                let mut union = NodeSet::empty(n_nodes);
                for part in parts {
                    union = union.unite(&self.exists(part, columns)?);
                }
                Ok(union)
            }
            Op::Next(a) if is_state(a) => {
                let goal = set(a).intersect(&*self.fair()?);
                Ok(self.before(&goal))
            }
            Op::Eventually(a) if is_state(a) => self.until(&NodeSet::all(n_nodes), set(a)),
            Op::Always(a) if is_state(a) => self.globally(a, columns),
            Op::Until(a, b) if is_state(a) && is_state(b) => self.until(&set(a), set(b)),
            Op::StrongRelease(a, b) if is_state(a) && is_state(b) => {
                self.until(&set(b), set(a).intersect(&set(b)))
            }
            Op::WeakUntil(a, b) if is_state(a) && is_state(b) => {
                let until = self.until(&set(a), set(b))?;
                Ok(until.unite(&self.globally(a, columns)?))
            }
            Op::Release(a, b) if is_state(a) && is_state(b) => {
                let until = self.until(&set(b), set(a).intersect(&set(b)))?;
                Ok(until.unite(&self.globally(b, columns)?))
            }
            _ => self.accepted(automaton_of(path)?, columns),
        }
    }

    /// A fair lasso from `node` that satisfies `path`, if there is one. Where closure is asked for,
    /// its loop takes all steps.
    pub(crate) fn lasso(
        &mut self,
        path: &Ltl,
        node: u32,
        columns: &Columns<'_>,
    ) -> Result<Option<FrameLasso>, Obstacle> {
        let automaton = assuming(automaton_of(path)?, self.assumptions);
        if automaton.n_states() == 0 {
            return Ok(None);
        }
        let columns = self.with_assumptions(columns);
        let roots = std::iter::once(node);
        let mut product = Product::new(self.frame, &automaton, &columns, roots, self.budget)?;
        let (acceptance, closure) = (product.acceptance.clone(), self.frame.closure());
        let mut observe = |_: &omega::SearchStats| Ok(());
        let search = omega::find_fair_cycle(&mut product, &acceptance, closure, &mut observe);
        let Some(component) = search.result? else {
            return Ok(None);
        };
        let lasso = match closure {
            omega::Closure::None => omega::shortest_lasso(&mut product, &component, &acceptance)?,
            omega::Closure::OnSystem => {
                omega::covering_lasso(&mut product, &component, &acceptance)?
            }
        };
        Ok(Some(on_frame(&mut product, &lasso)?))
    }

    fn with_assumptions<'c>(
        &self,
        columns: &'c Columns<'c>,
    ) -> impl Fn(AtomId) -> Rc<NodeSet> + use<'c, F> {
        let assumed = self.assumption_columns.clone();
        move |atom| assumed.get(&atom).map_or_else(|| columns(atom), Rc::clone)
    }

    /// The nodes from which the product with the automaton has a fair path.
    fn accepted(
        &mut self,
        automaton: Automaton,
        columns: &Columns<'_>,
    ) -> Result<NodeSet, Obstacle> {
        let automaton = assuming(automaton, self.assumptions);
        let n_nodes = self.frame.n_nodes();
        if automaton.n_states() == 0 {
            return Ok(NodeSet::empty(n_nodes));
        }
        let columns = self.with_assumptions(columns);
        let roots = 0..n_nodes as u32;
        let mut product = Product::new(self.frame, &automaton, &columns, roots, self.budget)?;
        let (acceptance, closure) = (product.acceptance.clone(), self.frame.closure());
        let n_product = product.n_nodes();
        self.n_product_nodes = self.n_product_nodes.max(n_product as u64);
        let fair = omega::fair_nodes(&mut product, n_product, &acceptance, closure)?;
        let is_fair = |id: omega::NodeId| base::bits::get(&fair, id.index());
        Ok(NodeSet::those(n_nodes, |node| {
            product.starts_at(node).any(is_fair)
        }))
    }

    fn globally(&mut self, inner: &Ltl, columns: &Columns<'_>) -> Result<NodeSet, Obstacle> {
        self.accepted(automaton_of(&Ltl::always(inner.clone()))?, columns)
    }

    fn before(&self, goal: &NodeSet) -> NodeSet {
        let leads = |node: u32| self.frame.targets(node).iter().any(|&t| goal.contains(t));
        NodeSet::those(goal.n_nodes(), leads)
    }

    /// Backwards from the fair nodes of `goal` through `through`.
    fn until(&mut self, through: &NodeSet, goal: NodeSet) -> Result<NodeSet, Obstacle> {
        let mut reached = goal.intersect(&*self.fair()?);
        let frame = self.frame;
        let predecessors = self
            .predecessors
            .get_or_insert_with(|| Predecessors::new(frame));
        let mut open: Vec<u32> = reached.iter().collect();
        while let Some(node) = open.pop() {
            for &source in predecessors.of(node) {
                if through.contains(source) && reached.insert(source) {
                    open.push(source);
                }
            }
        }
        Ok(reached)
    }
}

fn automaton_of(path: &Ltl) -> Result<Automaton, Obstacle> {
    logic::translate(path).map_err(|error| Obstacle::Unsupported(error.to_string()))
}

fn on_frame<F: Frame>(
    product: &mut Product<'_, F>,
    lasso: &Lasso,
) -> Result<FrameLasso, StopReason> {
    use omega::Graph as _;
    let mut edges = omega::EdgeBuffer::new(product.n_mark_words());
    let mut steps = Vec::new();
    for step in lasso.stem.iter().chain(&lasso.cycle) {
        edges.truncate(0);
        product.successors(step.source, &mut edges)?;
        steps.push((
            product.node(step.source),
            edges.step(step.position as usize),
        ));
    }
    Ok(FrameLasso {
        steps,
        loop_start: lasso.stem.len(),
    })
}

/// The nodes at which a propositional formula holds.
pub(crate) fn set_of(formula: &Ltl, n_nodes: usize, columns: &Columns<'_>) -> NodeSet {
    let mut sets: FxHashMap<&Ltl, NodeSet> = FxHashMap::default();
    let parts = formula.subformulas();
    for &part in &parts {
        let of = |operand: &Ltl| sets[operand].clone();
        let set = match part.op() {
            Op::True => NodeSet::all(n_nodes),
            Op::False => NodeSet::empty(n_nodes),
            Op::Atom(atom) => columns(*atom).as_ref().clone(),
            Op::Not(inner) => of(inner).complement(),
            Op::And(operands) => operands.iter().fold(NodeSet::all(n_nodes), |all, part| {
                all.intersect(&sets[part])
            }),
            Op::Or(operands) => operands
                .iter()
                .fold(NodeSet::empty(n_nodes), |any, part| any.unite(&sets[part])),
            Op::Implies(a, b) => of(a).complement().unite(&sets[b]),
            Op::Iff(a, b) => {
                let both = of(a).intersect(&sets[b]);
                let either = of(a).unite(&sets[b]);
                both.unite(&either.complement())
            }
            _ => unreachable!("the formula is propositional"),
        };
        sets.insert(part, set);
    }

    sets.remove(formula)
        .expect("the last subformula is the formula")
}

/// The edges of a frame, backwards.
struct Predecessors {
    first: Vec<usize>,
    sources: Vec<u32>,
}

impl Predecessors {
    fn new<F: Frame>(frame: &F) -> Self {
        let n_nodes = frame.n_nodes();
        let mut first = vec![0; n_nodes + 1];
        for node in 0..n_nodes as u32 {
            for &target in frame.targets(node) {
                first[target as usize + 1] += 1;
            }
        }
        for node in 0..n_nodes {
            first[node + 1] += first[node];
        }
        let mut next = first.clone();
        let mut sources = vec![0; first[n_nodes]];
        for node in 0..n_nodes as u32 {
            for &target in frame.targets(node) {
                sources[next[target as usize]] = node;
                next[target as usize] += 1;
            }
        }
        Self { first, sources }
    }

    fn of(&self, node: u32) -> &[u32] {
        &self.sources[self.first[node as usize]..self.first[node as usize + 1]]
    }
}

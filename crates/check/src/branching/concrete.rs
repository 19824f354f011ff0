//! Formulas of CTL* on the state graph of a model.
//!
//! Path quantifiers range over fair runs. Fairness conditions are marks on steps, assumptions are
//! letter marks of every automaton, and strong global fairness is closure on the system, so all of
//! them are treated where [`omega::fair_nodes`] looks into a component, and nowhere else.
//!
//! Step propositions are part of nodes (see [`engine::StateGraph`]), so a state formula has one value
//! at each node.

use std::rc::Rc;

use base::{AtomId, FairnessKind};
use engine::{Built, StateGraph, Stats};
use evidence::{UnknownReason, Verdict, ViolationKind};
use logic::{CtlStar, Ltl};
use omega::{Acceptance, Closure};
use rustc_hash::FxHashMap;

use super::frame::Frame;
use super::node_set::NodeSet;
use super::quantifier::{Obstacle, Quantification, set_of};
use crate::explicit::{self, Check};
use crate::fairness::is_machine_closed;

/// A state graph whose fair runs are quantified over.
pub(crate) struct FairGraph<'g> {
    pub(crate) graph: &'g StateGraph,
    /// Which sets of marks are fair.
    pub(crate) acceptance: Acceptance,
    pub(crate) closure: Closure,
    pub(crate) always_continues: bool,
}

impl Frame for FairGraph<'_> {
    fn n_nodes(&self) -> usize {
        self.graph.n_nodes()
    }

    fn targets(&self, node: u32) -> &[u32] {
        self.graph.targets(node)
    }

    fn n_mark_words(&self) -> usize {
        self.graph.n_mark_words()
    }

    fn marks(&self, node: u32, step: usize, out: &mut [u64]) {
        self.graph.step_marks(node, step, out);
    }

    fn acceptance(&self) -> Acceptance {
        self.acceptance.clone()
    }

    fn closure(&self) -> Closure {
        self.closure
    }

    fn origin(&self, node: u32) -> u32 {
        self.graph.state_number(node)
    }

    fn always_continues(&self) -> bool {
        self.always_continues
    }
}

/// The values of all quantified formulas at all nodes.
pub(crate) struct Truth<'a> {
    pub(crate) formula: &'a CtlStar,
    /// Where the atoms hold.
    pub(crate) atoms: FxHashMap<AtomId, Rc<NodeSet>>,
    /// Where there is a run that makes `E ψ` true or `A ψ` false, by quantified formula.
    pub(crate) run_exists: Vec<Rc<NodeSet>>,
    /// Where each quantified formula is true.
    values: Vec<Rc<NodeSet>>,
}

impl<'a> Truth<'a> {
    /// Decides all quantified formulas, inner ones first.
    fn decide(
        quantification: &mut Quantification<'_, FairGraph<'_>>,
        formula: &'a CtlStar,
        atoms: FxHashMap<AtomId, Rc<NodeSet>>,
    ) -> Result<Self, Obstacle> {
        let mut truth = Self {
            formula,
            atoms,
            run_exists: Vec::new(),
            values: Vec::new(),
        };
        for quantified in formula.quantified() {
            let (path, is_existential) = quantified.as_existential();
            let path = logic::simplify(&path).negation_normal_form();
            let exists = quantification.exists(&path, &|atom| truth.column(atom))?;
            let value = if is_existential {
                exists.clone()
            } else {
                exists.clone().complement()
            };
            truth.run_exists.push(Rc::new(exists));
            truth.values.push(Rc::new(value));
        }
        Ok(truth)
    }

    /// Where an atom or quantified formula is true.
    pub(crate) fn column(&self, atom: AtomId) -> Rc<NodeSet> {
        match CtlStar::as_quantified(atom) {
            Some(number) => Rc::clone(&self.values[number]),
            None => Rc::clone(&self.atoms[&atom]),
        }
    }

    /// Where a propositional formula over these is true.
    fn set(&self, formula: &Ltl, n_nodes: usize) -> NodeSet {
        set_of(formula, n_nodes, &|atom| self.column(atom))
    }
}

impl Check<'_, '_> {
    /// A formula of CTL* holds iff it holds in every initial state.
    pub(crate) fn decide_ctl_star(
        &mut self,
        formula: &CtlStar,
    ) -> Result<(Verdict, Stats), explicit::Obstacle> {
        let atoms = explicit::with_assumed_atoms(self.model, &formula.atoms());
        let conditions = self.model.fairness_conditions(self.fairness);
        let built = engine::state_graph(
            &mut self.system,
            &conditions,
            &atoms,
            self.budget,
            self.progress,
        );

        let (built, mut stats) = built?;
        let graph = match built {
            Built::Graph(graph) => *graph,
            Built::Stopped(reason) => {
                return Ok((Verdict::Unknown(UnknownReason::Stopped(reason)), stats));
            }
            Built::Failed => return Ok((self.way_to_failure(&atoms)?, stats)),
        };

        let strong_global = self.fairness.kind == FairnessKind::StrongGlobal;
        let fair_graph = FairGraph {
            acceptance: graph.acceptance(),
            graph: &graph,
            closure: if strong_global {
                Closure::OnSystem
            } else {
                Closure::None
            },
            always_continues: is_machine_closed(self.model, &conditions),
        };

        let verdict = match self.judge(&fair_graph, formula, &atoms, &mut stats) {
            Ok(verdict) => verdict,
            Err(Obstacle::Stopped(reason)) => Verdict::Unknown(UnknownReason::Stopped(reason)),
            Err(Obstacle::Unsupported(why)) => Verdict::Unknown(UnknownReason::Unsupported(why)),
        };
        Ok((verdict, stats))
    }

    /// Decides the formula on the graph.
    pub(crate) fn judge(
        &mut self,
        frame: &FairGraph<'_>,
        formula: &CtlStar,
        atoms: &[AtomId],
        stats: &mut Stats,
    ) -> Result<Verdict, Obstacle> {
        if formula.has_past() {
            return Err(Obstacle::past());
        }
        let n_nodes = frame.n_nodes();
        let column = |atom: &AtomId| {
            let set = NodeSet::those(n_nodes, |node| frame.graph.holds(node, *atom));
            (*atom, Rc::new(set))
        };
        let columns: FxHashMap<AtomId, Rc<NodeSet>> = atoms.iter().map(column).collect();
        let assumptions = &self.model.parts().assumptions;
        let mut quantification =
            Quantification::new(frame, assumptions, columns.clone(), self.budget);
        let truth = Truth::decide(&mut quantification, formula, columns)?;
        let holds = truth.set(formula.root(), n_nodes);
        let mut initial = 0..frame.graph.n_initial() as u32;
        let failing = initial.find(|&node| !holds.contains(node));
        let verdict = match failing {
            Some(node) => {
                let branching = self.branching(&mut quantification, &truth, node)?;
                explicit::violated(ViolationKind::Branching(Box::new(branching)), None)
            }
            None => {
                if frame.graph.n_initial() > 0 {
                    let branching = self.branching(&mut quantification, &truth, 0)?;
                    self.branching = Some(branching).filter(|shown| !shown.branches.is_empty());
                }
                Verdict::Holds { witness: None }
            }
        };

        stats.n_product_states = Some(quantification.n_product_nodes.max(n_nodes as u64));
        stats.memory_bytes += quantification.n_product_nodes * 16;
        Ok(verdict)
    }
}

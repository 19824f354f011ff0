//! One exploration, many notions of fairness.
//!
//! Fairness is acceptance on a graph: conditions become marks on steps, and which runs are fair is a
//! formula over marks. So the graph is explored once, with the marks of *all* conditions that are of
//! interest, and each set of conditions is judged on what is stored:
//!
//! * [`check_notions`] answers a property under several notions,
//! * [`infer`] finds the weakest conditions under which it holds,
//! * [`audit`] says which of the conditions that a model has are needed.
//!
//! What to read next: `bad_loops.rs` (what is stored for a property, and how a set of conditions is
//! judged), `minimal.rs` (how the weakest sets are found), `inference.rs`.
//!
//! Nothing is left out of the exploration: which steps can be left out depends on the conditions.

mod audit;
mod bad_loops;
mod excluding;
mod inference;
mod minimal;
mod notions;
mod offers;

use std::collections::hash_map::Entry;

use base::{AtomId, Progress};
use engine::{Built, StateGraph, Stats};
use evidence::{UnknownReason, Verdict};
use model::{Assumption, Condition, ConditionKind, Model, Subject};
use omega::Acceptance;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::Plan;
use crate::explicit::{Check, Obstacle, collect_atoms, with_assumed_atoms};

pub use audit::{Audit, AuditEntry, Use, audit};
pub use excluding::{TestedExclusion, test_exclusions};
pub use inference::{Inference, Left, Member, MinimalSet, infer};
pub use notions::check_notions;
pub use offers::{Granularity, Level, Offer, offers};

/// The state graph of a model with the marks of many conditions.
pub(crate) struct Survey<'a, 'm> {
    pub(crate) check: Check<'a, 'm>,
    pub(crate) graph: StateGraph,
    /// The positions of the conditions whose marks the graph has.
    position_of: FxHashMap<(ConditionKind, Subject), usize>,
    /// The atoms that are evaluated everywhere.
    pub(crate) atoms: Vec<AtomId>,
    pub(crate) stats: Stats,
}

/// What became of an attempt to explore everything.
pub(crate) enum Surveyed<'a, 'm> {
    /// The whole graph.
    Graph(Box<Survey<'a, 'm>>),
    /// A run-time error, which violates every property, or the reason why nothing is known.
    Decided(Verdict, Stats),
}

impl<'a, 'm> Survey<'a, 'm> {
    /// Explores the model. The atoms of the model's own assumptions are always evaluated.
    pub(crate) fn explore(
        model: &'m Model,
        conditions: &[Condition],
        atoms: &[AtomId],
        plan: &'a Plan,
        progress: &'a mut dyn Progress,
    ) -> Surveyed<'a, 'm> {
        match Self::try_explore(model, conditions, atoms, plan, progress) {
            Ok(surveyed) => surveyed,
            Err(obstacle) => {
                let reason = UnknownReason::Unsupported(obstacle.to_string());
                Surveyed::Decided(Verdict::Unknown(reason), Stats::default())
            }
        }
    }

    fn try_explore(
        model: &'m Model,
        conditions: &[Condition],
        atoms: &[AtomId],
        plan: &'a Plan,
        progress: &'a mut dyn Progress,
    ) -> Result<Surveyed<'a, 'm>, Obstacle> {
        let mut check = Check::whole(model, plan, progress)?;
        let atoms = with_assumed_atoms(model, atoms);
        let mut position_of = FxHashMap::default();
        let mut distinct = Vec::new();
        for condition in conditions {
            // Two conditions demand the same, wherever they are written.
            let key = (condition.kind, condition.subject.clone());
            if let Entry::Vacant(entry) = position_of.entry(key) {
                entry.insert(distinct.len());
                distinct.push(condition.clone());
            }
        }
        let (built, stats) = engine::state_graph(
            &mut check.system,
            &distinct,
            &atoms,
            check.budget,
            check.progress,
        )?;

        Ok(match built {
            Built::Graph(graph) => Surveyed::Graph(Box::new(Self {
                check,
                graph: *graph,
                position_of,
                atoms,
                stats,
            })),
            Built::Stopped(reason) => {
                Surveyed::Decided(Verdict::Unknown(UnknownReason::Stopped(reason)), stats)
            }
            Built::Failed => Surveyed::Decided(check.way_to_failure(&atoms)?, stats),
        })
    }

    /// The positions of conditions, all of which the graph has the marks of.
    pub(crate) fn positions(&self, conditions: &[Condition]) -> Vec<usize> {
        let position = |wanted: &Condition| {
            let found = self.position_of.get(&(wanted.kind, wanted.subject.clone()));
            *found.expect("the graph was made for these conditions")
        };
        conditions.iter().map(position).collect()
    }

    /// What fairness to these conditions demands of the marks of a loop.
    pub(crate) fn demanded(&self, conditions: &[Condition]) -> Acceptance {
        let chosen: FxHashSet<usize> = self.positions(conditions).into_iter().collect();
        self.graph
            .acceptance_of(&|position| chosen.contains(&position))
    }
}

/// The atoms that assumptions mention.
fn atoms_of(assumptions: &[Assumption]) -> Vec<AtomId> {
    let mut atoms = Vec::new();
    assumptions
        .iter()
        .for_each(|assumption| collect_atoms(assumption, &mut atoms));
    atoms
}

//! What a breadth-first search has to show in the end.

use std::sync::atomic::Ordering;

use base::{AtomId, bits};
use evidence::{Trace, TraceStep};

use crate::label::Label;
use crate::stubborn::Stubborn;
use crate::system::{Steps, System};
use store::StateIndex;

use super::{Shared, Stats, Worker, count_actions, trace_step};

impl Shared<'_> {
    /// The shortest run to a state. `last` names the step that must end it. Nothing if the search went
    /// on from a checkpoint in which some state does not follow its parent.
    pub(super) fn trace(
        &self,
        system: &mut System<'_>,
        state: StateIndex,
        last: Option<(StateIndex, Label)>,
    ) -> Option<Trace> {
        let mut path = vec![state];
        let mut parent = match &last {
            Some((source, _)) => Some(*source),
            None => self.parent(system, state),
        };
        while let Some(source) = parent {
            path.push(source);
            parent = self.parent(system, source);
        }

        path.reverse();
        let mut steps = Vec::new();
        for pair in path.windows(2) {
            let is_last = steps.len() + 2 == path.len();
            let label = last.as_ref().filter(|_| is_last).map(|(_, label)| label);
            steps.push(self.step_between(system, pair[0], pair[1], label)?);
        }

        let states = path
            .iter()
            .map(|&index| system.unpack(&self.store.get(index)));
        Some(Trace {
            states: states.collect(),
            steps,
            loop_start: None,
        })
    }

    /// The state from which this one was reached first; nothing for an initial state.
    fn parent(&self, system: &mut System<'_>, state: StateIndex) -> Option<StateIndex> {
        let mut candidates = self.parents.candidates(state)?;
        if candidates.len() == 1 {
            return candidates.next();
        }
        let target = self.store.get(state);
        let mut steps = Steps::default();
        candidates.find(|&source| {
            let expanded = system.steps(&self.store.get(source), &mut steps);
            let leads = |position| steps.target(position, target.len()) == target;
            expanded.is_ok() && (0..steps.len()).any(leads)
        })
    }

    fn step_between(
        &self,
        system: &mut System<'_>,
        source: StateIndex,
        target: StateIndex,
        label: Option<&Label>,
    ) -> Option<TraceStep> {
        if let Some(label) = label {
            return Some(trace_step(label));
        }
        let mut steps = Steps::default();
        system.steps(&self.store.get(source), &mut steps).ok()?;
        let target = self.store.get(target);
        let fits = |&position: &usize| steps.target(position, target.len()) == target;
        let position = (0..steps.len()).find(fits)?;
        Some(trace_step(system.label(steps.labels[position])))
    }

    /// The atoms that were true somewhere.
    pub(super) fn atoms_seen(&self) -> Vec<u64> {
        let seen = self.atoms_seen.iter();
        seen.map(|word| word.load(Ordering::Relaxed)).collect()
    }

    pub(super) fn stats(&self, workers: &[Worker<'_>], atoms: &[AtomId]) -> Stats {
        let model = workers[0].system.model();
        let stubborn = || workers.iter().filter_map(|worker| worker.stubborn.as_ref());
        let mut stats = Stats {
            n_states: workers.iter().fold(self.n_states(), |n_states, worker| {
                n_states + worker.n_uncounted - worker.n_transient
            }),
            n_transitions: workers.iter().map(|worker| worker.n_transitions).sum(),
            n_product_states: None,
            is_partial: false,
            reduced: workers[0].stubborn.is_some(),
            n_reduced_states: stubborn().map(Stubborn::n_reduced).sum(),
            refusal: None,
            memory_bytes: self.memory(),
            commands_taken: self
                .commands_taken
                .iter()
                .map(|taken| taken.load(Ordering::Relaxed))
                .collect(),
            action_counts: vec![0; model.actions().len()],
            atoms_seen: vec![false; model.parts().atoms.len()],
        };

        for worker in workers {
            count_actions(
                &worker.system,
                &worker.label_counts,
                &mut stats.action_counts,
            );
        }

        let seen = self.atoms_seen();
        for atom in atoms {
            stats.atoms_seen[atom.index()] = bits::get(&seen, workers[0].letters.bit(*atom));
        }
        stats
    }
}

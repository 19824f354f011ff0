//! What a breadth-first search has to show in the end.

use std::ops::Range;
use std::sync::atomic::Ordering;

use base::{AtomId, Budget, bits};
use evidence::{StepPool, Trace};
use rustc_hash::FxHashSet;

use crate::label::{Label, LabelId, LabelTable};
use crate::passage::Passage;
use crate::stubborn::Stubborn;
use crate::system::{Steps, System};
use store::StateIndex;

use super::{Place, Shared, Stats, Worker, count_actions, trace_step};

impl Shared<'_> {
    /// The shortest run to a place. `last` names the step that must end it. Nothing if the search went
    /// on from a checkpoint in which some state does not follow its parent.
    pub(super) fn trace(
        &self,
        system: &mut System<'_>,
        place: &Place,
        last: Option<(StateIndex, Label)>,
    ) -> Option<Trace> {
        let mut pool = StepPool::default();
        let mut steps = Vec::new();
        let mut at = place.kept;
        let end = self.store.get(at);
        let mut states = vec![system.unpack(place.passed.as_deref().unwrap_or(&end))];
        if let Some(passed) = &place.passed {
            for (words, label) in passage_to(system, &end, passed)? {
                steps.push(pool.share(trace_step(system.label(label))));
                states.push(system.unpack(&words));
            }
        }
        if let Some((source, label)) = &last {
            steps.push(pool.share(trace_step(label)));
            states.push(system.unpack(&self.store.get(*source)));
            at = *source;
        }

        let mut block = Block::default();
        while let Some(candidates) = self.parents.candidates(at) {
            let target = self.store.get(at);
            block.expand(self, system, candidates);
            let (source, label) = block.first_to(&target)?;
            let words = self.store.get(source);
            let way = if self.is_passing {
                passage_to(system, &words, &target)?
            } else {
                vec![(words, label)]
            };
            for (words, label) in way {
                steps.push(pool.share(trace_step(system.label(label))));
                states.push(system.unpack(&words));
            }
            at = source;
        }

        states.reverse();
        steps.reverse();
        Some(Trace {
            states,
            steps,
            loop_start: None,
        })
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
            let counts = worker.label_counts.iter();
            let counts: Vec<u64> = counts.map(|count| count.saturating_sub(1)).collect();
            count_actions(&worker.system, &counts, &mut stats.action_counts);
        }

        let seen = self.atoms_seen();
        for atom in atoms {
            stats.atoms_seen[atom.index()] = bits::get(&seen, workers[0].letters.bit(*atom));
        }
        stats
    }
}

/// The shortest way from a state to another one through states in which some process has control, from
/// behind: each state on it but the last, with the step that leaves it.
fn passage_to(
    system: &mut System<'_>,
    from: &[u64],
    to: &[u64],
) -> Option<Vec<(Vec<u64>, LabelId)>> {
    let mut met = vec![(from.to_vec(), 0, LabelTable::IDLE)];
    let mut known: FxHashSet<Vec<u64>> = std::iter::once(from.to_vec()).collect();
    let mut steps = Steps::default();
    let mut next = 0;
    let mut end = None;
    while end.is_none() {
        // A state with a run-time error leads nowhere.
        if system.steps(&met.get(next)?.0, &mut steps).is_err() {
            steps.clear();
        }
        for (position, words) in steps.words.chunks_exact(from.len()).enumerate() {
            let step = (next, steps.labels[position]);
            if words == to {
                end = end.or(Some(step));
            } else if system.is_transient(words) && known.insert(words.to_vec()) {
                met.push((words.to_vec(), step.0, step.1));
            }
        }
        next += 1;
    }

    let mut way = Vec::new();
    let (mut at, mut label) = end?;
    loop {
        let (words, before, own) = &met[at];
        way.push((words.clone(), label));
        if at == 0 {
            return Some(way);
        }
        (at, label) = (*before, *own);
    }
}

/// The steps of states that follow each other. On a long way back, many parents are among the same
/// ones, so these are not expanded again for each.
#[derive(Default)]
struct Block {
    sources: Range<StateIndex>,
    n_words: usize,
    targets: Vec<u64>,
    /// From where and by which step each target is reached.
    origins: Vec<(StateIndex, LabelId)>,
    /// The targets in ascending order, the first way to each of them first.
    order: Vec<u32>,
}

impl Block {
    fn expand(&mut self, shared: &Shared<'_>, system: &mut System<'_>, sources: Range<StateIndex>) {
        if self.sources == sources {
            return;
        }
        *self = Self {
            sources: sources.clone(),
            n_words: system.n_words(),
            ..Self::default()
        };

        let (mut steps, mut passage) = (Steps::default(), Passage::default());
        steps.n_words = self.n_words;
        let n_states = shared.store.len() as StateIndex;
        for source in sources.start..sources.end.min(n_states) {
            let state = shared.store.get(source);
            // A state with a run-time error leads nowhere.
            let is_known = if shared.is_passing {
                steps.clear();
                let unlimited = Budget::unlimited();
                let result = system.append_long_steps(&state, &mut steps, &mut passage, &unlimited);
                !result.is_err_and(|obstacle| obstacle.hides_all())
            } else {
                system.steps(&state, &mut steps).is_ok()
            };
            if is_known {
                self.targets.extend_from_slice(&steps.words);
                let labels = steps.labels.iter();
                self.origins.extend(labels.map(|label| (source, *label)));
            }
        }

        let mut order: Vec<u32> = (0..self.origins.len() as u32).collect();
        order.sort_by_key(|step| self.target(*step));
        self.order = order;
    }

    fn target(&self, step: u32) -> &[u64] {
        &self.targets[step as usize * self.n_words..][..self.n_words]
    }

    /// The first of the states that leads to a target, and its first step that does.
    fn first_to(&self, target: &[u64]) -> Option<(StateIndex, LabelId)> {
        let start = self
            .order
            .partition_point(|step| self.target(*step) < target);
        let step = *self.order.get(start)?;
        (self.target(step) == target).then(|| self.origins[step as usize])
    }
}

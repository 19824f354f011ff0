//! What one thread does in a breadth-first search.

use std::ops::Range;
use std::sync::atomic::Ordering;

use base::{AtomId, Progress, Snapshot, StopReason, bits};

use crate::initial::{Interrupted, initial_states};
use crate::label::{LabelId, LabelTable};
use crate::letters::Letters;
use crate::store::{Inserted, NOBODY, Names, StateIndex, StateStore};
use crate::stubborn::Stubborn;
use crate::system::{Failed, System};

use super::{Ahead, BATCH, End, Goal, Guard, N_AHEAD, Shared, Worker};

impl<'m> Worker<'m> {
    pub(super) fn new(
        system: System<'m>,
        letters: Letters,
        stubborn: Option<Stubborn>,
        names: Names,
    ) -> Self {
        let new_ahead = |_| Ahead {
            state: vec![0; system.n_words()],
            ..Ahead::default()
        };
        Self {
            stubborn,
            names,
            n_uncounted: 0,
            memory: 0,
            ahead: (0..N_AHEAD).map(new_ahead).collect(),
            taken: Vec::new(),
            letter: vec![0; letters.n_words],
            seen: vec![0; letters.n_words],
            commands_taken: vec![false; system.model().commands().len()],
            labels_seen: Vec::new(),
            label_counts: Vec::new(),
            n_transitions: 0,
            bound: system.state_bound(),
            n_transient: 0,
            system,
            letters,
        }
    }

    pub(super) fn add_initial_states(&mut self, shared: &Shared<'_>) -> Result<(), End> {
        let initial = initial_states(&mut self.system, shared.budget);
        let initial = initial.map_err(|interrupted| match interrupted {
            Interrupted::Stopped(reason) => End::Stopped(reason),
            Interrupted::Failed => End::Failure(None),
        })?;
        let mut guard = Some(shared.store.table());
        let mut states = initial.chunks_exact(self.system.n_words());
        let reached = states.try_for_each(|words| {
            let place = (StateStore::hash(words), NOBODY);
            self.reach(shared, &mut guard, words, place, None).map(drop)
        });
        self.count(shared);
        reached
    }

    /// Tells all threads how many states were found.
    pub(super) fn count(&mut self, shared: &Shared<'_>) {
        let n_new = std::mem::take(&mut self.n_uncounted);
        shared.n_states.0.fetch_add(n_new, Ordering::Relaxed);
    }

    /// A name left over belongs to this level, which is done: it stays without a state.
    pub(super) fn end_level(&mut self, shared: &Shared<'_>) {
        for name in self.names.give_up() {
            shared.parents.set_unused(name);
        }
    }

    /// Expands states of the level, which ends before `end`, until none is left.
    pub(super) fn expand_level(
        &mut self,
        shared: &Shared<'_>,
        end: StateIndex,
        depth: u64,
        progress: &mut dyn Progress,
    ) {
        while !shared.is_over.load(Ordering::Relaxed) {
            // The cursor never overflows: it passes `end` by at most one batch for each thread.
            let first = shared.cursor.0.fetch_add(BATCH, Ordering::Relaxed);
            if first >= end {
                return;
            }
            self.memory = shared.memory();
            progress.report(&Snapshot {
                phase: "exploring",
                n_states: shared.n_states(),
                n_transitions: self.n_transitions,
                memory_bytes: self.memory,
                depth,
                bound: self.bound,
            });
            let mut guard = Some(shared.store.table());
            let end = end.min(first.saturating_add(BATCH));
            let result = self.expand_batch(shared, &mut guard, first..end);
            self.count(shared);
            if let Err(end) = result {
                shared.finish(end);
                return;
            }
        }
    }

    /// Expands some states and takes their steps, in order. What is looked up is asked for as early
    /// as possible.
    pub(super) fn expand_batch<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        sources: Range<StateIndex>,
    ) -> Result<(), End> {
        let mut ahead = std::mem::take(&mut self.ahead);
        let mut sources = sources.filter(|&source| !shared.parents.is_unused(source));
        loop {
            let mut n_ahead = 0;
            for (entry, source) in ahead.iter_mut().zip(&mut sources) {
                self.look_ahead(shared, source, entry);
                n_ahead += 1;
            }
            if n_ahead == 0 {
                break;
            }
            let table = guard.get_or_insert_with(|| shared.store.table());
            for entry in &mut ahead[..n_ahead] {
                entry.steps.hash_targets(&mut entry.hashes, table);
            }
            for Ahead {
                hashes, guesses, ..
            } in &mut ahead[..n_ahead]
            {
                let guess = |hash: &u64| shared.store.guess(table, *hash);
                guesses.clear();
                guesses.extend(hashes.iter().map(guess));
            }
            for entry in &ahead[..n_ahead] {
                self.expand(shared, guard, entry)?;
            }
        }
        self.ahead = ahead;
        Ok(())
    }

    /// Computes the steps of a state.
    pub(super) fn look_ahead(
        &mut self,
        shared: &Shared<'_>,
        source: StateIndex,
        entry: &mut Ahead,
    ) {
        entry.source = source;
        shared.store.read(source, &mut entry.state);
        let expanded = self.system.steps(&entry.state, &mut entry.steps);
        entry.has_failed = expanded.is_err();
        if entry.has_failed {
            entry.steps.clear();
        }
    }

    pub(super) fn expand<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        entry: &Ahead,
    ) -> Result<(), End> {
        let &Ahead {
            source, ref steps, ..
        } = entry;
        let n_states = shared.n_states() + self.n_uncounted;
        let spent = shared.budget.check(n_states, self.memory);
        spent.map_err(End::Stopped)?;
        if entry.has_failed {
            return Err(End::Failure(Some(source)));
        }
        // The idle step of a deadlock.
        self.n_transitions += u64::from(steps.is_empty());
        if steps.is_empty() && matches!(shared.goal, Goal::Deadlock) {
            return Err(End::Goal(source, None));
        }
        shared.parents.begin(source, shared.store.len());
        shared.store.stay_near(source, &mut self.names);
        self.take_steps(shared, guard, entry)?;
        if steps.is_empty() && self.letters.has_step_atoms() {
            // The idle step leads to a position at which no step proposition holds.
            let idle = Some((source, LabelTable::IDLE));
            let place = (StateStore::hash(&entry.state), source);
            self.reach(shared, guard, &entry.state, place, idle)?;
        }
        Ok(())
    }

    /// Takes one step. Returns the name of its target.
    pub(super) fn take<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        entry: &Ahead,
        position: usize,
    ) -> Result<StateIndex, End> {
        self.n_transitions += 1;
        let label = entry.steps.labels[position];
        self.note_label(label);
        let target = entry.steps.target(position, entry.state.len());
        let from = Some((entry.source, label));
        let place = (entry.hashes[position], entry.guesses[position]);
        self.reach(shared, guard, target, place, from)
    }

    pub(super) fn note_label(&mut self, label: LabelId) {
        if self.labels_seen.len() <= label.index() {
            self.labels_seen.resize(label.index() + 1, false);
            self.label_counts.resize(label.index() + 1, 0);
        }
        self.label_counts[label.index()] += 1;
        if !std::mem::replace(&mut self.labels_seen[label.index()], true) {
            for command in &self.system.label(label).commands {
                self.commands_taken[command.index()] = true;
            }
        }
    }

    /// A state is reached: by a step, or as an initial state. Its hash and a guess which stored
    /// state it is tell where to look. Returns its name.
    pub(super) fn reach<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        words: &[u64],
        place: (u64, StateIndex),
        from: Option<(StateIndex, LabelId)>,
    ) -> Result<StateIndex, End> {
        let (index, is_new) = self.insert(shared, guard, words, place)?;
        if is_new {
            self.n_transient += u64::from(self.system.is_transient(words));
            self.n_uncounted += 1;
            shared.parents.set(index, from.map(|(parent, _)| parent));
        } else if !self.letters.has_step_atoms() {
            return Ok(index);
        }
        self.inspect(shared, index, words, from)?;
        Ok(index)
    }

    /// Looks whether a state is the goal.
    pub(super) fn inspect(
        &mut self,
        shared: &Shared<'_>,
        index: StateIndex,
        words: &[u64],
        from: Option<(StateIndex, LabelId)>,
    ) -> Result<(), End> {
        self.letter.fill(0);
        let failed = |Failed| End::Failure(Some(index));
        self.letters
            .of_state(&mut self.system, words, &mut self.letter)
            .map_err(failed)?;
        if let (true, Some((_, label))) = (self.letters.has_step_atoms(), from) {
            let more = self.letters.of_label(&self.system, label);
            bits::union_into(&mut self.letter, more);
        }
        bits::union_into(&mut self.seen, &self.letter);
        let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
        match shared.goal {
            Goal::Satisfies(goal) if goal.holds(&holds) => {
                let label = |(source, label)| (source, self.system.label(label).clone());
                Err(End::Goal(index, from.map(label)))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn insert<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        words: &[u64],
        (hash, guess): (u64, StateIndex),
    ) -> Result<(StateIndex, bool), End> {
        loop {
            let table = guard.get_or_insert_with(|| shared.store.table());
            let inserted = shared
                .store
                .insert_shared(table, words, hash, guess, &mut self.names);
            match inserted {
                Inserted::New(index) => return Ok((index, true)),
                Inserted::Old(index) => return Ok((index, false)),
                Inserted::Full => {
                    // Growing needs the table for itself.
                    *guard = None;
                    let full = End::Stopped(StopReason::StateLimit);
                    shared.store.grow().ok_or(full)?;
                }
            }
        }
    }
}

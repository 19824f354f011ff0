//! What one thread does in a breadth-first search.

use std::ops::Range;
use std::sync::atomic::Ordering;

use base::{AtomId, Progress, Snapshot, StopReason, bits};

use crate::label::{LabelId, LabelTable};
use crate::letters::Letters;
use crate::stubborn::Stubborn;
use crate::system::{Failed, System};
use store::{Index, Inserted, NOBODY, Names, StateIndex, StateStore};

use super::meetings::Meeting;
use super::{Ahead, End, Goal, Guard, N_AHEAD, NO_PANIC_INITIAL, Shared, Task, TaskKind, Worker};

impl Ahead {
    /// Asks the processor for where the targets will be looked up that are not known yet.
    fn prefetch_unknown(&self, store: &StateStore, table: &Index) {
        let n_words = self.steps.n_words;
        let mut sources = self.sources.iter().zip(self.states.chunks_exact(n_words));
        let mut source = sources.next();
        for &position in &self.unknown {
            while source.is_some_and(|((_, end), _)| position as usize >= *end) {
                source = sources.next();
            }
            if let Some((_, state)) = source {
                let target = self.steps.target(position as usize, n_words);
                store.prefetch_to_insert(table, target, state);
            }
        }
    }
}

impl<'m> Worker<'m> {
    pub(super) fn new(
        system: System<'m>,
        letters: Letters,
        stubborn: Option<Stubborn>,
        names: Names,
    ) -> Self {
        Self {
            stubborn,
            names,
            n_uncounted: 0,
            memory: 0,
            ahead: Ahead::default(),
            taken: Vec::new(),
            letter: vec![0; letters.n_words],
            last_letter: Vec::new(),
            seen: vec![0; letters.n_words],
            label_counts: Vec::new(),
            n_transitions: 0,
            bound: system.state_bound(),
            n_transient: 0,
            system,
            letters,
        }
    }

    /// Does a part of a task after the other, until nothing is left.
    pub(super) fn serve(
        &mut self,
        shared: &Shared<'_>,
        task: Task,
        depth: u64,
        progress: &mut dyn Progress,
    ) {
        let Task { kind, end, batch } = task;
        while !shared.is_over.load(Ordering::Relaxed) {
            // The cursor never overflows: it passes `end` by at most one batch for each thread.
            let first = shared.cursor.0.fetch_add(batch, Ordering::Relaxed);
            if first >= end {
                return;
            }
            self.report(shared, depth, progress);
            let states = first..end.min(first.saturating_add(batch));
            let mut guard = Some(shared.store.table());
            let result = match kind {
                TaskKind::Begin => self.add_initial(shared, &mut guard, states),
                TaskKind::Expand => self.expand_batch(shared, &mut guard, states),
            };
            self.count(shared);
            if let Err(end) = result {
                shared.finish(end);
                return;
            }
        }
    }

    fn report(&mut self, shared: &Shared<'_>, depth: u64, progress: &mut dyn Progress) {
        self.memory = shared.memory();
        progress.report(&Snapshot {
            phase: "exploring",
            n_states: shared.n_states(),
            n_transitions: self.n_transitions,
            memory_bytes: self.memory,
            depth,
            bound: self.bound,
            shares: None,
        });
    }

    /// Adds some initial states.
    fn add_initial<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        states: Range<StateIndex>,
    ) -> Result<(), End> {
        let n_words = self.system.n_words();
        let all = shared.initial.read().expect(NO_PANIC_INITIAL);
        let words = &all[states.start as usize * n_words..states.end as usize * n_words];
        let hashes: Vec<u64> = words.chunks_exact(n_words).map(StateStore::hash).collect();
        if let Some(table) = guard {
            hashes.iter().for_each(|hash| table.prefetch(*hash));
        }
        for (words, hash) in words.chunks_exact(n_words).zip(hashes) {
            self.reach(shared, guard, words, (hash, NOBODY), None)?;
        }
        Ok(())
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

    /// Expands some states and takes their steps, in order. What is looked up is asked for as early
    /// as possible.
    fn expand_batch<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        sources: Range<StateIndex>,
    ) -> Result<(), End> {
        let mut ahead = std::mem::take(&mut self.ahead);
        let mut sources = sources.filter(|&source| !shared.parents.is_unused(source));
        loop {
            self.look_ahead(shared, &mut sources, &mut ahead);
            if ahead.sources.is_empty() && ahead.failed.is_none() {
                break;
            }
            let table = guard.get_or_insert_with(|| shared.store.table());
            let Ahead {
                steps,
                hashes,
                guesses,
                unknown,
                ..
            } = &mut ahead;
            steps.hash_targets(hashes, table);
            shared.store.guess_all(table, hashes, guesses);
            shared.store.prefetch_halves(table, guesses);
            shared.store.select_unknown(&steps.words, guesses, unknown);
            if shared.budget.n_threads() > 1 {
                for position in unknown {
                    table.prefetch_to_write(hashes[*position as usize]);
                }
            }
            if shared.store.has_halves() {
                ahead.prefetch_unknown(&shared.store, table);
            }
            self.expand(shared, guard, &ahead)?;
        }

        self.ahead = ahead;
        Ok(())
    }

    /// Computes the steps of some states. A search that leaves steps out looks at one state at a
    /// time.
    fn look_ahead(
        &mut self,
        shared: &Shared<'_>,
        sources: &mut impl Iterator<Item = StateIndex>,
        ahead: &mut Ahead,
    ) {
        let n_words = self.system.n_words();
        ahead.sources.clear();
        ahead.states.clear();
        ahead.steps.clear();
        ahead.steps.n_words = n_words;
        ahead.failed = None;

        for source in sources {
            let start = ahead.states.len();
            ahead.states.resize(start + n_words, 0);
            let state = &mut ahead.states[start..];
            shared.store.read(source, state);
            let (steps, spare) = (&mut ahead.steps, &mut ahead.spare);
            if self.system.append_steps(state, steps, spare).is_err() {
                ahead.failed = Some(source);
                break;
            }
            ahead.sources.push((source, steps.len()));
            if steps.len() >= N_AHEAD || self.stubborn.is_some() {
                break;
            }
        }
    }

    /// Takes the steps of the states that were looked at, one state after the other.
    fn expand<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        ahead: &Ahead,
    ) -> Result<(), End> {
        let mut first = 0;
        let mut unknown = ahead.unknown.iter().copied().peekable();
        for (number, &(source, end)) in ahead.sources.iter().enumerate() {
            let positions = first..end;
            first = end;
            let n_states = shared.n_states() + self.n_uncounted;
            let spent = shared.budget.check(n_states, self.memory);
            spent.map_err(End::Stopped)?;
            shared.parents.begin(source, shared.store.len());
            if positions.is_empty() {
                let n_words = self.system.n_words();
                let state = &ahead.states[number * n_words..][..n_words];
                self.stay(shared, guard, source, state)?;
                continue;
            }
            shared.store.stay_near(source, &mut self.names);
            if self.stubborn.is_some() {
                self.take_some(shared, guard, source, ahead)?;
                continue;
            }
            self.n_transitions += positions.len() as u64;
            for label in &ahead.steps.labels[positions.clone()] {
                self.note_label(shared, *label);
            }
            if self.letters.has_step_atoms() {
                for position in positions {
                    let guess = ahead.guesses[position];
                    self.take(shared, guard, source, ahead, (position, guess))?;
                }
                continue;
            }
            while let Some(position) = unknown.next_if(|position| (*position as usize) < end) {
                let place = (position as usize, NOBODY);
                self.take(shared, guard, source, ahead, place)?;
            }
        }

        match ahead.failed {
            Some(source) => Err(End::Failure(Some(source))),
            None => Ok(()),
        }
    }

    /// Takes the idle step of a deadlock.
    fn stay<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        state: &[u64],
    ) -> Result<(), End> {
        self.n_transitions += 1;
        match shared.goal {
            Goal::Deadlock => return Err(End::Goal(source, None)),
            Goal::Several(goals) => {
                let is_met = |goal: &Goal| matches!(goal, Goal::Deadlock);
                self.meet(shared, goals, &is_met, (source, None))?;
            }
            Goal::Nothing | Goal::Satisfies(_) => {}
        }
        if self.letters.has_step_atoms() {
            // It leads to a position at which no step proposition holds.
            let idle = Some((source, LabelTable::IDLE));
            let place = (StateStore::hash(state), source);
            self.reach(shared, guard, state, place, idle)?;
        }
        Ok(())
    }

    /// Takes the step at a position, whose target is guessed to be some state. Returns the name of
    /// the target.
    #[inline]
    pub(super) fn take<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        ahead: &Ahead,
        (position, guess): (usize, StateIndex),
    ) -> Result<StateIndex, End> {
        let target = ahead.steps.target(position, self.system.n_words());
        let place = (ahead.hashes[position], guess);
        let from = Some((source, ahead.steps.labels[position]));
        self.reach(shared, guard, target, place, from)
    }

    #[inline]
    pub(super) fn note_label(&mut self, shared: &Shared<'_>, label: LabelId) {
        match self.label_counts.get_mut(label.index()) {
            Some(count) if *count > 0 => *count += 1,
            _ => self.note_new_label(shared, label),
        }
    }

    #[cold]
    fn note_new_label(&mut self, shared: &Shared<'_>, label: LabelId) {
        if self.label_counts.len() <= label.index() {
            self.label_counts.resize(label.index() + 1, 0);
        }
        self.label_counts[label.index()] = 1;
        for command in &self.system.label(label).commands {
            shared.commands_taken[command.index()].store(true, Ordering::Relaxed);
        }
    }

    /// A state is reached: by a step, or as an initial state. Its hash and a guess which stored
    /// state it is tell where to look. Returns its name.
    #[inline]
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
        if self.letter.iter().eq(&self.last_letter) {
            return Ok(());
        }
        for ((own, seen), word) in self
            .seen
            .iter_mut()
            .zip(&shared.atoms_seen)
            .zip(&self.letter)
        {
            if word & !*own != 0 {
                *own |= word;
                seen.fetch_or(*own, Ordering::Relaxed);
            }
        }

        let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
        match shared.goal {
            Goal::Satisfies(goal) if goal.holds(&holds) => {
                let label = |(source, label)| (source, self.system.label(label).clone());
                return Err(End::Goal(index, from.map(label)));
            }
            Goal::Several(goals) => {
                let is_met =
                    |goal: &Goal| matches!(goal, Goal::Satisfies(goal) if goal.holds(&holds));
                self.meet(shared, goals, &is_met, (index, from))?;
            }
            Goal::Nothing | Goal::Satisfies(_) | Goal::Deadlock => {}
        }
        self.last_letter.clone_from(&self.letter);
        Ok(())
    }

    /// Notes which of several goals are met for the first time; the search is over with the last.
    fn meet(
        &self,
        shared: &Shared<'_>,
        goals: &[Goal],
        is_met: &dyn Fn(&Goal) -> bool,
        (state, from): (StateIndex, Option<(StateIndex, LabelId)>),
    ) -> Result<(), End> {
        for (number, goal) in goals.iter().enumerate() {
            if shared.met.is_open(number) && is_met(goal) {
                let label = |(source, label)| (source, self.system.label(label).clone());
                let n_states = shared.n_states() + self.n_uncounted - self.n_transient;
                let meeting = Meeting {
                    state,
                    last: from.map(label),
                    n_states,
                    n_transitions: self.n_transitions,
                };
                if shared.met.note(number, meeting) {
                    return Err(End::AllMet);
                }
            }
        }
        Ok(())
    }

    #[inline]
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

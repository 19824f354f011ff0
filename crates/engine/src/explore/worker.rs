//! What one thread does in a breadth-first search.

use std::ops::Range;
use std::sync::atomic::Ordering;

use base::{AtomId, Progress, Snapshot, StopReason, bits};

use crate::label::{LabelId, LabelTable};
use crate::letters::Letters;
use crate::passage::Obstacle;
use crate::stubborn::Stubborn;
use crate::system::{Failed, System};
use store::{Index, Inserted, NOBODY, Names, StateIndex, StateStore};

use super::meetings::Meeting;
use super::{
    Ahead, End, Goal, Guard, N_AHEAD, NO_PANIC_INITIAL, Place, Shared, Source, Task, TaskKind,
    Worker,
};

impl Ahead {
    /// Asks the processor for where the targets will be looked up that are not known yet.
    fn prefetch_unknown(&self, store: &StateStore, table: &Index) {
        let n_words = self.steps.n_words;
        let mut sources = self.sources.iter().zip(self.states.chunks_exact(n_words));
        let mut source = sources.next();
        for &position in &self.unknown {
            while source.is_some_and(|(source, _)| position as usize >= source.end) {
                source = sources.next();
            }
            if let Some((_, state)) = source {
                let target = self.steps.target(position as usize, n_words);
                store.prefetch_to_insert(table, target, state);
            }
        }
    }
}

/// The end of a search that cannot walk through all that is behind a state.
fn end_at(obstacle: Obstacle, kept: StateIndex) -> End {
    match obstacle {
        Obstacle::Stopped(reason) => End::Stopped(reason),
        Obstacle::Failed(passed) => End::Failure(Some(Place { kept, passed })),
    }
}

/// How a state was met that is looked at.
#[derive(Clone, Copy, Debug)]
pub(super) enum Encounter {
    /// It is kept, and this step led there, if any.
    Reached(Option<(StateIndex, LabelId)>),
    /// It is kept, and its steps are known.
    Expanded { is_stuck: bool },
    /// It is passed behind one that is kept, and its steps are known: there are some.
    Passed,
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
            if ahead.sources.is_empty() && ahead.obstacle.is_none() {
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
            self.expand(shared, guard, &mut ahead)?;
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
        ahead.obstacle = None;
        ahead.passed.clear();
        ahead.passed_labels.clear();

        for source in sources {
            let start = ahead.states.len();
            ahead.states.resize(start + n_words, 0);
            let state = &mut ahead.states[start..];
            shared.store.read(source, state);
            let (steps, spare) = (&mut ahead.steps, &mut ahead.spare);
            let n_before = steps.len();
            // What was met before something that is passed has failed is looked at before.
            let mut is_known = true;
            if shared.is_passing {
                let passage = &mut ahead.passage;
                let budget = shared.budget;
                let result = self.system.append_long_steps(state, steps, passage, budget);
                ahead.passed.extend_from_slice(&passage.states);
                ahead.passed_labels.extend_from_slice(&passage.labels);
                let obstacle = result.err();
                is_known = !obstacle.as_ref().is_some_and(Obstacle::hides_all);
                ahead.obstacle = obstacle.map(|obstacle| end_at(obstacle, source));
            } else if self.system.append_steps(state, steps, spare).is_err() {
                ahead.obstacle = Some(End::Failure(Some(Place::kept(source))));
                is_known = false;
            }
            if is_known {
                let n_own = if shared.is_passing {
                    ahead.passage.n_own
                } else {
                    (ahead.steps.len() - n_before, 0)
                };
                ahead.sources.push(Source {
                    state: source,
                    n_own,
                    end: ahead.steps.len(),
                    passed_end: ahead.passed.len(),
                    labels_end: ahead.passed_labels.len(),
                });
            }
            let is_enough = ahead.steps.len() >= N_AHEAD || self.stubborn.is_some();
            if is_enough || ahead.obstacle.is_some() {
                break;
            }
        }
    }

    /// Takes the steps of the states that were looked at, one state after the other.
    fn expand<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        ahead: &mut Ahead,
    ) -> Result<(), End> {
        let obstacle = ahead.obstacle.take();
        let ahead = &*ahead;
        let mut first = Source::default();
        let mut unknown = ahead.unknown.iter().copied().peekable();
        for (number, &behind) in ahead.sources.iter().enumerate() {
            let Source {
                state: source,
                n_own,
                end,
                ..
            } = behind;
            let positions = first.end..end;
            let passed = &ahead.passed[first.passed_end..behind.passed_end];
            let passed_labels = &ahead.passed_labels[first.labels_end..behind.labels_end];
            first = behind;
            let n_states = shared.n_states() + self.n_uncounted;
            let spent = shared.budget.check(n_states, self.memory);
            spent.map_err(End::Stopped)?;
            shared.parents.begin(source, shared.store.len());
            let n_words = self.system.n_words();
            let state = &ahead.states[number * n_words..][..n_words];
            let is_stuck = n_own == (0, 0);
            if shared.is_late {
                self.inspect(shared, source, state, Encounter::Expanded { is_stuck })?;
            }
            if is_stuck {
                self.stay(shared, guard, source, state)?;
                continue;
            }
            shared.store.stay_near(source, &mut self.names);
            if self.stubborn.is_some() {
                self.take_some(shared, guard, source, ahead)?;
                continue;
            }
            let is_counted = !self.system.is_transient(state);
            if is_counted {
                self.n_transitions += (n_own.0 + n_own.1) as u64;
            }
            let (own, others) = ahead.steps.labels[positions.clone()].split_at(n_own.0);
            let (passed_own, passed_others) = passed_labels.split_at(n_own.1);
            for label in own.iter().chain(passed_own) {
                self.note_label(shared, *label, is_counted);
            }
            for label in others.iter().chain(passed_others) {
                self.note_label(shared, *label, false);
            }
            for words in passed.chunks_exact(n_words) {
                self.inspect(shared, source, words, Encounter::Passed)?;
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

        obstacle.map_or(Ok(()), Err)
    }

    /// Takes the idle step of a deadlock.
    fn stay<'s>(
        &mut self,
        shared: &'s Shared<'_>,
        guard: &mut Guard<'s>,
        source: StateIndex,
        state: &[u64],
    ) -> Result<(), End> {
        self.n_transitions += u64::from(!self.system.is_transient(state));
        match shared.goal {
            Goal::Deadlock => return Err(End::Goal(Place::kept(source), None)),
            Goal::Several(goals) => {
                let is_met = |goal: &Goal| matches!(goal, Goal::Deadlock);
                self.meet(shared, goals, &is_met, (Place::kept(source), None))?;
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
    pub(super) fn note_label(&mut self, shared: &Shared<'_>, label: LabelId, is_counted: bool) {
        match self.label_counts.get_mut(label.index()) {
            Some(count) if *count > 0 => *count += u64::from(is_counted),
            _ => self.note_new_label(shared, label, is_counted),
        }
    }

    #[cold]
    fn note_new_label(&mut self, shared: &Shared<'_>, label: LabelId, is_counted: bool) {
        if self.label_counts.len() <= label.index() {
            self.label_counts.resize(label.index() + 1, 0);
        }
        self.label_counts[label.index()] = 1 + u64::from(is_counted);
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
        }
        if shared.is_late || !is_new && !self.letters.has_step_atoms() {
            return Ok(index);
        }
        // A run is told by its last step only if that is a single one.
        let last = from.filter(|_| !shared.is_passing);
        self.inspect(shared, index, words, Encounter::Reached(last))?;
        Ok(index)
    }

    /// Looks whether a state is the goal: one that is kept, or one that is passed behind it.
    pub(super) fn inspect(
        &mut self,
        shared: &Shared<'_>,
        kept: StateIndex,
        words: &[u64],
        encounter: Encounter,
    ) -> Result<(), End> {
        let (from, is_passed) = match encounter {
            Encounter::Reached(from) => (from, false),
            Encounter::Expanded { .. } => (None, false),
            Encounter::Passed => (None, true),
        };
        let place = || Place {
            kept,
            passed: is_passed.then(|| words.into()),
        };
        self.letter.fill(0);
        let (letters, letter) = (&mut self.letters, &mut self.letter);
        let evaluated = if shared.is_late {
            let is_stuck = matches!(encounter, Encounter::Expanded { is_stuck: true });
            letters.of_expanded(&mut self.system, words, is_stuck, letter)
        } else {
            letters.of_state(&mut self.system, words, letter)
        };
        evaluated.map_err(|Failed| End::Failure(Some(place())))?;
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
                return Err(End::Goal(place(), from.map(label).map(Box::new)));
            }
            Goal::Several(goals) => {
                let is_met =
                    |goal: &Goal| matches!(goal, Goal::Satisfies(goal) if goal.holds(&holds));
                self.meet(shared, goals, &is_met, (place(), from))?;
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
        (place, from): (Place, Option<(StateIndex, LabelId)>),
    ) -> Result<(), End> {
        for (number, goal) in goals.iter().enumerate() {
            if shared.met.is_open(number) && is_met(goal) {
                let label = |(source, label)| (source, self.system.label(label).clone());
                let n_states = shared.n_states() + self.n_uncounted - self.n_transient;
                let meeting = Meeting {
                    place: place.clone(),
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

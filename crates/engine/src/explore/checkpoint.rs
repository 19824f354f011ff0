//! A breadth-first search as numbers, and back.
//!
//! A search is kept as it was when its current level began, with all states met since. The level is
//! expanded again: states met before are not new then, but steps are counted as if nothing had
//! happened. Whether the new states are the goal is looked at again, because a search that is
//! stopped in one thread may lose what another has just found.

use std::sync::atomic::Ordering;

use base::{Checkpoints, Progress, StopReason, put_list, take_list};
use rustc_hash::FxHashSet;

use crate::initial::{Interrupted, initial_states};
use store::{NOBODY, StateIndex, StateStore};

use super::thread_pool::Members;
use super::worker::Encounter;
use super::{End, NO_PANIC, NO_PANIC_INITIAL, Position, Shared, TaskKind, Worker};

/// What tells these numbers from those of other searches.
const KIND: u64 = 1;

/// No search takes more steps.
const MOST_TRANSITIONS: u64 = 1 << 60;

/// What was kept cannot have been kept by this search.
const DAMAGED: End = End::Stopped(StopReason::DamagedCheckpoint);

impl Shared<'_> {
    /// Where to begin: where an earlier search was, or at the initial states.
    pub(super) fn first_position(
        &self,
        first: &mut Worker<'_>,
        members: &Members<'_>,
        checkpoints: Option<&dyn Checkpoints>,
        progress: &mut dyn Progress,
    ) -> Result<Position, End> {
        let initial = initial_states(&mut first.system, self.budget);
        let initial = initial.map_err(|interrupted| match interrupted {
            Interrupted::Stopped(reason) => End::Stopped(reason),
            Interrupted::Failed => End::Failure(None),
        })?;

        if let Some(words) = checkpoints.and_then(|checkpoints| checkpoints.take(self.search_id)) {
            let kept = Kept::read(&words).filter(|kept| self.fits(first, kept, &initial));
            let kept = kept.ok_or(DAMAGED)?;
            let position = self.restore(first, &kept)?;
            first.end_level(self);
            return Ok(position);
        }

        let n_initial = StateIndex::try_from(initial.len() / first.system.n_words());
        let n_initial = n_initial.map_err(|_| End::Stopped(StopReason::StateLimit))?;
        *self.initial.write().expect(NO_PANIC_INITIAL) = initial;
        self.share(
            first,
            members,
            (TaskKind::Begin, (0, n_initial)),
            0,
            progress,
        );
        *self.initial.write().expect(NO_PANIC_INITIAL) = Vec::new();
        Ok(Position {
            level: (0, self.store.len() as StateIndex),
            depth: 0,
        })
    }

    /// Was the search stopped from outside?
    pub(super) fn is_stopped(&self) -> bool {
        let end = self.end.lock().expect(NO_PANIC);
        matches!(*end, Some(End::Stopped(_)))
    }

    fn n_words(&self, worker: &Worker<'_>) -> usize {
        worker.system.n_words()
    }

    /// Hands over what is needed to expand the level afresh. `n_transitions` were counted before
    /// it. Names without a state are skipped.
    pub(super) fn keep(
        &self,
        worker: &Worker<'_>,
        position: Position,
        n_transitions: u64,
        checkpoints: &dyn Checkpoints,
    ) {
        let n_words = self.n_words(worker);
        let mut new_names = Vec::with_capacity(self.store.len() + 1);
        let (mut states, mut parents) = (Vec::new(), Vec::new());
        let mut state = vec![0; n_words];

        for name in 0..self.store.len() as StateIndex {
            new_names.push(parents.len() as u64);
            if self.parents.is_unused(name) {
                continue;
            }
            self.store.read(name, &mut state);
            states.extend_from_slice(&state);
            // A search with checkpoints keeps the parent of every state.
            let parent = self.parents.candidates(name).map(|parents| parents.start);
            parents.push(parent.map_or(0, |parent| new_names[parent as usize] + 1));
        }

        new_names.push(parents.len() as u64);
        let [first, end] = [position.level.0, position.level.1].map(|n| new_names[n as usize]);
        let mut out = Vec::new();
        let facts = [
            KIND,
            n_words as u64,
            first,
            end,
            position.depth,
            n_transitions,
        ];

        put_list(&mut out, facts);
        put_list(&mut out, states);
        put_list(&mut out, parents);

        let taken = self.commands_taken.iter();
        put_list(
            &mut out,
            taken.map(|taken| u64::from(taken.load(Ordering::Relaxed))),
        );
        put_list(&mut out, self.atoms_seen());
        checkpoints.keep(self.search_id, &out);
    }

    /// Can this have been kept by a search from these initial states? Every number is looked at, but
    /// not whether the states before the level have been expanded: that would be the search itself.
    fn fits(&self, worker: &Worker<'_>, kept: &Kept<'_>, initial: &[u64]) -> bool {
        let n_words = self.n_words(worker);
        let has_sizes = kept.n_words == n_words
            && kept.states.len() == kept.parents.len() * n_words
            && kept.commands_taken.len() == self.commands_taken.len()
            && kept.seen.len() == self.atoms_seen.len()
            && kept.n_transitions <= MOST_TRANSITIONS;
        if !has_sizes || !kept.has_levels() {
            return false;
        }

        let states = || kept.states.chunks_exact(n_words);
        let begun = states()
            .zip(kept.parents)
            .filter(|(_, parent)| **parent == 0);
        let begun: FxHashSet<&[u64]> = begun.map(|(words, _)| words).collect();
        let initial: FxHashSet<&[u64]> = initial.chunks_exact(n_words).collect();
        begun == initial && states().all(|words| worker.system.is_packed(words))
    }

    fn restore(&self, worker: &mut Worker<'_>, kept: &Kept<'_>) -> Result<Position, End> {
        let mut guard = Some(self.store.table());
        let mut n_restored = 0;
        for (words, parent) in kept.states.chunks_exact(kept.n_words).zip(kept.parents) {
            let hash = StateStore::hash(words);
            let inserted = worker.insert(self, &mut guard, words, (hash, NOBODY))?;
            let (name, is_new) = inserted;
            // Names are given in order, unless a state occurs twice.
            if !is_new || name as usize != n_restored {
                return Err(DAMAGED);
            }
            let parent = u32::try_from(*parent).ok().and_then(|p| p.checked_sub(1));
            self.parents.set(name, parent);
            worker.n_uncounted += 1;
            worker.n_transient += u64::from(worker.system.is_transient(words));
            n_restored += 1;
        }

        drop(guard);
        worker.count(self);
        worker.n_transitions = kept.n_transitions;
        for (own, taken) in self.commands_taken.iter().zip(kept.commands_taken) {
            own.store(*taken != 0, Ordering::Relaxed);
        }
        for (own, seen) in self.atoms_seen.iter().zip(kept.seen) {
            own.store(*seen, Ordering::Relaxed);
        }
        for name in kept.position.level.1..n_restored as StateIndex {
            let words = self.store.get(name);
            if !worker.letters.has_step_atoms() && !self.is_late {
                worker.inspect(self, name, &words, Encounter::Reached(None))?;
            }
        }

        Ok(kept.position)
    }
}

/// What was kept, read.
struct Kept<'a> {
    n_words: usize,
    position: Position,
    n_transitions: u64,
    states: &'a [u64],
    parents: &'a [u64],
    commands_taken: &'a [u64],
    seen: &'a [u64],
}

impl<'a> Kept<'a> {
    /// Nothing if another search has written it.
    fn read(mut words: &'a [u64]) -> Option<Self> {
        let words = &mut words;
        let &[KIND, n_words, first, end, depth, n_transitions] = take_list(words)? else {
            return None;
        };
        let level = (u32::try_from(first).ok()?, u32::try_from(end).ok()?);
        let kept = Self {
            n_words: usize::try_from(n_words).ok()?,
            position: Position { level, depth },
            n_transitions,
            states: take_list(words)?,
            parents: take_list(words)?,
            commands_taken: take_list(words)?,
            seen: take_list(words)?,
        };
        words.is_empty().then_some(kept)
    }

    /// Do the parents make levels, one after the other, of which the one to be expanded is the last
    /// but for the states reached from it?
    fn has_levels(&self) -> bool {
        let mut depths: Vec<u64> = Vec::with_capacity(self.parents.len());
        for parent in self.parents {
            let depth = match usize::try_from(*parent) {
                Ok(0) => 0,
                Ok(parent) if parent <= depths.len() => depths[parent - 1] + 1,
                _ => return false,
            };
            if depths.last().is_some_and(|last| depth < *last) {
                return false;
            }
            depths.push(depth);
        }

        let Position { level, depth } = self.position;
        let begin = depths.partition_point(|other| *other < depth);
        let end = depths.partition_point(|other| *other <= depth);
        let is_last = depths[end..].iter().all(|other| *other == depth + 1);
        begin < end && (begin as u64, end as u64) == (level.0.into(), level.1.into()) && is_last
    }
}

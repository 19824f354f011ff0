//! The states of a model in the order in which they come up, by the reference semantics.
//!
//! The initial states come first, then the new successors of the first state, those of the second, and
//! so on. Nothing is decided on the way: the order follows from the model alone.

use std::collections::VecDeque;

use base::{AtomId, Budget, bits};
use model::{AtomMeaning, Model, RunTimeError, State, StepSet, Successor};
use rustc_hash::FxHashMap;

use crate::Failure;
use crate::bytes::{put, put_signed};

/// States whose successors are computed together by several threads. One thread takes one after the
/// other: what it has just freed is still near.
const CHUNK: usize = 512;

/// More initial states, before the initial constraints are looked at, are refused.
const MAX_CANDIDATES: u128 = 1 << 24;

/// What holds at a position of a run: the number of a combination of truth values that has come up.
pub type Letter = u32;

/// A walk through all states of a model.
pub struct StateWalk<'m> {
    model: &'m Model,
    budget: &'m Budget,
    /// Sorted.
    atoms: Vec<(AtomId, About)>,
    number_by_state: FxHashMap<Box<[u8]>, u32>,
    /// A state as bytes, while it is looked up.
    packed: Vec<u8>,
    /// The truth of each atom, for each letter.
    truths: Vec<Box<[u64]>>,
    letter_by_truths: FxHashMap<Box<[u64]>, Letter>,
    /// What holds in each state, apart from the step that led to it.
    letters: Vec<Letter>,
    waiting: VecDeque<State>,
    n_initial: usize,
    max_states: usize,
}

/// What an atom is about.
enum About {
    /// The state.
    State,
    /// The step that led to it: is it one of these?
    Taken(StepSet),
    /// The step that led to it: does it set the abstract timer in this cell?
    TimerSet(usize),
}

/// A state and all its steps.
pub struct Visit {
    /// The state.
    pub state: State,
    /// Its steps; the idle step in a deadlock.
    pub steps: Vec<Successor>,
    /// The numbers of their targets.
    pub targets: Vec<u32>,
    /// What holds after each of them.
    pub letters: Vec<Letter>,
    /// How many of the targets came up for the first time.
    pub n_new: u32,
}

impl<'m> StateWalk<'m> {
    /// A walk that evaluates the atoms, and fails where there are more than `max_states` states.
    ///
    /// # Errors
    /// There are too many initial states, or an initial state has a run-time error.
    pub fn new(
        model: &'m Model,
        mut atoms: Vec<AtomId>,
        max_states: usize,
        budget: &'m Budget,
    ) -> Result<Self, Failure> {
        atoms.sort_unstable();
        atoms.dedup();
        let about = |atom: AtomId| match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::Taken(pattern) => About::Taken(model.step_set(pattern)),
            AtomMeaning::TimerSet(cell) => About::TimerSet(*cell),
            AtomMeaning::State(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..) => About::State,
        };
        let atoms = atoms.into_iter().map(|atom| (atom, about(atom))).collect();
        let mut walk = Self {
            model,
            budget,
            atoms,
            number_by_state: FxHashMap::default(),
            packed: Vec::new(),
            truths: Vec::new(),
            letter_by_truths: FxHashMap::default(),
            letters: Vec::new(),
            waiting: VecDeque::new(),
            n_initial: 0,
            max_states,
        };

        if model.unbounded().is_some() {
            let why = "the model leaves data open, so its states cannot be listed";
            return Err(Failure::wrong(why));
        }
        check_candidates(model)?;
        let mut fresh = Vec::new();
        for state in model.initial_states()? {
            walk.number(&state, &mut fresh)?;
        }
        walk.n_initial = fresh.len();
        walk.admit(fresh)?;
        Ok(walk)
    }

    /// How many states are initial; they have the first numbers.
    #[must_use]
    pub fn n_initial(&self) -> usize {
        self.n_initial
    }

    /// How many states have come up.
    #[must_use]
    pub fn n_states(&self) -> usize {
        self.letters.len()
    }

    /// Have as many states come up as there may be?
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.number_by_state.len() >= self.max_states
    }

    /// What holds in an initial state, before any step.
    #[must_use]
    pub fn initial_letter(&self, state: usize) -> Letter {
        self.letters[state]
    }

    /// The truth of an atom in a letter of this walk.
    #[must_use]
    pub fn holds(&self, letter: Letter, atom: AtomId) -> bool {
        let position = self.atoms.binary_search_by_key(&atom, |(known, _)| *known);
        let position = position.expect("the walk was made for this atom");
        bits::get(&self.truths[letter as usize], position)
    }

    /// The next states with their steps; none at the end.
    ///
    /// # Errors
    /// There are too many states, a run-time error, or the budget is spent.
    pub fn next_visits(&mut self) -> Result<Vec<Visit>, Failure> {
        let n_states = self.n_states() as u64;
        self.budget.check(n_states, 0).map_err(Failure::Stopped)?;
        let chunk = if self.budget.n_threads() > 1 {
            CHUNK
        } else {
            1
        };
        let n_visits = chunk.min(self.waiting.len());
        let states: Vec<State> = self.waiting.drain(..n_visits).collect();
        let model = self.model;
        let all_steps = self.on_threads(&states, &|state| model.steps_or_idle(state))?;

        // In the order of the states and of their steps.
        let mut fresh = Vec::new();
        let mut numbered = Vec::new();
        for steps in &all_steps {
            let before = fresh.len();
            let targets: Result<Vec<u32>, Failure> = steps
                .iter()
                .map(|step| self.number(&step.target, &mut fresh))
                .collect();
            numbered.push((targets?, (fresh.len() - before) as u32));
        }
        self.admit(fresh)?;

        let mut visits = Vec::with_capacity(states.len());
        for ((state, steps), (targets, n_new)) in states.into_iter().zip(all_steps).zip(numbered) {
            let both = steps.iter().zip(&targets);
            let letters = both.map(|(step, target)| self.letter_after(step, *target));
            let letters = letters.collect();
            visits.push(Visit {
                state,
                steps,
                targets,
                letters,
                n_new,
            });
        }
        Ok(visits)
    }

    /// The number of a state, which is put among the fresh ones if it has come up for the first time.
    fn number(&mut self, state: &State, fresh: &mut Vec<State>) -> Result<u32, Failure> {
        self.packed.clear();
        pack(state, &mut self.packed);
        if let Some(number) = self.number_by_state.get(self.packed.as_slice()) {
            return Ok(*number);
        }
        let number = self.number_by_state.len();
        if number >= self.max_states || number >= u32::MAX as usize {
            let message = format!("there are more than {} states", self.max_states);
            return Err(Failure::Wrong(message));
        }
        let packed = self.packed.as_slice().into();
        self.number_by_state.insert(packed, number as u32);
        fresh.push(state.clone());
        Ok(number as u32)
    }

    /// Evaluates atoms in fresh states, which then wait for their visit.
    fn admit(&mut self, fresh: Vec<State>) -> Result<(), Failure> {
        let truths = self.on_threads(&fresh, &|state| {
            let mut truths = vec![0; bits::words_for(self.atoms.len())];
            for (position, (atom, about)) in self.atoms.iter().enumerate() {
                // What is about steps is added where they are known.
                let is_about_state = matches!(about, About::State);
                if is_about_state && self.model.atom_holds(*atom, state, &[])? {
                    bits::set(&mut truths, position);
                }
            }
            Ok(truths)
        })?;
        for truths in truths {
            let letter = self.letter(&truths);
            self.letters.push(letter);
        }
        self.waiting.extend(fresh);
        Ok(())
    }

    fn letter(&mut self, truths: &[u64]) -> Letter {
        if let Some(letter) = self.letter_by_truths.get(truths) {
            return *letter;
        }
        let letter = self.truths.len() as Letter;
        self.truths.push(truths.into());
        self.letter_by_truths.insert(truths.into(), letter);
        letter
    }

    fn letter_after(&mut self, step: &Successor, target: u32) -> Letter {
        let of_state = self.letters[target as usize];
        if self
            .atoms
            .iter()
            .all(|(_, about)| matches!(about, About::State))
        {
            return of_state;
        }
        let mut truths = self.truths[of_state as usize].clone();
        for (position, (_, about)) in self.atoms.iter().enumerate() {
            let holds = match about {
                About::State => continue,
                About::Taken(set) => step.commands.iter().any(|command| set.contains(*command)),
                About::TimerSet(cell) => step.timers_set.contains(cell),
            };
            if holds {
                bits::set(&mut truths, position);
            }
        }
        self.letter(&truths)
    }

    /// Computes something of every state, with as many threads as the budget allows.
    fn on_threads<T: Send>(
        &self,
        states: &[State],
        compute: &(dyn Fn(&State) -> Result<T, RunTimeError> + Sync),
    ) -> Result<Vec<T>, Failure> {
        let n_threads = self.budget.n_threads().max(1);
        if n_threads == 1 || states.len() < 2 * n_threads {
            return Ok(states.iter().map(compute).collect::<Result<_, _>>()?);
        }
        let share = states.len().div_ceil(n_threads);
        let shares: Vec<Result<Vec<T>, RunTimeError>> = std::thread::scope(|scope| {
            let parts = states.chunks(share);
            let threads: Vec<_> = parts
                .map(|part| scope.spawn(move || part.iter().map(compute).collect()))
                .collect();
            let join = |thread: std::thread::ScopedJoinHandle<'_, _>| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            };
            threads.into_iter().map(join).collect()
        });
        let mut all = Vec::with_capacity(states.len());
        for share in shares {
            all.extend(share?);
        }
        Ok(all)
    }
}

/// The initial states are enumerated before their constraints are looked at; is that possible?
fn check_candidates(model: &Model) -> Result<(), Failure> {
    let mut n_candidates = 1_u128;
    for instance in 0..model.instances().len() {
        let n_locations = model.initial_locations(instance).len() as u128;
        n_candidates = n_candidates.saturating_mul(n_locations);
    }
    for (position, cell) in model.cells().iter().enumerate() {
        if model.initial_value(position)?.is_none() {
            let (lo, hi) = cell.ty.bounds();
            let n_values = u128::try_from(i128::from(hi) - i128::from(lo) + 1).unwrap_or(0);
            n_candidates = n_candidates.saturating_mul(n_values);
        }
    }
    if n_candidates > MAX_CANDIDATES {
        return Err(Failure::wrong(
            "there are too many candidates for initial states",
        ));
    }
    Ok(())
}

/// A state as bytes. Different states of a model have different bytes: the numbers of locations, cells
/// and channels are those of the model, and everything else has its length before it.
fn pack(state: &State, bytes: &mut Vec<u8>) {
    for location in &state.locations {
        put(bytes, u64::from(location.0));
    }
    for cell in &state.cells {
        put_signed(bytes, *cell);
    }
    for channel in &state.channels {
        put(bytes, channel.len() as u64);
        for message in channel {
            put(bytes, message.len() as u64);
            let values = message.iter();
            values.for_each(|value| put_signed(bytes, *value));
        }
    }
}

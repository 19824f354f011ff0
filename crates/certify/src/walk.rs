//! The states of a model in the order in which they come up, by the reference semantics.
//!
//! The initial states come first, then the new successors of the first state, those of the second, and
//! so on. Nothing is decided on the way: the order follows from the model alone.

use std::collections::{BTreeSet, VecDeque};

use base::{AtomId, Budget, bits};
use model::{AtomMeaning, Expr, Model, RunTimeError, State, StepSet, Successor};
use rustc_hash::FxHashMap;

use crate::Failure;
use crate::states::States;

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
    /// Is none of the atoms about the step that led to a state?
    is_about_states: bool,
    /// What the atoms about states depend on, if that is less than everything.
    support: Option<Support>,
    letter_by_support: FxHashMap<Vec<i64>, Letter>,
    states: States,
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
        let atoms: Vec<_> = atoms.into_iter().map(|atom| (atom, about(atom))).collect();

        let is_about_state = |(_, about): &(AtomId, About)| matches!(about, About::State);
        let mut walk = Self {
            model,
            budget,
            is_about_states: atoms.iter().all(is_about_state),
            support: Support::new(model, &atoms),
            letter_by_support: FxHashMap::default(),
            atoms,
            states: States::default(),
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
        let initial = model.initial_states()?;
        let mut fresh = Vec::new();
        for state in &initial {
            walk.number(state, &mut fresh)?;
        }
        walk.n_initial = fresh.len();
        walk.admit(&fresh)?;
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
        self.states.len() >= self.max_states
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
        let all_steps = self.on_threads(&states, &|state: &State| model.steps_or_idle(state))?;

        // In the order of the states and of their steps.
        let mut fresh = Vec::new();
        let mut numbered = Vec::new();
        for steps in &all_steps {
            let before = fresh.len();
            let mut targets = Vec::with_capacity(steps.len());
            for step in steps {
                targets.push(self.number(&step.target, &mut fresh)?);
            }
            numbered.push((targets, (fresh.len() - before) as u32));
        }
        self.admit(&fresh)?;

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
    fn number<'s>(&mut self, state: &'s State, fresh: &mut Vec<&'s State>) -> Result<u32, Failure> {
        let number = self.states.len();
        if let Some(known) = self.states.find_or_add(state) {
            return Ok(known);
        }
        if number >= self.max_states || number >= (u32::MAX - 1) as usize {
            let message = format!("there are more than {} states", self.max_states);
            return Err(Failure::Wrong(message));
        }
        fresh.push(state);
        Ok(number as u32)
    }

    /// Evaluates atoms in fresh states, which then wait for their visit.
    fn admit(&mut self, fresh: &[&State]) -> Result<(), Failure> {
        let letters = self.on_threads(fresh, &|state: &&State| {
            let read = self.support.as_ref().map(|support| support.read(state));
            let known = read
                .as_ref()
                .and_then(|read| self.letter_by_support.get(read));
            match known {
                Some(letter) => Ok(Evaluated::Known(*letter)),
                None => Ok(Evaluated::New(self.truths_in(state)?, read)),
            }
        })?;

        // Letters are numbered by one thread, in the order of the states.
        for evaluated in letters {
            let letter = match evaluated {
                Evaluated::Known(letter) => letter,
                Evaluated::New(truths, read) => {
                    let letter = self.letter(&truths);
                    let read = read.map(|read| (read, letter));
                    self.letter_by_support.extend(read);
                    letter
                }
            };
            self.letters.push(letter);
        }

        self.waiting
            .extend(fresh.iter().map(|state| (*state).clone()));
        Ok(())
    }

    /// The truth of the atoms about states; what is about steps is added where they are known.
    fn truths_in(&self, state: &State) -> Result<Vec<u64>, RunTimeError> {
        let mut truths = vec![0; bits::words_for(self.atoms.len())];
        for (position, (atom, about)) in self.atoms.iter().enumerate() {
            let is_about_state = matches!(about, About::State);
            if is_about_state && self.model.atom_holds(*atom, state, &[])? {
                bits::set(&mut truths, position);
            }
        }
        Ok(truths)
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
        if self.is_about_states {
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
    fn on_threads<S: Sync, T: Send>(
        &self,
        states: &[S],
        compute: &(impl Fn(&S) -> Result<T, RunTimeError> + Sync),
    ) -> Result<Vec<T>, Failure> {
        let n_threads = self.budget.n_threads().max(1);
        let mut all = Vec::with_capacity(states.len());
        if n_threads == 1 || states.len() < 2 * n_threads {
            for state in states {
                all.push(compute(state)?);
            }
            return Ok(all);
        }

        // Chunks in order, so that the result does not depend on the number of threads.
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

        for share in shares {
            all.extend(share?);
        }
        Ok(all)
    }
}

/// What was found out about the atoms in a state.
enum Evaluated {
    Known(Letter),
    /// Their truth, and what it depends on.
    New(Vec<u64>, Option<Vec<i64>>),
}

/// Parts of a state: everything that some atoms may read. Where these are the same, so is the truth of
/// the atoms.
struct Support {
    locations: Vec<usize>,
    cells: Vec<usize>,
}

impl Support {
    /// Nothing if it would be most of the state, or is not known.
    fn new(model: &Model, atoms: &[(AtomId, About)]) -> Option<Self> {
        let mut is_known = true;
        let (mut processes, mut vars) = (BTreeSet::new(), BTreeSet::new());
        for (atom, _) in atoms {
            match &model.parts().atoms[atom.index()].meaning {
                AtomMeaning::Taken(_) | AtomMeaning::TimerSet(_) => {}
                AtomMeaning::Enabled(_) | AtomMeaning::Deadlock | AtomMeaning::Certainly(..) => {
                    is_known = false;
                }
                AtomMeaning::State(expr) => expr.walk(&mut |inner| match inner {
                    Expr::Read(place) => {
                        vars.insert(place.var);
                    }
                    Expr::At { process, .. } => {
                        processes.insert(*process);
                    }
                    Expr::Length(_) => is_known = false,
                    Expr::Int(_)
                    | Expr::Bool(_)
                    | Expr::Enum(..)
                    | Expr::Bound(_)
                    | Expr::Not(_)
                    | Expr::Neg(_)
                    | Expr::Binary(..)
                    | Expr::Ite(..)
                    | Expr::Quantified { .. }
                    | Expr::Wrap { .. } => {}
                }),
            }
        }

        let instances = model.instances().iter().enumerate();
        let located = instances.filter(|(_, instance)| processes.contains(&instance.process));
        let cells = model.cells().iter().enumerate();
        let read = cells.filter(|(_, cell)| vars.contains(&cell.var));
        let support = Self {
            locations: located.map(|(position, _)| position).collect(),
            cells: read.map(|(position, _)| position).collect(),
        };

        // Comparing most of the state costs as much as evaluating the atoms.
        let n_read = support.locations.len() + support.cells.len();
        let n_parts = model.instances().len() + model.cells().len();
        (is_known && 2 * n_read <= n_parts).then_some(support)
    }

    fn read(&self, state: &State) -> Vec<i64> {
        let locations = self
            .locations
            .iter()
            .map(|at| state.locations[*at].0.into());
        let cells = self.cells.iter().map(|at| state.cells[*at]);
        locations.chain(cells).collect()
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

//! Breadth-first exploration: reachability, invariants, deadlocks, and exact counts.
//!
//! The first goal met is nearest to the initial states, so the run that leads to it is shortest.

use base::{AtomId, Budget, Progress, Snapshot, StopReason, bits};
use evidence::{Trace, TraceStep};
use omega::Prop;

use crate::compile::CompileError;
use crate::label::{Label, LabelId};
use crate::letters::Letters;
use crate::store::{StateIndex, StateStore};
use crate::system::{Failed, Steps, System};

/// What an exploration looks for.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Nothing: explore everything.
    Nothing,
    /// A position that satisfies the formula.
    Satisfies(Prop),
    /// A state without steps.
    Deadlock,
}

/// How an exploration ended.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Found {
    /// Everything was explored and the goal is nowhere.
    Nothing,
    /// The goal is at the end of this run.
    Goal(Trace),
    /// In the last state of this run, a guard, effect or atom has no value; without a run, already
    /// an initial value has none.
    Failure(Option<Trace>),
    /// The search was stopped.
    Stopped(StopReason),
}

/// What a search has seen. Counts are exact if the search was complete.
#[derive(Clone, Debug, Default)]
pub struct Stats {
    /// Distinct states of the system.
    pub n_states: u64,
    /// Steps that leave them, idle steps included.
    pub n_transitions: u64,
    /// Distinct states of the product with the automaton, if there is one.
    pub n_product_states: Option<u64>,
    /// Bytes in the structures of the search.
    pub memory_bytes: u64,
    /// Which commands were executed, by command.
    pub commands_taken: Vec<bool>,
    /// Which atoms of interest were true somewhere, by atom.
    pub atoms_seen: Vec<bool>,
}

/// The end of an exploration and what it has seen.
#[derive(Clone, Debug)]
pub struct Explored {
    /// The end.
    pub found: Found,
    /// What was seen.
    pub stats: Stats,
}

/// Explores breadth first until the goal is met. Every atom in `atoms` (among them those of the
/// goal) is evaluated everywhere.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn explore(
    system: &mut System<'_>,
    atoms: &[AtomId],
    goal: &Goal,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<Explored, CompileError> {
    let letters = Letters::new(system, atoms)?;
    let mut search = BreadthFirst {
        store: StateStore::new(system.n_words()),
        parents: Vec::new(),
        letter: vec![0; letters.n_words],
        state_letters: Vec::new(),
        seen: vec![0; letters.n_words],
        commands_taken: vec![false; system.model().commands().len()],
        hashes: Vec::new(),
        n_transitions: 0,
        next: 0,
        system,
        letters,
        goal,
    };
    let found = match search.run(budget, progress) {
        Ok(()) => Found::Nothing,
        Err(End::Stopped(reason)) => Found::Stopped(reason),
        Err(End::Goal(state, last)) => Found::Goal(search.trace(state, last)),
        Err(End::Failure(state)) => Found::Failure(state.map(|state| search.trace(state, None))),
    };
    let stats = search.stats(atoms);
    Ok(Explored { found, stats })
}

/// Why a breadth-first search ends early.
enum End {
    Stopped(StopReason),
    /// At this state, reached by this step from its parent (if it matters which).
    Goal(StateIndex, Option<(StateIndex, LabelId)>),
    Failure(Option<StateIndex>),
}

const NO_PARENT: StateIndex = StateIndex::MAX;

struct BreadthFirst<'a, 'm> {
    system: &'a mut System<'m>,
    letters: Letters,
    goal: &'a Goal,
    store: StateStore,
    /// The state from which each state was reached first.
    parents: Vec<StateIndex>,
    letter: Vec<u64>,
    /// The letters of all states; kept only if steps matter to atoms, for then the same state is
    /// judged again after every step that leads to it.
    state_letters: Vec<u64>,
    seen: Vec<u64>,
    commands_taken: Vec<bool>,
    hashes: Vec<u64>,
    n_transitions: u64,
    next: StateIndex,
}

impl BreadthFirst<'_, '_> {
    fn run(&mut self, budget: &Budget, progress: &mut dyn Progress) -> Result<(), End> {
        self.add_initial_states(budget)?;
        let mut steps = Steps::default();
        let mut state = vec![0; self.system.n_words()];
        while (self.next as usize) < self.store.len() {
            let source = self.next;
            if source.is_multiple_of(1024) {
                let snapshot = self.snapshot();
                progress.report(&snapshot);
            }
            let (n_states, memory) = (self.store.len() as u64, self.memory());
            budget.check(n_states, memory).map_err(End::Stopped)?;
            state.copy_from_slice(self.store.get(source));
            let failed = |Failed| End::Failure(Some(source));
            self.system.steps(&state, &mut steps).map_err(failed)?;
            self.next += 1;
            self.n_transitions += steps.len().max(1) as u64;
            if steps.is_empty() && matches!(self.goal, Goal::Deadlock) {
                return Err(End::Goal(source, None));
            }
            steps.hash_targets(&mut self.hashes, &self.store);
            for position in 0..steps.len() {
                let label = steps.labels[position];
                for command in &self.system.labels.get(label).commands {
                    self.commands_taken[command.index()] = true;
                }
                let target = steps.target(position, state.len());
                self.reach(target, self.hashes[position], Some((source, label)))?;
            }
            if steps.is_empty() && self.letters.has_step_atoms() {
                let hash = StateStore::hash(&state);
                self.reach(&state, hash, Some((source, crate::label::LabelTable::IDLE)))?;
            }
        }
        Ok(())
    }

    fn add_initial_states(&mut self, budget: &Budget) -> Result<(), End> {
        // The callback needs the system, which the search owns; initial states are few words each.
        let mut initial = StateStore::new(self.system.n_words());
        let mut n_checked = 0_u64;
        self.system.for_each_initial(&mut |_, words, result| {
            n_checked += 1;
            if n_checked.is_multiple_of(1024) {
                budget.check(0, initial.memory()).map_err(End::Stopped)?;
            }
            result.map_err(|Failed| End::Failure(None))?;
            initial
                .insert(words)
                .ok_or(End::Stopped(StopReason::StateLimit))?;
            Ok(())
        })?;
        for index in 0..initial.len() as StateIndex {
            let words = initial.get(index);
            self.reach(words, StateStore::hash(words), None)?;
        }
        Ok(())
    }

    /// A state is reached: by a step, or as an initial state.
    fn reach(
        &mut self,
        words: &[u64],
        hash: u64,
        from: Option<(StateIndex, LabelId)>,
    ) -> Result<(), End> {
        let full = End::Stopped(StopReason::StateLimit);
        let (index, is_new) = self.store.insert_hashed(words, hash).ok_or(full)?;
        let n_words = self.letters.n_words;
        let keep = self.letters.has_step_atoms();
        if is_new {
            self.parents
                .push(from.map_or(NO_PARENT, |(parent, _)| parent));
            self.letter.fill(0);
            let failed = |Failed| End::Failure(Some(index));
            self.letters
                .of_state(self.system, words, &mut self.letter)
                .map_err(failed)?;
            if keep {
                self.state_letters.extend_from_slice(&self.letter);
            }
        } else if keep {
            let stored = &self.state_letters[index as usize * n_words..][..n_words];
            self.letter.copy_from_slice(stored);
        } else {
            return Ok(());
        }
        if let (true, Some((_, label))) = (keep, from) {
            let more = self.letters.of_label(self.system, label);
            bits::union_into(&mut self.letter, more);
        }
        bits::union_into(&mut self.seen, &self.letter);
        let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
        match self.goal {
            Goal::Satisfies(goal) if goal.holds(&holds) => Err(End::Goal(index, from)),
            _ => Ok(()),
        }
    }

    /// The shortest run to a state. `last` names the step that must end it.
    fn trace(&mut self, state: StateIndex, last: Option<(StateIndex, LabelId)>) -> Trace {
        let mut path = vec![state];
        let mut parent = last.map_or(self.parents[state as usize], |(source, _)| source);
        while parent != NO_PARENT {
            path.push(parent);
            parent = self.parents[parent as usize];
        }
        path.reverse();
        let mut steps = Vec::new();
        for pair in path.windows(2) {
            let wanted = last
                .filter(|_| steps.len() + 2 == path.len())
                .map(|(_, label)| label);
            steps.push(self.step_between(pair[0], pair[1], wanted));
        }
        let states = path
            .iter()
            .map(|&index| self.system.unpack(self.store.get(index)));
        Trace {
            states: states.collect(),
            steps,
            loop_start: None,
        }
    }

    fn step_between(
        &mut self,
        source: StateIndex,
        target: StateIndex,
        label: Option<LabelId>,
    ) -> TraceStep {
        let mut steps = Steps::default();
        let state = self.store.get(source).to_vec();
        self.system
            .steps(&state, &mut steps)
            .expect("the state was expanded before");
        let target = self.store.get(target);
        let fits = |&position: &usize| {
            steps.target(position, target.len()) == target
                && label.is_none_or(|label| steps.labels[position] == label)
        };
        let position = (0..steps.len()).find(fits);
        let label = position.map_or(crate::label::LabelTable::IDLE, |p| steps.labels[p]);
        trace_step(self.system.label(label))
    }

    fn memory(&self) -> u64 {
        self.store.memory()
            + self.parents.capacity() as u64 * 4
            + self.state_letters.capacity() as u64 * 8
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: "exploring",
            n_states: self.store.len() as u64,
            n_transitions: self.n_transitions,
            memory_bytes: self.memory(),
            depth: 0,
        }
    }

    fn stats(&self, atoms: &[AtomId]) -> Stats {
        let mut atoms_seen = vec![false; self.system.model().parts().atoms.len()];
        for atom in atoms {
            atoms_seen[atom.index()] = bits::get(&self.seen, self.letters.bit(*atom));
        }
        Stats {
            n_states: self.store.len() as u64,
            n_transitions: self.n_transitions,
            n_product_states: None,
            memory_bytes: self.memory(),
            commands_taken: self.commands_taken.clone(),
            atoms_seen,
        }
    }
}

/// A label as evidence shows it.
pub(crate) fn trace_step(label: &Label) -> TraceStep {
    TraceStep {
        actions: label.actions.clone(),
        movers: label.movers.clone(),
        commands: label.commands.clone(),
    }
}

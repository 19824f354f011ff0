//! The word that a run spells: which atoms hold at which position.
//!
//! Position `i` is state `i` together with the step that led to it. The start of a loop is entered
//! twice by different steps: from the stem and from the end of the loop. Step propositions tell
//! these apart, so the loop is written out twice and the second copy is the loop of the word.

use base::AtomId;
use logic::{Ltl, NeverClaim};
use model::{Assumption, CommandId, RunTimeError};
use rustc_hash::FxHashMap;

use crate::Invalid;
use crate::replay::{Replay, StepLabel};

/// Which of the chosen atoms hold at every position of a run.
pub(crate) struct Word {
    /// Sorted.
    atoms: Vec<AtomId>,
    /// The different letters, each with one truth value per atom.
    letters: Vec<Vec<bool>>,
    /// Which letter stands at which position.
    letter_at: Vec<u32>,
    /// Where the loop starts, if there is one.
    loop_start: Option<usize>,
    /// How far a position of the second copy of the loop is behind the same one of the trace.
    loop_length: usize,
}

impl Word {
    /// The word of a replayed run over the given atoms.
    pub(crate) fn new(replay: &Replay<'_>, mut atoms: Vec<AtomId>) -> Result<Self, Invalid> {
        atoms.sort_unstable();
        atoms.dedup();
        let trace = replay.trace;
        let n_states = trace.states.len();
        let mut word = Self {
            atoms,
            letters: Vec::new(),
            letter_at: Vec::new(),
            loop_start: trace.loop_start.map(|_| n_states),
            loop_length: trace.loop_range().len(),
        };

        let mut letter_ids = FxHashMap::default();
        for at in 0..n_states {
            let entry = at.checked_sub(1).map(|before| replay.label(before));
            let letter = word.letter(replay, at, entry, &mut letter_ids)?;
            word.letter_at.push(letter);
        }
        // The second copy is entered by the last step of the first, and is like it from there on.
        if let Some(start) = trace.loop_start {
            let entry = Some(replay.label(n_states - 1));
            let letter = word.letter(replay, start, entry, &mut letter_ids)?;
            word.letter_at.push(letter);
            word.letter_at.extend_from_within(start + 1..n_states);
        }
        Ok(word)
    }

    /// The letter at a position that is entered by a step.
    fn letter(
        &mut self,
        replay: &Replay<'_>,
        at: usize,
        entry: Option<&StepLabel>,
        letter_ids: &mut FxHashMap<Vec<bool>, u32>,
    ) -> Result<u32, Invalid> {
        let commands: &[CommandId] = entry.map_or(&[], |step| &step.commands);
        let timers_set: &[usize] = entry.map_or(&[], |step| &step.timers_set);
        let state = &replay.trace.states[at];
        let holds = |atom: &AtomId| {
            let model = replay.model;
            model.atom_holds_after(*atom, state, commands, timers_set)
        };
        let letter: Result<Vec<bool>, RunTimeError> = self.atoms.iter().map(holds).collect();
        let letter = letter.map_err(|error| Invalid::Error { at, error })?;

        if let Some(id) = letter_ids.get(&letter) {
            return Ok(*id);
        }
        let id = self.letters.len() as u32;
        self.letters.push(letter.clone());
        letter_ids.insert(letter, id);
        Ok(id)
    }

    /// Does the atom hold at a position of the word?
    fn holds(&self, position: usize, atom: AtomId) -> bool {
        let index = self.atoms.binary_search(&atom);
        let index = index.expect("the word was made for the atoms that are asked for");
        self.letters[self.letter_at[position] as usize][index]
    }

    /// Do the same atoms hold at two positions?
    pub(crate) fn is_same(&self, first: usize, second: usize) -> bool {
        self.letter_at[first] == self.letter_at[second]
    }

    /// The infinite word of a finite run with two rounds or more: its second round, forever.
    pub(crate) fn repeating(mut self, start: usize, length: usize) -> Self {
        self.letter_at.truncate(start + 2 * length);
        self.loop_start = Some(start + length);
        self.loop_length = length;
        self
    }

    /// Does the infinite word satisfy the formula?
    pub(crate) fn satisfies(&self, formula: &Ltl) -> bool {
        let loop_start = self.loop_start.expect("the run is infinite");
        let letter = |position: usize, atom: AtomId| self.holds(position, atom);
        logic::holds_on_lasso(formula, self.letter_at.len(), loop_start, &letter)
    }

    /// Does the claim accept the infinite word?
    pub(crate) fn is_accepted(&self, claim: &NeverClaim) -> bool {
        let loop_start = self.loop_start.expect("the run is infinite");
        let letter = |position: usize, atom: AtomId| self.holds(position, atom);
        claim.accepts_lasso(self.letter_at.len(), loop_start, &letter)
    }

    /// Where the parts of the formula hold: one value for each position of the trace, nothing where
    /// the finite run does not decide it. Inner parts first.
    pub(crate) fn truths<'f>(
        &self,
        formula: &'f Ltl,
        n_states: usize,
    ) -> Vec<(&'f Ltl, Vec<Option<bool>>)> {
        let letter = |position: usize, atom: AtomId| self.holds(position, atom);
        let Some(loop_start) = self.loop_start else {
            return logic::truths_on_prefix(formula, n_states, &letter);
        };
        let truths = logic::truths_on_lasso(formula, self.letter_at.len(), loop_start, &letter);
        // The second copy of the loop is left out.
        let first = |truth: Vec<bool>| truth.into_iter().take(n_states).map(Some).collect();
        let shortened = truths.into_iter().map(|(part, truth)| (part, first(truth)));
        shortened.collect()
    }

    /// Does the last position satisfy the formula, which must be propositional?
    pub(crate) fn ends_with(&self, formula: &Ltl) -> bool {
        let last = self.letter_at.len() - 1;
        logic::holds_on_lasso(formula, 1, 0, &|_, atom| self.holds(last, atom))
    }

    /// The first position of the trace's loop at which the atom has the given value, if any.
    pub(crate) fn find_in_loop(&self, atom: AtomId, value: bool) -> Option<usize> {
        let positions = self.loop_start?..self.letter_at.len();
        let mut positions = positions.map(|p| (p - self.loop_length, p));
        positions.find_map(|(at, position)| (self.holds(position, atom) == value).then_some(at))
    }
}

/// The atoms that an assumption mentions.
pub(crate) fn assumption_atoms(assumption: &Assumption) -> Vec<AtomId> {
    match assumption {
        Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => vec![*atom],
        Assumption::All(parts) | Assumption::Any(parts) => {
            parts.iter().flat_map(assumption_atoms).collect()
        }
    }
}

//! The truth of atoms: of states, computed once for each state, and of steps, once for each label.

use base::{AtomId, bits};
use model::{AtomMeaning, StepSet};

use crate::compile::CompileError;
use crate::footprint::Footprint;
use crate::label::LabelId;
use crate::system::{Failed, Steps, System};

/// Which atoms hold at a position, as a bit set over the atoms of interest.
#[derive(Clone, Debug)]
pub(crate) struct Letters {
    pub(crate) n_words: usize,
    bit_by_atom: Vec<Option<usize>>,
    state_code: Vec<(usize, u32)>,
    /// What the state propositions read.
    pub(crate) footprint: Footprint,
    taken: Vec<(usize, StepSet)>,
    timers_set: Vec<(usize, u32)>,
    enabled: Vec<(usize, StepSet)>,
    deadlock: Vec<usize>,
    label_bits: Vec<u64>,
    n_labels: usize,
    steps: Steps,
}

impl Letters {
    /// Prepares the evaluation of these atoms.
    pub(crate) fn new(system: &mut System<'_>, atoms: &[AtomId]) -> Result<Self, CompileError> {
        let mut letters = Self {
            // One word at least, so that every state has its entry.
            n_words: bits::words_for(atoms.len()).max(1),
            bit_by_atom: vec![None; system.model().parts().atoms.len()],
            state_code: Vec::new(),
            footprint: Footprint::new(system.n_words()),
            taken: Vec::new(),
            timers_set: Vec::new(),
            enabled: Vec::new(),
            deadlock: Vec::new(),
            label_bits: Vec::new(),
            n_labels: 0,
            steps: Steps::default(),
        };

        let model = system.model();
        for (bit, atom) in atoms.iter().enumerate() {
            letters.bit_by_atom[atom.index()] = Some(bit);
            match &model.parts().atoms[atom.index()].meaning {
                AtomMeaning::State(_) | AtomMeaning::Certainly(..) => {
                    let code = system.compile_atom(*atom)?;
                    if let Some(code) = code {
                        letters.state_code.push((bit, code.start));
                        letters.footprint.union(&code.footprint);
                    }
                }
                AtomMeaning::Taken(pattern) => letters.taken.push((bit, model.step_set(pattern))),
                AtomMeaning::Enabled(pattern) => {
                    letters.enabled.push((bit, model.step_set(pattern)));
                }
                AtomMeaning::TimerSet(cell) => letters.timers_set.push((bit, *cell as u32)),
                AtomMeaning::Deadlock => letters.deadlock.push(bit),
            }
        }

        Ok(letters)
    }

    /// The position of an atom in the bit sets.
    pub(crate) fn bit(&self, atom: AtomId) -> usize {
        self.bit_by_atom[atom.index()].expect("the atom is of interest")
    }

    /// Does an atom ask whether any step is possible?
    pub(crate) fn mentions_deadlock(&self) -> bool {
        !self.deadlock.is_empty()
    }

    /// Is it asked of states whether any step is possible, and nothing else of steps? That is known
    /// without further effort when states are expanded.
    pub(crate) fn can_wait(&self) -> bool {
        self.mentions_deadlock() && self.enabled.is_empty() && !self.has_step_atoms()
    }

    /// The commands that atoms ask about: was one of these taken?
    pub(crate) fn taken_sets(&self) -> impl Iterator<Item = &StepSet> {
        self.taken.iter().map(|(_, set)| set)
    }

    /// The commands that atoms ask about: is one of these possible?
    pub(crate) fn enabled_sets(&self) -> impl Iterator<Item = &StepSet> {
        self.enabled.iter().map(|(_, set)| set)
    }

    /// Do steps matter to any atom?
    pub(crate) fn has_step_atoms(&self) -> bool {
        !self.taken.is_empty() || !self.timers_set.is_empty()
    }

    /// Sets the bits of the atoms that hold in a state.
    pub(crate) fn of_state(
        &mut self,
        system: &mut System<'_>,
        state: &[u64],
        out: &mut [u64],
    ) -> Result<(), Failed> {
        self.of_code(system, state, out)?;
        if !self.enabled.is_empty() || !self.deadlock.is_empty() {
            system.steps(state, &mut self.steps)?;
            for &bit in &self.deadlock {
                if self.steps.is_empty() {
                    bits::set(out, bit);
                }
            }
            for (bit, set) in &self.enabled {
                let among = |label: &LabelId| system.executes(*label, set);
                if self.steps.labels.iter().any(among) {
                    bits::set(out, *bit);
                }
            }
        }
        Ok(())
    }

    /// Sets the bits of the atoms that hold in a state whose steps are known already: is there any?
    /// No atom may ask which.
    pub(crate) fn of_expanded(
        &mut self,
        system: &mut System<'_>,
        state: &[u64],
        is_stuck: bool,
        out: &mut [u64],
    ) -> Result<(), Failed> {
        debug_assert!(self.enabled.is_empty());
        self.of_code(system, state, out)?;
        if is_stuck {
            for &bit in &self.deadlock {
                bits::set(out, bit);
            }
        }
        Ok(())
    }

    /// Sets the bits of the atoms that are expressions.
    fn of_code(
        &mut self,
        system: &mut System<'_>,
        state: &[u64],
        out: &mut [u64],
    ) -> Result<(), Failed> {
        for &(bit, code) in &self.state_code {
            if system.holds(code, state)? {
                bits::set(out, bit);
            }
        }
        Ok(())
    }

    /// The atoms that hold after a step with this label.
    pub(crate) fn of_label(&mut self, system: &System<'_>, label: LabelId) -> &[u64] {
        while self.n_labels <= label.index() {
            let next = LabelId::new(self.n_labels);
            let start = self.label_bits.len();
            self.label_bits.resize(start + self.n_words, 0);
            for (bit, set) in &self.taken {
                if system.executes(next, set) {
                    bits::set(&mut self.label_bits[start..], *bit);
                }
            }
            for (bit, cell) in &self.timers_set {
                if system.label(next).timers_set.contains(cell) {
                    bits::set(&mut self.label_bits[start..], *bit);
                }
            }
            self.n_labels += 1;
        }
        &self.label_bits[label.index() * self.n_words..][..self.n_words]
    }
}

//! Is the exchange of two indices an automorphism of a model?
//!
//! Every command is compared with the command that takes its place, term by term: see
//! [`super::term`]. With propositions treated alike, the exchange maps runs of the model, from
//! whatever state, to runs at which the same propositions hold. With conditions mapped to
//! conditions, it maps fair runs to fair ones. That initial states are mapped to
//! initial states is not needed: a search starts with the representatives of those that there are.

use std::collections::{BTreeMap, BTreeSet};

use base::AtomId;
use model::{AtomMeaning, CommandId, Condition, InstanceId, Model, StepPattern};

use crate::constant::Known;

use super::coordinates::{Components, Transposition};
use super::effect::{Action, Communication};
use super::sorts::{Slot, SortId, Sorts};
use super::subjects::SubjectMap;
use super::term::{NAMES, Obstacle, Term, Terms};

/// How many terms are compared at most.
const MAX_TERMS: u64 = 20_000_000;

/// What a command does.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Meaning {
    guard: Term,
    communication: Communication,
    effect: Vec<Action>,
}

/// Finds the command that takes the place of another.
#[derive(Debug)]
pub(crate) struct CommandMap {
    by_content: BTreeMap<(InstanceId, usize, Vec<i64>), CommandId>,
    /// The sorts of the bindings of each command.
    sorts: Vec<Vec<Option<SortId>>>,
}

impl CommandMap {
    fn new(model: &Model, sorts: &Sorts) -> Self {
        let mut map = Self {
            by_content: BTreeMap::new(),
            sorts: Vec::new(),
        };
        for (position, command) in model.commands().iter().enumerate() {
            let values = command.bindings.iter().map(|(_, value)| *value).collect();
            let content = (command.instance, command.step, values);
            map.by_content.insert(content, CommandId::new(position));
            let of_bound = |(bound, _): &(model::BoundId, i64)| sorts.of(&Slot::Bound(*bound));
            map.sorts
                .push(command.bindings.iter().map(of_bound).collect());
        }
        map
    }

    /// The command that takes the place of this one, if there is one.
    pub(crate) fn image(
        &self,
        model: &Model,
        id: CommandId,
        image: &dyn Fn(Option<SortId>, i64) -> i64,
    ) -> Option<CommandId> {
        let command = &model.commands()[id.index()];
        let sorts = &self.sorts[id.index()];
        let values: Vec<i64> = command
            .bindings
            .iter()
            .zip(sorts)
            .map(|((_, value), sort)| image(*sort, *value))
            .collect();
        let instance = &model.instances()[command.instance.index()];
        // The index of a family is its first binding.
        let index = instance.index.map(|index| image(sorts[0], index));
        let instance = model.instance_of(instance.process, index)?;
        let content = (instance, command.step, values);
        self.by_content.get(&content).copied()
    }
}

/// What is compared.
pub(super) struct Comparison<'a> {
    pub(super) model: &'a Model,
    pub(super) sorts: &'a Sorts,
    pub(super) components: &'a Components,
    pub(super) commands: CommandMap,
    pub(super) subjects: SubjectMap,
    /// By cell: its value, if it has only one.
    constants: &'a [Option<i64>],
    meanings: Vec<Option<Meaning>>,
    left: u64,
}

impl<'a> Comparison<'a> {
    pub(super) fn new(
        model: &'a Model,
        sorts: &'a Sorts,
        components: &'a Components,
        constants: &'a [Option<i64>],
    ) -> Self {
        Self {
            model,
            sorts,
            components,
            commands: CommandMap::new(model, sorts),
            subjects: SubjectMap::new(model, sorts),
            constants,
            meanings: vec![None; model.commands().len()],
            left: MAX_TERMS,
        }
    }

    /// Does the exchange map the model to itself, and every one of these atoms? And each of these
    /// conditions to one of them?
    pub(super) fn check(
        &mut self,
        exchange: Transposition,
        (atoms, conditions): (&[AtomId], &[Condition]),
    ) -> Result<(), Obstacle> {
        for component in self.components.iter() {
            if component.shift(exchange).is_none() || !component.is_closed(exchange) {
                return Err(Obstacle::Partial);
            }
        }
        self.check_constants(exchange)?;
        for atom in atoms {
            self.check_atom(exchange, *atom)?;
        }
        for position in 0..self.model.commands().len() {
            self.check_command(exchange, CommandId::new(position))?;
        }
        let image = |sort, value| exchange.image(sort, value);
        let commands = (self.model, &self.commands);
        if self.subjects.permutes(commands, conditions, &image) {
            Ok(())
        } else {
            Err(Obstacle::Fairness)
        }
    }

    fn terms<'t>(&'t mut self, known: Known<'t>, renaming: Option<Transposition>) -> Terms<'t> {
        Terms {
            known,
            sorts: self.sorts,
            components: self.components,
            renaming,
            names: Vec::new(),
            values: Vec::new(),
            written: BTreeSet::from([NAMES]),
            in_loop: false,
            left: &mut self.left,
        }
    }

    fn meaning(
        &mut self,
        id: CommandId,
        renaming: Option<Transposition>,
    ) -> Result<Meaning, Obstacle> {
        let command = &self.model.commands()[id.index()];
        let step = self.model.step_of(id);
        let mut terms = self.terms(Known::in_command(self.model, command), renaming);
        Ok(Meaning {
            guard: terms.plain(&step.guard)?,
            communication: terms.communication(&step.sync)?,
            effect: terms.actions(&step.effect)?,
        })
    }

    fn check_command(&mut self, exchange: Transposition, id: CommandId) -> Result<(), Obstacle> {
        let image = self.image(exchange, id)?;
        let renamed = self.meaning(id, Some(exchange))?;
        if self.meanings[image.index()].is_none() {
            self.meanings[image.index()] = Some(self.meaning(image, None)?);
        }
        if self.meanings[image.index()].as_ref() == Some(&renamed) {
            Ok(())
        } else {
            Err(Obstacle::Different)
        }
    }

    fn image(&self, exchange: Transposition, id: CommandId) -> Result<CommandId, Obstacle> {
        let image = |sort, value| exchange.image(sort, value);
        let found = self.commands.image(self.model, id, &image);
        found.ok_or(Obstacle::Different)
    }

    /// Cells that have one value only are not stored, so that value must be mapped to the value of
    /// the cell that takes their place.
    fn check_constants(&self, exchange: Transposition) -> Result<(), Obstacle> {
        for (cell, component) in self.components.cells.iter().enumerate() {
            let shift = component.shift(exchange).ok_or(Obstacle::Partial)?;
            let other = self.constants[(cell as i64 + shift) as usize];
            let value = self.constants[cell];
            if value.map(|value| exchange.image(component.sort, value)) != other {
                return Err(Obstacle::Different);
            }
        }
        Ok(())
    }

    fn check_atom(&mut self, exchange: Transposition, atom: AtomId) -> Result<(), Obstacle> {
        let model = self.model;
        let is_same = match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::Deadlock => true,
            AtomMeaning::Taken(pattern) | AtomMeaning::Enabled(pattern) => {
                self.is_closed(exchange, pattern)?
            }
            AtomMeaning::State(expr) => {
                let plain = self.terms(Known::nothing(model), None).plain(expr)?;
                let mut terms = self.terms(Known::nothing(model), Some(exchange));
                terms.plain(expr)? == plain
            }
            AtomMeaning::Certainly(..) | AtomMeaning::TimerSet(_) => return Err(Obstacle::Timers),
        };
        if is_same {
            Ok(())
        } else {
            Err(Obstacle::Property)
        }
    }

    fn is_closed(&self, exchange: Transposition, pattern: &StepPattern) -> Result<bool, Obstacle> {
        let set = self.model.step_set(pattern);
        for command in set.commands() {
            if !set.contains(self.image(exchange, *command)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

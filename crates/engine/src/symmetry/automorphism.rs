//! Is the exchange of two indices an automorphism of a model?
//!
//! Every command is compared with the command that takes its place, term by term: see
//! [`super::term`]. With propositions treated alike, the exchange maps runs of the model, from
//! whatever state, to runs at which the same propositions hold. With conditions mapped to
//! conditions, it maps fair runs to fair ones. That initial states are mapped to
//! initial states is not needed: a search starts with the representatives of those that there are.

use std::collections::{BTreeMap, BTreeSet};

use base::{AtomId, Span};
use model::{
    AtomMeaning, CommandId, Condition, InstanceId, Model, Step, StepPattern, Stmt, StmtKind,
};

use crate::constant::Known;

use super::coordinates::{Component, Components, Transposition};
use super::effect::{Communication, Placed};
use super::sorts::{FamilyIndex, Slot, SortId, Sorts};
use super::subjects::{SubjectMap, image_of_instance};
use super::term::{Asymmetry, NAMES, Obstacle, Term, Terms};

/// How many terms are compared at most.
const MAX_TERMS: u64 = 20_000_000;

/// What a command does.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Meaning {
    guard: Term,
    communication: Communication,
    effect: Vec<Placed>,
}

impl Meaning {
    /// In which part it differs from another, and where that is written.
    fn difference(&self, other: &Self, step: &Step) -> (&'static str, Span) {
        if self.guard != other.guard {
            return ("condition", step.span);
        }
        if self.communication != other.communication {
            return ("communication", step.span);
        }
        // Where the same statements stand in another order, no single one of them differs.
        let unique = self.effect.iter().filter(|one| !other.effect.contains(one));
        let first = unique
            .map(|placed| placed.span)
            .min_by_key(|span| span.start);
        ("effect", first.unwrap_or(step.span))
    }
}

/// Finds the command that takes the place of another.
#[derive(Debug)]
pub(crate) struct CommandMap {
    by_content: BTreeMap<(InstanceId, usize, Vec<i64>), CommandId>,
    /// The sorts of the bindings of each command.
    sorts: Vec<Vec<Option<SortId>>>,
    /// By process: what the index of an instance consists of.
    indices: Vec<Option<FamilyIndex>>,
}

impl CommandMap {
    fn new(model: &Model, sorts: &Sorts) -> Self {
        let mut map = Self {
            by_content: BTreeMap::new(),
            sorts: Vec::new(),
            indices: sorts.indices().to_vec(),
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
        let mut values: Vec<i64> = command
            .bindings
            .iter()
            .zip(sorts)
            .map(|((_, value), sort)| image(*sort, *value))
            .collect();
        let instance = image_of_instance(model, &self.indices, command.instance, image)?;
        // The index of a family is its first binding.
        if let Some(index) = model.instances()[instance.index()].index {
            values[0] = index;
        }
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
    ) -> Result<(), Asymmetry> {
        self.check_components(exchange)?;
        self.check_constants(exchange)?;
        for atom in atoms {
            self.check_atom(exchange, *atom)?;
        }
        for position in 0..self.model.commands().len() {
            self.check_command(exchange, CommandId::new(position))?;
        }
        let image = |sort, value| exchange.image(sort, value);
        let commands = (self.model, &self.commands);
        match self.subjects.unmatched(commands, conditions, &image) {
            None => Ok(()),
            Some(condition) => {
                let name = self.model.subject_name(&condition.subject);
                let span = condition.span.unwrap_or_else(Span::nowhere);
                let subject = format!("what is assumed of `{name}`");
                Err(Asymmetry::new(Obstacle::Fairness, subject, span))
            }
        }
    }

    /// Every part of a state must have an image, and every value of it.
    fn check_components(&self, exchange: Transposition) -> Result<(), Asymmetry> {
        let is_partial = |component: &&Component| {
            component.shift(exchange).is_none() || !component.is_closed(exchange)
        };
        if !self.components.iter().any(|c| is_partial(&c)) {
            return Ok(());
        }
        let parts = self.model.parts();
        let is_partial = |component: &Component| is_partial(&component);
        if let Some(cell) = self.components.cells.iter().position(is_partial) {
            return Err(self.about_variable(Obstacle::Partial, cell));
        }
        let payload = self.components.payload.iter();
        let channels = self.components.channels.iter().zip(payload);
        let mut channels = channels.map(|(singles, payload)| singles.iter().chain(payload));
        let channel = channels.position(|mut parts| parts.any(is_partial));
        Err(match channel {
            Some(channel) => {
                let channel = &parts.channels[channel];
                let subject = format!("`{}`", channel.name);
                Asymmetry::new(Obstacle::Partial, subject, channel.span)
            }
            None => {
                let locations = self.components.locations.iter();
                let instance = locations.clone().position(is_partial).unwrap_or_default();
                let process = self.model.process_of(InstanceId::new(instance));
                let subject = format!("`{}`", process.name);
                Asymmetry::new(Obstacle::Partial, subject, process.span)
            }
        })
    }

    fn about_variable(&self, obstacle: Obstacle, cell: usize) -> Asymmetry {
        let variable = &self.model.parts().vars[self.model.cells()[cell].var.index()];
        Asymmetry::new(obstacle, format!("`{}`", variable.name), variable.span)
    }

    fn terms<'t>(&'t mut self, known: Known<'t>, renaming: Option<Transposition>) -> Terms<'t> {
        Terms {
            known,
            sorts: self.sorts,
            components: self.components,
            renaming,
            names: Vec::new(),
            assigned: BTreeSet::new(),
            values: Vec::new(),
            written: BTreeSet::from([NAMES]),
            in_loop: false,
            span: Span::nowhere(),
            left: &mut self.left,
        }
    }

    fn meaning(
        &mut self,
        id: CommandId,
        renaming: Option<Transposition>,
    ) -> Result<Meaning, Asymmetry> {
        let model = self.model;
        let command = &model.commands()[id.index()];
        let step = model.step_of(id);
        let known = Known {
            constants: self.constants,
            ..Known::in_command(model, command)
        };
        let mut terms = self.terms(known, renaming);
        terms.span = step.span;
        Stmt::walk_all(&step.effect, &mut |statement| {
            // shape: nothing else assigns to names.
            if let StmtKind::Set(bound, _) = statement {
                terms.assigned.insert(*bound);
            }
        });
        let mut part = "condition";
        let mut meaning = || {
            let guard = terms.plain(&step.guard)?;
            part = "communication";
            let communication = terms.communication(&step.sync)?;
            part = "effect";
            Ok(Meaning {
                guard,
                communication,
                effect: terms.actions(&step.effect)?,
            })
        };
        let meaning = meaning();
        meaning.map_err(|obstacle: Obstacle| {
            let name = model.command_name(id);
            Asymmetry::new(obstacle, format!("the {part} of `{name}`"), terms.span)
        })
    }

    fn check_command(&mut self, exchange: Transposition, id: CommandId) -> Result<(), Asymmetry> {
        let image = self.image(exchange, id)?;
        let renamed = self.meaning(id, Some(exchange))?;
        if self.meanings[image.index()].is_none() {
            self.meanings[image.index()] = Some(self.meaning(image, None)?);
        }
        match &self.meanings[image.index()] {
            Some(meaning) if *meaning != renamed => {
                let (part, span) = renamed.difference(meaning, self.model.step_of(id));
                let (one, other) = (self.model.command_name(id), self.model.command_name(image));
                let subject = if one == other {
                    format!("the {part} of `{one}` tells them apart")
                } else {
                    format!("`{one}` and `{other}` differ in their {part}")
                };
                Err(Asymmetry::new(Obstacle::Different, subject, span))
            }
            _ => Ok(()),
        }
    }

    fn image(&self, exchange: Transposition, id: CommandId) -> Result<CommandId, Asymmetry> {
        let image = |sort, value| exchange.image(sort, value);
        let found = self.commands.image(self.model, id, &image);
        found.ok_or_else(|| {
            let name = self.model.command_name(id);
            let subject = format!("only some have a step like `{name}`");
            Asymmetry::new(Obstacle::Different, subject, self.model.step_of(id).span)
        })
    }

    /// Cells that have one value only are not stored, so that value must be mapped to the value of
    /// the cell that takes their place.
    fn check_constants(&self, exchange: Transposition) -> Result<(), Asymmetry> {
        for (cell, component) in self.components.cells.iter().enumerate() {
            let shift = component.shift(exchange).ok_or(Obstacle::Partial)?;
            let other = self.constants[(cell as i64 + shift) as usize];
            let value = self.constants[cell];
            if value.map(|value| exchange.image(component.sort, value)) != other {
                return Err(self.about_variable(Obstacle::Constant, cell));
            }
        }
        Ok(())
    }

    fn check_atom(&mut self, exchange: Transposition, atom: AtomId) -> Result<(), Asymmetry> {
        let description = &self.model.parts().atoms[atom.index()];
        let about = |obstacle: Obstacle| {
            Asymmetry::new(
                obstacle,
                format!("`{}`", description.name),
                description.span,
            )
        };
        let is_same = self.is_same_atom(exchange, &description.meaning);
        match is_same.map_err(about)? {
            true => Ok(()),
            false => Err(about(Obstacle::Property)),
        }
    }

    fn is_same_atom(
        &mut self,
        exchange: Transposition,
        meaning: &AtomMeaning,
    ) -> Result<bool, Obstacle> {
        let model = self.model;
        Ok(match meaning {
            AtomMeaning::Deadlock => true,
            AtomMeaning::Taken(pattern) | AtomMeaning::Enabled(pattern) => {
                self.is_closed(exchange, pattern)?
            }
            AtomMeaning::State(expr) => {
                let known = Known {
                    constants: self.constants,
                    ..Known::nothing(model)
                };
                let plain = self.terms(known.clone(), None).plain(expr)?;
                let mut terms = self.terms(known, Some(exchange));
                terms.plain(expr)? == plain
            }
            AtomMeaning::Certainly(..) | AtomMeaning::TimerSet(_) => return Err(Obstacle::Timers),
        })
    }

    fn is_closed(&self, exchange: Transposition, pattern: &StepPattern) -> Result<bool, Obstacle> {
        let set = self.model.step_set(pattern);
        for command in set.commands() {
            let image = self.image(exchange, *command);
            if !set.contains(image.map_err(|refusal| refusal.obstacle)?) {
                return Ok(false);
            }
        }
        Ok(true)
    }
}

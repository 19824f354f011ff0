//! Steps by what a question sees of them.
//!
//! Two ways of taking the same action to the same state are one step, which executes the commands of
//! both ([`model::Successor::commands`]). Where a question tells commands apart, moves that coincide
//! are taken apart until every pair of states has one label.

use std::collections::BTreeMap;

use base::AtomId;
use model::{AtomMeaning, Condition, StepSet, Subject};

use crate::bdd::{Bdd, Halt};
use crate::system::{Move, System};

/// What a question can see of a step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Label {
    /// By condition: does the step take its subject?
    pub(crate) takes: Vec<bool>,
    /// By atom of the question: is it about steps, and true of this one?
    pub(crate) taken_atoms: Vec<bool>,
}

/// A step of a system, with idle ones.
#[derive(Clone, Debug)]
pub(crate) struct Labelled {
    pub(crate) label: Label,
    pub(crate) step: Move,
}

/// What is looked at.
pub(crate) struct Observer<'a> {
    atoms: &'a [AtomId],
    conditions: &'a [Condition],
    /// By atom: the steps that it is about.
    sets: Vec<Option<StepSet>>,
}

impl<'a> Observer<'a> {
    pub(crate) fn new(
        system: &System<'_>,
        atoms: &'a [AtomId],
        conditions: &'a [Condition],
    ) -> Self {
        let model = system.encoding.model;
        let set = |atom: &AtomId| match &model.parts().atoms[atom.index()].meaning {
            AtomMeaning::Taken(pattern) => Some(model.step_set(pattern)),
            AtomMeaning::State(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => None,
        };

        let sets = atoms.iter().map(set).collect();
        Self {
            atoms,
            conditions,
            sets,
        }
    }

    /// The label of the idle step, and of what led to an initial state.
    pub(crate) fn nothing(&self) -> Label {
        Label {
            takes: vec![false; self.conditions.len()],
            taken_atoms: vec![false; self.atoms.len()],
        }
    }

    fn label(&self, step: &Move) -> Label {
        let takes = |condition: &Condition| takes(&condition.subject, step);
        let among = |set: &Option<StepSet>| {
            let set = set.as_ref();
            set.is_some_and(|set| step.commands.iter().any(|id| set.contains(*id)))
        };
        Label {
            takes: self.conditions.iter().map(takes).collect(),
            taken_atoms: self.sets.iter().map(among).collect(),
        }
    }

    /// All steps with their labels, the idle ones last.
    pub(crate) fn steps(&self, system: &System<'_>) -> Result<Vec<Labelled>, Halt> {
        let mut groups: BTreeMap<_, Vec<Labelled>> = BTreeMap::new();
        for step in &system.moves {
            let label = self.label(step);
            let group = groups.entry((&step.actions, &step.movers)).or_default();
            let step = step.clone();
            group.push(Labelled { label, step });
        }

        let mut steps: Vec<Labelled> = Vec::new();
        for group in groups.into_values() {
            let is_uniform = group.iter().all(|other| other.label == group[0].label);
            if is_uniform {
                steps.extend(group);
            } else {
                steps.extend(taken_apart(system, group)?);
            }
        }

        let mut steps = united(steps)?;
        steps.push(Labelled {
            label: self.nothing(),
            step: idle(system),
        });
        Ok(steps)
    }
}

fn takes(subject: &Subject, step: &Move) -> bool {
    match subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(_) | Subject::Team(_) => false,
    }
}

/// The idle step of deadlocked states.
fn idle(system: &System<'_>) -> Move {
    Move {
        actions: Vec::new(),
        movers: Vec::new(),
        commands: Vec::new(),
        level: 0,
        relation: system.deadlock.clone(),
        fields: Vec::new(),
        written: system.constant(true),
    }
}

/// Parts of moves that have no pair of states in common.
fn taken_apart(system: &System<'_>, mut group: Vec<Labelled>) -> Result<Vec<Labelled>, Halt> {
    let mut fields: Vec<usize> = group.iter().flat_map(|g| g.step.fields.clone()).collect();
    fields.sort_unstable();
    fields.dedup();
    for member in &mut group {
        member.step.widen(&system.encoding, &fields)?;
    }

    let mut apart: Vec<Labelled> = Vec::new();
    for member in group {
        let mut rest = member.step.relation.clone();
        let mut next = Vec::new();
        for known in apart {
            let common = known.step.relation.and(&rest)?;
            if common.is_false() {
                next.push(known);
                continue;
            }
            rest = rest.minus(&common)?;
            let mut only = known.clone();
            only.step.relation = known.step.relation.minus(&common)?;
            let mut both = known;
            both.step.relation = common;
            both.label = either(&both.label, &member.label);
            next.extend([only, both]);
        }
        let mut last = member;
        last.step.relation = rest;
        next.push(last);
        next.retain(|part| !part.step.relation.is_false());
        apart = next;
    }
    Ok(apart)
}

fn either(a: &Label, b: &Label) -> Label {
    let or = |a: &[bool], b: &[bool]| a.iter().zip(b).map(|(a, b)| *a || *b).collect();
    Label {
        takes: or(&a.takes, &b.takes),
        taken_atoms: or(&a.taken_atoms, &b.taken_atoms),
    }
}

/// Steps with the same label that write the same fields are one relation.
fn united(steps: Vec<Labelled>) -> Result<Vec<Labelled>, Halt> {
    let mut united: Vec<Labelled> = Vec::new();
    let mut places: BTreeMap<(Label, Vec<usize>), usize> = BTreeMap::new();
    for next in steps {
        let key = (next.label.clone(), next.step.fields.clone());
        match places.get(&key) {
            Some(&place) => {
                let known = &mut united[place].step.relation;
                *known = known.or(&next.step.relation)?;
            }
            None => {
                places.insert(key, united.len());
                united.push(next);
            }
        }
    }
    Ok(united)
}

/// Where each subject is enabled.
pub(crate) fn enabled(system: &System<'_>, subject: &Subject) -> Result<Bdd, Halt> {
    let mut states = system.constant(false);
    for step in &system.moves {
        if takes(subject, step) {
            states = states.or(&step.enabled()?)?;
        }
    }
    Ok(states)
}

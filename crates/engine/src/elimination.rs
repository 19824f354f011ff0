//! Code that is never executed and variables that never change.
//!
//! A command is left out if its process can never be where it starts (walking over commands that are
//! not left out), or if its guard is false whatever the state. A variable that no other command
//! writes keeps its initial value and takes no room in a state. Each makes more of the other, so
//! both are worked out in turn until nothing changes. Other variables take the room that the values
//! need which they can have (`ranges.rs`), and so do messages in channels. None of it changes the
//! states and steps of a system, except that what is the same in all of them is not stored.

use model::{BinaryOp, CommandId, Expr, InstanceId, Model, Step};

use crate::constant::Known;
use crate::ranges::{Ranges, ranges};

/// What is left out of a system.
#[derive(Clone, Debug)]
pub(crate) struct Elimination {
    /// By command: is it never executed?
    pub(crate) never_executed: Vec<bool>,
    /// By cell: its value, if it has only one.
    pub(crate) constants: Vec<Option<i64>>,
    /// The least and the greatest values for which there is room.
    pub(crate) ranges: Ranges,
}

impl Elimination {
    /// Leaves nothing out.
    pub(crate) fn nothing(model: &Model) -> Self {
        Self {
            never_executed: vec![false; model.commands().len()],
            constants: vec![None; model.cells().len()],
            ranges: Ranges::of_types(model),
        }
    }

    /// Leaves out whatever can be seen to make no difference.
    pub(crate) fn new(model: &Model) -> Self {
        let mut elimination = Self::nothing(model);
        let mut is_stable = false;
        while !is_stable {
            elimination.constants = constants(model, &elimination.never_executed);
            // Where steps have priorities, whose guards are evaluated depends on what there is.
            if model.levels().len() > 1 || model.parts().control.is_some() {
                break;
            }
            let never_executed = never_executed(model, &elimination.constants);
            is_stable = never_executed == elimination.never_executed;
            elimination.never_executed = never_executed;
        }

        if !may_exchange(model) {
            elimination.ranges = ranges(model, &elimination.never_executed);
        }
        let cells = elimination.ranges.cells.iter_mut();
        for (range, constant) in cells.zip(&elimination.constants) {
            *range = constant.map_or(*range, |value| (value, value));
        }
        elimination
    }
}

/// The values of cells that are never written by commands that may be executed.
fn constants(model: &Model, never_executed: &[bool]) -> Vec<Option<i64>> {
    let parts = model.parts();
    let mut written = vec![false; parts.vars.len()];
    for (position, _) in never_executed
        .iter()
        .enumerate()
        .filter(|(_, never)| !**never)
    {
        note_written(model.step_of(CommandId::new(position)), &mut written);
    }

    let others = parts.timers.iter().map(|timer| timer.var);
    for var in others.chain(parts.control) {
        written[var.index()] = true;
    }
    let value = |cell: usize| {
        if written[model.cells()[cell].var.index()] {
            None
        } else {
            model.initial_value(cell).ok().flatten()
        }
    };

    (0..model.cells().len()).map(value).collect()
}

fn note_written(step: &Step, written: &mut [bool]) {
    step.for_each_written(&mut |place| written[place.var.index()] = true);
}

/// Which commands start where their process never is, or have guards that are never true.
fn never_executed(model: &Model, constants: &[Option<i64>]) -> Vec<bool> {
    let mut never: Vec<bool> = (0..model.commands().len())
        .map(|position| {
            let command = &model.commands()[position];
            let known = Known {
                constants,
                ..Known::in_command(model, command)
            };
            is_false(&known, &model.step_of(CommandId::new(position)).guard)
        })
        .collect();

    for instance in 0..model.instances().len() {
        let instance = InstanceId::new(instance);
        let own: Vec<usize> = (0..never.len())
            .filter(|position| model.commands()[*position].instance == instance)
            .collect();
        let reachable = reachable_locations(model, instance, &own, &never);
        for position in own {
            let source = model.step_of(CommandId::new(position)).source;
            never[position] |= !reachable[source.index()];
        }
    }

    never
}

fn reachable_locations(
    model: &Model,
    instance: InstanceId,
    commands: &[usize],
    never: &[bool],
) -> Vec<bool> {
    let process = model.process_of(instance);
    let mut reachable = vec![false; process.locations.len()];
    for location in &process.initial {
        reachable[location.index()] = true;
    }
    let mut changed = true;
    while changed {
        changed = false;
        for &position in commands.iter().filter(|position| !never[**position]) {
            let step = model.step_of(CommandId::new(position));
            if reachable[step.source.index()] && !reachable[step.target.index()] {
                reachable[step.target.index()] = true;
                changed = true;
            }
        }
    }
    reachable
}

/// Is the guard false in every state, without ever failing?
fn is_false(known: &Known<'_>, guard: &Expr) -> bool {
    // shape: the right side is not evaluated if the left one is false; all others are folded.
    if let Expr::Binary(BinaryOp::And, left, _) = guard
        && is_false(known, left)
    {
        return true;
    }
    known.constant(guard) == Some(0)
}

/// May processes be exchanged for each other? Then a cell takes values that no state has in which all
/// are in their places: a variable that always names the first process names another one in a state
/// that is exchanged for it.
fn may_exchange(model: &Model) -> bool {
    let parts = model.parts();
    let mut families = parts.processes.iter().filter_map(|process| process.index);
    let has_family = families.any(|range| range.lo < range.hi);
    has_family && parts.control.is_none() && parts.timers.is_empty()
}

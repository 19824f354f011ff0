//! Commands and teams of commands: where they are enabled, and what they do.
//!
//! The counterpart of `model::steps`: what is evaluated, in which order, and what goes wrong, is the
//! same.

use model::{ChannelRef, CommandId, Expr, Model, Pattern, Sync};

use crate::bdd::{Bdd, Halt};
use crate::branch::{Branch, Execution};
use crate::encoding::Encoding;
use crate::value::{Value, ValueBuilder};

/// A command before anything is decided about priorities.
#[derive(Clone, Debug)]
pub(crate) struct Readiness {
    /// Where it is enabled.
    pub(crate) enabled: Bdd,
    /// Where that cannot be said.
    pub(crate) errors: Bdd,
}

/// What a team does.
pub(crate) struct Execute {
    /// All ways.
    pub(crate) branches: Vec<Branch>,
    pub(crate) errors: Bdd,
    pub(crate) new_values: Vec<(usize, i64, Bdd)>,
}

/// A branch that knows the process index and the parameters of a command.
fn start(encoding: &Encoding<'_>, id: CommandId, states: Bdd) -> Branch {
    let mut branch = Branch::new(states);
    for (bound, value) in &encoding.model.commands()[id.index()].bindings {
        let value = Value::constant(&encoding.manager, *value);
        branch.bounds.push((*bound, value));
    }
    branch
}

/// Location and guard; for a buffered channel also room or a matching message.
pub(crate) fn readiness(encoding: &Encoding<'_>, id: CommandId) -> Result<Readiness, Halt> {
    let model = encoding.model;
    let (command, step) = (&model.commands()[id.index()], model.step_of(id));
    let mut execution = Execution::new(encoding, Some(command.instance));

    let here = encoding.is(command.instance.index(), step.source.index() as i64)?;
    let mut branch = start(encoding, id, here);
    let guard = execution.truth(&branch, &step.guard)?;
    branch.states = branch.states.and(&guard)?;

    let allowed = match &step.sync {
        Sync::Send { channel, .. } => {
            let capacity = model.parts().channels[channel.channel.index()].capacity;
            room(&mut execution, &branch, channel, capacity)?
        }
        Sync::Receive { channel, patterns } => {
            let capacity = model.parts().channels[channel.channel.index()].capacity;
            if capacity == 0 {
                let states = branch.states.clone();
                execution.evaluation(&branch).channel(channel, &states)?;
                branch.states.clone()
            } else {
                oldest_fits(&mut execution, &branch, channel, patterns)?
            }
        }
        Sync::Internal | Sync::Event { .. } => branch.states.clone(),
    };
    Ok(Readiness {
        enabled: branch.states.and(&allowed)?.minus(&execution.errors)?,
        errors: execution.errors,
    })
}

/// Where a channel is not full. A rendezvous has no buffer, but its channel must exist.
fn room(
    execution: &mut Execution<'_, '_>,
    branch: &Branch,
    channel: &ChannelRef,
    capacity: usize,
) -> Result<Bdd, Halt> {
    let encoding = execution.encoding;
    let singles = execution
        .evaluation(branch)
        .channel(channel, &branch.states)?;

    let mut room = encoding.manager.constant(false);
    for (single, when) in singles.0.iter() {
        let length = encoding.domains.length(*single as usize);
        let full = if capacity == 0 {
            encoding.manager.constant(false)
        } else {
            encoding.is(length, capacity as i64)?
        };
        room = room.or(&when.minus(&full)?)?;
    }

    Ok(room)
}

/// Where the oldest message of a channel looks as the patterns demand.
fn oldest_fits(
    execution: &mut Execution<'_, '_>,
    branch: &Branch,
    channel: &ChannelRef,
    patterns: &[Pattern],
) -> Result<Bdd, Halt> {
    let encoding = execution.encoding;
    let singles = execution
        .evaluation(branch)
        .channel(channel, &branch.states)?;

    let mut fits = encoding.manager.constant(false);

    // An empty channel has no oldest message, whatever its bits say.
    for (single, when) in singles.0.iter() {
        let single = *single as usize;
        let empty = encoding.is(encoding.domains.length(single), 0)?;
        let start = Branch {
            states: branch.states.and(when)?.minus(&empty)?,
            ..branch.clone()
        };
        let message = |component: usize| {
            let field = encoding.domains.message(single, 0, component);
            encoding.value(field).clone()
        };
        fits = fits.or(&matching(execution, start, patterns, &message)?)?;
    }

    Ok(fits)
}

/// The states of the branch in which a message looks as the patterns demand. Patterns behind one that
/// does not fit are not evaluated.
fn matching(
    execution: &mut Execution<'_, '_>,
    mut branch: Branch,
    patterns: &[Pattern],
    message: &dyn Fn(usize) -> Value,
) -> Result<Bdd, Halt> {
    for (component, pattern) in patterns.iter().enumerate() {
        // shape: the other patterns take whatever comes.
        if let Pattern::Match(expected) = pattern {
            let expected = execution.value(&branch, expected)?;
            let equal = expected.equals(&message(component), &execution.encoding.manager)?;
            branch.states = branch.states.and(&equal)?;
        }
    }
    Ok(branch.states)
}

/// Executes commands that move together from these states, in which all of them are enabled.
pub(crate) fn execute_team(
    encoding: &Encoding<'_>,
    team: &[CommandId],
    states: &Bdd,
) -> Result<Execute, Halt> {
    let model = encoding.model;
    let mut all = Execute {
        branches: Vec::new(),
        errors: encoding.manager.constant(false),
        new_values: Vec::new(),
    };

    let mut message = None;
    let mut states = states.clone();
    if let [sender, receiver] = team
        && model.is_handshake(*sender)
    {
        let (fitting, values) = rendezvous(encoding, *sender, *receiver, &states, &mut all)?;
        states = fitting;
        message = Some(values);
    }

    let mut members = Vec::new();
    for &id in team {
        members.push(execute(
            encoding,
            id,
            &states,
            message.as_deref(),
            &mut all,
        )?);
    }
    all.branches = combine(encoding, members, &mut all.errors)?;
    Ok(all)
}

/// Where a message is handed over, and which.
fn rendezvous(
    encoding: &Encoding<'_>,
    sender: CommandId,
    receiver: CommandId,
    states: &Bdd,
    all: &mut Execute,
) -> Result<(Bdd, Vec<Value>), Halt> {
    let model = encoding.model;
    // shape: a rendezvous has one of each.
    let (
        Sync::Send { channel, payload },
        Sync::Receive {
            channel: other,
            patterns,
        },
    ) = (&model.step_of(sender).sync, &model.step_of(receiver).sync)
    else {
        unreachable!("a rendezvous pairs a sender with a receiver");
    };

    let instance = |id: CommandId| Some(model.commands()[id.index()].instance);
    let mut sending = Execution::new(encoding, instance(sender));
    let mut receiving = Execution::new(encoding, instance(receiver));
    let mut from = start(encoding, sender, states.clone());
    let mut to = start(encoding, receiver, states.clone());
    let source = sending.evaluation(&from).channel(channel, states)?;
    let target = receiving.evaluation(&to).channel(other, states)?;
    from.states = states.and(&source.equals(&target, &encoding.manager)?)?;

    let message = message(&mut sending, &from, channel, payload)?;
    to.states = from.states.minus(&sending.errors)?;
    let fits = matching(&mut receiving, to, patterns, &|component| {
        message[component].clone()
    })?;

    all.errors = all.errors.or(&sending.errors)?.or(&receiving.errors)?;
    Ok((fits.minus(&all.errors)?, message))
}

/// The components of a message, checked against the types of the channel.
fn message(
    execution: &mut Execution<'_, '_>,
    branch: &Branch,
    channel: &ChannelRef,
    payload: &[Expr],
) -> Result<Vec<Value>, Halt> {
    let model = execution.encoding.model;
    let declared = &model.parts().channels[channel.channel.index()];

    let mut message = Vec::new();
    for (expr, ty) in payload.iter().zip(&declared.payload) {
        let value = execution.value(branch, expr)?;
        let mut fits = ValueBuilder::default();
        for (value, when) in value.0.iter() {
            if ty.contains(*value) {
                fits.add(*value, when.clone())?;
            } else {
                let here = when.and(&branch.states)?;
                execution.errors = execution.errors.or(&here)?;
            }
        }
        message.push(fits.finish());
    }

    Ok(message)
}

/// All ways of executing one command: its communication, then its effect, then its new location.
fn execute(
    encoding: &Encoding<'_>,
    id: CommandId,
    states: &Bdd,
    handed_over: Option<&[Value]>,
    all: &mut Execute,
) -> Result<Vec<Branch>, Halt> {
    let model = encoding.model;
    let (command, step) = (&model.commands()[id.index()], model.step_of(id));
    let mut execution = Execution::new(encoding, Some(command.instance));
    let mut branch = start(encoding, id, states.clone());

    match (&step.sync, handed_over) {
        (Sync::Receive { patterns, .. }, Some(message)) => {
            store_message(&mut execution, &mut branch, patterns, message)?;
        }
        (Sync::Send { .. }, Some(_)) | (Sync::Internal | Sync::Event { .. }, _) => {}
        (Sync::Send { channel, payload }, None) => {
            send(&mut execution, &mut branch, channel, payload)?;
        }
        (Sync::Receive { channel, patterns }, None) => {
            receive(&mut execution, &mut branch, channel, patterns)?;
        }
    }

    let mut branches = execution.run(&step.effect, vec![branch])?;
    let target = Value::constant(&encoding.manager, step.target.index() as i64);
    for branch in &mut branches {
        let everywhere = encoding.manager.constant(true);
        let location = command.instance.index();
        branch.write(encoding, location, target.clone(), &everywhere)?;
    }

    all.errors = all.errors.or(&execution.errors)?;
    all.new_values.append(&mut execution.new_values);
    Ok(branches)
}

fn store_message(
    execution: &mut Execution<'_, '_>,
    branch: &mut Branch,
    patterns: &[Pattern],
    message: &[Value],
) -> Result<(), Halt> {
    for (pattern, value) in patterns.iter().zip(message) {
        // shape: the other patterns store nothing.
        if let Pattern::Store(place) = pattern {
            execution.store(branch, place, value)?;
        }
    }
    Ok(())
}

/// Appends a message to a channel that is not full.
fn send(
    execution: &mut Execution<'_, '_>,
    branch: &mut Branch,
    channel: &ChannelRef,
    payload: &[Expr],
) -> Result<(), Halt> {
    let encoding = execution.encoding;
    let message = message(execution, branch, channel, payload)?;
    let singles = execution
        .evaluation(branch)
        .channel(channel, &branch.states)?;

    for (single, when) in singles.0.iter() {
        let single = *single as usize;
        let length = encoding.domains.length(single);
        let mut longer = ValueBuilder::default();
        for position in 0..encoding.domains.capacity(single) {
            let is_next = encoding.is(length, position as i64)?.and(when)?;
            longer.add(position as i64 + 1, is_next.clone())?;
            for (component, value) in message.iter().enumerate() {
                let field = encoding.domains.message(single, position, component);
                let here = branch.states.and(&is_next)?;
                let fits = execution.fitting(field, value, &here, |_| true)?;
                branch.write(encoding, field, fits, &is_next)?;
            }
        }
        branch.write(encoding, length, longer.finish(), when)?;
    }
    Ok(())
}

/// Takes the oldest message out of a channel that has one.
fn receive(
    execution: &mut Execution<'_, '_>,
    branch: &mut Branch,
    channel: &ChannelRef,
    patterns: &[Pattern],
) -> Result<(), Halt> {
    let encoding = execution.encoding;
    let domains = &encoding.domains;
    let singles = execution
        .evaluation(branch)
        .channel(channel, &branch.states)?;
    let mut message: Vec<ValueBuilder> = patterns.iter().map(|_| ValueBuilder::default()).collect();

    for (single, when) in singles.0.iter() {
        let single = *single as usize;
        let capacity = domains.capacity(single);
        let length = domains.length(single);
        for (component, builder) in message.iter_mut().enumerate() {
            let first = encoding.value(domains.message(single, 0, component));
            for (value, has_value) in first.0.iter() {
                builder.add(*value, has_value.and(when)?)?;
            }

            // The messages behind move up; the last place becomes one that is not in use.
            for position in 0..capacity {
                let field = domains.message(single, position, component);
                let behind = if position + 1 < capacity {
                    encoding
                        .value(domains.message(single, position + 1, component))
                        .clone()
                } else {
                    Value::constant(&encoding.manager, encoding.rest(field))
                };
                let here = branch.states.and(when)?;
                let fits = execution.fitting(field, &behind, &here, |_| true)?;
                branch.write(encoding, field, fits, when)?;
            }
        }

        let mut shorter = ValueBuilder::default();
        for position in 1..=capacity {
            shorter.add(position as i64 - 1, encoding.is(length, position as i64)?)?;
        }
        branch.write(encoding, length, shorter.finish(), when)?;
    }

    let message: Vec<Value> = message.into_iter().map(ValueBuilder::finish).collect();
    store_message(execution, branch, patterns, &message)
}

/// What all members of a team do together: each has read the state before and its own writes only.
/// Different values for one cell are an error, unless some member cannot take the step at all.
fn combine(
    encoding: &Encoding<'_>,
    members: Vec<Vec<Branch>>,
    errors: &mut Bdd,
) -> Result<Vec<Branch>, Halt> {
    let mut possible = encoding.manager.constant(true);
    for branches in &members {
        let mut some = encoding.manager.constant(false);
        for branch in branches {
            some = some.or(&branch.states)?;
        }
        possible = possible.and(&some)?;
    }

    let mut members = members.into_iter();
    let mut results = members.next().unwrap_or_default();
    for branches in members {
        let mut merged = Vec::new();
        for so_far in &results {
            for branch in &branches {
                let states = so_far.states.and(&branch.states)?.and(&possible)?;
                if !states.is_false() {
                    merged.push(merge(encoding, so_far, branch, states, errors)?);
                }
            }
        }
        merged.retain(|branch| !branch.states.is_false());
        results = merged;
    }
    Ok(results)
}

fn merge(
    encoding: &Encoding<'_>,
    so_far: &Branch,
    branch: &Branch,
    states: Bdd,
    errors: &mut Bdd,
) -> Result<Branch, Halt> {
    let mut merged = so_far.clone();
    merged.states = states;

    for (field, written) in &branch.fields {
        if let Some(before) = so_far.fields.get(field) {
            let both = before.when.and(&written.when)?.and(&merged.states)?;
            let same = before.value.equals(&written.value, &encoding.manager)?;
            let conflict = both.minus(&same)?;
            *errors = errors.or(&conflict)?;
            merged.states = merged.states.minus(&conflict)?;
        }
        merged.write(encoding, *field, written.value.clone(), &written.when)?;
    }

    Ok(merged)
}

/// The instances that move in a team, in order.
pub(crate) fn movers(model: &Model, team: &[CommandId]) -> Vec<model::InstanceId> {
    let mut movers: Vec<_> = team
        .iter()
        .map(|id| model.commands()[id.index()].instance)
        .collect();
    movers.sort_unstable();
    movers.dedup();
    movers
}

//! What a step sends or receives, in names.

use model::{ChannelRef, CommandId, Env, Expr, Model, State, Sync};

use crate::{Communication, Trace, View};

/// The message that step `index` of a trace sends or receives, if any.
pub(crate) fn of_step(
    model: &Model,
    view: &View<'_>,
    trace: &Trace,
    index: usize,
) -> Option<Communication> {
    let (state, commands) = (&trace.states[index], &trace.steps[index].commands);
    // shape: only sends send.
    let sends = |id: &&CommandId| matches!(model.step_of(**id).sync, Sync::Send { .. });

    // shape: only receives receive.
    let receives = |id: &&CommandId| matches!(model.step_of(**id).sync, Sync::Receive { .. });
    let sender = commands.iter().find(sends).copied();
    let receiver = commands.iter().find(receives).copied();
    let instance = |id: CommandId| {
        let instance = model.commands()[id.index()].instance;
        model.instance_name(instance).to_owned()
    };
    let site = Site { model, state };
    let (channel, message) = match (sender, receiver) {
        (Some(sender), _) => site.sent(view, sender)?,
        (None, Some(receiver)) => site.received(view, receiver)?,
        (None, None) => return None,
    };
    Some(Communication {
        channel,
        message,
        from: sender.map(instance),
        to: receiver.map(instance),
    })
}

/// A state in which commands communicate.
struct Site<'a> {
    model: &'a Model,
    state: &'a State,
}

impl Site<'_> {
    fn sent(&self, view: &View<'_>, sender: CommandId) -> Option<(String, String)> {
        // shape: the caller has looked.
        let Sync::Send { channel, payload } = &self.model.step_of(sender).sync else {
            return None;
        };
        let values = payload.iter().map(|expr| self.eval(expr, sender));
        let values = values.collect::<Option<Vec<i64>>>()?;
        let message = view.message(channel.channel, &values).to_string();
        Some((self.channel(channel, sender)?.0, message))
    }

    fn received(&self, view: &View<'_>, receiver: CommandId) -> Option<(String, String)> {
        // shape: the caller has looked.
        let Sync::Receive { channel, .. } = &self.model.step_of(receiver).sync else {
            return None;
        };
        let (name, single) = self.channel(channel, receiver)?;
        let oldest = self.state.channels.get(single)?.first()?;
        Some((name, view.message(channel.channel, oldest).to_string()))
    }

    /// The name of a single channel, and its position in the state.
    fn channel(&self, reference: &ChannelRef, by: CommandId) -> Option<(String, usize)> {
        let channel = &self.model.parts().channels[reference.channel.index()];
        let first = self.model.first_single_channel(reference.channel);
        match (&reference.index, channel.indices) {
            (Some(index), Some((lo, _))) => {
                let index = self.eval(index, by)?;
                let offset = usize::try_from(index.checked_sub(lo)?).ok()?;
                Some((format!("{}[{index}]", channel.name), first + offset))
            }
            _ => Some((channel.name.clone(), first)),
        }
    }

    fn eval(&self, expr: &Expr, by: CommandId) -> Option<i64> {
        let command = &self.model.commands()[by.index()];
        let mut env = Env::of(command.instance, &command.bindings);
        let span = self.model.step_of(by).span;
        self.model.eval(expr, self.state, &mut env, span).ok()
    }
}

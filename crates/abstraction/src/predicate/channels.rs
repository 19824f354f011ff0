//! What sending and receiving does to the variables of the program.
//!
//! A buffered channel is its length and its slots, the oldest message first; slots beyond the
//! length hold zero.

use base::Span;
use model::{CommandId, Pattern, Step, Sync};
use smt::Term;

use super::execute::{Path, ProgramBuilder, coerce, same};
use super::program::{Content, Refusal, scalar, within};
use super::symbolic::{Scene, Translator};

impl ProgramBuilder<'_> {
    pub(super) fn channel_allows(
        &self,
        translator: &Translator<'_>,
        step: &Step,
        scene: &mut Scene,
    ) -> Result<Term, Refusal> {
        match &step.sync {
            Sync::Send { channel, .. } => {
                let capacity = self.model.parts().channels[channel.channel.index()].capacity;
                if capacity == 0 {
                    return Ok(Term::Bool(true));
                }
                let single = translator.single_channel(channel, scene)?;
                let length = translator.find(&Content::Length(single));
                Ok(Term::lt(
                    scene.values[length].clone(),
                    Term::Int(capacity as i128),
                ))
            }
            Sync::Receive { channel, patterns } => {
                let capacity = self.model.parts().channels[channel.channel.index()].capacity;
                if capacity == 0 {
                    return Ok(Term::Bool(true));
                }
                let single = translator.single_channel(channel, scene)?;
                let length = translator.find(&Content::Length(single));
                let mut parts = vec![Term::lt(Term::Int(0), scene.values[length].clone())];
                for (component, pattern) in patterns.iter().enumerate() {
                    if let Some(expected) = pattern.matched() {
                        let slot = translator.find(&Content::Slot(single, 0, component));
                        let expected = translator.certain(expected, scene)?;
                        parts.push(same(scene.values[slot].clone(), expected));
                    }
                }
                Ok(Term::and(parts))
            }
            Sync::Internal | Sync::Event { .. } => Ok(Term::Bool(true)),
        }
    }

    /// What a sender hands over, and the index of the channel.
    pub(super) fn message(&self, id: CommandId) -> Result<(Vec<Term>, usize), Refusal> {
        let command = &self.model.commands()[id.index()];
        let step = self.model.step_of(id);
        let translator = self.translator(step.span);
        let mut scene = Scene::new(self.vars, Some(command.instance), &command.bindings);

        // shape: the caller names a sender.
        let Sync::Send { channel, payload } = &step.sync else {
            unreachable!("the sender sends");
        };
        let single = translator.single_channel(channel, &mut scene)?;
        let declared = &self.model.parts().channels[channel.channel.index()];
        let mut values = Vec::new();

        for (expr, ty) in payload.iter().zip(&declared.payload) {
            let value = translator.value(expr, &mut scene)?;
            let (sort, interval, _) = scalar(*ty);
            let term = coerce(value.term, sort);
            let intervals = |name: &str| self.interval_of(name);
            let fits = within(&term, sort, interval).within(&intervals);
            if value.ok != Term::Bool(true) || fits != Term::Bool(true) {
                return translator.refuse("a message that may not fit the type of the channel");
            }
            values.push(term);
        }

        Ok((values, single))
    }

    pub(super) fn communicate(&mut self, step: &Step, path: &mut Path) -> Result<(), Refusal> {
        match &step.sync {
            Sync::Internal | Sync::Event { .. } => Ok(()),
            Sync::Send { channel, payload } => {
                let translator = self.translator(step.span);
                let single = translator.single_channel(channel, &mut path.scene)?;
                let declared = &self.model.parts().channels[channel.channel.index()];
                let length = translator.find(&Content::Length(single));
                let len = path.scene.values[length].clone();
                let mut fails = Vec::new();
                let mut stores = Vec::new();
                for (component, (expr, ty)) in payload.iter().zip(&declared.payload).enumerate() {
                    let value = translator.value(expr, &mut path.scene)?;
                    let (sort, interval, _) = scalar(*ty);
                    let value_term = coerce(value.term, sort);
                    fails.push(Term::not(value.ok));
                    fails.push(Term::not(within(&value_term, sort, interval)));
                    for slot in 0..declared.capacity {
                        let var = translator.find(&Content::Slot(single, slot, component));
                        let here = Term::eq(len.clone(), Term::Int(slot as i128));
                        let old = path.scene.values[var].clone();
                        stores.push((var, Term::ite(here, value_term.clone(), old)));
                    }
                }
                stores.push((length, Term::add([len, Term::Int(1)])));
                path.fails = Term::or([path.fails.clone(), Term::or(fails)]);
                for (var, value) in stores {
                    path.scene.values[var] = value;
                    path.written.insert(var);
                }
                Ok(())
            }
            Sync::Receive { channel, patterns } => {
                let translator = self.translator(step.span);
                let single = translator.single_channel(channel, &mut path.scene)?;
                let declared = &self.model.parts().channels[channel.channel.index()];
                let length = translator.find(&Content::Length(single));
                let len = path.scene.values[length].clone();
                let mut message = Vec::new();
                let mut stores = vec![(length, Term::sub(len, Term::Int(1)))];
                for (component, ty) in declared.payload.iter().enumerate() {
                    let var = |slot| translator.find(&Content::Slot(single, slot, component));
                    message.push(path.scene.values[var(0)].clone());
                    for slot in 0..declared.capacity {
                        let next = if slot + 1 < declared.capacity {
                            path.scene.values[var(slot + 1)].clone()
                        } else {
                            coerce(Term::Int(0), scalar(*ty).0)
                        };
                        stores.push((var(slot), next));
                    }
                }
                for (var, value) in stores {
                    path.scene.values[var] = value;
                    path.written.insert(var);
                }
                self.store_message(patterns, &message, path, step.span)
            }
        }
    }

    pub(super) fn store_message(
        &self,
        patterns: &[Pattern],
        message: &[Term],
        path: &mut Path,
        span: Span,
    ) -> Result<(), Refusal> {
        for (pattern, value) in patterns.iter().zip(message) {
            if let Some(place) = pattern.stored() {
                self.store(place, value.clone(), path, span)?;
            }
        }
        Ok(())
    }
}

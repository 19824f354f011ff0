//! Is there a partner for a rendezvous? An escape that sends takes precedence only if there is one.

use model::{BinaryOp, ChannelRef, Expr, LocationId, Quantifier, Sync};

use super::expr::Who;
use super::statement::Variant;
use super::{Lowering, all, any};

/// A send that looks for a partner.
struct Offer<'a> {
    channel: &'a ChannelRef,
    payload: &'a [Expr],
}

impl Lowering<'_> {
    /// When an escape of a process keeps it from going on: if its first statement is possible. A
    /// send by rendezvous is if a partner waits for it; a receive never counts, as in Spin, which
    /// looks for partners of senders only.
    pub(super) fn escape_guard(&mut self, variants: &[Variant], who: &Who) -> Expr {
        let mut ways = Vec::new();
        for variant in variants {
            ways.push(match &variant.sync {
                Sync::Send { channel, payload } => {
                    let offer = Offer { channel, payload };
                    all([variant.guard.clone(), self.has_partner(&offer, who)])
                }
                Sync::Internal | Sync::Receive { .. } | Sync::Event { .. } => {
                    variant.visible_guard()
                }
            });
        }
        any(ways)
    }

    /// Does some process wait for such a message?
    fn has_partner(&mut self, offer: &Offer<'_>, who: &Who) -> Expr {
        // Escapes of the partner that send themselves are not looked at.
        if std::mem::replace(&mut self.special.is_meeting, true) {
            return Expr::Bool(false);
        }

        let mut parts = Vec::new();
        for position in 0..self.units.len() {
            let proctype = self.units[position].proctype;
            let is_own = who.context.owner == Some(proctype);
            let Some(range) = self.index_range(proctype) else {
                if !is_own {
                    let pid = self.who(proctype).pid.expect("a process has a number");
                    parts.push(self.waits_for(position, &pid, offer));
                }
                continue;
            };
            let bound = self.bound("p");
            let partner = Expr::Bound(bound);
            let mut body = vec![self.waits_for(position, &partner, offer)];
            if let (true, Some(pid)) = (is_own, &who.pid) {
                body.insert(0, Expr::binary(BinaryOp::Ne, partner, pid.clone()));
            }
            let body = all(body);
            if body != Expr::Bool(false) {
                parts.push(Expr::Quantified {
                    quantifier: Quantifier::Exists,
                    bound,
                    lo: Box::new(Expr::Int(range.lo)),
                    hi: Box::new(Expr::Int(range.hi)),
                    body: Box::new(body),
                });
            }
        }

        self.special.is_meeting = false;
        any(parts)
    }

    /// Does the process with this number wait for the message?
    fn waits_for(&mut self, position: usize, pid: &Expr, offer: &Offer<'_>) -> Expr {
        let unit = self.units[position].clone();
        let plan = self.plans[position].clone();
        let who = Who {
            owner: self.member(unit.proctype, pid.clone()),
            pid: Some(pid.clone()),
            ..self.who(unit.proctype)
        };
        let mut ways = Vec::new();

        for (location, planned) in plan.steps.iter().enumerate() {
            let guards = self.guards(&unit, planned, &who);
            let fits = any(guards
                .iter()
                .flatten()
                .map(|variant| accepts(variant, offer)));
            if fits != Expr::Bool(false) {
                let here = vec![LocationId::new(location)];
                ways.push(all([self.member_at(position, pid.clone(), here), fits]));
            }
        }

        let waits = any(ways);
        match &self.program.processes[unit.proctype].provided {
            Some(provided) if waits != Expr::Bool(false) => {
                all([self.condition(provided, &who), waits])
            }
            _ => waits,
        }
    }
}

/// When a way of executing a statement receives the message.
fn accepts(variant: &Variant, offer: &Offer<'_>) -> Expr {
    // shape: nothing else receives.
    let Sync::Receive { channel, patterns } = &variant.sync else {
        return Expr::Bool(false);
    };
    if channel.channel != offer.channel.channel {
        return Expr::Bool(false);
    }
    let mut parts = vec![variant.guard.clone()];
    if let (Some(own), Some(its)) = (&channel.index, &offer.channel.index) {
        parts.push(Expr::Binary(BinaryOp::Eq, own.clone(), its.clone()));
    }
    for (pattern, value) in patterns.iter().zip(offer.payload) {
        if let Some(wanted) = pattern.matched() {
            parts.push(Expr::binary(BinaryOp::Eq, wanted.clone(), value.clone()));
        }
    }
    all(parts)
}

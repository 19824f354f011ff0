//! Messages that components hand to each other.

use std::collections::{BTreeMap, BTreeSet};

use model::{EventId, Expr, Stmt, Target};

use super::assemble::{Assembly, SILENT, joining};
use super::ast::BinaryOp;
use super::moves::{Label, Output, handover};
use super::term::SetId;
use super::value::logical;

impl Assembly<'_, '_> {
    /// Handshakes between components: one event for each pair of components and message that is
    /// known beforehand, and for each pair of steps otherwise.
    pub(super) fn handshakes(&mut self) {
        let mut events: BTreeMap<(usize, usize, usize, i64, String), EventId> = BTreeMap::new();
        let mut pushed: BTreeSet<(EventId, usize, usize)> = BTreeSet::new();
        for from in 0..self.components.len() {
            for send in self.positions(from, |label| matches!(label, Label::Send(_))) {
                let Label::Send(output) = self.components[from].steps[send].step.label.clone()
                else {
                    unreachable!("it sends");
                };
                for to in (0..self.components.len()).filter(|&to| to != from) {
                    for receive in self.positions(to, |label| matches!(label, Label::Receive(_))) {
                        let Label::Receive(input) =
                            self.components[to].steps[receive].step.label.clone()
                        else {
                            unreachable!("it receives");
                        };
                        let Some((guard, bound)) = handover(&output, &input) else {
                            continue;
                        };
                        // shape: only numbers are known beforehand.
                        let is_known = output.values.iter().all(|v| matches!(v, Expr::Int(_)));
                        let pair = if is_known {
                            String::new()
                        } else {
                            format!("{send}/{receive}")
                        };
                        let text = format!("{}{pair}", output.text);
                        let key = (from, to, output.channel, output.index, text);
                        let span = self.components[from].steps[send].step.span;
                        let hidden = self.hides_both(from, to, &output);
                        let id = match events.get(&key) {
                            Some(id) => *id,
                            None => {
                                let name = self.machine.handshake_name(&output);
                                let name = if hidden {
                                    format!("{SILENT}({name})")
                                } else {
                                    name.to_string()
                                };
                                let id = self.event(name, span);
                                events.insert(key, id);
                                id
                            }
                        };
                        self.half(id, from, send, &output, '!', hidden, &mut pushed);
                        if pushed.insert((id, to, receive)) {
                            self.receiving(id, to, receive, &output, hidden, (guard, bound));
                        }
                    }
                }
            }
        }
    }

    fn hides_both(&self, from: usize, to: usize, output: &Output) -> bool {
        let name = self.machine.handshake_name(output);
        let both = |hide: &&(SetId, usize)| self.hidden_by[to].contains(hide);
        let sets = self.hidden_by[from].iter().filter(both);
        sets.clone()
            .any(|(set, _)| self.machine.sets[set.index()].contains(&name))
    }

    #[expect(clippy::too_many_arguments, reason = "the two halves differ in little")]
    fn half(
        &mut self,
        id: EventId,
        leaf: usize,
        position: usize,
        output: &Output,
        mark: char,
        hidden: bool,
        pushed: &mut BTreeSet<(EventId, usize, usize)>,
    ) {
        if !pushed.insert((id, leaf, position)) {
            return;
        }

        let name = self.half_name(output, mark, hidden);
        let mut step = self.step(leaf, position, &name);
        step.sync = joining(id);

        if let Some((kind, span)) = self.components[leaf].steps[position].step.fairness {
            self.annotate(kind, Target::Event(id), span);
        }
        self.processes[leaf].steps.push(step);
    }

    fn half_name(&mut self, output: &Output, mark: char, hidden: bool) -> String {
        if hidden {
            return SILENT.to_owned();
        }
        let channel = self.machine.single_name(output);
        let name = format!("{channel}{mark}{}", output.text);
        self.events.insert(self.machine.handshake_name(output));
        self.events.insert(name.clone().into());
        name
    }

    fn receiving(
        &mut self,
        id: EventId,
        leaf: usize,
        position: usize,
        output: &Output,
        hidden: bool,
        (guard, bound): (Expr, Vec<Stmt>),
    ) {
        let name = self.half_name(output, '?', hidden);
        let mut step = self.step(leaf, position, &name);
        step.sync = joining(id);
        step.guard = logical(BinaryOp::And, step.guard, guard);
        step.effect.splice(0..0, bound);
        if let Some((kind, span)) = self.components[leaf].steps[position].step.fairness {
            self.annotate(kind, Target::Event(id), span);
        }
        self.processes[leaf].steps.push(step);
    }
}

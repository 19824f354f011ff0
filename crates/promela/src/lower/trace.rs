//! `trace` and `notrace`: assertions about the order of messages.
//!
//! A trace is an automaton over sends and receives on channels. Every send on a channel that some
//! send of the trace names must be one that the automaton can follow, and so for receives; other
//! operations do not concern it. A message that the automaton cannot follow is a run-time error. A
//! `notrace` is the reverse: it is an error to come to its end; after a message that it cannot
//! follow it looks no further. Where nothing moves any more and some process is left, the automaton
//! must be at its end or at an `end` label.
//!
//! The place of the automaton is a variable of the model; every operation on a channel moves it.

use std::rc::Rc;

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, Pattern, Place, Scalar, Stmt, StmtKind, VarId};

use crate::ast::{self, Argument, ExprKind};
use crate::flow::{self, Body, ElementKind, Flow, Leaf};
use crate::symbols::GLOBAL;

use super::channels::{Candidate, add};
use super::expr::{Who, read_global};
use super::{Lowering, all, any, equals};

/// What happens on a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Direction {
    Send,
    Receive,
}

/// The automaton of a `trace`.
pub(super) struct Monitor {
    is_negated: bool,
    flow: Flow,
    /// A position is a value of the variable.
    locations: Vec<usize>,
    /// The value behind the last event.
    end: i64,
    at: VarId,
}

/// An event that the automaton follows.
struct Event {
    /// Is it this channel?
    channel: Expr,
    /// Does the automaton follow the message from where it is?
    follows: Expr,
    target: i64,
}

impl Lowering<'_> {
    /// Makes the automaton, if the text has one.
    pub(super) fn make_monitor(&mut self) {
        let program = self.program;
        let Some(trace) = program.traces.first() else {
            return;
        };
        if let Some(second) = program.traces.get(1) {
            let message = "a model has one `trace` or `notrace` at most";
            let diagnostic = Diagnostic::error("trace", second.span, message);
            self.say(diagnostic.label(trace.span, "the first one is here"));
            return;
        }

        let body = Body {
            statements: &trace.body,
            end: trace.end,
            scope: GLOBAL,
            owner: None,
            is_claim: true,
        };

        let labels = &program.remote_labels;
        let flow = flow::build(&body, labels, &mut self.symbols, self.diagnostics);
        let Some(flow) = flow else { return };
        if self.symbols.vars.len() > self.storage.len() {
            let message = "a trace has no variables of its own";
            self.error("trace", trace.span, message);
            return;
        }

        let locations = flow.locations();
        if !self.only_events(&flow, &locations) {
            return;
        }
        let is_end = |element: &usize| matches!(flow.elements[*element].kind, ElementKind::End);
        let end = locations.iter().position(is_end).unwrap_or(locations.len()) as i64;
        let last = end.max(locations.len() as i64 - 1);
        let at = self.special_variable("_trace", Scalar::Range(0, last), 0);
        self.special.monitor = Some(Rc::new(Monitor {
            is_negated: trace.is_negated,
            flow,
            locations,
            end,
            at,
        }));
    }

    /// Are there only sends and receives?
    fn only_events(&mut self, flow: &Flow, locations: &[usize]) -> bool {
        for location in locations {
            for exit in flow.exits(*location) {
                let element = &flow.elements[exit.element];
                let is_event = match &element.kind {
                    ElementKind::Leaf(Leaf::Send { sorted, .. }) => !sorted,
                    ElementKind::Leaf(Leaf::Receive { peek, .. }) => !peek,
                    ElementKind::End => true,
                    _ => false,
                };
                if !is_event {
                    let message = "a trace lists sends and receives, nothing else";
                    let diagnostic = Diagnostic::error("trace", element.span, message);
                    let help = "between them there may be `if`, `do`, `goto`, `break` and labels";
                    self.say(diagnostic.help(help));
                    return false;
                }
            }
        }
        true
    }

    /// Moves the automaton when a message is sent or received, before the channel changes.
    pub(super) fn watch(
        &mut self,
        direction: Direction,
        candidate: &Candidate,
        message: &[Expr],
        span: Span,
    ) -> Vec<Stmt> {
        let Some(monitor) = self.special.monitor.clone() else {
            return Vec::new();
        };
        let events = self.events(&monitor, direction, candidate, message);
        if events.is_empty() {
            return Vec::new();
        }
        let stmt = |kind| Stmt::new(kind, span);
        let go = |target: i64| {
            let place = Place {
                var: monitor.at,
                owner: None,
                path: Vec::new(),
            };
            stmt(StmtKind::Assign(place, Expr::Int(target)))
        };

        let lost = if monitor.is_negated {
            go(monitor.end)
        } else {
            let message = "the `trace` does not allow this message here";
            stmt(StmtKind::Fail(message.to_owned()))
        };

        let concerned = any(events.iter().map(|event| event.channel.clone()));
        let mut code = vec![lost];
        for event in events.into_iter().rev() {
            let step = if monitor.is_negated && event.target == monitor.end {
                let message = "this message completes the `notrace`";
                stmt(StmtKind::Fail(message.to_owned()))
            } else {
                go(event.target)
            };
            code = vec![stmt(StmtKind::If(event.follows, vec![step], code))];
        }

        if concerned.is_bool(true) {
            return code;
        }
        vec![stmt(StmtKind::If(concerned, code, Vec::new()))]
    }

    /// The events of the automaton that may be meant, in order.
    fn events(
        &mut self,
        monitor: &Monitor,
        direction: Direction,
        candidate: &Candidate,
        message: &[Expr],
    ) -> Vec<Event> {
        let base = self.groups[candidate.group].base;
        let number = add(candidate.index.clone(), base);
        let mut events = Vec::new();
        for (position, location) in monitor.locations.iter().enumerate() {
            for exit in monitor.flow.exits(*location) {
                let element = &monitor.flow.elements[exit.element];
                let who = Who {
                    context: element.context,
                    ..Who::no_process()
                };
                let (channel, wanted) = match (&element.kind, direction) {
                    (
                        ElementKind::Leaf(Leaf::Send {
                            channel, arguments, ..
                        }),
                        Direction::Send,
                    ) => (channel, self.sent_values(arguments, &who)),
                    (
                        ElementKind::Leaf(Leaf::Receive {
                            channel, arguments, ..
                        }),
                        Direction::Receive,
                    ) => (channel, self.received_values(arguments, &who)),
                    _ => continue,
                };
                let Some(channel) = self.is_channel(channel, &number, &who) else {
                    continue;
                };
                let at = equals(read_global(monitor.at), position as i64);
                let fits = wanted.into_iter().filter_map(|(field, value)| {
                    let component = message.get(field)?.clone();
                    Some(Expr::binary(BinaryOp::Eq, component, value))
                });
                let follows = all([at, channel.clone()].into_iter().chain(fits));
                let target = exit.target.and_then(|target| {
                    let found = monitor.locations.iter().position(|other| *other == target);
                    found.map(|target| target as i64)
                });
                events.push(Event {
                    channel,
                    follows,
                    target: target.unwrap_or(monitor.end),
                });
            }
        }

        events
    }

    /// Is the channel that a trace names the one with this number? Nothing if it never is.
    fn is_channel(&mut self, channel: &ast::VarRef, number: &Expr, who: &Who) -> Option<Expr> {
        let found = self.place(channel, who)?;
        let named = self.read(&found, who);
        match (&named, number) {
            (Expr::Int(a), Expr::Int(b)) if a == b => Some(Expr::Bool(true)),
            (Expr::Int(_), Expr::Int(_)) => None,
            _ => Some(Expr::binary(BinaryOp::Eq, named, number.clone())),
        }
    }

    /// Which components a send of a trace demands: constants and `eval(…)`; variables stand for any
    /// value.
    fn sent_values(&mut self, arguments: &[ast::Expr], who: &Who) -> Vec<(usize, Expr)> {
        let mut wanted = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            let is_any = match &argument.kind {
                ExprKind::Var(var) => !self.symbols.mtypes.contains_key(&var.parts[0].name),
                _ => false,
            };
            if !is_any {
                wanted.push((position, self.value(argument, who).expr));
            }
        }
        wanted
    }

    fn received_values(&mut self, arguments: &[Argument], who: &Who) -> Vec<(usize, Expr)> {
        let mut wanted = Vec::new();
        for (position, argument) in arguments.iter().enumerate() {
            match argument {
                Argument::Match(expr) => wanted.push((position, self.value(expr, who).expr)),
                Argument::Store(var) => {
                    let constant = self.symbols.mtypes.get(&var.parts[0].name);
                    wanted.extend(constant.map(|value| (position, Expr::Int(*value))));
                }
            }
        }
        wanted
    }

    /// Both halves of a rendezvous, as the receiver sees them. What the receiver ignores is kept
    /// for a moment.
    pub(super) fn watch_meeting(
        &mut self,
        candidate: &Candidate,
        patterns: &mut [Pattern],
        resets: &mut Vec<Stmt>,
        span: Span,
    ) -> Vec<Stmt> {
        if self.special.monitor.is_none() {
            return Vec::new();
        }
        let mut message = Vec::new();

        for (position, pattern) in patterns.iter_mut().enumerate() {
            // shape: the other patterns name what is received.
            if let Pattern::Ignore = pattern {
                let scratch = self.scratch(position);
                *pattern = Pattern::Store(scratch.clone());
                let reset = StmtKind::Assign(scratch, Expr::Int(0));
                resets.push(Stmt::new(reset, span));
            }
            message.push(match pattern {
                Pattern::Match(wanted) => wanted.clone(),
                Pattern::Store(place) => Expr::Read(place.clone()),
                Pattern::Ignore => unreachable!("it was replaced"),
            });
        }

        let mut code = self.watch(Direction::Send, candidate, &message, span);
        code.extend(self.watch(Direction::Receive, candidate, &message, span));
        code
    }

    /// Is the automaton at an end, or, as in Spin, no process left that could be? Nothing without
    /// an automaton.
    pub(super) fn monitor_at_end(&self) -> Option<Expr> {
        let monitor = self.special.monitor.clone()?;
        let is_end = |element: &usize| {
            let mut labels = monitor.flow.elements[*element].labels.iter();
            labels.any(|label| label.starts_with("end"))
        };
        let labelled = monitor.locations.iter().enumerate();
        let labelled = labelled.filter(|(_, element)| is_end(element));
        let ends = labelled.map(|(position, _)| position as i64);
        let ends = ends.chain([monitor.end]);
        let here = || read_global(monitor.at);
        let at_end = any(ends.map(|end| equals(here(), end)));
        let none_left = self.special.n_processes;
        let none_left = none_left.map(|count| equals(read_global(count), 0));
        Some(any(none_left.into_iter().chain([at_end])))
    }
}

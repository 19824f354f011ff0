//! Communications and effects in a form that can be compared.

use std::collections::BTreeSet;

use model::{Pattern, Stmt, StmtKind, Sync};

use super::sorts::Slot;
use super::term::{Obstacle, Term, Terms};

/// A statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Action {
    Assign(Term, Term),
    If(Term, Vec<Action>, Vec<Action>),
    Assert(Term),
    Choose(Term, Term, Term),
    Let(Term),
    Set(usize, Term),
    While(Term, Vec<Action>),
    Fail(String),
    Exhausted,
}

/// A communication.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Communication {
    None,
    Send(u32, Option<Term>, Vec<Term>),
    Receive(u32, Option<Term>, Vec<Reception>),
    Event(u32, Vec<Term>),
}

/// A component of a message that is received.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Reception {
    Match(Term),
    Store(Term),
    Ignore,
}

/// The cells that a statement touches.
#[derive(Debug, Default)]
struct Touched {
    reads: BTreeSet<usize>,
    writes: BTreeSet<usize>,
}

impl Touched {
    fn is_independent_of(&self, other: &Self) -> bool {
        self.writes.is_disjoint(&other.writes)
            && self.writes.is_disjoint(&other.reads)
            && other.writes.is_disjoint(&self.reads)
    }
}

impl Terms<'_> {
    pub(super) fn communication(&mut self, sync: &Sync) -> Result<Communication, Obstacle> {
        Ok(match sync {
            Sync::Internal => Communication::None,
            Sync::Send { channel, payload } => {
                let index = self.channel_index(channel)?;
                let mut message = Vec::new();
                for (position, expr) in payload.iter().enumerate() {
                    let sort = self.sorts.of(&Slot::Payload(channel.channel, position));
                    message.push(self.term(expr, sort)?);
                }
                Communication::Send(channel.channel.0, index, message)
            }
            Sync::Receive { channel, patterns } => {
                let index = self.channel_index(channel)?;
                let mut message = Vec::new();
                for (position, pattern) in patterns.iter().enumerate() {
                    let sort = self.sorts.of(&Slot::Payload(channel.channel, position));
                    message.push(match pattern {
                        Pattern::Match(expr) => Reception::Match(self.term(expr, sort)?),
                        Pattern::Store(place) => {
                            let (target, stored) = self.target(place)?;
                            if stored != sort {
                                return Err(Obstacle::Arithmetic);
                            }
                            self.note_written(&target);
                            Reception::Store(target)
                        }
                        Pattern::Ignore => Reception::Ignore,
                    });
                }
                Communication::Receive(channel.channel.0, index, message)
            }
            Sync::Event { event, arguments } => {
                let mut terms = Vec::new();
                for (position, expr) in arguments.iter().enumerate() {
                    let sort = self.sorts.of(&Slot::Argument(*event, position));
                    terms.push(self.term(expr, sort)?);
                }
                Communication::Event(event.0, terms)
            }
        })
    }

    /// A sequence of statements. Neighbours that do not touch what the other writes are sorted.
    pub(super) fn actions(&mut self, statements: &[Stmt]) -> Result<Vec<Action>, Obstacle> {
        let (n_names, n_values) = (self.names.len(), self.values.len());
        let mut actions = Vec::new();
        for statement in statements {
            self.action(&statement.kind, &mut actions)?;
        }
        self.names.truncate(n_names);
        self.values.truncate(n_values);
        Ok(self.sorted(actions))
    }

    fn action(&mut self, statement: &StmtKind, actions: &mut Vec<Action>) -> Result<(), Obstacle> {
        let action = match statement {
            StmtKind::Assign(place, value) => {
                let (target, sort) = self.target(place)?;
                let value = self.term(value, sort)?;
                self.note_written(&target);
                Action::Assign(target, value)
            }
            StmtKind::If(condition, then, otherwise) => match self.plain(condition)? {
                Term::Const(value) => {
                    // Terms are compared after simplification: two processes may differ in code
                    // that neither executes.
                    let taken = if value == 0 { otherwise } else { then };
                    actions.extend(self.actions(taken)?);
                    return Ok(());
                }
                condition => Action::If(condition, self.actions(then)?, self.actions(otherwise)?),
            },
            StmtKind::For(bound, lo, hi, body) => {
                let range = self.known.range(lo, hi).ok_or(Obstacle::OpenRange)?;

                // Unfolded, so that a loop over a family can be compared with its image under an
                // exchange: the order of the instances changes then.
                for value in range {
                    self.known.bounds.push((*bound, value));
                    let unfolded = self.actions(body);
                    self.known.bounds.pop();
                    actions.extend(unfolded?);
                }
                return Ok(());
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                if let Some(value) = self.remembered(*bound, lo, hi, condition)? {
                    self.values.push((*bound, value));
                    return Ok(());
                }
                let (lo, hi) = self.choice(*bound, lo, hi)?;
                Action::Choose(lo, hi, self.plain(condition)?)
            }
            StmtKind::Assert(condition) => Action::Assert(self.plain(condition)?),
            StmtKind::Let(bound, value) => {
                let sort = self.sorts.of(&Slot::Bound(*bound));
                let value = self.term(value, sort)?;
                self.names.push((*bound, (i64::MIN, i64::MAX)));
                Action::Let(value)
            }
            StmtKind::Set(bound, value) => {
                let sort = self.sorts.of(&Slot::Bound(*bound));
                let position = self.names.iter().rposition(|(name, _)| name == bound);
                let position = position.ok_or(Obstacle::Different)?;
                Action::Set(position, self.term(value, sort)?)
            }
            StmtKind::While(condition, body) => {
                let condition = self.plain(condition)?;

                // What the body writes was there before its next round, so inside of a loop no value
                // counts as older than the step.
                let was_in_loop = std::mem::replace(&mut self.in_loop, true);
                let body = self.actions(body);
                self.in_loop = was_in_loop;
                Action::While(condition, body?)
            }
            StmtKind::Fail(message) => Action::Fail(message.clone()),
            StmtKind::Exhausted => Action::Exhausted,
            StmtKind::SetTimer(..) | StmtKind::Tick => return Err(Obstacle::Timers),
        };

        actions.push(action);
        Ok(())
    }

    fn note_written(&mut self, target: &Term) {
        let mut written = std::mem::take(&mut self.written);
        self.reads(target, &mut written);
        self.written = written;
    }

    /// The value of a choice among one value, if that never fails and was there before the step:
    /// so the order of such choices and of what is done with them does not matter.
    fn remembered(
        &mut self,
        bound: model::BoundId,
        lo: &model::Expr,
        hi: &model::Expr,
        condition: &model::Expr,
    ) -> Result<Option<Term>, Obstacle> {
        if self.in_loop || self.known.constant(condition) != Some(1) {
            return Ok(None);
        }
        let sort = self.sorts.of(&Slot::Bound(bound));
        let (value, other) = (self.term(lo, sort)?, self.term(hi, sort)?);
        let mut reads = BTreeSet::new();
        self.reads(&value, &mut reads);
        let is_old = reads.is_disjoint(&self.written);
        let is_one = value == other && self.bounds(&value).is_some();
        Ok((is_one && is_old).then(|| Term::Before(Box::new(value))))
    }

    /// The range of a choice. Among indices it must contain both that are exchanged, or neither.
    fn choice(
        &mut self,
        bound: model::BoundId,
        lo: &model::Expr,
        hi: &model::Expr,
    ) -> Result<(Term, Term), Obstacle> {
        let known = self.known.constant(lo).zip(self.known.constant(hi));
        let sort = self.sorts.of(&Slot::Bound(bound));
        let terms = match (sort, known) {
            (Some(_), None) => return Err(Obstacle::OpenRange),
            (Some(sort), Some((lo, hi))) => {
                let within = |value: i64| (lo..=hi).contains(&value);
                let is_split = self.renaming.is_some_and(|renaming| {
                    renaming.sort == sort && within(renaming.one) != within(renaming.other)
                });
                if is_split {
                    return Err(Obstacle::Partial);
                }
                (Term::Const(lo), Term::Const(hi))
            }
            (None, _) => (self.plain(lo)?, self.plain(hi)?),
        };
        self.names
            .push((bound, known.unwrap_or((i64::MIN, i64::MAX))));
        Ok(terms)
    }

    /// Sorts every longest sequence of statements in which the order makes no difference. A failure
    /// of one of them is met in any order.
    fn sorted(&self, actions: Vec<Action>) -> Vec<Action> {
        let mut done = Vec::new();
        let mut run: Vec<(Action, Touched)> = Vec::new();
        let flush = |run: &mut Vec<(Action, Touched)>, done: &mut Vec<Action>| {
            let mut actions: Vec<Action> = run.drain(..).map(|(action, _)| action).collect();
            actions.sort();
            done.extend(actions);
        };

        for action in actions {
            let mut touched = Touched::default();
            if !self.touch(&action, &mut touched) {
                flush(&mut run, &mut done);
                done.push(action);
                continue;
            }
            if !run
                .iter()
                .all(|(_, other)| other.is_independent_of(&touched))
            {
                flush(&mut run, &mut done);
            }
            run.push((action, touched));
        }

        flush(&mut run, &mut done);
        done
    }

    /// Adds the cells that a statement touches. Says whether that is all it does.
    fn touch(&self, action: &Action, touched: &mut Touched) -> bool {
        match action {
            Action::Assign(target, value) => {
                // With the cells of a computed index; that makes fewer statements independent.
                self.reads(target, &mut touched.writes);
                self.reads(value, &mut touched.reads);
                true
            }
            Action::If(condition, then, otherwise) => {
                self.reads(condition, &mut touched.reads);
                let mut both = then.iter().chain(otherwise);
                both.all(|action| self.touch(action, touched))
            }
            Action::Assert(condition) => {
                self.reads(condition, &mut touched.reads);
                true
            }
            Action::Choose(..)
            | Action::Let(_)
            | Action::Set(..)
            | Action::While(..)
            | Action::Fail(_)
            | Action::Exhausted => false,
        }
    }
}

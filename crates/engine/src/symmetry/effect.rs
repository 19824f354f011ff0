//! Communications and effects in a form that can be compared.

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use base::Span;
use model::{Pattern, Stmt, StmtKind, Sync};

use super::sorts::Slot;
use super::term::{Obstacle, Term, Terms};

/// A statement.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Action {
    Assign(Term, Term),
    If(Term, Vec<Placed>, Vec<Placed>),
    Assert(Term),
    Choose(Term, Term, Term),
    Let(Term),
    Set(usize, Term),
    While(Term, Vec<Placed>),
    Fail(String),
    Exhausted,
}

/// A statement, and where it is written. That makes no difference between statements.
#[derive(Clone, Debug)]
pub(super) struct Placed {
    pub(super) action: Action,
    pub(super) span: Span,
}

impl PartialEq for Placed {
    fn eq(&self, other: &Self) -> bool {
        self.action == other.action
    }
}

impl Eq for Placed {}

impl PartialOrd for Placed {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Placed {
    fn cmp(&self, other: &Self) -> Ordering {
        self.action.cmp(&other.action)
    }
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

/// Statements in layers: each is in the first one behind all those before it whose order matters, so
/// sequences that differ only in the order of independent statements have the same layers (D. Foata's
/// normal form; P. Cartier, D. Foata, "Problèmes combinatoires de commutation et réarrangements",
/// Lecture Notes in Mathematics 85, 1969).
#[derive(Default)]
struct Layers {
    layers: Vec<Vec<Placed>>,
    /// By cell: behind which layer it may be read and written.
    behind: BTreeMap<usize, (usize, usize)>,
}

impl Layers {
    fn add(&mut self, action: Placed, touched: &Touched) {
        let behind = |cell: &usize| self.behind.get(cell).copied().unwrap_or_default();
        let reads = touched.reads.iter().map(|cell| behind(cell).0);
        let writes = touched.writes.iter().map(|cell| behind(cell).1);
        let layer = reads.chain(writes).max().unwrap_or(0);

        if layer == self.layers.len() {
            self.layers.push(Vec::new());
        }
        self.layers[layer].push(action);
        for cell in &touched.reads {
            let (_, write) = self.behind.entry(*cell).or_default();
            *write = (*write).max(layer + 1);
        }
        for cell in &touched.writes {
            self.behind.insert(*cell, (layer + 1, layer + 1));
        }
    }

    /// Moves all statements to others, those of a layer in any order.
    fn flush(&mut self, done: &mut Vec<Placed>) {
        self.behind.clear();
        for mut layer in self.layers.drain(..) {
            layer.sort();
            done.append(&mut layer);
        }
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

    /// A sequence of statements. Those that do not touch what the other writes are sorted.
    pub(super) fn actions(&mut self, statements: &[Stmt]) -> Result<Vec<Placed>, Obstacle> {
        let (n_names, n_values) = (self.names.len(), self.values.len());
        let mut actions = Vec::new();
        for statement in statements {
            self.span = statement.span;
            self.action(&statement.kind, &mut actions)?;
        }
        self.names.truncate(n_names);
        self.values.truncate(n_values);
        Ok(self.sorted(actions))
    }

    fn action(&mut self, statement: &StmtKind, actions: &mut Vec<Placed>) -> Result<(), Obstacle> {
        let span = self.span;
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
                let bounds = self.bounds(&value);
                let bounds = bounds.filter(|_| !self.assigned.contains(bound));
                self.names
                    .push((*bound, bounds.unwrap_or((i64::MIN, i64::MAX))));
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

        actions.push(Placed { action, span });
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

    /// Sorts statements as far as the order makes no difference. A failure of one of them is met in any
    /// order.
    fn sorted(&self, actions: Vec<Placed>) -> Vec<Placed> {
        let mut done = Vec::new();
        let mut layers = Layers::default();
        for action in actions {
            let mut touched = Touched::default();
            if self.touch(&action.action, &mut touched) {
                layers.add(action, &touched);
            } else {
                layers.flush(&mut done);
                done.push(action);
            }
        }
        layers.flush(&mut done);
        done
    }

    /// Adds the cells that a statement touches. Says whether that is all it does.
    fn touch(&self, action: &Action, touched: &mut Touched) -> bool {
        match action {
            Action::Assign(target, value) => {
                match target {
                    Term::Select(var, owner, path) => {
                        let cells = self.selected(*var, owner.as_deref(), path);
                        touched.writes.extend(cells);
                        self.index_reads(target, &mut touched.reads);
                    }
                    other => self.reads(other, &mut touched.writes),
                }
                self.reads(value, &mut touched.reads);
                true
            }
            Action::If(condition, then, otherwise) => {
                self.reads(condition, &mut touched.reads);
                let mut both = then.iter().chain(otherwise);
                both.all(|placed| self.touch(&placed.action, touched))
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

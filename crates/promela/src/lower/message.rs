//! Sending and receiving.

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, Pattern, Stmt, StmtKind, Sync};
use source::Variation;

use crate::ast::{self, Argument, ExprKind, Init, VarRef};
use crate::symbols::Ty;

use super::channels::{Buffer, Candidate, add};
use super::expr::{Found, NOTHING_TO_POLL, Val, Who};
use super::statement::Variant;
use super::trace::Direction;
use super::{Lowering, all, any};

/// What a receive demands and where it stores, by component.
pub(super) struct Receipt {
    pub(super) wanted: Vec<(usize, Expr)>,
    pub(super) stores: Vec<(usize, Found)>,
}

/// How a receive looks for its message.
#[derive(Clone, Copy)]
pub(super) struct Manner {
    /// Any message that fits, not only the first.
    pub(super) any: bool,
    /// The message stays.
    pub(super) peek: bool,
}

impl Lowering<'_> {
    /// The steps of `q!…` and `q!!…`.
    pub(super) fn send(
        &mut self,
        channel: &VarRef,
        arguments: &[ast::Expr],
        sorted: bool,
        span: Span,
        who: &Who,
    ) -> Option<Vec<Variant>> {
        let candidates = self.candidates(channel, who)?;
        let values = self.written_out(arguments, who)?;
        let mut variants = Vec::new();
        for candidate in &candidates {
            let fields = self.groups[candidate.group].fields.clone();
            if values.len() != fields.len() {
                variants.push(self.wrong_send(candidate, values.len(), span)?);
                continue;
            }
            let payload: Vec<Expr> = values
                .iter()
                .zip(&fields)
                .map(|((value, span), ty)| self.fitted(value.clone(), *ty, *span))
                .collect();
            let guard = candidate.when.clone().unwrap_or(Expr::Bool(true));
            if self.variations.contains(&Variation::LossyChannels) {
                variants.extend(self.loss(candidate, &guard));
            }
            variants.push(match self.channel_ref(candidate) {
                Some(channel) => Variant {
                    sync: Sync::Send { channel, payload },
                    ..Variant::when(guard)
                },
                None => {
                    let length = self.length_of(candidate);
                    let capacity = self.groups[candidate.group].capacity as i64;
                    let room = Expr::binary(BinaryOp::Lt, length, Expr::Int(capacity));
                    let mut effect = self.watch(Direction::Send, candidate, &payload, span);
                    effect.extend(if sorted {
                        self.insert(candidate, &payload, span)
                    } else {
                        self.append(candidate, &payload, span)
                    });
                    Variant {
                        effect,
                        ..Variant::when(all([guard, room]))
                    }
                }
            });
        }

        self.add_unknown_channel(&candidates, &mut variants, span);
        Some(variants)
    }

    /// A message to a full channel is lost; a rendezvous is never full.
    fn loss(&self, candidate: &Candidate, guard: &Expr) -> Option<Variant> {
        let group = &self.groups[candidate.group];
        if group.capacity == 0 {
            return None;
        }
        let capacity = Expr::Int(group.capacity as i64);
        let is_full = Expr::binary(BinaryOp::Ge, self.length_of(candidate), capacity);
        Some(Variant::when(all([guard.clone(), is_full])))
    }

    /// A channel variable that holds no channel is an error when it is used.
    fn add_unknown_channel(
        &self,
        candidates: &[Candidate],
        variants: &mut Vec<Variant>,
        span: Span,
    ) {
        let Some(known) = candidates
            .iter()
            .map(|c| c.when.clone())
            .collect::<Option<Vec<_>>>()
        else {
            return;
        };
        let message = "this channel is not initialised".to_owned();
        variants.push(Variant::failing(Expr::not(any(known)), message, span));
    }

    /// A send with a wrong number of components is an error when it is executed. Too many are one of
    /// the text where the channel is certain, as in Spin.
    fn wrong_send(&mut self, candidate: &Candidate, n: usize, span: Span) -> Option<Variant> {
        let message = self.wrong_count(candidate, n);
        let group = &self.groups[candidate.group];
        if candidate.when.is_none() && n > group.fields.len() {
            let declared = group.span;
            let diagnostic = Diagnostic::error("wrong-arguments", span, message);
            self.say(diagnostic.label(declared, "the channel is declared here"));
            return None;
        }

        self.warn_if_certain(candidate, span, &message);
        let group = &self.groups[candidate.group];
        let room = match group.buffer {
            Buffer::Rendezvous(_) => Expr::Bool(true),
            Buffer::Messages(_) => {
                let capacity = Expr::Int(group.capacity as i64);
                Expr::binary(BinaryOp::Lt, self.length_of(candidate), capacity)
            }
        };
        let guard = all(candidate.when.clone().into_iter().chain([room]));
        Some(Variant::failing(guard, message, span))
    }

    /// Warns of a run-time error that comes for certain if the statement is executed.
    pub(super) fn warn_if_certain(&mut self, candidate: &Candidate, span: Span, message: &str) {
        let warning = Diagnostic::warning("wrong-arguments", span, message);
        let declared = self.groups[candidate.group].span;
        let warning = warning.label(declared, "the channel is declared here");
        let warning = warning.help("as in Spin, this is a run-time error when it is executed");
        let is_new = |other: &Diagnostic| other.labels[0].span != span || other.message != message;
        if candidate.when.is_none() && self.diagnostics.iter().all(is_new) {
            self.say(warning);
        }
    }

    pub(super) fn wrong_count(&self, candidate: &Candidate, n_arguments: usize) -> String {
        let group = &self.groups[candidate.group];
        format!(
            "messages of `{}` have {} components, but {n_arguments} are given",
            group.name,
            group.fields.len()
        )
    }

    /// Values with structures written out component by component.
    pub(super) fn written_out(
        &mut self,
        arguments: &[ast::Expr],
        who: &Who,
    ) -> Option<Vec<(Val, Span)>> {
        let mut values = Vec::new();
        for argument in arguments {
            match self.whole_structure(argument, who) {
                Some(parts) => {
                    for part in parts {
                        let bounds = part.ty.bounds();
                        let value = Val::new(self.read(&part, who), bounds);
                        values.push((value, argument.span));
                    }
                }
                None => values.push((self.value(argument, who), argument.span)),
            }
        }
        Some(values)
    }

    /// The components of a variable that is a whole structure.
    fn whole_structure(&mut self, expr: &ast::Expr, who: &Who) -> Option<Vec<Found>> {
        let ExprKind::Var(var) = &expr.kind else {
            return None;
        };
        self.symbols.lookup(&var.parts[0].name, who.context)?;
        let found = self.place(var, who)?;
        match found.ty {
            Ty::Struct(_) => Some(self.components(&found)),
            _ => None,
        }
    }

    fn components(&self, found: &Found) -> Vec<Found> {
        let cells = self.init_cells(found.ty, None, &Init::Zero);
        let component = |cell: super::storage::CellInfo| Found {
            var: found.var,
            path: found.path.iter().cloned().chain(cell.path).collect(),
            ty: cell.ty,
        };
        cells.into_iter().map(component).collect()
    }

    fn append(&self, candidate: &Candidate, payload: &[Expr], span: Span) -> Vec<Stmt> {
        let length = self.length_of(candidate);
        let mut effect = Vec::new();
        for (field, value) in payload.iter().enumerate() {
            let place = self.field_place(candidate, length.clone(), field);
            effect.push(Stmt::new(StmtKind::Assign(place, value.clone()), span));
        }
        let longer = StmtKind::Assign(self.length_place(candidate), add(length, 1));
        effect.push(Stmt::new(longer, span));
        effect
    }

    /// Inserts a message behind all that are not greater, component by component.
    fn insert(&mut self, candidate: &Candidate, payload: &[Expr], span: Span) -> Vec<Stmt> {
        let stmt = |kind| Stmt::new(kind, span);
        let length = self.length_of(candidate);
        let mut effect = Vec::new();
        let mut message = Vec::new();
        for value in payload {
            let bound = self.bound("component");
            effect.push(stmt(StmtKind::Let(bound, value.clone())));
            message.push(Expr::Bound(bound));
        }

        let position = self.bound("position");
        effect.push(stmt(StmtKind::Let(position, Expr::Int(0))));
        let at = Expr::Bound(position);
        let goes_on = all([
            Expr::binary(BinaryOp::Lt, at.clone(), length.clone()),
            self.not_greater(candidate, &message, &at),
        ]);
        let advance = stmt(StmtKind::Set(position, add(at.clone(), 1)));
        effect.push(stmt(StmtKind::While(goes_on, vec![advance])));

        let slot = self.bound("slot");
        effect.push(stmt(StmtKind::Let(slot, length.clone())));
        let behind = Expr::Bound(slot);
        let before = add(behind.clone(), -1);
        let mut shift: Vec<Stmt> = (0..payload.len())
            .map(|field| {
                let to = self.field_place(candidate, behind.clone(), field);
                let from = Expr::Read(self.field_place(candidate, before.clone(), field));
                stmt(StmtKind::Assign(to, from))
            })
            .collect();

        shift.push(stmt(StmtKind::Set(slot, before)));
        let is_behind = Expr::binary(BinaryOp::Gt, behind, at.clone());
        effect.push(stmt(StmtKind::While(is_behind, shift)));
        for (field, value) in message.into_iter().enumerate() {
            let place = self.field_place(candidate, at.clone(), field);
            effect.push(stmt(StmtKind::Assign(place, value)));
        }

        let longer = StmtKind::Assign(self.length_place(candidate), add(length, 1));
        effect.push(stmt(longer));
        effect
    }

    /// Is the message in a slot at most the new one? Components are compared from the left.
    fn not_greater(&self, candidate: &Candidate, message: &[Expr], slot: &Expr) -> Expr {
        let mut result = Expr::Bool(true);
        for (field, value) in message.iter().enumerate().rev() {
            let old = Expr::Read(self.field_place(candidate, slot.clone(), field));
            let less = Expr::binary(BinaryOp::Lt, old.clone(), value.clone());
            let same = Expr::binary(BinaryOp::Eq, old, value.clone());
            result = any([less, all([same, result])]);
        }
        result
    }

    /// The steps of `q?…`, `q??…`, `q?<…>` and `q??<…>`.
    pub(super) fn receive(
        &mut self,
        channel: &VarRef,
        arguments: &[Argument],
        manner: Manner,
        span: Span,
        who: &Who,
    ) -> Option<Vec<Variant>> {
        let candidates = self.candidates(channel, who)?;
        let mut variants = Vec::new();
        for candidate in &candidates {
            let (mut receipt, n_arguments) = self.sorted_arguments(arguments, who)?;
            let guard = candidate.when.clone().unwrap_or(Expr::Bool(true));
            let is_rendezvous =
                matches!(self.groups[candidate.group].buffer, Buffer::Rendezvous(_));
            if is_rendezvous && manner.peek {
                let message = NOTHING_TO_POLL.to_owned();
                self.warn_if_certain(candidate, span, &message);
                variants.push(Variant::failing(guard, message, span));
                continue;
            }

            // A wrong number of components is an error once there is a message that fits so far;
            // who only looks may leave out the last ones.
            let n_fields = self.groups[candidate.group].fields.len();
            let is_wrong = n_arguments > n_fields || (n_arguments < n_fields && !manner.peek);
            receipt.wanted.retain(|(field, _)| *field < n_fields);
            receipt.stores.retain(|(field, _)| *field < n_fields);
            let message = is_wrong.then(|| self.wrong_count(candidate, n_arguments));
            if let Some(message) = &message {
                self.warn_if_certain(candidate, span, message);
            }

            if is_rendezvous {
                let mut variant = self.meet(candidate, receipt, guard, span, who);
                if let Some(message) = message {
                    variant.effect = vec![Stmt::new(StmtKind::Fail(message), span)];
                }
                variants.push(variant);
                continue;
            }
            let test = self.message_test(candidate, &receipt.wanted, manner.any);
            if let Some(message) = message {
                variants.push(Variant::failing(all([guard, test]), message, span));
                continue;
            }
            let effect = self.take(candidate, &receipt, manner, span, who);
            variants.push(Variant {
                effect,
                ..Variant::when(all([guard, test]))
            });
        }

        self.add_unknown_channel(&candidates, &mut variants, span);
        Some(variants)
    }

    /// The values that a poll demands, by component; variables stand for any value.
    pub(super) fn pattern(
        &mut self,
        arguments: &[Argument],
        who: &Who,
    ) -> Option<Vec<(usize, Expr)>> {
        let (receipt, _) = self.sorted_arguments(arguments, who)?;
        Some(receipt.wanted)
    }

    /// The arguments of a receive or poll, sorted, and the number of components that they cover.
    fn sorted_arguments(&mut self, arguments: &[Argument], who: &Who) -> Option<(Receipt, usize)> {
        let mut receipt = Receipt {
            wanted: Vec::new(),
            stores: Vec::new(),
        };
        let mut position = 0;

        for argument in arguments {
            match argument {
                Argument::Match(expr) => {
                    for (value, _) in self.written_out(std::slice::from_ref(expr), who)? {
                        receipt.wanted.push((position, value.expr));
                        position += 1;
                    }
                }
                Argument::Store(var) => {
                    let name = &*var.parts[0].name;
                    if let Some(value) = self.symbols.mtypes.get(name) {
                        receipt.wanted.push((position, Expr::Int(*value)));
                        position += 1;
                        continue;
                    }
                    if name == "_" {
                        position += 1;
                        continue;
                    }
                    if matches!(name, "_pid" | "_nr_pr" | "_last") {
                        let message = format!("`{name}` cannot be written");
                        let diagnostic = Diagnostic::error("wrong-type", var.span, message);
                        self.say(diagnostic.help(format!("`eval({name})` compares with it")));
                        return None;
                    }
                    let found = self.place(var, who)?;
                    let parts = match found.ty {
                        Ty::Struct(_) => self.components(&found),
                        _ => vec![found],
                    };
                    for part in parts {
                        receipt.stores.push((position, part));
                        position += 1;
                    }
                }
            }
        }

        Some((receipt, position))
    }

    /// The receiving half of a rendezvous.
    fn meet(
        &mut self,
        candidate: &Candidate,
        receipt: Receipt,
        guard: Expr,
        span: Span,
        who: &Who,
    ) -> Variant {
        let fields = self.groups[candidate.group].fields.clone();
        let mut patterns = vec![Pattern::Ignore; fields.len()];
        let mut effect = Vec::new();
        for (position, wanted) in receipt.wanted {
            patterns[position] = Pattern::Match(wanted);
        }
        let mut resets = Vec::new();

        for (position, found) in receipt.stores {
            let Some(place) = self.model_place(&found, who) else {
                continue;
            };
            let (lo, hi) = found.ty.bounds();
            let (field_lo, field_hi) = fields[position].bounds();
            if (lo <= field_lo && field_hi <= hi) || found.ty == Ty::Chan {
                patterns[position] = Pattern::Store(place);
                continue;
            }
            // The value is cut to size on its way, which a pattern cannot do.
            let scratch = self.scratch(position);
            patterns[position] = Pattern::Store(scratch.clone());
            let value = Val::new(Expr::Read(scratch.clone()), fields[position].bounds());
            let value = self.fitted(value, found.ty, span);
            effect.push(Stmt::new(StmtKind::Assign(place, value), span));
            resets.push(Stmt::new(StmtKind::Assign(scratch, Expr::Int(0)), span));
        }

        let watched = self.watch_meeting(candidate, &mut patterns, &mut resets, span);
        effect.splice(0..0, watched);
        effect.extend(resets);

        let channel = self.channel_ref(candidate).expect("it is a rendezvous");
        Variant {
            sync: Sync::Receive { channel, patterns },
            effect,
            ..Variant::when(guard)
        }
    }

    pub(super) fn scratch(&mut self, position: usize) -> model::Place {
        while self.special.scratch.len() <= position {
            let name = format!("_received{}", self.special.scratch.len());
            let (lo, hi) = Ty::Int.bounds();
            let var = self.special_variable(&name, model::Scalar::Range(lo, hi), 0);
            self.special.scratch.push(var);
        }
        model::Place {
            var: self.special.scratch[position],
            owner: None,
            path: Vec::new(),
        }
    }

    /// Stores the components of a message and removes it.
    fn take(
        &mut self,
        candidate: &Candidate,
        receipt: &Receipt,
        manner: Manner,
        span: Span,
        who: &Who,
    ) -> Vec<Stmt> {
        let stmt = |kind| Stmt::new(kind, span);
        let fields = self.groups[candidate.group].fields.clone();
        let mut effect = Vec::new();
        let mut slot = Expr::Int(0);

        if manner.any && !receipt.wanted.is_empty() {
            let position = self.bound("position");
            slot = Expr::Bound(position);
            effect.push(stmt(StmtKind::Let(position, Expr::Int(0))));
            let fits = self.message_fits(candidate, &receipt.wanted, &slot);
            let advance = stmt(StmtKind::Set(position, add(slot.clone(), 1)));
            effect.push(stmt(StmtKind::While(Expr::not(fits), vec![advance])));
        }

        if !manner.peek {
            let field = |field| Expr::Read(self.field_place(candidate, slot.clone(), field));
            let message: Vec<Expr> = (0..fields.len()).map(field).collect();
            effect.extend(self.watch(Direction::Receive, candidate, &message, span));
        }

        for (position, found) in &receipt.stores {
            let component = Expr::Read(self.field_place(candidate, slot.clone(), *position));
            let bounds = fields[*position].bounds();
            let value = self.fitted(Val::new(component, bounds), found.ty, span);
            if let Some(place) = self.model_place(found, who) {
                effect.push(stmt(StmtKind::Assign(place, value)));
            }
        }

        if !manner.peek {
            self.remove(candidate, &slot, span, &mut effect);
        }
        effect
    }

    /// Removes the message in a slot; those behind it move up, and the last slot becomes zero.
    fn remove(&mut self, candidate: &Candidate, slot: &Expr, span: Span, effect: &mut Vec<Stmt>) {
        let stmt = |kind| Stmt::new(kind, span);
        let group = &self.groups[candidate.group];
        let (n_fields, capacity) = (group.fields.len(), group.capacity);
        let length = self.length_of(candidate);
        let last = match capacity {
            1 => Expr::Int(0),
            _ => add(length.clone(), -1),
        };

        if capacity > 1 {
            let bound = self.bound("slot");
            let (here, behind) = (Expr::Bound(bound), add(Expr::Bound(bound), 1));
            let moves = (0..n_fields)
                .map(|field| {
                    let to = self.field_place(candidate, here.clone(), field);
                    let from = Expr::Read(self.field_place(candidate, behind.clone(), field));
                    stmt(StmtKind::Assign(to, from))
                })
                .collect();
            let hi = add(length.clone(), -2);
            effect.push(stmt(StmtKind::For(bound, slot.clone(), hi, moves)));
        }

        for field in 0..n_fields {
            let place = self.field_place(candidate, last.clone(), field);
            effect.push(stmt(StmtKind::Assign(place, Expr::Int(0))));
        }

        let shorter = StmtKind::Assign(self.length_place(candidate), last);
        effect.push(stmt(shorter));
    }

    /// Empties the channels that a process owns.
    pub(super) fn empty_channels(&mut self, proctype: usize, pid: &Expr, span: Span) -> Vec<Stmt> {
        let mut effect = Vec::new();
        for group in 0..self.groups.len() {
            let described = self.groups[group].clone();
            if described.owner != Some(proctype) || described.capacity == 0 {
                continue;
            }
            for position in 0..described.per_process {
                let number = self.channel_number(group, Expr::Int(position as i64), Some(pid));
                let candidate = Candidate {
                    group,
                    when: None,
                    index: add(number, -described.base),
                };
                let length = self.length_of(&candidate);
                let slot = self.bound("slot");
                let clear = (0..described.fields.len())
                    .map(|field| {
                        let place = self.field_place(&candidate, Expr::Bound(slot), field);
                        Stmt::new(StmtKind::Assign(place, Expr::Int(0)), span)
                    })
                    .collect();
                let last = add(length.clone(), -1);
                effect.push(Stmt::new(
                    StmtKind::For(slot, Expr::Int(0), last, clear),
                    span,
                ));
                let place = self.length_place(&candidate);
                effect.push(Stmt::new(StmtKind::Assign(place, Expr::Int(0)), span));
            }
        }

        effect
    }
}

//! Channels whose messages are variables: those that steps receive from out of order, look into, or use
//! together with other channels.
//!
//! Such a channel is a sequence of messages, and sending and receiving are effects on it, so that one
//! step can do several of them: each waits for what the ones before it have left, and if one of them
//! cannot be done the step is not possible. Other channels with room could be kept like this, too;
//! those of the model are cheaper and known to more reductions.

use base::{Diagnostic, Span};
use model::{
    Access, ArrayType, BinaryOp, Expr, Pattern, Place, Quantifier, RecordForm, Scalar, Stmt,
    StmtKind, Sync, Type, VarId, Variable,
};
use rustc_hash::FxHashSet;

use super::Lowerer;
use super::constants::literal;
use super::effect::{Sink, cells_of};
use super::names::Global;
use super::types::ty_of;
use super::values::{MAX_LENGTH, all, length_of};
use crate::ast::{self, ChanDecl, Communication, Decl, ExprKind, File, Manner, StepDecl};

/// A channel that is a variable.
#[derive(Clone, Debug)]
pub(super) struct Buffer {
    pub(super) var: VarId,
    pub(super) capacity: usize,
    /// The components of its messages.
    pub(super) types: Vec<Type>,
    /// The type of a message.
    message: Type,
    pub(super) is_array: bool,
}

/// What the communications of a step become.
#[derive(Default)]
pub(super) struct Exchange {
    /// The one that needs a partner, or uses a channel of the model; then there is no other.
    pub(super) sync: Option<Sync>,
    /// What must be true before the step.
    pub(super) guards: Vec<Expr>,
    /// All others.
    pub(super) effect: Vec<Stmt>,
    /// Are they done in a loop, so that they are not the first that the step does?
    is_repeated: bool,
}

impl Exchange {
    /// Has nothing been done before what comes next?
    fn is_new(&self) -> bool {
        self.effect.is_empty() && !self.is_repeated
    }
}

/// The names of the channels that are variables, if they have room for messages.
pub(super) fn names(file: &File) -> FxHashSet<&str> {
    let processes = file.decls.iter().filter_map(|decl| match decl {
        Decl::Process(process) => Some(process),
        _ => None,
    });
    let blocks = processes.flat_map(|process| &process.blocks);
    let mut names = FxHashSet::default();
    for step in blocks.flat_map(|block| &block.steps) {
        let is_alone = step.communications.len() < 2;
        for (communication, _) in &step.communications {
            names.extend(used_name(communication, is_alone));
        }
    }
    names
}

/// The channel of a communication, unless it is one that all channels can do.
fn used_name(communication: &Communication, is_alone: bool) -> Option<&str> {
    let channel = match communication {
        Communication::Event(..) => return None,
        Communication::ForEach(.., inner) => return used_name(inner, false),
        Communication::Receive(_, _, Manner::OLDEST) | Communication::Send(..) if is_alone => {
            return None;
        }
        Communication::Send(channel, _) | Communication::Receive(channel, ..) => channel,
    };
    channel_name(channel)
}

/// The name in `c` or `c[i]`.
fn channel_name(channel: &ast::Expr) -> Option<&str> {
    let base = match &channel.kind {
        ExprKind::Index(base, _) => base,
        _ => channel,
    };
    match &base.kind {
        ExprKind::Name(name) => Some(name),
        _ => None,
    }
}

impl<'a> Lowerer<'a> {
    /// Declares a channel with room for messages as a variable.
    pub(super) fn buffer(
        &mut self,
        decl: &'a ChanDecl,
        capacity: usize,
        types: Vec<Type>,
        indices: Option<(i64, i64)>,
    ) -> Option<Global<'a>> {
        let span = decl.name.span;
        if capacity as i64 > MAX_LENGTH {
            let message = format!(
                "a channel that is looked into, or used together with others, has room for at most {MAX_LENGTH} messages"
            );
            self.report(Diagnostic::error("capacity", span, message));
            return None;
        }

        // The same record as that of a bounded sequence, so that both have the same operations.
        let message = self.message_of(&types);
        let items = ArrayType {
            lo: 0,
            len: capacity,
            element: message.clone(),
        };
        let length = Type::Scalar(Scalar::Range(0, capacity as i64));
        let fields = vec![
            ("length".to_owned(), length),
            ("items".to_owned(), Type::Array(Box::new(items))),
        ];
        let mut ty = self.record_of_form("seq", fields, RecordForm::Sequence);
        if let Some((lo, hi)) = indices {
            ty = Type::Array(Box::new(ArrayType {
                lo,
                len: (hi - lo + 1) as usize,
                element: ty,
            }));
        }
        self.spend(ty.n_cells(&self.parts.records), 0, span)?;

        let var = VarId::new(self.parts.vars.len());
        self.parts.vars.push(Variable {
            name: decl.name.text.clone(),
            initial: self.default_initial(&ty),
            ty,
            owner: None,
            span,
        });
        self.uses.read(var);
        self.buffers.push(Buffer {
            var,
            capacity,
            types,
            message,
            is_array: indices.is_some(),
        });
        Some(Global::Buffer(self.buffers.len() - 1))
    }

    /// The type of messages with these components.
    fn message_of(&mut self, types: &[Type]) -> Type {
        if let [only] = types {
            return only.clone();
        }
        let named = types.iter().enumerate();
        let fields = named.map(|(n, ty)| (format!("_{}", n + 1), ty.clone()));
        let fields = fields.collect();
        self.record_of_form("message", fields, RecordForm::Components)
    }

    /// What the communications of a step become, in their order.
    pub(super) fn exchange(&mut self, step: &'a StepDecl) -> Option<Exchange> {
        let mut exchange = Exchange::default();
        if let [(only, _)] = step.communications.as_slice()
            && self.has_partner(only)
        {
            exchange.sync = Some(self.communication(only)?);
            return Some(exchange);
        }
        let mut ok = true;
        for (communication, span) in &step.communications {
            ok &= self
                .communicate(communication, *span, &mut exchange)
                .is_some();
        }
        ok.then_some(exchange)
    }

    /// Is it an event, or does it use a channel that is not a variable?
    fn has_partner(&self, communication: &'a Communication) -> bool {
        match communication {
            Communication::Event(..) => true,
            Communication::ForEach(..) => false,
            Communication::Receive(_, _, manner) if *manner != Manner::OLDEST => false,
            Communication::Send(channel, _) | Communication::Receive(channel, ..) => {
                let name = channel_name(channel);
                let global = name.and_then(|name| self.unshadowed(name));
                !matches!(global, Some(Global::Buffer(_)))
            }
        }
    }

    fn communicate(
        &mut self,
        communication: &'a Communication,
        span: Span,
        exchange: &mut Exchange,
    ) -> Option<()> {
        let channel = match communication {
            Communication::ForEach(binder, inner) => {
                return self.communicate_with_all(binder, inner, span, exchange);
            }
            Communication::Send(channel, payload) => {
                if let Some((place, buffer)) = self.buffer_place(channel)? {
                    return self.send_into(place, &buffer, payload, span, exchange);
                }
                channel
            }
            Communication::Receive(channel, patterns, manner) => {
                if let Some((place, buffer)) = self.buffer_place(channel)? {
                    let from = (place, &buffer);
                    return self.receive_from(from, patterns, *manner, span, exchange);
                }
                channel
            }
            Communication::Event(event, _) => {
                let message = "an event is the only communication of its step";
                let help = "make two steps, with a location between them";
                let diagnostic = Diagnostic::error("two-communications", event.span, message);
                self.report(diagnostic.help(help));
                return None;
            }
        };

        // A partner would move in the middle of the step.
        self.channel_reference(channel)?;
        let message = "this channel has no room for messages, so it can be used only alone in a step, and with `?` or `!`";
        let help =
            "give it room (`chan c[1] of …`), or make two steps with a location between them";
        self.report(Diagnostic::error("rendezvous", channel.span, message).help(help));
        None
    }

    /// `for j in 1..3: c[j] ! x`.
    fn communicate_with_all(
        &mut self,
        binder: &'a ast::Binder,
        inner: &'a Communication,
        span: Span,
        exchange: &mut Exchange,
    ) -> Option<()> {
        let mut all_ranges = Vec::new();
        let n_bound = self.scope.len();
        for name in &binder.names {
            let (ranges, binding) = self.ranges_of(&name.text, &binder.lo, &binder.hi)?;
            self.scope.push(binding);
            all_ranges.extend(ranges);
        }
        let condition = binder.condition.as_ref().map(|c| self.bool_expr(c));

        let mut repeated = Exchange {
            is_repeated: true,
            ..Exchange::default()
        };
        let done = self.communicate(inner, span, &mut repeated);
        self.scope.truncate(n_bound);
        done?;
        let mut body = repeated.effect;
        if let Some(condition) = condition {
            body = vec![Stmt::new(StmtKind::If(condition?, body, Vec::new()), span)];
        }
        for (bound, lo, hi) in all_ranges.into_iter().rev() {
            body = vec![Stmt::new(StmtKind::For(bound, lo, hi, body), span)];
        }
        exchange.effect.extend(body);
        Some(())
    }

    /// Where the messages of a channel are; nothing if it is not a variable.
    pub(super) fn buffer_place(&mut self, expr: &'a ast::Expr) -> Option<Option<(Place, Buffer)>> {
        let (name, index) = match &expr.kind {
            ExprKind::Name(name) => (name, None),
            ExprKind::Index(base, index) => match &base.kind {
                ExprKind::Name(name) => (name, Some(&**index)),
                _ => return Some(None),
            },
            _ => return Some(None),
        };

        let Some(Global::Buffer(buffer)) = self.unshadowed(name) else {
            return Some(None);
        };

        let buffer = self.buffers[buffer].clone();
        let index = self.channel_index(name, index, buffer.is_array, expr.span)?;
        let place = Place {
            var: buffer.var,
            owner: None,
            path: index.map(Access::Index).into_iter().collect(),
        };
        Some(Some((place, buffer)))
    }

    fn send_into(
        &mut self,
        mut place: Place,
        buffer: &Buffer,
        payload: &'a [ast::Expr],
        span: Span,
        exchange: &mut Exchange,
    ) -> Option<()> {
        self.check_arity(buffer.types.len(), payload.len(), payload[0].span)?;
        let mut values = Vec::new();
        for (expr, ty) in payload.iter().zip(&buffer.types) {
            self.stored_values(expr, ty, &mut values)?;
        }

        let room = Expr::Int(buffer.capacity as i64);
        let has_room = Expr::binary(BinaryOp::Lt, length_of(&place), room);
        self.wait_for(has_room, span, exchange);

        let out = &mut exchange.effect;
        self.settle(&mut place, span, out);
        let values = self.remembered(values, true, &mut Sink::new(span, out));
        let end = self.fresh_bound("end");
        out.push(self.remember(end, length_of(&place), span));
        let item = item_at(&place, Expr::Bound(end));
        let cells = cells_of(&item, &buffer.message, &self.parts.records);
        for ((cell, _), value) in cells.into_iter().zip(values) {
            out.push(Stmt::new(StmtKind::Assign(cell, value), span));
        }
        out.push(longer(&place, BinaryOp::Add, span));
        Some(())
    }

    fn receive_from(
        &mut self,
        (mut place, buffer): (Place, &Buffer),
        patterns: &'a [ast::PatternExpr],
        manner: Manner,
        span: Span,
        exchange: &mut Exchange,
    ) -> Option<()> {
        self.check_arity(buffer.types.len(), patterns.len(), span)?;
        let mut lowered = Vec::new();
        for (pattern, ty) in patterns.iter().zip(&buffer.types) {
            self.patterns(pattern, ty, &mut lowered)?;
        }

        let has_some = Expr::binary(BinaryOp::Gt, length_of(&place), Expr::Int(0));
        let position = if manner.is_any {
            let out = &mut exchange.effect;
            self.settle(&mut place, span, out);
            self.first_match(&place, buffer, &lowered, &mut Sink::new(span, out))
        } else {
            let fits = self.matches(&place, Expr::Int(0), buffer, &lowered);
            self.wait_for(all(vec![has_some, fits]), span, exchange);
            self.settle(&mut place, span, &mut exchange.effect);
            Expr::Int(0)
        };

        // The message is known before it is removed, and removed before its components are stored.
        let out = &mut exchange.effect;
        let item = item_at(&place, position.clone());
        let cells = cells_of(&item, &buffer.message, &self.parts.records);
        let mut stores = Vec::new();
        for (pattern, (cell, _)) in lowered.into_iter().zip(cells) {
            // shape: nothing is stored of what is compared or ignored.
            if let Pattern::Store(target) = pattern {
                let bound = self.fresh_bound("received");
                out.push(self.remember(bound, Expr::Read(cell), span));
                stores.push((target, bound));
            }
        }
        if !manner.is_peek {
            self.remove_item(&place, buffer, position, &mut Sink::new(span, out));
        }
        for (target, bound) in stores {
            out.push(Stmt::new(
                StmtKind::Assign(target, Expr::Bound(bound)),
                span,
            ));
        }
        Some(())
    }

    /// The step is possible only if the condition is true when its communications before are done.
    fn wait_for(&mut self, condition: Expr, span: Span, exchange: &mut Exchange) {
        if exchange.is_new() {
            exchange.guards.push(condition);
            return;
        }
        let bound = self.fresh_bound("ready");
        let kind = StmtKind::Choose(bound, Expr::Int(0), Expr::Int(0), condition);
        exchange.effect.push(Stmt::new(kind, span));
    }

    /// Does the message at a position match?
    fn matches(
        &mut self,
        place: &Place,
        position: Expr,
        buffer: &Buffer,
        patterns: &[Pattern],
    ) -> Expr {
        let item = item_at(place, position);
        let cells = cells_of(&item, &buffer.message, &self.parts.records);
        let mut equal = Vec::new();
        for (pattern, (cell, _)) in patterns.iter().zip(cells) {
            // shape: what is stored or ignored may be anything.
            if let Pattern::Match(value) = pattern {
                let value = self.copy_of(value);
                equal.push(Expr::binary(BinaryOp::Eq, Expr::Read(cell), value));
            }
        }
        all(equal)
    }

    /// The position of the oldest message that matches; the step is not possible without one.
    fn first_match(
        &mut self,
        place: &Place,
        buffer: &Buffer,
        patterns: &[Pattern],
        out: &mut Sink<'_>,
    ) -> Expr {
        let (position, earlier) = (self.fresh_bound("position"), self.fresh_bound("earlier"));
        let fits = self.matches(place, Expr::Bound(position), buffer, patterns);
        let fits_earlier = self.matches(place, Expr::Bound(earlier), buffer, patterns);

        // Channels are first in, first out: an earlier message that matches goes first.
        let none_before = Expr::Quantified {
            quantifier: Quantifier::Forall,
            bound: earlier,
            lo: Box::new(Expr::Int(0)),
            hi: Box::new(minus_one(Expr::Bound(position))),
            body: Box::new(Expr::not(fits_earlier)),
        };

        let last = minus_one(length_of(place));
        let condition = all(vec![fits, none_before]);
        out.push(StmtKind::Choose(position, Expr::Int(0), last, condition));
        Expr::Bound(position)
    }

    /// Removes a message. Places without a message have their initial values.
    fn remove_item(&mut self, place: &Place, buffer: &Buffer, position: Expr, out: &mut Sink<'_>) {
        let last = buffer.capacity as i64 - 1;
        let next = self.fresh_bound("next");
        let records = &self.parts.records;
        let at = |index| cells_of(&item_at(place, index), &buffer.message, records);
        let moved = at(Expr::Bound(next)).into_iter();
        let behind = Expr::binary(BinaryOp::Add, Expr::Bound(next), Expr::Int(1));
        let moves = moved
            .zip(at(behind))
            .map(|((to, _), (from, _))| out.statement(StmtKind::Assign(to, Expr::Read(from))));
        let moves = moves.collect();
        let cleared = at(Expr::Int(last)).into_iter().map(|(cell, ty)| {
            let initial = literal(ty.default_value(), ty_of(ty));
            StmtKind::Assign(cell, initial)
        });
        let cleared: Vec<StmtKind> = cleared.collect();

        if last > 0 {
            out.push(StmtKind::For(next, position, Expr::Int(last - 1), moves));
        }
        cleared.into_iter().for_each(|kind| out.push(kind));
        out.statements.push(longer(place, BinaryOp::Sub, out.span));
    }
}

/// The message at a position.
fn item_at(place: &Place, position: Expr) -> Place {
    let mut item = place.clone();
    item.path
        .extend([Access::Field(1), Access::Index(position)]);
    item
}

/// One message more or less.
fn longer(place: &Place, op: BinaryOp, span: Span) -> Stmt {
    let mut length = place.clone();
    length.path.push(Access::Field(0));
    let changed = Expr::binary(op, length_of(place), Expr::Int(1));
    Stmt::new(StmtKind::Assign(length, changed), span)
}

fn minus_one(expr: Expr) -> Expr {
    Expr::binary(BinaryOp::Sub, expr, Expr::Int(1))
}

//! Communication: buffers as variables, handshakes as two halves, and the names of events that
//! carry values.
//!
//! A channel with a buffer is two variables: its messages, oldest first, and how many there are.
//! Cells behind the last message hold zero, so that equal contents are equal states. (The channels
//! of the model are not used: an event here is named after the values it carries, and programs may
//! look at messages without taking them.)

use base::Span;
use model::{Access, Expr, Place, Stmt, StmtKind};

use super::arrays::message;
use super::ast::{BinaryOp, ChannelUse, Expr as Text, ExprRef};
use super::discovery::{Carried, MAX_VALUES};
use super::lexer::Name;
use super::moves::{Input, Label, Move, Output, Start};
use super::ranges::{Form, Interval, Shape, binder};
use super::term::{Arg, Env, Machine, Term};
use super::value::{arithmetic, comparison, logical, truth};

use std::rc::Rc;

/// Events with more different values than this are not told apart.
const MAX_SPELLINGS: usize = 130;

/// A possible name of an event, and when it has it; nothing where it carries values that have no
/// name.
pub(crate) type Spelling = (Option<String>, Expr);

impl Machine<'_> {
    pub(crate) fn message_count(&self, channel: usize, index: Option<Expr>) -> Place {
        let (_, count) = self.buffers[channel].expect("the channel has a buffer");
        Place {
            var: count,
            owner: None,
            path: index.into_iter().map(Access::Index).collect(),
        }
    }

    pub(crate) fn message_cell(
        &self,
        channel: usize,
        index: Option<Expr>,
        position: Expr,
        component: usize,
    ) -> Place {
        let (items, _) = self.buffers[channel].expect("the channel has a buffer");
        let mut path: Vec<Access> = index.into_iter().map(Access::Index).collect();
        path.push(Access::Index(position));
        if self.ranges.message_width(channel) > 1 {
            path.push(Access::Index(Expr::Int(component as i64)));
        }
        Place {
            var: items,
            owner: None,
            path,
        }
    }

    /// All names that an event can have, and when it has each. An event with too many of them keeps
    /// one name, with `_` for its values, except for the values that assertions mention.
    pub(crate) fn spellings(
        &mut self,
        name: &str,
        separator: char,
        arguments: &[ExprRef],
        env: &Env,
        span: Span,
    ) -> Option<Vec<Spelling>> {
        let mut values = Vec::new();
        for argument in arguments {
            let value = self.value(argument, env)?.0;
            let interval = self.interval(argument, env);
            values.push((value, interval.unwrap_or((0, 0))));
        }

        let list = self.told_apart(&[&format!("{name}{separator}")], &values, name, span);
        let spell = |(numbers, guard): (Option<Vec<i64>>, Expr)| match numbers {
            Some(numbers) => (Some(spell(name, separator, &numbers)), guard),
            None if self.is_merging(name) => (Some(format!("{name}{separator}_")), guard),
            None => (None, guard),
        };
        Some(list.into_iter().map(spell).collect())
    }

    /// Do values of the event that have no name share one?
    fn is_merging(&self, name: &str) -> bool {
        !self.is_closed || self.merged.has(name)
    }

    /// A step that stands for values without a name: the bound was too small, which is not a
    /// property of the system.
    pub(crate) fn exhausting(&mut self, base: &Move, guard: &Expr) -> Option<Move> {
        // It leads nowhere, and what a receive would have bound is not needed there.
        let stop = self.term(Term::Stop);
        let mut step = Move::silent(stop, base.span);
        step.effect = vec![Stmt::new(StmtKind::Exhausted, base.span)];
        step.guarded(&base.guard)?.guarded(guard)
    }

    /// All combinations of values, and when each is the case. If there are too many, those are told
    /// apart that are known to occur or that assertions mention under one of the `keys`; the others
    /// are one (`None`).
    fn told_apart(
        &mut self,
        keys: &[&str],
        values: &[(Expr, Interval)],
        name: &str,
        span: Span,
    ) -> Vec<(Option<Vec<i64>>, Expr)> {
        if let Some(list) = self.spelled(values) {
            let numbers = list.iter().map(|(numbers, _)| numbers.clone());
            let occurring = self.occurring.entry(keys[0].to_owned()).or_default();
            occurring.extend(numbers);
            let known = |(numbers, guard)| (Some(numbers), guard);
            return list.into_iter().map(known).collect();
        }

        self.carried.push(Carried {
            key: keys[0].to_owned(),
            values: values.iter().map(|(value, _)| value.clone()).collect(),
        });
        let mentioned = keys.iter().filter_map(|key| self.mentioned.get(*key));
        let mut mentioned: std::collections::BTreeSet<Vec<i64>> = mentioned
            .flatten()
            .filter(|list| list.len() == values.len())
            .cloned()
            .collect();
        if mentioned.len() > MAX_VALUES {
            mentioned.clear();
            self.merged.add(name, span);
            self.warn_open(name, span);
        }
        let mut list = Vec::new();
        let mut others = Expr::Bool(true);

        for numbers in mentioned {
            let mut guard = Expr::Bool(true);
            for ((value, _), number) in values.iter().zip(&numbers) {
                let equal = comparison(BinaryOp::Eq, value.clone(), Expr::Int(*number));
                guard = logical(BinaryOp::And, guard, equal);
            }
            others = logical(BinaryOp::And, others, Expr::not(guard.clone()));
            list.push((Some(numbers), guard));
        }

        list.push((None, others));
        list
    }

    pub(crate) fn warn_open(&mut self, name: &str, span: Span) {
        let message = format!(
            "events of `{name}` carry too many different values to be told apart: what depends on them is not decided"
        );
        let diagnostic = base::Diagnostic::warning("open-event", span, message);
        let help = "give the variables that it carries a range, as in `var x:{0..9} = 0;`";
        self.diagnostics.push(diagnostic.help(help));
    }

    /// All combinations of values, and when each is the case; nothing if there are too many.
    pub(crate) fn spelled(&self, values: &[(Expr, Interval)]) -> Option<Vec<(Vec<i64>, Expr)>> {
        let mut list = vec![(Vec::new(), Expr::Bool(true))];

        for (value, (lo, hi)) in values {
            let known = value.as_literal();
            let (lo, hi) = known.map_or((*lo, *hi), |value| (value, value));
            if (hi - lo + 1).saturating_mul(list.len() as i64) > MAX_SPELLINGS as i64 {
                return None;
            }

            let mut next = Vec::new();
            for (numbers, guard) in &list {
                for number in lo..=hi {
                    let equal = comparison(BinaryOp::Eq, value.clone(), Expr::Int(number));
                    let guard = logical(BinaryOp::And, guard.clone(), equal);
                    let mut numbers: Vec<i64> = numbers.clone();
                    numbers.push(number);
                    next.push((numbers, guard));
                }
            }
            list = next;
        }

        Some(list)
    }

    /// The channel, and its index as a value with its range.
    fn channel(
        &mut self,
        channel: &ChannelUse,
        env: &Env,
    ) -> Option<(usize, Option<(Expr, Interval)>)> {
        let Some(&id) = self.scope.channel_by_name.get(&channel.name.text) else {
            let known = self.scope.channel_by_name.keys();
            let advice = self.scope.advice(&channel.name.text, known);
            let message = format!("there is no channel `{}`", channel.name.text);
            let diagnostic = base::Diagnostic::error("unknown-channel", channel.name.span, message);
            self.diagnostics.push(if advice.is_empty() {
                diagnostic
            } else {
                diagnostic.help(advice)
            });
            return None;
        };

        let count = self.scope.channels[id].count;
        match (&channel.index, count) {
            (None, None) => Some((id, None)),
            (Some(index), Some(count)) => {
                let (value, _) = self.value(index, env)?;
                let (lo, hi) = self.interval(index, env).unwrap_or((0, 0));
                // shape: an index that is not known is checked when it is used.
                if let Expr::Int(value) = value
                    && !(0..count).contains(&value)
                {
                    let message = format!("`{}` has no channel {value}", channel.name.text);
                    return self.error("index-out-of-range", index.span, message);
                }
                let (lo, hi) = (lo.max(0), hi.min(count - 1));
                Some((id, Some((value, (lo, hi.max(lo))))))
            }
            (None, Some(_)) => {
                let message = format!("`{}` is an array of channels; say which", channel.name.text);
                self.error("type-mismatch", channel.name.span, message)
            }
            (Some(_), None) => {
                let message = format!("`{}` is one channel, not an array", channel.name.text);
                self.error("type-mismatch", channel.name.span, message)
            }
        }
    }

    /// The channels that an index can mean, each with its name and when it is meant.
    fn singles(
        &mut self,
        id: usize,
        index: Option<(Expr, Interval)>,
        span: Span,
    ) -> Option<Vec<(i64, String, Expr)>> {
        let name = self.scope.channels[id].name.text.to_string();
        let Some(index) = index else {
            return Some(vec![(0, name, Expr::Bool(true))]);
        };

        match self.spelled(&[index]) {
            Some(list) => {
                let single = |(numbers, guard): (Vec<i64>, Expr)| {
                    (numbers[0], format!("{name}[{}]", numbers[0]), guard)
                };
                Some(list.into_iter().map(single).collect())
            }
            None => {
                let message = "too many channels can be meant here";
                self.error("not-constant", span, message)
            }
        }
    }

    pub(crate) fn send(
        &mut self,
        start: &Start<'_>,
        channel: &ChannelUse,
        values: &[ExprRef],
        out: &mut Vec<Move>,
    ) -> Option<()> {
        let (id, index) = self.channel(channel, start.env)?;
        let mut sent = Vec::new();
        let mut form = Form::new();
        for value in values {
            let (shape, cells) = self.cells(value, start.env)?;
            form.push(shape);
            sent.extend(cells);
        }

        let base = self.after(start, &[])?;
        // What the analysis does not know of is never sent; it need not be relied on.
        if !self.ranges.forms[id].contains(&form) {
            out.extend(self.exhausting(&base, &Expr::Bool(true)));
            return Some(());
        }
        let is_array = self.scope.channels[id].count.is_some();
        for (number, name, guard) in self.singles(id, index, channel.name.span)? {
            let keys = ['!', '?', '.'].map(|mark| format!("{name}{mark}"));
            let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
            let spelled = self.told_apart(&keys, &sent, &name, channel.name.span);
            for (numbers, chosen) in spelled {
                let payload: Vec<Expr> = match &numbers {
                    None => sent.iter().map(|(value, _)| value.clone()).collect(),
                    Some(numbers) => numbers.iter().map(|number| Expr::Int(*number)).collect(),
                };
                let mut guard = logical(BinaryOp::And, guard.clone(), chosen);
                if numbers.is_none() && !self.is_merging(&name) {
                    out.extend(self.exhausting(&base, &guard));
                    continue;
                }
                let text = numbers.map_or_else(|| "_".to_owned(), |n| message(&form, &n));
                let mut step = base.clone();
                if self.buffers[id].is_some() {
                    let single = is_array.then_some(Expr::Int(number));
                    let room = self.push((id, single), &form, &payload, &mut step);
                    guard = logical(BinaryOp::And, guard, room);
                    step.label = Label::Alone(format!("{name}!{text}").into());
                } else {
                    step.label = Label::Send(Rc::new(Output {
                        channel: id,
                        index: number,
                        form: form.clone(),
                        values: payload,
                        text,
                    }));
                }
                step.guard = logical(BinaryOp::And, guard, step.guard);
                if step.guard != Expr::Bool(false) {
                    out.push(step);
                }
            }
        }

        Some(())
    }

    /// Appends a message before anything else happens; says when there is room.
    fn push(
        &self,
        (id, index): (usize, Option<Expr>),
        form: &Form,
        values: &[Expr],
        step: &mut Move,
    ) -> Expr {
        // The message is stored first: the program of the event may change what it is made of.
        let count = self.message_count(id, index.clone());
        let position = Expr::Read(count.clone());

        let mut store = Vec::new();
        let assign =
            |place: Place, value: Expr| Stmt::new(StmtKind::Assign(place, value), step.span);
        for (component, value) in values.iter().enumerate() {
            let cell = self.message_cell(id, index.clone(), position.clone(), component);
            store.push(assign(cell, value.clone()));
        }

        if let Some((component, number)) = self.form_number(id, form) {
            let cell = self.message_cell(id, index.clone(), position.clone(), component);
            store.push(assign(cell, number));
        }

        let next = arithmetic(BinaryOp::Add, position.clone(), Expr::Int(1));
        store.push(assign(count, next));
        step.effect.splice(0..0, store);
        let size = Expr::Int(self.scope.channels[id].size);
        comparison(BinaryOp::Lt, position, size)
    }

    /// Where a message says which form it has, and how; nothing if all have the same.
    fn form_number(&self, id: usize, form: &Form) -> Option<(usize, Expr)> {
        let forms = &self.ranges.forms[id];
        let number = forms.iter().position(|known| known == form)?;
        let component = self.ranges.message_width(id) - 1;
        (forms.len() > 1).then_some((component, Expr::Int(number as i64)))
    }

    /// One move for each form of a message that fits.
    pub(crate) fn receive(
        &mut self,
        start: &Start<'_>,
        channel: &ChannelUse,
        condition: Option<&Text>,
        patterns: &[ExprRef],
        out: &mut Vec<Move>,
    ) -> Option<()> {
        let (id, _) = self.channel(channel, start.env)?;
        let forms = self.ranges.forms[id].iter();
        let fitting = forms.filter(|form| form.len() == patterns.len());
        let mut fitting: Vec<Form> = fitting.cloned().collect();
        if fitting.is_empty() {
            fitting.push(vec![None; patterns.len()]);
        }
        for form in fitting {
            let values = form.iter().zip(patterns);
            let is_single = |(shape, pattern): (&Shape, &ExprRef)| {
                shape.is_none() || binder(self.scope, pattern).is_some()
            };
            // An array is never equal to a single value.
            if values.into_iter().all(is_single) {
                self.receive_form(start, channel, condition, (patterns, form), out)?;
            }
        }
        Some(())
    }

    fn receive_form(
        &mut self,
        start: &Start<'_>,
        channel: &ChannelUse,
        condition: Option<&Text>,
        (patterns, form): (&[ExprRef], Form),
        out: &mut Vec<Move>,
    ) -> Option<()> {
        let (id, index) = self.channel(channel, start.env)?;
        let mut bounds = Vec::new();
        let mut received: Vec<(Name, Arg)> = Vec::new();
        let mut matches = Vec::new();

        for (shape, pattern) in form.iter().zip(patterns) {
            let name = binder(self.scope, pattern);
            let first = bounds.len();
            let shown = name.map_or("message", |name| name);
            bounds.extend((0..shape.unwrap_or(1)).map(|_| self.fresh(shown)));
            let cells = bounds[first..].iter().map(|bound| Arg::Bound(*bound));
            match (name, shape) {
                (Some(name), Some(_)) => received.push((name.clone(), Arg::Array(cells.collect()))),
                (Some(name), None) => received.extend(cells.map(|cell| (name.clone(), cell))),
                (None, _) => matches.push((first, self.value(pattern, start.env)?.0)),
            }
        }

        let condition = match condition {
            None => Expr::Bool(true),
            Some(condition) => {
                let env = start.env.with(received.iter().cloned());
                truth(self.condition(condition, &env)?)
            }
        };

        let base = self.after(start, &received)?;
        for (number, name, guard) in self.singles(id, index, channel.name.span)? {
            let input = Input {
                channel: id,
                index: number,
                form: form.clone(),
                bounds: bounds.clone(),
                matches: matches.clone(),
                condition: condition.clone(),
            };
            let mut step = base.clone();
            step.guard = logical(BinaryOp::And, guard, step.guard);
            if self.buffers[id].is_some() {
                self.take(&name, input, &step, channel.name.span, out);
            } else {
                step.label = Label::Receive(Rc::new(input));
                out.push(step);
            }
        }

        Some(())
    }

    /// Takes the oldest message of a buffer: one move for each message that it can be.
    fn take(&mut self, name: &str, input: Input, base: &Move, span: Span, out: &mut Vec<Move>) {
        let id = input.channel;
        let is_array = self.scope.channels[id].count.is_some();
        let index = is_array.then_some(Expr::Int(input.index));
        let count = Expr::Read(self.message_count(id, index.clone()));
        let mut present = comparison(BinaryOp::Gt, count, Expr::Int(0));

        if !self.ranges.forms[id].contains(&input.form) {
            // No message of this form is ever sent.
            return;
        }
        if let Some((component, number)) = self.form_number(id, &input.form) {
            let cell = self.message_cell(id, index.clone(), Expr::Int(0), component);
            let fits = comparison(BinaryOp::Eq, Expr::Read(cell), number);
            present = logical(BinaryOp::And, present, fits);
        }

        let components = input.form.iter().enumerate();
        let components = components.flat_map(|(n, shape)| vec![n; shape.unwrap_or(1)]);
        let mut cells = Vec::new();
        for (position, component) in components.enumerate() {
            let cell = self.message_cell(id, index.clone(), Expr::Int(0), position);
            let known = self.ranges.messages[id].get(component);
            let values = known.and_then(|known| known.values).unwrap_or((0, 0));
            let matched = input.matches.iter().find(|(at, _)| *at == position);
            let values = match matched {
                Some((_, Expr::Int(value))) => (*value, *value),
                _ => values,
            };
            cells.push((Expr::Read(cell), values));
        }

        let spelled = self.told_apart(&[&format!("{name}?")], &cells, name, span);
        for (numbers, chosen) in spelled {
            if numbers.is_none() && !self.is_merging(name) {
                let guard = logical(BinaryOp::And, present.clone(), chosen);
                out.extend(self.exhausting(base, &guard));
                continue;
            }
            let values = match &numbers {
                None => cells.iter().map(|(cell, _)| cell.clone()).collect(),
                Some(numbers) => numbers.iter().map(|number| Expr::Int(*number)).collect(),
            };
            let output = Output {
                channel: id,
                index: input.index,
                form: input.form.clone(),
                values,
                text: numbers.map_or_else(|| "_".to_owned(), |n| message(&input.form, &n)),
            };
            let Some((guard, bound)) = super::moves::handover(&output, &input) else {
                continue;
            };
            let mut step = base.clone();
            let guard = logical(BinaryOp::And, chosen, guard);
            let guard = logical(BinaryOp::And, present.clone(), guard);
            step.guard = logical(BinaryOp::And, guard, step.guard);
            step.lets.splice(0..0, bound);
            let shift = self.shift(id, index.clone(), step.span);
            step.effect.splice(0..0, shift);
            step.label = Label::Alone(format!("{name}?{}", output.text).into());
            if step.guard != Expr::Bool(false) {
                out.push(step);
            }
        }
    }

    /// Removes the oldest message.
    fn shift(&mut self, id: usize, index: Option<Expr>, span: Span) -> Vec<Stmt> {
        let size = self.scope.channels[id].size;
        let width = self.ranges.message_width(id);
        let assign = |place: Place, value: Expr| Stmt::new(StmtKind::Assign(place, value), span);
        let mut list = Vec::new();

        if size > 1 {
            let bound = self.fresh("position");
            let here = Expr::Bound(bound);
            let next = arithmetic(BinaryOp::Add, here.clone(), Expr::Int(1));
            let mut body = Vec::new();
            for component in 0..width {
                let to = self.message_cell(id, index.clone(), here.clone(), component);
                let from = self.message_cell(id, index.clone(), next.clone(), component);
                body.push(assign(to, Expr::Read(from)));
            }
            let kind = StmtKind::For(bound, Expr::Int(0), Expr::Int(size - 2), body);
            list.push(Stmt::new(kind, span));
        }

        for component in 0..width {
            let last = Expr::Int(size - 1);
            let cell = self.message_cell(id, index.clone(), last, component);
            list.push(assign(cell, Expr::Int(0)));
        }

        let count = self.message_count(id, index);
        let fewer = arithmetic(BinaryOp::Sub, Expr::Read(count.clone()), Expr::Int(1));
        list.push(assign(count, fewer));
        list
    }

    /// The name of the event in which a message is handed over.
    pub(crate) fn handshake_name(&self, output: &Output) -> Name {
        format!("{}.{}", self.single_name(output), output.text).into()
    }

    /// `c`, or `c[2]` of an array.
    pub(crate) fn single_name(&self, output: &Output) -> String {
        let channel = &self.scope.channels[output.channel];
        match channel.count {
            Some(_) => format!("{}[{}]", channel.name.text, output.index),
            None => channel.name.text.to_string(),
        }
    }
}

fn joined(numbers: &[i64]) -> String {
    let list: Vec<String> = numbers.iter().map(i64::to_string).collect();
    list.join(".")
}

/// `e.1.2`, `c!1`.
pub(crate) fn spell(name: &str, separator: char, numbers: &[i64]) -> String {
    if numbers.is_empty() {
        name.to_owned()
    } else {
        format!("{name}{separator}{}", joined(numbers))
    }
}

//! What a process term can do: the operational semantics of CSP#.
//!
//! The rules are those of Sun, Liu, Dong and Chen (Integrating Specification and Programs for
//! System Modeling and Verification, TASE 2009, section 3) and of PAT's manual. Where these leave
//! something open: `case` tests and takes the first step at once, arguments of calls are evaluated
//! when the process takes its first step, and a silent step of the right side of `interrupt`
//! interrupts nothing yet.

use std::rc::Rc;

use base::Span;
use model::{AnnotationKind, Expr, Stmt, StmtKind};

use super::ast::{BinaryOp, IfKind, Prefix, ProcKind, ProcRef};
use super::lexer::Name;
use super::ranges::Form;
use super::term::{Arg, ChoiceOp, Env, Machine, SetId, Term, TermId};
use super::value::{comparison, logical};

/// Unfoldings and operators nested deeper than this within one step are taken to be a recursion
/// without guard.
const MAX_UNFOLDING: usize = 120;

/// A step of a term, before its target is settled.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) guard: Expr,
    pub(crate) label: Label,
    /// What is evaluated before the program.
    pub(crate) lets: Vec<Stmt>,
    pub(crate) effect: Vec<Stmt>,
    pub(crate) target: TermId,
    pub(crate) priority: i8,
    pub(crate) fairness: Option<(AnnotationKind, Span)>,
    pub(crate) span: Span,
}

/// What a step is called, and which partners it has.
#[derive(Clone, Debug)]
pub(crate) enum Label {
    /// Invisible.
    Tau,
    /// Successful termination.
    Tick,
    /// An event that others may have to join.
    Event(Name),
    /// An event without partners: it carries a program or uses a buffer.
    Alone(Name),
    /// The sending half of a handshake.
    Send(Rc<Output>),
    /// The receiving half of a handshake.
    Receive(Rc<Input>),
}

/// What a sender offers.
#[derive(Clone, Debug)]
pub(crate) struct Output {
    pub(crate) channel: usize,
    pub(crate) index: i64,
    pub(crate) form: Form,
    pub(crate) values: Vec<Expr>,
    /// What the values look like in the name of the event.
    pub(crate) text: String,
}

/// What a receiver accepts.
#[derive(Clone, Debug)]
pub(crate) struct Input {
    pub(crate) channel: usize,
    pub(crate) index: i64,
    pub(crate) form: Form,
    /// Where each cell of the message goes.
    pub(crate) bounds: Vec<model::BoundId>,
    /// What cells must be equal to.
    pub(crate) matches: Vec<(usize, Expr)>,
    /// What must hold of them.
    pub(crate) condition: Expr,
}

impl Move {
    pub(crate) fn silent(target: TermId, span: Span) -> Self {
        Self {
            guard: Expr::Bool(true),
            label: Label::Tau,
            lets: Vec::new(),
            effect: Vec::new(),
            target,
            priority: 0,
            fairness: None,
            span,
        }
    }

    pub(crate) fn guarded(mut self, condition: &Expr) -> Option<Self> {
        self.guard = logical(BinaryOp::And, condition.clone(), self.guard);
        (self.guard != Expr::Bool(false)).then_some(self)
    }

    /// Both at once.
    pub(crate) fn joined(&self, other: &Self) -> Self {
        Self {
            guard: logical(BinaryOp::And, self.guard.clone(), other.guard.clone()),
            label: self.label.clone(),
            lets: [self.lets.as_slice(), &other.lets].concat(),
            effect: [self.effect.as_slice(), &other.effect].concat(),
            target: self.target,
            priority: self.priority.max(other.priority),
            fairness: self.fairness.or(other.fairness),
            span: self.span,
        }
    }
}

impl Machine<'_> {
    /// All moves of a term. Nothing if something is wrong, which has then been reported.
    pub(crate) fn moves(&mut self, id: TermId) -> Option<Rc<Vec<Move>>> {
        if let Some(moves) = self.moves.get(&id) {
            return Some(moves.clone());
        }
        let depth = self.unfolding.len();
        let again = self.unfolding.iter().position(|(open, _)| *open == id);
        if let Some(first) = again
            && self.unfolding[first].1 < self.n_conditions
        {
            // Behind conditions a process may come back to itself. A step has a finite derivation,
            // so going round once more adds none.
            self.met_again = Some(self.met_again.map_or(first, |other| other.min(first)));
            return Some(Rc::new(Vec::new()));
        }
        if again.is_some() || depth >= MAX_UNFOLDING {
            return self.unguarded();
        }
        self.unfolding.push((id, self.n_conditions));

        let moves = self.compute(id);
        self.unfolding.pop();
        let moves = Rc::new(moves?);

        // What was computed inside a circle lacks the steps of the outer terms.
        let is_complete = self.met_again.is_none_or(|first| first >= depth);
        if is_complete {
            self.met_again = None;
            self.moves.insert(id, moves.clone());
        }

        Some(moves)
    }

    fn unguarded<T>(&mut self) -> Option<T> {
        let calls = self.unfolding.iter().rev();
        let process = calls
            .filter_map(|(id, _)| match &self.terms[id.index()] {
                Term::Call(process, _) => Some(*process),
                _ => None,
            })
            .next();
        let (span, name) = match process {
            Some(process) => {
                let decl = &self.scope.processes[process];
                (decl.name.span, format!("`{}`", decl.name.text))
            }
            None => (Span::nowhere(), "a process".to_owned()),
        };
        let message = format!("{name} calls itself before it has done anything");
        self.error("unguarded-recursion", span, message)
    }

    fn compute(&mut self, id: TermId) -> Option<Vec<Move>> {
        match self.get(id) {
            Term::Stop => Some(Vec::new()),
            Term::Skip => {
                let stop = self.term(Term::Stop);
                let mut tick = Move::silent(stop, Span::nowhere());
                tick.label = Label::Tick;
                Some(vec![tick])
            }
            Term::Call(process, arguments) => {
                let (body, env) = self.unfold(process, &arguments);
                let term = self.normal(&body, &env, &mut None)?;
                Some(self.moves(term)?.to_vec())
            }
            Term::Text(text, env) => self.text(&text.0, &env, id),
            Term::Seq(first, second) => {
                let mut moves = self.moves(first)?.to_vec();
                for step in &mut moves {
                    if let Label::Tick = step.label {
                        step.label = Label::Tau;
                        step.target = second;
                    } else {
                        step.target = self.term(Term::Seq(step.target, second));
                    }
                }
                Some(moves)
            }
            Term::Interrupt(first, second) => self.interrupt(first, second),
            Term::Hide(body, set) => self.hide(body, set),
            Term::Atomic(body) => {
                let mut moves = self.moves(body)?.to_vec();
                for step in &mut moves {
                    step.priority = 1;
                    step.target = self.term(Term::Atomic(step.target));
                }
                Some(moves)
            }
            Term::Choice(kind, parts) => self.choice(kind, &parts),
            Term::Interleave(parts) => {
                let parts: Vec<(TermId, Option<SetId>)> =
                    parts.into_iter().map(|part| (part, None)).collect();
                self.compose(&parts)
            }
            Term::Parallel(parts) => {
                let parts: Vec<(TermId, Option<SetId>)> = parts
                    .into_iter()
                    .map(|(part, set)| (part, Some(set)))
                    .collect();
                self.compose(&parts)
            }
        }
    }

    fn text(&mut self, text: &ProcRef, env: &Env, id: TermId) -> Option<Vec<Move>> {
        match &text.kind {
            ProcKind::Assert(condition) => {
                let checked = self.condition(condition, env)?;
                let skip = self.term(Term::Skip);
                let mut step = Move::silent(skip, text.span);
                let check = StmtKind::Assert(checked);
                step.effect.push(Stmt::new(check, condition.span));
                Some(vec![step])
            }
            ProcKind::Prefix(prefixes, rest) => {
                let mut moves = Vec::new();
                for prefix in prefixes {
                    self.prefix(prefix, rest, env, &mut moves)?;
                }
                Some(moves)
            }
            ProcKind::If(kind, condition, then, otherwise) => {
                self.conditional(*kind, condition, (then, otherwise.as_ref()), env, text.span)
            }
            ProcKind::Case(branches, default) => {
                let mut moves = Vec::new();
                let mut none = Expr::Bool(true);
                for (condition, body) in branches {
                    let condition = self.condition(condition, env)?;
                    let first = logical(BinaryOp::And, none.clone(), condition.clone());
                    self.behind(&first, body, env, &mut moves)?;
                    none = logical(BinaryOp::And, none, Expr::not(condition));
                }
                if let Some(default) = default {
                    self.behind(&none, default, env, &mut moves)?;
                }
                Some(moves)
            }
            ProcKind::Guard(condition, body) => {
                let condition = self.condition(condition, env)?;
                let mut moves = Vec::new();
                self.behind(&condition, body, env, &mut moves)?;
                Some(moves)
            }
            // One more copy comes into being with the first step of each.
            ProcKind::Replicated(None, body) => {
                let body = self.normal(body, env, &mut None)?;
                let mut moves = self.moves(body)?.to_vec();
                for step in &mut moves {
                    step.target = self.term(Term::Interleave(vec![step.target, id]));
                }
                Some(moves)
            }
            _ => unreachable!("other operators are terms of their own"),
        }
    }

    /// The moves of a process whose first step needs a condition.
    fn behind(
        &mut self,
        condition: &Expr,
        body: &ProcRef,
        env: &Env,
        out: &mut Vec<Move>,
    ) -> Option<()> {
        if *condition == Expr::Bool(false) {
            return Some(());
        }

        let body = self.normal(body, env, &mut None)?;

        // Only behind an open condition may a process come back to itself.
        let is_open = *condition != Expr::Bool(true);
        self.n_conditions += usize::from(is_open);
        let moves = self.moves(body);
        self.n_conditions -= usize::from(is_open);

        out.extend(
            moves?
                .iter()
                .filter_map(|step| step.clone().guarded(condition)),
        );
        Some(())
    }

    fn conditional(
        &mut self,
        kind: IfKind,
        condition: &super::ast::ExprRef,
        (then, otherwise): (&ProcRef, Option<&ProcRef>),
        env: &Env,
        span: Span,
    ) -> Option<Vec<Move>> {
        let condition = self.condition(condition, env)?;
        let mut moves = Vec::new();
        if kind == IfKind::Atomic {
            self.behind(&condition, then, env, &mut moves)?;
            let refuted = Expr::not(condition);
            match otherwise {
                Some(otherwise) => self.behind(&refuted, otherwise, env, &mut moves)?,
                None => {
                    let skip = self.term(Term::Skip);
                    let ticks = self.moves(skip)?;
                    moves.extend(
                        ticks
                            .iter()
                            .filter_map(|tick| tick.clone().guarded(&refuted)),
                    );
                }
            }
            return Some(moves);
        }

        let mut branches = vec![(condition.clone(), Some(then))];
        if kind == IfKind::Plain {
            branches.push((Expr::not(condition), otherwise));
        }

        for (condition, body) in branches {
            let (env, mut lets) = self.frozen(env, body.into_iter(), None)?;
            let target = match body {
                Some(body) => self.normal(body, &env, &mut Some(&mut lets))?,
                None => self.term(Term::Skip),
            };
            let mut step = Move::silent(target, span);
            step.lets = lets;
            moves.extend(step.guarded(&condition));
        }

        Some(moves)
    }

    /// Evaluates what is lazy and needed after the step, so that later changes do not matter.
    fn frozen<'p>(
        &mut self,
        env: &Env,
        rest: impl Iterator<Item = &'p ProcRef>,
        program: Option<&super::ast::Program>,
    ) -> Option<(Env, Vec<Stmt>)> {
        let mut needed = std::collections::BTreeSet::new();
        for proc in rest {
            needed.extend(self.free_names(proc).iter().cloned());
        }
        if let Some(program) = program {
            super::names::program_names(program, &mut needed);
        }

        let mut lets = Vec::new();
        let mut values = Vec::new();
        for (name, arg) in env.values.iter() {
            if arg.is_lazy() && needed.contains(name) {
                values.push((name.clone(), self.evaluated(name, arg, &mut lets)?));
            }
        }

        Some((env.with(values), lets))
    }

    fn evaluated(&mut self, name: &Name, arg: &Arg, lets: &mut Vec<Stmt>) -> Option<Arg> {
        Some(match arg {
            Arg::Lazy(expr, _) => {
                let (value, _) = self.arg(arg)?;
                let bound = self.fresh(name);
                lets.push(Stmt::new(StmtKind::Let(bound, value), expr.0.span));
                Arg::Bound(bound)
            }
            Arg::Array(cells) => {
                let cells = cells.iter().map(|cell| self.evaluated(name, cell, lets));
                Arg::Array(cells.collect::<Option<_>>()?)
            }
            Arg::Const(..) | Arg::Slot(_) | Arg::Bound(_) => arg.clone(),
        })
    }

    fn prefix(
        &mut self,
        prefix: &Prefix,
        rest: &ProcRef,
        env: &Env,
        out: &mut Vec<Move>,
    ) -> Option<()> {
        let (frozen, lets) = self.frozen(env, [rest].into_iter(), prefix.program.as_ref())?;
        let start = Start {
            prefix,
            rest,
            env,
            frozen,
            lets,
        };

        match &prefix.action {
            super::ast::Action::Tau => {
                let step = self.after(&start, &[])?;
                out.push(step);
                Some(())
            }
            super::ast::Action::Event(name, arguments) => {
                if self.scope.channel_by_name.contains_key(&name.text)
                    || self.scope.process_by_name.contains_key(&name.text)
                    || self.scope.var_by_name.contains_key(&name.text)
                {
                    let message = format!(
                        "`{}` is a variable, channel or process and cannot be an event",
                        name.text
                    );
                    return self.error("type-mismatch", name.span, message);
                }
                let base = self.after(&start, &[])?;
                for (text, guard) in self.spellings(&name.text, '.', arguments, env, name.span)? {
                    let Some(text) = text else {
                        out.extend(self.exhausting(&base, &guard));
                        continue;
                    };
                    let mut step = base.clone();
                    let text: Name = text.into();
                    step.label = match prefix.program {
                        Some(_) => Label::Alone(text),
                        None => Label::Event(text),
                    };
                    out.extend(step.guarded(&guard));
                }
                Some(())
            }
            super::ast::Action::Send(channel, values) => self.send(&start, channel, values, out),
            super::ast::Action::Receive(channel, condition, patterns) => {
                self.receive(&start, channel, condition.as_deref(), patterns, out)
            }
        }
    }

    /// The step of a prefix without its label; `received` are values that its input has bound.
    pub(crate) fn after(&mut self, start: &Start<'_>, received: &[(Name, Arg)]) -> Option<Move> {
        let env = start.frozen.with(received.iter().cloned());
        let mut lets = start.lets.clone();
        let effect = match &start.prefix.program {
            Some(program) => self.program(program, &env)?,
            None => Vec::new(),
        };
        let target = self.normal(start.rest, &env, &mut Some(&mut lets))?;
        Some(Move {
            lets,
            effect,
            fairness: start.prefix.fairness,
            ..Move::silent(target, start.prefix.span)
        })
    }

    fn interrupt(&mut self, first: TermId, second: TermId) -> Option<Vec<Move>> {
        let mut moves = Vec::new();
        for step in self.moves(first)?.iter() {
            let mut step = step.clone();
            if !matches!(step.label, Label::Tick) {
                step.target = self.term(Term::Interrupt(step.target, second));
            }
            moves.push(step);
        }
        for step in self.moves(second)?.iter() {
            let mut step = step.clone();
            if matches!(step.label, Label::Tau) {
                step.target = self.term(Term::Interrupt(first, step.target));
            }
            moves.push(step);
        }
        Some(moves)
    }

    fn hide(&mut self, body: TermId, set: SetId) -> Option<Vec<Move>> {
        let mut moves = self.moves(body)?.to_vec();
        for step in &mut moves {
            if let Label::Event(name) | Label::Alone(name) = &step.label
                && self.sets[set.index()].contains(name)
            {
                step.label = Label::Tau;
            }
            step.target = self.term(Term::Hide(step.target, set));
        }
        Some(moves)
    }

    fn choice(&mut self, kind: ChoiceOp, parts: &[TermId]) -> Option<Vec<Move>> {
        let mut moves = Vec::new();
        for (position, &part) in parts.iter().enumerate() {
            if kind == ChoiceOp::Internal {
                moves.push(Move::silent(part, Span::nowhere()));
                continue;
            }
            for step in self.moves(part)?.iter() {
                let mut step = step.clone();
                if kind == ChoiceOp::External && matches!(step.label, Label::Tau) {
                    let mut parts = parts.to_vec();
                    parts[position] = step.target;
                    step.target = self.term(Term::Choice(kind, parts));
                }
                moves.push(step);
            }
        }
        Some(moves)
    }
}

/// What the step of a prefix is made of.
pub(crate) struct Start<'p> {
    pub(crate) prefix: &'p Prefix,
    pub(crate) rest: &'p ProcRef,
    pub(crate) env: &'p Env,
    /// The environment with everything lazy evaluated.
    pub(crate) frozen: Env,
    pub(crate) lets: Vec<Stmt>,
}

/// When a message is handed over, and what that binds; nothing if never.
pub(crate) fn handover(output: &Output, input: &Input) -> Option<(Expr, Vec<Stmt>)> {
    if (output.channel, output.index) != (input.channel, input.index) || output.form != input.form {
        return None;
    }

    let mut guard = Expr::Bool(true);
    for (position, wanted) in &input.matches {
        let value = output.values[*position].clone();
        let equal = comparison(BinaryOp::Eq, value, wanted.clone());
        guard = logical(BinaryOp::And, guard, equal);
    }

    let pairs = || input.bounds.iter().copied().zip(&output.values);
    let condition = substituted(&input.condition, &pairs().collect::<Vec<_>>());
    guard = logical(BinaryOp::And, guard, condition);
    if guard == Expr::Bool(false) {
        return None;
    }
    let bind = |(bound, value): (model::BoundId, &Expr)| {
        Stmt::new(StmtKind::Let(bound, value.clone()), Span::nowhere())
    };
    Some((guard, pairs().map(bind).collect()))
}

/// The expression with values for bound names.
pub(crate) fn substituted(expr: &Expr, values: &[(model::BoundId, &Expr)]) -> Expr {
    if let Some(bound) = expr.as_bound() {
        let value = values.iter().find(|(name, _)| *name == bound);
        return value.map_or_else(|| expr.clone(), |(_, value)| (*value).clone());
    }
    let copy = expr.map_operands(&mut |operand| substituted(operand, values));
    // shape: a negation of a constant that was put in is a constant; nothing else is simplified.
    if let Expr::Not(inner) = copy {
        return Expr::not(*inner);
    }
    copy
}

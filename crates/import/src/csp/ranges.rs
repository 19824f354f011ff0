//! Which values variables, process parameters and messages can have: an interval analysis.
//!
//! Intervals make states small and let events carry values that depend on the state. The analysis
//! ignores the order of steps, follows the order of statements within a program, and uses guards
//! that are tested in the same step as the program (Cousot and Cousot 1977, section 9: interval
//! lattice with widening; here the widening goes through the constants of the model before it gives
//! up). It also finds out which parameters depend on *data*: those become local variables, all
//! others are constants of the process term.
//!
//! Invariant: the intervals contain every value that can occur, because a value that leaves 32 bits
//! or a declared range is a run-time error.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::ast::{
    Action, BinaryOp, ChoiceKind, Expr, ExprKind, IfKind, IndexDef, IndexValues, IndexedOp,
    MacroBody, Prefix, Proc, ProcKind, Stmt, StmtKind,
};
use super::lexer::Name;
use super::scope::{Scope, Ty};

/// First and last value.
pub(crate) type Interval = (i64, i64);

/// All values of a number.
pub(crate) const FULL: Interval = (i32::MIN as i64, i32::MAX as i64);

/// After so many rounds every growing interval becomes [`FULL`].
const MAX_ROUNDS: usize = 200;

/// What is known of a name in a process definition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameInfo {
    /// Its values; nothing if it never gets one.
    pub(crate) values: Option<Interval>,
    /// Does it depend on variables or messages?
    pub(crate) is_data: bool,
    n_changes: u32,
}

/// The result of the analysis.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    pub(crate) vars: Vec<NameInfo>,
    pub(crate) var_types: Vec<Ty>,
    pub(crate) names: HashMap<(usize, Name), NameInfo>,
    /// The components of messages, by channel.
    pub(crate) messages: Vec<Vec<NameInfo>>,
    /// How long messages are, by channel.
    pub(crate) lengths: Vec<BTreeSet<usize>>,
    called: HashSet<usize>,
    thresholds: BTreeSet<i64>,
    changed: bool,
    give_up: bool,
}

/// Analyses everything that the processes `roots` can reach.
pub(crate) fn analyse(scope: &Scope, roots: &[(usize, Vec<Option<i64>>)]) -> Ranges {
    let mut ranges = Ranges {
        vars: Vec::new(),
        var_types: scope.vars.iter().map(|var| var.ty).collect(),
        messages: vec![Vec::new(); scope.channels.len()],
        lengths: vec![BTreeSet::new(); scope.channels.len()],
        ..Ranges::default()
    };
    for var in &scope.vars {
        let values = match (&var.initial, var.range) {
            (_, Some(range)) => Some(range),
            (Some(values), None) => values
                .iter()
                .copied()
                .zip(values.iter().copied())
                .reduce(join),
            (None, None) => Some(FULL),
        };
        ranges.vars.push(NameInfo {
            values,
            ..NameInfo::default()
        });
    }
    ranges.thresholds = scope.constants.values().map(|(value, _)| *value).collect();
    for (process, arguments) in roots {
        ranges.called.insert(*process);
        let parameters = &scope.processes[*process].parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let key = (*process, parameter.text.clone());
            let values = argument.map_or(FULL, |value| (value, value));
            ranges.join_name(key, Some(values), false);
        }
    }
    for round in 0.. {
        ranges.changed = false;
        ranges.give_up = round > MAX_ROUNDS;
        for def in 0..scope.processes.len() {
            if ranges.called.contains(&def) {
                let mut walk = Walk::new(scope, &mut ranges, def);
                walk.process(&scope.processes[def].body, &HashMap::new());
            }
        }
        if !ranges.changed {
            break;
        }
    }
    ranges
}

/// The smallest interval that contains both.
pub(crate) fn join(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

impl Ranges {
    /// The values of a name of a definition; everything if nothing is known.
    pub(crate) fn of_name(&self, def: usize, name: &Name) -> Option<Interval> {
        let info = self.names.get(&(def, name.clone()))?;
        Some(info.values.unwrap_or(FULL))
    }

    /// Does a name of a definition depend on data?
    pub(crate) fn is_data(&self, def: usize, name: &Name) -> bool {
        let info = self.names.get(&(def, name.clone()));
        info.is_some_and(|info| info.is_data)
    }

    fn grow(&mut self, mut info: NameInfo, values: Option<Interval>, is_data: bool) -> NameInfo {
        let grown = match (info.values, values) {
            (old, None) => old,
            (None, new) => new,
            (Some(old), Some(new)) => Some(self.widen(old, join(old, new), info.n_changes)),
        };
        let grown = grown.map(|(lo, hi)| (lo.clamp(FULL.0, FULL.1), hi.clamp(FULL.0, FULL.1)));
        if grown != info.values || is_data && !info.is_data {
            self.changed = true;
            info.n_changes += 1;
        }
        info.values = grown;
        info.is_data |= is_data;
        info
    }

    fn widen(&self, old: Interval, new: Interval, n_changes: u32) -> Interval {
        if old == new || n_changes < 3 {
            return new;
        }
        let mut wide = new;
        if new.0 < old.0 {
            let below = self.thresholds.range(..=new.0).next_back();
            wide.0 = *below.filter(|_| !self.give_up).unwrap_or(&FULL.0);
        }
        if new.1 > old.1 {
            let above = self.thresholds.range(new.1..).next();
            wide.1 = *above.filter(|_| !self.give_up).unwrap_or(&FULL.1);
        }
        wide
    }

    fn join_name(&mut self, key: (usize, Name), values: Option<Interval>, is_data: bool) {
        let info = self.names.get(&key).copied().unwrap_or_default();
        let info = self.grow(info, values, is_data);
        self.names.insert(key, info);
    }

    fn join_message(&mut self, channel: usize, component: usize, values: Option<Interval>) {
        if self.messages[channel].len() <= component {
            self.messages[channel].resize(component + 1, NameInfo::default());
        }
        let info = self.grow(self.messages[channel][component], values, true);
        self.messages[channel][component] = info;
    }
}

/// What is known of variables at a point of a program or behind a guard.
type Overlay = HashMap<Name, Interval>;

struct Walk<'a> {
    scope: &'a Scope,
    ranges: &'a mut Ranges,
    def: usize,
    /// Local variables of programs and parameters of macros, innermost last.
    locals: Vec<(Name, Option<Interval>)>,
    depth: usize,
}

impl<'a> Walk<'a> {
    fn new(scope: &'a Scope, ranges: &'a mut Ranges, def: usize) -> Self {
        for parameter in &scope.processes[def].parameters {
            let key = (def, parameter.text.clone());
            ranges.names.entry(key).or_default();
        }
        Self {
            scope,
            ranges,
            def,
            locals: Vec::new(),
            depth: 0,
        }
    }

    fn process(&mut self, proc: &Proc, known: &Overlay) {
        // What is known of parameters stays true; what is known of variables ends with the step.
        let nothing = self.lasting(known);
        match &proc.kind {
            ProcKind::Stop | ProcKind::Skip => {}
            ProcKind::Assert(expr) => {
                self.eval(expr, known);
            }
            ProcKind::Call(name, arguments) => self.call(&name.text, arguments, known),
            ProcKind::Prefix(prefixes, rest) => {
                let mut lasting = nothing;
                for prefix in prefixes {
                    self.prefix(prefix, known);
                    if let Action::Receive(_, _, patterns) = &prefix.action {
                        let bound = patterns.iter();
                        let bound = bound.filter_map(|pattern| binder(self.scope, pattern));
                        bound.for_each(|name| {
                            lasting.remove(name);
                        });
                    }
                }
                self.process(rest, &lasting);
            }
            ProcKind::If(kind, condition, then, otherwise) => {
                let atomic = *kind == IfKind::Atomic;
                let base = if atomic { known } else { &nothing };
                self.branch(condition, true, then, base, atomic);
                if let Some(otherwise) = otherwise {
                    self.branch(condition, false, otherwise, base, atomic);
                }
            }
            ProcKind::Case(branches, default) => {
                let mut base = known.clone();
                for (condition, body) in branches {
                    self.branch(condition, true, body, &base, true);
                    self.refine(condition, false, &mut base);
                }
                if let Some(default) = default {
                    self.process(default, &base);
                }
            }
            ProcKind::Guard(condition, body) => self.branch(condition, true, body, known, true),
            ProcKind::Atomic(body) | ProcKind::Hide(body, _) => self.process(body, known),
            ProcKind::Seq(first, second) => {
                self.process(first, known);
                self.process(second, &nothing);
            }
            ProcKind::Interrupt(first, second) => {
                self.process(first, &nothing);
                self.process(second, &nothing);
            }
            ProcKind::Choice(kind, parts) => {
                let general = *kind == ChoiceKind::General;
                for part in parts {
                    self.process(part, if general { known } else { &nothing });
                }
            }
            ProcKind::Interleave(parts) | ProcKind::Parallel(parts) => {
                for part in parts {
                    self.process(part, &nothing);
                }
            }
            ProcKind::Indexed(op, indices, body) => {
                self.indices(indices, known);
                let general = *op == IndexedOp::Choice(ChoiceKind::General);
                let mut inner = if general { known.clone() } else { nothing };
                inner.retain(|name, _| !indices.iter().any(|index| index.name.text == *name));
                self.process(body, &inner);
            }
            ProcKind::Replicated(_, body) => self.process(body, &nothing),
        }
    }

    fn branch(&mut self, condition: &Expr, value: bool, body: &Proc, base: &Overlay, keep: bool) {
        let mut known = base.clone();
        let possible = self.refine(condition, value, &mut known);
        if possible {
            let known = if keep { known } else { self.lasting(&known) };
            self.process(body, &known);
        }
    }

    /// The knowledge that later steps cannot make wrong.
    fn lasting(&self, known: &Overlay) -> Overlay {
        let is_parameter = |name: &Name| self.ranges.names.contains_key(&(self.def, name.clone()));
        let kept = known.iter().filter(|(name, _)| is_parameter(name));
        kept.map(|(name, values)| (name.clone(), *values)).collect()
    }

    fn indices(&mut self, indices: &[IndexDef], known: &Overlay) {
        for index in indices {
            let values = match &index.values {
                IndexValues::Range(lo, hi) => {
                    let lo = self.eval(lo, known);
                    let hi = self.eval(hi, known);
                    lo.zip(hi).map(|(lo, hi)| (lo.0.min(hi.1), hi.1.max(lo.0)))
                }
                IndexValues::List(list) => {
                    let values: Vec<_> = list.iter().map(|e| self.eval(e, known)).collect();
                    values.into_iter().flatten().reduce(join)
                }
            };
            let key = (self.def, index.name.text.clone());
            self.ranges.join_name(key, values, false);
        }
    }

    fn call(&mut self, name: &Name, arguments: &[super::ast::ExprRef], known: &Overlay) {
        let Some(&callee) = self.scope.process_by_name.get(name) else {
            return;
        };
        if self.ranges.called.insert(callee) {
            self.ranges.changed = true;
        }
        let parameters = &self.scope.processes[callee].parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let values = self.eval(argument, known);
            let is_data = self.depends_on_data(argument);
            let key = (callee, parameter.text.clone());
            self.ranges.join_name(key, values, is_data);
        }
    }

    fn prefix(&mut self, prefix: &Prefix, known: &Overlay) {
        let mut state = known.clone();
        match &prefix.action {
            Action::Tau => {}
            Action::Event(_, arguments) => {
                for argument in arguments {
                    self.eval(argument, known);
                }
            }
            Action::Send(channel, values) => {
                let Some(&channel) = self.scope.channel_by_name.get(&channel.name.text) else {
                    return;
                };
                self.ranges.lengths[channel].insert(values.len());
                for (component, value) in values.iter().enumerate() {
                    let values = self.eval(value, known);
                    self.ranges.join_message(channel, component, values);
                }
            }
            Action::Receive(channel, _, patterns) => {
                let Some(&channel) = self.scope.channel_by_name.get(&channel.name.text) else {
                    return;
                };
                for (component, pattern) in patterns.iter().enumerate() {
                    if let Some(name) = binder(self.scope, pattern) {
                        let message = self.ranges.messages[channel].get(component).copied();
                        let values = message.and_then(|message| message.values);
                        let key = (self.def, name.clone());
                        self.ranges.join_name(key, values, true);
                        state.remove(name);
                    }
                }
            }
        }
        if let Some(program) = &prefix.program {
            let n_locals = self.locals.len();
            self.statements(program, &mut state);
            self.locals.truncate(n_locals);
        }
    }

    fn depends_on_data(&self, expr: &Expr) -> bool {
        let mut found = false;
        visit_names(expr, &mut |name| {
            let info = self.ranges.names.get(&(self.def, name.clone()));
            found |= match info {
                Some(info) => info.is_data,
                None if self.scope.constants.contains_key(name) => false,
                None => true,
            };
        });
        found
    }

    fn statements(&mut self, statements: &[Stmt], state: &mut Overlay) {
        let n_locals = self.locals.len();
        for statement in statements {
            self.statement(statement, state);
        }
        self.locals.truncate(n_locals);
    }

    fn statement(&mut self, statement: &Stmt, state: &mut Overlay) {
        match &statement.kind {
            StmtKind::Block(inner) => self.statements(inner, state),
            StmtKind::Local(name, value) => {
                let values = match value {
                    Some(value) => self.eval(value, state),
                    None => Some((0, 0)),
                };
                self.locals.push((name.text.clone(), values));
            }
            StmtKind::If(condition, then, otherwise) => {
                let locals = self.locals.clone();
                let mut left = state.clone();
                let possible_then = self.refine(condition, true, &mut left);
                if possible_then {
                    self.statement(then, &mut left);
                }
                let after_then = std::mem::replace(&mut self.locals, locals);
                let possible_else = self.refine(condition, false, state);
                if let (true, Some(otherwise)) = (possible_else, otherwise) {
                    self.statement(otherwise, state);
                }
                if !possible_else {
                    *state = left;
                    self.locals = after_then;
                } else if possible_then {
                    self.merge(state, &left, &after_then);
                }
            }
            StmtKind::While(condition, body) => {
                let mut assigned = HashSet::new();
                assigned_names(body, &mut assigned);
                if assigned
                    .iter()
                    .any(|name| self.scope.macros.contains_key(name))
                {
                    // A macro may assign anything.
                    state.clear();
                }
                state.retain(|name, _| !assigned.contains(name));
                for (name, values) in &mut self.locals {
                    if assigned.contains(name) {
                        *values = Some(FULL);
                    }
                }
                let mut inside = state.clone();
                let locals = self.locals.clone();
                if self.refine(condition, true, &mut inside) {
                    self.statement(body, &mut inside);
                }
                self.locals = locals;
                self.refine(condition, false, state);
            }
            StmtKind::Expr(expr) => self.effect(expr, state),
            StmtKind::Empty => {}
        }
    }

    fn merge(&mut self, state: &mut Overlay, other: &Overlay, locals: &[(Name, Option<Interval>)]) {
        state.retain(|name, _| other.contains_key(name));
        for (name, values) in state.iter_mut() {
            *values = join(*values, other[name]);
        }
        for ((_, values), (_, other)) in self.locals.iter_mut().zip(locals) {
            *values = match (*values, *other) {
                (Some(a), Some(b)) => Some(join(a, b)),
                (a, b) => a.or(b),
            };
        }
    }

    fn effect(&mut self, expr: &Expr, state: &mut Overlay) {
        match &expr.kind {
            ExprKind::Assign(target, value) => {
                if let ExprKind::Assign(..) = value.kind {
                    self.effect(value, state);
                }
                let last = innermost(value);
                let values = self.eval(last, state);
                let ty = self.type_of(last);
                self.assign(target, values, ty, state);
            }
            ExprKind::Increment(target, by) => {
                let values = self.eval(target, state).map(|(lo, hi)| (lo + by, hi + by));
                self.assign(target, values, Ty::Int, state);
            }
            ExprKind::Name(name) => self.block_macro(name, &[], state),
            ExprKind::Call(name, arguments) => self.block_macro(&name.text, arguments, state),
            _ => {}
        }
    }

    fn block_macro(&mut self, name: &Name, arguments: &[super::ast::ExprRef], state: &mut Overlay) {
        let Some(decl) = self.scope.macros.get(name) else {
            return;
        };
        if self.depth > 20 {
            return;
        }
        self.depth += 1;
        let n_locals = self.locals.len();
        let values: Vec<_> = arguments.iter().map(|e| self.eval(e, state)).collect();
        let named = decl.parameters.iter().map(|p| p.text.clone());
        self.locals.extend(named.zip(values));
        match &decl.body {
            MacroBody::Block(program) => self.statements(program, state),
            MacroBody::Expr(body) => self.effect(body, state),
        }
        self.locals.truncate(n_locals);
        self.depth -= 1;
    }

    fn assign(&mut self, target: &Expr, values: Option<Interval>, ty: Ty, state: &mut Overlay) {
        let (name, is_cell) = match &target.kind {
            ExprKind::Name(name) => (name, true),
            ExprKind::Index(name, _) => (name, false),
            _ => return,
        };
        if let Some(local) = self
            .locals
            .iter_mut()
            .rev()
            .find(|(local, _)| local == name)
        {
            local.1 = values;
            return;
        }
        let Some(&var) = self.scope.var_by_name.get(name) else {
            return;
        };
        if !ty.fits(self.ranges.var_types[var]) {
            self.ranges.var_types[var] = Ty::Any;
            self.ranges.changed = true;
        }
        let declared = self.scope.vars[var].range;
        let clamp = |(lo, hi): Interval| match declared {
            Some((first, last)) => (lo.clamp(first, last), hi.clamp(first, last)),
            None => (lo.clamp(FULL.0, FULL.1), hi.clamp(FULL.0, FULL.1)),
        };
        let values = values.map(clamp);
        let info = self.ranges.vars[var];
        self.ranges.vars[var] = self.ranges.grow(info, values, true);
        match values {
            Some(values) if is_cell => {
                state.insert(name.clone(), values);
            }
            _ => {
                state.remove(name);
            }
        }
    }

    /// What becomes of the knowledge if the condition is known to be `value`; false if it cannot.
    fn refine(&mut self, condition: &Expr, value: bool, known: &mut Overlay) -> bool {
        match &condition.kind {
            ExprKind::Bool(constant) => *constant == value,
            ExprKind::Not(inner) => self.refine(inner, !value, known),
            ExprKind::Binary(BinaryOp::And, left, right) if value => {
                self.refine(left, true, known) && self.refine(right, true, known)
            }
            ExprKind::Binary(BinaryOp::Or, left, right) if !value => {
                self.refine(left, false, known) && self.refine(right, false, known)
            }
            ExprKind::Binary(op, left, right) => {
                let op = if value { Some(*op) } else { negated(*op) };
                op.is_none_or(|op| self.compare(op, left, right, known))
            }
            ExprKind::Name(name) => match self.scope.macros.get(name) {
                Some(decl) if decl.parameters.is_empty() && self.depth < 20 => match &decl.body {
                    MacroBody::Expr(body) if !self.is_local(name) => {
                        self.depth += 1;
                        let possible = self.refine(body, value, known);
                        self.depth -= 1;
                        possible
                    }
                    _ => true,
                },
                _ => true,
            },
            _ => true,
        }
    }

    fn is_local(&self, name: &Name) -> bool {
        self.locals.iter().any(|(local, _)| local == name)
            || self.ranges.names.contains_key(&(self.def, name.clone()))
    }

    fn compare(&mut self, op: BinaryOp, left: &Expr, right: &Expr, known: &mut Overlay) -> bool {
        let (Some(a), Some(b)) = (self.eval(left, known), self.eval(right, known)) else {
            return true;
        };
        let within = |a: Interval, b: Interval, op: BinaryOp| match op {
            BinaryOp::Eq => Some((a.0.max(b.0), a.1.min(b.1))),
            BinaryOp::Lt => Some((a.0, a.1.min(b.1 - 1))),
            BinaryOp::Le => Some((a.0, a.1.min(b.1))),
            BinaryOp::Gt => Some((a.0.max(b.0 + 1), a.1)),
            BinaryOp::Ge => Some((a.0.max(b.0), a.1)),
            BinaryOp::Ne if b.0 == b.1 && a.0 == b.0 => Some((a.0 + 1, a.1)),
            BinaryOp::Ne if b.0 == b.1 && a.1 == b.0 => Some((a.0, a.1 - 1)),
            _ => None,
        };
        let mirrored = match op {
            BinaryOp::Lt => BinaryOp::Gt,
            BinaryOp::Le => BinaryOp::Ge,
            BinaryOp::Gt => BinaryOp::Lt,
            BinaryOp::Ge => BinaryOp::Le,
            other => other,
        };
        for (side, values) in [(left, within(a, b, op)), (right, within(b, a, mirrored))] {
            let Some(values) = values else { continue };
            if values.0 > values.1 {
                return false;
            }
            if let ExprKind::Name(name) = &side.kind
                && self.is_cell(name)
            {
                known.insert(name.clone(), values);
            }
        }
        true
    }

    /// Is the name a parameter, or a variable with one cell, not hidden by a local one?
    fn is_cell(&self, name: &Name) -> bool {
        let var = self.scope.var_by_name.get(name);
        !self.is_local(name) && var.is_some_and(|&var| self.scope.vars[var].dimensions.is_empty())
    }

    fn type_of(&self, expr: &Expr) -> Ty {
        match &expr.kind {
            ExprKind::Bool(_) | ExprKind::Not(_) | ExprKind::Indexed(..) => Ty::Bool,
            ExprKind::Int(_) | ExprKind::Neg(_) => Ty::Int,
            ExprKind::Binary(op, left, _) => match op {
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Rem => {
                    Ty::Int
                }
                BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => self.type_of(left),
                _ => Ty::Bool,
            },
            ExprKind::Name(name) | ExprKind::Index(name, _) => {
                if self.is_local(name) {
                    Ty::Any
                } else if let Some((_, ty)) = self.scope.constants.get(name) {
                    *ty
                } else if let Some(&var) = self.scope.var_by_name.get(name) {
                    self.ranges.var_types[var]
                } else {
                    Ty::Any
                }
            }
            _ => Ty::Any,
        }
    }

    fn eval(&mut self, expr: &Expr, known: &Overlay) -> Option<Interval> {
        let mut evaluation = Evaluation {
            scope: self.scope,
            ranges: self.ranges,
            def: self.def,
            known,
            locals: self.locals.clone(),
            depth: 0,
        };
        let values = evaluation.eval(expr);
        if let ExprKind::Int(value) = expr.kind {
            self.ranges.thresholds.insert(value);
        }
        if let ExprKind::Binary(_, left, right) = &expr.kind {
            for side in [left, right] {
                if let ExprKind::Int(value) = side.kind {
                    self.ranges.thresholds.insert(value);
                }
            }
        }
        values
    }
}

/// Evaluates expressions over intervals.
pub(crate) struct Evaluation<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) ranges: &'a Ranges,
    pub(crate) def: usize,
    pub(crate) known: &'a HashMap<Name, Interval>,
    pub(crate) locals: Vec<(Name, Option<Interval>)>,
    pub(crate) depth: usize,
}

impl Evaluation<'_> {
    /// The values of an expression; nothing if it is never evaluated.
    pub(crate) fn eval(&mut self, expr: &Expr) -> Option<Interval> {
        if self.depth > 200 {
            return Some(FULL);
        }
        self.depth += 1;
        let values = self.eval_kind(expr);
        self.depth -= 1;
        values.map(|(lo, hi)| {
            (
                lo.max(i64::from(i32::MIN) * 4),
                hi.min(i64::from(i32::MAX) * 4),
            )
        })
    }

    fn eval_kind(&mut self, expr: &Expr) -> Option<Interval> {
        match &expr.kind {
            ExprKind::Int(value) => Some((*value, *value)),
            ExprKind::Bool(value) => Some((i64::from(*value), i64::from(*value))),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Index(name, _) => {
                let var = *self.scope.var_by_name.get(name)?;
                self.ranges.vars[var].values
            }
            ExprKind::Not(_) | ExprKind::Indexed(..) => Some((0, 1)),
            ExprKind::Neg(inner) => self.eval(inner).map(|(lo, hi)| (-hi, -lo)),
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.eval(left)?, self.eval(right)?);
                Some(operate(*op, a, b))
            }
            ExprKind::Call(name, arguments) => self.call(&name.text, arguments),
            ExprKind::Assign(_, value) => self.eval(value),
            ExprKind::Increment(target, by) => self.eval(target).map(|(lo, hi)| (lo + by, hi + by)),
        }
    }

    fn name(&mut self, name: &Name) -> Option<Interval> {
        if let Some((_, values)) = self.locals.iter().rev().find(|(local, _)| local == name) {
            return *values;
        }
        if let Some(values) = self.known.get(name) {
            return Some(*values);
        }
        if let Some(info) = self.ranges.names.get(&(self.def, name.clone())) {
            return info.values;
        }
        if let Some((value, _)) = self.scope.constants.get(name) {
            return Some((*value, *value));
        }
        if let Some(&var) = self.scope.var_by_name.get(name) {
            return self.ranges.vars[var].values;
        }
        match self.scope.macros.get(name).map(|decl| &decl.body) {
            Some(MacroBody::Expr(body)) => self.eval(body),
            _ => Some(FULL),
        }
    }

    fn call(&mut self, name: &Name, arguments: &[super::ast::ExprRef]) -> Option<Interval> {
        let channel = arguments.first().and_then(|channel| match &channel.kind {
            ExprKind::Name(name) | ExprKind::Index(name, _) => {
                self.scope.channel_by_name.get(name).copied()
            }
            _ => None,
        });
        match (&**name, channel) {
            ("cfull" | "cempty", _) => return Some((0, 1)),
            ("ccount" | "csize", Some(channel)) => {
                return Some((0, self.scope.channels[channel].size));
            }
            ("cpeek", Some(channel)) => {
                let values = self.ranges.messages[channel]
                    .iter()
                    .filter_map(|m| m.values);
                return values.reduce(join).map(|values| join(values, (0, 0)));
            }
            _ => {}
        }
        let Some(decl) = self.scope.macros.get(name) else {
            return Some(FULL);
        };
        let MacroBody::Expr(body) = &decl.body else {
            return Some(FULL);
        };
        let n_locals = self.locals.len();
        let values: Vec<_> = arguments
            .iter()
            .map(|argument| self.eval(argument))
            .collect();
        let names = decl.parameters.iter().map(|p| p.text.clone());
        self.locals.extend(names.zip(values));
        let result = self.eval(body);
        self.locals.truncate(n_locals);
        result
    }
}

/// The name that a component of a receive binds, unless it is a value to be matched.
pub(crate) fn binder<'e>(scope: &Scope, pattern: &'e Expr) -> Option<&'e Name> {
    match &pattern.kind {
        ExprKind::Name(name) if !scope.constants.contains_key(name) => Some(name),
        _ => None,
    }
}

fn innermost(expr: &Expr) -> &Expr {
    match &expr.kind {
        ExprKind::Assign(_, value) => innermost(value),
        _ => expr,
    }
}

fn negated(op: BinaryOp) -> Option<BinaryOp> {
    Some(match op {
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Ge,
        BinaryOp::Le => BinaryOp::Gt,
        BinaryOp::Gt => BinaryOp::Le,
        BinaryOp::Ge => BinaryOp::Lt,
        _ => return None,
    })
}

fn operate(op: BinaryOp, a: Interval, b: Interval) -> Interval {
    let corners = |f: fn(i64, i64) -> i64| {
        let values = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
        let lo = values.into_iter().min().unwrap_or(0);
        (lo, values.into_iter().max().unwrap_or(0))
    };
    match op {
        BinaryOp::Add => (a.0.saturating_add(b.0), a.1.saturating_add(b.1)),
        BinaryOp::Sub => (a.0.saturating_sub(b.1), a.1.saturating_sub(b.0)),
        BinaryOp::Mul => corners(i64::saturating_mul),
        BinaryOp::Div if b.0 > 0 => corners(|x, y| x / y),
        BinaryOp::Rem if b.0 > 0 => {
            let lo = if a.0 >= 0 { 0 } else { (1 - b.1).max(a.0) };
            (lo, if a.1 <= 0 { 0 } else { a.1.min(b.1 - 1) })
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor if a.0 >= 0 && b.0 >= 0 => {
            let most = a.1.max(b.1).max(1) as u64;
            (0, (most + 1).next_power_of_two() as i64 - 1)
        }
        BinaryOp::Div | BinaryOp::Rem => {
            let most = a.0.abs().max(a.1.abs());
            (-most, most)
        }
        BinaryOp::BitAnd | BinaryOp::BitOr | BinaryOp::BitXor => FULL,
        _ => (0, 1),
    }
}

fn assigned_names(statement: &Stmt, names: &mut HashSet<Name>) {
    match &statement.kind {
        StmtKind::Block(inner) => inner.iter().for_each(|s| assigned_names(s, names)),
        StmtKind::If(_, then, otherwise) => {
            assigned_names(then, names);
            if let Some(otherwise) = otherwise {
                assigned_names(otherwise, names);
            }
        }
        StmtKind::While(_, body) => assigned_names(body, names),
        StmtKind::Expr(expr) => visit_names(expr, &mut |name| {
            names.insert(name.clone());
        }),
        StmtKind::Local(..) | StmtKind::Empty => {}
    }
}

/// Calls `visit` with every name of variables and parameters in an expression, and with the names
/// of macros and channels.
pub(crate) fn visit_names(expr: &Expr, visit: &mut dyn FnMut(&Name)) {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) => {}
        ExprKind::Name(name) => visit(name),
        ExprKind::Index(name, indices) => {
            visit(name);
            indices.iter().for_each(|index| visit_names(index, visit));
        }
        ExprKind::Not(inner) | ExprKind::Neg(inner) | ExprKind::Increment(inner, _) => {
            visit_names(inner, visit);
        }
        ExprKind::Binary(_, left, right) | ExprKind::Assign(left, right) => {
            visit_names(left, visit);
            visit_names(right, visit);
        }
        ExprKind::Indexed(_, indices, body) => {
            for index in indices {
                match &index.values {
                    IndexValues::Range(lo, hi) => {
                        visit_names(lo, visit);
                        visit_names(hi, visit);
                    }
                    IndexValues::List(list) => list.iter().for_each(|e| visit_names(e, visit)),
                }
            }
            let bound = |name: &Name| indices.iter().any(|index| index.name.text == *name);
            let mut inner = Vec::new();
            visit_names(body, &mut |name| inner.push(name.clone()));
            inner.iter().filter(|name| !bound(name)).for_each(visit);
        }
        ExprKind::Call(name, arguments) => {
            visit(&name.text);
            arguments
                .iter()
                .for_each(|argument| visit_names(argument, visit));
        }
    }
}

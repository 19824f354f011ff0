//! Running through processes and programs with intervals for values.

use std::collections::{BTreeSet, HashMap, HashSet};

use super::{Evaluation, FULL, Form, Interval, Ranges, Shape, binder, join, visit_names};
use crate::ast::{
    Action, BinaryOp, ChoiceKind, Expr, ExprKind, ExprRef, IfKind, IndexDef, IndexValues,
    IndexedOp, MacroBody, Prefix, Proc, ProcKind, Stmt, StmtKind,
};
use crate::lexer::Name;
use crate::scope::{Scope, Ty};

/// What is known of variables at a point of a program or behind a guard.
pub(super) type Overlay = HashMap<Name, Interval>;

pub(super) struct RangeWalk<'a> {
    scope: &'a Scope,
    ranges: &'a mut Ranges,
    def: usize,
    /// Local variables of programs and parameters of macros, innermost last.
    locals: Vec<(Name, Option<Interval>)>,
    depth: usize,
}

impl<'a> RangeWalk<'a> {
    pub(super) fn new(scope: &'a Scope, ranges: &'a mut Ranges, def: usize) -> Self {
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

    pub(super) fn process(&mut self, proc: &Proc, known: &Overlay) {
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
            self.ranges.join_shapes(key.clone(), [None]);
            self.ranges.join_name(key, values, false);
        }
    }

    fn call(&mut self, name: &Name, arguments: &[ExprRef], known: &Overlay) {
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
            let shapes = self.shapes(argument);
            self.ranges.join_shapes(key.clone(), shapes);
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
                for form in self.forms(values) {
                    self.ranges.changed |= self.ranges.forms[channel].insert(form);
                }
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
                        let forms = self.ranges.forms[channel].iter();
                        let fitting = forms.filter(|form| form.len() == patterns.len());
                        let shapes: Vec<Shape> = fitting.map(|form| form[component]).collect();
                        self.ranges.join_shapes(key.clone(), shapes);
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

    /// The shapes of what an expression stands for.
    fn shapes(&self, expr: &Expr) -> BTreeSet<Shape> {
        let ExprKind::Name(name) = &expr.kind else {
            return BTreeSet::from([None]);
        };
        let key = (self.def, name.clone());
        if self.ranges.names.contains_key(&key) {
            return self.ranges.shapes.get(&key).cloned().unwrap_or_default();
        }
        let var = self.scope.var_by_name.get(name);
        let dimensions = var.map_or(&[][..], |var| &self.scope.vars[*var].dimensions);
        let n_cells: i64 = dimensions.iter().product();
        BTreeSet::from([(!dimensions.is_empty()).then_some(n_cells as usize)])
    }

    /// The forms of a message with these components.
    fn forms(&self, values: &[ExprRef]) -> Vec<Form> {
        let mut forms = vec![Form::new()];
        for value in values {
            let shapes = self.shapes(value);
            let longer = |form: &Form| -> Vec<Form> {
                let with = |shape: &Shape| form.iter().chain([shape]).copied().collect();
                shapes.iter().map(with).collect()
            };
            forms = forms.iter().flat_map(longer).collect();
        }
        forms
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
                    Some(value) => self.assigned(value, state).0,
                    None => Some((0, 0)),
                };
                self.locals.push((name.text.clone(), values));
            }
            StmtKind::Clear(name) => {
                state.remove(name);
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
            StmtKind::Empty
            | StmtKind::Fail(_)
            | StmtKind::LocalArray(..)
            | StmtKind::LocalObject(_) => {}
        }
    }

    /// The values and the type of the right side of an assignment; it may be the call of a program.
    fn assigned(&mut self, value: &Expr, state: &mut Overlay) -> (Option<Interval>, Ty) {
        if let ExprKind::Call(name, arguments) = &value.kind
            && let Some(decl) = self.scope.macros.get(&name.text)
            && let MacroBody::Block(_) = &decl.body
        {
            return (self.block_macro(&name.text, arguments, state), Ty::Any);
        }
        (self.eval(value, state), self.type_of(value))
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
                let (values, ty) = self.assigned(innermost(value), state);
                self.assign(target, values, ty, state);
            }
            ExprKind::Increment(target, by) => {
                let values = self.eval(target, state).map(|(lo, hi)| (lo + by, hi + by));
                self.assign(target, values, Ty::Int, state);
            }
            ExprKind::Name(name) => {
                self.block_macro(name, &[], state);
            }
            ExprKind::Call(name, arguments) => {
                self.block_macro(&name.text, arguments, state);
            }
            _ => {}
        }
    }

    /// Runs through a macro; says which values its result has.
    fn block_macro(
        &mut self,
        name: &Name,
        arguments: &[ExprRef],
        state: &mut Overlay,
    ) -> Option<Interval> {
        let decl = self.scope.macros.get(name)?;
        // Macros nested as deep as this are refused later.
        if self.depth > 60 {
            return Some(FULL);
        }
        self.depth += 1;
        let n_locals = self.locals.len();
        let values: Vec<_> = arguments.iter().map(|e| self.eval(e, state)).collect();
        self.locals.push(("result".into(), Some((0, 0))));
        let named = decl.parameters.iter().map(|p| p.text.clone());
        self.locals.extend(named.zip(values));
        match &decl.body {
            MacroBody::Block(program) => self.statements(program, state),
            MacroBody::Expr(body) => self.effect(body, state),
        }
        let result = self.locals[n_locals].1;
        self.locals.truncate(n_locals);
        self.depth -= 1;
        result
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

        // Numbers that data is compared with or becomes are where widening stops.
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
        StmtKind::Local(_, Some(value)) => visit_names(value, &mut |name| {
            names.insert(name.clone());
        }),
        StmtKind::Clear(name) => {
            names.insert(name.clone());
        }
        StmtKind::Local(_, None)
        | StmtKind::Empty
        | StmtKind::Fail(_)
        | StmtKind::LocalArray(..)
        | StmtKind::LocalObject(_) => {}
    }
}

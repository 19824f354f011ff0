//! Variables with their initial values, channels and events.

use base::{Diagnostic, Span};
use model::{
    ArrayType, BinaryOp, Channel, ChannelId, Event, EventId, Expr, Initial, Owner, Place,
    ProcessId, Scalar, Type, VarId, Variable,
};

use super::constants::literal;
use super::names::{Global, Local, Ty, Value, bare};
use super::open::{closed_part, is_open};
use super::types::ty_of;
use super::{Lowerer, MAX_EXPANSION};
use crate::ast::{self, ChanDecl, ExprKind, Ident, TypeExpr, VarDecl};

impl<'a> Lowerer<'a> {
    /// Declares variables, global or local to `owner`.
    pub(super) fn variables(&mut self, decl: &'a VarDecl, owner: Option<ProcessId>) {
        let ty = self.ty(&decl.ty);
        for name in &decl.names {
            let Some(ty) = &ty else {
                if owner.is_none() {
                    self.declare_global(name, Global::Broken);
                }
                continue;
            };
            self.variable(name, ty, decl, owner);
        }
    }

    fn variable(
        &mut self,
        name: &'a Ident,
        ty: &Type,
        decl: &'a VarDecl,
        owner: Option<ProcessId>,
    ) {
        let n_instances = owner.map_or(1, |process| self.n_instances(process));
        let n_cells = if is_open(ty) {
            1
        } else {
            ty.n_cells(&self.parts.records).saturating_mul(n_instances)
        };
        if self.spend(n_cells, 0, name.span).is_none() {
            return;
        }

        // Where a variable may start with anything, all integers are among its values.
        let is_any = |expr: &ast::Expr| matches!(expr.kind, ExprKind::Any);
        let widened = widened(ty);
        let ty = if decl.initial.as_ref().is_some_and(is_any) {
            &widened
        } else {
            ty
        };

        let id = VarId::new(self.parts.vars.len());
        let initial = match (&decl.initial, ty) {
            (None, _) => Some(self.default_initial(ty)),
            (Some(expr), Type::Array(array))
                if is_open(ty) && matches!(expr.kind, ExprKind::Comprehension(..)) =>
            {
                self.open_comprehension(id, expr, array)
            }
            (Some(expr), _) if self.start_at_parameter(id, expr, &widened, owner) => {
                Some(Initial::Any)
            }
            (Some(expr), _) => self.initial(expr, ty),
        };

        let indices = self.enumerations_of(&decl.ty);
        if indices.iter().any(Option::is_some) {
            self.parts.shown.arrays.push((id, indices));
        }

        let wrong = initial.is_none();
        let text = match owner {
            Some(_) => bare(&name.text),
            None => &name.text,
        };

        self.parts.vars.push(Variable {
            name: text.to_owned(),
            ty: match initial {
                Some(Initial::Any) => widened,
                _ => ty.clone(),
            },
            owner,
            initial: initial.unwrap_or(Initial::Any),
            span: name.span,
        });

        match owner {
            Some(process) => self.declare_local(process, name, Local::Var(id)),
            None => self.declare_global(name, Global::Var(id)),
        }

        debug_assert!(!wrong || self.has_errors());
    }

    /// Has a variable a value that depends on a parameter that has none, and has it room for all
    /// of these values? Then that is a constraint on initial states, which excludes no value of the
    /// parameter.
    fn start_at_parameter(
        &mut self,
        id: VarId,
        expr: &'a ast::Expr,
        ty: &Type,
        owner: Option<ProcessId>,
    ) -> bool {
        let is_single = |process: ProcessId| self.parts.processes[process.index()].index.is_none();
        let Type::Scalar(Scalar::Range(lo, i64::MAX)) = ty else {
            return false;
        };
        if !owner.is_none_or(is_single) {
            return false;
        }
        // What is wrong with the value is reported where it is taken for a constant.
        let n_reported = self.diagnostics.len();
        let found = self.scalar(expr, Some(Ty::Int));
        self.diagnostics.truncate(n_reported);
        let Some((value, Ty::Int)) = found else {
            return false;
        };

        let has_room = |place: &Place| {
            let parameter = &self.parts.vars[place.var.index()].ty;
            matches!(parameter, Type::Scalar(Scalar::Range(least, _)) if least >= lo)
        };
        let mut read = Vec::new();
        value.for_each_read(&mut |place| read.push(place));
        let is_parameter = |place: &&Place| self.data_parameters.contains(&place.var);
        let fits = *lo == i64::MIN || value.as_read().is_some_and(has_room);
        if read.is_empty() || !read.iter().all(is_parameter) || !fits {
            return false;
        }

        let start = Expr::Read(Place {
            var: id,
            owner: owner.map(|_| Owner::Single),
            path: Vec::new(),
        });
        let equation = Expr::binary(BinaryOp::Eq, start, value);
        self.parts.init.push(equation);
        true
    }

    /// What the indices of a type number, from the outermost on.
    fn enumerations_of(&mut self, ty: &'a TypeExpr) -> Vec<Option<model::EnumId>> {
        let mut indices = Vec::new();
        let mut inner = ty;
        loop {
            inner = match &inner.kind {
                ast::TypeKind::Array(lo, _, element) => {
                    indices.push(self.ty_of_domain(lo).enumeration());
                    element
                }
                ast::TypeKind::Counted(element, _) => {
                    indices.push(None);
                    element
                }
                _ => return indices,
            };
        }
    }

    pub(super) fn n_instances(&self, process: ProcessId) -> usize {
        let range = self.parts.processes[process.index()].index;
        range
            .filter(|range| model::as_open_end(range.hi).is_none())
            .map_or(1, |range| (range.hi - range.lo + 1).max(0) as usize)
    }

    pub(super) fn declare_local(&mut self, process: ProcessId, name: &'a Ident, local: Local<'a>) {
        let locals = &mut self.processes[process.index()].locals;
        let previous = locals.get(name.text.as_str()).map(|entry| entry.1);
        match previous {
            Some(first) => self.report_duplicate(name, first),
            None => {
                locals.insert(&name.text, (local, name.span));
            }
        }
    }

    /// False; 0 or else the least value; the first value of an enumeration.
    pub(super) fn default_initial(&self, ty: &Type) -> Initial {
        let mut values = Vec::new();
        closed_part(ty).for_each_cell(&self.parts.records, "", &mut |_, scalar| {
            values.push(literal(scalar.default_value(), ty_of(scalar)));
        });
        Initial::Values(values)
    }

    fn initial(&mut self, expr: &'a ast::Expr, ty: &Type) -> Option<Initial> {
        if matches!(expr.kind, ExprKind::Any) {
            if self.has_sequence(ty) {
                let message = "a sequence, option, bag or map cannot start with any value";
                let help = "start with `[]`, `none` or `{}`, and let a step choose";
                self.report(Diagnostic::error("any-sequence", expr.span, message).help(help));
                return None;
            }
            let mut unbounded = false;
            let mut visit = |_, scalar| unbounded |= scalar == Scalar::Int;
            closed_part(ty).for_each_cell(&self.parts.records, "", &mut visit);
            if unbounded {
                let message = "`int` has no bounds, so the variable cannot start with any value";
                let help = "give it a range such as `0..7`";
                self.report(Diagnostic::error("unbounded-any", expr.span, message).help(help));
                return None;
            }
            return Some(Initial::Any);
        }

        let mut values = Vec::new();
        self.stored_values(expr, closed_part(ty), &mut values)?;
        for value in &values {
            if value.mentions_state() {
                let message = "an initial value must not depend on the state";
                self.report(
                    Diagnostic::error("not-constant", expr.span, message)
                        .help("constrain initial states with `init <condition>` instead"),
                );
                return None;
            }
        }

        Some(Initial::Values(values))
    }

    /// The values of all cells of something of type `ty` that `expr` describes: a list, a
    /// comprehension, a record, a variable of the same type, or one value for all cells.
    pub(super) fn cell_values(
        &mut self,
        expr: &'a ast::Expr,
        ty: &Type,
        values: &mut Vec<Expr>,
    ) -> Option<()> {
        self.spend(1, 1, expr.span)?;
        self.depth += 1;
        let done = self.cell_values_here(expr, ty, values);
        self.depth -= 1;
        done
    }

    fn cell_values_here(
        &mut self,
        expr: &'a ast::Expr,
        ty: &Type,
        values: &mut Vec<Expr>,
    ) -> Option<()> {
        if let Some(special) = self.special(ty)
            && let Some(cells) = self.special_cells(expr, ty, &special)
        {
            values.extend(cells?);
            return Some(());
        }

        // Conditionals and definitions have cells; of single values they are ordinary expressions.
        let is_single = matches!(ty, Type::Scalar(_));
        if let ExprKind::If(condition, then, otherwise) = &expr.kind
            && !is_single
        {
            return self.cells_of_cases(condition, (then, otherwise), ty, values);
        }
        if let Some((def, arguments)) = self.used_definition(expr).filter(|_| !is_single) {
            return self.with_arguments(def, arguments, expr.span, |lowerer| {
                lowerer.cell_values(&def.body, ty, values)
            });
        }

        match (&expr.kind, ty) {
            (ExprKind::Array(elements), Type::Array(array)) => {
                if elements.len() != array.len {
                    self.wrong_length(expr.span, array.len, elements.len());
                    return None;
                }
                for element in elements {
                    self.cell_values(element, &array.element, values)?;
                }
                Some(())
            }
            (ExprKind::Comprehension(name, lo, hi, body), Type::Array(array)) => {
                let lo_expr = &**lo;
                self.check_indices(lo_expr)?;
                let (lo, hi) = self.constant_range(lo, hi, MAX_EXPANSION)?;
                let length = (hi - lo + 1).max(0) as usize;
                if length != array.len {
                    self.wrong_length(expr.span, array.len, length);
                    return None;
                }
                let index_ty = self.ty_of_domain(lo_expr);
                for value in lo..=hi {
                    let binding = self.constant_binding(&name.text, value, index_ty);
                    self.scope.push(binding);
                    let done = self.cell_values(body, &array.element, values);
                    self.scope.pop();
                    done?;
                }
                Some(())
            }
            (ExprKind::Call(function, arguments), Type::Record(id))
                if self.is_record(function, *id) =>
            {
                let fields = self.parts.records[id.index()].fields.clone();
                if fields.len() != arguments.len() {
                    self.wrong_length(expr.span, fields.len(), arguments.len());
                    return None;
                }
                for (argument, (_, ty)) in arguments.iter().zip(&fields) {
                    self.cell_values(argument, ty, values)?;
                }
                Some(())
            }
            (ExprKind::Array(_) | ExprKind::Comprehension(..), _) => {
                let message = "only an array can have a list as its value";
                self.report(Diagnostic::error("type-mismatch", expr.span, message));
                None
            }
            (_, Type::Scalar(scalar)) => {
                values.push(self.value_for(expr, *scalar)?);
                Some(())
            }
            _ => self.broadcast_or_copy(expr, ty, values),
        }
    }

    /// Cell by cell, one of two values.
    fn cells_of_cases(
        &mut self,
        condition: &'a ast::Expr,
        (then, otherwise): (&'a ast::Expr, &'a ast::Expr),
        ty: &Type,
        values: &mut Vec<Expr>,
    ) -> Option<()> {
        let condition = self.bool_expr(condition)?;
        let (mut yes, mut no) = (Vec::new(), Vec::new());
        self.cell_values(then, ty, &mut yes)?;
        self.cell_values(otherwise, ty, &mut no)?;

        // Each cell repeats the condition, so that its size counts once for each.
        self.spend(
            yes.len() * super::fresh::measure(&condition).1,
            0,
            then.span,
        )?;

        for (yes, no) in yes.into_iter().zip(no) {
            let condition = self.copy_of(&condition);
            let [condition, yes, no] = [condition, yes, no].map(Box::new);
            values.push(Expr::Ite(condition, yes, no));
        }
        Some(())
    }

    /// The definition that an expression is a use of.
    fn used_definition(&self, expr: &'a ast::Expr) -> Option<(&'a ast::Def, &'a [ast::Expr])> {
        match &expr.kind {
            ExprKind::Name(name) => Some((self.definition_of(name)?, &[])),
            ExprKind::Call(function, arguments) => match &function.kind {
                ExprKind::Name(name) => Some((self.definition_of(name)?, arguments)),
                _ => None,
            },
            _ => None,
        }
    }

    fn is_record(&self, function: &ast::Expr, id: model::RecordId) -> bool {
        match &function.kind {
            ExprKind::Name(name) => matches!(self.global(name), Some(Global::Record(r)) if r == id),
            _ => false,
        }
    }

    fn wrong_length(&mut self, span: Span, wanted: usize, found: usize) {
        let message = format!("{wanted} components are needed, {found} are given");
        self.report(Diagnostic::error("wrong-length", span, message));
    }

    fn broadcast_or_copy(
        &mut self,
        expr: &'a ast::Expr,
        ty: &Type,
        values: &mut Vec<Expr>,
    ) -> Option<()> {
        if is_open(ty) {
            self.report_open_array(expr.span);
            return None;
        }

        match self.operand(expr, None)? {
            Value::Composite(place, other) if other == *ty => {
                self.spend(ty.n_cells(&self.parts.records), 0, expr.span)?;
                let cells = super::effect::cells_of(&place, ty, &self.parts.records);
                values.extend(cells.into_iter().map(|(place, _)| Expr::Read(place)));
                Some(())
            }
            Value::Cells(cells, other) if other == *ty => {
                values.extend(cells);
                Some(())
            }
            Value::Scalar(..) if self.special(ty).is_some() => {
                let message = "a single value is not a set, sequence or option";
                let help = "write `{x}`, `[x]` or `some(x)`";
                self.report(Diagnostic::error("type-mismatch", expr.span, message).help(help));
                None
            }
            Value::Composite(..) | Value::Cells(..) => {
                let message = "this has another type than what it is assigned to";
                self.report(Diagnostic::error("type-mismatch", expr.span, message));
                None
            }
            Value::Scalar(..) => {
                let mut scalars = Vec::new();
                ty.for_each_cell(&self.parts.records, "", &mut |_, s| scalars.push(s));
                self.spend(scalars.len(), 0, expr.span)?;
                for scalar in scalars {
                    values.push(self.value_for(expr, scalar)?);
                }
                Some(())
            }
        }
    }

    /// A value for a cell of type `scalar`; a constant outside the type is reported.
    pub(super) fn value_for(&mut self, expr: &'a ast::Expr, scalar: Scalar) -> Option<Expr> {
        let value = self.scalar_of(expr, ty_of(scalar))?;
        let constant = value
            .as_literal()
            .filter(|_| ty_of(scalar) == super::names::Ty::Int);
        if let Some(value) = constant.filter(|value| !scalar.contains(*value)) {
            let (lo, hi) = scalar.bounds();
            let message = format!("the value {value} is outside the range {lo}..{hi}");
            self.report(Diagnostic::error("out-of-range", expr.span, message));
            return None;
        }
        Some(value)
    }

    pub(super) fn channel(&mut self, decl: &'a ChanDecl) {
        let channel = self.channel_of(decl);
        self.declare_global(&decl.name, channel.unwrap_or(Global::Broken));
    }

    fn channel_of(&mut self, decl: &'a ChanDecl) -> Option<Global<'a>> {
        let types: Vec<_> = decl
            .payload
            .iter()
            .map(|ty| self.message_type(ty))
            .collect();
        let indices = match &decl.indices {
            None => None,
            Some((lo, hi)) => {
                self.check_indices(lo)?;
                let (first, last) = self.constant_range(lo, hi, 100_000)?;
                if first > last {
                    let message = format!("the range {first}..{last} is empty");
                    let span = lo.span.to(hi.span);
                    self.report(Diagnostic::error("empty-range", span, message));
                    return None;
                }
                Some((first, last))
            }
        };

        let capacity = match &decl.capacity {
            None => 0,
            Some(expr) => {
                let capacity = self.constant_int(expr)?;
                usize::try_from(capacity)
                    .ok()
                    .filter(|c| *c <= 1_000_000)
                    .or_else(|| {
                        let message = format!("a channel cannot hold {capacity} messages");
                        self.report(Diagnostic::error("capacity", expr.span, message));
                        None
                    })?
            }
        };

        let types = types.into_iter().collect::<Option<Vec<_>>>()?;
        if capacity > 0 && self.buffered.contains(decl.name.text.as_str()) {
            return self.buffer(decl, capacity, types, indices);
        }

        // Arrays, records and sets are sent as their cells.
        let mut payload = Vec::new();
        for ty in &types {
            ty.for_each_cell(&self.parts.records, "", &mut |_, scalar| {
                payload.push(scalar);
            });
        }
        self.channel_types.push(types);
        self.parts.channels.push(Channel {
            name: decl.name.text.clone(),
            indices,
            capacity,
            payload,
            span: decl.name.span,
        });
        let id = ChannelId::new(self.parts.channels.len() - 1);
        Some(Global::Chan(id))
    }

    pub(super) fn event(&mut self, name: &'a Ident, arguments: &'a [TypeExpr]) {
        let types: Vec<_> = arguments.iter().map(|ty| self.scalar_type(ty)).collect();
        let global = match types.into_iter().collect::<Option<Vec<_>>>() {
            None => Global::Broken,
            Some(types) => {
                self.event_types.push(types);
                self.parts.events.push(Event {
                    name: name.text.clone(),
                    span: name.span,
                });
                Global::Event(EventId::new(self.parts.events.len() - 1))
            }
        };
        self.declare_global(name, global);
    }
}

/// A type in which all integers are a range, so that a variable may start with any of them.
fn widened(ty: &Type) -> Type {
    match ty {
        Type::Scalar(Scalar::Int) => Type::Scalar(Scalar::Range(i64::MIN, i64::MAX)),
        Type::Array(array) => Type::Array(Box::new(ArrayType {
            element: widened(&array.element),
            ..(**array).clone()
        })),
        Type::Scalar(_) | Type::Record(_) => ty.clone(),
    }
}

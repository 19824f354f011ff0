//! Names, components, calls and locations.

use base::{Diagnostic, Span};
use model::{Access, BinaryOp, EnumId, Expr, LocationId, Owner, Place, ProcessId, Type, VarId};

use super::Lowerer;
use super::constants::{literal, simplify};
use super::fresh;
use super::names::{Binding, Global, Local, Ty, Value, bare, index_pattern};
use super::types::ty_of;
use super::values::Special;
use crate::ast::{self, Def, ExprKind, Ident};

impl<'a> Lowerer<'a> {
    /// A bare name: innermost bound name, local, global, value of an enumeration.
    pub(super) fn name(
        &mut self,
        name: &'a str,
        span: Span,
        expected: Option<Ty>,
    ) -> Option<Value> {
        if let Some(binding) = self.binding(name).cloned() {
            self.spend(binding.size.1, binding.size.0, span)?;
            return Some(self.fresh_copy(binding.value));
        }

        match self.local(name) {
            Some(Local::Var(id)) => {
                let owner = Some(Owner::Own);
                return Some(self.variable_value(id, owner));
            }
            Some(Local::Def(def)) => return self.expand(def, &[], span),
            None => {}
        }

        let variants = self.variants_named(name);
        if let Some(variants) = variants {
            let fits = |entry: &&(EnumId, u32)| expected == Some(Ty::Enum(entry.0));
            return match variants.iter().find(fits).or(match variants {
                [only] => Some(only),
                _ => None,
            }) {
                Some(&(id, n)) => {
                    self.resolution.found_variant(name, id, n);
                    Some(Value::Scalar(Expr::Enum(id, n), Ty::Enum(id)))
                }
                None => self.report_ambiguous(name, span),
            };
        }

        match self.global(name) {
            Some(Global::Const(value, ty)) => Some(Value::Scalar(literal(value, ty), ty)),
            Some(Global::Parameter(bound)) => Some(Value::Scalar(Expr::Bound(bound), Ty::Int)),
            Some(Global::Var(id)) => Some(self.variable_value(id, None)),
            Some(Global::Def(def)) => self.expand(def, &[], span),
            Some(Global::Broken) => None,
            Some(Global::Event(_)) => self.report_step_proposition(span),
            Some(other) => {
                let message = format!("`{name}` is {}, not a value", other.describe());
                let mut diagnostic = Diagnostic::error("not-a-value", span, message);
                if let Global::Process(_) = other {
                    diagnostic = diagnostic.help(format!(
                        "write `{name} @ location`, or `{name}.x` for a local variable"
                    ));
                }
                self.report(diagnostic);
                None
            }
            None => {
                self.report_unknown(name, span);
                None
            }
        }
    }

    fn report_ambiguous(&mut self, name: &str, span: Span) -> Option<Value> {
        let owners = self.variants[name].iter();
        let names: Vec<String> = owners
            .map(|(id, _)| format!("`{}.{}`", self.parts.enums[id.index()].name, bare(name)))
            .collect();
        let message = format!("`{name}` is a value of several enumerations");
        let help = format!("write {}", names.join(" or "));
        self.report(Diagnostic::error("ambiguous-name", span, message).help(help));
        None
    }

    /// A copy whose binders are its own.
    pub(super) fn fresh_copy(&mut self, value: Value) -> Value {
        match value {
            Value::Scalar(mut expr, ty) if fresh::has_binder(&expr) => {
                let bounds = &mut self.parts.bounds;
                fresh::rename(&mut expr, &mut |old| {
                    let name = bounds[old.index()].clone();
                    bounds.push(name);
                    model::BoundId::new(bounds.len() - 1)
                });
                Value::Scalar(expr, ty)
            }
            Value::Cells(cells, ty) => {
                let cells = cells.iter().map(|cell| self.copy_of(cell)).collect();
                Value::Cells(cells, ty)
            }
            value => value,
        }
    }

    fn variable_value(&mut self, var: VarId, owner: Option<Owner>) -> Value {
        self.uses.read(var);
        let ty = self.parts.vars[var.index()].ty.clone();
        let path = Vec::new();
        place_value(Place { var, owner, path }, ty)
    }

    /// `a[i]`.
    pub(super) fn index(
        &mut self,
        base: &'a ast::Expr,
        index: &'a ast::Expr,
        span: Span,
    ) -> Option<Value> {
        if let Some(process) = self.process_named(base) {
            let message = "a process is not a value";
            let name = &self.parts.processes[process.index()].name;
            let help = format!("write `{name}[i] @ location`, or `{name}[i].x` for a variable");
            self.report(Diagnostic::error("not-a-value", span, message).help(help));
            return None;
        }

        let whole = self.operand(base, None);
        if let Some(Value::Composite(place, ty)) = &whole
            && let Some(Special::Map(key, value)) = self.special(ty)
        {
            return self.map_value(place, index, &key, value);
        }
        let index_expr = self.position(index);
        let (whole, index_expr) = (whole?, index_expr?);
        if let Value::Cells(cells, ty) = &whole {
            return self.index_of_cells(cells, ty, &index_expr, base.span);
        }
        if let Value::Composite(place, ty) = &whole
            && let Some(Special::Sequence(..)) = self.special(ty)
        {
            return self.item_at(place.clone(), ty, index_expr);
        }
        let Value::Composite(mut place, Type::Array(array)) = whole else {
            let message = "only arrays, processes and arrays of channels have an index";
            self.report(Diagnostic::error("not-an-array", base.span, message));
            return None;
        };

        // An index that is known to be outside is an error of the text already, not only of a run.
        if let Some(value) = self.fixed_index(&index_expr, index)
            && !model::is_unbounded_array(&array)
        {
            let last = array.lo + array.len as i64 - 1;
            if !(array.lo..=last).contains(&value) {
                let message = format!("the index {value} is outside {}..{last}", array.lo);
                self.report(Diagnostic::error("index-out-of-range", index.span, message));
                return None;
            }
        }
        place.path.push(Access::Index(index_expr));
        Some(place_value(place, array.element))
    }

    /// The value that belongs to a key. Without the key it is a run-time error.
    fn map_value(
        &mut self,
        whole: &Place,
        key: &'a ast::Expr,
        key_ty: &Type,
        value: Type,
    ) -> Option<Value> {
        let key = self.element_cells(key, key_ty)?;
        let is_there = Expr::Read(self.place_of((whole, 0), &key, key_ty));
        let mut place = self.place_of((whole, 1), &key, key_ty);
        let slot = super::values::choice(is_there, Expr::Int(0), Expr::Int(1));
        place.path.push(Access::Index(slot));
        Some(place_value(place, value))
    }

    /// An element of an array that is not a variable.
    fn index_of_cells(
        &mut self,
        cells: &[Expr],
        ty: &Type,
        index: &Expr,
        span: Span,
    ) -> Option<Value> {
        if let (Type::Array(array), Some(index)) = (ty, index.as_literal())
            && (array.lo..array.lo + array.len as i64).contains(&index)
        {
            let n_cells = array.element.n_cells(&self.parts.records);
            let first = (index - array.lo) as usize * n_cells;
            let part = cells[first..first + n_cells].to_vec();
            return Some(cells_value(part, array.element.clone()));
        }
        let message = "only elements of variables can be read";
        let help = "assign it to a variable first";
        self.report(Diagnostic::error("not-a-variable", span, message).help(help));
        None
    }

    /// A number, or a value of an enumeration, which stands for its position.
    pub(super) fn position(&mut self, index: &'a ast::Expr) -> Option<Expr> {
        match self.scalar(index, None)? {
            (expr, Ty::Int | Ty::Enum(_)) => Some(expr),
            (_, Ty::Bool) => self.int_expr(index),
        }
    }

    /// `r.f`, `P[i].x`, `Color.red`.
    pub(super) fn field(&mut self, base: &'a ast::Expr, field: &'a Ident) -> Option<Value> {
        if let ExprKind::Name(name) = &base.kind
            && let Some(Global::Enum(id)) = self.unshadowed(name)
        {
            return self.qualified_variant(id, field);
        }
        if let Some((process, owner)) = self.process_reference(base) {
            return self.foreign_variable(process, owner?, field);
        }

        let whole = self.operand(base, None)?;
        let is_special = match &whole {
            Value::Composite(_, ty) | Value::Cells(_, ty) => self.special(ty).is_some(),
            Value::Scalar(..) => false,
        };
        let (Value::Composite(_, Type::Record(id)) | Value::Cells(_, Type::Record(id))) = whole
        else {
            let message = "only records and processes have components";
            self.report(Diagnostic::error("not-a-record", base.span, message));
            return None;
        };
        if is_special {
            let message = "sets, bags, maps, sequences and options have no components";
            self.report(Diagnostic::error("not-a-record", base.span, message));
            return None;
        }

        let record = &self.parts.records[id.index()];
        let position = record
            .fields
            .iter()
            .position(|(name, _)| *name == field.text);
        let Some(position) = position else {
            let message = format!("`{}` has no component `{}`", record.name, field.text);
            let names = record.fields.iter().map(|(name, _)| name.as_str());
            let meant = base::closest_name(&field.text, names).map(str::to_owned);
            self.report_with_guess("unknown-field", field.span, message, meant);
            return None;
        };

        self.resolution.found_field(&field.text, id, position);
        let ty = record.fields[position].1.clone();
        match whole {
            Value::Composite(mut place, _) => {
                place.path.push(Access::Field(position));
                Some(place_value(place, ty))
            }
            Value::Cells(cells, _) => {
                let before = record.fields[..position].iter();
                let records = &self.parts.records;
                let first: usize = before.map(|(_, ty)| ty.n_cells(records)).sum();
                let part = cells[first..first + ty.n_cells(records)].to_vec();
                Some(cells_value(part, ty))
            }
            Value::Scalar(..) => None,
        }
    }

    pub(super) fn report_with_guess(
        &mut self,
        code: &'static str,
        span: Span,
        message: String,
        meant: Option<String>,
    ) {
        let mut diagnostic = Diagnostic::error(code, span, message);
        if let Some(meant) = meant {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }
        self.report(diagnostic);
    }

    /// What a name means if no bound name or local hides it.
    pub(super) fn unshadowed(&self, name: &str) -> Option<Global<'a>> {
        if self.binding(name).is_some() || self.local(name).is_some() {
            return None;
        }
        self.global(name)
    }

    fn qualified_variant(&mut self, id: EnumId, variant: &Ident) -> Option<Value> {
        let description = &self.parts.enums[id.index()];
        let position = description.variants.iter().position(|v| *v == variant.text);
        match position {
            Some(n) => {
                self.resolution.found_variant(&variant.text, id, n as u32);
                Some(Value::Scalar(Expr::Enum(id, n as u32), Ty::Enum(id)))
            }
            None => {
                let message = format!("`{}` has no value `{}`", description.name, variant.text);
                let names = description.variants.iter().map(String::as_str);
                let meant = base::closest_name(&variant.text, names).map(str::to_owned);
                self.report_with_guess("unknown-variant", variant.span, message, meant);
                None
            }
        }
    }

    pub(super) fn process_named(&self, expr: &ast::Expr) -> Option<ProcessId> {
        match &expr.kind {
            ExprKind::Name(name) => match self.unshadowed(name) {
                Some(Global::Process(id)) => Some(id),
                _ => None,
            },
            _ => None,
        }
    }

    /// `P`, `P[i]` or `P[i][j]`, if it is one; the inner value is nothing if it is wrong.
    pub(super) fn process_reference(
        &mut self,
        expr: &'a ast::Expr,
    ) -> Option<(ProcessId, Option<Owner>)> {
        let (base, indices) = with_indices(expr);
        let process = self.process_named(base)?;
        let description = &self.parts.processes[process.index()];
        let (name, n_wanted) = (&description.name, description.dimensions.len().max(1));

        if indices.is_empty() && description.index.is_none() {
            return Some((process, Some(Owner::Single)));
        }

        if indices.len() < n_wanted {
            let message = match n_wanted {
                1 => format!("`{name}` is a family of processes"),
                n => format!("`{name}` is a family of processes with {n} indices"),
            };
            let help = format!(
                "say which one is meant: `{name}{}`",
                index_pattern(description)
            );
            self.report(Diagnostic::error("missing-index", expr.span, message).help(help));
            return Some((process, None));
        }

        if indices.len() > n_wanted {
            let message = match (description.index, n_wanted) {
                (None, _) => format!("`{name}` is a single process and has no index"),
                (Some(_), 1) => format!("`{name}` has one index"),
                (Some(_), n) => format!("`{name}` has {n} indices"),
            };
            self.report(Diagnostic::error("index-of-single", expr.span, message));
            return Some((process, None));
        }

        let owner = match indices.as_slice() {
            [index] => self.process_index(process, index),
            several => self.process_number(process, several),
        };
        Some((process, owner))
    }

    /// The instance with several indices. If one of them is outside of its range, there is none: the
    /// numbers begin with 0.
    fn process_number(&mut self, process: ProcessId, indices: &[&'a ast::Expr]) -> Option<Owner> {
        let dimensions = self.parts.processes[process.index()].dimensions.clone();
        let (mut number, mut conditions) = (Expr::Int(0), Vec::new());
        for (index, (lo, hi)) in indices.iter().zip(dimensions) {
            let value = self.number_of_index(index)?;
            if let Some(value) = self.fixed_index(&value, index)
                && !(lo..=hi).contains(&value)
            {
                let message = format!("the index {value} is outside {lo}..{hi}");
                self.report(Diagnostic::error("index-out-of-range", index.span, message));
                return None;
            }

            let in_range =
                |op, bound, value| simplify(Expr::binary(op, value, Expr::Int(bound)), Ty::Bool);
            conditions.push(in_range(BinaryOp::Ge, lo, self.copy_of(&value)));
            conditions.push(in_range(BinaryOp::Le, hi, self.copy_of(&value)));
            let offset = simplify(Expr::binary(BinaryOp::Sub, value, Expr::Int(lo)), Ty::Int);
            let scaled = Expr::binary(BinaryOp::Mul, number, Expr::Int(hi - lo + 1));
            let sum = Expr::binary(BinaryOp::Add, simplify(scaled, Ty::Int), offset);
            number = simplify(sum, Ty::Int);
        }
        let exists = super::values::all(conditions);
        let number = super::values::choice(exists, number, Expr::Int(-1));
        Some(Owner::Indexed(Box::new(number)))
    }

    /// An index as a number; of a value of an enumeration, its position.
    fn number_of_index(&mut self, index: &'a ast::Expr) -> Option<Expr> {
        let (value, id) = match self.scalar(index, None)? {
            (value, Ty::Enum(id)) => (value, id),
            (value, Ty::Int) => return Some(value),
            (_, Ty::Bool) => return self.int_expr(index),
        };
        if let Some(position) = value.as_literal() {
            return Some(Expr::Int(position));
        }
        let n_values = self.parts.enums[id.index()].variants.len() as u32;
        let mut number = Expr::Int(i64::from(n_values) - 1);
        for position in (0..n_values.saturating_sub(1)).rev() {
            let is_it = Expr::binary(BinaryOp::Eq, self.copy_of(&value), Expr::Enum(id, position));
            let position = Expr::Int(i64::from(position));
            number = Expr::Ite(Box::new(is_it), Box::new(position), Box::new(number));
        }
        Some(number)
    }

    fn process_index(&mut self, process: ProcessId, index: &'a ast::Expr) -> Option<Owner> {
        let value = self.position(index)?;
        let name = self.parts.processes[process.index()].name.clone();
        let Some(range) = self.parts.processes[process.index()].index else {
            let message = format!("`{name}` is a single process and has no index");
            self.report(Diagnostic::error("index-of-single", index.span, message));
            return None;
        };
        if let Some(value) = self.fixed_index(&value, index)
            && !(range.lo..=range.hi).contains(&value)
        {
            let message = format!("there is no process `{name}[{value}]`");
            let help = format!("the indices are {}..{}", range.lo, range.hi);
            let diagnostic = Diagnostic::error("index-out-of-range", index.span, message);
            self.report(diagnostic.help(help));
            return None;
        }
        Some(Owner::Indexed(Box::new(value)))
    }

    /// The index, if it is the same wherever the text is used. An index that depends on a name which
    /// a quantifier of the formula gives one value after the other may be guarded, as in
    /// `p != N-1 && P[p+1] @ b`; whether it exists is asked where it is evaluated.
    fn fixed_index(&self, value: &Expr, text: &ast::Expr) -> Option<i64> {
        let is_written = matches!(text.kind, ExprKind::Int(_));
        let is_unrolled = self.scope.iter().any(Binding::is_constant);
        value.as_literal().filter(|_| is_written || !is_unrolled)
    }

    fn foreign_variable(
        &mut self,
        process: ProcessId,
        owner: Owner,
        field: &Ident,
    ) -> Option<Value> {
        let info = &self.processes[process.index()];
        // In an imported file a local name may be that of something outside of the process, too.
        let is_meant = |local: &(&&str, _)| bare(local.0) == field.text;
        if let Some((declared, (Local::Var(id), _))) = info.locals.iter().find(is_meant) {
            self.resolution.found(&field.text, declared);
            return Some(self.variable_value(*id, Some(owner)));
        }
        if info.actions.contains_key(field.text.as_str()) {
            return self.report_step_proposition(field.span);
        }
        let name = &self.parts.processes[process.index()].name;
        let message = format!("`{name}` has no variable or action `{}`", field.text);
        let mut known: Vec<&str> = info.locals.keys().copied().collect();
        known.extend(info.actions.keys().copied());
        known.sort_unstable();

        let meant = base::closest_name(&field.text, known).map(str::to_owned);
        let process = &self.parts.processes[process.index()];
        let is_location = process.locations.contains(&field.text);
        let mut diagnostic = Diagnostic::error("unknown-member", field.span, message);
        if is_location {
            diagnostic = diagnostic.help(format!("ask for a location with `@ {}`", field.text));
        } else if let Some(meant) = meant {
            diagnostic = diagnostic.help(format!("did you mean `{meant}`?"));
        }

        self.report(diagnostic);
        None
    }

    /// `P[i] @ {a, b}`.
    pub(super) fn at(
        &mut self,
        process: Option<&'a ast::Expr>,
        locations: &'a [Ident],
        span: Span,
    ) -> Option<Value> {
        let (id, owner) = match (process, self.process) {
            (Some(expr), _) => match self.process_reference(expr) {
                Some((id, owner)) => (id, owner?),
                None => {
                    let message = "only a process is at a location";
                    let help = "write `P @ location` or `P[i] @ location`";
                    let diagnostic = Diagnostic::error("not-a-process", expr.span, message);
                    self.report(diagnostic.help(help));
                    return None;
                }
            },
            (None, Some(id)) => (id, Owner::Own),
            (None, None) => {
                let message = "say which process is meant: `P @ location`";
                self.report(Diagnostic::error("not-a-process", span, message));
                return None;
            }
        };

        let locations: Vec<_> = locations
            .iter()
            .map(|name| self.location(id, name))
            .collect();
        let exists = self.existence(id, owner.clone());
        let at = Expr::At {
            process: id,
            owner,
            locations: locations.into_iter().collect::<Option<_>>()?,
        };
        let at = Expr::all(exists.into_iter().chain([at]));
        Some(Value::Scalar(at, Ty::Bool))
    }

    /// A location of a process.
    pub(super) fn location(&mut self, process: ProcessId, name: &Ident) -> Option<LocationId> {
        let info = &self.processes[process.index()];
        if let Some((declared, location)) = info.locations.get_key_value(name.text.as_str()) {
            self.resolution.found(&name.text, declared);
            return Some(*location);
        }

        let description = &self.parts.processes[process.index()];
        let message = format!("`{}` has no location `{}`", description.name, name.text);
        let names = description.locations.iter().map(String::as_str);
        let meant = base::closest_name(&name.text, names).map(str::to_owned);

        let mut diagnostic = Diagnostic::error("unknown-location", name.span, message);
        diagnostic = match meant {
            Some(meant) => diagnostic.help(format!("did you mean `{meant}`?")),
            None => diagnostic.help(format!(
                "every location has a `from` block: `from {} {{ }}` if nothing leaves it",
                name.text
            )),
        };

        self.report(diagnostic);
        None
    }

    /// `f(x)`.
    pub(super) fn call(
        &mut self,
        whole: &'a ast::Expr,
        function: &'a ast::Expr,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        let ExprKind::Name(name) = &function.kind else {
            return self.report_not_callable(function);
        };
        match name.as_str() {
            "enabled" | "moves" => return self.report_step_proposition(span),
            // What the model declares hides what the language provides.
            _ if self.local(name).is_some() || self.global(name).is_some() => {}
            "min" | "max" | "abs" => return self.arithmetic_function(name, arguments, span),
            "append" | "tail" | "add" | "remove" | "keys" => {
                let (cells, ty) = self.cells_of_shaped(whole)?;
                return Some(Value::Cells(cells, ty));
            }
            "copies" => return self.copies(arguments, span),
            "size" | "head" | "last" | "value" | "len" | "empty" | "full" => {
                if let Some(value) = self.function_of_family(name, arguments) {
                    return value;
                }
                if let Some(value) = self.special_function(name, arguments, span) {
                    return value;
                }
                if ["len", "empty", "full"].contains(&name.as_str()) {
                    return self.channel_function(name, arguments, span);
                }
            }
            "expired" | "off" => return self.timer_function(name, arguments, span),
            _ => {}
        }

        match (self.local(name), self.unshadowed(name)) {
            (Some(Local::Def(def)), _) | (None, Some(Global::Def(def))) => {
                self.expand(def, arguments, span)
            }
            (_, Some(Global::Event(_))) => self.report_step_proposition(span),
            (_, Some(Global::Broken)) => None,
            (_, Some(Global::Record(id))) => {
                let ty = Type::Record(id);
                let mut cells = Vec::new();
                self.cell_values(whole, &ty, &mut cells)?;
                Some(Value::Cells(cells, ty))
            }
            (None, None) if self.binding(name).is_none() => {
                self.report_unknown(name, function.span);
                None
            }
            _ => self.report_not_callable(function),
        }
    }

    fn report_not_callable(&mut self, function: &ast::Expr) -> Option<Value> {
        let message = "this is not a definition, so it does not take arguments";
        self.report(Diagnostic::error("not-callable", function.span, message));
        None
    }

    /// The body of a definition with arguments in place of its parameters.
    pub(super) fn expand(
        &mut self,
        def: &'a Def,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Value> {
        self.with_arguments(def, arguments, span, |lowerer| {
            lowerer.operand(&def.body, None)
        })
    }

    /// Does something with the body of a definition, with its parameters bound.
    pub(super) fn with_arguments<T>(
        &mut self,
        def: &'a Def,
        arguments: &'a [ast::Expr],
        span: Span,
        action: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        if def.effect.is_some() {
            let message = format!("`{}` is a procedure and has no value", def.name.text);
            let help = "a procedure is called by a statement of an effect";
            self.report(Diagnostic::error("procedure-as-value", span, message).help(help));
            return None;
        }
        self.check_expansion(def, arguments.len(), span)?;
        let mut bindings = Vec::new();
        for (parameter, argument) in def.parameters.iter().zip(arguments) {
            let value = self.operand(argument, None)?;
            let size = match &value {
                Value::Scalar(expr, _) => fresh::measure(expr),
                Value::Composite(place, _) => fresh::measure(&Expr::Read(place.clone())),
                Value::Cells(cells, _) => {
                    let sizes = cells.iter().map(fresh::measure);
                    sizes.fold((0, 0), |all, one| (all.0.max(one.0), all.1 + one.1))
                }
            };
            // A literal is written as such: its text must not grow where its value does not.
            let text = match &value {
                Value::Scalar(literal, _) => self.literal_text(literal),
                Value::Composite(..) | Value::Cells(..) => None,
            };
            let text = text.or_else(|| Some(self.text(argument)));
            bindings.push(Binding {
                name: parameter.text.clone(),
                origin: parameter.text.as_ptr().addr(),
                value,
                text,
                size,
            });
        }
        self.with_bindings(def, bindings, span, action)
    }

    /// Does the number of arguments fit, and does the definition not need itself?
    pub(super) fn check_expansion(
        &mut self,
        def: &'a Def,
        n_arguments: usize,
        span: Span,
    ) -> Option<()> {
        if def.parameters.len() != n_arguments {
            let (wanted, found) = (def.parameters.len(), n_arguments);
            let message = format!(
                "`{}` takes {wanted} argument(s), {found} given",
                def.name.text
            );
            let diagnostic = Diagnostic::error("wrong-arguments", span, message);
            self.report(diagnostic.label(def.name.span, "defined here"));
            return None;
        }

        if self
            .expanding
            .iter()
            .any(|(other, _)| std::ptr::eq(*other, def))
        {
            let message = format!("the definition `{}` needs itself", def.name.text);
            self.report(Diagnostic::error(
                "recursive-definition",
                def.name.span,
                message,
            ));
            return None;
        }

        Some(())
    }

    /// What a definition means where its parameters stand for these values.
    pub(super) fn with_bindings<T>(
        &mut self,
        def: &'a Def,
        bindings: Vec<Binding>,
        span: Span,
        action: impl FnOnce(&mut Self) -> Option<T>,
    ) -> Option<T> {
        let is_local = self
            .local(&def.name.text)
            .is_some_and(|local| matches!(local, Local::Def(other) if std::ptr::eq(other, def)));
        let outer_floor = std::mem::replace(&mut self.floor, self.scope.len());
        let outer_process = self.process;
        if is_local {
            let process = outer_process.map(|process| &self.processes[process.index()]);
            let indices = process.map(|process| process.indices.clone());
            self.scope.extend(indices.into_iter().flatten());
        } else {
            self.process = None;
        }

        self.scope.extend(bindings);
        self.expanding.push((def, span));
        let result = action(self);
        self.expanding.pop();
        self.scope.truncate(self.floor);
        self.floor = outer_floor;
        self.process = outer_process;
        result
    }
}

/// Cells as a value.
fn cells_value(mut cells: Vec<Expr>, ty: Type) -> Value {
    match ty {
        Type::Scalar(scalar) => Value::Scalar(cells.swap_remove(0), ty_of(scalar)),
        ty => Value::Cells(cells, ty),
    }
}

/// A place as a value: read if it is a single cell.
pub(super) fn place_value(place: Place, ty: Type) -> Value {
    match ty {
        Type::Scalar(scalar) => Value::Scalar(Expr::Read(place), ty_of(scalar)),
        ty => Value::Composite(place, ty),
    }
}

/// What `P[i][j]` begins with, and the indices.
pub(super) fn with_indices(expr: &ast::Expr) -> (&ast::Expr, Vec<&ast::Expr>) {
    let (mut base, mut indices) = (expr, Vec::new());
    while let ExprKind::Index(inner, index) = &base.kind {
        base = inner;
        indices.push(&**index);
    }
    indices.reverse();
    (base, indices)
}

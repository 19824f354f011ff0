//! Formulas: temporal structure, propositions about steps, and state atoms below them.
//!
//! A part without temporal operators and step propositions becomes one atom. Quantifiers around
//! anything else are expanded.

use base::{Diagnostic, Span};
use logic::{Ltl, Op, PathQuantifier};
use model::{AtomMeaning, BinaryOp, Expr, Owner, ProcessId, Quantifier, StepPattern};

use super::access::with_indices;
use super::expr::names_of;
use super::names::{Global, Local};
use super::open::Position;
use super::{Lowerer, MAX_DEPTH, MAX_EXPANSION};
use crate::ast::{self, Binder, Def, ExprKind, UnaryOp};

/// After every `cause` there is an `effect`.
pub(super) fn leads_to(cause: Ltl, effect: Ltl) -> Ltl {
    Ltl::always(Ltl::implies(cause, Ltl::eventually(effect)))
}

impl<'a> Lowerer<'a> {
    /// The formula that an expression stands for.
    pub(super) fn formula(&mut self, expr: &'a ast::Expr) -> Option<Ltl> {
        self.spend(1, 1, expr.span)?;
        self.depth += 1;
        let formula = if self.is_temporal(expr, 0) || self.is_distinguishing(expr) {
            self.formula_here(expr)
        } else {
            self.state_formula(expr)
        };
        self.depth -= 1;
        formula
    }

    /// One atom. A negation stays outside, so that `p` and `!p` share theirs.
    fn state_formula(&mut self, expr: &'a ast::Expr) -> Option<Ltl> {
        if let ExprKind::Unary(UnaryOp::Not, inner) = &expr.kind {
            let inner = self.below(Position::Negation, inner)?;
            return Some(inner.negate());
        }
        let lowered = self.bool_expr(expr)?;
        // shape: every other proposition is an atom.
        if let Expr::Bool(value) = lowered {
            return Some(Ltl::constant(value));
        }
        let name = self.text(expr);
        let contraction = self.contraction(&name, &lowered, expr.span);
        let atom = self.atom(name, AtomMeaning::State(lowered), expr.span);
        if let Some(both) = contraction {
            self.contracted.insert(atom, both);
        }
        Some(Ltl::atom(atom))
    }

    fn formula_here(&mut self, expr: &'a ast::Expr) -> Option<Ltl> {
        if let Some((quantifier, op, operand)) = self.path_quantifier(expr) {
            let inner = self.below(Position::Elsewhere, operand)?;
            if inner.has_past() {
                let message = "past operators cannot stand below path quantifiers";
                let help = "where a path begins, it is not said what was before; \
                    without path quantifiers, `once p` looks back to the start of the run";
                self.report(Diagnostic::error("past-operator", expr.span, message).help(help));
                return None;
            }
            let path = match op {
                Some(UnaryOp::Always) => Ltl::always(inner),
                Some(UnaryOp::Eventually) => Ltl::eventually(inner),
                Some(UnaryOp::Next) => Ltl::next(inner),
                _ => inner,
            };
            return Some(self.state_formulas.quantify(quantifier, path));
        }

        match &expr.kind {
            ExprKind::Unary(op, inner) => {
                let build = match op {
                    UnaryOp::Not => |inner: Ltl| inner.negate(),
                    UnaryOp::Always => Ltl::always,
                    UnaryOp::Eventually => Ltl::eventually,
                    UnaryOp::Next => Ltl::next,
                    UnaryOp::Previously => Ltl::previously,
                    UnaryOp::Once => Ltl::once,
                    UnaryOp::Historically => |inner: Ltl| Ltl::historically(&inner),
                    UnaryOp::Minus => return self.not_a_formula(expr),
                };
                let lowered = self.below(position_below(*op), inner)?;
                match op {
                    UnaryOp::Previously | UnaryOp::Once | UnaryOp::Historically => {
                        self.check_past(&lowered, inner.span)?;
                    }
                    UnaryOp::Not
                    | UnaryOp::Minus
                    | UnaryOp::Always
                    | UnaryOp::Eventually
                    | UnaryOp::Next => {}
                }
                Some(build(lowered))
            }
            ExprKind::Binary(op, left, right) => {
                let build = match op {
                    ast::BinaryOp::Model(BinaryOp::Implies) => Ltl::implies,
                    ast::BinaryOp::Iff => Ltl::iff,
                    ast::BinaryOp::LeadsTo => leads_to,
                    ast::BinaryOp::Until => Ltl::until,
                    ast::BinaryOp::WeakUntil => Ltl::weak_until,
                    ast::BinaryOp::Release => Ltl::release,
                    ast::BinaryOp::StrongRelease => Ltl::strong_release,
                    ast::BinaryOp::Since => Ltl::since,
                    ast::BinaryOp::Model(_)
                    | ast::BinaryOp::Subset
                    | ast::BinaryOp::Union
                    | ast::BinaryOp::Intersection
                    | ast::BinaryOp::Difference => return self.not_a_formula(expr),
                };

                // An implication negates its left side, which matters for quantifiers over an open
                // number of processes.
                let places = match op {
                    ast::BinaryOp::Model(_) => [Position::Negation, Position::Same],
                    _ => [Position::Elsewhere; 2],
                };

                // Both sides are lowered before either is given up, so that errors on both are
                // reported.
                let spans = [left.span, right.span];
                let left = self.below(places[0], left);
                let right = self.below(places[1], right);
                let (left, right) = (left?, right?);
                if *op == ast::BinaryOp::Since {
                    self.check_past(&left, spans[0])?;
                    self.check_past(&right, spans[1])?;
                }
                Some(build(left, right))
            }
            ExprKind::Chain(first, rest) => {
                let is_and = match rest.first() {
                    Some((BinaryOp::And, _)) => true,
                    Some((BinaryOp::Or, _)) => false,
                    _ => return self.not_a_formula(expr),
                };
                let operands = [&**first].into_iter().chain(rest.iter().map(|(_, e)| e));
                let parts: Vec<_> = operands.map(|operand| self.formula(operand)).collect();
                let parts = parts.into_iter().collect::<Option<Vec<_>>>()?;
                Some(if is_and {
                    Ltl::and(parts)
                } else {
                    Ltl::or(parts)
                })
            }
            ExprKind::If(condition, then, otherwise) => {
                let condition = self.below(Position::Elsewhere, condition)?;
                let (then, otherwise) = (self.formula(then)?, self.formula(otherwise)?);
                let yes = Ltl::and([condition.clone(), then]);
                Some(Ltl::or([yes, Ltl::and([condition.negate(), otherwise])]))
            }
            ExprKind::Quantified {
                quantifier: quantifier @ (Quantifier::Forall | Quantifier::Exists),
                binders,
                body,
                ..
            } => {
                let mut parts = Vec::new();
                let is_forall = *quantifier == Quantifier::Forall;
                self.instances(is_forall, &names_of(binders), body, &mut parts)?;
                Some(if is_forall {
                    Ltl::and(parts)
                } else {
                    Ltl::or(parts)
                })
            }
            ExprKind::Name(name) => match self.definition_named(name) {
                Some(def) => self.expand_formula(def, &[], expr.span),
                None => self.step_formula(expr),
            },
            ExprKind::Call(function, arguments) => {
                let def = match &function.kind {
                    ExprKind::Name(name) => self.definition_named(name),
                    _ => None,
                };
                match def {
                    Some(def) => self.expand_formula(def, arguments, expr.span),
                    None => self.step_formula(expr),
                }
            }
            ExprKind::Field(..) | ExprKind::AnyStep(_) => self.step_formula(expr),
            _ => self.not_a_formula(expr),
        }
    }

    /// The operands of past operators do not look into the future, and say what is known for certain.
    fn check_past(&mut self, operand: &Ltl, span: Span) -> Option<()> {
        let (message, help) = if operand.has_future() {
            (
                "the operands of past operators cannot speak of the future",
                "write the future operator outside: `eventually once p` is `eventually p`",
            )
        } else if self.is_contracted(operand) {
            (
                "past operators cannot speak of values that an abstract timer does not keep",
                "check the property with the timer as it is",
            )
        } else {
            return Some(());
        };
        self.report(Diagnostic::error("past-operator", span, message).help(help));
        None
    }

    /// `A(…)`, `A[…]`, `AG …` and the like, unless the word is declared as something else.
    fn path_quantifier(
        &self,
        expr: &'a ast::Expr,
    ) -> Option<(PathQuantifier, Option<UnaryOp>, &'a ast::Expr)> {
        expr.path_quantifier(|name| {
            self.binding(name).is_some()
                || self.local(name).is_some()
                || self.global(name).is_some()
                || self.later.contains_key(name)
        })
    }

    fn not_a_formula(&mut self, expr: &ast::Expr) -> Option<Ltl> {
        let message = "temporal operators and steps cannot stand here";
        self.report(
            Diagnostic::error("temporal-operator", expr.span, message).help(
                "they can be combined by `&&`, `||`, `!`, `->`, `<->`, `if` and quantifiers only",
            ),
        );
        None
    }

    fn expand_formula(
        &mut self,
        def: &'a Def,
        arguments: &'a [ast::Expr],
        span: Span,
    ) -> Option<Ltl> {
        self.with_arguments(def, arguments, span, |lowerer| lowerer.formula(&def.body))
    }

    /// The instances of a quantified formula.
    fn instances(
        &mut self,
        is_forall: bool,
        names: &[(&'a str, &'a Binder, bool)],
        body: &'a ast::Expr,
        parts: &mut Vec<Ltl>,
    ) -> Option<()> {
        let Some((&(name, binder, is_last), others)) = names.split_first() else {
            parts.push(self.formula(body)?);
            return Some(());
        };

        if self.is_open_range(binder) {
            return self.distinguish(is_forall, names, body, parts);
        }

        let (lo, hi) = self.constant_range(&binder.lo, &binder.hi, MAX_EXPANSION)?;
        let ty = self.ty_of_domain(&binder.lo);
        for value in lo..=hi {
            let binding = self.constant_binding(name, value, ty);
            self.scope.push(binding);
            let mut below = Vec::new();
            let condition = binder.condition.as_ref().filter(|_| is_last);
            let done = self.conditional_instances(is_forall, condition, others, body, &mut below);
            self.scope.pop();
            done?;
            parts.append(&mut below);
        }
        Some(())
    }

    pub(super) fn conditional_instances(
        &mut self,
        is_forall: bool,
        condition: Option<&'a ast::Expr>,
        others: &[(&'a str, &'a Binder, bool)],
        body: &'a ast::Expr,
        parts: &mut Vec<Ltl>,
    ) -> Option<()> {
        let condition = match condition {
            None => Ltl::tt(),
            Some(condition) => match self.distinguishing_condition(is_forall, condition)? {
                Some(lowered) => lowered,
                None => self.below(Position::Elsewhere, condition)?,
            },
        };

        match condition.op() {
            Op::False => Some(()),
            Op::True => self.instances(is_forall, others, body, parts),
            _ => {
                self.instances(is_forall, others, body, parts)?;
                for part in parts.iter_mut() {
                    *part = if is_forall {
                        Ltl::implies(condition.clone(), part.clone())
                    } else {
                        Ltl::and([condition.clone(), part.clone()])
                    };
                }
                Some(())
            }
        }
    }

    /// A proposition about steps.
    fn step_formula(&mut self, expr: &'a ast::Expr) -> Option<Ltl> {
        let meaning = match &expr.kind {
            ExprKind::Name(name) if name == "deadlock" => AtomMeaning::Deadlock,
            ExprKind::Call(function, arguments) => match &function.kind {
                ExprKind::Name(name) if name == "enabled" || name == "moves" => {
                    let [argument] = arguments.as_slice() else {
                        let message = format!("`{name}` takes one process, action or event");
                        self.report(Diagnostic::error("wrong-arguments", expr.span, message));
                        return None;
                    };
                    let pattern = self.step_pattern(argument)?;
                    match name.as_str() {
                        "enabled" => AtomMeaning::Enabled(pattern),
                        _ => AtomMeaning::Taken(pattern),
                    }
                }
                _ => AtomMeaning::Taken(self.step_pattern(expr)?),
            },
            _ => AtomMeaning::Taken(self.step_pattern(expr)?),
        };

        let name = self.text(expr);
        let atom = self.atom(name, meaning, expr.span);
        Some(Ltl::atom(atom))
    }

    /// `P`, `P[1]`, `P.enter`, `P[1].meet(2)`, `go`, `go(2)`, `P[1].*`.
    pub(super) fn step_pattern(&mut self, expr: &'a ast::Expr) -> Option<StepPattern> {
        let (head, arguments) = match &expr.kind {
            ExprKind::Call(head, arguments) => (&**head, Some(arguments)),
            _ => (expr, None),
        };
        let mut values = None;
        if let Some(arguments) = arguments {
            let evaluated: Vec<_> = arguments.iter().map(|a| self.constant_value(a)).collect();
            let evaluated: Option<Vec<_>> = evaluated.into_iter().collect();
            values = Some(evaluated?.into_iter().map(|(value, _)| value).collect());
        }

        match &head.kind {
            ExprKind::Name(name) => match self.unshadowed(name) {
                Some(Global::Event(event)) => {
                    let wanted = self.event_types[event.index()].len();
                    self.check_pattern_arity(values.as_ref(), wanted, expr.span)?;
                    Some(StepPattern {
                        event: Some(event),
                        arguments: values,
                        ..StepPattern::default()
                    })
                }
                _ => self.process_pattern(head, expr.span),
            },
            ExprKind::AnyStep(base) => self.process_pattern(base, expr.span),
            ExprKind::Field(base, action) => {
                let mut pattern = self.process_pattern(base, expr.span)?;
                let process = pattern.process?;
                let info = self.processes[process.index()]
                    .actions
                    .get_key_value(action.text.as_str());
                let Some((declared, info)) = info.map(|(name, info)| (*name, *info)) else {
                    self.report_unknown_action(process, action);
                    return None;
                };
                self.resolution.found(&action.text, declared);
                if info.in_event && values.is_some() {
                    let message = "this action takes part in an event, so its arguments are those of the event";
                    self.report(
                        Diagnostic::error("event-arguments", expr.span, message)
                            .help("name the event with its arguments, or the action without"),
                    );
                    return None;
                }
                self.check_pattern_arity(values.as_ref(), info.n_parameters, expr.span)?;
                pattern.action = Some(action.text.clone());
                pattern.arguments = values;
                Some(pattern)
            }
            _ => self.process_pattern(head, expr.span),
        }
    }

    fn check_pattern_arity(
        &mut self,
        values: Option<&Vec<i64>>,
        wanted: usize,
        span: Span,
    ) -> Option<()> {
        match values {
            Some(values) if values.len() != wanted => {
                let message = format!("{wanted} argument(s) are needed, {} given", values.len());
                let help = "leave out all arguments to speak of all of them";
                self.report(Diagnostic::error("wrong-arguments", span, message).help(help));
                None
            }
            _ => Some(()),
        }
    }

    fn report_unknown_action(&mut self, process: ProcessId, action: &ast::Ident) {
        let info = &self.processes[process.index()];
        let name = &self.parts.processes[process.index()].name;
        let message = format!("`{name}` has no action `{}`", action.text);
        let names = info.actions.keys().copied();
        let meant = base::closest_name(&action.text, names).map(str::to_owned);
        self.report_with_guess("unknown-action", action.span, message, meant);
    }

    /// Steps of a process: of one instance, or of all.
    fn process_pattern(&mut self, expr: &'a ast::Expr, span: Span) -> Option<StepPattern> {
        let (base, indices) = with_indices(expr);
        let process = match &base.kind {
            ExprKind::Name(name) => match self.unshadowed(name) {
                Some(Global::Process(process)) => Some(process),
                _ => None,
            },
            _ => None,
        };

        let Some(process) = process else {
            let message = "expected a process, an action such as `P[1].enter`, or an event";
            self.report(Diagnostic::error("not-a-step", span, message));
            return None;
        };
        let mut pattern = StepPattern {
            process: Some(process),
            ..StepPattern::default()
        };

        if let [index] = indices[..]
            && let Some(bound) = self.open_index(index)
        {
            self.process_reference(expr)?.1?;
            pattern.index = Some(model::open_index(bound));
        } else if !indices.is_empty() {
            // shape: what has an index is not a single process, nor the own one.
            let Owner::Indexed(number) = self.process_reference(expr)?.1? else {
                return None;
            };
            pattern.index = Some(self.value_of(&number, expr.span)?);
        }

        Some(pattern)
    }

    fn definition_named(&self, name: &str) -> Option<&'a Def> {
        if self.binding(name).is_some() {
            return None;
        }
        match (self.local(name), self.unshadowed(name)) {
            (Some(Local::Def(def)), _) | (None, Some(Global::Def(def))) => Some(def),
            _ => None,
        }
    }

    /// Is the body of the definition a formula rather than an expression of the state?
    pub(super) fn is_temporal_definition(&mut self, def: &'a Def) -> bool {
        self.is_temporal_definition_at(def, 0)
    }

    fn is_temporal_definition_at(&mut self, def: &'a Def, depth: usize) -> bool {
        let key = std::ptr::from_ref(def).addr();
        if let Some(known) = self.temporal_definitions.get(&key) {
            return *known;
        }
        // A definition that needs itself is reported when it is expanded.
        self.temporal_definitions.insert(key, false);
        let is_temporal = self.is_temporal(&def.body, depth + 1);
        self.temporal_definitions.insert(key, is_temporal);
        is_temporal
    }

    /// Does the expression contain temporal operators or propositions about steps? What is nested
    /// too deeply is reported when it is translated.
    pub(super) fn is_temporal(&mut self, expr: &'a ast::Expr, depth: usize) -> bool {
        if depth > MAX_DEPTH {
            return false;
        }
        let any = |lowerer: &mut Self, parts: &[&'a ast::Expr]| {
            parts
                .iter()
                .any(|part| lowerer.is_temporal(part, depth + 1))
        };

        // Depth is counted through all operands, so that no text exhausts the stack.
        if self.path_quantifier(expr).is_some() {
            return true;
        }

        match &expr.kind {
            ExprKind::Path(..) => true,
            ExprKind::Int(_)
            | ExprKind::Bool(_)
            | ExprKind::Any
            | ExprKind::At(..)
            | ExprKind::Array(_)
            | ExprKind::Comprehension(..)
            | ExprKind::First(_)
            | ExprKind::Last(_)
            | ExprKind::In { .. }
            | ExprKind::Between(..)
            | ExprKind::Set(_)
            | ExprKind::Filter(_)
            | ExprKind::Image(..)
            | ExprKind::Entries(_)
            | ExprKind::MapOf(..) => false,
            ExprKind::AnyStep(_) => true,
            ExprKind::Name(name) => self.is_temporal_name(name, depth),
            ExprKind::Index(base, index) => any(self, &[base, index]),
            ExprKind::Field(base, field) => self.is_action(base, &field.text),
            ExprKind::Call(function, arguments) => {
                let is_temporal = match &function.kind {
                    ExprKind::Name(name) => {
                        name == "enabled" || name == "moves" || self.is_temporal_name(name, depth)
                    }
                    _ => any(self, &[function]),
                };
                is_temporal || arguments.iter().any(|e| self.is_temporal(e, depth + 1))
            }
            ExprKind::Unary(op, inner) => {
                !matches!(op, UnaryOp::Not | UnaryOp::Minus) || any(self, &[inner])
            }
            ExprKind::Binary(op, left, right) => {
                !matches!(
                    op,
                    ast::BinaryOp::Model(_)
                        | ast::BinaryOp::Iff
                        | ast::BinaryOp::Subset
                        | ast::BinaryOp::Union
                        | ast::BinaryOp::Intersection
                        | ast::BinaryOp::Difference
                ) || any(self, &[left, right])
            }
            ExprKind::Chain(first, rest) => {
                any(self, &[first]) || rest.iter().any(|(_, e)| self.is_temporal(e, depth + 1))
            }
            ExprKind::If(a, b, c) => any(self, &[a, b, c]),
            ExprKind::Quantified { binders, body, .. } => {
                let conditions = binders.iter().filter_map(|b| b.condition.as_ref());
                let parts: Vec<_> = conditions.chain([&**body]).collect();
                any(self, &parts)
            }
        }
    }

    fn is_temporal_name(&mut self, name: &str, depth: usize) -> bool {
        if self.binding(name).is_some() {
            return false;
        }
        if let Some(def) = self.definition_named(name) {
            return self.is_temporal_definition_at(def, depth);
        }
        name == "deadlock" || matches!(self.unshadowed(name), Some(Global::Event(_)))
    }

    fn is_action(&self, base: &ast::Expr, name: &str) -> bool {
        let (base, _) = with_indices(base);
        let ExprKind::Name(process) = &base.kind else {
            return false;
        };
        match self.unshadowed(process) {
            Some(Global::Process(id)) => self.processes[id.index()].actions.contains_key(name),
            _ => false,
        }
    }
}

/// Where the operand of an operator stands.
fn position_below(op: UnaryOp) -> Position {
    match op {
        UnaryOp::Not => Position::Negation,
        UnaryOp::Always => Position::Always,
        UnaryOp::Eventually => Position::Eventually,
        UnaryOp::Next => Position::Same,
        UnaryOp::Previously | UnaryOp::Once | UnaryOp::Historically => Position::Elsewhere,
        UnaryOp::Minus => Position::Elsewhere,
    }
}

/// `[]a && []b` as `[](a && b)`, so that conjunctions of invariants are recognised as one.
pub(super) fn merge_invariants(formula: Ltl) -> Ltl {
    let Op::And(parts) = formula.op() else {
        return formula;
    };
    let inner = parts.iter().map(|part| match part.op() {
        Op::Always(inner) if inner.is_propositional() => Some(inner.clone()),
        _ => None,
    });
    match inner.collect::<Option<Vec<_>>>() {
        Some(inner) => Ltl::always(Ltl::and(inner)),
        None => formula,
    }
}

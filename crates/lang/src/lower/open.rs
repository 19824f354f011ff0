//! Templates: models in which a parameter has no value.
//!
//! A range that ends at the parameter is kept open. A property may quantify over such a range from
//! outside: the name becomes a *distinguished* process of the question, and the formula below is
//! translated once, not once for each value. Where `forall` (or a negated `exists`) commutes with
//! everything around it, it counts as outside; anywhere else it is refused.
//!
//! With several parameters the parts become a threshold automaton (`crate::threshold`). There ranges may
//! end at any sum: `open_end` is then a position among sums that are kept beside the parts.

use base::{Diagnostic, Span};
use logic::Ltl;
use model::{
    Access, ArrayType, BinaryOp, BoundId, Distinguished, Expr, Hint, Hints, Initial, Place,
    Quantifier, Scalar, Scope, Stmt, StmtKind, Template, Type, VarId,
};

use source::Options;

use super::Lowerer;
use super::names::{Binding, Global, Ty, Value};
use super::types::ty_of;
use crate::ast::{self, AbstractDecl, Binder, Decl, ExprKind, File, Ident};

/// How many distinguished processes a question may have.
const MAX_DISTINGUISHED: usize = 3;

/// What is known about the parameter and the question being translated.
#[derive(Debug, Default)]
pub(super) struct Open {
    /// May a parameter be without value?
    free: bool,
    /// May several be?
    several: bool,
    /// The parameters: what stands for each, its name, where it is declared.
    parameters: Vec<(BoundId, String, Span)>,
    /// The least value of the last parameter, if it has one.
    least: Option<i64>,
    /// What ranges end at, if there are several.
    ends: Vec<Expr>,
    /// Can a universal (`true`) or existential (`false`) quantifier here be pulled out as a
    /// universal one?
    pullable: Option<bool>,
    /// What the question being translated has pulled out.
    scope: Scope,
}

/// Where a part of a formula stands in the whole.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Position {
    /// Below something that quantifiers commute with.
    Same,
    /// Below a negation, or left of an implication.
    Negation,
    /// Below `always`.
    Always,
    /// Below `eventually`.
    Eventually,
    /// Below anything else.
    Elsewhere,
}

impl Open {
    /// For a text whose parameter may be without value.
    pub(super) fn free() -> Self {
        Self {
            free: true,
            ..Self::default()
        }
    }

    /// For a text in which several parameters may be without value.
    pub(super) fn several() -> Self {
        Self {
            several: true,
            ..Self::free()
        }
    }

    pub(super) fn is_several(&self) -> bool {
        self.several
    }

    pub(super) fn is_free(&self) -> bool {
        self.free
    }

    /// Nothing can be pulled out of a question that asks for some run.
    pub(super) fn forbid_pulling(&mut self) {
        self.pullable = None;
    }

    /// The template that the parts make, if a parameter is without value.
    pub(super) fn template(mut self, parts: model::ModelParts) -> Option<Template> {
        let (parameter, name, span) = self.parameters.pop()?;
        Some(Template {
            parts,
            parameter,
            name,
            span,
            least: self.least,
        })
    }

    /// What a threshold automaton is made of, if several parameters are without value.
    pub(super) fn parts_with_parameters(self, parts: model::ModelParts) -> OpenParts {
        OpenParts {
            parts,
            parameters: self.parameters,
            ends: self.ends,
        }
    }
}

/// A model with several parameters that have no value.
#[derive(Debug)]
pub(crate) struct OpenParts {
    pub(crate) parts: model::ModelParts,
    /// What stands for each, its name, where it is declared.
    pub(crate) parameters: Vec<(BoundId, String, Span)>,
    /// Where a range of the parts ends at `open_end(k)`, it ends at the sum at position `k`.
    pub(crate) ends: Vec<Expr>,
}

impl<'a> Lowerer<'a> {
    pub(super) fn open_parameter(&mut self, name: &'a Ident) {
        let bound = self.fresh_bound(&name.text);
        let parameter = (bound, name.text.clone(), name.span);
        self.open.parameters.push(parameter);
        self.declare_global(name, Global::Parameter(bound));
    }

    /// `param N >= 2` where `N` is the size of a family: like `param N`, and no instance is smaller.
    pub(super) fn size_parameter(
        &mut self,
        name: &'a Ident,
        least: &'a ast::Expr,
        options: &Options,
    ) {
        let span = least.span;
        let Some(least) = self.constant_int(least) else {
            return self.declare_global(name, Global::Broken);
        };
        if self.open.several && least < 0 {
            let message = "where several parameters have no value, they are natural numbers";
            self.report(Diagnostic::error("threshold", span, message).help("write `>= 0`"));
        }
        let given = options.defines.iter().rev().find(|d| d.0 == name.text);
        if let Some((_, text)) = given {
            let global = self.given_parameter(name, text, least);
            return self.declare_global(name, global.unwrap_or(Global::Broken));
        }

        self.parameter(name, options);
        let parameter = self.open.parameters.last();
        if let Some((bound, ..)) = parameter.filter(|open| open.2 == name.span) {
            let enough = Expr::binary(BinaryOp::Ge, Expr::Bound(*bound), Expr::Int(least));
            self.parts.init.push(enough);
            self.open.least = Some(least);
        }
    }

    /// The bounds of a range whose last value may depend on the parameter.
    pub(super) fn open_range(
        &mut self,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
        limit: i64,
    ) -> Option<(i64, i64)> {
        if !self.mentions_parameter(hi) {
            return self.constant_range(lo, hi, limit);
        }
        let first = self.constant_int(lo)?;
        let last = self.open_value(hi)?;
        Some((first, last))
    }

    /// The length of an array.
    pub(super) fn open_length(&mut self, length: &'a ast::Expr) -> Option<i64> {
        if self.mentions_parameter(length) {
            self.open_value(length)
        } else {
            self.constant_int(length)
        }
    }

    fn open_value(&mut self, expr: &'a ast::Expr) -> Option<i64> {
        let lowered = self.int_expr(expr)?;
        if self.open.several {
            self.open.ends.push(lowered);
            return Some(model::open_end(self.open.ends.len() as i64 - 1));
        }
        let (parameter, name, _) = self.open.parameters.first().cloned()?;
        match linear(&lowered, parameter) {
            Some((1, offset)) => Some(model::open_end(offset)),
            _ => {
                let message = format!("this must be `{name}` plus or minus a constant");
                self.report(Diagnostic::error("open-range", expr.span, message));
                None
            }
        }
    }

    /// Does the expression depend on the parameter without value?
    fn mentions_parameter(&mut self, expr: &'a ast::Expr) -> bool {
        if self.open.parameters.is_empty() {
            return false;
        }
        // Asked before anything is reported: a wrong expression is reported where it is needed.
        let n_diagnostics = self.diagnostics.len();
        let lowered = self.int_expr(expr);
        self.diagnostics.truncate(n_diagnostics);
        let mut parameters = self.open.parameters.iter();
        lowered.is_some_and(|lowered| parameters.any(|(known, ..)| lowered.mentions(*known)))
    }

    /// The array type, if its length depends on the parameter.
    pub(super) fn open_array(
        &mut self,
        lo: i64,
        hi: i64,
        element: &Type,
        span: Span,
    ) -> Option<Option<Type>> {
        let offset = model::as_open_end(hi)?;

        if self.open.several {
            let message = "arrays have no open length where several parameters have no value";
            let help = "give each process variables of its own";
            self.report(Diagnostic::error("open-array", span, message).help(help));
            return Some(None);
        }

        let Type::Scalar(_) = element else {
            let message = "the elements of an array of open length must be single values";
            self.report(Diagnostic::error("open-array", span, message));
            return Some(None);
        };

        let len = model::open_end(offset.saturating_sub(lo).saturating_add(1)) as usize;
        let element = element.clone();
        Some(Some(Type::Array(Box::new(model::ArrayType {
            lo,
            len,
            element,
        }))))
    }

    /// Reports a range that is not that of the indices of an array of open length.
    fn check_indices_of(
        &mut self,
        array: &ArrayType,
        lo: &'a ast::Expr,
        hi: &'a ast::Expr,
    ) -> Option<()> {
        let (first, last) = self.open_range(lo, hi, i64::MAX)?;
        let length = last.saturating_sub(first).saturating_add(1);
        let is_same = first == array.lo && length == array.len as i64;
        if !is_same {
            let message = "the comprehension must range over the indices of the array";
            let span = lo.span.to(hi.span);
            self.report(Diagnostic::error("wrong-length", span, message));
        }
        is_same.then_some(())
    }

    /// `[i in 0..N-1: e]` as the initial value of an array of open length: it starts with any values,
    /// and `init` demands these.
    pub(super) fn open_comprehension(
        &mut self,
        id: VarId,
        expr: &'a ast::Expr,
        array: &ArrayType,
    ) -> Option<Initial> {
        let (ExprKind::Comprehension(name, lo, hi, body), Type::Scalar(scalar)) =
            (&expr.kind, &array.element)
        else {
            self.report_open_array(expr.span);
            return None;
        };
        self.check_indices_of(array, lo, hi)?;
        let (lo, hi) = (self.int_expr(lo)?, self.int_expr(hi)?);
        let bound = self.fresh_bound(&name.text);
        self.scope.push(Binding::bound(&name.text, bound, Ty::Int));
        let value = self.value_for(body, *scalar);
        self.scope.pop();
        let value = value?;
        if value.mentions_state() || !always_fits(&value, *scalar) {
            let message = "the elements of an array of open length start with constants";
            let help =
                "write `if` between constants, such as `[i in 0..N-1: if i == 0 then 1 else 0]`";
            self.report(Diagnostic::error("open-array", body.span, message).help(help));
            return None;
        }

        let element = Expr::Read(Place {
            var: id,
            owner: None,
            path: vec![Access::Index(Expr::Bound(bound))],
        });
        self.parts.init.push(Expr::Quantified {
            quantifier: Quantifier::Forall,
            bound,
            lo: Box::new(lo),
            hi: Box::new(hi),
            body: Box::new(Expr::binary(BinaryOp::Eq, element, value)),
        });
        Some(Initial::Any)
    }

    /// `a := e` for an array of open length: a loop over its elements. Its values must not depend on
    /// what the loop has stored.
    pub(super) fn open_assignment(
        &mut self,
        place: Place,
        array: &ArrayType,
        (expr, span): (&'a ast::Expr, Span),
        out: &mut Vec<Stmt>,
    ) -> Option<()> {
        let Type::Scalar(scalar) = array.element else {
            self.report_open_array(expr.span);
            return None;
        };
        let element = |bound| vec![Access::Index(Expr::Bound(bound))];
        let (bound, value) = match &expr.kind {
            ExprKind::Comprehension(name, lo, hi, body) => {
                self.check_indices_of(array, lo, hi)?;
                let bound = self.fresh_bound(&name.text);
                self.scope.push(Binding::bound(&name.text, bound, Ty::Int));
                let value = self.value_for(body, scalar);
                self.scope.pop();
                (bound, value?)
            }
            ExprKind::Array(_) => {
                self.report_open_array(expr.span);
                return None;
            }
            _ => {
                let bound = self.fresh_bound("index");
                match self.operand(expr, Some(ty_of(scalar)))? {
                    Value::Composite(mut other, Type::Array(ty)) if *ty == *array => {
                        other.path.extend(element(bound));
                        (bound, Expr::Read(other))
                    }
                    Value::Composite(..) | Value::Cells(..) => {
                        self.report_open_array(expr.span);
                        return None;
                    }
                    Value::Scalar(..) => (bound, self.value_for(expr, scalar)?),
                }
            }
        };

        let mut is_settled = true;
        value.for_each_read(&mut |read| {
            is_settled &= read.var != place.var || read.path == element(bound);
        });
        if !is_settled {
            let message = "the new elements of an array of open length depend on other elements";
            let help = "the elements are assigned one after the other: copy the array first";
            self.report(Diagnostic::error("open-array", expr.span, message).help(help));
            return None;
        }
        let (parameter, ..) = self.open.parameters.last()?;
        let length = model::as_open_end(i64::try_from(array.len).ok()?)?;
        let last = Expr::binary(
            BinaryOp::Add,
            Expr::Bound(*parameter),
            Expr::Int(length.saturating_add(array.lo).saturating_sub(1)),
        );
        let mut place = place;
        place.path.extend(element(bound));
        let body = vec![Stmt::new(StmtKind::Assign(place, value), span)];
        let all = StmtKind::For(bound, Expr::Int(array.lo), last, body);
        out.push(Stmt::new(all, span));
        Some(())
    }

    pub(super) fn report_open_array(&mut self, span: Span) {
        let message = "an array of open length cannot be treated as a whole";
        self.report(
            Diagnostic::error("open-array", span, message)
                .help("assign its elements with `for i in … { a[i] := … }`"),
        );
    }

    pub(super) fn is_open_range(&mut self, binder: &'a Binder) -> bool {
        self.mentions_parameter(&binder.hi) || self.mentions_parameter(&binder.lo)
    }

    /// Is this a quantifier over processes that can be pulled out of the whole question?
    pub(super) fn is_distinguishing(&mut self, expr: &'a ast::Expr) -> bool {
        // Threshold automata count processes, so conditions about all of them are conditions on states.
        let pullable = self.open.pullable.filter(|_| !self.open.several);
        let Some(universal) = pullable else {
            return false;
        };
        let wanted = if universal {
            Quantifier::Forall
        } else {
            Quantifier::Exists
        };
        match &expr.kind {
            ExprKind::Quantified {
                quantifier,
                binders,
                ..
            } if *quantifier == wanted => {
                let n_names: usize = binders.iter().map(|binder| binder.names.len()).sum();
                let n_names = n_names + self.open.scope.distinguished.len();
                n_names <= MAX_DISTINGUISHED && binders.iter().all(|b| self.is_open_range(b))
            }
            _ => false,
        }
    }

    /// Translates a part of a formula that stands at `position` in it.
    pub(super) fn below(&mut self, position: Position, expr: &'a ast::Expr) -> Option<Ltl> {
        let outer = self.open.pullable;
        self.open.pullable = match position {
            Position::Same => outer,
            Position::Negation => outer.map(|universal| !universal),
            Position::Always => outer.filter(|universal| *universal),
            Position::Eventually => outer.filter(|universal| !*universal),
            Position::Elsewhere => None,
        };
        let formula = self.formula(expr);
        self.open.pullable = outer;
        formula
    }

    /// The instances of a formula quantified over an open range: one, with the name left open.
    pub(super) fn distinguish(
        &mut self,
        is_forall: bool,
        names: &[(&'a str, &'a Binder, bool)],
        body: &'a ast::Expr,
        parts: &mut Vec<Ltl>,
    ) -> Option<()> {
        let (&(name, binder, is_last), others) = names.split_first()?;
        let span = binder.lo.span.to(binder.hi.span);
        if self.open.pullable != Some(is_forall) {
            self.report_inner_quantifier(span);
            return None;
        }
        if self.open.scope.distinguished.len() == MAX_DISTINGUISHED {
            let message = format!("more than {MAX_DISTINGUISHED} processes are distinguished");
            self.report(Diagnostic::error("open-quantifier", span, message));
            return None;
        }

        let (lo, hi) = (self.int_expr(&binder.lo)?, self.int_expr(&binder.hi)?);
        let bound = self.fresh_bound(name);
        self.open.scope.distinguished.push(Distinguished {
            bound,
            name: name.to_owned(),
            lo,
            hi,
        });
        self.scope.push(Binding::bound(name, bound, Ty::Int));

        let condition = binder.condition.as_ref().filter(|_| is_last);
        let done = self.conditional_instances(is_forall, condition, others, body, parts);
        self.scope.pop();
        done
    }

    fn report_inner_quantifier(&mut self, span: Span) {
        let message = "a formula over all processes can only be quantified from outside";
        self.report(Diagnostic::error("open-quantifier", span, message).help(
            "`forall` may stand below `always`, `next`, `&&`, `||` and right of `->` only, `exists` below their negations",
        ));
    }

    /// A condition on distinguished processes that mentions no state becomes part of the question;
    /// the formula `true` is left of it. Nothing for other conditions.
    pub(super) fn distinguishing_condition(
        &mut self,
        is_forall: bool,
        condition: &'a ast::Expr,
    ) -> Option<Option<Ltl>> {
        if self.open.pullable != Some(is_forall) || self.is_temporal(condition, 0) {
            return Some(None);
        }
        let lowered = self.bool_expr(condition)?;
        if lowered.mentions_state() {
            return Some(None);
        }
        let scope = &mut self.open.scope;
        let before = std::mem::replace(&mut scope.condition, Expr::Bool(true));
        scope.condition = Expr::all([before, lowered]);
        Some(Some(Ltl::tt()))
    }

    /// The distinguished process that an index of a step is, if it is one.
    pub(super) fn open_index(&mut self, index: &'a ast::Expr) -> Option<BoundId> {
        let ExprKind::Name(name) = &index.kind else {
            return None;
        };
        let binding = self.binding(name)?;
        // shape: distinguished processes are bound names.
        let super::names::Value::Scalar(Expr::Bound(bound), _) = binding.value else {
            return None;
        };
        let distinguished = &self.open.scope.distinguished;
        distinguished
            .iter()
            .any(|known| known.bound == bound)
            .then_some(bound)
    }

    /// Translates a question whose outermost quantifiers may range over all processes.
    pub(super) fn question<T>(&mut self, translate: impl FnOnce(&mut Self) -> T) -> (T, Scope) {
        self.open.scope = Scope::default();
        self.open.pullable = (!self.open.parameters.is_empty()).then_some(true);
        let result = translate(self);
        self.open.pullable = None;
        (result, std::mem::take(&mut self.open.scope))
    }

    /// Reports `abstract` blocks for questions that do not exist.
    pub(super) fn check_blocks(&mut self, file: &'a File) {
        let known: Vec<&str> = questions(file)
            .map(|decl| decl.name.text.as_str())
            .collect();
        let blocks = file.decls.iter().filter_map(as_block);
        for name in blocks.flat_map(|block| &block.properties) {
            if let Some(declared) = known.iter().find(|known| **known == name.text) {
                self.resolution.found(&name.text, declared);
                continue;
            }
            let message = format!("there is no property `{}`", name.text);
            let diagnostic = Diagnostic::error("unknown-name", name.span, message);
            let help = match base::closest_name(&name.text, known.iter().copied()) {
                Some(meant) => format!("did you mean `{meant}`?"),
                None if known.is_empty() => "this model has no properties".to_owned(),
                None => format!("the properties are `{}`", known.join("`, `")),
            };
            self.report(diagnostic.help(help));
        }
    }

    /// What `abstract` blocks say about the question with this name.
    pub(super) fn hints(&mut self, file: &'a File, property: &str, scope: &mut Scope) {
        let n_bound = self.scope.len();
        for distinguished in &scope.distinguished {
            let binding = Binding::bound(&distinguished.name, distinguished.bound, Ty::Int);
            self.scope.push(binding);
        }
        let known: Vec<String> = scope.distinguished.iter().map(|d| d.name.clone()).collect();
        for block in file.decls.iter().filter_map(as_block) {
            let is_meant = |name: &Ident| name.text == property;
            if block.properties.is_empty() || block.properties.iter().any(is_meant) {
                let mut foreign = names_of_questions(file, block);
                foreign.retain(|name| !known.contains(name));
                self.hints_of_block(block, &foreign, &mut scope.hints);
            }
        }
        self.scope.truncate(n_bound);
    }

    /// What a block says, without entries about processes of another question (`foreign`).
    fn hints_of_block(&mut self, block: &'a AbstractDecl, foreign: &[String], hints: &mut Hints) {
        let is_ours = |expr: &ast::Expr, own: Option<&Ident>| {
            let mut others = foreign
                .iter()
                .filter(|name| own.is_none_or(|own| own.text != **name));
            !others.any(|name| mentions_name(expr, name))
        };

        hints.only |= block.only;
        for (name, expr) in &block.predicates {
            if is_ours(expr, None) {
                hints.predicates.extend(self.hint(name, expr));
            }
        }
        for (name, expr) in &block.invariants {
            if is_ours(expr, None) {
                hints.invariants.extend(self.hint(name, expr));
            }
        }

        for (name, index, expr) in &block.rankings {
            if !is_ours(expr, Some(index)) {
                continue;
            }
            let bound = self.fresh_bound(&index.text);
            self.scope.push(Binding::bound(&index.text, bound, Ty::Int));
            let hint = self.hint(name, expr);
            self.scope.pop();
            hints.rankings.extend(hint.map(|hint| (bound, hint)));
        }
    }

    fn hint(&mut self, name: &Ident, expr: &'a ast::Expr) -> Option<Hint> {
        let span = expr.span;
        let expr = self.bool_expr(expr)?;
        Some(Hint {
            name: name.text.clone(),
            expr,
            span,
        })
    }
}

/// The questions of a file.
fn questions(file: &File) -> impl Iterator<Item = &ast::PropertyDecl> {
    file.decls.iter().filter_map(|decl| match decl {
        Decl::Property(property) => Some(property),
        _ => None,
    })
}

fn as_block(decl: &Decl) -> Option<&AbstractDecl> {
    match decl {
        Decl::Abstract(block) => Some(block),
        _ => None,
    }
}

/// The names that quantifiers of the properties bind that a block is for.
fn names_of_questions(file: &File, block: &AbstractDecl) -> Vec<String> {
    let mut names = Vec::new();

    for property in questions(file) {
        let is_this = |name: &Ident| name.text == property.name.text;
        if !block.properties.is_empty() && !block.properties.iter().any(is_this) {
            continue;
        }
        if let ast::PropertyBody::Holds(expr) | ast::PropertyBody::Invariant(expr) =
            &property.question
        {
            each_part(expr, &mut |part| {
                if let ExprKind::Quantified { binders, .. } = &part.kind {
                    let bound = binders.iter().flat_map(|binder| &binder.names);
                    names.extend(bound.map(|name| name.text.clone()));
                }
            });
        }
    }

    names.sort_unstable();
    names.dedup();
    names
}

/// Does the name occur outside quantifiers that bind it?
fn mentions_name(expr: &ast::Expr, name: &str) -> bool {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        match &expr.kind {
            ExprKind::Name(other) if other == name => return true,
            ExprKind::Quantified { binders, .. }
                if binders
                    .iter()
                    .any(|b| b.names.iter().any(|n| n.text == name)) => {}
            _ => stack.extend(parts_of(expr)),
        }
    }
    false
}

fn each_part(expr: &ast::Expr, visit: &mut dyn FnMut(&ast::Expr)) {
    let mut stack = vec![expr];
    while let Some(expr) = stack.pop() {
        visit(expr);
        stack.extend(parts_of(expr));
    }
}

/// What an expression consists of directly.
fn parts_of(expr: &ast::Expr) -> Vec<&ast::Expr> {
    match &expr.kind {
        ExprKind::Index(a, b) | ExprKind::Binary(_, a, b) => vec![a, b],
        ExprKind::Field(a, _)
        | ExprKind::AnyStep(a)
        | ExprKind::Unary(_, a)
        | ExprKind::Path(_, a)
        | ExprKind::At(Some(a), _) => vec![a],
        ExprKind::Call(a, rest) => [&**a].into_iter().chain(rest).collect(),
        ExprKind::Chain(a, rest) => [&**a]
            .into_iter()
            .chain(rest.iter().map(|(_, part)| part))
            .collect(),
        ExprKind::If(a, b, c)
        | ExprKind::Comprehension(_, a, b, c)
        | ExprKind::Between(a, b, c) => vec![a, b, c],
        ExprKind::First(domain) | ExprKind::Last(domain) => vec![domain],
        ExprKind::In {
            element, domain, ..
        } => vec![element, domain],
        ExprKind::Filter(binder) => binder_parts(binder).collect(),
        ExprKind::Image(body, binder) | ExprKind::MapOf(binder, body) => {
            binder_parts(binder).chain([&**body]).collect()
        }
        ExprKind::Entries(entries) => entries.iter().flat_map(|(k, v)| [k, v]).collect(),
        ExprKind::Quantified { binders, body, .. } => binders
            .iter()
            .flat_map(binder_parts)
            .chain([&**body])
            .collect(),
        ExprKind::Array(parts) | ExprKind::Set(parts) => parts.iter().collect(),
        ExprKind::Int(_)
        | ExprKind::Bool(_)
        | ExprKind::Name(_)
        | ExprKind::At(None, _)
        | ExprKind::Any => Vec::new(),
    }
}

fn binder_parts(binder: &ast::Binder) -> impl Iterator<Item = &ast::Expr> {
    let condition = binder.condition.as_ref();
    [&binder.lo, &binder.hi].into_iter().chain(condition)
}

/// Is this an array whose length depends on the parameter?
pub(super) fn is_open(ty: &Type) -> bool {
    matches!(ty, Type::Array(array) if model::as_open_end(array.len as i64).is_some())
}

/// The type itself; of an array of open length, the type of its elements, which all start alike.
pub(super) fn closed_part(ty: &Type) -> &Type {
    match ty {
        Type::Array(array) if is_open(ty) => &array.element,
        ty => ty,
    }
}

/// Is every value of the expression one of the type, whatever the parameter is?
fn always_fits(expr: &Expr, scalar: Scalar) -> bool {
    // shape: of other expressions it is not known.
    if let Expr::Ite(_, then, otherwise) = expr {
        return always_fits(then, scalar) && always_fits(otherwise, scalar);
    }
    // shape: what else is a value of an enumeration is not known.
    let is_variant = matches!(expr, Expr::Enum(..));
    let literal = expr.as_literal();
    scalar == Scalar::Bool || is_variant || literal.is_some_and(|value| scalar.contains(value))
}

/// Does the size of a family of processes depend on the parameter with this name?
pub(crate) fn is_family_size(file: &File, name: &str) -> bool {
    let mut processes = file.decls.iter().filter_map(|decl| match decl {
        Decl::Process(process) => Some(process),
        _ => None,
    });
    processes.any(|process| {
        process
            .indices
            .iter()
            .any(|(_, _, hi)| mentions_name(hi, name))
    })
}

/// The factor of the parameter and the constant, if the expression is such a sum.
fn linear(expr: &Expr, parameter: BoundId) -> Option<(i64, i64)> {
    match expr {
        Expr::Int(value) => Some((0, *value)),
        Expr::Bound(bound) if *bound == parameter => Some((1, 0)),
        Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) => {
            let (a, b) = (linear(left, parameter)?, linear(right, parameter)?);
            match op {
                BinaryOp::Add => Some((a.0 + b.0, a.1.checked_add(b.1)?)),
                _ => Some((a.0 - b.0, a.1.checked_sub(b.1)?)),
            }
        }
        Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Bound(_)
        | Expr::Not(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::At { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => None,
    }
}

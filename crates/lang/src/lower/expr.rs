//! Expressions: operators, conditionals and quantifiers, with their types.

use base::{Diagnostic, Span};
use model::{BinaryOp, Expr, Quantifier};

use super::constants::simplify;
use super::names::{Ty, Value};
use super::{Lowerer, MAX_EXPANSION};
use crate::ast::{self, Binder, ExprKind, UnaryOp};

/// Chains of operators up to this length are grouped to the left, as written; longer ones are
/// balanced, so that they do not nest deeply.
const MAX_LEFT_CHAIN: usize = 32;

const REACH: &str =
    "a `count` or `sum` reaches as far to the right as possible; put it in parentheses";

/// What a quantified expression makes of its instances, and of the condition of its binder.
#[derive(Clone, Copy)]
struct QuantifierKind {
    quantifier: Quantifier,
    counts: bool,
}

impl<'a> Lowerer<'a> {
    /// A Boolean expression.
    pub(super) fn bool_expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        self.scalar_of(expr, Ty::Bool)
    }

    /// An integer expression.
    pub(super) fn int_expr(&mut self, expr: &'a ast::Expr) -> Option<Expr> {
        self.scalar_of(expr, Ty::Int)
    }

    /// An expression of the type `wanted`.
    pub(super) fn scalar_of(&mut self, expr: &'a ast::Expr, wanted: Ty) -> Option<Expr> {
        let (lowered, found) = self.scalar(expr, Some(wanted))?;
        if found == wanted {
            return Some(lowered);
        }
        self.report_mismatch(expr, wanted, found);
        None
    }

    /// An expression whose value fits into a cell. `expected` only helps to tell values of
    /// different enumerations with the same name apart.
    pub(super) fn scalar(
        &mut self,
        expr: &'a ast::Expr,
        expected: Option<Ty>,
    ) -> Option<(Expr, Ty)> {
        match self.operand(expr, expected)? {
            Value::Scalar(lowered, ty) => Some((lowered, ty)),
            Value::Composite(..) | Value::Cells(..) => {
                let message = "this is a whole array or record, but a single value is needed";
                self.report(
                    Diagnostic::error("not-scalar", expr.span, message)
                        .help("select a component with `[…]` or `.name`"),
                );
                None
            }
        }
    }

    fn report_mismatch(&mut self, expr: &ast::Expr, wanted: Ty, found: Ty) {
        let (wanted_name, found_name) = (self.ty_name(wanted), self.ty_name(found));
        let message = format!("expected {wanted_name}, found {found_name}");
        let mut diagnostic = Diagnostic::error("type-mismatch", expr.span, message);
        // shape: for a hint in a message only.
        if let ExprKind::Quantified {
            quantifier: Quantifier::Sum,
            ..
        } = expr.kind
        {
            diagnostic = diagnostic.help(REACH);
        } else if wanted == Ty::Bool && found == Ty::Int && !matches!(expr.kind, ExprKind::Int(_)) {
            diagnostic = diagnostic.help("compare it, for example with `== 1`");
        }
        self.report(diagnostic);
    }

    /// Adds to an error in the body of a sum that the comparison may have been meant outside.
    fn explain_reach(&mut self, body: &ast::Expr) {
        let is_comparison = matches!(body.kind, ExprKind::Binary(ast::BinaryOp::Model(_), ..));
        if let Some(last) = self.diagnostics.last_mut()
            && is_comparison
            && last.code == "type-mismatch"
            && last.help.is_empty()
        {
            last.help.push(REACH.to_owned());
        }
    }

    /// Adds to an error about an integer that `=>` is not a comparison.
    fn explain_implication(&mut self) {
        if let Some(last) = self.diagnostics.last_mut()
            && last.code == "type-mismatch"
            && last.message.ends_with("found an integer")
        {
            last.help
                .push("`->` and `=>` are implications; `>=` is \"at least\"".to_owned());
        }
    }

    /// What an expression denotes.
    pub(super) fn operand(&mut self, expr: &'a ast::Expr, expected: Option<Ty>) -> Option<Value> {
        self.spend(1, 1, expr.span)?;
        self.depth += 1;
        let is_stored = std::mem::replace(&mut self.is_stored, false);
        let value = self.operand_here(expr, expected);
        self.is_stored = is_stored;
        self.depth -= 1;
        value
    }

    fn operand_here(&mut self, expr: &'a ast::Expr, expected: Option<Ty>) -> Option<Value> {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value) => Some(Value::Scalar(Expr::Int(*value), Ty::Int)),
            ExprKind::Bool(value) => Some(Value::Scalar(Expr::Bool(*value), Ty::Bool)),
            ExprKind::Name(name) => self.name(name, span, expected),
            ExprKind::Index(base, index) => self.index(base, index, span),
            ExprKind::Field(base, field) => self.field(base, field),
            ExprKind::Call(function, arguments) => self.call(expr, function, arguments, span),
            ExprKind::At(process, locations) => self.at(process.as_deref(), locations, span),
            ExprKind::AnyStep(_) => self.report_step_proposition(span),
            ExprKind::Unary(UnaryOp::Not, inner) => {
                let inner = self.bool_expr(inner)?;
                Some(Value::Scalar(Expr::not(inner), Ty::Bool))
            }
            ExprKind::Unary(UnaryOp::Minus, inner) => {
                let inner = self.int_expr(inner)?;
                let negated = simplify(Expr::Neg(Box::new(inner)), Ty::Int);
                Some(Value::Scalar(negated, Ty::Int))
            }
            ExprKind::Unary(..) | ExprKind::Path(..) => self.report_temporal(span),
            ExprKind::Binary(
                ast::BinaryOp::Union | ast::BinaryOp::Intersection | ast::BinaryOp::Difference,
                ..,
            )
            | ExprKind::Filter(_)
            | ExprKind::Image(..) => {
                let (cells, ty) = self.cells_of_shaped(expr)?;
                Some(Value::Cells(cells, ty))
            }
            ExprKind::Binary(ast::BinaryOp::Subset, left, right) => {
                Some(Value::Scalar(self.subset(left, right)?, Ty::Bool))
            }
            ExprKind::First(domain) => {
                let (lo, _, _) = self.domain_bounds(domain)?;
                Some(Value::Scalar(Expr::Int(lo), Ty::Int))
            }
            ExprKind::Last(domain) => {
                let (_, hi, _) = self.domain_bounds(domain)?;
                Some(Value::Scalar(Expr::Int(hi), Ty::Int))
            }
            ExprKind::In {
                element,
                domain,
                is_bound,
            } => {
                let member = self.membership(element, domain, *is_bound)?;
                Some(Value::Scalar(member, Ty::Bool))
            }
            ExprKind::Between(element, lo, hi) => {
                let value = self.int_expr(element)?;
                let (lo, hi) = (self.int_expr(lo)?, self.int_expr(hi)?);
                let above = Expr::binary(BinaryOp::Le, lo, self.copy_of(&value));
                let below = Expr::binary(BinaryOp::Le, value, hi);
                let both = Expr::binary(
                    BinaryOp::And,
                    simplify(above, Ty::Bool),
                    simplify(below, Ty::Bool),
                );
                Some(Value::Scalar(simplify(both, Ty::Bool), Ty::Bool))
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, span),
            ExprKind::Chain(first, rest) => self.chain(first, rest),
            ExprKind::If(condition, then, otherwise) => {
                if self.shape_of(expr).is_some() {
                    let (cells, ty) = self.cells_of_shaped(expr)?;
                    return Some(Value::Cells(cells, ty));
                }
                let condition = self.bool_expr(condition);
                let (then, ty) = self.scalar(then, expected)?;
                let otherwise = self.scalar_of(otherwise, ty)?;
                let parts = [condition?, then, otherwise].map(Box::new);
                let [condition, then, otherwise] = parts;
                Some(Value::Scalar(Expr::Ite(condition, then, otherwise), ty))
            }
            ExprKind::Quantified {
                quantifier,
                counts,
                binders,
                body,
            } => {
                let kind = QuantifierKind {
                    quantifier: *quantifier,
                    counts: *counts,
                };
                let names = names_of(binders);
                let expr = self.quantified(kind, &names, body);

                // A `sum` swallows a comparison to its right; that is the usual reason why its body
                // is wrong.
                if expr.is_none() && *quantifier == Quantifier::Sum {
                    self.explain_reach(body);
                }
                let expr = expr?;
                let ty = match quantifier {
                    Quantifier::Sum => Ty::Int,
                    Quantifier::Forall | Quantifier::Exists => Ty::Bool,
                };
                Some(Value::Scalar(expr, ty))
            }
            ExprKind::Set(_) | ExprKind::Entries(_) | ExprKind::MapOf(..) => {
                let message = "what set or map this is cannot be told from it alone";
                let help =
                    "use it beside a variable of its type, as in `votes == {1}` or `x in {1, 2}`";
                self.report(Diagnostic::error("misplaced-set", span, message).help(help));
                None
            }
            ExprKind::Array(_) | ExprKind::Comprehension(..) => {
                let message = "a list can only be an initial value, be assigned to or compared with an array or sequence";
                self.report(Diagnostic::error("misplaced-list", span, message));
                None
            }
            ExprKind::Any => {
                let message = "`any` can only be the initial value of a variable";
                self.report(Diagnostic::error("misplaced-any", span, message));
                None
            }
        }
    }

    fn report_temporal(&mut self, span: Span) -> Option<Value> {
        let message = "a temporal operator cannot stand inside an expression of the state";
        self.report(
            Diagnostic::error("temporal-operator", span, message)
                .help("temporal operators are possible in properties and assumptions only, below `&&`, `||`, `!`, `->`, `<->`, `if` and quantifiers"),
        );
        None
    }

    pub(super) fn report_step_proposition(&mut self, span: Span) -> Option<Value> {
        let message = "a step can only be spoken of in properties and assumptions";
        self.report(Diagnostic::error("step-proposition", span, message));
        None
    }

    fn binary(
        &mut self,
        op: ast::BinaryOp,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
        span: Span,
    ) -> Option<Value> {
        let (op, operands) = match op {
            ast::BinaryOp::Model(BinaryOp::Implies) => (BinaryOp::Implies, Some(Ty::Bool)),
            ast::BinaryOp::Iff => (BinaryOp::Eq, Some(Ty::Bool)),
            ast::BinaryOp::Model(op @ (BinaryOp::Eq | BinaryOp::Ne)) => {
                if let Some(equal) = self.equal_cells(left, right) {
                    let equal = equal?;
                    let result = match op {
                        BinaryOp::Ne => simplify(Expr::not(equal), Ty::Bool),
                        _ => equal,
                    };
                    return Some(Value::Scalar(result, Ty::Bool));
                }
                (op, None)
            }
            ast::BinaryOp::Model(op) => (op, Some(Ty::Int)),
            _ => return self.report_temporal(span),
        };
        let (a, b) = match operands {
            // The right side of a wrong implication tells nothing new.
            Some(Ty::Bool) => match self.scalar_of(left, Ty::Bool) {
                Some(left) => (Some(left), self.scalar_of(right, Ty::Bool)),
                None => (None, None),
            },
            Some(ty) => (self.scalar_of(left, ty), self.scalar_of(right, ty)),
            None => self.comparable(left, right),
        };
        if a.is_none() && op == BinaryOp::Implies {
            self.explain_implication();
        }
        let result = Expr::binary(op, a?, b?);
        Some(Value::Scalar(simplify(result, Ty::Bool), Ty::Bool))
    }

    /// Two values of the same type. If the first is a name of several enumerations, the second
    /// says which is meant.
    pub(super) fn comparable(
        &mut self,
        left: &'a ast::Expr,
        right: &'a ast::Expr,
    ) -> (Option<Expr>, Option<Expr>) {
        if self.is_ambiguous(left) {
            let Some((b, ty)) = self.scalar(right, None) else {
                return (None, None);
            };
            return (self.scalar_of(left, ty), Some(b));
        }

        if let Some(both) = self.unbounded_arrays(left, right) {
            return both;
        }

        match self.scalar(left, None) {
            Some((a, ty)) => (Some(a), self.scalar_of(right, ty)),
            None => {
                self.scalar(right, None);
                (None, None)
            }
        }
    }

    fn is_ambiguous(&self, expr: &ast::Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => {
                self.variants
                    .get(name.as_str())
                    .is_some_and(|v| v.len() > 1)
                    && self.binding(name).is_none()
                    && self.local(name).is_none()
            }
            _ => false,
        }
    }

    fn chain(&mut self, first: &'a ast::Expr, rest: &'a [(BinaryOp, ast::Expr)]) -> Option<Value> {
        let is_logical = matches!(rest.first(), Some((BinaryOp::And | BinaryOp::Or, _)));
        let ty = if is_logical { Ty::Bool } else { Ty::Int };
        let mut operands = vec![(BinaryOp::Add, self.scalar_of(first, ty))];
        for (op, operand) in rest {
            operands.push((*op, self.scalar_of(operand, ty)));
        }
        let all: Option<Vec<(BinaryOp, Expr)>> = operands
            .into_iter()
            .map(|(op, operand)| Some((op, operand?)))
            .collect();
        let all = all?;
        if all.len() <= MAX_LEFT_CHAIN {
            return Some(Value::Scalar(group_left(all, ty), ty));
        }

        match balance(all, ty) {
            Some(expr) => Some(Value::Scalar(expr, ty)),
            None => {
                let message = format!("more than {MAX_LEFT_CHAIN} products and quotients in a row");
                self.report(Diagnostic::error("too-deep", first.span, message));
                None
            }
        }
    }

    /// Quantifies over the names one after the other; a condition is added at the last name of
    /// its binder.
    fn quantified(
        &mut self,
        kind: QuantifierKind,
        names: &[(&'a str, &'a Binder, bool)],
        body: &'a ast::Expr,
    ) -> Option<Expr> {
        let Some((&(name, binder, is_last), others)) = names.split_first() else {
            return match kind {
                QuantifierKind {
                    quantifier: Quantifier::Sum,
                    counts: false,
                } => self.int_expr(body),
                _ => self.bool_expr(body),
            };
        };

        self.spend(1, 1, body.span)?;
        let (ranges, binding) = self.ranges_of(name, &binder.lo, &binder.hi)?;
        self.scope.push(binding);
        self.depth += 1;

        let inner = self.quantified_below(kind, binder, is_last, others, body);
        self.depth -= 1;
        self.scope.pop();
        Some(super::built::quantified(kind.quantifier, ranges, inner?))
    }

    fn quantified_below(
        &mut self,
        kind: QuantifierKind,
        binder: &'a Binder,
        is_last: bool,
        others: &[(&'a str, &'a Binder, bool)],
        body: &'a ast::Expr,
    ) -> Option<Expr> {
        let condition = match &binder.condition {
            Some(condition) if is_last => Some(self.bool_expr(condition)),
            _ => None,
        };

        let inner = self.quantified(kind, others, body)?;
        let Some(condition) = condition else {
            return Some(inner);
        };
        let condition = condition?;

        // A sum that counts adds truth values, so that what is not counted is false; other sums add zero.
        Some(match kind.quantifier {
            Quantifier::Forall => Expr::binary(BinaryOp::Implies, condition, inner),
            Quantifier::Exists => Expr::binary(BinaryOp::And, condition, inner),
            Quantifier::Sum if kind.counts && others.is_empty() => {
                Expr::binary(BinaryOp::And, condition, inner)
            }
            Quantifier::Sum => {
                let parts = [condition, inner, Expr::Int(0)].map(Box::new);
                let [condition, inner, zero] = parts;
                Expr::Ite(condition, inner, zero)
            }
        })
    }

    pub(super) fn check_range_size(&mut self, lo: &Expr, hi: &Expr, span: Span) -> Option<()> {
        // shape: a range whose size is not written down is counted when it is evaluated; one up to
        // the greatest number would stand for one without an end.
        let is_small = if let (Expr::Int(lo), Expr::Int(hi)) = (lo, hi) {
            i128::from(*hi) - i128::from(*lo) < i128::from(MAX_EXPANSION)
        } else {
            !model::is_endless_choice(hi)
        };
        if is_small {
            return Some(());
        }
        let message = "this range has too many values";
        let help = format!("at most {MAX_EXPANSION} are possible");
        self.report(Diagnostic::error("range-too-large", span, message).help(help));
        None
    }
}

/// All names with their binders, and whether a name is the last of its binder.
pub(super) fn names_of(binders: &[Binder]) -> Vec<(&str, &Binder, bool)> {
    let mut names = Vec::new();
    for binder in binders {
        let last = binder.names.len() - 1;
        for (position, name) in binder.names.iter().enumerate() {
            names.push((name.text.as_str(), binder, position == last));
        }
    }
    names
}

fn group_left(operands: Vec<(BinaryOp, Expr)>, ty: Ty) -> Expr {
    let mut operands = operands.into_iter();
    let first = operands.next().map_or(Expr::Int(0), |(_, first)| first);
    operands.fold(first, |left, (op, right)| {
        simplify(Expr::binary(op, left, right), ty)
    })
}

/// The same value with logarithmic nesting. Differences become sums of negations. Nothing if
/// there are quotients or remainders, which cannot be regrouped.
fn balance(operands: Vec<(BinaryOp, Expr)>, ty: Ty) -> Option<Expr> {
    let op = match operands.get(1)?.0 {
        BinaryOp::Sub => BinaryOp::Add,
        op => op,
    };
    let mut level = Vec::new();

    for (position, (own, operand)) in operands.into_iter().enumerate() {
        level.push(match own {
            _ if position == 0 => operand,
            BinaryOp::Sub => simplify(Expr::Neg(Box::new(operand)), Ty::Int),
            BinaryOp::Div | BinaryOp::Mod => return None,
            _ => operand,
        });
    }

    while level.len() > 1 {
        let mut next = Vec::with_capacity(level.len().div_ceil(2));
        let mut pairs = level.into_iter();
        while let Some(left) = pairs.next() {
            next.push(match pairs.next() {
                Some(right) => simplify(Expr::binary(op, left, right), ty),
                None => left,
            });
        }
        level = next;
    }

    level.pop()
}

//! What names range over, besides ranges of numbers.

use base::Diagnostic;
use model::{BinaryOp, BoundId, Expr, Type};

use super::Lowerer;
use super::names::{Global, Ty};
use super::types::ty_of;
use super::values::{Special, any};
use crate::ast::{self, ExprKind, TypeExpr};

impl<'a> Lowerer<'a> {
    /// The least and the greatest value of a domain that is not written as a range.
    pub(super) fn domain_bounds(&mut self, domain: &'a ast::Expr) -> Option<(i64, i64, Ty)> {
        if let Some(bounds) = self.domain_bounds_of_name(domain) {
            return Some(bounds);
        }

        let bounds = match &domain.kind {
            ExprKind::Set(listed) => self.bounds_of_list(listed),
            _ => {
                let ty = self.shape_of(domain);
                match ty.and_then(|ty| self.special(&ty)) {
                    Some(
                        Special::Set(element) | Special::Bag(_, element) | Special::Map(element, _),
                    ) => {
                        let Type::Scalar(scalar) = element else {
                            self.report_composite_domain(domain);
                            return None;
                        };
                        let (lo, hi) = scalar.bounds();
                        Some((lo, hi, ty_of(scalar)))
                    }
                    _ => None,
                }
            }
        };

        // What is wrong with the domain itself has been reported already.
        if bounds.is_none() && !self.has_errors() {
            let message = "a name ranges over `first..last`, the values of an enumeration, the indices \
                           of a family of processes, or the elements of a set";
            self.report(Diagnostic::error("not-a-domain", domain.span, message));
        }

        bounds
    }

    /// Refuses indices that leave out values between the first and the last: there would be processes,
    /// elements, channels or keys that are not meant.
    pub(super) fn check_indices(&mut self, lo: &'a ast::Expr) -> Option<()> {
        let ExprKind::First(domain) = &lo.kind else {
            return Some(());
        };
        if self.domain_bounds_of_name(domain).is_some() || self.record_named(domain).is_some() {
            return Some(());
        }
        let help = if let ExprKind::Set(listed) = &domain.kind {
            let (first, last, _) = self.bounds_of_list(listed)?;
            let mut values = Vec::new();
            for element in listed {
                values.push(self.constant_value(element)?.0);
            }
            values.sort_unstable();
            values.dedup();
            if values.len() as i64 == last.saturating_sub(first).saturating_add(1) {
                return Some(());
            }
            format!(
                "write `{first}..{last}`, and say in guards for which of them something is meant"
            )
        } else if self.shape_of(domain).is_some() {
            "write `first..last`; which of them are elements of a set is for guards to say"
                .to_owned()
        } else {
            return Some(());
        };

        let message = "indices are a range without gaps, an enumeration or those of a family";
        self.report(Diagnostic::error("indices-with-gaps", domain.span, message).help(help));
        None
    }

    /// Of a type or a family of processes.
    pub(super) fn domain_bounds_of_name(&self, domain: &ast::Expr) -> Option<(i64, i64, Ty)> {
        let ExprKind::Name(name) = &domain.kind else {
            return None;
        };
        match self.unshadowed(name)? {
            Global::Enum(id) => {
                let scalar = self.enum_scalar(id)?;
                let (lo, hi) = scalar.bounds();
                (!scalar.is_unbounded()).then_some((lo, hi, Ty::Enum(id)))
            }
            Global::Process(id) => {
                let range = self.parts.processes[id.index()].index?;
                // Several indices are not one value.
                let [ty] = self.processes[id.index()].index_types[..] else {
                    return None;
                };
                model::as_open_end(range.hi)
                    .is_none()
                    .then_some((range.lo, range.hi, ty))
            }
            _ => None,
        }
    }

    /// Of constants.
    pub(super) fn bounds_of_list(&mut self, listed: &'a [ast::Expr]) -> Option<(i64, i64, Ty)> {
        let mut bounds: Option<(i64, i64, Ty)> = None;
        for element in listed {
            let (value, ty) = self.constant_value(element)?;
            bounds = Some(match bounds {
                None => (value, value, ty),
                Some((lo, hi, _)) => (lo.min(value), hi.max(value), ty),
            });
        }
        Some(bounds.unwrap_or((0, -1, Ty::Int)))
    }

    /// The type of the values that a name ranges over whose domain begins here.
    pub(super) fn ty_of_domain(&mut self, lo: &'a ast::Expr) -> Ty {
        match &lo.kind {
            ExprKind::First(domain) => match self.domain_bounds(domain) {
                Some((_, _, ty)) => ty,
                None => Ty::Int,
            },
            _ => Ty::Int,
        }
    }

    /// The set that a choice is from, if it is not from a type.
    pub(super) fn chosen_set(&self, domain: &'a TypeExpr) -> Option<&'a ast::Expr> {
        let ast::TypeKind::Chosen(expr) = &domain.kind else {
            return None;
        };
        let ExprKind::Name(name) = &expr.kind else {
            return Some(expr);
        };
        let is_set = self.is_place(expr) || self.definition_of(name).is_some();
        let is_family = matches!(self.unshadowed(name), Some(Global::Process(_)));
        (is_set || is_family).then_some(&**expr)
    }

    /// That a chosen value is an element of the set that it is from.
    pub(super) fn chosen_member(
        &mut self,
        bound: BoundId,
        ty: Ty,
        domain: &'a ast::Expr,
    ) -> Option<Expr> {
        if self.domain_bounds_of_name(domain).is_some() {
            return Some(Expr::Bool(true));
        }

        let value = Expr::Bound(bound);
        if let ExprKind::Set(listed) = &domain.kind {
            let mut equal = Vec::new();
            for other in listed {
                let other = self.scalar_of(other, ty)?;
                equal.push(Expr::binary(BinaryOp::Eq, value.clone(), other));
            }
            return Some(any(equal));
        }

        let shape = self.shape_of(domain)?;
        let special = self.special(&shape)?;
        let value = super::elements::bound_cell(bound, ty);
        self.member(&[value], domain, &special, true)
    }

    fn report_composite_domain(&mut self, domain: &ast::Expr) {
        let message = "the elements have several components, and a single value is needed";
        self.report(Diagnostic::error("not-scalar", domain.span, message));
    }
}

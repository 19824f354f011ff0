//! Sets.

use super::terms::Context;
use super::{Checked, Elaborator};
use crate::ast::{Element, ExprId};
use crate::naming::{SetOperator, SetTerm, Term};

impl Elaborator<'_, '_, '_> {
    /// `{a, b, c, ..., d}`.
    pub(super) fn display(
        &mut self,
        elements: &[Element],
        context: &mut Context,
    ) -> Checked<SetTerm> {
        let mut singles = Vec::new();
        let mut parts = Vec::new();

        for element in elements {
            match element {
                Element::Single(term) => singles.push(self.checked_term(*term, context)?),
                Element::Interval(from, to) => {
                    let from = self.checked_term(*from, context)?;
                    let to = self.checked_term(*to, context)?;
                    parts.push(SetTerm::Interval(from, to));
                }
            }
        }

        let singles = SetTerm::display(singles);
        let intervals = SetTerm::union_of(parts);
        Ok(match (&singles, &intervals) {
            (_, SetTerm::Empty) => singles,
            (SetTerm::Empty, _) => intervals,
            _ => SetTerm::operation(SetOperator::Union, singles, intervals),
        })
    }

    /// A term that is not a negative number.
    fn checked_term(&mut self, id: ExprId, context: &mut Context) -> Checked<Term> {
        let term = self.term(id, context)?;
        self.check_sign(&term, self.expr(id).1)?;
        Ok(term)
    }
}

//! Sequences and bags without a bound: `seq of T`, `bag of T`.
//!
//! Their bound is found by trying. As many elements are provided for as [`source::Options::pool`] says,
//! and a step that needs more ends in [`model::ErrorKind::Exhausted`], which is not a verdict: the
//! text is read again with more room. So an answer never depends on how much was provided for: what was
//! found without that error is a run, or all runs, of sequences of any length.
//!
//! Longer values than are provided for can be computed only where they are stored or sent; their
//! length is then [`model::BEYOND_ROOM`]. Where a condition would ask for such a value, it is an error
//! of the text.

use base::{Diagnostic, Span};
use model::{BEYOND_ROOM, BinaryOp, Expr, RecordForm, Stmt, StmtKind, Type};

use super::Lowerer;
use super::constants::simplify;
use super::names::Ty;
use super::values::choice;
use crate::ast;

/// How many elements are provided for at first.
const FIRST_ROOM: usize = 4;

/// Further numbers of elements, if those are too few.
pub(crate) const LARGER_ROOMS: [usize; 3] = [16, 64, 256];

/// How many elements are provided for by a pool.
pub(super) fn room_of(pool: usize) -> usize {
    if pool == 0 { FIRST_ROOM } else { pool }
}

impl<'a> Lowerer<'a> {
    /// Is it a sequence or bag without a bound of its own?
    pub(super) fn has_no_bound(&self, ty: &Type) -> bool {
        match ty {
            Type::Record(id) => self.without_bound.contains(id),
            Type::Scalar(_) | Type::Array(_) => false,
        }
    }

    /// The cells of a value that is stored or sent, so that there may be no room for it.
    pub(super) fn stored_values(
        &mut self,
        expr: &'a ast::Expr,
        ty: &Type,
        values: &mut Vec<Expr>,
    ) -> Option<()> {
        let outer = std::mem::replace(&mut self.is_stored, true);
        let first = values.len();
        let done = self.cell_values(expr, ty, values);
        self.is_stored = outer;
        done?;
        self.limit_bags(ty, &mut values[first..]);
        Some(())
    }

    /// The sizes of bags are known beyond the room for them; now there has to be room.
    fn limit_bags(&mut self, ty: &Type, cells: &mut [Expr]) {
        if self.without_bound.is_empty() {
            return;
        }
        let parts: Vec<Type> = match ty {
            Type::Scalar(_) => return,
            Type::Array(array) => vec![array.element.clone(); array.len],
            Type::Record(id) => {
                let record = &self.parts.records[id.index()];
                let types = record.fields.iter().map(|(_, ty)| ty.clone());
                let types = types.collect();
                if self.has_no_bound(ty) && matches!(record.form, RecordForm::Bag(_)) {
                    let size = std::mem::replace(&mut cells[0], Expr::Int(0));
                    cells[0] = self.limited(size);
                }
                types
            }
        };

        let mut rest = cells;
        for part in parts {
            let (own, others) = rest.split_at_mut(part.n_cells(&self.parts.records));
            self.limit_bags(&part, own);
            rest = others;
        }
    }

    fn limited(&mut self, size: Expr) -> Expr {
        // shape: what is in the state has room there.
        if let Expr::Read(_) = size {
            return size;
        }
        let room = Expr::Int(self.room as i64);
        let more = Expr::binary(BinaryOp::Gt, self.copy_of(&size), room);
        choice(simplify(more, Ty::Bool), Expr::Int(BEYOND_ROOM), size)
    }

    /// The length of something that has one element more than there is room for.
    pub(super) fn no_room(&mut self, span: Span) -> Option<Expr> {
        if self.is_stored {
            return Some(Expr::Int(BEYOND_ROOM));
        }
        let message = "how long this can become is not known";
        let help = "give the sequence a bound, as in `seq[4] of T`, or assign the longer one to a \
                    variable or name first";
        self.report(Diagnostic::error("missing-bound", span, message).help(help));
        None
    }

    /// Ends the step where the condition says that there is no room.
    pub(super) fn exhausted_if(condition: Expr, span: Span) -> Stmt {
        let exhausted = vec![Stmt::new(StmtKind::Exhausted, span)];
        Stmt::new(StmtKind::If(condition, exhausted, Vec::new()), span)
    }
}

/// Can the value be a length beyond the room that there is?
pub(super) fn may_be_beyond(value: &Expr) -> bool {
    value.any(&mut |inner| inner.as_literal() == Some(BEYOND_ROOM))
}

//! From expressions of a template to formulas: conditions. Integer expressions are in
//! [`super::values`].
//!
//! Where the reference semantics reports a run-time error, a condition for it is noted;
//! these conditions may be too weak (an error is suspected where a lazy evaluation would not meet
//! it), never too strong.

use base::Span;
use model::{BinaryOp, BoundId, Expr, ProcessId, Quantifier, Scalar, Type};

use super::cases::{Cases, compare, is_value, under};
use super::logic::{Base, CellId, ColumnId, FieldId, IndexVar, Logic, PointerId, Term};
use super::system::{Fresh, Outside, System, outside};

/// Ranges with at most so many constants are written out.
const MAX_UNROLLED: i64 = 64;

/// Counting is written out up to this number.
const MAX_COUNTED: i64 = 4;

/// What a step has stored so far.
#[derive(Clone, Debug, Default)]
pub(super) struct Store {
    pub(super) cells: Vec<(CellId, Cases)>,
    pub(super) pointers: Vec<(PointerId, Cases)>,
    /// Later ones win.
    pub(super) writes: Vec<Write>,
    /// Later ones win.
    pub(super) fields: Vec<FieldWrite>,
}

/// New values of a field, for the processes that are named.
#[derive(Clone, Debug)]
pub(super) struct FieldWrite {
    pub(super) field: FieldId,
    pub(super) at: Cases,
    pub(super) value: Cases,
}

impl FieldWrite {
    /// What a process has after the write, if it had `before`.
    pub(super) fn seen_from(&self, index: Term, before: Cases) -> Cases {
        let here = |(condition, at): &(Logic, Term)| {
            Logic::all([condition.clone(), Logic::equal(index, *at)])
        };
        let here = Logic::any(self.at.iter().map(here).collect::<Vec<_>>());
        let mut cases = under(&Logic::not(here.clone()), before);
        cases.extend(under(&here, self.value.clone()));
        cases.retain(|(condition, _)| *condition != Logic::Const(false));
        cases
    }
}

/// New values for the processes in a column that satisfy a condition.
#[derive(Clone, Debug)]
pub(super) struct Write {
    pub(super) column: ColumnId,
    /// Stands for the process in the condition and the value.
    pub(super) var: IndexVar,
    pub(super) condition: Logic,
    pub(super) value: Cases,
}

/// Translates expressions.
pub(super) struct Translator<'s, 't> {
    pub(super) system: &'s System<'t>,
    pub(super) fresh: &'s mut Fresh,
    /// The process that evaluates.
    pub(super) own: Option<(ProcessId, Term)>,
    /// Bound names.
    pub(super) names: Vec<(BoundId, Cases)>,
    pub(super) store: Store,
    /// When the evaluation so far fails.
    pub(super) errors: Vec<Logic>,
    /// Where the expression is written.
    pub(super) span: Span,
}

impl<'s, 't> Translator<'s, 't> {
    pub(super) fn new(system: &'s System<'t>, fresh: &'s mut Fresh, span: Span) -> Self {
        let parameter = vec![(Logic::Const(true), system.parameter())];
        Self {
            system,
            fresh,
            own: None,
            names: vec![(system.template.parameter, parameter)],
            store: Store::default(),
            errors: Vec::new(),
            span,
        }
    }

    /// Binds a name to a term.
    pub(super) fn bind(&mut self, bound: BoundId, term: Term) {
        self.names.push((bound, vec![(Logic::Const(true), term)]));
    }

    pub(super) fn outside<T>(&self, what: &str) -> Result<T, Outside> {
        Err(outside(what, self.span))
    }

    /// Runs a part; its errors count only where `condition` holds.
    pub(super) fn guarded<T>(
        &mut self,
        condition: &Logic,
        part: impl FnOnce(&mut Self) -> Result<T, Outside>,
    ) -> Result<T, Outside> {
        let outer = std::mem::take(&mut self.errors);
        let result = part(self);
        let inner = std::mem::replace(&mut self.errors, outer);
        let errors = inner
            .into_iter()
            .map(|error| Logic::all([condition.clone(), error]));
        self.errors.extend(errors);
        result
    }

    /// A Boolean expression.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<Logic, Outside> {
        match expr {
            Expr::Bool(value) => Ok(Logic::Const(*value)),
            Expr::Not(inner) => Ok(Logic::not(self.condition(inner)?)),
            Expr::Read(_) | Expr::Bound(_) => {
                let cases = self.cases(expr)?;
                Ok(is_value(&cases, 1))
            }
            Expr::Binary(op, left, right) => self.binary_condition(*op, left, right),
            Expr::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let negation = Logic::not(condition.clone());
                let then = self.guarded(&condition, |this| this.condition(then))?;
                let otherwise = self.guarded(&negation, |this| this.condition(otherwise))?;
                let yes = Logic::all([condition, then]);
                Ok(Logic::any([yes, Logic::all([negation, otherwise])]))
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => self.quantified(*quantifier, *bound, (lo, hi), body),
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let cases = self.location(*process, owner)?;
                let parts = locations.iter().map(|l| is_value(&cases, i64::from(l.0)));
                Ok(Logic::any(parts.collect::<Vec<_>>()))
            }
            Expr::Length(_) => self.outside("the length of a channel"),
            Expr::Wrap { .. } => self.outside("a value cut to some bits"),
            Expr::Int(_) | Expr::Enum(..) | Expr::Neg(_) => {
                unreachable!("front ends have checked the types")
            }
        }
    }

    fn binary_condition(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Logic, Outside> {
        match op {
            // The right operand is evaluated only where the left one does not decide, so it may
            // fail only there.
            BinaryOp::And => {
                let left = self.condition(left)?;
                let right = self.guarded(&left, |this| this.condition(right))?;
                Ok(Logic::all([left, right]))
            }
            BinaryOp::Or => {
                let left = self.condition(left)?;
                let needed = Logic::not(left.clone());
                let right = self.guarded(&needed, |this| this.condition(right))?;
                Ok(Logic::any([left, right]))
            }
            BinaryOp::Implies => {
                let left = self.condition(left)?;
                let right = self.guarded(&left, |this| this.condition(right))?;
                Ok(Logic::implies(left, right))
            }
            BinaryOp::Eq | BinaryOp::Ne if self.is_boolean(left) => {
                let both = Logic::iff(self.condition(left)?, self.condition(right)?);
                Ok(if op == BinaryOp::Eq {
                    both
                } else {
                    Logic::not(both)
                })
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                if let Some(counted) = self.counted(op, left, right)? {
                    return Ok(counted);
                }
                let (left, right) = (self.cases(left)?, self.cases(right)?);
                let mut parts = Vec::new();
                for (a, x) in &left {
                    for (b, y) in &right {
                        parts.push(Logic::all([a.clone(), b.clone(), compare(op, *x, *y)]));
                    }
                }
                Ok(Logic::any(parts))
            }
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::Quot
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr => unreachable!("front ends have checked the types"),
        }
    }

    fn is_boolean(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Bool(_) | Expr::Not(_) | Expr::At { .. } => true,
            Expr::Binary(op, ..) => op.is_boolean(),
            Expr::Quantified { quantifier, .. } => *quantifier != Quantifier::Sum,
            Expr::Ite(_, then, _) => self.is_boolean(then),
            Expr::Read(place) => {
                let ty = &self.system.parts().vars[place.var.index()].ty;
                let scalar = match ty {
                    Type::Array(array) => &array.element,
                    ty => ty,
                };
                *scalar == Type::Scalar(Scalar::Bool)
            }
            Expr::Int(_)
            | Expr::Enum(..)
            | Expr::Neg(_)
            | Expr::Bound(_)
            | Expr::Wrap { .. }
            | Expr::Length(_) => false,
        }
    }

    /// A comparison of "how many processes satisfy" with a number near 0 or near all of them.
    fn counted(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<Logic>, Outside> {
        let (op, sum, other) = match (self.is_count(left), self.is_count(right)) {
            (true, false) => (op, left, right),
            (false, true) => (op.mirrored(), right, left),
            (true, true) if self.is_same_count(left, right)? => {
                let holds = matches!(op, BinaryOp::Eq | BinaryOp::Le | BinaryOp::Ge);
                return Ok(Some(Logic::Const(holds)));
            }
            (true, true) => return self.outside("two counts that are compared with each other"),
            (false, false) => return Ok(None),
        };

        let mut parts = Vec::new();
        for (condition, term) in self.cases(other)? {
            let compared = match term.base {
                Base::Zero => self.count_compared(op, sum, term.offset)?,
                Base::Last => self.rest_compared(op, sum, term.offset)?,
                Base::Var(_) | Base::Pointer(..) => {
                    return self.outside("a count that is compared with an index");
                }
            };
            parts.push(Logic::all([condition, compared]));
        }
        Ok(Some(Logic::any(parts)))
    }

    /// Is it how many satisfy something, or a sum of such numbers?
    fn is_count(&self, expr: &Expr) -> bool {
        // shape: every other expression is not a count, and translated as what it is.
        if let Expr::Binary(BinaryOp::Add, left, right) = expr {
            return self.is_count(left) && self.is_count(right);
        }
        // shape: likewise.
        matches!(expr, Expr::Quantified { quantifier: Quantifier::Sum, body, .. } if self.is_boolean(body))
    }

    /// Do two counts count the same, in the same words but for the names that they bind?
    fn is_same_count(&mut self, left: &Expr, right: &Expr) -> Result<bool, Outside> {
        // shape: sums of counts are not compared.
        let (Expr::Quantified { .. }, Expr::Quantified { .. }) = (left, right) else {
            return Ok(false);
        };
        let var = self.fresh.var();
        let mut said = Vec::new();
        for count in [left, right] {
            // shape: both were just looked at.
            if let Expr::Quantified {
                bound,
                lo,
                hi,
                body,
                ..
            } = count
            {
                said.push(self.instance(*bound, (lo, hi), body, var)?);
            }
        }
        Ok(said[0] == said[1])
    }

    /// "How many satisfy" compared with the last index plus `offset`: how many do not is compared with
    /// what is left of all.
    fn rest_compared(&mut self, op: BinaryOp, sum: &Expr, offset: i64) -> Result<Logic, Outside> {
        // shape: the caller asks about sums only.
        let Expr::Quantified {
            quantifier,
            bound,
            lo,
            hi,
            body,
        } = sum
        else {
            return self.outside("a sum of counts that is compared with the number of processes");
        };
        let whole = |term: Term| vec![(Logic::Const(true), term)];
        let first = whole(Term::number(self.system.first));
        if self.cases(lo)? != first || self.cases(hi)? != whole(Term::last()) {
            return self.outside("a count of some processes that is compared with all of them");
        }
        let others = Expr::Quantified {
            quantifier: *quantifier,
            bound: *bound,
            lo: lo.clone(),
            hi: hi.clone(),
            body: Box::new(Expr::not((**body).clone())),
        };
        let left_over = 1 - self.system.first - offset;
        self.count_compared(op.mirrored(), &others, left_over)
    }

    fn count_compared(
        &mut self,
        op: BinaryOp,
        sum: &Expr,
        constant: i64,
    ) -> Result<Logic, Outside> {
        if constant < 0 {
            let is_more = matches!(op, BinaryOp::Ne | BinaryOp::Gt | BinaryOp::Ge);
            return Ok(Logic::Const(is_more));
        }
        if constant > MAX_COUNTED {
            return self.outside(&format!("counting beyond {MAX_COUNTED}"));
        }
        let mut at_least = |n: i64| self.at_least(sum, n);
        Ok(match op {
            BinaryOp::Eq => Logic::all([at_least(constant)?, Logic::not(at_least(constant + 1)?)]),
            BinaryOp::Ne => Logic::any([Logic::not(at_least(constant)?), at_least(constant + 1)?]),
            BinaryOp::Lt => Logic::not(at_least(constant)?),
            BinaryOp::Le => Logic::not(at_least(constant + 1)?),
            BinaryOp::Gt => at_least(constant + 1)?,
            BinaryOp::Ge => at_least(constant)?,
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::Quot
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies => unreachable!("only comparisons get here"),
        })
    }

    /// Do at least `n` values of the bound name satisfy the body of the sum?
    fn at_least(&mut self, sum: &Expr, n: i64) -> Result<Logic, Outside> {
        // shape: the caller asks about counts only.
        if let Expr::Binary(_, left, right) = sum {
            // So many of one kind, and the rest of the other.
            let parts = (0..=n).map(|some| {
                let rest = self.at_least(right, n - some)?;
                Ok(Logic::all([self.at_least(left, some)?, rest]))
            });
            return Ok(Logic::any(parts.collect::<Result<Vec<_>, Outside>>()?));
        }
        // shape: as above.
        let Expr::Quantified {
            bound,
            lo,
            hi,
            body,
            ..
        } = sum
        else {
            unreachable!("the caller has looked");
        };

        let mut vars: Vec<IndexVar> = Vec::new();
        let mut parts = Vec::new();
        for _ in 0..n {
            let var = self.fresh.var();
            if let Some(last) = vars.last() {
                parts.push(Logic::less(Term::var(*last), Term::var(var)));
            }
            vars.push(var);
            parts.push(self.instance(*bound, (lo, hi), body, var)?);
        }

        let inner = Logic::all(parts);
        Ok(vars
            .into_iter()
            .rev()
            .fold(inner, |inner, var| Logic::exists(var, inner)))
    }

    /// The variable is in the range and satisfies the body.
    fn instance(
        &mut self,
        bound: BoundId,
        range: (&Expr, &Expr),
        body: &Expr,
        var: IndexVar,
    ) -> Result<Logic, Outside> {
        let inside = self.range_condition(range, var)?;
        self.bind(bound, Term::var(var));
        let outer = std::mem::take(&mut self.errors);
        let body = self.condition(body);
        let inner = std::mem::replace(&mut self.errors, outer);
        for error in inner {
            let error = Logic::all([inside.clone(), error]);
            self.errors.push(Logic::exists(var, error));
        }
        self.names.pop();
        Ok(Logic::all([inside, body?]))
    }

    /// Is the variable in the range?
    pub(super) fn range_condition(
        &mut self,
        (lo, hi): (&Expr, &Expr),
        var: IndexVar,
    ) -> Result<Logic, Outside> {
        let (lo, hi) = (self.cases(lo)?, self.cases(hi)?);
        let mut parts = Vec::new();
        for (a, first) in &lo {
            for (b, last) in &hi {
                let inside = self.system.in_range(Term::var(var), *first, *last);
                parts.push(Logic::all([a.clone(), b.clone(), inside]));
                // Variables are natural numbers: a value below 0 would be passed over in silence.
                if !is_natural(*first) {
                    let below = Logic::less(*first, Term::number(0));
                    let some = Logic::at_most(*first, *last);
                    let missed = Logic::all([a.clone(), b.clone(), below, some]);
                    self.errors.push(missed);
                }
            }
        }
        Ok(Logic::any(parts))
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        bound: BoundId,
        range: (&Expr, &Expr),
        body: &Expr,
    ) -> Result<Logic, Outside> {
        if quantifier == Quantifier::Sum {
            return self.outside("a sum over processes that is not compared with a constant");
        }
        let is_forall = quantifier == Quantifier::Forall;

        if let Some(values) = self.constant_range(range)? {
            let mut parts = Vec::new();
            for value in values {
                self.bind(bound, Term::number(value));
                let part = self.condition(body);
                self.names.pop();
                parts.push(part?);
            }
            return Ok(if is_forall {
                Logic::all(parts)
            } else {
                Logic::any(parts)
            });
        }

        let var = self.fresh.var();
        let negated;
        let body = if is_forall {
            negated = Expr::not(body.clone());
            &negated
        } else {
            body
        };

        let some = Logic::exists(var, self.instance(bound, range, body, var)?);
        Ok(if is_forall { Logic::not(some) } else { some })
    }

    /// The values of a range of constants.
    pub(super) fn constant_range(
        &mut self,
        (lo, hi): (&Expr, &Expr),
    ) -> Result<Option<std::ops::RangeInclusive<i64>>, Outside> {
        let (lo, hi) = (self.cases(lo)?, self.cases(hi)?);
        let constant = |cases: &Cases| match cases.as_slice() {
            [
                (
                    Logic::Const(true),
                    Term {
                        base: Base::Zero,
                        offset,
                    },
                ),
            ] => Some(*offset),
            _ => None,
        };
        let range = constant(&lo).zip(constant(&hi));
        Ok(range
            .filter(|(lo, hi)| hi.saturating_sub(*lo) < MAX_UNROLLED)
            .map(|(lo, hi)| lo..=hi))
    }
}

/// Is the term never negative? No base is.
pub(super) fn is_natural(term: Term) -> bool {
    term.offset >= 0
}

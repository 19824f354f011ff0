//! From expressions of a template to formulas.
//!
//! An integer expression becomes a list of *cases*: conditions, exactly one of which holds, each
//! with a term. Where the reference semantics reports a run-time error, a condition for it is noted;
//! these conditions may be too weak (an error is suspected where a lazy evaluation would not meet
//! it), never too strong.

use base::Span;
use model::{Access, BinaryOp, BoundId, Expr, Owner, Place, ProcessId, Quantifier, Scalar, Type};

use super::cases::{Cases, combine, compare, is_value, mirrored, under, without};
use super::logic::{Base, CellId, ColumnId, IndexVar, Logic, PointerId, Term, Time};
use super::system::{Fresh, Outside, Source, System, outside};

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

    fn outside<T>(&self, what: &str) -> Result<T, Outside> {
        Err(outside(what, self.span))
    }

    /// Runs a part; its errors count only where `condition` holds.
    fn guarded<T>(
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
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => {
                let left = self.condition(left)?;
                let needed = match op {
                    BinaryOp::Or => Logic::not(left.clone()),
                    _ => left.clone(),
                };
                let right = self.guarded(&needed, |this| this.condition(right))?;
                Ok(match op {
                    BinaryOp::And => Logic::all([left, right]),
                    BinaryOp::Or => Logic::any([left, right]),
                    _ => Logic::implies(left, right),
                })
            }
            BinaryOp::Eq | BinaryOp::Ne if self.is_boolean(left) => {
                let both = Logic::iff(self.condition(left)?, self.condition(right)?);
                Ok(if op == BinaryOp::Eq {
                    both
                } else {
                    Logic::not(both)
                })
            }
            _ => {
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
        }
    }

    fn is_boolean(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Bool(_) | Expr::Not(_) | Expr::At { .. } => true,
            Expr::Binary(op, ..) => !matches!(
                op,
                BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div | BinaryOp::Mod
            ),
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

    /// A comparison of "how many processes satisfy" with a small constant.
    fn counted(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<Logic>, Outside> {
        let is_sum = |expr: &Expr| matches!(expr, Expr::Quantified { quantifier: Quantifier::Sum, body, .. } if self.is_boolean(body));
        let (op, sum, constant) = match (left, right) {
            (sum, Expr::Int(constant)) if is_sum(sum) => (op, sum, *constant),
            (Expr::Int(constant), sum) if is_sum(sum) => (mirrored(op), sum, *constant),
            _ => return Ok(None),
        };
        if !(0..=MAX_COUNTED).contains(&constant) {
            return self.outside(&format!("counting beyond {MAX_COUNTED}"));
        }
        let mut at_least = |n: i64| self.at_least(sum, n);
        Ok(Some(match op {
            BinaryOp::Eq => Logic::all([at_least(constant)?, Logic::not(at_least(constant + 1)?)]),
            BinaryOp::Ne => Logic::any([Logic::not(at_least(constant)?), at_least(constant + 1)?]),
            BinaryOp::Lt => Logic::not(at_least(constant)?),
            BinaryOp::Le => Logic::not(at_least(constant + 1)?),
            BinaryOp::Gt => at_least(constant + 1)?,
            BinaryOp::Ge => at_least(constant)?,
            _ => return Ok(None),
        }))
    }

    /// Do at least `n` values of the bound name satisfy the body of the sum?
    fn at_least(&mut self, sum: &Expr, n: i64) -> Result<Logic, Outside> {
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
        let body = match is_forall {
            true => {
                negated = Expr::not(body.clone());
                &negated
            }
            false => body,
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
            .filter(|(lo, hi)| hi - lo < MAX_UNROLLED)
            .map(|(lo, hi)| lo..=hi))
    }

    /// An integer expression.
    pub(super) fn cases(&mut self, expr: &Expr) -> Result<Cases, Outside> {
        let single = |term| Ok(vec![(Logic::Const(true), term)]);
        match expr {
            Expr::Int(value) => single(Term::number(*value)),
            Expr::Enum(_, variant) => single(Term::number(i64::from(*variant))),
            Expr::Bool(value) => single(Term::number(i64::from(*value))),
            Expr::Bound(bound) => {
                let known = self.names.iter().rev().find(|(name, _)| name == bound);
                Ok(known.expect("every name is bound").1.clone())
            }
            Expr::Read(place) => self.read(place),
            Expr::Neg(inner) => {
                let zero = Expr::Int(0);
                self.arithmetic(BinaryOp::Sub, &zero, inner)
            }
            Expr::Binary(BinaryOp::Mod, left, right) => self.modulo(left, right),
            Expr::Binary(
                op @ (BinaryOp::Add | BinaryOp::Sub | BinaryOp::Mul | BinaryOp::Div),
                left,
                right,
            ) => self.arithmetic(*op, left, right),
            Expr::Ite(condition, then, otherwise) => {
                let condition = self.condition(condition)?;
                let negation = Logic::not(condition.clone());
                let then = self.guarded(&condition, |this| this.cases(then))?;
                let otherwise = self.guarded(&negation, |this| this.cases(otherwise))?;
                let mut cases = under(&condition, then);
                cases.extend(under(&negation, otherwise));
                Ok(cases)
            }
            Expr::Length(_) => self.outside("the length of a channel"),
            Expr::Quantified {
                quantifier: Quantifier::Sum,
                ..
            } => self.outside("a sum over processes that is not compared with a constant"),
            boolean => {
                let condition = self.condition(boolean)?;
                let negation = Logic::not(condition.clone());
                Ok(vec![
                    (condition, Term::number(1)),
                    (negation, Term::number(0)),
                ])
            }
        }
    }

    fn arithmetic(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Cases, Outside> {
        let (left, right) = (self.cases(left)?, self.cases(right)?);
        let mut cases = Vec::new();
        for (a, x) in &left {
            for (b, y) in &right {
                let condition = Logic::all([a.clone(), b.clone()]);
                if condition == Logic::Const(false) {
                    continue;
                }
                if op == BinaryOp::Div && *y == Term::number(0) {
                    self.errors.push(condition);
                    continue;
                }
                let Some(term) = combine(op, *x, *y) else {
                    return self.outside("arithmetic on process indices beyond adding a constant");
                };
                cases.push((condition, term));
            }
        }
        Ok(cases)
    }

    /// Modulo a constant, or one step up or down modulo the parameter.
    fn modulo(&mut self, left: &Expr, right: &Expr) -> Result<Cases, Outside> {
        let modulus = self.cases(right)?;
        let parameter = self.system.parameter();
        if modulus != [(Logic::Const(true), parameter)] {
            return self.modulo_constant(left, right);
        }
        let left = without(left, self.system.template.parameter);
        let mut cases = Vec::new();
        for (condition, Term { base, offset }) in self.cases(&left)? {
            let value = Term::of(base);
            let zero = Term::number(0);
            let highest = parameter.plus(-1);
            let is_index = self.system.in_range(value, zero, highest);
            let escape = Logic::all([condition.clone(), Logic::not(is_index)]);
            self.errors.push(escape);
            let (edge, wrapped) = match offset {
                0 => (None, zero),
                1 => (Some(highest), zero),
                -1 => (Some(zero), highest),
                _ => return self.outside("more than one step around the ring"),
            };
            match edge {
                None => cases.push((condition, value)),
                Some(edge) => {
                    let at_edge = Logic::equal(value, edge);
                    let inside = Logic::all([condition.clone(), Logic::not(at_edge.clone())]);
                    cases.push((Logic::all([condition, at_edge]), wrapped));
                    cases.push((inside, value.plus(offset)));
                }
            }
        }
        Ok(cases)
    }

    fn modulo_constant(&mut self, left: &Expr, right: &Expr) -> Result<Cases, Outside> {
        let (left, right) = (self.cases(left)?, self.cases(right)?);
        let mut cases = Vec::new();
        for (a, x) in &left {
            for (b, y) in &right {
                let condition = Logic::all([a.clone(), b.clone()]);
                match (x, y) {
                    (
                        Term {
                            base: Base::Zero, ..
                        },
                        Term {
                            base: Base::Zero,
                            offset: 0,
                        },
                    ) => {
                        self.errors.push(condition);
                    }
                    (
                        Term {
                            base: Base::Zero,
                            offset: x,
                        },
                        Term {
                            base: Base::Zero,
                            offset: y,
                        },
                    ) => cases.push((condition, Term::number(x.rem_euclid(*y)))),
                    _ => return self.outside("the remainder of a process index"),
                }
            }
        }
        Ok(cases)
    }

    fn read(&mut self, place: &Place) -> Result<Cases, Outside> {
        let source = Source::Variable(place.var);
        if let Some(pointer) = self.system.pointer_of(place.var) {
            let stored = self
                .store
                .pointers
                .iter()
                .rev()
                .find(|known| known.0 == pointer);
            let now = Term::of(Base::Pointer(pointer, Time::Now));
            return Ok(
                stored.map_or_else(|| vec![(Logic::Const(true), now)], |known| known.1.clone())
            );
        }
        if let Some(cell) = self.system.cell_of(source) {
            return Ok(self.cell(cell));
        }
        let column = self
            .system
            .column_of(source)
            .expect("every variable is known");
        let at = self.owner_of(place)?;
        self.column(column, at)
    }

    /// The value that a cell has now.
    pub(super) fn cell(&self, cell: CellId) -> Cases {
        if let Some(stored) = self.store.cells.iter().rev().find(|known| known.0 == cell) {
            return stored.1.clone();
        }
        let values = self.system.cells[cell.index()].values.iter().enumerate();
        values
            .map(|(number, value)| (Logic::Is(cell, number, Time::Now), Term::number(*value)))
            .collect()
    }

    /// Which process a place of a column belongs to.
    pub(super) fn owner_of(&mut self, place: &Place) -> Result<Cases, Outside> {
        match (&place.owner, place.path.as_slice()) {
            (None, [Access::Index(index)]) => self.cases(index),
            (Some(Owner::Own), []) => {
                let (_, own) = self.own.expect("a process evaluates");
                Ok(vec![(Logic::Const(true), own)])
            }
            (Some(Owner::Indexed(index)), []) => self.cases(index),
            _ => self.outside("this part of a variable"),
        }
    }

    fn location(&mut self, process: ProcessId, owner: &Owner) -> Result<Cases, Outside> {
        let source = Source::Location(process);
        if let Some(cell) = self.system.cell_of(source) {
            return Ok(self.cell(cell));
        }
        let column = self
            .system
            .column_of(source)
            .expect("every location is known");
        let at = match owner {
            Owner::Own => {
                let (_, own) = self.own.expect("a process evaluates");
                vec![(Logic::Const(true), own)]
            }
            Owner::Indexed(index) => self.cases(index)?,
            Owner::Single => unreachable!("only processes without index are single"),
        };
        self.column(column, at)
    }

    /// What the processes named by `at` have in a column.
    fn column(&mut self, column: ColumnId, at: Cases) -> Result<Cases, Outside> {
        let mut cases = Vec::new();
        for (condition, index) in at {
            if self.own.map(|own| own.1) != Some(index) {
                let missing = Logic::not(self.system.is_process(index));
                self.errors.push(Logic::all([condition.clone(), missing]));
            }
            cases.extend(under(&condition, self.stored_column(column, index)));
        }
        Ok(cases)
    }

    /// What a process has in a column, after what has been written so far.
    pub(super) fn stored_column(&self, column: ColumnId, index: Term) -> Cases {
        let values = self.system.columns[column.index()]
            .values
            .iter()
            .enumerate();
        let mut cases: Cases = values
            .map(|(number, value)| {
                let has = Logic::Has(column, number, index, Time::Now);
                (has, Term::number(*value))
            })
            .collect();
        for write in self
            .store
            .writes
            .iter()
            .filter(|write| write.column == column)
        {
            let written = write.condition.substitute(write.var, index);
            let kept = Logic::not(written.clone());
            let mut next = under(&kept, cases);
            for (condition, value) in &write.value {
                let condition = condition.substitute(write.var, index);
                next.push((Logic::all([written.clone(), condition]), *value));
            }
            next.retain(|(condition, _)| *condition != Logic::Const(false));
            cases = next;
        }
        cases
    }
}

//! From integer expressions of a template to values that depend on the state.
//!
//! An integer expression becomes a list of *cases*: conditions, exactly one of which holds, each
//! with a term. What is read is what the step has stored so far, else what the state before it has.

use model::{Access, BinaryOp, Expr, Owner, Place, ProcessId, Quantifier};

use super::cases::{Cases, MAX_NUMBER, combine, under, without};
use super::logic::{Base, CellId, ColumnId, FieldId, Logic, Term, Time};
use super::system::{Outside, Source};
use super::translate::Translator;

/// So many steps around the ring are known at once.
const MAX_STEPS: u64 = 2;

impl Translator<'_, '_> {
    /// An integer expression.
    pub(super) fn cases(&mut self, expr: &Expr) -> Result<Cases, Outside> {
        let single = |term| Ok(vec![(Logic::Const(true), term)]);
        match expr {
            Expr::Int(value) if value.unsigned_abs() > MAX_NUMBER.unsigned_abs() => {
                self.outside(&format!("the number {value}"))
            }
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
                // A branch is evaluated, and can fail, only where its condition selects it.
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
            Expr::Wrap { .. } => self.outside("a value cut to some bits"),
            Expr::Binary(
                BinaryOp::Quot
                | BinaryOp::Rem
                | BinaryOp::BitAnd
                | BinaryOp::BitOr
                | BinaryOp::BitXor
                | BinaryOp::Shl
                | BinaryOp::Shr,
                ..,
            ) => self.outside("an operator that only imported languages have"),
            Expr::Not(_)
            | Expr::At { .. }
            | Expr::Quantified {
                quantifier: Quantifier::Forall | Quantifier::Exists,
                ..
            }
            | Expr::Binary(
                BinaryOp::And
                | BinaryOp::Or
                | BinaryOp::Implies
                | BinaryOp::Eq
                | BinaryOp::Ne
                | BinaryOp::Lt
                | BinaryOp::Le
                | BinaryOp::Gt
                | BinaryOp::Ge,
                ..,
            ) => {
                // Truth values are the numbers 0 and 1 here, so that conditions can be stored and
                // compared like other values.
                let condition = self.condition(expr)?;
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

    /// Modulo a constant, or a few steps up or down modulo the parameter.
    fn modulo(&mut self, left: &Expr, right: &Expr) -> Result<Cases, Outside> {
        let modulus = self.cases(right)?;
        let parameter = self.system.parameter();
        if modulus != [(Logic::Const(true), parameter)] {
            return self.modulo_constant(left, right);
        }
        let left = without(left, self.system.template.parameter);
        let mut cases = Vec::new();

        for (condition, Term { base, offset }) in self.cases(&left)? {
            if offset.unsigned_abs() > MAX_STEPS {
                return self.outside("more than two steps around the ring");
            }
            self.around(&condition, Term::of(base), offset, &mut cases);
        }

        Ok(cases)
    }

    /// An index plus a small number, modulo the parameter. Families that start at 1 have the parameter
    /// as an index, too. It is an error unless the index is one of these and one turn is enough.
    fn around(&mut self, condition: &Logic, value: Term, offset: i64, cases: &mut Cases) {
        let parameter = self.system.parameter();
        let has_parameter = self.system.last_offset >= 0;
        let highest = parameter.plus(if has_parameter { 0 } else { -1 });
        let is_index = self.system.in_range(value, Term::number(0), highest);

        // Too low by one turn, and too high.
        let low = (0..-offset).map(|at| (Term::number(at), parameter.plus(at + offset)));
        let first = i64::from(!has_parameter);
        let high = (first..=offset).map(|below| {
            let at = parameter.plus(-below);
            (at, Term::number(offset - below))
        });
        let edges: Vec<(Term, Term)> = low.chain(high).collect();

        // Modulo 1 everything is 0.
        let is_one = if has_parameter || offset.unsigned_abs() > 1 {
            Logic::equal(parameter, Term::number(1))
        } else {
            Logic::Const(false)
        };
        let mut rest = Logic::all([condition.clone(), Logic::not(is_one.clone())]);
        cases.push((Logic::all([condition.clone(), is_one]), Term::number(0)));
        for (at, wrapped) in edges {
            let is_there = Logic::equal(value, at);
            let here = Logic::all([rest.clone(), is_there.clone()]);
            rest = Logic::all([rest, Logic::not(is_there)]);
            let fits = self
                .system
                .in_range(wrapped, Term::number(0), parameter.plus(-1));
            if has_parameter || offset.unsigned_abs() > 1 {
                self.errors
                    .push(Logic::all([here.clone(), Logic::not(fits)]));
            }
            cases.push((here, wrapped));
        }
        let escape = Logic::all([rest.clone(), Logic::not(is_index)]);
        self.errors.push(escape);
        cases.push((rest, value.plus(offset)));
        cases.retain(|(condition, _)| *condition != Logic::Const(false));
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
                    ) => match x.checked_rem_euclid(*y) {
                        Some(rest) => cases.push((condition, Term::number(rest))),
                        None => return self.outside("so large a number"),
                    },
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
        let at = self.owner_of(place)?;
        if let Some(field) = self.system.field_of(place.var) {
            return Ok(self.field(field, at));
        }
        let column = self
            .system
            .column_of(source)
            .expect("every variable is known");
        self.column(column, at)
    }

    /// What the processes named by `at` have in a field.
    fn field(&mut self, field: FieldId, at: Cases) -> Cases {
        let mut cases = Vec::new();
        for (condition, index) in at {
            self.check_process(&condition, index);
            cases.extend(under(&condition, self.stored_field(field, index)));
        }
        cases
    }

    /// What a process has in a field, after what has been written so far.
    pub(super) fn stored_field(&mut self, field: FieldId, index: Term) -> Cases {
        let mut cases = vec![(Logic::Const(true), self.fresh.held(field, index))];
        let writes = self.store.fields.iter();
        for write in writes.filter(|write| write.field == field) {
            cases = write.seen_from(index, cases);
        }
        cases
    }

    /// Notes that an index of another process may be that of none.
    pub(super) fn check_process(&mut self, condition: &Logic, index: Term) {
        if self.own.map(|own| own.1) != Some(index) {
            let missing = Logic::not(self.system.is_process(index));
            self.errors.push(Logic::all([condition.clone(), missing]));
        }
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

    pub(super) fn location(&mut self, process: ProcessId, owner: &Owner) -> Result<Cases, Outside> {
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
            self.check_process(&condition, index);
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
                let value = value.substitute(write.var, index);
                next.push((Logic::all([written.clone(), condition]), value));
            }
            next.retain(|(condition, _)| *condition != Logic::Const(false));
            cases = next;
        }
        cases
    }
}

//! Evaluation of expressions in all states at once.
//!
//! The counterpart of `model::eval`: the same order, the same short cuts, the same errors. Operators
//! are computed value by value by the reference semantics itself, so there is one definition of
//! arithmetic.

use base::Span;
use model::{
    Access, BinaryOp, BoundId, ChannelRef, Env, Expr, InstanceId, Model, Owner, Place, ProcessId,
    Quantifier, State, Type,
};

use crate::bdd::{Bdd, Halt, Manager};
use crate::branch::Branch;
use crate::encoding::Encoding;
use crate::value::{Value, ValueBuilder};

/// A quantifier or loop with more instances is not unfolded.
pub(crate) const MAX_INSTANCES: i64 = 100_000;

/// What expressions are evaluated in: all states of a branch, with what it has changed so far.
pub(crate) struct Evaluation<'a, 'm> {
    pub(crate) encoding: &'a Encoding<'m>,
    /// Where something went wrong so far.
    pub(crate) errors: &'a mut Bdd,
    pub(crate) branch: &'a Branch,
    pub(crate) instance: Option<InstanceId>,
    /// Bound names on top of those of the branch.
    bounds: Vec<(BoundId, Value)>,
}

impl<'a, 'm> Evaluation<'a, 'm> {
    pub(crate) fn new(
        encoding: &'a Encoding<'m>,
        branch: &'a Branch,
        instance: Option<InstanceId>,
        errors: &'a mut Bdd,
    ) -> Self {
        Self {
            encoding,
            errors,
            branch,
            instance,
            bounds: Vec::new(),
        }
    }

    fn manager(&self) -> &'a Manager {
        &self.encoding.manager
    }

    fn model(&self) -> &'m Model {
        self.encoding.model
    }

    fn fail(&mut self, states: &Bdd) -> Result<(), Halt> {
        *self.errors = self.errors.or(states)?;
        Ok(())
    }

    fn constant(&self, value: i64) -> Value {
        Value::constant(self.manager(), value)
    }

    /// The value of an expression in these states.
    pub(crate) fn value(&mut self, expr: &Expr, states: &Bdd) -> Result<Value, Halt> {
        Ok(match expr {
            Expr::Int(value) => self.constant(*value),
            Expr::Bool(value) => self.constant(i64::from(*value)),
            Expr::Enum(_, variant) => self.constant(i64::from(*variant)),
            Expr::Read(place) => {
                let cells = self.cell(place, states)?;
                self.look_up(&cells, |encoding, cell| encoding.domains.cell(cell))?
            }
            Expr::Bound(bound) => self.bound(*bound),
            Expr::Neg(inner) => {
                let inner = self.value(inner, states)?;
                self.map(&inner, states, |value| {
                    Expr::Neg(Box::new(Expr::Int(value)))
                })?
            }
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => {
                let inner = self.value(inner, states)?;
                self.map(&inner, states, |value| Expr::Wrap {
                    bits: *bits,
                    signed: *signed,
                    inner: Box::new(Expr::Int(value)),
                })?
            }
            Expr::Binary(op, left, right) if !op.is_boolean() => {
                let left = self.value(left, states)?;
                let right = self.value(right, states)?;
                self.binary(*op, &left, &right, states)?
            }
            Expr::Ite(condition, then, otherwise) => {
                let condition = self.truth(condition, states)?;
                let then = self.value(then, &states.and(&condition)?)?;
                let otherwise = self.value(otherwise, &states.minus(&condition)?)?;
                Value::choice(&condition, &then, &otherwise)?
            }
            Expr::Quantified {
                quantifier: Quantifier::Sum,
                bound,
                lo,
                hi,
                body,
            } => self.sum(*bound, (lo, hi), body, states)?,
            Expr::Length(channel) => {
                let channels = self.channel(channel, states)?;
                self.look_up(&channels, |encoding, single| {
                    encoding.domains.length(single)
                })?
            }
            Expr::Not(_) | Expr::Binary(..) | Expr::Quantified { .. } | Expr::At { .. } => {
                Value::truth(&self.truth(expr, states)?)?
            }
        })
    }

    /// Where a Boolean expression is true, as far as these states are concerned.
    pub(crate) fn truth(&mut self, expr: &Expr, states: &Bdd) -> Result<Bdd, Halt> {
        match expr {
            Expr::Bool(value) => Ok(self.manager().constant(*value)),
            Expr::Not(inner) => self.truth(inner, states)?.not(),
            Expr::Binary(op, left, right) if op.is_boolean() => {
                self.connective(*op, left, right, states)
            }
            Expr::Quantified {
                quantifier: quantifier @ (Quantifier::Forall | Quantifier::Exists),
                bound,
                lo,
                hi,
                body,
            } => {
                let is_forall = *quantifier == Quantifier::Forall;
                self.quantified(is_forall, *bound, (lo, hi), body, states)
            }
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let mut result = self.manager().constant(false);
                for (instance, when) in self.owner(*process, owner, states)?.0.iter() {
                    for location in locations {
                        let at = self
                            .encoding
                            .is(*instance as usize, location.index() as i64)?;
                        result = result.or(&when.and(&at)?)?;
                    }
                }
                Ok(result)
            }
            Expr::Int(_)
            | Expr::Enum(..)
            | Expr::Read(_)
            | Expr::Bound(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Ite(..)
            | Expr::Quantified { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => self.value(expr, states)?.is_true(self.manager()),
        }
    }

    fn connective(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        states: &Bdd,
    ) -> Result<Bdd, Halt> {
        if let BinaryOp::And | BinaryOp::Or | BinaryOp::Implies = op {
            let left = self.truth(left, states)?;
            let going_on = match op {
                BinaryOp::Or => states.minus(&left)?,
                _ => states.and(&left)?,
            };
            // Where it is known already, nothing can go wrong any more.
            if going_on.is_false() {
                return match op {
                    BinaryOp::Implies => left.not(),
                    _ => Ok(left),
                };
            }
            let right = self.truth(right, &going_on)?;
            return match op {
                BinaryOp::And => left.and(&right),
                BinaryOp::Or => left.or(&right),
                _ => left.not()?.or(&right),
            };
        }

        let left = self.value(left, states)?;
        let right = self.value(right, states)?;
        let manager = self.manager();
        match op {
            BinaryOp::Eq => left.equals(&right, manager),
            BinaryOp::Ne => left.equals(&right, manager)?.not(),
            BinaryOp::Lt => left.less(&right, false, manager),
            BinaryOp::Le => left.less(&right, true, manager),
            BinaryOp::Gt => right.less(&left, false, manager),
            BinaryOp::Ge => right.less(&left, true, manager),
            _ => unreachable!("the other operators are not Boolean"),
        }
    }

    /// The values that a range has for its ends, and when; and never more instances than can be.
    fn ranges(
        &mut self,
        (lo, hi): (&Expr, &Expr),
        states: &Bdd,
    ) -> Result<Vec<(i64, i64, Bdd)>, Halt> {
        let lo = self.value(lo, states)?.within(states)?;
        let hi = self.value(hi, states)?.within(states)?;
        let mut ranges = Vec::new();
        lo.pairs(&hi, |lo, hi, when| {
            ranges.push((lo, hi, when));
            Ok(())
        })?;
        for (lo, hi, _) in &ranges {
            check_instances(*lo, *hi)?;
        }
        Ok(ranges)
    }

    fn quantified(
        &mut self,
        is_forall: bool,
        bound: BoundId,
        range: (&Expr, &Expr),
        body: &Expr,
        states: &Bdd,
    ) -> Result<Bdd, Halt> {
        let mut result = self.manager().constant(false);
        for (lo, hi, when) in self.ranges(range, states)? {
            // The states in which all instances so far were true (false), so that others matter.
            let mut open = when.clone();
            for value in lo..=hi {
                if open.is_false() {
                    break;
                }
                self.bounds.push((bound, self.constant(value)));
                let instance = self.truth(body, &open);
                self.bounds.pop();
                let instance = instance?;
                open = if is_forall {
                    open.and(&instance)?
                } else {
                    open.minus(&instance)?
                };
            }
            let decided = if is_forall { open } else { when.minus(&open)? };
            result = result.or(&decided)?;
        }
        Ok(result)
    }

    fn sum(
        &mut self,
        bound: BoundId,
        range: (&Expr, &Expr),
        body: &Expr,
        states: &Bdd,
    ) -> Result<Value, Halt> {
        let mut result = ValueBuilder::default();

        for (lo, hi, when) in self.ranges(range, states)? {
            let mut sum = self.constant(0);
            for value in lo..=hi {
                self.bounds.push((bound, self.constant(value)));
                let instance = self.value(body, &when);
                self.bounds.pop();
                sum = self.binary(BinaryOp::Add, &sum, &instance?, &when)?;
            }

            for (value, with_sum) in sum.0.iter() {
                result.add(*value, with_sum.and(&when)?)?;
            }
        }

        Ok(result.finish())
    }

    fn bound(&self, bound: BoundId) -> Value {
        let own = self.bounds.iter().rev();
        let mut known = own.chain(self.branch.bounds.iter().rev());
        let found = known.find(|(name, _)| *name == bound);
        found
            .expect("`ModelParts::finish` checks that names are bound")
            .1
            .clone()
    }

    /// What the reference semantics makes of an expression over numbers.
    fn compute(&self, expr: &Expr) -> Option<i64> {
        let nowhere = State {
            locations: Vec::new(),
            cells: Vec::new(),
            channels: Vec::new(),
        };
        let model = self.model();
        model
            .eval(expr, &nowhere, &mut Env::empty(), Span::nowhere())
            .ok()
    }

    fn map(
        &mut self,
        inner: &Value,
        states: &Bdd,
        expr: impl Fn(i64) -> Expr,
    ) -> Result<Value, Halt> {
        let mut result = ValueBuilder::default();
        for (value, when) in inner.0.iter() {
            match self.compute(&expr(*value)) {
                Some(value) => result.add(value, when.clone())?,
                None => self.fail(&when.and(states)?)?,
            }
        }
        Ok(result.finish())
    }

    fn binary(
        &mut self,
        op: BinaryOp,
        left: &Value,
        right: &Value,
        states: &Bdd,
    ) -> Result<Value, Halt> {
        let mut result = ValueBuilder::default();
        left.pairs(right, |left, right, when| {
            let expr = Expr::binary(op, Expr::Int(left), Expr::Int(right));
            match self.compute(&expr) {
                Some(value) => result.add(value, when),
                None => self.fail(&when.and(states)?),
            }
        })?;
        Ok(result.finish())
    }

    /// What is in the field of the cell or channel that the value names.
    fn look_up(
        &self,
        which: &Value,
        field: impl Fn(&Encoding<'m>, usize) -> usize,
    ) -> Result<Value, Halt> {
        let content = |position: i64| {
            let field = field(self.encoding, position as usize);
            self.branch.value(self.encoding, field)
        };
        if let Some(only) = which.only() {
            return Ok(content(only));
        }
        let mut result = ValueBuilder::default();
        for (position, when) in which.0.iter() {
            for (value, with_value) in content(*position).0.iter() {
                result.add(*value, when.and(with_value)?)?;
            }
        }
        Ok(result.finish())
    }

    /// The cell that a place names.
    pub(crate) fn cell(&mut self, place: &Place, states: &Bdd) -> Result<Value, Halt> {
        let model = self.model();
        let variable = &model.parts().vars[place.var.index()];
        let mut cells = match (&place.owner, variable.owner) {
            (Some(owner), Some(process)) => {
                let mut first = ValueBuilder::default();
                for (instance, when) in self.owner(process, owner, states)?.0.iter() {
                    let instance = InstanceId::new(*instance as usize);
                    let cell = model.first_cell(place.var, Some(instance));
                    first.add(cell as i64, when.clone())?;
                }
                first.finish()
            }
            _ => self.constant(model.first_cell(place.var, None) as i64),
        };

        let records = &model.parts().records;
        let mut ty = &variable.ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let size = array.element.n_cells(records) as i64;
                    let offsets = self.offset(index, array.lo, array.len, states)?;
                    let mut moved = ValueBuilder::default();
                    cells.pairs(&offsets, |cell, offset, when| {
                        moved.add(cell + offset * size, when)
                    })?;
                    cells = moved.finish();
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    let skipped: usize = skipped.map(|(_, ty)| ty.n_cells(records)).sum();
                    let mut moved = ValueBuilder::default();
                    for (cell, when) in cells.0.iter() {
                        moved.add(cell + skipped as i64, when.clone())?;
                    }
                    cells = moved.finish();
                    ty = &fields[*field].1;
                }
                (Access::Index(_), Type::Scalar(_) | Type::Record(_))
                | (Access::Field(_), Type::Scalar(_) | Type::Array(_)) => {
                    unreachable!("`ModelParts::finish` checks that paths fit types")
                }
            }
        }

        Ok(cells)
    }

    /// The position of an index in an array of this size; elsewhere it is an error.
    fn offset(&mut self, index: &Expr, lo: i64, len: usize, states: &Bdd) -> Result<Value, Halt> {
        let mut offsets = ValueBuilder::default();
        for (index, when) in self.value(index, states)?.0.iter() {
            let offset = index.checked_sub(lo).filter(|offset| *offset >= 0);
            match offset.filter(|offset| (*offset as usize) < len) {
                Some(offset) => offsets.add(offset, when.clone())?,
                None => self.fail(&when.and(states)?)?,
            }
        }
        Ok(offsets.finish())
    }

    fn owner(&mut self, process: ProcessId, owner: &Owner, states: &Bdd) -> Result<Value, Halt> {
        let model = self.model();
        match owner {
            Owner::Own => {
                let own = self.instance.expect("`ModelParts::finish` checks owners");
                Ok(self.constant(own.index() as i64))
            }
            Owner::Single => {
                let only = model.instance_of(process, None);
                let only = only.expect("`ModelParts::finish` checks owners");
                Ok(self.constant(only.index() as i64))
            }
            Owner::Indexed(index) => {
                let mut instances = ValueBuilder::default();
                for (index, when) in self.value(index, states)?.0.iter() {
                    match model.instance_of(process, Some(*index)) {
                        Some(instance) => instances.add(instance.index() as i64, when.clone())?,
                        None => self.fail(&when.and(states)?)?,
                    }
                }
                Ok(instances.finish())
            }
        }
    }

    /// The single channel that a reference names.
    pub(crate) fn channel(&mut self, reference: &ChannelRef, states: &Bdd) -> Result<Value, Halt> {
        let model = self.model();
        let first = model.first_single_channel(reference.channel) as i64;
        let channel = &model.parts().channels[reference.channel.index()];
        let (Some(index), Some((lo, _))) = (&reference.index, channel.indices) else {
            return Ok(self.constant(first));
        };
        let mut singles = ValueBuilder::default();
        for (offset, when) in self.offset(index, lo, channel.n_single(), states)?.0.iter() {
            singles.add(first + offset, when.clone())?;
        }
        Ok(singles.finish())
    }
}

/// Refuses ranges that would take forever to unfold.
pub(crate) fn check_instances(lo: i64, hi: i64) -> Result<(), Halt> {
    if i128::from(hi) - i128::from(lo) < i128::from(MAX_INSTANCES) {
        return Ok(());
    }
    Err(Halt::Unsupported(format!(
        "a quantifier, loop or choice ranges over more than {MAX_INSTANCES} values"
    )))
}

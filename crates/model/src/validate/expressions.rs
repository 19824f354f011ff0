//! The kinds of expressions, and what they refer to.
//!
//! Values are stored as integers ([`Scalar`]), and bound names range over integers whatever they stand
//! for. A number therefore fits a Boolean or an enumeration if it is known to be one of its values.

use super::Checker;
use super::sizes::Sizes;
use crate::{
    Access, BinaryOp, ChannelId, ChannelRef, EnumId, Expr, Initial, ModelError, OPEN_VALUES, Owner,
    Place, ProcessId, Quantifier, Scalar, Type, VarId,
};

/// What an expression can be the value of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum ValueKind {
    Bool,
    /// A number between these, as far as is known.
    Int(i64, i64),
    /// A value of an enumeration with this many.
    Enum(EnumId, u32),
}

impl ValueKind {
    /// Any number.
    pub(super) const NUMBER: Self = Self::Int(i64::MIN, i64::MAX);

    pub(super) fn of(scalar: Scalar) -> Self {
        match scalar {
            Scalar::Bool => Self::Bool,
            Scalar::Range(_, _) | Scalar::Int => Self::NUMBER,
            Scalar::Enum(id, n_values) => Self::Enum(id, n_values),
        }
    }

    /// Can one stand where the other does? Whether a number is in a range is found out at run time.
    pub(super) fn fits(self, other: Self) -> bool {
        match (self, other) {
            (Self::Bool, Self::Bool) | (Self::Int(..), Self::Int(..)) => true,
            (Self::Enum(a, _), Self::Enum(b, _)) => a == b,
            // A Boolean is a number; not every number is a Boolean.
            (Self::Bool, Self::Int(..)) => true,
            (Self::Int(lo, hi), Self::Bool) => lo >= 0 && hi <= 1,
            (Self::Int(lo, hi), Self::Enum(_, n_values))
            | (Self::Enum(_, n_values), Self::Int(lo, hi)) => lo >= 0 && hi < i64::from(n_values),
            (Self::Bool, Self::Enum(..)) | (Self::Enum(..), Self::Bool) => false,
        }
    }

    /// The kind of something that is one of two that fit.
    fn joined(self, other: Self) -> Self {
        match (self, other) {
            (Self::Int(a, b), Self::Int(c, d)) => Self::Int(a.min(c), b.max(d)),
            (Self::Bool, Self::Int(lo, hi)) | (Self::Int(lo, hi), Self::Bool) => {
                Self::Int(lo.min(0), hi.max(1))
            }
            (Self::Int(..), named) => named,
            (named, _) => named,
        }
    }

    /// What a name stands for that ranges from one value to another.
    pub(super) fn range(lo: Self, hi: Self) -> Self {
        match (lo, hi) {
            (Self::Int(least, _), Self::Int(_, greatest)) => Self::Int(least, greatest),
            (lo, hi) => lo.joined(hi),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Bool => "a Boolean",
            Self::Int(..) => "a number",
            Self::Enum(..) => "a value of an enumeration",
        }
    }
}

impl Checker<'_> {
    /// Checks the initial values of variables.
    pub(super) fn initial_values(&mut self, sizes: &Sizes) -> Result<(), ModelError> {
        let parts = self.parts;
        for (position, variable) in parts.vars.iter().enumerate() {
            let Initial::Values(values) = &variable.initial else {
                continue;
            };
            self.span = variable.span;
            let n_cells = sizes.cells_of(VarId::new(position));
            if values.len() as i128 != n_cells {
                let (name, n_values) = (&variable.name, values.len());
                let message =
                    format!("`{name}` has {n_cells} components and {n_values} initial values");
                return self.fail("initial-count", message);
            }

            // Only the owner's index is known. Own variables would be state.
            let index = variable
                .owner
                .and_then(|owner| parts.processes[owner.index()].index);
            if let Some(range) = index {
                self.bind(range.bound, ValueKind::Int(range.lo, range.hi), false)?;
            }
            let mut remaining = values.iter();
            self.initial_values_of(&variable.ty, &mut remaining)?;
            self.forget(0);
        }

        Ok(())
    }

    fn initial_values_of<'e>(
        &mut self,
        ty: &Type,
        values: &mut impl Iterator<Item = &'e Expr>,
    ) -> Result<(), ModelError> {
        match ty {
            Type::Scalar(scalar) => match values.next() {
                Some(value) => self.expect(value, ValueKind::of(*scalar)),
                None => Ok(()),
            },
            Type::Array(array) => {
                (0..array.len).try_for_each(|_| self.initial_values_of(&array.element, values))
            }
            Type::Record(id) => {
                let mut fields = self.parts.records[id.index()].fields.iter();
                fields.try_for_each(|(_, ty)| self.initial_values_of(ty, values))
            }
        }
    }

    /// The expression is a value of the kind.
    pub(super) fn expect(&mut self, expr: &Expr, kind: ValueKind) -> Result<(), ModelError> {
        let found = self.kind(expr)?;
        if found.fits(kind) {
            return Ok(());
        }
        let message = format!("{} stands where {} is needed", found.name(), kind.name());
        self.fail("wrong-type", message)
    }

    /// The expression is a Boolean.
    pub(super) fn condition(&mut self, expr: &Expr) -> Result<(), ModelError> {
        self.expect(expr, ValueKind::Bool)
    }

    /// The expression is a number.
    pub(super) fn number(&mut self, expr: &Expr) -> Result<(), ModelError> {
        self.expect(expr, ValueKind::NUMBER)
    }

    /// The expression can be an index: Booleans and values of enumerations stand for their
    /// positions, so every kind of value can.
    fn position(&mut self, expr: &Expr) -> Result<(), ModelError> {
        self.kind(expr).map(|_: ValueKind| ())
    }

    /// What a name stands for that ranges from one value to another.
    pub(super) fn range(&mut self, lo: &Expr, hi: &Expr) -> Result<ValueKind, ModelError> {
        let (lo, hi) = (self.kind(lo)?, self.kind(hi)?);
        if !lo.fits(hi) && !hi.fits(lo) {
            return self.fail("wrong-type", "the ends of a range are of different types");
        }
        Ok(ValueKind::range(lo, hi))
    }

    /// The kind of an expression in which everything is well formed.
    pub(super) fn kind(&mut self, expr: &Expr) -> Result<ValueKind, ModelError> {
        match expr {
            Expr::Int(value) => Ok(ValueKind::Int(*value, *value)),
            Expr::Bool(_) => Ok(ValueKind::Bool),
            Expr::Enum(id, variant) => self.variant(*id, *variant),
            Expr::Read(place) => Ok(ValueKind::of(self.place(place)?)),
            Expr::Bound(bound) => Ok(self.binding(*bound)?.kind),
            Expr::Not(inner) => {
                self.condition(inner)?;
                Ok(ValueKind::Bool)
            }
            Expr::Neg(inner) => {
                self.number(inner)?;
                Ok(ValueKind::NUMBER)
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Ite(condition, then, otherwise) => {
                self.condition(condition)?;
                let (then, otherwise) = (self.kind(then)?, self.kind(otherwise)?);

                // A constant fits a range that contains it, so one direction is enough.
                if !then.fits(otherwise) && !otherwise.fits(then) {
                    return self.fail("wrong-type", "the two cases are of different types");
                }
                Ok(then.joined(otherwise))
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => {
                let kind = self.range(lo, hi)?;
                let n_known = self.in_scope.len();
                self.bind(*bound, kind, false)?;
                let body = self.kind(body)?;
                self.forget(n_known);
                self.quantified(*quantifier, body)
            }
            Expr::At {
                process,
                owner,
                locations,
            } => {
                self.owner(*process, owner)?;
                let n_locations = self.parts.processes[process.index()].locations.len();
                if locations
                    .iter()
                    .any(|location| location.index() >= n_locations)
                {
                    return self.fail("unknown-location", "a location does not exist");
                }
                Ok(ValueKind::Bool)
            }
            Expr::Length(channel) => {
                self.channel(channel)?;
                Ok(ValueKind::NUMBER)
            }
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => {
                // Values are `i64`, so an unsigned word has at most 63 bits.
                let most = if *signed { 64 } else { 63 };
                if !(1..=most).contains(bits) {
                    return self.fail("wrap-bits", format!("a word cannot have {bits} bits"));
                }
                self.number(inner)?;
                Ok(wrapped_range(*bits, *signed))
            }
        }
    }

    fn variant(&self, id: EnumId, variant: u32) -> Result<ValueKind, ModelError> {
        let Some(description) = self.parts.enums.get(id.index()) else {
            return self.fail("unknown-enum", format!("{id:?} does not exist"));
        };
        // An uninterpreted type does not list its values.
        let n_values = match description.variants.len() {
            0 => OPEN_VALUES,
            n_variants => u32::try_from(n_variants).unwrap_or(OPEN_VALUES),
        };
        if variant >= n_values {
            let message = format!(
                "`{}` does not have a value with number {variant}",
                description.name
            );
            return self.fail("unknown-variant", message);
        }
        Ok(ValueKind::Enum(id, n_values))
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<ValueKind, ModelError> {
        match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => {
                self.condition(left)?;
                self.condition(right)?;
                Ok(ValueKind::Bool)
            }
            BinaryOp::Eq
            | BinaryOp::Ne
            | BinaryOp::Lt
            | BinaryOp::Le
            | BinaryOp::Gt
            | BinaryOp::Ge => {
                let (left, right) = (self.kind(left)?, self.kind(right)?);
                if !left.fits(right) && !right.fits(left) {
                    let message = format!("{} is compared with {}", left.name(), right.name());
                    return self.fail("wrong-type", message);
                }
                Ok(ValueKind::Bool)
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
            | BinaryOp::Shr => {
                self.number(left)?;
                self.number(right)?;
                Ok(ValueKind::NUMBER)
            }
        }
    }

    fn quantified(&self, quantifier: Quantifier, body: ValueKind) -> Result<ValueKind, ModelError> {
        let (fits, result) = match quantifier {
            Quantifier::Forall | Quantifier::Exists => {
                (body.fits(ValueKind::Bool), ValueKind::Bool)
            }
            Quantifier::Sum => (
                body.fits(ValueKind::Bool) || body.fits(ValueKind::NUMBER),
                ValueKind::NUMBER,
            ),
        };
        if !fits {
            return self.fail("wrong-type", format!("{} is quantified over", body.name()));
        }
        Ok(result)
    }

    /// The scalar that a place leads to.
    pub(super) fn place(&mut self, place: &Place) -> Result<Scalar, ModelError> {
        let parts = self.parts;
        let Some(variable) = parts.vars.get(place.var.index()) else {
            return self.fail(
                "unknown-variable",
                format!("{:?} does not exist", place.var),
            );
        };

        let name = &variable.name;

        // Invariant: a place names an owner if and only if its variable is local.
        match (&place.owner, variable.owner) {
            (None, None) => {}
            (Some(owner), Some(process)) => self.owner(process, owner)?,
            (Some(_), None) => {
                return self.fail(
                    "owner-of-global",
                    format!("`{name}` is not local to a process"),
                );
            }
            (None, Some(_)) => {
                let message = format!("`{name}` is local: the process is missing");
                return self.fail("owner-missing", message);
            }
        }

        let mut ty = &variable.ty;
        for access in &place.path {
            ty = match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    self.position(index)?;
                    &array.element
                }
                (Access::Field(field), Type::Record(id)) => {
                    match parts.records[id.index()].fields.get(*field) {
                        Some((_, ty)) => ty,
                        None => {
                            return self.fail(
                                "unknown-field",
                                format!("`{name}` does not have field {field}"),
                            );
                        }
                    }
                }
                (Access::Index(_), Type::Scalar(_) | Type::Record(_)) => {
                    return self.fail(
                        "not-an-array",
                        format!("`{name}` is indexed where it is not an array"),
                    );
                }
                (Access::Field(_), Type::Scalar(_) | Type::Array(_)) => {
                    let message = format!("`{name}` does not have fields where one is named");
                    return self.fail("not-a-record", message);
                }
            };
        }

        match ty {
            Type::Scalar(scalar) => Ok(*scalar),
            Type::Array(_) | Type::Record(_) => self.fail(
                "not-a-scalar",
                format!("`{name}` is used without naming a component"),
            ),
        }
    }

    /// The process exists, and so does the way to name its instance.
    fn owner(&mut self, id: ProcessId, owner: &Owner) -> Result<(), ModelError> {
        let Some(process) = self.parts.processes.get(id.index()) else {
            return self.fail("unknown-process", format!("{id:?} does not exist"));
        };
        let name = &process.name;
        match owner {
            Owner::Own if self.process == Some(id) => Ok(()),
            Owner::Own => self.fail(
                "own-outside",
                format!("`{name}` is not the process that evaluates"),
            ),
            Owner::Single if process.index.is_none() => Ok(()),
            Owner::Single => self.fail("single-of-family", format!("`{name}` needs an index")),
            Owner::Indexed(index) if process.index.is_some() => self.position(index),
            Owner::Indexed(_) => self.fail(
                "index-of-single",
                format!("`{name}` does not have an index"),
            ),
        }
    }

    /// The channel exists and is named with an index if and only if it is an array.
    pub(super) fn channel(&mut self, channel: &ChannelRef) -> Result<ChannelId, ModelError> {
        let ChannelRef { channel, index } = channel;
        let Some(description) = self.parts.channels.get(channel.index()) else {
            return self.fail("unknown-channel", format!("{channel:?} does not exist"));
        };
        let name = &description.name;
        match (index, description.indices) {
            (None, None) => {}
            (Some(index), Some(_)) => self.number(index)?,
            (Some(_), None) => {
                let message = format!("`{name}` is indexed and is not an array of channels");
                return self.fail("channel-index", message);
            }
            (None, Some(_)) => {
                let message = format!("`{name}` is an array of channels: the index is missing");
                return self.fail("channel-index", message);
            }
        }
        Ok(*channel)
    }
}

fn wrapped_range(bits: u8, signed: bool) -> ValueKind {
    if signed || bits > 62 {
        ValueKind::NUMBER
    } else {
        ValueKind::Int(0, (1 << bits) - 1)
    }
}

//! Evaluation of expressions, straight from their meaning.

use base::Span;
use smallvec::SmallVec;

use crate::{
    Access, ActionId, BinaryOp, BoundId, ChannelRef, Expr, InstanceId, Model, Owner, Place,
    ProcessId, Quantifier, RecordForm, State, Type,
};

/// What went wrong in a model while it ran.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum ErrorKind {
    /// A division or remainder by zero.
    DivisionByZero,
    /// A result outside the 64-bit integers.
    Overflow,
    /// An array, channel or process index that does not exist.
    IndexOutOfRange {
        /// What was indexed.
        what: String,
        /// The index.
        index: i64,
    },
    /// An assignment of a value outside the type of the cell.
    ValueOutOfRange {
        /// The cell.
        cell: String,
        /// The value.
        value: i64,
    },
    /// Two processes that move together write different values to one cell.
    WriteConflict {
        /// The cell.
        cell: String,
    },
    /// An assertion is false.
    AssertionFailed,
    /// A shift by an amount outside 0 to 63.
    ShiftOutOfRange {
        /// The amount.
        amount: i64,
    },
    /// A loop in an effect that runs forever, or for too long to tell.
    EndlessLoop,
    /// An error that the model describes itself.
    Described(String),
    /// The model creates more processes, or longer sequences, than are provided for.
    Exhausted,
}

/// A value that stands for one that a front end has not provided room for, such as the length of a
/// sequence without a bound. To store or send it, or what some additions make of it, is
/// [`ErrorKind::Exhausted`].
pub const BEYOND_ROOM: i64 = -(1 << 60) - 19;

/// How far additions may lead away from [`BEYOND_ROOM`].
const BEYOND_ROOM_DRIFT: u64 = 1 << 20;

impl ErrorKind {
    /// The error that a value is not one of the type of a cell.
    pub(crate) fn out_of_range(cell: &str, value: i64) -> Self {
        if value.abs_diff(BEYOND_ROOM) <= BEYOND_ROOM_DRIFT {
            return Self::Exhausted;
        }
        let cell = cell.to_owned();
        Self::ValueOutOfRange { cell, value }
    }
}

impl std::fmt::Display for ErrorKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::DivisionByZero => write!(f, "division by zero"),
            Self::Overflow => write!(f, "the result does not fit into 64 bits"),
            Self::IndexOutOfRange { what, index } => write!(f, "`{what}` has no index {index}"),
            Self::ValueOutOfRange { cell, value } => {
                write!(f, "the value {value} is outside the type of `{cell}`")
            }
            Self::WriteConflict { cell } => {
                write!(
                    f,
                    "two processes write different values to `{cell}` in one step"
                )
            }
            Self::AssertionFailed => write!(f, "the assertion is false"),
            Self::ShiftOutOfRange { amount } => {
                write!(f, "a shift by {amount} bits; 0 to 63 are possible")
            }
            Self::EndlessLoop => write!(f, "the loop does not end"),
            Self::Described(message) => write!(f, "{message}"),
            Self::Exhausted => write!(
                f,
                "the model creates more processes, or longer sequences, than are provided for"
            ),
        }
    }
}

/// What went wrong, with a place of its own in memory: so values are returned in registers.
pub(crate) type Fault = Box<ErrorKind>;

/// An error of the model (not of its text and not of the tool), and where it happened.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RunTimeError {
    /// What happened.
    pub kind: ErrorKind,
    /// The guard, statement or proposition that was being evaluated.
    pub span: Span,
    /// The action that was being tried, if any.
    pub action: Option<ActionId>,
}

/// The values of bound names, and the process that evaluates.
#[derive(Clone, Debug, Default)]
pub struct Env {
    /// Few, and made anew for every guard: so without a place of their own in memory.
    bounds: SmallVec<[(BoundId, i64); 4]>,
    instance: Option<InstanceId>,
}

impl Env {
    /// No process, no bound names.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// The process `instance` with these bound names.
    #[must_use]
    pub fn of(instance: InstanceId, bounds: &[(BoundId, i64)]) -> Self {
        Self {
            bounds: SmallVec::from_slice(bounds),
            instance: Some(instance),
        }
    }

    /// Binds a name in addition; the latest binding counts.
    pub fn bind(&mut self, bound: BoundId, value: i64) {
        self.bounds.push((bound, value));
    }

    /// Takes the latest binding back.
    pub fn unbind(&mut self) {
        self.bounds.pop();
    }

    /// Changes the latest binding of a name.
    pub(crate) fn rebind(&mut self, bound: BoundId, value: i64) {
        let mut bindings = self.bounds.iter_mut().rev();
        let found = bindings.find(|(name, _)| *name == bound);
        found
            .expect("`ModelParts::finish` checks that names are bound")
            .1 = value;
    }

    fn value(&self, bound: BoundId) -> i64 {
        let found = self.bounds.iter().rev().find(|(name, _)| *name == bound);
        found
            .expect("`ModelParts::finish` checks that names are bound")
            .1
    }
}

impl Model {
    /// The value of an expression in a state. Errors carry `span`.
    ///
    /// # Errors
    /// A run-time error of the model.
    pub fn eval(
        &self,
        expr: &Expr,
        state: &State,
        env: &mut Env,
        span: Span,
    ) -> Result<i64, RunTimeError> {
        Evaluation { model: self, state }
            .eval(expr, env)
            .map_err(|fault| RunTimeError {
                kind: *fault,
                span,
                action: None,
            })
    }
}

/// A model in a state: what expressions are evaluated in.
pub(crate) struct Evaluation<'a> {
    pub(crate) model: &'a Model,
    pub(crate) state: &'a State,
}

impl Evaluation<'_> {
    pub(crate) fn eval(&self, expr: &Expr, env: &mut Env) -> Result<i64, Fault> {
        Ok(match expr {
            Expr::Int(value) => *value,
            Expr::Bool(value) => i64::from(*value),
            Expr::Enum(_, variant) => i64::from(*variant),
            Expr::Read(place) => self.state.cells[self.cell(place, env)?],
            Expr::Bound(bound) => env.value(*bound),
            Expr::Not(inner) => 1 - self.eval(inner, env)?,
            Expr::Neg(inner) => {
                let value = self.eval(inner, env)?;
                value.checked_neg().ok_or(ErrorKind::Overflow)?
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right, env)?,
            Expr::Ite(condition, then, otherwise) => {
                let condition = self.eval(condition, env)? != 0;
                self.eval(if condition { then } else { otherwise }, env)?
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => {
                let range = self.eval(lo, env)?..=self.eval(hi, env)?;
                self.quantified(*quantifier, *bound, range, body, env)?
            }
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let instance = self.instance(*process, owner, env)?;
                i64::from(locations.contains(&self.state.locations[instance.index()]))
            }
            Expr::Length(channel) => {
                self.state.channels[self.single_channel(channel, env)?].len() as i64
            }
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => wrapped(self.eval(inner, env)?, *bits, *signed),
        })
    }

    fn binary(&self, op: BinaryOp, left: &Expr, right: &Expr, env: &mut Env) -> Result<i64, Fault> {
        let a = self.eval(left, env)?;
        match (op, a) {
            (BinaryOp::And, 0) => return Ok(0),
            (BinaryOp::Implies, 0) => return Ok(1),
            (BinaryOp::Or, 1) => return Ok(1),
            _ => {}
        }
        let b = self.eval(right, env)?;
        binary_value(op, a, b)
    }

    fn quantified(
        &self,
        quantifier: Quantifier,
        bound: BoundId,
        range: std::ops::RangeInclusive<i64>,
        body: &Expr,
        env: &mut Env,
    ) -> Result<i64, Fault> {
        let mut sum = 0_i64;

        for value in range {
            env.bind(bound, value);
            let instance = self.eval(body, env);
            env.unbind();
            match (quantifier, instance?) {
                (Quantifier::Forall, 0) => return Ok(0),
                (Quantifier::Forall, _) | (Quantifier::Exists, 0) => {}
                (Quantifier::Exists, _) => return Ok(1),
                (Quantifier::Sum, value) => {
                    sum = sum.checked_add(value).ok_or(ErrorKind::Overflow)?;
                }
            }
        }

        Ok(match quantifier {
            Quantifier::Forall => 1,
            Quantifier::Exists => 0,
            Quantifier::Sum => sum,
        })
    }

    /// The cell that a place names.
    pub(crate) fn cell(&self, place: &Place, env: &mut Env) -> Result<usize, Fault> {
        let variable = &self.model.parts().vars[place.var.index()];
        let mut cell = match (&place.owner, variable.owner) {
            (Some(owner), Some(process)) => {
                let instance = self.instance(process, owner, env)?;
                self.model.first_cell(place.var, Some(instance))
            }
            _ => self.model.first_cell(place.var, None),
        };

        let records = &self.model.parts().records;
        let mut ty = &variable.ty;
        let mut form = &RecordForm::Components;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let index = self.eval(index, env)?;
                    let offset = offset_of(index, array.lo, array.len)
                        .ok_or_else(|| missing(&variable.name, form, index))?;
                    cell += offset * array.element.n_cells(records);
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    form = &records[record.index()].form;
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    cell += skipped.map(|(_, ty)| ty.n_cells(records)).sum::<usize>();
                    ty = &fields[*field].1;
                }
                _ => unreachable!("`ModelParts::finish` checks that paths fit types"),
            }
        }

        Ok(cell)
    }

    pub(crate) fn instance(
        &self,
        process: ProcessId,
        owner: &Owner,
        env: &mut Env,
    ) -> Result<InstanceId, Fault> {
        match owner {
            Owner::Own => Ok(env.instance.expect("`ModelParts::finish` checks owners")),
            Owner::Single => Ok(self
                .model
                .instance_of(process, None)
                .expect("`ModelParts::finish` checks owners")),
            Owner::Indexed(index) => {
                let index = self.eval(index, env)?;
                let found = self.model.instance_of(process, Some(index));
                let name = || &self.model.parts().processes[process.index()].name;
                found.ok_or_else(|| index_error(name(), index))
            }
        }
    }

    /// The position in `State::channels` that a reference names.
    pub(crate) fn single_channel(
        &self,
        reference: &ChannelRef,
        env: &mut Env,
    ) -> Result<usize, Fault> {
        let first = self.model.first_single_channel(reference.channel);
        let channel = &self.model.parts().channels[reference.channel.index()];
        let (Some(index), Some((lo, _))) = (&reference.index, channel.indices) else {
            return Ok(first);
        };
        let index = self.eval(index, env)?;
        let offset = offset_of(index, lo, channel.n_single())
            .ok_or_else(|| index_error(&channel.name, index))?;
        Ok(first + offset)
    }
}

fn offset_of(index: i64, lo: i64, len: usize) -> Option<usize> {
    let offset = usize::try_from(index.checked_sub(lo)?).ok()?;
    (offset < len).then_some(offset)
}

/// What is not there in a part of a variable of this form.
#[cold]
fn missing(what: &str, form: &RecordForm, index: i64) -> Fault {
    let missing = match form {
        RecordForm::Components => return index_error(what, index),
        RecordForm::Set(_) | RecordForm::Bag(_) => "is asked for a value that cannot be an element",
        RecordForm::Map(_) => "has no entry for the key",
        RecordForm::Sequence => "has no element there",
        RecordForm::Option => "has no value",
    };
    Box::new(ErrorKind::Described(format!("`{what}` {missing}")))
}

#[cold]
fn index_error(what: &str, index: i64) -> Fault {
    Box::new(ErrorKind::IndexOutOfRange {
        what: what.to_owned(),
        index,
    })
}

/// The number with the same low bits that a word of that many bits can hold.
fn wrapped(value: i64, bits: u8, signed: bool) -> i64 {
    let modulus = 1_i128 << bits;
    let low = i128::from(value).rem_euclid(modulus);
    let number = if signed && low >= modulus / 2 {
        low - modulus
    } else {
        low
    };
    // Only an unsigned word of 64 bits could hold more than `i64` can; there is none.
    number as i64
}

/// The value of an operator on evaluated operands.
pub(crate) fn binary_value(op: BinaryOp, a: i64, b: i64) -> Result<i64, Fault> {
    let checked = |value: Option<i64>| Ok(value.ok_or(ErrorKind::Overflow)?);
    let truth = |value: bool| Ok(i64::from(value));
    match op {
        BinaryOp::Add => checked(a.checked_add(b)),
        BinaryOp::Sub => checked(a.checked_sub(b)),
        BinaryOp::Mul => checked(a.checked_mul(b)),
        BinaryOp::Div | BinaryOp::Mod if b == 0 => Err(ErrorKind::DivisionByZero)?,
        BinaryOp::Div => checked(a.checked_div_euclid(b)),
        // i64::MIN mod -1 is 0; the hardware overflows on it.
        BinaryOp::Mod => Ok(a.checked_rem_euclid(b).unwrap_or(0)),
        BinaryOp::Quot | BinaryOp::Rem if b == 0 => Err(ErrorKind::DivisionByZero)?,
        BinaryOp::Quot => checked(a.checked_div(b)),
        BinaryOp::Rem => Ok(a.checked_rem(b).unwrap_or(0)),
        BinaryOp::BitAnd => Ok(a & b),
        BinaryOp::BitOr => Ok(a | b),
        BinaryOp::BitXor => Ok(a ^ b),
        BinaryOp::Shl | BinaryOp::Shr if !(0..64).contains(&b) => {
            Err(ErrorKind::ShiftOutOfRange { amount: b })?
        }
        BinaryOp::Shl => Ok(a << b),
        BinaryOp::Shr => Ok(a >> b),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Or => truth(a != 0 || b != 0),
        BinaryOp::Implies => truth(a == 0 || b != 0),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
    }
}

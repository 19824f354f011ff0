//! Expressions. Their values are `i64`; front ends have checked the types.

use crate::{ChannelId, EnumId, LocationId, ProcessId, VarId};

base::define_index! {
    /// A name bound by a process index, an action parameter, a quantifier or a choice.
    ///
    /// Invariant: every binder of a model has an id of its own, so no renaming is ever needed.
    pub struct BoundId;
}

/// Whose copy of a local variable or location is meant.
#[derive(Clone, PartialEq, Debug)]
pub enum Owner {
    /// The process that evaluates the expression.
    Own,
    /// The only instance of a process without an index.
    Single,
    /// The instance with this index.
    Indexed(Box<Expr>),
}

/// One way down into a composite value.
#[derive(Clone, PartialEq, Debug)]
pub enum Access {
    /// The element with this index.
    Index(Expr),
    /// The component with this number.
    Field(usize),
}

/// A cell that can be read and written.
#[derive(Clone, PartialEq, Debug)]
pub struct Place {
    /// The variable.
    pub var: VarId,
    /// For a local variable, whose. Invariant: `None` iff the variable is global.
    pub owner: Option<Owner>,
    /// From the variable down to a scalar.
    pub path: Vec<Access>,
}

/// A channel, or one of an array of channels.
#[derive(Clone, PartialEq, Debug)]
pub struct ChannelRef {
    /// The channel or the array.
    pub channel: ChannelId,
    /// Which one of the array. Invariant: `None` iff the channel is not an array.
    pub index: Option<Box<Expr>>,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum BinaryOp {
    /// Sum.
    Add,
    /// Difference.
    Sub,
    /// Product.
    Mul,
    /// Euclidean division: the remainder is never negative.
    Div,
    /// Euclidean remainder.
    Mod,
    /// Division that rounds towards zero.
    Quot,
    /// What [`BinaryOp::Quot`] leaves; it has the sign of the left operand.
    Rem,
    /// Conjunction bit by bit.
    BitAnd,
    /// Disjunction bit by bit.
    BitOr,
    /// Difference bit by bit.
    BitXor,
    /// Shift to the left; bits beyond the 64th are lost. By less than 0 or more than 63 bits it is a
    /// run-time error.
    Shl,
    /// Shift to the right that keeps the sign, with the same limits.
    Shr,
    /// Conjunction; the right side is evaluated only if the left side is true.
    And,
    /// Disjunction; the right side is evaluated only if the left side is false.
    Or,
    /// Implication; the right side is evaluated only if the left side is true.
    Implies,
    /// Equality; of Booleans, equivalence.
    Eq,
    /// Inequality.
    Ne,
    /// Less.
    Lt,
    /// Less or equal.
    Le,
    /// Greater.
    Gt,
    /// Greater or equal.
    Ge,
}

impl BinaryOp {
    /// Is the result a Boolean?
    #[must_use]
    pub const fn is_boolean(self) -> bool {
        match self {
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Mod
            | Self::Quot
            | Self::Rem
            | Self::BitAnd
            | Self::BitOr
            | Self::BitXor
            | Self::Shl
            | Self::Shr => false,
            Self::And
            | Self::Or
            | Self::Implies
            | Self::Eq
            | Self::Ne
            | Self::Lt
            | Self::Le
            | Self::Gt
            | Self::Ge => true,
        }
    }

    /// The operator that means the same of a comparison with its sides exchanged; others stay.
    #[must_use]
    pub const fn mirrored(self) -> Self {
        match self {
            Self::Lt => Self::Gt,
            Self::Le => Self::Ge,
            Self::Gt => Self::Lt,
            Self::Ge => Self::Le,
            Self::Add
            | Self::Sub
            | Self::Mul
            | Self::Div
            | Self::Mod
            | Self::Quot
            | Self::Rem
            | Self::BitAnd
            | Self::BitOr
            | Self::BitXor
            | Self::Shl
            | Self::Shr
            | Self::And
            | Self::Or
            | Self::Implies
            | Self::Eq
            | Self::Ne => self,
        }
    }
}

/// What a quantified expression makes of its instances.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Quantifier {
    /// True iff every instance is. Instances after the first false one are not evaluated.
    Forall,
    /// True iff some instance is. Instances after the first true one are not evaluated.
    Exists,
    /// The sum of the instances; of Booleans, how many are true.
    Sum,
}

/// An expression without side effects.
#[derive(Clone, PartialEq, Debug)]
pub enum Expr {
    /// An integer.
    Int(i64),
    /// A Boolean.
    Bool(bool),
    /// A value of an enumeration.
    Enum(EnumId, u32),
    /// The content of a cell.
    Read(Place),
    /// The value of a bound name.
    Bound(BoundId),
    /// Negation of a Boolean.
    Not(Box<Expr>),
    /// Negation of an integer.
    Neg(Box<Expr>),
    /// An operator with two operands.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// If, then, else.
    Ite(Box<Expr>, Box<Expr>, Box<Expr>),
    /// The instances of `body` for every value of `bound` from `lo` to `hi`.
    Quantified {
        /// What to make of them.
        quantifier: Quantifier,
        /// The name that ranges.
        bound: BoundId,
        /// First value.
        lo: Box<Expr>,
        /// Last value; below `lo` there are no instances.
        hi: Box<Expr>,
        /// What is instantiated.
        body: Box<Expr>,
    },
    /// Is the process at one of these locations?
    At {
        /// The process.
        process: ProcessId,
        /// Which instance.
        owner: Owner,
        /// The locations.
        locations: Vec<LocationId>,
    },
    /// How many messages a channel holds.
    Length(ChannelRef),
    /// The low bits of a value, read as a signed or unsigned number.
    Wrap {
        /// How many bits: 1 to 63, or 64 if signed.
        bits: u8,
        /// Is the highest of them a sign?
        signed: bool,
        /// The value.
        inner: Box<Expr>,
    },
}

impl Expr {
    /// The negation of a Boolean expression.
    #[must_use]
    #[expect(
        clippy::should_implement_trait,
        reason = "a constructor, not the operator"
    )]
    pub fn not(inner: Self) -> Self {
        match inner {
            Self::Bool(value) => Self::Bool(!value),
            Self::Not(inner) => *inner,
            other => Self::Not(Box::new(other)),
        }
    }

    /// An operator with two operands.
    #[must_use]
    pub fn binary(op: BinaryOp, left: Self, right: Self) -> Self {
        Self::Binary(op, Box::new(left), Box::new(right))
    }

    /// The conjunction; `true` for none.
    #[must_use]
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let conjoin = |left, right| match (left, right) {
            (Self::Bool(true), other) | (other, Self::Bool(true)) => other,
            (left, right) => Self::binary(BinaryOp::And, left, right),
        };
        parts.into_iter().fold(Self::Bool(true), conjoin)
    }
}

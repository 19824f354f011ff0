//! Pictures that models draw of their states.

use base::Span;
use model::{BoundId, Expr};

/// A picture of a state: shapes whose places depend on it. Nothing else does: no verdict and no step
/// knows about pictures.
#[derive(Clone, Debug)]
pub struct Picture {
    /// The width, in units of its own.
    pub width: i64,
    /// The height.
    pub height: i64,
    /// What is drawn, later things over earlier ones.
    pub items: Vec<PictureItem>,
}

/// A part of a picture.
#[derive(Clone, Debug)]
pub enum PictureItem {
    /// A shape.
    Shape(Box<Shape>),
    /// The same for every value of a bound variable.
    For {
        /// The variable.
        bound: BoundId,
        /// Its least value.
        lo: Expr,
        /// Its greatest value.
        hi: Expr,
        /// What is drawn for each value.
        items: Vec<PictureItem>,
        /// Where it is written.
        span: Span,
    },
}

/// Something that is drawn.
#[derive(Clone, Debug)]
pub struct Shape {
    /// What it is.
    pub kind: ShapeKind,
    /// As many numbers as its kind needs, once rings are worked out.
    pub coordinates: Vec<Coordinate>,
    /// The name of a colour.
    pub colour: String,
    /// What a text says.
    pub text: Option<ShapeText>,
    /// When it is there; nothing means always.
    pub condition: Option<Expr>,
    /// Where it is written.
    pub span: Span,
}

/// What is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ShapeKind {
    /// Centre and radius.
    Circle,
    /// Corner, width and height.
    Box,
    /// Both ends.
    Line,
    /// Centre.
    Text,
}

impl ShapeKind {
    /// The name by which models ask for it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Circle => "circle",
            Self::Box => "box",
            Self::Line => "line",
            Self::Text => "text",
        }
    }

    /// How many numbers say where it is.
    #[must_use]
    pub const fn n_numbers(self) -> usize {
        match self {
            Self::Circle => 3,
            Self::Box | Self::Line => 4,
            Self::Text => 2,
        }
    }
}

/// One number, or the two of a place on a ring.
#[derive(Clone, Debug)]
pub enum Coordinate {
    /// A number.
    Number(Expr),
    /// `ring(x, y, r, i, n)`: the place of member `i` of `n` around a centre, the first on top.
    Ring(Box<[Expr; 5]>),
}

/// What a text says.
#[derive(Clone, Debug)]
pub enum ShapeText {
    /// This word.
    Word(String),
    /// The value of an expression; by name if there are names, as for enumerations.
    Value(Expr, Option<Vec<String>>),
}

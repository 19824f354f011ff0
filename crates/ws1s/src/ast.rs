//! The syntax of MONA files, as written.

use base::Span;

use crate::naming::SetOperator;

/// An expression, by its number in [`Syntax::exprs`].
pub(crate) type ExprId = usize;

/// A name with its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Name {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// The kinds of quantified and declared variables.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    Zero,
    First,
    Second,
}

/// A variable with its restriction.
#[derive(Clone, Debug)]
pub(crate) struct Declared {
    pub(crate) name: Name,
    pub(crate) restriction: Option<ExprId>,
}

/// A parameter of a predicate.
#[derive(Clone, Debug)]
pub(crate) struct Parameter {
    pub(crate) order: Order,
    pub(crate) declared: Declared,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    Less,
    LessEqual,
    Greater,
    GreaterEqual,
    Equal,
    NotEqual,
    In,
    NotIn,
    Sub,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ArithmeticOperator {
    Plus,
    Minus,
    Times,
    Divide,
}

/// One entry of a set display.
#[derive(Clone, Debug)]
pub(crate) enum Element {
    Single(ExprId),
    Interval(ExprId, ExprId),
}

/// An expression of any type; types are checked later.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Name(String),
    Number(i64),
    True,
    False,
    /// The empty set.
    Empty,
    /// `empty(X)`.
    IsEmpty(ExprId),
    Not(ExprId),
    And(Vec<ExprId>),
    Or(Vec<ExprId>),
    /// `a => b => c`, right associative.
    Implies(Vec<ExprId>),
    /// `a <=> b <=> c`, right associative.
    Iff(Vec<ExprId>),
    Compare(Comparison, ExprId, ExprId),
    SetOperation(SetOperator, ExprId, ExprId),
    /// The right operand is a constant expression.
    Arithmetic(ArithmeticOperator, ExprId, ExprId),
    /// `t + n % u` or `t - n % u`.
    Modulo {
        minus: bool,
        term: ExprId,
        amount: ExprId,
        modulus: ExprId,
    },
    /// `-n`, in constant expressions only.
    Negative(ExprId),
    Min(ExprId),
    Max(ExprId),
    Set(Vec<Element>),
    Quantifier {
        universal: bool,
        order: Order,
        variables: Vec<Declared>,
        body: ExprId,
    },
    Let {
        order: Order,
        definitions: Vec<(Name, ExprId)>,
        body: ExprId,
    },
    Call(String, Vec<ExprId>),
    Import(String, Vec<(Name, Name)>),
    Export(String, ExprId),
    Prefix(ExprId),
    Restrict(ExprId),
}

#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// A declaration.
#[derive(Clone, Debug)]
pub(crate) enum Declaration {
    Formula(ExprId),
    Assert(ExprId),
    Verify(Option<String>, ExprId),
    Execute(ExprId),
    Variables(Order, Vec<Declared>),
    Constant(Name, ExprId),
    Predicate {
        name: Name,
        parameters: Vec<Parameter>,
        body: ExprId,
    },
    DefaultWhere(Order, Name, ExprId),
    LastPos(Name),
    AllPos(Name),
}

/// A whole program: all files with their inclusions resolved.
#[derive(Clone, Debug, Default)]
pub(crate) struct Syntax {
    pub(crate) m2l: bool,
    pub(crate) declarations: Vec<(Declaration, Option<Span>)>,
    pub(crate) exprs: Vec<Expr>,
}

//! Random texts of the native language with an interpreter of their own.
//!
//! A [`Program`] is a tree of the native language as `docs/reference/language.md` describes it. It
//! is printed in varied syntax ([`Program::text`]), and [`Interpreter`] runs the tree itself. So a
//! front end that reads the text is compared as a whole, parser included, with code that shares
//! nothing with it: neither its tree nor its translation to models.

mod interpret;
mod print;
mod random;
mod run;

pub use interpret::{Cells, Configuration, Fault, Interpreter, Move};
pub use random::random_program;

/// An expression or formula.
#[derive(Clone, Debug)]
pub(crate) enum Exp {
    Int(i64),
    Bool(bool),
    /// A variable, constant, bound name, value of the enumeration, or definition without
    /// parameters.
    Name(String),
    Index(Box<Exp>, Box<Exp>),
    Field(Box<Exp>, &'static str),
    /// A definition or one of `min`, `max`, `abs`.
    Call(&'static str, Vec<Exp>),
    /// `len`, `empty` or `full` of a channel.
    Channel(&'static str, Channel),
    /// Is a process at one of these locations? Without a process: the one that is speaking.
    At(Option<(&'static str, Option<i64>)>, Vec<&'static str>),
    Not(Box<Exp>),
    Minus(Box<Exp>),
    Binary(Op, Box<Exp>, Box<Exp>),
    If(Box<Exp>, Box<Exp>, Box<Exp>),
    Quantified(QuantifierWord, Vec<Binder>, Box<Exp>),
    List(Vec<Exp>),
    Comprehension(String, i64, i64, Box<Exp>),
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Op {
    Iff,
    Implies,
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    Add,
    Sub,
    Mul,
    Div,
    Mod,
}

/// Quantifiers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum QuantifierWord {
    Forall,
    Exists,
    Count,
    Sum,
}

/// Names that range over the same values, with a condition.
#[derive(Clone, Debug)]
pub(crate) struct Binder {
    pub(crate) names: Vec<String>,
    pub(crate) lo: Exp,
    pub(crate) hi: Exp,
    pub(crate) condition: Option<Exp>,
}

/// A channel, or one of an array.
#[derive(Clone, Debug)]
pub(crate) struct Channel {
    pub(crate) name: &'static str,
    pub(crate) index: Option<Box<Exp>>,
}

/// A type.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Ty {
    Bool,
    Range(i64, i64),
    Color,
    Message,
    Array(i64, i64, Box<Ty>),
}

/// A variable; without initial value it starts with the default.
#[derive(Clone, Debug)]
pub(crate) struct Variable {
    pub(crate) name: &'static str,
    pub(crate) ty: Ty,
    pub(crate) initial: Initial,
}

/// How a variable starts.
#[derive(Clone, Debug)]
pub(crate) enum Initial {
    Default,
    Any,
    Value(Exp),
}

/// A definition.
#[derive(Clone, Debug)]
pub(crate) struct Def {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<String>,
    pub(crate) body: Exp,
}

/// A channel declaration.
#[derive(Clone, Debug)]
pub(crate) struct ChannelDecl {
    pub(crate) name: &'static str,
    pub(crate) capacity: usize,
    pub(crate) indices: Option<(i64, i64)>,
    pub(crate) payload: Vec<Ty>,
}

/// A process or family.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) name: &'static str,
    pub(crate) index: Option<(&'static str, i64, i64)>,
    pub(crate) vars: Vec<Variable>,
    pub(crate) defs: Vec<Def>,
    pub(crate) locations: Vec<&'static str>,
    pub(crate) initial: Vec<&'static str>,
    pub(crate) blocks: Vec<Block>,
}

/// Steps from the same locations.
#[derive(Clone, Debug)]
pub(crate) struct Block {
    /// None means all.
    pub(crate) sources: Option<Vec<&'static str>>,
    pub(crate) steps: Vec<Step>,
}

/// A step.
#[derive(Clone, Debug)]
pub(crate) struct Step {
    pub(crate) name: &'static str,
    pub(crate) parameters: Vec<Binder>,
    pub(crate) guards: Vec<Exp>,
    pub(crate) communication: Communication,
    /// What follows in the same step, through channels with room.
    pub(crate) more: Vec<Communication>,
    pub(crate) effect: Vec<Stmt>,
    pub(crate) target: Option<&'static str>,
}

/// Its partners.
#[derive(Clone, Debug)]
pub(crate) enum Communication {
    Alone,
    Event(&'static str, Vec<Exp>),
    Send(Channel, Vec<Exp>),
    Receive(Channel, Vec<Pattern>, Manner),
    /// For each value of a name.
    ForEach(&'static str, i64, i64, Box<Communication>),
}

/// Which message is received, and whether it stays.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Manner {
    pub(crate) is_any: bool,
    pub(crate) is_peek: bool,
}

/// A component of a message to be received.
#[derive(Clone, Debug)]
pub(crate) enum Pattern {
    Ignore,
    Equal(Exp),
    Store(Exp),
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) enum Stmt {
    Assign(Vec<Exp>, Vec<Exp>),
    /// The place, the name under which the new value is known, and from what it is chosen.
    Choose(Exp, Option<String>, Ty, Option<Exp>),
    Let(String, Exp),
    LetChoose(String, Ty),
    If(Exp, Vec<Stmt>, Vec<Stmt>),
    For(String, Exp, Exp, Vec<Stmt>),
    Assert(Exp),
    Skip,
}

/// A whole text.
#[derive(Clone, Debug)]
pub struct Program {
    pub(crate) n: i64,
    pub(crate) synchronous: bool,
    pub(crate) vars: Vec<Variable>,
    pub(crate) init: Vec<Exp>,
    pub(crate) defs: Vec<Def>,
    pub(crate) channels: Vec<ChannelDecl>,
    pub(crate) events: Vec<(&'static str, bool)>,
    pub(crate) processes: Vec<Process>,
    /// Conditions that the text asks about, in order: as invariants and as reachability.
    pub(crate) questions: Vec<Exp>,
}

/// The values of the enumeration.
pub(crate) const COLORS: [&str; 3] = ["red", "green", "blue"];

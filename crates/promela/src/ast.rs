//! What a Promela text says, name by name; nothing is resolved yet.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::Span;

/// A whole text.
#[derive(Debug, Default)]
pub(crate) struct Program {
    /// Global variables and channels, in order.
    pub(crate) globals: Vec<VarDecl>,
    /// Names of `mtype` constants, in order of declaration, with their subtype.
    pub(crate) mtypes: Vec<MtypeDecl>,
    /// Subtypes of `mtype` where they are named.
    pub(crate) subtypes: Vec<Rc<str>>,
    /// `typedef`s.
    pub(crate) typedefs: Vec<Typedef>,
    /// `inline`s. Their calls are replaced while the text is read.
    pub(crate) inlines: Vec<InlineDecl>,
    /// `proctype`s and `init`, in order.
    pub(crate) processes: Vec<Proctype>,
    /// `never` claims.
    pub(crate) claims: Vec<ClaimDecl>,
    /// `ltl` blocks.
    pub(crate) formulas: Vec<Formula>,
    /// Where `timeout` is written.
    pub(crate) timeouts: Vec<Span>,
    /// Labels that some remote reference names.
    pub(crate) remote_labels: BTreeSet<Rc<str>>,
    /// Names that begin with `_`, wherever they are read. (Macros that nothing uses are not read.)
    pub(crate) special_names: BTreeSet<Rc<str>>,
    /// `trace` and `notrace`.
    pub(crate) traces: Vec<Trace>,
    /// Where priorities are given, asked for or changed.
    pub(crate) priorities: Vec<Span>,
}

impl Program {
    /// The process type with this name.
    pub(crate) fn proctype(&self, name: &str) -> Option<usize> {
        self.processes.iter().position(|p| *p.name == *name)
    }
}

/// `inline Name(a, b) { … }`.
#[derive(Debug)]
pub(crate) struct InlineDecl {
    pub(crate) name: Rc<str>,
    pub(crate) parameters: Vec<Rc<str>>,
    pub(crate) span: Span,
}

/// `mtype = { a, b }` or `mtype:sub = { a, b }`.
#[derive(Debug)]
pub(crate) struct MtypeDecl {
    pub(crate) subtype: Option<Rc<str>>,
    pub(crate) names: Vec<(Rc<str>, Span)>,
}

/// `typedef Name { … }`.
#[derive(Debug)]
pub(crate) struct Typedef {
    pub(crate) name: Rc<str>,
    pub(crate) fields: Vec<VarDecl>,
    pub(crate) span: Span,
}

/// The type of a variable as written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum TypeName {
    Bit,
    Bool,
    Byte,
    Pid,
    Short,
    Int,
    /// With its width in bits; 0 if none is written.
    Unsigned(u32),
    Mtype,
    Chan,
    Timer,
    /// A `typedef`.
    User(Rc<str>),
}

/// A declared variable.
#[derive(Clone, Debug)]
pub(crate) struct VarDecl {
    pub(crate) name: Rc<str>,
    pub(crate) ty: TypeName,
    /// The length, if it is an array.
    pub(crate) length: Option<Expr>,
    pub(crate) init: Init,
    pub(crate) hidden: bool,
    pub(crate) span: Span,
}

/// How a variable starts.
#[derive(Clone, Debug)]
pub(crate) enum Init {
    Zero,
    Value(Expr),
    List(Vec<Expr>),
    Channel {
        capacity: Expr,
        fields: Vec<(TypeName, Span)>,
    },
}

/// A process type.
#[derive(Debug)]
pub(crate) struct Proctype {
    pub(crate) name: Rc<str>,
    /// How many copies are there from the start.
    pub(crate) active: Option<Expr>,
    pub(crate) is_init: bool,
    pub(crate) parameters: Vec<VarDecl>,
    pub(crate) provided: Option<Expr>,
    pub(crate) priority: Option<Expr>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) span: Span,
    pub(crate) end: Span,
}

/// A `never` claim.
#[derive(Debug)]
pub(crate) struct ClaimDecl {
    pub(crate) name: Option<Rc<str>>,
    pub(crate) body: Vec<Stmt>,
    pub(crate) span: Span,
    pub(crate) end: Span,
}

/// A `trace` or `notrace` assertion.
#[derive(Debug)]
pub(crate) struct Trace {
    /// `notrace`: going through the whole sequence is wrong.
    pub(crate) is_negated: bool,
    pub(crate) body: Vec<Stmt>,
    pub(crate) span: Span,
    pub(crate) end: Span,
}

/// An `ltl` block.
#[derive(Debug)]
pub(crate) struct Formula {
    pub(crate) name: Option<Rc<str>>,
    pub(crate) body: Expr,
    pub(crate) span: Span,
}

/// A name with its indices and fields: `a[i].b`.
#[derive(Clone, Debug)]
pub(crate) struct VarRef {
    pub(crate) parts: Vec<VarComponent>,
    pub(crate) span: Span,
}

/// One component of a [`VarRef`].
#[derive(Clone, Debug)]
pub(crate) struct VarComponent {
    pub(crate) name: Rc<str>,
    pub(crate) index: Option<Box<Expr>>,
    pub(crate) span: Span,
}

/// An expression or formula.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Unary {
    Not,
    Minus,
    Complement,
    Next,
    Always,
    Eventually,
    /// On all paths; only with `--ctl`.
    AllPaths,
    /// On some path; only with `--ctl`.
    SomePath,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Mod,
    BitAnd,
    BitOr,
    BitXor,
    Shl,
    Shr,
    Lt,
    Le,
    Gt,
    Ge,
    Eq,
    Ne,
    And,
    Or,
    Implies,
    Iff,
    Until,
    WeakUntil,
    Release,
}

/// Questions about a channel.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Probe {
    Len,
    Full,
    Empty,
    NotFull,
    NotEmpty,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(i64),
    Var(VarRef),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    /// `(c -> a : b)`.
    Cond(Box<Expr>, Box<Expr>, Box<Expr>),
    Run {
        name: Rc<str>,
        arguments: Vec<Expr>,
        priority: Option<Box<Expr>>,
    },
    Probe(Probe, VarRef),
    /// `q?[…]` and `q??[…]`.
    Poll {
        channel: VarRef,
        arguments: Vec<Argument>,
        any: bool,
    },
    Enabled(Box<Expr>),
    /// `get_priority(p)`.
    Priority(Box<Expr>),
    Timeout,
    /// `expire(t)`.
    Expired(VarRef),
    /// `off(t)`.
    IsOff(VarRef),
    NonProgress,
    /// `P[i]@label`.
    RemoteLabel {
        process: Rc<str>,
        pid: Option<Box<Expr>>,
        label: Rc<str>,
    },
    /// `P[i]:x`.
    RemoteVar {
        process: Rc<str>,
        pid: Option<Box<Expr>>,
        var: VarRef,
    },
}

/// An argument of a receive.
#[derive(Clone, Debug)]
pub(crate) enum Argument {
    /// Stored here.
    Store(VarRef),
    /// Must equal this: a constant or `eval(…)`.
    Match(Expr),
}

/// A statement.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Declare(Vec<VarDecl>),
    Condition(Expr),
    Assign(VarRef, Expr),
    /// `set(t, e)`.
    SetTimer(VarRef, Expr),
    /// `set_priority(p, e)`.
    SetPriority(Expr, Expr),
    Send {
        channel: VarRef,
        arguments: Vec<Expr>,
        sorted: bool,
    },
    Receive {
        channel: VarRef,
        arguments: Vec<Argument>,
        any: bool,
        peek: bool,
    },
    If(Vec<Vec<Stmt>>),
    Do(Vec<Vec<Stmt>>),
    /// `for (i : a .. b) { … }`.
    For {
        var: VarRef,
        from: Expr,
        to: Expr,
        body: Vec<Stmt>,
    },
    /// `for (i in a) { … }`.
    ForIn {
        var: VarRef,
        within: VarRef,
        body: Vec<Stmt>,
    },
    Select {
        var: VarRef,
        from: Expr,
        to: Expr,
        /// Does Spin write it out as options if the range is narrow?
        is_written_out: bool,
    },
    Break,
    Goto(Rc<str>),
    Label(Rc<str>, Box<Stmt>),
    Atomic(Vec<Stmt>),
    DStep(Vec<Stmt>),
    Block(Vec<Stmt>),
    /// A sequence with names of its own that is part of the sequence around it.
    Spliced(Vec<Stmt>),
    Unless(Box<Stmt>, Box<Stmt>),
    Else,
    Assert(Expr),
    Print(Printed),
    /// `xr q` or `xs q`: not a step.
    Exclusive(Vec<VarRef>),
}

/// What `printf` or `printm` is given.
#[derive(Clone, Debug)]
pub(crate) struct Printed {
    /// As it is written.
    pub(crate) format: Rc<str>,
    pub(crate) values: Vec<Expr>,
}

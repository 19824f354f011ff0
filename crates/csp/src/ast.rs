//! What a text says, before anything is looked up.

use std::rc::Rc;

use base::Span;
use logic::PathQuantifier;
use model::AnnotationKind;
use source::Refinement;

use super::lexer::Name;

/// A name and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub(crate) text: Name,
    pub(crate) span: Span,
}

/// An expression; shared between the places that refer to it.
pub(crate) type ExprRef = Rc<Expr>;

/// An expression and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BinaryOp {
    Or,
    And,
    Xor,
    BitAnd,
    BitOr,
    BitXor,
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
    Rem,
}

/// What an expression is.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(i64),
    Bool(bool),
    Name(Name),
    Index(Name, Vec<ExprRef>),
    Not(ExprRef),
    Neg(ExprRef),
    Binary(BinaryOp, ExprRef, ExprRef),
    /// `&& i:{..} @ e` and its like; also sums, in libraries.
    Indexed(BinaryOp, Vec<IndexDef>, ExprRef),
    /// `call(m, …)`, a built-in written as a function, or what only `objects.rs` understands: a method
    /// (`s.Add`), a constructor (`new Set`), an array (`[]`).
    Call(Ident, Vec<ExprRef>),
    Assign(ExprRef, ExprRef),
    /// `x++` (1) or `x--` (-1).
    Increment(ExprRef, i64),
}

impl Expr {
    /// Is it `[1, 2]`?
    pub(crate) fn is_array(&self) -> bool {
        matches!(&self.kind, ExprKind::Call(name, _) if *name.text == *"[]")
    }
}

/// A statement of a program.
#[derive(Clone, Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

/// What a statement is.
#[derive(Clone, Debug)]
pub(crate) enum StmtKind {
    Block(Vec<Stmt>),
    Local(Ident, Option<ExprRef>),
    If(ExprRef, Box<Stmt>, Option<Box<Stmt>>),
    While(ExprRef, Box<Stmt>),
    Expr(ExprRef),
    Empty,
    /// `var a[3];` or `var a = [1, 2];`. Gone after `objects.rs`, like the next.
    LocalArray(Ident, Vec<ExprRef>, Option<ExprRef>),
    /// `var<Set> s = new Set();`
    LocalObject(ObjectDecl),
    /// The variable gets its initial value again.
    Clear(Name),
    /// A run-time error with this message; without one, there is no room for a value.
    Fail(Option<Name>),
}

/// A program attached to an event.
pub(crate) type Program = Rc<Vec<Stmt>>;

/// `x:{a..b}` or `x:{a, b, c}`.
#[derive(Clone, Debug)]
pub(crate) struct IndexDef {
    pub(crate) name: Ident,
    pub(crate) values: IndexValues,
}

/// What an index runs through.
#[derive(Clone, Debug)]
pub(crate) enum IndexValues {
    Range(ExprRef, ExprRef),
    List(Vec<ExprRef>),
}

/// `e.x.1`, or a family of those, in an alphabet or a hiding.
#[derive(Clone, Debug)]
pub(crate) struct EventSpec {
    pub(crate) indices: Vec<IndexDef>,
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<ExprRef>,
}

/// A process expression.
pub(crate) type ProcRef = Rc<Proc>;

/// A process expression and where it stands.
#[derive(Debug)]
pub(crate) struct Proc {
    pub(crate) kind: ProcKind,
    pub(crate) span: Span,
}

/// How a conditional treats its test.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IfKind {
    /// The test is a step of its own.
    Plain,
    /// Test and first step are one.
    Atomic,
    /// Waits until the test is true, which is a step of its own.
    Blocking,
}

/// Which choice.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChoiceKind {
    /// `[]`: resolved by any step.
    General,
    /// `<>`: resolved by the system.
    Internal,
    /// `[*]`: resolved by a visible step.
    External,
}

/// What a prefix does.
#[derive(Clone, Debug)]
pub(crate) enum Action {
    /// Nothing visible.
    Tau,
    /// A named event.
    Event(Ident, Vec<ExprRef>),
    /// `c!x.y`.
    Send(ChannelUse, Vec<ExprRef>),
    /// `c?[cond]x.1`.
    Receive(ChannelUse, Option<ExprRef>, Vec<ExprRef>),
}

/// A channel or one of an array of channels.
#[derive(Clone, Debug)]
pub(crate) struct ChannelUse {
    pub(crate) name: Ident,
    pub(crate) index: Option<ExprRef>,
}

/// An action, its program and the fairness asked for it.
#[derive(Clone, Debug)]
pub(crate) struct Prefix {
    pub(crate) action: Action,
    pub(crate) program: Option<Program>,
    pub(crate) fairness: Option<(AnnotationKind, Span)>,
    pub(crate) span: Span,
}

/// The operators that have indexed forms.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum IndexedOp {
    Interleave,
    Parallel,
    Choice(ChoiceKind),
}

/// What a process expression is.
#[derive(Debug)]
pub(crate) enum ProcKind {
    Stop,
    Skip,
    Assert(ExprRef),
    Call(Ident, Vec<ExprRef>),
    /// Several prefixes stand for a choice between them.
    Prefix(Vec<Prefix>, ProcRef),
    If(IfKind, ExprRef, ProcRef, Option<ProcRef>),
    Case(Vec<(ExprRef, ProcRef)>, Option<ProcRef>),
    Guard(ExprRef, ProcRef),
    Atomic(ProcRef),
    Seq(ProcRef, ProcRef),
    Hide(ProcRef, Rc<Vec<EventSpec>>),
    Interrupt(ProcRef, ProcRef),
    Choice(ChoiceKind, Vec<ProcRef>),
    Interleave(Vec<ProcRef>),
    Parallel(Vec<ProcRef>),
    Indexed(IndexedOp, Vec<IndexDef>, ProcRef),
    /// `|||{n} @ P`; without a number, infinitely many.
    Replicated(Option<ExprRef>, ProcRef),
}

/// One element of a record initialiser.
#[derive(Clone, Debug)]
pub(crate) enum RecordItem {
    /// `e` or `e(n)`.
    Repeat(ExprRef, Option<ExprRef>),
    /// `a..b`.
    Range(ExprRef, ExprRef),
}

/// How a variable starts.
#[derive(Clone, Debug)]
pub(crate) enum VarInit {
    Default,
    Any(Span),
    Value(ExprRef),
    Record(Vec<RecordItem>, Span),
}

/// A global variable.
#[derive(Clone, Debug)]
pub(crate) struct VarDecl {
    pub(crate) name: Ident,
    pub(crate) dimensions: Vec<ExprRef>,
    pub(crate) range: Option<(Option<ExprRef>, Option<ExprRef>)>,
    pub(crate) init: VarInit,
    /// Is it local to programs? Then it has its initial value before and after each of them.
    pub(crate) is_scratch: bool,
}

/// A channel or an array of channels.
#[derive(Clone, Debug)]
pub(crate) struct ChannelDecl {
    pub(crate) name: Ident,
    pub(crate) count: Option<ExprRef>,
    pub(crate) size: ExprRef,
}

/// What a `#define` stands for.
#[derive(Clone, Debug)]
pub(crate) enum MacroBody {
    Expr(ExprRef),
    Block(Program),
}

/// `#define`.
#[derive(Clone, Debug)]
pub(crate) struct MacroDecl {
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Ident>,
    pub(crate) body: MacroBody,
}

/// `var<Set> s = new Set();`
#[derive(Clone, Debug)]
pub(crate) struct ObjectDecl {
    pub(crate) class: Ident,
    pub(crate) name: Ident,
    /// What the constructor is given, if it is called.
    pub(crate) arguments: Vec<ExprRef>,
}

/// A class of a library.
#[derive(Clone, Debug)]
pub(crate) struct ClassDecl {
    pub(crate) name: Ident,
    pub(crate) fields: Vec<VarDecl>,
    pub(crate) methods: Vec<MethodDecl>,
}

/// A method: a macro that knows the fields of its object.
#[derive(Clone, Debug)]
pub(crate) struct MethodDecl {
    pub(crate) body: MacroDecl,
    /// The class of the object that it returns, if it does.
    pub(crate) returns: Option<Name>,
}

/// `P(x, y) = …;`
#[derive(Clone, Debug)]
pub(crate) struct ProcDecl {
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Ident>,
    pub(crate) body: ProcRef,
}

/// `#alphabet P { … };`
#[derive(Clone, Debug)]
pub(crate) struct AlphabetDecl {
    pub(crate) process: Ident,
    pub(crate) events: Rc<Vec<EventSpec>>,
}

/// A temporal formula.
#[derive(Clone, Debug)]
pub(crate) enum Formula {
    Constant(bool),
    /// A proposition or event with its arguments.
    Name(Ident, Vec<ExprRef>),
    /// A quoted event, such as `"c!1"`.
    Quoted(Name, Span),
    Not(Box<Formula>),
    Next(Box<Formula>),
    Always(Box<Formula>),
    Eventually(Box<Formula>),
    /// On all paths, or on some; only with `--ctl`.
    Paths(PathQuantifier, Box<Formula>),
    Until(Box<Formula>, Box<Formula>),
    Release(Box<Formula>, Box<Formula>),
    WeakUntil(Box<Formula>, Box<Formula>),
    And(Box<Formula>, Box<Formula>),
    Or(Box<Formula>, Box<Formula>),
    Xor(Box<Formula>, Box<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Iff(Box<Formula>, Box<Formula>),
}

/// What is claimed of a process.
#[derive(Clone, Debug)]
pub(crate) enum AssertionClaim {
    DeadlockFree,
    NonTerminating,
    DivergenceFree,
    Deterministic,
    /// A goal, and what is to be greatest (`true`) or least there.
    Reaches(ExprRef, Option<(bool, ExprRef)>),
    Ltl(Formula),
    Refines(Refinement, ProcessUse),
}

/// A process with arguments.
#[derive(Clone, Debug)]
pub(crate) struct ProcessUse {
    pub(crate) name: Ident,
    pub(crate) arguments: Vec<ExprRef>,
}

/// `#assert P() …;`
#[derive(Clone, Debug)]
pub(crate) struct AssertDecl {
    pub(crate) process: ProcessUse,
    pub(crate) claim: AssertionClaim,
    pub(crate) span: Span,
}

/// Everything that a text declares.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spec {
    pub(crate) macros: Vec<MacroDecl>,
    pub(crate) enums: Vec<Vec<Ident>>,
    pub(crate) vars: Vec<VarDecl>,
    pub(crate) channels: Vec<ChannelDecl>,
    pub(crate) processes: Vec<ProcDecl>,
    pub(crate) alphabets: Vec<AlphabetDecl>,
    pub(crate) assertions: Vec<AssertDecl>,
    pub(crate) includes: Vec<(Name, Span)>,
    pub(crate) imports: Vec<(Name, Span)>,
    pub(crate) objects: Vec<ObjectDecl>,
    pub(crate) classes: Vec<ClassDecl>,
    /// The ends of ranges of parameters, which have no meaning here.
    pub(crate) ranges: Vec<ExprRef>,
}

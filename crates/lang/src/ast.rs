//! What the parser reads, before names and types are looked at.

use std::sync::Arc;

use base::{Expected, Fairness, SourceId, Span};
use logic::PathQuantifier;
use model::{AnnotationKind, Quantifier};
use rustc_hash::{FxHashMap, FxHashSet};
use source::ShapeKind;

/// A name and where it is written.
#[derive(Clone, Debug)]
pub(crate) struct Ident {
    pub(crate) text: String,
    pub(crate) span: Span,
}

/// A whole text: declarations in order.
#[derive(Debug, Default)]
pub(crate) struct File {
    pub(crate) decls: Vec<Decl>,
    /// Where each declaration is written, from its first to its last token.
    pub(crate) extents: Vec<Span>,
    /// Where names are written, by the addresses of their texts in this tree.
    pub(crate) written: FxHashMap<usize, Span>,
    /// The names of its imports.
    pub(crate) aliases: Vec<String>,
    /// The texts whose names can be used in a text without further ado, besides its own. Nothing is
    /// there for texts that were not read from files.
    pub(crate) sees: FxHashMap<SourceId, FxHashSet<SourceId>>,
}

/// `import "net.fair" as net with K = 3`.
#[derive(Debug)]
pub(crate) struct ImportDecl {
    /// The file, as it is written without quotation marks.
    pub(crate) file: Ident,
    /// What stands before its names; nothing if they are used as they are.
    pub(crate) alias: Option<Ident>,
    /// Values of its constants and parameters.
    pub(crate) values: Vec<(Ident, Expr)>,
}

/// A declaration outside processes.
#[derive(Debug)]
pub(crate) enum Decl {
    /// Another file. Declarations of that file stand in its place in a tree that is complete.
    Import(ImportDecl),
    /// `const N = 3`.
    Const {
        name: Ident,
        value: Expr,
        /// The value that an import gives to it.
        given: Option<Expr>,
    },
    /// `param N`.
    Param { name: Ident },
    /// `param Last >= 1`: any integer from there on.
    DataParam { name: Ident, least: Expr },
    /// `type Data`: values that can only be compared for equality.
    Type { name: Ident },
    /// `enum Color { red, green }`.
    Enum { name: Ident, variants: Vec<Ident> },
    /// `record Msg { kind: Color, seq: 0..3 }`.
    Record {
        name: Ident,
        fields: Vec<(Ident, TypeExpr)>,
    },
    /// `var x, y : T = e`.
    Var(VarDecl),
    /// `timer t abstract from 3`.
    Timer(TimerDecl),
    /// `init e`.
    Init(Expr),
    /// `def f(a) = e`.
    Def(Def),
    /// `chan c[4] of T`.
    Chan(ChanDecl),
    /// `event go(0..3)`.
    Event {
        name: Ident,
        arguments: Vec<TypeExpr>,
    },
    /// `synchronous`.
    Synchronous,
    /// `process P { … }`.
    Process(ProcessDecl),
    /// `fairness weak`.
    Fairness(Fairness, Span),
    /// `assume []<> p -> []<> q`.
    Assume(Expr),
    /// `interference P.read with P.write`: steps that interfere with others under justness.
    Interference(Expr, Expr),
    /// A property of any kind.
    Property(PropertyDecl),
    /// `system S { … }`.
    System(SystemDecl),
    /// `abstract { … }`.
    Abstract(AbstractDecl),
    /// `view { … }`.
    View(ViewDecl),
}

/// A picture of the state.
#[derive(Debug)]
pub(crate) struct ViewDecl {
    /// Where `view` is written.
    pub(crate) span: Span,
    /// `frame width, height`.
    pub(crate) frame: Option<(Expr, Expr)>,
    pub(crate) items: Vec<ViewItem>,
}

/// A part of a picture.
#[derive(Debug)]
pub(crate) enum ViewItem {
    /// A shape.
    Shape(ShapeDecl),
    /// `for i in 0..N { … }`.
    For {
        name: Ident,
        lo: Expr,
        hi: Expr,
        items: Vec<ViewItem>,
    },
}

/// `circle 10, 20, 5 red when x == 1`.
#[derive(Debug)]
pub(crate) struct ShapeDecl {
    pub(crate) kind: ShapeKind,
    pub(crate) coordinates: Vec<CoordinateDecl>,
    pub(crate) colour: Option<Ident>,
    pub(crate) text: Option<TextDecl>,
    pub(crate) condition: Option<Expr>,
    pub(crate) span: Span,
}

/// A number, or a place on a ring.
#[derive(Debug)]
pub(crate) enum CoordinateDecl {
    /// A number.
    Number(Expr),
    /// `ring(x, y, r, i, n)`.
    Ring(Vec<Expr>, Span),
}

/// What a text says.
#[derive(Debug)]
pub(crate) enum TextDecl {
    /// This word.
    Word(Ident),
    /// `= e`.
    Value(Expr),
}

/// What an author adds to an abstraction that is found automatically.
#[derive(Debug)]
pub(crate) struct AbstractDecl {
    /// `abstract only`: nothing but what is written here.
    pub(crate) only: bool,
    /// The properties it is for; none means all.
    pub(crate) properties: Vec<Ident>,
    /// `name: e`.
    pub(crate) predicates: Vec<(Ident, Expr)>,
    /// `ranking name(i): e`: name, index, condition on the index.
    pub(crate) rankings: Vec<(Ident, Ident, Expr)>,
    /// `invariant name: e`.
    pub(crate) invariants: Vec<(Ident, Expr)>,
}

/// A may/must system, given state by state.
#[derive(Debug)]
pub(crate) struct SystemDecl {
    pub(crate) name: Ident,
    pub(crate) states: Vec<Ident>,
    pub(crate) initial: Vec<Ident>,
    pub(crate) free: Vec<(Ident, Ident)>,
    pub(crate) constrained: Vec<(Ident, Ident)>,
    pub(crate) propositions: Vec<(Ident, TruthValues)>,
    pub(crate) assumptions: Vec<Expr>,
    pub(crate) properties: Vec<SystemProperty>,
}

/// What is said of a proposition: values, each with the states in which it has it.
pub(crate) type TruthValues = Vec<(Truth, Vec<Ident>)>;

/// What is said of a proposition in some states.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Truth {
    True,
    False,
    Unknown,
}

/// A question about a may/must system, for paths that satisfy an assumption.
#[derive(Debug)]
pub(crate) struct SystemProperty {
    pub(crate) name: Ident,
    pub(crate) assuming: Option<Expr>,
    pub(crate) formula: Expr,
    /// The verdict that the author expects.
    pub(crate) expected: Option<Expected>,
}

/// One or several variables of one type.
#[derive(Debug)]
pub(crate) struct VarDecl {
    pub(crate) names: Vec<Ident>,
    pub(crate) ty: TypeExpr,
    pub(crate) initial: Option<Expr>,
}

/// One or several timers, abstract or not.
#[derive(Debug)]
pub(crate) struct TimerDecl {
    /// One variable for each name.
    pub(crate) vars: Vec<VarDecl>,
    /// The value from which on values are not told apart.
    pub(crate) threshold: Option<Expr>,
}

/// A definition. Its body is expanded wherever it is used.
#[derive(Debug)]
pub(crate) struct Def {
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Ident>,
    /// The value; of a procedure, nothing that could be used.
    pub(crate) body: Expr,
    /// The statements of a procedure.
    pub(crate) effect: Option<Vec<Stmt>>,
}

/// A channel or an array of channels.
#[derive(Debug)]
pub(crate) struct ChanDecl {
    pub(crate) name: Ident,
    pub(crate) capacity: Option<Expr>,
    pub(crate) indices: Option<(Expr, Expr)>,
    pub(crate) payload: Vec<TypeExpr>,
}

/// A fairness annotation: how strict, and whether for one step only.
#[derive(Clone, Debug)]
pub(crate) struct FairnessMark {
    pub(crate) kind: AnnotationKind,
    pub(crate) choice: bool,
    pub(crate) span: Span,
}

/// A process or a family of processes.
#[derive(Debug)]
pub(crate) struct ProcessDecl {
    pub(crate) fairness: Option<FairnessMark>,
    /// Of processes that exist only after they were created: the name of the variable that says so.
    pub(crate) spawned: Option<Ident>,
    pub(crate) name: Ident,
    /// For a family: its indices, each with its range.
    pub(crate) indices: Vec<(Ident, Expr, Expr)>,
    pub(crate) vars: Vec<VarDecl>,
    pub(crate) timers: Vec<TimerDecl>,
    pub(crate) defs: Vec<Def>,
    pub(crate) initial: Vec<Ident>,
    /// Where it may stay forever.
    pub(crate) ends: Option<Ends>,
    pub(crate) blocks: Vec<FromBlock>,
    /// Where it says `process P(…)`.
    pub(crate) span: Span,
}

/// The locations at which a process may stay forever.
#[derive(Debug)]
pub(crate) struct Ends {
    /// These; none means all of them.
    pub(crate) names: Vec<Ident>,
    pub(crate) span: Span,
}

/// Steps with common sources.
#[derive(Debug)]
pub(crate) struct FromBlock {
    pub(crate) sources: Sources,
    pub(crate) steps: Vec<StepDecl>,
}

/// Where steps start.
#[derive(Debug)]
pub(crate) enum Sources {
    /// `from a, b`.
    Named(Vec<Ident>),
    /// `from *`.
    All,
    /// Steps directly in the body of a process without locations.
    Implicit,
}

/// Names that range over integers, with a condition.
#[derive(Clone, Debug)]
pub(crate) struct Binder {
    pub(crate) names: Vec<Ident>,
    pub(crate) lo: Expr,
    pub(crate) hi: Expr,
    pub(crate) condition: Option<Expr>,
}

/// A guarded step.
#[derive(Debug)]
pub(crate) struct StepDecl {
    pub(crate) fairness: Option<FairnessMark>,
    pub(crate) name: Ident,
    pub(crate) parameters: Vec<Binder>,
    pub(crate) guards: Vec<Expr>,
    /// One after the other, each with where it is written.
    pub(crate) communications: Vec<(Communication, Span)>,
    /// `delay t := e`: how long the step takes.
    pub(crate) delay: Option<Stmt>,
    pub(crate) effect: Vec<Stmt>,
    pub(crate) target: Option<Ident>,
    pub(crate) span: Span,
}

/// Which partners a step has.
#[derive(Debug)]
pub(crate) enum Communication {
    /// `sync go(e)`.
    Event(Ident, Vec<Expr>),
    /// `c ! (e, f)`.
    Send(Expr, Vec<Expr>),
    /// `c ? (x, 1, _)`.
    Receive(Expr, Vec<PatternExpr>, Manner),
    /// `for j in 1..3: c[j] ! e`.
    ForEach(Box<Binder>, Box<Communication>),
}

/// Which message is received, and what becomes of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Manner {
    /// `c ?? x`: the oldest that matches, not only the oldest.
    pub(crate) is_any: bool,
    /// `c ? <x>`: it stays where it is.
    pub(crate) is_peek: bool,
}

impl Manner {
    /// The oldest message is taken.
    pub(crate) const OLDEST: Self = Self {
        is_any: false,
        is_peek: false,
    };
}

/// One component of a message to be received.
#[derive(Debug)]
pub(crate) enum PatternExpr {
    /// `_`.
    Ignore,
    /// In parentheses: must be equal.
    Equal(Expr),
    /// A variable to store into, or else a value to match.
    Plain(Expr),
}

/// A statement.
#[derive(Debug)]
pub(crate) struct Stmt {
    pub(crate) kind: StmtKind,
    pub(crate) span: Span,
}

/// What a statement does.
#[derive(Debug)]
pub(crate) enum StmtKind {
    /// `a, b := e, f`; as many values as targets.
    Assign(Vec<Expr>, Vec<Value>),
    /// `x += e`.
    Update(Expr, model::BinaryOp, Expr),
    /// `let y = e`.
    Let(Ident, Value),
    /// `if c { … } else { … }`.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// `for i in lo..hi { … }`.
    For(Ident, Expr, Expr, Vec<Stmt>),
    /// `assert e`.
    Assert(Expr),
    /// `set t := e`.
    SetTimer(Expr, TimerValue),
    /// `f(a, b)`: the statements of a procedure.
    Call(Ident, Vec<Expr>),
    /// `spawn P with x = e`.
    Spawn(Spawn),
    /// `skip`.
    Skip,
}

/// What a timer is set to.
#[derive(Debug)]
pub(crate) enum TimerValue {
    /// `any`: every value that is not told apart from others.
    Any(Span),
    /// `off`.
    Off,
    /// A value.
    Value(Value),
}

/// What is assigned.
#[derive(Debug)]
pub(crate) enum Value {
    /// The value of an expression.
    Plain(Expr),
    /// `choose v in lo..hi where e`.
    Choose {
        name: Option<Ident>,
        domain: TypeExpr,
        condition: Option<Expr>,
        span: Span,
    },
    /// `spawn P`: the index of the new process.
    Spawn(Box<Spawn>),
}

/// A process is created.
#[derive(Debug)]
pub(crate) struct Spawn {
    /// `P`, or `P[i]` if a certain one is meant.
    pub(crate) process: Expr,
    /// What its variables start with, unless with their initial values.
    pub(crate) values: Vec<(Ident, Expr)>,
    pub(crate) span: Span,
}

/// A type.
#[derive(Debug)]
pub(crate) struct TypeExpr {
    pub(crate) kind: TypeKind,
    pub(crate) span: Span,
}

/// The shape of a type.
#[derive(Debug)]
pub(crate) enum TypeKind {
    Bool,
    Int,
    Timer,
    Range(Box<Expr>, Box<Expr>),
    Named(Ident),
    /// `array[lo..hi] of T`.
    Array(Box<Expr>, Box<Expr>, Box<TypeExpr>),
    /// `array[int] of T`: every integer is an index.
    OpenArray(Box<TypeExpr>),
    /// `T[n]`: indices from 0 to n-1.
    Counted(Box<TypeExpr>, Box<Expr>),
    /// `set of T`.
    Set(Box<TypeExpr>),
    /// `seq[k] of T`: at most k elements; `seq of T`: as many as there are.
    Sequence(Option<Box<Expr>>, Box<TypeExpr>),
    /// `option of T`.
    Option(Box<TypeExpr>),
    /// `bag[k] of T`: at most k elements; `bag of T`: as many as there are.
    Bag(Option<Box<Expr>>, Box<TypeExpr>),
    /// `map[K] of T`: the domain of the keys, and the type of the values.
    Map(Box<Expr>, Box<Expr>, Box<TypeExpr>),
    /// After `choose`: the name of a type, or a set.
    Chosen(Box<Expr>),
}

/// What is asked.
#[derive(Debug)]
pub(crate) enum PropertyBody {
    /// A formula for all fair runs.
    Holds(Expr),
    /// A formula for all reachable positions.
    Invariant(Expr),
    /// Some reachable position satisfies the formula.
    Reachable(Expr),
    /// There is no deadlock.
    DeadlockFree,
    /// There is no deadlock but where this formula holds.
    ProperEnds(Expr),
}

/// A named question.
#[derive(Debug)]
pub(crate) struct PropertyDecl {
    pub(crate) name: Ident,
    pub(crate) fairness: Option<Fairness>,
    pub(crate) question: PropertyBody,
    /// The verdict that the author expects.
    pub(crate) expected: Option<Expected>,
}

/// An expression or formula.
#[derive(Clone, Debug)]
pub(crate) struct Expr {
    pub(crate) kind: ExprKind,
    pub(crate) span: Span,
}

/// Operators with one operand.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum UnaryOp {
    Not,
    Minus,
    Always,
    Eventually,
    Next,
    Previously,
    Once,
    Historically,
}

/// Operators with two operands.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BinaryOp {
    /// One that the model knows.
    Model(model::BinaryOp),
    Iff,
    /// `p leads to q`: always, after `p`, eventually `q`.
    LeadsTo,
    /// `x in S` is [`ExprKind::In`].
    Subset,
    Union,
    Intersection,
    Difference,
    Until,
    WeakUntil,
    Release,
    StrongRelease,
    Since,
}

/// The shape of an expression.
#[derive(Clone, Debug)]
pub(crate) enum ExprKind {
    Int(i64),
    Bool(bool),
    Name(String),
    Index(Box<Expr>, Box<Expr>),
    Field(Box<Expr>, Ident),
    Call(Box<Expr>, Vec<Expr>),
    /// `P[1].*`.
    AnyStep(Box<Expr>),
    /// `P[i] @ {a, b}`; without a process, the one that it is written in.
    At(Option<Box<Expr>>, Vec<Ident>),
    Unary(UnaryOp, Box<Expr>),
    /// `A G p`, `E F p`. What is written `A(…)`, `A[…]` is a call or an index until names are
    /// known.
    Path(PathQuantifier, Box<Expr>),
    /// Two operands of an operator that does not associate to the left.
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    /// Operands of operators of one precedence, grouped to the left. Kept flat, so that long
    /// chains do not nest.
    Chain(Box<Expr>, Vec<(model::BinaryOp, Expr)>),
    If(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `count` is a sum of Booleans.
    Quantified {
        quantifier: Quantifier,
        counts: bool,
        binders: Vec<Binder>,
        body: Box<Expr>,
    },
    /// `[a, b, c]`.
    Array(Vec<Expr>),
    /// `[i in lo..hi: e]`.
    Comprehension(Ident, Box<Expr>, Box<Expr>, Box<Expr>),
    /// `any`, as an initial value.
    Any,
    /// The least value of what a name ranges over: a type, a family of processes, a set.
    First(Arc<Expr>),
    /// The greatest value of it.
    Last(Arc<Expr>),
    /// `x in S`. A name that ranges over the values of the elements of `S` needs no look whether it
    /// is one.
    In {
        element: Box<Expr>,
        domain: Arc<Expr>,
        is_bound: bool,
    },
    /// `x in lo..hi`.
    Between(Box<Expr>, Box<Expr>, Box<Expr>),
    /// `{a, b, c}`.
    Set(Vec<Expr>),
    /// `{ x in S where p }`. That `x` is an element of `S` is part of the condition.
    Filter(Box<Binder>),
    /// `{ e for x in S where p }`.
    Image(Box<Expr>, Box<Binder>),
    /// `{k: v, l: w}`.
    Entries(Vec<(Expr, Expr)>),
    /// `{ k in S where p: v }`.
    MapOf(Box<Binder>, Box<Expr>),
}

impl Expr {
    /// The path quantifier that the expression is, unless its name is declared as something else:
    /// the quantifier, the temporal operator that is part of its name, and the operand.
    pub(crate) fn path_quantifier(
        &self,
        is_declared: impl Fn(&str) -> bool,
    ) -> Option<(PathQuantifier, Option<UnaryOp>, &Self)> {
        let (function, operand) = match &self.kind {
            ExprKind::Path(quantifier, inner) => return Some((*quantifier, None, inner)),
            ExprKind::Call(function, arguments) => match arguments.as_slice() {
                [operand] => (function, operand),
                _ => return None,
            },
            ExprKind::Index(base, index) => (base, &**index),
            _ => return None,
        };
        let ExprKind::Name(name) = &function.kind else {
            return None;
        };
        let (quantifier, op) = path_word(name)?;
        let is_index = matches!(self.kind, ExprKind::Index(..));
        ((op.is_none() || !is_index) && !is_declared(name)).then_some((quantifier, op, operand))
    }
}

/// The words for path quantifiers, alone or joined with a temporal operator.
pub(crate) fn path_word(word: &str) -> Option<(PathQuantifier, Option<UnaryOp>)> {
    let quantifier = match word.as_bytes().first()? {
        b'A' => PathQuantifier::All,
        b'E' => PathQuantifier::Exists,
        _ => return None,
    };
    match &word[1..] {
        "" => Some((quantifier, None)),
        "G" => Some((quantifier, Some(UnaryOp::Always))),
        "F" => Some((quantifier, Some(UnaryOp::Eventually))),
        "X" => Some((quantifier, Some(UnaryOp::Next))),
        _ => None,
    }
}

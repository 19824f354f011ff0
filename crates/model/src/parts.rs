//! A model as a front end writes it down, before its instances and actions are worked out.

use base::{Fairness, Span};

use crate::{
    Annotation, Assumption, BoundId, ChannelRef, Clock, EnumId, EnumType, Expr, MayMust, Place,
    RecordType, Scalar, Setting, Timer, Type,
};

base::define_index! {
    /// A variable, global or local to a process.
    pub struct VarId;
}

base::define_index! {
    /// A channel or an array of channels.
    pub struct ChannelId;
}

base::define_index! {
    /// An event that several processes take part in.
    pub struct EventId;
}

base::define_index! {
    /// A process or a family of processes.
    pub struct ProcessId;
}

base::define_index! {
    /// A location of a process; numbered within the process.
    pub struct LocationId;
}

/// Everything that makes up a model. Lists are in order of declaration; ids are positions.
#[derive(Clone, Debug, Default)]
pub struct ModelParts {
    /// Enumerations.
    pub enums: Vec<EnumType>,
    /// Record types.
    pub records: Vec<RecordType>,
    /// Variables.
    pub vars: Vec<Variable>,
    /// Channels.
    pub channels: Vec<Channel>,
    /// Events.
    pub events: Vec<Event>,
    /// Processes.
    pub processes: Vec<Process>,
    /// How the processes move together.
    pub composition: Composition,
    /// What every initial state satisfies, on top of the initial values.
    pub init: Vec<Expr>,
    /// Atomic propositions; formulas refer to them by [`base::AtomId`].
    pub atoms: Vec<Atom>,
    /// Fairness conditions written at processes, actions and steps.
    pub annotations: Vec<Annotation>,
    /// Steps that are declared to interfere, on top of those that do so by what they read and change:
    /// the first with the second. Only justness asks; see [`crate::Interference`].
    pub interferences: Vec<(StepPattern, StepPattern)>,
    /// Assumptions about runs.
    pub assumptions: Vec<Assumption>,
    /// What the model says about fairness for the whole system.
    pub fairness: Option<Fairness>,
    /// The source names of bound variables; a `BoundId` is a position here.
    pub bounds: Vec<String>,
    /// The types of those bound names that stand for the numbers of Booleans or of values of
    /// enumerations. Only reports ask.
    pub bound_types: Vec<(BoundId, Scalar)>,
    /// How states and instances are shown. Only reports ask.
    pub shown: Shown,
    /// Abstract systems with may and must steps that stand beside the model.
    pub systems: Vec<MayMust>,
    /// A global scalar whose value is -1, or the position in [`crate::Model::instances`] of the one
    /// process that has control: then only steps in which it moves exist. Initial states and
    /// targets of steps are normalised: where the process with control moves in no step of the
    /// highest priority that is possible, it has lost control and the value is -1. Imported
    /// `atomic` blocks are written with it.
    pub control: Option<VarId>,
    /// Variables that are timers; see [`Timer`].
    pub timers: Vec<Timer>,
    /// What makes time go on. Invariant: there is one iff there are timers.
    pub clock: Option<Clock>,
}

/// How states and instances are shown. What does not fit the model has no effect.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Shown {
    /// Variables that are arrays, and what their indices number: for each index, from the outermost on,
    /// an enumeration or nothing.
    pub arrays: Vec<(VarId, Vec<Option<EnumId>>)>,
    /// Families of processes, and what their indices number.
    pub families: Vec<(ProcessId, Vec<Option<EnumId>>)>,
    /// Processes, and a truth value of their own that says whether they exist.
    pub presence: Vec<(ProcessId, VarId)>,
}

impl ModelParts {
    /// How an index is written that numbers the values of an enumeration, or is a number.
    #[must_use]
    pub fn index_text(&self, enumeration: Option<EnumId>, index: i64) -> String {
        let variants = enumeration.and_then(|id| self.enums.get(id.index()));
        let position = usize::try_from(index).ok();
        let name = variants.zip(position).and_then(|(e, n)| e.variants.get(n));
        name.map_or_else(|| index.to_string(), Clone::clone)
    }

    /// What the instance of a process with this index is called.
    #[must_use]
    pub fn instance_name(&self, id: ProcessId, index: i64) -> String {
        let process = &self.processes[id.index()];
        let mut families = self.shown.families.iter();
        let named = families.find(|(other, _)| *other == id);
        let of = |position: usize| *named?.1.get(position)?;
        let Some(range) = process.index.filter(|_| !process.dimensions.is_empty()) else {
            return format!("{}[{}]", process.name, self.index_text(of(0), index));
        };

        let mut rest = index - range.lo;
        let mut indices = Vec::new();
        for (position, (lo, hi)) in process.dimensions.iter().enumerate().rev() {
            let length = hi - lo + 1;
            let own = lo + rest.rem_euclid(length);
            indices.push(format!("[{}]", self.index_text(of(position), own)));
            rest = rest.div_euclid(length);
        }
        indices.reverse();
        format!("{}{}", process.name, indices.concat())
    }
}

/// How processes move together.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Composition {
    /// One process at a time, or those that a rendezvous or event brings together.
    #[default]
    Interleaving,
    /// All processes that can, in every step. Each reads the state before the step.
    Synchronous,
}

/// How a variable starts.
#[derive(Clone, PartialEq, Debug)]
pub enum Initial {
    /// With these values, one for each cell. They may mention the index of the process that owns
    /// the variable.
    Values(Vec<Expr>),
    /// With any value of its type. Its type must be bounded.
    Any,
}

/// A variable.
#[derive(Clone, Debug)]
pub struct Variable {
    /// Its name.
    pub name: String,
    /// Its type.
    pub ty: Type,
    /// The process that it is local to; each instance has a copy.
    pub owner: Option<ProcessId>,
    /// How it starts.
    pub initial: Initial,
    /// Where it is declared.
    pub span: Span,
}

/// A channel, or an array of channels.
#[derive(Clone, Debug)]
pub struct Channel {
    /// Its name.
    pub name: String,
    /// For an array: first and last index.
    pub indices: Option<(i64, i64)>,
    /// How many messages it holds; 0 makes every communication a rendezvous.
    pub capacity: usize,
    /// The types of the components of a message.
    pub payload: Vec<Scalar>,
    /// Where it is declared.
    pub span: Span,
}

impl Channel {
    /// How many single channels it stands for.
    #[must_use]
    pub fn n_single(&self) -> usize {
        self.indices.map_or(1, |(lo, hi)| {
            let n_indices = i128::from(hi) - i128::from(lo) + 1;
            usize::try_from(n_indices.max(0)).unwrap_or(usize::MAX)
        })
    }
}

/// An event that all processes mentioning it take together.
#[derive(Clone, Debug)]
pub struct Event {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
}

/// The index of a family of processes: one instance for each value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct IndexRange {
    /// The name of the index inside the process.
    pub bound: BoundId,
    /// The first instance.
    pub lo: i64,
    /// The last instance.
    pub hi: i64,
}

/// A process or a family of processes.
#[derive(Clone, Debug)]
pub struct Process {
    /// Its name.
    pub name: String,
    /// For a family: its index.
    pub index: Option<IndexRange>,
    /// What the index numbers if it stands for several: their ranges, the last one fastest. Only the
    /// names of instances depend on it.
    pub dimensions: Vec<(i64, i64)>,
    /// The names of its locations.
    pub locations: Vec<String>,
    /// Where it may start; at least one.
    pub initial: Vec<LocationId>,
    /// What it can do.
    pub steps: Vec<Step>,
    /// Where it is declared.
    pub span: Span,
}

impl Process {
    /// A single process that starts at its first location.
    #[must_use]
    pub fn new(name: &str, locations: Vec<String>, steps: Vec<Step>, span: Span) -> Self {
        Self {
            name: name.to_owned(),
            index: None,
            dimensions: Vec::new(),
            locations,
            initial: vec![LocationId(0)],
            steps,
            span,
        }
    }
}

/// A parameter of an action. It is part of the action's name, unlike a value chosen by
/// [`StmtKind::Choose`].
#[derive(Clone, Debug)]
pub struct Parameter {
    /// The name in the step.
    pub bound: BoundId,
    /// First value. May mention the process index and earlier parameters, but no state.
    pub lo: Expr,
    /// Last value. May mention the same.
    pub hi: Expr,
}

/// A guarded step of a process.
#[derive(Clone, Debug)]
pub struct Step {
    /// The name of the action.
    pub name: String,
    /// What the action of a step without partners is called in the whole system, if not after its
    /// process: steps of several processes with one label take one and the same action.
    pub label: Option<String>,
    /// Its parameters: one action for each list of values.
    pub parameters: Vec<Parameter>,
    /// Only parameter lists that satisfy this exist. Mentions no state.
    pub condition: Expr,
    /// Where the process must be.
    pub source: LocationId,
    /// Where the process is afterwards.
    pub target: LocationId,
    /// When the step is possible.
    pub guard: Expr,
    /// Its partners.
    pub sync: Sync,
    /// What it changes, statement by statement.
    pub effect: Vec<Stmt>,
    /// In a state, only the possible steps with the highest priority exist. Several commands that
    /// move together have the highest priority of any of them.
    pub priority: i8,
    /// Where it is written.
    pub span: Span,
}

impl Step {
    /// A step that is always possible and changes only the location.
    #[must_use]
    pub fn new(name: &str, source: LocationId, target: LocationId, span: Span) -> Self {
        Self {
            name: name.to_owned(),
            label: None,
            parameters: Vec::new(),
            condition: Expr::Bool(true),
            source,
            target,
            guard: Expr::Bool(true),
            sync: Sync::Internal,
            effect: Vec::new(),
            priority: 0,
            span,
        }
    }
}

/// Which partners a step has.
#[derive(Clone, Debug)]
pub enum Sync {
    /// Alone.
    Internal,
    /// A message is sent: appended to a buffered channel that is not full, or handed over.
    Send {
        /// Where to.
        channel: ChannelRef,
        /// The message.
        payload: Vec<Expr>,
    },
    /// A message is received: the oldest of a buffered channel if it matches, or handed over.
    Receive {
        /// Where from.
        channel: ChannelRef,
        /// What it must look like and where it goes.
        patterns: Vec<Pattern>,
    },
    /// With all processes that have a step with this event and these arguments.
    Event {
        /// The event.
        event: EventId,
        /// Its arguments. They may mention the process index and parameters, but no state.
        arguments: Vec<Expr>,
    },
}

/// One component of a message to be received.
#[derive(Clone, Debug)]
pub enum Pattern {
    /// It must equal this value.
    Match(Expr),
    /// It is stored here.
    Store(Place),
    /// It is dropped.
    Ignore,
}

/// A statement.
#[derive(Clone, Debug)]
pub struct Stmt {
    /// What it does.
    pub kind: StmtKind,
    /// Where it is written.
    pub span: Span,
}

impl Stmt {
    /// A statement written at `span`.
    #[must_use]
    pub fn new(kind: StmtKind, span: Span) -> Self {
        Self { kind, span }
    }
}

/// How often the body of a [`StmtKind::While`] may be executed in one step.
pub const MAX_ITERATIONS: u32 = 1_000_000;

/// What a statement does.
#[derive(Clone, Debug)]
pub enum StmtKind {
    /// Stores a value; a value outside the type of the cell is a run-time error.
    Assign(Place, Expr),
    /// One of two sequences.
    If(Expr, Vec<Stmt>, Vec<Stmt>),
    /// The sequence for every value of `bound` from the first to the second expression.
    For(BoundId, Expr, Expr, Vec<Stmt>),
    /// Picks any value from the first to the second expression that satisfies the third; without
    /// such a value the step is not possible. The name is known in the statements after it.
    Choose(BoundId, Expr, Expr, Expr),
    /// A run-time error unless the condition is true.
    Assert(Expr),
    /// Binds a name for the statements after it in its sequence, nested ones included.
    Let(BoundId, Expr),
    /// Gives a name bound by [`StmtKind::Let`] a new value.
    Set(BoundId, Expr),
    /// The sequence as long as the condition is true; more than [`MAX_ITERATIONS`] times is a
    /// run-time error.
    While(Expr, Vec<Stmt>),
    /// A run-time error with this message.
    Fail(String),
    /// Sets a timer.
    SetTimer(Place, Setting),
    /// One unit of time passes for every timer of the model.
    Tick,
    /// The run-time error that fewer processes are provided for than the model creates.
    Exhausted,
}

/// An atomic proposition.
#[derive(Clone, Debug)]
pub struct Atom {
    /// How it is written in reports.
    pub name: String,
    /// What it means.
    pub meaning: AtomMeaning,
    /// Where it is written.
    pub span: Span,
}

/// What an atomic proposition means at a position of a run.
#[derive(Clone, Debug)]
pub enum AtomMeaning {
    /// A property of the state.
    State(Expr),
    /// The step that led to the state is one of these.
    Taken(StepPattern),
    /// One of these steps is possible in the state.
    Enabled(StepPattern),
    /// No step is possible in the state.
    Deadlock,
    /// The expression has this value in every state that the abstract timers describe.
    Certainly(Expr, bool),
    /// The step that led to the state set the abstract timer in this cell.
    TimerSet(usize),
}

/// Names steps. Everything left open matches everything.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct StepPattern {
    /// A step of this process.
    pub process: Option<ProcessId>,
    /// A step of the instance with this index.
    pub index: Option<i64>,
    /// A step with this action name.
    pub action: Option<String>,
    /// A step of this event.
    pub event: Option<EventId>,
    /// A step with these parameters (of an action) or arguments (of an event).
    pub arguments: Option<Vec<i64>>,
}

//! From a program to a model.
//!
//! Every process type becomes a family of processes, one for each process number that it can have;
//! `run` brings a member of the family to life, and the end of a process takes it away again.
//! Members that are not alive are at the first location with all variables at zero, so two states
//! are equal iff Spin's are. Buffered channels are variables with a length and messages; rendezvous
//! is that of [`model::Sync`].

mod arithmetic;
mod channels;
mod claim;
mod d_step;
mod expr;
mod hidden;
mod meeting;
mod message;
mod population;
mod printing;
mod priority;
mod process;
mod property;
mod remote;
mod statement;
mod storage;
mod timer;
mod trace;
mod usage;

use std::rc::Rc;

use base::{Diagnostic, Severity, Source, Span};
use logic::CtlStarBuilder;
use model::{BoundId, Expr, Model, ModelParts, VarId};
use source::{Options, Print, Question, Variation};

use super::ast::{self, Program};
use super::flow::{self, Body, Flow};
use super::symbols::Symbols;
use channels::Group;
use population::Population;
use process::Plan;
use trace::Monitor;

/// A formula of the command line.
pub(super) struct Extra {
    pub(super) name: String,
    pub(super) text: String,
    pub(super) formula: ast::Expr,
    pub(super) role: Role,
}

/// What a formula of the command line is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Role {
    /// A property of all runs.
    Ltl,
    /// A property with path quantifiers.
    Ctl,
    /// An assumption about runs.
    Assumption,
}

/// A process type with its control flow.
#[derive(Clone)]
struct Unit {
    /// Which process type.
    proctype: usize,
    flow: Rc<Flow>,
    /// The elements that are locations, the first one first.
    locations: Rc<Vec<usize>>,
}

/// Where a variable is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Storage {
    /// It is never written: its value is known.
    Constant,
    /// In the state.
    State(VarId),
}

/// The work of turning a program into a model.
struct Lowering<'a> {
    program: &'a Program,
    sources: &'a [Source],
    /// By source: where its lines start.
    lines: Vec<Vec<usize>>,
    symbols: Symbols,
    diagnostics: &'a mut Vec<Diagnostic>,
    /// One for each process type that can exist.
    units: Vec<Unit>,
    /// The parameters of each process type, as variables; structures are written out as one.
    parameters: Vec<Vec<usize>>,
    population: Population,
    groups: Vec<Group>,
    /// Variables by position.
    storage: Vec<Storage>,
    /// Which groups a variable may hold channels of.
    reach: Vec<Vec<usize>>,
    parts: ModelParts,
    /// Are `mtype` values shown by name? Only if nothing else is ever stored in such variables.
    named_mtypes: bool,
    mtype_is_number: bool,
    special: Special,
    /// By position in `units`.
    plans: Vec<Rc<Plan>>,
    /// By process type: the variable that says whether a process exists.
    alive: Vec<Option<VarId>>,
    /// Is the answer to an `enabled` being worked out?
    is_asking: bool,
    /// When the evaluation of what is at hand is a run-time error, and which.
    pitfalls: Vec<(Expr, String)>,
    /// Options that make timers abstract: name, threshold, and whether there is such a timer.
    abstract_timers: Vec<(String, String, bool)>,
    pool: usize,
    /// What steps print.
    prints: Vec<Print>,
    /// What Spin offers on its command line.
    variations: Vec<Variation>,
    /// The path quantifiers of the formula at hand.
    paths: CtlStarBuilder,
}

/// Variables of the model that are not of the program.
#[derive(Default)]
struct Special {
    /// `_nr_pr`, if the number of processes changes.
    n_processes: Option<VarId>,
    /// `_last`, if it is used.
    last: Option<VarId>,
    /// The process inside an `atomic`, if one can be.
    control: Option<VarId>,
    /// Values on their way from a rendezvous into narrower variables.
    scratch: Vec<VarId>,
    /// Does the text use priorities?
    has_priorities: bool,
    /// By process type: the variable with the priority of a process.
    priorities: Vec<Option<VarId>>,
    /// When a process of higher priority than the one at hand can move.
    outranked: Option<Expr>,
    /// Is a partner for a rendezvous being looked for?
    is_meeting: bool,
    /// Hidden variables that no state remembers.
    temporaries: Vec<usize>,
    /// What watches the channels.
    monitor: Option<Rc<Monitor>>,
}

/// A model with its questions, and what its steps print.
pub(super) type Lowered = Option<(Model, Vec<Question>, Vec<Print>)>;

/// Turns a program into a model.
pub(super) fn lower(
    program: &Program,
    extras: &[Extra],
    sources: &[Source],
    options: &Options,
    diagnostics: &mut Vec<Diagnostic>,
) -> Lowered {
    let n_said = diagnostics.len();
    let (lowered, mtype_is_number) =
        lower_with(program, extras, sources, (options, true), diagnostics);
    if mtype_is_number && !failed(&diagnostics[n_said..]) {
        diagnostics.truncate(n_said);
        return lower_with(program, extras, sources, (options, false), diagnostics).0;
    }
    lowered
}

fn failed(diagnostics: &[Diagnostic]) -> bool {
    diagnostics.iter().any(|d| d.severity == Severity::Error)
}

fn lower_with(
    program: &Program,
    extras: &[Extra],
    sources: &[Source],
    (call, named_mtypes): (&Options, bool),
    diagnostics: &mut Vec<Diagnostic>,
) -> (Lowered, bool) {
    let n_said = diagnostics.len();
    let symbols = Symbols::new(program, diagnostics);
    let one_mtype = program.mtypes.iter().all(|decl| decl.subtype.is_none());
    let mut lowering = Lowering {
        program,
        sources,
        lines: sources.iter().map(line_starts).collect(),
        symbols,
        diagnostics,
        units: Vec::new(),
        parameters: Vec::new(),
        population: Population::default(),
        groups: Vec::new(),
        storage: Vec::new(),
        reach: Vec::new(),
        parts: ModelParts::default(),
        named_mtypes: named_mtypes && one_mtype,
        mtype_is_number: false,
        special: Special::default(),
        plans: Vec::new(),
        alive: Vec::new(),
        is_asking: false,
        pitfalls: Vec::new(),
        abstract_timers: call
            .abstract_timers
            .iter()
            .map(|(n, k)| (n.clone(), k.clone(), false))
            .collect(),
        pool: call.pool,
        prints: Vec::new(),
        variations: call.variations.clone(),
        paths: CtlStarBuilder::default(),
    };

    // Each phase relies on the ones before and stops at their errors: how many processes there are
    // needs the control flow, channels and variables need the number of processes.
    lowering.build_flows();
    lowering.special.has_priorities = lowering.uses_priorities();
    if failed(&lowering.diagnostics[n_said..]) {
        return (None, false);
    }
    lowering.count_population();
    if failed(&lowering.diagnostics[n_said..]) {
        return (None, false);
    }
    let reach = lowering.analyse_usage();
    lowering.make_groups(&reach);
    lowering.make_storage();
    lowering.make_monitor();
    lowering.find_temporaries(extras);
    lowering.make_processes();

    let questions = lowering.questions(extras);

    // Formulas may still find that an `mtype` is used as a number.
    let mtype_is_number = lowering.mtype_is_number;
    if failed(&lowering.diagnostics[n_said..]) {
        return (None, false);
    }
    let parts = std::mem::take(&mut lowering.parts);
    let prints = std::mem::take(&mut lowering.prints);

    let may_be_numbers = named_mtypes && !program.mtypes.is_empty();
    match parts.finish() {
        Ok(model) => (Some((model, questions, prints)), mtype_is_number),
        // An `mtype` that is stored in a number is one, too.
        Err(_) if may_be_numbers => (None, true),
        Err(error) => {
            diagnostics.push(Diagnostic::error("model", error.span, error.message));
            (None, false)
        }
    }
}

impl Lowering<'_> {
    fn say(&mut self, diagnostic: Diagnostic) {
        self.diagnostics.push(diagnostic);
    }

    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.say(Diagnostic::error(code, span, message));
    }

    fn proctype(&self, name: &str) -> Option<usize> {
        self.program.proctype(name)
    }

    fn unit(&self, proctype: usize) -> Option<&Unit> {
        self.units.iter().find(|unit| unit.proctype == proctype)
    }

    /// A new bound name.
    fn bound(&mut self, name: &str) -> BoundId {
        self.parts.bounds.push(name.to_owned());
        BoundId::new(self.parts.bounds.len() - 1)
    }

    /// The line of a text in which something is written.
    fn line(&self, span: Span) -> usize {
        let starts = &self.lines[span.source.index()];
        starts.partition_point(|start| *start <= span.start as usize)
    }

    /// What is written there, on one line and not too long.
    fn text(&self, span: Span) -> String {
        let source = &self.sources[span.source.index()].text;
        let written = source.get(span.start as usize..span.end as usize);
        let words: Vec<&str> = written.unwrap_or_default().split_whitespace().collect();
        let text = words.join(" ");
        match text.char_indices().nth(48) {
            Some((cut, _)) => format!("{}…", &text[..cut]),
            None => text,
        }
    }

    fn build_flows(&mut self) {
        let program = self.program;
        for (position, process) in program.processes.iter().enumerate() {
            let same = |other: &ast::Proctype| other.name == process.name;
            if program.processes[..position].iter().any(same) {
                let message = format!("the process type `{}` is declared twice", process.name);
                self.error("duplicate-name", process.span, message);
            }
            let (scope, parameters) =
                self.symbols
                    .declare_parameters(process, position, self.diagnostics);
            self.parameters.push(parameters);
            let body = Body {
                statements: &process.body,
                end: process.end,
                scope,
                owner: Some(position),
                is_claim: false,
            };
            let labels = &program.remote_labels;
            let flow = flow::build(&body, labels, &mut self.symbols, self.diagnostics);
            if let Some(flow) = flow {
                let locations = Rc::new(flow.locations());
                self.units.push(Unit {
                    proctype: position,
                    flow: Rc::new(flow),
                    locations,
                });
            }
        }

        // The names of process numbers come first: see `index_range`.
        let names = program.processes.iter().map(|_| "_pid".to_owned());
        self.parts.bounds = names.collect();
        if program.processes.is_empty() {
            let span = Span::nowhere();
            let message = "the model has no process: neither `init` nor an `active proctype`";
            self.error("no-process", span, message);
        }
    }
}

fn line_starts(source: &Source) -> Vec<usize> {
    let ends = source.text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(ends).collect()
}

/// Comparison of an expression with a number.
fn equals(left: Expr, value: i64) -> Expr {
    Expr::binary(model::BinaryOp::Eq, left, Expr::Int(value))
}

/// At least one of them; false for none. Halves are joined, not one part after the other: a selection
/// may have thousands of options, and what looks at a tree takes as long as it is deep.
fn any(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let mut parts: Vec<Expr> = parts.into_iter().filter(|p| !p.is_bool(false)).collect();
    if parts.iter().any(|part| part.is_bool(true)) {
        return Expr::Bool(true);
    }
    while parts.len() > 1 {
        let mut pairs = parts.into_iter();
        let mut joined = Vec::new();
        while let Some(left) = pairs.next() {
            joined.push(match pairs.next() {
                Some(right) => Expr::binary(model::BinaryOp::Or, left, right),
                None => left,
            });
        }
        parts = joined;
    }
    parts.pop().unwrap_or(Expr::Bool(false))
}

/// All of them; true for none.
fn all(parts: impl IntoIterator<Item = Expr>) -> Expr {
    let parts: Vec<Expr> = parts.into_iter().collect();
    if parts.contains(&Expr::Bool(false)) {
        Expr::Bool(false)
    } else {
        Expr::all(parts)
    }
}

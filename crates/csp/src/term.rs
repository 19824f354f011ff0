//! Process terms: what is left of a process after some steps.
//!
//! A term is an operator over terms, a call, or a piece of text with the values of its names (a
//! closure). Terms are interned, so equal behaviour written the same way is found to be equal.
//! Names that depend on data do not carry values in terms that become locations, but *slots*: local
//! variables of the process. [`Machine::settle`] numbers them by their position in the term, so
//! that terms that differ in data only are one location.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

use base::{Diagnostic, Span};
use model::{BoundId, ModelParts, Stmt, VarId};

use super::ast::{ChoiceKind, Expr, ExprRef, Proc, ProcKind, ProcRef};
use super::discovery::{Carried, Values};
use super::lexer::Name;
use super::merged::MergedEvents;
use super::moves::Move;
use super::ranges::{Interval, Ranges, visit_names};
use super::scope::{Scope, Ty};

base::define_index! {
    /// An interned term.
    pub struct TermId;
}

base::define_index! {
    /// An interned set of event names.
    pub struct SetId;
}

/// More copies of a process than this are refused.
pub(crate) const MAX_COPIES: usize = 20_000;

/// Something compared by its address.
#[derive(Debug)]
pub(crate) struct ByAddress<T>(pub(crate) Rc<T>);

impl<T> Clone for ByAddress<T> {
    fn clone(&self) -> Self {
        Self(self.0.clone())
    }
}

impl<T> PartialEq for ByAddress<T> {
    fn eq(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl<T> Eq for ByAddress<T> {}

impl<T> Hash for ByAddress<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Rc::as_ptr(&self.0).hash(state);
    }
}

/// What a name stands for.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Arg {
    /// A constant.
    Const(i64, Ty),
    /// A local variable of the process.
    Slot(u16),
    /// A value that the step under construction has bound.
    Bound(BoundId),
    /// An expression that is evaluated when the process takes its first step.
    Lazy(ByAddress<Expr>, Env),
    /// The cells of an array.
    Array(Rc<[Arg]>),
}

impl Arg {
    /// Is something of it not evaluated yet?
    pub(crate) fn is_lazy(&self) -> bool {
        match self {
            Self::Lazy(..) => true,
            Self::Array(cells) => cells.iter().any(Self::is_lazy),
            Self::Const(..) | Self::Slot(_) | Self::Bound(_) => false,
        }
    }
}

/// The values of names, and the definition that they belong to. Sorted by name.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Env {
    pub(crate) def: usize,
    pub(crate) values: Rc<Vec<(Name, Arg)>>,
}

impl Env {
    pub(crate) fn new(def: usize, mut values: Vec<(Name, Arg)>) -> Self {
        values.sort_by(|a, b| a.0.cmp(&b.0));
        Self {
            def,
            values: Rc::new(values),
        }
    }

    pub(crate) fn get(&self, name: &Name) -> Option<&Arg> {
        let position = self.values.binary_search_by(|(known, _)| known.cmp(name));
        position.ok().map(|position| &self.values[position].1)
    }

    pub(crate) fn with(&self, new: impl IntoIterator<Item = (Name, Arg)>) -> Self {
        let new: Vec<(Name, Arg)> = new.into_iter().collect();
        let hidden = |name: &Name| new.iter().any(|(known, _)| known == name);
        let old = self.values.iter().filter(|(name, _)| !hidden(name));
        let values = old.cloned().chain(new.iter().cloned()).collect();
        Self::new(self.def, values)
    }

    fn restrict(&self, names: &BTreeSet<Name>) -> Self {
        let kept = self.values.iter().filter(|(name, _)| names.contains(name));
        Self::new(self.def, kept.cloned().collect())
    }
}

/// A process term.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Term {
    Stop,
    Skip,
    Call(usize, Vec<Arg>),
    /// A piece of text that starts with a prefix, test or assertion.
    Text(ByAddress<Proc>, Env),
    Seq(TermId, TermId),
    Interrupt(TermId, TermId),
    Hide(TermId, SetId),
    Atomic(TermId),
    Choice(ChoiceOp, Vec<TermId>),
    Interleave(Vec<TermId>),
    /// Each process with its alphabet.
    Parallel(Vec<(TermId, SetId)>),
}

/// Which choice.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum ChoiceOp {
    General,
    Internal,
    External,
}

/// Where a slot gets its value from.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Origin {
    Const(i64),
    Slot(u16),
    Bound(BoundId),
}

/// A local variable of the component under construction.
#[derive(Clone, Debug)]
pub(crate) struct Slot {
    pub(crate) var: VarId,
    pub(crate) values: Interval,
}

/// A process and those of its arguments that are known.
pub(crate) type KnownCall = (usize, Vec<Option<i64>>);

/// Everything that the construction of a model needs.
pub(crate) struct Machine<'a> {
    pub(crate) scope: &'a Scope,
    pub(crate) ranges: &'a Ranges,
    pub(crate) parts: ModelParts,
    pub(crate) diagnostics: &'a mut Vec<Diagnostic>,
    pub(crate) sources: &'a [base::Source],
    pub(crate) terms: Vec<Term>,
    pub(crate) depths: Vec<usize>,
    term_by_content: HashMap<Term, TermId>,
    pub(crate) sets: Vec<BTreeSet<Name>>,
    set_by_content: HashMap<BTreeSet<Name>, SetId>,
    free: HashMap<*const Proc, Rc<BTreeSet<Name>>>,
    pub(crate) alphabets: HashMap<KnownCall, Rc<BTreeSet<Name>>>,
    /// The values that assertions mention and that are known to occur.
    pub(crate) mentioned: Values,
    /// What events carry whose values have no small static bounds.
    pub(crate) carried: Vec<Carried>,
    /// Values of events that are known from the text.
    pub(crate) occurring: Values,
    /// Events in alphabets and hidden sets that can have too many values, each with a place.
    pub(crate) open: BTreeMap<String, Span>,
    /// Do runs end where an event carries values that are not known to occur?
    pub(crate) is_closed: bool,
    /// Events whose values are not told apart.
    pub(crate) merged: MergedEvents,
    /// The moves of terms of the current component.
    pub(crate) moves: HashMap<TermId, Rc<Vec<Move>>>,
    /// The terms whose moves are being computed, each with how many conditions it stands behind.
    pub(crate) unfolding: Vec<(TermId, usize)>,
    /// How many conditions stand before what is being computed.
    pub(crate) n_conditions: usize,
    /// The outermost term that was met again while its own moves were being computed.
    pub(crate) met_again: Option<usize>,
    /// The current component.
    pub(crate) process: model::ProcessId,
    pub(crate) slots: Vec<Slot>,
    /// Branches of choices that need their index to be within a range, by the text of the branch.
    pub(crate) within_range: HashMap<*const Proc, ProcRef>,
    /// The copies of the current component of variables that are local to programs.
    pub(crate) scratch: HashMap<usize, VarId>,
    /// Items, numbers of messages, by channel; nothing for a channel without buffer.
    pub(crate) buffers: Vec<Option<(VarId, VarId)>>,
    /// The cells of variables that are sent or passed as wholes.
    pub(crate) cells: HashMap<usize, Rc<[Arg]>>,
}

impl<'a> Machine<'a> {
    pub(crate) fn new(
        scope: &'a Scope,
        ranges: &'a Ranges,
        parts: ModelParts,
        buffers: Vec<Option<(VarId, VarId)>>,
        diagnostics: &'a mut Vec<Diagnostic>,
        sources: &'a [base::Source],
    ) -> Self {
        Self {
            scope,
            ranges,
            parts,
            diagnostics,
            sources,
            terms: Vec::new(),
            depths: Vec::new(),
            term_by_content: HashMap::new(),
            sets: Vec::new(),
            set_by_content: HashMap::new(),
            free: HashMap::new(),
            alphabets: HashMap::new(),
            mentioned: Values::new(),
            carried: Vec::new(),
            occurring: Values::new(),
            open: BTreeMap::new(),
            is_closed: false,
            merged: MergedEvents::default(),
            moves: HashMap::new(),
            unfolding: Vec::new(),
            n_conditions: 0,
            met_again: None,
            process: model::ProcessId(0),
            slots: Vec::new(),
            within_range: HashMap::new(),
            scratch: HashMap::new(),
            buffers,
            cells: HashMap::new(),
        }
    }

    pub(crate) fn error<T>(
        &mut self,
        code: &'static str,
        span: Span,
        message: impl Into<String>,
    ) -> Option<T> {
        self.diagnostics
            .push(Diagnostic::error(code, span, message));
        None
    }

    pub(crate) fn fresh(&mut self, name: &str) -> BoundId {
        self.parts.bounds.push(name.to_owned());
        BoundId::new(self.parts.bounds.len() - 1)
    }

    pub(crate) fn set(&mut self, set: BTreeSet<Name>) -> SetId {
        if let Some(id) = self.set_by_content.get(&set) {
            return *id;
        }
        let id = SetId::new(self.sets.len());
        self.sets.push(set.clone());
        self.set_by_content.insert(set, id);
        id
    }

    /// Interns a term; terms that obviously behave the same are the same.
    pub(crate) fn term(&mut self, term: Term) -> TermId {
        let term = match term {
            Term::Seq(first, _) | Term::Hide(first, _) | Term::Atomic(first)
                if self.terms[first.index()] == Term::Stop =>
            {
                Term::Stop
            }
            other => other,
        };

        if let Some(id) = self.term_by_content.get(&term) {
            return *id;
        }
        let depth = |id: &TermId| self.depths[id.index()];
        let inner = match &term {
            Term::Stop | Term::Skip | Term::Call(..) | Term::Text(..) => 0,
            Term::Seq(a, b) | Term::Interrupt(a, b) => depth(a).max(depth(b)),
            Term::Hide(a, _) | Term::Atomic(a) => depth(a),
            Term::Choice(_, list) | Term::Interleave(list) => {
                list.iter().map(depth).max().unwrap_or(0)
            }
            Term::Parallel(list) => list.iter().map(|(id, _)| depth(id)).max().unwrap_or(0),
        };

        let id = TermId::new(self.terms.len());
        self.terms.push(term.clone());
        self.depths.push(inner + 1);
        self.term_by_content.insert(term, id);
        id
    }

    pub(crate) fn get(&self, id: TermId) -> Term {
        self.terms[id.index()].clone()
    }

    /// The term of a call, with its arguments checked.
    pub(crate) fn call(
        &mut self,
        name: &super::ast::Ident,
        arguments: &[ExprRef],
        env: &Env,
        lets: &mut Option<&mut Vec<Stmt>>,
    ) -> Option<TermId> {
        let Some(&process) = self.scope.process_by_name.get(&name.text) else {
            let known = self.scope.process_by_name.keys();
            let advice = self.scope.advice(&name.text, known);
            let message = format!("there is no process `{}`", name.text);
            let mut diagnostic = Diagnostic::error("unknown-process", name.span, message);
            if !advice.is_empty() {
                diagnostic = diagnostic.help(advice);
            }
            self.diagnostics.push(diagnostic);
            return None;
        };

        let decl = &self.scope.processes[process];
        let (wanted, given) = (decl.parameters.len(), arguments.len());
        if wanted != given {
            let message = format!("`{}` takes {wanted} arguments, not {given}", name.text);
            let diagnostic = Diagnostic::error("wrong-arity", name.span, message);
            self.diagnostics
                .push(diagnostic.label(decl.name.span, "defined here"));
            return None;
        }

        let mut values = Vec::new();
        for argument in arguments {
            values.push(self.argument(argument, env, lets)?);
        }
        Some(self.term(Term::Call(process, values)))
    }

    fn argument(
        &mut self,
        expr: &ExprRef,
        env: &Env,
        lets: &mut Option<&mut Vec<Stmt>>,
    ) -> Option<Arg> {
        if let super::ast::ExprKind::Name(name) = &expr.kind
            && let Some(arg) = env.get(name)
        {
            return Some(arg.clone());
        }
        if let Some(cells) = self.array(expr, env) {
            return Some(Arg::Array(cells));
        }
        if let Some((value, ty)) = self.const_value(expr, env) {
            return Some(Arg::Const(value, ty));
        }
        let mut names = BTreeSet::new();
        visit_names(expr, &mut |name| {
            names.insert(name.clone());
        });

        let known = |name: &Name| match env.get(name) {
            Some(arg) => !arg.is_lazy(),
            None => self.scope.constants.contains_key(name),
        };
        let is_local = names.iter().all(known);

        // What depends on shared variables is evaluated when the process takes its first step.
        if let (true, Some(lets)) = (is_local, lets) {
            let (value, _) = self.value(expr, env)?;
            let bound = self.fresh("argument");
            lets.push(Stmt::new(model::StmtKind::Let(bound, value), expr.span));
            return Some(Arg::Bound(bound));
        }

        self.value(expr, env)?;
        Some(Arg::Lazy(ByAddress(expr.clone()), env.restrict(&names)))
    }

    /// The term that a piece of text stands for. `lets` collects what must be evaluated now.
    pub(crate) fn normal(
        &mut self,
        proc: &ProcRef,
        env: &Env,
        lets: &mut Option<&mut Vec<Stmt>>,
    ) -> Option<TermId> {
        let term = match &proc.kind {
            ProcKind::Stop => Term::Stop,
            ProcKind::Skip => Term::Skip,
            ProcKind::Call(name, arguments) => return self.call(name, arguments, env, lets),
            ProcKind::Seq(first, second) => {
                let first = self.normal(first, env, lets)?;
                Term::Seq(first, self.normal(second, env, lets)?)
            }
            ProcKind::Interrupt(first, second) => {
                let first = self.normal(first, env, lets)?;
                Term::Interrupt(first, self.normal(second, env, lets)?)
            }
            ProcKind::Hide(body, events) => {
                let hidden = self.event_names(events, env)?;
                let hidden = self.set(hidden);
                Term::Hide(self.normal(body, env, lets)?, hidden)
            }
            ProcKind::Atomic(body) => Term::Atomic(self.normal(body, env, lets)?),
            ProcKind::Choice(kind, parts) => {
                let parts = self.all_normal(parts, env, lets)?;
                Term::Choice(choice(*kind), parts)
            }
            ProcKind::Interleave(parts) => Term::Interleave(self.all_normal(parts, env, lets)?),
            ProcKind::Parallel(parts) => {
                let mut list = Vec::new();
                for part in parts {
                    let alphabet = self.alphabet(part, env)?;
                    list.push((self.normal(part, env, lets)?, alphabet));
                }
                Term::Parallel(list)
            }
            ProcKind::Indexed(op, indices, body) => self.indexed(*op, indices, body, env, lets)?,
            ProcKind::Replicated(Some(count), body) => {
                let n = self.constant(count, env, "the number of copies")?;
                if !(0..=MAX_COPIES as i64).contains(&n) {
                    let message = format!("there cannot be {n} copies of a process");
                    return self.error("bad-size", count.span, message);
                }
                let copy = self.normal(body, env, lets)?;
                Term::Interleave(vec![copy; n as usize])
            }
            // These wait for a step before they are taken apart: with the values of their free
            // names only, so that equal processes are equal terms.
            ProcKind::Assert(_)
            | ProcKind::Prefix(..)
            | ProcKind::If(..)
            | ProcKind::Case(..)
            | ProcKind::Guard(..)
            | ProcKind::Replicated(None, _) => {
                let names = self.free_names(proc);
                Term::Text(ByAddress(proc.clone()), env.restrict(&names))
            }
        };

        // Neutral forms are normalised, so that the number of terms stays small.
        let term = match term {
            Term::Interleave(list) if list.is_empty() => Term::Skip,
            Term::Parallel(list) if list.is_empty() => Term::Skip,
            Term::Choice(_, list) if list.is_empty() => Term::Stop,
            Term::Interleave(list) | Term::Choice(_, list) if list.len() == 1 => {
                return Some(list[0]);
            }
            Term::Parallel(list) if list.len() == 1 => return Some(list[0].0),
            other => other,
        };

        Some(self.term(term))
    }

    fn all_normal(
        &mut self,
        parts: &[ProcRef],
        env: &Env,
        lets: &mut Option<&mut Vec<Stmt>>,
    ) -> Option<Vec<TermId>> {
        let mut list = Vec::new();
        for part in parts {
            list.push(self.normal(part, env, lets)?);
        }
        Some(list)
    }

    /// The body of a called process, and what its names stand for.
    pub(crate) fn unfold(&mut self, process: usize, arguments: &[Arg]) -> (ProcRef, Env) {
        let decl = &self.scope.processes[process];
        let names = decl.parameters.iter().map(|p| p.text.clone());
        let values = names.zip(arguments.iter().cloned()).collect();
        (decl.body.clone(), Env::new(process, values))
    }

    /// The names that the meaning of a piece of text depends on.
    pub(crate) fn free_names(&mut self, proc: &ProcRef) -> Rc<BTreeSet<Name>> {
        if let Some(names) = self.free.get(&Rc::as_ptr(proc)) {
            return names.clone();
        }
        let mut names = BTreeSet::new();
        super::names::free_names(self.scope, proc, &mut names);
        let names = Rc::new(names);
        self.free.insert(Rc::as_ptr(proc), names.clone());
        names
    }
}

pub(crate) fn choice(kind: ChoiceKind) -> ChoiceOp {
    match kind {
        ChoiceKind::General => ChoiceOp::General,
        ChoiceKind::Internal => ChoiceOp::Internal,
        ChoiceKind::External => ChoiceOp::External,
    }
}

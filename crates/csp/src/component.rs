//! Sequential components: the terms that one process of the model runs through.
//!
//! A component may contain parallel compositions that come into being while it runs; their
//! interleavings are then its locations. Terms are derived one after the other up to a limit; a
//! location behind the limit ends in the run-time error [`model::ErrorKind::Exhausted`], so that
//! nothing beyond it is ever called correct.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap, HashSet, VecDeque};

use base::{Source, Span};
use model::{Expr, ProcessId, Stmt, StmtKind, VarId};

use super::ast::{Action, ChannelUse, ExprRef, Prefix, Proc, ProcKind};
use super::moves::{Label, Move};
use super::scope::Ty;
use super::term::{Arg, Env, Machine, Origin, Slot, Term, TermId};

impl Component {
    /// Numbers the locations by how many steps lead to them, whatever order they were derived in, so
    /// that runs of the same length are found in the order of the text. Says what the old numbers are.
    fn number_breadth_first(&mut self, n_locations: usize) -> Vec<usize> {
        let mut steps: Vec<Vec<LocatedMove>> = Vec::new();
        steps.resize_with(n_locations, Vec::new);
        for step in std::mem::take(&mut self.steps) {
            steps[step.source].push(step);
        }

        let mut order = vec![0];
        let mut new_by_old: HashMap<usize, usize> = HashMap::from([(0, 0)]);
        let mut position = 0;
        while position < order.len() {
            for mut step in std::mem::take(&mut steps[order[position]]) {
                step.source = position;
                step.target = step.target.map(|old| {
                    *new_by_old.entry(old).or_insert_with(|| {
                        order.push(old);
                        order.len() - 1
                    })
                });
                self.steps.push(step);
            }
            position += 1;
        }

        for location in &mut self.exhausted {
            *location = new_by_old[location];
        }
        order
    }
}

/// Locations whose steps are not derived yet. They are taken in turns by age, so that limits cut off
/// what is far away, and by the depth of their terms: where a recursion nests terms without end in
/// the text, those that runs come to are seldom nested deeply.
#[derive(Default)]
struct Waiting {
    by_age: VecDeque<usize>,
    by_depth: BinaryHeap<Reverse<(usize, usize)>>,
    taken: HashSet<usize>,
    n_taken: usize,
}

impl Waiting {
    fn push(&mut self, location: usize, depth: usize) {
        self.by_age.push_back(location);
        self.by_depth.push(Reverse((depth, location)));
    }

    fn pop(&mut self) -> Option<usize> {
        self.n_taken += 1;
        loop {
            let location = if self.n_taken.is_multiple_of(4) {
                self.by_age.pop_front()?
            } else {
                self.by_depth.pop()?.0.1
            };
            if self.taken.insert(location) {
                return Some(location);
            }
        }
    }
}

/// How far terms are derived.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Limits {
    /// How many locations a component may have.
    pub(crate) n_locations: usize,
    /// How deep a term may be.
    pub(crate) depth: usize,
    /// In how many states the values of events are looked for.
    pub(crate) n_discovered: usize,
}

/// A process of the model under construction.
#[derive(Debug)]
pub(crate) struct Component {
    pub(crate) name: String,
    /// The names of the locations. The first is where it starts.
    pub(crate) locations: Vec<String>,
    /// The steps; a successful termination leads to the location after the last.
    pub(crate) steps: Vec<LocatedMove>,
    /// Locations that were not looked at any more.
    pub(crate) exhausted: Vec<usize>,
    pub(crate) span: Span,
    /// Does it contain parallel compositions?
    pub(crate) is_compound: bool,
}

/// A move between locations.
#[derive(Clone, Debug)]
pub(crate) struct LocatedMove {
    pub(crate) source: usize,
    /// Nothing stands for successful termination.
    pub(crate) target: Option<usize>,
    pub(crate) step: Move,
}

impl Machine<'_> {
    /// Derives all terms of a component.
    pub(crate) fn component(
        &mut self,
        term: TermId,
        name: String,
        process: ProcessId,
        limits: Limits,
        sources: &[Source],
    ) -> Option<Component> {
        self.process = process;
        self.slots = Vec::new();
        self.moves.clear();
        self.own_scratch();

        let (first, origins) = self.settle(term);
        let slots_of_first = origins.len();

        // The first term has constants in its slots; they are the initial values of the variables.
        for (slot, origin) in origins.iter().enumerate() {
            let Origin::Const(value) = origin else {
                unreachable!("nothing has been received yet");
            };
            let var = self.slots[slot].var;
            let initial = model::Initial::Values(vec![Expr::Int(*value)]);
            self.parts.vars[var.index()].initial = initial;
            let slot = &mut self.slots[slot];
            slot.values = super::ranges::join(slot.values, (*value, *value));
        }

        let mut component = Component {
            name,
            locations: Vec::new(),
            steps: Vec::new(),
            exhausted: Vec::new(),
            span: self.term_span(term),
            is_compound: false,
        };

        // Each term becomes a location.
        let mut terms = vec![(first, slots_of_first)];
        let mut location_by_term = HashMap::from([(first, 0_usize)]);
        let mut waiting = Waiting::default();
        waiting.push(0, self.depths[first.index()]);
        let mut n_derived = 0;
        while let Some(position) = waiting.pop() {
            let (term, n_slots) = terms[position];
            component.is_compound |= self.is_compound(term);

            // A location beyond the limit has a step to "exhausted" instead of its own: a run that
            // comes here is unknown, not a deadlock.
            if n_derived >= limits.n_locations || self.depths[term.index()] > limits.depth {
                component.exhausted.push(position);
                continue;
            }
            n_derived += 1;
            for step in self.moves(term)?.iter() {
                let mut step = step.clone();

                // Received values are bound first, because the program of the event may read them.
                let target = if let Label::Tick = step.label {
                    step.effect = std::mem::take(&mut step.lets);
                    self.assign_slots(&mut step, &[], n_slots);
                    None
                } else {
                    let (target, origins) = self.settle(step.target);
                    let mut effect = std::mem::take(&mut step.lets);
                    effect.append(&mut step.effect);
                    step.effect = effect;
                    self.assign_slots(&mut step, &origins, n_slots);
                    let next = terms.len();
                    let location = *location_by_term.entry(target).or_insert(next);
                    if location == next {
                        terms.push((target, origins.len()));
                        waiting.push(location, self.depths[target.index()]);
                    }
                    Some(location)
                };
                component.steps.push(LocatedMove {
                    source: position,
                    target,
                    step,
                });
            }
        }

        let order = component.number_breadth_first(terms.len());
        let terms: Vec<(TermId, usize)> = order.into_iter().map(|old| terms[old]).collect();
        component.locations = self.location_names(&terms, sources);
        self.type_slots();
        Some(component)
    }

    /// Every component has its own copy of what is local to programs: to use it affects no other.
    fn own_scratch(&mut self) {
        for (position, var) in self.scope.vars.iter().enumerate() {
            if var.is_scratch {
                let own = VarId::new(self.parts.vars.len());
                let values = super::declared::values(self.scope, self.ranges, position);
                let mut variable = super::declared::variable(var, values);
                variable.owner = Some(self.process);
                self.parts.vars.push(variable);
                self.scratch.insert(position, own);
            }
        }
    }

    /// Gives slots their new values, all at once, and resets those that are not needed any more.
    fn assign_slots(&mut self, step: &mut Move, origins: &[Origin], n_before: usize) {
        let span = step.span;
        let mut stores = Vec::new();
        for (slot, origin) in origins.iter().enumerate() {
            let place = self.slot(slot as u16);
            let value = match origin {
                Origin::Slot(old) if usize::from(*old) == slot => continue,
                Origin::Slot(old) => {
                    let read = Expr::Read(self.slot(*old));
                    let bound = self.fresh("moved");
                    step.effect
                        .push(Stmt::new(StmtKind::Let(bound, read), span));
                    Expr::Bound(bound)
                }
                Origin::Bound(bound) => Expr::Bound(*bound),
                Origin::Const(value) => Expr::Int(*value),
            };
            stores.push(Stmt::new(StmtKind::Assign(place, value), span));
        }

        for slot in origins.len()..n_before {
            let place = self.slot(slot as u16);
            stores.push(Stmt::new(StmtKind::Assign(place, Expr::Int(0)), span));
        }

        step.effect.extend(stores);
    }

    fn type_slots(&mut self) {
        for Slot { var, values } in &self.slots {
            let scalar = model::Scalar::Range(values.0, values.1);
            self.parts.vars[var.index()].ty = model::Type::Scalar(scalar);
        }
    }

    fn is_compound(&self, id: TermId) -> bool {
        match &self.terms[id.index()] {
            Term::Stop | Term::Skip | Term::Call(..) | Term::Text(..) => false,
            Term::Seq(a, _) | Term::Hide(a, _) | Term::Atomic(a) => self.is_compound(*a),
            Term::Interrupt(a, b) => self.is_compound(*a) || self.is_compound(*b),
            Term::Choice(_, list) => list.iter().any(|id| self.is_compound(*id)),
            Term::Interleave(_) | Term::Parallel(_) => true,
        }
    }

    pub(crate) fn term_span(&self, id: TermId) -> Span {
        match &self.terms[id.index()] {
            Term::Call(process, _) => self.scope.processes[*process].name.span,
            Term::Text(text, _) => text.0.span,
            Term::Seq(a, _) | Term::Interrupt(a, _) | Term::Hide(a, _) | Term::Atomic(a) => {
                self.term_span(*a)
            }
            Term::Choice(_, list) | Term::Interleave(list) => list
                .first()
                .map_or(Span::nowhere(), |id| self.term_span(*id)),
            Term::Parallel(list) => list
                .first()
                .map_or(Span::nowhere(), |(id, _)| self.term_span(*id)),
            Term::Stop | Term::Skip => Span::nowhere(),
        }
    }

    /// Different names for all locations, from what the terms look like.
    fn location_names(&self, terms: &[(TermId, usize)], sources: &[Source]) -> Vec<String> {
        let mut n_by_name: HashMap<String, usize> = HashMap::new();
        let mut names = Vec::new();
        for (term, _) in terms {
            let name = self.describe(*term, sources, 0);
            let n = n_by_name.entry(name.clone()).or_insert(0);
            *n += 1;
            names.push(match *n {
                1 => name,
                n => format!("{name} #{n}"),
            });
        }
        names
    }

    /// A term as its author would write it, shortened.
    pub(crate) fn describe(&self, id: TermId, sources: &[Source], depth: usize) -> String {
        const LONGEST: usize = 60;
        if depth > 6 {
            return "…".to_owned();
        }
        let list = |ids: &[TermId], between: &str| {
            let shown = ids
                .iter()
                .take(4)
                .map(|id| self.describe(*id, sources, depth + 1));
            let mut parts: Vec<String> = shown.collect();
            if ids.len() > 4 {
                parts.push("…".to_owned());
            }
            parts.join(between)
        };

        let text = match &self.terms[id.index()] {
            Term::Stop => "Stop".to_owned(),
            Term::Skip => "Skip".to_owned(),
            Term::Call(process, arguments) => self.describe_call(*process, arguments),
            Term::Text(text, env) => self.describe_text(&text.0, env, sources, depth),
            Term::Seq(a, b) => list(&[*a, *b], "; "),
            Term::Interrupt(a, b) => list(&[*a, *b], " interrupt "),
            Term::Hide(a, _) => self.describe(*a, sources, depth + 1) + " \\ {…}",
            Term::Atomic(a) => format!("atomic {{{}}}", self.describe(*a, sources, depth + 1)),
            Term::Choice(_, parts) => list(parts, " [] "),
            Term::Interleave(parts) => list(parts, " ||| "),
            Term::Parallel(parts) => {
                let parts: Vec<TermId> = parts.iter().map(|(id, _)| *id).collect();
                list(&parts, " || ")
            }
        };

        if text.chars().count() > LONGEST {
            text.chars().take(LONGEST).chain(['…']).collect()
        } else {
            text
        }
    }

    /// A process expression by the events that it begins with: programs and guards are left out, and
    /// what is known is put in place of names.
    fn describe_text(&self, proc: &Proc, env: &Env, sources: &[Source], depth: usize) -> String {
        // By two events, or one and a call, a place is recognised.
        const AFTER_EVENT: usize = 3;
        if depth >= 2 * AFTER_EVENT && !matches!(proc.kind, ProcKind::Call(..)) {
            return "…".to_owned();
        }
        let inner = |proc: &Proc| self.describe_text(proc, env, sources, depth + 1);
        match &proc.kind {
            ProcKind::Prefix(prefixes, next) => {
                let names = prefixes.iter();
                let names = names.map(|prefix| self.describe_action(&prefix.action, env, sources));
                let names: Vec<String> = names.collect();
                // What is received may hide a name whose value is known here.
                let is_receiving = |prefix: &Prefix| matches!(prefix.action, Action::Receive(..));
                let next = if prefixes.iter().any(is_receiving) {
                    "…".to_owned()
                } else {
                    self.describe_text(next, env, sources, depth + AFTER_EVENT)
                };
                format!("{} -> {next}", names.join(" | "))
            }
            ProcKind::Guard(_, guarded) => inner(guarded),
            ProcKind::Call(name, arguments) if arguments.is_empty() => name.text.to_string(),
            ProcKind::Call(name, arguments) => {
                let arguments = self.describe_values(arguments, env, sources, ", ");
                format!("{}({arguments})", name.text)
            }
            ProcKind::Choice(_, parts) => {
                let parts: Vec<String> = parts.iter().map(|part| inner(part)).collect();
                parts.join(" [] ")
            }
            ProcKind::Seq(first, second) => format!("{}; {}", inner(first), inner(second)),
            ProcKind::If(_, condition, ..) => format!("if ({})", snippet(condition.span, sources)),
            _ => snippet(proc.span, sources),
        }
    }

    /// The event of a prefix.
    fn describe_action(&self, action: &Action, env: &Env, sources: &[Source]) -> String {
        let channel = |channel: &ChannelUse| match &channel.index {
            Some(index) => {
                let index = self.describe_values(std::slice::from_ref(index), env, sources, "");
                format!("{}[{index}]", channel.name.text)
            }
            None => channel.name.text.to_string(),
        };
        let values = |list| self.describe_values(list, env, sources, ".");
        match action {
            Action::Tau => "tau".to_owned(),
            Action::Event(name, list) if list.is_empty() => name.text.to_string(),
            Action::Event(name, list) => format!("{}.{}", name.text, values(list)),
            Action::Send(to, list) => format!("{}!{}", channel(to), values(list)),
            Action::Receive(from, _, list) => format!("{}?{}", channel(from), values(list)),
        }
    }

    /// Expressions by their values where these are known, else as they are written.
    fn describe_values(
        &self,
        list: &[ExprRef],
        env: &Env,
        sources: &[Source],
        between: &str,
    ) -> String {
        let value = |expr: &ExprRef| match self.const_value(expr, env) {
            Some((value, Ty::Bool)) => (value != 0).to_string(),
            Some((value, _)) => value.to_string(),
            None => snippet(expr.span, sources),
        };
        let values: Vec<String> = list.iter().map(value).collect();
        values.join(between)
    }

    pub(crate) fn describe_call(&self, process: usize, arguments: &[Arg]) -> String {
        let decl = &self.scope.processes[process];
        let show = |(name, arg): (&super::ast::Ident, &Arg)| match arg {
            Arg::Const(value, _) => value.to_string(),
            _ => name.text.to_string(),
        };
        let shown: Vec<String> = decl.parameters.iter().zip(arguments).map(show).collect();
        if shown.is_empty() {
            decl.name.text.to_string()
        } else {
            format!("{}({})", decl.name.text, shown.join(", "))
        }
    }
}

/// The text at a place, in one line.
fn snippet(span: Span, sources: &[Source]) -> String {
    let text = sources.get(span.source.index());
    let text = text.and_then(|source| source.text.get(span.start as usize..span.end as usize));
    let words: Vec<&str> = text.unwrap_or("?").split_whitespace().take(12).collect();
    words.join(" ")
}

//! Processes: their locations, and the steps between them.

use std::collections::BTreeMap;
use std::rc::Rc;

use base::Diagnostic;
use model::{
    BinaryOp, Expr, Initial, LocationId, Owner, Place, Process, ProcessId, Quantifier, Scalar,
    Step, Stmt, StmtKind, Sync, Type, VarId, Variable,
};

use crate::ast::ExprKind;
use crate::flow::{self, ElementKind, Exit, Flow, Leaf};
use crate::symbols::Context;

use super::d_step::is_else;
use super::expr::{Who, read_global};
use super::statement::Variant;
use super::{Lowering, Unit, all, any, equals};

/// A step as it will be: inside an `atomic`, statements that are always possible are executed
/// together with the one before them.
#[derive(Clone, Debug)]
pub(super) struct Planned {
    pub(super) exit: Exit,
    /// Elements that are executed together with it.
    pub(super) chain: Vec<usize>,
    target: Option<usize>,
    /// Does the process keep all others from moving afterwards?
    holds: bool,
}

/// The locations of a process type and the steps that leave them.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    /// Elements; a position is a [`LocationId`].
    pub(super) locations: Vec<usize>,
    /// The positions of elements among them.
    positions: BTreeMap<usize, usize>,
    /// By location.
    pub(super) steps: Vec<Vec<Planned>>,
    /// A process that has ended and cannot be started again is here.
    gone: Option<LocationId>,
}

impl Plan {
    pub(super) fn id(&self, element: usize) -> Option<LocationId> {
        self.positions.get(&element).copied().map(LocationId::new)
    }

    fn add(&mut self, element: usize) {
        let position = self.locations.len();
        if *self.positions.entry(element).or_insert(position) == position {
            self.locations.push(element);
        }
    }
}

impl Lowering<'_> {
    /// Writes all processes.
    pub(super) fn make_processes(&mut self) {
        self.plans = self
            .units
            .clone()
            .iter()
            .map(|unit| Rc::new(self.plan(unit)))
            .collect();
        self.make_alive();
        self.make_priorities();
        self.warn_of_blocking();

        let holds = |plan: &Rc<Plan>| plan.steps.iter().flatten().any(|step| step.holds);
        if self.plans.iter().any(holds) {
            let n_instances: usize = self
                .population
                .ranges
                .iter()
                .flatten()
                .map(|range| range.len())
                .sum();
            let ty = Scalar::Range(-1, n_instances as i64 - 1);
            let control = self.special_variable("_atomic", ty, -1);
            self.special.control = Some(control);
            self.parts.control = Some(control);
        }

        for position in 0..self.units.len() {
            let process = self.process(position);
            self.parts.processes.push(process);
        }

        self.start_clock();
    }

    /// Atomics that may have to wait in the middle are rarely meant.
    fn warn_of_blocking(&mut self) {
        for position in 0..self.units.len() {
            let unit = self.units[position].clone();
            for &location in &self.plans[position].clone().locations {
                let element = &unit.flow.elements[location];
                let may_wait = match &element.kind {
                    ElementKind::Leaf(Leaf::Condition(expr)) => {
                        !is_certain(&unit.flow, location) && !matches!(expr.kind, ExprKind::Timeout)
                    }
                    ElementKind::Leaf(Leaf::Receive { .. }) => true,
                    _ => false,
                };
                if element.in_atomic && may_wait {
                    let message = "if this has to wait, the `atomic` ends here and others may move";
                    let help = "put what may wait first, so that the rest is executed as one";
                    let warning = Diagnostic::warning("atomic-may-block", element.span, message);
                    self.say(warning.help(help));
                }
            }
        }
    }

    /// Processes that are started by `run` say whether they exist.
    fn make_alive(&mut self) {
        self.alive = vec![None; self.program.processes.len()];
        for position in 0..self.units.len() {
            let proctype = self.units[position].proctype;
            let range = self.population.ranges[proctype].expect("it exists");
            if !range.is_run {
                continue;
            }
            let initial = match self.index_of(proctype) {
                Some(index) if range.n_active > 0 => {
                    let index = || Expr::Bound(index);
                    let first = Expr::Int(range.first_active);
                    let behind = Expr::Int(range.first_active + range.n_active);
                    all([
                        Expr::binary(BinaryOp::Ge, index(), first),
                        Expr::binary(BinaryOp::Lt, index(), behind),
                    ])
                }
                _ => Expr::Bool(range.n_active > 0),
            };
            self.parts.vars.push(Variable {
                name: "_alive".to_owned(),
                ty: Type::Scalar(Scalar::Bool),
                owner: Some(ProcessId::new(position)),
                initial: Initial::Values(vec![initial]),
                span: self.program.processes[proctype].span,
            });
            self.alive[proctype] = Some(VarId::new(self.parts.vars.len() - 1));
        }
    }

    /// Where a process says that it exists; nothing if it always says so until it has ended.
    pub(super) fn alive_place(&self, proctype: usize, owner: Owner) -> Option<Place> {
        self.alive[proctype].map(|var| Place {
            var,
            owner: Some(owner),
            path: Vec::new(),
        })
    }

    fn plan(&self, unit: &Unit) -> Plan {
        let flow = &unit.flow;
        let is_provided = self.program.processes[unit.proctype].provided.is_some();
        let range = self.population.ranges[unit.proctype].expect("it exists");
        let mut plan = Plan::default();
        plan.add(flow.start);
        let mut ends = false;
        let mut at = 0;

        while at < plan.locations.len() {
            let mut steps = Vec::new();
            for exit in flow.exits(plan.locations[at]) {
                let planned = self.planned(flow, exit, is_provided);
                ends |= planned.target.is_none();
                if let Some(target) = planned.target {
                    plan.add(target);
                }
                steps.push(planned);
            }
            plan.steps.push(steps);
            at += 1;
        }

        if ends && !range.is_run {
            plan.gone = Some(LocationId::new(plan.locations.len()));
        }
        plan
    }

    fn planned(&self, flow: &Flow, exit: Exit, is_provided: bool) -> Planned {
        let mut planned = Planned {
            exit,
            chain: Vec::new(),
            target: exit.target,
            holds: false,
        };

        let is_held = |target: Option<usize>| {
            let inside = |element: usize| flow.elements[element].in_atomic;
            inside(exit.element) && target.is_some_and(inside)
        };
        let may_be_interrupted = is_provided || self.special.has_priorities;

        while !may_be_interrupted && self.is_alone(flow, exit.element) && is_held(planned.target) {
            let here = planned.target.expect("it is held");
            let described = &flow.elements[here];
            let is_seen = |label: &Rc<str>| {
                flow::is_special(label) || self.program.remote_labels.contains(label)
            };
            let exits = flow.exits(here);
            let [next] = exits.as_slice() else { break };
            let is_new = !planned.chain.contains(&next.element) && next.element != exit.element;
            if described.labels.iter().any(is_seen) || !is_new || !is_certain(flow, next.element) {
                break;
            }
            planned.chain.push(next.element);
            planned.target = next.target;
        }

        planned.holds = is_held(planned.target);
        planned
    }

    /// Is the statement certainly no rendezvous?
    fn is_alone(&self, flow: &Flow, element: usize) -> bool {
        let element = &flow.elements[element];
        match &element.kind {
            ElementKind::Leaf(Leaf::Send { channel, .. } | Leaf::Receive { channel, .. }) => {
                let root = self.symbols.lookup(&channel.parts[0].name, element.context);
                root.is_some_and(|root| {
                    self.reach[root]
                        .iter()
                        .all(|group| self.groups[*group].capacity > 0)
                })
            }
            ElementKind::DStep(_) | ElementKind::End => false,
            _ => true,
        }
    }

    pub(super) fn who(&self, proctype: usize) -> Who {
        let pid = match self.index_of(proctype) {
            Some(bound) => Expr::Bound(bound),
            None => Expr::Int(self.population.ranges[proctype].map_or(0, |range| range.lo)),
        };
        Who {
            context: Context {
                scope: crate::symbols::GLOBAL,
                order: u32::MAX,
                owner: Some(proctype),
            },
            owner: Owner::Own,
            pid: Some(pid),
            timeout: false,
        }
    }

    fn process(&mut self, position: usize) -> Process {
        let unit = self.units[position].clone();
        let plan = self.plans[position].clone();
        let declared = &self.program.processes[unit.proctype];
        let who = self.who(unit.proctype);
        let names = self.step_names(&unit.flow);
        self.special.outranked = self.outranked(position, &who);

        let mut steps = Vec::new();
        for (source, planned) in plan.steps.iter().enumerate() {
            let guards = self.guards(&unit, planned, &who);
            for (planned, variants) in planned.iter().zip(guards) {
                let name = self.planned_name(planned, &names);
                for variant in variants {
                    let number = (ProcessId::new(position), steps.len());
                    self.note_prints(&unit, planned, &variant.effect, number, &who);
                    let source = LocationId::new(source);
                    let span = unit.flow.elements[planned.exit.element].span;
                    let step = Step {
                        name: name.clone(),
                        guard: variant.guard,
                        sync: variant.sync,
                        effect: variant.effect,
                        priority: variant.priority,
                        ..Step::new("", source, self.target_id(&plan, planned), span)
                    };
                    steps.push(self.with_bookkeeping(&unit, &plan, planned, step, &who));
                }
            }
        }

        Process {
            name: declared.name.to_string(),
            index: self.index_range(unit.proctype),
            dimensions: Vec::new(),
            locations: self.location_names(&unit, &plan),
            initial: vec![LocationId(0)],
            steps,
            span: declared.span,
        }
    }

    fn target_id(&self, plan: &Plan, planned: &Planned) -> LocationId {
        match planned.target {
            Some(element) => plan.id(element).expect("targets are locations"),
            None => plan.gone.unwrap_or(LocationId(0)),
        }
    }

    fn location_names(&self, unit: &Unit, plan: &Plan) -> Vec<String> {
        let mut n_seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut names = Vec::new();
        for element in &plan.locations {
            let described = &unit.flow.elements[*element];
            let name = match (&described.kind, described.labels.first()) {
                (_, Some(label)) => label.to_string(),
                (ElementKind::End, None) => "end".to_owned(),
                _ => format!("line {}", self.line(described.span)),
            };
            let seen = n_seen.entry(name.clone()).or_insert(0);
            *seen += 1;
            names.push(match *seen {
                1 => name,
                n => format!("{name}#{n}"),
            });
        }
        names.extend(plan.gone.map(|_| "gone".to_owned()));
        names
    }

    /// A name for every element, unlike those of the others.
    fn step_names(&self, flow: &Flow) -> Vec<String> {
        let mut n_seen: BTreeMap<String, usize> = BTreeMap::new();
        let mut names = Vec::new();
        for element in &flow.elements {
            let name = match &element.kind {
                ElementKind::Leaf(Leaf::Else) => "else".to_owned(),
                ElementKind::Leaf(_) => self.text(element.span),
                ElementKind::Goto(_) | ElementKind::Dot => "goto".to_owned(),
                ElementKind::DStep(_) => self.text(element.span),
                ElementKind::End => "end".to_owned(),
                ElementKind::Choice(_) | ElementKind::Unless(_) | ElementKind::Block(_) => {
                    String::new()
                }
            };
            let seen = n_seen.entry(name.clone()).or_insert(0);
            *seen += 1;
            names.push(match *seen {
                1 => name,
                n => format!("{name} #{n}"),
            });
        }
        names
    }

    fn planned_name(&self, planned: &Planned, names: &[String]) -> String {
        let elements = std::iter::once(&planned.exit.element).chain(&planned.chain);
        let parts: Vec<&str> = elements.map(|element| names[*element].as_str()).collect();
        parts.join("; ")
    }

    /// The ways of taking each step of a location, with all guards worked out: `else`, escapes,
    /// `provided`, being alive.
    pub(super) fn guards(
        &mut self,
        unit: &Unit,
        planned: &[Planned],
        who: &Who,
    ) -> Vec<Vec<Variant>> {
        let mut before: Vec<Expr> = Vec::new();
        let mut escapes: Vec<(usize, Expr)> = Vec::new();
        let mut result = Vec::new();
        for step in planned {
            let exit = step.exit;
            let mut variants = self.exit_ways(unit, exit, who);
            if is_else(&unit.flow, exit.element) {
                let others = Expr::not(any(before.iter().cloned()));
                variants = vec![Variant::when(others)];
                variants.retain(|variant| variant.guard != Expr::Bool(false));
            }
            let visible = any(variants.iter().map(Variant::visible_guard));
            before.push(visible);
            let earlier = escapes.iter().filter(|(escape, _)| *escape != exit.escape);
            let earlier = any(earlier.map(|(_, guard)| guard.clone()));
            if exit.escape != 0 {
                let possible = self.escape_guard(&variants, who);
                escapes.push((exit.escape, possible));
            }
            for variant in &mut variants {
                variant.guard = all([variant.guard.clone(), Expr::not(earlier.clone())]);
                for element in &step.chain {
                    let element = unit.flow.elements[*element].clone();
                    for next in self.variants(&element, who) {
                        variant.effect.extend(next.effect);
                    }
                }
            }
            result.push(variants);
        }

        result
    }

    fn exit_ways(&mut self, unit: &Unit, exit: Exit, who: &Who) -> Vec<Variant> {
        let element = unit.flow.elements[exit.element].clone();
        match &element.kind {
            ElementKind::DStep(_) => self.d_step(&unit.flow, exit.element, who),
            ElementKind::End => vec![self.death(unit.proctype, who, element.span)],
            _ => self.variants(&element, who),
        }
    }

    /// Adds what every step does besides its statement.
    fn with_bookkeeping(
        &mut self,
        unit: &Unit,
        plan: &Plan,
        planned: &Planned,
        mut step: Step,
        who: &Who,
    ) -> Step {
        let mut guards = vec![step.guard.clone()];
        if let Some(provided) = &self.program.processes[unit.proctype].provided {
            guards.insert(0, self.condition(provided, who));
        }
        if step.source == LocationId(0)
            && let Some(alive) = self.alive_place(unit.proctype, Owner::Own)
        {
            guards.insert(0, Expr::Read(alive));
        }
        if let Some(outranked) = self.special.outranked.clone() {
            guards.push(Expr::not(outranked));
        }
        let pid = who.pid.clone().expect("a process has a number");
        let span = step.span;
        let assign = |var: VarId, value: Expr| {
            let place = Place {
                var,
                owner: None,
                path: Vec::new(),
            };
            Stmt::new(StmtKind::Assign(place, value), span)
        };

        // shape: only sends send.
        let is_sender = matches!(step.sync, Sync::Send { .. });
        if let Some(last) = self.special.last
            && !is_sender
        {
            step.effect.push(assign(last, pid));
        }

        if let Some(control) = self.special.control {
            let myself = self.instance_number(unit.proctype);
            let from = plan.locations[step.source.index()];
            let was_inside = unit.flow.elements[from].in_atomic;
            // shape: only receives receive.
            let is_receiver = matches!(step.sync, Sync::Receive { .. });
            if is_sender {
                let free = equals(read_global(control), -1);
                let mine = Expr::binary(BinaryOp::Eq, read_global(control), myself);
                guards.push(any([free, mine]));
            } else if planned.holds {
                step.effect.push(assign(control, myself));
            } else if was_inside || is_receiver {
                step.effect.push(assign(control, Expr::Int(-1)));
            }
        }

        step.guard = all(guards);
        self.forget_temporaries(&mut step);
        step
    }

    /// The position of the process among all instances.
    fn instance_number(&self, proctype: usize) -> Expr {
        let range = self.population.ranges[proctype].expect("it exists");
        match self.index_of(proctype) {
            Some(index) => {
                super::channels::add(Expr::Bound(index), range.first_instance - range.lo)
            }
            None => Expr::Int(range.first_instance),
        }
    }

    /// Is some process at a location with such a label?
    pub(super) fn some_process_at(&mut self, wanted: impl Fn(&str) -> bool) -> Expr {
        let mut parts = Vec::new();
        for position in 0..self.units.len() {
            let unit = self.units[position].clone();
            let plan = self.plans[position].clone();
            let has = |element: &usize| {
                unit.flow.elements[*element]
                    .labels
                    .iter()
                    .any(|label| wanted(label))
            };
            let locations: Vec<LocationId> = plan
                .locations
                .iter()
                .enumerate()
                .filter(|(_, element)| has(element))
                .map(|(at, _)| LocationId::new(at))
                .collect();
            if !locations.is_empty() {
                parts.push(self.some_member_at(position, locations));
            }
        }

        any(parts)
    }

    fn some_member_at(&mut self, position: usize, locations: Vec<LocationId>) -> Expr {
        let proctype = self.units[position].proctype;
        let Some(range) = self.index_range(proctype) else {
            return self.member_at(position, Expr::Int(0), locations);
        };
        let bound = self.bound("p");
        let body = self.member_at(position, Expr::Bound(bound), locations);
        Expr::Quantified {
            quantifier: Quantifier::Exists,
            bound,
            lo: Box::new(Expr::Int(range.lo)),
            hi: Box::new(Expr::Int(range.hi)),
            body: Box::new(body),
        }
    }

    /// Is the process with this number alive and at one of these locations?
    pub(super) fn member_at(&self, position: usize, pid: Expr, locations: Vec<LocationId>) -> Expr {
        let proctype = self.units[position].proctype;
        let owner = self.member(proctype, pid);
        let at_start = locations.contains(&LocationId(0));
        let at = Expr::At {
            process: ProcessId::new(position),
            owner: owner.clone(),
            locations,
        };
        match self.alive_place(proctype, owner) {
            Some(alive) if at_start => all([Expr::Read(alive), at]),
            _ => at,
        }
    }

    /// Is every process at an end, valid or real, or gone?
    pub(super) fn all_at_end(&mut self) -> Expr {
        let mut parts = Vec::new();
        for position in 0..self.units.len() {
            let unit = self.units[position].clone();
            let plan = self.plans[position].clone();
            let is_end = |element: &usize| {
                let described = &unit.flow.elements[*element];
                matches!(described.kind, ElementKind::End)
                    || described
                        .labels
                        .iter()
                        .any(|label| label.starts_with("end"))
            };
            let not_ends: Vec<LocationId> = plan
                .locations
                .iter()
                .enumerate()
                .filter(|(_, element)| !is_end(element))
                .map(|(at, _)| LocationId::new(at))
                .collect();
            if !not_ends.is_empty() {
                parts.push(Expr::not(self.some_member_at(position, not_ends)));
            }
        }

        parts.extend(self.monitor_at_end());
        all(parts)
    }
}

/// Is the statement always possible?
fn is_certain(flow: &Flow, element: usize) -> bool {
    match &flow.elements[element].kind {
        ElementKind::Leaf(leaf) => match leaf {
            Leaf::Assign(..)
            | Leaf::Clear(_)
            | Leaf::SetTimer(..)
            | Leaf::SetPriority(..)
            | Leaf::Assert(_)
            | Leaf::Print(_) => true,
            Leaf::Condition(expr) => matches!(expr.kind, ExprKind::Int(1) | ExprKind::Run { .. }),
            Leaf::Send { .. } | Leaf::Receive { .. } | Leaf::Else => false,
        },
        ElementKind::Goto(_) | ElementKind::Dot => true,
        _ => false,
    }
}

//! The parts of a model above expressions and statements, each with the model without it.

use model::{
    Assumption, Channel, Clock, Composition, Expr, Initial, ModelParts, Process, ProcessId, Scalar,
    Step, Sync, Timer, Type, Variable,
};

/// A model in which one named block is left out or made trivial.
pub(super) type Without = (&'static str, ModelParts);

/// All blocks whose absence can be seen in the steps of the model.
pub(super) fn seen_in_steps(parts: &ModelParts) -> Vec<Without> {
    // Exhaustive, so that a new part has to be thought of here. Enumerations, records, events and
    // bounds are seen where they are used; annotations, interferences,
    // assumptions and fairness in fair runs.
    let ModelParts {
        enums: _,
        records: _,
        vars,
        channels,
        events: _,
        processes,
        composition,
        init,
        atoms: _,
        annotations: _,
        interferences: _,
        assumptions: _,
        fairness: _,
        bounds: _,
        bound_types: _,
        shown: _,
        systems: _,
        control,
        timers,
        clock,
    } = parts;

    let mut found = Found {
        parts,
        blocks: Vec::new(),
    };
    for (number, variable) in vars.iter().enumerate() {
        found.variable(number, variable);
    }
    for (number, channel) in channels.iter().enumerate() {
        found.channel(number, channel);
    }
    for (number, process) in processes.iter().enumerate() {
        found.process(number, process, *clock);
    }
    found.composition(*composition);
    for number in 0..init.len() {
        found.add("init constraint", |parts| drop(parts.init.remove(number)));
    }
    if control.is_some() {
        found.add("control", |parts| parts.control = None);
    }
    for (number, timer) in timers.iter().enumerate() {
        found.timer(number, timer);
    }
    found.blocks
}

/// All annotations and parts of assumptions.
pub(super) fn seen_in_fair_runs(parts: &ModelParts) -> Vec<Without> {
    let mut found = Found {
        parts,
        blocks: Vec::new(),
    };

    for (number, annotation) in parts.annotations.iter().enumerate() {
        let name = super::names::of_annotation(annotation.kind, &annotation.target);
        found.add(name, |parts| drop(parts.annotations.remove(number)));
        if let model::Target::Choice(process, step) = annotation.target {
            let steps = &parts.processes[process.index()].steps;
            // shape: only choices of events are counted here.
            let is_event = |s: &model::Step| matches!(s.sync, Sync::Event { .. });
            if steps.get(step).is_some_and(is_event) {
                let name = "fair choice of an event";
                found.add(name, |parts| drop(parts.annotations.remove(number)));
            }
        }
    }

    for number in 0..parts.interferences.len() {
        found.add("declared interference", |parts| {
            drop(parts.interferences.remove(number));
        });
    }

    for (number, assumption) in parts.assumptions.iter().enumerate() {
        for (name, less) in without(assumption) {
            found.add(name, |parts| match less {
                Some(less) => parts.assumptions[number] = less,
                None => drop(parts.assumptions.remove(number)),
            });
        }
    }

    found.blocks
}

/// The assumption without each of its parts; nothing where nothing remains.
fn without(assumption: &Assumption) -> Vec<(&'static str, Option<Assumption>)> {
    let mut found = vec![(super::names::of_assumption(assumption), None)];
    let (parts, is_all) = match assumption {
        Assumption::Infinitely(..) | Assumption::Eventually(..) => return found,
        Assumption::All(parts) => (parts, true),
        Assumption::Any(parts) => (parts, false),
    };

    for (number, part) in parts.iter().enumerate() {
        for (name, less) in without(part) {
            // shape: the others have no parts.
            let is_nested = matches!(part, Assumption::All(_) | Assumption::Any(_));
            let mut kept = parts.clone();
            match less {
                Some(less) => kept[number] = less,
                None => drop(kept.remove(number)),
            }
            let whole = if is_all {
                Assumption::All(kept)
            } else {
                Assumption::Any(kept)
            };
            if is_nested {
                found.push(("nested assumption", Some(whole.clone())));
            }
            found.push((name, Some(whole)));
        }
    }

    found
}

struct Found<'p> {
    parts: &'p ModelParts,
    blocks: Vec<Without>,
}

impl Found<'_> {
    fn add(&mut self, name: &'static str, change: impl FnOnce(&mut ModelParts)) {
        let mut parts = self.parts.clone();
        change(&mut parts);
        self.blocks.push((name, parts));
    }

    fn variable(&mut self, number: usize, variable: &Variable) {
        let Variable {
            name: _,
            ty,
            owner,
            initial,
            span: _,
        } = variable;

        let mut scalars = Vec::new();
        let mut visit = |_, scalar| scalars.push(scalar);
        ty.for_each_cell(&self.parts.records, "", &mut visit);
        match initial {
            Initial::Any => self.add("Initial::Any", |parts| {
                let least = |scalar: &Scalar| Expr::Int(scalar.bounds().0);
                let values = scalars.iter().map(least).collect();
                parts.vars[number].initial = Initial::Values(values);
            }),
            Initial::Values(values) => {
                let is_small = |scalar: &Scalar| {
                    let (lo, hi) = scalar.bounds();
                    hi.checked_sub(lo).is_some_and(|width| width < 4)
                };
                if scalars.iter().all(is_small) {
                    let initial = Initial::Any;
                    self.add("Initial::Values", |p| p.vars[number].initial = initial);
                }
                // shape: only values that are the index itself are counted here.
                if owner.is_some() && values.iter().any(|v| matches!(v, Expr::Bound(_))) {
                    self.add("initial value by index", |parts| {
                        parts.vars[number].initial = Initial::Values(vec![Expr::Int(1)]);
                    });
                }
            }
        }
    }

    fn channel(&mut self, number: usize, channel: &Channel) {
        let Channel {
            name: _,
            indices: _,
            capacity,
            payload: _,
            span: _,
        } = channel;
        if *capacity > 0 {
            self.add("capacity", |parts| parts.channels[number].capacity += 1);
        }
    }

    fn process(&mut self, number: usize, process: &Process, clock: Option<Clock>) {
        let Process {
            name: _,
            index,
            dimensions: _,
            locations: _,
            initial,
            steps,
            span: _,
        } = process;

        if initial.len() > 1 {
            self.add("several initial locations", |parts| {
                parts.processes[number].initial.truncate(1);
            });
        }

        if let Some(range) = index.filter(|range| range.hi > range.lo) {
            let shrink = |parts: &mut ModelParts| {
                let index = &mut parts.processes[number].index;
                *index = index.map(|index| model::IndexRange {
                    hi: range.lo,
                    ..index
                });
            };
            self.add("family", shrink);
            if ProcessId::new(number) != ProcessId(0) {
                self.add("second family", shrink);
            }
        }

        for (position, step) in steps.iter().enumerate() {
            self.step(number, position, step, clock);
        }
    }

    fn step(&mut self, process: usize, position: usize, step: &Step, clock: Option<Clock>) {
        let Step {
            name: _,
            label,
            parameters,
            condition,
            source: _,
            target,
            guard,
            sync,
            effect: _,
            priority,
            span: _,
        } = step;

        let change = |found: &mut Self, name, change: &dyn Fn(&mut Step)| {
            found.add(name, |parts| {
                change(&mut parts.processes[process].steps[position]);
            });
        };
        let is_tick = match sync {
            Sync::Event { event, .. } => clock.is_some_and(|clock| clock.event == *event),
            Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } => false,
        };
        if is_tick {
            change(self, "clock", &|step| step.guard = Expr::Bool(false));
        } else if *priority != 0 {
            change(self, "priority", &|step| step.priority = 0);
        }
        if label.is_some() {
            change(self, "shared label", &|step| step.label = None);
        }

        if !parameters.is_empty() {
            let shrink = |step: &mut Step| {
                let last = step.parameters.last_mut().expect("there is one");
                last.hi = last.lo.clone();
            };
            change(self, "parameter", &shrink);
            if parameters.len() > 1 {
                change(self, "several parameters", &shrink);
            }
        }

        if *condition != Expr::Bool(true) {
            change(self, "where", &|step| step.condition = Expr::Bool(true));
        }
        if *guard != Expr::Bool(true) && !is_tick {
            change(self, "guard", &|step| step.guard = Expr::Bool(true));
        }
        if target.index() > 0 {
            let first = model::LocationId(0);
            change(self, "target", &|step| step.target = first);
        }

        change(self, "step", &|step| step.guard = Expr::Bool(false));
    }

    fn composition(&mut self, composition: Composition) {
        let mut steps = self.parts.processes.iter().flat_map(|p| &p.steps);
        // shape: all others need partners.
        let is_alone = steps.all(|step| matches!(step.sync, Sync::Internal));
        match composition {
            Composition::Synchronous => self.add("Composition::Synchronous", |parts| {
                parts.composition = Composition::Interleaving;
            }),
            Composition::Interleaving if is_alone => {
                self.add("Composition::Interleaving", |parts| {
                    parts.composition = Composition::Synchronous;
                });
            }
            Composition::Interleaving => {}
        }
    }

    fn timer(&mut self, number: usize, timer: &Timer) {
        let Timer {
            var,
            threshold,
            limit: _,
            any: _,
            stretched_from: _,
        } = timer;

        if threshold.is_some() {
            self.add("threshold", |parts| {
                let timer = &mut parts.timers[number];
                timer.any = timer.threshold.map(|k| (k, k));
                timer.threshold = timer.threshold.map(|k| k + 1);
            });
        }

        let variable = &self.parts.vars[var.index()];
        // A timer that has expired before the start stays for one tick.
        let mut start = |name, n_cells| {
            self.add(name, |parts| {
                parts.vars[var.index()].initial = Initial::Values(vec![Expr::Int(0); n_cells]);
            });
        };

        match (&variable.ty, variable.owner) {
            (Type::Array(_), _) => start("array of timers", 2),
            (Type::Scalar(_), Some(_)) => start("timer of a process", 1),
            (Type::Scalar(_), None) | (Type::Record(_), _) => start("timer of the model", 1),
        }
    }
}

//! Random models and questions.
//!
//! Most models come from `testkit`. To these are added propositions about channels, places and
//! single steps, and fairness of any step. Models of processes that talk to each other and have
//! little else to do are made here: in them, most steps can wait for others, which is what
//! partial-order reduction is about.

use base::{AtomId, Fairness, Span};
use logic::{Ltl, Property, classify};
use model::{
    Annotation, Atom, AtomMeaning, BinaryOp, Channel, ChannelId, ChannelRef, ConditionKind, Event,
    EventId, Expr, Initial, LocationId, Model, ModelParts, Owner, Pattern, Place, Process,
    ProcessId, Scalar, Step, StepPattern, Stmt, StmtKind, Sync, Target, Type, VarId, Variable,
};
use testkit::{ModelShape, Random, random_ctl_star, random_formula, random_model};

const KINDS: [&str; 9] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "weak+annotated",
    "strong+annotated",
];

/// A random model and a question about it.
pub(crate) fn model(random: &mut Random) -> (ModelParts, Property) {
    let mut parts = match random.below(20) {
        0..4 => random_model(random, ModelShape::Tiny).parts().clone(),
        4..7 => random_model(random, ModelShape::Rich).parts().clone(),
        7..9 => random_model(random, ModelShape::Loose).parts().clone(),
        9..13 => random_model(random, ModelShape::Alike).parts().clone(),
        _ => talking(random),
    };
    decorate(random, &mut parts);
    let property = property(random, parts.atoms.len());
    (parts, property)
}

/// A random kind of fairness.
pub(crate) fn fairness(random: &mut Random, model: &Model) -> Fairness {
    let name = match random.below(10) {
        0..3 => "none",
        3..6 => "annotated",
        _ => *random.pick(&KINDS),
    };
    // Loops under strong global fairness take long to be made short where much goes on.
    let is_slow = name == "strong-global" && model.instances().len() > 3;
    let name = if is_slow { "strong" } else { name };
    Fairness::parse(name).expect("the names are right")
}

fn property(random: &mut Random, n_atoms: usize) -> Property {
    // Half of the questions are about the propositions that are added last.
    let first = if random.chance(50) && n_atoms > 6 {
        n_atoms - 6
    } else {
        0
    };
    let shifted = |atom: AtomId| Ltl::atom(AtomId::new(atom.index() + first));
    let n_atoms = n_atoms - first;
    let p = proposition(random, n_atoms).map_atoms(&shifted);
    let q = proposition(random, n_atoms).map_atoms(&shifted);
    let often = |inner| Ltl::always(Ltl::eventually(inner));
    let finally = |inner| Ltl::eventually(Ltl::always(inner));
    match random.below(14) {
        0 => Property::DeadlockFree,
        1..3 => Property::Invariant(p),
        3..5 => Property::Reachable(p),
        5..7 => Property::Ltl(often(p)),
        7 => Property::Ltl(finally(p)),
        8 => Property::Ltl(Ltl::always(Ltl::implies(p, Ltl::eventually(q)))),
        9 => Property::Ltl(Ltl::not(Ltl::and([often(p), finally(q)]))),
        10 => Property::CtlStar(random_ctl_star(random, n_atoms)),
        _ => {
            let size = random.below(5);
            classify(random_formula(random, n_atoms, size).map_atoms(&shifted))
        }
    }
}

fn proposition(random: &mut Random, n_atoms: usize) -> Ltl {
    let p = random_formula(random, n_atoms, 0);
    let q = random_formula(random, n_atoms, 0);
    match random.below(5) {
        0 => Ltl::and([p, q]),
        1 => Ltl::or([p, q]),
        _ => p,
    }
}

/// Adds propositions about channels, places and steps, and fairness of any step.
fn decorate(random: &mut Random, parts: &mut ModelParts) {
    for _ in 0..6 {
        let meaning = match random.below(8) {
            0..3 if !parts.channels.is_empty() => AtomMeaning::State(length(random, parts)),
            3 => AtomMeaning::Taken(step_pattern(random, parts)),
            4 | 5 => AtomMeaning::Enabled(step_pattern(random, parts)),
            _ => AtomMeaning::State(place_of_process(random, parts)),
        };
        let name = format!("q{}", parts.atoms.len());
        let span = Span::nowhere();
        parts.atoms.push(Atom {
            name,
            meaning,
            span,
        });
    }
    for _ in 0..random.below(3) {
        let kinds = [
            ConditionKind::Weak,
            ConditionKind::Strong,
            ConditionKind::Strong,
        ];
        let kind = *random.pick(&kinds);
        let target = fair_target(random, parts);
        let span = Span::nowhere();
        parts.annotations.push(Annotation { kind, target, span });
    }
}

fn fair_target(random: &mut Random, parts: &ModelParts) -> Target {
    let (process, step) = some_step(random, parts);
    let step_name = |step: usize| parts.processes[process.index()].steps[step].name.clone();
    match (random.below(5), step) {
        (0, _) | (_, None) => Target::Process(process),
        (1, _) if !parts.events.is_empty() => {
            Target::Event(EventId::new(random.below(parts.events.len())))
        }
        (1 | 2, Some(step)) => Target::Action(process, step_name(step)),
        (_, Some(step)) => Target::Choice(process, step),
    }
}

fn some_step(random: &mut Random, parts: &ModelParts) -> (ProcessId, Option<usize>) {
    let process = random.below(parts.processes.len());
    let n_steps = parts.processes[process].steps.len();
    let step = (n_steps > 0).then(|| random.below(n_steps));
    (ProcessId::new(process), step)
}

fn step_pattern(random: &mut Random, parts: &ModelParts) -> StepPattern {
    let (process, step) = some_step(random, parts);
    let steps = &parts.processes[process.index()].steps;
    StepPattern {
        process: Some(process),
        action: step.map(|step| steps[step].name.clone()),
        ..StepPattern::default()
    }
}

/// A comparison of the length of a channel: often with nothing or with what it can hold.
fn length(random: &mut Random, parts: &ModelParts) -> Expr {
    let position = random.below(parts.channels.len());
    let channel = &parts.channels[position];
    let reference = ChannelRef {
        channel: ChannelId::new(position),
        index: channel.indices.map(|(lo, _)| Box::new(Expr::Int(lo))),
    };
    let compared = *random.pick(&[0, 0, 1, channel.capacity as i64]);
    let op = *random.pick(&[BinaryOp::Eq, BinaryOp::Eq, BinaryOp::Lt]);
    Expr::binary(op, Expr::Length(reference), Expr::Int(compared))
}

fn place_of_process(random: &mut Random, parts: &ModelParts) -> Expr {
    let position = random.below(parts.processes.len());
    let process = &parts.processes[position];
    let owner = match process.index {
        Some(range) => Owner::Indexed(Box::new(Expr::Int(range.lo))),
        None => Owner::Single,
    };
    let location = LocationId::new(random.below(process.locations.len()));
    Expr::At {
        process: ProcessId::new(position),
        owner,
        locations: vec![location],
    }
}

const X: VarId = VarId(0);

/// Processes that send, receive, meet and otherwise go their ways.
fn talking(random: &mut Random) -> ModelParts {
    let mut parts = ModelParts::default();
    parts.vars.push(Variable {
        name: "x".into(),
        ty: Type::Scalar(Scalar::Bool),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(0)]),
        span: Span::nowhere(),
    });
    for name in ["c", "d"].iter().take(random.below(3)) {
        parts.channels.push(Channel {
            name: (*name).into(),
            indices: None,
            capacity: *random.pick(&[0, 1, 1, 1, 2]),
            payload: vec![Scalar::Bool],
            span: Span::nowhere(),
        });
    }
    for name in ["go", "meet"].iter().take(1 + random.below(2)) {
        parts.events.push(Event {
            name: (*name).into(),
            span: Span::nowhere(),
        });
    }
    for position in 0..2 + random.below(3) {
        let process = talker(random, &parts, position);
        parts.processes.push(process);
    }
    parts
}

fn talker(random: &mut Random, parts: &ModelParts, position: usize) -> Process {
    let n_locations = 1 + random.below(3);
    let locations = (0..n_locations).map(|i| format!("l{i}")).collect();
    let name = format!("P{position}");
    let mut process = Process::new(&name, locations, vec![], Span::nowhere());
    let n_steps = n_locations + random.below(3);
    for number in 0..n_steps {
        let source = if number < n_locations {
            number
        } else {
            random.below(n_locations)
        };
        // A process that has come to its last place often stays there.
        if source + 1 == n_locations && n_locations > 1 && random.chance(30) {
            continue;
        }
        let target = if random.chance(50) {
            (source + 1) % n_locations
        } else {
            random.below(n_locations)
        };
        let names = ["a", "b", "c", "d", "e", "f"];
        let name = if random.chance(80) {
            names[number]
        } else {
            names[random.below(3)]
        };
        let (source, target) = (LocationId::new(source), LocationId::new(target));
        let mut step = Step::new(name, source, target, Span::nowhere());
        step.sync = communication(random, parts);
        step.guard = guard(random, parts);
        if random.chance(10) {
            let x = Place {
                var: X,
                owner: None,
                path: vec![],
            };
            let value = Expr::not(Expr::Read(x.clone()));
            step.effect
                .push(Stmt::new(StmtKind::Assign(x, value), Span::nowhere()));
        }
        process.steps.push(step);
    }
    process
}

fn guard(random: &mut Random, parts: &ModelParts) -> Expr {
    match random.below(10) {
        0 if !parts.channels.is_empty() => length(random, parts),
        1 => Expr::Read(Place {
            var: X,
            owner: None,
            path: vec![],
        }),
        2 if !parts.processes.is_empty() => place_of_process(random, parts),
        _ => Expr::Bool(true),
    }
}

fn communication(random: &mut Random, parts: &ModelParts) -> Sync {
    let channel = |random: &mut Random| ChannelRef {
        channel: ChannelId::new(random.below(parts.channels.len())),
        index: None,
    };
    let has_channels = !parts.channels.is_empty();
    match random.below(8) {
        0 | 1 if has_channels => Sync::Send {
            channel: channel(random),
            payload: vec![Expr::Bool(random.chance(70))],
        },
        2 | 3 if has_channels => Sync::Receive {
            channel: channel(random),
            patterns: vec![if random.chance(20) {
                Pattern::Match(Expr::Bool(true))
            } else {
                Pattern::Ignore
            }],
        },
        4 | 5 => Sync::Event {
            event: EventId::new(random.below(parts.events.len())),
            arguments: vec![],
        },
        _ => Sync::Internal,
    }
}

//! Random models and questions.
//!
//! Most models come from `testkit`. To these are added propositions about channels, places and
//! single steps, and fairness of any step. Models of processes that talk to each other and have
//! little else to do are made here: in them, most steps can wait for others, which is what
//! partial-order reduction is about.

use base::{AtomId, Fairness, Span};
use logic::{Ltl, Property, classify};
use model::{
    Annotation, AnnotationKind, Atom, AtomMeaning, BinaryOp, Channel, ChannelId, ChannelRef, Event,
    EventId, Expr, Initial, LocationId, Model, ModelParts, Owner, Pattern, Place, Process,
    ProcessId, Scalar, Step, StepPattern, Stmt, StmtKind, Sync, Target, Type, VarId, Variable,
};
use testkit::{ModelShape, Random, random_ctl_star, random_formula, random_model};

const KINDS: [&str; 11] = [
    "none",
    "just",
    "just+annotated",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "weak+annotated",
    "strong+annotated",
];

/// A random model and a question about it, and the fairness if the question is about that.
pub(crate) fn model(random: &mut Random) -> (ModelParts, Property, Option<Fairness>) {
    let mut parts = match random.below(20) {
        0..4 => random_model(random, ModelShape::Tiny).parts().clone(),
        4..7 => random_model(random, ModelShape::Rich).parts().clone(),
        7..9 => random_model(random, ModelShape::Loose).parts().clone(),
        9..13 => random_model(random, ModelShape::Alike).parts().clone(),
        _ => talking(random),
    };
    decorate(random, &mut parts);
    if random.chance(15)
        && let Some(property) = fair_choice(random, &mut parts)
    {
        return (parts, property, Fairness::parse("annotated"));
    }
    let property = property(random, parts.atoms.len());
    (parts, property, None)
}

/// Makes one of the steps of a process with which it takes part in an event fair, and asks about it
/// and another step of the process. Nothing if there are no such steps.
fn fair_choice(random: &mut Random, parts: &mut ModelParts) -> Option<Property> {
    let position = random.below(parts.processes.len());
    let process = ProcessId::new(position);
    let steps = &parts.processes[position].steps;
    let takes_part = |step: &Step| match &step.sync {
        Sync::Event { .. } => true,
        Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } => false,
    };
    let fair = (0..steps.len()).find(|step| takes_part(&steps[*step]))?;
    let other = random.below(steps.len());
    let names = [fair, other].map(|step| steps[step].name.clone());

    let kinds = [
        AnnotationKind::Weak,
        AnnotationKind::Strong,
        AnnotationKind::Strong,
    ];
    parts.annotations.push(Annotation {
        kind: *random.pick(&kinds),
        target: Target::Choice(process, fair),
        span: Span::nowhere(),
    });

    let [fair, other] = names.map(|action| {
        let pattern = StepPattern {
            process: Some(process),
            action: Some(action),
            ..StepPattern::default()
        };
        let meaning = AtomMeaning::Taken(pattern);
        let name = format!("q{}", parts.atoms.len());
        let span = Span::nowhere();
        parts.atoms.push(Atom {
            name,
            meaning,
            span,
        });
        Ltl::atom(AtomId::new(parts.atoms.len() - 1))
    });

    let often = |inner| Ltl::always(Ltl::eventually(inner));
    let never = Ltl::eventually(Ltl::always(Ltl::not(fair.clone())));
    Some(Property::Ltl(match random.below(4) {
        0 => often(fair),
        1 => Ltl::not(never),
        2 => Ltl::implies(often(other), often(fair)),
        _ => Ltl::not(Ltl::and([often(other), never])),
    }))
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
    let first = if random.chance(60) && n_atoms > 6 {
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
        let meaning = match random.below(9) {
            0..3 if !parts.channels.is_empty() => AtomMeaning::State(length(random, parts)),
            3 | 4 => AtomMeaning::Taken(step_pattern(random, parts)),
            5 | 6 => AtomMeaning::Enabled(step_pattern(random, parts)),
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
            AnnotationKind::Weak,
            AnnotationKind::Strong,
            AnnotationKind::Strong,
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

/// What a process of a talking model mostly does.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Role {
    /// Goes its way, which branches, and has nothing to do with the others.
    Wanders,
    /// Sends.
    Sends,
    /// Receives.
    Receives,
    /// Takes part in events, and makes itself ready for them.
    Meets,
}

/// Processes that send, receive, meet and otherwise go their ways. There is not much of anything, so
/// that what happens in which order matters to what is asked.
fn talking(random: &mut Random) -> ModelParts {
    let mut parts = ModelParts::default();
    parts.vars.push(Variable {
        name: "x".into(),
        ty: Type::Scalar(Scalar::Bool),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(0)]),
        span: Span::nowhere(),
    });

    let meets = random.chance(40);
    let n_channels = if meets {
        random.below(2)
    } else {
        1 + random.below(2)
    };

    for name in ["c", "d"].iter().take(n_channels) {
        parts.channels.push(Channel {
            name: (*name).into(),
            indices: None,
            capacity: *random.pick(&[0, 1, 1, 1, 1, 2]),
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

    let roles: &[Role] = match (meets, random.below(3)) {
        (true, 0) => &[Role::Meets, Role::Meets],
        (true, 1) => &[Role::Meets, Role::Meets, Role::Wanders],
        (true, _) => &[Role::Meets, Role::Meets, Role::Meets],
        (false, 0) => &[Role::Wanders, Role::Sends],
        (false, 1) => &[Role::Wanders, Role::Sends, Role::Receives],
        (false, _) => &[Role::Wanders, Role::Sends, Role::Receives, Role::Meets],
    };

    for (position, role) in roles.iter().enumerate() {
        let process = talker(random, &parts, position, *role);
        parts.processes.push(process);
    }

    parts
}

fn talker(random: &mut Random, parts: &ModelParts, position: usize, role: Role) -> Process {
    let n_locations = 1 + random.below(3);
    let locations = (0..n_locations).map(|i| format!("l{i}")).collect();
    let name = format!("P{position}");
    let mut process = Process::new(&name, locations, vec![], Span::nowhere());
    let more = if role == Role::Wanders {
        1 + random.below(2)
    } else {
        random.below(2)
    };

    for number in 0..n_locations + more {
        let source = if number < n_locations {
            number
        } else {
            random.below(n_locations)
        };
        // A process that has come to its last place often stays there.
        if source + 1 == n_locations && n_locations > 1 && random.chance(40) {
            continue;
        }
        let target = if random.chance(60) {
            (source + 1) % n_locations
        } else {
            random.below(n_locations)
        };
        let names = ["a", "b", "c", "d", "e", "f"];
        let name = if random.chance(90) {
            names[number]
        } else {
            names[random.below(3)]
        };
        let (source, target) = (LocationId::new(source), LocationId::new(target));
        let mut step = Step::new(name, source, target, Span::nowhere());
        step.sync = communication(random, parts, role);
        step.guard = guard(random, parts);
        if random.chance(5) {
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
    match random.below(24) {
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

/// What the role asks for, or sometimes anything.
fn communication(random: &mut Random, parts: &ModelParts, role: Role) -> Sync {
    let has_channels = !parts.channels.is_empty();
    let does = match (role, random.below(10)) {
        (_, 0) => *random.pick(&[Role::Sends, Role::Receives, Role::Meets]),
        (Role::Meets, 1..5) => Role::Wanders,
        (role, _) => role,
    };
    let channel = |random: &mut Random| ChannelRef {
        channel: ChannelId::new(random.below(parts.channels.len())),
        index: None,
    };

    match does {
        Role::Sends if has_channels => Sync::Send {
            channel: channel(random),
            payload: vec![Expr::Bool(random.chance(80))],
        },
        Role::Receives if has_channels => Sync::Receive {
            channel: channel(random),
            patterns: vec![if random.chance(15) {
                Pattern::Match(Expr::Bool(true))
            } else {
                Pattern::Ignore
            }],
        },
        Role::Meets => Sync::Event {
            event: EventId::new(random.below(parts.events.len())),
            arguments: vec![],
        },
        Role::Wanders | Role::Sends | Role::Receives => Sync::Internal,
    }
}

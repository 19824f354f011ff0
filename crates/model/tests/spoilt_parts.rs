//! Random models with random faults: an error or a model, never a panic.
//!
//! Where the parts still make up a model, its reference semantics is tried, too: whatever it relies on
//! must have been checked.

use base::{AtomId, Fairness, Span};
use model::*;
use testkit::{ModelShape, Random, cases, random_model};

const SHAPES: [ModelShape; 5] = [
    ModelShape::Tiny,
    ModelShape::Rich,
    ModelShape::Wide,
    ModelShape::Loose,
    ModelShape::Alike,
];

#[test]
fn spoilt_parts_do_not_panic() {
    let (mut n_models, mut n_errors) = (0, 0);
    for seed in 0..cases(10_000) {
        let mut random = Random::new(u64::from(seed));
        let shape = SHAPES[seed as usize % SHAPES.len()];
        let mut parts = random_model(&mut random, shape).parts().clone();
        for _ in 0..1 + random.below(3) {
            spoil(&mut random, &mut parts);
        }
        match parts.finish() {
            Err(error) => {
                assert!(!error.code.is_empty() && !error.message.is_empty());
                n_errors += 1;
            }
            Ok(model) => {
                n_models += 1;
                if can_be_run(&model) {
                    run(&model);
                }
            }
        }
    }

    // Both happen: the faults are not all harmless, and the checks do not refuse everything.
    assert!(n_errors > 0 || cases(10_000) < 100);
    assert!(n_models > 0 || cases(10_000) < 100);
}

/// Are there few initial states, and is there not a loop that may not end?
fn can_be_run(model: &Model) -> bool {
    let mut n_states = 1_i128;
    for (position, cell) in model.cells().iter().enumerate() {
        if model.parts().vars[cell.var.index()].initial == Initial::Any {
            let (lo, hi) = model.cells()[position].ty.bounds();
            n_states = n_states.saturating_mul(i128::from(hi) - i128::from(lo) + 1);
        }
    }
    for instance in 0..model.instances().len() {
        n_states = n_states.saturating_mul(model.initial_locations(instance).len() as i128);
    }
    let mut loops = false;
    for step in model.parts().processes.iter().flat_map(|p| &p.steps) {
        Stmt::walk_all(&step.effect, &mut |statement| {
            // shape: other statements end.
            loops |= matches!(statement, StmtKind::While(..) | StmtKind::For(..));
        });
    }
    let is_bounded = model.cells().iter().all(|cell| cell.ty.bounds().1 < 1000);
    n_states < 2000 && !loops && is_bounded && model.cells().len() < 1000
}

/// The reference semantics near the initial states.
fn run(model: &Model) {
    for name in ["none", "weak", "strong-process+annotated"] {
        if let Some(fairness) = Fairness::parse(name) {
            let _ = model.fairness_conditions(fairness);
        }
    }

    let Ok(initial) = model.initial_states() else {
        return;
    };
    for state in initial.iter().take(2) {
        let _ = model.is_initial(state);
        let Ok(steps) = model.successors(state) else {
            continue;
        };
        for step in steps.iter().take(3) {
            let _ = model.successors(&step.target);
            for atom in 0..model.parts().atoms.len() {
                let atom = AtomId::new(atom);
                let _ = model.atom_holds(atom, &step.target, &step.commands);
            }
        }
    }
}

/// One random fault. It may turn out to be harmless.
fn spoil(random: &mut Random, parts: &mut ModelParts) {
    match random.below(10) {
        0..=3 => spoil_expr(random, parts),
        4 => spoil_variable(random, parts),
        5 => spoil_channel(random, parts),
        6 => spoil_process(random, parts),
        7 => spoil_step(random, parts),
        8 => spoil_lists(random, parts),
        _ => spoil_references(random, parts),
    }
}

/// A small number, one that is often too large included.
fn id(random: &mut Random) -> u32 {
    *random.pick(&[0, 0, 1, 1, 2, 3, 5, 9, u32::MAX])
}

fn number(random: &mut Random) -> i64 {
    random.below(7) as i64 - 2
}

/// A number that must not be counted up to.
fn extreme(random: &mut Random) -> i64 {
    *random.pick(&[i64::MIN, -1, 0, 1, 2, 1 << 40, 1 << 62, i64::MAX])
}

fn some_expr(random: &mut Random) -> Expr {
    let inner = Box::new(Expr::Int(number(random)));
    match random.below(11) {
        0 => Expr::Int(number(random)),
        1 => Expr::Bool(random.chance(50)),
        2 => Expr::Enum(EnumId(id(random)), id(random)),
        3 => Expr::Bound(BoundId(id(random))),
        4 => Expr::Not(inner),
        5 => Expr::Neg(Box::new(Expr::Bool(true))),
        6 => Expr::Wrap {
            bits: random.below(70) as u8,
            signed: random.chance(50),
            inner,
        },
        7 => Expr::At {
            process: ProcessId(id(random)),
            owner: some_owner(random),
            locations: vec![LocationId(id(random))],
        },
        8 => Expr::Length(some_channel(random)),
        9 => Expr::Quantified {
            quantifier: *random.pick(&[Quantifier::Forall, Quantifier::Exists, Quantifier::Sum]),
            bound: BoundId(id(random)),
            lo: inner.clone(),
            hi: inner,
            body: Box::new(Expr::Bound(BoundId(id(random)))),
        },
        _ => Expr::Read(some_place(random)),
    }
}

fn some_owner(random: &mut Random) -> Owner {
    match random.below(3) {
        0 => Owner::Own,
        1 => Owner::Single,
        _ => Owner::Indexed(Box::new(Expr::Int(number(random)))),
    }
}

fn some_place(random: &mut Random) -> Place {
    let owner = random.chance(40).then(|| some_owner(random));
    let access = |random: &mut Random| {
        if random.chance(60) {
            Access::Index(Expr::Int(number(random)))
        } else {
            Access::Field(random.below(3))
        }
    };
    Place {
        var: VarId(id(random)),
        owner,
        path: (0..random.below(3)).map(|_| access(random)).collect(),
    }
}

fn some_channel(random: &mut Random) -> ChannelRef {
    ChannelRef {
        channel: ChannelId(id(random)),
        index: random
            .chance(50)
            .then(|| Box::new(Expr::Int(number(random)))),
    }
}

fn some_type(random: &mut Random) -> Type {
    match random.below(7) {
        0 => Type::Scalar(Scalar::Bool),
        1 => Type::Scalar(Scalar::Range(extreme(random), extreme(random))),
        2 => Type::Scalar(Scalar::Int),
        3 => Type::Scalar(Scalar::Enum(EnumId(id(random)), id(random))),
        4 => Type::Record(RecordId(id(random))),
        _ => Type::Array(Box::new(ArrayType {
            lo: extreme(random),
            len: *random.pick(&[0, 1, 2, 1 << 40, 1 << 62, usize::MAX]),
            element: some_type(random),
        })),
    }
}

/// Replaces one expression, at any depth, by another: one of the model or a new one.
fn spoil_expr(random: &mut Random, parts: &mut ModelParts) {
    let mut found = Vec::new();
    parts.for_each_operand(&mut |expr| expr.walk(&mut |inner| found.push(inner.clone())));
    if found.is_empty() {
        return;
    }
    let chosen = random.below(found.len());
    let new = if random.chance(40) {
        random.pick(&found).clone()
    } else {
        some_expr(random)
    };
    let mut position = 0;
    parts.for_each_operand_mut(&mut |expr| {
        expr.walk_mut(&mut |inner| {
            if position == chosen {
                *inner = new.clone();
            }
            position += 1;
        });
    });
}

fn spoil_variable(random: &mut Random, parts: &mut ModelParts) {
    if parts.vars.is_empty() {
        return;
    }
    let position = random.below(parts.vars.len());
    let variable = &mut parts.vars[position];
    match random.below(4) {
        0 => variable.ty = some_type(random),
        1 => variable.owner = random.chance(70).then(|| ProcessId(id(random))),
        2 => variable.initial = Initial::Any,
        _ => {
            let values = (0..random.below(4)).map(|_| some_expr(random)).collect();
            variable.initial = Initial::Values(values);
        }
    }
}

fn spoil_channel(random: &mut Random, parts: &mut ModelParts) {
    if parts.channels.is_empty() {
        parts.channels.push(Channel {
            name: "new".into(),
            indices: None,
            capacity: 0,
            payload: vec![],
            span: Span::nowhere(),
        });
    }
    let position = random.below(parts.channels.len());
    let channel = &mut parts.channels[position];
    match random.below(5) {
        0 => channel.indices = Some((extreme(random), extreme(random))),
        1 => channel.indices = None,
        2 => channel.capacity = *random.pick(&[0, 1, 1 << 40, usize::MAX]),
        3 => channel.payload.push(Scalar::Enum(EnumId(id(random)), 2)),
        _ => {
            channel.payload.pop();
        }
    }
}

fn spoil_process(random: &mut Random, parts: &mut ModelParts) {
    let position = random.below(parts.processes.len());
    let process = &mut parts.processes[position];
    match random.below(5) {
        0 => {
            process.index = random.chance(70).then(|| IndexRange {
                bound: BoundId(id(random)),
                lo: extreme(random),
                hi: extreme(random),
            });
        }
        1 => process.locations.truncate(random.below(2)),
        2 => process.initial.clear(),
        3 => process.initial.push(LocationId(id(random))),
        _ => {
            process.steps.pop();
        }
    }
}

fn spoil_step(random: &mut Random, parts: &mut ModelParts) {
    let steps: Vec<Step> = parts
        .processes
        .iter()
        .flat_map(|p| p.steps.clone())
        .collect();
    let position = random.below(parts.processes.len());
    let process = &mut parts.processes[position];
    if steps.is_empty() || process.steps.is_empty() {
        return;
    }
    let other = random.pick(&steps).clone();
    let number = random.below(process.steps.len());
    let step = &mut process.steps[number];

    match random.below(10) {
        0 => step.source = LocationId(id(random)),
        1 => step.target = LocationId(id(random)),
        2 => step.effect = other.effect,
        3 => step.guard = other.guard,
        4 => step.sync = other.sync,
        5 => step.parameters = other.parameters,
        6 => step.parameters.push(Parameter {
            bound: BoundId(id(random)),
            lo: Expr::Int(extreme(random)),
            hi: Expr::Int(extreme(random)),
        }),
        7 => step.sync = some_sync(random),
        8 => step
            .effect
            .push(Stmt::new(some_statement(random), Span::nowhere())),
        _ => step.condition = some_expr(random),
    }
}

fn some_sync(random: &mut Random) -> Sync {
    match random.below(3) {
        0 => Sync::Send {
            channel: some_channel(random),
            payload: (0..random.below(3)).map(|_| some_expr(random)).collect(),
        },
        1 => Sync::Receive {
            channel: some_channel(random),
            patterns: (0..random.below(3))
                .map(|_| match random.below(3) {
                    0 => Pattern::Match(some_expr(random)),
                    1 => Pattern::Store(some_place(random)),
                    _ => Pattern::Ignore,
                })
                .collect(),
        },
        _ => Sync::Event {
            event: EventId(id(random)),
            arguments: (0..random.below(3)).map(|_| some_expr(random)).collect(),
        },
    }
}

fn some_statement(random: &mut Random) -> StmtKind {
    let bound = BoundId(id(random));
    match random.below(8) {
        0 => StmtKind::Assign(some_place(random), some_expr(random)),
        1 => StmtKind::Let(bound, some_expr(random)),
        2 => StmtKind::Set(bound, some_expr(random)),
        3 => StmtKind::Choose(
            bound,
            Expr::Int(number(random)),
            Expr::Int(number(random)),
            some_expr(random),
        ),
        4 => StmtKind::SetTimer(some_place(random), Setting::Any),
        5 => StmtKind::SetTimer(some_place(random), Setting::To(some_expr(random))),
        6 => StmtKind::Tick,
        _ => StmtKind::Assert(some_expr(random)),
    }
}

/// Makes a list shorter, so that ids that were right are not, or turns it round.
fn spoil_lists(random: &mut Random, parts: &mut ModelParts) {
    match random.below(10) {
        0 => drop(parts.vars.pop()),
        1 => parts.vars.reverse(),
        2 => drop(parts.channels.pop()),
        3 => parts.channels.reverse(),
        4 => parts.events.clear(),
        5 => parts.processes.reverse(),
        6 => parts.bounds.truncate(random.below(3)),
        7 => parts.atoms.truncate(random.below(4)),
        8 => parts.enums.clear(),
        _ => parts.records.push(RecordType {
            name: "R".into(),
            fields: vec![
                ("f".into(), some_type(random)),
                ("g".into(), some_type(random)),
            ],
            form: match random.below(4) {
                0 => RecordForm::Sequence,
                1 => RecordForm::Set(some_type(random)),
                2 => RecordForm::Bag(some_type(random)),
                _ => RecordForm::Map(some_type(random)),
            },
        }),
    }
}

fn spoil_references(random: &mut Random, parts: &mut ModelParts) {
    let pattern = StepPattern {
        process: random.chance(50).then(|| ProcessId(id(random))),
        event: random.chance(50).then(|| EventId(id(random))),
        ..StepPattern::default()
    };
    let atom = |meaning| Atom {
        name: "new".into(),
        meaning,
        span: Span::nowhere(),
    };
    let target = match random.below(5) {
        0 => Target::Process(ProcessId(id(random))),
        1 => Target::Action(ProcessId(id(random)), "a".into()),
        2 => Target::Event(EventId(id(random))),
        3 => Target::Subject(Subject::Action(ActionId(id(random)))),
        _ => Target::Choice(ProcessId(id(random)), random.below(5)),
    };

    match random.below(10) {
        0 => parts.atoms.push(atom(AtomMeaning::Taken(pattern))),
        1 => parts.atoms.push(atom(AtomMeaning::Enabled(pattern))),
        2 => parts
            .atoms
            .push(atom(AtomMeaning::TimerSet(random.below(9)))),
        3 => parts
            .atoms
            .push(atom(AtomMeaning::Certainly(some_expr(random), true))),
        4 => parts
            .assumptions
            .push(Assumption::Infinitely(AtomId(id(random)), true)),
        5 => parts.annotations.push(Annotation {
            kind: AnnotationKind::Weak,
            target,
            span: Span::nowhere(),
        }),
        6 => parts.control = Some(VarId(id(random))),
        7 => parts.timers.push(Timer {
            var: VarId(id(random)),
            threshold: random.chance(50).then(|| extreme(random)),
            limit: extreme(random),
            any: random.chance(50).then(|| (number(random), extreme(random))),
            stretched_from: random.chance(50).then(|| extreme(random)),
        }),
        8 => parts.clock = None,
        _ => parts.composition = Composition::Synchronous,
    }
}

//! Parts that do not fit together, one kind of fault after the other: an error with its code.

mod wrong;

use base::AtomId;
use model::*;
use wrong::*;

/// The code of the error that a change of valid parts makes.
fn code(change: impl FnOnce(&mut ModelParts)) -> &'static str {
    let mut parts = valid();
    change(&mut parts);
    match parts.finish() {
        Ok(_) => "no error",
        Err(error) => {
            assert!(!error.message.is_empty());
            error.code
        }
    }
}

/// The code if the guard of the first step is this.
fn guard(guard: Expr) -> &'static str {
    code(|parts| parts.processes[0].steps[0].guard = guard)
}

/// The code if an atom says this.
fn atom(meaning: AtomMeaning) -> &'static str {
    code(|parts| parts.atoms[0].meaning = meaning)
}

/// The code if the first step does this.
fn effect(effect: Vec<StmtKind>) -> &'static str {
    code(|parts| {
        parts.processes[0].steps[0].effect = effect.into_iter().map(stmt).collect();
    })
}

/// The code if the single process does this.
fn sync(sync: Sync) -> &'static str {
    code(|parts| parts.processes[1].steps[1].sync = sync)
}

/// The code if a variable has this type.
fn ty(ty: Type) -> &'static str {
    code(|parts| parts.vars[0].ty = ty)
}

fn reads(var: VarId, owner: Option<Owner>, path: Vec<Access>) -> &'static str {
    let value = Expr::Read(place(var, owner, path));
    guard(Expr::binary(BinaryOp::Eq, value, Expr::Int(0)))
}

fn at(process: ProcessId, owner: Owner, location: u32) -> &'static str {
    guard(Expr::At {
        process,
        owner,
        locations: vec![LocationId(location)],
    })
}

fn forall(bound: BoundId, hi: Expr, body: Expr) -> Expr {
    Expr::Quantified {
        quantifier: Quantifier::Forall,
        bound,
        lo: Box::new(Expr::Int(0)),
        hi: Box::new(hi),
        body: Box::new(body),
    }
}

fn one(channel: u32, index: Option<Expr>) -> ChannelRef {
    ChannelRef {
        channel: ChannelId(channel),
        index: index.map(Box::new),
    }
}

#[test]
fn valid_parts_are_valid() {
    let model = valid().finish().expect("valid parts");
    let initial = model.initial_states().expect("initial states have values");
    assert_eq!(initial.len(), 1);
    assert!(!model.successors(&initial[0]).expect("steps").is_empty());
    assert_eq!(code(|_| {}), "no error");
}

#[test]
fn declarations() {
    assert_eq!(ty(Type::Scalar(Scalar::Range(3, 1))), "empty-range");
    assert_eq!(ty(Type::Scalar(Scalar::Enum(EnumId(9), 2))), "unknown-enum");
    assert_eq!(ty(Type::Scalar(Scalar::Enum(EnumId(0), 3))), "enum-size");
    assert_eq!(ty(Type::Scalar(Scalar::Enum(EnumId(0), 0))), "enum-size");
    assert_eq!(ty(Type::Record(RecordId(7))), "unknown-record");

    let scalar = || Type::Scalar(Scalar::Bool);
    assert_eq!(ty(array_of(1 << 62, scalar())), "too-many-cells");
    assert_eq!(ty(array_of(usize::MAX, scalar())), "array-too-long");

    let nested = array_of(1 << 40, array_of(1 << 40, array_of(1 << 40, scalar())));
    assert_eq!(ty(nested), "too-many-cells");
    let deep = (0..1000).fold(scalar(), |inner, _| array_of(1, inner));
    assert_eq!(ty(deep), "type-too-deep");

    let recursive = |parts: &mut ModelParts| {
        parts.records[0].fields[0].1 = array_of(0, Type::Record(RecordId(0)));
    };
    assert_eq!(code(recursive), "recursive-record");

    let owner = |parts: &mut ModelParts| parts.vars[4].owner = Some(ProcessId(9));
    assert_eq!(code(owner), "unknown-process");
    let unbounded = |parts: &mut ModelParts| {
        parts.vars[0].ty = Type::Scalar(Scalar::Int);
        parts.vars[0].initial = Initial::Any;
    };
    assert_eq!(code(unbounded), "unbounded-start");

    let count = |parts: &mut ModelParts| parts.vars[2].initial = Initial::Values(vec![]);
    assert_eq!(code(count), "initial-count");
    let initial = |value: Expr| {
        code(|parts: &mut ModelParts| parts.vars[1].initial = Initial::Values(vec![value]))
    };
    assert_eq!(initial(Expr::Int(2)), "wrong-type");
    assert_eq!(initial(Expr::Bound(INDEX)), "unbound");
    assert_eq!(initial(read(X)), "state-in-initial");

    let indices = |range| code(|parts: &mut ModelParts| parts.channels[0].indices = Some(range));
    assert_eq!(indices((1, 0)), "empty-range");
    assert_eq!(indices((i64::MIN, i64::MAX)), "too-many-channels");

    let capacity = |parts: &mut ModelParts| parts.channels[0].capacity = usize::MAX;
    assert_eq!(code(capacity), "channel-capacity");
    let payload = |parts: &mut ModelParts| parts.channels[0].payload[0] = Scalar::Range(1, 0);
    assert_eq!(code(payload), "empty-range");

    // The first process has two instances.
    let dimensions = |dimensions: &[(i64, i64)]| {
        let dimensions = dimensions.to_vec();
        code(|parts: &mut ModelParts| parts.processes[0].dimensions = dimensions)
    };
    assert_eq!(dimensions(&[(0, 1), (5, 5)]), "no error");
    assert_eq!(dimensions(&[(0, 1), (0, 1)]), "process-dimensions");
    assert_eq!(dimensions(&[(1, 0)]), "process-dimensions");
    assert_eq!(
        dimensions(&[(i64::MIN, i64::MAX), (0, 1)]),
        "process-dimensions"
    );
}

/// Records in records grow exponentially, even without a single cell.
#[test]
fn nested_records() {
    let nested = |innermost: Vec<(String, Type)>| {
        code(|parts| {
            let record = |fields| RecordType {
                name: "R".into(),
                fields,
                form: model::RecordForm::Components,
            };
            parts.records.push(record(innermost));
            for position in 1..60 {
                let field = || ("f".to_owned(), Type::Record(RecordId(position)));
                parts.records.push(record(vec![field(), field()]));
            }
            parts.vars[0].ty = Type::Record(RecordId(60));
            parts.vars[0].initial = Initial::Values(vec![]);
        })
    };
    assert_eq!(nested(vec![]), "too-many-cells");
    assert_eq!(
        nested(vec![("b".into(), Type::Scalar(Scalar::Bool))]),
        "too-many-cells"
    );
}

#[test]
fn processes() {
    let family = |lo, hi| {
        let bound = INDEX;
        code(|parts| parts.processes[0].index = Some(IndexRange { bound, lo, hi }))
    };
    assert_eq!(family(0, 1 << 40), "too-many-instances");
    assert_eq!(family(i64::MIN, i64::MAX), "too-many-instances");
    assert_eq!(
        code(|parts| parts.processes[0].initial.clear()),
        "no-initial-location"
    );
    assert_eq!(
        code(|parts| parts.processes[0].initial[0] = LocationId(2)),
        "unknown-location"
    );
    assert_eq!(
        code(|parts| parts.processes[0].steps[0].source = LocationId(2)),
        "unknown-location"
    );
    assert_eq!(
        code(|parts| parts.processes[0].steps[0].target = LocationId(2)),
        "unknown-location"
    );

    let parameter = |lo, hi| {
        code(|parts| {
            let parameter = &mut parts.processes[0].steps[0].parameters[0];
            (parameter.lo, parameter.hi) = (lo, hi);
        })
    };

    assert_eq!(parameter(Expr::Int(0), read(X)), "state-in-parameter");
    assert_eq!(parameter(Expr::Int(0), Expr::Bound(PARAMETER)), "unbound");
    let (least, greatest) = (Expr::Int(i64::MIN), Expr::Int(i64::MAX));
    assert_eq!(parameter(least, greatest), "too-many-actions");

    let by_zero = Expr::binary(BinaryOp::Div, Expr::Int(1), Expr::Int(0));
    assert_eq!(parameter(Expr::Int(0), by_zero), "static-value");
    assert_eq!(
        code(|parts| parts.processes[0].steps[0].parameters[0].bound = INDEX),
        "bound-twice"
    );
    assert_eq!(
        code(|parts| parts.processes[0].steps[0].condition = Expr::Int(2)),
        "wrong-type"
    );
    assert_eq!(
        code(|parts| parts.composition = Composition::Synchronous),
        "synchronous-partners"
    );
}

#[test]
fn expressions() {
    let binary = |op, left, right| guard(Expr::binary(op, left, right));
    assert_eq!(guard(Expr::Int(2)), "wrong-type");
    assert_eq!(guard(Expr::Not(Box::new(read(X)))), "wrong-type");
    assert_eq!(guard(Expr::Neg(Box::new(Expr::Bool(true)))), "wrong-type");
    assert_eq!(
        binary(BinaryOp::And, Expr::Bool(true), read(X)),
        "wrong-type"
    );
    assert_eq!(binary(BinaryOp::Lt, read(X), read(COLOUR)), "wrong-type");
    assert_eq!(
        binary(BinaryOp::Eq, read(COLOUR), Expr::Int(2)),
        "wrong-type"
    );

    let sum = Expr::binary(BinaryOp::Add, Expr::Int(1), read(COLOUR));
    assert_eq!(binary(BinaryOp::Eq, sum, Expr::Int(1)), "wrong-type");
    let cases = [Expr::Bool(true), Expr::Bool(true), read(X)].map(Box::new);
    let [condition, then, otherwise] = cases;
    assert_eq!(guard(Expr::Ite(condition, then, otherwise)), "wrong-type");

    assert_eq!(guard(forall(NAME, Expr::Int(1), read(X))), "wrong-type");
    let ends = forall(NAME, Expr::Enum(EnumId(0), 1), Expr::Bool(true));
    assert_eq!(guard(ends), "no error");

    let ends = forall(NAME, Expr::Bool(true), Expr::Bool(true));
    assert_eq!(guard(ends), "no error");
    let shadowing = forall(INDEX, Expr::Int(1), Expr::Bool(true));
    assert_eq!(guard(shadowing), "bound-twice");

    let unnamed = forall(BoundId(99), Expr::Int(1), Expr::Bool(true));
    assert_eq!(guard(unnamed), "unknown-bound");
    assert_eq!(guard(Expr::Bound(OTHER)), "unbound");
    assert_eq!(guard(Expr::Bound(BoundId(99))), "unknown-bound");

    assert_eq!(
        binary(BinaryOp::Eq, read(COLOUR), Expr::Enum(EnumId(0), 2)),
        "unknown-variant"
    );
    assert_eq!(
        binary(BinaryOp::Eq, read(COLOUR), Expr::Enum(EnumId(3), 0)),
        "unknown-enum"
    );

    for (bits, signed) in [(0, false), (64, false), (65, true), (255, true)] {
        let inner = Box::new(read(X));
        let word = Expr::Wrap {
            bits,
            signed,
            inner,
        };
        assert_eq!(binary(BinaryOp::Eq, word, Expr::Int(0)), "wrap-bits");
    }
}

#[test]
fn places() {
    let index = |value| vec![Access::Index(value)];
    assert_eq!(reads(VarId(77), None, vec![]), "unknown-variable");
    assert_eq!(reads(X, Some(Owner::Own), vec![]), "owner-of-global");
    assert_eq!(reads(LOCAL, None, vec![]), "owner-missing");
    assert_eq!(
        reads(LOCAL, Some(Owner::Single), vec![]),
        "single-of-family"
    );
    assert_eq!(reads(ARRAY, None, vec![]), "not-a-scalar");
    assert_eq!(reads(PAIR, None, vec![]), "not-a-scalar");
    assert_eq!(reads(X, None, index(Expr::Int(0))), "not-an-array");
    assert_eq!(reads(PAIR, None, index(Expr::Int(0))), "not-an-array");
    assert_eq!(reads(ARRAY, None, index(Expr::Bool(true))), "no error");
    assert_eq!(reads(ARRAY, None, index(read(COLOUR))), "no error");
    assert_eq!(reads(ARRAY, None, index(read(ARRAY))), "not-a-scalar");
    assert_eq!(reads(X, None, vec![Access::Field(0)]), "not-a-record");
    assert_eq!(reads(PAIR, None, vec![Access::Field(2)]), "unknown-field");

    let indexed = |value: Expr| Some(Owner::Indexed(Box::new(value)));
    assert_eq!(reads(LOCAL, indexed(Expr::Int(7)), vec![]), "no error");
    assert_eq!(reads(LOCAL, indexed(read(COLOUR)), vec![]), "no error");
    assert_eq!(reads(LOCAL, indexed(read(PAIR)), vec![]), "not-a-scalar");

    assert_eq!(at(ProcessId(5), Owner::Single, 0), "unknown-process");
    assert_eq!(at(FAMILY, Owner::Own, 2), "unknown-location");
    assert_eq!(at(SINGLE, Owner::Own, 0), "own-outside");
    assert_eq!(at(FAMILY, Owner::Single, 0), "single-of-family");

    let index = Owner::Indexed(Box::new(Expr::Int(0)));
    assert_eq!(at(SINGLE, index, 0), "index-of-single");
    let own = Expr::At {
        process: FAMILY,
        owner: Owner::Own,
        locations: vec![],
    };
    assert_eq!(atom(AtomMeaning::State(own)), "own-outside");
}

#[test]
fn effects() {
    let chosen = |hi: Expr| StmtKind::Choose(NAME, Expr::Int(0), hi, Expr::Bool(true));
    let set = |value| StmtKind::Set(NAME, value);
    let named = |value| StmtKind::Let(NAME, value);
    let assigned = || StmtKind::Assign(global(X), Expr::Bound(NAME));
    assert_eq!(
        effect(vec![StmtKind::Assign(global(X), read(COLOUR))]),
        "wrong-type"
    );
    assert_eq!(effect(vec![assigned()]), "unbound");
    assert_eq!(effect(vec![set(Expr::Int(1))]), "unbound");
    assert_eq!(
        effect(vec![chosen(Expr::Int(1)), set(Expr::Int(1))]),
        "set-of-constant"
    );
    assert_eq!(
        effect(vec![named(Expr::Int(1)), set(read(COLOUR))]),
        "wrong-type"
    );
    assert_eq!(
        effect(vec![StmtKind::Set(BoundId(50), Expr::Int(0))]),
        "unknown-bound"
    );

    let ends = StmtKind::Choose(NAME, read(X), read(COLOUR), Expr::Bool(true));
    assert_eq!(effect(vec![ends]), "wrong-type");

    let inside = StmtKind::If(Expr::Bool(true), vec![stmt(named(Expr::Int(1)))], vec![]);
    assert_eq!(effect(vec![inside, assigned()]), "unbound");
    let known = StmtKind::While(Expr::Bool(false), vec![stmt(assigned())]);
    assert_eq!(effect(vec![named(Expr::Int(1)), known]), "no error");

    let again = StmtKind::If(Expr::Bool(true), vec![stmt(named(Expr::Int(1)))], vec![]);
    assert_eq!(effect(vec![named(Expr::Int(1)), again]), "bound-twice");
    let counted = |body| StmtKind::For(NAME, Expr::Int(0), Expr::Int(1), body);
    assert_eq!(effect(vec![counted(vec![]), assigned()]), "unbound");
    assert_eq!(
        effect(vec![counted(vec![stmt(set(Expr::Int(0)))])]),
        "set-of-constant"
    );
    assert_eq!(effect(vec![StmtKind::Assert(read(X))]), "wrong-type");
    assert_eq!(effect(vec![StmtKind::While(read(X), vec![])]), "wrong-type");
}

#[test]
fn partners() {
    let send = |channel, payload| sync(Sync::Send { channel, payload });
    let receive = |channel, patterns| sync(Sync::Receive { channel, patterns });
    let message = || vec![Expr::Int(0), Expr::Bool(true)];
    assert_eq!(send(one(1, None), message()), "no error");
    assert_eq!(send(one(2, None), message()), "unknown-channel");
    assert_eq!(send(one(0, None), message()), "channel-index");
    assert_eq!(send(one(1, Some(Expr::Int(0))), message()), "channel-index");
    assert_eq!(send(one(0, Some(read(COLOUR))), message()), "wrong-type");
    assert_eq!(send(one(1, None), vec![Expr::Int(0)]), "message-arity");
    assert_eq!(send(one(1, None), vec![]), "message-arity");
    assert_eq!(
        send(one(1, None), vec![Expr::Int(0), read(X)]),
        "wrong-type"
    );
    assert_eq!(
        receive(one(1, None), vec![Pattern::Ignore]),
        "message-arity"
    );

    let wrong = |first| receive(one(1, None), vec![first, Pattern::Ignore]);
    assert_eq!(wrong(Pattern::Match(read(COLOUR))), "wrong-type");
    assert_eq!(wrong(Pattern::Store(global(COLOUR))), "wrong-type");
    assert_eq!(wrong(Pattern::Store(global(ARRAY))), "not-a-scalar");

    let event = |event, arguments| sync(Sync::Event { event, arguments });
    assert_eq!(event(EventId(8), vec![]), "unknown-event");
    assert_eq!(event(EventId(0), vec![read(X)]), "state-in-argument");
    assert_eq!(event(EventId(0), vec![Expr::Bound(NAME)]), "unbound");

    let length = Expr::Length(one(5, None));
    assert_eq!(
        guard(Expr::binary(BinaryOp::Eq, length, Expr::Int(0))),
        "unknown-channel"
    );
}

#[test]
fn time_and_control() {
    let timer = |change: fn(&mut Timer)| code(|parts| change(&mut parts.timers[0]));
    assert_eq!(timer(|timer| timer.var = VarId(70)), "unknown-variable");
    assert_eq!(timer(|timer| timer.var = PAIR), "timer-type");
    assert_eq!(timer(|timer| timer.threshold = Some(0)), "timer-threshold");
    assert_eq!(timer(|timer| timer.any = Some((-7, 3))), "timer-settings");
    assert_eq!(
        timer(|timer| timer.any = Some((0, i64::MAX))),
        "timer-settings"
    );
    assert_eq!(timer(|timer| timer.threshold = None), "timer-settings");
    assert_eq!(
        code(|parts| parts.timers.push(parts.timers[0].clone())),
        "timer-twice"
    );
    assert_eq!(code(|parts| parts.clock = None), "clock-without-timers");
    assert_eq!(code(|parts| parts.timers.clear()), "clock-without-timers");

    let clock = |event, tick| code(|parts| parts.clock = Some(Clock { event, tick }));
    assert_eq!(clock(EventId(9), AtomId(0)), "unknown-event");
    assert_eq!(clock(EventId(0), AtomId(9)), "unknown-atom");

    let set = |var| effect(vec![StmtKind::SetTimer(global(var), Setting::Any)]);
    assert_eq!(set(X), "not-a-timer");
    assert_eq!(set(VarId(70)), "unknown-variable");

    let to = Setting::To(read(COLOUR));
    assert_eq!(
        effect(vec![StmtKind::SetTimer(global(TIMER), to)]),
        "wrong-type"
    );

    let control = |var| code(|parts| parts.control = Some(var));
    assert_eq!(control(VarId(70)), "unknown-variable");
    for var in [X, COLOUR, ARRAY, PAIR, LOCAL] {
        assert_eq!(control(var), "control-type");
    }
    let wide = |parts: &mut ModelParts| {
        parts.vars[CONTROL.index()].ty = Type::Scalar(Scalar::Range(-1, i64::MAX));
    };
    assert_eq!(code(wide), "control-type");
}

#[test]
fn propositions_and_fairness() {
    let process = |id| StepPattern {
        process: Some(ProcessId(id)),
        ..StepPattern::default()
    };
    let event = |id| StepPattern {
        event: Some(EventId(id)),
        ..StepPattern::default()
    };
    assert_eq!(atom(AtomMeaning::Taken(process(4))), "unknown-process");
    assert_eq!(atom(AtomMeaning::Enabled(event(4))), "unknown-event");
    assert_eq!(atom(AtomMeaning::TimerSet(1000)), "unknown-cell");
    assert_eq!(atom(AtomMeaning::State(read(X))), "wrong-type");
    assert_eq!(atom(AtomMeaning::Certainly(read(X), true)), "wrong-type");
    assert_eq!(atom(AtomMeaning::State(Expr::Bound(INDEX))), "unbound");
    assert_eq!(code(|parts| parts.init.push(read(X))), "wrong-type");

    let target = |target| code(|parts| parts.annotations[0].target = target);
    assert_eq!(target(Target::Process(ProcessId(9))), "unknown-process");
    assert_eq!(
        target(Target::Action(ProcessId(9), "work".into())),
        "unknown-process"
    );
    assert_eq!(target(Target::Event(EventId(9))), "unknown-event");
    assert_eq!(target(Target::Choice(FAMILY, 2)), "unknown-step");
    assert_eq!(target(Target::Choice(ProcessId(9), 0)), "unknown-process");

    let nested = Assumption::Any(vec![Assumption::Eventually(AtomId(50), false)]);
    assert_eq!(code(|parts| parts.assumptions.push(nested)), "unknown-atom");
}

#[test]
fn may_must_systems() {
    let system = |change: fn(&mut MayMustParts)| {
        let mut parts = MayMustParts {
            name: "A".into(),
            states: vec!["s".into(), "t".into()],
            initial: vec![0],
            propositions: vec![Proposition {
                name: "p".into(),
                values: vec![None; 2],
            }],
            free: vec![(0, 1)],
            constrained: vec![(1, 0)],
            span: nowhere(),
        };
        change(&mut parts);
        parts
            .finish()
            .map_or_else(|error| error.code, |_| "no error")
    };

    assert_eq!(system(|_| {}), "no error");
    assert_eq!(system(|parts| parts.initial[0] = 2), "unknown-state");
    assert_eq!(system(|parts| parts.free[0].0 = 2), "unknown-state");
    assert_eq!(system(|parts| parts.constrained[0].1 = 2), "unknown-state");
    assert_eq!(system(|parts| parts.states.clear()), "unknown-state");
    assert_eq!(
        system(|parts| parts.propositions[0].values.clear()),
        "proposition-values"
    );
}

//! A model that has something of everything, to be spoilt in one place.

use base::{AtomId, Span};
use model::*;

pub const X: VarId = VarId(0);
pub const COLOUR: VarId = VarId(1);
pub const ARRAY: VarId = VarId(2);
pub const PAIR: VarId = VarId(3);
pub const LOCAL: VarId = VarId(4);
pub const TIMER: VarId = VarId(5);
pub const CONTROL: VarId = VarId(6);

pub const FAMILY: ProcessId = ProcessId(0);
pub const SINGLE: ProcessId = ProcessId(1);

pub const INDEX: BoundId = BoundId(0);
pub const PARAMETER: BoundId = BoundId(1);
pub const NAME: BoundId = BoundId(2);
pub const OTHER: BoundId = BoundId(3);

pub fn nowhere() -> Span {
    Span::nowhere()
}

pub fn place(var: VarId, owner: Option<Owner>, path: Vec<Access>) -> Place {
    Place { var, owner, path }
}

pub fn global(var: VarId) -> Place {
    place(var, None, vec![])
}

pub fn read(var: VarId) -> Expr {
    Expr::Read(global(var))
}

pub fn stmt(kind: StmtKind) -> Stmt {
    Stmt::new(kind, nowhere())
}

pub fn array_of(len: usize, element: Type) -> Type {
    Type::Array(Box::new(ArrayType {
        lo: 1,
        len,
        element,
    }))
}

fn variable(name: &str, ty: Type, values: Vec<Expr>) -> Variable {
    Variable {
        name: name.to_owned(),
        ty,
        owner: None,
        initial: Initial::Values(values),
        span: nowhere(),
    }
}

fn variables() -> Vec<Variable> {
    let range = || Type::Scalar(Scalar::Range(0, 3));
    let mut local = variable("l", range(), vec![Expr::Bound(INDEX)]);
    local.owner = Some(FAMILY);
    vec![
        variable("x", range(), vec![Expr::Int(0)]),
        variable(
            "colour",
            Type::Scalar(Scalar::Enum(EnumId(0), 2)),
            vec![Expr::Enum(EnumId(0), 0)],
        ),
        variable(
            "a",
            array_of(2, Type::Scalar(Scalar::Bool)),
            vec![Expr::Bool(false); 2],
        ),
        variable(
            "pair",
            Type::Record(RecordId(0)),
            vec![Expr::Int(0), Expr::Bool(true)],
        ),
        local,
        variable("t", Type::Scalar(Scalar::Int), vec![Expr::Int(-1)]),
        variable(
            "control",
            Type::Scalar(Scalar::Range(-1, 1)),
            vec![Expr::Int(-1)],
        ),
    ]
}

fn channel(name: &str, indices: Option<(i64, i64)>, capacity: usize) -> Channel {
    Channel {
        name: name.to_owned(),
        indices,
        capacity,
        payload: vec![Scalar::Range(0, 3), Scalar::Bool],
        span: nowhere(),
    }
}

fn step(name: &str, sync: Sync, effect: Vec<StmtKind>) -> Step {
    Step {
        sync,
        effect: effect.into_iter().map(stmt).collect(),
        ..Step::new(name, LocationId(0), LocationId(1), nowhere())
    }
}

fn family() -> Process {
    let own = place(LOCAL, Some(Owner::Own), vec![]);
    let mut first = step(
        "work",
        Sync::Internal,
        vec![
            StmtKind::Assign(own.clone(), Expr::Bound(PARAMETER)),
            StmtKind::Let(NAME, Expr::Read(own)),
            StmtKind::Set(NAME, Expr::Int(1)),
            StmtKind::SetTimer(global(TIMER), Setting::Any),
        ],
    );

    first.parameters.push(Parameter {
        bound: PARAMETER,
        lo: Expr::Int(0),
        hi: Expr::Bound(INDEX),
    });

    let send = Sync::Send {
        channel: ChannelRef {
            channel: ChannelId(0),
            index: Some(Box::new(Expr::Int(0))),
        },
        payload: vec![Expr::Int(1), Expr::Bool(true)],
    };

    Process {
        index: Some(IndexRange {
            bound: INDEX,
            lo: 0,
            hi: 1,
        }),
        ..Process::new(
            "F",
            vec!["a".into(), "b".into()],
            vec![first, step("send", send, vec![])],
            nowhere(),
        )
    }
}

fn single() -> Process {
    let receive = Sync::Receive {
        channel: ChannelRef {
            channel: ChannelId(0),
            index: Some(Box::new(Expr::Int(0))),
        },
        patterns: vec![Pattern::Store(global(X)), Pattern::Match(Expr::Bool(true))],
    };
    let go = Sync::Event {
        event: EventId(0),
        arguments: vec![Expr::Int(1)],
    };
    let steps = vec![step("get", receive, vec![]), step("go", go, vec![])];
    Process::new("S", vec!["a".into(), "b".into()], steps, nowhere())
}

/// Parts that fit together.
pub fn valid() -> ModelParts {
    let mut parts = ModelParts {
        enums: vec![EnumType {
            name: "Colour".into(),
            variants: vec!["red".into(), "green".into()],
        }],
        records: vec![RecordType {
            name: "Pair".into(),
            fields: vec![
                ("n".into(), Type::Scalar(Scalar::Range(0, 3))),
                ("b".into(), Type::Scalar(Scalar::Bool)),
            ],
            form: model::RecordForm::Components,
        }],
        vars: variables(),
        channels: vec![channel("many", Some((0, 1)), 2), channel("one", None, 0)],
        events: vec![Event {
            name: "go".into(),
            span: nowhere(),
        }],
        processes: vec![family(), single()],
        atoms: vec![Atom {
            name: "p".into(),
            meaning: AtomMeaning::State(Expr::binary(BinaryOp::Lt, read(X), Expr::Int(2))),
            span: nowhere(),
        }],
        annotations: vec![Annotation {
            kind: AnnotationKind::Weak,
            target: Target::Choice(FAMILY, 0),
            span: nowhere(),
        }],
        assumptions: vec![Assumption::All(vec![Assumption::Infinitely(
            AtomId(0),
            true,
        )])],
        bounds: ["i", "k", "n", "m"].map(str::to_owned).to_vec(),
        control: Some(CONTROL),
        timers: vec![Timer {
            var: TIMER,
            threshold: Some(2),
            limit: 3,
            any: None,
            stretched_from: None,
        }],
        ..ModelParts::default()
    };

    parts.add_clock(nowhere());
    parts
}

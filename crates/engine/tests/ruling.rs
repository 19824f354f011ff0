//! Priorities, control, names and loops in effects, against steps worked out by hand.

use base::Span;
use engine::{Steps, System};
use model::{
    BinaryOp, BoundId, ErrorKind, Expr, Initial, LocationId, MAX_ITERATIONS, Model, ModelParts,
    Place, Process, Scalar, Step, Stmt, StmtKind, Type, VarId, Variable,
};

const X: VarId = VarId(0);
const CONTROL: VarId = VarId(1);

fn place(var: VarId) -> Place {
    Place {
        var,
        owner: None,
        path: vec![],
    }
}

fn assign(var: VarId, value: Expr) -> Stmt {
    Stmt::new(StmtKind::Assign(place(var), value), Span::nowhere())
}

fn step(name: &str, from: u32, to: u32, effect: Vec<Stmt>) -> Step {
    Step {
        effect,
        ..Step::new(name, LocationId(from), LocationId(to), Span::nowhere())
    }
}

/// Processes over `x` and `control`.
fn model(processes: Vec<(&str, Vec<Step>)>) -> Model {
    let variable = |name: &str, lo, hi, start| Variable {
        name: name.into(),
        ty: Type::Scalar(Scalar::Range(lo, hi)),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(start)]),
        span: Span::nowhere(),
    };

    let process = |(name, steps): (&str, Vec<Step>)| {
        let locations = (0..4).map(|i| format!("l{i}")).collect();
        Process::new(name, locations, steps, Span::nowhere())
    };
    let parts = ModelParts {
        vars: vec![
            variable("x", -1_000_000, 1_000_000, 0),
            variable("control", -1, 1, -1),
        ],
        processes: processes.into_iter().map(process).collect(),
        control: Some(CONTROL),
        bounds: vec!["a".into(), "b".into()],
        ..ModelParts::default()
    };

    parts.finish().expect("the model is well formed")
}

/// All runs of a few steps, as `action x control`, by the reference semantics; the engine agrees.
fn runs(model: &Model, n_steps: usize) -> Vec<String> {
    let system = || System::new(model).expect("the model is small");
    let mut native = system();
    native.translate();
    let found = runs_of(&mut native, model, n_steps);
    assert_eq!(runs_of(&mut system().interpreted(), model, n_steps), found);
    found
}

fn runs_of(system: &mut System<'_>, model: &Model, n_steps: usize) -> Vec<String> {
    let initial = model.initial_states().expect("no error").remove(0);
    let mut runs = vec![(String::new(), initial)];
    for _ in 0..n_steps {
        let mut longer = Vec::new();
        for (text, state) in runs {
            let steps = model.steps_or_idle(&state).expect("no error");
            let mut found = Steps::default();
            let words = system.pack(&state);
            system.steps(&words, &mut found).expect("no error");
            for (position, step) in steps.iter().enumerate() {
                if !step.actions.is_empty() {
                    let target = system.unpack(system.step_target(&found, position));
                    assert_eq!(target, step.target);
                }
                let names = step.actions.iter().map(|a| model.action_name(*a));
                let name = names.collect::<Vec<_>>().join("+");
                let cells = &step.target.cells;
                let text = format!("{text} {name}:{}:{}", cells[0], cells[1]);
                longer.push((text.trim().to_owned(), step.target.clone()));
            }
        }
        runs = longer;
    }

    runs.into_iter().map(|(text, _)| text).collect()
}

#[test]
fn only_steps_of_the_highest_priority_exist() {
    let low = Step {
        priority: -1,
        ..step("low", 0, 1, vec![assign(X, Expr::Int(1))])
    };
    let fails = Step {
        priority: -2,
        guard: Expr::binary(
            BinaryOp::Eq,
            Expr::binary(BinaryOp::Div, Expr::Int(1), Expr::Read(place(X))),
            Expr::Int(1),
        ),
        ..step("fails", 0, 1, vec![])
    };
    let high = step("high", 0, 1, vec![]);
    let model = model(vec![("P", vec![low, fails]), ("Q", vec![high])]);
    // What does not exist cannot fail either.
    assert_eq!(runs(&model, 3), ["Q.high:0:-1 P.low:1:-1 :1:-1"]);
}

#[test]
fn control_lasts_until_it_cannot_be_used() {
    let take = |value| assign(CONTROL, Expr::Int(value));
    let blocked = Step {
        guard: Expr::binary(BinaryOp::Eq, Expr::Read(place(X)), Expr::Int(5)),
        ..step("blocked", 2, 3, vec![])
    };
    let model = model(vec![
        (
            "P",
            vec![
                step("a", 0, 1, vec![take(0)]),
                step("b", 1, 2, vec![]),
                blocked,
            ],
        ),
        ("Q", vec![step("c", 0, 1, vec![assign(X, Expr::Int(5))])]),
    ]);

    assert_eq!(
        runs(&model, 4),
        [
            // Between `a` and `b` no other process moves; behind `b` the process is blocked.
            "P.a:0:0 P.b:0:-1 Q.c:5:-1 P.blocked:5:-1",
            "Q.c:5:-1 P.a:5:0 P.b:5:0 P.blocked:5:-1",
        ]
    );

    let initial = model.initial_states().expect("no error").remove(0);
    assert_eq!(model.is_initial(&initial), Ok(true));
}

#[test]
fn control_yields_to_a_higher_priority() {
    let take = |value| assign(CONTROL, Expr::Int(value));
    let later = Step {
        priority: -1,
        ..step("timeout", 1, 2, vec![])
    };
    let model = model(vec![
        ("P", vec![step("a", 0, 1, vec![take(0)]), later]),
        ("Q", vec![step("c", 0, 1, vec![])]),
    ]);
    assert_eq!(
        runs(&model, 3),
        [
            "P.a:0:-1 Q.c:0:-1 P.timeout:0:-1",
            "Q.c:0:-1 P.a:0:0 P.timeout:0:-1"
        ]
    );
}

#[test]
fn loops_compute_with_names_of_their_own() {
    let plain = |kind| Stmt::new(kind, Span::nowhere());
    let (a, b) = (BoundId(0), BoundId(1));
    let plus = |left, right| Expr::binary(BinaryOp::Add, left, right);
    let body = vec![
        plain(StmtKind::Set(b, plus(Expr::Bound(b), Expr::Bound(a)))),
        plain(StmtKind::Set(a, plus(Expr::Bound(a), Expr::Int(-1)))),
    ];
    let positive = Expr::binary(BinaryOp::Gt, Expr::Bound(a), Expr::Int(0));
    let sum = vec![
        plain(StmtKind::Let(a, Expr::Int(10))),
        plain(StmtKind::Let(b, Expr::Bound(a))),
        plain(StmtKind::While(positive, body)),
        assign(X, Expr::Bound(b)),
    ];
    assert_eq!(
        runs(&model(vec![("P", vec![step("sum", 0, 1, sum)])]), 1),
        ["P.sum:65:-1"]
    );
}

/// The only step of a model with this effect, by both step relations: the value of `x`, or the
/// error.
fn outcome(effect: Vec<Stmt>) -> Result<i64, ErrorKind> {
    let model = model(vec![("P", vec![step("go", 0, 1, effect)])]);
    let initial = model.initial_states().expect("no error").remove(0);
    let mut system = System::new(&model).expect("the model is small");
    let (mut found, words) = (Steps::default(), system.pack(&initial));
    let expanded = system.steps(&words, &mut found);
    match model.successors(&initial) {
        Ok(steps) => {
            assert_eq!(
                system.unpack(system.step_target(&found, 0)),
                steps[0].target
            );
            Ok(steps[0].target.cells[0])
        }
        Err(error) => {
            assert!(expanded.is_err());
            Err(error.kind)
        }
    }
}

#[test]
fn loops_without_end_are_errors() {
    let plain = |kind| Stmt::new(kind, Span::nowhere());
    let count_to = |n: u32| {
        let a = BoundId(0);
        let more = Expr::binary(BinaryOp::Add, Expr::Bound(a), Expr::Int(1));
        let below = Expr::binary(BinaryOp::Lt, Expr::Bound(a), Expr::Int(i64::from(n)));
        outcome(vec![
            plain(StmtKind::Let(a, Expr::Int(0))),
            plain(StmtKind::While(below, vec![plain(StmtKind::Set(a, more))])),
            assign(X, Expr::Bound(a)),
        ])
    };
    assert_eq!(count_to(MAX_ITERATIONS), Ok(1_000_000));
    assert_eq!(count_to(MAX_ITERATIONS + 1), Err(ErrorKind::EndlessLoop));
    let fails = |kind| outcome(vec![plain(kind)]);
    assert_eq!(fails(StmtKind::Exhausted), Err(ErrorKind::Exhausted));
    let described = ErrorKind::Described("no".into());
    assert_eq!(fails(StmtKind::Fail("no".into())), Err(described));
}

#[test]
fn operators_are_those_of_c() {
    let value = |expr: Expr| outcome(vec![assign(X, expr)]);
    let binary = |op, a, b| value(Expr::binary(op, Expr::Int(a), Expr::Int(b)));
    assert_eq!(binary(BinaryOp::Quot, -7, 2), Ok(-3));
    assert_eq!(binary(BinaryOp::Rem, -7, 2), Ok(-1));
    assert_eq!(binary(BinaryOp::Rem, 1, 0), Err(ErrorKind::DivisionByZero));
    assert_eq!(
        binary(BinaryOp::Quot, i64::MIN, -1),
        Err(ErrorKind::Overflow)
    );
    assert_eq!(binary(BinaryOp::Rem, i64::MIN, -1), Ok(0));
    assert_eq!(binary(BinaryOp::BitAnd, 6, 3), Ok(2));
    assert_eq!(binary(BinaryOp::BitOr, 6, 3), Ok(7));
    assert_eq!(binary(BinaryOp::BitXor, 6, 3), Ok(5));
    assert_eq!(binary(BinaryOp::Shl, 3, 2), Ok(12));
    assert_eq!(binary(BinaryOp::Shr, -8, 1), Ok(-4));

    let too_far = ErrorKind::ShiftOutOfRange { amount: 64 };
    assert_eq!(binary(BinaryOp::Shl, 1, 64), Err(too_far));
    let wrap = |bits, signed, inner: i64| {
        let inner = Box::new(Expr::Int(inner));
        value(Expr::Wrap {
            bits,
            signed,
            inner,
        })
    };

    assert_eq!(wrap(8, false, -1), Ok(255));
    assert_eq!(wrap(8, true, 200), Ok(-56));
    assert_eq!(wrap(1, false, 3), Ok(1));
    assert_eq!(wrap(64, true, -5), Ok(-5));
}

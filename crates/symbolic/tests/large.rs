//! Systems with too many states to be visited one by one.

use base::{AtomId, Budget, Fairness, Span};
use logic::Ltl;
use model::{
    Access, ArrayType, Atom, AtomMeaning, BinaryOp, BoundId, Event, EventId, Expr, IndexRange,
    Initial, LocationId, Model, ModelParts, Place, Process, ProcessId, Scalar, Step, StepPattern,
    Stmt, StmtKind, Sync, Type, VarId, Variable,
};
use num_bigint::BigUint;
use symbolic::{Explored, Found, Query, find_run};

const INDEX: BoundId = BoundId(0);

fn modulo(shift: i64, n: i64) -> Expr {
    let sum = Expr::binary(BinaryOp::Add, Expr::Bound(INDEX), Expr::Int(shift));
    Expr::binary(BinaryOp::Mod, sum, Expr::Int(n))
}

fn step(name: &str, source: usize, target: usize) -> Step {
    let (source, target) = (LocationId::new(source), LocationId::new(target));
    Step::new(name, source, target, Span::nowhere())
}

fn family(name: &str, n: i64, n_locations: usize, steps: Vec<Step>) -> Process {
    let locations = (0..n_locations).map(|i| format!("l{i}")).collect();
    Process {
        index: Some(IndexRange {
            bound: INDEX,
            lo: 0,
            hi: n - 1,
        }),
        ..Process::new(name, locations, steps, Span::nowhere())
    }
}

/// The atom that instance 0 takes a step with this name.
fn taken(action: &str) -> Atom {
    let pattern = StepPattern {
        process: Some(ProcessId(0)),
        index: Some(0),
        action: Some(action.to_owned()),
        ..StepPattern::default()
    };
    Atom {
        name: action.to_owned(),
        meaning: AtomMeaning::Taken(pattern),
        span: Span::nowhere(),
    }
}

/// Milner's scheduler with `n` cells, of which the first starts with the work.
fn milner(n: i64) -> Model {
    let start = |name: &str, shift, source, target| Step {
        sync: Sync::Event {
            event: EventId(0),
            arguments: vec![modulo(shift, n)],
        },
        ..step(name, source, target)
    };
    let steps = vec![
        start("started", 0, 0, 1),
        step("begin", 1, 2),
        start("pass", 1, 2, 3),
        step("work", 2, 4),
        step("work", 3, 0),
        start("pass", 1, 4, 0),
    ];
    let first = Expr::At {
        process: ProcessId(0),
        owner: model::Owner::Indexed(Box::new(Expr::Int(0))),
        locations: vec![LocationId(1)],
    };
    let others = Expr::Quantified {
        quantifier: model::Quantifier::Forall,
        bound: BoundId(1),
        lo: Box::new(Expr::Int(1)),
        hi: Box::new(Expr::Int(n - 1)),
        body: Box::new(Expr::At {
            process: ProcessId(0),
            owner: model::Owner::Indexed(Box::new(Expr::Bound(BoundId(1)))),
            locations: vec![LocationId(0)],
        }),
    };
    let mut cells = family("Cell", n, 5, steps);
    cells.initial = vec![LocationId(0), LocationId(1)];
    let parts = ModelParts {
        events: vec![Event {
            name: "start".to_owned(),
            span: Span::nowhere(),
        }],
        processes: vec![cells],
        init: vec![first, others],
        atoms: vec![taken("work")],
        bounds: vec!["i".to_owned(), "j".to_owned()],
        ..ModelParts::default()
    };
    parts.finish().expect("the model is well formed")
}

/// Dining philosophers, of whom the first takes the other fork first.
fn philosophers(n: i64) -> Model {
    let fork = |shift: i64| {
        let is_first = Expr::binary(BinaryOp::Eq, Expr::Bound(INDEX), Expr::Int(0));
        let (own, other) = (modulo(shift, n), modulo(1 - shift, n));
        let index = Expr::Ite(Box::new(is_first), Box::new(other), Box::new(own));
        Place {
            var: VarId(0),
            owner: None,
            path: vec![Access::Index(index)],
        }
    };
    let set = |shift: i64, value: bool| {
        let kind = StmtKind::Assign(fork(shift), Expr::Bool(value));
        vec![Stmt::new(kind, Span::nowhere())]
    };
    let take = |name: &str, shift: i64, source| Step {
        guard: Expr::not(Expr::Read(fork(shift))),
        effect: set(shift, true),
        ..step(name, source, source + 1)
    };
    let put = |name: &str, shift: i64, source, target| Step {
        effect: set(shift, false),
        ..step(name, source, target)
    };
    let steps = vec![
        take("take_first", 0, 0),
        take("take_second", 1, 1),
        step("eat", 2, 3),
        put("put_first", 0, 3, 4),
        put("put_second", 1, 4, 0),
    ];
    let forks = ArrayType {
        lo: 0,
        len: n as usize,
        element: Type::Scalar(Scalar::Bool),
    };
    let parts = ModelParts {
        vars: vec![Variable {
            name: "taken".to_owned(),
            ty: Type::Array(Box::new(forks)),
            owner: None,
            initial: Initial::Values(vec![Expr::Bool(false); n as usize]),
            span: Span::nowhere(),
        }],
        processes: vec![family("Philosopher", n, 5, steps)],
        atoms: vec![taken("eat")],
        bounds: vec!["i".to_owned()],
        ..ModelParts::default()
    };
    parts.finish().expect("the model is well formed")
}

/// Is there a fair run on which the atom is not true again and again?
fn starving(model: &Model, fairness: &str) -> Explored {
    let formula = Ltl::always(Ltl::eventually(Ltl::atom(AtomId(0))));
    let automaton = logic::translate(&Ltl::not(formula)).expect("a small formula");
    let fairness = Fairness::parse(fairness).expect("a notion");
    let query = Query {
        automaton: &automaton,
        conditions: &model.fairness_conditions(fairness),
        strong_global: false,
        atoms: &[AtomId(0)],
    };
    find_run(model, &query, &Budget::unlimited()).expect("everything is treated")
}

fn assert_holds(model: &Model, fairness: &str, n_states: u64) {
    let explored = starving(model, fairness);
    println!("{} states, {} nodes", explored.n_states, explored.n_nodes);
    assert!(matches!(explored.found, Found::Nothing));
    assert_eq!(explored.n_states, BigUint::from(n_states));
}

#[test]
fn milner_under_weak_fairness() {
    // 3 n 2^(n - 1) states: one cell has been started and may or may not have begun.
    for n in [4_u64, 8, 24] {
        let n_states = n * (1 << (n - 1)) * 3;
        assert_holds(&milner(n as i64), "weak", n_states);
    }
}

#[test]
fn philosophers_under_strong_fairness() {
    // As visited one by one (`docs/explanation/benchmarks.md`).
    for (n, n_states) in [(10, 154_451), (12, 1_684_802)] {
        assert_holds(&philosophers(n), "strong-process", n_states);
    }
    let explored = starving(&philosophers(16), "strong-process");
    println!("{} states, {} nodes", explored.n_states, explored.n_nodes);
    assert!(matches!(explored.found, Found::Nothing));
}

#[test]
fn philosophers_starve_under_weak_fairness() {
    let model = philosophers(12);
    let Found::Run(trace) = starving(&model, "weak").found else {
        panic!("there is such a run");
    };
    assert_eq!(evidence::validate_run(&model, &trace), Ok(()));
}

//! Tiny systems, built by hand, and walks on them.

#![allow(
    dead_code,
    reason = "each test file uses its own part of these systems"
)]

use base::{AtomId, Fairness, FairnessKind, Span};
use evidence::{Trace, TraceStep, Violation, ViolationKind};
use logic::Ltl;
use model::{
    Atom, AtomMeaning, BinaryOp, Expr, Initial, LocationId, Model, ModelParts, Owner, Place,
    Process, ProcessId, Scalar, Step, StepPattern, Stmt, StmtKind, Type, VarId, Variable,
};

/// A process: its name, how many locations it has, and its steps.
pub type Graph<'a> = (&'a str, usize, &'a [(u32, &'a str, u32)]);

/// Processes that only change their locations.
pub fn parts(graphs: &[Graph<'_>]) -> ModelParts {
    let process = |(name, n_locations, steps): &Graph<'_>| {
        let locations = (0..*n_locations).map(|i| format!("l{i}")).collect();
        let step = |(source, name, target): &(u32, &str, u32)| {
            let (source, target) = (LocationId(*source), LocationId(*target));
            Step::new(name, source, target, Span::nowhere())
        };
        let steps = steps.iter().map(step).collect();
        Process::new(name, locations, steps, Span::nowhere())
    };
    ModelParts {
        processes: graphs.iter().map(process).collect(),
        ..ModelParts::default()
    }
}

/// Adds an atom and returns the formula that consists of it.
pub fn atom(parts: &mut ModelParts, name: &str, meaning: AtomMeaning) -> Ltl {
    parts.atoms.push(Atom {
        name: name.to_owned(),
        meaning,
        span: Span::nowhere(),
    });
    Ltl::atom(AtomId::new(parts.atoms.len() - 1))
}

/// The atom "an action with this name was taken".
pub fn taken(parts: &mut ModelParts, action: &str) -> Ltl {
    let pattern = StepPattern {
        action: Some(action.to_owned()),
        ..StepPattern::default()
    };
    atom(parts, action, AtomMeaning::Taken(pattern))
}

/// The atom "the first process is at this location".
pub fn at(parts: &mut ModelParts, location: u32) -> Ltl {
    let expr = Expr::At {
        process: ProcessId(0),
        owner: Owner::Single,
        locations: vec![LocationId(location)],
    };
    atom(parts, &format!("at{location}"), AtomMeaning::State(expr))
}

pub fn recurs(formula: Ltl) -> Ltl {
    Ltl::always(Ltl::eventually(formula))
}

pub fn fairness(kind: FairnessKind) -> Fairness {
    Fairness {
        kind,
        annotated: false,
        timers: false,
    }
}

/// `P{a if x=0, b if x=1}` beside `Q{toggle x}`, and `[]<>(a or b)`.
pub fn toggled() -> (Model, Ltl) {
    let mut parts = parts(&[
        ("P", 1, &[(0, "a", 0), (0, "b", 0)]),
        ("Q", 1, &[(0, "toggle", 0)]),
    ]);
    let place = Place {
        var: VarId(0),
        owner: None,
        path: Vec::new(),
    };
    let x = || Expr::Read(place.clone());
    parts.vars.push(Variable {
        name: "x".to_owned(),
        ty: Type::Scalar(Scalar::Range(0, 1)),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(0)]),
        span: Span::nowhere(),
    });
    for (step, value) in [(0, 0), (1, 1)] {
        parts.processes[0].steps[step].guard = Expr::binary(BinaryOp::Eq, x(), Expr::Int(value));
    }
    let flipped = Expr::binary(BinaryOp::Sub, Expr::Int(1), x());
    let assign = StmtKind::Assign(place.clone(), flipped);
    parts.processes[1].steps[0].effect = vec![Stmt::new(assign, Span::nowhere())];

    let either = Ltl::or([taken(&mut parts, "a"), taken(&mut parts, "b")]);
    (parts.finish().unwrap(), recurs(either))
}

/// The walk that takes these actions. `P.a>2` also says where the first process must go.
pub fn walk(model: &Model, actions: &[&str], loop_start: Option<usize>) -> Trace {
    let mut state = model.initial_states().unwrap().remove(0);
    let mut trace = Trace {
        states: Vec::new(),
        steps: Vec::new(),
        loop_start,
    };

    for text in actions {
        let (name, target) = text.split_once('>').unwrap_or((text, ""));
        let fits = |step: &model::Successor| {
            let named = match step.actions.as_slice() {
                [] => name == "idle",
                [action] => model.action_name(*action) == name,
                _ => false,
            };
            let location = step.target.locations[0].0.to_string();
            named && (target.is_empty() || target == location)
        };
        let steps = model.steps_or_idle(&state).unwrap();
        let step = steps.iter().find(|step| fits(step));
        let step = step.unwrap_or_else(|| panic!("no step {text} in {state:?}"));
        trace.steps.push(TraceStep::from(step).into());
        trace.states.push(state);
        state = step.target.clone();
    }

    match loop_start {
        Some(start) => assert_eq!(trace.states[start], state, "the walk is not a lasso"),
        None => trace.states.push(state),
    }

    trace
}

/// A violation with this trace only.
pub fn violation(kind: ViolationKind, trace: Trace) -> Violation {
    Violation {
        kind,
        trace: Some(trace),
        covering: None,
        component: None,
    }
}

//! Every check of the judge refuses a trace that was corrupted for it.

mod micro;

use std::sync::Arc;

use base::{AtomId, FairnessKind, Span};
use evidence::{ComponentSize, Invalid, Trace, TraceStep, Violation, ViolationKind};
use evidence::{validate, validate_run, validate_witness};
use logic::{Ltl, Property};
use micro::{at, fairness, parts, recurs, taken, violation, walk};
use model::{
    ActionId, Annotation, AnnotationKind, Assumption, CommandId, ErrorKind, Expr, InstanceId,
    LocationId, Model, RunTimeError, StepPattern, Stmt, StmtKind, Target,
};

/// 0 -a-> 1, 1 -b-> 0, 1 -c-> 0 beside a process that may do `q` forever; atoms `b` and `at1`.
fn choice() -> (Model, Ltl, Ltl) {
    let mut parts = parts(&[
        ("P", 2, &[(0, "a", 1), (1, "b", 0), (1, "c", 0)]),
        ("Q", 1, &[(0, "q", 0)]),
    ]);
    let b = taken(&mut parts, "b");
    let at1 = at(&mut parts, 1);
    (parts.finish().unwrap(), b, at1)
}

/// The judgement of a loop against `[]<> formula`.
fn judge(model: &Model, kind: FairnessKind, formula: Ltl, trace: Trace) -> Result<(), Invalid> {
    let property = Property::Ltl(recurs(formula));
    let claim = violation(ViolationKind::FairLoop, trace);
    validate(model, &property, fairness(kind), &[], &claim)
}

/// A step of a trace, to be changed.
fn step(trace: &mut Trace, at: usize) -> &mut TraceStep {
    Arc::make_mut(&mut trace.steps[at])
}

fn good(model: &Model) -> Trace {
    walk(model, &["P.a", "P.c", "P.a", "Q.q", "P.c"], Some(2))
}

#[test]
fn a_true_counterexample_is_accepted() {
    let (model, b, _) = choice();
    assert_eq!(judge(&model, FairnessKind::Weak, b, good(&model)), Ok(()));
}

/// What the judge says to [`good`] after a change.
fn corrupted(change: impl FnOnce(&mut Trace)) -> Invalid {
    let (model, b, _) = choice();
    let mut trace = good(&model);
    change(&mut trace);
    judge(&model, FairnessKind::Weak, b, trace).expect_err("the trace is corrupted")
}

#[test]
fn numbers_must_fit() {
    let malformed = |change: fn(&mut Trace)| matches!(corrupted(change), Invalid::Malformed(_));
    assert!(malformed(|trace| trace.states.clear()));
    assert!(malformed(|trace| trace.loop_start = Some(5)));
    assert!(malformed(|trace| trace.steps.truncate(4)));
    assert!(malformed(|trace| trace.states[3].locations.truncate(1)));
    assert!(malformed(|trace| trace.states[0].cells.push(0)));
    assert!(malformed(|trace| trace.states[0].channels.push(Vec::new())));
    assert!(malformed(
        |trace| trace.states[2].locations[0] = LocationId(9)
    ));
}

#[test]
fn the_first_state_must_be_initial() {
    let invalid = corrupted(|trace| {
        trace.states.remove(0);
        trace.steps.remove(0);
        trace.loop_start = Some(1);
    });
    assert_eq!(invalid, Invalid::NotInitial);
}

#[test]
fn no_step_may_be_skipped() {
    let invalid = corrupted(|trace| {
        trace.states.remove(1);
        trace.steps.remove(1);
        trace.loop_start = Some(1);
    });
    let actions = "P.a".to_owned();
    assert_eq!(invalid, Invalid::WrongTarget { at: 0, actions });
}

#[test]
fn actions_must_be_possible() {
    let invalid = corrupted(|trace| step(trace, 0).actions = vec![ActionId(1)]);
    let actions = "P.b".to_owned();
    assert_eq!(invalid, Invalid::NotEnabled { at: 0, actions });
    let invalid = corrupted(|trace| step(trace, 0).actions = vec![ActionId(99)]);
    let actions = "action 99".to_owned();
    assert_eq!(invalid, Invalid::NotEnabled { at: 0, actions });
}

/// Two processes can take one action to one state: a trace may mean either of them.
#[test]
fn several_processes_may_take_one_action_to_one_state() {
    let mut parts = parts(&[("P", 1, &[(0, "a", 0)]), ("Q", 1, &[(0, "b", 0)])]);
    for process in &mut parts.processes {
        process.steps[0].label = Some("both".to_owned());
    }
    let never = taken(&mut parts, "c");
    let model = parts.finish().unwrap();
    let state = model.initial_states().unwrap().swap_remove(0);
    let steps = model.successors(&state).unwrap();
    assert_eq!(steps.len(), 2, "one for each process");

    for step in steps {
        let trace = Trace {
            states: vec![state.clone()],
            steps: vec![TraceStep::from(&step).into()],
            loop_start: Some(0),
        };
        let judged = judge(&model, FairnessKind::None, never.clone(), trace);
        assert_eq!(judged, Ok(()));
    }
}

#[test]
fn movers_and_commands_must_be_those_of_the_step() {
    let invalid = corrupted(|trace| step(trace, 3).movers = vec![InstanceId(0)]);
    assert_eq!(invalid, Invalid::WrongMovers { at: 3 });
    let invalid = corrupted(|trace| step(trace, 1).commands = vec![CommandId(1)]);
    assert_eq!(invalid, Invalid::WrongCommands { at: 1 });
    let (model, b, _) = choice();
    let mut trace = good(&model);
    trace
        .steps
        .iter_mut()
        .for_each(|step| Arc::make_mut(step).commands.clear());
    assert_eq!(judge(&model, FairnessKind::Weak, b, trace), Ok(()));
}

#[test]
fn the_loop_must_close() {
    let invalid = corrupted(|trace| trace.loop_start = Some(3));
    let actions = "P.c".to_owned();
    assert_eq!(invalid, Invalid::LoopNotClosed { actions });
}

#[test]
fn only_deadlocked_states_idle() {
    let invalid = corrupted(|trace| trace.steps[3] = Arc::default());
    assert_eq!(invalid, Invalid::IdleButEnabled { at: 3 });
    let mut parts = parts(&[("P", 2, &[(0, "a", 1)])]);
    let home = at(&mut parts, 0);
    let model = parts.finish().unwrap();
    let stuck = walk(&model, &["P.a", "idle"], Some(1));
    assert_eq!(
        judge(&model, FairnessKind::StrongGlobal, home, stuck),
        Ok(())
    );
}

#[test]
fn a_fair_loop_must_loop() {
    let (model, b, _) = choice();
    let finite = walk(&model, &["P.a"], None);
    let judged = judge(&model, FairnessKind::None, b, finite);
    assert_eq!(judged, Err(Invalid::NoLoop));
}

#[test]
fn unfair_loops_are_refused() {
    let (model, b, _) = choice();
    let without_q = || walk(&model, &["P.a", "P.c"], Some(0));
    let only_q = || walk(&model, &["Q.q"], Some(0));
    let unfair = |kind, trace| match judge(&model, kind, b.clone(), trace) {
        Err(Invalid::Unfair { condition }) => condition,
        other => panic!("{other:?}"),
    };
    assert_eq!(unfair(FairnessKind::Weak, without_q()), "wf(Q.q)");
    assert_eq!(unfair(FairnessKind::WeakProcess, without_q()), "wf(Q)");
    assert_eq!(unfair(FairnessKind::StrongProcess, only_q()), "sf(P)");
    assert_eq!(unfair(FairnessKind::Strong, good(&model)), "sf(P.b)");
    let judged = judge(&model, FairnessKind::None, b.clone(), only_q());
    assert_eq!(judged, Ok(()));
}

#[test]
fn the_second_visit_of_the_loop_start_counts() {
    // The loop is entered by `a` and closed by `b`: `[]<> b` holds although the first visit of the
    // loop's only state was made by `a`, and `[]<> a` does not.
    let mut parts = parts(&[("P", 2, &[(0, "a", 1), (1, "b", 1)])]);
    let (a, b) = (taken(&mut parts, "a"), taken(&mut parts, "b"));
    let model = parts.finish().unwrap();
    let trace = || walk(&model, &["P.a", "P.b"], Some(1));
    let judged = judge(&model, FairnessKind::None, b, trace());
    assert_eq!(judged, Err(Invalid::PropertyHolds));
    assert_eq!(judge(&model, FairnessKind::None, a, trace()), Ok(()));
}

#[test]
fn the_property_must_be_violated() {
    let (model, _, at1) = choice();
    let judged = judge(&model, FairnessKind::Weak, at1, good(&model));
    assert_eq!(judged, Err(Invalid::PropertyHolds));
}

#[test]
fn annotations_count_if_they_are_asked_for() {
    let mut parts = parts(&[("P", 2, &[(0, "a", 1), (1, "b", 0), (1, "c", 0)])]);
    let home = at(&mut parts, 0);
    parts.annotations.push(Annotation {
        kind: AnnotationKind::Unconditional,
        target: Target::Action(model::ProcessId(0), "b".to_owned()),
        span: Span::nowhere(),
    });
    let model = parts.finish().unwrap();
    let property = Property::Ltl(Ltl::always(home));
    let claim = violation(
        ViolationKind::FairLoop,
        walk(&model, &["P.a", "P.c"], Some(0)),
    );
    let mut fairness = fairness(FairnessKind::Weak);
    assert_eq!(validate(&model, &property, fairness, &[], &claim), Ok(()));
    fairness.annotated = true;
    let condition = "f(P.b)".to_owned();
    let judged = validate(&model, &property, fairness, &[], &claim);
    assert_eq!(judged, Err(Invalid::Unfair { condition }));
}

#[test]
fn assumptions_are_judged_on_the_loop() {
    let (model, b, at1) = choice();
    let (b_id, at1_id) = (b.atoms()[0], at1.atoms()[0]);
    let property = Property::Ltl(recurs(b));
    let claim = violation(ViolationKind::FairLoop, good(&model));
    let judged = |assumption: Assumption| {
        let none = fairness(FairnessKind::None);
        validate(&model, &property, none, &[assumption], &claim)
    };
    let fails = |assumption: Assumption| match judged(assumption) {
        Err(Invalid::AssumptionFails { assumption }) => assumption,
        other => panic!("{other:?}"),
    };
    let (inf, ev) = (Assumption::Infinitely, Assumption::Eventually);
    assert_eq!(judged(inf(at1_id, true)), Ok(()));
    assert_eq!(judged(inf(at1_id, false)), Ok(()));
    assert_eq!(judged(ev(b_id, false)), Ok(()));
    assert_eq!(fails(inf(b_id, true)), "[]<> (b)");
    assert_eq!(fails(ev(at1_id, true)), "<>[] (at1)");
    assert_eq!(fails(ev(at1_id, false)), "<>[] !(at1)");

    let either = |parts| Assumption::Any(parts);
    assert_eq!(
        judged(either(vec![inf(b_id, true), inf(at1_id, true)])),
        Ok(())
    );

    let neither = either(vec![inf(b_id, true), ev(at1_id, true)]);
    assert_eq!(fails(neither), "([]<> (b) || <>[] (at1))");
    let both = Assumption::All(vec![inf(at1_id, true), inf(b_id, true)]);
    assert_eq!(fails(both.clone()), "[]<> (b)");
    assert_eq!(fails(either(vec![both])), "([]<> (at1) && []<> (b))");
    assert_eq!(fails(either(Vec::new())), "false");
    assert_eq!(judged(Assumption::All(Vec::new())), Ok(()));
}

/// A system whose closed component {1, 2} has three steps, and `[]<> at0`.
fn closed() -> (Model, Property) {
    let steps = [
        (0, "go", 1),
        (0, "stay", 0),
        (1, "a", 2),
        (2, "b", 1),
        (2, "c", 1),
    ];
    let mut parts = parts(&[("P", 3, &steps)]);
    let home = at(&mut parts, 0);
    (parts.finish().unwrap(), Property::Ltl(recurs(home)))
}

const COVERING: [&str; 5] = ["P.go", "P.a", "P.b", "P.a", "P.c"];

fn judge_closed(change: impl FnOnce(&Model, &mut Violation)) -> Result<(), Invalid> {
    let (model, property) = closed();
    let mut claim = Violation {
        kind: ViolationKind::FairLoop,
        trace: Some(walk(&model, &["P.go", "P.a", "P.b"], Some(1))),
        covering: Some(walk(&model, &COVERING, Some(1))),
        component: Some(ComponentSize {
            n_states: 2,
            n_steps: 3,
        }),
    };
    change(&model, &mut claim);
    let global = fairness(FairnessKind::StrongGlobal);
    validate(&model, &property, global, &[], &claim)
}

#[test]
fn strong_global_fairness_needs_a_covering_loop() {
    assert_eq!(judge_closed(|_, _| ()), Ok(()));
    let judged = judge_closed(|model, claim| {
        claim.trace = Some(walk(model, &COVERING, Some(1)));
        claim.covering = None;
    });
    assert_eq!(judged, Ok(()));
    let judged = judge_closed(|_, claim| claim.covering = None);
    let actions = "P.c".to_owned();
    assert_eq!(judged, Err(Invalid::NotCovered { at: 2, actions }));
    let judged = judge_closed(|model, claim| {
        claim.covering = Some(walk(model, &["P.go", "P.a", "P.c"], Some(1)));
    });
    let actions = "P.b".to_owned();
    assert_eq!(judged, Err(Invalid::NotCovered { at: 2, actions }));
    let judged = judge_closed(|model, claim| claim.covering = Some(walk(model, &["P.go"], None)));
    assert_eq!(judged, Err(Invalid::NoLoop));
}

#[test]
fn the_loop_that_is_shown_must_violate_inside_the_component() {
    let judged = judge_closed(|model, claim| {
        claim.trace = Some(walk(model, &["P.stay"], Some(0)));
    });
    assert_eq!(judged, Err(Invalid::PropertyHolds));
    // Two closed components; each claim shows a loop of the other one.
    let steps = [(0, "l", 1), (0, "r", 2), (1, "a", 1), (2, "b", 2)];
    let mut parts = parts(&[("P", 3, &steps)]);
    let home = at(&mut parts, 0);
    let model = parts.finish().unwrap();
    let claim = Violation {
        covering: Some(walk(&model, &["P.r", "P.b"], Some(1))),
        ..violation(
            ViolationKind::FairLoop,
            walk(&model, &["P.l", "P.a"], Some(1)),
        )
    };
    let global = fairness(FairnessKind::StrongGlobal);
    let judged = validate(&model, &Property::Ltl(recurs(home)), global, &[], &claim);
    assert_eq!(judged, Err(Invalid::OutsideComponent { at: 1 }));
}

#[test]
fn the_size_of_the_component_must_be_right() {
    let actual = ComponentSize {
        n_states: 2,
        n_steps: 3,
    };
    let claimed = ComponentSize {
        n_states: 3,
        n_steps: 5,
    };
    let judged = judge_closed(|_, claim| claim.component = Some(claimed));
    assert_eq!(judged, Err(Invalid::WrongComponentSize { claimed, actual }));
}

#[test]
fn long_covering_loops_are_judged_quickly() {
    let (model, property) = closed();
    let mut actions = vec!["P.go"];
    actions.extend(["P.a", "P.b", "P.a", "P.c"].repeat(25_000));
    let claim = violation(ViolationKind::FairLoop, walk(&model, &actions, Some(1)));
    let global = fairness(FairnessKind::StrongGlobal);
    assert_eq!(validate(&model, &property, global, &[], &claim), Ok(()));
}

#[test]
fn a_bad_prefix_ends_in_a_bad_position() {
    let (model, b, at1) = choice();
    let judged = |property: &Property, trace: Trace| {
        let claim = violation(ViolationKind::BadPrefix, trace);
        validate(&model, property, fairness(FairnessKind::None), &[], &claim)
    };
    let never_b = Property::Invariant(Ltl::not(b.clone()));
    let prefix = |actions: &[&str]| walk(&model, actions, None);
    assert_eq!(judged(&never_b, prefix(&["P.a", "P.b"])), Ok(()));
    let never_b_as_ltl = Property::Ltl(Ltl::always(Ltl::not(b)));
    assert_eq!(judged(&never_b_as_ltl, prefix(&["P.a", "P.b"])), Ok(()));
    let holds = Err(Invalid::PropertyHolds);
    assert_eq!(judged(&never_b, prefix(&["P.a", "P.b", "P.a"])), holds);
    assert_eq!(judged(&never_b, prefix(&["P.a", "P.c"])), holds);
    let always_at1 = Property::Invariant(at1.clone());
    assert_eq!(judged(&always_at1, prefix(&[])), Ok(()));
    let lasso = walk(&model, &["P.a", "P.b"], Some(0));
    assert_eq!(judged(&never_b, lasso), Err(Invalid::UnexpectedLoop));
    let liveness = Property::Ltl(recurs(at1));
    assert_eq!(judged(&liveness, prefix(&[])), Err(Invalid::KindDoesNotFit));
}

#[test]
fn witnesses_end_where_they_should() {
    let (model, b, _) = choice();
    let reach = Property::Reachable(b.clone());
    let run = |actions: &[&str]| walk(&model, actions, None);
    assert_eq!(
        validate_witness(&model, &reach, &run(&["P.a", "P.b"])),
        Ok(())
    );
    let judged = validate_witness(&model, &reach, &run(&["P.a"]));
    assert_eq!(judged, Err(Invalid::NotReached));
    let judged = validate_witness(&model, &Property::Invariant(b), &run(&[]));
    assert_eq!(judged, Err(Invalid::KindDoesNotFit));
}

#[test]
fn an_unreachable_position_has_no_trace() {
    let (model, b, _) = choice();
    let mut claim = violation(ViolationKind::Unreachable, walk(&model, &[], None));
    let reach = Property::Reachable(b.clone());
    let judged = |claim: &Violation, property: &Property| {
        validate(&model, property, fairness(FairnessKind::None), &[], claim)
    };
    assert_eq!(judged(&claim, &reach), Err(Invalid::KindDoesNotFit));
    claim.trace = None;
    assert_eq!(judged(&claim, &reach), Ok(()));
    let invariant = Property::Invariant(b);
    assert_eq!(judged(&claim, &invariant), Err(Invalid::KindDoesNotFit));
    claim.kind = ViolationKind::BadPrefix;
    assert_eq!(judged(&claim, &invariant), Err(Invalid::NoTrace));
}

#[test]
fn a_deadlock_is_the_end() {
    let model = parts(&[("P", 2, &[(0, "a", 1)])]).finish().unwrap();
    let judged = |property: &Property, actions: &[&str]| {
        let claim = violation(ViolationKind::Deadlock, walk(&model, actions, None));
        validate(&model, property, fairness(FairnessKind::None), &[], &claim)
    };
    assert_eq!(judged(&Property::DeadlockFree, &["P.a"]), Ok(()));
    let judged_early = judged(&Property::DeadlockFree, &[]);
    assert_eq!(judged_early, Err(Invalid::NotDeadlocked));
    let other = Property::Ltl(Ltl::tt());
    assert_eq!(judged(&other, &["P.a"]), Err(Invalid::KindDoesNotFit));
}

fn error(kind: ErrorKind) -> RunTimeError {
    RunTimeError {
        kind,
        span: Span::nowhere(),
        action: None,
    }
}

/// A condition that has no value.
fn is_by_zero() -> Expr {
    let by_zero = Expr::binary(model::BinaryOp::Div, Expr::Int(1), Expr::Int(0));
    Expr::binary(model::BinaryOp::Eq, by_zero, Expr::Int(0))
}

#[test]
fn run_time_errors_must_happen() {
    let mut parts = parts(&[("P", 2, &[(0, "a", 1), (1, "b", 0)])]);
    let fails = StmtKind::Assert(Expr::Bool(false));
    parts.processes[0].steps[1].effect = vec![Stmt::new(fails, Span::nowhere())];

    let by_zero = is_by_zero();
    let undefined = micro::atom(&mut parts, "1/0", model::AtomMeaning::State(by_zero));
    let model = parts.finish().unwrap();
    let judged = |property: &Property, kind: ErrorKind, actions: &[&str]| {
        let kind = ViolationKind::RunTimeError(error(kind));
        let claim = violation(kind, walk(&model, actions, None));
        validate(&model, property, fairness(FairnessKind::None), &[], &claim)
    };
    let any = Property::Ltl(Ltl::tt());
    assert_eq!(judged(&any, ErrorKind::AssertionFailed, &["P.a"]), Ok(()));

    let other = judged(&any, ErrorKind::Overflow, &["P.a"]);
    assert!(matches!(other, Err(Invalid::OtherError { found: Some(e) })
        if e.kind == ErrorKind::AssertionFailed));

    let none = judged(&any, ErrorKind::AssertionFailed, &[]);
    assert_eq!(none, Err(Invalid::OtherError { found: None }));
    let with_atom = Property::Invariant(undefined.clone());
    for actions in [&[][..], &["P.a"]] {
        let judged = judged(&with_atom, ErrorKind::DivisionByZero, actions);
        assert_eq!(judged, Ok(()));
    }

    // A loop cannot go on where the model has no value.
    let lasso = Trace {
        loop_start: Some(0),
        states: walk(&model, &["P.a"], None).states,
        steps: vec![Arc::default(); 2],
    };

    let mut lasso_steps = lasso.clone();
    lasso_steps.steps[0] = walk(&model, &["P.a"], None).steps[0].clone();
    let judged = validate_run(&model, &lasso_steps);
    assert!(matches!(judged, Err(Invalid::Error { at: 1, .. })));
}

#[test]
fn errors_in_initial_values_need_no_trace() {
    let mut parts = parts(&[("P", 1, &[])]);
    parts.init = vec![is_by_zero()];

    let model = parts.finish().unwrap();
    let judged = |kind: ErrorKind| {
        let claim = Violation {
            kind: ViolationKind::RunTimeError(error(kind)),
            trace: None,
            covering: None,
            component: None,
        };
        let property = Property::DeadlockFree;
        validate(&model, &property, fairness(FairnessKind::None), &[], &claim)
    };

    assert_eq!(judged(ErrorKind::DivisionByZero), Ok(()));
    assert!(matches!(
        judged(ErrorKind::Overflow),
        Err(Invalid::OtherError { found: Some(_) })
    ));
}

#[test]
fn invariants_may_be_violated_by_lassos() {
    let (model, _, at1) = choice();
    let property = Property::Invariant(Ltl::not(at1));
    let claim = violation(ViolationKind::FairLoop, good(&model));
    let weak = fairness(FairnessKind::Weak);
    assert_eq!(validate(&model, &property, weak, &[], &claim), Ok(()));
    let judged = validate(&model, &Property::DeadlockFree, weak, &[], &claim);
    assert_eq!(judged, Err(Invalid::KindDoesNotFit));
}

#[test]
fn enabledness_and_deadlock_are_propositions() {
    let mut parts = parts(&[("P", 2, &[(0, "a", 1)])]);
    let pattern = StepPattern {
        action: Some("a".to_owned()),
        ..StepPattern::default()
    };
    let enabled = micro::atom(&mut parts, "en", model::AtomMeaning::Enabled(pattern));
    let stuck = micro::atom(&mut parts, "stuck", model::AtomMeaning::Deadlock);
    assert_eq!(stuck.atoms(), [AtomId(1)]);
    let model = parts.finish().unwrap();
    let trace = || walk(&model, &["P.a", "idle"], Some(1));
    assert_eq!(
        judge(&model, FairnessKind::Strong, enabled, trace()),
        Ok(())
    );
    let judged = judge(&model, FairnessKind::Strong, stuck, trace());
    assert_eq!(judged, Err(Invalid::PropertyHolds));
}

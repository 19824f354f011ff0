//! Why loops are fair, what would exclude them, and how states read.

mod micro;

use base::{FairnessKind, Span};
use evidence::{Invalid, Trace, Value, View, changes, explain_fairness, stronger_fairness};
use expect_test::{Expect, expect};
use micro::{at, fairness, parts, toggled, walk};
use model::{
    Assumption, Channel, ChannelRef, EnumId, EnumType, Expr, Initial, Model, ModelParts, Pattern,
    Place, Scalar, Sync, Type, VarId, Variable,
};

fn check_reasons(model: &Model, kind: FairnessKind, trace: &Trace, expect: Expect) {
    let reasons = explain_fairness(model, fairness(kind), &[], trace).unwrap();
    let line = |r: &evidence::Justification| format!("{} {:?}\n", r.condition, r.because);
    expect.assert_eq(&reasons.iter().map(line).collect::<String>());
}

fn check_exclusions(model: &Model, kind: FairnessKind, trace: &Trace, expect: Expect) {
    let exclusions = stronger_fairness(model, fairness(kind), trace).unwrap();
    let line = |e: &evidence::Exclusion| format!("{:?} {} at {}\n", e.notion, e.subject, e.at);
    expect.assert_eq(&exclusions.iter().map(line).collect::<String>());
}

fn choice() -> Model {
    let steps = [(0, "a", 1), (1, "b", 0), (1, "c", 0), (2, "d", 0)];
    parts(&[("P", 3, &steps), ("Q", 1, &[(0, "q", 0)])])
        .finish()
        .unwrap()
}

#[test]
fn each_condition_gets_its_reason() {
    let model = choice();
    let trace = walk(&model, &["P.a", "P.c", "P.a", "Q.q", "P.c"], Some(2));
    check_reasons(
        &model,
        FairnessKind::Weak,
        &trace,
        expect![[r#"
            wf(P.a) Taken(2)
            wf(P.b) Disabled(2)
            wf(P.c) Taken(4)
            wf(P.d) NeverEnabled
            wf(Q.q) Taken(3)
        "#]],
    );
}

#[test]
fn unfair_conditions_are_told() {
    let model = choice();
    let trace = walk(&model, &["Q.q"], Some(0));
    check_reasons(
        &model,
        FairnessKind::StrongProcess,
        &trace,
        expect![[r#"
        sf(P) Broken
        sf(Q) Taken(0)
    "#]],
    );
}

#[test]
fn assumptions_are_justified_too() {
    let mut parts = parts(&[("P", 2, &[(0, "a", 1), (1, "b", 0)])]);
    let home = at(&mut parts, 0).atoms()[0];
    let model = parts.finish().unwrap();
    let trace = walk(&model, &["P.a", "P.b"], Some(0));
    let assumptions = [
        Assumption::All(vec![
            Assumption::Infinitely(home, false),
            Assumption::Eventually(home, true),
        ]),
        Assumption::Any(vec![
            Assumption::Eventually(home, true),
            Assumption::Infinitely(home, true),
        ]),
    ];
    let none = fairness(FairnessKind::None);
    let reasons = explain_fairness(&model, none, &assumptions, &trace).unwrap();
    let line = |r: &evidence::Justification| format!("{} {:?}\n", r.condition, r.because);
    assert!(reasons.iter().all(|reason| reason.is_assumption));
    expect![[r#"
        []<> !(at0) HoldsAt(1)
        <>[] (at0) Broken
        (<>[] (at0) || []<> (at0)) HoldsAt(0)
    "#]]
    .assert_eq(&reasons.iter().map(line).collect::<String>());
}

#[test]
fn only_runs_with_loops_are_explained() {
    let model = choice();
    let none = fairness(FairnessKind::None);
    let finite = walk(&model, &["P.a"], None);
    let judged = explain_fairness(&model, none, &[], &finite);
    assert_eq!(judged, Err(Invalid::NoLoop));
    let judged = stronger_fairness(&model, none, &finite);
    assert_eq!(judged, Err(Invalid::NoLoop));
}

#[test]
fn stronger_notions_are_found() {
    let model = choice();
    let trace = walk(&model, &["P.a", "P.c"], Some(0));
    check_exclusions(
        &model,
        FairnessKind::None,
        &trace,
        expect![[r#"
            Just Q at 0
            Strong P.b at 1
            Just Q.q at 0
            StrongGlobal Q.q at 0
        "#]],
    );
    check_exclusions(
        &model,
        FairnessKind::Weak,
        &trace,
        expect![[r#"
            Just Q at 0
            Strong P.b at 1
            StrongGlobal Q.q at 0
        "#]],
    );
    check_exclusions(&model, FairnessKind::StrongGlobal, &trace, expect![""]);
}

#[test]
fn only_strong_global_fairness_helps_against_a_stubborn_choice() {
    let steps = [(0, "a", 1), (1, "b", 0), (0, "b", 2), (2, "a", 0)];
    let model = parts(&[("P", 3, &steps)]).finish().unwrap();
    let trace = walk(&model, &["P.a", "P.b"], Some(0));
    check_exclusions(
        &model,
        FairnessKind::None,
        &trace,
        expect![[r#"
        StrongGlobal P.b at 0
    "#]],
    );
    let all = walk(&model, &["P.a", "P.b>0", "P.b>2", "P.a"], Some(0));
    check_exclusions(&model, FairnessKind::None, &all, expect![""]);
}

#[test]
fn weak_fairness_of_processes_and_of_actions_differ() {
    let (model, _) = toggled();
    let trace = walk(&model, &["Q.toggle", "Q.toggle"], Some(0));
    check_exclusions(
        &model,
        FairnessKind::None,
        &trace,
        expect![[r#"
        WeakProcess P at 0
        Strong P.a at 0
        Strong P.b at 1
        StrongGlobal P.a at 0
    "#]],
    );
    check_exclusions(
        &model,
        FairnessKind::Weak,
        &trace,
        expect![[r#"
        WeakProcess P at 0
        Strong P.a at 0
        Strong P.b at 1
        StrongGlobal P.a at 0
    "#]],
    );
}

/// A sender and a receiver with a buffered channel, an enumeration and a Boolean.
fn mailing() -> Model {
    let mut parts: ModelParts = parts(&[
        ("S", 1, &[(0, "put", 0)]),
        ("R", 2, &[(0, "get", 1), (1, "done", 0)]),
    ]);
    parts.enums.push(EnumType {
        name: "colour".to_owned(),
        variants: vec!["red".to_owned(), "blue".to_owned()],
    });

    let colour = Scalar::Enum(EnumId(0), 2);
    let variable = |name: &str, ty: Scalar| Variable {
        name: name.to_owned(),
        ty: Type::Scalar(ty),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(0)]),
        span: Span::nowhere(),
    };

    parts.vars = vec![variable("last", colour), variable("busy", Scalar::Bool)];
    parts.channels.push(Channel {
        name: "mail".to_owned(),
        indices: Some((1, 2)),
        capacity: 2,
        payload: vec![colour, Scalar::Bool],
        span: Span::nowhere(),
    });

    let channel = || ChannelRef {
        channel: model::ChannelId(0),
        index: Some(Box::new(Expr::Int(2))),
    };
    let place = |var: u32| Place {
        var: VarId(var),
        owner: None,
        path: Vec::new(),
    };
    parts.processes[0].steps[0].sync = Sync::Send {
        channel: channel(),
        payload: vec![Expr::Enum(EnumId(0), 1), Expr::Bool(true)],
    };
    parts.processes[1].steps[0].sync = Sync::Receive {
        channel: channel(),
        patterns: vec![Pattern::Store(place(0)), Pattern::Store(place(1))],
    };
    parts.finish().unwrap()
}

#[test]
fn differences_have_names_and_readable_values() {
    let model = mailing();
    let view = View::new(&model);
    let trace = walk(&model, &["S.put", "S.put", "R.get", "R.done"], None);
    let mut text = String::new();
    for pair in trace.states.windows(2) {
        let list = changes(&view, &pair[0], &pair[1]);
        let list: Vec<String> = list
            .iter()
            .map(|c| format!("{}={}", c.name, c.value))
            .collect();
        text += &format!("{}\n", list.join(" "));
    }
    expect![[r#"
        mail[2]=[(blue, true)]
        mail[2]=[(blue, true), (blue, true)]
        R=l1 last=blue busy=true mail[2]=[(blue, true)]
        R=l0
    "#]]
    .assert_eq(&text);
}

#[test]
fn values_make_up_states_again() {
    let model = mailing();
    let view = View::new(&model);
    let trace = walk(&model, &["S.put", "S.put", "R.get"], None);
    for state in &trace.states {
        assert_eq!(view.state(&view.values(state)).as_ref(), Ok(state));
    }
    let mut values = view.values(&trace.states[1]);
    assert_eq!(view.names(), ["R", "last", "busy", "mail[1]", "mail[2]"]);
    let message = |values: &[Value]| view.state(values).unwrap_err();
    values[1] = Value::Name("green".to_owned());
    assert_eq!(message(&values), "`last` cannot be green");
    values[1] = Value::Name("red".to_owned());
    values[0] = Value::Int(0);
    assert_eq!(message(&values), "`R` cannot be 0");
    values[0] = Value::Name("l1".to_owned());
    values[4] = Value::List(vec![Value::Int(1)]);
    assert_eq!(message(&values), "`mail[2]` cannot be [1]");
    assert_eq!(message(&values[1..]), "4 values for 5 variables");
}

#[test]
fn equal_names_are_told_apart() {
    let mut parts = parts(&[("x", 2, &[])]);
    parts.processes[0].locations = vec!["l".to_owned(), "l".to_owned()];
    parts.vars.push(Variable {
        name: "x".to_owned(),
        ty: Type::Scalar(Scalar::Int),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(-3)]),
        span: Span::nowhere(),
    });
    let model = parts.finish().unwrap();
    let view = View::new(&model);
    let state = model.initial_states().unwrap().remove(0);
    assert_eq!(view.names(), ["x#0", "x#1"]);
    let values = view.values(&state);
    assert_eq!(values, [Value::Name("l#0".to_owned()), Value::Int(-3)]);
    assert_eq!(view.state(&values), Ok(state));
}

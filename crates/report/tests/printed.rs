//! Everything that is printed, as it is printed.

mod system;

use std::sync::Arc;

use base::{AtomId, FairnessKind, SourceId, Span, StopReason};
use evidence::{
    ComponentSize, Confidence, RestsOn, SolverUse, UnknownReason, Verdict, Violation, ViolationKind,
};
use expect_test::{Expect, expect};
use logic::{Ltl, Property};
use model::{Assumption, BinaryOp, Expr, Initial, Stmt, StmtKind};
use report::{
    ConditionNote, Detail, Position, PropertyResult, Style, Warning, chart, text, trace_text,
};
use system::results::{explained, fair_loop, judged, report, result, violated, violation};
use system::{ROUND, fairness, lasso, named, parts, recurs, served, system, walk};

/// The lines about fairness, without their indentation.
fn about_fairness(text: &str) -> String {
    let lines = text.lines().map(str::trim_start);
    let lines = lines.skip_while(|line| !line.starts_with("why"));
    lines.map(|line| format!("{line}\n")).collect()
}

fn check(results: Vec<PropertyResult>, expect: Expect) {
    expect.assert_eq(&text(&report(results), Style::Plain));
}

#[test]
fn a_fair_loop() {
    check(
        vec![result(FairnessKind::Weak, &fair_loop())],
        expect![[r#"
            served  violated  (fairness weak, 2048 states, 0.03 s)
              formula: []<> work
              counterexample: 4 steps, then a loop of 4 steps forever
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
                0  Sender.put                 Sender = ringing, box = [(red, true)]
                1  Sender.ring/Receiver.hear  Sender = waiting, Receiver = door, bell = 7
                2  Receiver.take              Receiver = done, last = red, box = []
                3  reset {Sender, Receiver}   Sender = idle, Receiver = home, bell = 0
              loop:
                4  Sender.put                 Sender = ringing, box = [(red, true)]
                5  Sender.ring/Receiver.hear  Sender = waiting, Receiver = door, bell = 7
                6  Receiver.take              Receiver = done, box = []
                7  reset {Sender, Receiver}   Sender = idle, Receiver = home, bell = 0
              and back to the start of the loop
              why this loop is fair:
                wf(Sender.put)                 taken at step 4
                wf(Sender.ring/Receiver.hear)  taken at step 5
                wf(Receiver.take)              taken at step 6
                wf(reset)                      taken at step 7
                wf(Clerk.work)                 disabled at step 6
                wf(Clerk.alarm)                never enabled
              what would exclude this loop (not tested, and there may be others):
                strong-process  Clerk is enabled at step 4 and never moves
                strong          Clerk.work is enabled at step 4 and never taken
                strong-global   from the state at step 4, Clerk.work is never taken
        "#]],
    );
}

#[test]
fn a_loop_without_fairness_conditions_or_stem() {
    let model = system();
    let trace = walk(&model, &["Clerk.work"], Some(0));
    let verdict = violated(ViolationKind::FairLoop, trace);
    let alarm = named("[]<> alarm", recurs(1));
    check(
        vec![judged(&model, &alarm, FairnessKind::None, &verdict)],
        expect![[r#"
            served  violated  (fairness none, 2048 states, 0.03 s)
              formula: []<> alarm
              counterexample: a loop of 1 step forever
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
              loop:
                0  Clerk.work  (no change)
              and back to the start of the loop
              what would exclude this loop (not tested, and there may be others):
                weak-process   Sender is always enabled and never moves
                weak           Sender.put is always enabled and never taken
                strong-global  from the state at step 0, Sender.put is never taken
        "#]],
    );
}

#[test]
fn a_closed_component() {
    let model = system();
    let around = [
        "Clerk.work",
        "Sender.put",
        "Clerk.work",
        "Sender.ring/Receiver.hear",
        "Receiver.take",
        "reset",
    ];
    let covering = [&ROUND[..], &around].concat();
    let found = Violation {
        covering: Some(walk(&model, &covering, Some(4))),
        component: Some(ComponentSize {
            n_states: 4,
            n_steps: 6,
        }),
        ..violation(ViolationKind::FairLoop, Some(lasso(&model)))
    };
    let alarm = named("[]<> alarm", recurs(1));
    let assumptions = [Assumption::Infinitely(AtomId(0), true)];
    let global = fairness(FairnessKind::StrongGlobal);
    let verdict = Verdict::Violated(Box::new(found));
    check(
        vec![explained(&model, &alarm, global, &assumptions, &verdict)],
        expect![[r#"
            served  violated  (fairness strong-global, 2048 states, 0.03 s)
              formula: []<> alarm
              counterexample: 4 steps, then a loop of 4 steps forever
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
                0  Sender.put                 Sender = ringing, box = [(red, true)]
                1  Sender.ring/Receiver.hear  Sender = waiting, Receiver = door, bell = 7
                2  Receiver.take              Receiver = done, last = red, box = []
                3  reset {Sender, Receiver}   Sender = idle, Receiver = home, bell = 0
              loop:
                4  Sender.put                 Sender = ringing, box = [(red, true)]
                5  Sender.ring/Receiver.hear  Sender = waiting, Receiver = door, bell = 7
                6  Receiver.take              Receiver = done, box = []
                7  reset {Sender, Receiver}   Sender = idle, Receiver = home, bell = 0
              and back to the start of the loop
              why fairness does not exclude it: the loop lies in a closed component of 4 states and 6 steps,
                and a run that takes all of them forever violates the property too
              why that run is fair to annotations and assumptions:
                []<> (work)  true
        "#]],
    );
}

#[test]
fn assumptions() {
    let (model, alarm) = (system(), named("[]<> alarm", recurs(1)));
    let assumptions = [
        Assumption::Infinitely(AtomId(0), false),
        Assumption::Eventually(AtomId(1), false),
    ];
    let none = fairness(FairnessKind::None);
    let result = explained(&model, &alarm, none, &assumptions, &fair_loop());
    let stored = result.trace.unwrap();
    let text = trace_text(&stored, Style::Plain, Detail::default());
    expect![[r#"
        why this loop is fair:
        []<> !(work)   true at step 4
        <>[] !(alarm)  true throughout the loop
        what would exclude this loop (not tested, and there may be others):
        strong-process  Clerk is enabled at step 4 and never moves
        strong          Clerk.work is enabled at step 4 and never taken
        strong-global   from the state at step 4, Clerk.work is never taken
    "#]]
    .assert_eq(&about_fairness(&text));
}

/// The place of `x := 1 / 0` in the source.
fn third_line() -> Span {
    Span::new(SourceId(0), 42, 52)
}

#[test]
fn a_run_time_error() {
    let mut parts = parts();
    let fails = StmtKind::Assert(Expr::Bool(false));
    parts.processes[0].steps[1].effect = vec![Stmt::new(fails, third_line())];
    let model = parts.finish().unwrap();
    let trace = walk(&model, &["Sender.put"], None);
    let error = model.successors(&trace.states[1]).unwrap_err();
    let verdict = violated(ViolationKind::RunTimeError(error), trace);
    check(
        vec![judged(&model, &served(), FairnessKind::None, &verdict)],
        expect![[r#"
            served  violated  (fairness none, 2048 states, 0.03 s)
              formula: []<> work
              counterexample: 1 step to a run-time error
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
                0  Sender.put  Sender = ringing, box = [(red, true)]
              run-time error: the assertion is false, at mail.fair:3:3, in Sender.ring/Receiver.hear
        "#]],
    );
}

#[test]
fn a_run_time_error_in_an_initial_value() {
    let mut parts = parts();
    let undefined = Expr::binary(BinaryOp::Div, Expr::Int(1), Expr::Int(0));
    parts.vars[1].initial = Initial::Values(vec![undefined]);
    parts.vars[1].span = third_line();
    let model = parts.finish().unwrap();
    let error = model.initial_states().unwrap_err();
    let found = violation(ViolationKind::RunTimeError(error), None);
    let verdict = Verdict::Violated(Box::new(found));
    check(
        vec![judged(&model, &served(), FairnessKind::None, &verdict)],
        expect![[r#"
            served  violated  (fairness none, 2048 states, 0.03 s)
              warning: mail.fair:3:3: no initial state: division by zero [run-time-error]
        "#]],
    );
}

#[test]
fn a_deadlock() {
    let mut parts = parts();
    parts.processes[0].steps.pop();
    parts.processes[2].steps.pop();
    let model = parts.finish().unwrap();
    let verdict = violated(ViolationKind::Deadlock, walk(&model, &ROUND[..3], None));
    let free = named("deadlockfree", Property::DeadlockFree);
    check(
        vec![judged(&model, &free, FairnessKind::None, &verdict)],
        expect![[r#"
            served  violated  (fairness none, 2048 states, 0.03 s)
              formula: deadlockfree
              counterexample: 3 steps to a state without steps
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
                0  Sender.put                 Sender = ringing, box = [(red, true)]
                1  Sender.ring/Receiver.hear  Sender = waiting, Receiver = door, bell = 7
                2  Receiver.take              Receiver = done, last = red, box = []
        "#]],
    );
}

#[test]
fn a_bad_prefix_and_a_witness() {
    let model = system();
    let work = Ltl::atom(AtomId(0));
    let never = named("[] !work", Property::Invariant(Ltl::not(work.clone())));
    let worked = walk(&model, &["Clerk.work"], None);
    let verdict = violated(ViolationKind::BadPrefix, worked.clone());
    let reach = named("reachable work", Property::Reachable(work));
    let witness = Some(worked);
    let unreachable = named("reachable alarm", Property::Reachable(Ltl::atom(AtomId(1))));
    let nothing = Verdict::Violated(Box::new(violation(ViolationKind::Unreachable, None)));
    check(
        vec![
            judged(&model, &never, FairnessKind::None, &verdict),
            judged(
                &model,
                &reach,
                FairnessKind::None,
                &Verdict::Holds { witness },
            ),
            judged(&model, &unreachable, FairnessKind::None, &nothing),
        ],
        expect![[r#"
            served  violated  (fairness none, 2048 states, 0.03 s)
              formula: [] !work
              counterexample: 1 step to a state that breaks the property
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
                0  Clerk.work  (no change)
            served  holds  (fairness none, 2048 states, 0.03 s)
              formula: reachable work
              witness: 1 step
              start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
                0  Clerk.work  (no change)
            served  violated  (fairness none, 2048 states, 0.03 s)
              no reachable state satisfies the property
        "#]],
    );
}

#[test]
fn verdicts_without_traces_and_warnings() {
    let unsupported = UnknownReason::Unsupported("timers need a threshold".to_owned());
    let mut held = result(FairnessKind::Weak, &Verdict::Holds { witness: None });
    held.states = Some(1);
    held.warnings.push(Warning {
        code: "no-fair-run".to_owned(),
        message: "the system has no fair run".to_owned(),
        position: None,
    });
    let stopped = UnknownReason::Stopped(StopReason::StateLimit);
    let mut report = report(vec![
        held,
        result(FairnessKind::Weak, &Verdict::Unknown(stopped)),
        result(FairnessKind::Weak, &Verdict::Unknown(unsupported)),
    ]);
    report.warnings.push(Warning {
        code: "unused-variable".to_owned(),
        message: "`y` is never used".to_owned(),
        position: Some(Position {
            file: "mail.fair".to_owned(),
            line: 3,
            column: 3,
        }),
    });
    expect![[r#"
        served  holds  (fairness weak, 1 state, 0.03 s)
          warning: the system has no fair run [no-fair-run]
        served  unknown: state-limit  (fairness weak, 2048 states, 0.03 s)
        served  unknown: unsupported  (fairness weak, 2048 states, 0.03 s)
          warning: mail.fair:2:10: timers need a threshold [unsupported]
        warning: mail.fair:3:3: `y` is never used [unused-variable]
    "#]]
    .assert_eq(&text(&report, Style::Plain));
}

#[test]
fn many_conditions_are_summarised() {
    let mut result = result(FairnessKind::Weak, &fair_loop());
    let trace = result.trace.as_mut().unwrap();
    let note = |index: usize, because: &str, at: Option<usize>| ConditionNote {
        condition: format!("wf(P[{index}].enter)"),
        fair_because: because.to_owned(),
        at,
    };
    let never = (0..100).map(|index| note(index, "never-enabled", None));
    let taken = (0..13).map(|index| note(index, "taken", Some(index)));
    let disabled = (0..2).map(|index| note(index, "disabled", Some(index)));
    trace.meta.conditions = never.chain(taken).chain(disabled).collect();
    let text = trace_text(trace, Style::Plain, Detail::default());
    expect![[r#"
        why this loop is fair:
        13 conditions: taken (wf(P[0].enter) at step 0, wf(P[1].enter) at step 1, wf(P[2].enter) at step 2, ...)
        wf(P[0].enter)  disabled at step 0
        wf(P[1].enter)  disabled at step 1
        100 conditions: never enabled (wf(P[0].enter), wf(P[1].enter), wf(P[2].enter), ...)
        what would exclude this loop (not tested, and there may be others):
        strong-process  Clerk is enabled at step 4 and never moves
        strong          Clerk.work is enabled at step 4 and never taken
        strong-global   from the state at step 4, Clerk.work is never taken
    "#]].assert_eq(&about_fairness(&text));
}

#[test]
fn colours_are_escape_sequences() {
    let holds = result(FairnessKind::None, &Verdict::Holds { witness: None });
    let printed = text(&report(vec![holds]), Style::Ansi);
    assert_eq!(
        printed,
        "\u{1b}[1mserved\u{1b}[0m  \u{1b}[1;32mholds\u{1b}[0m  (fairness none, 2048 states, 0.03 s)\n"
    );
}

#[test]
fn charts() {
    let stored = result(FairnessKind::None, &fair_loop()).trace.unwrap();
    expect![[r#"
            Sender    Receiver
               |          |
        0      *          |    Sender.put  box!(red, true)
        1      o--------->*    Sender.ring/Receiver.hear  door: 7
        2      o--------->*    Receiver.take  box?(red, true)
        3      *==========*    reset
        ----------------------- loop
        4      *          |    Sender.put  box!(red, true)
        5      o--------->*    Sender.ring/Receiver.hear  door: 7
        6      o--------->*    Receiver.take  box?(red, true)
        7      *==========*    reset
        ----------------------- back to loop
    "#]]
    .assert_eq(&chart(&stored));
    let mut unmoved = stored.clone();
    for state in &mut Arc::make_mut(&mut unmoved.run).states {
        Arc::make_mut(&mut state.step).movers.clear();
    }
    assert_eq!(chart(&unmoved), "no process moves in this trace\n");
}

/// The line that says what a verdict rests on.
fn basis(rests_on: RestsOn) -> Option<String> {
    let mut held = result(FairnessKind::None, &Verdict::Holds { witness: None });
    held.rests_on = rests_on;
    let text = text(&report(vec![held]), Style::Plain);
    let line = text.lines().nth(1)?;
    Some(line.trim_start().to_owned())
}

#[test]
fn what_a_verdict_rests_on() {
    let solver = |answers: u64, confirmed: u64, by: Option<&str>| SolverUse {
        name: "embedded".to_owned(),
        answers,
        confirmed,
        confirmed_by: by.map(str::to_owned),
    };
    let rests = |confidence: Confidence, reductions: &[&str], solvers: Vec<SolverUse>| {
        basis(RestsOn {
            confidence: Some(confidence),
            reductions: reductions.iter().map(|&name| name.to_owned()).collect(),
            solvers,
            instances: Vec::new(),
        })
    };

    // The plain cases need no words, and neither does a run, however it was found.
    assert_eq!(basis(RestsOn::default()), None);
    assert_eq!(rests(Confidence::Searched, &[], vec![]), None);
    assert_eq!(
        rests(
            Confidence::Replayed,
            &["symmetry"],
            vec![solver(3, 0, None)]
        ),
        None
    );
    assert_eq!(
        rests(Confidence::ConfirmedSolver, &[], vec![solver(0, 0, None)]),
        None
    );

    let all = ["partial-order", "symmetry", "dead-variables"];
    let lines: Vec<String> = [
        rests(Confidence::SearchedWithReduction, &all, vec![]),
        rests(
            Confidence::UnconfirmedSolver,
            &[],
            vec![solver(312, 0, None)],
        ),
        rests(
            Confidence::UnconfirmedSolver,
            &[],
            vec![solver(312, 17, Some("z3"))],
        ),
        rests(
            Confidence::ConfirmedSolver,
            &all[1..2],
            vec![solver(1, 1, Some("z3"))],
        ),
        rests(Confidence::UnconfirmedSolver, &[], vec![]),
    ]
    .into_iter()
    .map(|line| line.expect("there is something to say"))
    .collect();
    expect![[r#"
        rests on: partial-order reduction; symmetry reduction; reduction by dead variables
        rests on: embedded solver, 312 answers, none confirmed
        rests on: embedded solver, 312 answers, 17 confirmed by z3
        rests on: symmetry reduction; embedded solver, 1 answer, all confirmed by z3
        rests on: answers of a solver that were not confirmed"#]]
    .assert_eq(&lines.join("\n"));
}

#[test]
fn whole_states_and_all_conditions_on_demand() {
    let result = result(FairnessKind::Weak, &fair_loop());
    let detail = Detail {
        full_states: true,
        all_conditions: true,
    };
    let text = trace_text(&result.trace.unwrap(), Style::Plain, detail);
    let states: Vec<&str> = text.lines().skip(4).take(4).collect();
    expect![[r#"
          start: Sender = idle, Receiver = home, last = blue, bell = 0, box = []
            0  Sender.put                 Sender = ringing, Receiver = home, last = blue, bell = 0,
                                          box = [(red, true)]
            1  Sender.ring/Receiver.hear  Sender = waiting, Receiver = door, last = blue, bell = 7,"#]].assert_eq(&states.join("\n"));
}

//! `fair check`: verdicts, selection of properties, text output.

use expect_test::expect;

use crate::models::{ANYWHERE, COUNTER, OVERFLOW, SUSPICIOUS, TOGGLE};
use crate::scene::Scene;

#[test]
fn every_kind_of_property_is_reported() {
    let scene = Scene::with("every_kind", "m.fair", COUNTER);
    scene.check(
        &["check", "m.fair"],
        expect![[r#"
            top  holds  (fairness none, 4 states visited, T s)
            small  violated  (fairness none, 4 states, T s)
              formula: x < 3
              counterexample: 3 steps to a state that breaks the property
              start: x = 0
                0  P.up  x = 1
                1  P.up  x = 2
                2  P.up  x = 3
            two  holds  (fairness none, 3 states, T s)
              formula: x == 2
              witness: 2 steps
              start: x = 0
                0  P.up  x = 1
                1  P.up  x = 2
            minus  violated  (fairness none, 4 states, T s)
              no reachable state satisfies the property
            deadlockfree  violated  (fairness none, 4 states, T s)
              formula: deadlockfree
              counterexample: 3 steps to a state without steps
              start: x = 0
                0  P.up  x = 1
                1  P.up  x = 2
                2  P.up  x = 3
            --- exit status 1
        "#]],
    );
}

#[test]
fn quiet_prints_verdicts_only_and_verbose_the_cost() {
    let scene = Scene::with("quiet", "m.fair", COUNTER);
    scene.check(
        &["check", "-q", "m.fair"],
        expect![[r#"
            top  holds  (fairness none, 4 states visited, T s)
            small  violated  (fairness none, 4 states, T s)
            two  holds  (fairness none, 3 states, T s)
            minus  violated  (fairness none, 4 states, T s)
            deadlockfree  violated  (fairness none, 4 states, T s)
            --- exit status 1
        "#]],
    );
    scene.check(
        &[
            "check",
            "-v",
            "m.fair",
            "--property",
            "top",
            "--property",
            "two",
        ],
        expect![[r#"
            top  holds  (fairness none, 4 states visited, T s)
              formula: eventually x == LIMIT
              cost: route explicit, 4 states, 3 transitions, 4 product states, M KiB, T s
            two  holds  (fairness none, 3 states, T s)
              formula: x == 2
              witness: 2 steps
              start: x = 0
                0  P.up  x = 1
                1  P.up  x = 2
              cost: route explicit, 3 states, 2 transitions, M KiB, T s
            --- exit status 0
        "#]],
    );
}

#[test]
fn fairness_decides() {
    let scene = Scene::with("fairness", "m.fair", TOGGLE);
    scene.check(
        &["check", "m.fair", "--fairness", "weak"],
        expect![[r#"
            recurs  violated  (fairness weak, 2 states, T s)
              formula: []<>(P.a || P.b)
              counterexample: a loop of 2 steps forever
              start: x = 0
              loop:
                0  Q.toggle  x = 1
                1  Q.toggle  x = 0
              and back to the start of the loop
              why this loop is fair:
                wf(Q.toggle)  taken at step 0
                wf(P.a)       disabled at step 1
                wf(P.b)       disabled at step 0
              what would help (tested):
                weak-process  with weak fairness of P the property holds
                strong        with strong fairness of P.a the property holds
            --- exit status 1
        "#]],
    );
    let expected = [
        ("none", 1),
        ("weak", 1),
        ("weak-action", 1),
        ("annotated", 1),
        ("weak-process", 0),
        ("strong-process", 0),
        ("strong", 0),
        ("strong-local+annotated", 0),
        ("strong-global", 0),
    ];
    for (fairness, status) in expected {
        let called = scene.call(&["check", "m.fair", "--fairness", fairness]);
        assert_eq!(called.status, status, "{fairness}: {}", called.stdout);
    }
}

#[test]
fn assumptions_exclude_runs() {
    let scene = Scene::with("assume", "m.fair", TOGGLE);
    let arguments = ["check", "m.fair", "--assume", "[]<> P.a || []<> P.b"];
    scene.check(
        &arguments,
        expect![[r#"
        recurs  holds  (fairness none, 2 states, T s)
        --- exit status 0
    "#]],
    );
    let arguments = ["check", "m.fair", "--assume", "[]<> x == 0"];
    scene.check(
        &arguments,
        expect![[r#"
            recurs  violated  (fairness none, 2 states, T s)
              formula: []<>(P.a || P.b)
              counterexample: a loop of 2 steps forever
              start: x = 0
              loop:
                0  Q.toggle  x = 1
                1  Q.toggle  x = 0
              and back to the start of the loop
              why this loop is fair:
                []<> (x == 0)  true at step 0
              what would help (tested):
                weak-process  with weak fairness of P the property holds
                strong        with strong fairness of P.a the property holds
            --- exit status 1
        "#]],
    );
}

#[test]
fn formulas_of_the_call_replace_the_properties_of_the_file() {
    let scene = Scene::with("ltl", "m.fair", COUNTER);
    let arguments = [
        "check",
        "m.fair",
        "--ltl",
        "<> x == 3",
        "--ltl",
        "[] x < 2",
        "-q",
    ];
    scene.check(
        &arguments,
        expect![[r#"
            ltl-1  holds  (fairness none, 4 states visited, T s)
            ltl-2  violated  (fairness none, 3 states, T s)
            --- exit status 1
        "#]],
    );
    let arguments = [
        "check",
        "m.fair",
        "--ltl",
        "<> x == 3",
        "--property",
        "two",
        "-q",
    ];
    scene.check(
        &arguments,
        expect![[r#"
            two  holds  (fairness none, 3 states, T s)
            ltl-1  holds  (fairness none, 4 states visited, T s)
            --- exit status 0
        "#]],
    );
}

#[test]
fn constants_can_be_overridden() {
    let scene = Scene::with("define", "m.fair", COUNTER);
    let arguments = [
        "check",
        "m.fair",
        "-D",
        "LIMIT=2",
        "--property",
        "small",
        "-q",
    ];
    scene.check(
        &arguments,
        expect![[r#"
        small  holds  (fairness none, 3 states, T s)
        --- exit status 0
    "#]],
    );
}

#[test]
fn warnings_are_part_of_the_text() {
    let scene = Scene::with("warnings", "m.fair", SUSPICIOUS);
    scene.check(&["check", "m.fair"], expect![[r#"
        flips  holds  (fairness annotated, 2 states, T s)
        vacuous  holds  (fairness annotated, 2 states, T s)
          warning: m.fair:7:10: the left side of the implication, `x > 5`, is never true [premise-never-true]
        warning: m.fair:4:5: `P.never` is never taken [never-taken]
        warning: m.fair:3:5: this fairness never matters: every property holds without it [needless-fairness]
        --- exit status 0
    "#]]);
}

#[test]
fn annotations_are_called_needless_only_if_everything_was_checked() {
    let scene = Scene::with("needless", "m.fair", SUSPICIOUS);
    let arguments = ["check", "m.fair", "--property", "flips"];
    scene.check(
        &arguments,
        expect![[r#"
        flips  holds  (fairness annotated, 2 states, T s)
        warning: m.fair:4:5: `P.never` is never taken [never-taken]
        --- exit status 0
    "#]],
    );
}

#[test]
fn run_time_errors_are_violations_with_a_trace() {
    let scene = Scene::with("run_time_error", "m.fair", OVERFLOW);
    scene.check(
        &["check", "m.fair"],
        expect![[r#"
            forever  violated  (fairness none, 3 states, T s)
              formula: always eventually P.up
              counterexample: 2 steps to a run-time error
              start: x = 0
                0  P.up  x = 1
                1  P.up  x = 2
              run-time error: the value 3 is outside the type of `x`, at m.fair:3:10, in P.up
            --- exit status 1
        "#]],
    );
}

#[test]
fn an_initial_value_outside_its_type_is_a_violation() {
    let model =
        "process P(i in 1..3) { var x : 0..2 = i\n step { skip } }\ninvariant ok: P[1].x < 9\n";
    let scene = Scene::with("initial_error", "m.fair", model);
    scene.check(
        &["check", "m.fair"],
        expect![[r#"
            ok  violated  (fairness none, 0 states, T s)
              warning: m.fair:1:28: no initial state: the value 3 is outside the type of `P[3].x` [run-time-error]
            --- exit status 1
        "#]],
    );
}

#[test]
fn all_initial_states_count() {
    let scene = Scene::with("anywhere", "m.fair", ANYWHERE);
    scene.check(
        &["check", "m.fair"],
        expect![[r#"
            top  holds  (fairness none, 4 states visited, T s)
            --- exit status 0
        "#]],
    );
}

#[test]
fn a_route_can_be_named_if_it_fits() {
    let scene = Scene::with("route", "m.fair", ANYWHERE);
    assert_eq!(
        scene
            .call(&["check", "m.fair", "--route", "explicit"])
            .status,
        0
    );
    scene.check(
        &["check", "m.fair", "--route", "ws1s"],
        expect![[r#"
            --- stderr
            error: the model has no parameter without value (`param N`), so there is nothing to check for all values
            --- exit status 2
        "#]],
    );
}

#[test]
fn colours_are_used_when_asked_for() {
    let scene = Scene::with("colours", "m.fair", TOGGLE);
    let coloured = |arguments: &[&str]| scene.call(arguments).stdout.contains('\u{1b}');
    assert!(!coloured(&["check", "m.fair"]));
    assert!(coloured(&["check", "m.fair", "--color", "always"]));
    assert!(!coloured(&["--color", "never", "check", "m.fair"]));
    let wrong = scene.call(&["check", "m.fair", "--color", "always", "--ltl", "<> zz"]);
    assert!(wrong.stderr.contains("\u{1b}["), "{}", wrong.stderr);
    let mut command = scene.command(&["check", "m.fair"]);
    let mut is_coloured = |name: &str| {
        let output = command.env(name, "1").output().expect("the binary runs");
        output.stdout.contains(&0x1b)
    };
    assert!(is_coloured("CLICOLOR_FORCE"));
    assert!(!is_coloured("NO_COLOR"));
}

#[test]
fn a_reader_may_go_away() {
    let scene = Scene::with("broken_pipe", "m.fair", TOGGLE);
    let mut command = scene.command(&["check", "m.fair"]);
    let mut child = command
        .stdout(std::process::Stdio::piped())
        .stderr(std::process::Stdio::piped())
        .spawn()
        .expect("the binary runs");
    drop(child.stdout.take());
    let output = child.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "");
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    let scene = Scene::with("deep", "m.fair", TOGGLE);
    let deep = format!("{}x == 0{}", "!(".repeat(90), ")".repeat(90));
    let called = scene.call(&["check", "m.fair", "--ltl", &deep]);
    assert_eq!(called.status, 0, "{}", called.stderr);
    let absurd = format!("{}x == 0{}", "(".repeat(30_000), ")".repeat(30_000));
    let called = scene.call(&["check", "m.fair", "--ltl", &absurd]);
    assert_eq!(called.status, 2, "{}", called.stderr);
}

#[test]
fn formulas_with_path_quantifiers() {
    let scene = Scene::with("ctl", "m.fair", TOGGLE);
    scene.check(
        &[
            "check",
            "m.fair",
            "--ctl",
            "AG EF P.a",
            "--ctl",
            "A(G(E(X P.a) || E X P.b))",
        ],
        expect![[r#"
            ctl-1  holds  (fairness none, 2 states, T s)
            ctl-2  holds  (fairness none, 2 states, T s)
            --- exit status 0
        "#]],
    );
    scene.check(
        &[
            "check",
            "m.fair",
            "--ctl",
            "EG !AF P.a",
            "--fairness",
            "weak",
        ],
        expect![[r#"
            ctl-1  holds  (fairness weak, 2 states, T s)
              this fair run satisfies []!A(<>P.a)
              formula: EG !AF P.a
              trace: a loop of 2 steps
              start: x = 0
              loop:
                0  Q.toggle  x = 1
                1  Q.toggle  x = 0
              and back to the start of the loop
              why this loop is fair:
                wf(Q.toggle)  taken at step 0
                wf(P.a)       disabled at step 1
                wf(P.b)       disabled at step 0
              what would exclude this loop (not tested, and there may be others):
                weak-process   P is always enabled and never moves
                strong         P.a is enabled at step 0 and never taken (and 1 more)
                strong-global  from the state at step 0, P.a is never taken
              on the way, this fair run satisfies []!P.a
                formula: EG !AF P.a
                trace: a loop of 2 steps
                start: x = 0
                loop:
                  0  Q.toggle  x = 1
                  1  Q.toggle  x = 0
                and back to the start of the loop
                why this loop is fair:
                  wf(Q.toggle)  taken at step 0
                  wf(P.a)       disabled at step 1
                  wf(P.b)       disabled at step 0
                what would exclude this loop (not tested, and there may be others):
                  weak-process   P is always enabled and never moves
                  strong         P.a is enabled at step 0 and never taken (and 1 more)
                  strong-global  from the state at step 0, P.a is never taken
              on the way, this fair run satisfies []!P.a
                formula: EG !AF P.a
                trace: a loop of 2 steps
                start: x = 1
                loop:
                  0  Q.toggle  x = 0
                  1  Q.toggle  x = 1
                and back to the start of the loop
            --- exit status 0
        "#]],
    );
    scene.check(
        &[
            "check",
            "m.fair",
            "--ctl",
            "E X false",
            "--assume",
            "[]<> false",
        ],
        expect![[r#"
            ctl-1  violated  (fairness none, 2 states, T s)
              no fair run from the initial state satisfies the formula
            --- exit status 1
        "#]],
    );
    scene.check(
        &[
            "check",
            "m.fair",
            "--ctl",
            "AX EX P.a || AG EX P.b",
            "--assume",
            "[]<> false",
        ],
        expect![[r#"
            ctl-1  holds  (fairness none, 2 states, T s)
              warning: <--ctl>:1:1: the system has no fair run, so `ctl-1` holds vacuously [no-fair-run]
            --- exit status 0
        "#]],
    );
}

//! Stored traces: `--trace`, `fair explain`, `fair replay`.

use expect_test::expect;

use crate::models::{COUNTER, MESSAGES, OVERFLOW, TOGGLE};
use crate::scene::Scene;

const GROWING: &str = "
var x : nat = 0
process P { inc { x := x + 1 } }
property back: always eventually x == 0
";

#[test]
fn a_run_that_never_returns_is_stored_explained_and_replayed() {
    let scene = Scene::with("trace_endless", "m.fair", GROWING);
    scene.call(&[
        "check",
        "m.fair",
        "--route",
        "predicate",
        "--solver",
        "embedded",
        "--trace",
        "t.itf.json",
    ]);
    scene.check(
        &["explain", "t.itf.json"],
        expect![[r#"
            back
              fairness: none
              formula: always eventually x == 0
              counterexample: 1 step, then rounds of 1 step with ever new numbers, forever
              start: x = 0
                0  P.inc  x = 1
              round 1:
                1  P.inc  x = 2
              round 2:
                2  P.inc  x = 3
              round 3:
                3  P.inc  x = 4
              and so on forever, as the solver has proved; in every round:
                x grows by 1
              at the start of every round, and enough for one more:
                x != 0
            --- exit status 0
        "#]],
    );
    scene.check(
        &["replay", "m.fair", "t.itf.json"],
        expect![[r#"
            valid: a run of the model with 5 states
            confirmed: it violates `back` under fairness none if it goes on like its first hundred rounds
            --- exit status 0
        "#]],
    );
}

#[test]
fn a_loop_is_stored_explained_and_replayed() {
    let scene = Scene::with("trace_loop", "m.fair", TOGGLE);
    scene.call(&[
        "check",
        "m.fair",
        "--fairness",
        "weak",
        "--trace",
        "t.itf.json",
    ]);
    scene.check(
        &["explain", "t.itf.json"],
        expect![[r#"
            recurs
              fairness: weak
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
            --- exit status 0
        "#]],
    );
    scene.check(
        &["explain", "--msc", "t.itf.json"],
        expect![[r#"
              Q
              |
        ---------- loop
        0     *   Q.toggle
        1     *   Q.toggle
        ---------- back to loop
        --- exit status 0
    "#]],
    );
    scene.check(
        &["replay", "m.fair", "t.itf.json"],
        expect![[r#"
        valid: a run of the model with 2 states
        confirmed: it violates `recurs` under fairness weak
        --- exit status 0
    "#]],
    );
    expect![[r##"
        {
          "#meta": {
            "format": "ITF",
            "source": "m.fair",
            "property": "recurs",
            "formula": "[]<>(P.a || P.b)",
            "fairness": "weak",
            "kind": "fair-loop",
            "error": null,
            "conditions": [
              {
                "condition": "wf(P.a)",
                "fair_because": "disabled",
                "at": 1
              },
              {
                "condition": "wf(P.b)",
                "fair_because": "disabled",
                "at": 0
              },
              {
                "condition": "wf(Q.toggle)",
                "fair_because": "taken",
                "at": 0
              }
            ],
            "assumptions": [],
            "excluded_by": [
              {
                "fairness": "weak-process",
                "subject": "P",
                "at": 0,
                "suffices": true,
                "notion_suffices": true
              },
              {
                "fairness": "strong",
                "subject": "P.a",
                "at": 0,
                "suffices": true,
                "notion_suffices": true
              },
              {
                "fairness": "strong",
                "subject": "P.b",
                "at": 1,
                "suffices": true,
                "notion_suffices": true
              }
            ],
            "component": null,
            "processes": [
              "P",
              "Q"
            ]
          },
          "vars": [
            "x"
          ],
          "states": [
            {
              "#meta": {
                "index": 0,
                "actions": [
                  "Q.toggle"
                ],
                "movers": [
                  "Q"
                ]
              },
              "x": 0
            },
            {
              "#meta": {
                "index": 1,
                "actions": [
                  "Q.toggle"
                ],
                "movers": [
                  "Q"
                ]
              },
              "x": 1
            }
          ],
          "loop": 0
        }
    "##]]
    .assert_eq(&scene.read("t.itf.json"));
}

#[test]
fn a_trace_that_no_longer_fits_is_refused() {
    let scene = Scene::with("trace_stale", "m.fair", TOGGLE);
    scene.call(&[
        "check",
        "m.fair",
        "--fairness",
        "weak",
        "--trace",
        "t.itf.json",
    ]);
    let changed = TOGGLE.replace("toggle {", "toggle when x == 0 {");
    scene.write("changed.fair", changed.as_bytes());
    scene.check(
        &["replay", "changed.fair", "t.itf.json"],
        expect![[r#"
        invalid: step 1: `Q.toggle` is not possible in state 1
        --- exit status 1
    "#]],
    );
    let other = TOGGLE.replace("x", "y");
    scene.write("other.fair", other.as_bytes());
    scene.check(
        &["replay", "other.fair", "t.itf.json"],
        expect![[r#"
        invalid: the model has no variable `x`
        --- exit status 1
    "#]],
    );
    let weaker = TOGGLE.replace("[]<>(P.a || P.b)", "[]<> Q.toggle");
    scene.write("weaker.fair", weaker.as_bytes());
    scene.check(
        &["replay", "weaker.fair", "t.itf.json"],
        expect![[r#"
        valid: a run of the model with 2 states
        refuted: the trace satisfies the property
        --- stderr
        note: `recurs` has changed; it is now: []<> Q.toggle
        --- exit status 1
    "#]],
    );
    let without = TOGGLE.replace("property recurs", "property again");
    scene.write("without.fair", without.as_bytes());
    scene.check(
        &["replay", "without.fair", "t.itf.json"],
        expect![[r#"
        valid: a run of the model with 2 states
        not judged: the model has no property `recurs`
        --- exit status 3
    "#]],
    );
    let stricter = scene
        .read("t.itf.json")
        .replace("\"weak\"", "\"weak-process\"");
    scene.write("stricter.itf.json", stricter.as_bytes());
    scene.check(
        &["replay", "m.fair", "stricter.itf.json"],
        expect![[r#"
        valid: a run of the model with 2 states
        refuted: the loop is not fair: it breaks wf(P)
        --- exit status 1
    "#]],
    );
}

#[test]
fn finite_traces_are_judged_too() {
    let scene = Scene::with("trace_finite", "m.fair", COUNTER);
    let judged = |property: &str| {
        scene.call(&[
            "check",
            "m.fair",
            "--property",
            property,
            "--trace",
            "t.itf.json",
        ]);
        scene.call(&["replay", "m.fair", "t.itf.json"]).transcript()
    };
    expect![[r#"
        valid: a run of the model with 4 states
        confirmed: it violates `small` under fairness none
        --- exit status 0
    "#]]
    .assert_eq(&judged("small"));
    expect![[r#"
        valid: a run of the model with 4 states
        confirmed: it violates `deadlockfree` under fairness none
        --- exit status 0
    "#]]
    .assert_eq(&judged("deadlockfree"));
    expect![[r#"
        valid: a run of the model with 3 states
        confirmed: it shows that `two` holds
        --- exit status 0
    "#]]
    .assert_eq(&judged("two"));
    scene.write("m.fair", OVERFLOW.as_bytes());
    expect![[r#"
        valid: a run of the model with 3 states
        confirmed: it violates `forever` under fairness none
        --- exit status 0
    "#]]
    .assert_eq(&judged("forever"));
}

#[test]
fn formulas_of_the_call_are_judged_again() {
    let scene = Scene::with("trace_ltl", "m.fair", COUNTER);
    scene.call(&[
        "check",
        "m.fair",
        "--ltl",
        "[] x < 2",
        "--trace",
        "t.itf.json",
    ]);
    scene.check(
        &["replay", "m.fair", "t.itf.json"],
        expect![[r#"
            valid: a run of the model with 3 states
            confirmed: it violates `ltl-1` under fairness none
            --- exit status 0
        "#]],
    );
}

#[test]
fn strong_global_loops_are_judged_in_part() {
    let scene = Scene::with("trace_global", "m.fair", TOGGLE);
    let arguments = [
        "check",
        "m.fair",
        "--ltl",
        "<>[] x == 0",
        "--fairness",
        "strong-global",
        "--trace",
        "t.itf.json",
    ];
    scene.check(
        &arguments,
        expect![[r#"
            ltl-1  violated  (fairness strong-global, 2 states, T s)
              formula: <>[] x == 0
              counterexample: a loop of 2 steps forever
              start: x = 0
              loop:
                0  Q.toggle  x = 1
                1  Q.toggle  x = 0
              and back to the start of the loop
              why fairness does not exclude it: the loop lies in a closed component of 2 states and 4 steps,
                and a run that takes all of them forever violates the property too
            --- exit status 1
        "#]],
    );
    scene.check(&["replay", "m.fair", "t.itf.json"], expect![[r#"
        valid: a run of the model with 2 states
        not judged: it violates `ltl-1`; whether it lies in a closed component of the model, as strong global fairness demands, only `fair check` can tell
        --- exit status 3
    "#]]);
}

#[test]
fn assumptions_are_replayed() {
    let scene = Scene::with("trace_assume", "m.fair", TOGGLE);
    let assume = ["--assume", "[]<> x == 0"];
    scene.call(&[&["check", "m.fair", "--trace", "t.itf.json"], &assume[..]].concat());
    let called = scene.call(&[&["replay", "m.fair", "t.itf.json"], &assume[..]].concat());
    assert_eq!(called.status, 0, "{}", called.stdout);
    let other = ["--assume", "[]<> P.a"];
    let called = scene.call(&[&["replay", "m.fair", "t.itf.json"], &other[..]].concat());
    assert_eq!(called.status, 1, "{}", called.stdout);
}

#[test]
fn messages_are_drawn() {
    let scene = Scene::with("trace_messages", "m.fair", MESSAGES);
    scene.call(&["check", "m.fair", "--trace", "t.itf.json"]);
    scene.check(
        &["explain", "--msc", "t.itf.json"],
        expect![[r#"
                  S       R       T
                  |       |       |
            0     o------>*       |   S.send/R.get  direct: 2
            1     |       *       |   R.store  buffer!2
            2     |       o------>*   T.take  buffer?2
            --- exit status 0
        "#]],
    );
}

#[test]
fn one_of_several_traces_is_stored() {
    let scene = Scene::with("trace_several", "m.fair", COUNTER);
    let called = scene.call(&["check", "m.fair", "--trace", "t.itf.json"]);
    expect![[r#"
        note: `t.itf.json` holds the trace of `small`; use --property for the others
    "#]]
    .assert_eq(&called.stderr);
    let called = scene.call(&[
        "check",
        "m.fair",
        "--property",
        "top",
        "--trace",
        "u.itf.json",
    ]);
    expect![[r#"
        note: there is no trace to be stored
    "#]]
    .assert_eq(&called.stderr);
    assert!(!scene.path("u.itf.json").exists());
}

#[test]
fn what_is_no_trace_is_refused() {
    let scene = Scene::with("trace_wrong", "t.itf.json", "{\"vars\": [\"x\"]}");
    scene.check(
        &["explain", "t.itf.json"],
        expect![[r#"
        --- stderr
        error: `t.itf.json`: the ITF file has no `states`
        --- exit status 2
    "#]],
    );
    scene.check(
        &["explain", "missing.itf.json"],
        expect![[r#"
        --- stderr
        error: `missing.itf.json` cannot be read: No such file or directory (os error 2)
        --- exit status 2
    "#]],
    );
    scene.write("t.itf.json", b"not json");
    scene.check(
        &["explain", "t.itf.json"],
        expect![[r#"
        --- stderr
        error: `t.itf.json`: the ITF file is not JSON: expected ident at line 1 column 2
        --- exit status 2
    "#]],
    );
}

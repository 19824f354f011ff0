//! What those who know Spin look for.

use expect_test::expect;

use crate::scene::Scene;

const FAILING: &str = "\
byte x;
active proctype P() {
  do
  :: x < 3 -> x++; assert(x != 2)
  :: else -> break
  od;
  (x == 4)
}
ltl grows { <> (x == 3) }
";

const PRINTING: &str = "\
mtype = { ping, pong };
mtype m = pong;
byte n = 3;
active [2] proctype P() {
  atomic {
    n++;
    printf(\"P%d: n is %d\\n\", _pid, n);
    n++;
    printf(\"then %d, %e\\n\", n, m)
  }
}
";

const LOSING: &str = "\
chan c = [1] of { byte };
active proctype S() { c!1; c!2 }
";

#[test]
fn a_failed_assertion_is_shown_once() {
    let scene = Scene::with("failed_once", "m.pml", FAILING);
    scene.check(
        &["check", "m.pml"],
        expect![[r#"
        assertions  violated  (fairness none, 6 states, T s)
          formula: no assertion fails
          counterexample: 5 steps to a run-time error
          start: P[0] = line 3, x = 0, _nr_pr = 1
            0  P[0].x < 3           P[0] = line 4
            1  P[0].x++             P[0] = line 4#2, x = 1
            2  P[0].assert(x != 2)  P[0] = line 3
            3  P[0].x < 3           P[0] = line 4
            4  P[0].x++             P[0] = line 4#2, x = 2
          run-time error: the assertion is false, at m.pml:4:20, in P[0].assert(x != 2)
        end-states  violated  (fairness none, 6 states, T s)
          because of the run-time error that `assertions` shows
        grows  violated  (fairness none, 6 states, T s)
          because of the run-time error that `assertions` shows
        --- exit status 1
    "#]],
    );
}

#[test]
fn assertions_and_end_states_are_left_out() {
    let scene = Scene::with("left_out", "m.pml", FAILING);
    scene.check(
        &["check", "-q", "m.pml", "-A"],
        expect![[r#"
        end-states  violated  (fairness none, 11 states, T s)
        grows  holds  (fairness none, 9 states visited, T s)
        --- exit status 1
    "#]],
    );
    scene.check(
        &["check", "-q", "m.pml", "-E"],
        expect![[r#"
        assertions  violated  (fairness none, 6 states, T s)
        grows  violated  (fairness none, 6 states, T s)
        --- exit status 1
    "#]],
    );
    scene.check(
        &["check", "-q", "m.pml", "-A", "-E"],
        expect![[r#"
        grows  holds  (fairness none, 9 states visited, T s)
        --- exit status 0
    "#]],
    );
    scene.write("m.fair", b"process P { a: x = 1 }\nvar x: bool\n");
    scene.check(
        &["check", "m.fair", "--no-assertions"],
        expect![[r#"
        --- stderr
        error: `--no-assertions` is for Promela models, not for the native language
        --- exit status 2
    "#]],
    );
}

#[test]
fn violations_are_counted() {
    let scene = Scene::with("counted", "m.pml", FAILING);
    scene.check(
        &[
            "check",
            "m.pml",
            "--count-violations",
            "--property",
            "assertions",
        ],
        expect![[r#"
            assertions  violated  (fairness none, 6 states, T s)
              assertions fail in 1 states: m.pml:4:20 (1)
              formula: no assertion fails
              counterexample: 5 steps to a run-time error
              start: P[0] = line 3, x = 0, _nr_pr = 1
                0  P[0].x < 3           P[0] = line 4
                1  P[0].x++             P[0] = line 4#2, x = 1
                2  P[0].assert(x != 2)  P[0] = line 3
                3  P[0].x < 3           P[0] = line 4
                4  P[0].x++             P[0] = line 4#2, x = 2
              run-time error: the assertion is false, at m.pml:4:20, in P[0].assert(x != 2)
            --- exit status 1
        "#]],
    );
    scene.check(
        &[
            "check",
            "m.pml",
            "--count-violations",
            "--property",
            "end-states",
            "-A",
        ],
        expect![[r#"
            end-states  violated  (fairness none, 11 states, T s)
              1 state violates it
              formula: every end state is valid
              counterexample: 10 steps to a state that breaks the property
              start: P[0] = line 3, x = 0, _nr_pr = 1
                0  P[0].x < 3           P[0] = line 4
                1  P[0].x++             P[0] = line 4#2, x = 1
                2  P[0].assert(x != 2)  P[0] = line 3
                3  P[0].x < 3           P[0] = line 4
                4  P[0].x++             P[0] = line 4#2, x = 2
                5  P[0].assert(x != 2)  P[0] = line 3
                6  P[0].x < 3           P[0] = line 4
                7  P[0].x++             P[0] = line 4#2, x = 3
                8  P[0].assert(x != 2)  P[0] = line 3
                9  P[0].else            P[0] = line 7
              end: P[0] = line 7, x = 3, _nr_pr = 1
            --- exit status 1
        "#]],
    );
}

#[test]
fn messages_are_lost() {
    let scene = Scene::with("lost", "m.pml", LOSING);
    scene.check(
        &["check", "-q", "m.pml"],
        expect![[r#"
        end-states  violated  (fairness none, 2 states, T s)
        --- exit status 1
    "#]],
    );
    scene.check(
        &["check", "-q", "m.pml", "--lossy-channels"],
        expect![[r#"
            end-states  holds  (fairness none, 4 states, T s)
            --- exit status 0
        "#]],
    );
}

#[test]
fn simulations_show_what_is_printed() {
    let scene = Scene::with("printed", "m.pml", PRINTING);
    scene.check(&["simulate", "m.pml", "--random"], expect![[r#"
        start: P[0] = line 5, P[1] = line 5, m = pong, n = 3, _nr_pr = 2
          0  P[0].n++; printf("P%d: n is %d\n", _pid, n); n++ #2; printf("then %d, %e\n", n, m): P[0] = end, n = 5
             | P0: n is 4
             | then 5, pong
          1  P[1].n++; printf("P%d: n is %d\n", _pid, n); n++ #2; printf("then %d, %e\n", n, m): P[1] = end, n = 7
             | P1: n is 6
             | then 7, pong
          2  P[1].end: P[1] = gone, _nr_pr = 1
          3  P[0].end: P[0] = gone, _nr_pr = 0
        deadlock: no step is possible
        --- exit status 0
    "#]]);
}

#[test]
fn statements_that_are_never_executed_are_listed() {
    let scene = Scene::with("unreached", "m.pml", FAILING);
    scene.check(
        &["check", "-q", "m.pml", "--unreached"],
        expect![[r#"
        assertions  violated  (fairness none, 6 states, T s)
        end-states  violated  (fairness none, 6 states, T s)
        grows  violated  (fairness none, 6 states, T s)
        warning: m.pml:7:3: `P.(x == 4)` is never taken [never-taken]
        warning: m.pml:8:1: `P.end` is never taken [never-taken]
        --- exit status 1
    "#]],
    );
}

/// The language is told by the text or by the call, and bytes that are not UTF-8 are Latin-1.
#[test]
fn any_name_and_latin_letters_are_read() {
    let text = b"/* tama\xf1o */ byte x; init { x = 1; assert(x == 1) }\n";
    let scene = Scene::new("any_name");
    for name in ["model", "model.spin", "model.tla"] {
        scene.write(name, text);
        let called = scene.call(&["check", "-q", name]);
        assert_eq!(called.status, 0, "{name}: {}", called.stderr);
        assert!(called.stdout.starts_with("assertions  holds"), "{name}");
    }
    // Nothing in this text says what it is.
    scene.write("included", b"#include \"model\"\n");
    assert_eq!(scene.call(&["check", "-q", "included"]).status, 2);
    let told = scene.call(&["check", "-q", "included", "--language", "promela"]);
    assert_eq!(told.status, 0, "{}", told.stderr);
}

/// Arrays of many elements, read and written at an index that only the run knows.
#[test]
fn large_arrays_are_read() {
    let text = "\
int a[16000], b[16000], c[16000];
active proctype P() {
  int i;
  do
  :: i < 3 -> a[i] = 15990 + i; b[i] = a[i]; c[a[i]] = b[i] + 1; i++
  :: else -> break
  od;
  assert(c[15991] == 15992 && c[15993] == 0);
  a[c[15992]] = 7;
  assert(a[15993] != 7)
}
";
    let scene = Scene::with("large_arrays", "m.pml", text);
    let called = scene.call(&["check", "m.pml", "--property", "assertions"]);
    assert_eq!(called.status, 1, "{}", called.stderr);
    let shown = "the assertion is false, at m.pml:10:3";
    assert!(called.stdout.contains(shown), "{}", called.stdout);
}

//! `fair simulate`.

use expect_test::expect;

use crate::models::{ANYWHERE, COUNTER, OVERFLOW, TOGGLE};
use crate::scene::Scene;

#[test]
fn random_walks_repeat() {
    let scene = Scene::with("random", "m.fair", TOGGLE);
    let walk = |seed: &str| {
        let arguments = [
            "simulate", "m.fair", "--random", "--steps", "6", "--seed", seed,
        ];
        scene.call(&arguments).transcript()
    };
    expect![[r#"
        start: x = 0
          0  Q.toggle: x = 1
          1  Q.toggle: x = 0
          2  P.a: no change
          3  P.a: no change
          4  Q.toggle: x = 1
          5  Q.toggle: x = 0
        --- exit status 0
    "#]]
    .assert_eq(&walk("1"));
    assert_eq!(walk("1"), walk("1"));
    assert_ne!(walk("1"), walk("2"));
}

#[test]
fn random_walks_end_in_deadlocks_and_errors() {
    let scene = Scene::with("random_end", "m.fair", COUNTER);
    scene.check(
        &["simulate", "m.fair", "--random"],
        expect![[r#"
            start: x = 0
              0  P.up: x = 1
              1  P.up: x = 2
              2  P.up: x = 3
            this state breaks `small`
            --- exit status 1
        "#]],
    );
    scene.write("m.fair", OVERFLOW.as_bytes());
    scene.check(
        &["simulate", "m.fair", "--random"],
        expect![[r#"
        start: x = 0
          0  P.up: x = 1
          1  P.up: x = 2
        run-time error: the value 3 is outside the type of `x`, at m.fair:3:10
        --- exit status 1
    "#]],
    );
}

#[test]
fn random_walks_are_stored() {
    let scene = Scene::with("random_stored", "m.fair", ANYWHERE);
    let arguments = ["simulate", "m.fair", "--random", "--trace", "t.itf.json"];
    let walked = scene.call(&arguments);
    assert_eq!(walked.status, 0, "{}", walked.stderr);
    scene.check(
        &["explain", "t.itf.json"],
        expect![[r#"
        trace: 1 step
        start: x = 2
          0  P.up  x = 3
        --- exit status 0
    "#]],
    );
    scene.check(
        &["replay", "m.fair", "t.itf.json"],
        expect![[r#"
        valid: a run of the model with 2 states
        --- exit status 0
    "#]],
    );
}

fn dialogue(test: &str, model: &str, arguments: &[&str], lines: &[&str]) -> String {
    let scene = Scene::with(test, "m.fair", model);
    let arguments = [&["simulate", "m.fair"], arguments].concat();
    let called = scene.call_with_input(&arguments, &(lines.join("\n") + "\n"));
    called.transcript()
}

#[test]
fn every_command_of_the_dialogue() {
    let lines = ["?", "2", "f", "s", "b", "b", "r", "9", "what", "", "q"];
    let text = dialogue(
        "dialogue",
        TOGGLE,
        &["--fairness", "strong", "--seed", "4"],
        &lines,
    );
    expect![[r#"
        start: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > ?
          NUMBER  take this step      r  take a random step
          b       one step back       s  show the whole state
          g N     go to step N        f  pending fairness
          e TEXT  value of an expression here, or of a formula along the run
          q       quit                ?  this help
        > 2
        step 1: Q.toggle: x = 1
          1  P.b: no change
          2  Q.toggle: x = 0
          (pending fairness: 3; f shows them)
        > f
        fairness strong
          sf(P.a): enabled once, not taken for 1 step
          sf(P.b): enabled once, now too, not taken for 1 step
          sf(Q.toggle): enabled once, now too, not taken for 0 steps
        > s
        x = 1
        > b
        back to: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > b
        this is the start
        > r
        step 1: P.a: no change
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > 9
        choose a number from 1 to 2
        > what
        `what` is not a command; `?` lists the commands
        >
        > q
        --- exit status 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn commands_may_be_written_out() {
    let letters = ["2", "e x + 1", "b", "r", "g 1", "s", "f", "q"];
    let words = [
        "2",
        "eval x + 1",
        "back",
        "random",
        "goto 1",
        "state",
        "fairness",
        "quit",
    ];
    let said = |name: &str, lines: &[&str]| {
        let text = dialogue(name, TOGGLE, &["--seed", "4"], lines);
        let own = |line: &&str| !line.starts_with('>');
        text.lines()
            .filter(own)
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    let by_letters = said("letters", &letters);
    assert!(by_letters.contains(&"2".to_owned()), "{by_letters:?}");
    assert_eq!(said("words", &words), by_letters);
}

#[test]
fn weak_obligations_are_counted_from_where_they_became_enabled() {
    let lines = ["f", "1", "1", "f", "2", "f"];
    let text = dialogue("weak", TOGGLE, &["--fairness", "weak"], &lines);
    expect![[r#"
        start: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > f
        fairness weak
          wf(P.a): enabled, not taken for 0 steps
          wf(Q.toggle): enabled, not taken for 0 steps
        > 1
        step 1: P.a: no change
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > 1
        step 2: P.a: no change
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > f
        fairness weak
          wf(P.a): enabled, not taken for 0 steps
          wf(Q.toggle): enabled, not taken for 2 steps
        > 2
        step 3: Q.toggle: x = 1
          1  P.b: no change
          2  Q.toggle: x = 0
          (pending fairness: 2; f shows them)
        > f
        fairness weak
          wf(P.b): enabled, not taken for 0 steps
          wf(Q.toggle): enabled, not taken for 0 steps
        >
        --- exit status 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn strong_global_obligations_are_steps_of_the_state() {
    let lines = ["f", "1", "f"];
    let text = dialogue("global", TOGGLE, &["--fairness", "strong-global"], &lines);
    expect![[r#"
        start: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 2; f shows them)
        > f
        fairness strong-global
          P.a: never taken here in 1 visit
          Q.toggle: never taken here in 1 visit
        > 1
        step 1: P.a: no change
          1  P.a: no change
          2  Q.toggle: x = 1
          (pending fairness: 1; f shows them)
        > f
        fairness strong-global
          Q.toggle: never taken here in 2 visits
        >
        --- exit status 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn unconditional_obligations_and_assumptions_are_listed() {
    let model = "\
var x : 0..1 = 0
process P {
    fair set when x == 0 { x := 1 }
    clear when x == 1 { x := 0 }
}
assume []<> x == 0
";
    let text = dialogue("unconditional", model, &[], &["f", "1", "f"]);
    expect![[r#"
        start: x = 0
          1  P.set: x = 1
          (pending fairness: 1; f shows them)
        > f
        fairness annotated
          f(P.set): not taken for 0 steps
          assumed of every run: []<> (x == 0)
        > 1
        step 1: P.set: x = 1
          1  P.clear: x = 0
          (pending fairness: 1; f shows them)
        > f
        fairness annotated
          f(P.set): not taken for 0 steps
          assumed of every run: []<> (x == 0)
        >
        --- exit status 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn an_initial_state_is_chosen() {
    let text = dialogue(
        "choose_start",
        ANYWHERE,
        &[],
        &["7", "x", "3", "1", "r", "q"],
    );
    expect![[r#"
        3 initial states
          1  x = 0
          2  x = 1
          3  x = 2
        which one? (a number, r for any, q to quit)
        > 7
        a number from 1 to 3
        > x
        a number from 1 to 3
        > 3
        start: x = 2
          1  P.up: x = 3
        > 1
        step 1: P.up: x = 3
        deadlock: no step is possible
        > r
        no step is possible
        > q
        --- exit status 0
    "#]]
    .assert_eq(&text);
    let text = dialogue("choose_none", ANYWHERE, &[], &["q"]);
    assert!(text.ends_with("--- exit status 0\n"));
}

#[test]
fn a_dialogue_is_stored() {
    let scene = Scene::with("dialogue_stored", "m.fair", TOGGLE);
    let arguments = ["simulate", "m.fair", "--trace", "t.itf.json"];
    assert_eq!(scene.call_with_input(&arguments, "2\n1\nq\n").status, 0);
    scene.check(
        &["replay", "m.fair", "t.itf.json"],
        expect![[r#"
        valid: a run of the model with 3 states
        --- exit status 0
    "#]],
    );
    scene.check(
        &["explain", "t.itf.json"],
        expect![[r#"
        trace: 2 steps
        start: x = 0
          0  Q.toggle  x = 1
          1  P.b       (no change)
        --- exit status 0
    "#]],
    );
}

/// Two processes that do not exclude each other, in one of several ways to go.
const RACE: &str = "\
process P(i in 0..1) {
    init idle
    from idle { try -> inside }
    from inside { leave -> idle  never when false -> idle }
}
invariant one: (count i in 0..1: P[i] @ inside) <= 1
invariant meant: false expect violated
invariant all: forall i in 0..1: P[i] @ idle || P[i] @ inside
";

#[test]
fn random_walks_end_where_an_invariant_breaks() {
    let scene = Scene::with("random_invariant", "m.fair", RACE);
    let walked = scene.call(&["simulate", "m.fair", "--random", "--seed", "3"]);
    assert_eq!(walked.status, 1, "{}", walked.stdout);
    let last = walked.stdout.lines().last();
    assert_eq!(last, Some("this state breaks `one`"));
}

#[test]
fn many_random_walks_are_a_smoke_test() {
    let scene = Scene::with("many_random", "m.fair", RACE);
    let arguments = [
        "simulate",
        "m.fair",
        "--runs",
        "50",
        "--depth",
        "2",
        "--seed",
        "7",
        "--trace",
        "t.itf.json",
    ];
    let many = scene.call(&arguments);
    assert_eq!(many.status, 1, "{}", many.stdout);
    assert!(many.stdout.contains(" breaks `one`:\n"), "{}", many.stdout);

    // The line at the end repeats exactly the run that was shown.
    let (_, again) = many.stdout.split_once("to repeat it: fair ").unwrap();
    let arguments: Vec<&str> = again.split_whitespace().collect();
    let repeated = scene.call(&arguments);
    assert_eq!(repeated.status, 1);
    assert!(many.stdout.contains(&repeated.stdout), "{}", many.stdout);
    assert_eq!(scene.call(&["replay", "m.fair", "t.itf.json"]).status, 0);
}

/// Nothing breaks, except for what is meant to.
const FINE: &str = "\
var x : 0..2 = 0
process P { up when x < 2 { x := x + 1 }  never when x > 2 { skip } }
invariant small: x <= 2
deadlockfree expect violated
";

#[test]
fn many_random_walks_that_break_nothing() {
    let scene = Scene::with("many_fine", "m.fair", FINE);
    scene.check(
        &["simulate", "m.fair", "--runs", "3"],
        expect![[r#"
        3 random runs of up to 100 steps, from seed 0 on: 6 steps in all, 3 deadlocked at the end
        never taken: P.never
        no run-time error, and nothing breaks small (this is not a proof)
        --- exit status 0
    "#]],
    );
}

#[test]
fn expressions_and_formulas_are_evaluated_where_the_walk_is() {
    let model = format!(
        "{TOGGLE}var seen : set of 0..2\nrecord Pair {{ a: 0..2, b: bool }}\n\
         var pair : Pair = Pair(2, true)\nvar who : option of 0..2\n\
         process R {{ note {{ seen := seen union {{x}}; who := some(x) }} }}\n\
         def on = x == 1\ninvariant small: x < 2\n"
    );
    let lines = [
        "e x == 0",
        "e on",
        "2",
        "3",
        "e on && enabled(P.b)",
        "e x + 1",
        "e seen union {0}",
        "e pair",
        "e who",
        "e { v in 0..2 where v > x }",
        "e R.note",
        "e eventually on",
        "e always on",
        "e always eventually on",
        "e once x == 0",
        "e y == 1",
        "e x +",
        "e 1 / (x - 1)",
        "e",
        "q",
    ];
    let text = dialogue("evaluated", &model, &[], &lines);
    expect![[r#"
        start: x = 0, seen = {}, pair.a = 2, pair.b = true, who = none
          1  P.a: no change
          2  Q.toggle: x = 1
          3  R.note: seen = {0}, who = 0
        > e x == 0
        true
        > e on
        false
        > 2
        step 1: Q.toggle: x = 1
          1  P.b: no change
          2  Q.toggle: x = 0
          3  R.note: seen = {1}, who = 1
        > 3
        step 2: R.note: seen = {1}, who = 1
          1  P.b: no change
          2  Q.toggle: x = 0
          3  R.note: no change
        > e on && enabled(P.b)
        true
        > e x + 1
        2
        > e seen union {0}
        {0, 1}
        > e pair
        {a: 2, b: true}
        > e who
        1
        > e { v in 0..2 where v > x }
        <expression>:1:1: what kind of value this is cannot be told from it alone
        > e R.note
        true
        > e eventually on
        from the start: true
        from here: true
        > e always on
        from the start: false
        from here: not decided by the run so far
        > e always eventually on
        from the start: not decided by the run so far
        from here: not decided by the run so far
        > e once x == 0
        from the start: true
        from here: true
        > e y == 1
        <expression>:1:1: `y` is not declared
        > e x +
        <expression>:1:4: expected an expression, found the end of the text
        > e 1 / (x - 1)
        division by zero, at <expression>:1:1
        > e
        write an expression or a formula after `e`
        > q
        --- stderr
        warning[never-read]: `pair` is never used
          --> m.fair:12:5
           |
        12 | var pair : Pair = Pair(2, true)
           |     ^^^^

        warning[never-read]: `who` is assigned but never read
          --> m.fair:13:5
           |
        13 | var who : option of 0..2
           |     ^^^

        --- exit status 0
    "#]]
    .assert_eq(&text);
}

#[test]
fn a_counterexample_is_gone_on_from() {
    let scene = Scene::with("along", "m.fair", COUNTER);
    let checked = scene.call(&["check", "m.fair", "--trace", "t.itf.json"]);
    assert_eq!(checked.status, 1, "{}", checked.stderr);
    let arguments = ["simulate", "m.fair", "--along", "t.itf.json"];
    let called = scene.call_with_input(&arguments, "e x\ng 1\ng 3\ng 2\n1\ng 9\nq\n");
    expect![[r#"
        after 3 steps: x = 3
        this state breaks `small`
        deadlock: no step is possible
        > e x
        3
        > g 1
        back to: x = 1
          1  P.up: x = 2
        > g 3
        on to step 3: x = 3
        this state breaks `small`
        deadlock: no step is possible
        > g 2
        back to: x = 2
          1  P.up: x = 3
        > 1
        step 3: P.up: x = 3
        this state breaks `small`
        deadlock: no step is possible
        > g 9
        `g` goes to a step from 0 to 3
        > q
        --- exit status 0
    "#]]
    .assert_eq(&called.transcript());

    scene.write("m.fair", TOGGLE.as_bytes());
    let refused = scene.call(&arguments);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("not a run of the model"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_state_far_back_is_gone_to() {
    let text = dialogue("goto", TOGGLE, &[], &["2", "2", "g 3", "g 0", "g", "q"]);
    expect![[r#"
        start: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
        > 2
        step 1: Q.toggle: x = 1
          1  P.b: no change
          2  Q.toggle: x = 0
        > 2
        step 2: Q.toggle: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
        > g 3
        `g` goes to a step from 0 to 2
        > g 0
        back to: x = 0
          1  P.a: no change
          2  Q.toggle: x = 1
        > g
        `g` is not a command; `?` lists the commands
        > q
        --- exit status 0
    "#]]
    .assert_eq(&text);
}

//! `fair fairness`, and `fair check` under several notions.

use expect_test::expect;

use crate::models::{COUNTER, TOGGLE};
use crate::scene::Scene;

/// Two loops: one for each of the workers, each of which one condition excludes.
const LOCK: &str = include_str!("../../../../examples/lock.fair");

/// Only some of the annotations are needed, and one can make fair runs impossible.
const ANNOTATED: &str = "\
var x : 0..1 = 0
var stuck : bool = false
process P {
    strong fair up when x == 0 && !stuck { x := 1 }
    weak fair down when x == 1 { x := 0 }
    block { stuck := true }
    fair go when !stuck
}
property recurs: always (x == 0 -> eventually x == 1)
";

#[test]
fn several_notions_make_a_table() {
    let scene = Scene::with("fairness_table", "m.fair", TOGGLE);
    scene.check(
        &["check", "m.fair", "--fairness", "all"],
        expect![[r#"
                none      just      weak-process  strong-process  weak      strong    strong-global
        recurs  violated  violated  holds *       holds           violated  holds     holds
        * the weakest of these under which the property holds
        7 verdicts about 1 property, 2 states, T s
        for a counterexample: fair check m.fair --property recurs --fairness none
        --- exit status 1
    "#]],
    );
    scene.check(
        &["check", "m.fair", "--fairness", "weak,weak-process"],
        expect![[r#"
                    weak      weak-process
            recurs  violated  holds *
            * the weakest of these under which the property holds
            2 verdicts about 1 property, 2 states, T s
            for a counterexample: fair check m.fair --property recurs --fairness weak
            --- exit status 1
        "#]],
    );
    scene.check(
        &["check", "m.fair", "--fairness", "weak,stron"],
        expect![[r#"
            --- stderr
            error: invalid value 'weak,stron' for '--fairness <KIND>': allowed are none, just, weak-process, strong-process, weak, strong, strong-global, annotated, and KIND+annotated, several of them with commas, or `all`; did you mean `strong`?

            For more information, try '--help'.
            --- exit status 2
        "#]],
    );
    let call = scene.call(&[
        "check",
        "m.fair",
        "--fairness",
        "none,weak-process",
        "--output-format",
        "json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&call.stdout).expect("it is JSON");
    let results = json["results"].as_array().expect("there are results");
    let rows = results
        .iter()
        .map(|r| (r["fairness"].as_str(), r["verdict"].as_str()));
    let expected = [
        (Some("none"), Some("violated")),
        (Some("weak-process"), Some("holds")),
    ];
    assert_eq!(rows.collect::<Vec<_>>(), expected);
}

#[test]
fn all_kinds_of_properties_are_in_the_table() {
    let scene = Scene::with("fairness_kinds", "m.fair", COUNTER);
    scene.check(
        &["check", "m.fair", "--fairness", "none,weak"],
        expect![[r#"
                          none      weak
            top           holds *   holds
            small         violated  violated
            two           holds *   holds
            minus         violated  violated
            deadlockfree  violated  violated
            * the weakest of these under which the property holds
            10 verdicts about 5 properties, 4 states, T s
            for a counterexample: fair check m.fair --property small --fairness none
            --- exit status 1
        "#]],
    );
    scene.check(
        &["check", "m.fair", "--fairness", "none,weak", "--bitstate"],
        expect![[r#"
            --- stderr
            error: `--checkpoint`, `--disk`, `--hosts` and `--bitstate` need one notion of fairness, not several
            --- exit status 2
        "#]],
    );
}

#[test]
fn the_weakest_conditions_are_found() {
    let scene = Scene::with("fairness_weakest", "m.fair", TOGGLE);
    scene.check(
        &["fairness", "m.fair"],
        expect![[r#"
            recurs  holds under 3 minimal sets  (2 states, 8 sets judged, T s)
              1. weak fair process P
                 write: weak fair process P   at m.fair:2:1
                 with just fair process P only, this is possible forever: Q.toggle, Q.toggle
              2. strong fair a of P
                 write: strong fair a   at m.fair:3:5
                 with weak fair a of P only, this is possible forever: Q.toggle, Q.toggle
              3. strong fair b of P
                 write: strong fair b   at m.fair:4:5
                 with weak fair b of P only, this is possible forever: Q.toggle, Q.toggle
            --- exit status 0
        "#]],
    );
    scene.check(
        &["fairness", "m.fair", "-v", "--ltl", "[]<> P.a"],
        expect![[r#"
            ltl-1  holds under 1 minimal set  (2 states, 7 sets judged, T s)
              1. strong fair a of P, and just fair toggle of Q
                 write: strong fair a   at m.fair:3:5
                 with weak fair a of P only:
                   formula: []<> P.a
                   counterexample: a loop of 2 steps forever
                   start: x = 0
                   loop:
                     0  Q.toggle  x = 1
                     1  Q.toggle  x = 0
                   and back to the start of the loop
                   why this loop is fair:
                     just(Q.toggle)  Q.toggle interferes at step 0
                     wf(P.a)         disabled at step 1
                 write: just fair toggle   at m.fair:7:5
                 without just fair toggle of Q:
                   formula: []<> P.a
                   counterexample: 1 step, then a loop of 1 step forever
                   start: x = 0
                     0  Q.toggle  x = 1
                   loop:
                     1  P.b       (no change)
                   and back to the start of the loop
                   why this loop is fair:
                     sf(P.a)  never enabled
            --- exit status 0
        "#]],
    );
    scene.check(
        &["fairness", "m.fair", "--ltl", "[]<> (P.a && x == 1)"],
        expect![[r#"
            ltl-1  violated whatever is assumed  (2 states, 1 set judged, T s)
              no scheduler helps: the property fails even under strong global fairness
              formula: []<> (P.a && x == 1)
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
    scene.check(
        &["fairness", "m.fair", "--ltl", "[]<> x >= 0"],
        expect![[r#"
            ltl-1  holds without fairness  (2 states, 2 sets judged, T s)
            --- exit status 0
        "#]],
    );
}

#[test]
fn families_are_spoken_of_together() {
    let scene = Scene::with("fairness_family", "m.fair", LOCK);
    scene.check(&["fairness", "m.fair", "-D", "N=2"], expect![[r#"
        served  holds under 2 minimal sets  (8 states, 17 sets judged, T s)
          1. strong fair take of every Worker
             write: strong fair take   at m.fair:10:20
             with weak fair take of every Worker only, this is possible forever: Worker[1].come, Worker[1].take, Worker[1].give
          2. strong fair process every Worker
             write: strong fair process Worker   at m.fair:6:1
             with weak fair process every Worker only, this is possible forever: Worker[1].come, Worker[1].take, Worker[1].give
        --- exit status 0
    "#]]);
    let one = "always (Worker[1] @ waiting -> eventually Worker[1] @ working)";
    scene.check(
        &["fairness", "m.fair", "-D", "N=2", "--ltl", one],
        expect![[r#"
            ltl-1  holds under 2 minimal sets  (8 states, 15 sets judged, T s)
              1. strong fair take of every Worker
                 write: strong fair take   at m.fair:10:20
                 with weak fair take of every Worker only, this is possible forever: Worker[2].come, Worker[2].take, Worker[2].give
                 or, for single processes: strong fair Worker[1].take
                   write: assume <>[] !enabled(Worker[1].take) || []<> Worker[1].take
                   with weak fair Worker[1].take only, this is possible forever: Worker[2].come, Worker[2].take, Worker[2].give
              2. strong fair process every Worker
                 write: strong fair process Worker   at m.fair:6:1
                 with weak fair process every Worker only, this is possible forever: Worker[2].come, Worker[2].take, Worker[2].give
                 or, for single processes: strong fair process Worker[1]
                   write: assume <>[] !enabled(Worker[1].*) || []<> Worker[1].*
                   with weak fair process Worker[1] only, this is possible forever: Worker[2].come, Worker[2].take, Worker[2].give
            --- exit status 0
        "#]],
    );
    let call = scene.call(&["fairness", "m.fair", "--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&call.stdout).expect("it is JSON");
    assert_eq!(json["kind"], "advice");
    assert_eq!(json["complete"], true);
    let first = &json["sets"][0]["members"][0];
    assert_eq!(first["condition"], "strong fair process every Worker");
    assert_eq!(first["text"], "strong fair process Worker");
    assert!(first["without"]["states"].is_array());
}

/// Each line that is said to be written makes the property true.
#[test]
fn what_is_said_to_be_written_can_be_written() {
    let scene = Scene::with("fairness_written", "m.fair", LOCK);
    let call = scene.call(&[
        "fairness",
        "m.fair",
        "-D",
        "N=2",
        "--each",
        "--output-format",
        "json",
    ]);
    let json: serde_json::Value = serde_json::from_str(&call.stdout).expect("it is JSON");
    let sets = json["sets"].as_array().expect("there are sets");
    assert!(sets.len() > 2, "{json}");
    for set in sets {
        let members = set["members"].as_array().expect("there are members");
        let lines = members
            .iter()
            .map(|member| member["text"].as_str().expect("it can be written"));
        let mut text = LOCK.to_owned();
        for line in lines {
            text.push_str(line);
            text.push('\n');
        }
        scene.write("written.fair", text.as_bytes());
        let call = scene.call(&["check", "-q", "written.fair", "-D", "N=2"]);
        assert!(
            call.stdout.starts_with("served  holds"),
            "{text}\n{}",
            call.stdout
        );
    }
}

/// A hundred candidates, and 81 minimal sets.
const MANY: &str = "\
process P(i in 1..34) {
    a { skip }
    b { skip }
}
property four: forall i in 1..4: []<> (P[i].a || P[i].b)
";

#[test]
fn too_many_sets_are_not_all_looked_for() {
    let scene = Scene::with("fairness_many", "m.fair", MANY);
    let call = scene.call(&["fairness", "m.fair", "--each"]);
    assert_eq!(call.status, 3);
    let text = call.stdout;
    assert!(
        text.starts_with("four  unknown: holds under 64 minimal sets found so far"),
        "{text}"
    );
    assert!(
        text.contains("there are too many minimal sets to look for all of them"),
        "{text}"
    );
}

/// Strong global fairness takes every step of a closed part of the system: a run that shows that it does
/// not help is not written out where these are many.
#[test]
fn what_is_too_long_to_be_shown_is_not_known() {
    let ring = "\
var x : 0..59999 = 0
process P {
    go { x := (x + 1) % 60000 }
}
";
    let scene = Scene::with("fairness_long", "m.fair", ring);
    let call = scene.call(&["fairness", "m.fair", "--ltl", "[]<> x == 60001"]);
    assert_eq!(call.status, 1);
    let text = call.stdout;
    assert!(
        text.starts_with("ltl-1  violated whatever is assumed"),
        "{text}"
    );
    let unknown = "whether strong global fairness excludes all such loops is not known: a loop that \
        shows it would have to take each of 60000 steps";
    assert!(text.contains(unknown), "{text}");
}

#[test]
fn assumptions_are_audited() {
    let scene = Scene::with("fairness_audit", "m.fair", ANNOTATED);
    scene.check(&["fairness", "m.fair", "--audit"], expect![[r#"
        recurs  holds as things are  (fairness annotated, 4 states, T s)
          strong fair up of P (m.fair:4:5): stronger than needed: `weak fair up of P` suffices
            without it, this is possible forever: P.go
          weak fair down of P (m.fair:5:5): superfluous: with the others, the property holds without it
          fair go of P (m.fair:7:5): needed
            without it, this is possible forever: P.block
          not machine-closed: after this run no fair run is possible, so the assumptions exclude what the system can do
            trace: 1 step
            start: x = 0, stuck = false
              0  P.block  stuck = true
        --- exit status 0
    "#]]);
}

#[test]
fn wrong_questions_are_refused() {
    let scene = Scene::with("fairness_wrong", "m.fair", COUNTER);
    scene.check(
        &["fairness", "m.fair", "--property", "small"],
        expect![[r#"
            --- stderr
            error: `small` is about reachable states, so fairness makes no difference to it: every finite run can be continued fairly; assumptions given with `--candidate` can make one
            --- exit status 2
        "#]],
    );
    scene.check(
        &["fairness", "m.fair", "--property", "deadlockfree"],
        expect![[r#"
            --- stderr
            error: `deadlockfree` is not a property of runs, so fairness makes no difference to it
            --- exit status 2
        "#]],
    );
    scene.check(
        &["fairness", "m.fair", "--property", "tip"],
        expect![[r#"
        --- stderr
        error: there is no property `tip`; did you mean `top`?
        --- exit status 2
    "#]],
    );
    scene.check(
        &["fairness", "m.fair", "--candidate", "[]<> y == 1"],
        expect![[r#"
            --- stderr
            error[unknown-name]: `y` is not declared
             --> <--candidate>:1:6
              |
            1 | []<> y == 1
              |      ^

            --- exit status 2
        "#]],
    );
    scene.check(
        &["fairness", "m.fair", "--candidate", "<> x == 1"],
        expect![[r#"
            --- stderr
            error[assumption]: an assumption combines `[]<> p` and `<>[] p` by Boolean operators
             --> <--candidate>:1:1
              |
            1 | <> x == 1
              | ^^^^^^^^^
              |
              = help: for example `assume []<> p -> []<> q`

            --- exit status 2
        "#]],
    );
    scene.check(
        &["fairness", "m.fair", "--max-states", "1"],
        expect![[r#"
        top  unknown  (2 states, 0 sets judged, T s)
          no set is known: the limit on states was reached
        --- exit status 3
    "#]],
    );
}

/// `P` waits for a flag that `Q` keeps changing, and `R` does not wait for anything.
const INTERFERENCE: &str = "\
var x : bool = false
process P { init at0  from at0 { go when !x -> at1 }  from at1 { stay { skip } } }
process Q { toggle { x := !x } }
process R { init at0  from at0 { go -> at1 }  from at1 { stay { skip } } }
property p: eventually P @ at1
property r: eventually R @ at1
";

/// Threads that wait by reading, without a scheduler.
const PETERSON: &str = include_str!("../../../../examples/justness/peterson.fair");

#[test]
fn justness_is_the_weakest_candidate() {
    let scene = Scene::with("fairness_just_inferred", "m.fair", PETERSON);
    let asked = ["fairness", "m.fair", "--property", "access"];
    let call = scene.call(&[&asked[..], &["--output-format", "json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&call.stdout).expect("it is JSON");
    let first = &json["sets"][0];
    assert_eq!(first["confirmed"], true);
    let [member] = &first["members"].as_array().expect("there are members")[..] else {
        panic!("{json}");
    };
    assert_eq!(member["condition"], "just fair process every P");
    assert_eq!(member["text"], "just fair process P");
    assert_eq!(member["weaker"], serde_json::Value::Null);
    assert!(member["without"]["states"].is_array());

    // The line that it says makes the property true, and nothing else did.
    let written = PETERSON.replace("process P(", "just fair process P(");
    scene.write("written.fair", written.as_bytes());
    for (file, verdict) in [("m.fair", "violated"), ("written.fair", "holds")] {
        let call = scene.call(&["check", "-q", file, "--property", "access"]);
        let expected = format!("access  {verdict}");
        assert!(call.stdout.starts_with(&expected), "{}", call.stdout);
    }
    let call = scene.call(&["check", "m.fair", "--property", "access"]);
    let advice = "just  the property holds; here, P[0] is enabled at step 5";
    assert!(call.stdout.contains(advice), "{}", call.stdout);

    // What is written is more than needed where justness suffices.
    let weak = PETERSON.replace("process P(", "weak fair process P(");
    scene.write("weak.fair", weak.as_bytes());
    let call = scene.call(&["fairness", "weak.fair", "--audit", "--property", "access"]);
    let use_ = "stronger than needed: `just fair process every P` suffices";
    assert!(call.stdout.contains(use_), "{}", call.stdout);
}

#[test]
fn justness_can_be_demanded_of_some_steps_only() {
    for (line, replaced, verdict) in [
        ("process R", "just fair process R", "holds"),
        (
            "from at0 { go -> at1",
            "from at0 { just fair go -> at1",
            "holds",
        ),
        (
            "from at0 { go -> at1",
            "from at0 { just fair choice go -> at1",
            "holds",
        ),
        ("process P", "just fair process P", "violated"),
        ("go when !x", "just fair go when !x", "violated"),
    ] {
        let text = INTERFERENCE.replace(line, replaced);
        let scene = Scene::with("fairness_just_some", "m.fair", &text);
        let call = scene.call(&["check", "-q", "m.fair", "--property", "r"]);
        let expected = format!("r  {verdict}  (fairness annotated");
        assert!(
            call.stdout.contains(&expected),
            "{replaced}: {}",
            call.stdout
        );
    }

    let scene = Scene::with("fairness_just_advice", "m.fair", INTERFERENCE);
    let call = scene.call(&["check", "m.fair", "--property", "r"]);
    let advice = "with justness of R the property holds";
    assert!(call.stdout.contains(advice), "{}", call.stdout);

    // `just` is a name as any other where `fair` does not follow.
    let named = "process P { just { skip } }\nproperty p: []<> P.just\n";
    let scene = Scene::with("fairness_just_name", "m.fair", named);
    let call = scene.call(&["check", "-q", "m.fair"]);
    assert!(
        call.stdout.starts_with("p  holds"),
        "{}{}",
        call.stdout,
        call.stderr
    );
}

#[test]
fn justness_says_who_interferes() {
    let scene = Scene::with("fairness_just", "m.fair", INTERFERENCE);
    let call = scene.call(&["check", "m.fair", "--fairness", "just"]);
    for line in [
        "p  violated  (fairness just",
        "r  holds  (fairness just",
        "just(P.go)      Q.toggle interferes at step 1",
    ] {
        assert!(call.stdout.contains(line), "{line}: {}", call.stdout);
    }

    let declared = INTERFERENCE.to_owned() + "interference Q with R.go\n";
    let scene = Scene::with("fairness_declared", "m.fair", &declared);
    let call = scene.call(&["check", "m.fair", "--fairness", "just", "-q"]);
    assert!(call.stdout.contains("r  violated"), "{}", call.stdout);

    let wrong = INTERFERENCE.to_owned() + "interference Q with R.gone\n";
    let scene = Scene::with("fairness_undeclared", "m.fair", &wrong);
    let call = scene.call(&["check", "m.fair"]);
    assert!(call.stderr.contains("m.fair:7"), "{}", call.stderr);
}

//! Verdicts that are expected, and calls about several models.

use expect_test::expect;

use crate::scene::Scene;

/// Two properties, one of which is meant to fail.
const COUNTER: &str = "\
var x : 0..2 = 0
process P { up when x < 2 { x += 1 } }
property top: eventually x == 2 expect holds
invariant small: x < 2 expect violated
";

/// The same, with the expectations turned round.
fn wrong() -> String {
    COUNTER
        .replace("expect violated", "expect h")
        .replace("expect holds", "expect violated")
        .replace("expect h", "expect holds")
}

#[test]
fn the_exit_status_says_whether_verdicts_are_as_expected() {
    let scene = Scene::with("expected", "m.fair", COUNTER);
    scene.check(
        &["check", "-q", "m.fair"],
        expect![[r#"
            top  holds, as expected  (fairness none, 3 states visited, T s)
            small  violated, as expected  (fairness none, 3 states, T s)
            --- exit status 0
        "#]],
    );
    scene.write("m.fair", wrong().as_bytes());
    scene.check(
        &["check", "-q", "m.fair"],
        expect![[r#"
            top  holds, but expected: violated  (fairness none, 3 states visited, T s)
            small  violated, but expected: holds  (fairness none, 3 states, T s)
            --- exit status 1
        "#]],
    );
}

#[test]
fn a_limit_can_be_expected() {
    let scene = Scene::with("expected_unknown", "m.fair", COUNTER);
    let call = [
        "check",
        "-q",
        "m.fair",
        "--property",
        "top",
        "--max-states",
        "1",
    ];
    let called = scene.call(&call);
    assert_eq!(called.status, 1);
    let line = "top  unknown: state-limit, but expected: holds  (";
    assert!(called.stdout.starts_with(line), "{}", called.stdout);

    let called = scene.call(&[&call[..], &["--expect", "top=unknown"]].concat());
    assert_eq!(called.status, 0);
    let line = "top  unknown: state-limit, as expected  (";
    assert!(called.stdout.starts_with(line), "{}", called.stdout);
}

#[test]
fn calls_can_expect_too() {
    let text = COUNTER.replace(" expect violated", "");
    let scene = Scene::with("expected_by_the_call", "m.fair", &text);
    let call = ["check", "-q", "m.fair"];
    assert_eq!(scene.call(&call).status, 1);
    let call = [&call[..], &["--expect", "small=violated"]].concat();
    assert_eq!(scene.call(&call).status, 0);

    scene.check(
        &["check", "m.fair", "--expect", "smal=violated"],
        expect![[r#"
            --- stderr
            error: there is no property `smal` to expect something of
            --- exit status 2
        "#]],
    );
    let called = scene.call(&["check", "m.fair", "--expect", "small=false"]);
    assert!(called.stderr.contains("`false` is not a verdict"));
    assert_eq!(called.status, 2);
}

#[test]
fn other_formats_follow() {
    let scene = Scene::with("expected_formats", "m.fair", COUNTER);
    let json = scene.call(&["check", "m.fair", "--output-format", "json"]);
    let json: serde_json::Value = serde_json::from_str(&json.stdout).expect("it is JSON");
    assert_eq!(json["results"][1]["expected"], "violated");

    let junit = |scene: &Scene| scene.call(&["check", "m.fair", "--output-format", "junit"]);
    assert!(junit(&scene).stdout.contains("failures=\"0\""));
    let sarif = |scene: &Scene| {
        let called = scene.call(&["check", "m.fair", "--output-format", "sarif"]);
        let json: serde_json::Value = serde_json::from_str(&called.stdout).expect("it is JSON");
        let results = json["runs"][0]["results"]
            .as_array()
            .expect("a list")
            .clone();
        results
            .iter()
            .map(|r| r["kind"].clone())
            .collect::<Vec<_>>()
    };
    assert_eq!(sarif(&scene), ["pass", "pass"]);

    scene.write("m.fair", wrong().as_bytes());
    assert!(junit(&scene).stdout.contains("failures=\"2\""));
    assert_eq!(sarif(&scene), ["fail", "fail"]);
}

#[test]
fn comments_expect_where_the_language_has_no_word_for_it() {
    let promela = "\
byte x;
active proctype P() { do :: x < 3 -> x++ od }
ltl top { <> (x == 3) }
ltl small { [] (x < 3) } // expect violated
/* expect top = holds */
";
    let scene = Scene::with("expected_by_comments", "m.pml", promela);
    let ltl = [
        "check",
        "-q",
        "m.pml",
        "--property",
        "small",
        "--property",
        "top",
    ];
    let called = scene.call(&ltl);
    assert_eq!(called.status, 0, "{}", called.stderr);
    assert!(called.stdout.contains("small  violated, as expected"));
    assert!(called.stdout.contains("top  holds, as expected"));

    scene.write(
        "m.pml",
        promela.replace("expect top", "expect tip").as_bytes(),
    );
    let called = scene.call(&ltl);
    assert_eq!(called.status, 2);
    assert!(called.stderr.contains("there is no property `tip`"));
}

#[test]
fn folders_and_several_files_are_checked_one_by_one() {
    let scene = Scene::with("several", "a.fair", COUNTER);
    std::fs::create_dir_all(scene.path("more/deep")).expect("folders can be made");
    scene.write("more/deep/c.fair", wrong().as_bytes());
    scene.write("more/b.fair", b"process P { a { skip } }\n");
    scene.write("more/notes.txt", b"not a model");

    scene.check(
        &["check", "-q", "a.fair", "more"],
        expect![[r#"
            a.fair
            top  holds, as expected  (fairness none, 3 states visited, T s)
            small  violated, as expected  (fairness none, 3 states, T s)
            more/deep/c.fair
            top  holds, but expected: violated  (fairness none, 3 states visited, T s)
            small  violated, but expected: holds  (fairness none, 3 states, T s)
            2 models, 4 properties: 2 as they should be, 2 not
            --- stderr
            note: `more/b.fair` has no properties
            --- exit status 1
        "#]],
    );

    // What is wrong with one model does not hide the others.
    scene.write("more/b.fair", b"process P { a }\n");
    let called = scene.call(&["check", "-q", ".", "--output-format", "json"]);
    assert_eq!(called.status, 2);
    assert!(called.stderr.contains("the step `a` has neither"));
    let json: serde_json::Value = serde_json::from_str(&called.stdout).expect("it is JSON");
    assert_eq!(json["files"].as_array().expect("a list").len(), 3);
    assert_eq!(json["files"][0]["results"][0]["verdict"], "holds");
    assert_eq!(json["files"][1]["diagnostics"][0]["severity"], "error");
    assert_eq!(json["files"][2]["results"][0]["verdict"], "holds");
}

#[test]
fn a_model_can_come_from_standard_input() {
    let scene = Scene::new("standard_input");
    let called = scene.call_with_input(&["check", "-q", "-"], COUNTER);
    assert_eq!(called.status, 0, "{}", called.stderr);
    let called = scene.call_with_input(&["check", "-"], "process P { a }");
    assert_eq!(called.status, 2);
    assert!(called.stderr.contains("-:1:13"), "{}", called.stderr);
}

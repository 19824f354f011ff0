//! Certificates: written, checked, refused.

use crate::scene::Scene;

/// Under weak fairness of actions, each process moves again and again.
const TURNS: &str = "\
var x : 0..2 = 0
process P(i in 0..1) {
    up when x < 2 { x := x + 1 }
    down when x > 0 { x := x - 1 }
}
invariant small: x <= 2
property again: always eventually x == 1
property rest: always eventually x == 0
";

const CALL: [&str; 5] = ["check", "m.fair", "--certify", "--output-format", "json"];

fn confidences(scene: &Scene, flags: &[&str]) -> Vec<(String, String)> {
    let called = scene.call(&[&CALL[..], flags].concat());
    let json: serde_json::Value = serde_json::from_str(&called.stdout).expect("it is JSON");
    let results = json["results"].as_array().expect("a list").iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap_or("none").to_owned();
    results
        .map(|result| {
            let confidence = &result["rests_on"]["confidence"];
            (text(&result["verdict"]), text(confidence))
        })
        .collect()
}

#[test]
fn what_holds_is_certified_also_where_the_search_reduced() {
    let scene = Scene::with("certified", "m.fair", TURNS);
    let pair = |verdict: &str, confidence: &str| (verdict.to_owned(), confidence.to_owned());
    for reduce in ["--reduce=none", "--reduce=all"] {
        let found = confidences(&scene, &["--fairness", "strong", reduce]);
        assert_eq!(found[0], pair("holds", "certified"), "{reduce}");
        assert_eq!(found[1], pair("holds", "certified"), "{reduce}");
        assert_eq!(found[2], pair("violated", "replayed"), "{reduce}");
    }
}

#[test]
fn a_certificate_is_about_one_model() {
    let scene = Scene::with("certificate-file", "m.fair", TURNS);
    let flags = [
        "--fairness",
        "strong",
        "--property",
        "again",
        "--certificate",
        "c",
    ];
    let called = scene.call(&[&["check", "m.fair"][..], &flags].concat());
    assert_eq!(called.status, 0, "{}", called.stderr);
    let called = scene.call(&["certify", "m.fair", "c", "--threads", "2"]);
    let expected =
        "certified: `again` holds, fairness strong: always eventually x == 1 (3 states)\n";
    assert_eq!((called.status, called.stdout.as_str()), (0, expected));

    // The same file about a model where something else happens.
    let changed = TURNS.replace("x := x - 1", "x := 0");
    scene.write("m.fair", changed.replace("x == 1\n", "x == 2\n").as_bytes());
    let called = scene.call(&["certify", "m.fair", "c"]);
    assert_eq!(called.status, 1, "{}", called.stdout);
    assert!(called.stdout.starts_with("rejected: "), "{}", called.stdout);
}

#[test]
fn what_is_not_a_certificate_is_refused() {
    let scene = Scene::with("no-certificate", "m.fair", TURNS);
    scene.write("c", b"nonsense");
    let called = scene.call(&["certify", "m.fair", "c"]);
    let expected = "rejected: this is not a certificate of this version\n";
    assert_eq!((called.status, called.stdout.as_str()), (1, expected));
    assert_eq!(scene.call(&["certify", "m.fair", "absent"]).status, 2);
    assert_eq!(scene.call(&["certify", "absent.fair", "c"]).status, 2);
}

/// Data without bounds: an invariant, confirmed by solvers.
const CREDITS: &str = "\
var n : int = 0
var x : int = 0
process Q { more { n := n + 1 } }
process P {
    init low
    from low { up when x < n { x := x + 1 } -> high }
    from high { down { x := x - 1 } -> low }
}
invariant from_zero: x >= 0
";

#[test]
fn invariants_of_unbounded_data_are_confirmed_by_solvers() {
    let scene = Scene::with("certified-invariant", "m.fair", CREDITS);
    let flags = ["--route", "predicate", "--certificate", "c"];
    let called = scene.call(&[&["check", "m.fair"][..], &flags].concat());
    assert_eq!(called.status, 0, "{}", called.stderr);
    let folder = scene.path("texts");
    std::fs::create_dir(&folder).expect("it is new");
    let called = scene.call(&["certify", "m.fair", "c", "--obligations", "texts"]);
    let n_texts = std::fs::read_dir(&folder).expect("it exists").count();
    assert!(n_texts > 0);

    // Where there is no solver, nothing is confirmed.
    match called.status {
        0 => {
            let confirmed = format!("({n_texts} obligations, {n_texts} confirmed by ");
            assert!(called.stdout.contains(&confirmed), "{}", called.stdout);
        }
        3 => assert!(
            called.stdout.starts_with("not confirmed: "),
            "{}",
            called.stdout
        ),
        _ => panic!("{} {}", called.stdout, called.stderr),
    }

    // The same invariant about a model where it does not hold.
    scene.write("m.fair", CREDITS.replace("x - 1", "x - 2").as_bytes());
    let called = scene.call(&["certify", "m.fair", "c"]);
    assert_ne!(called.status, 0, "{}", called.stdout);
}

#[test]
fn what_stands_in_a_file_is_printed_on_one_line() {
    let scene = Scene::with("one-line", "m.fair", TURNS);
    let formula = "always\nx <= 2";
    let flags = ["--ltl", formula, "--certificate", "c"];
    let called = scene.call(&[&["check", "m.fair"][..], &flags].concat());
    assert_eq!(called.status, 0, "{}{}", called.stdout, called.stderr);
    let called = scene.call(&["certify", "m.fair", "c"]);
    assert!(called.stdout.starts_with("certified: `ltl-1` holds"));
    assert_eq!(called.stdout.lines().count(), 1, "{}", called.stdout);
}

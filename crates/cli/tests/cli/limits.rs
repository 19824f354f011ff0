//! Limits, interruptions and progress.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Command, Stdio};
use std::thread;

use expect_test::expect;

use crate::models::{COUNTER, LARGE};
use crate::scene::{Called, Scene};

/// The reasons in a JSON report.
fn reasons(called: &Called) -> Vec<String> {
    let lines = called.stdout.lines();
    let reason = |line: &str| line.trim().strip_prefix("\"reason\": ").map(str::to_owned);
    lines.filter_map(reason).collect()
}

const SMALL: [&str; 4] = ["check", "m.fair", "--output-format", "json"];

#[test]
fn the_number_of_states_is_limited() {
    let scene = Scene::with("max_states", "m.fair", LARGE);
    scene.check(
        &[
            "check",
            "m.fair",
            "--fairness",
            "weak",
            "--max-states",
            "50",
        ],
        expect![[r#"
            recurs  unknown: state-limit  (fairness weak, 52 states, T s)
            deadlockfree  unknown: state-limit  (fairness weak, 52 states, T s)
            --- exit status 3
        "#]],
    );
    let arguments = ["--fairness", "weak", "--max-states", "50"];
    let called = scene.call(&[&SMALL[..], &arguments].concat());
    assert_eq!(called.status, 3);
    assert_eq!(reasons(&called), ["\"state-limit\",", "\"state-limit\","]);
    let called = scene.call(
        &[
            &SMALL[..],
            &["--max-states", "100000", "--fairness", "weak"],
        ]
        .concat(),
    );
    assert_eq!(
        (called.status, reasons(&called)),
        (0, vec!["null,".into(), "null,".into()])
    );
}

#[test]
fn memory_is_limited() {
    let scene = Scene::with("max_memory", "m.fair", LARGE);
    let called = scene.call(&[&SMALL[..], &["-D", "SIZE=9", "--max-memory", "1K"]].concat());
    assert_eq!(called.status, 3, "{}", called.stdout);
    assert_eq!(reasons(&called), ["\"memory-limit\",", "\"memory-limit\","]);
}

#[test]
fn no_time_is_too_little() {
    let scene = Scene::with("timeout_0", "m.fair", COUNTER);
    let called = scene.call(&[&SMALL[..], &["--timeout", "0s", "--property", "top"]].concat());
    assert_eq!(
        (called.status, reasons(&called)),
        (3, vec!["\"timeout\",".into()])
    );
}

#[test]
fn time_is_limited() {
    let scene = Scene::with("timeout", "m.fair", LARGE);
    let arguments = ["-D", "SIZE=60", "--timeout", "300ms", "--fairness", "weak"];
    let called = scene.call(&[&SMALL[..], &arguments].concat());
    assert_eq!(called.status, 3, "{}", called.stdout);
    assert_eq!(reasons(&called), ["\"timeout\",", "\"timeout\","]);
}

#[test]
fn a_violation_counts_more_than_a_doubt() {
    let scene = Scene::with("violated_and_unknown", "m.fair", LARGE);
    let arguments = [
        "-D",
        "SIZE=60",
        "--max-states",
        "20000",
        "--ltl",
        "[] P[1].x < 2",
    ];
    let called = scene.call(&[&SMALL[..], &arguments, &["--property", "deadlockfree"]].concat());
    assert_eq!(called.status, 1, "{}", called.stdout);
    assert_eq!(reasons(&called), ["\"state-limit\",", "null,"]);
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_search_with_what_is_known() {
    let scene = Scene::with("interrupt", "m.fair", LARGE);
    let arguments = ["-D", "SIZE=60", "--fairness", "weak", "--progress", "json"];
    let mut child = scene
        .command(&[&SMALL[..], &arguments].concat())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the binary runs");
    // The first report of progress shows that the search has begun.
    let mut stderr = BufReader::new(child.stderr.take().expect("it is piped"));
    let mut reports = String::new();
    stderr.read_line(&mut reports).expect("it is text");
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("there is a `kill`").success());
    // Both streams are read until they are closed, so that the program never waits for a reader.
    let rest = thread::spawn(move || {
        let mut rest = String::new();
        stderr.read_to_string(&mut rest).map(|_| rest)
    });
    let called = Called::from(child.wait_with_output().expect("it ends"));
    let rest = rest.join().expect("the reader does not panic");
    reports.push_str(&rest.expect("it is text"));
    assert_eq!(called.status, 3, "{}", called.stdout);
    assert_eq!(reasons(&called), ["\"interrupted\",", "\"interrupted\","]);
    assert!(reports.contains("\"phase\":"), "{reports}");
}

#[test]
fn progress_is_shown_on_terminals_or_as_json() {
    let scene = Scene::with("progress", "m.fair", LARGE);
    assert_eq!(scene.call(&["check", "-q", "m.fair"]).stderr, "");
    let called = scene.call(&[
        "check",
        "-q",
        "m.fair",
        "--progress",
        "json",
        "--property",
        "deadlockfree",
    ]);
    let first = called
        .stderr
        .lines()
        .next()
        .expect("a search reports at least once");
    for key in [
        "property",
        "phase",
        "states",
        "states_per_second",
        "memory_bytes",
        "seconds",
    ] {
        assert!(first.contains(&format!("\"{key}\":")), "{first}");
    }
}

#[test]
fn graphs_are_limited() {
    let scene = Scene::with("graph_limit", "m.fair", LARGE);
    scene.check(
        &["graph", "m.fair", "--max-states", "100"],
        expect![[r#"
        --- stderr
        error: more than 100 states; raise --max-states to draw them all
        --- exit status 3
    "#]],
    );
}

/// Little is kept of each step of a long run: this one needs 40 MB, not 200.
#[cfg(target_os = "linux")]
#[test]
fn a_long_counterexample_needs_little_memory() {
    let model = "
        var x : 0..100000 = 0
        process P { step when x < 100000 { x := x + 1 } }
        invariant low: x < 100000
    ";
    let scene = Scene::with("long_run", "m.fair", model);
    let check = ["check", "m.fair", "--max-memory", "100M"];
    let called = scene.call(&[&check[..], &["--trace", "t.itf.json"]].concat());
    assert_eq!(called.status, 1, "{}", called.stdout);
    let end = "\n    99999  P.step  x = 100000\n  end: x = 100000\n";
    assert!(
        called.stdout.ends_with(end),
        "{}",
        &called.stdout[called.stdout.len() - 200..]
    );

    // What was stored says the same, in as many lines.
    let explained = scene.call(&["explain", "t.itf.json"]);
    assert_eq!(explained.status, 0, "{}", explained.stderr);
    assert_eq!(explained.stdout.lines().count(), 100_006);
    let replayed = scene.call(&["replay", "m.fair", "t.itf.json"]);
    assert!(
        replayed.stdout.contains("confirmed: "),
        "{}",
        replayed.stdout
    );
}

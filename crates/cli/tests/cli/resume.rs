//! Checks that are stopped and go on.

use crate::models::LARGE;
use crate::scene::Scene;

/// Results without times and memory.
fn results(stdout: &str) -> Vec<String> {
    let is_cost = |line: &&str| !line.contains("seconds") && !line.contains("memory");
    stdout.lines().filter(is_cost).map(str::to_owned).collect()
}

#[test]
fn a_stopped_check_goes_on_with_the_same_result() {
    let scene = Scene::with("resume", "m.fair", LARGE);
    let call = [
        "check",
        "m.fair",
        "--fairness",
        "weak",
        "--output-format",
        "json",
    ];
    let whole = scene.call(&call);
    for limit in ["1", "17", "60"] {
        let limited = ["--checkpoint", "c.fck", "--max-states", limit];
        let stopped = scene.call(&[&call[..], &limited].concat());
        assert_eq!(stopped.status, 3, "{}", stopped.stdout);
        // The model as it was then is what counts.
        scene.write("m.fair", b"nonsense");
        let further = scene.call(&["resume", "c.fck", "--max-states", "70"]);
        assert_eq!(further.status, 3, "{}", further.stderr);
        let resumed = scene.call(&["resume", "c.fck"]);
        assert_eq!(resumed.status, whole.status, "{}", resumed.stderr);
        assert_eq!(results(&resumed.stdout), results(&whole.stdout));
        scene.write("m.fair", LARGE.as_bytes());
    }
}

#[test]
fn damaged_checkpoints_are_refused() {
    let scene = Scene::with("damaged", "c.fck", "no checkpoint at all");
    let called = scene.call(&["resume", "c.fck"]);
    assert_eq!(called.status, 2);
    assert!(called.stderr.contains("damaged"), "{}", called.stderr);
    assert_eq!(scene.call(&["resume", "nowhere"]).status, 2);
}

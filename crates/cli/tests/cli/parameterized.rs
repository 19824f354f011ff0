//! Models with a parameter that has no value.

use crate::scene::Scene;

const TURN: &str = include_str!("../../../../examples/parameterized/turn.fair");
const RING: &str = include_str!("../../../../examples/parameterized/fault_ring.fair");

#[test]
fn what_is_proved_for_all_is_explained() {
    let scene = Scene::with("for_all", "turn.fair", TURN);
    let called = scene.call(&["check", "turn.fair"]);
    assert_eq!(called.status, 0, "{}", called.stderr);
    assert!(called.stdout.contains("for all N"), "{}", called.stdout);
    assert!(called.stdout.contains("strong fairness of `take` for p"));
    assert!(called.stdout.contains("instances N = 1, 2, 3, 4, "));
    let called = scene.call(&["check", "turn.fair", "--no-cross-check"]);
    assert!(!called.stdout.contains("agree"));
    let called = scene.call(&["check", "turn.fair", "-D", "N=3"]);
    assert_eq!(called.status, 0);
    assert!(!called.stdout.contains("for all N"));
}

#[test]
fn a_violation_is_shown_on_the_smallest_instance_and_replays() {
    let broken = TURN.replace("take when P[turn] @ idle", "take");
    let scene = Scene::with("for_some", "turn.fair", &broken);
    let called = scene.call(&[
        "check",
        "turn.fair",
        "--property",
        "exclusion",
        "--trace",
        "bad.itf.json",
    ]);
    assert_eq!(called.status, 1);
    assert!(called.stdout.contains("for N = 2"), "{}", called.stdout);
    let called = scene.call(&["replay", "turn.fair", "-D", "N=2", "bad.itf.json"]);
    assert_eq!(called.status, 0, "{}{}", called.stdout, called.stderr);
}

#[test]
fn the_abstract_model_is_a_model() {
    for (name, text, property) in [
        ("turn.fair", TURN, "access"),
        ("ring.fair", RING, "detection"),
    ] {
        let scene = Scene::with(&format!("abstract_{name}"), name, text);
        let called = scene.call(&["abstract", name, "--property", property]);
        assert_eq!(called.status, 0, "{}", called.stderr);
        scene.write("abstract.fair", called.stdout.as_bytes());
        let called = scene.call(&["check", "abstract.fair", "-q"]);
        assert_eq!(called.status, 0, "{}{}", called.stdout, called.stderr);
    }
}

#[test]
fn the_system_of_sets_can_be_read_by_the_decision_procedure() {
    for (name, text) in [("turn.fair", TURN), ("ring.fair", RING)] {
        let scene = Scene::with(&format!("mona_{name}"), name, text);
        let called = scene.call(&["abstract", name, "--to", "ws1s"]);
        assert_eq!(called.status, 0, "{}", called.stderr);
        scene.write("system.mona", called.stdout.as_bytes());
        let called = scene.call(&["ws1s", "system.mona"]);
        assert_eq!(called.status, 0, "{}{}", called.stdout, called.stderr);
        assert!(
            called.stdout.contains("A satisfying example"),
            "{}",
            called.stdout
        );
    }
}

#[test]
fn routes_that_do_not_fit_are_refused() {
    let scene = Scene::with("routes", "turn.fair", TURN);
    assert_eq!(
        scene
            .call(&["check", "turn.fair", "--route", "explicit"])
            .status,
        2
    );
    assert_eq!(
        scene
            .call(&["check", "turn.fair", "--route", "ws1s", "-D", "N=2"])
            .status,
        2
    );
    assert_eq!(
        scene
            .call(&["check", "turn.fair", "--route", "ws1s"])
            .status,
        0
    );
}

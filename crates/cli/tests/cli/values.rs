//! Values in traces: printed as they are written, stored, read back and replayed.

use crate::scene::Scene;

const ELECTION: &str = "\
enum Color { red, green }
var votes : set of 1..3
var log   : seq[2] of Color
var boss  : option of 1..3
process Node(i in 1..3) {
    vote when !(i in votes) && size(votes) < 2 { votes := votes union {i}; log := append(log, green) }
    lead when size(votes) == 2 && boss == none && i in votes { boss := some(i) }
}
reachable led: boss != none
";

#[test]
fn sets_sequences_and_options_are_shown_as_values() {
    let scene = Scene::with("values", "m.fair", ELECTION);
    let called = scene.call(&["check", "m.fair", "--trace", "t.itf.json"]);
    assert_eq!(called.status, 0, "{}", called.stderr);
    for shown in [
        "boss = none",
        "log = []",
        "votes = {}",
        "log = [green, green]",
        "votes = {1, 2}",
        "boss = 1",
    ] {
        assert!(called.stdout.contains(shown), "{shown}: {}", called.stdout);
    }
    assert!(!called.stdout.contains("members"), "{}", called.stdout);

    let stored = scene.read("t.itf.json");
    assert!(stored.contains("\"#set\""), "{stored}");
    let called = scene.call(&["replay", "m.fair", "t.itf.json"]);
    assert_eq!(called.status, 0, "{}{}", called.stdout, called.stderr);
    let simulated = scene.call(&["simulate", "m.fair", "--random", "--steps", "3"]);
    assert!(
        simulated.stdout.contains("votes = {"),
        "{}",
        simulated.stdout
    );
}

//! Examples have exactly the states and transitions that are known for them.

mod support;

use support::{count, model};

fn check(path: &str, n: usize, states: usize, transitions: usize) {
    let path = format!("{}/../../examples/{path}.fair", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(&path).expect("the example exists");
    let model = model(&text, &[("N", &n.to_string())]);
    assert_eq!(count(&model), (states, transitions), "{path}, N = {n}");
}

#[test]
fn leader_election_on_complete_graphs() {
    check("population/le_c", 3, 32, 168);
    check("population/le_c", 4, 64, 456);
    check("population/le_c", 5, 128, 1224);
}

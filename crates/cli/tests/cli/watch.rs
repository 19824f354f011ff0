//! `fair check --watch`.

use std::io::{BufRead as _, BufReader};
use std::process::Stdio;

use crate::scene::Scene;

#[test]
fn a_changed_file_is_checked_again() {
    let model = |limit: u32| {
        format!(
            "var x : 0..9 = 0\nprocess P {{ up when x < 5 {{ x := x + 1 }} }}\ninvariant low: x < {limit}\n"
        )
    };
    let scene = Scene::with("watch", "m.fair", &model(9));
    let mut child = scene
        .command(&["check", "--watch", "-q", "m.fair"])
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .expect("the binary can be started");
    let mut lines = BufReader::new(child.stdout.take().expect("it is piped")).lines();
    let mut next = || lines.next().expect("it goes on").expect("a line");
    assert!(next().starts_with("low  holds"));

    scene.write("m.fair", model(3).as_bytes());
    assert!(next().starts_with("low  violated"));
    // A wrong text does not end it.
    scene.write("m.fair", b"nonsense");
    scene.write("m.fair", model(6).as_bytes());
    assert!(next().starts_with("low  holds"));

    child.kill().expect("it runs until it is ended");
    let _ = child.wait();
}

#[test]
fn standard_input_is_not_watched() {
    let scene = Scene::new("watch_input");
    let called = scene.call(&["check", "--watch", "-"]);
    assert_eq!(called.status, 2);
    assert!(
        called.stderr.contains("cannot be watched"),
        "{}",
        called.stderr
    );
}

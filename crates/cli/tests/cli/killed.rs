//! Checks that are killed, also while they write, and go on.

use std::process::{Child, Stdio};
use std::thread;
use std::time::Duration;

use crate::scene::{Scene, cases};

const MODEL: &str = "
    const N = 24
    var a, b, c : 0..N = 0
    process P(i in 0..2) {
        up { if i == 0 { a := (a + 1) % (N + 1) } if i == 1 { b := (b + 1) % (N + 1) }
             if i == 2 { c := (c + 1) % (N + 1) } }
    }
    invariant bounded: a + b + c <= 3 * N
    property recurs: always eventually a == 0
";

/// Verdict and counts of the only result.
fn summary(stdout: &str) -> String {
    let report: serde_json::Value = serde_json::from_str(stdout).expect("it is JSON");
    let result = &report["results"][0];
    let keys = ["verdict", "states", "transitions", "product_states"];
    keys.map(|key| result[key].to_string()).join(" ")
}

/// The files that a checkpoint is written to before it gets its name.
fn half_written(scene: &Scene) -> Vec<String> {
    let entries = std::fs::read_dir(scene.path(".")).expect("it can be listed");
    let names = entries.map(|entry| entry.expect("it can be listed").file_name());
    let names = names.map(|name| name.to_string_lossy().into_owned());
    names.filter(|name| name.ends_with(".part")).collect()
}

#[test]
fn what_was_killed_goes_on_with_the_same_result() {
    let n_kills = cases(6);
    let scene = Scene::with("killed", "m.fair", MODEL);
    let (mut n_resumed, mut n_while_writing) = (0, 0);
    let call = |property| {
        let format = ["check", "m.fair", "--output-format", "json"];
        [&format[..], &["--fairness", "weak", "--property", property]].concat()
    };
    let whole = ["bounded", "recurs"].map(|property| scene.call(&call(property)));

    for number in 0..n_kills {
        let which = (number % 2) as usize;
        let call = call(["bounded", "recurs"][which]);
        let keeping = ["--checkpoint", "c.fck", "--checkpoint-every", "0s"];
        let child = scene
            .command(&[&call[..], &keeping].concat())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn();
        let mut child = child.expect("the binary runs");
        // Most are killed after the first checkpoint, some before it; any moment will do.
        let is_running = |child: &mut Child| child.try_wait().expect("it can be asked").is_none();
        while number % 5 > 0 && !scene.path("c.fck").exists() && is_running(&mut child) {
            thread::sleep(Duration::from_millis(1));
        }
        thread::sleep(Duration::from_micros(number * 7_919 % 90_000));
        child.kill().expect("it can be killed");
        child.wait().expect("it ends");
        n_while_writing += usize::from(!half_written(&scene).is_empty());

        // A call that was killed before it kept anything starts again.
        let path = scene.path("c.fck");
        let resumed = if path.exists() {
            n_resumed += 1;
            scene.call(&["resume", "c.fck"])
        } else {
            scene.call(&[&call[..], &keeping].concat())
        };
        assert_eq!(resumed.status, whole[which].status, "{}", resumed.stderr);
        assert_eq!(
            summary(&resumed.stdout),
            summary(&whole[which].stdout),
            "kill {number}"
        );

        // What was left by the kill is gone.
        assert_eq!(half_written(&scene), [""; 0]);
        let _ = std::fs::remove_file(path);
    }

    println!("{n_kills} kills, {n_while_writing} while writing, {n_resumed} resumed");
    assert!(2 * n_resumed >= n_kills, "{n_resumed} of {n_kills}");
}

//! Checks that are stopped and go on.

use crate::models::LARGE;
use crate::scene::Scene;

/// Verdicts and counts, without times and memory, and without the remark about the checkpoint.
fn results(stdout: &str) -> Vec<String> {
    let report: serde_json::Value = serde_json::from_str(stdout).expect("it is JSON");
    let mut results = report["results"].as_array().expect("a list").clone();
    for result in &mut results {
        let result = result.as_object_mut().expect("an object");
        result.retain(|key, _| !key.contains("seconds") && !key.contains("memory"));
        result.remove("remarks");
    }
    results.iter().map(serde_json::Value::to_string).collect()
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
        let further = scene.call(&["resume", "c.fck", "--max-states", "70"]);
        assert_eq!(further.status, 3, "{}", further.stderr);
        let resumed = scene.call(&["resume", "c.fck"]);
        assert_eq!(resumed.status, whole.status, "{}", resumed.stderr);
        assert_eq!(results(&resumed.stdout), results(&whole.stdout));
        assert!(resumed.stdout.contains("rests on the checkpoint"));
        assert!(!whole.stdout.contains("rests on the checkpoint"));
    }
}

/// A scene with a stopped check of a model that is made of two files.
fn stopped(test: &str, more: &[&str]) -> Scene {
    let scene = Scene::with(
        test,
        "m.csp",
        "#include \"part.csp\"; #assert P deadlockfree;",
    );
    scene.write("part.csp", PART);
    let call = [
        "check",
        "m.csp",
        "--checkpoint",
        "c.fck",
        "--max-states",
        "2",
    ];
    let called = scene.call(&[&call[..], more].concat());
    assert_eq!(called.status, 3, "{}", called.stderr);
    scene
}

const PART: &[u8] = b"var x:{0..9} = 0; P = [x < 9] up{x = x + 1;} -> P [] [x == 9] top -> P;";

/// What a refused call says.
fn refusal(scene: &Scene) -> String {
    let called = scene.call(&["resume", "c.fck"]);
    assert_eq!(called.status, 2, "{}", called.stdout);
    called.stderr
}

#[test]
fn changed_files_are_refused() {
    let scene = stopped("resume_changed", &[]);
    assert_eq!(
        scene.call(&["resume", "c.fck", "--max-states", "4"]).status,
        3
    );
    let (model, part) = (scene.read("m.csp"), scene.read("part.csp"));
    scene.write(
        "part.csp",
        part.replace("top ->", "top -> Stop; Q =").as_bytes(),
    );
    let said = refusal(&scene);
    assert!(said.contains("`part.csp` has changed since"), "{said}");
    scene.write("part.csp", part.as_bytes());
    scene.write("m.csp", b"P = Stop; #assert P deadlockfree;");
    let said = refusal(&scene);
    assert!(said.contains("`m.csp` has changed since"), "{said}");
    scene.write("m.csp", model.as_bytes());
    assert_eq!(scene.call(&["resume", "c.fck"]).status, 0);
}

#[test]
fn changed_imports_are_refused() {
    let main = "import \"part.fair\" as part\nprocess P { up when part.x < part.TOP { part.x += 1 } }\nproperty p: always part.x <= part.TOP\n";
    let scene = Scene::with("resume_imports", "m.fair", main);
    scene.write("part.fair", b"const TOP = 9\nvar x : 0..TOP = 0\n");
    let call = ["check", "m.fair", "--checkpoint", "c.fck"];
    let called = scene.call(&[&call[..], &["--max-states", "2"]].concat());
    assert_eq!(called.status, 3, "{}", called.stderr);

    scene.write("part.fair", b"const TOP = 8\nvar x : 0..TOP = 0\n");
    let said = refusal(&scene);
    assert!(said.contains("`part.fair` has changed since"), "{said}");
    scene.write("part.fair", b"const TOP = 9\nvar x : 0..TOP = 0\n");
    assert_eq!(scene.call(&["resume", "c.fck"]).status, 0);
}

#[test]
fn other_versions_are_refused() {
    let scene = stopped("resume_version", &[]);
    let path = scene.path("c.fck");
    let written = std::fs::read(&path).expect("it was written");
    let start = b"fair-checkpoint 3\n";
    assert!(written.starts_with(start));
    std::fs::write(
        &path,
        [b"fair-checkpoint 1\n", &written[start.len()..]].concat(),
    )
    .expect("it can be written");
    let said = refusal(&scene);
    assert!(said.contains("it has format 1"), "{said}");
}

#[test]
fn traces_are_written_only_where_the_user_says() {
    let scene = stopped("resume_trace", &["--trace", "t.itf.json"]);
    let called = scene.call(&["resume", "c.fck", "--max-states", "4"]);
    assert!(
        called.stderr.contains("`--trace t.itf.json`"),
        "{}",
        called.stderr
    );
    assert!(!scene.path("t.itf.json").exists());
}

#[test]
fn other_files_are_not_overwritten() {
    let scene = Scene::with("checkpoint_over", "m.fair", LARGE);
    scene.write("notes.txt", b"do not lose me");
    let called = scene.call(&[
        "check",
        "m.fair",
        "--checkpoint",
        "notes.txt",
        "--max-states",
        "2",
    ]);
    assert_eq!(called.status, 2);
    let said = called.stderr;
    assert!(
        said.contains("`notes.txt` exists and is not a checkpoint"),
        "{said}"
    );
    assert_eq!(scene.read("notes.txt"), "do not lose me");
}

#[test]
fn damaged_checkpoints_are_refused() {
    let scene = Scene::with("damaged", "c.fck", "no checkpoint at all");
    let called = scene.call(&["resume", "c.fck"]);
    assert_eq!(called.status, 2);
    let said = called.stderr;
    assert!(
        said.contains("`c.fck` is not a checkpoint: it does not start"),
        "{said}"
    );
    assert_eq!(scene.call(&["resume", "nowhere"]).status, 2);
}

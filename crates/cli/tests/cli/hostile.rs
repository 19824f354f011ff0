//! Files, names and calls that are meant to do harm.

use std::process::{Child, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::scene::{Called, Scene};

/// A model whose search does not end soon.
pub const ENDLESS: &str = "
    var x, y : 0..2000000000 = 0
    process P {
        a when x < 2000000000 { x := x + 1 }
        b when y < 2000000000 { y := y + 1 }
    }
    property far: eventually x == 2000000000
    property near: always x < 1
    property also: eventually y == 7
";

/// Waits for a call that must end. The time is only a guard against tests without end.
pub fn ended(mut child: Child, what: &str) -> Called {
    // The streams are read, so that the program never waits for a reader.
    let [stdout, stderr] = [
        child
            .stdout
            .take()
            .map(|s| Box::new(s) as Box<dyn std::io::Read + Send>),
        child
            .stderr
            .take()
            .map(|s| Box::new(s) as Box<dyn std::io::Read + Send>),
    ]
    .map(|stream| {
        thread::spawn(move || {
            let mut bytes = Vec::new();
            let read = stream.map(|mut stream| stream.read_to_end(&mut bytes));
            read.transpose().expect("pipes can be read");
            String::from_utf8(bytes).expect("output is UTF-8")
        })
    });
    let start = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().expect("it can be waited for") {
            break status;
        }
        assert!(
            start.elapsed() < Duration::from_secs(120),
            "{what} does not end"
        );
        thread::sleep(Duration::from_millis(10));
    };
    Called {
        status: status
            .code()
            .unwrap_or_else(|| panic!("{what} was killed: {status}")),
        stdout: stdout.join().expect("the reader does not panic"),
        stderr: stderr.join().expect("the reader does not panic"),
    }
}

fn call(scene: &Scene, arguments: &[&str]) -> Called {
    let child = scene
        .command(arguments)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    ended(child.expect("the binary runs"), &arguments.join(" "))
}

/// What is not a search is limited, too.
#[cfg(target_os = "linux")]
#[test]
fn memory_is_limited_while_a_model_is_read() {
    let steps: String = (0..100_000)
        .map(|i| format!("  s{i} when x < 3 {{ x := 1 }}\n"))
        .collect();
    let model = format!("var x : 0..3 = 0\nprocess P {{\n{steps}}}\nproperty p: always x < 4\n");
    let scene = Scene::with("reading_memory", "m.fair", &model);
    let called = call(
        &scene,
        &[
            "check",
            "m.fair",
            "--max-memory",
            "1M",
            "--output-format",
            "json",
        ],
    );
    assert_eq!(called.status, 3, "{}", called.stderr);
    assert!(called.stderr.contains("memory-limit"), "{}", called.stderr);
    let json: serde_json::Value = serde_json::from_str(&called.stdout).expect("it is JSON");
    assert_eq!(json["diagnostics"][0]["code"], "stopped");
}

#[test]
fn an_expensive_property_does_not_starve_others() {
    let scene = Scene::with("starving", "m.fair", ENDLESS);
    for limit in ["--timeout", "--timeout-per-property"] {
        let called = call(&scene, &["check", "m.fair", "-q", limit, "500ms"]);
        // `near` is cheap, so it is answered first; results are shown in the order of the file.
        let lines: Vec<&str> = called.stdout.lines().collect();
        assert_eq!(called.status, 1, "{}", called.stdout);
        assert!(lines[0].starts_with("far  unknown: timeout"), "{lines:?}");
        assert!(lines[1].starts_with("near  violated"), "{lines:?}");
        assert!(lines[2].starts_with("also  "), "{lines:?}");
    }
}

#[test]
fn impossible_demands_are_refused() {
    let scene = Scene::with("demands", "m.fair", ENDLESS);
    let bits = call(
        &scene,
        &[
            "check",
            "m.fair",
            "--property",
            "near",
            "--bitstate",
            "900T",
        ],
    );
    assert_eq!(bits.status, 2);
    assert!(
        bits.stderr.contains("raise `--max-memory`"),
        "{}",
        bits.stderr
    );
    let threads = call(&scene, &["check", "m.fair", "--threads", "65535"]);
    assert_eq!(threads.status, 2);
    assert!(threads.stderr.contains("1..=1024"), "{}", threads.stderr);
}

const WRONG: &str = "var x : 0..3 = 0\nprocess P { step when z < 3 { x := 1 } }\n";

#[test]
fn what_is_wrong_is_told_in_every_format() {
    let scene = Scene::with("wrong_formats", "m.fair", WRONG);
    let told = |format: &str, file: &str| {
        let called = call(&scene, &["check", file, "--output-format", format]);
        assert_eq!(called.status, 2, "{format}");
        assert!(called.stderr.contains("error"), "{format}");
        called.stdout
    };

    let json: serde_json::Value = serde_json::from_str(&told("json", "m.fair")).expect("JSON");
    let found = &json["diagnostics"][0];
    assert_eq!(json["tool"], "fair");
    assert_eq!(found["code"], "unknown-name");
    assert_eq!(found["severity"], "error");
    assert_eq!(found["file"], "m.fair");
    assert_eq!(
        found["start"],
        serde_json::json!({ "line": 2, "column": 23 })
    );
    assert_eq!(found["end"], serde_json::json!({ "line": 2, "column": 24 }));
    let line: serde_json::Value =
        serde_json::from_str(&told("json-lines", "m.fair")).expect("JSON");
    assert_eq!(&line["diagnostics"][0], found);

    let sarif: serde_json::Value = serde_json::from_str(&told("sarif", "m.fair")).expect("JSON");
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!(
        (&result["ruleId"], &result["level"]),
        (&"unknown-name".into(), &"error".into())
    );
    let region = &result["locations"][0]["physicalLocation"]["region"];
    assert_eq!(
        (&region["startLine"], &region["endColumn"]),
        (&2.into(), &24.into())
    );

    let junit = told("junit", "m.fair");
    assert!(
        junit.contains("errors=\"1\"") && junit.contains("type=\"unknown-name\""),
        "{junit}"
    );

    let missing: serde_json::Value = serde_json::from_str(&told("json", "n.fair")).expect("JSON");
    assert_eq!(missing["diagnostics"][0]["code"], "wrong-call");

    scene.write(
        "good.fair",
        b"var y : 0..1 = 0\nprocess P { s { y := 1 - y } }\ninvariant i: y < 2\n",
    );
    let both = call(
        &scene,
        &["check", "good.fair", "m.fair", "--output-format", "json"],
    );
    let both: serde_json::Value = serde_json::from_str(&both.stdout).expect("JSON");
    assert_eq!(both["files"][0]["results"][0]["verdict"], "holds");
    assert_eq!(&both["files"][1]["diagnostics"][0], found);
}

/// Control characters, and characters that change the direction of writing.
const HOSTILE: &str = "a\u{1b}[2Jb\u{1b}]0;t\u{7}c\u{9b}1md\u{202e}e\u{8}f\u{7f}";

fn assert_harmless(what: &str, text: &str) {
    let obeyed = |c: char| {
        let is_direction = matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
        (c.is_control() && c != '\n' && c != '\t') || is_direction
    };
    assert!(!text.contains(obeyed), "{what}: {text:?}");
}

#[cfg(unix)]
#[test]
fn nothing_that_others_wrote_reaches_the_terminal_raw() {
    let file = format!("{HOSTILE}.fair");
    let model = format!(
        "// {HOSTILE}\nvar x : 0..1 = 0 // {HOSTILE}\nprocess P {{ s {{ x := 1 - x }} }}\nproperty p: always x == 0\n"
    );
    let scene = Scene::with("raw", &file, &model);
    scene.write(
        "broken.fair",
        format!("var x : {HOSTILE}\n{model}").as_bytes(),
    );
    scene.write(
        "broken.pml",
        format!("byte {HOSTILE};\nactive proctype P() {{ {HOSTILE} }}\n").as_bytes(),
    );
    scene.write(
        "broken.csp",
        format!("P = {HOSTILE} -> Stop;\n#assert P {HOSTILE};\n").as_bytes(),
    );
    scene.write(
        "broken.mona",
        format!("ws1s; {HOSTILE} var2 X;\n# {HOSTILE}\n").as_bytes(),
    );
    let value = serde_json::to_string(HOSTILE).expect("it is a string");
    let trace = format!(
        "{{\"vars\":[{value}],\"states\":[{{{value}:{value}}},{{{value}:1}}],\"loop\":0,\
         \"#meta\":{{\"property\":{value},\"source\":{value},\"fairness\":{value},\"kind\":{value}}}}}"
    );
    scene.write("t.itf.json", trace.as_bytes());

    let formats = ["text", "json", "json-lines", "junit", "sarif"];
    let mut calls: Vec<Vec<&str>> = Vec::new();
    for format in formats {
        for name in [file.as_str(), "broken.fair", "broken.pml", "broken.csp"] {
            calls.push(vec!["check", name, "--output-format", format]);
        }
        calls.push(vec![
            "check",
            &file,
            "--output-format",
            format,
            "--property",
            HOSTILE,
        ]);
        calls.push(vec![
            "check",
            &file,
            "--output-format",
            format,
            "--ltl",
            HOSTILE,
        ]);
        calls.push(vec!["check", HOSTILE, "--output-format", format]);
    }
    calls.extend([
        vec!["ws1s", "broken.mona"],
        vec!["explain", "t.itf.json"],
        vec!["explain", "t.itf.json", "--msc"],
        vec!["replay", &file, "t.itf.json"],
        vec!["graph", &file],
        vec!["ltl", HOSTILE],
        vec!["check", &file, "--trace", HOSTILE],
        vec!["check", &file, "-D", HOSTILE],
        vec!["check", &file, "--fairness", HOSTILE],
        vec!["simulate", &file, "--random"],
        vec!["abstract", &file, "--property", HOSTILE],
        vec!["fairness", &file, "--property", HOSTILE],
        vec!["resume", &file],
        vec!["certify", &file, &file],
    ]);

    for arguments in calls {
        let called = call(&scene, &arguments);
        let what = format!("{arguments:?}");
        assert!(
            [0, 1, 2, 3].contains(&called.status),
            "{what}: {}",
            called.stderr
        );
        assert_harmless(&what, &called.stdout);
        assert_harmless(&what, &called.stderr);
        if arguments.contains(&"json") || arguments.contains(&"sarif") {
            let parsed: Result<serde_json::Value, _> = serde_json::from_str(&called.stdout);
            assert!(
                parsed.is_ok() || called.stdout.is_empty(),
                "{what}: {}",
                called.stdout
            );
        }
    }
}

#[cfg(unix)]
#[test]
fn models_include_files_of_their_folder_only() {
    let scene = Scene::new("including");
    for folder in ["models", "library"] {
        std::fs::create_dir_all(scene.path(folder)).expect("folders can be made");
    }
    scene.write("library/secret.h", b"byte secret;\n");
    scene.write("models/m.pml", b"#include \"../library/secret.h\"\nactive proctype P() { secret = 1 }\nltl p { [] (secret < 2) }\n");
    scene.write(
        "models/m.mona",
        b"ws1s;\ninclude \"../library/secret.h\";\n",
    );

    let refused = call(&scene, &["check", "models/m.pml"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("--include DIR"),
        "{}",
        refused.stderr
    );
    let refused = call(&scene, &["ws1s", "models/m.mona"]);
    assert!(
        refused.stderr.contains("--include DIR"),
        "{}",
        refused.stderr
    );
    let allowed = call(&scene, &["check", "models/m.pml", "--include", "library"]);
    assert_eq!(allowed.status, 0, "{}", allowed.stderr);

    scene.write("library/part.fair", b"var secret : 0..1 = 0\n");
    scene.write(
        "models/m.fair",
        b"import \"../library/part.fair\" as part\nprocess P { s { part.secret := 1 - part.secret } }\ninvariant p: part.secret < 2\n",
    );
    let refused = call(&scene, &["check", "models/m.fair"]);
    assert_eq!(refused.status, 2);
    assert!(
        refused.stderr.contains("--include DIR") && refused.stderr.contains("m.fair:1:8"),
        "{}",
        refused.stderr
    );
    let allowed = call(&scene, &["check", "models/m.fair", "--include", "library"]);
    assert_eq!(allowed.status, 0, "{}", allowed.stderr);

    // A pipe that is never written to, and a device that never ends.
    let made = std::process::Command::new("mkfifo")
        .arg(scene.path("models/pipe"))
        .status();
    assert!(made.expect("there is `mkfifo`").success());
    std::os::unix::fs::symlink("/dev/zero", scene.path("models/zero")).expect("links can be made");
    for name in ["pipe", "zero"] {
        let text = format!("#include \"{name}\"\nactive proctype P() {{ skip }}\n");
        scene.write("models/d.pml", text.as_bytes());
        let refused = call(&scene, &["check", "models/d.pml", "--include", "/dev"]);
        assert_eq!(refused.status, 2);
        assert!(
            refused.stderr.contains("is a device or a pipe"),
            "{}",
            refused.stderr
        );
    }
}

#[test]
fn exports_stay_where_they_belong() {
    let scene = Scene::new("exporting");
    std::fs::create_dir_all(scene.path("sub/out")).expect("folders can be made");
    let export = |name: &str| format!("ws1s;\nvar2 X;\nexport(\"{name}\", X = X);\n");
    for outside in ["../a.dfa", "/a.dfa", "out/a.dfa", ".."] {
        scene.write("sub/e.mona", export(outside).as_bytes());
        let refused = call(&scene, &["ws1s", "sub/e.mona"]);
        assert_eq!(refused.status, 2, "{outside}: {}", refused.stderr);
        assert!(
            refused.stderr.contains("--output-dir"),
            "{}",
            refused.stderr
        );
    }
    scene.write("sub/e.mona", export("a.dfa").as_bytes());
    assert_eq!(call(&scene, &["ws1s", "sub/e.mona"]).status, 0);
    let first = scene.read("sub/a.dfa");
    let again = call(&scene, &["ws1s", "sub/e.mona"]);
    assert_eq!(again.status, 2);
    assert!(again.stderr.contains("--force"), "{}", again.stderr);
    scene.write("sub/a.dfa", b"something else");
    assert_eq!(call(&scene, &["ws1s", "sub/e.mona", "--force"]).status, 0);
    assert_eq!(scene.read("sub/a.dfa"), first);
    assert_eq!(
        call(&scene, &["ws1s", "sub/e.mona", "--output-dir", "sub/out"]).status,
        0
    );
    assert_eq!(scene.read("sub/out/a.dfa"), first);
}

#[test]
fn large_and_deep_texts_end_in_a_message() {
    let scene = Scene::new("large");
    let head = "var x : 0..3 = 0\nprocess P { step when x < 3 { x := x + 1 } }\n";
    let name = "a".repeat(1_000_000);
    let texts = [
        (
            "long.fair",
            format!("{head}property p: always {name} < 3\n"),
        ),
        (
            "deep.fair",
            format!("{head}property p: always {}x < 3\n", "!".repeat(20_000)),
        ),
        ("bad.fair", "var x : nothing\n".repeat(10_000)),
        (
            "deep.csp",
            format!(
                "P = {}a -> Stop{};\n#assert P deadlockfree;\n",
                "(".repeat(20_000),
                ")".repeat(20_000)
            ),
        ),
        (
            "long.csp",
            format!(
                "var x = 0; P = a -> P;\n#define g x{} > 0;\n#assert P |= []g;\n",
                " + 0".repeat(400_000)
            ),
        ),
        (
            "deep.pml",
            format!(
                "#define f(x) (x)\nint x;\nactive proctype P() {{ x = {}1{} }}\n",
                "f(".repeat(20_000),
                ")".repeat(20_000)
            ),
        ),
        (
            "long.pml",
            format!(
                "int x;\nactive proctype P() {{ x = 1{} }}\n",
                " + 1".repeat(400_000)
            ),
        ),
        (
            "macros.pml",
            (1..41).fold("#define a0 1\n".to_owned(), |text, i| {
                format!("{text}#define a{i} a{0} + a{0}\n", i - 1)
            }) + "int x;\nactive proctype P() { x = a40 }\n",
        ),
        (
            "itself.pml",
            "#include \"itself.pml\"\n#include \"itself.pml\"\nactive proctype P() { skip }\n"
                .to_owned(),
        ),
        (
            "many.fair",
            "var x : 0..3 = 0\nprocess P(p in 4294967296..9223372036854775807) { step when x < 3 { x := x + 1 } }\n"
                .to_owned(),
        ),
        ("bad.mona", "!".repeat(10_000)),
        (
            "deep.mona",
            format!("ws1s;\nvar2 X;\n{}(X = X);\n", "~".repeat(20_000)),
        ),
        (
            "long.mona",
            format!("ws1s;\nvar1 x;\nx = 0{};\n", "+1".repeat(400_000)),
        ),
    ];
    for (name, text) in texts {
        scene.write(name, text.as_bytes());
        let command = if name.ends_with(".mona") {
            "ws1s"
        } else {
            "check"
        };
        let called = call(&scene, &[command, name]);
        assert_eq!(called.status, 2, "{name}: {}", called.stderr);
        assert!(
            called.stderr.len() < 20_000,
            "{name}: {} bytes",
            called.stderr.len()
        );
    }
    scene.write(
        "sum.fair",
        format!("{head}property p: always x{} < 4\n", " + 0".repeat(400_000)).as_bytes(),
    );
    assert_eq!(call(&scene, &["check", "-q", "sum.fair"]).status, 0);
    // No number is in this range, so nothing is said about any.
    scene.write(
        "huge.fair",
        format!("const N = 3\n{head}property p: always (forall p in 4294967296..N-1 : x < p)\n")
            .as_bytes(),
    );
    assert_eq!(call(&scene, &["check", "-q", "huge.fair"]).status, 0);
    let options: String = (0..8000)
        .map(|i| format!(" :: x == {i} -> x = {}\n", (i + 1) % 8000))
        .collect();
    scene.write(
        "options.pml",
        format!("int x;\nactive proctype P() {{ do\n{options} od }}\nltl p {{ [] (x < 8000) }}\n")
            .as_bytes(),
    );
    assert_eq!(call(&scene, &["check", "-q", "options.pml"]).status, 0);
    let steps: String = (0..20_000)
        .map(|i| format!("  s{i} when x < 3 {{ x := 1 }}\n"))
        .collect();
    scene.write(
        "steps.fair",
        format!("var x : 0..3 = 0\nprocess P {{\n{steps}}}\nproperty p: always x < 4\n").as_bytes(),
    );
    assert_eq!(call(&scene, &["check", "-q", "steps.fair"]).status, 0);
    let variables: String = (0..30_000)
        .map(|i| format!("var v{i} : 0..1 = 0\n"))
        .collect();
    scene.write(
        "wide.fair",
        format!("{head}{variables}property p: always x < 4\n").as_bytes(),
    );
    assert_eq!(call(&scene, &["check", "-q", "wide.fair"]).status, 0);
}

//! Limits of time, and Ctrl-C, in every command that is not a server for people or editors: most
//! calls here would not end, or not soon, by themselves.
//!
//! `FAIR_CASES` is the number of limits; how late the calls were is printed, not asserted.

use std::io::Read as _;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crate::hostile::{ENDLESS, ended};
use crate::scene::{Scene, cases};

/// A call and what it is given.
struct Limited {
    arguments: &'static [&'static str],
    /// Does it wait for what the user types?
    waits: bool,
    /// Is what it prints not read?
    is_unread: bool,
    /// May it end before a limit does, because what it does takes only moments, or is refused?
    may_end: bool,
}

const fn call(arguments: &'static [&'static str]) -> Limited {
    Limited {
        arguments,
        waits: false,
        is_unread: false,
        may_end: false,
    }
}

const MANY: &str = "1000000000";

const CALLS: [Limited; 23] = [
    call(&["check", "m.fair", "--property", "far"]),
    call(&["check", "m.fair", "--property", "far", "--threads", "2"]),
    call(&["check", "m.fair", "--ctl", "AG EF x == 2000000000"]),
    call(&["check", "m.fair", "--fairness", "all", "--property", "far"]),
    call(&[
        "check",
        "m.fair",
        "--ltl",
        "[] x < 2000000000",
        "--bitstate",
        "64M",
    ]),
    call(&["check", "u.fair"]),
    call(&["check", "u.fair", "--solver", "z3"]),
    Limited {
        is_unread: true,
        ..call(&["check", "long.fair"])
    },
    call(&["fairness", "m.fair"]),
    call(&["abstract", "u.fair"]),
    call(&["resume", "c.fck"]),
    call(&["simulate", "s.fair", "--random", "--steps", MANY]),
    Limited {
        waits: true,
        ..call(&["simulate", "m.fair"])
    },
    Limited {
        is_unread: true,
        ..call(&["explain", "t.itf.json"])
    },
    Limited {
        may_end: true,
        ..call(&["replay", "m.fair", "t.itf.json"])
    },
    call(&["certify", "m.fair", "c.cert"]),
    call(&["graph", "m.fair", "--max-states", MANY]),
    call(&["ws1s", "f.mona"]),
    Limited {
        may_end: true,
        ..call(&["ltl", "[](a || XXXXXXXXXXXXXXXXXXXXXXXXXX b)"])
    },
    Limited {
        may_end: true,
        ..call(&["completions", "bash"])
    },
    Limited {
        may_end: true,
        ..call(&["man"])
    },
    Limited {
        waits: true,
        ..call(&["mcp"])
    },
    Limited {
        may_end: true,
        ..call(&["fmt", "wide.fair"])
    },
];

/// A formula whose automata do not end soon.
fn endless_formula() -> String {
    let vars: Vec<String> = (0..60).map(|i| format!("X{i}")).collect();
    let parts = (0..60).map(|i| {
        let (j, k) = ((i * 7 + 3) % 60, (i * 5 + 1) % 60);
        format!("(X{i} sub X{j} | ex1 p: p in X{i} & p+{i} notin X{k})")
    });
    let parts: Vec<String> = parts.collect();
    format!("ws1s;\nvar2 {};\n{};\n", vars.join(","), parts.join(" & "))
}

/// The files of the calls, and a solver that never answers.
fn scene(name: &str) -> Scene {
    let scene = Scene::with(name, "m.fair", ENDLESS);
    scene.write("f.mona", endless_formula().as_bytes());
    // Nothing that a walk would stop at.
    let switch = "var x : bool = false process P { flip { x := !x } }";
    scene.write("s.fair", switch.as_bytes());
    let numbers = "
        var x, y : int = 0
        process P { a { x := x + 1; y := y + x } b when y > 100 { y := y - x * 2 } }
        property p: always y >= 0 - x
    ";
    scene.write("u.fair", numbers.as_bytes());
    let long = "
        var x : 0..20000 = 0
        process P { step when x < 20000 { x := x + 1 } }
        invariant low: x < 20000
    ";
    scene.write("long.fair", long.as_bytes());

    let state = |x: usize| {
        format!(
            "{{\"#meta\": {{\"actions\": [\"P.a\"], \"movers\": [\"P\"]}}, \"x\": {x}, \"y\": 0}}"
        )
    };
    let states: Vec<String> = (0..40_000).map(state).collect();
    let states = states.join(",\n");
    let trace = format!("{{\"vars\": [\"x\", \"y\"], \"states\": [{states}]}}");
    scene.write("t.itf.json", trace.as_bytes());
    let variables: String = (0..30_000).map(|i| format!("var v{i}:0..1=0\n")).collect();
    scene.write("wide.fair", variables.as_bytes());
    scene.write(
        "c.cert",
        b"a certificate of a property that is never looked at",
    );

    std::fs::create_dir_all(scene.path("bin")).expect("folders can be made");
    for solver in ["z3", "cvc5"] {
        let path = scene.path(&format!("bin/{solver}"));
        std::fs::write(&path, "#!/bin/sh\nexec sleep 1000\n").expect("files can be written");
        let made = Command::new("chmod").arg("+x").arg(&path).status();
        assert!(made.expect("there is `chmod`").success());
    }

    let keeping = ["--checkpoint", "c.fck", "--checkpoint-every", "0s"];
    // On a busy machine nothing may have been searched for a while.
    for timeout in ["300ms", "3s", "30s"] {
        let search = ["check", "m.fair", "--property", "far", "--timeout", timeout];
        let stopped = scene.call(&[&search[..], &keeping].concat());
        assert_eq!(stopped.status, 3, "{}", stopped.stderr);
        if scene.path("c.fck").exists() {
            break;
        }
    }
    assert!(scene.path("c.fck").exists());
    scene
}

fn start(scene: &Scene, limited: &Limited, more: &[&str]) -> Child {
    let path = std::env::var("PATH").unwrap_or_default();
    let bin = scene.path("bin");
    let stdin = if limited.waits {
        Stdio::piped()
    } else {
        Stdio::null()
    };
    let child = scene
        .command(&[limited.arguments, more].concat())
        .env("PATH", format!("{}:{path}", bin.display()))
        .stdin(stdin)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn();
    child.expect("the binary runs")
}

/// Waits for the end, which must come.
fn wait(limited: &Limited, mut child: Child) {
    let what = limited.arguments.join(" ");
    // It is open until the call has ended.
    let _stdin = child.stdin.take();
    let unread = child.stdout.take_if(|_| limited.is_unread);
    let called = ended(child, &what);
    drop(unread.map(|mut stdout| stdout.read(&mut [0])));
    let is_right = called.status == 3
        || (limited.may_end && [0, 2].contains(&called.status))
        || (limited.is_unread && called.status == 1);
    assert!(is_right, "{what}: {} {}", called.status, called.stderr);
}

#[cfg(unix)]
#[test]
fn every_command_keeps_its_time() {
    let scene = scene("every_timeout");
    let n_limits = cases(1);
    for limited in &CALLS {
        let mut latest = Duration::ZERO;
        for number in 0..n_limits {
            let limit = Duration::from_millis((300 + number * 130) % 1000);
            let began = Instant::now();
            let timeout = format!("{}ms", limit.as_millis());
            let child = start(&scene, limited, &["--timeout", &timeout]);
            wait(limited, child);
            latest = latest.max(began.elapsed().saturating_sub(limit));
        }
        let what = limited.arguments.join(" ");
        println!(
            "{n_limits} limits, at most {:.2} s late: {what}",
            latest.as_secs_f64()
        );
    }
}

#[cfg(unix)]
#[test]
fn every_command_can_be_interrupted() {
    let scene = scene("every_interrupt");
    for limited in &CALLS {
        let child = start(&scene, limited, &[]);
        thread::sleep(Duration::from_millis(300));
        let id = child.id().to_string();
        let interrupted = Command::new("kill").args(["-INT", &id]).status();
        // It may have ended by itself.
        let _ = interrupted.expect("there is `kill`");
        wait(limited, child);
    }
}

/// The memory of a solver counts, and it is ended.
#[cfg(target_os = "linux")]
#[test]
fn memory_of_solvers_is_limited() {
    let scene = scene("solver_memory");
    // It keeps what it reads, and what it reads does not end. The other limit is for the case that
    // this test fails.
    let growing = "#!/bin/sh\nulimit -v 4000000\nexec tail /dev/zero\n";
    std::fs::write(scene.path("bin/z3"), growing).expect("files can be written");
    let limited = call(&["check", "u.fair", "--solver", "z3"]);
    let child = start(
        &scene,
        &limited,
        &["--max-memory", "300M", "--solver-timeout", "100s"],
    );
    let called = ended(child, "a growing solver");
    assert_eq!(called.status, 3, "{}", called.stderr);
    assert!(
        called.stdout.contains("unknown: memory-limit"),
        "{}",
        called.stdout
    );
}

//! Printed abstractions: the native text is read again, the others by the tools they are for where
//! these are installed.

use std::path::PathBuf;
use std::process::Command;

use check::predicate::TextFormat;

use crate::{assert_round_trip, example, printed};

/// Protocols with a property that holds.
const CASES: [(&str, &str); 9] = [
    ("bakery", "exclusion"),
    ("brp", "correct"),
    ("ticket_lock", "exclusion"),
    ("bounded_buffer", "no_overflow"),
    ("leader", "one_leader"),
    ("readers_writers", "exclusion"),
    ("alternating_bit", "correct"),
    ("peterson", "exclusion"),
    ("cache", "one_owner"),
];

const JOINT: &str = "
    param N >= 1
    chan meet of nat
    event go
    var sent, got, last : nat = 0
    process S {
        init making
        from making { make when sent < N { sent := sent + 1 } -> giving }
        from giving { give meet ! sent -> waiting }
        from waiting { on sync go -> making }
    }
    process R {
        init idle
        from idle { take meet ? last { got := got + 1 } -> full_up }
        from full_up { on sync go -> idle }
    }
    property order: always (got <= sent && sent <= got + 1)
";

#[test]
fn native_texts_are_models_with_the_same_states() {
    for (name, property) in CASES {
        assert_round_trip(&example(name), property);
    }
    assert_round_trip(JOINT, "order");
}

/// A fresh directory for the files of a tool.
fn workplace(name: &str) -> PathBuf {
    let path = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
    std::fs::create_dir_all(&path).expect("the directory of tests is writable");
    path
}

/// Is a program there? Says so if it is not. NuSMV is in no package collection that continuous
/// integration could install it from, so it may be missing there, too.
fn is_installed(program: &str, argument: &str) -> bool {
    let found = Command::new(program).arg(argument).output().is_ok();
    if !found {
        eprintln!("{program} is not installed: its texts are not tried");
    }
    found
}

/// The number that stands before some words.
fn number_before(text: &str, words: &str) -> Option<u64> {
    let line = text.lines().find(|line| line.contains(words))?;
    let number = line[..line.find(words)?].split_whitespace().last()?;
    number.parse().ok()
}

fn run(program: &str, arguments: &[&str], place: &std::path::Path) -> String {
    let output = Command::new(program)
        .args(arguments)
        .current_dir(place)
        .output()
        .expect("it can be started");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{program}: {text}{errors}");
    text
}

#[test]
fn promela_texts_are_verified_by_spin() {
    if !testkit::has_peer("spin", "-V") || !testkit::has_peer("cc", "--version") {
        return;
    }
    let joint = [("joint", JOINT.to_owned(), "order")];
    let cases = CASES.map(|(name, property)| (name, example(name), property));

    for (name, text, property) in cases.into_iter().chain(joint) {
        let (promela, outcome) = printed(&text, property, TextFormat::Promela);
        let place = workplace(&format!("spin_{name}"));
        std::fs::write(place.join("model.pml"), &promela).expect("writable");
        run("spin", &["-a", "model.pml"], &place);
        run("cc", &["-O0", "-w", "-o", "pan", "pan.c"], &place);
        // With the property: never violated.
        let verified = run("./pan", &["-a", "-m100000"], &place);
        assert!(
            verified.contains("errors: 0"),
            "{name}: {verified}\n{promela}"
        );
        // Without it: the states of the abstraction.
        run(
            "cc",
            &["-O0", "-w", "-DNOREDUCE", "-DNOCLAIM", "-o", "all", "pan.c"],
            &place,
        );
        let explored = run("./all", &["-E", "-m100000"], &place);
        let stored = number_before(&explored, " states, stored").expect("Spin counts");
        // With several initial states, there is one state before them, and every other may occur
        // with and without the process that chooses.
        let n_states = outcome.stats.n_states;
        let most = if promela.contains("started") {
            2 * n_states + 1
        } else {
            n_states
        };
        assert!(
            (n_states..=most).contains(&stored),
            "{name}: {stored} states of {n_states}\n{explored}"
        );
    }
}

#[test]
fn smv_texts_are_verified_by_nusmv() {
    let Some(program) = ["NuSMV", "nusmv", "nuXmv"]
        .into_iter()
        .find(|program| is_installed(program, "-h"))
    else {
        return;
    };
    for (name, property) in CASES {
        let (smv, outcome) = printed(&example(name), property, TextFormat::Smv);
        let place = workplace(&format!("smv_{name}"));
        std::fs::write(place.join("model.smv"), &smv).expect("writable");
        let verified = run(program, &["-r", "model.smv"], &place);
        assert!(verified.contains("is true"), "{name}: {verified}");
        let counted = format!("reachable states: {}", outcome.stats.n_states);
        assert!(verified.contains(&counted), "{name}: {verified}");
    }
}

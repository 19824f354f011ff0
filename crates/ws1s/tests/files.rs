//! The files in `testdata/ws1s`, each with its answers, against this crate and against MONA.

use std::path::{Path, PathBuf};
use std::process::Command;

use base::{Budget, Source};
use ws1s::{Options, Verdict};

/// A verdict with the lengths of the example and of the counterexample, as in `# expect:` lines.
type Expected = (String, String, String);

fn files() -> Vec<PathBuf> {
    let directory = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/ws1s");
    let entries = std::fs::read_dir(directory).expect("testdata/ws1s is there");
    let paths = entries.map(|entry| entry.expect("readable").path());
    let mut files: Vec<PathBuf> = paths
        .filter(|p| p.extension().is_some_and(|e| e == "mona"))
        .collect();
    files.sort();
    assert!(files.len() >= 60);
    files
}

fn expected(text: &str) -> Vec<Expected> {
    let lines = text
        .lines()
        .filter_map(|line| line.strip_prefix("# expect: "));
    let read = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let [verdict, example, counterexample] = words[..] else {
            panic!("malformed expectation: {line}");
        };
        (
            verdict.to_owned(),
            example.to_owned(),
            counterexample.to_owned(),
        )
    };
    lines.map(read).collect()
}

fn found(name: &str, text: &str, automata: bool) -> Vec<Expected> {
    let source = Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let options = Options {
        automata,
        clock: None,
    };
    let mut no_files = |path: &str| Err(format!("no file {path}"));
    let report = ws1s::run(source, &mut no_files, &options, &Budget::unlimited());
    assert!(!report.has_errors(), "{name}: {:?}", report.diagnostics);

    let length = |word: &Option<ws1s::Word>| match word {
        Some(word) => word.letters.len().to_string(),
        None => "-".to_owned(),
    };
    let answer = |answer: &ws1s::Answer| {
        let verdict = match answer.verdict {
            Verdict::Valid => "valid",
            Verdict::Unsatisfiable => "unsatisfiable",
            Verdict::Satisfiable => "satisfiable",
            Verdict::Unknown(_) => "unknown",
        };
        let lengths = (length(&answer.example), length(&answer.counterexample));
        (verdict.to_owned(), lengths.0, lengths.1)
    };

    report.answers.iter().map(answer).collect()
}

#[test]
fn every_file_has_its_answers() {
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let name = path.display().to_string();
        // Both ways: searching lazily, and building the automata.
        assert_eq!(found(&name, &text, false), expected(&text), "{name}");
        assert_eq!(
            found(&name, &text, true),
            expected(&text),
            "{name}, automata"
        );
    }
}

/// What MONA prints, in the form of expectations.
fn mona_answers(output: &str) -> Vec<Expected> {
    let mut blocks: Vec<Vec<&str>> = vec![Vec::new()];
    for line in output.lines() {
        let is_title = line.ends_with(':')
            && (line.starts_with("Main formula") || line.starts_with("Formula "));
        if is_title {
            blocks.push(Vec::new())
        } else {
            blocks.last_mut().expect("never empty").push(line)
        }
    }

    if blocks.len() > 1 {
        blocks.remove(0);
    }
    let length = |block: &[&str], what: &str| {
        let mut lengths = block.iter().filter_map(|line| {
            let rest = line
                .strip_prefix(what)?
                .strip_prefix(" of least length (")?;
            rest.split(')').next()
        });
        lengths.next().unwrap_or("-").to_owned()
    };

    let answer = |block: &Vec<&str>| {
        let says = |text: &str| block.contains(&text);
        let verdict = match (says("Formula is valid"), says("Formula is unsatisfiable")) {
            (true, _) => "valid",
            (_, true) => "unsatisfiable",
            _ => "satisfiable",
        };
        let example = length(block, "A satisfying example");
        (
            verdict.to_owned(),
            example,
            length(block, "A counter-example"),
        )
    };

    blocks.iter().map(answer).collect()
}

#[test]
fn mona_gives_the_same_answers() {
    if !testkit::has_peer("mona", "-h") {
        return;
    }
    for path in files() {
        let text = std::fs::read_to_string(&path).expect("readable");
        let output = Command::new("mona")
            .arg("-q")
            .arg(&path)
            .output()
            .expect("mona runs");
        let output = String::from_utf8_lossy(&output.stdout);
        assert_eq!(
            mona_answers(&output),
            expected(&text),
            "{}\n{output}",
            path.display()
        );
    }
}

//! The manual: every call that it shows is made, and must print what it shows.
//!
//! A block marked `console` holds lines that begin with `$ ` and are given to a shell, each followed
//! by what it prints; a line `…` stands for lines that are left out. A block marked `text file=NAME`
//! is written to that file, and a comment `<!-- $ … -->` is given to the shell, too. The blocks of
//! one document are run in order, in one directory that has the examples and the test data.
//! `UPDATE_EXPECT=1` writes what is printed into the documents.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use expect_test::expect_file;

use crate::scene::{Scene, stable};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

#[test]
fn the_read_me_shows_what_is_printed() {
    check_document("README.md");
}

#[test]
fn the_tutorial_shows_what_is_printed() {
    check_document("docs/tutorial/first-model.md");
}

/// A reader cannot tell which blocks are made up, so none of them is.
#[test]
fn calls_are_shown_in_blocks_that_are_run() {
    let folder = |name: &str| format!("docs/how-to/{name}");
    let how_tos = how_tos();
    let how_tos = how_tos.iter().map(|name| folder(name));
    for path in how_tos.chain(["docs/tutorial/first-model.md".to_owned()]) {
        let text = fs::read_to_string(root().join(&path)).expect("the document can be read");
        let mut block = None;
        for line in text.lines() {
            if let Some(kind) = line.strip_prefix("```") {
                block = block.is_none().then_some(kind);
            }
            let is_call = line.starts_with("fair ") || line.starts_with("$ ");
            let is_run = block.is_none_or(|kind| kind == "console");
            assert!(is_run || !is_call, "{path}: `{line}` is not run");
        }
    }
}

#[test]
fn what_is_left_out_is_not_compared() {
    assert!(is_shown("a\nb\nc\n", "a\n…\nc\n"));
    assert!(is_shown("a\nb\nc\nd\n", "a\n…\nc\n  …\n"));
    assert!(is_shown("a\n", "a\n…\n"));
    assert!(is_shown("abc\n", "ab…\n"));
    assert!(!is_shown("abc\n", "ac…\n"));
    assert!(!is_shown("a\nb\nc\n", "a\n…\nb\n"));
    assert!(!is_shown("a\nb\n", "b\n…\na\n"));
    assert!(!is_shown("a\nb\n", "a\n"));
    assert!(!is_shown("a\n", "a\n…\na\n"));
}

#[test]
fn the_reference_shows_what_is_printed() {
    check_document("docs/reference/cli.md");
}

#[test]
fn the_walk_through_may_must_systems_shows_what_is_printed() {
    check_document("docs/explanation/may-must.md");
}

#[test]
fn timers() {
    check_document("docs/explanation/timers.md");
}

#[test]
fn the_how_tos_show_what_is_printed() {
    for name in how_tos() {
        check_document(&format!("docs/how-to/{name}"));
    }
}

fn how_tos() -> Vec<String> {
    let directory = fs::read_dir(root().join("docs/how-to")).expect("there are how-tos");
    let mut names: Vec<String> = directory
        .map(|entry| entry.expect("it can be listed").file_name())
        .map(|name| name.into_string().expect("the names are text"))
        .collect();
    names.retain(|name| name.ends_with(".md"));
    names.sort();
    names
}

fn check_document(path: &str) {
    let scene = Scene::new(&path.replace(['/', '.'], "_"));
    for folder in ["examples", "testdata"] {
        copy(&root().join(folder), &scene.path(folder));
    }
    let full = root().join(path);
    let text = fs::read_to_string(&full).expect("the document can be read");
    expect_file![full].assert_eq(&with_output(&scene, &text));
}

/// The document with what its calls print. Times and memory stay as they are written, and so does
/// everything that a line `…` leaves out.
fn with_output(scene: &Scene, text: &str) -> String {
    let mut result = String::new();
    let mut lines = text.lines().peekable();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        result += line;
        result.push('\n');

        // A file that the reader is asked to write.
        if let Some(name) = line.strip_prefix("```text file=") {
            let mut content = String::new();
            while let Some(line) = lines.next_if(|line| *line != "```") {
                content += line;
                content.push('\n');
            }
            scene.write(name, content.as_bytes());
            result += &content;
        }

        // A change that the reader is told about in words.
        if let Some(call) = line.strip_prefix("<!-- $ ") {
            let call = call.strip_suffix(" -->").expect("the comment ends");
            assert_eq!(run(scene, call), "", "{call}");
        }

        if line.starts_with("```") {
            is_console = line == "```console";
        }
        let Some(call) = line.strip_prefix("$ ").filter(|_| is_console) else {
            continue;
        };
        let mut shown = String::new();
        while let Some(line) = lines.next_if(|l| !l.starts_with("$ ") && *l != "```") {
            shown += line;
            shown.push('\n');
        }
        let printed = run(scene, call);
        let same = is_shown(&stable(&printed), &stable(&shown));
        result += if same { &shown } else { &printed };
    }

    result
}

/// Is this what was printed? A line `…` stands for any number of lines, and `…` at the end of a
/// line for the rest of it.
fn is_shown(printed: &str, shown: &str) -> bool {
    let printed: Vec<&str> = printed.lines().map(str::trim_end).collect();
    let shown: Vec<&str> = shown.lines().collect();
    let parts: Vec<&[&str]> = shown.split(|line| line.trim() == "…").collect();
    let (first, others) = parts.split_first().expect("a split has a part");
    let Some((last, inner)) = others.split_last() else {
        return are_shown(&printed, first);
    };
    if printed.len() < first.len() + last.len() {
        return false;
    }

    let (start, rest) = printed.split_at(first.len());
    let (mut rest, end) = rest.split_at(rest.len() - last.len());
    for part in inner {
        let mut windows = rest.windows(part.len());
        let Some(position) = windows.position(|window| are_shown(window, part)) else {
            return false;
        };
        rest = &rest[position + part.len()..];
    }

    are_shown(start, first) && are_shown(end, last)
}

/// The same for lines, none of which is left out.
fn are_shown(printed: &[&str], shown: &[&str]) -> bool {
    let is_shown = |(printed, shown): (&&str, &&str)| match shown.strip_suffix('…') {
        Some(beginning) => printed.starts_with(beginning),
        None => printed == shown,
    };
    printed.len() == shown.len() && printed.iter().zip(shown).all(is_shown)
}

fn run(scene: &Scene, call: &str) -> String {
    // In the repository the reader calls the binary by way of cargo.
    let call = call.replace("cargo run --release --", "fair");
    let binary = Path::new(env!("CARGO_BIN_EXE_fair"));
    let directory = binary.parent().expect("it lies in a directory");
    let path = env::var("PATH").unwrap_or_default();
    let output = Command::new("sh")
        .args(["-c", &format!("exec 2>&1; {call}")])
        .current_dir(scene.path("."))
        .env("PATH", format!("{}:{path}", directory.display()))
        .env("NO_COLOR", "1")
        .output()
        .expect("there is a shell");
    String::from_utf8(output.stdout).expect("output is UTF-8")
}

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).expect("directories can be made");
    for entry in fs::read_dir(from).expect("the examples can be listed") {
        let entry = entry.expect("they can be listed");
        let target = to.join(entry.file_name());
        if entry.file_type().expect("it has a type").is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).expect("files can be copied");
        }
    }
}

//! The manual: every call that it shows is made, and must print what it shows.
//!
//! A block marked `console` holds lines that begin with `$ ` and are given to a shell, each followed
//! by what it prints. The blocks of one document are run in order, in one directory that has the
//! examples. `UPDATE_EXPECT=1` writes what is printed into the documents.

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
    let directory = fs::read_dir(root().join("docs/how-to")).expect("there are how-tos");
    let mut names: Vec<String> = directory
        .map(|entry| entry.expect("it can be listed").file_name())
        .map(|name| name.into_string().expect("the names are text"))
        .collect();
    names.sort();
    for name in names.iter().filter(|name| name.ends_with(".md")) {
        check_document(&format!("docs/how-to/{name}"));
    }
}

fn check_document(path: &str) {
    let scene = Scene::new(&path.replace(['/', '.'], "_"));
    copy(&root().join("examples"), &scene.path("examples"));
    let full = root().join(path);
    let text = fs::read_to_string(&full).expect("the document can be read");
    expect_file![full].assert_eq(&with_output(&scene, &text));
}

/// The document with what its calls print. Times and memory stay as they are written.
fn with_output(scene: &Scene, text: &str) -> String {
    let mut result = String::new();
    let mut lines = text.lines().peekable();
    let mut is_console = false;
    while let Some(line) = lines.next() {
        result += line;
        result.push('\n');
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
        let same = stable(&printed) == stable(&shown);
        result += if same { &shown } else { &printed };
    }
    result
}

fn run(scene: &Scene, call: &str) -> String {
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
        match entry.file_type().expect("it has a type").is_dir() {
            true => copy(&entry.path(), &target),
            false => {
                fs::copy(entry.path(), target).expect("files can be copied");
            }
        }
    }
}

//! Solvers that are programs on this machine.

use std::io::{Read as _, Write as _};
use std::process::{Command, Stdio};

use crate::symbolic::{Said, Solver};

/// A program that reads SMT-LIB from its standard input.
struct Program {
    name: &'static str,
    /// With these it gives up after ten seconds.
    arguments: &'static [&'static str],
}

const PROGRAMS: [Program; 2] = [
    Program {
        name: "z3",
        arguments: &["-in", "-smt2", "-T:10"],
    },
    Program {
        name: "cvc5",
        arguments: &["--lang=smt2", "--tlimit=10000", "-q"],
    },
];

/// The solvers that are found on this machine, but for those with these names.
#[must_use]
pub fn installed_solvers(except: &[&str]) -> Vec<Box<dyn Solver>> {
    let mut found: Vec<Box<dyn Solver>> = Vec::new();
    for program in PROGRAMS {
        let is_there = || {
            let mut command = Command::new(program.name);
            command.arg("--version").stdin(Stdio::null());
            command.stdout(Stdio::null()).stderr(Stdio::null());
            command.status().is_ok_and(|status| status.success())
        };
        if !except.contains(&program.name) && is_there() {
            found.push(Box::new(program));
        }
    }
    found
}

impl Solver for Program {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn ask(&mut self, _title: &str, script: &str) -> Said {
        // One word is an answer; a complaint beside it, or anything else, is none.
        match answer(self, script).as_deref().map(str::trim) {
            Ok("unsat") => Said::Unsat,
            Ok("sat") => Said::Sat,
            _ => Said::Nothing,
        }
    }
}

/// Longer answers are not read: they are none.
const MAX_ANSWER: u64 = 1 << 16;

fn answer(program: &Program, script: &str) -> std::io::Result<String> {
    let mut child = Command::new(program.name)
        .args(program.arguments)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;

    // It is written to while it is read from, so that neither waits for the other.
    let mut stdin = child.stdin.take().expect("it is piped");
    let script = script.to_owned();
    let writing = std::thread::spawn(move || stdin.write_all(script.as_bytes()));
    let stdout = child.stdout.take().expect("it is piped");
    let mut text = String::new();
    let read = stdout.take(MAX_ANSWER).read_to_string(&mut text);
    // What has said everything, or too much, need not go on.
    let _ = child.kill();
    child.wait()?;
    // A program that has its answer need not read to the end.
    let _ = writing.join();
    read?;
    Ok(text)
}

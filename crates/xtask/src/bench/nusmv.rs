//! NuSMV (<https://nusmv.fbk.eu>), which computes with sets of states as we do with `--route symbolic`.
//!
//! The environment variable `NUSMV` says where it is, else `NuSMV` is looked for. Its language has
//! no parameters, so the twins in `bench/smv` are templates that [`expand`] writes out for a size.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, ensure};

use super::measure::{End, Limits, run};
use super::peer::{PeerResult, repeat};
use super::spin::Answer;
use super::suite::{BenchKind, BenchQuestion, Suite};
use crate::architecture;

/// NuSMV, ready to be called.
pub(super) struct NuSmv {
    program: PathBuf,
    /// What it says about itself.
    pub(super) version: String,
    limits: Limits,
}

impl NuSmv {
    /// Finds it; `None`, after saying so, if there is none.
    pub(super) fn find(suite: &Suite) -> Option<Self> {
        let program = std::env::var_os("NUSMV").map_or_else(|| "NuSMV".into(), PathBuf::from);
        let limits = suite.limits;
        let said = run(Command::new(&program).arg("-h"), limits).ok();
        let said = said.filter(|run| matches!(run.end, End::Exited(_)));
        let all = said.map(|run| format!("{}{}", run.stdout, run.stderr));
        let version = all.and_then(|all| {
            let line = all.lines().find(|line| line.contains("This is NuSMV"))?;
            Some(line.trim_matches(['*', ' ']).to_owned())
        });
        if version.is_none() {
            eprintln!("NuSMV is not found (environment variable NUSMV), so it is not run");
        }
        Some(Self {
            program,
            version: version?,
            limits,
        })
    }

    /// Checks a twin so often: with the order of variables as they are declared and with one that is
    /// improved while it runs (`-dynamic`); the better one counts.
    pub(super) fn check(
        &self,
        twin: &str,
        question: &BenchQuestion,
        size: u64,
        n_runs: usize,
    ) -> Result<Answer<PeerResult>> {
        let template = fs::read_to_string(architecture::root().join(twin))?;
        let file = std::env::temp_dir().join(format!("fair-nusmv-{}.smv", std::process::id()));
        fs::write(&file, expand(&template, question, size))?;

        let mut answers = Vec::new();
        for flags in [&["-dcx"][..], &["-dcx", "-dynamic"]] {
            let mut command = Command::new(&self.program);
            command.args(flags).arg(&file);
            answers.push(match repeat(&command, self.limits, n_runs, &[0])? {
                Ok(series) => {
                    let verdict = verdict(&series.printed);
                    ensure!(verdict.is_some(), "NuSMV on {twin}: {}", series.printed);
                    let call = format!("NuSMV {} {twin}, N = {size}", flags.join(" "));
                    Ok(series.answer(call, verdict.unwrap_or_default(), None)?)
                }
                Err(reason) => Err(reason),
            });
        }
        let _ = fs::remove_file(&file);

        let seconds = |answer: &Answer<PeerResult>| {
            answer
                .as_ref()
                .map_or(f64::INFINITY, |answer| answer.seconds)
        };
        answers.sort_by(|a, b| seconds(a).total_cmp(&seconds(b)));
        Ok(answers.swap_remove(0))
    }
}

/// The verdict about the only specification.
fn verdict(printed: &str) -> Option<&'static str> {
    let line = printed
        .lines()
        .find(|line| line.starts_with("-- specification"))?;
    match line.rsplit(' ').next()? {
        "true" => Some("holds"),
        "false" => Some("violated"),
        _ => None,
    }
}

/// The text of a twin for a size.
///
/// A line that begins with `%safety`, `%liveness` or `%fair` is for such questions only, one that
/// begins with `%each` is written for each `$i` from 0 to N - 1. `$j` is the one behind it and `$h` the
/// one before it on a ring, `$M` is N - 1, `$all(…)` is what is inside for all `$k`.
fn expand(template: &str, question: &BenchQuestion, size: u64) -> String {
    let is_safety = question.kind == BenchKind::Safety;
    let mut text = String::new();

    for line in template.lines() {
        let mut line = line.trim_start();
        let (mut is_wanted, mut n_copies) = (true, 1);

        while let Some(rest) = line.strip_prefix('%') {
            let (word, rest) = rest.split_once(' ').unwrap_or((rest, ""));
            match word {
                "safety" => is_wanted &= is_safety,
                "liveness" => is_wanted &= !is_safety,
                "fair" => is_wanted &= question.fairness != "none",
                _ => n_copies = size,
            }
            line = rest;
        }

        for i in (0..n_copies).filter(|_| is_wanted) {
            text.push_str(&instance(line, i, size));
            text.push('\n');
        }
    }
    text
}

/// A line for one process.
fn instance(line: &str, i: u64, size: u64) -> String {
    let mut line = line.to_owned();

    // `$all(…)` first: it puts in `$k`, not the variables of this instance.
    while let Some((before, rest)) = line.split_once("$all(") {
        let mut depth = 1;
        let is_end = |(_, letter): &(usize, char)| {
            depth += match letter {
                '(' => 1,
                ')' => -1,
                _ => 0,
            };
            depth == 0
        };
        let end = rest
            .char_indices()
            .find(is_end)
            .map_or(rest.len(), |(end, _)| end);

        let parts: Vec<String> = (0..size)
            .map(|k| format!("({})", rest[..end].replace("$k", &k.to_string())))
            .collect();

        line = format!("{before}({}){}", parts.join(" & "), &rest[end + 1..]);
    }

    let values = [
        ("$i", i),
        ("$j", (i + 1) % size),
        ("$h", (i + size - 1) % size),
        ("$M", size - 1),
    ];
    let replaced =
        |line: String, (name, value): (&str, u64)| line.replace(name, &value.to_string());
    values.into_iter().fold(line, replaced)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn question(kind: &str, fairness: &str) -> BenchQuestion {
        let text = format!(
            "kind = '{kind}'\nfairness = '{fairness}'\nproperty = 'p'\nverdict = 'holds'\nsizes = [3]"
        );
        toml::from_str(&text).unwrap()
    }

    #[test]
    fn templates_are_written_out() {
        let template = "MODULE main\n%each x$i : 0..$M; -- $h, $j\n%liveness %fair %each F$i\n\
                        %safety %each S $all(a$k < (b$i)) & c\n";
        assert_eq!(
            expand(template, &question("liveness", "weak"), 2),
            "MODULE main\nx0 : 0..1; -- 1, 1\nx1 : 0..1; -- 0, 0\nF0\nF1\n"
        );
        assert_eq!(
            expand(template, &question("safety", "none"), 3)
                .lines()
                .last(),
            Some("S ((a0 < (b2)) & (a1 < (b2)) & (a2 < (b2))) & c")
        );
    }

    #[test]
    fn verdicts_are_read() {
        let printed = "*** This is NuSMV\n-- specification AG p  is true\n";
        assert_eq!(verdict(printed), Some("holds"));
        assert_eq!(verdict("-- specification AG p is false"), Some("violated"));
        assert_eq!(verdict("file x: line 3: syntax error"), None);
    }
}

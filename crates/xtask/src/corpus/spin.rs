//! Spin beside `fair check`: each question with a verifier of its own.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result};

use super::{Fair, Outcome, Report, Tally, files, limited};

const EXTENSIONS: [&str; 7] = ["pml", "prm", "promela", "prom", "spin", "pr", "pm"];

/// What one question takes: macros for the compiler, arguments for the verifier.
struct Way {
    defines: &'static [&'static str],
    arguments: Vec<String>,
}

impl Way {
    fn of(question: &str) -> Self {
        let (defines, arguments): (&[&str], &[&str]) = match question {
            "assertions" => (&["-DSAFETY", "-DNOCLAIM"], &["-E"]),
            "end-states" => (&["-DSAFETY", "-DNOCLAIM"], &["-A"]),
            "acceptance" => (&["-DNOCLAIM"], &["-a", "-E"]),
            "progress" => (&["-DNP", "-DNOCLAIM"], &["-l", "-E"]),
            _ => (&[], &["-a", "-E"]),
        };
        let arguments = arguments.iter().map(|&argument| argument.to_owned());
        Self {
            defines,
            arguments: arguments.collect(),
        }
    }
}

pub(super) fn compare(fair: &Fair, folder: &Path, tally: &mut Tally) -> Result<()> {
    let scratch = std::env::temp_dir().join(format!("fair-corpus-{}", std::process::id()));
    for model in files(folder, &EXTENSIONS)? {
        let name = model.strip_prefix(folder).unwrap_or(&model);
        let beside = model.parent().context("a file is in a folder")?;
        let _ = std::fs::remove_dir_all(&scratch);
        let copied = Command::new("cp")
            .arg("-rL")
            .arg(beside)
            .arg(&scratch)
            .status()?;
        let file = model.file_name().context("a file has a name")?;
        let file = file.to_string_lossy();
        let generated = limited(Path::new("spin"), fair.seconds)
            .args(["-a", &file])
            .current_dir(&scratch)
            .output()?;
        if !copied.success() || !scratch.join("pan.c").exists() {
            let said = String::from_utf8_lossy(&generated.stdout);
            let why = said.lines().find(|line| line.contains("rror"));
            let why = format!("Spin: {}", why.unwrap_or("does not read it"));
            tally.row(Outcome::NoReference, name, "-", why);
            continue;
        }
        match fair.check(&scratch, Path::new(&*file))? {
            Ok(reports) => questions(fair, &scratch, name, &reports, tally)?,
            Err(why) => tally.row(Outcome::Refused, name, "-", why),
        }
    }
    let _ = std::fs::remove_dir_all(&scratch);
    Ok(())
}

fn questions(
    fair: &Fair,
    scratch: &Path,
    name: &Path,
    reports: &[Report],
    tally: &mut Tally,
) -> Result<()> {
    let claims = ["assertions", "end-states", "acceptance", "progress"];
    let n_claims = reports
        .iter()
        .filter(|r| !claims.contains(&r.property.as_str()))
        .count();
    for report in reports {
        let mut way = Way::of(&report.property);
        if n_claims > 0 && way.defines.is_empty() && report.property != "never" {
            way.arguments
                .extend(["-N".to_owned(), report.property.clone()]);
        }
        let (theirs, shown) = verdict(fair, scratch, &way)?;
        let why = format!("{}; Spin: {shown}", report.why());
        let outcome = Outcome::of(report.holds(), theirs);
        tally.row(outcome, name, &report.property, why);

        // Where an assertion fails, every other question meets that error.
        if report.property == "assertions" && report.holds() == Some(false) {
            break;
        }
    }
    Ok(())
}

/// What a verifier finds, and in words.
fn verdict(fair: &Fair, scratch: &Path, way: &Way) -> Result<(Option<bool>, String)> {
    let program: PathBuf = scratch.join("verifier");
    let _ = std::fs::remove_file(&program);
    let mut compiler = Command::new("cc");
    compiler.args([
        "-w",
        "-O1",
        "-DNOREDUCE",
        "-DVECTORSZ=65536",
        "-o",
        "verifier",
    ]);
    compiler.args(way.defines).arg("pan.c").current_dir(scratch);
    if !compiler.output()?.status.success() {
        return Ok((None, "the verifier is not compiled".to_owned()));
    }

    let mut verifier = limited(&program, fair.seconds);
    verifier
        .arg("-m1000000")
        .args(&way.arguments)
        .current_dir(scratch);
    let output = verifier.output()?;
    let said = String::from_utf8_lossy(&output.stdout);
    let error = said.lines().find(|line| line.starts_with("pan:1:"));
    let n_errors = said
        .split("errors: ")
        .nth(1)
        .and_then(|rest| rest.split_whitespace().next());
    let is_complete = !said.contains("max search depth") && !said.contains("not completed");
    Ok(match (n_errors, error) {
        (_, Some(error)) => (Some(false), error.to_owned()),
        (Some("0"), None) if is_complete => (Some(true), "no error".to_owned()),
        _ => (None, "not decided".to_owned()),
    })
}

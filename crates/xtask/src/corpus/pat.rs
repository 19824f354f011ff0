//! Verdicts that PAT's console has stored: `pat_output_NAME.txt` beside `NAME.csp`.

use std::path::Path;
use std::process::Command;

use anyhow::Result;

use super::{Fair, Outcome, Tally, files};

pub(super) fn compare(fair: &Fair, folder: &Path, tally: &mut Tally) -> Result<()> {
    for model in files(folder, &["csp"])? {
        let name = model.strip_prefix(folder).unwrap_or(&model);
        let stem = model.file_stem().unwrap_or_default().to_string_lossy();
        let stored = model.with_file_name(format!("pat_output_{stem}.txt"));
        let stored = std::fs::read(&stored).map(|bytes| verdicts(&String::from_utf8_lossy(&bytes)));
        let stored = stored.unwrap_or_default();
        if stored.is_empty() {
            tally.row(Outcome::NoReference, name, "-", "no stored verdict");
            continue;
        }
        let reports = match fair.check(folder, &model)? {
            // A model that is not read has no answers.
            Ok(reports) if reports.is_empty() => Err(refusal(fair, &model)?),
            answered => answered,
        };
        let reports = match reports {
            Ok(reports) => reports,
            Err(why) => {
                for (assertion, _) in &stored {
                    tally.row(Outcome::Refused, name, assertion, &why);
                }
                continue;
            }
        };
        for (assertion, theirs) in &stored {
            let same = |text: &str| plain(text) == plain(assertion);
            let Some(report) = reports.iter().find(|report| same(&report.property)) else {
                let why = "the stored assertion is not in the model";
                tally.row(Outcome::NoReference, name, assertion, why);
                continue;
            };
            let (outcome, shown) = match theirs {
                Some(true) => (Outcome::of(report.holds(), *theirs), "valid"),
                Some(false) => (Outcome::of(report.holds(), *theirs), "not valid"),
                None => (Outcome::NoReference, "nothing"),
            };
            let why = format!("{}; PAT: {shown}", report.why());
            tally.row(outcome, name, assertion, why);
        }
    }
    Ok(())
}

/// What is said about a model that is not read.
fn refusal(fair: &Fair, model: &Path) -> Result<String> {
    let output = Command::new(&fair.program)
        .arg("check")
        .arg(model)
        .output()?;
    let said = String::from_utf8_lossy(&output.stderr);
    let mut errors = said.lines().skip_while(|line| !line.starts_with("error"));
    Ok(errors.next().unwrap_or("no answer").to_owned())
}

/// The assertions with their verdicts; nothing where PAT has none.
fn verdicts(text: &str) -> Vec<(String, Option<bool>)> {
    let verdict = |line: &str| {
        let rest = line.trim().strip_prefix("The Assertion (")?;
        let (assertion, verdict) = rest.rsplit_once(") is ")?;
        let holds = match verdict {
            _ if verdict.starts_with("VALID") => Some(true),
            _ if verdict.starts_with("NOT valid") => Some(false),
            _ => None,
        };
        Some((assertion.to_owned(), holds))
    };
    text.lines().filter_map(verdict).collect()
}

/// An assertion without what may be written in several ways.
fn plain(assertion: &str) -> String {
    let is_kept = |c: &char| !c.is_whitespace() && !"()".contains(*c);
    assertion.chars().filter(is_kept).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stored_outputs_are_read() {
        let text = "Assertion: P() |= [] a\n\
            The Assertion (P() |= [] a) is VALID.\n\
            The Assertion (Q() reaches b) is NOT valid.\r\n\
            The Assertion (R() deadlockfree) is NEITHER PROVED NOR DISPROVED.\n\
            The Assertion (S reaches g with min(n)) is VALID and min(n) = 8 among 9 reachable states.";
        let found = verdicts(text);
        let verdicts: Vec<Option<bool>> = found.iter().map(|(_, verdict)| *verdict).collect();
        assert_eq!(verdicts, [Some(true), Some(false), None, Some(true)]);
        assert_eq!(plain(&found[0].0), plain("P |= []a"));
    }
}

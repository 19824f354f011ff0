//! What is left of searches by reductions: ours beside Spin's.

use anyhow::Result;
use serde::Serialize;

use super::engine::{Bench, answered, states};
use super::fair::FairResult;
use super::record::Record;
use super::spin::{Answer, SpinResult, Task, Variant};
use super::suite::{BenchQuestion, Model};
use super::table::{Table, figure, or_dash};

/// One question, asked with reductions only.
#[derive(Debug, Serialize)]
pub(super) struct ReducedRow {
    model: String,
    size: u64,
    question: String,
    /// What it must come to.
    verdict: String,
    fair_reduced: Answer<FairResult>,
    /// Absent if the question is not put to Spin.
    reduced: Option<Answer<SpinResult>>,
    /// What must not be.
    pub(super) problems: Vec<String>,
}

impl Bench<'_> {
    /// Asks what is asked with reductions only.
    pub(super) fn run_reduced(&self, record: &mut Record) -> Result<Vec<ReducedRow>> {
        let mut rows = Vec::new();
        let models = self.suite.model.iter();
        for model in models.filter(|model| self.options.wants(&model.name)) {
            for question in &model.reduced {
                let sizes = if self.options.quick {
                    &question.quick
                } else {
                    &question.sizes
                };
                for &size in sizes {
                    eprintln!("{} {size}: {}, reduced", model.name, question.title());
                    let row = self.reduced_row(model, question, size)?;
                    record.add(&row)?;
                    rows.push(row);
                }
            }
        }
        Ok(rows)
    }

    fn reduced_row(
        &self,
        model: &Model,
        question: &BenchQuestion,
        size: u64,
    ) -> Result<ReducedRow> {
        let task = Task {
            model,
            question,
            size,
            variant: Variant::Reduced,
        };

        let asked = model.promela.is_some() && question.is_for_spin(size);
        let spin = self.spin.as_ref().filter(|_| asked);
        let reduced = spin.map(|spin| match spin.verifier(task)? {
            Ok(mut verifier) => match verifier.run()? {
                Ok(()) => verifier.result().map(Ok),
                Err(reason) => Ok(Err(reason)),
            },
            Err(reason) => Ok(Err(reason)),
        });

        let mut row = ReducedRow {
            model: model.name.clone(),
            size,
            question: question.title(),
            verdict: question.verdict.clone(),
            fair_reduced: self.series(task, &["--reduce"]).run_all(1)?,
            reduced: reduced.transpose()?,
            problems: Vec::new(),
        };

        row.problems = row.find_problems();
        Ok(row)
    }
}

impl ReducedRow {
    fn find_problems(&self) -> Vec<String> {
        let place = format!("{} {}, {}, reduced", self.model, self.size, self.question);
        let mut problems = Vec::new();
        match &self.fair_reduced {
            Ok(fair) if fair.report.verdict == self.verdict => {}
            Ok(fair) => problems.push(format!("{place}: we say {}", fair.report.verdict)),
            Err(reason) => problems.push(format!("{place}: no answer of ours, {reason}")),
        }
        if let Some(spin) = answered(&self.reduced) {
            let n_errors = spin.report.errors;
            let holds = self.verdict == "holds";
            if (n_errors == 0) != holds {
                problems.push(format!("{place}: Spin finds {n_errors} errors"));
            }
            if holds && !spin.report.complete {
                problems.push(format!("{place}: Spin's search was not complete"));
            }
        }
        problems
    }

    fn share(&self) -> Option<f64> {
        share(self.fair_reduced.as_ref().ok(), answered(&self.reduced))
    }
}

/// Our states in Spin's.
pub(super) fn share(ours: Option<&FairResult>, theirs: Option<&SpinResult>) -> Option<f64> {
    Some(states(ours?)? as f64 / theirs?.report.stored as f64)
}

/// Prints the rows and, with the shares of other whole searches, what is most.
pub(super) fn print(rows: &[ReducedRow], others: impl Iterator<Item = f64>) {
    let mut table = Table::new(&[
        "model", "N", "question", "verdict", "states", "Spin's", "ratio",
    ]);

    for row in rows {
        table.add(vec![
            row.model.clone(),
            row.size.to_string(),
            row.question.clone(),
            row.verdict.clone(),
            or_dash(row.fair_reduced.as_ref().ok().and_then(states), |n| {
                n.to_string()
            }),
            or_dash(answered(&row.reduced), |spin| {
                spin.report.stored.to_string()
            }),
            or_dash(row.share(), figure),
        ]);
    }

    if !rows.is_empty() {
        println!("\nWith reduction:\n\n{table}");
    }

    let shares = |verdict: &str| {
        let rows = rows.iter().filter(|row| row.verdict == verdict);
        rows.filter_map(ReducedRow::share).collect::<Vec<f64>>()
    };
    let most = |shares: Vec<f64>| {
        let n_rows = shares.len();
        let most = or_dash(shares.into_iter().reduce(f64::max), figure);
        format!("{most}, {n_rows} rows")
    };

    // Searches that end at a violation depend on luck, so they are listed apart.
    let whole = shares("holds").into_iter().chain(others).collect();
    println!(
        "most states with reduction relative to Spin's, whole searches: {}",
        most(whole)
    );
    println!(
        "most states with reduction relative to Spin's, until a violation is met: {}",
        most(shares("violated"))
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::engine::tests::{fair, spin};

    fn row(verdict: &str, ours: FairResult, theirs: SpinResult) -> ReducedRow {
        ReducedRow {
            model: "m".to_owned(),
            size: 4,
            question: "safety".to_owned(),
            verdict: verdict.to_owned(),
            fair_reduced: Ok(ours),
            reduced: Some(Ok(theirs)),
            problems: Vec::new(),
        }
    }

    #[test]
    fn counts_are_compared_and_verdicts_demanded() {
        let equal = row("holds", fair("holds", 30, 1.0), spin(20, 0, 1.0));
        assert_eq!(equal.share(), Some(1.5));
        assert!(equal.find_problems().is_empty());
        let wrong = row("violated", fair("holds", 30, 1.0), spin(20, 0, 1.0));
        assert_eq!(wrong.find_problems().len(), 2);
        let silent = ReducedRow {
            fair_reduced: Err("> 120 s".to_owned()),
            reduced: None,
            ..wrong
        };
        assert_eq!((silent.share(), silent.find_problems().len()), (None, 1));
    }
}

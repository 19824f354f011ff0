//! `fair check` beside TLC on systems that are made of sets, sequences, bags, maps and records.
//!
//! Without [TLC](super::tlc) only our columns appear.

use anyhow::{Result, ensure};
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::FairResult;
use super::peer::PeerResult;
use super::statistics::geometric_mean;
use super::suite::ValuesModel;
use super::table::{Table, count, figure, or_dash};
use super::tlc::Tlc;

/// Measures both, prints a table and keeps the record.
///
/// # Errors
/// Something could not be run, or the two differ about a system.
pub fn values(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let tlc = Tlc::find(&suite)?;
    let mut record = options.open_record("values")?;
    let version = tlc.as_ref().map(Tlc::version).transpose()?;
    record.add(&json!({ "benchmark": "values", "runs": options.runs, "tlc": version }))?;

    let mut rows = Vec::new();
    for model in suite
        .values
        .iter()
        .filter(|model| options.wants(&model.name))
    {
        let sizes = if options.quick {
            &model.quick
        } else {
            &model.sizes
        };
        for &size in sizes {
            eprintln!("{}, {} = {size}", model.name, model.parameter);
            let defines = [(model.parameter.as_str(), size)];
            let series = fair.series(&model.native, &defines, &model.fair_flags());
            let fair = series.run_all(options.runs)?;
            let tlc = match &tlc {
                Some(tlc) => Some(tlc.check(&model.job(size), options.runs)?),
                None => None,
            };
            let row = Row::new(model, size, fair, tlc);
            record.add(&row)?;
            rows.push(row);
        }
    }

    print(&rows, suite.min_seconds_for_ratio);
    let wrong: Vec<&String> = rows.iter().filter_map(|row| row.problem.as_ref()).collect();
    ensure!(wrong.is_empty(), "{wrong:?}");
    Ok(())
}

/// One system in one size.
#[derive(Debug, Serialize)]
struct Row {
    model: String,
    parameter: String,
    size: u64,
    fair: Result<FairResult, String>,
    tlc: Option<Result<PeerResult, String>>,
    /// How many times more states per CPU second than TLC.
    ratio: Option<f64>,
    /// In what the two differ.
    problem: Option<String>,
}

impl Row {
    fn new(
        model: &ValuesModel,
        size: u64,
        fair: Result<FairResult, String>,
        tlc: Option<Result<PeerResult, String>>,
    ) -> Self {
        let both = match (&fair, &tlc) {
            (Ok(fair), Some(Ok(tlc))) => Some((fair, tlc)),
            _ => None,
        };

        let ratio = both.map(|(fair, tlc)| tlc.seconds / fair.seconds);

        // The counts are of the same graph, so any difference is an error of one of the tools.
        let differs = both.filter(|(fair, tlc)| {
            fair.report.states != tlc.states || fair.report.verdict != tlc.verdict
        });
        let problem = differs.map(|(fair, tlc)| {
            let ours = &fair.report;
            let states = |n: Option<u64>| or_dash(n, |n| n.to_string());
            format!(
                "{}, {size}: {} states, {} beside {} states, {}",
                model.name,
                states(ours.states),
                ours.verdict,
                states(tlc.states),
                tlc.verdict
            )
        });

        Self {
            model: model.name.clone(),
            parameter: model.parameter.clone(),
            size,
            fair,
            tlc,
            ratio,
            problem,
        }
    }
}

fn print(rows: &[Row], min_seconds: f64) {
    let mut table = Table::new(&[
        "model", "size", "states", "s", "TLC s", "states/s", "TLC's", "ratio", "MB", "TLC's",
    ]);
    let mut ratios = Vec::new();
    for row in rows {
        let fair = row.fair.as_ref();
        let tlc = row.tlc.as_ref().and_then(|tlc| tlc.as_ref().ok());
        let states = fair.ok().and_then(|fair| fair.report.states);
        let each = |seconds: Option<f64>| {
            let rate = states.zip(seconds).map(|(n, s)| n as f64 / s);
            or_dash(rate, count)
        };
        let megabytes = |bytes: u64| count(bytes as f64 / f64::from(1 << 20));
        let ours = fair.ok().map(|fair| fair.seconds);
        // Below that, starting a process is what is measured.
        let is_long = ours.is_some_and(|seconds| seconds >= min_seconds);
        ratios.extend(row.ratio.filter(|_| is_long));
        table.add(vec![
            row.model.clone(),
            format!("{} = {}", row.parameter, row.size),
            match fair {
                Ok(_) => or_dash(states, |n| n.to_string()),
                Err(reason) => reason.clone(),
            },
            or_dash(ours, figure),
            match &row.tlc {
                Some(Err(reason)) => reason.lines().next().unwrap_or("–").to_owned(),
                _ => or_dash(tlc.map(|tlc| tlc.seconds), figure),
            },
            each(ours),
            each(tlc.map(|tlc| tlc.seconds)),
            or_dash(row.ratio, figure),
            or_dash(fair.ok().map(|fair| fair.peak_rss_bytes), megabytes),
            or_dash(tlc.map(|tlc| tlc.peak_rss_bytes), megabytes),
        ]);
    }
    println!("{table}");
    if let Some(mean) = geometric_mean(&ratios) {
        let least = ratios.iter().copied().fold(f64::INFINITY, f64::min);
        println!(
            "states per CPU second: {} times those of TLC (geometric mean of {} rows), at least {}",
            figure(mean),
            ratios.len(),
            figure(least)
        );
    }
}

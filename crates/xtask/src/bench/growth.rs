//! Cost against size: one model in many sizes.

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::{Fair, FairResult, FairSeries};
use super::statistics::growth_exponent;
use super::suite::{Grows, Growth, Suite};
use super::table::{Table, count, figure, or_dash};

/// Measures time and memory against size, prints tables and keeps the record.
///
/// # Errors
/// Something could not be run.
pub fn growth(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;
    let mut record = options.open_record("growth")?;
    record.add(&json!({ "benchmark": "growth", "runs": options.runs }))?;
    for growth in suite
        .growth
        .iter()
        .filter(|growth| options.wants(&growth.name))
    {
        let points = measure(&fair, growth, options)?;
        for point in &points {
            record.add(point)?;
        }
        print(growth, &points, &suite);
    }
    Ok(())
}

/// One size.
#[derive(Debug, Serialize)]
struct Point {
    model: String,
    parameter: String,
    value: u64,
    fair: Result<FairResult, String>,
}

/// All sizes in turn, as often as wanted, so that a change of the machine's mood hits all.
fn measure(fair: &Fair, growth: &Growth, options: &Options) -> Result<Vec<Point>> {
    let values = if options.quick {
        &growth.quick
    } else {
        &growth.values
    };
    let flags = growth.fair_flags();
    let series = |value: &u64| {
        let defines = [(growth.parameter.as_str(), *value)];
        (fair.series(&growth.native, &defines, &flags), Ok(()))
    };
    let mut all: Vec<(FairSeries<'_>, Result<(), String>)> = values.iter().map(series).collect();
    for round in 1..=options.runs {
        eprintln!("{}, round {round} of {}", growth.name, options.runs);
        for (series, answer) in all.iter_mut().filter(|(_, answer)| answer.is_ok()) {
            *answer = series.run()?;
        }
    }

    let point = |(&value, (series, answer)): (&u64, (FairSeries<'_>, Result<(), String>))| {
        let fair = match answer {
            Ok(()) => Ok(series.result()?),
            Err(reason) => Err(reason),
        };
        Ok(Point {
            model: growth.name.clone(),
            parameter: growth.parameter.clone(),
            value,
            fair,
        })
    };

    values.iter().zip(all).map(point).collect()
}

fn print(growth: &Growth, points: &[Point], suite: &Suite) {
    println!(
        "{}: fair check {} {}\n",
        growth.name,
        growth.native,
        growth.fair_flags().join(" ")
    );

    let mut table = Table::new(&[
        &growth.parameter,
        "verdict",
        "states",
        "transitions",
        "s",
        "µs/state",
        "ns/transition",
        "peak MB",
        "B/state",
    ]);

    for point in points {
        table.add(cells(point, suite.min_states_for_bytes));
    }
    println!("{table}");
    println!("{}\n", conclusion(growth, points, suite));
}

/// The table in one sentence. Sizes whose time is that of starting a process do not count.
fn conclusion(growth: &Growth, points: &[Point], suite: &Suite) -> String {
    let results = points.iter().filter_map(|point| {
        let fair = point.fair.as_ref().ok()?;
        (fair.seconds >= suite.min_seconds_for_ratio).then_some((point.value, fair))
    });

    match growth.grows {
        Grows::States => {
            let by_states = |(_, fair): (u64, &FairResult)| {
                let states = fair.report.states?;
                Some((states as f64, fair.seconds))
            };
            let points: Vec<(f64, f64)> = results.filter_map(by_states).collect();
            let exponent = or_dash(growth_exponent(&points), figure);
            let n_sizes = points.len();
            format!("time grows with states to the power of {exponent} ({n_sizes} sizes)")
        }
        Grows::Conditions => {
            let seconds: Vec<f64> = results.map(|(_, fair)| fair.seconds).collect();
            let least = or_dash(seconds.iter().copied().reduce(f64::min), figure);
            let most = or_dash(seconds.iter().copied().reduce(f64::max), figure);
            format!("between {least} and {most} s for all numbers of conditions")
        }
    }
}

fn cells(point: &Point, min_states_for_bytes: u64) -> Vec<String> {
    let fair = match &point.fair {
        Ok(fair) => fair,
        Err(reason) => {
            let mut cells = vec![point.value.to_string(), reason.clone()];
            cells.resize(9, "–".to_owned());
            return cells;
        }
    };

    let each = |n: Option<u64>, unit: f64| {
        let n = n.filter(|&n| n > 0);
        or_dash(n, |n| figure(fair.seconds * unit / n as f64))
    };
    let report = &fair.report;
    let enough = report
        .states
        .is_some_and(|states| states >= min_states_for_bytes);
    vec![
        point.value.to_string(),
        report.verdict.clone(),
        or_dash(report.states, |n| n.to_string()),
        or_dash(report.transitions, |n| n.to_string()),
        figure(fair.seconds),
        each(report.states, 1e6),
        each(report.transitions, 1e9),
        count(fair.peak_rss_bytes as f64 / f64::from(1 << 20)),
        or_dash(fair.bytes_per_state.filter(|_| enough), figure),
    ]
}

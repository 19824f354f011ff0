//! Cost against size: one model in many sizes.

use anyhow::Result;
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::{Fair, FairResult};
use super::statistics::growth_exponent;
use super::suite::{Grows, Growth};
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
        let mut points = Vec::new();
        let values = if options.quick {
            &growth.quick
        } else {
            &growth.values
        };
        for &value in values {
            eprintln!("{} {}={value}", growth.name, growth.parameter);
            let point = measure(&fair, growth, value, options.runs)?;
            record.add(&point)?;
            points.push(point);
        }
        print(growth, &points, suite.min_states_for_bytes);
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

fn measure(fair: &Fair, growth: &Growth, value: u64, runs: usize) -> Result<Point> {
    let flags = [
        "--property",
        &growth.property,
        "--fairness",
        &growth.fairness,
    ];
    let flags = flags.map(str::to_owned);
    let defines = [(growth.parameter.as_str(), value)];
    let mut series = fair.series(&growth.native, &defines, &flags);
    let mut answer = Ok(());
    for _ in 0..runs {
        if answer.is_ok() {
            answer = series.run()?;
        }
    }
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
}

fn print(growth: &Growth, points: &[Point], min_states_for_bytes: u64) {
    println!(
        "{} ({}, {})\n",
        growth.name, growth.property, growth.fairness
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
        table.add(cells(point, min_states_for_bytes));
    }
    println!("{table}");
    let results = || {
        points
            .iter()
            .filter_map(|point| Some((point.value, point.fair.as_ref().ok()?)))
    };
    match growth.grows {
        Grows::States => {
            let by_states =
                |(_, fair): (u64, &FairResult)| Some((fair.report.states? as f64, fair.seconds));
            let points: Vec<(f64, f64)> = results().filter_map(by_states).collect();
            let exponent = or_dash(growth_exponent(&points), figure);
            println!("time grows with states to the power of {exponent}\n");
        }
        Grows::Conditions => {
            let by_value = |(value, fair): (u64, &FairResult)| (value as f64, fair.seconds);
            let points: Vec<(f64, f64)> = results().map(by_value).collect();
            let ratio = |(first, last): (&(f64, f64), &(f64, f64))| {
                format!(
                    "{} times as many conditions cost {} times the time",
                    figure(last.0 / first.0),
                    figure(last.1 / first.1)
                )
            };
            println!("{}\n", or_dash(points.first().zip(points.last()), ratio));
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

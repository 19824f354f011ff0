//! The pictures at the beginning of `docs/explanation/benchmarks.md`, drawn from the record of
//! `cargo xtask bench engine`, so that they can be drawn again without measuring.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::Value;

use super::Options;
use super::svg::{Anchor, LogScale, Look, Shape, Svg};
use super::table::figure;
use crate::architecture;

/// Draws all pictures from the record that was named, or from that of all sizes.
///
/// # Errors
/// The record cannot be read, or a picture cannot be written.
pub fn pictures(options: &Options) -> Result<()> {
    let root = architecture::root();
    let name = options.record.as_deref().unwrap_or("engine");
    let rows = read(&root.join(format!("bench/record/{name}.jsonl")))?;
    let suite = options.suite()?;
    let directory = root.join("docs/explanation");
    let drawn = [
        ("ratios.svg", ratios(&rows, suite.min_seconds_for_ratio)),
        ("cost.svg", cost(&rows)),
        ("symbolic.svg", symbolic(&rows)),
    ];
    // The last one says nothing where the symbolic route was not asked.
    let is_asked = rows.iter().any(|row| row.seconds[1].is_some());
    let n_drawn = if is_asked { 3 } else { 2 };

    for (file, picture) in drawn.into_iter().take(n_drawn) {
        let path = directory.join(file);
        fs::write(&path, picture).with_context(|| path.display().to_string())?;
        println!("docs/explanation/{file}");
    }
    Ok(())
}

/// Ours, and those beside us; the names are those of the record.
const SERIES: [(&str, Look); 7] = [
    ("fair", look(Shape::Circle, None)),
    ("fair, symbolic", look(Shape::Circle, Some("#2da44e"))),
    ("Spin", look(Shape::Square, Some("#3b82f6"))),
    ("Stateright", look(Shape::Drop, Some("#d4a106"))),
    ("LTSmin", look(Shape::Triangle, Some("#a855f7"))),
    ("NuSMV", look(Shape::Diamond, Some("#e11d74"))),
    ("TLC", look(Shape::Hourglass, Some("#e8590c"))),
];

const fn look(shape: Shape, color: Option<&'static str>) -> Look {
    Look { shape, color }
}

/// One line of the record, as far as it is drawn.
#[derive(Debug)]
struct Row {
    model: String,
    size: u64,
    question: String,
    states: Option<u64>,
    /// CPU seconds by the position in [`SERIES`].
    seconds: [Option<f64>; SERIES.len()],
}

impl Row {
    fn new(line: &Value) -> Option<Self> {
        let seconds = SERIES.map(|(name, _)| {
            let answer = match name {
                "fair" => &line["fair"],
                "fair, symbolic" => &line["symbolic"],
                "Spin" => &line["spin"],
                // Where older records have it.
                "Stateright" if line.get("stateright").is_some() => &line["stateright"],
                peer => &line["peers"][peer],
            };
            answer["Ok"]["seconds"].as_f64().filter(|&s| s > 0.0)
        });
        line.get("fair")?;
        Some(Self {
            model: line["model"].as_str()?.to_owned(),
            size: line["size"].as_u64()?,
            question: line["question"].as_str()?.to_owned(),
            states: line["fair"]["Ok"]["states"].as_u64(),
            seconds,
        })
    }

    /// Of our better route.
    fn ours(&self) -> Option<f64> {
        let [explicit, symbolic, ..] = self.seconds;
        explicit.into_iter().chain(symbolic).reduce(f64::min)
    }

    /// The time of a series in ours, if there is enough time to measure.
    fn ratio(&self, series: usize, min_seconds: f64) -> Option<f64> {
        let (ours, theirs) = (self.ours()?, self.seconds[series]?);
        (ours.max(theirs) >= min_seconds).then(|| theirs / ours)
    }
}

fn read(path: &Path) -> Result<Vec<Row>> {
    let text = fs::read_to_string(path).with_context(|| path.display().to_string())?;
    let values: Vec<Value> = text
        .lines()
        .map(serde_json::from_str)
        .collect::<Result<_, _>>()?;
    Ok(values.iter().filter_map(Row::new).collect())
}

/// What one line of the first picture shows: a question about a model, and each peer with the largest
/// size at which it was asked.
struct Comparison {
    title: String,
    group: &'static str,
    /// Series, size and ratio.
    points: Vec<(usize, u64, f64)>,
}

const GROUPS: [&str; 3] = [
    "all states (safety)",
    "loops (liveness), no fairness",
    "fair loops",
];

fn comparisons(rows: &[Row], min_seconds: f64) -> Vec<Comparison> {
    let mut found: Vec<Comparison> = Vec::new();

    for row in rows {
        let (group, title) = match row.question.as_str() {
            "safety" => (GROUPS[0], row.model.clone()),
            "liveness" => (GROUPS[1], row.model.clone()),
            other => {
                let fairness = other.trim_start_matches("liveness, ");
                (GROUPS[2], format!("{}, {fairness}", row.model))
            }
        };

        let known = |one: &Comparison| one.group == group && one.title == title;
        let at = found.iter().position(known).unwrap_or_else(|| {
            found.push(Comparison {
                title,
                group,
                points: Vec::new(),
            });
            found.len() - 1
        });

        for series in 2..SERIES.len() {
            if let Some(ratio) = row.ratio(series, min_seconds) {
                let points = &mut found[at].points;
                points.retain(|point| point.0 != series);
                points.push((series, row.size, ratio));
            }
        }
    }

    found.retain(|one| !one.points.is_empty());
    let least = |one: &Comparison| {
        let ratios = one.points.iter().map(|point| point.2);
        ratios.fold(f64::INFINITY, f64::min)
    };
    found.sort_by(|a, b| least(b).total_cmp(&least(a)));
    found
}

/// How many times our CPU time others need, for each model and peer.
fn ratios(rows: &[Row], min_seconds: f64) -> String {
    let found = comparisons(rows, min_seconds);

    // The height follows from the number of lines, which the background needs first.
    let n_groups = GROUPS
        .iter()
        .filter(|group| found.iter().any(|one| one.group == **group))
        .count();
    let height = 118.0 + 19.0 * found.len() as f64 + 30.0 * n_groups as f64;
    let (left, right, bottom) = (232.0, 812.0, height - 44.0);
    let mut svg = Svg::new(860.0, height);
    svg.text(
        "title",
        (20.0, 28.0),
        Anchor::Start,
        "CPU time of other checkers, in that of fair",
    );
    svg.legend((240.0, 54.0), &SERIES[2..]);

    // A logarithmic scale: a ratio and its inverse lie equally far from 1.
    let ratios = found.iter().flat_map(|one| &one.points);
    let all = ratios.map(|point| point.2).chain([1.0]);
    let scale = LogScale::around(all, (left, right));
    for tick in scale.ticks() {
        let x = scale.place(tick);
        let class = if (tick - 1.0).abs() < 1e-9 {
            "axis"
        } else {
            "grid"
        };
        svg.line(class, (x, 68.0), (x, bottom));
        let label = (x, bottom + 16.0);
        svg.text("faint", label, Anchor::Middle, &format!("{tick}×"));
    }
    let end = (scale.place(1.0), bottom + 33.0);
    svg.text("faint", end, Anchor::Middle, "← slower | fair is faster →");

    let mut y = 66.0;
    for group in GROUPS {
        let mut members = found.iter().filter(|one| one.group == group).peekable();
        if members.peek().is_none() {
            continue;
        }
        y += 26.0;
        svg.text("group", (20.0, y), Anchor::Start, group);
        y += 4.0;
        for one in members {
            y += 19.0;
            svg.text("", (left - 10.0, y), Anchor::End, &one.title);
            let most = one.points.iter().map(|point| point.2).fold(1.0, f64::max);
            let from = (scale.place(1.0), y - 4.0);
            svg.line("thin", from, (scale.place(most), y - 4.0));
            for &(series, size, ratio) in &one.points {
                let (name, look) = SERIES[series];
                let hint = format!("{} {size}: {name} {}×", one.title, figure(ratio));
                svg.mark(look, (scale.place(ratio), y - 4.0), &hint);
            }
        }
    }

    svg.finish(
        "CPU time of Spin, Stateright, TLC, LTSmin and NuSMV relative to fair, for each model",
    )
}

/// CPU seconds against states, of all searches for all states.
fn cost(rows: &[Row]) -> String {
    let mut svg = Svg::new(860.0, 520.0);
    let title = "CPU seconds against states, searches for all states";
    svg.text("title", (20.0, 28.0), Anchor::Start, title);
    let points: Vec<(usize, f64, f64, &Row)> = rows
        .iter()
        .filter(|row| row.question == "safety")
        .flat_map(|row| {
            let states = row.states.filter(|&states| states > 0);
            let of = move |series| Some((series, states? as f64, row.seconds[series]?, row));
            (0..SERIES.len()).filter_map(of)
        })
        .collect();
    let is_drawn = |number: usize| points.iter().any(|point| point.0 == number);
    let shown = SERIES.iter().enumerate().filter(|(i, _)| is_drawn(*i));
    let shown: Vec<(&str, Look)> = shown.map(|(_, series)| *series).collect();
    svg.legend((72.0, 54.0), &shown);

    let (top, bottom) = (74.0, 464.0);
    let x = LogScale::around(points.iter().map(|point| point.1), (72.0, 830.0));
    let y = LogScale::around(points.iter().map(|point| point.2), (bottom, top));
    axes(&mut svg, &x, &y);
    svg.text("faint", (451.0, 506.0), Anchor::Middle, "states");
    svg.text("faint", (20.0, 54.0), Anchor::Start, "CPU s");

    // Where every state costs the same.
    for (each, label) in [
        (1e-7, "0.1 µs per state"),
        (1e-6, "1 µs"),
        (1e-5, "10 µs"),
        (1e-4, "100 µs"),
    ] {
        let (x_ends, y_ends) = (x.ends(), y.ends());
        let from = x_ends.0.max(y_ends.0 / each);
        let to = x_ends.1.min(y_ends.1 / each);
        if from < to {
            let start = (x.place(from), y.place(from * each));
            svg.line("thin", start, (x.place(to), y.place(to * each)));
            // Below its line at the end where marks are few.
            let place = (start.0 + 52.0, start.1 - 5.0);
            svg.text("faint", place, Anchor::Start, label);
        }
    }
    // Ours last, so that no mark hides it.
    for series in (0..SERIES.len()).rev() {
        for (_, states, seconds, row) in points.iter().filter(|point| point.0 == series) {
            let (name, look) = SERIES[series];
            let hint = format!("{} {}: {name} {} s", row.model, row.size, figure(*seconds));
            svg.mark(look, (x.place(*states), y.place(*seconds)), &hint);
        }
    }

    svg.finish("CPU seconds against the number of states for fair and other checkers")
}

fn axes(svg: &mut Svg, x: &LogScale, y: &LogScale) {
    let (x_ends, y_ends) = (x.ends(), y.ends());
    for tick in x.ticks() {
        let (at, bottom) = (x.place(tick), y.place(y_ends.0));
        svg.line("grid", (at, bottom), (at, y.place(y_ends.1)));
        svg.text("faint", (at, bottom + 18.0), Anchor::Middle, &power(tick));
    }
    rules(svg, y, (x.place(x_ends.0), x.place(x_ends.1)));
}

/// A power of ten from one on, in few letters.
fn power(value: f64) -> String {
    match value {
        v if v >= 1e6 => format!("{}M", v / 1e6),
        v if v >= 1e3 => format!("{}k", v / 1e3),
        v => v.to_string(),
    }
}

/// A line across for each power of ten.
fn rules(svg: &mut Svg, y: &LogScale, (left, right): (f64, f64)) {
    for tick in y.ticks() {
        let at = y.place(tick);
        svg.line("grid", (left, at), (right, at));
        let label = (left - 8.0, at + 4.0);
        svg.text("faint", label, Anchor::End, &format!("{tick}"));
    }
}

/// Where sets of states pay: two systems under fairness, in several sizes.
fn symbolic(rows: &[Row]) -> String {
    let mut svg = Svg::new(860.0, 400.0);
    let title = "CPU seconds against the number of processes, fair loops";
    svg.text("title", (20.0, 28.0), Anchor::Start, title);
    let panels = [
        ("milner", "liveness, weak-process", 72.0),
        ("philosophers_right", "liveness, strong-process", 500.0),
    ];

    // Only what has a value somewhere is in the legend.
    let is_shown = |row: &&Row| {
        let mut panels = panels.iter();
        panels.any(|panel| panel.0 == row.model && panel.1 == row.question)
    };
    let rows: Vec<&Row> = rows.iter().filter(is_shown).collect();
    let is_drawn = |number: usize| rows.iter().any(|row| row.seconds[number].is_some());
    let shown = SERIES.iter().enumerate().filter(|(i, _)| is_drawn(*i));
    let shown: Vec<(&str, Look)> = shown.map(|(_, series)| *series).collect();
    svg.legend((72.0, 54.0), &shown);
    svg.text("faint", (20.0, 54.0), Anchor::Start, "CPU s");
    let seconds = rows.iter().flat_map(|row| row.seconds).flatten();
    let y = LogScale::around(seconds, (350.0, 92.0));

    for (model, question, left) in panels {
        let own: Vec<&Row> = rows
            .iter()
            .filter(|row| row.model == model)
            .copied()
            .collect();
        let sizes: Vec<u64> = own.iter().map(|row| row.size).collect();
        let (Some(&least), Some(&most)) = (sizes.iter().min(), sizes.iter().max()) else {
            continue;
        };
        let right = left + 330.0;

        let place = |size: u64| {
            let share = (size - least) as f64 / (most - least).max(1) as f64;
            left + 14.0 + share * 302.0
        };
        let fairness = question.trim_start_matches("liveness, ");
        let name = format!("{model}, {fairness}");
        svg.text("group", (left, 82.0), Anchor::Start, &name);
        rules(&mut svg, &y, (left, right));

        for &size in &sizes {
            let label = (place(size), 368.0);
            svg.text("faint", label, Anchor::Middle, &size.to_string());
        }
        svg.text("faint", (left + 165.0, 390.0), Anchor::Middle, "N");

        for (series, (name, look)) in SERIES.into_iter().enumerate().rev() {
            let points = own
                .iter()
                .filter_map(|row| Some((row.size, row.seconds[series]?)));
            let points: Vec<(u64, f64)> = points.collect();
            let places: Vec<(f64, f64)> = points
                .iter()
                .map(|(size, seconds)| (place(*size), y.place(*seconds)))
                .collect();
            svg.path(look, &places);
            for ((size, seconds), at) in points.iter().zip(places) {
                let hint = format!("{model} {size}: {name} {} s", figure(*seconds));
                svg.mark(look, at, &hint);
            }
        }
    }

    svg.finish("CPU seconds of fair, Spin and NuSMV against the number of processes under fairness")
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn rows() -> Vec<Row> {
        let line = |model: &str, size: u64, question: &str, ours: f64, spin: f64| {
            json!({
                "model": model, "size": size, "question": question,
                "fair": {"Ok": {"states": 1000, "seconds": ours}},
                "spin": {"Ok": {"seconds": spin}},
                "peers": {"TLC": {"Ok": {"seconds": 10.0}}, "NuSMV": {"Err": "> 120 s"}},
            })
        };
        let lines = [
            json!({"benchmark": "engine"}),
            line("a", 3, "safety", 0.5, 1.0),
            line("a", 4, "safety", 1.0, 3.0),
            line("milner", 4, "liveness, weak-process", 1.0, 0.5),
            json!({"model": "a", "size": 3, "question": "safety", "fair_reduced": null}),
        ];
        lines.iter().filter_map(Row::new).collect()
    }

    #[test]
    fn each_peer_is_compared_at_its_largest_size() {
        let found = comparisons(&rows(), 0.05);
        let shown: Vec<_> = found
            .iter()
            .map(|one| (one.title.as_str(), &one.points))
            .collect();
        assert_eq!(
            shown,
            [
                ("a", &vec![(2, 4, 3.0), (6, 4, 10.0)]),
                ("milner, weak-process", &vec![(2, 4, 0.5), (6, 4, 10.0)]),
            ]
        );
        assert!(comparisons(&rows(), 100.0).is_empty());
    }

    #[test]
    fn our_better_route_counts() {
        let mut row = rows().remove(0);
        row.seconds[1] = Some(0.25);
        assert_eq!(row.ratio(2, 0.05), Some(4.0));
        row.seconds[0] = None;
        assert_eq!(row.ratio(6, 0.05), Some(40.0));
    }

    #[test]
    fn pictures_have_a_mark_for_each_measurement() {
        let marks = |picture: &str| {
            let ends = ["</title></circle>", "</title></polygon>"];
            ends.map(|end| picture.matches(end).count())
                .iter()
                .sum::<usize>()
        };
        // Four ratios and the legend; three measurements of each row and the legend.
        assert_eq!(marks(&ratios(&rows(), 0.05)), 4 + 5);
        assert_eq!(marks(&cost(&rows())), 6 + 3);
        assert_eq!(marks(&symbolic(&rows())), 3 + 3);
        assert!(!cost(&[]).contains("NaN"));
    }
}

//! `fair check` beside Spin, Stateright, TLC, LTSmin and NuSMV: the same systems, the same questions, one machine, one call.

use anyhow::{Context, Result, bail};
use serde::Serialize;
use serde_json::json;

use super::Options;
use super::fair::{Fair, FairResult, FairSeries};
use super::peer::PeerResult;
use super::peers::{Answers, NAMES, Peers};
use super::record::Record;
use super::reduced;
use super::spin::{Answer, Spin, SpinResult, Task, Variant, Verifier};
use super::statistics::geometric_mean;
use super::suite::{BenchKind, BenchQuestion, Model, Suite};
use super::table::{Table, count, figure, or_dash};
use crate::architecture;

/// Runs the comparison, prints its tables and keeps its record.
///
/// # Errors
/// Something could not be run, or the two disagree about states or verdicts.
pub fn engine(options: &Options) -> Result<()> {
    let suite = options.suite()?;
    let fair = options.fair(&suite)?;

    let spin = Spin::find(&architecture::root(), &suite);
    if spin.is_none() {
        println!("Spin or gcc is missing (Debian: apt-get install spin gcc): only our columns.\n");
    }

    let peers = Peers::find(&suite)?;
    let bench = Bench {
        options,
        suite: &suite,
        fair,
        spin,
        peers,
    };

    let mut record = options.open_record("engine")?;
    let rows = bench.run(&mut record)?;
    let reduced = bench.run_reduced(&mut record)?;

    bench.print(&rows);
    reduced::print(&reduced, rows.iter().filter_map(Row::share_left));

    // Figures are printed even if something differs: they help to find out what.
    let problems = rows.iter().map(|row| &row.problems);
    let problems = problems.chain(reduced.iter().map(|row| &row.problems));
    let problems: Vec<String> = problems.flatten().cloned().collect();
    if !problems.is_empty() {
        bail!("MISMATCH\n{}", problems.join("\n"));
    }
    Ok(())
}

pub(super) struct Bench<'a> {
    pub(super) options: &'a Options,
    pub(super) suite: &'a Suite,
    fair: Fair,
    pub(super) spin: Option<Spin>,
    peers: Peers,
}

/// What one question about one model of one size came to.
#[derive(Debug, Serialize)]
struct Row {
    model: String,
    size: u64,
    question: String,
    n_processes: u64,
    fair: Answer<FairResult>,
    /// Our partial-order reduction, run once; safety only, as the next.
    fair_reduced: Option<Answer<FairResult>>,
    /// We with two threads.
    two_threads: Option<Answer<FairResult>>,
    /// Absent if the question is not put to Spin.
    spin: Option<Answer<SpinResult>>,
    /// Spin with `-DCOLLAPSE`, run once.
    collapse: Option<Answer<SpinResult>>,
    /// Spin with partial-order reduction, run once.
    reduced: Option<Answer<SpinResult>>,
    /// Our symbolic route, where NuSMV is asked.
    symbolic: Option<Answer<FairResult>>,
    /// What others say, by their names.
    peers: Answers,
    /// Spin's CPU time in ours.
    time_ratio: Option<f64>,
    /// What must not be.
    problems: Vec<String>,
}

impl Bench<'_> {
    fn run(&self, record: &mut Record) -> Result<Vec<Row>> {
        record.add(&self.heading()?)?;
        let mut rows = Vec::new();
        for model in &self.suite.model {
            for question in &model.question {
                let quick = self.options.quick;
                let sizes = if quick {
                    &question.quick
                } else {
                    &question.sizes
                };
                for &size in sizes.iter().filter(|_| self.options.wants(&model.name)) {
                    eprintln!("{} {size}: {}", model.name, question.title());
                    let row = self.row(model, question, size)?;
                    for problem in &row.problems {
                        eprintln!("MISMATCH: {problem}");
                    }
                    record.add(&row)?;
                    rows.push(row);
                }
            }
        }

        Ok(rows)
    }

    fn heading(&self) -> Result<serde_json::Value> {
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(json!({
            "benchmark": "engine",
            "versions": self.spin.as_ref().map(|spin| &spin.versions),
            "peers": self.peers.versions()?,
            "cores": cores,
            "runs": self.options.runs,
            "cpu_seconds_limit": self.suite.limits.cpu_seconds,
            "memory_mb_limit": self.suite.limits.memory_mb,
        }))
    }

    fn row(&self, model: &Model, question: &BenchQuestion, size: u64) -> Result<Row> {
        let task = |variant| Task {
            model,
            question,
            size,
            variant,
        };

        let asked = model.promela.is_some() && question.is_for_spin(size);
        let spin = self.spin.as_ref().filter(|_| asked);
        let others = question.kind == BenchKind::Safety && !self.options.quick;
        let (fair, two_threads, plain) = self.side_by_side(task(Variant::Plain), spin, others)?;
        let once = |variant| match (spin, &plain) {
            (Some(spin), Some(Ok(plain))) if others => spin.once(task(variant), plain).map(Some),
            _ => Ok(None),
        };
        let (collapse, reduced) = (once(Variant::Collapse)?, once(Variant::Reduced)?);
        let reducing = self.series(task(Variant::Plain), &["--reduce"]);
        let fair_reduced = others.then(|| reducing.run_all(1)).transpose()?;

        let has_rival = question.nusmv_sizes.contains(&size);
        let symbolic = self.series(task(Variant::Plain), &["--route", "symbolic"]);
        let symbolic = has_rival.then(|| symbolic.run_all(self.options.runs));
        let symbolic = symbolic.transpose()?;

        let n_states = fair.as_ref().ok().and_then(|fair| fair.report.states);
        let n_states = n_states.unwrap_or_default();
        let runs = self.options.runs;
        let peers = self.peers.ask(task(Variant::Plain), n_states, runs)?;

        let result = |verifier: Answer<Verifier>| match verifier {
            Ok(verifier) => verifier.result().map(Ok),
            Err(reason) => Ok(Err(reason)),
        };
        let mut row = Row {
            model: model.name.clone(),
            size,
            question: question.title(),
            n_processes: model.n_processes(size),
            fair,
            fair_reduced,
            two_threads,
            spin: plain.map(result).transpose()?,
            collapse,
            reduced,
            symbolic,
            peers,
            time_ratio: None,
            problems: Vec::new(),
        };

        row.time_ratio = row.ratio(self.suite.min_seconds_for_ratio);
        row.problems = row.find_problems(model, question);
        Ok(row)
    }

    /// Our call for a question, with further flags.
    pub(super) fn series(&self, task: Task<'_>, flags: &[&str]) -> FairSeries<'_> {
        let mut all = task.question.fair_flags();
        all.extend(flags.iter().map(|&flag| flag.to_owned()));
        let defines = [(task.model.parameter.as_str(), task.size)];
        self.fair.series(&task.model.native, &defines, &all)
    }

    /// Both checkers in turn, ours perhaps with two threads too, so that a change of the machine's
    /// mood hits all.
    fn side_by_side(&self, task: Task<'_>, spin: Option<&Spin>, with_two: bool) -> Result<InTurn> {
        let flags = [Some(&[][..]), with_two.then_some(&["--threads", "2"][..])];
        let series = |flags| (self.series(task, flags), Ok(()));
        let mut ours: Vec<_> = flags.into_iter().flatten().map(series).collect();
        let mut verifier = spin.map(|spin| spin.verifier(task)).transpose()?;

        for _ in 0..self.options.runs {
            for (series, answer) in &mut ours {
                if answer.is_ok() {
                    *answer = series.run()?;
                }
            }
            if let Some(Ok(running)) = &mut verifier
                && let Err(reason) = running.run()?
            {
                verifier = Some(Err(reason));
            }
        }

        let mut results = ours.into_iter().map(|(series, answer)| match answer {
            Ok(()) => series.result().map(Ok),
            Err(reason) => Ok(Err(reason)),
        });
        let one = results.next().context("one thread is always asked")??;
        Ok((one, results.next().transpose()?, verifier))
    }

    fn print(&self, rows: &[Row]) {
        println!("{}", self.table(rows));
        println!("{}", self.table_of_peers(rows));
        for (name, ratios) in self.summary(rows) {
            let mean = or_dash(geometric_mean(&ratios), figure);
            let least = ratios.iter().copied().reduce(f64::min);
            let least = or_dash(least, figure);
            println!(
                "{name}: geometric mean {mean}, least {least}, {} rows",
                ratios.len()
            );
        }
    }

    fn table(&self, rows: &[Row]) -> Table {
        let mut table = Table::new(&[
            "model",
            "N",
            "question",
            "verdict",
            "states",
            "Spin's",
            "s",
            "Spin's",
            "ratio",
            "states/s",
            "Spin's",
            "B/state",
            "Spin's",
            "COLLAPSE",
            "POR states",
            "Spin's",
            "2 threads",
            "compile s",
        ]);

        for row in rows {
            table.add(self.cells(row));
        }
        table
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let fair = row.fair.as_ref();
        let spin = answered(&row.spin);
        let why_not = row.spin.as_ref().and_then(|spin| spin.as_ref().err());
        let shown = |answer: &Option<Answer<SpinResult>>, show: fn(&SpinResult) -> String| {
            or_dash(answered(answer), show)
        };
        let bytes = |result: &SpinResult| figure(result.bytes_per_state);

        let seconds = match (spin, why_not) {
            (None, Some(reason)) => reason.clone(),
            _ => or_dash(spin, |spin| figure(spin.seconds)),
        };

        // Of a few states the fixed costs would be all that is shown.
        let enough = self.has_enough_states(row);
        let when = |enough: bool, cell: String| if enough { cell } else { "–".to_owned() };

        vec![
            row.model.clone(),
            row.size.to_string(),
            row.question.clone(),
            fair.map_or_else(Clone::clone, |fair| fair.report.verdict.clone()),
            or_dash(fair.ok().and_then(states), |states| states.to_string()),
            or_dash(spin, |spin| spin.report.stored.to_string()),
            or_dash(fair.ok(), |fair| figure(fair.seconds)),
            seconds,
            or_dash(row.time_ratio, figure),
            or_dash(fair.ok().and_then(rate), count),
            or_dash(spin, |spin| count(spin.report.stored as f64 / spin.seconds)),
            when(
                enough,
                or_dash(fair.ok().and_then(|fair| fair.bytes_per_state), figure),
            ),
            when(enough, or_dash(spin, bytes)),
            when(enough, shown(&row.collapse, bytes)),
            or_dash(answered(&row.fair_reduced).and_then(states), |n| {
                n.to_string()
            }),
            shown(&row.reduced, |reduced| reduced.report.stored.to_string()),
            or_dash(row.speed_up(self.suite.min_seconds_for_ratio), figure),
            or_dash(spin, |spin| figure(spin.compile_seconds)),
        ]
    }

    /// The rows that others than Spin were asked, too.
    fn table_of_peers(&self, rows: &[Row]) -> Table {
        let mut heading = vec!["model", "N", "question", "states", "s", "symbolic s"];
        heading.extend(NAMES.iter().flat_map(|&name| [name, "ratio"]));
        let mut table = Table::new(&heading);

        for row in rows.iter().filter(|row| !row.peers.is_empty()) {
            let fair = row.fair.as_ref().ok();
            let mut cells = vec![
                row.model.clone(),
                row.size.to_string(),
                row.question.clone(),
                or_dash(fair.and_then(|fair| fair.report.states), |n| n.to_string()),
                or_dash(fair, |fair| figure(fair.seconds)),
                match &row.symbolic {
                    Some(Err(reason)) => reason.clone(),
                    other => or_dash(answered(other), |symbolic| figure(symbolic.seconds)),
                },
            ];
            for name in NAMES {
                cells.push(match row.peers.get(name) {
                    // What a checker says about its failure may be long.
                    Some(Err(reason)) => reason.chars().take(20).collect(),
                    other => or_dash(other, |peer| {
                        figure(peer.as_ref().map_or(0.0, |p| p.seconds))
                    }),
                });
                let ratio = row.ratio_to(name, self.suite.min_seconds_for_ratio);
                cells.push(or_dash(ratio, figure));
            }
            table.add(cells);
        }

        table
    }

    fn has_enough_states(&self, row: &Row) -> bool {
        let stored = row.fair.as_ref().ok().and_then(|fair| fair.report.states);
        stored.is_some_and(|states| states >= self.suite.min_states_for_bytes)
    }

    /// Ratios by what they are ratios of; larger is better for us.
    fn summary(&self, rows: &[Row]) -> Vec<(String, Vec<f64>)> {
        let times = |wanted: &dyn Fn(&Row) -> bool| {
            let wanted = rows.iter().filter(|row| wanted(row));
            wanted
                .filter_map(|row| row.time_ratio)
                .collect::<Vec<f64>>()
        };

        let min_seconds = self.suite.min_seconds_for_ratio;
        let speed_ups = rows.iter().filter_map(|row| row.speed_up(min_seconds));
        let speed_ups = speed_ups.collect();
        let bytes = |of: fn(&Row) -> &Option<Answer<SpinResult>>| {
            let large = rows.iter().filter(|row| self.has_enough_states(row));
            let safety = large.filter(|row| row.question == "safety");
            safety
                .filter_map(|row| bytes_ratio(row, of(row)))
                .collect::<Vec<f64>>()
        };

        let named = [
            ("CPU time, safety", times(&|row| row.question == "safety")),
            (
                "CPU time, liveness without fairness",
                times(&|row| row.question == "liveness"),
            ),
            (
                "CPU time, weak process fairness, 5 and more processes",
                times(&|row| row.question == "liveness, weak-process" && row.n_processes >= 5),
            ),
            ("wall time, safety, one thread in two threads", speed_ups),
            (
                "bytes per state, Spin's default in ours, safety",
                bytes(|row| &row.spin),
            ),
            (
                "bytes per state, Spin's -DCOLLAPSE in ours, safety",
                bytes(|row| &row.collapse),
            ),
        ];
        let named = named.map(|(name, ratios)| (name.to_owned(), ratios));

        let of_peer = |name: &str| {
            let ratios = rows
                .iter()
                .filter_map(|row| row.ratio_to(name, min_seconds));
            (
                format!("CPU time, {name}'s in that of our better route"),
                ratios.collect(),
            )
        };
        named.into_iter().chain(NAMES.map(of_peer)).collect()
    }
}

/// What we say with one thread, with two if asked for, and what Spin says if it is asked.
type InTurn = (
    Answer<FairResult>,
    Option<Answer<FairResult>>,
    Option<Answer<Verifier>>,
);

impl Row {
    /// Our states with reductions, in Spin's.
    fn share_left(&self) -> Option<f64> {
        reduced::share(answered(&self.fair_reduced), answered(&self.reduced))
    }

    fn ratio(&self, min_seconds: f64) -> Option<f64> {
        let ours = self.fair.as_ref().ok()?.seconds;
        let theirs = self.spin.as_ref()?.as_ref().ok()?.seconds;
        let measurable = ours > 0.0 && ours.max(theirs) >= min_seconds;
        measurable.then(|| theirs / ours)
    }

    /// The CPU time of another checker in that of our better route.
    fn ratio_to(&self, peer: &str, min_seconds: f64) -> Option<f64> {
        let routes = [self.fair.as_ref().ok(), answered(&self.symbolic)];
        let routes = routes.into_iter().flatten().map(|fair| fair.seconds);
        let ours = routes.reduce(f64::min)?;
        let theirs = self.peers.get(peer)?.as_ref().ok()?.seconds;
        let measurable = ours > 0.0 && ours.max(theirs) >= min_seconds;
        measurable.then(|| theirs / ours)
    }

    /// Seconds on the clock with one thread, in those with two.
    fn speed_up(&self, min_seconds: f64) -> Option<f64> {
        let one = self.fair.as_ref().ok()?.wall_seconds;
        let two = answered(&self.two_threads)?.wall_seconds;
        (one >= min_seconds && two > 0.0).then(|| one / two)
    }

    fn find_problems(&self, model: &Model, question: &BenchQuestion) -> Vec<String> {
        let place = format!("{} {}, {}", self.model, self.size, self.question);
        let mut problems = Vec::new();
        let mut complain = |what: String| problems.push(format!("{place}: {what}"));
        let holds = question.verdict == "holds";
        let fair = self.fair.as_ref().ok();
        if let Some(fair) = fair.filter(|fair| fair.report.verdict != question.verdict) {
            complain(format!(
                "we say {}, not {}",
                fair.report.verdict, question.verdict
            ));
        }

        for other in [&self.fair_reduced, &self.two_threads, &self.symbolic] {
            let other = answered(other).filter(|other| other.report.verdict != question.verdict);
            if let Some(other) = other {
                complain(format!("{} says {}", other.command, other.report.verdict));
            }
        }

        let variants = [&self.spin, &self.collapse, &self.reduced];
        for answer in variants.into_iter().flatten().flatten() {
            let report = &answer.report;
            if !report.complete {
                complain("Spin's search was not complete".to_owned());
            }
            if (report.errors == 0) != holds {
                complain(format!("Spin finds {} errors", report.errors));
            }
        }

        let peers = || {
            let answers = self.peers.iter();
            answers.filter_map(|(name, peer)| Some((*name, peer.as_ref().ok()?)))
        };
        for (name, peer) in peers().filter(|(_, peer)| peer.verdict != question.verdict) {
            complain(format!("{name} says {}", peer.verdict));
        }

        // Only a complete search without reduction has comparable counts: one that finds an error
        // stops where its order leads it, and a search for loops stores a product.
        if question.kind != BenchKind::Safety || !holds {
            return problems;
        }
        let Some(states) = fair.and_then(|fair| fair.report.states) else {
            return problems;
        };
        let two = answered(&self.two_threads).and_then(|two| two.report.states);
        if let Some(two) = two.filter(|&two| two != states) {
            complain(format!("we have {states} states, {two} with two threads"));
        }
        let differs = |peer: &PeerResult| peer.states.filter(|&theirs| theirs != states);
        for (name, peer) in peers() {
            if let Some(theirs) = differs(peer) {
                complain(format!("we have {states} states, {name} has {theirs}"));
            }
        }
        let symbolic = answered(&self.symbolic).and_then(|symbolic| symbolic.report.states);
        if let Some(symbolic) = symbolic.filter(|&symbolic| symbolic != states) {
            complain(format!(
                "we have {states} states, {symbolic} by the symbolic route"
            ));
        }

        for answer in [&self.spin, &self.collapse].into_iter().flatten().flatten() {
            let stored = answer.report.stored;
            if stored != states + model.extra_states {
                let extra = model.extra_states;
                complain(format!(
                    "we have {states} states, Spin stores {stored}, not {extra} more"
                ));
            }
        }

        problems
    }
}

pub(super) fn answered<T>(answer: &Option<Answer<T>>) -> Option<&T> {
    answer.as_ref().and_then(|answer| answer.as_ref().ok())
}

/// States of the product if there is one, else of the system.
pub(super) fn states(fair: &FairResult) -> Option<u64> {
    fair.report.product_states.or(fair.report.states)
}

fn rate(fair: &FairResult) -> Option<f64> {
    states(fair).map(|states| states as f64 / fair.seconds)
}

fn bytes_ratio(row: &Row, spin: &Option<Answer<SpinResult>>) -> Option<f64> {
    let ours = row.fair.as_ref().ok()?.bytes_per_state?;
    let theirs = spin.as_ref()?.as_ref().ok()?.bytes_per_state;
    (ours > 0.0).then(|| theirs / ours)
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use crate::bench::fair::FairReport;
    use crate::bench::pan::PanReport;

    pub(in crate::bench) fn fair(verdict: &str, states: u64, seconds: f64) -> FairResult {
        FairResult {
            command: String::new(),
            report: FairReport {
                verdict: verdict.to_owned(),
                reason: None,
                states: Some(states),
                transitions: None,
                product_states: None,
                peak_memory_bytes: None,
            },
            seconds,
            all_seconds: vec![seconds],
            wall_seconds: seconds,
            peak_rss_bytes: 0,
            bytes_per_state: Some(20.0),
        }
    }

    pub(in crate::bench) fn spin(stored: u64, errors: u64, seconds: f64) -> SpinResult {
        SpinResult {
            commands: Vec::new(),
            report: PanReport {
                stored,
                visited: None,
                transitions: 0,
                errors,
                depth: 0,
                vector_bytes: 0,
                states_mb: 0.0,
                table_mb: 0.0,
                stack_mb: 0.0,
                total_mb: 0.0,
                complete: true,
            },
            seconds,
            all_seconds: vec![seconds],
            compile_seconds: 1.0,
            peak_rss_bytes: 0,
            bytes_per_state: 60.0,
        }
    }

    fn row(fair: FairResult, spin: SpinResult) -> Row {
        Row {
            model: "m".to_owned(),
            size: 4,
            question: "safety".to_owned(),
            n_processes: 4,
            fair: Ok(fair),
            fair_reduced: None,
            two_threads: None,
            spin: Some(Ok(spin)),
            collapse: None,
            reduced: None,
            symbolic: None,
            peers: Answers::new(),
            time_ratio: None,
            problems: Vec::new(),
        }
    }

    /// The problems of a row of a model whose twin has one state more.
    fn problems(row: &Row, kind: &str) -> Vec<String> {
        let model: Model = toml::from_str(&format!(
            "name = 'm'\nnative = 'm.fair'\nextra_states = 1\nprocesses = [4]\n\
             [[question]]\nkind = '{kind}'\nproperty = 'p'\nverdict = 'holds'\nsizes = [4]"
        ))
        .unwrap();
        row.find_problems(&model, &model.question[0])
    }

    #[test]
    fn equal_counts_and_verdicts_are_no_problem() {
        let row = row(fair("holds", 10, 1.0), spin(11, 0, 4.0));
        assert!(problems(&row, "safety").is_empty());
    }

    #[test]
    fn different_counts_are_a_problem_of_safety_only() {
        let row = row(fair("holds", 10, 1.0), spin(10, 0, 4.0));
        let found = problems(&row, "safety");
        let expected = ["m 4, safety: we have 10 states, Spin stores 10, not 1 more"];
        assert_eq!(found, expected);
        assert!(problems(&row, "liveness").is_empty());
    }

    #[test]
    fn wrong_verdicts_and_incomplete_searches_are_problems() {
        let mut row = row(fair("violated", 10, 1.0), spin(11, 1, 4.0));
        assert_eq!(problems(&row, "liveness").len(), 2);
        if let Some(Ok(spin)) = &mut row.spin {
            spin.report.complete = false;
        }
        assert_eq!(problems(&row, "liveness").len(), 3);
        row.fair_reduced = Some(Ok(fair("unknown", 3, 1.0)));
        row.two_threads = Some(Ok(fair("holds", 10, 1.0)));
        assert_eq!(problems(&row, "liveness").len(), 4);
    }

    #[test]
    fn other_checkers_must_agree_too() {
        let mut row = row(fair("holds", 10, 1.0), spin(11, 0, 4.0));
        let peer = |verdict: &str, states| Ok(PeerResult::once(verdict, states, 2.0));
        row.peers.insert("TLC", peer("holds", Some(10)));
        row.peers.insert("NuSMV", peer("holds", None));
        assert!(problems(&row, "safety").is_empty());
        assert_eq!(row.ratio_to("TLC", 0.05), Some(2.0));
        row.symbolic = Some(Ok(fair("holds", 10, 0.5)));
        assert_eq!(row.ratio_to("NuSMV", 0.05), Some(4.0));
        assert_eq!(row.ratio_to("LTSmin", 0.05), None);
        row.peers.insert("TLC", peer("violated", Some(9)));
        row.symbolic = Some(Ok(fair("holds", 11, 0.5)));
        assert_eq!(problems(&row, "safety").len(), 3);
    }

    #[test]
    fn ratios_need_a_measurable_time_and_two_answers() {
        let mut row = row(fair("holds", 10, 0.01), spin(10, 0, 0.04));
        assert_eq!(row.ratio(0.05), None);
        assert_eq!(row.ratio(0.02), Some(4.0));
        assert_eq!(bytes_ratio(&row, &row.spin), Some(3.0));
        row.two_threads = Some(Ok(fair("holds", 10, 0.005)));
        assert_eq!((row.speed_up(0.005), row.speed_up(0.05)), (Some(2.0), None));
        row.spin = Some(Err("> 120 s".to_owned()));
        assert_eq!(row.ratio(0.02), None);
        assert_eq!(bytes_ratio(&row, &row.spin), None);
    }
}

//! Compares all routes for as long as asked, and writes down what contradicts itself.
//!
//! `cargo xtask fuzz` starts it. Every case is repeated by its seed.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};
use std::{fs, process::ExitCode};

use anyhow::{Context as _, Result, bail};
use differential::{Case, Finding, Tally, compare, families, files, minimise, predicates};
use differential::{RouteKind, native_text, random_case, twins};

const USAGE: &str = "usage: differential [--minutes M] [--seed S] [--cases N] [--findings FOLDER]";

/// After so many random cases come a random program, a random family and a file of the repository.
const MODELS_PER_ROUND: u64 = 40;

/// States of models in files that are visited.
const MAX_STATES: u64 = 20_000;

struct Options {
    minutes: f64,
    seed: u64,
    /// How many random cases are compared at most.
    n_cases: u64,
    findings: PathBuf,
}

impl Options {
    fn parse() -> Result<Self> {
        let mut options = Self {
            minutes: 1.0,
            seed: 0,
            n_cases: u64::MAX,
            findings: files::root().join("target/findings"),
        };
        let mut arguments = std::env::args().skip(1);
        while let Some(name) = arguments.next() {
            let value = arguments.next().context(USAGE)?;
            match name.as_str() {
                "--minutes" => options.minutes = value.parse().context(USAGE)?,
                "--seed" => options.seed = value.parse().context(USAGE)?,
                "--cases" => options.n_cases = value.parse().context(USAGE)?,
                "--findings" => options.findings = value.into(),
                _ => bail!("{USAGE}"),
            }
        }
        Ok(options)
    }
}

fn main() -> Result<ExitCode> {
    let options = Options::parse()?;
    // A route that panics is a finding like any other; the message is in the report.
    std::panic::set_hook(Box::new(|_| {}));
    let mut fuzzing = Fuzzing {
        end: Instant::now() + Duration::from_secs_f64(60.0 * options.minutes),
        tally: Tally::default(),
        n_findings: 0,
        options,
    };
    fuzzing.run()?;
    println!("{}", fuzzing.tally);
    Ok(if fuzzing.n_findings == 0 {
        ExitCode::SUCCESS
    } else {
        println!("{} findings", fuzzing.n_findings);
        ExitCode::FAILURE
    })
}

struct Fuzzing {
    options: Options,
    end: Instant,
    tally: Tally,
    n_findings: usize,
}

impl Fuzzing {
    fn run(&mut self) -> Result<()> {
        for origin in files::corpus()? {
            if let Some(family) = origin.template()? {
                let found = families::compare(&family, &mut self.tally);
                self.write("family-corpus", &found, &family)?;
            }
            for case in origin.cases(MAX_STATES)? {
                self.case(&case, 0)?;
            }
        }

        let mut origins = files::repository()?.into_iter().cycle();
        let mut twins = twins::TWINS.iter().cycle();
        for round in 0.. {
            let seed = self.options.seed + round;
            if Instant::now() >= self.end || round >= self.options.n_cases {
                println!("seeds {} to {seed}", self.options.seed);
                break;
            }
            self.case(&random_case(seed), seed)?;
            if round % MODELS_PER_ROUND != 0 {
                continue;
            }
            let program = predicates::random_program(seed);
            let found = predicates::compare(&program, seed, &mut self.tally);
            self.write(&format!("program-{seed}"), &found, &program)?;
            let family = families::random_family(seed);
            let found = families::compare(&family, &mut self.tally);
            self.write(&format!("family-{seed}"), &found, &family)?;
            let pair = twins.next().expect("a cycle");
            let found = twins::compare(pair, MAX_STATES, &mut self.tally)?;
            self.write(&format!("twins-{seed}"), &found, &format!("{pair:?}"))?;
            if let Some(origin) = origins.next() {
                for case in origin.cases(MAX_STATES)? {
                    self.case(&case, seed)?;
                }
            }
        }

        Ok(())
    }

    /// Compares a case; what contradicts itself is made small and written down.
    fn case(&mut self, case: &Case, seed: u64) -> Result<()> {
        let findings = compare(case, seed, &mut self.tally);
        let Some(first) = findings.first() else {
            return Ok(());
        };
        println!("{}: {first:?}; making it small", case.name);
        let is_found = |case: &Case| {
            let findings = compare(case, seed, &mut Tally::default());
            findings.iter().any(|finding| finding.kind == first.kind)
        };
        // What is expected is expected of this case only.
        let small = if first.kind == RouteKind::Expected {
            case.clone()
        } else {
            minimise(case, &is_found)
        };
        let findings = compare(&small, seed, &mut Tally::default());
        let name = format!("{:?}-{seed}", first.kind).to_lowercase();
        self.write(&name, &findings, &describe(&small))
    }

    fn write(&mut self, name: &str, findings: &[Finding], text: &str) -> Result<()> {
        if findings.is_empty() {
            return Ok(());
        }
        self.n_findings += 1;
        let folder: &Path = &self.options.findings;
        fs::create_dir_all(folder)?;
        let path = folder.join(format!("{name}.fair"));
        let mut report = String::new();
        for finding in findings {
            let _ = writeln!(report, "// {finding:?}");
        }
        fs::write(&path, report + text)?;
        println!("{}: {:?}", path.display(), findings[0]);
        Ok(())
    }
}

/// The case as text, and how to repeat it.
fn describe(case: &Case) -> String {
    let Case { name, property, .. } = case;
    let heading = format!("// {name} under {}\n", case.fairness.name());
    // What the native language cannot say is shown as it is stored.
    let text = native_text(case).unwrap_or_else(|| {
        let stored = format!("{:?}\n{:#?}", property.property, case.model.parts());
        let lines = stored.lines().map(|line| format!("// {line}\n"));
        lines.collect()
    });
    heading + &text
}

//! The programs of `testdata/programs.toml` and `testdata/held_out/programs.toml`: unbounded data, and
//! answers that are known.
//!
//! An answer that contradicts the known one fails, and so do fewer answers than [`FLOOR`] says: how
//! much a solver finds in time depends on the machine. Nothing is tuned for what is held out, so how
//! many of these are decided is only printed. Instances with few values are searched state by
//! state and must agree with the table.
//! `FAIR_PROGRAM` selects programs by a part of their names.

use std::collections::BTreeMap;
use std::sync::mpsc;
use std::time::Duration;

use base::{NoProgress, Source};
use check::{Outcome, Plan, Route};
use serde::Deserialize;

/// So many of a hundred rows must be decided.
const FLOOR: usize = 85;

/// A row that takes longer counts as undecided, so that no defect stops the suite.
const PATIENCE: Duration = Duration::from_secs(60);

/// Instances are finite: they end by themselves, on a busy machine later.
const ENDLESS_PATIENCE: Duration = Duration::MAX;

/// The same where no answer is expected.
const LITTLE_PATIENCE: Duration = Duration::from_secs(1);

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    program: Vec<Program>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    name: String,
    #[serde(rename = "source")]
    _source: String,
    text: String,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    violated: Vec<String>,
    /// Properties of which even mathematics does not know.
    #[serde(default)]
    unsettled: Vec<String>,
    /// Properties of which no answer is expected yet.
    #[serde(default)]
    open: Vec<String>,
    /// Violations that no instance has.
    #[serde(default)]
    endless: Vec<String>,
    /// Texts to be replaced so that few values remain.
    #[serde(default)]
    instances: Vec<BTreeMap<String, String>>,
}

impl Program {
    /// Its name and its text.
    fn of_text(&self) -> (&str, &str) {
        (&self.name, &self.text)
    }

    /// Every property with its answer.
    fn rows(&self) -> impl Iterator<Item = (&str, &'static str)> {
        let holds = self.holds.iter().map(|name| (name.as_str(), "holds"));
        let violated = self.violated.iter().map(|name| (name.as_str(), "violated"));
        holds.chain(violated)
    }
}

const TUNED: &str = include_str!("../../../../testdata/programs.toml");
const HELD_OUT: &str = include_str!("../../../../testdata/held_out/programs.toml");

fn suite(text: &str) -> Suite {
    let mut suite: Suite = toml::from_str(text).expect("the table is right");
    if let Ok(wanted) = std::env::var("FAIR_PROGRAM") {
        suite
            .program
            .retain(|program| program.name.contains(&wanted));
    }
    suite
}

/// The answer to a question; nothing if the text is refused.
fn answer(
    (name, text): (&str, &str),
    property: &str,
    route: Route,
    patience: Duration,
) -> Option<Outcome> {
    let source = Source {
        name: format!("{name}.fair"),
        text: text.to_owned(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model?;
    let named = loaded.properties.iter().find(|p| p.name == property);
    let named = named.unwrap_or_else(|| panic!("{name} has no property {property}"));
    let plan = Plan {
        route: Some(route),
        ..Plan::default()
    };

    let stopper = plan.budget.stopper();
    let (done, is_done) = mpsc::channel::<()>();
    let watch = move || {
        if is_done.recv_timeout(patience) == Err(mpsc::RecvTimeoutError::Timeout) {
            stopper.time_out();
        }
    };
    let watcher = std::thread::spawn(watch);
    let outcome = check::check(&model, named, &plan, &mut NoProgress);
    drop(done);
    watcher.join().expect("it only waits");
    Some(outcome.expect("evidence is right"))
}

/// How many rows there are, how many of them are decided, and how many are in texts that are refused.
#[derive(Default)]
struct Decided {
    n_rows: usize,
    n_decided: usize,
    n_refused: usize,
}

/// Fails if an answer is wrong.
fn decided_as_known(suite: &Suite, patience: Duration) -> Decided {
    let mut wrong = Vec::new();
    let mut tally = Decided::default();
    for program in &suite.program {
        for (property, expected) in program.rows() {
            let may_be_open = program.open.iter().any(|open| open == property);
            let patience = if may_be_open {
                LITTLE_PATIENCE
            } else {
                patience
            };
            let outcome = answer(program.of_text(), property, Route::Predicate, patience);
            tally.n_rows += 1;
            let Some(outcome) = outcome else {
                tally.n_refused += 1;
                continue;
            };
            let found = outcome.verdict.name();
            println!("{}: {property} {expected}, found {found}", program.name);
            if std::env::var("FAIR_PROGRAM").is_ok() {
                println!("{:?}\n{}", outcome.warnings, outcome.remarks.join("\n"));
            }

            tally.n_decided += usize::from(found == expected);
            if found != expected && found != "unknown" {
                let remarks = outcome.remarks.join("\n");
                wrong.push(format!(
                    "{}: {property} {expected}, found {found}\n{remarks}",
                    program.name
                ));
            }
        }
        for property in &program.unsettled {
            let outcome = answer(
                program.of_text(),
                property,
                Route::Predicate,
                LITTLE_PATIENCE,
            );
            let outcome = outcome.expect("the text is right");
            assert_eq!(
                outcome.verdict.name(),
                "unknown",
                "{}: {property}",
                program.name
            );
        }
    }

    println!("{} of {} decided", tally.n_decided, tally.n_rows);
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    tally
}

#[test]
fn programs_are_decided_as_known() {
    let tally = decided_as_known(&suite(TUNED), PATIENCE);
    let (n_rows, n_decided) = (tally.n_rows, tally.n_decided);
    assert!(n_decided * 100 >= FLOOR * n_rows, "{n_decided} of {n_rows}");
    assert_eq!(tally.n_refused, 0);
}

#[test]
fn what_is_said_of_what_nothing_is_tuned_for_is_true() {
    let tally = decided_as_known(&suite(HELD_OUT), LITTLE_PATIENCE);
    // A few texts are refused; that most of them are would test nothing.
    assert!(tally.n_refused < tally.n_rows / 2);
}

#[test]
fn instances_agree_with_the_table() {
    let (tuned, held_out) = (suite(TUNED), suite(HELD_OUT));
    for program in tuned.program.iter().chain(&held_out.program) {
        let mut is_seen: BTreeMap<&str, bool> = BTreeMap::new();
        for instance in &program.instances {
            let mut text = program.text.clone();
            for (old, new) in instance {
                assert_eq!(text.matches(old).count(), 1, "{}: {old}", program.name);
                text = text.replace(old, new);
            }
            for (property, expected) in program.rows() {
                let of_text = (program.name.as_str(), text.as_str());
                let outcome = answer(of_text, property, Route::Explicit, ENDLESS_PATIENCE);
                let about = format!("{}: {property} of\n{text}", program.name);
                let found = outcome.as_ref().expect(&about).verdict.name();
                assert_ne!(found, "unknown", "{about}");
                if expected == "holds" {
                    assert_eq!(found, "holds", "{about}");
                }
                *is_seen.entry(property).or_default() |= found == "violated";
            }
        }

        // What is violated is violated in one of the instances.
        for property in &program.violated {
            let seen = is_seen.get(property.as_str()).copied().unwrap_or(true);
            let is_endless = program.endless.contains(property);
            assert!(seen || is_endless, "{}: {property}", program.name);
        }
    }
}

//! The families of `testdata/families.toml` and `testdata/held_out/families.toml`: for all N, and for
//! each N up to 7. Nothing is tuned for the latter, so how many of them are decided is only printed.
//! Everyday runs leave out what is not expected to be decided or slow, and two thirds of what
//! is held out; `FAIR_CASES=2` and `FAIR_FAMILY`, which selects families by a part of their names, ask
//! about everything.

use crate::parameterized_support::{abstract_answer, ask_with, load_instance};
use base::{Budget, NoProgress};
use check::{Answer, Plan};
use evidence::Verdict;
use serde::Deserialize;
use testkit::cases;

/// Instances up to this number of processes are looked at.
const MAX_INSTANCE: i64 = 7;

/// Instances with more states are not.
const MAX_STATES: u64 = 60_000;

/// So many of a hundred rows are decided at least.
const MIN_DECIDED: usize = 85;

/// A proof that needs more memory counts as none.
const MAX_BYTES: u64 = 400 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    row: Vec<Row>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    property: String,
    /// What is true of the family, from the literature and from its instances.
    truth: Truth,
    /// Whether an answer is not expected yet.
    #[serde(default)]
    unknown: bool,
    /// Whether its proof takes too long for every day.
    #[serde(default)]
    slow: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize, Debug)]
#[serde(rename_all = "lowercase")]
enum Truth {
    Holds,
    Violated,
}

fn path(of: &str) -> String {
    format!("{}/../../testdata/{of}", env!("CARGO_MANIFEST_DIR"))
}

/// The folder with what nothing is tuned for.
const HELD_OUT: &str = "held_out/";

fn rows(folder: &str) -> Vec<Row> {
    let text = std::fs::read_to_string(path(&format!("{folder}families.toml"))).unwrap();
    let mut suite: Suite = toml::from_str(&text).unwrap();
    if let Ok(wanted) = std::env::var("FAIR_FAMILY") {
        suite.row.retain(|row| row.model.contains(&wanted));
    }
    suite.row
}

fn text_of(folder: &str, row: &Row) -> String {
    std::fs::read_to_string(path(&format!("{folder}families/{}.fair", row.model))).unwrap()
}

fn answer(row: &Row, text: &str) -> Answer {
    let plan = Plan {
        budget: Budget::unlimited().with_max_memory(MAX_BYTES),
        ..Plan::default()
    };
    let instances = |value| load_instance(text, &row.property, value);
    ask_with(text, &row.property, true, &instances, &plan)
}

/// Are all rows asked about?
fn is_everything() -> bool {
    cases(1) > 1 || std::env::var("FAIR_FAMILY").is_ok()
}

/// Fails if an answer is wrong. Returns the rows without one, and how many of a hundred have one.
fn undecided(folder: &str, rows: &[Row]) -> (Vec<usize>, usize) {
    let is_asked = |number: usize, row: &Row| {
        let is_cheap = !row.unknown && !row.slow;
        is_everything() || is_cheap && (folder.is_empty() || number.is_multiple_of(3))
    };

    let mut undecided = Vec::new();
    for (number, row) in rows.iter().enumerate() {
        if !is_asked(number, row) {
            undecided.push(number);
            continue;
        }
        let answer = answer(row, &text_of(folder, row));
        let said = match answer.outcome.verdict {
            Verdict::Holds { .. } => Truth::Holds,
            Verdict::Violated(_) => Truth::Violated,
            Verdict::Unknown(_) => {
                if std::env::var("FAIR_FAMILY").is_ok() {
                    println!("{:#?}", answer.outcome.remarks);
                }
                undecided.push(number);
                continue;
            }
        };
        assert_eq!(said, row.truth, "{} {}", row.model, row.property);
    }

    let decided = 100 * (rows.len() - undecided.len()) / rows.len().max(1);
    let names = undecided.iter().map(|number| &rows[*number]);
    let names: Vec<String> = names
        .map(|r| format!("{} {}", r.model, r.property))
        .collect();
    println!(
        "{folder}families: {decided} % of {} rows are asked about and decided, not {names:?}",
        rows.len()
    );
    (undecided, decided)
}

#[test]
fn what_is_said_for_all_sizes_is_true() {
    let rows = rows("");
    let (undecided, decided) = undecided("", &rows);
    for number in undecided {
        let row = &rows[number];
        let is_expected = row.unknown || row.slow && !is_everything();
        assert!(is_expected, "{} {} is undecided", row.model, row.property);
    }
    let is_all = std::env::var("FAIR_FAMILY").is_err();
    assert!(!is_all || decided >= MIN_DECIDED, "{decided} % are decided");
}

#[test]
fn what_is_said_of_what_nothing_is_tuned_for_is_true() {
    undecided(HELD_OUT, &rows(HELD_OUT));
}

/// The tables themselves against instances, which no abstraction is asked about.
#[test]
fn the_tables_agree_with_instances() {
    let tables = ["", HELD_OUT].map(|folder| (folder, rows(folder)));
    for (folder, row) in tables
        .iter()
        .flat_map(|(f, rows)| rows.iter().map(move |r| (f, r)))
    {
        let text = text_of(folder, row);
        let plan = Plan {
            budget: Budget::unlimited().with_max_states(MAX_STATES),
            ..Plan::default()
        };
        let violated = (1..=MAX_INSTANCE).any(|n| {
            load_instance(&text, &row.property, n).is_some_and(|(model, property)| {
                let outcome = check::check(&model, &property, &plan, &mut NoProgress).unwrap();
                matches!(outcome.verdict, Verdict::Violated(_))
            })
        });
        let found = if violated {
            Truth::Violated
        } else {
            Truth::Holds
        };
        assert_eq!(found, row.truth, "{} {}", row.model, row.property);
    }
}

#[test]
fn an_unknown_tells_the_run_that_is_left_and_which_invariant_failed_where() {
    let text = std::fs::read_to_string(path("families/readers_writers.fair")).unwrap();
    let block = "abstract for writing { invariant calm: forall j in 0..N-1: !(P[j] @ read) }";
    // Others may read in turn, so there is nothing to be proved.
    let text = format!("{text}{block}\n").replace("writing under strong", "writing under weak");
    let instances = |_| None;
    let plan = Plan {
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    let remarks = ask_with(&text, "writing", true, &instances, &plan)
        .outcome
        .remarks;

    let has = |wanted: &str| remarks.iter().any(|remark| remark.contains(wanted));
    assert!(
        has("the abstraction has a run that may not exist"),
        "{remarks:#?}"
    );
    assert!(has("  at the start P[p] @ idle"), "{remarks:#?}");
    assert!(has("and then again and again"), "{remarks:#?}");
    assert!(
        has("not used: the invariant `calm`, because `start`"),
        "{remarks:#?}"
    );
    assert!(has("add it in `abstract for writing"), "{remarks:#?}");
}

#[test]
fn processes_that_move_together_do_not_count_together() {
    let text = "param N
synchronous
var c : 0..N = 0
process P(i in 0..N-1) { init a  from a { go { c := c + 1 } -> b }  from b { stay { skip } } }
invariant q: (count j in 0..N-1: P[j] @ b) < 2 || c != 1
";
    let answer = abstract_answer(text, "q");
    assert!(!matches!(answer.outcome.verdict, Verdict::Holds { .. }));
}

//! The families of `testdata/families.toml`: for all N, and for each N up to 7.

use crate::parameterized_support::{abstract_answer, ask_with, load_instance};
use base::{Budget, NoProgress};
use check::{Answer, Plan};
use evidence::Verdict;
use serde::Deserialize;

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

fn rows() -> Vec<Row> {
    let text = std::fs::read_to_string(path("families.toml")).unwrap();
    let suite: Suite = toml::from_str(&text).unwrap();
    suite.row
}

fn text_of(row: &Row) -> String {
    std::fs::read_to_string(path(&format!("families/{}.fair", row.model))).unwrap()
}

fn answer(row: &Row, text: &str) -> Answer {
    let plan = Plan {
        budget: Budget::unlimited().with_max_memory(MAX_BYTES),
        ..Plan::default()
    };
    let instances = |value| load_instance(text, &row.property, value);
    ask_with(text, &row.property, true, &instances, &plan)
}

#[test]
fn what_is_said_for_all_sizes_is_true() {
    let mut undecided = Vec::new();
    let rows = rows();
    for row in &rows {
        let text = text_of(row);
        let name = format!("{} {}", row.model, row.property);
        let answer = answer(row, &text);
        let said = match answer.outcome.verdict {
            Verdict::Holds { .. } => Some(Truth::Holds),
            Verdict::Violated(_) => Some(Truth::Violated),
            Verdict::Unknown(_) => None,
        };
        match said {
            Some(said) => assert_eq!(said, row.truth, "{name}"),
            None => {
                assert!(row.unknown, "{name}: {:?}", answer.outcome);
                undecided.push(name);
            }
        }
    }

    let decided = 100 * (rows.len() - undecided.len()) / rows.len();
    println!(
        "{decided} % of {} rows are decided, not {undecided:?}",
        rows.len()
    );
    assert!(
        decided >= MIN_DECIDED,
        "{decided} % are decided, not {undecided:?}"
    );
}

/// The table itself against instances, which no abstraction is asked about.
#[test]
fn the_table_agrees_with_instances() {
    for row in &rows() {
        let text = text_of(row);
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
    let text = format!("{text}{block}\n");
    let instances = |value| load_instance(&text, "writing", value);
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

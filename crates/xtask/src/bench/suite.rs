//! What is measured: `bench/suite.toml`.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::Deserialize;

use super::measure::Limits;
use super::tlc::Job;

/// The whole list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Suite {
    /// For each run of either checker.
    pub(super) limits: Limits,
    /// Further flags of `fair check`.
    pub(super) fair_flags: Vec<String>,
    /// A model so small that its run costs what starting the checker costs.
    pub(super) trivial: String,
    /// The depth that Spin's verifier is given before its need is known.
    pub(super) spin_depth: u64,
    /// Below this number of states, bytes per state say nothing.
    pub(super) min_states_for_bytes: u64,
    /// Ratios of rows where both checkers need less CPU time than this say nothing.
    pub(super) min_seconds_for_ratio: f64,
    /// What is compared with Spin.
    pub(super) model: Vec<Model>,
    /// What is measured in many sizes.
    pub(super) growth: Vec<Growth>,
    /// What is compared with TLC.
    pub(super) values: Vec<ValuesModel>,
}

/// A system in two or more languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Model {
    pub(super) name: String,
    /// The native file.
    pub(super) native: String,
    /// Its twin.
    pub(super) promela: Option<String>,
    /// What its twin for Stateright is called in `bench/stateright`, if it has one.
    pub(super) stateright: Option<String>,
    /// Its twin in TLA+.
    pub(super) tla: Option<String>,
    /// Its twin for NuSMV, a template.
    pub(super) smv: Option<String>,
    /// The constant that takes the sizes.
    #[serde(default = "usual_parameter")]
    pub(super) parameter: String,
    /// Further constants of the twin in TLA+; they have these values in the native file.
    #[serde(default)]
    pub(super) constants: BTreeMap<String, u64>,
    /// How many states the twin has besides those of the native file.
    #[serde(default)]
    pub(super) extra_states: u64,
    /// The number of processes: coefficients of a polynomial in the size, the constant first.
    pub(super) processes: Vec<i64>,
    /// Further flags for compiling the verifier.
    #[serde(default)]
    pub(super) compile_flags: Vec<String>,
    /// Further flags for running it.
    #[serde(default)]
    pub(super) run_flags: Vec<String>,
    #[serde(default)]
    pub(super) question: Vec<BenchQuestion>,
    /// What is asked with reductions only: how many states are left?
    #[serde(default)]
    pub(super) reduced: Vec<BenchQuestion>,
}

impl Model {
    /// The number of processes at a size.
    pub(super) fn n_processes(&self, size: u64) -> u64 {
        let size = size.cast_signed();
        let horner = |value: i64, coefficient: &i64| value * size + coefficient;
        let value = self.processes.iter().rev().fold(0, horner);
        u64::try_from(value).expect("a number of processes is not negative")
    }

    /// What TLC is to do for a question, if it is asked.
    pub(super) fn job(&self, question: &BenchQuestion, size: u64) -> Option<Job<'_>> {
        let is_asked = question.tlc_sizes.contains(&size);
        let tla = self.tla.as_ref().filter(|_| is_asked)?;
        Some(Job {
            tla,
            constants: constants(&self.constants, &self.parameter, size),
            is_liveness: question.kind == BenchKind::Liveness,
            is_fair: question.fairness != "none",
            finds_deadlocks: question.property.as_deref() == Some("deadlockfree"),
        })
    }
}

fn usual_parameter() -> String {
    "N".to_owned()
}

/// The constants of a twin, with the size among them.
fn constants<'a>(
    others: &'a BTreeMap<String, u64>,
    parameter: &'a str,
    size: u64,
) -> BTreeMap<&'a str, u64> {
    let others = others.iter().map(|(name, value)| (name.as_str(), *value));
    others.chain([(parameter, size)]).collect()
}

/// What kind of answer is asked for; it decides how Spin's verifier is compiled.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum BenchKind {
    /// All states.
    Safety,
    /// Fair cycles.
    Liveness,
}

/// A question about a model in several sizes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct BenchQuestion {
    pub(super) kind: BenchKind,
    /// As for `--fairness`.
    #[serde(default = "no_fairness")]
    pub(super) fairness: String,
    /// The native property, if it is in the file.
    pub(super) property: Option<String>,
    /// The native formula, if it is not.
    pub(super) ltl: Option<String>,
    /// `holds` or `violated`.
    pub(super) verdict: String,
    /// All sizes.
    pub(super) sizes: Vec<u64>,
    /// The sizes of a quick call.
    #[serde(default)]
    pub(super) quick: Vec<u64>,
    /// The sizes at which Spin runs too; all if it can express the question.
    pub(super) spin_sizes: Option<Vec<u64>>,
    /// The sizes at which TLC runs too, if there is a twin.
    #[serde(default)]
    pub(super) tlc_sizes: Vec<u64>,
    /// The same for LTSmin, which reads the Promela twin and is asked for all states.
    #[serde(default)]
    pub(super) ltsmin_sizes: Vec<u64>,
    /// The same for NuSMV; our symbolic route is asked, too.
    #[serde(default)]
    pub(super) nusmv_sizes: Vec<u64>,
}

fn no_fairness() -> String {
    "none".to_owned()
}

impl BenchQuestion {
    /// What the tables call it.
    pub(super) fn title(&self) -> String {
        match self.kind {
            BenchKind::Safety => "safety".to_owned(),
            BenchKind::Liveness if self.fairness == "none" => "liveness".to_owned(),
            BenchKind::Liveness => format!("liveness, {}", self.fairness),
        }
    }

    /// The flags of `fair check` that ask it.
    pub(super) fn fair_flags(&self) -> Vec<String> {
        fair_flags(self.property.as_ref(), self.ltl.as_ref(), &self.fairness)
    }

    /// Is it put to Spin at this size? Spin knows no fairness but weak fairness of processes.
    pub(super) fn is_for_spin(&self, size: u64) -> bool {
        let expressible = ["none", "weak-process"].contains(&self.fairness.as_str());
        let wanted = self.spin_sizes.as_ref();
        expressible && wanted.is_none_or(|sizes| sizes.contains(&size))
    }
}

fn fair_flags(property: Option<&String>, ltl: Option<&String>, fairness: &str) -> Vec<String> {
    let mut flags = Vec::new();
    for (flag, value) in [("--property", property), ("--ltl", ltl)] {
        if let Some(value) = value {
            flags.extend([flag.to_owned(), value.clone()]);
        }
    }
    flags.extend(["--fairness".to_owned(), fairness.to_owned()]);
    flags
}

/// A model whose cost is measured against its size.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Growth {
    pub(super) name: String,
    pub(super) native: String,
    /// What the numbers below are: `states` if the model grows with them, `conditions` if only the
    /// number of fairness conditions does.
    pub(super) grows: Grows,
    /// The constant that takes the values.
    pub(super) parameter: String,
    pub(super) values: Vec<u64>,
    #[serde(default)]
    pub(super) quick: Vec<u64>,
    /// The property, if it is in the file.
    pub(super) property: Option<String>,
    /// The formula, if it is not.
    pub(super) ltl: Option<String>,
    /// As for `--fairness`.
    pub(super) fairness: String,
}

impl Growth {
    /// The flags of `fair check` that ask the question.
    pub(super) fn fair_flags(&self) -> Vec<String> {
        fair_flags(self.property.as_ref(), self.ltl.as_ref(), &self.fairness)
    }
}

/// A system that is made of sets, sequences and the like, in two languages.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct ValuesModel {
    pub(super) name: String,
    pub(super) native: String,
    /// Its twin in TLA+, with the specification `Spec` and the invariant `Safe`.
    pub(super) tla: String,
    /// The constant that takes the sizes, in both.
    pub(super) parameter: String,
    /// Further constants of the twin; they have these values in the native file.
    #[serde(default)]
    pub(super) constants: BTreeMap<String, u64>,
    /// The native invariant that says the same as `Safe`.
    pub(super) property: String,
    pub(super) sizes: Vec<u64>,
    #[serde(default)]
    pub(super) quick: Vec<u64>,
}

impl ValuesModel {
    /// The flags of `fair check` that ask the question.
    pub(super) fn fair_flags(&self) -> Vec<String> {
        fair_flags(Some(&self.property), None, "none")
    }

    /// What TLC is to do.
    pub(super) fn job(&self, size: u64) -> Job<'_> {
        Job {
            tla: &self.tla,
            constants: constants(&self.constants, &self.parameter, size),
            is_liveness: false,
            is_fair: false,
            finds_deadlocks: false,
        }
    }
}

/// What grows with the parameter.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Grows {
    /// The number of states.
    States,
    /// The number of fairness conditions; the system stays the same.
    Conditions,
}

impl Suite {
    /// Reads the list.
    pub(super) fn read(file: &Path) -> Result<Self> {
        let text = fs::read_to_string(file).with_context(|| file.display().to_string())?;
        toml::from_str(&text).with_context(|| file.display().to_string())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::architecture;

    fn suite() -> Suite {
        Suite::read(&architecture::root().join("bench/suite.toml")).unwrap()
    }

    #[test]
    fn the_list_names_files_that_exist() {
        let suite = suite();
        let root = architecture::root();
        let native = suite.model.iter().map(|model| &model.native);
        let twins = suite
            .model
            .iter()
            .flat_map(|model| [&model.promela, &model.tla, &model.smv])
            .flatten();
        let grown = suite.growth.iter().map(|growth| &growth.native);
        let values = suite
            .values
            .iter()
            .flat_map(|model| [&model.native, &model.tla]);
        let files = native.chain(twins).chain(grown).chain(values);
        let files = files.chain([&suite.trivial]);
        for file in files {
            assert!(root.join(file).is_file(), "{file}");
        }
    }

    #[test]
    fn every_question_names_one_formula_and_known_sizes() {
        for model in suite().model {
            for question in model.question.iter().chain(&model.reduced) {
                let title = format!("{}, {}", model.name, question.title());
                let formulas = [&question.property, &question.ltl];
                assert_eq!(
                    formulas.iter().filter(|f| f.is_some()).count(),
                    1,
                    "{title}"
                );
                let quick = question.quick.iter();
                let known = quick.chain(question.spin_sizes.iter().flatten());
                let known = known.chain(&question.tlc_sizes);
                let known = known.chain(&question.ltsmin_sizes);
                let known = known.chain(&question.nusmv_sizes);
                let mut sizes = known.map(|size| question.sizes.contains(size));
                assert!(sizes.all(|known| known), "{title}");
                assert!(
                    ["holds", "violated"].contains(&question.verdict.as_str()),
                    "{title}"
                );
            }
        }
    }

    #[test]
    fn numbers_of_processes_are_polynomials() {
        let suite = suite();
        let of = |name: &str| {
            let mut models = suite.model.iter();
            models.find(|model| model.name == name).expect("listed")
        };
        assert_eq!(of("peterson").n_processes(5), 5);
        assert_eq!(of("le_c_actions").n_processes(9), 147);
    }

    #[test]
    fn spin_is_asked_only_what_it_knows() {
        let question = |fairness: &str| -> BenchQuestion {
            let text = "kind = 'liveness'\nproperty = 'p'\nverdict = 'holds'\nsizes = [3, 4]\nspin_sizes = [3]";
            toml::from_str(&format!("{text}\nfairness = '{fairness}'")).unwrap()
        };
        assert!(question("weak-process").is_for_spin(3));
        assert!(!question("weak-process").is_for_spin(4));
        assert!(!question("strong").is_for_spin(3));
        let flags = question("strong").fair_flags().join(" ");
        assert_eq!(flags, "--property p --fairness strong");
    }
}

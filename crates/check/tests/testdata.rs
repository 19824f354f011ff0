//! The verdicts and counts of `testdata/*.toml`, from the models in `examples/`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use base::{Budget, Fairness, FairnessKind, NoProgress, Source};
use check::{Outcome, Plan, Reduction, Route, SetCarrier, TimerFairness, check};
use engine::{Exploration, Found, Goal, System, explore};
use evidence::Verdict;
use logic::NamedProperty;
use model::Model;
use serde::Deserialize;
use source::{FrontEnd, Loaded, Memory, Question};
use testkit::{Shelf, side_by_side};

/// Smaller systems are explored again by two threads.
const MAX_REPEATED: u64 = 50_000;

/// Systems with more states are not searched by decision diagrams, unless `FAIR_CASES` asks for it.
const MAX_SYMBOLIC: u32 = 2_500;

/// How much room decision diagrams have.
const MAX_SYMBOLIC_BYTES: u64 = 128 << 20;

/// Systems with more states are not searched on sets, unless `FAIR_CASES` asks for it.
const MAX_ON_SETS: u32 = 60;

/// Systems with more states are certified only if `FAIR_CASES` asks for it.
const MAX_CERTIFIED: u32 = 600;

/// Why there is no certificate for some rows.
const UNCERTIFIABLE: [&str; 4] = [
    "for abstract timers there are certificates of invariants",
    "formulas with path quantifiers",
    "evidence enough",
    "models where time stops",
];

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Suite {
    case: Vec<Case>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    model: String,
    property: String,
    #[serde(default)]
    define: BTreeMap<String, String>,
    /// Texts to be replaced in the model, each exactly once: variants without a file of their own.
    #[serde(default)]
    replace: BTreeMap<String, String>,
    #[serde(default)]
    assume: Vec<String>,
    /// Timers and their thresholds.
    #[serde(default, rename = "abstract")]
    abstract_timers: BTreeMap<String, String>,
    states: Option<u64>,
    transitions: Option<u64>,
    verdicts: Option<String>,
    #[serde(default)]
    under: BTreeMap<String, String>,
}

fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors()
        .nth(2)
        .expect("crates lie two levels deep")
        .to_owned()
}

impl Case {
    fn name(&self) -> String {
        let Self {
            model,
            define,
            replace,
            abstract_timers,
            property,
            ..
        } = self;
        format!("{model} {define:?} {replace:?} {abstract_timers:?} {property}")
    }

    fn load(&self) -> Loaded {
        let path = root().join(&self.model);
        let text = std::fs::read_to_string(&path);
        let mut text = text.unwrap_or_else(|e| panic!("{}: {e}", self.model));
        for (old, new) in &self.replace {
            assert_eq!(text.matches(old).count(), 1, "{}: {old}", self.name());
            text = text.replace(old, new);
        }

        let options = source::Options {
            defines: self.define.clone().into_iter().collect(),
            assume: self.assume.clone(),
            abstract_timers: self.abstract_timers.clone().into_iter().collect(),
            ..source::Options::default()
        };

        let path = Path::new(&self.model);
        let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
        let front_ends: [&dyn FrontEnd; 3] = [&lang::Native, &promela::Promela, &csp::Csp];
        let mut front_ends = front_ends.into_iter();
        let front_end = front_ends.find(|front_end| front_end.extensions().contains(&extension));
        let front_end = front_end.unwrap_or_else(|| panic!("{}: which language?", self.name()));

        let name = self.model.clone();
        let loaded = front_end.load(Source { name, text }, &Memory::default(), &options);
        assert!(
            loaded.content.is_some(),
            "{}: {:?}",
            self.name(),
            loaded.diagnostics
        );
        loaded
    }

    fn question<'l>(&self, loaded: &'l Loaded) -> &'l Question {
        let mut questions = loaded.questions.iter();
        let found = questions.find(|q| q.property.name == self.property);
        found.unwrap_or_else(|| panic!("{} does not exist", self.name()))
    }

    /// Pairs of a fairness and the expected verdict.
    fn expectations(&self) -> Vec<(Fairness, &'static str)> {
        let mut rows: Vec<(&str, &str)> = Vec::new();
        if let Some(verdicts) = &self.verdicts {
            let verdicts: Vec<&str> = verdicts.split_whitespace().collect();
            let mut kinds = FairnessKind::ALL.to_vec();
            kinds.retain(|kind| *kind != FairnessKind::Just);
            assert_eq!(verdicts.len(), kinds.len(), "{}", self.name());
            let names = kinds.into_iter().map(|kind| kind.name());
            rows.extend(names.zip(verdicts));
        }

        rows.extend(
            self.under
                .iter()
                .map(|(kind, verdict)| (kind.as_str(), verdict.as_str())),
        );
        rows.retain(|(_, verdict)| *verdict != "·");
        assert!(!rows.is_empty(), "{} expects nothing", self.name());

        let expectation = |(kind, verdict): (&str, &str)| {
            let fairness =
                Fairness::parse(kind).unwrap_or_else(|| panic!("{kind} is not a kind of fairness"));
            let verdict = match verdict {
                "Y" => "holds",
                "N" => "violated",
                other => panic!("{}: {other} is not a verdict", self.name()),
            };
            (fairness, verdict)
        };

        rows.into_iter().map(expectation).collect()
    }

    fn check_counts(&self, model: &model::Model) {
        if self.states.is_none() && self.transitions.is_none() {
            return;
        }
        let mut system = System::new(model).expect("the model is not too large");
        let goal = Goal::Nothing;
        let everything = Exploration {
            checkpoints: None,
            atoms: &[],
            goal: &goal,
            reduce: false,
        };

        let explored = explore(
            &mut system,
            &everything,
            &Budget::unlimited(),
            &mut NoProgress,
        );

        let explored = explored.expect("there is nothing to compile");
        assert_eq!(explored.found, Found::Nothing, "{}", self.name());
        let counts = (
            Some(explored.stats.n_states),
            Some(explored.stats.n_transitions),
        );
        assert_eq!(counts, (self.states, self.transitions), "{}", self.name());
    }

    /// A search that is interrupted to look for reductions comes to the same verdict, and to the same
    /// counts if it finds none.
    fn check_starting_again(
        &self,
        model: &model::Model,
        property: &logic::NamedProperty,
        plan: &Plan,
        complete: &check::Outcome,
    ) {
        if complete.stats.n_states > MAX_REPEATED {
            return;
        }
        let switching = Plan {
            reduction: Reduction::Auto {
                after: complete.stats.n_states / 2,
            },
            ..plan.clone()
        };
        let outcome = check(model, property, &switching, &mut NoProgress);
        let outcome = outcome.unwrap_or_else(|bug| panic!("{}: {bug}", self.name()));
        let verdicts = (outcome.verdict.name(), complete.verdict.name());
        assert_eq!(verdicts.0, verdicts.1, "{}, started again", self.name());
        if !outcome.stats.reduced {
            let counts = (outcome.stats.n_states, outcome.stats.n_transitions);
            let expected = (complete.stats.n_states, complete.stats.n_transitions);
            assert_eq!(counts, expected, "{}", self.name());
        }
    }

    /// What holds is certified. Larger systems are left to longer runs of the suite, because the checker
    /// uses the reference semantics. Says what became of the row.
    fn check_certificate(&self, loaded: &Loaded, plan: &Plan, outcome: &check::Outcome) -> String {
        let max_states = u64::from(testkit::cases(MAX_CERTIFIED));
        if !outcome.holds() {
            return "needs none".to_owned();
        }
        if outcome.stats.n_states > max_states {
            return "too large for this run of the suite".to_owned();
        }
        let question = self.question(loaded);
        // Nothing is claimed about questions that depend on what a front end does not know.
        if question.undecided(outcome.fairness).is_some() {
            return "undecided by the front end".to_owned();
        }
        let (systems, budget) = (loaded.systems(), Budget::unlimited().with_threads(2));
        let options = source::Options::default();
        let found =
            check::certificate(systems, question, outcome, plan.fairness, &options, &budget);
        let found = match found {
            Ok(found) => found,
            Err(check::Uncertified::Unsupported(why)) => {
                let is_known = UNCERTIFIABLE.iter().any(|known| why.contains(known));
                assert!(is_known, "{}: {why}", self.name());
                return why;
            }
            Err(error) => panic!("{}: {error}", self.name()),
        };
        let certified = certify::verify(systems, &loaded.questions, &found, &mut [], &budget);
        let certified = certified.unwrap_or_else(|error| panic!("{}: {error}", self.name()));
        let certify::Extent::States(n_states) = certified.extent else {
            panic!("{}: {}", self.name(), certified.extent);
        };
        // States in which a process has control are not counted by searches.
        let has_control = systems[question.system].model.parts().control.is_some();
        if !outcome.stats.reduced && !has_control {
            assert_eq!(n_states as u64, outcome.stats.n_states, "{}", self.name());
        }
        "certified".to_owned()
    }

    /// By sets of states the answer is the same, and so is the number of states.
    fn check_symbolic(
        &self,
        model: &Model,
        property: &NamedProperty,
        plan: &Plan,
        explicit: &Outcome,
    ) -> String {
        let symbolic = Plan {
            route: Some(Route::Symbolic),
            budget: Budget::unlimited().with_max_memory(MAX_SYMBOLIC_BYTES),
            ..plan.clone()
        };
        let outcome = check(model, property, &symbolic, &mut NoProgress);
        let outcome = outcome.unwrap_or_else(|bug| panic!("{}, symbolic: {bug}", self.name()));
        if let Verdict::Unknown(reason) = &outcome.verdict {
            return format!("symbolic: {}", reason.name());
        }
        let names = (outcome.verdict.name(), explicit.verdict.name());
        assert_eq!(names.0, names.1, "{}, symbolic", self.name());
        if outcome.route == Route::Symbolic && explicit.holds() && !explicit.stats.is_partial {
            let counts = (outcome.stats.n_states, explicit.stats.n_states);
            assert_eq!(counts.0, counts.1, "{}, symbolic", self.name());
        }
        "symbolic".to_owned()
    }

    /// What searches on sets of states come to: in memory and in files, with one to four threads, and in
    /// processes that are played by threads, each with one or two of its own.
    fn decide_on_sets(
        &self,
        model: &model::Model,
        property: &logic::NamedProperty,
        plan: &Plan,
    ) -> Vec<(String, check::Outcome)> {
        let shelf = || Arc::new(Shelf::default());
        let disk = || SetCarrier::Disk(shelf());
        let mut teams = vec![
            (1, vec![SetCarrier::Memory]),
            (2, vec![disk()]),
            (3, vec![SetCarrier::Memory]),
            (4, vec![disk()]),
        ];
        for (n_processes, n_threads, is_on_disk) in [(2, 2, false), (4, 1, false), (3, 1, true)] {
            let wires = testkit::Wires::between(n_processes).into_iter();
            let member = |links| SetCarrier::Processes(links, is_on_disk.then(|| shelf() as _));
            teams.push((n_threads, wires.map(|links| member(links as _)).collect()));
        }

        let decide = &|n_threads: usize, carrier: SetCarrier| {
            let context = format!("{}, {carrier:?}, {n_threads} threads", self.name());
            let on_sets = Plan {
                sets: Some(carrier),
                budget: Budget::unlimited().with_threads(n_threads),
                ..plan.clone()
            };
            let outcome = check(model, property, &on_sets, &mut NoProgress);
            let outcome = outcome.unwrap_or_else(|bug| panic!("{context}: {bug}"));
            (context, outcome)
        };
        let mut outcomes = Vec::new();
        for (n_threads, team) in teams {
            std::thread::scope(|scope| {
                let members = team.into_iter();
                let members =
                    members.map(|carrier| scope.spawn(move || decide(n_threads, carrier)));
                let members: Vec<_> = members.collect();
                let joined = members.into_iter().map(|member| member.join());
                outcomes.extend(joined.map(|outcome| outcome.expect("no panic")));
            });
        }
        outcomes
    }

    /// Searches on sets of states come to the same verdict, and to the same counts where everything was
    /// explored.
    fn check_on_sets(
        &self,
        model: &model::Model,
        property: &logic::NamedProperty,
        plan: &Plan,
        complete: &check::Outcome,
    ) -> &'static str {
        if complete.stats.n_states > u64::from(testkit::cases(MAX_ON_SETS)) {
            return "on sets: too large";
        }
        let mut coverage = "on sets";
        for (context, outcome) in self.decide_on_sets(model, property, plan) {
            if let evidence::Verdict::Unknown(reason) = &outcome.verdict {
                let is_left_out = outcome.fairness.kind == FairnessKind::StrongGlobal
                    || matches!(property.property, logic::Property::CtlStar(_))
                    || matches!(complete.verdict, evidence::Verdict::Unknown(_));
                assert!(is_left_out, "{context}: {reason:?}");
                coverage = "on sets: left out";
                continue;
            }
            let verdicts = (outcome.verdict.name(), complete.verdict.name());
            assert_eq!(verdicts.0, verdicts.1, "{context}");
            if outcome.holds() {
                let counts = (outcome.stats.n_states, outcome.stats.n_transitions);
                let expected = (complete.stats.n_states, complete.stats.n_transitions);
                assert_eq!(counts, expected, "{context}");
            }
        }
        coverage
    }

    fn check_verdicts(&self, loaded: &Loaded, coverage: &mut BTreeMap<String, usize>) {
        let question = self.question(loaded);
        let (model, property) = (&loaded.systems()[question.system].model, &question.property);
        for (fairness, expected) in self.expectations() {
            let plan = Plan {
                fairness: Some(fairness),
                budget: Budget::unlimited(),
                timer_fairness: if fairness.timers {
                    TimerFairness::BuiltIn
                } else {
                    TimerFairness::None
                },
                ..Plan::default()
            };
            let outcome = check(model, property, &plan, &mut NoProgress);
            let outcome = outcome.unwrap_or_else(|bug| panic!("{}: {bug}", self.name()));
            let found = outcome.verdict.name();
            if fairness.kind != FairnessKind::StrongGlobal {
                let reducing = Plan {
                    reduction: Reduction::ALL,
                    ..plan.clone()
                };
                let reduced = check(model, property, &reducing, &mut NoProgress);
                let reduced = reduced.unwrap_or_else(|bug| panic!("{}: {bug}", self.name()));
                assert_eq!(reduced.verdict.name(), found, "{}, reduced", self.name());
            }
            self.check_starting_again(model, property, &plan, &outcome);
            let on_sets = self.check_on_sets(model, property, &plan, &outcome);
            *coverage.entry(on_sets.to_owned()).or_default() += 1;
            assert_eq!(found, expected, "{} under {}", self.name(), fairness.name());
            let certified = self.check_certificate(loaded, &plan, &outcome);
            *coverage.entry(certified).or_default() += 1;
            if outcome.stats.n_states < u64::from(testkit::cases(MAX_SYMBOLIC)) {
                let symbolic = self.check_symbolic(model, property, &plan, &outcome);
                *coverage.entry(symbolic).or_default() += 1;
            }
            if outcome.stats.n_states < MAX_REPEATED {
                let together = Plan {
                    budget: Budget::unlimited().with_threads(2),
                    ..plan
                };
                let together = check(model, property, &together, &mut NoProgress);
                let together = together.unwrap_or_else(|bug| panic!("{}: {bug}", self.name()));
                let name = together.verdict.name();
                assert_eq!(name, found, "{}, two threads", self.name());
                if found == "holds" {
                    let counts = (together.stats.n_states, together.stats.n_transitions);
                    let expected = (outcome.stats.n_states, outcome.stats.n_transitions);
                    assert_eq!(counts, expected, "{}, two threads", self.name());
                }
            }
            if found == "holds" {
                let counts = (outcome.stats.n_states, outcome.stats.n_transitions);
                let expected = (
                    self.states.unwrap_or(counts.0),
                    self.transitions.unwrap_or(counts.1),
                );
                assert_eq!(
                    counts,
                    expected,
                    "{} under {}",
                    self.name(),
                    fairness.name()
                );
            }
        }
    }
}

fn run(file: &str) {
    let text =
        std::fs::read_to_string(root().join("testdata").join(file)).expect("the suite exists");
    let suite: Suite = toml::from_str(&text).unwrap_or_else(|e| panic!("{file}: {e}"));
    let covered = side_by_side(&suite.case, |case| {
        let mut coverage = BTreeMap::new();
        let loaded = case.load();
        let system = case.question(&loaded).system;
        case.check_counts(&loaded.systems()[system].model);
        case.check_verdicts(&loaded, &mut coverage);
        coverage
    });

    let mut coverage: BTreeMap<String, usize> = BTreeMap::new();
    for (what, n_rows) in covered.into_iter().flatten() {
        *coverage.entry(what).or_default() += n_rows;
    }
    println!("{file}: {coverage:?}");
}

#[test]
fn micro_systems() {
    run("micro.toml");
}

#[test]
fn population_protocols() {
    run("population.toml");
}

#[test]
fn benchmarks() {
    run("benchmarks.toml");
}

#[test]
fn annotations() {
    run("annotations.toml");
}

#[test]
fn timers() {
    run("timers.toml");
}

#[test]
fn promela_timers() {
    run("promela_timers.toml");
}

#[test]
fn csp_twins() {
    run("csp.toml");
}

#[test]
fn justness() {
    run("justness.toml");
}

#[test]
fn wrong_holds() {
    run("wrong_holds.toml");
}

#[test]
fn every_suite_is_run() {
    let here = std::fs::read_dir(root().join("testdata")).expect("the folder exists");
    let names = here.map(|entry| {
        entry
            .expect("readable")
            .file_name()
            .into_string()
            .expect("UTF-8")
    });

    let mut suites: Vec<String> = names.filter(|name| name.ends_with(".toml")).collect();
    // The rows of this one are calls of the binary: `crates/cli/tests/cli/defects.rs`.
    suites.retain(|name| name != "defects.toml");
    // These have programs of their own: `families.rs` and `programs.rs`.
    suites.retain(|name| name != "families.toml" && name != "programs.toml");
    suites.sort();
    assert_eq!(
        suites,
        [
            "annotations.toml",
            "benchmarks.toml",
            "csp.toml",
            "justness.toml",
            "micro.toml",
            "population.toml",
            "promela_timers.toml",
            "timers.toml",
            "wrong_holds.toml"
        ]
    );
}

//! Loading texts and answering their questions.

use base::{Budget, Fairness, NoProgress, Severity, Source};
use check::{Outcome, Plan};
use engine::{Exploration, Found, Goal, System, explore};
use source::{Loaded, Memory, Options};

/// Loads a text with a bound on terms; 0 is the usual one.
pub fn load_with(text: &str, pool: usize) -> Loaded {
    let source = Source {
        name: "test.csp".to_owned(),
        text: text.to_owned(),
    };
    let options = Options {
        pool,
        ..Options::default()
    };
    csp::load(source, &Memory::default(), &options)
}

/// The verdict about a formula with path quantifiers, or the codes of what is said about it.
pub fn branching_verdict(text: &str, formula: &str) -> String {
    let source = Source {
        name: "test.csp".to_owned(),
        text: text.to_owned(),
    };
    let options = Options {
        ctl: vec![("asked".to_owned(), formula.to_owned())],
        ..Options::default()
    };
    let loaded = csp::load(source, &Memory::default(), &options);
    let errors = loaded.diagnostics.iter();
    let errors: Vec<&str> = errors
        .filter(|d| d.severity == Severity::Error)
        .map(|d| d.code)
        .collect();
    if !errors.is_empty() {
        return errors.join(" ");
    }
    let all = outcomes(&loaded, None);
    all.last().expect("it was asked").verdict.name().to_owned()
}

/// Loads a text that must be right.
pub fn right(text: &str) -> Loaded {
    let loaded = load_with(text, 0);
    let errors = loaded.diagnostics.iter();
    let errors: Vec<_> = errors.filter(|d| d.severity == Severity::Error).collect();
    assert!(errors.is_empty(), "{text}: {errors:?}");
    loaded
}

/// The outcome of every question, in order.
pub fn outcomes(loaded: &Loaded, fairness: Option<&str>) -> Vec<Outcome> {
    let plan = Plan {
        fairness: fairness.map(|name| Fairness::parse(name).expect("a fairness")),
        budget: Budget::unlimited().with_max_states(1_000_000),
        naive: false,
        ..Plan::default()
    };
    let outcome = |question| {
        let outcome = check::answer(loaded.systems(), question, &plan, &mut NoProgress);
        outcome.expect("evidence is right")
    };
    loaded.questions.iter().map(outcome).collect()
}

/// `Y`, `N` or `?` for every question.
pub fn verdicts(text: &str) -> String {
    verdicts_under(text, None)
}

/// The same under a fairness.
pub fn verdicts_under(text: &str, fairness: Option<&str>) -> String {
    let loaded = right(text);
    let letter = |outcome: Outcome| match outcome.verdict.name() {
        "holds" => 'Y',
        "violated" => 'N',
        _ => '?',
    };
    outcomes(&loaded, fairness)
        .into_iter()
        .map(letter)
        .collect()
}

/// How many states and steps the first system has.
pub fn counts(text: &str) -> (u64, u64) {
    let loaded = right(text);
    let mut system = System::new(&loaded.systems()[0].model).expect("it is small");
    let everything = Exploration {
        checkpoints: None,
        atoms: &[],
        goal: &Goal::Nothing,
        reduce: false,
    };
    let budget = Budget::unlimited().with_max_states(1_000_000);
    let explored = explore(&mut system, &everything, &budget, &mut NoProgress);
    let explored = explored.expect("there is nothing to compile");
    assert_eq!(explored.found, Found::Nothing, "{text}");
    (explored.stats.n_states, explored.stats.n_transitions)
}

//! Loading texts and answering their questions.

use base::{Budget, Fairness, NoProgress, Severity, Source};
use check::refinement::{Refinement, deterministic, refines};
use check::{Outcome, Plan};
use engine::{Exploration, Found, Goal, System, explore};
use import::csp::{Loaded, QuestionKind, RefinementKind, load};

/// Loads a text with a bound on terms; 0 is the usual one.
pub fn load_with(text: &str, pool: usize) -> Loaded {
    let source = Source {
        name: "test.csp".to_owned(),
        text: text.to_owned(),
    };
    let options = import::Options {
        pool,
        ..import::Options::default()
    };
    load(source, &options, &mut |_| None)
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
    let mut list = Vec::new();
    for question in &loaded.questions {
        let model = &loaded.systems[question.system].model;
        let property = &question.property;
        let progress = &mut NoProgress;
        let fairness = check::effective_fairness(model, property, plan.fairness);
        if let Some(why) = question.undecided(fairness) {
            list.push(Outcome::not_asked(fairness, why.to_owned()));
            continue;
        }
        let outcome = match &question.kind {
            QuestionKind::Property => check::check(model, property, &plan, progress),
            QuestionKind::Optimum { value, greatest } => {
                check::optimum(model, property, value, *greatest, &plan, progress).map(|o| o.0)
            }
            QuestionKind::Deterministic => deterministic(model, "tau", property, &plan, progress),
            QuestionKind::Refines {
                kind,
                specification,
            } => {
                let kind = match kind {
                    RefinementKind::Traces => Refinement::Traces,
                    RefinementKind::Failures => Refinement::Failures,
                    RefinementKind::FailuresDivergences => Refinement::FailuresDivergences,
                };
                let systems = (model, &loaded.systems[*specification].model);
                refines(systems, "tau", kind, property, &plan, progress)
            }
        };
        list.push(outcome.expect("evidence is right"));
    }
    list
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
    let mut system = System::new(&loaded.systems[0].model).expect("it is small");
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

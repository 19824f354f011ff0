//! A model with a question, and all ways of asking it.

use base::{Budget, Fairness, Source};
use check::{Plan, TimerFairness};
use logic::{NamedProperty, Property};
use model::Model;
use testkit::Random;

use crate::answer::{Ledger, Relation, ask, named};
use crate::{Answer, Finding, RouteKind, Tally};
use crate::{files, formulations, generate, native_text, notions, oracle, routes, stored};

/// A model with a question.
#[derive(Clone, Debug)]
pub struct Case {
    /// What reports call it.
    pub name: String,
    /// The model.
    pub model: Model,
    /// The texts it was read from, if it was.
    pub sources: Vec<Source>,
    /// The question.
    pub property: NamedProperty,
    /// Under which fairness.
    pub fairness: Fairness,
    /// Searches that store more states are given up.
    pub max_states: u64,
    /// The answer, if it was worked out independently.
    pub expected: Option<Answer>,
}

impl Case {
    /// A question about a model without a text.
    #[must_use]
    pub fn new(name: String, model: Model, property: Property, fairness: Fairness) -> Self {
        Self {
            name,
            model,
            sources: Vec::new(),
            property: named(property),
            fairness,
            max_states: 2_000,
            expected: None,
        }
    }

    /// The plan that all others are compared with: nothing is left out, one thread.
    pub(crate) fn plan(&self) -> Plan {
        Plan {
            fairness: Some(self.fairness),
            budget: Budget::unlimited().with_max_states(self.max_states),
            timer_fairness: if self.fairness.timers {
                TimerFairness::BuiltIn
            } else {
                TimerFairness::None
            },
            all_states: true,
            ..Plan::default()
        }
    }

    /// Asks an equivalent question of a model that is perhaps another.
    pub(crate) fn ask(&self, model: &Model, property: Property, fairness: Fairness) -> Answer {
        let plan = Plan {
            fairness: Some(fairness),
            ..self.plan()
        };
        ask(model, &named(property), &plan).0
    }

    /// What a verdict about abstract timers is worth depends on more than the model.
    pub(crate) fn has_abstract_timers(&self) -> bool {
        self.model.abstract_timers().next().is_some()
    }
}

/// A random case. It depends on the seed alone.
#[must_use]
pub fn random_case(seed: u64) -> Case {
    let mut random = Random::new(seed);
    let (parts, property, fairness) = generate::model(&mut random);
    let model = parts.finish().expect("random models are well formed");
    let fairness = fairness.unwrap_or_else(|| generate::fairness(&mut random, &model));
    Case::new(format!("seed {seed}"), model, property, fairness)
}

/// Asks in all ways that must agree. Moments at which searches are stopped, and which routes are
/// mixed, depend on the seed.
pub fn compare(case: &Case, seed: u64, tally: &mut Tally) -> Vec<Finding> {
    let mut ledger = Ledger::default();
    let mut random = Random::new(seed);

    // A route that answers where the complete search gives up is compared with the others.
    let (mut answer, outcome) = ask(&case.model, &case.property, &case.plan());
    let mut how = "nothing left out".to_owned();
    if let Some(expected) = &case.expected {
        let right = ("worked out independently", expected);
        ledger.compare(RouteKind::Expected, Relation::Same, (&how, &answer), right);
    }
    if let Some(outcome) = &outcome {
        stored::compare(case, outcome, &mut ledger);
    }
    let n_states = outcome.map_or(0, |outcome| outcome.stats.n_states);

    for (kind, plan) in routes::alternatives(&mut random, case, n_states) {
        let found = routes::take(case, &plan);
        if !answer.is_decided() && found.0.is_decided() {
            (answer, how) = (found.0.clone(), format!("{kind:?}"));
        }
        // A witness ends a search as a violation does, maybe before a run-time error is met.
        let seen = |answer: &Answer| match case.property.property {
            Property::Reachable(_) => answer.clone().opposite(),
            _ => answer.clone(),
        };
        let (left, right) = (seen(&answer), seen(&found.0));
        // What holds may be known before the run-time error is met that all others meet.
        let is_before_error = kind == RouteKind::EarlyEnd && left == Answer::Failed;
        let right = match right {
            Answer::Holds if is_before_error => Answer::Failed,
            right => right,
        };
        let how_right = plan.describe();
        ledger.compare(kind, Relation::Same, (&how, &left), (&how_right, &right));
        if let Some(outcome) = found.1.filter(|_| kind == RouteKind::AllReductions) {
            stored::compare(case, &outcome, &mut ledger);
        }
    }

    // Other words for the same question.
    if !case.has_abstract_timers() {
        formulations::compare(case, &answer, &mut random, &mut ledger);
        notions::compare(case, &answer, &mut random, &mut ledger);
        oracle::compare(case, &answer, &mut ledger);
        compare_text(case, &answer, &mut ledger);
    }

    tally.add(&ledger.tally);
    ledger.findings
}

/// What texts must agree about and models need not: how many parameters steps with one name, and how
/// many arguments the steps of one event have.
const UNSAYABLE: [&str; 2] = ["action-parameters", "wrong-arguments"];

/// A model without a text is printed, and what the front end reads is asked the same.
fn compare_text(case: &Case, answer: &Answer, ledger: &mut Ledger) {
    let Some(text) = native_text(case).filter(|_| case.sources.is_empty()) else {
        return;
    };
    let name = "printed.fair".to_owned();
    let found = match files::load(Source { name, text }, &source::Options::default()) {
        Ok(systems) => {
            let read = &systems[0];
            case.ask(
                &read.model,
                read.properties[0].property.clone(),
                case.fairness,
            )
        }
        Err(error) => {
            let why = format!("{error:#}");
            if UNSAYABLE.iter().any(|code| why.contains(code)) {
                return;
            }
            Answer::Broken(why)
        }
    };

    let left = ("as it is", answer);
    ledger.compare(
        RouteKind::Twin,
        Relation::Equivalent,
        left,
        ("printed and read", &found),
    );
}

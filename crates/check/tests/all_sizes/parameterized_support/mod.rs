//! Questions about all instances of a text, for tests.

use base::{Budget, NoProgress, Source};
use check::{Answer, ForAll, Plan, check_for_all};
use evidence::Verdict;
use logic::NamedProperty;
use model::Model;

/// Instances with more states are not decided.
const MAX_STATES: u64 = 100_000;

/// The text of an example.
pub fn read(file: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/../../examples/parameterized/{file}")).unwrap()
}

/// The text of a model on which an answer was wrong once.
pub fn defect(file: &str) -> String {
    let root = env!("CARGO_MANIFEST_DIR");
    std::fs::read_to_string(format!("{root}/../../testdata/defects/{file}.fair")).unwrap()
}

fn plan() -> Plan {
    Plan {
        budget: Budget::unlimited(),
        ..Plan::default()
    }
}

/// A text as a file.
pub fn source(text: &str) -> Source {
    Source {
        name: "model.fair".to_owned(),
        text: text.to_owned(),
    }
}

/// The answer for the property with this name. Instances are searched for violations and compared
/// with proofs; a contradiction panics.
pub fn answer(text: &str, name: &str) -> Answer {
    ask(text, name, true, &|value| load_instance(text, name, value))
}

/// The answer from the abstraction alone: instances are neither compared nor searched.
pub fn abstract_answer(text: &str, name: &str) -> Answer {
    ask(text, name, false, &|_| None)
}

/// The answer from the abstraction alone for each property of a text, if the text is right.
pub fn abstract_answers(text: &str) -> Vec<Answer> {
    let loaded = lang::load(source(text), &source::Options::default());
    if loaded.family().is_none() {
        return Vec::new();
    }
    let names = loaded.questions.iter().map(|asked| &asked.property.name);
    names.map(|name| abstract_answer(text, name)).collect()
}

fn ask(
    text: &str,
    name: &str,
    cross_check: bool,
    instances: &dyn Fn(i64) -> Option<(Model, NamedProperty)>,
) -> Answer {
    ask_with(text, name, cross_check, instances, &plan())
}

/// The answer for the property with this name by a plan.
pub fn ask_with(
    text: &str,
    name: &str,
    cross_check: bool,
    instances: &dyn Fn(i64) -> Option<(Model, NamedProperty)>,
    plan: &Plan,
) -> Answer {
    let loaded = lang::load(source(text), &source::Options::default());
    let is_error = |d: &base::Diagnostic| d.severity == base::Severity::Error;
    let has_errors = loaded.diagnostics.iter().any(is_error);
    assert!(!has_errors, "{:?}", loaded.diagnostics);
    let template = &loaded.family().unwrap().template;
    let mut questions = loaded.questions.iter();
    let asked = questions.find(|q| q.property.name == name).unwrap();
    let question = ForAll {
        template,
        property: &asked.property,
        scope: &asked.scope,
        instances,
        cross_check,
    };
    check_for_all(&question, plan, &mut NoProgress).unwrap()
}

/// The instance for a value of the parameter `N`, with the property of this name.
pub fn load_instance(text: &str, name: &str, value: i64) -> Option<(Model, NamedProperty)> {
    let options = source::Options {
        defines: vec![("N".to_owned(), value.to_string())],
        ..source::Options::default()
    };
    let loaded = lang::load(source(text), &options).single();
    let mut properties = loaded.properties.into_iter();
    let property = properties.find(|known| known.name == name);
    loaded.model.zip(property)
}

/// The verdict for one value of the parameter `N`.
pub fn instance(text: &str, name: &str, value: i64) -> Option<Verdict> {
    let (model, property) = load_instance(text, name, value)?;
    let plan = Plan {
        budget: Budget::unlimited().with_max_states(MAX_STATES),
        ..plan()
    };
    let outcome = check::check(&model, &property, &plan, &mut NoProgress).unwrap();
    Some(outcome.verdict)
}

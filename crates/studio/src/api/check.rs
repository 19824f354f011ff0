//! Searches, one at a time for each tab.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use fairground::report::PropertyResult;
use fairground::{
    Budget, Error, Fairness, FairnessKind, Plan, PredicateOptions, Progress, Question, Snapshot,
    SolverChoice, SolverName, SystemProcesses, solver_maker,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Answer, Failure, Studios};
use crate::projects::{ModelRequest, Opened};
use crate::server::STACK_BYTES;
use crate::tab::{Tab, lock};

/// How often progress is told.
const PAUSE: Duration = Duration::from_millis(120);
/// How many results are kept.
const N_KEPT: usize = 300;

#[derive(Deserialize)]
pub(super) struct CheckRequest {
    tab: String,
    #[serde(flatten)]
    model: ModelRequest,
    /// Which questions; nothing means all.
    questions: Option<Vec<String>>,
    /// `default`, the name of a notion, or `all`.
    fairness: String,
    max_states: Option<u64>,
}

/// Starts a search. What becomes of it is told as events.
pub(super) fn check(studios: &Studios, request: CheckRequest) -> Answer {
    let opened = studios.projects.open(&studios.folder, &request.model)?;
    let Some(tab) = studios.tabs.find(&request.tab) else {
        return Err(Failure::new(409, "this tab is not connected"));
    };
    let notions = notions(&request.fairness)?;
    let questions: Vec<String> = match request.questions {
        Some(names) => names,
        None => { opened.project.questions().iter() }
            .map(|question| question.name.clone())
            .collect(),
    };
    if let Some(other) = questions
        .iter()
        .find(|name| opened.project.question(name).is_none())
    {
        return Err(Failure::new(
            422,
            format!("the model has no property `{other}`"),
        ));
    }

    let mut budget = Budget::unlimited().with_max_memory(studios.max_memory);
    if let Some(max_states) = request.max_states {
        budget = budget.with_max_states(max_states);
    }
    if !tab.begin_search(budget.stopper()) {
        return Err(Failure::new(409, "a search is running in this tab"));
    }

    let n_tasks = questions.len() * notions.len();
    let search = Search {
        results: studios.results.clone(),
        key: request.model.key(),
        opened,
        tab: Arc::clone(&tab),
        budget,
        questions,
        notions,
    };
    let builder = thread::Builder::new().stack_size(STACK_BYTES);
    if builder.spawn(move || search.run()).is_err() {
        tab.end_search();
        return Err(Failure::new(503, "no thread can be started"));
    }
    Ok(json!({ "tasks": n_tasks }))
}

/// The notions that a name stands for; nothing is what the property or the model says.
fn notions(name: &str) -> Result<Vec<Option<Fairness>>, Failure> {
    match name {
        "default" => Ok(vec![None]),
        "all" => Ok(FairnessKind::ALL
            .map(|kind| Some(Fairness::of(kind)))
            .to_vec()),
        name => match Fairness::parse(name) {
            Some(fairness) => Ok(vec![Some(fairness)]),
            None => Err(Failure::new(422, format!("there is no fairness `{name}`"))),
        },
    }
}

#[derive(Deserialize)]
pub(super) struct CancelRequest {
    tab: String,
}

/// Stops the search of a tab.
pub(super) fn cancel(studios: &Studios, request: CancelRequest) -> Answer {
    let tab = studios.tabs.find(&request.tab);
    let was_running = tab.is_some_and(|tab| tab.cancel());
    Ok(json!({ "cancelled": was_running }))
}

/// What is known about a model without another search.
pub(super) fn results(studios: &Studios, request: ModelRequest) -> Answer {
    let found = studios.results.of_model(&request.key());
    Ok(json!({ "results": found }))
}

/// Which result: of which model, for which property, under which fairness as it was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct ResultKey {
    pub(super) model: String,
    pub(super) property: String,
    /// `default` or the name of a notion.
    pub(super) asked: String,
}

/// A result, and what it answers.
type Kept = (ResultKey, Arc<PropertyResult>);

/// Results that were found a while ago, the latest last.
#[derive(Clone, Default)]
pub(crate) struct Results(Arc<Mutex<Vec<Kept>>>);

impl Results {
    pub(super) fn find(&self, key: &ResultKey) -> Option<Arc<PropertyResult>> {
        let kept = lock(&self.0);
        let found = kept.iter().find(|(other, _)| other == key);
        found.map(|(_, result)| Arc::clone(result))
    }

    fn keep(&self, key: ResultKey, result: Arc<PropertyResult>) {
        let mut kept = lock(&self.0);
        kept.retain(|(other, _)| *other != key);
        if kept.len() == N_KEPT {
            kept.remove(0);
        }
        kept.push((key, result));
    }

    fn of_model(&self, model: &str) -> Vec<Json> {
        let kept = lock(&self.0);
        let own = kept.iter().filter(|(key, _)| key.model == model);
        own.map(|(key, result)| summary(&key.asked, result))
            .collect()
    }
}

/// A result without its evidence, which can be long.
fn summary(asked: &str, result: &PropertyResult) -> Json {
    let trace = result.trace.as_ref();
    let steps = trace.map(|trace| trace.run.n_steps());
    let loop_start = trace.and_then(|trace| trace.run.loop_start);
    let branches: Vec<&str> = { result.branches.iter() }
        .map(|branch| branch.shows.as_str())
        .collect();
    let bare = PropertyResult {
        trace: None,
        branches: Vec::new(),
        ..result.clone()
    };
    let mut json = serde_json::to_value(bare).unwrap_or_default();
    json["asked"] = json!(asked);
    json["steps"] = json!(steps);
    json["loop"] = json!(loop_start);
    json["shows"] = json!(branches);
    json
}

/// A search that runs.
struct Search {
    opened: Arc<Opened>,
    tab: Arc<Tab>,
    results: Results,
    key: String,
    budget: Budget,
    questions: Vec<String>,
    notions: Vec<Option<Fairness>>,
}

impl Search {
    fn run(&self) {
        let searched = catch_unwind(AssertUnwindSafe(|| self.answer_all()));
        // The place is free before the page is told, so that it can ask again at once.
        self.tab.end_search();
        let error = match searched {
            Ok(Ok(())) => Json::Null,
            Ok(Err(error)) => json!(error.to_string()),
            Err(_) => json!("this is a bug in fair; please report it"),
        };
        self.tab.send(json!({ "kind": "done", "error": error }));
    }

    /// One notion after the other; what one exploration answers together is asked together. A stopped
    /// search leaves the rest unanswered.
    fn answer_all(&self) -> Result<(), Error> {
        let project = &self.opened.project;
        let names = self.questions.iter();
        let questions: Vec<&Question> = names.filter_map(|name| project.question(name)).collect();
        for notion in &self.notions {
            let task = Task::new(self, *notion);
            let together = task.answer_together(&questions)?;
            for (question, known) in questions.iter().zip(together) {
                if known {
                    continue;
                }
                if self.budget.check(0, 0).is_err() {
                    return Ok(());
                }
                task.answer(question)?;
            }
        }
        Ok(())
    }
}

/// All questions under one notion of fairness.
struct Task<'a> {
    search: &'a Search,
    asked: String,
    plan: Plan,
}

impl<'a> Task<'a> {
    fn new(search: &'a Search, notion: Option<Fairness>) -> Self {
        Self {
            search,
            asked: notion.map_or_else(|| "default".to_owned(), Fairness::name),
            plan: Plan {
                fairness: notion,
                budget: search.budget.clone(),
                predicate: data_options(),
                ..Plan::default()
            },
        }
    }

    /// Which questions were answered by one exploration; the time of each is that of the exploration.
    fn answer_together(&self, questions: &[&Question]) -> Result<Vec<bool>, Error> {
        if questions.len() < 2 {
            return Ok(vec![false; questions.len()]);
        }
        let title = format!("{} properties", questions.len());
        let mut meter = self.begin(&title);
        let project = &self.search.opened.project;
        let answers = project.check_together(questions, &self.plan, &mut meter)?;
        let seconds = meter.start.elapsed().as_secs_f64();

        let mut known = Vec::new();
        for (answer, question) in answers.into_iter().zip(questions) {
            known.push(answer.is_some());
            if let Some(answer) = answer {
                self.finish(question, answer, seconds);
            }
        }
        Ok(known)
    }

    fn answer(&self, question: &Question) -> Result<(), Error> {
        let mut meter = self.begin(&question.name);
        let project = &self.search.opened.project;
        let answer = project.check(question, &self.plan, &mut meter)?;
        let seconds = meter.start.elapsed().as_secs_f64();
        self.finish(question, answer, seconds);
        Ok(())
    }

    fn begin<'m>(&'m self, title: &'m str) -> Meter<'m> {
        let tab = &self.search.tab;
        tab.send(json!({ "kind": "begin", "property": title, "asked": self.asked }));
        Meter {
            tab,
            property: title,
            asked: &self.asked,
            start: Instant::now(),
            last: None,
        }
    }

    fn finish(&self, question: &Question, mut answer: fairground::Answer, seconds: f64) {
        answer.result.seconds = seconds;
        let result = summary(&self.asked, &answer.result);
        self.search
            .tab
            .send(json!({ "kind": "result", "result": result }));
        // What was stopped is not an answer worth remembering.
        if answer.stopped.is_none() {
            let key = ResultKey {
                model: self.search.key.clone(),
                property: question.name.clone(),
                asked: self.asked.clone(),
            };
            self.search.results.keep(key, Arc::new(answer.result));
        }
    }
}

/// How unbounded data is treated: as `fair check` does without options.
fn data_options() -> PredicateOptions {
    let choice = SolverChoice {
        solver: SolverName::Auto,
        confirm_with: None,
        patience: Duration::from_secs(10),
        launch: Some(Arc::new(SystemProcesses)),
    };
    PredicateOptions {
        solver: solver_maker(choice),
        ..PredicateOptions::default()
    }
}

/// Tells a tab how far a search is.
struct Meter<'a> {
    tab: &'a Tab,
    property: &'a str,
    asked: &'a str,
    start: Instant,
    last: Option<Instant>,
}

impl Progress for Meter<'_> {
    fn report(&mut self, snapshot: &Snapshot) {
        if self.last.is_some_and(|last| last.elapsed() < PAUSE) {
            return;
        }
        self.last = Some(Instant::now());
        let seconds = self.start.elapsed().as_secs_f64();
        self.tab.send(json!({
            "kind": "progress",
            "property": self.property,
            "asked": self.asked,
            "phase": snapshot.phase,
            "states": snapshot.n_states,
            "transitions": snapshot.n_transitions,
            "depth": snapshot.depth,
            "memory": snapshot.memory_bytes,
            "bound": snapshot.bound,
            "seconds": seconds,
        }));
    }
}

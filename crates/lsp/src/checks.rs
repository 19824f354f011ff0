//! Searches in the background, and what they have found.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use fairground::report::{self, PropertyResult, Report, Style, Success};
use fairground::{
    Budget, Error, Fairness, FairnessKind, Options, Plan, Progress, Project, Question, Snapshot,
    Stopper, Verdict,
};
use lsp_server::{Message, Notification, Request};
use serde_json::{Value as Json, json};

use crate::Settings;
use crate::document::Document;

/// Deep models need deep stacks.
const STACK_BYTES: usize = 64 << 20;
/// How often progress is told.
const PAUSE: Duration = Duration::from_millis(200);
/// More steps of a run than these are not linked to the text.
const MAX_LINKED: usize = 200;

/// What was found out about a property of the present text.
#[derive(Clone)]
pub(crate) struct Found {
    pub(crate) verdict: Verdict,
    pub(crate) fairness: String,
    /// Notions of fairness under which it holds, if all were asked for.
    pub(crate) holds_under: Vec<String>,
    /// Verdict and explanation, as `fair check` prints them.
    pub(crate) text: String,
    /// What to show at the property.
    diagnostic: Option<Json>,
}

#[derive(Default)]
struct Shared {
    /// By address of the text and name of the property.
    found: BTreeMap<(String, String), Found>,
    running: BTreeMap<String, Vec<Stopper>>,
    /// What is to be said about texts besides verdicts, with their versions.
    said: BTreeMap<String, (Json, Vec<Json>)>,
    n_started: u64,
}

/// What is to be searched.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Under {
    /// The fairness that the property or the model says.
    Default,
    /// Every notion, one after the other.
    AllNotions,
}

/// Where messages to the editor go.
type Outbox = Box<dyn Fn(Message) + Send + Sync>;

/// The searches of an editor.
pub(crate) struct Checks {
    shared: Arc<Mutex<Shared>>,
    outbox: Arc<Outbox>,
    settings: Settings,
    shows_progress: bool,
}

impl Checks {
    pub(crate) fn new(outbox: Outbox, settings: Settings, shows_progress: bool) -> Self {
        Self {
            shared: Arc::default(),
            outbox: Arc::new(outbox),
            settings,
            shows_progress,
        }
    }

    /// Says what is to be said about a text, with the verdicts that are known.
    pub(crate) fn publish(&self, uri: &str, version: &Json, said: Vec<Json>) {
        let mut shared = lock(&self.shared);
        shared.said.insert(uri.to_owned(), (version.clone(), said));
        (self.outbox)(shared.message(uri));
    }

    /// Stops the searches for a text, and forgets what they have found: the text changes.
    pub(crate) fn forget(&self, uri: &str) {
        let mut shared = lock(&self.shared);
        shared.found.retain(|(of, _), _| of != uri);
        for stopper in shared.running.remove(uri).unwrap_or_default() {
            stopper.interrupt();
        }
    }

    /// Stops all searches.
    pub(crate) fn stop_all(&self) {
        let mut shared = lock(&self.shared);
        let running = std::mem::take(&mut shared.running);
        for stopper in running.into_values().flatten() {
            stopper.interrupt();
        }
    }

    pub(crate) fn found(&self, uri: &str, property: &str) -> Option<Found> {
        let key = (uri.to_owned(), property.to_owned());
        lock(&self.shared).found.get(&key).cloned()
    }

    /// Starts a search for a property.
    pub(crate) fn start(&self, document: &Arc<Document>, property: &str, under: Under) {
        let budget = Budget::unlimited()
            .with_max_states(self.settings.max_states)
            .with_max_memory(self.settings.max_memory);
        let stopper = budget.stopper();
        let number = {
            let mut shared = lock(&self.shared);
            let running = shared.running.entry(document.uri.clone()).or_default();
            running.push(stopper.clone());
            shared.n_started += 1;
            shared.n_started
        };
        let search = Search {
            shared: Arc::clone(&self.shared),
            outbox: Arc::clone(&self.outbox),
            document: Arc::clone(document),
            property: property.to_owned(),
            under,
            budget,
            stopper,
            timeout: self.settings.timeout,
            token: self.shows_progress.then(|| format!("fair-{number}")),
        };
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        // Without a thread there is no verdict, which is what the editor goes on to show.
        let _ = builder.spawn(move || search.run());
    }
}

impl Shared {
    fn message(&self, uri: &str) -> Message {
        let said = self.said.get(uri);
        let (version, own) = said.cloned().unwrap_or_default();
        let verdicts = self.found.iter().filter(|((of, _), _)| of == uri);
        let verdicts = verdicts.filter_map(|(_, found)| found.diagnostic.clone());
        let diagnostics: Vec<Json> = own.into_iter().chain(verdicts).collect();
        let mut params = json!({ "uri": uri, "diagnostics": diagnostics });
        if !version.is_null() {
            params["version"] = version;
        }
        notification("textDocument/publishDiagnostics", params)
    }
}

fn notification(method: &str, params: Json) -> Message {
    Message::Notification(Notification::new(method.to_owned(), params))
}

fn lock(shared: &Mutex<Shared>) -> MutexGuard<'_, Shared> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A search that runs in a thread of its own.
struct Search {
    shared: Arc<Mutex<Shared>>,
    outbox: Arc<Outbox>,
    document: Arc<Document>,
    property: String,
    under: Under,
    budget: Budget,
    stopper: Stopper,
    timeout: Duration,
    /// What the progress of this search is called.
    token: Option<String>,
}

impl Search {
    fn run(&self) {
        self.begin();
        let answer = catch_unwind(AssertUnwindSafe(|| self.answer()));
        let message = match answer {
            Ok(Ok(Some(found))) => {
                let message = format!("{}: {}", self.property, found.verdict.name());
                self.keep(found);
                message
            }
            Ok(Ok(None)) => format!("{}: stopped", self.property),
            Ok(Err(error)) => format!("{}: {error}", self.property),
            Err(_) => "this is a bug in fair; please report it".to_owned(),
        };
        self.progress(json!({ "kind": "end", "message": message }));
    }

    /// Keeps what was found, unless the text has changed meanwhile.
    fn keep(&self, found: Found) {
        let uri = &self.document.uri;
        let mut shared = lock(&self.shared);
        let is_current = shared
            .said
            .get(uri)
            .is_some_and(|said| said.0 == self.document.version);
        if is_current {
            shared
                .found
                .insert((uri.clone(), self.property.clone()), found);
            (self.outbox)(shared.message(uri));
        }
    }

    fn answer(&self) -> Result<Option<Found>, Error> {
        let (done, is_done) = mpsc::channel::<()>();
        let (stopper, timeout) = (self.stopper.clone(), self.timeout);
        let watch = thread::spawn(move || {
            if is_done.recv_timeout(timeout) == Err(mpsc::RecvTimeoutError::Timeout) {
                stopper.time_out();
            }
        });
        let found = self.search();
        drop(done);
        // It has nothing left to do.
        let _ = watch.join();
        found
    }

    fn search(&self) -> Result<Option<Found>, Error> {
        let path = &self.document.path;
        let files = self.document.texts();
        let project = Project::open(&files, path, &Options::default())?;
        let Some(question) = project.question(&self.property) else {
            let message = format!("there is no property `{}`", self.property);
            return Err(Error::Call(message));
        };

        let result = self.check(&project, question, None)?;
        let mut holds_under = Vec::new();
        if self.under == Under::AllNotions {
            for kind in FairnessKind::ALL {
                let result = self.check(&project, question, Some(Fairness::of(kind)))?;
                if result.verdict == Verdict::Holds {
                    holds_under.push(result.fairness);
                }
            }
        }
        if self.budget.check(0, 0) == Err(fairground::StopReason::Interrupted) {
            return Ok(None);
        }
        Ok(Some(self.describe(&project, result, holds_under)))
    }

    fn check(
        &self,
        project: &Project,
        question: &Question,
        fairness: Option<Fairness>,
    ) -> Result<PropertyResult, Error> {
        let plan = Plan {
            fairness,
            budget: self.budget.clone(),
            ..Plan::default()
        };
        let mut meter = Meter {
            search: self,
            start: Instant::now(),
            last: Instant::now(),
        };
        let mut answer = project.check(question, &plan, &mut meter)?;
        answer.result.seconds = meter.start.elapsed().as_secs_f64();
        Ok(answer.result)
    }

    fn describe(
        &self,
        project: &Project,
        result: PropertyResult,
        holds_under: Vec<String>,
    ) -> Found {
        let related = self.steps(project, &result);
        let diagnostic = self.diagnostic(&result, &holds_under, related);

        let (verdict, fairness) = (result.verdict, result.fairness.clone());

        let report = Report {
            file: self.document.path.display().to_string(),
            results: vec![result],
            warnings: Vec::new(),
            diagnostics: Vec::new(),
        };

        Found {
            verdict,
            fairness,
            holds_under,
            text: report::text(&report, Style::Plain),
            diagnostic,
        }
    }

    /// Where the steps of the counterexample are written.
    fn steps(&self, project: &Project, result: &PropertyResult) -> Vec<Json> {
        let Some(trace) = &result.trace else {
            return Vec::new();
        };

        let details = project.trace_details(trace).unwrap_or_default();
        let mut related = Vec::new();

        for (n, places) in details.places.iter().enumerate().take(MAX_LINKED) {
            let actions = trace
                .run
                .states
                .get(n)
                .and_then(|state| state.step.actions.as_ref());
            let actions = actions.map_or(String::new(), |actions| actions.join(", "));
            let in_loop = trace.run.loop_start.is_some_and(|start| n >= start);
            let part = if in_loop { "loop" } else { "step" };

            for place in places {
                let offset = self.document.offset_of(place.line, place.column);
                let is_here = place.file == self.document.path.display().to_string();
                if is_here {
                    related.push(json!({
                        "location": {
                            "uri": self.document.uri,
                            "range": self.document.range_of(offset, offset),
                        },
                        "message": format!("{part} {}: {actions}", n + 1),
                    }));
                }
            }
        }

        related
    }

    fn diagnostic(
        &self,
        result: &PropertyResult,
        holds_under: &[String],
        related: Vec<Json>,
    ) -> Option<Json> {
        let document = &self.document;
        let mut properties = document.properties();
        let symbol = properties.find(|s| document.full_name(s) == self.property)?;

        let severity = match (result.success(), result.verdict) {
            (Success::Failed, _) => 1,
            (_, Verdict::Unknown) => 2,
            (_, Verdict::Violated) => 3,
            (_, Verdict::Holds) => return None,
        };

        let mut message = format!(
            "{}: {} under fairness {}",
            self.property,
            result.verdict.name(),
            result.fairness
        );
        if let Some(reason) = &result.reason {
            message.push_str(&format!(" ({reason})"));
        }
        if !holds_under.is_empty() {
            message.push_str(&format!("; it holds under {}", holds_under.join(", ")));
        }

        Some(json!({
            "range": document.range(symbol.span),
            "severity": severity,
            "code": result.verdict.name(),
            "source": "fair",
            "message": message,
            "relatedInformation": related,
        }))
    }

    fn begin(&self) {
        if let Some(token) = &self.token {
            let id = format!("create-{token}").into();
            let params = json!({ "token": token });
            let method = "window/workDoneProgress/create".to_owned();
            (self.outbox)(Message::Request(Request::new(id, method, params)));
        }
        self.progress(json!({
            "kind": "begin",
            "title": format!("checking {}", self.property),
            "cancellable": false,
        }));
    }

    fn progress(&self, value: Json) {
        if let Some(token) = &self.token {
            (self.outbox)(notification(
                "$/progress",
                json!({ "token": token, "value": value }),
            ));
        }
    }
}

/// Tells the editor how far a search is.
struct Meter<'s> {
    search: &'s Search,
    start: Instant,
    last: Instant,
}

impl Progress for Meter<'_> {
    fn report(&mut self, snapshot: &Snapshot) {
        if self.last.elapsed() >= PAUSE {
            self.last = Instant::now();
            let message = format!("{} states", snapshot.n_states);
            self.search
                .progress(json!({ "kind": "report", "message": message }));
        }
    }
}

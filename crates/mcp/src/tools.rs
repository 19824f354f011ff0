//! What an agent can ask for.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use fairground::report::{self, PropertyResult, Report, Style, Success};
use fairground::{
    AbstractionFormat, Budget, Disk, Error, Fairness, Here, Memory, NoProgress, Options, Overlay,
    Plan, Project, Question, Random, Search, Source, Verdict,
};
use serde_json::{Value as Json, json};

use crate::documentation;

/// Limits that hold unless the caller asks for others.
const MAX_STATES: u64 = 2_000_000;
const MAX_SECONDS: u64 = 30;
const MAX_MEMORY: u64 = 2 << 30;
/// The greatest limits that a caller can ask for.
const MOST_SECONDS: u64 = 600;
/// More steps of a simulation are not taken.
const MAX_STEPS: u64 = 500;
/// Deep models need deep stacks.
const STACK_BYTES: usize = 64 << 20;

/// What a tool says: to be read, and as data.
pub(crate) struct Said {
    pub(crate) text: String,
    pub(crate) data: Json,
}

type Answer = Result<Said, String>;

const NAMES: [&str; 6] = [
    "check",
    "explain",
    "simulate",
    "fairness",
    "abstract",
    "documentation",
];

pub(crate) fn exists(name: &str) -> bool {
    NAMES.contains(&name)
}

/// All tools with what they take.
pub(crate) fn list() -> Json {
    let model = json!({
        "text": { "type": "string", "description": "The model itself." },
        "language": { "type": "string", "enum": ["fair", "pml", "csp"], "description": "The language of `text`; native (`fair`) unless said otherwise." },
        "file": { "type": "string", "description": "The path of a model, instead of `text`." },
        "defines": { "type": "object", "additionalProperties": { "type": ["string", "integer", "boolean"] }, "description": "Other values for constants and parameters." },
        "property": { "type": "string", "description": "The name of one property; all of them unless said otherwise." },
    });

    let limits = json!({
        "max_states": { "type": "integer", "minimum": 1, "description": format!("Default {MAX_STATES}.") },
        "timeout_seconds": { "type": "integer", "minimum": 1, "maximum": MOST_SECONDS, "description": format!("For the whole call. Default {MAX_SECONDS}.") },
    });
    let notion = json!({
        "fairness": { "type": "string", "description": "none, just, weak-process, strong-process, weak, strong or strong-global, instead of what the model says." },
    });

    let tool = |name: &str, description: &str, parts: &[&Json], required: &[&str]| {
        let mut properties = serde_json::Map::new();
        for part in parts {
            properties.extend(part.as_object().cloned().unwrap_or_default());
        }
        json!({
            "name": name,
            "description": description,
            "inputSchema": { "type": "object", "properties": properties, "required": required },
            "annotations": { "readOnlyHint": true },
        })
    };

    let walk = json!({
        "steps": { "type": "integer", "minimum": 1, "maximum": MAX_STEPS, "description": "How many. Default 20." },
        "seed": { "type": "integer", "minimum": 0, "description": "Which random run. Default 1." },
    });
    let trace = json!({ "trace": { "type": "string", "description": "A trace in the ITF format, as `check` returns it." } });
    let query = json!({ "query": { "type": "string", "description": "What to look for." } });

    // The texts are all that an agent knows of the tools: each says what it takes and returns.
    json!([
        tool(
            "check",
            "Decides properties of a model of a concurrent system, and explains violations by a run. Give `text` or `file`.",
            &[&model, &notion, &limits],
            &[]
        ),
        tool(
            "explain",
            "Prints a trace that `check` has returned: states as differences, the loop, and why it is fair.",
            &[&trace],
            &["trace"]
        ),
        tool(
            "simulate",
            "Takes random steps of a model, and tells states and steps.",
            &[&model, &walk],
            &[]
        ),
        tool(
            "fairness",
            "Finds the weakest fairness conditions under which a property holds.",
            &[&model, &limits],
            &["property"]
        ),
        tool(
            "abstract",
            "Prints the finite abstraction on which a property of a model with unbounded data or any number of processes is decided.",
            &[&model, &limits],
            &[]
        ),
        tool(
            "documentation",
            "Looks something up in the manual: the language, fairness, what verdicts mean.",
            &[&query],
            &["query"]
        ),
    ])
}

/// Uses a tool.
pub(crate) fn call(name: &str, arguments: &Json) -> Answer {
    match name {
        "explain" => return explain(arguments),
        "documentation" => return look_up(arguments),
        _ => {}
    }
    let (name, arguments) = (name.to_owned(), arguments.clone());
    let limit = number(&arguments, "timeout_seconds", MAX_SECONDS).clamp(1, MOST_SECONDS);
    let max_states = number(&arguments, "max_states", MAX_STATES).max(1);
    let budget = Budget::unlimited()
        .with_max_states(max_states)
        .with_max_memory(MAX_MEMORY);
    let stopper = budget.stopper();

    // The search has a deep stack, and this thread the clock.
    let (done, is_done) = mpsc::channel();
    let work = move || {
        let answer = catch_unwind(AssertUnwindSafe(|| with_model(&name, &arguments, &budget)));
        // The other end waits until this arrives.
        let _ = done.send(answer);
    };
    let started = thread::Builder::new().stack_size(STACK_BYTES).spawn(work);
    started.map_err(|error| format!("no thread can be started: {error}"))?;
    let answer = match is_done.recv_timeout(Duration::from_secs(limit)) {
        Err(mpsc::RecvTimeoutError::Timeout) => {
            stopper.time_out();
            is_done.recv()
        }
        answer => answer.map_err(|_| mpsc::RecvError),
    };
    match answer {
        Ok(Ok(answer)) => answer,
        Ok(Err(_)) | Err(_) => Err("this is a bug in fair; please report it".to_owned()),
    }
}

fn number(arguments: &Json, key: &str, default: u64) -> u64 {
    arguments[key].as_u64().unwrap_or(default)
}

fn with_model(name: &str, arguments: &Json, budget: &Budget) -> Answer {
    let project = open(arguments, name == "simulate")?;
    let fairness = match arguments["fairness"].as_str() {
        Some(text) => {
            Some(Fairness::parse(text).ok_or_else(|| format!("there is no fairness `{text}`"))?)
        }
        None => None,
    };

    let plan = Plan {
        fairness,
        budget: budget.clone(),
        ..Plan::default()
    };

    match name {
        "check" => check(&project, arguments, &plan),
        "simulate" => {
            let project = project.for_walks().map_err(|error| describe(&error))?;
            simulate(&project, arguments)
        }
        "fairness" => needed_fairness(&project, arguments, &plan),
        _ => abstraction(&project, arguments, &plan),
    }
}

/// The model of a call.
fn open(arguments: &Json, closed: bool) -> Result<Project, String> {
    let defines = arguments["defines"].as_object();
    let value = |value: &Json| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let defines = defines
        .into_iter()
        .flatten()
        .map(|(name, given)| (name.clone(), value(given)));
    let options = Options {
        defines: defines.collect(),
        closed,
        ..Options::default()
    };

    let opened = match (arguments["text"].as_str(), arguments["file"].as_str()) {
        (Some(text), None) => {
            let language = arguments["language"].as_str().unwrap_or("fair");
            let path = PathBuf::from(format!("model.{language}"));
            let top = Memory::new([(path.clone(), text)]);
            let nothing = Memory::default();
            Project::open(
                &Overlay {
                    top,
                    below: &nothing,
                },
                &path,
                &options,
            )
        }
        (None, Some(file)) => Project::open(&Disk, file, &options),
        _ => return Err("give the model as `text` or as `file`".to_owned()),
    };
    opened.map_err(|error| describe(&error))
}

/// An error with everything that is known about it.
fn describe(error: &Error) -> String {
    let Error::Text(wrong) = error else {
        return error.to_string();
    };

    let mut lines = Vec::new();
    for diagnostic in &wrong.diagnostics {
        let span = diagnostic.labels.first().map(|label| label.span);
        let place = span.and_then(|span| {
            let source: &Source = wrong.sources.get(span.source.index())?;
            let (line, column) = source.line_column(span.start as usize);
            Some(format!("{}:{line}:{column}: ", source.name))
        });
        let place = place.unwrap_or_default();
        lines.push(format!(
            "{place}{} [{}]",
            diagnostic.message, diagnostic.code
        ));
        lines.extend(diagnostic.help.iter().map(|help| format!("  help: {help}")));
    }

    lines.join("\n")
}

fn chosen<'p>(project: &'p Project, arguments: &Json) -> Result<Vec<&'p Question>, String> {
    let Some(name) = arguments["property"].as_str() else {
        return Ok(project.questions().iter().collect());
    };
    let known = || {
        let names: Vec<&str> = project
            .questions()
            .iter()
            .map(|q| q.name.as_str())
            .collect();
        format!(
            "there is no property `{name}`; there are: {}",
            names.join(", ")
        )
    };
    Ok(vec![project.question(name).ok_or_else(known)?])
}

fn check(project: &Project, arguments: &Json, plan: &Plan) -> Answer {
    let questions = chosen(project, arguments)?;
    if questions.is_empty() {
        return Err(
            "the model has no properties; add one, such as `property p: always x < 3`".to_owned(),
        );
    }
    let mut results: Vec<PropertyResult> = Vec::new();
    for question in questions {
        let start = Instant::now();
        let answer = project.check(question, plan, &mut NoProgress);
        let mut result = answer.map_err(|error| describe(&error))?.result;
        result.seconds = start.elapsed().as_secs_f64();
        results.push(result);
    }

    let undecided = results
        .iter()
        .filter(|r| r.verdict == Verdict::Unknown)
        .count();
    let unexpected = results
        .iter()
        .filter(|r| r.success() == Success::Failed)
        .count();
    let decided = results.len() - undecided;
    let report = Report {
        file: project
            .sources()
            .first()
            .map_or(String::new(), |source| source.name.clone()),
        results,
        warnings: Vec::new(),
        diagnostics: Vec::new(),
    };

    let mut data: Json = serde_json::from_str(&report::json(&report)).unwrap_or_default();
    data["decided"] = json!(decided);
    data["undecided"] = json!(undecided);
    data["not_as_expected"] = json!(unexpected);

    let mut text = report::text(&report, Style::Plain);
    if undecided > 0 {
        text.push_str(&format!(
            "\n{undecided} of {} properties are undecided: nothing is known about them.\n",
            decided + undecided
        ));
    }
    Ok(Said { text, data })
}

fn simulate(project: &Project, arguments: &Json) -> Answer {
    let n_steps = number(arguments, "steps", 20).min(MAX_STEPS);
    let mut random = Random::new(number(arguments, "seed", 1));
    let wrong = |error: Error| describe(&error);
    let initial = project.initial_states().map_err(wrong)?;
    let first = match initial.len() {
        0 => return Err("the model has no initial state".to_owned()),
        n => initial[random.below(n)].clone(),
    };
    let mut run = project.simulate(first).map_err(wrong)?;
    let mut end = "the number of steps was reached".to_owned();
    for _ in 0..n_steps {
        match run.here() {
            Here::Deadlock => {
                end = "deadlock: no step is possible".to_owned();
                break;
            }
            Here::Error(message) => {
                end = format!("run-time error: {message}");
                break;
            }
            Here::Steps(n_possible) => run.take(random.below(n_possible)),
        }
    }

    let state = |at: usize| {
        let values = run.values(at);
        let values = values.iter().map(report::value_to_json);
        let state: serde_json::Map<String, Json> =
            run.names().iter().cloned().zip(values).collect();
        Json::Object(state)
    };

    let mut steps = Vec::new();
    let mut text = format!("initially {}\n", state(0));
    for at in 0..run.n_steps() {
        let details = run.taken_details(at);
        let actions = details.actions.join(", ");
        text.push_str(&format!("{}. {actions}: {}\n", at + 1, state(at + 1)));
        steps.push(
            json!({ "actions": details.actions, "movers": details.movers, "state": state(at + 1) }),
        );
    }
    text.push_str(&end);
    let data = json!({ "initial": state(0), "steps": steps, "end": end, "n_initial_states": initial.len() });
    Ok(Said { text, data })
}

fn needed_fairness(project: &Project, arguments: &Json, plan: &Plan) -> Answer {
    let questions = chosen(project, arguments)?;
    let question = match questions.as_slice() {
        [question] => question,
        _ => return Err("say which `property` is meant".to_owned()),
    };
    let search = Search {
        candidates: Vec::new(),
        each: false,
    };
    let advice = project.advise(question, &search, plan, &mut NoProgress);
    let advice = advice.map_err(|error| describe(&error))?;
    let data = serde_json::from_str(&report::advice_json(&advice)).unwrap_or_default();
    let text = report::advice_text(&advice, Style::Plain, false);
    Ok(Said { text, data })
}

fn abstraction(project: &Project, arguments: &Json, plan: &Plan) -> Answer {
    let name = arguments["property"].as_str();
    let found = project.abstraction(name, AbstractionFormat::Native, plan);
    let found = found.map_err(|error| describe(&error))?;
    let data = json!({ "model": found.text, "remarks": found.remarks });
    Ok(Said {
        text: found.text,
        data,
    })
}

fn explain(arguments: &Json) -> Answer {
    let given = &arguments["trace"];
    let text = match given {
        Json::String(text) => text.clone(),
        Json::Object(_) => given.to_string(),
        _ => return Err("give a `trace` in the ITF format, as `check` returns it".to_owned()),
    };
    let trace = report::read_itf(&text).map_err(|error| format!("this is not a trace: {error}"))?;
    let told = report::trace_text(&trace, Style::Plain, report::Detail::default());
    let data = json!({ "steps": trace.run.n_steps(), "loop": trace.run.loop_start, "property": trace.meta.property });
    Ok(Said { text: told, data })
}

fn look_up(arguments: &Json) -> Answer {
    let Some(query) = arguments["query"].as_str() else {
        return Err("say what to look for as `query`".to_owned());
    };

    let found = documentation::search(query);
    if found.is_empty() {
        let contents = documentation::contents().join("\n");
        let text = format!("nothing found; the sections are:\n{contents}");
        return Ok(Said {
            text,
            data: json!({ "sections": [] }),
        });
    }

    let texts: Vec<&str> = found.iter().map(|section| section.text).collect();
    let sections = found
        .iter()
        .map(|s| json!({ "page": s.page, "heading": s.heading }));
    let data = json!({ "sections": sections.collect::<Vec<_>>() });

    Ok(Said {
        text: texts.join("\n\n"),
        data,
    })
}

//! Simulation. A request says the whole way from the start, so that an address can bring it back; the
//! tab remembers the last way, so that only what is new is computed.

use std::sync::Arc;

use fairground::{
    Because, Error, Fairness, Here, Justification, LoopFairness, Obligation, Project, Random,
    Simulation, SimulationWalk, Truth,
};
use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Answer, Failure, Studios, json as plain};
use crate::projects::{ModelRequest, Opened};
use crate::tab::{KeptWalk, lock};

/// Longer ways are refused.
const MAX_STEPS: usize = 100_000;
/// More steps than these are not taken at once.
const MAX_RANDOM: usize = 10_000;
/// More initial states than these are not listed.
const MAX_STARTS: usize = 200;
/// More possible steps than these are not listed.
const MAX_ENABLED: usize = 500;
/// Formulas are evaluated along ways that are not longer than this.
const MAX_EVALUATED: usize = 5000;
/// The name of the condition at which a walk stops.
const BREAKPOINT: &str = "ltl-1";

#[derive(Deserialize)]
pub(super) struct SimulateRequest {
    tab: Option<String>,
    #[serde(flatten)]
    model: ModelRequest,
    /// Which initial state.
    #[serde(default)]
    start: usize,
    /// Which of the possible steps was taken, one after the other.
    #[serde(default)]
    choices: Vec<usize>,
    /// How many steps the page knows already.
    #[serde(default)]
    since: usize,
    /// Whose obligations are shown; nothing for those of the model.
    fairness: Option<String>,
    /// A walk stops where this holds.
    breakpoint: Option<String>,
    /// Go on at random.
    random: Option<RandomRequest>,
}

#[derive(Clone, Copy, Deserialize)]
struct RandomRequest {
    steps: usize,
    seed: u64,
}

/// Goes the way, and tells where it leads.
pub(super) fn simulate(studios: &Studios, mut request: SimulateRequest) -> Answer {
    if request.choices.len() > MAX_STEPS {
        return Err(Failure::new(
            422,
            format!("a way has at most {MAX_STEPS} steps"),
        ));
    }
    let condition = request
        .breakpoint
        .take()
        .filter(|text| !text.trim().is_empty());
    request.model.closed = true;
    request.model.formulas = { condition.iter() }
        .map(|text| (BREAKPOINT.to_owned(), text.clone()))
        .collect();

    let tab = request
        .tab
        .as_deref()
        .and_then(|tab| studios.tabs.find(tab));
    let kept = tab.as_ref().and_then(|tab| lock(&tab.walk).take());
    let kept = kept.filter(|kept| kept.model == request.model && kept.start == request.start);
    let opened = match &kept {
        Some(kept) => Arc::clone(&kept.opened),
        None => studios.projects.open(&studios.folder, &request.model)?,
    };

    let initial = opened.initial_states()?;
    let Some(first) = initial.get(request.start) else {
        return Err(Failure::new(422, "there is no such initial state"));
    };
    let mut run = match kept {
        Some(kept) => opened.project.resume(kept.walk)?,
        None => opened.project.simulate(first.clone())?,
    };
    go(&mut run, &request.choices)?;
    let stopped = match request.random {
        Some(random) => wander(&opened.project, &mut run, random, condition.is_some())?,
        None => None,
    };

    let mut json = describe(&opened, &run, &request, initial.len())?;
    json["stopped"] = json!(stopped);
    let walk = run.into_walk();
    if let Some(tab) = tab {
        *lock(&tab.walk) = Some(KeptWalk {
            model: request.model,
            opened: Arc::clone(&opened),
            start: request.start,
            walk,
        });
    }
    Ok(json)
}

/// Goes back to where both ways part, and on from there.
fn go(run: &mut Simulation<'_>, choices: &[usize]) -> Result<(), Failure> {
    let same = { run.walk().choices().iter() }
        .zip(choices)
        .take_while(|(old, new)| old == new)
        .count();
    while run.n_steps() > same {
        run.back();
    }
    for (at, choice) in choices.iter().enumerate().skip(same) {
        if *choice >= run.n_possible() {
            return Err(Failure::new(
                422,
                format!("step {at} is not possible there"),
            ));
        }
        run.take(*choice);
    }
    Ok(())
}

/// Takes steps at random until there are none, or the condition holds; says why it stopped early.
fn wander(
    project: &Project,
    run: &mut Simulation<'_>,
    random: RandomRequest,
    has_condition: bool,
) -> Result<Option<&'static str>, Error> {
    let mut choices = Random::new(random.seed);
    let n_steps = random
        .steps
        .min(MAX_RANDOM)
        .min(MAX_STEPS - run.n_steps().min(MAX_STEPS));

    for _ in 0..n_steps {
        match run.here() {
            Here::Deadlock => return Ok(Some("deadlock")),
            Here::Error(_) => return Ok(Some("error")),
            Here::Steps(n_possible) => run.take(choices.below(n_possible)),
        }
        if has_condition && holds_now(project, run)? {
            return Ok(Some("breakpoint"));
        }
    }

    Ok(None)
}

/// Does the condition hold at the end?
fn holds_now(project: &Project, run: &Simulation<'_>) -> Result<bool, Error> {
    let Some(question) = project.question(BREAKPOINT) else {
        return Ok(false);
    };
    project.holds_at_end(question, run)
}

/// Everything that is shown about where the walk is.
fn describe(
    opened: &Opened,
    run: &Simulation<'_>,
    request: &SimulateRequest,
    n_initial: usize,
) -> Answer {
    let project = &opened.project;
    let fairness = match &request.fairness {
        None => project.fairness(None)?,
        Some(name) => Fairness::parse(name)
            .ok_or_else(|| Failure::new(422, format!("there is no fairness `{name}`")))?,
    };
    let now = run.n_steps();
    let since = request.since.min(now);
    let history: Vec<Json> = (since..now)
        .map(|at| plain::step(&run.taken_details(at)))
        .collect();

    let n_listed = run.n_possible().min(MAX_ENABLED);
    let enabled: Vec<Json> = (0..n_listed)
        .map(|choice| plain::step(&run.possible_details(choice)))
        .collect();

    let (here, message) = match run.here() {
        Here::Steps(_) => ("steps", None),
        Here::Deadlock => ("deadlock", None),
        Here::Error(message) => ("error", Some(message)),
    };

    let walk: &SimulationWalk = run.walk();
    Ok(json!({
        "vars": run.names(),
        "first": plain::values(&run.values(0)),
        "values": plain::values(&run.values(now)),
        "before": now.checked_sub(1).map(|at| plain::values(&run.values(at))),
        "choices": walk.choices(),
        "since": since,
        "history": history,
        "enabled": enabled,
        "n_enabled": run.n_possible(),
        "here": here,
        "message": message,
        "fairness": fairness.name(),
        "obligations": run.obligations(fairness).iter().map(obligation).collect::<Vec<_>>(),
        "assumed": run.assumed(),
        "loop": run.loop_fairness(fairness)?.as_ref().map(loop_fairness),
        "properties": properties(project, run),
        "starts": starts(opened, n_initial),
        "n_starts": n_initial,
        "picture": project.picture(walk.state(now)).as_ref().map(plain::picture),
    }))
}

/// The first initial states in words.
fn starts(opened: &Opened, n_initial: usize) -> Vec<String> {
    if n_initial == 1 {
        return Vec::new();
    }
    let Ok(initial) = opened.initial_states() else {
        return Vec::new();
    };
    let text = |state| opened.project.state_text(state).unwrap_or_default();
    initial.iter().take(MAX_STARTS).map(text).collect()
}

fn obligation(obligation: &Obligation) -> Json {
    json!({
        "condition": obligation.condition,
        "enabled": obligation.is_enabled,
        "since": obligation.enabled_since,
        "taken": obligation.last_taken,
        "pending": obligation.is_pending,
        "text": obligation.text,
    })
}

fn loop_fairness(fairness: &LoopFairness) -> Json {
    let reason = |reason: &Justification| {
        let (because, at) = match reason.because {
            Because::Taken(at) => ("taken", Some(at)),
            Because::Interfered(at) => ("interfered with", Some(at)),
            Because::Disabled(at) => ("disabled", Some(at)),
            Because::NeverEnabled => ("never enabled", None),
            Because::HoldsAt(at) => ("holds", Some(at)),
            Because::HoldsThroughout => ("holds throughout", None),
            Because::Broken => ("unfair", None),
        };
        json!({ "condition": reason.condition, "because": because, "at": at })
    };
    json!({
        "start": fairness.start,
        "fair": fairness.is_fair,
        "reasons": fairness.reasons.iter().map(reason).collect::<Vec<_>>(),
        "missing": fairness.missing,
    })
}

/// The parts of every formula at the last position, and what the run says about the whole.
fn properties(project: &Project, run: &Simulation<'_>) -> Vec<Json> {
    let mut rows = Vec::new();
    if run.n_steps() > MAX_EVALUATED {
        return rows;
    }

    for question in project.questions() {
        if question.name == BREAKPOINT {
            continue;
        }
        match project.truths_along(question, run) {
            Ok(truths) if truths.is_empty() => {}
            Ok(truths) => rows.push(json!({
                "name": question.name,
                "whole": truths[0].at.first().copied().flatten(),
                "parts": truths.iter().map(part).collect::<Vec<_>>(),
            })),
            Err(error) => rows.push(json!({ "name": question.name, "error": error.to_string() })),
        }
    }

    rows
}

fn part(truth: &Truth) -> Json {
    json!({
        "text": truth.text,
        "depth": truth.depth,
        "temporal": truth.is_temporal,
        "now": truth.at.last().copied().flatten(),
    })
}

//! Which of the assumptions that a model makes does a property need?
//!
//! The graph is explored once, with the marks of all conditions of the model and of their weaker
//! forms, and judged with one of them left out at a time.

use base::{Fairness, Progress, Route, Span, StopReason};
use engine::Stats;
use evidence::{Explanation, Judge, Trace, UnknownReason, Verdict};
use logic::{Ltl, NamedProperty, Op, Property};
use model::{Assumption, Condition, Model};
use omega::{Acceptance, Automaton, Closure};

use super::bad_loops::{BadLoops, forbidden_runs};
use super::inference::assuming_levels;
use super::notions::{atoms, closure, is_finite};
use super::offers::{Level, Offer};
use super::{Left, Survey, Surveyed, atoms_of};
use crate::fairness::has_too_many_conditions;
use crate::{Bug, Outcome, Plan, effective_fairness};

/// What the assumptions of a model do for a property.
#[derive(Clone, Debug)]
pub struct Audit {
    /// The fairness that was audited.
    pub fairness: Fairness,
    /// Does the property hold as things are? Nothing if that is not known.
    pub holds: Option<bool>,
    /// One entry for each annotation and assumption of the model, in its order.
    pub entries: Vec<AuditEntry>,
    /// A run after which no fair run is possible: the assumptions ask for what the system may have
    /// made impossible.
    pub corner: Option<Explanation>,
    /// The left side of the property, if it occurs in the system but in no fair run.
    pub vacuous: Option<String>,
    /// Is there no fair run at all?
    pub has_no_fair_run: bool,
    /// Why something is missing.
    pub left: Option<Left>,
    /// What was explored.
    pub stats: Stats,
}

/// What is to be said about an annotation or assumption.
#[derive(Clone, Debug)]
pub struct AuditEntry {
    /// What reports call it.
    pub name: String,
    /// Where it is written, if that is known.
    pub span: Option<Span>,
    /// What it does.
    pub use_: Use,
    /// The violation that appears without it.
    pub without: Option<Box<Outcome>>,
}

/// What an assumption does for a property.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Use {
    /// Without it the property is violated.
    Needed,
    /// Without it the property is violated, but this weaker one suffices.
    StrongerThanNeeded(String),
    /// Without it, and with all others, the property holds.
    Superfluous,
    /// A limit was reached.
    Unknown,
}

/// Audits the annotations and assumptions under which a property is checked.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn audit(
    model: &Model,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Audit, Bug> {
    let fairness = effective_fairness(model, property, plan.fairness);
    let unsupported = |why: &str| Audit::unknown(fairness, Left::Unsupported(why.to_owned()));
    if !is_finite(model, plan) {
        return Ok(unsupported(
            "assumptions are audited where all states can be visited and kept",
        ));
    }
    let automaton = match forbidden_runs(&property.property) {
        None => return Ok(unsupported("the property is not about single runs")),
        Some(Err(why)) => return Ok(unsupported(&why)),
        Some(Ok(automaton)) => automaton,
    };

    if let Some(why) = has_too_many_conditions(model, fairness) {
        return Ok(unsupported(&why));
    }

    // The assumptions of the model are on trial, too.
    let mut parts = model.parts().clone();
    parts.assumptions.clear();
    let bare = parts
        .finish()
        .expect("a model without assumptions is a model");
    let subjects = on_trial(model, fairness);
    let whole = Fairness {
        annotated: false,
        ..fairness
    };
    let mut conditions = bare.fairness_conditions(whole);
    let levels = subjects.iter().flat_map(|subject| &subject.offer.levels);
    conditions.extend(levels.flat_map(|level| level.conditions.clone()));
    let assumptions = &model.parts().assumptions;
    let mut mentioned = atoms(&property.property);
    mentioned.extend(atoms_of(assumptions));

    let survey = match Survey::explore(&bare, &conditions, &mentioned, plan, progress) {
        Surveyed::Graph(survey) => survey,
        Surveyed::Decided(Verdict::Unknown(UnknownReason::Stopped(reason)), stats) => {
            return Ok(Audit {
                stats,
                ..Audit::unknown(fairness, Left::Stopped(reason))
            });
        }
        Surveyed::Decided(..) => {
            return Ok(unsupported(
                "the model has a run-time error, or is not supported",
            ));
        }
    };

    let mut trial = Trial {
        model: &bare,
        property,
        survey: &survey,
        fairness,
        whole: bare.fairness_conditions(whole),
        assumptions,
        subjects: &subjects,
    };
    let mut audit = Audit {
        stats: survey.stats.clone(),
        ..Audit::unknown(fairness, Left::TooMany)
    };
    audit.left = None;
    if let Err(obstacle) = trial.run(automaton, &mut audit) {
        match obstacle {
            Obstacle::Stopped(reason) => audit.left = Some(Left::Stopped(reason)),
            Obstacle::Bug(bug) => return Err(*bug),
        }
    }
    Ok(audit)
}

impl Audit {
    fn unknown(fairness: Fairness, left: Left) -> Self {
        Self {
            fairness,
            holds: None,
            entries: Vec::new(),
            corner: None,
            vacuous: None,
            has_no_fair_run: false,
            left: Some(left),
            stats: Stats::default(),
        }
    }
}

enum Obstacle {
    Stopped(StopReason),
    Bug(Box<Bug>),
}

impl From<StopReason> for Obstacle {
    fn from(reason: StopReason) -> Self {
        Self::Stopped(reason)
    }
}

impl From<Bug> for Obstacle {
    fn from(bug: Bug) -> Self {
        Self::Bug(Box::new(bug))
    }
}

/// An annotation or assumption, weaker forms first.
struct OnTrial {
    offer: Offer,
    span: Option<Span>,
}

fn on_trial(model: &Model, fairness: Fairness) -> Vec<OnTrial> {
    let mut subjects = Vec::new();
    if fairness.annotated {
        for annotation in &model.parts().annotations {
            subjects.push(OnTrial {
                offer: Offer::up_to(model, annotation.kind, &annotation.target),
                span: Some(annotation.span),
            });
        }
    }
    let assumptions = model.parts().assumptions.iter();
    subjects.extend(assumptions.map(|assumption| OnTrial {
        offer: Offer::assumption(model, assumption.clone()),
        span: None,
    }));
    subjects
}

struct Trial<'x, 's, 'a, 'm> {
    /// Without assumptions.
    model: &'m Model,
    property: &'x NamedProperty,
    survey: &'s Survey<'a, 'm>,
    fairness: Fairness,
    /// The conditions of the notion for the whole system.
    whole: Vec<Condition>,
    assumptions: &'x [Assumption],
    subjects: &'x [OnTrial],
}

impl Trial<'_, '_, '_, '_> {
    fn run(&mut self, automaton: Automaton, audit: &mut Audit) -> Result<(), Obstacle> {
        let mut loops = BadLoops::new(self.survey, automaton, self.assumptions)?;
        let closure = closure(self.fairness);
        let full: Vec<usize> = self.subjects.iter().map(|s| s.offer.levels.len()).collect();
        let everything = self.demanded(&loops, &full);
        audit.holds = Some(loops.find(&everything, closure)?.is_none());
        self.find_corner(&full, audit)?;
        if audit.holds != Some(true) {
            return Ok(());
        }

        for number in 0..self.subjects.len() {
            let entry = self.judge(&mut loops, &full, number);
            let entry = match entry {
                Ok(entry) => entry,
                Err(Obstacle::Stopped(reason)) => {
                    audit.left = Some(Left::Stopped(reason));
                    self.entry(number, Use::Unknown, None)
                }
                Err(bug) => return Err(bug),
            };
            audit.entries.push(entry);
        }
        self.find_vacuity(&full, audit)
    }

    fn entry(&self, number: usize, use_: Use, without: Option<Box<Outcome>>) -> AuditEntry {
        let subject = &self.subjects[number];
        let level = subject.offer.levels.last().expect("there is a level");
        AuditEntry {
            name: level.name.clone(),
            span: subject.span,
            use_,
            without,
        }
    }

    fn judge(
        &self,
        loops: &mut BadLoops<'_, '_, '_>,
        full: &[usize],
        number: usize,
    ) -> Result<AuditEntry, Obstacle> {
        let closure = closure(self.fairness);
        let mut point = full.to_vec();
        point[number] = 0;
        let demanded = self.demanded(loops, &point);
        let Some(component) = loops.find(&demanded, closure)? else {
            return Ok(self.entry(number, Use::Superfluous, None));
        };

        let violation = loops.violation(&component, &demanded, closure)?;
        let fairness = Fairness {
            annotated: true,
            ..self.fairness
        };
        let verdict = Verdict::Violated(Box::new(violation));
        let mut outcome = Outcome::new(Route::Explicit, fairness, verdict);
        let levels = self.chosen(&point);
        outcome.confirm(&assuming_levels(self.model, &levels), self.property)?;

        // The weakest form that suffices in its place.
        let levels = &self.subjects[number].offer.levels;
        let mut use_ = Use::Needed;
        for (strength, level) in levels.iter().enumerate().take(full[number] - 1) {
            point[number] = strength + 1;
            let demanded = self.demanded(loops, &point);
            if loops.find(&demanded, closure)?.is_none() {
                use_ = Use::StrongerThanNeeded(level.name.clone());
                break;
            }
        }
        Ok(self.entry(number, use_, Some(Box::new(outcome))))
    }

    fn chosen(&self, point: &[usize]) -> Vec<&Level> {
        let things = self
            .subjects
            .iter()
            .zip(point)
            .filter(|(_, strength)| **strength > 0);
        things
            .map(|(subject, strength)| &subject.offer.levels[strength - 1])
            .collect()
    }

    fn demanded(&self, loops: &BadLoops<'_, '_, '_>, point: &[usize]) -> Acceptance {
        let levels = self.chosen(point);
        let conditions = levels.iter().flat_map(|level| &level.conditions);
        let mut conditions: Vec<Condition> = conditions.cloned().collect();
        conditions.extend_from_slice(&self.whole);
        let of_conditions = self.survey.demanded(&conditions);
        let assumed = levels.iter().filter_map(|level| level.assumption.as_ref());
        let assumed = assumed.map(|assumption| {
            let position = self
                .assumptions
                .iter()
                .position(|other| other == assumption);
            loops.offered[position.expect("it is an assumption of the model")].clone()
        });
        Acceptance::all(
            [of_conditions]
                .into_iter()
                .chain(assumed.collect::<Vec<_>>()),
        )
    }

    /// The shortest run to a state from which no fair run starts.
    fn find_corner(&self, full: &[usize], audit: &mut Audit) -> Result<(), Obstacle> {
        let mut runs = BadLoops::new(self.survey, Automaton::universal(), self.assumptions)?;
        let demanded = self.demanded(&runs, full);
        let fair = runs.starts(&demanded, closure(self.fairness))?;
        let n_initial = self.survey.graph.n_initial() as u32;
        audit.has_no_fair_run = n_initial > 0 && !(0..n_initial).any(|node| fair.contains(node));
        let Some(trace) = self.way_out_of(&fair) else {
            return Ok(());
        };
        let judge = Judge::new(self.model, &self.property.property, self.fairness, &[]);
        let shown = judge.prefix(&trace).map_err(|invalid| Bug {
            property: self.property.name.clone(),
            invalid,
        })?;
        audit.corner = Some(shown);
        Ok(())
    }

    fn way_out_of(&self, fair: &crate::branching::NodeSet) -> Option<Trace> {
        let (graph, system) = (&self.survey.graph, &self.survey.check.system);
        let mut before: Vec<Option<(u32, usize)>> = vec![None; graph.n_nodes()];
        let mut is_known = vec![false; graph.n_nodes()];
        let mut queue: Vec<u32> = (0..graph.n_initial() as u32).collect();
        queue
            .iter()
            .for_each(|&node| is_known[node as usize] = true);

        let mut next = 0;
        while next < queue.len() {
            let node = queue[next];
            next += 1;
            if !fair.contains(node) {
                let mut trace = Trace {
                    states: vec![graph.state(system, node)],
                    steps: Vec::new(),
                    loop_start: None,
                };
                let mut at = node;
                while let Some((source, step)) = before[at as usize] {
                    trace.states.push(graph.state(system, source));
                    trace
                        .steps
                        .push(graph.trace_step(system, source, step).into());
                    at = source;
                }
                trace.states.reverse();
                trace.steps.reverse();
                return Some(trace);
            }
            for (step, &target) in graph.targets(node).iter().enumerate() {
                if !std::mem::replace(&mut is_known[target as usize], true) {
                    before[target as usize] = Some((node, step));
                    queue.push(target);
                }
            }
        }
        None
    }

    /// Does the left side of `[] (a -> b)` occur, but on no fair run?
    fn find_vacuity(&self, full: &[usize], audit: &mut Audit) -> Result<(), Obstacle> {
        let Some(premise) = premise(&self.property.property) else {
            return Ok(());
        };
        let Ok(automaton) = logic::translate(&Ltl::eventually(premise)) else {
            return Ok(());
        };
        let mut runs = BadLoops::new(self.survey, automaton, self.assumptions)?;
        let demanded = self.demanded(&runs, full);
        let on_fair_run = runs.find(&demanded, closure(self.fairness))?.is_some();
        let on_some_run = runs.find(&Acceptance::True, Closure::None)?.is_some();
        if on_some_run && !on_fair_run {
            let text = self.property.text.as_str();
            let left = text.rsplit_once("->").map_or(text, |(left, _)| left);
            audit.vacuous = Some(left.trim().to_owned());
        }
        Ok(())
    }
}

fn premise(property: &Property) -> Option<Ltl> {
    let inner = match property {
        Property::Invariant(formula) => formula.clone(),
        Property::Ltl(formula) => match formula.op() {
            Op::Always(inner) => inner.clone(),
            _ => return None,
        },
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::Never(_)
        | Property::CtlStar(_)
        | Property::MayMust(_) => return None,
    };
    match inner.op() {
        Op::Implies(premise, _) => Some(premise.clone()),
        _ => None,
    }
}

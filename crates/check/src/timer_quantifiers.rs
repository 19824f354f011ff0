//! Path quantifiers over abstract timers: the state graph of the abstract model as a may/must system.
//!
//! Every step of the abstract model is *free*: it covers the steps of all settings. A step is
//! *constrained* if every state that its source describes has such a step: all are, except ticks from
//! a state in which some timer is above its threshold, where only some of the described states come
//! down. What that leaves open, and questions under the fairness of the user, are asked of the
//! settings themselves ([`crate::timer_cutoff`]). The answer is three-valued (D. Dams, R. Gerth, O. Grumberg, "Fair model checking of
//! abstractions", VCL 2000): "holds" and "violated" both transfer to every setting from the thresholds
//! on. Free paths are restricted to those that are t-fair or in which time stops; all runs of settings
//! are.

use base::{AtomId, Fairness, FairnessKind, Progress};
use engine::{Built, StateGraph, System};
use evidence::{UnknownReason, Verdict};
use logic::{CtlStar, Ltl, MayMustProperty, NamedProperty, Property};
use model::{CommandId, MayMust, MayMustParts, Model, Proposition, StepPattern};

use crate::branching::check_may_must;
use crate::timer_cutoff::{BySettings, Settings};
use crate::timers::{StoppedTime, time_stops, undecided, with_premise};
use crate::{Bug, Outcome, Plan};

/// What is known before the formula is looked at.
pub(crate) struct Before {
    /// What the check that time passes came to.
    pub(crate) time: Outcome,
    /// A run in which it stops.
    pub(crate) zero_time: Option<StoppedTime>,
}

/// Answers a formula of CTL* about a model with abstract timers. What the abstract model leaves open
/// is asked of the settings.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    formula: &CtlStar,
    Before { time, zero_time }: Before,
    (plan, progress): (&Plan, &mut dyn Progress),
) -> Result<Outcome, Bug> {
    let mut outcome = if is_restricted(model, time.fairness) {
        let why = "with abstract timers, path quantifiers range over all t-fair runs only";
        undecided(time.clone(), UnknownReason::Unsupported(why.to_owned()))
    } else {
        let mut outcome = undecided(time.clone(), UnknownReason::AbstractionTooCoarse);
        match Abstracted::new(model, formula, (plan, &mut *progress)) {
            Err(reason) => outcome.give_up(reason),
            Ok(abstracted) => {
                outcome = abstracted.ask(property, formula, plan, true);
                let is_coarse =
                    outcome.verdict == Verdict::Unknown(UnknownReason::AbstractionTooCoarse);
                if let (true, Some(stopped)) = (is_coarse, zero_time) {
                    let without = abstracted.ask(property, formula, plan, false);
                    if !matches!(without.verdict, Verdict::Unknown(_)) {
                        stopped.leaves_undecided(&mut outcome);
                        let remark = "time stops in this run: without such runs, abstract timers \
                                      would decide";
                        outcome.remarks.push(remark.to_owned());
                    }
                }
            }
        }
        outcome
    };

    let is_open = match &outcome.verdict {
        Verdict::Unknown(reason) => matches!(
            reason,
            UnknownReason::AbstractionTooCoarse
                | UnknownReason::ZeroTime(_)
                | UnknownReason::Unsupported(_)
        ),
        Verdict::Holds { .. } | Verdict::Violated(_) => false,
    };
    if is_open {
        let settings = Settings {
            model,
            property,
            formula,
            fairness: time.fairness,
            plan,
        };
        by_settings(&mut outcome, settings.decide(progress)?);
    }
    Ok(outcome)
}

/// Puts what the settings say in the place of what the abstract model left open.
fn by_settings(outcome: &mut Outcome, found: BySettings) {
    match found {
        BySettings::Alike(verdict, why) => {
            outcome.give_up(UnknownReason::AbstractionTooCoarse);
            outcome.verdict = verdict;
            outcome.warnings.clear();
            outcome.remarks = vec![format!(
                "decided setting by setting, each timer being set to one number: {why}"
            )];
        }
        BySettings::Differ(how) => outcome.remarks.push(how),
        BySettings::Open => {}
    }
}

/// Do path quantifiers range over fewer runs than the t-fair ones?
pub(crate) fn is_restricted(model: &Model, fairness: Fairness) -> bool {
    fairness.kind != FairnessKind::None
        || fairness.annotated
        || !model.parts().assumptions.is_empty()
}

/// What the abstract model says, with respect to all t-fair runs and those in which time stops.
pub(crate) fn abstractly(
    model: &Model,
    property: &NamedProperty,
    formula: &CtlStar,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Verdict {
    match Abstracted::new(model, formula, (plan, progress)) {
        Ok(abstracted) => abstracted.ask(property, formula, plan, true).verdict,
        Err(reason) => Verdict::Unknown(reason),
    }
}

/// A model with abstract timers as a may/must system.
struct Abstracted {
    /// The model with propositions for t-fairness.
    extended: Model,
    t_fair: Ltl,
    system: MayMust,
}

impl Abstracted {
    fn new(
        model: &Model,
        formula: &CtlStar,
        (plan, progress): (&Plan, &mut dyn Progress),
    ) -> Result<Self, UnknownReason> {
        let (extended, t_fair) = with_premise(model, false);
        let mut atoms = formula.atoms();
        atoms.extend(Ltl::or([time_stops(model), t_fair.clone()]).atoms());
        atoms.sort_unstable();
        atoms.dedup();

        let too_large = || UnknownReason::Unsupported("the model is too large".to_owned());
        let mut system = System::new(&extended).map_err(|_| too_large())?;
        let built = engine::state_graph(&mut system, &[], &atoms, &plan.budget, progress);
        let graph = match built {
            Ok((Built::Graph(graph), _)) => graph,
            Ok((Built::Stopped(reason), _)) => return Err(UnknownReason::Stopped(reason)),
            Ok((Built::Failed, _)) | Err(_) => {
                let why = "the model has a run-time error; check an invariant to see it".to_owned();
                return Err(UnknownReason::Unsupported(why));
            }
        };

        let system = may_must(&extended, &system, &graph, &atoms);
        Ok(Self {
            extended,
            t_fair,
            system,
        })
    }

    /// What the system says of a formula. Where time always passes the premise is t-fairness; with
    /// runs in which time stops it is true of every run of every setting.
    fn ask(
        &self,
        property: &NamedProperty,
        formula: &CtlStar,
        plan: &Plan,
        with_stops: bool,
    ) -> Outcome {
        let premise = if with_stops {
            Ltl::or([time_stops(&self.extended), self.t_fair.clone()])
        } else {
            self.t_fair.clone()
        };
        let system = self.system.clone();
        answer(&self.extended, property, (formula, premise), system, plan)
    }
}

fn answer(
    model: &Model,
    property: &NamedProperty,
    (formula, premise): (&CtlStar, Ltl),
    abstraction: MayMust,
    plan: &Plan,
) -> Outcome {
    let mut parts = model.parts().clone();
    parts.systems = vec![abstraction];
    let with_system = parts.finish().expect("a system can stand beside a model");
    let question = MayMustProperty {
        system: 0,
        formula: formula.clone(),
        fairness: premise,
    };
    let asked = NamedProperty {
        property: Property::MayMust(question.clone()),
        ..property.clone()
    };
    let mut outcome = check_may_must(&with_system, &asked, &question, plan);
    outcome.fairness = Fairness {
        timers: true,
        ..Fairness::default()
    };
    outcome
}

/// The abstract model, state by state. The initial states come first.
fn may_must(model: &Model, system: &System<'_>, graph: &StateGraph, atoms: &[AtomId]) -> MayMust {
    let clock = model
        .parts()
        .clock
        .expect("a model with timers has a clock");
    let ticks = model.step_set(&StepPattern {
        event: Some(clock.event),
        ..StepPattern::default()
    });
    let n_nodes = graph.n_nodes() as u32;
    let (mut free, mut constrained) = (Vec::new(), Vec::new());

    for node in 0..n_nodes {
        let state = graph.state(system, node);
        let mut timers = model.abstract_timers();
        let is_known = timers.all(|(cell, threshold)| state.cells[cell] != threshold);
        for (step, &target) in graph.targets(node).iter().enumerate() {
            free.push((node, target));
            let commands = graph.trace_step(system, node, step).commands;
            let is_tick = commands.iter().any(|id: &CommandId| ticks.contains(*id));
            if is_known || !is_tick {
                constrained.push((node, target));
            }
        }
    }

    let proposition = |position: usize| {
        let atom = AtomId::new(position);
        let is_asked = atoms.binary_search(&atom).is_ok();
        let value = |node| is_asked.then(|| graph.holds(node, atom));
        Proposition {
            name: model.parts().atoms[position].name.clone(),
            values: (0..n_nodes).map(value).collect(),
        }
    };

    let parts = MayMustParts {
        name: "timers".to_owned(),
        states: (0..n_nodes).map(|node| format!("state {node}")).collect(),
        initial: (0..graph.n_initial() as u32).collect(),
        propositions: (0..model.parts().atoms.len()).map(proposition).collect(),
        free,
        constrained,
        span: model.parts().events[clock.event.index()].span,
    };

    parts.finish().expect("nodes are states")
}

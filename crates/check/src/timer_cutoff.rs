//! Settings of abstract timers one by one, where from some setting on all behave alike.
//!
//! A may/must system cannot promise that "k or more" ever comes down, so it leaves much open about
//! path quantifiers. What it leaves open is asked of the settings `k`, `k + 1`, … themselves, each
//! timer being set to one number. They need not be tried forever: if in the model with the setting
//! `d` everything is *at rest* wherever the timer is `m ≤ d` (the only step is the tick, and it
//! changes nothing else), then with `d + 1` the same happens, only that this rest takes one tick more.
//! The two models are stuttering bisimilar, with respect to divergence, so they satisfy the same
//! formulas of CTL* that cannot tell a repeated state (M. Browne, E. Clarke, O. Grumberg,
//! *Characterizing finite Kripke structures in propositional temporal logic*, TCS 59, 1988,
//! doi:10.1016/0304-3975(88)90098-9), and the larger model rests at `m`, too: `SOUNDNESS.md` has the
//! proof. Where there is no such rest, or the formula counts steps, the threshold is raised instead:
//! what the abstract model says with it is about all settings from there on.

use std::collections::BTreeSet;

use base::{AtomId, Fairness, FairnessKind, Progress};
use engine::{Built, System};
use evidence::{Verdict, ViolationKind};
use logic::{CtlStar, NamedProperty};
use model::{
    Assumption, AtomMeaning, Model, Reach, Setting, StepPattern, StepSet, Stmt, StmtKind, Timer,
    VarId,
};

use crate::stutter_invariance::is_stutter_sensitive;
use crate::timers::{FARTHEST, sets_beyond};
use crate::{Bug, Plan, check_explicitly, timer_quantifiers};

/// So many combinations of settings are tried, at most.
const MAX_COMBINATIONS: usize = 64;

/// No more settings are tried after so many states.
const MAX_STATES: u64 = 1_000_000;

/// Thresholds are raised by so much, at most.
const MOST_RAISED: i64 = 3;

/// What the settings say.
pub(crate) enum BySettings {
    /// All have this verdict. Why there need not be more of them.
    Alike(Verdict, String),
    /// Two of them have different verdicts.
    Differ(String),
    /// Not all are covered.
    Open,
}

/// A question about all settings of the abstract timers.
pub(crate) struct Settings<'a> {
    pub(crate) model: &'a Model,
    pub(crate) property: &'a NamedProperty,
    pub(crate) formula: &'a CtlStar,
    pub(crate) fairness: Fairness,
    pub(crate) plan: &'a Plan,
}

/// How far beyond its threshold each abstract timer is set, in the order of the timers.
type Beyond = Vec<i64>;

impl Settings<'_> {
    /// Asks setting after setting until all others are known to be like them.
    pub(crate) fn decide(&self, progress: &mut dyn Progress) -> Result<BySettings, Bug> {
        if !self.are_numbers_single() {
            return Ok(BySettings::Open);
        }

        let mut common: Option<(Verdict, String)> = None;
        let mut reasons = BTreeSet::new();
        let readings: &[bool] = if sets_beyond(self.model) {
            &[false, true]
        } else {
            &[false]
        };

        for &stretched in readings {
            match self.decide_reading(stretched, &mut common, progress)? {
                Ok(reason) => reasons.insert(reason),
                Err(ended) => return Ok(ended),
            };
        }

        let reasons: Vec<String> = reasons.into_iter().collect();
        Ok(match common {
            Some((verdict, _)) => BySettings::Alike(verdict, reasons.join("; ")),
            None => BySettings::Open,
        })
    }

    /// Is each abstract timer set from its threshold on at one place of the text at most? Elsewhere a
    /// setting may have one number here and another one there, which is not tried.
    fn are_numbers_single(&self) -> bool {
        let is_single = |timer: &Timer| {
            let is_beyond = timer.threshold.is_some_and(|least| timer.limit >= least);
            let mut n_places = 0;
            let processes = self.model.parts().processes.iter();
            for step in processes.flat_map(|process| &process.steps) {
                Stmt::walk_all(&step.effect, &mut |statement| {
                    // shape: other statements set no timer.
                    if let StmtKind::SetTimer(place, setting) = statement
                        && place.var == timer.var
                    {
                        n_places += match setting {
                            Setting::Any => 1,
                            Setting::To(_) => usize::from(is_beyond),
                        };
                    }
                });
            }
            n_places <= 1
        };
        self.abstract_timers().all(is_single)
    }

    /// The same, where numbers that the model sets itself are taken as they are, or stand for any
    /// setting, too. Says why no more settings are needed.
    fn decide_reading(
        &self,
        stretched: bool,
        common: &mut Option<(Verdict, String)>,
        progress: &mut dyn Progress,
    ) -> Result<Result<String, BySettings>, Bug> {
        let n_timers = self.abstract_timers().count();
        let mut n_states = 0;
        for reach in 0..=FARTHEST {
            let all = combinations(n_timers, reach);
            if all.len() > MAX_COMBINATIONS || n_states > MAX_STATES {
                break;
            }
            let mut ends_here = self.is_insensitive();
            for beyond in all.iter().filter(|beyond| beyond.contains(&reach)) {
                let Some(concrete) = self.with(stretched, beyond, None) else {
                    return Ok(Err(BySettings::Open));
                };
                let (fairness, plan) = (self.fairness, self.plan);
                let found = check_explicitly(&concrete, self.property, fairness, plan, progress)?;
                n_states += found.stats.n_states;
                if let Some(ended) = self.compare(found.verdict, (beyond, None), common) {
                    return Ok(Err(ended));
                }
                ends_here =
                    ends_here && self.rests(&concrete, (stretched, beyond), reach, progress);
            }

            let text = |reach: i64| self.settings_text(&vec![0; n_timers], &vec![reach; n_timers]);
            if ends_here {
                let why = "a longer wait is only longer: nothing happens meanwhile";
                return Ok(Ok(format!("{}; {why}", text(reach))));
            }
            let raised = reach + 1;
            if raised <= MOST_RAISED && self.is_raised_enough(stretched, raised, common, progress) {
                let why = "the abstract model decides all others";
                return Ok(Ok(format!("{}; {why}", text(reach))));
            }
        }

        Ok(Err(BySettings::Open))
    }

    /// Do all combinations in which some timer stays abstract, with a threshold raised by so much,
    /// have the common verdict?
    fn is_raised_enough(
        &self,
        stretched: bool,
        raised: i64,
        common: &mut Option<(Verdict, String)>,
        progress: &mut dyn Progress,
    ) -> bool {
        let all = combinations(self.abstract_timers().count(), raised);
        let is_restricted = timer_quantifiers::is_restricted(self.model, self.fairness);
        if is_restricted || all.len() > MAX_COMBINATIONS {
            return false;
        }
        for beyond in all.iter().filter(|beyond| beyond.contains(&raised)) {
            let Some(model) = self.with(stretched, beyond, Some(raised)) else {
                return false;
            };
            let (property, formula, plan) = (self.property, self.formula, self.plan);
            let verdict =
                timer_quantifiers::abstractly(&model, property, formula, plan, &mut *progress);
            let is_open = matches!(verdict, Verdict::Unknown(_));
            if is_open
                || self
                    .compare(verdict, (beyond, Some(raised)), common)
                    .is_some()
            {
                return false;
            }
        }
        true
    }

    fn abstract_timers(&self) -> impl Iterator<Item = &Timer> {
        let timers = self.model.parts().timers.iter();
        timers.filter(|timer| timer.threshold.is_some())
    }

    /// The model with these settings; timers that are set beyond `raised` or there stay abstract.
    fn with(&self, stretched: bool, beyond: &Beyond, raised: Option<i64>) -> Option<Model> {
        let mut settings = beyond.iter();
        let reach = |timer: &Timer| {
            let own = *settings.next().expect("one for each abstract timer");
            let setting = timer.threshold.unwrap_or(1) + own;
            if raised == Some(own) {
                Reach::From(setting)
            } else {
                Reach::Between(setting, setting)
            }
        };
        self.model.with_reaches(stretched, reach).ok()
    }

    /// Notes the verdict of a combination. Says what follows if it is not the common one.
    fn compare(
        &self,
        found: Verdict,
        (beyond, raised): (&Beyond, Option<i64>),
        common: &mut Option<(Verdict, String)>,
    ) -> Option<BySettings> {
        // The evidence is that of one setting.
        let plain = match &found {
            Verdict::Holds { .. } => Verdict::Holds { witness: None },
            Verdict::Violated(violation)
                if !matches!(violation.kind, ViolationKind::RunTimeError(_)) =>
            {
                crate::explicit::violated(ViolationKind::NegationHolds, None)
            }
            Verdict::Violated(_) | Verdict::Unknown(_) => return Some(BySettings::Open),
        };
        let most: Beyond = match raised {
            Some(raised) => beyond
                .iter()
                .map(|b| if *b == raised { i64::MAX } else { *b })
                .collect(),
            None => beyond.clone(),
        };
        let text = self.settings_text(beyond, &most);
        match common {
            None => *common = Some((plain, text)),
            Some((known, _)) if known.name() == plain.name() => {}
            Some((known, where_known)) => {
                let word = |verdict: &Verdict| {
                    if verdict.name() == "holds" {
                        "true"
                    } else {
                        "false"
                    }
                };
                let (old, new) = (word(known), word(&plain));
                return Some(BySettings::Differ(format!(
                    "it depends on the setting: {old} with {where_known}, {new} with {text}"
                )));
            }
        }
        None
    }

    /// Can no path formula tell how often a state is repeated by ticks? Formulas inside of others must
    /// not speak of the step that led to a state, since repeated states are entered by ticks.
    fn is_insensitive(&self) -> bool {
        let meaning = |atom: AtomId| {
            self.model
                .parts()
                .atoms
                .get(atom.index())
                .map(|a| &a.meaning)
        };
        let is_step = |atom: AtomId| match meaning(atom) {
            Some(AtomMeaning::Taken(_) | AtomMeaning::TimerSet(_)) => true,
            Some(
                AtomMeaning::State(_)
                | AtomMeaning::Certainly(..)
                | AtomMeaning::Enabled(_)
                | AtomMeaning::Deadlock,
            )
            | None => false,
        };
        let ticks = ticks_of(self.model);
        let is_of_ticks = |atom: AtomId| {
            // shape: only propositions about steps name any.
            let Some(AtomMeaning::Taken(pattern)) = meaning(atom) else {
                return false;
            };
            let named = self.model.step_set(pattern);
            named.commands().iter().any(|id| ticks.contains(*id))
        };

        let quantified = self.formula.quantified();
        let inner = quantified.iter().flat_map(|q| q.path.atoms());
        let inner = inner.filter_map(CtlStar::as_quantified);
        let mut inner_atoms = inner.flat_map(|number| quantified[number].path.atoms());

        self.fairness.kind != FairnessKind::StrongGlobal
            && !self.model.is_just(self.fairness)
            && !self.assumed_atoms().into_iter().any(is_step)
            && !self.formula.atoms().into_iter().any(is_of_ticks)
            && !inner_atoms.any(is_step)
            && quantified
                .iter()
                .all(|q| is_stutter_sensitive(&q.path, &is_step) == Some(false))
    }

    fn assumed_atoms(&self) -> Vec<AtomId> {
        let mut atoms = Vec::new();
        let assumptions = self.model.parts().assumptions.iter();
        assumptions.for_each(|a| collect_atoms(a, &mut atoms));
        atoms
    }

    /// Is there, for each timer that is set so far, a value at which everything is at rest?
    fn rests(
        &self,
        concrete: &Model,
        (stretched, beyond): (bool, &Beyond),
        reach: i64,
        progress: &mut dyn Progress,
    ) -> bool {
        let Some(restless) = self.restless(concrete, progress) else {
            return false;
        };
        let mut timers = self
            .abstract_timers()
            .zip(beyond)
            .filter(|(_, b)| **b == reach);
        timers.all(|(timer, beyond)| {
            let threshold = timer.threshold.unwrap_or(1);
            // Numbers of the model that are taken as they are stay below the rest.
            let least = if stretched {
                threshold
            } else {
                threshold.max(timer.limit)
            };
            let mut values = least..=threshold + beyond;
            values.any(|value| {
                !restless.contains(&(timer.var, value)) && self.is_indifferent(timer, value)
            })
        })
    }

    /// Does no proposition tell this value of a timer from a greater one?
    fn is_indifferent(&self, timer: &Timer, value: i64) -> bool {
        let from_here = [Timer {
            threshold: Some(value),
            ..timer.clone()
        }];
        let mut atoms = [self.formula.atoms(), self.assumed_atoms()]
            .concat()
            .into_iter();
        atoms.all(
            |atom| match &self.model.parts().atoms[atom.index()].meaning {
                AtomMeaning::State(expr) | AtomMeaning::Certainly(expr, _) => {
                    !model::is_inexact(&from_here, expr)
                }
                AtomMeaning::Taken(_)
                | AtomMeaning::TimerSet(_)
                | AtomMeaning::Enabled(_)
                | AtomMeaning::Deadlock => true,
            },
        )
    }

    /// Timers with the values at which something else may happen, or time changes something else.
    fn restless(
        &self,
        concrete: &Model,
        progress: &mut dyn Progress,
    ) -> Option<BTreeSet<(VarId, i64)>> {
        let mut system = System::new(concrete).ok()?;
        let built = engine::state_graph(&mut system, &[], &[], &self.plan.budget, progress);
        let Ok((Built::Graph(graph), _)) = built else {
            return None;
        };
        let ticks = ticks_of(concrete);

        let mut restless = BTreeSet::new();
        for node in 0..graph.n_nodes() as u32 {
            let state = graph.state(&system, node);
            let targets = graph.targets(node);
            let only_ticks = targets.len() == 1 && {
                let commands = graph.trace_step(&system, node, 0).commands;
                commands.iter().any(|command| ticks.contains(*command))
            };

            for &(cell, _) in concrete.timer_cells() {
                let value = state.cells[cell];
                if value < 0 {
                    continue;
                }
                let mut expected = state.clone();
                expected.cells[cell] = value - 1;
                let rests = only_ticks && graph.state(&system, targets[0]) == expected;
                let var = concrete.cells()[cell].var;
                if !rests {
                    restless.insert((var, value));
                }

                // What a timer starts with is the same for all settings.
                if (node as usize) < graph.n_initial() {
                    restless.extend((0..=value).map(|value| (var, value)));
                }
            }
        }

        Some(restless)
    }

    /// The settings of all abstract timers between these.
    fn settings_text(&self, least: &Beyond, most: &Beyond) -> String {
        let timers = self.abstract_timers().zip(least.iter().zip(most));
        let text = timers.map(|(timer, (least, most))| {
            let threshold = timer.threshold.unwrap_or(1);
            let name = crate::timers::name_of(self.model, timer);
            match (least == most, *most == i64::MAX) {
                (true, _) => format!("{name} = {}", threshold + least),
                (false, true) => format!("{name} from {}", threshold + least),
                (false, false) => format!("{name} in {}..{}", threshold + least, threshold + most),
            }
        });
        text.collect::<Vec<_>>().join(", ")
    }
}

/// The commands by which time passes.
fn ticks_of(model: &Model) -> StepSet {
    let clock = model
        .parts()
        .clock
        .expect("a model with timers has a clock");
    model.step_set(&StepPattern {
        event: Some(clock.event),
        ..StepPattern::default()
    })
}

fn collect_atoms(assumption: &Assumption, atoms: &mut Vec<AtomId>) {
    match assumption {
        Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => atoms.push(*atom),
        Assumption::All(parts) | Assumption::Any(parts) => {
            parts.iter().for_each(|part| collect_atoms(part, atoms));
        }
    }
}

/// All ways of giving each of so many timers a number from zero up to a greatest one; something longer
/// than [`MAX_COMBINATIONS`] if there are more.
fn combinations(n_timers: usize, greatest: i64) -> Vec<Beyond> {
    let mut all = vec![Vec::new()];
    for _ in 0..n_timers {
        if all.len() > MAX_COMBINATIONS {
            break;
        }
        let longer = |beyond: &Beyond| -> Vec<Beyond> {
            let with = |more| [beyond.as_slice(), &[more]].concat();
            (0..=greatest).map(with).collect()
        };
        all = all.iter().flat_map(longer).collect();
    }
    all
}

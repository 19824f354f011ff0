//! Models with abstract timers: which runs count, whether time passes, and what a violation is worth.
//!
//! An abstract timer has more runs than any setting of it. "Holds" under t-fairness transfers to every
//! setting from the threshold on (D. Bošnački, N. Ioustinova, N. Sidorova, "Using fairness to make
//! abstractions work", CWI report SEN-E0313, 2003, theorem 1 and lemma 4), provided that time passes
//! infinitely often in every run. That is asked first; where it is not so, runs in which time stops
//! count beside t-fair ones (see [`Judge::judge_without_time`]). "Violated" does not transfer: the
//! model is searched again with concrete settings, and the outcome says what came of it.

use base::{Fairness, FairnessKind, Progress, Span};
use evidence::{Because, Explanation, UnknownReason, Verdict, Violation, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::{Atom, AtomMeaning, BinaryOp, Expr, Model, ModelParts, StepPattern, Timer};

use crate::{Bug, Outcome, Plan, check_explicitly, timer_quantifiers};

/// How abstract timers are kept from staying above their thresholds forever.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum TimerFairness {
    /// By a mark on steps: one weak condition for each timer.
    #[default]
    BuiltIn,
    /// By a premise of the formula: a timer that stays there forever is set infinitely often.
    WeakFormula,
    /// By a premise of the formula: if a timer can leave infinitely often, it leaves or is set
    /// infinitely often.
    StrongFormula,
    /// Not at all.
    None,
}

/// How far beyond the thresholds settings are tried at least, and at most.
const REACH: (i64, i64) = (3, FARTHEST);

/// No setting is tried that is farther beyond its threshold.
pub(crate) const FARTHEST: i64 = 16;

/// Checks a property of a model with abstract timers.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let ticking = time_passes(model, property);
    let time = check_explicitly(model, &ticking, fairness, plan, progress)?;
    if let Some(why) = unsupported(model, fairness) {
        let reason = UnknownReason::Unsupported(why.to_owned());
        return Ok(undecided(time, reason));
    }

    let zero_time = match &time.verdict {
        Verdict::Holds { .. } => None,
        Verdict::Violated(found) if found.kind == ViolationKind::FairLoop => Some(StoppedTime {
            run: Violation {
                kind: ViolationKind::ZeroTime,
                ..(**found).clone()
            },
            explanation: time.explanation.clone().stopping_time(),
        }),
        // A run-time error is met again by the search for the property itself.
        Verdict::Violated(_) => None,
        Verdict::Unknown(_) => return Ok(without_answer(time)),
    };

    if let Property::CtlStar(formula) = &property.property {
        let how = (plan, progress);
        let before = timer_quantifiers::Before { time, zero_time };
        let mut outcome = timer_quantifiers::check(model, property, formula, before, how)?;
        outcome.confirm(model, property)?;
        return Ok(outcome);
    }

    let is_ltl = matches!(property.property, Property::Ltl(_));
    let time_reduced = time.reduced;
    let judge = Judge {
        model,
        property,
        fairness,
        plan,
        t_fair_runs_suffice: zero_time.is_none() || is_ltl,
    };

    let mut outcome = match zero_time {
        None => {
            let outcome = check_abstractly(model, property, fairness, plan, progress)?;
            judge.judge(outcome, progress)?
        }
        Some(stopped) => judge.judge_without_time(stopped, progress)?,
    };

    outcome.other_reductions = outcome.other_reductions.or(time_reduced);
    Ok(outcome)
}

/// A run in which time stops, and its explanation.
pub(crate) struct StoppedTime {
    run: Violation,
    explanation: Explanation,
}

impl StoppedTime {
    /// Takes a verdict back because of this run, and shows it.
    pub(crate) fn leaves_undecided(self, outcome: &mut Outcome) {
        outcome.give_up(UnknownReason::ZeroTime(Box::new(self.run)));
        outcome.explain(self.explanation);
    }
}

/// No verdict, after the check that time passes came to this outcome.
pub(crate) fn undecided(mut zero_time: Outcome, reason: UnknownReason) -> Outcome {
    zero_time.give_up(reason);
    zero_time.warnings.clear();
    zero_time
}

/// Why a verdict about the abstract model would say nothing about the settings.
fn unsupported(model: &Model, fairness: Fairness) -> Option<&'static str> {
    if fairness.kind == FairnessKind::StrongGlobal {
        return Some(
            "strong global fairness to steps that only abstract timers have says nothing about \
             settings",
        );
    }
    let why = "justness is about every change of a timer, and abstract timers do not show all";
    model.is_just(fairness).then_some(why)
}

/// The property that there are infinitely many ticks in every run.
fn time_passes(model: &Model, property: &NamedProperty) -> NamedProperty {
    let clock = model
        .parts()
        .clock
        .expect("a model with timers has a clock");
    let tick = Ltl::atom(clock.tick);
    NamedProperty {
        name: property.name.clone(),
        text: "[]<> tick".to_owned(),
        property: Property::Ltl(Ltl::always(Ltl::eventually(tick))),
        fairness: None,
        span: property.span,
    }
}

/// What is said if it is not known whether time passes.
fn without_answer(mut outcome: Outcome) -> Outcome {
    outcome.warnings.clear();
    let why = "this is about `[]<> tick`, which is asked before abstract timers decide anything";
    outcome.remarks.push(why.to_owned());
    outcome
}

/// From some point on, there are no ticks any more.
pub(crate) fn time_stops(model: &Model) -> Ltl {
    let clock = model
        .parts()
        .clock
        .expect("a model with timers has a clock");
    Ltl::eventually(Ltl::always(Ltl::not(Ltl::atom(clock.tick))))
}

/// The property on the abstract model, with t-fairness as the plan demands.
fn check_abstractly(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let is_strong = plan.timer_fairness == TimerFairness::StrongFormula;
    match (plan.timer_fairness, &property.property) {
        (TimerFairness::WeakFormula | TimerFairness::StrongFormula, Property::Ltl(formula)) => {
            let (extended, premise) = with_premise(model, is_strong);
            let implied = NamedProperty {
                property: Property::Ltl(Ltl::implies(premise, formula.clone())),
                ..property.clone()
            };
            check_explicitly(&extended, &implied, fairness, plan, progress)
        }
        (TimerFairness::BuiltIn, _) => {
            let timers = true;
            let fairness = Fairness { timers, ..fairness };
            check_explicitly(model, property, fairness, plan, progress)
        }
        // Finite runs are extended to fair ones, so t-fairness does not matter to the others.
        _ => check_explicitly(model, property, fairness, plan, progress),
    }
}

/// The model with further propositions, and t-fairness as a formula over them.
pub(crate) fn with_premise(model: &Model, is_strong: bool) -> (Model, Ltl) {
    let mut parts = model.parts().clone();
    let clock = parts.clock.expect("a model with timers has a clock");
    let can_tick = StepPattern {
        event: Some(clock.event),
        ..StepPattern::default()
    };
    let can_tick = add_atom(&mut parts, "enabled(tick)", AtomMeaning::Enabled(can_tick));
    let infinitely = |inner: Ltl| Ltl::always(Ltl::eventually(inner));
    let mut premises = Vec::new();

    for (cell, threshold) in model.abstract_timers() {
        let name = &model.cells()[cell].name;
        let read = Expr::Read(model.place_of_cell(cell));
        let equals = |value: i64| {
            let read = read.clone();
            AtomMeaning::State(Expr::binary(BinaryOp::Eq, read, Expr::Int(value)))
        };
        let waits = add_atom(
            &mut parts,
            &format!("{name} >= {threshold}"),
            equals(threshold),
        );
        let leaves = format!("{name} == {}", threshold - 1);
        let leaves = add_atom(&mut parts, &leaves, equals(threshold - 1));
        let set = AtomMeaning::TimerSet(cell);
        let set = add_atom(&mut parts, &format!("set {name}"), set);
        premises.push(if is_strong {
            let can_leave = infinitely(Ltl::and([waits, can_tick.clone()]));
            let left = infinitely(Ltl::and([Ltl::atom(clock.tick), leaves]));
            Ltl::implies(can_leave, Ltl::or([left, infinitely(set)]))
        } else {
            // A set to a smaller value may count: the timer then stays there no longer.
            let stays = Ltl::eventually(Ltl::always(waits));
            Ltl::implies(stays, infinitely(set))
        });
    }

    let extended = parts
        .finish()
        .expect("propositions can be added to a model");
    (extended, Ltl::and(premises))
}

fn add_atom(parts: &mut ModelParts, name: &str, meaning: AtomMeaning) -> Ltl {
    parts.atoms.push(Atom {
        name: name.to_owned(),
        meaning,
        span: Span::nowhere(),
    });
    Ltl::atom(base::AtomId::new(parts.atoms.len() - 1))
}

/// Does the model itself set an abstract timer to a number from the threshold on?
pub(crate) fn sets_beyond(model: &Model) -> bool {
    let mut timers = model.parts().timers.iter();
    timers.any(|timer| timer.threshold.is_some_and(|k| timer.limit >= k))
}

/// The name of a timer, after that of the processes that have one each.
pub(crate) fn name_of(model: &Model, timer: &Timer) -> String {
    let variable = &model.parts().vars[timer.var.index()];
    let owner = variable.owner.map_or(String::new(), |process| {
        format!("{}.", model.parts().processes[process.index()].name)
    });
    format!("{owner}{}", variable.name)
}

/// Finds out what an abstract verdict is worth.
struct Judge<'a> {
    model: &'a Model,
    property: &'a NamedProperty,
    fairness: Fairness,
    plan: &'a Plan,
    /// Is every run of a setting t-fair, or known to satisfy the property?
    t_fair_runs_suffice: bool,
}

impl Judge<'_> {
    /// Decides although time stops in a run.
    ///
    /// A run of a setting is, seen abstractly, t-fair or a zero-time run: if ticks never end, a timer
    /// that is not set again comes down. So a property of runs that both kinds of abstract runs
    /// satisfy is one of every setting; what concerns reachable states only is asked without
    /// t-fairness, because a state may have no t-fair run where time stops.
    fn judge_without_time(
        &self,
        stopped: StoppedTime,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Bug> {
        let Self {
            model,
            property,
            fairness,
            plan,
            ..
        } = *self;

        let Property::Ltl(formula) = &property.property else {
            let outcome = check_explicitly(model, property, fairness, plan, progress)?;
            return self.judge(outcome, progress);
        };

        // The runs that t-fairness would leave out.
        let timeless = NamedProperty {
            property: Property::Ltl(Ltl::implies(time_stops(model), formula.clone())),
            ..property.clone()
        };
        let mut outcome = check_explicitly(model, &timeless, fairness, plan, progress)?;

        match &outcome.verdict {
            Verdict::Unknown(_) => return Ok(outcome),
            Verdict::Holds { .. } => {
                let outcome = check_abstractly(model, property, fairness, plan, progress)?;
                let mut outcome = self.judge(outcome, progress)?;
                if outcome.holds() {
                    let remark = "time stops in some runs; they satisfy the property, too";
                    outcome.remarks.push(remark.to_owned());
                }
                return Ok(outcome);
            }
            Verdict::Violated(_) => {}
        }

        outcome.warnings.clear();
        if let Some(setting) = self.find_setting(Outcome::is_violated, progress)? {
            let remark = format!("concrete: the property fails with {setting}");
            outcome.remarks.push(remark);
            let is_loop = matches!(&outcome.verdict, Verdict::Violated(v) if v.kind == ViolationKind::FairLoop);
            if is_loop {
                let remark = "time stops in this run, which is an error in the model";
                outcome.remarks.push(remark.to_owned());
            }
            return Ok(outcome);
        }

        // Do only runs in which time stops stand in the way?
        let fair = check_abstractly(model, property, fairness, plan, progress)?;
        let remark = if fair.holds() {
            stopped.leaves_undecided(&mut outcome);
            "time stops in this run: abstract timers prove the property of all others".to_owned()
        } else {
            outcome.give_up(UnknownReason::AbstractionTooCoarse);
            self.tried("the violation of the abstract model was not found")
        };

        outcome.remarks.push(remark);
        Ok(outcome)
    }

    fn judge(&self, mut outcome: Outcome, progress: &mut dyn Progress) -> Result<Outcome, Bug> {
        match &outcome.verdict {
            Verdict::Holds { witness: Some(_) } => {
                match self.find_setting(Outcome::holds, progress)? {
                    Some(setting) => outcome
                        .remarks
                        .push(format!("concrete: the same holds with {setting}")),
                    None => {
                        outcome.give_up(UnknownReason::AbstractionTooCoarse);
                        outcome
                            .remarks
                            .push(self.tried("no run of this kind was found"));
                    }
                }
            }
            Verdict::Violated(violation) if violation.kind != ViolationKind::Unreachable => {
                let remark = match self.find_setting(Outcome::is_violated, progress)? {
                    Some(setting) => format!("concrete: the property fails with {setting}"),
                    None => match self.spurious(violation, progress)? {
                        Some(why) => why,
                        None => {
                            outcome.give_up(UnknownReason::AbstractionTooCoarse);
                            self.tried("the violation of the abstract model was not found")
                        }
                    },
                };
                outcome.remarks.push(remark);
            }
            _ => {}
        }

        Ok(outcome)
    }

    fn tried(&self, what: &str) -> String {
        format!(
            "not decided: {what} with any of the settings that were tried ({})",
            self.settings_text((0, self.reach()))
        )
    }

    /// The settings with which the concrete model has the verdict: the same for all timers first, then
    /// any mixture.
    fn find_setting(
        &self,
        has_verdict: fn(&Outcome) -> bool,
        progress: &mut dyn Progress,
    ) -> Result<Option<String>, Bug> {
        let uniform = (0..=self.reach()).map(|beyond| (beyond, beyond));
        let ranges: Vec<(i64, i64)> = uniform.chain([(0, self.reach())]).collect();
        // First with the settings that the model has itself, then with others from the thresholds on.
        let own = ranges.iter().map(|range| (*range, false));
        let others = ranges.iter().map(|range| (*range, true));
        let others = others.filter(|_| sets_beyond(self.model));

        for (range, stretched) in own.chain(others) {
            let any = |timer: &Timer| {
                let threshold = timer.threshold.unwrap_or(0);
                (threshold + range.0, threshold + range.1)
            };
            let Ok(concrete) = self.model.with_settings(stretched, any) else {
                continue;
            };
            let outcome =
                check_explicitly(&concrete, self.property, self.fairness, self.plan, progress)?;
            if has_verdict(&outcome) {
                return Ok(Some(self.settings_text(range)));
            }
        }

        Ok(None)
    }

    /// How far beyond the thresholds settings are tried: beyond what other timers are set to, if that is
    /// not far.
    fn reach(&self) -> i64 {
        let timers = &self.model.parts().timers;
        let least = timers.iter().filter_map(|timer| timer.threshold).min();
        let most = timers.iter().map(|timer| timer.limit).max();
        let beyond = most.unwrap_or(0) + 1 - least.unwrap_or(1);
        beyond.clamp(REACH.0, REACH.1)
    }

    /// The settings of all abstract timers, so far beyond their thresholds.
    fn settings_text(&self, (least, most): (i64, i64)) -> String {
        let timers = self.model.parts().timers.iter();
        let text = timers.filter_map(|timer| {
            let threshold = timer.threshold?;
            let name = name_of(self.model, timer);
            let values = if least == most {
                format!("= {}", threshold + least)
            } else {
                format!("in {}..{}", threshold + least, threshold + most)
            };
            Some(format!("{name} {values}"))
        });
        text.collect::<Vec<_>>().join(", ")
    }

    /// Why a violation is one of no setting, if that is so: t-fair runs satisfy the property.
    fn spurious(
        &self,
        violation: &Violation,
        progress: &mut dyn Progress,
    ) -> Result<Option<String>, Bug> {
        if !self.t_fair_runs_suffice {
            return Ok(None);
        }
        let timers = true;
        let fairness = Fairness {
            timers,
            ..self.fairness
        };
        let fair = check_explicitly(self.model, self.property, fairness, self.plan, progress)?;
        if !fair.holds() {
            return Ok(None);
        }
        let only_timers = Fairness {
            timers,
            ..Fairness::default()
        };
        let trace = violation.trace.as_ref();
        let judged =
            trace.map(|trace| evidence::explain_fairness(self.model, only_timers, &[], trace));
        let broken = judged.and_then(Result::ok).unwrap_or_default();
        let broken = broken
            .into_iter()
            .filter(|entry| entry.because == Because::Broken);
        let name = |text: &str| {
            let inner = text.strip_prefix("tf(").and_then(|t| t.strip_suffix(')'));
            inner.unwrap_or(text).to_owned()
        };
        let names: Vec<String> = broken.map(|entry| name(&entry.condition)).collect();
        Ok(Some(format!(
            "spurious: no setting has such a run, for in the loop a timer never expires ({}); every setting from the thresholds on satisfies the property",
            names.join(", ")
        )))
    }
}

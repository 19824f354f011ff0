//! Runs that never return to a state: a stem, and rounds that are alike but for their numbers.
//!
//! That a loop with growing data goes on forever is proved by the route that claims it. What can be
//! seen without that proof is judged here, on the reference semantics: the rounds that are shown
//! happen, and so do [`N_ROUNDS`] altogether; in all of them the same steps are taken, the same
//! atoms hold at the same positions, and every condition of fairness is met. If that is so forever,
//! the run spells the lasso of one round; on that lasso the property is evaluated.

use base::{Fairness, FairnessKind};
use model::{Assumption, ErrorKind, Model, State, Successor};
use rustc_hash::FxHashSet;

use crate::explain::{condition_notes, judge_assumptions};
use crate::loop_judge::{bad_runs, unbroken};
use crate::loop_usage::LoopUsage;
use crate::replay::Replay;
use crate::word::{Word, assumption_atoms};
use crate::{Because, Invalid, Judge, Justification, Trace};

/// How many rounds are looked at, whatever is shown.
const N_ROUNDS: usize = 100;

/// Longer runs are not looked at.
const MAX_STEPS: usize = 20_000;

/// What is claimed of a finite run: that its last rounds are repeated forever, with other numbers.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Endless {
    /// The state at which the first round starts.
    pub start: usize,
    /// How many steps a round has.
    pub length: usize,
    /// The recurrent set: what holds at the start of every round. It makes a round possible, and
    /// a round keeps it.
    pub recurrent: Vec<String>,
    /// What a round changes, and what it chooses.
    pub changes: Vec<String>,
}

/// A run that has been found to consist of rounds which are alike.
struct Alike<'a> {
    replay: Replay<'a>,
    endless: &'a Endless,
}

/// Is the run one that violates the property if it goes on as it does? Why its rounds are fair
/// then; positions are those of the first round.
pub(crate) fn judge_endless(
    judge: &Judge<'_>,
    trace: &Trace,
    endless: &Endless,
) -> Result<Vec<Justification>, Invalid> {
    // What is shown is the beginning of the longer run, so one replay is enough for both.
    let long = extended(judge.model, trace, endless)?;
    let alike = Alike::new(judge, &long, endless)?;
    let bad = bad_runs(judge.property)?;
    let word = alike.word(bad.atoms())?;
    if !bad.contains(&word) {
        return Err(Invalid::PropertyHolds);
    }

    let conditions = unbroken(alike.judge(judge.fairness, judge.assumptions)?)?;
    if judge.fairness.kind == FairnessKind::StrongGlobal {
        alike.check_no_return()?;
    }
    Ok(conditions)
}

impl<'a> Alike<'a> {
    fn new(judge: &Judge<'a>, trace: &'a Trace, endless: &'a Endless) -> Result<Self, Invalid> {
        // Fairness is about the rounds, so all of their steps are looked at.
        let replay = judge.replay_keeping(trace, endless.start..trace.states.len())?;
        let label = |at: usize| {
            let step = replay.label(at);
            (&step.actions, &step.movers)
        };
        let later = endless.start + endless.length..trace.steps.len();
        let mut later = later.filter(|at| label(*at) != label(at - endless.length));
        match later.next() {
            Some(at) => Err(Invalid::RoundsDiffer { at }),
            None => Ok(Self { replay, endless }),
        }
    }

    /// The word that the run spells if it goes on like this.
    fn word(&self, atoms: Vec<base::AtomId>) -> Result<Word, Invalid> {
        let Endless { start, length, .. } = *self.endless;
        let word = Word::new(&self.replay, atoms)?;
        // The first round may be entered by another step than the later ones.
        let mut later = start + length + 1..self.replay.trace.states.len();
        match later.find(|at| !word.is_same(*at, at - length)) {
            Some(at) => Err(Invalid::RoundsDiffer { at }),
            None => Ok(word.repeating(start, length)),
        }
    }

    /// The conditions, each with the worst that some round says about it.
    fn judge(
        &self,
        fairness: Fairness,
        assumptions: &[Assumption],
    ) -> Result<Vec<Justification>, Invalid> {
        let Endless { start, length, .. } = *self.endless;

        let n_rounds = (self.replay.trace.steps.len() - start) / length;
        let mut judged: Vec<Justification> = Vec::new();

        for round in 0..n_rounds {
            let first = start + round * length;
            let usage = LoopUsage::over(&self.replay, first..first + length, fairness);
            let notes = condition_notes(self.replay.model, fairness, &usage);

            // The worst counts: a condition that any round breaks is broken.
            if round == 0 {
                judged = notes;
                continue;
            }
            for (entry, note) in judged.iter_mut().zip(notes) {
                if note.because == Because::Broken {
                    entry.because = Because::Broken;
                }
            }
        }

        let word = self.word(assumptions.iter().flat_map(assumption_atoms).collect())?;
        judged.extend(judge_assumptions(self.replay.model, &word, assumptions));

        Ok(judged)
    }

    /// Strong global fairness asks nothing of a run that visits every state finitely often.
    fn check_no_return(&self) -> Result<(), Invalid> {
        let mut seen = FxHashSet::default();
        let first = self.endless.start;
        let mut positions = first..self.replay.trace.states.len();
        match positions.find(|at| !seen.insert(self.replay.node(*at))) {
            Some(at) => Err(Invalid::StateReturns { at }),
            None => Ok(()),
        }
    }
}

fn check_shape(trace: &Trace, endless: &Endless) -> Result<(), Invalid> {
    if trace.loop_start.is_some() {
        return Err(Invalid::UnexpectedLoop);
    }
    let two_rounds = endless.length.checked_mul(2);
    let needed = two_rounds.and_then(|steps| steps.checked_add(endless.start));
    match needed {
        Some(needed) if endless.length > 0 && trace.steps.len() >= needed => Ok(()),
        _ => Err(Invalid::Malformed(
            "it has fewer than two rounds".to_owned(),
        )),
    }
}

/// The run with as many rounds as are looked at. Where 64 bits do not suffice, it ends early.
fn extended(model: &Model, trace: &Trace, endless: &Endless) -> Result<Trace, Invalid> {
    check_shape(trace, endless)?;
    let mut long = trace.clone();
    let wanted = endless.length.saturating_mul(N_ROUNDS).min(MAX_STEPS);
    while long.steps.len() < endless.start + wanted {
        let at = long.states.len() - 1;
        let steps = match model.steps_or_idle(&long.states[at]) {
            Ok(steps) => steps,
            Err(error) if error.kind == ErrorKind::Overflow => break,
            Err(error) => return Err(Invalid::Error { at, error }),
        };
        let next = follow(&long, &steps, endless.length).ok_or(Invalid::RoundsDiffer { at })?;
        let target = next.target.clone();
        long.steps.push(long.steps[at - endless.length].clone());
        long.states.push(target);
    }
    Ok(long)
}

/// The step that was taken one round earlier. If it leads to several states, the one in which
/// numbers have changed by as much as they did one round earlier.
fn follow<'s>(trace: &Trace, steps: &'s [Successor], length: usize) -> Option<&'s Successor> {
    let at = trace.states.len() - 1;
    let before = &trace.steps[at - length];
    let is_same = |step: &&Successor| {
        let has = |command| step.commands.contains(command);
        step.actions[..] == before.actions[..]
            && step.movers[..] == before.movers[..]
            && before.commands.iter().all(has)
    };

    let same: Vec<&Successor> = steps.iter().filter(is_same).collect();
    match same.as_slice() {
        [single] => Some(*single),
        several => {
            let last = &trace.states[at + 1 - length];
            let earlier = (at + 1).checked_sub(2 * length);
            let expected = earlier.map(|earlier| extrapolated(&trace.states[earlier], last));
            let is_expected = |step: &&&Successor| {
                expected
                    .as_ref()
                    .is_some_and(|cells| step.target.cells == *cells)
            };
            several.iter().find(is_expected).copied()
        }
    }
}

fn extrapolated(earlier: &State, last: &State) -> Vec<i64> {
    let pairs = earlier.cells.iter().zip(&last.cells);
    pairs
        .map(|(earlier, last)| last.wrapping_add(last.wrapping_sub(*earlier)))
        .collect()
}

//! Questions about reachable states: invariants, reachability, deadlocks, run-time errors.

use abstraction::predicate::{AbstractGraph, AbstractPath, Abstraction, Goal, Halt, Refined};
use evidence::{Trace, UnknownReason, Verdict, ViolationKind};
use logic::Ltl;
use model::Model;
use omega::Prop;
use smt::Term;

use super::concrete::Replayed;
use super::invariant::invariant_of;
use super::refinement::{Decision, Found, Round};
use super::setup::{Check, Letters, proposition};
use super::{outcome, unsupported};
use crate::Outcome;

/// After so many rounds, weakest preconditions are not enough.
pub(super) const PATIENT_ROUNDS: usize = 2;

/// After so many rounds, facts about all reachable states are not enough either.
const IMPATIENT_ROUNDS: usize = 5;

impl Check<'_> {
    pub(super) fn invariant(&self, formula: &Ltl) -> Outcome {
        self.search(Sought::Bad(formula.negate()))
    }

    pub(super) fn reachable(&self, formula: &Ltl) -> Outcome {
        self.search(Sought::Wanted(formula.clone()))
    }

    pub(super) fn deadlock_free(&self) -> Outcome {
        self.search(Sought::Deadlock)
    }

    fn search(&self, sought: Sought) -> Outcome {
        let prop = match sought.formula().map(proposition) {
            Some(None) => return self.unsupported("the formula is too large"),
            Some(Some(prop)) => prop,
            None => Prop::Const(false),
        };
        let mut abstraction = self.abstraction();
        let mut graph = AbstractGraph::default();
        let (decided, n_refinements) = self.refine(|round| {
            let Some(letters) = Letters::new(self, &abstraction.domain) else {
                let why = "a proposition is not expressible".to_owned();
                return Round::undecided(UnknownReason::Unsupported(why));
            };
            let goal = Goal {
                is_reached: &|state, transition| {
                    let letter = |atom| letters.holds(atom, state, transition);
                    prop.holds(&letter)
                },
                deadlock: matches!(sought, Sought::Deadlock),
                complete: false,
            };

            let (explored, halt) = abstraction.explore(&goal, &self.plan.budget);
            graph = explored;
            self.judge(&sought, &prop, halt, &mut abstraction, round)
        });

        let mut outcome = self.outcome(decided);
        self.describe(&mut outcome, &abstraction, &graph, n_refinements, &[]);
        if sought.is_absent(&outcome.verdict) {
            let invariant = invariant_of(abstraction.program, &abstraction.domain, &graph);
            outcome.proof = invariant.map(certify::Proof::Invariant);
        }
        outcome
    }

    pub(super) fn unsupported(&self, why: &str) -> Outcome {
        unsupported(self.fairness, why)
    }

    /// The outcome with this verdict, which the run shows.
    pub(super) fn outcome(&self, (verdict, found): Decision) -> Outcome {
        let mut outcome = outcome(self.fairness, verdict);
        if let Some(found) = found {
            outcome.sample = Some(found.sample);
            outcome.explain(found.explanation);
        }
        outcome
    }

    fn judge(
        &self,
        sought: &Sought,
        prop: &Prop,
        halt: Option<Halt>,
        abstraction: &mut Abstraction<'_>,
        round: usize,
    ) -> Round {
        match halt {
            None => Round::Decided(sought.absent(), None),
            Some(Halt::Goal(path)) => {
                let end = match sought {
                    Sought::Deadlock => abstraction.deadlock_condition(),
                    _ => self.term_of(prop, path.transitions.last().copied()),
                };
                self.judge_path(&path, &end, &sought.kind(), abstraction, round)
            }
            Some(other) => self.judge_halt(other, abstraction, round),
        }
    }

    /// What to make of an exploration that ended before the goal was reached.
    pub(super) fn judge_halt(
        &self,
        halt: Halt,
        abstraction: &mut Abstraction<'_>,
        round: usize,
    ) -> Round {
        match halt {
            Halt::Goal(_) => Round::undecided(UnknownReason::AbstractionTooCoarse),
            Halt::Failure(path, failure) => {
                let end = abstraction.failure(failure).condition.clone();
                self.judge_path(&path, &end, &GoalMeaning::Error, abstraction, round)
            }
            Halt::Stopped(reason) => Round::undecided(UnknownReason::Stopped(reason)),
            Halt::GaveUp => Round::undecided(UnknownReason::SolverGaveUp),
        }
    }

    /// Replays a path: a run, new predicates, or nothing.
    fn judge_path(
        &self,
        path: &AbstractPath,
        end: &Term,
        claim: &GoalMeaning,
        abstraction: &mut Abstraction<'_>,
        round: usize,
    ) -> Round {
        self.remember(abstraction, path, None);
        match self.replay(abstraction, &path.transitions, &[], end) {
            Replayed::Real(found) => {
                let (trace, sample) = *found;
                match self.claimed(claim, trace, sample) {
                    Some((verdict, found)) => Round::Decided(verdict, Some(found)),
                    None => {
                        let reason = UnknownReason::AbstractionTooCoarse;
                        Round::undecided(reason)
                    }
                }
            }
            Replayed::Undecided => Round::undecided(UnknownReason::SolverGaveUp),
            Replayed::Spurious => self.learn(path, end, abstraction, round),
        }
    }

    /// Adds what refutes a path that cannot happen.
    pub(super) fn learn(
        &self,
        path: &AbstractPath,
        end: &Term,
        abstraction: &mut Abstraction<'_>,
        round: usize,
    ) -> Round {
        let n_before = abstraction.domain.predicates.len();
        let has_more = (round > PATIENT_ROUNDS && abstraction.find_facts())
            || (round > IMPATIENT_ROUNDS && abstraction.find_relations(round) > 0);
        if has_more {
            abstraction.refine(n_before);
            return Round::Refined;
        }

        // What assignments establish is tried once, then distances, then what parameters relate, then
        // weakest preconditions.
        abstraction.domain.add_assignments(abstraction.program);
        if abstraction.domain.predicates.len() == n_before {
            abstraction.learn_distances(path, round);
        }
        // Preconditions that only count a parameter down never end.
        if abstraction.domain.predicates.len() == n_before && round > PATIENT_ROUNDS {
            abstraction.learn_eliminations(round);
        }
        if abstraction.domain.predicates.len() > n_before {
            abstraction.refine(n_before);
            return Round::Refined;
        }
        let refined = abstraction.learn(path, end, round);
        let has_more = refined == Refined::Nothing
            && (abstraction.find_facts() || abstraction.find_relations(round) > 0);
        if has_more {
            abstraction.refine(n_before);
            return Round::Refined;
        }
        self.learned(refined, n_before, abstraction)
    }

    /// Goes on with what was learned, if anything.
    pub(super) fn learned(
        &self,
        refined: Refined,
        n_before: usize,
        abstraction: &mut Abstraction<'_>,
    ) -> Round {
        match refined {
            Refined::Added(_) => {
                abstraction.refine(n_before);
                Round::Refined
            }
            Refined::Nothing => {
                let reason = match abstraction.questions.gave_up() {
                    Some(_) => UnknownReason::SolverGaveUp,
                    None => UnknownReason::AbstractionTooCoarse,
                };
                Round::undecided(reason)
            }
        }
    }

    fn claimed(
        &self,
        claim: &GoalMeaning,
        trace: Trace,
        sample: Model,
    ) -> Option<(Verdict, Box<Found>)> {
        match claim {
            GoalMeaning::Violation(kind) => self.confirmed(kind.clone(), trace, sample),
            GoalMeaning::Witness => {
                let explanation = self.judge_of(&sample).witness(&trace).ok()?;
                let found = Found {
                    sample: Box::new(sample),
                    explanation,
                };
                let witness = Some(trace);
                Some((Verdict::Holds { witness }, Box::new(found)))
            }
            GoalMeaning::Error => {
                let error = self.error_at_end(&sample, &trace)?;
                self.confirmed(ViolationKind::RunTimeError(error), trace, sample)
            }
        }
    }
}

/// What a run to the goal shows.
pub(super) enum GoalMeaning {
    Violation(ViolationKind),
    Witness,
    Error,
}

/// What a search looks for.
enum Sought {
    /// A state that breaks the property.
    Bad(Ltl),
    /// A state that the property demands.
    Wanted(Ltl),
    /// A state without steps.
    Deadlock,
}

impl Sought {
    fn formula(&self) -> Option<&Ltl> {
        match self {
            Self::Bad(formula) | Self::Wanted(formula) => Some(formula),
            Self::Deadlock => None,
        }
    }

    fn kind(&self) -> GoalMeaning {
        match self {
            Self::Bad(_) => GoalMeaning::Violation(ViolationKind::BadPrefix),
            Self::Wanted(_) => GoalMeaning::Witness,
            Self::Deadlock => GoalMeaning::Violation(ViolationKind::Deadlock),
        }
    }

    /// Does the verdict say that there is no such state?
    fn is_absent(&self, verdict: &Verdict) -> bool {
        match (self, verdict) {
            (Self::Bad(_) | Self::Deadlock, Verdict::Holds { .. }) => true,
            (Self::Wanted(_), Verdict::Violated(violation)) => violation.trace.is_none(),
            _ => false,
        }
    }

    /// What it means that there is no such state.
    fn absent(&self) -> Verdict {
        match self {
            Self::Bad(_) | Self::Deadlock => Verdict::Holds { witness: None },
            Self::Wanted(_) => crate::explicit::violated(ViolationKind::Unreachable, None),
        }
    }
}

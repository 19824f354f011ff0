//! The symbolic route: fixpoints over sets of states. Exact in both directions.

use base::{AtomId, Budget, Fairness, FairnessKind, Progress, Route};
use engine::Stats;
use evidence::{UnknownReason, Verdict, Violation, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::Model;
use num_bigint::BigUint;
use omega::Automaton;
use symbolic::{Explored, Found, Goal, Halt, Query};

use crate::explicit::{
    Obstacle, error_at_end, initial_error, proposition, violated, with_assumed_atoms,
};
use crate::fairness::{assuming, is_machine_closed};
use crate::{Outcome, Plan, reduction};

/// How large the stack of the thread is that computes with decision diagrams: operations on them go
/// as deep as states have bits.
const STACK_BYTES: usize = 256 << 20;

/// What is said about abstract timers.
pub(crate) const NO_TIMERS: &str = "abstract timers are not treated by the symbolic route; use the \
    route `explicit`";

/// Decides a property by sets of states.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    budget: &Budget,
) -> Outcome {
    let symbolic = Symbolic {
        model,
        fairness,
        budget,
    };
    // Where there is only one thread, the caller's stack has to do.
    let decided = std::thread::scope(|scope| {
        let decide = || symbolic.decide(&property.property);
        let builder = std::thread::Builder::new().stack_size(STACK_BYTES);
        match builder.spawn_scoped(scope, decide) {
            Ok(thread) => thread.join().unwrap_or_else(|panic| {
                std::panic::resume_unwind(panic);
            }),
            Err(_) => symbolic.decide(&property.property),
        }
    });
    match decided {
        Ok(outcome) => outcome,
        Err(Obstacle::Stopped(reason)) => {
            Outcome::unknown(Route::Symbolic, fairness, UnknownReason::Stopped(reason))
        }
        Err(obstacle) => {
            let reason = UnknownReason::Unsupported(obstacle.to_string());
            Outcome::unknown(Route::Symbolic, fairness, reason)
        }
    }
}

/// Decides a property by visiting states and by sets of states at once. The first verdict counts.
pub(crate) fn race(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Outcome {
    // What both may use together is what one of them may.
    let share = |budget: Budget| match budget.max_memory() {
        Some(bytes) => budget.with_max_memory(bytes / 2),
        None => budget,
    };
    let (by_states, by_sets) = (share(plan.budget.part()), share(plan.budget.part()));
    let (stop_states, stop_sets) = (by_states.stopper(), by_sets.stopper());
    let plan = Plan {
        budget: by_states,
        ..plan.clone()
    };

    std::thread::scope(|scope| {
        let sets = scope.spawn(|| {
            let outcome = check(model, property, fairness, &by_sets);
            if is_decided(&outcome) {
                stop_states.interrupt();
            }
            outcome
        });
        let states = reduction::check(model, property, fairness, &plan, progress);
        if is_decided(&states) {
            stop_sets.interrupt();
            return states;
        }
        let sets = sets
            .join()
            .unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        if is_decided(&sets) { sets } else { states }
    })
}

fn is_decided(outcome: &Outcome) -> bool {
    !matches!(outcome.verdict, Verdict::Unknown(_))
}

/// A model under a fairness.
struct Symbolic<'a> {
    model: &'a Model,
    fairness: Fairness,
    budget: &'a Budget,
}

impl From<Halt> for Obstacle {
    fn from(halt: Halt) -> Self {
        match halt {
            Halt::Stopped(reason) => Self::Stopped(reason),
            Halt::Unsupported(why) => Self::Unsupported(why),
        }
    }
}

impl Symbolic<'_> {
    fn decide(&self, property: &Property) -> Result<Outcome, Obstacle> {
        let conditions = self.model.fairness_conditions(self.fairness);
        match property {
            Property::Ltl(formula) => self.decide_ltl(formula),
            Property::Never(claim) => self.refute(claim.automaton(), &claim.atoms()),
            Property::Invariant(formula) if is_machine_closed(self.model, &conditions) => {
                let goal = Goal::Satisfies(proposition(&formula.negate())?);
                self.decide_by_exploring(&formula.atoms(), &goal, ViolationKind::BadPrefix)
            }
            // As in the explicit route: reaching a bad state proves nothing if no fair run goes on
            // from there.
            Property::Invariant(formula) => self.decide_ltl(&Ltl::always(formula.clone())),
            Property::DeadlockFree => {
                self.decide_by_exploring(&[], &Goal::Deadlock, ViolationKind::Deadlock)
            }
            Property::Reachable(formula) => self.decide_reachable(formula),
            Property::CtlStar(_) => Err(Obstacle::Unsupported(
                "formulas with path quantifiers are not treated by the symbolic route; use the \
                 route `explicit`"
                    .to_owned(),
            )),
            Property::MayMust(_) => Err(Obstacle::Unsupported(
                "a may/must system has no states to be visited".to_owned(),
            )),
        }
    }

    fn decide_by_exploring(
        &self,
        atoms: &[AtomId],
        goal: &Goal,
        kind: ViolationKind,
    ) -> Result<Outcome, Obstacle> {
        let atoms = sorted(atoms);
        let explored = symbolic::explore(self.model, goal, &atoms, self.budget)?;
        let verdict = match &explored.found {
            Found::Nothing => Verdict::Holds { witness: None },
            Found::Run(trace) | Found::Closed(trace, _) => violated(kind, Some(trace.clone())),
            Found::Failure(_) => self.failure(&atoms, &explored),
        };
        Ok(self.outcome(verdict, &explored))
    }

    fn decide_reachable(&self, formula: &Ltl) -> Result<Outcome, Obstacle> {
        let atoms = sorted(&formula.atoms());
        let goal = Goal::Satisfies(proposition(formula)?);
        let explored = symbolic::explore(self.model, &goal, &atoms, self.budget)?;
        let verdict = match &explored.found {
            Found::Nothing => violated(ViolationKind::Unreachable, None),
            Found::Run(trace) | Found::Closed(trace, _) => Verdict::Holds {
                witness: Some(trace.clone()),
            },
            Found::Failure(_) => self.failure(&atoms, &explored),
        };
        Ok(self.outcome(verdict, &explored))
    }

    /// A property holds iff no fair run satisfies its negation.
    fn decide_ltl(&self, formula: &Ltl) -> Result<Outcome, Obstacle> {
        let negation = logic::translate(&Ltl::not(formula.clone()))
            .map_err(|error| Obstacle::Unsupported(error.to_string()))?;
        self.refute(negation, &formula.atoms())
    }

    /// The property holds iff no fair run is accepted by the automaton.
    fn refute(&self, bad: Automaton, atoms: &[AtomId]) -> Result<Outcome, Obstacle> {
        let automaton = assuming(bad, &self.model.parts().assumptions);
        let atoms = with_assumed_atoms(self.model, atoms);
        let conditions = self.model.fairness_conditions(self.fairness);
        let query = Query {
            automaton: &automaton,
            conditions: &conditions,
            strong_global: self.fairness.kind == FairnessKind::StrongGlobal,
            atoms: &atoms,
        };
        let explored = symbolic::find_run(self.model, &query, self.budget)?;
        let verdict = match &explored.found {
            Found::Nothing => Verdict::Holds { witness: None },
            Found::Run(trace) => Verdict::Violated(Box::new(Violation {
                kind: ViolationKind::FairLoop,
                trace: Some(trace.clone()),
                covering: None,
                component: None,
            })),
            Found::Closed(trace, component) => Verdict::Violated(Box::new(Violation {
                kind: ViolationKind::FairLoop,
                trace: Some(trace.clone()),
                covering: None,
                component: *component,
            })),
            Found::Failure(_) => self.failure(&atoms, &explored),
        };
        Ok(self.outcome(verdict, &explored))
    }

    fn failure(&self, atoms: &[AtomId], explored: &Explored) -> Verdict {
        let trace = match &explored.found {
            Found::Failure(trace) => trace.clone(),
            Found::Nothing | Found::Run(_) | Found::Closed(..) => None,
        };
        let error = match &trace {
            None => initial_error(self.model),
            Some(trace) => error_at_end(self.model, atoms, trace),
        };
        violated(ViolationKind::RunTimeError(error), trace)
    }

    fn outcome(&self, verdict: Verdict, explored: &Explored) -> Outcome {
        let number = |count: &BigUint| u64::try_from(count).unwrap_or(u64::MAX);
        let stats = Stats {
            n_states: number(&explored.n_states),
            n_product_states: explored.n_product_states.as_ref().map(number),
            memory_bytes: explored.memory_bytes,
            ..Stats::default()
        };
        let remark = format!(
            "{} states can be reached; sets of them took up to {} nodes of decision diagrams",
            explored.n_states, explored.n_nodes
        );
        Outcome {
            stats,
            remarks: vec![remark],
            ..Outcome::new(Route::Symbolic, self.fairness, verdict)
        }
    }
}

fn sorted(atoms: &[AtomId]) -> Vec<AtomId> {
    let mut atoms = atoms.to_vec();
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

//! From abstract counterexamples to runs of the model.

use std::sync::Arc;

use abstraction::predicate::{Abstraction, Execution, Program, concretize, execute};
use evidence::{Judge, Trace, TraceStep, Verdict, Violation, ViolationKind};
use model::Model;
use smt::{Answer, Term};

use super::refinement::Found;
use super::setup::Check;

/// What became of a replay.
pub(super) enum Replayed {
    /// It happens: the run, and the sample in which it does.
    Real(Box<(Trace, Model)>),
    /// It cannot happen.
    Spurious,
    /// It is possible as far as the solver knows, but no run was found.
    Undecided,
}

/// What is observed of the states of an execution, one after the other.
fn at_each(abstraction: &Abstraction<'_>, execution: &Execution, observed: &[Term]) -> Vec<Term> {
    let observed = observed.iter().enumerate();
    observed
        .map(|(position, term)| execution.at(abstraction.program, position, term))
        .collect()
}

impl Check<'_> {
    /// Replays transitions and asks for a run whose last state satisfies `end` and whose first
    /// states satisfy what is `observed` of them.
    pub(super) fn replay(
        &self,
        abstraction: &mut Abstraction<'_>,
        transitions: &[usize],
        observed: &[Term],
        end: &Term,
    ) -> Replayed {
        let execution = execute(abstraction.program, &abstraction.domain, transitions);
        let last = execution.values.len() - 1;
        let mut conditions = at_each(abstraction, &execution, observed);
        conditions.push(execution.at(abstraction.program, last, end));
        self.solve(abstraction, &execution, transitions, &conditions, None)
    }

    /// Replays transitions of which those from `start` on must lead back to where they start; if
    /// there are none, the loop is the idle step of the last state.
    pub(super) fn replay_loop(
        &self,
        abstraction: &mut Abstraction<'_>,
        (transitions, start): (&[usize], usize),
        observed: &[Term],
        further: &Term,
    ) -> Replayed {
        let execution = execute(abstraction.program, &abstraction.domain, transitions);
        let last = execution.values.len() - 1;
        let mut conditions = at_each(abstraction, &execution, observed);
        conditions.push(execution.at(abstraction.program, last, further));
        conditions.push(execution.same(start, last));
        self.solve(
            abstraction,
            &execution,
            transitions,
            &conditions,
            Some(start),
        )
    }

    fn solve(
        &self,
        abstraction: &mut Abstraction<'_>,
        execution: &Execution,
        transitions: &[usize],
        further: &[Term],
        loop_start: Option<usize>,
    ) -> Replayed {
        let solution = match execution.solve(&mut abstraction.questions, further) {
            Answer::Unsat => return Replayed::Spurious,
            Answer::Unknown(_) => return Replayed::Undecided,
            Answer::Sat(solution) => solution,
        };
        let program = abstraction.program;
        let Some(concrete) = concretize(
            self.model,
            program,
            execution,
            &solution,
            &mut abstraction.questions,
        ) else {
            return Replayed::Undecided;
        };
        let mut trace = Trace {
            states: concrete.states,
            steps: transitions
                .iter()
                .map(|t| self.step(program, *t).into())
                .collect(),
            loop_start,
        };

        if loop_start.is_some() {
            match transitions.len() == loop_start.unwrap_or(0) {
                // The idle step of a deadlocked state.
                true => trace.steps.push(Arc::default()),
                false => {
                    trace.states.pop();
                }
            }
        }

        Replayed::Real(Box::new((trace, concrete.model)))
    }

    /// A transition as a step of a run.
    pub(super) fn step(&self, program: &Program, transition: usize) -> TraceStep {
        let description = &program.transitions[transition];
        TraceStep {
            actions: description.actions.clone(),
            movers: description.movers.clone(),
            commands: description.commands.clone(),
        }
    }

    /// The judge of runs of a sample.
    pub(super) fn judge_of<'s>(&'s self, sample: &'s Model) -> Judge<'s> {
        let assumptions = &sample.parts().assumptions;
        Judge::new(sample, self.property, self.fairness, assumptions)
    }

    /// The violation, if the judge of evidence confirms it.
    pub(super) fn confirmed(
        &self,
        kind: ViolationKind,
        trace: Trace,
        sample: Model,
    ) -> Option<(Verdict, Box<Found>)> {
        let violation = Violation {
            kind,
            trace: Some(trace),
            covering: None,
            component: None,
        };
        match self.judge_of(&sample).violation(&violation) {
            Ok(explanation) => {
                let found = Found {
                    sample: Box::new(sample),
                    explanation,
                };
                Some((Verdict::Violated(Box::new(violation)), Box::new(found)))
            }
            Err(invalid) => {
                *self.unconfirmed.borrow_mut() = Some(invalid.to_string());
                None
            }
        }
    }

    /// The run-time error in the last state of a run, if there is one.
    pub(super) fn error_at_end(
        &self,
        sample: &Model,
        trace: &Trace,
    ) -> Option<model::RunTimeError> {
        let state = trace.states.last()?;
        let commands = trace.steps.last().map_or(&[][..], |step| &step.commands);
        let in_atom = |atom: &base::AtomId| sample.atom_holds(*atom, state, commands).err();
        let mut atoms: Vec<base::AtomId> = self.setup.atoms.keys().copied().collect();
        atoms.sort_unstable();
        sample
            .successors(state)
            .err()
            .or_else(|| atoms.iter().find_map(in_atom))
    }
}

//! What an answer rests on, in words.

use abstraction::predicate::{AbstractGraph, Abstraction, Origin, Questions, show};
use engine::Stats;
use evidence::{SolverUse, UnknownReason, Verdict, ViolationKind};
use smt::Term;

use super::counterexample::other_solver;
use super::setup::Check;
use crate::Outcome;

impl Check<'_> {
    /// Adds counts and remarks to an outcome.
    pub(super) fn describe(
        &self,
        outcome: &mut Outcome,
        abstraction: &Abstraction<'_>,
        graph: &AbstractGraph,
        n_refinements: usize,
        rankings: &[Term],
    ) {
        outcome.stats = Stats {
            n_states: graph.states.len() as u64,
            n_transitions: graph.n_transitions() as u64,
            ..Stats::default()
        };
        *self.last_domain.borrow_mut() = Some(abstraction.domain.clone());

        let predicates = &abstraction.domain.predicates;
        let mut remarks = Vec::new();
        remarks.push(format!(
            "abstraction: {} predicates, {} states, {} transitions, {n_refinements} refinements",
            predicates.len(),
            graph.states.len(),
            graph.n_transitions(),
        ));

        for predicate in predicates {
            let origin = match &predicate.origin {
                Origin::Author(_) => "given".to_owned(),
                Origin::Model => "from the model".to_owned(),
                Origin::Refinement(round) => format!("found in round {round}"),
            };
            let meaning = show(&predicate.term);
            remarks.push(format!("  {}: {meaning} ({origin})", predicate.name));
        }

        remarks.extend(self.facts_in_words(abstraction));
        for rank in rankings {
            remarks.push(format!("  ranking: {}", show(rank)));
        }
        let assignments = abstraction.assignments();
        remarks.push(format!(
            "assignments: {} untouched, {} by substitution, {} with the solver",
            assignments.n_untouched, assignments.n_substituted, assignments.n_asked
        ));

        let questions = &abstraction.questions;
        let tally = questions.tally();
        remarks.push(format!(
            "solver: {}, {} questions, {} without an answer, {} answered from memory",
            questions.solver_name(),
            tally.n_calls,
            tally.n_unknown,
            questions.n_remembered()
        ));
        outcome.solvers.push(used(questions));
        remarks.extend(outcome.solvers.iter().filter_map(confirmation));

        // How questions grow with the predicates shows whether refinement keeps earlier answers.
        let stages = abstraction.stages();
        if stages.len() > 1 {
            let stage =
                |(n_predicates, n_calls): &(usize, u64)| format!("{n_predicates}: {n_calls}");
            let stages: Vec<String> = stages.iter().map(stage).collect();
            remarks.push(format!(
                "new questions by number of predicates: {}",
                stages.join(", ")
            ));
        }

        // Why the verdict is unknown is more useful than that it is.
        if let (Verdict::Unknown(UnknownReason::SolverGaveUp), Some(reason)) =
            (&outcome.verdict, questions.gave_up())
        {
            remarks.push(format!("the solver gave up: {reason}"));
        }
        let name = questions.solver_name();
        let asked = (name.as_str(), tally.n_unknown);
        if let Verdict::Unknown(reason) = &outcome.verdict {
            remarks.extend(self.what_remains(reason, n_refinements, asked));
        }
        if let (Verdict::Unknown(_), Some(why)) =
            (&outcome.verdict, self.unconfirmed.borrow().as_ref())
        {
            remarks.push(format!("a run was found that is not confirmed: {why}"));
        }

        // Solvers that contradict each other leave nothing to rest a verdict on.
        if let Some(which) = questions.trust().contradiction
            && rests_on_solver(&outcome.verdict)
        {
            let reason = UnknownReason::SolversDisagree(which);
            outcome.give_up(reason);
        }
        outcome.remarks.extend(remarks);
    }
}

/// Runs that the judge of evidence has replayed stand by themselves.
fn rests_on_solver(verdict: &Verdict) -> bool {
    let Verdict::Violated(violation) = verdict else {
        return !matches!(verdict, Verdict::Holds { witness: Some(_) });
    };
    match violation.kind {
        ViolationKind::FairLoop
        | ViolationKind::ZeroTime
        | ViolationKind::BadPrefix
        | ViolationKind::Deadlock
        | ViolationKind::RunTimeError(_) => false,
        ViolationKind::Endless(_)
        | ViolationKind::Unreachable
        | ViolationKind::Branching(_)
        | ViolationKind::NegationHolds => true,
    }
}

/// The solver, as far as a verdict rests on it.
fn used(questions: &Questions) -> SolverUse {
    let trust = questions.trust();
    let confirmed_by = trust.confirmed_by.join(", ");
    SolverUse {
        name: trust.name.unwrap_or_else(|| questions.solver_name()),
        answers: questions.tally().n_unsat,
        confirmed: trust.n_confirmed,
        confirmed_by: (!confirmed_by.is_empty()).then_some(confirmed_by),
    }
}

/// Whether the answers of a solver were confirmed, if there were any that need it.
fn confirmation(solver: &SolverUse) -> Option<String> {
    let SolverUse {
        name,
        answers,
        confirmed,
        confirmed_by,
    } = solver;

    if *answers == 0 {
        return None;
    }
    let by = confirmed_by.as_deref().unwrap_or("nothing");
    if confirmed >= answers {
        return Some(format!(
            "  all {answers} answers \"impossible\" were confirmed by {by}"
        ));
    }

    let n_open = answers - confirmed;
    let other = other_solver(name);
    Some(format!(
        "  nothing confirmed {n_open} of the {answers} answers \"impossible\" of the solver {name}; `--confirm-with {other}` would"
    ))
}

//! What an answer rests on, in words.

use abstraction::predicate::{AbstractGraph, Abstraction, Origin, show};
use engine::Stats;
use evidence::{UnknownReason, Verdict};
use smt::Term;

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
        if let (Verdict::Unknown(UnknownReason::SolverGaveUp), Some(reason)) =
            (&outcome.verdict, questions.gave_up())
        {
            remarks.push(format!("the solver gave up: {reason}"));
        }
        if let (Verdict::Unknown(_), Some(why)) =
            (&outcome.verdict, self.unconfirmed.borrow().as_ref())
        {
            remarks.push(format!("a run was found that is not confirmed: {why}"));
        }
        outcome.remarks.extend(remarks);
    }
}

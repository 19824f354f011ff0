//! Facts about all reachable states, proved by induction over steps.

use base::Budget;
use ws1s::{Automaton, TRUE, Unknown, VectorMachine, reachable_vectors};

use super::encode::Encoder;
use super::lifting::{Subject, enabled};
use super::logic::{Logic, Term};
use super::question::FamilyQuestion;
use super::relation::Predicate;
use super::steps::Family;

/// The greatest set of candidates that hold initially and are preserved together by every step
/// (C. Flanagan, K. R. M. Leino, *Houdini, an annotation assistant for ESC/Java*, FME 2001,
/// doi:10.1007/3-540-45251-6_29).
///
/// # Errors
/// If the budget does not suffice.
pub fn inductive(
    family: &mut Family<'_>,
    question: &FamilyQuestion,
    candidates: &[Predicate],
    budget: &Budget,
) -> Result<Vec<Predicate>, Unknown> {
    let mut kept = candidates.to_vec();
    if kept.is_empty() {
        return Ok(kept);
    }
    let mut prover = Prover::new(family, question, budget);
    let initial = family.initial.clone();
    let broken = prover.violated(&[], &initial, &kept, false)?;
    retain(&mut kept, &broken);

    loop {
        let mut broken = vec![false; kept.len()];
        for transition in &family.transitions {
            let found = prover.violated(&kept, &transition.relation, &kept, true)?;
            broken
                .iter_mut()
                .zip(found)
                .for_each(|(known, new)| *known |= new);
        }
        if !broken.contains(&true) {
            return Ok(kept);
        }
        retain(&mut kept, &broken);
    }
}

/// Does the subject, once enabled for a process, stay so until that process takes it?
///
/// # Errors
/// If the budget does not suffice.
pub fn persists(
    family: &mut Family<'_>,
    question: &FamilyQuestion,
    invariants: &[Predicate],
    subject: &Subject,
    budget: &Budget,
) -> Result<bool, Unknown> {
    let process = family.fresh.var();
    let own = enabled(family, subject).substitute(family.actor, Term::var(process));
    let stays = Predicate {
        name: String::new(),
        logic: own.clone(),
    };
    let mut prover = Prover::with_process(family, question, process, budget);
    for (number, transition) in family.transitions.iter().enumerate() {
        let mut step = vec![transition.relation.clone(), own.clone()];
        if subject.transitions.contains(&number) {
            let is_own = Logic::equal(Term::var(family.actor), Term::var(process));
            step.push(Logic::not(is_own));
        }
        let step = Logic::all(step);
        if prover.violated(invariants, &step, std::slice::from_ref(&stays), true)?[0] {
            return Ok(false);
        }
    }
    Ok(true)
}

fn retain(kept: &mut Vec<Predicate>, broken: &[bool]) {
    let mut position = 0;
    kept.retain(|_| {
        position += 1;
        !broken[position - 1]
    });
}

struct Prover<'b> {
    encoder: Encoder<'b>,
    /// What every state is like.
    context: Logic,
    budget: &'b Budget,
}

impl<'b> Prover<'b> {
    fn new(family: &mut Family<'_>, question: &FamilyQuestion, budget: &'b Budget) -> Self {
        let mut free = vec![family.actor];
        free.extend(question.vars());
        let context = Logic::all([family.well_formed(), question.condition.clone()]);
        Self {
            encoder: Encoder::new(&family.system, &free, budget),
            context,
            budget,
        }
    }

    fn with_process(
        family: &mut Family<'_>,
        question: &FamilyQuestion,
        process: super::logic::IndexVar,
        budget: &'b Budget,
    ) -> Self {
        let mut free = vec![family.actor, process];
        free.extend(question.vars());
        let context = Logic::all([family.well_formed(), question.condition.clone()]);
        Self {
            encoder: Encoder::new(&family.system, &free, budget),
            context,
            budget,
        }
    }

    /// Which of the claims can be false in a state (or after a step) that satisfies the formula,
    /// from a state in which everything in `known` is true?
    fn violated(
        &mut self,
        known: &[Predicate],
        step: &Logic,
        claims: &[Predicate],
        is_step: bool,
    ) -> Result<Vec<bool>, Unknown> {
        let known = known.iter().map(|predicate| predicate.logic.clone());
        let guard = Logic::all(known.chain([self.context.clone()]));
        let guard = self.encoder.automaton(&guard)?;
        let anything = self.encoder.automaton(&Logic::Const(true))?;
        let before = VectorMachine::new(&guard, &[&anything], self.budget)?;
        let step = self.encoder.automaton(step)?;
        let mut violated = Vec::new();
        for claim in claims {
            let logic = if is_step {
                claim.logic.primed()
            } else {
                claim.logic.clone()
            };
            let claim: Automaton = self.encoder.automaton(&logic)?;
            let after = VectorMachine::new(&anything, &[&claim], self.budget)?;
            let found = reachable_vectors(&step, &[&before, &after], self.budget)?;
            violated.push(found.iter().any(|tuple| tuple[1][0] != TRUE));
        }
        Ok(violated)
    }
}

//! Facts about all reachable states, proved by induction over steps.

use base::Budget;
use ws1s::{Automaton, Unknown, VectorMachine, reachable_vectors};

use super::encode::Encoder;
use super::lifting::{Subject, enabled};
use super::logic::{Logic, Term};
use super::question::FamilyQuestion;
use super::relation::Predicate;
use super::steps::Family;

/// A candidate that was not proved.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refuted {
    /// What it is called.
    pub name: String,
    /// The step that may make it false; nothing if it may be false initially.
    pub by: Option<String>,
}

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
) -> Result<(Vec<Predicate>, Vec<Refuted>), Unknown> {
    let mut kept = candidates.to_vec();
    let mut refuted = Vec::new();
    if kept.is_empty() {
        return Ok((kept, refuted));
    }
    let mut prover = Prover::new(family, question, budget);
    let initial = family.initial.clone();
    let broken = prover.violated(&[], &initial, &kept, false)?;
    for (claim, _) in kept.iter().zip(&broken).filter(|(_, broken)| **broken) {
        let name = claim.name.clone();
        refuted.push(Refuted { name, by: None });
    }
    retain(&mut kept, &broken);

    let relations = family.transitions.iter().map(|t| &t.relation);
    let steps: Vec<Automaton> = relations
        .map(|relation| prover.encoder.automaton(relation))
        .collect::<Result<_, _>>()?;
    loop {
        let breaking = prover.not_preserved(&steps, &kept)?;
        for (claim, step) in kept.iter().zip(&breaking) {
            let by = step.map(|step| family.transitions[step].name.clone());
            let name = claim.name.clone();
            refuted.extend(by.map(|by| Refuted { name, by: Some(by) }));
        }
        let broken: Vec<bool> = breaking.iter().map(Option::is_some).collect();
        if !broken.contains(&true) {
            return Ok((kept, refuted));
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
        let context = Logic::all([
            family.well_formed(),
            family.size.clone(),
            question.condition.clone(),
        ]);
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
        let context = Logic::all([
            family.well_formed(),
            family.size.clone(),
            question.condition.clone(),
        ]);
        Self {
            encoder: Encoder::new(&family.system, &free, budget),
            context,
            budget,
        }
    }

    /// Which of the claims can become false by a step from a state in which all of them are true, and by
    /// which one?
    fn not_preserved(
        &mut self,
        steps: &[Automaton],
        claims: &[Predicate],
    ) -> Result<Vec<Option<usize>>, Unknown> {
        let before = self.states(claims)?;
        let all = Logic::all(claims.iter().map(|claim| claim.logic.clone()));
        let some_fails = self.states_after(&Logic::not(all))?;
        let mut fails = vec![None; claims.len()];
        let mut broken = vec![None; claims.len()];

        for (position, step) in steps.iter().enumerate() {
            // Most steps preserve everything that is left.
            if reachable_vectors(step, &[&before, &some_fails], self.budget)?.is_empty() {
                continue;
            }
            for (number, claim) in claims.iter().enumerate() {
                if broken[number].is_some() {
                    continue;
                }
                let after = match &mut fails[number] {
                    Some(after) => after,
                    unknown => unknown.insert(self.states_after(&Logic::not(claim.logic.clone()))?),
                };
                let found = reachable_vectors(step, &[&before, after], self.budget)?;
                broken[number] = (!found.is_empty()).then_some(position);
            }
        }
        Ok(broken)
    }

    /// The states in which everything is true.
    fn states(&mut self, known: &[Predicate]) -> Result<VectorMachine, Unknown> {
        let known = known.iter().map(|predicate| predicate.logic.clone());
        let guard = Logic::all(known.chain([self.context.clone()]));
        self.machine(&guard)
    }

    /// The states after a step in which a formula is true.
    fn states_after(&mut self, logic: &Logic) -> Result<VectorMachine, Unknown> {
        self.machine(&logic.primed())
    }

    fn machine(&mut self, guard: &Logic) -> Result<VectorMachine, Unknown> {
        let guard = self.encoder.automaton(guard)?;
        let anything = self.encoder.automaton(&Logic::Const(true))?;
        VectorMachine::new(&guard, &[&anything], self.budget)
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
        let before = self.states(known)?;
        let step = self.encoder.automaton(step)?;
        let mut violated = Vec::new();
        for claim in claims {
            let fails = Logic::not(claim.logic.clone());
            let after = if is_step {
                self.states_after(&fails)?
            } else {
                self.machine(&fails)?
            };
            let found = reachable_vectors(&step, &[&before, &after], self.budget)?;
            violated.push(!found.is_empty());
        }
        Ok(violated)
    }
}

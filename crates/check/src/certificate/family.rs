//! Abstractions of families in the words of the checker.

use abstraction::parameterized::{
    Abstraction, Base, Family, FamilyQuestion, Finite, Logic, Source, System, Term, Time,
};
use base::{Fairness, Span};
use certify::{Certificate, CertifiedOptions, FamilyProof, Formula, Proof};
use model::{Scope, Template};
use source::{Options, Question};

use super::{Uncertified, claim_of};
use crate::Outcome;

/// The certificate of an outcome that [`crate::check_for_all`] gave. `options` are those that the text
/// was read with.
///
/// # Errors
/// Why there is none.
pub fn certificate_for_all(
    question: &Question,
    outcome: &Outcome,
    options: &Options,
) -> Result<Certificate, Uncertified> {
    let claim = claim_of(&outcome.verdict)?;
    let proof = outcome.proof.clone().ok_or_else(|| {
        let why = "for all values of a parameter there are certificates of invariants and deadlock \
                   freedom only";
        Uncertified::Unsupported(why.to_owned())
    })?;
    let fairness: Fairness = outcome.fairness;
    Ok(Certificate {
        property: question.property.name.clone(),
        options: CertifiedOptions::new(options),
        fairness,
        claim,
        proofs: vec![proof],
    })
}

/// The abstract states as an invariant; nothing if it speaks of what the checker does not know.
pub(crate) fn family_proof(
    template: &Template,
    scope: &Scope,
    span: Span,
    found: &Abstraction,
) -> Option<Proof> {
    // Variables are numbered as they were when the abstraction was found.
    let mut family = Family::new(template).ok()?;
    let question = FamilyQuestion::new(&mut family, scope, span).ok()?;
    let words = Words {
        system: &family.system,
        question: &question,
    };
    let formulas = |predicates: &[abstraction::parameterized::Predicate]| {
        let formulas = predicates.iter().map(|p| words.formula(&p.logic));
        formulas.collect::<Option<Vec<Formula>>>()
    };
    Some(Proof::Family(FamilyProof {
        facts: formulas(&found.invariants)?,
        predicates: formulas(&found.predicates)?,
        rows: found.graph.states.clone(),
    }))
}

/// Writes formulas in the words of the checker.
struct Words<'w> {
    system: &'w System<'w>,
    question: &'w FamilyQuestion,
}

impl Words<'_> {
    fn slot(&self, finite: &Finite) -> u32 {
        match finite.source {
            Source::Location(process) => process.index() as u32,
            Source::Variable(var) => self.variable(var),
        }
    }

    fn variable(&self, var: model::VarId) -> u32 {
        (self.system.parts().processes.len() + var.index()) as u32
    }

    fn index(&self, term: Term) -> Option<certify::Index> {
        let distinguished = &self.question.distinguished;
        Some(match term.base {
            Base::Zero => (certify::Base::Zero, term.offset),
            Base::Last => {
                let offset = term.offset.checked_add(self.system.last_offset)?;
                (certify::Base::Parameter, offset)
            }
            Base::Var(var) => {
                let number = distinguished.iter().position(|(known, _)| *known == var);
                let number = number.unwrap_or(distinguished.len() + var.index());
                (certify::Base::Variable(number as u32), term.offset)
            }
            Base::Pointer(pointer, Time::Now) => {
                let slot = self.variable(self.system.pointers[pointer.index()].var);
                (certify::Base::Slot(slot), term.offset)
            }
            Base::Pointer(_, Time::Next) => return None,
        })
    }

    fn formula(&self, logic: &Logic) -> Option<Formula> {
        let all = |parts: &[Logic]| -> Option<Vec<Formula>> {
            parts.iter().map(|part| self.formula(part)).collect()
        };
        Some(match logic {
            Logic::Const(true) => Formula::All(Vec::new()),
            Logic::Const(false) => Formula::Any(Vec::new()),
            Logic::Not(inner) => Formula::Not(Box::new(self.formula(inner)?)),
            Logic::And(parts) => Formula::All(all(parts)?),
            Logic::Or(parts) => Formula::Any(all(parts)?),
            Logic::Less(left, right) => Formula::Less(self.index(*left)?, self.index(*right)?),
            Logic::Equal(left, right) => Formula::Equal(self.index(*left)?, self.index(*right)?),
            Logic::Has(column, number, at, Time::Now) => {
                let column = &self.system.columns[column.index()];
                let at = self.index(*at)?;
                Formula::Has(self.slot(column), Some(at), column.values[*number])
            }
            Logic::Is(cell, number, Time::Now) => {
                let cell = &self.system.cells[cell.index()];
                Formula::Has(self.slot(cell), None, cell.values[*number])
            }
            Logic::Exists(var, inner) => {
                let number = self.question.distinguished.len() + var.index();
                Formula::Some(number as u32, Box::new(self.formula(inner)?))
            }
            Logic::Has(_, _, _, Time::Next)
            | Logic::Is(_, _, Time::Next)
            | Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_) => return None,
        })
    }
}

//! Abstractions of families in the words of the checker.

use abstraction::parameterized::{
    Abstraction, AtomTruth, Base, Family, FamilyQuestion, Finite, IndexVar, Lifted, Logic, Mark,
    Selection, Source, System, Term, Time,
};
use base::{Budget, Fairness};
use certify::{
    Certificate, CertifiedOptions, Change, Elementary, FamilyCondition, FamilyEdge, FamilyProof,
    FamilyRuns, Formula, NoRun, Proof, core_system, elementary_conditions,
};
use logic::Property;
use model::{ConditionKind, Template};
use source::{Options, Question};

use super::{Uncertified, claim_of, graph_run};
use crate::{ForAll, Outcome};

/// The certificate of an outcome that [`crate::check_for_all`] gave. `options` are those that the text
/// was read with.
///
/// # Errors
/// Why there is none.
pub fn certificate_for_all(
    template: &Template,
    question: &Question,
    outcome: &Outcome,
    options: &Options,
    budget: &Budget,
) -> Result<Certificate, Uncertified> {
    let claim = claim_of(&outcome.verdict)?;
    let Some(Proof::Family(found)) = &outcome.proof else {
        let why = "the abstraction speaks of what certificates have no words for";
        return Err(Uncertified::Unsupported(why.to_owned()));
    };
    let mut proof = found.clone();
    if let Some(runs) = &mut proof.runs {
        let asked = (&question.property.property, &question.scope);
        let (core, formula) = core_system(template, asked, outcome.fairness, found, runs)?;
        runs.run = graph_run(&core, formula, budget)?;
    }
    Ok(Certificate {
        property: question.property.name.clone(),
        options: CertifiedOptions::new(options),
        fairness: outcome.fairness,
        claim,
        proofs: vec![Proof::Family(proof)],
    })
}

/// What an abstraction shows, without the reason why its graph has no forbidden run; nothing if it
/// speaks of what the checker does not know, or rests on steps that are possible.
pub(crate) fn family_proof(
    question: &ForAll<'_>,
    fairness: Fairness,
    found: &Abstraction,
    selection: &Selection,
) -> Option<Proof> {
    if selection.visits.contains(&true) {
        return None;
    }
    // Variables are numbered as they were when the abstraction was found.
    let mut family = Family::new(question.template).ok()?;
    // The checker has no words for what is kept of indices that every process has.
    if !family.system.fields.is_empty() {
        return None;
    }
    let span = question.property.span;
    let asked = FamilyQuestion::new(&mut family, question.scope, span).ok()?;
    let words = Words {
        system: &family.system,
        question: &asked,
        member: None,
    };
    let formulas = |predicates: &[abstraction::parameterized::Predicate]| {
        let formulas = predicates.iter().map(|p| words.formula(&p.logic));
        formulas.collect::<Option<Vec<Formula>>>()
    };
    let runs = match question.property.property {
        Property::Ltl(_) => Some(runs_of(&family, &words, fairness, found, selection)?),
        _ => None,
    };
    Some(Proof::Family(FamilyProof {
        facts: formulas(&found.invariants)?,
        predicates: formulas(&found.predicates)?,
        rows: found.graph.states.clone(),
        runs,
    }))
}

/// The graph of an abstraction under the conditions that are needed.
fn runs_of(
    family: &Family<'_>,
    words: &Words<'_>,
    fairness: Fairness,
    found: &Abstraction,
    selection: &Selection,
) -> Option<FamilyRuns> {
    let graph = &found.graph;
    let step_of = |transition: usize| {
        let transition = &family.transitions[transition];
        Some((transition.process?.0, transition.step as u32))
    };

    let mut edges = Vec::new();
    for edge in &graph.edges {
        let label = &graph.labels[edge.label];
        let step = match label.transition {
            None => None,
            Some(transition) => Some(step_of(transition)?),
        };
        let marks = edge.marks.iter().zip(&selection.rankings);
        let marks = marks.filter(|(_, chosen)| **chosen);
        edges.push(FamilyEdge {
            source: edge.source as u32,
            target: edge.target as u32,
            step,
            movers: label.movers.clone(),
            marks: marks.map(|(mark, _)| mark_of(*mark)).collect(),
        });
    }
    edges.sort_unstable();
    edges.dedup();

    let mut rankings = Vec::new();
    let chosen = found.rankings.iter().zip(&selection.rankings);
    for (ranking, _) in chosen.filter(|(_, chosen)| **chosen) {
        let words = Words {
            member: Some(ranking.var),
            ..*words
        };
        rankings.push(words.formula(&ranking.logic)?);
    }

    let elementary = elementary_conditions(family.system.template, fairness);
    let mut conditions = Vec::new();
    let chosen = found.conditions.iter().zip(&selection.conditions);
    for ((lifted, enabled), _) in chosen.filter(|(_, chosen)| **chosen) {
        let steps: Option<Vec<(u32, u32)>> =
            lifted.transitions.iter().map(|t| step_of(*t)).collect();
        conditions.push(FamilyCondition {
            elementary: elementary_of(&elementary, lifted, &steps?)?,
            mover: lifted.mover.map(|mover| mover as u32),
            enabled: enabled.clone(),
        });
    }

    let atoms = found.atoms.iter().filter_map(|(atom, truth)| match truth {
        AtomTruth::States(states) => Some((atom.index() as u32, states.clone())),
        AtomTruth::Labels(_) => None,
    });
    Some(FamilyRuns {
        initial: graph.initial.iter().map(|state| *state as u32).collect(),
        rankings,
        conditions,
        atoms: atoms.collect(),
        edges,
        run: NoRun::default(),
    })
}

/// The conditions of the template that a condition of the abstraction follows from.
fn elementary_of(all: &[Elementary], lifted: &Lifted, steps: &[(u32, u32)]) -> Option<Vec<u32>> {
    let is_inside = |one: &Elementary| {
        let mut own = one.steps.iter().map(|step| (one.process.0, *step as u32));
        own.all(|step| steps.contains(&step))
    };
    let is_whole = |one: &Elementary| is_inside(one) && one.steps.len() == steps.len();
    let number = |position: usize| position as u32;
    let same = all
        .iter()
        .position(|one| one.kind == lifted.kind && is_whole(one));
    // Weak fairness of what stays enabled is strong fairness.
    let weak = || {
        let is_weak = |one: &Elementary| one.kind == ConditionKind::Weak && is_whole(one);
        all.iter().position(is_weak)
    };
    if let Some(one) = same.or_else(weak) {
        return Some(vec![number(one)]);
    }
    let is_part = |one: &Elementary| one.kind == ConditionKind::Strong && is_inside(one);
    let parts: Vec<usize> = (0..all.len()).filter(|n| is_part(&all[*n])).collect();
    let covered: usize = parts.iter().map(|part| all[*part].steps.len()).sum();
    (covered >= steps.len()).then(|| parts.into_iter().map(number).collect())
}

fn mark_of(mark: Mark) -> Change {
    match mark {
        Mark::Decreases => Change::Decreases,
        Mark::Keeps => Change::Keeps,
        Mark::MayIncrease => Change::MayIncrease,
    }
}

/// Writes formulas in the words of the checker.
#[derive(Clone, Copy)]
struct Words<'w> {
    system: &'w System<'w>,
    question: &'w FamilyQuestion,
    /// What stands for the member of a ranking.
    member: Option<IndexVar>,
}

impl Words<'_> {
    fn slot(&self, finite: &Finite) -> u32 {
        match finite.source {
            Source::Location(process) => process.index() as u32,
            Source::Variable(var) => self.variable(var),
            Source::Bit(_) => unreachable!("families with fields are left out"),
        }
    }

    fn variable(&self, var: model::VarId) -> u32 {
        (self.system.parts().processes.len() + var.index()) as u32
    }

    /// The processes of the question come first, then the member of a ranking.
    fn number(&self, var: IndexVar) -> u32 {
        let distinguished = &self.question.distinguished;
        let known = distinguished.iter().position(|(known, _)| *known == var);
        let number = match known {
            Some(number) => number,
            None if self.member == Some(var) => distinguished.len(),
            None => distinguished.len() + 1 + var.index(),
        };
        number as u32
    }

    fn index(&self, term: Term) -> Option<certify::Index> {
        Some(match term.base {
            Base::Zero => (certify::Base::Zero, term.offset),
            Base::Last => {
                let offset = term.offset.checked_add(self.system.last_offset)?;
                (certify::Base::Parameter, offset)
            }
            Base::Var(var) => (certify::Base::Variable(self.number(var)), term.offset),
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
                Formula::Some(self.number(*var), Box::new(self.formula(inner)?))
            }
            Logic::Has(_, _, _, Time::Next)
            | Logic::Is(_, _, Time::Next)
            | Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_)
            | Logic::Let(..)
            | Logic::Holds(..)
            | Logic::SameField(_)
            | Logic::Each(..) => return None,
        })
    }
}

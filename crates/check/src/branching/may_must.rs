//! Formulas of CTL* on may/must systems, three-valued.
//!
//! Annotated semantics of D. Dams, R. Gerth, O. Grumberg, "Fair model checking of abstractions", VCL
//! 2000, Definitions 2.0.1, 3.0.4 and 3.0.5. There, annotations say for each proposition and path
//! quantifier whether it is read *constrained* (definitely) or *free* (possibly), and a negation
//! toggles all annotations below it: `a ⊨ ¬φ` iff not `a ⊨ t(φ)`. Unannotated formulas are read
//! constrained, `∀` being expanded to `¬∃¬` before.
//!
//! Here every formula has two values at every state: `must(φ)`, the value of φ as it is, and
//! `may(φ)`, the value of `t(φ)`. Then `must(¬φ) = ¬may(φ)` and `may(¬φ) = ¬must(φ)` are the clause for
//! negation, and what is left are literals and `∃`:
//!
//! | | must | may |
//! | --- | --- | --- |
//! | `p` | p is true | p is not false |
//! | `¬p` | p is false | p is not true |
//! | `∃ψ` under Φ | an infinite constrained path satisfies `must(Φ ∧ ψ)` | a free path satisfies `may(Φ ∧ ψ)` |
//!
//! Path formulas are brought into negation normal form, which Lemma 2.0.2 allows. Each literal then
//! becomes an atom of its own: `p` and `¬p` are not complements of each other.
//!
//! Theorem 3.0.6: `must(φ)` in an abstract state implies φ in every state that it describes. So `φ`
//! *holds* if `must(φ)` in all initial states, is *violated* if `must(¬φ)` in one of them, and is
//! *unknown* otherwise. By the invariant of [`MayMust`], `must(φ)` implies `may(φ)`.

use std::rc::Rc;

use base::{AtomId, Budget, Diagnostic, Fairness, Route};
use engine::Stats;
use evidence::{UnknownReason, Verdict, ViolationKind};
use logic::{CtlStar, Ltl, MayMustProperty, NamedProperty, Op};
use model::{MayMust, Model};
use rustc_hash::FxHashMap;

use super::frame::Frame;
use super::lost::Lost;
use super::node_set::NodeSet;
use super::quantifier::{FrameLasso, Obstacle, Quantification, set_of};
use crate::explicit::violated;
use crate::{Outcome, Plan};

/// Answers a question about a may/must system.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    question: &MayMustProperty,
    plan: &Plan,
) -> Outcome {
    let system = &model.parts().systems[question.system];
    let too_coarse = UnknownReason::AbstractionTooCoarse;
    let mut outcome = Outcome::unknown(Route::MayMust, Fairness::NONE, too_coarse);
    outcome.stats = Stats {
        n_states: system.states().len() as u64,
        n_transitions: system.free().iter().map(|steps| steps.len() as u64).sum(),
        commands_taken: vec![true; model.commands().len()],
        atoms_seen: vec![true; model.parts().atoms.len()],
        ..Stats::default()
    };
    if plan.naive {
        let message = "the naive reading of fairness is unsound on abstractions: what holds here may \
                       fail in a system that is described";
        let warning = Diagnostic::warning("naive-semantics", property.span, message);
        outcome.warnings.push(warning);
    }
    match answer(system, property, question, plan) {
        Ok((verdict, warnings)) => {
            outcome.verdict = verdict;
            outcome.warnings.extend(warnings);
        }
        Err(Obstacle::Stopped(reason)) => {
            outcome.verdict = Verdict::Unknown(UnknownReason::Stopped(reason));
        }
        Err(Obstacle::Unsupported(why)) => {
            outcome.verdict = Verdict::Unknown(UnknownReason::Unsupported(why));
        }
    }
    outcome
}

fn answer(
    system: &MayMust,
    property: &NamedProperty,
    question: &MayMustProperty,
    plan: &Plan,
) -> Result<(Verdict, Vec<Diagnostic>), Obstacle> {
    if question.formula.has_past() || question.fairness.has_past() {
        return Err(Obstacle::past());
    }
    let mut annotated = Annotated::new(system, question, plan.naive, &plan.budget);
    annotated.decide()?;
    let root = question.formula.root();
    let (holds, fails) = (annotated.must(root), annotated.must(&root.negate()));
    let initial = system.initial();
    if initial.iter().any(|&state| fails.contains(state)) {
        return Ok((violated(ViolationKind::NegationHolds, None), Vec::new()));
    }
    if let Some(&state) = initial.iter().find(|&&state| !holds.contains(state)) {
        let lost = Lost::find(&mut annotated, state)?;
        let warning = Diagnostic::warning("lost", property.span, lost.message(&annotated));
        let verdict = Verdict::Unknown(UnknownReason::AbstractionTooCoarse);
        return Ok((verdict, vec![warning]));
    }
    let warnings = annotated.vacuity(property)?;
    Ok((
        Verdict::Holds { witness: None },
        warnings.into_iter().collect(),
    ))
}

/// How a formula is read.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Reading {
    /// Constrained: what is certain.
    Must,
    /// Free: what is possible.
    May,
}

/// One of the two step relations.
pub(crate) struct Relation<'a> {
    targets: &'a [Vec<u32>],
}

impl Frame for Relation<'_> {
    fn n_nodes(&self) -> usize {
        self.targets.len()
    }

    fn targets(&self, node: u32) -> &[u32] {
        &self.targets[node as usize]
    }

    fn origin(&self, node: u32) -> u32 {
        node
    }

    fn always_continues(&self) -> bool {
        // A constrained path may end; only infinite ones count.
        self.targets.iter().all(|targets| !targets.is_empty())
    }
}

/// A literal: an atom, its sign, and how it is read.
type Literal = (AtomId, bool, Reading);

/// A question with the values of all its parts.
pub(crate) struct Annotated<'a> {
    pub(crate) system: &'a MayMust,
    pub(crate) question: &'a MayMustProperty,
    fairness: Ltl,
    naive: bool,
    budget: &'a Budget,
    /// Where each atom and quantified formula is certain, and where it is possible.
    values: FxHashMap<AtomId, (Rc<NodeSet>, Rc<NodeSet>)>,
}

impl<'a> Annotated<'a> {
    pub(crate) fn new(
        system: &'a MayMust,
        question: &'a MayMustProperty,
        naive: bool,
        budget: &'a Budget,
    ) -> Self {
        let n_nodes = system.states().len();
        let value = |(position, proposition): (usize, &model::Proposition)| {
            let where_value = |fits: fn(Option<bool>) -> bool| {
                let holds = |node: u32| fits(proposition.values[node as usize]);
                Rc::new(NodeSet::those(n_nodes, holds))
            };
            let certain = where_value(|value| value == Some(true));
            let possible = where_value(|value| value != Some(false));
            (AtomId::new(position), (certain, possible))
        };

        Self {
            system,
            question,
            fairness: question.fairness.negation_normal_form(),
            naive,
            budget,
            values: system
                .propositions()
                .iter()
                .enumerate()
                .map(value)
                .collect(),
        }
    }

    /// Works out the values of all quantified formulas, inner ones first.
    pub(crate) fn decide(&mut self) -> Result<(), Obstacle> {
        for (number, quantified) in self.question.formula.quantified().iter().enumerate() {
            let (path, is_existential) = quantified.as_existential();
            let must = self.exists(&path, Reading::Must)?;
            let may = self.exists(&path, Reading::May)?;
            let value = if is_existential {
                (Rc::new(must), Rc::new(may))
            } else {
                (Rc::new(may.complement()), Rc::new(must.complement()))
            };
            self.values.insert(CtlStar::quantified_atom(number), value);
        }
        Ok(())
    }

    /// Where a state formula is certain.
    pub(crate) fn must(&self, formula: &Ltl) -> NodeSet {
        let mut literals = Literals::default();
        let positive = literals.of(&formula.negation_normal_form(), Reading::Must);
        let n_nodes = self.system.states().len();
        set_of(&positive, n_nodes, &|atom| self.column(&literals, atom))
    }

    /// Is the value of a state formula unknown in a state?
    pub(crate) fn is_unknown(&self, formula: &Ltl, state: u32) -> bool {
        !self.must(formula).contains(state) && !self.must(&formula.negate()).contains(state)
    }

    /// Is there a constrained step?
    pub(crate) fn must_step(&self, source: u32, target: u32) -> bool {
        self.system.constrained()[source as usize].contains(&target)
    }

    /// A free fair path from a state that possibly satisfies `path`.
    pub(crate) fn possible_path(
        &self,
        path: &Ltl,
        state: u32,
    ) -> Result<Option<FrameLasso>, Obstacle> {
        let mut literals = Literals::default();
        let positive = self.fair_path(path, Reading::May, &mut literals);
        let frame = self.relation(Reading::May);
        let mut quantification = self.quantification(&frame);
        quantification.lasso(&positive, state, &|atom| self.column(&literals, atom))
    }

    /// The path formula together with fairness, as the reading demands, over literals.
    fn fair_path(&self, path: &Ltl, reading: Reading, literals: &mut Literals) -> Ltl {
        // The naive reading forgets that fairness must be toggled, too.
        let of_fairness = if self.naive { Reading::Must } else { reading };
        let fairness = literals.of(&self.fairness, of_fairness);
        let path = literals.of(path, reading);
        match fairness.op() {
            Op::True => path,
            _ => Ltl::and([fairness, path]),
        }
    }

    fn exists(&self, path: &Ltl, reading: Reading) -> Result<NodeSet, Obstacle> {
        let mut literals = Literals::default();
        let positive = self.fair_path(path, reading, &mut literals);
        let frame = self.relation(reading);
        let mut quantification = self.quantification(&frame);
        quantification.exists(&positive, &|atom| self.column(&literals, atom))
    }

    fn relation(&self, reading: Reading) -> Relation<'a> {
        let targets = match reading {
            Reading::Must => self.system.constrained(),
            Reading::May => self.system.free(),
        };
        Relation { targets }
    }

    fn quantification<'q>(&'q self, frame: &'q Relation<'q>) -> Quantification<'q, Relation<'q>> {
        Quantification::new(frame, &[], FxHashMap::default(), self.budget)
    }

    fn column(&self, literals: &Literals, atom: AtomId) -> Rc<NodeSet> {
        let (atom, sign, reading) = literals.table[atom.index()];
        let (certain, possible) = &self.values[&atom];
        match (sign, reading) {
            (true, Reading::Must) => Rc::clone(certain),
            (true, Reading::May) => Rc::clone(possible),
            (false, Reading::Must) => Rc::new(possible.as_ref().clone().complement()),
            (false, Reading::May) => Rc::new(certain.as_ref().clone().complement()),
        }
    }

    /// Warns if no path can count, so that every `A ψ` holds.
    fn vacuity(&self, property: &NamedProperty) -> Result<Option<Diagnostic>, Obstacle> {
        let initial = self.system.initial();
        if initial.is_empty() {
            let message = "the system has no initial state, so everything holds of it";
            return Ok(Some(Diagnostic::warning(
                "no-initial-state",
                property.span,
                message,
            )));
        }

        let fair = self.exists(&Ltl::tt(), Reading::May)?;
        if initial.iter().any(|&state| fair.contains(state)) {
            return Ok(None);
        }
        let message = format!(
            "the system has no fair run, so `{}` holds vacuously",
            property.name
        );
        Ok(Some(Diagnostic::warning(
            "no-fair-run",
            property.span,
            message,
        )))
    }
}

/// Literals as atoms of automata.
#[derive(Default)]
struct Literals {
    table: Vec<Literal>,
}

impl Literals {
    /// A formula in negation normal form with an atom in place of each literal.
    fn of(&mut self, formula: &Ltl, reading: Reading) -> Ltl {
        let mut made: FxHashMap<&Ltl, Ltl> = FxHashMap::default();
        for part in formula.subformulas() {
            let new = match part.op() {
                Op::Atom(atom) => self.atom((*atom, true, reading)),
                Op::Not(inner) => match inner.op() {
                    Op::Atom(atom) => self.atom((*atom, false, reading)),
                    _ => unreachable!("negations stand before atoms only"),
                },
                Op::True | Op::False => part.clone(),
                Op::And(parts) => Ltl::and(parts.iter().map(|part| made[part].clone())),
                Op::Or(parts) => Ltl::or(parts.iter().map(|part| made[part].clone())),
                Op::Next(a) => Ltl::next(made[a].clone()),
                Op::Eventually(a) => Ltl::eventually(made[a].clone()),
                Op::Always(a) => Ltl::always(made[a].clone()),
                Op::Until(a, b) => Ltl::until(made[a].clone(), made[b].clone()),
                Op::WeakUntil(a, b) => Ltl::weak_until(made[a].clone(), made[b].clone()),
                Op::Release(a, b) => Ltl::release(made[a].clone(), made[b].clone()),
                Op::StrongRelease(a, b) => Ltl::strong_release(made[a].clone(), made[b].clone()),
                Op::Implies(..) | Op::Iff(..) => unreachable!("the formula is in normal form"),
                Op::Previously(_) | Op::Since(..) => {
                    unreachable!("`answer` refuses past operators")
                }
            };
            made.insert(part, new);
        }

        made[formula].clone()
    }

    fn atom(&mut self, literal: Literal) -> Ltl {
        let known = self.table.iter().position(|other| *other == literal);
        let number = known.unwrap_or_else(|| {
            self.table.push(literal);
            self.table.len() - 1
        });
        Ltl::atom(AtomId::new(number))
    }
}

//! Where an abstraction lost a formula, and what could be refined.
//!
//! From the whole formula downwards: of a Boolean combination an unknown part is unknown; if `E ψ` is
//! unknown, some free path possibly satisfies `ψ`, and were all its steps constrained and everything
//! that `ψ` and fairness mention on it certain, it would be a witness. So something on that path is
//! not: a proposition, a step, or an inner quantified formula, which is looked into in turn.

use logic::{CtlStar, Ltl, Op};

use super::may_must::Annotated;
use super::quantifier::Obstacle;

/// Where a formula was lost.
pub(crate) struct Lost {
    /// The innermost formula whose value is unknown.
    formula: Ltl,
    state: u32,
    cause: Cause,
}

enum Cause {
    /// The proposition is neither true nor false there.
    Proposition(Ltl),
    /// The step may or may not be possible in all described states.
    Step(u32, u32),
    /// Nothing was found.
    Nothing,
}

impl Lost {
    /// Where the root of the question, which is unknown in this state, was lost.
    pub(crate) fn find(annotated: &mut Annotated<'_>, state: u32) -> Result<Self, Obstacle> {
        let mut lost = Self {
            formula: annotated.question.formula.root().clone(),
            state,
            cause: Cause::Nothing,
        };
        // Each turn leads to an inner quantified formula, so there are few.
        while let Some((atom, number)) = lost.unknown_atom(annotated) {
            let Some(number) = number else {
                lost.cause = Cause::Proposition(atom);
                break;
            };
            lost.formula = atom;
            let Some((formula, state)) = lost.look_along_path(annotated, number)? else {
                break;
            };
            (lost.formula, lost.state) = (formula, state);
        }
        Ok(lost)
    }

    /// An atom or quantified formula that makes the formula unknown here.
    fn unknown_atom(&self, annotated: &Annotated<'_>) -> Option<(Ltl, Option<usize>)> {
        let mut formula = self.formula.negation_normal_form();
        loop {
            let next = match formula.op() {
                Op::Atom(atom) => return Some((formula.clone(), CtlStar::as_quantified(*atom))),
                Op::Not(inner) => inner.clone(),
                Op::And(parts) | Op::Or(parts) => parts
                    .iter()
                    .find(|part| annotated.is_unknown(part, self.state))?
                    .clone(),
                _ => return None,
            };
            formula = next;
        }
    }

    /// Follows a possible witness of a quantified formula. Sets the cause, or returns an inner
    /// formula with the state where it is unknown.
    fn look_along_path(
        &mut self,
        annotated: &Annotated<'_>,
        number: usize,
    ) -> Result<Option<(Ltl, u32)>, Obstacle> {
        let (path, _) = annotated.question.formula.quantified()[number].as_existential();
        let Some(lasso) = annotated.possible_path(&path, self.state)? else {
            return Ok(None);
        };
        let fairness = annotated.question.fairness.atoms();
        let atoms: Vec<Ltl> = path
            .atoms()
            .into_iter()
            .chain(fairness)
            .map(Ltl::atom)
            .collect();

        for &(node, step) in &lasso.steps {
            let mut unknown = atoms.iter().filter(|atom| annotated.is_unknown(atom, node));
            if let Some(atom) = unknown.next() {
                if atom
                    .atoms()
                    .into_iter()
                    .any(|a| CtlStar::as_quantified(a).is_some())
                {
                    return Ok(Some((atom.clone(), node)));
                }
                (self.state, self.cause) = (node, Cause::Proposition(atom.clone()));
                return Ok(None);
            }
            let target = annotated.system.free()[node as usize][step as usize];
            if !annotated.must_step(node, target) {
                (self.state, self.cause) = (node, Cause::Step(node, target));
                return Ok(None);
            }
        }

        Ok(None)
    }

    /// One sentence about it.
    pub(crate) fn message(&self, annotated: &Annotated<'_>) -> String {
        let system = annotated.system;
        let name = |atom: base::AtomId| system.propositions()[atom.index()].name.clone();
        let text = |formula: &Ltl| annotated.question.formula.text_of(formula, &name);
        let state = |number: u32| &system.states()[number as usize];
        let lost = format!(
            "`{}` is lost in state `{}`",
            text(&self.formula),
            state(self.state)
        );
        match &self.cause {
            Cause::Proposition(proposition) => format!(
                "{lost}: `{0}` is neither true nor false there; split the state so that `{0}` is known",
                text(proposition)
            ),
            Cause::Step(source, target) => format!(
                "{lost}: the step `{} -> {}` is free but not constrained; split `{0}` into the states \
                 that have the step and those that have not",
                state(*source),
                state(*target)
            ),
            Cause::Nothing => lost,
        }
    }
}

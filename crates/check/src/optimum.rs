//! The least or greatest value of an expression where a goal is reached.

use base::{AtomId, Progress};
use evidence::{Trace, UnknownReason, Verdict};
use logic::{Ltl, NamedProperty, Property};
use model::{Atom, AtomMeaning, BinaryOp, Env, Expr, Model};

use crate::{Bug, Outcome, Plan};

/// Looks for a goal with a better value as long as there is one. The property must ask for a
/// reachable position; the last witness found shows the best value, which is returned as well.
///
/// # Errors
/// The evidence found is wrong. This is a bug in the tool.
pub fn optimum(
    model: &Model,
    property: &NamedProperty,
    value: &Expr,
    greatest: bool,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Option<i64>), Bug> {
    let mut best = crate::check(model, property, plan, progress)?;
    let Property::Reachable(goal) = &property.property else {
        return Ok((best, None));
    };
    let mut found = None;

    loop {
        let number = match &best.verdict {
            Verdict::Holds {
                witness: Some(witness),
            } => last_value(model, property, value, witness),
            _ => return Ok((best, found)),
        };
        let Some(number) = number else {
            let why = "the value cannot be computed where the goal is reached".to_owned();
            best.give_up(UnknownReason::Unsupported(why));
            return Ok((best, None));
        };
        found = Some(number);
        let Some((improved, better)) = improvement(model, goal, value, (number, greatest)) else {
            return Ok((best, found));
        };
        let question = NamedProperty {
            property: better,
            ..property.clone()
        };
        let next = crate::check(&improved, &question, plan, progress)?;
        match next.verdict {
            Verdict::Holds { .. } => best = next,
            Verdict::Violated(_) => return Ok((best, found)),
            // There may be a better one.
            Verdict::Unknown(_) => return Ok((next, found)),
        }
    }
}

fn last_value(
    model: &Model,
    property: &NamedProperty,
    value: &Expr,
    witness: &Trace,
) -> Option<i64> {
    let state = witness.states.last()?;
    let mut env = Env::empty();
    model.eval(value, state, &mut env, property.span).ok()
}

/// The model with one more atom, and the question for a goal with a better value.
fn improvement(
    model: &Model,
    goal: &Ltl,
    value: &Expr,
    (number, greatest): (i64, bool),
) -> Option<(Model, Property)> {
    let mut parts = model.parts().clone();
    let op = if greatest { BinaryOp::Gt } else { BinaryOp::Lt };
    let better = Expr::binary(op, value.clone(), Expr::Int(number));
    let id = AtomId::new(parts.atoms.len());
    parts.atoms.push(Atom {
        name: "better".to_owned(),
        meaning: AtomMeaning::State(better),
        span: base::Span::nowhere(),
    });
    let property = Property::Reachable(Ltl::and([goal.clone(), Ltl::atom(id)]));
    parts.finish().ok().map(|model| (model, property))
}

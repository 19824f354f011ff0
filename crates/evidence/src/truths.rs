//! Where the parts of a formula hold along a run.

use logic::{Ltl, Op};
use model::Model;

use crate::replay::Replay;
use crate::word::Word;
use crate::{Invalid, Trace};

/// Where a part of a formula holds along a run.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Truth {
    /// The part, as text.
    pub text: String,
    /// How deep it lies inside the formula, which is at depth 0.
    pub depth: usize,
    /// Does it look at other positions than its own?
    pub is_temporal: bool,
    /// One value for each state of the run; nothing where a finite run does not decide it.
    pub at: Vec<Option<bool>>,
}

/// Where the parts of a formula hold along a run, which may start in any state: the formula first,
/// each part before its own parts, none twice, and at most `max_parts`.
///
/// # Errors
/// The trace is not a run of the model.
pub fn truths(
    model: &Model,
    formula: &Ltl,
    trace: &Trace,
    max_parts: usize,
) -> Result<Vec<Truth>, Invalid> {
    let replay = Replay::anywhere(model, trace)?;
    let word = Word::new(&replay, formula.atoms())?;
    let found = word.truths(formula, trace.states.len());
    let name = |atom: base::AtomId| model.parts().atoms[atom.index()].name.clone();
    // Operators inside an atom are not those of the formula around it.
    let inner = |atom: base::AtomId| match name(atom) {
        words if words.contains(' ') => format!("({words})"),
        word => word,
    };

    let mut truths: Vec<Truth> = Vec::new();
    let mut stack = vec![(formula, 0)];
    while let Some((part, depth)) = stack.pop() {
        // shape: an atom alone needs no parentheses.
        let text = match part.op() {
            Op::Atom(atom) => name(*atom),
            _ => part.display(&inner).to_string(),
        };
        let is_known = truths.iter().any(|truth| truth.text == text);
        // shape: constants say nothing that a row could show.
        let is_constant = matches!(part.op(), Op::True | Op::False);
        if is_known || is_constant || truths.len() == max_parts {
            continue;
        }
        let (_, at) = { found.iter() }
            .find(|(other, _)| other == &part)
            .expect("every part has its values");
        truths.push(Truth {
            text,
            depth,
            is_temporal: !part.is_propositional(),
            at: at.clone(),
        });
        let operands = part.operands().into_iter().rev();
        stack.extend(operands.map(|operand| (operand, depth + 1)));
    }
    Ok(truths)
}

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

#[cfg(test)]
mod tests {
    use base::{AtomId, Span};
    use model::{Atom, AtomMeaning, LocationId, ModelParts, Process, Step, StepPattern};

    use super::*;
    use crate::TraceStep;

    /// A process that goes from location 0 to 1 by `go`, and from 1 to 0 by `back`; the atom says that
    /// `go` was taken.
    fn model() -> Model {
        let step =
            |name, from, to| Step::new(name, LocationId(from), LocationId(to), Span::nowhere());
        let steps = vec![step("go", 0, 1), step("back", 1, 0)];
        let locations = vec!["here".into(), "there".into()];
        let process = Process::new("P", locations, steps, Span::nowhere());
        let meaning = AtomMeaning::Taken(StepPattern {
            action: Some("go".into()),
            ..StepPattern::default()
        });
        let atom = Atom {
            name: "went".into(),
            meaning,
            span: Span::nowhere(),
        };
        let parts = ModelParts {
            processes: vec![process],
            atoms: vec![atom],
            ..ModelParts::default()
        };
        parts.finish().expect("a model")
    }

    fn trace(model: &Model, loop_start: Option<usize>) -> Trace {
        let mut states = vec![model.initial_states().unwrap().remove(0)];
        let mut steps = Vec::new();
        for _ in 0..2 {
            let step = model.successors(states.last().unwrap()).unwrap().remove(0);
            steps.push(TraceStep::from(&step).into());
            states.push(step.target);
        }
        if loop_start.is_some() {
            states.pop();
        }
        Trace {
            states,
            steps,
            loop_start,
        }
    }

    #[test]
    fn rows_go_from_the_formula_to_its_parts() {
        let model = model();
        let went = Ltl::atom(AtomId(0));
        let formula = Ltl::always(Ltl::eventually(went));

        let lasso = truths(&model, &formula, &trace(&model, Some(0)), 10).unwrap();
        let texts: Vec<_> = lasso
            .iter()
            .map(|row| (row.text.as_str(), row.depth))
            .collect();
        assert_eq!(texts, [("[]<>went", 0), ("<>went", 1), ("went", 2)]);
        assert_eq!(lasso[0].at, [Some(true), Some(true)]);
        // No step leads to the first position.
        assert_eq!(lasso[2].at, [Some(false), Some(true)]);
        assert!(lasso[1].is_temporal && !lasso[2].is_temporal);

        let finite = truths(&model, &formula, &trace(&model, None), 10).unwrap();
        assert_eq!(finite[0].at, [None; 3]);
        assert_eq!(finite[1].at, [Some(true), Some(true), None]);
        assert_eq!(finite[2].at, [Some(false), Some(true), Some(false)]);
        assert_eq!(
            truths(&model, &formula, &trace(&model, None), 1)
                .unwrap()
                .len(),
            1
        );
    }
}

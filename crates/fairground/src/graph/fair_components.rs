//! Does a strongly connected set of states contain a fair loop?
//!
//! The conditions become marks and an acceptance as in the table of `docs/explanation/semantics.md`,
//! and the search of crate `omega` answers. For drawings only: verdicts come from crate `check`.

use base::{Fairness, FairnessKind};
use model::{Condition, ConditionKind, Model, Subject, Successor};
use omega::{Acceptance, Closure, ExplicitGraph, MarkId, NodeId, find_fair_cycle};

/// A step, and its target if that is known.
type Step = (Successor, Option<usize>);

/// Does the set contain a fair loop? Nothing if that needs more than marks of steps: assumptions,
/// states that are only passed through, abstract timers.
///
/// Precondition: all steps of the states of the set are known.
pub(super) fn has_fair_loop<'s>(
    model: &Model,
    nodes: &[usize],
    steps: &dyn Fn(usize) -> &'s [Step],
    fairness: Fairness,
) -> Option<bool> {
    let parts = model.parts();
    let conditions = model.fairness_conditions(fairness);
    let asks_for_states =
        |condition: &Condition| matches!(condition.subject, Subject::Timer(_) | Subject::Team(_));
    if !parts.assumptions.is_empty()
        || parts.control.is_some()
        || conditions.iter().any(asks_for_states)
    {
        return None;
    }

    let place = |state: usize| nodes.iter().position(|node| *node == state);
    let mut graph = ExplicitGraph::new(nodes.len(), 2 * conditions.len());
    graph.add_initial(NodeId::new(0));
    for (position, node) in nodes.iter().enumerate() {
        let leaving = steps(*node);
        let source = NodeId::new(position);
        let idles = leaving.is_empty();
        if idles {
            // A run that has come to its end idles.
            graph.add_edge(source, 0, source, &marks(&conditions, leaving, None));
        }
        for (number, (step, target)) in leaving.iter().enumerate() {
            let inside = target.and_then(place);
            if let Some(target) = inside {
                let marks = marks(&conditions, leaving, Some(step));
                graph.add_edge(source, number as u32, NodeId::new(target), &marks);
            }
        }
        let n_steps = if idles { 1 } else { leaving.len() as u32 };
        graph.set_origin(source, source.0, n_steps);
    }

    let closure = if fairness.kind == FairnessKind::StrongGlobal {
        Closure::OnSystem
    } else {
        Closure::None
    };
    let search = find_fair_cycle(&mut graph, &acceptance(&conditions), closure, &mut |_| {
        Ok(())
    });
    let Ok(found) = search.result;
    Some(found.is_some())
}

/// Condition `i` has the marks `2 i` (enabled or, if weak, disabled) and `2 i + 1` (taken).
fn marks(conditions: &[Condition], leaving: &[Step], step: Option<&Successor>) -> Vec<MarkId> {
    let mut marks = Vec::new();
    for (number, condition) in conditions.iter().enumerate() {
        let takes = |step: &Successor| match &condition.subject {
            Subject::Process(instance) => step.movers.contains(instance),
            Subject::Action(action) => step.actions.contains(action),
            Subject::Choice(command) => step.commands.contains(command),
            Subject::Timer(cell) => step.timers_set.contains(cell),
            Subject::Team(_) => false,
        };

        let is_enabled = leaving.iter().any(|(step, _)| takes(step));
        let is_first = match condition.kind {
            ConditionKind::Weak => !is_enabled,
            ConditionKind::Strong => is_enabled,
            ConditionKind::Unconditional => false,
        };

        if is_first {
            marks.push(MarkId::new(2 * number));
        }
        if step.is_some_and(takes) {
            marks.push(MarkId::new(2 * number + 1));
        }
    }

    marks
}

fn acceptance(conditions: &[Condition]) -> Acceptance {
    let of = |(number, condition): (usize, &Condition)| {
        let (first, taken) = (MarkId::new(2 * number), MarkId::new(2 * number + 1));
        match condition.kind {
            ConditionKind::Weak => {
                Acceptance::any([Acceptance::Inf(first), Acceptance::Inf(taken)])
            }
            ConditionKind::Strong => Acceptance::streett_pair(first, taken),
            ConditionKind::Unconditional => Acceptance::Inf(taken),
        }
    };
    Acceptance::all(conditions.iter().enumerate().map(of))
}

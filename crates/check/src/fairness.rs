//! Which runs count for a property.

use base::{Fairness, FairnessKind};
use logic::{NamedProperty, Property};
use model::{Assumption, Condition, ConditionKind, Model};
use omega::{Acceptance, Automaton, LetterMark, MarkId, Prop};

/// The fairness under which a property is checked: what the user asks for, else what the property
/// says, else what the model says, else the model's annotations, else none.
#[must_use]
pub fn effective_fairness(
    model: &Model,
    property: &NamedProperty,
    asked_for: Option<Fairness>,
) -> Fairness {
    let annotated = Fairness {
        kind: FairnessKind::None,
        annotated: !model.parts().annotations.is_empty(),
        timers: false,
    };
    asked_for
        .or(property.fairness)
        .or(model.parts().fairness)
        .unwrap_or(annotated)
}

/// More teams of commands than this are not listed: justness has a condition for each.
pub(crate) const MAX_TEAMS: usize = 20_000;

/// Why a fairness has too many conditions for this model.
pub(crate) fn has_too_many_conditions(model: &Model, fairness: Fairness) -> Option<String> {
    let n_teams = model.n_teams();
    let is_too_much = model.is_just(fairness) && n_teams > MAX_TEAMS;
    is_too_much.then(|| {
        format!(
            "the commands of the model can move together in {n_teams} ways, and justness is about \
             each of them, up to {MAX_TEAMS}; let fewer processes with fewer alternatives take \
             part in an event, or ask for `weak-process`, which implies it"
        )
    })
}

/// Can every finite run be continued to a fair one?
///
/// Weak and strong fairness of countably many subjects and strong global fairness allow it in every
/// system (a scheduler that serves the oldest obligation first never gets stuck); unconditional
/// fairness and assumptions may be impossible to satisfy.
pub(crate) fn is_machine_closed(model: &Model, conditions: &[Condition]) -> bool {
    let unconditional = |condition: &Condition| condition.kind == ConditionKind::Unconditional;
    model.parts().assumptions.is_empty() && !conditions.iter().any(unconditional)
}

/// Is every reachable state that breaks the property a violation of it? Not if it speaks of runs, nor
/// if only states on fair runs count and not all are on one, nor where states are abstract.
#[must_use]
pub fn is_broken_by_states(model: &Model, property: &NamedProperty) -> bool {
    let fairness = effective_fairness(model, property, None);
    let is_about_states = match &property.property {
        Property::DeadlockFree => true,
        Property::Invariant(_) => {
            has_too_many_conditions(model, fairness).is_none()
                && is_machine_closed(model, &model.fairness_conditions(fairness))
        }
        Property::Ltl(_)
        | Property::Reachable(_)
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => false,
    };
    is_about_states && model.abstract_timers().next().is_none()
}

/// The automaton restricted to runs that satisfy the assumptions: one letter mark for each literal,
/// no further state.
pub(crate) fn assuming(mut automaton: Automaton, assumptions: &[Assumption]) -> Automaton {
    let mut accepted = vec![automaton.acceptance.clone()];
    for assumption in assumptions {
        accepted.push(assumed(&mut automaton, assumption));
    }
    automaton.acceptance = Acceptance::all(accepted);
    automaton
}

/// Which marks of the automaton's edges satisfy the assumption; the marks are added to the automaton,
/// its acceptance stays as it is.
pub(crate) fn assumed(automaton: &mut Automaton, assumption: &Assumption) -> Acceptance {
    let literal = |atom, value| {
        if value {
            Prop::Atom(atom)
        } else {
            Prop::Not(Box::new(Prop::Atom(atom)))
        }
    };

    match assumption {
        Assumption::Infinitely(atom, value) => {
            Acceptance::Inf(add_mark(automaton, literal(*atom, *value)))
        }
        Assumption::Eventually(atom, value) => {
            Acceptance::Fin(add_mark(automaton, literal(*atom, !*value)))
        }
        Assumption::All(parts) => Acceptance::all(
            parts
                .iter()
                .map(|part| assumed(automaton, part))
                .collect::<Vec<_>>(),
        ),
        Assumption::Any(parts) => Acceptance::any(
            parts
                .iter()
                .map(|part| assumed(automaton, part))
                .collect::<Vec<_>>(),
        ),
    }
}

fn add_mark(automaton: &mut Automaton, when: Prop) -> MarkId {
    let known = automaton
        .letter_marks
        .iter()
        .find(|known| known.when == when);
    if let Some(known) = known {
        return known.mark;
    }
    let mark = MarkId::new(automaton.n_marks);
    automaton.n_marks += 1;
    automaton.letter_marks.push(LetterMark { mark, when });
    mark
}

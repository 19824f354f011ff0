//! Which values events carry when the system runs.
//!
//! An event whose values have no small static bounds is named after the values that it really
//! carries: these are found by running the system on the reference semantics until nothing new is
//! seen. The first run does not tell the values apart; every later run has a name for each value
//! that is known, and a step that carries another one ends in `ErrorKind::Exhausted`.
//!
//! Invariant: no verdict rests on the values being complete. A run that comes to a value without a
//! name is unknown, never merged with another; the caller then reads the model again with a larger
//! bound.

use std::collections::{BTreeMap, BTreeSet, HashSet, VecDeque};

use base::Span;
use model::{Env, Expr, Model, State};

/// Values that events carry, by event or channel with its mark (`e.`, `c!`).
pub(crate) type Values = BTreeMap<String, BTreeSet<Vec<i64>>>;

/// The values of an event, or of a channel in any role.
pub(crate) fn of_event<'v>(
    values: &'v Values,
    name: &str,
) -> impl Iterator<Item = &'v Vec<i64>> + use<'v> {
    let keys = ['.', '!', '?'].map(|mark| format!("{name}{mark}"));
    keys.into_iter()
        .filter_map(|key| values.get(&key))
        .flatten()
}

/// Rounds of discovery; what is still missing then is unknown when a run comes to it.
pub(crate) const MAX_ROUNDS: usize = 12;

/// An event with more different values than this is not told apart.
pub(crate) const MAX_VALUES: usize = 400;

/// The values of an event, as expressions over the state.
#[derive(Clone, Debug)]
pub(crate) struct Carried {
    /// The event or channel with its mark.
    pub(crate) key: String,
    pub(crate) values: Vec<Expr>,
}

/// Adds the values that occur in the first `n_states` states, nearest first. Says whether there are
/// new ones.
///
/// Values are looked at in all states, also where the event is not possible: that gives some values
/// names that they do not need.
pub(crate) fn discover(
    model: &Model,
    carried: &[Carried],
    n_states: usize,
    values: &mut Values,
) -> bool {
    let mut asked: Vec<&Carried> = Vec::new();
    let mut written = HashSet::new();
    for one in carried {
        if written.insert(format!("{one:?}")) {
            asked.push(one);
        }
    }

    let initial = model.initial_states().unwrap_or_default();
    let mut seen: HashSet<State> = initial.iter().take(n_states).cloned().collect();
    let mut waiting: VecDeque<State> = initial.into_iter().take(n_states).collect();
    let mut has_grown = false;
    while let Some(state) = waiting.pop_front() {
        for Carried { key, values: exprs } in &asked {
            let eval = |expr| model.eval(expr, &state, &mut Env::empty(), Span::nowhere());
            let Ok(numbers) = exprs.iter().map(eval).collect::<Result<Vec<i64>, _>>() else {
                continue;
            };
            let known = values.entry(key.clone()).or_default();
            has_grown |= known.len() <= MAX_VALUES && known.insert(numbers);
        }
        for step in model.successors(&state).unwrap_or_default() {
            if seen.len() < n_states && seen.insert(step.target.clone()) {
                waiting.push_back(step.target);
            }
        }
    }
    has_grown
}

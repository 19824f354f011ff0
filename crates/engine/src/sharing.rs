//! Conditions that several guards share.
//!
//! In a protocol whose every rule asks "is there a leader?", that question is answered once for
//! each state, not once for each rule. A condition is shared if it occurs, with the same values
//! for its bound names, in the guards of at least two commands and costs enough to be worth it.

use model::{BoundId, Expr, Model, Owner};
use rustc_hash::FxHashMap;

use crate::compile::Operand;

/// Conditions with fewer parts are as quickly computed as looked up.
const MIN_COST: u64 = 6;

/// Larger models are not searched for shared conditions: it would take longer than it saves.
const MAX_COMMANDS: usize = 20_000;

/// The slots of shared conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    slot_by_condition: FxHashMap<String, u16>,
}

impl Sharing {
    /// Looks through the guards of all commands.
    pub(crate) fn new(model: &Model) -> Self {
        let mut sharing = Self::default();
        if model.commands().len() > MAX_COMMANDS {
            return sharing;
        }
        let mut count_by_condition: FxHashMap<String, usize> = FxHashMap::default();
        let mut order = Vec::new();

        for (position, command) in model.commands().iter().enumerate() {
            let known = |&(bound, value): &(BoundId, i64)| (bound, Operand::Const(value));
            let bindings: Vec<_> = command.bindings.iter().map(known).collect();
            let guard = &model.step_of(model::CommandId::new(position)).guard;
            let mut found = Vec::new();
            collect(guard, &bindings, &mut found);
            found.sort_unstable();
            found.dedup();
            for condition in found {
                let count = count_by_condition.entry(condition.clone()).or_insert(0);
                *count += 1;
                if *count == 2 {
                    order.push(condition);
                }
            }
        }

        for condition in order.into_iter().take(usize::from(u16::MAX)) {
            let slot = sharing.slot_by_condition.len() as u16;
            sharing.slot_by_condition.insert(condition, slot);
        }

        sharing
    }

    /// How many slots there are.
    pub(crate) fn n_slots(&self) -> usize {
        self.slot_by_condition.len()
    }

    /// The slot of a condition, if it is shared.
    pub(crate) fn slot(&self, expr: &Expr, bindings: &[(BoundId, Operand)]) -> Option<u16> {
        if self.slot_by_condition.is_empty() || !is_candidate(expr) {
            return None;
        }
        self.slot_by_condition.get(&key(expr, bindings)?).copied()
    }
}

/// The candidates in a guard: its Boolean parts, outermost first.
fn collect(expr: &Expr, bindings: &[(BoundId, Operand)], found: &mut Vec<String>) {
    if is_candidate(expr) {
        found.extend(key(expr, bindings));
    }
    match expr {
        Expr::Not(inner) => collect(inner, bindings, found),
        Expr::Binary(
            model::BinaryOp::And | model::BinaryOp::Or | model::BinaryOp::Implies,
            a,
            b,
        ) => {
            collect(a, bindings, found);
            collect(b, bindings, found);
        }
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Bound(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::At { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => {}
    }
}

fn is_candidate(expr: &Expr) -> bool {
    // A negation is looked up as what it negates.
    // shape: everything else is looked up as it is.
    !matches!(expr, Expr::Not(_)) && cost(expr) >= MIN_COST
}

/// About how many instructions the expression takes.
fn cost(expr: &Expr) -> u64 {
    match expr {
        Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) | Expr::Bound(_) => 0,
        Expr::Read(_) | Expr::At { .. } | Expr::Length(_) => 1,
        Expr::Not(inner) | Expr::Neg(inner) => cost(inner),
        Expr::Wrap { inner, .. } => 1 + cost(inner),
        Expr::Binary(_, a, b) => 1 + cost(a) + cost(b),
        Expr::Ite(a, b, c) => 1 + cost(a) + cost(b) + cost(c),
        Expr::Quantified { body, .. } => 4 * (1 + cost(body)),
    }
}

/// The condition with the values of its bound names, as a text; nothing if it depends on a name
/// whose value is known only when the code runs.
fn key(expr: &Expr, bindings: &[(BoundId, Operand)]) -> Option<String> {
    let mut names = Vec::new();
    expr.walk(&mut |inner| names.extend(inner.as_bound()));
    names.sort_unstable();
    names.dedup();
    let mut text = format!("{expr:?}");
    for name in names {
        match bindings.iter().rev().find(|(bound, _)| *bound == name) {
            Some((_, Operand::Const(value))) => text.push_str(&format!("|{}={value}", name.0)),
            Some((_, Operand::Reg(_))) => return None,
            // Bound inside the condition itself.
            None => {}
        }
    }
    // Own locations and variables differ from process to process.
    (!mentions_own(expr)).then_some(text)
}

fn mentions_own(expr: &Expr) -> bool {
    expr.any(&mut |inner| match inner {
        Expr::Read(place) => place.owner == Some(Owner::Own),
        Expr::At { owner, .. } => *owner == Owner::Own,
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Bound(_)
        | Expr::Not(_)
        | Expr::Neg(_)
        | Expr::Binary(..)
        | Expr::Ite(..)
        | Expr::Quantified { .. }
        | Expr::Length(_)
        | Expr::Wrap { .. } => false,
    })
}

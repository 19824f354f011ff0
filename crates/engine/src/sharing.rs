//! Conditions that several guards share.
//!
//! In a protocol whose every rule asks "is there a leader?", that question is answered once for
//! each state, not once for each rule. A condition is shared if it occurs, with the same values
//! for its bound names, in the guards of at least two commands and costs enough to be worth it.

use std::hash::{Hash as _, Hasher as _};
use std::mem;

use model::{BoundId, Expr, Model, Owner};
use rustc_hash::{FxHashMap, FxHasher};

use crate::compile::Operand;

/// Conditions with fewer parts are as quickly computed as looked up.
const MIN_COST: u64 = 6;

/// Larger models are not searched for shared conditions: it would take longer than it saves.
const MAX_COMMANDS: usize = 20_000;

/// The slots of shared conditions.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sharing {
    /// By [`Key::fingerprint`]: few conditions have the same, and these are compared.
    found: FxHashMap<u64, Vec<Condition>>,
    n_slots: usize,
}

/// A condition that occurs in guards.
#[derive(Clone, Debug)]
struct Condition {
    expr: Expr,
    values: Vec<(BoundId, i64)>,
    /// The command in whose guard it was found last.
    last: usize,
    /// Its slot, once it was found in the guards of two commands.
    slot: Option<u16>,
}

/// What tells a condition from others besides its expression.
struct Key {
    /// Equal for equal expressions with equal values.
    fingerprint: u64,
    /// The values of names that are bound outside.
    values: Vec<(BoundId, i64)>,
}

impl Sharing {
    /// Looks through the guards of all commands.
    pub(crate) fn new(model: &Model) -> Self {
        let mut sharing = Self::default();
        if model.commands().len() > MAX_COMMANDS {
            return sharing;
        }

        for (position, command) in model.commands().iter().enumerate() {
            let known = |&(bound, value): &(BoundId, i64)| (bound, Operand::Const(value));
            let bindings: Vec<_> = command.bindings.iter().map(known).collect();
            let guard = &model.step_of(model::CommandId::new(position)).guard;
            collect(guard, &bindings, &mut |expr, key| {
                sharing.count(expr, key, position);
            });
        }

        for alike in sharing.found.values_mut() {
            alike.retain(|condition| condition.slot.is_some());
        }
        sharing.found.retain(|_, alike| !alike.is_empty());
        sharing
    }

    /// Notes that a condition occurs in the guard of a command.
    fn count(&mut self, expr: &Expr, key: Key, command: usize) {
        let alike = self.found.entry(key.fingerprint).or_default();
        let known = alike.iter_mut().find(|other| other.is(expr, &key));
        let Some(condition) = known else {
            alike.push(Condition {
                expr: expr.clone(),
                values: key.values,
                last: command,
                slot: None,
            });
            return;
        };

        let is_second = condition.slot.is_none() && condition.last != command;
        if is_second && self.n_slots < usize::from(u16::MAX) {
            condition.slot = Some(self.n_slots as u16);
            self.n_slots += 1;
        }
        condition.last = command;
    }

    /// How many slots there are.
    pub(crate) fn n_slots(&self) -> usize {
        self.n_slots
    }

    /// The slot of a condition, if it is shared.
    pub(crate) fn slot(&self, expr: &Expr, bindings: &[(BoundId, Operand)]) -> Option<u16> {
        if self.found.is_empty() || !is_candidate(expr) {
            return None;
        }
        let key = key(expr, bindings)?;
        let alike = self.found.get(&key.fingerprint)?;
        alike.iter().find(|other| other.is(expr, &key))?.slot
    }
}

impl Condition {
    fn is(&self, expr: &Expr, key: &Key) -> bool {
        self.values == key.values && self.expr == *expr
    }
}

/// The candidates in a guard: its Boolean parts, outermost first.
fn collect(expr: &Expr, bindings: &[(BoundId, Operand)], found: &mut dyn FnMut(&Expr, Key)) {
    if is_candidate(expr)
        && let Some(key) = key(expr, bindings)
    {
        found(expr, key);
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

/// What tells the condition from others; nothing if it depends on a name whose value is known only
/// when the code runs, or on the process that evaluates it.
fn key(expr: &Expr, bindings: &[(BoundId, Operand)]) -> Option<Key> {
    let mut hasher = FxHasher::default();
    let mut names = Vec::new();
    let mut mentions_own = false;
    // What is not hashed here is told apart by comparing.
    expr.walk(&mut |inner| {
        mem::discriminant(inner).hash(&mut hasher);
        match inner {
            Expr::Int(value) => value.hash(&mut hasher),
            Expr::Bool(value) => value.hash(&mut hasher),
            Expr::Enum(_, value) => value.hash(&mut hasher),
            Expr::Bound(name) => names.push(*name),
            Expr::Binary(op, ..) => op.hash(&mut hasher),
            Expr::Quantified { quantifier, .. } => quantifier.hash(&mut hasher),
            // Own locations and variables differ from process to process.
            Expr::Read(place) => {
                place.var.hash(&mut hasher);
                mentions_own |= place.owner == Some(Owner::Own);
            }
            Expr::At {
                owner, locations, ..
            } => {
                locations.hash(&mut hasher);
                mentions_own |= *owner == Owner::Own;
            }
            Expr::Not(_) | Expr::Neg(_) | Expr::Ite(..) | Expr::Length(_) | Expr::Wrap { .. } => {}
        }
    });
    if mentions_own {
        return None;
    }

    names.sort_unstable();
    names.dedup();
    let mut values = Vec::new();
    for name in names {
        match bindings.iter().rev().find(|(bound, _)| *bound == name) {
            Some((_, Operand::Const(value))) => values.push((name, *value)),
            Some((_, Operand::Reg(_))) => return None,
            // Bound inside the condition itself.
            None => {}
        }
    }
    values.hash(&mut hasher);
    Some(Key {
        fingerprint: hasher.finish(),
        values,
    })
}

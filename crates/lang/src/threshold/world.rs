//! What expressions say about numbers of processes, counters and parameters.
//!
//! Processes have no names here, only states. A bound name stands for a *slot*: one process whose state
//! is known. What is said about a process whose state is not known is said for each state that it may
//! have. Where a name ranges over a family, it is one of the slots, or one of the others: of those that
//! are in a state, as many as the counter of the state says, without the slots that are there.

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use base::{Diagnostic, Span};
use model::threshold::{Comparison, Condition, Quantity, Sum};
use model::{
    BinaryOp, BoundId, Expr, LocationId, ModelParts, Owner, Place, ProcessId, Quantifier, Scalar,
    Type, VarId,
};

/// Why a model is not a threshold automaton.
pub(super) type Wrong = Box<Diagnostic>;

/// Names range over at most this many numbers.
const MAX_EXPANSION: i64 = 1000;

pub(super) fn outside(span: Span, message: impl Into<String>, help: &str) -> Wrong {
    Box::new(Diagnostic::error("threshold", span, message).help(help))
}

pub(super) fn too_large(span: Span) -> Wrong {
    Box::new(Diagnostic::error(
        "too-large",
        span,
        "a number is too large",
    ))
}

/// The families of a model, its counters and its parameters.
pub(super) struct World<'a> {
    pub(super) parts: &'a ModelParts,
    /// What stands for the parameters in expressions.
    pub(super) parameters: Vec<BoundId>,
    /// The global variables, all of which are counters.
    pub(super) counters: Vec<VarId>,
    pub(super) families: Vec<Family>,
}

/// The processes that follow one text.
pub(super) struct Family {
    pub(super) process: ProcessId,
    /// The first and the last index; of a single process, zero twice.
    pub(super) lo: Sum,
    pub(super) hi: Sum,
    pub(super) n_locations: usize,
    /// Its local variables, with their least and greatest values.
    pub(super) locals: Vec<(VarId, i64, i64)>,
    /// The first of its states among those of all families.
    pub(super) first: usize,
    /// One process that a question tells apart from the others. Its states come after theirs.
    pub(super) distinguished: Option<BoundId>,
}

impl Family {
    pub(super) fn n_states(&self) -> usize {
        let values = self.locals.iter().map(|(_, lo, hi)| (hi - lo + 1) as usize);
        self.n_locations * values.product::<usize>()
    }

    pub(super) fn n_copies(&self) -> usize {
        1 + usize::from(self.distinguished.is_some())
    }

    /// The location and the values of local variables.
    pub(super) fn state(&self, mut number: usize) -> (LocationId, Vec<i64>) {
        let mut values = Vec::new();
        for (_, lo, hi) in &self.locals {
            let n_values = (hi - lo + 1) as usize;
            values.push(lo + (number % n_values) as i64);
            number /= n_values;
        }
        (LocationId::new(number), values)
    }

    pub(super) fn number(&self, location: LocationId, values: &[i64]) -> usize {
        let mut number = location.index();
        for ((_, lo, hi), value) in self.locals.iter().zip(values).rev() {
            number = number * (hi - lo + 1) as usize + (value - lo) as usize;
        }
        number
    }

    /// How many of the processes, or whether the one that is told apart, are in a state.
    pub(super) fn quantity(&self, copy: usize, state: usize) -> Quantity {
        Quantity::Location(self.first + copy * self.n_states() + state)
    }

    /// How many of all its processes are in a state.
    fn present(&self, state: usize) -> Sum {
        let mut sum = Sum::default();
        for copy in 0..self.n_copies() {
            sum.terms.insert(self.quantity(copy, state), 1);
        }
        sum
    }
}

/// A process whose state is known.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    pub(super) family: usize,
    /// The state that it is counted in: a step changes its own, but counters change after the step.
    pub(super) counted: usize,
    pub(super) location: LocationId,
    pub(super) locals: Vec<i64>,
}

/// What a bound name stands for.
#[derive(Clone, Debug)]
pub(super) enum Meaning {
    Value(Value),
    /// The process in this slot.
    Process(usize),
}

#[derive(Clone, Debug)]
pub(super) enum Value {
    Number(Sum),
    Truth(Condition),
}

/// What is known where an expression is evaluated.
#[derive(Clone, Debug)]
pub(super) struct Scope {
    pub(super) names: Vec<(BoundId, Meaning)>,
    pub(super) slots: Vec<Slot>,
    /// The slot of the process that evaluates.
    pub(super) own: Option<usize>,
    /// What has been added to counters before.
    pub(super) added: BTreeMap<usize, i64>,
    /// What to point at if something is wrong.
    pub(super) span: Span,
}

impl Scope {
    pub(super) fn at(span: Span) -> Self {
        Self {
            names: Vec::new(),
            slots: Vec::new(),
            own: None,
            added: BTreeMap::new(),
            span,
        }
    }

    fn meaning(&self, name: BoundId) -> Option<&Meaning> {
        let known = self.names.iter().rev().find(|(known, _)| *known == name);
        known.map(|(_, meaning)| meaning)
    }

    fn process(&self, expr: &Expr) -> Option<usize> {
        match self.meaning(expr.as_bound()?)? {
            Meaning::Process(slot) => Some(*slot),
            Meaning::Value(_) => None,
        }
    }

    pub(super) fn with(&self, name: BoundId, meaning: Meaning) -> Self {
        let mut scope = self.clone();
        scope.names.push((name, meaning));
        scope
    }

    /// With one more process whose state is known, called by a name if it has one.
    fn with_slot(&self, name: Option<BoundId>, slot: Slot) -> Self {
        let mut scope = self.clone();
        let number = scope.slots.len();
        scope.slots.push(slot);
        let meaning = Meaning::Process(number);
        scope.names.extend(name.map(|name| (name, meaning)));
        scope
    }
}

impl World<'_> {
    pub(super) fn name_of(&self, family: &Family) -> &str {
        &self.parts.processes[family.process.index()].name
    }

    /// What a state of one of the processes is called.
    pub(super) fn state_name(&self, family: &Family, copy: usize, state: usize) -> String {
        let (location, values) = family.state(state);
        let process = &self.parts.processes[family.process.index()];

        let index = family.distinguished.filter(|_| copy > 0);
        let index = index.map(|name| format!("[{}]", self.parts.bounds[name.index()]));
        let mut name = format!(
            "{}{} @ {}",
            process.name,
            index.unwrap_or_default(),
            process.locations[location.index()]
        );

        let values = family.locals.iter().zip(values);
        let values = values.map(|((var, ..), value)| {
            let variable = &self.parts.vars[var.index()];
            let value = match variable.ty {
                Type::Scalar(Scalar::Bool) => (value != 0).to_string(),
                Type::Scalar(Scalar::Enum(id, _)) => self.parts.index_text(Some(id), value),
                Type::Scalar(Scalar::Range(..) | Scalar::Int)
                | Type::Array(_)
                | Type::Record(_) => value.to_string(),
            };
            format!("{} = {value}", variable.name)
        });

        let values: Vec<String> = values.collect();
        if !values.is_empty() {
            name += &format!(" ({})", values.join(", "));
        }
        name
    }

    fn family_of(&self, process: ProcessId) -> usize {
        process.index()
    }

    pub(super) fn slot(&self, family: usize, state: usize) -> Slot {
        let (location, locals) = self.families[family].state(state);
        Slot {
            family,
            counted: state,
            location,
            locals,
        }
    }

    /// What a Boolean expression says.
    pub(super) fn condition(&self, expr: &Expr, scope: &Scope) -> Result<Condition, Wrong> {
        let Some((family, name)) = self.not_placed(expr, scope) else {
            return self.truth(expr, scope);
        };
        let copy = usize::from(name.is_some());
        let description = &self.families[family];
        let mut cases = Vec::new();
        for state in 0..description.n_states() {
            let here = Sum::of(description.quantity(copy, state));
            let inner = scope.with_slot(name, self.slot(family, state));
            let said = self.condition(expr, &inner)?;
            cases.push(Condition::all([at_least_one(here, scope.span)?, said]));
        }
        Ok(Condition::any(cases))
    }

    /// A process that an expression names and whose state is not known: a single one, or one that the
    /// question tells apart.
    fn not_placed(&self, expr: &Expr, scope: &Scope) -> Option<(usize, Option<BoundId>)> {
        let is_known = |family| scope.slots.iter().any(|slot: &Slot| slot.family == family);
        let mut found = None;
        expr.walk(&mut |part| {
            // shape: what else there is names no single process.
            let single = if let Expr::At {
                process,
                owner: Owner::Single,
                ..
            } = part
            {
                Some(*process)
            // shape: other places belong to no single process.
            } else if let Some(Place {
                var,
                owner: Some(Owner::Single),
                ..
            }) = part.as_read()
            {
                self.parts.vars[var.index()].owner
            } else {
                None
            };
            let single = single.map(|process| self.family_of(process));
            let single = single.filter(|family| !is_known(*family));
            found = found.or(single.map(|family| (family, None)));

            let Some(name) = part.as_bound() else {
                return;
            };
            let mut families = self.families.iter();
            let family = families.position(|family| family.distinguished == Some(name));
            let family = family.filter(|_| scope.meaning(name).is_none());
            found = found.or(family.map(|family| (family, Some(name))));
        });
        found
    }

    fn truth(&self, expr: &Expr, scope: &Scope) -> Result<Condition, Wrong> {
        match self.value(expr, scope)? {
            Value::Truth(condition) => Ok(condition),
            Value::Number(_) => Err(self.not_linear(scope)),
        }
    }

    pub(super) fn number(&self, expr: &Expr, scope: &Scope) -> Result<Sum, Wrong> {
        match self.value(expr, scope)? {
            Value::Number(sum) => Ok(sum),
            Value::Truth(_) => Err(self.not_linear(scope)),
        }
    }

    /// A value that depends on neither counters nor parameters.
    pub(super) fn constant(&self, expr: &Expr, scope: &Scope) -> Result<i64, Wrong> {
        let known = match self.value(expr, scope)? {
            Value::Number(sum) => sum.as_constant(),
            Value::Truth(Condition::Bool(value)) => Some(i64::from(value)),
            Value::Truth(_) => None,
        };
        known.ok_or_else(|| {
            let message = "this depends on counters, parameters or other processes";
            let help = "what a process remembers, and what it adds to counters, depends on its own state only";
            outside(scope.span, message, help)
        })
    }

    /// All values from one expression to another.
    pub(super) fn range(
        &self,
        lo: &Expr,
        hi: &Expr,
        scope: &Scope,
    ) -> Result<RangeInclusive<i64>, Wrong> {
        let (lo, hi) = (self.constant(lo, scope)?, self.constant(hi, scope)?);
        if hi.saturating_sub(lo) < MAX_EXPANSION {
            return Ok(lo..=hi);
        }
        let message = format!("{lo}..{hi} has too many values here");
        let help = format!("at most {MAX_EXPANSION} are possible");
        Err(outside(scope.span, message, &help))
    }

    fn not_linear(&self, scope: &Scope) -> Wrong {
        let help = "conditions of threshold automata compare sums of counters and numbers of processes with sums of multiples of parameters, such as `x >= N - T`, and combine that by `&&`, `||` and `!`";
        outside(scope.span, "a condition here has another shape", help)
    }

    pub(super) fn value(&self, expr: &Expr, scope: &Scope) -> Result<Value, Wrong> {
        Ok(match expr {
            Expr::Int(value) => Value::Number(Sum::constant(*value)),
            Expr::Bool(value) => Value::Truth(Condition::Bool(*value)),
            Expr::Enum(_, variant) => Value::Number(Sum::constant(i64::from(*variant))),
            Expr::Bound(name) => self.bound(*name, scope)?,
            Expr::Read(place) => self.read(place, scope)?,
            Expr::Not(inner) => {
                let negation = self.truth(inner, scope)?.negation();
                Value::Truth(negation.ok_or_else(|| too_large(scope.span))?)
            }
            Expr::Neg(inner) => {
                let negation = Sum::default().plus(-1, &self.number(inner, scope)?);
                Value::Number(negation.ok_or_else(|| too_large(scope.span))?)
            }
            Expr::Binary(op, left, right) => self.binary(*op, left, right, scope)?,
            Expr::Ite(condition, then, otherwise) => {
                self.choice(condition, then, otherwise, scope)?
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => {
                let instances = self.instances(*bound, (lo, hi), body, scope)?;
                self.quantified(*quantifier, instances, body, scope)?
            }
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let slot = self.slot_of(*process, owner, scope)?;
                Value::Truth(Condition::Bool(locations.contains(&slot.location)))
            }
            Expr::Length(_) | Expr::Wrap { .. } => return Err(self.not_linear(scope)),
        })
    }

    fn bound(&self, name: BoundId, scope: &Scope) -> Result<Value, Wrong> {
        let parameter = self.parameters.iter().position(|known| *known == name);
        match (scope.meaning(name), parameter) {
            (Some(Meaning::Value(value)), _) => Ok(value.clone()),
            (None, Some(position)) => Ok(Value::Number(Sum::of(Quantity::Parameter(position)))),
            (Some(Meaning::Process(_)), _) | (None, None) => {
                let name = &self.parts.bounds[name.index()];
                let message = format!("the value of `{name}` is used, which numbers processes");
                let help = "processes of a threshold automaton have no names: an index may say whose location or variable is meant, as in `P[i] @ done`, and be compared with another index, but nothing else";
                Err(outside(scope.span, message, help))
            }
        }
    }

    fn read(&self, place: &Place, scope: &Scope) -> Result<Value, Wrong> {
        let variable = &self.parts.vars[place.var.index()];
        let Some(owner) = &place.owner else {
            let position = self.counters.iter().position(|known| *known == place.var);
            let position = position.ok_or_else(|| self.not_linear(scope))?;
            let added = scope.added.get(&position).copied().unwrap_or(0);
            let sum = Sum::of(Quantity::Shared(position)).plus(1, &Sum::constant(added));
            return Ok(Value::Number(sum.ok_or_else(|| too_large(scope.span))?));
        };

        let process = variable.owner.ok_or_else(|| self.not_linear(scope))?;
        let slot = self.slot_of(process, owner, scope)?;
        let locals = &self.families[slot.family].locals;
        let position = locals.iter().position(|(known, ..)| *known == place.var);
        let value = slot.locals[position.ok_or_else(|| self.not_linear(scope))?];
        Ok(match variable.ty {
            Type::Scalar(Scalar::Bool) => Value::Truth(Condition::Bool(value != 0)),
            Type::Scalar(Scalar::Range(..) | Scalar::Int | Scalar::Enum(..))
            | Type::Array(_)
            | Type::Record(_) => Value::Number(Sum::constant(value)),
        })
    }

    fn slot_of<'s>(
        &self,
        process: ProcessId,
        owner: &Owner,
        scope: &'s Scope,
    ) -> Result<&'s Slot, Wrong> {
        let family = self.family_of(process);
        let slot = match owner {
            Owner::Own => scope.own,
            Owner::Single => scope.slots.iter().position(|slot| slot.family == family),
            Owner::Indexed(index) => scope.process(index),
        };
        let slot = slot.map(|slot| &scope.slots[slot]);
        slot.filter(|slot| slot.family == family).ok_or_else(|| {
            let name = &self.parts.processes[process.index()].name;
            let message = format!("one `{name}` is told apart from the others");
            let help = "processes of a threshold automaton have no names: speak of all of them (`forall i in …`, `exists`, `count`)";
            outside(scope.span, message, help)
        })
    }

    fn choice(
        &self,
        condition: &Expr,
        then: &Expr,
        otherwise: &Expr,
        scope: &Scope,
    ) -> Result<Value, Wrong> {
        let yes = self.truth(condition, scope)?;
        if let Condition::Bool(value) = yes {
            return self.value(if value { then } else { otherwise }, scope);
        }
        let no = yes.negation().ok_or_else(|| too_large(scope.span))?;
        let (then, otherwise) = (self.truth(then, scope)?, self.truth(otherwise, scope)?);
        let cases = [Condition::all([yes, then]), Condition::all([no, otherwise])];
        Ok(Value::Truth(Condition::any(cases)))
    }

    fn binary(
        &self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        scope: &Scope,
    ) -> Result<Value, Wrong> {
        if let (BinaryOp::Eq | BinaryOp::Ne, Some(a), Some(b)) =
            (op, scope.process(left), scope.process(right))
        {
            let families = [a, b].map(|slot| &self.families[scope.slots[slot].family]);
            if families[0].process != families[1].process {
                let [one, other] = families.map(|family| self.name_of(family));
                let message = format!("an index of `{one}` is compared with one of `{other}`");
                let help = "processes of a threshold automaton have no names: which of one family goes with which of another is not known";
                return Err(outside(scope.span, message, help));
            }
            return Ok(Value::Truth(Condition::Bool(
                (a == b) == (op == BinaryOp::Eq),
            )));
        }
        match (self.value(left, scope)?, op) {
            (Value::Number(a), _) => arithmetic(op, &a, &self.number(right, scope)?, scope.span)?
                .ok_or_else(|| self.not_linear(scope)),
            // The right side is not evaluated if the left one decides.
            (Value::Truth(Condition::Bool(false)), BinaryOp::And) => {
                Ok(Value::Truth(Condition::Bool(false)))
            }
            (Value::Truth(Condition::Bool(true)), BinaryOp::Or)
            | (Value::Truth(Condition::Bool(false)), BinaryOp::Implies) => {
                Ok(Value::Truth(Condition::Bool(true)))
            }
            (Value::Truth(a), _) => connected(op, a, self.truth(right, scope)?)
                .map(Value::Truth)
                .ok_or_else(|| self.not_linear(scope)),
        }
    }

    /// What a name ranges over: how many there are of each kind, and what is known then. Of a process in
    /// a slot, and of a number, there is one.
    fn instances(
        &self,
        name: BoundId,
        (lo, hi): (&Expr, &Expr),
        body: &Expr,
        scope: &Scope,
    ) -> Result<Vec<(Sum, Scope)>, Wrong> {
        let (lo, hi) = (self.number(lo, scope)?, self.number(hi, scope)?);
        let families = self.indexed_by(name, body);
        let [family] = families[..] else {
            return self.numbers(name, (&lo, &hi), &families, scope);
        };

        let description = &self.families[family];
        if (&lo, &hi) != (&description.lo, &description.hi) {
            let process = self.name_of(description);
            let message = format!("a name ranges over some of `{process}`, but not over all");
            let help = "processes of a threshold automaton have no names: let it range over the indices of the family, as they are written there";
            return Err(outside(scope.span, message, help));
        }
        let mut instances = Vec::new();
        for (number, slot) in scope.slots.iter().enumerate() {
            if slot.family == family {
                let inner = scope.with(name, Meaning::Process(number));
                instances.push((Sum::constant(1), inner));
            }
        }
        for state in 0..description.n_states() {
            let slot = self.slot(family, state);
            let is_here = |known: &&Slot| known.family == family && known.counted == state;
            let n_here = scope.slots.iter().filter(is_here).count() as i64;
            let others = description.present(state).plus(-n_here, &Sum::constant(1));
            let others = others.ok_or_else(|| too_large(scope.span))?;
            instances.push((others, scope.with_slot(Some(name), slot)));
        }
        Ok(instances)
    }

    /// The families whose processes a name numbers in an expression.
    pub(super) fn indexed_by(&self, name: BoundId, body: &Expr) -> Vec<usize> {
        let mut found = Vec::new();
        body.walk(&mut |part| {
            // shape: what else there is belongs to no process.
            let (process, owner) = if let Expr::At { process, owner, .. } = part {
                (Some(*process), Some(owner))
            } else if let Some(place) = part.as_read() {
                let variable = &self.parts.vars[place.var.index()];
                (variable.owner, place.owner.as_ref())
            } else {
                (None, None)
            };
            // shape: other owners have no index.
            if let (Some(process), Some(Owner::Indexed(index))) = (process, owner)
                && index.as_bound() == Some(name)
            {
                found.push(self.family_of(process));
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// A name that ranges over numbers.
    fn numbers(
        &self,
        name: BoundId,
        (lo, hi): (&Sum, &Sum),
        families: &[usize],
        scope: &Scope,
    ) -> Result<Vec<(Sum, Scope)>, Wrong> {
        let range = lo.as_constant().zip(hi.as_constant());
        let range =
            range.filter(|(lo, hi)| families.is_empty() && hi.saturating_sub(*lo) < MAX_EXPANSION);
        let Some((lo, hi)) = range else {
            let name = &self.parts.bounds[name.index()];
            let message = format!("`{name}` does not number the processes of one family");
            let help = "a range that ends at a parameter is for the indices of one family";
            return Err(outside(scope.span, message, help));
        };

        let number = |value| {
            let value = Meaning::Value(Value::Number(Sum::constant(value)));
            (Sum::constant(1), scope.with(name, value))
        };
        Ok((lo..=hi).map(number).collect())
    }

    fn quantified(
        &self,
        quantifier: Quantifier,
        instances: Vec<(Sum, Scope)>,
        body: &Expr,
        scope: &Scope,
    ) -> Result<Value, Wrong> {
        let (mut parts, mut total) = (Vec::new(), Sum::default());

        // A family may be empty for some parameters: each instance counts if there is one.
        for (how_many, inner) in instances {
            let some = at_least_one(how_many.clone(), scope.span)?;
            match quantifier {
                Quantifier::Forall => {
                    let none = some.negation().ok_or_else(|| too_large(scope.span))?;
                    parts.push(Condition::any([none, self.truth(body, &inner)?]));
                }
                Quantifier::Exists => {
                    parts.push(Condition::all([some, self.truth(body, &inner)?]));
                }
                Quantifier::Sum => {
                    let each = self.constant(body, &inner)?;
                    let sum = total.plus(each, &how_many);
                    total = sum.ok_or_else(|| too_large(scope.span))?;
                }
            }
        }

        Ok(match quantifier {
            Quantifier::Forall => Value::Truth(Condition::all(parts)),
            Quantifier::Exists => Value::Truth(Condition::any(parts)),
            Quantifier::Sum => Value::Number(total),
        })
    }
}

fn at_least_one(sum: Sum, span: Span) -> Result<Condition, Wrong> {
    let excess = sum.plus(-1, &Sum::constant(1));
    let excess = excess.ok_or_else(|| too_large(span))?;
    Ok(Condition::Compare(excess, Comparison::AtLeastZero).decided())
}

/// Nothing if the result is not linear.
fn arithmetic(op: BinaryOp, a: &Sum, b: &Sum, span: Span) -> Result<Option<Value>, Wrong> {
    if op.is_boolean() {
        let compared = match op {
            BinaryOp::And | BinaryOp::Or | BinaryOp::Implies => return Ok(None),
            comparing => Condition::compare(comparing, a, b),
        };
        let condition = compared.ok_or_else(|| too_large(span))?;
        return Ok(Some(Value::Truth(condition.decided())));
    }
    let constants = (a.as_constant(), b.as_constant());
    let result = match (op, constants) {
        (BinaryOp::Add, _) => a.plus(1, b),
        (BinaryOp::Sub, _) => a.plus(-1, b),
        (BinaryOp::Mul, (Some(factor), _)) => Sum::default().plus(factor, b),
        (BinaryOp::Mul, (_, Some(factor))) => Sum::default().plus(factor, a),
        (BinaryOp::Div, (Some(a), Some(b))) => a.checked_div_euclid(b).map(Sum::constant),
        (BinaryOp::Mod, (Some(a), Some(b))) => a.checked_rem_euclid(b).map(Sum::constant),
        // shape: other operators are not linear.
        _ => return Ok(None),
    };
    let sum = result.ok_or_else(|| too_large(span))?;
    Ok(Some(Value::Number(sum)))
}

/// Nothing if the operator does not combine truth values, or a number becomes too large.
fn connected(op: BinaryOp, a: Condition, b: Condition) -> Option<Condition> {
    let (not_a, not_b) = (a.negation()?, b.negation()?);
    Some(match op {
        BinaryOp::And => Condition::all([a, b]),
        BinaryOp::Or => Condition::any([a, b]),
        BinaryOp::Implies => Condition::any([not_a, b]),
        BinaryOp::Eq => Condition::any([Condition::all([a, b]), Condition::all([not_a, not_b])]),
        BinaryOp::Ne => Condition::any([Condition::all([a, not_b]), Condition::all([not_a, b])]),
        // shape: other operators are for numbers.
        _ => return None,
    })
}

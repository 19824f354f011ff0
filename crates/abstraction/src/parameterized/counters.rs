//! Counters of processes: shared numbers that always say how many processes are at certain locations.
//!
//! If `c` starts with `k`, a number or the parameter plus a number, and every step of a family changes it
//! by one exactly if the process enters or leaves a set of locations, then `c == k + count` (or `k - count`)
//! is true of every state, by induction over steps. What compares `c` with a number then compares the
//! count, which WS1S can express, and the variable is left out. That a new value fits is kept as an
//! assertion.
//!
//! A change is `c := c + 1`, `c := c - 1`, or a number one above or below that which the guard demands.
//! What an effect asks about `c` behind the change is asked about the changed value: processes have
//! their new locations only when the step is over, so the count is still the old one.

use base::Span;
use model::{
    BinaryOp, BoundId, Composition, Expr, Initial, LocationId, Owner, Place, ProcessId, Quantifier,
    Scalar, Scope, Step, Stmt, StmtKind, Sync, Template, Type, VarId, as_open_end,
};

/// A variable that counts.
struct Counter {
    var: VarId,
    family: ProcessId,
    /// The locations at which processes are counted.
    counted: Vec<LocationId>,
    /// Its value if no process is counted.
    start: Number,
    /// Does it become greater with the count?
    grows: bool,
}

/// A number, or the parameter plus a number.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Number {
    pub(super) is_open: bool,
    pub(super) offset: i64,
}

impl Number {
    /// The number that an expression always has, if it is so simple.
    pub(super) fn of(expr: &Expr, parameter: BoundId) -> Option<Self> {
        // shape: other expressions are literals, the parameter, or not such sums.
        let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = expr else {
            let is_open = expr.as_bound() == Some(parameter);
            let offset = if is_open { 0 } else { expr.as_literal()? };
            return Some(Self { is_open, offset });
        };
        let left = Self::of(left, parameter)?;
        let right = Self::of(right, parameter)?;
        let (offset, fits) = if *op == BinaryOp::Add {
            let offset = left.offset.checked_add(right.offset)?;
            (offset, !(left.is_open && right.is_open))
        } else {
            let offset = left.offset.checked_sub(right.offset)?;
            (offset, left.is_open || !right.is_open)
        };
        let is_open = left.is_open ^ right.is_open;
        fits.then_some(Self { is_open, offset })
    }

    /// By how much this is more, if that does not depend on the parameter.
    fn minus(self, other: Self) -> Option<i64> {
        let difference = self.offset.checked_sub(other.offset);
        difference.filter(|_| self.is_open == other.is_open)
    }

    pub(super) fn expr(self, parameter: BoundId) -> Expr {
        if !self.is_open {
            return Expr::Int(self.offset);
        }
        Expr::binary(
            BinaryOp::Add,
            Expr::Bound(parameter),
            Expr::Int(self.offset),
        )
    }
}

/// The template and the question without counters, and what these count; nothing if there are none.
#[must_use]
pub fn without_counters(
    template: &Template,
    scope: &Scope,
) -> Option<(Template, Scope, Vec<String>)> {
    // Processes that move together may all add one to the same old value.
    if template.parts.composition != Composition::Interleaving {
        return None;
    }
    let mut template = template.clone();
    let mut scope = scope.clone();
    let mut facts = Vec::new();
    for position in 0..template.parts.vars.len() {
        let Some(counter) = counter(&template, VarId::new(position)) else {
            continue;
        };
        let mut changed = (template.clone(), scope.clone());
        if counter.replace(&mut changed.0, &mut changed.1).is_some() {
            facts.push(counter.describe(&template));
            (template, scope) = changed;
        }
    }
    (!facts.is_empty()).then_some((template, scope, facts))
}

/// What a variable counts, if it counts anything.
fn counter(template: &Template, var: VarId) -> Option<Counter> {
    let variable = &template.parts.vars[var.index()];
    let Type::Scalar(Scalar::Range(..)) = variable.ty else {
        return None;
    };
    let start = match &variable.initial {
        Initial::Values(values) if variable.owner.is_none() => {
            Number::of(&values[0], template.parameter)?
        }
        Initial::Values(_) | Initial::Any => return None,
    };

    let processes = template.parts.processes.iter().enumerate();
    let mut writers =
        processes.filter(|(_, process)| process.steps.iter().any(|s| writes(&s.effect, var)));
    let (position, process) = writers.next().filter(|_| writers.next().is_none())?;
    let is_family = process
        .index
        .is_some_and(|range| as_open_end(range.hi).is_some());
    if !is_family {
        return None;
    }
    let found = [true, false].into_iter().find_map(|grows| {
        let counted = counted_locations(process, (var, template.parameter), grows)?;
        Some((counted, grows))
    });
    let (counted, grows) = found?;
    let family = ProcessId::new(position);
    Some(Counter {
        var,
        family,
        counted,
        start,
        grows,
    })
}

/// The locations whose processes are counted, if every step agrees.
fn counted_locations(
    process: &model::Process,
    names: (VarId, BoundId),
    grows: bool,
) -> Option<Vec<LocationId>> {
    let mut is_counted: Vec<Option<bool>> = vec![None; process.locations.len()];
    for location in &process.initial {
        is_counted[location.index()] = Some(false);
    }
    // Locations that are not reached do not matter.
    for _ in 0..process.locations.len() {
        for step in &process.steps {
            let Some(before) = is_counted[step.source.index()] else {
                continue;
            };
            let change = change(step, names)?;
            // shape: alone; of several processes that take part in one step, two might change it.
            if change != 0 && !matches!(step.sync, Sync::Internal) {
                return None;
            }
            let change = if grows { change } else { change.checked_neg()? };
            let after = match (before, change) {
                (_, 0) => before,
                (false, 1) => true,
                (true, -1) => false,
                _ => return None,
            };
            let known = is_counted[step.target.index()].get_or_insert(after);
            if *known != after {
                return None;
            }
        }
    }

    let all = is_counted.iter().enumerate();
    let counted = all.filter(|(_, is)| **is == Some(true));
    let counted: Vec<LocationId> = counted.map(|(l, _)| LocationId::new(l)).collect();
    (!counted.is_empty()).then_some(counted)
}

fn writes(effect: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    Stmt::walk_all(effect, &mut |kind| {
        found |= kind.written().is_some_and(|place| place.var == var);
    });
    found
}

/// By how much a step changes a variable, which it must not do more than once.
fn change(step: &Step, names: (VarId, BoundId)) -> Option<i64> {
    let mut change = 0;
    for statement in &step.effect {
        if let Some(by) = increment(statement, &step.guard, names).filter(|_| change == 0) {
            change = by;
        } else if writes(std::slice::from_ref(statement), names.0) {
            return None;
        }
    }
    Some(change)
}

/// `c := c + 1`, or `c := 3` where the guard demands `c == 2`.
fn increment(statement: &Stmt, guard: &Expr, (var, parameter): (VarId, BoundId)) -> Option<i64> {
    // shape: other statements are not increments.
    let StmtKind::Assign(place, value) = &statement.kind else {
        return None;
    };
    if place.var != var {
        return None;
    }
    if let Some(new) = Number::of(value, parameter) {
        let by = new.minus(demanded(guard, (var, parameter))?)?;
        return (by.unsigned_abs() == 1).then_some(by);
    }

    // shape: anything else is not an increment.
    let Expr::Binary(op @ (BinaryOp::Add | BinaryOp::Sub), left, right) = value else {
        return None;
    };
    let is_it = left.as_read().is_some_and(|read| read.var == var);
    let by = right
        .as_literal()
        .filter(|by| is_it && by.unsigned_abs() == 1)?;
    Some(if *op == BinaryOp::Add { by } else { -by })
}

/// The number that a variable has wherever the guard is true, if the guard says so in as many words.
fn demanded(guard: &Expr, names: (VarId, BoundId)) -> Option<Number> {
    let (var, parameter) = names;
    let is_it = |side: &Expr| side.as_read().is_some_and(|read| read.var == var);
    // shape: what is not a conjunction or an equation demands nothing in as many words.
    let Expr::Binary(op, left, right) = guard else {
        return None;
    };
    if *op == BinaryOp::And {
        return demanded(left, names).or_else(|| demanded(right, names));
    }
    let other = if is_it(left) { right } else { left };
    let is_equation = *op == BinaryOp::Eq && (is_it(left) || is_it(right));
    Number::of(other, parameter).filter(|_| is_equation)
}

fn reads(expr: &Expr, var: VarId) -> bool {
    let mut found = false;
    expr.for_each_read(&mut |place| found |= place.var == var);
    found
}

impl Counter {
    /// Replaces the variable by the count everywhere; nothing if it is used in another way.
    fn replace(&self, template: &mut Template, scope: &mut Scope) -> Option<()> {
        let variable = template.parts.vars[self.var.index()].clone();
        let Type::Scalar(Scalar::Range(lo, hi)) = variable.ty else {
            return None;
        };
        let limits = (Expr::Int(lo), bound_of(template.parameter, hi));
        let names = (self.var, template.parameter);
        let bound = BoundId::new(template.parts.bounds.len());
        template.parts.bounds.push("counted".to_owned());
        let range = template.parts.processes[self.family.index()].index?;
        let last = bound_of(template.parameter, range.hi);
        let count = self.count(bound, (Expr::Int(range.lo), last));
        let replace_shifted = |expr: &mut Expr, shift: i64| {
            let start = Number {
                offset: self.start.offset.saturating_add(shift),
                ..self.start
            };
            expr.walk_mut(&mut |inner| self.replace_here(inner, &count, start, names.1));
        };

        for step in &mut template.parts.processes[self.family.index()].steps {
            let mut shift = 0;
            for statement in &mut step.effect {
                if let Some(by) = increment(statement, &step.guard, names) {
                    *statement = self.still_fits(by, &limits, statement.span);
                    shift = by;
                } else if shift != 0 {
                    let one = std::slice::from_mut(statement);
                    Stmt::for_each_expr_mut(one, &mut |expr| replace_shifted(expr, shift));
                }
            }
        }

        let mut replace = |expr: &mut Expr| replace_shifted(expr, 0);
        template.parts.for_each_operand_mut(&mut replace);
        let hints = &mut scope.hints;
        let exprs = hints.predicates.iter_mut().chain(&mut hints.invariants);
        exprs.for_each(|hint| replace(&mut hint.expr));
        hints
            .rankings
            .iter_mut()
            .for_each(|(_, hint)| replace(&mut hint.expr));

        let mut is_left = false;
        template
            .parts
            .for_each_operand(&mut |expr| is_left |= reads(expr, self.var));
        let hints = scope.hints.predicates.iter().chain(&scope.hints.invariants);
        let exprs = hints.map(|hint| &hint.expr);
        let rankings = scope.hints.rankings.iter().map(|(_, hint)| &hint.expr);
        is_left |= exprs.chain(rankings).any(|expr| reads(expr, self.var));
        if is_left {
            return None;
        }
        let variable = &mut template.parts.vars[self.var.index()];
        variable.ty = Type::Scalar(Scalar::Range(0, 0));
        variable.initial = Initial::Values(vec![Expr::Int(0)]);
        Some(())
    }

    /// The assertion that the variable has room for a change.
    fn still_fits(&self, by: i64, limits: &(Expr, Expr), span: Span) -> Stmt {
        let read = Expr::Read(Place {
            var: self.var,
            owner: None,
            path: Vec::new(),
        });
        let room = if by > 0 {
            let most = Expr::binary(BinaryOp::Sub, limits.1.clone(), Expr::Int(by));
            Expr::binary(BinaryOp::Le, read, most)
        } else {
            let least = Expr::binary(BinaryOp::Sub, limits.0.clone(), Expr::Int(by));
            Expr::binary(BinaryOp::Ge, read, least)
        };
        Stmt::new(StmtKind::Assert(room), span)
    }

    /// How many processes are counted.
    fn count(&self, bound: BoundId, (lo, hi): (Expr, Expr)) -> Expr {
        let here = Expr::At {
            process: self.family,
            owner: Owner::Indexed(Box::new(Expr::Bound(bound))),
            locations: self.counted.clone(),
        };
        Expr::Quantified {
            quantifier: Quantifier::Sum,
            bound,
            lo: Box::new(lo),
            hi: Box::new(hi),
            body: Box::new(here),
        }
    }

    /// Replaces a comparison of the variable. `c == k + count`, so `c < e` is `count < e - k`.
    fn replace_here(&self, expr: &mut Expr, count: &Expr, start: Number, parameter: BoundId) {
        // shape: only comparisons of the variable itself are known.
        let Expr::Binary(op, left, right) = expr else {
            return;
        };
        let is_it = |side: &Expr| side.as_read().is_some_and(|place| place.var == self.var);
        let (op, other) = match (is_it(left), is_it(right)) {
            (true, false) => (*op, right),
            (false, true) => (op.mirrored(), left),
            _ => return,
        };
        let is_comparison = matches!(
            op,
            BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge
        );
        if !is_comparison || reads(other, self.var) {
            return;
        }
        let difference = |left: Expr, right: Expr| {
            let difference = Expr::binary(BinaryOp::Sub, left, right);
            let number = Number::of(&difference, parameter);
            number.map_or(difference, |number| number.expr(parameter))
        };
        let (start, other) = (start.expr(parameter), (**other).clone());
        *expr = if self.grows {
            Expr::binary(op, count.clone(), difference(other, start))
        } else {
            Expr::binary(op.mirrored(), count.clone(), difference(start, other))
        };
    }

    fn describe(&self, template: &Template) -> String {
        let process = &template.parts.processes[self.family.index()];
        let labels = self
            .counted
            .iter()
            .map(|l| process.locations[l.index()].as_str());
        let labels: Vec<&str> = labels.collect();
        let name = &template.parts.vars[self.var.index()].name;
        let start = match (self.start.is_open, self.start.offset) {
            (false, offset) => offset.to_string(),
            (true, 0) => template.parts.bounds[template.parameter.index()].clone(),
            (true, offset) => {
                let parameter = &template.parts.bounds[template.parameter.index()];
                format!("{parameter} {offset:+}")
            }
        };
        let sign = match (self.grows, start.as_str()) {
            (true, "0") => String::new(),
            (true, start) => format!("{start} + "),
            (false, start) => format!("{start} - "),
        };
        format!(
            "{name} == {sign}the number of {} @ {{{}}}",
            process.name,
            labels.join(", ")
        )
    }
}

/// A bound of a range as an expression.
fn bound_of(parameter: BoundId, value: i64) -> Expr {
    match as_open_end(value) {
        None => Expr::Int(value),
        Some(offset) => Expr::binary(BinaryOp::Add, Expr::Bound(parameter), Expr::Int(offset)),
    }
}

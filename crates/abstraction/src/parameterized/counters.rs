//! Counters of processes: shared numbers that always say how many processes are at certain locations.
//!
//! If `c` starts with `k`, a number or the parameter plus a number, and every step changes it by one
//! exactly if its process enters or leaves one of a few locations, then `c == k + count` (or
//! `k - count`) is true of every state, by induction over steps. What compares `c` with a number then
//! compares the count, which WS1S can express, and the variable is left out. That a new value fits is
//! kept as an assertion.
//!
//! A change is `c := c + 1`, `c := c - 1`, or a number one above or below that which the guard demands.
//! From these it is found out where processes are counted. Any other value that a step assigns is
//! *claimed* to be what the count will be: an assertion says so. If no assertion can fail while `c` is
//! the count, then `c` is the count, again by induction over steps.
//! What an effect asks about `c` behind the change is asked about the changed value: processes have
//! their new locations only when the step is over, so the count is still the old one.

use base::Span;
use model::{
    BinaryOp, BoundId, Composition, Expr, Initial, LocationId, Owner, Place, Process, ProcessId,
    Quantifier, Scalar, Scope, Step, Stmt, StmtKind, Sync, Template, Type, VarId, as_open_end,
};

/// A variable that counts.
struct Counter {
    var: VarId,
    /// Whose steps change it, and of each location whether these processes are counted there;
    /// nothing of those that are not reached.
    counted: Vec<(ProcessId, Vec<Option<bool>>)>,
    /// Its value if no process is counted.
    start: Number,
    /// Does it become greater with the count?
    grows: bool,
}

/// A number, or the parameter plus a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
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

    fn plus(self, offset: i64) -> Self {
        Self {
            offset: self.offset.saturating_add(offset),
            ..self
        }
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

/// A template and a question about it without counters.
#[derive(Clone, Debug)]
pub struct Uncounted {
    /// The template.
    pub template: Template,
    /// What is special about the question.
    pub scope: Scope,
    /// What the variables that are left out count.
    pub facts: Vec<String>,
}

/// The template and the question without counters. First with as many left out as may be claimed to
/// count, then, if these are fewer, with those that need no claim. None if there are none.
#[must_use]
pub fn without_counters(template: &Template, scope: &Scope) -> Vec<Uncounted> {
    // Processes that move together may all add one to the same old value.
    if template.parts.composition != Composition::Interleaving {
        return Vec::new();
    }
    let claimed = uncounted(template, scope, true);
    let plain = uncounted(template, scope, false);
    let is_same = plain.facts == claimed.facts;
    let all = [claimed, plain].into_iter();
    let all = all.skip(usize::from(is_same));
    all.filter(|found| !found.facts.is_empty()).collect()
}

fn uncounted(template: &Template, scope: &Scope, may_claim: bool) -> Uncounted {
    let mut found = Uncounted {
        template: template.clone(),
        scope: scope.clone(),
        facts: Vec::new(),
    };
    for position in 0..template.parts.vars.len() {
        let Some(counter) = counter(&found.template, VarId::new(position), may_claim) else {
            continue;
        };
        let mut changed = (found.template.clone(), found.scope.clone());
        if counter.replace(&mut changed.0, &mut changed.1).is_some() {
            found.facts.push(counter.describe(&found.template));
            (found.template, found.scope) = changed;
        }
    }
    found
}

/// What a variable counts, if it counts anything.
fn counter(template: &Template, var: VarId, may_claim: bool) -> Option<Counter> {
    let variable = &template.parts.vars[var.index()];
    let Type::Scalar(Scalar::Range(_, hi)) = variable.ty else {
        return None;
    };
    let start = match &variable.initial {
        Initial::Values(values) if variable.owner.is_none() => {
            Number::of(&values[0], template.parameter)?
        }
        Initial::Values(_) | Initial::Any => return None,
    };

    let processes = template.parts.processes.iter().enumerate();
    let writers = processes.filter(|(_, process)| process.steps.iter().any(|s| changes(s, var)));
    let writers: Vec<(usize, &Process)> = writers.collect();
    let names = (var, template.parameter);
    let is_known = |step: &Step| matches!(change(step, names), Some(Some(_)));
    let is_plain = match writers.as_slice() {
        [(_, one)] => one.index.is_some() && one.steps.iter().all(is_known),
        // How many there are of several families together compares with numbers only.
        several if several.is_empty() || start.is_open || as_open_end(hi).is_some() => return None,
        _ => false,
    };
    let is_fixed = |process: &Process| process.index.is_some_and(|r| as_open_end(r.hi).is_none());
    if !is_plain && !may_claim || writers.iter().any(|(_, process)| is_fixed(process)) {
        return None;
    }

    let counted_by = |grows| {
        let all = writers.iter().map(|(position, process)| {
            let counted = counted_locations(process, names, grows)?;
            Some((ProcessId::new(*position), counted))
        });
        let counted = all.collect::<Option<Vec<_>>>()?;
        let is_any = counted.iter().any(|(_, is)| is.contains(&Some(true)));
        is_any.then_some((counted, grows))
    };
    let (counted, grows) = [true, false].into_iter().find_map(counted_by)?;
    Some(Counter {
        var,
        counted,
        start,
        grows,
    })
}

/// Which locations are those of counted processes, if every step agrees whose change is known.
fn counted_locations(
    process: &Process,
    names: (VarId, BoundId),
    grows: bool,
) -> Option<Vec<Option<bool>>> {
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
            if change != Some(0) && !matches!(step.sync, Sync::Internal) {
                return None;
            }
            let Some(change) = change else {
                continue;
            };
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

    // Where only claims lead, it is not known what they claim.
    let is_known = |step: &Step| {
        let ends = [step.source, step.target].map(|end| is_counted[end.index()]);
        ends[0].is_none() || ends[1].is_some()
    };
    process.steps.iter().all(is_known).then_some(is_counted)
}

/// Does a step write the variable?
fn changes(step: &Step, var: VarId) -> bool {
    let mut found = false;
    step.for_each_written(&mut |place| found |= place.var == var);
    found
}

fn writes(effect: &[Stmt], var: VarId) -> bool {
    let mut found = false;
    Stmt::walk_all(effect, &mut |kind| {
        found |= kind.written().is_some_and(|place| place.var == var);
    });
    found
}

/// By how much a step changes a variable, which it must not do more than once; nothing inside if that
/// depends on the state.
fn change(step: &Step, names: (VarId, BoundId)) -> Option<Option<i64>> {
    if step
        .sync
        .stored()
        .into_iter()
        .any(|place| place.var == names.0)
    {
        return None;
    }
    change_of_all(&step.effect, &step.guard, names)
}

fn change_of_all(effect: &[Stmt], guard: &Expr, names: (VarId, BoundId)) -> Option<Option<i64>> {
    let mut change = None;
    for statement in effect {
        if !writes(std::slice::from_ref(statement), names.0) {
            continue;
        }
        let this = change_of(statement, guard, names)?;
        if change.replace(this).is_some() {
            return None;
        }
    }
    Some(change.unwrap_or(Some(0)))
}

/// The same of a statement that writes the variable.
fn change_of(statement: &Stmt, guard: &Expr, names: (VarId, BoundId)) -> Option<Option<i64>> {
    // shape: what else writes it, such as a loop, is not known.
    if let StmtKind::Assign(_, value) = &statement.kind {
        let by = increment(statement, guard, names);
        return (by.is_some() || !reads(value, names.0)).then_some(by);
    }
    // shape: likewise.
    let StmtKind::If(condition, then, otherwise) = &statement.kind else {
        return None;
    };
    let then = change_of_all(then, &demanding(guard, condition), names)?;
    let otherwise = change_of_all(otherwise, guard, names)?;
    Some(then.filter(|_| then == otherwise))
}

/// What is demanded where a condition is true, too.
fn demanding(guard: &Expr, condition: &Expr) -> Expr {
    Expr::binary(BinaryOp::And, guard.clone(), condition.clone())
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
        let count = self.count(template, bound);
        let replace_shifted = |expr: &mut Expr, shift: i64| {
            let start = Number {
                offset: self.start.offset.saturating_add(shift),
                ..self.start
            };
            expr.walk_mut(&mut |inner| self.replace_here(inner, &count, start, names.1));
        };

        let claims = Claims {
            names,
            limits,
            replace_shifted: &replace_shifted,
        };
        for (process, is_counted) in &self.counted {
            for step in &mut template.parts.processes[process.index()].steps {
                let ends = (
                    is_counted[step.source.index()],
                    is_counted[step.target.index()],
                );
                let by = self.claimed(ends);
                claims.state(&mut step.effect, (&step.guard, step.span), by);
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

    /// By how much the variable has to change with a step between these locations; nothing if they are
    /// not reached.
    fn claimed(&self, ends: (Option<bool>, Option<bool>)) -> Option<i64> {
        let (Some(before), Some(after)) = ends else {
            return None;
        };
        let by = i64::from(after) - i64::from(before);
        Some(if self.grows { by } else { -by })
    }

    /// How many processes are counted.
    fn count(&self, template: &Template, bound: BoundId) -> Expr {
        let counts = self.counted.iter().filter_map(|(process, is_counted)| {
            let locations = locations(is_counted);
            if locations.is_empty() {
                return None;
            }
            let range = template.parts.processes[process.index()].index;
            let (owner, lo, hi) = match range {
                // One of one.
                None => (Owner::Single, Expr::Int(0), Expr::Int(0)),
                Some(range) => (
                    Owner::Indexed(Box::new(Expr::Bound(bound))),
                    Expr::Int(range.lo),
                    bound_of(template.parameter, range.hi),
                ),
            };
            let here = Expr::At {
                process: *process,
                owner,
                locations,
            };
            Some(Expr::Quantified {
                quantifier: Quantifier::Sum,
                bound,
                lo: Box::new(lo),
                hi: Box::new(hi),
                body: Box::new(here),
            })
        });
        let sum = |all, one| Expr::binary(BinaryOp::Add, all, one);
        counts.reduce(sum).expect("something is counted")
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
            if right.as_literal() == Some(0) {
                return left;
            }
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
        let counted = self.counted.iter().filter_map(|(process, is_counted)| {
            let process = &template.parts.processes[process.index()];
            let labels = locations(is_counted).into_iter();
            let labels = labels.map(|l| process.locations[l.index()].as_str());
            let labels: Vec<&str> = labels.collect();
            let is_any = !labels.is_empty();
            is_any.then(|| format!("{} @ {{{}}}", process.name, labels.join(", ")))
        });
        let counted: Vec<String> = counted.collect();
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
        format!("{name} == {sign}the number of {}", counted.join(" and "))
    }
}

/// The locations at which processes are counted.
fn locations(is_counted: &[Option<bool>]) -> Vec<LocationId> {
    let all = is_counted.iter().enumerate();
    let counted = all.filter(|(_, is)| **is == Some(true));
    counted.map(|(l, _)| LocationId::new(l)).collect()
}

/// Writes what is claimed of a variable into the steps that change it.
struct Claims<'a> {
    names: (VarId, BoundId),
    /// Its least and its greatest value.
    limits: (Expr, Expr),
    /// Replaces what is asked about it where it has changed by so much.
    replace_shifted: &'a dyn Fn(&mut Expr, i64),
}

impl Claims<'_> {
    /// Replaces assignments by assertions that the variable changes `by` so much, if that is known.
    /// Returns by how much it has changed behind the statements.
    fn state(
        &self,
        statements: &mut Vec<Stmt>,
        (guard, span): (&Expr, Span),
        by: Option<i64>,
    ) -> i64 {
        let mut shift = 0;
        let mut is_written = false;
        for statement in &mut *statements {
            if !writes(std::slice::from_ref(statement), self.names.0) {
                if shift != 0 {
                    let one = std::slice::from_mut(statement);
                    Stmt::for_each_expr_mut(one, &mut |expr| (self.replace_shifted)(expr, shift));
                }
                continue;
            }
            is_written = true;
            let known = increment(statement, guard, self.names);
            // shape: nothing else but an assignment writes a counter.
            if let StmtKind::If(condition, then, otherwise) = &mut statement.kind {
                let demanded = demanding(guard, condition);
                shift = self.state(then, (&demanded, statement.span), by);
                self.state(otherwise, (guard, statement.span), by);
                continue;
            }
            // shape: as above.
            if let StmtKind::Assign(_, value) = &statement.kind {
                shift = by.or(known).unwrap_or(0);
                let claim = self.claim(value, known, shift);
                *statement = Stmt::new(StmtKind::Assert(claim), statement.span);
            }
        }

        // A process is counted, or no longer, but the variable stays what it is.
        let missing = by.filter(|by| *by != 0 && !is_written);
        statements.extend(missing.map(|_| Stmt::new(StmtKind::Assert(Expr::Bool(false)), span)));
        by.unwrap_or(shift)
    }

    /// That assigning the value changes the variable by so much, and that the result fits.
    fn claim(&self, value: &Expr, known: Option<i64>, by: i64) -> Expr {
        let read = || {
            Expr::Read(Place {
                var: self.names.0,
                owner: None,
                path: Vec::new(),
            })
        };
        let less_by = |limit: &Expr| match Number::of(limit, self.names.1) {
            Some(number) => number.plus(-by).expr(self.names.1),
            None => Expr::binary(BinaryOp::Sub, limit.clone(), Expr::Int(by)),
        };
        let room = match by {
            0 => Expr::Bool(true),
            1.. => Expr::binary(BinaryOp::Le, read(), less_by(&self.limits.1)),
            _ => Expr::binary(BinaryOp::Ge, read(), less_by(&self.limits.0)),
        };
        match known {
            Some(known) if known == by => room,
            Some(_) => Expr::Bool(false),
            None => Expr::all([Expr::binary(BinaryOp::Eq, read(), less_by(value)), room]),
        }
    }
}

/// A bound of a range as an expression.
pub(super) fn bound_of(parameter: BoundId, value: i64) -> Expr {
    match as_open_end(value) {
        None => Expr::Int(value),
        Some(offset) => Expr::binary(BinaryOp::Add, Expr::Bound(parameter), Expr::Int(offset)),
    }
}

//! Families and arrays that have fewer indices than others.
//!
//! `process Node(i in 1..N-1)` beside an array `0..N-1` is a family in which a process is missing. It gets
//! all indices here: a process that does not exist has no steps, because their guards ask for its index,
//! and stays where it starts. What is said of a process or an element that does not exist has no value,
//! which an index of -1 says instead. So the template has the same runs, up to what is added and never
//! changes, and the same run-time errors.

use std::collections::HashMap;

use model::{
    Access, BinaryOp, BoundId, Expr, Initial, ModelParts, Owner, Place, ProcessId, Scope, Stmt,
    StmtKind, Template, Type, VarId, as_open_end, open_end,
};

use super::counters::{Number, bound_of};

/// The first and the last index, the latter less the parameter.
type Range = (i64, i64);

/// The template and the question with one range of indices; nothing if there is one, or none that
/// contains the others.
#[must_use]
pub fn with_one_range(template: &Template, scope: &Scope) -> Option<(Template, Scope)> {
    let parameter = template.parameter;
    let parts = &template.parts;
    let mut families: HashMap<ProcessId, Range> = HashMap::new();
    for (position, process) in parts.processes.iter().enumerate() {
        if let Some(range) = process.index {
            families.insert(ProcessId::new(position), (range.lo, as_open_end(range.hi)?));
        }
    }
    let mut arrays: HashMap<VarId, Range> = HashMap::new();
    for (position, variable) in parts.vars.iter().enumerate() {
        // shape: others have no indices.
        if let Type::Array(array) = &variable.ty
            && let Some(length) = i64::try_from(array.len).ok().and_then(as_open_end)
        {
            let last = length.checked_add(array.lo)?.checked_sub(1)?;
            arrays.insert(VarId::new(position), (array.lo, last));
        }
    }
    let all = || families.values().chain(arrays.values());
    let whole = (all().map(|r| r.0).min()?, all().map(|r| r.1).max()?);
    families.retain(|_, range| *range != whole);
    arrays.retain(|_, range| *range != whole);
    if families.is_empty() && arrays.is_empty() || whole.0 < 0 {
        return None;
    }

    let smaller = Smaller {
        names: names_of(template, scope),
        locals: parts.vars.iter().map(|variable| variable.owner).collect(),
        families,
        arrays,
        parameter,
    };
    let (mut template, mut scope) = (template.clone(), scope.clone());
    smaller.guard_all(&mut template.parts, &mut scope);
    smaller.widen(&mut template.parts, whole);
    Some((template, scope))
}

/// The ranges of all names that expressions bind; nothing for those bound in several ways.
fn names_of(template: &Template, scope: &Scope) -> HashMap<BoundId, Option<(Number, Number)>> {
    let parameter = template.parameter;
    let mut names: HashMap<BoundId, Option<(Number, Number)>> = HashMap::new();
    let mut add = |bound: BoundId, lo: &Expr, hi: &Expr| {
        let range = Number::of(lo, parameter).zip(Number::of(hi, parameter));
        let known = names.entry(bound).or_insert(range);
        *known = range.filter(|range| *known == Some(*range));
    };

    for process in &template.parts.processes {
        if let Some(range) = process.index {
            let last = bound_of(parameter, range.hi);
            add(range.bound, &Expr::Int(range.lo), &last);
        }
        for step in &process.steps {
            for known in &step.parameters {
                add(known.bound, &known.lo, &known.hi);
            }
            Stmt::walk_all(&step.effect, &mut |kind| {
                // shape: what others bind is not an index by itself.
                if let StmtKind::For(bound, lo, hi, _) | StmtKind::Choose(bound, lo, hi, _) = kind {
                    add(*bound, lo, hi);
                }
            });
        }
    }
    for known in &scope.distinguished {
        add(known.bound, &known.lo, &known.hi);
    }
    let mut visit = |expr: &Expr| {
        // shape: nothing else binds a name.
        if let Expr::Quantified { bound, lo, hi, .. } = expr {
            add(*bound, lo, hi);
        }
    };
    template
        .parts
        .for_each_operand(&mut |expr| expr.walk(&mut visit));
    let hints = scope.hints.predicates.iter().chain(&scope.hints.invariants);
    hints.for_each(|hint| hint.expr.walk(&mut visit));
    names
}

struct Smaller {
    names: HashMap<BoundId, Option<(Number, Number)>>,
    /// The owner of each variable.
    locals: Vec<Option<ProcessId>>,
    /// What has fewer indices.
    families: HashMap<ProcessId, Range>,
    arrays: HashMap<VarId, Range>,
    parameter: BoundId,
}

impl Smaller {
    fn first_and_last(&self, (lo, offset): Range) -> (Expr, Expr) {
        (Expr::Int(lo), bound_of(self.parameter, open_end(offset)))
    }

    fn is_inside(&self, index: &Expr, (lo, offset): Range) -> Expr {
        let (first, last) = self.first_and_last((lo, offset));
        let above = Expr::binary(BinaryOp::Le, first, index.clone());
        let below = Expr::binary(BinaryOp::Le, index.clone(), last);
        Expr::binary(BinaryOp::And, above, below)
    }

    /// Makes an index that does not exist here one that exists nowhere.
    fn guard(&self, index: &mut Expr, range: Range) {
        let known = index.as_bound().and_then(|bound| self.names.get(&bound));
        if let Some(Some((lo, hi))) = known {
            let is_within =
                !lo.is_open && lo.offset >= range.0 && hi.is_open && hi.offset <= range.1;
            if is_within {
                return;
            }
        }
        let inside = self.is_inside(index, range);
        let known = Box::new(index.clone());
        *index = Expr::Ite(Box::new(inside), known, Box::new(Expr::Int(-1)));
    }

    fn guard_owner(&self, process: ProcessId, owner: &mut Owner) {
        // shape: a process that speaks of itself exists.
        if let Owner::Indexed(index) = owner
            && let Some(range) = self.families.get(&process)
        {
            self.guard(index, *range);
        }
    }

    fn guard_place(&self, place: &mut Place) {
        if let Some(owner) = &mut place.owner
            && let Some(process) = self.locals[place.var.index()]
        {
            self.guard_owner(process, owner);
        }
        let Some(range) = self.arrays.get(&place.var) else {
            return;
        };
        // shape: components have no index.
        if let Some(Access::Index(index)) = place.path.first_mut() {
            self.guard(index, *range);
        }
    }

    fn guard_expr(&self, expr: &mut Expr) {
        expr.walk_mut(&mut |inner| {
            // shape: nothing else names a process or an element.
            if let Expr::At { process, owner, .. } = inner {
                self.guard_owner(*process, owner);
            }
            // shape: likewise.
            if let Expr::Read(place) = inner {
                self.guard_place(place);
            }
        });
    }

    fn guard_written(&self, effect: &mut [Stmt]) {
        for statement in effect {
            // shape: nothing else stores a value.
            if let StmtKind::Assign(place, _) = &mut statement.kind {
                self.guard_place(place);
            }
            let kind = &mut statement.kind;
            kind.for_each_body_mut(&mut |body| self.guard_written(body));
        }
    }

    fn guard_all(&self, parts: &mut ModelParts, scope: &mut Scope) {
        parts.for_each_operand_mut(&mut |expr| self.guard_expr(expr));
        let hints = &mut scope.hints;
        let exprs = hints.predicates.iter_mut().chain(&mut hints.invariants);
        exprs.for_each(|hint| self.guard_expr(&mut hint.expr));
        let rankings = hints.rankings.iter_mut();
        rankings.for_each(|(_, hint)| self.guard_expr(&mut hint.expr));

        for (position, process) in parts.processes.iter_mut().enumerate() {
            let own = self.families.get(&ProcessId::new(position));
            for step in &mut process.steps {
                self.guard_written(&mut step.effect);
                if let (Some(own), Some(range)) = (own, process.index) {
                    let exists = self.is_inside(&Expr::Bound(range.bound), *own);
                    let guard = std::mem::replace(&mut step.guard, Expr::Bool(true));
                    step.guard = Expr::all([exists, guard]);
                }
            }
        }
    }

    /// Gives everything all indices. An instance in which a family or an array has none is not one.
    fn widen(&self, parts: &mut ModelParts, whole: Range) {
        for range in self.families.values().chain(self.arrays.values()) {
            let (first, last) = self.first_and_last(*range);
            let exists = Expr::binary(BinaryOp::Le, first, last);
            if !parts.init.contains(&exists) {
                parts.init.push(exists);
            }
        }
        for id in self.families.keys() {
            if let Some(range) = &mut parts.processes[id.index()].index {
                (range.lo, range.hi) = (whole.0, open_end(whole.1));
            }
        }
        for id in self.arrays.keys() {
            let variable = &mut parts.vars[id.index()];
            // shape: only arrays were looked at.
            if let Type::Array(array) = &mut variable.ty {
                array.lo = whole.0;
                array.len = open_end(whole.1 - whole.0 + 1) as usize;
            }
            // shape: any value is any value of all.
            if let Initial::Values(values) = &mut variable.initial {
                values.truncate(1);
            }
        }
    }
}

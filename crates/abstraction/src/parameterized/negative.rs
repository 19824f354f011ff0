//! Index variables that may be below 0.
//!
//! `var owner : -1..N-1` says with -1 that there is no owner. Indices of the decision procedure are
//! natural numbers, so the values `-1` to `-n` of a variable that ends at `hi` are written `hi + 1` to
//! `hi + n`: one value for another, so the template has the same runs. Every read is translated back.
//! What is assigned is translated there, values that do not fit to ones that do not fit either.

use model::{
    BinaryOp, BoundId, Expr, Initial, Place, Scalar, Scope, Stmt, StmtKind, Template, Type,
};

use super::counters::{Number, bound_of};

/// More values below 0 are left to be refused.
const MAX_BELOW: i64 = 4;

/// A variable, or an array of elements, with values below 0.
#[derive(Clone)]
struct Shifted {
    /// How many.
    n_below: i64,
    /// Its greatest value, less the parameter.
    offset: i64,
    parameter: BoundId,
}

/// The template and the question with natural numbers; nothing if they have nothing else.
#[must_use]
pub fn without_negatives(template: &Template, scope: &Scope) -> Option<(Template, Scope)> {
    let parameter = template.parameter;
    let vars = template.parts.vars.iter();
    let shifted = vars.map(|variable| Shifted::of(&variable.ty, parameter));
    let mut shifted: Vec<Option<Shifted>> = shifted.collect();
    // Messages are not translated.
    let processes = template.parts.processes.iter();
    for step in processes.flat_map(|process| &process.steps) {
        let stored = step.sync.stored().into_iter();
        stored.for_each(|place| shifted[place.var.index()] = None);
    }
    if shifted.iter().all(Option::is_none) {
        return None;
    }

    let (mut template, mut scope) = (template.clone(), scope.clone());
    let read = |expr: &mut Expr| {
        expr.walk_mut(&mut |inner| {
            if let Some(known) = inner
                .as_read()
                .and_then(|p| shifted[p.var.index()].as_ref())
            {
                *inner = known.read(inner.clone());
            }
        });
    };
    template.parts.for_each_operand_mut(&mut |expr| read(expr));
    let hints = &mut scope.hints;
    let exprs = hints.predicates.iter_mut().chain(&mut hints.invariants);
    exprs.for_each(|hint| read(&mut hint.expr));
    let rankings = hints.rankings.iter_mut();
    rankings.for_each(|(_, hint)| read(&mut hint.expr));

    let written = |place: &Place| shifted[place.var.index()].as_ref();
    for process in &mut template.parts.processes {
        for step in &mut process.steps {
            write_all(&mut step.effect, &written);
        }
    }
    for (variable, known) in template.parts.vars.iter_mut().zip(&shifted) {
        let Some(known) = known else {
            continue;
        };
        let last = model::open_end(known.offset.saturating_add(known.n_below));
        // shape: others have nothing below 0.
        match &mut variable.ty {
            Type::Array(array) => array.element = Type::Scalar(Scalar::Range(0, last)),
            ty => *ty = Type::Scalar(Scalar::Range(0, last)),
        }
        // shape: any value is any number that stands for one.
        if let Initial::Values(values) = &mut variable.initial {
            values.iter_mut().for_each(|value| known.write(value));
        }
    }
    Some((template, scope))
}

fn write_all<'k>(effect: &mut [Stmt], written: &dyn Fn(&Place) -> Option<&'k Shifted>) {
    for statement in effect {
        // shape: nothing else stores a value.
        if let StmtKind::Assign(place, value) = &mut statement.kind
            && let Some(known) = written(place)
        {
            known.write(value);
        }
        let kind = &mut statement.kind;
        kind.for_each_body_mut(&mut |body| write_all(body, written));
    }
}

impl Shifted {
    fn of(ty: &Type, parameter: BoundId) -> Option<Self> {
        let element = match ty {
            Type::Array(array) => &array.element,
            Type::Scalar(_) | Type::Record(_) => ty,
        };
        // shape: other types are not ranges of indices.
        let Type::Scalar(Scalar::Range(lo, hi)) = element else {
            return None;
        };
        let offset = model::as_open_end(*hi)?;
        (-MAX_BELOW..0).contains(lo).then_some(Self {
            n_below: -lo,
            offset,
            parameter,
        })
    }

    /// The greatest value plus a number.
    fn last_plus(&self, more: i64) -> Expr {
        bound_of(
            self.parameter,
            model::open_end(self.offset.saturating_add(more)),
        )
    }

    /// What a stored number means.
    fn read(&self, stored: Expr) -> Expr {
        (1..=self.n_below).fold(stored.clone(), |otherwise, below| {
            let is_it = Expr::binary(BinaryOp::Eq, stored.clone(), self.last_plus(below));
            Expr::Ite(
                Box::new(is_it),
                Box::new(Expr::Int(-below)),
                Box::new(otherwise),
            )
        })
    }

    /// Replaces a value by the number that is stored for it.
    fn write(&self, value: &mut Expr) {
        if let Some(Number {
            is_open: false,
            offset,
        }) = Number::of(value, self.parameter)
            && (-self.n_below..0).contains(&offset)
        {
            *value = self.last_plus(-offset);
            return;
        }
        // What is above the range must not look like what is below 0.
        let fits = Expr::binary(BinaryOp::Le, value.clone(), self.last_plus(0));
        let misfit = self.last_plus(self.n_below + 1);
        let above = Expr::Ite(Box::new(fits), Box::new(value.clone()), Box::new(misfit));
        *value = (1..=self.n_below).fold(above, |otherwise, below| {
            let is_it = Expr::binary(BinaryOp::Eq, value.clone(), Expr::Int(-below));
            let stored = self.last_plus(below);
            Expr::Ite(Box::new(is_it), Box::new(stored), Box::new(otherwise))
        });
    }
}

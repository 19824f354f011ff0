//! Data without bounds, and samples of it.
//!
//! An uninterpreted type is an enumeration with [`OPEN_VALUES`] values. An array for which every
//! integer is an index is written down as an array with the single index [`EVERY_INDEX`]:
//! assigning to that element assigns to all elements, and two such elements are equal iff the
//! arrays are equal everywhere. Symbolic methods read it so. The reference semantics knows only
//! finitely many cells; it is applied to *samples*, in which types have a few values and arrays a
//! few indices ([`ModelParts::sampled`]). Every run of a sample is a run of the model.
//!
//! A choice among all integers, or among all from some number on, is one up to the greatest 64-bit
//! integer ([`is_endless_choice`]). In a sample it is one among few.

use std::collections::BTreeMap;

use base::Span;

use crate::{
    Access, ArrayType, BinaryOp, BoundId, Expr, Initial, Model, ModelParts, Place, Scalar, Stmt,
    StmtKind, Type,
};

/// How many values an uninterpreted type is said to have.
pub const OPEN_VALUES: u32 = u32::MAX - 6;

/// The index that stands for every index of an array without bounds.
pub const EVERY_INDEX: i64 = -(1 << 61);

/// Is every integer an index of the array?
#[must_use]
pub fn is_unbounded_array(array: &ArrayType) -> bool {
    array.lo == EVERY_INDEX
}

/// Is a choice up to this bound one among infinitely many integers?
#[must_use]
pub fn is_endless_choice(hi: &Expr) -> bool {
    matches!(hi, Expr::Int(i64::MAX))
}

/// What makes it impossible to visit all states, and where it is declared.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Unbounded {
    /// A short description.
    pub what: String,
    /// Where it is declared.
    pub span: Span,
}

/// How much of unbounded data a sample keeps.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Sample {
    /// The first and the last index of arrays.
    pub indices: (i64, i64),
    /// The number of values of uninterpreted types.
    pub n_values: u32,
    /// The least and the greatest value of choices among infinitely many integers. Others choose
    /// zero, or the least that they may choose.
    pub choices: BTreeMap<BoundId, (i64, i64)>,
}

impl Model {
    /// Why the reference semantics is not applicable before a sample is taken or initial values
    /// are given; nothing if it is. Integers without bounds are not a reason.
    #[must_use]
    pub fn unbounded(&self) -> Option<Unbounded> {
        for variable in &self.parts().vars {
            let because = |what: String| {
                let span = variable.span;
                Some(Unbounded { what, span })
            };
            let name = &variable.name;
            if let Type::Array(array) = &variable.ty
                && is_unbounded_array(array)
            {
                return because(format!("the array `{name}` has no bounds"));
            }
            let (mut open, mut wide) = (false, false);
            let mut visit = |_, ty: Scalar| {
                open |= matches!(ty, Scalar::Enum(_, OPEN_VALUES));
                wide |= ty.is_unbounded();
            };
            variable
                .ty
                .for_each_cell(&self.parts().records, "", &mut visit);
            if open {
                return because(format!("the type of `{name}` is left open"));
            }
            if wide && variable.initial == Initial::Any {
                return because(format!("`{name}` has no value"));
            }
        }

        self.endless_choice()
    }

    /// The first choice among infinitely many integers.
    fn endless_choice(&self) -> Option<Unbounded> {
        let mut steps = self.parts().processes.iter().flat_map(|p| &p.steps);
        steps.find_map(|step| {
            let mut is_endless = false;
            Stmt::walk_all(&step.effect, &mut |statement| {
                is_endless |=
                    matches!(statement, StmtKind::Choose(_, _, hi, _) if is_endless_choice(hi));
            });
            is_endless.then(|| Unbounded {
                what: "a step chooses among all integers".to_owned(),
                span: step.span,
            })
        })
    }
}

impl ModelParts {
    /// The parts of a sample.
    #[must_use]
    pub fn sampled(&self, sample: &Sample) -> Self {
        let sampling = Sampling { sample };
        let mut parts = self.clone();
        for description in &mut parts.enums {
            if description.variants.is_empty() {
                let variant = |n| format!("{}{n}", description.name);
                description.variants = (0..sample.n_values).map(variant).collect();
            }
        }

        for (_, ty) in parts.records.iter_mut().flat_map(|r| &mut r.fields) {
            sampling.ty(ty);
        }
        for variable in &mut parts.vars {
            if let (Type::Array(array), Initial::Values(values)) =
                (&variable.ty, &mut variable.initial)
                && is_unbounded_array(array)
            {
                *values = vec![values[0].clone(); sampling.n_indices()];
            }
            sampling.ty(&mut variable.ty);
        }

        for scalar in parts.channels.iter_mut().flat_map(|c| &mut c.payload) {
            sampling.scalar(scalar);
        }
        parts.init = parts.init.iter().map(|e| sampling.expr(e)).collect();
        for atom in &mut parts.atoms {
            let meaning = &mut atom.meaning;
            meaning.for_each_operand_mut(&mut |expr| *expr = sampling.expr(expr));
        }
        for step in parts.processes.iter_mut().flat_map(|p| &mut p.steps) {
            step.guard = sampling.expr(&step.guard);
            step.effect = sampling.statements(&step.effect);
            let sync = &mut step.sync;
            sync.for_each_operand_mut(&mut |expr| *expr = sampling.expr(expr));
        }

        parts
    }
}

struct Sampling<'s> {
    sample: &'s Sample,
}

impl Sampling<'_> {
    fn n_indices(&self) -> usize {
        let (lo, hi) = self.sample.indices;
        usize::try_from(hi - lo + 1).unwrap_or(0)
    }

    fn scalar(&self, scalar: &mut Scalar) {
        if let Scalar::Enum(_, n @ OPEN_VALUES) = scalar {
            *n = self.sample.n_values;
        }
    }

    fn ty(&self, ty: &mut Type) {
        match ty {
            Type::Scalar(scalar) => self.scalar(scalar),
            Type::Array(array) => {
                if is_unbounded_array(array) {
                    array.lo = self.sample.indices.0;
                    array.len = self.n_indices();
                }
                self.ty(&mut array.element);
            }
            Type::Record(_) => {}
        }
    }

    /// Statements that speak of all elements are repeated for every index.
    fn statements(&self, statements: &[Stmt]) -> Vec<Stmt> {
        let mut out = Vec::new();
        let mut position = 0;
        while position < statements.len() {
            let rest = &statements[position..];
            let n_together = n_about_all(rest);
            if n_together == 0 {
                out.push(self.statement(&rest[0]));
                position += 1;
                continue;
            }
            let (lo, hi) = self.sample.indices;
            for index in lo..=hi {
                let at = |stmt: &Stmt| self.statement(&at_index(stmt, index));
                out.extend(rest[..n_together].iter().map(at));
            }
            position += n_together;
        }
        out
    }

    fn statement(&self, statement: &Stmt) -> Stmt {
        let mut kind = statement.kind.clone();
        kind.for_each_operand_mut(&mut |expr| *expr = self.expr(expr));
        kind.for_each_body_mut(&mut |body| *body = self.statements(body));

        if let StmtKind::Choose(_, _, Expr::Int(last), _) = &mut kind
            && *last == i64::from(OPEN_VALUES) - 1
        {
            *last = i64::from(self.sample.n_values) - 1;
        }

        if let StmtKind::Choose(bound, Expr::Int(lo), hi, _) = &mut kind
            && is_endless_choice(hi)
        {
            let (first, last) = match self.sample.choices.get(bound) {
                Some(window) => *window,
                None => ((*lo).max(0), (*lo).max(0)),
            };
            *lo = first.max(*lo);
            *hi = Expr::Int(last);
        }

        Stmt::new(kind, statement.span)
    }

    /// Equations between arrays are written out.
    fn expr(&self, expr: &Expr) -> Expr {
        if let Expr::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), ..) = expr
            && mentions_all(expr)
        {
            let (lo, hi) = self.sample.indices;
            let same = |index| match expr_at(expr, index) {
                Expr::Binary(_, a, b) => Expr::Binary(BinaryOp::Eq, a, b),
                other => other,
            };
            let equal = Expr::all((lo..=hi).map(same));
            return match op {
                BinaryOp::Eq => equal,
                _ => Expr::not(equal),
            };
        }
        expr.map_operands(&mut |operand| self.expr(operand))
    }
}

/// How many statements from the first on belong to an assignment to all elements: choices of
/// values, and assignments of them. None if the first of them is a choice that no such assignment
/// uses.
fn n_about_all(statements: &[Stmt]) -> usize {
    let mut n_together = 0;
    for (position, statement) in statements.iter().enumerate() {
        match &statement.kind {
            StmtKind::Choose(..) => {}
            StmtKind::Assign(place, _) if place_mentions_all(place) => n_together = position + 1,
            _ => break,
        }
    }
    match first_needed(&statements[..n_together]) {
        0 => n_together,
        _ => 0,
    }
}

/// The first of the statements that an assignment to all elements needs.
fn first_needed(statements: &[Stmt]) -> usize {
    let mut used = Vec::new();
    for statement in statements {
        if let StmtKind::Assign(place, value) = &statement.kind
            && place_mentions_all(place)
        {
            value.walk(&mut |inner| used.extend(inner.as_bound()));
        }
    }
    let is_needed = |statement: &Stmt| match &statement.kind {
        StmtKind::Choose(bound, ..) => used.contains(bound),
        _ => true,
    };
    statements.iter().position(is_needed).unwrap_or(0)
}

fn place_mentions_all(place: &Place) -> bool {
    let every = |access: &Access| matches!(access, Access::Index(Expr::Int(EVERY_INDEX)));
    place.path.iter().any(every)
}

fn mentions_all(expr: &Expr) -> bool {
    expr.any(&mut |inner| inner.as_read().is_some_and(place_mentions_all))
}

fn at_index(statement: &Stmt, index: i64) -> Stmt {
    let kind = match &statement.kind {
        StmtKind::Assign(place, value) => {
            StmtKind::Assign(place_at(place, index), expr_at(value, index))
        }
        StmtKind::Choose(bound, lo, hi, condition) => StmtKind::Choose(
            *bound,
            expr_at(lo, index),
            expr_at(hi, index),
            expr_at(condition, index),
        ),
        other => other.clone(),
    };
    Stmt::new(kind, statement.span)
}

fn place_at(place: &Place, index: i64) -> Place {
    let mut place = place.clone();
    for access in &mut place.path {
        if let Access::Index(Expr::Int(every @ EVERY_INDEX)) = access {
            *every = index;
        }
    }
    place
}

fn expr_at(expr: &Expr, index: i64) -> Expr {
    match expr {
        Expr::Read(place) if place_mentions_all(place) => Expr::Read(place_at(place, index)),
        other => other.map_operands(&mut |operand| expr_at(operand, index)),
    }
}

//! Induction over the index of the process that a question is about.
//!
//! `forall p: φ(p)` is true of a run if `φ(p)` is true of it whenever all `φ(q)` with smaller `q` (or, the
//! other way round, all with greater `q`) are: the indices of an instance are finitely many. Of these
//! assumptions the two for the neighbours on the ring are used, as far as they lie in the right
//! direction. The neighbours become distinguished processes beside `p`, which the question demands to
//! lie next to it; every process has both, so no `p` is left out. What is assumed of a neighbour is a
//! premise of the formula, so the question that results is like any other.

use std::collections::HashMap;

use base::{AtomId, Span};
use logic::{Ltl, Op, Property};
use model::{
    Atom, AtomMeaning, BinaryOp, BoundId, Distinguished, Expr, Scope, StepPattern, Template,
    as_open_end, as_open_index, open_index,
};

use super::counters::Number;

/// A question that implies another one, by induction.
#[derive(Clone, Debug)]
pub struct Step {
    /// In the user's words.
    pub name: String,
    /// The template with more atoms.
    pub template: Template,
    /// The neighbours are distinguished, too.
    pub scope: Scope,
    /// If it is true for the neighbours, as far as they come first, then for the process itself.
    pub property: Property,
}

/// The questions that suffice for a question about one process, one for each direction. None if it is
/// not about each process of a family.
#[must_use]
pub fn induction_steps(template: &Template, scope: &Scope, property: &Property) -> Vec<Step> {
    let (Property::Ltl(formula), [own]) = (property, scope.distinguished.as_slice()) else {
        return Vec::new();
    };
    let Some(family) = Indices::of(template).filter(|family| family.contain(template, own)) else {
        return Vec::new();
    };
    let directions = [("smaller", BinaryOp::Lt), ("greater", BinaryOp::Gt)];
    let step = |(word, comes_first): (&str, BinaryOp)| {
        let mut step = Step {
            name: format!(
                "induction over {}, from what is true of {word} ones",
                own.name
            ),
            template: template.clone(),
            scope: scope.clone(),
            property: property.clone(),
        };
        let premises = [Side::Left, Side::Right].map(|side| {
            let neighbour = step.add_neighbour(&family, own, side);
            step.assumed(scope, formula, neighbour, comes_first)
        });
        step.property = Property::Ltl(Ltl::implies(Ltl::and(premises), formula.clone()));
        step
    };
    directions.into_iter().map(step).collect()
}

#[derive(Clone, Copy)]
enum Side {
    Left,
    Right,
}

/// The indices of all families.
struct Indices {
    first: Number,
    last: Number,
    parameter: BoundId,
}

impl Indices {
    fn of(template: &Template) -> Option<Self> {
        let mut ranges = template.parts.processes.iter().filter_map(|p| p.index);
        let range = ranges.next()?;
        let is_other = |other: model::IndexRange| (other.lo, other.hi) != (range.lo, range.hi);
        if ranges.any(is_other) {
            return None;
        }
        Some(Self {
            first: Number {
                is_open: false,
                offset: range.lo,
            },
            last: Number {
                is_open: true,
                offset: as_open_end(range.hi)?,
            },
            parameter: template.parameter,
        })
    }

    /// Are all values of a name indices of processes?
    fn contain(&self, template: &Template, name: &Distinguished) -> bool {
        let number = |expr| Number::of(expr, template.parameter);
        let (Some(lo), Some(hi)) = (number(&name.lo), number(&name.hi)) else {
            return false;
        };
        !lo.is_open && lo.offset >= self.first.offset && hi.is_open && hi.offset <= self.last.offset
    }
}

impl Step {
    /// Distinguishes the process next to `own` on the ring.
    fn add_neighbour(&mut self, family: &Indices, own: &Distinguished, side: Side) -> BoundId {
        let name = match side {
            Side::Left => format!("{} - 1", own.name),
            Side::Right => format!("{} + 1", own.name),
        };
        let bound = BoundId::new(self.template.parts.bounds.len());
        self.template.parts.bounds.push(name.clone());
        let ends = [family.first, family.last].map(|end| end.expr(family.parameter));
        let [lo, hi] = ends.clone();
        self.scope.distinguished.push(Distinguished {
            bound,
            name,
            lo,
            hi,
        });

        // The smaller one plus one is the greater one, or they are the last and the first.
        let (own, other) = (Expr::Bound(own.bound), Expr::Bound(bound));
        let (smaller, greater) = match side {
            Side::Left => (other, own),
            Side::Right => (own, other),
        };
        let equal = |a: &Expr, b: Expr| Expr::binary(BinaryOp::Eq, a.clone(), b);
        let [first, last] = ends;
        let next = Expr::binary(BinaryOp::Add, smaller.clone(), Expr::Int(1));
        let wraps = Expr::binary(BinaryOp::And, equal(&smaller, last), equal(&greater, first));
        let lies = Expr::binary(BinaryOp::Or, equal(&greater, next), wraps);
        let condition = std::mem::replace(&mut self.scope.condition, Expr::Bool(true));
        self.scope.condition = Expr::binary(BinaryOp::And, condition, lies);
        bound
    }

    /// What may be assumed of a neighbour: the formula, if the question is about it and it comes first.
    fn assumed(
        &mut self,
        asked: &Scope,
        formula: &Ltl,
        neighbour: BoundId,
        comes_first: BinaryOp,
    ) -> Ltl {
        let own = &asked.distinguished[0];
        let renamed = |expr: &Expr| {
            let mut expr = expr.clone();
            expr.walk_mut(&mut |inner| {
                if inner.as_bound() == Some(own.bound) {
                    *inner = Expr::Bound(neighbour);
                }
            });
            expr
        };
        let compare = |op, left: Expr, right: Expr| Expr::binary(op, left, right);
        let other = Expr::Bound(neighbour);
        let applies = [
            compare(comes_first, other.clone(), Expr::Bound(own.bound)),
            compare(BinaryOp::Ge, other.clone(), own.lo.clone()),
            compare(BinaryOp::Le, other, own.hi.clone()),
            renamed(&asked.condition),
        ];
        let here = Expr::all(applies);
        let applies = AtomMeaning::State(here.clone());
        let applies = self.add_atom("comes first".to_owned(), applies, Span::nowhere());

        let mut images: HashMap<AtomId, AtomId> = HashMap::new();
        for atom in formula.atoms() {
            let known = self.template.parts.atoms[atom.index()].clone();
            let meaning = match known.meaning {
                // Where nothing is assumed of the neighbour, what is said of it need not have a value.
                AtomMeaning::State(expr) => {
                    AtomMeaning::State(Expr::all([here.clone(), renamed(&expr)]))
                }
                AtomMeaning::Taken(pattern) => {
                    AtomMeaning::Taken(moved(pattern, own.bound, neighbour))
                }
                AtomMeaning::Enabled(pattern) => {
                    AtomMeaning::Enabled(moved(pattern, own.bound, neighbour))
                }
                same @ (AtomMeaning::Deadlock
                | AtomMeaning::Certainly(..)
                | AtomMeaning::TimerSet(_)) => same,
            };
            images.insert(atom, self.add_atom(known.name, meaning, known.span));
        }
        Ltl::implies(Ltl::atom(applies), with_atoms(formula, &images))
    }

    fn add_atom(&mut self, name: String, meaning: AtomMeaning, span: Span) -> AtomId {
        self.template.parts.atoms.push(Atom {
            name,
            meaning,
            span,
        });
        AtomId::new(self.template.parts.atoms.len() - 1)
    }
}

/// The steps of another process.
fn moved(mut pattern: StepPattern, from: BoundId, to: BoundId) -> StepPattern {
    if pattern.index.and_then(as_open_index) == Some(from) {
        pattern.index = Some(open_index(to));
    }
    pattern
}

/// The formula with other atoms.
fn with_atoms(formula: &Ltl, images: &HashMap<AtomId, AtomId>) -> Ltl {
    let mut parts: HashMap<&Ltl, Ltl> = HashMap::new();
    for part in formula.subformulas() {
        let of = |operand: &Ltl| parts[operand].clone();
        // shape: what is not an atom has operands or is a constant.
        let image = match part.op() {
            Op::Atom(atom) => Ltl::atom(images[atom]),
            _ => part.rebuilt(&of),
        };
        parts.insert(part, image);
    }
    parts
        .remove(formula)
        .expect("the formula is one of its parts")
}

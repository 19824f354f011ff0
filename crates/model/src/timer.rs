//! Discrete time: timers, ticks, and timers whose large values are not told apart.
//!
//! A timer is off (-1) or counts down to 0, where it expires. One step, the tick, decreases every
//! timer that is not off. It has the lowest priority: time passes only when nothing else can happen.
//!
//! An *abstract* timer with threshold `k` keeps its values below `k` apart and stores `k` for all
//! others. At a tick, `k` stays or becomes `k - 1`: the abstraction has all steps that the model has
//! with any setting from `k` on, and more. See D. Bošnački, N. Ioustinova, N. Sidorova, "Using
//! fairness to make abstractions work", CWI report SEN-E0313, 2003, section 2; the condition that
//! excludes timers that never expire is [`crate::Subject::Timer`].

use base::{AtomId, Span};

use crate::eval::Fault;
use crate::execute::Branch;
use crate::{
    Access, ArrayType, Atom, AtomMeaning, BinaryOp, Event, EventId, Expr, LocationId, Model,
    ModelError, ModelParts, Owner, Place, Process, Quantifier, Scalar, Step, StepPattern, Stmt,
    StmtKind, Sync, Type, VarId,
};

/// Timers: every cell of the variable is one. [`ModelParts::finish`] gives them their type.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Timer {
    /// The variable: a single timer or an array of them.
    pub var: VarId,
    /// Values from here on are not told apart. Invariant: at least 1.
    pub threshold: Option<i64>,
    /// The greatest value that a timer without threshold is set to.
    pub limit: i64,
    /// What [`Setting::Any`] stands for without a threshold: some value from the first to the
    /// second.
    pub any: Option<(i64, i64)>,
    /// Values from here on that the timer is set to stand for `any`, too.
    pub stretched_from: Option<i64>,
}

/// What a timer is set to.
#[derive(Clone, PartialEq, Debug)]
pub enum Setting {
    /// The value of an expression; -1 switches the timer off.
    To(Expr),
    /// Any value from the threshold on.
    Any,
}

/// What `any` stands for, if that is less than "the threshold or more".
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Reach {
    /// Some value from the first to the second; the timer is not abstract any more.
    Between(i64, i64),
    /// This or more: the new threshold.
    From(i64),
}

/// What makes time go on.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clock {
    /// The event of a tick.
    pub event: EventId,
    /// The proposition that the last step was a tick.
    pub tick: AtomId,
}

impl ModelParts {
    /// Adds what makes time go on: an event `tick` and a process `clock` that takes it whenever
    /// nothing else can happen.
    pub fn add_clock(&mut self, span: Span) -> Clock {
        let event = EventId::new(self.events.len());
        self.events.push(Event {
            name: "tick".to_owned(),
            span,
        });

        let tick = Step {
            sync: Sync::Event {
                event,
                arguments: Vec::new(),
            },
            effect: vec![Stmt::new(StmtKind::Tick, span)],
            priority: i8::MIN,
            ..Step::new("tick", LocationId(0), LocationId(0), span)
        };

        let locations = vec!["running".to_owned()];
        self.processes
            .push(Process::new("clock", locations, vec![tick], span));

        let meaning = AtomMeaning::Taken(StepPattern {
            event: Some(event),
            ..StepPattern::default()
        });
        self.atoms.push(Atom {
            name: "tick".to_owned(),
            meaning,
            span,
        });

        let clock = Clock {
            event,
            tick: AtomId::new(self.atoms.len() - 1),
        };
        self.clock = Some(clock);
        clock
    }
}

impl Model {
    /// The cells of abstract timers with their thresholds.
    pub fn abstract_timers(&self) -> impl Iterator<Item = (usize, i64)> {
        let cells = self.timer_cells.iter();
        cells.filter_map(|(cell, threshold)| Some((*cell, (*threshold)?)))
    }

    /// The cells of all timers, with the thresholds of abstract ones.
    #[must_use]
    pub fn timer_cells(&self) -> &[(usize, Option<i64>)] {
        &self.timer_cells
    }

    /// The timers that a variable declares.
    #[must_use]
    pub fn timer(&self, var: VarId) -> Option<&Timer> {
        self.parts().timers.iter().find(|timer| timer.var == var)
    }

    /// The model in which no timer is abstract any more: `any` stands for a value between the two that
    /// are given for the timer, and if the settings are `stretched`, so does every value from the
    /// threshold on.
    ///
    /// # Errors
    /// The model is not well formed with these settings.
    pub fn with_settings(
        &self,
        stretched: bool,
        mut any: impl FnMut(&Timer) -> (i64, i64),
    ) -> Result<Self, ModelError> {
        self.with_reaches(stretched, |timer| {
            let (lo, hi) = any(timer);
            Reach::Between(lo, hi)
        })
    }

    /// The same where some timers stay abstract, from a higher threshold on.
    ///
    /// # Errors
    /// The model is not well formed with these settings.
    pub fn with_reaches(
        &self,
        stretched: bool,
        mut reach: impl FnMut(&Timer) -> Reach,
    ) -> Result<Self, ModelError> {
        let mut parts = self.parts().clone();
        for timer in &mut parts.timers {
            let Some(threshold) = timer.threshold else {
                continue;
            };
            timer.stretched_from = stretched.then_some(threshold);
            let (lo, hi, raised) = match reach(timer) {
                Reach::Between(lo, hi) => (lo, hi, None),
                Reach::From(least) => (least, least, Some(least)),
            };
            timer.any = Some((lo, hi));
            timer.limit = timer.limit.max(hi);
            timer.threshold = raised;
        }
        parts.finish()
    }

    /// Where a cell is, seen from outside all processes.
    #[must_use]
    pub fn place_of_cell(&self, position: usize) -> Place {
        let cell = &self.cells()[position];
        let variable = &self.parts().vars[cell.var.index()];
        let owner = cell.instance.map(|instance| {
            let index = self.instances()[instance.index()].index;
            index.map_or(Owner::Single, |index| {
                Owner::Indexed(Box::new(Expr::Int(index)))
            })
        });

        // From the outside in: each array or record narrows the offset down.
        let mut offset = position - self.first_cell(cell.var, cell.instance);
        let (mut path, mut ty) = (Vec::new(), &variable.ty);
        let records = &self.parts().records;
        loop {
            match ty {
                Type::Scalar(_) => break,
                Type::Array(array) => {
                    let size = array.element.n_cells(records);
                    let index = array.lo + (offset / size) as i64;
                    path.push(Access::Index(Expr::Int(index)));
                    offset %= size;
                    ty = &array.element;
                }
                Type::Record(id) => {
                    let fields = &records[id.index()].fields;
                    let mut field = 0;
                    while offset >= fields[field].1.n_cells(records) {
                        offset -= fields[field].1.n_cells(records);
                        field += 1;
                    }
                    path.push(Access::Field(field));
                    ty = &fields[field].1;
                }
            }
        }

        Place {
            var: cell.var,
            owner,
            path,
        }
    }

    /// The contracting abstraction of a proposition or of its negation: true only where the
    /// expression has the value in every state that the abstract timers describe.
    #[must_use]
    pub fn certainly(&self, expr: &Expr, value: bool) -> Expr {
        certainly(&self.parts().timers, expr, value)
    }

    /// Gives timers their types.
    pub(crate) fn type_timers(&mut self) {
        let ModelParts { timers, vars, .. } = &mut self.parts;
        for timer in timers.iter() {
            let greatest = timer.any.map_or(timer.limit, |any| timer.limit.max(any.1));
            let top = timer.threshold.unwrap_or(greatest).max(0);
            let ty = &mut vars[timer.var.index()].ty;
            *ty = with_scalar(ty, Scalar::Range(-1, top));
        }
    }

    pub(crate) fn find_timer_cells(&mut self) {
        let cells = self.cells().iter().enumerate();
        let timers = cells.filter_map(|(position, cell)| {
            let timer = self.timer(cell.var)?;
            Some((position, timer.threshold))
        });
        self.timer_cells = timers.collect();
    }
}

fn with_scalar(ty: &Type, scalar: Scalar) -> Type {
    match ty {
        Type::Array(array) => Type::Array(Box::new(ArrayType {
            element: with_scalar(&array.element, scalar),
            ..**array
        })),
        Type::Scalar(_) | Type::Record(_) => Type::Scalar(scalar),
    }
}

/// Sets a timer. Every value that `any` stands for is a branch.
pub(crate) fn set_timer(
    model: &Model,
    place: &Place,
    setting: &Setting,
    mut branch: Branch,
) -> Result<Vec<Branch>, Fault> {
    let timer = model
        .timer(place.var)
        .expect("`ModelParts::finish` checks what is set");
    let (lo, hi) = match (setting, timer.threshold, timer.any) {
        (Setting::To(expr), _, any) => {
            let value = branch.eval(model, expr)?;
            let is_any = timer.stretched_from.is_some_and(|from| value >= from);
            any.filter(|_| is_any).unwrap_or((value, value))
        }
        (Setting::Any, Some(threshold), _) => (threshold, threshold),
        (Setting::Any, None, Some(any)) => any,
        (Setting::Any, None, None) => {
            unreachable!("`ModelParts::finish` checks what `any` stands for")
        }
    };

    let mut branches = Vec::new();
    for value in lo..=hi {
        let mut set = branch.clone();
        let stored = timer.threshold.map_or(value, |k| value.min(k));
        set.store(model, place, stored)?;
        if timer.threshold.is_some() {
            let cell = *set.written.last().expect("the timer was written");
            set.timers_set.push(cell);
        }
        branches.push(set);
    }

    Ok(branches)
}

/// One unit of time passes. Every abstract timer above its threshold stays there or does not.
pub(crate) fn tick(model: &Model, branch: Branch) -> Vec<Branch> {
    let mut branches = vec![branch];

    for &(cell, threshold) in model.timer_cells() {
        let mut next = Vec::new();
        for mut branch in branches {
            let value = branch.state.cells[cell];
            if value >= 0 {
                if Some(value) == threshold {
                    let mut staying = branch.clone();
                    staying.written.push(cell);
                    next.push(staying);
                }
                branch.state.cells[cell] = value - 1;
                branch.written.push(cell);
            }
            next.push(branch);
        }
        branches = next;
    }

    branches
}

/// Does the expression depend on a value of an abstract timer that is not known?
#[must_use]
pub fn is_inexact(timers: &[Timer], expr: &Expr) -> bool {
    let inside = |operands: Vec<&Expr>| operands.into_iter().any(|e| is_inexact(timers, e));
    if let Expr::Binary(op, left, right) = expr
        && let Some((place, op, value)) = comparison(*op, left, right)
        && let Some(threshold) = threshold_of(timers, place)
    {
        // Which timer is compared may depend on a value that is not known, too.
        return always(op, threshold, value).is_none() || inside(place.operands());
    }
    if let Expr::Read(place) = expr
        && threshold_of(timers, place).is_some()
    {
        return true;
    }
    inside(expr.operands())
}

fn threshold_of(timers: &[Timer], place: &Place) -> Option<i64> {
    let timer = timers.iter().find(|timer| timer.var == place.var)?;
    timer.threshold
}

/// A comparison of a place with a number: place, operator with the place on its left, number.
fn comparison<'e>(
    op: BinaryOp,
    left: &'e Expr,
    right: &'e Expr,
) -> Option<(&'e Place, BinaryOp, i64)> {
    match (left, right) {
        (Expr::Read(place), Expr::Int(value)) => Some((place, op, *value)),
        (Expr::Int(value), Expr::Read(place)) => Some((place, op.mirrored(), *value)),
        _ => None,
    }
}

/// What the comparison says of all numbers from the threshold on, if it says the same of all.
fn always(op: BinaryOp, threshold: i64, value: i64) -> Option<bool> {
    match op {
        BinaryOp::Lt if value <= threshold => Some(false),
        BinaryOp::Le if value < threshold => Some(false),
        BinaryOp::Gt if value < threshold => Some(true),
        BinaryOp::Ge if value <= threshold => Some(true),
        BinaryOp::Eq if value < threshold => Some(false),
        BinaryOp::Ne if value < threshold => Some(true),
        _ => None,
    }
}

/// See [`Model::certainly`]. Negations are pushed down to comparisons; a comparison that depends on an
/// unknown value is certainly neither true nor false.
fn certainly(timers: &[Timer], expr: &Expr, value: bool) -> Expr {
    let again = |inner: &Expr, value| certainly(timers, inner, value);
    let both = |a: Expr, b: Expr| Expr::binary(BinaryOp::And, a, b);
    let either = |a: Expr, b: Expr| Expr::binary(BinaryOp::Or, a, b);
    if !is_inexact(timers, expr) {
        return if value {
            expr.clone()
        } else {
            Expr::not(expr.clone())
        };
    }

    match expr {
        Expr::Not(inner) => again(inner, !value),
        Expr::Binary(BinaryOp::And, a, b) if value => both(again(a, true), again(b, true)),
        Expr::Binary(BinaryOp::And, a, b) => either(again(a, false), again(b, false)),
        Expr::Binary(BinaryOp::Or, a, b) if value => either(again(a, true), again(b, true)),
        Expr::Binary(BinaryOp::Or, a, b) => both(again(a, false), again(b, false)),
        Expr::Binary(BinaryOp::Implies, a, b) if value => either(again(a, false), again(b, true)),
        Expr::Binary(BinaryOp::Implies, a, b) => both(again(a, true), again(b, false)),
        Expr::Quantified {
            quantifier: quantifier @ (Quantifier::Forall | Quantifier::Exists),
            bound,
            lo,
            hi,
            body,
        } if !is_inexact(timers, lo) && !is_inexact(timers, hi) => Expr::Quantified {
            quantifier: match (quantifier, value) {
                (other, true) => *other,
                (Quantifier::Forall, false) => Quantifier::Exists,
                (_, false) => Quantifier::Forall,
            },
            bound: *bound,
            lo: lo.clone(),
            hi: hi.clone(),
            body: Box::new(again(body, value)),
        },
        // Names bound inside cannot be asked about from outside.
        _ if expr.any(&mut |inner| inner.binder().is_some()) => Expr::Bool(false),
        _ => {
            let mut known = Vec::new();
            expr.for_each_read(&mut |place| {
                if let Some(threshold) = threshold_of(timers, place) {
                    let read = Expr::Read(place.clone());
                    known.push(Expr::binary(BinaryOp::Ne, read, Expr::Int(threshold)));
                }
            });
            let plain = if value {
                expr.clone()
            } else {
                Expr::not(expr.clone())
            };
            Expr::all(known.into_iter().chain([plain]))
        }
    }
}

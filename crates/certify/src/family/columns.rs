//! The states of all instances of a template as terms.
//!
//! What there is once is a number; what there is for each index, a function of the index. A step makes
//! new numbers and functions of the old ones, so nothing has to be said about what it leaves as it is.

use std::rc::Rc;

use model::{
    Access, BinaryOp, BoundId, Expr, LocationId, ModelParts, Owner, Place, ProcessId, Quantifier,
    Stmt, StmtKind, Template, Type, VarId, as_open_end,
};

use super::formula::{Base, Formula, Index, Meaning};
use crate::symbolic::execute::{Execution, Memory, Refusal};
use crate::symbolic::script::{Script, Sort, Term};

/// The name of the parameter.
pub(super) const PARAMETER: &str = "N";

/// How many processes satisfy something is compared with numbers up to this.
const MAX_COUNTED: i64 = 4;

/// A number, or the parameter plus a number.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Limit {
    is_open: bool,
    offset: i64,
}

impl Limit {
    fn of(value: i64) -> Self {
        let offset = as_open_end(value);
        Self {
            is_open: offset.is_some(),
            offset: offset.unwrap_or(value),
        }
    }

    fn term(self, script: &mut Script) -> Term {
        let offset = Term::int(self.offset.into());
        if self.is_open {
            script.arithmetic("+", &parameter(), &offset)
        } else {
            offset
        }
    }
}

pub(super) fn parameter() -> Term {
    Term::open(PARAMETER, Sort::Int)
}

/// The location of a process or family, or a variable.
#[derive(Clone, Debug)]
pub(super) struct Slot {
    /// What it is called.
    pub(super) name: String,
    /// The indices, if it has some.
    pub(super) indices: Option<(Limit, Limit)>,
    /// The values.
    values: (Limit, Limit),
}

impl Slot {
    /// Does it have an index at all?
    pub(super) fn has_members(&self, script: &mut Script) -> Term {
        self.indices.map_or(Term::bool(true), |(lo, hi)| {
            let (lo, hi) = (lo.term(script), hi.term(script));
            script.compare("<=", &lo, &hi)
        })
    }
}

/// What the slots are.
pub(super) struct Slots<'t> {
    pub(super) template: &'t Template,
    pub(super) all: Vec<Slot>,
}

impl<'t> Slots<'t> {
    pub(super) fn new(template: &'t Template) -> Result<Self, Refusal> {
        let parts = &template.parts;
        let family_of = |process: ProcessId| {
            let index = parts.processes[process.index()].index;
            index.map(|range| (Limit::of(range.lo), Limit::of(range.hi)))
        };

        let mut all = Vec::new();
        for (position, process) in parts.processes.iter().enumerate() {
            all.push(Slot {
                name: process.name.clone(),
                indices: family_of(ProcessId::new(position)),
                values: (Limit::of(0), Limit::of(process.locations.len() as i64 - 1)),
            });
        }
        for variable in &parts.vars {
            let of_owner = variable.owner.and_then(family_of);
            let (scalar, indices) = match (&variable.ty, of_owner) {
                (Type::Scalar(scalar), indices) => (*scalar, indices),
                (Type::Array(array), None) => match array.element {
                    Type::Scalar(scalar) => (scalar, Some(indices_of(array)?)),
                    Type::Array(_) | Type::Record(_) => return Err(not_flat()),
                },
                (Type::Array(_) | Type::Record(_), _) => return Err(not_flat()),
            };
            let (lo, hi) = scalar.bounds();
            if hi == i64::MAX || lo == i64::MIN {
                return Err("data without bounds is not expressed".to_owned());
            }
            all.push(Slot {
                name: variable.name.clone(),
                indices,
                values: (Limit::of(lo), Limit::of(hi)),
            });
        }
        Ok(Self { template, all })
    }

    pub(super) fn of_variable(&self, var: VarId) -> usize {
        self.template.parts.processes.len() + var.index()
    }
}

fn not_flat() -> Refusal {
    "for all values of a parameter, only numbers and arrays of numbers are expressed".to_owned()
}

fn indices_of(array: &model::ArrayType) -> Result<(Limit, Limit), Refusal> {
    let length = i64::try_from(array.len).map_err(|_| not_flat())?;
    let Limit { is_open, offset } = Limit::of(length);
    let last = offset.checked_add(array.lo).and_then(|n| n.checked_sub(1));
    let last = Limit {
        is_open,
        offset: last.ok_or_else(not_flat)?,
    };
    Ok((Limit::of(array.lo), last))
}

/// What a slot holds.
#[derive(Clone, PartialEq, Eq)]
enum Content {
    Single(Term),
    /// The name of a function.
    ByIndex(Rc<str>),
    /// In a loop over indices: what the slot holds at the index of the iteration.
    Here(Term),
}

/// The state as terms.
#[derive(Clone)]
pub(super) struct Columns<'t> {
    pub(super) slots: Rc<Slots<'t>>,
    contents: Vec<Content>,
    /// The index of the process that moves, if it is one of a family.
    pub(super) own: Option<Term>,
}

impl<'t> Columns<'t> {
    /// Any state whose values fit their types.
    pub(super) fn any_state(slots: &Rc<Slots<'t>>, script: &mut Script) -> Self {
        let mut contents = Vec::new();
        for (number, slot) in slots.all.iter().enumerate() {
            let name = format!("s{number}");
            let meaning = slot.name.escape_debug();
            if slot.indices.is_some() {
                script.line(&format!("(declare-fun {name} (Int) Int) ; {meaning}"));
                contents.push(Content::ByIndex(name.into()));
            } else {
                script.line(&format!("(declare-const {name} Int) ; {meaning}"));
                contents.push(Content::Single(Term::open(&name, Sort::Int)));
            }
        }
        let columns = Self {
            slots: Rc::clone(slots),
            contents,
            own: None,
        };

        for number in 0..columns.contents.len() {
            let fits = columns.for_each_index(script, number, |columns, script, at| {
                let value = columns.content(script, number, at);
                columns.fits(script, number, &value)
            });
            script.assert(&fits);
        }
        columns
    }

    /// Something that is so at every index of a slot, or of the slot itself.
    pub(super) fn for_each_index(
        &self,
        script: &mut Script,
        slot: usize,
        act: impl FnOnce(&Self, &mut Script, Option<&Term>) -> Term,
    ) -> Term {
        if self.slots.all[slot].indices.is_none() {
            return act(self, script, None);
        }
        let variable = script.enter();
        let is_inside = self.has_index(script, slot, &variable);
        let holds = act(self, script, Some(&variable));
        script.leave();
        script.ranged(true, &variable, &is_inside, &holds)
    }

    pub(super) fn fits(&self, script: &mut Script, slot: usize, value: &Term) -> Term {
        between(script, self.slots.all[slot].values, value)
    }

    pub(super) fn has_index(&self, script: &mut Script, slot: usize, index: &Term) -> Term {
        match self.slots.all[slot].indices {
            Some(indices) => between(script, indices, index),
            None => Term::bool(true),
        }
    }

    /// What a slot holds, at an index if it has indices.
    pub(super) fn content(&self, script: &mut Script, slot: usize, at: Option<&Term>) -> Term {
        match (&self.contents[slot], at) {
            (Content::Single(value) | Content::Here(value), _) => value.clone(),
            (Content::ByIndex(function), Some(at)) => script.apply(Sort::Int, function, &[at]),
            (Content::ByIndex(_), None) => unreachable!("the caller has an index"),
        }
    }

    /// Gives a slot a new value, at an index if it has indices.
    pub(super) fn put(
        &mut self,
        script: &mut Script,
        slot: usize,
        at: Option<&Term>,
        value: &Term,
    ) {
        let new = match (&self.contents[slot], at) {
            (Content::Single(_), _) => Content::Single(value.clone()),
            (Content::Here(_), _) => Content::Here(value.clone()),
            (Content::ByIndex(old), Some(at)) => {
                let old = Rc::clone(old);
                let function = script.with_variable(|script, variable| {
                    let is_it = script.compare("=", variable, at);
                    let before = script.apply(Sort::Int, &old, &[variable]);
                    let after = script.ite(&is_it, value, &before);
                    script.function(variable, &after)
                });
                Content::ByIndex(function)
            }
            (Content::ByIndex(_), None) => unreachable!("the caller has an index"),
        };
        self.contents[slot] = new;
    }
}

fn between(script: &mut Script, (lo, hi): (Limit, Limit), value: &Term) -> Term {
    let (lo, hi) = (lo.term(script), hi.term(script));
    inside(script, value, &lo, &hi)
}

fn inside(script: &mut Script, value: &Term, lo: &Term, hi: &Term) -> Term {
    let above = script.compare("<=", lo, value);
    let below = script.compare("<=", value, hi);
    script.and(&above, &below)
}

impl Execution<Columns<'_>> {
    /// The index that an owner names; nothing for what there is once.
    fn index_of(&mut self, owner: &Owner) -> Result<Option<Term>, Refusal> {
        match owner {
            Owner::Own => Ok(self.memory.own.clone()),
            Owner::Single => Ok(None),
            Owner::Indexed(index) => self.eval(index).map(|index| {
                let index = self.script.number(&index);
                Some(index)
            }),
        }
    }

    /// The slot and the index that a place names. A wrong index is a run-time error.
    fn slot_of(&mut self, place: &Place) -> Result<(usize, Option<Term>), Refusal> {
        let slot = self.memory.slots.of_variable(place.var);
        let at = match (&place.owner, &place.path[..]) {
            (None, [Access::Index(index)]) => {
                let index = self.eval(index)?;
                Some(self.script.number(&index))
            }
            (None, []) => None,
            (Some(owner), []) => self.index_of(owner)?,
            _ => return Err(not_flat()),
        };
        self.check_index(slot, at.as_ref())?;
        Ok((slot, at))
    }

    fn check_index(&mut self, slot: usize, at: Option<&Term>) -> Result<(), Refusal> {
        match (self.memory.slots.all[slot].indices, at) {
            (None, None) => Ok(()),
            (Some(_), Some(at)) => {
                let exists = self.memory.has_index(&mut self.script, slot, at);
                self.require(&exists);
                Ok(())
            }
            (None, Some(_)) | (Some(_), None) => Err("a place does not fit its type".to_owned()),
        }
    }

    /// Does something for every value in a range, which is a variable, and which a name may stand for.
    /// Errors of any value count. Gives the variable, that it is in the range, and the result.
    fn each<T>(
        &mut self,
        (bound, lo, hi): (Option<BoundId>, &Term, &Term),
        act: impl FnOnce(&mut Self, &Term) -> Result<T, Refusal>,
    ) -> Result<(Term, Term, T), Refusal> {
        let variable = self.script.enter();
        let is_inside = inside(&mut self.script, &variable, lo, hi);
        let outer = std::mem::replace(&mut self.error, Term::bool(false));
        let n_bounds = self.bounds.len();
        self.bounds
            .extend(bound.map(|bound| (bound, variable.clone())));
        let result = self.under(&is_inside, |this| act(this, &variable));
        self.bounds.truncate(n_bounds);
        let error = std::mem::replace(&mut self.error, outer);
        self.script.leave();

        let error = self.script.quantified(false, &variable, &error);
        self.error = self.script.or(&self.error, &error);
        Ok((variable, is_inside, result?))
    }

    /// Something is so at every index of a slot; a name may stand for the index.
    pub(super) fn for_all_indices(
        &mut self,
        slot: usize,
        bound: Option<BoundId>,
        act: impl FnOnce(&mut Self, &Term) -> Result<Term, Refusal>,
    ) -> Result<Term, Refusal> {
        let (variable, is_inside, holds) = self.each_index(slot, bound, act)?;
        Ok(self.script.ranged(true, &variable, &is_inside, &holds))
    }

    /// Something is so at some index of a slot, for which a name stands.
    pub(super) fn for_some_index(
        &mut self,
        slot: usize,
        bound: BoundId,
        act: impl FnOnce(&mut Self, &Term) -> Result<Term, Refusal>,
    ) -> Result<Term, Refusal> {
        let (variable, is_inside, holds) = self.each_index(slot, Some(bound), act)?;
        Ok(self.script.ranged(false, &variable, &is_inside, &holds))
    }

    fn each_index(
        &mut self,
        slot: usize,
        bound: Option<BoundId>,
        act: impl FnOnce(&mut Self, &Term) -> Result<Term, Refusal>,
    ) -> Result<(Term, Term, Term), Refusal> {
        let (lo, hi) = self.memory.slots.all[slot].indices.expect("it has indices");
        let (lo, hi) = (lo.term(&mut self.script), hi.term(&mut self.script));
        self.each((bound, &lo, &hi), act)
    }

    /// Do at least this many values in a range satisfy the body?
    fn at_least(
        &mut self,
        n: i64,
        range: (BoundId, &Term, &Term),
        above: Option<&Term>,
        body: &Expr,
    ) -> Result<Term, Refusal> {
        if n <= 0 {
            return Ok(Term::bool(true));
        }

        let (bound, lo, hi) = range;

        // Each further value lies above the one before, so that none is counted twice.
        let (variable, is_inside, holds) = self.each((Some(bound), lo, hi), |this, variable| {
            let holds = this.truth(body)?;
            let rest = this.at_least(n - 1, range, Some(variable), body)?;
            let mut both = this.script.and(&holds, &rest);
            if let Some(above) = above {
                let is_above = this.script.compare("<", above, variable);
                both = this.script.and(&both, &is_above);
            }
            Ok(both)
        })?;

        Ok(self.script.ranged(false, &variable, &is_inside, &holds))
    }
}

impl Memory for Columns<'_> {
    fn parts(&self) -> &ModelParts {
        &self.slots.template.parts
    }

    fn read(execution: &mut Execution<Self>, place: &Place) -> Result<Term, Refusal> {
        let (slot, at) = execution.slot_of(place)?;
        let (memory, script) = (&execution.memory, &mut execution.script);
        Ok(memory.content(script, slot, at.as_ref()))
    }

    fn store(execution: &mut Execution<Self>, place: &Place, value: &Term) -> Result<(), Refusal> {
        let (slot, at) = execution.slot_of(place)?;
        let fits = (execution.memory).fits(&mut execution.script, slot, value);
        execution.require(&fits);
        let (memory, script) = (&mut execution.memory, &mut execution.script);
        memory.put(script, slot, at.as_ref(), value);
        Ok(())
    }

    fn at(
        execution: &mut Execution<Self>,
        process: ProcessId,
        owner: &Owner,
        locations: &[LocationId],
    ) -> Result<Term, Refusal> {
        let at = execution.index_of(owner)?;
        execution.check_index(process.index(), at.as_ref())?;
        let (memory, script) = (&execution.memory, &mut execution.script);
        let here = memory.content(script, process.index(), at.as_ref());
        let mut is_there = Term::bool(false);
        for location in locations {
            let is_it = script.compare("=", &here, &Term::int(location.index() as i128));
            is_there = script.or(&is_there, &is_it);
        }
        Ok(is_there)
    }

    fn open_range(
        execution: &mut Execution<Self>,
        quantifier: Quantifier,
        range: (BoundId, &Term, &Term),
        body: &Expr,
    ) -> Result<Term, Refusal> {
        let (bound, lo, hi) = range;
        let each = (Some(bound), lo, hi);
        let (variable, is_inside, holds) = execution.each(each, |this, _| this.truth(body))?;
        let script = &mut execution.script;
        match quantifier {
            Quantifier::Forall => Ok(script.ranged(true, &variable, &is_inside, &holds)),
            Quantifier::Exists => Ok(script.ranged(false, &variable, &is_inside, &holds)),
            Quantifier::Sum => Err("sums over all processes are not expressed".to_owned()),
        }
    }

    /// All iterations at once. Each stores at its own index only, and reads what iterations store at
    /// its own index only, so their order does not matter.
    fn open_loop(
        execution: &mut Execution<Self>,
        range: (BoundId, &Term, &Term),
        body: &[Stmt],
    ) -> Result<(), Refusal> {
        let (bound, lo, hi) = range;
        let slots = stored_at(execution, bound, body)?;
        let before = execution.memory.contents.clone();
        let each = (Some(bound), lo, hi);
        let (variable, is_inside, values) = execution.each(each, |this, variable| {
            for slot in &slots {
                let here = this.memory.content(&mut this.script, *slot, Some(variable));
                this.memory.contents[*slot] = Content::Here(here);
            }
            this.run(body)?;
            let value = |slot: &usize| this.memory.content(&mut this.script, *slot, None);
            Ok(slots.iter().map(value).collect::<Vec<Term>>())
        })?;

        // What the iterations stored is a function of the index; its variable is that of the loop.
        execution.memory.contents = before;
        for (slot, value) in slots.iter().zip(&values) {
            let (memory, script) = (&mut execution.memory, &mut execution.script);
            script.enter_again(&variable);
            let old = memory.content(script, *slot, Some(&variable));
            let new = script.ite(&is_inside, value, &old);
            script.leave();
            memory.contents[*slot] = Content::ByIndex(script.function(&variable, &new));
        }
        Ok(())
    }

    /// How many processes satisfy something, compared with a small number.
    fn special(
        execution: &mut Execution<Self>,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<Term>, Refusal> {
        let (op, sum, n) = match (left.as_literal(), right.as_literal()) {
            (None, Some(n)) => (op, left, n),
            (Some(n), None) => (op.mirrored(), right, n),
            _ => return Ok(None),
        };
        // shape: anything else is not a count, and means what it says.
        let Expr::Quantified {
            quantifier: Quantifier::Sum,
            bound,
            lo,
            hi,
            body,
        } = sum
        else {
            return Ok(None);
        };
        let (lo, hi) = (execution.eval(lo)?, execution.eval(hi)?);
        if lo.known.is_some() && hi.known.is_some() {
            return Ok(None);
        }
        if n > MAX_COUNTED || !is_truth(execution.memory.parts(), body) {
            return Err("sums over all processes are not expressed".to_owned());
        }

        let range = (*bound, &lo, &hi);
        let mut at_least = |n: i64| execution.at_least(n, range, None, body);
        let (reaches, exceeds) = (at_least(n)?, at_least(n + 1)?);
        let script = &mut execution.script;
        let (below, at_most) = (script.not(&reaches), script.not(&exceeds));
        Ok(match op {
            BinaryOp::Eq => Some(script.and(&reaches, &at_most)),
            BinaryOp::Ne => Some(script.or(&below, &exceeds)),
            BinaryOp::Lt => Some(below),
            BinaryOp::Le => Some(at_most),
            BinaryOp::Gt => Some(exceeds),
            BinaryOp::Ge => Some(reaches),
            BinaryOp::Add
            | BinaryOp::Sub
            | BinaryOp::Mul
            | BinaryOp::Div
            | BinaryOp::Mod
            | BinaryOp::Quot
            | BinaryOp::Rem
            | BinaryOp::BitAnd
            | BinaryOp::BitOr
            | BinaryOp::BitXor
            | BinaryOp::Shl
            | BinaryOp::Shr
            | BinaryOp::And
            | BinaryOp::Or
            | BinaryOp::Implies => None,
        })
    }

    fn merge(script: &mut Script, condition: &Term, then: &Self, otherwise: &Self) -> Self {
        let mut merged = otherwise.clone();
        let both = then.contents.iter().zip(&mut merged.contents);
        for (then, otherwise) in both.filter(|(a, b)| *a != &**b) {
            *otherwise = match (then, &*otherwise) {
                (Content::Single(a), Content::Single(b)) => {
                    Content::Single(script.ite(condition, a, b))
                }
                (Content::Here(a), Content::Here(b)) => Content::Here(script.ite(condition, a, b)),
                (Content::ByIndex(a), Content::ByIndex(b)) => {
                    let function = script.with_variable(|script, variable| {
                        let [a, b] = [a, b].map(|f| script.apply(Sort::Int, f, &[variable]));
                        let value = script.ite(condition, &a, &b);
                        script.function(variable, &value)
                    });
                    Content::ByIndex(function)
                }
                _ => unreachable!("a slot keeps its form within a sequence"),
            };
        }

        merged
    }
}

/// Is the expression a truth value?
fn is_truth(parts: &ModelParts, expr: &Expr) -> bool {
    match expr {
        Expr::Bool(_) | Expr::Not(_) | Expr::At { .. } => true,
        Expr::Binary(op, ..) => op.is_boolean(),
        Expr::Quantified { quantifier, .. } => *quantifier != Quantifier::Sum,
        Expr::Ite(_, then, otherwise) => is_truth(parts, then) && is_truth(parts, otherwise),
        Expr::Read(place) => match &parts.vars[place.var.index()].ty {
            Type::Scalar(scalar) => *scalar == model::Scalar::Bool,
            Type::Array(array) => array.element == Type::Scalar(model::Scalar::Bool),
            Type::Record(_) => false,
        },
        Expr::Int(_)
        | Expr::Enum(..)
        | Expr::Neg(_)
        | Expr::Bound(_)
        | Expr::Length(_)
        | Expr::Wrap { .. } => false,
    }
}

/// The slots that a loop over indices stores into, each at the index of the iteration; nothing in the
/// loop reads them elsewhere, at any depth.
fn stored_at(
    execution: &Execution<Columns<'_>>,
    bound: BoundId,
    body: &[Stmt],
) -> Result<Vec<usize>, Refusal> {
    let refusal = || "this loop over processes is not expressed".to_owned();
    let is_own = |place: &Place| {
        let index = match &place.path[..] {
            [access] => access.index(),
            _ => None,
        };
        place.owner.is_none() && index.and_then(Expr::as_bound) == Some(bound)
    };

    let mut stored = Vec::new();
    let mut is_expressed = true;
    Stmt::walk_all(body, &mut |statement| match statement {
        StmtKind::Assign(place, _) => {
            is_expressed &= is_own(place);
            stored.push(place.var);
        }
        StmtKind::If(..) | StmtKind::Assert(_) => {}
        StmtKind::For(..)
        | StmtKind::Choose(..)
        | StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::While(..)
        | StmtKind::Fail(_)
        | StmtKind::SetTimer(..)
        | StmtKind::Tick
        | StmtKind::Exhausted => is_expressed = false,
    });
    stored.sort_unstable();
    stored.dedup();

    // A read at another index would see what another iteration has stored.
    Stmt::for_each_expr(body, &mut |expr| {
        expr.for_each_read(&mut |place| {
            is_expressed &= !stored.contains(&place.var) || is_own(place);
        });
    });
    if !is_expressed {
        return Err(refusal());
    }
    let slots = &execution.memory.slots;
    Ok(stored.iter().map(|var| slots.of_variable(*var)).collect())
}

/// Formulas as terms about the state that an execution has reached.
pub(super) struct Stated<'e, 't> {
    pub(super) execution: &'e mut Execution<Columns<'t>>,
    /// What variables stand for.
    pub(super) variables: Vec<(u32, Term)>,
}

impl Meaning for Stated<'_, '_> {
    type Truth = Term;
    type Number = Term;

    fn not(&mut self, inner: Term) -> Term {
        self.execution.script.not(&inner)
    }

    fn join(&mut self, is_all: bool, parts: Vec<Term>) -> Term {
        let script = &mut self.execution.script;
        parts.iter().fold(Term::bool(is_all), |so_far, part| {
            if is_all {
                script.and(&so_far, part)
            } else {
                script.or(&so_far, part)
            }
        })
    }

    fn index(&mut self, (base, offset): Index) -> Result<Term, String> {
        let base = match base {
            Base::Zero => Term::int(0),
            Base::Parameter => parameter(),
            Base::Variable(variable) => {
                let mut known = self.variables.iter().rev();
                let found = known.find(|(known, _)| *known == variable);
                found.ok_or("a variable is not bound")?.1.clone()
            }
            Base::Slot(slot) => self.single(slot)?,
        };
        let offset = Term::int(offset.into());
        Ok(self.execution.script.arithmetic("+", &base, &offset))
    }

    fn compare(&mut self, is_less: bool, left: Term, right: Term) -> Term {
        let operator = if is_less { "<" } else { "=" };
        self.execution.script.compare(operator, &left, &right)
    }

    fn has(&mut self, slot: u32, at: Option<Term>, value: i64) -> Result<Term, String> {
        let Execution { memory, script, .. } = &mut *self.execution;
        let known = memory.slots.all.get(slot as usize);
        match (known.map(|slot| slot.indices.is_some()), &at) {
            (Some(true), Some(_)) | (Some(false), None) => {}
            _ => return Err("a slot does not exist".to_owned()),
        }
        let slot = slot as usize;
        let content = memory.content(script, slot, at.as_ref());
        let is_it = script.compare("=", &content, &Term::int(value.into()));
        let exists = at.map_or(Term::bool(true), |at| memory.has_index(script, slot, &at));
        Ok(script.and(&exists, &is_it))
    }

    fn some(&mut self, variable: u32, inner: &Formula) -> Result<Term, String> {
        let term = self.execution.script.enter();
        let script = &mut self.execution.script;
        let is_inside = inside(script, &term, &Term::int(0), &parameter());
        self.variables.push((variable, term.clone()));
        let inner = inner.mean(self);
        self.variables.pop();
        let inner = inner?;
        let script = &mut self.execution.script;
        script.leave();
        Ok(script.ranged(false, &term, &is_inside, &inner))
    }
}

impl Stated<'_, '_> {
    fn single(&mut self, slot: u32) -> Result<Term, String> {
        let Execution { memory, script, .. } = &mut *self.execution;
        match memory.slots.all.get(slot as usize) {
            Some(Slot { indices: None, .. }) => Ok(memory.content(script, slot as usize, None)),
            _ => Err("a slot does not exist".to_owned()),
        }
    }
}

//! Expressions, communications and effects of single commands in a form that can be compared.
//!
//! Names are replaced by their values, quantifiers and loops are unfolded, what is constant is
//! folded, and operands whose order does not matter are sorted. A renaming is applied on the way:
//! values of a sort and components of a state become their images.
//!
//! Invariant: let t be the term of an expression without renaming and t' the one with the renaming
//! r. If t has the value v in a state s, then t' has the value r(v) in r(s), where r(v) is v for
//! values that are not indices; and t fails in s iff t' fails in r(s).

use std::collections::BTreeSet;
use std::fmt;

use base::Span;
use model::{
    Access, BinaryOp, BoundId, ChannelRef, Expr, Model, Owner, Place, Quantifier, Type, VarId,
};

use crate::constant::Known;

use super::coordinates::{Components, Transposition};
use super::sorts::{FamilyIndex, PathStep, Slot, SortId, Sorts, value_slot};

/// An expression. Constants and components are those after renaming.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Term {
    Const(i64),
    Cell(usize),
    /// A cell whose indices are not known: of this variable, of this owner, along this path.
    Select(VarId, Option<Box<Term>>, Vec<Term>),
    /// A name whose value is not known, numbered in order of appearance.
    Name(usize),
    /// The value that the term had before the step.
    Before(Box<Term>),
    /// Is this instance at one of these locations?
    At(usize, Vec<u32>),
    /// Is the instance of this process with this index at one of these locations?
    AtIndex(u32, Box<Term>, Vec<u32>),
    /// The length of a channel, with its index.
    Length(u32, Option<Box<Term>>),
    Not(Box<Term>),
    Neg(Box<Term>),
    /// An operator whose operands have an order, by its number.
    Binary(u8, Box<Term>, Box<Term>),
    /// An operator for any number of operands. They are sorted unless one of them may fail.
    Nary(Nary, Vec<Term>),
    Ite(Box<Term>, Box<Term>, Box<Term>),
    Wrap(u8, bool, Box<Term>),
}

/// Operators for any number of operands.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Nary {
    And,
    Or,
    Sum,
    /// Of two.
    Equal,
}

/// Why two processes cannot be exchanged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// There are no families of processes.
    NoFamily,
    /// An index of a process is used as a number.
    Arithmetic,
    /// A range of values depends on the state.
    OpenRange,
    /// Something differs between the processes.
    Different,
    /// A variable that never changes differs between the processes.
    Constant,
    /// A proposition tells the processes apart.
    Property,
    /// Fairness tells the processes apart.
    Fairness,
    /// A proposition tells ways of taking an action apart.
    Ways,
    /// A value or dimension has only some of the indices.
    Partial,
    /// There is too much to be compared.
    TooLarge,
    /// There are timers.
    Timers,
    /// A process can have control over the others.
    Control,
}

impl fmt::Display for Obstacle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NoFamily => "there is no family of processes",
            Self::Arithmetic => "an index of a process is used as a number",
            Self::OpenRange => "a range of values depends on the state",
            Self::Different => "no two processes of a family do the same",
            Self::Constant => "a variable that never changes tells the processes apart",
            Self::Property => "the property tells the processes apart",
            Self::Fairness => "fairness tells the processes apart",
            Self::Ways => "the property tells several ways of taking an action apart",
            Self::Partial => "a variable or array is for some of the processes only",
            Self::TooLarge => "the model is too large to be compared with itself",
            Self::Timers => "there are timers",
            Self::Control => "processes are told apart by their numbers",
        })
    }
}

/// Why two processes cannot be exchanged, and where that is written.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Asymmetry {
    /// Why.
    pub obstacle: Obstacle,
    /// What it is about, such as `the condition of P[1].win`; empty if it is about the whole model.
    pub subject: String,
    /// Where that is.
    pub span: Option<Span>,
}

impl Asymmetry {
    pub(super) fn new(obstacle: Obstacle, subject: String, span: Span) -> Self {
        Self {
            obstacle,
            subject,
            span: Some(span).filter(|span| *span != Span::nowhere()),
        }
    }
}

impl From<Obstacle> for Asymmetry {
    fn from(obstacle: Obstacle) -> Self {
        Self::new(obstacle, String::new(), Span::nowhere())
    }
}

impl fmt::Display for Asymmetry {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.obstacle.fmt(f)?;
        if self.subject.is_empty() {
            return Ok(());
        }
        write!(f, ": {}", self.subject)
    }
}

/// Stands for all names among the cells that a term reads.
pub(super) const NAMES: usize = usize::MAX;

/// What terms are made from.
pub(super) struct Terms<'a> {
    pub(super) known: Known<'a>,
    pub(super) sorts: &'a Sorts,
    pub(super) components: &'a Components,
    pub(super) renaming: Option<Transposition>,
    /// Names whose values are not known, the innermost last, and the values that they may have.
    pub(super) names: Vec<(BoundId, (i64, i64))>,
    /// Names that are assigned to after they have got a value.
    pub(super) assigned: BTreeSet<BoundId>,
    /// Names for values that were there before the step.
    pub(super) values: Vec<(BoundId, Term)>,
    /// The cells that the step may have written so far, and [`NAMES`].
    pub(super) written: BTreeSet<usize>,
    /// Is this inside of a loop that is not unfolded?
    pub(super) in_loop: bool,
    /// What is being looked at: the step, or a statement of it.
    pub(super) span: Span,
    /// How many terms may still be made.
    pub(super) left: &'a mut u64,
}

impl<'a> Terms<'a> {
    pub(super) fn model(&self) -> &'a Model {
        self.known.model
    }

    /// The image of a value.
    pub(super) fn image(&self, sort: Option<SortId>, value: i64) -> i64 {
        self.renaming
            .map_or(value, |renaming| renaming.image(sort, value))
    }

    /// A proposition or a number.
    pub(super) fn plain(&mut self, expr: &Expr) -> Result<Term, Obstacle> {
        self.term(expr, None)
    }

    /// An expression whose value is of this sort.
    pub(super) fn term(&mut self, expr: &Expr, sort: Option<SortId>) -> Result<Term, Obstacle> {
        *self.left = self.left.checked_sub(1).ok_or(Obstacle::TooLarge)?;
        if let Some(value) = self.known.constant(expr) {
            return Ok(Term::Const(self.image(sort, value)));
        }

        match expr {
            Expr::Read(_) | Expr::Bound(_) if self.sorts.of_expr(expr) != sort => {
                return Err(Obstacle::Arithmetic);
            }
            Expr::Read(_) | Expr::Bound(_) | Expr::Ite(..) => {}
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Quantified { .. }
            | Expr::At { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => {
                if sort.is_some() {
                    return Err(Obstacle::Arithmetic);
                }
            }
        }

        match expr {
            Expr::Read(place) => self.place(place),
            Expr::Bound(bound) => {
                let mut values = self.values.iter().rev();
                if let Some((_, value)) = values.find(|(name, _)| name == bound) {
                    return Ok(value.clone());
                }
                let position = self.names.iter().rposition(|(name, _)| name == bound);
                // A constant that has no value, or a name that is bound nowhere.
                position.map(Term::Name).ok_or(Obstacle::Different)
            }
            Expr::Ite(condition, then, otherwise) => match self.plain(condition)? {
                Term::Const(0) => self.term(otherwise, sort),
                Term::Const(_) => self.term(then, sort),
                condition => {
                    let (then, otherwise) = (self.term(then, sort)?, self.term(otherwise, sort)?);
                    Ok(Term::Ite(
                        Box::new(condition),
                        Box::new(then),
                        Box::new(otherwise),
                    ))
                }
            },
            Expr::Not(inner) => Ok(negation(self.plain(inner)?)),
            Expr::Neg(inner) => Ok(Term::Neg(Box::new(self.plain(inner)?))),
            Expr::Wrap {
                bits,
                signed,
                inner,
            } => Ok(Term::Wrap(*bits, *signed, Box::new(self.plain(inner)?))),
            Expr::Binary(op, left, right) => self.binary(*op, left, right),
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } => self.quantified(*quantifier, *bound, (lo, hi), body),
            Expr::At {
                process,
                owner,
                locations,
            } => self.at(*process, owner, locations),
            Expr::Length(channel) => {
                let index = self.channel_index(channel)?;
                Ok(Term::Length(channel.channel.0, index.map(Box::new)))
            }
            // Literals are constants.
            Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) => Err(Obstacle::Different),
        }
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr) -> Result<Term, Obstacle> {
        if let Some(truth) = self.decided(op, left, right)? {
            return Ok(Term::Const(i64::from(truth)));
        }
        let sort = match op {
            BinaryOp::Eq | BinaryOp::Ne => {
                let sort = self.sorts.of_expr(left);
                sort.or_else(|| self.sorts.of_expr(right))
            }
            _ => None,
        };

        let first = self.term(left, sort)?;
        // The right side is not always evaluated.
        match (op, &first) {
            (BinaryOp::And, Term::Const(0)) => return Ok(Term::Const(0)),
            (BinaryOp::Or, Term::Const(1)) | (BinaryOp::Implies, Term::Const(0)) => {
                return Ok(Term::Const(1));
            }
            (BinaryOp::And | BinaryOp::Implies, Term::Const(1))
            | (BinaryOp::Or, Term::Const(0)) => return self.plain(right),
            _ => {}
        }

        let second = self.term(right, sort)?;
        Ok(match op {
            BinaryOp::And => self.nary(Nary::And, vec![first, second]),
            BinaryOp::Or => self.nary(Nary::Or, vec![first, second]),
            BinaryOp::Implies => self.nary(Nary::Or, vec![negation(first), second]),
            BinaryOp::Add => self.nary(Nary::Sum, vec![first, second]),
            BinaryOp::Eq => self.nary(Nary::Equal, vec![first, second]),
            BinaryOp::Ne => negation(self.nary(Nary::Equal, vec![first, second])),
            _ => Term::Binary(op as u8, Box::new(first), Box::new(second)),
        })
    }

    /// Whether an index lies on one side of a number, if the type of the index says so: whether it is
    /// a value of a type is not arithmetic. All indices that are exchanged have the same types.
    fn decided(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
    ) -> Result<Option<bool>, Obstacle> {
        let orders = [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge];
        if !orders.contains(&op) {
            return Ok(None);
        }
        let (is_left, index, number) = match (self.known.constant(left), self.known.constant(right))
        {
            (None, Some(number)) => (true, left, number),
            (Some(number), None) => (false, right, number),
            _ => return Ok(None),
        };
        let Some(sort) = self.sorts.of_expr(index) else {
            return Ok(None);
        };
        let term = self.term(index, Some(sort))?;
        let Some((lo, hi)) = self.bounds(&term) else {
            return Ok(None);
        };

        let holds = |value: i64| {
            let (one, other) = if is_left {
                (value, number)
            } else {
                (number, value)
            };
            match op {
                BinaryOp::Lt => one < other,
                BinaryOp::Le => one <= other,
                BinaryOp::Gt => one > other,
                _ => one >= other,
            }
        };
        Ok((holds(lo) == holds(hi)).then(|| holds(lo)))
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        bound: BoundId,
        (lo, hi): (&Expr, &Expr),
        body: &Expr,
    ) -> Result<Term, Obstacle> {
        let range = self.known.range(lo, hi).ok_or(Obstacle::OpenRange)?;
        let mut operands = Vec::new();
        for value in range {
            self.known.bounds.push((bound, value));
            let operand = self.plain(body);
            self.known.bounds.pop();
            operands.push(operand?);
        }
        let op = match quantifier {
            Quantifier::Forall => Nary::And,
            Quantifier::Exists => Nary::Or,
            Quantifier::Sum => Nary::Sum,
        };
        Ok(self.nary(op, operands))
    }

    /// Flattens and sorts. The order matters to what fails, so it stays where something may.
    pub(super) fn nary(&self, op: Nary, operands: Vec<Term>) -> Term {
        let mut flat = Vec::new();
        for operand in operands {
            match operand {
                Term::Nary(inner, more) if inner == op && op != Nary::Equal => flat.extend(more),
                other => flat.push(other),
            }
        }

        let neutral = match op {
            Nary::And => Some(1),
            Nary::Or => Some(0),
            Nary::Sum | Nary::Equal => None,
        };
        flat.retain(|term| neutral.is_none_or(|value| *term != Term::Const(value)));
        if flat.iter().all(|term| self.bounds(term).is_some()) && self.fits(op, &flat) {
            flat.sort();
            if matches!(op, Nary::And | Nary::Or) {
                flat.dedup();
            }
        }

        match (neutral, flat.len()) {
            (Some(value), 0) => Term::Const(value),
            (Some(_), 1) => flat.swap_remove(0),
            _ => Term::Nary(op, flat),
        }
    }

    /// Can no partial sum, in whatever order, overflow?
    fn fits(&self, op: Nary, operands: &[Term]) -> bool {
        let largest = |term| {
            let (lo, hi) = self.bounds(term).unwrap_or((i64::MIN, i64::MAX));
            i128::from(lo.unsigned_abs().max(hi.unsigned_abs()))
        };
        op != Nary::Sum || operands.iter().map(largest).sum::<i128>() <= i128::from(i64::MAX)
    }

    /// The values that a term may have, if it never fails.
    pub(super) fn bounds(&self, term: &Term) -> Option<(i64, i64)> {
        let truth = Some((0, 1));
        match term {
            Term::Const(value) => Some((*value, *value)),
            Term::Cell(cell) => Some(self.model().cells()[*cell].ty.bounds()),
            Term::Name(position) => Some(self.names.get(*position)?.1),
            Term::At(..) => truth,
            Term::Length(channel, None) => {
                let channel = &self.model().parts().channels[*channel as usize];
                Some((0, channel.capacity as i64))
            }
            Term::Before(inner) => self.bounds(inner),
            Term::Not(inner) => self.bounds(inner).and(truth),
            Term::Nary(Nary::Sum, operands) => {
                let (mut lo, mut hi) = (0_i64, 0_i64);
                for operand in operands {
                    let more = self.bounds(operand)?;
                    (lo, hi) = (lo.checked_add(more.0)?, hi.checked_add(more.1)?);
                }
                self.fits(Nary::Sum, operands).then_some((lo, hi))
            }
            Term::Nary(_, operands) => {
                let all = operands.iter().all(|term| self.bounds(term).is_some());
                all.then_some((0, 1))
            }
            Term::Binary(op, left, right) => {
                binary_bounds(*op, self.bounds(left)?, self.bounds(right)?)
            }
            Term::Ite(condition, then, otherwise) => {
                self.bounds(condition)?;
                let (then, otherwise) = (self.bounds(then)?, self.bounds(otherwise)?);
                Some((then.0.min(otherwise.0), then.1.max(otherwise.1)))
            }
            Term::Select(var, owner, path) => self.select_bounds(*var, owner.as_deref(), path),
            // An index may be out of range, an operation may overflow.
            Term::AtIndex(..) | Term::Length(_, Some(_)) | Term::Neg(_) | Term::Wrap(..) => None,
        }
    }

    /// The values of a cell, if all indices are certainly in range.
    fn select_bounds(&self, var: VarId, owner: Option<&Term>, path: &[Term]) -> Option<(i64, i64)> {
        let parts = self.model().parts();
        let variable = &parts.vars[var.index()];
        let is_within = |term: &Term, lo: i64, hi: i64| {
            let bounds = self.bounds(term);
            bounds.is_some_and(|(least, greatest)| lo <= least && greatest <= hi)
        };
        if let (Some(owner), Some(process)) = (owner, variable.owner) {
            let range = parts.processes[process.index()].index?;
            is_within(owner, range.lo, range.hi).then_some(())?;
        }

        let mut ty = &variable.ty;
        for term in path {
            ty = match (ty, term) {
                (Type::Array(array), index) => {
                    let last = array.lo.checked_add(array.len as i64)? - 1;
                    is_within(index, array.lo, last).then_some(&array.element)?
                }
                (Type::Record(record), Term::Const(field)) => {
                    &parts.records[record.index()].fields[*field as usize].1
                }
                _ => return None,
            };
        }

        match ty {
            Type::Scalar(scalar) => Some(scalar.bounds()),
            _ => None,
        }
    }

    pub(super) fn place(&mut self, place: &Place) -> Result<Term, Obstacle> {
        let variable = &self.model().parts().vars[place.var.index()];
        let has_constant_indices = place.path.iter().all(|access| match access {
            Access::Index(index) => self.known.constant(index).is_some(),
            Access::Field(_) => true,
        });
        let owner = match (&place.owner, variable.owner) {
            (Some(Owner::Indexed(index)), Some(process)) => {
                Some(self.instance_index(process, index)?)
            }
            _ => None,
        };

        let is_constant = owner.as_ref().is_none_or(|o| matches!(o, Term::Const(_)));
        if is_constant && has_constant_indices {
            // A constant index that is out of range names no cell.
            let cells = self.known.cells(place);
            let &[cell] = &cells[..] else {
                return Err(Obstacle::Different);
            };
            return self.cell(cell).map(Term::Cell);
        }

        let owner = match owner {
            Some(owner) => Some(owner),
            // One's own, or the only one: an instance stands for itself.
            None => match variable.owner {
                Some(process) => self.own_index(process)?,
                None => None,
            },
        };
        let (mut prefix, mut path) = (Vec::new(), Vec::new());

        for access in &place.path {
            match access {
                Access::Field(field) => {
                    path.push(Term::Const(*field as i64));
                    prefix.push(PathStep::Field(*field));
                }
                Access::Index(index) => {
                    let slot = Slot::Dimension(place.var, prefix.clone());
                    path.push(self.term(index, self.sorts.of(&slot))?);
                    prefix.push(PathStep::Index);
                }
            }
        }

        Ok(Term::Select(place.var, owner.map(Box::new), path))
    }

    /// The index of the process whose command this is, if it is an instance of this process.
    fn own_index(&self, process: model::ProcessId) -> Result<Option<Term>, Obstacle> {
        let Some(own) = self.known.instance else {
            return Ok(None);
        };
        let instance = &self.model().instances()[own.index()];
        match instance.index.filter(|_| instance.process == process) {
            Some(index) => {
                let image = self.index_image(process, index);
                image.map(|image| Some(Term::Const(image)))
            }
            None => Ok(None),
        }
    }

    /// The index of the instance that takes the place of another.
    fn index_image(&self, process: model::ProcessId, index: i64) -> Result<i64, Obstacle> {
        let exists = self.model().instance_of(process, Some(index)).is_some();
        match self.sorts.index_of(process) {
            Some(family) if exists => {
                let image = |sort, value| self.image(sort, value);
                family.image(index, &image).ok_or(Obstacle::Partial)
            }
            _ => Ok(self.image(self.sorts.of_process(process), index)),
        }
    }

    /// Which instance of a process an expression names.
    fn instance_index(
        &mut self,
        process: model::ProcessId,
        index: &Expr,
    ) -> Result<Term, Obstacle> {
        if let Some(value) = self.known.constant(index) {
            return self.index_image(process, value).map(Term::Const);
        }
        let family = self.sorts.index_of(process);
        if family.is_some_and(FamilyIndex::is_number) {
            return Err(Obstacle::Arithmetic);
        }
        self.term(index, self.sorts.of_process(process))
    }

    /// Where a cell goes.
    fn cell(&self, cell: usize) -> Result<usize, Obstacle> {
        let Some(renaming) = self.renaming else {
            return Ok(cell);
        };
        let shift = self.components.cells[cell].shift(renaming);
        let shift = shift.ok_or(Obstacle::Partial)?;
        Ok((cell as i64 + shift) as usize)
    }

    fn at(
        &mut self,
        process: model::ProcessId,
        owner: &Owner,
        locations: &[model::LocationId],
    ) -> Result<Term, Obstacle> {
        let mut locations: Vec<u32> = locations.iter().map(|location| location.0).collect();
        locations.sort_unstable();
        let model = self.model();
        let index = match owner {
            Owner::Single => None,
            Owner::Own => self
                .known
                .instance
                .and_then(|own| model.instances()[own.index()].index),
            Owner::Indexed(index) => match self.known.constant(index) {
                Some(index) => Some(index),
                None => {
                    let index = self.instance_index(process, index)?;
                    return Ok(Term::AtIndex(process.0, Box::new(index), locations));
                }
            },
        };

        let image = match index {
            Some(index) => Some(self.index_image(process, index)?),
            None => None,
        };
        let instance = model.instance_of(process, image);
        let instance = instance.ok_or(Obstacle::Partial)?;
        Ok(Term::At(instance.index(), locations))
    }

    pub(super) fn channel_index(&mut self, channel: &ChannelRef) -> Result<Option<Term>, Obstacle> {
        let sort = self.sorts.of(&Slot::Channel(channel.channel));
        let index = channel.index.as_deref();
        index.map(|index| self.term(index, sort)).transpose()
    }

    /// Where a value is stored, and what sort it must have.
    pub(super) fn target(&mut self, place: &Place) -> Result<(Term, Option<SortId>), Obstacle> {
        let sort = self.sorts.of(&value_slot(place));
        Ok((self.place(place)?, sort))
    }

    /// The cells that may be selected: those that fit the indices that are known.
    pub(super) fn selected(&self, var: VarId, owner: Option<&Term>, path: &[Term]) -> Vec<usize> {
        let model = self.model();
        let records = &model.parts().records;
        let variable = &model.parts().vars[var.index()];
        let mut cells: Vec<usize> = match variable.owner {
            None => vec![model.first_cell(var, None)],
            Some(process) => {
                let is_meant = |instance: &model::Instance| match owner {
                    Some(Term::Const(index)) => instance.index == Some(*index),
                    _ => true,
                };
                let instances = model.instances().iter().enumerate();
                let instances =
                    instances.filter(|(_, one)| one.process == process && is_meant(one));
                let ids = instances.map(|(position, _)| model::InstanceId::new(position));
                ids.map(|id| model.first_cell(var, Some(id))).collect()
            }
        };

        let mut ty = &variable.ty;
        for term in path {
            match (ty, term) {
                (Type::Array(array), index) => {
                    let stride = array.element.n_cells(records);
                    let is_meant = |offset: &usize| match index {
                        Term::Const(index) => array.lo + *offset as i64 == *index,
                        _ => true,
                    };
                    let offsets: Vec<usize> = (0..array.len).filter(is_meant).collect();
                    let element =
                        |cell: &usize| offsets.iter().map(|at| cell + at * stride).collect();
                    cells = cells.iter().flat_map::<Vec<usize>, _>(element).collect();
                    ty = &array.element;
                }
                (Type::Record(record), Term::Const(field)) => {
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field as usize].iter();
                    let skipped: usize = skipped.map(|(_, ty)| ty.n_cells(records)).sum();
                    cells.iter_mut().for_each(|cell| *cell += skipped);
                    ty = &fields[*field as usize].1;
                }
                _ => unreachable!("paths fit the types of variables"),
            }
        }

        cells
    }

    /// Adds the cells that the indices of a selection may read.
    pub(super) fn index_reads(&self, term: &Term, cells: &mut BTreeSet<usize>) {
        // shape: only selections have indices that read something.
        if let Term::Select(_, owner, path) = term {
            owner.iter().for_each(|owner| self.reads(owner, cells));
            path.iter().for_each(|index| self.reads(index, cells));
        }
    }

    /// Adds the cells that a term may read now, and [`NAMES`] if it mentions any.
    pub(super) fn reads(&self, term: &Term, cells: &mut BTreeSet<usize>) {
        match term {
            Term::Cell(cell) => {
                cells.insert(*cell);
            }
            Term::Select(var, owner, path) => {
                cells.extend(self.selected(*var, owner.as_deref(), path));
                self.index_reads(term, cells);
            }
            Term::AtIndex(_, inner, _)
            | Term::Length(_, Some(inner))
            | Term::Not(inner)
            | Term::Neg(inner)
            | Term::Wrap(_, _, inner) => self.reads(inner, cells),
            Term::Binary(_, left, right) => {
                self.reads(left, cells);
                self.reads(right, cells);
            }
            Term::Nary(_, operands) => {
                operands
                    .iter()
                    .for_each(|operand| self.reads(operand, cells));
            }
            Term::Ite(condition, then, otherwise) => {
                for part in [condition, then, otherwise] {
                    self.reads(part, cells);
                }
            }
            Term::Name(_) => {
                cells.insert(NAMES);
            }
            Term::Const(_) | Term::Before(_) | Term::At(..) | Term::Length(_, None) => {}
        }
    }
}

fn negation(term: Term) -> Term {
    match term {
        Term::Const(value) => Term::Const(1 - value),
        Term::Not(inner) => *inner,
        other => Term::Not(Box::new(other)),
    }
}

/// The values of an operation on values in these ranges, if it never fails.
fn binary_bounds(op: u8, left: (i64, i64), right: (i64, i64)) -> Option<(i64, i64)> {
    let is = |other: BinaryOp| other as u8 == op;
    let comparisons = [BinaryOp::Lt, BinaryOp::Le, BinaryOp::Gt, BinaryOp::Ge];
    if comparisons.into_iter().any(is) {
        return Some((0, 1));
    }
    if is(BinaryOp::Sub) {
        return left.0.checked_sub(right.1).zip(left.1.checked_sub(right.0));
    }
    // Euclidean: the remainder is not negative.
    (is(BinaryOp::Mod) && right.0 > 0).then(|| (0, right.1 - 1))
}

//! Which values are indices of process families: sorts, found by unification.
//!
//! Every name, variable, dimension of an array, channel, component of a message and argument of an
//! event has a sort of its own at first. Where two of them meet (an index selects an element, a
//! value is stored, compared for equality, sent), their sorts become one. A sort that the index of
//! a family belongs to is a candidate for permutations; everything else stays as it is.
//!
//! This is only a guess of what a permutation should do to a state. Whether it is right is found
//! out by [`super::automorphism`], so nothing here needs to be trusted.

use std::collections::BTreeMap;

use model::{
    Access, BinaryOp, BoundId, ChannelId, ChannelRef, EventId, Expr, Initial, Model, Owner,
    Pattern, Place, ProcessId, Step, Stmt, StmtKind, Sync, VarId,
};

/// The sort of a family of indices: a position in [`Sorts::n_sorts`].
pub(crate) type SortId = usize;

/// Something that has a sort.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Slot {
    Bound(BoundId),
    /// One of the several indices of a family.
    Family(ProcessId, usize),
    /// The scalars of a variable at the end of a path; indices do not tell paths apart.
    Value(VarId, Vec<PathStep>),
    /// The dimension of an array at the end of a path.
    Dimension(VarId, Vec<PathStep>),
    Channel(ChannelId),
    Payload(ChannelId, usize),
    Argument(EventId, usize),
}

/// A step of a path from a variable to a part of it.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum PathStep {
    Index,
    Field(usize),
}

/// The sorts of a model.
#[derive(Debug, Default)]
pub(super) struct Sorts {
    nodes: BTreeMap<Slot, usize>,
    parents: Vec<usize>,
    /// The sorts with families in them, by root.
    families: BTreeMap<usize, SortId>,
    /// The families with several indices, by the name for the number of an instance.
    numbered: BTreeMap<BoundId, ProcessId>,
    /// By process: what the index of an instance consists of.
    indices: Vec<Option<FamilyIndex>>,
}

/// What the index of a process consists of: itself, or several indices of which it is the number.
#[derive(Clone, Debug)]
pub(super) struct FamilyIndex {
    /// The first index.
    first: i64,
    parts: Vec<IndexPart>,
}

/// One of the indices of a family.
#[derive(Clone, Copy, Debug)]
pub(super) struct IndexPart {
    pub(super) sort: Option<SortId>,
    pub(super) range: (i64, i64),
    /// How far away the instance with the next index is.
    pub(super) stride: i64,
}

impl FamilyIndex {
    fn new(model: &Model, sorts: &Sorts, process: ProcessId) -> Option<Self> {
        let description = &model.parts().processes[process.index()];
        let index = description.index?;
        let mut parts = Vec::new();
        if description.dimensions.is_empty() {
            parts.push(IndexPart {
                sort: sorts.of(&Slot::Bound(index.bound)),
                range: (index.lo, index.hi),
                stride: 1,
            });
        }
        for (position, range) in description.dimensions.iter().enumerate() {
            parts.push(IndexPart {
                sort: sorts.of(&Slot::Family(process, position)),
                range: *range,
                stride: stride(&description.dimensions, position),
            });
        }
        Some(Self {
            first: index.lo,
            parts,
        })
    }

    /// The indices of the instance with this index, each with what it is.
    pub(super) fn parts(&self, index: i64) -> impl Iterator<Item = (IndexPart, i64)> {
        let number = index - self.first;
        self.parts.iter().map(move |part| {
            let (lo, hi) = part.range;
            (*part, number / part.stride % (hi - lo + 1) + lo)
        })
    }

    /// The index of the instance that takes the place of this one; nothing if there is none.
    pub(super) fn image(
        &self,
        index: i64,
        image: &dyn Fn(Option<SortId>, i64) -> i64,
    ) -> Option<i64> {
        let mut moved = index;
        for (part, value) in self.parts(index) {
            let other = image(part.sort, value);
            let (lo, hi) = part.range;
            if !(lo..=hi).contains(&other) {
                return None;
            }
            moved += (other - value) * part.stride;
        }
        Some(moved)
    }

    /// All indices of a sort that instances have.
    pub(super) fn of_sort(&self, sort: SortId) -> impl Iterator<Item = i64> {
        let parts = self.parts.iter();
        let of_sort = parts.filter(move |part| part.sort == Some(sort));
        of_sort.flat_map(|part| part.range.0..=part.range.1)
    }

    /// The sort of the index, if there is only one.
    fn only_sort(&self) -> Option<SortId> {
        match self.parts[..] {
            [part] => part.sort,
            _ => None,
        }
    }

    /// Are there several?
    pub(super) fn is_number(&self) -> bool {
        self.parts.len() > 1
    }
}

/// How many instances of a family have the same first indices, up to this one.
fn stride(dimensions: &[(i64, i64)], position: usize) -> i64 {
    let inner = dimensions[position + 1..].iter();
    inner.map(|(lo, hi)| hi - lo + 1).product()
}

impl Sorts {
    pub(super) fn new(model: &Model) -> Self {
        let mut sorts = Self::default();
        let parts = model.parts();
        for (position, process) in parts.processes.iter().enumerate() {
            if let (Some(index), false) = (process.index, process.dimensions.is_empty()) {
                let id = ProcessId::new(position);
                sorts.numbered.insert(index.bound, id);
            }
        }

        for (position, variable) in parts.vars.iter().enumerate() {
            match &variable.initial {
                Initial::Values(values) => {
                    sorts.visit_initial_values(model, VarId::new(position), values);
                }
                Initial::Any => {}
            }
        }

        for process in &parts.processes {
            for step in &process.steps {
                sorts.visit_step(model, step);
            }
        }
        for expr in &parts.init {
            sorts.visit(model, expr);
        }
        for atom in &parts.atoms {
            for expr in atom.meaning.operands() {
                sorts.visit(model, expr);
            }
        }

        for (position, process) in parts.processes.iter().enumerate() {
            let Some(index) = process.index else {
                continue;
            };
            if process.dimensions.is_empty() && index.hi > index.lo {
                sorts.add_family(Slot::Bound(index.bound));
            }
            for (dimension, (lo, hi)) in process.dimensions.iter().enumerate() {
                if hi > lo {
                    sorts.add_family(Slot::Family(ProcessId::new(position), dimension));
                }
            }
        }

        let processes = (0..parts.processes.len()).map(ProcessId::new);
        let indices = processes.map(|process| FamilyIndex::new(model, &sorts, process));
        sorts.indices = indices.collect();
        sorts
    }

    fn add_family(&mut self, slot: Slot) {
        let node = self.node(slot);
        let root = self.root(node);
        let fresh = self.families.len();
        self.families.entry(root).or_insert(fresh);
    }

    /// How many sorts have families in them.
    pub(super) fn n_sorts(&self) -> usize {
        self.families.len()
    }

    /// The sort of a slot, if there are families in it.
    pub(super) fn of(&self, slot: &Slot) -> Option<SortId> {
        let node = *self.nodes.get(slot)?;
        self.families.get(&self.root(node)).copied()
    }

    /// The sort of the index of a process, if it has one index.
    pub(super) fn of_process(&self, process: ProcessId) -> Option<SortId> {
        self.index_of(process)?.only_sort()
    }

    /// What the index of a process consists of; nothing for single processes.
    pub(super) fn index_of(&self, process: ProcessId) -> Option<&FamilyIndex> {
        self.indices[process.index()].as_ref()
    }

    /// The same for all processes.
    pub(super) fn indices(&self) -> &[Option<FamilyIndex>] {
        &self.indices
    }

    /// The sort of the value of an expression.
    pub(super) fn of_expr(&self, expr: &Expr) -> Option<SortId> {
        match expr {
            Expr::Read(place) => self.of(&value_slot(place)),
            Expr::Bound(bound) => self.of(&Slot::Bound(*bound)),
            Expr::Ite(_, then, otherwise) => self.of_expr(then).or_else(|| self.of_expr(otherwise)),
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Not(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Quantified { .. }
            | Expr::At { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => None,
        }
    }

    fn node(&mut self, slot: Slot) -> usize {
        let fresh = self.parents.len();
        let node = *self.nodes.entry(slot).or_insert(fresh);
        if node == fresh {
            self.parents.push(fresh);
        }
        node
    }

    fn root(&self, mut node: usize) -> usize {
        while self.parents[node] != node {
            node = self.parents[node];
        }
        node
    }

    /// Makes two sorts one. Literals and results of arithmetic have none of their own.
    fn unify(&mut self, one: Option<usize>, other: Option<usize>) -> Option<usize> {
        if let (Some(one), Some(other)) = (one, other) {
            let (one, other) = (self.root(one), self.root(other));
            self.parents[one.max(other)] = one.min(other);
        }
        one.or(other)
    }

    fn unify_slot(&mut self, slot: Slot, other: Option<usize>) {
        let node = self.node(slot);
        self.unify(Some(node), other);
    }

    fn visit_initial_values(&mut self, model: &Model, var: VarId, values: &[Expr]) {
        let paths = cell_paths(model, &model.parts().vars[var.index()].ty);
        for (path, value) in paths.into_iter().zip(values) {
            let sort = self.visit(model, value);
            self.unify_slot(Slot::Value(var, path), sort);
        }
    }

    fn visit_step(&mut self, model: &Model, step: &Step) {
        for expr in [&step.condition, &step.guard] {
            self.visit(model, expr);
        }
        match &step.sync {
            Sync::Internal => {}
            Sync::Send { channel, payload } => {
                self.visit_channel(model, channel);
                for (component, expr) in payload.iter().enumerate() {
                    let sort = self.visit(model, expr);
                    self.unify_slot(Slot::Payload(channel.channel, component), sort);
                }
            }
            Sync::Receive { channel, patterns } => {
                self.visit_channel(model, channel);
                for (component, pattern) in patterns.iter().enumerate() {
                    let sort = match pattern {
                        Pattern::Match(expr) => self.visit(model, expr),
                        Pattern::Store(place) => Some(self.visit_place(model, place)),
                        Pattern::Ignore => None,
                    };
                    self.unify_slot(Slot::Payload(channel.channel, component), sort);
                }
            }
            Sync::Event { event, arguments } => {
                for (position, expr) in arguments.iter().enumerate() {
                    let sort = self.visit(model, expr);
                    self.unify_slot(Slot::Argument(*event, position), sort);
                }
            }
        }

        self.visit_all(model, &step.effect);
    }

    fn visit_all(&mut self, model: &Model, statements: &[Stmt]) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Assign(place, value) => {
                    let target = self.visit_place(model, place);
                    let sort = self.visit(model, value);
                    self.unify(Some(target), sort);
                }
                StmtKind::If(condition, then, otherwise) => {
                    self.visit(model, condition);
                    self.visit_all(model, then);
                    self.visit_all(model, otherwise);
                }
                StmtKind::For(_, lo, hi, body) => {
                    self.visit(model, lo);
                    self.visit(model, hi);
                    self.visit_all(model, body);
                }
                StmtKind::Choose(bound, lo, hi, condition) => {
                    for expr in [lo, hi] {
                        let sort = self.visit(model, expr);
                        self.unify_slot(Slot::Bound(*bound), sort);
                    }
                    self.visit(model, condition);
                }
                StmtKind::Let(bound, value) | StmtKind::Set(bound, value) => {
                    let sort = self.visit(model, value);
                    self.unify_slot(Slot::Bound(*bound), sort);
                }
                StmtKind::While(condition, body) => {
                    self.visit(model, condition);
                    self.visit_all(model, body);
                }
                StmtKind::Assert(condition) => {
                    self.visit(model, condition);
                }
                StmtKind::SetTimer(..)
                | StmtKind::Tick
                | StmtKind::Fail(_)
                | StmtKind::Exhausted => {}
            }
        }
    }

    /// The sort of an expression, after everything inside has been looked at.
    fn visit(&mut self, model: &Model, expr: &Expr) -> Option<usize> {
        if let Some(slot) = self.index_in_number(model, expr) {
            return Some(self.node(slot));
        }
        match expr {
            Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) => None,
            Expr::Read(place) => Some(self.visit_place(model, place)),
            Expr::Bound(bound) => Some(self.node(Slot::Bound(*bound))),
            Expr::Not(inner) | Expr::Neg(inner) | Expr::Wrap { inner, .. } => {
                self.visit(model, inner);
                None
            }
            Expr::Binary(op, left, right) => {
                let (left, right) = (self.visit(model, left), self.visit(model, right));
                if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
                    self.unify(left, right);
                }
                None
            }
            Expr::Ite(condition, then, otherwise) => {
                self.visit(model, condition);
                let (then, otherwise) = (self.visit(model, then), self.visit(model, otherwise));
                self.unify(then, otherwise)
            }
            Expr::Quantified { lo, hi, body, .. } => {
                for expr in [lo, hi, body] {
                    self.visit(model, expr);
                }
                None
            }
            Expr::At { process, owner, .. } => {
                self.visit_owner(model, *process, owner);
                None
            }
            Expr::Length(channel) => {
                self.visit_channel(model, channel);
                None
            }
        }
    }

    fn visit_place(&mut self, model: &Model, place: &Place) -> usize {
        let owner = model.parts().vars[place.var.index()].owner;
        if let (Some(owner), Some(process)) = (&place.owner, owner) {
            self.visit_owner(model, process, owner);
        }
        let mut path = Vec::new();
        for access in &place.path {
            match access {
                Access::Field(field) => path.push(PathStep::Field(*field)),
                Access::Index(index) => {
                    let sort = self.visit(model, index);
                    self.unify_slot(Slot::Dimension(place.var, path.clone()), sort);
                    path.push(PathStep::Index);
                }
            }
        }
        self.node(Slot::Value(place.var, path))
    }

    fn visit_owner(&mut self, model: &Model, process: ProcessId, owner: &Owner) {
        if let Some(index) = owner.index() {
            let sort = self.visit(model, index);
            let description = &model.parts().processes[process.index()];
            match description.index {
                Some(range) if description.dimensions.is_empty() => {
                    self.unify_slot(Slot::Bound(range.bound), sort);
                }
                Some(_) => self.visit_number(model, process, index),
                None => {}
            }
        }
    }

    /// One of several indices of the own instance, as front ends compute it from the number:
    /// `number / stride % length + first`.
    fn index_in_number(&self, model: &Model, expr: &Expr) -> Option<Slot> {
        // shape: nothing but what front ends compute is looked for.
        let (position, lo) = if let Expr::Binary(BinaryOp::Add, position, lo) = expr {
            (&**position, lo.as_literal()?)
        } else {
            (expr, 0)
        };
        // shape: nothing but what front ends compute is looked for.
        let Expr::Binary(BinaryOp::Mod, position, length) = position else {
            return None;
        };
        // shape: nothing but what front ends compute is looked for.
        let (number, wanted) = if let Expr::Binary(BinaryOp::Div, number, stride) = &**position {
            (&**number, stride.as_literal()?)
        } else {
            (&**position, 1)
        };
        let bound = number.as_bound()?;

        let process = *self.numbered.get(&bound)?;
        let dimensions = &model.parts().processes[process.index()].dimensions;
        let length = length.as_literal()?;
        let is_it = |at: &usize| {
            let (first, last) = dimensions[*at];
            first == lo && last - first + 1 == length && stride(dimensions, *at) == wanted
        };
        let position = (0..dimensions.len()).find(is_it)?;
        Some(Slot::Family(process, position))
    }

    /// The number of an instance with several indices, as front ends compute it from them:
    /// `(i - first) * length + (j - first)`, or a number without instance where they do not fit.
    fn visit_number(&mut self, model: &Model, process: ProcessId, index: &Expr) {
        // shape: nothing but what front ends compute is looked for.
        let mut number = if let Expr::Ite(_, number, _) = index {
            &**number
        } else {
            index
        };
        let n_dimensions = model.parts().processes[process.index()].dimensions.len();
        for dimension in (0..n_dimensions).rev() {
            // shape: nothing but what front ends compute is looked for.
            let Expr::Binary(BinaryOp::Add, scaled, offset) = number else {
                return;
            };
            // shape: the first one is added to 0.
            let rest = if let Expr::Binary(BinaryOp::Mul, rest, _) = &**scaled {
                rest
            } else {
                scaled
            };
            // shape: where indices begin with 0 nothing is subtracted.
            let value = if let Expr::Binary(BinaryOp::Sub, value, lo) = &**offset
                && lo.as_literal().is_some()
            {
                value
            } else {
                offset
            };
            let sort = self.visit(model, value);
            self.unify_slot(Slot::Family(process, dimension), sort);
            number = rest;
        }
    }

    fn visit_channel(&mut self, model: &Model, channel: &ChannelRef) {
        if let Some(index) = &channel.index {
            let sort = self.visit(model, index);
            self.unify_slot(Slot::Channel(channel.channel), sort);
        }
    }
}

/// The slot of the scalars that a place names.
pub(super) fn value_slot(place: &Place) -> Slot {
    let step = |access: &Access| match access {
        Access::Index(_) => PathStep::Index,
        Access::Field(field) => PathStep::Field(*field),
    };
    Slot::Value(place.var, place.path.iter().map(step).collect())
}

/// The paths of the cells of a type, in order.
fn cell_paths(model: &Model, ty: &model::Type) -> Vec<Vec<PathStep>> {
    let mut paths = Vec::new();
    collect_paths(model, ty, &mut Vec::new(), &mut paths);
    paths
}

fn collect_paths(
    model: &Model,
    ty: &model::Type,
    path: &mut Vec<PathStep>,
    paths: &mut Vec<Vec<PathStep>>,
) {
    match ty {
        model::Type::Scalar(_) => paths.push(path.clone()),
        model::Type::Array(array) => {
            path.push(PathStep::Index);
            for _ in 0..array.len {
                collect_paths(model, &array.element, path, paths);
            }
            path.pop();
        }
        model::Type::Record(record) => {
            let fields = &model.parts().records[record.index()].fields;
            for (field, (_, ty)) in fields.iter().enumerate() {
                path.push(PathStep::Field(field));
                collect_paths(model, ty, path, paths);
                path.pop();
            }
        }
    }
}

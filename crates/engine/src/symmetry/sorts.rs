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
}

impl Sorts {
    pub(super) fn new(model: &Model) -> Self {
        let mut sorts = Self::default();
        let parts = model.parts();
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

        for index in parts.processes.iter().filter_map(|process| process.index) {
            if index.hi > index.lo {
                let node = sorts.node(Slot::Bound(index.bound));
                let root = sorts.root(node);
                let fresh = sorts.families.len();
                sorts.families.entry(root).or_insert(fresh);
            }
        }

        sorts
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

    /// The sort of the index of a process.
    pub(super) fn of_process(&self, model: &Model, process: ProcessId) -> Option<SortId> {
        let index = model.parts().processes[process.index()].index?;
        self.of(&Slot::Bound(index.bound))
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
            if let Some(range) = model.parts().processes[process.index()].index {
                self.unify_slot(Slot::Bound(range.bound), sort);
            }
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

//! Expressions whose values are known before any state is seen.

use base::Span;
use model::{Access, BoundId, Env, Expr, InstanceId, Model, Owner, Place, State, Type};

/// Quantifiers and loops with at most this many instances are looked at instance by instance.
const MAX_INSTANCES: i64 = 64;

/// What is known where a piece of code is looked at: who executes it and what some names stand for.
#[derive(Clone, Debug)]
pub(crate) struct Known<'m> {
    pub(crate) model: &'m Model,
    pub(crate) instance: Option<InstanceId>,
    pub(crate) bounds: Vec<(BoundId, i64)>,
    /// The values of cells that have only one, by cell; empty if nothing is known about them.
    pub(crate) constants: &'m [Option<i64>],
}

impl<'m> Known<'m> {
    /// Outside of all processes.
    pub(crate) fn nothing(model: &'m Model) -> Self {
        Self {
            model,
            instance: None,
            bounds: Vec::new(),
            constants: &[],
        }
    }

    /// In a command.
    pub(crate) fn in_command(model: &'m Model, command: &model::Command) -> Self {
        Self {
            model,
            instance: Some(command.instance),
            bounds: command.bindings.clone(),
            constants: &[],
        }
    }

    /// The value of an expression that depends on nothing else; nothing if it depends on the state,
    /// on names not known here, or has no value.
    pub(crate) fn constant(&self, expr: &Expr) -> Option<i64> {
        if !self.is_known(expr) {
            return None;
        }
        // There may be many more cells than commands need to look at.
        let constants = if expr.mentions_state() {
            self.constants
        } else {
            &[]
        };
        let anywhere = State {
            locations: Vec::new(),
            cells: constants.iter().map(|value| value.unwrap_or(0)).collect(),
            channels: Vec::new(),
        };

        let mut env = match self.instance {
            Some(instance) => Env::of(instance, &self.bounds),
            None => Env::empty(),
        };
        if self.instance.is_none() {
            for &(bound, value) in &self.bounds {
                env.bind(bound, value);
            }
        }

        let value = self.model.eval(expr, &anywhere, &mut env, Span::nowhere());
        value.ok()
    }

    fn is_known(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) => true,
            Expr::Bound(bound) => self.bounds.iter().any(|(name, _)| name == bound),
            Expr::Not(inner) | Expr::Neg(inner) | Expr::Wrap { inner, .. } => self.is_known(inner),
            Expr::Binary(_, left, right) => self.is_known(left) && self.is_known(right),
            Expr::Ite(condition, then, otherwise) => [condition, then, otherwise]
                .iter()
                .all(|e| self.is_known(e)),
            Expr::Read(place) if !self.constants.is_empty() => {
                let is_constant = |cell: &usize| self.constants[*cell].is_some();
                self.names_one(place) && self.cells(place).iter().all(is_constant)
            }
            Expr::Read(_) | Expr::At { .. } | Expr::Length(_) | Expr::Quantified { .. } => false,
        }
    }

    /// Are all indices of a place known?
    fn names_one(&self, place: &Place) -> bool {
        let is_known = |access: &Access| match access {
            Access::Index(index) => self.is_known(index),
            Access::Field(_) => true,
        };
        let owner = place.owner.as_ref().is_none_or(|owner| match owner {
            Owner::Indexed(index) => self.is_known(index),
            Owner::Own | Owner::Single => true,
        });
        owner && place.path.iter().all(is_known)
    }

    /// The values from one expression to another, if they are known and few.
    pub(crate) fn range(&self, lo: &Expr, hi: &Expr) -> Option<std::ops::RangeInclusive<i64>> {
        let (lo, hi) = (self.constant(lo)?, self.constant(hi)?);
        let few = hi.checked_sub(lo).is_some_and(|last| last < MAX_INSTANCES);
        few.then_some(lo..=hi)
    }

    /// The cells that a place may name. Where indices are not known, all that they may be.
    pub(crate) fn cells(&self, place: &Place) -> Vec<usize> {
        let variable = &self.model.parts().vars[place.var.index()];
        let records = &self.model.parts().records;
        let mut cells = self.first_cells(place);
        let mut ty = &variable.ty;

        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let stride = array.element.n_cells(records);
                    let offsets = match self.constant(index) {
                        None => 0..array.len,
                        Some(index) => match offset_of(index, array.lo, array.len) {
                            Some(offset) => offset..offset + 1,
                            None => 0..0,
                        },
                    };
                    let element = |cell: &usize| {
                        let cell = *cell;
                        offsets.clone().map(move |offset| cell + offset * stride)
                    };
                    cells = cells.iter().flat_map(element).collect();
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    let skipped: usize = skipped.map(|(_, ty)| ty.n_cells(records)).sum();
                    cells.iter_mut().for_each(|cell| *cell += skipped);
                    ty = &fields[*field].1;
                }
                _ => unreachable!("front ends check that accesses fit the type"),
            }
        }

        cells
    }

    /// The first cells of the copies of a variable that a place may name.
    fn first_cells(&self, place: &Place) -> Vec<usize> {
        let model = self.model;
        let owner = model.parts().vars[place.var.index()].owner;
        let (Some(whose), Some(process)) = (&place.owner, owner) else {
            return vec![model.first_cell(place.var, None)];
        };
        let instances: Vec<InstanceId> = match whose {
            Owner::Own => self.instance.into_iter().collect(),
            Owner::Single => model.instance_of(process, None).into_iter().collect(),
            Owner::Indexed(index) => match self.constant(index) {
                Some(index) => model
                    .instance_of(process, Some(index))
                    .into_iter()
                    .collect(),
                None => (0..model.instances().len())
                    .map(InstanceId::new)
                    .filter(|id| model.instances()[id.index()].process == process)
                    .collect(),
            },
        };

        let first = |instance: InstanceId| model.first_cell(place.var, Some(instance));
        instances.into_iter().map(first).collect()
    }
}

fn offset_of(index: i64, lo: i64, len: usize) -> Option<usize> {
    let offset = usize::try_from(index.checked_sub(lo)?).ok()?;
    (offset < len).then_some(offset)
}

//! Who writes and reads what: variables that are never written need no place in the state, and a
//! channel variable can only hold the channels that flow into it.

use std::collections::{BTreeMap, BTreeSet};

use crate::ast::{Argument, Expr, ExprKind, Init, VarRef};
use crate::flow::{ElementKind, Leaf};
use crate::symbols::Context;

use super::{Lowering, Unit};

/// Where channels come from: variables, by position.
type Sources = Vec<usize>;

/// How channel values move.
#[derive(Default)]
pub(super) struct Flows {
    /// From variables to a variable.
    copies: Vec<(Sources, usize)>,
    /// Sent on a channel variable, in this argument, from variables.
    sends: Vec<(usize, usize, Sources)>,
    /// Received from a channel variable, in this argument, into a variable.
    receives: Vec<(usize, usize, usize)>,
}

/// Which channel declarations each variable may hold, as positions of channel variables.
pub(super) struct Reach {
    of_var: Vec<BTreeSet<usize>>,
}

impl Reach {
    /// The variables with whose channels this variable may be filled.
    pub(super) fn of(&self, var: usize) -> &BTreeSet<usize> {
        &self.of_var[var]
    }
}

impl Lowering<'_> {
    /// Marks variables as written and read, and follows channels.
    pub(super) fn analyse_usage(&mut self) -> Reach {
        let mut flows = Flows::default();
        let units: Vec<Unit> = self.units.clone();
        for unit in &units {
            for element in &unit.flow.elements {
                if let ElementKind::Leaf(leaf) = &element.kind {
                    self.use_of_leaf(leaf, element.context, &mut flows);
                }
            }
        }

        for index in 0..self.symbols.vars.len() {
            if let Init::Value(value) = self.symbols.vars[index].init.clone() {
                let var = &self.symbols.vars[index];
                let context = Context {
                    scope: var.scope,
                    order: var.order,
                    owner: var.owner,
                };
                self.use_of_expr(&value, context, &mut flows);
                let sources = self.sources(&value, context);
                flows.copies.push((sources, index));
            }
        }

        self.solve(&flows)
    }

    fn root(&self, var: &VarRef, context: Context) -> Option<usize> {
        self.symbols.lookup(&var.parts[0].name, context)
    }

    fn write(&mut self, var: &VarRef, context: Context, flows: &mut Flows) -> Option<usize> {
        self.use_of_indices(var, context, flows);
        let root = self.root(var, context)?;
        self.symbols.vars[root].written = true;
        Some(root)
    }

    fn use_of_indices(&mut self, var: &VarRef, context: Context, flows: &mut Flows) {
        for part in &var.parts {
            if let Some(index) = &part.index {
                self.use_of_expr(index, context, flows);
            }
        }
    }

    pub(super) fn use_of_leaf(&mut self, leaf: &Leaf, context: Context, flows: &mut Flows) {
        match leaf {
            Leaf::Condition(expr) | Leaf::Assert(expr) => self.use_of_expr(expr, context, flows),
            Leaf::Assign(var, value) => {
                self.use_of_expr(value, context, flows);
                let sources = self.sources(value, context);
                if let Some(root) = self.write(var, context, flows) {
                    flows.copies.push((sources, root));
                }
            }
            Leaf::SetTimer(var, value) => {
                self.use_of_expr(value, context, flows);
                self.write(var, context, flows);
            }
            Leaf::SetPriority(pid, value) => {
                self.use_of_expr(pid, context, flows);
                self.use_of_expr(value, context, flows);
            }
            Leaf::Clear(var) => self.symbols.vars[*var].written = true,
            Leaf::Send {
                channel, arguments, ..
            } => {
                self.use_of_indices(channel, context, flows);
                for (position, argument) in arguments.iter().enumerate() {
                    self.use_of_expr(argument, context, flows);
                    let sources = self.sources(argument, context);
                    if let Some(root) = self.root(channel, context) {
                        flows.sends.push((root, position, sources));
                    }
                }
            }
            Leaf::Receive {
                channel, arguments, ..
            } => {
                self.use_of_indices(channel, context, flows);
                for (position, argument) in arguments.iter().enumerate() {
                    self.use_of_argument(argument, context, flows);
                    if let Argument::Store(var) = argument
                        && !self.symbols.mtypes.contains_key(&var.parts[0].name)
                    {
                        let target = self.write(var, context, flows);
                        if let (Some(root), Some(target)) = (self.root(channel, context), target) {
                            flows.receives.push((root, position, target));
                        }
                    }
                }
            }
            Leaf::Else | Leaf::Print(_) => {}
        }
    }

    fn use_of_argument(&mut self, argument: &Argument, context: Context, flows: &mut Flows) {
        match argument {
            Argument::Match(expr) => self.use_of_expr(expr, context, flows),
            Argument::Store(var) => self.use_of_indices(var, context, flows),
        }
    }

    pub(super) fn use_of_expr(&mut self, expr: &Expr, context: Context, flows: &mut Flows) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
            ExprKind::Var(var)
            | ExprKind::Probe(_, var)
            | ExprKind::Expired(var)
            | ExprKind::IsOff(var) => {
                self.use_of_indices(var, context, flows);
                if let Some(root) = self.root(var, context) {
                    self.symbols.vars[root].read = true;
                }
            }
            ExprKind::Unary(_, inner) | ExprKind::Enabled(inner) | ExprKind::Priority(inner) => {
                self.use_of_expr(inner, context, flows);
            }
            ExprKind::Binary(_, left, right) => {
                self.use_of_expr(left, context, flows);
                self.use_of_expr(right, context, flows);
            }
            ExprKind::Cond(a, b, c) => {
                for part in [a, b, c] {
                    self.use_of_expr(part, context, flows);
                }
            }
            ExprKind::Run {
                name, arguments, ..
            } => {
                let callee = self.proctype(name);
                for (position, argument) in arguments.iter().enumerate() {
                    self.use_of_expr(argument, context, flows);
                    let sources = self.sources(argument, context);
                    let parameter = callee.and_then(|p| self.parameters[p].get(position));
                    if let Some(parameter) = parameter {
                        flows.copies.push((sources, *parameter));
                    }
                }
            }
            ExprKind::Poll {
                channel, arguments, ..
            } => {
                self.use_of_indices(channel, context, flows);
                for argument in arguments {
                    self.use_of_argument(argument, context, flows);
                }
            }
            ExprKind::RemoteLabel { pid, .. } | ExprKind::RemoteVar { pid, .. } => {
                if let Some(pid) = pid {
                    self.use_of_expr(pid, context, flows);
                }
            }
        }
    }

    /// The variables whose channels an expression may be.
    fn sources(&self, expr: &Expr, context: Context) -> Sources {
        match &expr.kind {
            ExprKind::Var(var) => self.root(var, context).into_iter().collect(),
            ExprKind::Cond(_, then, otherwise) => {
                let mut both = self.sources(then, context);
                both.extend(self.sources(otherwise, context));
                both
            }
            _ => Vec::new(),
        }
    }

    /// The least solution, by iteration. Channels travel in any argument of a message that carries
    /// them, whatever its type.
    fn solve(&self, flows: &Flows) -> Reach {
        let n_vars = self.symbols.vars.len();
        let mut of_var: Vec<BTreeSet<usize>> = vec![BTreeSet::new(); n_vars];
        for (index, reached) in of_var.iter_mut().enumerate() {
            if self.declares_channels(index) {
                reached.insert(index);
            }
        }

        let mut of_field: BTreeMap<(usize, usize), BTreeSet<usize>> = BTreeMap::new();
        loop {
            let mut changed = false;
            for (sources, target) in &flows.copies {
                for source in sources {
                    let found = of_var[*source].clone();
                    changed |= grow(&mut of_var[*target], &found);
                }
            }
            for (channel, position, sources) in &flows.sends {
                for declared in of_var[*channel].clone() {
                    for source in sources {
                        let field = of_field.entry((declared, *position)).or_default();
                        changed |= grow(field, &of_var[*source]);
                    }
                }
            }
            for (channel, position, target) in &flows.receives {
                for declared in of_var[*channel].clone() {
                    if let Some(found) = of_field.get(&(declared, *position)) {
                        changed |= grow(&mut of_var[*target], found);
                    }
                }
            }
            if !changed {
                return Reach { of_var };
            }
        }
    }

    /// Are there channels that the declaration of this variable creates?
    fn declares_channels(&self, index: usize) -> bool {
        let var = &self.symbols.vars[index];
        matches!(var.init, Init::Channel { .. }) || self.has_channel_field(var.ty)
    }
}

fn grow(set: &mut BTreeSet<usize>, more: &BTreeSet<usize>) -> bool {
    let before = set.len();
    set.extend(more);
    set.len() > before
}

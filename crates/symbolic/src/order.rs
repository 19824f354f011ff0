//! The order of fields: those that steps read or write together side by side.
//!
//! F. A. Aloul, I. L. Markov, K. A. Sakallah, "FORCE: a fast and easy-to-implement variable-ordering
//! heuristic", GLSVLSI 2003: every set of fields that belong together pulls its members towards its
//! centre, until nothing gets better. The order of declaration, locals behind the location of their
//! process, is where it starts.

use std::collections::BTreeSet;

use model::{Command, Expr, InstanceId, Model, Owner, Pattern, Place, Stmt, Sync};

use crate::encoding::{Component, Domains};

const MAX_ROUNDS: usize = 60;

/// The fields in a good order.
pub(crate) fn order(model: &Model, domains: &Domains) -> Vec<usize> {
    let mut order = by_process(model, domains);
    let groups = groups(model, domains);
    let mut best = span(&order, &groups);
    let mut stale = 0;

    let mut current = order.clone();
    for _ in 0..MAX_ROUNDS {
        current = pulled(&current, &groups);
        let now = span(&current, &groups);
        if now < best {
            (best, order, stale) = (now, current.clone(), 0);
        } else {
            stale += 1;
            if stale > 8 {
                break;
            }
        }
    }
    order
}

/// The order of declaration: globals, then each process with its locals.
fn by_process(model: &Model, domains: &Domains) -> Vec<usize> {
    let mut order: Vec<usize> = (0..domains.components.len()).collect();
    let key = |field: usize| match domains.components[field] {
        Component::Location(instance) => (instance + 1, 0, field),
        Component::Cell(cell) => {
            let owner = model.cells()[cell].instance;
            (owner.map_or(0, |instance| instance.index() + 1), 1, field)
        }
        Component::Length(_) | Component::Message(..) => (0, 2, field),
    };
    order.sort_by_key(|&field| key(field));
    order
}

/// How far the members of groups are apart, in all.
fn span(order: &[usize], groups: &[Vec<usize>]) -> usize {
    let mut place = vec![0; order.len()];
    for (position, &field) in order.iter().enumerate() {
        place[field] = position;
    }
    let width = |group: &Vec<usize>| {
        let places = group.iter().map(|&field| place[field]);
        places.clone().max().unwrap_or(0) - places.min().unwrap_or(0)
    };
    groups.iter().map(width).sum()
}

/// Every field moves to the mean of the centres of its groups.
fn pulled(order: &[usize], groups: &[Vec<usize>]) -> Vec<usize> {
    let n_fields = order.len();
    let mut place = vec![0.0; n_fields];
    for (position, &field) in order.iter().enumerate() {
        place[field] = position as f64;
    }

    let (mut force, mut weight) = (vec![0.0; n_fields], vec![0.0; n_fields]);
    for group in groups {
        let centre: f64 = group.iter().map(|&field| place[field]).sum::<f64>() / group.len() as f64;
        for &field in group {
            force[field] += centre;
            weight[field] += 1.0;
        }
    }

    // A field without a group stays where it is.
    let goal = |field: usize| {
        if weight[field] > 0.0 {
            force[field] / weight[field]
        } else {
            place[field]
        }
    };

    let mut next = order.to_vec();
    next.sort_by(|&a, &b| goal(a).total_cmp(&goal(b)));
    next
}

/// The fields that each step, and each set of partners, reads and writes.
fn groups(model: &Model, domains: &Domains) -> Vec<Vec<usize>> {
    let fields: Vec<BTreeSet<usize>> = model
        .commands()
        .iter()
        .enumerate()
        .map(|(position, command)| fields_of(model, domains, position, command))
        .collect();
    let mut groups = BTreeSet::new();
    for transition in model.transitions() {
        let mut group = BTreeSet::new();
        let ids = transition.participants.iter().flat_map(|p| &p.alternatives);
        for id in ids {
            group.extend(&fields[id.index()]);
        }
        groups.insert(group.into_iter().collect::<Vec<usize>>());
    }
    groups.retain(|group| group.len() > 1);
    groups.into_iter().collect()
}

fn fields_of(
    model: &Model,
    domains: &Domains,
    position: usize,
    command: &Command,
) -> BTreeSet<usize> {
    let step = model.step_of(model::CommandId::new(position));
    let mut collector = Collector {
        model,
        domains,
        instance: command.instance,
        command,
        fields: BTreeSet::from([command.instance.index()]),
    };

    collector.expr(&step.guard);

    match &step.sync {
        Sync::Internal | Sync::Event { .. } => {}
        Sync::Send { channel, payload } => {
            collector.channel(channel.channel);
            payload.iter().for_each(|expr| collector.expr(expr));
        }
        Sync::Receive { channel, patterns } => {
            collector.channel(channel.channel);
            for pattern in patterns {
                match pattern {
                    Pattern::Match(expr) => collector.expr(expr),
                    Pattern::Store(place) => collector.place(place),
                    Pattern::Ignore => {}
                }
            }
        }
    }

    collector.statements(&step.effect);
    collector.fields
}

/// Finds the fields that expressions and statements may touch. Only an order depends on it, so where
/// an index is not known, all elements count.
struct Collector<'a> {
    model: &'a Model,
    domains: &'a Domains,
    instance: InstanceId,
    command: &'a Command,
    fields: BTreeSet<usize>,
}

impl Collector<'_> {
    fn channel(&mut self, channel: model::ChannelId) {
        let first = self.model.first_single_channel(channel);
        let n_single = self.model.parts().channels[channel.index()].n_single();
        for single in first..first + n_single {
            self.fields.insert(self.domains.length(single));
        }
    }

    fn expr(&mut self, expr: &Expr) {
        let mut places = Vec::new();
        expr.for_each_read(&mut |place| places.push(place.clone()));
        for place in places {
            self.place(&place);
        }
        let mut at = Vec::new();
        expr.any(&mut |inner| {
            // shape: only locations are looked for, the traversal sees to the rest.
            if let Expr::At { process, owner, .. } = inner {
                at.push((*process, owner.clone()));
            }
            false
        });
        for (process, owner) in at {
            for instance in self.owners(process, &owner) {
                self.fields.insert(instance);
            }
        }
    }

    /// The value of an expression over bindings of the command alone.
    fn known(&self, expr: &Expr) -> Option<i64> {
        if expr.mentions_state() {
            return None;
        }
        let nowhere = model::State {
            locations: Vec::new(),
            cells: Vec::new(),
            channels: Vec::new(),
        };
        let mut unknown = false;
        expr.any(&mut |inner| {
            // shape: names that are bound elsewhere have no value here.
            if let Expr::Bound(bound) = inner {
                unknown |= !self
                    .command
                    .bindings
                    .iter()
                    .any(|(known, _)| known == bound);
            }
            false
        });
        if unknown {
            return None;
        }
        let mut env = model::Env::of(self.instance, &self.command.bindings);
        let span = base::Span::nowhere();
        self.model.eval(expr, &nowhere, &mut env, span).ok()
    }

    fn owners(&self, process: model::ProcessId, owner: &Owner) -> Vec<usize> {
        let all = || {
            let instances = self.model.instances().iter().enumerate();
            let own = instances.filter(|(_, instance)| instance.process == process);
            own.map(|(position, _)| position).collect()
        };
        match owner {
            Owner::Own => vec![self.instance.index()],
            Owner::Single => all(),
            Owner::Indexed(index) => match self.known(index) {
                Some(index) => {
                    let found = self.model.instance_of(process, Some(index));
                    found.map(InstanceId::index).into_iter().collect()
                }
                None => all(),
            },
        }
    }

    fn place(&mut self, place: &Place) {
        let variable = &self.model.parts().vars[place.var.index()];
        let n_cells = variable.ty.n_cells(&self.model.parts().records);
        let first_cells: Vec<usize> = match (&place.owner, variable.owner) {
            (Some(owner), Some(process)) => self
                .owners(process, owner)
                .into_iter()
                .map(|i| self.model.first_cell(place.var, Some(InstanceId::new(i))))
                .collect(),
            _ => vec![self.model.first_cell(place.var, None)],
        };
        for first in first_cells {
            // The first index says most about where in the variable the cell is.
            let mut range = first..first + n_cells;
            // shape: without a first index, all cells count.
            if let (Some(model::Access::Index(index)), model::Type::Array(array)) =
                (place.path.first(), &variable.ty)
                && let Some(index) = self.known(index)
                && (0..array.len as i64).contains(&index.saturating_sub(array.lo))
            {
                let size = array.element.n_cells(&self.model.parts().records);
                let start = first + (index - array.lo) as usize * size;
                range = start..start + size;
            }
            let domains = self.domains;
            self.fields.extend(range.map(|cell| domains.cell(cell)));
        }
        for operand in place.operands() {
            self.expr(operand);
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        let (mut exprs, mut places) = (Vec::new(), Vec::new());
        Stmt::for_each_expr(statements, &mut |expr| exprs.push(expr));
        Stmt::walk_all(statements, &mut |kind| places.extend(kind.written()));
        for expr in exprs {
            self.expr(expr);
        }
        for place in places {
            self.place(place);
        }
    }
}

//! Channels: numbers for all that can exist, and where their messages are kept.

use base::Span;
use model::{
    Access, ArrayType, BinaryOp, Channel, ChannelId, ChannelRef, Expr, Initial, Place, RecordId,
    RecordType, Scalar, Type, VarId, Variable,
};

use crate::ast::{Init, VarRef};
use crate::symbols::Ty;

use super::expr::Who;
use super::storage::CellInit;
use super::usage::Reach;
use super::{Lowering, Storage, all, equals};

/// Longer channels are refused.
const MAX_CAPACITY: i64 = 4096;

/// Where messages are.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Buffer {
    Messages(VarId),
    Rendezvous(ChannelId),
}

/// The channels of one declaration: one, an array, or one (array) for each process.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub(super) name: String,
    /// The number of the first; they are consecutive. Zero is not a channel.
    pub(super) base: i64,
    pub(super) count: usize,
    /// How many for each process.
    pub(super) per_process: usize,
    pub(super) capacity: usize,
    pub(super) fields: Vec<Ty>,
    pub(super) owner: Option<usize>,
    pub(super) buffer: Buffer,
    pub(super) var: usize,
    /// For a channel inside a structure: which cell.
    pub(super) cell: Option<usize>,
    pub(super) span: Span,
}

/// A channel that an expression may mean.
#[derive(Clone, Debug)]
pub(super) struct Candidate {
    pub(super) group: usize,
    /// When it is meant; nothing if it is the only one.
    pub(super) when: Option<Expr>,
    /// Which of the group.
    pub(super) index: Expr,
}

impl Lowering<'_> {
    /// Does a type contain channels that its declaration creates?
    pub(super) fn has_channel_field(&self, ty: Ty) -> bool {
        let Ty::Struct(index) = ty else { return false };
        self.symbols.structs[index].1.iter().any(|field| {
            matches!(field.init, Init::Channel { .. }) || self.has_channel_field(field.ty)
        })
    }

    /// Numbers all channels. Afterwards the types of channel variables are known.
    pub(super) fn make_groups(&mut self, reach: &Reach) {
        let n_vars = self.symbols.vars.len();
        let mut of_var: Vec<Vec<usize>> = vec![Vec::new(); n_vars];
        for (index, groups) in of_var.iter_mut().enumerate() {
            let var = self.symbols.vars[index].clone();
            let exists = var.owner.is_none_or(|owner| self.unit(owner).is_some());
            if !exists {
                continue;
            }
            if let Init::Channel { .. } = &var.init {
                let per_process = var.length.unwrap_or(1);
                let init = var.init.clone();
                groups.extend(self.make_group(index, None, per_process, &init, var.span));
            } else if self.has_channel_field(var.ty) {
                let cells = self.init_cells(var.ty, var.length, &var.init);
                for (cell, described) in cells.iter().enumerate() {
                    if let CellInit::Channel(init) = &described.init {
                        groups.extend(self.make_group(index, Some(cell), 1, init, var.span));
                    }
                }
            }
        }

        let groups_of = |var: usize| -> Vec<usize> {
            reach
                .of(var)
                .iter()
                .flat_map(|declared| of_var[*declared].iter().copied())
                .collect()
        };

        self.reach = (0..n_vars).map(groups_of).collect();
        for group in 0..self.groups.len() {
            self.make_buffer(group);
        }
    }

    fn make_group(
        &mut self,
        var: usize,
        cell: Option<usize>,
        per_process: usize,
        init: &Init,
        span: Span,
    ) -> Option<usize> {
        let Init::Channel { capacity, fields } = init else {
            return None;
        };
        let owner = self.symbols.vars[var].owner;
        let capacity = match self.symbols.constant(capacity) {
            Some(value @ 0..=MAX_CAPACITY) => usize::try_from(value).expect("it is not negative"),
            _ => {
                let message = format!("the capacity must be a constant from 0 to {MAX_CAPACITY}");
                self.error("wrong-type", capacity.span, message);
                return None;
            }
        };

        // Structures are sent field by field.
        let mut types = Vec::new();
        for (ty, span) in fields {
            let diagnostics = &mut *self.diagnostics;
            let ty = self.symbols.resolve_type(ty, *span, diagnostics)?;
            let cells = self.init_cells(ty, None, &Init::Zero);
            types.extend(cells.iter().map(|cell| cell.ty));
        }

        let n_processes = match owner {
            None => 1,
            Some(owner) => self.population.ranges[owner].map_or(1, |range| range.len()),
        };
        let count = per_process * n_processes;

        // Numbers of channels are consecutive over all groups and start at 1, because 0 is the
        // value of a variable that does not name a channel.
        let base = self
            .groups
            .last()
            .map_or(1, |group| group.base + group.count as i64);
        let mut name = match owner {
            None => self.symbols.vars[var].name.to_string(),
            Some(owner) => {
                format!(
                    "{}.{}",
                    self.program.processes[owner].name, self.symbols.vars[var].name
                )
            }
        };

        if let Some(cell) = cell {
            name = format!("{name}.{cell}");
        }
        self.groups.push(Group {
            name,
            base,
            count,
            per_process,
            capacity,
            fields: types,
            owner,
            buffer: Buffer::Rendezvous(ChannelId(0)),
            var,
            cell,
            span,
        });
        Some(self.groups.len() - 1)
    }

    fn make_buffer(&mut self, group: usize) {
        let Group {
            name,
            count,
            capacity,
            fields,
            span,
            ..
        } = self.groups[group].clone();

        let scalars: Vec<Scalar> = fields.iter().map(|ty| self.scalar(*ty)).collect();
        self.groups[group].buffer = if capacity == 0 {
            let indices = (count > 1).then(|| (0, count as i64 - 1));
            self.parts.channels.push(Channel {
                name,
                indices,
                capacity: 0,
                payload: scalars,
                span,
            });
            Buffer::Rendezvous(ChannelId::new(self.parts.channels.len() - 1))
        } else {
            let message = match scalars.as_slice() {
                [only] => Type::Scalar(*only),
                _ => {
                    let named = |(at, ty): (usize, &Scalar)| (at.to_string(), Type::Scalar(*ty));
                    let fields = scalars.iter().enumerate().map(named).collect();
                    self.record(format!("{name} message"), fields)
                }
            };
            let messages = array(capacity, message);
            let length = Type::Scalar(Scalar::Range(0, capacity as i64));
            let fields = vec![
                ("len".to_owned(), length),
                ("messages".to_owned(), messages),
            ];
            let single = self.record(format!("{name} channel"), fields);
            let ty = match count {
                1 => single,
                _ => array(count, single),
            };
            let n_cells = ty.n_cells(&self.parts.records);
            self.parts.vars.push(Variable {
                name,
                ty,
                owner: None,
                initial: Initial::Values(vec![Expr::Int(0); n_cells]),
                span,
            });
            Buffer::Messages(VarId::new(self.parts.vars.len() - 1))
        };
    }

    fn record(&mut self, name: String, fields: Vec<(String, Type)>) -> Type {
        self.parts.records.push(RecordType {
            name,
            fields,
            form: model::RecordForm::Components,
        });
        Type::Record(RecordId::new(self.parts.records.len() - 1))
    }

    /// The number of the last channel.
    pub(super) fn last_channel(&self) -> i64 {
        self.groups
            .last()
            .map_or(0, |group| group.base + group.count as i64 - 1)
    }

    /// The number of channel `index` of the process, in a group.
    pub(super) fn channel_number(&self, group: usize, index: Expr, pid: Option<&Expr>) -> Expr {
        let group = &self.groups[group];
        let position = self.position_in_group(group, index, pid);
        add(position, group.base)
    }

    fn position_in_group(&self, group: &Group, index: Expr, pid: Option<&Expr>) -> Expr {
        let Some(owner) = group.owner else {
            return index;
        };
        if group.count == group.per_process {
            return index;
        }
        let lo = self.population.ranges[owner].map_or(0, |range| range.lo);
        let process = add(pid.cloned().unwrap_or(Expr::Int(lo)), -lo);
        match group.per_process {
            1 => process,
            per_process => {
                let width = Expr::Int(per_process as i64);
                let first = Expr::binary(BinaryOp::Mul, process, width);
                Expr::binary(BinaryOp::Add, first, index)
            }
        }
    }

    /// The channels that a reference may mean.
    pub(super) fn candidates(&mut self, var: &VarRef, who: &Who) -> Option<Vec<Candidate>> {
        let root = match self.symbols.resolve(var, who.context, "channel") {
            Ok(root) => root,
            Err(diagnostic) => {
                self.say(diagnostic);
                return None;
            }
        };

        let found = self.place(var, who)?;
        if found.ty != Ty::Chan {
            let message = format!(
                "`{}` is a {}, not a channel",
                self.text(var.span),
                found.ty.name()
            );
            self.error("wrong-type", var.span, message);
            return None;
        }

        if self.storage[root] == Storage::Constant {
            let group = self.groups.iter().position(|group| group.var == root)?;
            let index = match found.path.first() {
                Some(Access::Index(index)) => index.clone(),
                _ => Expr::Int(0),
            };
            let index = self.position_in_group(&self.groups[group], index, who.pid.as_ref());
            return Some(vec![Candidate {
                group,
                when: None,
                index,
            }]);
        }

        let number = self.read(&found, who);
        let groups = self.reach[root].clone();
        Some(
            groups
                .into_iter()
                .map(|group| self.candidate(group, &number))
                .collect(),
        )
    }

    fn candidate(&self, group: usize, number: &Expr) -> Candidate {
        let Group { base, count, .. } = self.groups[group];
        let when = match count {
            1 => equals(number.clone(), base),
            _ => all([
                Expr::binary(BinaryOp::Ge, number.clone(), Expr::Int(base)),
                Expr::binary(BinaryOp::Lt, number.clone(), Expr::Int(base + count as i64)),
            ]),
        };
        let index = match count {
            1 => Expr::Int(0),
            _ => add(number.clone(), -base),
        };
        Candidate {
            group,
            when: Some(when),
            index,
        }
    }

    /// The channel for a rendezvous.
    pub(super) fn channel_ref(&self, candidate: &Candidate) -> Option<ChannelRef> {
        let group = &self.groups[candidate.group];
        let Buffer::Rendezvous(channel) = group.buffer else {
            return None;
        };
        let index = (group.count > 1).then(|| Box::new(candidate.index.clone()));
        Some(ChannelRef { channel, index })
    }

    fn in_buffer(&self, candidate: &Candidate, path: impl IntoIterator<Item = Access>) -> Place {
        let group = &self.groups[candidate.group];
        let Buffer::Messages(var) = group.buffer else {
            unreachable!("only buffered channels have messages");
        };
        let index = (group.count > 1).then(|| Access::Index(candidate.index.clone()));
        Place {
            var,
            owner: None,
            path: index.into_iter().chain(path).collect(),
        }
    }

    /// The cell that holds the number of messages.
    pub(super) fn length_place(&self, candidate: &Candidate) -> Place {
        self.in_buffer(candidate, [Access::Field(0)])
    }

    /// The number of messages; zero for a rendezvous.
    pub(super) fn length_of(&self, candidate: &Candidate) -> Expr {
        match self.groups[candidate.group].buffer {
            Buffer::Rendezvous(_) => Expr::Int(0),
            Buffer::Messages(_) => Expr::Read(self.length_place(candidate)),
        }
    }

    /// A component of a message.
    pub(super) fn field_place(&self, candidate: &Candidate, slot: Expr, field: usize) -> Place {
        let group = &self.groups[candidate.group];
        let field = (group.fields.len() > 1).then_some(Access::Field(field));
        let path = [Access::Field(1), Access::Index(slot)];
        self.in_buffer(candidate, path.into_iter().chain(field))
    }
}

fn array(len: usize, element: Type) -> Type {
    Type::Array(Box::new(ArrayType {
        lo: 0,
        len,
        element,
    }))
}

/// A sum with a number.
pub(super) fn add(expr: Expr, value: i64) -> Expr {
    if value == 0 {
        return expr;
    }
    // shape: sums of anything else are left to the evaluation.
    if let Expr::Int(left) = expr {
        return Expr::Int(left + value);
    }
    Expr::binary(BinaryOp::Add, expr, Expr::Int(value))
}

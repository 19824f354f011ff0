//! Where the fields of variables, locations and channels are.

use model::{Access, ChannelRef, Expr, InstanceId, Owner, Place, ProcessId, Type, VarId};

use super::{Compiler, Operand};
use jit::Field;
use jit::{Arith, Indexing, Op, Reg};

/// A field that is known now, or at a distance in a register.
pub(super) enum Target {
    Field(u32),
    /// One of `span` fields from `base` on.
    At {
        base: u32,
        offset: Reg,
        span: u32,
    },
}

/// What a piece of code does with a channel. Whether a message can be sent or received is a question
/// to the channel, so there is no access that only writes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ChannelAccess {
    /// Says which channel is meant, and does not look at it: a rendezvous.
    Name,
    /// Asks how many messages there are.
    Length,
    /// Asks for the oldest message, if there is one.
    Oldest,
    /// Adds a message.
    Append,
    /// Removes the oldest message.
    Take,
}

impl Compiler<'_> {
    pub(super) fn known_field(&mut self, place: &Place) -> Option<u32> {
        let indices = place.path.iter().filter_map(|access| match access {
            Access::Index(index) => Some(index),
            Access::Field(_) => None,
        });
        let owner = place.owner.iter().filter_map(|owner| match owner {
            Owner::Indexed(index) => Some(&**index),
            Owner::Own | Owner::Single => None,
        });
        if !indices.chain(owner).all(|index| self.fold(index).is_some()) {
            return None;
        }
        match self.target(place) {
            Target::Field(field) => Some(field),
            Target::At { .. } => None,
        }
    }

    /// The value of a field that has only one.
    pub(super) fn only_value(&self, target: &Target) -> Option<i64> {
        let Target::Field(field) = *target else {
            return None;
        };
        let field = &self.tables.fields[field as usize];
        (field.mask == 0).then_some(field.offset)
    }

    pub(super) fn load(&mut self, target: &Target) -> Reg {
        let dst = self.register();
        match *target {
            Target::Field(field) => {
                self.footprint
                    .read_fields(&self.tables.fields, field..field + 1);
                let Field {
                    word,
                    shift,
                    mask,
                    offset,
                    ..
                } = self.tables.fields[field as usize];
                let (word, shift) = (word as u16, shift as u8);
                self.emit(Op::Load {
                    dst,
                    word,
                    shift,
                    mask,
                    offset,
                });
            }
            Target::At { base, offset, span } => {
                self.footprint
                    .read_fields(&self.tables.fields, base..base + span);
                self.emit(Op::LoadAt { dst, base, offset });
            }
        }

        dst
    }

    /// The field of a place. Constant indices are checked now, the others when the code runs.
    pub(super) fn target(&mut self, place: &Place) -> Target {
        let variable = &self.model.parts().vars[place.var.index()];
        let records = &self.model.parts().records;
        let mut address = Address::default();
        if let (Some(owner), Some(process)) = (&place.owner, variable.owner) {
            let stride = variable.ty.n_cells(records);
            self.add_owner(&mut address, process, owner, stride);
        }

        let first = self.first_copy(place.var, variable.owner);
        let mut ty = &variable.ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let indexing = Indexing {
                        lo: array.lo,
                        len: array.len as u64,
                        stride: array.element.n_cells(records) as i64,
                    };
                    self.add_index(&mut address, index, indexing);
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let skipped = fields[..*field].iter();
                    address.known += skipped
                        .map(|(_, ty)| ty.n_cells(records) as i64)
                        .sum::<i64>();
                    ty = &fields[*field].1;
                }
                _ => unreachable!("front ends check that accesses fit the type"),
            }
        }

        address.target(self.layout.first_cell + first)
    }

    /// The first cell of the first copy of a variable; the copies of all instances follow it.
    fn first_copy(&self, var: VarId, owner: Option<ProcessId>) -> u32 {
        let instances = self.model.instances();
        let first = owner.map(|process| {
            let position = instances
                .iter()
                .position(|instance| instance.process == process);
            InstanceId::new(position.expect("a process with variables has an instance"))
        });
        self.model.first_cell(var, first) as u32
    }

    pub(super) fn location(&mut self, process: ProcessId, owner: &Owner) -> Target {
        let instances = self.model.instances();
        let first = instances
            .iter()
            .position(|instance| instance.process == process);
        let first = first.unwrap_or(0) as u32;
        let mut address = Address::default();
        self.add_owner(&mut address, process, owner, 1);
        address.target(self.layout.first_location + first)
    }

    fn add_owner(
        &mut self,
        address: &mut Address,
        process: ProcessId,
        owner: &Owner,
        stride: usize,
    ) {
        let range = self.model.parts().processes[process.index()].index;
        let (lo, hi) = range.map_or((0, 0), |range| (range.lo, range.hi));
        let indexing = Indexing {
            lo,
            len: (hi - lo + 1).max(0) as u64,
            stride: stride as i64,
        };
        match owner {
            Owner::Single => {}
            Owner::Own => {
                let own = self.instance.expect("only processes have own variables");
                let index = self.model.instances()[own.index()].index;
                address.known += index.map_or(0, |index| (index - lo) * indexing.stride);
            }
            Owner::Indexed(index) => self.add_index(address, index, indexing),
        }
    }

    fn add_index(&mut self, address: &mut Address, index: &Expr, indexing: Indexing) {
        match self.value(index) {
            Operand::Const(value) => match value.checked_sub(indexing.lo) {
                Some(offset) if (offset as u64) < indexing.len => {
                    address.known += offset * indexing.stride;
                }
                _ => self.emit(Op::Fail),
            },
            Operand::Reg(src) => {
                address.reach += (indexing.len as i64 - 1).max(0) * indexing.stride;
                let position = self.indexing(indexing);
                let dst = self.register();
                self.emit(Op::Index {
                    dst,
                    src,
                    indexing: position,
                });
                address.computed = Some(match address.computed {
                    None => dst,
                    Some(other) => {
                        let sum = self.register();
                        let op = Arith::Add;
                        self.emit(Op::Arith {
                            op,
                            dst: sum,
                            a: dst,
                            b: other,
                        });
                        sum
                    }
                });
            }
        }
    }

    pub(crate) fn indexing(&mut self, indexing: Indexing) -> u32 {
        let known = &mut self.tables.indexings;
        let position = known.iter().position(|other| *other == indexing);
        position.unwrap_or_else(|| {
            known.push(indexing);
            known.len() - 1
        }) as u32
    }

    /// The first single channel and the distance to the one that is meant; notes what is done with
    /// it. Where the index is computed, all channels of the array count.
    pub(crate) fn channel(&mut self, reference: &ChannelRef, access: ChannelAccess) -> (u32, Reg) {
        let first = self.model.first_single_channel(reference.channel) as u32;
        let description = &self.model.parts().channels[reference.channel.index()];
        let mut address = Address::default();
        if let (Some(index), Some((lo, _))) = (&reference.index, description.indices) {
            let len = description.n_single() as u64;
            self.add_index(&mut address, index, Indexing { lo, len, stride: 1 });
        }

        let nearest = first as usize + address.known as usize;
        for channel in &self.tables.channels[nearest..=nearest + address.reach as usize] {
            let length = channel.length..channel.length + 1;
            let oldest = channel.first_slot..channel.first_slot + channel.oldest_len();
            let all = channel.length..channel.first_slot + channel.capacity * channel.n_components;
            let fields = &self.tables.fields;
            match access {
                ChannelAccess::Name => {}
                ChannelAccess::Length => self.footprint.read_fields(fields, length),
                ChannelAccess::Oldest => {
                    self.footprint.read_fields(fields, length);
                    self.footprint.read_fields(fields, oldest);
                }
                ChannelAccess::Append => {
                    self.footprint.read_fields(fields, length);
                    self.footprint.write_fields(fields, all);
                }
                // The messages behind the oldest one move up.
                ChannelAccess::Take => {
                    self.footprint.read_fields(fields, all.clone());
                    self.footprint.write_fields(fields, all);
                }
            }
        }

        let computed = match address.computed {
            Some(register) => register,
            None => self.in_register(Operand::Const(address.known)),
        };
        (first, computed)
    }
}

/// A distance from the first field: a part known now and a part in a register.
#[derive(Default)]
struct Address {
    known: i64,
    computed: Option<Reg>,
    /// The greatest value of the computed part.
    reach: i64,
}

impl Address {
    fn target(&self, first: u32) -> Target {
        let base = first + self.known as u32;
        match self.computed {
            None => Target::Field(base),
            Some(offset) => Target::At {
                base,
                offset,
                span: self.reach as u32 + 1,
            },
        }
    }
}

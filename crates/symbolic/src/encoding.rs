//! States as bits.
//!
//! Every component of a state (the location of a process, a cell, the length of a channel, a component
//! of a message in it) is a *field*: a list of values, and as many bits as numbers of values need.
//! Cells and messages of small types have all values of their type. Those of large types (`int` of
//! other languages) have the values that were met so far; a value that is not among them is noted
//! ([`Domains`]), and everything is built again with it: nothing is ever cut off.

use std::collections::BTreeSet;
use std::rc::Rc;

use model::{LocationId, Model, Scalar, State};

use crate::bdd::{Bdd, Halt, Manager};
use crate::value::Value;

/// Types with more values start with those that are met.
const MAX_DECLARED: i128 = 256;
/// More values of one field are not treated.
const MAX_VALUES: usize = 1 << 12;

/// A component of a state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Component {
    /// Where an instance is.
    Location(usize),
    /// The value of a cell.
    Cell(usize),
    /// How many messages a single channel holds.
    Length(usize),
    /// In a single channel, of the message at a position, a component.
    Message(usize, usize, usize),
}

/// The values of all fields.
#[derive(Clone, Debug)]
pub(crate) struct Domains {
    pub(crate) components: Vec<Component>,
    pub(crate) values: Vec<Vec<i64>>,
    first_cell: usize,
    /// By single channel: the field of its length; the components of messages follow, message by
    /// message. And how many components there are.
    channels: Vec<(usize, usize, usize)>,
}

impl Domains {
    /// What is known before anything is explored.
    pub(crate) fn new(model: &Model) -> Result<Self, Halt> {
        let mut domains = Self {
            components: Vec::new(),
            values: Vec::new(),
            first_cell: model.instances().len(),
            channels: Vec::new(),
        };

        for (position, instance) in model.instances().iter().enumerate() {
            let process = &model.parts().processes[instance.process.index()];
            let locations = (0..process.locations.len() as i64).collect();
            domains.add(Component::Location(position), locations);
        }

        // Cells without a finite declaration begin with one value; more are added as they are found.
        for (position, cell) in model.cells().iter().enumerate() {
            let initial = model.initial_value(position).ok().flatten();
            let start = initial.unwrap_or(cell.ty.default_value());
            let values = declared(cell.ty).unwrap_or_else(|| vec![start]);
            domains.add(Component::Cell(position), values);
        }

        domains.add_channels(model);
        Ok(domains)
    }

    fn add(&mut self, component: Component, values: Vec<i64>) {
        self.components.push(component);
        self.values.push(values);
    }

    fn add_channels(&mut self, model: &Model) {
        let mut single = 0;
        for channel in &model.parts().channels {
            for _ in 0..channel.n_single() {
                let (capacity, n_components) = (channel.capacity, channel.payload.len());
                self.channels
                    .push((self.components.len(), capacity, n_components));
                self.add(Component::Length(single), (0..=capacity as i64).collect());
                for position in 0..capacity {
                    for (number, ty) in channel.payload.iter().enumerate() {
                        // Places behind the last message hold this value.
                        let rest = ty.default_value();
                        let values = declared(*ty).unwrap_or_else(|| vec![rest]);
                        self.add(Component::Message(single, position, number), values);
                    }
                }
                single += 1;
            }
        }
    }

    pub(crate) fn cell(&self, cell: usize) -> usize {
        self.first_cell + cell
    }

    pub(crate) fn length(&self, channel: usize) -> usize {
        self.channels[channel].0
    }

    pub(crate) fn capacity(&self, channel: usize) -> usize {
        self.channels[channel].1
    }

    pub(crate) fn message(&self, channel: usize, position: usize, component: usize) -> usize {
        let (length, _, n_components) = self.channels[channel];
        length + 1 + position * n_components + component
    }

    /// Adds values to a field.
    pub(crate) fn extend(
        &mut self,
        model: &Model,
        field: usize,
        more: &BTreeSet<i64>,
    ) -> Result<(), Halt> {
        let values = &mut self.values[field];
        values.extend(more);
        values.sort_unstable();
        values.dedup();

        if values.len() <= MAX_VALUES {
            return Ok(());
        }

        let name = match self.components[field] {
            Component::Cell(cell) => model.cells()[cell].name.clone(),
            _ => "a message".to_owned(),
        };
        Err(Halt::Unsupported(format!(
            "`{name}` takes more than {MAX_VALUES} values; declare a smaller range, or use the route \
             `explicit`"
        )))
    }
}

/// All values of a small type.
fn declared(ty: Scalar) -> Option<Vec<i64>> {
    let (lo, hi) = ty.bounds();
    let n_values = i128::from(hi) - i128::from(lo) + 1;
    (n_values <= MAX_DECLARED).then(|| (lo..=hi).collect())
}

/// Where the bits of fields are.
pub(crate) struct Encoding<'m> {
    pub(crate) model: &'m Model,
    pub(crate) manager: Manager,
    pub(crate) domains: Domains,
    /// By field: its bits, the highest first.
    pub(crate) bits: Vec<Vec<u32>>,
    /// By field: when it has which of its values.
    values: Vec<Value>,
    /// By field: the cube of its bits.
    cubes: Vec<Bdd>,
    /// The bits of the automaton, and those of all fields, before and after a step.
    pub(crate) automaton_bits: Vec<u32>,
    pub(crate) state_bits: Vec<u32>,
}

impl<'m> Encoding<'m> {
    /// Gives fields bits in this order, behind those of an automaton.
    pub(crate) fn new(
        model: &'m Model,
        manager: &Manager,
        domains: Domains,
        order: &[usize],
        n_automaton_bits: u32,
    ) -> Result<Self, Halt> {
        let automaton_bits: Vec<u32> = (0..n_automaton_bits).map(|bit| 2 * bit).collect();
        let mut next = 2 * n_automaton_bits;
        let mut bits = vec![Vec::new(); domains.values.len()];
        for &field in order {
            let n_bits = n_bits_for(domains.values[field].len());
            bits[field] = (0..n_bits).map(|bit| next + 2 * bit).collect();
            next += 2 * n_bits;
        }

        let mut encoding = Self {
            model,
            manager: manager.clone(),
            domains,
            bits,
            values: Vec::new(),
            cubes: Vec::new(),
            automaton_bits,
            state_bits: (n_automaton_bits..next / 2).map(|bit| 2 * bit).collect(),
        };
        for field in 0..encoding.bits.len() {
            let value = encoding.own_value(field)?;
            encoding.values.push(value);
            let cube = manager.cube(&encoding.bits[field])?;
            encoding.cubes.push(cube);
        }
        Ok(encoding)
    }

    fn own_value(&self, field: usize) -> Result<Value, Halt> {
        let values = &self.domains.values[field];
        let mut entries = Vec::with_capacity(values.len());
        for (code, &value) in values.iter().enumerate() {
            entries.push((value, number(&self.manager, &self.bits[field], code, 0)?));
        }
        Ok(Value(Rc::new(entries)))
    }

    /// When the field has which value.
    pub(crate) fn value(&self, field: usize) -> &Value {
        &self.values[field]
    }

    /// When the field has this value, which it can have.
    pub(crate) fn is(&self, field: usize, value: i64) -> Result<Bdd, Halt> {
        let code = self.domains.values[field].binary_search(&value);
        match code {
            Ok(code) => Ok(self.values[field].0[code].1.clone()),
            Err(_) => Ok(self.manager.constant(false)),
        }
    }

    /// When the field has this value after the step; nothing if it cannot have it.
    pub(crate) fn becomes(&self, field: usize, value: i64) -> Result<Option<Bdd>, Halt> {
        let code = self.domains.values[field].binary_search(&value).ok();
        code.map(|code| number(&self.manager, &self.bits[field], code, 1))
            .transpose()
    }

    /// The cube of the bits of a field.
    pub(crate) fn cube(&self, field: usize) -> &Bdd {
        &self.cubes[field]
    }

    /// The field has the same value after the step.
    pub(crate) fn keeps(&self, field: usize) -> Result<Bdd, Halt> {
        let mut same = self.manager.constant(true);
        for &bit in self.bits[field].iter().rev() {
            let (now, then) = (self.manager.variable(bit)?, self.manager.variable(bit + 1)?);
            same = now.iff(&then)?.and(&same)?;
        }
        Ok(same)
    }

    /// The automaton is in this state, before (0) or after (1) the step.
    pub(crate) fn automaton_state(&self, state: usize, after: u32) -> Result<Bdd, Halt> {
        number(&self.manager, &self.automaton_bits, state, after)
    }

    /// The state and the state of the automaton at a point of a set.
    pub(crate) fn decode(&self, point: &[(u32, bool)]) -> (State, usize) {
        let code = |bits: &[u32]| {
            bits.iter().fold(0, |code, bit| {
                let set = point.iter().any(|&(var, value)| var == *bit && value);
                2 * code + usize::from(set)
            })
        };
        let value = |field: usize| self.domains.values[field][code(&self.bits[field])];

        let n_instances = self.model.instances().len();
        let location = |field: usize| LocationId::new(value(field) as usize);
        let channel = |&(length, _, n_components): &(usize, usize, usize)| {
            let message = |position: usize| {
                let first = length + 1 + position * n_components;
                (first..first + n_components).map(value).collect()
            };
            (0..value(length) as usize).map(message).collect()
        };

        let state = State {
            locations: (0..n_instances).map(location).collect(),
            cells: (n_instances..n_instances + self.model.cells().len())
                .map(value)
                .collect(),
            channels: self.domains.channels.iter().map(channel).collect(),
        };
        (state, code(&self.automaton_bits))
    }

    /// The values of all bits in a state; nothing if a value is not known.
    pub(crate) fn point(&self, state: &State, automaton_state: usize) -> Option<Vec<bool>> {
        let n_vars = 2 * (self.automaton_bits.len() + self.state_bits.len());
        let mut point = vec![false; n_vars];
        write_number(&mut point, &self.automaton_bits, automaton_state);

        for (field, component) in self.domains.components.iter().enumerate() {
            let message = |channel: usize, position: usize, number: usize| {
                let message = state.channels[channel].get(position);
                message.map(|message: &Vec<i64>| message[number])
            };
            let value = match *component {
                Component::Location(instance) => state.locations[instance].index() as i64,
                Component::Cell(cell) => state.cells[cell],
                Component::Length(channel) => state.channels[channel].len() as i64,
                Component::Message(channel, position, number) => {
                    message(channel, position, number).unwrap_or_else(|| self.rest(field))
                }
            };
            let code = self.domains.values[field].binary_search(&value).ok()?;
            write_number(&mut point, &self.bits[field], code);
        }

        Some(point)
    }

    /// What a field of a message holds behind the last message.
    pub(crate) fn rest(&self, field: usize) -> i64 {
        let values = &self.domains.values[field];
        if values.binary_search(&0).is_ok() {
            0
        } else {
            values[0]
        }
    }
}

fn n_bits_for(n_values: usize) -> u32 {
    usize::BITS - n_values.saturating_sub(1).leading_zeros()
}

/// How many bits number the states of an automaton.
pub(crate) fn n_bits_of_automaton(n_states: usize) -> u32 {
    n_bits_for(n_states)
}

/// The bits are this number; `after` is 1 for their values after the step.
fn number(manager: &Manager, bits: &[u32], code: usize, after: u32) -> Result<Bdd, Halt> {
    let n_bits = bits.len();
    let literal = |(position, bit): (usize, &u32)| {
        let value = code >> (n_bits - 1 - position) & 1 == 1;
        (bit + after, value)
    };
    let literals: Vec<(u32, bool)> = bits.iter().enumerate().map(literal).collect();
    manager.literals(&literals)
}

fn write_number(point: &mut [bool], bits: &[u32], code: usize) {
    for (position, bit) in bits.iter().enumerate() {
        point[*bit as usize] = code >> (bits.len() - 1 - position) & 1 == 1;
    }
}

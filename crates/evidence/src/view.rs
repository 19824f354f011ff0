//! States as people read them: named components with values of their types.

use std::collections::BTreeMap;

use model::{ChannelId, InstanceId, LocationId, Model, Scalar, State, Type};

use crate::Value;
use crate::shape::{Shape, cell_components, shape_of};

/// Where a process is that does not exist.
const ABSENT: &str = "absent";

/// What a component of a state is.
#[derive(Clone, PartialEq, Eq, Debug)]
enum Source {
    Location(InstanceId),
    Cells(Shape),
    Channel(usize, ChannelId),
}

/// The named components of the states of one model: locations, cells, channels.
///
/// Processes with a single location have no component: there is nothing to tell.
/// Invariant: no two components have the same name.
pub struct View<'a> {
    model: &'a Model,
    names: Vec<String>,
    /// How long the names of the variables are that components are parts of.
    wholes: Vec<usize>,
    sources: Vec<Source>,
    /// The location names of every process, told apart by a number where they are not unique.
    locations: Vec<Vec<String>>,
}

impl<'a> View<'a> {
    /// The components of the states of a model.
    #[must_use]
    pub fn new(model: &'a Model) -> Self {
        let processes = &model.parts().processes;
        let mut view = Self {
            model,
            names: Vec::new(),
            wholes: Vec::new(),
            sources: Vec::new(),
            locations: processes.iter().map(|p| unique(&p.locations)).collect(),
        };

        let mut components = Vec::new();
        for (position, instance) in model.instances().iter().enumerate() {
            if processes[instance.process.index()].locations.len() > 1 {
                let source = Source::Location(InstanceId::new(position));
                components.push((instance.name.clone(), instance.name.len(), source));
            }
        }

        let cells = cell_components(model).into_iter();
        components.extend(cells.map(|(name, whole, shape)| (name, whole, Source::Cells(shape))));
        components.extend(channel_components(model));

        let mut names = Vec::new();
        for (name, whole, source) in components {
            names.push(name);
            view.wholes.push(whole);
            view.sources.push(source);
        }
        view.names = unique(&names);
        view
    }

    /// How long the names of the variables are that the components are parts of.
    #[must_use]
    pub fn wholes(&self) -> &[usize] {
        &self.wholes
    }

    /// The names of the components.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// The value of every component.
    #[must_use]
    pub fn values(&self, state: &State) -> Vec<Value> {
        (0..self.names.len())
            .map(|component| self.value(state, component))
            .collect()
    }

    /// The value of one component.
    #[must_use]
    pub fn value(&self, state: &State, component: usize) -> Value {
        match &self.sources[component] {
            Source::Location(instance) => {
                if self.is_absent(state, *instance) {
                    return Value::Name(ABSENT.to_owned());
                }
                let location = state.locations[instance.index()];
                Value::Name(self.locations_of(*instance)[location.index()].clone())
            }
            Source::Cells(shape) => shape.value(self, &state.cells),
            Source::Channel(single, channel) => {
                let message = |message: &Vec<i64>| self.message(*channel, message);
                Value::List(state.channels[*single].iter().map(message).collect())
            }
        }
    }

    /// Cells of a type as one value.
    #[must_use]
    pub fn value_of(&self, ty: &Type, cells: &[i64]) -> Value {
        shape_of(self.model, ty).value(self, cells)
    }

    /// A message of a channel; a message with one component is that component.
    #[must_use]
    pub fn message(&self, channel: ChannelId, message: &[i64]) -> Value {
        let types = &self.model.parts().channels[channel.index()].payload;
        let components = types.iter().zip(message);
        let mut values: Vec<Value> = components.map(|(ty, v)| self.scalar(*ty, *v)).collect();
        match values.len() {
            1 => values.remove(0),
            _ => Value::Tuple(values),
        }
    }

    /// The state with these values, in the order of [`View::names`].
    ///
    /// # Errors
    /// What does not fit.
    pub fn state(&self, values: &[Value]) -> Result<State, String> {
        if values.len() != self.names.len() {
            return Err(format!(
                "{} values for {} variables",
                values.len(),
                self.names.len()
            ));
        }
        let mut state = State {
            locations: vec![LocationId(0); self.model.instances().len()],
            cells: vec![0; self.model.cells().len()],
            channels: vec![Vec::new(); self.model.n_single_channels()],
        };
        for (component, value) in values.iter().enumerate() {
            self.store(&mut state, component, value)
                .ok_or_else(|| format!("`{}` cannot be {value}", self.names[component]))?;
        }
        Ok(state)
    }

    fn store(&self, state: &mut State, component: usize, value: &Value) -> Option<()> {
        match (&self.sources[component], value) {
            (Source::Location(instance), Value::Name(name)) => {
                let names = self.locations_of(*instance);
                let location = names.iter().position(|other| other == name);
                let is_absent = name == ABSENT && self.presence_of(*instance).is_some();
                let process = self.model.instances()[instance.index()].process;
                let initial = &self.model.parts().processes[process.index()].initial;
                let absent = initial.first().filter(|_| is_absent);
                let location = absent.map(|location| location.index()).or(location)?;
                state.locations[instance.index()] = LocationId::new(location);
            }
            (Source::Cells(shape), value) => shape.store(self, value, &mut state.cells)?,
            (Source::Channel(single, channel), Value::List(messages)) => {
                for message in messages {
                    let message = self.parse_message(*channel, message)?;
                    state.channels[*single].push(message);
                }
            }
            _ => return None,
        }
        Some(())
    }

    fn parse_message(&self, channel: ChannelId, message: &Value) -> Option<Vec<i64>> {
        let types = &self.model.parts().channels[channel.index()].payload;
        let parts = match message {
            Value::Tuple(parts) => parts.as_slice(),
            single => std::slice::from_ref(single),
        };
        let fits = parts.len() == types.len();
        let mut components = types.iter().zip(parts);
        fits.then(|| {
            components.try_fold(Vec::new(), |mut message, (ty, value)| {
                message.push(self.parse_scalar(*ty, value)?);
                Some(message)
            })
        })?
    }

    fn locations_of(&self, instance: InstanceId) -> &[String] {
        &self.locations[self.model.instances()[instance.index()].process.index()]
    }

    /// The cell that says whether a process exists, if it does not always.
    fn presence_of(&self, instance: InstanceId) -> Option<usize> {
        let process = self.model.instances()[instance.index()].process;
        let parts = self.model.parts();
        let mut presence = parts.shown.presence.iter();
        let (_, var) = presence.find(|(other, _)| *other == process)?;
        let variable = parts.vars.get(var.index())?;
        let is_right = variable.owner == Some(process) && variable.ty == Type::Scalar(Scalar::Bool);
        is_right.then(|| self.model.first_cell(*var, Some(instance)))
    }

    /// Is it a process that was not created, or has ended?
    fn is_absent(&self, state: &State, instance: InstanceId) -> bool {
        let presence = self.presence_of(instance);
        presence.is_some_and(|cell| state.cells[cell] == 0)
    }

    /// A value of a type; one outside it, which no run has, is shown as a number.
    pub(crate) fn scalar(&self, ty: Scalar, value: i64) -> Value {
        match (ty, value) {
            (Scalar::Bool, 0 | 1) => Value::Bool(value == 1),
            (Scalar::Enum(id, _), value) => {
                let variants = &self.model.parts().enums[id.index()].variants;
                let position = usize::try_from(value).ok();
                let name = position.and_then(|position| variants.get(position));
                name.map_or(Value::Int(value), |name| Value::Name(name.clone()))
            }
            _ => Value::Int(value),
        }
    }

    pub(crate) fn parse_scalar(&self, ty: Scalar, value: &Value) -> Option<i64> {
        match (ty, value) {
            (Scalar::Bool, Value::Bool(value)) => Some(i64::from(*value)),
            (Scalar::Enum(id, _), Value::Name(name)) => {
                let variants = &self.model.parts().enums[id.index()].variants;
                let position = variants.iter().position(|variant| variant == name)?;
                i64::try_from(position).ok()
            }
            (Scalar::Range(..) | Scalar::Int, Value::Int(value)) => {
                ty.contains(*value).then_some(*value)
            }
            _ => None,
        }
    }
}

fn channel_components(model: &Model) -> Vec<(String, usize, Source)> {
    let mut components = Vec::new();
    for (position, channel) in model.parts().channels.iter().enumerate() {
        // A rendezvous channel never holds anything.
        if channel.capacity == 0 {
            continue;
        }
        let id = ChannelId::new(position);
        let first = model.first_single_channel(id);
        for offset in 0..channel.n_single() {
            let name = match channel.indices {
                None => channel.name.clone(),
                Some((lo, _)) => format!("{}[{}]", channel.name, lo + offset as i64),
            };
            let source = Source::Channel(first + offset, id);
            components.push((name, channel.name.len(), source));
        }
    }
    components
}

/// The same names, with a number added to those that occur more than once.
fn unique(names: &[String]) -> Vec<String> {
    let mut count: BTreeMap<&str, usize> = BTreeMap::new();
    for name in names {
        *count.entry(name).or_default() += 1;
    }
    let number = |(position, name): (usize, &String)| match count[name.as_str()] {
        1 => name.clone(),
        _ => format!("{name}#{position}"),
    };
    names.iter().enumerate().map(number).collect()
}

//! States that can be reached, arbitrary states, and changes of states.

use std::collections::BTreeSet;

use engine::{Claims, Component};
use model::{Channel, InstanceId, LocationId, Model, Scalar, State};
use testkit::Random;

/// Some of the states that can be reached; all of them if they are fewer than `limit`, which is
/// told, too. Nothing for models whose initial values fail.
pub fn reachable(model: &Model, limit: usize) -> (Vec<State>, bool) {
    if has_many_initial_states(model) {
        return (Vec::new(), false);
    }
    let initial = model.initial_states().unwrap_or_default();
    let mut met: BTreeSet<State> = initial.iter().take(limit).cloned().collect();
    let mut is_complete = initial.len() <= limit;
    let mut found: Vec<State> = met.iter().cloned().collect();
    let mut next = 0;

    while next < found.len() {
        for step in model.successors(&found[next]).into_iter().flatten() {
            if met.contains(&step.target) {
                continue;
            }
            if found.len() == limit {
                is_complete = false;
                continue;
            }
            met.insert(step.target.clone());
            found.push(step.target);
        }
        next += 1;
    }

    (found, is_complete)
}

/// Are there more initial states than one would like to list?
fn has_many_initial_states(model: &Model) -> bool {
    let n_values = (0..model.cells().len()).map(|cell| match model.initial_value(cell) {
        Ok(None) => {
            let (lo, hi) = model.cells()[cell].ty.bounds();
            (hi.wrapping_sub(lo) as u64).saturating_add(1)
        }
        Ok(Some(_)) | Err(_) => 1,
    });
    n_values.fold(1, u64::saturating_mul) > 10_000
}

/// Any state that the types allow.
pub fn arbitrary(model: &Model, random: &mut Random) -> State {
    let empty = State {
        locations: vec![LocationId(0); model.instances().len()],
        cells: vec![0; model.cells().len()],
        channels: vec![Vec::new(); model.n_single_channels()],
    };
    changed(
        model,
        &Room::of_types(model),
        &empty,
        &|_| true,
        100,
        random,
    )
}

/// Which values components may be given.
pub struct Room {
    /// By cell.
    cells: Vec<(i64, i64)>,
    /// By channel and component.
    messages: Vec<Vec<(i64, i64)>>,
}

impl Room {
    fn of_types(model: &Model) -> Self {
        let channels = model.parts().channels.iter();
        let bounds = |channel: &Channel| channel.payload.iter().map(|ty| ty.bounds()).collect();
        Self {
            cells: model.cells().iter().map(|cell| cell.ty.bounds()).collect(),
            messages: channels.map(bounds).collect(),
        }
    }

    /// What is claimed to be enough.
    pub fn claimed(claims: &Claims) -> Self {
        Self {
            cells: claims.ranges.clone(),
            messages: claims.messages.clone(),
        }
    }
}

/// A value for which there is room, if there is more than one.
fn value_in((lo, hi): (i64, i64), random: &mut Random) -> Option<i64> {
    (lo < hi).then(|| value_of(Scalar::Range(lo, hi), random))
}

/// The state with other values in some of the components that may be changed, as far as there is
/// room.
pub fn changed(
    model: &Model,
    room: &Room,
    state: &State,
    may_change: &dyn Fn(Component) -> bool,
    percent: usize,
    random: &mut Random,
) -> State {
    let mut state = state.clone();
    for (position, location) in state.locations.iter_mut().enumerate() {
        let instance = InstanceId::new(position);
        if may_change(Component::Location(instance)) && random.chance(percent) {
            let n_locations = model.process_of(instance).locations.len();
            *location = LocationId::new(random.below(n_locations));
        }
    }

    for (position, cell) in state.cells.iter_mut().enumerate() {
        if may_change(Component::Cell(position)) && random.chance(percent) {
            *cell = value_in(room.cells[position], random).unwrap_or(*cell);
        }
    }

    let shapes = model.parts().channels.iter();
    let shapes = shapes.zip(&room.messages);
    let shapes =
        shapes.flat_map(|(channel, room)| (0..channel.n_single()).map(move |_| (channel, room)));
    for (channel, (shape, room)) in shapes.enumerate() {
        let messages = &mut state.channels[channel];
        let message = |slot: usize, component: usize| Component::Message {
            channel,
            slot,
            component,
        };
        for (slot, values) in messages.iter_mut().enumerate() {
            for (component, value) in values.iter_mut().enumerate() {
                if may_change(message(slot, component)) && random.chance(percent) {
                    *value = value_in(room[component], random).unwrap_or(*value);
                }
            }
        }
        // A slot that is not used has a value, too, so adding or removing a message changes it.
        let length = random.below(shape.capacity + 1);
        let slots = length.min(messages.len())..length.max(messages.len());
        let mut parts = slots.flat_map(|slot| (0..shape.payload.len()).map(move |c| (slot, c)));
        if may_change(Component::Length(channel))
            && parts.all(|(slot, component)| may_change(message(slot, component)))
            && random.chance(percent)
        {
            messages.truncate(length);
            while messages.len() < length {
                let values = room
                    .iter()
                    .map(|&(lo, hi)| value_in((lo, hi), random).unwrap_or(lo));
                messages.push(values.collect());
            }
        }
    }

    state
}

/// The components in which two states differ.
pub fn differences(one: &State, other: &State) -> BTreeSet<Component> {
    let mut found = BTreeSet::new();
    let locations = one.locations.iter().zip(&other.locations).enumerate();
    for (position, _) in locations.filter(|(_, (a, b))| a != b) {
        found.insert(Component::Location(InstanceId::new(position)));
    }
    let cells = one.cells.iter().zip(&other.cells).enumerate();
    for (position, _) in cells.filter(|(_, (a, b))| a != b) {
        found.insert(Component::Cell(position));
    }

    for (channel, (a, b)) in one.channels.iter().zip(&other.channels).enumerate() {
        if a.len() != b.len() {
            found.insert(Component::Length(channel));
        }
        for slot in 0..a.len().max(b.len()) {
            let width = a.get(slot).or(b.get(slot)).map_or(0, Vec::len);
            let value = |messages: &Vec<Vec<i64>>, component: usize| {
                messages.get(slot).map(|message| message[component])
            };
            for component in (0..width).filter(|&c| value(a, c) != value(b, c)) {
                found.insert(Component::Message {
                    channel,
                    slot,
                    component,
                });
            }
        }
    }

    found
}

fn value_of(ty: Scalar, random: &mut Random) -> i64 {
    let (lo, hi) = ty.bounds();
    // Of very many values only small ones: some are the ends of loops and choices.
    let n_values = (hi.wrapping_sub(lo) as u64).saturating_add(1);
    if n_values > 256 || n_values == 0 {
        return (random.below(6) as i64 - 1).clamp(lo, hi);
    }
    lo + random.below(n_values as usize) as i64
}

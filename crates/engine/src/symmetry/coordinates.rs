//! What a permutation of indices does to the components of a state.

use model::{ChannelId, InstanceId, Model, Scalar, Type, VarId};

use super::sorts::{IndexPart, PathStep, Slot, SortId, Sorts};

/// An index of a component of a state.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Coordinate {
    pub(crate) sort: SortId,
    pub(crate) index: i64,
    /// How far away the component with the next index is.
    pub(crate) stride: i64,
    /// The first and last index that there is.
    range: (i64, i64),
}

/// A component of a state: where it lies among others and what its values mean.
#[derive(Clone, Debug, Default)]
pub(crate) struct Component {
    pub(crate) coordinates: Vec<Coordinate>,
    /// Its values are indices of this sort.
    pub(crate) sort: Option<SortId>,
    /// What values it has.
    ty: Option<Scalar>,
}

/// All components that a permutation may move.
#[derive(Debug)]
pub(crate) struct Components {
    /// By instance.
    pub(crate) locations: Vec<Component>,
    /// By cell.
    pub(crate) cells: Vec<Component>,
    /// By channel and single channel.
    pub(crate) channels: Vec<Vec<Component>>,
    /// By channel and component of its messages.
    pub(crate) payload: Vec<Vec<Component>>,
}

/// A permutation that exchanges two indices of a sort.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Transposition {
    pub(crate) sort: SortId,
    pub(crate) one: i64,
    pub(crate) other: i64,
}

impl Transposition {
    /// What becomes of a value of a sort.
    pub(crate) fn image(&self, sort: Option<SortId>, value: i64) -> i64 {
        match sort == Some(self.sort) {
            true if value == self.one => self.other,
            true if value == self.other => self.one,
            _ => value,
        }
    }
}

impl Component {
    /// Where the component goes, as a distance; nothing if there is nothing there.
    pub(crate) fn shift(&self, exchange: Transposition) -> Option<i64> {
        let moved = self.coordinates.iter().map(|coordinate| {
            let image = exchange.image(Some(coordinate.sort), coordinate.index);
            let (lo, hi) = coordinate.range;
            (lo..=hi)
                .contains(&image)
                .then_some((image - coordinate.index) * coordinate.stride)
        });
        moved.sum()
    }

    /// Has the image of every value of its type that type?
    pub(crate) fn is_closed(&self, exchange: Transposition) -> bool {
        self.sort != Some(exchange.sort)
            || self
                .ty
                .is_none_or(|ty| ty.contains(exchange.one) == ty.contains(exchange.other))
    }
}

impl Components {
    pub(super) fn new(model: &Model, sorts: &Sorts) -> Self {
        let location = |instance| Component {
            coordinates: family(model, sorts, InstanceId::new(instance), 1),
            ..Component::default()
        };
        Self {
            locations: (0..model.instances().len()).map(location).collect(),
            cells: cells(model, sorts),
            channels: channels(model, sorts),
            payload: payload(model, sorts),
        }
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &Component> {
        let places = self.locations.iter().chain(&self.cells);
        let channels = self.channels.iter().chain(&self.payload);
        places.chain(channels.flatten())
    }
}

/// The indices of an instance in its family.
fn family(model: &Model, sorts: &Sorts, instance: InstanceId, stride: usize) -> Vec<Coordinate> {
    let instance = &model.instances()[instance.index()];
    let (Some(family), Some(index)) = (sorts.index_of(instance.process), instance.index) else {
        return Vec::new();
    };
    let coordinate = |(part, value): (IndexPart, i64)| {
        Some(Coordinate {
            sort: part.sort?,
            index: value,
            stride: part.stride * stride as i64,
            range: part.range,
        })
    };
    family.parts(index).filter_map(coordinate).collect()
}

fn cells(model: &Model, sorts: &Sorts) -> Vec<Component> {
    let mut cells = vec![Component::default(); model.cells().len()];
    let mut position = 0;
    while position < cells.len() {
        // The copies of a variable follow each other, and so do the cells of a copy.
        let cell = &model.cells()[position];
        let ty = &model.parts().vars[cell.var.index()].ty;
        let n_cells = ty.n_cells(&model.parts().records);
        let owner = cell
            .instance
            .map(|instance| family(model, sorts, instance, n_cells));
        let mut walk = CellWalk {
            model,
            sorts,
            var: cell.var,
            path: Vec::new(),
            coordinates: owner.unwrap_or_default(),
            next: position,
            cells: &mut cells,
        };
        walk.fill(ty);
        position += n_cells.max(1);
    }

    cells
}

struct CellWalk<'a> {
    model: &'a Model,
    sorts: &'a Sorts,
    var: VarId,
    path: Vec<PathStep>,
    coordinates: Vec<Coordinate>,
    next: usize,
    cells: &'a mut Vec<Component>,
}

impl CellWalk<'_> {
    fn fill(&mut self, ty: &Type) {
        let records = &self.model.parts().records;
        match ty {
            Type::Scalar(scalar) => {
                self.cells[self.next] = Component {
                    coordinates: self.coordinates.clone(),
                    sort: self.sorts.of(&Slot::Value(self.var, self.path.clone())),
                    ty: Some(*scalar),
                };
                self.next += 1;
            }
            Type::Array(array) => {
                let slot = Slot::Dimension(self.var, self.path.clone());
                let sort = self.sorts.of(&slot);
                self.path.push(PathStep::Index);
                for offset in 0..array.len as i64 {
                    let coordinate = sort.map(|sort| Coordinate {
                        sort,
                        index: array.lo + offset,
                        stride: array.element.n_cells(records) as i64,
                        range: (array.lo, array.lo + array.len as i64 - 1),
                    });
                    self.coordinates.extend(coordinate);
                    self.fill(&array.element);
                    if coordinate.is_some() {
                        self.coordinates.pop();
                    }
                }
                self.path.pop();
            }
            Type::Record(record) => {
                for (field, (_, ty)) in records[record.index()].fields.iter().enumerate() {
                    self.path.push(PathStep::Field(field));
                    self.fill(ty);
                    self.path.pop();
                }
            }
        }
    }
}

fn channels(model: &Model, sorts: &Sorts) -> Vec<Vec<Component>> {
    let channels = model.parts().channels.iter().enumerate();
    let singles = |(position, channel): (usize, &model::Channel)| {
        let sort = sorts.of(&Slot::Channel(ChannelId::new(position)));
        let (lo, hi) = channel.indices.unwrap_or((0, 0));
        let coordinate = |sort, index| Coordinate {
            sort,
            index,
            stride: 1,
            range: (lo, hi),
        };
        let single = |index| Component {
            coordinates: sort
                .map(|sort| coordinate(sort, index))
                .into_iter()
                .collect(),
            ..Component::default()
        };
        (lo..=hi).map(single).collect()
    };
    channels.map(singles).collect()
}

fn payload(model: &Model, sorts: &Sorts) -> Vec<Vec<Component>> {
    let channels = model.parts().channels.iter().enumerate();
    let components = |(position, channel): (usize, &model::Channel)| {
        let component = |(component, ty): (usize, &Scalar)| Component {
            coordinates: Vec::new(),
            sort: sorts.of(&Slot::Payload(ChannelId::new(position), component)),
            ty: Some(*ty),
        };
        channel.payload.iter().enumerate().map(component).collect()
    };
    channels.map(components).collect()
}

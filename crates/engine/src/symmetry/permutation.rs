//! Permutations of indices, and what they do to packed states.

use crate::layout::Layout;

use super::coordinates::{Component, Components};
use super::sorts::SortId;

/// A permutation of the indices of every sort.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) struct Permutation {
    /// By sort: the first index, and the image of each from there on. All others stay.
    images: Vec<(i64, Vec<i64>)>,
}

impl Permutation {
    /// The one that leaves everything as it is, over these ranges of indices.
    pub(super) fn identity(ranges: &[(i64, i64)]) -> Self {
        let images = ranges.iter().map(|&(lo, hi)| (lo, (lo..=hi).collect()));
        Self {
            images: images.collect(),
        }
    }

    /// What becomes of a value of a sort.
    pub(crate) fn image(&self, sort: Option<SortId>, value: i64) -> i64 {
        let Some((lo, images)) = sort.map(|sort| &self.images[sort]) else {
            return value;
        };
        let position = usize::try_from(value.wrapping_sub(*lo)).ok();
        let image = position.and_then(|position| images.get(position));
        image.copied().unwrap_or(value)
    }

    pub(super) fn set(&mut self, sort: SortId, value: i64, image: i64) {
        let (lo, images) = &mut self.images[sort];
        images[(value - *lo) as usize] = image;
    }

    /// First the inverse of `other`, then this one.
    pub(crate) fn after_inverse_of(&self, other: &Self) -> Self {
        let mut result = self.clone();
        for (sort, (lo, images)) in other.images.iter().enumerate() {
            for (position, &image) in images.iter().enumerate() {
                let original = lo + position as i64;
                result.set(sort, image, self.image(Some(sort), original));
            }
        }
        result
    }
}

/// A field that permutations move, or whose values they change.
#[derive(Clone, Debug)]
pub(super) struct Moved {
    pub(super) field: u32,
    /// Its indices, and how many fields away the one with the next index is.
    pub(super) coordinates: Vec<(SortId, i64, i64)>,
    /// Its values are indices of this sort.
    pub(super) sort: Option<SortId>,
    /// For a component of a message: the field of the length of its channel, and its slot. Unused
    /// slots are zero and stay so.
    pub(super) slot: Option<(u32, u64)>,
}

impl Moved {
    fn new(field: u32, component: &Component, stride: i64) -> Self {
        let coordinates = component.coordinates.iter();
        Self {
            field,
            coordinates: coordinates
                .map(|c| (c.sort, c.index, c.stride * stride))
                .collect(),
            sort: component.sort,
            slot: None,
        }
    }

    /// Is there a value in it?
    pub(super) fn is_used(&self, layout: &Layout, words: &[u64]) -> bool {
        self.slot
            .is_none_or(|(length, slot)| slot < layout.fields[length as usize].raw(words))
    }
}

/// All fields that permutations move or change.
pub(super) fn moved_fields(layout: &Layout, components: &Components) -> Vec<Moved> {
    let mut moved = Vec::new();
    let places = components.locations.iter().enumerate();
    moved.extend(
        places.map(|(at, component)| Moved::new(layout.first_location + at as u32, component, 1)),
    );

    let cells = components.cells.iter().enumerate();
    moved.extend(
        cells.map(|(at, component)| Moved::new(layout.first_cell + at as u32, component, 1)),
    );

    let mut fields = layout.channels.iter();
    for (singles, payload) in components.channels.iter().zip(&components.payload) {
        for (single, fields) in singles.iter().zip(&mut fields) {
            // All single channels of an array have as many fields.
            let n_fields = fields.capacity * fields.n_components;
            let stride = i64::from(1 + n_fields);
            moved.push(Moved::new(fields.length, single, stride));
            for position in 0..n_fields {
                let component = &payload[(position % fields.n_components) as usize];
                let slot = u64::from(position / fields.n_components);
                moved.push(Moved {
                    sort: component.sort,
                    slot: Some((fields.length, slot)),
                    ..Moved::new(fields.first_slot + position, single, stride)
                });
            }
        }
    }

    moved.retain(|moved| !moved.coordinates.is_empty() || moved.sort.is_some());
    moved
}

/// Permutes a state, into `out`. `moved` are the fields that the permutation may concern.
pub(super) fn permute<'a>(
    layout: &Layout,
    moved: impl Iterator<Item = &'a Moved>,
    permutation: &Permutation,
    words: &[u64],
    out: &mut [u64],
) {
    out.copy_from_slice(words);
    for moved in moved {
        let shift: i64 = moved
            .coordinates
            .iter()
            .map(|&(sort, index, stride)| (permutation.image(Some(sort), index) - index) * stride)
            .sum();
        let field = &layout.fields[moved.field as usize];
        let mut raw = field.raw(words);
        if moved.sort.is_some() && moved.is_used(layout, words) {
            raw = field.encode(permutation.image(moved.sort, field.get(words)));
        }
        let target = &layout.fields[(i64::from(moved.field) + shift) as usize];
        target.set_raw(out, raw);
    }
}

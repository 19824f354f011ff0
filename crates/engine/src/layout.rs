//! Where each component of a state lies in its packed words.
//!
//! A state is a short vector of `u64` words. Every location, cell and channel slot is a field of
//! as many bits as its type needs; no field crosses a word. Equal states have equal words and the
//! other way round: unused channel slots and unused bits are zero.

use jit::{ChannelFields, Field, Segment, SegmentRange};
use model::{InstanceId, LocationId, Model, Scalar, State};

use crate::ranges::Ranges;

/// The packing of a model's states.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    pub(crate) fields: Vec<Field>,
    pub(crate) n_words: usize,
    /// The field of the first location; those of further instances follow.
    pub(crate) first_location: u32,
    /// The field of the first cell; those of further cells follow.
    pub(crate) first_cell: u32,
    pub(crate) channels: Vec<ChannelFields>,
    pub(crate) segments: Vec<Segment>,
}

impl Layout {
    /// The packing of a model whose cells and messages have values in these ranges.
    pub(crate) fn new(model: &Model, ranges: &Ranges) -> Self {
        let mut layout = Self {
            fields: Vec::new(),
            n_words: 0,
            first_location: 0,
            first_cell: 0,
            channels: Vec::new(),
            segments: Vec::new(),
        };

        let mut room = Room::default();
        for instance in 0..model.instances().len() {
            let n_locations = model.process_of(InstanceId::new(instance)).locations.len();
            layout.add(Scalar::Range(0, n_locations as i64 - 1), &mut room);
        }

        layout.first_cell = layout.fields.len() as u32;
        for &(lo, hi) in &ranges.cells {
            layout.add(Scalar::Range(lo, hi), &mut room);
        }

        for (channel, messages) in model.parts().channels.iter().zip(&ranges.messages) {
            let range = |(lo, hi): &(i64, i64)| Scalar::Range(*lo, *hi);
            let components: Vec<Scalar> = messages.iter().map(range).collect();
            for _ in 0..channel.n_single() {
                let length = layout.fields.len() as u32;
                layout.add(Scalar::Range(0, channel.capacity as i64), &mut room);
                let segments = layout.add_slots(channel.capacity, &components, &mut room);
                layout.channels.push(ChannelFields {
                    length,
                    first_slot: length + 1,
                    capacity: channel.capacity as u32,
                    n_components: channel.payload.len() as u32,
                    segments,
                });
            }
        }

        // A state without components still needs a word to be stored by.
        layout.n_words = room.free_bits.len().max(1);
        layout
    }

    /// How many fields there are before those of the channels.
    pub(crate) fn n_plain_fields(&self) -> usize {
        let first = self.channels.first();
        first.map_or(self.fields.len(), |channel| channel.length as usize)
    }

    /// Adds the slots of a single channel. A message that fits into a word is not torn apart.
    fn add_slots(
        &mut self,
        capacity: usize,
        components: &[Scalar],
        room: &mut Room,
    ) -> Option<SegmentRange> {
        let width: u32 = components.iter().map(|ty| n_bits(*ty)).sum();
        let first = self.segments.len() as u32;
        for _ in 0..capacity {
            if width > 64 {
                for component in components {
                    self.add(*component, room);
                }
                continue;
            }
            let word = room.word(width);
            let shift = 64 - room.free_bits[word];
            for component in components {
                self.add_to(word, *component, room);
            }
            self.extend_segments(first, word as u32, shift, width);
        }
        let end = self.segments.len() as u32;
        (width <= 64).then_some(SegmentRange::new(first, end))
    }

    /// Adds a slot to the last segment of its channel, or begins a new one.
    fn extend_segments(&mut self, first: u32, word: u32, shift: u32, width: u32) {
        match self.segments[first as usize..].last_mut() {
            _ if width == 0 => {}
            Some(last) if last.word == word && last.last_shift() + width == shift => {
                last.n_slots += 1;
            }
            _ => self.segments.push(Segment {
                word,
                shift,
                width,
                n_slots: 1,
            }),
        }
    }

    fn add(&mut self, ty: Scalar, room: &mut Room) {
        let word = room.word(n_bits(ty));
        self.add_to(word, ty, room);
    }

    fn add_to(&mut self, word: usize, ty: Scalar, room: &mut Room) {
        let (lo, hi) = ty.bounds();
        let n_bits = n_bits(ty);
        let shift = 64 - room.free_bits[word];
        room.free_bits[word] -= n_bits;
        self.fields.push(Field {
            word: word as u32,
            // A field without bits may come after a full word; any legal shift reads its zero.
            shift: shift.min(63),
            mask: if n_bits == 64 {
                u64::MAX
            } else {
                (1 << n_bits) - 1
            },
            // The whole range needs no offset: its bits are the value's own.
            offset: if n_bits == 64 { 0 } else { lo },
            lo,
            hi,
        });
    }

    /// The state that packed words stand for.
    pub(crate) fn unpack(&self, model: &Model, words: &[u64]) -> State {
        let value = |field: usize| self.fields[field].get(words);
        let locations = 0..model.instances().len();
        let cells = 0..model.cells().len();
        let first_cell = self.first_cell as usize;
        State {
            locations: locations.map(|i| LocationId(value(i) as u32)).collect(),
            cells: cells.map(|i| value(first_cell + i)).collect(),
            channels: self
                .channels
                .iter()
                .map(|c| self.messages(c, words))
                .collect(),
        }
    }

    fn messages(&self, channel: &ChannelFields, words: &[u64]) -> Vec<Vec<i64>> {
        let length = self.fields[channel.length as usize].get(words) as usize;
        let width = channel.n_components as usize;
        let first = channel.first_slot as usize;
        let component = |field: usize| self.fields[field].get(words);
        (0..length)
            .map(|slot| {
                (0..width)
                    .map(|i| component(first + slot * width + i))
                    .collect()
            })
            .collect()
    }

    /// Are these the packed words of a state: every value in its range, and no other bit set?
    pub(crate) fn is_packed(&self, model: &Model, words: &[u64]) -> bool {
        let is_in_range = |field: &Field| field.contains(field.get(words));
        words.len() == self.n_words
            && self.fields.iter().all(is_in_range)
            && self.pack(&self.unpack(model, words)) == words
    }

    /// The packed words of a state.
    pub(crate) fn pack(&self, state: &State) -> Vec<u64> {
        let mut words = vec![0; self.n_words];
        let mut put = |field: usize, value: i64| {
            let field = &self.fields[field];
            field.set_raw(&mut words, field.encode(value));
        };
        for (i, location) in state.locations.iter().enumerate() {
            put(i, i64::from(location.0));
        }
        for (i, cell) in state.cells.iter().enumerate() {
            put(self.first_cell as usize + i, *cell);
        }
        for (channel, messages) in self.channels.iter().zip(&state.channels) {
            put(channel.length as usize, messages.len() as i64);
            for (i, value) in messages.iter().flatten().enumerate() {
                put(channel.first_slot as usize + i, *value);
            }
        }
        words
    }
}

/// The bits that a value of the type takes.
fn n_bits(ty: Scalar) -> u32 {
    let (lo, hi) = ty.bounds();
    64 - (hi.wrapping_sub(lo) as u64).leading_zeros()
}

/// The bits of words that no field has taken yet.
#[derive(Debug)]
struct Room {
    /// By word.
    free_bits: Vec<u32>,
    /// By number of bits: no word before this one has so many free bits. Bits are only taken, so it
    /// never goes back, and states with very many fields are laid out in linear time.
    first_word: [usize; 65],
}

impl Default for Room {
    fn default() -> Self {
        Self {
            free_bits: Vec::new(),
            first_word: [0; 65],
        }
    }
}

impl Room {
    /// The first word with so many free bits, if need be a new one.
    fn word(&mut self, n_bits: u32) -> usize {
        let first = &mut self.first_word[n_bits as usize];
        let behind = self.free_bits[*first..].iter();
        *first += behind.take_while(|free| **free < n_bits).count();
        if *first == self.free_bits.len() {
            self.free_bits.push(64);
        }
        *first
    }
}

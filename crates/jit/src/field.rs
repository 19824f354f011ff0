//! Parts of packed states.

/// A range of bits in the words of a state. It holds `value - offset`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Field {
    /// The word it is in.
    pub word: u32,
    /// Where its bits begin.
    pub shift: u32,
    /// Ones in as many low bits as the field has.
    pub mask: u64,
    /// The value that is kept as zero.
    pub offset: i64,
    /// Its least value.
    pub lo: i64,
    /// Its greatest value.
    pub hi: i64,
}

impl Field {
    /// Its bits.
    #[inline]
    #[must_use]
    pub fn raw(&self, words: &[u64]) -> u64 {
        (words[self.word as usize] >> self.shift) & self.mask
    }

    /// Replaces its bits.
    #[inline]
    pub fn set_raw(&self, words: &mut [u64], raw: u64) {
        let word = &mut words[self.word as usize];
        *word = (*word & !(self.mask << self.shift)) | (raw << self.shift);
    }

    /// Its value.
    #[inline]
    #[must_use]
    pub fn get(&self, words: &[u64]) -> i64 {
        (self.raw(words) as i64).wrapping_add(self.offset)
    }

    /// Is this one of its values?
    #[inline]
    #[must_use]
    pub fn contains(&self, value: i64) -> bool {
        (self.lo..=self.hi).contains(&value)
    }

    /// The bits that stand for a value of the field.
    #[inline]
    #[must_use]
    pub fn encode(&self, value: i64) -> u64 {
        value.wrapping_sub(self.offset) as u64 & self.mask
    }
}

/// The fields of one single channel. Its slots follow each other in [`crate::Tables::fields`], the oldest
/// message first, each with `n_components` fields.
#[derive(Clone, Copy, Debug)]
pub struct ChannelFields {
    /// The field of its length.
    pub length: u32,
    /// The first field of its oldest message.
    pub first_slot: u32,
    /// How many messages fit.
    pub capacity: u32,
    /// How many fields a message has.
    pub n_components: u32,
    /// Its slots in runs, unless a message is longer than a word.
    pub segments: Option<SegmentRange>,
}

impl ChannelFields {
    /// How many fields the oldest message has; a rendezvous channel keeps none.
    #[must_use]
    pub fn oldest_len(&self) -> u32 {
        self.n_components * self.capacity.min(1)
    }
}

/// A range of [`crate::Tables::segments`].
#[derive(Clone, Copy, Debug)]
pub struct SegmentRange {
    first: u32,
    end: u32,
}

impl SegmentRange {
    /// From the first segment to the one before `end`.
    #[must_use]
    pub fn new(first: u32, end: u32) -> Self {
        Self { first, end }
    }

    /// As a range of positions.
    #[must_use]
    pub fn range(self) -> std::ops::Range<usize> {
        self.first as usize..self.end as usize
    }
}

/// Slots of a channel that follow each other in one word without a gap: all of them move by one
/// with one shift.
#[derive(Clone, Copy, Debug)]
pub struct Segment {
    /// The word they are in.
    pub word: u32,
    /// Where the oldest of its messages begins.
    pub shift: u32,
    /// The bits of one message.
    pub width: u32,
    /// How many messages.
    pub n_slots: u32,
}

impl Segment {
    /// As many low bits.
    #[inline]
    #[must_use]
    pub fn ones(n_bits: u32) -> u64 {
        u64::MAX.checked_shr(64 - n_bits).unwrap_or(0)
    }

    /// The bits of all its slots.
    #[inline]
    #[must_use]
    pub fn mask(&self) -> u64 {
        Self::ones(self.n_slots * self.width) << self.shift
    }

    /// The bits of all its slots but the last.
    #[inline]
    #[must_use]
    pub fn moved_mask(&self) -> u64 {
        Self::ones((self.n_slots - 1) * self.width) << self.shift
    }

    /// Where its last slot begins.
    #[inline]
    #[must_use]
    pub fn last_shift(&self) -> u32 {
        self.shift + (self.n_slots - 1) * self.width
    }
}

//! A set of vectors of equal length, named in the order of their arrival.
//!
//! Several threads may insert at once. A vector is written before its name is published, and names
//! are published by compare-and-swap, so a reader that finds a name finds the whole vector.

use std::ops::Range;
use std::sync::atomic::Ordering;

use crate::chunked::Chunked;
use crate::prefetch::prefetch_to_write;
use crate::scan::{BUCKET_LEN, Scan};
use crate::state_store::StateIndex;
use crate::sync::{AtomicU32, AtomicU64};
use crate::table::Table;

/// The vectors, by name. The table that finds the names is kept elsewhere, because only growing it
/// needs it alone.
#[derive(Debug)]
pub(crate) struct Rows {
    width: usize,
    rows: Chunked<AtomicU64>,
    /// How many names are given away.
    len: OwnLine<AtomicU32>,
}

/// Something that threads write often, on a cache line of its own: otherwise a thread that reads what is
/// next to it would wait for them. Processors fetch lines in pairs.
#[derive(Debug, Default)]
#[repr(align(128))]
pub struct OwnLine<T>(
    /// The thing itself.
    pub T,
);

/// How an insertion ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Inserted {
    /// The vector is new and has this name.
    New(StateIndex),
    /// The vector was there.
    Old(StateIndex),
    /// The table must grow first.
    Full,
}

/// Names that a thread has taken and not given to vectors yet.
#[derive(Clone, Debug)]
pub(crate) struct Names {
    taken: Range<StateIndex>,
    block: u32,
}

impl Names {
    const MAX_BLOCK: u32 = if cfg!(loom) { 2 } else { 64 };

    /// Takes names when they are needed, so that all are used. Only for a thread that inserts alone:
    /// it does without the operations by which threads wait for each other.
    pub(crate) fn one_by_one() -> Self {
        Self {
            taken: 0..0,
            block: 1,
        }
    }

    /// Takes many at once, so that threads do not disturb each other.
    pub(crate) fn in_blocks() -> Self {
        Self {
            taken: 0..0,
            block: Self::MAX_BLOCK,
        }
    }

    /// Is there no other thread that inserts?
    fn is_alone(&self) -> bool {
        self.block == 1
    }

    /// Gives up the names that were not used.
    pub(crate) fn give_up(&mut self) -> Range<StateIndex> {
        std::mem::replace(&mut self.taken, 0..0)
    }
}

impl Rows {
    pub(crate) fn new(width: usize) -> Self {
        Self {
            width,
            rows: Chunked::new(width),
            len: OwnLine::default(),
        }
    }

    /// How many words a vector has.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// How many names are given away.
    pub(crate) fn len(&self) -> usize {
        self.len.0.load(Ordering::Acquire) as usize
    }

    #[inline]
    pub(crate) fn read(&self, index: StateIndex, out: &mut [u64]) {
        for (word, stored) in out.iter_mut().zip(self.rows.row(index)) {
            *word = stored.load(Ordering::Relaxed);
        }
    }

    /// Does a name stand for this vector? It may be one that was not given away.
    pub(crate) fn has(&self, index: StateIndex, row: &[u64]) -> bool {
        (index as usize) < self.len() && self.is_at(index, row)
    }

    /// Asks the processor for a vector.
    #[inline]
    pub(crate) fn prefetch(&self, index: StateIndex) {
        self.rows.prefetch(index);
    }

    /// Does the table have room for more names, for any thread?
    pub(crate) fn has_room(&self, table: &Table) -> bool {
        self.len() + Names::MAX_BLOCK as usize <= table.capacity as usize
    }

    /// The bytes in use, without the table.
    pub(crate) fn memory(&self) -> u64 {
        self.rows.memory(self.len())
    }

    /// Inserts, perhaps while other threads do.
    pub(crate) fn insert(
        &self,
        table: &Table,
        row: &[u64],
        hash: u64,
        names: &mut Names,
    ) -> Inserted {
        let (mut bucket, tag) = table.home(hash);
        let mut displaced = 0;
        loop {
            let slots = &table.buckets()[bucket];
            let Scan {
                mut matches,
                n_used,
            } = slots.scan(table.tag_mask(), tag);
            while matches != 0 {
                let entry = slots.entry(matches.trailing_zeros() as usize);
                if let Some(index) = self.found(table, entry, tag, row) {
                    return Inserted::Old(index);
                }
                matches &= matches - 1;
            }

            for slot in n_used..BUCKET_LEN {
                let Some(index) = self.reserve(table, names) else {
                    return Inserted::Full;
                };
                for (word, stored) in row.iter().zip(self.rows.row(index)) {
                    stored.store(*word, Ordering::Relaxed);
                }
                let new = tag | displaced | (index + 1);
                let filled = if names.is_alone() {
                    slots.fill_alone(slot, new);
                    Ok(())
                } else {
                    slots.fill(slot, new)
                };
                match filled {
                    Ok(()) => {
                        names.taken.start += 1;
                        return Inserted::New(index);
                    }
                    // Another thread was faster; look at what it has put here.
                    Err(entry) => {
                        if let Some(index) = self.found(table, entry, tag, row) {
                            return Inserted::Old(index);
                        }
                    }
                }
            }
            bucket = table.next(bucket);
            displaced = table.displaced();
        }
    }

    /// Asks the processor for the places of vectors that will be written: publishing a name waits
    /// for all that was written before.
    fn prefetch_to_write(&self, names: &Range<StateIndex>) {
        let per_line = (64 / (8 * self.width.max(1))).max(1);
        for name in names.clone().step_by(per_line) {
            prefetch_to_write(self.rows.address(name));
        }
    }

    /// The name in a slot, if it is that of the vector.
    fn found(&self, table: &Table, entry: u32, tag: u32, row: &[u64]) -> Option<StateIndex> {
        let index = (entry & table.name_mask()) - 1;
        let is_same = (entry ^ tag) & table.tag_mask() == 0 && self.is_at(index, row);
        is_same.then_some(index)
    }

    /// The next name; it is not used up yet.
    fn reserve(&self, table: &Table, names: &mut Names) -> Option<StateIndex> {
        if names.taken.is_empty() && names.is_alone() {
            let next = self.len.0.load(Ordering::Relaxed);
            if next >= table.capacity {
                return None;
            }
            self.len.0.store(next + 1, Ordering::Release);
            names.taken = next..next + 1;
        } else if names.taken.is_empty() {
            let next = self.len.0.fetch_add(names.block, Ordering::AcqRel);
            if next + names.block > table.capacity {
                self.len.0.fetch_sub(names.block, Ordering::AcqRel);
                return None;
            }
            names.taken = next..next + names.block;
            self.prefetch_to_write(&names.taken);
        }
        Some(names.taken.start)
    }

    /// Appends the positions of those vectors that are not the ones with the names guessed, which
    /// were given away.
    pub(crate) fn select_unknown(
        &self,
        vectors: &[u64],
        guesses: &[StateIndex],
        unknown: &mut Vec<u32>,
    ) {
        if self.width != 1 {
            let vectors = vectors.chunks_exact(self.width).zip(guesses);
            let is_unknown = |(vector, guess): (&[u64], &StateIndex)| !self.is_at(*guess, vector);
            select(vectors.map(is_unknown), unknown);
            return;
        }
        let is_unknown = |(word, guess): (&u64, &StateIndex)| {
            let stored = self.rows.row(*guess);
            *word != stored[0].load(Ordering::Relaxed)
        };
        select(vectors.iter().zip(guesses).map(is_unknown), unknown);
    }

    /// Does a name that was given away stand for this vector?
    #[inline]
    pub(crate) fn is_at(&self, index: StateIndex, row: &[u64]) -> bool {
        let stored = self.rows.row(index);
        if let ([word], [only]) = (row, stored) {
            return *word == only.load(Ordering::Relaxed);
        }
        row.iter()
            .zip(stored)
            .all(|(a, b)| *a == b.load(Ordering::Relaxed))
    }
}

/// Appends the positions of those that are selected. Which ones are is hard to foresee for a
/// processor, so nothing is skipped: all are written, and the next overwrites what is not wanted.
#[inline]
pub(crate) fn select(is_selected: impl ExactSizeIterator<Item = bool>, positions: &mut Vec<u32>) {
    let start = positions.len();
    positions.resize(start + is_selected.len() + 1, 0);
    let mut end = start;
    for (position, is_selected) in is_selected.enumerate() {
        positions[end] = position as u32;
        end += usize::from(is_selected);
    }
    positions.truncate(end);
}

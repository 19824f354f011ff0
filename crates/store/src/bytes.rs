//! Bytes that are appended and never move.
//!
//! As in `chunked.rs`, each block is twice as large as the one before, and what is not used of it takes no
//! memory. Large blocks are on huge pages, because they are read at random places.

use crate::chunked::ask_for_huge_pages;

/// The length of the first block.
const FIRST_LEN: usize = if cfg!(test) { 64 } else { 1 << 20 };

/// Bytes in the order in which they were appended.
#[derive(Debug, Default)]
pub struct Bytes {
    blocks: Vec<Box<[u8]>>,
    /// The place behind the last byte.
    end: usize,
}

impl Bytes {
    /// So many bytes can be read behind what was appended, whatever they are.
    pub const PADDING: usize = 8;

    /// The block of a place, and where in it.
    #[inline]
    fn position(place: usize) -> (usize, usize) {
        let block = (place / FIRST_LEN + 1).ilog2() as usize;
        (block, place - FIRST_LEN * ((1 << block) - 1))
    }

    /// Appends bytes and says at which place the first one is; nothing if there are too many for places
    /// below `u32::MAX`.
    pub fn append(&mut self, bytes: &[u8]) -> Option<u32> {
        let mut place = self.end;
        let (mut block, mut offset) = Self::position(place);
        while offset + bytes.len() > FIRST_LEN << block {
            // What is left of the block stays empty.
            place = FIRST_LEN * ((2 << block) - 1);
            (block, offset) = (block + 1, 0);
        }
        if place + bytes.len() >= u32::MAX as usize {
            return None;
        }

        while self.blocks.len() <= block {
            let is_used = self.blocks.len() == block;
            let len = (FIRST_LEN << block) + Self::PADDING;
            let new = vec![0; if is_used { len } else { 0 }].into_boxed_slice();
            ask_for_huge_pages(new.as_ptr(), new.len());
            self.blocks.push(new);
        }
        self.blocks[block][offset..][..bytes.len()].copy_from_slice(bytes);
        self.end = place + bytes.len();
        Some(place as u32)
    }

    /// The bytes from a place on that was given by [`Bytes::append`], or lies in what was appended there.
    #[inline]
    pub fn from(&self, place: u32) -> &[u8] {
        let (block, offset) = Self::position(place as usize);
        &self.blocks[block][offset..]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_are_found_where_they_were_appended() {
        let mut bytes = Bytes::default();
        let lengths = [0, 1, 63, 64, 65, 3, 500, 7, 129, 0, 1];
        let piece = |number: usize, len: usize| vec![number as u8 + 1; len];
        let pieces: Vec<_> = lengths
            .iter()
            .enumerate()
            .map(|(n, len)| piece(n, *len))
            .collect();
        let places: Vec<_> = pieces.iter().map(|piece| bytes.append(piece)).collect();
        for (piece, place) in pieces.iter().zip(places) {
            let found = bytes.from(place.expect("there is room"));
            assert_eq!(&found[..piece.len()], piece);
            assert!(found.len() >= piece.len() + Bytes::PADDING);
        }
    }

    #[test]
    fn places_are_not_used_up_by_little() {
        let mut bytes = Bytes {
            blocks: Vec::new(),
            end: u32::MAX as usize - 3,
        };
        assert_eq!(bytes.append(&[0; 3]), None);
        assert!(bytes.blocks.is_empty());
    }
}

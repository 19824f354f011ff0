//! The edges of a node as a few bytes.
//!
//! A record holds, as numbers of variable length (seven bits a byte, the least first):
//!
//! ```text
//! 8 · (number of edges) + (bytes of an edge) − 1
//! 8 · (number of its source marks) + (which of `MARK_BITS`)
//! 2 · (number of steps of its origin) + (are its steps not 0, 1, 2, …?)    (if steps are kept)
//! ```
//!
//! and then, for each edge, as many bytes as the largest one needs, the least first:
//!
//! ```text
//! zigzag(target − source) << (bits of marks) | number of its edge marks
//! ```
//!
//! and the steps of the edges as numbers of variable length, if they are kept and not 0, 1, 2, ….
//!
//! Graphs that are explored breadth first lead to nodes whose numbers are near, so most edges take
//! two or three bytes. That all edges of a record have the same length makes them quick to read: a
//! length for each edge could not be foreseen by the processor.

use crate::NodeId;

/// How many bits numbers of edge marks may take.
const MARK_BITS: [u32; 8] = [0, 1, 2, 3, 4, 6, 10, 32];

/// So many bytes are read for an edge, however many belong to it.
const READ_BYTES: usize = 8;

fn put(mut value: u64, out: &mut Vec<u8>) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Reads a number from `position` on, and moves it.
#[inline]
fn take(bytes: &[u8], position: &mut usize) -> u64 {
    let (mut value, mut shift) = (0, 0);
    loop {
        let byte = bytes[*position];
        *position += 1;
        value |= u64::from(byte & 0x7F) << shift;
        if byte < 0x80 {
            return value;
        }
        shift += 7;
    }
}

/// Writes records, one after the other.
#[derive(Debug)]
pub struct RecordWriter {
    keeps_steps: bool,
    source: NodeId,
    /// For each edge, the number that stands for its target, and that of its marks.
    edges: Vec<(u32, u32)>,
    /// The steps of the edges, if they are kept.
    steps: Vec<u32>,
}

impl RecordWriter {
    /// Behind a record there must be at least so many bytes of any kind.
    pub const PADDING: usize = READ_BYTES - 1;

    /// No record has so many edges.
    pub const MAX_EDGES: usize = 1 << 31;

    /// Steps are needed for [`crate::Closure::OnSystem`] only.
    #[must_use]
    pub fn new(keeps_steps: bool) -> Self {
        Self {
            keeps_steps,
            source: NodeId(0),
            edges: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Begins the record of a node.
    #[inline]
    pub fn begin(&mut self, source: NodeId) {
        self.source = source;
        self.edges.clear();
        self.steps.clear();
    }

    /// Adds an edge.
    #[inline]
    pub fn push(&mut self, target: NodeId, step: u32, edge_marks: u32) {
        let distance = target.0.wrapping_sub(self.source.0) as i32;
        let zigzag = (distance << 1 ^ distance >> 31) as u32;
        self.edges.push((zigzag, edge_marks));
        if self.keeps_steps {
            self.steps.push(step);
        }
    }

    /// Were edges added?
    #[must_use]
    pub fn has_edges(&self) -> bool {
        !self.edges.is_empty()
    }

    /// Appends the record to `out`. The origin of the node has so many steps.
    pub fn finish(&mut self, source_marks: u32, n_steps: u32, out: &mut Vec<u8>) {
        assert!(self.edges.len() < Self::MAX_EDGES, "the caller counts them");
        let (zigzags, marks) = self
            .edges
            .iter()
            .fold((0, 0), |(zigzags, marks), (z, m)| (zigzags | z, marks | m));
        let fits = |bits: &u32| u64::from(marks) >> bits == 0;
        let code = MARK_BITS.iter().position(fits).expect("marks have 32 bits");
        let mark_bits = MARK_BITS[code];
        let n_bits =
            u64::BITS - (u64::from(zigzags) << mark_bits | u64::from(marks)).leading_zeros();
        let n_bytes = n_bits.div_ceil(8).max(1) as usize;

        put((self.edges.len() as u64) << 3 | (n_bytes as u64 - 1), out);
        put(u64::from(source_marks) << 3 | code as u64, out);
        let in_order = self.steps.iter().copied().eq(0..self.steps.len() as u32);
        if self.keeps_steps {
            put(u64::from(n_steps) << 1 | u64::from(!in_order), out);
        }
        for (zigzag, marks) in &self.edges {
            let edge = u64::from(*zigzag) << mark_bits | u64::from(*marks);
            out.extend_from_slice(&edge.to_le_bytes()[..n_bytes]);
        }
        if !in_order {
            for step in &self.steps {
                put(u64::from(*step), out);
            }
        }
    }
}

/// The edges of a record.
#[derive(Clone, Copy, Debug)]
pub(super) struct Edges<'a> {
    /// The number of the marks that all of them have.
    pub source_marks: u32,
    /// How many there are.
    pub len: u32,
    source: NodeId,
    n_bytes: u32,
    mark_bits: u32,
    bytes: &'a [u8],
}

/// Reads the beginning of the record of a node.
#[inline]
pub(super) fn open(record: &[u8], source: NodeId, keeps_steps: bool) -> Edges<'_> {
    let mut position = 0;
    let first = take(record, &mut position);
    let second = take(record, &mut position);
    if keeps_steps {
        take(record, &mut position);
    }
    Edges {
        source_marks: (second >> 3) as u32,
        len: (first >> 3) as u32,
        source,
        n_bytes: (first & 7) as u32 + 1,
        mark_bits: MARK_BITS[(second & 7) as usize],
        bytes: &record[position..],
    }
}

impl Edges<'_> {
    /// The target of an edge, and the number of its edge marks.
    #[inline]
    pub fn get(&self, index: u32) -> (NodeId, u32) {
        let start = index as usize * self.n_bytes as usize;
        let bytes = self.bytes[start..start + READ_BYTES].try_into();
        let edge = u64::from_le_bytes(bytes.expect("so many bytes"));
        let edge = edge & u64::MAX >> (64 - 8 * self.n_bytes);
        let marks = edge & ((1 << self.mark_bits) - 1);
        let zigzag = (edge >> self.mark_bits) as u32;
        let distance = zigzag >> 1 ^ (zigzag & 1).wrapping_neg();
        (NodeId(self.source.0.wrapping_add(distance)), marks as u32)
    }

    /// All of them.
    #[inline]
    pub fn iter(&self) -> impl Iterator<Item = (NodeId, u32)> {
        (0..self.len).map(|index| self.get(index))
    }
}

/// How many steps the origin has, and the step of each edge. Only if steps are kept.
pub(super) fn steps(record: &[u8], out: &mut Vec<u32>) -> u32 {
    let mut position = 0;
    let first = take(record, &mut position);
    take(record, &mut position);
    let third = take(record, &mut position);
    let n_edges = (first >> 3) as u32;

    out.clear();
    if third & 1 == 0 {
        out.extend(0..n_edges);
    } else {
        position += n_edges as usize * ((first & 7) as usize + 1);
        out.extend((0..n_edges).map(|_| take(record, &mut position) as u32));
    }
    (third >> 1) as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads back what was written.
    fn check(keeps_steps: bool, source: u32, edges: &[(u32, u32, u32)]) {
        let mut writer = RecordWriter::new(keeps_steps);
        let mut bytes = Vec::new();
        // What was there before makes no difference, and neither does what comes behind.
        for round in 0..2 {
            writer.begin(NodeId(source));
            for &(target, step, marks) in edges {
                writer.push(NodeId(target), step, marks);
            }
            bytes.clear();
            writer.finish(700 + round, 300, &mut bytes);
        }
        bytes.extend([0xFF; RecordWriter::PADDING]);

        let found = open(&bytes, NodeId(source), keeps_steps);
        assert_eq!(found.source_marks, 701);
        let wanted = edges
            .iter()
            .map(|(target, _, marks)| (NodeId(*target), *marks));
        assert!(found.iter().eq(wanted));
        if keeps_steps {
            let mut found = Vec::new();
            assert_eq!(steps(&bytes, &mut found), 300);
            assert!(found.iter().eq(edges.iter().map(|(_, step, _)| step)));
        }
    }

    #[test]
    fn records_are_read_as_written() {
        let last = (1 << 31) - 1;
        for keeps_steps in [false, true] {
            check(keeps_steps, 0, &[]);
            check(keeps_steps, 7, &[(7, 0, 0)]);
            check(keeps_steps, 7, &[(8, 0, 2), (0, 1, 3), (6, 2, 4)]);
            check(
                keeps_steps,
                0,
                &[(last, 0, 0), (last, 0, 1_000_000), (0, 9, 131)],
            );
            check(
                keeps_steps,
                last,
                &[(0, 299, u32::MAX), (last, 128, 2), (1, 0, 1)],
            );
            for bits in 0..32 {
                check(
                    keeps_steps,
                    1 << 30,
                    &[(1 << 30 ^ 1 << (bits % 31), 0, (1 << bits) - 1)],
                );
            }
        }
    }
}

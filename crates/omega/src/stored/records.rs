//! The edges of a node as a few bytes.
//!
//! A record holds, as numbers of variable length (seven bits a byte, the least first):
//!
//! ```text
//! 2 · (number of edges) + (are its steps 0, 1, 2, …?)
//! number of its source marks
//! number of steps of its origin, and how many bytes the edges take  (if steps are kept)
//! for each edge: 4 · zigzag(target − source) + min(number of its edge marks, 3);
//!                if that was 3: number of its edge marks − 3
//! for each edge: its step                                           (if they are not 0, 1, 2, …)
//! ```
//!
//! Graphs that are explored breadth first lead to nodes whose numbers are near, so most edges take
//! two or three bytes.

use crate::NodeId;

/// Numbers of edge marks below this share a byte with the target.
const N_SHARING: u32 = 3;

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
    n_edges: u32,
    edges: Vec<u8>,
    /// The steps of the edges, if they are kept.
    steps: Vec<u32>,
}

impl RecordWriter {
    /// Steps are needed for [`crate::Closure::OnSystem`] only.
    #[must_use]
    pub fn new(keeps_steps: bool) -> Self {
        Self {
            keeps_steps,
            source: NodeId(0),
            n_edges: 0,
            edges: Vec::new(),
            steps: Vec::new(),
        }
    }

    /// Begins the record of a node.
    #[inline]
    pub fn begin(&mut self, source: NodeId) {
        self.source = source;
        self.n_edges = 0;
        self.edges.clear();
        self.steps.clear();
    }

    /// Adds an edge.
    #[inline]
    pub fn push(&mut self, target: NodeId, step: u32, edge_marks: u32) {
        let distance = i64::from(target.0) - i64::from(self.source.0);
        let zigzag = (distance << 1 ^ distance >> 63) as u64;
        put(
            zigzag << 2 | u64::from(edge_marks.min(N_SHARING)),
            &mut self.edges,
        );
        if edge_marks >= N_SHARING {
            put(u64::from(edge_marks - N_SHARING), &mut self.edges);
        }
        self.n_edges += 1;
        if self.keeps_steps {
            self.steps.push(step);
        }
    }

    /// Were edges added?
    #[must_use]
    pub fn has_edges(&self) -> bool {
        self.n_edges > 0
    }

    /// Appends the record to `out`. The origin of the node has so many steps.
    pub fn finish(&mut self, source_marks: u32, n_steps: u32, out: &mut Vec<u8>) {
        let in_order = self.steps.iter().copied().eq(0..self.n_edges);
        put(
            u64::from(self.n_edges) << 1 | u64::from(in_order && self.keeps_steps),
            out,
        );
        put(u64::from(source_marks), out);
        if self.keeps_steps {
            put(u64::from(n_steps), out);
            put(self.edges.len() as u64, out);
        }
        out.extend_from_slice(&self.edges);
        if !in_order {
            for step in &self.steps {
                put(u64::from(*step), out);
            }
        }
    }
}

/// Where a reader of a record is.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor {
    pub node: NodeId,
    pub n_left: u32,
    pub position: u32,
}

/// What a record says before its edges.
pub(super) struct Header {
    pub source_marks: u32,
    /// At the first edge.
    pub cursor: Cursor,
}

/// Reads the beginning of the record of a node; nothing if there is none.
#[inline]
pub(super) fn open(record: &[u8], node: NodeId, keeps_steps: bool) -> Option<Header> {
    if record.is_empty() {
        return None;
    }
    let mut position = 0;
    let n_left = (take(record, &mut position) >> 1) as u32;
    let source_marks = take(record, &mut position) as u32;
    if keeps_steps {
        take(record, &mut position);
        take(record, &mut position);
    }
    Some(Header {
        source_marks,
        cursor: Cursor {
            node,
            n_left,
            position: position as u32,
        },
    })
}

impl Cursor {
    /// The next edge: its target and the number of its edge marks.
    #[inline]
    pub fn next(&mut self, record: &[u8]) -> Option<(NodeId, u32)> {
        self.n_left = self.n_left.checked_sub(1)?;
        let mut position = self.position as usize;
        let value = take(record, &mut position);
        let mut edge_marks = value as u32 & N_SHARING;
        if edge_marks == N_SHARING {
            edge_marks += take(record, &mut position) as u32;
        }
        self.position = position as u32;
        let zigzag = value >> 2;
        let distance = (zigzag >> 1) as i64 ^ -((zigzag & 1) as i64);
        let target = (i64::from(self.node.0) + distance) as u32;
        Some((NodeId(target), edge_marks))
    }
}

/// How many steps the origin has, and the step of each edge. Only if steps are kept.
pub(super) fn steps(record: &[u8], out: &mut Vec<u32>) -> u32 {
    let mut position = 0;
    let first = take(record, &mut position);
    let n_edges = (first >> 1) as u32;
    take(record, &mut position);
    let n_steps = take(record, &mut position) as u32;
    let n_bytes = take(record, &mut position) as usize;

    out.clear();
    if first & 1 == 1 {
        out.extend(0..n_edges);
    } else {
        position += n_bytes;
        out.extend((0..n_edges).map(|_| take(record, &mut position) as u32));
    }
    n_steps
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads back what was written.
    fn check(keeps_steps: bool, source: u32, edges: &[(u32, u32, u32)]) {
        let mut writer = RecordWriter::new(keeps_steps);
        let mut bytes = Vec::new();
        // What was there before makes no difference.
        for round in 0..2 {
            writer.begin(NodeId(source));
            for &(target, step, marks) in edges {
                writer.push(NodeId(target), step, marks);
            }
            bytes.clear();
            writer.finish(700 + round, 300, &mut bytes);
        }

        let header = open(&bytes, NodeId(source), keeps_steps).expect("there is a record");
        assert_eq!(header.source_marks, 701);
        let mut cursor = header.cursor;
        for &(target, _, marks) in edges {
            assert_eq!(cursor.next(&bytes), Some((NodeId(target), marks)));
        }
        assert_eq!(cursor.next(&bytes), None);
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
            check(keeps_steps, last, &[(0, 299, 3), (last, 128, 2), (1, 0, 1)]);
        }
    }
}

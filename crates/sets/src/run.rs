//! Sorted states in a file.
//!
//! A file is a sequence of blocks. Each begins with its length in bytes (four bytes) and a checksum
//! (eight bytes), which covers the number of the file, all earlier blocks and this one: so what was
//! exchanged, cut off or changed is noticed by those who know the checksum of the last block. Then it
//! says how many states it has (four bytes) and which one is the last (eight bytes for each word): who
//! looks for a greater one need not look at the others.
//!
//! In a block, a state is a number `2 * i + same`, where `i` words are as in the state before (in
//! the first state of a block: zero); the difference of the next word; the other words; then its
//! bytes, unless `same` says that they are those of the state before. Numbers have seven bits in each
//! byte, the lower ones first, and the highest bit of a byte says that more follow (LEB128).

use std::io::{self, Read};

use base::{Folder, NewFile, StopReason};

/// A file that is finished.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Run {
    /// Its number, which is a part of its name.
    pub serial: u64,
    /// How many states it has.
    pub n_states: u64,
    /// How many bytes each of them has.
    pub n_bytes: usize,
    /// The checksum of its last block.
    pub checksum: u64,
}

/// How many numbers tell what is known of a file.
pub(crate) const N_NUMBERS: usize = 4;

impl Run {
    pub fn numbers(&self) -> [u64; N_NUMBERS] {
        let n_bytes = self.n_bytes as u64;
        [self.serial, self.n_states, n_bytes, self.checksum]
    }

    pub fn from_numbers(numbers: &[u64]) -> Option<Self> {
        let &[serial, n_states, n_bytes, checksum] = numbers else {
            return None;
        };
        Some(Self {
            serial,
            n_states,
            n_bytes: usize::try_from(n_bytes).ok()?,
            checksum,
        })
    }
}

/// A block is written when it is at least this long. Short blocks are passed over more often.
const BLOCK: usize = 1 << 14;

/// No block is longer: a state has at most 512 KiB, in numbers of at most ten bytes for eight.
const MAX_BLOCK: usize = 1 << 22;

const HEADER: usize = 12;

/// Why a file cannot be written.
pub(crate) fn not_written(error: &io::Error) -> StopReason {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StopReason::DiskFull,
        _ => StopReason::DiskFailure,
    }
}

/// Why a file cannot be read: one that is not there, or not whole, is not what was written.
fn not_read(error: &io::Error) -> StopReason {
    match error.kind() {
        io::ErrorKind::NotFound | io::ErrorKind::UnexpectedEof => StopReason::DamagedCheckpoint,
        _ => StopReason::DiskFailure,
    }
}

const DAMAGED: StopReason = StopReason::DamagedCheckpoint;

/// FNV-1a over words: not against malice, but against accidents. A change of a single word is always
/// noticed, because each step is a bijection.
fn checksum(before: u64, bytes: &[u8]) -> u64 {
    let mix = |hash: u64, word: u64| (hash ^ word).wrapping_mul(0x0100_0000_01b3).rotate_left(23);
    let (words, rest) = bytes.as_chunks();
    let hash = words.iter().map(|word| u64::from_le_bytes(*word));
    let hash = hash.fold(mix(before, bytes.len() as u64), mix);
    rest.iter().map(|byte| u64::from(*byte)).fold(hash, mix)
}

/// The checksum that the first block of a file continues.
fn first_checksum(serial: u64) -> u64 {
    checksum(0xcbf2_9ce4_8422_2325, &serial.to_le_bytes())
}

/// Writes a file.
pub(crate) struct RunWriter {
    file: Box<dyn NewFile>,
    run: Run,
    block: Vec<u8>,
    /// How many states the block has.
    n_in_block: u32,
    last: Vec<u64>,
    last_bytes: Vec<u8>,
}

/// How many bytes come before the states of a block, of this many words.
const fn start_of(n_words: usize) -> usize {
    HEADER + 4 + 8 * n_words
}

impl RunWriter {
    pub fn new(
        folder: &dyn Folder,
        name: &str,
        serial: u64,
        (n_words, n_bytes): (usize, usize),
    ) -> Result<Self, StopReason> {
        let file = folder.create(name).map_err(|error| not_written(&error))?;
        Ok(Self {
            file,
            run: Run {
                serial,
                n_states: 0,
                n_bytes,
                checksum: first_checksum(serial),
            },
            block: vec![0; start_of(n_words)],
            n_in_block: 0,
            last: vec![0; n_words],
            last_bytes: Vec::new(),
        })
    }

    /// Adds a state, which must be greater than the one before.
    pub fn push(&mut self, state: &[u64], bytes: &[u8]) -> Result<(), StopReason> {
        debug_assert_eq!(bytes.len(), self.run.n_bytes);
        let n_same = self.last.iter().zip(state).take_while(|(a, b)| a == b);
        let n_same = n_same.count();
        let is_same = self.n_in_block > 0 && self.last_bytes == bytes;
        put_number(&mut self.block, 2 * n_same as u64 + u64::from(is_same));

        if let Some((&word, rest)) = state[n_same..].split_first() {
            put_number(&mut self.block, word.wrapping_sub(self.last[n_same]));
            for &word in rest {
                put_number(&mut self.block, word);
            }
        }
        if !is_same {
            self.block.extend_from_slice(bytes);
            self.last_bytes.clear();
            self.last_bytes.extend_from_slice(bytes);
        }

        self.last.copy_from_slice(state);
        self.run.n_states += 1;
        self.n_in_block += 1;
        if self.block.len() >= BLOCK {
            self.write_block()?;
        }
        Ok(())
    }

    fn write_block(&mut self) -> Result<(), StopReason> {
        let len = (self.block.len() - HEADER) as u32;
        let (count, last) = self.block[HEADER..].split_at_mut(4);
        count.copy_from_slice(&self.n_in_block.to_le_bytes());
        for (out, word) in last.as_chunks_mut().0.iter_mut().zip(&self.last) {
            *out = word.to_le_bytes();
        }
        self.run.checksum = checksum(self.run.checksum, &self.block[HEADER..]);
        self.block[..4].copy_from_slice(&len.to_le_bytes());
        self.block[4..HEADER].copy_from_slice(&self.run.checksum.to_le_bytes());
        let written = self.file.write_all(&self.block);
        written.map_err(|error| not_written(&error))?;
        self.block.truncate(start_of(self.last.len()));
        self.n_in_block = 0;
        self.last.fill(0);
        Ok(())
    }

    pub fn finish(mut self) -> Result<Run, StopReason> {
        if self.n_in_block > 0 {
            self.write_block()?;
        }
        self.file.finish().map_err(|error| not_written(&error))?;
        Ok(self.run)
    }
}

/// Reads a file.
pub(crate) struct RunReader {
    file: Box<dyn Read + Send>,
    run: Run,
    checksum: u64,
    block: Vec<u8>,
    next: usize,
    /// How many states were read.
    n_read: u64,
    /// How many states of the block were not read, and the last of them.
    n_in_block: u64,
    last: Vec<u64>,
    is_first: bool,
    /// The state that was read last, if it was not the end.
    pub state: Vec<u64>,
    /// Its bytes.
    pub bytes: Vec<u8>,
    /// Is there nothing more?
    pub is_over: bool,
}

impl RunReader {
    /// A reader that has read the first state.
    pub fn new(
        folder: &dyn Folder,
        name: &str,
        run: Run,
        n_words: usize,
    ) -> Result<Self, StopReason> {
        let mut reader = Self {
            file: folder.open(name).map_err(|error| not_read(&error))?,
            run,
            checksum: first_checksum(run.serial),
            block: Vec::new(),
            next: 0,
            n_read: 0,
            n_in_block: 0,
            last: vec![0; n_words],
            is_first: true,
            state: vec![0; n_words],
            bytes: vec![0; run.n_bytes],
            is_over: false,
        };

        reader.advance()?;
        Ok(reader)
    }

    /// Reads the next state.
    pub fn advance(&mut self) -> Result<(), StopReason> {
        if self.next == self.block.len() && !self.read_block()? {
            self.is_over = true;
            let is_whole = self.n_read == self.run.n_states && self.checksum == self.run.checksum;
            return is_whole.then_some(()).ok_or(DAMAGED);
        }

        let number = self.number()?;
        let n_same = usize::try_from(number / 2).map_err(|_| DAMAGED)?;
        let is_first = std::mem::take(&mut self.is_first);
        // Only the first state of a block may be that of zeros, from which it differs in nothing.
        if n_same > self.state.len() || n_same == self.state.len() && !is_first {
            return Err(DAMAGED);
        }
        if n_same < self.state.len() {
            let difference = self.number()?;
            let word = self.state[n_same].checked_add(difference);
            self.state[n_same] = word.filter(|_| difference > 0).ok_or(DAMAGED)?;
            for position in n_same + 1..self.state.len() {
                self.state[position] = self.number()?;
            }
        }

        if number % 2 == 0 {
            let bytes = self.block.get(self.next..self.next + self.run.n_bytes);
            self.bytes.copy_from_slice(bytes.ok_or(DAMAGED)?);
            self.next += self.run.n_bytes;
        } else if is_first {
            return Err(DAMAGED);
        }
        self.n_read += 1;
        self.n_in_block = self.n_in_block.checked_sub(1).ok_or(DAMAGED)?;
        Ok(())
    }

    /// Goes on to the first state that is not less than this one.
    pub fn seek(&mut self, state: &[u64]) -> Result<(), StopReason> {
        while !self.is_over && self.state.as_slice() < state {
            if self.last.as_slice() < state {
                self.n_read += std::mem::take(&mut self.n_in_block);
                self.next = self.block.len();
            }
            self.advance()?;
        }
        Ok(())
    }

    /// Reads a block; false at the end of the file.
    fn read_block(&mut self) -> Result<bool, StopReason> {
        let mut header = [0; HEADER];
        let n_read = read_up_to(&mut *self.file, &mut header)?;
        if n_read == 0 {
            return Ok(false);
        }
        let (len, stored) = header.split_at(4);
        let len = u32::from_le_bytes(len.try_into().expect("four bytes")) as usize;
        if n_read < HEADER || len == 0 || len > MAX_BLOCK {
            return Err(DAMAGED);
        }
        self.block.resize(len, 0);
        if read_up_to(&mut *self.file, &mut self.block)? < len {
            return Err(DAMAGED);
        }

        self.checksum = checksum(self.checksum, &self.block);
        if self.checksum.to_le_bytes() != stored {
            return Err(DAMAGED);
        }
        let start = start_of(self.state.len()) - HEADER;
        let (count, last) = self.block.split_at_checked(4).ok_or(DAMAGED)?;
        let last = last.get(..start - 4).ok_or(DAMAGED)?;
        self.n_in_block = u32::from_le_bytes(count.try_into().expect("four bytes")).into();
        for (word, bytes) in self.last.iter_mut().zip(last.as_chunks().0) {
            *word = u64::from_le_bytes(*bytes);
        }
        self.next = start;
        self.is_first = true;
        self.state.fill(0);
        Ok(true)
    }

    fn number(&mut self) -> Result<u64, StopReason> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = *self.block.get(self.next).ok_or(DAMAGED)?;
            self.next += 1;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(DAMAGED)
    }
}

fn read_up_to(file: &mut dyn Read, bytes: &mut [u8]) -> Result<usize, StopReason> {
    let mut n_read = 0;
    while n_read < bytes.len() {
        match file.read(&mut bytes[n_read..]) {
            Ok(0) => break,
            Ok(n) => n_read += n,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(not_read(&error)),
        }
    }
    Ok(n_read)
}

fn put_number(out: &mut Vec<u8>, mut number: u64) {
    while number >= 0x80 {
        out.push(number as u8 | 0x80);
        number >>= 7;
    }
    out.push(number as u8);
}

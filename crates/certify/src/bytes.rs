//! Numbers and texts as bytes.

use crate::Failure;

/// Writes a number, seven bits to a byte.
pub(crate) fn put(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

/// Writes a number that may be negative; small absolute values become small numbers.
pub(crate) fn put_signed(bytes: &mut Vec<u8>, value: i64) {
    put(bytes, unsigned(value));
}

fn unsigned(value: i64) -> u64 {
    (value.cast_unsigned() << 1) ^ (value >> 63).cast_unsigned()
}

/// The same as [`put_signed`] for one number after the other.
pub(crate) fn put_all_signed(bytes: &mut Vec<u8>, values: &[i64]) {
    let all = values.iter().fold(0, |all, value| all | unsigned(*value));
    if all < 0x80 {
        bytes.extend(values.iter().map(|value| unsigned(*value) as u8));
    } else {
        values.iter().for_each(|value| put_signed(bytes, *value));
    }
}

/// Writes a text with its length.
pub(crate) fn put_text(bytes: &mut Vec<u8>, text: &str) {
    put(bytes, text.len() as u64);
    bytes.extend_from_slice(text.as_bytes());
}

/// Writes a list with its length.
pub(crate) fn put_list<T>(bytes: &mut Vec<u8>, list: &[T], mut item: impl FnMut(&mut Vec<u8>, &T)) {
    put(bytes, list.len() as u64);
    list.iter().for_each(|element| item(bytes, element));
}

pub(crate) fn put_numbers(bytes: &mut Vec<u8>, numbers: &[u32]) {
    put_list(bytes, numbers, |b, number| put(b, u64::from(*number)));
}

pub(crate) fn numbers(reader: &mut Reader<'_>) -> Result<Vec<u32>, Failure> {
    reader.list(Reader::small)
}

pub(crate) fn put_truths(bytes: &mut Vec<u8>, truths: &[bool]) {
    put_list(bytes, truths, |bytes, value| bytes.push(u8::from(*value)));
}

pub(crate) fn truths(reader: &mut Reader<'_>) -> Result<Vec<bool>, Failure> {
    reader.list(|reader| match reader.number()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::wrong("this is not a truth value")),
    })
}

/// A digest that changes when any byte does (FNV-1a, 64 bits). It tells damage from intent, no more.
pub(crate) fn digest(bytes: &[u8]) -> u64 {
    let start = 0xcbf2_9ce4_8422_2325;
    bytes.iter().fold(start, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// Bytes that are read from front to back.
pub(crate) struct Reader<'b> {
    rest: &'b [u8],
}

impl<'b> Reader<'b> {
    pub(crate) fn new(rest: &'b [u8]) -> Self {
        Self { rest }
    }

    pub(crate) fn is_at_end(&self) -> bool {
        self.rest.is_empty()
    }

    pub(crate) fn take(&mut self, n_bytes: usize) -> Result<&'b [u8], Failure> {
        if n_bytes > self.rest.len() {
            return Err(Failure::wrong("the file ends too early"));
        }
        let (taken, rest) = self.rest.split_at(n_bytes);
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn number(&mut self) -> Result<u64, Failure> {
        let mut value = 0;
        for position in 0..10 {
            let byte = self.take(1)?[0];
            let part = u64::from(byte & 0x7f);
            if position == 9 && part > 1 {
                break;
            }
            value |= part << (7 * position);
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(Failure::wrong("a number is too large"))
    }

    pub(crate) fn small(&mut self) -> Result<u32, Failure> {
        let number = self.number()?;
        u32::try_from(number).map_err(|_| Failure::wrong("a number is too large"))
    }

    pub(crate) fn signed(&mut self) -> Result<i64, Failure> {
        let number = self.number()?;
        Ok((number >> 1).cast_signed() ^ -(number & 1).cast_signed())
    }

    pub(crate) fn text(&mut self) -> Result<String, Failure> {
        let n_bytes = self.length()?;
        let bytes = self.take(n_bytes)?.to_vec();
        String::from_utf8(bytes).map_err(|_| Failure::wrong("a text is not UTF-8"))
    }

    /// A list. Every element takes a byte or more, so a length beyond the end of the file is refused
    /// before there is memory for it.
    pub(crate) fn list<T>(
        &mut self,
        mut item: impl FnMut(&mut Self) -> Result<T, Failure>,
    ) -> Result<Vec<T>, Failure> {
        let n_items = self.length()?;
        (0..n_items).map(|_| item(self)).collect()
    }

    fn length(&mut self) -> Result<usize, Failure> {
        let length = self.number()?;
        let length = usize::try_from(length).unwrap_or(usize::MAX);
        if length > self.rest.len() {
            return Err(Failure::wrong("the file ends too early"));
        }
        Ok(length)
    }
}

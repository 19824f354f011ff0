//! Keeping the state of a long search, so that it can go on later.

use std::fmt;
use std::sync::Arc;

use crate::Folder;

/// Where searches keep their state. Only the binaries know clocks and files; a search asks now and
/// then whether it is time, and hands over what it needs to go on.
pub trait Checkpoints: fmt::Debug + Send + Sync {
    /// Should the state be kept now?
    fn is_due(&self) -> bool;

    /// Keeps this state of a search in place of any earlier one, of whatever search. An empty state says
    /// that the search is done, so that nothing is kept. Says whether that was possible.
    fn keep(&self, search: u64, state: &[u64]) -> bool;

    /// The state to go on from, the first time that the search which kept it asks. One question may
    /// take several searches, of several models; none may go on from what another has seen.
    fn take(&self, search: u64) -> Option<Vec<u64>>;

    /// What processes of an earlier call have kept, if this call is not the only one that goes on from
    /// it, or not with as many processes. A call that goes on alone from what it has kept itself is
    /// process 0.
    fn inherit(&self, search: u64) -> Vec<Inherited> {
        let state = self.take(search);
        let inherited = |state| Inherited {
            process: 0,
            folder: None,
            state: Some(state),
        };
        state.map(inherited).into_iter().collect()
    }

    /// All processes have kept what was inherited themselves: it may go.
    fn release(&self) {}
}

/// What a process of an earlier call has kept.
#[derive(Debug)]
pub struct Inherited {
    /// The number of that process.
    pub process: u64,
    /// Where its files are, if not in the folder of this process.
    pub folder: Option<Arc<dyn Folder>>,
    /// The state that it has kept of the search, if it has.
    pub state: Option<Vec<u64>>,
}

/// A number that tells searches apart, from everything that they depend on.
#[must_use]
pub fn fingerprint(what: &dyn fmt::Debug) -> u64 {
    let mut hash = Fnv(0xcbf2_9ce4_8422_2325);
    fmt::write(&mut hash, format_args!("{what:?}")).expect("a hash takes everything");
    hash.0
}

/// FNV-1a.
struct Fnv(u64);

impl fmt::Write for Fnv {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        for byte in text.bytes() {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        Ok(())
    }
}

/// Appends a list, its length first.
pub fn put_list(out: &mut Vec<u64>, items: impl IntoIterator<Item = u64>) {
    let start = out.len();
    out.push(0);
    out.extend(items);
    out[start] = (out.len() - start - 1) as u64;
}

/// Takes a list from the front; nothing if it is not all there.
pub fn take_list<'a>(words: &mut &'a [u64]) -> Option<&'a [u64]> {
    let (&len, rest) = words.split_first()?;
    let list = rest.get(..usize::try_from(len).ok()?)?;
    *words = &rest[list.len()..];
    Some(list)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_follow_each_other() {
        let mut out = Vec::new();
        put_list(&mut out, [1, 2]);
        put_list(&mut out, []);
        let mut words = out.as_slice();
        assert_eq!(take_list(&mut words), Some(&[1, 2][..]));
        assert_eq!(take_list(&mut words), Some(&[][..]));
        assert_eq!(take_list(&mut words), None);
        assert_eq!(take_list(&mut &[7, 1][..]), None);
    }
}

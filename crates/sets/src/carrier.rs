//! What carries a part of a set of states.

use base::StopReason;
use store::{StateIndex, StateStore};

/// Makes a label, given zero bytes, of a state and the label it has. Says whether the state is listed.
pub type Change<'a> = dyn FnMut(&[u64], &[u8], &mut [u8]) -> bool + 'a;

/// A part of a set of states: those that one thread (or one machine) is responsible for.
///
/// A state is kept with a *label*, some bytes that mean what the search wants them to mean. Work
/// goes in rounds: messages to states are posted in any order, then they are settled, and those
/// states whose label has changed are listed. How labels and messages are combined is said by a
/// [`Rule`], under which the order of messages makes no difference. So one carrier may look states up
/// at once, and another collect messages, sort them and go through all states once.
pub trait Carrier: Send {
    /// States that were set aside, each with some bytes.
    type List: Send;

    /// Takes messages.
    ///
    /// # Errors
    /// The search has to stop.
    fn post(&mut self, rule: &dyn Rule, mail: &Mail) -> Result<(), StopReason>;

    /// Brings all messages that were posted under the rule to their states, and lists the states for
    /// which the rule says so.
    ///
    /// # Errors
    /// The search has to stop. Then the labels are those from before the first of the messages, which
    /// are lost, or the carrier cannot say its position.
    fn settle(&mut self, rule: &dyn Rule) -> Result<Self::List, StopReason>;

    /// Takes the last settlement back, if the carrier can say its position: another part has failed.
    fn take_back(&mut self);

    /// Gives each state a label of `n_label` bytes, made of the one it has, and lists those for
    /// which `change` says so, with the bytes that the rule takes.
    ///
    /// # Errors
    /// The search has to stop.
    fn sweep(
        &mut self,
        rule: &dyn Rule,
        n_label: usize,
        change: &mut Change<'_>,
    ) -> Result<Self::List, StopReason>;

    /// Copies the next states of a list into the batch; none at the end of the list.
    ///
    /// # Errors
    /// The search has to stop.
    fn read(&mut self, list: &mut Self::List, batch: &mut Batch) -> Result<(), StopReason>;

    /// How many states a list has.
    fn len_of(&self, list: &Self::List) -> u64;

    /// Begins to read a list again.
    fn rewind(&mut self, list: &mut Self::List);

    /// A list is not needed any more.
    fn discard(&mut self, list: Self::List);

    /// How many states there are.
    fn len(&self) -> u64;

    /// Are there none?
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The bytes of memory in use.
    fn memory(&self) -> u64;

    /// Where everything is that was settled, and a list, as numbers from which
    /// [`Carrier::restore`] goes on after the program has ended; nothing for carriers that end with
    /// it.
    fn position(&mut self, list: Option<&Self::List>) -> Option<Vec<u64>>;

    /// The last position is kept: what belongs to earlier ones may go.
    fn commit(&mut self);

    /// Goes on from a position with labels and lists of this many bytes; the list that belongs to it, or
    /// an empty one. Nothing if these are not the numbers of such a position.
    fn restore(&mut self, position: &[u64], size: (usize, usize)) -> Option<Self::List>;

    /// Lists all states with their labels, and lets every other carrier of this kind read that list and
    /// the one that belongs to a position, if there is one.
    ///
    /// # Errors
    /// The search has to stop.
    fn lend(&mut self, list: Option<Self::List>) -> Result<[Self::List; 2], StopReason>;

    /// The search is over: nothing is needed any more.
    fn clear(&mut self);
}

/// How labels and messages are combined.
pub trait Rule: Sync {
    /// How many bytes a message has. Of two messages to one state the first bytes, this many, are united
    /// as sets of bits; the others, this many, are added as numbers that stay at 255 once they are there.
    fn mail_size(&self) -> (usize, usize);

    /// How many bytes a state is listed with.
    fn list_size(&self) -> usize;

    /// May a message be for a state that is not there yet? It begins with a label of this many bytes
    /// that are zero.
    fn new_label(&self) -> Option<usize>;

    /// Brings a message to a label. Says whether the state is to be listed.
    fn join(&self, label: &mut [u8], mail: &[u8]) -> bool;

    /// Takes the bytes that a listed state is listed with.
    fn take(&self, label: &mut [u8], listed: &mut [u8]);
}

/// Unites two messages under a rule with such messages.
pub(crate) fn unite((n_sets, _): (usize, usize), mail: &mut [u8], other: &[u8]) {
    for (position, (own, more)) in mail.iter_mut().zip(other).enumerate() {
        *own = if position < n_sets {
            *own | more
        } else {
            own.saturating_add(*more)
        };
    }
}

/// This many states ahead, the processor is asked for what it will need.
const AHEAD: usize = 16;

/// Enters the states of messages into a table; says what each is called, and whether it is new.
pub(crate) fn enter(
    states: &mut StateStore,
    mail: &Mail,
    mut entered: impl FnMut(StateIndex, bool, &[u8]),
) -> Result<(), StopReason> {
    let hashes = mail.iter().map(|(state, _)| StateStore::hash(state));
    let hashes: Vec<u64> = hashes.collect();

    let mut rows = mail.iter();

    // The rows of the next chunk are fetched from memory while this one is entered.
    for (number, now) in hashes.chunks(AHEAD).enumerate() {
        {
            let index = states.table();
            let next = hashes.iter().skip((number + 1) * AHEAD).take(AHEAD);
            next.for_each(|hash| index.prefetch(*hash));
            for hash in now {
                let _ = states.guess(&index, *hash);
            }
        }
        for ((state, message), hash) in rows.by_ref().take(now.len()).zip(now) {
            let found = states.insert(state, *hash);
            let (name, is_new) = found.ok_or(StopReason::StateLimit)?;
            entered(name, is_new, message);
        }
    }
    Ok(())
}

/// States, each with some bytes.
#[derive(Clone, Debug, Default)]
pub struct Batch {
    n_words: usize,
    n_bytes: usize,
    words: Vec<u64>,
    bytes: Vec<u8>,
}

/// Messages to states.
pub type Mail = Batch;

impl Batch {
    /// How many states are handled together: enough for the lock around them not to matter.
    pub const SIZE: usize = 2048;

    /// None, of states with this many words and bytes.
    #[must_use]
    pub fn new(n_words: usize, n_bytes: usize) -> Self {
        Self {
            n_words,
            n_bytes,
            ..Self::default()
        }
    }

    /// Adds a state, and returns its bytes, which are zero.
    pub fn push(&mut self, state: &[u64]) -> &mut [u8] {
        debug_assert_eq!(state.len(), self.n_words);
        self.words.extend_from_slice(state);
        let start = self.bytes.len();
        self.bytes.resize(start + self.n_bytes, 0);
        &mut self.bytes[start..]
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.words.len() / self.n_words
    }

    /// Are there none?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Forgets all.
    pub fn clear(&mut self) {
        self.words.clear();
        self.bytes.clear();
    }

    /// Appends everything to bytes that go to another process.
    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        out.reserve(self.words.len() * 8 + self.bytes.len());
        out.extend(self.words.iter().flat_map(|word| word.to_le_bytes()));
        out.extend_from_slice(&self.bytes);
    }

    /// Takes states of the same size from bytes in place of its own. False if these cannot be such
    /// states.
    pub(crate) fn read(&mut self, bytes: &[u8]) -> bool {
        let size = self.n_words * 8 + self.n_bytes;
        let n_states = bytes.len() / size;
        let (words, rest) = bytes.split_at(n_states * self.n_words * 8);
        let words = words.as_chunks().0.iter();
        self.clear();
        self.words
            .extend(words.map(|word| u64::from_le_bytes(*word)));
        self.bytes.extend_from_slice(rest);
        bytes.len().is_multiple_of(size)
    }

    /// The states with their bytes.
    pub fn iter(&self) -> impl Iterator<Item = (&[u64], &[u8])> {
        let bytes = |position| &self.bytes[position * self.n_bytes..][..self.n_bytes];
        let states = self.words.chunks_exact(self.n_words).enumerate();
        states.map(move |(position, state)| (state, bytes(position)))
    }
}

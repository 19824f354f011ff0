//! A part of a set that is kept in memory, in a hash table.

use base::StopReason;
use store::{StateIndex, StateStore};

use crate::carrier::{Batch, Carrier, Change, Mail, Rule, enter};

/// A part of a set that is kept in memory.
#[derive(Debug)]
pub struct InMemory {
    states: StateStore,
    n_words: usize,
    n_label: usize,
    labels: Vec<u8>,
    /// The states to be listed, each once.
    queue: Vec<StateIndex>,
    is_queued: Vec<bool>,
}

/// States that were set aside.
#[derive(Debug)]
pub struct MemoryList {
    states: Vec<StateIndex>,
    n_bytes: usize,
    bytes: Vec<u8>,
    next: usize,
}

impl InMemory {
    /// No states of this many words.
    #[must_use]
    pub fn new(n_words: usize) -> Self {
        Self {
            states: StateStore::new(n_words),
            n_words,
            n_label: 0,
            labels: Vec::new(),
            queue: Vec::new(),
            is_queued: Vec::new(),
        }
    }

    /// Takes the queue as a list.
    fn list(&mut self, rule: &dyn Rule) -> MemoryList {
        let n_bytes = rule.list_size();
        let states = std::mem::take(&mut self.queue);
        let mut bytes = vec![0; states.len() * n_bytes];
        for (position, &state) in states.iter().enumerate() {
            let label = &mut self.labels[state as usize * self.n_label..][..self.n_label];
            rule.take(label, &mut bytes[position * n_bytes..][..n_bytes]);
            self.is_queued[state as usize] = false;
        }
        MemoryList {
            states,
            n_bytes,
            bytes,
            next: 0,
        }
    }

    fn enqueue(&mut self, state: StateIndex) {
        if !std::mem::replace(&mut self.is_queued[state as usize], true) {
            self.queue.push(state);
        }
    }
}

impl Carrier for InMemory {
    type List = MemoryList;

    fn post(&mut self, rule: &dyn Rule, mail: &Mail) -> Result<(), StopReason> {
        if let Some(n_label) = rule.new_label() {
            self.n_label = n_label;
        }

        let Self {
            states,
            n_label,
            labels,
            queue,
            is_queued,
            ..
        } = self;

        enter(states, mail, |name, is_new, message| {
            if is_new {
                assert!(rule.new_label().is_some(), "the set is closed under steps");
                labels.resize(labels.len() + *n_label, 0);
                is_queued.push(false);
            }
            let label = &mut labels[name as usize * *n_label..][..*n_label];
            if rule.join(label, message) && !std::mem::replace(&mut is_queued[name as usize], true)
            {
                queue.push(name);
            }
        })
    }

    fn settle(&mut self, rule: &dyn Rule) -> Result<MemoryList, StopReason> {
        Ok(self.list(rule))
    }

    fn take_back(&mut self) {}

    fn sweep(
        &mut self,
        rule: &dyn Rule,
        n_label: usize,
        change: &mut Change<'_>,
    ) -> Result<MemoryList, StopReason> {
        let old = std::mem::take(&mut self.labels);
        self.labels = vec![0; self.states.len() * n_label];
        let mut words = vec![0; self.n_words];
        for name in 0..self.states.len() {
            self.states.read(name as StateIndex, &mut words);
            let before = &old[name * self.n_label..][..self.n_label];
            let after = &mut self.labels[name * n_label..][..n_label];
            if change(&words, before, after) {
                self.enqueue(name as StateIndex);
            }
        }
        self.n_label = n_label;
        Ok(self.list(rule))
    }

    fn read(&mut self, list: &mut MemoryList, batch: &mut Batch) -> Result<(), StopReason> {
        *batch = Batch::new(self.n_words, list.n_bytes);
        let mut words = vec![0; self.n_words];
        let end = list.states.len().min(list.next + Batch::SIZE);
        for position in list.next..end {
            self.states.read(list.states[position], &mut words);
            let bytes = &list.bytes[position * list.n_bytes..][..list.n_bytes];
            batch.push(&words).copy_from_slice(bytes);
        }
        list.next = end;
        Ok(())
    }

    fn len_of(&self, list: &MemoryList) -> u64 {
        list.states.len() as u64
    }

    fn rewind(&mut self, list: &mut MemoryList) {
        list.next = 0;
    }

    fn discard(&mut self, _list: MemoryList) {}

    fn len(&self) -> u64 {
        self.states.len() as u64
    }

    fn memory(&self) -> u64 {
        let per_state = self.labels.capacity() + self.is_queued.capacity();
        self.states.memory() + per_state as u64 + self.queue.capacity() as u64 * 4
    }

    fn position(&mut self, _list: Option<&MemoryList>) -> Option<Vec<u64>> {
        None
    }

    fn commit(&mut self) {}

    fn restore(&mut self, _position: &[u64], _size: (usize, usize)) -> Option<MemoryList> {
        None
    }

    fn lend(&mut self, list: Option<MemoryList>) -> Result<[MemoryList; 2], StopReason> {
        drop(list);
        // There is no position to go on from.
        Err(StopReason::DamagedCheckpoint)
    }

    fn clear(&mut self) {}
}

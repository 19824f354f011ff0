//! A part of a set that is kept on disk.
//!
//! States with their labels are in sorted files (*tables*), of which the later one is right if a state
//! is in several. Messages are collected in memory, united as far as they are for the same state, and
//! written down sorted when there are many (*delayed duplicate detection*: Roscoe, *Model-checking CSP*,
//! 1994; Korf, *Best-first frontier search with delayed duplicate detection*, AAAI 2004). When they are
//! settled, one pass through all tables makes the next one, of the states whose labels have changed. It
//! is merged with the one before as long as that is not much larger, so there are few tables, and a state
//! is written again only as often as the number of states doubles (O'Neil, Cheng, Gawlick, O'Neil, *The
//! log-structured merge-tree*, Acta Informatica 1996, DOI 10.1007/s002360050048).
//!
//! Files are never changed. Those that the last position names stay until the next position is
//! kept, so whatever happens in between, a search can go on from there.

use std::sync::Arc;

use base::{Budget, Folder, StopReason};
use store::StateStore;

use crate::carrier::{Batch, Carrier, Change, Mail, Rule, enter, unite};
use crate::run::{N_NUMBERS, Run, RunReader, RunWriter};

/// A part of a set that is kept on disk.
#[derive(Debug)]
pub struct OnDisk {
    folder: Arc<dyn Folder>,
    /// How the names of its files begin.
    prefix: String,
    budget: Budget,
    n_words: usize,
    /// Those with later labels last.
    tables: Vec<Run>,
    n_states: u64,
    /// Both before the last settlement, if that can be taken back.
    before: Option<(Vec<Run>, u64)>,
    collected: Collected,
    max_bytes: u64,
    /// Messages that were written down.
    spilled: Vec<Run>,
    next_serial: u64,
    /// The files of the last position.
    pinned: Vec<u64>,
    /// Those of them that are not needed any more.
    garbage: Vec<u64>,
    /// The files of the position that was asked for last.
    proposed: Vec<u64>,
}

/// States that were set aside, sorted.
#[derive(Default)]
pub struct DiskList {
    /// One file; all tables, if it is the list of all states.
    runs: Vec<Run>,
    reader: Option<Tables>,
}

/// This many files with messages are read at once.
const MAX_FILES: usize = 32;

/// A table is merged with one that is not this many times larger. Fewer tables are read, and more is
/// written, if it is large.
const GROWTH: u64 = 3;

/// There are never this many tables, as each has several times as many states as the next.
const MAX_TABLES: usize = 64;

impl DiskList {
    fn of(run: Run) -> Self {
        Self {
            runs: vec![run],
            reader: None,
        }
    }
}

/// Files that are read together; if a state is in several, the last one is right.
struct Tables(Vec<RunReader>);

impl Tables {
    /// Goes on to a state, which must be greater than the last one; its label, if it is there.
    fn find(&mut self, state: &[u64]) -> Result<Option<&[u8]>, StopReason> {
        let mut newest = None;
        for (position, table) in self.0.iter_mut().enumerate() {
            table.seek(state)?;
            if !table.is_over && table.state == state {
                newest = Some(position);
            }
        }
        Ok(newest.map(|newest| self.0[newest].bytes.as_slice()))
    }

    /// Which file has the least state, and of those with that the last one; nothing at the end.
    fn least(&self) -> Option<usize> {
        let heads = self.0.iter().enumerate().rev();
        let heads = heads.filter(|(_, table)| !table.is_over);
        let least = heads.min_by(|(_, a), (_, b)| a.state.cmp(&b.state));
        least.map(|(newest, _)| newest)
    }

    /// Goes on from the least state, which is in this file.
    fn advance(&mut self, newest: usize) -> Result<(), StopReason> {
        let (older, rest) = self.0.split_at_mut(newest);
        let (table, newer) = rest.split_first_mut().expect("it is one of them");
        for other in older.iter_mut().chain(newer) {
            if !other.is_over && other.state == table.state {
                other.advance()?;
            }
        }
        table.advance()
    }
}

/// Between two looks at the budget.
const ROWS_UNWATCHED: u64 = 4096;

impl OnDisk {
    /// No states of this many words, in files whose names begin with `prefix`, with a limit on the bytes
    /// of memory. Files of that kind that are there belong to a search that goes on from a position, or
    /// to one that is not there any more.
    #[must_use]
    pub fn new(
        folder: Arc<dyn Folder>,
        prefix: String,
        n_words: usize,
        max_bytes: u64,
        budget: Budget,
    ) -> Self {
        Self {
            folder,
            prefix,
            budget,
            n_words,
            tables: Vec::new(),
            n_states: 0,
            before: None,
            collected: Collected::new(n_words),
            max_bytes,
            spilled: Vec::new(),
            next_serial: 0,
            pinned: Vec::new(),
            garbage: Vec::new(),
            proposed: Vec::new(),
        }
    }

    fn name(&self, serial: u64) -> String {
        format!("{}{serial:06}.run", self.prefix)
    }

    fn writer(&mut self, n_bytes: usize) -> Result<RunWriter, StopReason> {
        let serial = self.next_serial;
        self.next_serial += 1;
        let name = self.name(serial);
        RunWriter::new(&*self.folder, &name, serial, (self.n_words, n_bytes))
    }

    fn reader(&self, run: Run) -> Result<RunReader, StopReason> {
        let name = self.name(run.serial);
        RunReader::new(&*self.folder, &name, run, self.n_words)
    }

    fn remove(&mut self, run: Run) {
        if self.pinned.contains(&run.serial) {
            self.garbage.push(run.serial);
        } else {
            self.folder.remove(&self.name(run.serial));
        }
    }

    /// Writes down the messages in memory.
    fn spill(&mut self, rule: &dyn Rule) -> Result<(), StopReason> {
        // Many runs become one first: each needs an open file when they are merged.
        if self.spilled.len() >= MAX_FILES {
            let runs = self.spilled.clone();
            let mut writer = self.writer(sum(rule.mail_size()))?;
            let mut inbox = Inbox::new(rule.mail_size(), self.readers(&runs)?, None);
            while inbox.next()? {
                writer.push(&inbox.state, &inbox.mail)?;
            }
            self.spilled = vec![writer.finish()?];
            runs.into_iter().for_each(|run| self.remove(run));
        }

        let mut writer = self.writer(sum(rule.mail_size()))?;
        let mut sorted = self.collected.sort();
        while let Some((state, mail)) = sorted.current() {
            writer.push(state, mail)?;
            sorted.next += 1;
        }
        self.spilled.push(writer.finish()?);

        self.collected = Collected::new(self.n_words);
        Ok(())
    }

    fn readers(&self, runs: &[Run]) -> Result<Vec<RunReader>, StopReason> {
        runs.iter().map(|run| self.reader(*run)).collect()
    }

    /// Puts a table after the others, which stay for a while.
    fn add_table(&mut self, table: Run, n_new: u64) -> Result<(), StopReason> {
        if table.n_states == 0 {
            self.remove(table);
            return Ok(());
        }
        self.before = Some((self.tables.clone(), self.n_states));
        self.n_states += n_new;
        self.tables.push(table);
        while let [.., older, newer] = self.tables.as_slice()
            && older.n_states < GROWTH * newer.n_states
        {
            let merged = self.tables.len() - 2;
            self.merge_from(merged)?;
        }
        Ok(())
    }

    /// Makes one table of those from some position on.
    fn merge_from(&mut self, first: usize) -> Result<(), StopReason> {
        let runs = self.tables[first..].to_vec();
        let mut writer = self.writer(runs[0].n_bytes)?;
        let mut tables = Tables(self.readers(&runs)?);
        let mut n_rows = 0_u64;
        while let Some(newest) = tables.least() {
            n_rows += 1;
            if n_rows.is_multiple_of(ROWS_UNWATCHED) {
                self.budget.check(0, 0)?;
            }
            let table = &tables.0[newest];
            writer.push(&table.state, &table.bytes)?;
            tables.advance(newest)?;
        }
        self.tables.truncate(first);
        self.tables.push(writer.finish()?);
        // Those that the settlement has made itself are needed by none.
        let was_there = |run: &Run| match &self.before {
            Some((before, _)) => before.contains(run),
            None => false,
        };
        let new: Vec<Run> = runs.into_iter().filter(|run| !was_there(run)).collect();
        new.into_iter().for_each(|run| self.remove(run));
        Ok(())
    }

    /// The last settlement is not taken back any more.
    fn remove_old_tables(&mut self) {
        let (before, _) = self.before.take().unwrap_or_default();
        for run in before {
            if !self.tables.contains(&run) {
                self.remove(run);
            }
        }
    }

    /// Makes the next table and a list, given the messages.
    fn merge(&mut self, rule: &dyn Rule, mut inbox: Inbox) -> Result<DiskList, StopReason> {
        let n_label = self.tables.first().map_or(0, |table| table.n_bytes);
        let n_label = rule.new_label().unwrap_or(n_label);
        let mut writer = self.writer(n_label)?;
        let mut listed = self.writer(rule.list_size())?;
        let mut tables = Tables(self.readers(&self.tables)?);
        let (mut label, mut bytes) = (vec![0; n_label], vec![0; rule.list_size()]);
        let (mut n_rows, mut n_new) = (0_u64, 0);

        while inbox.next()? {
            n_rows += 1;
            if n_rows.is_multiple_of(ROWS_UNWATCHED) {
                self.budget.check(0, 0)?;
            }
            let before = tables.find(&inbox.state)?;
            match before {
                Some(before) => label.copy_from_slice(before),
                None => {
                    // Outside an exploration all states are known, or a file is not what it was.
                    rule.new_label().ok_or(StopReason::DamagedCheckpoint)?;
                    label.fill(0);
                    n_new += 1;
                }
            }
            if rule.join(&mut label, &inbox.mail) {
                rule.take(&mut label, &mut bytes);
                listed.push(&inbox.state, &bytes)?;
            }
            if before != Some(label.as_slice()) {
                writer.push(&inbox.state, &label)?;
            }
        }

        let list = DiskList::of(listed.finish()?);
        let table = writer.finish()?;
        let added = self.add_table(table, n_new);
        added.inspect_err(|_| self.take_back())?;
        Ok(list)
    }
}

fn sum((n_sets, n_counts): (usize, usize)) -> usize {
    n_sets + n_counts
}

impl Carrier for OnDisk {
    type List = DiskList;

    fn post(&mut self, rule: &dyn Rule, mail: &Mail) -> Result<(), StopReason> {
        self.collected.add(rule.mail_size(), mail)?;
        if self.collected.memory() > self.max_bytes {
            self.spill(rule)?;
        }
        Ok(())
    }

    fn settle(&mut self, rule: &dyn Rule) -> Result<DiskList, StopReason> {
        self.remove_old_tables();
        if self.collected.is_empty() && self.spilled.is_empty() {
            return Ok(DiskList::default());
        }
        let sorted = self.collected.sort();
        let readers = self.readers(&self.spilled)?;
        let inbox = Inbox::new(rule.mail_size(), readers, Some(sorted));
        let list = self.merge(rule, inbox)?;
        let spilled = std::mem::take(&mut self.spilled);
        spilled.into_iter().for_each(|run| self.remove(run));
        Ok(list)
    }

    fn take_back(&mut self) {
        if let Some((before, n_states)) = self.before.take() {
            let after = std::mem::replace(&mut self.tables, before);
            self.n_states = n_states;
            for run in after {
                if !self.tables.contains(&run) {
                    self.remove(run);
                }
            }
        }
    }

    fn sweep(
        &mut self,
        rule: &dyn Rule,
        n_label: usize,
        change: &mut Change<'_>,
    ) -> Result<DiskList, StopReason> {
        self.remove_old_tables();
        let mut writer = self.writer(n_label)?;
        let mut listed = self.writer(rule.list_size())?;
        let (mut label, mut bytes) = (vec![0; n_label], vec![0; rule.list_size()]);

        let mut tables = Tables(self.readers(&self.tables)?);
        let mut n_rows = 0_u64;
        while let Some(newest) = tables.least() {
            n_rows += 1;
            if n_rows.is_multiple_of(ROWS_UNWATCHED) {
                self.budget.check(0, 0)?;
            }
            let table = &tables.0[newest];
            label.fill(0);
            if change(&table.state, &table.bytes, &mut label) {
                rule.take(&mut label, &mut bytes);
                listed.push(&table.state, &bytes)?;
            }
            writer.push(&table.state, &label)?;
            tables.advance(newest)?;
        }
        if n_rows != self.n_states {
            return Err(StopReason::DamagedCheckpoint);
        }

        let list = DiskList::of(listed.finish()?);
        let tables = vec![writer.finish()?];
        self.before = Some((std::mem::replace(&mut self.tables, tables), n_rows));
        Ok(list)
    }

    fn read(&mut self, list: &mut DiskList, batch: &mut Batch) -> Result<(), StopReason> {
        let Some(run) = list.runs.first() else {
            batch.clear();
            return Ok(());
        };
        *batch = Batch::new(self.n_words, run.n_bytes);
        let reader = match &mut list.reader {
            Some(reader) => reader,
            none => none.insert(Tables(self.readers(&list.runs)?)),
        };
        while let Some(newest) = reader.least()
            && batch.len() < Batch::SIZE
        {
            let row = &reader.0[newest];
            batch.push(&row.state).copy_from_slice(&row.bytes);
            reader.advance(newest)?;
        }
        Ok(())
    }

    fn len_of(&self, list: &DiskList) -> u64 {
        list.runs.iter().map(|run| run.n_states).sum()
    }

    fn rewind(&mut self, list: &mut DiskList) {
        list.reader = None;
    }

    fn discard(&mut self, list: DiskList) {
        list.runs.into_iter().for_each(|run| self.remove(run));
    }

    fn len(&self) -> u64 {
        self.n_states
    }

    fn memory(&self) -> u64 {
        self.collected.memory()
    }

    fn position(&mut self, list: Option<&DiskList>) -> Option<Vec<u64>> {
        let listed = list.and_then(|list| list.runs.first());
        let tables = self.tables.iter().map(Some);
        let runs: Vec<Option<&Run>> = std::iter::once(listed).chain(tables).collect();
        self.proposed = runs.iter().flatten().map(|run| run.serial).collect();
        let mut numbers = vec![self.next_serial, self.n_states];
        for run in runs {
            numbers.push(u64::from(run.is_some()));
            numbers.extend(run.map_or([0; N_NUMBERS], |run| run.numbers()));
        }
        Some(numbers)
    }

    fn commit(&mut self) {
        self.pinned = std::mem::take(&mut self.proposed);
        for serial in std::mem::take(&mut self.garbage) {
            if self.pinned.contains(&serial) {
                self.garbage.push(serial);
            } else {
                self.folder.remove(&self.name(serial));
            }
        }
    }

    fn restore(&mut self, position: &[u64], size: (usize, usize)) -> Option<DiskList> {
        let (&[next_serial, n_states], runs) = position.split_first_chunk()?;
        let mut runs = runs.chunks(1 + N_NUMBERS).map(|numbers| {
            let (is_there, numbers) = numbers.split_first()?;
            let run = Run::from_numbers(numbers)?;
            Some((*is_there != 0).then_some(run))
        });
        let listed = runs.next()??;
        let tables: Option<Vec<Run>> = runs.map(Option::flatten).collect();
        let tables = tables?;
        let has_size = |run: &Run, n_bytes| run.n_bytes == n_bytes && run.serial < next_serial;
        let are_good = tables.iter().all(|run| has_size(run, size.0))
            && listed.iter().all(|run| has_size(run, size.1));
        if !are_good || tables.len() > MAX_TABLES {
            return None;
        }
        let serials = tables.iter().chain(&listed).map(|run| run.serial);
        self.pinned = serials.collect();
        self.tables = tables;
        self.n_states = n_states;
        self.next_serial = next_serial;

        // What the search has written after it had kept its position.
        let (pinned, prefix) = (&self.pinned, &self.prefix);
        let kept: Vec<String> = pinned.iter().map(|serial| self.name(*serial)).collect();
        for name in self.folder.names().ok()? {
            if name.starts_with(prefix.as_str()) && !kept.contains(&name) {
                self.folder.remove(&name);
            }
        }
        Some(listed.map_or_else(DiskList::default, DiskList::of))
    }

    fn lend(&mut self, list: Option<DiskList>) -> Result<[DiskList; 2], StopReason> {
        let open = |runs: Vec<Run>| {
            let reader = Some(Tables(self.readers(&runs)?));
            Ok(DiskList { runs, reader })
        };
        let listed = list.map(|list| list.runs).unwrap_or_default();
        Ok([open(self.tables.clone())?, open(listed)?])
    }

    fn clear(&mut self) {
        for name in self.folder.names().unwrap_or_default() {
            if name.starts_with(&self.prefix) {
                self.folder.remove(&name);
            }
        }
    }
}

/// Messages in memory, one for each state.
#[derive(Debug)]
struct Collected {
    states: StateStore,
    n_words: usize,
    n_bytes: usize,
    bytes: Vec<u8>,
}

impl Collected {
    fn new(n_words: usize) -> Self {
        Self {
            states: StateStore::new(n_words),
            n_words,
            n_bytes: 0,
            bytes: Vec::new(),
        }
    }

    fn is_empty(&self) -> bool {
        self.states.is_empty()
    }

    fn add(&mut self, size: (usize, usize), mail: &Mail) -> Result<(), StopReason> {
        let n_bytes = sum(size);
        self.n_bytes = n_bytes;
        let bytes = &mut self.bytes;
        enter(&mut self.states, mail, |name, is_new, message| {
            if is_new {
                bytes.extend_from_slice(message);
            } else {
                let own = &mut bytes[name as usize * n_bytes..][..n_bytes];
                unite(size, own, message);
            }
        })
    }

    /// The bytes in use now and when it will be sorted.
    fn memory(&self) -> u64 {
        let sorted = self.states.len() * (self.n_words * 8 + self.n_bytes + 20);
        self.states.memory() + self.bytes.capacity() as u64 + sorted as u64
    }

    /// All messages in the order of their states; then there are none.
    fn sort(&mut self) -> Sorted {
        let n_states = self.states.len();
        let states = std::mem::replace(&mut self.states, StateStore::new(self.n_words));
        let mut words = vec![0; n_states * self.n_words];
        for (name, state) in words.chunks_exact_mut(self.n_words).enumerate() {
            states.read(name as u32, state);
        }
        drop(states);

        // The first word is at hand, and mostly decides.
        let state = |name: u32| &words[name as usize * self.n_words..][..self.n_words];
        let mut order: Vec<(u64, u32)> = (0..n_states as u32).map(|n| (state(n)[0], n)).collect();
        order.sort_unstable_by(|a, b| a.0.cmp(&b.0).then_with(|| state(a.1).cmp(state(b.1))));
        let order = order.into_iter().map(|(_, name)| name).collect();
        Sorted {
            order,
            n_words: self.n_words,
            words,
            n_bytes: self.n_bytes,
            bytes: std::mem::take(&mut self.bytes),
            next: 0,
        }
    }
}

/// Messages in memory in the order of their states.
struct Sorted {
    order: Vec<u32>,
    n_words: usize,
    words: Vec<u64>,
    n_bytes: usize,
    bytes: Vec<u8>,
    next: usize,
}

impl Sorted {
    fn current(&self) -> Option<(&[u64], &[u8])> {
        let name = *self.order.get(self.next)? as usize;
        let state = &self.words[name * self.n_words..][..self.n_words];
        let mail = &self.bytes[name * self.n_bytes..][..self.n_bytes];
        Some((state, mail))
    }
}

/// All messages in the order of their states, united.
struct Inbox {
    size: (usize, usize),
    files: Vec<RunReader>,
    memory: Option<Sorted>,
    /// The state that the message is for.
    state: Vec<u64>,
    mail: Vec<u8>,
}

impl Inbox {
    fn new(size: (usize, usize), files: Vec<RunReader>, memory: Option<Sorted>) -> Self {
        Self {
            size,
            files,
            memory,
            state: Vec::new(),
            mail: vec![0; sum(size)],
        }
    }

    /// Goes on to the next message; false if there is none.
    fn next(&mut self) -> Result<bool, StopReason> {
        let files = self.files.iter().filter(|file| !file.is_over);
        let heads = files.map(|file| file.state.as_slice());
        let memory = self.memory.as_ref().and_then(Sorted::current);
        let heads = heads.chain(memory.map(|(state, _)| state));
        let Some(least) = heads.min() else {
            return Ok(false);
        };
        self.state.clear();
        self.state.extend_from_slice(least);
        self.mail.fill(0);

        for file in self.files.iter_mut().filter(|file| !file.is_over) {
            if file.state == self.state {
                unite(self.size, &mut self.mail, &file.bytes);
                file.advance()?;
            }
        }
        if let Some(memory) = &mut self.memory
            && let Some((state, mail)) = memory.current()
            && state == self.state
        {
            unite(self.size, &mut self.mail, mail);
            memory.next += 1;
        }
        Ok(true)
    }
}

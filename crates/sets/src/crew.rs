//! Threads that work on the parts of a set together, in one process or in several.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard};

use base::{Progress, Shares, Snapshot, StopReason, put_list, take_list};
use store::StateStore;

use crate::carrier::{Batch, Carrier, Mail, Rule};
use crate::graph::{Expand, Successors};
use crate::team::Team;

/// How much a search has stored, for those who watch it.
#[derive(Debug, Default)]
pub struct Meter {
    /// States, as of the last round.
    pub n_states: AtomicU64,
    /// Bytes of memory.
    pub memory: AtomicU64,
}

const NO_PANIC: &str = "no thread panics while it holds a part of the set";

fn locked<C>(part: &Mutex<C>) -> MutexGuard<'_, C> {
    part.lock().expect(NO_PANIC)
}

/// For each part of this process, states that were set aside.
pub(crate) struct Lists<C: Carrier> {
    pub own: Vec<C::List>,
    /// How many there are in all processes.
    pub n_states: u64,
}

/// What to do with a listed state: its words, its bytes, room for its steps, and where messages go.
pub(crate) type Visit<'a, G> = dyn Fn(&mut G, &[u64], &[u8], &mut Successors, &mut Outbox) -> Result<(), StopReason>
    + Sync
    + 'a;

/// What a thread does for its part: the number of the part, its graph, what it is given, and what to call
/// now and then.
type Work<'a, G, I, T> =
    dyn Fn(usize, &mut G, I, &mut dyn FnMut()) -> Result<T, StopReason> + Sync + 'a;

/// [`crate::carrier::Change`] for all parts, which collects something in each.
type Relabel<'a, T> = dyn Fn(&mut T, &[u64], &[u8], &mut [u8]) -> bool + Sync + 'a;

/// One thread for each part of the set, together with those of other processes.
pub(crate) struct Crew<'a, G, C> {
    pub graphs: Vec<G>,
    /// The parts of this process.
    pub parts: Vec<Mutex<C>>,
    pub team: Team<'a>,
    /// Mail of others that came after this process had ended its phase could not be taken.
    pub failure: Option<StopReason>,
    pub meter: &'a Meter,
    pub progress: &'a mut dyn Progress,
    /// What is being done, and in which round.
    pub phase: (&'static str, u64),
    pub shares: Option<Shares>,
}

/// Messages to states, by the part that the state belongs to.
pub(crate) struct Outbox {
    mail: Vec<Mail>,
    /// What ends the search, if it ends here: words for all processes.
    pub end: Option<Vec<u64>>,
    /// Room for the tracked marks of an edge, and for those with what lies before it.
    pub tracked: [Vec<u8>; 2],
}

impl Outbox {
    fn new(n_parts: usize, n_words: usize, rule: &dyn Rule) -> Self {
        Self {
            mail: vec![empty_mail(n_words, rule); n_parts],
            end: None,
            tracked: Default::default(),
        }
    }

    /// A message to a state, which is zero at first.
    pub fn put(&mut self, state: &[u64]) -> &mut [u8] {
        let n_parts = self.mail.len();
        let part = if n_parts == 1 {
            0
        } else {
            // The lower bits say where a part keeps a state.
            (StateStore::hash(state) >> 32) as usize % n_parts
        };
        self.mail[part].push(state)
    }

    /// Posts what is at least so much, to all or to the parts of this process; what is for others is
    /// forgotten then, as they know it themselves.
    fn post<C: Carrier>(
        &mut self,
        rule: &dyn Rule,
        (team, parts): (&Team<'_>, &[Mutex<C>]),
        at_least: usize,
        to_all: bool,
    ) -> Result<(), StopReason> {
        for (part, mail) in self.mail.iter_mut().enumerate() {
            if mail.len() < at_least {
                continue;
            }
            match team.place_of(part) {
                Ok(part) => locked(&parts[part]).post(rule, mail)?,
                Err(process) if to_all => team.send(process, part, mail)?,
                Err(_) => {}
            }
            mail.clear();
        }
        Ok(())
    }
}

fn empty_mail(n_words: usize, rule: &dyn Rule) -> Mail {
    let (n_sets, n_counts) = rule.mail_size();
    Mail::new(n_words, n_sets + n_counts)
}

/// What a sweep collects in each part, as words for all processes.
pub(crate) trait Tally: Send + Default {
    fn words(&self) -> Vec<u64>;
    fn of(words: &[u64]) -> Option<Self>;
}

impl Tally for () {
    fn words(&self) -> Vec<u64> {
        Vec::new()
    }

    fn of(words: &[u64]) -> Option<Self> {
        words.is_empty().then_some(())
    }
}

impl Tally for u64 {
    fn words(&self) -> Vec<u64> {
        vec![*self]
    }

    fn of(words: &[u64]) -> Option<Self> {
        let &[number] = words else { return None };
        Some(number)
    }
}

/// Which of two things were seen.
impl Tally for (bool, bool) {
    fn words(&self) -> Vec<u64> {
        vec![self.0.into(), self.1.into()]
    }

    fn of(words: &[u64]) -> Option<Self> {
        let &[first, second] = words else { return None };
        Some((first != 0, second != 0))
    }
}

impl Tally for Vec<u64> {
    fn words(&self) -> Vec<u64> {
        self.clone()
    }

    fn of(words: &[u64]) -> Option<Self> {
        Some(words.to_vec())
    }
}

/// What only other processes can have caused, by saying what none of them says.
const DIFFER: StopReason = StopReason::ProcessesDiffer;

impl<G: Expand, C: Carrier> Crew<'_, G, C> {
    /// Lets every thread do something for its part, given something; the first one is this thread.
    fn each<I: Send, T: Send>(
        &mut self,
        inputs: Vec<I>,
        work: &Work<'_, G, I, T>,
    ) -> Vec<Result<T, StopReason>> {
        let snapshot = self.snapshot();
        let (meter, progress) = (self.meter, &mut *self.progress);
        let mut report = || {
            progress.report(&Snapshot {
                memory_bytes: meter.memory.load(Ordering::Relaxed),
                ..snapshot
            });
        };

        std::thread::scope(|scope| {
            let mut members = self.graphs.iter_mut().zip(inputs).enumerate();
            let (_, (own, input)) = members.next().expect("there is a part");
            let others: Vec<_> = members
                .map(|(number, (graph, input))| {
                    scope.spawn(move || work(number, graph, input, &mut || {}))
                })
                .collect();
            let own = work(0, own, input, &mut report);
            let others = others.into_iter().map(joined);
            [own].into_iter().chain(others).collect()
        })
    }

    fn snapshot(&self) -> Snapshot {
        Snapshot {
            phase: self.phase.0,
            n_states: self.meter.n_states.load(Ordering::Relaxed),
            n_transitions: 0,
            memory_bytes: 0,
            depth: self.phase.1,
            bound: None,
            shares: self.shares,
        }
    }

    /// Visits the listed states and posts the messages. The words with which the search has ended in
    /// one of them, if it has.
    pub fn visit(
        &mut self,
        lists: &mut Lists<C>,
        rule: &dyn Rule,
        visit: &Visit<'_, G>,
    ) -> Result<Option<Vec<u64>>, StopReason> {
        self.team.begin()?;
        let parts = std::mem::take(&mut self.parts);
        let (n_words, _) = self.widths();
        let (team, is_over) = (self.team, AtomicBool::new(false));
        let failure = Mutex::new(None);

        let receive = |from: usize| {
            let _guard = team.guard();
            let mut post = |part: usize, mail: &Mail| {
                let posted = locked(&parts[part]).post(rule, mail);
                if let Err(reason) = posted {
                    is_over.store(true, Ordering::Relaxed);
                    failure.lock().expect(NO_PANIC).get_or_insert(reason);
                }
            };
            let heard = team.listen(from, &mut empty_mail(n_words, rule), &mut post);
            if !matches!(&heard, Ok(Ok(words)) if words.is_empty()) {
                is_over.store(true, Ordering::Relaxed);
            }
            heard
        };
        let (own, told, heard) = std::thread::scope(|scope| {
            let receive = &receive;
            let receivers: Vec<_> = team
                .others()
                .map(|from| scope.spawn(move || receive(from)))
                .collect();

            let stage = (team, parts.as_slice(), &is_over);
            let own = self.visit_own(stage, lists, rule, visit);
            let told = team.tell(&own);
            (own, told, receivers.into_iter().map(joined).collect())
        });

        self.parts = parts;
        self.failure = failure.into_inner().expect(NO_PANIC);
        let all = self.team.conclude(own, told, heard)?;
        let mut ends = all.into_iter().filter(|words| !words.is_empty());
        Ok(ends.next())
    }

    /// Visits the listed states of this process. The words with which the search has ended, or none.
    fn visit_own(
        &mut self,
        (team, parts, is_over): (Team<'_>, &[Mutex<C>], &AtomicBool),
        lists: &mut Lists<C>,
        rule: &dyn Rule,
        visit: &Visit<'_, G>,
    ) -> Result<Vec<u64>, StopReason> {
        let (n_words, n_mark_words) = self.widths();
        let meter = self.meter;
        let work = |number: usize, graph: &mut G, list: &mut C::List, tick: &mut dyn FnMut()| {
            let _guard = team.guard();
            let mut out = Outbox::new(team.n_parts(), n_words, rule);
            let mut successors = Successors::new(n_words, n_mark_words);
            let mut batch = Batch::default();
            let mut visit_all = || {
                while !is_over.load(Ordering::Relaxed) {
                    locked(&parts[number]).read(list, &mut batch)?;
                    if batch.is_empty() {
                        out.post(rule, (&team, parts), 1, true)?;
                        break;
                    }
                    for (state, bytes) in batch.iter() {
                        visit(graph, state, bytes, &mut successors, &mut out)?;
                        if let Some(end) = out.end.take() {
                            is_over.store(true, Ordering::Relaxed);
                            return Ok(end);
                        }
                    }
                    out.post(rule, (&team, parts), Batch::SIZE, true)?;

                    // One thread shows the progress of all.
                    if number == 0 {
                        let memory = parts.iter().map(|part| locked(part).memory()).sum();
                        meter.memory.store(memory, Ordering::Relaxed);
                        tick();
                    }
                }
                Ok(Vec::new())
            };
            visit_all().inspect_err(|_| is_over.store(true, Ordering::Relaxed))
        };

        let ends = self.each(lists.own.iter_mut().collect(), &work);
        let ends: Result<Vec<_>, StopReason> = ends.into_iter().collect();
        let mut ends = ends?.into_iter().filter(|end| !end.is_empty());
        Ok(ends.next().unwrap_or_default())
    }

    /// Posts messages that come from no state, which all processes know, to the parts of this one.
    pub fn post(&mut self, rule: &dyn Rule, write: &mut dyn FnMut(&mut Outbox)) {
        let mut out = Outbox::new(self.team.n_parts(), self.widths().0, rule);
        write(&mut out);
        let posted = out.post(rule, (&self.team, &self.parts), 1, false);
        self.failure = self.failure.or(posted.err());
    }

    /// Settles what was posted. If that fails for one part, it is as if it had not been tried.
    pub fn settle(&mut self, rule: &dyn Rule) -> Result<Lists<C>, StopReason> {
        let parts = std::mem::take(&mut self.parts);
        let inputs = vec![(); parts.len()];
        let results = match self.failure.take() {
            Some(reason) => vec![Err(reason)],
            None => self.each(inputs, &|number, _, (), _| {
                locked(&parts[number]).settle(rule)
            }),
        };
        self.parts = parts;

        let failure = results
            .iter()
            .find_map(|result| result.as_ref().err().copied());
        let counted = self.count(&results);
        match self.team.gather(failure.map_or(Ok(counted), Err)) {
            Ok(all) => {
                let n_states = self.recount(&all)?;
                let own = results.into_iter().flatten().collect();
                Ok(Lists { own, n_states })
            }
            Err(reason) => {
                for (part, result) in self.parts.iter_mut().zip(results) {
                    if let Ok(list) = result {
                        let part = part.get_mut().expect(NO_PANIC);
                        part.discard(list);
                        part.take_back();
                    }
                }
                Err(reason)
            }
        }
    }

    /// Changes all labels and lists some states; what the sweep through each part has collected comes
    /// with it, for all processes.
    pub fn sweep<T: Tally>(
        &mut self,
        rule: &dyn Rule,
        n_label: usize,
        change: &Relabel<'_, T>,
    ) -> Result<(Lists<C>, Vec<T>), StopReason> {
        let parts = std::mem::take(&mut self.parts);
        let inputs = vec![(); parts.len()];
        let results = self.each(inputs, &|number, _, (), _| {
            let mut tally = T::default();
            let mut change =
                |state: &[u64], old: &[u8], new: &mut [u8]| change(&mut tally, state, old, new);
            let list = locked(&parts[number]).sweep(rule, n_label, &mut change)?;
            Ok((list, tally))
        });
        self.parts = parts;

        let results: Result<Vec<_>, StopReason> = results.into_iter().collect();
        let results = self.failure.take().map_or(results, Err);
        let (own, said) = match results {
            Err(reason) => (Vec::new(), Err(reason)),
            Ok(results) => {
                let (own, tallies): (Vec<_>, Vec<T>) = results.into_iter().unzip();
                let parts = self.parts_mut().zip(&own);
                let mut words = vec![parts.map(|(part, list)| part.len_of(list)).sum()];
                for tally in tallies {
                    put_list(&mut words, tally.words());
                }
                (own, Ok(words))
            }
        };

        let (mut n_states, mut all) = (0, Vec::new());
        for words in self.team.gather(said)? {
            let (n_own, mut words) = words.split_first().ok_or(DIFFER)?;
            n_states += n_own;
            while !words.is_empty() {
                let tally = take_list(&mut words).and_then(T::of);
                all.push(tally.ok_or(DIFFER)?);
            }
        }
        Ok((Lists { own, n_states }, all))
    }

    /// What the others want to know about a settlement: how many states are listed, how many there are,
    /// in the smallest and in the largest part, the memory in use and the bytes sent.
    fn count(&mut self, results: &[Result<C::List, StopReason>]) -> Vec<u64> {
        let n_sent = self.team.n_sent();
        let lists = results.iter().flatten();
        let parts = self.parts_mut().zip(lists);
        let n_listed = parts.map(|(part, list)| part.len_of(list)).sum();
        let sizes: Vec<u64> = self.parts_mut().map(|part| part.len()).collect();
        let memory = self.parts_mut().map(|part| part.memory()).sum();
        self.meter.memory.fetch_max(memory, Ordering::Relaxed);

        let least = sizes.iter().copied().min().unwrap_or(0);
        let most = sizes.iter().copied().max().unwrap_or(0);
        vec![n_listed, sizes.into_iter().sum(), least, most, n_sent]
    }

    /// Takes what all have counted; how many states are listed.
    fn recount(&mut self, all: &[Vec<u64>]) -> Result<u64, StopReason> {
        let mut shares = Shares {
            least: u64::MAX,
            ..Shares::default()
        };

        let (mut n_listed, mut n_states) = (0, 0);

        for counted in all {
            let &[listed, states, least, most, n_sent] = counted.as_slice() else {
                return Err(DIFFER);
            };
            n_listed += listed;
            n_states += states;
            shares.n_processes += 1;
            shares.least = shares.least.min(least);
            shares.most = shares.most.max(most);
            shares.n_sent += n_sent;
        }

        self.meter.n_states.store(n_states, Ordering::Relaxed);
        self.shares = (shares.n_processes > 1).then_some(shares);
        Ok(n_listed)
    }

    pub fn parts_mut(&mut self) -> impl Iterator<Item = &mut C> {
        self.parts
            .iter_mut()
            .map(|part| part.get_mut().expect(NO_PANIC))
    }

    /// How many words states and marks have.
    pub fn widths(&self) -> (usize, usize) {
        (self.graphs[0].n_words(), self.graphs[0].n_mark_words())
    }

    pub fn discard(&mut self, lists: Lists<C>) {
        for (part, list) in self.parts_mut().zip(lists.own) {
            part.discard(list);
        }
    }
}

fn joined<T>(thread: std::thread::ScopedJoinHandle<'_, T>) -> T {
    match thread.join() {
        Ok(result) => result,
        Err(panic) => std::panic::resume_unwind(panic),
    }
}

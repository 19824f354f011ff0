//! Going on from what earlier processes have kept, however many they were.
//!
//! A position is kept by all processes of a search, each with its part of it. Those who go on say which
//! positions they have found, of which earlier process each, and take the latest one of which all parts
//! are there. If each process has found its own, it goes on from that. Else all states are sent to the
//! parts that they belong to now, with their labels, as messages that a rule puts in their places; what
//! was kept before stays until all processes have kept the result. Then a new *generation* begins, which
//! is a part of the names of files: what is written never takes the place of what may be needed.

use base::{StopReason, put_list, take_list};

use crate::carrier::Carrier;
use crate::crew::Lists;
use crate::graph::Expand;
use crate::rules::{Adopt, Meet};
use crate::search::{KIND, Keeper, Search, Stage};

/// What an earlier process has kept, as this one has found it.
#[derive(Clone, Debug)]
pub struct Earlier {
    /// The number of that process.
    pub process: u64,
    /// Are its files where this process has its own?
    pub is_own: bool,
    /// The positions that it has kept of this search, if it has.
    pub positions: Option<Vec<u64>>,
}

/// What tells positions apart, the latest one last: a generation, a place in the search (an exploration
/// is before all alternatives), and how many processes had how many parts each.
pub(crate) type Era = (u64, (u64, u64), u64, u64);

/// A part of a position that a process has found.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Offer {
    era: Era,
    /// The process that has kept it.
    process: u64,
    n_unexplored: u64,
    /// Where this process has found it.
    source: u64,
    is_own: bool,
}

const N_OFFER: usize = 9;

impl Offer {
    fn of_position(mut position: &[u64], source: usize, is_own: bool) -> Option<Self> {
        let header = take_list(&mut position)?;
        let &[
            kind,
            generation,
            n_processes,
            process,
            n_parts,
            alternative,
            round,
            _,
            n_unexplored,
        ] = header
        else {
            return None;
        };

        (kind == KIND && process < n_processes).then_some(Self {
            era: (
                generation,
                (alternative.wrapping_add(1), round),
                n_processes,
                n_parts,
            ),
            process,
            n_unexplored,
            source: source as u64,
            is_own,
        })
    }

    fn words(&self) -> [u64; N_OFFER] {
        let (generation, (alternative, round), n_processes, n_parts) = self.era;
        let era = [generation, alternative, round, n_processes, n_parts];
        let [a, b, c, d, e] = era;
        let is_own = u64::from(self.is_own);
        [
            a,
            b,
            c,
            d,
            e,
            self.process,
            self.n_unexplored,
            self.source,
            is_own,
        ]
    }

    fn of_words(words: [u64; N_OFFER]) -> Self {
        let [a, b, c, d, e, process, n_unexplored, source, is_own] = words;
        Self {
            era: (a, (b, c), d, e),
            process,
            n_unexplored,
            source,
            is_own: is_own != 0,
        }
    }
}

/// The position that all processes go on from.
pub(crate) struct Chosen<'a> {
    era: Era,
    n_unexplored: u64,
    /// Does each process go on from its own part of it?
    pub is_plain: bool,
    /// Has this process kept nothing else?
    is_alone: bool,
    /// What this process takes care of: where it has found it, and the position.
    own: Vec<(Offer, &'a [u64])>,
}

impl Chosen<'_> {
    /// The position of this process.
    pub fn plain(&self) -> &[u64] {
        self.own.first().map_or(&[], |(_, position)| position)
    }
}

/// For each part all states and those that are listed; and how many states these are.
type Lent<C> = (Vec<[<C as Carrier>::List; 2]>, u64);

const DAMAGED: StopReason = StopReason::DamagedCheckpoint;
const DIFFER: StopReason = StopReason::ProcessesDiffer;

/// How many different numbers below a limit there are.
fn n_different(numbers: impl Iterator<Item = u64>, limit: u64) -> u64 {
    let mut numbers: Vec<u64> = numbers.filter(|number| *number < limit).collect();
    numbers.sort_unstable();
    numbers.dedup();
    numbers.len() as u64
}

impl<G: Expand, C: Carrier> Search<'_, G, C> {
    /// The latest position that is there as a whole, if there is one. The number tells this search from
    /// others.
    pub(crate) fn choose<'e>(
        &mut self,
        search: u64,
        earlier: &'e [Earlier],
    ) -> Result<Option<Chosen<'e>>, StopReason> {
        let found = found(earlier);
        self.has_positions = earlier.iter().any(|earlier| earlier.positions.is_some());
        let start = [search, self.crew.team.n_parts() as u64];
        let said = found.as_ref().ok_or(DAMAGED).map(|found| {
            let mut said = start.to_vec();
            put_list(&mut said, earlier.iter().map(|earlier| earlier.process));
            said.extend(found.iter().flat_map(|(offer, _)| offer.words()));
            said
        });
        let (mut present, mut offers) = (Vec::new(), Vec::new());
        for (process, words) in self.crew.team.gather(said)?.iter().enumerate() {
            let mut words = words.strip_prefix(&start).ok_or(DIFFER)?;
            present.extend_from_slice(take_list(&mut words).ok_or(DIFFER)?);
            let (words, []) = words.as_chunks::<N_OFFER>() else {
                return Err(DIFFER);
            };
            offers.extend(words.iter().map(|words| (process, Offer::of_words(*words))));
        }

        let generations = offers.iter().map(|(_, offer)| offer.era.0);
        self.generation = generations.max().map_or(0, |last| last.saturating_add(1));
        let Some(era) = latest(&offers) else {
            let known = offers.iter().map(|(_, offer)| offer.process);
            let known: Vec<u64> = known.chain(present).collect();
            let lacks = |n: u64| n_different(known.iter().copied(), n) < n;
            // A process that was there and has kept nothing had not begun, or was done. What one has
            // kept that is not there must not be forgotten.
            if offers.iter().any(|(_, offer)| lacks(offer.era.2)) {
                return Err(StopReason::FilesMissing);
            }
            return Ok(None);
        };
        let chosen = self.chosen(era, &offers, found.unwrap_or_default());
        let kept = chosen.own.iter().filter(|(offer, _)| offer.is_own);
        if !chosen.is_plain || self.crew.team.n_processes() > 1 {
            self.last_kept = kept.map(|(_, position)| position.to_vec()).collect();
        }
        if chosen.is_plain {
            self.generation = era.0;
        }
        Ok(Some(chosen))
    }

    /// Who takes care of which part of the position: the first that has found it.
    fn chosen<'e>(
        &self,
        era: Era,
        offers: &[(usize, Offer)],
        found: Vec<(Offer, &'e [u64])>,
    ) -> Chosen<'e> {
        let mut taken: Vec<(usize, Offer)> = Vec::new();
        for (process, offer) in offers.iter().filter(|(_, offer)| offer.era == era) {
            if taken
                .iter()
                .all(|(_, other)| other.process != offer.process)
            {
                taken.push((*process, *offer));
            }
        }

        let team = &self.crew.team;
        let has_own =
            |(process, offer): &(usize, Offer)| offer.is_own && *process as u64 == offer.process;
        let is_same = (era.2, era.3) == (team.n_processes() as u64, self.crew.graphs.len() as u64);
        let is_mine = |offer: &Offer| taken.contains(&(team.own(), *offer));

        Chosen {
            era,
            n_unexplored: taken.first().map_or(0, |(_, offer)| offer.n_unexplored),
            is_plain: is_same && taken.iter().all(has_own),
            is_alone: found.iter().filter(|(offer, _)| offer.is_own).count() == 1,
            own: found
                .into_iter()
                .filter(|(offer, _)| is_mine(offer))
                .collect(),
        }
    }

    /// Goes on from what this process has kept.
    ///
    /// Files of a later position that not all had kept go now. The search comes to that place again, and
    /// others may keep it before this process does; so this process must not say any more that it has.
    pub(crate) fn go_on(&mut self, chosen: &Chosen<'_>) -> Result<(Stage, Lists<C>), StopReason> {
        let mut alone = Vec::new();
        put_list(&mut alone, chosen.plain().iter().copied());
        let keeps = |keeper: &dyn Keeper| chosen.is_alone || keeper.keep(&alone);
        let restored = if self.keeper.is_none_or(keeps) {
            self.restore(chosen.plain()).ok_or(DAMAGED)
        } else {
            Err(StopReason::DiskFailure)
        };

        let n_listed = restored.as_ref().map(|(_, lists)| vec![lists.n_states]);
        let n_listed = self.gather_sum(n_listed.map_err(|reason| *reason))?;
        let (stage, mut lists) = restored?;
        lists.n_states = n_listed;
        self.check_states(stage)?;
        Ok((stage, lists))
    }

    /// Sends all states of a position to where they belong now, and keeps the result.
    pub(crate) fn adopt(&mut self, chosen: &Chosen<'_>) -> Result<(Stage, Lists<C>), StopReason> {
        let (_, (alternative, round), ..) = chosen.era;
        let found = self.stage_at(alternative.wrapping_sub(1), round);
        let (stage, size) = found.ok_or(DAMAGED)?;
        let lent = self.borrow(chosen, size);

        // A process that failed says so in the phase in which the others wait for it.
        let said = lent
            .as_ref()
            .map(|(lent, n_states)| vec![lent.len() as u64, *n_states]);
        let all = self.crew.team.gather(said.map_err(|reason| *reason))?;
        let n_states: u64 = all.iter().filter_map(|words| words.get(1)).sum();
        let n_lent = all.iter().filter_map(|words| words.first()).max();
        self.counts.n_unexplored = chosen.n_unexplored;

        let is_exploring = matches!(stage, Stage::Explore(_));
        let meet = is_exploring.then(|| self.meeting());
        let rule = Adopt {
            n_label: size.0,
            meet,
        };
        let mut lent = lent
            .map_or_else(|_| Vec::new(), |(lent, _)| lent)
            .into_iter();
        for _ in 0..n_lent.copied().unwrap_or(0) {
            let lists = match lent.next() {
                Some(lists) => lists,
                None => self.crew.parts_mut().next().ok_or(DAMAGED)?.lend(None)?,
            };
            let starts = [0, meet.map_or(0, Meet::size)];
            for (list, start) in lists.into_iter().zip(starts) {
                self.send_all(list, &rule, start)?;
            }
        }

        let lists = self.crew.settle(&rule)?;

        // If states are missing, the files do not belong together.
        let n_own = self.crew.parts_mut().map(|part| part.len()).sum();
        if self.gather_sum(Ok(vec![n_own]))? != n_states {
            return Err(DAMAGED);
        }
        let kept = (self.notes(), self.counts);
        self.keep(stage, is_exploring.then_some(&lists), &kept)?;
        Ok((stage, lists))
    }

    /// Sends the states of a list with bytes that belong at some place of their labels.
    fn send_all(&mut self, list: C::List, rule: &Adopt, start: usize) -> Result<(), StopReason> {
        let mut lists = Lists {
            own: vec![list],
            n_states: 0,
        };
        let visit = |graph: &mut G, state: &[u64], bytes: &[u8], _: &mut _, out: &mut _| {
            let out: &mut crate::crew::Outbox = out;
            if !graph.is_state(state) {
                return Err(DAMAGED);
            }
            out.put(state)[start..][..bytes.len()].copy_from_slice(bytes);
            Ok(())
        };
        self.crew.visit(&mut lists, rule, &visit).map(|_| ())
    }

    /// Opens what this process takes care of. What was counted with it counts here.
    fn borrow(&mut self, chosen: &Chosen<'_>, size: (usize, usize)) -> Result<Lent<C>, StopReason> {
        let (mut lent, mut n_states) = (Vec::new(), 0);

        for (offer, position) in &chosen.own {
            let mut words = *position;
            let header = take_list(&mut words).ok_or(DAMAGED)?;
            self.counts.n_nodes += header.get(7).copied().unwrap_or(0);

            for number in 0..chosen.era.3 {
                let position = take_list(&mut words).ok_or(DAMAGED)?;
                let source = (!offer.is_own).then_some(offer.source as usize);
                let mut part = (self.open)(source, chosen.era.0, number as usize);
                let list = part.restore(position, size).ok_or(DAMAGED)?;
                n_states += part.len();
                lent.push(part.lend(Some(list))?);
                self.inherited.push(part);
            }
            for _ in 0..chosen.era.3 {
                let notes = take_list(&mut words).ok_or(DAMAGED)?;
                let is_good = self.crew.graphs[0].add_notes(notes);
                is_good.then_some(()).ok_or(DAMAGED)?;
            }
        }

        Ok((lent, n_states))
    }
}

/// What this process has found; nothing if these are not positions.
fn found(earlier: &[Earlier]) -> Option<Vec<(Offer, &[u64])>> {
    let mut found: Vec<(Offer, &[u64])> = Vec::new();
    for (source, earlier) in earlier.iter().enumerate() {
        let Some(mut words) = earlier.positions.as_deref() else {
            continue;
        };
        while !words.is_empty() {
            let position = take_list(&mut words)?;
            let offer = Offer::of_position(position, source, earlier.is_own)?;
            // At a place that it comes to again, a search keeps the same; what it has kept last is first.
            if found.iter().all(|(other, _)| *other != offer) {
                found.push((offer, position));
            }
        }
    }
    Some(found)
}

/// The latest position of which all processes have kept their parts.
fn latest(offers: &[(usize, Offer)]) -> Option<Era> {
    let is_whole = |era: &Era| {
        let same = offers.iter().filter(|(_, offer)| offer.era == *era);
        n_different(same.map(|(_, offer)| offer.process), era.2) == era.2
    };
    let eras = offers.iter().map(|(_, offer)| offer.era);
    eras.filter(is_whole).max()
}

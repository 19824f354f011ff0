//! Reachability and fair cycles by operations on sets.
//!
//! First everything is explored, breadth first. Then states and edges are removed from what was found
//! until nothing changes. In a round, each node of the rest collects the tracked marks of all edges
//! of the rest that lie before it. A node stays if it has a predecessor and the marks before it meet
//! all demands; an edge stays if both its ends do and the marks before it, with its own, meet its
//! conditions (see [`crate::conjunction`]). What is left is not empty iff there is a fair cycle:
//! `SOUNDNESS.md` has the proof.
//!
//! This is the algorithm *one way catch them young* with forward reachability only, so that no
//! predecessors are stored: Kesten, Pnueli, Raviv, *Algorithmic verification of linear temporal logic
//! specifications*, ICALP 1998, DOI 10.1007/BFb0055036; Fisler, Fraer, Kamhi, Vardi, Yang, *Is there a
//! best symbolic cycle-detection algorithm?*, TACAS 2001; Černá, Pelánek, *Distributed explicit fair
//! cycle detection*, SPIN 2003, DOI 10.1007/3-540-44829-2_4.

use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use base::{Links, Progress, StopReason, put_list, take_list};
use omega::Acceptance;

use crate::carrier::{Carrier, Rule};
use crate::conjunction::{Conjunction, conjunctions};
use crate::crew::{Crew, Lists, Meter, Outbox, Visit};
use crate::graph::{Expand, Remark, Successors};
use crate::inheritance::Earlier;
use crate::rules::{Collect, Meet, Planes, Scope, Trim, add, has, size_of};
use crate::team::Team;

/// What is looked for.
#[derive(Clone, Copy, Debug)]
pub struct Question<'a> {
    /// A cycle whose marks this accepts; without it, only what the graph remarks.
    pub acceptance: Option<&'a Acceptance>,
    /// For each copy, may such a cycle pass through it?
    pub recurrent: &'a [bool],
    /// Are states to be explored of which no copy can be reached?
    pub all_states: bool,
}

/// Is a fair cycle for this acceptance looked for in few passes? Else it has too many alternatives.
#[must_use]
pub fn is_supported(acceptance: &Acceptance) -> bool {
    conjunctions(acceptance).is_some()
}

/// What a search has found.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// Nothing: it is not there.
    Nothing,
    /// The graph had something to remark at the end of this shortest path.
    Met {
        /// The path.
        path: Path,
        /// Is it what was looked for?
        is_goal: bool,
    },
    /// The graph cannot say what its initial states are.
    NoStart,
    /// A path to a cycle, and the cycle.
    Cycle {
        /// It ends where the cycle begins.
        stem: Path,
        /// It ends where it begins.
        cycle: Path,
    },
}

/// A path: states with the numbers of the steps that leave them, and the state at its end.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Path {
    /// The states but the last one, and their steps.
    pub steps: Vec<(Vec<u64>, u32)>,
    /// The last one.
    pub end: Vec<u64>,
}

/// What was explored.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// States.
    pub n_states: u64,
    /// Copies of states.
    pub n_nodes: u64,
    /// States whose steps were not looked at.
    pub n_unexplored: u64,
}

/// Where a search keeps its position between rounds.
pub trait Keeper {
    /// Is it time to keep it?
    fn is_due(&self) -> bool;

    /// Keeps positions in place of those before; none for a search that is done. Says whether that was
    /// possible.
    fn keep(&self, position: &[u64]) -> bool;

    /// All processes have kept what earlier ones had kept.
    fn release(&self);
}

/// Opens a part, given which of the [`Earlier`] it belongs to (or none for a new one), its generation
/// and its number.
pub type Open<'a, C> = dyn Fn(Option<usize>, u64, usize) -> C + 'a;

/// A search on sets.
pub struct Search<'a, G, C> {
    pub(crate) crew: Crew<'a, G, C>,
    question: Question<'a>,
    alternatives: Vec<Conjunction>,
    pub(crate) keeper: Option<&'a dyn Keeper>,
    pub(crate) open: &'a Open<'a, C>,
    /// Nodes and states of this process only, what was not explored for all.
    pub(crate) counts: Counts,
    /// What this process has kept of the last position that all have kept, if there are others.
    pub(crate) last_kept: Vec<Vec<u64>>,
    /// Are there positions that this process or those before it have kept?
    pub(crate) has_positions: bool,
    /// How often states were shared out again.
    pub(crate) generation: u64,
    /// The parts from which states came that all processes have not kept again yet.
    pub(crate) inherited: Vec<C>,
}

/// Where a search is between two rounds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Stage {
    /// This many steps away from the initial states.
    Explore(u64),
    /// Some alternative, after this many rounds.
    Remove(usize, u64),
}

/// What tells these numbers from those of other searches.
pub(crate) const KIND: u64 = 5;

/// The place where the graph had something to remark.
#[derive(Clone, Debug)]
pub(crate) struct Met {
    /// Nothing for what has no initial states.
    state: Option<Vec<u64>>,
    is_initial: bool,
    remark: Remark,
}

impl Met {
    /// As words for all processes: it is the first thing that one of them has met in a state.
    fn words(state: &[u64], remark: Remark) -> Vec<u64> {
        let step = remark.step.map_or(u64::MAX, u64::from);
        let start = [u64::from(remark.is_goal), step];
        start.into_iter().chain(state.iter().copied()).collect()
    }

    fn of(words: &[u64]) -> Option<Self> {
        let (&[is_goal, step], state) = words.split_first_chunk()?;
        Some(Self {
            state: Some(state.to_vec()),
            is_initial: false,
            remark: Remark {
                step: u32::try_from(step).ok(),
                is_goal: is_goal != 0,
            },
        })
    }
}

/// The other processes are not what they say they are.
const DIFFER: StopReason = StopReason::ProcessesDiffer;

impl<'a, G: Expand, C: Carrier> Search<'a, G, C> {
    /// A search with a part for each graph and one thread for each part, together with other processes
    /// if there are links to them; these have as many parts each.
    ///
    /// # Panics
    /// If there is no graph, or the acceptance is not supported ([`is_supported`]), or it is not said
    /// of each copy whether a cycle may pass through it.
    pub fn new(
        question: Question<'a>,
        graphs: Vec<G>,
        open: &'a Open<'a, C>,
        links: Option<&'a dyn Links>,
        meter: &'a Meter,
        progress: &'a mut dyn Progress,
        keeper: Option<&'a dyn Keeper>,
    ) -> Self {
        assert!(!graphs.is_empty());
        let alternatives = question.acceptance.map(conjunctions);
        let alternatives = alternatives.map(|found| found.expect("the acceptance is supported"));
        let n_recurrent = question.acceptance.map(|_| question.recurrent.len());
        assert!(n_recurrent.is_none_or(|n| n == graphs[0].n_copies()));

        Self {
            crew: Crew {
                team: Team::new(links, graphs.len()),
                graphs,
                parts: Vec::new(),
                failure: None,
                meter,
                progress,
                phase: ("exploring", 0),
                shares: None,
            },
            question,
            alternatives: alternatives.unwrap_or_default(),
            keeper,
            open,
            counts: Counts::default(),
            last_kept: Vec::new(),
            has_positions: false,
            generation: 0,
            inherited: Vec::new(),
        }
    }

    /// Searches, from the beginning or from the latest position of which everything is there. The number
    /// tells this search from others: all processes must search for the same.
    ///
    /// # Errors
    /// The search was stopped.
    pub fn run(&mut self, search: u64, earlier: &[Earlier]) -> Result<Answer, StopReason> {
        let chosen = self.choose(search, earlier)?;
        let new_part = |part| Mutex::new((self.open)(None, self.generation, part));
        self.crew.parts = (0..self.crew.graphs.len()).map(new_part).collect();
        let (stage, lists) = match chosen {
            None => (Stage::Explore(0), None),
            Some(chosen) => {
                let (stage, lists) = if chosen.is_plain {
                    self.go_on(&chosen)?
                } else {
                    self.adopt(&chosen)?
                };
                (stage, Some(lists))
            }
        };

        let (first, round) = match stage {
            Stage::Explore(depth) => {
                if let Some(met) = self.explore(depth, lists)? {
                    return self.answer_to(met);
                }
                (0, None)
            }
            Stage::Remove(alternative, round) => (alternative, Some(round)),
        };

        for position in first..self.alternatives.len() {
            let alternative = self.alternatives[position].clone();
            let round = round.filter(|_| position == first);
            if self.remove(position, round, &alternative)? {
                return self.find_cycle(&alternative);
            }
        }
        Ok(Answer::Nothing)
    }

    /// The graphs, what was explored, and the end of everything that was kept for a search that is
    /// done. The first graph has counted what was counted in other processes; if these are lost, the
    /// counts are not those of the search, which has to stop.
    pub fn finish(mut self, is_done: bool) -> (Vec<G>, Counts, Option<StopReason>) {
        let n_states = self.crew.parts_mut().map(|part| part.len()).sum();
        let mut words = vec![n_states, self.counts.n_nodes];
        for notes in self.notes() {
            put_list(&mut words, notes);
        }
        let own = self.crew.team.own();
        let all = self.crew.team.gather(Ok(words));
        // Others that were stopped may need the position.
        if is_done && all.is_ok() && self.forget() {
            let parts = self.inherited.iter_mut();
            parts.chain(self.crew.parts_mut()).for_each(Carrier::clear);
        }
        let mut counts = Counts {
            n_states,
            ..self.counts
        };
        let failure = all.as_ref().err().copied();
        for (process, words) in all.unwrap_or_default().iter().enumerate() {
            let Some((&[n_states, n_nodes], mut notes)) = words.split_first_chunk() else {
                continue;
            };
            if process != own {
                counts.n_states += n_states;
                counts.n_nodes += n_nodes;
                while let Some(notes) = take_list(&mut notes) {
                    self.crew.graphs[0].add_notes(notes);
                }
            }
        }
        (self.crew.graphs, counts, failure)
    }

    /// Says that no position needs files any more, before they go. Was that possible?
    fn forget(&self) -> bool {
        let Some(keeper) = self.keeper.filter(|_| self.has_positions) else {
            return true;
        };
        let is_forgotten = keeper.keep(&[]);
        if is_forgotten && !self.inherited.is_empty() {
            keeper.release();
        }
        is_forgotten
    }

    /// The sum of the numbers that the processes say.
    pub(crate) fn gather_sum(
        &mut self,
        said: Result<Vec<u64>, StopReason>,
    ) -> Result<u64, StopReason> {
        let all = self.crew.team.gather(said)?;
        Ok(all.iter().flatten().sum())
    }

    pub(crate) fn n_copies(&self) -> usize {
        self.crew.graphs[0].n_copies()
    }

    pub(crate) fn meeting(&self) -> Meet {
        Meet {
            n_copies: self.n_copies(),
            all_states: self.question.all_states,
        }
    }

    /// Explores, level by level, from some level on. Ends where the graph has something to remark.
    fn explore(
        &mut self,
        mut depth: u64,
        lists: Option<Lists<C>>,
    ) -> Result<Option<Met>, StopReason> {
        let rule = self.meeting();
        let mut lists = match lists {
            Some(lists) => lists,
            None => match self.meet_initial(&rule)? {
                Ok(lists) => lists,
                Err(met) => return Ok(Some(met)),
            },
        };

        let n_nodes = AtomicU64::new(self.counts.n_nodes);
        let visit = meet(rule, true, |state, listed, successors| {
            let n_listed = size_of(listed) - u64::from(has(listed, rule.n_copies));
            n_nodes.fetch_add(n_listed, Ordering::Relaxed);
            let remark = successors.remark?;
            Some(Met::words(state, remark))
        });
        while lists.n_states > 0 {
            self.crew.phase = ("exploring", depth);
            self.counts.n_nodes = n_nodes.load(Ordering::Relaxed);
            let kept = (self.notes(), self.counts);
            if self.is_due()? {
                self.keep(Stage::Explore(depth), Some(&lists), &kept)?;
            }
            let next = match self.crew.visit(&mut lists, &rule, &visit) {
                Ok(Some(words)) => {
                    self.counts.n_nodes = n_nodes.load(Ordering::Relaxed);
                    // What was posted is not needed, but must not stay either.
                    let surplus = self.crew.settle(&rule)?;
                    self.crew.discard(surplus);
                    return Met::of(&words).map(Some).ok_or(DIFFER);
                }
                Ok(None) => self.crew.settle(&rule),
                Err(reason) => Err(reason),
            };
            match next {
                Ok(next) => self.crew.discard(std::mem::replace(&mut lists, next)),
                Err(reason) => {
                    // Where it was is kept if it can be; the search stops in any case.
                    let _ = self.keep(Stage::Explore(depth), Some(&lists), &kept);
                    return Err(reason);
                }
            }
            depth += 1;
        }
        self.counts.n_nodes = n_nodes.load(Ordering::Relaxed);
        self.crew.discard(lists);
        Ok(None)
    }

    /// The initial states, listed; or what the graph has to remark about them.
    pub(crate) fn meet_initial(
        &mut self,
        rule: &Meet,
    ) -> Result<Result<Lists<C>, Met>, StopReason> {
        let (n_words, n_mark_words) = self.crew.widths();
        let mut successors = Successors::new(n_words, n_mark_words);
        let computed = self.crew.graphs[0].initial(&mut successors);
        self.crew.team.gather(computed.map(|()| Vec::new()))?;
        if let Some(remark) = successors.remark {
            let state = remark.step.map(|step| successors.target(step).to_vec());
            return Ok(Err(Met {
                state,
                is_initial: true,
                remark,
            }));
        }
        self.crew
            .post(rule, &mut |out| send_met(*rule, &successors, out));
        self.crew.settle(rule).map(Ok)
    }

    /// The path to what was met.
    fn answer_to(&mut self, met: Met) -> Result<Answer, StopReason> {
        let is_goal = met.remark.is_goal;
        let Some(state) = met.state else {
            return Ok(Answer::NoStart);
        };
        if met.is_initial {
            let steps = Vec::new();
            let path = Path { steps, end: state };
            return Ok(Answer::Met { path, is_goal });
        }
        let mut path = self.path_to_state(&state)?;
        if let Some(step) = met.remark.step
            && let Some(end) = self.target_of(&state, step)?
        {
            path.steps.push((path.end, step));
            path.end = end;
        }
        Ok(Answer::Met { path, is_goal })
    }

    /// Removes until nothing changes, from the beginning or after some rounds. Is something left?
    fn remove(
        &mut self,
        position: usize,
        done: Option<u64>,
        alternative: &Conjunction,
    ) -> Result<bool, StopReason> {
        let scope = Scope::new(self.n_copies(), alternative);
        let planes = scope.planes;
        if done.is_none() {
            self.hold_everything(planes, position == 0)?;
        }
        let mut round = done.unwrap_or(0);
        loop {
            self.crew.phase = ("removing what is not fair", round);
            let kept = (self.notes(), self.counts);
            self.keep(Stage::Remove(position, round), None, &kept)?;

            let mut lists = self.begin_round(planes, round > 0)?;
            if lists.n_states == 0 {
                return Ok(false);
            }
            let rule = Collect(planes);
            let mut is_first = true;
            while lists.n_states > 0 {
                let visit = collect(scope, std::mem::take(&mut is_first));
                lists = self.step(lists, &rule, &visit)?;
            }

            let (mut lists, has_died, has_changed) = self.judge(scope)?;
            let rule = Trim(planes);
            while lists.n_states > 0 {
                lists = self.step(lists, &rule, &trim(scope))?;
            }
            // Without conditions, which marks lie before a node that stays makes no difference.
            if !has_died && (alternative.conditions.is_empty() || !has_changed) {
                return Ok(true);
            }
            round += 1;
        }
    }

    /// Visits listed states, and settles.
    pub(crate) fn step(
        &mut self,
        mut lists: Lists<C>,
        rule: &dyn Rule,
        visit: &Visit<'_, G>,
    ) -> Result<Lists<C>, StopReason> {
        self.crew.visit(&mut lists, rule, visit)?;
        let next = self.crew.settle(rule)?;
        self.crew.discard(lists);
        Ok(next)
    }

    /// Every copy that was met is in the rest, as if all marks lay before it, unless no cycle that is
    /// looked for passes through it.
    fn hold_everything(&mut self, planes: Planes, after_exploring: bool) -> Result<(), StopReason> {
        let n_met = planes.n_met();
        let recurrent = self.question.recurrent;
        let change = |n_unexplored: &mut u64, _: &[u64], old: &[u8], new: &mut [u8]| {
            // The state itself waits as long as no copy was met.
            *n_unexplored += u64::from(after_exploring && has(&old[n_met..], planes.n_copies));
            let label = planes.split_mut(new);
            label.met.copy_from_slice(&old[..n_met]);
            for (copy, may_recur) in recurrent.iter().enumerate() {
                if *may_recur && has(label.met, copy) {
                    planes.field_mut(label.held, copy).fill(u8::MAX);
                }
            }
            false
        };
        let n_label = planes.n_label();
        let (lists, tallies) = self.crew.sweep(&Collect(planes), n_label, &change)?;
        self.crew.discard(lists);
        self.counts.n_unexplored += tallies.iter().sum::<u64>();
        Ok(())
    }

    /// Lists what is in the rest, and forgets what was found.
    fn begin_round(&mut self, planes: Planes, is_later: bool) -> Result<Lists<C>, StopReason> {
        let change = |(): &mut (), _: &[u64], old: &[u8], new: &mut [u8]| {
            let (old, new) = (planes.split(old), planes.split_mut(new));
            new.met.copy_from_slice(old.met);
            let held = if is_later { old.found } else { old.held };
            new.held.copy_from_slice(held);
            held.iter().any(|byte| *byte != 0)
        };
        let n_label = planes.n_label();
        Ok(self.crew.sweep(&Collect(planes), n_label, &change)?.0)
    }

    /// Drops the nodes for which not enough was found, and lists them. Were there any, and was less
    /// found than before?
    fn judge(&mut self, scope: Scope<'_>) -> Result<(Lists<C>, bool, bool), StopReason> {
        let Scope {
            planes,
            alternative,
        } = scope;
        let change = |tally: &mut (bool, bool), _: &[u64], old: &[u8], new: &mut [u8]| {
            new.copy_from_slice(old);
            let label = planes.split_mut(new);
            let mut has_died = false;
            for copy in 0..planes.n_copies {
                if !planes.exists(label.held, copy) {
                    continue;
                }
                let is_left = planes.exists(label.found, copy)
                    && alternative.is_met(planes.field(label.found, copy));
                if !is_left {
                    planes.field_mut(label.found, copy).fill(0);
                    add(label.waiting, copy);
                    has_died = true;
                }
            }
            tally.0 |= has_died;
            tally.1 |= label.held != label.found;
            has_died
        };

        let (lists, tallies) = self.crew.sweep(&Trim(planes), planes.n_label(), &change)?;
        let has_died = tallies.iter().any(|tally| tally.0);
        let has_changed = tallies.iter().any(|tally| tally.1);
        Ok((lists, has_died, has_changed))
    }

    pub(crate) fn notes(&self) -> Vec<Vec<u64>> {
        self.crew.graphs.iter().map(Expand::notes).collect()
    }

    /// Is it time to keep the position, for one of the processes?
    fn is_due(&mut self) -> Result<bool, StopReason> {
        let Some(keeper) = self.keeper else {
            return Ok(false);
        };
        let said = vec![u64::from(keeper.is_due())];
        Ok(self.gather_sum(Ok(said))? > 0)
    }

    /// Keeps where the search is, if the parts can.
    ///
    /// With other processes, the position before stays as well until all have kept this one. So
    /// whenever one of them is lost, all of them have a position in common: if one has given up the one
    /// before, all have kept this one. That holds for what was kept by earlier processes, too.
    pub(crate) fn keep(
        &mut self,
        stage: Stage,
        lists: Option<&Lists<C>>,
        (notes, counts): &(Vec<Vec<u64>>, Counts),
    ) -> Result<(), StopReason> {
        let Some(keeper) = self.keeper else {
            return Ok(());
        };
        let (alternative, round) = match stage {
            Stage::Explore(depth) => (u64::MAX, depth),
            Stage::Remove(alternative, round) => (alternative as u64, round),
        };
        let mut words = Vec::new();
        put_list(
            &mut words,
            [
                KIND,
                self.generation,
                self.crew.team.n_processes() as u64,
                self.crew.team.own() as u64,
                self.crew.graphs.len() as u64,
                alternative,
                round,
                counts.n_nodes,
                counts.n_unexplored,
            ],
        );
        for (number, part) in self.crew.parts_mut().enumerate() {
            let list = lists.map(|lists| &lists.own[number]);
            let Some(position) = part.position(list) else {
                return Ok(());
            };
            put_list(&mut words, position);
        }
        for notes in notes {
            put_list(&mut words, notes.iter().copied());
        }

        let mut positions = Vec::new();
        put_list(&mut positions, words.iter().copied());
        for earlier in &self.last_kept {
            put_list(&mut positions, earlier.iter().copied());
        }
        self.has_positions = true;
        let has_failed = !keeper.keep(&positions);
        if self.gather_sum(Ok(vec![u64::from(has_failed)]))? == 0 {
            self.crew.parts_mut().for_each(Carrier::commit);
            self.last_kept.clear();
            if self.crew.team.n_processes() > 1 {
                self.last_kept.push(words);
            }
            if !self.inherited.is_empty() {
                // First it is said that the files are not needed, then they go.
                keeper.release();
                self.inherited.drain(..).for_each(|mut part| part.clear());
            }
        }
        Ok(())
    }

    /// Where another search was; nothing if these are not its numbers.
    pub(crate) fn restore(&mut self, mut words: &[u64]) -> Option<(Stage, Lists<C>)> {
        let header = take_list(&mut words)?;
        let &[.., alternative, round, n_nodes, n_unexplored] = header else {
            return None;
        };
        let (stage, size) = self.stage_at(alternative, round)?;

        let mut own = Vec::new();
        let mut n_states = 0;
        for part in self.crew.parts_mut() {
            let list = part.restore(take_list(&mut words)?, size)?;
            n_states += part.len_of(&list);
            own.push(list);
        }
        let lists = Lists { own, n_states };
        for graph in &mut self.crew.graphs {
            if !graph.add_notes(take_list(&mut words)?) {
                return None;
            }
        }
        self.counts = Counts {
            n_nodes,
            n_unexplored,
            ..self.counts
        };
        words.is_empty().then_some((stage, lists))
    }

    /// A place in the search, and how many bytes labels and lists have there.
    pub(crate) fn stage_at(&self, alternative: u64, round: u64) -> Option<(Stage, (usize, usize))> {
        if alternative == u64::MAX {
            let rule = self.meeting();
            let size = (2 * rule.size(), rule.list_size());
            return Some((Stage::Explore(round), size));
        }
        let position = usize::try_from(alternative).ok()?;
        let n_tracked = self.alternatives.get(position)?.tracked.len();
        let planes = Planes::new(self.n_copies(), n_tracked);
        Some((Stage::Remove(position, round), (planes.n_label(), 0)))
    }

    /// Looks at all states that were restored.
    pub(crate) fn check_states(&mut self, stage: Stage) -> Result<(), StopReason> {
        let rule = self.meeting();
        let n_label = match stage {
            Stage::Explore(_) => 2 * rule.size(),
            Stage::Remove(position, _) => {
                let n_tracked = self.alternatives[position].tracked.len();
                Planes::new(self.n_copies(), n_tracked).n_label()
            }
        };

        let mut looked = Ok(Vec::new());

        // A failure here must be told to the others, so that it does not end the loop.
        for number in 0..self.crew.parts.len() {
            let graph = &self.crew.graphs[number];
            let mut part = self.crew.parts[number]
                .lock()
                .expect("no thread panics while it holds a part of the set");
            let mut are_states = true;
            let list = part.sweep(&rule, n_label, &mut |state, old, new| {
                are_states &= graph.is_state(state);
                new.copy_from_slice(old);
                false
            });
            looked = looked.and_then(|said| {
                part.discard(list?);
                let is_good = are_states.then_some(said);
                is_good.ok_or(StopReason::DamagedCheckpoint)
            });
        }

        self.crew.team.gather(looked).map(|_| ())
    }
}

/// Visits a state in an exploration: its steps are looked at, and all that they lead to is told. The
/// graph may count states in the first exploration; `look` says with which words the exploration ends
/// here, if it does.
pub(crate) fn meet<G: Expand>(
    rule: Meet,
    is_counted: bool,
    look: impl Fn(&[u64], &[u8], &Successors) -> Option<Vec<u64>> + Sync,
) -> impl Fn(&mut G, &[u64], &[u8], &mut Successors, &mut Outbox) -> Result<(), StopReason> + Sync {
    move |graph, state, listed, successors, out| {
        successors.clear();
        let is_new = is_counted && has(listed, rule.n_copies);
        graph.successors(state, &|copy| has(listed, copy), is_new, successors)?;
        out.end = look(state, listed, successors);
        if out.end.is_some() {
            return Ok(());
        }
        send_met(rule, successors, out);
        Ok(())
    }
}

/// Tells the targets of steps which of their copies were met.
fn send_met(rule: Meet, successors: &Successors, out: &mut Outbox) {
    let mut edges = successors.edges().peekable();
    for step in 0..successors.n_steps() as u32 {
        let mail = out.put(successors.target(step));
        add(mail, rule.n_copies);
        while let Some((edge, _)) = edges.next_if(|(edge, _)| edge.step == step) {
            add(mail, edge.to as usize);
        }
    }
}

/// Computes the edges of a state that are in the rest at the beginning of a round, as far as that
/// depends on their sources; for chosen copies. Each comes with its tracked marks.
pub(crate) fn for_each_edge<G: Expand>(
    scope: Scope<'_>,
    graph: &mut G,
    (state, held): (&[u64], &[u8]),
    chosen: &dyn Fn(usize) -> bool,
    successors: &mut Successors,
    out: &mut Outbox,
    mut found: impl FnMut(&mut Outbox, &[u64], (usize, usize), &[u8]),
) -> Result<(), StopReason> {
    let Scope {
        planes,
        alternative,
    } = scope;
    let is_wanted = |copy: usize| chosen(copy) && planes.exists(held, copy);
    successors.clear();
    graph.successors(state, &is_wanted, false, successors)?;

    let [mut own, mut before] = std::mem::take(&mut out.tracked);
    own.resize(planes.n_field, 0);
    before.resize(planes.n_field, 0);
    for (edge, marks) in successors.edges() {
        alternative.select(marks, &mut own);
        let held = planes.field(held, edge.from as usize);
        for ((before, held), own) in before.iter_mut().zip(held).zip(&own) {
            *before = held | own;
        }
        if alternative.allows(marks, &before) {
            let copies = (edge.from as usize, edge.to as usize);
            found(out, successors.target(edge.step), copies, &own);
        }
    }
    out.tracked = [own, before];
    Ok(())
}

/// Tells the targets of all edges of the rest which marks lie before them, and for the first time how
/// many edges there are.
fn collect<'s, G: Expand>(
    scope: Scope<'s>,
    is_first: bool,
) -> impl Fn(&mut G, &[u64], &[u8], &mut Successors, &mut Outbox) -> Result<(), StopReason> + Sync + 's
{
    let Scope {
        planes,
        alternative,
    } = scope;
    move |graph, state, listed, successors, out| {
        let (held, before) = listed.split_at(planes.n_fields());
        let send = |out: &mut Outbox, target: &[u64], (from, to), own: &[u8]| {
            let mail = out.put(target);
            let (fields, counts) = mail.split_at_mut(planes.n_fields());
            let field = planes.field_mut(fields, to);
            let before = planes.field(before, from);
            for ((field, before), own) in field.iter_mut().zip(before).zip(own) {
                *field = before | own;
            }
            // The element that makes a field one that is not empty.
            add(field, alternative.tracked.len());
            counts[to] = u8::from(is_first);
        };
        for_each_edge(
            scope,
            graph,
            (state, held),
            &|_| true,
            successors,
            out,
            send,
        )
    }
}

/// Tells the targets of edges that are gone, because their sources are.
fn trim<'s, G: Expand>(
    scope: Scope<'s>,
) -> impl Fn(&mut G, &[u64], &[u8], &mut Successors, &mut Outbox) -> Result<(), StopReason> + Sync + 's
{
    let planes = scope.planes;
    move |graph, state, listed, successors, out| {
        let (held, gone) = listed.split_at(planes.n_fields());
        let chosen = |copy| has(gone, copy);
        let send = |out: &mut Outbox, target: &[u64], (_, to): (usize, usize), _: &[u8]| {
            out.put(target)[to] = 1;
        };
        for_each_edge(scope, graph, (state, held), &chosen, successors, out, send)
    }
}

//! Explores a product breadth first and stores those of its edges that can be on accepted cycles.
//!
//! As in reachability, several states are looked at at once, so that what is looked up has arrived from
//! memory when it is needed. A state is expanded once for all automaton states that it has been reached
//! with by then, and again if more come later.
//!
//! An accepted cycle stays within one strongly connected part of the automaton, and not every part can
//! have one ([`Recurrence`]): of all other nodes no edge is stored.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use base::{Progress, Snapshot, StopReason, bits};
use omega::{Acceptance, MAX_NODES, NodeId, RecordWriter};

use crate::initial::initial_states;
use crate::label::{LabelId, LabelTable};
use crate::system::Steps;
use store::{NOBODY, StateIndex, StateStore};

use super::grid::{Fact, Grid, GridSpace, Held, Numbers, Pending};
use super::space::Space as _;
use super::{CompiledEdge, Halt, NO_PANIC, Product};

/// How many steps are computed before the first of their targets is looked up.
const N_AHEAD: usize = 64;

/// The moves of automata with more labels and letters than this are not kept.
const MAX_MOVES: usize = 1 << 22;

/// Which states of an automaton can be on accepted cycles.
#[derive(Clone, Debug)]
pub(crate) struct Recurrence {
    /// For each state, its number among those that can.
    rank: Vec<Option<u32>>,
    /// For each state, which states it can reach and be reached from, itself included if on a cycle.
    part: Vec<u32>,
    /// The states that can, in ascending order.
    pub(crate) states: Vec<u32>,
    /// Marks that no edge of an accepted cycle has.
    forbidden: Vec<u64>,
}

impl Recurrence {
    pub(crate) fn new<S>(product: &Product<'_, '_, S>) -> Self {
        let edges = &product.edges;
        let mut reach: Vec<u32> = edges
            .iter()
            .map(|edges| edges.iter().fold(0, |all, edge| all | 1 << edge.target))
            .collect();
        for via in 0..reach.len() {
            for from in 0..reach.len() {
                if reach[from] >> via & 1 == 1 {
                    reach[from] |= reach[via];
                }
            }
        }

        let part: Vec<u32> = (0..reach.len())
            .map(|state| {
                let mutual = |other: &usize| {
                    reach[state] >> other & 1 == 1 && reach[*other] >> state & 1 == 1
                };
                (0..reach.len())
                    .filter(mutual)
                    .fold(0, |all, other| all | 1 << other)
            })
            .collect();

        let states: Vec<u32> = (0..reach.len())
            .filter(|state| is_hopeful(product, part[*state]))
            .map(|state| state as u32)
            .collect();
        let rank = |state| states.iter().position(|s| *s == state).map(|r| r as u32);
        let mut forbidden = vec![0; product.sections.end];
        forbid(&product.acceptance, &mut forbidden);
        Self {
            rank: (0..reach.len() as u32).map(rank).collect(),
            part,
            states,
            forbidden,
        }
    }
}

/// Can a cycle through this part of the automaton be accepted, for all that is known of marks?
fn is_hopeful<S>(product: &Product<'_, '_, S>, part: u32) -> bool {
    let is_inside = |state: usize| part >> state & 1 == 1;
    let edges: Vec<&CompiledEdge> = (0..product.edges.len())
        .filter(|state| is_inside(*state))
        .flat_map(|state| &product.edges[state])
        .filter(|edge| is_inside(edge.target as usize))
        .collect();
    if edges.is_empty() {
        return false;
    }
    let own = product.sections.automaton;
    let mut marks = vec![u64::MAX; product.sections.end];
    bits::clear_all(&mut marks[own..]);
    for edge in edges {
        bits::union_into(&mut marks[own..], &edge.marks);
    }
    for (bit, _) in &product.letter_marks {
        bits::set(&mut marks, *bit);
    }
    product.acceptance.within(&marks) != Acceptance::False
}

/// Collects the marks that an acceptance excludes, whatever else it says.
fn forbid(acceptance: &Acceptance, forbidden: &mut [u64]) {
    match acceptance {
        Acceptance::Fin(mark) => bits::set(forbidden, mark.index()),
        Acceptance::And(parts) => parts.iter().for_each(|part| forbid(part, forbidden)),
        Acceptance::True | Acceptance::False | Acceptance::Inf(_) | Acceptance::Or(_) => {}
    }
}

/// Where the automaton goes.
#[derive(Clone, Copy, Debug)]
struct Move {
    target: u32,
    /// The number of the marks of the edge, and the rank of the target; nothing if the edge is not
    /// stored.
    stored: Option<(u32, u32)>,
}

/// The moves of the automaton for each label of a step, letter of its target, and automaton state.
#[derive(Debug, Default)]
struct Moves {
    n_letters: usize,
    /// For each of them, where its moves are. `UNKNOWN` if they have not been looked for.
    ranges: Vec<(u32, u32)>,
    moves: Vec<Move>,
}

const UNKNOWN: (u32, u32) = (1, 0);

impl Moves {
    #[inline]
    fn place(&self, (label, letter): (LabelId, u32), copy: u32, n_copies: usize) -> usize {
        (label.index() * self.n_letters + letter as usize) * n_copies + copy as usize
    }

    /// Makes room. Says whether there are not too many.
    fn reserve(&mut self, (label, letter): (LabelId, u32), n_copies: usize) -> bool {
        if letter as usize >= self.n_letters {
            self.n_letters = (letter as usize + 1).next_power_of_two().max(8);
            self.ranges.clear();
            self.moves.clear();
        }
        let len = (label.index() + 1) * self.n_letters * n_copies;
        if self.ranges.len() < len {
            self.ranges.resize(len, UNKNOWN);
        }
        len <= MAX_MOVES
    }
}

/// What the threads do together.
pub(crate) struct Task<'t> {
    /// States by their names, or by their places in the list if there is one.
    pub(crate) items: Range<u32>,
    pub(crate) list: Option<&'t [StateIndex]>,
    /// States from this name on are expanded in the next task.
    pub(crate) next: StateIndex,
    /// Are states that the automaton does not lead to explored, and only these?
    pub(crate) is_rest: bool,
    pub(crate) cursor: AtomicU32,
    pub(crate) is_over: AtomicBool,
}

/// How many states a thread takes at a time.
const BATCH: u32 = 64;

/// Some states and their steps.
#[derive(Debug, Default)]
struct Ahead {
    /// The states, what they are expanded with, whether for the first time, and the position behind
    /// the last step.
    sources: Vec<Source>,
    states: Vec<u64>,
    steps: Steps,
    hashes: Vec<u64>,
    /// For each target, the stored state that it probably is, then the one that it is.
    targets: Vec<StateIndex>,
    unknown: Vec<u32>,
    spare: Steps,
    has_failed: bool,
}

#[derive(Clone, Copy, Debug)]
struct Source {
    state: StateIndex,
    copies: u32,
    is_first: bool,
    end: usize,
}

/// One thread that explores.
pub(crate) struct Harvester<'a, 'm> {
    pub(crate) product: Product<'a, 'm, GridSpace<'a>>,
    grid: &'a Grid,
    recurrence: Recurrence,
    moves: Moves,
    source_sets: Numbers<'a>,
    edge_sets: Numbers<'a>,
    writer: RecordWriter,
    pending: Pending,
    ahead: Ahead,
    n_new_nodes: u64,
    /// States from this name on are expanded anyway.
    next: StateIndex,
    /// States that have to be expanded again.
    pub(crate) again: Vec<StateIndex>,
    /// Was an edge stored to a node whose number is not larger than that of its source?
    pub(crate) leads_back: bool,
}

impl<'a, 'm> Harvester<'a, 'm> {
    /// The recurrence is that of the product.
    pub(crate) fn new(
        product: Product<'a, 'm, GridSpace<'a>>,
        recurrence: Recurrence,
        keeps_steps: bool,
    ) -> Self {
        let grid = product.space.grid;
        Self {
            grid,
            recurrence,
            moves: Moves::default(),
            source_sets: Numbers::new(&grid.source_numbering),
            edge_sets: Numbers::new(&grid.edge_numbering),
            writer: RecordWriter::new(keeps_steps),
            pending: Pending::default(),
            ahead: Ahead::default(),
            n_new_nodes: 0,
            next: 0,
            again: Vec::new(),
            leads_back: false,
            product,
        }
    }

    /// Adds the initial states.
    pub(crate) fn begin(&mut self) -> Result<(), Halt> {
        let n_words = self.product.system.n_words();
        let initial = initial_states(self.product.system, self.product.budget)?;
        let mut held = self.product.space.hold();
        for words in initial.chunks_exact(n_words) {
            let state = self.insert(&mut held, words, (StateStore::hash(words), NOBODY))?;
            let product = &mut self.product;
            product.compute_letter(state, words, LabelTable::IDLE)?;
            let starts = product.initial.iter();
            let copies = starts
                .flat_map(|start| &product.edges[*start as usize])
                .filter(|edge| edge.reads(&product.letter))
                .fold(0, |all, edge| all | 1 << edge.target);
            self.reach(state, copies);
        }
        self.count();
        Ok(())
    }

    /// Does a part of a task after the other, until nothing is left.
    pub(crate) fn serve(
        &mut self,
        task: &Task<'_>,
        progress: &mut dyn Progress,
    ) -> Result<(), Halt> {
        self.next = task.next;
        while !task.is_over.load(Ordering::Relaxed) {
            // Passes the end by at most a batch for each thread, and names have 31 bits.
            let first = task.cursor.fetch_add(BATCH, Ordering::Relaxed);
            if first >= task.items.end {
                break;
            }
            self.report(progress);
            let items = first..task.items.end.min(first + BATCH);
            let result = self.expand_batch(task, items);
            self.count();
            if result.is_err() {
                task.is_over.store(true, Ordering::Relaxed);
                return result;
            }
        }
        Ok(())
    }

    /// Keeps all records, so that they can be read.
    pub(crate) fn flush(&mut self) -> Result<(), Halt> {
        if self.pending.flush(self.grid) {
            Ok(())
        } else {
            Err(Halt::Pause)
        }
    }

    /// Gives up names that were not used, and says how many.
    pub(crate) fn give_up_names(&mut self) -> usize {
        self.product.space.names.give_up().len()
    }

    /// The node of the product that a node with stored edges is.
    pub(crate) fn product_node(&self, node: NodeId) -> NodeId {
        let (state, rank) = self.grid.pair(node);
        let n_copies = self.recurrence.rank.len() as u32;
        NodeId(state * n_copies + self.recurrence.states[rank as usize])
    }

    fn report(&mut self, progress: &mut dyn Progress) {
        let product = &mut self.product;
        product.space.memory = self.grid.memory();
        let (n_states, memory_bytes) = product.spent();
        let snapshot = Snapshot {
            phase: "searching fair cycles",
            n_states,
            n_transitions: product.n_transitions,
            memory_bytes,
            depth: 0,
            bound: product.bound,
            shares: None,
        };
        *product.gauge.snapshot.lock().expect(NO_PANIC) = snapshot;
        progress.report(&snapshot);
    }

    /// Tells all threads how many nodes were found.
    fn count(&mut self) {
        let n_new = std::mem::take(&mut self.n_new_nodes);
        self.grid.n_nodes.fetch_add(n_new, Ordering::Relaxed);
    }

    /// Expands some states and takes their steps.
    fn expand_batch(&mut self, task: &Task<'_>, items: Range<u32>) -> Result<(), Halt> {
        let mut ahead = std::mem::take(&mut self.ahead);
        let mut held = self.product.space.hold();
        let mut states = items.map(|item| task.list.map_or(item, |list| list[item as usize]));
        let result = loop {
            self.look_ahead(task, &mut states, &mut ahead);
            if ahead.sources.is_empty() && !ahead.has_failed {
                break Ok(());
            }
            let taken = self
                .look_up(&mut held, &mut ahead)
                .and_then(|()| self.take_all(&ahead));
            if taken.is_err() {
                break taken;
            }
            if ahead.has_failed {
                break Err(Halt::Failed);
            }
        };
        self.ahead = ahead;
        result
    }

    /// Computes the steps of some states.
    fn look_ahead(
        &mut self,
        task: &Task<'_>,
        states: &mut impl Iterator<Item = StateIndex>,
        ahead: &mut Ahead,
    ) {
        let n_words = self.product.system.n_words();
        ahead.sources.clear();
        ahead.states.clear();
        ahead.steps.clear();
        ahead.steps.n_words = n_words;
        ahead.has_failed = false;

        for state in states {
            let (copies, is_first) = if task.is_rest {
                (
                    0,
                    self.grid.is_state(state) && !self.grid.is_expanded(state),
                )
            } else {
                self.grid.claim(state)
            };
            if copies == 0 && !is_first {
                continue;
            }
            let start = ahead.states.len();
            ahead.states.resize(start + n_words, 0);
            let words = &mut ahead.states[start..];
            self.grid.store.read(state, words);
            let (steps, spare) = (&mut ahead.steps, &mut ahead.spare);
            if self
                .product
                .system
                .append_steps(words, steps, spare)
                .is_err()
            {
                ahead.has_failed = true;
                break;
            }
            let end = steps.len();
            ahead.sources.push(Source {
                state,
                copies,
                is_first,
                end,
            });
            if end >= N_AHEAD {
                break;
            }
        }
    }

    /// Finds the names of all targets.
    fn look_up(&mut self, held: &mut Held<'a>, ahead: &mut Ahead) -> Result<(), Halt> {
        let store = &self.grid.store;
        let table = held.get_or_insert_with(|| store.table());
        ahead.steps.hash_targets(&mut ahead.hashes, table);
        store.guess_all(table, &ahead.hashes, &mut ahead.targets);
        self.grid.prefetch_facts(&ahead.targets);
        let Ahead {
            steps,
            hashes,
            targets,
            unknown,
            ..
        } = ahead;
        store.select_unknown(&steps.words, targets, unknown);

        let n_words = self.product.system.n_words();
        let mut sources = ahead.sources.iter().peekable();
        for &position in &*unknown {
            let position = position as usize;
            while sources.next_if(|source| source.end <= position).is_some() {}
            if let Some(source) = sources.peek() {
                store.stay_near(source.state, &mut self.product.space.names);
            }
            let words = steps.target(position, n_words);
            targets[position] = self.insert(held, words, (hashes[position], NOBODY))?;
        }
        Ok(())
    }

    /// The name of a state. Works out which atoms hold in it if it is new.
    fn insert(
        &mut self,
        held: &mut Held<'a>,
        words: &[u64],
        place: (u64, StateIndex),
    ) -> Result<StateIndex, Halt> {
        let full = Halt::Stopped(StopReason::StateLimit);
        let product = &mut self.product;
        let inserted = product.space.insert_guessed(held, words, place);
        let (state, is_new) = inserted.ok_or(full)?;
        if is_new {
            product.n_transient += u64::from(product.system.is_transient(words));
            let n_nodes = (u64::from(state) + 1) * product.edges.len() as u64;
            if n_nodes > u64::from(MAX_NODES) || self.grid.is_exhausted.load(Ordering::Relaxed) {
                return Err(Halt::Pause);
            }
        }
        if is_new {
            self.set_letter(state, words)?;
        }
        Ok(state)
    }

    /// Works out which atoms hold in a state.
    fn set_letter(&mut self, state: StateIndex, words: &[u64]) -> Result<(), Halt> {
        let product = &mut self.product;
        bits::clear_all(&mut product.letter);
        product
            .letters
            .of_state(product.system, words, &mut product.letter)?;
        product.space.set_letter(state, &product.letter);
        bits::union_into(&mut product.seen, &product.letter);
        Ok(())
    }

    /// Another thread has stored the state, and has not said yet which atoms hold in it.
    #[cold]
    fn settle_letter(&mut self, state: StateIndex) -> Result<Fact, Halt> {
        let words = self.grid.store.get(state);
        self.set_letter(state, &words)?;
        let fact = self.grid.fact(state);
        // There may be no number for it.
        if fact.letter == 0 {
            return Err(Halt::Pause);
        }
        Ok(fact)
    }

    /// Takes the steps of the states that were looked at, one state after the other.
    fn take_all(&mut self, ahead: &Ahead) -> Result<(), Halt> {
        let n_words = self.product.system.n_words();
        let mut first = 0;
        for (number, source) in ahead.sources.iter().enumerate() {
            let (n_nodes, memory) = self.product.spent();
            let spent = self
                .product
                .budget
                .check(n_nodes + self.n_new_nodes, memory);
            spent.map_err(Halt::Stopped)?;

            let positions = first..source.end;
            first = source.end;
            let words = &ahead.states[number * n_words..][..n_words];
            self.product.state.copy_from_slice(words);
            let labels = &ahead.steps.labels[positions.clone()];
            let targets = &ahead.targets[positions];
            if labels.is_empty() {
                // A deadlocked state idles: no action, no mover, the same state.
                self.take(source, &[], (&[LabelTable::IDLE], &[source.state]))?;
            } else {
                self.take(source, labels, (labels, targets))?;
            }
        }
        Ok(())
    }

    /// Takes the steps of a state, whose words are in the product.
    fn take(
        &mut self,
        source: &Source,
        own_labels: &[LabelId],
        (labels, targets): (&[LabelId], &[StateIndex]),
    ) -> Result<(), Halt> {
        if labels.len() > self.product.system.limits.max_steps as usize {
            return Err(Halt::Stopped(StopReason::StateLimit));
        }
        if source.is_first {
            let is_counted = !self.product.system.is_transient(&self.product.state);
            if is_counted {
                self.product.n_transitions += labels.len() as u64;
            }
            self.product.note_labels(own_labels, is_counted);
        }
        let mut source_set = None;
        for copy in 0..self.recurrence.rank.len() as u32 {
            if source.copies >> copy & 1 == 0 {
                continue;
            }
            let rank = self.recurrence.rank[copy as usize];
            let node = self.grid.node(source.state, rank.unwrap_or(0));
            self.writer.begin(node);
            self.take_copy((node, copy), labels, targets)?;
            if rank.is_some() && self.writer.has_edges() {
                let set = *source_set.get_or_insert_with(|| self.source_set(own_labels));
                self.pending.note(node);
                self.writer
                    .finish(set, labels.len() as u32, &mut self.pending.bytes);
                if self.pending.is_full() {
                    self.flush()?;
                }
            }
        }
        Ok(())
    }

    /// Takes the steps of one node.
    fn take_copy(
        &mut self,
        (source, copy): (NodeId, u32),
        labels: &[LabelId],
        targets: &[StateIndex],
    ) -> Result<(), Halt> {
        let grid = self.grid;
        let n_copies = self.recurrence.rank.len();
        let mut n_edges = 0;
        for (position, (label, target)) in labels.iter().zip(targets).enumerate() {
            let mut fact = grid.fact(*target);
            if fact.letter == 0 {
                fact = self.settle_letter(*target)?;
            }
            let reading = (*label, fact.letter - 1);
            let place = self.moves.place(reading, copy, n_copies);
            let is_known = (reading.1 as usize) < self.moves.n_letters;
            let known = self.moves.ranges.get(place).filter(|_| is_known);
            let (start, end) = match known {
                Some(range) if *range != UNKNOWN => *range,
                _ => self.find_moves(reading, copy)?,
            };
            let mut copies = 0;
            for index in start..end {
                let Move {
                    target: next,
                    stored,
                } = self.moves.moves[index as usize];
                copies |= 1 << next;
                if let Some((marks, rank)) = stored {
                    let node = grid.node(*target, rank);
                    self.leads_back |= node <= source;
                    self.writer.push(node, position as u32, marks);
                }
            }
            n_edges += end - start;
            if copies & !fact.reached != 0 {
                self.reach(*target, copies);
            }
        }
        if n_edges > self.product.system.limits.max_edges {
            return Err(Halt::Stopped(StopReason::StateLimit));
        }
        if n_edges as usize >= RecordWriter::MAX_EDGES {
            return Err(Halt::Pause);
        }
        Ok(())
    }

    /// A state is reached with these automaton states.
    fn reach(&mut self, state: StateIndex, copies: u32) {
        let before = self.grid.reach(state, copies);
        let n_new = (copies & !before.reached).count_ones();
        self.n_new_nodes += u64::from(n_new);
        // Else it is to be expanded anyway: it is new, or a step before has led to it.
        if n_new > 0 && before.is_settled() && state < self.next {
            self.again.push(state);
        }
    }

    /// Works out where the automaton goes. A table that is too large is not kept.
    #[cold]
    fn find_moves(
        &mut self,
        (label, letter): (LabelId, u32),
        copy: u32,
    ) -> Result<(u32, u32), Halt> {
        let n_copies = self.recurrence.rank.len();
        if !self.moves.reserve((label, letter), n_copies) {
            return Err(Halt::Pause);
        }
        let product = &mut self.product;
        product
            .letter
            .copy_from_slice(product.space.letters.set(letter));
        if product.letters.has_step_atoms() {
            let more = product.letters.of_label(product.system, label);
            bits::union_into(&mut product.letter, more);
        }
        product.mark_step(label);
        product.mark_letter();

        let start = self.moves.moves.len() as u32;
        let own = self.product.sections.automaton;
        for edge in &self.product.edges[copy as usize] {
            if !edge.reads(&self.product.letter) {
                continue;
            }
            let mut marks = self.product.marks.clone();
            bits::union_into(&mut marks[own..], &edge.marks);
            let is_inside = self.recurrence.part[copy as usize] >> edge.target & 1 == 1;
            let is_kept = is_inside && !bits::intersects(&marks, &self.recurrence.forbidden);
            let rank = self.recurrence.rank[edge.target as usize].filter(|_| is_kept);
            self.moves.moves.push(Move {
                target: edge.target,
                stored: rank.map(|rank| (self.edge_sets.number(&marks), rank)),
            });
        }
        let range = (start, self.moves.moves.len() as u32);
        let place = self.moves.place((label, letter), copy, n_copies);
        self.moves.ranges[place] = range;
        Ok(range)
    }

    /// The number of the marks that all edges of the current state have.
    fn source_set(&mut self, labels: &[LabelId]) -> u32 {
        self.product.mark_source(labels);
        self.source_sets.number(&self.product.marks)
    }
}

impl<'a> Product<'a, '_, GridSpace<'a>> {
    /// Sets the marks that a step has because of its label alone.
    fn mark_step(&mut self, label: LabelId) {
        let range = self.subjects(label);
        bits::assign(&mut self.taken, &self.label_subjects[range]);
        // As if all that is weakly fair were enabled, and nothing that is strongly fair.
        let n_weak = self.sections.enabled;
        self.enabled[..n_weak].fill(u64::MAX);
        self.enabled[n_weak..].fill(0);
        self.combine_marks(false);
    }

    /// Sets the marks that all steps of the current state have.
    fn mark_source(&mut self, labels: &[LabelId]) {
        self.compute_enabled(labels);
        bits::clear_all(&mut self.taken);
        let is_free = !self.weak.needs_control() || !self.system.is_transient(&self.state);
        self.combine_marks(is_free);
    }
}

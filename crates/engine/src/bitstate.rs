//! Searching with one bit for a state, or a few: not exact, but far in little memory.
//!
//! G. J. Holzmann, "An analysis of bitstate hashing" (Formal Methods in System Design 13, 1998,
//! doi:10.1023/A:1008696026254). A state is met before if all [`N_BITS`] bits that its hash names
//! are set. Two states may name the same bits; then what lies behind the second is not seen. So
//! nothing follows from finding nothing; what is found is real.
//!
//! The search is depth first, because only the states on the path are kept: the path is the run to
//! be reported. Runs are therefore not shortest.
//!
//! Cost: the bits, the states on the path, and the steps that wait to be taken.

use base::{AtomId, Budget, Progress, Snapshot, StopReason, bits};
use evidence::{StepPool, Trace};

use crate::compile::CompileError;
use crate::explore::{Exploration, Explored, Found, Goal, Stats, trace_step};
use crate::initial::{Interrupted, initial_states};
use crate::label::{LabelId, LabelTable};
use crate::letters::Letters;
use crate::system::{Failed, Steps, System};
use store::StateStore;

/// How many bits stand for a state.
const N_BITS: u64 = 3;

/// How many states are expanded between two reports.
const REPORT_INTERVAL: u64 = 4096;

/// Explores with this many bytes of bits. [`Found::Nothing`] means only that nothing was met.
///
/// # Errors
/// A proposition is too large to be compiled.
pub fn explore_bitstate(
    system: &mut System<'_>,
    exploration: &Exploration<'_>,
    n_bytes: u64,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<Explored, CompileError> {
    let letters = Letters::new(system, exploration.atoms)?;
    let n_words = usize::try_from(n_bytes / 8).unwrap_or(usize::MAX / 16);
    let mut search = BitstateSearch {
        stats: Stats {
            commands_taken: vec![false; system.model().commands().len()],
            ..Stats::default()
        },
        letter: vec![0; letters.n_words],
        seen: vec![0; letters.n_words],
        letters,
        goal: exploration.goal,
        budget,
        table: vec![0; n_words.max(1)],
        path: Path::default(),
        waiting: Waiting::default(),
        system,
    };

    let found = match search.run(progress) {
        Ok(()) => Found::Nothing,
        Err(end) => search.found(end),
    };
    let mut stats = search.stats;
    stats.atoms_seen = vec![false; search.system.model().parts().atoms.len()];
    for atom in exploration.atoms {
        stats.atoms_seen[atom.index()] = bits::get(&search.seen, search.letters.bit(*atom));
    }
    let met = Vec::new();
    Ok(Explored { found, met, stats })
}

/// Why the search ends before everything within reach is met.
enum End {
    Stopped(StopReason),
    /// At the end of the path.
    Goal,
    Failure,
    /// In an initial value.
    NoInitialState,
}

/// The states from an initial one to the current one, and the labels of the steps between.
#[derive(Default)]
struct Path {
    words: Vec<u64>,
    labels: Vec<LabelId>,
}

/// Steps that are not taken yet: the length of the path that they continue, their label and their
/// target.
#[derive(Default)]
struct Waiting {
    steps: Vec<(usize, LabelId)>,
    words: Vec<u64>,
}

struct BitstateSearch<'a, 'm> {
    system: &'a mut System<'m>,
    letters: Letters,
    goal: &'a Goal,
    budget: &'a Budget,
    table: Vec<u64>,
    path: Path,
    waiting: Waiting,
    letter: Vec<u64>,
    seen: Vec<u64>,
    stats: Stats,
}

impl BitstateSearch<'_, '_> {
    fn run(&mut self, progress: &mut dyn Progress) -> Result<(), End> {
        let n_words = self.system.n_words();
        let initial = initial_states(self.system, self.budget);
        let initial = initial.map_err(|interrupted| match interrupted {
            Interrupted::Stopped(reason) => End::Stopped(reason),
            Interrupted::Failed => End::NoInitialState,
        })?;
        let mut steps = Steps::default();
        let mut n_expanded = 0_u64;

        for words in initial.chunks_exact(n_words) {
            self.path = Path::default();
            self.reach(words, LabelTable::IDLE)?;
            while let Some((depth, label)) = self.waiting.steps.pop() {
                let start = self.waiting.words.len() - n_words;
                self.path.words.truncate(depth * n_words);
                self.path.labels.truncate(depth);
                self.path.labels.push(label);
                self.path
                    .words
                    .extend_from_slice(&self.waiting.words[start..]);
                self.waiting.words.truncate(start);
                n_expanded += 1;
                if n_expanded.is_multiple_of(REPORT_INTERVAL) {
                    self.report(progress);
                }
                self.expand(&mut steps)?;
            }
        }

        self.stats.memory_bytes = self.memory();
        Ok(())
    }

    /// Expands the last state of the path.
    fn expand(&mut self, steps: &mut Steps) -> Result<(), End> {
        let spent = self.budget.check(self.stats.n_states, self.memory());
        spent.map_err(End::Stopped)?;
        let n_words = self.system.n_words();
        let state = self.path.words[self.path.words.len() - n_words..].to_vec();
        let expanded = self.system.steps(&state, steps);
        expanded.map_err(|Failed| End::Failure)?;
        if !self.system.is_transient(&state) {
            self.stats.n_transitions += steps.len().max(1) as u64;
        }

        if steps.is_empty() {
            if matches!(self.goal, Goal::Deadlock) {
                return Err(End::Goal);
            }
            // The idle step leads to a position at which no step proposition holds.
            return self.reach(&state, LabelTable::IDLE);
        }

        for position in 0..steps.len() {
            let label = steps.labels[position];
            for command in &self.system.label(label).commands {
                self.stats.commands_taken[command.index()] = true;
            }
            self.reach(steps.target(position, n_words), label)?;
        }

        Ok(())
    }

    /// The path can go on to this state. If that is the goal, it does.
    fn reach(&mut self, words: &[u64], label: LabelId) -> Result<(), End> {
        let is_new = self.mark(StateStore::hash(words));
        if !is_new && !self.letters.has_step_atoms() {
            return Ok(());
        }
        self.letter.fill(0);

        let letter = &mut self.letter;
        let evaluated = self.letters.of_state(self.system, words, letter);
        if evaluated.is_ok() {
            let more = self.letters.of_label(self.system, label);
            bits::union_into(&mut self.letter, more);
            bits::union_into(&mut self.seen, &self.letter);
        }

        let holds = |atom: AtomId| bits::get(&self.letter, self.letters.bit(atom));
        let end = match (evaluated, self.goal) {
            (Err(Failed), _) => Some(End::Failure),
            (Ok(()), Goal::Satisfies(goal)) if goal.holds(&holds) => Some(End::Goal),
            _ => None,
        };
        if let Some(end) = end {
            self.path.words.extend_from_slice(words);
            self.path.labels.push(label);
            return Err(end);
        }
        if is_new {
            self.stats.n_states += 1;
            self.waiting.steps.push((self.path.labels.len(), label));
            self.waiting.words.extend_from_slice(words);
        }

        Ok(())
    }

    /// Sets the bits of a hash. Says whether one of them was not set.
    fn mark(&mut self, hash: u64) -> bool {
        let n_bits = self.table.len() as u128 * 64;
        let mut is_new = false;
        let mut mixed = hash;
        for _ in 0..N_BITS {
            // As a fraction of the table.
            let bit = ((u128::from(mixed) * n_bits) >> 64) as usize;
            is_new |= !bits::get(&self.table, bit);
            bits::set(&mut self.table, bit);
            mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            mixed ^= mixed >> 32;
        }
        is_new
    }

    fn memory(&self) -> u64 {
        let words = self.table.len() + self.path.words.capacity() + self.waiting.words.capacity();
        let labels = self.path.labels.capacity() * 4 + self.waiting.steps.capacity() * 16;
        (words * 8 + labels) as u64
    }

    fn report(&mut self, progress: &mut dyn Progress) {
        progress.report(&Snapshot {
            phase: "exploring with bits",
            n_states: self.stats.n_states,
            n_transitions: self.stats.n_transitions,
            memory_bytes: self.memory(),
            depth: self.path.labels.len() as u64,
            bound: None,
            shares: None,
        });
    }

    fn found(&mut self, end: End) -> Found {
        self.stats.memory_bytes = self.memory();
        let n_words = self.system.n_words();
        let states = self.path.words.chunks_exact(n_words);
        let mut pool = StepPool::default();
        let trace = Trace {
            states: states.map(|words| self.system.unpack(words)).collect(),
            steps: (self.path.labels.iter().skip(1))
                .map(|label| pool.share(trace_step(self.system.label(*label))))
                .collect(),
            loop_start: None,
        };
        match end {
            End::Stopped(reason) => Found::Stopped(reason),
            End::Goal => Found::Goal(trace),
            End::Failure => Found::Failure(Some(trace)),
            End::NoInitialState => Found::Failure(None),
        }
    }
}

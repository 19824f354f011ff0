//! A model compiled for exploration: initial states and steps over packed words.

use std::sync::Arc;

use model::{ActionId, Composition, Model, State, StepSet};
use rustc_hash::FxHashMap;

use crate::agenda::Agenda;
use crate::canonicalize::Canonicalizer;
use crate::compile::CompileError;
use crate::elimination::Elimination;
use crate::footprint::Footprint;
use crate::label::{Label, LabelId, LabelTable};
use crate::layout::Layout;
use crate::priority::Ruling;
use crate::teams::Gathered;
use jit::Routine;
use jit::{End, Machine, Tables};
use store::{Index, StateStore};

/// A model compiled for exploration.
///
/// Invariant: its initial states and steps are exactly those of the model's reference semantics,
/// except that after [`System::forget`] representatives take the place of targets.
/// It fails on a state iff the reference semantics does.
#[derive(Clone, Debug)]
pub struct System<'m> {
    pub(crate) model: &'m Model,
    pub(crate) elimination: Elimination,
    pub(crate) layout: Layout,
    pub(crate) tables: Tables,
    pub(crate) machine: Machine,
    pub(crate) labels: LabelTable,
    pub(crate) commands: Vec<CompiledCommand>,
    /// The commands by instance and location: row `r` is `by_location[rows[r]..rows[r + 1]]`, and
    /// location `l` of instance `i` is row `first_row[i] + l`.
    pub(crate) by_location: Vec<u32>,
    pub(crate) rows: Vec<u32>,
    pub(crate) first_row: Vec<u32>,
    pub(crate) teams: Vec<Team>,
    pub(crate) synchronous: bool,
    /// Can one state have the same step in two ways?
    pub(crate) may_repeat: bool,
    pub(crate) init: Option<u32>,
    /// What is needed to tell possible steps that exist from others; nothing if all do.
    pub(crate) ruling: Option<Ruling>,
    pub(crate) agenda: Arc<Agenda>,
    /// Labels of steps of several processes, by what [`crate::teams`] calls them.
    pub(crate) team_labels: FxHashMap<Box<[u32]>, LabelId>,
    pub(crate) scratch: Scratch,
    /// What the code of each effect touches, by its start.
    pub(crate) effect_footprints: FxHashMap<u32, Footprint>,
    /// The code of all propositions compiled so far.
    pub(crate) propositions: Vec<u32>,
    pub(crate) native: Option<Arc<Routine>>,
    /// Is no machine code wanted?
    is_interpreted: bool,
    /// What the searches have numbers for.
    pub(crate) limits: Limits,
    /// What is kept of states, if not everything.
    pub(crate) canonicalizer: Option<Arc<Canonicalizer>>,
    pub(crate) canonicalizer_scratch: crate::symmetry::Scratch,
}

#[derive(Clone, Debug)]
pub(crate) struct CompiledCommand {
    pub(crate) guard: u32,
    pub(crate) effect: u32,
    pub(crate) has_choice: bool,
    /// For every combination of choices an effect without choices, if they are few and known.
    pub(crate) unfolded: Vec<u32>,
    /// The label, if the command moves alone.
    pub(crate) alone: Option<LabelId>,
    /// The teams in which this command belongs to the first participant.
    pub(crate) leads: Vec<u32>,
    pub(crate) priority: i8,
    /// See [`model::Model::reach`].
    pub(crate) reach: i8,
    /// What its guard and its effect touch, its own location included.
    pub(crate) footprint: Footprint,
    /// What decides whether it is possible where its process is in place.
    pub(crate) condition_reads: Vec<u64>,
    pub(crate) guard_can_fail: bool,
    pub(crate) effect_can_fail: bool,
    /// May the effect turn out not to be possible, although the guard is true?
    pub(crate) effect_can_reject: bool,
}

impl CompiledCommand {
    /// The effects without choices that the command has, one of which happens; nothing if its
    /// choices are not known.
    pub(crate) fn outcomes(&self) -> Option<&[u32]> {
        match (self.has_choice, self.unfolded.is_empty()) {
            (false, _) => Some(std::slice::from_ref(&self.effect)),
            (true, false) => Some(&self.unfolded),
            (true, true) => None,
        }
    }
}

/// Commands that move together.
#[derive(Clone, Debug)]
pub(crate) struct Team {
    pub(crate) action: ActionId,
    /// Its position in [`model::Model::transitions`].
    pub(crate) transition: usize,
    pub(crate) members: Vec<Vec<Member>>,
    /// Whether a sender and a receiver fit together.
    pub(crate) agreement: Option<u32>,
    /// What the team touches beyond its members' own code.
    pub(crate) footprint: Footprint,
    /// May that code fail?
    pub(crate) can_fail: bool,
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Member {
    pub(crate) command: u32,
    pub(crate) effect: u32,
}

/// Buffers that are reused from state to state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Scratch {
    pub(crate) current: Vec<u64>,
    pub(crate) target: Vec<u64>,
    pub(crate) written: Vec<u64>,
    /// Is `current` the state whose steps are computed?
    pub(crate) is_current: bool,
    pub(crate) gathered: Gathered,
    /// Which outcome of each member is looked at.
    pub(crate) picks: Vec<usize>,
    /// What the label of a team is looked up by.
    pub(crate) key: Vec<u32>,
    pub(crate) outcomes: Vec<Vec<u64>>,
    /// The abstract timers that each outcome sets.
    pub(crate) timers_set: Vec<Vec<Vec<u32>>>,
    pub(crate) merged: Vec<u64>,
    /// Registers and remembered conditions of machine code.
    pub(crate) frame: Vec<u64>,
}

/// What the searches have numbers for. A search that would need more is stopped as if it had met
/// more states than allowed.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Fewer states, and nodes of a product, than two to the power of this.
    pub max_name_bits: u32,
    /// No more steps leave a state.
    pub max_steps: u32,
    /// No more edges leave a node of a product.
    pub max_edges: u32,
    /// No more nodes in a graph that is kept as a whole.
    pub max_nodes: u32,
    /// Not a limit: so many nodes of a product are searched depth first before all its edges are
    /// stored.
    pub n_depth_first: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_name_bits: StateStore::MAX_NAME_BITS,
            // What is left beside the other facts about a state (`parallel_space.rs`).
            max_steps: (1 << 28) - 2,
            max_edges: u32::MAX,
            max_nodes: (1 << 31) - 1,
            // A run that violates a property is often found soon, and what is found by then is lost.
            n_depth_first: 4096,
        }
    }
}

/// The steps that leave a state.
#[derive(Clone, Debug, Default)]
pub struct Steps {
    pub(crate) words: Vec<u64>,
    pub(crate) labels: Vec<LabelId>,
    /// Which command or team takes each step; see [`crate::stubborn`].
    pub(crate) units: Vec<u32>,
    /// Who else takes steps that happen in several ways at once.
    pub(crate) merged_units: Vec<u32>,
    /// The length of a target.
    pub(crate) n_words: usize,
}

impl Steps {
    /// How many steps.
    #[must_use]
    pub fn len(&self) -> usize {
        self.labels.len()
    }

    /// Is the state deadlocked?
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty()
    }

    pub(crate) fn clear(&mut self) {
        self.words.clear();
        self.labels.clear();
        self.units.clear();
        self.merged_units.clear();
    }

    pub(crate) fn target(&self, position: usize, n_words: usize) -> &[u64] {
        &self.words[position * n_words..][..n_words]
    }

    /// Hashes all targets and prefetches their slots.
    pub(crate) fn hash_targets(&self, hashes: &mut Vec<u64>, table: &Index) {
        hashes.clear();
        let hash = |target: &[u64]| {
            let hash = StateStore::hash(target);
            table.prefetch(hash);
            hash
        };
        match self.n_words {
            // A length known here makes a difference.
            1 => hashes.extend(self.words.iter().map(|word| hash(&[*word]))),
            n_words => hashes.extend(self.words.chunks_exact(n_words.max(1)).map(hash)),
        }
    }

    /// Adds the steps of another state.
    pub(crate) fn append(&mut self, other: &Self) {
        self.words.extend_from_slice(&other.words);
        self.labels.extend_from_slice(&other.labels);
        self.units.extend_from_slice(&other.units);
        self.merged_units.extend_from_slice(&other.merged_units);
    }

    pub(crate) fn push(&mut self, words: &[u64], label: LabelId, unit: u32) {
        self.words.extend_from_slice(words);
        self.labels.push(label);
        self.units.push(unit);
    }

    /// Moves the step at `from` to the earlier position `to`.
    pub(crate) fn move_step(&mut self, from: usize, to: usize, n_words: usize) {
        self.labels[to] = self.labels[from];
        self.units[to] = self.units[from];
        self.words
            .copy_within(from * n_words..(from + 1) * n_words, to * n_words);
    }

    /// Forgets all steps from position `len` on.
    pub(crate) fn truncate(&mut self, len: usize, n_words: usize) {
        self.labels.truncate(len);
        self.units.truncate(len);
        self.words.truncate(len * n_words);
    }

    /// Keeps only the steps of some units.
    pub(crate) fn retain_units(&mut self, mut keep: impl FnMut(u32) -> bool) {
        let n_words = self.words.len() / self.len().max(1);
        let mut kept = 0;
        for position in 0..self.len() {
            if keep(self.units[position]) {
                self.move_step(position, kept, n_words);
                kept += 1;
            }
        }
        self.truncate(kept, n_words);
    }
}

fn product(factors: impl Iterator<Item = Option<u64>>) -> Option<u64> {
    let mut factors = factors;
    factors.try_fold(1_u64, |product, factor| product.checked_mul(factor?))
}

/// A run-time error of the model. The reference semantics, asked about the same state, says which.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Failed;

impl<'m> System<'m> {
    /// Compiles a model.
    ///
    /// # Errors
    /// A guard, an effect or the state is too large.
    pub fn new(model: &'m Model) -> Result<Self, CompileError> {
        Self::without(model, Elimination::new(model))
    }

    /// Compiles a model with all of its code, whether it can be executed or not.
    ///
    /// # Errors
    /// A guard, an effect or the state is too large.
    pub fn with_all_code(model: &'m Model) -> Result<Self, CompileError> {
        Self::without(model, Elimination::nothing(model))
    }

    fn without(model: &'m Model, elimination: Elimination) -> Result<Self, CompileError> {
        let layout = Layout::new(model, &elimination.ranges);
        if layout.n_words > usize::from(u16::MAX) {
            return Err(CompileError::StateTooLarge);
        }
        let tables = Tables {
            fields: layout.fields.clone(),
            channels: layout.channels.clone(),
            segments: layout.segments.clone(),
            ..Tables::default()
        };

        let mut system = Self {
            model,
            tables,
            elimination,
            machine: Machine::default(),
            labels: LabelTable::new(),
            commands: Vec::new(),
            by_location: Vec::new(),
            rows: Vec::new(),
            first_row: Vec::new(),
            teams: Vec::new(),
            synchronous: model.parts().composition == Composition::Synchronous,
            may_repeat: false,
            init: None,
            ruling: None,
            agenda: Arc::default(),
            team_labels: FxHashMap::default(),
            scratch: Scratch::default(),
            effect_footprints: FxHashMap::default(),
            propositions: Vec::new(),
            native: None,
            is_interpreted: false,
            limits: Limits::default(),
            canonicalizer: None,
            canonicalizer_scratch: crate::symmetry::Scratch::default(),
            layout,
        };

        system.compile_commands()?;
        system.compile_teams()?;
        system.index_by_location();
        system.compile_init()?;
        system.may_repeat = system.steps_may_repeat();
        system.ruling = Ruling::new(&system);
        if !system.synchronous {
            system.agenda = Arc::new(Agenda::new(&system));
        }
        system.prepare_scratch();
        Ok(system)
    }

    /// The same system, for which no machine code is generated: everything is interpreted.
    #[must_use]
    pub fn interpreted(mut self) -> Self {
        self.is_interpreted = true;
        self.native = None;
        self
    }

    /// The same system, whose searches have numbers for less. For tests.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// An empty set of states.
    pub(crate) fn new_store(&self) -> StateStore {
        StateStore::limited(self.n_words(), self.limits.max_name_bits)
    }

    /// Generates machine code for the steps and for all propositions compiled so far. Says whether
    /// there is any; without it, everything is interpreted, with the same results. The searches
    /// call this themselves.
    pub fn translate(&mut self) -> bool {
        if !self.is_interpreted {
            let mut propositions = self.propositions.clone();
            if self.synchronous {
                propositions.extend(self.commands.iter().map(|command| command.guard));
            }
            self.native = crate::native::generate(self, &propositions).map(Arc::new);
            let frame_len = self.native.as_ref().map_or(0, |native| native.frame_len());
            self.scratch.frame = vec![0; frame_len];
        }
        self.native.is_some()
    }

    /// The model that was compiled.
    #[must_use]
    pub fn model(&self) -> &'m Model {
        self.model
    }

    /// How many words a packed state has.
    #[must_use]
    pub fn n_words(&self) -> usize {
        self.layout.n_words
    }

    /// How many states there can be, if that is a number of 64 bits: every location, value and
    /// content of channels in every combination.
    pub(crate) fn state_bound(&self) -> Option<u64> {
        let n_values = |field: &jit::Field| {
            u64::try_from(i128::from(field.hi) - i128::from(field.lo) + 1).ok()
        };
        let plain = self.layout.fields[..self.layout.n_plain_fields()].iter();
        let plain = plain.map(n_values);
        let buffered = self.layout.channels.iter();
        let buffered = buffered.filter(|channel| channel.capacity > 0);
        let channels = buffered.map(|channel| {
            let slot = channel.first_slot as usize;
            let components = &self.layout.fields[slot..slot + channel.n_components as usize];
            let n_messages = product(components.iter().map(n_values));
            let with_length = |length| n_messages.and_then(|n| n.checked_pow(length));
            (0..=channel.capacity)
                .map(with_length)
                .try_fold(0_u64, |sum, more| sum.checked_add(more?))
        });
        product(plain.chain(channels))
    }

    /// The state that packed words stand for.
    #[must_use]
    pub fn unpack(&self, words: &[u64]) -> State {
        self.layout.unpack(self.model, words)
    }

    /// The packed words of a state.
    #[must_use]
    pub fn pack(&self, state: &State) -> Vec<u64> {
        self.layout.pack(state)
    }

    /// Are these the packed words of a state?
    pub(crate) fn is_packed(&self, words: &[u64]) -> bool {
        self.layout.is_packed(self.model, words)
    }

    /// What a label means.
    #[must_use]
    pub fn label(&self, id: LabelId) -> &Label {
        self.labels.get(id)
    }

    /// The label of a step.
    #[must_use]
    pub fn step_label(&self, steps: &Steps, position: usize) -> &Label {
        self.labels.get(steps.labels[position])
    }

    /// The packed target of a step.
    #[must_use]
    pub fn step_target<'s>(&self, steps: &'s Steps, position: usize) -> &'s [u64] {
        steps.target(position, self.layout.n_words)
    }

    /// Does a step with this label execute one of the commands?
    pub(crate) fn executes(&self, label: LabelId, set: &StepSet) -> bool {
        self.labels
            .get(label)
            .commands
            .iter()
            .any(|command| set.contains(*command))
    }

    /// Evaluates a compiled proposition.
    pub(crate) fn holds(&mut self, code: u32, words: &[u64]) -> Result<bool, Failed> {
        if let Some(native) = &self.native
            && let Some(end) = native.holds(code, words, &mut self.scratch.frame)
        {
            return truth(end);
        }
        let Scratch {
            current, written, ..
        } = &mut self.scratch;
        current.copy_from_slice(words);
        let machine = &mut self.machine;
        truth(machine.run::<false>(&self.tables, code, current, written))
    }

    fn steps_may_repeat(&self) -> bool {
        let model = self.model;
        let alternatives = |team: &Team| team.members.iter().any(|member| member.len() > 1);
        self.commands.iter().any(|command| command.has_choice)
            || model.actions().len() < model.transitions().len()
            || self.teams.iter().any(alternatives)
    }

    fn prepare_scratch(&mut self) {
        let n_words = self.layout.n_words;
        self.machine.registers = vec![0; self.tables.n_registers];
        self.machine.recalled = vec![None; self.tables.n_shared];
        self.scratch = Scratch {
            current: vec![0; n_words],
            target: vec![0; n_words],
            written: vec![0; n_words],
            merged: vec![0; n_words],
            ..Scratch::default()
        };
    }

    /// Calls `visit` with every combination of initial values, in a fixed order, and whether it
    /// satisfies the initial constraints, until it returns an error. Where a process starts with
    /// control, a state may be visited twice.
    ///
    /// # Errors
    /// The error of `visit`; a constraint or value that fails is handed to it as [`Failed`] with
    /// the words of the state.
    pub fn for_each_initial<E>(
        &mut self,
        visit: &mut impl FnMut(&mut Self, &[u64], Result<bool, Failed>) -> Result<(), E>,
    ) -> Result<(), E> {
        let mut words = vec![0; self.layout.n_words];
        // Every component with its choices; an odometer runs through all combinations.
        let mut wheels: Vec<(u32, Vec<i64>, i64, i64)> = Vec::new();
        for instance in 0..self.model.instances().len() {
            let locations = self.model.initial_locations(instance);
            let values: Vec<i64> = locations
                .iter()
                .map(|location| i64::from(location.0))
                .collect();
            let last = values.len() as i64 - 1;
            wheels.push((
                self.layout.first_location + instance as u32,
                values,
                0,
                last,
            ));
        }

        for cell in 0..self.model.cells().len() {
            let field = self.layout.first_cell + cell as u32;
            let (lo, hi) = match self.model.initial_value(cell) {
                Ok(Some(value)) => (value, value),
                Ok(None) => self.model.cells()[cell].ty.bounds(),
                Err(_) => return visit(self, &words, Err(Failed)),
            };
            wheels.push((field, Vec::new(), lo, hi));
        }

        let mut positions: Vec<i64> = wheels.iter().map(|wheel| wheel.2).collect();
        let put = |system: &Self, words: &mut [u64], wheel: &(u32, Vec<i64>, i64, i64), at: i64| {
            let field = &system.tables.fields[wheel.0 as usize];
            let value = if wheel.1.is_empty() {
                at
            } else {
                wheel.1[at as usize]
            };
            field.set_raw(words, field.encode(value));
        };

        for (wheel, &position) in wheels.iter().zip(&positions) {
            put(self, &mut words, wheel, position);
        }
        loop {
            let satisfied = self.init.map_or(Ok(true), |init| self.holds(init, &words));
            match &self.ruling {
                Some(ruling) if ruling.has_control() => {
                    let mut normalised = words.clone();
                    self.normalise(&mut normalised);
                    visit(self, &normalised, satisfied)?;
                }
                _ => visit(self, &words, satisfied)?,
            }
            let mut turning = wheels.len();
            loop {
                if turning == 0 {
                    return Ok(());
                }
                turning -= 1;
                let wheel = &wheels[turning];
                if positions[turning] < wheel.3 {
                    positions[turning] += 1;
                    put(self, &mut words, wheel, positions[turning]);
                    break;
                }
                positions[turning] = wheel.2;
                put(self, &mut words, wheel, wheel.2);
            }
        }
    }
}

/// What the end of the code of a condition says.
#[inline]
pub(crate) fn truth(end: End) -> Result<bool, Failed> {
    match end {
        End::Accept => Ok(true),
        End::Reject => Ok(false),
        End::Fail => Err(Failed),
    }
}

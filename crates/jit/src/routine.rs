//! Machine code for the steps of a system.
//!
//! One routine computes all steps of a state: for every process it jumps to the commands of its
//! location, tests their guards and writes the targets of the enabled ones one after the other.
//! Commands that move together are tried where the first of them is: are the others in place, do
//! their guards hold? Where not all possible steps exist, those of each kind have a sequence of
//! their own, and the caller says which of them to run.
//! It is generated from the instructions of [`crate::code`] in about a millisecond, so there is no
//! point from which on it pays: it is generated for every search.
//!
//! What cannot be translated (choices that do not unfold, computed channels, teams whose members
//! interfere) is left to the interpreter, process by process: the routine returns and says where it
//! stopped, and is entered again behind that place. On other processors, and where the system does
//! not allow it, everything is interpreted.
//!
//! Rejected: a general code generator (Cranelift). It takes 20 ms and more for models whose whole
//! search takes 50, and four minutes to build.

use std::ops::Range;

use base::bits;

use crate::code::{End, Tables};
use crate::executable::{Context, Executable};
use crate::field::Field;
use crate::generator::Generator;
use crate::translate::FieldRecord;

base::define_index! {
    /// What a step is called. The caller knows what it means.
    #[repr(transparent)]
    pub struct LabelId;
}

/// What the steps of a state are computed from, besides the attempts at each location.
#[derive(Clone, Debug)]
pub struct Plan<'a> {
    /// The code of guards and effects.
    pub tables: &'a Tables,
    /// The length of a state.
    pub n_words: usize,
    /// What one call computes: each of these.
    pub sequences: Vec<Sequence>,
}

/// Visits of processes, one after the other.
#[derive(Clone, Debug)]
pub struct Sequence {
    /// The processes that are visited.
    pub visits: Vec<Visit>,
    /// Can the caller ask for the first step only?
    pub can_stop_early: bool,
}

/// The visit of a process.
#[derive(Clone, Debug)]
pub struct Visit {
    /// Where the process is.
    pub location: Field,
    /// What the source of attempts calls each of its locations; nothing where nothing is to do.
    pub rows: Vec<Option<u32>>,
}

/// One thing to try in a state.
#[derive(Clone, Debug)]
pub struct Attempt {
    /// A field that must have this value.
    pub field: Option<(Field, u64)>,
    /// Code that must accept.
    pub condition: Option<u32>,
    /// What happens then.
    pub then: Then,
}

/// What happens if an attempt succeeds.
#[derive(Clone, Debug)]
pub enum Then {
    /// Nothing: the condition is evaluated because it might fail.
    Nothing,
    /// Steps are taken.
    Steps(Vec<Step>),
    /// More is tried.
    Try(Vec<Attempt>),
}

/// A step: its effects one after the other, upon one copy of the state.
#[derive(Clone, Debug)]
pub struct Step {
    /// The code of its effects; if one rejects, there is no such step.
    pub effects: Vec<u32>,
    /// What it is called.
    pub label: LabelId,
    /// Who takes it.
    pub unit: u32,
}

/// Where steps are written to, each behind what is there.
#[derive(Debug)]
pub struct Targets<'a> {
    /// The states that are reached.
    pub words: &'a mut Vec<u64>,
    /// What the steps are called.
    pub labels: &'a mut Vec<LabelId>,
    /// Who takes them.
    pub units: &'a mut Vec<u32>,
}

/// How a call of the routine ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Status {
    /// Everything is computed.
    Done,
    /// A run-time error of the model.
    Failed,
    /// The visit at this stop must be interpreted; then go on at the next stop of the sequence.
    Interpret(usize),
}

/// The machine code of a system.
///
/// Invariant of the code that it is made of: an index was checked by `Op::Index` before it is used,
/// and the states that it is run on are packed: every field has one of its values.
#[derive(Debug)]
pub struct Routine {
    pub(crate) executable: Executable,
    /// The code refers to it by address.
    pub(crate) _records: Box<[FieldRecord]>,
    /// Where each visit begins, those of one sequence after those of another.
    pub(crate) stops: Vec<usize>,
    /// The first stop of each sequence, and the end of the last.
    pub(crate) first_stops: Vec<usize>,
    /// Where the code of the proposition at each position of the system's code is; `NOWHERE` if
    /// there is none.
    pub(crate) propositions: Box<[u32]>,
    /// No state has more steps that the code computes.
    pub(crate) max_steps: usize,
    pub(crate) n_words: usize,
    /// Words of the frame, and from where on they say what is remembered of the current state.
    pub(crate) frame_len: usize,
    pub(crate) remembered_from: usize,
}

/// The place of code that there is not.
pub(crate) const NOWHERE: u32 = u32::MAX;

/// Results of the generated code; larger ones name a stop.
pub(crate) const DONE: u32 = 0;
pub(crate) const FAILED: u32 = 1;
pub(crate) const FIRST_STOP: u32 = 2;

/// Results of the code of a proposition; anything else is a run-time error.
pub(crate) const HOLDS: u32 = 2;
pub(crate) const HOLDS_NOT: u32 = 3;

impl Routine {
    /// Generates code for a plan and for the propositions at these positions of its code. Nothing
    /// if the processor is another one, the system does not allow it, or a state may have too many
    /// steps.
    ///
    /// `attempts` is asked for what can be tried in a visit, which has a number, at a location.
    /// Nothing is left to the interpreter, and so is everything behind the point where the code has
    /// become too long.
    pub fn new(
        plan: &Plan<'_>,
        attempts: &mut dyn FnMut(usize, u32) -> Option<Vec<Attempt>>,
        propositions: &[u32],
    ) -> Option<Self> {
        if !cfg!(all(feature = "native", target_arch = "x86_64", unix)) {
            return None;
        }
        Generator::generate(plan, attempts, propositions)
    }

    /// Does the code compute steps? Where all processes move together, only guards and propositions
    /// are translated.
    #[must_use]
    pub fn has_steps(&self) -> bool {
        !self.stops.is_empty()
    }

    /// How long the frame is that the code works with.
    #[must_use]
    pub fn frame_len(&self) -> usize {
        self.frame_len
    }

    /// The stops of a sequence.
    #[inline]
    #[must_use]
    pub fn stops(&self, sequence: usize) -> Range<usize> {
        self.first_stops[sequence]..self.first_stops[sequence + 1]
    }

    /// Forgets what was remembered of another state.
    #[inline]
    pub fn forget(&self, frame: &mut [u64]) {
        bits::clear_all(&mut frame[self.remembered_from..]);
    }

    /// Computes the steps of a state from a stop on, to the end of its sequence. With `is_hurried`,
    /// a sequence that can stop early does so after a step.
    #[inline]
    pub fn run(
        &self,
        stop: usize,
        state: &[u64],
        frame: &mut [u64],
        is_hurried: bool,
        targets: Targets<'_>,
    ) -> Status {
        let Targets {
            words,
            labels,
            units,
        } = targets;
        let (n_steps, n_words) = (labels.len(), words.len());
        assert!(state.len() == self.n_words && frame.len() >= self.frame_len);
        assert!(units.len() == n_steps);
        words.reserve(self.max_steps * self.n_words);
        labels.reserve(self.max_steps);
        units.reserve(self.max_steps);

        // SAFETY: the code reads `n_words` words of the state, uses `frame_len` words of the frame,
        // and writes at most `max_steps` steps, for which there is room; it says how many it has
        // written. `LabelId` is transparent.
        unsafe {
            let first_label = labels.as_mut_ptr().add(n_steps).cast::<u32>();
            let mut context = Context {
                state: state.as_ptr(),
                frame: frame.as_mut_ptr(),
                words: words.as_mut_ptr().add(n_words),
                labels: first_label,
                units: units.as_mut_ptr().add(n_steps),
                is_hurried: u64::from(is_hurried),
            };
            let result = self.executable.call(&mut context, self.stops[stop]);
            let n_new = context.labels.offset_from(first_label) as usize;
            debug_assert!(n_new <= self.max_steps);
            words.set_len(n_words + n_new * self.n_words);
            labels.set_len(n_steps + n_new);
            units.set_len(n_steps + n_new);
            match result as u32 {
                DONE => Status::Done,
                FAILED => Status::Failed,
                stop => Status::Interpret((stop - FIRST_STOP) as usize),
            }
        }
    }

    /// Evaluates a proposition: it accepts the state or rejects it. Nothing if it was not
    /// translated.
    #[inline]
    pub fn holds(&self, proposition: u32, state: &[u64], frame: &mut [u64]) -> Option<End> {
        let entry = *self.propositions.get(proposition as usize)?;
        if entry == NOWHERE {
            return None;
        }
        assert!(state.len() == self.n_words && frame.len() >= self.frame_len);
        let mut context = Context {
            state: state.as_ptr(),
            frame: frame.as_mut_ptr(),
            words: std::ptr::null_mut(),
            labels: std::ptr::null_mut(),
            units: std::ptr::null_mut(),
            is_hurried: 0,
        };
        // SAFETY: the code of a proposition reads the state, uses the frame, and nothing else.
        let result = unsafe { self.executable.call(&mut context, entry as usize) };
        Some(match result as u32 {
            HOLDS => End::Accept,
            HOLDS_NOT => End::Reject,
            _ => End::Fail,
        })
    }
}

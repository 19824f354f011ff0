//! Machine code for the steps of a system.
//!
//! One routine computes all steps of a state: for every process it jumps to the commands of its
//! location, tests their guards and writes the targets of the enabled ones one after the other.
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

mod allocation;
mod assembler;
mod executable;
mod expansion;
mod translate;

use crate::system::{Failed, Steps, System};
use executable::{Context, Executable};
use translate::FieldRecord;

/// How a call of the routine ended.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Status {
    /// Everything is computed.
    Done,
    /// A run-time error of the model.
    Failed,
    /// The process at this stop must be interpreted; then go on at the next stop.
    Interpret(usize),
}

/// The machine code of a system.
#[derive(Debug)]
pub(crate) struct Native {
    executable: Executable,
    /// The code refers to it by address.
    _records: Box<[FieldRecord]>,
    /// Where each process begins: first all of them with the commands that move alone, then all
    /// of them with the teams they lead.
    stops: Vec<usize>,
    /// Where the code of the proposition at each position of the system's code is; `NOWHERE` if
    /// there is none.
    propositions: Box<[u32]>,
    /// No state has more steps that the code computes.
    max_steps: usize,
    n_words: usize,
    /// Words of the frame, and from where on they say what is remembered of the current state.
    pub(crate) frame_len: usize,
    remembered_from: usize,
}

/// The place of code that there is not.
const NOWHERE: u32 = u32::MAX;

/// Results of the generated code; larger ones name a stop.
const DONE: u32 = 0;
const FAILED: u32 = 1;
const FIRST_STOP: u32 = 2;

impl Native {
    /// Generates code for a system and for the propositions at these positions of its code.
    pub(crate) fn new(system: &mut System<'_>, propositions: &[u32]) -> Option<Self> {
        if !cfg!(all(target_arch = "x86_64", unix)) {
            return None;
        }
        expansion::generate(system, propositions)
    }

    /// Does the code compute steps? Where not every possible step exists, and where all processes
    /// move together, only guards and propositions are translated.
    pub(crate) fn has_steps(&self) -> bool {
        !self.stops.is_empty()
    }

    /// Is this the last stop of all?
    pub(crate) fn is_end(&self, stop: usize) -> bool {
        stop == self.stops.len()
    }

    /// Forgets what was remembered of another state.
    pub(crate) fn forget(&self, frame: &mut [u64]) {
        frame[self.remembered_from..].fill(0);
    }

    /// Computes the steps of a state from a stop on.
    #[allow(unsafe_code, reason = "calls generated code")]
    pub(crate) fn run(
        &self,
        stop: usize,
        state: &[u64],
        frame: &mut [u64],
        enabled: &mut [bool],
        steps: &mut Steps,
    ) -> Status {
        assert!(state.len() == self.n_words && frame.len() >= self.frame_len);
        let (n_steps, n_words) = (steps.labels.len(), steps.words.len());
        steps.words.reserve(self.max_steps * self.n_words);
        steps.labels.reserve(self.max_steps);
        steps.units.reserve(self.max_steps);

        // SAFETY: the code reads `n_words` words of the state, uses `frame_len` words of the frame
        // and one flag for each command, and writes at most `max_steps` steps, for which there is
        // room; it says how many it has written.
        unsafe {
            let labels = steps.labels.as_mut_ptr().add(n_steps).cast::<u32>(); // `LabelId` is transparent.
            let mut context = Context {
                state: state.as_ptr(),
                frame: frame.as_mut_ptr(),
                words: steps.words.as_mut_ptr().add(n_words),
                labels,
                units: steps.units.as_mut_ptr().add(n_steps),
                enabled: enabled.as_mut_ptr(),
            };
            let result = self.executable.call(&mut context, self.stops[stop]);
            let n_new = context.labels.offset_from(labels) as usize;
            debug_assert!(n_new <= self.max_steps);
            steps.words.set_len(n_words + n_new * self.n_words);
            steps.labels.set_len(n_steps + n_new);
            steps.units.set_len(n_steps + n_new);
            match result as u32 {
                DONE => Status::Done,
                FAILED => Status::Failed,
                stop => Status::Interpret((stop - FIRST_STOP) as usize),
            }
        }
    }

    /// Evaluates a proposition; nothing if it was not translated.
    #[allow(unsafe_code, reason = "calls generated code")]
    pub(crate) fn holds(
        &self,
        proposition: u32,
        state: &[u64],
        frame: &mut [u64],
    ) -> Option<Result<bool, Failed>> {
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
            enabled: std::ptr::null_mut(),
        };
        // SAFETY: the code of a proposition reads the state, uses the frame, and nothing else.
        let result = unsafe { self.executable.call(&mut context, entry as usize) };
        Some(match result as u32 {
            HOLDS => Ok(true),
            HOLDS_NOT => Ok(false),
            _ => Err(Failed),
        })
    }
}

/// Results of the code of a proposition; anything else is a run-time error.
const HOLDS: u32 = 2;
const HOLDS_NOT: u32 = 3;

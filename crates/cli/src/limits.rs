//! What a call may spend, and who stops it.
//!
//! There is one budget for the call ([`budget`]); everything that takes long polls it. A thread
//! looks at the clock and at the memory of the process and of solvers, and pulls the switch of the budget when a
//! limit is reached, as Ctrl-C does. Work that does not end soon after that, because it is in a
//! part that polls nothing, is given up: the thread says what is known by then ([`last_words`]) and
//! ends the program. So limits hold everywhere, and what polls only makes the end more graceful.

use std::cell::Cell;
use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError, mpsc};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use fairground::report::Escape;
use fairground::{Budget, StopReason, Stopper};

use crate::failure::{Failure, Status};
use crate::options::OutputFormat;
use crate::{memory, output};

/// How often clock and memory are looked at.
const TICK: Duration = Duration::from_millis(20);

/// How often, in ticks, the memory of other programs is looked at: one file for each thread.
const TICKS_OF_CHILDREN: usize = 5;

/// How long work may take to end after it was told to.
const GRACE: Duration = Duration::from_millis(500);

/// What the program needs besides what grows with the model: memory up to this is not counted.
const OWN_MEMORY: u64 = 32 << 20;

/// The budget of the call.
static WHOLE: OnceLock<Budget> = OnceLock::new();

/// The part of the budget that has a time limit of its own.
static PART: Mutex<Option<(Instant, Stopper)>> = Mutex::new(None);

/// What is printed last, and how the program ends then.
pub struct Farewell {
    /// What is printed.
    pub text: String,
    /// How it is made harmless; as text for people if nothing is said.
    pub escape: Option<Escape>,
    /// How the program ends.
    pub status: Status,
}

/// What to do if the work has to be given up.
type LastWords = Box<dyn FnOnce(StopReason) -> Farewell + Send>;

static LAST_WORDS: Mutex<Option<LastWords>> = Mutex::new(None);

/// The budget of the call: what spends it ends when the call has to.
pub fn budget() -> Budget {
    WHOLE.get().cloned().unwrap_or_default()
}

/// Sees to it that the call ends when its time is over or its memory used up, and at the first
/// Ctrl-C; at the second, it ends at once.
///
/// # Errors
/// The system lets no program listen to signals.
pub fn enforce(timeout: Option<Duration>, max_memory: Option<u64>) -> anyhow::Result<()> {
    let mut budget = Budget::unlimited();
    let max_memory = max_memory.or_else(memory::default_limit);
    if let Some(bytes) = max_memory {
        budget = budget.with_max_memory(bytes);
    }

    let watch = Watch {
        stopper: budget.stopper(),
        deadline: timeout.and_then(|timeout| Instant::now().checked_add(timeout)),
        max_memory: max_memory.map(|bytes| bytes.saturating_add(OWN_MEMORY)),
        by_children: Cell::new(0),
    };
    // Without this, it would depend on the scheduler whether no time at all is too little. There is
    // memory enough to begin with.
    watch.look_at_clock();
    listen_to_interrupts(budget.stopper())?;

    WHOLE.get_or_init(|| budget);
    let started = thread::Builder::new().spawn(move || watch.run());
    started.context("no thread can be started")?;
    Ok(())
}

/// A part of the call's budget that ends after some time. Only one at a time has a limit.
pub fn part(budget: &Budget, timeout: Option<Duration>) -> Budget {
    let part = budget.part();
    let end = timeout.and_then(|timeout| Instant::now().checked_add(timeout));
    if let Some(Duration::ZERO) = timeout {
        part.stopper().time_out();
    }
    *locked(&PART) = end.map(|end| (end, part.stopper()));
    part
}

/// What is printed, and how the program ends, if the work is given up because it does not end in
/// time. What is printed then must not have been printed before.
pub fn last_words(words: impl FnOnce(StopReason) -> Farewell + Send + 'static) {
    *locked(&LAST_WORDS) = Some(Box::new(words));
}

/// What is said by default: that there is nothing to show, in the format that is wanted.
pub fn announce(wanted: Option<(OutputFormat, String)>) {
    last_words(move |reason| {
        let failure = Failure::stopped(reason);
        let (format, file) = wanted.unwrap_or((OutputFormat::Text, String::new()));
        let farewell = Farewell {
            text: failure.in_format(format, &file),
            escape: format.escape(),
            status: Status::Undecided,
        };
        failure.show();
        farewell
    });
}

fn locked<T>(mutex: &'static Mutex<T>) -> std::sync::MutexGuard<'static, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Looks at clock and memory.
struct Watch {
    stopper: Stopper,
    deadline: Option<Instant>,
    max_memory: Option<u64>,
    /// What other programs used when that was last looked at.
    by_children: Cell<u64>,
}

impl Watch {
    fn run(&self) {
        let mut told_at: Option<Instant> = None;
        for tick in 0_usize.. {
            thread::sleep(TICK);
            if self.max_memory.is_some() && tick.is_multiple_of(TICKS_OF_CHILDREN) {
                self.by_children.set(memory::in_use_by_children());
            }
            self.look();
            let Some(reason) = self.stopper.reason() else {
                continue;
            };

            let told_at = *told_at.get_or_insert_with(Instant::now);
            if told_at.elapsed() > GRACE || self.is_desperate() {
                give_up(reason);
            }
        }
    }

    /// Pulls switches whose time has come, or whose memory is used up.
    fn look(&self) {
        self.look_at_clock();
        if self
            .max_memory
            .is_some_and(|limit| self.uses_more_than(limit))
        {
            self.stopper.run_out_of_memory();
        }
    }

    fn look_at_clock(&self) {
        let now = Instant::now();
        if self.deadline.is_some_and(|deadline| deadline <= now) {
            self.stopper.time_out();
        }
        if let Some((_, stopper)) = locked(&PART).take_if(|(end, _)| *end <= now) {
            stopper.time_out();
        }
    }

    /// Do this process and the programs that it has started use more memory?
    fn uses_more_than(&self, limit: u64) -> bool {
        let own = memory::in_use();
        own.is_some_and(|bytes| bytes.saturating_add(self.by_children.get()) > limit)
    }

    /// Is there so little memory left that the work cannot be waited for? What other programs use
    /// does not count: the work is what ends them.
    fn is_desperate(&self) -> bool {
        let limit = self.max_memory.map(|limit| limit + limit / 8);
        limit.is_some_and(|limit| memory::in_use().is_some_and(|bytes| bytes > limit))
    }
}

/// How long the last words may take. Where the reader of the output does not read, they take forever.
const PATIENCE: Duration = Duration::from_secs(2);

/// Says what is known and ends the program.
fn give_up(reason: StopReason) -> ! {
    let (sender, receiver) = mpsc::channel();
    let speak = move || {
        // What is being printed is printed to its end, and nothing after that.
        if !output::silence() {
            return;
        }
        let Some(words) = locked(&LAST_WORDS).take() else {
            let _ = sender.send(Failure::stopped(reason).show());
            return;
        };
        let farewell = words(reason);
        let _ = sender.send(farewell.status);
        output::print_silenced(&farewell.text, farewell.escape);
    };

    if let Ok(speaker) = thread::Builder::new().spawn(speak) {
        let start = Instant::now();
        while start.elapsed() < PATIENCE && !speaker.is_finished() {
            thread::sleep(Duration::from_millis(5));
        }
    }
    let status = receiver.try_recv().unwrap_or(Status::Undecided);
    process::exit(status.code().into());
}

/// Can this many threads be started?
///
/// # Errors
/// How many can.
pub fn check_threads(n_threads: usize) -> anyhow::Result<()> {
    let (gate, pass) = std::sync::mpsc::channel::<()>();
    let pass = std::sync::Arc::new(Mutex::new(pass));
    let mut started = Vec::new();
    // The first one runs already.
    for n_started in 1..n_threads {
        let pass = std::sync::Arc::clone(&pass);
        let wait = move || {
            // All of them wait at the same time: for one another, and the last for the end.
            let _ = pass.lock().map(|pass| pass.recv());
        };
        match thread::Builder::new().spawn(wait) {
            Ok(thread) => started.push(thread),
            Err(error) => anyhow::bail!(
                "the system lets this program start {n_started} threads, not {n_threads} \
                 ({error}); use `--threads {n_started}`"
            ),
        }
    }
    drop(gate);
    for thread in started {
        let _ = thread.join();
    }
    Ok(())
}

fn listen_to_interrupts(stopper: Stopper) -> anyhow::Result<()> {
    let asked_before = AtomicBool::new(false);
    let handler = move || {
        if asked_before.swap(true, Ordering::Relaxed) {
            process::exit(Status::Undecided.code().into());
        }
        stopper.interrupt();
        output::note("stopping; press Ctrl-C again to end at once");
    };
    ctrlc::set_handler(handler).context("Ctrl-C cannot be handled")
}

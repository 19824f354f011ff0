//! What a call may spend, and who stops it.

use std::process;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::Context as _;
use fairground::{Budget, Stopper};

use crate::failure::Status;
use crate::output;

/// Sees to it that everything that spends this budget ends when the time is over, or at the first Ctrl-C. At the second
/// Ctrl-C the program ends at once.
///
/// # Errors
/// The system lets no program listen to signals.
pub fn enforce(budget: &Budget, timeout: Option<Duration>) -> anyhow::Result<()> {
    if let Some(timeout) = timeout {
        time_out_after(timeout, budget.stopper());
    }
    listen_to_interrupts(budget.stopper())
}

fn time_out_after(timeout: Duration, stopper: Stopper) {
    // Without this case, it would depend on the scheduler whether no time at all is too little.
    if timeout.is_zero() {
        return stopper.time_out();
    }
    thread::spawn(move || {
        thread::sleep(timeout);
        stopper.time_out();
    });
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

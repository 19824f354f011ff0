//! Where the work is done: a thread with room for deep recursion, whose panics are bugs.

use std::panic;
use std::thread;

use crate::failure::{ASK_TO_REPORT, Status};
use crate::output;

/// Enough for every nesting that the front ends allow. Pages that are never used cost nothing.
const STACK_BYTES: usize = 512 << 20;

/// Adds what to do about it to the message of every panic.
pub fn install_panic_message() {
    let default = panic::take_hook();
    panic::set_hook(Box::new(move |info| {
        default(info);
        output::note(ASK_TO_REPORT);
    }));
}

/// Does the work on a large stack. A panic has been shown by the hook; it ends as a bug.
pub fn run(work: impl FnOnce() -> Status + Send + 'static) -> Status {
    let builder = thread::Builder::new()
        .name("fair".to_owned())
        .stack_size(STACK_BYTES);
    match builder.spawn(work) {
        Ok(worker) => worker.join().unwrap_or(Status::Bug),
        Err(error) => {
            output::error(&format!("no thread can be started: {error}"));
            Status::Wrong
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_bug() {
        assert_eq!(run(|| panic!("expected by a test")), Status::Bug);
        assert_eq!(run(|| Status::Violated), Status::Violated);
    }
}

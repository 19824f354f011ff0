//! Connections to other processes that search together.

use std::fmt;

use crate::StopReason;

/// Connections between the processes of one search, each of which has a number from 0 on. Only
/// binaries know networks; a search is given links, and tests give it some that fail.
///
/// What a process sends to another arrives in the order in which it was sent, whole, once, or not at
/// all: then receiving fails.
pub trait Links: fmt::Debug + Send + Sync {
    /// How many processes there are.
    fn n_processes(&self) -> usize;

    /// The number of this one.
    fn own(&self) -> usize;

    /// Sends a message to another process. Waits while that one has too much to receive. Threads may
    /// send at the same time.
    ///
    /// # Errors
    /// The other process cannot be reached.
    fn send(&self, to: usize, message: &[u8]) -> Result<(), StopReason>;

    /// Waits for the next message of another process. Only one thread may wait for it.
    ///
    /// # Errors
    /// The other process has gone, or was silent for too long.
    fn receive(&self, from: usize, message: &mut Vec<u8>) -> Result<(), StopReason>;

    /// Closes all connections: this process cannot go on with the others.
    fn leave(&self);

    /// The bytes that were sent so far.
    fn n_sent(&self) -> u64;
}

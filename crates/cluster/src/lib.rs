//! Connections between processes that search together.
//!
//! [`connect`] joins the processes that a list of hosts names: every process listens at its own
//! address and connects to those before it. Both sides of a connection show that they know the shared
//! secret, that they run the same program and that they check the same model; then it is one of the
//! [`fairground::Links`] of a search ([`Sockets`]).
//!
//! What is sent afterwards is neither encrypted nor signed: a network that others can change needs a
//! tunnel. Without a secret, only addresses of this machine are used.
//!
//! A level of a search, or a round, ends when all processes have said so; connections keep the order of
//! messages, so nothing else is needed to know that all of them have arrived. That is why these are
//! plain connections and not a dataflow system: its tracking of progress would be told what is known
//! anyway, its queues have no bound, and it neither authenticates nor waits with a deadline.

mod handshake;
mod hosts;
mod sockets;

pub use handshake::{Joining, connect};
pub use hosts::Hosts;
pub use sockets::Sockets;

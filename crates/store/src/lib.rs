//! The set of visited states, shared between threads.
//!
//! A [`StateStore`] gives vectors of words short names, in the order of their arrival. It is exact:
//! two vectors have the same name iff they are equal. [`Chunked`] holds what a search keeps for
//! each name, [`Bytes`] what has no fixed length; [`Gate`] is the lock around tables that are read all the time and seldom enlarged.
//!
//! This crate knows neither models nor searches. Its unsafe code is in `region.rs` (memory from the
//! system), `chunked.rs` (arrays that appear while they are shared), `gate.rs` (the lock) and
//! `prefetch.rs` (hints to the processor), `scan.rs` calls instructions that every x86-64 processor has.
//! The tests are fit for Miri (smaller numbers under `cfg(miri)`), and loom explores interleavings of
//! small uses of the lock, the table and the arrays (`loom/`).
//!
//! ```
//! let mut store = store::StateStore::new(2);
//! let state = [3, 4];
//! let hash = store::StateStore::hash(&state);
//! assert_eq!(store.insert(&state, hash), Some((0, true)));
//! assert_eq!(store.insert(&state, hash), Some((0, false)));
//! assert_eq!(store.get(0), state);
//! ```

mod bytes;
mod chunked;
mod gate;
mod prefetch;
mod region;
mod rows;
mod scan;
mod state_store;
mod sync;
mod table;

pub use bytes::Bytes;
pub use chunked::{Chunked, Entry};
pub use gate::{Gate, Reading, Writing};
pub use rows::{Inserted, OwnLine};
pub use state_store::{Index, NOBODY, Names, StateIndex, StateStore};

//! Register code: what it is, a machine that interprets it, and its translation to machine code.
//!
//! [`Tables`] hold the code of guards and effects over packed states. [`Machine`] runs it anywhere.
//! [`Routine`] is machine code for x86-64 that computes all steps of a state, made of a [`Plan`] and
//! of the [`Attempt`]s at each location; it computes what the machine computes.
//!
//! This crate knows no models: its user says which code is tried when, and what steps are called.
//! Its unsafe code is in `executable.rs`, which has the memory, and `routine.rs`, which calls it.

mod allocation;
mod assembler;
mod code;
mod executable;
mod field;
mod generator;
mod routine;
mod translate;

pub use code::{Arith, Choices, End, Indexing, Machine, Op, Reg, Tables, arith, wrap};
pub use field::{ChannelFields, Field, Segment, SegmentRange};
pub use routine::{Attempt, LabelId, Plan, Routine, Sequence, Status, Step, Targets, Then, Visit};
pub use translate::{can_translate, extent};

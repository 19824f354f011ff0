//! The native language: what is read, what it means, and what is said about mistakes.

mod communications;
mod counts;
mod diagnostics;
mod families;
mod imports;
mod indices;
mod lowering;
mod population;
mod random_texts;
mod robust;
mod slips;
mod spawn;
mod support;
mod thresholds;
mod timers;
mod values;

//! `cargo fuzz run ltl seeds/ltl`, or with any other seeds.

#![no_main]

#[allow(dead_code)]
#[path = "../../crates/fairground/tests/formats/mod.rs"]
mod formats;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| formats::ltl(bytes));

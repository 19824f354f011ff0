//! Twins of native models for Stateright, a model checker for Rust programs.
//!
//! ```text
//! stateright-twins MODEL N THREADS
//! ```
//!
//! explores all states breadth first, checks the invariant, and prints how many states there are
//! and whether it holds. Each native step is exactly one step here. A state is a plain array, so
//! that copying and hashing it is as cheap as Stateright allows.

mod german;
mod le_r;
mod milner;
mod peterson;
mod philosophers;

use std::fmt::Debug;
use std::hash::Hash;
use std::process::ExitCode;

use stateright::{Checker as _, Model};

/// The largest size that the arrays in the states have room for.
const MAX_SIZE: usize = 16;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [model, size, threads] = &arguments[..] else {
        eprintln!("usage: stateright-twins MODEL N THREADS");
        return ExitCode::from(2);
    };

    let (Ok(size), Ok(threads)) = (size.parse::<usize>(), threads.parse::<usize>()) else {
        eprintln!("N and THREADS are numbers");
        return ExitCode::from(2);
    };

    if !(2..=MAX_SIZE).contains(&size) || threads == 0 {
        eprintln!("N is 2 to {MAX_SIZE}, THREADS at least 1");
        return ExitCode::from(2);
    }

    match model.as_str() {
        "german" => check(german::German { size }, threads),
        "le_r" => check(le_r::Ring { size }, threads),
        "milner" => check(milner::Milner { size }, threads),
        "peterson" => check(peterson::Peterson { size }, threads),
        "philosophers" => check(philosophers::Philosophers { size }, threads),
        _ => {
            eprintln!("`{model}` has no twin");
            return ExitCode::from(2);
        }
    }

    ExitCode::SUCCESS
}

fn check<M>(model: M, threads: usize)
where
    M: Model + Send + Sync + 'static,
    M::State: Clone + Debug + Hash + PartialEq + Send + Sync,
    M::Action: Clone + Debug + PartialEq,
{
    let checker = model.checker().threads(threads).spawn_bfs().join();
    let verdict = if checker.discoveries().is_empty() {
        "holds"
    } else {
        "violated"
    };
    let (states, depth) = (checker.unique_state_count(), checker.max_depth());
    println!("{{\"verdict\":\"{verdict}\",\"states\":{states},\"depth\":{depth}}}");
}

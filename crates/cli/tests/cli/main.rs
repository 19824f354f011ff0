//! The binary, from outside: what it prints and how it ends.

mod csp;
mod defects;
#[cfg(unix)]
mod documents;
mod fairness;
mod formats;
mod graph;
mod limits;
mod models;
mod parameterized;
mod reduction;
mod resume;
mod scene;
mod shell;
mod simulate;
mod traces;
mod verdicts;
mod wrong_calls;
mod ws1s;

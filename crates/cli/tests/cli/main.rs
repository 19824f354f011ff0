//! The binary, from outside: what it prints and how it ends.

mod certificates;
#[cfg(unix)]
mod cluster;
mod csp;
mod defects;
#[cfg(unix)]
mod documents;
mod every_limit;
mod expectations;
mod fairness;
mod fmt;
mod formats;
mod graph;
mod hostile;
#[cfg(unix)]
mod killed;
mod limits;
mod models;
mod parameterized;
mod promela;
mod reduction;
mod resume;
mod scene;
mod shell;
mod simulate;
mod studio;
mod traces;
mod values;
mod verdicts;
mod watch;
mod wrong_calls;
mod ws1s;

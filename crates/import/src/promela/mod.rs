//! Promela, the language of Spin.

mod ast;
mod flow;
mod parser;
mod preprocess;
mod symbols;
mod token;

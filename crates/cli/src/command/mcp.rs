//! `fair mcp`.

use std::io;

use anyhow::Context as _;

use crate::failure::{Failure, Status};

/// Serves an agent until its input ends.
///
/// # Errors
/// Input or output breaks.
pub fn run() -> Result<Status, Failure> {
    let (input, output) = (io::stdin().lock(), io::stdout().lock());
    mcp::run(input, output).context("the connection to the agent broke")?;
    Ok(Status::Success)
}

//! `fair lsp`.

use std::time::Duration;

use lsp::Settings;

use crate::failure::{Failure, Status};
use crate::options::{Cli, LspOptions};

/// What a check may need if the call does not say it.
const MAX_MEMORY: u64 = 2 << 30;
const TIMEOUT: Duration = Duration::from_secs(60);

/// Serves an editor until it says that it is done.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn run(options: &LspOptions, cli: &Cli) -> Result<Status, Failure> {
    let settings = Settings {
        max_states: options.max_states,
        max_memory: cli.max_memory.unwrap_or(MAX_MEMORY),
        timeout: cli.timeout.unwrap_or(TIMEOUT),
    };
    lsp::run(settings).map_err(|error| {
        Failure::wrong(format!(
            "the editor did not follow the Language Server Protocol ({error:#}); `fair lsp` is \
             started by editors: docs/how-to/use-in-editors.md"
        ))
    })?;
    Ok(Status::Success)
}

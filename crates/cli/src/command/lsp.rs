//! `fair lsp`.

use lsp::Settings;

use crate::failure::{Failure, Status};
use crate::options::LspOptions;

/// Serves an editor until it says that it is done.
///
/// # Errors
/// The connection breaks, or the editor does not follow the protocol.
pub fn run(options: &LspOptions) -> Result<Status, Failure> {
    let settings = Settings {
        max_states: options.max_states,
        max_memory: options.max_memory,
        timeout: options.timeout,
    };
    lsp::run(settings).map_err(|error| {
        Failure::wrong(format!(
            "the editor did not follow the Language Server Protocol ({error:#}); `fair lsp` is \
             started by editors: docs/how-to/use-in-editors.md"
        ))
    })?;
    Ok(Status::Success)
}

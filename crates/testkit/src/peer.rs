//! Other tools that tests compare with.

use std::process::Command;

/// Is a tool there? Elsewhere than in continuous integration its absence is told and the test can
/// do without; there (`CI=true`) the absence is a failure, since the script installs what it needs.
///
/// # Panics
/// The tool is missing in continuous integration.
#[must_use]
pub fn has_peer(program: &str, argument: &str) -> bool {
    let is_there = Command::new(program).arg(argument).output().is_ok();
    if !is_there {
        let message = format!("`{program}` is not installed, so nothing is compared with it");
        assert!(!is_required(), "{message}");
        eprintln!("skipped: {message}");
    }
    is_there
}

/// Must all peers be there?
fn is_required() -> bool {
    std::env::var("CI").is_ok_and(|value| value == "true")
}

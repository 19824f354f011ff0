//! `cargo xtask fuzz`: compares all routes of the checker for as long as asked.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::architecture::root;

/// Builds and runs the program of the crate `differential`, which prints seeds and writes findings
/// to `target/findings`. Optimised, but each crate for itself, which is built much sooner.
pub fn run(options: &[&str]) -> Result<()> {
    let target = std::env::var_os("CARGO_TARGET_DIR");
    let target = target.map_or_else(|| root().join("target"), |path| root().join(path));
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command
        .current_dir(root())
        .env("CARGO_PROFILE_RELEASE_LTO", "off")
        .args([
            "run",
            "--release",
            "--locked",
            "--package",
            "fairground-differential",
            "--",
        ])
        .args(options)
        .arg("--findings")
        .arg(target.join("findings"));

    let status = command.status().context("cargo cannot be started")?;
    if !status.success() {
        bail!("routes contradict each other, or the call is wrong");
    }
    Ok(())
}

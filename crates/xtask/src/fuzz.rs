//! `cargo xtask fuzz`: damages files of every format, and compares all routes of the checker, for as
//! long as asked.

use std::process::Command;

use anyhow::{Context as _, Result, bail};

use crate::architecture::root;

/// How much of the time is spent on damaged files.
const SHARE_OF_FILES: f64 = 1.0 / 3.0;

/// Damages files, then compares routes.
pub fn run(options: &[&str]) -> Result<()> {
    let minutes = options.iter().position(|option| *option == "--minutes");
    let minutes = minutes.and_then(|position| options.get(position + 1));
    let minutes: f64 = match minutes {
        None => 1.0,
        Some(text) => text.parse().context("--minutes needs a number")?,
    };
    damage_files(minutes * SHARE_OF_FILES)?;
    compare_routes(options)
}

/// Runs the test that damages files again and again, each time with others.
fn damage_files(minutes: f64) -> Result<()> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.current_dir(root());
    command.env("FAIR_MINUTES", minutes.to_string()).args([
        "test",
        "--release",
        "--locked",
        "--package",
        "fairground",
        "--test",
        "mutated",
    ]);
    command.env("CARGO_PROFILE_RELEASE_LTO", "off");
    let status = command.status().context("cargo cannot be started")?;
    if !status.success() {
        bail!("the test of damaged files failed; its output names the file");
    }
    Ok(())
}

/// Builds and runs the program of the crate `differential`, which prints seeds and writes findings
/// to `target/findings`. Optimised, but each crate for itself, which is built much sooner.
fn compare_routes(options: &[&str]) -> Result<()> {
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

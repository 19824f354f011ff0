//! Chores of the workspace: `cargo xtask architecture` compares the crates' dependencies with the
//! table in `ARCHITECTURE.md`.

mod architecture;

use anyhow::{Result, bail};

fn main() -> Result<()> {
    match std::env::args().nth(1).as_deref() {
        Some("architecture") => architecture::check(&architecture::root()),
        _ => bail!("usage: cargo xtask architecture"),
    }
}

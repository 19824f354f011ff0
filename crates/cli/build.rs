//! Asks the linker for a small program.
//!
//! What is generic is compiled for many types, and often to the same code, which a linker can merge;
//! and the places that are to be adjusted when a program is loaded can be listed in less room. Not
//! every linker knows these options, and not every C library the short list. So a small program is
//! linked and run first, with each of them.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};

const OPTIONS: [&str; 2] = ["-Wl,--icf=all", "-Wl,-z,pack-relative-relocs"];

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    let is = |variable: &str, value: &str| env::var(variable).is_ok_and(|found| found == value);
    let runs_here = env::var_os("HOST") == env::var_os("TARGET");
    if is("PROFILE", "release") && is("CARGO_CFG_TARGET_OS", "linux") && runs_here {
        for option in OPTIONS {
            if works(option).unwrap_or(false) {
                println!("cargo::rustc-link-arg-bins={option}");
            }
        }
    }
}

/// Does a program work that is linked with the option, by the linker that is going to be asked?
fn works(option: &str) -> Option<bool> {
    let folder = PathBuf::from(env::var_os("OUT_DIR")?);
    let (source, program) = (folder.join("tried.rs"), folder.join("tried"));
    fs::write(&source, "fn main() { println!(\"it works\"); }\n").ok()?;

    let mut rustc = Command::new(env::var_os("RUSTC")?);
    rustc.arg(&source).arg("-o").arg(&program);
    rustc.arg("--target").arg(env::var_os("TARGET")?);
    rustc.args(["-C", &format!("link-arg={option}")]);
    if let Some(linker) = env::var_os("RUSTC_LINKER") {
        let mut argument = OsString::from("linker=");
        argument.push(linker);
        rustc.arg("-C").arg(argument);
    }
    let flags = env::var("CARGO_ENCODED_RUSTFLAGS").unwrap_or_default();
    rustc.args(flags.split('\u{1f}').filter(|flag| !flag.is_empty()));
    let linked = rustc.stdout(Stdio::null()).stderr(Stdio::null()).status();
    if !linked.ok()?.success() {
        return Some(false);
    }

    let said = Command::new(&program).output().ok()?;
    Some(said.status.success() && said.stdout == b"it works\n")
}

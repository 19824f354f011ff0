//! The studio: editor, verifier, simulator and explorer of counterexamples in a browser.
//!
//! A server on the loopback address with everything in it: the page, its scripts and an interface in
//! JSON over the library [`fairground`]. This crate decides nothing about models; it knows
//! connections, tabs and files below one folder. `docs/how-to/use-studio.md` tells how to use it.
//!
//! ```no_run
//! use studio::{Settings, Studio};
//!
//! let studio = Studio::bind(Settings::default())?;
//! println!("{}", studio.url());
//! studio.run();
//! # Ok::<(), std::io::Error>(())
//! ```
//!
//! Read next: `gate.rs` for who may ask, `folder.rs` for which files exist, `api/mod.rs` for what can
//! be asked.

mod api;
mod assets;
mod folder;
mod gate;
mod http;
mod projects;
mod server;
mod tab;

pub use server::{Settings, Studio};

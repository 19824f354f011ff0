//! `fair studio`.

use std::path::{Path, PathBuf};
use std::process::{self, Stdio};

use anyhow::Context as _;
use studio::{Settings, Studio};

use crate::failure::{Failure, Status};
use crate::options::StudioOptions;
use crate::output;

/// Serves the studio until the program is ended.
///
/// # Errors
/// There is no such file or folder, or nothing can listen at the port.
pub fn run(options: &StudioOptions, max_memory: Option<u64>) -> Result<Status, Failure> {
    let (folder, file) = folder_and_file(options.path.as_deref())?;
    let studio = Studio::bind(Settings {
        folder,
        file,
        address: options.address,
        port: options.port,
        max_memory: max_memory.unwrap_or(4 << 30),
    });
    let studio = studio.with_context(|| {
        let (address, port) = (options.address, options.port);
        format!("the studio cannot be started at {address}:{port}")
    })?;

    // Searches end with the program; nothing else has to be put in order.
    let end = || process::exit(Status::Success.code().into());
    ctrlc::set_handler(end).context("Ctrl-C cannot be listened to")?;
    let url = studio.url();
    output::print(&format!("{url}\n"))?;
    output::note("open this address in a browser; Ctrl-C ends the studio");
    if options.open {
        show(&url);
    }
    studio.run();
    Ok(Status::Success)
}

/// The folder that is opened, and the file in it that is shown first.
fn folder_and_file(path: Option<&Path>) -> Result<(PathBuf, Option<String>), Failure> {
    let Some(path) = path else {
        return Ok((PathBuf::from("."), None));
    };
    if path.is_dir() {
        return Ok((path.to_owned(), None));
    }
    let name = path.file_name().and_then(|name| name.to_str());
    let Some(name) = name.filter(|_| path.is_file()) else {
        let shown = path.display();
        return Err(Failure::wrong(format!(
            "there is no file or folder `{shown}`"
        )));
    };
    let folder = path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty());
    let folder = folder.unwrap_or(Path::new(".")).to_owned();
    Ok((folder, Some(name.to_owned())))
}

/// Shows a page in the browser of the system. Where that is not possible, the address has been printed.
fn show(url: &str) {
    let mut command = if cfg!(target_os = "macos") {
        process::Command::new("open")
    } else if cfg!(windows) {
        let mut command = process::Command::new("rundll32");
        command.arg("url.dll,FileProtocolHandler");
        command
    } else {
        process::Command::new("xdg-open")
    };
    command.arg(url).stdin(Stdio::null());
    command.stdout(Stdio::null()).stderr(Stdio::null());
    if command.spawn().is_err() {
        output::note("no browser could be started");
    }
}

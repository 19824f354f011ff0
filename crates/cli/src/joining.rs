//! How this process joins others that check with it.

use std::fs;
use std::path::Path;

use anyhow::Context as _;
use cluster::{Hosts, Joining, Sockets, connect};
use fairground::Project;

use crate::checkpoint_file::program;
use crate::failure::Failure;
use crate::options::CheckOptions;
use crate::output;

/// A shorter secret can be guessed.
const SECRET: usize = 16;

/// Connects to the other processes, if the call names any.
///
/// # Errors
/// The call is wrong, or the others do not join, or are not what they should be.
pub fn join(options: &CheckOptions, project: &Project) -> Result<Option<Sockets>, Failure> {
    let together = &options.together;
    let (Some(path), Some(own)) = (&together.hosts, together.process) else {
        return Ok(None);
    };
    let hosts = hosts(path)?;
    if own >= hosts.n_processes() {
        return Err(Failure::wrong(format!(
            "there is no process {own}: `{}` lists {}, from 0 on",
            path.display(),
            hosts.n_processes()
        )));
    }
    if own != 0 {
        output::mute();
    }

    let joining = Joining {
        secret: secret(options, &hosts)?,
        hosts,
        own,
        identity: identity(options, project),
        patience: together.patience,
    };
    connect(&joining).map(Some).map_err(Failure::wrong)
}

/// Reads a list of hosts.
///
/// # Errors
/// It cannot be read, or is not one.
pub fn hosts(path: &Path) -> Result<Hosts, Failure> {
    let cannot = || format!("the list of hosts `{}` cannot be read", path.display());
    let text = fs::read_to_string(path).with_context(cannot)?;
    Hosts::parse(&text).map_err(|why| Failure::wrong(format!("`{}`: {why}", path.display())))
}

fn secret(options: &CheckOptions, hosts: &Hosts) -> Result<Vec<u8>, Failure> {
    let Some(path) = &options.together.secret else {
        if hosts.are_local() {
            return Ok(Vec::new());
        }
        return Err(Failure::wrong(
            "processes on other machines need a secret, so that no other process joins; write one to a \
             file (`head -c 32 /dev/urandom > secret`), copy it to all machines, and add \
             `--secret FILE`",
        ));
    };

    let cannot = || format!("the secret `{}` cannot be read", path.display());
    let secret = fs::read(path).with_context(cannot)?;

    if secret.trim_ascii().len() < SECRET {
        return Err(Failure::wrong(format!(
            "the secret in `{}` is shorter than {SECRET} bytes; make one with \
             `head -c 32 /dev/urandom`",
            path.display()
        )));
    }

    Ok(secret)
}

/// What all processes must agree in before they search: the program, the texts of the model and what
/// is said about it. What they look for is compared again by each search.
fn identity(options: &CheckOptions, project: &Project) -> Vec<u8> {
    let texts: Vec<&str> = project.sources().iter().map(|s| s.text.as_str()).collect();
    let said = (&options.settings, &options.fairness, &options.assume);
    let asked = (&options.property, &options.ltl, options.threads);
    let has_disk = options.disk.is_some();
    format!("{:?}", (program(), texts, said, asked, has_disk)).into_bytes()
}

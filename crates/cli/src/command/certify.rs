//! `fair certify`: checks certificates of verdicts without searching.

use std::fs;

use anyhow::Context as _;
use fairground::{CertificateFailure, check_certificates};

use crate::failure::{Failure, Status};
use crate::options::CertifyOptions;
use crate::{inputs, limits, output};

/// Checks all certificates in a file.
///
/// # Errors
/// A file cannot be read.
pub fn run(options: &CertifyOptions) -> Result<Status, Failure> {
    let path = &options.certificate;
    let cannot = || format!("`{}` cannot be read", path.display());
    let bytes = inputs::read_bytes(path).with_context(cannot)?;
    fs::metadata(&options.file)
        .with_context(|| format!("`{}` cannot be read", options.file.display()))?;

    limits::check_threads(options.threads.into())?;
    let budget = limits::budget().with_threads(options.threads.into());
    match check_certificates(
        &inputs::files_of(&options.file),
        &options.file,
        &bytes,
        &budget,
    ) {
        Ok(accepted) => {
            let lines = accepted.iter().map(|certified| certified.sentence() + "\n");
            output::print(&lines.collect::<String>())?;
            Ok(Status::Success)
        }
        Err(CertificateFailure::Wrong(why)) => {
            output::print(&format!("rejected: {why}\n"))?;
            Ok(Status::Violated)
        }
        Err(CertificateFailure::Stopped(reason)) => {
            output::print(&format!("not checked to the end: {}\n", reason.name()))?;
            Ok(Status::Undecided)
        }
    }
}

//! `fair certify`: checks certificates of verdicts without searching.

use std::fs;

use anyhow::Context as _;
use fairground::{Budget, CertificateFailure, Disk, check_certificates};

use crate::failure::{Failure, Status};
use crate::options::CertifyOptions;
use crate::{limits, output};

/// Checks all certificates in a file.
///
/// # Errors
/// A file cannot be read.
pub fn run(options: &CertifyOptions) -> Result<Status, Failure> {
    let path = &options.certificate;
    let cannot = || format!("`{}` cannot be read", path.display());
    let bytes = fs::read(path).with_context(cannot)?;
    fs::metadata(&options.file)
        .with_context(|| format!("`{}` cannot be read", options.file.display()))?;

    let budget = Budget::unlimited().with_threads(options.threads.into());
    limits::enforce(&budget, options.timeout)?;
    match check_certificates(&Disk, &options.file, &bytes, &budget) {
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

//! `fair certify`: checks certificates of verdicts without searching.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Context as _;
use fairground::{
    CertificateFailure, CertificateSolver, Said, check_certificates, installed_solvers,
};

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
    let files = inputs::files_of(&options.file);
    let mut solvers = installed_solvers(&[]);
    if let Some(folder) = &options.obligations {
        solvers.insert(0, Box::new(Writer::new(folder)?));
    }
    match check_certificates(&files, &options.file, &bytes, &mut solvers, &budget) {
        Ok(accepted) => {
            let lines = accepted.iter().map(|certified| certified.sentence() + "\n");
            output::print(&lines.collect::<String>())?;
            Ok(Status::Success)
        }
        Err(CertificateFailure::Wrong(why)) => {
            output::print(&format!("rejected: {why}\n"))?;
            Ok(Status::Violated)
        }
        Err(CertificateFailure::Unconfirmed(why)) => {
            output::print(&format!("not confirmed: {why}\n"))?;
            Ok(Status::Undecided)
        }
        Err(CertificateFailure::Stopped(reason)) => {
            output::print(&format!("not checked to the end: {}\n", reason.name()))?;
            Ok(Status::Undecided)
        }
    }
}

/// Answers nothing, and keeps the texts.
struct Writer {
    folder: PathBuf,
    n_written: usize,
}

impl Writer {
    fn new(folder: &Path) -> Result<Self, Failure> {
        let cannot = || format!("`{}` is not a folder that exists", folder.display());
        fs::read_dir(folder).with_context(cannot)?;
        Ok(Self {
            folder: folder.to_owned(),
            n_written: 0,
        })
    }
}

impl CertificateSolver for Writer {
    fn name(&self) -> String {
        "nothing".to_owned()
    }

    fn ask(&mut self, title: &str, script: &str) -> Said {
        self.n_written += 1;
        let path = self.folder.join(format!("{:03}.smt2", self.n_written));
        let text = format!(
            "; {}: the answer must be unsat\n{script}",
            title.escape_debug()
        );
        if let Err(error) = fs::write(&path, text) {
            output::note(&format!("`{}` cannot be written: {error}", path.display()));
        }
        Said::Nothing
    }
}

//! `fair-certify MODEL CERTIFICATE`: checks certificates, and nothing else.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use base::Budget;
use certify::{Certified, Failure, check_file, installed_solvers};
use source::{Files, Unreadable};

fn main() -> ExitCode {
    let arguments: Vec<PathBuf> = std::env::args_os().skip(1).map(PathBuf::from).collect();
    let [model, certificate] = &arguments[..] else {
        eprintln!("usage: fair-certify MODEL CERTIFICATE");
        return ExitCode::from(2);
    };
    let bytes = match std::fs::read(certificate) {
        Ok(bytes) => bytes,
        Err(error) => {
            eprintln!("`{}` cannot be read: {error}", certificate.display());
            return ExitCode::from(2);
        }
    };

    let n_threads = std::thread::available_parallelism().map_or(1, usize::from);
    let budget = Budget::unlimited().with_threads(n_threads);
    // Models may be nested deeply.
    let model = model.clone();
    let check = move || {
        let mut solvers = installed_solvers(&[]);
        check_file(&Disk, &model, &bytes, &mut solvers, &budget)
    };
    let thread = std::thread::Builder::new().stack_size(1 << 29).spawn(check);
    let checked = thread.map(std::thread::JoinHandle::join);
    match checked {
        Ok(Ok(Ok(accepted))) => {
            accepted.iter().for_each(print);
            ExitCode::SUCCESS
        }
        Ok(Ok(Err(Failure::Wrong(why)))) => {
            println!("rejected: {why}");
            ExitCode::FAILURE
        }
        Ok(Ok(Err(Failure::Unconfirmed(why)))) => {
            println!("not confirmed: {why}");
            ExitCode::from(3)
        }
        Ok(Ok(Err(Failure::Stopped(reason)))) => {
            println!("not checked to the end: {}", reason.name());
            ExitCode::from(3)
        }
        Ok(Err(_)) | Err(_) => ExitCode::from(101),
    }
}

fn print(certified: &Certified) {
    println!("{}", certified.sentence());
}

/// The files of the machine.
struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        std::fs::read_to_string(path).map_err(|error| Unreadable {
            message: format!("`{}` cannot be read", path.display()),
            cause: Some(error.to_string()),
        })
    }
}

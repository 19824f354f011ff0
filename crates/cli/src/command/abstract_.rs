//! `fair abstract`: prints the abstract model on which a property is decided.

use crate::failure::{Failure, Status};
use crate::loading;
use crate::options::{AbstractFormat, AbstractOptions};

/// Prints an abstraction.
///
/// # Errors
/// The call or the model is wrong, or the model needs no abstraction.
pub fn run(options: &AbstractOptions) -> Result<Status, Failure> {
    loading::load(&options.model.file, &options.model.for_front_end(), true)?;
    let file = options.model.file.display();
    Err(match options.to {
        AbstractFormat::Ws1s => Failure::wrong(format!(
            "`{file}` has no free parameter, so it is no family of processes"
        )),
        AbstractFormat::Native => {
            Failure::wrong(format!("`{file}` is finite and needs no abstraction"))
        }
    })
}

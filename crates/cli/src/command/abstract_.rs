//! `fair abstract`: prints the abstract model on which a property is decided.

use fairground::Plan;

use crate::failure::{Failure, Status};
use crate::options::AbstractOptions;
use crate::{limits, loading, output};

/// Prints an abstraction.
///
/// # Errors
/// The call or the model is wrong, or there is no abstraction to be printed.
pub fn run(options: &AbstractOptions) -> Result<Status, Failure> {
    let project = loading::open(&options.model.file, &options.model.for_front_end())?;
    let plan = Plan {
        budget: limits::budget(),
        predicate: options.data.for_plan(),
        ..Plan::default()
    };

    let printed = project.abstraction(options.property.as_deref(), options.to.into(), &plan)?;
    for remark in &printed.remarks {
        output::note(remark);
    }
    output::print(&printed.text)?;
    Ok(Status::Success)
}

//! `fair explain`: a stored trace, printed again.

use fairground::report;

use crate::failure::{Failure, Status};
use crate::options::ExplainOptions;
use crate::{output, trace_file};

/// Prints the trace as text or as a chart.
///
/// # Errors
/// The file is not a trace.
pub fn run(options: &ExplainOptions) -> Result<Status, Failure> {
    let trace = trace_file::read(&options.trace)?;
    output::print(&if options.msc {
        report::chart(&trace)
    } else {
        report::trace_text(&trace, output::stdout_style())
    })?;
    Ok(Status::Success)
}

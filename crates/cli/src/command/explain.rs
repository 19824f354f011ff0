//! `fair explain`: a stored trace, printed again.

use fairground::report::{self, Detail};

use crate::failure::{Failure, Status};
use crate::options::ExplainOptions;
use crate::{output, trace_file};

/// Prints the trace as text or as a chart.
///
/// # Errors
/// The file is not a trace.
pub fn run(options: &ExplainOptions) -> Result<Status, Failure> {
    let trace = trace_file::read(&options.trace)?;
    if options.msc {
        output::print(&report::chart(&trace))?;
    } else {
        let detail = Detail {
            full_states: options.full,
            ..Detail::default()
        };
        let style = output::stdout_style();
        output::print_stream(None, |out| report::write_trace(out, &trace, style, detail))?;
    }
    Ok(Status::Success)
}

//! `fair abstract`: prints the abstract model on which a property is decided.

use base::Budget;
use check::Plan;
use check::predicate::{TextFormat, abstraction_text};

use crate::failure::{Failure, Status};
use crate::options::{AbstractFormat, AbstractOptions};
use crate::{limits, loading, output, solver};

/// Prints an abstraction.
///
/// # Errors
/// The call or the model is wrong, or there is no abstraction to be printed.
pub fn run(options: &AbstractOptions) -> Result<Status, Failure> {
    let loaded = loading::load(&options.model.file, &options.model.for_front_end(), true)?;
    let file = options.model.file.display();
    let format = match options.to {
        AbstractFormat::Ws1s => {
            return Err(Failure::wrong(format!(
                "`{file}` has no free parameter, so it is no family of processes"
            )));
        }
        AbstractFormat::Native => TextFormat::Native,
        AbstractFormat::Smv => TextFormat::Smv,
        AbstractFormat::Promela => TextFormat::Promela,
    };
    let wanted = |name: &str| options.property.as_ref().is_none_or(|own| own == name);
    let mut entries = loaded.properties.iter().zip(&loaded.hints);
    let Some((property, hints)) = entries.find(|(property, _)| wanted(&property.name)) else {
        return Err(Failure::wrong(format!("`{file}` has no such property")));
    };
    let budget = Budget::unlimited();
    limits::enforce(&budget, options.timeout)?;
    let plan = Plan {
        budget,
        predicate: check::predicate::Options {
            solver: solver::maker(&options.data),
            max_refinements: options.data.max_refinements,
            hints: hints.clone(),
            ..check::predicate::Options::default()
        },
        ..Plan::default()
    };
    let (text, remarks) = abstraction_text(&loaded.model, property, &plan, format)
        .map_err(|why| Failure::Stopped(format!("no abstraction is printed: {why}")))?;
    for remark in remarks {
        output::note(&remark);
    }
    output::print(&text)?;
    Ok(Status::Success)
}

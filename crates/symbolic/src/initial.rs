//! Initial states.

use crate::bdd::{Bdd, Halt};
use crate::branch::{Branch, Execution};
use crate::encoding::Component;
use crate::priority::control_field;
use crate::system::System;

/// Finds the initial states of a system, whose field for them holds the blocked states so far.
pub(crate) fn start(system: &mut System<'_>) -> Result<(), Halt> {
    let encoding = &system.encoding;
    let model = encoding.model;
    let blocked = system.initial.clone();
    let mut initial = encoding.manager.constant(true);
    let mut fails = false;

    for (field, component) in encoding.domains.components.iter().enumerate().rev() {
        let starts = match *component {
            Component::Location(instance) => {
                let locations = model.initial_locations(instance).iter();
                one_of(system, field, locations.map(|l| l.index() as i64))?
            }
            Component::Cell(cell) => match model.initial_value(cell) {
                Err(_) => {
                    fails = true;
                    continue;
                }
                Ok(Some(value)) => encoding.is(field, value)?,
                Ok(None) => {
                    let (lo, hi) = model.cells()[cell].ty.bounds();
                    let n_values = i128::from(hi) - i128::from(lo) + 1;
                    if n_values != encoding.domains.values[field].len() as i128 {
                        return Err(Halt::Unsupported(format!(
                            "`{}` may start with too many values; declare a smaller range",
                            model.cells()[cell].name
                        )));
                    }
                    one_of(system, field, lo..=hi)?
                }
            },
            Component::Length(_) => encoding.is(field, 0)?,
            Component::Message(..) => encoding.is(field, encoding.rest(field))?,
        };
        initial = starts.and(&initial)?;
    }

    // Constraints are evaluated one after the other, as far as all before them are true.
    let mut execution = Execution::new(encoding, None);
    for constraint in &model.parts().init {
        let branch = Branch::new(initial.clone());
        let holds = execution.truth(&branch, constraint)?;
        initial = initial.and(&holds)?;
    }
    fails |= !execution.errors.is_false();

    if let Some(control) = control_field(encoding) {
        let lost = initial.and(&blocked)?.exists(encoding.cube(control))?;
        initial = initial
            .minus(&blocked)?
            .or(&lost.and(&encoding.is(control, -1)?)?)?;
    }
    system.initial = initial;
    system.fails_initially = fails;
    Ok(())
}

fn one_of(
    system: &System<'_>,
    field: usize,
    values: impl IntoIterator<Item = i64>,
) -> Result<Bdd, Halt> {
    let mut result = system.constant(false);
    for value in values {
        result = result.or(&system.encoding.is(field, value)?)?;
    }
    Ok(result)
}

//! Types, variables, channels, processes and timers, each for itself.

use base::Span;

use super::sizes::{Sizes, length};
use super::{MAX_CAPACITY, MAX_CELLS, MAX_CHANNELS, MAX_INSTANCES, fail};
use crate::{
    Channel, IndexRange, Initial, LocationId, ModelError, ModelParts, OPEN_VALUES, Process, Scalar,
    Type,
};

pub(super) fn timers(parts: &ModelParts) -> Result<(), ModelError> {
    let mut seen = vec![false; parts.vars.len()];
    for timer in &parts.timers {
        let Some(variable) = parts.vars.get(timer.var.index()) else {
            return fail(
                "unknown-variable",
                Span::nowhere(),
                format!("the timer {:?} does not exist", timer.var),
            );
        };
        let (name, span) = (&variable.name, variable.span);
        if std::mem::replace(&mut seen[timer.var.index()], true) {
            return fail(
                "timer-twice",
                span,
                format!("`{name}` is declared as a timer twice"),
            );
        }
        if !is_timer_type(&variable.ty) {
            return fail(
                "timer-type",
                span,
                format!("`{name}` is neither a timer nor an array of timers"),
            );
        }
        if timer.threshold.is_some_and(|threshold| threshold < 1) {
            return fail(
                "timer-threshold",
                span,
                format!("the threshold of `{name}` is not positive"),
            );
        }
        if let Some((lo, hi)) = timer.any
            && (lo < -1 || length(lo, hi) > MAX_CELLS)
        {
            return fail(
                "timer-settings",
                span,
                format!("`{name}` cannot be set to any value from {lo} to {hi}"),
            );
        }
    }

    if parts.timers.is_empty() == parts.clock.is_some() {
        return fail(
            "clock-without-timers",
            Span::nowhere(),
            "a model has a clock if and only if it has timers",
        );
    }

    Ok(())
}

fn is_timer_type(ty: &Type) -> bool {
    match ty {
        Type::Scalar(_) => true,
        Type::Array(array) => is_timer_type(&array.element),
        Type::Record(_) => false,
    }
}

pub(super) fn check(parts: &ModelParts, sizes: &Sizes) -> Result<(), ModelError> {
    for (_, ty) in parts.records.iter().flat_map(|record| &record.fields) {
        self::ty(parts, ty, Span::nowhere())?;
    }
    for variable in &parts.vars {
        ty(parts, &variable.ty, variable.span)?;
    }
    for channel in &parts.channels {
        self::channel(parts, channel)?;
    }
    for process in &parts.processes {
        self::process(process)?;
    }
    totals(parts, sizes)?;
    control(parts)
}

fn ty(parts: &ModelParts, ty: &Type, span: Span) -> Result<(), ModelError> {
    match ty {
        Type::Scalar(scalar) => self::scalar(parts, *scalar, span),
        Type::Array(array) => self::ty(parts, &array.element, span),
        // Its fields are checked with the record.
        Type::Record(_) => Ok(()),
    }
}

fn scalar(parts: &ModelParts, scalar: Scalar, span: Span) -> Result<(), ModelError> {
    match scalar {
        Scalar::Bool | Scalar::Int => Ok(()),
        Scalar::Range(lo, hi) if lo > hi => fail(
            "empty-range",
            span,
            format!("the range {lo}..{hi} does not have any value"),
        ),
        Scalar::Range(_, _) => Ok(()),
        Scalar::Enum(id, n_values) => {
            let Some(description) = parts.enums.get(id.index()) else {
                return fail("unknown-enum", span, format!("{id:?} does not exist"));
            };
            let n_variants = description.variants.len();
            let is_open = n_variants == 0 && n_values == OPEN_VALUES;
            if !is_open && (n_values == 0 || n_values as usize != n_variants) {
                let name = &description.name;
                let message = format!("`{name}` has {n_variants} values, not {n_values}");
                return fail("enum-size", span, message);
            }
            Ok(())
        }
    }
}

fn channel(parts: &ModelParts, channel: &Channel) -> Result<(), ModelError> {
    let (name, span) = (&channel.name, channel.span);
    if let Some((lo, hi)) = channel.indices
        && lo > hi
    {
        return fail(
            "empty-range",
            span,
            format!("`{name}` does not have any index: {lo}..{hi}"),
        );
    }
    if channel.capacity > MAX_CAPACITY {
        let message = format!("`{name}` holds more than {MAX_CAPACITY} messages");
        return fail("channel-capacity", span, message);
    }
    let mut payload = channel.payload.iter();
    payload.try_for_each(|component| scalar(parts, *component, span))
}

/// Several indices number as many instances as there are.
fn check_dimensions(process: &Process) -> Result<(), ModelError> {
    if process.dimensions.is_empty() {
        return Ok(());
    }

    let mut n_instances = Some(1_i64);
    for (lo, hi) in &process.dimensions {
        let length = hi.checked_sub(*lo).and_then(|n| n.checked_add(1));
        let length = length.filter(|length| *length > 0);
        n_instances = n_instances
            .zip(length)
            .and_then(|(n, length)| n.checked_mul(length));
    }

    let in_range = |range: IndexRange| range.hi.checked_sub(range.lo)?.checked_add(1);
    if n_instances.is_some() && n_instances == process.index.and_then(in_range) {
        return Ok(());
    }

    let message = format!(
        "the indices of `{}` do not number its instances",
        process.name
    );
    fail("process-dimensions", process.span, message)
}

fn process(process: &Process) -> Result<(), ModelError> {
    let (name, span) = (&process.name, process.span);
    check_dimensions(process)?;
    let exists = |location: &LocationId| location.index() < process.locations.len();
    if process.initial.is_empty() {
        return fail(
            "no-initial-location",
            span,
            format!("`{name}` does not have an initial location"),
        );
    }

    if !process.initial.iter().all(exists) {
        return fail(
            "unknown-location",
            span,
            format!("`{name}` starts at a location that does not exist"),
        );
    }

    for step in &process.steps {
        if !exists(&step.source) || !exists(&step.target) {
            let message = format!(
                "`{}` leaves or enters a location that does not exist",
                step.name
            );
            return fail("unknown-location", step.span, message);
        }
    }

    Ok(())
}

fn totals(parts: &ModelParts, sizes: &Sizes) -> Result<(), ModelError> {
    let nowhere = Span::nowhere();
    if sizes.n_instances() > MAX_INSTANCES {
        let largest = parts
            .processes
            .iter()
            .zip(&sizes.instances)
            .max_by_key(|(_, n)| **n);
        let span = largest.map_or(nowhere, |(process, _)| process.span);
        return fail(
            "too-many-instances",
            span,
            format!("the model has more than {MAX_INSTANCES} processes"),
        );
    }

    if sizes.n_visited > MAX_CELLS {
        let visited = |position: &usize| sizes.cells_of(crate::VarId::new(*position));
        let largest = (0..parts.vars.len()).max_by_key(visited);
        let span = largest.map_or(nowhere, |position| parts.vars[position].span);
        return fail(
            "too-many-cells",
            span,
            format!("a state has more than {MAX_CELLS} components"),
        );
    }

    let single = |channel: &Channel| channel.indices.map_or(1, |(lo, hi)| length(lo, hi));
    if parts.channels.iter().map(single).sum::<i128>() > MAX_CHANNELS {
        let largest = parts.channels.iter().max_by_key(|channel| single(channel));
        let span = largest.map_or(nowhere, |channel| channel.span);
        return fail(
            "too-many-channels",
            span,
            format!("the model has more than {MAX_CHANNELS} channels"),
        );
    }

    Ok(())
}

fn control(parts: &ModelParts) -> Result<(), ModelError> {
    let Some(control) = parts.control else {
        return Ok(());
    };

    let Some(variable) = parts.vars.get(control.index()) else {
        return fail(
            "unknown-variable",
            Span::nowhere(),
            format!("the control {control:?} does not exist"),
        );
    };

    let names_instances = match variable.ty {
        Type::Scalar(Scalar::Range(-1, last)) => i128::from(last) < MAX_INSTANCES,
        Type::Scalar(_) | Type::Array(_) | Type::Record(_) => false,
    };

    if variable.owner.is_some() || !names_instances {
        let message = format!("`{}` cannot say which process has control", variable.name);
        return fail("control-type", variable.span, message);
    }
    Ok(())
}

/// A variable that starts with any value has a type with finitely many of them.
pub(super) fn bounded_start(parts: &ModelParts) -> Result<(), ModelError> {
    for variable in &parts.vars {
        if variable.initial == Initial::Any && is_unbounded(parts, &variable.ty) {
            let name = &variable.name;
            let message = format!("`{name}` has no bounds, so it cannot start with any value");
            return fail("unbounded-start", variable.span, message);
        }
    }
    Ok(())
}

fn is_unbounded(parts: &ModelParts, ty: &Type) -> bool {
    match ty {
        Type::Scalar(scalar) => *scalar == Scalar::Int,
        Type::Array(array) => array.len > 0 && is_unbounded(parts, &array.element),
        Type::Record(id) => {
            let mut fields = parts.records[id.index()].fields.iter();
            fields.any(|(_, ty)| is_unbounded(parts, ty))
        }
    }
}

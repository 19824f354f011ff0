//! The native language: the printed model is a valid input.

use std::fmt::Write as _;

use model::{InstanceId, Model, ProcessId};

use super::listing::{Case, Listing, Mover, Printed};
use super::notation::Notation;

/// The abstract model in the native language.
#[must_use]
pub fn native(listing: &Listing<'_>) -> String {
    let model = listing.model;
    let at = |instance: InstanceId, locations: &[i64]| {
        let names = &model.process_of(instance).locations;
        let names: Vec<&str> = locations
            .iter()
            .map(|location| names[*location as usize].as_str())
            .collect();
        format!(
            "{} @ {{{}}}",
            model.instance_name(instance),
            names.join(", ")
        )
    };

    let notation = Notation {
        listing,
        and: " && ",
        or: " || ",
        equals: "==",
        truth: ["false", "true"],
        at: &at,
        choose: &|a, b, c| format!("(if {a} then {b} else {c})"),
    };

    let mut out =
        String::from("// A finite abstraction. Every run of the original is one of this model.\n");
    declare(&notation, &mut out);
    declare_events(listing, &mut out);
    for position in 0..model.parts().processes.len() {
        process(&notation, ProcessId::new(position), &mut out);
    }

    if let Some((name, formula)) = &listing.property {
        for (atom, term) in &listing.atoms {
            let _ = writeln!(out, "def p{} = {}", atom.index(), notation.condition(term));
        }
        let names = |atom: base::AtomId| format!("p{}", atom.index());
        let _ = writeln!(out, "property {name}: {}", formula.display(&names));
    }

    out
}

fn declare(notation: &Notation<'_, '_>, out: &mut String) {
    let listing = notation.listing;
    for (slot, (name, values, location)) in listing.slots.iter().enumerate() {
        if location.is_some() {
            continue;
        }
        let is_truth = *values == [0, 1];
        let ty = match (is_truth, values.first(), values.last()) {
            (false, Some(lo), Some(hi)) => format!("{lo}..{hi}"),
            _ => "bool".to_owned(),
        };
        let initial = match (listing.fixed(slot), is_truth) {
            (Some(value), true) => (value != 0).to_string(),
            (Some(value), false) => value.to_string(),
            (None, _) => "any".to_owned(),
        };
        let meaning = listing.meanings.iter().find(|(other, _)| other == name);
        let comment = meaning.map_or(String::new(), |(_, text)| format!("  // {text}"));
        let _ = writeln!(out, "var {name} : {ty} = {initial}{comment}");
    }

    if let Some(condition) = listing.initial_condition() {
        let _ = writeln!(out, "init {}", notation.condition(&condition));
    }
}

fn process(notation: &Notation<'_, '_>, id: ProcessId, out: &mut String) {
    let listing = notation.listing;
    let model = listing.model;
    let description = &model.parts().processes[id.index()];
    let index = description.index.map(|range| {
        let name = &model.parts().bounds[range.bound.index()];
        (name.clone(), range)
    });
    let header = match &index {
        Some((name, range)) => format!("({name} in {}..{})", range.lo, range.hi),
        None => String::new(),
    };
    let _ = writeln!(out, "\nprocess {}{header} {{", description.name);
    let starts = description.initial.iter();
    let starts: Vec<&str> = starts
        .map(|location| description.locations[location.index()].as_str())
        .collect();
    let _ = writeln!(out, "    init {}", starts.join(", "));
    for (location, name) in description.locations.iter().enumerate() {
        let _ = writeln!(out, "    from {name} {{");
        for command in &listing.commands {
            for (position, mover) in command.movers.iter().enumerate() {
                let instance = &model.instances()[mover.instance.index()];
                if instance.process != id || mover.source != location as i64 {
                    continue;
                }
                let own = index.as_ref().zip(instance.index);
                let own = own.map(|((name, _), value)| format!("{name} == {value}"));
                match position {
                    0 => step(notation, model, command, own, out),
                    _ => follower(model, command, mover, own, out),
                }
            }
        }
        let _ = writeln!(out, "    }}");
    }
    let _ = writeln!(out, "}}");
}

/// Steps of several processes together are events. Instances of a process that do not take part
/// have another argument.
fn declare_events(listing: &Listing<'_>, out: &mut String) {
    for command in &listing.commands {
        if let (Some(event), false) = (&command.event, command.cases.is_empty()) {
            let argument = if needs_argument(listing.model, command) {
                "(0..1)"
            } else {
                ""
            };
            let _ = writeln!(out, "event {event}{argument}");
        }
    }
}

fn needs_argument(model: &Model, command: &Printed) -> bool {
    let is_indexed = |mover: &Mover| model.instances()[mover.instance.index()].index.is_some();
    command.movers.iter().any(is_indexed)
}

/// How a participant names the event.
fn communication(model: &Model, command: &Printed, own: Option<&str>) -> String {
    match (&command.event, own, needs_argument(model, command)) {
        (None, _, _) => String::new(),
        (Some(event), None, true) => format!(" sync {event}(0)"),
        (Some(event), Some(own), true) => format!(" sync {event}(if {own} then 0 else 1)"),
        (Some(event), _, false) => format!(" sync {event}"),
    }
}

/// A participant whose part of guard and effect is printed with the first.
fn follower(
    model: &Model,
    command: &Printed,
    mover: &Mover,
    own: Option<String>,
    out: &mut String,
) {
    if command.cases.is_empty() {
        return;
    }
    let name = &model.step_of(mover.command).name;
    let parameters = parameters(model, mover);
    let event = communication(model, command, own.as_deref());
    let guard = own.map_or(String::new(), |own| format!(" when {own}"));
    let target = &model.process_of(mover.instance).locations[mover.target as usize];
    let _ = writeln!(out, "        {name}{parameters}{guard}{event} -> {target}");
}

fn parameters(model: &Model, mover: &Mover) -> String {
    let step = model.step_of(mover.command);
    let bindings = &model.commands()[mover.command.index()].bindings;
    let skipped = bindings.len() - step.parameters.len();
    let parameters: Vec<String> = bindings[skipped..]
        .iter()
        .map(|(bound, value)| {
            let name = &model.parts().bounds[bound.index()];
            format!("{name} in {value}..{value}")
        })
        .collect();
    if parameters.is_empty() {
        String::new()
    } else {
        format!("({})", parameters.join(", "))
    }
}

fn step(
    notation: &Notation<'_, '_>,
    model: &Model,
    command: &Printed,
    own: Option<String>,
    out: &mut String,
) {
    let mover = &command.movers[0];
    let parameters = parameters(model, mover);
    let event = communication(model, command, own.as_deref());
    if command.cases.is_empty() {
        return;
    }
    let mut guards: Vec<String> = own.into_iter().collect();
    guards.push(notation.condition(&command.guard));

    let mut effect = Vec::new();
    let mut targets: Vec<(usize, String)> = command
        .assignments
        .iter()
        .map(|(slot, value)| (*slot, notation.value_for(*slot, value)))
        .collect();

    match command.cases.as_slice() {
        [only] => {
            guards.push(notation.condition(&only.condition));
            let values = only.assignments.iter();
            targets.extend(values.map(|(slot, v)| (*slot, notation.value_for(*slot, v))));
        }
        cases => {
            effect.push(choice(notation, cases));
            for (position, (slot, _)) in cases[0].assignments.iter().enumerate() {
                targets.push((*slot, selected(notation, cases, position)));
            }
        }
    }

    guards.retain(|guard| guard != "true");
    if guards.len() > 1 {
        // A condition may be a disjunction.
        let in_brackets = |guard: &String| format!("({guard})");
        guards = guards.iter().map(in_brackets).collect();
    }

    let guard = if guards.is_empty() {
        String::new()
    } else {
        format!(" when {}", guards.join(" && "))
    };

    if !targets.is_empty() {
        let names: Vec<&str> = targets
            .iter()
            .map(|(slot, _)| notation.listing.slots[*slot].0.as_str())
            .collect();
        let values: Vec<&str> = targets.iter().map(|(_, value)| value.as_str()).collect();
        effect.push(format!("{} := {}", names.join(", "), values.join(", ")));
    }

    let effect = if effect.is_empty() {
        String::new()
    } else {
        format!(" {{ {} }}", effect.join("; "))
    };
    let target = &model.process_of(mover.instance).locations[mover.target as usize];
    let name = &model.step_of(mover.command).name;
    let _ = writeln!(
        out,
        "        {name}{parameters}{guard}{event}{effect} -> {target}"
    );
}

/// Which row happens, among those that are possible.
fn choice(notation: &Notation<'_, '_>, cases: &[Case]) -> String {
    let mut conditions = Vec::new();
    for (number, case) in cases.iter().enumerate() {
        let condition = notation.condition(&case.condition);
        if condition != "true" {
            conditions.push(format!("(row == {number} -> {condition})"));
        }
    }
    let condition = if conditions.is_empty() {
        String::new()
    } else {
        format!(" where {}", conditions.join(" && "))
    };
    format!("let row = choose row in 0..{}{condition}", cases.len() - 1)
}

/// The value that a slot has in the chosen row.
fn selected(notation: &Notation<'_, '_>, cases: &[Case], position: usize) -> String {
    let (slot, _) = cases[0].assignments[position];
    let value = |case: &Case| notation.value_for(slot, &case.assignments[position].1);
    let mut text = value(cases.last().expect("there are cases"));
    for (number, case) in cases.iter().enumerate().rev().skip(1) {
        let here = value(case);
        if here != text {
            text = format!("(if row == {number} then {here} else {text})");
        }
    }
    text
}

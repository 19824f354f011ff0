//! Promela (Spin): one process with a loop for each process of the model. Steps of several processes
//! together belong to the first of them.

use std::fmt::Write as _;

use model::InstanceId;

use super::listing::{Listing, identifier};
use super::notation::Notation;

/// The abstract model for Spin.
#[must_use]
pub fn promela(listing: &Listing<'_>) -> String {
    let model = listing.model;
    let place = |instance: InstanceId| format!("{}_at", identifier(model.instance_name(instance)));
    let at = |instance: InstanceId, locations: &[i64]| {
        let here = |location: &i64| format!("{} == {location}", place(instance));
        let parts: Vec<String> = locations.iter().map(here).collect();
        format!("({})", parts.join(" || "))
    };
    let notation = Notation {
        listing,
        and: " && ",
        or: " || ",
        equals: "==",
        truth: ["false", "true"],
        at: &at,
        choose: &|a, b, c| format!("(({a}) -> ({b}) : ({c}))"),
    };

    let mut out = String::from(
        "/* A finite abstraction. Every run of the original is one of this model. */\n",
    );
    let has_one_start = listing.initial.len() == 1;

    for (slot, (name, values, location)) in listing.slots.iter().enumerate() {
        let ty = match (location, values.as_slice()) {
            (None, [0, 1]) => "bool",
            _ => "int",
        };
        let start = match listing.initial.as_slice() {
            [only] => format!(" = {}", only[slot]),
            _ => String::new(),
        };
        let _ = writeln!(out, "{ty} {name}{start};");
    }

    if !has_one_start {
        let _ = writeln!(out, "bool started = false;");
    }
    let sizes = listing.commands.iter().flat_map(|command| {
        let own = command.assignments.len();
        command
            .cases
            .iter()
            .map(move |case| own + case.assignments.len())
    });

    for number in 0..sizes.max().unwrap_or(0) {
        let _ = writeln!(out, "hidden int v{number};");
    }
    for position in 0..model.instances().len() {
        proctype(&notation, InstanceId::new(position), &at, &mut out);
    }
    if !has_one_start {
        start(listing, &mut out);
    }

    if let Some((name, formula)) = &listing.property {
        for (atom, term) in &listing.atoms {
            // Before the start nothing has happened yet, so nothing is wrong.
            let text = notation.condition(term);
            let _ = writeln!(out, "#define p{} ({text})", atom.index());
        }
        let names = |atom: base::AtomId| format!("p{}", atom.index());
        let text = formula.display(&names).to_string();
        let _ = if has_one_start {
            writeln!(out, "ltl {name} {{ {text} }}")
        } else {
            writeln!(out, "ltl {name} {{ (!started) U (started && ({text})) }}")
        };
    }

    out
}

/// One of several initial states is chosen.
fn start(listing: &Listing<'_>, out: &mut String) {
    let _ = writeln!(out, "init {{\n  atomic {{\n    if");
    for state in &listing.initial {
        let values = listing.slots.iter().zip(state);
        let values: Vec<String> = values
            .map(|((name, _, _), value)| format!("{name} = {value}"))
            .collect();
        let _ = writeln!(out, "    :: {}", values.join("; "));
    }
    let _ = writeln!(out, "    fi;\n    started = true\n  }}\n}}");
}

fn proctype(
    notation: &Notation<'_, '_>,
    instance: InstanceId,
    at: &dyn Fn(InstanceId, &[i64]) -> String,
    out: &mut String,
) {
    let listing = notation.listing;
    let model = listing.model;
    let name = identifier(model.instance_name(instance));
    let _ = writeln!(out, "active proctype {name}() {{\nend: do");
    let started = match listing.initial.len() {
        1 => "",
        _ => "started && ",
    };

    for command in &listing.commands {
        if command.movers[0].instance != instance {
            continue;
        }
        for case in &command.cases {
            let here = command.movers.iter();
            let here: Vec<String> = here.map(|m| at(m.instance, &[m.source])).collect();
            let guard = format!(
                "{started}{} && ({}) && ({})",
                here.join(" && "),
                notation.condition(&command.guard),
                notation.condition(&case.condition)
            );
            let mut steps = Vec::new();
            let assignments = [command.assignments.as_slice(), &case.assignments].concat();
            // New values are computed from old ones, so they are all computed first.
            for (number, (slot, value)) in assignments.iter().enumerate() {
                let text = notation.value_for(*slot, value);
                steps.push(format!("v{number} = ({text})"));
            }
            for (number, (slot, _)) in assignments.iter().enumerate() {
                steps.push(format!("{} = v{number}", listing.slots[*slot].0));
            }
            for mover in &command.movers {
                let name = identifier(model.instance_name(mover.instance));
                steps.push(format!("{name}_at = {}", mover.target));
            }
            let labels = command.movers.iter();
            let labels: Vec<String> = labels.map(|m| model.command_name(m.command)).collect();
            let label = labels.join(" & ");
            let _ = writeln!(
                out,
                "  :: d_step {{ {guard} -> /* {label} */ {} }}",
                steps.join("; ")
            );
        }
    }

    let _ = writeln!(out, "  :: false -> skip\n  od\n}}");
}

//! SMV (NuSMV, nuXmv): one module, the transition relation as a disjunction of commands.

use std::fmt::Write as _;

use model::InstanceId;

use super::listing::{Listing, identifier};
use super::notation::Notation;

/// The abstract model for SMV.
#[must_use]
pub fn smv(listing: &Listing<'_>) -> String {
    let model = listing.model;
    let place = |instance: InstanceId| format!("{}_at", identifier(model.instance_name(instance)));
    let at = |instance: InstanceId, locations: &[i64]| {
        let names = &model.process_of(instance).locations;
        let here = |l: &i64| format!("{} = l_{}", place(instance), names[*l as usize]);
        let parts: Vec<String> = locations.iter().map(here).collect();
        format!("({})", parts.join(" | "))
    };
    let notation = Notation {
        listing,
        and: " & ",
        or: " | ",
        equals: "=",
        truth: ["FALSE", "TRUE"],
        at: &at,
        choose: &|a, b, c| format!("({a} ? {b} : {c})"),
    };
    let mut out = String::from(
        "-- A finite abstraction. Every run of the original is one of this model.\nMODULE main\nVAR\n",
    );
    for (name, values, location) in &listing.slots {
        let ty = match (location, values.as_slice()) {
            (Some(instance), _) => {
                let names = model.process_of(*instance).locations.iter();
                let names: Vec<String> = names.map(|name| format!("l_{name}")).collect();
                format!("{{{}}}", names.join(", "))
            }
            (None, [0, 1]) => "boolean".to_owned(),
            (None, values) => format!("{}..{}", values[0], values[values.len() - 1]),
        };
        let _ = writeln!(out, "  {name} : {ty};");
    }
    let _ = writeln!(out, "INIT\n  {}", initial(&notation));
    let mut relations = Vec::new();
    for command in &listing.commands {
        for case in &command.cases {
            let assignments = [command.assignments.as_slice(), &case.assignments].concat();
            let here = command.movers.iter();
            let mut parts: Vec<String> = here.map(|m| at(m.instance, &[m.source])).collect();
            parts.push(format!("({})", notation.condition(&command.guard)));
            parts.push(format!("({})", notation.condition(&case.condition)));
            for (slot, (name, _, location)) in listing.slots.iter().enumerate() {
                let new = assignments.iter().find(|(other, _)| *other == slot);
                let value = match (location, new) {
                    (Some(instance), _) => {
                        let mut movers = command.movers.iter();
                        let moves = movers.find(|mover| mover.instance == *instance);
                        let names = &model.process_of(*instance).locations;
                        moves.map_or(name.clone(), |m| format!("l_{}", names[m.target as usize]))
                    }
                    (None, Some((_, value))) => format!("({})", notation.value_for(slot, value)),
                    (None, None) => name.clone(),
                };
                parts.push(format!("next({name}) = {value}"));
            }
            let names = command.movers.iter();
            let names: Vec<String> = names.map(|m| model.command_name(m.command)).collect();
            let name = names.join(" & ");
            relations.push(format!("-- {name}\n  ({})", parts.join(" & ")));
        }
    }
    // A state without steps stays as it is.
    let mut stay = Vec::new();
    for command in &listing.commands {
        for case in &command.cases {
            let here = command.movers.iter();
            let here: Vec<String> = here.map(|m| at(m.instance, &[m.source])).collect();
            stay.push(format!(
                "!({} & ({}) & ({}))",
                here.join(" & "),
                notation.condition(&command.guard),
                notation.condition(&case.condition)
            ));
        }
    }
    for (name, _, _) in &listing.slots {
        stay.push(format!("next({name}) = {name}"));
    }
    relations.push(format!("-- idle\n  ({})", stay.join(" & ")));
    let _ = writeln!(out, "TRANS\n  {}", relations.join("\n  | "));
    if let Some((name, formula)) = &listing.property {
        let names = |atom: base::AtomId| format!("p{}", atom.index());
        let _ = writeln!(out, "DEFINE");
        for (atom, term) in &listing.atoms {
            let _ = writeln!(out, "  p{} := {};", atom.index(), notation.condition(term));
        }
        let text = formula.display(&names).to_string();
        let text = text
            .replace("&&", "&")
            .replace("||", "|")
            .replace("[]", "G ")
            .replace("<>", "F ");
        let _ = writeln!(out, "LTLSPEC NAME {name} := {text};");
    }
    out
}

fn initial(notation: &Notation<'_, '_>) -> String {
    let listing = notation.listing;
    let row = |state: &Vec<i64>| {
        let mut parts = Vec::new();
        for (slot, value) in state.iter().enumerate() {
            parts.push(notation.condition(&super::listing::has_value(slot, *value)));
        }
        format!("({})", parts.join(" & "))
    };
    let rows: Vec<String> = listing.initial.iter().map(row).collect();
    rows.join("\n  | ")
}

//! A family as a file for MONA, for inspection: one set for each location and value.

use std::fmt::Write as _;

use super::logic::{Base, ColumnId, IndexVar, Logic, PointerId, Term, Time};
use super::steps::Family;
use super::system::{Finite, Outside, Source, outside};

/// The transition system: declarations, then a predicate for well-formed states, one for initial
/// states, one for every transition, and the claim that there is an initial state.
///
/// # Errors
/// Indices that every process has: they are no sets.
pub fn mona(family: &Family<'_>) -> Result<String, Outside> {
    let system = &family.system;
    if let Some(field) = system.fields.first() {
        let what = format!(
            "as a file for MONA, `{}`, an index of every process,",
            field.name
        );
        return Err(outside(&what, system.parts().vars[field.var.index()].span));
    }
    let mut ranges = vec![system.last_covers_first()];
    for pointer in (0..system.pointers.len()).map(PointerId::new) {
        let value = Term::of(Base::Pointer(pointer, Time::Now));
        ranges.push(system.pointer_fits(pointer, value));
    }
    let well_formed = Logic::all(ranges);
    let writer = Writer { family };
    let mut text = String::from("ws1s;\n\n# the last process\nvar1 last;\n");
    writer.declarations(&mut text);
    let _ = writeln!(text, "\npred partition() =\n  {};", writer.partitions());
    let _ = writeln!(
        text,
        "\npred wellformed() =\n  partition() & {};",
        writer.text(&well_formed)
    );
    let _ = writeln!(
        text,
        "\npred initial() =\n  {};",
        writer.text(&writer.family.initial)
    );
    for transition in &writer.family.transitions {
        let name = &transition.name;
        let parameter = if transition.has_actor {
            format!("var1 {}", variable(writer.family.actor))
        } else {
            "var0 unused".to_owned()
        };
        let step = transition.step;
        let relation = writer.text(&transition.relation);
        let _ = writeln!(
            text,
            "\npred step{step}_{name}({parameter}) =\n  {relation};"
        );
    }
    text.push_str("\nwellformed() & initial();\n");
    Ok(text)
}

struct Writer<'f, 't> {
    family: &'f Family<'t>,
}

impl Writer<'_, '_> {
    fn declarations(&self, text: &mut String) {
        let system = &self.family.system;
        for column in &system.columns {
            let _ = writeln!(text, "# {}", column.name);
            for number in 0..column.values.len() {
                let (now, next) = (
                    name(column, number, Time::Now),
                    name(column, number, Time::Next),
                );
                let _ = writeln!(text, "var2 {now}, {next};");
            }
        }

        for cell in &system.cells {
            let _ = writeln!(text, "# {}", cell.name);
            for number in 0..cell.values.len() {
                let (now, next) = (
                    name(cell, number, Time::Now),
                    name(cell, number, Time::Next),
                );
                let _ = writeln!(text, "var0 {now}, {next};");
            }
        }

        for pointer in &system.pointers {
            let _ = writeln!(text, "var1 {0}, {0}_next;", pointer.name);
        }
    }

    /// Every process has one value of each column, and others have none; every cell one value.
    fn partitions(&self) -> String {
        let system = &self.family.system;
        let mut parts = Vec::new();
        for time in [Time::Now, Time::Next] {
            for column in &system.columns {
                let names: Vec<String> = (0..column.values.len())
                    .map(|number| name(column, number, time))
                    .collect();
                let first = system.first;
                parts.push(format!("{} = {{{first},...,last}}", names.join(" union ")));
                for (position, one) in names.iter().enumerate() {
                    for other in &names[position + 1..] {
                        parts.push(format!("{one} inter {other} = empty"));
                    }
                }
            }
            for cell in &system.cells {
                let names: Vec<String> = (0..cell.values.len())
                    .map(|number| name(cell, number, time))
                    .collect();
                parts.push(format!("({})", names.join(" | ")));
                for (position, one) in names.iter().enumerate() {
                    for other in &names[position + 1..] {
                        parts.push(format!("~({one} & {other})"));
                    }
                }
            }
        }

        parts.push("true".to_owned());
        parts.join(" &\n  ")
    }

    fn text(&self, logic: &Logic) -> String {
        let join = |parts: &[Logic], op: &str| {
            let parts: Vec<String> = parts.iter().map(|part| self.text(part)).collect();
            format!("({})", parts.join(op))
        };

        match logic {
            Logic::Const(value) => value.to_string(),
            Logic::Not(inner) => format!("~{}", self.text(inner)),
            Logic::And(parts) => join(parts, " & "),
            Logic::Or(parts) => join(parts, " | "),
            Logic::Less(left, right) => self.compare(*left, "<", *right),
            Logic::Equal(left, right) => self.compare(*left, "=", *right),
            Logic::Has(column, number, at, time) => self.has(*column, *number, *at, *time),
            Logic::Is(cell, number, time) => {
                name(&self.family.system.cells[cell.index()], *number, *time)
            }
            Logic::SameAt(column, at) => {
                let n_values = self.family.system.columns[column.index()].values.len();
                let same = |number| {
                    let now = self.has(*column, number, *at, Time::Now);
                    format!("({now} <=> {})", self.has(*column, number, *at, Time::Next))
                };
                format!(
                    "({})",
                    (0..n_values).map(same).collect::<Vec<_>>().join(" & ")
                )
            }
            Logic::SameColumn(column) => {
                let column = &self.family.system.columns[column.index()];
                let same = |number| {
                    let now = name(column, number, Time::Now);
                    format!("{now} = {}", name(column, number, Time::Next))
                };
                let all: Vec<String> = (0..column.values.len()).map(same).collect();
                format!("({})", all.join(" & "))
            }
            Logic::SameCell(cell) => {
                let cell = &self.family.system.cells[cell.index()];
                let same = |number| {
                    let now = name(cell, number, Time::Now);
                    format!("({now} <=> {})", name(cell, number, Time::Next))
                };
                let all: Vec<String> = (0..cell.values.len()).map(same).collect();
                format!("({})", all.join(" & "))
            }
            Logic::Exists(var, inner) => {
                format!("(ex1 {}: {})", variable(*var), self.text(inner))
            }
            Logic::Let(..) | Logic::Holds(..) | Logic::SameField(_) | Logic::Each(..) => {
                unreachable!("families with fields are refused")
            }
        }
    }

    fn has(&self, column: ColumnId, number: usize, at: Term, time: Time) -> String {
        let set = name(&self.family.system.columns[column.index()], number, time);
        let base = self.base(at.base);
        match at.offset {
            0 => format!("{base} in {set}"),
            offset @ 1.. => format!("{base} + {offset} in {set}"),
            offset => {
                let back = -offset;
                format!("({base} >= {back} & {base} - {back} in {set})")
            }
        }
    }

    fn compare(&self, left: Term, op: &str, right: Term) -> String {
        let lift = left.offset.min(right.offset);
        let term = |term: Term| match (term.base, term.offset - lift) {
            (Base::Zero, offset) => offset.to_string(),
            (base, 0) => self.base(base),
            (base, offset) => format!("{} + {offset}", self.base(base)),
        };
        format!("({} {op} {})", term(left), term(right))
    }

    fn base(&self, base: Base) -> String {
        match base {
            Base::Zero => "0".to_owned(),
            Base::Last => "last".to_owned(),
            Base::Var(var) => variable(var),
            Base::Pointer(pointer, time) => {
                let name = &self.family.system.pointers[pointer.index()].name;
                match time {
                    Time::Now => name.clone(),
                    Time::Next => format!("{name}_next"),
                }
            }
        }
    }
}

fn variable(var: IndexVar) -> String {
    format!("i{}", var.index())
}

fn name(finite: &Finite, number: usize, time: Time) -> String {
    let label = finite.labels[number].replace('-', "minus");
    let text = match finite.source {
        Source::Location(_) => format!("{}_at_{label}", finite.name),
        Source::Variable(_) | Source::Bit(_) => format!("{}_is_{label}", finite.name),
    };
    match time {
        Time::Now => text,
        Time::Next => format!("{text}_next"),
    }
}

//! Formulas in the words of the model.

use std::collections::BTreeMap;

use super::logic::{Base, IndexVar, Logic, Term};
use super::system::{Field, Finite, Source, System};

/// What bound variables are called.
const BOUND_NAMES: [&str; 6] = ["j", "k", "l", "m", "n", "o"];

/// Writes formulas about one system.
pub struct Describer<'s, 't> {
    system: &'s System<'t>,
    names: BTreeMap<IndexVar, String>,
}

impl<'s, 't> Describer<'s, 't> {
    /// Calls distinguished processes by their names.
    pub fn new(system: &'s System<'t>, distinguished: &[(IndexVar, String)]) -> Self {
        let names = distinguished.iter().cloned().collect();
        Self { system, names }
    }

    /// The text of a formula. Bound variables are called `j`, `k` and so on, from outside in.
    pub fn text(&self, logic: &Logic) -> String {
        let mut named = Self {
            system: self.system,
            names: self.names.clone(),
        };
        let is_free = |name: &&str| !self.names.values().any(|known| known == name);
        let free: Vec<&str> = BOUND_NAMES.into_iter().filter(is_free).collect();
        named.name_bound(logic, &free);
        named.at_level(logic, 0)
    }

    /// Names bound variables; `free` are the names that are not used around the formula.
    fn name_bound(&mut self, logic: &Logic, free: &[&str]) {
        match logic {
            Logic::Not(inner) => self.name_bound(inner, free),
            Logic::And(parts) | Logic::Or(parts) => {
                parts.iter().for_each(|part| self.name_bound(part, free));
            }
            Logic::Exists(var, inner) => {
                let (name, free) = free.split_first().unzip();
                let name: Option<&&str> = name;
                self.names
                    .extend(name.map(|name| (*var, (*name).to_owned())));
                self.name_bound(inner, free.unwrap_or_default());
            }
            Logic::Const(_)
            | Logic::Less(..)
            | Logic::Equal(..)
            | Logic::Has(..)
            | Logic::Is(..)
            | Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_)
            | Logic::Holds(..)
            | Logic::SameField(_) => {}
            Logic::Each(_, _, inner) => self.name_bound(inner, free),
            Logic::Let(var, field, at, inner) => {
                let value = self.held(&self.system.fields[field.index()], *at);
                self.names.insert(*var, value);
                self.name_bound(inner, free);
            }
        }
    }

    /// `exists j in 0..N-1: …`, where the formula says that the index is one of a process.
    fn exists(&self, var: IndexVar, inner: &Logic) -> String {
        let parts = match inner {
            Logic::And(parts) => parts.as_slice(),
            other => std::slice::from_ref(other),
        };
        let in_family = match self.system.is_process(Term::var(var)) {
            Logic::And(parts) => parts,
            other => vec![other],
        };
        let name = self.var(var);
        if !in_family.iter().all(|part| parts.contains(part)) {
            return format!("exists {name}: {}", self.at_level(inner, 0));
        }
        let rest = parts
            .iter()
            .filter(|part| !in_family.contains(part))
            .cloned();
        let rest = Logic::all(rest.collect::<Vec<_>>());
        let last = self.term(Term::last());
        let first = self.system.first;
        format!(
            "exists {name} in {first}..{last}: {}",
            self.at_level(&rest, 0)
        )
    }

    /// In parentheses if it binds less tightly than needed: 0 anything, 1 below `||`, 2 below `&&`.
    fn at_level(&self, logic: &Logic, level: u8) -> String {
        let join = |parts: &[Logic], op: &str, own: u8| {
            let parts: Vec<String> = parts.iter().map(|part| self.at_level(part, own)).collect();
            let text = parts.join(op);
            if level >= own {
                format!("({text})")
            } else {
                text
            }
        };

        match logic {
            Logic::Const(value) => value.to_string(),
            Logic::And(parts) => join(parts, " && ", 2),
            Logic::Or(parts) => join(parts, " || ", 1),
            Logic::Not(inner) => match &**inner {
                Logic::Less(left, right) => {
                    format!("{} <= {}", self.term(*right), self.term(*left))
                }
                Logic::Equal(left, right) => {
                    format!("{} != {}", self.term(*left), self.term(*right))
                }
                inner => format!("!({})", self.at_level(inner, 0)),
            },
            Logic::Less(left, right) => format!("{} < {}", self.term(*left), self.term(*right)),
            Logic::Equal(left, right) => format!("{} == {}", self.term(*left), self.term(*right)),
            Logic::Has(column, number, at, _) => {
                self.value(&self.system.columns[column.index()], *number, Some(*at))
            }
            Logic::Is(cell, number, _) => {
                self.value(&self.system.cells[cell.index()], *number, None)
            }
            Logic::SameAt(..) | Logic::SameColumn(_) | Logic::SameCell(_) | Logic::SameField(_) => {
                "unchanged".to_owned()
            }
            Logic::Let(_, _, _, inner) | Logic::Each(_, _, inner) => self.at_level(inner, level),
            Logic::Holds(field, at, value, _) => {
                let held = self.held(&self.system.fields[field.index()], *at);
                format!("{held} == {}", self.term(*value))
            }
            Logic::Exists(var, inner) => {
                let text = self.exists(*var, inner);
                if level > 0 { format!("({text})") } else { text }
            }
        }
    }

    /// `P[p].x`, `x[p]`.
    fn held(&self, field: &Field, at: Term) -> String {
        let at = self.term(at);
        match field.family {
            Some(family) => {
                let process = &self.system.parts().processes[family.index()].name;
                format!("{process}[{at}].{}", field.name)
            }
            None => format!("{}[{at}]", field.name),
        }
    }

    /// What is kept of a field, of a process.
    fn bit(&self, number: usize, is_true: bool, at: Term) -> String {
        let bit = &self.system.bits[number];
        let held = self.held(&self.system.fields[bit.field.index()], at);
        let mut names = self.names.clone();
        names.extend([(bit.value, held), (bit.at, self.term(at))]);
        let system = self.system;
        let logic = if is_true {
            bit.logic.clone()
        } else {
            Logic::not(bit.logic.clone())
        };
        format!("({})", Self { system, names }.at_level(&logic, 0))
    }

    fn value(&self, finite: &Finite, number: usize, at: Option<Term>) -> String {
        if let (Source::Bit(bit), Some(at)) = (finite.source, at) {
            return self.bit(bit, number == 1, at);
        }
        let label = &finite.labels[number];
        let index = at.map_or(String::new(), |at| format!("[{}]", self.term(at)));
        match finite.source {
            Source::Location(_) => format!("{}{index} @ {label}", finite.name),
            Source::Bit(_) => label.clone(),
            Source::Variable(_) => {
                let place = match finite.family {
                    Some(family) => {
                        let process = &self.system.parts().processes[family.index()].name;
                        format!("{process}{index}.{}", finite.name)
                    }
                    None => format!("{}{index}", finite.name),
                };
                match label.as_str() {
                    "true" => place,
                    "false" => format!("!{place}"),
                    label => format!("{place} == {label}"),
                }
            }
        }
    }

    fn var(&self, var: IndexVar) -> String {
        let known = self.names.get(&var).cloned();
        known.unwrap_or_else(|| format!("j{}", var.index()))
    }

    fn term(&self, term: Term) -> String {
        let base = match term.base {
            Base::Zero => return term.offset.to_string(),
            Base::Last => {
                let offset = term.offset + self.system.last_offset;
                return with_offset(&self.system.template.name, offset);
            }
            Base::Var(var) => self.var(var),
            Base::Pointer(pointer, _) => self.system.pointers[pointer.index()].name.clone(),
        };
        with_offset(&base, term.offset)
    }
}

fn with_offset(base: &str, offset: i64) -> String {
    match offset {
        0 => base.to_owned(),
        1.. => format!("{base}+{offset}"),
        _ => format!("{base}-{}", -offset),
    }
}

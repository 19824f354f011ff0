//! Threshold automata whose coefficients are to be found.
//!
//! In a sketch a threshold is `a * N + b * T + c` with unknown numbers `a`, `b`, `c`. Every sum in it is
//! linear in the unknowns, so it is known from what it is for the unknowns zero and with each of them one
//! in turn.
//!
//! M. Lazić, I. Konnov, J. Widder, R. Bloem, *Synthesis of distributed algorithms with parameterized
//! threshold guards*, OPODIS 2017, doi:10.4230/LIPIcs.OPODIS.2017.32.

use crate::threshold::{Condition, Quantity, Sum, ThresholdAutomaton};

/// A threshold automaton with unknown coefficients. Invariant: `zero` and all `units` differ in the
/// numbers of their sums only, and those are linear in the unknowns.
#[derive(Clone, Debug)]
pub struct Sketch {
    /// The names of the unknowns.
    pub unknowns: Vec<String>,
    /// The automaton for the unknowns zero.
    pub zero: ThresholdAutomaton,
    /// For each unknown, the automaton where it is one and the others are zero.
    pub units: Vec<ThresholdAutomaton>,
}

impl Sketch {
    /// The automaton for values of the unknowns; nothing if a number becomes too large.
    #[must_use]
    pub fn instance(&self, values: &[i64]) -> Option<ThresholdAutomaton> {
        // Sums are linear in the unknowns: the version with 1 for one of them gives its slope.
        let at_values = |versions: &[&Sum]| {
            let [zero, units @ ..] = versions else {
                return None;
            };
            let mut sum = (*zero).clone();
            for (unit, value) in units.iter().zip(values) {
                let slope = unit.plus(-1, zero)?;
                sum = sum.plus(*value, &slope)?;
            }
            Some(sum)
        };

        let mut automaton = self.zero.clone();
        for (at, condition) in automaton.assumptions.iter_mut().enumerate() {
            *condition = self.condition(|version| &version.assumptions[at], &at_values)?;
        }
        for (at, condition) in automaton.init.iter_mut().enumerate() {
            *condition = self.condition(|version| &version.init[at], &at_values)?;
        }
        for (at, rule) in automaton.rules.iter_mut().enumerate() {
            rule.guard = self.condition(|version| &version.rules[at].guard, &at_values)?;
        }
        for (at, atom) in automaton.atoms.iter_mut().enumerate() {
            atom.condition = self.condition(|version| &version.atoms[at].condition, &at_values)?;
        }

        Some(automaton)
    }

    /// What a condition says about the unknowns where all quantities have values: a condition in which
    /// the parameter at a position stands for the unknown there. Nothing if a number becomes too large.
    pub fn about_unknowns<'a>(
        &'a self,
        pick: impl Fn(&'a ThresholdAutomaton) -> &'a Condition,
        of: &dyn Fn(Quantity) -> i64,
    ) -> Option<Condition> {
        self.condition(pick, &|versions: &[&Sum]| {
            let [zero, units @ ..] = versions else {
                return None;
            };
            let zero = zero.value(of)?;
            let mut sum = Sum::constant(zero);
            for (position, unit) in units.iter().enumerate() {
                let slope = unit.value(of)?.checked_sub(zero)?;
                let unknown = Sum::of(Quantity::Parameter(position));
                sum = sum.plus(slope, &unknown)?;
            }
            Some(sum)
        })
    }

    /// Does a condition speak of nothing but the unknowns?
    pub fn is_about_unknowns<'a>(
        &'a self,
        pick: impl Fn(&'a ThresholdAutomaton) -> &'a Condition,
    ) -> bool {
        let constant = |versions: &[&Sum]| {
            let all = versions.iter().all(|sum| sum.as_constant().is_some());
            all.then(Sum::default)
        };
        self.condition(pick, &constant).is_some()
    }

    /// A condition with each sum made of its versions.
    fn condition<'a>(
        &'a self,
        pick: impl Fn(&'a ThresholdAutomaton) -> &'a Condition,
        make: &dyn Fn(&[&Sum]) -> Option<Sum>,
    ) -> Option<Condition> {
        let versions = std::iter::once(&self.zero).chain(&self.units);
        let versions: Vec<&Condition> = versions.map(pick).collect();
        together(&versions, make)
    }
}

/// Versions of a condition as one, with each sum made of its versions.
fn together(versions: &[&Condition], make: &dyn Fn(&[&Sum]) -> Option<Sum>) -> Option<Condition> {
    let parts = |of: fn(&Condition) -> &[Condition]| {
        let n = versions.first().map_or(0, |first| of(first).len());
        let part = |at: usize| {
            let versions: Option<Vec<&Condition>> =
                versions.iter().map(|version| of(version).get(at)).collect();
            together(&versions?, make)
        };
        (0..n).map(part).collect::<Option<Vec<Condition>>>()
    };
    Some(match versions.first()? {
        Condition::Bool(value) => Condition::Bool(*value),
        Condition::Compare(_, comparison) => {
            let sums = versions.iter().map(|version| sum_of(version));
            let sums: Option<Vec<&Sum>> = sums.collect();
            Condition::Compare(make(&sums?)?, *comparison)
        }
        Condition::All(_) => Condition::All(parts(parts_of)?),
        Condition::Any(_) => Condition::Any(parts(parts_of)?),
    })
}

fn parts_of(condition: &Condition) -> &[Condition] {
    match condition {
        Condition::All(parts) | Condition::Any(parts) => parts,
        Condition::Bool(_) | Condition::Compare(..) => &[],
    }
}

fn sum_of(condition: &Condition) -> Option<&Sum> {
    match condition {
        Condition::Compare(sum, _) => Some(sum),
        Condition::Bool(_) | Condition::All(_) | Condition::Any(_) => None,
    }
}

//! Automata whose coefficients are to be found.

use std::collections::BTreeMap;

use base::{Diagnostic, Source, SourceId};
use logic::NamedProperty;
use model::sketch::Sketch;
use model::threshold::ThresholdAutomaton;
use source::Options;

use crate::lower::Lowering;
use crate::parser::{self, Tree};
use crate::{assume_values, values};

/// What a text with `unknowns` means.
#[derive(Clone, Debug)]
pub struct SketchText {
    /// The automaton, for all values of the unknowns that have none.
    pub sketch: Sketch,
    /// What it is to satisfy.
    pub properties: Vec<NamedProperty>,
    /// Warnings.
    pub diagnostics: Vec<Diagnostic>,
}

/// Reads an automaton with unknown coefficients, of which the options may give some values.
///
/// # Errors
/// What is wrong with the text.
pub fn read_sketch(source: &Source, options: &Options) -> Result<SketchText, Diagnostic> {
    let tree = parser::parse(&source.text, SourceId(0))?;
    let given = values(&tree, options)?;
    let unknowns = tree.unknowns.iter().map(|unknown| unknown.text.clone());
    let unknowns: Vec<String> = unknowns.filter(|name| !given.contains_key(name)).collect();
    let version = |one: Option<&String>| {
        let mut values = given.clone();
        for unknown in &unknowns {
            values.insert(unknown.clone(), i64::from(one == Some(unknown)));
        }
        lowered(source, &tree, &unknowns, &values)
    };

    let (zero, properties, diagnostics) = version(None)?;
    let units = unknowns.iter().map(|unknown| Ok(version(Some(unknown))?.0));
    let units = units.collect::<Result<_, Diagnostic>>()?;
    let sketch = Sketch {
        zero,
        units,
        unknowns,
    };
    Ok(SketchText {
        sketch,
        properties,
        diagnostics,
    })
}

type Version = (ThresholdAutomaton, Vec<NamedProperty>, Vec<Diagnostic>);

fn lowered(
    source: &Source,
    tree: &Tree,
    unknowns: &[String],
    values: &BTreeMap<String, i64>,
) -> Result<Version, Diagnostic> {
    let mut lowering = Lowering::new(vec![&source.text]).with_open(unknowns);
    let (mut automaton, properties) = lowering.automaton(tree, values)?;
    automaton.atoms = lowering.atoms();
    let parameters = automaton.parameters.iter();
    let known: Vec<Option<i64>> = parameters.map(|name| values.get(name).copied()).collect();
    assume_values(&mut automaton, &known);
    Ok((automaton, properties, lowering.warnings))
}

//! Threshold automata in the format of ByMC, the Byzantine Model Checker.
//!
//! A `.ta` file describes one automaton that any number of processes follow, conditions on parameters
//! such as `N > 3 * T`, and properties. [`ThresholdAutomata`] reads it as an automaton for all values
//! of the parameters; if all parameters have values, as a system with a counter for each location.
//! `docs/reference/threshold-automata.md` says what is understood and how it is read.
//!
//! ```
//! use source::FrontEnd as _;
//! let text = "thresholdAutomaton P { shared sent; parameters N;
//!     assumptions (1) { N > 1; } locations (2) { idle: [0]; done: [1]; }
//!     inits (3) { idle == N; done == 0; sent == 0; }
//!     rules (1) { 0: idle -> done when (true) do { sent' == sent + 1; }; }
//!     specifications (1) { honest: [](sent <= N); } }";
//! let source = base::Source { name: "p.ta".into(), text: text.into() };
//! let no_files = source::Memory::default();
//! let loaded = ta::ThresholdAutomata.load(source, &no_files, &source::Options::default());
//! assert!(loaded.diagnostics.is_empty());
//! assert_eq!(loaded.questions[0].property.name, "honest");
//! ```

mod lexer;
mod lower;
mod parser;
mod sketch;

use std::collections::BTreeMap;

use base::{Diagnostic, Source, SourceId, Span};
use model::Scope;
use model::threshold::{Comparison, Condition, Quantity, Sum, ThresholdAutomaton};
use source::{
    Analysis, Content, Files, FrontEnd, Loaded, MAX_BYTES, Names, Options, Question, System,
};

pub use sketch::{SketchText, read_sketch};

use lower::Lowering;
use parser::Tree;

/// Threshold automata as a front end.
#[derive(Clone, Copy, Debug)]
pub struct ThresholdAutomata;

impl FrontEnd for ThresholdAutomata {
    fn name(&self) -> &'static str {
        "threshold automata"
    }

    fn extensions(&self) -> &'static [&'static str] {
        &["ta"]
    }

    fn recognises(&self, text: &str) -> bool {
        source::has_word(text, "thresholdAutomaton")
    }

    fn larger_pools(&self) -> &'static [usize] {
        &[]
    }

    fn keywords(&self) -> &'static [&'static str] {
        &[
            "assumptions",
            "define",
            "do",
            "false",
            "inits",
            "local",
            "locations",
            "parameters",
            "rules",
            "shared",
            "skel",
            "specifications",
            "threshAuto",
            "thresholdAutomaton",
            "true",
            "unchanged",
            "unknowns",
            "when",
        ]
    }

    fn accept(&self, options: &Options) -> Result<(), String> {
        if !options.abstract_timers.is_empty() {
            let message =
                "threshold automata have no timers, so there is nothing for `--abstract-timer`";
            return Err(message.to_owned());
        }
        if !options.ctl.is_empty() {
            let message =
                "threshold automata are asked formulas without path quantifiers only; use `--ltl`";
            return Err(message.to_owned());
        }
        if !options.assume.is_empty() {
            let message = "assumptions about runs of threshold automata are written in the formula: `--ltl 'p=<>[](…) -> …'`";
            return Err(message.to_owned());
        }
        Ok(())
    }

    fn load(&self, source: Source, _files: &dyn Files, options: &Options) -> Loaded {
        read(source, options).0.expecting_by_comments()
    }

    fn analyse(&self, source: Source, _files: &dyn Files, options: &Options) -> Analysis {
        let (loaded, names) = read(source, options);
        Analysis::of_names(names, loaded.expecting_by_comments())
    }
}

/// What becomes of a text, and what its names mean.
fn read(source: Source, options: &Options) -> (Loaded, Names) {
    let mut sources = vec![source];
    for (_, formula) in &options.ltl {
        sources.push(Source {
            name: "<--ltl>".to_owned(),
            text: formula.clone(),
        });
    }

    let texts = sources.iter().map(|source| source.text.as_str()).collect();
    let mut lowering = Lowering::new(texts);
    let found = content(&sources, options, &mut lowering);
    let Lowering {
        mut names,
        warnings: mut diagnostics,
        ..
    } = lowering;
    let found = match found {
        Ok(found) => Some(found),
        Err(wrong) => {
            names
                .unread
                .push(Span::new(SourceId(0), 0, sources[0].text.len()));
            diagnostics.push(wrong);
            None
        }
    };
    (Loaded::new(found, sources, diagnostics), names)
}

fn content(
    sources: &[Source],
    options: &Options,
    lowering: &mut Lowering<'_>,
) -> Result<(Content, Vec<Question>), Diagnostic> {
    if sources[0].text.len() > MAX_BYTES {
        let message = format!("the text has more than {MAX_BYTES} bytes");
        return Err(Diagnostic::error("too-large", Span::nowhere(), message));
    }
    let tree = parser::parse(&sources[0].text, SourceId(0))?;
    let values = values(&tree, options)?;
    let (mut automaton, mut properties) = lowering.automaton(&tree, &values)?;
    for (position, (name, text)) in options.ltl.iter().enumerate() {
        let formula = parser::parse_formula(text, SourceId::new(position + 1))?;
        properties.push(lowering.property(name, &formula)?);
    }
    automaton.atoms = lowering.atoms();

    let about = |property| Question::about(property, Scope::default());
    let questions = properties.into_iter().map(about).collect();
    Ok((with_values(automaton, &values, options.closed)?, questions))
}

/// The values that the caller gives to parameters and coefficients.
fn values(tree: &Tree, options: &Options) -> Result<BTreeMap<String, i64>, Diagnostic> {
    let mut values = BTreeMap::new();
    for (name, text) in &options.defines {
        let wrong = |message| Diagnostic::error("define", Span::nowhere(), message);
        let mut declared = tree.parameters.iter().chain(&tree.unknowns);
        if !declared.any(|ident| ident.text == *name) {
            let message = format!("-D {name}: there is no parameter `{name}`");
            return Err(wrong(message));
        }
        let value = text.parse::<i64>().ok().filter(|v| v.abs() <= MAX_VALUE);
        let value = value.ok_or_else(|| {
            wrong(format!(
                "-D {name}={text}: a number up to {MAX_VALUE} is expected"
            ))
        })?;
        values.insert(name.clone(), value);
    }
    Ok(values)
}

/// Values of parameters are at most this, so that sums of multiples fit 64 bits.
const MAX_VALUE: i64 = 1_000_000;

/// One system if all parameters have values; else an automaton that assumes those that there are.
fn with_values(
    mut automaton: ThresholdAutomaton,
    values: &BTreeMap<String, i64>,
    closed: bool,
) -> Result<Content, Diagnostic> {
    let known: Vec<Option<i64>> = automaton
        .parameters
        .iter()
        .map(|name| values.get(name).copied())
        .collect();
    if let Some(all) = known.iter().copied().collect::<Option<Vec<i64>>>() {
        let wrong = |message| Diagnostic::error("define", automaton.span, message);
        let parts = automaton.counter_system(&all, None).map_err(wrong)?;
        let model = parts.finish().map_err(|error| wrong(error.message))?;
        return Ok(Content::Systems(vec![System::new(&automaton.name, model)]));
    }
    if closed {
        let open = known.iter().position(Option::is_none).unwrap_or(0);
        let name = &automaton.parameters[open];
        let message = format!("the parameter `{name}` has no value");
        let help = format!("give it one, for example with `-D {name}=4`");
        return Err(Diagnostic::error("no-value", automaton.span, message).help(help));
    }

    assume_values(&mut automaton, &known);
    Ok(Content::Threshold(vec![automaton]))
}

/// Assumes the values of parameters that there are.
fn assume_values(automaton: &mut ThresholdAutomaton, known: &[Option<i64>]) {
    for (position, value) in known.iter().enumerate() {
        if let Some(value) = value {
            let parameter = Sum::of(Quantity::Parameter(position));
            let difference = parameter
                .plus(-value, &Sum::constant(1))
                .unwrap_or_default();
            let is_it = Condition::Compare(difference, Comparison::Zero);
            automaton.assumptions.push(is_it);
        }
    }
}

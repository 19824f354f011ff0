//! Decides properties of threshold automata for all values of their parameters.
//!
//! [`decide`] looks for a run that violates a formula, for any values of the parameters that the
//! automaton admits: it asks a solver for linear integer arithmetic about all of them in one formula
//! (`encoding.rs`), after small questions that make it smaller (`facts.rs`). If there is no
//! solution, the formula holds for all of them. A solution is a [`Counterexample`]: values, and how
//! often which rule is taken, to be replayed by the caller; for some formulas a solution need not be a
//! run.
//!
//! This crate refuses to know where automata come from, and to give verdicts.

mod encoding;
mod facts;
mod fairness;
mod pattern;
mod shape;

use base::Span;
use logic::Ltl;
use model::threshold::{Configuration, ThresholdAutomaton};
use smt::{Answer as Said, Model, Solver, Term};

pub use fairness::fair_ends;
pub use shape::Outside;

use encoding::{Encoding, n_segments};
use facts::Facts;
use pattern::Pattern;
use shape::Shape;

/// Formulas with more numbers than this are not asked about.
const MAX_NUMBERS: usize = 200_000;

/// What is known about the runs that violate a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Answer {
    /// There are none, whatever the parameters are.
    None,
    /// There may be this one.
    Some(Counterexample),
    /// The solver has no answer, and why.
    Unknown(String),
    /// The automaton or the formula is not of the kind that is decided.
    Outside(Outside),
}

/// A run that may violate a formula.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Counterexample {
    /// The values of the parameters.
    pub parameters: Vec<i64>,
    /// Where the run starts.
    pub start: Configuration,
    /// Which rules are taken, by position, and how often in a row.
    pub steps: Vec<(usize, i64)>,
}

/// Are there runs that violate the formula, for some values of the parameters? The formula is written
/// at `span`; its atoms are those of the automaton. That there are none is an answer of `solver` alone;
/// `helper` looks for small values if there are any. Both must be fresh.
pub fn decide(
    automaton: &ThresholdAutomaton,
    formula: &Ltl,
    span: Span,
    solver: &mut dyn Solver,
    helper: &mut dyn Solver,
) -> Answer {
    let mut query = match Query::new(automaton, formula, span) {
        Ok(query) => query,
        Err(outside) => return Answer::Outside(outside),
    };

    let facts = Facts::ask(&mut query.shape, &query.pattern, solver);
    let encoding = Encoding::new(&query.shape, &query.pattern, &facts);
    ask(&encoding, solver);

    match solver.check(&[]) {
        Said::Unsat => Answer::None,
        Said::Unknown(why) => Answer::Unknown(why),
        Said::Sat(model) => {
            // The first solution may have huge numbers, of which no trace could be made.
            ask(&encoding, helper);
            let model = smallest(&encoding, model, helper);
            match query.counterexample(&encoding, &model) {
                Some(found) => Answer::Some(found),
                None => Answer::Unknown("the numbers of the run are too large".to_owned()),
            }
        }
    }
}

fn ask(encoding: &Encoding<'_>, solver: &mut dyn Solver) {
    // Solvers that expect more questions take another way, which is faster on these formulas.
    solver.push();
    for assertion in &encoding.assertions {
        solver.assert(assertion);
    }
}

/// Into how many segments runs are cut; nothing if the automaton or the formula is not of the kind that
/// is decided.
#[must_use]
pub fn segments(automaton: &ThresholdAutomaton, formula: &Ltl) -> Option<usize> {
    let query = Query::new(automaton, formula, Span::nowhere()).ok()?;
    Some(n_segments(&Facts::of(&query.shape), &query.pattern))
}

struct Query<'a> {
    shape: Shape<'a>,
    pattern: Pattern,
}

impl<'a> Query<'a> {
    fn new(automaton: &'a ThresholdAutomaton, formula: &Ltl, span: Span) -> Result<Self, Outside> {
        let mut shape = Shape::new(automaton)?;
        let pattern = Pattern::of_violations(automaton, formula, span)?;
        shape.simplify(&pattern);
        let n_quantities = automaton.locations.len() + automaton.shared.len();
        let n_segments = n_segments(&Facts::of(&shape), &pattern);
        let n_numbers = n_segments * (shape.moves.len() + 2 * n_quantities);
        if n_numbers > MAX_NUMBERS {
            let message = format!("its runs are described by {n_numbers} numbers, too many");
            return Err(Outside { message, span });
        }
        Ok(Self { shape, pattern })
    }

    /// The run that a solution describes.
    fn counterexample(&self, encoding: &Encoding<'_>, model: &Model) -> Option<Counterexample> {
        let number = |term: &Term| i64::try_from(model.int(term)?).ok();
        let numbers = |terms: &[Term]| terms.iter().map(number).collect::<Option<Vec<i64>>>();
        let mut steps = Vec::new();
        for segment in &encoding.segments {
            let flows = segment.flows.iter().enumerate();
            let last = segment
                .last
                .iter()
                .map(|(position, times)| (*position, times));
            for (position, times) in flows.chain(last) {
                let times = number(times)?;
                if times > 0 {
                    steps.push((self.shape.moves[position].rule, times));
                }
            }
        }

        let first = encoding.points.first()?;
        Some(Counterexample {
            parameters: numbers(&encoding.parameters)?,
            start: Configuration {
                locations: numbers(&first.locations)?,
                shared: numbers(&first.shared)?,
            },
            steps,
        })
    }
}

/// A solution with parameters as small as the solver finds soon: their sum is halved as long as that is
/// possible, then searched between.
fn smallest(encoding: &Encoding<'_>, mut found: Model, solver: &mut dyn Solver) -> Model {
    let counters = encoding
        .points
        .first()
        .into_iter()
        .flat_map(|first| &first.shared);
    let size = Term::add(encoding.parameters.iter().chain(counters).cloned());
    let Some(mut high) = found.int(&size) else {
        return found;
    };

    let mut low = 0;
    while low < high {
        let middle = low + (high - low) / 2;
        match solver.check(&[Term::le(size.clone(), Term::Int(middle))]) {
            Said::Sat(model) => {
                high = model.int(&size).unwrap_or(middle).min(middle);
                found = model;
            }
            Said::Unsat => low = middle + 1,
            Said::Unknown(_) => break,
        }
    }

    found
}

//! Values for the coefficients of a sketch that make all properties true for all parameters.
//!
//! A solver proposes values that the runs found so far do not exclude; the properties are checked for
//! them; a run that violates one, for values of the parameters, excludes all coefficients for which it is
//! a run that violates it: with numbers for everything else, its guards and atoms are linear conditions
//! on the coefficients. That is counterexample-guided synthesis as in M. Lazić, I. Konnov, J. Widder,
//! R. Bloem, *Synthesis of distributed algorithms with parameterized threshold guards*, OPODIS 2017,
//! doi:10.4230/LIPIcs.OPODIS.2017.32.
//!
//! Invariant: values are excluded only if they were tried or a run refutes them.

use base::{AtomId, Progress};
use evidence::{Trace, Verdict};
use logic::{Ltl, NamedProperty, Op, Property};
use model::sketch::Sketch;
use model::threshold::{Comparison, Condition, Quantity, Rule, Sum, ThresholdAutomaton};
use smt::{Answer, Model, Solver, Sort, Term};

use crate::predicate::confirmed_solver;
use crate::{Bug, Plan, check_thresholds};

/// What was found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Synthesis {
    /// Values of the unknowns that make all properties true.
    pub solutions: Vec<Vec<i64>>,
    /// Are there no others?
    pub is_complete: bool,
    /// Values for which a property was not decided, and why.
    pub undecided: Vec<(Vec<i64>, String)>,
    /// How many values were tried.
    pub n_tried: u64,
    /// Why the search was ended before its end.
    pub stopped: Option<String>,
}

/// Looks for values of the unknowns that make all properties true, the first or all of them.
///
/// # Errors
/// Evidence was found to be wrong.
pub fn synthesise(
    sketch: &Sketch,
    properties: &[NamedProperty],
    plan: &Plan,
    is_for_all: bool,
    progress: &mut dyn Progress,
) -> Result<Synthesis, Bug> {
    let mut solver = confirmed_solver(&plan.predicate);
    solver.obey(&plan.budget);
    let mut search = Search {
        sketch,
        properties: properties.iter().collect(),
        plan,
        solver,
        found: Synthesis::default(),
    };
    search.bound();
    search.run(is_for_all, progress)?;
    Ok(search.found)
}

struct Search<'a> {
    sketch: &'a Sketch,
    /// The one that was violated last comes first.
    properties: Vec<&'a NamedProperty>,
    plan: &'a Plan,
    solver: Box<dyn Solver>,
    found: Synthesis,
}

/// What became of values.
enum Trial {
    Solution,
    Refuted(Condition),
    Undecided(String),
}

impl Search<'_> {
    /// Assumes what the sketch says about its unknowns.
    fn bound(&mut self) {
        let sketch = self.sketch;
        for at in 0..sketch.zero.assumptions.len() {
            let pick = |version| assumption(version, at);
            if sketch.is_about_unknowns(pick)
                && let Some(condition) = sketch.about_unknowns(pick, &|_| 0)
            {
                self.solver.assert(&self.term(&condition));
            }
        }
    }

    fn run(&mut self, is_for_all: bool, progress: &mut dyn Progress) -> Result<(), Bug> {
        loop {
            if let Err(reason) = self.plan.budget.check(0, 0) {
                self.found.stopped = Some(reason.name().to_owned());
                return Ok(());
            }
            let model = match self.solver.check(&[]) {
                Answer::Sat(model) => model,
                Answer::Unsat => {
                    self.found.is_complete = self.found.undecided.is_empty();
                    return Ok(());
                }
                Answer::Unknown(why) => {
                    self.found.stopped = Some(format!("{}: {why}", self.solver.name()));
                    return Ok(());
                }
            };
            let Some(values) = self.values(&model) else {
                self.found.stopped = Some("a coefficient is too large".to_owned());
                return Ok(());
            };

            self.found.n_tried += 1;
            let excluded = match self.trial(&values, progress)? {
                Trial::Refuted(condition) => condition,
                Trial::Solution => {
                    self.found.solutions.push(values.clone());
                    if !is_for_all {
                        return Ok(());
                    }
                    exactly(&values)
                }
                Trial::Undecided(why) => {
                    self.found.undecided.push((values.clone(), why));
                    exactly(&values)
                }
            };
            let excluded = Term::not(self.term(&excluded));
            self.solver.assert(&excluded);
        }
    }

    /// Checks all properties for values of the unknowns.
    fn trial(&mut self, values: &[i64], progress: &mut dyn Progress) -> Result<Trial, Bug> {
        let Some(automaton) = self.sketch.instance(values) else {
            return Ok(Trial::Undecided("a number is too large".to_owned()));
        };
        let mut undecided = None;
        for is_compared in [false, true] {
            // Proofs are compared with small systems only if they are not in vain.
            if is_compared && (self.plan.no_cross_check || undecided.is_some()) {
                continue;
            }
            let plan = Plan {
                no_cross_check: !is_compared,
                ..self.plan.clone()
            };
            for at in 0..self.properties.len() {
                let property = self.properties[at];
                let outcome = check_thresholds(&automaton, property, &plan, progress)?;
                match &outcome.verdict {
                    Verdict::Holds { .. } => {}
                    // Another property may be violated.
                    Verdict::Unknown(reason) => {
                        undecided = Some(format!("{}: {}", property.name, reason.name()));
                    }
                    Verdict::Violated(violation) => {
                        self.properties[..=at].rotate_right(1);
                        let trace = violation.trace.as_ref();
                        let condition = self.refuted(property, &outcome.sample_values, trace);
                        let is_it = |condition: &Condition| {
                            condition.holds(&|quantity| value_of(quantity, values)) == Some(true)
                        };
                        let condition = condition.filter(is_it);
                        return Ok(Trial::Refuted(condition.unwrap_or_else(|| exactly(values))));
                    }
                }
            }
        }
        Ok(undecided.map_or(Trial::Solution, Trial::Undecided))
    }

    /// The unknowns that a run refutes, if that is known.
    fn refuted(
        &self,
        property: &NamedProperty,
        parameters: &[i64],
        trace: Option<&Trace>,
    ) -> Option<Condition> {
        let run = Refutation {
            sketch: self.sketch,
            parameters,
            trace: trace?,
        };
        run.condition(property)
    }

    fn values(&self, model: &Model) -> Option<Vec<i64>> {
        let names = self.sketch.unknowns.iter();
        let value = |name: &String| i64::try_from(model.int(&unknown(name)).unwrap_or(0)).ok();
        names.map(value).collect()
    }

    /// A condition on the unknowns as a term.
    fn term(&self, condition: &Condition) -> Term {
        match condition {
            Condition::Bool(value) => Term::Bool(*value),
            Condition::All(parts) => Term::and(parts.iter().map(|part| self.term(part))),
            Condition::Any(parts) => Term::or(parts.iter().map(|part| self.term(part))),
            Condition::Compare(sum, comparison) => {
                let (sum, zero) = (self.sum(sum), Term::Int(0));
                match comparison {
                    Comparison::AtLeastZero => Term::le(zero, sum),
                    Comparison::Zero => Term::eq(sum, zero),
                    Comparison::NotZero => Term::not(Term::eq(sum, zero)),
                }
            }
        }
    }

    fn sum(&self, sum: &Sum) -> Term {
        let mut parts = vec![Term::Int(i128::from(sum.offset))];
        for (quantity, factor) in &sum.terms {
            if let Quantity::Parameter(position) = quantity {
                let unknown = unknown(&self.sketch.unknowns[*position]);
                let product = Term::mul(&Term::Int(i128::from(*factor)), &unknown);
                parts.push(product.expect("a factor of 64 bits is not enormous"));
            }
        }
        Term::add(parts)
    }
}

fn unknown(name: &str) -> Term {
    Term::var(name, Sort::Int)
}

/// The value of an unknown in a condition on unknowns.
fn value_of(quantity: Quantity, values: &[i64]) -> i64 {
    match quantity {
        Quantity::Parameter(position) => values[position],
        Quantity::Location(_) | Quantity::Shared(_) => 0,
    }
}

/// The unknowns have these values.
fn exactly(values: &[i64]) -> Condition {
    let is_it = |(position, value): (usize, &i64)| {
        let mut sum = Sum::of(Quantity::Parameter(position));
        sum.offset = -value;
        Condition::Compare(sum, Comparison::Zero)
    };
    Condition::All(values.iter().enumerate().map(is_it).collect())
}

/// A run that violates a property, for values of the parameters.
struct Refutation<'a> {
    sketch: &'a Sketch,
    parameters: &'a [i64],
    trace: &'a Trace,
}

impl<'a> Refutation<'a> {
    /// For which unknowns it is a run that violates the property; nothing if that is not known.
    fn condition(&self, property: &NamedProperty) -> Option<Condition> {
        let automaton = &self.sketch.zero;
        if self.parameters.len() != automaton.parameters.len() {
            return None;
        }
        let mut parts = Vec::new();
        for at in 0..automaton.assumptions.len() {
            parts.push(self.at(0, move |version| assumption(version, at))?);
        }
        for at in 0..automaton.init.len() {
            parts.push(self.at(0, move |version| &version.init[at])?);
        }

        let n_states = self.trace.states.len();
        for position in 1..n_states {
            parts.push(self.step(position - 1, position)?);
        }
        let violated = match (&property.property, self.trace.loop_start) {
            (Property::Invariant(formula), None) => self.formula(formula, n_states - 1)?,
            (Property::Invariant(formula), Some(_)) => {
                self.formula(&Ltl::always(formula.clone()), 0)?
            }
            (Property::Ltl(formula), Some(_)) => self.formula(formula, 0)?,
            _ => return None,
        };
        parts.push(violated.negation()?);
        if let Some(start) = self.trace.loop_start {
            parts.push(self.step(n_states - 1, start)?);
        }
        Some(simplified(Condition::All(parts)))
    }

    /// What a condition says about the unknowns in a state of the run.
    fn at(
        &self,
        position: usize,
        pick: impl Fn(&'a ThresholdAutomaton) -> &'a Condition,
    ) -> Option<Condition> {
        let cells = &self.trace.states[position].cells;
        let n_locations = self.sketch.zero.locations.len();
        let of = |quantity| match quantity {
            Quantity::Parameter(at) => self.parameters[at],
            Quantity::Location(at) => cells[at],
            Quantity::Shared(at) => cells[n_locations + at],
        };
        let condition = self.sketch.about_unknowns(pick, &of)?;
        Some(simplified(condition))
    }

    /// When one state follows another: a rule leads there, or it is the same and no rule is possible.
    fn step(&self, from: usize, to: usize) -> Option<Condition> {
        let states = &self.trace.states;
        let (before, after) = (&states[from].cells, &states[to].cells);
        let (mut leading, mut none) = (Vec::new(), Vec::new());
        for (at, rule) in self.sketch.zero.rules.iter().enumerate() {
            if before[rule.source] == 0 {
                continue;
            }
            let guard = self.at(from, move |version| &version.rules[at].guard)?;
            none.push(guard.negation()?);
            if leads_to(&self.sketch.zero, rule, before, after) {
                leading.push(guard);
            }
        }
        if before == after {
            leading.push(Condition::All(none));
        }
        Some(simplified(Condition::Any(leading)))
    }

    /// When a formula is true from a position on.
    fn formula(&self, formula: &Ltl, position: usize) -> Option<Condition> {
        let each = |parts: &mut dyn Iterator<Item = Option<Condition>>| parts.collect();
        let all = |parts: &[Ltl]| {
            let parts: Option<Vec<Condition>> =
                each(&mut parts.iter().map(|part| self.formula(part, position)));
            parts
        };
        let later = |inner: &Ltl| -> Option<Vec<Condition>> {
            each(&mut self.later(position).map(|at| self.formula(inner, at)))
        };
        let condition = match formula.op() {
            Op::True => Condition::Bool(true),
            Op::False => Condition::Bool(false),
            Op::Atom(atom) => self.atom(*atom, position)?,
            Op::Not(inner) => self.formula(inner, position)?.negation()?,
            Op::And(parts) => Condition::All(all(parts)?),
            Op::Or(parts) => Condition::Any(all(parts)?),
            Op::Implies(a, b) => {
                let premise = self.formula(a, position)?.negation()?;
                Condition::Any(vec![premise, self.formula(b, position)?])
            }
            Op::Always(inner) => Condition::All(later(inner)?),
            Op::Eventually(inner) => Condition::Any(later(inner)?),
            // Of others only the values that were tried are excluded.
            _ => return None,
        };
        Some(simplified(condition))
    }

    fn atom(&self, atom: AtomId, position: usize) -> Option<Condition> {
        self.at(position, move |version| {
            &version.atoms[atom.index()].condition
        })
    }

    /// The positions that are visited from one on.
    fn later(&self, position: usize) -> impl Iterator<Item = usize> + use<> {
        let first = self.trace.loop_start.unwrap_or(position).min(position);
        first..self.trace.states.len()
    }
}

fn assumption(automaton: &ThresholdAutomaton, at: usize) -> &Condition {
    &automaton.assumptions[at]
}

/// Does a rule lead from one configuration to another?
fn leads_to(automaton: &ThresholdAutomaton, rule: &Rule, before: &[i64], after: &[i64]) -> bool {
    let mut cells = before.to_vec();
    cells[rule.source] -= 1;
    cells[rule.target] += 1;
    for (shared, amount) in &rule.update {
        cells[automaton.locations.len() + shared] += amount;
    }
    cells == after
}

/// The condition without parts that are constant.
fn simplified(condition: Condition) -> Condition {
    match condition {
        Condition::Bool(_) => condition,
        Condition::Compare(ref sum, _) if sum.as_constant().is_some() => {
            Condition::Bool(condition.holds(&|_| 0) == Some(true))
        }
        Condition::Compare(..) => condition,
        Condition::All(parts) => joined(parts, true),
        Condition::Any(parts) => joined(parts, false),
    }
}

/// All parts or any, of which `neutral` is one that does not matter.
fn joined(parts: Vec<Condition>, neutral: bool) -> Condition {
    let mut kept: Vec<Condition> = Vec::new();
    for part in parts {
        let part = simplified(part);
        if part == Condition::Bool(!neutral) {
            return part;
        }
        if part != Condition::Bool(neutral) && !kept.contains(&part) {
            kept.push(part);
        }
    }
    match (kept.len(), neutral) {
        (0, _) => Condition::Bool(neutral),
        (1, _) => kept.swap_remove(0),
        (_, true) => Condition::All(kept),
        (_, false) => Condition::Any(kept),
    }
}

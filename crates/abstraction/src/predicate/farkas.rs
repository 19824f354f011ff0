//! Linear and multiphase rankings of a loop, by Farkas' lemma.
//!
//! A linear inequality follows from others over the rational numbers iff it is a sum of
//! nonnegative multiples of them. So the factors of expressions with which every step of a loop
//! satisfies given inequalities are the solutions of a linear system (A. Podelski, A. Rybalchenko,
//! *A complete method for the synthesis of linear ranking functions*, VMCAI 2004,
//! doi:10.1007/978-3-540-24622-0_20). There is one expression for each combination of locations on
//! the loop (C. Alias, A. Darte, P. Feautrier, L. Gonnord, *Multi-dimensional rankings, program
//! termination, and complexity bounds of flowchart programs*, SAS 2010,
//! doi:10.1007/978-3-642-15769-1_8).
//!
//! A loop may end although nothing decreases in all of its rounds: first one expression falls until it is
//! negative, and only then the next one does. The *nested* conditions of A. Ben-Amram, S. Genaim,
//! *On multiphase-linear ranking functions*, CAV 2017, doi:10.1007/978-3-319-63390-9_32 are linear, too:
//! `f₁ - f₁' ≥ 1`, `fᵢ - fᵢ' + fᵢ₋₁ ≥ 1`, `f_d ≥ 0`.
//!
//! What is found is a candidate: [`Abstraction::effect`] asks the solver what every step does to it.

use std::collections::{BTreeMap, BTreeSet};

use smt::{Linear, Sort, Term};

use super::explore::Abstraction;
use super::program::Content;
use super::rational::{Ratio, System, integers};

/// Longer loops are not looked at.
const MAX_LENGTH: usize = 10;

/// So many numbers may occur in a ranking.
const MAX_NUMBERS: usize = 8;

/// A step is looked at in so many cases; what would be more is ignored.
const MAX_CASES: usize = 12;

/// So many phases a loop may have.
const MAX_PHASES: usize = 3;

/// A step of a loop: source, transition, target.
pub type LoopStep<'a> = (&'a [i64], usize, &'a [i64]);

/// A way of taking a step: inequalities `≤ 0`, equations `= 0`, and the numbers after it.
#[derive(Clone, Default)]
struct Case {
    inequalities: Vec<Linear>,
    equations: Vec<Linear>,
    after: Vec<Linear>,
}

/// A step with the combination of locations before and after it.
struct Ranked {
    source: usize,
    target: usize,
    cases: Vec<Case>,
}

/// An expression whose factors are unknown: a difference of two unknowns for each number, and for
/// the constant.
struct Unknown(Vec<(usize, usize)>);

/// `Σ column · (Σ factor · unknown)`, where the column without a term is the constant.
#[derive(Clone, Default)]
struct Sum(BTreeMap<Option<Term>, BTreeMap<usize, i128>>);

impl Sum {
    fn add(&mut self, column: Option<Term>, unknown: usize, factor: i128) {
        *self
            .0
            .entry(column)
            .or_default()
            .entry(unknown)
            .or_default() += factor;
    }

    /// Adds a multiple of a known expression by an unknown.
    fn add_known(&mut self, linear: &Linear, unknown: usize, sign: i128) {
        self.add(None, unknown, sign * linear.offset());
        for (term, factor) in linear.terms() {
            self.add(Some(term.clone()), unknown, sign * factor);
        }
    }

    /// Adds an expression with unknown factors, where the numbers have these values.
    fn add_unknown(&mut self, unknown: &Unknown, values: &[Linear], sign: i128) {
        let constant = [Linear::constant(1)];
        for ((plus, minus), value) in unknown.0.iter().zip(values.iter().chain(&constant)) {
            self.add_known(value, *plus, sign);
            self.add_known(value, *minus, -sign);
        }
    }
}

impl Abstraction<'_> {
    /// Expressions that fall one after the other along a loop until it ends: a single one if it is
    /// never negative.
    #[must_use]
    pub fn phases_of(&self, cycle: &[LoopStep<'_>]) -> Option<Vec<Term>> {
        if cycle.len() > MAX_LENGTH {
            return None;
        }
        let numbers = self.numbers_on(cycle);
        let slots = self.domain.location_slots(self.program);
        let place = |state: &[i64]| -> Vec<i64> { slots.iter().map(|s| state[*s]).collect() };
        let mut places: Vec<Vec<i64>> = cycle.iter().map(|step| place(step.0)).collect();
        places.sort_unstable();
        places.dedup();
        let number = |state: &[i64]| places.iter().position(|known| *known == place(state));

        let mut steps = Vec::new();
        for &(source, transition, target) in cycle {
            steps.push(Ranked {
                source: number(source)?,
                target: number(target)?,
                cases: self.cases(&numbers, source, transition, target),
            });
        }
        for n_phases in 1..=MAX_PHASES {
            for strict in 0..steps.len() {
                let mut question = Question::new(numbers.len(), places.len(), n_phases);
                question.demand(&steps, strict, &numbers);
                if let Some(factors) = question.solve() {
                    let phase = |of_phase: &Vec<Vec<i128>>| {
                        self.expression(of_phase, &numbers, &places, &slots)
                    };
                    return Some(factors.iter().map(phase).collect());
                }
            }
        }
        None
    }

    /// The numbers that steps mention.
    fn numbers_on(&self, cycle: &[LoopStep<'_>]) -> Vec<Term> {
        let mut mentioned = BTreeSet::new();
        for (_, transition, _) in cycle {
            let description = &self.program.transitions[*transition];
            description.guard.collect_vars(&mut mentioned);
            for (var, value) in &description.updates {
                self.program.vars[*var].term().collect_vars(&mut mentioned);
                value.collect_vars(&mut mentioned);
            }
        }
        let is_number = |var: &&super::program::StateVar| {
            var.sort == Sort::Int
                && !var.is_open
                && !matches!(var.content, Content::Location(_))
                && mentioned.contains(&(var.name.clone(), var.sort))
        };
        let numbers = self.program.vars.iter().filter(is_number);
        numbers.take(MAX_NUMBERS).map(|var| var.term()).collect()
    }

    /// The ways of taking a step. What is not linear is a number of its own, or ignored.
    fn cases(
        &self,
        numbers: &[Term],
        source: &[i64],
        transition: usize,
        target: &[i64],
    ) -> Vec<Case> {
        let all = Term::add(numbers.iter().cloned());
        let mut cases = vec![Case::default()];
        for fact in self.step_facts(&all, source, transition, target) {
            cases = with_condition(&cases, &fact);
        }
        for number in numbers {
            let after = self.after(transition, number);
            cases = with_value(&cases, &after);
        }
        cases.iter_mut().for_each(bound_divisions);
        cases
    }

    /// An expression that depends on the locations, if it has to.
    fn expression(
        &self,
        factors: &[Vec<i128>],
        numbers: &[Term],
        places: &[Vec<i64>],
        slots: &[usize],
    ) -> Term {
        let at = |factors: &Vec<i128>| {
            let mut sum = Linear::constant(factors[numbers.len()]);
            for (number, factor) in numbers.iter().zip(factors) {
                sum = sum.plus(&Linear::of(number).times(*factor));
            }
            sum.into_term()
        };
        let mut of_places = factors.iter().zip(places).rev();
        let last = of_places.next().map(|(factors, _)| at(factors));
        of_places.fold(
            last.unwrap_or(Term::Int(0)),
            |otherwise, (factors, place)| {
                let slots = slots.iter().zip(place);
                let here =
                    slots.map(|(slot, value)| self.domain.describe(self.program, *slot, *value));
                Term::ite(Term::and(here), at(factors), otherwise)
            },
        )
    }
}

/// What is asked of the factors.
struct Question {
    system: System,
    /// For each phase, for each combination of locations.
    unknown: Vec<Vec<Unknown>>,
}

impl Question {
    fn new(n_numbers: usize, n_places: usize, n_phases: usize) -> Self {
        let mut system = System::default();
        let mut pair = || (system.unknown(), system.unknown());
        let mut unknown = Vec::new();
        for _ in 0..n_phases {
            let mut of_phase = Vec::new();
            for _ in 0..n_places {
                of_phase.push(Unknown((0..=n_numbers).map(|_| pair()).collect()));
            }
            unknown.push(of_phase);
        }
        Self { system, unknown }
    }

    /// No step makes an expression larger, and the strict one satisfies the nested conditions.
    fn demand(&mut self, steps: &[Ranked], strict: usize, numbers: &[Term]) {
        let before: Vec<Linear> = numbers.iter().map(Linear::of).collect();
        for (position, step) in steps.iter().enumerate() {
            for case in &step.cases {
                for phase in 0..self.unknown.len() {
                    let mut falls = Sum::default();
                    falls.add_unknown(&self.unknown[phase][step.source], &before, 1);
                    falls.add_unknown(&self.unknown[phase][step.target], &case.after, -1);
                    if position == strict && phase > 0 {
                        falls.add_unknown(&self.unknown[phase - 1][step.source], &before, 1);
                    }
                    self.follows(case, falls, i128::from(position == strict));
                }
                if position == strict
                    && let Some(last) = self.unknown.last()
                {
                    let mut bounded = Sum::default();
                    bounded.add_unknown(&last[step.source], &before, 1);
                    self.follows(case, bounded, 0);
                }
            }
        }
    }

    /// The sum is at least a number wherever the case is possible.
    fn follows(&mut self, case: &Case, mut sum: Sum, least: i128) {
        let slack = self.system.unknown();
        sum.add(None, slack, -1);
        for inequality in &case.inequalities {
            let multiple = self.system.unknown();
            sum.add_known(inequality, multiple, 1);
        }
        for equation in &case.equations {
            let (plus, minus) = (self.system.unknown(), self.system.unknown());
            sum.add_known(equation, plus, 1);
            sum.add_known(equation, minus, -1);
        }
        for (column, factors) in sum.0 {
            let factors = factors.into_iter().map(|(u, f)| (u, Ratio::int(f)));
            let constant = if column.is_none() { -least } else { 0 };
            self.system
                .equation(factors.collect(), Ratio::int(constant));
        }
    }

    /// Integer factors: for each phase, for each combination of locations, for each number and the
    /// constant. All are scaled alike, because the conditions relate phases to each other.
    fn solve(&self) -> Option<Vec<Vec<Vec<i128>>>> {
        let solution = self.system.solve()?;
        let all = self.unknown.iter().flatten().flat_map(|unknown| &unknown.0);
        let values: Option<Vec<Ratio>> = all
            .map(|(plus, minus)| solution[*plus].minus(solution[*minus]))
            .collect();
        let mut values = integers(&values?)?.into_iter();
        let mut of = |unknown: &Unknown| values.by_ref().take(unknown.0.len()).collect();
        let phases = self.unknown.iter();
        Some(
            phases
                .map(|places| places.iter().map(&mut of).collect())
                .collect(),
        )
    }
}

/// The cases in which a condition holds, too, as far as it is linear.
fn with_condition(cases: &[Case], condition: &Term) -> Vec<Case> {
    let with = |inequality: Linear| -> Vec<Case> {
        let mut cases = cases.to_vec();
        cases
            .iter_mut()
            .for_each(|case| case.inequalities.push(inequality.clone()));
        cases
    };
    let one_of = |parts: &[Term]| -> Vec<Case> {
        if cases.len() * parts.len() > MAX_CASES {
            return cases.to_vec();
        }
        let parts = parts.iter();
        parts.flat_map(|part| with_condition(cases, part)).collect()
    };
    match condition {
        Term::And(parts) => {
            let parts = parts.iter();
            parts.fold(cases.to_vec(), |cases, part| with_condition(&cases, part))
        }
        Term::Or(parts) => one_of(parts),
        Term::Le(linear) => with((**linear).clone()),
        Term::Eq(linear) => {
            let mut cases = cases.to_vec();
            for case in &mut cases {
                case.equations.push((**linear).clone());
            }
            cases
        }
        Term::Not(inner) => match &**inner {
            Term::Le(linear) => with(Linear::constant(1).minus(linear)),
            Term::Eq(linear) => {
                let term = (**linear).clone().into_term();
                let below = Term::lt(term.clone(), Term::Int(0));
                one_of(&[below, Term::lt(Term::Int(0), term)])
            }
            _ => cases.to_vec(),
        },
        _ => cases.to_vec(),
    }
}

/// The cases with one more number after the step.
fn with_value(cases: &[Case], value: &Term) -> Vec<Case> {
    if let Term::Ite(condition, then, otherwise) = value
        && cases.len() * 2 <= MAX_CASES
    {
        let yes = with_condition(cases, condition);
        let no = with_condition(cases, &Term::not((**condition).clone()));
        return [with_value(&yes, then), with_value(&no, otherwise)].concat();
    }
    let mut cases = cases.to_vec();
    for case in &mut cases {
        case.after.push(Linear::of(value));
    }
    cases
}

/// Adds what quotients and remainders satisfy.
fn bound_divisions(case: &mut Case) {
    let mut terms = BTreeSet::new();
    let linears = case.inequalities.iter().chain(&case.equations);
    for linear in linears.chain(&case.after) {
        terms.extend(linear.terms().map(|(term, _)| term.clone()));
    }
    for term in terms {
        let (least, greatest) = match &term {
            Term::Div(inner, divisor) => {
                let rest = Linear::of(inner).minus(&Linear::of(&term).times(*divisor));
                (rest.times(-1), rest.minus(&Linear::constant(divisor - 1)))
            }
            Term::Mod(_, divisor) => {
                let rest = Linear::of(&term);
                (rest.times(-1), rest.minus(&Linear::constant(divisor - 1)))
            }
            _ => continue,
        };
        case.inequalities.extend([least, greatest]);
    }
}

//! Threshold automata: any number of equal processes that compare counters of messages with
//! thresholds.
//!
//! All processes follow one automaton. A rule moves one process from its source to its target if its
//! guard is true, and adds to shared counters. Guards and initial conditions compare sums of shared
//! counters, numbers of processes in locations, and parameters. A configuration says how many
//! processes are in each location and what the counters are; [`ThresholdAutomaton::counter_system`]
//! makes an ordinary model of it for values of the parameters: that is what the automaton means.
//!
//! I. Konnov, H. Veith, J. Widder, *On the completeness of bounded model checking for threshold-based
//! distributed algorithms: reachability*, CONCUR 2014, doi:10.1007/978-3-662-44584-6_10.

use std::collections::BTreeMap;

use base::Span;

use crate::{
    AnnotationKind, Assumption, Atom, AtomMeaning, BinaryOp, Expr, Initial, LocationId, ModelParts,
    Place, Process, Scalar, Step, Stmt, StmtKind, Type, VarId, Variable,
};

/// A threshold automaton.
#[derive(Clone, Debug)]
pub struct ThresholdAutomaton {
    /// Its name.
    pub name: String,
    /// Where it is declared.
    pub span: Span,
    /// The names of its parameters. Their values are natural numbers.
    pub parameters: Vec<String>,
    /// The names of its locations.
    pub locations: Vec<String>,
    /// The names of its shared counters. Their values are natural numbers.
    pub shared: Vec<String>,
    /// What the parameters satisfy: the resilience condition.
    pub assumptions: Vec<Condition>,
    /// What every initial configuration satisfies.
    pub init: Vec<Condition>,
    /// What processes can do.
    pub rules: Vec<Rule>,
    /// Atomic propositions; formulas refer to them by [`base::AtomId`].
    pub atoms: Vec<Proposition>,
    /// What is known of single processes and their actions; nothing where only numbers of processes
    /// are described, so that fairness between them cannot be asked for.
    pub individuals: Option<Individuals>,
}

/// What fairness between the processes is about.
#[derive(Clone, Debug, Default)]
pub struct Individuals {
    /// What the model says about fairness for the whole system.
    pub fairness: Option<base::Fairness>,
    /// For each rule, the number of the action that it is a way of taking. Processes that are in
    /// different locations may share numbers.
    pub actions: Vec<usize>,
    /// Fairness conditions written in the model. Each is about every process for itself.
    pub annotations: Vec<AnnotatedRules>,
    /// Assumptions about runs. Their atoms are those of the automaton.
    pub assumptions: Vec<Assumption>,
}

/// A fairness condition written in the model.
#[derive(Clone, Debug)]
pub struct AnnotatedRules {
    /// How strict.
    pub kind: AnnotationKind,
    /// The rules that it is about.
    pub rules: Vec<usize>,
}

/// What one process can do.
#[derive(Clone, Debug)]
pub struct Rule {
    /// Its name.
    pub name: String,
    /// Where the process is: a position among the locations.
    pub source: usize,
    /// Where it is afterwards.
    pub target: usize,
    /// When it is possible.
    pub guard: Condition,
    /// What is added to which shared counter.
    pub update: Vec<(usize, i64)>,
    /// Where it is written.
    pub span: Span,
}

/// An atomic proposition.
#[derive(Clone, Debug)]
pub struct Proposition {
    /// How it is written.
    pub name: String,
    /// What it means.
    pub condition: Condition,
    /// Where it is written.
    pub span: Span,
}

/// A number that conditions speak of.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Quantity {
    /// The parameter at this position.
    Parameter(usize),
    /// How many processes are in the location at this position.
    Location(usize),
    /// The shared counter at this position.
    Shared(usize),
}

/// A linear expression. Invariant: no factor is zero.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Sum {
    /// The factors of quantities.
    pub terms: BTreeMap<Quantity, i64>,
    /// The constant.
    pub offset: i64,
}

impl Sum {
    /// A constant.
    #[must_use]
    pub fn constant(offset: i64) -> Self {
        Self {
            terms: BTreeMap::new(),
            offset,
        }
    }

    /// A single quantity.
    #[must_use]
    pub fn of(quantity: Quantity) -> Self {
        Self {
            terms: BTreeMap::from([(quantity, 1)]),
            offset: 0,
        }
    }

    /// The sum of this and a multiple of another; nothing if a number becomes too large.
    #[must_use]
    pub fn plus(&self, factor: i64, other: &Self) -> Option<Self> {
        let mut sum = self.clone();
        sum.offset = sum.offset.checked_add(other.offset.checked_mul(factor)?)?;
        for (quantity, more) in &other.terms {
            let known = sum.terms.remove(quantity).unwrap_or(0);
            let together = known.checked_add(more.checked_mul(factor)?)?;
            if together != 0 {
                sum.terms.insert(*quantity, together);
            }
        }
        Some(sum)
    }

    /// The value; nothing if it is too large.
    #[must_use]
    pub fn value(&self, of: &dyn Fn(Quantity) -> i64) -> Option<i64> {
        let mut sum = self.offset;
        for (quantity, factor) in &self.terms {
            sum = sum.checked_add(factor.checked_mul(of(*quantity))?)?;
        }
        Some(sum)
    }

    /// The value, if no quantity is in it.
    #[must_use]
    pub fn as_constant(&self) -> Option<i64> {
        self.terms.is_empty().then_some(self.offset)
    }
}

/// What is said about a sum.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Comparison {
    /// It is at least zero.
    AtLeastZero,
    /// It is zero.
    Zero,
    /// It is not zero.
    NotZero,
}

/// A condition on a configuration and the parameters. Negations are inside of comparisons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Condition {
    /// Always or never true.
    Bool(bool),
    /// A comparison.
    Compare(Sum, Comparison),
    /// All of them.
    All(Vec<Condition>),
    /// At least one of them.
    Any(Vec<Condition>),
}

impl Condition {
    /// A comparison of two sums; nothing if a number becomes too large.
    ///
    /// # Panics
    /// If the operator does not compare.
    #[must_use]
    pub fn compare(op: BinaryOp, left: &Sum, right: &Sum) -> Option<Self> {
        let excess = |a: &Sum, b: &Sum, least| a.plus(-1, b)?.plus(-1, &Sum::constant(least));
        let (sum, comparison) = match op {
            BinaryOp::Eq => (excess(left, right, 0)?, Comparison::Zero),
            BinaryOp::Ne => (excess(left, right, 0)?, Comparison::NotZero),
            BinaryOp::Lt => (excess(right, left, 1)?, Comparison::AtLeastZero),
            BinaryOp::Le => (excess(right, left, 0)?, Comparison::AtLeastZero),
            BinaryOp::Gt => (excess(left, right, 1)?, Comparison::AtLeastZero),
            BinaryOp::Ge => (excess(left, right, 0)?, Comparison::AtLeastZero),
            _ => panic!("{op:?} does not compare"),
        };
        Some(Self::Compare(sum, comparison))
    }

    /// The condition itself, or its truth if it is a comparison of constants.
    #[must_use]
    pub fn decided(self) -> Self {
        let Self::Compare(sum, comparison) = &self else {
            return self;
        };
        match (sum.as_constant(), comparison) {
            (None, _) => self,
            (Some(value), Comparison::AtLeastZero) => Self::Bool(value >= 0),
            (Some(value), Comparison::Zero) => Self::Bool(value == 0),
            (Some(value), Comparison::NotZero) => Self::Bool(value != 0),
        }
    }

    /// The conjunction, without parts that say nothing.
    #[must_use]
    pub fn all(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Bool(true) => {}
                Self::Bool(false) => return Self::Bool(false),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Self::Bool(true),
            1 => kept.swap_remove(0),
            _ => Self::All(kept),
        }
    }

    /// The disjunction, without parts that say nothing.
    #[must_use]
    pub fn any(parts: impl IntoIterator<Item = Self>) -> Self {
        let mut kept = Vec::new();
        for part in parts {
            match part {
                Self::Bool(false) => {}
                Self::Bool(true) => return Self::Bool(true),
                other => kept.push(other),
            }
        }
        match kept.len() {
            0 => Self::Bool(false),
            1 => kept.swap_remove(0),
            _ => Self::Any(kept),
        }
    }

    /// The negation; nothing if a number becomes too large.
    #[must_use]
    pub fn negation(&self) -> Option<Self> {
        let each = |parts: &[Self]| parts.iter().map(Self::negation).collect::<Option<_>>();
        Some(match self {
            Self::Bool(value) => Self::Bool(!value),
            Self::Compare(sum, Comparison::AtLeastZero) => {
                let complement = Sum::constant(-1).plus(-1, sum)?;
                Self::Compare(complement, Comparison::AtLeastZero)
            }
            Self::Compare(sum, Comparison::Zero) => Self::Compare(sum.clone(), Comparison::NotZero),
            Self::Compare(sum, Comparison::NotZero) => Self::Compare(sum.clone(), Comparison::Zero),
            Self::All(parts) => Self::Any(each(parts)?),
            Self::Any(parts) => Self::All(each(parts)?),
        })
    }

    /// Is it true? Nothing if a number becomes too large.
    #[must_use]
    pub fn holds(&self, of: &dyn Fn(Quantity) -> i64) -> Option<bool> {
        let each = |parts: &[Self]| -> Option<Vec<bool>> {
            parts.iter().map(|part| part.holds(of)).collect()
        };
        Some(match self {
            Self::Bool(value) => *value,
            Self::Compare(sum, comparison) => {
                let value = sum.value(of)?;
                match comparison {
                    Comparison::AtLeastZero => value >= 0,
                    Comparison::Zero => value == 0,
                    Comparison::NotZero => value != 0,
                }
            }
            Self::All(parts) => each(parts)?.into_iter().all(|holds| holds),
            Self::Any(parts) => each(parts)?.into_iter().any(|holds| holds),
        })
    }
}

/// How many processes are where, and what the shared counters are.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Configuration {
    /// For each location.
    pub locations: Vec<i64>,
    /// For each shared counter.
    pub shared: Vec<i64>,
}

/// Systems with more processes than this are not written down.
const MAX_PROCESSES: i64 = 1 << 20;

impl ThresholdAutomaton {
    /// Are these values of the parameters allowed?
    #[must_use]
    pub fn admits(&self, values: &[i64]) -> bool {
        let of = |quantity| match quantity {
            Quantity::Parameter(position) => values[position],
            Quantity::Location(_) | Quantity::Shared(_) => 0,
        };
        let mut assumptions = self.assumptions.iter();
        values.iter().all(|value| *value >= 0) && assumptions.all(|c| c.holds(&of) == Some(true))
    }

    /// Can a process that takes the rule take it again?
    #[must_use]
    pub fn is_on_cycle(&self, rule: &Rule) -> bool {
        let mut is_reached = vec![false; self.locations.len()];
        let mut open = vec![rule.target];
        while let Some(location) = open.pop() {
            if !std::mem::replace(&mut is_reached[location], true) {
                let outgoing = self.rules.iter().filter(|known| known.source == location);
                open.extend(outgoing.map(|known| known.target));
            }
        }
        is_reached[rule.source]
    }

    /// The system of all processes for values of the parameters: a variable for each location and
    /// counter, an action for each rule. It starts in any initial configuration, or in the given one.
    ///
    /// # Errors
    /// The values are not allowed, or nothing bounds the number of processes or an initial value.
    pub fn counter_system(
        &self,
        values: &[i64],
        start: Option<&Configuration>,
    ) -> Result<ModelParts, String> {
        if !self.admits(values) {
            let names = self.parameters.iter().zip(values);
            let shown: Vec<String> = names.map(|(name, v)| format!("{name} = {v}")).collect();
            return Err(format!("the assumptions exclude {}", shown.join(", ")));
        }

        let bounds = match start {
            Some(start) => start.exactly(),
            None => self.initial_bounds(values)?,
        };

        let system = CounterSystem {
            automaton: self,
            values,
            bounds,
        };
        system.parts(start.is_none())
    }

    /// The least and greatest initial value of each location and of each shared counter, as far as
    /// single conditions say it.
    fn initial_bounds(&self, values: &[i64]) -> Result<Bounds, String> {
        let mut found: BTreeMap<Quantity, (i64, Option<i64>)> = BTreeMap::new();
        let mut stack: Vec<&Condition> = self.init.iter().collect();
        while let Some(condition) = stack.pop() {
            match condition {
                Condition::All(parts) => stack.extend(parts),
                Condition::Compare(sum, comparison) => {
                    let sum = with_values(sum, values).ok_or("a number is too large")?;
                    note_bounds(&sum, *comparison, &mut found);
                }
                Condition::Bool(_) | Condition::Any(_) => {}
            }
        }

        let bound = |quantity: Quantity, name: &String| {
            let (lo, hi) = found.get(&quantity).copied().unwrap_or((0, None));
            let hi = hi.ok_or_else(|| format!("nothing bounds the initial value of `{name}`"))?;
            Ok((lo, hi))
        };
        let locations = self.locations.iter().enumerate();
        let locations = locations.map(|(at, name)| bound(Quantity::Location(at), name));
        let shared = self.shared.iter().enumerate();
        let shared = shared.map(|(at, name)| bound(Quantity::Shared(at), name));
        Ok(Bounds {
            locations: locations.collect::<Result<_, String>>()?,
            shared: shared.collect::<Result<_, String>>()?,
        })
    }
}

/// Least and greatest initial values.
struct Bounds {
    locations: Vec<(i64, i64)>,
    shared: Vec<(i64, i64)>,
}

impl Configuration {
    fn exactly(&self) -> Bounds {
        let exactly = |values: &[i64]| values.iter().map(|value| (*value, *value)).collect();
        Bounds {
            locations: exactly(&self.locations),
            shared: exactly(&self.shared),
        }
    }
}

/// The sum with the values of parameters in it.
fn with_values(sum: &Sum, values: &[i64]) -> Option<Sum> {
    let mut known = Sum::constant(sum.offset);
    for (quantity, factor) in &sum.terms {
        let part = match quantity {
            Quantity::Parameter(position) => Sum::constant(values[*position]),
            Quantity::Location(_) | Quantity::Shared(_) => Sum::of(*quantity),
        };
        known = known.plus(*factor, &part)?;
    }
    Some(known)
}

/// What a comparison says about each quantity in it, all of which are natural numbers.
fn note_bounds(
    sum: &Sum,
    comparison: Comparison,
    found: &mut BTreeMap<Quantity, (i64, Option<i64>)>,
) {
    // Σ a·x ≤ c with all a > 0 bounds every x by c / a.
    let upper = |sign: i64| {
        let positive = sum.terms.values().all(|factor| factor.signum() == sign);
        positive.then_some(-sign * sum.offset)
    };
    let limit = match comparison {
        Comparison::AtLeastZero => upper(-1),
        Comparison::Zero => upper(1).or_else(|| upper(-1)),
        Comparison::NotZero => None,
    };
    if let Some(limit) = limit {
        for (quantity, factor) in &sum.terms {
            let hi = limit.div_euclid(factor.abs());
            let bounds = found.entry(*quantity).or_insert((0, None));
            bounds.1 = Some(bounds.1.map_or(hi, |known| known.min(hi)));
        }
    }

    if let (Comparison::Zero, 1, Some(limit)) = (comparison, sum.terms.len(), limit) {
        for (quantity, factor) in &sum.terms {
            let lo = (limit + factor.abs() - 1).div_euclid(factor.abs());
            let bounds = found.entry(*quantity).or_insert((0, None));
            bounds.0 = bounds.0.max(lo);
        }
    }
}

struct CounterSystem<'a> {
    automaton: &'a ThresholdAutomaton,
    values: &'a [i64],
    bounds: Bounds,
}

impl CounterSystem<'_> {
    fn parts(&self, is_constrained: bool) -> Result<ModelParts, String> {
        let automaton = self.automaton;

        let steps = automaton.rules.iter().map(|rule| self.step(rule));
        let process = Process::new(
            &automaton.name,
            vec!["running".to_owned()],
            steps.collect(),
            automaton.span,
        );

        let atoms = automaton.atoms.iter().map(|atom| Atom {
            name: atom.name.clone(),
            meaning: AtomMeaning::State(self.condition(&atom.condition)),
            span: atom.span,
        });

        let init = automaton.init.iter().filter(|_| is_constrained);

        Ok(ModelParts {
            vars: self.variables()?,
            processes: vec![process],
            init: init.map(|condition| self.condition(condition)).collect(),
            atoms: atoms.collect(),
            ..ModelParts::default()
        })
    }

    fn variables(&self) -> Result<Vec<Variable>, String> {
        let Bounds { locations, shared } = &self.bounds;
        let n_processes = locations.iter().map(|(_, hi)| *hi);
        let n_processes = n_processes.fold(0_i64, i64::saturating_add);
        if n_processes > MAX_PROCESSES {
            return Err(format!("there are more than {MAX_PROCESSES} processes"));
        }

        let mut variables = Vec::new();
        for (name, bounds) in self.automaton.locations.iter().zip(locations) {
            variables.push(self.variable(name, *bounds, 0, n_processes));
        }
        for (at, (name, bounds)) in self.automaton.shared.iter().zip(shared).enumerate() {
            let (lo, hi) = self.growth(at, *bounds, n_processes);
            variables.push(self.variable(name, *bounds, lo, hi));
        }
        Ok(variables)
    }

    /// The values of a shared counter: without a bound if a rule on a cycle changes it.
    fn growth(&self, at: usize, (_, hi): (i64, i64), n_processes: i64) -> (i64, i64) {
        let mut growth = 0_i64;
        for rule in &self.automaton.rules {
            let changes = rule.update.iter().filter(|(shared, _)| *shared == at);
            let change: i64 = changes.map(|(_, amount)| *amount).sum();
            if change < 0 || (change > 0 && self.automaton.is_on_cycle(rule)) {
                return (i64::MIN, i64::MAX);
            }
            // No process takes a rule twice that is not on a cycle.
            growth = growth.saturating_add(n_processes.saturating_mul(change));
        }
        (0, hi.saturating_add(growth))
    }

    fn variable(&self, name: &str, initial: (i64, i64), lo: i64, hi: i64) -> Variable {
        let initial = if initial.0 == initial.1 {
            Initial::Values(vec![Expr::Int(initial.0)])
        } else {
            Initial::Any
        };
        let scalar = match (lo, hi) {
            (i64::MIN, i64::MAX) => Scalar::Int,
            (lo, hi) => Scalar::Range(lo, hi),
        };
        Variable {
            name: name.to_owned(),
            ty: Type::Scalar(scalar),
            owner: None,
            initial,
            span: self.automaton.span,
        }
    }

    fn step(&self, rule: &Rule) -> Step {
        let only = LocationId(0);
        let one_there = Expr::binary(
            BinaryOp::Ge,
            Expr::Read(self.place(Quantity::Location(rule.source))),
            Expr::Int(1),
        );
        let mut changes = Vec::new();
        if rule.source != rule.target {
            changes.push((Quantity::Location(rule.source), -1));
            changes.push((Quantity::Location(rule.target), 1));
        }
        let updates = rule.update.iter();
        changes.extend(updates.map(|(shared, amount)| (Quantity::Shared(*shared), *amount)));

        let assign = |(quantity, amount): (Quantity, i64)| {
            let place = self.place(quantity);
            let old = Expr::Read(place.clone());
            let new = Expr::binary(BinaryOp::Add, old, Expr::Int(amount));
            Stmt::new(StmtKind::Assign(place, new), rule.span)
        };
        Step {
            guard: Expr::all([one_there, self.condition(&rule.guard)]),
            effect: changes.into_iter().map(assign).collect(),
            ..Step::new(&rule.name, only, only, rule.span)
        }
    }

    fn place(&self, quantity: Quantity) -> Place {
        let position = match quantity {
            Quantity::Location(at) => at,
            Quantity::Shared(at) => self.automaton.locations.len() + at,
            Quantity::Parameter(_) => unreachable!("parameters are numbers"),
        };
        Place {
            var: VarId::new(position),
            owner: None,
            path: Vec::new(),
        }
    }

    fn condition(&self, condition: &Condition) -> Expr {
        match condition {
            Condition::Bool(value) => Expr::Bool(*value),
            Condition::Compare(sum, comparison) => {
                let op = match comparison {
                    Comparison::AtLeastZero => BinaryOp::Ge,
                    Comparison::Zero => BinaryOp::Eq,
                    Comparison::NotZero => BinaryOp::Ne,
                };
                Expr::binary(op, self.sum(sum), Expr::Int(0))
            }
            Condition::All(parts) => Expr::all(parts.iter().map(|part| self.condition(part))),
            Condition::Any(parts) => {
                let none = parts.iter().map(|part| Expr::not(self.condition(part)));
                Expr::not(Expr::all(none))
            }
        }
    }

    fn sum(&self, sum: &Sum) -> Expr {
        let start = Expr::Int(sum.offset);
        sum.terms.iter().fold(start, |sum, (quantity, factor)| {
            let value = match quantity {
                Quantity::Parameter(position) => Expr::Int(self.values[*position]),
                other => Expr::Read(self.place(*other)),
            };
            let part = Expr::binary(BinaryOp::Mul, Expr::Int(*factor), value);
            Expr::binary(BinaryOp::Add, sum, part)
        })
    }
}

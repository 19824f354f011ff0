//! Which automata are decided, and what they look like to the encoding.
//!
//! Every rule becomes one or more [`Move`]s, whose guards are conjunctions of [`Guard`]s. Counters never
//! decrease, so a guard changes its truth at most once in a run: a *rising* one becomes true, a
//! *falling* one becomes false. Besides loops at one location the graph has no cycles, so every run
//! ends in a configuration that does not change any more.

use std::collections::BTreeMap;

use base::Span;
use model::threshold::{Comparison, Condition, Quantity, Rule, Sum, ThresholdAutomaton};

/// A rule whose guard has more alternatives than this is refused.
const MAX_ALTERNATIVES: usize = 64;

/// Why an automaton or a formula is not decided.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Outside {
    /// What it is.
    pub message: String,
    /// Where it is written.
    pub span: Span,
}

/// How the truth of a guard changes along a run.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum Trend {
    /// It does not.
    Constant,
    /// From false to true.
    Rising,
    /// From true to false.
    Falling,
}

/// A sum that is to be at least zero.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) sum: Sum,
    pub(crate) trend: Trend,
}

/// A rule with one of the alternatives of its guard.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    /// The position of the rule.
    pub(crate) rule: usize,
    pub(crate) source: usize,
    pub(crate) target: usize,
    /// Positions of guards, all of which must be true.
    pub(crate) guards: Vec<usize>,
    pub(crate) update: Vec<(usize, i64)>,
}

/// What the encoding is made of.
pub(crate) struct Shape<'a> {
    pub(crate) automaton: &'a ThresholdAutomaton,
    pub(crate) guards: Vec<Guard>,
    /// What changes the configuration, in an order in which each source comes before its target.
    pub(crate) moves: Vec<Move>,
    /// Loops at one location: they change nothing.
    pub(crate) idle: Vec<Move>,
}

impl<'a> Shape<'a> {
    pub(crate) fn new(automaton: &'a ThresholdAutomaton) -> Result<Self, Outside> {
        let mut shape = Self {
            automaton,
            guards: Vec::new(),
            moves: Vec::new(),
            idle: Vec::new(),
        };
        let rank = ranks(automaton)?;
        let mut known = BTreeMap::new();
        for (position, rule) in automaton.rules.iter().enumerate() {
            shape.add(position, rule, &mut known)?;
        }
        shape.moves.sort_by_key(|step| rank[step.source]);
        Ok(shape)
    }

    fn add(
        &mut self,
        position: usize,
        rule: &Rule,
        known: &mut BTreeMap<Sum, usize>,
    ) -> Result<(), Outside> {
        let outside = |message: String| Outside {
            message,
            span: rule.span,
        };
        let is_idle = rule.source == rule.target;
        let mut update = rule.update.clone();
        update.retain(|(_, amount)| *amount != 0);
        if update.iter().any(|(_, amount)| *amount < 0) {
            let why = "a rule decreases a shared counter";
            return Err(outside(why.to_owned()));
        }
        if is_idle && !update.is_empty() {
            let why = "a loop at a location changes a shared counter";
            return Err(outside(why.to_owned()));
        }

        let alternatives = alternatives(&rule.guard)
            .ok_or_else(|| outside("the guard has too many alternatives".to_owned()))?;
        for sums in alternatives {
            let mut guards = Vec::new();
            for sum in sums {
                let trend = trend(&sum).ok_or_else(|| outside(not_monotone(&sum)))?;
                // Counters are never negative.
                if trend == Trend::Rising && sum.offset >= 0 && only_counters(&sum) {
                    continue;
                }
                let next = self.guards.len();
                let guard = *known.entry(sum.clone()).or_insert(next);
                if guard == next {
                    self.guards.push(Guard { sum, trend });
                }
                guards.push(guard);
            }
            let list = if is_idle {
                &mut self.idle
            } else {
                &mut self.moves
            };
            list.push(Move {
                rule: position,
                source: rule.source,
                target: rule.target,
                guards,
                update: update.clone(),
            });
        }
        Ok(())
    }

    /// At how many points of a run the truth of a guard of a move can change. A guard and its negation
    /// change at the same point.
    pub(crate) fn n_changes(&self) -> usize {
        let mut points: Vec<Sum> = Vec::new();
        let used = |guard: usize| self.moves.iter().any(|step| step.guards.contains(&guard));
        for (position, guard) in self.guards.iter().enumerate() {
            if !used(position) {
                continue;
            }
            let point = match guard.trend {
                Trend::Constant => continue,
                Trend::Rising => Some(guard.sum.clone()),
                Trend::Falling => Sum::constant(-1).plus(-1, &guard.sum),
            };
            points.extend(point.or_else(|| Some(guard.sum.clone())));
        }
        points.sort();
        points.dedup();
        points.len()
    }

    pub(crate) fn has_falling_guards(&self) -> bool {
        let mut used = self.moves.iter().flat_map(|step| &step.guards);
        used.any(|guard| self.guards[*guard].trend == Trend::Falling)
    }
}

/// For each location, how many steps lead to it at most.
fn ranks(automaton: &ThresholdAutomaton) -> Result<Vec<usize>, Outside> {
    let n_locations = automaton.locations.len();
    let mut rank = vec![0; n_locations];
    for round in 0..=n_locations {
        let mut has_changed = false;
        for rule in &automaton.rules {
            if rule.source != rule.target && rank[rule.target] <= rank[rule.source] {
                rank[rule.target] = rank[rule.source] + 1;
                has_changed = true;
                if round == n_locations {
                    return Err(Outside {
                        message: format!(
                            "`{}` lies on a cycle through several locations",
                            automaton.locations[rule.source]
                        ),
                        span: rule.span,
                    });
                }
            }
        }
        if !has_changed {
            break;
        }
    }
    Ok(rank)
}

/// How the truth of `sum >= 0` changes while counters grow; nothing if that is not known.
fn trend(sum: &Sum) -> Option<Trend> {
    let mut trend = Trend::Constant;
    for (quantity, factor) in &sum.terms {
        let this = match quantity {
            Quantity::Parameter(_) => continue,
            Quantity::Location(_) => return None,
            Quantity::Shared(_) if *factor > 0 => Trend::Rising,
            Quantity::Shared(_) => Trend::Falling,
        };
        if trend != Trend::Constant && trend != this {
            return None;
        }
        trend = this;
    }
    Some(trend)
}

fn not_monotone(sum: &Sum) -> String {
    let is_location = |quantity: &Quantity| matches!(quantity, Quantity::Location(_));
    if sum.terms.keys().any(is_location) {
        return "a guard counts the processes in a location".to_owned();
    }
    "a guard compares shared counters with each other, so it can become true and false again"
        .to_owned()
}

fn only_counters(sum: &Sum) -> bool {
    let is_counter = |quantity: &Quantity| matches!(quantity, Quantity::Shared(_));
    sum.terms.keys().all(is_counter)
}

/// The guard as alternatives, each a list of sums that are at least zero; nothing if these are too
/// many.
fn alternatives(guard: &Condition) -> Option<Vec<Vec<Sum>>> {
    let found = match guard {
        Condition::Bool(true) => vec![Vec::new()],
        Condition::Bool(false) => Vec::new(),
        Condition::Compare(sum, Comparison::AtLeastZero) => vec![vec![sum.clone()]],
        Condition::Compare(sum, Comparison::Zero) => {
            vec![vec![sum.clone(), Sum::default().plus(-1, sum)?]]
        }
        Condition::Compare(sum, Comparison::NotZero) => {
            let below = Sum::constant(-1).plus(-1, sum)?;
            vec![vec![sum.plus(1, &Sum::constant(-1))?], vec![below]]
        }
        Condition::Any(parts) => {
            let parts: Option<Vec<_>> = parts.iter().map(alternatives).collect();
            parts?.into_iter().flatten().collect()
        }
        Condition::All(parts) => {
            let mut all = vec![Vec::new()];
            for part in parts {
                let part = alternatives(part)?;
                if all.len() * part.len() > MAX_ALTERNATIVES {
                    return None;
                }
                let extended = |known: &Vec<Sum>| {
                    let known = known.clone();
                    part.iter()
                        .map(move |more| [known.as_slice(), more].concat())
                        .collect::<Vec<_>>()
                };
                all = all.iter().flat_map(extended).collect();
            }
            all
        }
    };
    (found.len() <= MAX_ALTERNATIVES).then_some(found)
}

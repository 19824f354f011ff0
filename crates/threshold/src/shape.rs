//! Which automata are decided, and what they look like to the encoding.
//!
//! Every rule becomes one or more [`Move`]s, whose guards are conjunctions of [`Guard`]s. Counters never
//! decrease, so a guard changes its truth at most once in a run: a *rising* one becomes true, a
//! *falling* one becomes false. Besides loops at one location the graph has no cycles, so every run
//! ends in a configuration that does not change any more.

use std::collections::{BTreeMap, BTreeSet};

use base::Span;
use model::threshold::{Comparison, Condition, Quantity, Rule, Sum, ThresholdAutomaton};

use crate::pattern::Pattern;

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
    /// From true to false, by every move that needs it, each lowering the sum by this, and by no other:
    /// `crashed < F` for moves that crash. The last use leaves at least minus this.
    Limited(i64),
}

/// A sum that is to be at least zero.
#[derive(Clone, Debug)]
pub(crate) struct Guard {
    pub(crate) sum: Sum,
    pub(crate) trend: Trend,
}

impl Guard {
    /// By how much a move lowers the sum.
    fn lowered_by(&self, step: &Move) -> i64 {
        let lowered = |(at, amount): &(usize, i64)| {
            let factor = self.sum.terms.get(&Quantity::Shared(*at));
            -factor.copied().unwrap_or(0) * amount
        };
        step.update.iter().map(lowered).sum()
    }
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
        shape.find_limits();
        Ok(shape)
    }

    /// Finds falling guards that only their own uses make false. When such a guard changes does not
    /// matter to other moves, so runs need not be cut there.
    fn find_limits(&mut self) {
        let moves = &self.moves;
        for (position, guard) in self.guards.iter_mut().enumerate() {
            if guard.trend != Trend::Falling {
                continue;
            }
            let mut amounts = Vec::new();
            for step in moves {
                let is_used = step.guards.contains(&position);
                let amount = guard.lowered_by(step);
                if is_used || amount != 0 {
                    amounts.push(if is_used { amount } else { 0 });
                }
            }
            let Some(first) = amounts.first().copied() else {
                continue;
            };
            if first > 0 && amounts.iter().all(|amount| *amount == first) {
                guard.trend = Trend::Limited(first);
            }
        }
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
                if negation(&sum).is_none() {
                    return Err(outside("a number is too large".to_owned()));
                }
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

    /// The sums that become at least zero where a guard of a move changes its truth, in order. A guard
    /// and its negation change at the same point.
    pub(crate) fn changes(&self) -> Vec<Sum> {
        let mut changes = Vec::new();
        let used: BTreeSet<usize> = self.used_guards().collect();
        for position in used {
            let Guard { sum, trend } = &self.guards[position];
            match trend {
                Trend::Constant | Trend::Limited(_) => {}
                Trend::Rising => changes.push(sum.clone()),
                // The negation of a sum has no number that is too large: see `add`.
                Trend::Falling => changes.extend(negation(sum)),
            }
        }
        changes.sort();
        changes.dedup();
        changes
    }

    fn used_guards(&self) -> impl Iterator<Item = usize> {
        let guards = self.moves.iter().flat_map(|step| &step.guards);
        guards.copied()
    }

    /// Simplifies by what is known of each change: is it possible, and has it happened at the start of
    /// every run?
    pub(crate) fn assume(&mut self, possible: &[bool], initial: &[bool]) {
        let changes = self.changes();

        let at = |sum: &Sum, list: &[bool]| {
            let position = changes.binary_search(sum).ok();
            position.map(|position| list[position])
        };

        let mut is_never = vec![false; self.guards.len()];
        let mut is_always = vec![false; self.guards.len()];
        for (position, guard) in self.guards.iter_mut().enumerate() {
            match guard.trend {
                Trend::Rising => {
                    is_never[position] = at(&guard.sum, possible) == Some(false);
                    is_always[position] = at(&guard.sum, initial) == Some(true);
                }
                Trend::Falling => {
                    let change = negation(&guard.sum);
                    let known = |list: &[bool]| change.as_ref().and_then(|sum| at(sum, list));
                    is_never[position] = known(initial) == Some(true);
                    if known(possible) == Some(false) {
                        guard.trend = Trend::Constant;
                    }
                }
                Trend::Constant | Trend::Limited(_) => {}
            }
        }

        self.moves
            .retain(|step| step.guards.iter().all(|guard| !is_never[*guard]));
        for step in &mut self.moves {
            step.guards.retain(|guard| !is_always[*guard]);
        }
    }

    /// Drops what cannot matter to a run with the pattern.
    pub(crate) fn simplify(&mut self, pattern: &Pattern) {
        let conditions = pattern.later_conditions();
        if conditions.is_empty() && !pattern.is_about_the_end() {
            self.moves.clear();
        }
        while !pattern.is_about_the_end() {
            let useless = |step: &Move| self.only_hinders(step, &conditions);
            let Some(position) = self.moves.iter().position(useless) else {
                break;
            };
            self.moves.remove(position);
        }

        let guards = self.used_guards();
        let idle = self.idle.iter().flat_map(|step| &step.guards);
        let guards: BTreeSet<usize> = guards.chain(idle.copied()).collect();
        let is_read = |shared: usize| {
            let counter = Quantity::Shared(shared);
            let in_guard = |at: &usize| self.guards[*at].sum.terms.contains_key(&counter);
            guards.iter().any(in_guard) || conditions.iter().any(|known| mentions(known, counter))
        };
        let is_read: Vec<bool> = (0..self.automaton.shared.len()).map(is_read).collect();
        for step in &mut self.moves {
            step.update.retain(|(shared, _)| is_read[*shared]);
        }
        let mut known = BTreeSet::new();
        self.moves.retain(|step| {
            let Move {
                source,
                target,
                guards,
                update,
                ..
            } = step;
            known.insert((*source, *target, guards.clone(), update.clone()))
        });
    }

    /// Is a beginning of a run with the pattern one also without this move? It leads to a location that
    /// none leaves, and what it changes makes guards false only. Without it there are more processes at
    /// its source, and fewer at its target; the conditions stay true.
    fn only_hinders(&self, step: &Move, conditions: &[&Condition]) -> bool {
        let counters = step.update.iter().map(|(at, _)| Quantity::Shared(*at));
        let mut fewer = counters.clone().chain([Quantity::Location(step.target)]);
        let source = Quantity::Location(step.source);
        let mut used = self.used_guards();
        self.moves.iter().all(|other| other.source != step.target)
            && used.all(|guard| {
                let factor = |counter| self.guards[guard].sum.terms.get(&counter);
                counters.clone().all(|c| factor(c).is_none_or(|f| *f < 0))
            })
            && conditions.iter().all(|known| tolerates(known, source, 1))
            && fewer.all(|quantity| conditions.iter().all(|c| tolerates(c, quantity, -1)))
    }

    pub(crate) fn has_falling_guards(&self) -> bool {
        let mut used = self.moves.iter().flat_map(|step| &step.guards);
        used.any(|guard| self.guards[*guard].trend == Trend::Falling)
    }
}

/// The sum that is at least zero if and only if this one is not; nothing if a number becomes too large.
fn negation(sum: &Sum) -> Option<Sum> {
    Sum::constant(-1).plus(-1, sum)
}

/// Does a condition speak of a quantity?
fn mentions(condition: &Condition, quantity: Quantity) -> bool {
    match condition {
        Condition::Bool(_) => false,
        Condition::Compare(sum, _) => sum.terms.contains_key(&quantity),
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter().any(|part| mentions(part, quantity))
        }
    }
}

/// Does a condition that is true stay so if a quantity becomes larger, or smaller if the sign is
/// negative?
fn tolerates(condition: &Condition, quantity: Quantity, sign: i64) -> bool {
    match condition {
        Condition::Bool(_) => true,
        Condition::All(parts) | Condition::Any(parts) => {
            parts.iter().all(|part| tolerates(part, quantity, sign))
        }
        Condition::Compare(sum, comparison) => match (sum.terms.get(&quantity), comparison) {
            (None, _) => true,
            (Some(factor), Comparison::AtLeastZero) => factor * sign >= 0,
            (Some(_), Comparison::Zero) => false,
            // A sum of natural numbers that is not zero is positive.
            (Some(_), Comparison::NotZero) => {
                sign > 0 && sum.offset >= 0 && sum.terms.values().all(|factor| *factor > 0)
            }
        },
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

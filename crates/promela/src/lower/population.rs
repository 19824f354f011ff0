//! How many processes there can be, and which numbers they can have.
//!
//! Spin numbers processes in the order of their creation, and a number becomes free only when its
//! process and all with greater numbers have ended. A process started by another one therefore has
//! a greater number.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};

use crate::ast::{Expr, ExprKind};
use crate::flow::{Element, ElementKind, Flow, Leaf};

use super::{Lowering, Unit};

/// Spin's limit.
const MAX_PROCESSES: usize = 255;

/// How many processes are provided for where a loop starts processes and no other bound was given.
const DEFAULT_POOL: usize = 8;

/// The process numbers of a process type.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Range {
    pub(super) lo: i64,
    pub(super) hi: i64,
    /// The processes that are there from the start.
    pub(super) first_active: i64,
    pub(super) n_active: i64,
    /// Can it be started by `run`?
    pub(super) is_run: bool,
    /// The position of its first instance among all.
    pub(super) first_instance: i64,
}

impl Range {
    pub(super) fn len(self) -> usize {
        usize::try_from(self.hi - self.lo + 1).unwrap_or(0)
    }
}

/// Who can exist.
#[derive(Debug, Default)]
pub(super) struct Population {
    /// By process type; nothing for types that are never started.
    pub(super) ranges: Vec<Option<Range>>,
    /// How many processes exist at the start.
    pub(super) n_at_start: i64,
    /// Can the number of processes change?
    pub(super) changes: bool,
}

impl Lowering<'_> {
    pub(super) fn count_population(&mut self) {
        let active = self.active_counts();
        let n_at_start: i64 = active.iter().sum();
        let runs = self.runs();
        let total = self.total(&active, &runs);
        let n_slots = match total {
            Some(total) if total <= MAX_PROCESSES => total,
            _ => self
                .pool
                .max(DEFAULT_POOL)
                .max(usize::try_from(n_at_start).unwrap_or(0)),
        };

        let n_slots = n_slots.min(MAX_PROCESSES);
        if n_at_start > MAX_PROCESSES as i64 {
            let message = format!("there are more than {MAX_PROCESSES} processes");
            self.error("too-large", Span::nowhere(), message);
        }

        self.population.ranges = self.ranges(&active, &runs, n_slots);
        self.population.n_at_start = n_at_start;
        if n_at_start == 0 {
            let span = self.program.processes[0].span;
            let message = "no process is started";
            let help = "write `active proctype …`, or an `init` that runs the others";
            self.say(Diagnostic::error("no-process", span, message).help(help));
        }

        let ends = |unit: &Unit| {
            let is_end = |l: &usize| matches!(unit.flow.elements[*l].kind, ElementKind::End);
            unit.locations.iter().any(is_end)
        };
        let exists = |unit: &&Unit| self.population.ranges[unit.proctype].is_some();
        let some_end = self.units.iter().filter(exists).any(ends);
        self.population.changes = some_end || runs.iter().any(|list| !list.is_empty());

        let ranges = self.population.ranges.clone();
        self.units.retain(|unit| ranges[unit.proctype].is_some());
    }

    fn active_counts(&mut self) -> Vec<i64> {
        let program = self.program;
        let mut counts = Vec::new();
        for process in &program.processes {
            counts.push(match &process.active {
                None => 0,
                Some(expr) => match self.symbols.constant(expr) {
                    Some(count @ 0..=255) => count,
                    _ => {
                        let message = "the number of processes must be a constant up to 255";
                        self.error("wrong-type", expr.span, message);
                        0
                    }
                },
            });
        }
        counts
    }

    /// For each process type: the types that it runs, and whether again and again.
    fn runs(&mut self) -> Vec<Vec<(usize, bool)>> {
        let mut runs = vec![Vec::new(); self.program.processes.len()];
        for unit in self.units.clone() {
            let started = unit.flow.elements.iter().map(started_by);
            let starts: Vec<bool> = started.map(|expr| expr.is_some()).collect();
            let in_cycle = cyclic_elements(&unit.flow, &unit.locations, &starts);
            for (position, element) in unit.flow.elements.iter().enumerate() {
                let Some((name, expr)) = started_by(element) else {
                    continue;
                };
                match self.proctype(name) {
                    Some(callee) => runs[unit.proctype].push((callee, in_cycle[position])),
                    None => self.unknown_process(name, expr),
                }
            }
        }
        runs
    }

    fn unknown_process(&mut self, name: &str, expr: &Expr) {
        let message = format!("there is no process type `{name}`");
        let diagnostic = Diagnostic::error("unknown-name", expr.span, message);
        let names = self.program.processes.iter().map(|process| &*process.name);
        let diagnostic = match base::closest_name(name, names) {
            Some(close) => diagnostic.help(format!("did you mean `{close}`?")),
            None => diagnostic,
        };
        self.say(diagnostic);
    }

    /// The number of processes that are ever created, if the text bounds it.
    fn total(&self, active: &[i64], runs: &[Vec<(usize, bool)>]) -> Option<usize> {
        let mut counts: Vec<i64> = active.to_vec();
        // Without recursion, counts are stable after as many rounds as there are types.
        for _ in 0..=runs.len() {
            let mut next: Vec<i64> = active.to_vec();
            for (caller, list) in runs.iter().enumerate() {
                for (callee, again) in list {
                    if *again && counts[caller] > 0 {
                        return None;
                    }
                    next[*callee] += counts[caller];
                }
            }
            if next.iter().any(|count| *count > 1000) {
                return None;
            }
            if next == counts {
                return usize::try_from(counts.iter().sum::<i64>()).ok();
            }
            counts = next;
        }

        None
    }

    fn ranges(
        &self,
        active: &[i64],
        runs: &[Vec<(usize, bool)>],
        n_slots: usize,
    ) -> Vec<Option<Range>> {
        let mut found: Vec<Option<Range>> = vec![None; active.len()];
        let mut next = 0;
        for (position, count) in active.iter().enumerate() {
            if *count > 0 {
                found[position] = Some(Range {
                    lo: next,
                    hi: next + count - 1,
                    first_active: next,
                    n_active: *count,
                    ..Range::default()
                });
            }
            next += count;
        }

        let mut lowest: BTreeMap<usize, i64> = BTreeMap::new();
        loop {
            let mut changed = false;
            for (caller, list) in runs.iter().enumerate() {
                let active = found[caller].map(|range| range.lo);
                let run = lowest.get(&caller).copied();
                let Some(lo) = active.into_iter().chain(run).min() else {
                    continue;
                };
                for (callee, _) in list {
                    let entry = lowest.entry(*callee).or_insert(i64::MAX);
                    changed |= *entry > lo + 1;
                    *entry = (*entry).min(lo + 1);
                }
            }
            if !changed {
                break;
            }
        }

        let last = i64::try_from(n_slots).unwrap_or(255) - 1;
        for (proctype, lo) in lowest {
            let range = found[proctype].get_or_insert(Range {
                lo,
                ..Range::default()
            });
            range.lo = range.lo.min(lo);
            range.hi = last.max(range.lo);
            range.is_run = true;
        }

        let mut first_instance = 0;
        for range in found.iter_mut().flatten() {
            range.first_instance = first_instance;
            first_instance += range.hi - range.lo + 1;
        }

        found
    }
}

/// The process type that an element starts, and its call.
fn started_by(element: &Element) -> Option<(&str, &Expr)> {
    let (ElementKind::Leaf(Leaf::Condition(expr)) | ElementKind::Leaf(Leaf::Assign(_, expr))) =
        &element.kind
    else {
        return None;
    };
    match &expr.kind {
        ExprKind::Run { name, .. } => Some((name, expr)),
        _ => None,
    }
}

/// Which of the elements that are asked about can be executed more than once.
fn cyclic_elements(flow: &Flow, locations: &[usize], asked: &[bool]) -> Vec<bool> {
    let position: BTreeMap<usize, usize> = locations
        .iter()
        .enumerate()
        .map(|(at, element)| (*element, at))
        .collect();
    let exits: Vec<Vec<_>> = locations
        .iter()
        .map(|location| flow.exits(*location))
        .collect();
    let mut in_cycle = vec![false; flow.elements.len()];

    for (start, leaving) in exits.iter().enumerate() {
        for exit in leaving {
            let Some(target) = exit.target.filter(|_| asked[exit.element]) else {
                continue;
            };
            let mut seen = vec![false; locations.len()];
            let mut stack = vec![position[&target]];
            while let Some(at) = stack.pop() {
                if std::mem::replace(&mut seen[at], true) {
                    continue;
                }
                let targets = exits[at].iter().filter_map(|next| next.target);
                stack.extend(targets.map(|next| position[&next]));
            }
            in_cycle[exit.element] |= seen[start];
        }
    }

    in_cycle
}

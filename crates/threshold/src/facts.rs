//! What is true of guards in all runs, asked for in small questions before the large one.
//!
//! A *change* is a sum that becomes at least zero once, where a rising guard becomes true or a falling
//! one false. Whether a change is possible at all, which changes exclude each other and which come before
//! which is asked about one segment that stands for any beginning of a run: a rising guard that was used
//! is true at its end, a falling one at its start. Every beginning satisfies that, so what is impossible
//! there is impossible. (One formula for each order of changes, as in I. Konnov, M. Lazić, H. Veith,
//! J. Widder, POPL 2017, doi:10.1145/3009837.3009860, would find the same orders impossible, one by one.)
//!
//! Changes that exclude each other are not both cuts of a run, so fewer segments are needed.

use std::collections::BTreeSet;

use model::threshold::Sum;
use smt::{Answer, Solver, Term};

use crate::encoding::{Encoding, Point};
use crate::pattern::Pattern;
use crate::shape::{Shape, Trend};

/// Automata with fewer changes than this are easier than the questions about them.
const FEW: usize = 4;

/// What is known about changes.
#[derive(Clone, Debug, Default)]
pub(crate) struct Facts {
    /// The changes that are possible.
    pub(crate) changes: Vec<Sum>,
    /// If the first has happened, so has the second: positions of changes.
    pub(crate) implications: Vec<(usize, usize)>,
    /// They do not both happen.
    pub(crate) exclusions: Vec<(usize, usize)>,
}

impl Facts {
    /// What is known without asking.
    pub(crate) fn of(shape: &Shape<'_>) -> Self {
        Self {
            changes: shape.changes(),
            ..Self::default()
        }
    }

    /// Asks what can be known, and simplifies the automaton by it. The solver is left as it was.
    pub(crate) fn ask(shape: &mut Shape<'_>, pattern: &Pattern, solver: &mut dyn Solver) -> Self {
        if shape.changes().len() < FEW {
            return Self::of(shape);
        }
        solver.hurry(true);
        let (possible, initial) = Beginning::with(shape, pattern, solver, |beginning| {
            (beginning.possible(), beginning.initial())
        });
        shape.assume(&possible, &initial);

        let facts = Beginning::with(shape, pattern, solver, |beginning| beginning.pairs());
        solver.hurry(false);
        facts
    }

    /// How many changes a run has at most: of those that exclude each other only one happens.
    pub(crate) fn n_changes(&self) -> usize {
        let mut groups: Vec<Vec<usize>> = Vec::new();
        let exclusive: BTreeSet<(usize, usize)> = self.exclusions.iter().copied().collect();
        for change in 0..self.changes.len() {
            let excludes = |group: &&mut Vec<usize>| {
                let mut known = group.iter();
                known.all(|other| exclusive.contains(&(*other, change)))
            };
            match groups.iter_mut().find(excludes) {
                Some(group) => group.push(change),
                None => groups.push(vec![change]),
            }
        }
        groups.len()
    }
}

/// Any beginning of a run, as one segment.
struct Beginning<'a> {
    /// Has each change happened at the start, and at the end?
    at_start: Vec<Term>,
    at_end: Vec<Term>,
    changes: Vec<Sum>,
    /// How often each move happens.
    flows: Vec<Term>,
    /// The changes that each move needs.
    needs: Vec<Vec<usize>>,
    solver: &'a mut dyn Solver,
}

impl<'a> Beginning<'a> {
    /// What is found out about all beginnings.
    fn with<T>(
        shape: &Shape<'_>,
        pattern: &Pattern,
        solver: &'a mut dyn Solver,
        find: impl FnOnce(&mut Beginning<'_>) -> T,
    ) -> T {
        let changes = shape.changes();
        let (encoding, [start, end], flows) = Encoding::beginning(shape, pattern);
        solver.push();
        for assertion in &encoding.assertions {
            solver.assert(assertion);
        }
        let happened = |at: &Point| -> Vec<Term> {
            let changes = changes.iter();
            changes.map(|sum| encoding.at_least_zero(sum, at)).collect()
        };
        let needs = shape.moves.iter().map(|step| {
            let guards = step.guards.iter().map(|guard| &shape.guards[*guard]);
            let rising = guards.filter(|guard| guard.trend == Trend::Rising);
            let positions = rising.filter_map(|guard| changes.binary_search(&guard.sum).ok());
            positions.collect()
        });
        let mut beginning = Beginning {
            at_start: happened(&start),
            at_end: happened(&end),
            needs: needs.collect(),
            flows,
            changes: changes.clone(),
            solver,
        };

        let found = find(&mut beginning);
        beginning.solver.pop();
        found
    }

    /// Which candidates, if any, are impossible together with what is fixed. One question is about all
    /// that are left: a model shows some to be possible, and that there is none decides the rest.
    fn impossible(&mut self, fixed: &[Term], mut candidates: Vec<(usize, Term)>) -> Vec<usize> {
        while !candidates.is_empty() {
            let some = Term::or(candidates.iter().map(|(_, term)| term.clone()));
            let question = [fixed, &[some]].concat();
            match self.solver.check(&question) {
                Answer::Unsat => break,
                Answer::Unknown(_) => return Vec::new(),
                Answer::Sat(model) => {
                    candidates.retain(|(_, term)| model.bool(term) == Some(false));
                }
            }
        }
        candidates.into_iter().map(|(at, _)| at).collect()
    }

    /// The changes that can happen. The first that happens among those not yet known to be possible
    /// does so after moves that need known ones only.
    fn possible(&mut self) -> Vec<bool> {
        let mut is_possible = vec![false; self.changes.len()];
        loop {
            let locked = self.flows.iter().zip(&self.needs);
            let locked = locked.filter(|(_, needs)| needs.iter().any(|at| !is_possible[*at]));
            let locked: Vec<Term> = locked
                .map(|(times, _)| Term::le(times.clone(), Term::Int(0)))
                .collect();
            let open = (0..self.changes.len()).filter(|at| !is_possible[*at]);
            let open: Vec<(usize, Term)> = open.map(|at| (at, self.at_end[at].clone())).collect();
            let n_open = open.len();

            let impossible = self.impossible(&locked, open);
            is_possible = vec![true; self.changes.len()];
            for at in &impossible {
                is_possible[*at] = false;
            }
            if impossible.len() == n_open {
                return is_possible;
            }
        }
    }

    /// The changes that have happened at the start of every run.
    fn initial(&mut self) -> Vec<bool> {
        let not_yet = self.at_start.iter().cloned().map(Term::not);
        let not_yet = not_yet.enumerate().collect();
        let always = self.impossible(&[], not_yet);
        let changes = 0..self.changes.len();
        changes.map(|at| always.contains(&at)).collect()
    }

    /// Which changes exclude and which imply each other.
    fn pairs(&mut self) -> Facts {
        let mut facts = Facts {
            changes: self.changes.clone(),
            ..Facts::default()
        };
        for first in 0..self.changes.len() {
            let happens = [self.at_end[first].clone()];
            let others = self.at_end.clone().into_iter().enumerate();
            let later = others.clone().filter(|(at, _)| *at > first).collect();
            let exclusive = self.impossible(&happens, later);
            let not_yet = others.filter(|(at, _)| *at != first && !exclusive.contains(at));
            let not_yet = not_yet.map(|(at, term)| (at, Term::not(term))).collect();
            let implied = self.impossible(&happens, not_yet);

            facts
                .exclusions
                .extend(exclusive.into_iter().map(|at| (first, at)));
            facts
                .implications
                .extend(implied.into_iter().map(|at| (first, at)));
        }
        facts
    }
}

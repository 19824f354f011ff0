//! Inclusion of traces, failures and divergences, by antichains.
//!
//! The specification is made deterministic on the fly: a pair is a state of the implementation and
//! the set of states that the specification may be in after the same visible trace, closed under
//! invisible steps. A pair is not looked at if another with the same state and a *smaller* set has
//! been: whatever goes wrong from the larger set goes wrong from the smaller one (M. De Wulf,
//! L. Doyen, T. Henzinger, J.-F. Raskin, "Antichains: a new algorithm for checking universality of
//! finite automata", CAV 2006, section 3; for failures and divergences T. Wang, S. Song, J. Sun,
//! Y. Liu, J. Dong, X. Wang, S. Li, "More anti-chain based refinement checking", ICFEM 2012,
//! section 4). So not all subsets of states need to be built.
//!
//! Pairs are taken in the order of the length of their visible trace (invisible steps cost nothing),
//! and a pair that is left out has a smaller one that was not later; hence the difference found has
//! a shortest visible trace.
//!
//! Complexity: exponential in the specification at worst, linear in the implementation.

use std::collections::{BTreeSet, HashMap, VecDeque};
use std::rc::Rc;

use base::{Budget, StopReason};

use super::lts::{Lts, SILENT};
use super::{Refinement, poll};

/// How an implementation differs from its specification.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Difference {
    /// Where the way to it starts.
    pub start: u32,
    /// The way: states of the implementation and which of their steps is taken.
    pub path: Vec<(u32, u32)>,
    /// The visible labels on the way.
    pub trace: Vec<u32>,
    /// What is different there.
    pub kind: DifferenceKind,
}

/// What is different after a trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum DifferenceKind {
    /// The specification cannot perform the last event of the trace.
    Trace,
    /// The implementation can refuse everything but these, the specification cannot.
    Refusal(BTreeSet<u32>),
    /// The implementation can go on silently forever, the specification cannot.
    Divergence,
}

impl Difference {
    /// What the run shows, in one sentence.
    #[must_use]
    pub fn describe(&self, lts: &Lts) -> String {
        let names: Vec<&str> = self
            .trace
            .iter()
            .map(|label| lts.label_name(*label))
            .collect();
        let trace = format!("⟨{}⟩", names.join(", "));

        match &self.kind {
            DifferenceKind::Trace => {
                format!("the specification does not have the trace {trace}")
            }
            DifferenceKind::Refusal(offered) if offered.is_empty() => format!(
                "after {trace} the implementation can refuse everything, the specification cannot"
            ),
            DifferenceKind::Refusal(offered) => {
                let offered: Vec<&str> = offered.iter().map(|l| lts.label_name(*l)).collect();
                format!(
                    "after {trace} the implementation can refuse everything but {}, the specification cannot",
                    offered.join(", ")
                )
            }
            DifferenceKind::Divergence => format!(
                "after {trace} the implementation can go on silently forever, the specification cannot"
            ),
        }
    }
}

/// Compares two systems; nothing if the first refines the second.
///
/// # Errors
/// The budget is spent.
pub fn includes(
    implementation: &Lts,
    specification: &Lts,
    refinement: Refinement,
    budget: &Budget,
) -> Result<Option<Difference>, StopReason> {
    AntichainSearch::new(implementation, specification, refinement).run(budget)
}

type Set = Rc<[u32]>;

/// A pair that has been met, and how.
struct Pair {
    state: u32,
    set: Set,
    /// How long its visible trace is.
    length: usize,
    /// The pair before it, the step taken and its label.
    from: Option<(usize, u32, u32)>,
}

struct AntichainSearch<'a> {
    own: &'a Lts,
    spec: &'a Lts,
    refinement: Refinement,
    /// The label of the specification for each label of the implementation.
    spec_label: Vec<Option<u32>>,
    /// The label of the implementation for each label of the specification; above all labels if
    /// there is none.
    own_label: Vec<u32>,
    own_diverges: Vec<bool>,
    spec_diverges: Vec<bool>,
    pairs: Vec<Pair>,
    /// Small sets that each state was looked at with, none a subset of another.
    minimal: Vec<Vec<Set>>,
    after: HashMap<(Set, u32), Option<Set>>,
}

impl<'a> AntichainSearch<'a> {
    fn new(own: &'a Lts, spec: &'a Lts, refinement: Refinement) -> Self {
        let position = |names: &[String], name: &String| {
            let found = names.iter().skip(1).position(|known| known == name);
            found.map(|position| position as u32 + 1)
        };
        let visible = |lts: &'a Lts| lts.names().iter().skip(1);
        let mut spec_label = vec![None];
        spec_label.extend(visible(own).map(|name| position(spec.names(), name)));

        let mut own_label = vec![SILENT];
        own_label.extend(visible(spec).map(|name| position(own.names(), name).unwrap_or(u32::MAX)));
        let with_divergence = refinement == Refinement::FailuresDivergences;
        let cycles = |lts: &Lts| {
            if with_divergence {
                lts.silent_cycles()
            } else {
                Vec::new()
            }
        };

        Self {
            own,
            spec,
            refinement,
            spec_label,
            own_label,
            own_diverges: cycles(own),
            spec_diverges: cycles(spec),
            pairs: Vec::new(),
            minimal: vec![Vec::new(); own.steps.len()],
            after: HashMap::new(),
        }
    }

    fn run(mut self, budget: &Budget) -> Result<Option<Difference>, StopReason> {
        let initial: BTreeSet<u32> = (0..self.spec.n_initial as u32).collect();
        let initial = self.closed(initial);
        let mut queue: VecDeque<usize> = VecDeque::new();
        for state in 0..self.own.n_initial as u32 {
            if let Some(pair) = self.meet(state, initial.clone(), None) {
                queue.push_back(pair);
            }
        }

        // A trace that the specification lacks is one longer than the pair it is found at, so pairs
        // with shorter traces come first.
        let mut missing: Option<(usize, Difference)> = None;
        while let Some(pair) = queue.pop_front() {
            poll(budget, self.pairs.len(), 64)?;
            let length = self.pairs[pair].length;
            if missing.as_ref().is_some_and(|(known, _)| *known <= length) {
                break;
            }
            let (state, set) = (self.pairs[pair].state, self.pairs[pair].set.clone());
            if !self.look_at(state, &set) || self.is_chaotic(&set) {
                continue;
            }
            if let Some(kind) = self.difference(state, &set) {
                return Ok(Some(self.report(pair, None, kind)));
            }
            for index in 0..self.own.steps[state as usize].len() {
                let (label, target, position) = self.own.steps[state as usize][index];
                let from = Some((pair, position, label));
                if label == SILENT {
                    if let Some(next) = self.meet(target, set.clone(), from) {
                        queue.push_front(next);
                    }
                    continue;
                }
                let Some(next_set) = self.next(&set, label) else {
                    let kind = DifferenceKind::Trace;
                    let found = self.report(pair, Some((position, label)), kind);
                    missing.get_or_insert((length + 1, found));
                    continue;
                };
                if let Some(next) = self.meet(target, next_set, from) {
                    queue.push_back(next);
                }
            }
        }

        Ok(missing.map(|(_, difference)| difference))
    }

    /// Adds a pair unless one with a smaller set has been looked at.
    fn meet(&mut self, state: u32, set: Set, from: Option<(usize, u32, u32)>) -> Option<usize> {
        if self.is_covered(state, &set) {
            return None;
        }
        let length = from.map_or(0, |(before, _, label)| {
            self.pairs[before].length + usize::from(label != SILENT)
        });
        self.pairs.push(Pair {
            state,
            set,
            length,
            from,
        });
        Some(self.pairs.len() - 1)
    }

    fn is_covered(&self, state: u32, set: &Set) -> bool {
        let mut known = self.minimal[state as usize].iter();
        known.any(|other| is_subset(other, set))
    }

    /// Notes that a pair is looked at now; false if one with a smaller set has been. Only here,
    /// where pairs come in the order of their traces: met earlier does not mean shorter.
    fn look_at(&mut self, state: u32, set: &Set) -> bool {
        if self.is_covered(state, set) {
            return false;
        }
        let known = &mut self.minimal[state as usize];
        known.retain(|other| !is_subset(set, other));
        known.push(set.clone());
        true
    }

    /// May the specification do anything from now on?
    fn is_chaotic(&self, set: &Set) -> bool {
        self.refinement == Refinement::FailuresDivergences
            && set.iter().any(|state| self.spec_diverges[*state as usize])
    }

    fn difference(&self, state: u32, set: &Set) -> Option<DifferenceKind> {
        if self.refinement == Refinement::Traces {
            return None;
        }
        if self.refinement == Refinement::FailuresDivergences && self.own_diverges[state as usize] {
            return Some(DifferenceKind::Divergence);
        }
        let offered = self.offered(self.own, state)?;
        let matched = set.iter().any(|other| {
            self.offered(self.spec, *other).is_some_and(|wanted| {
                let mut wanted = wanted.iter().map(|label| self.own_label[*label as usize]);
                wanted.all(|label| offered.contains(&label))
            })
        });
        (!matched).then_some(DifferenceKind::Refusal(offered))
    }

    /// The visible labels of a state; nothing if it is not stable.
    fn offered(&self, lts: &Lts, state: u32) -> Option<BTreeSet<u32>> {
        let steps = &lts.steps[state as usize];
        let is_stable = steps.iter().all(|(label, ..)| *label != SILENT);
        is_stable.then(|| steps.iter().map(|(label, ..)| *label).collect())
    }

    /// Where the specification may be after a visible label of the implementation.
    fn next(&mut self, set: &Set, label: u32) -> Option<Set> {
        let wanted = self.spec_label[label as usize]?;
        if let Some(known) = self.after.get(&(set.clone(), wanted)) {
            return known.clone();
        }
        let steps = set
            .iter()
            .flat_map(|state| &self.spec.steps[*state as usize]);
        let fitting = steps.filter(|(label, ..)| *label == wanted);
        let reached: BTreeSet<u32> = fitting.map(|(_, target, _)| *target).collect();
        let next = (!reached.is_empty()).then(|| self.closed(reached));
        self.after.insert((set.clone(), wanted), next.clone());
        next
    }

    fn closed(&self, mut set: BTreeSet<u32>) -> Set {
        let mut waiting: Vec<u32> = set.iter().copied().collect();
        while let Some(state) = waiting.pop() {
            for &(label, target, _) in &self.spec.steps[state as usize] {
                if label == SILENT && set.insert(target) {
                    waiting.push(target);
                }
            }
        }
        set.into_iter().collect()
    }

    fn report(&self, pair: usize, last: Option<(u32, u32)>, kind: DifferenceKind) -> Difference {
        let mut path = Vec::new();
        let mut trace = Vec::new();
        if let Some((position, label)) = last {
            path.push((self.pairs[pair].state, position));
            trace.push(label);
        }

        let mut at = pair;
        while let Some((before, position, label)) = self.pairs[at].from {
            path.push((self.pairs[before].state, position));
            if label != SILENT {
                trace.push(label);
            }
            at = before;
        }

        path.reverse();
        trace.reverse();
        Difference {
            start: self.pairs[at].state,
            path,
            trace,
            kind,
        }
    }
}

/// Both are sorted.
fn is_subset(small: &[u32], large: &[u32]) -> bool {
    if small.len() > large.len() {
        return false;
    }
    let mut large = large.iter();
    small.iter().all(|item| large.any(|other| other == item))
}

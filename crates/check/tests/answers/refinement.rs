//! Refinement by antichains against a naive decision that makes both sides deterministic.

use std::collections::{BTreeSet, VecDeque};

use base::Budget;
use check::refinement::{Lts, includes};
use source::Refinement;
use testkit::Random;

const NAMES: [&str; 2] = ["a", "b"];

/// A small system: steps of each state, with no name for an invisible one.
struct Small {
    n_states: usize,
    steps: Vec<(u32, Option<&'static str>, u32)>,
}

impl Small {
    fn random(random: &mut Random) -> Self {
        let n_states = 1 + random.below(4);
        let n_steps = random.below(2 * n_states + 2);
        let step = |_| {
            let source = random.below(n_states) as u32;
            let target = random.below(n_states) as u32;
            let name = match random.below(5) {
                0 | 1 => None,
                n => Some(NAMES[n % 2]),
            };
            (source, name, target)
        };
        let steps = (0..n_steps).map(step).collect();
        Self { n_states, steps }
    }

    fn lts(&self) -> Lts {
        Lts::from_steps(self.n_states, &self.steps)
    }

    fn closed(&self, mut set: BTreeSet<u32>) -> BTreeSet<u32> {
        loop {
            let silent = self.steps.iter().filter(|step| step.1.is_none());
            let reached = silent
                .filter(|step| set.contains(&step.0))
                .map(|step| step.2);
            let larger: BTreeSet<u32> = set.iter().copied().chain(reached).collect();
            if larger == set {
                return set;
            }
            set = larger;
        }
    }

    fn after(&self, set: &BTreeSet<u32>, name: &str) -> BTreeSet<u32> {
        let fitting = self.steps.iter().filter(|step| step.1 == Some(name));
        let reached = fitting
            .filter(|step| set.contains(&step.0))
            .map(|step| step.2);
        self.closed(reached.collect())
    }

    /// What each stable state of the set offers.
    fn acceptances(&self, set: &BTreeSet<u32>) -> Vec<BTreeSet<&'static str>> {
        let mut list = Vec::new();
        for state in set {
            let own = || self.steps.iter().filter(|step| step.0 == *state);
            if own().all(|step| step.1.is_some()) {
                list.push(own().filter_map(|step| step.1).collect());
            }
        }
        list
    }

    /// Can some state of the (closed) set go on silently forever?
    fn diverges(&self, set: &BTreeSet<u32>) -> bool {
        set.iter().any(|state| {
            let next = self.steps.iter();
            let next = next.filter(|step| step.0 == *state && step.1.is_none());
            let reached = self.closed(next.map(|step| step.2).collect());
            reached.contains(state)
        })
    }
}

/// The length of a shortest visible trace that shows a difference; nothing if there is none.
fn shortest_difference(own: &Small, spec: &Small, refinement: Refinement) -> Option<usize> {
    let start = |system: &Small| system.closed(BTreeSet::from([0]));
    let first = (start(own), start(spec));
    let mut seen = BTreeSet::from([first.clone()]);
    let mut queue = VecDeque::from([(first, 0)]);
    let mut best: Option<usize> = None;

    while let Some(((left, right), length)) = queue.pop_front() {
        let with_divergence = refinement == Refinement::FailuresDivergences;
        if with_divergence && spec.diverges(&right) {
            continue;
        }
        let mut differs = with_divergence && own.diverges(&left);
        if refinement != Refinement::Traces {
            let allowed = spec.acceptances(&right);
            let is_allowed =
                |offered: &BTreeSet<&str>| allowed.iter().any(|wanted| wanted.is_subset(offered));
            differs |= !own.acceptances(&left).iter().all(is_allowed);
        }
        if differs {
            best = Some(best.map_or(length, |best| best.min(length)));
        }
        for name in NAMES {
            let next = (own.after(&left, name), spec.after(&right, name));
            if next.0.is_empty() {
                continue;
            }
            if next.1.is_empty() {
                best = Some(best.map_or(length + 1, |best| best.min(length + 1)));
            } else if seen.insert(next.clone()) {
                queue.push_back((next, length + 1));
            }
        }
    }

    best
}

#[test]
fn antichains_agree_with_determinisation() {
    let mut random = Random::new(20_261_116);
    let mut n_violated = 0;
    for _ in 0..6000 {
        let (own, spec) = (Small::random(&mut random), Small::random(&mut random));
        for refinement in [
            Refinement::Traces,
            Refinement::Failures,
            Refinement::FailuresDivergences,
        ] {
            let expected = shortest_difference(&own, &spec, refinement);
            let found = includes(&own.lts(), &spec.lts(), refinement, &Budget::unlimited());
            let found = found.expect("there is no limit");
            let length = found.as_ref().map(|difference| difference.trace.len());
            assert_eq!(
                length, expected,
                "{refinement:?}\n{:?}\n{:?}",
                own.steps, spec.steps
            );
            n_violated += usize::from(length.is_some());
        }
    }

    assert!(
        (3000..15_000).contains(&n_violated),
        "{n_violated} differences"
    );
}

#[test]
fn every_system_refines_itself() {
    let mut random = Random::new(7);
    for _ in 0..1000 {
        let system = Small::random(&mut random).lts();
        for refinement in [Refinement::Traces, Refinement::FailuresDivergences] {
            let found = includes(&system, &system, refinement, &Budget::unlimited());
            assert_eq!(found, Ok(None));
        }
    }
}

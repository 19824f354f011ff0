//! Claims: Büchi automata of bad runs, written by an author.

use std::collections::BTreeSet;

use base::AtomId;
use omega::{Acceptance, Automaton, Cube, Edge, MarkId, StateId};

/// A Büchi automaton that accepts bad runs. It reads one letter for each position of a run; where no
/// edge reads the letter, it gives the run up.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NeverClaim {
    /// The states; reading starts in the first. Invariant: there is one.
    pub states: Vec<ClaimState>,
}

/// A state of a claim.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ClaimState {
    /// Is a run bad that passes here infinitely often?
    pub accepting: bool,
    /// What it can read, and where that leads.
    pub edges: Vec<(Cube, usize)>,
}

impl NeverClaim {
    /// The atoms that occur, in ascending order.
    #[must_use]
    pub fn atoms(&self) -> Vec<AtomId> {
        let edges = self.states.iter().flat_map(|state| &state.edges);
        let literals = edges.flat_map(|(guard, _)| guard.literals());
        let atoms: BTreeSet<AtomId> = literals.map(|(atom, _)| *atom).collect();
        atoms.into_iter().collect()
    }

    /// The automaton that accepts the bad runs: a mark stands on every edge that leaves an accepting
    /// state.
    #[must_use]
    pub fn automaton(&self) -> Automaton {
        let edge = |(guard, target): &(Cube, usize), accepting: bool| Edge {
            guard: guard.clone(),
            marks: accepting.then_some(MarkId(0)).into_iter().collect(),
            target: StateId::new(*target),
        };
        let edges_of = |state: &ClaimState| {
            let edges = state.edges.iter();
            edges
                .map(|described| edge(described, state.accepting))
                .collect()
        };
        Automaton {
            initial: vec![StateId(0)],
            edges: self.states.iter().map(edges_of).collect(),
            letter_marks: Vec::new(),
            n_marks: 1,
            acceptance: Acceptance::Inf(MarkId(0)),
        }
    }

    /// Is the infinite word bad whose positions are `0..n_positions` and which goes on from
    /// `loop_start` after the last? By definition: some path over positions and states passes an
    /// accepting state on a cycle.
    #[must_use]
    pub fn accepts_lasso(
        &self,
        n_positions: usize,
        loop_start: usize,
        letter: &impl Fn(usize, AtomId) -> bool,
    ) -> bool {
        let next = |position: usize| {
            if position + 1 < n_positions {
                position + 1
            } else {
                loop_start
            }
        };

        let successors = |(position, state): (usize, usize)| {
            let edges = self.states[state].edges.iter();
            let reads =
                move |(guard, _): &&(Cube, usize)| guard.contains(&|atom| letter(position, atom));
            edges
                .filter(reads)
                .map(move |(_, target)| (next(position), *target))
        };

        let reachable = |start: BTreeSet<(usize, usize)>| {
            let mut seen = start.clone();
            let mut open: Vec<_> = start.into_iter().collect();
            while let Some(node) = open.pop() {
                open.extend(successors(node).filter(|target| seen.insert(*target)));
            }
            seen
        };

        let all = reachable([(0, 0)].into_iter().collect());
        all.into_iter()
            .filter(|(_, state)| self.states[*state].accepting)
            .any(|node| reachable(successors(node).collect()).contains(&node))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bad: from some point on, atom 0 never holds again.
    fn finally_never() -> NeverClaim {
        let any = Cube::default();
        let not = Cube::new([(AtomId(0), false)]).expect("one literal");
        NeverClaim {
            states: vec![
                ClaimState {
                    accepting: false,
                    edges: vec![(any, 0), (not.clone(), 1)],
                },
                ClaimState {
                    accepting: true,
                    edges: vec![(not, 1)],
                },
            ],
        }
    }

    #[test]
    fn a_word_is_bad_iff_it_passes_an_accepting_state_again_and_again() {
        let claim = finally_never();
        let only_at = |wanted: usize| move |position: usize, _: AtomId| position == wanted;
        assert!(claim.accepts_lasso(3, 1, &only_at(0)));
        assert!(!claim.accepts_lasso(3, 1, &only_at(2)));
        assert_eq!(claim.atoms(), [AtomId(0)]);
        assert_eq!(claim.automaton().n_states(), 2);
    }
}

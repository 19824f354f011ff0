//! Small deterministic automata for obligations.
//!
//! An obligation is a Boolean combination of safety and guarantee properties. The subset
//! construction, which fails for Büchi automata in general, is right for it: whether a word is
//! accepted depends only on the component of the deterministic automaton in which it stays, so the
//! component accepts iff any one of its cycles is accepted by the given automaton (C. Dax,
//! J. Eisinger, F. Klaedtke, *Mechanizing the Powerset Construction for Restricted Classes of
//! ω-Automata*, ATVA 2007, section 4, <https://doi.org/10.1007/978-3-540-75596-8_17>).
//!
//! The result is made minimal as finite automata are, after each state has been given a level that
//! only grows along a run and whose parity says whether its component accepts (C. Löding,
//! *Efficient minimization of deterministic weak ω-automata*, Information Processing Letters 79(3),
//! 2001, <https://doi.org/10.1016/S0020-0190(00)00183-6>). Levels decide on which side the states
//! go that lie on no cycle; the language does not depend on them.

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::bdd::{Bdd, Bdds};
use crate::reduce::merge_bisimilar;
use crate::tgba::{Arrow, Components, Tgba};

/// Deterministic automata with more states or edges before minimisation are not built.
const MAX_STATES: usize = 2_000;
const MAX_ARROWS: usize = 20_000;

/// How often the letters of one state of it may be split.
const MAX_SPLITS: usize = 100_000;

/// An edge of the subset construction.
struct Step {
    guard: Bdd,
    /// One letter of the guard.
    sample: Bdd,
    target: usize,
}

/// The subset construction. Every state has an edge for every letter.
struct Subsets {
    members: Vec<Vec<usize>>,
    steps: Vec<Vec<Step>>,
}

/// The minimal deterministic automaton of an obligation, with one mark, with an edge for every letter
/// and the same marks on all edges of a cycle; or nothing if it would be large.
///
/// Precondition: the language of `tgba` is an obligation. If it is not, the result accepts other words.
pub(crate) fn minimal_deterministic(tgba: &Tgba, bdds: &mut Bdds) -> Option<Tgba> {
    let subsets = Subsets::new(tgba, bdds)?;
    let mut result = subsets.without_marks();
    let components = result.components();

    let level = subsets.levels(tgba, &components, bdds);
    for (arrows, component) in result.arrows.iter_mut().zip(&components.component) {
        let accepts = level[*component].rem_euclid(2) == 0;
        arrows
            .iter_mut()
            .for_each(|arrow| arrow.marks = u128::from(accepts));
    }

    merge_bisimilar(&mut result, bdds);
    (!bdds.is_crowded()).then_some(result)
}

impl Subsets {
    fn new(tgba: &Tgba, bdds: &mut Bdds) -> Option<Self> {
        let mut index_by_members: FxHashMap<Vec<usize>, usize> = FxHashMap::default();
        let mut members = vec![tgba.initial.clone()];
        index_by_members.insert(tgba.initial.clone(), 0);

        let (mut steps, mut n_arrows) = (Vec::new(), 0);
        while let Some(set) = members.get(steps.len()).cloned() {
            let mut row: Vec<Step> = Vec::new();
            for (guard, targets) in alternatives(tgba, &set, bdds)? {
                let target = *index_by_members
                    .entry(targets)
                    .or_insert_with_key(|targets| {
                        members.push(targets.clone());
                        members.len() - 1
                    });
                let sample = bdds.one_letter(guard);
                row.push(Step {
                    guard,
                    sample,
                    target,
                });
            }

            n_arrows += row.len();
            steps.push(row);
            if members.len() > MAX_STATES || n_arrows > MAX_ARROWS || bdds.is_crowded() {
                return None;
            }
        }

        Some(Self { members, steps })
    }

    /// As an automaton with one mark, which is on no edge.
    fn without_marks(&self) -> Tgba {
        let arrow = |step: &Step| Arrow {
            guard: step.guard,
            marks: 0,
            target: step.target,
        };
        Tgba {
            initial: vec![0],
            arrows: self
                .steps
                .iter()
                .map(|row| row.iter().map(arrow).collect())
                .collect(),
            n_marks: 1,
        }
    }

    /// By component: a level that does not decrease along edges, even where a component with cycles
    /// accepts and odd where it does not, and as large as that permits.
    fn levels(&self, tgba: &Tgba, components: &Components, bdds: &mut Bdds) -> Vec<i64> {
        let mut states_by_component = vec![Vec::new(); components.n_components];
        for (state, component) in components.component.iter().enumerate() {
            states_by_component[*component].push(state);
        }

        // Successors have smaller numbers, so they are done first.
        let mut level: Vec<i64> = Vec::with_capacity(components.n_components);
        for (component, states) in states_by_component.iter().enumerate() {
            let targets = states.iter().flat_map(|state| &self.steps[*state]);
            let others = targets
                .map(|step| components.component[step.target])
                .filter(|other| *other != component);
            let least = others.map(|other| level[other]).min().unwrap_or(0);
            let fits = match self.cycle(states[0], components) {
                Some(cycle) => self.accepts(tgba, &cycle, bdds) == (least.rem_euclid(2) == 0),
                None => true,
            };
            level.push(if fits { least } else { least - 1 });
        }

        level
    }

    /// A cycle through the state: its states and the position of the edge that leaves each.
    fn cycle(&self, start: usize, components: &Components) -> Option<Vec<(usize, usize)>> {
        let component = components.component[start];
        let mut came_from: FxHashMap<usize, (usize, usize)> = FxHashMap::default();
        let mut queue = vec![start];
        let mut position = 0;
        while !came_from.contains_key(&start) {
            let state = *queue.get(position)?;
            position += 1;
            for (edge, step) in self.steps[state].iter().enumerate() {
                let inside = components.component[step.target] == component;
                if inside && !came_from.contains_key(&step.target) {
                    came_from.insert(step.target, (state, edge));
                    queue.push(step.target);
                }
            }
        }

        let mut cycle = Vec::new();
        let mut state = start;
        loop {
            let (before, edge) = came_from[&state];
            cycle.push((before, edge));
            state = before;
            if state == start {
                cycle.reverse();
                return Some(cycle);
            }
        }
    }

    /// Does the given automaton accept the words that go around the cycle forever, by samples?
    fn accepts(&self, tgba: &Tgba, cycle: &[(usize, usize)], bdds: &mut Bdds) -> bool {
        let mut index_by_node: FxHashMap<(usize, usize), usize> = FxHashMap::default();
        for (place, (state, _)) in cycle.iter().enumerate() {
            for member in &self.members[*state] {
                let fresh = index_by_node.len();
                index_by_node.insert((place, *member), fresh);
            }
        }

        // All nodes are reached: each member of a subset has a predecessor in the one before.
        let mut unrolled = Tgba {
            initial: Vec::new(),
            arrows: vec![Vec::new(); index_by_node.len()],
            n_marks: tgba.n_marks,
        };
        for (&(place, member), &index) in &index_by_node {
            let (state, edge) = cycle[place];
            let sample = self.steps[state][edge].sample;
            let next = (place + 1) % cycle.len();
            for arrow in &tgba.arrows[member] {
                if bdds.and(arrow.guard, sample) != Bdd::FALSE {
                    let target = index_by_node[&(next, arrow.target)];
                    unrolled.arrows[index].push(Arrow { target, ..*arrow });
                }
            }
        }

        let components = unrolled.components();
        unrolled.accepting(&components).contains(&true)
    }
}

/// All letters, in classes by the members that follow. Nothing if they are too many.
fn alternatives(tgba: &Tgba, set: &[usize], bdds: &mut Bdds) -> Option<Vec<(Bdd, Vec<usize>)>> {
    let mut letters_by_targets: BTreeMap<Vec<usize>, Bdd> = BTreeMap::new();
    letters_by_targets.insert(Vec::new(), Bdd::TRUE);
    let mut work = 0;
    for arrow in set.iter().flat_map(|state| &tgba.arrows[*state]) {
        work += letters_by_targets.len();
        if work > MAX_SPLITS || bdds.is_crowded() {
            return None;
        }

        let mut split: BTreeMap<Vec<usize>, Bdd> = BTreeMap::new();
        let mut add = |targets: Vec<usize>, letters: Bdd, bdds: &mut Bdds| {
            if letters != Bdd::FALSE {
                let known = split.entry(targets).or_insert(Bdd::FALSE);
                *known = bdds.or(*known, letters);
            }
        };

        for (targets, letters) in letters_by_targets {
            let outside = bdds.minus(letters, arrow.guard);
            let inside = bdds.and(letters, arrow.guard);
            let mut more = targets.clone();
            if let Err(position) = more.binary_search(&arrow.target) {
                more.insert(position, arrow.target);
            }
            add(more, inside, bdds);
            add(targets, outside, bdds);
        }

        letters_by_targets = split;
    }

    let classes = letters_by_targets.into_iter();
    Some(
        classes
            .map(|(targets, letters)| (letters, targets))
            .collect(),
    )
}

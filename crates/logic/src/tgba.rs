//! Transition-based generalized Büchi automata while they are being built and reduced.
//!
//! Guards are decision diagrams and marks are bits of a machine word; `translate.rs` turns the result
//! into an [`omega::Automaton`].

use std::collections::BTreeMap;

use rustc_hash::FxHashMap;

use crate::bdd::{Bdd, Bdds};

/// Products with more pairs of edges are not built.
const MAX_PRODUCT: usize = 200_000;

/// A set of marks: bit `i` is mark `i`.
pub(crate) type Marks = u128;

/// An edge. Invariant: the guard is not false.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Arrow {
    pub(crate) guard: Bdd,
    pub(crate) marks: Marks,
    pub(crate) target: usize,
}

/// An automaton that accepts a word iff some path reads it and sees every mark below `n_marks`
/// infinitely often.
#[derive(Clone, Debug)]
pub(crate) struct Tgba {
    pub(crate) initial: Vec<usize>,
    pub(crate) arrows: Vec<Vec<Arrow>>,
    pub(crate) n_marks: u32,
}

/// The strongly connected components of an automaton.
pub(crate) struct Components {
    /// The component of each state; successors have smaller or equal numbers.
    pub(crate) component: Vec<usize>,
    pub(crate) n_components: usize,
}

impl Tgba {
    /// All marks there are.
    pub(crate) fn all_marks(&self) -> Marks {
        all_marks(self.n_marks)
    }

    pub(crate) fn n_arrows(&self) -> usize {
        self.arrows.iter().map(Vec::len).sum()
    }

    /// What a search pays for it, roughly.
    pub(crate) fn cost(&self) -> (usize, u32) {
        (self.arrows.len() + self.n_arrows(), self.n_marks)
    }

    /// Is there at most one path for each word?
    pub(crate) fn is_deterministic(&self, bdds: &mut Bdds) -> bool {
        let mut is_choice = |arrows: &Vec<Arrow>| {
            let mut read = Bdd::FALSE;
            arrows.iter().any(|arrow| {
                let again = bdds.and(read, arrow.guard) != Bdd::FALSE;
                read = bdds.or(read, arrow.guard);
                again
            })
        };
        self.initial.len() <= 1 && !self.arrows.iter().any(&mut is_choice)
    }

    /// Joins the edges that differ in their guards only, and sorts them.
    pub(crate) fn merge_guards(&mut self, bdds: &mut Bdds) {
        for arrows in &mut self.arrows {
            let mut guard_by_rest: BTreeMap<(usize, Marks), Bdd> = BTreeMap::new();
            for arrow in arrows.iter() {
                let guard = guard_by_rest
                    .entry((arrow.target, arrow.marks))
                    .or_insert(Bdd::FALSE);
                *guard = bdds.or(*guard, arrow.guard);
            }
            *arrows = guard_by_rest
                .into_iter()
                .filter(|&(_, guard)| guard != Bdd::FALSE)
                .map(|((target, marks), guard)| Arrow {
                    guard,
                    marks,
                    target,
                })
                .collect();
        }
    }

    /// Is there no word that both accept? Nothing if the product would be large.
    pub(crate) fn is_disjoint(&self, other: &Self, bdds: &mut Bdds) -> Option<bool> {
        let n_marks = self.n_marks + other.n_marks;
        if n_marks > Marks::BITS {
            return None;
        }
        let mut states: Vec<(usize, usize)> = Vec::new();
        let mut index_by_state = FxHashMap::default();
        let mut index = |state: (usize, usize), states: &mut Vec<(usize, usize)>| {
            *index_by_state.entry(state).or_insert_with(|| {
                states.push(state);
                states.len() - 1
            })
        };
        let pairs = self.initial.iter();
        let pairs = pairs.flat_map(|&a| other.initial.iter().map(move |&b| (a, b)));
        let initial = pairs.map(|pair| index(pair, &mut states)).collect();

        let (mut arrows, mut work) = (Vec::new(), 0);
        while let Some(&(a, b)) = states.get(arrows.len()) {
            let mut row = Vec::new();
            work += self.arrows[a].len() * other.arrows[b].len();
            if work > MAX_PRODUCT {
                return None;
            }
            for one in &self.arrows[a] {
                for two in &other.arrows[b] {
                    let guard = bdds.and(one.guard, two.guard);
                    if guard != Bdd::FALSE {
                        row.push(Arrow {
                            guard,
                            marks: one.marks | two.marks.checked_shl(self.n_marks).unwrap_or(0),
                            target: index((one.target, two.target), &mut states),
                        });
                    }
                }
            }
            arrows.push(row);
        }

        // Only states from which some word is accepted are left by pruning.
        let mut product = Self {
            initial,
            arrows,
            n_marks,
        };
        product.prune();
        Some(product.arrows.is_empty() && !bdds.overflowed())
    }

    /// Turns every edge around.
    pub(crate) fn reverse(&mut self) {
        let mut reversed: Vec<Vec<Arrow>> = vec![Vec::new(); self.arrows.len()];
        for (source, arrows) in self.arrows.iter().enumerate() {
            for arrow in arrows {
                reversed[arrow.target].push(Arrow {
                    target: source,
                    ..*arrow
                });
            }
        }
        self.arrows = reversed;
    }

    /// Keeps the states for which `new_index` has a value, under that index.
    ///
    /// Several states may get the same index; the first of them gives it its edges.
    pub(crate) fn renumber(&mut self, new_index: &[Option<usize>]) {
        let n_new = new_index.iter().flatten().max().map_or(0, |last| last + 1);
        let mut arrows: Vec<Option<Vec<Arrow>>> = vec![None; n_new];
        for (old, old_arrows) in self.arrows.iter().enumerate() {
            let Some(new) = new_index[old] else { continue };
            arrows[new].get_or_insert_with(|| {
                let kept = old_arrows.iter().filter_map(|&arrow| {
                    new_index[arrow.target].map(|target| Arrow { target, ..arrow })
                });
                kept.collect()
            });
        }
        self.arrows = arrows.into_iter().map(Option::unwrap_or_default).collect();
        self.initial = self.initial.iter().filter_map(|&s| new_index[s]).collect();
        self.initial.sort_unstable();
        self.initial.dedup();
    }

    /// Removes the states that are unreachable or from which no word is accepted; the others are
    /// numbered in breadth-first order.
    pub(crate) fn prune(&mut self) {
        let components = self.components();
        let accepting = self.accepting(&components);
        // Components are numbered so that successors come first.
        let mut alive = accepting;
        let mut order: Vec<usize> = (0..self.arrows.len()).collect();
        order.sort_unstable_by_key(|&state| components.component[state]);
        for &state in &order {
            let reaches = self.arrows[state]
                .iter()
                .any(|arrow| alive[components.component[arrow.target]]);
            alive[components.component[state]] |= reaches;
        }

        let mut new_index = vec![None; self.arrows.len()];
        let mut queue: Vec<usize> = Vec::new();
        let mut visit = |state: usize, queue: &mut Vec<usize>| {
            if alive[components.component[state]] && new_index[state].is_none() {
                new_index[state] = Some(queue.len());
                queue.push(state);
            }
        };

        for &state in &self.initial {
            visit(state, &mut queue);
        }
        let mut position = 0;
        while position < queue.len() {
            for arrow in &self.arrows[queue[position]] {
                visit(arrow.target, &mut queue);
            }
            position += 1;
        }

        self.renumber(&new_index);
    }

    /// Which components contain a cycle that sees every mark.
    pub(crate) fn accepting(&self, components: &Components) -> Vec<bool> {
        let mut seen: Vec<Option<Marks>> = vec![None; components.n_components];
        for (state, arrows) in self.arrows.iter().enumerate() {
            let component = components.component[state];
            for arrow in arrows {
                if components.component[arrow.target] == component {
                    *seen[component].get_or_insert(0) |= arrow.marks;
                }
            }
        }
        let all = self.all_marks();
        seen.into_iter().map(|marks| marks == Some(all)).collect()
    }

    /// Tarjan's algorithm (*Depth-First Search and Linear Graph Algorithms*, SIAM J. Comput. 1(2),
    /// 1972, section 4, <https://doi.org/10.1137/0201010>) with an explicit stack.
    pub(crate) fn components(&self) -> Components {
        const UNSEEN: usize = usize::MAX;
        let n_states = self.arrows.len();
        let mut component = vec![UNSEEN; n_states];
        let (mut index, mut low) = (vec![UNSEEN; n_states], vec![UNSEEN; n_states]);
        let (mut n_seen, mut n_components) = (0, 0);
        let (mut path, mut open): (Vec<(usize, usize)>, Vec<usize>) = (Vec::new(), Vec::new());

        for root in 0..n_states {
            if index[root] == UNSEEN {
                path.push((root, 0));
            }
            while let Some((state, next)) = path.pop() {
                if next == 0 {
                    (index[state], low[state]) = (n_seen, n_seen);
                    n_seen += 1;
                    open.push(state);
                }
                if let Some(arrow) = self.arrows[state].get(next) {
                    path.push((state, next + 1));
                    if index[arrow.target] == UNSEEN {
                        path.push((arrow.target, 0));
                    } else if component[arrow.target] == UNSEEN {
                        low[state] = low[state].min(index[arrow.target]);
                    }
                    continue;
                }
                if low[state] == index[state] {
                    while let Some(member) = open.pop() {
                        component[member] = n_components;
                        if member == state {
                            break;
                        }
                    }
                    n_components += 1;
                }
                if let Some(&(parent, _)) = path.last() {
                    low[parent] = low[parent].min(low[state]);
                }
            }
        }

        Components {
            component,
            n_components,
        }
    }
}

/// The marks `0..n_marks`.
pub(crate) fn all_marks(n_marks: u32) -> Marks {
    match n_marks {
        0 => 0,
        _ => Marks::MAX >> (Marks::BITS - n_marks),
    }
}

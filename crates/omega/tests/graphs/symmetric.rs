//! Quotients against the graphs that they stand for, written down in full.
//!
//! Marks are those of up to four conditions that renamings permute, and two that they leave alone.
//! The covering is made here with its own arithmetic of permutations; small ones are decided by the
//! naive definition, others by the ordinary search, which `random.rs` compares with it.

use std::collections::HashMap;
use std::convert::Infallible;

use crate::oracle::{Arrow, Case, Random};
use base::bits;
use omega::{
    Acceptance, Closure, EdgeBuffer, ExplicitGraph, Graph, Lasso, LassoStep, MarkId, NodeId,
    Renaming, SymmetricAcceptance, SymmetricGraph, find_fair_cycle, find_fair_cycle_symmetric,
    symmetric_lasso,
};

/// What happens to each of the conditions.
type Permutation = [usize; 4];

const IDENTITY: Permutation = [0, 1, 2, 3];
/// The largest edge set that the naive definition is asked about.
const MAX_NAIVE_EDGES: usize = 13;

/// A set of marks: for each condition one for weak fairness and two for strong fairness.
#[derive(Clone, Copy, Debug, Default)]
struct Marks {
    weak: u8,
    enabled: u8,
    taken: u8,
    fixed: u8,
}

impl Marks {
    fn renamed(self, by: &Permutation) -> Self {
        let rename = |set: u8| (0..4).fold(0, |out, i| out | (set >> i & 1) << by[i]);
        Self {
            weak: rename(self.weak),
            enabled: rename(self.enabled),
            taken: rename(self.taken),
            fixed: self.fixed,
        }
    }

    fn union(self, other: Self) -> Self {
        Self {
            weak: self.weak | other.weak,
            enabled: self.enabled | other.enabled,
            taken: self.taken | other.taken,
            fixed: self.fixed | other.fixed,
        }
    }

    /// Dense numbers: weak, enabled, taken, fixed.
    fn bits(self) -> u64 {
        let [weak, enabled, taken, fixed] =
            [self.weak, self.enabled, self.taken, self.fixed].map(u64::from);
        weak | enabled << 4 | taken << 8 | fixed << 12
    }
}

/// The numbers that the search sees, in different words.
fn spread() -> Vec<u32> {
    let sections = [(0, 4), (64, 4), (60, 4), (130, 2)];
    let marks = sections.iter().flat_map(|&(first, n)| first..first + n);
    marks.collect()
}

fn mark(dense: usize) -> MarkId {
    MarkId(spread()[dense])
}

fn words(marks: Marks) -> Vec<u64> {
    let mut words = vec![0; 3];
    for dense in bits::iter(&[marks.bits()]) {
        bits::set(&mut words, mark(dense).index());
    }
    words
}

fn after(first: &Permutation, second: &Permutation) -> Permutation {
    [0, 1, 2, 3].map(|i| first[second[i]])
}

fn inverse(of: &Permutation) -> Permutation {
    let mut inverse = IDENTITY;
    for (old, new) in of.iter().enumerate() {
        inverse[*new] = old;
    }
    inverse
}

#[derive(Clone, Copy, Debug)]
struct SymmetricEdge {
    source: usize,
    target: usize,
    marks: Marks,
    renaming: Permutation,
}

/// A quotient.
#[derive(Clone, Debug)]
struct Quotient {
    initial: Vec<usize>,
    edges: Vec<SymmetricEdge>,
    /// Of the permutations.
    renamings: Vec<Renaming>,
}

impl Quotient {
    fn draw(random: &mut Random) -> Self {
        let n_conditions = 2 + random.below(3);
        // Components of large ones are looked at before they are complete.
        let (n_nodes, n_edges) = match random.below(10) {
            0 => (20 + random.below(40), 40 + random.below(80)),
            _ => (1 + random.below(4), 1 + random.below(8)),
        };
        let density = 1 + random.below(5);
        let n_moving = 1 + random.below(8);

        // What marks are called at each node; renamings that only translate lead back to the same
        // names.
        let names: Vec<Permutation> = (0..n_nodes)
            .map(|_| permutation(random, n_conditions))
            .collect();
        let translates = random.below(2) == 0;
        let edges = (0..n_edges).map(|_| {
            let (source, target) = (random.below(n_nodes), random.below(n_nodes));
            let renaming = match random.below(8) < n_moving {
                _ if translates && random.below(8) > 0 => {
                    after(&inverse(&names[source]), &names[target])
                }
                true => permutation(random, n_conditions),
                false => IDENTITY,
            };
            SymmetricEdge {
                source,
                target,
                renaming,
                marks: Marks {
                    weak: random.marks(n_conditions, density) as u8,
                    enabled: random.marks(n_conditions, 2) as u8,
                    taken: random.marks(n_conditions, 2) as u8,
                    fixed: random.marks(2, 4) as u8,
                },
            }
        });

        let edges: Vec<SymmetricEdge> = edges.collect();
        let renaming = |edge: &SymmetricEdge| {
            let pairs = (0..12).map(|dense| {
                let (section, condition) = (dense / 4 * 4, dense % 4);
                (mark(dense), mark(section + edge.renaming[condition]))
            });
            Renaming::new(pairs)
        };

        Self {
            initial: (0..=random.below(2))
                .map(|_| random.below(n_nodes))
                .collect(),
            renamings: edges.iter().map(renaming).collect(),
            edges,
        }
    }

    /// The edges that leave a node, with their numbers.
    fn leaving(&self, node: usize) -> impl Iterator<Item = (usize, &SymmetricEdge)> {
        let edges = self.edges.iter().enumerate();
        edges.filter(move |(_, edge)| edge.source == node)
    }

    /// The covering, as far as it can be reached.
    fn covering(&self) -> Case {
        let mut numbers = HashMap::new();
        let mut pairs = Vec::new();
        let mut number = |pair: (usize, Permutation), pairs: &mut Vec<(usize, Permutation)>| {
            *numbers.entry(pair).or_insert_with(|| {
                pairs.push(pair);
                pairs.len() - 1
            })
        };

        for &node in &self.initial {
            number((node, IDENTITY), &mut pairs);
        }
        let n_initial = pairs.len();
        let mut edges = Vec::new();
        let mut source = 0;

        while source < pairs.len() {
            let (node, frame) = pairs[source];
            for (step, edge) in self.leaving(node) {
                let behind = (edge.target, after(&frame, &edge.renaming));
                let target = number(behind, &mut pairs);
                edges.push(Arrow {
                    source,
                    step: step as u32,
                    target,
                    marks: edge.marks.renamed(&frame).bits(),
                });
            }
            source += 1;
        }

        Case {
            n_nodes: pairs.len(),
            initial: (0..n_initial).collect(),
            edges,
            origins: (0..pairs.len() as u32).collect(),
            n_steps: vec![self.edges.len() as u32; pairs.len()],
            spread: spread(),
        }
    }

    /// Follows the lasso, its cycle until everything is as at its beginning, and compares it with
    /// what it should be. Returns how many rounds that takes.
    fn check_lasso(&self, lasso: &Lasso, acceptance: &Acceptance) -> usize {
        let context = format!("{self:?} {acceptance:?} {lasso:?}");
        let mut node = lasso.stem.first().unwrap_or(&lasso.cycle[0]).source;
        assert!(self.initial.contains(&node.index()), "no start: {context}");

        let mut frame = IDENTITY;
        let mut marks = Marks::default();
        let mut follow = |steps: &[LassoStep], marks: &mut Marks| {
            for step in steps {
                assert_eq!(step.source, node, "gap: {context}");
                let mut leaving = self.leaving(node.index());
                let (_, edge) = leaving.nth(step.position as usize).expect("an edge");
                assert_eq!(step.target.index(), edge.target, "{context}");
                *marks = marks.union(edge.marks.renamed(&frame));
                frame = after(&frame, &edge.renaming);
                node = step.target;
            }
            (node, frame)
        };

        let begin = follow(&lasso.stem, &mut Marks::default());
        for n_rounds in 1.. {
            if follow(&lasso.cycle, &mut marks) == begin {
                assert!(acceptance.accepts(&words(marks)), "not fair: {context}");
                return n_rounds;
            }
        }

        unreachable!("permutations come back");
    }
}

fn permutation(random: &mut Random, n: usize) -> Permutation {
    let mut images = IDENTITY;
    for position in (1..n).rev() {
        images.swap(position, random.below(position + 1));
    }
    images
}

impl Graph for Quotient {
    type Stop = Infallible;

    fn n_mark_words(&self) -> usize {
        3
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Infallible> {
        out.extend(self.initial.iter().copied().map(NodeId::new));
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Infallible> {
        for (number, edge) in self.leaving(node.index()) {
            out.push(NodeId::new(edge.target), number as u32, &words(edge.marks));
        }
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        node.0
    }

    fn n_steps(&mut self, _node: NodeId) -> Result<u32, Infallible> {
        Ok(self.edges.len() as u32)
    }

    fn out_of_numbers(&self) -> Infallible {
        unreachable!("the graph is small")
    }
}

impl SymmetricGraph for Quotient {
    fn symmetric_successors(
        &mut self,
        node: NodeId,
        out: &mut EdgeBuffer,
        renamings: &mut Vec<u32>,
    ) -> Result<(), Infallible> {
        let before = out.len();
        self.successors(node, out)?;
        renamings.extend((before..out.len()).map(|edge| out.step(edge)));
        Ok(())
    }

    fn renaming(&self, number: u32) -> &Renaming {
        &self.renamings[number as usize]
    }
}

fn draw_acceptance(random: &mut Random) -> SymmetricAcceptance {
    let is_weak = random.below(2) == 0;
    let is_strong = !is_weak || random.below(3) == 0;
    let fixed = match random.below(3) {
        0 => Acceptance::True,
        _ => random.acceptance(&spread()[12..], 2),
    };
    SymmetricAcceptance {
        infinitely: if is_weak {
            (0..4).map(mark).collect()
        } else {
            vec![]
        },
        pairs: if is_strong {
            (4..8).map(|dense| (mark(dense), mark(dense + 4))).collect()
        } else {
            vec![]
        },
        fixed,
    }
}

/// Is there an accepted component above the quotient?
fn expected(covering: &Case, acceptance: &Acceptance) -> (bool, bool) {
    if covering.edges.len() <= MAX_NAIVE_EDGES {
        let sets = covering.recurrent_sets(Closure::None);
        let found = covering.check(acceptance, Closure::None, &sets);
        return (found.is_some(), true);
    }
    let mut graph: ExplicitGraph = covering.graph();
    let search = find_fair_cycle(&mut graph, acceptance, Closure::None, &mut |_| Ok(()));
    let Ok(found) = search.result;
    (found.is_some(), false)
}

/// How many conditions the acceptance is about: marks of conditions that no edge has are wanted
/// infinitely often all the same, so all must be there.
fn with_all_conditions(mut quotient: Quotient) -> Quotient {
    let all = quotient.edges.iter().fold(0, |all, edge| {
        all | edge.marks.weak | edge.marks.enabled | edge.marks.taken
    });
    let n_conditions = 8 - all.leading_zeros();
    for edge in &mut quotient.edges {
        edge.marks.weak |= 0xF << n_conditions & 0xF;
    }
    quotient
}

#[test]
fn symmetric_components_are_those_that_have_fair_ones_above_them() {
    let mut random = Random(0x7EAD);
    let mut n_repeated = 0;
    let mut counts: HashMap<(bool, bool, bool), usize> = HashMap::new();
    for _ in 0..40_000 {
        let mut quotient = with_all_conditions(Quotient::draw(&mut random));
        let covering = quotient.covering();
        let acceptance = draw_acceptance(&mut random);
        let formula = acceptance.formula();
        let (expected, is_naive) = expected(&covering, &formula);
        let search = find_fair_cycle_symmetric(&mut quotient, &acceptance, &mut |_| Ok(()));
        let Ok(found) = search.result;
        assert_eq!(found.is_some(), expected, "{quotient:?} {acceptance:?}");
        // A reading of the quotient as if it were an ordinary graph.
        let plain = find_fair_cycle(&mut quotient, &formula, Closure::None, &mut |_| Ok(()));
        let Ok(plain) = plain.result;
        *counts
            .entry((is_naive, expected, plain.is_some()))
            .or_default() += 1;
        if let Some(component) = found {
            // With and without looking for a short one.
            let effort = [0, 10, 1000][random.below(3)];
            let observe = &mut |_: &_| Ok(());
            let lasso = symmetric_lasso(&mut quotient, component, &acceptance, effort, observe);
            let Ok(lasso) = lasso;
            let n_rounds = quotient.check_lasso(&lasso, &formula);
            assert!(effort < 1000 || n_rounds == 1);
            n_repeated += usize::from(n_rounds > 1);
        }
    }

    assert!(n_repeated >= 500, "{n_repeated}");
    // All answers, and those that differ from the reading without renamings.
    for (case, least) in [
        ((true, true, true), 1000),
        ((true, false, false), 1000),
        ((true, true, false), 100),
        ((true, false, true), 50),
        ((false, true, true), 1000),
        ((false, false, false), 1000),
        ((false, true, false), 100),
        ((false, false, true), 5),
    ] {
        assert!(
            counts.get(&case).is_some_and(|n| *n >= least),
            "{case:?} {counts:?}"
        );
    }
}

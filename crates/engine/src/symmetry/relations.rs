//! States in which indices are told apart by how they are related to each other: `sent[i][j]`,
//! `vote[i] == j`, sets and maps of processes that each process has.
//!
//! Sorting the indices by what a state says about each alone does not put such a state into order.
//! Here indices have *colours*, which are refined by what the state says about an index and the
//! colours of those that it is related to, until nothing changes. Where two still have one colour,
//! each of them is tried as the first, and the least of all states that come out is the
//! representative, as in programs that compare graphs (B. McKay, "Practical graph isomorphism",
//! Congressus Numerantium 30, 1981, pages 45 to 87). Colours are hashes: where two of them are equal by
//! accident, more is tried than needed.
//!
//! Indices that can be exchanged without changing the state lead to the same states, so one of them
//! is tried. If there is still too much to be tried, the least state so far is taken: then a class may
//! have several representatives, which costs states and nothing else.

use crate::layout::Layout;

use super::permutation::{Moved, Permutation, permute};
use super::{Class, Symmetry};

/// How many orders of the indices are tried for a state at most.
const MAX_ORDERS: usize = 512;

/// Stands for indices that no permutation moves.
const NO_NODE: u32 = u32::MAX;

/// Classes of indices that are related to each other or to themselves.
#[derive(Debug)]
pub(super) struct Relations {
    /// The positions of the classes in [`Symmetry`], and the node of the first member of each.
    classes: Vec<(usize, usize)>,
    n_nodes: usize,
    facts: Vec<Fact>,
    /// By sort: its first index, and the node of each from there on.
    nodes: Vec<(i64, Vec<u32>)>,
}

/// A field that says something about some indices.
#[derive(Debug)]
struct Fact {
    /// Its position in [`Symmetry::moved`].
    moved: usize,
    /// The same for all fields that permutations map to each other.
    kind: u64,
    /// The nodes of its coordinates.
    nodes: Vec<u32>,
    /// Can its value be one of the indices?
    has_index: bool,
}

/// Buffers that are reused from state to state.
#[derive(Clone, Debug, Default)]
pub(super) struct RelationScratch {
    colours: Vec<u64>,
    sums: Vec<u64>,
    distinct: Vec<u64>,
    image: Vec<u64>,
    best: Vec<u64>,
    /// By node: which member takes its place in the best state so far.
    best_order: Vec<u32>,
    order: Vec<u32>,
    n_orders: usize,
}

impl Relations {
    /// The relations between classes of indices; nothing if there are none.
    pub(super) fn new(classes: &[Class], moved: &[Moved], ranges: &[(i64, i64)]) -> Option<Self> {
        let of_sort = |sort| (0..classes.len()).filter(move |&at| classes[at].sort == sort);
        let of_index = |sort, index: i64| {
            of_sort(sort).find(|&at| classes[at].members.binary_search(&index).is_ok())
        };
        let mut is_related = vec![false; classes.len()];
        for field in moved {
            let coordinates = field.coordinates.iter();
            let mut met: Vec<usize> = coordinates
                .filter_map(|(sort, index, _)| of_index(*sort, *index))
                .collect();
            let n_coordinates = met.len();
            met.extend(field.sort.into_iter().flat_map(of_sort));
            let has_index = met.len() > n_coordinates;
            if n_coordinates + usize::from(has_index) > 1 {
                met.iter().for_each(|class| is_related[*class] = true);
            }
        }

        let mut relations = Self {
            classes: Vec::new(),
            n_nodes: 0,
            facts: Vec::new(),
            nodes: ranges.iter().map(|&(lo, hi)| blank(lo, hi)).collect(),
        };
        for (position, class) in classes.iter().enumerate() {
            if is_related[position] {
                relations.add_class(position, class);
            }
        }
        relations.add_facts(moved);
        (relations.n_nodes > 0).then_some(relations)
    }

    fn add_class(&mut self, position: usize, class: &Class) {
        self.classes.push((position, self.n_nodes));
        let (lo, nodes) = &mut self.nodes[class.sort];
        for member in &class.members {
            nodes[(member - *lo) as usize] = self.n_nodes as u32;
            self.n_nodes += 1;
        }
    }

    fn add_facts(&mut self, moved: &[Moved]) {
        for (position, field) in moved.iter().enumerate() {
            let (mut kind, mut nodes) = (i64::from(field.field), Vec::new());
            for &(sort, index, stride) in &field.coordinates {
                let node = self.node(sort, index);
                if node != NO_NODE {
                    kind -= index * stride;
                    nodes.push(node);
                }
            }
            let has_index = field.sort.is_some_and(|sort| {
                let (_, of_sort) = &self.nodes[sort];
                of_sort.iter().any(|node| *node != NO_NODE)
            });
            if has_index || !nodes.is_empty() {
                self.facts.push(Fact {
                    moved: position,
                    kind: kind as u64,
                    nodes,
                    has_index,
                });
            }
        }
    }

    /// Does it put the members of this class into order?
    pub(super) fn concerns(&self, class: usize) -> bool {
        self.classes.iter().any(|(position, _)| *position == class)
    }

    fn node(&self, sort: usize, index: i64) -> u32 {
        let (lo, nodes) = &self.nodes[sort];
        let position = usize::try_from(index.wrapping_sub(*lo)).ok();
        let node = position.and_then(|position| nodes.get(position));
        node.copied().unwrap_or(NO_NODE)
    }

    /// Brings a state into order. If asked for, tells by which permutation.
    pub(super) fn sort_state(
        &self,
        symmetry: &Symmetry,
        layout: &Layout,
        words: &mut [u64],
        scratch: &mut RelationScratch,
        applied: Option<&mut Permutation>,
    ) {
        let mut colours = std::mem::take(&mut scratch.colours);
        colours.clear();
        for (position, first) in &self.classes {
            let n_members = symmetry.classes[*position].members.len();
            colours.resize(first + n_members, mix(1, *position as u64));
        }
        scratch.n_orders = 0;

        let mut search = Search {
            relations: self,
            symmetry,
            layout,
            words,
            permutation: symmetry.identity(),
            scratch,
        };
        search.refine(&mut colours);
        search.visit(&colours);

        words.copy_from_slice(&scratch.best);
        scratch.colours = colours;
        if let Some(applied) = applied {
            self.set_order(symmetry, &scratch.best_order, applied);
        }
    }

    /// Lets a permutation bring members into this order.
    fn set_order(&self, symmetry: &Symmetry, order: &[u32], permutation: &mut Permutation) {
        for (position, first) in &self.classes {
            let class = &symmetry.classes[*position];
            let of_class = &order[*first..first + class.members.len()];
            for (place, old) in of_class.iter().enumerate() {
                let old = class.members[*old as usize - first];
                permutation.set(class.sort, old, class.members[place]);
            }
        }
    }
}

fn blank(lo: i64, hi: i64) -> (i64, Vec<u32>) {
    (lo, (lo..=hi).map(|_| NO_NODE).collect())
}

/// The search for the representative of a state.
struct Search<'a> {
    relations: &'a Relations,
    symmetry: &'a Symmetry,
    layout: &'a Layout,
    words: &'a [u64],
    permutation: Permutation,
    scratch: &'a mut RelationScratch,
}

impl Search<'_> {
    /// Tells indices apart by what they are related to, as far as that goes.
    fn refine(&mut self, colours: &mut [u64]) {
        let mut n_colours = self.n_distinct(colours);
        while n_colours < colours.len() {
            self.scratch.sums.clear();
            self.scratch.sums.resize(colours.len(), 0);
            for fact in &self.relations.facts {
                self.weigh(fact, colours);
            }
            let sums = self.scratch.sums.iter();
            for (colour, sum) in colours.iter_mut().zip(sums) {
                *colour = mix(*colour, *sum);
            }
            let n_before = n_colours;
            n_colours = self.n_distinct(colours);
            if n_colours <= n_before {
                break;
            }
        }
    }

    /// Adds what a fact says to the sums of the indices that it is about.
    fn weigh(&mut self, fact: &Fact, colours: &[u64]) {
        let moved = &self.symmetry.moved[fact.moved];
        let field = &self.layout.fields[moved.field as usize];
        let raw = field.raw(self.words);
        let mut value = NO_NODE;
        if let (true, Some(sort)) = (fact.has_index, moved.sort)
            && moved.is_used(self.layout, self.words)
        {
            value = self.relations.node(sort, field.get(self.words));
        }
        // Most cells of sets and maps are zero; that says nothing.
        if value == NO_NODE && raw == 0 {
            return;
        }

        let mut hash = mix(fact.kind, 2);
        for (place, node) in fact.nodes.iter().enumerate() {
            hash = mix(hash, colours[*node as usize]);
            let first = fact.nodes.iter().position(|other| other == node);
            hash = mix(hash, first.unwrap_or(place) as u64);
        }
        if value == NO_NODE {
            hash = mix(hash, raw.wrapping_add(1));
        } else {
            hash = mix(hash, colours[value as usize]);
            let same = fact.nodes.iter().position(|other| *other == value);
            hash = mix(hash, same.map_or(0, |place| place as u64 + 1));
            let sum = &mut self.scratch.sums[value as usize];
            *sum = sum.wrapping_add(mix(hash, u64::MAX));
        }
        for (place, node) in fact.nodes.iter().enumerate() {
            let sum = &mut self.scratch.sums[*node as usize];
            *sum = sum.wrapping_add(mix(hash, place as u64));
        }
    }

    fn n_distinct(&mut self, colours: &[u64]) -> usize {
        let distinct = &mut self.scratch.distinct;
        distinct.clear();
        distinct.extend_from_slice(colours);
        distinct.sort_unstable();
        distinct.dedup();
        distinct.len()
    }

    /// Tries all orders of indices that the colours leave open.
    fn visit(&mut self, colours: &[u64]) {
        let Some(alike) = self.first_alike(colours) else {
            self.finish(colours);
            return;
        };

        let mut tried: Vec<usize> = Vec::new();
        for node in alike {
            if self.scratch.n_orders >= MAX_ORDERS {
                return;
            }
            if tried.iter().any(|other| self.are_twins(*other, node)) {
                continue;
            }
            tried.push(node);
            let mut refined = colours.to_vec();
            refined[node] = mix(refined[node], 3);
            self.refine(&mut refined);
            self.visit(&refined);
        }
    }

    /// The nodes with the least colour that several of a class have.
    fn first_alike(&self, colours: &[u64]) -> Option<Vec<usize>> {
        for (position, first) in &self.relations.classes {
            let nodes = *first..first + self.symmetry.classes[*position].members.len();
            let of_colour =
                |colour: u64| nodes.clone().filter(move |node| colours[*node] == colour);
            let shared = nodes.clone().map(|node| colours[node]);
            let shared = shared.filter(|colour| of_colour(*colour).count() > 1);
            if let Some(least) = shared.min() {
                return Some(of_colour(least).collect());
            }
        }
        None
    }

    /// The state with its indices in the order of their colours, if it is less than the others.
    fn finish(&mut self, colours: &[u64]) {
        let Self {
            relations,
            symmetry,
            ..
        } = *self;
        let order = &mut self.scratch.order;
        order.clear();
        for (position, first) in &relations.classes {
            let n_members = symmetry.classes[*position].members.len();
            order.extend((*first..first + n_members).map(|node| node as u32));
            order[*first..].sort_by_key(|node| colours[*node as usize]);
        }
        relations.set_order(symmetry, order, &mut self.permutation);
        self.permuted();

        let scratch = &mut *self.scratch;
        if scratch.n_orders == 0 || scratch.image < scratch.best {
            std::mem::swap(&mut scratch.best, &mut scratch.image);
            std::mem::swap(&mut scratch.best_order, &mut scratch.order);
        }
        scratch.n_orders += 1;
    }

    /// Is the state the same if two indices of a class are exchanged?
    fn are_twins(&mut self, one: usize, other: usize) -> bool {
        let classes = self.relations.classes.iter().rev();
        let mut class = classes.filter(|(_, first)| *first <= one);
        let (position, first) = class.next().expect("every node is of a class");
        let class = &self.symmetry.classes[*position];
        let (one, other) = (class.members[one - first], class.members[other - first]);

        self.permutation = self.symmetry.identity();
        self.permutation.set(class.sort, one, other);
        self.permutation.set(class.sort, other, one);
        self.permuted();
        self.scratch.image == *self.words
    }

    fn permuted(&mut self) {
        let facts = self.relations.facts.iter();
        let moved = facts.map(|fact| &self.symmetry.moved[fact.moved]);
        self.scratch.image.resize(self.words.len(), 0);
        permute(
            self.layout,
            moved,
            &self.permutation,
            self.words,
            &mut self.scratch.image,
        );
    }
}

/// A number that depends on both.
fn mix(one: u64, other: u64) -> u64 {
    let mixed = (one.rotate_left(29) ^ other).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    (mixed ^ (mixed >> 32)).wrapping_mul(0xd6e8_feb8_6659_fd93)
}

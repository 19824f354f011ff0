//! Numbers and reasons: why no component of the product has a run that is looked for.
//!
//! E. A. Emerson, C.-L. Lei, "Modalities for model checking: branching time strikes back", POPL 1985,
//! section 4, in the recursive form that is usual today: a strongly connected component whose marks
//! satisfy the acceptance is a run; one whose marks cannot satisfy it is refuted; of any other, a mark
//! that must not recur is removed, and what remains is looked at again.

use base::{Budget, bits};
use certify::{Acceptance, MAX_DEPTH, Reason};
use rustc_hash::FxHashMap;

use super::Uncertified;
use super::graph::{Edge, Product};

/// Why there is no run.
pub(super) struct Refutation {
    pub(super) reasons: Vec<Reason>,
    /// The path of each node.
    pub(super) paths: Vec<Vec<u32>>,
}

/// Finds the numbers and reasons.
pub(super) fn refute(product: &Product<'_>, budget: &Budget) -> Result<Refutation, Uncertified> {
    let n_nodes = product.n_nodes();
    let (mut wanted, mut unwanted) = (Vec::new(), Vec::new());
    collect_marks(&product.marks.acceptance, &mut wanted, &mut unwanted);
    let mut refuter = Refuter {
        product,
        budget,
        wanted,
        unwanted,
        paths: vec![Vec::new(); n_nodes],
        group: vec![0; n_nodes],
        n_groups: 1,
        number: vec![0; n_nodes],
        index: vec![0; n_nodes],
        low: vec![0; n_nodes],
    };
    let everything = Subset {
        nodes: (0..n_nodes as u32).collect(),
        group: 0,
        cut: product.marks.empty(),
    };
    let facts = Facts {
        absent: product.marks.empty(),
        infinite: product.marks.empty(),
    };
    let reasons = refuter.split(everything, &facts, 0)?;
    Ok(Refutation {
        reasons,
        paths: refuter.paths,
    })
}

fn collect_marks(acceptance: &Acceptance, wanted: &mut Vec<usize>, unwanted: &mut Vec<usize>) {
    match acceptance {
        Acceptance::Inf(mark) => wanted.push(*mark),
        Acceptance::Fin(mark) if unwanted.contains(mark) => {}
        Acceptance::Fin(mark) => unwanted.push(*mark),
        Acceptance::All(parts) | Acceptance::Any(parts) => {
            let parts = parts.iter();
            parts.for_each(|part| collect_marks(part, wanted, unwanted));
        }
    }
}

/// Some nodes, and the edges between them that carry no mark of `cut`.
struct Subset {
    nodes: Vec<u32>,
    /// The nodes are those of this group.
    group: u32,
    cut: Vec<u64>,
}

/// What is known about the marks of the runs in question.
#[derive(Clone)]
struct Facts {
    absent: Vec<u64>,
    infinite: Vec<u64>,
}

struct Refuter<'a> {
    product: &'a Product<'a>,
    budget: &'a Budget,
    /// The marks that occur in the acceptance as `Inf` and `Fin`.
    wanted: Vec<usize>,
    unwanted: Vec<usize>,
    paths: Vec<Vec<u32>>,
    /// To which set of nodes a node belongs at the moment.
    group: Vec<u32>,
    n_groups: u32,
    /// The number of a node in the subset that is being split.
    number: Vec<u32>,
    /// For the search for components.
    index: Vec<u32>,
    low: Vec<u32>,
}

/// The numbers that are given so far, with their reasons.
struct NumberedReasons {
    reasons: Vec<Reason>,
    /// The numbers whose reason is the absence of this mark, in ascending order.
    numbers_of_mark: FxHashMap<u32, Vec<u32>>,
}

impl Refuter<'_> {
    /// Numbers the components of a subset and refutes each. Numbers are appended to the paths.
    fn split(
        &mut self,
        subset: Subset,
        facts: &Facts,
        depth: usize,
    ) -> Result<Vec<Reason>, Uncertified> {
        if depth > MAX_DEPTH {
            let why = "the reasons are nested too deeply";
            return Err(Uncertified::Unsupported(why.to_owned()));
        }
        let spent = self.budget.check(0, 0);
        spent.map_err(Uncertified::Stopped)?;

        // Components come after those that can be reached from them, so numbers do not increase.
        let mut parts = NumberedReasons {
            reasons: Vec::new(),
            numbers_of_mark: FxHashMap::default(),
        };
        for nodes in self.components(&subset) {
            let inner = self.new_group(&nodes);
            let component = Subset {
                nodes,
                group: inner,
                cut: subset.cut.clone(),
            };
            let below = self.highest_below(&component, subset.group);
            let number = self.refute_component(&component, facts, depth, below, &mut parts)?;
            for node in &component.nodes {
                self.group[*node as usize] = subset.group;
                self.number[*node as usize] = number;
            }
        }
        Ok(parts.reasons)
    }

    fn new_group(&mut self, nodes: &[u32]) -> u32 {
        let group = self.n_groups;
        self.n_groups += 1;
        for node in nodes {
            self.group[*node as usize] = group;
        }
        group
    }

    fn carried(&self, edge: &Edge) -> &[u64] {
        &self.product.mark_sets[edge.marks as usize]
    }

    /// The edges of a subset that leave a node.
    fn inner<'s>(&'s self, subset: &'s Subset, node: u32) -> impl Iterator<Item = &'s Edge> + 's {
        let is_inner = move |edge: &&Edge| {
            self.group[edge.target as usize] == subset.group
                && !bits::intersects(self.carried(edge), &subset.cut)
        };
        self.product.edges(node).iter().filter(is_inner)
    }

    /// The edges that lead from a component to other components of the subset around it: the number of
    /// the target, and the marks.
    fn leaving<'s>(
        &'s self,
        component: &'s Subset,
        around: u32,
    ) -> impl Iterator<Item = (u32, &'s [u64])> + 's {
        let edges = component.nodes.iter().flat_map(|n| self.product.edges(*n));
        let leaves = move |edge: &&Edge| {
            self.group[edge.target as usize] == around
                && !bits::intersects(self.carried(edge), &component.cut)
        };
        edges.filter(leaves).map(move |edge| {
            let number = self.number[edge.target as usize];
            (number, self.carried(edge))
        })
    }

    /// The highest number that an edge out of the component leads to, and the marks of the edges
    /// that lead there.
    fn highest_below(&self, component: &Subset, around: u32) -> Option<(u32, Vec<u64>)> {
        let mut highest: Option<(u32, Vec<u64>)> = None;
        for (number, marks) in self.leaving(component, around) {
            match &mut highest {
                Some((known, union)) if *known == number => {
                    bits::union_into(union, marks);
                }
                Some((known, _)) if *known > number => {}
                _ => highest = Some((number, marks.to_vec())),
            }
        }
        highest
    }

    /// Gives a component a number and a reason.
    fn refute_component(
        &mut self,
        component: &Subset,
        facts: &Facts,
        depth: usize,
        below: Option<(u32, Vec<u64>)>,
        parts: &mut NumberedReasons,
    ) -> Result<u32, Uncertified> {
        let union = self.union(component);
        // A number may be shared as long as its mark is absent from all edges between its nodes.
        let shared = self.shared_number(&union, below.as_ref(), parts);
        let number = shared.unwrap_or(parts.reasons.len() as u32);
        for node in &component.nodes {
            self.paths[*node as usize].push(number);
        }
        if shared.is_none() {
            let reason = self.reason(component, &union, facts, depth)?;
            if let Reason::Absent(marks) = &reason
                && let [mark] = marks[..]
            {
                parts.numbers_of_mark.entry(mark).or_default().push(number);
            }
            parts.reasons.push(reason);
        }
        Ok(number)
    }

    /// The least number that is given already and fits, if there is one.
    fn shared_number(
        &self,
        union: &[u64],
        below: Option<&(u32, Vec<u64>)>,
        parts: &NumberedReasons,
    ) -> Option<u32> {
        let mut least: Option<u32> = None;
        for (mark, numbers) in &parts.numbers_of_mark {
            let mark = *mark as usize;
            if bits::get(union, mark) {
                continue;
            }
            // The number below fits only if the edges that lead there do not carry the mark.
            let first = match below {
                None => 0,
                Some((highest, marks)) => *highest + u32::from(bits::get(marks, mark)),
            };
            let position = numbers.partition_point(|number| *number < first);
            let found = numbers.get(position).copied();
            least = least.into_iter().chain(found).min();
        }
        least
    }

    /// All marks of the edges of a subset.
    fn union(&self, subset: &Subset) -> Vec<u64> {
        let mut union = self.product.marks.empty();
        for node in &subset.nodes {
            for edge in self.inner(subset, *node) {
                bits::union_into(&mut union, self.carried(edge));
            }
        }
        union
    }

    /// Why a component has no run that is looked for. Further numbers are appended to the paths.
    fn reason(
        &mut self,
        component: &Subset,
        union: &[u64],
        facts: &Facts,
        depth: usize,
    ) -> Result<Reason, Uncertified> {
        let acceptance = &self.product.marks.acceptance;
        let mut known = facts.clone();
        let missing = self.wanted.iter().filter(|mark| !bits::get(union, **mark));
        let missing: Vec<usize> = missing.copied().collect();
        missing
            .iter()
            .for_each(|m| bits::set(&mut known.absent, *m));
        if !acceptance.is_possible(&known.absent, &known.infinite) {
            let absent = self.enough(&missing, facts, None);
            return Ok(Reason::Absent(absent));
        }

        if self.product.marks.is_strong_global && self.add_distances(component) {
            return Ok(Reason::Unclosed);
        }

        // Marks that cannot recur are removed at once.
        let is_carried = |mark: &&usize| bits::get(union, **mark);
        let present: Vec<usize> = self.unwanted.iter().filter(is_carried).copied().collect();
        let with = |mark: usize| {
            let mut infinite = known.infinite.clone();
            bits::set(&mut infinite, mark);
            infinite
        };
        let refuted = |mark: &&usize| !acceptance.is_possible(&known.absent, &with(**mark));
        let refuted: Vec<usize> = present.iter().filter(refuted).copied().collect();
        if !refuted.is_empty() {
            let refuted = self.few_on_all_edges(component, refuted);
            let mut absent: Vec<u32> = Vec::new();
            for mark in &refuted {
                absent.extend(self.enough(&missing, facts, Some(*mark)));
            }
            absent.sort_unstable();
            absent.dedup();
            // The checker knows of the marks that are named, not of all that are missing.
            let mut told = facts.clone();
            absent
                .iter()
                .for_each(|m| bits::set(&mut told.absent, *m as usize));
            let parts = self.without(component, &refuted, &told, depth)?;
            let marks = refuted.iter().map(|mark| *mark as u32).collect();
            return Ok(Reason::Cut {
                absent,
                marks,
                parts,
            });
        }

        let is_open = |mark: &&usize| !bits::get(&known.infinite, **mark);
        let Some(mark) = present.iter().find(is_open).copied() else {
            let why = "a component of the product has a fair run that violates the property";
            return Err(Uncertified::Contradicted(why.to_owned()));
        };
        if depth + 1 > MAX_DEPTH {
            let why = "the reasons are nested too deeply";
            return Err(Uncertified::Unsupported(why.to_owned()));
        }
        let recurring = Facts {
            absent: facts.absent.clone(),
            infinite: with(mark),
        };
        let infinite = self.reason(component, union, &recurring, depth + 1)?;
        let parts = self.without(component, &[mark], facts, depth)?;
        Ok(Reason::Case {
            mark: mark as u32,
            infinite: Box::new(infinite),
            parts,
        })
    }

    /// If every edge of a component carries one of the marks, a few of them of which that is true, too;
    /// else the marks. So short lists stand in the file.
    fn few_on_all_edges(&self, component: &Subset, marks: Vec<usize>) -> Vec<usize> {
        let nodes = component.nodes.iter();
        let edges = nodes.flat_map(|node| self.inner(component, *node));
        let mut sets: Vec<u32> = edges.map(|edge| edge.marks).collect();
        sets.sort_unstable();
        sets.dedup();

        let mut few = Vec::new();
        while !sets.is_empty() {
            let carries = |set: &u32, mark| bits::get(&self.product.mark_sets[*set as usize], mark);
            let n_edges = |mark: usize| sets.iter().filter(|set| carries(set, mark)).count();
            let most = marks.iter().copied().max_by_key(|mark| n_edges(*mark));
            let Some(mark) = most.filter(|mark| n_edges(*mark) > 0) else {
                return marks;
            };
            sets.retain(|set| !carries(set, mark));
            few.push(mark);
        }
        few.sort_unstable();
        few
    }

    /// Numbers what remains of a component without some marks.
    fn without(
        &mut self,
        component: &Subset,
        removed: &[usize],
        facts: &Facts,
        depth: usize,
    ) -> Result<Vec<Reason>, Uncertified> {
        let mut rest = Subset {
            nodes: component.nodes.clone(),
            group: component.group,
            cut: component.cut.clone(),
        };
        let mut facts = facts.clone();
        for mark in removed {
            bits::set(&mut rest.cut, *mark);
            bits::set(&mut facts.absent, *mark);
        }
        self.split(rest, &facts, depth + 1)
    }

    /// Some of the missing marks that are enough to refute, together with the facts and, if given, the
    /// recurrence of a mark. Mostly one is.
    fn enough(&self, missing: &[usize], facts: &Facts, recurs: Option<usize>) -> Vec<u32> {
        let acceptance = &self.product.marks.acceptance;
        let mut infinite = facts.infinite.clone();
        recurs.iter().for_each(|m| bits::set(&mut infinite, *m));
        let refutes = |marks: &[usize]| {
            let mut absent = facts.absent.clone();
            marks.iter().for_each(|m| bits::set(&mut absent, *m));
            !acceptance.is_possible(&absent, &infinite)
        };
        let numbers = |marks: &[usize]| marks.iter().map(|mark| *mark as u32).collect();
        if refutes(&[]) {
            return Vec::new();
        }
        if let Some(one) = missing.iter().find(|mark| refutes(&[**mark])) {
            return numbers(&[*one]);
        }
        let mut needed = missing.to_vec();
        let mut position = 0;
        while position < needed.len() {
            let mut fewer = needed.clone();
            fewer.remove(position);
            if refutes(&fewer) {
                needed = fewer;
            } else {
                position += 1;
            }
        }
        numbers(&needed)
    }

    /// If some step of a state of the component is not in it, appends to the paths how many steps
    /// each state is away from such a state, and says so.
    fn add_distances(&mut self, component: &Subset) -> bool {
        let mut steps_inside: FxHashMap<u32, Vec<bool>> = FxHashMap::default();
        for node in &component.nodes {
            let state = self.product.state(*node);
            let n_steps = self.product.successors(state).count();
            let inside = steps_inside
                .entry(state)
                .or_insert_with(|| vec![false; n_steps]);
            for edge in self.inner(component, *node) {
                inside[edge.step as usize] = true;
            }
        }

        let is_open = |inside: &[bool]| inside.iter().any(|is_inside| !is_inside);
        let open = steps_inside.iter().filter(|(_, inside)| is_open(inside));
        let mut distances: FxHashMap<u32, u32> = open.map(|(state, _)| (*state, 0)).collect();
        if distances.is_empty() {
            return false;
        }

        // Against the direction of the steps.
        let mut before: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for state in steps_inside.keys() {
            for target in self.product.successors(*state) {
                if steps_inside.contains_key(&target) {
                    before.entry(target).or_default().push(*state);
                }
            }
        }
        let mut queue: Vec<u32> = distances.keys().copied().collect();
        let mut next = 0;
        while next < queue.len() {
            let distance = distances[&queue[next]];
            for state in before.get(&queue[next]).into_iter().flatten() {
                if !distances.contains_key(state) {
                    distances.insert(*state, distance + 1);
                    queue.push(*state);
                }
            }
            next += 1;
        }

        for node in &component.nodes {
            // The component is connected, so all its states lead to the open ones.
            let distance = distances[&self.product.state(*node)];
            self.paths[*node as usize].push(distance);
        }
        true
    }

    /// The strongly connected components of a subset, successors first (R. Tarjan, "Depth-first search
    /// and linear graph algorithms", SIAM Journal on Computing, 1972), without recursion.
    fn components(&mut self, subset: &Subset) -> Vec<Vec<u32>> {
        for node in &subset.nodes {
            self.index[*node as usize] = 0;
        }
        let mut found = Vec::new();
        let mut next_index = 1;
        let mut stack: Vec<u32> = Vec::new();
        let mut calls: Vec<(u32, usize)> = Vec::new();
        const DONE: u32 = u32::MAX;

        for &root in &subset.nodes {
            if self.index[root as usize] != 0 {
                continue;
            }
            calls.push((root, 0));
            while let Some((node, position)) = calls.pop() {
                if position == 0 {
                    self.index[node as usize] = next_index;
                    self.low[node as usize] = next_index;
                    next_index += 1;
                    stack.push(node);
                }
                let edges = self.product.edges(node);
                let mut descended = false;
                for (offset, edge) in edges.iter().enumerate().skip(position) {
                    let target = edge.target as usize;
                    if self.group[target] != subset.group
                        || bits::intersects(self.carried(edge), &subset.cut)
                    {
                        continue;
                    }
                    if self.index[target] == 0 {
                        calls.push((node, offset + 1));
                        calls.push((edge.target, 0));
                        descended = true;
                        break;
                    }
                    if self.index[target] != DONE {
                        let low = self.low[node as usize].min(self.index[target]);
                        self.low[node as usize] = low;
                    }
                }
                if descended {
                    continue;
                }

                if self.low[node as usize] == self.index[node as usize] {
                    let start = stack.iter().rposition(|n| *n == node);
                    let component = stack.split_off(start.expect("the node is on the stack"));
                    for member in &component {
                        self.index[*member as usize] = DONE;
                    }
                    found.push(component);
                }
                if let Some((caller, _)) = calls.last() {
                    let low = self.low[*caller as usize].min(self.low[node as usize]);
                    self.low[*caller as usize] = low;
                }
            }
        }
        found
    }
}

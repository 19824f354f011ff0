//! A cycle in what is left, and the paths that searches show.
//!
//! Whatever is left has a component that no other component of the rest enters, and it is fair. To
//! find a node of it without going backwards, take a set of nodes (*pivots*) from which all of the
//! rest can be reached, and try one half of them. If all can be reached from that half, it is the next
//! set. Else what cannot be reached is the next rest: no edge leads into it, so it has such a component,
//! and the pivots in it reach all of it. In the end one pivot is left that reaches all of the rest,
//! also the component that is only entered by its own edges: so the pivot belongs to it.
//!
//! Everything from which the pivot can be reached lies in its component. So an edge with a wanted mark
//! and a path from it to the pivot are found by a search from all edges with the mark, until it comes
//! to the pivot.

use base::{StopReason, bits, put_list, take_list};
use omega::Acceptance;
use store::StateStore;

use crate::carrier::{Batch, Carrier};
use crate::conjunction::{Conjunction, holds};
use crate::crew::{Lists, Outbox};
use crate::graph::{Edge, Expand, Successors};
use crate::rules::{Planes, Reach, Scope, add, has};
use crate::search::{Answer, Path, Search, for_each_edge, meet};

/// A copy of a state.
#[derive(Clone, PartialEq, Eq, Debug)]
struct Node {
    state: Vec<u64>,
    copy: usize,
}

/// An edge on a path.
#[derive(Clone, Debug)]
struct Taken {
    source: Node,
    step: u32,
    marks: Vec<u64>,
}

/// The files of a search are not what it has written.
const DAMAGED: StopReason = StopReason::DamagedCheckpoint;

const NO_PANIC: &str = "no thread panics while it says where it is";

/// Picks an edge of a listed state.
type Pick<'a> = dyn FnMut(&[u64], &[u8], &Successors) -> Option<Taken> + 'a;

/// With which words an exploration ends in a listed state, if it does.
type IsEnd<'a> = dyn Fn(&[u64], &[u8]) -> Option<Vec<u64>> + Sync + 'a;

/// Where a path in the rest begins.
enum Start<'a> {
    /// At this node.
    Node(&'a Node),
    /// With an edge that has one of these tracked marks.
    Edge(&'a [u8]),
}

impl<G: Expand, C: Carrier> Search<'_, G, C> {
    /// A fair cycle and a path to it, after everything was removed that is not fair.
    pub(crate) fn find_cycle(&mut self, alternative: &Conjunction) -> Result<Answer, StopReason> {
        self.crew.phase = ("looking for a loop", 0);
        let scope = Scope::new(self.n_copies(), alternative);
        let (pivot, field) = self.find_pivot(scope)?;
        let mut cycle = self.fair_cycle(scope, &pivot, &field)?;

        let (first, stem) = self.stem(&cycle)?;
        cycle.rotate_left(first);
        let steps = |taken: Vec<Taken>| taken.into_iter().map(|t| (t.source.state, t.step));
        let end = cycle[0].source.state.clone();
        Ok(Answer::Cycle {
            stem: Path {
                steps: steps(stem).collect(),
                end: end.clone(),
            },
            cycle: Path {
                steps: steps(cycle).collect(),
                end,
            },
        })
    }

    /// A node of a component that no other enters, with the tracked marks of the component.
    fn find_pivot(&mut self, scope: Scope<'_>) -> Result<(Node, Vec<u8>), StopReason> {
        let planes = scope.planes;
        let rule = Reach(planes);
        let n_label = planes.n_label();
        let begin = |n: &mut u64, _: &[u64], old: &[u8], new: &mut [u8]| {
            let (old, new) = (planes.split(old), planes.split_mut(new));
            new.held.copy_from_slice(old.found);
            for copy in (0..planes.n_copies).filter(|copy| planes.exists(old.found, *copy)) {
                add(new.pivots, copy);
                *n += 1;
            }
            false
        };
        let (lists, tallies) = self.crew.sweep(&rule, n_label, &begin)?;
        self.crew.discard(lists);
        let mut n_pivots = tallies.iter().sum::<u64>();

        let mut attempt = 0;
        while n_pivots > 1 {
            attempt += 1;
            let is_tried = |state: &[u64], copy: usize| is_in_half(state, copy, attempt);
            let (lists, n_tried) = self.begin_attempt(planes, &is_tried)?;
            if n_tried == 0 || n_tried == n_pivots {
                self.crew.discard(lists);
                continue;
            }
            let mut lists = lists;
            while lists.n_states > 0 {
                lists = self.step(lists, &rule, &reach(scope, None, |_, _| false))?;
            }
            n_pivots = self.end_attempt(planes, &is_tried)?;
        }
        self.last_pivot(planes)
    }

    /// Marks and lists the pivots that are tried as reached; says how many they are.
    fn begin_attempt(
        &mut self,
        planes: Planes,
        is_tried: &(dyn Fn(&[u64], usize) -> bool + Sync),
    ) -> Result<(Lists<C>, u64), StopReason> {
        let change = |n: &mut u64, state: &[u64], old: &[u8], new: &mut [u8]| {
            let (old, new) = (planes.split(old), planes.split_mut(new));
            new.held.copy_from_slice(old.held);
            new.pivots.copy_from_slice(old.pivots);

            let pivots = (0..planes.n_copies).filter(|copy| has(old.pivots, *copy));
            let mut is_listed = false;
            for copy in pivots.filter(|copy| is_tried(state, *copy)) {
                add(new.reached, copy);
                add(new.waiting, copy);
                *n += 1;
                is_listed = true;
            }
            is_listed
        };

        let (lists, tallies) = self.crew.sweep(&Reach(planes), planes.n_label(), &change)?;
        Ok((lists, tallies.iter().sum()))
    }

    /// Keeps those pivots that were tried if they reach everything, else what they do not reach. Says
    /// how many pivots there are.
    fn end_attempt(
        &mut self,
        planes: Planes,
        is_tried: &(dyn Fn(&[u64], usize) -> bool + Sync),
    ) -> Result<u64, StopReason> {
        let count = |n_missed: &mut u64, _: &[u64], old: &[u8], new: &mut [u8]| {
            new.copy_from_slice(old);
            let label = planes.split(old);
            let is_missed =
                |copy: &usize| planes.exists(label.held, *copy) && !has(label.reached, *copy);
            *n_missed += (0..planes.n_copies).filter(is_missed).count() as u64;
            false
        };
        let rule = Reach(planes);
        let (lists, tallies) = self.crew.sweep(&rule, planes.n_label(), &count)?;
        self.crew.discard(lists);
        let is_less = tallies.iter().sum::<u64>() > 0;

        let change = |n: &mut u64, state: &[u64], old: &[u8], new: &mut [u8]| {
            let (old, new) = (planes.split(old), planes.split_mut(new));
            for copy in 0..planes.n_copies {
                let is_reached = has(old.reached, copy);
                if is_less && is_reached {
                    continue;
                }
                let held = planes.field(old.held, copy);
                planes.field_mut(new.held, copy).copy_from_slice(held);
                if has(old.pivots, copy) && (is_less || is_tried(state, copy)) {
                    add(new.pivots, copy);
                    *n += 1;
                }
            }
            false
        };
        let (lists, tallies) = self.crew.sweep(&rule, planes.n_label(), &change)?;
        self.crew.discard(lists);
        Ok(tallies.iter().sum())
    }

    fn last_pivot(&mut self, planes: Planes) -> Result<(Node, Vec<u8>), StopReason> {
        let look = |found: &mut Vec<u64>, state: &[u64], old: &[u8], new: &mut [u8]| {
            new.copy_from_slice(old);
            let label = planes.split(old);
            if let Some(copy) = (0..planes.n_copies).find(|copy| has(label.pivots, *copy)) {
                let field = planes.field(label.held, copy);
                found.push(copy as u64);
                put_list(found, field.iter().map(|byte| u64::from(*byte)));
                put_list(found, state.iter().copied());
            }
            false
        };
        let (lists, tallies) = self.crew.sweep(&Reach(planes), planes.n_label(), &look)?;
        self.crew.discard(lists);

        let mut found = tallies.iter().filter(|words| !words.is_empty());
        let (copy, mut words) = found.next().and_then(|f| f.split_first()).ok_or(DAMAGED)?;
        let field = take_list(&mut words).ok_or(DAMAGED)?;
        let state = take_list(&mut words).ok_or(DAMAGED)?.to_vec();
        let copy = usize::try_from(*copy).map_err(|_| DAMAGED)?;
        let field = field.iter().map(|byte| *byte as u8).collect();
        Ok((Node { state, copy }, field))
    }

    /// A cycle through a node of a component that no other enters, given the tracked marks of the
    /// component. It has the marks that the demands need, and those that its edges need.
    fn fair_cycle(
        &mut self,
        scope: Scope<'_>,
        pivot: &Node,
        field: &[u8],
    ) -> Result<Vec<Taken>, StopReason> {
        let Scope {
            planes,
            alternative,
        } = scope;
        // Some edge at least.
        let any_edge = alternative.tracked.len();
        let mut needed = vec![0; planes.n_field];
        add(&mut needed, any_edge);
        for demand in &alternative.demands {
            need(demand, field, &mut needed)?;
        }

        let mut first = pivot.clone();
        let mut cycle: Vec<Taken> = Vec::new();
        loop {
            // Backwards from the pivot, from one edge with a mark that is missing to the next.
            let missing = missing(alternative, &needed, &cycle, planes);
            if missing.iter().any(|byte| *byte != 0) {
                let start = Start::Edge(&missing);
                let mut path = self.path_in_rest(scope, &start, &first)?;
                first = path.first().ok_or(DAMAGED)?.source.clone();
                path.append(&mut cycle);
                cycle = path;
                continue;
            }

            let start = Start::Node(pivot);
            let mut closed = self.path_in_rest(scope, &start, &first)?;
            closed.extend(cycle.iter().cloned());
            let before = needed.clone();
            let marks = tracked_marks(alternative, &closed, planes);
            for (mark, unless) in &alternative.conditions {
                let mut edges = closed.iter();
                let is_there = edges.any(|taken| bits::get(&taken.marks, mark.index()));
                if is_there && !holds(unless, &marks) {
                    need(unless, field, &mut needed)?;
                }
            }
            if needed == before {
                return Ok(closed);
            }
        }
    }

    /// A shortest path in the rest to a node. From a node to itself it is empty.
    fn path_in_rest(
        &mut self,
        scope: Scope<'_>,
        start: &Start<'_>,
        target: &Node,
    ) -> Result<Vec<Taken>, StopReason> {
        let planes = scope.planes;
        let rule = Reach(planes);
        let begin = |(): &mut (), state: &[u64], old: &[u8], new: &mut [u8]| {
            let (old, new) = (planes.split(old), planes.split_mut(new));
            new.held.copy_from_slice(old.held);
            for copy in (0..planes.n_copies).filter(|copy| planes.exists(old.held, *copy)) {
                let is_start = match start {
                    Start::Edge(_) => true,
                    Start::Node(node) => node.copy == copy && node.state == state,
                };
                if is_start {
                    add(new.waiting, copy);
                }
            }
            new.waiting.iter().any(|byte| *byte != 0)
        };
        let wanted = match start {
            Start::Node(node) if *node == target => return Ok(Vec::new()),
            Start::Node(_) => None,
            Start::Edge(marks) => Some(*marks),
        };
        let mut layers = vec![self.crew.sweep(&rule, planes.n_label(), &begin)?.0];
        let is_target = |state: &[u64], copy: usize| copy == target.copy && target.state == state;

        let mut is_hit = false;
        while !is_hit {
            let is_first = layers.len() == 1;
            let filter = wanted.filter(|_| is_first);
            let last = layers.last_mut().expect("there is a layer");
            if last.n_states == 0 {
                return Err(DAMAGED);
            }
            let visit = reach(scope, filter, is_target);
            is_hit = self.crew.visit(last, &rule, &visit)?.is_some();
            // What was posted belongs to a layer that is not needed, but must not stay either.
            let next = self.crew.settle(&rule)?;
            layers.push(next);
        }
        let surplus = layers.pop().expect("it was pushed");
        self.crew.discard(surplus);

        let mut path = Vec::new();
        let mut at = target.clone();
        while let Some(mut layer) = layers.pop() {
            let filter = wanted.filter(|_| layers.is_empty());
            let taken = self.edge_in_rest(scope, &mut layer, filter, &at)?;
            self.crew.discard(layer);
            at = taken.source.clone();
            path.push(taken);
        }
        path.reverse();
        Ok(path)
    }

    /// An edge of the rest from a listed copy to a node, with a wanted mark.
    fn edge_in_rest(
        &mut self,
        scope: Scope<'_>,
        layer: &mut Lists<C>,
        wanted: Option<&[u8]>,
        target: &Node,
    ) -> Result<Taken, StopReason> {
        let Scope {
            planes,
            alternative,
        } = scope;
        let mut tracked = vec![0; planes.n_field];
        let pick = &mut |state: &[u64], listed: &[u8], successors: &Successors| {
            let (held, waiting) = listed.split_at(planes.n_fields());
            successors.edges().find_map(|(edge, marks)| {
                let from = edge.from as usize;
                if edge.to as usize != target.copy
                    || successors.target(edge.step) != target.state
                    || !has(waiting, from)
                {
                    return None;
                }
                alternative.select(marks, &mut tracked);
                let is_wanted =
                    wanted.is_none_or(|wanted| is_wanted(&tracked, wanted, alternative));
                let field = planes.field(held, from);
                let before = tracked.iter_mut().zip(field);
                before.for_each(|(own, held)| *own |= held);
                let is_there = is_wanted && alternative.allows(marks, &tracked);
                is_there.then(|| Taken::new(state, edge, marks))
            })
        };
        self.find_source(layer, pick)
    }

    /// An edge that is picked among those of the listed states: that of the first process that has one.
    fn find_source(
        &mut self,
        layer: &mut Lists<C>,
        pick: &mut Pick<'_>,
    ) -> Result<Taken, StopReason> {
        let own = self.find_own_source(layer, pick);
        let said = own.map(|taken| taken.map(|taken| taken.words()).unwrap_or_default());
        let all = self.crew.team.gather(said)?;
        let mut found = all.iter().filter(|words| !words.is_empty());
        found
            .next()
            .and_then(|words| Taken::of(words))
            .ok_or(DAMAGED)
    }

    fn find_own_source(
        &mut self,
        layer: &mut Lists<C>,
        pick: &mut Pick<'_>,
    ) -> Result<Option<Taken>, StopReason> {
        let (n_words, n_mark_words) = self.crew.widths();
        let mut successors = Successors::new(n_words, n_mark_words);
        let mut batch = Batch::default();

        let (graphs, parts) = (&mut self.crew.graphs, &mut self.crew.parts);
        for (part, list) in parts.iter_mut().zip(&mut layer.own) {
            let part = part.get_mut().expect(NO_PANIC);
            part.rewind(list);
            loop {
                part.read(list, &mut batch)?;
                if batch.is_empty() {
                    break;
                }
                for (state, listed) in batch.iter() {
                    successors.clear();
                    graphs[0].successors(state, &|_| true, false, &mut successors)?;
                    if let Some(picked) = pick(state, listed, &successors) {
                        return Ok(Some(picked));
                    }
                }
            }
        }

        Ok(None)
    }

    /// A shortest path from an initial node to a node of a cycle, and the position of that node.
    fn stem(&mut self, cycle: &[Taken]) -> Result<(usize, Vec<Taken>), StopReason> {
        let position = |state: &[u64], listed: &[u8]| {
            let is_met = |node: &Node| has(listed, node.copy) && node.state == state;
            cycle.iter().position(|taken| is_met(&taken.source))
        };
        let (layers, end) = self.explore_again(&|state, listed| {
            let found = position(state, listed);
            found.map(|position| vec![position as u64])
        })?;
        let first = end.first().and_then(|first| usize::try_from(*first).ok());
        let first = first.filter(|first| *first < cycle.len()).ok_or(DAMAGED)?;

        let mut at = cycle[first].source.clone();
        let mut stem = Vec::new();
        for mut layer in layers.into_iter().rev() {
            let pick = &mut |state: &[u64], listed: &[u8], successors: &Successors| {
                let leads = |edge: Edge| {
                    edge.to as usize == at.copy
                        && has(listed, edge.from as usize)
                        && successors.target(edge.step) == at.state
                };
                let mut edges = successors.edges();
                let (edge, marks) = edges.find(|(edge, _)| leads(*edge))?;
                Some(Taken::new(state, edge, marks))
            };
            let taken = self.find_source(&mut layer, pick)?;
            self.crew.discard(layer);
            at = taken.source.clone();
            stem.push(taken);
        }
        stem.reverse();
        Ok((first, stem))
    }

    /// A shortest path from an initial state to one that an exploration has listed.
    pub(crate) fn path_to_state(&mut self, end: &[u64]) -> Result<Path, StopReason> {
        let is_end = |state: &[u64], _: &[u8]| (state == end).then(|| vec![1]);
        let (layers, _) = self.explore_again(&is_end)?;

        let mut at = end.to_vec();
        let mut steps = Vec::new();

        for mut layer in layers.into_iter().rev() {
            let pick = &mut |state: &[u64], _: &[u8], successors: &Successors| {
                let mut all = 0..successors.n_steps() as u32;
                let step = all.find(|step| successors.target(*step) == at)?;
                let (from, to) = (0, 0);
                Some(Taken::new(state, Edge { step, from, to }, &[]))
            };
            let taken = self.find_source(&mut layer, pick)?;
            self.crew.discard(layer);
            at.clone_from(&taken.source.state);
            steps.push((taken.source.state, taken.step));
        }

        steps.reverse();
        let end = end.to_vec();
        Ok(Path { steps, end })
    }

    /// Where a step of a state leads.
    pub(crate) fn target_of(
        &mut self,
        state: &[u64],
        step: u32,
    ) -> Result<Option<Vec<u64>>, StopReason> {
        let (n_words, n_mark_words) = self.crew.widths();
        let mut successors = Successors::new(n_words, n_mark_words);
        let graph = &mut self.crew.graphs[0];
        let computed = graph.successors(state, &|_| false, false, &mut successors);
        self.crew.team.gather(computed.map(|()| Vec::new()))?;
        let is_there = (step as usize) < successors.n_steps();
        Ok(is_there.then(|| successors.target(step).to_vec()))
    }

    /// Explores once more, up to a listed state that is an end. Returns what was listed before the
    /// layer of that state, the initial states first, and the words for the end.
    fn explore_again(
        &mut self,
        is_end: &IsEnd<'_>,
    ) -> Result<(Vec<Lists<C>>, Vec<u64>), StopReason> {
        let rule = self.meeting();
        let forget = |(): &mut (), _: &[u64], _: &[u8], _: &mut [u8]| false;
        let (lists, _) = self.crew.sweep(&rule, 2 * rule.size(), &forget)?;
        self.crew.discard(lists);

        let visit = meet(rule, false, |state, listed, _| is_end(state, listed));
        let mut layers = Vec::new();
        let mut lists = self.meet_initial(&rule)?.map_err(|_| DAMAGED)?;
        while lists.n_states > 0 {
            self.crew.phase = ("looking for a way", layers.len() as u64);
            if let Some(end) = self.crew.visit(&mut lists, &rule, &visit)? {
                self.crew.discard(lists);
                return Ok((layers, end));
            }
            let next = self.crew.settle(&rule)?;
            layers.push(std::mem::replace(&mut lists, next));
        }
        Err(DAMAGED)
    }
}

impl Taken {
    fn new(state: &[u64], edge: Edge, marks: &[u64]) -> Self {
        Self {
            source: Node {
                state: state.to_vec(),
                copy: edge.from as usize,
            },
            step: edge.step,
            marks: marks.to_vec(),
        }
    }

    /// As words for all processes.
    fn words(&self) -> Vec<u64> {
        let mut words = vec![self.source.copy as u64, self.step.into()];
        put_list(&mut words, self.source.state.iter().copied());
        put_list(&mut words, self.marks.iter().copied());
        words
    }

    fn of(words: &[u64]) -> Option<Self> {
        let (&[copy, step], mut rest) = words.split_first_chunk()?;
        let state = take_list(&mut rest)?.to_vec();
        let copy = usize::try_from(copy).ok()?;
        Some(Self {
            source: Node { state, copy },
            step: u32::try_from(step).ok()?,
            marks: take_list(&mut rest)?.to_vec(),
        })
    }
}

/// Tells the targets of edges of the rest that they are reached; if that is asked for, by edges with a
/// wanted mark only. Ends where a target is reached that is an end.
fn reach<'s, G: Expand>(
    scope: Scope<'s>,
    wanted: Option<&'s [u8]>,
    is_end: impl Fn(&[u64], usize) -> bool + Sync + 's,
) -> impl Fn(&mut G, &[u64], &[u8], &mut Successors, &mut Outbox) -> Result<(), StopReason> + Sync + 's
{
    let Scope {
        planes,
        alternative,
    } = scope;
    move |graph, state, listed, successors, out| {
        let (held, waiting) = listed.split_at(planes.n_fields());
        let chosen = |copy| has(waiting, copy);
        let send = |out: &mut Outbox, target: &[u64], (_, to): (usize, usize), own: &[u8]| {
            if wanted.is_none_or(|wanted| is_wanted(own, wanted, alternative)) {
                add(out.put(target), to);
                if is_end(target, to) {
                    out.end = Some(vec![1]);
                }
            }
        };
        for_each_edge(scope, graph, (state, held), &chosen, successors, out, send)
    }
}

/// Has an edge with these tracked marks a wanted one, or is any edge wanted?
fn is_wanted(tracked: &[u8], wanted: &[u8], alternative: &Conjunction) -> bool {
    let mut both = tracked.iter().zip(wanted);
    has(wanted, alternative.tracked.len()) || both.any(|(own, wanted)| own & wanted != 0)
}

/// The tracked marks of some edges, with the element that says that there are edges.
fn tracked_marks(alternative: &Conjunction, edges: &[Taken], planes: Planes) -> Vec<u8> {
    let mut all = vec![0; planes.n_field];
    let mut own = vec![0; planes.n_field];
    for edge in edges {
        alternative.select(&edge.marks, &mut own);
        all.iter_mut().zip(&own).for_each(|(all, own)| *all |= own);
        add(&mut all, alternative.tracked.len());
    }
    all
}

/// What is needed and not among the marks of these edges.
fn missing(alternative: &Conjunction, needed: &[u8], edges: &[Taken], planes: Planes) -> Vec<u8> {
    let there = tracked_marks(alternative, edges, planes);
    let both = needed.iter().zip(&there);
    both.map(|(needed, there)| needed & !there).collect()
}

/// Adds the marks of a component that a formula needs.
fn need(formula: &Acceptance, field: &[u8], needed: &mut [u8]) -> Result<(), StopReason> {
    let n_marks = field.len() * 8;
    let mut words = vec![0; bits::words_for(n_marks)];
    for mark in (0..n_marks).filter(|mark| has(field, *mark)) {
        bits::set(&mut words, mark);
    }
    let marks = formula.sufficient_marks(&words).ok_or(DAMAGED)?;
    bits::iter(&marks).for_each(|mark| add(needed, mark));
    Ok(())
}

/// How often pivots are told apart by a hash before the bits of nodes themselves are used, which differ
/// somewhere.
const N_HASHED: u64 = 64;

/// Does a node belong to the half that is tried now?
fn is_in_half(state: &[u64], copy: usize, attempt: u64) -> bool {
    if let Some(bit) = attempt.checked_sub(N_HASHED) {
        let bit = (bit % (64 * (state.len() as u64 + 1))) as usize;
        return match state.get(bit / 64) {
            Some(word) => word >> (bit % 64) & 1 == 1,
            None => copy >> (bit % 64) & 1 == 1,
        };
    }
    let mixed = StateStore::hash(state) ^ (copy as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    let mixed = (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    mixed >> (attempt % 64) & 1 == 1
}

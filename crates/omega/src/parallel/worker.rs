//! The depth-first search of one thread among several.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use super::union_find::{NodeClaim, Relation, Sets, is_allowed};
use crate::emerson_lei::Emptiness;
use crate::{Acceptance, Closure, Component, EdgeBuffer, Graph, NodeId};

/// What the threads search together.
pub(super) struct Round<'a, S> {
    pub sets: &'a Sets,
    /// Where to begin.
    pub starts: &'a [NodeId],
    /// Only edges with marks within this are followed; all edges if absent.
    pub allowed: Option<&'a [u64]>,
    /// What is asked of parts of the components.
    pub formula: &'a Acceptance,
    /// What is asked of the components themselves.
    pub acceptance: &'a Acceptance,
    pub closure: Closure,
    /// Complete components with at least this many nodes are looked into by all threads together,
    pub min_shared: usize,
    /// at once if this is set.
    pub at_once: bool,
    /// Should all threads return to their caller?
    pub is_paused: AtomicBool,
    /// Has a thread left everything behind that can be reached from the starts?
    pub is_over: AtomicBool,
    pub news: Mutex<News<S>>,
    /// Bytes in the structures of the threads.
    pub bytes: AtomicUsize,
}

/// What the threads report.
pub(super) struct News<S> {
    /// The graph cannot be explored further.
    pub stop: Option<S>,
    /// A component that was looked for.
    pub witness: Option<Component>,
    /// Nodes whose sets may satisfy the acceptance already. That is certain only when no thread is
    /// in the middle of something.
    pub candidates: Vec<NodeId>,
    /// Complete components, each with what is asked of a part of it.
    pub shared: Vec<(Component, Acceptance)>,
}

impl<S> Default for News<S> {
    fn default() -> Self {
        Self {
            stop: None,
            witness: None,
            candidates: Vec::new(),
            shared: Vec::new(),
        }
    }
}

pub(super) const NO_PANIC: &str = "no thread panics while it holds the news";

impl<S> Round<'_, S> {
    fn tell(&self, pause: bool, news: impl FnOnce(&mut News<S>)) {
        news(&mut self.news.lock().expect(NO_PANIC));
        if pause {
            self.is_paused.store(true, Ordering::Release);
        }
    }
}

/// A node on the depth-first path.
struct Frame {
    node: NodeId,
    /// How many of its edges still wait at the end of the edge buffer.
    n_left: u32,
}

/// A thread's search.
///
/// Invariant: the nodes of `frames[bounds[i]..bounds[i + 1]]` are in one set, which the thread has
/// entered, and the live sets that it has entered are those of its frames. Threads may have united
/// neighbouring sets without this one knowing.
pub(super) struct Worker {
    thread: u64,
    frames: Vec<Frame>,
    bounds: Vec<u32>,
    /// For each frame the marks of the edge by which it was reached.
    incoming: Vec<u64>,
    edges: EdgeBuffer,
    /// Which edge is followed next; 0 for the last one always.
    random: u64,
    /// How many starts are done with, and the first of them.
    n_started: usize,
    first_start: usize,
    marks: Vec<u64>,
    /// What was added to the bytes of the round.
    bytes: usize,
}

impl Worker {
    /// Thread `index` of `n_threads`, which begins at a start of its own.
    pub fn new(index: usize, n_threads: usize, n_starts: usize, n_mark_words: usize) -> Self {
        Self {
            thread: 1 << index,
            frames: Vec::new(),
            bounds: Vec::new(),
            incoming: Vec::new(),
            edges: EdgeBuffer::new(n_mark_words),
            random: (index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15),
            n_started: 0,
            first_start: n_starts * index / n_threads,
            marks: Vec::new(),
            bytes: 0,
        }
    }

    /// Searches until there is something for all threads to know, or nothing left.
    pub fn run<G: Graph>(&mut self, round: &Round<'_, G::Stop>, inner: &mut Emptiness<'_, G>) {
        if let Err(stop) = self.search(round, inner) {
            round.tell(true, |news| {
                news.stop.get_or_insert(stop);
            });
        }
    }

    fn search<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
    ) -> Result<(), G::Stop> {
        while !round.is_paused.load(Ordering::Acquire) {
            match self.frames.last() {
                Some(frame) if frame.n_left > 0 && !round.sets.is_explored(frame.node) => {
                    self.take_edge(round, inner)?;
                }
                Some(_) => self.leave(round, inner)?,
                None if self.n_started == round.starts.len() => {
                    round.is_over.store(true, Ordering::Release);
                    round.is_paused.store(true, Ordering::Release);
                }
                None => self.start(round, inner)?,
            }
        }
        Ok(())
    }

    fn start<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
    ) -> Result<(), G::Stop> {
        let position = (self.first_start + self.n_started) % round.starts.len();
        let node = round.starts[position];
        self.n_started += 1;
        match round.sets.claim(node, self.thread) {
            NodeClaim::Dead => Ok(()),
            NodeClaim::Entered => {
                self.incoming.resize(inner.ctx.graph.n_mark_words(), 0);
                self.enter(round, inner, node)
            }
            NodeClaim::Known => unreachable!("a thread without a path has entered dead sets only"),
        }
    }

    /// Follows a waiting edge of the last frame.
    fn take_edge<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
    ) -> Result<(), G::Stop> {
        let frame = self.frames.last_mut().expect("there is an edge");
        let source = frame.node;
        let edge = self.edges.len() - 1;
        if self.random != 0 && frame.n_left > 1 {
            self.random ^= self.random << 13;
            self.random ^= self.random >> 7;
            self.random ^= self.random << 17;
            let back = self.random % u64::from(frame.n_left);
            self.edges.swap(edge, edge - back as usize);
        }

        frame.n_left -= 1;
        let target = self.edges.target(edge);
        let marks = self.edges.marks(edge);
        if !is_allowed(marks, round.allowed) {
            self.edges.pop();
            return Ok(());
        }

        match round.sets.claim(target, self.thread) {
            NodeClaim::Dead => self.edges.pop(),
            NodeClaim::Entered => {
                self.incoming.extend_from_slice(marks);
                self.edges.pop();
                self.enter(round, inner, target)?;
            }
            NodeClaim::Known => {
                self.close_cycle(round, source, target);
                self.edges.pop();
            }
        }

        Ok(())
    }

    /// The last edge leads from the last frame to a set on the path: everything in between is in
    /// one component.
    fn close_cycle<S>(&mut self, round: &Round<'_, S>, source: NodeId, target: NodeId) {
        let marks = self.edges.marks(self.edges.len() - 1);
        let n_words = marks.len();
        while !round.sets.are_united(source, target) {
            let bound = *self.bounds.last().expect("the target is on the path") as usize;
            let below = self.frames[bound - 1].node;
            let incoming = &self.incoming[bound * n_words..][..n_words];
            if round.sets.unite(below, source, target, incoming) {
                self.bounds.pop();
            }
        }
        let grown = round.sets.add_marks(source, marks);
        self.look_at(round, source, grown);
    }

    /// May the set of a node be what is looked for, although it may still grow?
    fn look_at<S>(&mut self, round: &Round<'_, S>, node: NodeId, grown: bool) {
        if grown && round.closure == Closure::None {
            round.sets.marks(node, &mut self.marks);
            if round.acceptance.accepts(&self.marks) {
                round.tell(true, |news| news.candidates.push(node));
            }
        }
    }

    /// Begins with a set that was just entered, and whose incoming marks are noted.
    fn enter<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
        node: NodeId,
    ) -> Result<(), G::Stop> {
        self.bounds.push(self.frames.len() as u32);
        self.go_on_in(round, inner, node)
    }

    /// Goes on with an unexplored member of the set of `node`, the last one on the path, of which
    /// no member has a frame. Without one, the set is complete.
    fn go_on_in<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
        node: NodeId,
    ) -> Result<(), G::Stop> {
        if let Some(member) = round.sets.unexplored(node) {
            return self.push(round, inner, member);
        }
        self.bounds.pop();
        self.incoming
            .truncate(self.frames.len() * self.edges.n_mark_words());
        if round.sets.kill(node) {
            inner.ctx.stats.n_components += 1;
            self.bury(round, inner, node)?;
        }
        Ok(())
    }

    fn push<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
        node: NodeId,
    ) -> Result<(), G::Stop> {
        if inner.ctx.report_is_due() {
            let bytes = self.memory_bytes();
            round.bytes.fetch_add(bytes, Ordering::Relaxed);
            round.bytes.fetch_sub(self.bytes, Ordering::Relaxed);
            self.bytes = bytes;
            let all = round.bytes.load(Ordering::Relaxed) + round.sets.memory_bytes();
            inner.ctx.report(all)?;
        }
        let before = self.edges.len();
        inner.ctx.expand(node, &mut self.edges)?;
        self.follow_short(round, node, before);
        // An exploration numbers the edges of a node by 32 bits.
        let n_left = (self.edges.len() - before) as u32;
        self.frames.push(Frame { node, n_left });
        inner.ctx.reached_depth(self.frames.len());
        Ok(())
    }

    /// Follows those edges of a new frame, from position `first` on, that lead nowhere else: into
    /// dead sets, or into the set of the node itself. Most do, and all are looked up at once.
    fn follow_short<S>(&mut self, round: &Round<'_, S>, node: NodeId, first: usize) {
        let mut grown = false;
        let mut edge = first;
        while edge < self.edges.len() {
            let marks = self.edges.marks(edge);
            let target = self.edges.target(edge);
            let is_done = !is_allowed(marks, round.allowed)
                || match round.sets.relation(node, target) {
                    Relation::Apart => false,
                    Relation::Dead => true,
                    Relation::United => {
                        grown |= round.sets.add_marks(node, marks);
                        true
                    }
                };
            if is_done {
                self.edges.swap_remove(edge)
            } else {
                edge += 1
            }
        }

        self.look_at(round, node, grown);
    }

    /// Takes the last frame off the path: this thread has followed all its edges, or others have.
    fn leave<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
    ) -> Result<(), G::Stop> {
        let Frame { node, n_left } = self.frames.pop().expect("there is a frame");
        self.edges.truncate(self.edges.len() - n_left as usize);
        if n_left == 0 {
            round.sets.set_explored(node);
        }
        let n_words = self.edges.n_mark_words();
        let position = self.frames.len();
        if self.bounds.last() != Some(&(position as u32)) {
            // It was united with the frame below, and the marks of the edge were added.
            self.incoming.truncate(position * n_words);
            return Ok(());
        }

        match self.frames.last() {
            Some(below) if round.sets.are_united(below.node, node) => {
                let grown = round
                    .sets
                    .add_marks(node, &self.incoming[position * n_words..]);
                self.bounds.pop();
                self.incoming.truncate(position * n_words);
                self.look_at(round, node, grown);
                Ok(())
            }
            _ => self.go_on_in(round, inner, node),
        }
    }

    /// Looks into a complete component, unless all threads should.
    fn bury<G: Graph>(
        &mut self,
        round: &Round<'_, G::Stop>,
        inner: &mut Emptiness<'_, G>,
        node: NodeId,
    ) -> Result<(), G::Stop> {
        if !round.sets.marks(node, &mut self.marks) {
            return Ok(());
        }
        let formula = round.formula.within(&self.marks);
        if formula == Acceptance::False {
            return Ok(());
        }
        let component = round.sets.component(node);
        if component.nodes.len() >= round.min_shared {
            round.tell(round.at_once, |news| news.shared.push((component, formula)));
        } else if let Some(found) = inner.discharge(Some((component, formula)))? {
            round.tell(true, |news| news.witness = Some(found));
        }
        Ok(())
    }

    fn memory_bytes(&self) -> usize {
        self.frames.capacity() * size_of::<Frame>()
            + self.bounds.capacity() * size_of::<u32>()
            + self.incoming.capacity() * size_of::<u64>()
            + self.edges.memory_bytes()
    }
}

//! Path-based strongly connected components with unions of marks.
//!
//! Problem: explore a graph depth first, report each strongly connected component when it is
//! complete, and know at every moment the union of the marks on the explored edges inside the
//! component around the current node, complete or not.
//!
//! Algorithm: H. N. Gabow, "Path-based depth-first search for strong and biconnected components",
//! Inf. Process. Lett. 74 (2000), the algorithm for strong components,
//! doi:10.1016/S0020-0190(00)00051-X. The stack of roots carries marks as in J.-M. Couvreur, "On-the-fly verification of linear temporal logic", FM 1999,
//! doi:10.1007/3-540-48119-2_16.
//!
//! Deviations:
//! * Depth-first search is a loop that stops at every event, so that the caller may look at a
//!   partial component, or nest another search inside a complete one.
//! * Edges wait in one shared buffer that is used as a stack and are taken from its end. A node's
//!   frame stores only how many of its edges are left; a path without branching keeps no edge.
//! * The marks of the edge that led to a root are stored with the root, since the edge itself is
//!   gone from the buffer when the root is merged into an older one.
//!
//! Cost: linear in nodes and edges, each edge times the number of words in a mark set. A node on
//! the depth-first path costs 21 + 16·`n_mark_words` bytes plus its waiting edges.

use base::{bits, put_list as put, take_list as take};

use crate::exploration::Exploration;
use crate::{EdgeBuffer, Graph, MAX_NODES, NodeId};

/// Not reached yet in this search.
const UNSEEN: u32 = 0;
/// In a component that is complete, or outside the part of the graph that is searched.
const CLOSED: u32 = u32::MAX;
/// In the component that is being tested for closure (see `closure.rs`).
const MEMBER: u32 = u32::MAX - 1;

/// What the search has just learnt.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Event {
    /// The youngest component got its first edge or a new mark. It may still grow.
    Grown,
    /// The youngest component is complete; [`PathSearch::close`] must follow.
    Complete,
    /// Nothing is left to explore from the start node.
    Exhausted,
}

/// The part of the graph that is searched.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    /// Only edges with marks within this are followed; all edges if absent.
    pub allowed: Option<&'a [u64]>,
    /// The depth at which the search began.
    pub base_depth: usize,
}

impl Scope<'_> {
    /// The whole graph.
    pub const EVERYTHING: Self = Self {
        allowed: None,
        base_depth: 0,
    };
}

/// A node on the depth-first path.
struct Frame {
    /// Its position in `path`.
    position: u32,
    /// How many of its edges still wait at the end of the edge buffer.
    n_left: u32,
}

/// The state of a search.
///
/// Invariant: `number[n] - 1` is the position of `n` in `path` for exactly the nodes of `path`;
/// all others are `UNSEEN`, `CLOSED` or `MEMBER`.
/// Invariant: the root positions ascend strictly, and `path[root..next root]` is strongly connected
/// by explored edges.
pub(crate) struct PathSearch {
    number: Vec<u32>,
    /// The number of nodes that have none yet: `UNSEEN` or `CLOSED`.
    unnumbered: u32,
    path: Vec<NodeId>,
    frames: Vec<Frame>,
    roots: RootStack,
    edges: EdgeBuffer,
}

impl PathSearch {
    /// A search that has seen nothing yet.
    pub fn new(n_mark_words: usize) -> Self {
        Self {
            number: Vec::new(),
            unnumbered: UNSEEN,
            path: Vec::new(),
            frames: Vec::new(),
            roots: RootStack::new(n_mark_words),
            edges: EdgeBuffer::new(n_mark_words),
        }
    }

    /// A search for which everything counts as complete that is not reopened.
    pub fn inside(n_mark_words: usize) -> Self {
        Self {
            unnumbered: CLOSED,
            ..Self::new(n_mark_words)
        }
    }

    fn number(&self, node: NodeId) -> u32 {
        let number = self.number.get(node.index()).copied();
        number.unwrap_or(self.unnumbered)
    }

    fn make_room(&mut self, node: NodeId) {
        if node.index() >= self.number.len() {
            self.number.resize(node.index() + 1, self.unnumbered);
        }
    }

    /// How many nodes lie on the depth-first path.
    pub fn depth(&self) -> usize {
        self.frames.len()
    }

    /// Has `node` not been reached?
    pub fn is_unseen(&self, node: NodeId) -> bool {
        self.number(node) == UNSEEN
    }

    /// Makes nodes of complete components searchable again.
    pub fn reopen(&mut self, nodes: &[NodeId]) {
        self.renumber(nodes, UNSEEN);
    }

    /// Begins at an unseen node; [`PathSearch::advance`] does the rest.
    pub fn start<G: Graph>(
        &mut self,
        ctx: &mut Exploration<'_, G>,
        node: NodeId,
    ) -> Result<(), G::Stop> {
        self.roots.push_unreached(self.path.len());
        let entered = self.enter(ctx, node);
        if entered.is_err() {
            self.roots.pop();
        }
        entered
    }

    /// Explores until something is to be told.
    ///
    /// In a nested search every node outside the scope must be closed or on the path of a search
    /// that cannot be reached from inside; both hold for the nodes of a complete component.
    pub fn advance<G: Graph>(
        &mut self,
        ctx: &mut Exploration<'_, G>,
        scope: Scope<'_>,
    ) -> Result<Event, G::Stop> {
        while self.frames.len() > scope.base_depth {
            let frame = self.frames.last_mut().expect("deeper than the base");
            if frame.n_left == 0 {
                let position = frame.position;
                self.frames.pop();
                if self.roots.youngest() == position {
                    return Ok(Event::Complete);
                }
                continue;
            }
            frame.n_left -= 1;
            match self.take_edge(ctx, scope.allowed) {
                Ok(true) => return Ok(Event::Grown),
                Ok(false) => {}
                Err(stop) => {
                    // The edge waits again.
                    self.frames.last_mut().expect("as before").n_left += 1;
                    return Err(stop);
                }
            }
        }

        Ok(Event::Exhausted)
    }

    /// Follows the last waiting edge. Says whether it made the youngest component grow.
    fn take_edge<G: Graph>(
        &mut self,
        ctx: &mut Exploration<'_, G>,
        allowed: Option<&[u64]>,
    ) -> Result<bool, G::Stop> {
        let edge = self.edges.len() - 1;
        let marks = self.edges.marks(edge);
        let target = self.edges.target(edge);
        let follow = allowed.is_none_or(|allowed| bits::is_subset(marks, allowed));
        let number = self.number(target);
        let mut grown = false;

        match number {
            _ if !follow => self.edges.pop(),
            CLOSED => self.edges.pop(),
            UNSEEN => {
                let step = self.edges.step(edge);
                self.roots.push(self.path.len(), marks);
                self.edges.pop();
                if let Err(stop) = self.enter(ctx, target) {
                    let marks = self.roots.youngest_incoming().to_vec();
                    self.roots.pop();
                    self.edges.push(target, step, &marks);
                    return Err(stop);
                }
            }
            _ => {
                grown = self.roots.merge_down_to(number - 1, marks);
                self.edges.pop();
            }
        }

        Ok(grown)
    }

    /// Puts a node at the end of the path. If the graph stops, nothing has happened.
    fn enter<G: Graph>(
        &mut self,
        ctx: &mut Exploration<'_, G>,
        node: NodeId,
    ) -> Result<(), G::Stop> {
        self.make_room(node);
        // There are fewer nodes than `MAX_NODES`, so this number is not one of the special ones.
        let position = self.path.len() as u32;
        debug_assert!(position < MAX_NODES);
        self.number[node.index()] = position + 1;
        self.path.push(node);

        let before = self.edges.len();
        let reported = if ctx.report_is_due() {
            ctx.report(self.memory_bytes())
        } else {
            Ok(())
        };
        let expanded = reported.and_then(|()| ctx.expand(node, &mut self.edges));
        if let Err(stop) = expanded {
            self.edges.truncate(before);
            self.path.pop();
            self.number[node.index()] = UNSEEN;
            return Err(stop);
        }

        // An exploration numbers the edges of a node by 32 bits.
        let n_left = (self.edges.len() - before) as u32;
        self.frames.push(Frame { position, n_left });
        ctx.reached_depth(self.frames.len());
        Ok(())
    }

    /// The nodes of the youngest component.
    pub fn youngest_nodes(&self) -> &[NodeId] {
        &self.path[self.roots.youngest() as usize..]
    }

    /// The nodes of the largest component on the path.
    pub fn largest_nodes(&self) -> &[NodeId] {
        let starts = self.roots.positions.iter().map(|&root| root as usize);
        let ends = starts.clone().skip(1).chain([self.path.len()]);
        let components = starts.zip(ends).map(|(start, end)| &self.path[start..end]);
        components.max_by_key(|nodes| nodes.len()).unwrap_or(&[])
    }

    /// The marks on the explored edges inside the youngest component.
    pub fn youngest_marks(&self) -> &[u64] {
        self.roots.youngest_marks()
    }

    /// Is no explored edge inside the youngest component?
    pub fn youngest_is_trivial(&self) -> bool {
        !self.roots.has_edge[self.roots.has_edge.len() - 1]
    }

    /// Forgets the youngest component, which must be complete.
    pub fn close(&mut self) {
        let root = self.roots.pop() as usize;
        for node in self.path.drain(root..) {
            self.number[node.index()] = CLOSED;
        }
    }

    /// Runs `test` while exactly the given nodes, all of them in complete components, count as
    /// members; lends it the edge buffer as a stack.
    pub fn with_members<T>(
        &mut self,
        nodes: &[NodeId],
        test: impl FnOnce(Members<'_>, &mut EdgeBuffer) -> T,
    ) -> T {
        self.renumber(nodes, MEMBER);
        let result = test(Members(&self.number), &mut self.edges);
        self.renumber(nodes, CLOSED);
        result
    }

    /// How far the search has come; [`PathSearch::rewind`] goes back there.
    pub fn mark(&self) -> Waypoint {
        Waypoint {
            n_path: self.path.len(),
            n_frames: self.frames.len(),
            n_roots: self.roots.positions.len(),
            n_edges: self.edges.len(),
        }
    }

    /// Forgets a nested search in a complete component with these nodes.
    pub fn rewind(&mut self, to: &Waypoint, nodes: &[NodeId]) {
        self.path.truncate(to.n_path);
        self.frames.truncate(to.n_frames);
        self.edges.truncate(to.n_edges);
        while self.roots.positions.len() > to.n_roots {
            self.roots.pop();
        }
        self.renumber(nodes, CLOSED);
    }

    /// Everything as numbers; [`PathSearch::decode`] reads them.
    pub fn encode(&self, out: &mut Vec<u64>) {
        put(out, self.number.iter().map(|&n| u64::from(n)));
        put(out, self.path.iter().map(|n| u64::from(n.0)));
        let frames = self.frames.iter();
        put(
            out,
            frames.map(|f| u64::from(f.position) << 32 | u64::from(f.n_left)),
        );
        let roots = self.roots.positions.iter().zip(&self.roots.has_edge);
        put(out, roots.map(|(p, e)| u64::from(*p) << 1 | u64::from(*e)));
        put(out, self.roots.marks.iter().copied());
        let edges = 0..self.edges.len();
        put(
            out,
            edges.clone().map(|e| u64::from(self.edges.target(e).0)),
        );
        put(out, edges.clone().map(|e| u64::from(self.edges.step(e))));
        put(out, edges.flat_map(|e| self.edges.marks(e).to_vec()));
    }

    /// What [`PathSearch::encode`] has written, taken from the front of `words`; nothing if it is
    /// damaged.
    pub fn decode(n_mark_words: usize, words: &mut &[u64]) -> Option<Self> {
        let half = |word: &u64| u32::try_from(*word).ok();
        let mut search = Self::new(n_mark_words);
        search.number = take(words)?.iter().map(half).collect::<Option<_>>()?;

        let path: Option<Vec<u32>> = take(words)?.iter().map(half).collect();
        search.path = path?.into_iter().map(NodeId).collect();
        for frame in take(words)? {
            search.frames.push(Frame {
                position: (frame >> 32) as u32,
                n_left: *frame as u32,
            });
        }

        for root in take(words)? {
            search.roots.positions.push(half(&(root >> 1))?);
            search.roots.has_edge.push(root & 1 == 1);
        }

        search.roots.marks = take(words)?.to_vec();
        let (targets, steps, marks) = (take(words)?, take(words)?, take(words)?);
        for (edge, (target, step)) in targets.iter().zip(steps).enumerate() {
            let marks = marks.get(edge * n_mark_words..(edge + 1) * n_mark_words)?;
            search.edges.push(NodeId(half(target)?), half(step)?, marks);
        }

        let is_whole = targets.len() == steps.len() && marks.len() == steps.len() * n_mark_words;
        is_whole.then_some(search)
    }

    /// Does everything fit together, in a graph of which `n_nodes` nodes are known? What the numbers
    /// say about edges that are gone cannot be known.
    pub fn is_consistent(&self, n_nodes: usize) -> bool {
        let is_known = |node: NodeId| node.index() < n_nodes;
        let mut places = self.path.iter().zip(1..);
        let is_numbered =
            places.all(|(node, number)| is_known(*node) && self.number(*node) == number);
        let is_open = |number: &&u32| **number != UNSEEN && **number != CLOSED;
        let n_open = self.number.iter().filter(is_open).count();

        let starts: Vec<u32> = self.frames.iter().map(|frame| frame.position).collect();
        let roots = &self.roots.positions;
        let ascends = |list: &[u32]| list.windows(2).all(|pair| pair[0] < pair[1]);
        let fits = |list: &[u32]| match list {
            [] => self.path.is_empty(),
            [first, .., last] => *first == 0 && (*last as usize) < self.path.len() && ascends(list),
            [only] => *only == 0 && !self.path.is_empty(),
        };
        let n_waiting: u64 = self
            .frames
            .iter()
            .map(|frame| u64::from(frame.n_left))
            .sum();

        let n_root_words = roots.len() * 2 * self.roots.n_mark_words;
        self.number.len() <= n_nodes
            && is_numbered
            && n_open == self.path.len()
            && fits(&starts)
            && fits(roots)
            && roots.iter().all(|root| starts.binary_search(root).is_ok())
            && self.roots.marks.len() == n_root_words
            && n_waiting == self.edges.len() as u64
            && (0..self.edges.len()).all(|edge| is_known(self.edges.target(edge)))
    }

    /// Is the node in a complete component, or on the path?
    pub fn was_entered(&self, node: NodeId) -> bool {
        self.number(node) != UNSEEN
    }

    /// Is the node in a complete component?
    pub fn is_closed(&self, node: NodeId) -> bool {
        self.number(node) == CLOSED
    }

    fn renumber(&mut self, nodes: &[NodeId], number: u32) {
        for node in nodes {
            self.make_room(*node);
            self.number[node.index()] = number;
        }
    }

    /// How many bytes it occupies.
    pub fn memory_bytes(&self) -> usize {
        (self.number.capacity() + self.path.capacity()) * size_of::<u32>()
            + self.frames.capacity() * size_of::<Frame>()
            + self.roots.memory_bytes()
            + self.edges.memory_bytes()
    }
}

/// How far a search had come.
pub(crate) struct Waypoint {
    n_path: usize,
    n_frames: usize,
    n_roots: usize,
    n_edges: usize,
}

/// A set of nodes.
#[derive(Clone, Copy)]
pub(crate) struct Members<'a>(&'a [u32]);

impl Members<'_> {
    /// Is `node` one of them?
    pub fn contain(self, node: NodeId) -> bool {
        self.0.get(node.index()) == Some(&MEMBER)
    }
}

/// The roots of the components on the path, oldest first.
///
/// Each has two mark sets in `marks`: the union inside its component, then that of the edge by
/// which it was reached.
struct RootStack {
    positions: Vec<u32>,
    has_edge: Vec<bool>,
    marks: Vec<u64>,
    n_mark_words: usize,
}

impl RootStack {
    fn new(n_mark_words: usize) -> Self {
        Self {
            positions: Vec::new(),
            has_edge: Vec::new(),
            marks: Vec::new(),
            n_mark_words,
        }
    }

    fn push_unreached(&mut self, position: usize) {
        self.positions.push(NodeId::new(position).0);
        self.has_edge.push(false);
        let len = self.marks.len();
        self.marks.resize(len + 2 * self.n_mark_words, 0);
    }

    fn push(&mut self, position: usize, reached_by: &[u64]) {
        self.push_unreached(position);
        let incoming = self.marks.len() - self.n_mark_words;
        bits::assign(&mut self.marks[incoming..], reached_by);
    }

    fn pop(&mut self) -> u32 {
        self.has_edge.pop();
        self.marks
            .truncate(self.marks.len() - 2 * self.n_mark_words);
        self.positions.pop().expect("a component is on the path")
    }

    fn youngest(&self) -> u32 {
        *self.positions.last().expect("a component is on the path")
    }

    fn youngest_marks(&self) -> &[u64] {
        let inside = self.marks.len() - 2 * self.n_mark_words;
        &self.marks[inside..][..self.n_mark_words]
    }

    /// The marks of the edge by which the youngest root was reached.
    fn youngest_incoming(&self) -> &[u64] {
        &self.marks[self.marks.len() - self.n_mark_words..]
    }

    /// Merges every root younger than the component of `position` into it and adds an edge with
    /// `marks`. Says whether that component has now more marks, or its first edge.
    ///
    /// If not, the merged component has the marks that the older one had when it was last reported.
    fn merge_down_to(&mut self, position: u32, marks: &[u64]) -> bool {
        let words = self.n_mark_words;
        let mut grown = false;
        while self.youngest() > position {
            let base = self.marks.len() - 4 * words;
            let (older, younger) = self.marks[base..].split_at_mut(2 * words);
            let (inside, incoming) = younger.split_at(words);
            // A change at an intermediate root says nothing about the root that is left in the
            // end: only the last comparison counts.
            grown = bits::union_into(&mut older[..words], inside);
            grown |= bits::union_into(&mut older[..words], incoming);
            self.pop();
        }

        let inside = self.marks.len() - 2 * words;
        grown |= bits::union_into(&mut self.marks[inside..][..words], marks);
        let has_edge = self
            .has_edge
            .last_mut()
            .expect("a component is on the path");
        grown |= !*has_edge;
        *has_edge = true;
        grown
    }

    fn memory_bytes(&self) -> usize {
        self.positions.capacity() * size_of::<u32>()
            + self.has_edge.capacity()
            + self.marks.capacity() * size_of::<u64>()
    }
}

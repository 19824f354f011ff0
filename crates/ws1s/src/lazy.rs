//! Shortest examples without the automaton: the product and the outermost projections on the fly.
//!
//! A formula is seen as a combination of *components*: automata, and automata from which tracks are
//! projected, whose subset construction is done only as far as the search gets (compare Fiedor,
//! Holík, Janků, Lengál and Vojnar, *Lazy automata techniques for WS1S*, TACAS 2017,
//! doi:10.1007/978-3-662-54577-5_24). The search walks tuples of decision nodes, one per component.
//! A tuple that was met before leads to nothing new, from whatever state it was met, so every tuple
//! is expanded once and no diagram is ever built. States are found in the order of the length of
//! the words that lead to them, so the first true state and the first false one give shortest words.
//!
//! The product is not minimised, so it may be larger than the automaton by far. The search is
//! therefore given a number of tuples; when these are used up it gives up, and the automaton is
//! built instead.

use crate::machine::{FALSE, Machine, TRUE, UNDEFINED, complement_output};
use crate::meter::{Meter, Unknown};
use crate::mtbdd::NodeRef;
use crate::projection::{Sets, close_erased, quotient_outputs, reduce};
use crate::words::Word;

/// Outputs of components combined. Undefinedness is strict everywhere.
pub(crate) enum Combination {
    Component(usize),
    Not(Box<Combination>),
    And(Vec<Combination>),
}

impl Combination {
    fn evaluate(&self, outputs: &[u32]) -> u32 {
        match self {
            Self::Component(index) => outputs[*index],
            Self::Not(inner) => complement_output(inner.evaluate(outputs)),
            Self::And(all) => {
                let outputs = all.iter().map(|inner| inner.evaluate(outputs));
                outputs.min().unwrap_or(TRUE)
            }
        }
    }
}

/// One automaton of a combination.
pub(crate) struct Component<'m> {
    machine: &'m Machine,
    /// Track of the combination for each track of the machine that is not erased.
    tracks: Vec<u32>,
    subset: Option<Subset>,
}

/// The lazy subset construction of a component.
struct Subset {
    negated: bool,
    erased: Vec<bool>,
    /// Outputs after the right quotient.
    outputs: Vec<u32>,
    sets: Sets,
}

impl<'m> Component<'m> {
    pub(crate) fn explicit(machine: &'m Machine, tracks: Vec<u32>) -> Self {
        Self {
            machine,
            tracks,
            subset: None,
        }
    }

    /// The projection of the `erased` tracks, whose entries in `tracks` do not count.
    pub(crate) fn projected(
        machine: &'m Machine,
        negated: bool,
        erased: Vec<bool>,
        tracks: Vec<u32>,
    ) -> Self {
        let outputs = quotient_outputs(machine, negated, &erased);
        Self {
            machine,
            tracks,
            subset: Some(Subset {
                negated,
                erased,
                outputs,
                sets: Sets::new(),
            }),
        }
    }

    /// A place is a node, or the number of a set of nodes.
    fn initial(&mut self) -> NodeRef {
        match &mut self.subset {
            None => NodeRef::terminal(0),
            Some(subset) => NodeRef(subset.sets.intern(&[NodeRef::terminal(0)])),
        }
    }

    /// The place from which a place of states is left.
    fn root(&mut self, place: NodeRef) -> NodeRef {
        let machine = self.machine;
        let root = |state: NodeRef| machine.roots[state.value().expect("a place of states")];
        match &mut self.subset {
            None => root(place),
            Some(subset) => {
                let roots = subset.sets.get(place.0).iter().map(|&state| root(state));
                let mut roots: Vec<NodeRef> = roots.collect();
                close_erased(machine, &subset.erased, &mut roots);
                NodeRef(subset.sets.intern(&roots))
            }
        }
    }

    /// The track that a place reads first; `u32::MAX` if none.
    fn top(&self, place: NodeRef) -> u32 {
        let top = |at: NodeRef| {
            if at.is_terminal() {
                u32::MAX
            } else {
                self.tracks[self.machine.nodes[at.index()].track as usize]
            }
        };
        match &self.subset {
            None => top(place),
            Some(subset) => {
                let tops = subset.sets.get(place.0).iter().map(|&at| top(at));
                tops.min().unwrap_or(u32::MAX)
            }
        }
    }

    /// The two places below, on a track that is the top of this place.
    fn split(&mut self, place: NodeRef, track: u32) -> [NodeRef; 2] {
        let machine = self.machine;
        let Some(subset) = &mut self.subset else {
            let node = machine.nodes[place.index()];
            return [node.low, node.high];
        };
        let mut sides = [Vec::new(), Vec::new()];

        for &at in subset.sets.get(place.0) {
            let [low, high] = if at.is_terminal() {
                [at, at]
            } else {
                let node = machine.nodes[at.index()];
                if self.tracks[node.track as usize] == track {
                    [node.low, node.high]
                } else {
                    [at, at]
                }
            };
            sides[0].push(low);
            sides[1].push(high);
        }

        sides.map(|mut side| {
            close_erased(machine, &subset.erased, &mut side);
            NodeRef(subset.sets.intern(&side))
        })
    }

    /// The place of states without members that cannot matter.
    fn reduced(&mut self, place: NodeRef) -> NodeRef {
        let machine = self.machine;
        match &mut self.subset {
            None => place,
            Some(subset) => {
                let mut states = subset.sets.get(place.0).to_vec();
                reduce(machine, subset.negated, &mut states);
                NodeRef(subset.sets.intern(&states))
            }
        }
    }

    fn output(&self, place: NodeRef) -> u32 {
        match &self.subset {
            None => self.machine.outputs[place.value().expect("a state")],
            Some(subset) => {
                let states = subset.sets.get(place.0).iter().filter_map(|at| at.value());
                let outputs = states.map(|state| subset.outputs[state]);
                outputs.max().unwrap_or(UNDEFINED)
            }
        }
    }

    /// Will the output be undefined forever?
    fn is_undefined_forever(&self, place: NodeRef) -> bool {
        let sink = |at: NodeRef| {
            let state = at.value().expect("a state");
            self.machine.sink_output(state) == Some(UNDEFINED)
        };
        match &self.subset {
            None => sink(place),
            Some(subset) => subset.sets.get(place.0).iter().all(|&at| sink(at)),
        }
    }

    fn n_members(&self) -> usize {
        self.subset
            .as_ref()
            .map_or(0, |subset| subset.sets.n_elements())
    }

    fn bytes(&self) -> u64 {
        self.subset.as_ref().map_or(0, |subset| subset.sets.bytes())
    }
}

/// What the search found: for true and for false a shortest word, if there is one.
pub(crate) struct Found {
    pub(crate) example: Option<Word>,
    pub(crate) counterexample: Option<Word>,
}

/// How large the sets of a projection may be on the average.
const MEMBERS_PER_TUPLE: usize = 8;

/// What to look for, and how far.
pub(crate) struct Goal {
    /// Give up after this many tuples, or [`MEMBERS_PER_TUPLE`] times as many members of sets.
    pub(crate) max_tuples: usize,
    pub(crate) n_tracks: usize,
    /// A track that is 1 at every position.
    pub(crate) full_track: Option<u32>,
}

/// Searches; `None` if it gave up.
pub(crate) fn search(
    components: Vec<Component<'_>>,
    combination: &Combination,
    goal: &Goal,
    meter: &mut Meter<'_>,
) -> Result<Option<Found>, Unknown> {
    let mut search = LazySearch {
        components,
        combination,
        goal,
        tuples: Sets::new(),
        parents: Vec::new(),
        states: Sets::new(),
        arrivals: Vec::new(),
        found: [None; 2],
    };

    let initial: Vec<NodeRef> = search
        .components
        .iter_mut()
        .map(Component::initial)
        .collect();
    search.expand(&initial, u32::MAX);

    let mut next = 0;
    while next < search.arrivals.len() && !search.is_done() {
        if next % 256 == 0 {
            meter.check(search.arrivals.len(), search.bytes())?;
        }
        if search.is_exhausted() {
            break;
        }
        let state = search.states.get(next as u32).to_vec();
        search.expand(&state, next as u32);
        next += 1;
    }

    if search.is_exhausted() && !search.is_done() {
        return Ok(None);
    }
    let [counterexample, example] = search.found.map(|state| Some(search.word(state?)));
    Ok(Some(Found {
        example,
        counterexample,
    }))
}

/// How a tuple was first met: from which tuple, by which bit; or at which state it begins.
#[derive(Clone, Copy)]
enum Parent {
    Tuple {
        tuple: u32,
        track: u32,
        bit: bool,
    },
    /// `u32::MAX` is the beginning.
    State(u32),
}

struct LazySearch<'m, 's> {
    components: Vec<Component<'m>>,
    combination: &'s Combination,
    goal: &'s Goal,
    tuples: Sets,
    parents: Vec<Parent>,
    states: Sets,
    /// The tuple of terminals by which each state was first reached.
    arrivals: Vec<u32>,
    /// The first false and the first true state.
    found: [Option<u32>; 2],
}

impl LazySearch<'_, '_> {
    fn is_done(&self) -> bool {
        self.found.iter().all(Option::is_some)
    }

    fn is_exhausted(&self) -> bool {
        let members = self.components.iter().map(Component::n_members);
        let n_members: usize = members.sum();
        self.parents.len().max(n_members / MEMBERS_PER_TUPLE) > self.goal.max_tuples
    }

    fn bytes(&self) -> u64 {
        let components: u64 = self.components.iter().map(Component::bytes).sum();
        self.tuples.bytes() + self.states.bytes() + self.parents.len() as u64 * 16 + components
    }

    /// Walks everything below the roots of a state that was not met before.
    fn expand(&mut self, state: &[NodeRef], number: u32) {
        let places = self.components.iter_mut().zip(state);
        let roots: Vec<NodeRef> = places.map(|(c, &place)| c.root(place)).collect();
        let mut stack = Vec::new();
        self.meet(&roots, Parent::State(number), &mut stack);

        while let Some(tuple) = stack.pop() {
            // All states found here are equally far, so there is nothing better to wait for.
            if self.is_done() || self.is_exhausted() {
                return;
            }
            let places = self.tuples.get(tuple).to_vec();
            let tops: Vec<u32> = self
                .components
                .iter()
                .zip(&places)
                .map(|(c, &place)| c.top(place))
                .collect();
            let track = tops.iter().copied().min().unwrap_or(u32::MAX);
            if track == u32::MAX {
                self.arrive(&places, tuple);
                continue;
            }
            let (mut low, mut high) = (places.clone(), places);
            for (index, component) in self.components.iter_mut().enumerate() {
                if tops[index] == track {
                    [low[index], high[index]] = component.split(low[index], track);
                }
            }
            for (bit, places) in [(true, high), (false, low)] {
                if bit || self.goal.full_track != Some(track) {
                    self.meet(&places, Parent::Tuple { tuple, track, bit }, &mut stack);
                }
            }
        }
    }

    fn meet(&mut self, places: &[NodeRef], parent: Parent, stack: &mut Vec<u32>) {
        let tuple = self.tuples.intern(places);
        if tuple as usize == self.parents.len() {
            self.parents.push(parent);
            stack.push(tuple);
        }
    }

    fn arrive(&mut self, places: &[NodeRef], tuple: u32) {
        let places: Vec<NodeRef> = {
            let pairs = self.components.iter_mut().zip(places);
            pairs
                .map(|(component, &place)| component.reduced(place))
                .collect()
        };

        let mut pairs = self.components.iter().zip(&places);
        if pairs.any(|(component, &place)| component.is_undefined_forever(place)) {
            return;
        }
        let state = self.states.intern(&places);
        if (state as usize) < self.arrivals.len() {
            return;
        }
        self.arrivals.push(tuple);

        let pairs = self.components.iter().zip(&places);
        let outputs: Vec<u32> = pairs
            .map(|(component, &place)| component.output(place))
            .collect();
        let slot = match self.combination.evaluate(&outputs) {
            FALSE => &mut self.found[0],
            TRUE => &mut self.found[1],
            _ => return,
        };
        slot.get_or_insert(state);
    }

    fn word(&self, mut state: u32) -> Word {
        let mut letters = Vec::new();
        while state != u32::MAX {
            let mut letter = vec![None; self.goal.n_tracks];
            let mut tuple = self.arrivals[state as usize];
            state = loop {
                match self.parents[tuple as usize] {
                    Parent::State(before) => break before,
                    Parent::Tuple {
                        tuple: above,
                        track,
                        bit,
                    } => {
                        letter[track as usize] = Some(bit);
                        tuple = above;
                    }
                }
            };
            letters.push(letter);
        }

        let booleans = letters.pop().expect("the letter of the Booleans");
        letters.reverse();
        Word { booleans, letters }
    }
}

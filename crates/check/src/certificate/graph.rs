//! The product of a system and the checker's automaton, in memory.

use base::{AtomId, Budget, Fairness};
use certify::{BadRuns, Demands, Letter, Marks, NoRun, Profile, StateWalk};
use model::Model;
use rustc_hash::FxHashMap;

use super::refutation::Refutation;
use super::{MAX_STATES, Uncertified};

/// The product. Nodes and sets of marks are numbered.
pub(super) struct Product<'m> {
    pub(super) marks: Marks<'m>,
    /// Different sets of marks.
    pub(super) mark_sets: Vec<Box<[u64]>>,
    system: SystemGraph,
    /// The state and the demands of each node.
    nodes: Vec<(u32, u32)>,
    demands: Vec<Demands>,
    edges: Vec<Edge>,
    /// Where the edges of each node begin, and where the last ones end.
    first_edge: Vec<usize>,
}

/// An edge of the product.
#[derive(Clone, Copy)]
pub(super) struct Edge {
    /// The node it leads to.
    pub(super) target: u32,
    /// Which of the steps of the state it takes.
    pub(super) step: u32,
    /// The number of its set of marks.
    pub(super) marks: u32,
}

/// All states and steps of the system.
struct SystemGraph {
    steps: Vec<SystemStep>,
    first_step: Vec<usize>,
}

#[derive(Clone, Copy)]
struct SystemStep {
    target: u32,
    letter: u32,
    /// The number of the set of marks without those of the automaton.
    marks: u32,
}

/// Numbers things in the order in which they come up.
struct Numbering<T> {
    number_by_item: FxHashMap<T, u32>,
    items: Vec<T>,
}

impl<T: Clone + Eq + std::hash::Hash> Numbering<T> {
    fn new() -> Self {
        Self {
            number_by_item: FxHashMap::default(),
            items: Vec::new(),
        }
    }

    fn number(&mut self, item: T) -> u32 {
        let next = self.items.len() as u32;
        *self.number_by_item.entry(item).or_insert_with_key(|item| {
            self.items.push(item.clone());
            next
        })
    }
}

impl<'m> Product<'m> {
    /// Lists all states, then all nodes.
    pub(super) fn new(
        model: &'m Model,
        bad: &BadRuns,
        fairness: Fairness,
        atoms: &[AtomId],
        budget: &Budget,
    ) -> Result<Self, Uncertified> {
        let marks = Marks::new(model, fairness, bad);
        let mut walk = StateWalk::new(model, atoms.to_vec(), MAX_STATES, budget)?;
        let mut step_marks = Numbering::new();
        let system = SystemGraph::new(model, &marks, &mut walk, &mut step_marks)?;

        let mut building = Building {
            bad,
            walk: &walk,
            nodes: Numbering::new(),
            demands: Numbering::new(),
            readings: FxHashMap::default(),
        };
        for state in 0..walk.n_initial() {
            let letter = walk.initial_letter(state);
            for (target, _) in building.read(&bad.start(), letter)? {
                building.nodes.number((state as u32, target));
            }
        }

        let mut mark_sets = Numbering::new();
        let (mut edges, mut first_edge) = (Vec::new(), vec![0]);
        while first_edge.len() <= building.nodes.items.len() {
            let node = first_edge.len() - 1;
            if node.is_multiple_of(4096) {
                let n_bytes = (edges.len() * size_of::<Edge>()) as u64;
                let spent = budget.check(system.n_states() as u64, n_bytes);
                spent.map_err(Uncertified::Stopped)?;
            }
            let (state, demands) = building.nodes.items[node];
            for (position, step) in system.steps_of(state).iter().enumerate() {
                let of_step = &step_marks.items[step.marks as usize];
                for (target, of_automaton) in building.targets(demands, step.letter)? {
                    let set = marks.with_automaton(of_step, &of_automaton);
                    edges.push(Edge {
                        target: building.nodes.number((step.target, target)),
                        step: position as u32,
                        marks: mark_sets.number(set.into_boxed_slice()),
                    });
                }
            }
            first_edge.push(edges.len());
        }

        Ok(Self {
            marks,
            mark_sets: mark_sets.items,
            nodes: building.nodes.items,
            demands: building.demands.items,
            system,
            edges,
            first_edge,
        })
    }

    pub(super) fn n_nodes(&self) -> usize {
        self.nodes.len()
    }

    /// The edges that leave a node.
    pub(super) fn edges(&self, node: u32) -> &[Edge] {
        &self.edges[self.first_edge[node as usize]..self.first_edge[node as usize + 1]]
    }

    /// The state of the system in a node.
    pub(super) fn state(&self, node: u32) -> u32 {
        self.nodes[node as usize].0
    }

    /// The states that the steps of a state lead to.
    pub(super) fn successors(&self, state: u32) -> impl Iterator<Item = u32> + '_ {
        self.system.steps_of(state).iter().map(|step| step.target)
    }

    /// What goes into the file.
    pub(super) fn proof(self, refutation: Refutation) -> NoRun {
        let mut of_state: Vec<Profile> = vec![Vec::new(); self.system.n_states()];
        for ((state, demands), path) in self.nodes.iter().zip(refutation.paths) {
            of_state[*state as usize].push((*demands, path));
        }
        let mut profiles = Numbering::new();
        let mut profile_of = Vec::new();
        for mut profile in of_state {
            profile.sort_unstable();
            profile_of.push(profiles.number(profile));
        }
        NoRun {
            profile_of,
            profiles: profiles.items,
            demands: self.demands,
            reasons: refutation.reasons,
        }
    }
}

impl SystemGraph {
    fn new(
        model: &Model,
        marks: &Marks<'_>,
        walk: &mut StateWalk<'_>,
        step_marks: &mut Numbering<Box<[u64]>>,
    ) -> Result<Self, Uncertified> {
        let mut graph = Self {
            steps: Vec::new(),
            first_step: vec![0],
        };
        loop {
            let visits = walk.next_visits()?;
            if visits.is_empty() {
                return Ok(graph);
            }
            for visit in visits {
                let enabled = marks.enabled(model, &visit.state, &visit.steps);
                let ends = visit.targets.iter().zip(visit.letters);
                for (step, (target, letter)) in visit.steps.iter().zip(ends) {
                    let holds = |atom: AtomId| walk.holds(letter, atom);
                    let set = marks.of_step(&enabled, step, &holds);
                    graph.steps.push(SystemStep {
                        target: *target,
                        letter,
                        marks: step_marks.number(set.into_boxed_slice()),
                    });
                }
                graph.first_step.push(graph.steps.len());
            }
        }
    }

    fn n_states(&self) -> usize {
        self.first_step.len() - 1
    }

    fn steps_of(&self, state: u32) -> &[SystemStep] {
        &self.steps[self.first_step[state as usize]..self.first_step[state as usize + 1]]
    }
}

/// Where the automaton goes, with the marks on the way.
type Targets = Vec<(u32, Vec<usize>)>;

/// What is needed while nodes come up.
struct Building<'a> {
    bad: &'a BadRuns,
    walk: &'a StateWalk<'a>,
    nodes: Numbering<(u32, u32)>,
    demands: Numbering<Demands>,
    readings: FxHashMap<(u32, Letter), Targets>,
}

impl Building<'_> {
    fn read(&mut self, from: &[u32], letter: Letter) -> Result<Targets, Uncertified> {
        let readings = self.bad.read(from, &|atom| self.walk.holds(letter, atom));
        let too_large = || Uncertified::Unsupported("the formula is too large".to_owned());
        let readings = readings.ok_or_else(too_large)?;
        let numbered = readings.into_iter();
        Ok(numbered
            .map(|reading| (self.demands.number(reading.target), reading.marks))
            .collect())
    }

    fn targets(&mut self, demands: u32, letter: Letter) -> Result<Targets, Uncertified> {
        if let Some(targets) = self.readings.get(&(demands, letter)) {
            return Ok(targets.clone());
        }
        let from = self.demands.items[demands as usize].clone();
        let targets = self.read(&from, letter)?;
        self.readings.insert((demands, letter), targets.clone());
        Ok(targets)
    }
}

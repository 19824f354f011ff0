//! Labelled transition systems with named visible labels and one invisible one.

use std::collections::{HashMap, VecDeque};

use engine::{StateGraph, System};

/// The invisible label.
pub const SILENT: u32 = 0;

/// A labelled transition system. State 0 to `n_initial - 1` are initial.
#[derive(Clone, Debug, Default)]
pub struct Lts {
    /// The names of labels; the first is the invisible one.
    names: Vec<String>,
    /// How many states are initial.
    pub n_initial: usize,
    /// The steps of each state: label, target and which step of the graph it is.
    pub steps: Vec<Vec<(u32, u32, u32)>>,
}

/// Steps through a graph: where each starts, and its number there.
pub(super) type Way = Vec<(u32, u32)>;

impl Lts {
    /// A system with these steps (source, name, target; no name is invisible) and one initial state.
    #[must_use]
    pub fn from_steps(n_states: usize, steps: &[(u32, Option<&str>, u32)]) -> Self {
        let mut lts = Self {
            names: vec!["tau".to_owned()],
            n_initial: 1,
            steps: vec![Vec::new(); n_states],
        };
        for (source, name, target) in steps {
            let label = match name {
                None => SILENT,
                Some(name) => lts.label(name),
            };
            let own = &mut lts.steps[*source as usize];
            let position = own.len() as u32;
            own.push((label, *target, position));
        }
        lts
    }

    /// The graph of a system; steps called `silent` are invisible, idle steps are left out.
    pub(super) fn new(system: &System<'_>, graph: &StateGraph, silent: &str) -> Self {
        let model = system.model();
        let mut lts = Self {
            names: vec![silent.to_owned()],
            n_initial: graph.n_initial(),
            steps: Vec::new(),
        };
        let mut label_by_name: HashMap<String, u32> = HashMap::new();

        for node in 0..graph.n_nodes() as u32 {
            let mut own = Vec::new();
            for (position, &target) in graph.targets(node).iter().enumerate() {
                let step = graph.trace_step(system, node, position);
                let Some(&command) = step.commands.first() else {
                    continue;
                };
                let label = if model.step_of(command).name == silent {
                    SILENT
                } else {
                    let name = model.action_name(step.actions[0]);
                    match label_by_name.get(name) {
                        Some(label) => *label,
                        None => {
                            let label = lts.label(name);
                            label_by_name.insert(name.to_owned(), label);
                            label
                        }
                    }
                };
                own.push((label, target, position as u32));
            }
            lts.steps.push(own);
        }

        lts
    }

    fn label(&mut self, name: &str) -> u32 {
        let known = self.names.iter().skip(1).position(|known| known == name);
        let label = known.map_or(self.names.len(), |position| position + 1);
        if label == self.names.len() {
            self.names.push(name.to_owned());
        }
        label as u32
    }

    /// The name of a label.
    #[must_use]
    pub fn label_name(&self, label: u32) -> &str {
        &self.names[label as usize]
    }

    /// All names of labels; the first is the invisible one.
    #[must_use]
    pub fn names(&self) -> &[String] {
        &self.names
    }

    /// For each state: does it lie on a cycle of invisible steps?
    #[must_use]
    pub fn silent_cycles(&self) -> Vec<bool> {
        let n = self.steps.len();
        let mut on_cycle = vec![false; n];
        let component = self.silent_components();
        let mut size = HashMap::new();
        for id in &component {
            *size.entry(*id).or_insert(0_usize) += 1;
        }
        for (state, steps) in self.steps.iter().enumerate() {
            let loops = |&(label, target, _): &(u32, u32, u32)| {
                label == SILENT
                    && (target as usize == state
                        || component[target as usize] == component[state]
                            && size[&component[state]] > 1)
            };
            on_cycle[state] = steps.iter().any(loops);
        }
        on_cycle
    }

    /// Strongly connected components along invisible steps: Tarjan's algorithm with a stack of its
    /// own, whose entries are a state and how many of its steps have been looked at.
    fn silent_components(&self) -> Vec<u32> {
        let n = self.steps.len();
        let mut component = vec![u32::MAX; n];
        let mut number = vec![u32::MAX; n];
        let mut low = vec![0_u32; n];
        let (mut next, mut n_components) = (0_u32, 0_u32);
        let mut open: Vec<u32> = Vec::new();

        for root in 0..n as u32 {
            if number[root as usize] != u32::MAX {
                continue;
            }
            let mut work = vec![(root, 0_usize)];
            while let Some(&(state, position)) = work.last() {
                let s = state as usize;
                if number[s] == u32::MAX {
                    (number[s], low[s]) = (next, next);
                    next += 1;
                    open.push(state);
                }
                if let Some(&(label, target, _)) = self.steps[s].get(position) {
                    let last = work.len() - 1;
                    work[last].1 += 1;
                    let t = target as usize;
                    if label == SILENT && number[t] == u32::MAX {
                        work.push((target, 0));
                    } else if label == SILENT && component[t] == u32::MAX {
                        low[s] = low[s].min(number[t]);
                    }
                    continue;
                }
                work.pop();
                if let Some((parent, _)) = work.last() {
                    let p = *parent as usize;
                    low[p] = low[p].min(low[s]);
                }
                if low[s] == number[s] {
                    while let Some(member) = open.pop() {
                        component[member as usize] = n_components;
                        if member == state {
                            break;
                        }
                    }
                    n_components += 1;
                }
            }
        }

        component
    }

    /// A shortest way to a state with two equally named steps to different states: its start, its steps,
    /// and the name.
    pub(super) fn ambiguous(&self) -> Option<(u32, Way, u32)> {
        let mut from: Vec<Option<(u32, u32)>> = vec![None; self.steps.len()];
        let mut seen = vec![false; self.steps.len()];
        let mut queue: VecDeque<u32> = (0..self.n_initial as u32).collect();
        for state in &queue {
            seen[*state as usize] = true;
        }

        while let Some(state) = queue.pop_front() {
            let mut target_by_label = HashMap::new();
            for &(label, target, position) in &self.steps[state as usize] {
                if *target_by_label.entry(label).or_insert(target) != target {
                    let mut path = Vec::new();
                    let mut at = state;
                    while let Some((before, step)) = from[at as usize] {
                        path.push((before, step));
                        at = before;
                    }
                    path.reverse();
                    return Some((at, path, label));
                }
                if !seen[target as usize] {
                    seen[target as usize] = true;
                    from[target as usize] = Some((state, position));
                    queue.push_back(target);
                }
            }
        }

        None
    }
}

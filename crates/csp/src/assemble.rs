//! From components and their structure to a model.
//!
//! Every event becomes an action that is called after it, whichever process performs it. Events
//! that several components must perform together become events of the model: one for each
//! combination of partners that the alphabets allow. Joint termination is an event as well.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use base::{Source, Span};
use model::{
    Annotation, AnnotationKind, Event, EventId, Expr, LocationId, Process, ProcessId, Step, Stmt,
    StmtKind, Sync, Target,
};

use super::component::{Component, Limits, LocatedMove};
use super::lexer::Name;
use super::moves::Label;
use super::skeleton::Node;
use super::term::{Machine, SetId, TermId};

/// More combinations of partners than this are refused.
const MAX_TEAMS: usize = 50_000;

/// What invisible steps are called.
pub(crate) const SILENT: &str = "tau";

/// What successful termination of the whole system is called.
pub(crate) const TERMINATE: &str = "terminate";

/// A model's processes, and what assertions need to know about them.
#[derive(Debug)]
pub(crate) struct Assembled {
    /// The condition that the system has terminated; nothing if it never does.
    pub(crate) terminated: Option<Expr>,
    /// The names of all visible events.
    pub(crate) events: BTreeSet<Name>,
    /// A component that contains parallel compositions.
    pub(crate) compound: Option<(String, Span)>,
}

/// Events, each with the lists of components that can perform it together.
type Teams = BTreeMap<Name, Vec<Vec<usize>>>;

/// Components that perform an event together.
#[derive(Clone, Debug)]
struct Team {
    name: Name,
    members: Vec<usize>,
    hidden: bool,
}

impl Machine<'_> {
    /// Adds the processes of a system to the model.
    pub(crate) fn assemble(
        &mut self,
        root: TermId,
        limits: Limits,
        sources: &[Source],
    ) -> Option<Assembled> {
        let mut node = self.skeleton(root);

        let mut terms = Vec::new();
        node.number(&mut terms);
        let names = self.component_names(&terms, sources);

        let mut components = Vec::new();
        for (position, (term, name)) in terms.into_iter().zip(names).enumerate() {
            let process = ProcessId::new(position);
            components.push(self.component(term, name, process, limits, sources)?);
        }

        let assembly = Assembly {
            machine: self,
            components,
            processes: Vec::new(),
            annotated: BTreeSet::new(),
            hidden_by: Vec::new(),
            events: BTreeSet::new(),
        };
        assembly.run(&node)
    }

    /// Different names for all components: calls as they are written.
    fn component_names(&self, terms: &[TermId], sources: &[Source]) -> Vec<String> {
        let mut n_by_name: HashMap<String, usize> = HashMap::new();
        let describe = |term: &TermId| match &self.terms[term.index()] {
            super::term::Term::Call(process, arguments) => self.describe_call(*process, arguments),
            _ => self.describe(*term, sources, 0),
        };
        let names: Vec<String> = terms.iter().map(describe).collect();
        for name in &names {
            *n_by_name.entry(name.clone()).or_insert(0) += 1;
        }
        let mut seen: HashMap<&String, usize> = HashMap::new();
        let number = |name: &String| n_by_name[name] > 1;
        let mut list = Vec::new();

        for name in &names {
            let n = seen.entry(name).or_insert(0);
            *n += 1;
            list.push(if number(name) {
                format!("{name}#{n}")
            } else {
                name.clone()
            });
        }

        list
    }
}

pub(super) struct Assembly<'m, 'a> {
    pub(super) machine: &'m mut Machine<'a>,
    pub(super) components: Vec<Component>,
    pub(super) processes: Vec<Process>,
    annotated: BTreeSet<(u8, String)>,
    /// The hidden sets around each component.
    pub(super) hidden_by: Vec<Vec<(SetId, usize)>>,
    pub(super) events: BTreeSet<Name>,
}

impl Assembly<'_, '_> {
    fn run(mut self, node: &Node) -> Option<Assembled> {
        self.hidden_by = vec![Vec::new(); self.components.len()];
        self.find_hidden(node, &mut Vec::new(), &mut 0);
        self.make_processes();

        let mut teams = Vec::new();
        for (name, lists) in self.teams(node, &mut teams)? {
            teams.extend(lists.into_iter().map(|members| Team {
                name: name.clone(),
                members,
                hidden: false,
            }));
        }

        self.alone();
        for team in &teams {
            self.team(team);
        }
        self.handshakes();

        let terminated = self.terminations(node);
        let mut initial = Vec::new();
        node.entries(&mut initial);
        self.finish(&initial);

        let compound = self
            .components
            .iter()
            .find(|component| component.is_compound);
        let compound = compound.map(|component| (component.name.clone(), component.span));
        self.machine.parts.processes = self.processes;
        Some(Assembled {
            terminated,
            events: self.events,
            compound,
        })
    }

    fn find_hidden(&mut self, node: &Node, around: &mut Vec<(SetId, usize)>, n: &mut usize) {
        match node {
            Node::Leaf(_, leaf) => self.hidden_by[*leaf] = around.clone(),
            Node::Interleave(parts) => {
                parts
                    .iter()
                    .for_each(|part| self.find_hidden(part, around, n));
            }
            Node::Parallel(parts) => {
                parts
                    .iter()
                    .for_each(|(part, _)| self.find_hidden(part, around, n));
            }
            Node::Seq(first, second) => {
                self.find_hidden(first, around, n);
                self.find_hidden(second, around, n);
            }
            Node::Hide(inner, set) => {
                *n += 1;
                around.push((*set, *n));
                self.find_hidden(inner, around, n);
                around.pop();
            }
        }
    }

    /// The location after the last is where a component is that has terminated; the next one is
    /// where it waits until it is started.
    fn make_processes(&mut self) {
        for component in &self.components {
            let mut locations = component.locations.clone();
            locations.push("terminated".to_owned());
            locations.push("not started".to_owned());
            let steps = component.exhausted.iter().map(|&location| Step {
                effect: vec![Stmt::new(StmtKind::Exhausted, component.span)],
                ..Step::new(
                    SILENT,
                    LocationId::new(location),
                    LocationId::new(location),
                    component.span,
                )
            });
            let steps = steps.collect();
            let process = Process::new(&component.name, locations, steps, component.span);
            self.processes.push(process);
        }
    }

    fn finish(&mut self, initial: &[usize]) {
        for (position, process) in self.processes.iter_mut().enumerate() {
            let waiting = LocationId::new(process.locations.len() - 1);
            if !initial.contains(&position) {
                process.initial = vec![waiting];
            } else {
                process.locations.pop();
            }
        }
    }

    /// The events of a node, each with the teams that can perform it. Hidden ones are put aside.
    fn teams(&mut self, node: &Node, hidden: &mut Vec<Team>) -> Option<Teams> {
        match node {
            Node::Leaf(_, leaf) => {
                let mut map = BTreeMap::new();
                for step in &self.components[*leaf].steps {
                    if let Label::Event(name) = &step.step.label {
                        map.insert(name.clone(), vec![vec![*leaf]]);
                    }
                }
                Some(map)
            }
            Node::Interleave(parts) => {
                let mut map = Teams::new();
                for part in parts {
                    for (name, teams) in self.teams(part, hidden)? {
                        map.entry(name).or_default().extend(teams);
                    }
                }
                Some(map)
            }
            Node::Parallel(parts) => {
                let mut maps = Vec::new();
                for (part, set) in parts {
                    maps.push((self.teams(part, hidden)?, *set));
                }
                self.synchronised(&maps)
            }
            Node::Seq(first, second) => {
                let mut map = self.teams(first, hidden)?;
                for (name, teams) in self.teams(second, hidden)? {
                    map.entry(name).or_default().extend(teams);
                }
                Some(map)
            }
            Node::Hide(inner, set) => {
                let mut map = self.teams(inner, hidden)?;
                let set = &self.machine.sets[set.index()];
                for name in set {
                    for members in map.remove(name).unwrap_or_default() {
                        let name = name.clone();
                        hidden.push(Team {
                            name,
                            members,
                            hidden: true,
                        });
                    }
                }
                Some(map)
            }
        }
    }

    fn synchronised(&mut self, parts: &[(Teams, SetId)]) -> Option<Teams> {
        let names: BTreeSet<&Name> = parts.iter().flat_map(|(map, _)| map.keys()).collect();
        let mut result = BTreeMap::new();
        for name in names {
            let mut teams: Vec<Vec<usize>> = Vec::new();
            let mut joint: Option<Vec<Vec<usize>>> = None;
            for (map, set) in parts {
                let own = map.get(name).cloned().unwrap_or_default();
                if !self.machine.sets[set.index()].contains(name) {
                    teams.extend(own);
                    continue;
                }
                joint = Some(match joint {
                    None => own,
                    Some(so_far) => {
                        if so_far.len() * own.len() > MAX_TEAMS {
                            let message =
                                format!("`{name}` can be performed by too many combinations");
                            let span = Span::nowhere();
                            return self.machine.error("too-many-partners", span, message);
                        }
                        let pair = |left: &Vec<usize>| {
                            let with = |right: &Vec<usize>| [left.as_slice(), right].concat();
                            own.iter().map(with).collect::<Vec<_>>()
                        };
                        so_far.iter().flat_map(pair).collect()
                    }
                });
            }
            teams.extend(joint.unwrap_or_default());
            if !teams.is_empty() {
                result.insert(name.clone(), teams);
            }
        }

        Some(result)
    }

    fn located(component: &Component, step: &LocatedMove) -> (LocationId, LocationId) {
        let done = component.locations.len();
        (
            LocationId::new(step.source),
            LocationId::new(step.target.unwrap_or(done)),
        )
    }

    /// The step of the model for a move, without its partners.
    pub(super) fn step(&self, leaf: usize, position: usize, name: &str) -> Step {
        let component = &self.components[leaf];
        let step = &component.steps[position];
        let (source, target) = Self::located(component, step);
        Step {
            guard: step.step.guard.clone(),
            effect: step.step.effect.clone(),
            priority: step.step.priority,
            ..Step::new(name, source, target, step.step.span)
        }
    }

    /// Steps that no other component takes part in.
    fn alone(&mut self) {
        for leaf in 0..self.components.len() {
            for position in 0..self.components[leaf].steps.len() {
                let label = self.components[leaf].steps[position].step.label.clone();
                match label {
                    Label::Tau => {
                        let step = self.step(leaf, position, SILENT);
                        self.push(leaf, position, step, SILENT);
                    }
                    Label::Alone(name) => {
                        let sets = self.hidden_by[leaf].iter();
                        let hidden = sets
                            .clone()
                            .any(|(set, _)| self.machine.sets[set.index()].contains(&name));
                        self.push_alone(leaf, position, &name, hidden);
                    }
                    _ => {}
                }
            }
        }
    }

    fn push_alone(&mut self, leaf: usize, position: usize, name: &Name, hidden: bool) {
        let shown = if hidden { SILENT } else { name };
        let mut step = self.step(leaf, position, shown);
        step.label = Some(if hidden {
            format!("{SILENT}({name})")
        } else {
            name.to_string()
        });
        if !hidden {
            self.events.insert(name.clone());
        }
        self.push(leaf, position, step, shown);
    }

    fn push(&mut self, leaf: usize, position: usize, step: Step, name: &str) {
        if let Some((kind, span)) = self.components[leaf].steps[position].step.fairness {
            let target = Target::Action(ProcessId::new(leaf), name.to_owned());
            self.annotate(kind, target, span);
        }
        self.processes[leaf].steps.push(step);
    }

    pub(super) fn annotate(&mut self, kind: AnnotationKind, target: Target, span: Span) {
        if self.annotated.insert((kind as u8, format!("{target:?}"))) {
            self.machine
                .parts
                .annotations
                .push(Annotation { kind, target, span });
        }
    }

    pub(super) fn event(&mut self, name: String, span: Span) -> EventId {
        self.machine.parts.events.push(Event { name, span });
        EventId::new(self.machine.parts.events.len() - 1)
    }

    pub(super) fn positions(&self, leaf: usize, fits: impl Fn(&Label) -> bool) -> Vec<usize> {
        let steps = self.components[leaf].steps.iter().enumerate();
        let fitting = steps.filter(|(_, step)| fits(&step.step.label));
        fitting.map(|(position, _)| position).collect()
    }

    /// An event that a team performs.
    fn team(&mut self, team: &Team) {
        let fits = |label: &Label| matches!(label, Label::Event(other) if *other == team.name);
        if !team.hidden {
            self.events.insert(team.name.clone());
        }
        if let [leaf] = team.members[..] {
            for position in self.positions(leaf, fits) {
                self.push_alone(leaf, position, &team.name, team.hidden);
            }
            return;
        }

        let (shown, full) = if team.hidden {
            (SILENT, format!("{SILENT}({})", team.name))
        } else {
            (&*team.name, team.name.to_string())
        };
        let mut event = None;

        for &leaf in &team.members {
            for position in self.positions(leaf, fits) {
                let mut step = self.step(leaf, position, shown);
                let id = match event {
                    Some(id) => id,
                    None => *event.insert(self.event(full.clone(), step.span)),
                };
                step.sync = joining(id);
                if let Some((kind, span)) = self.components[leaf].steps[position].step.fairness {
                    self.annotate(kind, Target::Event(id), span);
                }
                self.processes[leaf].steps.push(step);
            }
        }
    }

    /// Joint termination: of the first half of sequences, which starts the second, and of the
    /// whole system.
    fn terminations(&mut self, node: &Node) -> Option<Expr> {
        let mut sequences = Vec::new();
        node.for_each_sequence(&mut |first, second| {
            let (mut exits, mut entries) = (Vec::new(), Vec::new());
            first.exits(&mut exits);
            second.entries(&mut entries);
            sequences.push((exits, entries));
        });

        for (exits, entries) in sequences {
            self.terminate(&exits, &entries, SILENT);
        }

        let mut exits = Vec::new();
        node.exits(&mut exits);
        self.terminate(&exits, &[], TERMINATE).then(|| {
            let process = ProcessId::new(exits[0]);
            let done = self.components[exits[0]].locations.len();
            Expr::At {
                process,
                owner: model::Owner::Single,
                locations: vec![LocationId::new(done)],
            }
        })
    }

    /// False if some component never terminates.
    fn terminate(&mut self, exits: &[usize], entries: &[usize], name: &str) -> bool {
        let is_tick = |label: &Label| matches!(label, Label::Tick);
        let ticks: Vec<Vec<usize>> = exits
            .iter()
            .map(|leaf| self.positions(*leaf, is_tick))
            .collect();
        if ticks.iter().any(Vec::is_empty) {
            return false;
        }
        if name == TERMINATE {
            self.events.insert(TERMINATE.into());
        }

        if let ([leaf], [], [positions]) = (exits, entries, ticks.as_slice()) {
            for &position in positions {
                let mut step = self.step(*leaf, position, name);
                step.label = Some(name.to_owned());
                self.processes[*leaf].steps.push(step);
            }
            return true;
        }

        let span = self.components[exits[0]].span;
        let id = self.event(name.to_owned(), span);
        for (leaf, positions) in exits.iter().zip(ticks) {
            for position in positions {
                let mut step = self.step(*leaf, position, name);
                step.sync = joining(id);
                self.processes[*leaf].steps.push(step);
            }
        }

        for &leaf in entries {
            let n_locations = self.processes[leaf].locations.len();
            let waiting = LocationId::new(n_locations - 1);
            let mut step = Step::new(name, waiting, LocationId(0), span);
            step.sync = joining(id);
            self.processes[leaf].steps.push(step);
        }

        true
    }
}

pub(super) fn joining(event: EventId) -> Sync {
    Sync::Event {
        event,
        arguments: Vec::new(),
    }
}

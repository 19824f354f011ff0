//! The abstract transition system, from one pass over every transition.
//!
//! Abstraction (Baukus, Lakhnech, Stahl, section 5): an abstract state is the truth of a list of predicates; two
//! abstract states are related by a transition iff some concrete step of some instance, seen with
//! the same distinguished processes, leads from a state described by the first to one described by
//! the second. All predicates are multiplied into one machine ([`ws1s::VectorMachine`]); one walk
//! over a transition, this machine and its primed copy meets every pair of abstract states, and
//! with it what the step does to every ranking (section 6.1).
//!
//! A pointer of whose process some predicate says where it is or what it has is *watched*: labels
//! also tell whether that process moves (the paper's `tk°`, section 7.2, for the one in `turn`).
//!
//! *Observations* are further predicates that are looked at but not kept: they tell whether the
//! abstract state decides them.

use std::collections::{BTreeMap, BTreeSet};

use base::Budget;
use ws1s::{Automaton, TRUE, Unknown, VectorMachine, reachable_vectors};

use super::encode::Encoder;
use super::logic::{Base, IndexVar, Logic, PointerId, Term, Time};
use super::steps::Family;

/// A named formula about states and distinguished processes.
#[derive(Clone, PartialEq, Debug)]
pub struct Predicate {
    /// What reports call it.
    pub name: String,
    /// What it means.
    pub logic: Logic,
}

/// A set of processes whose size is watched.
#[derive(Clone, PartialEq, Debug)]
pub struct Ranking {
    /// What reports call it.
    pub name: String,
    /// Stands for the process.
    pub var: IndexVar,
    /// Is the process in the set? Processes outside the family never are: the set is finite.
    pub logic: Logic,
}

/// What an abstract step does to a set: something that is true of every concrete step that it stands
/// for.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Mark {
    /// It becomes strictly smaller.
    Decreases,
    /// It gains no member.
    Keeps,
    /// It may gain members.
    MayIncrease,
}

/// What labels an abstract step.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Label {
    /// The transition; nothing for the idle step of a deadlock.
    pub transition: Option<usize>,
    /// Which distinguished processes it is that move. None: another process.
    pub movers: Vec<bool>,
    /// The watched pointers that point to the process that moves, before the step.
    pub holders: Vec<PointerId>,
}

/// An abstract step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Edge {
    /// From where.
    pub source: usize,
    /// To where.
    pub target: usize,
    /// Its label, by number.
    pub label: usize,
    /// What it does to each ranking.
    pub marks: Vec<Mark>,
}

/// The reachable part of an abstract system.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    /// The truth of the predicates, by state.
    pub states: Vec<Vec<bool>>,
    /// For each state and observation its truth, if the state decides it.
    pub observed: Vec<Vec<Option<bool>>>,
    /// Where runs start.
    pub initial: Vec<usize>,
    /// All labels.
    pub labels: Vec<Label>,
    /// All steps, sorted by source.
    pub edges: Vec<Edge>,
    /// How many labelled steps there are between all abstract states, reachable or not.
    pub n_pairs: usize,
    /// States that describe a concrete deadlock.
    pub deadlocks: BTreeSet<usize>,
    /// States that describe a concrete state in which a guard or effect fails, and which.
    pub failures: BTreeMap<usize, usize>,
    /// Which failing starts some instance has; see [`Family::failing_starts`].
    pub failing_starts: Vec<usize>,
}

/// What is to be abstracted, and how.
pub struct Request<'r> {
    /// The distinguished processes.
    pub distinguished: &'r [IndexVar],
    /// What is true of them, and of every state that can be reached.
    pub context: Logic,
    /// The abstract variables.
    pub predicates: &'r [Predicate],
    /// What else is looked at.
    pub observations: &'r [Logic],
    /// What is watched.
    pub rankings: &'r [Ranking],
}

/// A state or step as the walk sees it: predicates, then observations.
type Vector = Vec<bool>;

/// Steps between abstract states, with their label and what they do to the rankings.
type Relation = BTreeMap<(Vector, Vector, Label), Kinds>;

/// Between two abstract states at most so many kinds of steps with one label are told apart.
const MAX_KINDS: usize = 12;

/// What the concrete steps that an abstract step stands for do to all rankings together: each of them
/// is described by one of these. A step that makes one of two sets smaller, but neither always, is two.
#[derive(Default)]
struct Kinds(Vec<Vec<Mark>>);

impl Kinds {
    /// Of two kinds of which one says more about every ranking, the other suffices: whatever run it
    /// describes, the other describes, too.
    fn add(&mut self, marks: Vec<Mark>) {
        let is_within = |one: &[Mark], other: &[Mark]| one.iter().zip(other).all(|(a, b)| a <= b);
        if self.0.iter().any(|known| is_within(&marks, known)) {
            return;
        }
        self.0.retain(|known| !is_within(known, &marks));
        self.0.push(marks);
        if self.0.len() > MAX_KINDS {
            let all = std::mem::take(&mut self.0).into_iter();
            let join =
                |a: Vec<Mark>, b: Vec<Mark>| a.into_iter().zip(b).map(|(a, b)| a.max(b)).collect();
            self.0.extend(all.reduce(join));
        }
    }
}

/// Computes the reachable abstract system.
///
/// # Errors
/// If the budget does not suffice.
pub fn explore(
    family: &mut Family<'_>,
    request: &Request<'_>,
    budget: &Budget,
) -> Result<Graph, Unknown> {
    let mut free = vec![family.actor];
    free.extend(request.distinguished);
    let mut pass = Pass {
        encoder: Encoder::new(&family.system, &free, budget),
        request,
        watched: watched(request.predicates),
        budget,
        states: None,
        n_predicates: request.predicates.len(),
    };

    let well_formed = family.well_formed();
    pass.make_states(&Logic::all([well_formed.clone(), family.size.clone()]))?;
    let initial = pass.vectors(&family.initial)?;
    let deadlocks = pass.vectors(&family.deadlock())?;
    let mut failures = Vec::new();
    for (failure, _) in &family.failures {
        failures.push(pass.vectors(failure)?);
    }
    let all = pass.vectors(&Logic::Const(true))?;
    let mut relation = Relation::new();
    for number in 0..family.transitions.len() {
        pass.relate(family, number, &mut relation)?;
    }
    let n_pairs = relation.len();
    let mut graph = reach(&initial, relation, pass.n_predicates);
    graph.n_pairs = n_pairs;
    graph.observed = observed(&graph, &all, pass.n_predicates);

    let state_of = |vector: &Vector| {
        graph
            .states
            .iter()
            .position(|s| *s == vector[..pass.n_predicates])
    };

    graph.deadlocks = deadlocks.iter().filter_map(state_of).collect();
    for (number, vectors) in failures.iter().enumerate() {
        for state in vectors.iter().filter_map(state_of) {
            graph.failures.entry(state).or_insert(number);
        }
    }

    add_idle_steps(&mut graph, request);

    // Neither facts about reachable states nor the question's demands count here, nor what `init`
    // demands: an instance that fails to start has no reachable states.
    let is_instance = family.system.is_instance();
    for (number, (failure, _)) in family.failing_starts.iter().enumerate() {
        let failing = Logic::all([well_formed.clone(), is_instance.clone(), failure.clone()]);
        if pass.encoder.automaton(&failing)?.shortest(TRUE).is_some() {
            graph.failing_starts.push(number);
        }
    }

    Ok(graph)
}

/// A deadlock stutters forever, moves no process and changes no ranking.
fn add_idle_steps(graph: &mut Graph, request: &Request<'_>) {
    if graph.deadlocks.is_empty() {
        return;
    }
    let label = graph.labels.len();
    graph.labels.push(Label {
        transition: None,
        movers: vec![false; request.distinguished.len()],
        holders: Vec::new(),
    });
    for &state in &graph.deadlocks {
        graph.edges.push(Edge {
            source: state,
            target: state,
            label,
            marks: vec![Mark::Keeps; request.rankings.len()],
        });
    }
    graph
        .edges
        .sort_by_key(|edge| (edge.source, edge.target, edge.label));
}

/// What is needed while the transitions are walked.
struct Pass<'p, 'b> {
    encoder: Encoder<'b>,
    request: &'p Request<'p>,
    /// The watched pointers.
    watched: Vec<PointerId>,
    budget: &'b Budget,
    /// Predicates and observations, before and after a step.
    states: Option<(VectorMachine, VectorMachine)>,
    n_predicates: usize,
}

impl Pass<'_, '_> {
    fn make_states(&mut self, well_formed: &Logic) -> Result<(), Unknown> {
        let guard = Logic::all([well_formed.clone(), self.request.context.clone()]);
        let guard = self.encoder.automaton(&guard)?;
        // Always true, so that no vector is empty: walks leave empty vectors out.
        let mut automata = vec![self.encoder.automaton(&Logic::Const(true))?];
        for predicate in self.request.predicates {
            automata.push(self.encoder.automaton(&predicate.logic)?);
        }
        for observation in self.request.observations {
            automata.push(self.encoder.automaton(observation)?);
        }
        let members: Vec<&Automaton> = automata.iter().collect();
        let before = VectorMachine::new(&guard, &members, self.budget)?;
        let vars = self.encoder.primed(before.vars());
        let after = before.rename(&vars, self.budget)?;
        self.states = Some((before, after.expect("priming keeps variables apart")));
        Ok(())
    }

    fn machines(&self) -> (&VectorMachine, &VectorMachine) {
        let (before, after) = self.states.as_ref().expect("made first");
        (before, after)
    }

    /// The vectors of the states that satisfy a formula.
    fn vectors(&mut self, logic: &Logic) -> Result<BTreeSet<Vector>, Unknown> {
        let automaton = self.encoder.automaton(logic)?;
        let (before, _) = self.machines();
        let found = reachable_vectors(&automaton, &[before], self.budget)?;
        Ok(found.iter().map(|tuple| truth(&tuple[0][1..])).collect())
    }

    /// Adds the abstract steps of one transition.
    fn relate(
        &mut self,
        family: &mut Family<'_>,
        number: usize,
        relation: &mut Relation,
    ) -> Result<(), Unknown> {
        let transition = &family.transitions[number];
        let (n_movers, n_holders) = if transition.has_actor {
            (self.request.distinguished.len(), self.watched.len())
        } else {
            (0, 0)
        };
        let step = self.encoder.automaton(&transition.relation)?;
        let step = self.marked_step(family, &step, transition.has_actor)?;
        let anything = self.encoder.automaton(&Logic::Const(true))?;
        let (before, after) = self.machines();
        let n_distinguished = self.request.distinguished.len();

        for tuple in reachable_vectors(&anything, &[&step, before, after], self.budget)? {
            let (source, target) = (truth(&tuple[1][1..]), truth(&tuple[2][1..]));
            let (movers, rest) = tuple[0][1..].split_at(n_movers);
            let (holders, rest) = rest.split_at(n_holders);
            let mut movers = truth(movers);
            movers.resize(n_distinguished, false);
            let holders = self.watched.iter().zip(truth(holders));
            let label = Label {
                transition: Some(number),
                movers,
                holders: holders.filter(|(_, is)| *is).map(|(id, _)| *id).collect(),
            };
            let marks: Vec<Mark> = rest.chunks(2).map(|bits| mark(&truth(bits))).collect();
            let key = (self.kept(source), self.kept(target), label);
            relation.entry(key).or_default().add(marks);
        }

        Ok(())
    }

    /// A vector without its observations.
    fn kept(&self, mut vector: Vector) -> Vector {
        vector.truncate(self.n_predicates);
        vector
    }

    /// The step with outputs: always true; which distinguished processes and which watched pointers
    /// are the one that moves; for each ranking whether its set gains no member and whether it
    /// loses one. Within one step these hardly differ, so this machine is about as small as the
    /// step itself.
    fn marked_step(
        &mut self,
        family: &Family<'_>,
        step: &Automaton,
        has_actor: bool,
    ) -> Result<VectorMachine, Unknown> {
        let actor = Term::var(family.actor);
        let mut outputs = vec![Logic::Const(true)];
        if has_actor {
            let distinguished = self.request.distinguished.iter();
            let pointers = self.watched.iter();
            let names = distinguished
                .map(|var| Term::var(*var))
                .chain(pointers.map(|id| Term::of(Base::Pointer(*id, Time::Now))));
            outputs.extend(names.map(|name| Logic::equal(actor, name)));
        }
        for ranking in self.request.rankings {
            outputs.extend(changes(family, ranking));
        }
        let mut automata = Vec::new();
        for output in &outputs {
            automata.push(self.encoder.automaton(output)?);
        }
        let members: Vec<&Automaton> = automata.iter().collect();
        VectorMachine::new(step, &members, self.budget)
    }
}

/// The pointers of whose process a predicate says where it is or what it has.
fn watched(predicates: &[Predicate]) -> Vec<PointerId> {
    let pointer = |predicate: &Predicate| match predicate.logic {
        Logic::Has(
            _,
            _,
            Term {
                base: Base::Pointer(id, _),
                offset: 0,
            },
            _,
        ) => Some(id),
        _ => None,
    };
    let found: BTreeSet<PointerId> = predicates.iter().filter_map(pointer).collect();
    found.into_iter().collect()
}

/// Does the set of a ranking gain no member? Does it lose one?
fn changes(family: &Family<'_>, ranking: &Ranking) -> [Logic; 2] {
    let inside = family.system.is_process(Term::var(ranking.var));
    let now = Logic::all([inside.clone(), ranking.logic.clone()]);
    let next = Logic::all([inside, ranking.logic.primed()]);
    let gained = Logic::all([next.clone(), Logic::not(now.clone())]);
    let lost = Logic::all([now, Logic::not(next)]);
    let gains_none = Logic::not(Logic::exists(ranking.var, gained));
    let loses_some = Logic::exists(ranking.var, lost);
    [gains_none, loses_some]
}

fn truth(vector: &[u32]) -> Vector {
    vector.iter().map(|output| *output == TRUE).collect()
}

fn mark(bits: &[bool]) -> Mark {
    match bits {
        [true, true] => Mark::Decreases,
        [true, false] => Mark::Keeps,
        _ => Mark::MayIncrease,
    }
}

/// The part of the relation that the initial states reach, breadth first.
fn reach(initial: &BTreeSet<Vector>, relation: Relation, n_predicates: usize) -> Graph {
    let mut outgoing: BTreeMap<Vector, Vec<(Vector, Label, Vec<Mark>)>> = BTreeMap::new();
    for ((source, target, label), kinds) in relation {
        let known = outgoing.entry(source).or_default();
        for marks in kinds.0 {
            known.push((target.clone(), label.clone(), marks));
        }
    }

    let mut graph = Graph::default();
    let mut numbers: BTreeMap<Vector, usize> = BTreeMap::new();
    let mut labels: BTreeMap<Label, usize> = BTreeMap::new();
    let mut number = |vector: &Vector, states: &mut Vec<Vector>| {
        *numbers.entry(vector.clone()).or_insert_with(|| {
            states.push(vector.clone());
            states.len() - 1
        })
    };

    let starts: BTreeSet<Vector> = initial.iter().map(|v| v[..n_predicates].to_vec()).collect();
    for start in &starts {
        let state = number(start, &mut graph.states);
        graph.initial.push(state);
    }

    let mut next = 0;
    while next < graph.states.len() {
        let steps = outgoing.remove(&graph.states[next]).unwrap_or_default();
        for (target, label, marks) in steps {
            let n_labels = labels.len();
            let label_number = *labels.entry(label.clone()).or_insert(n_labels);
            if label_number == n_labels {
                graph.labels.push(label);
            }
            let target = number(&target, &mut graph.states);
            graph.edges.push(Edge {
                source: next,
                target,
                label: label_number,
                marks,
            });
        }
        next += 1;
    }

    graph
}

/// Which observations the abstract states decide.
fn observed(graph: &Graph, all: &BTreeSet<Vector>, n_predicates: usize) -> Vec<Vec<Option<bool>>> {
    let mut found: BTreeMap<&[bool], Vec<Option<bool>>> = BTreeMap::new();
    for vector in all {
        let (key, values) = vector.split_at(n_predicates);
        let known = found
            .entry(key)
            .or_insert_with(|| values.iter().map(|value| Some(*value)).collect());
        for (known, value) in known.iter_mut().zip(values) {
            if *known != Some(*value) {
                *known = None;
            }
        }
    }
    let of_state = |state: &Vector| found.get(&state[..]).cloned().unwrap_or_default();
    graph.states.iter().map(of_state).collect()
}

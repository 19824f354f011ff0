//! The two searches: for a state, and for a fair run.

use base::{AtomId, Budget};
use evidence::{ComponentSize, Trace};
use model::{Condition, Model, Subject};
use num_bigint::BigUint;
use omega::{Automaton, LetterMark, MarkId, Prop};

use crate::bdd::{Bdd, Halt};
use crate::encoding::{Domains, n_bits_of_automaton};
use crate::graph::Graph;
use crate::hull;
use crate::priority::control_field;
use crate::product::{Product, Query};
use crate::strong_global::closed_run;
use crate::system::System;
use crate::walk::{Walk, lasso, rings, terminal_component};

/// What is looked for among all reachable states.
#[derive(Clone, Debug)]
pub enum Goal {
    /// Only run-time errors.
    Nothing,
    /// A state without steps.
    Deadlock,
    /// A position whose letter satisfies the proposition.
    Satisfies(Prop),
}

/// What was found.
#[derive(Clone, Debug)]
pub enum Found {
    /// Nothing: there is none.
    Nothing,
    /// A finite run to the goal, or a fair lasso.
    Run(Trace),
    /// A lasso that takes every step of every state of its loop, and how many there are.
    Closed(Trace, Option<ComponentSize>),
    /// A finite run to a run-time error; none if an initial value is in error.
    Failure(Option<Trace>),
}

/// What was found, and where.
#[derive(Clone, Debug)]
pub struct Explored {
    /// What was found.
    pub found: Found,
    /// How many states can be reached, without those in which a process has control.
    pub n_states: BigUint,
    /// How many nodes the product with the automaton has, if there is one.
    pub n_product_states: Option<BigUint>,
    /// The most nodes of decision diagrams that there were at one time.
    pub n_nodes: usize,
    /// Bytes of their table.
    pub memory_bytes: u64,
}

/// A system all of whose values are known, and its reachable states.
struct Known<'m> {
    system: System<'m>,
    reachable: Bdd,
}

/// Looks for the goal among all reachable states.
///
/// # Errors
/// The budget is spent, or something is not treated.
pub fn explore(
    model: &Model,
    goal: &Goal,
    atoms: &[AtomId],
    budget: &Budget,
) -> Result<Explored, Halt> {
    refuse(model, &[])?;
    let known = known_system(model, 0, budget)?;

    // A set of states is found by a mark on the letters that satisfy it.
    let mut automaton = Automaton::universal();
    if let Goal::Satisfies(prop) = goal {
        automaton.n_marks = 1;
        automaton.letter_marks.push(LetterMark {
            mark: MarkId(0),
            when: prop.clone(),
        });
    }

    let query = Query {
        automaton: &automaton,
        conditions: &[],
        strong_global: false,
        atoms,
    };

    let system = &known.system;
    let product = Product::new(system, query)?;
    let found = look_for(&known, &product, goal)?;
    explored(&known, found, None)
}

/// Looks for a fair run that the automaton accepts.
///
/// # Errors
/// The budget is spent, or something is not treated.
pub fn find_run(model: &Model, query: &Query<'_>, budget: &Budget) -> Result<Explored, Halt> {
    refuse(model, query.conditions)?;
    let n_bits = n_bits_of_automaton(query.automaton.n_states());
    let known = known_system(model, n_bits, budget)?;

    // Every run-time error counts, wherever it is.
    let plain = Automaton::universal();
    let all = Query {
        automaton: &plain,
        conditions: &[],
        strong_global: false,
        atoms: query.atoms,
    };
    let found = look_for(&known, &Product::new(&known.system, all)?, &Goal::Nothing)?;
    if let Found::Failure(_) = found {
        return explored(&known, found, None);
    }

    let product = Product::new(&known.system, *query)?;
    let graph = Graph::new(&product)?;
    let reachable = graph.reachable(&product.initial, None)?;
    let found = if query.strong_global {
        let closed = closed_run(&product, &reachable, &known.reachable)?;
        closed.map_or(Found::Nothing, |(trace, size)| Found::Closed(trace, size))
    } else {
        fair_run(&product, &graph, &reachable)?
    };
    let encoding = &known.system.encoding;
    let bits = [&encoding.automaton_bits[..], &encoding.state_bits].concat();
    explored(&known, found, Some(reachable.n_points(&bits)))
}

fn fair_run(
    product: &Product<'_, '_>,
    graph: &Graph<'_, '_, '_>,
    reachable: &Bdd,
) -> Result<Found, Halt> {
    for demands in hull::cases(product)? {
        let mut part = graph.clone();
        for mark in &demands.never {
            part = part.without(&product.marks[mark.index()])?;
        }
        let nodes = hull::hull(&part, reachable, &demands)?;
        if !nodes.is_false() {
            let component = terminal_component(&part, &nodes)?;
            return Ok(Found::Run(lasso(&part, &demands, &component, reachable)?));
        }
    }
    Ok(Found::Nothing)
}

/// What is not treated at all.
fn refuse(model: &Model, conditions: &[Condition]) -> Result<(), Halt> {
    let refused = |why: &str| Err(Halt::Unsupported(why.to_owned()));
    if model.abstract_timers().next().is_some() {
        return refused("abstract timers are not treated by the symbolic route");
    }
    let is_just = |condition: &Condition| matches!(condition.subject, Subject::Team(_));
    if conditions.iter().any(is_just) {
        return refused("justness is not treated by the symbolic route; use the route `explicit`");
    }
    Ok(())
}

/// Builds relations, and builds them again until all values that are met are known.
fn known_system<'m>(
    model: &'m Model,
    n_automaton_bits: u32,
    budget: &Budget,
) -> Result<Known<'m>, Halt> {
    let mut domains = Domains::new(model)?;

    for round in 0.. {
        let system = System::new(model, domains, n_automaton_bits, budget)?;
        system.encoding.manager.poll()?;
        let reachable = if system.fails_initially {
            system.constant(false)
        } else {
            plain_reachable(&system)?
        };

        match system.missing_values(&reachable, round)? {
            Some(more) => domains = more,
            None => return Ok(Known { system, reachable }),
        }
    }
    unreachable!("the rounds do not end by themselves")
}

/// The reachable states, whatever is asked of them. States in error have no successors.
fn plain_reachable(system: &System<'_>) -> Result<Bdd, Halt> {
    let automaton = Automaton::universal();
    let query = Query {
        automaton: &automaton,
        conditions: &[],
        strong_global: false,
        atoms: &[],
    };
    let product = Product::new(system, query)?;
    let graph = Graph::new(&product)?;
    let all = graph.reachable(&product.initial, None)?;
    if all.is_disjoint(&system.errors)? {
        return Ok(all);
    }
    let graph = graph.ending_in(&system.errors)?;
    graph.reachable(&product.initial, None)
}

/// The goal or a run-time error, whichever is nearer.
fn look_for(known: &Known<'_>, product: &Product<'_, '_>, goal: &Goal) -> Result<Found, Halt> {
    let system = &known.system;
    if system.fails_initially {
        return Ok(Found::Failure(None));
    }
    let errors = system.errors.or(&product.errors)?;
    let mut graph = Graph::new(product)?;
    let mut reachable = known.reachable.clone();
    if !reachable.is_disjoint(&errors)? {
        graph = graph.ending_in(&errors)?;
        reachable = graph.reachable(&product.initial, None)?;
    }
    let failing = errors.and(&reachable)?;

    let to_goal = way_to_goal(&graph, &reachable, goal)?;
    let to_failure = if failing.is_false() {
        None
    } else {
        Some(rings(&graph, &failing, &product.initial, &reachable)?)
    };
    match (to_goal, to_failure) {
        (Some(way), None) => Ok(Found::Run(follow(product, way)?)),
        (Some(way), Some(failure)) if way.length() <= failure.len() => {
            Ok(Found::Run(follow(product, way)?))
        }
        (_, Some(rings)) => {
            let last = false;
            let trace = follow(product, Way { rings, last })?;
            Ok(Found::Failure(Some(trace)))
        }
        (None, None) => Ok(Found::Nothing),
    }
}

/// How to get to a goal.
struct Way {
    rings: Vec<Bdd>,
    /// Is a step with the mark of the goal to be taken in the end?
    last: bool,
}

impl Way {
    fn length(&self) -> usize {
        self.rings.len() + usize::from(self.last)
    }
}

fn way_to_goal(
    graph: &Graph<'_, '_, '_>,
    reachable: &Bdd,
    goal: &Goal,
) -> Result<Option<Way>, Halt> {
    let product = graph.product;
    let found = match goal {
        Goal::Nothing => return Ok(None),
        Goal::Deadlock => reachable.and(&product.system.deadlock)?,
        Goal::Satisfies(_) => {
            // The letter of an initial state is read as after an idle step.
            let marked = &product.marks[0]
                .reading
                .as_ref()
                .expect("a mark of letters")[0];
            let before = product.initial.preimage(marked, &product.automaton_cube)?;
            before.and(&product.initial)?.minus(&product.errors)?
        }
    };
    let is_edge = matches!(goal, Goal::Satisfies(_));
    if !found.is_false() {
        let rings = rings(graph, &found, &product.initial, reachable)?;
        return Ok(Some(Way { rings, last: false }));
    }
    if !is_edge {
        return Ok(None);
    }
    let inside = reachable.minus(&product.errors)?;
    let sources = graph.sources(&product.marks[0], &inside)?.and(reachable)?;
    if sources.is_false() {
        return Ok(None);
    }
    let rings = rings(graph, &sources, &product.initial, reachable)?;
    Ok(Some(Way { rings, last: true }))
}

fn follow(product: &Product<'_, '_>, way: Way) -> Result<Trace, Halt> {
    let outermost = way.rings.last().expect("there is one");
    let start = product.pick(&outermost.and(&product.initial)?);
    let mut walk = Walk::new(product, start.expect("the last ring has a start"));
    walk.inwards(&way.rings, &[]);
    if way.last {
        walk.take(|edge| edge.marks[0]);
    }
    Ok(walk.finish())
}

fn explored(
    known: &Known<'_>,
    found: Found,
    n_product_states: Option<BigUint>,
) -> Result<Explored, Halt> {
    let encoding = &known.system.encoding;
    let mut counted = known.reachable.clone();
    if let Some(control) = control_field(encoding) {
        counted = counted.and(&encoding.is(control, -1)?)?;
    }
    let bits = [&encoding.automaton_bits[..], &encoding.state_bits].concat();
    Ok(Explored {
        found,
        n_states: counted.n_points(&bits),
        n_product_states,
        n_nodes: encoding.manager.peak_nodes(),
        memory_bytes: encoding.manager.bytes(),
    })
}

//! From a model with several parameters that have no value to threshold automata.
//!
//! A family of processes whose index only says whose location or variable is meant, and that share
//! nothing but counters, is known from how many processes are in which state. So it is a threshold
//! automaton: a location for each state of one process (its location and the values of its variables),
//! a rule for each way of taking a step there. A question that tells one process apart (`forall i in
//! 1..N: … eventually P[i] @ done`) has an automaton in which that process has locations of its own.
//!
//! What does not fit is refused with its place, never approximated.

mod steps;
mod world;

use base::{AtomId, Span};
use logic::{Ltl, NamedProperty, Property};
use model::threshold::{
    AnnotatedRules, Comparison, Condition, Individuals, Proposition, Quantity, Rule, Sum,
    ThresholdAutomaton,
};
use model::{
    Annotation, Assumption, AtomMeaning, Composition, Initial, ProcessId, Scalar,
    Scope as QuestionScope, Target, Type, VarId,
};

use crate::lower::OpenParts;
use steps::{Behaviour, Way};
use world::{Family, Scope, World, Wrong, outside, too_large};

/// A process has at most this many states.
const MAX_STATES: usize = 4096;

/// The automaton of each question, with the question about it. Without questions, the automaton.
pub(crate) fn automata(
    open: &OpenParts,
    questions: &[(NamedProperty, QuestionScope)],
) -> Result<(Vec<ThresholdAutomaton>, Vec<NamedProperty>), Wrong> {
    let explained = |wrong: Wrong| {
        let (_, name, span) = &open.parameters[1];
        let text = format!(
            "`{name}` is a second parameter without value, so the model is read as a threshold automaton"
        );
        Box::new(wrong.label(*span, text))
    };

    let mut automata = Vec::new();
    let mut properties = Vec::new();
    for (property, scope) in questions {
        let (automaton, property) = question(open, property, scope).map_err(explained)?;
        automata.push(automaton);
        properties.push(property);
    }

    // Without questions the automaton is built all the same: it may be shown, and errors are reported.
    if automata.is_empty() {
        let world = world(open).map_err(explained)?;
        automata.push(automaton(open, world, Vec::new()).map_err(explained)?);
    }
    Ok((automata, properties))
}

fn question(
    open: &OpenParts,
    property: &NamedProperty,
    scope: &QuestionScope,
) -> Result<(ThresholdAutomaton, NamedProperty), Wrong> {
    let mut asked = Vec::new();
    let mut property = property.clone();
    property.property = match &property.property {
        Property::Ltl(formula) => Property::Ltl(renumbered(formula, &mut asked)),
        Property::Invariant(formula) => Property::Invariant(renumbered(formula, &mut asked)),
        // Not decided for all parameters, whatever the atoms are.
        other @ (Property::Reachable(_)
        | Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_)) => other.clone(),
    };
    let mut world = world(open)?;
    distinguish(&mut world, scope, &asked, property.span)?;
    Ok((automaton(open, world, asked)?, property))
}

/// The formula with other numbers for its atoms: positions in `atoms`.
fn renumbered(formula: &Ltl, atoms: &mut Vec<AtomId>) -> Ltl {
    let mut known = formula.atoms();
    known.sort_unstable();
    known.dedup();
    let renumbered = formula.map_atoms(&|atom| {
        let position = known.binary_search(&atom).unwrap_or_default();
        Ltl::atom(AtomId::new(position))
    });
    *atoms = known;
    renumbered
}

/// The families and counters of the parts.
fn world(open: &OpenParts) -> Result<World<'_>, Wrong> {
    let parts = &open.parts;
    check_kinds(open)?;
    let mut world = World {
        parts,
        parameters: open.parameters.iter().map(|(name, ..)| *name).collect(),
        counters: Vec::new(),
        families: Vec::new(),
    };
    for (position, variable) in parts.vars.iter().enumerate() {
        if variable.owner.is_none() {
            world.counters.push(VarId::new(position));
        }
    }
    for position in 0..parts.processes.len() {
        let family = family(open, &world, ProcessId::new(position))?;
        world.families.push(family);
    }
    Ok(world)
}

/// Is there something in the model that no threshold automaton has?
fn check_kinds(open: &OpenParts) -> Result<(), Wrong> {
    let parts = &open.parts;
    let refuse = |span, what: &str| {
        let message = format!("{what} while several parameters have no value");
        let help = "give all parameters but one a value, for example with `-D N=4`";
        Err(outside(span, message, help))
    };

    let at = open.parameters[1].2;
    if parts.composition == Composition::Synchronous {
        return refuse(at, "processes cannot move synchronously");
    }
    if let Some(timer) = parts.timers.first() {
        return refuse(parts.vars[timer.var.index()].span, "there are no timers");
    }
    if !parts.systems.is_empty() {
        return refuse(at, "there are no may/must systems");
    }
    if parts.processes.is_empty() {
        return refuse(at, "a model needs processes");
    }

    for variable in parts
        .vars
        .iter()
        .filter(|variable| variable.owner.is_none())
    {
        let is_number = match variable.ty {
            Type::Scalar(scalar) => {
                let (lo, hi) = scalar.bounds();
                scalar.is_unbounded() && lo <= 0 && hi == i64::MAX
            }
            Type::Array(_) | Type::Record(_) => false,
        };
        if !is_number {
            let message = format!("`{}` is not a counter", variable.name);
            let help = "the shared variables of a threshold automaton are counters without a bound: `var x : nat = 0`";
            return Err(outside(variable.span, message, help));
        }
    }
    Ok(())
}

fn family(open: &OpenParts, world: &World<'_>, process: ProcessId) -> Result<Family, Wrong> {
    let description = &open.parts.processes[process.index()];
    if !description.dimensions.is_empty() {
        let message = format!("`{}` has several indices", description.name);
        let help = "processes of a threshold automaton have one index";
        return Err(outside(description.span, message, help));
    }

    let end = |value: i64| match model::as_open_end(value) {
        Some(position) => world.number(&open.ends[position as usize], &Scope::at(description.span)),
        None => Ok(Sum::constant(value)),
    };
    let (lo, hi) = match description.index {
        Some(range) => (end(range.lo)?, end(range.hi)?),
        None => (Sum::constant(0), Sum::constant(0)),
    };

    let mut family = Family {
        process,
        lo,
        hi,
        n_locations: description.locations.len(),
        locals: Vec::new(),
        first: 0,
        distinguished: None,
    };

    for (position, variable) in open.parts.vars.iter().enumerate() {
        if variable.owner == Some(process) {
            family.locals.push(local(VarId::new(position), variable)?);
        }
    }

    let values = family
        .locals
        .iter()
        .map(|(_, lo, hi)| (hi - lo + 1) as usize);
    let n_states = values.fold(family.n_locations, usize::saturating_mul);
    if n_states > MAX_STATES {
        let message = format!("a process `{}` has {n_states} states", description.name);
        let help = format!("at most {MAX_STATES} are possible");
        return Err(outside(description.span, message, &help));
    }
    Ok(family)
}

/// A local variable with its least and greatest value.
fn local(id: VarId, variable: &model::Variable) -> Result<(VarId, i64, i64), Wrong> {
    let bounds = match variable.ty {
        Type::Scalar(scalar @ (Scalar::Bool | Scalar::Range(..) | Scalar::Enum(..))) => {
            Some(scalar.bounds())
        }
        Type::Scalar(Scalar::Int) | Type::Array(_) | Type::Record(_) => None,
    };
    let is_small = |(lo, hi): &(i64, i64)| hi.saturating_sub(*lo) < MAX_STATES as i64;
    let Some((lo, hi)) = bounds.filter(is_small) else {
        let message = format!(
            "the local variable `{}` may have too many values",
            variable.name
        );
        let help = "what a process of a threshold automaton remembers is finite: use a bounded number, a Boolean or an enumeration";
        return Err(outside(variable.span, message, help));
    };
    Ok((id, lo, hi))
}

/// Tells the processes of a question apart from the others.
fn distinguish(
    world: &mut World<'_>,
    scope: &QuestionScope,
    asked: &[AtomId],
    span: Span,
) -> Result<(), Wrong> {
    let everyone = "let the name range over the indices of a family, as they are written there, without a condition";
    if !scope.condition.is_bool(true) {
        let message = "the question is about some processes, but not about all";
        return Err(outside(span, message, everyone));
    }
    for distinguished in &scope.distinguished {
        let here = Scope::at(span);
        let lo = world.number(&distinguished.lo, &here)?;
        let hi = world.number(&distinguished.hi, &here)?;
        let mut families = Vec::new();
        for atom in asked {
            // shape: propositions about steps are refused elsewhere.
            if let AtomMeaning::State(expr) = &world.parts.atoms[atom.index()].meaning {
                families.extend(world.indexed_by(distinguished.bound, expr));
            }
        }
        families.sort_unstable();
        families.dedup();

        let name = &distinguished.name;
        let family = match families[..] {
            [family] => Some(&mut world.families[family]),
            _ => None,
        };
        let is_free = |family: &&mut Family| {
            family.distinguished.is_none() && (&family.lo, &family.hi) == (&lo, &hi)
        };
        let Some(family) = family.filter(is_free) else {
            let message = format!("`{name}` does not range over all processes of one family");
            let help = format!(
                "{everyone}; around temporal operators, one name for each family is possible"
            );
            return Err(outside(span, message, &help));
        };
        family.distinguished = Some(distinguished.bound);
    }
    Ok(())
}

/// The automaton, with the atoms at these positions in the parts.
fn automaton(
    open: &OpenParts,
    mut world: World<'_>,
    mut asked: Vec<AtomId>,
) -> Result<ThresholdAutomaton, Wrong> {
    let parts = &open.parts;

    let mut first = 0;
    for family in &mut world.families {
        family.first = first;
        first += family.n_states() * family.n_copies();
    }

    // States are numbered family by family, and rules name them by these numbers.
    let world = &world;
    let families = 0..world.families.len();
    let behaviours = families.map(|family| world.behaviour(family));
    let behaviours: Vec<Behaviour> = behaviours.collect::<Result<_, _>>()?;

    let mut actions = Actions::default();
    let mut made = ThresholdAutomaton {
        name: parts.processes[0].name.clone(),
        span: parts.processes[0].span,
        parameters: open.parameters.iter().map(|p| p.1.clone()).collect(),
        locations: Vec::new(),
        shared: Vec::new(),
        assumptions: Vec::new(),
        init: Vec::new(),
        rules: Vec::new(),
        atoms: Vec::new(),
        individuals: None,
    };

    for (family, behaviour) in world.families.iter().zip(&behaviours) {
        add_family(world, family, behaviour, &mut made, &mut actions)?;
    }
    add_counters(world, &mut made)?;

    for condition in &parts.init {
        let said = world.condition(condition, &Scope::at(made.span))?;
        let is_about_parameters = !condition.mentions_state();
        let list = if is_about_parameters {
            &mut made.assumptions
        } else {
            &mut made.init
        };
        list.push(said);
    }

    // Assumptions may ask for more atoms, so these come first.
    let assumptions = parts.assumptions.iter();
    let assumptions: Vec<Assumption> = assumptions
        .map(|known| assumed(known, &mut asked))
        .collect();
    for atom in asked {
        made.atoms.push(proposition(world, atom)?);
    }

    made.individuals = Some(Individuals {
        fairness: parts.fairness,
        annotations: actions.annotated(&parts.annotations)?,
        actions: actions
            .of_rules
            .iter()
            .map(|(action, ..)| *action)
            .collect(),
        assumptions,
    });

    // Locations that are never reached would only make schemas longer.
    Ok(without_unreached(made, &reached(world, &behaviours)))
}

/// Which locations a process can be at.
fn reached(world: &World<'_>, behaviours: &[Behaviour]) -> Vec<bool> {
    let mut reached = Vec::new();
    for (family, behaviour) in world.families.iter().zip(behaviours) {
        for _ in 0..family.n_copies() {
            let states = 0..family.n_states();
            reached.extend(states.map(|state| behaviour.states.binary_search(&state).is_ok()));
        }
    }
    reached
}

/// The rules of an automaton by the actions of processes.
#[derive(Default)]
struct Actions {
    /// The processes, names and parameters of actions.
    known: Vec<(ProcessId, String, Vec<i64>)>,
    /// For each rule, its action and which step of the process it is.
    of_rules: Vec<(usize, ProcessId, usize)>,
}

impl Actions {
    fn number(&mut self, process: ProcessId, name: &str, arguments: &[i64]) -> usize {
        let action = (process, name.to_owned(), arguments.to_vec());
        let position = self.known.iter().position(|known| *known == action);
        position.unwrap_or_else(|| {
            self.known.push(action);
            self.known.len() - 1
        })
    }

    /// The rules that annotations are about. One on actions is about each of them for itself.
    fn annotated(&self, annotations: &[Annotation]) -> Result<Vec<AnnotatedRules>, Wrong> {
        let mut found = Vec::new();
        for annotation in annotations {
            let mut add = |is_meant: &dyn Fn(&(usize, ProcessId, usize)) -> bool| {
                let rules = (0..self.of_rules.len()).filter(|at| is_meant(&self.of_rules[*at]));
                found.push(AnnotatedRules {
                    kind: annotation.kind,
                    rules: rules.collect(),
                });
            };

            match &annotation.target {
                Target::Process(process) => add(&|rule| rule.1 == *process),
                Target::Action(process, name) => {
                    for (number, (owner, known, _)) in self.known.iter().enumerate() {
                        if owner == process && known == name {
                            add(&|rule| rule.0 == number);
                        }
                    }
                }
                Target::Choice(process, step) => {
                    for number in 0..self.known.len() {
                        add(&|rule| (rule.0, rule.1, rule.2) == (number, *process, *step));
                    }
                }
                Target::Event(_) | Target::Subject(_) => {
                    let message = "events are not steps of threshold automata";
                    let help = "annotate steps or processes";
                    return Err(outside(annotation.span, message, help));
                }
            }
        }
        Ok(found)
    }
}

/// Locations, rules and initial conditions of the processes of a family.
fn add_family(
    world: &World<'_>,
    family: &Family,
    behaviour: &Behaviour,
    made: &mut ThresholdAutomaton,
    actions: &mut Actions,
) -> Result<(), Wrong> {
    let n_processes = family.hi.plus(-1, &family.lo);
    let n_processes = n_processes.and_then(|sum| sum.plus(1, &Sum::constant(1)));
    let n_processes = n_processes.ok_or_else(|| too_large(made.span))?;
    // A family without processes is an error of the model.
    let is_there = n_processes.plus(-1, &Sum::constant(1));
    let is_there = is_there.ok_or_else(|| too_large(made.span))?;
    let is_there = Condition::Compare(is_there, Comparison::AtLeastZero).decided();
    made.assumptions.push(is_there);

    for copy in 0..family.n_copies() {
        let one = Sum::constant(1);
        let n_here = match (copy, family.n_copies()) {
            (0, 1) => Some(n_processes.clone()),
            (0, _) => n_processes.plus(-1, &one),
            _ => Some(one),
        };
        let mut difference = n_here.and_then(|sum| Sum::default().plus(-1, &sum));
        for state in 0..family.n_states() {
            let quantity = Sum::of(family.quantity(copy, state));
            made.locations.push(world.state_name(family, copy, state));
            if behaviour.initial.contains(&state) {
                difference = difference.and_then(|sum| sum.plus(1, &quantity));
            } else {
                made.init
                    .push(Condition::Compare(quantity, Comparison::Zero));
            }
        }
        let difference = difference.ok_or_else(|| too_large(made.span))?;
        made.init
            .push(Condition::Compare(difference, Comparison::Zero));
        for way in &behaviour.ways {
            add_rule(world, (family, copy), way, made, actions);
        }
    }
    Ok(())
}

fn add_rule(
    world: &World<'_>,
    (family, copy): (&Family, usize),
    way: &Way,
    made: &mut ThresholdAutomaton,
    actions: &mut Actions,
) {
    let process = &world.parts.processes[family.process.index()];
    let step = &process.steps[way.step];
    let action = actions.number(family.process, &step.name, &way.arguments);
    actions.of_rules.push((action, family.process, way.step));

    let arguments: Vec<String> = way.arguments.iter().map(i64::to_string).collect();
    let arguments = match arguments.as_slice() {
        [] => String::new(),
        some => format!("({})", some.join(", ")),
    };

    let first = family.first + copy * family.n_states();
    made.rules.push(Rule {
        name: format!(
            "{}{arguments}: {} -> {}",
            step.name,
            made.locations[first + way.source],
            made.locations[first + way.target]
        ),
        source: first + way.source,
        target: first + way.target,
        guard: way.guard.clone(),
        update: way.update.clone(),
        span: step.span,
    });
}

fn add_counters(world: &World<'_>, made: &mut ThresholdAutomaton) -> Result<(), Wrong> {
    for (position, counter) in world.counters.iter().enumerate() {
        let variable = &world.parts.vars[counter.index()];
        made.shared.push(variable.name.clone());
        let value = match &variable.initial {
            Initial::Values(values) => {
                let value = world.constant(&values[0], &Scope::at(variable.span))?;
                Some(value).filter(|value| *value >= 0)
            }
            Initial::Any => None,
        };
        let Some(value) = value else {
            let message = format!(
                "the counter `{}` does not start with a natural number",
                variable.name
            );
            let help = "write `= 0`";
            return Err(outside(variable.span, message, help));
        };
        let sum = Sum::of(Quantity::Shared(position)).plus(-value, &Sum::constant(1));
        let sum = sum.ok_or_else(|| too_large(variable.span))?;
        made.init.push(Condition::Compare(sum, Comparison::Zero));
    }
    Ok(())
}

fn proposition(world: &World<'_>, atom: AtomId) -> Result<Proposition, Wrong> {
    let atom = &world.parts.atoms[atom.index()];
    match &atom.meaning {
        AtomMeaning::State(expr) => Ok(Proposition {
            name: atom.name.clone(),
            condition: world.condition(expr, &Scope::at(atom.span))?,
            span: atom.span,
        }),
        AtomMeaning::Taken(_)
        | AtomMeaning::Enabled(_)
        | AtomMeaning::Deadlock
        | AtomMeaning::Certainly(..)
        | AtomMeaning::TimerSet(_) => {
            let message =
                "propositions about steps are not decided for all values of several parameters";
            let help = "speak of locations and counters instead";
            Err(outside(atom.span, message, help))
        }
    }
}

/// An assumption about atoms of the parts, as one about their positions in `atoms`.
fn assumed(assumption: &Assumption, atoms: &mut Vec<AtomId>) -> Assumption {
    let mut number = |atom: &AtomId| {
        let position = atoms.iter().position(|known| known == atom);
        AtomId::new(position.unwrap_or_else(|| {
            atoms.push(*atom);
            atoms.len() - 1
        }))
    };
    match assumption {
        Assumption::Infinitely(atom, value) => Assumption::Infinitely(number(atom), *value),
        Assumption::Eventually(atom, value) => Assumption::Eventually(number(atom), *value),
        Assumption::All(parts) => {
            Assumption::All(parts.iter().map(|part| assumed(part, atoms)).collect())
        }
        Assumption::Any(parts) => {
            Assumption::Any(parts.iter().map(|part| assumed(part, atoms)).collect())
        }
    }
}

/// The automaton without locations that no process is ever at.
fn without_unreached(mut made: ThresholdAutomaton, is_reached: &[bool]) -> ThresholdAutomaton {
    let mut positions = Vec::new();
    let mut n_reached = 0;
    for reached in is_reached {
        positions.push(reached.then_some(n_reached));
        n_reached += usize::from(*reached);
    }

    let mut at = is_reached.iter();
    made.locations.retain(|_| at.next() == Some(&true));
    for rule in &mut made.rules {
        rule.source = positions[rule.source].unwrap_or_default();
        rule.target = positions[rule.target].unwrap_or_default();
        rule.guard = renamed(&rule.guard, &positions);
    }
    for condition in made.assumptions.iter_mut().chain(&mut made.init) {
        *condition = renamed(condition, &positions);
    }

    // Conditions that became true demand nothing.
    made.init
        .retain(|condition| *condition != Condition::Bool(true));
    made.assumptions
        .retain(|condition| *condition != Condition::Bool(true));

    for atom in &mut made.atoms {
        atom.condition = renamed(&atom.condition, &positions);
    }

    made
}

/// The condition where locations have other positions, or are always empty.
fn renamed(condition: &Condition, positions: &[Option<usize>]) -> Condition {
    match condition {
        Condition::Bool(value) => Condition::Bool(*value),
        Condition::Compare(sum, comparison) => {
            let mut sum_here = Sum::constant(sum.offset);
            for (quantity, factor) in &sum.terms {
                let here = match quantity {
                    Quantity::Location(at) => positions[*at].map(Quantity::Location),
                    Quantity::Parameter(_) | Quantity::Shared(_) => Some(*quantity),
                };
                sum_here.terms.extend(here.map(|here| (here, *factor)));
            }
            Condition::Compare(sum_here, *comparison).decided()
        }
        Condition::All(parts) => Condition::all(parts.iter().map(|p| renamed(p, positions))),
        Condition::Any(parts) => Condition::any(parts.iter().map(|p| renamed(p, positions))),
    }
}

//! What the printers print.

use std::collections::{BTreeMap, BTreeSet};

use base::AtomId;
use logic::Ltl;
use model::{CommandId, InstanceId, Model};

use crate::predicate::abstract_term::Abstract;
use crate::predicate::atoms::AtomTerm;
use crate::predicate::command::Update;
use crate::predicate::explore::{AbstractGraph, Abstraction};
use crate::predicate::program::Content;

/// One way of taking a command: under a condition, slots get new values.
#[derive(Clone, PartialEq, Debug)]
pub struct Case {
    /// When the solver says that it is possible; over slots.
    pub condition: Abstract,
    /// The new values.
    pub assignments: Vec<(usize, Abstract)>,
}

/// A process that takes part in a command of the abstract model.
#[derive(Clone, PartialEq, Debug)]
pub struct Mover {
    /// Who.
    pub instance: InstanceId,
    /// Which step of the process, with which parameters.
    pub command: CommandId,
    /// Location before.
    pub source: i64,
    /// Location after.
    pub target: i64,
}

/// A command of the abstract model, taken by one process or by several together.
#[derive(Clone, PartialEq, Debug)]
pub struct Printed {
    /// Who takes it. The first is printed with guard and effect.
    pub movers: Vec<Mover>,
    /// A name for what several processes do together, different from all others.
    pub event: Option<String>,
    /// When it is possible; unknown parts are true.
    pub guard: Abstract,
    /// Values that are the same in all cases.
    pub assignments: Vec<(usize, Abstract)>,
    /// What differs.
    pub cases: Vec<Case>,
}

/// An abstract model, ready to be printed.
pub struct Listing<'a> {
    /// The model.
    pub model: &'a Model,
    /// For every slot: its name, its values, and the instance whose location it is.
    pub slots: Vec<(String, Vec<i64>, Option<InstanceId>)>,
    /// What the predicates mean: name and text.
    pub meanings: Vec<(String, String)>,
    /// The initial states.
    pub initial: Vec<Vec<i64>>,
    /// The commands.
    pub commands: Vec<Printed>,
    /// The property, and what its atoms mean.
    pub property: Option<(String, Ltl)>,
    /// The atoms of the property.
    pub atoms: BTreeMap<AtomId, Abstract>,
}

impl<'a> Listing<'a> {
    /// Lists an abstraction that has been explored completely.
    #[must_use]
    pub fn new(
        model: &'a Model,
        abstraction: &mut Abstraction<'_>,
        graph: &AbstractGraph,
        property: Option<(String, Ltl)>,
        atoms: &[(AtomId, AtomTerm)],
    ) -> Self {
        let slots = slots_of(model, abstraction);
        let mut commands = Vec::new();
        for transition in 0..abstraction.commands.len() {
            commands.extend(commands_of(model, abstraction, graph, transition));
        }
        name_events(model, abstraction, &slots, &mut commands);

        let mut seen = BTreeMap::new();
        let mut property = property;
        for (atom, meaning) in atoms {
            match meaning {
                AtomTerm::State(term) => {
                    seen.insert(*atom, abstraction.domain.express(term));
                }
                // Steps have other names in other languages.
                AtomTerm::Taken(_) => property = None,
            }
        }

        let meanings = abstraction.domain.predicates.iter();
        let meanings = meanings.map(|p| (p.name.clone(), super::super::show(&p.term)));
        let initial = graph.states[..graph.n_initial].iter();
        Self {
            model,
            slots,
            meanings: meanings.collect(),
            initial: initial.map(|state| state.to_vec()).collect(),
            commands,
            property,
            atoms: seen,
        }
    }

    /// The values of a slot in all initial states, if it is the same in all.
    #[must_use]
    pub fn fixed(&self, slot: usize) -> Option<i64> {
        let first = self.initial.first()?[slot];
        self.initial
            .iter()
            .all(|state| state[slot] == first)
            .then_some(first)
    }

    /// The initial states as a condition on the slots that are not fixed.
    #[must_use]
    pub fn initial_condition(&self) -> Option<Abstract> {
        let open: Vec<usize> = (0..self.slots.len())
            .filter(|slot| self.slots[*slot].2.is_none() && self.fixed(*slot).is_none())
            .collect();
        if open.is_empty() {
            return None;
        }
        let rows: BTreeSet<Vec<i64>> = self
            .initial
            .iter()
            .map(|state| open.iter().map(|slot| state[*slot]).collect())
            .collect();
        let row = |row: &Vec<i64>| {
            let entries = open.iter().zip(row);
            Abstract::And(
                entries
                    .map(|(slot, value)| has_value(*slot, *value))
                    .collect(),
            )
        };
        Some(Abstract::Or(rows.iter().map(row).collect()))
    }
}

/// The slot has the value.
pub(crate) fn has_value(slot: usize, value: i64) -> Abstract {
    Abstract::Eq(-value, vec![(1, Abstract::Slot(slot))])
}

/// A name that every language accepts.
pub(crate) fn identifier(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        match c {
            c if c.is_ascii_alphanumeric() => out.push(c),
            _ if out.ends_with('_') || out.is_empty() => {}
            _ => out.push('_'),
        }
    }
    out.trim_end_matches('_').to_owned()
}

fn slots_of(
    model: &Model,
    abstraction: &Abstraction<'_>,
) -> Vec<(String, Vec<i64>, Option<InstanceId>)> {
    let mut slots = Vec::new();
    for (var, values) in &abstraction.domain.kept {
        let var = &abstraction.program.vars[*var];
        match var.content {
            Content::Location(instance) => {
                let name = identifier(model.instance_name(instance));
                slots.push((format!("{name}_at"), values.clone(), Some(instance)));
            }
            _ => slots.push((identifier(&var.name), values.clone(), None)),
        }
    }
    for predicate in &abstraction.domain.predicates {
        slots.push((identifier(&predicate.name), vec![0, 1], None));
    }
    slots
}

/// Locations of the processes that move, as slots with values.
type Own = BTreeMap<usize, i64>;

fn commands_of(
    model: &Model,
    abstraction: &mut Abstraction<'_>,
    graph: &AbstractGraph,
    transition: usize,
) -> Vec<Printed> {
    let description = &abstraction.program.transitions[transition];
    let mover = |command: &CommandId| Mover {
        instance: model.commands()[command.index()].instance,
        command: *command,
        source: i64::from(model.step_of(*command).source.0),
        target: i64::from(model.step_of(*command).target.0),
    };

    let movers: Vec<Mover> = description.commands.iter().map(mover).collect();
    let mut own = Own::new();
    for (slot, (var, _)) in abstraction.domain.kept.iter().enumerate() {
        let found = description.sources.iter().find(|source| source.0 == *var);
        own.extend(found.map(|(_, source)| (slot, *source)));
    }

    // Until it gets its name, an event is the number of its transition.
    let event = (movers.len() > 1).then(|| transition.to_string());
    let abstracted = abstraction.commands[transition].clone();
    let mut printed = Vec::new();

    for choice in combinations(&abstracted.choices) {
        let guard = simplified(&fix(&abstracted.guard, &choice, &own));
        if guard == Abstract::Const(0) {
            continue;
        }
        let mut assignments = Vec::new();
        for (slot, update) in &abstracted.updates {
            if let Update::Known(value) = update
                && !own.contains_key(slot)
            {
                assignments.push((*slot, simplified(&fix(value, &choice, &own))));
            }
        }
        let cases = cases_of(abstraction, graph, transition, &choice, &own);
        printed.push(Printed {
            movers: movers.clone(),
            event: event.clone(),
            guard,
            assignments,
            cases,
        });
    }

    printed
}

/// Names what several processes do together after the actions of the model, all differently.
fn name_events(
    model: &Model,
    abstraction: &Abstraction<'_>,
    slots: &[(String, Vec<i64>, Option<InstanceId>)],
    commands: &mut [Printed],
) {
    let processes = model.parts().processes.iter().map(|p| p.name.clone());
    let slots = slots.iter().map(|(name, _, _)| name.clone());
    let mut used: BTreeSet<String> = processes.chain(slots).collect();
    for printed in commands {
        let Some(number) = &printed.event else {
            continue;
        };
        let transition: usize = number.parse().expect("it has just been made");
        let actions = abstraction.program.transitions[transition].actions.iter();
        let names: Vec<&str> = actions.map(|action| model.action_name(*action)).collect();
        let plain = identifier(&names.join("_"));
        let mut name = plain.clone();
        let mut copy = 1;
        while !used.insert(name.clone()) {
            copy += 1;
            name = format!("{plain}_{copy}");
        }
        printed.event = Some(name);
    }
}

fn combinations(choices: &[(std::sync::Arc<str>, Vec<i64>)]) -> Vec<Vec<i64>> {
    let mut all = vec![Vec::new()];
    for (_, values) in choices {
        let extend = |so_far: &Vec<i64>| -> Vec<Vec<i64>> {
            let with = |value: &i64| [so_far.as_slice(), &[*value]].concat();
            values.iter().map(with).collect()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// The rows that the solver found, each with the states in which it is possible.
fn cases_of(
    abstraction: &mut Abstraction<'_>,
    graph: &AbstractGraph,
    transition: usize,
    choice: &[i64],
    own: &Own,
) -> Vec<Case> {
    let command = &abstraction.commands[transition];
    let asked: Vec<usize> = command
        .groups
        .iter()
        .flat_map(|group| group.targets.iter().map(|target| target.0))
        .collect();
    let relevant: BTreeSet<usize> = command
        .groups
        .iter()
        .flat_map(|group| group.relevant.iter().copied())
        .collect();
    if command.groups.is_empty() {
        return vec![Case {
            condition: Abstract::Const(1),
            assignments: Vec::new(),
        }];
    }

    let relevant: Vec<usize> = relevant.into_iter().collect();
    let mut rows: BTreeMap<Vec<i64>, BTreeSet<Vec<i64>>> = BTreeMap::new();
    let mut keys: BTreeSet<Vec<i64>> = BTreeSet::new();
    for state in &graph.states {
        let is_here = own.iter().all(|(slot, source)| state[*slot] == *source);
        let guard = abstraction.commands[transition].guard.eval(state, choice);
        if !is_here || guard == Some(0) {
            continue;
        }
        let key: Vec<i64> = relevant.iter().map(|slot| state[*slot]).collect();
        for next in abstraction.successors_by_choice(transition, state, choice) {
            let row = asked.iter().map(|slot| next[*slot]).collect();
            rows.entry(row).or_default().insert(key.clone());
        }
        keys.insert(key);
    }

    let case = |(row, possible): (Vec<i64>, BTreeSet<Vec<i64>>)| {
        let impossible: Vec<&Vec<i64>> = keys.difference(&possible).collect();
        let values = asked.iter().zip(&row);
        Case {
            condition: cover(&relevant, &possible, &impossible),
            assignments: values
                .map(|(slot, value)| (*slot, Abstract::Const(*value)))
                .collect(),
        }
    };

    rows.into_iter().map(case).collect()
}

/// A short disjunction of cubes that contains the first keys and none of the others.
fn cover(slots: &[usize], inside: &BTreeSet<Vec<i64>>, outside: &[&Vec<i64>]) -> Abstract {
    if outside.is_empty() {
        return Abstract::Const(1);
    }
    let matches = |cube: &[Option<i64>], key: &[i64]| {
        let mut entries = cube.iter().zip(key);
        entries.all(|(wanted, value)| wanted.is_none_or(|wanted| wanted == *value))
    };
    let mut cubes: Vec<Vec<Option<i64>>> = Vec::new();

    for key in inside {
        if cubes.iter().any(|cube| matches(cube, key)) {
            continue;
        }
        let mut cube: Vec<Option<i64>> = key.iter().copied().map(Some).collect();
        for position in 0..cube.len() {
            let kept = cube[position].take();
            if outside.iter().any(|other| matches(&cube, other)) {
                cube[position] = kept;
            }
        }
        cubes.push(cube);
    }

    let term = |cube: &Vec<Option<i64>>| {
        let literals = slots.iter().zip(cube);
        let literals = literals.filter_map(|(slot, value)| Some(has_value(*slot, (*value)?)));
        Abstract::And(literals.collect())
    };
    simplified(&Abstract::Or(cubes.iter().map(term).collect()))
}

/// Replaces choices, and the locations of the processes that move, by their values; what is unknown is
/// taken to be possible.
fn fix(term: &Abstract, choice: &[i64], own: &Own) -> Abstract {
    let of = |term: &Abstract| fix(term, choice, own);
    let terms = |terms: &[(i64, Abstract)]| terms.iter().map(|(f, t)| (*f, of(t))).collect();
    match term {
        Abstract::Slot(slot) if own.contains_key(slot) => Abstract::Const(own[slot]),
        Abstract::Local(local) => Abstract::Const(choice[*local]),
        Abstract::Unknown => Abstract::Const(1),
        Abstract::Not(inner) => Abstract::Not(Box::new(of(inner))),
        Abstract::And(parts) => Abstract::And(parts.iter().map(of).collect()),
        Abstract::Or(parts) => Abstract::Or(parts.iter().map(of).collect()),
        Abstract::Le(c, parts) => Abstract::Le(*c, terms(parts)),
        Abstract::Eq(c, parts) => Abstract::Eq(*c, terms(parts)),
        Abstract::Sum(c, parts) => Abstract::Sum(*c, terms(parts)),
        Abstract::Div(inner, d) => Abstract::Div(Box::new(of(inner)), *d),
        Abstract::Mod(inner, d) => Abstract::Mod(Box::new(of(inner)), *d),
        Abstract::Ite(parts) => {
            let [a, b, c] = &**parts;
            Abstract::Ite(Box::new([of(a), of(b), of(c)]))
        }
        Abstract::Const(_) | Abstract::Slot(_) => term.clone(),
    }
}

/// Constants are worked out.
pub(crate) fn simplified(term: &Abstract) -> Abstract {
    let join = |parts: &[Abstract], decides: i64| {
        let mut kept: Vec<Abstract> = Vec::new();
        for part in parts {
            match simplified(part) {
                Abstract::Const(value) if value == decides => return Abstract::Const(decides),
                Abstract::Const(_) => {}
                part if kept.contains(&part) => {}
                part => kept.push(part),
            }
        }
        match (kept.len(), decides) {
            (0, _) => Abstract::Const(1 - decides),
            (1, _) => kept.swap_remove(0),
            (_, 0) => Abstract::And(kept),
            _ => Abstract::Or(kept),
        }
    };

    if !mentions_slots(term)
        && let Some(value) = term.eval(&[], &[])
    {
        return Abstract::Const(value);
    }

    match term {
        Abstract::And(parts) => join(parts, 0),
        Abstract::Or(parts) => join(parts, 1),
        Abstract::Not(inner) => match simplified(inner) {
            Abstract::Const(value) => Abstract::Const(1 - value),
            inner => Abstract::Not(Box::new(inner)),
        },
        other => other.clone(),
    }
}

fn mentions_slots(term: &Abstract) -> bool {
    match term {
        Abstract::Slot(_) | Abstract::Local(_) | Abstract::Unknown => true,
        Abstract::Const(_) => false,
        Abstract::Not(inner) | Abstract::Div(inner, _) | Abstract::Mod(inner, _) => {
            mentions_slots(inner)
        }
        Abstract::And(parts) | Abstract::Or(parts) => parts.iter().any(mentions_slots),
        Abstract::Le(_, parts) | Abstract::Eq(_, parts) | Abstract::Sum(_, parts) => {
            parts.iter().any(|(_, part)| mentions_slots(part))
        }
        Abstract::Ite(parts) => parts.iter().any(mentions_slots),
    }
}

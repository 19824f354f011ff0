//! States that stand for others, and code that is never executed.

use std::collections::BTreeSet;

use engine::{Claims, Component, Differences, System};
use model::{ActionId, AtomMeaning, InstanceId, Model, State, Successor};
use testkit::{Random, cases};

use crate::sources::{Subject, load};
use crate::states::{Room, arbitrary, changed, reachable};

/// A step as propositions and fairness of actions and processes see it.
type Seen = (Vec<ActionId>, Vec<InstanceId>, Vec<bool>, State);

#[test]
fn values_that_are_never_read_again_make_no_difference() {
    let (mut n_compared, mut n_models) = (0, 0);
    for seed in 0..u64::from(cases(1500)) {
        let subject = Subject::random(seed);
        let model = &subject.model;
        let mut system = System::new(model).expect("the model is small");
        let dead = Differences {
            dead_variables: true,
            symmetry: false,
        };
        system.forget(dead, &subject.atoms, &subject.conditions);
        if !system.forgotten().dead_variables {
            continue;
        }
        n_models += 1;
        let claims = subject.claims(false);
        let room = Room::claimed(&claims);
        let Claims {
            constants, ranges, ..
        } = claims;
        let random = &mut Random::new(seed ^ 0xdead);
        for state in &reachable(model, 20).0 {
            let is_dead = |component: Component| match component {
                Component::Cell(cell) => {
                    constants[cell].is_none()
                        && is_forgotten(&mut system.clone(), state, cell, ranges[cell])
                }
                Component::Location(_) | Component::Length(_) | Component::Message { .. } => false,
            };
            let other = changed(model, &room, state, &is_dead, 100, random);
            if other == *state {
                continue;
            }
            n_compared += 1;
            assert_eq!(
                seen(&subject, state, &mut |target| represent(
                    &mut system,
                    target
                )),
                seen(&subject, &other, &mut |target| represent(
                    &mut system,
                    target
                )),
                "seed {seed}, {state:?} and {other:?}"
            );
        }
    }

    assert!(n_models > 50 && n_compared > 500, "{n_models} {n_compared}");
}

/// Do all values of a cell have the same representative?
fn is_forgotten(system: &mut System<'_>, state: &State, cell: usize, (lo, hi): (i64, i64)) -> bool {
    let mut other = state.clone();
    other.cells[cell] = if state.cells[cell] == lo { hi } else { lo };
    other != *state && represent(system, &other) == represent(system, state)
}

fn represent(system: &mut System<'_>, state: &State) -> State {
    let mut words = system.pack(state);
    system.canonicalize(&mut words);
    system.unpack(&words)
}

/// What can be seen of a state and its steps; nothing if it fails.
fn seen(
    subject: &Subject,
    state: &State,
    end: &mut dyn FnMut(&State) -> State,
) -> Option<(Vec<bool>, BTreeSet<Seen>)> {
    let model = &subject.model;
    let steps = model.successors(state).ok()?;
    let mut step = |step: Successor| {
        let taken = taken(subject, &step);
        let target = end(&step.target);
        (step.actions.to_vec(), step.movers.to_vec(), taken, target)
    };
    let steps = steps.into_iter().map(&mut step).collect();
    let atoms = subject.atoms.iter();
    let holds = atoms.map(|atom| model.atom_holds(*atom, state, &[]).unwrap_or_default());
    Some((holds.collect(), steps))
}

/// Which step propositions hold after a step.
fn taken(subject: &Subject, step: &Successor) -> Vec<bool> {
    let atoms = subject.atoms.iter();
    let step_atoms = atoms.filter(|atom| {
        let meaning = &subject.model.parts().atoms[atom.index()].meaning;
        // shape: the others are about states.
        matches!(meaning, AtomMeaning::Taken(_))
    });
    step_atoms
        .map(|atom| {
            let holds = subject
                .model
                .atom_holds(*atom, &step.target, &step.commands);
            holds.unwrap_or_default()
        })
        .collect()
}

#[test]
fn processes_that_are_exchanged_make_no_difference() {
    let (mut n_compared, mut n_models) = (0, 0);
    for seed in 0..u64::from(cases(2000)) {
        let mut subject = Subject::random(seed);
        let random = &mut Random::new(seed ^ 0x51ab);
        // With fewer questions more can be exchanged.
        subject.atoms.retain(|_| random.chance(30));
        let model = &subject.model;
        let mut system = System::new(model).expect("the model is small");
        let symmetry = Differences {
            dead_variables: false,
            symmetry: true,
        };
        system.forget(symmetry, &subject.atoms, &[]);
        if !system.forgotten().symmetry {
            continue;
        }
        n_models += 1;
        for state in &reachable(model, 25).0 {
            let exchanged = system.exchanged(&system.pack(state));
            for (position, (words, commands)) in exchanged.iter().enumerate() {
                n_compared += 1;
                let other = system.unpack(words);
                let image = |state: &State| {
                    let images = system.exchanged(&system.pack(state));
                    system.unpack(&images[position].0)
                };
                let expected = ends(model, state, |step| {
                    let commands = step.commands.iter();
                    let commands =
                        commands.map(|c| image_of(*c, commands_of(&exchanged, position)));
                    (sorted(commands.collect()), image(&step.target))
                });
                let found = ends(model, &other, |step| (step.commands.to_vec(), step.target));
                assert_eq!(found, expected, "seed {seed}, {state:?}, {commands:?}");
                let atoms = |state: &State| {
                    let holds = subject.atoms.iter();
                    let holds = holds.map(|atom| model.atom_holds(*atom, state, &[]).ok());
                    holds.collect::<Vec<_>>()
                };
                assert_eq!(atoms(state), atoms(&other), "seed {seed}, {state:?}");
            }
        }
    }

    assert!(n_models > 20 && n_compared > 300, "{n_models} {n_compared}");
}

type Exchanged = [(Vec<u64>, Vec<Option<model::CommandId>>)];

fn commands_of(exchanged: &Exchanged, position: usize) -> &[Option<model::CommandId>] {
    &exchanged[position].1
}

fn image_of(command: model::CommandId, images: &[Option<model::CommandId>]) -> model::CommandId {
    images[command.index()].expect("what is executed has an image")
}

fn sorted(mut commands: Vec<model::CommandId>) -> Vec<model::CommandId> {
    commands.sort_unstable();
    commands
}

/// By which commands the steps of a state lead where; nothing if it fails.
fn ends(
    model: &Model,
    state: &State,
    mut end: impl FnMut(Successor) -> (Vec<model::CommandId>, State),
) -> Option<BTreeSet<(Vec<model::CommandId>, State)>> {
    let steps = model.successors(state).ok()?;
    Some(steps.into_iter().map(&mut end).collect())
}

/// Every message of a state by its channel, once for each component.
fn messages<'a>(
    model: &'a Model,
    state: &'a State,
) -> impl Iterator<Item = (usize, &'a [i64], usize)> {
    let channels = model.parts().channels.iter().enumerate();
    let singles = channels.flat_map(|(number, channel)| vec![number; channel.n_single()]);
    let held = singles.zip(&state.channels);
    let held = held.flat_map(|(channel, held)| held.iter().map(move |message| (channel, message)));
    held.flat_map(|(channel, message)| {
        (0..message.len()).map(move |component| (channel, &message[..], component))
    })
}

/// Looks for code that is executed and variables that change, although that is said not to be.
pub fn compare_elimination(subject: &Subject, claims: &Claims, state: &State) -> Option<String> {
    for (cell, constant) in claims.constants.iter().enumerate() {
        if constant.is_some_and(|value| state.cells[cell] != value) {
            return Some(format!("{}: cell {cell} changes", subject.name));
        }
    }
    for (cell, (lo, hi)) in claims.ranges.iter().enumerate() {
        if !(*lo..=*hi).contains(&state.cells[cell]) {
            return Some(format!("{}: cell {cell} is out of its range", subject.name));
        }
    }
    for (channel, message, component) in messages(&subject.model, state) {
        let (lo, hi) = claims.messages[channel][component];
        if !(lo..=hi).contains(&message[component]) {
            return Some(format!(
                "{}: a message of channel {channel} is out of its range",
                subject.name
            ));
        }
    }
    let steps = subject.model.successors(state).unwrap_or_default();
    let mut commands = steps.iter().flat_map(|step| &step.commands);
    let executed = commands.find(|command| claims.never_executed[command.index()])?;
    let name = subject.model.command_name(*executed);
    Some(format!("{}: {name} is executed", subject.name))
}

#[test]
fn code_that_is_never_executed_is_not() {
    let (mut n_commands, mut n_cells, mut n_narrow, mut n_messages) = (0, 0, 0, 0);
    for seed in 0..u64::from(cases(1500)) {
        let subject = Subject::random(seed);
        let claims = subject.claims(false);
        let types = subject.model.cells().iter().map(|cell| cell.ty.bounds());
        let cells = claims.ranges.iter().zip(types).zip(&claims.constants);
        let is_narrow = |((range, ty), constant): &((&_, _), &Option<i64>)| {
            constant.is_none() && **range != *ty
        };
        n_narrow += cells.filter(is_narrow).count();
        let types = subject.model.parts().channels.iter();
        let types = types.flat_map(|channel| channel.payload.iter().map(|ty| ty.bounds()));
        let kept = claims.messages.iter().flatten();
        n_messages += kept.zip(types).filter(|(kept, ty)| *kept != ty).count();
        n_commands += claims.never_executed.iter().filter(|never| **never).count();
        n_cells += claims.constants.iter().flatten().count();
        for state in &reachable(&subject.model, 60).0 {
            assert_eq!(compare_elimination(&subject, &claims, state), None);
        }
    }
    let counts = [n_commands, n_cells, n_narrow, n_messages];
    let many = cases(100) as usize;
    assert!(counts.iter().all(|count| *count > many), "{counts:?}");
}

/// Counters that nothing but guards and conditions keeps small, in places that move.
fn guarded_text(random: &mut Random) -> String {
    let effects: Vec<String> = (0..3).map(|_| guarded_statements(random, 2)).collect();
    let steps = effects.iter().enumerate().map(|(number, effect)| {
        let guard = guarding(random);
        format!("    s{number} when {guard} {{ {effect} }}\n")
    });
    format!(
        "var x : 0..90 = 0\nvar y : -50..90 = 3\nvar k : 0..2 = 1\n\
         var a : array[0..2] of 0..90 = [0, 1, 2]\nprocess P {{\n{}}}\ndeadlockfree\n",
        steps.collect::<String>()
    )
}

fn counter(random: &mut Random) -> &'static str {
    let places = ["x", "y", "k", "a[k]", "a[0]", "a[x % 3]", "a[a[k] % 3]"];
    places[random.below(places.len())]
}

fn guarding(random: &mut Random) -> String {
    let (a, b, n) = (counter(random), counter(random), random.below(9));
    let op = *random.pick(&["<", "<=", ">", ">=", "==", "!="]);
    match random.below(8) {
        0 => format!("!({})", guarding(random)),
        1 | 2 => format!("({} && {})", guarding(random), guarding(random)),
        3 => format!("({} || {})", guarding(random), guarding(random)),
        4 => format!("{a} {op} {b}"),
        _ => format!("{a} {op} {n}"),
    }
}

fn guarded_statements(random: &mut Random, depth: usize) -> String {
    let statement = |random: &mut Random| {
        let (place, other, n) = (counter(random), counter(random), random.below(9));
        match random.below(if depth > 0 { 10 } else { 8 }) {
            0 => format!("{place} := {}", n % 3),
            1 => format!("{place} := {other}"),
            2 | 3 => format!("if {place} > 0 {{ {place} := {place} - 1 }}"),
            4 | 5 => format!("if {place} < {n} {{ {place} := {place} + 1 }}"),
            6 => {
                format!("if {place} < {n} {{ {other} := {place}; {place} := {place} + 1 }}")
            }
            7 => format!("{place} := {place} + 1"),
            _ => {
                let condition = guarding(random);
                let [then, otherwise] = [0; 2].map(|_| guarded_statements(random, depth - 1));
                format!("if {condition} {{ {then} }} else {{ {otherwise} }}")
            }
        }
    };
    let n_statements = 1 + random.below(2);
    let statements: Vec<String> = (0..n_statements).map(|_| statement(random)).collect();
    statements.join("; ")
}

#[test]
fn guarded_counters_stay_in_their_ranges() {
    let (mut n_models, mut n_guarded) = (0, 0);
    for seed in 0..u64::from(cases(1500)) {
        let text = guarded_text(&mut Random::new(seed));
        let subject = Subject::new(text.clone(), load(&text));
        let claims = subject.claims(false);
        let cells = subject.model.cells().iter().zip(&claims.ranges);
        let is_guarded = |(_, (_, hi)): &(&_, &(i64, i64))| (4..90).contains(hi);
        n_guarded += cells.filter(is_guarded).count();
        n_models += 1;
        for state in &reachable(&subject.model, 150).0 {
            assert_eq!(compare_elimination(&subject, &claims, state), None);
        }
    }
    println!("{n_guarded} of {n_models}");
    assert!(n_guarded > n_models / 4, "{n_guarded} of {n_models}");
}

#[test]
fn arbitrary_states_are_states() {
    let random = &mut Random::new(1);
    for seed in 0..200 {
        let subject = Subject::random(seed);
        let system = System::with_all_code(&subject.model).expect("the model is small");
        let state = arbitrary(&subject.model, random);
        assert_eq!(system.unpack(&system.pack(&state)), state, "seed {seed}");
    }
}

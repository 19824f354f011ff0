//! The computed abstraction is the best one: compared with the enumeration of all states.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use abstraction::predicate::{
    Abstraction, Content, Domain, Origin, Program, Questions, for_some_integer, program_of,
    state_term,
};
use base::{Budget, Source, Span};
use model::{ActionId, Env, InstanceId, LocationId, Model, State};
use smt::{Embedded, Linear, Sort, Term};
use testkit::Random;
use testkit::programs::{ARRAYS, CHANNELS, EVENTS, NUMBERS, ProgramFamily, SYNCHRONOUS};

/// Pairs of abstract states.
type Steps = BTreeSet<(Vec<i64>, Vec<i64>)>;

/// All states that the types allow: two locations of each process, every value of every cell, and
/// for a buffered channel no message or one.
fn all_states(model: &Model) -> Vec<State> {
    let mut all_cells = vec![Vec::new()];
    for cell in model.cells() {
        let (lo, hi) = cell.ty.bounds();
        let extend = |cells: &Vec<i64>| -> Vec<Vec<i64>> {
            let values = lo..=hi;
            values
                .map(|value| [cells.as_slice(), &[value]].concat())
                .collect()
        };
        all_cells = all_cells.iter().flat_map(extend).collect();
    }

    let mut all_channels: Vec<Vec<Vec<Vec<i64>>>> = vec![Vec::new()];
    for channel in &model.parts().channels {
        let mut contents = vec![Vec::new()];
        if channel.capacity > 0 {
            contents.extend((0..4).map(|message| vec![vec![message]]));
        }
        let extend = |channels: &Vec<Vec<Vec<i64>>>| -> Vec<Vec<Vec<Vec<i64>>>> {
            let with = |content: &Vec<Vec<i64>>| {
                [channels.as_slice(), std::slice::from_ref(content)].concat()
            };
            contents.iter().map(with).collect()
        };
        all_channels = all_channels.iter().flat_map(extend).collect();
    }

    let mut states = Vec::new();
    for locations in 0..4 {
        for cells in &all_cells {
            for channels in &all_channels {
                states.push(State {
                    locations: vec![LocationId(locations % 2), LocationId(locations / 2)],
                    cells: cells.clone(),
                    channels: channels.clone(),
                });
            }
        }
    }

    states
}

fn abstract_state(
    model: &Model,
    program: &Program,
    domain: &Domain,
    hints: &model::Hints,
    state: &State,
) -> Vec<i64> {
    let mut values = Vec::new();
    for (var, _) in &domain.kept {
        values.push(match program.vars[*var].content {
            Content::Location(instance) => i64::from(state.locations[instance.index()].0),
            Content::Cell(cell) => state.cells[cell],
            Content::Length(single) => i64::from(!state.channels[single].is_empty()),
            Content::Slot(..) | Content::Array(..) => unreachable!("they have too many values"),
        });
    }
    for predicate in &domain.predicates {
        let hint = hints
            .predicates
            .iter()
            .find(|hint| hint.name == predicate.name);
        let expr = &hint.expect("all predicates are named").expr;
        let value = model.eval(expr, state, &mut Env::empty(), Span::nowhere());
        values.push(value.expect("it has a value"));
    }
    values
}

#[test]
fn steps_over_numbers_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&NUMBERS, 4, 100);
}

#[test]
fn steps_over_arrays_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&ARRAYS, 5, 60);
}

#[test]
fn steps_over_channels_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&CHANNELS, 6, 60);
}

#[test]
fn steps_at_events_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&EVENTS, 7, 100);
}

#[test]
fn synchronous_steps_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&SYNCHRONOUS, 8, 60);
}

/// What labels a step: two ways of taking an action together that lead to one state are one step.
type Label = (Vec<ActionId>, Vec<InstanceId>);

/// The steps of all concrete states as the predicates see them, by their labels; the described
/// states; the initial states.
type Best = (
    BTreeMap<Label, Steps>,
    BTreeSet<Vec<i64>>,
    BTreeSet<Vec<i64>>,
);

fn best(model: &Model, program: &Program, domain: &Domain, hints: &model::Hints) -> Best {
    let seen = |state: &State| abstract_state(model, program, domain, hints, state);
    let mut best: BTreeMap<Label, Steps> = BTreeMap::new();
    let mut described = BTreeSet::new();
    for state in all_states(model) {
        let from = seen(&state);
        described.insert(from.clone());
        for step in model.successors(&state).expect("no errors") {
            let steps = best
                .entry((step.actions.to_vec(), step.movers.to_vec()))
                .or_default();
            steps.insert((from.clone(), seen(&step.target)));
        }
    }
    let initial = model.initial_states().expect("no errors");
    (best, described, initial.iter().map(seen).collect())
}

/// Compares so many programs of a family with the enumeration of their states.
fn assert_best(family: &ProgramFamily, seed: u64, n_programs: usize) {
    let mut random = Random::new(seed);
    let mut n_joint = 0;
    for _ in 0..n_programs {
        let text = family.with_predicates(&mut random);
        let source = Source {
            name: "random.fair".to_owned(),
            text: text.clone(),
        };
        let loaded = lang::load(source, &source::Options::default()).single();
        let model = loaded.model.expect("the text is right");
        let hints = &loaded.hints[0];
        let program = program_of(&model).expect("it can be expressed");
        let mut domain = Domain::keeping_up_to(&program, 2);
        for hint in &hints.predicates {
            let (term, _) =
                state_term(&model, &program, &hint.expr, hint.span).expect("expressible");
            let origin = Origin::Author(hint.name.clone());
            domain.add(Some(&hint.name), &term, origin, hint.span);
        }
        let (best, described, initial) = best(&model, &program, &domain, hints);
        let solver = Box::new(Embedded::new(Duration::from_secs(600)));
        let mut abstraction = Abstraction::new(
            &program,
            domain,
            Questions::new(solver, &Budget::unlimited()),
            &[],
        );
        let computed = abstraction.initial().expect("answered");
        let computed: BTreeSet<Vec<i64>> = computed.into_iter().collect();
        assert_eq!(computed, initial, "{text}");
        let mut all: BTreeMap<Label, Steps> = BTreeMap::new();
        for (position, transition) in program.transitions.iter().enumerate() {
            n_joint += usize::from(transition.commands.len() > 1);
            for from in &described {
                for to in abstraction.successors(position, from).expect("answered") {
                    let label = (transition.actions.clone(), transition.movers.clone());
                    let steps = all.entry(label).or_default();
                    steps.insert((from.clone(), to));
                }
            }
        }
        assert_eq!(all, best, "{text}");
    }

    let declares = |word: &str| family.declarations.contains(word);
    let is_joint = declares("event") || declares("synchronous") || declares("meet");
    assert_eq!(n_joint > 0, is_joint, "{n_joint} joint steps");
}

#[test]
fn adding_a_predicate_asks_only_what_involves_it() {
    let text = "
        var x, y, z : int = 0
        process P { up { x := x + 2 }  down { y := y - 3 }  other { z := z + 5 } }
        property nothing: always true
        abstract only { a: x > 10  b: y > 10 }
    ";
    let source = Source {
        name: "three.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the text is right");
    let program = program_of(&model).expect("it can be expressed");
    let mut domain = Domain::new(&program);
    for hint in &loaded.hints[0].predicates {
        let (term, _) = state_term(&model, &program, &hint.expr, hint.span).expect("expressible");
        domain.add(Some(&hint.name), &term, Origin::Model, hint.span);
    }
    let solver = Box::new(Embedded::new(Duration::from_secs(600)));
    let mut abstraction = Abstraction::new(
        &program,
        domain,
        Questions::new(solver, &Budget::unlimited()),
        &[],
    );
    let ask_all = |abstraction: &mut Abstraction<'_>| {
        let n_slots = abstraction.domain.n_slots();
        let n_predicates = abstraction.domain.predicates.len();
        for bits in 0..1_u32 << n_predicates {
            let mut state = vec![0; n_slots - n_predicates];
            state.extend((0..n_predicates).map(|bit| i64::from(bits >> bit & 1)));
            for transition in 0..3 {
                let _ = abstraction.successors(transition, &state);
            }
        }
        abstraction.questions.tally().n_calls
    };
    let n_first = ask_all(&mut abstraction);
    assert_eq!(
        ask_all(&mut abstraction),
        n_first,
        "everything is remembered"
    );
    let n_before = abstraction.domain.predicates.len();
    let z = smt::Term::lt(smt::Term::Int(10), smt::Term::var("z", smt::Sort::Int));
    assert!(
        abstraction
            .domain
            .add(Some("c"), &z, Origin::Model, Span::nowhere())
    );
    abstraction.refine(n_before);
    let n_second = ask_all(&mut abstraction) - n_first;
    // Only the effect of `other` on the new predicate is asked: two questions with up to two rows.
    assert!(n_second <= 6, "{n_second} new questions");
}

fn number(name: &str) -> Term {
    Term::var(name, Sort::Int)
}

/// Whether some choice makes a condition true is what trying all of them says.
#[test]
fn cases_decide_what_some_choice_makes_true() {
    let mut seed = 5_u64;
    let mut below = |n: u64| {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(99);
        ((seed >> 33) % n) as i128
    };
    let mut n_decided = 0;
    for _ in 0..400 {
        let mut atom = || {
            let times = |name: &str, factor| Linear::of(&number(name)).times(factor).into_term();
            let own = times("v", 1 + below(3));
            let x = times("x", below(3) - 1);
            match below(3) {
                0 => {
                    let divisor = 2 + below(3);
                    let rest = Term::rem(Term::add([own, x]), divisor);
                    Term::eq(rest, Term::Int(below(4)))
                }
                1 => Term::le(Term::add([number("v"), x]), Term::Int(below(9) - 4)),
                _ => Term::le(Term::Int(below(9) - 4), Term::sub(number("v"), x)),
            }
        };
        let condition = Term::or([Term::and([atom(), atom()]), Term::and([atom(), atom()])]);
        let Some(enabled) = for_some_integer("v", &condition) else {
            continue;
        };
        n_decided += 1;
        for x in -5..=5 {
            let with = |v: i128| {
                let mut state = smt::Model::default();
                state.set(&Arc::from("x"), smt::Value::Int(x));
                state.set(&Arc::from("v"), smt::Value::Int(v));
                state
            };
            let is_possible = (-60..=60).any(|v| with(v).bool(&condition) == Some(true));
            let claimed = with(0).bool(&enabled);
            assert_eq!(claimed, Some(is_possible), "{condition:?} at {x}");
        }
    }
    assert!(n_decided > 50, "{n_decided}");
}

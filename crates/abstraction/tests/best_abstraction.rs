//! The computed abstraction is the best one: compared with the enumeration of all states.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use abstraction::predicate::{
    Abstraction, Content, Domain, Origin, Program, Questions, program_of, state_term,
};
use base::{Source, Span};
use model::{CommandId, Env, LocationId, Model, State};
use smt::Embedded;

/// A generator of numbers that needs no crate.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// What a family of programs is made of.
struct Family {
    declarations: &'static str,
    /// Guards and communications, each as it stands before the effect.
    guards: &'static [&'static str],
    effects: &'static [&'static str],
    predicates: &'static [&'static str],
}

const NUMBERS: Family = Family {
    declarations: "var x, y : 0..3 = any\nvar flag : bool = any\n",
    guards: &[
        "when x < y",
        "when x == 0",
        "when x + y >= 3",
        "when y != 2",
        "when flag",
        "when x <= 1 || !flag",
        "",
    ],
    effects: &[
        "x := y",
        "x := if x < 3 then x + 1 else 0",
        "y := 3 - y",
        "x, y := y, x",
        "flag := x < y",
        "x := choose 0..3",
        "if x < 2 { x := x + 1 } else { y := 0 }",
        "y := choose v in 0..3 where v >= x",
    ],
    predicates: &[
        "x < y",
        "x == 0",
        "x + y >= 3",
        "y == 2",
        "x <= y + 1",
        "2 * x == y",
        "x == 3 && y > 0",
        "flag && x > 1",
    ],
};

const ARRAYS: Family = Family {
    declarations: "var t : array[0..1] of 0..3 = any\nvar i : 0..1 = any\n",
    guards: &[
        "when t[i] > 1",
        "when t[0] < t[1]",
        "when forall j in 0..1: t[j] <= 2",
        "when i == 0",
        "",
    ],
    effects: &[
        "t[i] := 3 - t[i]",
        "t[0], t[1] := t[1], t[0]",
        "t[1 - i] := t[i]",
        "t[i] := choose 0..3",
        "t[i] := choose v in 0..3 where v > t[1 - i]",
        "for j in 0..1 { if t[j] < 3 { t[j] := t[j] + 1 } }",
        "i := if t[0] < t[1] then 0 else 1",
    ],
    predicates: &[
        "t[0] < t[1]",
        "t[i] == 0",
        "t[0] + t[1] >= 3",
        "exists j in 0..1: t[j] == 2",
        "t[1] <= t[0] + 1",
        "t[1 - i] > 1",
    ],
};

const CHANNELS: Family = Family {
    declarations: "chan c[1] of 0..3\nvar x, y : 0..3 = any\n",
    guards: &[
        "c ! x",
        "c ? y",
        "c ? (x)",
        "c ? x",
        "when empty(c)",
        "when x != y",
        "",
    ],
    effects: &[
        "x := 3 - x",
        "y := choose v in 0..3 where v >= x",
        "x := if y < 3 then y + 1 else 0",
        "skip",
    ],
    predicates: &[
        "x < y",
        "x == 0",
        "x + y >= 3",
        "y == 2",
        "2 * x == y",
        "x <= y + 1",
    ],
};

fn random_text(family: &Family, numbers: &mut Numbers) -> String {
    let mut text = format!("{}process P {{\n    init a, b\n", family.declarations);
    for (from, to) in [("a", "b"), ("b", "a")] {
        text.push_str(&format!("    from {from} {{\n"));
        for step in ["s", "t"] {
            let (guard, effect) = (numbers.pick(family.guards), numbers.pick(family.effects));
            text.push_str(&format!("        {step} {guard} {{ {effect} }} -> {to}\n"));
        }
        text.push_str("    }\n");
    }
    text.push_str("}\nabstract only {\n");
    for name in ["p", "q", "r"] {
        text.push_str(&format!(
            "    {name}: {}\n",
            numbers.pick(family.predicates)
        ));
    }
    text.push_str("}\nproperty nothing: always true\n");
    text
}

/// Pairs of abstract states.
type Steps = BTreeSet<(Vec<i64>, Vec<i64>)>;

/// All states that the types allow: two locations, every value of every cell, and for every
/// channel no message or one.
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
    let channels: Vec<Vec<Vec<Vec<i64>>>> = match model.parts().channels.len() {
        0 => vec![Vec::new()],
        _ => {
            let held = (0..4).map(|message| vec![vec![vec![message]]]);
            std::iter::once(vec![Vec::new()]).chain(held).collect()
        }
    };
    let mut states = Vec::new();
    for location in 0..2 {
        for cells in &all_cells {
            for held in &channels {
                states.push(State {
                    locations: vec![LocationId(location)],
                    cells: cells.clone(),
                    channels: held.clone(),
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
    assert_best(&NUMBERS, 4, 160);
}

#[test]
fn steps_over_arrays_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&ARRAYS, 5, 120);
}

#[test]
fn steps_over_channels_are_exactly_those_that_some_concrete_step_needs() {
    assert_best(&CHANNELS, 6, 120);
}

/// Compares so many programs of a family with the enumeration of their states.
fn assert_best(family: &Family, seed: u64, n_programs: usize) {
    let mut numbers = Numbers(seed);
    for _ in 0..n_programs {
        let text = random_text(family, &mut numbers);
        let source = Source {
            name: "random.fair".to_owned(),
            text: text.clone(),
        };
        let loaded = lang::load(source, &lang::Options::default());
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
        let mut best: BTreeMap<CommandId, Steps> = BTreeMap::new();
        let mut described = BTreeSet::new();
        let mut initial = BTreeSet::new();
        for state in all_states(&model) {
            let from = abstract_state(&model, &program, &domain, hints, &state);
            described.insert(from.clone());
            if state.channels.iter().all(Vec::is_empty) {
                initial.insert(from.clone());
            }
            for step in model.successors(&state).expect("no errors") {
                let to = abstract_state(&model, &program, &domain, hints, &step.target);
                for command in step.commands {
                    best.entry(command)
                        .or_default()
                        .insert((from.clone(), to.clone()));
                }
            }
        }
        let solver = Box::new(Embedded::new(Duration::from_secs(10)));
        let mut abstraction = Abstraction::new(&program, domain, Questions::new(solver), &[]);
        let computed: BTreeSet<Vec<i64>> = abstraction
            .initial()
            .expect("answered")
            .into_iter()
            .collect();
        assert_eq!(computed, initial, "{text}");
        for (position, transition) in program.transitions.iter().enumerate() {
            let mut computed = BTreeSet::new();
            for from in &described {
                for to in abstraction.successors(position, from).expect("answered") {
                    computed.insert((from.clone(), to));
                }
            }
            let expected = best
                .get(&transition.commands[0])
                .cloned()
                .unwrap_or_default();
            assert_eq!(
                computed,
                expected,
                "{} of\n{text}",
                model.command_name(transition.commands[0])
            );
        }
    }
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
    let loaded = lang::load(source, &lang::Options::default());
    let model = loaded.model.expect("the text is right");
    let program = program_of(&model).expect("it can be expressed");
    let mut domain = Domain::new(&program);
    for hint in &loaded.hints[0].predicates {
        let (term, _) = state_term(&model, &program, &hint.expr, hint.span).expect("expressible");
        domain.add(Some(&hint.name), &term, Origin::Model, hint.span);
    }
    let solver = Box::new(Embedded::new(Duration::from_secs(10)));
    let mut abstraction = Abstraction::new(&program, domain, Questions::new(solver), &[]);
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

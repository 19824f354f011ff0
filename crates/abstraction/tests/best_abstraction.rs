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

const PREDICATES: [&str; 8] = [
    "x < y",
    "x == 0",
    "x + y >= 3",
    "y == 2",
    "x <= y + 1",
    "2 * x == y",
    "x == 3 && y > 0",
    "flag && x > 1",
];

fn random_text(numbers: &mut Numbers) -> String {
    const GUARDS: [&str; 7] = [
        "x < y",
        "x == 0",
        "x + y >= 3",
        "y != 2",
        "flag",
        "x <= 1 || !flag",
        "true",
    ];
    const EFFECTS: [&str; 8] = [
        "x := y",
        "x := if x < 3 then x + 1 else 0",
        "y := 3 - y",
        "x, y := y, x",
        "flag := x < y",
        "x := choose 0..3",
        "if x < 2 { x := x + 1 } else { y := 0 }",
        "y := choose v in 0..3 where v >= x",
    ];
    let mut text =
        String::from("var x, y : 0..3 = any\nvar flag : bool = any\nprocess P {\n    init a, b\n");
    for (from, to) in [("a", "b"), ("b", "a")] {
        text.push_str(&format!("    from {from} {{\n"));
        for step in ["s", "t"] {
            let (guard, effect) = (numbers.pick(&GUARDS), numbers.pick(&EFFECTS));
            text.push_str(&format!(
                "        {step} when {guard} {{ {effect} }} -> {to}\n"
            ));
        }
        text.push_str("    }\n");
    }
    text.push_str("}\nabstract only {\n");
    for name in ["p", "q", "r"] {
        text.push_str(&format!("    {name}: {}\n", numbers.pick(&PREDICATES)));
    }
    text.push_str("}\nproperty nothing: always true\n");
    text
}

/// Pairs of abstract states.
type Steps = BTreeSet<(Vec<i64>, Vec<i64>)>;

/// All states that the types allow.
fn all_states(model: &Model) -> Vec<State> {
    let mut states = Vec::new();
    for location in 0..2 {
        for x in 0..4 {
            for y in 0..4 {
                for flag in 0..2 {
                    states.push(State {
                        locations: vec![LocationId(location)],
                        cells: vec![x, y, flag],
                        channels: Vec::new(),
                    });
                }
            }
        }
    }
    assert_eq!(model.cells().len(), 3);
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
            _ => unreachable!("the programs have neither channels nor open arrays"),
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
fn steps_are_exactly_those_that_some_concrete_step_needs() {
    let mut numbers = Numbers(4);
    for _ in 0..40 {
        let text = random_text(&mut numbers);
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
            initial.insert(from.clone());
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

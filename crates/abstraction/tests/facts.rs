//! Facts that are found about all reachable states hold in all of them, on random programs that the
//! reference semantics explores completely.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;

use abstraction::predicate::{Abstraction, Content, Domain, Program, Questions, program_of};
use base::{Budget, Source};
use model::{Model, State};
use smt::{Embedded, Sort, Value};
use testkit::Random;
use testkit::programs::{EVENTS, NUMBERS, ProgramFamily, SYNCHRONOUS};

fn load(text: &str) -> Model {
    let source = Source {
        name: "random.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    loaded.model.expect("the text is right")
}

/// All reachable states, as far as no run-time error is in the way.
fn reachable(model: &Model) -> Vec<State> {
    let mut states = model.initial_states().expect("initial values are right");
    let mut seen: BTreeSet<State> = states.iter().cloned().collect();
    let mut at = 0;
    while at < states.len() {
        for step in model.successors(&states[at]).unwrap_or_default() {
            if seen.insert(step.target.clone()) {
                states.push(step.target);
            }
        }
        at += 1;
    }
    states
}

/// A state as values of solver terms.
fn valued(program: &Program, state: &State) -> smt::Model {
    let mut values = smt::Model::default();
    for var in &program.vars {
        let number = match var.content {
            Content::Location(instance) => i64::from(state.locations[instance.index()].0),
            Content::Cell(cell) => state.cells[cell],
            Content::Length(_) | Content::Slot(..) | Content::Array(..) => {
                unreachable!("the family has none")
            }
        };
        let value = match var.sort {
            Sort::Bool => Value::Bool(number != 0),
            Sort::Int | Sort::Array => Value::Int(i128::from(number)),
        };
        values.set(&Arc::clone(&var.name), value);
    }
    values
}

/// How many facts are found about a program; all of them hold in its reachable states.
fn n_facts(text: &str) -> usize {
    let model = load(text);
    let program = program_of(&model).expect("it can be expressed");
    let mut domain = Domain::keeping_up_to(&program, 2);
    domain.add_guards(&program);
    let solver = Box::new(Embedded::new(Duration::from_secs(10)));
    let questions = Questions::new(solver, &Budget::unlimited());
    let mut abstraction = Abstraction::new(&program, domain, questions, &[]);
    if !abstraction.find_facts() {
        return 0;
    }

    let domain = &abstraction.domain;
    for state in reachable(&model) {
        let values = valued(&program, &state);
        for fact in &domain.facts {
            let mut at = fact.at.iter();
            let is_there = at.all(|(slot, value)| {
                let location = domain.describe(&program, *slot, *value);
                values.bool(&location) == Some(true)
            });
            let holds = !is_there || values.bool(&fact.term) == Some(true);
            assert!(holds, "{fact:?} in {state:?} of\n{text}");
        }
    }
    domain.facts.len()
}

fn assert_facts(family: &ProgramFamily, seed: u64, n_programs: usize) {
    let mut random = Random::new(seed);
    let texts = (0..n_programs).map(|_| family.with_predicates(&mut random));
    let n_found: usize = texts.map(|text| n_facts(&text)).sum();
    assert!(n_found > n_programs, "{n_found} facts");
}

#[test]
fn facts_about_numbers_hold_in_all_reachable_states() {
    assert_facts(&NUMBERS, 31, 60);
}

#[test]
fn facts_about_joint_steps_hold_in_all_reachable_states() {
    assert_facts(&EVENTS, 32, 40);
    assert_facts(&SYNCHRONOUS, 33, 40);
}

/// What no guard mentions is found, and with exactly these factors.
#[test]
fn relations_of_the_literature_are_found() {
    let karr = "
        var i, s : int = 0
        process P { add when i < 10 { i := i + 1; s := s + 3 } }
        property p: always s >= 0";
    assert!(n_facts(karr) > 0);
    let model = load(karr);
    let program = program_of(&model).expect("it can be expressed");
    let solver = Box::new(Embedded::new(Duration::from_secs(10)));
    let questions = Questions::new(solver, &Budget::unlimited());
    let mut domain = Domain::new(&program);
    domain.add_guards(&program);
    let mut abstraction = Abstraction::new(&program, domain, questions, &[]);
    assert!(abstraction.find_facts());
    let facts = abstraction.domain.facts.iter();
    let shown: Vec<String> = facts
        .map(|fact| abstraction::predicate::show(&fact.term))
        .collect();
    assert!(shown.contains(&"3 * i == s".to_owned()), "{shown:?}");
    assert!(!abstraction.find_facts(), "they are looked for once");
}

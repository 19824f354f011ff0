//! Timers that are built into the language agree with those of the native language.

use std::fs;

use base::{NoProgress, Source};
use check::{Outcome, Plan};
use evidence::Verdict;
use source::{Memory, Options, Single};

fn fischer(options: &Options) -> Single {
    let path = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../examples/promela/fischer.pml"
    );
    let text = fs::read_to_string(path).expect("the example is there");
    let name = "fischer.pml".to_owned();
    let loaded = promela::load(Source { name, text }, &Memory::default(), options).single();
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    loaded
}

fn outcome(loaded: &Single, property: &str) -> Outcome {
    let model = loaded.model.as_ref().expect("it is right");
    let named = loaded
        .properties
        .iter()
        .find(|named| named.name == property);
    let named = named.expect("the property is there");
    check::check(model, named, &Plan::default(), &mut NoProgress).expect("no bug")
}

fn holds(loaded: &Single, property: &str) -> bool {
    match outcome(loaded, property).verdict {
        Verdict::Holds { .. } => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(reason) => panic!("{property}: {reason:?}"),
    }
}

fn abstract_hold() -> Options {
    Options {
        abstract_timers: vec![("hold".to_owned(), "2".to_owned())],
        ..Options::default()
    }
}

#[test]
fn fischer_is_right_for_all_settings_from_two_on() {
    let loaded = fischer(&abstract_hold());
    for property in ["exclusion", "access", "time_goes_on"] {
        assert!(holds(&loaded, property), "{property}");
    }
    // The same number as for `examples/timers/fischer.fair`.
    assert_eq!(outcome(&loaded, "exclusion").stats.n_states, 148);
}

#[test]
fn fischer_needs_a_setting_above_one() {
    let with = |value: &str| Options {
        defines: vec![("HOLD".to_owned(), value.to_owned())],
        ..Options::default()
    };
    assert!(holds(&fischer(&with("2")), "exclusion"));
    assert!(!holds(&fischer(&with("1")), "exclusion"));
}

/// What is said about a timer that is set to 3, made abstract by an option.
fn said_about(name: &str, threshold: &str) -> Vec<(&'static str, String)> {
    let text = "active proctype P() { timer t; set(t, 3); expire(t) }";
    let source = Source {
        name: "m.pml".to_owned(),
        text: text.to_owned(),
    };
    let options = Options {
        abstract_timers: vec![(name.to_owned(), threshold.to_owned())],
        ..Options::default()
    };
    let loaded = promela::load(source, &Memory::default(), &options).single();
    let said = loaded.diagnostics.into_iter();
    said.map(|d| (d.code, d.help.join("; "))).collect()
}

#[test]
fn wrong_thresholds() {
    assert_eq!(said_about("t", "3"), []);
    assert_eq!(said_about("P.t", "1"), []);
    assert_eq!(said_about("t", "4"), [("timer-threshold", String::new())]);
    let [(code, help)] = &said_about("u", "3")[..] else {
        panic!("one message");
    };
    assert_eq!(*code, "unknown-timer");
    assert_eq!(help, "the model has these timers: `P.t`");
    assert_eq!(said_about("t", "0")[0].0, "timer-threshold");
}

#[test]
fn timeout_is_refused_beside_timers() {
    let text = "timer t; active proctype P() { set(t, 1); timeout -> skip }";
    let source = Source {
        name: "m.pml".to_owned(),
        text: text.to_owned(),
    };
    let loaded = promela::load(source, &Memory::default(), &Options::default()).single();
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["timeout-with-timers"]);
}

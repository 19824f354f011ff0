//! ITF files: what is written is read again, and nonsense is refused with a reason.

mod system;

use std::sync::Arc;

use base::FairnessKind;
use evidence::{
    Communication, Judge, NamedRun, NamedState, NamedStep, Trace, TraceStep, Value, ViolationKind,
    validate_run,
};
use expect_test::expect;
use model::Model;
use proptest::prelude::*;
use report::{
    ComponentNote, ConditionNote, Detail, EndlessNote, ErrorNote, ExclusionNote, StoredTrace,
    Style, TraceMeta, chart, read_itf, trace_text, write_itf,
};
use system::results::violation;
use system::{fairness, lasso, question, served, sources, system, walk};

/// A trace as it is stored when the property `[]<> work` is checked under weak fairness.
fn store(model: &Model, trace: &Trace) -> StoredTrace {
    let (sources, property) = (sources(), served());
    let weak = fairness(FairnessKind::Weak);
    let judge = Judge::new(model, &property.property, weak, &[]);
    let explanation = match trace.loop_start {
        Some(_) => {
            let found = violation(ViolationKind::FairLoop, Some(trace.clone()));
            judge.violation(&found)
        }
        None => judge.prefix(trace),
    };
    let explanation = explanation.expect("the trace is right");
    let run = explanation.run().expect("it is explained");
    question(&sources, &property, weak.kind).store(run)
}

fn stored_lasso(model: &Model) -> StoredTrace {
    store(model, &lasso(model))
}

#[test]
fn a_file_as_it_is_written() {
    let model = system();
    let trace = walk(&model, &["Sender.put", "Sender.ring/Receiver.hear"], None);
    expect![[r##"
        {
          "#meta": {
            "format": "ITF",
            "source": "mail.fair",
            "property": "served",
            "formula": "[]<> work",
            "fairness": "weak",
            "kind": "bad-prefix",
            "error": null,
            "conditions": [],
            "assumptions": [],
            "excluded_by": [],
            "component": null,
            "processes": [
              "Sender",
              "Clerk",
              "Receiver"
            ]
          },
          "vars": [
            "Sender",
            "Receiver",
            "last",
            "bell",
            "box"
          ],
          "states": [
            {
              "#meta": {
                "index": 0,
                "actions": [
                  "Sender.put"
                ],
                "movers": [
                  "Sender"
                ],
                "communication": {
                  "channel": "box",
                  "message": "(red, true)",
                  "from": "Sender",
                  "to": null
                }
              },
              "Sender": "idle",
              "Receiver": "home",
              "last": "blue",
              "bell": 0,
              "box": []
            },
            {
              "#meta": {
                "index": 1,
                "actions": [
                  "Sender.ring/Receiver.hear"
                ],
                "movers": [
                  "Sender",
                  "Receiver"
                ],
                "communication": {
                  "channel": "door",
                  "message": "7",
                  "from": "Sender",
                  "to": "Receiver"
                }
              },
              "Sender": "ringing",
              "Receiver": "home",
              "last": "blue",
              "bell": 0,
              "box": [
                {
                  "#tup": [
                    "red",
                    true
                  ]
                }
              ]
            },
            {
              "#meta": {
                "index": 2
              },
              "Sender": "waiting",
              "Receiver": "door",
              "last": "blue",
              "bell": 7,
              "box": [
                {
                  "#tup": [
                    "red",
                    true
                  ]
                }
              ]
            }
          ]
        }
    "##]]
    .assert_eq(&write_itf(&store(&model, &trace)));
}

#[test]
fn a_file_alone_is_enough_to_explain_it() {
    let model = system();
    let stored = stored_lasso(&model);
    let read = read_itf(&write_itf(&stored)).unwrap();
    assert_eq!(read, stored);
    assert_eq!(
        trace_text(&read, Style::Plain, Detail::default()),
        trace_text(&stored, Style::Plain, Detail::default())
    );
    assert_eq!(chart(&read), chart(&stored));
}

#[test]
fn a_file_becomes_the_trace_again() {
    let model = system();
    let read = read_itf(&write_itf(&stored_lasso(&model))).unwrap();
    let trace = read.run.to_trace(&model).unwrap();
    assert_eq!(trace, lasso(&model));
    assert_eq!(validate_run(&model, &trace), Ok(()));
}

/// A run, to be changed.
fn run(stored: &mut StoredTrace) -> &mut NamedRun {
    Arc::make_mut(&mut stored.run)
}

fn states(stored: &mut StoredTrace) -> &mut Vec<NamedState> {
    &mut run(stored).states
}

fn step(stored: &mut StoredTrace, at: usize) -> &mut NamedStep {
    Arc::make_mut(&mut states(stored)[at].step)
}

#[test]
fn files_without_actions_are_replayed_by_their_states() {
    let model = system();
    let mut stored = stored_lasso(&model);
    for state in states(&mut stored) {
        state.step = Arc::default();
    }
    assert_eq!(stored.run.to_trace(&model), Ok(lasso(&model)));
    states(&mut stored).swap(1, 2);
    let error = stored.run.to_trace(&model).unwrap_err().to_string();
    assert_eq!(error, "no step leads from state 0 to the next state");
}

#[test]
fn a_changed_file_is_read_and_then_refused_by_the_judge() {
    let model = system();
    let mut stored = stored_lasso(&model);
    states(&mut stored).swap(1, 2);
    let trace = stored.run.to_trace(&model).unwrap();
    assert!(validate_run(&model, &trace).is_err());
}

#[test]
fn traces_of_other_models_are_refused() {
    let model = system();
    let message = |change: fn(&mut StoredTrace)| {
        let mut stored = stored_lasso(&model);
        change(&mut stored);
        stored.run.to_trace(&model).unwrap_err().to_string()
    };
    assert_eq!(
        message(|t| run(t).vars[0] = "y".to_owned()),
        "the model has no variable `y`"
    );

    let lost = message(|t| {
        run(t).vars.pop();
        states(t).iter_mut().for_each(|s| drop(s.values.pop()));
    });
    assert_eq!(lost, "the trace has no variable `box`");
    assert_eq!(
        message(|t| states(t)[3].values[0] = Value::Name("nowhere".to_owned())),
        "state 3: `Sender` cannot be nowhere"
    );
    assert_eq!(
        message(|t| states(t)[3].values[0] = Value::Set(Vec::new())),
        "state 3: `Sender` cannot be {}"
    );
    assert_eq!(
        message(|t| step(t, 2).actions = Some(vec!["jump".to_owned()])),
        "state 2: the model has no action `jump`"
    );
    assert_eq!(
        message(|t| step(t, 2).movers = vec!["Ghost".to_owned()]),
        "state 2: the model has no process `Ghost`"
    );
}

#[test]
fn broken_files_are_refused_with_a_reason() {
    let messages: Vec<String> = [
        "",
        "[]",
        r#"{ "vars": 3 }"#,
        r#"{ "vars": [3] }"#,
        r#"{ "vars": ["x", "x"] }"#,
        r##"{ "vars": ["#meta"] }"##,
        r#"{ "vars": [] }"#,
        r#"{ "vars": [], "states": [] }"#,
        r#"{ "vars": [], "states": [1] }"#,
        r#"{ "vars": ["x"], "states": [{}] }"#,
        r#"{ "vars": [], "states": [{ "x": 1 }] }"#,
        r#"{ "vars": ["x"], "states": [{ "x": null }] }"#,
        r#"{ "vars": ["x"], "states": [{ "x": 1.5 }] }"#,
        r##"{ "vars": ["x"], "states": [{ "x": { "#bigint": "1e9" } }] }"##,
        r##"{ "vars": ["x"], "states": [{ "x": { "#set": [], "y": 1 } }] }"##,
        r##"{ "vars": ["x"], "states": [{ "x": { "#map": [[1]] } }] }"##,
        r##"{ "vars": ["x"], "states": [{ "x": { "#new": 1 } }] }"##,
        r#"{ "vars": [], "states": [{}], "loop": 1 }"#,
        r#"{ "vars": [], "states": [{}], "loop": -1 }"#,
        r##"{ "vars": [], "states": [{}], "#meta": { "conditions": 1 } }"##,
        r##"{ "vars": [], "states": [{ "#meta": { "actions": "a" } }] }"##,
    ]
    .iter()
    .map(|file| read_itf(file).expect_err(file).to_string())
    .collect();
    expect![[r#"
        the ITF file is not JSON: EOF while parsing a value at line 1 column 0
        the ITF file is not a JSON object
        the ITF file has no `vars`
        `vars` contains 3, which is not a name
        `vars` contains `x` twice
        `#meta` cannot be a variable
        the ITF file has no `states`
        `states` is empty
        state 0 is not an object
        state 0 has no `x`
        state 0 has `x`, which is not in `vars`
        `x` in state 0: `null` is not a value
        `x` in state 0: the number 1.5 is not an integer of 64 bits
        `x` in state 0: `1e9` is not an integer
        `x` in state 0: an object with `#set` has other keys as well
        `x` in state 0: an entry of `#map` is not a pair
        `x` in state 0: `#new` does not make a value here
        `loop` is 1, which is not a state
        `loop` is -1, which is not a state
        `#meta` is wrong: invalid type: integer `1`, expected a sequence
        `#meta` of state 0 is wrong: invalid type: string "a", expected a sequence"#]]
    .assert_eq(&messages.join("\n"));
    let deep = format!(
        r#"{{ "vars": ["x"], "states": [{{ "x": {}1{} }}] }}"#,
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    assert!(read_itf(&deep).is_err());
}

#[test]
fn values_of_other_tools_are_shown() {
    let file = r##"{
        "#meta": { "format": "ITF", "varTypes": { "x": "Int" } },
        "vars": ["big", "f", "r", "s", "u"],
        "states": [
            { "big": { "#bigint": "-99999999999999999999" }, "f": { "#map": [[1, true], [2, false]] },
              "r": { "a": 1, "b": [] }, "s": { "#set": ["x", { "#tup": [1, 2] }] },
              "u": { "#unserializable": "Nat" } }
        ]
    }"##;
    let trace = read_itf(file).unwrap();
    expect![[r#"
        trace: 0 steps
        start: big = -99999999999999999999, f = {1: true, 2: false}, r = {a: 1, b: []}, s = {x, (1, 2)},
               u = Nat
    "#]].assert_eq(&trace_text(&trace, Style::Plain, Detail::default()));
    assert_eq!(read_itf(&write_itf(&trace)).unwrap(), trace);
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        any::<i64>().prop_map(Value::Int),
        (-3_i64..=3).prop_map(|offset| Value::Int((1 << 53) + offset)),
        "-?[1-9][0-9]{19,30}".prop_map(Value::BigInt),
        ".{0,5}".prop_map(Value::Name),
    ];
    leaf.prop_recursive(3, 16, 4, |inner| {
        let list = || prop::collection::vec(inner.clone(), 0..3);
        let pairs = prop::collection::vec((inner.clone(), inner.clone()), 0..3);
        let fields = prop::collection::btree_map("[a-z]{1,3}", inner.clone(), 0..3);
        prop_oneof![
            list().prop_map(Value::List),
            list().prop_map(Value::Tuple),
            list().prop_map(Value::Set),
            pairs.prop_map(Value::Map),
            fields.prop_map(|fields| Value::Record(fields.into_iter().collect())),
        ]
    })
}

fn name() -> impl Strategy<Value = String> {
    "[a-zA-Z][a-z0-9.\\[\\]\"/ ]{0,6}"
}

fn meta() -> impl Strategy<Value = TraceMeta> {
    let note =
        (name(), name(), any::<Option<usize>>()).prop_map(|(condition, why, at)| ConditionNote {
            condition,
            fair_because: why,
            at,
        });

    let notes = prop::collection::vec(note, 0..3);
    let exclusion =
        (name(), name(), 0_usize..9).prop_map(|(fairness, subject, at)| ExclusionNote {
            fairness,
            subject,
            at,
            suffices: None,
            notion_suffices: None,
        });

    let error = (name(), prop::option::of(name()), any::<Option<usize>>()).prop_map(
        |(message, file, line)| ErrorNote {
            message,
            action: file.clone(),
            file,
            line,
            column: line,
        },
    );

    let exclusions = prop::collection::vec(exclusion, 0..3);
    let texts = prop::collection::vec(prop::option::of(name()), 5);
    let pair = || prop::option::of((0_usize..99, 0_usize..99));
    let error = prop::option::of(error);
    (texts, notes, exclusions, error, pair(), pair()).prop_map(
        |(texts, notes, excluded_by, error, component, endless)| TraceMeta {
            source: texts[0].clone(),
            property: texts[1].clone(),
            formula: texts[2].clone(),
            fairness: texts[3].clone(),
            kind: texts[4].clone(),
            error,
            broken: notes.iter().map(|note| note.condition.clone()).collect(),
            conditions: notes.clone(),
            assumptions: notes,
            excluded_by,
            component: component.map(|(states, steps)| ComponentNote { states, steps }),
            endless: endless.map(|(start, length)| EndlessNote {
                start,
                length,
                recurrent: texts.iter().flatten().cloned().collect(),
                changes: texts.iter().rev().flatten().cloned().collect(),
            }),
            processes: texts.into_iter().flatten().collect(),
        },
    )
}

fn stored_trace() -> impl Strategy<Value = StoredTrace> {
    let vars = prop::collection::btree_set(name(), 0..4);
    (vars, 1_usize..5, meta()).prop_flat_map(|(vars, n_states, meta)| {
        let n_vars = vars.len();
        let vars: Vec<String> = vars.into_iter().collect();
        let names = || prop::collection::vec(name(), 0..3);
        let communication = (name(), prop::option::of(name()), prop::option::of(name())).prop_map(
            |(channel, from, to)| Communication {
                message: channel.clone(),
                channel,
                from,
                to,
            },
        );
        let state = (
            prop::collection::vec(value(), n_vars),
            prop::option::of(names()),
            names(),
            prop::option::of(communication),
        )
            .prop_map(|(values, actions, movers, communication)| NamedState {
                values,
                step: Arc::new(NamedStep {
                    actions,
                    movers,
                    communication,
                }),
            });
        let states = prop::collection::vec(state, n_states);
        (states, prop::option::of(0..n_states)).prop_map(move |(states, loop_start)| StoredTrace {
            meta: meta.clone(),
            run: Arc::new(NamedRun {
                vars: vars.clone(),
                wholes: vars.iter().map(String::len).collect(),
                states,
                loop_start,
            }),
        })
    })
}

proptest! {
    #[test]
    fn what_is_written_is_read(trace in stored_trace()) {
        prop_assert_eq!(read_itf(&write_itf(&trace)), Ok(trace));
    }

    #[test]
    fn whatever_is_read_can_be_printed(trace in stored_trace()) {
        prop_assert!(!trace_text(&trace, Style::Ansi, Detail::default()).is_empty());
        prop_assert!(!chart(&trace).is_empty());
        prop_assert!(trace.run.to_trace(&system()).is_err());
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in "[\\[\\]{}\":,#a-z0-9 ]{0,40}") {
        let _ = read_itf(&text);
    }

    #[test]
    fn walks_survive_the_file(choices in prop::collection::vec(0_usize..4, 0..20)) {
        let model = system();
        let mut state = model.initial_states().unwrap().remove(0);
        let mut trace = Trace { states: vec![state.clone()], steps: vec![], loop_start: None };
        for choice in choices {
            let steps = model.steps_or_idle(&state).unwrap();
            let step = &steps[choice % steps.len()];
            trace.steps.push(TraceStep::from(step).into());
            state = step.target.clone();
            trace.states.push(state.clone());
        }
        let read = read_itf(&write_itf(&store(&model, &trace))).unwrap();
        prop_assert_eq!(read.run.to_trace(&model), Ok(trace));
    }
}

/// Arrays and records are one variable each, and come back as their components.
#[test]
fn variables_are_written_as_wholes() {
    let names = [
        "P[1]", "P[1].x", "a[0]", "a[1]", "b[2].f", "b[2].g", "b[3].f", "b[3].g", "c",
    ];
    let wholes = vec![4, 6, 1, 1, 1, 1, 1, 1, 1];
    let values = (0..9).map(Value::Int).collect();
    let run = NamedRun {
        vars: names.map(str::to_owned).to_vec(),
        wholes,
        states: vec![NamedState {
            values,
            ..NamedState::default()
        }],
        loop_start: None,
    };
    let trace = StoredTrace {
        run: Arc::new(run),
        ..StoredTrace::default()
    };
    let text = write_itf(&trace);
    let json: serde_json::Value = serde_json::from_str(&text).expect("it is JSON");
    let expected = serde_json::json!(["P[1]", "P[1].x", "a", "b", "c"]);
    assert_eq!(json["vars"], expected);
    assert_eq!(json["states"][0]["a"], serde_json::json!([2, 3]));
    let b = serde_json::json!({ "#map": [[2, { "f": 4, "g": 5 }], [3, { "f": 6, "g": 7 }]] });
    assert_eq!(json["states"][0]["b"], b);
    assert_eq!(read_itf(&text), Ok(trace));
}

/// A component with the name of another variable is not made a part of it.
#[test]
fn names_that_are_taken_stay_apart() {
    let trace = StoredTrace {
        run: Arc::new(NamedRun {
            vars: ["a", "a[0]", "a[1]"].map(str::to_owned).to_vec(),
            wholes: vec![1, 1, 1],
            states: vec![NamedState {
                values: vec![Value::Int(1), Value::Int(2), Value::Int(3)],
                ..NamedState::default()
            }],
            loop_start: None,
        }),
        ..StoredTrace::default()
    };
    let read = read_itf(&write_itf(&trace)).expect("it is read");
    assert_eq!(read.run.vars, trace.run.vars);
    assert_eq!(read.run.states, trace.run.states);
}

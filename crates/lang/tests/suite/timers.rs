//! Timers in texts: what they mean, and what is said about slips.

use crate::support::{load, show};
use expect_test::{Expect, expect};
use model::{AtomMeaning, Model, Scalar};
use source::Options;

fn check(text: &str, expect: &Expect) {
    let loaded = load(text, &Options::default());
    assert!(loaded.model.is_none() && !loaded.diagnostics.is_empty());
    expect.assert_eq(&show(&loaded));
}

fn model(text: &str, options: &Options) -> Model {
    let loaded = load(text, options);
    loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

/// The timers with their types and thresholds.
fn timers(model: &Model) -> Vec<String> {
    let timer = |&(cell, threshold): &(usize, Option<i64>)| {
        let cell = &model.cells()[cell];
        let Scalar::Range(lo, hi) = cell.ty else {
            panic!("a timer has a range");
        };
        format!("{} {lo}..{hi} {threshold:?}", cell.name)
    };
    model.timer_cells().iter().map(timer).collect()
}

const TWO: &str = "
    timer alarm[1..2]
    process P(i in 0..1) {
        timer wait
        timer hold abstract from 3
        go { set wait := choose 0..i + 1; set hold := any; set alarm[1] := 7 }
        stop when expired(wait) && off(hold) { set wait := off }
    }
";

#[test]
fn timers_have_the_ranges_that_the_text_shows() {
    let model = model(TWO, &Options::default());
    assert_eq!(
        timers(&model),
        [
            "alarm[1] -1..7 None",
            "alarm[2] -1..7 None",
            "P[0].wait -1..32767 None",
            "P[1].wait -1..32767 None",
            "P[0].hold -1..3 Some(3)",
            "P[1].hold -1..3 Some(3)",
        ]
    );
    let initial = model.initial_states().expect("no error");
    assert_eq!(initial[0].cells, [-1; 6]);
}

#[test]
fn the_command_line_makes_timers_abstract() {
    let options = |name: &str, value: &str| Options {
        abstract_timers: vec![(name.to_owned(), value.to_owned())],
        ..Options::default()
    };
    let abstracted = model(TWO, &options("P.wait", "1"));
    assert_eq!(timers(&abstracted)[2], "P[0].wait -1..1 Some(1)");
    let array = model(TWO, &options("alarm", "2"));
    assert_eq!(timers(&array)[1], "alarm[2] -1..2 Some(2)");
    let overridden = model(TWO, &options("hold", "5"));
    assert_eq!(timers(&overridden)[4], "P[0].hold -1..5 Some(5)");
    for (name, value) in [("alrm", "2"), ("alarm", "two"), ("alarm", "0")] {
        let loaded = load(TWO, &options(name, value));
        assert!(loaded.model.is_none(), "{name} {value}");
    }
}

#[test]
fn time_passes_when_nothing_else_can() {
    let model = model(
        "timer t process P { init a from a { go { set t := 1 } -> b } from b { end when expired(t) -> c } from c { } }",
        &Options::default(),
    );
    let mut state = model.initial_states().expect("no error").remove(0);
    let mut names = Vec::new();
    for _ in 0..5 {
        let mut steps = model.successors(&state).expect("no error");
        assert_eq!(steps.len(), 1);
        let step = steps.remove(0);
        names.push(format!(
            "{} {}",
            model.action_name(step.actions[0]),
            step.target.cells[0]
        ));
        state = step.target;
    }
    assert_eq!(names, ["P.go 1", "tick 0", "P.end 0", "tick -1", "tick -1"]);
}

#[test]
fn a_delay_is_a_location_of_its_own() {
    let model = model(
        "timer t process P { init a from a { rest delay t := 1 -> b } from b { } from * { see when P @ b } }",
        &Options::default(),
    );
    let mut state = model.initial_states().expect("no error").remove(0);
    let mut names = Vec::new();
    for _ in 0..3 {
        let step = model.successors(&state).expect("no error").remove(0);
        names.push(model.action_name(step.actions[0]).to_owned());
        state = step.target;
    }
    assert_eq!(names, ["P.rest", "tick", "P.rest_end"]);
    assert_eq!((state.locations[0].0, state.cells[0]), (1, -1));
}

#[test]
fn propositions_over_abstract_timers_are_contracted() {
    let text = "
        timer t abstract from 2
        process P { go { set t := any } }
        property known:   always (t < 2 -> eventually expired(t))
        property unknown: always !(t > 4)
        reachable large:  t > 4
    ";
    let loaded = load(text, &Options::default());
    let model = loaded.model.expect("the text is right");
    let atoms = model.parts().atoms.iter();
    let certain: Vec<String> = atoms
        // shape: the test is about these.
        .filter(|atom| matches!(atom.meaning, AtomMeaning::Certainly(..)))
        .map(|atom| atom.name.clone())
        .collect();
    assert_eq!(certain, ["certainly (t > 4)", "certainly !(t > 4)"]);
    // Of "2 or more" neither is certain; of everything below the negation is.
    let mut state = model.initial_states().expect("no error").remove(0);
    let mut values = Vec::new();
    for value in [1, 2] {
        state.cells[0] = value;
        for name in &certain {
            let mut atoms = model.parts().atoms.iter();
            let position = atoms.position(|atom| atom.name == *name);
            let atom = base::AtomId::new(position.expect("it exists"));
            values.push(model.atom_holds(atom, &state, &[]).expect("no error"));
        }
    }
    assert_eq!(values, [false, true, false, false]);
}

#[test]
fn slips() {
    check(
        "\
timer t, u
timer v abstract from 0
var x : 0..3
event tick
process P {
    timer w abstract from 2
    a { t := 3 }
    b { set x := 3 }
    c { set t := any }
    d when expired(x)
    e when w > 2
    f { x := w }
    g sync tick
    h(k in 1..2) delay s[k] := 1
}
timer s[1..2]",
        &expect![[r#"
            timer-threshold 2:23 the threshold of a timer is at least 1, not 0
            duplicate 4:7 in a model with timers, `tick` is the step in which time passes
            timer-assignment 7:9 a timer is set, not assigned to
                help: write `set t := e`
            not-a-timer 8:13 only a single timer can be set
                help: write `x := e` to assign to a variable; declare timers with `timer`
            any-setting 9:18 only an abstract timer can be set to `any` value
                help: declare it with `abstract from k`, or use `--abstract-timer NAME=K`
            wrong-arguments 10:12 `expired` takes one timer
            abstract-value 11:5 a step cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
            abstract-value 12:5 a step cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
            sync-tick 13:5 time passes by itself: no process takes part in `tick`
                help: wait for a timer: `when expired(t)`
            delay 14:24 which timer a step waits for must not depend on the state or a parameter
        "#]],
    );
}

/// Which element a step writes or asks for depends on the timer as much as a value does.
#[test]
fn indices_depend_on_timers() {
    check(
        "\
timer t abstract from 2
timer s[0..3] abstract from 2
var x : array[0..3] of bool = false
process P {
    a { x[t] := true }
    b { set s[t] := 1 }
    c when expired(s[t])
}",
        &expect![[r#"
            abstract-value 5:5 a step cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
            abstract-value 6:5 a step cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
            abstract-value 7:5 a step cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
        "#]],
    );
}

#[test]
fn slips_about_runs() {
    check(
        "\
synchronous
timer t abstract from 2
process P { a { set t := any } }
assume []<> t > 3
property p: A(G(t > 3))",
        &expect![[r#"
            synchronous-timer 2:7 timers need processes that move one at a time
                help: leave out `synchronous`
            abstract-value 4:8 an assumption cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
            abstract-value 5:13 a formula with path quantifiers cannot depend on values that an abstract timer does not keep
                help: `expired(t)`, `off(t)` and comparisons with numbers below the threshold are fine
        "#]],
    );
}

//! The reference semantics, construct by construct, against steps worked out by hand.

use base::{Fairness, Source};
use model::{ConditionKind, Model, State};

fn load(text: &str) -> Model {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics))
}

fn show(model: &Model, state: &State) -> String {
    let locations = state
        .locations
        .iter()
        .enumerate()
        .map(|(instance, location)| {
            let process = model.process_of(model::InstanceId::new(instance));
            process.locations[location.index()].clone()
        });
    let mut text: Vec<String> = locations.collect();
    text.extend(state.cells.iter().map(i64::to_string));
    text.extend(
        state
            .channels
            .iter()
            .map(|messages| format!("{messages:?}")),
    );
    text.join(" ")
}

/// The steps from a state as `actions > target`, or the error.
fn steps(model: &Model, state: &State) -> Vec<String> {
    match model.successors(state) {
        Err(error) => vec![format!("error: {}", error.kind)],
        Ok(steps) => steps
            .iter()
            .map(|step| {
                let names: Vec<&str> = step.actions.iter().map(|a| model.action_name(*a)).collect();
                format!("{} > {}", names.join(" & "), show(model, &step.target))
            })
            .collect(),
    }
}

fn first_steps(text: &str) -> Vec<String> {
    let model = load(text);
    let initial = model.initial_states().expect("initial states have values");
    assert_eq!(initial.len(), 1);
    assert_eq!(model.is_initial(&initial[0]), Ok(true));
    steps(&model, &initial[0])
}

/// The state after always taking the first step, `n` times.
fn after(model: &Model, n: usize) -> State {
    let mut state = model
        .initial_states()
        .expect("initial states have values")
        .remove(0);
    for _ in 0..n {
        state = model
            .successors(&state)
            .expect("steps have values")
            .remove(0)
            .target;
    }
    state
}

#[test]
fn processes_interleave_and_guards_decide() {
    let text = "var x : 0..9 = 4
        process P(i in 1..2) { init a from a { go when x > 3 { x := x + i } -> b } from b { } }
        process Q { no when x > 4 }";
    assert_eq!(
        first_steps(text),
        ["P[1].go > b a main 5", "P[2].go > a b main 6"]
    );
}

#[test]
fn effects_are_sequences() {
    let text = "var x, y : 0..9 = 1
        process P { go { x := x + 1; y := x + 1; if y == 3 { x := 9 } else { x := 0 } } }";
    assert_eq!(first_steps(text), ["P.go > main 9 3"]);
}

#[test]
fn loops_and_arrays() {
    let text = "var a : array[2..4] of 0..9 = [1, 2, 3]
        process P { go { for i in 2..3 { a[i] := a[i + 1] } } }";
    assert_eq!(first_steps(text), ["P.go > main 2 3 3"]);
}

#[test]
fn a_choice_is_one_action_with_several_targets() {
    let text = "var x : 0..9 = 0
        process P { go { x := choose 1..4 where x != 3 } }";
    // In the condition the name stands for the value to be chosen.
    assert_eq!(
        first_steps(text),
        ["P.go > main 1", "P.go > main 2", "P.go > main 4"]
    );
    let text = "var x : 0..9 = 0
        process P { go { x := choose v in 1..4 where v % 2 == x } }";
    assert_eq!(first_steps(text), ["P.go > main 2", "P.go > main 4"]);
    let text = "var x : 0..9 = 0
        process P { go { x := choose v in 1..4 where v > 4 } }";
    assert_eq!(
        first_steps(text),
        [""; 0],
        "an impossible choice is an impossible step"
    );
}

#[test]
fn parameters_are_part_of_the_action() {
    let text = "var x : 0..9 = 0
        process P(i in 0..1) { meet(j in 0..2 where j != i) when j < 2 { x := j } }";
    assert_eq!(
        first_steps(text),
        ["P[0].meet(1) > main main 1", "P[1].meet(0) > main main 0"]
    );
}

#[test]
fn equal_steps_are_one() {
    let text = "var x : 0..9 = 0
        process P { go { x := choose 1..2; x := 5 } }";
    assert_eq!(first_steps(text), ["P.go > main 5"]);
}

#[test]
fn buffered_channels_are_queues() {
    let model = load(
        "chan c[2] of (0..9, bool)
        var x : 0..9 = 0
        process S(i in 1..1) { var n : 0..9 = 5 send c ! (n, true) { n := n + 1 } }
        process R { get c ? (x, true) }",
    );
    let full = after(&model, 2);
    assert_eq!(show(&model, &full), "main main 0 7 [[5, 1], [6, 1]]");
    assert_eq!(steps(&model, &full), ["R.get > main main 5 7 [[6, 1]]"]);
    let empty = after(&model, 0);
    assert_eq!(
        steps(&model, &empty),
        ["S[1].send > main main 0 6 [[5, 1]]"]
    );
}

#[test]
fn a_message_that_does_not_match_blocks() {
    let text = "chan c[1] of (0..9)
        process S { init a from a { send c ! 3 -> b } from b { } }
        process R { get c ? (4) }";
    let model = load(text);
    assert_eq!(steps(&model, &after(&model, 1)), [""; 0]);
    let idle = model.steps_or_idle(&after(&model, 1)).expect("no error");
    assert!(idle.len() == 1 && idle[0].actions.is_empty() && idle[0].movers.is_empty());
    assert_eq!(idle[0].target, after(&model, 1));
}

#[test]
fn a_rendezvous_has_two_movers_and_one_action() {
    let text = "chan c of (0..9)
        var x, y : 0..9 = 7
        process S { send c ! x + 1 { x := 0 } }
        process R(i in 0..1) { get when i == 1 c ? y }";
    assert_eq!(
        first_steps(text),
        ["S.send/R[1].get > main main main 0 8 []"]
    );
    let model = load(text);
    let initial = after(&model, 0);
    let step = model.successors(&initial).expect("no error").remove(0);
    assert_eq!(step.movers.len(), 2);
}

#[test]
fn no_process_meets_itself() {
    let text = "chan c of (0..9) var x : 0..9 = 0
        process P { send c ! 1  get c ? x }";
    assert_eq!(first_steps(text), [""; 0]);
}

#[test]
fn an_event_needs_every_process_that_knows_it() {
    let text = "event go(0..1)
        process P { init a from a { one sync go(0) -> b  two sync go(0) -> c } from b { } from c { } }
        process Q(i in 0..1) { init a from a { run sync go(i) -> b } from b { } }";
    assert_eq!(
        first_steps(text),
        ["go(0) > b b a", "go(0) > c b a", "go(1) > a a b"]
    );
    let text = "event go
        process P { run sync go }
        process Q { run sync go when false }";
    assert_eq!(first_steps(text), [""; 0]);
}

#[test]
fn participants_read_the_state_before_the_step() {
    let text = "event swap
        var x : 0..9 = 1 var y : 0..9 = 2
        process P { a sync swap { x := y } }
        process Q { b sync swap { y := x } }";
    assert_eq!(first_steps(text), ["swap > main main 2 1"]);
}

#[test]
fn in_a_synchronous_composition_every_process_that_can_moves() {
    let text = "synchronous
        var a : array[0..2] of 0..9 = [1, 2, 3]
        process P(i in 0..2) { shift when i < 2 { a[i] := a[i + 1] } }";
    assert_eq!(
        first_steps(text),
        ["P[0].shift & P[1].shift > main main main 2 3 3"]
    );
}

#[test]
fn run_time_errors() {
    let error = |declaration: &str, effect: &str| {
        let text = format!("{declaration} process P {{ go {{ {effect} }} }}");
        first_steps(&text).join("; ")
    };
    assert_eq!(
        error("var x : 0..3 = 3", "x := x + 1"),
        "error: the value 4 is outside the type of `x`"
    );
    assert_eq!(
        error("var x : 0..3 = 0", "x := 1 / x"),
        "error: division by zero"
    );
    assert_eq!(
        error("var x : 0..3 = 0", "x := 1 % x"),
        "error: division by zero"
    );
    assert_eq!(
        error("var x : int = 9223372036854775807", "x := x + 1"),
        "error: the result does not fit into 64 bits"
    );
    assert_eq!(
        error("var i : 0..9 = 5 var a : bool[3] = false", "a[i] := true"),
        "error: `a` has no index 5"
    );
    assert_eq!(
        error("var x : 0..3 = 0", "assert x > 0"),
        "error: the assertion is false"
    );
    let text = "synchronous var x : 0..3 = 0
        process P(i in 1..2) { go { x := i } }";
    assert_eq!(
        first_steps(text),
        ["error: two processes write different values to `x` in one step"]
    );
    let text = "var x : 0..3 = 0 process P { go when 1 / x > 0 }";
    assert_eq!(first_steps(text), ["error: division by zero"]);
}

#[test]
fn both_operands_are_evaluated_only_if_needed() {
    let text = "var x : 0..3 = 0
        process P { go when x != 0 && 1 / x > 0  stay when x == 0 || 1 / x > 0 }";
    assert_eq!(first_steps(text), ["P.stay > main 0"]);
}

#[test]
fn division_is_euclidean() {
    let text = "var q, r : int = 0
        process P { go { q := (0 - 7) / 2; r := (0 - 7) % 2 } }";
    assert_eq!(first_steps(text), ["P.go > main -4 1"]);
}

#[test]
fn initial_states_are_all_that_satisfy_the_constraints() {
    let model = load(
        "var a : bool[3] = any
        init (count i in 0..2: a[i]) == 1
        process P { init x, y from x { } from y { } }",
    );
    let states = model.initial_states().expect("no error");
    assert_eq!(states.len(), 6);
    assert!(
        states
            .iter()
            .all(|state| model.is_initial(state) == Ok(true))
    );
    let mut other = states[0].clone();
    other.cells = vec![1, 1, 0];
    assert_eq!(model.is_initial(&other), Ok(false));
}

#[test]
fn notions_of_fairness_are_about_their_subjects() {
    let model = load(
        "event go
        process P(i in 0..1) { weak fair a { skip }  b { skip }  c sync go }
        strong fair process Q { d sync go }",
    );
    let conditions = |kind: &str| {
        let fairness = Fairness::parse(kind).expect("the name is right");
        let conditions = model.fairness_conditions(fairness);
        let show = |c: &model::Condition| {
            let kind = match c.kind {
                ConditionKind::Unconditional => "f",
                ConditionKind::Weak => "wf",
                ConditionKind::Strong => "sf",
            };
            format!("{kind}({})", model.subject_name(&c.subject))
        };
        conditions.iter().map(show).collect::<Vec<_>>()
    };
    assert_eq!(conditions("none"), [""; 0]);
    assert_eq!(conditions("strong-global"), [""; 0]);
    assert_eq!(
        conditions("weak-process"),
        ["wf(P[0])", "wf(P[1])", "wf(Q)"]
    );
    assert_eq!(
        conditions("strong"),
        [
            "sf(P[0].a)",
            "sf(P[0].b)",
            "sf(P[1].a)",
            "sf(P[1].b)",
            "sf(go)"
        ]
    );
    assert_eq!(
        conditions("annotated"),
        ["wf(P[0].a)", "wf(P[1].a)", "sf(Q)"]
    );
}

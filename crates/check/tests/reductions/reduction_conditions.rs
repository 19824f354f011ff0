//! Small models, each with a verdict that would change if one condition of a reduction were dropped:
//! what counts as read, what counts as surely written, in which order operands and statements may be
//! put, which ranges and choices leave processes interchangeable, which code is never executed, which
//! steps can wait, and for how long.
//!
//! A wrong reduction shows if it *misses* something: what it makes up is found out when its run is
//! made a run of the model. So every model asks for something that can be reached, or for a
//! run-time error that can be met, only from states that a wrong reduction would not keep.

use base::{Fairness, NoProgress, Source};
use check::{Plan, Reduction, Reductions, check};
use logic::NamedProperty;
use model::Model;

const DEAD_VARIABLES: Reductions = Reductions {
    dead_variables: true,
    ..Reductions::NONE
};

const SYMMETRY: Reductions = Reductions {
    symmetry: true,
    ..Reductions::NONE
};

const PARTIAL_ORDER: Reductions = Reductions {
    partial_order: true,
    ..Reductions::NONE
};

fn verdict(text: &str, reductions: Reductions, fairness: &str) -> &'static str {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{text}\n{:?}", loaded.diagnostics));
    decided(&model, &loaded.properties[0], reductions, fairness)
}

fn decided(
    model: &Model,
    property: &NamedProperty,
    reductions: Reductions,
    fairness: &str,
) -> &'static str {
    let plan = Plan {
        fairness: Fairness::parse(fairness),
        reduction: Reduction::Chosen(reductions),
        all_code: false,
        all_states: true,
        ..Plan::default()
    };
    let outcome = check(model, property, &plan, &mut NoProgress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}: {model:?}"));
    outcome.verdict.name()
}

/// Both searches must come to the verdict.
fn agree(text: &str, reductions: Reductions, expected: &str) {
    agree_under("none", text, reductions, expected);
}

/// Both searches must come to the verdict under a fairness.
fn agree_under(fairness: &str, text: &str, reductions: Reductions, expected: &str) {
    for reductions in [Reductions::NONE, reductions] {
        assert_eq!(
            verdict(text, reductions, fairness),
            expected,
            "{reductions:?}: {text}"
        );
    }
}

/// A process that takes a step in which `k` decides, and then never looks at it again. A value that
/// is taken for dead becomes the first of its type, which is not the one that is needed.
fn deciding(declarations: &str, step: &str, question: &str) -> String {
    format!(
        "{declarations}
        process P {{
            init first
            from first {{ go {step} -> last }}
            from last  {{}}
        }}
        {question}
        "
    )
}

#[test]
fn everything_that_a_step_looks_at_is_read() {
    let k = "var k : 0..1 = any\n";
    let flags = "var b : array[0..1] of bool = [i in 0..1: i == 1]\n";
    let ring = "chan ring[1] for i in 0..1 of bool\n";
    let sender = "process S { init ready from ready { send ring[1] ! true -> done } from done {} }";
    let taker = "process T { init idle from idle { take ring[1] ? (true) -> done } from done {} }";
    let moves = "process Q(i in 0..1) {
        var v : 0..1 = 0
        init here
        from here { move when i == 1 { v := 1 } -> there }
        from there {}
    }";
    let last = "reachable end: P @ last";
    let cases = [
        // By a guard, through an index.
        (format!("{k}{flags}"), "when b[k]", last),
        (format!("{k}{moves}"), "when Q[k] @ there", last),
        (format!("{k}{moves}"), "when Q[k].v == 1", last),
        (format!("{k}{ring}{sender}"), "when len(ring[k]) == 1", last),
        // As a bound.
        (format!("{k}{flags}"), "when exists j in 0..k: b[j]", last),
        (
            format!("{k}{flags}"),
            "when exists j in k..1 where j < 1 || k == 1: b[j] && k == 1",
            last,
        ),
        // By a communication: its channel and its message.
        (
            format!("{k}{ring}{taker}"),
            "ring[k] ! true",
            "reachable end: T @ done",
        ),
        (format!("{k}{ring}{sender}"), "ring[k] ? (true)", last),
        (
            format!(
                "{k}chan c[1] of 0..1\nprocess T {{ init a from a {{ take c ? (1) -> b }} from b {{}} }}"
            ),
            "c ! k",
            "reachable end: T @ b",
        ),
        (
            format!(
                "{k}chan c[1] of 0..1\nprocess S {{ init a from a {{ put c ! 1 -> b }} from b {{}} }}"
            ),
            "c ? (k)",
            last,
        ),
        // By an effect.
        (
            format!("{k}var w : bool[2] = false\n"),
            "{ w[k] := true }",
            "reachable end: w[1]",
        ),
        (
            format!("{k}var x : 0..1 = 0\n"),
            "{ x := k }",
            "reachable end: x == 1",
        ),
        (
            format!("{k}var x : 0..1 = 0\n"),
            "{ x := choose 0..k }",
            "reachable end: x == 1",
        ),
        (
            format!("{k}var x : 0..1 = 0\n"),
            "{ x := choose v in 0..1 where v == k }",
            "reachable end: x == 1",
        ),
        (
            format!("{k}var x : 0..1 = 0\n"),
            "{ if k == 1 { x := 1 } }",
            "reachable end: x == 1",
        ),
        (
            "var k : -1..0 = any\nvar x : 0..1 = 0\n".to_owned(),
            "{ for j in 0..k { x := 1 } }",
            "reachable end: x == 1",
        ),
        (
            format!("{k}var x : 0..1 = 0\n"),
            "{ let old = k; x := old }",
            "reachable end: x == 1",
        ),
        // In the other branch, and in a loop of which it is not known how often it is executed.
        (
            format!("{k}var x : 0..1 = 0\n"),
            "{ if x == 1 { skip } else { x := k } }",
            "reachable end: x == 1",
        ),
        (
            format!("{k}var x : 0..1 = 0\nvar m : 0..1 = any\n"),
            "{ for j in 0..m { x := k } }",
            "reachable end: x == 1",
        ),
    ];
    for (declarations, step, question) in cases {
        let text = deciding(&declarations, step, question);
        agree(&text, DEAD_VARIABLES, "holds");
    }
    let text = deciding(
        k,
        "{ assert k == 0 }",
        "invariant fine: P @ first || P @ last",
    );
    agree(&text, DEAD_VARIABLES, "violated");
    let timer = "var k : 0..1 = any
        process P {
            timer t
            init first
            from first { go { set t := k } -> last }
            from last  { end when expired(t) { set t := off } -> over }
            from over  {}
        }
        reachable slow: P @ last && !expired(P.t)";
    agree(timer, DEAD_VARIABLES, "holds");
}

#[test]
fn a_message_that_is_put_in_order_is_read() {
    let source = Source {
        name: "m.pml".into(),
        text: "chan c = [2] of { byte };
            byte k; byte got;
            active proctype P() { if :: k = 1 :: k = 2 fi; c!!k }
            active proctype R() { c?got; assert(got != 2) }"
            .into(),
    };
    let no_files = source::Memory::default();
    let loaded = promela::load(source, &no_files, &source::Options::default()).single();
    let model = loaded.model.expect("it is right");
    let mut properties = loaded.properties.iter();
    let property = properties.find(|property| property.name == "assertions");
    let property = property.expect("there is an assertion");
    for reductions in [Reductions::NONE, DEAD_VARIABLES] {
        assert_eq!(decided(&model, property, reductions, "none"), "violated");
    }
}

#[test]
fn what_is_not_surely_written_stays_live() {
    // The body of the loop is executed once or not at all.
    let text = "
        var a : 0..1 = 1
        var k : -1..0 = any
        process P {
            init writing
            from writing { write { for j in 0..k { a := 0 } } -> reading }
            from reading { read when a == 1 -> done }
            from done    {}
        }
        reachable end: P @ done";
    agree(text, DEAD_VARIABLES, "holds");
    // The message is stored where `k` said before it was stored itself.
    let text = "
        chan c[1] of (0..1, 0..1)
        var k : 0..1 = any
        var b : array[0..1] of 0..1 = 0
        process S { init a from a { put c ! (1, 0) -> b } from b {} }
        process R { init a from a { get c ? (b[k], k) -> b } from b {} }
        reachable second: b[1] == 1";
    agree(text, DEAD_VARIABLES, "holds");
}

/// The two processes of a family with values that tell them apart, in both orders: a state is
/// replaced by one in which the values are exchanged in one of the two.
fn in_both_orders(text: &str) -> [String; 2] {
    ["i", "1 - i"].map(|order| {
        let values = format!("var x : array[0..1] of 0..1 = [i in 0..1: {order}]");
        let family = "process P(i in 0..1) { touch { x[i] := x[i] } }";
        format!("{values}\n{family}\n{text}\n")
    })
}

/// What holds for one order and does not for the other.
fn tells_orders_apart(text: &str) {
    let mut verdicts = Vec::new();
    for text in in_both_orders(text) {
        let complete = verdict(&text, Reductions::NONE, "none");
        assert_eq!(verdict(&text, SYMMETRY, "none"), complete, "{text}");
        verdicts.push(complete);
    }
    assert_ne!(verdicts[0], verdicts[1], "{text}");
}

#[test]
fn operands_that_may_fail_stay_in_order() {
    let fine = "invariant fine: x[0] + x[1] == 1";
    let guards = [
        // By zero.
        "9 / x[0] > 3 || 9 / x[1] > 3",
        "9 % x[0] == 0 || 9 % x[1] == 0",
        "!(9 / x[0] < 3 && 9 / x[1] < 3)",
        // An element that is not there.
        "few[x[0]] == 0 || few[x[1]] == 0",
    ];
    for guard in guards {
        let few = "var few : array[0..0] of 0..1 = 0";
        tells_orders_apart(&format!("{few}\nprocess Q {{ look when {guard} }}\n{fine}"));
    }
    // A sum that overflows on the way.
    let orders = ["BIG else -BIG", "-BIG else BIG"];
    let verdicts = orders.map(|order| {
        let text = format!(
            "const BIG = 4611686018427387903
            var x : array[0..1] of -BIG..BIG = [i in 0..1: if i == 0 then {order}]
            process P(i in 0..1) {{ touch {{ x[i] := x[i] }} }}
            process Q {{ look when x[0] + BIG + 9 + x[1] > 0 }}
            invariant fine: forall i in 0..1: x[i] == x[i]"
        );
        let complete = verdict(&text, Reductions::NONE, "none");
        assert_eq!(verdict(&text, SYMMETRY, "none"), complete, "{text}");
        complete
    });
    assert_eq!(verdicts, ["violated", "holds"]);
}

#[test]
fn statements_that_depend_on_each_other_stay_in_order() {
    for value in [0, 1] {
        // The second value is the one that stays.
        tells_orders_apart(&format!(
            "var z : 0..1 = {}
            process Q {{ copy {{ z := x[0]; z := x[1] }} }}
            reachable end: z == {value}",
            1 - value
        ));
        // What is read was written just before.
        tells_orders_apart(&format!(
            "process Q {{ copy {{ x[0] := x[1]; x[1] := x[0] }} }}
            reachable end: x[0] == {value} && x[1] == {value}"
        ));
    }
}

/// Processes of which the one that may go does something that others do not.
fn only_one_goes(effects: [&str; 2], question: &str, expected: &str) {
    for who in [0, 1] {
        // In either case the state may be replaced by one in which the other may go.
        for sign in ["==", "!="] {
            let text = format!(
                "var may : array[0..1] of bool = [i in 0..1: i {sign} 0]
                var old : array[0..1] of 0..1 = 0
                var x, y : array[0..1] of 0..1 = 0
                process P(i in 0..1) {{
                    go when may[i] == {} {{
                        may[i] := {}
                        old[i] := old[i]
                        if i == {who} {{ {} }} else {{ {} }}
                    }}
                }}
                {question}",
                (sign == "==") == (who == 0),
                (sign == "==") != (who == 0),
                effects[0],
                effects[1],
            );
            agree(&text, SYMMETRY, expected);
        }
    }
}

#[test]
fn names_for_values_are_what_they_were() {
    let one = "reachable one: exists i in 0..1: y[i] == 1";
    // The name stands for the value that was just written.
    only_one_goes(
        [
            "x[i] := 1; let o = x[i]; y[i] := o",
            "let o = x[i]; x[i] := 1; y[i] := o",
        ],
        one,
        "holds",
    );

    // For one of two values.
    only_one_goes(["y[i] := choose 0..1", "y[i] := choose 0..0"], one, "holds");
    // For one that is not always allowed.
    only_one_goes(
        [
            "y[i] := choose 1..1",
            "y[i] := choose v in 1..1 where old[i] == 1",
        ],
        one,
        "holds",
    );

    // For one that may not exist, although the property does not ask.
    let fine = "invariant fine: forall i in 0..1: y[i] == 0";
    only_one_goes(
        ["let o = 9 / x[i]; x[i] := 0", "x[i] := 0"],
        fine,
        "violated",
    );
}

/// A token goes from process to process, and who has it says so. `pass` hands it on.
fn token(first: u32, pass: &str) -> String {
    format!(
        "var holder : 0..2 = {first}
        var done : bool[3] = false
        process P(i in 0..2) {{ act when holder == i && !done[i] {{ done[i] := true }} }}
        process Q {{ pass {pass} }}
        reachable all: forall i in 0..2: done[i]"
    )
}

#[test]
fn only_ranges_with_all_indices_leave_processes_alike() {
    for (first, pass) in [
        // From a choice among some.
        (0, "{ holder := choose 1..2 }"),
        (2, "{ holder := choose 0..1 }"),
        (1, "{ let n = choose 0..2 where n != 1; holder := n }"),
        // From a choice that depends on the state.
        (0, "{ holder := choose holder..2 }"),
        (2, "{ holder := choose 0..holder }"),
        // From one to the next.
        (0, "when holder != 2 { holder := (holder + 1) % 3 }"),
        (2, "when holder != 0 { holder := (holder + 2) % 3 }"),
    ] {
        agree(&token(first, pass), SYMMETRY, "holds");
    }
}

#[test]
fn numbers_are_no_indices() {
    let text = token(0, "{ holder := k + 1; k := 1 - k }");
    let text = format!("var k : 0..1 = 0\n{text}");
    agree(&text, SYMMETRY, "holds");
}

#[test]
fn values_that_never_change_tell_processes_apart() {
    for who in [0, 1] {
        for sign in ["==", "!="] {
            let text = format!(
                "var k : array[0..1] of 0..1 = [i in 0..1: if i == {who} then 1 else 0]
                var may : array[0..1] of bool = [i in 0..1: i {sign} {who}]
                var hit : bool = false
                process P(i in 0..1) {{
                    go when may[i] == {} && k[i] == 1 {{ hit := true; may[i] := may[i] }}
                }}
                reachable end: hit",
                sign == "=="
            );
            agree(&text, SYMMETRY, "holds");
        }
    }
}

#[test]
fn variables_and_arrays_with_some_indices_tell_processes_apart() {
    // Only the process with a number that is too large may go.
    for (values, sign) in [("i == 2", ""), ("i != 2", "!")] {
        for (variable, effect) in [
            ("var last : 0..1 = 0", "last := i"),
            ("var seen : bool[2] = false", "seen[i] := true"),
            ("chan c[1] of 0..1", "skip"),
        ] {
            let send = if effect == "skip" { "c ! i" } else { "" };
            let text = format!(
                "{variable}
                var may : array[0..2] of bool = [i in 0..2: {values}]
                process P(i in 0..2) {{
                    go when {sign}may[i] {send} {{ may[i] := may[i]; {effect} }}
                }}
                invariant fine: exists i in 0..2: {sign}may[i]"
            );
            agree(&text, SYMMETRY, "violated");
        }
    }
}

#[test]
fn code_that_may_fail_or_write_is_executed() {
    let reached = [
        // Messages, branches and loops write.
        "chan c[1] of 0..1
        process S { init a from a { put c ! 1 -> b } from b {} }
        process R { get c ? x }",
        "process P { go when k == 1 { if k == 0 { skip } else { x := 1 } } }",
        "process P { go { if k == 1 { x := 1 } } }",
        "process P { go { for j in 0..k { if j == 1 { x := 1 } } } }",
        // Somewhere behind a step that is possible.
        "process P {
            init a
            from a { go when false -> b   other when k == 1 -> c }
            from b { set_it { x := 0 } -> b }
            from c { set_it { x := 1 } -> c }
        }",
    ];
    for code in reached {
        let text = format!("var k : 0..1 = any\nvar x : 0..1 = 0\n{code}\nreachable one: x == 1");
        agree(&text, Reductions::NONE, "holds");
    }
    // What is false in the end may fail before.
    let text = "const OFF = false
        var z : 0..1 = 1
        process P { count { z := 1 - z } }
        process Q { look when 9 / z > 0 && OFF }
        invariant fine: z <= 1";
    agree(text, Reductions::NONE, "violated");
}

/// Goes round forever, and has nothing to do with others; it comes first, so that its step is the
/// first to be looked at.
const SPINNING: &str = "process A { init x from x { spin -> x } }";

#[test]
fn no_run_must_take_a_step_that_is_seen() {
    let text = format!(
        "var p : bool = false
        process B {{ init a from a {{ set_it {{ p := true }} -> b }} from b {{}} }}
        {SPINNING}
        property q: eventually p"
    );
    agree(&text, PARTIAL_ORDER, "violated");
    // Nor one that fairness is about.
    let text = format!(
        "var p : bool = false
        process B {{
            init a
            from a {{ leave -> b   strong fair set_it {{ p := true }} -> a }}
            from b {{ other -> b }}
        }}
        {SPINNING}
        property q: always !p"
    );
    agree_under("annotated", &text, PARTIAL_ORDER, "violated");
}

#[test]
fn what_matters_is_not_put_off_forever() {
    let late = |step: &str, question: &str| {
        format!(
            "var p : bool = false
            var v : 0..1 = 0
            {SPINNING}
            process B {{ init a from a {{ go -> b }} from b {{ act {{ {step} }} -> c }} from c {{}} }}
            {question}"
        )
    };
    for question in ["invariant q: !p", "property q: eventually always !p"] {
        agree(&late("p := true", question), PARTIAL_ORDER, "violated");
    }
    // A failure matters whatever is asked.
    for question in [
        "invariant q: v == 0",
        "property q: always eventually v == 0",
    ] {
        agree(&late("assert false", question), PARTIAL_ORDER, "violated");
    }
}

#[test]
fn steps_that_are_seen_keep_their_order() {
    let text = "var p : bool = false
        var r : bool = false
        process A { init a from a { first { p := true } -> b } from b {} }
        process B { init a from a { other { r := true } -> b } from b {} }
        invariant q: r -> p";
    agree(text, PARTIAL_ORDER, "violated");
}

#[test]
fn steps_of_one_event_are_told_apart_by_fairness() {
    let text = "event go
        process P {
            init l0
            from l0 { strong fair choice u sync go -> l0   b -> l1 }
            from l1 { v sync go -> l0 }
        }
        process Q { init m0 from m0 { r -> m1 } from m1 { g sync go -> m0 } }
        property p: !([]<> P.v && <>[] !P.u)";
    agree_under("annotated", text, PARTIAL_ORDER, "violated");
}

/// Two ways to the same state are one step there, and may be two after the step of another process.
#[test]
fn ways_that_lead_to_one_state_are_both_possible() {
    let text = "var x, y : 0..1 = 0
        process P { init a from a { go { x := 0 } -> b   go { x := y } -> b } from b {} }
        process Q { init a from a { flip { y := 1 } -> b } from b {} }
        invariant q: x == 0";
    agree(text, PARTIAL_ORDER, "violated");
}

/// Guards are not all that decides whether a step is possible.
#[test]
fn choices_without_values_tell_locations_apart() {
    let text = format!(
        "var got : bool = false
        var x : 0..2 = 0
        process P {{
            init here
            from here  {{ move -> there   weak fair get {{ x := choose v in 1..1 where v == 2; got := true }} -> here }}
            from there {{ weak fair get {{ x := choose v in 1..1 where v == 1; got := true }} -> there }}
        }}
        {SPINNING}
        property q: eventually got"
    );
    agree_under("annotated", &text, PARTIAL_ORDER, "violated");
}

#[test]
fn elements_with_several_cells_move_as_a_whole() {
    let text = "var a : bool[3][2] = false
        process P(i in 0..2) {
            init first
            from first { one { a[i][0] := true } -> next_ }
            from next_ { two when a[i][0] { a[i][1] := true } -> third }
            from third { three when a[i][0] && a[i][1] -> last }
            from last  {}
        }
        reachable end: forall i in 0..2: P[i] @ last";
    agree(text, SYMMETRY, "holds");
}

/// Of two that meet, either may be called the first when processes are exchanged.
#[test]
fn meetings_are_found_again_whoever_comes_first() {
    for (one, other) in [("gave", "took"), ("took", "gave")] {
        let act = |place: &str| {
            if place == "gave" {
                "c ! true"
            } else {
                "c ? (true)"
            }
        };
        let text = format!(
            "chan c[0] of bool
            process P(i in 0..3) {{
                init idle
                from idle {{ give c ! true -> gave   take c ? (true) -> took }}
                from {one} {{ again {} -> done }}
                from {other} {{ again {} -> done }}
                from done {{}}
            }}
            invariant q: !(exists i in 0..3: P[i] @ done)",
            act(one),
            act(other),
        );
        agree(&text, SYMMETRY, "violated");
    }
}

/// The guard of a step that waits for a partner is evaluated although none ever comes.
#[test]
fn guards_that_fail_before_a_partner_comes_are_not_put_off_forever() {
    let text = format!(
        "event ev
        var z : 0..1 = 0
        var v : 0..1 = 0
        {SPINNING}
        process B {{ init a from a {{ go -> b }} from b {{ meet when 9 / z > 0 sync ev -> c }} from c {{}} }}
        process C {{ init p from p {{}} from q {{ meet sync ev -> q }} }}
        invariant q: v == 0"
    );
    agree(&text, PARTIAL_ORDER, "violated");
}

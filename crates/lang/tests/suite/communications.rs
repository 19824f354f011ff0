//! Several communications in one step, and receives that look into channels.

use crate::support::{count, load, model, show};
use expect_test::{Expect, expect};
use source::Options;

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show(&load(text, &Options::default())));
}

/// Two texts that have as many states and steps.
fn same(text: &str, other: &str) {
    let (found, expected) = (count(&model(text, &[])), count(&model(other, &[])));
    assert_eq!(found, expected, "{text}\n{other}");
    assert!(found.0 > 3, "{text}");
}

#[test]
fn a_relay_is_one_step() {
    same(
        "chan c[2] of 0..2  chan d[1] of 0..2  var x : 0..2 = 0
         process S { send(v in 0..2) c ! v }
         process R { relay c ? x; d ! x }
         process T { take d ? _ { skip } }",
        "var c : seq[2] of 0..2  var d : seq[1] of 0..2  var x : 0..2 = 0
         process S { send(v in 0..2) when !full(c) { c := append(c, v) } }
         process R { relay when !empty(c) && !full(d) {
             x := head(c); c := tail(c); d := append(d, x) } }
         process T { take when !empty(d) { d := tail(d) } }",
    );
}

#[test]
fn what_comes_later_sees_what_came_before() {
    same(
        "chan c[3] of 0..2  var x, y : 0..2 = 0
         process P { two c ? x c ? y { skip }
                     put(v in 0..2) c ! v
                     turn c ? x; c ! ((x + 1) % 3); c ! len(c) }",
        "var c : seq[3] of 0..2  var x, y : 0..2 = 0
         process P { two when len(c) >= 2 { x := c[0]; y := c[1]; c := tail(c); c := tail(c) }
                     put(v in 0..2) when !full(c) { c := append(c, v) }
                     turn when len(c) in 1..2 {
                         x := c[0]; c := tail(c); c := append(c, (x + 1) % 3)
                         c := append(c, len(c)) } }",
    );
}

#[test]
fn broadcasts_wait_for_all() {
    same(
        "chan c[1] for i in 1..3 of bool  var n : 0..3 = 0
         process S { all(v in 0..1) for j in 1..3 where j != 2: c[j] ! (v == 1) }
         process R(i in 1..3) { var b : bool  get c[i] ? b }
         process G { gather for j in 1..3: c[j] ? <_> { n := n }
                     put c[2] ! true }",
        "var c : array[1..3] of seq[1] of bool  var n : 0..3 = 0
         process S { all(v in 0..1) when empty(c[1]) && empty(c[3]) {
             c[1] := [v == 1]; c[3] := [v == 1] } }
         process R(i in 1..3) { var b : bool  get when !empty(c[i]) { b := head(c[i]); c[i] := [] } }
         process G { gather when !empty(c[1]) && !empty(c[2]) && !empty(c[3]) { n := n }
                     put when empty(c[2]) { c[2] := [true] } }",
    );
}

#[test]
fn messages_are_found_behind_others() {
    same(
        "enum Kind { a, b }  chan c[2] of (Kind, 0..1)  var n : 0..1 = 0
         process S { put(v in 0..1) c ! (a, v)
                     other(v in 0..1) c ! (b, v) }
         process R { take c ?? (b, n)
                     look c ?? <b, (1)> { n := 0 }
                     see  c ? <_, n> }",
        "enum Kind { a, b }  record Msg { kind: Kind, n: 0..1 }
         var c : seq[2] of Msg  var n : 0..1 = 0
         process S { put(v in 0..1) when !full(c) { c := append(c, Msg(a, v)) }
                     other(v in 0..1) when !full(c) { c := append(c, Msg(b, v)) } }
         process R {
             take when !empty(c) && c[0].kind == b { n := c[0].n; c := tail(c) }
             take when len(c) == 2 && c[0].kind == a && c[1].kind == b { n := c[1].n; c := [c[0]] }
             look when !empty(c) && (c[0] == Msg(b, 1) || len(c) == 2 && c[1] == Msg(b, 1)) { n := 0 }
             see when !empty(c) { n := c[0].n }
         }",
    );
}

/// A channel means the same, however its messages are kept.
#[test]
fn the_representation_of_channels_makes_no_difference() {
    let texts = [
        "chan c[2] of (0..2, bool)  var x : 0..2 = 0  var a : bool[3]
         process S { put(v in 0..2) when len(c) < 2 c ! (v, v == x) }
         process R { get c ? (x, a[x])  same c ? ((x), _) { x := 0 } }",
        "chan c[1] for i in 0..1 of 0..1  var x : 0..1 = 0
         process S(i in 0..1) { put c[x] ! i { x := 1 - x }
                                get c[i] ? x  full when full(c[1 - i]) { x := 0 } }",
    ];
    let force = [
        "process F { never when false c ?? (_, _) }",
        "process F { never when false c[0] ?? _ }",
    ];
    for (text, force) in texts.iter().zip(force) {
        same(
            &format!("{text}\n{force}"),
            &format!("{text}\nprocess F {{ never when false {{ skip }} }}"),
        );
    }
}

#[test]
fn partners_cannot_move_in_the_middle() {
    check(
        "chan c of bool
chan d[1] of bool
event go
var b : bool
process P {
    two d ? b; c ! b
    any c ?? b
    see c ? <b>
    all for j in 1..2: c ! b
    both sync go; d ! b
}
process Q { get c ? b; put sync go }",
        &expect![[r#"
            rendezvous 6:16 this channel has no room for messages, so it can be used only alone in a step, and with `?` or `!`
                help: give it room (`chan c[1] of …`), or make two steps with a location between them
            rendezvous 7:9 this channel has no room for messages, so it can be used only alone in a step, and with `?` or `!`
                help: give it room (`chan c[1] of …`), or make two steps with a location between them
            rendezvous 8:9 this channel has no room for messages, so it can be used only alone in a step, and with `?` or `!`
                help: give it room (`chan c[1] of …`), or make two steps with a location between them
            rendezvous 9:24 this channel has no room for messages, so it can be used only alone in a step, and with `?` or `!`
                help: give it room (`chan c[1] of …`), or make two steps with a location between them
            two-communications 10:15 an event is the only communication of its step
                help: make two steps, with a location between them
        "#]],
    );
}

#[test]
fn mistakes_in_messages() {
    check(
        "chan c[2] of (bool, 0..3)
var b : bool
process P {
    one c ?? b
    two c ? <b>; c ! (b, 4)
    gap c ? <b, _
}",
        &expect![[r#"
            unclosed-bracket 7:1 expected `>`, found `}`
        "#]],
    );
    check(
        "chan c[5000] of bool
var b : bool
process P { one c ?? b; c ! b }",
        &expect![[r#"
            capacity 1:6 a channel that is looked into, or used together with others, has room for at most 4096 messages
        "#]],
    );
    check(
        "chan c[2] of (bool, 0..3)
var b : bool
process P {
    one c ?? b
    two c ? <b>; c ! (b, 4)
    six d ! b; c ! (b, 1)
}",
        &expect![[r#"
            message-arity 4:9 messages of this channel have 2 component(s), not 1
            message-arity 5:9 messages of this channel have 2 component(s), not 1
            out-of-range 5:26 the value 4 is outside the range 0..3
            unknown-name 6:9 `d` is not declared
        "#]],
    );
}

#[test]
fn layout() {
    let text = "process P {\n  a c??<x,(1)>{x:=1}\n b c ? x;d!x\n c for j in 1..3:e[j]!x->l\n}\n";
    let expected = "process P {\n    a c??<x, (1)> {x := 1}\n    b c ? x; d!x\n    c for j in 1..3: e[j]!x -> l\n}\n";
    assert_eq!(lang::format(text).as_deref(), Some(expected));
    assert_eq!(lang::format(expected).as_deref(), Some(expected));
}

//! What is said about wrong texts: one snapshot for each kind of slip.

use crate::support::{load, show};
use expect_test::{Expect, expect};
use source::Options;

fn check(text: &str, expect: &Expect) {
    let loaded = load(text, &Options::default());
    assert!(loaded.model.is_none() && !loaded.diagnostics.is_empty());
    expect.assert_eq(&show(&loaded));
}

#[test]
fn missing_declaration_word() {
    check(
        "\
proces P { a }
foo
var x : bool",
        &expect![[r#"
            syntax 1:1 expected a declaration, found `proces`
                help: did you mean `process`?
        "#]],
    );
}

#[test]
fn stray_brace() {
    check(
        "\
var x : bool
}
var y : bool = 3",
        &expect![[r#"
            syntax 2:1 this `}` does not close anything
        "#]],
    );
}

#[test]
fn unclosed_process() {
    check(
        "\
process P {
    a { skip }
property p: []<> P.a",
        &expect![[r#"
            missing-brace 3:1 expected `}`, found `property`
                help: close the block with `}`
        "#]],
    );
}

#[test]
fn unclosed_from() {
    check(
        "\
process P {
    init s
    from s {
        a -> s
property p: []<> P.a",
        &expect![[r#"
            missing-brace 5:1 expected `}`, found `property`
                help: close the block with `}`
        "#]],
    );
}

#[test]
fn unclosed_effect() {
    check(
        "\
var x : 0..3
process P {
    init s
    from s {
        a { x := 1 -> s
    }
    from s { b { skip } }
}",
        &expect![[r#"
            missing-brace 5:20 expected `}`, found `->`
                help: close the effect with `}`
                help: an implication in an effect needs parentheses
        "#]],
    );
}

#[test]
fn unclosed_parenthesis() {
    check(
        "\
property p: [](true -> (false)
property q: true",
        &expect![[r#"
            unclosed-bracket 2:1 expected `)`, found `property`
        "#]],
    );
}

#[test]
fn single_equals_in_guard() {
    check(
        "\
var x : 0..3
process P {
    a when x = 1
    b when (x = 1 & x < 3) | x > 2
}",
        &expect![[r#"
            wrong-operator 3:14 `=` is not an operator between expressions
                help: write `==`
            wrong-operator 4:15 `=` is not an operator between expressions
                help: write `==`
            wrong-operator 4:19 `&` is not an operator between expressions
                help: write `&&`
            wrong-operator 4:28 `|` is not an operator between expressions
                help: write `||`
        "#]],
    );
}

#[test]
fn equals_for_assignment() {
    check(
        "\
var x : 0..3
process P {
    a { x = 1 }
    b { x == 2 }
}
var y : 0..3 := 1",
        &expect![[r#"
            equals-for-assignment 3:11 `=` does not assign
                help: write `:=` to assign
            equals-for-assignment 4:11 `==` does not assign
                help: write `:=` to assign
            syntax 6:14 an initial value is written with `=`
                help: `:=` assigns in the effect of a step
        "#]],
    );
}

#[test]
fn assignment_in_guard() {
    check(
        "\
var x : 0..3
process P { a when x := 1 }",
        &expect![[r#"
            wrong-operator 2:22 `:=` is not an operator between expressions
                help: write `==`
        "#]],
    );
}

#[test]
fn arrow_in_guard() {
    check(
        "\
var x, y : bool
process P {
    init s
    from s {
        a when x -> y -> s
        b when x implies y -> s
    }
}",
        &expect![[r#"
            syntax 5:23 expected the next step or `}`, found `->`
                help: in a guard, `->` ends the guard and names the target; write `implies`, or put the implication in parentheses
        "#]],
    );
}

#[test]
fn not_equal_as_in_sql() {
    check(
        "\
var x : 0..3
property p: always x <> 1",
        &expect![[r#"
            wrong-operator 2:22 `<>` is not an operator between expressions
                help: write `!=`
        "#]],
    );
}

#[test]
fn tilde_for_not() {
    check(
        "\
var x : bool
property p: always ~x",
        &expect![[r#"
            wrong-operator 2:20 `~` is not an operator
                help: negation is written `!`
        "#]],
    );
}

#[test]
fn comparison_chain() {
    check(
        "\
var x : 0..3
property p: always 0 <= x <= 2",
        &expect![[r#"
            comparison-chain 2:27 comparisons cannot be chained
                help: write `a <= b && b <= c`, or parentheses around one comparison
        "#]],
    );
}

#[test]
fn box_with_a_space() {
    check(
        "\
var x : bool
property p: [ ] x",
        &expect![[r#"
            syntax 2:15 expected an expression, found `]`
                help: `always` is written `[]` without a space
        "#]],
    );
}

#[test]
fn reserved_names() {
    check(
        "\
var when : bool
const X = 3
process process { }",
        &expect![[r#"
            reserved-word 1:5 expected the name of a variable, found the keyword `when`
            reserved-word 3:9 expected the name of a process, found the keyword `process`
        "#]],
    );
}

#[test]
fn several_errors_in_one_run() {
    check(
        "\
const = 3
var x : 0..
process P {
    init
    from s { a -> }
}
property p [] true",
        &expect![[r#"
            syntax 1:7 expected the name of a constant, found `=`
            syntax 3:1 expected an expression, found `process`
            reserved-word 5:5 expected the name of a location, found the keyword `from`
            syntax 5:19 expected the name of a location, found `}`
            syntax 7:12 expected `:`, found `[]`
        "#]],
    );
}

#[test]
fn unknown_fairness() {
    check(
        "\
fairness wek
property p under super: true",
        &expect![[r#"
            unknown-fairness 1:10 `wek` is not a kind of fairness
                help: the kinds are `none`, `just`, `weak-process`, `strong-process`, `weak`, `strong`, `strong-global` and `annotated`; combine with `+annotated`
            unknown-fairness 2:18 `super` is not a kind of fairness
                help: the kinds are `none`, `just`, `weak-process`, `strong-process`, `weak`, `strong`, `strong-global` and `annotated`; combine with `+annotated`
        "#]],
    );
}

#[test]
fn number_too_large() {
    check(
        "\
const A = 99999999999999999999",
        &expect![[r#"
            number-too-large 1:11 this number does not fit into 64 bits
        "#]],
    );
}

#[test]
fn unclosed_comment() {
    check(
        "\
var x : bool /* never",
        &expect![[r#"
            unclosed-comment 1:14 this comment is not closed
                help: close it with `*/`
        "#]],
    );
}

#[test]
fn foreign_character() {
    check(
        "\
var x § : bool",
        &expect![[r#"
            unknown-character 1:7 unexpected character `§`
        "#]],
    );
}

#[test]
fn unknown_name() {
    check(
        "\
var counter : 0..3
property p: always countr == 0
property q: always wholly_unknown",
        &expect![[r#"
            unknown-name 2:20 `countr` is not declared
                help: did you mean `counter`?
            unknown-name 3:20 `wholly_unknown` is not declared
        "#]],
    );
}

#[test]
fn location_as_a_name() {
    check(
        "\
process P(i in 0..1) {
    init idle
    from idle { a { skip } }
}
property p: always idle",
        &expect![[r#"
            unknown-name 5:20 `idle` is not declared
                help: `idle` is a location; write `P[i] @ idle`
        "#]],
    );
}

#[test]
fn unknown_location() {
    check(
        "\
process P {
    init idle
    from idle { a -> bussy
    b -> done }
    from busy { c -> idle }
}
property p: always P @ idel",
        &expect![[r#"
            unknown-location 3:22 `P` has no location `bussy`
                help: did you mean `busy`?
            unknown-location 4:10 `P` has no location `done`
                help: every location has a `from` block: `from done { }` if nothing leaves it
            unknown-location 7:24 `P` has no location `idel`
                help: did you mean `idle`?
        "#]],
    );
}

#[test]
fn location_written_as_member() {
    check(
        "\
process P(i in 0..1) {
    init idle
    from idle { a { skip } }
}
property p: always P[0].idle
property q: always P @ idle
property r: always P[2] @ idle
property s: always x @ idle",
        &expect![[r#"
            unknown-member 5:25 `P` has no variable or action `idle`
                help: ask for a location with `@ idle`
            missing-index 6:20 `P` is a family of processes
                help: say which one is meant: `P[i]`
            index-out-of-range 7:22 there is no process `P[2]`
                help: the indices are 0..1
            not-a-process 8:20 only a process is at a location
                help: write `P @ location` or `P[i] @ location`
        "#]],
    );
}

#[test]
fn unknown_types_members_and_fields() {
    check(
        "\
record R { seq: 0..3 }
enum E { red, green }
var r : R
var s : bol
var t : r
process P { var x : bool
  a { skip } }
property p: always r.sq == 0
property q: always P.y
property u: always E.gren == red",
        &expect![[r#"
            unknown-type 4:9 there is no type `bol`
                help: did you mean `bool`?
            not-a-type 5:9 `r` is a variable, not a type
                help: types are `bool`, `int`, `lo..hi`, `array[lo..hi] of T`, and the names of enumerations and records
            unknown-field 8:22 `R` has no component `sq`
                help: did you mean `seq`?
            unknown-member 9:22 `P` has no variable or action `y`
                help: did you mean `a`?
            unknown-variant 10:22 `E` has no value `gren`
                help: did you mean `green`?
        "#]],
    );
}

#[test]
fn duplicates() {
    check(
        "\
const N = 1
var N : bool
enum E { a, b, a }
process P {
    var x : bool
    var x : bool
    x { skip }
}
property p: true
property p: true",
        &expect![[r#"
            duplicate 3:16 `a` is declared twice
            duplicate 2:5 `N` is declared twice
            duplicate 6:9 `x` is declared twice
            duplicate 7:5 `x` is declared twice
            duplicate 10:10 `p` is declared twice
        "#]],
    );
}

#[test]
fn types() {
    check(
        "\
var b : bool
var n : 0..3
enum E { red, green }
var e : E
process P {
    a when n
    c when b + 1 == 2
    d when e == n
    f { b := n }
    g { n := e }
    h { e := red; e := true }
}
property p: always n && b
property q: always e < green",
        &expect![[r#"
            type-mismatch 6:12 expected a Boolean, found an integer
                help: compare it, for example with `== 1`
            type-mismatch 7:12 expected an integer, found a Boolean
            type-mismatch 8:17 expected a value of `E`, found an integer
            type-mismatch 9:14 expected a Boolean, found an integer
                help: compare it, for example with `== 1`
            type-mismatch 10:14 expected an integer, found a value of `E`
            type-mismatch 11:24 expected a value of `E`, found a Boolean
            type-mismatch 13:20 expected a Boolean, found an integer
                help: compare it, for example with `== 1`
            type-mismatch 14:20 expected an integer, found a value of `E`
            type-mismatch 14:24 expected an integer, found a value of `E`
        "#]],
    );
}

#[test]
fn count_without_parentheses() {
    check(
        "\
var a : bool[3]
property p: always count i in 0..2: a[i] == 1
property q: always count i in 0..2: a[i]",
        &expect![[r#"
            type-mismatch 2:45 expected a Boolean, found an integer
                help: a `count` or `sum` reaches as far to the right as possible; put it in parentheses
            type-mismatch 3:20 expected a Boolean, found an integer
                help: a `count` or `sum` reaches as far to the right as possible; put it in parentheses
        "#]],
    );
}

#[test]
fn constants_out_of_range() {
    check(
        "\
var n : 0..3 = 4
var a : bool[3] = [true, false]
var l : 3..1
process P {
    x { n := 7 }
    y { a[3] := true }
}",
        &expect![[r#"
            out-of-range 1:16 the value 4 is outside the range 0..3
            wrong-length 2:19 3 components are needed, 2 are given
            empty-range 3:9 the range 3..1 is empty
            out-of-range 5:14 the value 7 is outside the range 0..3
            index-out-of-range 6:11 the index 3 is outside 0..2
        "#]],
    );
}

#[test]
fn initial_values() {
    check(
        "\
var n : int = any
var x : 0..3 = n
const A = 1 / 0
const B = n
const C = later
const later = 1",
        &expect![[r#"
            constant-arithmetic 3:11 division by zero
            used-too-early 4:11 `n` cannot be used here
                help: constants and types are worked out first, and see only constants above them
            used-too-early 5:11 `later` cannot be used here
                help: constants and types are worked out first, and see only constants above them
            not-constant 2:16 an initial value must not depend on the state
                help: constrain initial states with `init <condition>` instead
        "#]],
    );
}

#[test]
fn ambiguous_values() {
    check(
        "\
enum A { on, off }
enum B { on, broken }
var a : A
var b : B = on
property p: always on == on
property q: always on == b && a != on",
        &expect![[r#"
            ambiguous-name 5:26 `on` is a value of several enumerations
                help: write `A.on` or `B.on`
        "#]],
    );
}

#[test]
fn channels() {
    check(
        "\
chan c[2] of (0..3, bool)
chan l[1] for i in 0..1 of bool
var x : 0..3
process P {
    a c ! 1
    b c ! (7, true)
    d c ? (x, x)
    e l ! true
    f c[0] ! (1, true)
    g x ! 1
    h cc ? (x, _)
}
property p: always len(x) == 0
chan r of bool[2]",
        &expect![[r#"
            message-arity 5:11 messages of this channel have 2 component(s), not 1
            out-of-range 6:12 the value 7 is outside the range 0..3
            type-mismatch 7:15 the message has a Boolean here, the variable holds an integer
            missing-index 8:7 `l` is an array of channels
                help: say which one is meant: `l[i]`
            not-an-array 9:7 `c` is a single channel and has no index
            not-a-channel 10:7 this is not a channel
            unknown-name 11:7 `cc` is not declared
                help: did you mean `c`?
            not-a-channel 13:24 this is not a channel
        "#]],
    );
}

#[test]
fn events() {
    check(
        "\
event go(0..1)
var x : 0..1
process P {
    a sync go
    b sync gone(1)
    c sync go(x)
    d sync go(5)
    e sync x
}
property p: <> go(1, 2)",
        &expect![[r#"
            wrong-arguments 4:12 `go` has 1 argument(s), 0 given
            unknown-event 5:12 there is no event `gone`
                help: declare it with `event gone`
            state-in-action-name 6:15 this is part of the name of an action, so it must not depend on the state
                help: conditions on the state belong after `when`
            out-of-range 7:15 the value 5 is outside the range 0..1
            unknown-event 8:12 `x` is a variable, not an event
                help: declare it with `event x`
            wrong-arguments 10:16 1 argument(s) are needed, 2 given
                help: leave out all arguments to speak of all of them
        "#]],
    );
}

#[test]
fn parameters_of_actions() {
    check(
        "\
var x : 0..1
process P {
    a(j in 0..x) { skip }
    b(j in 0..1 where x == j) { skip }
    c(j in 0..1) { skip }
    c { skip }
}
property p: <> P.c(1, 2)
property q: <> P.d",
        &expect![[r#"
            action-parameters 6:5 `c` has 0 parameter(s) here
            state-in-action-name 3:15 this is part of the name of an action, so it must not depend on the state
                help: conditions on the state belong after `when`
            state-in-action-name 4:23 this is part of the name of an action, so it must not depend on the state
                help: conditions on the state belong after `when`
            wrong-arguments 8:16 1 argument(s) are needed, 2 given
                help: leave out all arguments to speak of all of them
            unknown-member 9:18 `P` has no variable or action `d`
                help: did you mean `a`?
        "#]],
    );
}

#[test]
fn definitions() {
    check(
        "\
def f(a) = a + 1
def g = h
def h = g
var x : 0..9
property p: always f(x, x) > 0
property q: always f(true) > 0
property r: always x(1)
property s: always k(1)",
        &expect![[r#"
            recursive-definition 2:5 the definition `g` needs itself
            recursive-definition 3:5 the definition `h` needs itself
            wrong-arguments 5:20 `f` takes 1 argument(s), 2 given
            type-mismatch 1:12 expected an integer, found a Boolean
            not-callable 7:20 this is not a definition, so it does not take arguments
            unknown-name 8:20 `k` is not declared
        "#]],
    );
}

#[test]
fn temporal_operators_in_states() {
    check(
        "\
var x : bool
var n : 0..1
process P {
    a when always x
    b when P.a
}
invariant i: eventually x
property p: always ((n == 0) == (<> x))
property q: (P.a) == true
init <> x",
        &expect![[r#"
            temporal-operator 4:12 a temporal operator cannot stand inside an expression of the state
                help: temporal operators are possible in properties and assumptions only, below `&&`, `||`, `!`, `->`, `<->`, `if` and quantifiers
            step-proposition 5:14 a step can only be spoken of in properties and assumptions
            temporal-operator 10:6 a temporal operator cannot stand inside an expression of the state
                help: temporal operators are possible in properties and assumptions only, below `&&`, `||`, `!`, `->`, `<->`, `if` and quantifiers
            temporal-operator 7:14 temporal operators cannot stand here
                help: write `property name: formula` for a temporal formula
            temporal-operator 8:20 temporal operators and steps cannot stand here
                help: they can be combined by `&&`, `||`, `!`, `->`, `<->`, `if` and quantifiers only
            temporal-operator 9:13 temporal operators and steps cannot stand here
                help: they can be combined by `&&`, `||`, `!`, `->`, `<->`, `if` and quantifiers only
        "#]],
    );
}

#[test]
fn assignments() {
    check(
        "\
const N = 1
var x : 0..1
var a, b : bool[2]
process P(i in 0..1) {
    var y : bool
    a1 { N := 2 }
    a2 { i := 0 }
    a3 { P[0].y := true }
    a4 { a := x }
    a6 { x := choose bool }
    a7 { x := choose array[0..1] of int }
    a8 { a := choose bool }
    a9 { let z = 1; z := 2 }
    a10 { x := [1, 2] }
    a11 { undefined_thing := 3 }
}",
        &expect![[r#"
            not-assignable 6:10 only variables can be assigned to
            not-assignable 7:10 only variables can be assigned to
            not-assignable 8:10 only variables can be assigned to
                help: only the process itself writes its local variables
            type-mismatch 9:15 expected a Boolean, found an integer
                help: compare it, for example with `== 1`
            type-mismatch 10:15 expected an integer, but a Boolean is chosen
            choose 11:22 `choose` needs a type of single values
                help: write `choose lo..hi`, `choose bool` or the name of an enumeration
            not-scalar 12:15 `choose` picks a single value, or an element of a set of such values
            not-assignable 13:21 only variables can be assigned to
            misplaced-list 14:16 a list can only be an initial value, be assigned to or compared with an array or sequence
            unknown-name 15:11 `undefined_thing` is not declared
        "#]],
    );
}

#[test]
fn assumptions() {
    check(
        "\
var x : bool
process P { a { skip } }
assume <> x
assume []<>(x && P.a)
assume []<> x -> x",
        &expect![[r#"
            assumption 3:8 an assumption combines `[]<> p` and `<>[] p` by Boolean operators
                help: for example `assume []<> p -> []<> q`
            assumption 4:8 a step and a state cannot be combined like this below `[]<>` or `<>[]`
                help: `[]<>` can be distributed over `||`, `<>[]` over `&&`
            assumption 5:8 an assumption combines `[]<> p` and `<>[] p` by Boolean operators
                help: for example `assume []<> p -> []<> q`
        "#]],
    );
}

#[test]
fn processes() {
    check(
        "\
process P {
    var x : bool
    from s { a { skip } }
    b { skip }
}
process Q(i in 3..1) { a { skip } }
property p: always P.x == Q.x",
        &expect![[r#"
            step-outside-from 4:5 this step stands outside the `from` blocks of its process
                help: put it into a `from` block; `from *` starts anywhere
            missing-init 1:9 `P` does not say where it starts
                help: write `init s`, or another location
            empty-range 6:16 the range 3..1 is empty
            missing-index 7:27 `Q` is a family of processes
                help: say which one is meant: `Q[i]`
        "#]],
    );
}

#[test]
fn synchronous_with_channels() {
    check(
        "\
synchronous
chan c[1] of bool
process P { a c ! true }",
        &expect![[r#"
            model 3:13 channels and events cannot be used in a synchronous composition
        "#]],
    );
}

#[test]
fn free_parameter() {
    check(
        "\
param N
var x : 0..N
process P(i in 0..N-1) { a { skip } }
property p: always x == 0",
        &expect![[r#"
            free-parameter 1:7 the parameter `N` of the model has no value
                help: give it one, for example with `-D N=3`
        "#]],
    );
}

#[test]
fn member_of_a_value() {
    check(
        "\
var x : 0..1
property p: always x[0] == 1
property q: always x.y == 1
property r: always P
process P { a { skip } }
property s: enabled(x)",
        &expect![[r#"
            not-an-array 2:20 only arrays, processes and arrays of channels have an index
            not-a-record 3:20 only records and processes have components
            not-a-value 4:20 `P` is a process, not a value
                help: write `P @ location`, or `P.x` for a local variable
            not-a-step 6:21 expected a process, an action such as `P[1].enter`, or an event
        "#]],
    );
}

#[test]
fn values_from_the_command_line() {
    let options = |defines: &[(&str, &str)]| Options {
        defines: defines
            .iter()
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ltl: vec![("f".to_owned(), "[] (x < ".to_owned())],
        assume: vec!["[]<> y".to_owned()],
        ..Options::default()
    };
    let text = "const SIZE = 3\nconst on = true\nvar x : 0..SIZE";
    let bad = options(&[("SIZ", "4"), ("on", "2"), ("SIZE", "many")]);
    expect![[r#"
        syntax <--ltl> 1:9 expected an expression, found the end of the text
    "#]]
    .assert_eq(&show(&load(text, &bad)));
    let bad = Options {
        ltl: Vec::new(),
        ..bad
    };
    expect![[r#"
        define 1:7 `-D SIZE=many` does not give an integer
        define 2:7 `-D on=2` does not give a Boolean
        define 1:1 `-D SIZ=…`: the model has no constant `SIZ`
            help: did you mean `SIZE`?
        unknown-name <--assume> 1:6 `y` is not declared
    "#]]
    .assert_eq(&show(&load(text, &bad)));
}

#[test]
fn many_errors_are_counted() {
    let text = "var x : 0..3 = true\n".repeat(50).replace("true", "truee");
    let loaded = load(&text, &Options::default());
    assert_eq!(loaded.diagnostics.len(), 21);
    assert_eq!(loaded.diagnostics[20].code, "too-many-errors");
}

#[test]
fn as_many_values_as_targets() {
    check(
        "\
var x, y : 0..1
process P {
    a { skip }
    b { x, y := 1 }
    d { x := 1 + }
    e { y := 0 -> y }
}",
        &expect![[r#"
            assignment-arity 4:14 2 targets, but 1 values
            syntax 5:18 expected an expression, found `}`
            missing-brace 6:16 expected `}`, found `->`
                help: close the effect with `}`
                help: an implication in an effect needs parentheses
            syntax 7:1 this `}` does not close anything
        "#]],
    );
}

#[test]
fn path_quantifiers_in_wrong_places() {
    check(
        "\
var p : bool
process P { s { skip } }
property outer: G EF p
invariant inv: EF p
assume A([]<> p)
init EX(p)",
        &expect![[r#"
            unknown-name 6:6 `EX` is not declared
            path-quantifier 5:8 path quantifiers cannot stand here
                help: write `property name: formula` for a formula with path quantifiers
            no-state-formula 3:17 a temporal operator stands outside the path quantifiers
                help: write `A(…)` for all fair runs or `E(…)` for some fair run around it
            path-quantifier 4:16 path quantifiers cannot stand here
                help: write `property name: formula` for a formula with path quantifiers
        "#]],
    );
}

#[test]
fn wrong_systems() {
    check(
        "\
system S {
    states a, b
    init c
}
system T {
    states a, a
}
system U {
    states a
    p: true in a, false in a
}
system V {
    states a
    p: true in a
    property x: A(F r)
    property y: A(F p == 1)
    property z: F p
    property w assuming F p: A(F p)
}",
        &expect![[r#"
            unknown-state 3:10 there is no state `c`
                help: did you mean `a`?
            duplicate 6:15 state `a` is declared twice
            contradiction 10:28 `p` has two values in `a`
            unknown-name 15:21 `V` has no proposition `r`
                help: did you mean `p`?
            system-formula 16:26 this cannot stand in a formula about a may/must system
                help: it consists of propositions, `@ state`, Boolean and temporal operators and path quantifiers
            no-state-formula 17:17 a temporal operator stands outside the path quantifiers
                help: write `A(…)` for all fair runs or `E(…)` for some fair run around it
            assumption 18:25 an assumption combines `[]<> p` and `<>[] p` by Boolean operators
        "#]],
    );
}

#[test]
fn wrong_item_of_a_system() {
    check(
        "\
system S {
    states a
    frei a -> a
}",
        &expect![[r#"
            syntax 3:5 expected an item of a system, found `frei`
                help: a system consists of `states`, `init`, `free`, `constrained`, `assume`, `property` and propositions such as `p: true in a, b`
        "#]],
    );
}

#[test]
fn procedures() {
    check(
        "\
var x : 0..9 = 0
def f(a) { x := a }
def g(a) { a := 1 }
def loop_(a) { loop_(a) }
def value(a) = a + 1
process P {
    one { f(1, 2) }
    two { g(1) }
    three { loop_(1) }
    four { value(1) }
    five { unknown(1) }
    six when f(1) { x := f(2) }
    seven { let y = 3; hidden(y) }
}
def hidden(z) { x := y }
invariant p: x < 9",
        &expect![[r#"
            wrong-arguments 7:11 `f` takes 1 argument(s), 2 given
            not-assignable 3:12 only variables can be assigned to
            recursive-definition 4:5 the definition `loop_` needs itself
            not-a-procedure 10:12 `value` is not a procedure
                help: a procedure is declared by `def name(parameters) { statements }`
            not-a-procedure 11:12 `unknown` is not a procedure
                help: a procedure is declared by `def name(parameters) { statements }`
            procedure-as-value 12:14 `f` is a procedure and has no value
                help: a procedure is called by a statement of an effect
            procedure-as-value 12:26 `f` is a procedure and has no value
                help: a procedure is called by a statement of an effect
            unknown-name 15:22 `y` is not declared
        "#]],
    );
}

//! Sets, bags, maps, sequences, options, enumerations as indices, and values that are compared, assigned and sent
//! as wholes: against quantifiers over members, against channels, and against arrays.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use crate::support::{count, load, model, show};
use model::{ErrorKind, Model, State};
use source::Options;
use testkit::values::{random_effect, text_of};
use testkit::{Random, cases};

/// All steps of all initial states can be taken: no assertion fails.
fn holds_everywhere(text: &str) {
    let model = model(text, &[]);
    let initial = model.initial_states().expect("initial states");
    assert!(!initial.is_empty());
    for state in &initial {
        let steps = model.successors(state);
        let steps = steps.unwrap_or_else(|error| panic!("{error:?} in {state:?}\n{text}"));
        assert!(!steps.is_empty(), "{text}");
    }
}

/// What can be said about two sets and a number, for all sets and numbers.
#[test]
fn operations_of_sets_are_those_of_their_members() {
    holds_everywhere(
        "var a, b : set of 0..3 = any
        var c : set of 0..3
        var n : -1..5 = any
        def both = a inter b
        def without(s, x) = s minus {x}
        process P {
            check {
                assert forall i in 0..3: (i in a union b) == (i in a || i in b)
                assert forall i in 0..3: (i in both) == (i in a && i in b)
                assert forall i in 0..3: (i in a minus b) == (i in a && !(i in b))
                assert (a subset b) == (forall i in 0..3: i in a => i in b)
                assert (a == b) == (forall i in 0..3: (i in a) == (i in b))
                assert (a != b) == (exists i in 0..3: (i in a) != (i in b))
                assert size(a) == (count i in 0..3: i in a)
                assert size(a union b) + size(both) == size(a) + size(b)
                assert empty(a) == (size(a) == 0)
                assert (a == {}) == empty(a)
                assert (n in a) == (exists i in 0..3: i == n && i in a)
                assert (n in {1, 5}) == (n == 1 || n == 5)
                assert (n in 1..2) == (n == 1 || n == 2)
                assert forall x in a: x in a union b
                assert (exists x in a: x in b) == !empty(both)
                assert (count x in a where x > 1: true) == (count i in 2..3: i in a)
                assert { x in a where x > 1 } == a inter {2, 3}
                assert !(2 in without(a, 2))
                assert (if n > 2 then a else b) == { x in 0..3 where (n > 2 && x in a) || (n <= 2 && x in b) }
                let d = a union {0}
                assert 0 in d && a subset d && size(d) <= size(a) + 1
                c := d minus {0}
                assert c == a minus {0}
                for x in a { c := c union {x} }
                assert c == a union (d minus {0})
            }
        }
        deadlockfree",
    );
}

/// The same set as an array of Booleans has the same states and steps.
#[test]
fn a_set_has_as_many_values_as_it_should() {
    let sets = "var s : set of 1..4 = {}
        process P(i in 1..4) {
            join when !(i in s) { s := s union {i} }
            leave when i in s && size(s) > 2 { s := s minus {i} }
            pick when !empty(s) { let x = choose y in s where y != i; s := {x, i} }
        }
        deadlockfree";
    let arrays = "var s : array[1..4] of bool = false
        process P(i in 1..4) {
            join when !s[i] { s[i] := true }
            leave when s[i] && (count j in 1..4: s[j]) > 2 { s[i] := false }
            pick when (exists j in 1..4: s[j]) {
                let x = choose y in 1..4 where s[y] && y != i
                s := [j in 1..4: j == x || j == i]
            }
        }
        deadlockfree";
    assert_eq!(count(&model(sets, &[])), count(&model(arrays, &[])));
}

/// A queue as a sequence and as a channel.
#[test]
fn a_sequence_is_a_queue() {
    let sequence = "var q : seq[3] of 0..2
        var x : 0..2 = 0
        process P {
            put(v in 0..2) when !full(q) { q := append(q, v) }
            get when !empty(q) { x := head(q); q := tail(q) }
        }
        deadlockfree";
    let channel = "chan q[3] of 0..2
        var x : 0..2 = 0
        process P {
            put(v in 0..2) q ! v
            get q ? x
        }
        deadlockfree";
    let (n_states, n_steps) = count(&model(sequence, &[]));
    assert_eq!((n_states, n_steps), count(&model(channel, &[])));
    assert_eq!(n_states, 3 * (1 + 3 + 9 + 27));
}

#[test]
fn operations_of_sequences() {
    holds_everywhere(
        "enum Kind { data, ack }
        record Msg { kind: Kind, seq: 0..3 }
        var q : seq[3] of 0..2 = [2, 1]
        var m : seq[2] of Msg = [Msg(ack, 1)]
        var e : seq[3] of 0..2
        var o, none_yet : option of 1..3
        process P {
            check {
                assert len(q) == 2 && q[0] == 2 && q[1] == 1 && head(q) == 2 && last(q) == 1
                assert 1 in q && 2 in q && !(0 in q) && !empty(q) && !full(q)
                assert q == [2, 1] && q != [2] && q != [2, 1, 0]
                assert append(q, 0) == [2, 1, 0] && tail(q) == [1] && tail(tail(q)) == []
                assert e == [] && empty(e) && len(e) == 0 && append(e, 2) == [2]
                q[1] := 0
                assert q == [2, 0]
                q := tail(append(q, 1))
                assert q == [0, 1]
                assert m[0].kind == ack && m[0].seq == 1
                m := append(m, Msg(data, 3))
                m[0].seq := 2
                assert m == [Msg(ack, 2), Msg(data, 3)] && full(m)
                assert o == none && empty(o)
                o := some(3)
                assert o != none && o == some(3) && value(o) == 3 && o != none_yet
                o := none
                assert o == none_yet
            }
        }
        deadlockfree",
    );
}

/// What does not exist cannot be read or written.
#[test]
fn what_is_not_there_is_an_error() {
    for effect in [
        "x := head(q)",
        "x := q[0]",
        "q[0] := 1",
        "q := tail(q)",
        "q := append(append([1, 2], 0), 1)",
        "q := [1]; x := q[1]",
        "x := value(o)",
        "q := tail(append([1, 2], 0))",
        "q := append(tail(q), 1)",
        "b := remove(b, 1)",
        "b := add(add(add(b, 1), 1), 1)",
        "b := add(remove(b, 1), 1)",
        "b := {1} union remove(b, 1)",
        "b := add(b, x + 3)",
        "x := m[1]",
        "m[x + 3] := 1",
        "m[1] := x + 3",
    ] {
        let text = format!(
            "var q : seq[2] of 0..2
            var o : option of 0..2
            var b : bag[2] of 0..2
            var m : map[0..2] of 0..2
            var x : 0..2 = 0
            process P {{ a {{ {effect} }} }}
            reachable r: x == 1 && empty(q) && o == none && empty(b) && empty(m)"
        );
        let model = model(&text, &[]);
        let initial = model.initial_states().expect("initial states");
        assert!(model.successors(&initial[0]).is_err(), "{effect}");
    }
}

/// Sets of records, and of sets, by what is asked of their components.
#[test]
fn elements_may_have_components() {
    holds_everywhere(
        "enum Kind { data, ack }
        record Msg { kind: Kind, seq: 0..1, last: bool }
        var net, old : set of Msg = any
        var one : Msg = any
        var pairs : set of set of 0..1 = {{0}, {0, 1}}
        def seqs(s) = { m.seq for m in s where m.kind == data }
        init size(net) <= 2 && size(old) <= 1
        process P {
            check {
                assert (one in net) == (exists m in net: m == one)
                assert (one in net) == (exists m in Msg: m in net && m.kind == one.kind && m.seq == one.seq && m.last == one.last)
                assert size(net) == (count m in Msg: m in net)
                assert forall m in net: Msg(m.kind, m.seq, m.last) in net
                assert { m in net where m.last } == { m in Msg where m in net && m.last }
                assert (1 in seqs(net)) == (exists m in net: m.kind == data && m.seq == 1)
                assert size(seqs(net)) <= size(net)
                assert net subset net union old && size(net union {one}) - size(net) == (if one in net then 0 else 1)
                assert (forall s in subsets(net): s subset net) && (count s in subsets(net): true) >= 1 + size(net)
                assert {0, 1} in pairs && !({1} in pairs) && size(pairs) == 2
                let before = net
                net := net union {one}
                assert net == before union {one}
                let m = choose x in net where x == one
                assert m == one && m.kind == one.kind
                net := add(remove(net, m), m)
                assert net == before union {one}
                net := net minus {one, m}
                assert net == before minus {one}
                for x in before { net := net union {x} }
                assert net == before
                old := choose s in subsets(before) where size(s) == size(before)
                assert old == before
            }
        }
        deadlockfree",
    );
}

#[test]
fn operations_of_bags() {
    holds_everywhere(
        "var a : bag[3] of 0..2 = {1, 0, 1}
        var b, e : bag[3] of 0..2
        var n : 0..2 = any
        process P {
            check {
                assert size(a) == 3 && full(a) && !empty(a) && empty(b) && b == {}
                assert copies(a, n) == (if n == 2 then 0 else n + 1) && copies(a, 5) == 0
                assert (n in a) == (copies(a, n) > 0)
                assert a == {0, 1, 1} && a != {0, 1} && {1} subset a && !({0, 0} subset a)
                assert (forall x in a: x <= 1) && (sum x in a: copies(a, x)) == 3
                assert (a minus {1}) == {0, 1} && (a inter {1, 1, 2}) == {1, 1}
                assert ({0} union {1, 1}) == a && remove(add(a, n), n) == a
                b := add(b, n)
                assert b == {n} && copies(b, n) == 1 && size(b) == 1
                let x = any y in b
                b := remove(b, x)
                assert b == e && !(n in b)
                assert { y in a where y > 0 } == { y in 0..2 where y == 1 }
            }
        }
        deadlockfree",
    );
}

#[test]
fn operations_of_maps() {
    holds_everywhere(
        "enum Color { red, green, blue }
        record Point { x: 0..1, y: 0..1 }
        var m : map[Color] of 0..3 = {red: 1}
        var p : map[Point] of seq[2] of Color
        var n : map[1..3] of 0..3 = { i in 1..3 where i != 2: i }
        var c : Color = any
        process P {
            check {
                assert m == {red: 1} && m[red] == 1 && red in m && !(green in m) && size(m) == 1
                assert (c in m) == (c == red) && keys(m) == {red}
                assert n == {1: 1, 3: 3} && (sum i in n: n[i]) == 4 && keys(n) == {1, 3}
                m[c] := 2
                assert m[c] == 2 && c in m && size(m) == (if c == red then 1 else 2)
                assert (forall k in m: m[k] > 0) && m == (if c == red then {red: 2} else {red: 1, c: 2})
                m := remove(m, red)
                assert m == (if c == red then {} else {c: 2})
                assert empty(p)
                p[Point(0, 1)] := [c]
                p[Point(0, 1)][0] := red
                assert p[Point(0, 1)] == [red] && Point(0, 1) in p && !(Point(1, 0) in p)
                assert p == {Point(0, 1): [red]} && keys(p) == {Point(0, 1)}
                n := {}
                assert empty(n)
            }
        }
        deadlockfree",
    );
}

/// A bag of messages as an array of numbers has the same states and steps.
#[test]
fn a_bag_has_as_many_values_as_it_should() {
    let bag = "var b : bag[4] of 1..3
        process P(i in 1..3) {
            put when !full(b) { b := add(b, i) }
            get(x in b where x != i) { b := remove(b, x) }
        }
        deadlockfree";
    let array = "var b : array[1..3] of 0..4 = 0
        process P(i in 1..3) {
            put when (sum j in 1..3: b[j]) < 4 { b[i] := b[i] + 1 }
            get(x in 1..3) when b[x] > 0 && x != i { b[x] := b[x] - 1 }
        }
        deadlockfree";
    let size = count(&model(bag, &[]));
    assert_eq!(size, count(&model(array, &[])));
    assert_eq!(size.0, 35, "multisets of at most 4 out of 3");
}

#[test]
fn enumerations_and_families_are_indices() {
    holds_everywhere(
        "enum Color { red, green, blue }
        var paint : array[Color] of 0..2 = [c in Color: if c == green then 1 else 0]
        var fine : Color = blue
        var some_colors : set of Color = {red, blue}
        process P(c in Color) {
            var seen : bool = false
            var best : Color = green
            check when c == c {
                assert paint[green] == 1 && paint[fine] == 0
                assert (sum k in Color: paint[k]) == 1
                assert forall k in Color: (paint[k] == 1) == (k == green)
                assert green in some_colors == false
                assert size(some_colors) == 2 && fine in some_colors
                assert forall i in P: !P[i].seen
                assert !(exists i in P: P[i].best in some_colors) && empty({ P[i].best for i in P where P[i].seen })
                paint[c] := 2
                assert paint[c] == 2
                fine := choose k in some_colors where k != red
                assert fine == blue
            }
        }
        property p: forall k in Color: always (P[k].seen -> paint[k] >= 0)",
    );
}

#[test]
fn wholes_are_compared_assigned_and_sent() {
    let text = "enum Kind { data, ack }
        record Msg { kind: Kind, to: set of 0..2 }
        var sent, got : Msg = Msg(ack, {})
        var a, b : bool[2] = [true, false]
        chan c[1] of (Msg, 0..1)
        process S {
            init s
            from s { put when a == b c ! (Msg(data, {0, 2}), 1) { sent := Msg(data, {0, 2}) } -> t }
            from t { }
        }
        process R {
            init s
            from s { get c ? (got, 1) { b := [false, true]; assert a != b } -> t }
            from t { done when got == sent && got.to == {0, 2} { got.to := {}; assert got != sent } -> u }
            from u { }
        }
        reachable all: R @ u";
    let model = model(text, &[]);
    assert_eq!(count(&model), (4, 4));
}

#[test]
fn slips_with_values_are_reported() {
    let check = |text: &str, code: &str| {
        let shown = show(&load(text, &Options::default()));
        assert!(shown.starts_with(code), "{text}\n{shown}");
    };
    check(
        "var s : set of int\nproperty p: size(s) == 0",
        "set-element",
    );
    check(
        "var s : set of 0..2 = 1\nproperty p: size(s) == 0",
        "type-mismatch",
    );
    check(
        "var q : seq[0] of bool\nproperty p: empty(q)",
        "sequence-length",
    );
    check(
        "var q : seq[2] of bool = any\nproperty p: empty(q)",
        "any-sequence",
    );
    check(
        "var s : set of 0..2\nproperty p: s.members[0]",
        "not-a-record",
    );
    check(
        "var x : 0..2\nproperty p: exists y in x: y == 1",
        "not-a-domain",
    );
    check("property p: {1} == {2}", "misplaced-set");
    check(
        "var s : set of seq[2] of bool\nproperty p: size(s) == 0",
        "set-element",
    );
    check(
        "var b : bag[2] of int\nproperty p: size(b) == 0",
        "set-element",
    );
    check(
        "var q : seq[2] of bool\nproperty p: empty(q union q)",
        "not-a-set",
    );
    check(
        "var q : seq[2] of bool\nproperty p: empty(add(q, true))",
        "wrong-arguments",
    );
    check(
        "var b : bag[2] of bool = any\nproperty p: empty(b)",
        "any-sequence",
    );
    check(
        "var s : set of 0..2\nproperty p: forall x in s: always x == 1 && copies(s, x) == 1",
        "wrong-arguments",
    );
    check(
        "var q : seq[1] of bool = [true, false]\nproperty p: empty(q)",
        "wrong-length",
    );
}

/// Reads a text with so much room for sequences and bags without a bound; nothing if it is not right.
fn with_room(text: &str, pool: usize) -> Option<Model> {
    let options = Options {
        pool,
        ..Options::default()
    };
    load(text, &options).model
}

/// The same state of a model with more room.
fn enlarged(state: &State, (from, to): (&Model, &Model)) -> State {
    let named = from.cells().iter().map(|cell| cell.name.as_str());
    let values: BTreeMap<&str, i64> = named.zip(state.cells.iter().copied()).collect();
    let value = |cell: &model::Cell| values.get(cell.name.as_str()).copied().unwrap_or(0);
    State {
        cells: to.cells().iter().map(value).collect(),
        ..state.clone()
    }
}

/// Some reachable states, each with its successors or the error that comes instead.
fn explored(model: &Model) -> Vec<(State, Result<BTreeSet<State>, ErrorKind>)> {
    let mut open: VecDeque<State> = model.initial_states().expect("initial states").into();
    let (mut seen, mut found) = (BTreeSet::new(), Vec::new());
    while let Some(state) = open.pop_front() {
        if seen.len() >= 60 || !seen.insert(state.clone()) {
            continue;
        }
        let steps = model.successors(&state).map_err(|error| error.kind);
        let targets = steps.map(|steps| steps.into_iter().map(|step| step.target));
        let targets = targets.map(|targets| targets.collect::<BTreeSet<_>>());
        open.extend(targets.iter().flatten().cloned());
        found.push((state, targets));
    }
    found
}

/// How much is provided for where no bound is written changes nothing but where the search gives up.
#[test]
fn bounds_that_are_not_written_change_nothing() {
    let (mut n_compared, mut n_exhausted, mut n_refused) = (0, 0, 0);
    for seed in 0..u64::from(cases(600)) {
        let random = &mut Random::new(seed ^ 0xb0);
        let effects: Vec<_> = (0..2).map(|_| random_effect(random)).collect();
        let written = |bound: &str| {
            let text = text_of(&effects).replace("bag[2]", &format!("bag{bound}"));
            text.replace("seq[2]", &format!("seq{bound}"))
        };
        let large = with_room(&written("[9]"), 0).expect("a text that is right");
        let Some(open) = with_room(&written(""), 2) else {
            n_refused += 1;
            continue;
        };
        let same = with_room(&written(""), 9).expect("room changes no text");

        for (state, steps) in explored(&open) {
            let state = enlarged(&state, (&open, &large));
            let of = |model: &Model| {
                let steps = model.successors(&state).map_err(|error| error.kind);
                steps.map(|steps| steps.into_iter().map(|step| step.target).collect())
            };
            let (wanted, with_more): (Result<BTreeSet<State>, _>, _) = (of(&large), of(&same));
            assert_eq!(
                with_more.clone().ok(),
                wanted.clone().ok(),
                "{}",
                written("")
            );
            let enlarge = |targets: BTreeSet<State>| {
                let targets = targets.iter();
                targets
                    .map(|target| enlarged(target, (&open, &large)))
                    .collect()
            };
            match steps.map(enlarge) {
                Err(ErrorKind::Exhausted) => n_exhausted += 1,
                Err(_) => assert!(wanted.is_err(), "{}", written("")),
                Ok(targets) => assert_eq!(wanted, Ok(targets), "{}", written("")),
            }
            n_compared += 1;
        }
    }
    println!("{n_compared} states, {n_exhausted} without room, {n_refused} texts refused");
    assert!(n_compared > 10 * n_exhausted && n_exhausted > 20);
}

/// Each way of making something longer ends in the error that says so, and not in any other.
#[test]
fn without_room_a_step_is_exhausted() {
    let declarations = "record M { log: seq of 0..2, n: 0..3 }
        var q : seq of 0..2 = [1, 2]
        var r : seq of 0..2
        var b : bag of 0..2 = {1, 1}
        var m : M
        var k : map[0..1] of seq of 0..2
        var a : array[0..1] of bag of 0..2
        var s : seq of seq of 0..2
        chan c[1] of seq of 0..2
        chan d for 0..1 of (0..1, seq of 0..2)\n";
    let steps = [
        "{ q := append(q, 0) }",
        "{ r := append(q, 0) }",
        "{ r := tail(append(q, 0)) }",
        "{ r := append(tail(append(q, 0)), 1) }",
        "{ r := [0, 1, 2] }",
        "{ let x = append(q, 0) if len(x) == 3 { r := tail(x) } }",
        "{ m := M(append(q, 0), 1) }",
        "{ m.log := append(q, 2) }",
        "{ k[1] := append(q, 2) }",
        "{ k := {0: append(q, 2)} }",
        "{ s := append(s, append(q, 0)) }",
        "{ b := add(b, 0) }",
        "{ b := b union {2} }",
        "{ a[1] := add(b, 2) }",
        "{ let x = add(b, 2) a[0] := x }",
        "c ! append(q, 0)",
        "d[1] ! (1, append(q, 0))",
    ];
    for step in steps {
        let receive = "process R { get d[1] ? (_, _) }";
        let text = format!("{declarations}process P {{ go {step} }}\n{receive}\ndeadlockfree");
        let model = with_room(&text, 2).unwrap_or_else(|| panic!("{text}"));
        let state = &model.initial_states().expect("initial states")[0];
        let error = model.successors(state).expect_err(step);
        assert_eq!(error.kind, ErrorKind::Exhausted, "{step}");
        let model = with_room(&text, 0).expect("room changes no text");
        let state = &model.initial_states().expect("initial states")[0];
        assert!(model.successors(state).is_ok(), "{step}");
    }
}

/// A whole is stored where it was to be stored before any part of it was.
#[test]
fn storing_a_part_does_not_move_the_rest() {
    holds_everywhere(
        "record R { x: 0..2, y: 0..2 }
        var r : array[0..2] of R
        var q : array[0..3] of seq[2] of 0..2 = [[], [], [], []]
        var b : array[0..3] of bag[2] of 0..2
        var s : array[0..3] of set of 0..2
        var m : array[0..3] of map[0..2] of R
        process P {
            check {
                r[r[0].x] := R(1, 2)
                assert r[0] == R(1, 2) && r[1] == R(0, 0)
                q[len(q[0])] := append(q[len(q[0])], 2)
                assert q[0] == [2] && empty(q[1])
                b[size(b[0])] := add(b[size(b[0])], 2)
                assert size(b[0]) == 1 && copies(b[0], 2) == 1 && empty(b[1])
                s[size(s[0])] := s[size(s[0])] union {1, 2}
                assert s[0] == {1, 2} && empty(s[1]) && empty(s[2])
                m[size(m[0])][1] := R(1, 1)
                assert m[0][1] == R(1, 1) && empty(m[1])
            }
        }
        deadlockfree",
    );
}

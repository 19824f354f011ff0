//! Verdicts about properties as they are written, each with the reason in the text.

use base::{Budget, NoProgress, Source};
use check::{Plan, check};

/// The verdicts about the properties of a text, and the codes of what is said about it.
fn verdicts(text: &str) -> (Vec<&'static str>, Vec<&'static str>) {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let plan = Plan {
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    let verdict = |property| {
        let outcome = check(&model, property, &plan, &mut NoProgress).expect("no bug");
        outcome.verdict.name()
    };
    let codes = loaded.diagnostics.iter().map(|diagnostic| diagnostic.code);
    (
        loaded.properties.iter().map(verdict).collect(),
        codes.collect(),
    )
}

/// Two processes of a family and one other. `P` always ends at `done`; `Q` ends at `there` if nothing
/// is left to do, else where it is.
fn workers(ends_of_p: &str, ends_of_q: &str) -> String {
    format!(
        "var work : 0..2 = 2
        process P(id in 1..2) {{
            init busy
            {ends_of_p}
            from busy {{ work when work > 0 {{ work := work - 1 }} -> done }}
            from done {{ }}
        }}
        process Q {{
            init here
            {ends_of_q}
            from here {{ go when work == 0 -> there  lose when work == 1 -> away }}
            from there {{ }}
            from away {{ }}
        }}
        deadlockfree"
    )
}

#[test]
fn proper_ends() {
    let cases = [
        // There is a deadlock, and no end is proper.
        ("", "", "violated", &[][..]),
        // Both deadlocks are proper: every process may be where it is.
        ("end done", "end there, away", "holds", &[]),
        ("end *", "end *", "holds", &[]),
        ("end done", "end *", "holds", &[]),
        // One deadlock has Q at `away`, the other at `there`.
        ("end done", "end there", "violated", &[]),
        ("end done", "end away", "violated", &[]),
        // The processes of the family are never `busy` in a deadlock.
        ("end busy", "end *", "violated", &[]),
        // A process without ends has none.
        ("end done", "", "violated", &["useless-end"]),
    ];
    for (p, q, expected, said) in cases {
        let text = workers(p, q);
        assert_eq!(verdicts(&text), (vec![expected], said.to_vec()), "{text}");
    }
}

/// A location that is only declared as an end is a location; a step may be called `end`.
#[test]
fn ends_are_locations_and_steps_may_be_called_end() {
    let text = "process P {
            init a
            end b; 
            from a { end -> b }
        }
        deadlockfree
        reachable there: P @ b
        reachable ended: P.end";
    assert_eq!(verdicts(text).0, ["holds", "holds", "holds"]);
}

/// `x` counts to 3 and starts again at 1.
const COUNTER: &str = "var x : 0..3 = 0
    process P {
        up when x < 3 { x := x + 1 }
        again when x == 3 { x := 1 }
    }
";

#[test]
fn what_was_before() {
    let cases = [
        // 2 comes after 1 only.
        ("always (x == 2 -> previously x == 1)", "holds"),
        // 1 comes after 0, and after 3.
        ("always (x == 1 -> previously x == 0)", "violated"),
        ("always (x == 1 -> previously (x == 0 || x == 3))", "holds"),
        // Nothing is before the first position.
        ("previously true", "violated"),
        ("next previously x == 0", "holds"),
        ("always (x == 3 -> once x == 2)", "holds"),
        ("always (x == 1 -> once x == 2)", "violated"),
        ("always once x == 0", "holds"),
        // 0 never comes back.
        (
            "always (x == 2 -> !(once (x == 0 && once x == 1)))",
            "holds",
        ),
        ("eventually always once x == 3", "holds"),
        ("always historically x < 3", "violated"),
        ("x < 2 until historically x < 1", "holds"),
        ("eventually !(historically x < 3)", "holds"),
        // Since the last 1, nothing but 1, 2 and 3; before the first, nothing is since.
        ("always (x > 0 -> (x > 0 since x == 1))", "holds"),
        ("always (x > 0 since x == 1)", "violated"),
        ("always (x == 3 -> (x == 3 since x == 1))", "violated"),
        (
            "always eventually (x == 3 && previously previously x == 1)",
            "holds",
        ),
    ];
    for (formula, expected) in cases {
        let text = format!("{COUNTER}property p: {formula}");
        assert_eq!(verdicts(&text).0, [expected], "{formula}");
    }
    // Elsewhere these words are names.
    let named = "var once, since : bool = false
        process P { previously when !once { once := true; since := once } }
        property p: eventually once
        property q: always (since -> once)";
    assert_eq!(verdicts(named).0, ["holds", "holds"]);
}

/// Arguments are evaluated once, before the first statement; what a procedure binds ends with it; a
/// procedure of a process sees its variables and its index, one outside does not.
#[test]
fn procedures() {
    let text = "var x, y : 0..9 = 1
        var seen : set of 0..9
        def swap(a, b) { x := b; y := a }
        def note(s, v) { let more = s union {v}; seen := more }
        def both(v) { note(seen, v); if v > 2 { note(seen, v - 1) } else { note(seen, 0) } }
        process P(i in 1..2) {
            var mine : 0..9 = 3
            init a
            def own(v) { mine := v + i; x := mine }
            from a { go when i == 1 { own(mine); swap(x, y); both(x + y) } -> b }
            from b { }
        }
        invariant start: P[1] @ a -> x == 1 && y == 1 && empty(seen)
        invariant end_: P[1] @ b -> x == 1 && y == 4 && P[1].mine == 4 && seen == {5, 4}
        reachable ended: P[1] @ b";
    assert_eq!(verdicts(text).0, ["holds", "holds", "holds"]);
}

/// All places are determined before anything is stored.
#[test]
fn several_targets_at_once() {
    let text = "record R { v: 0..9 }
        var n : 0..2 = 0
        var a : bool[3] = false
        var c : R[3]
        var m : map[0..2] of 0..9
        process P { go when n == 0 { n, a[n], c[n].v, m[n] := 2, true, n + 7, n + 1 } }
        invariant before: n == 0 -> !a[0] && !a[2]
        invariant after: n == 2 -> a[0] && !a[2] && c[0].v == 7 && c[2].v == 0 && m == {0: 1}
        reachable done: n == 2";
    assert_eq!(verdicts(text).0, ["holds", "holds", "holds"]);
}

//! What reductions leave out, and what they must not.

use base::{Budget, Fairness, NoProgress, Source};
use check::{Outcome, Plan, Reduction, Reductions, check};
use evidence::Verdict;

fn decide(text: &str, defines: &[(&str, &str)], fairness: &str, reduce: bool) -> Outcome {
    decide_with(text, defines, fairness, reduce.then_some(Reductions::ALL))
}

fn decide_with(
    text: &str,
    defines: &[(&str, &str)],
    fairness: &str,
    reductions: Option<Reductions>,
) -> Outcome {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let define = |&(name, value): &(&str, &str)| (name.to_owned(), value.to_owned());
    let options = source::Options {
        defines: defines.iter().map(define).collect(),
        ..source::Options::default()
    };
    let loaded = lang::load(source, &options).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let plan = Plan {
        fairness: Fairness::parse(fairness),
        reduction: reductions.map_or(Reduction::None, Reduction::Chosen),
        budget: Budget::unlimited().with_max_states(20_000),
        ..Plan::default()
    };

    let outcome = check(&model, &loaded.properties[0], &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

/// `go` is possible only while both are in place. Q may always wait until R has gone, so there is a
/// fair run without `go`; a reduction that lets Q go first every time would miss it.
const NOT_STEADY: &str = "
event go
event meet
process Q {
    init away
    from away  { on                  -> here }
    from here  { off                 -> late
                 strong fair go sync go -> here }
    from late  { meet sync meet      -> away }
}
process R {
    init here
    from here  { off                 -> late
                 go sync go          -> here }
    from late  { meet sync meet      -> here }
}
property goes: always eventually Q.go
";

#[test]
fn the_order_of_steps_that_make_a_subject_ready_is_kept() {
    for reduce in [false, true] {
        let outcome = decide(NOT_STEADY, &[], "annotated", reduce);
        assert_eq!(outcome.verdict.name(), "violated", "{reduce}");
    }
}

const MILNER: &str = include_str!("../../../../examples/milner_fair.fair");

#[test]
fn a_ring_of_steady_communications_grows_slowly() {
    for (n, most) in [("10", 120), ("100", 1_300), ("200", 2_600)] {
        let outcome = decide(MILNER, &[("N", n)], "annotated", true);
        assert_eq!(outcome.verdict.name(), "holds", "{n}");
        assert!(outcome.stats.reduced && outcome.warnings.is_empty(), "{n}");
        assert!(outcome.stats.n_states < most, "{}", outcome.stats.n_states);
    }
    // The whole system is subject to fairness, and still most of it can be left out.
    let outcome = decide(MILNER, &[("N", "12")], "strong", true);
    assert!(outcome.stats.n_states < 200, "{}", outcome.stats.n_states);
}

#[test]
fn what_forbids_a_reduction_is_said() {
    let why = |property: &str, fairness: &str| {
        let (model, _) = MILNER.split_once("property").expect("it has properties");
        let text = format!("{model}property p: {property}\n");
        let outcome = decide(&text, &[], fairness, true);
        assert!(!outcome.stats.reduced, "{property}");
        let mut warnings = outcome.warnings.iter();
        let warning = warnings.find(|w| w.code == "not-reduced");
        warning.expect("a reason is given").message.clone()
    };

    let expected = [
        (
            "always eventually First.work",
            "strong-global",
            "strong global fairness",
        ),
        (
            "always (First @ both -> next First @ passing)",
            "none",
            "not stutter-invariant",
        ),
        ("always !deadlock", "none", "deadlock"),
        ("AG EF First @ both", "none", "branching"),
    ];

    for (property, fairness, part) in expected {
        let message = why(property, fairness);
        assert!(message.contains(part), "{property}: {message}");
    }

    let models = [
        (
            "synchronous
            var x, y : bool = false
            process A { flip { x := !x } }
            process B { flop { y := !y } }
            invariant p: x == y",
            "synchronous composition",
        ),
        (
            "var x : bool = false
            process A {
                timer t
                init a
                from a { start { set t := 1 } -> b }
                from b { done when expired(t) { set t := off } -> a }
            }
            process B { flip { x := !x } }
            invariant p: x || !x",
            "priorities",
        ),
    ];
    let alone = Reductions {
        partial_order: true,
        ..Reductions::NONE
    };
    for (text, part) in models {
        let outcome = decide_with(text, &[], "none", Some(alone));
        assert_eq!(outcome.verdict.name(), "holds", "{text}");
        let mut warnings = outcome.warnings.iter();
        let said = warnings.any(|w| w.code == "not-reduced" && w.message.contains(part));
        assert!(said, "{:?}", outcome.warnings);
    }
}

const SYMMETRY: Reductions = Reductions {
    symmetry: true,
    ..Reductions::NONE
};

const DEAD_VARIABLES: Reductions = Reductions {
    dead_variables: true,
    ..Reductions::NONE
};

const GERMAN: &str = include_str!("../../../../examples/bench/german.fair");
const LE_C: &str = include_str!("../../../../examples/population/le_c.fair");

/// The verdict and the number of states, without and with a reduction.
fn compare(text: &str, n: &str, fairness: &str, reductions: Reductions) -> (String, u64, u64) {
    let full = decide_with(text, &[("N", n)], fairness, None);
    let less = decide_with(text, &[("N", n)], fairness, Some(reductions));
    let verdict = full.verdict.name().to_owned();
    assert_eq!(less.verdict.name(), verdict, "{:?}", less.remarks);
    assert!(less.remarks.is_empty(), "{:?}", less.remarks);
    (verdict, full.stats.n_states, less.stats.n_states)
}

#[test]
fn interchangeable_processes_are_not_told_apart() {
    // Two clients: every state has at most one other that differs only in which is which.
    let (verdict, full, less) = compare(GERMAN, "2", "none", SYMMETRY);
    assert_eq!(verdict, "holds");
    assert!(less < full && full <= 2 * less, "{full} {less}");
    // Of 2^n configurations of leaders n + 1 are left.
    let invariant = format!(
        "{}\ninvariant q: leaders <= N\n",
        LE_C.replace("property", "// ")
    );
    for (n, size) in [("3", 4), ("6", 7), ("9", 10)] {
        let (verdict, full, less) = compare(&invariant, n, "none", SYMMETRY);
        assert_eq!(verdict, "holds");
        assert_eq!(
            (full, less),
            (4 << n.parse::<u32>().expect("a number"), 4 * size)
        );
    }
}

/// The process that has the token hands it to another one.
const TOKEN: &str = "
const N = 3
var holder : 0..N-1 = any
process P(i in 0..N-1) {
    hand(j in 0..N-1 where j != i) when holder == i { holder := j }
}
property never_ends: eventually deadlock
";

#[test]
fn a_loop_goes_on_until_processes_are_back_in_their_places() {
    let outcome = decide_with(TOKEN, &[], "none", Some(SYMMETRY));
    assert_eq!(outcome.stats.n_states, 1);
    let Verdict::Violated(violation) = &outcome.verdict else {
        panic!("the token is handed on forever");
    };
    let trace = violation.trace.as_ref().expect("a violation has a run");
    assert!(trace.loop_range().len() >= 2, "{trace:?}");
}

#[test]
fn what_tells_processes_apart_is_said() {
    let why = |property: &str, fairness: &str| {
        let (model, _) = TOKEN.split_once("property").expect("it has a property");
        let text = format!("{model}property p: {property}\n");
        let outcome = decide_with(&text, &[("N", "2")], fairness, Some(SYMMETRY));
        assert_eq!(outcome.stats.n_states, 2, "{property}");
        reasons(&outcome)
    };

    let expected = [
        ("always eventually holder == 0", "none", "property tells"),
        (
            "always eventually !deadlock",
            "strong-global",
            "every step of every state",
        ),
        ("always eventually P[1].hand", "none", "property tells"),
        ("AG EF !deadlock", "none", "path quantifiers"),
    ];

    for (property, fairness, part) in expected {
        let remarks = why(property, fairness);
        assert!(remarks.contains(part), "{property}: {remarks}");
    }

    let ordered = TOKEN.replace("holder == i", "holder <= i && holder >= i");
    let outcome = decide_with(&ordered, &[], "none", Some(SYMMETRY));
    let reasons = reasons(&outcome);
    assert!(reasons.contains("used as a number"), "{reasons}");
}

/// Why states were not reduced, and why processes were not exchanged.
fn reasons(outcome: &Outcome) -> String {
    let asymmetry = outcome.not_symmetric.iter().map(ToString::to_string);
    let remarks = outcome.remarks.iter().cloned();
    remarks.chain(asymmetry).collect::<Vec<_>>().join("; ")
}

/// One process goes up and down forever while the other could start. In the quotient, where the
/// lower one comes first, it is called 0 when it is down and 1 when it is up: as if both moved.
const ONE_AT_TWO_PLACES: &str = "
const N = 2
process P(i in 0..N-1) {
    var level : 0..2 = 1
    start when level == 1 { level := 0 }
    up    when level == 0 { level := 2 }
    down  when level == 2 { level := 0 }
}
property all_start: eventually (forall i in 0..N-1: P[i].level != 1)
";

/// Both processes take turns forever, and neither rests. In the quotient the process that moves is
/// called 0: as if the other did not.
const TWO_AT_ONE_PLACE: &str = "
const N = 2
var last : 0..N-1 = any
var rested : bool = false
process P(i in 0..N-1) {
    turn when last != i { last := i }
    rest { rested := true }
}
property rests: eventually rested
";

/// As before, but which of three has the next turn, oneself first of all, is chosen by one and the
/// same command. All these choices lead to one state of the quotient.
const TURNS_CHOSEN: &str = "
const N = 3
var next_one : 0..N-1 = any
var again : 0..1 = 0
var rested : bool = false
process P(i in 0..N-1) {
    turn when next_one == i {
        again := choose 0..1
        if again == 1 { next_one := choose 0..N-1 }
        again := 0
    }
    rest { rested := true }
}
property rests: eventually rested
";

#[test]
fn steps_that_are_called_the_same_differ_in_who_is_who() {
    for fairness in ["weak-process", "strong-process"] {
        let less = decide_with(TURNS_CHOSEN, &[], fairness, Some(SYMMETRY));
        assert_eq!(less.verdict.name(), "violated", "{fairness}");
        // Made without looking at all states of the model.
        assert!(less.stats.reduced && less.stats.n_states <= 2, "{fairness}");
    }
}

#[test]
fn who_is_who_is_known_under_fairness() {
    // One process that moves under two names is not two, and the other way round.
    let cases = [
        (ONE_AT_TWO_PLACES, "weak-process", "holds"),
        (ONE_AT_TWO_PLACES, "strong-process", "holds"),
        (ONE_AT_TWO_PLACES, "weak", "holds"),
        (ONE_AT_TWO_PLACES, "strong", "holds"),
        (ONE_AT_TWO_PLACES, "none", "violated"),
        (TWO_AT_ONE_PLACE, "weak-process", "violated"),
        (TWO_AT_ONE_PLACE, "strong-process", "violated"),
        // `rest` is possible all the time.
        (TWO_AT_ONE_PLACE, "weak", "holds"),
        (TWO_AT_ONE_PLACE, "strong", "holds"),
    ];
    for (text, fairness, expected) in cases {
        let (verdict, full, less) = compare(text, "2", fairness, SYMMETRY);
        assert_eq!(verdict, expected, "{fairness}: {text}");
        // A run that takes turns passes through all states that there are.
        assert!(less < full || verdict == "violated", "{fairness}: {text}");
    }
}

/// Every process asks again and again for one resource, and is given it if it happens to be free.
const RESOURCE: &str = "
const N = 4
var free : bool = true
process P(i in 0..N-1) {
    init working
    from working { ask                          -> asking }
    from asking  { take when free { free := false } -> using }
    from using   { give { free := true }        -> working }
}
property served: always (P[0] @ asking -> eventually P[0] @ using)
property all_use: always (P[0] @ asking -> eventually forall i in 0..N-1: !(P[i] @ asking))
";

#[test]
fn interchangeable_processes_are_so_under_fairness_too() {
    // The first process is told apart by the property, the other three are not.
    for (fairness, expected) in [
        ("weak-process", "violated"),
        ("weak", "violated"),
        ("strong-process", "holds"),
        ("strong", "holds"),
    ] {
        let (verdict, full, less) = compare(RESOURCE, "4", fairness, SYMMETRY);
        assert_eq!(verdict, expected, "{fairness}");
        if expected == "holds" {
            // Who is asking, and whether one is using: 16 + 4 * 8, or with three counted only
            // 2 * 4 + 4 + 2 * 3.
            assert_eq!((full, less), (48, 18), "{fairness}");
        }
    }
}

const PETERSON: &str = include_str!("../../../../examples/peterson.fair");

#[test]
fn peterson_under_fairness_needs_few_states() {
    // The second property of the file is the one about access.
    let (model, access) = PETERSON.split_once("invariant").expect("an invariant");
    let (_, access) = access.split_once("property").expect("a property");
    let text = format!("{model}property {access}");
    for fairness in ["weak-process", "weak", "strong-process", "strong"] {
        let (verdict, full, less) = compare(&text, "4", fairness, SYMMETRY);
        assert_eq!((verdict.as_str(), full, less), ("holds", 9272, 1705));
    }
}

/// Some prepare themselves, which no proposition sees; others take turns.
const PREPARED: &str = "
const N = 4
var last : 0..N-1 = any
var flipped : bool = false
process W(i in 0..N-1) {
    var ready : bool = false
    prepare when !ready { ready := true }
}
process P(i in 0..N-1) {
    fair turn when last != i { last := i; flipped := !flipped }
}
property turns: always ((flipped -> eventually !flipped) && (!flipped -> eventually flipped))
";

#[test]
fn steps_can_wait_although_processes_are_interchangeable() {
    let both = Reductions {
        partial_order: true,
        ..SYMMETRY
    };
    let of = |reductions| compare(PREPARED, "4", "annotated", reductions);
    let alone = Reductions {
        partial_order: true,
        ..Reductions::NONE
    };
    let [symmetry, partial_order, both] = [SYMMETRY, alone, both].map(of);
    for less in [&symmetry, &partial_order] {
        assert_eq!((&less.0, less.1), (&both.0, both.1));
        assert!(both.2 < less.2 && less.2 < less.1, "{both:?} {less:?}");
    }
}

#[test]
fn one_process_that_differs_stays_apart() {
    // All but the first can be exchanged: 2^5 states become 2 * 5.
    let text = "
        const N = 5
        var on : bool[N] = false
        process P(i in 0..N-1) { flip when i > 0 || on[0] || !on[0] { on[i] := !on[i] } }
        invariant p: !(exists i in 1..N-1: on[i] && on[0] && !on[i])
    ";
    let outcome = decide_with(text, &[], "none", Some(SYMMETRY));
    assert_eq!(
        (outcome.verdict.name(), outcome.stats.n_states),
        ("holds", 10)
    );
}

/// The result is read once, the scratch variable only before it is overwritten.
const DEAD: &str = "
var result : 0..7 = 0
var log : 0..7 = 0
process P {
    var scratch : 0..7 = 0
    init choosing
    from choosing { pick { scratch := choose 0..7 } -> adding }
    from adding   { add { result := scratch; log := scratch } -> done }
    from done     { check when result < 8 -> choosing }
}
invariant fits: P @ adding || P @ choosing || P @ done
";

#[test]
fn values_that_are_not_read_again_are_forgotten() {
    let full = decide_with(DEAD, &[], "none", None);
    let less = decide_with(DEAD, &[], "none", Some(DEAD_VARIABLES));
    assert_eq!(
        (full.verdict.name(), less.verdict.name()),
        ("holds", "holds")
    );
    // At `choosing` nothing is live, at `adding` the scratch variable, at `done` the result.
    assert_eq!(less.stats.n_states, 1 + 8 + 8);
    assert_eq!(full.stats.n_states, 8 + 8 * 8 + 8);
    // What a property reads is never dead.
    let text = DEAD.replace("P @ adding ||", "log < 8 || P @ adding ||");
    let read = decide_with(&text, &[], "none", Some(DEAD_VARIABLES));
    assert_eq!(read.stats.n_states, 8 + 8 * 8 + 8);
}

#[test]
fn ways_of_a_step_that_are_told_apart_stay_what_they_are() {
    // Once `d` is 1, both ways of `go` lead to the same state and are one step, although `d`
    // is never read.
    let text = "
        event go
        var d : 0..1 = 0
        process P {
            first  sync go { d := 1 }
            second sync go
        }
        process Q { partner sync go }
        property apart: always !(P.first && P.second)
    ";
    for reductions in [None, Some(DEAD_VARIABLES)] {
        let outcome = decide_with(text, &[], "none", reductions);
        assert_eq!(outcome.verdict.name(), "violated");
    }
}

#[test]
fn what_may_have_been_overwritten_is_kept() {
    // Which element is overwritten is not known, so neither is dead before.
    let text = "
        var a : array[0..1] of 0..1 = 1
        var k : 0..1 = any
        process P {
            init writing
            from writing { write { a[k] := 0 }     -> reading }
            from reading { read when a[0] == 1     -> done }
            from done    {}
        }
        reachable end: P @ done
    ";
    let outcome = decide_with(text, &[], "none", Some(DEAD_VARIABLES));
    assert_eq!(outcome.verdict.name(), "holds");
    // Nor is what only one branch overwrites.
    let text = text.replace("a[k] := 0", "if k == 0 { a[0] := 0 }");
    let outcome = decide_with(&text, &[], "none", Some(DEAD_VARIABLES));
    assert_eq!(outcome.verdict.name(), "holds");
}

#[test]
fn code_that_is_never_executed_makes_no_difference() {
    let text = "
        const DEBUG = false
        var x : 0..3 = 0
        var limit : 0..3 = 2
        process P {
            init here
            from here { go when x < limit { x := x + 1 }
                        trace when DEBUG && limit > 0 { limit := 3 } -> there }
            from there { back { x := 0 } -> here }
        }
        invariant small: x <= 2
    ";
    let outcome = decide_with(text, &[], "none", None);
    assert_eq!(
        (outcome.verdict.name(), outcome.stats.n_states),
        ("holds", 3)
    );
}

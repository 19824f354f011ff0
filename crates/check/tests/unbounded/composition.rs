//! Rendezvous, events and synchronous steps. Every verdict about unbounded data is compared with
//! explicit search on a twin in which the parameter has a value and the numbers have bounds.

use check::Route;

use crate::{assert_round_trip, assert_verdict, load};

const RENDEZVOUS: &str = "
    param N >= 1
    chan meet of nat
    var sent, got, last : nat = 0
    process S {
        init making
        from making { make when sent < N { sent := sent + 1 } -> giving }
        from giving { give meet ! sent -> making }
    }
    process R { take meet ? last { got := got + 1 } }
    property order: always (got <= sent && sent <= got + 1)
    property right: always (R.take -> last == sent)
    property arrives: always (S @ giving -> eventually R.take)
    property ends: eventually sent == N
    property all_arrive: eventually got == N
    property never_two: always got < 2
    property endless: always eventually S @ giving
";

const EVENTS: &str = "
    param N >= 1
    event go
    var a, b : nat = 0
    process P {
        init resting
        from resting { work when a < N { a := a + 1 } -> ready }
        from ready { meet sync go -> resting }
    }
    process Q {
        init resting
        from resting { work { b := b + 1 } -> ready }
        from ready { meet sync go -> resting }
    }
    property together: always (a <= b + 1 && b <= a + 1)
    property meets: always (P @ ready -> eventually go)
    property ends: eventually a == N
    property ordered: always a <= b
    property endless: always eventually go
";

const SYNCHRONOUS: &str = "
    param N >= 1
    synchronous
    var up, down : nat = 0
    process Up { step when up < N { up := up + 1 } }
    process Down { step when down < up { down := down + 1 } }
    property follows: always (down <= up && up <= down + 1)
    property ends: eventually down == N
    property equal: always up == down
    property endless: always eventually Up.step
";

/// The same with a small parameter and small numbers.
fn twin(text: &str) -> String {
    text.replace("param N >= 1", "const N = 3")
        .replace("nat", "0..5")
}

fn assert_both(text: &str, expected: &[(&str, &str)]) {
    for (property, verdict) in expected {
        assert_verdict(&twin(text), property, None, Route::Explicit, verdict);
        assert_verdict(text, property, None, Route::Predicate, verdict);
    }
}

#[test]
fn rendezvous() {
    let expected = [
        ("order", "holds"),
        ("right", "holds"),
        ("arrives", "holds"),
        ("ends", "holds"),
        ("all_arrive", "holds"),
        ("never_two", "violated"),
        ("endless", "violated"),
    ];
    assert_both(RENDEZVOUS, &expected);
    let lost = RENDEZVOUS.replace("{ got := got + 1 }", "{ if got < 1 { got := got + 1 } }");
    assert_both(&lost, &[("order", "violated")]);
}

#[test]
fn events() {
    let expected = [
        ("together", "holds"),
        ("meets", "holds"),
        ("ends", "holds"),
        ("ordered", "violated"),
        ("endless", "violated"),
    ];
    assert_both(EVENTS, &expected);
    let alone = EVENTS.replace(
        "ready { meet sync go -> resting }\n    }\n    property",
        "ready { meet -> resting }\n    }\n    property",
    );
    assert_ne!(alone, EVENTS);
    // The twin would count beyond its bounds.
    assert_verdict(&alone, "together", None, Route::Predicate, "violated");
}

#[test]
fn synchronous_steps() {
    let expected = [
        ("follows", "holds"),
        ("ends", "holds"),
        ("equal", "violated"),
        ("endless", "violated"),
    ];
    assert_both(SYNCHRONOUS, &expected);
    let slow = SYNCHRONOUS.replace("when down < up", "when down + 1 < up");
    assert_both(&slow, &[("follows", "violated"), ("ends", "violated")]);
}

/// Joint steps are printed as events, and the printed model has the states of the abstraction.
#[test]
fn joint_steps_are_printed() {
    for text in [RENDEZVOUS, EVENTS, SYNCHRONOUS] {
        assert_round_trip(text, load(text).properties[0].name.as_str());
    }
    let family = "
        chan meet[0] for i in 0..1 of nat
        var got : nat = 0
        process S(i in 0..1) { give meet[i] ! 1 + i }
        process R(j in 0..1) { var last : nat = 0
            take(k in 0..1) when got < 5 meet[k] ? last { got := got + 1 } }
        property few: always got <= 5
    ";
    assert_round_trip(family, "few");
}

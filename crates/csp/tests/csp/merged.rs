//! Events that are not told apart decide nothing.

use crate::support::{outcomes, right, verdicts, verdicts_under};

/// A counter whose values have no declared range.
fn counting(rest: &str) -> String {
    format!(
        "var x = 0; var y = 0;
         P = up{{x = x + 1; y = x * 100;}} -> told.y -> [x < 3] P;
         {rest}"
    )
}

/// The text of a model that once had a wrong verdict.
fn defect(name: &str) -> String {
    let path = format!(
        "{}/../../testdata/defects/{name}",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).expect("the file exists")
}

#[test]
fn a_refinement_that_holds_is_not_refuted() {
    let loaded = right(&defect("open_event.csp"));
    let list = outcomes(&loaded, None);
    let [refinement, ltl] = &list[..] else {
        panic!("two questions");
    };
    let evidence::Verdict::Unknown(evidence::UnknownReason::Unsupported(why)) = &refinement.verdict
    else {
        panic!("{:?}", refinement.verdict);
    };
    assert!(why.contains("`told` (line 6)"), "{why}");
    // The value that the formula mentions is told apart from the others.
    assert_eq!(ltl.verdict.name(), "holds");
}

#[test]
fn remainders_are_not_negative() {
    assert_eq!(verdicts(&defect("mod.csp")), "N");
    let text = "
        var x = 0; var y = 0;
        P = a{x = (x - 1) % 3; y = (0 - 7) % 4;} -> Q((0 - 1) % 5);
        Q(i) = b.i -> Stop;
        #assert P |= [](a -> two);
        #assert P |= [](a -> one);
        #assert P |= <> b.4;
        #define two x == 2;
        #define one y == 1;
    ";
    assert_eq!(verdicts(text), "YYY");
}

#[test]
fn what_compares_names_is_not_decided() {
    let text = counting(
        "Q = up -> (told.100 -> Stop [] told.200 -> Stop);
         #assert P deterministic;
         #assert P refines Q;
         #assert Q refines P;
         #assert P refines<F> Q;
         #assert P refines<FD> Q;
         #assert Q deterministic;",
    );
    assert_eq!(verdicts(&text), "?????Y");
}

#[test]
fn what_does_not_look_at_names_is_decided() {
    let text = counting(
        "#define three x == 3;
         #assert P reaches three;
         #assert P deadlockfree;
         #assert P divergencefree;
         #assert P |= <> told.300;
         #assert P |= [] ! told.200;
         #assert P |= <> three;",
    );
    assert_eq!(verdicts(&text), "YNYYNY");
}

#[test]
fn formulas_about_the_rest_are_not_decided() {
    let text = counting(
        "#define most 200 + 50 * 2;
         #assert P |= [] ! \"told._\";
         #assert P |= [] ! told.most;
         #assert P |= <> up;",
    );
    let found = verdicts(&text);
    assert!(found.starts_with('?') && found.ends_with('Y'), "{found}");
    assert_ne!(&found[1..2], "Y", "told.300 happens");
}

#[test]
fn hidden_events_decide_nothing() {
    let text = counting(
        "H = P \\ {told.200};
         #assert H divergencefree;
         #assert H deadlockfree;
         #assert P deadlockfree;",
    );
    assert_eq!(verdicts(&text), "??N");
}

#[test]
fn synchronised_events_decide_nothing() {
    let text = counting(
        "W = told.200 -> W;
         #alphabet P {told.200};
         #alphabet W {told.200};
         S = P || W;
         #assert S deadlockfree;",
    );
    assert_eq!(verdicts(&text), "?");
}

#[test]
fn fairness_of_actions_decides_nothing() {
    let text = "
        var x = 0; var y = 0;
        P = up{x = (x + 1) % 3; y = x * 100;} -> (told.y -> P [] idle -> P);
        #define one x == 1;
        #assert P |= []<> one;
        #assert P reaches one;
    ";
    for (fairness, expected) in [
        ("none", "YY"),
        ("weak-process", "YY"),
        ("strong-global", "YY"),
        ("weak", "?Y"),
        ("strong", "?Y"),
    ] {
        assert_eq!(verdicts_under(text, Some(fairness)), expected, "{fairness}");
    }
    let annotated = text.replace("told.y", "wf(told.y)");
    assert_eq!(verdicts(&annotated), "??");
}

#[test]
fn messages_that_are_not_told_apart_decide_no_comparison() {
    let text = "
        var x = 0;
        channel c 1;
        P = c!x -> up{x = x + 1;} -> c?y -> [x < 3] P;
        #assert P deterministic;
        #assert P deadlockfree;
    ";
    assert_eq!(verdicts(text), "?N");
}

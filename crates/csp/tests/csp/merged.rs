//! Events carry the values that they have at run time; those that carry too many different ones to
//! be told apart decide nothing.

use evidence::Verdict;

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
fn a_refinement_that_holds_is_shown() {
    assert_eq!(verdicts(&defect("open_event.csp")), "YY");
    // One more than the specification allows is noticed.
    let wrong = defect("open_event.csp").replacen("seen[i] = level;}", "seen[i] = level + 1;}", 1);
    assert_eq!(verdicts(&wrong), "NY");
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
    // Unless the divisor is: then PAT adds it all the same.
    let text = "
        var x = 0; var y = 0; var z = 0; var d = 3;
        P = a{d = 0 - d; x = (0 - 7) % d; y = 7 % d; z = (0 - 7) % (0 - 3);} -> Stop;
        #assert P |= [](a -> right);
        #define right x == 0 - 4 && y == 1 && z == 0 - 4;
    ";
    assert_eq!(verdicts(text), "Y");
}

/// The largest values are ordinary ones; what goes beyond them is not stored (PAT wraps around).
#[test]
fn values_beyond_32_bits_are_errors() {
    let counting = |start: &str, step: &str| {
        let text = format!(
            "var x = {start};
             P = a{{x = {step};}} -> Stop;
             #define done x == 2147483647 || x == 0 - 2147483648;
             #assert P reaches done;"
        );
        let mut found = outcomes(&right(&text), None);
        match found.remove(0).verdict {
            Verdict::Violated(violation) => format!("{:?}", violation.kind),
            other => other.name().to_owned(),
        }
    };
    assert_eq!(counting("2147483646", "x + 1"), "holds");
    assert_eq!(counting("0 - 2147483647", "x - 1"), "holds");
    // Inside an expression nothing is lost.
    assert_eq!(counting("2147483646", "(x * 2) / 2 + 1"), "holds");
    for (start, step) in [
        ("2147483646", "x + 2"),
        ("0 - 2147483647", "x - 2"),
        ("1073741824", "x * 2"),
        ("0 - 65536", "x * 65537"),
    ] {
        let found = counting(start, step);
        assert!(found.contains("Error"), "{start}, {step}: {found}");
    }
}

#[test]
fn names_are_compared_with_their_values() {
    let text = counting(
        "Q = up -> (told.100 -> Stop [] told.200 -> Stop);
         #assert P deterministic;
         #assert P refines Q;
         #assert Q refines P;
         #assert P refines<F> Q;
         #assert P refines<FD> Q;
         #assert Q deterministic;",
    );
    assert_eq!(verdicts(&text), "YNNNNY");
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
fn formulas_mean_single_values() {
    let text = counting(
        "#define most 200 + 50 * 2;
         #assert P |= [] ! told.150;
         #assert P |= [] ! told.most;
         #assert P |= <> up;",
    );
    assert_eq!(verdicts(&text), "YNY");
}

#[test]
fn single_values_are_hidden() {
    let text = counting(
        "H = P \\ {told.200};
         #assert H divergencefree;
         #assert H deadlockfree;
         #assert P deadlockfree;",
    );
    assert_eq!(verdicts(&text), "YNN");
}

#[test]
fn single_values_are_synchronised() {
    let text = counting(
        "W = told.200 -> W;
         #alphabet P {told.200};
         #alphabet W {told.200};
         S = P || W;
         #assert S deadlockfree;",
    );
    assert_eq!(verdicts(&text), "N");
    // Without a partner for 300 the last event does not happen.
    let blocked = text
        .replace("told.200", "told.300")
        .replace("S = P", "#define stuck x == 3;\nS = P");
    let blocked = blocked.replace("W = told.300 -> W", "W = Stop");
    let blocked = blocked.replace("S deadlockfree", "S |= [] ! told.300");
    assert_eq!(verdicts(&blocked), "Y");
}

#[test]
fn actions_are_single_values() {
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
        ("weak", "YY"),
        ("strong", "YY"),
    ] {
        assert_eq!(verdicts_under(text, Some(fairness)), expected, "{fairness}");
    }
    let annotated = text.replace("told.y", "wf(told.y)");
    assert_eq!(verdicts(&annotated), "YY");
}

#[test]
fn messages_carry_their_values() {
    let text = "
        var x = 0;
        channel c 1;
        P = c!x -> up{x = x + 1;} -> c?y -> [x < 3] P;
        #assert P deterministic;
        #assert P deadlockfree;
    ";
    assert_eq!(verdicts(text), "YN");
}

/// A counter that goes on to a bound; too many values are not told apart.
fn counting_to(bound: usize, rest: &str) -> String {
    format!("var x = 0; P = up{{x = x + 1;}} -> told.x -> [x < {bound}] P; {rest}")
}

#[test]
fn very_many_values_decide_nothing() {
    let rest = "
        Q = P \\ {told.7};
        #assert P deterministic;
        #assert P deadlockfree;
        #assert P refines P;
        #assert Q divergencefree;";
    assert_eq!(verdicts(&counting_to(300, rest)), "YNYY");
    assert_eq!(verdicts(&counting_to(900, rest)), "?N??");
}

#[test]
fn a_value_that_is_found_late_is_not_missed() {
    // The values of `said` come to light only behind the ones of `told`.
    let text = "
        var x = 0; var y = 0; var k = 0;
        P = up{x = x + 1; y = x * 1000;} -> told.y -> ifa (x < 5) { P } else { Q };
        Q = again{k = k + y * y;} -> said.k -> Stop;
        T = told.1000 -> T [] told.2000 -> T [] told.3000 -> T [] told.4000 -> T [] told.5000 -> T;
        #alphabet P {told.1000, told.2000, told.3000, told.4000, told.5000};
        #alphabet T {told.1000, told.2000, told.3000, told.4000, told.5000};
        S = P || T;
        #assert S |= <> said.25000000;
        #assert S |= [] ! said.16000000;
        #assert P deterministic;";
    assert_eq!(verdicts(text), "YYY");
}

//! What verdicts about abstract timers are worth: zero time, concrete and spurious violations.

use base::{Fairness, NoProgress, Source};
use check::{Outcome, Plan, TimerFairness, check};
use evidence::{UnknownReason, Verdict, ViolationKind};

fn outcomes(text: &str, plan: &Plan) -> Vec<Outcome> {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let properties = loaded.properties.iter();
    properties
        .map(|property| {
            let outcome = check(&model, property, plan, &mut NoProgress);
            outcome.unwrap_or_else(|bug| panic!("{bug}"))
        })
        .collect()
}

fn only(text: &str, plan: &Plan) -> Outcome {
    let mut all = outcomes(text, plan);
    assert_eq!(all.len(), 1);
    all.remove(0)
}

fn with(timer_fairness: TimerFairness) -> Plan {
    Plan {
        timer_fairness,
        ..Plan::default()
    }
}

const WAYS: [TimerFairness; 3] = [
    TimerFairness::BuiltIn,
    TimerFairness::WeakFormula,
    TimerFairness::StrongFormula,
];

/// Waits for a timer again and again.
const WAITER: &str = "
    process P {
        timer t abstract from 2
        init a
        from a { start { set t := any } -> b }
        from b { stop when expired(t) { set t := off } -> a }
    }
    property again: always eventually P @ a
";

#[test]
fn a_timer_expires_in_all_three_ways() {
    for way in WAYS {
        let outcome = only(WAITER, &with(way));
        assert_eq!(outcome.verdict.name(), "holds", "{way:?}");
    }
}

#[test]
fn without_fairness_the_timer_that_never_expires_is_named() {
    let outcome = only(WAITER, &with(TimerFairness::None));
    assert_eq!(outcome.verdict.name(), "violated");
    assert!(
        outcome.remarks[0].starts_with("spurious") && outcome.remarks[0].contains("(P.t)"),
        "{:?}",
        outcome.remarks
    );
}

#[test]
fn a_timer_that_is_set_again_and_again_need_not_expire() {
    // The step `again` takes a tick each, and sets the timer before it can expire.
    let text = "
        process P {
            timer t abstract from 2
            timer u
            init a
            from a { start { set t := any; set u := 1 } -> b }
            from b { again when expired(u) { set t := any; set u := 1 }
                     stop  when expired(t) -> a }
        }
        property again: always eventually P @ a
    ";
    for way in WAYS {
        let outcome = only(text, &with(way));
        assert_eq!(outcome.verdict.name(), "violated", "{way:?}");
        let wanted = "concrete: the property fails with P.t = 2";
        assert_eq!(outcome.remarks, [wanted], "{way:?}");
    }
}

/// Time stops where `P` spins, and every setting has that run.
const SPINNER: &str = "
    timer t abstract from 2
    process P { init a from a { spin { skip }  begin { set t := any } -> b } from b { } }
    property done: eventually expired(t)
    property either: (always eventually P @ a) || (eventually always P @ b)
    property stays: always (P @ b -> always P @ b)
    invariant fine: true
    invariant never: !P @ b
    reachable end: P @ b && expired(t)
    property some: E(F(expired(t)))
    property all: A(F(expired(t)))
    property tautology: A((F(P @ b)) || (G(!P @ b)))
    deadlockfree
";

#[test]
fn a_run_without_time_is_no_violation_of_what_it_satisfies() {
    let found = outcomes(SPINNER, &Plan::default());
    let verdicts: Vec<&str> = found.iter().map(|o| o.verdict.name()).collect();
    let expected = [
        // The spinning run itself violates it, with every setting.
        "violated", "holds", "holds", "holds", "violated", "holds",
        // That the timer expires in some run needs a tick from "2 or more"; the settings decide it.
        "holds", "violated", "holds", "holds",
    ];
    assert_eq!(verdicts, expected);
    let remarks = &found[0].remarks;
    assert!(
        remarks.iter().any(|r| r.starts_with("concrete")),
        "{remarks:?}"
    );
    assert!(
        remarks.iter().any(|r| r.contains("time stops")),
        "{remarks:?}"
    );
    assert!(found[2].remarks.iter().any(|r| r.contains("time stops")));
}

#[test]
fn a_tautology_holds_where_time_can_stand_still() {
    let text = include_str!("../../../../testdata/defects/zt.fair");
    for way in [WAYS.as_slice(), &[TimerFairness::None]].concat() {
        let outcome = only(text, &with(way));
        assert_eq!(outcome.verdict.name(), "holds", "{way:?}");
    }
}

/// Time stops only with the setting 99, which is not tried, and only there the property fails.
const FAR: &str = "
    timer t abstract from 2
    timer far
    process P {
        init a
        from a { start { set t := any; set far := 99 } -> b }
        from b { hit when expired(t) && expired(far) { set t := any } -> c
                 low when expired(t) && !expired(far) -> d
                 high when expired(far) && !expired(t) -> d }
        from c { spin { skip } }
        from d { }
    }
    property ends: eventually (P @ d || expired(t) && P @ c)
    property branch: A(F(P @ d || expired(t) && P @ c))
";

#[test]
fn a_run_without_time_is_shown_where_it_stands_in_the_way() {
    for outcome in outcomes(FAR, &Plan::default()) {
        match &outcome.verdict {
            Verdict::Unknown(UnknownReason::ZeroTime(run)) => {
                assert_eq!(run.kind, ViolationKind::ZeroTime);
                assert!(run.trace.as_ref().is_some_and(|t| t.loop_start.is_some()));
            }
            other => panic!("{other:?}"),
        }
        assert!(outcome.remarks.iter().any(|r| r.contains("time stops")));
    }
}

#[test]
fn the_run_without_time_is_confirmed_by_the_judge() {
    let source = Source {
        name: "m.fair".into(),
        text: FAR.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("it loads");
    let property = &loaded.properties[0];
    let outcome = check(&model, property, &Plan::default(), &mut NoProgress).expect("no bug");
    let Verdict::Unknown(UnknownReason::ZeroTime(run)) = outcome.verdict else {
        panic!("{:?}", outcome.verdict);
    };
    let fairness = Fairness::default();
    let judged = evidence::validate(&model, &property.property, fairness, &[], &run);
    assert_eq!(judged, Ok(()));
}

#[test]
fn settings_that_fail_are_searched_and_named() {
    // Only the setting 4 is wrong; "2 or more" contains it.
    let text = "
        timer t abstract from 2
        timer four
        process P {
            init a
            from a { start { set t := any; set four := 4 } -> b }
            from b { hit when expired(t) && expired(four) -> c
                     low when expired(t) && !expired(four) -> d
                     high when expired(four) && !expired(t) -> d }
            from c { }
            from d { }
        }
        property never: always !P @ c
        reachable hit: P @ c
        reachable both: P @ c && expired(t) && four == 3
    ";
    let found = outcomes(text, &Plan::default());
    assert_eq!(found[0].verdict.name(), "violated");
    assert_eq!(
        found[0].remarks,
        ["concrete: the property fails with t = 4"]
    );
    assert_eq!(found[1].verdict.name(), "holds");
    assert_eq!(found[1].remarks, ["concrete: the same holds with t = 4"]);
    assert_eq!(found[2].verdict.name(), "violated");
}

#[test]
fn settings_of_the_model_may_be_stretched() {
    // The model sets 2; the threshold makes that stand for every setting from 2 on, and 4 is wrong.
    let text = "
        timer t abstract from 2
        timer four
        process P {
            init a
            from a { start { set t := 2; set four := 4 } -> b }
            from b { hit when expired(t) && expired(four) -> c
                     low when expired(t) && !expired(four) -> d }
            from c { }
            from d { }
        }
        property never: always !P @ c
    ";
    let outcome = only(text, &Plan::default());
    assert_eq!(outcome.verdict.name(), "violated");
    assert_eq!(outcome.remarks, ["concrete: the property fails with t = 4"]);
}

#[test]
fn what_no_setting_shows_stays_open() {
    let text = "
        timer t abstract from 2
        timer far
        process P {
            init a
            from a { start { set t := any; set far := 99 } -> b }
            from b { hit when expired(t) && expired(far) -> c
                     low when expired(t) && !expired(far) -> d
                     high when expired(far) && !expired(t) -> d }
            from c { }
            from d { }
        }
        property never: always !P @ c
    ";
    // The setting 99 would do, but is beyond those that are tried.
    let outcome = only(text, &Plan::default());
    assert_eq!(outcome.verdict.name(), "unknown");
    assert!(
        outcome.remarks[0].starts_with("not decided") && outcome.remarks[0].contains("t in 2..18"),
        "{:?}",
        outcome.remarks
    );
}

#[test]
fn what_does_not_transfer_is_refused() {
    let strong_global = Plan {
        fairness: Fairness::parse("strong-global"),
        ..Plan::default()
    };
    assert_eq!(only(WAITER, &strong_global).verdict.name(), "unknown");
}

#[test]
fn path_quantifiers_have_three_values() {
    let text = "
        process P {
            timer t abstract from 2
            timer u
            init a
            from a { start { set t := any } -> b
                     nap   { set u := 1 }   -> c }
            from b { stop when expired(t) { set t := off } -> a }
            from c { wake when expired(u) { set u := off } -> a }
        }
        property naps:    E(G(!P @ b))
        property awakes:  A(G(P @ c -> E(F(P @ a && E(G(!P @ b))))))
        property surely:  A(G(A(F(P @ a))))
        property stays:   E(G(P @ a))
        property returns: A(G(E(F(P @ a))))
    ";
    let verdicts = |text: &str| -> Vec<&str> {
        let found = outcomes(text, &Plan::default());
        found.iter().map(|o| o.verdict.name()).collect()
    };
    // That the process can return needs a tick from "2 or more", which not every setting has, so
    // settings are tried, until nothing happens while the timer runs.
    assert_eq!(
        verdicts(text),
        ["holds", "holds", "holds", "violated", "holds"]
    );
    for setting in 2..6 {
        let concrete = text
            .replace("t abstract from 2", "t")
            .replace("set t := any", &format!("set t := {setting}"));
        assert_eq!(
            verdicts(&concrete),
            ["holds", "holds", "holds", "violated", "holds"]
        );
    }
}

#[test]
fn settings_decide_what_the_abstract_model_leaves_open() {
    let text = "
        process P {
            timer t abstract from 2
            init a
            from a { start { set t := any } -> b }
            from b { stop when expired(t) -> c }
            from c { idle -> c  go -> d }
            from d { }
        }
        property ends under weak: (A(F(P @ d))) && (E(F(P @ c)))
        property stays: A(F(P @ d))
        property next: E(P @ a && X(P @ b && X(P @ b && X(P @ b && X(P @ c)))))
    ";
    let found = outcomes(text, &Plan::default());
    let verdicts: Vec<&str> = found.iter().map(|o| o.verdict.name()).collect();
    // The last is so for one setting only.
    assert_eq!(verdicts, ["holds", "violated", "unknown"]);
    let decided = "decided setting by setting, each timer being set to one number: P.t = 2; \
                   a longer wait is only longer: nothing happens meanwhile";
    assert_eq!(found[0].remarks, [decided]);
    let wanted = "it depends on the setting: true with P.t = 2, false with P.t = 3";
    assert!(
        found[2].remarks.iter().any(|r| r == wanted),
        "{:?}",
        found[2].remarks
    );
}

#[test]
fn settings_are_not_alike_while_another_timer_runs() {
    // The place is reached with the setting 99 only, which is not tried.
    // (Where a timer is set at several places, no settings are compared.)
    let far = FAR.replace("{ set t := any } -> c", "-> c");
    let text = format!("{far} property hits: E(F(P @ c))");
    let found = outcomes(&text, &Plan::default());
    let hits = found.last().expect("it was asked");
    assert_eq!(hits.verdict.name(), "unknown", "{:?}", hits.remarks);
}

#[test]
fn contracted_propositions_are_true_of_all_settings() {
    let text = "
        process P {
            timer t abstract from 3
            init a
            from a { start { set t := any } -> b }
            from b { stop when expired(t) { set t := off } -> a }
        }
        property small: always (P @ b -> P.t >= 0)
        property exact: always !(P.t == 5)
        property large: eventually P.t > 4
    ";
    let found = outcomes(text, &Plan::default());
    let verdicts: Vec<&str> = found.iter().map(|o| o.verdict.name()).collect();
    // That 5 never occurs is not certain, and with the setting 5 it is wrong; that some setting
    // exceeds 4 is not so for all.
    assert_eq!(verdicts, ["holds", "violated", "violated"]);
    assert!(found[1].remarks[0].ends_with("P.t = 5"));
    assert!(found[2].remarks[0].ends_with("P.t = 3"));
}

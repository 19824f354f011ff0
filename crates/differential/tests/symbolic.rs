//! The symbolic route agrees with the explicit one on random models: verdicts and numbers of states.

use base::{Budget, NoProgress, Span, StopReason};
use check::{Outcome, Plan, Route};
use differential::{Answer, Case, random_case};
use evidence::{UnknownReason, Verdict};
use logic::{Ltl, NamedProperty, Property};
use testkit::cases;

const MAX_STATES: u64 = 20_000;

fn ask(case: &Case, property: &NamedProperty, route: Route) -> Outcome {
    let plan = Plan {
        fairness: Some(case.fairness),
        budget: Budget::unlimited().with_max_states(MAX_STATES),
        all_states: true,
        route: Some(route),
        ..Plan::default()
    };
    check::check(&case.model, property, &plan, &mut NoProgress)
        .unwrap_or_else(|bug| panic!("{}: {route:?}: {bug}", case.name))
}

/// What was compared.
#[derive(Default, Debug)]
struct Counts {
    verdicts: u32,
    violated: u32,
    failed: u32,
    undecided: u32,
    unsupported: u32,
    states: u32,
}

fn compare(case: &Case, counts: &mut Counts) {
    let explicit = ask(case, &case.property, Route::Explicit);
    let symbolic = ask(case, &case.property, Route::Symbolic);
    if let Verdict::Unknown(UnknownReason::Unsupported(_)) = &symbolic.verdict {
        counts.unsupported += 1;
        return;
    }
    let (left, right) = (Answer::of(&explicit.verdict), Answer::of(&symbolic.verdict));
    // A witness or a violation may be met before or after a run-time error.
    let ends_early = match &case.property.property {
        Property::Reachable(_) => Answer::Holds,
        _ => Answer::Violated,
    };
    match (&left, &right) {
        (Answer::Unknown, _) | (_, Answer::Unknown) => counts.undecided += 1,
        (a, b) if a == b => counts.verdicts += 1,
        (Answer::Failed, other) | (other, Answer::Failed) if *other == ends_early => {
            counts.verdicts += 1;
        }
        _ => panic!(
            "{} under {}, {:?}: explicit {left:?}, symbolic {right:?}",
            case.name,
            case.fairness.name(),
            case.property.property
        ),
    }
    counts.violated += u32::from(right == Answer::Violated);
    counts.failed += u32::from(right == Answer::Failed);
}

fn compare_states(case: &Case, counts: &mut Counts) {
    let everything = NamedProperty {
        name: "everything".to_owned(),
        text: String::new(),
        property: Property::Reachable(Ltl::not(Ltl::constant(true))),
        fairness: None,
        span: Span::nowhere(),
    };
    let explicit = ask(case, &everything, Route::Explicit);
    let symbolic = ask(case, &everything, Route::Symbolic);
    let (left, right) = (Answer::of(&explicit.verdict), Answer::of(&symbolic.verdict));
    if left == Answer::Unknown || right == Answer::Unknown {
        return;
    }
    assert_eq!(left, right, "{}", case.name);
    if left == Answer::Violated {
        assert_eq!(
            explicit.stats.n_states, symbolic.stats.n_states,
            "states of {}",
            case.name
        );
        counts.states += 1;
    }
}

#[test]
fn random_models() {
    let mut counts = Counts::default();
    let n_cases = cases(3_000);
    for seed in 0..u64::from(n_cases) {
        let case = random_case(1_000_000 + seed);
        compare(&case, &mut counts);
        compare_states(&case, &mut counts);
    }
    println!("{counts:?}");
    assert!(counts.verdicts * 10 > n_cases * 6, "{counts:?}");
    assert!(counts.states * 10 > n_cases * 6, "{counts:?}");
    assert!(counts.violated * 10 > n_cases, "{counts:?}");
}

#[test]
fn limits_end_in_unknown() {
    let stopped = |budget: Budget| {
        let case = random_case(1);
        let plan = Plan {
            budget,
            route: Some(Route::Symbolic),
            ..Plan::default()
        };
        let outcome = check::check(&case.model, &case.property, &plan, &mut NoProgress);
        outcome.expect("there is no evidence").verdict
    };
    let reason = |reason| Verdict::Unknown(UnknownReason::Stopped(reason));

    let little = Budget::unlimited().with_max_memory(1);
    assert_eq!(stopped(little), reason(StopReason::MemoryLimit));
    let interrupted = Budget::unlimited();
    interrupted.stopper().interrupt();
    assert_eq!(stopped(interrupted), reason(StopReason::Interrupted));
    let late = Budget::unlimited();
    late.stopper().time_out();
    assert_eq!(stopped(late), reason(StopReason::Timeout));
}

#[test]
fn a_race_has_the_same_winner_whoever_is_first() {
    let mut n_decided = 0;
    for seed in 0..u64::from(cases(60)) {
        let case = random_case(2_000_000 + seed);
        let explicit = ask(&case, &case.property, Route::Explicit);
        let race = ask(&case, &case.property, Route::Race);
        let (left, right) = (Answer::of(&explicit.verdict), Answer::of(&race.verdict));
        if left == Answer::Unknown {
            continue;
        }
        // Which error or violation is met first depends on who is faster.
        let is_bad = |answer: &Answer| matches!(answer, Answer::Failed | Answer::Violated);
        let is_same = left == right || is_bad(&left) && is_bad(&right);
        let reachable = matches!(case.property.property, Property::Reachable(_));
        assert!(is_same || reachable, "{}: {left:?}, {right:?}", case.name);
        assert!(matches!(race.route, Route::Explicit | Route::Symbolic));
        n_decided += 1;
    }
    assert!(n_decided > 20, "{n_decided}");
}

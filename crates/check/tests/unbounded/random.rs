//! Random programs over small numbers whose variables the route must abstract all the same: what it
//! decides agrees with explicit search. Arrays, channels, events, synchronous steps and choices
//! take part. Programs whose numbers grow forever are compared with their long simulation.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use base::{Fairness, NoProgress};
use check::Route;
use evidence::{UnknownReason, Verdict};
use model::{Model, State};
use testkit::Random;
use testkit::programs::{
    ARRAYS, CHANNELS, EVENTS, NUMBERS, ProgramFamily, SYNCHRONOUS, growing_program,
};

use crate::{load, plan};

/// Compares the verdicts about so many programs of a family, times `FAIR_CASES`.
fn assert_agreement(family: &ProgramFamily, seed: u64, n_programs: u32, max_refinements: usize) {
    let mut random = Random::new(seed);
    let texts = (0..testkit::cases(n_programs)).map(|_| family.with_properties(&mut random));
    let same = texts.map(|text| (text.clone(), text));
    assert_same_answers(
        same,
        &["none", "weak", "strong", "weak-process"],
        max_refinements,
    );
}

/// Compares explicit search of the first of two texts, which mean the same, with predicates for the
/// second.
fn assert_same_answers(
    pairs: impl Iterator<Item = (String, String)>,
    kinds: &[&str],
    max_refinements: usize,
) {
    let (mut n_decided, mut n_asked) = (0, 0);
    for (round, (text, abstracted_text)) in pairs.enumerate() {
        let loaded = load(&text);
        let model = loaded.model.expect("loaded");
        let same = load(&abstracted_text);
        let same_model = same.model.expect("loaded");
        let kind = kinds[round % kinds.len()];
        for (property, same_property) in loaded.properties.iter().zip(&same.properties) {
            let mut explicit = plan(Route::Explicit);
            explicit.fairness = Fairness::parse(kind);
            let mut abstracted = plan(Route::Predicate);
            abstracted.fairness = Fairness::parse(kind);
            abstracted.predicate.max_kept_values = 2;
            abstracted.predicate.max_refinements = max_refinements;
            let truth = check::check(&model, property, &explicit, &mut NoProgress);
            let answer = check::check(&same_model, same_property, &abstracted, &mut NoProgress);
            let (truth, answer) = (truth.expect("right"), answer.expect("right"));
            n_asked += 1;
            if !matches!(answer.verdict, Verdict::Unknown(_)) {
                n_decided += 1;
                let (found, expected) = (answer.verdict.name(), truth.verdict.name());
                let about = format!("{} under {kind}\n{abstracted_text}", property.name);
                assert_eq!(found, expected, "{about}");
            }
        }
    }

    assert!(n_decided * 3 > n_asked, "{n_decided} of {n_asked} decided");
}

/// Every choice is among all integers, of which the same few are taken.
fn with_endless_choices(text: &str) -> String {
    let named = text.replace(
        "choose v in 0..3 where",
        "choose v in int where v <= 3 && 0 <= v &&",
    );
    named.replace("choose 0..3", "choose v in nat where v < 4")
}

/// The same for endless choices, in those of so many programs that choose at all.
fn assert_agreement_of_choices(family: &ProgramFamily, seed: u64, n_programs: u32) {
    let mut random = Random::new(seed);
    let texts = (0..testkit::cases(n_programs)).map(|_| family.with_properties(&mut random));
    let pairs = texts.map(|text| (text.clone(), with_endless_choices(&text)));
    let chosen = pairs.filter(|(text, endless)| text != endless);
    let kinds = ["none", "weak", "strong", "weak-process", "strong-global"];
    assert_same_answers(chosen, &kinds, 3);
}

#[test]
fn choices_of_numbers_among_all_integers() {
    assert_agreement_of_choices(&NUMBERS, 21, 3);
}

#[test]
fn choices_of_elements_among_all_integers() {
    assert_agreement_of_choices(&ARRAYS, 22, 2);
}

#[test]
fn choices_between_messages_among_all_integers() {
    assert_agreement_of_choices(&CHANNELS, 23, 1);
}

#[test]
fn numbers() {
    assert_agreement(&NUMBERS, 1, 16, 12);
}

#[test]
fn arrays() {
    assert_agreement(&ARRAYS, 2, 4, 3);
}

#[test]
fn channels() {
    assert_agreement(&CHANNELS, 3, 6, 3);
}

#[test]
fn events() {
    assert_agreement(&EVENTS, 4, 24, 3);
}

#[test]
fn synchronous() {
    assert_agreement(&SYNCHRONOUS, 5, 6, 3);
}

/// The only run of a program, so many states long.
fn simulation(model: &Model, n_states: usize) -> Vec<State> {
    let mut states = model.initial_states().expect("no errors");
    assert_eq!(states.len(), 1);
    while states.len() < n_states {
        let last = &states[states.len() - 1];
        let mut steps = model.successors(last).expect("no errors");
        assert_eq!(steps.len(), 1, "the program has one run");
        states.push(steps.swap_remove(0).target);
    }
    states
}

/// How long the runs are, and how much of their end is looked at. The numbers of these programs
/// change by at most two in a step, and what they count up to grows by at most one each time, so
/// what happens again and again happens in every stretch of this length.
const N_STATES: usize = 3000;
const N_LAST: usize = 1000;

/// How long the solver may think about one question here.
const PATIENCE: Duration = Duration::from_millis(500);

/// How long a check may take here. Some programs are refined for long, and nothing is expected of
/// them but that no wrong answer is given.
const LONGEST: Duration = Duration::from_secs(1);

/// Checks a property on the predicate route, and stops the check after a while.
fn check_for_a_while(model: &Model, property: &logic::NamedProperty) -> Verdict {
    let mut abstracted = plan(Route::Predicate);
    abstracted.predicate.max_refinements = 3;
    abstracted.predicate.solver = Arc::new(|| Box::new(smt::Embedded::new(PATIENCE)));
    let stopper = abstracted.budget.stopper();
    let (done, is_done) = mpsc::channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(move || {
            if is_done.recv_timeout(LONGEST) == Err(mpsc::RecvTimeoutError::Timeout) {
                stopper.time_out();
            }
        });
        let answer = check::check(model, property, &abstracted, &mut NoProgress);
        drop(done);
        answer.expect("evidence is right").verdict
    })
}

/// Is the answer missing because the time was over, of the check or of a question to the solver?
fn is_for_time(reason: &UnknownReason) -> bool {
    match reason {
        UnknownReason::Stopped(_) | UnknownReason::SolverGaveUp => true,
        UnknownReason::AbstractionTooCoarse
        | UnknownReason::Unsupported(_)
        | UnknownReason::Exhausted
        | UnknownReason::NotExact
        | UnknownReason::ZeroTime(_)
        | UnknownReason::SolversDisagree(_) => false,
    }
}

#[test]
fn programs_that_grow_for_ever_are_judged_as_their_simulation_shows() {
    let mut random = Random::new(11);
    let (mut n_decided, mut n_asked, mut n_endless, mut n_cut) = (0, 0, 0, 0);
    let n_programs = testkit::cases(8) as usize;
    for _ in 0..n_programs {
        let (text, goals) = growing_program(&mut random);
        let loaded = load(&text);
        let model = loaded.model.expect("loaded");
        let states = simulation(&model, N_STATES);
        let last = &states[N_STATES - N_LAST..];
        for (number, _) in goals.iter().enumerate() {
            for (name, is_settled) in [("recurs", false), ("settles", true)] {
                let name = format!("{name}{number}");
                let property = loaded.properties.iter().find(|p| p.name == name);
                let property = property.expect("it is there");
                let atoms = match &property.property {
                    logic::Property::Ltl(formula) => formula.atoms(),
                    other => panic!("{other:?}"),
                };
                let holds = |state: &State| {
                    let atom = |atom: &base::AtomId| model.atom_holds(*atom, state, &[]);
                    atoms.iter().all(|a| atom(a).expect("no errors"))
                };
                let expected = if is_settled {
                    last.iter().all(holds)
                } else {
                    last.iter().any(holds)
                };
                n_asked += 1;
                match check_for_a_while(&model, property) {
                    Verdict::Holds { .. } => assert!(expected, "{name} holds of\n{text}"),
                    Verdict::Violated(violation) => {
                        assert!(!expected, "{name} is violated by\n{text}");
                        let is_endless =
                            matches!(violation.kind, evidence::ViolationKind::Endless(_));
                        n_endless += usize::from(is_endless);
                    }
                    Verdict::Unknown(reason) => {
                        n_cut += usize::from(is_for_time(&reason));
                        continue;
                    }
                }
                n_decided += 1;
            }
        }
    }

    // A slow machine cuts off more; what was cut off says nothing about the tool.
    assert!(
        4 * (n_endless + n_cut) > n_programs,
        "{n_endless} endless runs of {n_programs} programs"
    );
    assert!(
        2 * (n_decided + n_cut) > n_asked,
        "{n_decided} of {n_asked} decided"
    );
}

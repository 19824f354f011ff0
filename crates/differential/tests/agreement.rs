//! All routes agree on past findings, random models, the files of the repository, programs,
//! families and twins.
//!
//! How much is compared is a matter of `FAIR_CASES` (see `testkit::cases`).

use differential::{
    Answer, Case, RouteKind, Tally, compare, families, files, predicates, random_case, twins,
};
use testkit::{cases, halves};

/// States of models in files that are visited.
const MAX_STATES: u64 = 1_500;

/// Compares a case and fails with what contradicts itself.
fn assert_agreement(case: &Case, seed: u64, tally: &mut Tally) {
    let findings = compare(case, seed, tally);
    assert!(
        findings.is_empty(),
        "{} under {}, {:?}: {findings:?}",
        case.name,
        case.fairness.name(),
        case.property.property
    );
}

#[test]
fn past_findings() {
    let mut tally = Tally::default();
    let origins = files::corpus().expect("the folders are there");
    for origin in &origins {
        if let Some(family) = origin.template().expect("the file is there") {
            let findings = families::compare(&family, &mut tally);
            assert!(findings.is_empty(), "{findings:?}\n{family}");
        }
        let cases = origin.cases(3_000).expect("the files are right");
        for case in &cases {
            for seed in 0..3 {
                assert_agreement(case, seed, &mut tally);
            }
        }
    }
    assert!(origins.len() >= 7, "{}", origins.len());
    println!("{tally}");
}

#[test]
fn a_wrong_answer_is_found() {
    let mut case = random_case(1);
    let mut tally = Tally::default();
    assert!(compare(&case, 1, &mut tally).is_empty());
    let mut n_found = 0;
    for expected in [Answer::Holds, Answer::Violated] {
        case.expected = Some(expected);
        let findings = compare(&case, 1, &mut tally);
        assert!(findings.iter().all(|f| f.kind == RouteKind::Expected));
        n_found += findings.len();
    }
    assert_eq!(n_found, 1);
    assert_eq!(tally.of(RouteKind::Expected).disagreements, 1);
}

#[test]
fn random_models() {
    let n_cases = cases(520);
    let [mut tally, others] = halves(|half| {
        let mut tally = Tally::default();
        for seed in (half..u64::from(n_cases)).step_by(2) {
            assert_agreement(&random_case(seed), seed, &mut tally);
        }
        tally
    });
    tally.add(&others);
    println!("{tally}");

    // Every kind is compared, and most answers are known.
    let kinds = [
        RouteKind::PartialOrder,
        RouteKind::Symmetry,
        RouteKind::DeadVariables,
        RouteKind::AllReductions,
        RouteKind::StartedAgain,
        RouteKind::TwoThreads,
        RouteKind::StoredEdges,
        RouteKind::Interpreter,
        RouteKind::AllCode,
        RouteKind::EarlyEnd,
        RouteKind::Mixed,
        RouteKind::Bitstate,
        RouteKind::Sets,
        RouteKind::Resumed,
        RouteKind::Oracle,
        RouteKind::Replay,
        RouteKind::LinearTime,
        RouteKind::BranchingTime,
        RouteKind::Claim,
        RouteKind::Negation,
        RouteKind::Annotation,
        RouteKind::Assumption,
        RouteKind::Premise,
        RouteKind::Stronger,
    ];

    for kind in kinds {
        let decided = tally.of(kind).agreements;
        assert!(decided * 20 >= u64::from(n_cases), "{kind:?}: {tally}");
    }

    let total = tally.total();
    assert!(total.comparisons() > 15 * u64::from(n_cases), "{tally}");
    assert!(total.agreements * 10 > total.comparisons() * 8, "{tally}");
}

#[test]
fn files_of_the_repository() {
    let mut tally = Tally::default();
    let origins = files::repository().expect("the files are there");
    // A part of them, from all of the list.
    let wanted = (cases(12) as usize).min(origins.len());
    for number in 0..wanted {
        let origin = &origins[number * origins.len() / wanted];
        let cases = origin.cases(MAX_STATES);
        let cases = cases.unwrap_or_else(|error| panic!("{}: {error:#}", origin.name()));
        for case in &cases {
            assert_agreement(case, number as u64, &mut tally);
        }
    }
    println!("{tally}");
    assert!(tally.total().agreements > 0, "{tally}");
}

#[test]
fn programs_with_and_without_predicates() {
    let mut tally = Tally::default();
    for seed in 0..u64::from(cases(6)) {
        let program = predicates::random_program(seed);
        let findings = predicates::compare(&program, seed, &mut tally);
        assert!(findings.is_empty(), "seed {seed}: {findings:?}\n{program}");
    }
    println!("{tally}");
    assert!(tally.of(RouteKind::Predicate).agreements > 0, "{tally}");
}

#[test]
fn families_and_their_instances() {
    let mut tally = Tally::default();
    let n_cases = u64::from(cases(10));
    let random = (0..n_cases).map(families::random_family);
    let examples = families::EXAMPLES
        .iter()
        .take(cases(1) as usize)
        .map(|name| {
            let path = files::root().join("examples/parameterized").join(name);
            std::fs::read_to_string(path).expect("the example is there")
        });
    for family in random.chain(examples) {
        let findings = families::compare(&family, &mut tally);
        assert!(findings.is_empty(), "{findings:?}\n{family}");
    }
    println!("{tally}");
    assert!(tally.of(RouteKind::AllInstances).agreements > 0, "{tally}");
}

#[test]
fn twins_in_other_languages() {
    let mut tally = Tally::default();
    for pair in &twins::TWINS {
        let findings = twins::compare(pair, 3_000, &mut tally).expect("the files are right");
        assert!(findings.is_empty(), "{findings:?}");
    }
    println!("{tally}");
    assert!(tally.of(RouteKind::Twin).agreements > 40, "{tally}");
}

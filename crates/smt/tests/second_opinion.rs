//! The procedure for cases refutes nothing that is satisfiable, and solvers confirm each other.

use std::time::Duration;

use smt::{Answer, CaseSplit, Confirmed, Embedded, Model, Solver, Sort, Term, Value};

fn int(name: &str) -> Term {
    Term::var(name, Sort::Int)
}

/// A generator of numbers that needs no crate.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }
}

const NAMES: [&str; 3] = ["x", "y", "z"];

fn number(numbers: &mut Numbers) -> Term {
    let small = |numbers: &mut Numbers| Term::Int(i128::from(numbers.below(7)) - 3);
    match numbers.below(7) {
        0 => small(numbers),
        1 | 2 => int(NAMES[numbers.below(3) as usize]),
        3 => Term::add([number(numbers), number(numbers)]),
        4 => Term::rem(int("y"), 3),
        5 => Term::div(Term::add([int("x"), int("z")]), 2),
        _ => Term::mul(&int("z"), &small(numbers)).expect("it is linear"),
    }
}

fn formula(numbers: &mut Numbers, depth: u64) -> Term {
    if depth == 0 || numbers.below(4) == 0 {
        let (left, right) = (number(numbers), number(numbers));
        return match numbers.below(4) {
            0 => Term::lt(left, right),
            1 => Term::eq(left, right),
            2 => Term::not(Term::eq(left, right)),
            _ => Term::le(left, right),
        };
    }
    let (a, b) = (formula(numbers, depth - 1), formula(numbers, depth - 1));
    match numbers.below(4) {
        0 | 1 => Term::and([a, b]),
        2 => Term::or([a, Term::not(b)]),
        _ => Term::not(Term::and([a, b])),
    }
}

const BOUND: i128 = 3;

/// Is there a solution with small values?
fn has_solution(parts: &[Term]) -> bool {
    let range = || -BOUND..=BOUND;
    let all = range().flat_map(|x| range().flat_map(move |y| range().map(move |z| [x, y, z])));
    all.into_iter().any(|values| {
        let mut model = Model::default();
        for (name, value) in NAMES.iter().zip(values) {
            model.set(&(*name).into(), Value::Int(value));
        }
        parts.iter().all(|part| model.bool(part) == Some(true))
    })
}

#[test]
fn what_is_refuted_has_no_solution() {
    let mut numbers = Numbers(3);
    let (mut n_refuted, mut n_impossible) = (0, 0);
    for _ in 0..1_500 {
        let mut parts: Vec<Term> = (0..3).map(|_| formula(&mut numbers, 2)).collect();
        // Half of the questions are about small numbers only; there it is known what is impossible.
        let is_bounded = numbers.below(2) == 0;
        if is_bounded {
            for name in NAMES {
                parts.push(Term::le(Term::Int(-BOUND), int(name)));
                parts.push(Term::le(int(name), Term::Int(BOUND)));
            }
        }
        let mut split = CaseSplit::default();
        let refuted = split.check(&parts) == Answer::Unsat;
        let solution = has_solution(&parts);
        assert!(!(refuted && solution), "{parts:?}");
        n_refuted += usize::from(refuted && is_bounded);
        n_impossible += usize::from(!solution && is_bounded);
    }

    assert!(n_impossible > 100, "{n_impossible}");
    assert!(
        n_refuted * 2 > n_impossible,
        "{n_refuted} of {n_impossible}"
    );
}

#[test]
fn the_embedded_solver_is_not_contradicted() {
    let mut numbers = Numbers(5);
    let mut n_both = 0;
    for _ in 0..150 {
        let parts: Vec<Term> = (0..3).map(|_| formula(&mut numbers, 2)).collect();
        let refuted = CaseSplit::default().check(&parts) == Answer::Unsat;
        match Embedded::new(Duration::from_secs(2)).check(&parts) {
            Answer::Sat(model) => assert!(!refuted, "{parts:?}: {model:?}"),
            Answer::Unsat => n_both += usize::from(refuted),
            Answer::Unknown(_) => {}
        }
    }
    assert!(n_both > 10, "{n_both}");
}

/// Says the same whatever it is asked.
struct Fixed(Answer);

impl Solver for Fixed {
    fn name(&self) -> String {
        "fixed".to_owned()
    }

    fn assert(&mut self, _: &Term) {}

    fn push(&mut self) {}

    fn pop(&mut self) {}

    fn check(&mut self, _: &[Term]) -> Answer {
        self.0.clone()
    }
}

#[test]
fn confirmations_are_counted_and_lies_end_the_belief() {
    let silent = || Fixed(Answer::Unknown("silent".to_owned()));
    let others: Vec<Box<dyn Solver>> = vec![
        Box::new(silent()),
        Box::new(Embedded::new(Duration::from_secs(2))),
    ];
    let mut solver = Confirmed::offered(Box::new(Fixed(Answer::Unsat)), others);
    let positive = Term::lt(Term::Int(0), int("x"));
    solver.push();
    solver.assert(&positive);
    assert_eq!(
        solver.check(&[Term::lt(int("x"), Term::Int(0))]),
        Answer::Unsat
    );
    assert_eq!(solver.trust().n_confirmed, 1);
    assert_eq!(solver.trust().confirmed_by, ["embedded"]);

    // There is a solution of this, so nothing that the first says counts any more.
    assert!(matches!(solver.check(&[]), Answer::Unknown(_)));
    let why = solver.trust().contradiction.expect("a contradiction");
    assert!(
        why.starts_with("fixed and embedded contradict each other"),
        "{why}"
    );
    assert!(why.contains("|x|"), "{why}");

    let impossible = [Term::lt(int("x"), Term::Int(0))];
    assert!(matches!(solver.check(&impossible), Answer::Unknown(_)));

    // Without an answer of others it counts if that is allowed, and is not confirmed.
    let mut alone = Confirmed::offered(Box::new(Fixed(Answer::Unsat)), vec![Box::new(silent())]);
    assert_eq!(alone.check(&[]), Answer::Unsat);
    assert_eq!(alone.trust().n_confirmed, 0);

    let mut strict = Confirmed::new(Fixed(Answer::Unsat), silent());
    assert!(matches!(strict.check(&[]), Answer::Unknown(_)));
}

//! All backends give the same answers, and what fails gives none.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use smt::{
    Answer, Confirmed, Connection, Embedded, External, Launch, Program, Solver, Sort,
    SystemProcesses, Term,
};

/// Only a guard against questions without end: no answer may depend on it.
const PATIENCE: Duration = Duration::from_secs(6);

fn int(name: &str) -> Term {
    Term::var(name, Sort::Int)
}

fn array(name: &str) -> Term {
    Term::var(name, Sort::Array)
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

fn number(numbers: &mut Numbers) -> Term {
    let small = |numbers: &mut Numbers| Term::Int(i128::from(numbers.below(5)) - 2);
    match numbers.below(6) {
        0 => small(numbers),
        1 | 2 => int(["x", "y", "z"][numbers.below(3) as usize]),
        3 => Term::add([number(numbers), number(numbers)]),
        4 => Term::select(
            array(["a", "b"][numbers.below(2) as usize]),
            Term::add([int("x"), small(numbers)]),
        ),
        _ => Term::rem(int("y"), 3),
    }
}

fn formula(numbers: &mut Numbers, depth: u64) -> Term {
    if depth == 0 || numbers.below(4) == 0 {
        let (left, right) = (number(numbers), number(numbers));
        return match numbers.below(6) {
            0 => Term::lt(left, right),
            1 => Term::eq(left, right),
            2 => Term::eq(Term::store(array("a"), left, right), array("b")),
            3 => Term::eq(array("a"), array("b")),
            _ => Term::le(left, right),
        };
    }
    let mut part = || formula(numbers, depth - 1);
    let (a, b) = (part(), part());
    match numbers.below(3) {
        0 => Term::and([a, b]),
        1 => Term::or([a, Term::not(b)]),
        _ => Term::not(Term::and([a, b])),
    }
}

fn verdict(answer: &Answer) -> Option<bool> {
    match answer {
        Answer::Sat(_) => Some(true),
        Answer::Unsat => Some(false),
        Answer::Unknown(_) => None,
    }
}

fn installed(program: Program) -> Option<External> {
    if !testkit::has_peer(&program.executable, "--version") {
        return None;
    }
    let mut solver = External::new(program, Arc::new(SystemProcesses), PATIENCE);
    matches!(solver.check(&[]), Answer::Sat(_)).then_some(solver)
}

/// Branching over `k` and the quotient finds no end here: neither has a bound.
#[test]
fn an_even_number_has_no_odd_value() {
    let (x, k) = (int("x"), int("k"));
    let mut solver = Embedded::new(PATIENCE);
    solver.assert(&Term::eq(x.clone(), Term::add([k.clone(), k])));
    solver.push();
    let odd = Term::not(Term::eq(Term::rem(x.clone(), 2), Term::Int(0)));
    assert!(matches!(solver.check(&[odd]), Answer::Unsat));
    solver.pop();
    let even = Term::eq(Term::rem(x, 2), Term::Int(0));
    assert!(solver.check(&[even]).may_be_sat());
}

#[test]
fn backends_agree() {
    let mut solvers: Vec<Box<dyn Solver>> = vec![Box::new(Embedded::new(PATIENCE))];
    for program in [Program::z3(), Program::cvc5()] {
        if let Some(solver) = installed(program) {
            solvers.push(Box::new(solver));
        }
    }

    let mut numbers = Numbers(7);
    let mut n_unknown = 0;
    for _ in 0..200 {
        let parts: Vec<Term> = (0..3).map(|_| formula(&mut numbers, 2)).collect();
        let mut answers = Vec::new();
        for solver in &mut solvers {
            solver.push();
            solver.assert(&parts[0]);
            answers.push((solver.name(), solver.check(&parts[1..])));
            solver.pop();
        }
        let known: Vec<bool> = answers.iter().filter_map(|(_, a)| verdict(a)).collect();
        n_unknown += answers.len() - known.len();
        assert!(
            known.windows(2).all(|w| w[0] == w[1]),
            "{parts:?}: {answers:?}"
        );
    }

    println!("{n_unknown} questions without an answer");
    assert!(n_unknown <= 150, "{n_unknown} questions without an answer");
}

#[test]
fn cores_are_contradictory() {
    let Some(mut solver) = installed(Program::z3()) else {
        return;
    };
    let assumptions = [
        Term::lt(int("x"), int("y")),
        Term::eq(int("z"), Term::Int(4)),
        Term::lt(int("y"), int("x")),
    ];
    assert_eq!(solver.check(&assumptions), Answer::Unsat);
    let core = solver.core().expect("z3 names what it used");
    let used: Vec<Term> = core.iter().map(|at| assumptions[*at].clone()).collect();
    assert!(used.len() < 3);
    assert_eq!(solver.check(&used), Answer::Unsat);
}

/// A process that answers every question with the same line, or ends.
struct Scripted(Option<&'static str>);

impl Connection for Scripted {
    fn send(&mut self, _: &str) -> io::Result<()> {
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> io::Result<String> {
        let line = self.0.ok_or(io::ErrorKind::UnexpectedEof)?;
        Ok(line.to_owned())
    }
}

struct Fake(Option<&'static str>);

impl Launch for Fake {
    fn launch(&self, _: &str, _: &[String]) -> io::Result<Box<dyn Connection>> {
        Ok(Box::new(Scripted(self.0)))
    }
}

fn fake(line: Option<&'static str>) -> External {
    External::new(Program::z3(), Arc::new(Fake(line)), PATIENCE)
}

#[test]
fn crashes_and_nonsense_are_no_answers() {
    let falsehood = Term::lt(int("x"), int("x"));
    assert_eq!(falsehood, Term::Bool(false));
    for line in [
        None,
        Some("hello"),
        Some("(error \"line 3\")"),
        Some("sat"),
        Some("unsat"),
    ] {
        let mut solver = fake(line);
        // A claimed model is checked, so even "sat" is not believed.
        solver.assert(&Term::lt(int("x"), Term::Int(0)));
        for _ in 0..5 {
            assert!(matches!(solver.check(&[]), Answer::Unknown(_)), "{line:?}");
        }
    }
}

#[test]
fn missing_programs_are_no_answers() {
    let program = Program {
        executable: "no-such-solver-here".to_owned(),
        ..Program::z3()
    };
    let mut solver = External::new(program, Arc::new(SystemProcesses), PATIENCE);
    assert!(matches!(solver.check(&[]), Answer::Unknown(_)));
}

/// A solver for which nothing is satisfiable.
struct Pessimist;

impl Solver for Pessimist {
    fn name(&self) -> String {
        "pessimist".to_owned()
    }

    fn assert(&mut self, _: &Term) {}

    fn push(&mut self) {}

    fn pop(&mut self) {}

    fn check(&mut self, _: &[Term]) -> Answer {
        Answer::Unsat
    }
}

#[test]
fn unsatisfiable_counts_only_if_both_say_so() {
    let mut solver = Confirmed::new(Pessimist, Embedded::new(PATIENCE));
    solver.assert(&Term::lt(int("x"), Term::Int(0)));
    assert!(matches!(solver.check(&[]), Answer::Unknown(_)));
    solver.assert(&Term::lt(Term::Int(0), int("x")));
    assert_eq!(solver.check(&[]), Answer::Unsat);
}

//! What cannot be treated is said, at its place; a solver that fails decides nothing.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use check::{Outcome, Route};
use evidence::Verdict;
use smt::{Connection, External, Launch, Program, SystemProcesses};

use crate::{attempt, check_with, example, plan};

const COUNTER: &str = "
    param N >= 3
    var x : int = 2
    process P { go when x < N { x := x + 1 } }
    property small: always x <= N
    property ends: eventually x >= N
";

#[test]
fn predicates_over_unknown_names_are_located() {
    for predicate in ["p: z > 0", "p: P @ nowhere", "p: Q @ a", "p: x"] {
        let text = format!("{COUNTER}abstract only {{ {predicate} }}\n");
        let loaded = attempt(&text);
        assert!(loaded.model.is_none(), "{predicate} is accepted");
        let told = &loaded.diagnostics[0];
        let from = text.find("abstract").expect("it is there");
        assert!(told.labels[0].span.start as usize > from, "{told:?}");
    }
}

/// The reason why nothing was decided.
fn reason(outcome: &Outcome) -> String {
    match &outcome.verdict {
        Verdict::Unknown(reason) => reason.name().to_owned(),
        other => panic!("{} instead of unknown", other.name()),
    }
}

#[test]
fn arithmetic_that_is_not_linear_is_located() {
    for effect in ["x := x * x", "x := 7 / x", "x := 7 % x", "x := x * N"] {
        let text = COUNTER.replace("x := x + 1", effect);
        let outcome = check_with(&text, "small", plan(Route::Predicate));
        assert!(!reason(&outcome).is_empty());
        let place = outcome.warnings[0].labels[0].span.start as usize;
        let from = text.find(effect).expect("it is there");
        let own = from..from + effect.len();
        assert!(own.contains(&place), "{effect}: {:?}", outcome.warnings);
    }
}

/// Every choice among all integers is either treated as what it is or refused.
#[test]
fn choices_without_bounds_are_never_narrowed() {
    for effect in [
        "x := choose int",
        "x := choose v in 0..N where v > x",
        "x := choose nat",
    ] {
        let text = COUNTER.replace("x := x + 1", effect);
        let loaded = attempt(&text);
        if loaded.model.is_none() {
            let place = loaded.diagnostics[0].labels[0].span.start as usize;
            let effect_at = text.find("choose").expect("it is there");
            assert!(place >= effect_at, "{:?}", loaded.diagnostics);
            continue;
        }
        let outcome = check_with(&text, "small", plan(Route::Predicate));
        let may_leave = effect.ends_with("int") || effect.ends_with("nat");
        assert!(
            !(may_leave && outcome.verdict.name() == "holds"),
            "{effect} keeps x below N"
        );
    }
}

/// A process that says the same line whatever it is asked, or ends.
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

/// Checks with a solver program that does not exist, unless `launch` pretends that it does.
fn check_asking(launch: fn() -> Arc<dyn Launch>, text: &str, property: &str) -> Outcome {
    let mut plan = plan(Route::Predicate);
    plan.predicate.solver = Arc::new(move || {
        let program = Program {
            executable: "no-such-solver".to_owned(),
            ..Program::z3()
        };
        Box::new(External::new(program, launch(), Duration::from_secs(600)))
    });
    check_with(text, property, plan)
}

#[test]
fn solvers_that_fail_decide_nothing() {
    let launches: [fn() -> Arc<dyn Launch>; 7] = [
        || Arc::new(Fake(None)),
        || Arc::new(Fake(Some("segmentation fault"))),
        || Arc::new(Fake(Some("sat"))),
        || Arc::new(Fake(Some("unsat"))),
        || Arc::new(Fake(Some("unknown"))),
        || Arc::new(Fake(Some("((("))),
        || Arc::new(SystemProcesses),
    ];
    let text = example("bounded_buffer");
    for launch in launches {
        for property in ["no_overflow", "drained"] {
            let outcome = check_asking(launch, &text, property);
            assert_eq!(reason(&outcome), "solver-gave-up", "{:?}", outcome.remarks);
        }
    }
}

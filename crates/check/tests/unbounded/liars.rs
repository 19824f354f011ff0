//! Solvers that lie, stall or die: no verdict becomes wrong, and what nothing confirmed is said.

use std::collections::VecDeque;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use base::Budget;
use check::{Outcome, Route};
use evidence::{UnknownReason, Verdict};
use smt::{Answer, Connection, Embedded, External, Launch, Program, Solver, Term};

use super::{check_with, plan};

const PATIENCE: Duration = Duration::from_millis(300);

/// `small` and `returns` are wrong, the others are right.
const COUNTER: &str = "
    var x : int = 0
    process P { up when x < 5 { x := x + 1 } }
    invariant small: x < 3
    invariant ok: x <= 5
    property returns: always eventually x == 0
    property stays: always (x > 2 -> always x > 2)
    reachable five: x == 5
";

const TRUTH: [(&str, &str); 5] = [
    ("small", "violated"),
    ("ok", "holds"),
    ("returns", "violated"),
    ("stays", "holds"),
    ("five", "holds"),
];

/// What a process does with questions.
#[derive(Clone, Copy, Debug)]
enum Manner {
    AlwaysUnsat,
    UnsatExceptProbes,
    Random,
    WrongModels,
    NonsenseForModels,
    DiesAfter(usize),
    Stalls,
    Chatters,
    NeverKnows,
}

const MANNERS: [Manner; 10] = [
    Manner::AlwaysUnsat,
    Manner::UnsatExceptProbes,
    Manner::Random,
    Manner::WrongModels,
    Manner::NonsenseForModels,
    Manner::DiesAfter(1),
    Manner::DiesAfter(6),
    Manner::Stalls,
    Manner::Chatters,
    Manner::NeverKnows,
];

/// A process that knows the probes by heart.
struct Process {
    manner: Manner,
    is_probed: bool,
    n_probes: usize,
    n_asked: usize,
    seed: u64,
    lines: VecDeque<String>,
}

impl Process {
    fn number(&mut self) -> u64 {
        self.seed = self
            .seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        self.seed >> 33
    }

    fn answer(&mut self) -> &'static str {
        if self.is_probed && !matches!(self.manner, Manner::AlwaysUnsat) {
            self.n_probes += 1;
            return ["unsat", "sat"][self.n_probes % 2];
        }
        self.n_asked += 1;
        match self.manner {
            Manner::AlwaysUnsat | Manner::UnsatExceptProbes | Manner::DiesAfter(_) => "unsat",
            Manner::Random => ["unsat", "sat", "unsat", "unknown"][self.number() as usize % 4],
            Manner::WrongModels | Manner::NonsenseForModels => "sat",
            Manner::Stalls => "",
            Manner::Chatters => "hello",
            Manner::NeverKnows => "unknown",
        }
    }
}

impl Connection for Process {
    fn send(&mut self, line: &str) -> io::Result<()> {
        if line.starts_with("(declare-const |the probe|") {
            self.is_probed = true;
        } else if line.starts_with("(pop") {
            self.is_probed = false;
        } else if line.starts_with("(check-sat") {
            let answer = self.answer().to_owned();
            self.lines.push_back(answer);
        } else if line == "(get-unsat-assumptions)" {
            self.lines.push_back("()".to_owned());
        } else if let Some(names) = line.strip_prefix("(get-value (") {
            let name = names.trim_end_matches("))");
            let value = match self.manner {
                Manner::NonsenseForModels => "(as oops".to_owned(),
                _ => format!("(({name} {}))", self.number() % 9),
            };
            self.lines.push_back(value);
        }
        Ok(())
    }

    fn receive(&mut self, _: Duration) -> io::Result<String> {
        if let Manner::DiesAfter(limit) = self.manner
            && self.n_asked > limit
        {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        match self.lines.pop_front() {
            Some(line) if !line.is_empty() => Ok(line),
            _ => Err(io::ErrorKind::TimedOut.into()),
        }
    }
}

struct Liars(Manner);

impl Launch for Liars {
    fn launch(&self, _: &str, _: &[String]) -> io::Result<Box<dyn Connection>> {
        Ok(Box::new(Process {
            manner: self.0,
            is_probed: false,
            n_probes: 0,
            n_asked: 0,
            seed: 11,
            lines: VecDeque::new(),
        }))
    }
}

fn check_asking(make: impl Fn() -> Box<dyn Solver> + Send + Sync + 'static, name: &str) -> Outcome {
    let mut plan = plan(Route::Predicate);
    plan.predicate.solver = Arc::new(make);
    plan.predicate.max_refinements = 8;
    check_with(COUNTER, name, plan)
}

fn assert_not_wrong(outcome: &Outcome, expected: &str, what: &str) {
    let found = outcome.verdict.name();
    let remarks = outcome.remarks.join("\n");
    assert!(
        found == expected || found == "unknown",
        "{what}: {found}\n{remarks}"
    );
}

#[test]
fn processes_that_lie_make_no_verdict_wrong() {
    for manner in MANNERS {
        for (property, expected) in TRUTH {
            let make = move || -> Box<dyn Solver> {
                let launch = Arc::new(Liars(manner));
                Box::new(External::new(Program::z3(), launch, PATIENCE))
            };
            let outcome = check_asking(make, property);
            assert_not_wrong(&outcome, expected, &format!("{manner:?} on {property}"));
        }
    }
}

#[test]
fn who_contradicts_whom_on_what_is_the_reason() {
    let make = || -> Box<dyn Solver> {
        let launch = Arc::new(Liars(Manner::UnsatExceptProbes));
        Box::new(External::new(Program::z3(), launch, PATIENCE))
    };
    let outcome = check_asking(make, "small");
    let Verdict::Unknown(UnknownReason::SolversDisagree(which)) = &outcome.verdict else {
        panic!("{:?}", outcome.verdict);
    };
    assert!(
        which.starts_with("z3 and embedded contradict each other"),
        "{which}"
    );
    assert!(which.contains("has a model of it: "), "{which}");
}

/// Answers like the embedded solver, but says "unsatisfiable" where it must not.
struct Flipping {
    inner: Embedded,
    name: &'static str,
    /// One in so many.
    every: usize,
    n_sat: usize,
}

impl Flipping {
    fn boxed(name: &'static str, every: usize) -> Box<dyn Solver> {
        Box::new(Self {
            inner: Embedded::new(Duration::from_secs(5)),
            name,
            every,
            n_sat: 0,
        })
    }
}

impl Solver for Flipping {
    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn assert(&mut self, term: &Term) {
        self.inner.assert(term);
    }

    fn push(&mut self) {
        self.inner.push();
    }

    fn pop(&mut self) {
        self.inner.pop();
    }

    fn check(&mut self, assumptions: &[Term]) -> Answer {
        match self.inner.check(assumptions) {
            Answer::Sat(model) => {
                self.n_sat += 1;
                if self.n_sat.is_multiple_of(self.every) {
                    return Answer::Unsat;
                }
                Answer::Sat(model)
            }
            other => other,
        }
    }

    fn obey(&mut self, budget: &Budget) {
        self.inner.obey(budget);
    }
}

#[test]
fn one_lie_in_many_is_found_out() {
    for every in 1..=7 {
        for (property, expected) in TRUTH {
            let outcome = check_asking(move || Flipping::boxed("flipping", every), property);
            assert_not_wrong(&outcome, expected, &format!("one in {every} on {property}"));
        }
    }
}

fn is_said_to_be_unconfirmed(outcome: &Outcome) -> bool {
    let mut remarks = outcome.remarks.iter();
    remarks.any(|remark| remark.contains("nothing confirmed"))
}

#[test]
fn what_nothing_confirmed_is_said() {
    // If the embedded solver itself lies, only the procedure for cases is left, which refutes no lie.
    let outcome = check_asking(|| Flipping::boxed(Embedded::NAME, 1), "small");
    let [used] = outcome.solvers.as_slice() else {
        panic!("{:?}", outcome.solvers);
    };
    assert!(used.confirmed < used.answers, "{used:?}");
    assert!(is_said_to_be_unconfirmed(&outcome), "{:?}", outcome.remarks);
}

#[test]
fn honest_answers_are_confirmed() {
    for (property, expected) in TRUTH {
        let outcome = check_asking(|| Box::new(Embedded::new(Duration::from_secs(5))), property);
        assert_eq!(outcome.verdict.name(), expected, "{property}");
        let [used] = outcome.solvers.as_slice() else {
            panic!("{:?}", outcome.solvers);
        };
        assert_eq!(used.name, "embedded");
        assert_eq!(used.confirmed, used.answers, "{property}");
        assert!(
            !is_said_to_be_unconfirmed(&outcome),
            "{:?}",
            outcome.remarks
        );
    }
}

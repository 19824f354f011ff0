//! Programs that are called solvers and are not: none of them makes a question last, or answers it.

#![cfg(unix)]

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;
use std::time::Duration;

use base::Budget;
use smt::{Answer, Confirmed, Embedded, External, Program, Solver, Sort, SystemProcesses, Term};

/// Only a guard against tests without end.
const WATCHDOG: Duration = Duration::from_secs(120);

/// What such a program does, as a script of the shell.
const KINDS: [(&str, &str); 18] = [
    ("ends at once", "exit 0"),
    ("fails at once", "exit 3"),
    ("is killed", "kill -9 $$"),
    ("never reads and never answers", "exec sleep 1000"),
    ("reads and never answers", "exec cat >/dev/null"),
    ("closes its output and stays", "exec >&-; exec cat"),
    ("closes its input and stays", "exec <&-; exec sleep 1000"),
    ("floods with answers", "exec yes sat"),
    (
        "floods with a line that never ends",
        "exec tr '\\0' x </dev/zero",
    ),
    (
        "floods with lists that never end",
        "echo sat; echo unsat; echo sat; exec yes '('",
    ),
    (
        "floods with nested lists",
        "echo sat; echo unsat; echo sat; exec tr '\\0' '(' </dev/zero",
    ),
    (
        "prints what is not text",
        "exec head -c 100000 /dev/urandom",
    ),
    ("prints nonsense", "while read line; do echo perhaps; done"),
    (
        "answers half",
        "echo sat; echo unsat; echo sat; echo '((x '; exec sleep 1000",
    ),
    (
        "dies while it answers",
        "echo sat; echo unsat; echo sat; echo '((x '",
    ),
    ("always says yes", "while read line; do echo sat; done"),
    ("always says no", "while read line; do echo unsat; done"),
    // It passes the first two questions, and its model is not one.
    (
        "lies about models",
        "echo sat; echo unsat; echo sat; exec yes '((x 5))'",
    ),
];

fn hostile(script: &str, patience: Duration) -> External {
    let program = Program {
        name: "hostile".to_owned(),
        executable: "sh".to_owned(),
        arguments: vec!["-c".to_owned(), script.to_owned()],
        time_limit: None,
    };
    External::new(program, Arc::new(SystemProcesses), patience)
}

/// The answer to a question that is neither valid nor impossible, and true of other numbers than 5.
fn ask(solver: &mut dyn Solver) -> Answer {
    let x = Term::var("x", Sort::Int);
    solver.assert(&Term::lt(x, Term::Int(3)));
    solver.check(&[])
}

/// Does something in a thread that must end.
fn guarded<T: Send + 'static>(name: &str, work: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, done) = channel();
    thread::spawn(move || sender.send(work()));
    let found = done.recv_timeout(WATCHDOG);
    found.unwrap_or_else(|_| panic!("a solver that {name} is waited for"))
}

#[test]
fn no_question_is_answered() {
    for (name, script) in KINDS {
        let answer = guarded(name, move || {
            ask(&mut hostile(script, Duration::from_millis(200)))
        });
        assert!(matches!(answer, Answer::Unknown(_)), "{name}: {answer:?}");
    }
    let missing = Program {
        executable: "/nonexistent/solver".to_owned(),
        ..Program::z3()
    };
    let mut missing = External::new(missing, Arc::new(SystemProcesses), WATCHDOG);
    assert!(matches!(ask(&mut missing), Answer::Unknown(_)));
}

/// The patience is longer than the guard of the test, so only the budget can end the question.
#[test]
fn the_budget_ends_every_question() {
    for (name, script) in KINDS {
        let budget = Budget::unlimited();
        let stopper = budget.stopper();
        thread::spawn(move || {
            thread::sleep(Duration::from_millis(200));
            stopper.time_out();
        });
        let answer = guarded(name, move || {
            let mut solver = hostile(script, 10 * WATCHDOG);
            solver.obey(&budget);
            ask(&mut solver)
        });
        assert!(matches!(answer, Answer::Unknown(_)), "{name}: {answer:?}");
    }
}

/// One that lies only when it matters is found out by the second opinion.
#[test]
fn a_lie_is_not_confirmed() {
    let script = "echo sat; echo unsat; exec yes unsat";
    let answer = guarded("lies", move || {
        let liar = hostile(script, Duration::from_secs(1));
        let second = Embedded::new(Duration::from_secs(10));
        ask(&mut Confirmed::new(Box::new(liar), Box::new(second)))
    });
    assert!(matches!(answer, Answer::Unknown(_)), "{answer:?}");
}

//! The predicate route ends when its budget is spent, wherever it is.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::{Budget, StopReason, Stopper};
use check::{Outcome, Route};
use evidence::{UnknownReason, Verdict};
use smt::{Answer, Embedded, Solver, Term};

use super::{check_with, example, plan};

/// A model whose replayed paths once doubled with each step.
const DOUBLING: &str = include_str!("../../../../testdata/defects/blow4.fair");

/// Ends the search when it has been asked so many times.
struct Stopping {
    inner: Embedded,
    stopper: Stopper,
    limit: usize,
    n_asked: Arc<AtomicUsize>,
}

impl Solver for Stopping {
    fn name(&self) -> String {
        self.inner.name()
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
        if self.n_asked.fetch_add(1, Ordering::Relaxed) + 1 >= self.limit {
            self.stopper.time_out();
        }
        self.inner.check(assumptions)
    }

    fn obey(&mut self, budget: &Budget) {
        self.inner.obey(budget);
    }
}

/// The outcome, and how often the solver was asked.
fn stopped_after(limit: usize, text: &str, property: &str) -> (Outcome, usize) {
    let mut plan = plan(Route::Predicate);
    let n_asked = Arc::new(AtomicUsize::new(0));
    let counter = Arc::clone(&n_asked);
    let stopper = plan.budget.stopper();
    plan.predicate.solver = Arc::new(move || {
        Box::new(Stopping {
            inner: Embedded::new(Duration::from_secs(10)),
            stopper: stopper.clone(),
            limit,
            n_asked: Arc::clone(&counter),
        })
    });
    let outcome = check_with(text, property, plan);
    (outcome, n_asked.load(Ordering::Relaxed))
}

#[test]
fn nothing_is_asked_after_the_budget_is_spent() {
    let buffer = example("bounded_buffer");
    let cases = [
        (buffer.as_str(), "no_overflow"),
        (buffer.as_str(), "drained"),
        (DOUBLING, "q"),
    ];
    let mut n_stopped = 0;

    for (text, property) in cases {
        for limit in [1, 2, 3, 5, 8, 13, 21, 34, 55] {
            let (outcome, n_asked) = stopped_after(limit, text, property);
            assert!(n_asked <= limit, "{property}: {n_asked} of {limit}");
            if n_asked == limit && outcome.verdict.name() == "unknown" {
                let reason = UnknownReason::Stopped(StopReason::Timeout);
                assert_eq!(
                    outcome.verdict,
                    Verdict::Unknown(reason),
                    "{property} {limit}"
                );
                n_stopped += 1;
            }
        }
    }

    assert!(n_stopped >= 12, "{n_stopped}");
}

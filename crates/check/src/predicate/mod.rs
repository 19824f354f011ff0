//! The predicate route: unbounded data, by abstraction that is refined until it decides.
//!
//! "Holds" of the abstraction is "holds" of the model, because every run of the model is one of the
//! abstraction and every fair one a fair one (`SOUNDNESS.md`). A counterexample of the abstraction
//! is replayed symbolically: if it happens, the concrete run goes to the judge of evidence like any
//! other; if it goes on forever with growing data, that is proved; if it cannot happen, it yields predicates; if neither is found out, the verdict is
//! *unknown*. CEGAR: E. Clarke, O. Grumberg, S. Jha, Y. Lu, H. Veith, *Counterexample-guided
//! abstraction refinement*, CAV 2000, doi:10.1007/10722167_15.

mod concrete;
mod counterexample;
mod endless;
mod invariant;
mod listing;
mod liveness;
mod product;
mod quantifiers;
mod refinement;
mod remarks;
mod safety;
mod setup;

use std::sync::Arc;
use std::time::Duration;

use abstraction::predicate::Refusal;
use base::{Diagnostic, Fairness, Progress, Route};
use evidence::{UnknownReason, Verdict};
use logic::{NamedProperty, Property};
use model::{Hints, Model, Unbounded};
use smt::{CaseSplit, Confirmed, Embedded, Solver};

pub use listing::{TextFormat, abstraction_text};
pub use setup::Setup;

use crate::fairness::is_machine_closed;
use crate::{Outcome, Plan};

/// How long the embedded solver may think about one question.
const PATIENCE: Duration = Duration::from_secs(10);

/// How long the embedded solver may think about an answer of another one.
const PATIENCE_TO_CONFIRM: Duration = Duration::from_secs(1);

/// Makes solvers; each check has its own.
pub type MakeSolver = Arc<dyn Fn() -> Box<dyn Solver> + Send + Sync>;

/// How unbounded data is abstracted.
#[derive(Clone)]
pub struct Options {
    /// Makes the solver.
    pub solver: MakeSolver,
    /// How often predicates or rankings are added before the check gives up.
    pub max_refinements: usize,
    /// What the author of the model says about the abstraction.
    pub hints: Hints,
    /// Variables with more values than this are abstracted.
    pub max_kept_values: i128,
}

impl Default for Options {
    fn default() -> Self {
        Self {
            solver: Arc::new(|| Box::new(Embedded::new(PATIENCE))),
            max_refinements: 40,
            hints: Hints::default(),
            max_kept_values: abstraction::predicate::MAX_KEPT_VALUES,
        }
    }
}

impl std::fmt::Debug for Options {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Options")
            .field("max_refinements", &self.max_refinements)
            .field("hints", &self.hints)
            .finish_non_exhaustive()
    }
}

/// The solver of a check. Answers "unsatisfiable" are confirmed as far as possible, whatever solver
/// it is: by a small procedure for cases and inequalities, and by the embedded solver if it is
/// another one.
pub(crate) fn confirmed_solver(options: &Options) -> Box<dyn Solver> {
    let solver = (options.solver)();
    if solver.trust().is_required {
        return solver;
    }
    let mut others: Vec<Box<dyn Solver>> = vec![Box::new(CaseSplit::default())];
    if solver.name() != Embedded::NAME {
        others.push(Box::new(Embedded::new(PATIENCE_TO_CONFIRM)));
    }
    Box::new(Confirmed::offered(solver, others))
}

/// Does some variable range over all integers, or all from some point on?
pub(crate) fn has_unbounded_integers(model: &Model) -> bool {
    model.cells().iter().any(|cell| cell.ty.is_unbounded())
}

/// The answer of the explicit route to a model that it cannot explore.
pub(crate) fn not_explicit(fairness: Fairness, reason: &Unbounded) -> Outcome {
    let why = format!(
        "{}, so its states cannot be visited one by one",
        reason.what
    );
    let reason_unknown = UnknownReason::Unsupported(why);
    let mut outcome = Outcome::unknown(Route::Explicit, fairness, reason_unknown);
    outcome.warnings.push(
        Diagnostic::warning("unbounded", reason.span, reason.what.clone())
            .help("give it a value with `-D`, or use `--route predicate`"),
    );
    outcome
}

fn outcome(fairness: Fairness, verdict: Verdict) -> Outcome {
    Outcome::new(Route::Predicate, fairness, verdict)
}

fn unsupported(fairness: Fairness, why: &str) -> Outcome {
    let reason = UnknownReason::Unsupported(why.to_owned());
    Outcome::unknown(Route::Predicate, fairness, reason)
}

/// Why formulas with past operators are not decided by abstractions.
pub(crate) const NO_PAST: &str =
    "formulas with past operators are decided by visiting every state only";

/// Does the property look into the past?
pub(crate) fn has_past(property: &Property) -> bool {
    match property {
        Property::Ltl(formula) => formula.has_past(),
        Property::CtlStar(formula) => formula.has_past(),
        Property::MayMust(question) => question.formula.has_past() || question.fairness.has_past(),
        Property::Invariant(_)
        | Property::Reachable(_)
        | Property::DeadlockFree
        | Property::Never(_) => false,
    }
}

fn refused(fairness: Fairness, refusal: &Refusal) -> Outcome {
    let mut outcome = unsupported(fairness, &refusal.message);
    let message = format!(
        "predicate abstraction cannot treat this: {}",
        refusal.message
    );
    if refusal.span != base::Span::nowhere() {
        let warning = Diagnostic::warning("predicate-abstraction", refusal.span, message);
        outcome.warnings.push(warning);
    }
    outcome
}

/// Checks a property by predicate abstraction.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    _progress: &mut dyn Progress,
) -> Outcome {
    if has_past(&property.property) {
        return unsupported(fairness, NO_PAST);
    }
    let setup = match Setup::new(model, &property.property, &plan.predicate) {
        Ok(setup) => setup,
        Err(refusal) => return refused(fairness, &refusal),
    };
    let check = setup::Check {
        model,
        setup: &setup,
        fairness,
        plan,
        property: &property.property,
        last_domain: std::cell::RefCell::default(),
        unconfirmed: std::cell::RefCell::default(),
        remaining: std::cell::RefCell::default(),
        is_at_rest: std::cell::Cell::default(),
    };

    let mut outcome = match &property.property {
        Property::CtlStar(formula) => quantifiers::check(&check, property, formula),
        _ => decide(&check),
    };

    // After the budget is spent no question is answered, whatever that makes of the search.
    let is_open = match &outcome.verdict {
        Verdict::Unknown(UnknownReason::Unsupported(_)) => false,
        Verdict::Unknown(_) => true,
        Verdict::Holds { .. } | Verdict::Violated(_) => false,
    };

    if let (true, Err(reason)) = (is_open, plan.budget.check(0, 0)) {
        outcome.give_up(UnknownReason::Stopped(reason));
    }
    outcome
}

fn decide(check: &setup::Check<'_>) -> Outcome {
    let (model, fairness) = (check.model, check.fairness);
    let conditions = model.fairness_conditions(fairness);
    let is_about_runs = matches!(
        check.property,
        Property::Ltl(_) | Property::Never(_) | Property::CtlStar(_)
    );
    let is_just = model.is_just(fairness);
    let invariant_of_runs =
        matches!(check.property, Property::Invariant(_)) && !is_machine_closed(model, &conditions);
    if is_just && (is_about_runs || invariant_of_runs) {
        let why = "justness is about what steps read and change, which predicates do not keep; \
                   give the data bounds and use the route `explicit`, or ask for `weak-process`, \
                   which implies it";
        return unsupported(fairness, why);
    }
    match check.property {
        Property::Invariant(formula) if is_machine_closed(model, &conditions) => {
            check.invariant(formula)
        }
        Property::Invariant(formula) => check.ltl(&logic::Ltl::always(formula.clone())),
        Property::Reachable(formula) => check.reachable(formula),
        Property::DeadlockFree => check.deadlock_free(),
        Property::Ltl(formula) => check.ltl(formula),
        Property::Never(_) => {
            unsupported(fairness, "claims are not decided by predicate abstraction")
        }
        Property::CtlStar(_) | Property::MayMust(_) => {
            let why = "path quantifiers are not decided by predicate abstraction";
            unsupported(fairness, why)
        }
    }
}

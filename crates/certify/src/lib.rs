//! Checks certificates: that a property holds, without searching for the reason.
//!
//! A certificate says why a property holds in terms that can be checked one state at a time. The
//! states and steps are those of the reference semantics in crate `model`, fairness is read off its
//! definition, and the automaton of the forbidden runs is built here by a plain tableau. What is
//! accepted is true if these definitions and this crate are right; neither the search nor any
//! reduction, translation or abstraction has to be. `docs/explanation/certificates.md` has the proof.
//!
//! This crate refuses to know how certificates are found.
//!
//! ```
//! use certify::{Failure, check_file};
//! use source::Memory;
//!
//! let text = "process P { step { skip } }  property fine: always true";
//! let files = Memory::new([("p.fair", text)]);
//! let budget = base::Budget::unlimited();
//! let forged = check_file(&files, "p.fair".as_ref(), b"believe me", &mut [], &budget);
//! assert!(matches!(forged, Err(Failure::Wrong(_))));
//! ```
//!
//! Read next: `obligation.rs` for what has to be shown, `check.rs` for how, `reason.rs` for the heart
//! of it.

mod bytes;
mod check;
mod family;
mod file;
mod format;
mod graph;
mod marks;
mod obligation;
mod programs;
mod reason;
mod states;
mod symbolic;
mod tableau;
mod walk;

use base::{Budget, StopReason};
use model::RunTimeError;
use source::{Family, Question, QuestionKind, System};

pub use family::{
    Base, Elementary, FamilyCondition, FamilyEdge, FamilyProof, FamilyRuns, Formula, Index,
    core_system, elementary_conditions, obligations_for_all,
};
pub use file::check_file;
pub use format::{
    Certificate, CertifiedOptions, Claim, MAX_DEPTH, NoRun, Profile, Proof, read, write,
    write_packed,
};
pub use graph::Change;
pub use marks::{Acceptance, Marks};
pub use obligation::{Obligation, obligations};
pub use programs::installed_solvers;
pub use reason::Reason;
pub use symbolic::{
    Confirmations, DataCondition, DataEdge, DataRuns, Invariant, Said, Solver, data_conditions,
    data_core,
};
pub use tableau::{BadRuns, Demands, Reading};
pub use walk::{Letter, StateWalk, Visit};

/// Why a certificate is not accepted.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Failure {
    /// It does not show what it claims.
    Wrong(String),
    /// It was not checked to its end.
    Stopped(StopReason),
    /// Whether it shows what it claims is not known: there is no solver that says so, or the model has
    /// something that is not expressed for solvers.
    Unconfirmed(String),
}

impl Failure {
    pub(crate) fn wrong(message: &str) -> Self {
        Self::Wrong(message.to_owned())
    }
}

impl std::fmt::Display for Failure {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Wrong(why) | Self::Unconfirmed(why) => f.write_str(why),
            Self::Stopped(reason) => write!(f, "the check was stopped: {}", reason.name()),
        }
    }
}

impl std::error::Error for Failure {}

impl From<RunTimeError> for Failure {
    fn from(error: RunTimeError) -> Self {
        Self::Wrong(format!("the model has a run-time error: {}", error.kind))
    }
}

/// What a certificate that was accepted shows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certified {
    /// The name of the property.
    pub property: String,
    /// Its text in the model.
    pub formula: String,
    /// What was shown of it.
    pub claim: Claim,
    /// Under which fairness.
    pub fairness: base::Fairness,
    /// With which options the model was read.
    pub options: CertifiedOptions,
    /// What was looked at, for the last of its proofs.
    pub extent: Extent,
}

/// What a proof was checked on.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Extent {
    /// On all states of the model, with their number.
    States(usize),
    /// On obligations that solvers confirmed.
    Obligations(Confirmations),
    /// On obligations about all values of a parameter, and on all states of some instances.
    Family {
        /// What solvers confirmed.
        confirmations: Confirmations,
        /// The name of the parameter.
        parameter: String,
        /// Its values in the instances.
        instances: Vec<i64>,
    },
}

impl std::fmt::Display for Confirmations {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} obligations", self.n_obligations)?;
        let by_solver = self.by_solver.iter();
        by_solver
            .filter(|(_, n_confirmed)| *n_confirmed > 0)
            .try_for_each(|(solver, n)| write!(f, ", {n} confirmed by {solver}"))
    }
}

impl std::fmt::Display for Extent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::States(n_states) => write!(f, "{n_states} states"),
            Self::Obligations(confirmations) => write!(f, "{confirmations}"),
            Self::Family {
                confirmations,
                parameter,
                instances,
            } => {
                let parameter = plain(parameter);
                write!(f, "{confirmations}; evaluated for {parameter} = ")?;
                match (instances.first(), instances.last()) {
                    (Some(first), Some(last)) => write!(f, "{first} to {last}"),
                    _ => f.write_str("nothing"),
                }
            }
        }
    }
}

impl Certified {
    /// What was shown, in one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        let what = match self.claim {
            Claim::Holds => "holds",
            Claim::Unreachable => "is violated: what it asks for cannot be reached",
        };
        let options = ["-D", "--ltl", "--ctl", "--abstract-timer"];
        let mut with = String::new();
        for (option, pairs) in options.iter().zip(&self.options.pairs) {
            for (name, value) in pairs {
                with += &format!(" {option} {}={}", plain(name), plain(value));
            }
        }
        for assumption in &self.options.assume {
            with += &format!(" --assume {}", plain(assumption));
        }

        let Self {
            property,
            formula,
            extent,
            ..
        } = self;
        let (property, formula) = (plain(property), plain(formula));
        let fairness = self.fairness.name();
        let what = match extent {
            Extent::Family { parameter, .. } => format!("{what} for all {}", plain(parameter)),
            Extent::States(_) | Extent::Obligations(_) => what.to_owned(),
        };
        format!("certified: `{property}` {what}, fairness {fairness}{with}: {formula} ({extent})")
    }
}

/// A text on one line. Texts from a certificate must not look like further lines of the checker.
fn plain(text: &str) -> String {
    let escaped = |c: char| -> Box<dyn Iterator<Item = char>> {
        if c.is_control() {
            Box::new(c.escape_default())
        } else {
            Box::new(std::iter::once(c))
        }
    };
    text.chars().flat_map(escaped).collect()
}

/// Checks a certificate of one of the questions about one of the systems. Solvers are needed for proofs
/// by invariants only; each of their obligations must be confirmed by one and refuted by none.
///
/// # Errors
/// It does not show what it claims, or the budget is spent.
pub fn verify(
    systems: &[System],
    questions: &[Question],
    certificate: &Certificate,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Certified, Failure> {
    let question = question_of(questions, certificate)?;
    let model = &systems[question.system].model;
    if let ([Proof::Graph(runs)], Claim::Holds) = (&certificate.proofs[..], certificate.claim) {
        let asked = (&question.property.property, certificate.fairness);
        let confirmations = symbolic::check_data_runs(model, asked, runs, solvers, budget)?;
        let extent = Extent::Obligations(confirmations);
        return Ok(accepted(question, certificate, extent));
    }
    let by_runs = matches!(certificate.proofs[..], [Proof::Runs(_)]);
    let (fairness, claim) = (certificate.fairness, certificate.claim);
    let wanted = obligations(model, &question.property.property, fairness, claim, by_runs);
    let wanted = wanted.map_err(Failure::Wrong)?;
    if wanted.len() != certificate.proofs.len() {
        return Err(Failure::wrong("the claim needs another number of proofs"));
    }
    let mut extent = Extent::States(0);
    for (obligation, proof) in wanted.iter().zip(&certificate.proofs) {
        extent = check::check_proof(model, obligation, proof, solvers, budget)?;
    }

    Ok(accepted(question, certificate, extent))
}

/// Checks a certificate of one of the questions about all members of a family.
///
/// # Errors
/// It does not show what it claims, or the budget is spent.
pub fn verify_for_all(
    family: &Family,
    questions: &[Question],
    certificate: &Certificate,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Certified, Failure> {
    let question = question_of(questions, certificate)?;
    let ([Proof::Family(proof)], Claim::Holds) = (&certificate.proofs[..], certificate.claim)
    else {
        return Err(Failure::wrong(
            "the claim is not one about all values of a parameter",
        ));
    };

    let extent = family::check_family(
        family,
        question,
        certificate.fairness,
        proof,
        solvers,
        budget,
    )?;

    Ok(accepted(question, certificate, extent))
}

fn accepted(question: &Question, certificate: &Certificate, extent: Extent) -> Certified {
    Certified {
        property: question.property.name.clone(),
        formula: question.property.text.clone(),
        claim: certificate.claim,
        fairness: certificate.fairness,
        options: certificate.options.clone(),
        extent,
    }
}

/// The question that a certificate is about, if there are certificates for it.
fn question_of<'q>(
    questions: &'q [Question],
    certificate: &Certificate,
) -> Result<&'q Question, Failure> {
    let name = &certificate.property;

    let mut named = questions.iter().filter(|q| q.property.name == *name);
    let (Some(question), None) = (named.next(), named.next()) else {
        let message = format!("the model has not exactly one property `{name}`");
        return Err(Failure::Wrong(message));
    };

    match question.kind {
        QuestionKind::Property | QuestionKind::EndStates => {}
        QuestionKind::Optimum { .. }
        | QuestionKind::Deterministic { .. }
        | QuestionKind::Refines { .. } => {
            return Err(Failure::wrong(
                "there are no certificates for such questions",
            ));
        }
    }

    match question.undecided(certificate.fairness) {
        Some(why) => Err(Failure::wrong(why)),
        None => Ok(question),
    }
}

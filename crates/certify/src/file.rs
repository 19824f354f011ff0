//! From files to checked certificates.

use std::path::Path;

use base::{Budget, Severity, Source};
use source::{Files, FrontEnd, language_of};

use crate::{Certified, Failure, Solver, read, verify, verify_for_all};

const FRONT_ENDS: [&dyn FrontEnd; 4] = [
    &lang::Native,
    &csp::Csp,
    &promela::Promela,
    &ta::ThresholdAutomata,
];

/// Checks all certificates in `bytes` about the model in a file. The model is read anew for each, with
/// the options that its certificate names.
///
/// # Errors
/// The model cannot be read, or a certificate does not show what it claims.
pub fn check_file(
    files: &dyn Files,
    model: &Path,
    bytes: &[u8],
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Vec<Certified>, Failure> {
    let text = files.read(model);
    let text = text.map_err(|error| Failure::Wrong(format!("{error:#}")))?;
    let front_end = language_of(&FRONT_ENDS, model, &text, None);
    let front_end = front_end.ok_or_else(|| Failure::wrong("the language is not known"))?;

    let certificates = read(bytes)?;
    if certificates.is_empty() {
        return Err(Failure::wrong("the file has no certificates"));
    }
    let mut accepted = Vec::new();
    for certificate in &certificates {
        let options = certificate.options.for_front_end(!certificate.is_for_all());
        // Only what a front end would provide for itself: a forged file must not ask for more.
        if options.pool != 0 && !front_end.larger_pools().contains(&options.pool) {
            return Err(Failure::wrong("the model is never read like this"));
        }
        front_end.accept(&options).map_err(Failure::Wrong)?;
        let source = Source {
            name: model.display().to_string(),
            text: text.clone(),
        };
        let loaded = front_end.load(source, files, &options);
        let mut diagnostics = loaded.diagnostics.iter();
        if let Some(error) = diagnostics.find(|d| d.severity == Severity::Error) {
            return Err(Failure::Wrong(format!("the model: {}", error.message)));
        }
        let in_property = |failure| match failure {
            Failure::Wrong(why) => Failure::Wrong(format!("`{}`: {why}", certificate.property)),
            Failure::Unconfirmed(why) => {
                Failure::Unconfirmed(format!("`{}`: {why}", certificate.property))
            }
            Failure::Stopped(reason) => Failure::Stopped(reason),
        };
        let questions = &loaded.questions;
        let checked = match (loaded.family(), loaded.systems()) {
            (Some(family), _) => verify_for_all(family, questions, certificate, solvers, budget),
            (None, systems) => verify(systems, questions, certificate, solvers, budget),
        };
        accepted.push(checked.map_err(in_property)?);
    }
    Ok(accepted)
}

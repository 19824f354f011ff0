//! The abstraction on which a property is decided, as text.

use abstraction::predicate::text::{Listing, native, promela, smv};
use abstraction::predicate::{AtomTerm, Goal};
use base::AtomId;
use evidence::{UnknownReason, Verdict};
use logic::{Ltl, NamedProperty, Property};
use model::Model;

use super::setup::{Check, Setup};
use crate::Plan;
use crate::fairness::effective_fairness;

/// A language.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TextFormat {
    /// The native one.
    Native,
    /// NuSMV and nuXmv.
    Smv,
    /// Spin.
    Promela,
}

/// Decides a property and prints the abstraction that was used in the end, with how it was found
/// and the verdict as remarks.
///
/// # Errors
/// Why there is no text.
pub fn abstraction_text(
    model: &Model,
    property: &NamedProperty,
    plan: &Plan,
    format: TextFormat,
) -> Result<(String, Vec<String>), String> {
    let fairness = effective_fairness(model, property, plan.fairness);
    let setup = Setup::new(model, &property.property, &plan.predicate)
        .map_err(|refusal| refusal.message)?;
    let check = Check {
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

    let outcome = super::decide(&check);
    if let Verdict::Unknown(UnknownReason::Unsupported(why)) = outcome.verdict {
        return Err(why);
    }
    let mut abstraction = check.abstraction();
    if let Some(domain) = check.last_domain.borrow().clone() {
        abstraction.domain = domain;
        abstraction.domain.facts_as_predicates(&setup.program);
        abstraction.refine(0);
    }

    let goal = Goal {
        is_reached: &|_, _| false,
        deadlock: false,
        complete: false,
    };
    let (graph, halt) = abstraction.explore(&goal, &plan.budget);
    if halt.is_some() {
        return Err("the abstraction could not be explored completely".to_owned());
    }
    let formula = match &property.property {
        Property::Ltl(formula) => Some(formula.clone()),
        Property::Invariant(formula) => Some(Ltl::always(formula.clone())),
        _ => None,
    };
    let named = formula.map(|formula| (property.name.clone(), formula));
    let mut atoms: Vec<(AtomId, AtomTerm)> = setup.atoms.clone().into_iter().collect();
    atoms.sort_by_key(|(atom, _)| *atom);

    let listing = Listing::new(model, &mut abstraction, &graph, named, &atoms);
    let text = match format {
        TextFormat::Native => native(&listing),
        TextFormat::Smv => smv(&listing),
        TextFormat::Promela => promela(&listing),
    };
    let mut remarks = vec![format!("{}: {}", property.name, outcome.verdict.name())];
    remarks.extend(outcome.remarks);
    Ok((text, remarks))
}

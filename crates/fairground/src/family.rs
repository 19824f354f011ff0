//! Models with a parameter that has no value: checked for all its values.

use base::Progress;
use check::{ForAll, Outcome, Plan};
use logic::NamedProperty;
use model::Model;
use source::{Content, Family, Loaded, Question, System};

use crate::answer::{Answer, result};
use crate::error::{Error, WrongText};
use crate::project::Project;

/// Values of the parameter that are tried for a member to speak about.
const FIRST_VALUES: std::ops::RangeInclusive<i64> = 0..=8;

/// Has the family any member?
pub(crate) fn check_members(project: &Project, family: &Family) -> Result<(), Error> {
    let member = |value| first_system(family.members.with_value(value));
    if FIRST_VALUES
        .into_iter()
        .any(|value| member(value).is_some())
    {
        return Ok(());
    }
    // What is wrong with all members is wrong with this one.
    Err(Error::Text(WrongText {
        sources: project.sources.clone(),
        diagnostics: family.members.with_value(3).diagnostics,
    }))
}

impl Project {
    /// Checks a property for all values of the parameter.
    pub(crate) fn check_family(
        &self,
        family: &Family,
        question: &Question,
        plan: &Plan,
        progress: &mut dyn Progress,
    ) -> Result<Answer, Error> {
        let property = &question.property;
        let instances = |value: i64| -> Option<(Model, NamedProperty)> {
            let mut loaded = family.members.with_value(value);
            let is_it = |known: &Question| known.property.name == property.name;
            let position = loaded.questions.iter().position(is_it)?;
            let same = loaded.questions.swap_remove(position).property;
            Some((first_system(loaded)?.model, same))
        };

        let for_all = ForAll {
            template: &family.template,
            property,
            scope: &question.scope,
            instances: &instances,
            cross_check: !plan.no_cross_check,
        };

        let outcome = check::check_for_all(&for_all, plan, progress)?.outcome;
        Ok(self.for_all(property, outcome))
    }

    /// The answer to a question about all values of parameters.
    pub(crate) fn for_all(&self, property: &NamedProperty, outcome: Outcome) -> Answer {
        let mut result = result(&self.sources, property, &outcome);
        result.remarks.splice(0..0, outcome.remarks.iter().cloned());
        for diagnostic in &outcome.warnings {
            let warning = report::warning(diagnostic, &self.sources);
            // The same said about the property as a whole; this one names the place.
            result
                .warnings
                .retain(|known| known.message != warning.message);
            result.warnings.push(warning);
        }

        Answer::of_result(result, Vec::new(), outcome)
    }
}

fn first_system(loaded: Loaded) -> Option<System> {
    match loaded.content {
        Some(Content::Systems(systems)) => systems.into_iter().next(),
        Some(Content::Family(_) | Content::Threshold(_)) | None => None,
    }
}

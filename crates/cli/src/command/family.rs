//! Models with a parameter that has no value: checked for all its values.

use base::Source;
use check::{ForAll, Outcome, Plan};
use logic::NamedProperty;
use model::Model;
use report::PropertyResult;
use source::{Question, System};

use super::check::result;
use crate::failure::Failure;
use crate::loading::{self, Loaded};
use crate::progress::Meter;

/// Values of the parameter that are tried for an instance to speak about.
const FIRST_INSTANCES: std::ops::RangeInclusive<i64> = 0..=8;

/// All instances of a model.
pub struct Family {
    /// What the text describes.
    pub family: source::Family,
    /// What is asked.
    pub questions: Vec<Question>,
    /// The texts.
    pub sources: Vec<Source>,
    /// Compare what is proved with small instances?
    pub cross_check: bool,
}

impl Family {
    /// The properties, with the model of the smallest instance.
    ///
    /// # Errors
    /// There is no instance.
    pub fn as_loaded(&self) -> Result<Loaded, Failure> {
        let mut instances = FIRST_INSTANCES.clone().map(|value| self.instance(value));
        let Some(first) = instances.find_map(|loaded| first_system(loaded)) else {
            // What is wrong with all instances is wrong with this one.
            loading::show(&self.instance(3), true);
            return Err(Failure::Diagnosed);
        };
        Ok(Loaded {
            systems: vec![first],
            questions: self.questions.clone(),
            sources: self.sources.clone(),
        })
    }

    fn instance(&self, value: i64) -> source::Loaded {
        self.family.members.with_value(value)
    }

    /// Checks a property for all values of the parameter.
    ///
    /// # Errors
    /// Evidence was found to be wrong.
    pub fn check(
        &self,
        question: &Question,
        plan: &Plan,
        mut meter: Meter<'_>,
    ) -> Result<(Outcome, PropertyResult), Failure> {
        let property = &question.property;
        let instances = |value: i64| -> Option<(Model, NamedProperty)> {
            let mut loaded = self.instance(value);
            let is_it = |known: &Question| known.property.name == property.name;
            let position = loaded.questions.iter().position(is_it)?;
            let same = loaded.questions.swap_remove(position).property;
            Some((first_system(loaded)?.model, same))
        };
        let question = ForAll {
            template: &self.family.template,
            property,
            scope: &question.scope,
            instances: &instances,
            cross_check: self.cross_check,
        };
        let checked = check::check_for_all(&question, plan, &mut meter);
        let seconds = meter.seconds();
        meter.finish();
        let answer = checked?;
        let mut result = result(property, &self.sources, &answer.outcome, seconds);
        result
            .remarks
            .splice(0..0, answer.outcome.remarks.iter().cloned());
        let warnings = answer.outcome.warnings.iter();
        let warnings: Vec<_> = warnings
            .map(|d| report::warning(d, &self.sources))
            .collect();
        for warning in warnings {
            // The same said about the property as a whole; this one names the place.
            result
                .warnings
                .retain(|known| known.message != warning.message);
            result.warnings.push(warning);
        }
        Ok((answer.outcome, result))
    }
}

fn first_system(loaded: source::Loaded) -> Option<System> {
    let loaded = loading::systems(loaded).ok()?;
    loaded.systems.into_iter().next()
}

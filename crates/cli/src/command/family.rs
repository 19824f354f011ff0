//! Models with a parameter that has no value: checked for all its values.

use base::{Route, Severity, Source};
use check::{ForAll, Outcome, Plan};
use lang::LoadedTemplate;
use logic::NamedProperty;
use model::{Model, Scope, Template};
use report::PropertyResult;

use super::check::result;
use crate::diagnostics;
use crate::failure::Failure;
use crate::loading::{self, Loaded};
use crate::options::CheckOptions;
use crate::progress::Meter;

/// Values of the parameter that are tried for an instance to speak about.
const FIRST_INSTANCES: std::ops::RangeInclusive<i64> = 0..=8;

/// All instances of a model.
pub struct Family {
    template: Template,
    properties: Vec<(NamedProperty, Scope)>,
    sources: Vec<Source>,
    front_end: lang::Options,
    cross_check: bool,
}

impl Family {
    /// Reads a model, if it has a parameter without value.
    ///
    /// # Errors
    /// The file cannot be read, its text is wrong, or the route does not fit.
    pub fn load(
        options: &CheckOptions,
        front_end: &lang::Options,
    ) -> Result<Option<Self>, Failure> {
        let loaded = load_template(&options.model.file, front_end, !options.quiet)?;
        let (family, template) = match (loaded, options.route) {
            (None, Some(Route::Ws1s)) => {
                return Err(Failure::wrong(
                    "the model has no parameter without value (`param N`), so there is nothing to check for all values",
                ));
            }
            (None, _) => return Ok(None),
            (Some(_), Some(Route::Explicit)) => {
                return Err(Failure::wrong(
                    "the route `explicit` needs a value for every parameter, such as -D N=3",
                ));
            }
            (Some(mut loaded), _) => {
                let template = loaded.template.take().ok_or(Failure::Diagnosed)?;
                (loaded, template)
            }
        };
        Ok(Some(Self {
            template,
            properties: family.properties,
            sources: family.sources,
            front_end: front_end.clone(),
            cross_check: !options.no_cross_check,
        }))
    }

    /// The properties, with the model of the smallest instance.
    ///
    /// # Errors
    /// There is no instance.
    pub fn as_loaded(&self) -> Result<Loaded, Failure> {
        let model = FIRST_INSTANCES
            .clone()
            .find_map(|value| self.load_instance(value).0);
        let Some(model) = model else {
            // What is wrong with all instances is wrong with this one.
            for diagnostic in &self.load_instance(3).2 {
                diagnostics::show(diagnostic, &self.sources);
            }
            return Err(Failure::Diagnosed);
        };
        Ok(Loaded {
            model,
            properties: self
                .properties
                .iter()
                .map(|(property, _)| property.clone())
                .collect(),
            hints: vec![model::Hints::default(); self.properties.len()],
            sources: self.sources.clone(),
            others: Vec::new(),
            asked: std::collections::BTreeMap::new(),
        })
    }

    fn load_instance(
        &self,
        value: i64,
    ) -> (Option<Model>, Vec<NamedProperty>, Vec<base::Diagnostic>) {
        let mut options = self.front_end.clone();
        options
            .defines
            .push((self.template.name.clone(), value.to_string()));
        let loaded = lang::load(self.sources[0].clone(), &options);
        (loaded.model, loaded.properties, loaded.diagnostics)
    }

    /// Checks a property for all values of the parameter.
    ///
    /// # Errors
    /// Evidence was found to be wrong.
    pub fn check(
        &self,
        property: &NamedProperty,
        plan: &Plan,
        mut meter: Meter<'_>,
    ) -> Result<(Outcome, PropertyResult), Failure> {
        let known = self
            .properties
            .iter()
            .find(|(known, _)| known.name == property.name);
        let (_, scope) = known.expect("the property is one of the family");
        let instances = |value: i64| {
            let (model, properties, _) = self.load_instance(value);
            let found = properties
                .into_iter()
                .find(|known| known.name == property.name);
            model.zip(found)
        };
        let question = ForAll {
            template: &self.template,
            property,
            scope,
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

/// Reads a model with a parameter that has no value, and shows what is to be said about its text.
///
/// # Errors
/// The file cannot be read.
pub fn load_template(
    path: &std::path::Path,
    options: &lang::Options,
    warnings: bool,
) -> Result<Option<LoadedTemplate>, Failure> {
    loading::check_extension(path)?;
    if path.extension().is_none_or(|extension| extension != "fair") {
        return Ok(None);
    }
    let text = loading::read_text(path)?;
    let name = path.display().to_string();
    let Some(loaded) = lang::load_template(Source { name, text }, options) else {
        return Ok(None);
    };
    for diagnostic in &loaded.diagnostics {
        if warnings || diagnostic.severity == Severity::Error {
            diagnostics::show(diagnostic, &loaded.sources);
        }
    }
    Ok(Some(loaded))
}

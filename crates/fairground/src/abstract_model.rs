//! The abstract model on which a property is decided, as text.

use abstraction::parameterized::{self as family, Asked, Level, Obstacle};
use base::{Budget, Diagnostic};
use check::predicate::{TextFormat, abstraction_text};
use check::{Plan, template_fairness};
use logic::Property;
use model::Template;
use source::{Content, Question, System};

use crate::error::{Error, WrongText};
use crate::project::Project;

/// What an abstraction is printed for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AbstractionFormat {
    /// The abstract model in the native language.
    Native,
    /// The abstract model for NuSMV and nuXmv.
    Smv,
    /// The abstract model for Spin.
    Promela,
    /// The family of all instances as a WS1S transition system, as a file for MONA.
    Ws1s,
}

/// An abstraction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct AbstractionText {
    /// The abstract model.
    pub text: String,
    /// How it was found.
    pub remarks: Vec<String>,
}

impl Project {
    /// The abstraction on which the question with this name is decided; without a name, the first.
    ///
    /// # Errors
    /// There is no such question, or no abstraction for it.
    pub fn abstraction(
        &self,
        name: Option<&str>,
        format: AbstractionFormat,
        plan: &Plan,
    ) -> Result<AbstractionText, Error> {
        match &self.content {
            Content::Systems(systems) => self.of_system(systems, name, format, plan),
            Content::Threshold(_) => Err(Error::Call(
                "threshold automata are decided without an abstract model".to_owned(),
            )),
            Content::Family(family) => {
                let text = self.of_family(&family.template, name, format, &plan.budget)?;
                let remarks = Vec::new();
                Ok(AbstractionText { text, remarks })
            }
        }
    }

    fn of_system(
        &self,
        systems: &[System],
        name: Option<&str>,
        format: AbstractionFormat,
        plan: &Plan,
    ) -> Result<AbstractionText, Error> {
        let file = &systems[0].name;
        let format = match format {
            AbstractionFormat::Ws1s => {
                return Err(Error::Call(format!(
                    "`{file}` does not have a free parameter, so it is not a family of processes"
                )));
            }
            AbstractionFormat::Native => TextFormat::Native,
            AbstractionFormat::Smv => TextFormat::Smv,
            AbstractionFormat::Promela => TextFormat::Promela,
        };

        let is_wanted = |question: &&Question| {
            name.is_none_or(|name| question.property.name == name) && !question.needs_search()
        };
        let Some(question) = self.asked.iter().find(is_wanted) else {
            return Err(Error::Call(format!("`{file}` has no such property")));
        };

        let mut plan = plan.clone();
        plan.predicate.hints = question.scope.hints.clone();
        let model = &systems[question.system].model;
        let printed = abstraction_text(model, &question.property, &plan, format);
        let (text, remarks) =
            printed.map_err(|why| Error::Stopped(format!("no abstraction is printed: {why}")))?;
        Ok(AbstractionText { text, remarks })
    }

    fn of_family(
        &self,
        template: &Template,
        name: Option<&str>,
        format: AbstractionFormat,
        budget: &Budget,
    ) -> Result<String, Error> {
        match format {
            AbstractionFormat::Ws1s => {
                let system = family::Family::new(template);
                let system = system.map_err(|outside| self.refuse(Obstacle::Outside(outside)))?;
                let text = family::mona(&system);
                text.map_err(|outside| self.refuse(Obstacle::Outside(outside)))
            }
            AbstractionFormat::Native => {
                let mut questions = self.asked.iter();
                let question = match name {
                    Some(name) => questions.find(|question| question.property.name == name),
                    None => questions.next(),
                };
                let question = question.ok_or_else(|| no_question(name))?;
                native(template, question, budget).map_err(|obstacle| self.refuse(obstacle))
            }
            AbstractionFormat::Smv | AbstractionFormat::Promela => Err(Error::Call(
                "the abstraction of a family is printed in the native language or for MONA only"
                    .to_owned(),
            )),
        }
    }

    /// Says why there is no abstraction.
    fn refuse(&self, obstacle: Obstacle) -> Error {
        match obstacle {
            Obstacle::Outside(outside) => {
                let diagnostic = Diagnostic::error("outside-class", outside.span, outside.message);
                Error::Text(WrongText {
                    sources: self.sources.clone(),
                    diagnostics: vec![diagnostic],
                })
            }
            Obstacle::Unknown(unknown) => Error::Stopped(unknown.name().to_owned()),
            Obstacle::Undecided(why) => Error::Call(why),
        }
    }
}

fn no_question(name: Option<&str>) -> Error {
    Error::Call(match name {
        Some(name) => format!("there is no property `{name}`"),
        None => "the model has no property that an abstraction could be for".to_owned(),
    })
}

fn native(template: &Template, question: &Question, budget: &Budget) -> Result<String, Obstacle> {
    let property = &question.property;
    let atoms = match &property.property {
        Property::Ltl(formula) | Property::Invariant(formula) => formula.atoms(),
        _ => Vec::new(),
    };
    let asked = Asked {
        template,
        scope: &question.scope,
        atoms: &atoms,
        fairness: template_fairness(template, property, None),
        span: property.span,
        detail: family::Detail::default(),
        facts: None,
    };
    let abstraction = family::abstraction(&asked, Level::Coarse, budget)?;
    // Assumptions of the template are about its own atoms and are left to `fair check`.
    Ok(family::native(&abstraction, property, &[]))
}

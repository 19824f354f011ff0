//! `fair abstract`: prints the abstract model on which a property is decided.

use abstraction::parameterized::{self as family, Asked, Level, Obstacle};
use base::{Budget, Diagnostic};
use check::Plan;
use check::predicate::{TextFormat, abstraction_text};
use logic::Property;
use model::Template;
use source::{Content, Loaded, Question};

use crate::failure::{Failure, Status};
use crate::options::{AbstractFormat, AbstractOptions};
use crate::{diagnostics, limits, loading, output, solver};

/// Prints an abstraction.
///
/// # Errors
/// The call or the model is wrong, or there is no abstraction to be printed.
pub fn run(options: &AbstractOptions) -> Result<Status, Failure> {
    let front_end = options.model.for_front_end();
    let loaded = loading::load_any(&options.model.file, &loading::Disk, &front_end)?;
    loading::show(&loaded, true);
    if let Some(Content::Family(family)) = &loaded.content {
        return print_family(options, &loaded, &family.template);
    }
    let loaded = loading::systems(loaded)?;
    let file = options.model.file.display();
    let format = match options.to {
        AbstractFormat::Ws1s => {
            return Err(Failure::wrong(format!(
                "`{file}` has no free parameter, so it is no family of processes"
            )));
        }
        AbstractFormat::Native => TextFormat::Native,
        AbstractFormat::Smv => TextFormat::Smv,
        AbstractFormat::Promela => TextFormat::Promela,
    };
    let wanted = |name: &str| options.property.as_ref().is_none_or(|own| own == name);
    let mut questions = loaded.questions.iter();
    let Some(question) = questions.find(|q| wanted(&q.property.name) && !q.needs_search()) else {
        return Err(Failure::wrong(format!("`{file}` has no such property")));
    };
    let budget = Budget::unlimited();
    limits::enforce(&budget, options.timeout)?;
    let plan = Plan {
        budget,
        predicate: check::predicate::Options {
            solver: solver::maker(&options.data),
            max_refinements: options.data.max_refinements,
            hints: question.scope.hints.clone(),
            ..check::predicate::Options::default()
        },
        ..Plan::default()
    };
    let (text, remarks) =
        abstraction_text(loaded.model_of(question), &question.property, &plan, format)
            .map_err(|why| Failure::Stopped(format!("no abstraction is printed: {why}")))?;
    for remark in remarks {
        output::note(&remark);
    }
    output::print(&text)?;
    Ok(Status::Success)
}

fn print_family(
    options: &AbstractOptions,
    loaded: &Loaded,
    template: &Template,
) -> Result<Status, Failure> {
    let budget = Budget::unlimited();
    limits::enforce(&budget, options.timeout)?;
    let text = match options.to {
        AbstractFormat::Ws1s => {
            let system = family::Family::new(template)
                .map_err(|outside| refuse(&Obstacle::Outside(outside), loaded))?;
            family::mona(&system)
        }
        AbstractFormat::Native => {
            let question = chosen(options, loaded)?;
            native(template, question, &budget).map_err(|o| refuse(&o, loaded))?
        }
        AbstractFormat::Smv | AbstractFormat::Promela => {
            return Err(Failure::wrong(
                "the abstraction of a family is printed in the native language or for MONA only",
            ));
        }
    };
    output::print(&text)?;
    Ok(Status::Success)
}

fn chosen<'l>(options: &AbstractOptions, loaded: &'l Loaded) -> Result<&'l Question, Failure> {
    let mut questions = loaded.questions.iter();
    let found = match &options.property {
        Some(name) => questions.find(|question| question.property.name == *name),
        None => questions.next(),
    };
    found.ok_or_else(|| match &options.property {
        Some(name) => Failure::wrong(format!("there is no property `{name}`")),
        None => Failure::wrong("the model has no property that an abstraction could be for"),
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
        fairness: check::template_fairness(template, property, None),
        span: property.span,
        search_invariants: false,
    };
    let abstraction = family::abstraction(&asked, Level::Coarse, budget)?;
    // Assumptions of the template are about its own atoms and are left to `fair check`.
    Ok(family::native(&abstraction, property, &[]))
}

/// Says why there is no abstraction.
fn refuse(obstacle: &Obstacle, loaded: &Loaded) -> Failure {
    match obstacle {
        Obstacle::Outside(outside) => {
            let diagnostic =
                Diagnostic::error("outside-class", outside.span, outside.message.clone());
            diagnostics::show(&diagnostic, &loaded.sources);
            Failure::Diagnosed
        }
        Obstacle::Unknown(unknown) => Failure::Stopped(unknown.name().to_owned()),
        Obstacle::Undecided(why) => Failure::wrong(why),
    }
}

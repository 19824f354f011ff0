//! Reasons to distrust a "holds": what was never exercised.
//!
//! All of them are facts about a complete exploration; none is guessed from a partial one.

use std::collections::{BTreeMap, BTreeSet};

use base::{Diagnostic, Fairness, NoProgress, Route, SourceId, Span};
use engine::Stats;
use logic::{CtlStar, Ltl, NamedProperty, Op, PathQuantifier, Property};
use model::{
    Annotation, Atom, AtomMeaning, BinaryOp, CommandId, Expr, Model, ModelParts, Step, Stmt,
    StmtKind, Subject,
};

use crate::explicit;
use crate::fairness::is_machine_closed;
use crate::{Outcome, Plan, reduction};

/// What is suspicious about a property that holds.
pub(crate) fn warnings(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    stats: &Stats,
    plan: &Plan,
) -> Vec<Diagnostic> {
    let mut warnings = Vec::new();
    warnings.extend(vacuous(model, property, fairness, stats, plan));
    warnings.extend(premise_never_true(model, property, stats, plan));
    warnings
}

/// No run counts at all.
pub(crate) fn vacuous(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    stats: &Stats,
    plan: &Plan,
) -> Option<Diagnostic> {
    if matches!(
        property.property,
        Property::Reachable(_) | Property::DeadlockFree
    ) {
        return None;
    }

    if stats.n_states == 0 {
        let message = "the model has no initial state, so everything holds of it";
        let warning = Diagnostic::warning("no-initial-state", property.span, message);
        return Some(warning.help("check the `init` constraints"));
    }

    let conditions = model.fairness_conditions(fairness);
    if is_machine_closed(model, &conditions) {
        return None;
    }
    if explicit::has_fair_run(model, fairness, plan)? {
        return None;
    }
    let message = format!(
        "the system has no fair run, so `{}` holds vacuously",
        property.name
    );
    let warning = Diagnostic::warning("no-fair-run", property.span, message);
    Some(warning.help("check the assumptions and the unconditional `fair` annotations"))
}

/// `[] (a -> ...)` where `a` is never true.
fn premise_never_true(
    model: &Model,
    property: &NamedProperty,
    stats: &Stats,
    plan: &Plan,
) -> Vec<Diagnostic> {
    // What was not visited may make it true.
    if stats.is_partial {
        return Vec::new();
    }
    let mut premises = Vec::new();
    match &property.property {
        Property::Ltl(formula) => collect_premises(model, formula, &mut premises),
        Property::Invariant(formula) => {
            collect_premises(model, &Ltl::always(formula.clone()), &mut premises);
        }
        Property::CtlStar(formula) => {
            let quantified = formula.quantified().iter();
            let for_all = quantified.filter(|q| q.quantifier == PathQuantifier::All);
            for_all.for_each(|q| collect_premises(model, &q.path, &mut premises));
        }
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::Never(_)
        | Property::MayMust(_) => {}
    }

    let warn = |premise: Premise| {
        let name = premise.name;
        let message = format!("the left side of the implication, `{name}`, is never true");
        Diagnostic::warning("premise-never-true", property.span, message)
    };
    premises
        .into_iter()
        .filter(|premise| premise.is_never_true(model, stats, plan))
        .map(warn)
        .collect()
}

/// The left side of an implication.
struct Premise {
    /// How reports call it.
    name: String,
    kind: PremiseKind,
}

enum PremiseKind {
    /// A part of the formula.
    Formula(Ltl),
    /// A part of a state proposition.
    Part(Expr),
}

/// Larger systems are not explored once more for a warning.
const MAX_STATES_FOR_PREMISE: u64 = 1_000_000;

/// What searches for a warning may visit: of larger systems a tenth, unless warnings about all
/// states were asked for.
const MAX_EFFORT_FOR_ADVICE: u64 = 20_000;

/// What checking again without an annotation may visit for all annotations together, in about a millisecond. Beyond
/// that it is done only if warnings about all states were asked for.
const MAX_EFFORT_FOR_NEEDLESS: u64 = 2_000;

/// So many states could be visited in the time in which a model is built and compiled.
const STATES_PER_MODEL: u64 = 500;

/// The plan for a search that is made for a warning only, after one that has seen so much.
fn plan_for_advice(plan: &Plan, stats: &Stats) -> Plan {
    let mut plan = plan.clone();
    if !plan.all_states {
        let n_states = MAX_EFFORT_FOR_ADVICE.max(stats.n_states / 10);
        plan.budget = plan.budget.with_trial_states(n_states);
    }
    plan
}

impl Premise {
    fn is_never_true(&self, model: &Model, stats: &Stats, plan: &Plan) -> bool {
        if let PremiseKind::Formula(formula) = &self.kind
            && let Op::Atom(atom) = formula.op()
        {
            return stats.atoms_seen.get(atom.index()) == Some(&false);
        }
        if stats.n_states > MAX_STATES_FOR_PREMISE {
            return false;
        }

        let plan = &plan_for_advice(plan, stats);
        match &self.kind {
            PremiseKind::Formula(formula) => {
                explicit::is_reachable(model, formula, plan) == Some(false)
            }
            PremiseKind::Part(part) => {
                let mut parts = model.parts().clone();
                let atom = base::AtomId::new(parts.atoms.len());
                parts.atoms.push(Atom {
                    name: self.name.clone(),
                    meaning: AtomMeaning::State(part.clone()),
                    span: Span::nowhere(),
                });
                parts.finish().is_ok_and(|model| {
                    explicit::is_reachable(&model, &Ltl::atom(atom), plan) == Some(false)
                })
            }
        }
    }
}

/// The left sides of implications under a conjunction of `[]`.
fn collect_premises(model: &Model, formula: &Ltl, premises: &mut Vec<Premise>) {
    match formula.op() {
        Op::And(parts) => {
            parts
                .iter()
                .for_each(|part| collect_premises(model, part, premises));
        }
        Op::Always(inner) => match inner.op() {
            Op::Implies(premise, _) if premise.is_propositional() && is_plain(premise) => {
                let name = |atom: base::AtomId| model.parts().atoms[atom.index()].name.clone();
                premises.push(Premise {
                    name: premise.display(&name).to_string(),
                    kind: PremiseKind::Formula(premise.clone()),
                });
            }
            Op::And(parts) => {
                let boxed = parts.iter().map(|part| Ltl::always(part.clone()));
                boxed.for_each(|part| collect_premises(model, &part, premises));
            }
            Op::Atom(atom) if is_plain(inner) => {
                premises.extend(premise_of_atom(model, *atom));
            }
            _ => {}
        },
        _ => {}
    }
}

/// Does the formula mention no path quantifier, so that it has a value at a single position?
fn is_plain(formula: &Ltl) -> bool {
    let mut atoms = formula.atoms().into_iter();
    atoms.all(|atom| CtlStar::as_quantified(atom).is_none())
}

/// A state proposition that is itself an implication is one atom, because its right side may have
/// a value only where its left side is true.
fn premise_of_atom(model: &Model, atom: base::AtomId) -> Option<Premise> {
    let Atom { name, meaning, .. } = &model.parts().atoms[atom.index()];
    // shape: only implications have a premise.
    let AtomMeaning::State(Expr::Binary(BinaryOp::Implies, premise, _)) = meaning else {
        return None;
    };
    Some(Premise {
        name: text_of_premise(name).to_owned(),
        kind: PremiseKind::Part((**premise).clone()),
    })
}

/// What stands left of the first `->` outside all parentheses; else the whole text.
fn text_of_premise(text: &str) -> &str {
    let mut depth = 0;
    for (position, letter) in text.char_indices() {
        match letter {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            '-' if depth == 0 && text[position..].starts_with("->") => {
                return text[..position].trim_end();
            }
            _ => {}
        }
    }
    text
}

/// Steps that no reachable state can take, one warning for each place where they are written.
pub(crate) fn never_taken(model: &Model, stats: &Stats) -> Vec<Diagnostic> {
    let processes = &model.parts().processes;
    let mut taken: Vec<Vec<bool>> = processes
        .iter()
        .map(|process| vec![false; process.steps.len()])
        .collect();
    for (command, is_taken) in model.commands().iter().zip(&stats.commands_taken) {
        let process = model.instances()[command.instance.index()].process;
        taken[process.index()][command.step] |= is_taken;
    }

    let mut places: Vec<(Span, Vec<String>)> = Vec::new();
    let mut place_of: BTreeMap<(SourceId, u32, u32), usize> = BTreeMap::new();
    for (process, taken) in processes.iter().zip(&taken) {
        // One statement may be the step of several locations.
        let place = |step: &Step| (step.span.source, step.span.start, step.span.end);
        let written = |step: &Step| (place(step), step.name.clone());
        let is_taken = process.steps.iter().zip(taken).filter(|(_, taken)| **taken);
        let mut known: BTreeSet<_> = is_taken.map(|(step, _)| written(step)).collect();
        for step in process.steps.iter().filter(|step| !is_bound(step)) {
            if known.insert(written(step)) {
                let next = places.len();
                let at = *place_of.entry(place(step)).or_insert(next);
                if at == next {
                    places.push((step.span, Vec::new()));
                }
                places[at]
                    .1
                    .push(format!("`{}.{}`", process.name, step.name));
            }
        }
    }

    let warning = |(span, names): (Span, Vec<String>)| {
        let message = match names.as_slice() {
            [only] => format!("{only} is never taken"),
            [first, second] => format!("{first} and {second} are never taken"),
            [first, .., last] => {
                let n_more = names.len() - 2;
                format!("{first}, {last} and {n_more} more are never taken")
            }
            [] => unreachable!("a place has a step"),
        };
        Diagnostic::warning("never-taken", span, message)
    };
    places.into_iter().map(warning).collect()
}

/// Does the step only say that a bound of the front end was too small?
fn is_bound(step: &Step) -> bool {
    // shape: every other statement is the author's.
    let exhausted = |stmt: &Stmt| matches!(stmt.kind, StmtKind::Exhausted);
    step.effect.first().is_some_and(exhausted)
}

/// Warnings about the whole model, from the complete exploration of one property: steps that are
/// never taken and annotations that never matter.
///
/// An annotation matters if its subject is enabled somewhere and some property that holds would
/// not hold without it. Finding that out means checking these properties again for each annotation,
/// which is done where it takes no time to speak of, or if warnings about all states were asked for;
/// `fair fairness` does it better. It is done within the plan's budget, and an undecided check counts
/// as "matters".
#[must_use]
pub fn needless_annotations(
    model: &Model,
    checked: &[(&NamedProperty, &Outcome)],
    plan: &Plan,
) -> Vec<Diagnostic> {
    let complete = |(property, outcome): &&(&NamedProperty, &Outcome)| {
        outcome.holds()
            && outcome.route == Route::Explicit
            && !outcome.stats.reduced
            && !outcome.stats.is_partial
            && !matches!(
                property.property,
                Property::Reachable(_) | Property::MayMust(_)
            )
    };

    let Some((_, explored)) = checked.iter().find(complete) else {
        return Vec::new();
    };
    let mut warnings = never_taken(model, &explored.stats);
    let relevant = worth_checking_again(model, checked, plan);
    for (position, annotation) in model.parts().annotations.iter().enumerate() {
        if never_enabled(model, annotation, &explored.stats) {
            let message = "this fairness never matters: what it is about is never enabled";
            warnings.push(needless(annotation.span, message));
        } else if !relevant.is_empty() && holds_without(model, position, &relevant, plan) {
            let message = "this fairness never matters: every property holds without it";
            warnings.push(needless(annotation.span, message));
        }
    }

    warnings
}

/// The properties that may need annotations, if it takes no time to speak of to check them again
/// for each annotation, or if that was asked for.
fn worth_checking_again<'a>(
    model: &Model,
    checked: &[(&'a NamedProperty, &Outcome)],
    plan: &Plan,
) -> Vec<&'a NamedProperty> {
    let is_relevant = |(property, outcome): &&(&NamedProperty, &Outcome)| {
        outcome.holds() && outcome.fairness.annotated && is_temporal(property)
    };
    let relevant = checked.iter().filter(is_relevant);
    let n_states: u64 = relevant
        .clone()
        .map(|(_, outcome)| outcome.n_visited().saturating_add(STATES_PER_MODEL))
        .sum();
    let effort = n_states.saturating_mul(model.parts().annotations.len() as u64);
    if plan.sets.is_some() || !plan.all_states && effort > MAX_EFFORT_FOR_NEEDLESS {
        return Vec::new();
    }
    relevant.map(|(property, _)| *property).collect()
}

fn needless(span: Span, message: &str) -> Diagnostic {
    Diagnostic::warning("needless-fairness", span, message)
}

fn is_temporal(property: &NamedProperty) -> bool {
    matches!(
        property.property,
        Property::Ltl(_) | Property::Never(_) | Property::CtlStar(_)
    )
}

fn never_enabled(model: &Model, annotation: &Annotation, stats: &Stats) -> bool {
    let alone = ModelParts {
        annotations: vec![annotation.clone()],
        ..model.parts().clone()
    };
    let annotated = Fairness {
        annotated: true,
        ..Fairness::default()
    };
    let Ok(alone) = alone.finish() else {
        return false;
    };
    let conditions = alone.fairness_conditions(annotated);
    let mut subjects = conditions.iter().map(|condition| &condition.subject);
    !subjects.any(|subject| is_enabled_somewhere(model, subject, stats))
}

/// A command that was executed somewhere was enabled there, and the other way round: a complete
/// exploration executes everything that is enabled.
fn is_enabled_somewhere(model: &Model, subject: &Subject, stats: &Stats) -> bool {
    let taken = |id: &CommandId| stats.commands_taken[id.index()];
    match subject {
        Subject::Choice(command) => taken(command),
        // Nothing is annotated at timers.
        Subject::Timer(_) => true,
        Subject::Team(team) => team.iter().all(taken),
        Subject::Process(instance) => {
            let commands = (0..model.commands().len()).map(CommandId::new);
            let mut own = commands.filter(|id| model.commands()[id.index()].instance == *instance);
            own.any(|id| taken(&id))
        }
        Subject::Action(action) => model
            .transitions()
            .iter()
            .filter(|transition| transition.action == *action)
            .any(|transition| {
                let ready = |p: &model::Participant| p.alternatives.iter().any(taken);
                transition.participants.iter().all(ready)
            }),
    }
}

fn holds_without(model: &Model, position: usize, relevant: &[&NamedProperty], plan: &Plan) -> bool {
    let mut parts = model.parts().clone();
    parts.annotations.remove(position);
    let Ok(weaker) = parts.finish() else {
        return false;
    };
    // What is kept is for the question that was asked.
    let plan = &Plan {
        checkpoints: None,
        ..plan.clone()
    };
    relevant.iter().all(|property| {
        let fairness = crate::effective_fairness(model, property, plan.fairness);
        let outcome = reduction::check(&weaker, property, fairness, plan, &mut NoProgress);
        outcome.holds()
    })
}

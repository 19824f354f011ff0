//! From a question about a family to its abstraction, with everything that may be assumed of it.

use std::collections::BTreeSet;

use base::{AtomId, Budget, Fairness, Span};
use model::{AtomMeaning, Scope, StepPattern, Template, as_open_index};
use ws1s::Unknown;

use super::candidates::Depth;
use super::choice::{self, Level};
use super::fields::{Detail, Side};
use super::induction::{self, Refuted};
use super::lifting::{self, Lifted, Lifting, Union};
use super::logic::Logic;
use super::progress::Visit;
use super::question::FamilyQuestion;
use super::relation::{Graph, Label, Predicate, Ranking, Request, explore};
use super::samples::Sample;
use super::steps::Family;
use super::system::{Fresh, Outside, System, outside};

/// Indices that differ by more than this are not compared.
const MAX_REACH: u64 = 100;

/// What is asked of a template.
#[derive(Clone, Copy, Debug)]
pub struct Asked<'a> {
    /// The template.
    pub template: &'a Template,
    /// What is special about the question.
    pub scope: &'a Scope,
    /// The atoms of the question and of its assumptions.
    pub atoms: &'a [AtomId],
    /// Which runs count.
    pub fairness: Fairness,
    /// Where the question is written.
    pub span: Span,
    /// How much is kept of indices that every process has.
    pub detail: Detail,
    /// Facts that [`facts`] has proved; without them, what the author gives is tried.
    pub facts: Option<&'a Facts>,
}

/// Facts that are true of all reachable states of all instances.
#[derive(Clone, Debug)]
pub struct Facts {
    /// The facts.
    pub proved: Vec<Predicate>,
    /// What the author gives and is not proved.
    pub refuted: Vec<Refuted>,
    /// For variables that do not occur in them.
    fresh: Fresh,
}

/// Facts that the author gives and such that are found, as far as they can be proved together.
///
/// # Errors
/// Why none are known.
pub fn facts(
    asked: &Asked<'_>,
    samples: &[Sample],
    depth: Depth,
    budget: &Budget,
) -> Result<Facts, Obstacle> {
    let mut family = Family::new(asked.template)?;
    family.detail = asked.detail;
    // What is guessed is about all processes, and is proved without the values of some.
    family.watches = !asked.scope.hints.invariants.is_empty();
    let question = FamilyQuestion::new(&mut family, asked.scope, asked.span)?;
    check_reach(&mut family, &question, asked.span)?;
    let mut given = question.invariants.clone();
    given.extend(super::candidates::candidates(&mut family, samples, depth));
    let (proved, mut refuted) = induction::inductive(&mut family, &question, &given, budget)?;
    refuted.retain(|fact| question.invariants.iter().any(|own| own.name == fact.name));
    let fresh = family.fresh;
    Ok(Facts {
        proved,
        refuted,
        fresh,
    })
}

/// An abstraction with what may be assumed of its runs.
#[derive(Clone, Debug)]
pub struct Abstraction {
    /// The abstract system.
    pub graph: Graph,
    /// The abstract variables.
    pub predicates: Vec<Predicate>,
    /// The sets that are watched.
    pub rankings: Vec<Ranking>,
    /// The fairness conditions that could be lifted, and where they are enabled.
    pub conditions: Vec<(Lifted, Vec<bool>)>,
    /// What could not be lifted, with the reason.
    pub refused: Vec<String>,
    /// What the author says of all reachable states and is not proved.
    pub refuted: Vec<Refuted>,
    /// Facts that were proved of all reachable states.
    pub invariants: Vec<Predicate>,
    /// What the atoms of the question mean.
    pub atoms: Vec<(AtomId, AtomTruth)>,
    /// The names of the labels.
    pub label_names: Vec<String>,
    /// Where the model may fail in a state that the abstraction reaches.
    pub suspects: Vec<Span>,
    /// What runs that are fair to every step visit, as far as it was looked for.
    pub visits: Vec<Visit>,
    /// For variables that do not occur.
    pub(super) fresh: Fresh,
}

/// Where an atom is true.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum AtomTruth {
    /// In these states.
    States(Vec<bool>),
    /// After steps with these labels.
    Labels(Vec<bool>),
}

/// Why there is no abstraction.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Obstacle {
    /// The model or the question is outside the class.
    Outside(Outside),
    /// The decision procedure had no answer.
    Unknown(Unknown),
    /// The predicates that the author demands do not decide something that the question needs.
    Undecided(String),
}

impl From<Outside> for Obstacle {
    fn from(outside: Outside) -> Self {
        Self::Outside(outside)
    }
}

impl From<Unknown> for Obstacle {
    fn from(unknown: Unknown) -> Self {
        Self::Unknown(unknown)
    }
}

/// The abstraction for a question.
///
/// Simulation: every run of every instance, seen with every choice of distinguished processes that
/// the question is about, maps to a run of the abstraction that satisfies all its conditions and
/// rankings. So what holds of all these holds of all instances; nothing follows from a violation.
///
/// # Errors
/// Why there is none.
pub fn abstraction(
    asked: &Asked<'_>,
    level: Level,
    budget: &Budget,
) -> Result<Abstraction, Obstacle> {
    let mut family = Family::new(asked.template)?;
    family.detail = asked.detail;
    family.watches = level != Level::Bare || speaks_of_fields(&family.system, asked);
    let question = FamilyQuestion::new(&mut family, asked.scope, asked.span)?;
    check_reach(&mut family, &question, asked.span)?;

    let (invariants, refuted) = if let Some(facts) = asked.facts {
        family.fresh = family.fresh.joined(&facts.fresh);
        (facts.proved.clone(), facts.refuted.clone())
    } else {
        let given = &question.invariants;
        induction::inductive(&mut family, &question, given, budget)?
    };
    // More runs than the fair ones are no harm, and their conditions would have to be kept.
    let fairness = if level == Level::Bare {
        Fairness::default()
    } else {
        asked.fairness
    };
    let mut lifting = lifting::lift(&family, &question, fairness);

    for (subject, strong) in std::mem::take(&mut lifting.candidates) {
        if induction::persists(&mut family, &question, &invariants, &subject, budget)? {
            lifting.lifted.push(strong)
        } else {
            lifting.refused.push(format!(
                "weak fairness of {} for some process: all may be enabled in turn, none forever",
                subject.name
            ))
        }
    }

    // Where the predicates are found automatically they decide every single condition.
    let unions = if question.only {
        lifting::unions(&family, &lifting.lifted)
    } else {
        Vec::new()
    };

    let mut atoms = Vec::new();
    for atom in asked.atoms {
        let meaning = atom_meaning(&mut family, &question, asked, *atom)?;
        if meaning
            .state()
            .is_some_and(|logic| logic.reach() > MAX_REACH)
        {
            let span = asked.template.parts.atoms[atom.index()].span;
            return Err(too_far(span).into());
        }
        atoms.push((*atom, meaning));
    }

    let mut observations: Vec<Logic> = lifting.lifted.iter().map(|c| c.enabled.clone()).collect();
    observations.extend(unions.iter().map(|union| union.condition.enabled.clone()));
    let n_conditions = observations.len();
    let meanings = atoms.iter().filter_map(|(_, meaning)| meaning.state());
    observations.extend(meanings.cloned());

    let predicates = if question.only {
        question.predicates.clone()
    } else {
        let mut predicates = choice::predicates(&mut family, &question, level);
        add_observations(&family, &question, &observations, &mut predicates);
        predicates
    };

    let rankings = if level == Level::Bare {
        Vec::new()
    } else {
        choice::rankings(&mut family, &question)
    };
    let facts = invariants.iter().map(|invariant| invariant.logic.clone());
    let request = Request {
        distinguished: &question.vars(),
        context: Logic::all(facts.chain([question.condition.clone()])),
        predicates: &predicates,
        observations: &observations,
        rankings: &rankings,
    };

    let graph = explore(&mut family, &request, budget)?;
    let label_names = graph
        .labels
        .iter()
        .map(|l| label_name(&family, &question, l))
        .collect();
    let failures: BTreeSet<usize> = graph.failures.values().copied().collect();
    let starts = graph.failing_starts.iter();
    let mut suspects: Vec<Span> = starts.map(|f| family.failing_starts[*f].1).collect();
    suspects.extend(failures.iter().map(|f| family.failures[*f].1));
    suspects.dedup();

    let (conditions, refused) = decided_conditions(&graph, lifting, unions);
    let atoms = atom_truths(&graph, atoms, n_conditions, asked)?;
    Ok(Abstraction {
        graph,
        predicates,
        rankings,
        conditions,
        refused,
        refuted,
        invariants,
        atoms,
        label_names,
        suspects,
        visits: Vec::new(),
        fresh: family.fresh,
    })
}

/// May the question read an index that every process has?
fn speaks_of_fields(system: &System<'_>, asked: &Asked<'_>) -> bool {
    let hints = &asked.scope.hints;
    let has_hints =
        !(hints.predicates.is_empty() && hints.invariants.is_empty() && hints.rankings.is_empty());
    let reads = |atom: &AtomId| match &asked.template.parts.atoms[atom.index()].meaning {
        AtomMeaning::State(expr) => {
            let mut reads = false;
            expr.for_each_read(&mut |place| reads |= system.field_of(place.var).is_some());
            reads
        }
        AtomMeaning::Taken(_) => false,
        AtomMeaning::Enabled(_)
        | AtomMeaning::Deadlock
        | AtomMeaning::Certainly(..)
        | AtomMeaning::TimerSet(_) => true,
    };
    has_hints || asked.atoms.iter().any(reads)
}

/// Refuses numbers that are too large for the decision procedure, which counts them out. All other
/// formulas are made of these.
fn check_reach(
    family: &mut Family<'_>,
    question: &FamilyQuestion,
    span: Span,
) -> Result<(), Outside> {
    let parts = family.system.parts();
    let well_formed = family.well_formed();
    if well_formed.reach().max(family.initial.reach()) > MAX_REACH {
        return Err(too_far(family.system.template.span));
    }

    for transition in &family.transitions {
        if transition.relation.reach().max(transition.enabled.reach()) > MAX_REACH {
            let process = transition.process.map(|id| &parts.processes[id.index()]);
            let step = process.map(|process| process.steps[transition.step].span);
            return Err(too_far(step.unwrap_or(family.system.template.span)));
        }
    }

    for (failure, span) in family.failures.iter().chain(&family.failing_starts) {
        if failure.reach() > MAX_REACH {
            return Err(too_far(*span));
        }
    }

    let hints = question.predicates.iter().chain(&question.invariants);
    let hints = hints.map(|hint| &hint.logic);
    let rankings = question.rankings.iter().map(|ranking| &ranking.logic);
    let mut asked = hints.chain(rankings).chain([&question.condition]);
    if asked.any(|logic| logic.reach() > MAX_REACH) {
        return Err(too_far(span));
    }
    Ok(())
}

fn too_far(span: Span) -> Outside {
    let what = format!("an index that is compared with a number beyond {MAX_REACH}");
    outside(&what, span)
}

fn add_observations(
    family: &Family<'_>,
    question: &FamilyQuestion,
    observations: &[Logic],
    predicates: &mut Vec<Predicate>,
) {
    let describer = super::describe::Describer::new(&family.system, &question.distinguished);
    for logic in observations {
        let negation = Logic::not(logic.clone());
        let is_known = |known: &Predicate| known.logic == *logic || known.logic == negation;
        if !matches!(logic, Logic::Const(_)) && !predicates.iter().any(is_known) {
            predicates.push(Predicate {
                name: describer.text(logic),
                logic: logic.clone(),
            });
        }
    }
}

/// What an atom is about.
enum Meaning {
    State(Logic),
    /// Steps of these transitions, by this distinguished process if one is named.
    Taken(Vec<usize>, Option<usize>),
}

impl Meaning {
    fn state(&self) -> Option<&Logic> {
        match self {
            Self::State(logic) => Some(logic),
            Self::Taken(..) => None,
        }
    }
}

fn atom_meaning(
    family: &mut Family<'_>,
    question: &FamilyQuestion,
    asked: &Asked<'_>,
    atom: AtomId,
) -> Result<Meaning, Outside> {
    let description = &asked.template.parts.atoms[atom.index()];
    let span = description.span;
    match &description.meaning {
        AtomMeaning::State(expr) => {
            let names = &question.names;
            let (logic, errors) = super::steps::condition_of(family, names, expr, span)?;
            let errors: Vec<Logic> = errors
                .iter()
                .map(|error| family.reduced(error, Side::Above))
                .collect();
            let logic = exactly(family, &logic, span);
            // Where the atom has no value the model fails; noted like a failing guard.
            family
                .failures
                .extend(errors.into_iter().map(|error| (error, span)));
            Ok(Meaning::State(logic))
        }
        AtomMeaning::Certainly(..) | AtomMeaning::TimerSet(_) => Err(outside("a timer", span)),
        AtomMeaning::Deadlock => {
            let deadlock = family.deadlock_as_written();
            Ok(Meaning::State(exactly(family, &deadlock, span)))
        }
        AtomMeaning::Taken(_) | AtomMeaning::Enabled(_) if family.is_synchronous => Err(outside(
            "a proposition about single steps of a synchronous system",
            span,
        )),
        AtomMeaning::Taken(pattern) => {
            let (transitions, mover) = steps_of(family, question, pattern, span)?;
            Ok(Meaning::Taken(transitions, mover))
        }
        AtomMeaning::Enabled(pattern) => {
            let (transitions, mover) = steps_of(family, question, pattern, span)?;
            let parts = transitions.iter().map(|number| {
                let transition = &family.transitions[*number];
                match (mover, transition.has_actor) {
                    (Some(mover), _) => {
                        let own = super::logic::Term::var(question.distinguished[mover].0);
                        transition.guard.substitute(family.actor, own)
                    }
                    (None, true) => Logic::exists(family.actor, transition.guard.clone()),
                    (None, false) => transition.guard.clone(),
                }
            });
            let enabled = Logic::any(parts.collect::<Vec<_>>());
            Ok(Meaning::State(exactly(family, &enabled, span)))
        }
    }
}

/// The meaning of an atom. Where what is kept of fields does not decide it, nothing is claimed: noted
/// like a failing guard.
fn exactly(family: &mut Family<'_>, logic: &Logic, span: Span) -> Logic {
    let above = family.reduced(logic, Side::Above);
    let below = family.reduced(logic, Side::Below);
    if above != below {
        let blurred = Logic::all([above.clone(), Logic::not(below)]);
        family.failures.push((blurred, span));
    }
    above
}

/// The transitions that a pattern names, and which distinguished process takes them.
fn steps_of(
    family: &Family<'_>,
    question: &FamilyQuestion,
    pattern: &StepPattern,
    span: Span,
) -> Result<(Vec<usize>, Option<usize>), Outside> {
    if pattern.arguments.is_some() {
        return Err(outside("a step with certain parameters", span));
    }
    let mover = match pattern.index {
        None => None,
        Some(index) => {
            let bound = as_open_index(index);
            let known = bound.and_then(|b| question.names.iter().position(|(name, _)| *name == b));
            match known {
                Some(number) => Some(number),
                None => return Err(outside("a step of the process with a certain number", span)),
            }
        }
    };

    let all = family.transitions.iter().enumerate();
    let meant = all.filter(|(_, transition)| {
        pattern
            .process
            .is_none_or(|process| transition.process == Some(process))
            && pattern
                .action
                .as_ref()
                .is_none_or(|name| *name == transition.name)
    });

    Ok((meant.map(|(number, _)| number).collect(), mover))
}

/// Keeps the conditions of which the abstract states decide when they are enabled, and unions of
/// which they decide it although not of all members.
fn decided_conditions(
    graph: &Graph,
    lifting: Lifting,
    unions: Vec<Union>,
) -> (Vec<(Lifted, Vec<bool>)>, Vec<String>) {
    let decided = |number: usize| -> Option<Vec<bool>> {
        graph.observed.iter().map(|state| state[number]).collect()
    };
    let n_lifted = lifting.lifted.len();
    let mut refused = lifting.refused;
    let mut conditions = Vec::new();
    let mut is_decided = Vec::new();

    for (number, condition) in lifting.lifted.into_iter().enumerate() {
        let values = decided(number);
        is_decided.push(values.is_some());
        match values {
            Some(values) => conditions.push((condition, values)),
            None => refused.push(format!(
                "{}: the abstraction does not keep when it is enabled",
                condition.name
            )),
        }
    }

    for (number, union) in unions.into_iter().enumerate() {
        let is_needed = union.members.iter().any(|member| !is_decided[*member]);
        let values = decided(n_lifted + number).filter(|_| is_needed);
        conditions.extend(values.map(|values| (union.condition, values)));
    }

    (conditions, refused)
}

fn atom_truths(
    graph: &Graph,
    atoms: Vec<(AtomId, Meaning)>,
    n_conditions: usize,
    asked: &Asked<'_>,
) -> Result<Vec<(AtomId, AtomTruth)>, Obstacle> {
    let mut truths = Vec::new();
    let mut next = n_conditions;
    for (atom, meaning) in atoms {
        let truth = match meaning {
            Meaning::State(_) => {
                let values: Option<Vec<bool>> =
                    graph.observed.iter().map(|state| state[next]).collect();
                next += 1;
                let name = &asked.template.parts.atoms[atom.index()].name;
                let undecided =
                    || Obstacle::Undecided(format!("the predicates do not decide `{name}`"));
                AtomTruth::States(values.ok_or_else(undecided)?)
            }
            Meaning::Taken(transitions, mover) => {
                let fits = |label: &Label| {
                    label
                        .transition
                        .is_some_and(|number| transitions.contains(&number))
                        && mover.is_none_or(|mover| label.movers[mover])
                };
                AtomTruth::Labels(graph.labels.iter().map(fits).collect())
            }
        };
        truths.push((atom, truth));
    }

    Ok(truths)
}

/// `enter_p`, `enter_turn`, `enter_other`, `tick`, `idle`.
fn label_name(family: &Family<'_>, question: &FamilyQuestion, label: &Label) -> String {
    let Some(number) = label.transition else {
        return "idle".to_owned();
    };
    let transition = &family.transitions[number];
    let process = transition
        .process
        .map(|id| &family.system.parts().processes[id.index()].name);
    let action = match process {
        Some(process) if family.system.parts().processes.len() > 1 => {
            format!("{process}_{}", transition.name)
        }
        _ => transition.name.clone(),
    };

    if !transition.has_actor || question.distinguished.is_empty() {
        return with_holders(family, action, label);
    }
    let movers = question.distinguished.iter().zip(&label.movers);
    let mut names: Vec<&str> = movers
        .filter(|(_, moves)| **moves)
        .map(|((_, name), _)| name.as_str())
        .collect();
    let pointers = &family.system.pointers;
    names.extend(
        label
            .holders
            .iter()
            .map(|id| pointers[id.index()].name.as_str()),
    );
    if names.is_empty() {
        format!("{action}_other")
    } else {
        format!("{action}_{}", names.join("_"))
    }
}

/// The name of a step and the pointers that point to the process that moves.
fn with_holders(family: &Family<'_>, action: String, label: &Label) -> String {
    label.holders.iter().fold(action, |name, id| {
        format!("{name}_{}", family.system.pointers[id.index()].name)
    })
}

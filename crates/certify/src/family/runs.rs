//! Why no fair run of any instance is forbidden: a finite graph that every run of every instance
//! follows, and a proof about that graph.
//!
//! The states of the graph are the rows of the invariant. An edge says which step of which process it
//! is, whether a process of the question takes it, and what it does to *rankings*, which are finite
//! sets of indices. That every step of every instance follows an edge is left to solvers. A run that
//! makes a ranking smaller infinitely often makes it larger infinitely often, and fairness to processes
//! is fairness to edges; with these assumptions the graph is an ordinary model ([`core_system`]), whose
//! proof is checked like that of any other.

use std::collections::BTreeSet;

use base::{Fairness, FairnessKind};
use logic::{Ltl, Property};
use model::{
    Annotation, AnnotationKind, ConditionKind, Model, ProcessId, Scope, Step, StepPattern, Target,
    Template, as_open_index,
};

use super::FamilyProof;
use super::formula::{Formula, formula, put_formula};
use crate::Failure;
use crate::bytes::{Reader, numbers, put, put_list, put_numbers, put_truths, truths};
use crate::format::{NoRun, no_run, put_no_run};
use crate::graph::{Change, Core, Graph, GraphEdge, changes, put_changes};

/// A graph that every run follows, and why no fair run on it is forbidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyRuns {
    /// The rows in which runs start.
    pub initial: Vec<u32>,
    /// Sets of indices: the variable after those of the question stands for the member.
    pub rankings: Vec<Formula>,
    /// Fairness that is made use of.
    pub conditions: Vec<FamilyCondition>,
    /// The truth of propositions about states, by row.
    pub atoms: Vec<(u32, Vec<bool>)>,
    /// The edges.
    pub edges: Vec<FamilyEdge>,
    /// No fair run on the graph is forbidden.
    pub run: NoRun,
}

/// Fairness of the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyCondition {
    /// Which of the [`elementary_conditions`]; of several strong ones, one must be served if one is
    /// enabled.
    pub elementary: Vec<u32>,
    /// The process of the question that it is about; without it, the only process, or some process.
    pub mover: Option<u32>,
    /// In which rows it is enabled for certain.
    pub enabled: Vec<bool>,
}

/// An edge of the graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct FamilyEdge {
    /// From which row.
    pub source: u32,
    /// To which row.
    pub target: u32,
    /// The process and the number of its step; nothing for idling in a deadlock.
    pub step: Option<(u32, u32)>,
    /// Which processes of the question take it.
    pub movers: Vec<bool>,
    /// What it does to each ranking.
    pub marks: Vec<Change>,
}

/// A fairness condition of each process of a family, or of a process that there is once.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Elementary {
    /// How strict.
    pub kind: ConditionKind,
    /// Whose.
    pub process: ProcessId,
    /// Which of its steps, by number.
    pub steps: Vec<usize>,
    /// Is it one condition for each process, and not one for each list of parameters?
    pub is_single: bool,
}

/// The conditions that a fairness stands for, as far as they are expressed.
#[must_use]
pub fn elementary_conditions(template: &Template, fairness: Fairness) -> Vec<Elementary> {
    let parts = &template.parts;
    let mut all = Vec::new();
    let mut add =
        |kind, process: usize, is_whole: bool, is_meant: &dyn Fn(usize, &Step) -> bool| {
            let steps = &parts.processes[process].steps;
            let chosen = (0..steps.len()).filter(|number| is_meant(*number, &steps[*number]));
            let chosen: Vec<usize> = chosen.collect();
            let has_parameters = chosen.iter().any(|n| !steps[*n].parameters.is_empty());
            // A label makes one action of the steps of several processes.
            if chosen.iter().all(|number| steps[*number].label.is_none()) {
                all.push(Elementary {
                    kind,
                    process: ProcessId::new(process),
                    steps: chosen,
                    is_single: is_whole || !has_parameters,
                });
            }
        };

    for (number, process) in parts.processes.iter().enumerate() {
        let mut names: Vec<&str> = process.steps.iter().map(|s| s.name.as_str()).collect();
        names.sort_unstable();
        names.dedup();
        let mut each_action = |kind| {
            for name in &names {
                add(kind, number, false, &|_, step| step.name == *name);
            }
        };
        match fairness.kind {
            // What justness demands is not expressed, so nothing is made of it.
            FairnessKind::None | FairnessKind::Just => {}
            FairnessKind::WeakProcess => add(ConditionKind::Weak, number, true, &|_, _| true),
            FairnessKind::StrongProcess => add(ConditionKind::Strong, number, true, &|_, _| true),
            FairnessKind::Weak => each_action(ConditionKind::Weak),
            // A run that takes every step of every state that it visits infinitely often is fair to
            // every action.
            FairnessKind::Strong | FairnessKind::StrongGlobal => each_action(ConditionKind::Strong),
        }
    }
    // What justness demands is not expressed here either.
    let is_expressed = |a: &&Annotation| fairness.annotated && a.kind != AnnotationKind::Just;
    for annotation in parts.annotations.iter().filter(is_expressed) {
        let kind = annotation.kind.elementary();
        match &annotation.target {
            Target::Process(process) => add(kind, process.index(), true, &|_, _| true),
            Target::Action(process, name) => {
                add(kind, process.index(), false, &|_, step| step.name == *name);
            }
            Target::Choice(process, chosen) => {
                add(kind, process.index(), false, &|number, _| number == *chosen);
            }
            Target::Event(_) | Target::Subject(_) => {}
        }
    }
    all
}

/// What a condition of a certificate means, if it follows from those of the template.
pub(super) struct Lifted<'e> {
    pub(super) kind: ConditionKind,
    pub(super) members: Vec<&'e Elementary>,
    /// It follows only if what is enabled stays enabled until it is taken.
    pub(super) must_persist: bool,
}

pub(super) fn lifted<'e>(
    template: &Template,
    n_distinguished: usize,
    elementary: &'e [Elementary],
    condition: &FamilyCondition,
) -> Result<Lifted<'e>, Failure> {
    let wrong = || Failure::wrong("a condition does not follow from the fairness");
    let find = |number: &u32| elementary.get(*number as usize).ok_or_else(wrong);
    let members: Result<Vec<&Elementary>, Failure> =
        condition.elementary.iter().map(find).collect();
    let members = members?;
    let first = members.first().ok_or_else(wrong)?;
    let is_family = template.parts.processes[first.process.index()]
        .index
        .is_some();
    let mover_fits = match condition.mover {
        None => true,
        Some(mover) => is_family && (mover as usize) < n_distinguished,
    };
    let are_alike = members.iter().all(|m| m.process == first.process);
    if !mover_fits || !are_alike {
        return Err(wrong());
    }

    let is_strong = members.iter().all(|m| m.kind == ConditionKind::Strong);
    let is_of_some = is_family && condition.mover.is_none();
    let (kind, must_persist) = match (&members[..], first.kind) {
        // There are finitely many processes and parameters, so one of them is enabled infinitely often.
        _ if is_strong => (ConditionKind::Strong, false),
        ([one], ConditionKind::Weak) if one.is_single => {
            if is_of_some {
                (ConditionKind::Strong, true)
            } else {
                (ConditionKind::Weak, false)
            }
        }
        ([one], ConditionKind::Unconditional) if one.is_single => {
            (ConditionKind::Unconditional, false)
        }
        _ => return Err(wrong()),
    };
    Ok(Lifted {
        kind,
        members,
        must_persist,
    })
}

/// The graph as a model with assumptions, and the property in its propositions.
///
/// # Errors
/// The graph is not well formed, or something is not expressed.
pub fn core_system(
    template: &Template,
    (property, scope): (&Property, &Scope),
    fairness: Fairness,
    proof: &FamilyProof,
    runs: &FamilyRuns,
) -> Result<(Model, Ltl), Failure> {
    let Property::Ltl(formula) = property else {
        return Err(Failure::wrong("the property is not about runs"));
    };
    check_form(template, scope, proof, runs)?;
    let taken = |pattern: &StepPattern, label: &Label| is_taken(template, scope, pattern, label);
    let edges = runs.edges.iter().map(|edge| GraphEdge {
        ends: [edge.source, edge.target],
        label: (edge.step, edge.movers.clone()),
        changes: edge.marks.clone(),
    });
    let graph = Graph {
        n_rows: proof.rows.len(),
        initial: &runs.initial,
        edges: edges.collect(),
        n_rankings: runs.rankings.len(),
        atoms: &template.parts.atoms,
        truths: &runs.atoms,
        taken: &taken,
    };
    let mut core = Core::new(&graph);

    let elementary = elementary_conditions(template, fairness);
    for condition in &runs.conditions {
        let n_distinguished = scope.distinguished.len();
        let lifted = lifted(template, n_distinguished, &elementary, condition)?;
        core.assume_fairness(lifted.kind, &condition.enabled, |label| {
            serves(&lifted, condition, label)
        });
    }
    core.finish(&template.parts.assumptions, formula)
}

/// The step of an edge, and which processes of the question take it.
type Label = (Option<(u32, u32)>, Vec<bool>);

/// Does an edge serve a condition?
fn serves(lifted: &Lifted<'_>, condition: &FamilyCondition, (step, movers): &Label) -> bool {
    let Some((process, step)) = step else {
        return false;
    };
    let is_meant = |member: &&Elementary| {
        member.process.0 == *process && member.steps.contains(&(*step as usize))
    };
    let mover = condition.mover.map(|mover| mover as usize);
    lifted.members.iter().any(is_meant) && mover.is_none_or(|mover| movers[mover])
}

/// Does an edge take a step of the pattern?
fn is_taken(
    template: &Template,
    scope: &Scope,
    pattern: &StepPattern,
    (step, movers): &Label,
) -> Result<bool, Failure> {
    let StepPattern {
        process,
        index,
        action,
        event,
        arguments,
    } = pattern;

    let refusal = || Failure::Unconfirmed("this kind of step is not expressed".to_owned());
    if event.is_some() || arguments.is_some() {
        return Err(refusal());
    }

    let mover = match index {
        None => None,
        Some(index) => {
            let bound = as_open_index(*index).ok_or_else(refusal)?;
            let mut distinguished = scope.distinguished.iter();
            let mover = distinguished.position(|d| d.bound == bound);
            Some(mover.ok_or_else(refusal)?)
        }
    };

    let Some((number, step)) = *step else {
        return Ok(false);
    };

    let name = &template.parts.processes[number as usize].steps[step as usize].name;
    Ok(process.is_none_or(|process| process.0 == number)
        && action.as_ref().is_none_or(|action| action == name)
        && mover.is_none_or(|mover| movers[mover]))
}

pub(super) fn check_form(
    template: &Template,
    scope: &Scope,
    proof: &FamilyProof,
    runs: &FamilyRuns,
) -> Result<(), Failure> {
    let (n_rows, n_rankings) = (proof.rows.len(), runs.rankings.len());
    let n_distinguished = scope.distinguished.len();
    let is_row = |row: &u32| (*row as usize) < n_rows;
    let is_step = |(process, step): (u32, u32)| {
        let process = template.parts.processes.get(process as usize);
        process.is_some_and(|process| (step as usize) < process.steps.len())
    };
    let fits = |edge: &FamilyEdge| {
        let is_idle = edge.step.is_none();
        let idles = edge.source == edge.target
            && edge.movers.iter().all(|moves| !moves)
            && edge.marks.iter().all(|mark| *mark == Change::Keeps);
        [edge.source, edge.target].iter().all(is_row)
            && edge.step.is_none_or(is_step)
            && (!is_idle || idles)
            && edge.movers.len() == n_distinguished
            && edge.marks.len() == n_rankings
    };
    // A state that were in two rows could be taken for either.
    let different: BTreeSet<&Vec<bool>> = proof.rows.iter().collect();
    let has_rows = |truth: &[bool]| truth.len() == n_rows;
    let is_well_formed = different.len() == n_rows
        && runs.initial.iter().all(is_row)
        && runs.edges.iter().all(fits)
        && runs.conditions.iter().all(|c| has_rows(&c.enabled))
        && runs.atoms.iter().all(|(_, truth)| has_rows(truth));
    if is_well_formed {
        Ok(())
    } else {
        Err(Failure::wrong("the graph is not well formed"))
    }
}

pub(super) fn put_runs(bytes: &mut Vec<u8>, runs: &FamilyRuns) {
    put_numbers(bytes, &runs.initial);

    put_list(bytes, &runs.rankings, put_formula);
    put_list(bytes, &runs.conditions, |bytes, condition| {
        put_numbers(bytes, &condition.elementary);
        put_numbers(bytes, condition.mover.as_slice());
        put_truths(bytes, &condition.enabled);
    });

    put_list(bytes, &runs.atoms, |bytes, (atom, truth)| {
        put(bytes, u64::from(*atom));
        put_truths(bytes, truth);
    });

    put_list(bytes, &runs.edges, |bytes, edge| {
        put(bytes, u64::from(edge.source));
        put(bytes, u64::from(edge.target));
        let step = edge.step.map(|(process, step)| [process, step]);
        put_numbers(bytes, step.as_ref().map_or(&[], |step| &step[..]));
        put_truths(bytes, &edge.movers);
        put_changes(bytes, &edge.marks);
    });

    put_no_run(bytes, &runs.run);
}

pub(super) fn runs(reader: &mut Reader<'_>) -> Result<FamilyRuns, Failure> {
    Ok(FamilyRuns {
        initial: numbers(reader)?,
        rankings: reader.list(formula)?,
        conditions: reader.list(|reader| {
            Ok(FamilyCondition {
                elementary: numbers(reader)?,
                mover: numbers(reader)?.first().copied(),
                enabled: truths(reader)?,
            })
        })?,
        atoms: reader.list(|reader| Ok((reader.small()?, truths(reader)?)))?,
        edges: reader.list(|reader| {
            Ok(FamilyEdge {
                source: reader.small()?,
                target: reader.small()?,
                step: match &numbers(reader)?[..] {
                    [] => None,
                    [process, step] => Some((*process, *step)),
                    _ => return Err(Failure::wrong("this is not a step")),
                },
                movers: truths(reader)?,
                marks: changes(reader)?,
            })
        })?,
        run: no_run(reader)?,
    })
}

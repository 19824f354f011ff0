//! Why no fair run of any instance is forbidden: a finite graph that every run of every instance
//! follows, and a proof about that graph.
//!
//! The states of the graph are the rows of the invariant. An edge says which step of which process it
//! is, whether a process of the question takes it, and what it does to *rankings*, which are finite
//! sets of indices. That every step of every instance follows an edge is left to solvers. A run that
//! makes a ranking smaller infinitely often makes it larger infinitely often, and fairness to processes
//! is fairness to edges; with these assumptions the graph is an ordinary model ([`core_system`]), whose
//! proof is checked like that of any other.

use base::{AtomId, Fairness, FairnessKind, Span};
use logic::{Ltl, Op, Property};
use model::{
    Annotation, AnnotationKind, Assumption, Atom, AtomMeaning, ConditionKind, Expr, LocationId,
    Model, ModelParts, Owner, Process, ProcessId, Scope, Step, StepPattern, Target, Template,
    as_open_index,
};

use super::FamilyProof;
use super::formula::{Formula, formula, put_formula};
use crate::Failure;
use crate::bytes::{Reader, put, put_list};
use crate::format::{NoRun, no_run, put_no_run};

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
    pub marks: Vec<FamilyMark>,
}

/// What an edge does to a ranking.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum FamilyMark {
    /// It loses a member and gains none.
    Decreases,
    /// It gains no member.
    Keeps,
    /// Anything.
    MayIncrease,
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
    let mut core = Core {
        template,
        scope,
        runs,
        n_rows: proof.rows.len(),
        classes: runs.edges.iter().map(class_of).collect(),
        parts: ModelParts::default(),
    };
    core.classes.sort_unstable();
    core.classes.dedup();
    core.add_process();

    let mut assumptions = core.rankings();
    let elementary = elementary_conditions(template, fairness);
    for condition in &runs.conditions {
        let n_distinguished = scope.distinguished.len();
        let lifted = lifted(template, n_distinguished, &elementary, condition)?;
        assumptions.push(core.condition(&lifted, condition));
    }
    for assumption in &template.parts.assumptions {
        assumptions.push(core.assumption(assumption)?);
    }
    core.parts.assumptions = assumptions;
    let formula = core.formula(formula)?;
    let model = core.parts.finish();
    let model = model.map_err(|error| Failure::Wrong(format!("the graph: {}", error.message)))?;
    Ok((model, formula))
}

fn check_form(
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
            && edge.marks.iter().all(|mark| *mark == FamilyMark::Keeps);
        [edge.source, edge.target].iter().all(is_row)
            && edge.step.is_none_or(is_step)
            && (!is_idle || idles)
            && edge.movers.len() == n_distinguished
            && edge.marks.len() == n_rankings
    };
    let has_rows = |truth: &[bool]| truth.len() == n_rows;
    let is_well_formed = runs.initial.iter().all(is_row)
        && runs.edges.iter().all(fits)
        && runs.conditions.iter().all(|c| has_rows(&c.enabled))
        && runs.atoms.iter().all(|(_, truth)| has_rows(truth));
    if is_well_formed {
        Ok(())
    } else {
        Err(Failure::wrong("the graph is not well formed"))
    }
}

/// Edges that are not told apart: the step, its movers, and what it does to rankings.
type Class = (Option<(u32, u32)>, Vec<bool>, Vec<FamilyMark>);

fn class_of(edge: &FamilyEdge) -> Class {
    (edge.step, edge.movers.clone(), edge.marks.clone())
}

struct Core<'c> {
    template: &'c Template,
    scope: &'c Scope,
    runs: &'c FamilyRuns,
    n_rows: usize,
    /// Sorted. Each has the atom with its number, which says that such an edge was taken.
    classes: Vec<Class>,
    parts: ModelParts,
}

impl Core<'_> {
    fn add_process(&mut self) {
        let locations = (0..self.n_rows).map(|row| format!("r{row}")).collect();
        let nowhere = Span::nowhere();
        let mut process = Process::new("Graph", locations, Vec::new(), nowhere);
        process.initial = self
            .runs
            .initial
            .iter()
            .map(|row| LocationId(*row))
            .collect();
        for edge in &self.runs.edges {
            let class = self.classes.binary_search(&class_of(edge));
            let name = format!("c{}", class.expect("it is one of them"));
            let (source, target) = (LocationId(edge.source), LocationId(edge.target));
            process
                .steps
                .push(Step::new(&name, source, target, nowhere));
        }
        self.parts.processes.push(process);
        for class in 0..self.classes.len() {
            let pattern = StepPattern {
                process: Some(ProcessId(0)),
                action: Some(format!("c{class}")),
                ..StepPattern::default()
            };
            self.add_atom(AtomMeaning::Taken(pattern));
        }
    }

    fn add_atom(&mut self, meaning: AtomMeaning) -> AtomId {
        let number = self.parts.atoms.len();
        self.parts.atoms.push(Atom {
            name: format!("a{number}"),
            meaning,
            span: Span::nowhere(),
        });
        AtomId::new(number)
    }

    /// True in these rows.
    fn row_atom(&mut self, truth: &[bool]) -> AtomId {
        let rows = (0..truth.len()).filter(|row| truth[*row]);
        let at = Expr::At {
            process: ProcessId(0),
            owner: Owner::Single,
            locations: rows.map(LocationId::new).collect(),
        };
        self.add_atom(AtomMeaning::State(at))
    }

    fn classes_where(&self, is_meant: impl Fn(&Class) -> bool) -> Vec<AtomId> {
        let numbered = self.classes.iter().enumerate();
        let meant = numbered.filter(|(_, class)| is_meant(class));
        meant.map(|(number, _)| AtomId::new(number)).collect()
    }

    /// A finite set that becomes smaller infinitely often becomes larger infinitely often.
    fn rankings(&self) -> Vec<Assumption> {
        let condition = |ranking: usize| {
            let smaller = self.classes_where(|c| c.2[ranking] == FamilyMark::Decreases);
            let larger = self.classes_where(|c| c.2[ranking] == FamilyMark::MayIncrease);
            let finitely = smaller
                .into_iter()
                .map(|a| Assumption::Eventually(a, false));
            let mut any = vec![Assumption::All(finitely.collect())];
            any.extend(larger.into_iter().map(|a| Assumption::Infinitely(a, true)));
            Assumption::Any(any)
        };
        (0..self.runs.rankings.len()).map(condition).collect()
    }

    fn condition(&mut self, lifted: &Lifted<'_>, condition: &FamilyCondition) -> Assumption {
        let serves = |(step, movers, _): &Class| {
            let Some((process, step)) = step else {
                return false;
            };
            let is_meant = |member: &&Elementary| {
                member.process.0 == *process && member.steps.contains(&(*step as usize))
            };
            let mover = condition.mover.map(|mover| mover as usize);
            lifted.members.iter().any(is_meant) && mover.is_none_or(|mover| movers[mover])
        };
        let taken = self.classes_where(serves).into_iter();
        let mut any: Vec<Assumption> = taken.map(|a| Assumption::Infinitely(a, true)).collect();
        let enabled = self.row_atom(&condition.enabled);
        any.extend(match lifted.kind {
            ConditionKind::Unconditional => None,
            ConditionKind::Weak => Some(Assumption::Infinitely(enabled, false)),
            ConditionKind::Strong => Some(Assumption::Eventually(enabled, false)),
        });
        Assumption::Any(any)
    }

    /// An assumption of the template, or what follows from it.
    fn assumption(&mut self, assumption: &Assumption) -> Result<Assumption, Failure> {
        let nothing = Assumption::All(Vec::new());
        let mut each = |parts: &[Assumption]| -> Result<Vec<Assumption>, Failure> {
            parts.iter().map(|part| self.assumption(part)).collect()
        };
        let (atom, value, is_infinite) = match assumption {
            Assumption::All(parts) => return Ok(Assumption::All(each(parts)?)),
            Assumption::Any(parts) => return Ok(Assumption::Any(each(parts)?)),
            Assumption::Infinitely(atom, value) => (*atom, *value, true),
            Assumption::Eventually(atom, value) => (*atom, *value, false),
        };
        let atoms = self.atoms_of(atom)?;
        let make = |atom: &AtomId| {
            if is_infinite {
                Assumption::Infinitely(*atom, value)
            } else {
                Assumption::Eventually(*atom, value)
            }
        };
        Ok(match (&atoms[..], is_infinite, value) {
            ([one], ..) => make(one),
            // One of several infinitely often, or none of them from some point on.
            (several, true, true) => Assumption::Any(several.iter().map(make).collect()),
            (several, false, false) => Assumption::All(several.iter().map(make).collect()),
            (_, true, false) | (_, false, true) => nothing,
        })
    }

    /// The atoms here of which one is true where an atom of the template is.
    fn atoms_of(&mut self, atom: AtomId) -> Result<Vec<AtomId>, Failure> {
        let runs = self.runs;
        match &self.template.parts.atoms[atom.index()].meaning {
            AtomMeaning::Taken(pattern) => self.taken(pattern),
            AtomMeaning::State(_) => {
                let mut known = runs.atoms.iter();
                let truth = known.find(|(known, _)| *known as usize == atom.index());
                let (_, truth) =
                    truth.ok_or_else(|| Failure::wrong("a proposition has no truth values"))?;
                Ok(vec![self.row_atom(truth)])
            }
            AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::Certainly(..)
            | AtomMeaning::TimerSet(_) => Err(Failure::Unconfirmed(
                "only propositions about values, locations and steps taken are expressed"
                    .to_owned(),
            )),
        }
    }

    fn taken(&self, pattern: &StepPattern) -> Result<Vec<AtomId>, Failure> {
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
        let distinguished = &self.scope.distinguished;
        let mover = match index {
            None => None,
            Some(index) => {
                let bound = as_open_index(*index).ok_or_else(refusal)?;
                let mover = distinguished.iter().position(|d| d.bound == bound);
                Some(mover.ok_or_else(refusal)?)
            }
        };
        let parts = &self.template.parts;
        Ok(self.classes_where(|(step, movers, _)| {
            step.is_some_and(|(number, step)| {
                let name = &parts.processes[number as usize].steps[step as usize].name;
                process.is_none_or(|process| process.0 == number)
                    && action.as_ref().is_none_or(|action| action == name)
                    && mover.is_none_or(|mover| movers[mover])
            })
        }))
    }

    /// The property in the propositions of the graph.
    fn formula(&mut self, formula: &Ltl) -> Result<Ltl, Failure> {
        let mut all = |parts: &[Ltl]| -> Result<Vec<Ltl>, Failure> {
            parts.iter().map(|part| self.formula(part)).collect()
        };
        Ok(match formula.op() {
            Op::True => Ltl::tt(),
            Op::False => Ltl::ff(),
            Op::Atom(atom) => {
                let atoms = self.atoms_of(*atom)?;
                atoms
                    .into_iter()
                    .fold(Ltl::ff(), |any, atom| Ltl::or([any, Ltl::atom(atom)]))
            }
            Op::Not(inner) => Ltl::not(self.formula(inner)?),
            Op::And(parts) => Ltl::and(all(parts)?),
            Op::Or(parts) => Ltl::or(all(parts)?),
            Op::Implies(a, b) => Ltl::implies(self.formula(a)?, self.formula(b)?),
            Op::Iff(a, b) => Ltl::iff(self.formula(a)?, self.formula(b)?),
            Op::Next(inner) => Ltl::next(self.formula(inner)?),
            Op::Until(a, b) => Ltl::until(self.formula(a)?, self.formula(b)?),
            Op::WeakUntil(a, b) => Ltl::weak_until(self.formula(a)?, self.formula(b)?),
            Op::Release(a, b) => Ltl::release(self.formula(a)?, self.formula(b)?),
            Op::StrongRelease(a, b) => Ltl::strong_release(self.formula(a)?, self.formula(b)?),
            Op::Eventually(inner) => Ltl::eventually(self.formula(inner)?),
            Op::Always(inner) => Ltl::always(self.formula(inner)?),
            Op::Previously(_) | Op::Since(..) => {
                let why = "formulas with past operators are not expressed";
                return Err(Failure::Unconfirmed(why.to_owned()));
            }
        })
    }
}

fn put_truths(bytes: &mut Vec<u8>, truths: &[bool]) {
    put_list(bytes, truths, |bytes, value| bytes.push(u8::from(*value)));
}

pub(super) fn truths(reader: &mut Reader<'_>) -> Result<Vec<bool>, Failure> {
    reader.list(|reader| match reader.number()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::wrong("this is not a truth value")),
    })
}

fn put_numbers(bytes: &mut Vec<u8>, numbers: &[u32]) {
    put_list(bytes, numbers, |bytes, number| {
        put(bytes, u64::from(*number))
    });
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
        put_list(bytes, &edge.marks, |bytes, mark| bytes.push(*mark as u8));
    });
    put_no_run(bytes, &runs.run);
}

pub(super) fn runs(reader: &mut Reader<'_>) -> Result<FamilyRuns, Failure> {
    let numbers = |reader: &mut Reader<'_>| reader.list(Reader::small);
    let mark = |reader: &mut Reader<'_>| match reader.number()? {
        0 => Ok(FamilyMark::Decreases),
        1 => Ok(FamilyMark::Keeps),
        2 => Ok(FamilyMark::MayIncrease),
        _ => Err(Failure::wrong("this is not a mark")),
    };
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
                marks: reader.list(mark)?,
            })
        })?,
        run: no_run(reader)?,
    })
}

//! Why no fair run of a model is forbidden whose states cannot be listed: a graph that its runs follow.
//!
//! The states of the graph are the rows of an invariant; an edge says which command it is and what it
//! does to *rankings*, which are numbers: one that is not negative and becomes smaller again and again
//! becomes larger again and again. From the model and these objects the checker writes the texts that
//! say that runs start in rows, that every step follows an edge, and when propositions are true and
//! fairness conditions enabled.

use std::collections::BTreeSet;

use base::{AtomId, Budget, Fairness, FairnessKind};
use logic::{Ltl, Property};
use model::{ActionId, CommandId, Condition, Model, StepPattern, Subject};

use super::cells::Cells;
use super::execute::{Execution, Refusal};
use super::script::{Sort, Term};
use super::{
    Confirmations, Invariant, Obligation, Solver, any_state, check_term, commands, confirm,
    initial, names, refuse,
};
use crate::Failure;
use crate::bytes::{Reader, numbers, put, put_list, put_numbers, put_text, put_truths, truths};
use crate::format::{NoRun, invariant, no_run, put_invariant, put_no_run};
use crate::graph::{Change, Core, Graph, GraphEdge, changes, check_runs, put_changes};

/// A graph that every run follows, and why no fair run on it is forbidden.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataRuns {
    /// The rows.
    pub invariant: Invariant,
    /// Those in which runs start.
    pub initial: Vec<u32>,
    /// Integers, as terms like those of the invariant.
    pub rankings: Vec<String>,
    /// Fairness that is made use of.
    pub conditions: Vec<DataCondition>,
    /// The truth of propositions about states, by row.
    pub atoms: Vec<(u32, Vec<bool>)>,
    /// The edges.
    pub edges: Vec<DataEdge>,
    /// No fair run on the graph is forbidden.
    pub run: NoRun,
}

/// Fairness of the graph.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DataCondition {
    /// Which of the [`data_conditions`].
    pub number: u32,
    /// In which rows it is enabled for certain.
    pub enabled: Vec<bool>,
}

/// An edge of the graph.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct DataEdge {
    /// From which row.
    pub source: u32,
    /// To which row.
    pub target: u32,
    /// The command; nothing for idling in a deadlock.
    pub command: Option<u32>,
    /// What it does to each ranking.
    pub changes: Vec<Change>,
}

/// The conditions that a fairness stands for. A run that takes every step of every state that it visits
/// infinitely often is fair to every action.
#[must_use]
pub fn data_conditions(model: &Model, mut fairness: Fairness) -> Vec<Condition> {
    if fairness.kind == FairnessKind::StrongGlobal {
        fairness.kind = FairnessKind::Strong;
    }
    model.fairness_conditions(fairness)
}

/// The graph as a model with assumptions, and the property in its propositions.
///
/// # Errors
/// The graph is not well formed, or something is not expressed.
pub fn data_core(
    model: &Model,
    property: &Property,
    fairness: Fairness,
    runs: &DataRuns,
) -> Result<(Model, Ltl), Failure> {
    let formula = match property {
        Property::Ltl(formula) => formula.clone(),
        Property::Invariant(formula) => Ltl::always(formula.clone()),
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::Never(_)
        | Property::CtlStar(_)
        | Property::MayMust(_) => return Err(Failure::wrong("the property is not about runs")),
    };
    let conditions = data_conditions(model, fairness);
    check_form(model, conditions.len(), runs)?;

    let taken = |pattern: &StepPattern, command: &Option<u32>| {
        let set = model.step_set(pattern);
        Ok(command.is_some_and(|command| set.contains(CommandId(command))))
    };
    let edges = runs.edges.iter().map(|edge| GraphEdge {
        ends: [edge.source, edge.target],
        label: edge.command,
        changes: edge.changes.clone(),
    });
    let graph = Graph {
        n_rows: runs.invariant.rows.len(),
        initial: &runs.initial,
        edges: edges.collect(),
        n_rankings: runs.rankings.len(),
        atoms: &model.parts().atoms,
        truths: &runs.atoms,
        taken: &taken,
    };

    let mut core = Core::new(&graph);
    for condition in &runs.conditions {
        let Condition { kind, subject, .. } = &conditions[condition.number as usize];
        let members = members(model, subject).map_err(Failure::Unconfirmed)?;
        core.assume_fairness(*kind, &condition.enabled, |command| {
            command.is_some_and(|command| members.contains(&CommandId(command)))
        });
    }
    core.finish(&model.parts().assumptions, &formula)
}

fn check_form(model: &Model, n_conditions: usize, runs: &DataRuns) -> Result<(), Failure> {
    let Invariant { terms, rows } = &runs.invariant;
    // A state that were in two rows could be taken for either.
    let different: BTreeSet<&Vec<i64>> = rows.iter().collect();
    let is_row = |row: &u32| (*row as usize) < rows.len();
    let fits = |edge: &DataEdge| {
        let idles = || {
            let keeps = |change: &Change| *change == Change::Keeps;
            edge.source == edge.target && edge.changes.iter().all(keeps)
        };
        let is_known = match edge.command {
            Some(command) => (command as usize) < model.commands().len(),
            None => idles(),
        };
        is_known
            && [edge.source, edge.target].iter().all(is_row)
            && edge.changes.len() == runs.rankings.len()
    };
    let has_rows = |truth: &[bool]| truth.len() == rows.len();
    let is_condition =
        |c: &DataCondition| (c.number as usize) < n_conditions && has_rows(&c.enabled);
    let is_well_formed = different.len() == rows.len()
        && rows.iter().all(|row| row.len() == terms.len())
        && runs.initial.iter().all(is_row)
        && runs.edges.iter().all(fits)
        && runs.conditions.iter().all(is_condition)
        && runs.atoms.iter().all(|(_, truth)| has_rows(truth));
    if is_well_formed {
        Ok(())
    } else {
        Err(Failure::wrong("the graph is not well formed"))
    }
}

/// The commands that a condition is about.
fn members(model: &Model, subject: &Subject) -> Result<Vec<CommandId>, Refusal> {
    let of_action = |action: ActionId| {
        let transitions = model.transitions().iter().filter(|t| t.action == action);
        let participants = transitions.flat_map(|t| &t.participants);
        participants.flat_map(|p| p.alternatives.clone()).collect()
    };
    let all = 0..model.commands().len();
    match subject {
        Subject::Process(instance) => {
            let own = all.filter(|id| model.commands()[*id].instance == *instance);
            Ok(own.map(CommandId::new).collect())
        }
        Subject::Action(action) => Ok(of_action(*action)),
        Subject::Choice(command) => Ok(vec![*command]),
        Subject::Timer(_) | Subject::Team(_) => {
            Err("this kind of fairness is not expressed".to_owned())
        }
    }
}

/// Checks that no fair run is forbidden.
pub(crate) fn check_data_runs(
    model: &Model,
    (property, fairness): (&Property, Fairness),
    runs: &DataRuns,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Confirmations, Failure> {
    let (core, formula) = data_core(model, property, fairness, runs)?;
    check_runs(&core, &formula, &runs.run, budget)?;
    let all = obligations(model, fairness, runs).map_err(Failure::Unconfirmed)?;
    confirm(&all, solvers, budget)
}

fn obligations(
    model: &Model,
    fairness: Fairness,
    runs: &DataRuns,
) -> Result<Vec<Obligation>, Refusal> {
    refuse(model)?;
    let mut processes = model.parts().processes.iter();
    // A label may make one step of commands that propositions tell apart.
    if processes.any(|process| process.steps.iter().any(|step| step.label.is_some())) {
        return Err("labels of steps are not expressed".to_owned());
    }
    let writer = Writer::new(model, runs)?;
    let mut all = vec![Obligation::exact((
        "initial states".to_owned(),
        writer.initial()?,
    ))];
    let commands = commands(model)?;
    for &id in &commands {
        let title = format!("step {}", model.command_name(id));
        all.push(Obligation::exact((title, writer.step(id)?)));
    }

    let idling = ("idling".to_owned(), writer.idling()?);
    all.push(Obligation::possible(model, &commands, idling));
    for (atom, truth) in &runs.atoms {
        let title = format!("proposition {atom}");
        all.push(Obligation::exact((
            title,
            writer.atom(*atom as usize, truth)?,
        )));
    }
    let conditions = data_conditions(model, fairness);
    for condition in &runs.conditions {
        let subject = &conditions[condition.number as usize].subject;
        let title = format!("fairness of {}", model.subject_name(subject));
        let enabled = (title, writer.enabled(subject, &condition.enabled)?);
        all.push(Obligation::possible(
            model,
            &members(model, subject)?,
            enabled,
        ));
    }
    Ok(all)
}

type Run<'w> = Execution<Cells<'w>>;

/// Writes obligations.
struct Writer<'w> {
    model: &'w Model,
    runs: &'w DataRuns,
    /// Any state; what is asked of terms and rankings is defined.
    start: Run<'w>,
    /// The sorts of the terms.
    sorts: Vec<Sort>,
}

impl<'w> Writer<'w> {
    fn new(model: &'w Model, runs: &'w DataRuns) -> Result<Self, Refusal> {
        let names = names(model);
        let mut start = any_state(model);
        let mut sorts = Vec::new();

        for (number, term) in runs.invariant.terms.iter().enumerate() {
            let is_truth = check_term(term, &names)?;
            let sort = if is_truth { Sort::Bool } else { Sort::Int };
            start.define_function(&format!("t{number}"), sort, term);
            sorts.push(sort);
        }

        for (number, ranking) in runs.rankings.iter().enumerate() {
            if check_term(ranking, &names)? {
                return Err("a ranking is not a number".to_owned());
            }
            start.define_function(&format!("r{number}"), Sort::Int, ranking);
        }

        Ok(Self {
            model,
            runs,
            start,
            sorts,
        })
    }

    /// For each row, whether the state that was reached is in it.
    fn rows(&self, run: &mut Run<'w>) -> Vec<Term> {
        let sorts = self.sorts.iter().enumerate();
        let values: Vec<Term> = sorts
            .map(|(number, sort)| run.value_of(&format!("t{number}"), *sort))
            .collect();
        let literal = |run: &mut Run<'w>, value: &Term, expected: i64| match value.sort {
            Sort::Bool if expected == 0 => run.script.not(value),
            Sort::Bool => value.clone(),
            Sort::Int => run.script.compare("=", value, &Term::int(expected.into())),
        };
        let mut rows = Vec::new();
        for row in &self.runs.invariant.rows {
            let both = values.iter().zip(row);
            let literals: Vec<Term> = both.map(|(v, e)| literal(run, v, *e)).collect();
            rows.push(run.script.all(&literals));
        }
        rows
    }

    /// The rankings in the state that was reached.
    fn rankings(&self, run: &mut Run<'w>) -> Vec<Term> {
        let numbers = 0..self.runs.rankings.len();
        let names = numbers.map(|number| format!("r{number}"));
        names.map(|name| run.value_of(&name, Sort::Int)).collect()
    }

    /// A state in one of the rows.
    fn any_row(&self) -> (Run<'w>, Vec<Term>) {
        let mut run = self.start.clone();
        let rows = self.rows(&mut run);
        let some = run.script.any(&rows);
        run.script.assert(&some);
        (run, rows)
    }

    /// Runs start in rows that say so.
    fn initial(&self) -> Result<String, Refusal> {
        initial(&self.start, |run| {
            let rows = self.rows(run);
            let is_initial = |row: usize| self.runs.initial.contains(&(row as u32));
            some_row(run, &rows, is_initial)
        })
    }

    /// A step follows an edge, and nothing fails on the way.
    fn step(&self, id: CommandId) -> Result<String, Refusal> {
        let (mut run, before) = self.any_row();
        let old = self.rankings(&mut run);
        run.guard(id)?;
        run.effect(id)?;
        let after = self.rows(&mut run);
        let new = self.rankings(&mut run);
        let both = old.iter().zip(&new);
        let changes: Vec<[Term; 2]> = both
            .map(|(old, new)| {
                let keeps = run.script.compare("<=", new, old);
                let smaller = run.script.compare("<", new, old);
                let bounded = run.script.compare("<=", &Term::int(0), old);
                [keeps, run.script.and(&smaller, &bounded)]
            })
            .collect();

        let mut follows = Vec::new();
        for (source, is_source) in before.iter().enumerate() {
            let mut ways = vec![run.script.not(is_source)];
            let from_here =
                |edge: &&DataEdge| edge.source as usize == source && edge.command == Some(id.0);
            for edge in self.runs.edges.iter().filter(from_here) {
                let mut along = vec![after[edge.target as usize].clone()];
                for ([keeps, decreases], change) in changes.iter().zip(&edge.changes) {
                    along.extend(match change {
                        Change::Decreases => Some(decreases.clone()),
                        Change::Keeps => Some(keeps.clone()),
                        Change::MayIncrease => None,
                    });
                }
                ways.push(run.script.all(&along));
            }
            follows.push(run.script.any(&ways));
        }
        let follows = run.script.all(&follows);
        Ok(run.breaks(&follows))
    }

    /// Where no edge idles, some step is possible.
    fn idling(&self) -> Result<String, Refusal> {
        let (mut run, rows) = self.any_row();
        let some_step = run.possible(&commands(self.model)?)?;
        let idles = |row: usize| {
            let mut edges = self.runs.edges.iter();
            edges.any(|edge| edge.command.is_none() && edge.source as usize == row)
        };
        let may_idle = some_row(&mut run, &rows, idles);
        let fine = run.script.or(&may_idle, &some_step);
        Ok(run.breaks(&fine))
    }

    /// The rows say when a proposition is true.
    fn atom(&self, atom: usize, truth: &[bool]) -> Result<String, Refusal> {
        if atom >= self.model.parts().atoms.len() {
            return Err("a proposition does not exist".to_owned());
        }
        let (mut run, rows) = self.any_row();
        let holds = run.atom(AtomId::new(atom))?;
        let expected = some_row(&mut run, &rows, |row| truth[row]);
        let is_right = run.script.compare("=", &holds, &expected);
        Ok(run.breaks(&is_right))
    }

    /// In the rows where a condition is said to be enabled, one of its commands is possible.
    fn enabled(&self, subject: &Subject, enabled: &[bool]) -> Result<String, Refusal> {
        let (mut run, rows) = self.any_row();
        let possible = run.possible(&members(self.model, subject)?)?;
        let is_not_said = some_row(&mut run, &rows, |row| !enabled[row]);
        let fine = run.script.or(&is_not_said, &possible);
        Ok(run.breaks(&fine))
    }
}

/// The state is in one of these rows.
fn some_row(run: &mut Run<'_>, rows: &[Term], is_meant: impl Fn(usize) -> bool) -> Term {
    let rows = rows.iter().enumerate();
    let meant: Vec<Term> = rows
        .filter(|(number, _)| is_meant(*number))
        .map(|(_, row)| row.clone())
        .collect();
    run.script.any(&meant)
}

pub(crate) fn put_data_runs(bytes: &mut Vec<u8>, runs: &DataRuns) {
    put_invariant(bytes, &runs.invariant);
    put_numbers(bytes, &runs.initial);
    put_list(bytes, &runs.rankings, |bytes, term| put_text(bytes, term));
    put_list(bytes, &runs.conditions, |bytes, condition| {
        put(bytes, u64::from(condition.number));
        put_truths(bytes, &condition.enabled);
    });
    put_list(bytes, &runs.atoms, |bytes, (atom, truth)| {
        put(bytes, u64::from(*atom));
        put_truths(bytes, truth);
    });
    put_list(bytes, &runs.edges, |bytes, edge| {
        put_numbers(bytes, &[edge.source, edge.target]);
        put_numbers(bytes, edge.command.as_slice());
        put_changes(bytes, &edge.changes);
    });
    put_no_run(bytes, &runs.run);
}

pub(crate) fn data_runs(reader: &mut Reader<'_>) -> Result<DataRuns, Failure> {
    Ok(DataRuns {
        invariant: invariant(reader)?,
        initial: numbers(reader)?,
        rankings: reader.list(Reader::text)?,
        conditions: reader.list(|reader| {
            Ok(DataCondition {
                number: reader.small()?,
                enabled: truths(reader)?,
            })
        })?,
        atoms: reader.list(|reader| Ok((reader.small()?, truths(reader)?)))?,
        edges: reader.list(|reader| {
            let [source, target] = numbers(reader)?[..] else {
                return Err(Failure::wrong("this is not an edge"));
            };
            Ok(DataEdge {
                source,
                target,
                command: numbers(reader)?.first().copied(),
                changes: changes(reader)?,
            })
        })?,
        run: no_run(reader)?,
    })
}

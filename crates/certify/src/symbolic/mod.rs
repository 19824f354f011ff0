//! Inductive invariants of models whose states cannot be listed.
//!
//! A certificate names an invariant: terms over the state, and which combinations of their values
//! occur. Nothing of it is believed. From the model and these objects the checker writes one text of
//! SMT-LIB for each initial condition, each step and the property, whose answer must be "unsat", and
//! has them answered by solvers ([`Solver`]). So a file cannot lie about what it proves.
//!
//! Integers are those of mathematics, and values of a type that is left open are integers of which
//! nothing is known: whatever the type has, its values can be numbered. What is not expressed (channels,
//! teams, priorities, timers, arrays without bounds, some operators) is refused.

mod cells;
pub(crate) mod execute;
mod runs;
pub(crate) mod script;

use base::Budget;
use logic::Ltl;
use model::{CommandId, Composition, Model, Sync, Transition};

use self::cells::Cells;
use self::execute::{Execution, Refusal, never_rejects};
use self::script::{Script, Sort, Term};
use crate::Failure;

pub use self::runs::{DataCondition, DataEdge, DataRuns, data_conditions, data_core};
pub(crate) use self::runs::{check_data_runs, data_runs, put_data_runs};

/// An invariant: in every state that can be reached, the terms have the values of one of the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Invariant {
    /// Terms of SMT-LIB over the cells `c0`, `c1`, … and the locations `l0`, `l1`, … of instances, all
    /// of which are integers. A term whose operator makes a truth value has the value 0 or 1.
    pub terms: Vec<String>,
    /// Values of the terms.
    pub rows: Vec<Vec<i64>>,
}

/// What a solver says about a text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Said {
    /// The assertions contradict each other.
    Unsat,
    /// They do not.
    Sat,
    /// Nothing.
    Nothing,
}

/// Something that answers texts of SMT-LIB.
pub trait Solver {
    /// How it is called.
    fn name(&self) -> String;

    /// What it says about a text, which has a title.
    fn ask(&mut self, title: &str, script: &str) -> Said;
}

/// How many obligations there were, and how many of them each solver confirmed.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Confirmations {
    /// How many texts were asked about.
    pub n_obligations: usize,
    /// The names of solvers, and how many answers "unsat" they gave.
    pub by_solver: Vec<(String, usize)>,
}

/// What has to be shown of all states.
#[derive(Clone, Copy)]
pub(crate) enum Demand<'a> {
    Formula(&'a Ltl),
    SomeStep,
}

/// Checks that the invariant is one and implies what is demanded.
pub(crate) fn check_invariant(
    model: &Model,
    demand: Demand<'_>,
    invariant: &Invariant,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Confirmations, Failure> {
    let all = obligations(model, demand, invariant).map_err(Failure::Unconfirmed)?;
    confirm(&all, solvers, budget)
}

/// What solvers are asked.
pub(crate) struct Obligation {
    pub(crate) title: String,
    /// To be answered with "unsat".
    pub(crate) script: String,
    /// Does it demand more than is claimed? Then a solver that refutes it refutes nothing that is
    /// claimed.
    pub(crate) is_stronger: bool,
}

impl Obligation {
    /// What is equivalent to what is claimed.
    pub(crate) fn exact((title, script): (String, String)) -> Self {
        Self {
            title,
            script,
            is_stronger: false,
        }
    }

    /// Says that some of these commands are possible, where those are left out that choices may make
    /// impossible.
    fn possible(model: &Model, commands: &[CommandId], titled: (String, String)) -> Self {
        let mut commands = commands.iter();
        Self {
            is_stronger: commands.any(|id| !never_rejects(&model.step_of(*id).effect)),
            ..Self::exact(titled)
        }
    }
}

/// Asks solvers about obligations. Each must be confirmed by one and refuted by none.
pub(crate) fn confirm(
    all: &[Obligation],
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Confirmations, Failure> {
    let mut confirmations = Confirmations {
        n_obligations: all.len(),
        by_solver: solvers.iter().map(|s| (s.name(), 0)).collect(),
    };

    for Obligation {
        title,
        script,
        is_stronger,
    } in all
    {
        budget.check(0, 0).map_err(Failure::Stopped)?;

        let mut is_confirmed = false;
        for (solver, (name, n_confirmed)) in solvers.iter_mut().zip(&mut confirmations.by_solver) {
            match solver.ask(title, script) {
                Said::Unsat => {
                    *n_confirmed += 1;
                    is_confirmed = true;
                }
                Said::Sat if *is_stronger => {
                    let message = format!(
                        "the obligation `{title}` is not met if every step with a condition on what it chooses is taken to be impossible; when such a step is possible is not expressed"
                    );
                    return Err(Failure::Unconfirmed(message));
                }
                Said::Sat => {
                    let message = format!("{name} refutes the obligation `{title}`");
                    return Err(Failure::Wrong(message));
                }
                Said::Nothing => {}
            }
        }

        if !is_confirmed {
            let message = format!("no solver confirms the obligation `{title}`");
            return Err(Failure::Unconfirmed(message));
        }
    }

    Ok(confirmations)
}

fn obligations(
    model: &Model,
    demand: Demand<'_>,
    invariant: &Invariant,
) -> Result<Vec<Obligation>, Refusal> {
    refuse(model)?;
    let mut start = any_state(model);
    start.define(invariant)?;
    let satisfied = Execution::state_satisfies;
    let initial = ("initial states".to_owned(), initial(&start, satisfied)?);
    let mut all = vec![Obligation::exact(initial)];
    let commands = commands(model)?;
    for &id in &commands {
        let mut execution = start.clone();
        execution.assume_invariant();
        execution.guard(id)?;
        execution.effect(id)?;
        let after = execution.state_satisfies();
        let title = format!("step {}", model.command_name(id));
        all.push(Obligation::exact((title, execution.breaks(&after))));
    }

    let mut execution = start;
    execution.assume_invariant();
    let demanded = match demand {
        Demand::Formula(formula) => execution.formula(formula)?,
        Demand::SomeStep => execution.possible(&commands)?,
    };
    let property = ("the property".to_owned(), execution.breaks(&demanded));
    all.push(match demand {
        Demand::Formula(_) => Obligation::exact(property),
        Demand::SomeStep => Obligation::possible(model, &commands, property),
    });
    Ok(all)
}

/// All commands, if each of them moves alone.
fn commands(model: &Model) -> Result<Vec<CommandId>, Refusal> {
    let mut all = Vec::new();
    for Transition { participants, .. } in model.transitions() {
        let [participant] = &participants[..] else {
            return Err("steps of several processes are not expressed".to_owned());
        };
        for id in &participant.alternatives {
            match model.step_of(*id).sync {
                Sync::Internal | Sync::Event { .. } => all.push(*id),
                Sync::Send { .. } | Sync::Receive { .. } => {
                    return Err("channels are not expressed".to_owned());
                }
            }
        }
    }
    Ok(all)
}

/// Refuses models that are not expressed.
fn refuse(model: &Model) -> Result<(), Refusal> {
    let parts = model.parts();
    let refusal = |why: &str| Err(why.to_owned());

    if parts.composition != Composition::Interleaving {
        return refusal("synchronous processes are not expressed");
    }
    if parts.control.is_some() || !parts.timers.is_empty() || parts.clock.is_some() {
        return refusal("control and timers are not expressed");
    }

    let mut priorities = parts
        .processes
        .iter()
        .flat_map(|p| &p.steps)
        .map(|s| s.priority);
    let first = priorities.next();
    if priorities.any(|priority| Some(priority) != first) {
        return refusal("priorities are not expressed");
    }

    if !parts.channels.is_empty() {
        return refusal("channels are not expressed");
    }

    let mut vars = parts.vars.iter();
    if vars.any(|variable| has_unbounded_array(&variable.ty, &parts.records)) {
        return refusal("arrays without bounds are not expressed");
    }
    Ok(())
}

fn has_unbounded_array(ty: &model::Type, records: &[model::RecordType]) -> bool {
    match ty {
        model::Type::Scalar(_) => false,
        model::Type::Array(array) => {
            model::is_unbounded_array(array) || has_unbounded_array(&array.element, records)
        }
        model::Type::Record(id) => {
            let mut fields = records[id.index()].fields.iter();
            fields.any(|(_, ty)| has_unbounded_array(ty, records))
        }
    }
}

/// The names of cells and locations in texts.
fn names(model: &Model) -> Vec<String> {
    let cells = (0..model.cells().len()).map(|i| format!("c{i}"));
    let locations = (0..model.instances().len()).map(|i| format!("l{i}"));
    cells.chain(locations).collect()
}

/// Any state whose values fit their types.
fn any_state(model: &Model) -> Execution<Cells<'_>> {
    let (names, n_cells) = (names(model), model.cells().len());
    let open = |name: &String| Term::open(name, Sort::Int);
    let terms: Vec<Term> = names.iter().map(open).collect();
    let mut script = Script::default();
    script.line("(set-logic ALL)");

    for (position, name) in names.iter().enumerate() {
        let (meaning, bounds) = match model.cells().get(position) {
            Some(cell) => (&cell.name, cells::bounds(cell.ty)),
            None => {
                let instance = model::InstanceId::new(position - n_cells);
                let n_locations = model.process_of(instance).locations.len();
                let name = &model.instances()[instance.index()].name;
                (name, (Some(0), Some(n_locations as i64 - 1)))
            }
        };
        // A name of the model must not end the comment.
        let meaning = meaning.escape_debug();
        script.line(&format!("(declare-const {name} Int) ; {meaning}"));
        let fits = script.within(&terms[position], bounds);
        script.assert(&fits);
    }
    let (cells, locations) = terms.split_at(n_cells);
    let memory = Cells {
        model,
        cells: cells.to_vec(),
        locations: locations.to_vec(),
        instance: None,
    };
    Execution::new(memory, script)
}

/// Initial states are as demanded, and nothing fails in them.
fn initial<'m>(
    start: &Execution<Cells<'m>>,
    demanded: impl FnOnce(&mut Execution<Cells<'m>>) -> Term,
) -> Result<String, Refusal> {
    let mut execution = start.clone();
    let model = execution.memory.model;
    for (position, cell) in start.memory.cells.iter().enumerate() {
        let value = model.initial_value(position);
        let value = value.map_err(|error| format!("an initial value: {}", error.kind))?;
        if let Some(value) = value {
            let is_it = execution
                .script
                .compare("=", cell, &Term::int(value.into()));
            execution.script.assert(&is_it);
        }
    }

    for (instance, location) in start.memory.locations.iter().enumerate() {
        let mut is_one = Term::bool(false);
        for initial in model.initial_locations(instance) {
            let value = Term::int(initial.index() as i128);
            let is_it = execution.script.compare("=", location, &value);
            is_one = execution.script.or(&is_one, &is_it);
        }
        execution.script.assert(&is_one);
    }

    for constraint in &model.parts().init {
        let holds = execution.truth(constraint)?;
        execution.alive = execution.script.and(&execution.alive, &holds);
    }

    let here = demanded(&mut execution);
    Ok(execution.breaks(&here))
}

impl Execution<Cells<'_>> {
    /// Defines what the invariant is.
    fn define(&mut self, invariant: &Invariant) -> Result<(), Refusal> {
        let names = names(self.memory.model);
        let body = invariant.body(&names)?;
        self.define_function("invariant", Sort::Bool, &body);
        Ok(())
    }

    /// Defines a function of cells and locations.
    fn define_function(&mut self, name: &str, sort: Sort, body: &str) {
        let parameters = names(self.memory.model).into_iter();
        let parameters: Vec<String> = parameters.map(|name| format!("({name} Int)")).collect();
        let parameters = parameters.join(" ");
        self.script.line(&format!(
            "(define-fun {name} ({parameters}) {sort:?} {body})"
        ));
    }

    /// The value of such a function for what cells and locations are now.
    fn value_of(&mut self, name: &str, sort: Sort) -> Term {
        let Cells {
            cells, locations, ..
        } = &self.memory;
        let values: Vec<Term> = cells.iter().chain(locations).cloned().collect();
        if values.is_empty() {
            return Term::open(name, sort);
        }
        let values: Vec<&Term> = values.iter().collect();
        self.script.apply(sort, name, &values)
    }

    /// The state before anything happens satisfies the invariant.
    fn assume_invariant(&mut self) {
        let here = self.state_satisfies();
        self.script.assert(&here);
    }

    /// The invariant of the values that cells and locations have now.
    fn state_satisfies(&mut self) -> Term {
        self.value_of("invariant", Sort::Bool)
    }

    /// One of the commands is possible, whatever is chosen. What choices may make impossible is left
    /// out.
    fn possible(&mut self, commands: &[CommandId]) -> Result<Term, Refusal> {
        let model = self.memory.model;
        let mut some = Term::bool(false);
        for id in commands {
            self.guard(*id)?;
            if never_rejects(&model.step_of(*id).effect) {
                some = self.script.or(&some, &self.alive);
            }
            self.alive = Term::bool(true);
        }
        Ok(some)
    }
}

/// Operators that a term of an invariant may have, and whether they make truth values.
const OPERATORS: [(&str, bool); 14] = [
    ("+", false),
    ("-", false),
    ("*", false),
    ("div", false),
    ("mod", false),
    ("ite", false),
    ("and", true),
    ("or", true),
    ("not", true),
    ("=", true),
    ("<", true),
    ("<=", true),
    (">", true),
    (">=", true),
];

impl Invariant {
    /// The invariant as a term over these names.
    fn body(&self, names: &[String]) -> Result<String, Refusal> {
        let mut is_truth = Vec::new();
        for term in &self.terms {
            is_truth.push(check_term(term, names)?);
        }

        // A disjunction of rows, each a conjunction; the constants make both valid without operands.
        let mut body = "(or false".to_owned();
        for row in &self.rows {
            if row.len() != self.terms.len() {
                return Err("a row of the invariant has another length".to_owned());
            }
            body += " (and true";
            for ((term, is_truth), value) in self.terms.iter().zip(&is_truth).zip(row) {
                match (is_truth, value) {
                    (true, 0) => body += &format!(" (not {term})"),
                    (true, _) => body += &format!(" {term}"),
                    (false, _) => {
                        body += &format!(" (= {term} {})", Term::int((*value).into()).text)
                    }
                }
            }
            body += ")";
        }

        body += ")";
        Ok(body)
    }
}

/// Is the text one term, made of known operators, names and numbers only? Whether it has the right sorts
/// is left to solvers. Says whether it is a truth value.
fn check_term(term: &str, names: &[String]) -> Result<bool, Refusal> {
    let wrong = || format!("`{}` is not a term of an invariant", term.escape_debug());
    let spaced = term.replace('(', " ( ").replace(')', " ) ");

    let (mut depth, mut n_terms, mut expects_operator) = (0_usize, 0_usize, false);
    let mut is_truth = false;

    for token in spaced.split(' ').filter(|token| !token.is_empty()) {
        let operator = OPERATORS.iter().find(|(known, _)| *known == token);
        match (token, expects_operator, operator) {
            ("(", false, _) => {
                n_terms += usize::from(depth == 0);
                depth += 1;
                expects_operator = true;
            }
            (_, true, Some((_, makes_truth))) => {
                is_truth |= depth == 1 && *makes_truth;
                expects_operator = false;
            }
            (")", false, _) => depth = depth.checked_sub(1).ok_or_else(wrong)?,
            (_, false, None) => {
                let is_number = token.bytes().all(|byte| byte.is_ascii_digit());
                let is_name = names.iter().any(|name| name == token);
                if !is_number && !is_name {
                    return Err(wrong());
                }
                n_terms += usize::from(depth == 0);
            }
            _ => return Err(wrong()),
        }
    }

    if depth != 0 || n_terms != 1 || expects_operator {
        return Err(wrong());
    }
    Ok(is_truth)
}

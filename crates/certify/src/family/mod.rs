//! Proofs for all values of a parameter.
//!
//! A certificate names objects: facts, predicates and which combinations of their truth occur
//! together. Nothing of them is believed. From the template and these objects the checker writes one
//! text of SMT-LIB for the initial states, each step and the property, about any state of any instance,
//! and has them answered by solvers. They share nothing with the decision procedure for WS1S that found
//! the proof, neither its logic nor the translation of the template. Besides, the objects are evaluated
//! in the states of instances.

mod columns;
mod formula;
mod instances;

use std::rc::Rc;

use base::Budget;
use logic::Property;
use model::{Composition, Initial, ProcessId, Scope, Step, Sync, Template};
use source::{Family, Question};

use self::columns::{Columns, PARAMETER, Slots, Stated, parameter};
use self::formula::put_formula;
use crate::bytes::{Reader, put_list};
use crate::symbolic::execute::{Execution, Refusal, never_rejects};
use crate::symbolic::script::{Script, Sort, Term};
use crate::symbolic::{Solver, confirm};
use crate::{Extent, Failure};

pub use self::formula::{Base, Formula, Index};

/// An invariant of all instances: in every state that can be reached, all facts hold, and the
/// predicates are true and false as in one of the rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct FamilyProof {
    /// What holds in every state.
    pub facts: Vec<Formula>,
    /// What is true in some.
    pub predicates: Vec<Formula>,
    /// The truth of the predicates.
    pub rows: Vec<Vec<bool>>,
}

pub(crate) fn put_family(bytes: &mut Vec<u8>, proof: &FamilyProof) {
    put_list(bytes, &proof.facts, put_formula);
    put_list(bytes, &proof.predicates, put_formula);
    put_list(bytes, &proof.rows, |bytes, row| {
        put_list(bytes, row, |bytes, value| bytes.push(u8::from(*value)));
    });
}

pub(crate) fn family_proof(reader: &mut Reader<'_>) -> Result<FamilyProof, Failure> {
    let truth = |reader: &mut Reader<'_>| match reader.number()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Failure::wrong("this is not a truth value")),
    };
    Ok(FamilyProof {
        facts: reader.list(formula::formula)?,
        predicates: reader.list(formula::formula)?,
        rows: reader.list(|reader| reader.list(truth))?,
    })
}

/// Checks that the objects show the property of all instances.
pub(crate) fn check_family(
    family: &Family,
    question: &Question,
    proof: &FamilyProof,
    solvers: &mut [Box<dyn Solver>],
    budget: &Budget,
) -> Result<Extent, Failure> {
    if proof.rows.iter().any(|r| r.len() != proof.predicates.len()) {
        return Err(Failure::wrong("a row has another length"));
    }
    let all = obligations(&family.template, question, proof).map_err(Failure::Unconfirmed)?;
    let instances = instances::evaluate(family, question, proof, budget)?;
    let confirmations = confirm(&all, solvers, budget)?;
    Ok(Extent::Family {
        confirmations,
        parameter: family.template.name.clone(),
        instances,
    })
}

/// The texts to be answered with "unsat", each with a title.
fn obligations(
    template: &Template,
    question: &Question,
    proof: &FamilyProof,
) -> Result<Vec<(String, String)>, Refusal> {
    refuse(template)?;
    let writer = Writer {
        template,
        slots: Rc::new(Slots::new(template)?),
        scope: &question.scope,
        proof,
    };
    let mut all = vec![
        (
            "the processes of the question".to_owned(),
            writer.question()?,
        ),
        ("initial states".to_owned(), writer.initial()?),
    ];
    for (number, process) in template.parts.processes.iter().enumerate() {
        for step in &process.steps {
            let text = writer.step(ProcessId::new(number), step)?;
            all.push((format!("step {}.{}", process.name, step.name), text));
        }
    }
    all.push((
        "the property".to_owned(),
        writer.property(&question.property.property)?,
    ));
    Ok(all)
}

/// Refuses templates that are not expressed.
fn refuse(template: &Template) -> Result<(), Refusal> {
    let parts = &template.parts;
    let steps = || parts.processes.iter().flat_map(|process| &process.steps);
    let priority = steps().next().map(|step| step.priority);
    let is_alone = |step: &Step| matches!(step.sync, Sync::Internal);
    let refusals = [
        (
            parts.composition != Composition::Interleaving,
            "synchronous processes are not expressed",
        ),
        (!parts.channels.is_empty(), "channels are not expressed"),
        (!steps().all(is_alone), "communication is not expressed"),
        (
            parts.control.is_some() || !parts.timers.is_empty() || parts.clock.is_some(),
            "control and timers are not expressed",
        ),
        (
            steps().any(|step| Some(step.priority) != priority),
            "priorities are not expressed",
        ),
    ];
    match refusals.iter().find(|(is_so, _)| *is_so) {
        Some((_, why)) => Err((*why).to_owned()),
        None => Ok(()),
    }
}

/// Writes obligations.
struct Writer<'w> {
    template: &'w Template,
    slots: Rc<Slots<'w>>,
    scope: &'w Scope,
    proof: &'w FamilyProof,
}

type Run<'w> = Execution<Columns<'w>>;

impl<'w> Writer<'w> {
    /// Any state of any instance, and no processes of the question.
    fn any_state(&self) -> Run<'w> {
        let mut script = Script::default();
        script.line("(set-logic ALL)");
        let name = self.template.name.escape_debug();
        script.line(&format!("(declare-const {PARAMETER} Int) ; {name}"));
        let exists = script.compare("<=", &Term::int(0), &parameter());
        script.assert(&exists);
        // A text with an empty family is refused, so it is not an instance.
        let n_processes = self.template.parts.processes.len();
        for slot in &self.slots.all[..n_processes] {
            let is_there = slot.has_members(&mut script);
            script.assert(&is_there);
        }
        let columns = Columns::any_state(&self.slots, &mut script);
        let mut run = Execution::new(columns, script);
        run.bounds.push((self.template.parameter, parameter()));
        run
    }

    /// Names any processes; says when they are those of the question.
    fn name_distinguished(&self, run: &mut Run<'w>) -> Result<Term, Refusal> {
        let mut is_meant = Term::bool(true);
        for (number, distinguished) in self.scope.distinguished.iter().enumerate() {
            let name = format!("d{number}");
            let meaning = distinguished.name.escape_debug();
            run.script
                .line(&format!("(declare-const {name} Int) ; {meaning}"));
            let term = Term::open(&name, Sort::Int);
            let (lo, hi) = (run.eval(&distinguished.lo)?, run.eval(&distinguished.hi)?);
            run.bounds.push((distinguished.bound, term.clone()));
            let above = run.script.compare("<=", &lo, &term);
            let below = run.script.compare("<=", &term, &hi);
            is_meant = run.script.and(&is_meant, &above);
            is_meant = run.script.and(&is_meant, &below);
        }
        let condition = run.under(&is_meant, |run| run.truth(&self.scope.condition))?;
        Ok(run.script.and(&is_meant, &condition))
    }

    /// Which processes the question is about always has an answer.
    fn question(&self) -> Result<String, Refusal> {
        let mut run = self.any_state();
        self.name_distinguished(&mut run)?;
        Ok(run.breaks(&Term::bool(true)))
    }

    /// Any state of any instance, and processes that the question is about.
    fn start(&self) -> Result<Run<'w>, Refusal> {
        let mut run = self.any_state();
        let is_meant = self.name_distinguished(&mut run)?;
        run.script.assert(&is_meant);
        run.error = Term::bool(false);
        Ok(run)
    }

    /// The invariant in the state that was reached.
    fn invariant(&self, run: &mut Run<'w>) -> Result<Term, Refusal> {
        let mut facts = Term::bool(true);
        for fact in &self.proof.facts {
            let fact = self.meaning(run, fact)?;
            facts = run.script.and(&facts, &fact);
        }
        let mut predicates = Vec::new();
        for predicate in &self.proof.predicates {
            let meaning = self.meaning(run, predicate)?;
            predicates.push(run.script.truth_constant(&meaning));
        }

        let mut is_row = Term::bool(false);
        for row in &self.proof.rows {
            let mut all = Term::bool(true);
            for (predicate, value) in predicates.iter().zip(row) {
                let literal = if *value {
                    predicate.clone()
                } else {
                    run.script.not(predicate)
                };
                all = run.script.and(&all, &literal);
            }
            is_row = run.script.or(&is_row, &all);
        }
        Ok(run.script.and(&facts, &is_row))
    }

    fn meaning(&self, run: &mut Run<'w>, formula: &Formula) -> Result<Term, Refusal> {
        let variable = |number: usize| {
            let name = format!("d{number}");
            (number as u32, Term::open(&name, Sort::Int))
        };
        let n_distinguished = self.scope.distinguished.len();
        let mut stated = Stated {
            execution: run,
            variables: (0..n_distinguished).map(variable).collect(),
        };
        formula.mean(&mut stated)
    }

    fn assume_invariant(&self, run: &mut Run<'w>) -> Result<(), Refusal> {
        let invariant = self.invariant(run)?;
        run.script.assert(&invariant);
        Ok(())
    }

    /// Initial states satisfy the invariant, and nothing fails in them.
    fn initial(&self) -> Result<String, Refusal> {
        let mut run = self.start()?;
        let parts = &self.template.parts;
        for (slot, process) in parts.processes.iter().enumerate() {
            let memory = run.memory.clone();
            let starts = memory.for_each_index(&mut run.script, slot, |memory, script, at| {
                let here = memory.content(script, slot, at);
                let is = |script: &mut Script, initial: &model::LocationId| {
                    script.compare("=", &here, &Term::int(initial.index() as i128))
                };
                process.initial.iter().fold(Term::bool(false), |so_far, l| {
                    let is_it = is(script, l);
                    script.or(&so_far, &is_it)
                })
            });
            run.alive = run.script.and(&run.alive, &starts);
        }
        for (position, variable) in parts.vars.iter().enumerate() {
            let slot = self.slots.of_variable(model::VarId::new(position));
            let value = match &variable.initial {
                Initial::Any => continue,
                Initial::Values(values) => match &values[..] {
                    [value] => value,
                    _ => return Err("lists of initial values are not expressed".to_owned()),
                },
            };
            self.start_with(&mut run, slot, variable, value)?;
        }
        for constraint in &parts.init {
            let holds = run.truth(constraint)?;
            run.alive = run.script.and(&run.alive, &holds);
        }
        let here = self.invariant(&mut run)?;
        Ok(run.breaks(&here))
    }

    /// A variable has its initial value, which fits its type.
    fn start_with(
        &self,
        run: &mut Run<'w>,
        slot: usize,
        variable: &model::Variable,
        value: &model::Expr,
    ) -> Result<(), Refusal> {
        let owner = variable
            .owner
            .map(|owner| &self.template.parts.processes[owner.index()]);
        let index = owner.and_then(|owner| owner.index);
        let is = |run: &mut Run<'w>, at: Option<&Term>| {
            let value = run.eval(value)?;
            let fits = run.memory.fits(&mut run.script, slot, &value);
            run.require(&fits);
            let here = run.memory.content(&mut run.script, slot, at);
            Ok(run.script.compare("=", &here, &value))
        };
        let starts = if self.slots.all[slot].indices.is_none() {
            is(run, None)?
        } else {
            run.for_all_indices(slot, index.map(|range| range.bound), |run, at| {
                is(run, Some(at))
            })?
        };
        run.alive = run.script.and(&run.alive, &starts);
        Ok(())
    }

    /// A step of a process leads from the invariant to the invariant, and nothing fails on the way.
    fn step(&self, process: ProcessId, step: &Step) -> Result<String, Refusal> {
        let mut run = self.start()?;
        self.assume_invariant(&mut run)?;
        if let Some(range) = self.template.parts.processes[process.index()].index {
            run.script.line("(declare-const a Int)");
            let own = Term::open("a", Sort::Int);
            let exists = run.memory.has_index(&mut run.script, process.index(), &own);
            run.script.assert(&exists);
            run.bounds.push((range.bound, own.clone()));
            run.memory.own = Some(own);
        }
        let own = run.memory.own.clone();
        let here = run
            .memory
            .content(&mut run.script, process.index(), own.as_ref());
        let source = Term::int(step.source.index() as i128);
        run.alive = run.script.compare("=", &here, &source);
        for parameter in &step.parameters {
            let (lo, hi) = (run.eval(&parameter.lo)?, run.eval(&parameter.hi)?);
            let chosen = run.script.fresh();
            let above = run.script.compare("<=", &lo, &chosen);
            let below = run.script.compare("<=", &chosen, &hi);
            run.alive = run.script.and(&run.alive, &above);
            run.alive = run.script.and(&run.alive, &below);
            run.bounds.push((parameter.bound, chosen));
        }
        for condition in [&step.condition, &step.guard] {
            let holds = run.truth(condition)?;
            run.alive = run.script.and(&run.alive, &holds);
        }
        run.run(&step.effect)?;
        let target = Term::int(step.target.index() as i128);
        let (memory, script) = (&mut run.memory, &mut run.script);
        memory.put(script, process.index(), own.as_ref(), &target);
        let after = self.invariant(&mut run)?;
        Ok(run.breaks(&after))
    }

    /// States that satisfy the invariant are as the property says.
    fn property(&self, property: &Property) -> Result<String, Refusal> {
        let mut run = self.start()?;
        self.assume_invariant(&mut run)?;
        let holds = match property {
            Property::Invariant(formula) => run.formula(formula)?,
            Property::DeadlockFree => self.some_step(&mut run)?,
            Property::Ltl(_)
            | Property::Reachable(_)
            | Property::CtlStar(_)
            | Property::Never(_)
            | Property::MayMust(_) => {
                return Err(
                    "for all values of a parameter there are certificates of invariants and \
                     deadlock freedom only"
                        .to_owned(),
                );
            }
        };
        Ok(run.breaks(&holds))
    }

    /// Some step is possible.
    fn some_step(&self, run: &mut Run<'w>) -> Result<Term, Refusal> {
        let mut some = Term::bool(false);
        for (number, process) in self.template.parts.processes.iter().enumerate() {
            let steps: Vec<&Step> = process.steps.iter().collect();
            let possible = self.possible(run, ProcessId::new(number), &steps)?;
            some = run.script.or(&some, &possible);
        }
        Ok(some)
    }

    /// Some process of a family, or the only one, can take one of the steps. What choices in effects
    /// may make impossible is left out.
    fn possible(
        &self,
        run: &mut Run<'w>,
        process: ProcessId,
        steps: &[&Step],
    ) -> Result<Term, Refusal> {
        let some = |run: &mut Run<'w>| {
            let mut some = Term::bool(false);
            for step in steps.iter().filter(|step| never_rejects(&step.effect)) {
                let possible = self.step_possible(run, process, step)?;
                some = run.script.or(&some, &possible);
            }
            Ok(some)
        };
        match self.template.parts.processes[process.index()].index {
            None => some(run),
            Some(range) => run.for_some_index(process.index(), range.bound, |run, own| {
                let before = run.memory.own.replace(own.clone());
                let result = some(run);
                run.memory.own = before;
                result
            }),
        }
    }

    fn step_possible(
        &self,
        run: &mut Run<'w>,
        process: ProcessId,
        step: &Step,
    ) -> Result<Term, Refusal> {
        // What only some parameters make possible is left out.
        if !step.parameters.is_empty() {
            return Ok(Term::bool(false));
        }
        let own = run.memory.own.clone();
        let here = run
            .memory
            .content(&mut run.script, process.index(), own.as_ref());
        let source = Term::int(step.source.index() as i128);
        let at_source = run.script.compare("=", &here, &source);
        let guarded = run.under(&at_source, |run| {
            let condition = run.truth(&step.condition)?;
            run.under(&condition, |run| {
                let guard = run.truth(&step.guard)?;
                Ok(run.script.and(&condition, &guard))
            })
        })?;
        Ok(run.script.and(&at_source, &guarded))
    }
}

//! What solvers are asked about all instances, made of the template and the objects of a certificate.

use std::rc::Rc;

use base::Fairness;
use logic::Property;
use model::{AtomMeaning, Composition, Initial, ProcessId, Scope, Step, Sync, Template};
use source::Question;

use super::columns::{Columns, PARAMETER, Slots, Stated, parameter};
use super::runs::{Elementary, FamilyCondition, FamilyEdge, FamilyRuns, lifted};
use super::{FamilyProof, Formula, elementary_conditions};
use crate::Failure;
use crate::graph::Change;
use crate::symbolic::execute::{Execution, Refusal, never_rejects};
use crate::symbolic::script::{Script, Sort, Term};

/// The texts to be answered with "unsat", each with a title.
pub(super) fn obligations(
    template: &Template,
    question: &Question,
    fairness: Fairness,
    proof: &FamilyProof,
) -> Result<Vec<(String, String)>, Failure> {
    let lifted = match &proof.runs {
        None => Vec::new(),
        Some(runs) => {
            let elementary = elementary_conditions(template, fairness);
            let n_distinguished = question.scope.distinguished.len();
            let mut all = Vec::new();
            for condition in &runs.conditions {
                let found = lifted(template, n_distinguished, &elementary, condition)?;
                let members = found.members.into_iter().cloned().collect();
                all.push((members, found.must_persist));
            }
            all
        }
    };
    written(template, question, proof, &lifted).map_err(Failure::Unconfirmed)
}

/// The steps of a condition, and whether they must stay possible until one is taken.
type Conditions = [(Vec<Elementary>, bool)];

fn written(
    template: &Template,
    question: &Question,
    proof: &FamilyProof,
    conditions: &Conditions,
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

    let steps = writer.steps();
    for (process, number, step) in &steps {
        let name = &template.parts.processes[process.index()].name;
        let text = writer.step(*process, *number, step)?;
        all.push((format!("step {name}.{}", step.name), text));
    }

    // Without runs, the property is about single states.
    let Some(runs) = &proof.runs else {
        let property = writer.property(&question.property.property)?;
        all.push(("the property".to_owned(), property));
        return Ok(all);
    };

    all.push(("idling".to_owned(), writer.idling(runs)?));
    for (atom, truth) in &runs.atoms {
        let text = writer.atom(*atom as usize, truth)?;
        all.push((format!("proposition {atom}"), text));
    }
    for (number, condition) in runs.conditions.iter().enumerate() {
        let (members, must_persist) = &conditions[number];
        let text = writer.enabled(members, condition)?;
        all.push((format!("fairness condition {number}"), text));
        if *must_persist {
            for (process, step_number, step) in &steps {
                let text = writer.persists(&members[0], (*process, *step_number), step)?;
                let name = &step.name;
                all.push((format!("fairness condition {number} after {name}"), text));
            }
        }
    }
    Ok(all)
}

/// Refuses templates that are not expressed.
fn refuse(template: &Template) -> Result<(), Refusal> {
    let parts = &template.parts;
    let steps = || parts.processes.iter().flat_map(|process| &process.steps);
    let priority = steps().next().map(|step| step.priority);
    // shape: every other way has partners, and is refused.
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
        // What `init` demands of the size alone is true of every instance that has any state.
        for constraint in &self.template.parts.init {
            if !constraint.mentions_state() {
                let holds = run.truth(constraint)?;
                run.script.assert(&holds);
            }
        }
        run.error = Term::bool(false);
        Ok(run)
    }

    /// All steps, with their processes and numbers.
    fn steps(&self) -> Vec<(ProcessId, usize, &'w Step)> {
        let processes = self.template.parts.processes.iter().enumerate();
        let steps = processes.flat_map(|(process, description)| {
            let numbered = description.steps.iter().enumerate();
            numbered.map(move |(number, step)| (ProcessId::new(process), number, step))
        });
        steps.collect()
    }

    /// What of the invariant holds in the state that was reached.
    fn here(&self, run: &mut Run<'w>) -> Result<Here, Refusal> {
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

        let mut rows = Vec::new();
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
            rows.push(all);
        }
        Ok(Here { facts, rows })
    }

    /// The invariant in the state that was reached.
    fn invariant(&self, run: &mut Run<'w>) -> Result<Term, Refusal> {
        let here = self.here(run)?;
        Ok(here.holds(&mut run.script, |_| true))
    }

    fn meaning(&self, run: &mut Run<'w>, formula: &Formula) -> Result<Term, Refusal> {
        self.meaning_of(run, formula, None)
    }

    /// The meaning of a formula in which the variable after those of the question may be known.
    fn meaning_of(
        &self,
        run: &mut Run<'w>,
        formula: &Formula,
        member: Option<&Term>,
    ) -> Result<Term, Refusal> {
        let variable = |number: usize| {
            let name = format!("d{number}");
            (number as u32, Term::open(&name, Sort::Int))
        };
        let n_distinguished = self.scope.distinguished.len();
        let mut variables: Vec<(u32, Term)> = (0..n_distinguished).map(variable).collect();
        variables.extend(member.map(|member| (n_distinguished as u32, member.clone())));
        let mut stated = Stated {
            execution: run,
            variables,
        };
        formula.mean(&mut stated)
    }

    fn assume_invariant(&self, run: &mut Run<'w>) -> Result<Here, Refusal> {
        let here = self.here(run)?;
        let holds = here.holds(&mut run.script, |_| true);
        run.script.assert(&holds);
        Ok(here)
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

        let here = self.here(&mut run)?;
        let runs = self.proof.runs.as_ref();
        let starts = |row: usize| runs.is_none_or(|r| r.initial.contains(&(row as u32)));
        let here = here.holds(&mut run.script, starts);
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

    /// A step of a process leads from the invariant to the invariant, along an edge if there are some,
    /// and nothing fails on the way.
    fn step(&self, process: ProcessId, number: usize, step: &Step) -> Result<String, Refusal> {
        let mut run = self.start()?;
        let before = self.assume_invariant(&mut run)?;
        let old = run.memory.clone();
        self.take(&mut run, process, step)?;
        let Some(runs) = &self.proof.runs else {
            let after = self.invariant(&mut run)?;
            return Ok(run.breaks(&after));
        };

        let after = self.here(&mut run)?;
        let mut changes = Vec::new();
        for ranking in &runs.rankings {
            changes.push(self.changes(&mut run, &old, ranking)?);
        }
        let movers = self.movers(&mut run);
        let meant = Some((process.0, number as u32));
        let mut follows = after.facts.clone();
        for (source, is_source) in before.rows.iter().enumerate() {
            let mut some = run.script.not(is_source);
            let from_here =
                |edge: &&FamilyEdge| edge.source as usize == source && edge.step == meant;
            for edge in runs.edges.iter().filter(from_here) {
                let taken = along(&mut run.script, edge, &after, &movers, &changes);
                some = run.script.or(&some, &taken);
            }
            follows = run.script.and(&follows, &some);
        }
        Ok(run.breaks(&follows))
    }

    /// Is it a process of the question that moves?
    fn movers(&self, run: &mut Run<'w>) -> Vec<Term> {
        let own = run.memory.own.clone();
        let distinguished = 0..self.scope.distinguished.len();
        let is_it = |number: usize| match &own {
            None => Term::bool(false),
            Some(own) => {
                let name = format!("d{number}");
                run.script.compare("=", own, &Term::open(&name, Sort::Int))
            }
        };
        distinguished.map(is_it).collect()
    }

    /// Takes a step of any process of a family, or of the only process.
    fn take(&self, run: &mut Run<'w>, process: ProcessId, step: &Step) -> Result<(), Refusal> {
        if let Some(range) = self.template.parts.processes[process.index()].index {
            run.script.line("(declare-const a Int)");
            let own = Term::open("a", Sort::Int);
            let exists = (run.memory).has_index(&mut run.script, process.index(), &own);
            run.script.assert(&exists);
            run.bounds.push((range.bound, own.clone()));
            run.memory.own = Some(own);
        }

        let own = run.memory.own.clone();
        let here = (run.memory).content(&mut run.script, process.index(), own.as_ref());
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
        Ok(())
    }

    /// Does a ranking gain a member between an older state and this one? Does it lose one?
    fn changes(
        &self,
        run: &mut Run<'w>,
        old: &Columns<'w>,
        ranking: &Formula,
    ) -> Result<[Term; 2], Refusal> {
        let member = run.script.enter();
        let above = run.script.compare("<=", &Term::int(0), &member);
        let below = run.script.compare("<=", &member, &parameter());
        let is_inside = run.script.and(&above, &below);

        let now = self.meaning_of(run, ranking, Some(&member))?;

        // A ranking is a formula about one state, so the older memory takes the place of this one.
        let memory = std::mem::replace(&mut run.memory, old.clone());
        let before = self.meaning_of(run, ranking, Some(&member));
        run.memory = memory;
        let before = before?;

        let (not_now, not_before) = (run.script.not(&now), run.script.not(&before));
        let gained = run.script.and(&now, &not_before);
        let lost = run.script.and(&before, &not_now);

        run.script.leave();
        Ok([gained, lost].map(|changed| {
            let some = run.script.ranged(false, &member, &is_inside, &changed);
            run.script.truth_constant(&some)
        }))
    }

    /// Where no edge idles, some step is possible.
    fn idling(&self, runs: &FamilyRuns) -> Result<String, Refusal> {
        let mut run = self.start()?;
        let here = self.assume_invariant(&mut run)?;
        let some_step = self.some_step(&mut run)?;
        let idles = |row: usize| {
            let mut edges = runs.edges.iter();
            edges.any(|edge| edge.step.is_none() && edge.source as usize == row)
        };
        let may_idle = here.some(&mut run.script, idles);
        let fine = run.script.or(&may_idle, &some_step);
        Ok(run.breaks(&fine))
    }

    /// The rows say when a proposition is true.
    fn atom(&self, atom: usize, truth: &[bool]) -> Result<String, Refusal> {
        let atoms = &self.template.parts.atoms;
        // shape: everything else is refused.
        let Some(AtomMeaning::State(expr)) = atoms.get(atom).map(|atom| &atom.meaning) else {
            return Err("only propositions about values and locations are expressed".to_owned());
        };
        let mut run = self.start()?;
        let here = self.assume_invariant(&mut run)?;
        let holds = run.truth(expr)?;
        let expected = here.some(&mut run.script, |row| truth[row]);
        let is_right = run.script.compare("=", &holds, &expected);
        Ok(run.breaks(&is_right))
    }

    /// In the rows where a condition is said to be enabled, one of its steps is possible.
    fn enabled(
        &self,
        members: &[Elementary],
        condition: &FamilyCondition,
    ) -> Result<String, Refusal> {
        let mut run = self.start()?;

        let here = self.assume_invariant(&mut run)?;
        let mover = condition.mover.map(|number| {
            let name = format!("d{number}");
            Term::open(&name, Sort::Int)
        });

        let mut possible = Term::bool(false);
        for member in members {
            let one = self.member_possible(&mut run, member, mover.as_ref())?;
            possible = run.script.or(&possible, &one);
        }

        let is_said = here.some(&mut run.script, |row| condition.enabled[row]);
        let is_not = run.script.not(&is_said);
        let fine = run.script.or(&is_not, &possible);
        Ok(run.breaks(&fine))
    }

    /// A process of the family, some process, or the only one, can take a step of a condition.
    fn member_possible(
        &self,
        run: &mut Run<'w>,
        member: &Elementary,
        mover: Option<&Term>,
    ) -> Result<Term, Refusal> {
        let description = &self.template.parts.processes[member.process.index()];
        let steps: Vec<&Step> = member
            .steps
            .iter()
            .map(|n| &description.steps[*n])
            .collect();

        let (Some(mover), Some(range)) = (mover, description.index) else {
            return self.possible(run, member.process, &steps);
        };

        let exists = (run.memory).has_index(&mut run.script, member.process.index(), mover);
        run.bounds.push((range.bound, mover.clone()));
        let before = run.memory.own.replace(mover.clone());
        let possible = run.under(&exists, |run| self.some_of(run, member.process, &steps));
        run.memory.own = before;
        run.bounds.pop();

        Ok(run.script.and(&exists, &possible?))
    }

    /// What a process can do for a condition it can still do after a step, unless that was it.
    fn persists(
        &self,
        member: &Elementary,
        (process, number): (ProcessId, usize),
        step: &Step,
    ) -> Result<String, Refusal> {
        let description = &self.template.parts.processes[member.process.index()];
        let mut steps = member.steps.iter().map(|n| &description.steps[*n]);
        // Otherwise what is said to be possible is less than what is.
        if !steps.all(|step| step.parameters.is_empty() && never_rejects(&step.effect)) {
            return Err("choices in steps with weak fairness are not expressed".to_owned());
        }
        let mut run = self.start()?;
        self.assume_invariant(&mut run)?;
        run.script.line("(declare-const c Int)");
        let other = Term::open("c", Sort::Int);
        let before = self.member_possible(&mut run, member, Some(&other))?;
        run.script.assert(&before);
        self.take(&mut run, process, step)?;
        let is_of_it = member.process == process && member.steps.contains(&number);
        let own = run.memory.own.clone();
        let mut fine = match own.filter(|_| is_of_it) {
            Some(own) => run.script.compare("=", &own, &other),
            None => Term::bool(false),
        };
        let after = self.member_possible(&mut run, member, Some(&other))?;
        fine = run.script.or(&fine, &after);
        Ok(run.breaks(&fine))
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
                return Err("a property about runs needs a graph that they follow".to_owned());
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
        let some = |run: &mut Run<'w>| self.some_of(run, process, steps);
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

    /// The process that moves can take one of the steps.
    fn some_of(
        &self,
        run: &mut Run<'w>,
        process: ProcessId,
        steps: &[&Step],
    ) -> Result<Term, Refusal> {
        let mut some = Term::bool(false);
        for step in steps.iter().filter(|step| never_rejects(&step.effect)) {
            let possible = self.step_possible(run, process, step)?;
            some = run.script.or(&some, &possible);
        }
        Ok(some)
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

/// What of the invariant holds in a state: the facts, and for each row whether it is that of the state.
struct Here {
    facts: Term,
    rows: Vec<Term>,
}

impl Here {
    /// The state is in one of these rows.
    fn some(&self, script: &mut Script, is_meant: impl Fn(usize) -> bool) -> Term {
        let rows = self.rows.iter().enumerate();
        let meant = rows.filter(|(number, _)| is_meant(*number));
        meant.fold(Term::bool(false), |some, (_, row)| script.or(&some, row))
    }

    /// The facts hold, and the state is in one of these rows.
    fn holds(&self, script: &mut Script, is_meant: impl Fn(usize) -> bool) -> Term {
        let some = self.some(script, is_meant);
        script.and(&self.facts, &some)
    }
}

/// A step was one of an edge: it leads to its target, its movers move, and rankings change as it says.
fn along(
    script: &mut Script,
    edge: &FamilyEdge,
    after: &Here,
    movers: &[Term],
    changes: &[[Term; 2]],
) -> Term {
    let mut taken = after.rows[edge.target as usize].clone();

    for (is_mover, moves) in movers.iter().zip(&edge.movers) {
        let literal = if *moves {
            is_mover.clone()
        } else {
            script.not(is_mover)
        };
        taken = script.and(&taken, &literal);
    }

    for ([gains, loses], mark) in changes.iter().zip(&edge.marks) {
        let gains_none = script.not(gains);
        taken = match mark {
            Change::MayIncrease => taken,
            Change::Keeps => script.and(&taken, &gains_none),
            Change::Decreases => {
                let both = script.and(&gains_none, loses);
                script.and(&taken, &both)
            }
        };
    }

    taken
}

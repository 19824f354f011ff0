//! The route for threshold automata: linear arithmetic proves for all parameters, a replayed run
//! refutes.
//!
//! *Holds* means for all values of the parameters that the automaton admits; it is an answer of a solver
//! (`threshold::decide`), which is confirmed by others as far as possible. *Violated* is a run of the
//! counter system for values that the solver found, replayed by the judge of evidence like any other.
//! Where the solution of the solver is not a run, the counter system for its values is searched; if
//! that has no violation, the verdict is *unknown*.

use std::sync::Arc;

use base::{AtomId, Diagnostic, Fairness, Progress, Route, Span};
use evidence::{
    SolverUse, StepPool, Trace, TraceStep, UnknownReason, Verdict, Violation, ViolationKind,
};
use logic::{Ltl, NamedProperty, Property};
use model::threshold::{Condition, Configuration, Proposition, ThresholdAutomaton};
use model::{Assumption, Model, State};
use smt::{Counted, Solver};
use threshold::{Answer, Counterexample, decide};

use crate::predicate::confirmed_solver;
use crate::{Bug, Outcome, Plan};

/// Runs with more steps than this are not replayed.
const MAX_STEPS: i64 = 200_000;

/// Counter systems with more states than this are not searched to the end for a violation.
const MAX_STATES: u64 = 300_000;

/// Counter systems with more states than this are not searched before a proof is tried.
const MAX_COMPARED_STATES: u64 = 20_000;

/// So many counter systems are searched before a proof is tried.
const MAX_COMPARED: usize = 3;

/// So many counter systems are searched where there is no proof.
const MAX_SEARCHED: usize = 12;

/// Parameters with a sum up to this are tried.
const MAX_SUM: i64 = 16;

/// Checks a property of a threshold automaton for all values of its parameters.
///
/// # Errors
/// Evidence was found to be wrong.
pub fn check_thresholds(
    automaton: &ThresholdAutomaton,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let fairness = fairness_of(automaton, property, plan);
    let unknown =
        |why: String| Outcome::unknown(Route::Schemas, fairness, UnknownReason::Unsupported(why));
    let Some(individuals) = &automaton.individuals else {
        if fairness == Fairness::NONE {
            return check_all_runs(automaton, property, plan, progress);
        }
        let why = "processes of a threshold automaton have no names, so fairness between them cannot be asked for; write it into the formula, as `<>[](…) -> …`";
        return Ok(unknown(why.to_owned()));
    };

    let ends = match threshold::fair_ends(automaton, individuals, fairness) {
        Ok(ends) => ends,
        Err(outside) => {
            let warning = Diagnostic::warning("threshold", outside.span, outside.message.clone());
            let mut outcome = unknown(outside.message);
            outcome.warnings.push(warning);
            return Ok(outcome);
        }
    };
    let mut automaton = automaton.clone();
    let property = about_fair_runs(&mut automaton, ends, property);
    let mut outcome = check_all_runs(&automaton, &property, plan, progress)?;
    outcome.fairness = fairness;
    Ok(outcome)
}

/// The fairness under which a property is checked: as [`crate::effective_fairness`].
fn fairness_of(automaton: &ThresholdAutomaton, property: &NamedProperty, plan: &Plan) -> Fairness {
    let said = plan.fairness.or(property.fairness);
    let Some(individuals) = &automaton.individuals else {
        return said.unwrap_or(Fairness::NONE);
    };
    let annotated = Fairness {
        annotated: !individuals.annotations.is_empty(),
        ..Fairness::NONE
    };
    said.or(individuals.fairness).unwrap_or(annotated)
}

/// A property of all runs that says the same as this one of fair runs that satisfy the assumptions.
fn about_fair_runs(
    automaton: &mut ThresholdAutomaton,
    ends: Condition,
    property: &NamedProperty,
) -> NamedProperty {
    let individuals = automaton.individuals.take().unwrap_or_default();
    let is_assuming = !individuals.assumptions.is_empty();
    let assumptions = individuals.assumptions.iter().map(recurrence);
    let mut premise: Vec<Ltl> = assumptions.collect();
    if ends != Condition::Bool(true) {
        let atom = AtomId::new(automaton.atoms.len());
        automaton.atoms.push(Proposition {
            name: "fair".to_owned(),
            condition: ends,
            span: automaton.span,
        });
        premise.push(Ltl::eventually(Ltl::always(Ltl::atom(atom))));
    }
    let formula = match &property.property {
        Property::Ltl(formula) => formula.clone(),
        // Every beginning of a run is one of a fair run, unless there are assumptions.
        Property::Invariant(formula) if is_assuming => Ltl::always(formula.clone()),
        Property::Invariant(_)
        | Property::Reachable(_)
        | Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => return property.clone(),
    };
    let mut property = property.clone();
    if !premise.is_empty() {
        property.property = Property::Ltl(Ltl::implies(Ltl::and(premise), formula));
    }
    property.fairness = None;
    property
}

/// The formula that an assumption means.
fn recurrence(assumption: &Assumption) -> Ltl {
    let literal = |atom: AtomId, value| {
        let atom = Ltl::atom(atom);
        if value { atom } else { Ltl::not(atom) }
    };
    match assumption {
        Assumption::Infinitely(atom, value) => Ltl::always(Ltl::eventually(literal(*atom, *value))),
        Assumption::Eventually(atom, value) => Ltl::eventually(Ltl::always(literal(*atom, *value))),
        Assumption::All(parts) => Ltl::and(parts.iter().map(recurrence)),
        Assumption::Any(parts) => Ltl::or(parts.iter().map(recurrence)),
    }
}

/// Checks a property of all runs.
fn check_all_runs(
    automaton: &ThresholdAutomaton,
    property: &NamedProperty,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Result<Outcome, Bug> {
    let asked = Asked {
        automaton,
        property,
        plan,
    };
    let formula = match &property.property {
        Property::Ltl(formula) => formula.clone(),
        Property::Invariant(formula) => Ltl::always(formula.clone()),
        Property::Reachable(_)
        | Property::DeadlockFree
        | Property::CtlStar(_)
        | Property::Never(_)
        | Property::MayMust(_) => {
            let why = "only formulas of LTL are decided for all parameters";
            return Ok(asked.unknown(UnknownReason::Unsupported(why.to_owned())));
        }
    };

    // A small system that violates it is found sooner than a proof that fails.
    let n_compared = if plan.no_cross_check { 0 } else { MAX_COMPARED };
    let small = asked.look(n_compared, progress)?;
    if let Some(outcome) = small.violation {
        return Ok(outcome);
    }

    let mut solver = Counted::new(confirmed_solver(&plan.predicate));
    let mut helper = (plan.predicate.solver)();
    solver.obey(&plan.budget);
    helper.obey(&plan.budget);
    let span = property.span;
    match decide(automaton, &formula, span, &mut solver, &mut helper) {
        Answer::None => Ok(asked.holds(&solver, &small.satisfied)),
        Answer::Some(found) => asked.violated(&found, progress),
        Answer::Unknown(why) => Ok(asked.silent(&solver, why)),
        Answer::Outside(outside) => {
            let warning = Diagnostic::warning("threshold", outside.span, outside.message.clone());
            let reason = UnknownReason::Unsupported(outside.message);
            let mut outcome = asked.search(reason, progress)?;
            if !outcome.is_violated() {
                outcome.warnings.push(warning);
            }
            Ok(outcome)
        }
    }
}

/// What small counter systems say.
#[derive(Default)]
struct Small {
    violation: Option<Outcome>,
    /// Those without a violation.
    satisfied: Vec<String>,
}

struct Asked<'a> {
    automaton: &'a ThresholdAutomaton,
    property: &'a NamedProperty,
    plan: &'a Plan,
}

impl Asked<'_> {
    fn unknown(&self, reason: UnknownReason) -> Outcome {
        Outcome::unknown(Route::Schemas, Fairness::NONE, reason)
    }

    /// The solver had no answer.
    fn silent(&self, solver: &Counted<Box<dyn Solver>>, why: String) -> Outcome {
        let reason = match (self.plan.budget.check(0, 0), solver.trust().contradiction) {
            (Err(reason), _) => UnknownReason::Stopped(reason),
            (Ok(()), Some(contradiction)) => UnknownReason::SolversDisagree(contradiction),
            (Ok(()), None) => UnknownReason::SolverGaveUp,
        };
        let mut outcome = self.unknown(reason);
        outcome.remarks.push(format!("{}: {why}", solver.name()));
        let advice = "more time for the solver may help (`--solver-timeout 5m`), or another one (`--solver cvc5`)";
        outcome.remarks.push(advice.to_owned());
        outcome
    }

    /// There is no run that violates the property, and these small systems agree.
    fn holds(&self, solver: &Counted<Box<dyn Solver>>, satisfied: &[String]) -> Outcome {
        let trust = solver.trust();
        let confirmed_by = trust.confirmed_by.join(", ");
        let used = SolverUse {
            name: trust.name.unwrap_or_else(|| solver.name()),
            answers: solver.tally().n_unsat,
            confirmed: trust.n_confirmed,
            confirmed_by: (!confirmed_by.is_empty()).then_some(confirmed_by),
        };
        let names = self.automaton.parameters.join(", ");
        let verdict = Verdict::Holds { witness: None };
        let mut outcome = Outcome::new(Route::Schemas, Fairness::NONE, verdict);
        outcome
            .remarks
            .push(format!("for all {names} that satisfy the assumptions"));
        outcome.remarks.push(basis(&used));
        outcome.solvers.push(used);
        if !satisfied.is_empty() {
            let remark = format!("searches agree for {}", satisfied.join("; "));
            outcome.remarks.push(remark);
        } else if !self.has_runs() {
            let message = "no values of the parameters satisfy the assumptions and initial conditions, so everything holds";
            let warning = Diagnostic::warning("vacuous", self.automaton.span, message);
            outcome.warnings.push(warning);
        } else if !self.plan.no_cross_check {
            let remark = "no counter system was compared";
            outcome.remarks.push(remark.to_owned());
        }
        outcome
    }

    /// Has the automaton any run, or is that not known?
    fn has_runs(&self) -> bool {
        let (mut solver, mut helper) = (
            (self.plan.predicate.solver)(),
            (self.plan.predicate.solver)(),
        );
        solver.obey(&self.plan.budget);
        helper.obey(&self.plan.budget);
        let never = Ltl::ff();
        let span = Span::nowhere();
        decide(self.automaton, &never, span, &mut solver, &mut helper) != Answer::None
    }

    /// Looks for a violation in small counter systems, where nothing is known about all of them.
    fn search(&self, reason: UnknownReason, progress: &mut dyn Progress) -> Result<Outcome, Bug> {
        let Small {
            violation,
            satisfied,
        } = self.look(MAX_SEARCHED, progress)?;
        if let Some(outcome) = violation {
            return Ok(outcome);
        }
        let mut outcome = self.unknown(reason);
        if !satisfied.is_empty() {
            let remark = format!("no violation for {}", satisfied.join("; "));
            outcome.remarks.push(remark);
        }
        let advice = "give all parameters values with `-D` to have one system searched";
        outcome.remarks.push(advice.to_owned());
        Ok(outcome)
    }

    /// Searches small counter systems, up to the first with a violation.
    fn look(&self, at_most: usize, progress: &mut dyn Progress) -> Result<Small, Bug> {
        let mut small = Small::default();
        for values in self.small_values() {
            if small.satisfied.len() == at_most {
                break;
            }
            let Some(mut outcome) = self.instance(&values, MAX_COMPARED_STATES, progress)? else {
                continue;
            };
            match outcome.verdict {
                Verdict::Violated(_) => {
                    outcome.remarks = vec![format!("for {}", self.named(&values))];
                    outcome.sample_values = values;
                    small.violation = Some(outcome);
                    break;
                }
                Verdict::Holds { .. } => small.satisfied.push(self.named(&values)),
                Verdict::Unknown(_) => break,
            }
        }
        Ok(small)
    }

    /// Values of the parameters that are admitted, those with a small sum first.
    fn small_values(&self) -> impl Iterator<Item = Vec<i64>> {
        let n_parameters = self.automaton.parameters.len();
        let all = (0..=MAX_SUM).flat_map(move |sum| with_sum(n_parameters, sum));
        all.filter(|values| self.automaton.admits(values))
    }

    /// Searches the counter system for values of the parameters; nothing if there is none.
    fn instance(
        &self,
        values: &[i64],
        max_states: u64,
        progress: &mut dyn Progress,
    ) -> Result<Option<Outcome>, Bug> {
        let parts = self.automaton.counter_system(values, None);
        let Some(model) = parts.ok().and_then(|parts| parts.finish().ok()) else {
            return Ok(None);
        };
        self.searched(&model, max_states, progress).map(Some)
    }

    fn searched(
        &self,
        model: &Model,
        max_states: u64,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Bug> {
        let plan = Plan {
            fairness: Some(Fairness::NONE),
            budget: self.plan.budget.clone().with_max_states(max_states),
            route: Some(Route::Explicit),
            ..self.plan.clone()
        };
        let mut outcome = crate::check(model, self.property, &plan, progress)?;
        outcome.sample = Some(Box::new(model.clone()));
        Ok(outcome)
    }

    fn named(&self, values: &[i64]) -> String {
        let names = self.automaton.parameters.iter().zip(values);
        let shown: Vec<String> = names.map(|(name, v)| format!("{name} = {v}")).collect();
        shown.join(", ")
    }

    /// The solver has found values and a run.
    fn violated(
        &self,
        found: &Counterexample,
        progress: &mut dyn Progress,
    ) -> Result<Outcome, Bug> {
        let Counterexample {
            parameters, start, ..
        } = found;
        let parts = self.automaton.counter_system(parameters, Some(start));
        let model = parts.and_then(|parts| parts.finish().map_err(|error| error.message));
        let values = self.named(parameters);
        let model = match model {
            Ok(model) => model,
            Err(why) => {
                let mut outcome = self.unknown(UnknownReason::AbstractionTooCoarse);
                outcome
                    .remarks
                    .push(format!("suspected for {values}, but {why}"));
                return Ok(outcome);
            }
        };

        let mut outcome = match self.replayed(&model, found) {
            Some(outcome) => outcome,
            None => self.searched(&model, MAX_STATES, progress)?,
        };
        if outcome.is_violated() {
            outcome.remarks.insert(0, format!("for {values}"));
            outcome.sample_values.clone_from(parameters);
            return Ok(outcome);
        }
        let suspicion = format!("a run was suspected for {values}, but is not one");
        let mut outcome = self.search(UnknownReason::AbstractionTooCoarse, progress)?;
        if !outcome.is_violated() {
            outcome.remarks.insert(0, suspicion);
        }
        Ok(outcome)
    }

    /// The run of the solver, if it is one and the judge confirms that it violates the property.
    fn replayed(&self, model: &Model, found: &Counterexample) -> Option<Outcome> {
        let mut run = Run::start(model, &found.start)?;
        if found.steps.iter().map(|(_, times)| times).sum::<i64>() > MAX_STEPS {
            return None;
        }
        for (rule, times) in &found.steps {
            for _ in 0..*times {
                run.take(self.automaton, *rule)?;
            }
        }
        let (kind, trace) = match &self.property.property {
            Property::Invariant(formula) => {
                let bad = run.first_violation(formula)?;
                (ViolationKind::BadPrefix, run.up_to(bad))
            }
            _ => (ViolationKind::FairLoop, run.forever()?),
        };
        let violation = Violation {
            kind,
            trace: Some(trace),
            covering: None,
            component: None,
        };
        let verdict = Verdict::Violated(Box::new(violation));
        let mut outcome = Outcome::new(Route::Schemas, Fairness::NONE, verdict);
        outcome.sample = Some(Box::new(model.clone()));
        // What the judge does not confirm is searched for: only the search can be wrong then.
        outcome.confirm(model, self.property).ok()?;
        Some(outcome)
    }
}

/// What a proof rests on.
fn basis(used: &SolverUse) -> String {
    let SolverUse {
        name,
        answers,
        confirmed,
        confirmed_by,
    } = used;
    match confirmed_by {
        Some(by) if confirmed == answers => {
            format!("{name} found that no run violates it, confirmed by {by}")
        }
        Some(by) => format!(
            "{name} found that no run violates it; {by} confirmed {confirmed} of its {answers} answers"
        ),
        None => {
            let other = if name == "cvc5" { "z3" } else { "cvc5" };
            format!(
                "{name} found that no run violates it; nothing confirmed that (`--confirm-with {other}` asks another solver)"
            )
        }
    }
}

/// All lists of natural numbers with this length and sum.
fn with_sum(length: usize, sum: i64) -> Vec<Vec<i64>> {
    if length == 0 {
        return if sum == 0 {
            vec![Vec::new()]
        } else {
            Vec::new()
        };
    }
    let mut all = Vec::new();
    for first in 0..=sum {
        for rest in with_sum(length - 1, sum - first) {
            all.push([&[first], rest.as_slice()].concat());
        }
    }
    all
}

/// A run of a counter system, as far as it is known.
struct Run<'a> {
    model: &'a Model,
    states: Vec<State>,
    steps: Vec<Arc<TraceStep>>,
    pool: StepPool,
}

impl<'a> Run<'a> {
    fn start(model: &'a Model, start: &Configuration) -> Option<Self> {
        let cells = [start.locations.as_slice(), &start.shared].concat();
        let mut states = model.initial_states().ok()?;
        let first = states.iter().position(|state| state.cells == cells)?;
        Some(Self {
            model,
            states: vec![states.swap_remove(first)],
            steps: Vec::new(),
            pool: StepPool::default(),
        })
    }

    fn last(&self) -> &State {
        self.states.last().expect("there is a first")
    }

    /// Takes a rule; nothing if that is not possible.
    fn take(&mut self, automaton: &ThresholdAutomaton, rule: usize) -> Option<()> {
        let rule = &automaton.rules[rule];
        let mut cells = self.last().cells.clone();
        cells[rule.source] -= 1;
        cells[rule.target] += 1;
        for (shared, amount) in &rule.update {
            cells[automaton.locations.len() + shared] += amount;
        }
        let mut steps = self.model.successors(self.last()).ok()?;
        let at = steps.iter().position(|step| step.target.cells == cells)?;
        let step = steps.swap_remove(at);
        self.steps.push(self.pool.share(TraceStep::from(&step)));
        self.states.push(step.target);
        Some(())
    }

    /// The first state that breaks an invariant.
    fn first_violation(&self, formula: &Ltl) -> Option<usize> {
        let invariant = logic::propositional(formula)?;
        let breaks = |state: &State| {
            // Where an atom has no value the judge will not confirm anything.
            let holds = |atom| self.model.atom_holds(atom, state, &[]).unwrap_or(false);
            !invariant.holds(&holds)
        };
        self.states.iter().position(breaks)
    }

    /// The run up to a state.
    fn up_to(mut self, last: usize) -> Trace {
        self.states.truncate(last + 1);
        self.steps.truncate(last);
        Trace {
            states: self.states,
            steps: self.steps,
            loop_start: None,
        }
    }

    /// The run as a lasso: it goes on, if it must, to a state that can be repeated forever.
    fn forever(mut self) -> Option<Trace> {
        for _ in 0..MAX_STEPS {
            let mut steps = self.model.successors(self.last()).ok()?;
            let stays = steps.iter().position(|step| step.target == *self.last());
            let idle = TraceStep {
                actions: Vec::new(),
                movers: Vec::new(),
                commands: Vec::new(),
            };
            let closing = match (stays, steps.is_empty()) {
                (Some(at), _) => Some(TraceStep::from(&steps[at])),
                (None, true) => Some(idle),
                (None, false) => None,
            };
            if let Some(step) = closing {
                self.steps.push(self.pool.share(step));
                let last = self.states.len() - 1;
                return Some(Trace {
                    states: self.states,
                    steps: self.steps,
                    loop_start: Some(last),
                });
            }
            let step = steps.swap_remove(0);
            self.steps.push(self.pool.share(TraceStep::from(&step)));
            self.states.push(step.target);
        }
        None
    }
}

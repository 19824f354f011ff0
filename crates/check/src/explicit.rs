//! The explicit route: every reachable state is visited. Exact in both directions.

use base::{
    AtomId, Budget, Checkpoints, Diagnostic, Fairness, FairnessKind, NoProgress, Progress, Route,
    StopReason,
};
use engine::{
    Alternative, Asymmetry, CompileError, Differences, Exploration, Explored, Found, Goal, Query,
    SetCarrier, Stats, System,
};
use evidence::{Branching, Trace, UnknownReason, Verdict, Violation, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::{Assumption, AtomMeaning, Condition, Model, RunTimeError, Stmt, StmtKind};
use omega::{Automaton, Prop};

use crate::fairness::{assuming, is_machine_closed};
use crate::stutter_invariance::is_stutter_sensitive;
use crate::{Outcome, Plan, Reductions};

/// What is common to all checks of one property.
pub(crate) struct Check<'a, 'm> {
    pub(crate) model: &'m Model,
    pub(crate) system: System<'m>,
    pub(crate) fairness: Fairness,
    /// May steps be left out? The engine refuses where its own conditions for that are not met;
    /// that the property does not count steps is seen to here.
    reduce: bool,
    /// Are all states to be visited, also those that make no difference?
    all_states: bool,
    /// Which differences between states may be forgotten, where that is sound.
    forget: Differences,
    /// Why some were not.
    remarks: Vec<String>,
    /// Why processes were not exchanged.
    refusal: Option<Asymmetry>,
    /// With how many bytes of bits to search, if not exactly.
    bitstate: Option<u64>,
    /// Where sets of states are kept, if the search works on sets.
    sets: Option<&'a SetCarrier>,
    checkpoints: Option<&'a dyn Checkpoints>,
    pub(crate) budget: &'a Budget,
    pub(crate) progress: &'a mut dyn Progress,
    /// Runs that show why a formula of CTL* holds.
    pub(crate) branching: Option<Branching>,
}

/// Why a check has no verdict of its own.
pub(crate) enum Obstacle {
    Unsupported(String),
    /// The budget was spent.
    Stopped(StopReason),
    /// A run was found whose states stand for others, and no run of the model is known that it
    /// stands for.
    NotConcrete,
}

impl From<CompileError> for Obstacle {
    fn from(error: CompileError) -> Self {
        match error {
            CompileError::StateTooLarge => {
                Self::Unsupported("a state of the model takes more than 512 KiB".to_owned())
            }
            CompileError::TooManyRegisters => {
                Self::Unsupported("an expression of the model is too large".to_owned())
            }
            CompileError::TooManyAlternatives => Self::Unsupported(
                "fairness and property leave more than 64 alternatives, too many for a search on \
                 sets; check without `--disk`"
                    .to_owned(),
            ),
        }
    }
}

impl std::fmt::Display for Obstacle {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unsupported(why) => f.write_str(why),
            Self::Stopped(reason) => f.write_str(reason.name()),
            Self::NotConcrete => f.write_str("the run that was found in the reduced system could not be turned into a run of the model"),
        }
    }
}

/// Visits every state that the plan does not leave out.
pub(crate) fn check(
    model: &Model,
    property: &NamedProperty,
    fairness: Fairness,
    plan: &Plan,
    progress: &mut dyn Progress,
) -> Outcome {
    let question = &property.property;
    let mut decide = |allowed: Differences| {
        let mut check = Check::new(model, question, fairness, plan, &mut *progress)?;
        check.forget = allowed;
        let (verdict, mut stats) = check.decide(question)?;
        let reduced = check.reduced(&stats);
        stats.reduced |= check.system.forgotten() != Differences::default();
        let outcome = Outcome {
            stats,
            reduced,
            branching: check.branching,
            remarks: check.remarks,
            not_symmetric: check.refusal,
            ..Outcome::new(Route::Explicit, fairness, verdict)
        };
        Ok(outcome)
    };

    let decided = match decide(may_forget(question, plan).0) {
        Err(Obstacle::NotConcrete) => decide(Differences::default()),
        decided => decided,
    };
    let mut outcome = match decided {
        Ok(outcome) => outcome,
        Err(obstacle) => {
            let reason = UnknownReason::Unsupported(obstacle.to_string());
            Outcome::unknown(Route::Explicit, fairness, reason)
        }
    };

    let remarks = may_forget(question, plan).1;
    outcome.remarks.splice(0..0, remarks);

    let refusal = outcome.stats.refusal.map(|refusal| refusal.to_string());
    let objection = objection_to_reducing(model, question, plan).or(refusal);
    outcome.warnings.extend(objection.map(|why| {
        let message = format!(
            "partial-order reduction is not used for `{}`: {why}",
            property.name
        );
        Diagnostic::warning("not-reduced", property.span, message)
    }));
    outcome
}

pub(crate) fn compiled<'m>(model: &'m Model, plan: &Plan) -> Result<System<'m>, CompileError> {
    let system = if plan.all_code {
        System::with_all_code(model)?
    } else {
        System::new(model)?
    };
    let mut limits = engine::Limits::default();
    limits.n_depth_first = plan.n_depth_first.unwrap_or(limits.n_depth_first);
    let system = system.with_limits(limits);
    Ok(if plan.interpreted {
        system.interpreted()
    } else {
        system
    })
}

/// Which differences between states may be forgotten for a property, and why not others. Depending
/// on fairness, a search may be allowed less.
fn may_forget(property: &Property, plan: &Plan) -> (Differences, Vec<String>) {
    let chosen = plan.reduction.chosen();
    let wanted = if plan.bitstate.is_none() && plan.sets.is_none() {
        Differences {
            dead_variables: chosen.dead_variables,
            symmetry: chosen.symmetry,
        }
    } else {
        Differences::default()
    };
    match property {
        Property::CtlStar(_) | Property::MayMust(_) if wanted != Differences::default() => {
            let remark =
                "reductions are not used: path quantifiers are decided on the whole state graph";
            (Differences::default(), vec![remark.to_owned()])
        }
        _ => (wanted, Vec::new()),
    }
}

/// Is there any fair run at all? `None` if the budget is spent before that is known.
pub(crate) fn has_fair_run(model: &Model, fairness: Fairness, plan: &Plan) -> Option<bool> {
    let assumed = &model.parts().assumptions;
    let mut check = Check {
        model,
        system: compiled(model, plan).ok()?,
        fairness,
        reduce: plan.reduction.chosen().partial_order
            && !assumed
                .iter()
                .any(|a| is_stutter_sensitive_assumption(model, a)),
        all_states: false,
        forget: may_forget(&Property::DeadlockFree, plan).0,
        remarks: Vec::new(),
        refusal: None,
        bitstate: None,
        sets: plan.sets.as_ref(),
        checkpoints: None,
        budget: &plan.budget,
        progress: &mut NoProgress,
        branching: None,
    };

    let automaton = assuming(Automaton::universal(), &model.parts().assumptions);
    let (outcome, _) = check.find_run(&automaton, &[]).ok()?;
    match outcome {
        engine::Outcome::NoRun => Some(false),
        engine::Outcome::Run { .. } | engine::Outcome::NotConcrete => Some(true),
        engine::Outcome::Failed | engine::Outcome::Stopped(_) => None,
    }
}

/// Does some run satisfy an automaton and one of several demands? `None` if the budget is spent before
/// that is known. Nothing is left out of the search, and nothing is kept of others.
pub(crate) fn has_run(
    model: &Model,
    automaton: &Automaton,
    atoms: &[AtomId],
    alternatives: &[Alternative],
    plan: &Plan,
) -> Option<bool> {
    let mut conditions: Vec<Condition> = Vec::new();
    for condition in alternatives.iter().flat_map(|one| &one.conditions) {
        if !conditions.contains(condition) {
            conditions.push(condition.clone());
        }
    }
    let query = Query {
        automaton,
        conditions: &conditions,
        alternatives,
        strong_global: false,
        atoms: &with_assumed_atoms(model, atoms),
        reduce: false,
        all_states: false,
        checkpoints: None,
    };

    let mut system = compiled(model, plan).ok()?;
    let found = engine::find_run(&mut system, &query, &plan.budget, &mut NoProgress);
    match found.ok()?.0 {
        engine::Outcome::NoRun => Some(false),
        engine::Outcome::Run { .. } | engine::Outcome::NotConcrete => Some(true),
        engine::Outcome::Failed | engine::Outcome::Stopped(_) => None,
    }
}

/// Is there a reachable position that satisfies the formula? `None` if the budget is spent before
/// that is known.
pub(crate) fn is_reachable(model: &Model, goal: &Ltl, plan: &Plan) -> Option<bool> {
    let reached = Ltl::eventually(goal.clone());
    let notices = is_stutter_sensitive(&reached, &|atom| is_step_atom(model, atom));
    let mut system = compiled(model, plan).ok()?;
    let goal_prop = Goal::Satisfies(logic::propositional(goal)?);
    let exploration = Exploration {
        atoms: &goal.atoms(),
        goal: &goal_prop,
        reduce: plan.reduction.chosen().partial_order && notices == Some(false),
        checkpoints: None,
    };
    let forget = may_forget(&Property::Reachable(goal.clone()), plan).0;
    system.forget(forget, exploration.atoms, &[]);
    let (budget, sets) = (&plan.budget, plan.sets.as_ref());
    let explored = explore(&mut system, &exploration, sets, budget, &mut NoProgress);
    match explored.ok()?.found {
        Found::Goal(_) => Some(true),
        Found::Nothing => Some(false),
        Found::Failure(_) | Found::Stopped(_) => None,
    }
}

/// Does some step assert something? That is to be looked at wherever it stands, so that no search ends
/// before, whatever it was asked.
fn asserts(model: &Model) -> bool {
    let mut found = false;
    let steps = model.parts().processes.iter().flat_map(|p| &p.steps);
    for step in steps {
        Stmt::walk_all(&step.effect, &mut |statement| {
            // shape: every other statement is not an assertion.
            found |= matches!(statement, StmtKind::Assert(_) | StmtKind::Fail(_));
        });
    }
    found
}

impl<'a, 'm> Check<'a, 'm> {
    /// A check that makes use of the reductions of the plan, as far as the property allows.
    pub(crate) fn new(
        model: &'m Model,
        property: &Property,
        fairness: Fairness,
        plan: &'a Plan,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, Obstacle> {
        let reduce = plan.reduction.chosen().partial_order;
        Ok(Self {
            model,
            system: compiled(model, plan)?,
            fairness,
            reduce: reduce
                && plan.sets.is_none()
                && objection_to_reducing(model, property, plan).is_none(),
            all_states: plan.all_states || asserts(model),
            forget: may_forget(property, plan).0,
            remarks: Vec::new(),
            refusal: None,
            bitstate: plan.bitstate,
            sets: plan.sets.as_ref(),
            checkpoints: plan.checkpoints.as_deref(),
            budget: &plan.budget,
            progress,
            branching: None,
        })
    }

    /// A check that visits everything and keeps nothing.
    pub(crate) fn whole(
        model: &'m Model,
        plan: &'a Plan,
        progress: &'a mut dyn Progress,
    ) -> Result<Self, Obstacle> {
        Ok(Self {
            model,
            system: compiled(model, plan)?,
            fairness: Fairness::NONE,
            reduce: false,
            all_states: true,
            forget: Differences::default(),
            remarks: Vec::new(),
            refusal: None,
            bitstate: None,
            sets: None,
            checkpoints: None,
            budget: &plan.budget,
            progress,
            branching: None,
        })
    }

    /// The reductions that a search made use of that has seen this.
    pub(crate) fn reduced(&self, stats: &Stats) -> Reductions {
        let forgotten = self.system.forgotten();
        Reductions {
            partial_order: stats.n_reduced_states > 0,
            symmetry: forgotten.symmetry,
            dead_variables: forgotten.dead_variables,
        }
    }
}

impl Check<'_, '_> {
    pub(crate) fn decide(&mut self, property: &Property) -> Result<(Verdict, Stats), Obstacle> {
        let conditions = self.model.fairness_conditions(self.fairness);
        match property {
            Property::Ltl(_) | Property::CtlStar(_) if self.bitstate.is_some() => {
                Err(loops_need_states())
            }
            Property::CtlStar(_) if self.sets.is_some() => {
                Err(not_on_sets("a formula with path quantifiers"))
            }
            Property::Ltl(formula) => self.decide_ltl(formula),
            Property::Never(claim) => self.refute(claim.automaton(), &claim.atoms()),
            Property::Invariant(formula) if is_machine_closed(self.model, &conditions) => {
                let goal = Goal::Satisfies(proposition(&formula.negate())?);
                self.decide_by_exploring(&formula.atoms(), &goal, ViolationKind::BadPrefix)
            }
            Property::Invariant(_) if self.bitstate.is_some() => Err(loops_need_states()),
            // Where not every finite run extends to a fair one, reaching a bad state proves
            // nothing: a fair run through it is needed.
            Property::Invariant(formula) => self.decide_ltl(&Ltl::always(formula.clone())),
            Property::DeadlockFree => {
                self.decide_by_exploring(&[], &Goal::Deadlock, ViolationKind::Deadlock)
            }
            Property::Reachable(formula) => self.decide_reachable(formula),
            Property::CtlStar(formula) => self.decide_ctl_star(formula),
            Property::MayMust(_) => Err(Obstacle::Unsupported(
                "a may/must system has no states to be visited".to_owned(),
            )),
        }
    }

    fn explore(&mut self, atoms: &[AtomId], goal: &Goal) -> Result<Explored, Obstacle> {
        self.forget_differences(self.forget, atoms, &[]);
        let exploration = Exploration {
            atoms,
            goal,
            reduce: self.reduce,
            checkpoints: self.checkpoints,
        };
        let Self {
            system,
            budget,
            progress,
            bitstate,
            sets,
            ..
        } = self;
        Ok(match *bitstate {
            None => explore(system, &exploration, *sets, budget, *progress)?,
            Some(n_bytes) => {
                engine::explore_bitstate(system, &exploration, n_bytes, budget, *progress)?
            }
        })
    }

    fn forget_differences(
        &mut self,
        allowed: Differences,
        atoms: &[AtomId],
        conditions: &[Condition],
    ) {
        let refusal = self.system.forget(allowed, atoms, conditions);
        let refusal = refusal.filter(|_| has_family(self.model));
        self.refusal = self.refusal.take().or(refusal);
    }

    fn remark(&mut self, remark: String) {
        if !self.remarks.contains(&remark) {
            self.remarks.push(remark);
        }
    }

    /// What a search for infinite runs may forget: states that differ in dead cells have the same
    /// labels, and so the same fairness, unless it speaks of states. Exchanged processes are
    /// different subjects of fairness, which the search keeps account of.
    fn forget_for_runs(&mut self, atoms: &[AtomId], conditions: &[Condition]) {
        let about_all = if self.fairness.kind == FairnessKind::StrongGlobal {
            Some("strong global fairness is about every step of every state")
        } else if self.model.is_just(self.fairness) {
            Some("justness is about what every step reads and changes")
        } else {
            None
        };
        let is_kept = self.checkpoints.is_some() && !conditions.is_empty();
        let allowed = Differences {
            dead_variables: self.forget.dead_variables && about_all.is_none(),
            symmetry: self.forget.symmetry && about_all.is_none() && !is_kept,
        };
        if let (true, Some(why)) = (self.forget.dead_variables, about_all) {
            self.remark(format!("dead-variable reduction is not used: {why}"));
        }
        if self.forget.symmetry && !allowed.symmetry && has_family(self.model) {
            let kept = "under fairness it cannot be combined with `--checkpoint`";
            let why = about_all.unwrap_or(kept);
            self.remark(format!("symmetry reduction is not used: {why}"));
        }
        self.forget_differences(allowed, atoms, conditions);
    }

    /// The run of the model that a run of representatives stands for.
    fn concrete(&mut self, trace: Trace) -> Result<Trace, Obstacle> {
        engine::concrete_run(&mut self.system, trace).ok_or(Obstacle::NotConcrete)
    }

    fn decide_by_exploring(
        &mut self,
        atoms: &[AtomId],
        goal: &Goal,
        kind: ViolationKind,
    ) -> Result<(Verdict, Stats), Obstacle> {
        let Explored { found, stats, .. } = self.explore(atoms, goal)?;
        let verdict = match found {
            Found::Nothing if self.bitstate.is_some() => Verdict::Unknown(UnknownReason::NotExact),
            Found::Nothing => Verdict::Holds { witness: None },
            Found::Goal(trace) => violated(kind, Some(self.concrete(trace)?)),
            Found::Failure(trace) => self.failure(atoms, trace)?,
            Found::Stopped(reason) => Verdict::Unknown(UnknownReason::Stopped(reason)),
        };
        Ok((verdict, stats))
    }

    fn decide_reachable(&mut self, formula: &Ltl) -> Result<(Verdict, Stats), Obstacle> {
        let atoms = formula.atoms();
        let goal = Goal::Satisfies(proposition(formula)?);
        let Explored { found, stats, .. } = self.explore(&atoms, &goal)?;
        let verdict = match found {
            Found::Nothing if self.bitstate.is_some() => Verdict::Unknown(UnknownReason::NotExact),
            Found::Nothing => violated(ViolationKind::Unreachable, None),
            Found::Goal(trace) => Verdict::Holds {
                witness: Some(self.concrete(trace)?),
            },
            Found::Failure(trace) => self.failure(&atoms, trace)?,
            Found::Stopped(reason) => Verdict::Unknown(UnknownReason::Stopped(reason)),
        };
        Ok((verdict, stats))
    }

    /// A property holds iff no fair run satisfies its negation.
    fn decide_ltl(&mut self, formula: &Ltl) -> Result<(Verdict, Stats), Obstacle> {
        let negation = logic::translate(&Ltl::not(formula.clone()))
            .map_err(|error| Obstacle::Unsupported(error.to_string()))?;
        self.refute(negation, &formula.atoms())
    }

    /// The property holds iff no fair run is accepted by the automaton.
    fn refute(&mut self, bad: Automaton, atoms: &[AtomId]) -> Result<(Verdict, Stats), Obstacle> {
        let automaton = assuming(bad, &self.model.parts().assumptions);
        let (outcome, stats) = self.find_run(&automaton, atoms)?;
        let verdict = match outcome {
            engine::Outcome::NoRun => Verdict::Holds { witness: None },
            engine::Outcome::Run {
                trace,
                covering,
                component,
            } => Verdict::Violated(Box::new(Violation {
                kind: ViolationKind::FairLoop,
                trace: Some(trace),
                covering,
                component,
            })),
            engine::Outcome::NotConcrete => return Err(Obstacle::NotConcrete),
            engine::Outcome::Stopped(reason) => Verdict::Unknown(UnknownReason::Stopped(reason)),
            engine::Outcome::Failed => self.way_to_failure(atoms)?,
        };
        Ok((verdict, stats))
    }

    fn find_run(
        &mut self,
        automaton: &Automaton,
        atoms: &[AtomId],
    ) -> Result<(engine::Outcome, Stats), Obstacle> {
        let strong_global = self.fairness.kind == FairnessKind::StrongGlobal;
        if strong_global && self.sets.is_some() {
            return Err(not_on_sets("strong global fairness"));
        }
        let atoms = with_assumed_atoms(self.model, atoms);
        let conditions = self.model.fairness_conditions(self.fairness);
        self.forget_for_runs(&atoms, &conditions);
        let query = Query {
            automaton,
            conditions: &conditions,
            alternatives: &[],
            strong_global,
            atoms: &atoms,
            reduce: self.reduce,
            all_states: self.all_states,
            checkpoints: self.checkpoints,
        };
        let (system, budget) = (&mut self.system, self.budget);
        Ok(match self.sets {
            None => engine::find_run(system, &query, budget, self.progress)?,
            Some(sets) => engine::find_run_on_sets(system, &query, sets, budget, self.progress)?,
        })
    }

    /// A depth-first search met a run-time error; the shortest way to one is found breadth first.
    pub(crate) fn way_to_failure(&mut self, atoms: &[AtomId]) -> Result<Verdict, Obstacle> {
        let atoms = with_assumed_atoms(self.model, atoms);
        Ok(match self.explore(&atoms, &Goal::Nothing)?.found {
            Found::Failure(trace) => self.failure(&atoms, trace)?,
            Found::Stopped(reason) => Verdict::Unknown(UnknownReason::Stopped(reason)),
            // Only a state from a forged checkpoint can fail without being reachable.
            Found::Nothing if self.checkpoints.is_some() => {
                Verdict::Unknown(UnknownReason::Stopped(StopReason::DamagedCheckpoint))
            }
            Found::Nothing | Found::Goal(_) => {
                unreachable!("a run-time error was met in a reachable state")
            }
        })
    }

    fn failure(&mut self, atoms: &[AtomId], trace: Option<Trace>) -> Result<Verdict, Obstacle> {
        let trace = trace.map(|trace| self.concrete(trace)).transpose()?;
        let error = match &trace {
            None => initial_error(self.model),
            Some(trace) => error_at_end(self.model, atoms, trace),
        };
        Ok(violated(ViolationKind::RunTimeError(error), trace))
    }
}

/// Explores, on sets if they are kept somewhere.
fn explore(
    system: &mut System<'_>,
    exploration: &Exploration<'_>,
    sets: Option<&SetCarrier>,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<Explored, CompileError> {
    match sets {
        None => engine::explore(system, exploration, budget, progress),
        Some(sets) => engine::explore_on_sets(system, exploration, sets, budget, progress),
    }
}

fn not_on_sets(what: &str) -> Obstacle {
    Obstacle::Unsupported(format!(
        "{what} is not decided on sets of states; check without `--disk`"
    ))
}

fn loops_need_states() -> Obstacle {
    let message = "bitstate search finds bad states, not loops; \
        check this property without `--bitstate`";
    Obstacle::Unsupported(message.to_owned())
}

/// Why no step may be left out for a property although the plan asks for that, as far as its formula
/// is concerned: it must not be able to tell how many steps there are that it does not see.
fn objection_to_reducing(model: &Model, property: &Property, plan: &Plan) -> Option<String> {
    if !plan.reduction.chosen().partial_order {
        return None;
    }
    if plan.sets.is_some() {
        return Some("a search on sets of states visits all of them".to_owned());
    }
    let formula = match property {
        Property::Ltl(formula) => formula.clone(),
        Property::Invariant(formula) => Ltl::always(formula.clone()),
        Property::Reachable(formula) => Ltl::eventually(formula.clone()),
        Property::DeadlockFree => return None,
        Property::CtlStar(_) | Property::MayMust(_) => {
            return Some("partial-order reduction does not preserve branching".to_owned());
        }
        Property::Never(_) => return Some("a `never` claim reads every step".to_owned()),
    };

    let assumptions = &model.parts().assumptions;
    if assumptions
        .iter()
        .any(|a| is_stutter_sensitive_assumption(model, a))
    {
        return Some("an assumption is sensitive to stuttering".to_owned());
    }
    match is_stutter_sensitive(&formula, &|atom| is_step_atom(model, atom)) {
        Some(false) => None,
        Some(true) => Some("its formula is not stutter-invariant".to_owned()),
        None => {
            Some("its formula is too large to decide whether it is stutter-invariant".to_owned())
        }
    }
}

fn has_family(model: &Model) -> bool {
    let mut processes = model.parts().processes.iter();
    processes.any(|process| process.index.is_some_and(|index| index.hi > index.lo))
}

fn is_step_atom(model: &Model, atom: AtomId) -> bool {
    let meaning = &model.parts().atoms[atom.index()].meaning;
    match meaning {
        AtomMeaning::Taken(_) => true,
        AtomMeaning::State(_)
        | AtomMeaning::Enabled(_)
        | AtomMeaning::Deadlock
        | AtomMeaning::Certainly(..)
        | AtomMeaning::TimerSet(_) => false,
    }
}

/// Does the assumption depend on positions at which a step proposition is false?
fn is_stutter_sensitive_assumption(model: &Model, assumption: &Assumption) -> bool {
    match assumption {
        Assumption::Infinitely(atom, value) => !value && is_step_atom(model, *atom),
        Assumption::Eventually(atom, value) => *value && is_step_atom(model, *atom),
        Assumption::All(parts) | Assumption::Any(parts) => parts
            .iter()
            .any(|part| is_stutter_sensitive_assumption(model, part)),
    }
}

/// The atoms and those of the assumptions, sorted.
pub(crate) fn with_assumed_atoms(model: &Model, atoms: &[AtomId]) -> Vec<AtomId> {
    let mut atoms = atoms.to_vec();
    let assumptions = model.parts().assumptions.iter();
    assumptions.for_each(|assumption| collect_atoms(assumption, &mut atoms));
    atoms.sort_unstable();
    atoms.dedup();
    atoms
}

pub(crate) fn violated(kind: ViolationKind, trace: Option<Trace>) -> Verdict {
    Verdict::Violated(Box::new(Violation {
        kind,
        trace,
        covering: None,
        component: None,
    }))
}

pub(crate) fn proposition(formula: &Ltl) -> Result<Prop, Obstacle> {
    let too_large = || Obstacle::Unsupported("the formula is too large".to_owned());
    logic::propositional(formula).ok_or_else(too_large)
}

pub(crate) fn collect_atoms(assumption: &Assumption, atoms: &mut Vec<AtomId>) {
    match assumption {
        Assumption::Infinitely(atom, _) | Assumption::Eventually(atom, _) => atoms.push(*atom),
        Assumption::All(parts) | Assumption::Any(parts) => {
            parts.iter().for_each(|part| collect_atoms(part, atoms));
        }
    }
}

/// The error that the reference semantics reports for an initial value or constraint.
pub(crate) fn initial_error(model: &Model) -> RunTimeError {
    (0..model.cells().len())
        .find_map(|cell| model.initial_value(cell).err())
        .or_else(|| model.initial_states().err())
        .expect("the engine fails only where the reference semantics does")
}

/// The error that the reference semantics reports in the last state of a run.
pub(crate) fn error_at_end(model: &Model, atoms: &[AtomId], trace: &Trace) -> RunTimeError {
    let state = trace.states.last().expect("a run has a state");
    let commands = trace.steps.last().map_or(&[][..], |step| &step.commands);
    let in_atom = |atom: &AtomId| model.atom_holds(*atom, state, commands).err();
    model
        .successors(state)
        .err()
        .or_else(|| atoms.iter().find_map(in_atom))
        .expect("the engine fails only where the reference semantics does")
}

//! From what is written on the command line to what the library is told.

use std::path::PathBuf;
use std::sync::Arc;

use fairground::{
    AbstractionFormat, Budget, Options, Plan, PredicateOptions, REDUCE_AFTER, Reduction,
    Reductions, Route, SolverChoice, SystemProcesses, TimerFairness, Variation, name_formulas,
    solver_maker,
};

use crate::failure::Failure;
use crate::limits;
use crate::options::{
    AbstractFormat, AutomatonFormat, CheckOptions, DataOptions, FairnessOptions, ModelOptions,
    ModelSettings, Notions, ReductionName, Semantics, SolverName, TFairness,
};
use crate::quantity::show_size;

impl ModelOptions {
    /// What the front end has to know.
    pub fn for_front_end(&self) -> Options {
        self.settings.for_front_end()
    }
}

impl ModelSettings {
    /// What the front end has to know.
    pub fn for_front_end(&self) -> Options {
        let variations = [
            (self.no_assertions, Variation::WithoutAssertions),
            (self.no_end_states, Variation::WithoutEndStates),
            (self.lossy_channels, Variation::LossyChannels),
        ];
        let variations = variations.into_iter().filter(|(is_wanted, _)| *is_wanted);
        Options {
            language: self.language.clone(),
            defines: self.defines.clone(),
            abstract_timers: self.abstract_timer.clone(),
            variations: variations.map(|(_, variation)| variation).collect(),
            ..Options::default()
        }
    }
}

impl CheckOptions {
    /// What the front end has to know.
    pub fn for_front_end(&self) -> Options {
        let mut options = Options {
            assume: self.assume.clone(),
            expected: self.expect.clone(),
            ..self.settings.for_front_end()
        };
        name_formulas(&mut options, &self.ltl, &self.ctl);
        options
    }

    /// How questions are answered.
    ///
    /// # Errors
    /// The options contradict each other.
    pub fn plan(&self) -> Result<Plan, Failure> {
        self.check_disk()?;
        Ok(Plan {
            fairness: match &self.fairness {
                Some(Notions::One(fairness)) => Some(*fairness),
                None | Some(Notions::All | Notions::Several(_)) => None,
            },
            reduction: reduction(&self.reduce)?,
            all_code: self.all_code,
            // A certificate is about all states.
            all_states: self.all_states || self.certify || self.certificate.is_some(),
            interpreted: false,
            n_depth_first: None,
            bitstate: self.bitstate,
            sets: None,
            checkpoints: None,
            budget: self.budget()?,
            timer_fairness: timer_fairness(self.t_fairness),
            naive: self.semantics == Semantics::Naive,
            route: self.route,
            predicate: self.data.for_plan(),
            no_cross_check: self.no_cross_check,
        })
    }

    /// The folder in which this process keeps states.
    pub fn own_disk(&self) -> Option<PathBuf> {
        let disk = self.disk.as_ref()?;
        Some(match self.together.process {
            None => disk.clone(),
            Some(process) => disk.join(format!("process-{process}")),
        })
    }

    /// What cannot be combined with sets of states in files or in several processes.
    fn check_disk(&self) -> Result<(), Failure> {
        if self.disk.is_none() && self.together.hosts.is_none() {
            return Ok(());
        }
        let is_default = matches!(self.reduce[..], [ReductionName::Auto | ReductionName::None]);
        if !is_default {
            return Err(Failure::wrong(
                "`--disk` and `--hosts` visit every state, so they cannot be combined with \
                 `--reduce`; leave one of them out",
            ));
        }
        if self.route.is_some_and(|route| route != Route::Explicit) {
            return Err(Failure::wrong(
                "`--disk` and `--hosts` are for the route `explicit`; leave `--route` or them out",
            ));
        }
        Ok(())
    }

    fn budget(&self) -> Result<Budget, Failure> {
        limits::check_threads(self.threads.into())?;
        let budget = budget(self.max_states).with_threads(self.threads.into());
        if let (Some(bits), Some(limit)) = (self.bitstate, budget.max_memory())
            && bits > limit
        {
            return Err(Failure::wrong(format!(
                "`--bitstate` asks for {}, and at most {} may be used; ask for less, or raise \
                 `--max-memory`",
                show_size(bits),
                show_size(limit)
            )));
        }
        Ok(budget)
    }
}

impl FairnessOptions {
    /// What the front end has to know.
    pub fn for_front_end(&self) -> Options {
        let mut options = Options {
            assume: self.assume.clone(),
            ..self.model.for_front_end()
        };
        name_formulas(&mut options, self.ltl.as_slice(), &[]);
        options
    }

    /// How the question is answered.
    pub fn plan(&self) -> Plan {
        Plan {
            budget: budget(self.max_states),
            ..Plan::default()
        }
    }
}

/// What is left of the budget of the call, for this many states.
fn budget(max_states: Option<u64>) -> Budget {
    let budget = limits::budget();
    match max_states {
        None => budget,
        Some(max_states) => budget.with_max_states(max_states),
    }
}

impl DataOptions {
    /// How unbounded data is treated.
    pub fn for_plan(&self) -> PredicateOptions {
        let choice = SolverChoice {
            solver: solver_name(self.solver),
            confirm_with: self.confirm_with.map(solver_name),
            patience: self.solver_timeout,
            launch: Some(Arc::new(SystemProcesses)),
        };
        PredicateOptions {
            solver: solver_maker(choice),
            max_refinements: self.max_refinements,
            ..PredicateOptions::default()
        }
    }
}

impl From<AbstractFormat> for AbstractionFormat {
    fn from(format: AbstractFormat) -> Self {
        match format {
            AbstractFormat::Native => Self::Native,
            AbstractFormat::Smv => Self::Smv,
            AbstractFormat::Promela => Self::Promela,
            AbstractFormat::Ws1s => Self::Ws1s,
        }
    }
}

impl From<AutomatonFormat> for fairground::AutomatonFormat {
    fn from(format: AutomatonFormat) -> Self {
        match format {
            AutomatonFormat::Hoa => Self::Hoa,
            AutomatonFormat::Dot => Self::Dot,
        }
    }
}

/// What a list of names asks for.
fn reduction(list: &[ReductionName]) -> Result<Reduction, Failure> {
    match list {
        [ReductionName::Auto] => {
            return Ok(Reduction::Auto {
                after: REDUCE_AFTER,
            });
        }
        [ReductionName::None] => return Ok(Reduction::None),
        _ => {}
    }

    for (alone, name) in [(ReductionName::Auto, "auto"), (ReductionName::None, "none")] {
        if list.contains(&alone) {
            let message = format!("`{name}` cannot be combined with other reductions");
            return Err(Failure::wrong(message));
        }
    }

    let has = |reduction| list.contains(&reduction) || list.contains(&ReductionName::All);
    Ok(Reduction::Chosen(Reductions {
        partial_order: has(ReductionName::PartialOrder),
        symmetry: has(ReductionName::Symmetry),
        dead_variables: has(ReductionName::DeadVariables),
    }))
}

fn timer_fairness(how: TFairness) -> TimerFairness {
    match how {
        TFairness::BuiltIn => TimerFairness::BuiltIn,
        TFairness::WeakFormula => TimerFairness::WeakFormula,
        TFairness::StrongFormula => TimerFairness::StrongFormula,
        TFairness::None => TimerFairness::None,
    }
}

fn solver_name(name: SolverName) -> fairground::SolverName {
    match name {
        SolverName::Embedded => fairground::SolverName::Embedded,
        SolverName::Z3 => fairground::SolverName::Z3,
        SolverName::Cvc5 => fairground::SolverName::Cvc5,
        SolverName::Auto => fairground::SolverName::Auto,
    }
}

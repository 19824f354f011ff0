//! Abstract systems with may and must steps, given state by state.
//!
//! Each state describes a set of states of some concrete system. *Free* (may) steps cover all steps
//! of the concrete system; a *constrained* (must) step from `a` to `b` says that every state
//! described by `a` has a step to some state described by `b`. Propositions are true, false or
//! unknown: unknown where the described states differ, or where nothing was said.
//!
//! See D. Dams, R. Gerth, O. Grumberg, "Abstract interpretation of reactive systems", ACM TOPLAS
//! 19(2), 1997, doi:10.1145/244795.244800, for the relations, and "Fair model checking of
//! abstractions", VCL 2000, for their use with fairness.

use base::Span;

use crate::ModelError;

/// A proposition of a may/must system.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Proposition {
    /// Its name.
    pub name: String,
    /// Its value in each state; nothing where it is unknown.
    pub values: Vec<Option<bool>>,
}

/// An abstract system with may and must steps.
///
/// Invariant: every constrained step is also free, and every state has a free step.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MayMust {
    name: String,
    states: Vec<String>,
    initial: Vec<u32>,
    propositions: Vec<Proposition>,
    free: Vec<Vec<u32>>,
    constrained: Vec<Vec<u32>>,
    span: Span,
}

/// A may/must system as it is written down.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MayMustParts {
    /// Its name.
    pub name: String,
    /// The names of its states.
    pub states: Vec<String>,
    /// The initial states.
    pub initial: Vec<u32>,
    /// Its propositions; formulas refer to them by position.
    pub propositions: Vec<Proposition>,
    /// May steps.
    pub free: Vec<(u32, u32)>,
    /// Must steps.
    pub constrained: Vec<(u32, u32)>,
    /// Where it is written.
    pub span: Span,
}

impl MayMustParts {
    /// The system. Constrained steps become free, too: what must happen may happen. A state without
    /// any step idles, as deadlocked states do everywhere; all states that it describes are
    /// deadlocked, so its idle step is a constrained one.
    ///
    /// # Errors
    /// A state that does not exist, or a proposition that does not have one value for each state.
    pub fn finish(self) -> Result<MayMust, ModelError> {
        self.check()?;
        let n_states = self.states.len();
        let both = self.free.iter().chain(&self.constrained);
        let mut free = by_source(n_states, both);
        let mut constrained = by_source(n_states, self.constrained.iter());
        for state in 0..n_states {
            if free[state].is_empty() {
                free[state].push(state as u32);
                constrained[state].push(state as u32);
            }
        }

        let mut initial = self.initial;
        initial.sort_unstable();
        initial.dedup();
        Ok(MayMust {
            name: self.name,
            states: self.states,
            initial,
            propositions: self.propositions,
            free,
            constrained,
            span: self.span,
        })
    }

    fn check(&self) -> Result<(), ModelError> {
        let n_states = self.states.len();
        let fail = |code, message| {
            let span = self.span;
            Err(ModelError {
                code,
                message,
                span,
            })
        };

        let exists = |state: u32| (state as usize) < n_states;
        let steps = self.free.iter().chain(&self.constrained);
        let ends = steps.flat_map(|(source, target)| [*source, *target]);
        if !ends.chain(self.initial.iter().copied()).all(exists) {
            let message = format!("`{}` mentions a state that does not exist", self.name);
            return fail("unknown-state", message);
        }

        let incomplete = |proposition: &&Proposition| proposition.values.len() != n_states;
        if let Some(proposition) = self.propositions.iter().find(incomplete) {
            let message = format!(
                "`{}` does not have a value for each state",
                proposition.name
            );
            return fail("proposition-values", message);
        }

        Ok(())
    }
}

impl MayMust {
    /// Its name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The names of its states.
    #[must_use]
    pub fn states(&self) -> &[String] {
        &self.states
    }

    /// The initial states, in ascending order.
    #[must_use]
    pub fn initial(&self) -> &[u32] {
        &self.initial
    }

    /// Its propositions.
    #[must_use]
    pub fn propositions(&self) -> &[Proposition] {
        &self.propositions
    }

    /// Where the free steps of each state lead, in ascending order.
    #[must_use]
    pub fn free(&self) -> &[Vec<u32>] {
        &self.free
    }

    /// Where the constrained steps of each state lead, in ascending order.
    #[must_use]
    pub fn constrained(&self) -> &[Vec<u32>] {
        &self.constrained
    }

    /// Where it is written.
    #[must_use]
    pub fn span(&self) -> Span {
        self.span
    }
}

fn by_source<'s>(n_states: usize, steps: impl Iterator<Item = &'s (u32, u32)>) -> Vec<Vec<u32>> {
    let mut targets = vec![Vec::new(); n_states];
    for &(source, target) in steps {
        targets[source as usize].push(target);
    }
    for list in &mut targets {
        list.sort_unstable();
        list.dedup();
    }
    targets
}

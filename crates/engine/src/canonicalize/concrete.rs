//! Runs of representatives as runs of the model.
//!
//! Let q0 q1 … be the run that was found, each q the representative of the target of a step of the
//! one before. The run c0 c1 … that is made of it keeps to: c is q permuted by p, except for dead
//! cells. The target t of the step from q becomes the next q by sorting, s(t); the same step,
//! permuted by p, leads from c to p(t), so the next p is p after the inverse of s.
//!
//! A loop of representatives need not be closed here, as the processes may have changed places. It
//! is gone through again and again until a state comes back at its beginning. Permutations come
//! back after as many rounds as their order; which values dead cells have, and thus when a state
//! comes back, depends on the state only.

use std::collections::BTreeSet;
use std::sync::Arc;

use evidence::{StepPool, Trace, TraceStep};
use model::{CommandId, InstanceId};
use rustc_hash::FxHashMap;

use crate::explore::trace_step;
use crate::symmetry::Permutation;
use crate::system::{Steps, System};

use super::Canonicalizer;

/// Runs that would be longer than this are not made.
const MAX_LENGTH: usize = 100_000;

/// The run of the model that a run of representatives stands for. Nothing if it is not found, or is
/// too long: then the search has to be made again without representatives.
#[must_use]
pub fn concrete_run(system: &mut System<'_>, trace: Trace) -> Option<Trace> {
    concrete_run_at(system, trace, None)
}

/// As [`concrete_run`]. If given, `positions` says for each step of the trace which one of its
/// source it is: several may be called the same and lead to the same representative by different
/// ways.
pub(crate) fn concrete_run_at(
    system: &mut System<'_>,
    trace: Trace,
    positions: Option<&[u32]>,
) -> Option<Trace> {
    let Some(form) = system.canonicalizer.take() else {
        return Some(trace);
    };
    let mut walk = RunWalk::begin(system, &form, (&trace, positions));
    let run = walk.as_mut().and_then(RunWalk::follow);
    system.canonicalizer = Some(form);
    run
}

struct RunWalk<'a, 'm> {
    system: &'a mut System<'m>,
    form: &'a Canonicalizer,
    trace: &'a Trace,
    /// Which step of its source each step is, if that is known.
    positions: Option<&'a [u32]>,
    /// The state of the model that was reached.
    state: Vec<u64>,
    /// How it differs from the representative, if processes can be exchanged.
    permutation: Option<Permutation>,
    states: Vec<Vec<u64>>,
    steps: Vec<Arc<TraceStep>>,
    pool: StepPool,
}

impl<'a, 'm> RunWalk<'a, 'm> {
    /// Finds an initial state with the right representative.
    fn begin(
        system: &'a mut System<'m>,
        form: &'a Canonicalizer,
        (trace, positions): (&'a Trace, Option<&'a [u32]>),
    ) -> Option<Self> {
        let wanted = system.pack(trace.states.first()?);
        let mut found = None;
        let identity = form.symmetry.as_ref().map(super::Symmetry::identity);
        let stopped = system.for_each_initial(&mut |system, words, result| {
            let mut representative = words.to_vec();
            let mut sorted = identity.clone();
            let scratch = &mut system.canonicalizer_scratch;
            form.apply(
                &system.layout,
                &mut representative,
                scratch,
                sorted.as_mut(),
            );
            if result != Ok(true) || representative != wanted {
                return Ok(());
            }
            let permutation = identity.as_ref().zip(sorted);
            let permutation = permutation.map(|(identity, s)| identity.after_inverse_of(&s));
            found = Some((words.to_vec(), permutation));
            Err(())
        });

        debug_assert_eq!(stopped.is_err(), found.is_some());
        let (state, permutation) = found?;
        Some(Self {
            system,
            form,
            trace,
            positions,
            state,
            permutation,
            states: Vec::new(),
            steps: Vec::new(),
            pool: StepPool::default(),
        })
    }

    fn follow(&mut self) -> Option<Trace> {
        let n_steps = self.trace.steps.len();
        let Some(loop_start) = self.trace.loop_start else {
            (0..n_steps).try_for_each(|at| self.step(at))?;
            self.states.push(self.state.clone());
            return Some(self.finish(None));
        };
        (0..loop_start).try_for_each(|at| self.step(at))?;
        let mut rounds = FxHashMap::default();
        loop {
            if let Some(start) = rounds.insert(self.state.clone(), self.states.len()) {
                return Some(self.finish(Some(start)));
            }
            (loop_start..n_steps).try_for_each(|at| self.step(at))?;
            if self.states.len() > MAX_LENGTH {
                return None;
            }
        }
    }

    fn finish(&mut self, loop_start: Option<usize>) -> Trace {
        let states = std::mem::take(&mut self.states);
        Trace {
            states: states
                .iter()
                .map(|words| self.system.unpack(words))
                .collect(),
            steps: std::mem::take(&mut self.steps),
            loop_start,
        }
    }

    /// Takes the step that the run of representatives takes at a position.
    fn step(&mut self, at: usize) -> Option<()> {
        let step = &self.trace.steps[at];
        self.states.push(self.state.clone());
        if step.is_idle() {
            self.steps.push(Arc::default());
            return Some(());
        }

        let source = self.system.pack(&self.trace.states[at]);
        let target = self.system.pack(&self.trace.states[self.trace.after(at)]);
        let exact = self.positions.map(|positions| positions[at] as usize);
        let (reached, sorted) = self.find_target(&source, &target, (&step.commands, exact))?;
        let expected = match (&self.form.symmetry, &self.permutation) {
            (Some(symmetry), Some(p)) => symmetry.permuted(&self.system.layout, p, &reached),
            _ => reached,
        };
        let commands = self.permuted_commands(&step.commands)?;
        self.take(&expected, &commands)?;
        self.permutation = self
            .permutation
            .as_ref()
            .zip(sorted)
            .map(|(p, s)| p.after_inverse_of(&s));
        Some(())
    }

    /// The target of a step before it was replaced, and the permutation by which it was.
    fn find_target(
        &mut self,
        source: &[u64],
        representative: &[u64],
        (commands, exact): (&[CommandId], Option<usize>),
    ) -> Option<(Vec<u64>, Option<Permutation>)> {
        let mut steps = Steps::default();
        self.system.steps(source, &mut steps).ok()?;
        for position in 0..steps.len() {
            let is_meant = exact.is_none_or(|exact| exact == position);
            if !is_meant || self.system.step_label(&steps, position).commands != commands {
                continue;
            }
            let target = self.system.step_target(&steps, position);
            let mut words = target.to_vec();
            let mut sorted = self.form.symmetry.as_ref().map(super::Symmetry::identity);
            let scratch = &mut self.system.canonicalizer_scratch;
            self.form
                .apply(&self.system.layout, &mut words, scratch, sorted.as_mut());
            if words == representative {
                return Some((target.to_vec(), sorted));
            }
        }
        None
    }

    fn permuted_commands(&self, commands: &[CommandId]) -> Option<Vec<CommandId>> {
        let (Some(symmetry), Some(permutation)) = (&self.form.symmetry, &self.permutation) else {
            return Some(commands.to_vec());
        };
        let model = self.system.model;
        let image = |&id: &CommandId| symmetry.permuted_command(model, permutation, id);
        let mut images: Vec<CommandId> = commands.iter().map(image).collect::<Option<_>>()?;
        images.sort_unstable();
        Some(images)
    }

    /// Takes the step with these commands that leads to this state, except for dead cells.
    fn take(&mut self, expected: &[u64], commands: &[CommandId]) -> Option<()> {
        let mut steps = Steps::default();
        self.system.steps(&self.state, &mut steps).ok()?;
        let alive = |words: &[u64]| {
            let mut words = words.to_vec();
            if let Some(live_variables) = &self.form.live_variables {
                live_variables.clear(&self.system.layout, &mut words);
            }
            words
        };

        let expected = alive(expected);
        let fits = |&position: &usize| {
            let label = self.system.step_label(&steps, position);
            // Two ways for an instance to take an action that are one here may be two there, and
            // the other way round; their states are equal then.
            let instance = |id: &CommandId| self.system.model.commands()[id.index()].instance;
            let shared = label.commands.iter().filter(|id| commands.contains(id));
            let shared: BTreeSet<InstanceId> = shared.map(instance).collect();
            let movers: BTreeSet<InstanceId> = commands.iter().map(instance).collect();
            let same = shared == movers && label.movers.len() == movers.len();
            same && alive(self.system.step_target(&steps, position)) == expected
        };

        let position = (0..steps.len()).find(fits)?;
        let step = trace_step(self.system.step_label(&steps, position));
        self.steps.push(self.pool.share(step));
        self.state = self.system.step_target(&steps, position).to_vec();
        Some(())
    }
}

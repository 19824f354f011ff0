//! Fairness by definition: what a step does for each condition, and which runs are then fair.
//!
//! A run is judged by the marks that its steps carry infinitely often. Mark 0 is on every step, so
//! that "no step carries mark 0" says "there is no step".

use base::{AtomId, Fairness, FairnessKind, bits};
use model::{
    Assumption, Condition, ConditionKind, Interference, Model, Needs, State, Subject, Successor,
};
use rustc_hash::FxHashMap;

use crate::tableau::BadRuns;

/// A condition on the marks that a run carries infinitely often.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Acceptance {
    /// The mark is carried infinitely often.
    Inf(usize),
    /// It is not.
    Fin(usize),
    /// All of them.
    All(Vec<Self>),
    /// At least one of them.
    Any(Vec<Self>),
}

impl Acceptance {
    /// May a run be accepted that carries none of the `absent` marks, and all of the `infinite` ones
    /// infinitely often? "No" is certain.
    #[must_use]
    pub fn is_possible(&self, absent: &[u64], infinite: &[u64]) -> bool {
        match self {
            Self::Inf(mark) => !bits::get(absent, *mark),
            Self::Fin(mark) => !bits::get(infinite, *mark),
            Self::All(parts) => parts.iter().all(|p| p.is_possible(absent, infinite)),
            Self::Any(parts) => parts.iter().any(|p| p.is_possible(absent, infinite)),
        }
    }
}

/// Where the marks of a condition are.
#[derive(Clone, Debug)]
enum ConditionMarks {
    /// Taken.
    Unconditional(usize),
    /// Taken, or disabled in a state that counts; the same wherever it is disabled.
    Weak(usize, usize),
    /// Enabled; taken.
    Strong(usize, usize),
}

/// The marks of all steps, and which runs are fair and forbidden.
#[derive(Clone, Debug)]
pub struct Marks<'m> {
    /// How many marks there are.
    pub n_marks: usize,
    /// The runs that are looked for.
    pub acceptance: Acceptance,
    /// Must every step of a state that is visited infinitely often be taken infinitely often?
    pub is_strong_global: bool,
    first_of_automaton: usize,
    conditions: Vec<(Condition, ConditionMarks)>,
    by_subject: FxHashMap<Subject, Vec<usize>>,
    /// The mark of steps from states in which no process has control.
    free: usize,
    /// The mark of steps to positions where an atom has this value.
    literals: Vec<(AtomId, bool, usize)>,
    /// Which steps interfere, if there are conditions of justness.
    interference: Option<Interference<'m>>,
}

/// What the conditions find in a state.
#[derive(Clone, Debug)]
pub struct Enabled<'s> {
    /// The marks of a step that takes nothing.
    marks: Vec<u64>,
    /// What is necessary for steps that are possible, by condition.
    needs: Vec<(usize, Needs)>,
    state: &'s State,
}

impl<'m> Marks<'m> {
    /// The marks for a fairness and an automaton of forbidden runs.
    #[must_use]
    pub fn new(model: &'m Model, fairness: Fairness, bad: &BadRuns) -> Self {
        let mut marks = Self {
            n_marks: 2 + bad.n_marks(),
            acceptance: Acceptance::Inf(0),
            is_strong_global: fairness.kind == FairnessKind::StrongGlobal,
            first_of_automaton: 2,
            conditions: Vec::new(),
            by_subject: FxHashMap::default(),
            free: 1,
            literals: Vec::new(),
            interference: model.is_just(fairness).then(|| Interference::new(model)),
        };
        let mut accepted = vec![Acceptance::Inf(0)];
        accepted.extend((2..marks.n_marks).map(Acceptance::Inf));

        let has_control = model.parts().control.is_some();
        for condition in model.fairness_conditions(fairness) {
            accepted.push(marks.condition(condition, has_control));
        }
        for assumption in &model.parts().assumptions {
            accepted.push(marks.assumption(assumption));
        }
        marks.acceptance = Acceptance::All(accepted);
        marks
    }

    fn fresh(&mut self) -> usize {
        self.n_marks += 1;
        self.n_marks - 1
    }

    fn condition(&mut self, condition: Condition, has_control: bool) -> Acceptance {
        use Acceptance::{All, Any, Fin, Inf};
        let is_timer = matches!(condition.subject, Subject::Timer(_));
        let (where_, accepted) = match condition.kind {
            ConditionKind::Unconditional => {
                let taken = self.fresh();
                (ConditionMarks::Unconditional(taken), Inf(taken))
            }
            ConditionKind::Strong => {
                let (enabled, taken) = (self.fresh(), self.fresh());
                let accepted = Any(vec![Fin(enabled), Inf(taken)]);
                (ConditionMarks::Strong(enabled, taken), accepted)
            }
            ConditionKind::Weak => {
                let counted = self.fresh();
                // States with control count only if there are no others from some point on.
                if !has_control || is_timer {
                    (ConditionMarks::Weak(counted, counted), Inf(counted))
                } else {
                    let anywhere = self.fresh();
                    let never_free = All(vec![Fin(self.free), Inf(anywhere)]);
                    let accepted = Any(vec![Inf(counted), never_free]);
                    (ConditionMarks::Weak(counted, anywhere), accepted)
                }
            }
        };
        let position = self.conditions.len();
        let of_subject = self.by_subject.entry(condition.subject.clone());
        of_subject.or_default().push(position);
        self.conditions.push((condition, where_));
        accepted
    }

    fn assumption(&mut self, assumption: &Assumption) -> Acceptance {
        match assumption {
            Assumption::Infinitely(atom, value) => Acceptance::Inf(self.literal(*atom, *value)),
            Assumption::Eventually(atom, value) => Acceptance::Fin(self.literal(*atom, !*value)),
            Assumption::All(parts) => {
                Acceptance::All(parts.iter().map(|part| self.assumption(part)).collect())
            }
            Assumption::Any(parts) => {
                Acceptance::Any(parts.iter().map(|part| self.assumption(part)).collect())
            }
        }
    }

    fn literal(&mut self, atom: AtomId, value: bool) -> usize {
        let mark = self.fresh();
        self.literals.push((atom, value, mark));
        mark
    }

    /// An empty set of marks.
    #[must_use]
    pub fn empty(&self) -> Vec<u64> {
        vec![0; bits::words_for(self.n_marks)]
    }

    /// Which conditions have their subject enabled in a state with these steps.
    #[must_use]
    pub fn enabled<'s>(&self, model: &Model, state: &'s State, steps: &[Successor]) -> Enabled<'s> {
        let mut enabled = vec![false; self.conditions.len()];
        for step in steps {
            self.for_each_taken(step, &mut |condition| enabled[condition] = true);
        }
        for (position, (condition, _)) in self.conditions.iter().enumerate() {
            // An abstract timer waits where its value stands for all from the threshold on.
            if let Subject::Timer(cell) = condition.subject {
                let here = (cell, state.cells[cell]);
                enabled[position] = model.abstract_timers().any(|timer| timer == here);
            }
        }

        // A step of a team exists where it is possible, unless another process has control.
        let in_control = model.in_control(state);
        let mut needs = Vec::new();
        for (interference, found) in self.interference.iter().map(|i| (i, i.needs(state))) {
            for found in found {
                let team = interference.teams()[found.team].clone();
                let of_team = self.by_subject.get(&Subject::Team(team));
                for &position in of_team.into_iter().flatten() {
                    enabled[position] = in_control.is_none_or(|id| found.movers.contains(&id));
                    needs.push((position, found.clone()));
                }
            }
        }
        Enabled {
            marks: self.of_state(&enabled, in_control.is_none()),
            needs,
            state,
        }
    }

    /// The marks of a step that takes nothing, from a state where these subjects are enabled.
    fn of_state(&self, enabled: &[bool], is_free: bool) -> Vec<u64> {
        let mut marks = self.empty();

        let mut set = |mark: usize, value: bool| {
            if value {
                bits::set(&mut marks, mark);
            }
        };

        set(0, true);
        set(self.free, is_free);

        for ((condition, where_), enabled) in self.conditions.iter().zip(enabled) {
            match where_ {
                ConditionMarks::Unconditional(_) => {}
                ConditionMarks::Strong(mark, _) => set(*mark, *enabled),
                ConditionMarks::Weak(counted, anywhere) => {
                    let counts = is_free || matches!(condition.subject, Subject::Timer(_));
                    set(*counted, !enabled && counts);
                    if anywhere != counted {
                        set(*anywhere, !enabled);
                    }
                }
            }
        }

        marks
    }

    /// The marks of a step, but for those of the automaton. `letter` is that of its target.
    #[must_use]
    pub fn of_step(
        &self,
        enabled: &Enabled<'_>,
        step: &Successor,
        letter: &dyn Fn(AtomId) -> bool,
    ) -> Vec<u64> {
        let mut marks = enabled.marks.clone();

        let mut take = |condition: usize| match self.conditions[condition].1 {
            ConditionMarks::Unconditional(taken) | ConditionMarks::Strong(_, taken) => {
                bits::set(&mut marks, taken);
            }
            ConditionMarks::Weak(counted, anywhere) => {
                bits::set(&mut marks, counted);
                bits::set(&mut marks, anywhere);
            }
        };

        self.for_each_taken(step, &mut take);

        if let Some(interference) = &self.interference {
            for (condition, needs) in &enabled.needs {
                if interference.interferes(enabled.state, step, needs) {
                    take(*condition);
                }
            }
        }

        for (atom, value, mark) in &self.literals {
            if letter(*atom) == *value {
                bits::set(&mut marks, *mark);
            }
        }
        marks
    }

    /// Adds marks of the automaton to those of a step.
    pub(crate) fn add_automaton(&self, marks: &mut [u64], of_automaton: &[usize]) {
        for mark in of_automaton {
            bits::set(marks, self.first_of_automaton + mark);
        }
    }

    /// The marks of a step with those of the automaton.
    #[must_use]
    pub fn with_automaton(&self, of_step: &[u64], of_automaton: &[usize]) -> Vec<u64> {
        let mut marks = of_step.to_vec();
        self.add_automaton(&mut marks, of_automaton);
        marks
    }

    /// Visits the conditions whose subject takes part in a step.
    fn for_each_taken(&self, step: &Successor, visit: &mut dyn FnMut(usize)) {
        let processes = step.movers.iter().map(|id| Subject::Process(*id));
        let actions = step.actions.iter().map(|id| Subject::Action(*id));
        let commands = step.commands.iter().map(|id| Subject::Choice(*id));
        let timers = step.timers_set.iter().map(|cell| Subject::Timer(*cell));
        for subject in processes.chain(actions).chain(commands).chain(timers) {
            let conditions = self.by_subject.get(&subject);
            conditions
                .into_iter()
                .flatten()
                .copied()
                .for_each(&mut *visit);
        }
    }
}

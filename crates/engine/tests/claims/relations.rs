//! How units are related to each other, to propositions and to fairness.

use engine::{Claims, UnitClaims};
use model::{AtomMeaning, Model, State, Successor, Transition};
use testkit::{Random, cases};

use crate::sources::Subject;
use crate::states::{arbitrary, reachable};

/// How many comparisons were made, of things that are claimed to be so.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub independent: usize,
    pub disabled: usize,
    pub invisible: usize,
    pub irrelevant: usize,
    pub steady: usize,
    pub vital: usize,
}

/// The steps of a transition; nothing if it fails.
type Steps = Option<Vec<Successor>>;

/// Compares all claims about steps in a state; says what is false.
pub fn compare(
    subject: &Subject,
    claims: &Claims,
    state: &State,
    counts: &mut Counts,
) -> Option<String> {
    if subject.is_synchronous() {
        return None;
    }
    let comparison = Comparison {
        model: &subject.model,
        subject,
        claims,
        state,
    };
    let mut findings = claims.units.iter().enumerate().map(|(position, unit)| {
        let steps = comparison.steps(unit, state);
        let finding = comparison.places(position, steps.as_deref()?);
        finding
            .or_else(|| comparison.others(unit, &steps, counts))
            .or_else(|| comparison.atoms(unit, steps.as_deref()?, counts))
            .or_else(|| comparison.fairness(position, steps.as_deref()?, counts))
            .map(|finding| format!("{}: {}: {finding}", subject.name, comparison.name(unit)))
    });
    findings.find_map(|finding| finding)
}

struct Comparison<'a> {
    model: &'a Model,
    subject: &'a Subject,
    claims: &'a Claims,
    state: &'a State,
}

impl Comparison<'_> {
    fn transition(&self, unit: &UnitClaims) -> &Transition {
        &self.model.transitions()[unit.transition]
    }

    fn steps(&self, unit: &UnitClaims, state: &State) -> Steps {
        self.model.steps_of(self.transition(unit), state).ok()
    }

    fn name(&self, unit: &UnitClaims) -> &str {
        self.model.action_name(self.transition(unit).action)
    }

    /// A unit that moves a process from where it is, is listed there.
    fn places(&self, position: usize, steps: &[Successor]) -> Option<String> {
        let is_listed = |instance: &model::InstanceId| {
            let location = self.state.locations[instance.index()];
            self.claims.moving[instance.index()][location.index()][position]
        };
        let mut movers = steps.iter().flat_map(|step| &step.movers);
        let missing = movers.find(|instance| !is_listed(instance))?;
        Some(format!("moves {}", self.model.instance_name(*missing)))
    }

    /// What the unit does to other units, and they to it.
    fn others(&self, unit: &UnitClaims, steps: &Steps, counts: &mut Counts) -> Option<String> {
        for (position, other) in self.claims.units.iter().enumerate() {
            let before = self.steps(other, self.state);
            for step in steps.iter().flatten() {
                let after = self.steps(other, &step.target);
                if !unit.interferes[position] {
                    counts.independent += 1;
                    if !self.commute(unit, step, (&before, &after)) {
                        return Some(format!("does not commute with {}", self.name(other)));
                    }
                }
                let is_waiting = self.is_in_place(other) && before.as_deref() == Some(&[]);
                let units = &self.claims.units;
                let own = units.iter().position(|u| u.transition == unit.transition)?;
                if is_waiting && !other.enabled_by[own] {
                    counts.disabled += 1;
                    if after.as_deref() != Some(&[]) {
                        return Some(format!("makes {} possible", self.name(other)));
                    }
                }
            }
        }

        None
    }

    fn is_in_place(&self, unit: &UnitClaims) -> bool {
        let mut participants = self.transition(unit).participants.iter();
        participants.all(|participant| {
            let location = self.state.locations[participant.instance.index()];
            let mut commands = participant.alternatives.iter();
            commands.any(|command| self.model.step_of(*command).source == location)
        })
    }

    /// Is the other one possible after the step iff it was before, and is the end the same whichever
    /// comes first?
    fn commute(
        &self,
        unit: &UnitClaims,
        step: &Successor,
        (before, after): (&Steps, &Steps),
    ) -> bool {
        let (Some(before), Some(after)) = (before, after) else {
            return before.is_none() && after.is_none();
        };
        // The step is one of several of its unit; after the other it is the one with these commands
        // that leads to the same end.
        let ends: Vec<&State> = after.iter().map(|step| &step.target).collect();
        before.len() == after.len()
            && before.iter().zip(&ends).all(|(first, end)| {
                let then = self.steps(unit, &first.target).unwrap_or_default();
                let mut same = then.iter().filter(|then| then.commands == step.commands);
                same.any(|then| then.target == **end)
            })
    }

    fn atoms(&self, unit: &UnitClaims, steps: &[Successor], counts: &mut Counts) -> Option<String> {
        if unit.is_visible || self.subject.has_ruling() {
            return None;
        }
        for step in steps {
            let commands = self.merged(step)?;
            for &atom in &self.subject.atoms {
                let description = &self.model.parts().atoms[atom.index()];
                let is_seen = match &description.meaning {
                    AtomMeaning::State(_)
                    | AtomMeaning::Certainly(..)
                    | AtomMeaning::Enabled(_) => {
                        let before = self.model.atom_holds(atom, self.state, &[]);
                        let after = self.model.atom_holds(atom, &step.target, &[]);
                        before.is_ok() && after.is_ok() && before.ok() != after.ok()
                    }
                    AtomMeaning::Taken(_) => self
                        .model
                        .atom_holds(atom, &step.target, &commands)
                        .is_ok_and(|holds| holds),
                    // With these nothing is left out.
                    AtomMeaning::Deadlock | AtomMeaning::TimerSet(_) => false,
                };
                counts.invisible += 1;
                if is_seen {
                    return Some(format!("is seen by {}", description.name));
                }
            }
        }

        None
    }

    fn fairness(
        &self,
        position: usize,
        steps: &[Successor],
        counts: &mut Counts,
    ) -> Option<String> {
        if self.subject.has_ruling() {
            return None;
        }
        for step in steps {
            let before = self.model.successors(self.state).ok()?;
            let Ok(after) = self.model.successors(&step.target) else {
                continue;
            };
            let commands = self.merged(step)?;
            for (claim, condition) in self.claims.subjects.iter().zip(&self.subject.conditions) {
                let subject = &condition.subject;
                let is_taken = takes(subject, step, &commands);
                let enabled = |steps: &[Successor]| {
                    steps
                        .iter()
                        .any(|step| takes(subject, step, &step.commands))
                };
                let (before, after) = (enabled(&before), enabled(&after));
                let name = || self.model.subject_name(subject);
                if !claim.relevant[position] {
                    counts.irrelevant += 1;
                    if is_taken || before != after {
                        return Some(format!("is relevant to {}", name()));
                    }
                }
                if claim.is_steady && before && !is_taken {
                    counts.steady += 1;
                    if !after {
                        return Some(format!("disables {}", name()));
                    }
                }
            }
        }

        None
    }

    /// All commands by which a step happens: other ways of taking the same action to the same state
    /// are the same step.
    fn merged(&self, step: &Successor) -> Option<Vec<model::CommandId>> {
        let steps = self.model.successors(self.state).ok()?;
        let mut same = steps.into_iter().filter(|other| {
            other.actions == step.actions
                && other.movers == step.movers
                && other.target == step.target
        });
        same.next().map(|step| step.commands.to_vec())
    }
}

fn takes(subject: &model::Subject, step: &Successor, commands: &[model::CommandId]) -> bool {
    match subject {
        model::Subject::Process(instance) => step.movers.contains(instance),
        model::Subject::Action(action) => step.actions.contains(action),
        model::Subject::Choice(command) => commands.contains(command),
        model::Subject::Timer(cell) => step.timers_set.contains(cell),
        model::Subject::Team(_) => unreachable!("justness is refused"),
    }
}

/// Is there a cycle of steps that do not move a process without which every run is said to end?
pub fn compare_vital(
    subject: &Subject,
    claims: &Claims,
    states: &[State],
    counts: &mut Counts,
) -> Option<String> {
    for (position, _) in claims.vital.iter().enumerate().filter(|(_, vital)| **vital) {
        let instance = model::InstanceId::new(position);
        let steps = |state: &State| {
            let steps = subject.model.successors(state).unwrap_or_default();
            let without = steps
                .into_iter()
                .filter(|step| !step.movers.contains(&instance));
            without
                .filter_map(|step| states.iter().position(|s| *s == step.target))
                .collect::<Vec<usize>>()
        };
        let edges: Vec<Vec<usize>> = states.iter().map(steps).collect();
        // States without a way on are taken away until none is left, or only those on cycles.
        let mut is_left = vec![true; states.len()];
        while let Some(end) = (0..states.len())
            .find(|&s| is_left[s] && edges[s].iter().all(|&target| !is_left[target]))
        {
            is_left[end] = false;
        }
        counts.vital += 1;
        if is_left.contains(&true) {
            let name = subject.model.instance_name(instance);
            return Some(format!("{}: {name} may stand still", subject.name));
        }
    }

    None
}

#[test]
fn relations_of_steps_are_as_claimed() {
    let mut counts = Counts::default();
    for seed in 0..u64::from(cases(600)) {
        let subject = Subject::random(seed);
        let claims = subject.claims(false);
        let (states, is_complete) = reachable(&subject.model, 12);
        for state in &states {
            assert_eq!(compare(&subject, &claims, state, &mut counts), None);
        }
        if is_complete && !subject.is_synchronous() && !subject.has_ruling() {
            assert_eq!(compare_vital(&subject, &claims, &states, &mut counts), None);
        }
        let claims = subject.claims(true);
        let random = &mut Random::new(seed ^ 0x5eed);
        for _ in 0..8 {
            let state = arbitrary(&subject.model, random);
            assert_eq!(compare(&subject, &claims, &state, &mut counts), None);
        }
    }

    let Counts {
        independent,
        disabled,
        invisible,
        irrelevant,
        steady,
        vital,
    } = counts;

    assert!(independent > 5_000 && disabled > 1_000, "{counts:?}");
    assert!(invisible > 1_000 && irrelevant > 1_000, "{counts:?}");
    assert!(steady > 100 && vital > 10, "{counts:?}");
}

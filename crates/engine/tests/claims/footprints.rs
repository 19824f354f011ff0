//! What units and propositions read and write.

use std::collections::BTreeSet;

use engine::{Claims, Component, UnitClaims};
use model::{Model, RunTimeError, State, Successor, Transition};
use testkit::{Random, cases};

use crate::sources::Subject;
use crate::states::{Room, arbitrary, changed, differences, reachable};

/// How many comparisons were made.
#[derive(Clone, Copy, Default, Debug)]
pub struct Counts {
    pub changes: usize,
    pub steps: usize,
    pub failures: usize,
    pub atoms: usize,
}

/// Compares units and atoms on a state and some changes of it; says what is false.
pub fn compare(
    subject: &Subject,
    claims: &Claims,
    state: &State,
    random: &mut Random,
    counts: &mut Counts,
) -> Option<String> {
    let comparison = Comparison {
        model: &subject.model,
        claims,
        state,
    };
    let n_units = claims.units.len();

    // Of very many units some are looked at in each state.
    let chance = (4_000 / n_units.max(1)).clamp(1, 100);
    for unit in &claims.units {
        if !subject.is_synchronous() && random.chance(chance) {
            let finding = comparison.unit(unit, random, counts);
            if let Some(finding) = finding {
                let action = subject.model.transitions()[unit.transition].action;
                let name = subject.model.action_name(action);
                return Some(format!("{}: {name}: {finding}", subject.name));
            }
        }
    }

    for (position, reads) in claims.atoms.iter().enumerate() {
        let Some(reads) = reads else { continue };
        let atom = subject.atoms[position];
        let holds = |state: &State| subject.model.atom_holds(atom, state, &[]).ok();
        let other = comparison.changed_outside(reads, random);
        counts.atoms += 1;
        if holds(state) != holds(&other) {
            let name = &subject.model.parts().atoms[atom.index()].name;
            return Some(format!("{}: {name} reads more", subject.name));
        }
    }

    None
}

struct Comparison<'a> {
    model: &'a Model,
    claims: &'a Claims,
    state: &'a State,
}

impl Comparison<'_> {
    fn unit(&self, unit: &UnitClaims, random: &mut Random, counts: &mut Counts) -> Option<String> {
        let transition = &self.model.transitions()[unit.transition];
        let steps = self.steps(transition, self.state);
        let Ok(steps) = steps else {
            counts.failures += 1;
            return self.failure(unit, transition, random);
        };
        counts.steps += steps.len();

        let writes: BTreeSet<Component> = unit.writes.iter().copied().collect();
        for step in &steps {
            let written = differences(self.state, &step.target);
            if let Some(missing) = written.difference(&writes).next() {
                return Some(format!("writes {missing:?}"));
            }
        }

        // The same is done where other things are different,
        counts.changes += 1;
        let other = self.changed_outside(&unit.reads, random);
        let Ok(others) = self.steps(transition, &other) else {
            return Some(format!(
                "{:?} decide about failure",
                differences(self.state, &other)
            ));
        };

        if !self.is_same(&steps, &other, &others) {
            let changed = differences(self.state, &other);
            return Some(format!("some of {changed:?} are read"));
        }

        // and it is possible or not, where the participants are in place.
        let participants = transition.participants.iter();
        let places = participants.map(|p| Component::Location(p.instance));
        let condition: Vec<Component> = places.chain(unit.condition.iter().copied()).collect();
        let other = self.changed_outside(&condition, random);

        match self.steps(transition, &other) {
            Ok(others) if others.is_empty() != steps.is_empty() => {
                let changed = differences(self.state, &other);
                Some(format!("some of {changed:?} decide whether it is possible"))
            }
            _ => None,
        }
    }

    /// A unit that fails does so whatever else is different, and was said to be able to.
    fn failure(
        &self,
        unit: &UnitClaims,
        transition: &Transition,
        random: &mut Random,
    ) -> Option<String> {
        let other = self.changed_outside(&unit.reads, random);
        if self.steps(transition, &other).is_ok() {
            let changed = differences(self.state, &other);
            return Some(format!("some of {changed:?} decide about failure"));
        }
        (!unit.can_fail).then(|| "it fails".to_owned())
    }

    fn steps(
        &self,
        transition: &Transition,
        state: &State,
    ) -> Result<Vec<Successor>, RunTimeError> {
        self.model.steps_of(transition, state)
    }

    /// Are the same values written to the same components?
    fn is_same(&self, steps: &[Successor], other: &State, others: &[Successor]) -> bool {
        let same_step = |(one, two): (&Successor, &Successor)| {
            let untouched = differences(self.state, &one.target);
            let untouched_too = differences(other, &two.target);
            let is_kept = |c: &Component| !untouched.contains(c) && !untouched_too.contains(c);
            one.commands == two.commands
                && one.timers_set == two.timers_set
                && differences(&one.target, &two.target).iter().all(is_kept)
        };
        steps.len() == others.len() && steps.iter().zip(others).all(same_step)
    }

    fn changed_outside(&self, reads: &[Component], random: &mut Random) -> State {
        let is_constant = |component: Component| match component {
            Component::Cell(cell) => self.claims.constants[cell].is_some(),
            Component::Location(_) | Component::Length(_) | Component::Message { .. } => false,
        };
        let may_change = |component| !reads.contains(&component) && !is_constant(component);
        let percent = *random.pick(&[20, 50, 100]);
        let room = Room::claimed(self.claims);
        changed(self.model, &room, self.state, &may_change, percent, random)
    }
}

#[test]
fn nothing_else_is_read_or_written() {
    let mut counts = Counts::default();
    for seed in 0..u64::from(cases(800)) {
        let subject = Subject::random(seed);
        let random = &mut Random::new(seed ^ 0xf007);
        let (reachable, _) = reachable(&subject.model, 12);
        let claims = subject.claims(false);
        for state in &reachable {
            let finding = compare(&subject, &claims, state, random, &mut counts);
            assert_eq!(finding, None);
        }
        // What is never executed may be, in states that are never reached.
        let claims = subject.claims(true);
        for _ in 0..12 {
            let state = arbitrary(&subject.model, random);
            let finding = compare(&subject, &claims, &state, random, &mut counts);
            assert_eq!(finding, None);
        }
    }

    let many = cases(10_000) as usize;
    assert!(
        counts.changes > many && counts.steps > many && counts.atoms > many,
        "{counts:?}"
    );
    assert!(counts.failures > cases(50) as usize, "{counts:?}");
}

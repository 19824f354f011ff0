//! Which of the possible steps exist: the counterpart of `model::priority`.
//!
//! Priorities are looked at from the highest down; a level with a possible step, or with an error, is
//! the last one. Where a process has control, the steps in which it moves are looked at first; where
//! there are none but others of the same level, or none at all, it is *blocked*, and the step that
//! leads there takes control away.

use model::{InstanceId, Model};

use crate::bdd::{Bdd, Halt};
use crate::encoding::Encoding;
use crate::system::{Move, System, Teams};

/// The rules in the making.
struct Rules<'a, 'm> {
    encoding: &'a Encoding<'m>,
    /// By level: where any step is possible; and with which instance.
    possible: Vec<Bdd>,
    possible_with: Vec<Vec<Bdd>>,
    teams: &'a Teams,
    errors: Bdd,
    blocked: Bdd,
    /// By level: where its steps exist if no process has control; and by ruler, if it has.
    free: Vec<Bdd>,
    ruled: Vec<Vec<Bdd>>,
}

/// Restricts moves to where they exist.
pub(crate) fn rule<'m>(encoding: Encoding<'m>, mut teams: Teams) -> Result<System<'m>, Halt> {
    let model = encoding.model;
    let rules = {
        let mut rules = Rules::new(&encoding, &teams)?;
        rules.find(model)?;
        (rules.errors, rules.blocked, rules.free, rules.ruled)
    };
    let (errors, blocked, free, ruled) = rules;

    if model.levels().len() > 1 || model.parts().control.is_some() {
        for step in &mut teams.moves {
            let level = position(model, step.level);
            let mut exists = free[level].clone();
            for mover in &step.movers {
                if let Some(ruled) = ruled[level].get(mover.index()) {
                    exists = exists.or(ruled)?;
                }
            }
            step.relation = step.relation.and(&exists)?;
        }
        teams.moves.retain(|step| !step.relation.is_false());
    }
    if let Some(control) = control_field(&encoding) {
        for step in &mut teams.moves {
            normalise(&encoding, step, control, &blocked)?;
        }
    }

    // Where nothing fails and no move exists, the system idles.
    let mut deadlock = errors.not()?;
    for step in &teams.moves {
        deadlock = deadlock.minus(&step.enabled()?)?;
    }
    let nowhere = encoding.manager.constant(false);
    let mut system = System {
        encoding,
        initial: nowhere,
        fails_initially: false,
        moves: teams.moves,
        errors,
        deadlock,
        new_values: Vec::new(),
    };
    system.initial = blocked;
    Ok(system)
}

fn position(model: &Model, priority: i8) -> usize {
    let level = model.levels().iter().position(|level| *level == priority);
    level.expect("every priority is a level")
}

/// The field that says which process has control.
pub(crate) fn control_field(encoding: &Encoding<'_>) -> Option<usize> {
    let control = encoding.model.parts().control?;
    let cell = encoding.model.first_cell(control, None);
    Some(encoding.domains.cell(cell))
}

impl<'a, 'm> Rules<'a, 'm> {
    fn new(encoding: &'a Encoding<'m>, teams: &'a Teams) -> Result<Self, Halt> {
        let model = encoding.model;
        let (n_levels, n_instances) = (model.levels().len(), model.instances().len());
        let nowhere = encoding.manager.constant(false);
        let mut rules = Self {
            encoding,
            possible: vec![nowhere.clone(); n_levels],
            possible_with: vec![vec![nowhere.clone(); n_instances]; n_levels],
            teams,
            errors: nowhere.clone(),
            blocked: nowhere.clone(),
            free: vec![nowhere.clone(); n_levels],
            ruled: vec![Vec::new(); n_levels],
        };

        // Rules about single instances are needed only where control may be held.
        if model.parts().control.is_some() {
            rules.ruled = vec![vec![nowhere; n_instances]; n_levels];
        }

        for step in &teams.moves {
            rules.allow(step.level, &step.movers, &step.enabled()?)?;
        }
        for (priority, movers, states) in &teams.pending {
            rules.allow(*priority, movers, states)?;
        }

        Ok(rules)
    }

    /// In these states a step is possible.
    fn allow(&mut self, priority: i8, movers: &[InstanceId], states: &Bdd) -> Result<(), Halt> {
        let level = position(self.encoding.model, priority);
        self.possible[level] = self.possible[level].or(states)?;
        for mover in movers {
            let with = &mut self.possible_with[level][mover.index()];
            *with = with.or(states)?;
        }
        Ok(())
    }

    fn find(&mut self, model: &Model) -> Result<(), Halt> {
        let Some(control) = control_field(self.encoding) else {
            return self.without_ruler(self.encoding.manager.constant(true));
        };
        for (value, states) in self.encoding.value(control).clone().0.iter() {
            let ruler = usize::try_from(*value).ok();
            match ruler {
                None => self.without_ruler(states.clone())?,
                Some(ruler) if ruler < model.instances().len() => {
                    self.with_ruler(ruler, states.clone())?;
                }
                // A process that does not exist moves in no step.
                Some(_) => self.blocked = self.blocked.or(states)?,
            }
        }
        Ok(())
    }

    fn without_ruler(&mut self, states: Bdd) -> Result<(), Halt> {
        let mut open = states;
        for level in 0..self.possible.len() {
            self.free[level] = open.clone();
            let failing = open.and(&self.teams.errors[level])?;
            self.errors = self.errors.or(&failing)?;
            open = open.minus(&failing)?.minus(&self.possible[level])?;
        }
        Ok(())
    }

    fn with_ruler(&mut self, ruler: usize, states: Bdd) -> Result<(), Halt> {
        let mut open = states;
        for level in 0..self.possible.len() {
            self.ruled[level][ruler] = open.clone();
            let failing = open.and(&self.teams.errors_with[level][ruler])?;
            open = open
                .minus(&failing)?
                .minus(&self.possible_with[level][ruler])?;
            self.errors = self.errors.or(&failing)?;

            // It cannot move here; can others?
            let failing = open.and(&self.teams.errors[level])?;
            self.errors = self.errors.or(&failing)?;
            open = open.minus(&failing)?;
            self.blocked = self.blocked.or(&open.and(&self.possible[level])?)?;
            open = open.minus(&self.possible[level])?;
        }
        self.blocked = self.blocked.or(&open)?;
        Ok(())
    }
}

/// Steps to blocked states take control away.
fn normalise(
    encoding: &Encoding<'_>,
    step: &mut Move,
    control: usize,
    blocked: &Bdd,
) -> Result<(), Halt> {
    let mut wide = step.clone();
    wide.widen(encoding, &[control])?;
    let lost = wide.relation.and(&blocked.primed(&wide.written)?)?;
    if lost.is_false() {
        return Ok(());
    }
    let after: Vec<u32> = encoding.bits[control].iter().map(|bit| bit + 1).collect();
    let somehow = lost.exists(&encoding.manager.cube(&after)?)?;
    let free = encoding.becomes(control, -1)?;
    let free = free.expect("control can be with no process");
    wide.relation = wide.relation.minus(&lost)?.or(&somehow.and(&free)?)?;
    *step = wide;
    Ok(())
}

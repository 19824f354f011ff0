//! The step relation of a model, in parts: one relation for each way of taking an action.

use std::collections::BTreeSet;

use base::Budget;
use model::{ActionId, CommandId, Composition, InstanceId, Model};

use crate::bdd::{Bdd, Halt, Manager};
use crate::branch::Branch;
use crate::commands::{self, Readiness};
use crate::encoding::{Domains, Encoding};
use crate::initial;
use crate::order;
use crate::priority;

/// More ways of moving together are not listed.
const MAX_TEAMS: usize = 50_000;

/// A way of taking a step.
#[derive(Clone, Debug)]
pub(crate) struct Move {
    pub(crate) actions: Vec<ActionId>,
    pub(crate) movers: Vec<InstanceId>,
    /// Sorted.
    pub(crate) commands: Vec<CommandId>,
    /// Its priority.
    pub(crate) level: i8,
    /// From which state to which; only about fields that are written.
    pub(crate) relation: Bdd,
    /// The fields that are written, in order, and the cube of their bits.
    pub(crate) fields: Vec<usize>,
    pub(crate) written: Bdd,
}

impl Move {
    /// Where it leads from these states.
    pub(crate) fn image(&self, states: &Bdd) -> Result<Bdd, Halt> {
        states.image(&self.relation, &self.written)
    }

    /// From where it leads to these states.
    pub(crate) fn preimage(&self, states: &Bdd) -> Result<Bdd, Halt> {
        states.preimage(&self.relation, &self.written)
    }

    /// Where it is possible.
    pub(crate) fn enabled(&self) -> Result<Bdd, Halt> {
        self.preimage(&self.relation.manager().constant(true))
    }

    /// Writes these fields, too, without changing them.
    pub(crate) fn widen(&mut self, encoding: &Encoding<'_>, fields: &[usize]) -> Result<(), Halt> {
        for &field in fields {
            if let Err(position) = self.fields.binary_search(&field) {
                self.relation = self.relation.and(&encoding.keeps(field)?)?;
                self.written = self.written.and(encoding.cube(field))?;
                self.fields.insert(position, field);
            }
        }
        Ok(())
    }
}

/// A model as relations over bits.
pub(crate) struct System<'m> {
    pub(crate) encoding: Encoding<'m>,
    /// The initial states.
    pub(crate) initial: Bdd,
    /// Is an initial value or constraint in error?
    pub(crate) fails_initially: bool,
    /// All ways of taking steps; idle steps are not among them.
    pub(crate) moves: Vec<Move>,
    /// Where a guard or effect that is evaluated is in error.
    pub(crate) errors: Bdd,
    /// Where nothing is possible, and nothing in error.
    pub(crate) deadlock: Bdd,
    /// Values that fields would take, if only they were known.
    pub(crate) new_values: Vec<(usize, i64, Bdd)>,
}

/// What teams do, before anything is decided about priorities and control.
pub(crate) struct Teams {
    pub(crate) moves: Vec<Move>,
    /// By priority, the highest first: where something is in error when its steps are looked for;
    /// and the same for steps in which an instance moves, by instance.
    pub(crate) errors: Vec<Bdd>,
    pub(crate) errors_with: Vec<Vec<Bdd>>,
    /// Where a value is missing: the step would be possible there, with this priority and these
    /// movers. So no state is taken for blocked before all its steps are known.
    pub(crate) pending: Vec<(i8, Vec<InstanceId>, Bdd)>,
}

impl<'m> System<'m> {
    /// The relations of a model; room for the numbers of this many states of an automaton.
    pub(crate) fn new(
        model: &'m Model,
        domains: Domains,
        n_automaton_bits: u32,
        budget: &Budget,
    ) -> Result<Self, Halt> {
        let manager = Manager::new(budget);
        let order = order::order(model, &domains);
        let encoding = Encoding::new(model, &manager, domains, &order, n_automaton_bits)?;

        let mut new_values = Vec::new();
        let teams = list_teams(&encoding, &mut new_values)?;
        let mut system = priority::rule(encoding, teams)?;
        system.new_values = new_values;

        initial::start(&mut system)?;
        Ok(system)
    }

    /// A constant.
    pub(crate) fn constant(&self, value: bool) -> Bdd {
        self.encoding.manager.constant(value)
    }

    /// Adds the values that the next try needs: those that steps lead to from the states that are
    /// known to be reachable. Are there any?
    pub(crate) fn missing_values(
        &self,
        reachable: &Bdd,
        round: usize,
    ) -> Result<Option<Domains>, Halt> {
        let mut domains = self.encoding.domains.clone();
        let mut found = false;
        let mut seen: BTreeSet<(usize, i64)> = BTreeSet::new();
        for (field, value, states) in &self.new_values {
            if seen.contains(&(*field, *value)) || states.is_disjoint(reachable)? {
                continue;
            }
            seen.insert((*field, *value));
            found = true;
            // What counts on goes on counting: a few values more than are known to be needed cost
            // bits, a round for each value would cost more.
            let ahead = 1_i64 << round.min(7);
            let known = &self.encoding.domains.values[*field];
            let more = if known.last() < Some(value) {
                *value..=value.saturating_add(ahead - 1)
            } else if known.first() > Some(value) {
                value.saturating_sub(ahead - 1)..=*value
            } else {
                *value..=*value
            };
            domains.extend(self.encoding.model, *field, &more.collect())?;
        }
        Ok(found.then_some(domains))
    }
}

/// All ways of moving, by what the commands are like.
fn list_teams(
    encoding: &Encoding<'_>,
    new_values: &mut Vec<(usize, i64, Bdd)>,
) -> Result<Teams, Halt> {
    let model = encoding.model;
    let commands = (0..model.commands().len()).map(CommandId::new);
    let mut ready = Vec::new();
    for id in commands {
        ready.push(commands::readiness(encoding, id)?);
    }

    let nowhere = encoding.manager.constant(false);
    let n_levels = model.levels().len();
    let mut lister = Lister {
        encoding,
        ready,
        new_values,
        teams: Teams {
            moves: Vec::new(),
            errors: vec![nowhere.clone(); n_levels],
            errors_with: vec![vec![nowhere; model.instances().len()]; n_levels],
            pending: Vec::new(),
        },
    };
    match model.parts().composition {
        Composition::Interleaving => lister.list_transitions()?,
        Composition::Synchronous => lister.list_together()?,
    }
    Ok(lister.teams)
}

struct Lister<'a, 'm> {
    encoding: &'a Encoding<'m>,
    ready: Vec<Readiness>,
    new_values: &'a mut Vec<(usize, i64, Bdd)>,
    teams: Teams,
}

impl Lister<'_, '_> {
    fn list_transitions(&mut self) -> Result<(), Halt> {
        let model = self.encoding.model;
        for transition in model.transitions() {
            let instances = transition.participants.iter().map(|p| p.instance);
            let instances: Vec<InstanceId> = instances.collect();
            let alternatives = transition.participants.iter().map(|p| &p.alternatives[..]);
            let alternatives: Vec<&[CommandId]> = alternatives.collect();

            // Guards are evaluated as soon as a step that could use them is looked for.
            for &id in alternatives.iter().copied().flatten() {
                let errors = self.ready[id.index()].errors.clone();
                for (level, &priority) in model.levels().iter().enumerate() {
                    if model.reach(id) >= priority {
                        self.fail(level, &instances, &errors)?;
                    }
                }
            }

            let everywhere = self.encoding.manager.constant(true);
            let mut teams = Vec::new();
            self.combinations(&alternatives, &mut Vec::new(), everywhere, &mut teams)?;
            for (team, states) in teams {
                self.add_team(vec![transition.action], &team, &states)?;
            }
        }
        Ok(())
    }

    /// Synchronous composition: every process that can move does; the others stay.
    fn list_together(&mut self) -> Result<(), Halt> {
        let model = self.encoding.model;
        let mut errors = self.encoding.manager.constant(false);
        for ready in &self.ready {
            errors = errors.or(&ready.errors)?;
        }
        let all: Vec<InstanceId> = (0..model.instances().len()).map(InstanceId::new).collect();
        for level in 0..model.levels().len() {
            self.fail(level, &all, &errors)?;
        }

        let mut teams = vec![(Vec::new(), errors.not()?)];
        for instance in &all {
            let own = (0..model.commands().len()).map(CommandId::new);
            let own = own.filter(|id| model.commands()[id.index()].instance == *instance);
            let own: Vec<CommandId> = own.collect();
            let mut longer = Vec::new();
            for (team, states) in teams {
                let mut stays = states.clone();
                for id in &own {
                    let enabled = &self.ready[id.index()].enabled;
                    stays = stays.minus(enabled)?;
                    let with: Vec<CommandId> = [&team[..], &[*id]].concat();
                    longer.push((with, states.and(enabled)?));
                }
                longer.push((team, stays));
                longer.retain(|(_, states)| !states.is_false());
                check_teams(longer.len())?;
            }
            teams = longer;
        }

        for (team, states) in teams {
            if !team.is_empty() {
                let mut actions: Vec<ActionId> =
                    team.iter().map(|id| model.action_of(*id)).collect();
                actions.sort_unstable();
                actions.dedup();
                self.add_team(actions, &team, &states)?;
            }
        }
        Ok(())
    }

    /// One command of each list, in all ways that are enabled together somewhere.
    fn combinations(
        &self,
        lists: &[&[CommandId]],
        team: &mut Vec<CommandId>,
        states: Bdd,
        teams: &mut Vec<(Vec<CommandId>, Bdd)>,
    ) -> Result<(), Halt> {
        let Some((first, rest)) = lists.split_first() else {
            teams.push((team.clone(), states));
            return check_teams(teams.len());
        };

        for id in *first {
            let with = states.and(&self.ready[id.index()].enabled)?;
            if !with.is_false() {
                team.push(*id);
                self.combinations(rest, team, with, teams)?;
                team.pop();
            }
        }
        Ok(())
    }

    /// Something is in error where steps of a priority are looked for in which these instances move.
    fn fail(&mut self, level: usize, movers: &[InstanceId], states: &Bdd) -> Result<(), Halt> {
        if states.is_false() {
            return Ok(());
        }
        let all = &mut self.teams.errors[level];
        *all = all.or(states)?;
        for mover in movers {
            let own = &mut self.teams.errors_with[level][mover.index()];
            *own = own.or(states)?;
        }
        Ok(())
    }

    fn add_team(
        &mut self,
        actions: Vec<ActionId>,
        team: &[CommandId],
        states: &Bdd,
    ) -> Result<(), Halt> {
        let model = self.encoding.model;
        let priorities = team.iter().map(|id| model.step_of(*id).priority);
        let priority = priorities.max().unwrap_or(0);
        let level = model.levels().iter().position(|level| *level == priority);
        let level = level.expect("every priority is a level");

        let done = commands::execute_team(self.encoding, team, states)?;
        let movers = commands::movers(model, team);
        // In a synchronous composition all steps are looked for together.
        let concerned: Vec<InstanceId> = match model.parts().composition {
            Composition::Interleaving => movers.clone(),
            Composition::Synchronous => (0..model.instances().len()).map(InstanceId::new).collect(),
        };
        self.fail(level, &concerned, &done.errors)?;
        for (_, _, states) in &done.new_values {
            let pending = (priority, movers.clone(), states.clone());
            self.teams.pending.push(pending);
        }
        self.new_values.extend(done.new_values);
        check_teams(self.teams.moves.len())?;

        let mut commands = team.to_vec();
        commands.sort_unstable();
        commands.dedup();
        for branch in &done.branches {
            let (relation, fields, written) = relation(self.encoding, branch)?;
            if relation.is_false() {
                continue;
            }
            self.teams.moves.push(Move {
                actions: actions.clone(),
                movers: movers.clone(),
                commands: commands.clone(),
                level: priority,
                relation,
                fields,
                written,
            });
        }
        Ok(())
    }
}

fn check_teams(n_teams: usize) -> Result<(), Halt> {
    if n_teams <= MAX_TEAMS {
        return Ok(());
    }
    Err(Halt::Unsupported(format!(
        "the commands of the model can move together in more than {MAX_TEAMS} ways"
    )))
}

/// What a branch does as a relation, the fields that it changes, and the cube of their bits.
fn relation(encoding: &Encoding<'_>, branch: &Branch) -> Result<(Bdd, Vec<usize>, Bdd), Halt> {
    let mut relation = branch.states.clone();
    let mut fields = Vec::new();
    let mut written = encoding.manager.constant(true);

    for (&field, change) in &branch.fields {
        let mut update = encoding.manager.constant(false);
        for (value, when) in change.value.0.iter() {
            let when = when.and(&branch.states)?;
            if when.is_false() {
                continue;
            }
            if let Some(then) = encoding.becomes(field, *value)? {
                update = update.or(&when.and(&then)?)?;
            }
        }
        // What only stays as it is need not be written.
        if update != encoding.keeps(field)?.and(&branch.states)? {
            relation = relation.and(&update)?;
            written = written.and(encoding.cube(field))?;
            fields.push(field);
        }
    }

    Ok((relation, fields, written))
}

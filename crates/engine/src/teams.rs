//! Steps of several processes: teams, and synchronous composition.

use model::CommandId;

use crate::label::LabelId;
use crate::priority::Selection;
use crate::system::{Failed, Member, Scratch, Steps, System};
use jit::End;

/// Who may move together in the current state; reused from state to state.
#[derive(Clone, Debug, Default)]
pub(crate) struct Gathered {
    n_roles: usize,
    /// The enabled members of each role; the rest is from another state.
    members: Vec<Vec<Member>>,
    /// Which of them is looked at.
    picks: Vec<usize>,
    /// The command of each role whose outcomes are known.
    computed: Vec<Option<u32>>,
}

impl Gathered {
    fn clear(&mut self) {
        self.n_roles = 0;
    }

    /// One more role, without members yet.
    fn add_role(&mut self) -> &mut Vec<Member> {
        if self.members.len() == self.n_roles {
            self.members.push(Vec::new());
        }
        let members = &mut self.members[self.n_roles];
        members.clear();
        self.n_roles += 1;
        members
    }

    fn roles(&self) -> impl Iterator<Item = &Vec<Member>> + Clone {
        self.members[..self.n_roles].iter()
    }
}

impl System<'_> {
    /// Executes the teams that an enabled command leads and that are selected.
    pub(crate) fn execute_led_by(
        &mut self,
        leader: u32,
        only: Option<Selection>,
        gathered: &mut Gathered,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        for position in 0..self.commands[leader as usize].leads.len() {
            let team = self.commands[leader as usize].leads[position] as usize;
            if !self.takes_part(team, only) || !self.gather(team, leader, only, gathered)? {
                continue;
            }
            let agreement = self.teams[team].agreement;
            if let Some(agreement) = agreement
                && self.fits(gathered.roles().map(|members| &members[0]), only)
            {
                let Scratch {
                    current, written, ..
                } = &mut self.scratch;
                match self
                    .machine
                    .run::<false>(&self.tables, agreement, current, written)
                {
                    End::Accept => {}
                    End::Reject => continue,
                    End::Fail => return Err(Failed),
                }
            }
            self.execute_teams(gathered, Some(team), only, steps)?;
        }

        Ok(())
    }

    /// The members of a team that are enabled, with this leader; false if a role is not filled.
    fn gather(
        &mut self,
        team: usize,
        leader: u32,
        only: Option<Selection>,
        gathered: &mut Gathered,
    ) -> Result<bool, Failed> {
        gathered.clear();
        for role in 0..self.teams[team].members.len() {
            let members = gathered.add_role();
            for position in 0..self.teams[team].members[role].len() {
                let member = self.teams[team].members[role][position];
                let reach = self.commands[member.command as usize].reach;
                let may_take_part = only.is_none_or(|only| reach >= only.level);
                let is_enabled = if role == 0 {
                    member.command == leader
                } else {
                    may_take_part
                        && self.is_in_place(member.command)
                        && self.is_enabled(member.command)?
                };
                if is_enabled {
                    members.push(member);
                }
            }
            if members.is_empty() {
                return Ok(false);
            }
        }
        Ok(true)
    }

    /// Is the process of the command at the location where it starts?
    fn is_in_place(&self, command: u32) -> bool {
        let id = CommandId(command);
        let field = self.layout.first_location + self.mover(command);
        let location = self.tables.fields[field as usize].raw(&self.scratch.current);
        location == u64::from(self.model.step_of(id).source.0)
    }

    /// The steps of a synchronous composition.
    pub(crate) fn steps_together(
        &mut self,
        only: Option<Selection>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let mut gathered = std::mem::take(&mut self.scratch.gathered);
        let result = self.gather_all(&mut gathered);
        let result = result.and_then(|()| match gathered.n_roles {
            0 => Ok(()),
            _ => self.execute_teams(&mut gathered, None, only, steps),
        });
        self.scratch.gathered = gathered;
        result
    }

    /// A role for every process that can move, with its enabled commands.
    fn gather_all(&mut self, gathered: &mut Gathered) -> Result<(), Failed> {
        gathered.clear();
        for instance in 0..self.first_row.len() {
            let members = gathered.add_role();
            for position in self.candidates(instance) {
                let command = self.by_location[position];
                if self.is_enabled(command)? {
                    let effect = self.commands[command as usize].effect;
                    members.push(Member { command, effect });
                }
            }
            if members.is_empty() {
                gathered.n_roles -= 1;
            }
        }
        Ok(())
    }

    /// Executes every team with one member of each role. Without a team, each member takes its own
    /// action.
    fn execute_teams(
        &mut self,
        gathered: &mut Gathered,
        team: Option<usize>,
        only: Option<Selection>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let Gathered {
            n_roles,
            members,
            picks,
            computed,
        } = gathered;
        let members = &members[..*n_roles];
        picks.clear();
        picks.resize(*n_roles, 0);
        computed.clear();
        computed.resize(*n_roles, None);
        if self.scratch.outcomes.len() < *n_roles {
            self.scratch.outcomes.resize(*n_roles, Vec::new());
            self.scratch.timers_set.resize(*n_roles, Vec::new());
        }

        loop {
            let picked = members.iter().zip(&*picks);
            let picked = picked.map(|(members, pick)| &members[*pick]);
            if self.fits(picked.clone(), only) {
                for (position, member) in picked.clone().enumerate() {
                    // What a member does here does not depend on the others.
                    if computed[position] != Some(member.command) {
                        self.collect_outcomes(position, *member)?;
                        computed[position] = Some(member.command);
                    }
                }
                self.execute_team(picked, team, steps)?;
            }
            if !advance(picks, |position| members[position].len()) {
                return Ok(());
            }
        }
    }

    /// The steps in which these members, whose outcomes are known, move together.
    fn execute_team<'t>(
        &mut self,
        members: impl Iterator<Item = &'t Member>,
        team: Option<usize>,
        steps: &mut Steps,
    ) -> Result<(), Failed> {
        let mut key = std::mem::take(&mut self.scratch.key);
        key.clear();
        key.push(team.map_or(0, |team| team as u32 + 1));
        key.extend(members.map(|member| member.command));
        let n_members = key.len() - 1;
        let label = self.team_label(&key);
        self.scratch.key = key;
        let outcomes = &self.scratch.outcomes[..n_members];
        if outcomes.iter().any(Vec::is_empty) {
            return Ok(());
        }

        let unit = team.map_or(0, |team| self.team_unit(team));
        let size = 2 * self.layout.n_words;
        let mut picks = std::mem::take(&mut self.scratch.picks);
        picks.clear();
        picks.resize(n_members, 0);
        let result = loop {
            if self.merge_outcomes(&picks).is_err() {
                break Err(Failed);
            }
            for (position, &pick) in picks.iter().enumerate() {
                let timers = &self.scratch.timers_set[position][pick];
                self.machine.timers_set.extend(timers);
            }
            let label = self.noting_timers(label);
            steps.push(&self.scratch.merged, label, unit);
            let outcomes = &self.scratch.outcomes;
            if !advance(&mut picks, |position| outcomes[position].len() / size) {
                break Ok(());
            }
        };
        self.scratch.picks = picks;
        result
    }

    /// The label of a step: of a team, whose number plus one comes first, or, behind a zero, of
    /// commands that take their own actions.
    fn team_label(&mut self, key: &[u32]) -> LabelId {
        if let Some(label) = self.team_labels.get(key) {
            return *label;
        }
        let commands: Vec<CommandId> = key[1..].iter().copied().map(CommandId).collect();
        let actions = match key[0].checked_sub(1) {
            Some(team) => vec![self.teams[team as usize].action],
            None => commands
                .iter()
                .map(|command| self.model.action_of(*command))
                .collect(),
        };
        let label = self
            .labels
            .of_team(self.model, actions, commands, Vec::new());
        self.team_labels.insert(key.into(), label);
        label
    }

    /// All states that one member may lead to from the current state, each with what it wrote.
    fn collect_outcomes(&mut self, position: usize, member: Member) -> Result<(), Failed> {
        let has_choice = self.commands[member.command as usize].has_choice;
        self.scratch.outcomes[position].clear();
        self.scratch.timers_set[position].clear();
        self.machine.timers_set.clear();
        self.machine.choices.reset();

        loop {
            let Scratch {
                current,
                target,
                written,
                outcomes,
                timers_set,
                ..
            } = &mut self.scratch;
            target.copy_from_slice(current);
            written.fill(0);
            match self
                .machine
                .run::<true>(&self.tables, member.effect, target, written)
            {
                End::Accept => {
                    outcomes[position].extend_from_slice(target);
                    outcomes[position].extend_from_slice(written);
                    timers_set[position].push(self.machine.timers_set.clone());
                }
                End::Reject => {}
                End::Fail => return Err(Failed),
            }
            self.machine.timers_set.clear();
            if !has_choice || !self.machine.choices.advance() {
                return Ok(());
            }
        }
    }

    /// Puts the picked outcomes of all members together; different values for one field fail.
    fn merge_outcomes(&mut self, picks: &[usize]) -> Result<(), Failed> {
        let n_words = self.layout.n_words;
        let Scratch {
            current,
            written,
            outcomes,
            merged,
            ..
        } = &mut self.scratch;

        merged.copy_from_slice(current);
        written.fill(0);
        for (position, &pick) in picks.iter().enumerate() {
            let outcome = &outcomes[position][pick * 2 * n_words..][..2 * n_words];
            let (words, masks) = outcome.split_at(n_words);
            for i in 0..n_words {
                if written[i] & masks[i] & (merged[i] ^ words[i]) != 0 {
                    return Err(Failed);
                }
                merged[i] = merged[i] & !masks[i] | words[i] & masks[i];
                written[i] |= masks[i];
            }
        }

        Ok(())
    }
}

/// Moves an odometer on; false when it has run through.
fn advance(picks: &mut [usize], len: impl Fn(usize) -> usize) -> bool {
    for position in (0..picks.len()).rev() {
        picks[position] += 1;
        if picks[position] < len(position) {
            return true;
        }
        picks[position] = 0;
    }
    false
}

//! What a permutation of indices does to the subjects of fairness.

use std::collections::{BTreeMap, BTreeSet};

use model::{ActionId, CommandId, Condition, InstanceId, Model, Subject};

use super::automorphism::CommandMap;
use super::sorts::{FamilyIndex, SortId, Sorts};

/// Who takes part in a transition with which commands, sorted.
type Team = Vec<(InstanceId, Vec<CommandId>)>;

/// Finds the subject that takes the place of another.
#[derive(Debug)]
pub(crate) struct SubjectMap {
    /// By process: what the index of an instance consists of.
    indices: Vec<Option<FamilyIndex>>,
    /// By action: the teams that can take it.
    teams: Vec<Vec<Team>>,
    /// The actions that each team can take.
    actions: BTreeMap<Team, BTreeSet<ActionId>>,
}

impl SubjectMap {
    pub(super) fn new(model: &Model, sorts: &Sorts) -> Self {
        let mut map = Self {
            indices: sorts.indices().to_vec(),
            teams: vec![Vec::new(); model.actions().len()],
            actions: BTreeMap::new(),
        };
        for transition in model.transitions() {
            let members = transition.participants.iter();
            let members = members.map(|member| (member.instance, member.alternatives.clone()));
            let team = in_order(members.collect());
            let actions = map.actions.entry(team.clone()).or_default();
            actions.insert(transition.action);
            map.teams[transition.action.index()].push(team);
        }
        map
    }

    /// The subject that takes the place of this one, if there is exactly one.
    pub(crate) fn image(
        &self,
        (model, commands): (&Model, &CommandMap),
        subject: &Subject,
        image: &dyn Fn(Option<SortId>, i64) -> i64,
    ) -> Option<Subject> {
        let of_command = |command: &CommandId| commands.image(model, *command, image);
        let of_instance = |id: InstanceId| image_of_instance(model, &self.indices, id, image);

        match subject {
            Subject::Process(instance) => of_instance(*instance).map(Subject::Process),
            Subject::Choice(command) => of_command(command).map(Subject::Choice),
            Subject::Action(action) => {
                let mut images = BTreeSet::new();
                for team in &self.teams[action.index()] {
                    let members = team.iter().map(|(instance, alternatives)| {
                        let alternatives = alternatives.iter().map(of_command);
                        Some((
                            of_instance(*instance)?,
                            alternatives.collect::<Option<_>>()?,
                        ))
                    });
                    let team = in_order(members.collect::<Option<_>>()?);
                    images.extend(self.actions.get(&team)?);
                }
                let first = images.pop_first()?;
                images.is_empty().then_some(Subject::Action(first))
            }
            Subject::Timer(_) | Subject::Team(_) => None,
        }
    }

    /// The first condition that is not mapped to one of them.
    pub(super) fn unmatched<'c>(
        &self,
        (model, commands): (&Model, &CommandMap),
        conditions: &'c [Condition],
        image: &dyn Fn(Option<SortId>, i64) -> i64,
    ) -> Option<&'c Condition> {
        conditions.iter().find(|condition| {
            let subject = self.image((model, commands), &condition.subject, image);
            subject.is_none_or(|subject| {
                let mut others = conditions.iter();
                others.all(|other| other.kind != condition.kind || other.subject != subject)
            })
        })
    }
}

/// The instance that takes the place of another, if there is one.
pub(super) fn image_of_instance(
    model: &Model,
    indices: &[Option<FamilyIndex>],
    id: InstanceId,
    image: &dyn Fn(Option<SortId>, i64) -> i64,
) -> Option<InstanceId> {
    let instance = &model.instances()[id.index()];
    let index = match (&indices[instance.process.index()], instance.index) {
        (Some(family), Some(index)) => Some(family.image(index, image)?),
        _ => None,
    };
    model.instance_of(instance.process, index)
}

fn in_order(mut team: Team) -> Team {
    for (_, alternatives) in &mut team {
        alternatives.sort_unstable();
    }
    team.sort();
    team
}

//! What steps are called: their actions, movers and commands.

pub use jit::LabelId;
use model::{ActionId, CommandId, InstanceId, Model};
use rustc_hash::FxHashMap;

/// Everything that fairness and step propositions can ask about a step, besides its states.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Label {
    /// The actions taken, sorted; more than one only in a synchronous composition.
    pub actions: Vec<ActionId>,
    /// The commands executed, sorted.
    pub commands: Vec<CommandId>,
    /// Who moves, sorted.
    pub movers: Vec<InstanceId>,
    /// The cells of the abstract timers that are set, sorted.
    pub timers_set: Vec<u32>,
}

/// All labels met so far.
///
/// Invariant: label 0 is the idle step, with no action, command or mover.
#[derive(Clone, Debug)]
pub(crate) struct LabelTable {
    labels: Vec<Label>,
    by_content: FxHashMap<Label, LabelId>,
    /// Labels with equal actions and movers are in the same group: they name the same step.
    groups: Vec<u32>,
    group_by_content: FxHashMap<(Vec<ActionId>, Vec<InstanceId>), u32>,
}

impl LabelTable {
    pub(crate) const IDLE: LabelId = LabelId(0);

    pub(crate) fn new() -> Self {
        let mut table = Self {
            labels: Vec::new(),
            by_content: FxHashMap::default(),
            groups: Vec::new(),
            group_by_content: FxHashMap::default(),
        };
        table.intern(Label {
            actions: Vec::new(),
            commands: Vec::new(),
            movers: Vec::new(),
            timers_set: Vec::new(),
        });
        table
    }

    pub(crate) fn get(&self, id: LabelId) -> &Label {
        &self.labels[id.index()]
    }

    pub(crate) fn group(&self, id: LabelId) -> u32 {
        self.groups[id.index()]
    }

    /// The label of a team of commands that takes these actions.
    pub(crate) fn of_team(
        &mut self,
        model: &Model,
        mut actions: Vec<ActionId>,
        mut commands: Vec<CommandId>,
        mut timers_set: Vec<u32>,
    ) -> LabelId {
        timers_set.sort_unstable();
        timers_set.dedup();
        actions.sort_unstable();
        actions.dedup();
        commands.sort_unstable();
        commands.dedup();
        let mover = |command: &CommandId| model.commands()[command.index()].instance;
        let mut movers: Vec<InstanceId> = commands.iter().map(mover).collect();
        movers.sort_unstable();
        movers.dedup();
        self.intern(Label {
            actions,
            commands,
            movers,
            timers_set,
        })
    }

    /// The label of a step that sets abstract timers besides.
    pub(crate) fn setting(&mut self, model: &Model, label: LabelId, timers: &[u32]) -> LabelId {
        let Label {
            actions, commands, ..
        } = self.get(label).clone();
        self.of_team(model, actions, commands, timers.to_vec())
    }

    /// The label of a step that happens in two ways at once.
    pub(crate) fn union(&mut self, model: &Model, a: LabelId, b: LabelId) -> LabelId {
        if a == b {
            return a;
        }
        let (a, b) = (self.get(a), self.get(b));
        let actions = a.actions.clone();
        let commands = [a.commands.as_slice(), &b.commands].concat();
        let timers_set = [a.timers_set.as_slice(), &b.timers_set].concat();
        self.of_team(model, actions, commands, timers_set)
    }

    fn intern(&mut self, label: Label) -> LabelId {
        if let Some(&id) = self.by_content.get(&label) {
            return id;
        }
        let id = LabelId::new(self.labels.len());
        let n_groups = self.group_by_content.len() as u32;
        let key = (label.actions.clone(), label.movers.clone());
        self.groups
            .push(*self.group_by_content.entry(key).or_insert(n_groups));
        self.by_content.insert(label.clone(), id);
        self.labels.push(label);
        id
    }
}

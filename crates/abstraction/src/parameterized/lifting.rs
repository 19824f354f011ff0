//! Fairness of the family as fairness of its abstraction.
//!
//! Sound sources (Baukus, Lakhnech, Stahl, section 6.2): weak and strong fairness of a distinguished process, or
//! of a process that there is once, if the abstract state decides when it is enabled; strong
//! fairness of *some* process of a family, because every instance has finitely many. Weak fairness
//! of some process is not among them: all may be enabled in turn, none forever. But weak
//! fairness of an action that stays enabled until it is taken *is* strong fairness, and lifted as
//! such; that it stays enabled is proved. If several strong conditions are each assumed, so is that
//! one of their actions is taken infinitely often if one of them is enabled infinitely often; the
//! abstraction may decide this where it decides none of them (the paper's condition (5), section
//! 7.2, joins the two ways out of a location).

use std::collections::BTreeMap;

use base::{Fairness, FairnessKind};
use model::{AnnotationKind, ConditionKind, ProcessId, Target};

use super::logic::{Logic, Term};
use super::question::FamilyQuestion;
use super::steps::Family;

/// Actions of one process or family that a fairness condition is about.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Subject {
    /// Whose.
    pub process: ProcessId,
    /// The transitions.
    pub transitions: Vec<usize>,
    /// What it is called.
    pub name: String,
    /// Stands it for several actions of each process?
    pub is_many: bool,
}

/// A fairness condition of the abstraction.
#[derive(Clone, Debug)]
pub struct Lifted {
    /// In the user's words.
    pub name: String,
    /// How strict.
    pub kind: ConditionKind,
    /// When it is enabled.
    pub enabled: Logic,
    /// The transitions that serve it.
    pub transitions: Vec<usize>,
    /// The distinguished process that must move, by number; nothing for any.
    pub mover: Option<usize>,
}

/// What can be lifted, and what cannot and why.
#[derive(Clone, Debug, Default)]
pub struct Lifting {
    /// The conditions.
    pub lifted: Vec<Lifted>,
    /// Weak conditions of families: strong for some process if they persist.
    pub candidates: Vec<(Subject, Lifted)>,
    /// What is refused, with the reason.
    pub refused: Vec<String>,
}

/// Lifts the conditions that a fairness stands for.
pub fn lift(family: &Family<'_>, question: &FamilyQuestion, fairness: Fairness) -> Lifting {
    let mut lifting = Lifting::default();
    if family.is_synchronous {
        return lifting;
    }
    for (kind, subject) in subjects(family, fairness) {
        lift_subject(family, question, kind, &subject, &mut lifting);
    }
    lifting
}

fn lift_subject(
    family: &Family<'_>,
    question: &FamilyQuestion,
    kind: ConditionKind,
    subject: &Subject,
    lifting: &mut Lifting,
) {
    let enabled = enabled(family, subject);
    let word = word(kind);
    let condition = |name: String, kind, enabled, mover| Lifted {
        name,
        kind,
        enabled,
        transitions: subject.transitions.clone(),
        mover,
    };

    if !family.system.families.contains(&subject.process) {
        if !subject.is_many || kind == ConditionKind::Strong {
            let name = format!("{word} fairness of {}", subject.name);
            lifting.lifted.push(condition(name, kind, enabled, None));
        }
        return;
    }

    for (number, (var, process)) in question.distinguished.iter().enumerate() {
        let own = enabled.substitute(family.actor, Term::var(*var));
        if subject.is_many && kind != ConditionKind::Strong {
            continue;
        }
        let name = format!("{word} fairness of {} for {process}", subject.name);
        lifting
            .lifted
            .push(condition(name, kind, own, Some(number)));
    }

    let some = Logic::exists(family.actor, enabled);
    let name = format!("{word} fairness of {} for some process", subject.name);
    match kind {
        ConditionKind::Strong | ConditionKind::Unconditional => {
            lifting.lifted.push(condition(name, kind, some, None));
        }
        ConditionKind::Weak if subject.is_many => {
            lifting
                .refused
                .push(format!("{name}: its parameters make it several actions"));
        }
        ConditionKind::Weak => {
            let name = format!(
                "weak fairness of {} for some process (it stays enabled until it is taken)",
                subject.name
            );
            let strong = condition(name, ConditionKind::Strong, some, None);
            lifting.candidates.push((subject.clone(), strong));
        }
    }
}

/// Strong conditions of the same processes that are looked at as one.
#[derive(Clone, Debug)]
pub struct Union {
    /// Which ones, by position.
    pub members: Vec<usize>,
    /// What follows from all of them.
    pub condition: Lifted,
}

/// Joins the strong conditions on steps from one location by the same process, or by some process.
pub fn unions(family: &Family<'_>, lifted: &[Lifted]) -> Vec<Union> {
    let mut groups: BTreeMap<_, Vec<usize>> = BTreeMap::new();
    for (number, condition) in lifted.iter().enumerate() {
        if condition.kind != ConditionKind::Strong {
            continue;
        }
        let transitions = condition
            .transitions
            .iter()
            .map(|t| &family.transitions[*t]);
        let mut sources: Vec<_> = transitions
            .filter_map(|transition| {
                let process = transition.process?;
                let steps = &family.system.parts().processes[process.index()].steps;
                Some((process, steps[transition.step].source))
            })
            .collect();
        sources.dedup();
        if let [source] = sources.as_slice() {
            let group = groups.entry((*source, condition.mover)).or_default();
            group.push(number);
        }
    }

    let several = groups.into_values().filter(|members| members.len() > 1);
    several.map(|members| union(lifted, members)).collect()
}

fn union(lifted: &[Lifted], members: Vec<usize>) -> Union {
    let all = || members.iter().map(|member| &lifted[*member]);
    let names: Vec<&str> = all().map(|condition| condition.name.as_str()).collect();
    let enabled: Vec<Logic> = all().map(|condition| condition.enabled.clone()).collect();
    let condition = Lifted {
        name: names.join(" together with "),
        kind: ConditionKind::Strong,
        enabled: Logic::any(enabled),
        transitions: all().flat_map(|c| c.transitions.clone()).collect(),
        mover: lifted[members[0]].mover,
    };
    Union { members, condition }
}

/// When a process can take one of the transitions.
pub fn enabled(family: &Family<'_>, subject: &Subject) -> Logic {
    let parts = subject
        .transitions
        .iter()
        .map(|t| family.transitions[*t].enabled.clone());
    Logic::any(parts.collect::<Vec<_>>())
}

fn word(kind: ConditionKind) -> &'static str {
    match kind {
        ConditionKind::Unconditional => "unconditional",
        ConditionKind::Weak => "weak",
        ConditionKind::Strong => "strong",
    }
}

/// The subjects of all conditions of a fairness.
fn subjects(family: &Family<'_>, fairness: Fairness) -> Vec<(ConditionKind, Subject)> {
    let parts = family.system.parts();
    let processes = || (0..parts.processes.len()).map(ProcessId::new);
    let mut found = Vec::new();
    let mut add = |kind, subject: Subject| {
        if !subject.transitions.is_empty() && !found.contains(&(kind, subject.clone())) {
            found.push((kind, subject));
        }
    };
    let actions = |process: ProcessId| {
        let steps = &parts.processes[process.index()].steps;
        let mut names: Vec<&str> = steps.iter().map(|step| step.name.as_str()).collect();
        names.dedup();
        names
            .into_iter()
            .map(move |name| action(family, process, name))
    };

    for process in processes() {
        match fairness.kind {
            // What steps read and change is not lifted; the proof does without justness.
            FairnessKind::None | FairnessKind::Just => {}
            FairnessKind::WeakProcess => add(ConditionKind::Weak, whole(family, process)),
            FairnessKind::StrongProcess => add(ConditionKind::Strong, whole(family, process)),
            FairnessKind::Weak => actions(process).for_each(|s| add(ConditionKind::Weak, s)),
            // Runs that are fair to every step are strongly fair to every action.
            FairnessKind::Strong | FairnessKind::StrongGlobal => {
                actions(process).for_each(|s| add(ConditionKind::Strong, s));
            }
        }
    }

    if fairness.annotated {
        for annotation in &parts.annotations {
            let subject = match &annotation.target {
                Target::Process(process) => whole(family, *process),
                Target::Action(process, name) => action(family, *process, name),
                Target::Choice(process, step) => choice(family, *process, *step),
                // A template has no numbered subjects.
                Target::Event(_) | Target::Subject(_) => continue,
            };
            // What steps read and change is not lifted; the proof does without justness.
            if annotation.kind != AnnotationKind::Just {
                add(annotation.kind.elementary(), subject);
            }
        }
    }

    found
}

fn whole(family: &Family<'_>, process: ProcessId) -> Subject {
    let name = format!(
        "`{}`",
        family.system.parts().processes[process.index()].name
    );
    // A process is one subject, whatever its actions are.
    Subject {
        is_many: false,
        ..select(family, process, name, |_, _| true)
    }
}

fn action(family: &Family<'_>, process: ProcessId, name: &str) -> Subject {
    select(family, process, format!("`{name}`"), |_, other| {
        other == name
    })
}

fn choice(family: &Family<'_>, process: ProcessId, step: usize) -> Subject {
    let name = &family.system.parts().processes[process.index()].steps[step].name;
    select(family, process, format!("this `{name}`"), |number, _| {
        number == step
    })
}

fn select(
    family: &Family<'_>,
    process: ProcessId,
    name: String,
    is_meant: impl Fn(usize, &str) -> bool,
) -> Subject {
    let all = family.transitions.iter().enumerate();
    let meant = all.filter(|(_, transition)| {
        transition.process == Some(process) && is_meant(transition.step, &transition.name)
    });
    let meant: Vec<usize> = meant.map(|(number, _)| number).collect();
    let is_many = meant.iter().any(|t| family.transitions[*t].has_parameters);
    Subject {
        process,
        transitions: meant,
        name,
        is_many,
    }
}

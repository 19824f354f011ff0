//! Fairness of the whole system in other words: as annotations, as assumptions, as a premise.

use base::{AtomId, Fairness, FairnessKind, Span};
use check::{Plan, Reduction};
use logic::{Ltl, Property, classify};
use model::{
    ActionId, Annotation, AnnotationKind, Assumption, Atom, AtomMeaning, CommandId, InstanceId,
    Model, ModelParts, ProcessId, StepPattern, Sync, Target,
};
use testkit::Random;

use crate::answer::{Ledger, Relation, ask, named};
use crate::formulations::linear;
use crate::{Answer, Case, RouteKind};

/// More conditions than this are not written out.
const MAX_CONDITIONS: usize = 12;

/// The notions that are written out.
const NOTIONS: [FairnessKind; 4] = [
    FairnessKind::WeakProcess,
    FairnessKind::StrongProcess,
    FairnessKind::Weak,
    FairnessKind::Strong,
];

/// Which notion allows fewer runs than which, besides all allowing fewer than none.
const STRONGER: [(FairnessKind, FairnessKind); 6] = [
    (FairnessKind::Just, FairnessKind::WeakProcess),
    (FairnessKind::WeakProcess, FairnessKind::StrongProcess),
    (FairnessKind::Weak, FairnessKind::Strong),
    (FairnessKind::StrongProcess, FairnessKind::Strong),
    (FairnessKind::WeakProcess, FairnessKind::Strong),
    (FairnessKind::Strong, FairnessKind::StrongGlobal),
];

/// Asks under a notion of fairness in all ways of writing it down, with and without reductions.
pub(crate) fn compare(case: &Case, answer: &Answer, random: &mut Random, ledger: &mut Ledger) {
    let Some(formula) = linear(&case.property.property) else {
        return;
    };
    compare_stronger(case, answer, ledger);

    let is_written = NOTIONS.contains(&case.fairness.kind);
    let kind = if is_written {
        case.fairness.kind
    } else {
        *random.pick(&NOTIONS)
    };

    // The notion as an option.
    let fairness = Fairness {
        kind,
        ..case.fairness
    };
    let property = &case.property.property;
    let option = if is_written {
        answer.clone()
    } else {
        case.ask(&case.model, property.clone(), fairness)
    };
    let mut equivalent = |kind, asked: &Asked| {
        for reduce in [false, true] {
            let found = asked.answer(case, reduce);
            let how = format!("written out, {}", if reduce { "reduced" } else { "whole" });
            let left = ("as an option", &option);
            ledger.compare(kind, Relation::Equivalent, left, (&how, &found));
        }
    };

    let without = Fairness {
        kind: FairnessKind::None,
        ..case.fairness
    };
    let annotated = Asked {
        model: annotated(&case.model, kind, fairness.annotated),
        property: property.clone(),
        fairness: Fairness {
            annotated: true,
            ..without
        },
    };

    equivalent(RouteKind::Annotation, &annotated);
    let Some(patterns) = subjects(&case.model, kind) else {
        return;
    };
    let is_strong = matches!(kind, FairnessKind::Strong | FairnessKind::StrongProcess);
    let (mut parts, atoms) = with_atoms(&case.model, patterns);
    let premise = Ltl::implies(premise(&atoms, is_strong), formula);
    let premised = Asked {
        model: finished(parts.clone()),
        property: classify(premise),
        fairness: without,
    };
    equivalent(RouteKind::Premise, &premised);
    parts.assumptions.extend(assumptions(&atoms, is_strong));

    let assumed = Asked {
        model: finished(parts),
        property: property.clone(),
        fairness: without,
    };
    equivalent(RouteKind::Assumption, &assumed);
}

/// An equivalent question.
struct Asked {
    model: Model,
    property: Property,
    fairness: Fairness,
}

impl Asked {
    fn answer(&self, case: &Case, reduce: bool) -> Answer {
        let plan = Plan {
            fairness: Some(self.fairness),
            reduction: if reduce {
                Reduction::ALL
            } else {
                Reduction::None
            },
            ..case.plan()
        };
        ask(&self.model, &named(self.property.clone()), &plan).0
    }
}

/// What holds under a notion holds under each that allows fewer runs.
fn compare_stronger(case: &Case, answer: &Answer, ledger: &mut Ledger) {
    let under = |kind| Fairness {
        kind,
        ..case.fairness
    };
    let asked =
        |kind: FairnessKind| case.ask(&case.model, case.property.property.clone(), under(kind));
    let here = case.fairness.kind;

    for (weaker, stronger) in STRONGER {
        if weaker != here && stronger != here {
            continue;
        }
        let (left, right) = if weaker == here {
            (answer.clone(), asked(stronger))
        } else {
            (asked(weaker), answer.clone())
        };
        let names = [under(weaker).name(), under(stronger).name()];
        let left = (&*names[0], &left);
        ledger.compare(
            RouteKind::Stronger,
            Relation::Implied,
            left,
            (&names[1], &right),
        );
    }

    if here != FairnessKind::None {
        let free = asked(FairnessKind::None);
        let names = [under(FairnessKind::None).name(), under(here).name()];
        let left = (&*names[0], &free);
        ledger.compare(
            RouteKind::Stronger,
            Relation::Implied,
            left,
            (&names[1], answer),
        );
    }
}

fn finished(parts: ModelParts) -> Model {
    parts
        .finish()
        .expect("the parts of a model with more atoms and annotations")
}

/// The model with every process or every action annotated. What is annotated already is kept if it
/// counts.
fn annotated(model: &Model, kind: FairnessKind, keep: bool) -> Model {
    let mut parts = model.parts().clone();
    if !keep {
        parts.annotations.clear();
    }
    let strong = matches!(kind, FairnessKind::Strong | FairnessKind::StrongProcess);
    let of_processes = matches!(
        kind,
        FairnessKind::WeakProcess | FairnessKind::StrongProcess
    );
    let mut targets = Vec::new();

    for (position, process) in parts.processes.iter().enumerate() {
        let id = ProcessId::new(position);
        if of_processes {
            targets.push(Target::Process(id));
            continue;
        }
        for step in &process.steps {
            let target = Target::Action(id, step.name.clone());
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
    }

    parts
        .annotations
        .extend(targets.into_iter().map(|target| Annotation {
            kind: if strong {
                AnnotationKind::Strong
            } else {
                AnnotationKind::Weak
            },
            target,
            span: Span::nowhere(),
        }));
    finished(parts)
}

/// Patterns for the subjects of a notion: each names exactly the steps of its subject. Nothing if
/// there is none for some subject, or if weak fairness means more than patterns can say.
fn subjects(model: &Model, kind: FairnessKind) -> Option<Vec<StepPattern>> {
    let is_weak = matches!(kind, FairnessKind::Weak | FairnessKind::WeakProcess);
    if is_weak && model.parts().control.is_some() {
        return None;
    }
    let of_processes = matches!(
        kind,
        FairnessKind::WeakProcess | FairnessKind::StrongProcess
    );
    let patterns: Option<Vec<StepPattern>> = if of_processes {
        let instances = model.instances().iter();
        let pattern = |instance: &model::Instance| StepPattern {
            process: Some(instance.process),
            index: instance.index,
            ..StepPattern::default()
        };
        Some(instances.map(pattern).collect())
    } else {
        let actions = (0..model.actions().len()).map(ActionId::new);
        actions.map(|action| pattern_of(model, action)).collect()
    };

    patterns.filter(|patterns| patterns.len() <= MAX_CONDITIONS)
}

/// A pattern that names a step of each way of taking the action, and of no other action.
fn pattern_of(model: &Model, action: ActionId) -> Option<StepPattern> {
    let transitions = || model.transitions().iter();
    let first = transitions().find(|transition| transition.action == action)?;
    let candidates = first.participants.iter().flat_map(|p| &p.alternatives);
    let mut candidates = candidates.flat_map(|command| patterns_of(model, *command));
    candidates.find(|pattern| {
        let set = model.step_set(pattern);
        transitions().all(|transition| {
            let mut participants = transition.participants.iter();
            if transition.action == action {
                participants.any(|p| p.alternatives.iter().all(|c| set.contains(*c)))
            } else {
                participants.all(|p| !p.alternatives.iter().any(|c| set.contains(*c)))
            }
        })
    })
}

/// Patterns that name a command: by its event, and by its process and name.
fn patterns_of(model: &Model, id: CommandId) -> Vec<StepPattern> {
    let command = &model.commands()[id.index()];
    let instance: InstanceId = command.instance;
    let instance = &model.instances()[instance.index()];
    let step = model.step_of(id);
    let skipped = command.bindings.len() - step.parameters.len();
    let arguments: Vec<i64> = command.bindings[skipped..].iter().map(|b| b.1).collect();
    let by_name = StepPattern {
        process: Some(instance.process),
        index: instance.index,
        action: Some(step.name.clone()),
        event: None,
        arguments: Some(arguments),
    };

    match &step.sync {
        Sync::Internal | Sync::Send { .. } | Sync::Receive { .. } => vec![by_name],
        Sync::Event { event, arguments } => {
            let value = |expr: &model::Expr| match expr {
                model::Expr::Int(value) => Some(*value),
                model::Expr::Bound(bound) => {
                    let mut bindings = command.bindings.iter();
                    bindings.find(|b| b.0 == *bound).map(|b| b.1)
                }
                model::Expr::Bool(_)
                | model::Expr::Enum(..)
                | model::Expr::Read(_)
                | model::Expr::Not(_)
                | model::Expr::Neg(_)
                | model::Expr::Binary(..)
                | model::Expr::Ite(..)
                | model::Expr::Quantified { .. }
                | model::Expr::At { .. }
                | model::Expr::Length(_)
                | model::Expr::Wrap { .. } => None,
            };
            let values: Option<Vec<i64>> = arguments.iter().map(value).collect();
            let by_event = values.map(|values| StepPattern {
                event: Some(*event),
                arguments: Some(values),
                ..StepPattern::default()
            });
            by_event.into_iter().collect()
        }
    }
}

/// The model with two more atoms for each pattern: enabled, taken.
fn with_atoms(model: &Model, patterns: Vec<StepPattern>) -> (ModelParts, Vec<[AtomId; 2]>) {
    let mut parts = model.parts().clone();
    let mut atoms = Vec::new();
    for pattern in patterns {
        let meanings = [
            AtomMeaning::Enabled(pattern.clone()),
            AtomMeaning::Taken(pattern),
        ];
        atoms.push(meanings.map(|meaning| {
            let id = AtomId::new(parts.atoms.len());
            parts.atoms.push(Atom {
                name: format!("fair{}", id.index()),
                meaning,
                span: Span::nowhere(),
            });
            id
        }));
    }
    (parts, atoms)
}

fn premise(atoms: &[[AtomId; 2]], is_strong: bool) -> Ltl {
    let condition = |[enabled, taken]: &[AtomId; 2]| {
        let disabled = Ltl::not(Ltl::atom(*enabled));
        let often = |inner| Ltl::always(Ltl::eventually(inner));
        let taken = often(Ltl::atom(*taken));
        if is_strong {
            Ltl::or([Ltl::eventually(Ltl::always(disabled)), taken])
        } else {
            Ltl::or([often(disabled), taken])
        }
    };
    Ltl::and(atoms.iter().map(condition))
}

fn assumptions(atoms: &[[AtomId; 2]], is_strong: bool) -> Vec<Assumption> {
    let condition = |[enabled, taken]: &[AtomId; 2]| {
        let disabled = if is_strong {
            Assumption::Eventually(*enabled, false)
        } else {
            Assumption::Infinitely(*enabled, false)
        };
        Assumption::Any(vec![disabled, Assumption::Infinitely(*taken, true)])
    };
    atoms.iter().map(condition).collect()
}

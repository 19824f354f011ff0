//! What the assumptions of a model do for a property, against checks without them.

use std::collections::{BTreeMap, BTreeSet};

use base::{AtomId, Budget, Fairness, NoProgress, Span};
use check::{Audit, AuditEntry, Outcome, Plan, Use, audit, check};
use evidence::Verdict;
use logic::{Ltl, NamedProperty, Property};
use model::{
    ActionId, Annotation, AnnotationKind, CommandId, InstanceId, Model, ModelParts, ProcessId,
    Subject, Target,
};
use omega::Automaton;
use testkit::{
    Judgement, ModelShape, Random, ReferenceGraph, cases, fair_run_exists, random_formula,
    random_model,
};

fn named(property: Property) -> NamedProperty {
    NamedProperty {
        name: "p".into(),
        text: String::new(),
        property,
        fairness: None,
        span: Span::nowhere(),
    }
}

fn plan() -> Plan {
    Plan {
        fairness: Some(Fairness::ANNOTATED),
        budget: Budget::unlimited().with_max_states(2_000),
        ..Plan::default()
    }
}

/// The verdict with other annotations and assumptions; nothing if it is not decided.
fn holds(parts: ModelParts, property: &NamedProperty) -> Option<bool> {
    let model = parts.finish().expect("it is a model with fewer conditions");
    let outcome: Outcome =
        check(&model, property, &plan(), &mut NoProgress).unwrap_or_else(|bug| panic!("{bug}"));
    match outcome.verdict {
        Verdict::Holds { .. } => Some(true),
        Verdict::Violated(_) => Some(false),
        Verdict::Unknown(_) => None,
    }
}

/// Does each step with the label of a step of the target share a mover with it? Else weak fairness to
/// actions need not imply justness to their steps.
fn labels_tell_movers(model: &Model, annotation: &Annotation) -> bool {
    let weak = Annotation {
        kind: AnnotationKind::Weak,
        ..annotation.clone()
    };
    let weak = model.annotated_conditions(&weak);
    let is_meant = |action: &ActionId| {
        let mut subjects = weak.iter().map(|condition| &condition.subject);
        subjects.any(|subject| *subject == Subject::Action(*action))
    };
    let movers = |team: &[CommandId]| -> BTreeSet<InstanceId> {
        let mover = |id: &CommandId| model.commands()[id.index()].instance;
        team.iter().map(mover).collect()
    };
    let teams = model.teams_by_action();
    let mut pairs = teams.iter().flat_map(|a| teams.iter().map(move |b| (a, b)));
    pairs.all(|((action, a), (other, b))| {
        action != other || !is_meant(action) || !movers(a).is_disjoint(&movers(b))
    })
}

/// What each annotation and assumption does, by leaving it out and by weakening it.
fn uses(model: &Model, property: &NamedProperty) -> Option<Vec<&'static str>> {
    let mut uses = Vec::new();
    for position in 0..model.parts().annotations.len() {
        let mut without = model.parts().clone();
        let kind = without.annotations.remove(position).kind;
        if holds(without, property)? {
            uses.push("superfluous");
            continue;
        }
        let implies_just = labels_tell_movers(model, &model.parts().annotations[position]);
        let weaker = AnnotationKind::ALL
            .into_iter()
            .filter(|weaker| *weaker < kind && (*weaker != AnnotationKind::Just || implies_just));
        let mut use_ = "needed";
        for weaker in weaker {
            let mut parts = model.parts().clone();
            parts.annotations[position].kind = weaker;
            if holds(parts, property)? {
                use_ = "stronger";
            }
        }
        uses.push(use_);
    }
    for position in 0..model.parts().assumptions.len() {
        let mut without = model.parts().clone();
        without.assumptions.remove(position);
        let superfluous = holds(without, property)?;
        uses.push(if superfluous { "superfluous" } else { "needed" });
    }
    Some(uses)
}

fn found(audit: &Audit) -> Vec<&'static str> {
    let name = |use_: &Use| match use_ {
        Use::Needed => "needed",
        Use::StrongerThanNeeded(_) => "stronger",
        Use::Superfluous => "superfluous",
        Use::Unknown => "unknown",
    };
    audit
        .entries
        .iter()
        .map(|entry| name(&entry.use_))
        .collect()
}

/// Is there a reachable state from which no fair run starts? Nothing if that is too much to find out.
fn has_corner(model: &Model) -> Option<bool> {
    let graph = ReferenceGraph::explore(model, 12).ok()??;
    let mut corner = false;
    for state in 0..graph.states.len() {
        // The state takes the place of the only initial one.
        let mut from_here = graph.clone();
        from_here.n_initial = 1;
        from_here.states.swap(0, state);
        from_here.steps.swap(0, state);
        for (_, target) in from_here.steps.iter_mut().flatten() {
            *target = match *target {
                0 => state,
                other if other == state => 0,
                other => other,
            };
        }
        let automaton = Automaton::universal();
        match fair_run_exists(model, &from_here, &automaton, Fairness::ANNOTATED).ok()? {
            Judgement::Exists => {}
            Judgement::None => corner = true,
            Judgement::TooLarge => return None,
        }
    }
    Some(corner)
}

/// Mostly about what happens again and again, which fairness is about.
fn some_formula(random: &mut Random) -> Ltl {
    let mut recurs = || {
        let atom = Ltl::atom(AtomId::new(random.below(6)));
        Ltl::always(Ltl::eventually(atom))
    };
    let formula = Ltl::or([recurs(), recurs()]);
    if random.chance(30) {
        let size = 1 + random.below(3);
        random_formula(random, 6, size)
    } else {
        formula
    }
}

/// Adds annotations of processes and actions, and turns some into justness.
fn more_annotations(random: &mut Random, model: Model) -> Model {
    let mut parts = model.parts().clone();
    for _ in 0..random.below(3) {
        let number = random.below(parts.processes.len());
        let process = ProcessId::new(number);
        let steps = &parts.processes[number].steps;
        let target = if steps.is_empty() || random.chance(50) {
            Target::Process(process)
        } else {
            Target::Action(process, random.pick(steps).name.clone())
        };
        parts.annotations.push(Annotation {
            kind: *random.pick(&AnnotationKind::ALL[..3]),
            target,
            span: Span::nowhere(),
        });
    }
    for annotation in &mut parts.annotations {
        if random.chance(30) {
            annotation.kind = AnnotationKind::Just;
        }
    }
    parts.finish().expect("it differs in its annotations only")
}

#[test]
fn audits_agree_with_checks_without_the_assumption() {
    let mut counts = BTreeMap::new();
    let mut corners = BTreeMap::new();
    let mut n_compared = 0;
    for seed in 0.. {
        if n_compared == cases(200) {
            break;
        }
        let mut random = Random::new(seed);
        let model = more_annotations(
            &mut random,
            random_model(&mut Random::new(seed), ModelShape::Tiny),
        );
        let n_conditions = model.parts().annotations.len() + model.parts().assumptions.len();
        let property = named(Property::Ltl(some_formula(&mut random)));
        let audited = audit(&model, &property, &plan(), &mut NoProgress);
        let audited = audited.unwrap_or_else(|bug| panic!("seed {seed}: {bug}"));
        if n_conditions == 0 || audited.left.is_some() {
            continue;
        }
        // Most assumptions are superfluous, and most others needed as they are; enough of these are
        // compared all the same.
        let is_rare = |entry: &AuditEntry| match &entry.use_ {
            Use::StrongerThanNeeded(_) => true,
            Use::Needed => entry.name.starts_with("just"),
            Use::Superfluous | Use::Unknown => false,
        };
        if !audited.entries.iter().any(is_rare) && random.chance(95) {
            continue;
        }
        let what = format!("seed {seed}, {:?}", property.property);
        let Some(as_it_is) = holds(model.parts().clone(), &property) else {
            continue;
        };
        n_compared += 1;
        assert_eq!(audited.holds, Some(as_it_is), "{what}");

        let no_run = holds(model.parts().clone(), &named(Property::Ltl(Ltl::ff())));
        let has_states = audited.stats.n_states > 0;
        assert_eq!(
            Some(audited.has_no_fair_run),
            no_run.map(|no| no && has_states),
            "{what}"
        );
        if let Some(corner) = has_corner(&model) {
            assert_eq!(audited.corner.is_some(), corner, "{what}");
            *corners.entry(corner).or_insert(0) += 1;
        }
        if !as_it_is {
            continue;
        }
        let Some(expected) = uses(&model, &property) else {
            continue;
        };
        assert_eq!(found(&audited), expected, "{what}");
        for (entry, use_) in audited.entries.iter().zip(expected) {
            *counts.entry(use_).or_insert(0) += 1;
            let words = match &entry.use_ {
                Use::StrongerThanNeeded(weaker) => weaker,
                _ => &entry.name,
            };
            if words.starts_with("just") && use_ != "superfluous" {
                *counts.entry("just").or_insert(0) += 1;
            }
        }
    }

    println!("{counts:?}, corners {corners:?}");
    for use_ in ["needed", "superfluous", "stronger", "just"] {
        assert!(
            counts.get(use_).is_some_and(|n| *n >= cases(200) / 50),
            "{counts:?}"
        );
    }
    for corner in [false, true] {
        let n_cases = corners.get(&corner);
        assert!(
            n_cases.is_some_and(|n| *n >= cases(200) / 50),
            "{corners:?}"
        );
    }
}

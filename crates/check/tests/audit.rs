//! What the assumptions of a model do for a property, against checks without them.

use std::collections::BTreeMap;

use base::{AtomId, Budget, Fairness, NoProgress, Span};
use check::{Audit, Outcome, Plan, Use, audit, check};
use evidence::Verdict;
use logic::{Ltl, NamedProperty, Property};
use model::{ConditionKind, Model, ModelParts};
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
        let weaker = match kind {
            ConditionKind::Weak => &[][..],
            ConditionKind::Strong => &[ConditionKind::Weak],
            ConditionKind::Unconditional => &[ConditionKind::Weak, ConditionKind::Strong],
        };
        let mut use_ = "needed";
        for &kind in weaker {
            let mut parts = model.parts().clone();
            parts.annotations[position].kind = kind;
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
        let model = random_model(&mut random, ModelShape::Tiny);
        let n_conditions = model.parts().annotations.len() + model.parts().assumptions.len();
        let property = named(Property::Ltl(some_formula(&mut random)));
        let audited = audit(&model, &property, &plan(), &mut NoProgress);
        let audited = audited.unwrap_or_else(|bug| panic!("seed {seed}: {bug}"));
        if n_conditions == 0 || audited.left.is_some() {
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
        for use_ in expected {
            *counts.entry(use_).or_insert(0) += 1;
        }
    }

    println!("{counts:?}, corners {corners:?}");
    for use_ in ["needed", "superfluous"] {
        assert!(
            counts.get(use_).is_some_and(|n| *n >= cases(200) / 20),
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

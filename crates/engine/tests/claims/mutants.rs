//! False claims are noticed: the comparisons of the other modules can fail.

use engine::{Claims, Component};
use testkit::Random;

use crate::footprints;
use crate::forms::compare_elimination;
use crate::relations;
use crate::sources::{Subject, load};
use crate::states::{arbitrary, reachable};

/// How many random models are tried.
const N_MODELS: u64 = 400;

/// Is a change of the claims noticed in at least `wanted` random models? No more are looked for.
fn is_noticed_in(wanted: usize, mutate: &dyn Fn(&Subject, &mut Claims)) -> bool {
    let noticed = (0..N_MODELS).filter(|seed| is_noticed(&Subject::random(*seed), *seed, mutate));
    noticed.take(wanted).count() == wanted
}

fn is_noticed(subject: &Subject, seed: u64, mutate: &dyn Fn(&Subject, &mut Claims)) -> bool {
    let random = &mut Random::new(seed);
    let (mut counts, mut related) = Default::default();
    let mut claims = subject.claims(true);
    mutate(subject, &mut claims);
    let mut compare = |state: &model::State, random: &mut Random| {
        footprints::compare(subject, &claims, state, random, &mut counts)
            .or_else(|| relations::compare(subject, &claims, state, &mut related))
            .or_else(|| compare_elimination(subject, &claims, state))
    };
    let (states, is_complete) = reachable(&subject.model, 12);
    let found = states.iter().any(|state| compare(state, random).is_some())
        || (0..12).any(|_| compare(&arbitrary(&subject.model, random), random).is_some());
    let is_alone = !subject.is_synchronous() && !subject.has_ruling();
    found
        || is_complete
            && is_alone
            && relations::compare_vital(subject, &claims, &states, &mut related).is_some()
}

fn is_of_channel(component: &Component) -> bool {
    match component {
        Component::Length(_) | Component::Message { .. } => true,
        Component::Location(_) | Component::Cell(_) => false,
    }
}

fn drop_from(
    field: fn(&mut engine::UnitClaims) -> &mut Vec<Component>,
    drops: fn(&Component) -> bool,
) -> bool {
    is_noticed_in(5, &|_, claims| {
        for unit in &mut claims.units {
            field(unit).retain(|component| !drops(component));
        }
    })
}

#[test]
fn true_claims_are_not_complained_about() {
    assert!((0..40).all(|seed| !is_noticed(&Subject::random(seed), seed, &|_, _| {})));
}

#[test]
fn missing_reads_are_noticed() {
    let is_cell = |c: &Component| matches!(c, Component::Cell(_));
    let is_location = |c: &Component| matches!(c, Component::Location(_));
    let is_length = |c: &Component| matches!(c, Component::Length(_));
    let is_message = |c: &Component| matches!(c, Component::Message { .. });
    assert!(drop_from(|u| &mut u.reads, is_of_channel));
    assert!(drop_from(|u| &mut u.reads, is_length));
    assert!(drop_from(|u| &mut u.reads, is_message));
    assert!(drop_from(|u| &mut u.reads, is_cell));
    assert!(drop_from(|u| &mut u.reads, is_location));
}

#[test]
fn missing_conditions_are_noticed() {
    let is_cell = |c: &Component| matches!(c, Component::Cell(_));
    let is_length = |c: &Component| matches!(c, Component::Length(_));
    let is_message = |c: &Component| matches!(c, Component::Message { .. });
    assert!(drop_from(|u| &mut u.condition, is_length));
    assert!(drop_from(|u| &mut u.condition, is_message));
    assert!(drop_from(|u| &mut u.condition, is_cell));
}

#[test]
fn missing_writes_are_noticed() {
    let is_cell = |c: &Component| matches!(c, Component::Cell(_));
    let is_location = |c: &Component| matches!(c, Component::Location(_));
    assert!(drop_from(|u| &mut u.writes, is_of_channel));
    assert!(drop_from(|u| &mut u.writes, is_cell));
    assert!(drop_from(|u| &mut u.writes, is_location));
}

#[test]
fn missing_reads_of_propositions_are_noticed() {
    assert!(is_noticed_in(5, &|_, claims| {
        claims.atoms.iter_mut().flatten().for_each(Vec::clear);
    }));
}

#[test]
fn false_relations_of_units_are_noticed() {
    let each = |change: fn(&mut engine::UnitClaims)| {
        is_noticed_in(5, &|_, claims| claims.units.iter_mut().for_each(change))
    };
    assert!(each(|unit| unit.interferes.fill(false)));
    assert!(each(|unit| unit.enabled_by.fill(false)));
    assert!(each(|unit| unit.is_visible = false));
    assert!(each(|unit| unit.can_fail = false));
    assert!(is_noticed_in(5, &|_, claims| {
        let rows = claims.moving.iter_mut().flatten();
        rows.for_each(|row| row.fill(false));
    }));
}

#[test]
fn false_claims_about_fairness_are_noticed() {
    let each = |change: fn(&mut engine::SubjectClaims)| {
        is_noticed_in(5, &|_, claims| claims.subjects.iter_mut().for_each(change))
    };
    assert!(each(|subject| subject.relevant.fill(false)));
    assert!(each(|subject| subject.is_steady = true));
    assert!(is_noticed_in(5, &|_, claims| claims.vital.fill(true)));
}

#[test]
fn code_that_is_executed_is_noticed() {
    assert!(is_noticed_in(5, &|_, claims| claims
        .never_executed
        .fill(true)));
    assert!(is_noticed_in(5, &|_, claims| {
        claims
            .constants
            .iter_mut()
            .for_each(|value| *value = Some(0));
    }));
}

/// Exactly what was wrong once: a channel that is only asked about was only written.
#[test]
fn the_reads_of_a_fair_receiver_are_noticed() {
    let text = include_str!("../../../../testdata/defects/fair_receiver.fair");
    let subject = Subject::new("fair receiver".into(), load(text));
    assert!(!is_noticed(&subject, 0, &|_, _| {}));
    // Sends are irrelevant to a receiver whose channel is not among its reads.
    let forget_sends = |subject: &Subject, claims: &mut Claims| {
        for (position, unit) in claims.units.iter().enumerate() {
            let action = subject.model.transitions()[unit.transition].action;
            if subject.model.action_name(action) == "S.s" {
                let subjects = claims.subjects.iter_mut();
                subjects.for_each(|subject| subject.relevant[position] = false);
            }
        }
    };
    assert!(is_noticed(&subject, 0, &forget_sends));
}

/// Exactly what was wrong once: a step away from the chosen one of several steps of an event.
#[test]
fn leaving_a_fair_step_of_an_event_is_noticed() {
    let text = include_str!("../../../../testdata/defects/event_choice.fair");
    let subject = Subject::new("event choice".into(), load(text));
    assert!(!is_noticed(&subject, 0, &|_, _| {}));
    let forget_leaving = |subject: &Subject, claims: &mut Claims| {
        for (position, unit) in claims.units.iter().enumerate() {
            let action = subject.model.transitions()[unit.transition].action;
            if subject.model.action_name(action) == "P.b" {
                let subjects = claims.subjects.iter_mut();
                subjects.for_each(|subject| subject.relevant[position] = false);
            }
        }
    };
    assert!(is_noticed(&subject, 0, &forget_leaving));
}

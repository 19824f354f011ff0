//! The verdicts of the micro systems, found by judging every short lasso.

mod micro;

use base::FairnessKind;
use evidence::{Trace, TraceStep, ViolationKind, validate};
use logic::{Ltl, Property};
use micro::{at, fairness, parts, recurs, taken, toggled, violation};
use model::Model;

/// Every lasso with at most this many steps.
fn lassos(model: &Model, max_steps: usize) -> Vec<Trace> {
    let mut found = Vec::new();
    let start = |state| Trace {
        states: vec![state],
        steps: Vec::new(),
        loop_start: None,
    };
    let initial = model.initial_states().unwrap();
    let mut walks: Vec<Trace> = initial.into_iter().map(start).collect();

    for _ in 0..max_steps {
        let mut longer = Vec::new();
        for walk in walks {
            for step in model.steps_or_idle(walk.states.last().unwrap()).unwrap() {
                let mut next = walk.clone();
                next.steps.push(TraceStep::from(&step).into());
                for (position, state) in next.states.iter().enumerate() {
                    if *state == step.target {
                        let loop_start = Some(position);
                        let lasso = Trace {
                            loop_start,
                            ..next.clone()
                        };
                        found.push(lasso);
                    }
                }
                next.states.push(step.target);
                longer.push(next);
            }
        }
        walks = longer;
    }

    found
}

/// `Y` where no lasso is a violation, `N` where one is, for every notion of fairness.
fn verdicts(model: &Model, formula: Ltl, max_steps: usize) -> String {
    let property = Property::Ltl(formula);
    let candidates: Vec<_> = lassos(model, max_steps)
        .into_iter()
        .map(|trace| violation(ViolationKind::FairLoop, trace))
        .collect();
    use FairnessKind::{None, Strong, StrongGlobal, StrongProcess, Weak, WeakProcess};
    let kinds = [None, WeakProcess, StrongProcess, Weak, Strong, StrongGlobal];
    let verdict = |kind| {
        let valid = |v| validate(model, &property, fairness(kind), &[], v).is_ok();
        if candidates.iter().any(valid) {
            "N"
        } else {
            "Y"
        }
    };
    kinds.map(verdict).join(" ")
}

#[test]
fn two_self_loops_of_one_process() {
    let mut parts = parts(&[("P", 1, &[(0, "a", 0), (0, "b", 0)])]);
    let a = taken(&mut parts, "a");
    let model = parts.finish().unwrap();
    assert_eq!(verdicts(&model, recurs(a), 4), "N N N Y Y Y");
}

#[test]
fn two_self_loops_of_two_processes() {
    let mut parts = parts(&[("P", 1, &[(0, "a", 0)]), ("Q", 1, &[(0, "b", 0)])]);
    let a = taken(&mut parts, "a");
    let model = parts.finish().unwrap();
    assert_eq!(verdicts(&model, recurs(a), 4), "N Y Y Y Y Y");
}

#[test]
fn a_choice_every_other_step() {
    let mut parts = parts(&[("P", 2, &[(0, "a", 1), (1, "b", 0), (1, "c", 0)])]);
    let b = taken(&mut parts, "b");
    let model = parts.finish().unwrap();
    assert_eq!(verdicts(&model, recurs(b), 6), "N N N N Y Y");
}

#[test]
fn the_same_actions_in_another_order() {
    let steps = [(0, "a", 1), (1, "b", 0), (0, "b", 2), (2, "a", 0)];
    let mut parts = parts(&[("P", 3, &steps)]);
    let there = at(&mut parts, 2);
    let model = parts.finish().unwrap();
    assert_eq!(verdicts(&model, recurs(there), 6), "N N N N N Y");
}

#[test]
fn one_action_with_two_targets() {
    let steps = [(0, "a", 1), (0, "a", 2), (1, "c", 0), (2, "b", 0)];
    let mut parts = parts(&[("P", 3, &steps)]);
    let b = taken(&mut parts, "b");
    let model = parts.finish().unwrap();
    assert_eq!(verdicts(&model, recurs(b), 6), "N N N N N Y");
}

#[test]
fn actions_enabled_in_turn() {
    let (model, formula) = toggled();
    assert_eq!(verdicts(&model, formula, 6), "N Y Y N Y Y");
}

#[test]
fn a_closed_component_can_violate_under_strong_global_fairness() {
    let steps = [
        (0, "go", 1),
        (0, "stay", 0),
        (1, "a", 2),
        (2, "b", 1),
        (2, "c", 1),
    ];
    let mut parts = parts(&[("P", 3, &steps)]);
    let home = at(&mut parts, 0);
    let model = parts.finish().unwrap();
    assert_eq!(verdicts(&model, recurs(home), 6), "N N N N N N");
}

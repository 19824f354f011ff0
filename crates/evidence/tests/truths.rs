//! Which parts of a formula hold where in a run.

use base::{AtomId, Span};
use evidence::{Trace, TraceStep, truths};
use logic::Ltl;
use model::{Atom, AtomMeaning, LocationId, Model, ModelParts, Process, Step, StepPattern};

/// A process that goes from location 0 to 1 by `go`, and from 1 to 0 by `back`; the atom says that
/// `go` was taken.
fn model() -> Model {
    let step = |name, from, to| Step::new(name, LocationId(from), LocationId(to), Span::nowhere());
    let steps = vec![step("go", 0, 1), step("back", 1, 0)];
    let locations = vec!["here".into(), "there".into()];
    let process = Process::new("P", locations, steps, Span::nowhere());
    let meaning = AtomMeaning::Taken(StepPattern {
        action: Some("go".into()),
        ..StepPattern::default()
    });
    let atom = Atom {
        name: "went".into(),
        meaning,
        span: Span::nowhere(),
    };
    let parts = ModelParts {
        processes: vec![process],
        atoms: vec![atom],
        ..ModelParts::default()
    };
    parts.finish().expect("a model")
}

fn trace(model: &Model, loop_start: Option<usize>) -> Trace {
    let mut states = vec![model.initial_states().unwrap().remove(0)];
    let mut steps = Vec::new();
    for _ in 0..2 {
        let step = model.successors(states.last().unwrap()).unwrap().remove(0);
        steps.push(TraceStep::from(&step).into());
        states.push(step.target);
    }
    if loop_start.is_some() {
        states.pop();
    }
    Trace {
        states,
        steps,
        loop_start,
    }
}

#[test]
fn rows_go_from_the_formula_to_its_parts() {
    let model = model();
    let went = Ltl::atom(AtomId(0));
    let formula = Ltl::always(Ltl::eventually(went));

    let lasso = truths(&model, &formula, &trace(&model, Some(0)), 10).unwrap();
    let texts: Vec<_> = lasso
        .iter()
        .map(|row| (row.text.as_str(), row.depth))
        .collect();
    assert_eq!(texts, [("[]<>went", 0), ("<>went", 1), ("went", 2)]);
    assert_eq!(lasso[0].at, [Some(true), Some(true)]);
    // No step leads to the first position.
    assert_eq!(lasso[2].at, [Some(false), Some(true)]);
    assert!(lasso[1].is_temporal && !lasso[2].is_temporal);

    let finite = truths(&model, &formula, &trace(&model, None), 10).unwrap();
    assert_eq!(finite[0].at, [None; 3]);
    assert_eq!(finite[1].at, [Some(true), Some(true), None]);
    assert_eq!(finite[2].at, [Some(false), Some(true), Some(false)]);
    assert_eq!(
        truths(&model, &formula, &trace(&model, None), 1)
            .unwrap()
            .len(),
        1
    );
}

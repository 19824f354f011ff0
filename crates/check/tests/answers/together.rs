//! Questions that one exploration answers together get the answers of searches of their own.

use base::NoProgress;
use check::{Outcome, Plan, Reduction, answer, answer_together};
use evidence::{Verdict, Violation};
use logic::{NamedProperty, Property};
use model::{AtomMeaning, Model, Scope};
use source::{Question, System};
use testkit::{ModelShape, Random, cases, random_model};

/// What a report says about an outcome: the verdict, the length of its run and the counts.
fn told(outcome: &Outcome) -> (String, Option<usize>, u64, u64) {
    let (verdict, trace) = match &outcome.verdict {
        Verdict::Holds { witness } => ("holds".to_owned(), witness.as_ref()),
        Verdict::Violated(violation) => {
            let Violation { kind, trace, .. } = &**violation;
            (format!("violated: {kind:?}"), trace.as_ref())
        }
        Verdict::Unknown(reason) => (format!("unknown: {reason:?}"), None),
    };
    let stats = &outcome.stats;
    let length = trace.map(|trace| trace.steps.len());
    (verdict, length, stats.n_states, stats.n_transitions)
}

/// Does a question ask whether any step is possible? Alone it may be answered when states are expanded,
/// so how many are visited until a goal is met depends on what else is asked.
fn may_wait(model: &Model, question: &Question) -> bool {
    let (Property::Invariant(formula) | Property::Reachable(formula)) = &question.property.property
    else {
        return false;
    };
    let atoms = formula.atoms();
    let mut meanings = atoms
        .iter()
        .map(|atom| &model.parts().atoms[atom.index()].meaning);
    // shape: nothing else waits for the steps of a state.
    meanings.any(|meaning| matches!(meaning, AtomMeaning::Deadlock))
}

/// Asks everything about a model that can be asked of its atoms by exploring.
fn questions(model: &Model) -> Vec<Question> {
    let atoms = (0..model.parts().atoms.len()).map(base::AtomId::new);
    let mut properties: Vec<Property> = atoms
        .flat_map(|atom| {
            let atom = logic::Ltl::atom(atom);
            [
                Property::Invariant(atom.clone()),
                Property::Invariant(atom.negate()),
                Property::Reachable(atom),
            ]
        })
        .collect();
    properties.push(Property::DeadlockFree);
    let numbered = properties.into_iter().enumerate();
    let question = |(number, property)| {
        let property = NamedProperty {
            name: format!("p{number}"),
            text: String::new(),
            property,
            fairness: None,
            span: base::Span::nowhere(),
        };
        Question::about(property, Scope::default())
    };
    numbered.map(question).collect()
}

#[test]
fn one_exploration_answers_as_several_do() {
    let (mut n_together, mut n_met, mut n_counted) = (0, 0, 0);
    for seed in 0..u64::from(cases(150)) {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose][random.below(3)];
        let model = random_model(&mut random, shape);
        let systems = [System::new("m", model)];
        let asked = questions(&systems[0].model);
        let asked: Vec<&Question> = asked.iter().collect();
        for reduction in [Reduction::None, Reduction::Auto { after: 1_000_000 }] {
            let plan = Plan {
                reduction,
                ..Plan::default()
            };
            let together = answer_together(&systems, &asked, &plan, &mut NoProgress);
            let together = together.expect("evidence is right");
            for (question, found) in asked.iter().zip(together) {
                let Some(found) = found else {
                    continue;
                };
                let alone = answer(&systems, question, &plan, &mut NoProgress);
                let alone = alone.expect("evidence is right");
                let context = format!("seed {seed}, {}", question.property.name);
                let (mut found, mut alone) = (told(&found), told(&alone));
                let is_met = found.1.is_some();
                if is_met && may_wait(&systems[0].model, question) {
                    (found.2, found.3) = (0, 0);
                    (alone.2, alone.3) = (0, 0);
                } else {
                    n_counted += usize::from(is_met);
                }
                assert_eq!(found, alone, "{context}");
                n_together += 1;
                n_met += usize::from(is_met);
            }
        }
    }
    assert!(n_together > 500, "only {n_together} questions together");
    assert!(n_met > 100, "only {n_met} goals met");
    assert!(n_counted > 100, "only {n_counted} goals met with counts");
}

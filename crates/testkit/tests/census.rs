//! No construct is missing from what the random suites try.

use std::collections::BTreeSet;

use base::Fairness;
use testkit::census::{CONSTRUCTS, Census, EXCEPTIONS};
use testkit::{ModelShape, Random, ReferenceGraph, cases, halves, random_model, random_property};

const NOTIONS: [&str; 9] = [
    "none",
    "just",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "annotated",
    "none+timers",
];

/// Every construct is produced and matters, or is an exception with a reason.
fn assert_complete(census: &Census) {
    let exceptions: BTreeSet<&str> = EXCEPTIONS.iter().map(|(name, _)| *name).collect();
    for name in &exceptions {
        assert!(CONSTRUCTS.contains(name), "`{name}` is not a construct");
    }
    let missing: BTreeSet<&str> = census.missing().into_iter().collect();
    let unexpected: Vec<&&str> = missing.difference(&exceptions).collect();
    assert!(
        unexpected.is_empty(),
        "never produced or never mattered: {unexpected:?}\n{}",
        census.table()
    );
}

fn add_models(census: &mut Census) {
    for seed in 0..u64::from(cases(2_500)) {
        let mut random = Random::new(seed);
        let shape = *random.pick(&[
            ModelShape::Tiny,
            ModelShape::Rich,
            ModelShape::Wide,
            ModelShape::Alike,
        ]);
        census.add_model(&random_model(&mut random, shape));
    }
}

fn add_properties(census: &mut Census) {
    for seed in 0..u64::from(cases(2_500)) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 12) else {
            continue;
        };
        let property = random_property(&mut random);
        let fairness =
            Fairness::parse(NOTIONS[random.below(NOTIONS.len())]).expect("the names are right");
        census.add_property(&model, &graph, (&property, fairness), &mut random);
    }
}

/// Weak fairness of events is rare, and rarely decides anything, so it is looked for.
fn add_weak_events(census: &mut Census) {
    for seed in 2_500..u64::from(cases(20_000)) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let is_sought = |annotation: &model::Annotation| {
            let is_event = matches!(annotation.target, model::Target::Event(_));
            is_event && annotation.kind == model::AnnotationKind::Weak
        };
        if model.parts().annotations.iter().any(is_sought) {
            census.add_model(&model);
        }
    }
}

#[test]
fn random_models_and_properties_have_every_construct_and_it_matters() {
    let [mut census, others] = halves(|half| {
        let mut census = Census::default();
        if half == 0 {
            add_models(&mut census);
        } else {
            add_properties(&mut census);
            add_weak_events(&mut census);
        }
        census
    });
    census.join(&others);

    println!("{}", census.table());
    assert_complete(&census);
}

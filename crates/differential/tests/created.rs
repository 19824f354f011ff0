//! Processes that are created and end: all routes agree about random texts with them. What the texts mean
//! is compared in `crates/lang/tests/suite/population.rs`.

use base::Source;
use differential::{Case, Tally, compare};
use source::{Options, Single};
use testkit::{Random, cases, population_text};

fn load(text: &str) -> Single {
    let source = Source {
        name: "test.fair".to_owned(),
        text: text.to_owned(),
    };
    lang::load(source, &Options::default()).single()
}

#[test]
fn routes_agree_on_processes_that_are_created() {
    let mut tally = Tally::default();
    for seed in 0..u64::from(cases(40)) {
        let random = &mut Random::new(seed ^ 0x5ba3);
        let text = population_text(random).text;
        let loaded = load(&text);
        let Some(model) = loaded.model else {
            panic!("seed {seed}: {:?}\n{text}", loaded.diagnostics);
        };
        let fairness = *random.pick(&["none", "weak", "strong-process", "weak-process"]);
        let fairness = base::Fairness::parse(fairness).expect("the names are right");
        let property = random.pick(&loaded.properties).clone();
        let kind = property.property.clone();
        let case = Case {
            property,
            sources: loaded.sources,
            ..Case::new(format!("created {seed}"), model, kind, fairness)
        };
        let findings = compare(&case, seed, &mut tally);
        assert!(findings.is_empty(), "{findings:?}\n{text}");
    }
    println!("{tally}");
}

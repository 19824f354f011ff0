//! The same system in two languages.

use anyhow::{Result, anyhow};
use base::{Fairness, Source};

use crate::answer::{Ledger, Relation, ask};
use crate::files::{System, load, root};
use crate::{Case, Finding, RouteKind, Tally};

/// A question about two texts that describe the same system.
#[derive(Clone, Copy, Debug)]
pub struct Twins {
    /// The files below `examples/`, and what each calls the property.
    pub asked: [(&'static str, &'static str); 2],
    /// A value for the constant `N`.
    pub n: &'static str,
    /// Timers of the second that are abstract, and their thresholds.
    pub abstract_timers: &'static [(&'static str, &'static str)],
}

const fn twins(
    first: (&'static str, &'static str),
    second: (&'static str, &'static str),
    n: &'static str,
) -> Twins {
    Twins {
        asked: [first, second],
        n,
        abstract_timers: &[],
    }
}

const ONE: &str = "System() |= <>[] one";
const SERVED: &str = "System() |= [](request -> <> served)";
const EATS: &str = "College() |= []<> eat.0";

/// All pairs among the examples.
pub const TWINS: [Twins; 11] = [
    twins(
        ("population/le_c.fair", "one_leader"),
        ("csp/le_c.csp", ONE),
        "3",
    ),
    twins(
        ("population/le_t.fair", "one_leader"),
        ("csp/le_t.csp", ONE),
        "3",
    ),
    twins(
        ("population/le_r.fair", "one_leader"),
        ("csp/le_r.csp", ONE),
        "3",
    ),
    twins(
        ("population/tc_r.fair", "one_token"),
        ("csp/tc_r.csp", ONE),
        "3",
    ),
    twins(
        ("peterson.fair", "access"),
        ("csp/peterson.csp", SERVED),
        "2",
    ),
    twins(
        ("peterson.fair", "access"),
        ("csp/peterson.csp", SERVED),
        "3",
    ),
    twins(
        ("philosophers.fair", "eats"),
        ("csp/philosophers.csp", EATS),
        "3",
    ),
    twins(
        ("philosophers_right.fair", "eats"),
        ("csp/philosophers_right.csp", EATS),
        "3",
    ),
    twins(
        ("milner.fair", "works"),
        ("csp/milner.csp", "Milner() |= []<> work.0"),
        "3",
    ),
    Twins {
        abstract_timers: &[("hold", "2")],
        ..twins(
            ("timers/fischer.fair", "access"),
            ("promela/fischer.pml", "access"),
            "2",
        )
    },
    Twins {
        abstract_timers: &[("hold", "2")],
        ..twins(
            ("timers/fischer.fair", "exclusion"),
            ("promela/fischer.pml", "exclusion"),
            "2",
        )
    },
];

/// Under which twins are compared; under the last, abstract timers expire.
const KINDS: [&str; 7] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
    "timers",
];

/// Compares the answers about two texts under all kinds of fairness that apply.
///
/// # Errors
/// A text is not as it should be.
pub fn compare(twins: &Twins, max_states: u64, tally: &mut Tally) -> Result<Vec<Finding>> {
    let cases = [twins.case(0, max_states)?, twins.case(1, max_states)?];
    let has_timers = !twins.abstract_timers.is_empty();
    let mut ledger = Ledger::default();
    for kind in KINDS {
        // Time passes in the twins in different steps, so only these kinds mean the same.
        let is_timed = matches!(kind, "none" | "timers");
        if has_timers != is_timed && (has_timers || kind == "timers") {
            continue;
        }
        let fairness = Fairness::parse(kind).expect("the names are right");
        let answers = cases.each_ref().map(|case| {
            let case = Case {
                fairness,
                ..case.clone()
            };
            ask(&case.model, &case.property, &case.plan()).0
        });
        let how = [0, 1].map(|which| format!("{} under {kind}", twins.asked[which].0));
        let left = (&*how[0], &answers[0]);
        ledger.compare(
            RouteKind::Twin,
            Relation::Same,
            left,
            (&how[1], &answers[1]),
        );
    }

    tally.add(&ledger.tally);
    Ok(ledger.findings)
}

impl Twins {
    fn case(&self, which: usize, max_states: u64) -> Result<Case> {
        let (file, property) = self.asked[which];
        let text = std::fs::read_to_string(root().join("examples").join(file))?;
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let timers = self.abstract_timers.iter().filter(|_| which == 1);
        let options = source::Options {
            defines: vec![("N".to_owned(), self.n.to_owned())],
            abstract_timers: timers.map(own).collect(),
            ..source::Options::default()
        };
        let name = file.to_owned();

        for system in load(Source { name, text }, &options)? {
            let System {
                model,
                properties,
                sources,
            } = system;
            let found = properties.into_iter().find(|known| known.name == property);
            if let Some(property) = found {
                return Ok(Case {
                    sources,
                    max_states,
                    property: property.clone(),
                    ..Case::new(
                        file.to_owned(),
                        model,
                        property.property,
                        Fairness::default(),
                    )
                });
            }
        }

        Err(anyhow!("{file} has no property `{property}`"))
    }
}

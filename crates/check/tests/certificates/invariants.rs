//! Certificates of invariants: solvers confirm what is true, and refute what is not.

use base::{Fairness, Route, Source};
use certify::{Certificate, CertifiedOptions, Claim, Failure, Invariant, Proof};
use check::{Plan, check};
use logic::{Ltl, Property};
use source::{Content, FrontEnd as _, Memory};
use testkit::{ModelShape, Random, ReferenceGraph, has_peer, judge, random_formula, random_model};

use crate::Case;

fn certificate(invariant: Invariant, fairness: Fairness) -> Certificate {
    Certificate {
        property: "p".into(),
        options: CertifiedOptions::default(),
        fairness,
        claim: Claim::Holds,
        proofs: vec![Proof::Invariant(invariant)],
    }
}

/// The states that can be reached, each cell and location as a term.
pub(crate) fn exact(graph: &ReferenceGraph) -> Invariant {
    let first = &graph.states[0];
    let cells = (0..first.cells.len()).map(|i| format!("c{i}"));
    let locations = (0..first.locations.len()).map(|i| format!("l{i}"));
    let row = |state: &model::State| {
        let locations = state.locations.iter().map(|l| i64::from(l.0));
        state.cells.iter().copied().chain(locations).collect()
    };
    Invariant {
        terms: cells.chain(locations).collect(),
        rows: graph.states.iter().map(row).collect(),
    }
}

/// The set of states that can be reached is an invariant, and is none without one of them: so what
/// solvers are asked about steps is what the reference semantics says about them.
#[test]
fn obligations_are_what_the_reference_semantics_says() {
    if !has_peer("z3", "--version") {
        return;
    }
    let none = Fairness::parse("none").expect("a name");
    let (mut n_accepted, mut n_rejected) = (0, 0);
    for seed in 0..u64::from(testkit::cases(120)) {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich][random.below(2)];
        let model = random_model(&mut random, shape);
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 40) else {
            continue;
        };
        if graph.states.is_empty() {
            continue;
        }
        let [a, b] = [(); 2].map(|()| random_formula(&mut random, 4, 0));
        let property = Property::Invariant(Ltl::or([a, b]));
        let Ok(Some(holds)) = judge(&model, &graph, &property, none) else {
            continue;
        };

        let case = Case::new(model, property, none);
        let whole = exact(&graph);
        match case.verify(&certificate(whole.clone(), none)) {
            Ok(()) => assert!(holds, "seed {seed}"),
            Err(Failure::Wrong(why)) => assert!(!holds, "seed {seed}: {why}"),
            // What is not expressed.
            Err(Failure::Unconfirmed(_)) => continue,
            Err(other) => panic!("seed {seed}: {other}"),
        }
        n_accepted += u32::from(holds);

        let mut smaller = whole;
        smaller.rows.remove(random.below(graph.states.len()));
        let verified = case.verify(&certificate(smaller, none));
        assert!(matches!(verified, Err(Failure::Wrong(_))), "seed {seed}");
        n_rejected += 1;
    }
    assert!(
        n_accepted > 0 && n_rejected > 0,
        "{n_accepted} {n_rejected}"
    );
}

/// A run-time error is not hidden by an invariant that says nothing.
#[test]
fn run_time_errors_are_not_certified() {
    if !has_peer("z3", "--version") {
        return;
    }
    let vars = "var x : 0..3 = 0\nvar n : int = 0\nvar a : array[0..1] of 0..3 = [i in 0..1: i]\n";
    let table = [
        ("step { x := 1 }", true),
        ("step { x := x + 1 }", false),
        ("step when x < 3 { x := x + 1 }", true),
        ("step when 6 / x == 2 { skip }", false),
        ("step when x > 0 && 6 / x == 2 { skip }", true),
        ("step when n mod (x + 1) == 0 { skip }", true),
        ("step when a[n] == 1 { skip }", false),
        ("step when n >= 0 && n < 2 && a[n] == 1 { skip }", true),
        ("step { a[x] := 1 }", false),
        ("step when x < 2 { a[x] := x }", true),
        ("step { assert x == 0 }", false),
        ("step { assert x <= 3 }", true),
        ("step { if x == 0 { x := 3 } else { x := n } }", false),
        ("step { x := choose v in 0..4 where v < 4 }", true),
        ("step { x := choose v in 0..4 where v < 5 }", false),
        ("step { x := choose v in 0..4 where 1 / v == 0 }", false),
        ("step { for i in 0..1 { x := a[i] } }", true),
        ("step { for i in 0..2 { x := a[i] } }", false),
        ("step when exists i in 0..2: a[i] == 9 { skip }", false),
        (
            "step when exists i in 0..2: i == 1 || a[i] >= 0 { skip }",
            true,
        ),
        ("step { let d = n; if d >= 0 && d <= 3 { x := d } }", true),
        ("step { let d = n; if d >= 0 { x := d } }", false),
    ];
    for (step, is_fine) in table {
        let (systems, questions) = load(&format!(
            "{vars}process P {{ {step} }}\ninvariant p: x >= 0"
        ));
        let none = Fairness::parse("none").expect("a name");
        let case = Case {
            systems,
            questions,
            asked: 0,
            fairness: none,
        };
        let everything = Invariant {
            terms: Vec::new(),
            rows: vec![Vec::new()],
        };
        match case.verify(&certificate(everything, none)) {
            Ok(()) => assert!(is_fine, "{step}"),
            Err(Failure::Wrong(why)) => assert!(!is_fine, "{step}: {why}"),
            Err(other) => panic!("{step}: {other}"),
        }
    }
}

const COUNTERS: &str = "
var n : int = 0
var x : int = 0
process Q { more { n := n + 1 } }
process P {
    init low
    from low { up when x < n { x := x + 1 } -> high }
    from high { down { x := x - 1 } -> low }
}
invariant counted: P @ high => x == 1
invariant from_zero: x >= 0
";

pub(crate) fn load(text: &str) -> (Vec<source::System>, Vec<source::Question>) {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::Native.load(source, &Memory::default(), &source::Options::default());
    let Some(Content::Systems(systems)) = loaded.content else {
        panic!("{:?}", loaded.diagnostics);
    };
    (systems, loaded.questions)
}

#[test]
fn predicate_abstraction_is_certified() {
    if !has_peer("z3", "--version") {
        return;
    }
    for (asked, name) in ["counted", "from_zero"].into_iter().enumerate() {
        let (systems, questions) = load(COUNTERS);
        let case = Case {
            systems,
            questions,
            asked,
            fairness: Fairness::parse("none").expect("a name"),
        };
        let plan = Plan {
            route: Some(Route::Predicate),
            ..Plan::default()
        };
        let property = &case.question().property;
        assert_eq!(property.name, name);
        let outcome = check(case.model(), property, &plan, &mut base::NoProgress);
        let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
        assert!(outcome.holds(), "{name}: {:?}", outcome.verdict);
        let mut found = case.certificate(&outcome).expect("there is an invariant");
        assert_eq!(case.verify(&found), Ok(()), "{name}");

        // Fewer rows are less than what happens, and no file can add assertions.
        let Some(Proof::Invariant(invariant)) = found.proofs.first_mut() else {
            panic!("{found:?}");
        };
        let last = invariant.rows.pop().expect("there are states");
        assert!(
            matches!(case.verify(&found), Err(Failure::Wrong(_))),
            "{name}"
        );
        let Some(Proof::Invariant(invariant)) = found.proofs.first_mut() else {
            panic!("{found:?}");
        };
        invariant.rows.push(last);
        for forged in [
            "c0) (assert false",
            "(= 0 1) ; ",
            "(let ((c0 1)) c0)",
            "",
            "c999",
            "(c0)",
        ] {
            let before = std::mem::replace(&mut invariant.terms[0], forged.to_owned());
            let certificate = Certificate {
                property: name.to_owned(),
                ..certificate(invariant.clone(), case.fairness)
            };
            assert!(case.verify(&certificate).is_err(), "{name}: {forged}");
            invariant.terms[0] = before;
        }
    }
}

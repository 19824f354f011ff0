//! Formulas with path quantifiers about Promela models. States inside an atomic are not observed.

use base::{Fairness, NoProgress, Source};
use check::Plan;
use evidence::Verdict;
use source::{Memory, Options, Single};

/// `x` is 1 only inside the atomic; `up` may stay false forever.
const MODEL: &str = "byte x, A[2]; bool up, E;
active proctype P() {
    do
    :: atomic { x = 1; if :: x == 1 -> up = 1 :: up = 0 fi; x = 0 }
    :: up -> up = 0
    :: !up -> E = 1; E = 0
    od
}";

fn load(formula: &str) -> Single {
    let source = Source {
        name: "m.pml".to_owned(),
        text: MODEL.to_owned(),
    };
    let options = Options {
        ctl: vec![("asked".to_owned(), formula.to_owned())],
        ..Options::default()
    };
    promela::load(source, &Memory::default(), &options).single()
}

fn holds(formula: &str, fairness: &str) -> bool {
    let loaded = load(formula);
    let model = loaded.model.as_ref();
    let model = model.unwrap_or_else(|| panic!("{:?}", loaded.diagnostics));
    let asked = loaded.properties.iter().find(|p| p.name == "asked");
    let plan = Plan {
        fairness: Fairness::parse(fairness),
        ..Plan::default()
    };
    let asked = asked.expect("it was asked for");
    let outcome = check::check(model, asked, &plan, &mut NoProgress).expect("no bug");
    match outcome.verdict {
        Verdict::Holds { .. } => true,
        Verdict::Violated(_) => false,
        Verdict::Unknown(reason) => panic!("{formula}: {reason:?}"),
    }
}

#[test]
fn quantifiers_range_over_what_is_seen() {
    for (formula, expected) in [
        ("AG EF up", true),
        ("AG (x == 0)", true),
        ("EF (x == 1)", false),
        ("EX up && EX !up", true),
        ("AX (up || E)", false),
        ("E [] !up", true),
        ("AF up", false),
        ("A (!up W E) || EF (up && !E)", true),
        ("EF E -> AG (A[0] == 0 && E<> up)", true),
    ] {
        assert_eq!(holds(formula, "none"), expected, "{formula}");
    }
}

#[test]
fn quantifiers_range_over_fair_runs() {
    assert!(!holds("AG AF up", "weak"));
    assert!(holds("AG AF up", "strong-global"));
    assert!(!holds("E [] !up", "strong-global"));
}

#[test]
fn operators_need_a_quantifier() {
    let loaded = load("[] up");
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
    assert_eq!(codes, ["formula"]);
}

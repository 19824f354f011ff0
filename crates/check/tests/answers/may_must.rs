//! Three-valued answers on may/must systems: the figure of the paper, the definition, soundness.

use std::path::Path;

use crate::random_abstraction::{Abstraction, Concrete, answer, random_fairness, rewrite};
use base::{AtomId, NoProgress};
use check::{Plan, check};
use evidence::{UnknownReason, Verdict};
use logic::{CtlStarBuilder, Ltl, PathQuantifier};
use testkit::{BranchingOracle, Random, halves, random_ctl_star};

const N_ATOMS: usize = 2;

#[test]
fn figure_1_of_the_paper() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/may_must.fair");
    let text = std::fs::read_to_string(path).expect("the example exists");
    let verdicts = |naive: bool| -> Vec<String> {
        let source = base::Source {
            name: "may_must.fair".into(),
            text: text.clone(),
        };
        let loaded = lang::load(source, &source::Options::default()).single();
        let model = loaded.model.expect("the example has no errors");
        let plan = Plan {
            naive,
            ..Plan::default()
        };
        let verdict = |property: &logic::NamedProperty| {
            let outcome = check(&model, property, &plan, &mut NoProgress);
            let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
            let mut shown = format!("{} {}", property.name, outcome.verdict.name());
            let warnings = outcome.warnings.iter().map(|warning| &warning.message);
            warnings.for_each(|warning| shown += &format!("\n    {warning}"));
            shown
        };
        loaded.properties.iter().map(verdict).collect()
    };
    expect_test::expect![[r#"
        reaches_p_s1 violated
        reaches_p_s2 violated
        reaches_p_s3 violated
        reaches_p_s4 violated
        reaches_p_s5 holds
        reaches_p_fairly_s1 violated
        reaches_p_fairly_s2 holds
        reaches_p_fairly_s3 violated
        reaches_p_fairly_s4 holds
        reaches_p_fairly_s5 holds
        p_or_not holds
        q_or_not holds
        next_not_p_s1 holds
        next_not_p_s2 holds
        next_not_p_s3 holds
        next_not_p_s4 holds
        next_not_p_s5 violated
        never_p_s1 holds
        never_p_s2 holds
        never_p_s3 holds
        never_p_s4 holds
        never_p_s5 violated
        Abstract.reaches_p_a1 violated
        Abstract.reaches_p_a2 violated
        Abstract.reaches_p_a3 holds
        Abstract.reaches_p_fairly_a1 unknown
            `A(<>p)` is lost in state `a2`: `q` is neither true nor false there; split the state so that `q` is known
        Abstract.reaches_p_fairly_a2 unknown
            `A(<>p)` is lost in state `a2`: `q` is neither true nor false there; split the state so that `q` is known
        Abstract.reaches_p_fairly_a3 holds
        Abstract.p_or_not holds
        Abstract.q_or_not_a1 holds
        Abstract.q_or_not_a2 unknown
            `@ a2 -> q || !q` is lost in state `a2`: `q` is neither true nor false there; split the state so that `q` is known
        Abstract.q_or_not_a3 holds
        Abstract.next_not_p_a1 holds
        Abstract.next_not_p_a2 holds
        Abstract.next_not_p_a3 violated
        Abstract.never_p_a1 holds
        Abstract.never_p_a2 holds
        Abstract.never_p_a3 violated"#]].assert_eq(&verdicts(false).join("\n"));
    let naive = verdicts(true);
    let fairly: Vec<&String> = naive
        .iter()
        .filter(|v| v.contains("reaches_p_fairly_a"))
        .collect();
    expect_test::expect![[r#"
        [
            "Abstract.reaches_p_fairly_a1 holds\n    the naive reading of fairness is unsound on abstractions: what holds here may fail in a system that is described",
            "Abstract.reaches_p_fairly_a2 holds\n    the naive reading of fairness is unsound on abstractions: what holds here may fail in a system that is described",
            "Abstract.reaches_p_fairly_a3 holds\n    the naive reading of fairness is unsound on abstractions: what holds here may fail in a system that is described",
        ]
    "#]].assert_debug_eq(&fairly);
}

/// How many answers were true, false and unknown, how many a naive reading of fairness would get
/// wrong, and how many cases have fairness.
fn compare_abstract_answers(half: u64) -> [usize; 5] {
    let (mut n_true, mut n_false, mut n_unknown) = (0, 0, 0);
    let (mut n_naive_wrong, mut n_cases_with_fairness) = (0, 0);
    for seed in (half..).step_by(2) {
        if n_true + n_false >= 10_000 {
            break;
        }
        let mut random = Random::new(seed);
        let concrete = Concrete::random(&mut random, N_ATOMS);
        let formula = random_ctl_star(&mut random, N_ATOMS);
        let fairness = random_fairness(&mut random, N_ATOMS);
        let oracle = concrete.oracle(&fairness);
        let Some(truth) = oracle.and_then(|oracle| oracle.truth(&formula)) else {
            continue;
        };
        n_cases_with_fairness += usize::from(!fairness.is_empty());
        let abstraction = Abstraction::random(&mut random, &concrete);
        for block in 0..abstraction.n_blocks() {
            let described: Vec<bool> = abstraction.described(block).map(|s| truth[s]).collect();
            let system = abstraction.system(&concrete, block);
            let context = || {
                let text = formula.text(&|atom| format!("p{}", atom.0));
                format!("seed {seed}, block {block}, {text}, {fairness:?}")
            };
            match answer(&system, &fairness, &formula, false) {
                Verdict::Holds { .. } => {
                    n_true += 1;
                    assert!(described.iter().all(|t| *t), "{}", context());
                }
                Verdict::Violated(_) => {
                    n_false += 1;
                    assert!(described.iter().all(|t| !*t), "{}", context());
                }
                Verdict::Unknown(_) => n_unknown += 1,
            }
            if fairness.is_empty() {
                continue;
            }
            n_naive_wrong += usize::from(match answer(&system, &fairness, &formula, true) {
                Verdict::Holds { .. } => described.contains(&false),
                Verdict::Violated(_) => described.contains(&true),
                Verdict::Unknown(_) => false,
            });
        }
    }

    [
        n_true,
        n_false,
        n_unknown,
        n_naive_wrong,
        n_cases_with_fairness,
    ]
}

/// Theorem 3.0.6, and what goes wrong without toggling fairness.
#[test]
fn abstract_answers_are_true_of_every_described_state() {
    let [some, others] = halves(compare_abstract_answers);
    let counts: [usize; 5] = std::array::from_fn(|i| some[i] + others[i]);
    let [
        n_true,
        n_false,
        n_unknown,
        n_naive_wrong,
        n_cases_with_fairness,
    ] = counts;

    assert!(
        n_true > 5_000 && n_false > 5_000 && n_unknown > 2_000,
        "{n_true} {n_false} {n_unknown}"
    );
    assert!(n_cases_with_fairness > 10_000, "{n_cases_with_fairness}");
    assert!(n_naive_wrong > 20, "{n_naive_wrong}");
}

/// Definitions 2.0.1, 3.0.4 and 3.0.5 word by word, with toggled annotations instead of normal
/// forms, on systems that abstract nothing in particular.
#[test]
fn answers_agree_with_the_annotated_definition() {
    let (mut n_cases, mut n_unknown) = (0, 0);
    for seed in 0.. {
        if n_cases >= 10_000 {
            break;
        }
        let mut random = Random::new(seed);
        let system = crate::random_abstraction::random_system(&mut random, N_ATOMS);
        let formula = random_ctl_star(&mut random, N_ATOMS);
        let fairness = random_fairness(&mut random, N_ATOMS);
        let holds = crate::random_abstraction::by_definition(&system, &fairness, &formula);
        let fails =
            crate::random_abstraction::by_definition(&system, &fairness, &formula.negated());
        let (Some(holds), Some(fails)) = (holds, fails) else {
            continue;
        };
        n_cases += 1;
        let initial = system.initial()[0] as usize;
        let expected = match (holds[initial], fails[initial]) {
            (true, false) => "holds",
            (false, true) => "violated",
            (false, false) => "unknown",
            (true, true) => panic!("inconsistent: seed {seed}"),
        };
        let text = formula.text(&|atom| format!("p{}", atom.0));
        let found = answer(&system, &fairness, &formula, false);
        assert_eq!(found.name(), expected, "seed {seed}, {text}");
        n_unknown += usize::from(expected == "unknown");
    }

    assert!(n_unknown > 1000, "{n_unknown}");
}

/// Front ends refuse such formulas, but programs can build them.
#[test]
fn past_operators_are_not_supported() {
    let mut random = Random::new(1);
    let concrete = Concrete::random(&mut random, N_ATOMS);
    let system = Abstraction::identity(&concrete).system(&concrete, 0);
    let atom = || Ltl::atom(AtomId::new(0));
    let quantified = |path: Ltl| {
        let mut builder = CtlStarBuilder::default();
        let root = builder.quantify(PathQuantifier::All, path);
        builder.finish(root).expect("it is quantified")
    };
    let looks_back = [
        Ltl::eventually(Ltl::previously(atom())),
        Ltl::always(Ltl::not(Ltl::since(atom(), atom()))),
    ];
    for path in looks_back {
        let formula = quantified(path);
        for verdict in [
            answer(&system, &[], &formula, false),
            answer(&system, &[], &formula.negated(), true),
        ] {
            let Verdict::Unknown(UnknownReason::Unsupported(why)) = verdict else {
                panic!("{verdict:?}");
            };
            assert!(why.contains("past operators"), "{why}");
        }
    }
    let plain = answer(&system, &[], &quantified(Ltl::next(atom())), false);
    assert_ne!(plain.name(), "unknown");
}

/// Lemma 2.0.2.
#[test]
fn rewritten_formulas_get_the_same_answers() {
    let mut n_rewritten = 0;
    for seed in 0..6000 {
        let mut random = Random::new(seed);
        let system = crate::random_abstraction::random_system(&mut random, N_ATOMS);
        let formula = random_ctl_star(&mut random, N_ATOMS);
        let fairness = random_fairness(&mut random, N_ATOMS);
        let other = rewrite(&mut random, &formula);
        n_rewritten += usize::from(other != formula);
        let [a, b] = [&formula, &other].map(|f| answer(&system, &fairness, f, false));
        let text = |f: &logic::CtlStar| f.text(&|atom| format!("p{}", atom.0));
        let context = format!("seed {seed}: {} and {}", text(&formula), text(&other));
        assert_eq!(a.name(), b.name(), "{context}");
    }
    assert!(n_rewritten > 4000, "{n_rewritten}");
}

/// On a system in which everything is known, answers are those of the concrete semantics.
#[test]
fn nothing_is_unknown_where_everything_is_known() {
    for seed in 0..3000 {
        let mut random = Random::new(seed);
        let concrete = Concrete::random(&mut random, N_ATOMS);
        let formula = random_ctl_star(&mut random, N_ATOMS);
        let fairness = random_fairness(&mut random, N_ATOMS);
        let oracle: Option<BranchingOracle> = concrete.oracle(&fairness);
        let Some(truth) = oracle.and_then(|oracle| oracle.truth(&formula)) else {
            continue;
        };
        let exact = Abstraction::identity(&concrete);
        for (state, holds) in truth.into_iter().enumerate() {
            let found = answer(&exact.system(&concrete, state), &fairness, &formula, false);
            let expected = if holds { "holds" } else { "violated" };
            assert_eq!(found.name(), expected, "seed {seed}, state {state}");
        }
    }
}

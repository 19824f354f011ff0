//! Families of processes that are all alike, under fairness: verdicts with and without making use
//! of that.
//!
//! Written at random from a few guards and effects that leave all processes interchangeable, so
//! that, unlike in `random_cases.rs`, nearly every quotient is smaller and many have a single
//! state.

use std::collections::BTreeMap;

use base::{Budget, Fairness, NoProgress, Source};
use check::{Outcome, Plan, Reduction, Reductions, check};
use testkit::{Random, cases, related_text};

const KINDS: [&str; 6] = [
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "annotated",
    "weak-process+annotated",
];

const GUARDS: [&str; 12] = [
    "",
    "",
    "when level == 0",
    "when level == 1",
    "when level > 0",
    "when last == i",
    "when last != i",
    "when level != 1 && last == i",
    "when exists j in 0..N-1 where j != i: P[j].level == 0",
    "when forall j in 0..N-1 where j != i: P[j].level <= 1",
    "when last != i || level == 2",
    "when seen[i]",
];

const EFFECTS: [&str; 11] = [
    "level := 0",
    "level := 1",
    "level := 2",
    "last := i",
    "last := choose 0..N-1",
    "level := 2; last := i",
    "level := 0; last := i",
    "seen[i] := !seen[i]",
    "seen[last] := true; last := i",
    "done := true",
    "level := choose 0..2",
];

const PROPERTIES: [&str; 9] = [
    "eventually done",
    "eventually (forall i in 0..N-1: P[i].level != 1)",
    "always eventually (exists i in 0..N-1: P[i].level == 2)",
    "always eventually (forall i in 0..N-1: P[i].level == 1)",
    "eventually always (exists i in 0..N-1: last == i && P[i].level == 1)",
    "always eventually (exists i in 0..N-1: last == i && !seen[i])",
    "always ((exists i in 0..N-1: seen[i]) -> eventually done)",
    "eventually always !seen[last]",
    "false",
];

fn text(random: &mut Random) -> String {
    let n = 2 + random.below(3);
    let mut steps = String::new();
    for position in 0..2 + random.below(3) {
        let annotation = match random.below(4) {
            0 => "fair ",
            1 => "strong fair ",
            _ => "",
        };
        let (guard, effect) = (random.pick(&GUARDS), random.pick(&EFFECTS));
        steps += &format!("    {annotation}s{position} {guard} {{ {effect} }}\n");
    }
    if random.chance(60) {
        steps += "    prepare when spare < 2 { spare := spare + 1 }\n";
    }
    let first = random.below(2);
    let property = random.pick(&PROPERTIES);
    format!(
        "const N = {n}
var last : 0..N-1 = any
var seen : bool[N] = false
var done : bool = false
process P(i in 0..N-1) {{
    var level : 0..2 = {first}
    var spare : 0..2 = 0
{steps}}}
property p: {property}
"
    )
}

fn decide(text: &str, fairness: &str, reductions: Option<Reductions>) -> Outcome {
    decide_one(text, 0, fairness, reductions)
}

/// Decides the property at a position.
fn decide_one(
    text: &str,
    position: usize,
    fairness: &str,
    reductions: Option<Reductions>,
) -> Outcome {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let diagnostics = &loaded.diagnostics;
    let model = loaded
        .model
        .unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"));
    let plan = Plan {
        fairness: Some(Fairness::parse(fairness).expect("the names are right")),
        reduction: reductions.map_or(Reduction::None, Reduction::Chosen),
        budget: Budget::unlimited().with_max_states(5_000),
        ..Plan::default()
    };
    let outcome = check(&model, &loaded.properties[position], &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{fairness}: {bug}\n{text}"))
}

#[test]
fn verdicts_about_families_that_are_alike() {
    let n_families = cases(1_500);
    let mut n_smaller = BTreeMap::new();
    let mut n_combined = 0;
    for seed in 0..u64::from(n_families) {
        let mut random = Random::new(seed);
        let text = text(&mut random);
        // Under annotations most can be left out.
        let kind = if random.chance(30) {
            "annotated"
        } else {
            *random.pick(&KINDS)
        };
        let full = decide(&text, kind, None);
        if full.verdict.name() == "unknown" {
            continue;
        }
        let mut reductions = Reductions {
            symmetry: true,
            dead_variables: random.chance(30),
            ..Reductions::NONE
        };
        let verdict = full.verdict.name();
        let agreeing = |reductions| {
            let less = decide(&text, kind, Some(reductions));
            let context = format!("seed {seed}, {kind}, {reductions:?}\n{text}");
            // A violation may be met before the limit in one search and not in the other.
            if verdict == "holds" || less.verdict.name() != "unknown" {
                assert_eq!(less.verdict.name(), verdict, "{context}");
            }
            less.stats
        };
        let less = agreeing(reductions);
        if less.reduced && less.n_states < full.stats.n_states {
            *n_smaller.entry((kind, verdict)).or_insert(0) += 1;
        }
        reductions.partial_order = true;
        let least = agreeing(reductions);
        if verdict == "holds" && least.n_states < less.n_states {
            n_combined += 1;
        }
    }

    assert!(n_combined >= n_families / 120, "{n_combined}");
    for kind in KINDS {
        for verdict in ["holds", "violated"] {
            let n_cases = n_smaller.get(&(kind, verdict));
            assert!(
                n_cases.is_some_and(|n| *n >= n_families / 150),
                "{n_smaller:?}"
            );
        }
    }
}

#[test]
fn verdicts_about_processes_that_know_each_other() {
    let (mut n_smaller, mut n_unequal) = (BTreeMap::new(), 0);
    for seed in 0..u64::from(cases(250)) {
        let mut random = Random::new(seed ^ 0x4e1a);
        let text = related_text(&mut random);
        let kind = *random.pick(&["none", "weak-process", "strong", "annotated"]);
        let reductions = Reductions {
            symmetry: true,
            dead_variables: random.chance(30),
            partial_order: random.chance(30),
        };
        for position in 0..4 {
            let full = decide_one(&text, position, kind, None);
            let less = decide_one(&text, position, kind, Some(reductions));
            let (verdict, other) = (full.verdict.name(), less.verdict.name());
            if verdict == "unknown" || (other == "unknown" && verdict != "holds") {
                continue;
            }
            assert_eq!(other, verdict, "seed {seed}, {position}, {kind}\n{text}");
            if less.reduced.symmetry && less.stats.n_states < full.stats.n_states {
                *n_smaller.entry(verdict).or_insert(0) += 1;
            }
            n_unequal += usize::from(!less.reduced.symmetry);
        }
    }
    for verdict in ["holds", "violated"] {
        let n_cases = n_smaller.get(verdict).copied().unwrap_or(0);
        assert!(n_cases > 20, "{n_smaller:?}");
    }
    assert!(n_unequal > 0, "some tell processes apart");
}

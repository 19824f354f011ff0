//! Random programs over small numbers whose variables the route must abstract all the same: what it
//! decides agrees with explicit search. Arrays, channels, events and choices take part.

use base::{Fairness, NoProgress};
use check::Route;
use evidence::Verdict;

use crate::{load, plan};

/// A generator of numbers that needs no crate.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, limit: u64) -> u64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (self.0 >> 33) % limit
    }

    fn pick<'a>(&mut self, choices: &[&'a str]) -> &'a str {
        choices[self.below(choices.len() as u64) as usize]
    }
}

/// What a family of programs is made of.
struct Family {
    declarations: &'static str,
    /// Guards and communications, each as it stands before the effect.
    guards: &'static [&'static str],
    effects: &'static [&'static str],
    safe: &'static [&'static str],
    live: &'static [&'static str],
}

const NUMBERS: Family = Family {
    declarations: "var x, y : 0..3 = 0\nvar flag : bool\n",
    guards: &[
        "when x < y",
        "when x == 0",
        "when x + y >= 3",
        "when flag",
        "when x <= 1 || !flag",
        "",
    ],
    effects: &[
        "x := y",
        "x := if x < 3 then x + 1 else 0",
        "y := 3 - y",
        "y := x; flag := !flag",
        "x := choose 0..3",
        "y := choose v in 0..3 where v >= x",
        "skip",
    ],
    safe: &["x < 3", "x + y <= 5", "flag || x <= y"],
    live: &["P @ b", "x == 0", "y > x"],
};

const ARRAYS: Family = Family {
    declarations: "var t : array[0..2] of 0..3 = [0, 1, 2]\nvar i : 0..2 = 0\n",
    guards: &[
        "when t[i] > 0",
        "when t[0] < t[1]",
        "when i != 2",
        "when forall j in 0..2: t[j] <= 2",
        "",
    ],
    effects: &[
        "t[i] := 3 - t[i]",
        "i := (i + 1) % 3",
        "t[0], t[1] := t[1], t[0]",
        "i := choose 0..2",
        "t[i] := choose 0..3",
        "for j in 0..1 { t[j] := t[j + 1] }",
        "skip",
    ],
    safe: &["t[0] + t[1] <= 5", "t[i] < 3", "exists j in 0..2: t[j] > 0"],
    live: &["Q @ b", "t[2] == 0", "i == 1"],
};

const CHANNELS: Family = Family {
    declarations: "chan c[2] of 0..3\nchan meet of 0..3\nvar x, y : 0..3 = 0\n",
    guards: &[
        "c ! x",
        "c ? y",
        "c ? x",
        "meet ! y",
        "meet ? x",
        "when x != y",
        "when len(c) < 2",
        "",
    ],
    effects: &[
        "x := if x < 3 then x + 1 else 0",
        "y := choose 0..3",
        "y := 3 - y",
        "skip",
    ],
    safe: &["x <= 2", "len(c) < 2", "x + y < 6"],
    live: &["empty(c)", "P @ b", "x == y"],
};

const EVENTS: Family = Family {
    declarations: "event go\nevent stop\nvar x, y : 0..3 = 0\n",
    guards: &["sync go", "sync stop", "when x < y", "when y == 0", ""],
    effects: &["x := if x < 3 then x + 1 else 0", "x := 3 - x", "skip"],
    safe: &["x <= 2", "!(P @ b && Q @ b)", "x + y < 6"],
    live: &["go", "stop", "x == 0"],
};

/// Two processes with two locations, and properties of all kinds.
fn program(family: &Family, numbers: &mut Numbers) -> String {
    let mut text = family.declarations.to_owned();
    for process in ["P", "Q"] {
        text.push_str(&format!("process {process} {{\n    init a\n"));
        for (from, to) in [("a", "b"), ("b", "a")] {
            text.push_str(&format!("    from {from} {{\n"));
            for step in ["s", "t"] {
                let (guard, effect) = (numbers.pick(family.guards), numbers.pick(family.effects));
                // Two participants of one step must not write the same variable.
                let writes_alike =
                    process == "Q" && !guard.starts_with("when") && !guard.is_empty();
                let effect = if writes_alike { "skip" } else { effect };
                let target = if numbers.below(3) == 0 { from } else { to };
                text.push_str(&format!(
                    "        {step} {guard} {{ {effect} }} -> {target}\n"
                ));
            }
            text.push_str("    }\n");
        }
        text.push_str("}\n");
    }
    let (p, q) = (numbers.pick(family.safe), numbers.pick(family.live));
    text.push_str(&format!("property safe: always ({p})\n"));
    text.push_str(&format!(
        "property live: always (Q @ a -> eventually ({q}))\n"
    ));
    text.push_str("deadlockfree\n");
    text
}

/// Compares the verdicts about so many programs of a family.
fn assert_agreement(family: &Family, seed: u64, n_programs: usize) {
    let mut numbers = Numbers(seed);
    let (mut n_decided, mut n_asked) = (0, 0);
    for round in 0..n_programs {
        let text = program(family, &mut numbers);
        let loaded = load(&text);
        let model = loaded.model.expect("loaded");
        let kind = ["none", "weak", "strong", "weak-process"][round % 4];
        for property in &loaded.properties {
            let mut explicit = plan(Route::Explicit);
            explicit.fairness = Fairness::parse(kind);
            let mut abstracted = plan(Route::Predicate);
            abstracted.fairness = Fairness::parse(kind);
            abstracted.predicate.max_kept_values = 2;
            abstracted.predicate.max_refinements = 2;
            let truth = check::check(&model, property, &explicit, &mut NoProgress);
            let answer = check::check(&model, property, &abstracted, &mut NoProgress);
            let (truth, answer) = (truth.expect("right"), answer.expect("right"));
            n_asked += 1;
            if !matches!(answer.verdict, Verdict::Unknown(_)) {
                n_decided += 1;
                let (found, expected) = (answer.verdict.name(), truth.verdict.name());
                assert_eq!(found, expected, "{} under {kind}\n{text}", property.name);
            }
        }
    }
    assert!(n_decided * 3 > n_asked, "{n_decided} of {n_asked} decided");
}

#[test]
fn numbers() {
    assert_agreement(&NUMBERS, 1, 30);
}

#[test]
fn arrays() {
    assert_agreement(&ARRAYS, 2, 20);
}

#[test]
fn channels() {
    assert_agreement(&CHANNELS, 3, 30);
}

#[test]
fn events() {
    assert_agreement(&EVENTS, 4, 180);
}

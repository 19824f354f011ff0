//! Random small families: whatever is claimed for all numbers of processes holds of the instances
//! with up to four processes (which every proof is compared with: a contradiction panics) and five.

#[expect(dead_code, reason = "examples are for the other tests")]
mod parameterized_support;

use evidence::Verdict;
use parameterized_support::{answer, instance};

/// A generator of small numbers, the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
        all[self.roll(all.len())]
    }
}

/// What interleaved families are made of.
struct Shape {
    /// Declarations before the process.
    shared: &'static str,
    places: &'static [&'static str],
    guards: &'static [&'static str],
    effects: &'static [&'static str],
    formulas: &'static [&'static str],
}

/// Guards over all, smaller, larger and other processes; nothing is shared.
const QUANTIFIED: Shape = Shape {
    shared: "",
    places: &["a", "b", "c"],
    guards: &[
        "",
        "",
        "when exists j in 0..N-1: P[j] @ PLACE",
        "when forall j in 0..N-1: j == i || P[j] @ PLACE",
        "when forall j in 0..i-1: !(P[j] @ PLACE)",
        "when !(exists j in i+1..N-1: P[j] @ PLACE)",
        "when i == 0",
        "when i != N-1 && P[i+1] @ PLACE",
    ],
    effects: &[""],
    formulas: &[
        "forall p, q in 0..N-1 where p < q: always !(P[p] @ PLACE && P[q] @ PLACE)",
        "forall p in 0..N-1: always (P[p] @ b -> eventually P[p] @ PLACE)",
        "forall p in 0..N-1: always (P[p] @ PLACE -> always P[p] @ PLACE)",
        "always (exists j in 0..N-1: P[j] @ PLACE)",
        "always !(forall j in 0..N-1: P[j] @ PLACE)",
    ],
};

/// A shared variable that holds an index, and a Boolean one.
const TURN: Shape = Shape {
    shared: "var t : 0..N-1 = any\nvar x : bool = false\n",
    places: &["a", "b"],
    guards: &[
        "",
        "when t == i",
        "when t != i",
        "when t != i && P[t] @ PLACE",
        "when x || P[t] @ PLACE",
        "when exists j in 0..N-1: P[j] @ PLACE",
        "when !x",
    ],
    effects: &[
        "",
        "{ t := i }",
        "{ t := (t + 1) mod N }",
        "{ x := !x }",
        "{ x := true; t := (t + N - 1) mod N }",
        "{ if x { t := i } else { x := true } }",
    ],
    formulas: &[
        "forall p, q in 0..N-1 where p < q: always !(P[p] @ PLACE && P[q] @ PLACE)",
        "forall p in 0..N-1: always eventually P[p] @ PLACE",
        "forall p in 0..N-1: always (t == p -> eventually t != p)",
        "forall p in 0..N-1: always (P[p] @ PLACE -> t == p)",
        "always (x -> always x)",
    ],
};

impl Shape {
    fn fill(&self, dice: &mut Dice, from: &[&str]) -> String {
        let place = dice.pick(self.places);
        dice.pick(from).replace("PLACE", place)
    }

    fn model(&self, dice: &mut Dice) -> String {
        let mut text = format!(
            "param N\n{}process P(i in 0..N-1) {{\n init a\n",
            self.shared
        );
        let mut number = 0;
        for source in self.places {
            text += &format!(" from {source} {{\n");
            for _ in 0..1 + dice.roll(2) {
                let fairness = dice.pick(&["", "", "weak fair ", "strong fair "]);
                let guard = self.fill(dice, self.guards);
                let effect = dice.pick(self.effects);
                let target = dice.pick(self.places);
                text += &format!("  {fairness}s{number} {guard} {effect} -> {target}\n");
                number += 1;
            }
            text += " }\n";
        }
        let formula = self.fill(dice, self.formulas);
        text + &format!("}}\nproperty q: {formula}\n")
    }
}

/// All processes move together, around a ring.
fn synchronous(dice: &mut Dice) -> String {
    let conditions = [
        "t == i",
        "b",
        "P[t].b",
        "exists j in 0..N-1: P[j].b",
        "forall j in 0..i-1: P[j].b",
        "i == 0",
    ];
    let values = [
        "b",
        "!b",
        "b && P[t].b",
        "b || P[t].b",
        "true",
        "false",
        "if t == i then b else P[t].b",
    ];
    let formulas = [
        "forall p in 0..N-1: always (P[p].b -> eventually forall j in 0..N-1: P[j].b)",
        "forall p in 0..N-1: always eventually !P[p].b",
        "always ((exists j in 0..N-1: P[j].b) -> always exists j in 0..N-1: P[j].b)",
        "forall p in 0..N-1: always eventually t == p",
        "forall p in 0..N-1: always (t == p -> next P[p].b)",
        "forall p in 0..N-1: always (P[p].b -> always P[p].b)",
    ];
    let tick = dice.pick(&["t + 1", "t + 1", "t + N - 1", "t"]);
    let start = dice.pick(&["any", "any", "true", "false"]);
    let condition = dice.pick(&conditions);
    let (first, second) = (dice.pick(&values), dice.pick(&values));
    let formula = dice.pick(&formulas);
    format!(
        "param N\nsynchronous\nvar t : 0..N-1 = any
process Clock {{ tick {{ t := ({tick}) mod N }} }}
process P(i in 0..N-1) {{
 var b : bool = {start}
 s0 when {condition} {{ b := {first} }}
 s1 when !({condition}) {{ b := {second} }}
}}
property q: {formula}
"
    )
}

/// Checks so many models; at least a fifth must be proved, and a fifth refuted.
fn never_wrong(n_models: usize, seed: u64, model: impl Fn(&mut Dice) -> String) {
    let mut dice = Dice(seed);
    let (mut n_proved, mut n_refuted) = (0, 0);
    for round in 0..n_models {
        let text = model(&mut dice);
        match answer(&text, "q").outcome.verdict {
            Verdict::Holds { .. } => {
                n_proved += 1;
                let five = instance(&text, "q", 5);
                let is_violated = matches!(five, Some(Verdict::Violated(_)));
                assert!(!is_violated, "{round}: {text}");
            }
            Verdict::Violated(_) => n_refuted += 1,
            Verdict::Unknown(_) => {}
        }
    }
    assert!(5 * n_proved >= n_models, "only {n_proved} proved");
    assert!(5 * n_refuted >= n_models, "only {n_refuted} refuted");
}

#[test]
fn quantified_guards() {
    never_wrong(300, 2024, |dice| QUANTIFIED.model(dice));
}

#[test]
fn turns() {
    never_wrong(300, 2025, |dice| TURN.model(dice));
}

#[test]
fn synchronous_rings() {
    never_wrong(300, 2026, synchronous);
}

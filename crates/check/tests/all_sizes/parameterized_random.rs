//! Random small families: whatever is claimed for all numbers of processes holds of the instances
//! with up to seven processes, and what is violated is so on the instance that is named.

use crate::parameterized_support::{answer, instance, load_instance, source};
use abstraction::parameterized::{Family, Sample, Transition, with_one_range, without_negatives};
use evidence::Verdict;
use model::Scope;
use testkit::cases;

/// Instances up to this number of processes are compared with what is claimed.
const MAX_INSTANCE: i64 = 7;

/// A generator of small numbers, the same in every run.
pub struct Dice(pub u64);

impl Dice {
    pub fn roll(&mut self, n: usize) -> usize {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }

    pub fn pick<'a>(&mut self, all: &[&'a str]) -> &'a str {
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

/// Arrays that are written in loops, also at indices that arrays hold; numbers in guards.
const LOOPS: Shape = Shape {
    shared: "var y : array[0..N-1] of 0..1 = 0\nvar z : array[0..N-1] of 0..2 = 0\nvar done : bool = false\n",
    places: &["a", "b"],
    guards: &[
        "",
        "when !done",
        "when i == 0",
        "when i == 3",
        "when i >= 2 && y[i] == 0",
        "when z[y[i]] == 0",
        "when exists j in 0..N-1: y[j] == 1 && P[j] @ PLACE",
        "when exists j in i-1..i: j >= 0 && y[j] == 0",
        "when N > 4",
    ],
    effects: &[
        "",
        "{ y[i] := 1 }",
        "{ z[i] := 2; done := true }",
        "{ for j in 1..N-1 { y[j] := y[j] }; done := true }",
        "{ for j in 0..N-1 { y[j] := 0 } }",
        "{ for j in 1..N-1 { y[j] := y[j-1] }; done := true }",
        "{ for j in 0..N-1 { if z[j] == 0 { y[j] := 1 } else { z[j] := 0 } } }",
        "{ for j in 1..N-1 { z[j] := z[y[j]] } }",
        "{ for j in 1..N-1 { y[j] := z[y[j-1]] }; done := true }",
        "{ for j in i..N-1 { y[j] := if j < 4 then 1 else 0 } }",
        "{ for j in 0..N-1 { if j < 2 { z[j] := j } }; y[i] := if z[i] == 1 then 1 else 0 }",
        "{ y[y[i]] := 1 }",
    ],
    formulas: &[
        "forall p in 0..N-1: always y[p] == 0",
        "forall p in 5..N-1: always y[p] == 0",
        "forall p in 0..N-1: always z[p] != 1",
        "forall p, q in 0..N-1 where p < q && q > 3: always !(y[p] == 1 && z[q] == 2)",
        "forall p in 0..N-1 where p != 1: always (P[p] @ PLACE -> y[p] == 0)",
        "always (done -> always done)",
        "forall p in 0..N-1: always (P[p] @ b -> p == 0 || p > 2)",
        "forall p in 0..N-1: always (p != N-1 && P[p+1] @ PLACE -> y[p] <= 1)",
    ],
};

/// Two families with the same indices that share an array, and one that points.
fn two_families(dice: &mut Dice) -> String {
    let guards = [
        "",
        "when y[i] == 0",
        "when t == i",
        "when exists j in 0..N-1: Q[j] @ d",
        "when forall j in 0..i-1: P[j] @ b",
        "when i == 2",
        "when P[i] @ b",
    ];
    let effects = [
        "",
        "{ y[i] := 1 }",
        "{ y[t] := 0; t := i }",
        "{ for j in 0..N-1 { y[j] := if P[j] @ b then 1 else y[j] } }",
        "{ for j in 0..N-1 { if Q[j] @ d { y[j] := 0 } } }",
    ];
    let formulas = [
        "forall p in 0..N-1: always (y[p] == 1 -> P[p] @ b)",
        "forall p in 0..N-1: always (Q[p] @ d -> y[p] == 0)",
        "forall p in 0..N-1: always (P[p] @ b -> always P[p] @ b)",
        "forall p, q in 0..N-1 where p < q: always !(Q[p] @ d && Q[q] @ d)",
        "always (t == 0 -> always t == 0)",
        "forall p in 3..N-1: always y[p] == 0",
    ];
    let mut step = || format!("{} {}", dice.pick(&guards), dice.pick(&effects));
    let steps: Vec<String> = (0..4).map(|_| step()).collect();
    let [first, second, third, fourth] = &steps[..] else {
        unreachable!("four steps were made");
    };
    let formula = dice.pick(&formulas);
    format!(
        "param N
var y : array[0..N-1] of 0..1 = 0
var t : 0..N-1 = 0
process P(i in 0..N-1) {{ init a  from a {{ s0 {first} -> b }}  from b {{ s1 {second} -> b }} }}
process Q(i in 0..N-1) {{ init c  from c {{ s2 {third} -> d }}  from d {{ s3 {fourth} -> c }} }}
property q: {formula}
"
    )
}

/// Shared numbers that mostly count processes, flags that start by their index, least sizes.
fn counters(dice: &mut Dice) -> String {
    let guards = [
        "",
        "when c == 0",
        "when c < 2",
        "when u > 0",
        "when f[i]",
        "when c != N",
        "when N - 1 == c",
        "when (count j in 0..N-1: P[j] @ b) < N",
        "when u != 1 && c >= 1",
        "when r > 0",
        "when r == N && !done",
        "when c == 1 && r != 2",
    ];
    let up = [
        "c := c + 1",
        "c := c + 1; u := u - 1",
        "u := u - 1",
        "c := c + 1; f[i] := false",
        "c := c - 1",
        "if c < N { c := c + 1 }",
        "c := c + 1; if c == 1 { done := true }",
        "r := r - 1",
        "r := r - 1; c := c + 1; done := r == 0",
        "r := N - 1",
    ];
    let down = [
        "c := c - 1",
        "c := c - 1; u := u + 1",
        "u := u + 1",
        "c := c - 1; f[i] := true",
        "c := c - 1; if c == 0 { done := false }",
        "if c == 1 { done := false }; c := c - 1",
        "c := 0",
        "r := r + 1",
        "r := r + 1; c := c - 1; done := c > 0 && done",
        "skip",
    ];
    let stay = [
        "f[i] := !f[i]",
        "f[(i + 1) mod N] := true; f[i] := false",
        "c := c + 1; c := c - 1",
        "skip",
        "c := c + 1",
    ];
    let formulas = [
        "forall p, q in 0..N-1 where p < q: always !(P[p] @ b && P[q] @ b)",
        "always (c == 0 -> !(exists j in 0..N-1: P[j] @ b))",
        "always ((count j in 0..N-1: P[j] @ b) <= 2)",
        "forall p in 0..N-1: always (f[p] -> P[p] @ a)",
        "forall p, q in 0..N-1 where p < q: always !(f[p] && f[q])",
        "always (u == 0 -> exists j in 0..N-1: P[j] @ b)",
        "forall p in 0..N-1: always (P[p] @ b -> eventually P[p] @ a)",
        "always (c == N -> forall j in 0..N-1: P[j] @ b)",
        "always (r == 0 -> forall j in 0..N-1: P[j] @ b)",
        "always (done -> exists j in 0..N-1: P[j] @ b)",
        "forall p in 0..N-1: always (P[p] @ b -> done)",
    ];
    let least = dice.pick(&["", "", " >= 2", " >= 3"]);
    let start = dice.pick(&["i == 0", "i != N-1", "i < 2", "true"]);
    let mut step = |effects: &[&'static str]| {
        let fairness = dice.pick(&["", "", "weak fair ", "strong fair "]);
        (fairness, dice.pick(&guards), dice.pick(effects))
    };
    let (first, second, third) = (step(&up), step(&down), step(&stay));
    let text = |name: &str, (fairness, guard, effect): (&str, &str, &str)| {
        format!("{fairness}{name} {guard} {{ {effect} }}")
    };
    let (first, second, third) = (text("s0", first), text("s1", second), text("s2", third));
    let formula = dice.pick(&formulas);
    format!(
        "param N{least}
var c : 0..N = 0
var u : 0..2 = 2
var r : 0..N = N
var done : bool = false
var f : bool[N] = [i in 0..N-1: {start}]
process P(i in 0..N-1) {{ init a  from a {{ {first} -> b }}  from b {{ {second} -> a  {third} }} }}
property q: {formula}
"
    )
}

/// Local variables and array elements that hold an index: nested, compared, passed on.
fn index_values(dice: &mut Dice) -> String {
    let guards = [
        "",
        "when j == i",
        "when j < i",
        "when j != N-1",
        "when t == j",
        "when y[j]",
        "when !y[i]",
        "when x[i] == 0",
        "when x[i] == i + 1",
        "when x[j] < x[i]",
        "when P[j].j == i",
        "when i > 0 && x[i-1] != x[i]",
        "when forall k in 0..N-1: k == i || x[k] <= x[i]",
        "when exists k in 0..N-1: k != i && P[k].j == i && P[k] @ b",
    ];
    let effects = [
        "j := i",
        "j := t",
        "t := j",
        "j := (j + 1) mod N",
        "y[j] := true",
        "y[i] := true; j := 0",
        "y[i] := false",
        "x[i] := j",
        "x[j] := i",
        "x[i] := if x[i] < N then x[i] + 1 else 0",
        "x[(i + 1) mod N] := x[i]",
        "j := P[j].j; t := i",
        "if y[j] { j := 0 } else { y[i] := true }",
        "x[i] := i + 1; if x[j] > i { j := i }",
    ];
    let formulas = [
        "forall p, q in 0..N-1 where p < q: always !(P[p] @ b && P[q] @ b)",
        "forall p in 0..N-1: always (P[p] @ b -> y[p])",
        "forall p in 0..N-1: always (P[p].j == 0 || P[p].j == p)",
        "forall p in 0..N-1: always (P[p].j <= p)",
        "forall p, q in 0..N-1 where p < q: always (P[q].j != p || P[p].j != q)",
        "forall p in 0..N-1: always x[p] != N",
        "forall p in 0..N-1: always (P[p] @ b -> x[p] <= P[p].j)",
        "always (forall k in 0..N-1: x[k] <= k + 1)",
        "forall p in 0..N-1: always (P[p] @ b -> eventually P[p] @ a)",
        "forall p in 0..N-1: always (P[p].j == p -> always P[p].j == p)",
    ];
    let start = dice.pick(&["0", "i", "any"]);
    let mut step = |name: &str| {
        let fairness = dice.pick(&["", "", "weak fair ", "strong fair "]);
        let (guard, effect) = (dice.pick(&guards), dice.pick(&effects));
        format!("{fairness}{name} {guard} {{ {effect} }}")
    };
    let (first, second) = (step("s0"), step("s1"));
    let formula = dice.pick(&formulas);
    format!(
        "param N
var t : 0..N-1 = 0
var y : bool[N] = false
var x : array[0..N-1] of 0..N = 0
process P(i in 0..N-1) {{ var j : 0..N-1 = {start}
 init a  from a {{ {first} -> b }}  from b {{ {second} -> a }} }}
property q: {formula}
"
    )
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

/// Populations: pairs meet, tokens and opinions wander; what fair runs end in.
fn populations(dice: &mut Dice) -> String {
    let opinions = ["x", "y", "z"];
    let guards = ["", "j != i && ", "j == i + 1 && ", "j < i && ", "i > 0 && "];
    let starts = [
        "x",
        "any",
        "[k in 0..N-1: if k == 0 then x else y]",
        "[k in 0..N-1: if k < 2 then z else x]",
    ];
    let formulas = [
        "eventually always (forall k in 0..N-1: o[k] != PLACE)",
        "always eventually (exists k in 0..N-1: o[k] == PLACE)",
        "eventually (count k in 0..N-1: o[k] == PLACE) == 1",
        "eventually always (count k in 0..N-1: o[k] == PLACE) <= 1",
        "always ((exists k in 0..N-1: o[k] == PLACE) -> eventually forall k in 0..N-1: o[k] == PLACE)",
        "eventually always ((forall k in 0..N-1: o[k] == x) || (forall k in 0..N-1: o[k] == PLACE))",
        "forall p in 0..N-1: always eventually o[p] == PLACE",
        "forall p in 0..N-1: always (o[p] == x -> eventually o[p] == PLACE)",
        "forall p in 0..N-1: eventually always o[p] != PLACE",
    ];
    let mut steps = String::new();
    for number in 0..2 + dice.roll(2) {
        let guard = dice.pick(&guards);
        let [own, other, new, changed] = [(); 4].map(|()| dice.pick(&opinions));
        steps += &format!(
            " s{number}(j in 0..N-1) when {guard}o[i] == {own} && o[j] == {other} {{ o[j] := {changed}; o[i] := {new} }}\n"
        );
    }
    let (start, place) = (dice.pick(&starts), dice.pick(&opinions));
    let formula = dice.pick(&formulas).replace("PLACE", place);
    format!(
        "param N
enum Opinion {{ x, y, z }}
var o : array[0..N-1] of Opinion = {start}
process P(i in 0..N-1) {{
{steps}}}
property q under strong-global: {formula}
"
    )
}

/// Tokens that wander on a line or ring, under strong global fairness.
fn wandering(dice: &mut Dice) -> String {
    let effects = [
        "{ t[i] := false; t[(i + 1) mod N] := true }",
        "{ t[i] := false; t[(i + N - 1) mod N] := true }",
        "{ t[i] := !t[(i + 1) mod N]; at := i }",
        "{ t[i] := false; t[at] := true }",
        "{ at := (at + 1) mod N }",
        "{ at := i; t[i] := false }",
    ];
    let guards = [
        "when t[i]",
        "when at == i",
        "when t[i] && at != i",
        "when t[i] && t[(i + 1) mod N]",
        "when i > 0 && !t[i-1] && t[i]",
        "when at == i && !t[i]",
    ];
    let formulas = [
        "forall p in 0..N-1: always eventually t[p]",
        "forall p in 0..N-1: always eventually at == p",
        "forall p in 0..N-1: always (t[p] -> eventually !t[p])",
        "eventually always (count k in 0..N-1: t[k]) <= 1",
        "eventually (count k in 0..N-1: t[k]) == 0",
        "eventually always (forall k in 0..N-1: t[k])",
        "always eventually (exists k in 0..N-1: t[k])",
        "forall p in 0..N-1: eventually always (at == p -> t[p])",
        "forall p in 0..N-1: (always eventually at == p) -> always eventually t[p]",
    ];
    let start = dice.pick(&[
        "any",
        "true",
        "[k in 0..N-1: k == 0]",
        "[k in 0..N-1: k != 0]",
    ]);
    let mut steps = String::new();
    for number in 0..1 + dice.roll(3) {
        let (guard, effect) = (dice.pick(&guards), dice.pick(&effects));
        steps += &format!(" s{number} {guard} {effect}\n");
    }
    let formula = dice.pick(&formulas);
    format!(
        "param N
var t : bool[N] = {start}
var at : 0..N-1 = any
process P(i in 0..N-1) {{
{steps}}}
property q under strong-global: {formula}
"
    )
}

/// Rings in which processes wait for their neighbours, under fairness of actions.
fn waiting(dice: &mut Dice) -> String {
    let guards = [
        "",
        "when i == 0",
        "when i != 0",
        "when i > 0 && P[i-1] @ PLACE",
        "when i == 0 || P[i-1] @ PLACE",
        "when i == N-1 || P[i+1] @ PLACE",
        "when P[(i + 1) mod N] @ PLACE",
        "when forall j in 0..N-1: j == i || !(P[j] @ PLACE)",
    ];
    let formulas = [
        "always eventually P[p] @ PLACE",
        "always (P[p] @ a -> eventually P[p] @ PLACE)",
        "always (P[p] @ b -> eventually !(P[p] @ b))",
        "eventually P[p] @ PLACE",
        "eventually always P[p] @ PLACE",
        "always eventually P[p].s0",
    ];
    let places = ["a", "b", "c"];
    let mut steps = String::new();
    for (number, source) in places.iter().enumerate() {
        let guard = dice.pick(&guards).replace("PLACE", dice.pick(&places));
        let target = dice.pick(&places);
        steps += &format!(" from {source} {{ s{number} {guard} -> {target} }}\n");
    }
    let kind = dice.pick(&["weak", "strong", "strong", "strong-global"]);
    let range = dice.pick(&["0..N-1", "0..N-1", "1..N-1", "0..N-2"]);
    let formula = dice.pick(&formulas).replace("PLACE", dice.pick(&places));
    format!(
        "param N\nprocess P(i in 0..N-1) {{\n init a\n{steps}}}\nproperty q under {kind}: forall p in {range}: {formula}\n"
    )
}

/// Checks so many models; at least the given share (in percent) must be proved, and refuted.
pub fn never_wrong(
    n_models: u32,
    seed: u64,
    least: (usize, usize),
    model: impl Fn(&mut Dice) -> String,
) {
    let mut dice = Dice(seed);
    let (mut n_proved, mut n_refuted) = (0, 0);
    let n_models = cases(n_models) as usize;

    for round in 0..n_models {
        let text = model(&mut dice);
        let answer = answer(&text, "q");
        match answer.outcome.verdict {
            Verdict::Holds { .. } => {
                n_proved += 1;
                for value in 1..=MAX_INSTANCE {
                    let verdict = instance(&text, "q", value);
                    let is_violated = matches!(verdict, Some(Verdict::Violated(_)));
                    assert!(!is_violated, "{round}, N = {value}: {text}");
                }
            }
            Verdict::Violated(_) => {
                n_refuted += 1;
                let value = answer.instance.expect("an instance is named");
                let verdict = instance(&text, "q", value);
                let is_violated = matches!(verdict, Some(Verdict::Violated(_)));
                assert!(is_violated, "{round}, N = {value}: {text}");
            }
            Verdict::Unknown(_) => {}
        }
    }

    println!("{n_models} models, {n_proved} proved, {n_refuted} refuted");
    let (proved, refuted) = least;
    assert!(
        100 * n_proved >= proved * n_models,
        "only {n_proved} proved"
    );
    assert!(
        100 * n_refuted >= refuted * n_models,
        "only {n_refuted} refuted"
    );
}

#[test]
fn quantified_guards() {
    never_wrong(100, 2024, (20, 20), |dice| QUANTIFIED.model(dice));
}

#[test]
fn turns() {
    never_wrong(100, 2025, (20, 20), |dice| TURN.model(dice));
}

#[test]
fn synchronous_rings() {
    never_wrong(100, 2026, (20, 20), synchronous);
}

#[test]
fn loops_and_nested_indices() {
    never_wrong(40, 2027, (5, 20), |dice| LOOPS.model(dice));
}

#[test]
fn several_families() {
    never_wrong(30, 2028, (5, 20), two_families);
}

#[test]
fn counted_processes() {
    never_wrong(60, 2029, (5, 20), counters);
}

#[test]
fn indices_of_every_process() {
    never_wrong(3, 2030, (20, 0), index_values);
}

/// Steps that a formula describes between states of small instances, and steps of these instances.
pub fn described_steps(text: &str) -> usize {
    let loaded = lang::load(source(text), &source::Options::default());
    let Some(family) = loaded.family() else {
        return 0;
    };
    let (template, scope) = (&family.template, Scope::default());
    let (template, scope) = with_one_range(template, &scope).unwrap_or((template.clone(), scope));
    let natural = without_negatives(&template, &scope);
    let template = natural.map_or(template, |(template, _)| template);
    let Ok(family) = Family::new(&template) else {
        return 0;
    };
    let mut n_steps = 0;
    for value in 1..=3 {
        let Some((model, _)) = load_instance(text, "q", value) else {
            continue;
        };
        let mut states = model.initial_states().unwrap_or_default();
        states.truncate(30);
        let mut next = 0;
        while next < states.len() && states.len() < 60 {
            for successor in model.successors(&states[next]).unwrap_or_default() {
                if !states.contains(&successor.target) {
                    states.push(successor.target);
                }
            }
            next += 1;
        }
        let sample = |state| Sample::new(&family.system, &model, value, state).unwrap();
        let samples: Vec<Sample> = states.iter().map(sample).collect();

        for (state, before) in states.iter().zip(&samples) {
            // Where a step fails, formulas need not be exact.
            let Ok(successors) = model.successors(state) else {
                continue;
            };
            for (target, after) in states.iter().zip(&samples) {
                let first = family.system.first;
                let is_step = |transition: &Transition| {
                    (first..=before.last).any(|actor| {
                        let vars = [(family.actor, actor)];
                        before.leads_to(after, &family.system, &transition.relation, &vars)
                    })
                };
                let is_described = family.transitions.iter().any(is_step);
                let is_real = successors.iter().any(|step| step.target == *target);
                assert_eq!(is_described, is_real, "N = {value}: {text}");
                n_steps += usize::from(is_real);
            }
        }
    }
    n_steps
}

/// What is possible must really be: a proof under strong global fairness rests on it.
#[test]
fn formulas_of_steps_are_exact() {
    let mut dice = Dice(2033);
    let mut n_steps = 0;
    for _ in 0..cases(12) {
        for text in [
            populations(&mut dice),
            wandering(&mut dice),
            waiting(&mut dice),
            TURN.model(&mut dice),
            LOOPS.model(&mut dice),
            two_families(&mut dice),
            synchronous(&mut dice),
        ] {
            n_steps += described_steps(&text);
        }
    }
    assert!(n_steps > 500, "{n_steps} steps");
}

#[test]
fn random_populations() {
    never_wrong(40, 2030, (5, 15), populations);
}

#[test]
fn wandering_tokens() {
    never_wrong(40, 2031, (2, 15), wandering);
}

#[test]
fn waiting_for_neighbours() {
    never_wrong(40, 2032, (10, 15), waiting);
}

//! Random small families that are rewritten before they are abstracted: numbers that are claimed to
//! count processes of several kinds, index variables below 0, families of different size, arrays
//! assigned as a whole, and what holds of all processes from some time on.

use crate::parameterized_random::{Dice, described_steps, never_wrong};
use crate::parameterized_support::{abstract_answer, ask_with, instance};
use base::Budget;
use check::Plan;
use evidence::Verdict;
use testkit::cases;

/// Proofs without a look at any instance, most of which would be refuted by the smallest ones if they
/// were wrong, are compared with instances afterwards.
fn proves_nothing_wrong(
    n_models: u32,
    seed: u64,
    least: usize,
    model: impl Fn(&mut Dice) -> String,
) {
    let mut dice = Dice(seed);
    let mut n_proved = 0;
    let n_models = cases(n_models) as usize;
    let budget = Budget::unlimited().with_trial_states(4_000);
    let plan = Plan {
        budget: budget.with_max_memory(32 << 20),
        ..Plan::default()
    };
    for round in 0..n_models {
        let text = model(&mut dice);
        let answer = ask_with(&text, "q", false, &|_| None, &plan);
        if !matches!(answer.outcome.verdict, Verdict::Holds { .. }) {
            continue;
        }
        n_proved += 1;
        for value in 1..=4 {
            let verdict = instance(&text, "q", value);
            let is_violated = matches!(verdict, Some(Verdict::Violated(_)));
            assert!(!is_violated, "{round}, N = {value}: {text}");
        }
    }
    println!("{n_models} models, {n_proved} proved");
    assert!(100 * n_proved >= least * n_models, "only {n_proved} proved");
}

/// Two families that change one number, set it, or forget to.
fn claims(dice: &mut Dice) -> String {
    let guards = [
        "",
        "",
        "when c == 0",
        "when c == 1",
        "when c < 2",
        "when c > 0",
        "when !x",
        "when x && c <= 1",
        "when forall j in 0..N-1: !(P[j] @ b)",
    ];
    let up = [
        "c := c + 1",
        "c := c + 1; x := true",
        "c := 1",
        "if c == 0 { c := 1; x := true } else { c := c + 1 }",
        "if x { c := c + 1 }",
        "c := 2",
        "skip",
        "c := c + 1; if c == 2 { x := false }",
    ];
    let down = [
        "c := c - 1",
        "c := c - 1; if c == 0 { x := false }",
        "c := 0",
        "if c == 1 { c := 0; x := false } else { c := c - 1 }",
        "c := 0; x := false",
        "c := 1",
    ];
    let other = ["skip", "c := 0", "x := !x", "c := 1", "if x { c := c + 1 }"];
    let formulas = [
        "always (c == 0 -> forall p in 0..N-1: !(P[p] @ b))",
        "always (c == (count j in 0..N-1: P[j] @ b))",
        "always ((count j in 0..N-1: P[j] @ b) <= 2)",
        "always !(exists j in FIRST..LAST: Q[j] @ d && c == 0)",
        "forall p in 0..N-1: always (P[p] @ b -> eventually P[p] @ a)",
        "eventually always (c == 0 || x)",
        "always (x -> c > 0)",
        "eventually always forall p in 0..N-1: P[p] @ a",
    ];
    let (first, last) = [("0", "N-1"), ("1", "N-1"), ("0", "N"), ("1", "N")][dice.roll(4)];
    let mut step = |name: &str, effects: &[&'static str]| {
        let fairness = dice.pick(&["", "", "weak fair ", "strong fair "]);
        format!(
            "{fairness}{name} {} {{ {} }}",
            dice.pick(&guards),
            dice.pick(effects)
        )
    };
    let (s0, s1, s2) = (step("s0", &up), step("s1", &down), step("s2", &other));
    let (s3, s4) = (step("s3", &up), step("s4", &down));
    let most = dice.pick(&["2", "3", "N"]);
    let formula = dice
        .pick(&formulas)
        .replace("FIRST", first)
        .replace("LAST", last);
    let (s3, s4) = if dice.roll(2) == 0 {
        ("s3".to_owned(), "s4".to_owned())
    } else {
        (s3, s4)
    };
    format!(
        "param N
var c : 0..{most} = 0
var x : bool = false
process P(i in 0..N-1) {{ init a  from a {{ {s0} -> b  {s2} }}  from b {{ {s1} -> a }} }}
process Q(i in {first}..{last}) {{ init c  from c {{ {s3} -> d }}  from d {{ {s4} -> c }} }}
property q: {formula}
"
    )
}

/// Index variables that say with -1 that there is none, and arrays and families that begin later.
fn negatives(dice: &mut Dice) -> String {
    let guards = [
        "",
        "when o == -1",
        "when o == i",
        "when o >= 0 && P[o] @ b",
        "when o < i",
        "when h[i] == -1",
        "when o != -1 && o != i",
        "when h[i] == o",
        "when i > 0 && f[i]",
        "when f[1]",
    ];
    let effects = [
        "o := i",
        "o := -1",
        "o := o - 1",
        "o := h[i]; h[i] := -1",
        "h[i] := o",
        "o := (i + 1) mod N",
        "f := false",
        "f := [k in 1..N-1: k < i]",
        "if i > 0 { f[i] := !f[i] }",
        "h := -1; o := i",
        "o := o + 1",
    ];
    let formulas = [
        "forall p, q in 0..N-1 where p < q: always !(P[p] @ b && P[q] @ b)",
        "forall p in 0..N-1: always (P[p] @ b -> o == p)",
        "always (o == -1 -> !(exists j in 0..N-1: P[j] @ b))",
        "forall p in 1..N-1: always (f[p] -> o >= 0)",
        "forall p in 0..N-1: always (h[p] == -1 || o != -1)",
        "always (o < N)",
        "eventually always forall p in 1..N-1: !f[p]",
        "forall p in 1..N-1: always (R[p] @ d -> eventually R[p] @ c)",
    ];
    let mut step = |name: &str| {
        let fairness = dice.pick(&["", "", "weak fair ", "strong fair "]);
        format!(
            "{fairness}{name} {} {{ {} }}",
            dice.pick(&guards),
            dice.pick(&effects)
        )
    };
    let (s0, s1, s2) = (step("s0"), step("s1"), step("s2"));
    let other = dice.pick(&[
        "when f[i] { f[i] := false }",
        "when o == i",
        "{ o := i - 2 }",
    ]);
    let (start, array) = (
        dice.pick(&["-1", "0", "any"]),
        dice.pick(&["-1", "-2", "0"]),
    );
    let formula = dice.pick(&formulas);
    format!(
        "param N >= 2
var o : -1..N-1 = {start}
var h : array[0..N-1] of -2..N-1 = {array}
var f : array[1..N-1] of bool = false
process P(i in 0..N-1) {{ init a  from a {{ {s0} -> b }}  from b {{ {s1} -> a  {s2} }} }}
process R(i in 1..N-1) {{ init c  from c {{ r0 {other} -> d }}  from d {{ r1 -> c }} }}
property q: {formula}
"
    )
}

/// Waves and other changes on a line or ring from 1 to N that may come to an end.
fn settling(dice: &mut Dice) -> String {
    let guards = [
        "v[i] < v[(i mod N) + 1]",
        "i > 1 && v[i] < v[i-1]",
        "i > 1 && v[i] != v[i-1]",
        "v[i] == 0",
        "v[i] == 1 && w[i]",
        "w[i] != w[((i - 2 + N) mod N) + 1]",
        "v[i] == v[((i + 1) mod N) + 1]",
    ];
    let effects = [
        "v[i] := 1",
        "v[i] := 2",
        "w[i] := !w[i]",
        "w[i] := true",
        "v[i] := v[(i mod N) + 1]",
        "w := false; v[i] := 0",
        "v[i] := 2; w[i] := false",
    ];
    let formulas = [
        "eventually always forall p in 1..N: v[p] == 2",
        "eventually always forall p in 1..N: w[p]",
        "eventually always forall p in 2..N: v[p] == v[p-1]",
        "eventually always !(exists p in 1..N: v[p] == 0)",
        "always (x -> eventually always forall p in 1..N: v[p] > 0)",
        "eventually always forall p, q in 1..N: v[p] <= v[q] || w[p]",
        "forall p in 1..N: eventually always v[p] == 2",
    ];
    // Most of these come to an end.
    let both = [
        "when v[i] < 2 { v[i] := 2 }",
        "when !w[i] { w[i] := true }",
        "when w[i] && v[i] == 0 { v[i] := 1; w[i] := false }",
        "when v[i] < v[(i mod N) + 1] { v[i] := v[(i mod N) + 1] }",
        "when i > 1 && v[i] != v[i-1] { v[i] := v[i-1] }",
        "when i > 1 && v[i] < v[i-1] { v[i] := v[i-1] }",
    ];
    let mut step = |name: &str| {
        let fairness = dice.pick(&["", "weak fair ", "strong fair "]);
        let rest = match dice.roll(4) {
            0 => format!("when {} {{ {} }}", dice.pick(&guards), dice.pick(&effects)),
            _ => dice.pick(&both).to_owned(),
        };
        format!("{fairness}{name} {rest}")
    };
    let (s0, s1) = (step("s0"), step("s1"));
    let formula = dice.pick(&formulas);
    format!(
        "param N
var v : array[1..N] of 0..2 = any
var w : array[1..N] of bool = any
var x : bool = any
process P(i in 1..N) {{ {s0}  {s1} }}
property q: {formula}
"
    )
}

#[test]
fn numbers_that_are_claimed_to_count() {
    never_wrong(30, 3001, (5, 20), claims);
    proves_nothing_wrong(60, 3005, 5, claims);
}

#[test]
fn indices_below_zero_and_smaller_families() {
    never_wrong(4, 3002, (5, 20), negatives);
    proves_nothing_wrong(10, 3006, 5, negatives);
}

#[test]
fn what_holds_of_all_from_some_time_on() {
    never_wrong(20, 3003, (5, 20), settling);
    proves_nothing_wrong(12, 3007, 5, settling);
}

/// A rewritten template has the steps of the instances, no more and no less.
#[test]
fn formulas_of_rewritten_steps_are_exact() {
    let mut dice = Dice(3004);
    let (n_rounds, mut n_steps) = (cases(30), 0);
    for _ in 0..n_rounds {
        for text in [claims(&mut dice), negatives(&mut dice), settling(&mut dice)] {
            n_steps += described_steps(&text);
        }
    }
    assert!(n_steps > 60 * n_rounds as usize, "{n_steps}");
}

/// Each of these is false, and would be proved if one condition of a rewriting, or of what follows from
/// it, were left out.
#[test]
fn what_is_rewritten_proves_nothing_wrong() {
    let counted = |step: &str| {
        format!(
            "param N  var c : 0..2 = 0  var x : bool = any
             process P(i in 0..N-1) {{ init a
               from a {{ s0 {step} -> b  s1 when c < 2 {{ c := c + 1 }} -> b }}
               from b {{ s2 when c > 0 {{ c := c - 1 }} -> a }} }}
             property q: always (c == 0 -> forall p in 0..N-1: !(P[p] @ b))"
        )
    };
    let wrong = [
        counted("when c < 2 { if x { c := c + 1 } }"),
        counted("when c == 1 { if x { c := c + 1 } else { c := c - 1 } }"),
        counted("when c < 2 { c := 0 }"),
        "param N  var o : -1..N-1 = -1
         process P(i in 0..N-1) { s { o := o + 1 } }
         property q: always o >= -1"
            .to_owned(),
        "param N >= 2  var f : array[1..N-1] of bool = false  var x : bool = false
         process P(i in 0..N-1) { s when !f[i] { skip } }
         property q: always !x"
            .to_owned(),
        "param N  var v : bool[N] = any
         process P(i in 0..N-1) { s { if v[i] { v[i] := false } } }
         property q: eventually !(exists j in 0..N-1: v[j])
         abstract only for q { some: exists j in 0..N-1: v[j]  ranking r(i): v[i] }"
            .to_owned(),
        "param N >= 3  var t : 1..N = 1
         process P(i in 1..N) { s when i == 1 { t := ((i - 2 + N) mod N) + 1 } }
         property q: always t != N"
            .to_owned(),
        "param N  var v : bool[N] = false
         process P(i in 0..N-1) { s when !v[i] { v[i] := true } }
         property q: eventually always !(exists p in 0..N-1: v[p])"
            .to_owned(),
    ];
    for text in wrong {
        let verdict = abstract_answer(&text, "q").outcome.verdict;
        assert!(!matches!(verdict, Verdict::Holds { .. }), "{text}");
        let is_violated = |value| matches!(instance(&text, "q", value), Some(Verdict::Violated(_)));
        assert!((1..=4).any(is_violated), "{text}");
    }
}

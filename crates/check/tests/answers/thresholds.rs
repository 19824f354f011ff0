//! Threshold automata: examples, models with known answers, and random ones against the explicit route
//! on all small counter systems.

use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use base::{NoProgress, Route, Source};
use check::{Outcome, Plan, check, check_thresholds};
use evidence::{Confidence, UnknownReason, Verdict};
use logic::NamedProperty;
use model::threshold::ThresholdAutomaton;
use smt::Embedded;
use source::{Content, FrontEnd as _, Memory, Options};
use testkit::{Random, cases};

/// How long the solver may think about a question.
const PATIENCE: Duration = Duration::from_secs(2);

/// An automaton with its properties.
struct Asked {
    automaton: ThresholdAutomaton,
    properties: Vec<NamedProperty>,
}

impl Asked {
    fn read(text: &str) -> Self {
        let source = Source {
            name: "test.ta".to_owned(),
            text: text.to_owned(),
        };
        let files = Memory::default();
        let loaded = ta::ThresholdAutomata.load(source, &files, &Options::default());
        let Some(Content::Threshold(mut automata)) = loaded.content else {
            panic!("{:?}\n{text}", loaded.diagnostics);
        };
        let questions = loaded.questions.into_iter();
        Self {
            automaton: automata.swap_remove(0),
            properties: questions.map(|question| question.property).collect(),
        }
    }

    fn check(&self, property: &NamedProperty) -> Outcome {
        check_thresholds(&self.automaton, property, &plan(), &mut NoProgress).unwrap()
    }

    /// What the explicit route says for values of the parameters.
    fn search(&self, values: &[i64], property: &NamedProperty) -> Verdict {
        let parts = self.automaton.counter_system(values, None).unwrap();
        let model = parts.finish().unwrap();
        let plan = Plan::default();
        check(&model, property, &plan, &mut NoProgress)
            .unwrap()
            .verdict
    }
}

/// What the formula alone says, by the embedded solver.
fn plan() -> Plan {
    patient_plan(PATIENCE)
}

pub(crate) fn patient_plan(patience: Duration) -> Plan {
    Plan {
        no_cross_check: true,
        predicate: check::predicate::Options {
            solver: Arc::new(move || Box::new(Embedded::new(patience))),
            ..Default::default()
        },
        ..Plan::default()
    }
}

fn example(name: &str) -> Asked {
    let path = format!(
        "{}/../../examples/threshold/{name}.ta",
        env!("CARGO_MANIFEST_DIR")
    );
    Asked::read(&std::fs::read_to_string(path).unwrap())
}

fn verdicts(asked: &Asked) -> Vec<(&str, &'static str)> {
    let properties = asked.properties.iter();
    let verdict = |property: &NamedProperty| asked.check(property).verdict.name();
    properties
        .map(|property| (property.name.as_str(), verdict(property)))
        .collect()
}

#[test]
fn enough_correct_processes_broadcast_reliably() {
    let asked = example("reliable_broadcast");
    let expected = [
        ("unforgeable", "holds"),
        ("correct", "holds"),
        ("relayed", "holds"),
    ];
    assert_eq!(verdicts(&asked), expected);
}

#[test]
fn one_faulty_process_too_many_breaks_liveness() {
    let asked = example("too_few");
    let expected = [
        ("unforgeable", "holds"),
        ("correct", "holds"),
        ("relayed", "violated"),
    ];
    assert_eq!(verdicts(&asked), expected);
}

#[test]
fn votes_can_be_even() {
    let asked = example("majority_with_crashes");
    let expected = [
        ("valid0", "holds"),
        ("agreed", "holds"),
        ("ends", "violated"),
        ("unanimous", "holds"),
    ];
    assert_eq!(verdicts(&asked), expected);
}

#[test]
fn violations_are_replayed_and_small() {
    let asked = example("too_few");
    let outcome = asked.check(&asked.properties[2]);
    assert_eq!(outcome.route, Route::Schemas);
    assert_eq!(outcome.rests_on().confidence, Some(Confidence::Replayed));
    assert_eq!(outcome.remarks, ["for N = 3, T = 1, F = 1"]);
}

#[test]
fn proofs_say_what_they_rest_on() {
    let asked = example("reliable_broadcast");
    let outcome = asked.check(&asked.properties[0]);
    assert_eq!(
        outcome.remarks[0],
        "for all N, T, F that satisfy the assumptions"
    );
    assert_eq!(outcome.solvers.len(), 1);
    assert_eq!(outcome.solvers[0].answers, 1);
}

/// A graph with these rules, two initial locations, a counter `x` and two parameters.
fn small(rules: &str, specifications: &str) -> Asked {
    Asked::read(&format!(
        "skel S {{ shared x; parameters N, T;
            assumptions (0) {{ N > 2 * T; }}
            locations (0) {{ a: [0]; b: [1]; c: [2]; d: [3]; }}
            inits (0) {{ a + b == N; c == 0; d == 0; x == 0; }}
            rules (0) {{ {rules} }}
            specifications (0) {{ {specifications} }} }}"
    ))
}

#[test]
fn what_is_not_decided_is_unknown() {
    let cycle =
        "0: a -> b when (true) do { unchanged(x); }; 1: b -> a when (true) do { unchanged(x); };";
    let asked = small(cycle, "p: [](c == 0);");
    let outcome = asked.check(&asked.properties[0]);
    let Verdict::Unknown(UnknownReason::Unsupported(why)) = &outcome.verdict else {
        panic!("{:?}", outcome.verdict);
    };
    assert!(why.contains("cycle"), "{why}");

    let line = "0: a -> c when (x >= T) do { x' == x + 1; };";
    let asked = small(line, "p: !([](a == 0 || <>(c != 0)));");
    let outcome = asked.check(&asked.properties[0]);
    // Small counter systems are searched all the same.
    assert!(outcome.is_violated(), "{:?}", outcome.verdict);
}

#[test]
fn guards_that_fall_are_true_up_to_their_last_use() {
    // Exactly T processes pass: each needs to see fewer than T.
    let rules =
        "0: a -> c when (x < T) do { x' == x + 1; }; 1: b -> b when (true) do { unchanged(x); };";
    let asked = small(
        rules,
        "some: [](c < T); few: [](c <= T); after: [](c == T -> [](x == T));",
    );
    let expected = [("some", "violated"), ("few", "holds"), ("after", "holds")];
    assert_eq!(verdicts(&asked), expected);
}

#[test]
fn runs_without_steps_stay() {
    // Without a loop at `b` a run ends there, and its last configuration is repeated.
    let rules = "0: a -> b when (true) do { unchanged(x); };";
    let asked = small(
        rules,
        "leaves: <>(a == 0); ends: [](b != 0 || a != 0 || N == 0); stays: [](a == 0);",
    );
    let expected = [
        ("leaves", "holds"),
        ("ends", "holds"),
        ("stays", "violated"),
    ];
    assert_eq!(verdicts(&asked), expected);
}

#[test]
fn automata_without_runs_are_reported() {
    let asked = Asked::read(
        "skel S { shared x; parameters N; assumptions (0) { N > 1; N < 1; }
            locations (0) { a: [0]; } inits (0) { a == N; x == 0; } rules (0) { }
            specifications (0) { p: [](x == 1); } }",
    );
    let outcome = asked.check(&asked.properties[0]);
    assert_eq!(outcome.verdict.name(), "holds");
    assert_eq!(outcome.warnings[0].code, "vacuous");
}

/// A random automaton without cycles but for loops, with rising and falling guards.
fn random_automaton(random: &mut Random) -> String {
    let n_locations = 3 + random.below(2);
    let n_shared = 1 + random.below(2);
    let shared: Vec<String> = (0..n_shared).map(|i| format!("x{i}")).collect();
    let mut text = format!("skel R {{ shared {}; parameters N, T; ", shared.join(", "));
    let resilience = random.pick(&["N > 2 * T", "N > 3 * T", "N >= T", "N == 2 * T + 1"]);
    let _ = write!(
        text,
        "assumptions (0) {{ {resilience}; N > 0; }} locations (0) {{ "
    );
    for location in 0..n_locations {
        let _ = write!(text, "l{location}: [{location}]; ");
    }
    let total = random.pick(&["N", "N - T", "N"]);
    let _ = write!(text, "}} inits (0) {{ l0 + l1 == {total}; ");
    for location in 2..n_locations {
        let _ = write!(text, "l{location} == 0; ");
    }
    for name in &shared {
        let _ = write!(text, "{name} == 0; ");
    }

    text.push_str("} rules (0) { ");
    // Some have so many guards that facts about them are asked first.
    let most = if random.chance(20) { 7 } else { 4 };
    let n_rules = 2 + random.below(most);
    random_crashes(random, n_locations, &shared, &mut text);
    for number in 0..n_rules {
        let source = random.below(n_locations - 1);
        let target = source + 1 + random.below(n_locations - 1 - source);
        let guard = random_guard(random, &shared);
        let _ = write!(
            text,
            "{number}: l{source} -> l{target} when ({guard}) do {{ "
        );
        for name in &shared {
            let amount = random.pick(&["", "", " + 1", " + 1", " + 2"]);
            let _ = write!(text, "{name}' == {name}{amount}; ");
        }
        text.push_str("}; ");
    }
    for location in 0..n_locations {
        if random.chance(70) {
            let guard = if random.chance(80) {
                "true".to_owned()
            } else {
                random_guard(random, &shared)
            };
            let shared = shared.join(", ");
            let _ = write!(
                text,
                "9: l{location} -> l{location} when ({guard}) do {{ unchanged({shared}); }}; "
            );
        }
    }

    text.push_str("} specifications (0) { ");
    for number in 0..4 {
        let formula = random_property(random, n_locations, &shared);
        let _ = write!(text, "p{number}: {formula}; ");
    }
    text.push_str("} }");
    text
}

/// Rules that stop processes, up to a number of them: guards that their own uses make false. Some only
/// look like that.
fn random_crashes(random: &mut Random, n_locations: usize, shared: &[String], text: &mut String) {
    if !random.chance(50) {
        return;
    }
    let counter = &shared[shared.len() - 1];
    let limit = random.pick(&["T", "T", "1", "N - T"]);
    let last = n_locations - 1;
    for source in 0..last {
        let amount = random.pick(&["+ 1", "+ 1", "+ 1", "+ 1", "+ 2", "+ 0"]);
        let _ = write!(
            text,
            "8: l{source} -> l{last} when ({counter} < {limit}) do {{ {counter}' == {counter} {amount}; "
        );
        for other in &shared[..shared.len() - 1] {
            let _ = write!(text, "{other}' == {other}; ");
        }
        text.push_str("}; ");
    }
}

fn random_guard(random: &mut Random, shared: &[String]) -> String {
    let one = |random: &mut Random| {
        if random.chance(20) {
            return "true".to_owned();
        }
        let counter = random.pick(shared).clone();
        let sum = match random.below(4) {
            0 => format!("2 * {counter}"),
            1 => shared.join(" + "),
            _ => counter,
        };
        let sign = random.pick(&[">=", ">=", ">", "<", "<=", "==", "!="]);
        let bound = random.pick(&[
            "1", "2", "T", "T + 1", "N - T", "N", "N - 1", "2 * T", "N + 1",
        ]);
        format!("{sum} {sign} {bound}")
    };
    let first = one(random);
    match random.below(6) {
        0 => format!("{first} && {}", one(random)),
        1 => format!("{first} || {}", one(random)),
        _ => first,
    }
}

fn random_atom(random: &mut Random, n_locations: usize, shared: &[String]) -> String {
    let location = random.below(n_locations);
    match random.below(8) {
        0 => {
            let counter = random.pick(shared);
            let sign = random.pick(&[">=", "<", "=="]);
            let bound = random.pick(&["1", "2", "T", "N - T", "N"]);
            format!("{counter} {sign} {bound}")
        }
        1 => format!("l{location} >= l{}", random.below(n_locations)),
        2 => format!("l{location} + l{} < N", random.below(n_locations)),
        3 | 4 => format!("l{location} != 0"),
        _ => format!("l{location} == 0"),
    }
}

fn random_condition(random: &mut Random, n_locations: usize, shared: &[String]) -> String {
    let first = random_atom(random, n_locations, shared);
    let second = random_atom(random, n_locations, shared);
    match random.below(4) {
        0 => format!("({first} && {second})"),
        1 => format!("({first} || {second})"),
        _ => format!("({first})"),
    }
}

/// Formulas as authors of `.ta` files write them, and others of the fragment.
fn random_property(random: &mut Random, n_locations: usize, shared: &[String]) -> String {
    let mut condition = || random_condition(random, n_locations, shared);
    let (p, q, r) = (condition(), condition(), condition());
    match random.below(12) {
        0 | 1 => format!("[]{p}"),
        2 | 3 => format!("{p} -> []{q}"),
        4 => format!("[]({p} -> []{q})"),
        5 => format!("[]({p} -> <>{q})"),
        6 => format!("<>[]{p} -> <>{q}"),
        7 => format!("<>[]{p} -> []({q} -> <>{r})"),
        8 => format!("({p} && []{q}) -> <>{r}"),
        9 => format!("[]<>{p} || <>[]{q}"),
        10 => format!("<>{p} -> <>({q} && <>{r})"),
        _ => format!("<>({p} || []{q})"),
    }
}

#[test]
fn random_automata_agree_with_all_small_counter_systems() {
    agree_with_all_small_counter_systems(0..cases(8));
}

/// Others, so that two threads have something to do.
#[test]
fn more_random_automata_agree_with_all_small_counter_systems() {
    agree_with_all_small_counter_systems(1_000_000..1_000_000 + cases(8));
}

fn agree_with_all_small_counter_systems(seeds: Range<u32>) {
    let (mut decided, mut n_silent) = ([0; 3], 0);
    for seed in seeds {
        let text = random_automaton(&mut Random::new(u64::from(seed)));
        let asked = Asked::read(&text);
        for property in &asked.properties {
            let verdict = asked.check(property).verdict;
            let small = small_violation(&asked, property);
            match (&verdict, small) {
                (Verdict::Holds { .. }, Some(values)) => {
                    panic!("{} is violated for {values:?}:\n{text}", property.name)
                }
                (Verdict::Holds { .. }, None) => decided[0] += 1,
                // Replayed by the judge; it may need more processes than were searched.
                (Verdict::Violated(_), _) => decided[1] += 1,
                // How far the solver comes in its time says nothing about the method.
                (Verdict::Unknown(UnknownReason::SolverGaveUp), _) => n_silent += 1,
                (Verdict::Unknown(_), _) => decided[2] += 1,
            }
        }
    }

    let [n_holds, n_violated, n_unknown] = decided;
    println!(
        "{n_holds} hold, {n_violated} violated, {n_unknown} unknown, {n_silent} without an answer"
    );
    assert!(n_holds > 0 && n_violated > 0);
    assert!(10 * n_unknown <= n_holds + n_violated + n_unknown);
}

/// Parameters up to 5 for which the explicit route finds a violation.
fn small_violation(asked: &Asked, property: &NamedProperty) -> Option<Vec<i64>> {
    for n in 0..=5 {
        for t in 0..=n {
            let values = vec![n, t];
            if asked.automaton.admits(&values)
                && matches!(asked.search(&values, property), Verdict::Violated(_))
            {
                return Some(values);
            }
        }
    }
    None
}

#[test]
fn guards_that_their_own_uses_make_false_need_no_cut() {
    // At most T processes crash, in any order with the others.
    let rules = "0: a -> c when (x < T) do { x' == x + 1; };
        1: b -> c when (x < T) do { x' == x + 1; };
        2: a -> d when (true) do { unchanged(x); }; 3: d -> d when (true) do { unchanged(x); };";
    let asked = small(
        rules,
        "few: [](c <= T); fewer: [](c < T || T == 0); all: <>(c == T); one: [](c == 0 || T > 0);
         waits: <>[](a == 0 && b == 0) -> <>(d > c);",
    );
    let expected = [
        ("few", "holds"),
        ("fewer", "violated"),
        ("all", "violated"),
        ("one", "holds"),
        // More than 2 T processes, of which at most T crash.
        ("waits", "holds"),
    ];
    assert_eq!(verdicts(&asked), expected);
}

/// A sketch with two coefficients between 0 and 2, and what it is to satisfy.
fn random_sketch(random: &mut Random) -> String {
    let total = random.pick(&["N", "N - T"]);
    let resilience = random.pick(&["N > 2 * T", "N > 3 * T", "N >= T"]);
    let guard = random.pick(&["x >= k * T + l", "2 * x >= k * N + l", "x >= N - k * T - l"]);
    let other = random.pick(&["x < k * T", "x >= l", "x + l > T", "true"]);
    let safe = random.pick(&[
        "(a == 0) -> [](d == 0)",
        "[](d == 0 || x >= T)",
        "[](c <= k * N + T)",
        "k + l > 0",
    ]);
    let live = random.pick(&[
        "<>[](a == 0 && (x < k * T + l || b == 0)) -> <>(d != 0)",
        "<>[](a == 0 && b == 0) -> [](c == 0 || <>(d >= l))",
        "<>(a == 0 || x <= k * N)",
    ]);
    format!(
        "skel S {{ shared x; parameters N, T; unknowns k, l;
            assumptions (0) {{ {resilience}; N > 0; 0 <= k; k <= 2; 0 <= l; l <= 2; }}
            locations (0) {{ a: [0]; b: [1]; c: [2]; d: [3]; }}
            inits (0) {{ a + b == {total}; c == 0; d == 0; x == 0; }}
            rules (0) {{
                0: a -> c when (true) do {{ x' == x + 1; }};
                1: b -> c when ({guard}) do {{ x' == x + 1; }};
                2: c -> d when ({other}) do {{ unchanged(x); }};
                3: b -> b when (true) do {{ unchanged(x); }}; 3: c -> c when (true) do {{ unchanged(x); }};
                3: d -> d when (true) do {{ unchanged(x); }}; }}
            specifications (0) {{ safe: {safe}; live: {live}; }} }}"
    )
}

#[test]
fn coefficients_are_found_as_by_trying_all() {
    let (mut n_some, mut n_none) = (0, 0);
    for seed in 0..cases(10) {
        let text = random_sketch(&mut Random::new(u64::from(seed)));
        let source = Source {
            name: "test.ta".to_owned(),
            text: text.clone(),
        };
        let read = ta::read_sketch(&source, &Options::default()).unwrap();
        let plan = plan();
        let found = check::synthesise(&read.sketch, &read.properties, &plan, true, &mut NoProgress);
        let mut found = found.unwrap();
        found.solutions.sort();

        let mut tried = Vec::new();
        for k in 0..=2 {
            for l in 0..=2 {
                let automaton = read.sketch.instance(&[k, l]).unwrap();
                let properties = read.properties.clone();
                let asked = Asked {
                    automaton,
                    properties,
                };
                if verdicts(&asked)
                    .iter()
                    .all(|(_, verdict)| *verdict == "holds")
                {
                    tried.push(vec![k, l]);
                }
            }
        }
        assert!(found.is_complete, "{found:?}\n{text}");
        assert_eq!(found.solutions, tried, "{text}");
        if tried.is_empty() {
            n_none += 1;
        } else {
            n_some += 1;
        }
    }
    println!("{n_some} with coefficients, {n_none} without");
    assert!(n_some > 0 && n_none > 0);
}

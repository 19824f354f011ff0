//! Native models with several free parameters: twins of threshold automata, and random ones against
//! instances, in which processes have names and fairness is what its definition says.

use std::fmt::Write as _;
use std::ops::Range;
use std::time::Duration;

use base::{Fairness, FairnessKind, NoProgress, Route, Source};
use check::{Outcome, Plan, check, check_thresholds};
use evidence::{UnknownReason, Verdict};
use logic::NamedProperty;
use model::threshold::ThresholdAutomaton;
use source::{Content, Loaded, Options};
use testkit::{Random, cases};

use crate::thresholds::patient_plan;

fn load(text: &str, values: &[(&str, i64)]) -> Loaded {
    let source = Source {
        name: "test.fair".to_owned(),
        text: text.to_owned(),
    };
    let define = |(name, value): &(&str, i64)| ((*name).to_owned(), value.to_string());
    let defines = values.iter().map(define).collect();
    let options = Options {
        defines,
        ..Options::default()
    };
    lang::load(source, &options)
}

/// Each question with its automaton.
fn asked(text: &str) -> Vec<(ThresholdAutomaton, NamedProperty)> {
    let loaded = load(text, &[]);
    let Some(Content::Threshold(automata)) = loaded.content else {
        panic!("{:?}\n{text}", loaded.diagnostics);
    };
    let questions = loaded.questions.into_iter();
    let pair = |question: source::Question| (automata[question.system].clone(), question.property);
    questions.map(pair).collect()
}

fn check_all(asked: &(ThresholdAutomaton, NamedProperty), fairness: Option<Fairness>) -> Outcome {
    check_for(asked, fairness, Duration::from_secs(300))
}

fn check_for(
    (automaton, property): &(ThresholdAutomaton, NamedProperty),
    fairness: Option<Fairness>,
    patience: Duration,
) -> Outcome {
    let plan = Plan {
        fairness,
        ..patient_plan(patience)
    };
    check_thresholds(automaton, property, &plan, &mut NoProgress).unwrap()
}

/// What the search of an instance says about a property; nothing if there is no such instance.
fn search(
    text: &str,
    values: &[(&str, i64)],
    name: &str,
    fairness: Option<Fairness>,
) -> Option<Verdict> {
    let loaded = load(text, values);
    let mut questions = loaded.questions.iter();
    let question = questions.find(|question| question.property.name == name)?;
    let plan = Plan {
        fairness,
        route: Some(Route::Explicit),
        ..Plan::default()
    };
    let model = &loaded.systems()[0].model;
    let outcome = check(model, &question.property, &plan, &mut NoProgress).unwrap();
    Some(outcome.verdict)
}

fn verdicts(text: &str, fairness: Option<Fairness>) -> Vec<(String, &'static str)> {
    let verdict = |asked: &(ThresholdAutomaton, NamedProperty)| {
        let outcome = check_all(asked, fairness);
        (asked.1.name.clone(), outcome.verdict.name())
    };
    asked(text).iter().map(verdict).collect()
}

fn example(name: &str) -> String {
    let path = format!(
        "{}/../../examples/threshold/{name}.fair",
        env!("CARGO_MANIFEST_DIR")
    );
    std::fs::read_to_string(path).unwrap()
}

fn as_expected(name: &str, expected: &[(&str, &str)]) {
    let found = verdicts(&example(name), None);
    let found = found.iter().map(|(name, verdict)| (&**name, *verdict));
    assert_eq!(found.collect::<Vec<_>>(), expected);
}

#[test]
fn enough_correct_processes_broadcast_reliably() {
    let expected = [
        ("unforgeable", "holds"),
        ("correct", "holds"),
        ("relayed", "holds"),
        ("relayed_to_each", "holds"),
    ];
    as_expected("reliable_broadcast", &expected);
}

#[test]
fn one_faulty_process_too_many_breaks_liveness() {
    let text = example("reliable_broadcast").replace("N > 3 * T", "N >= 3 * T");
    let found = verdicts(&text, None);
    let verdicts: Vec<&str> = found.iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, ["holds", "holds", "violated", "violated"]);
}

#[test]
fn nothing_is_relayed_without_fairness() {
    let found = verdicts(&example("reliable_broadcast"), Some(Fairness::NONE));
    let verdicts: Vec<&str> = found.iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, ["holds", "violated", "violated", "violated"]);
}

#[test]
fn votes_can_be_even() {
    let expected = [
        ("valid0", "holds"),
        ("agreed", "holds"),
        ("ends", "violated"),
        ("unanimous", "holds"),
    ];
    as_expected("majority_with_crashes", &expected);
}

#[test]
fn everyone_commits_or_everyone_aborts() {
    let expected = [
        ("agreed", "holds"),
        ("only_if_all_agree", "holds"),
        ("not_without_cause", "holds"),
        ("ends", "holds"),
        ("commits", "violated"),
    ];
    as_expected("atomic_commitment", &expected);
}

/// A process that may stay where it is forever, under a notion of fairness.
fn waits(steps: &str, fairness: FairnessKind) -> &'static str {
    let text = format!(
        "param N >= 1\nparam T >= 0\ninit N > T\nvar x : nat = 0
         process P(i in 1..N) {{ init a\nfrom a {{ {steps} }}\nend b }}
         property leaves: eventually forall i in 1..N: P[i] @ b"
    );
    verdicts(&text, Some(Fairness::of(fairness)))[0].1
}

#[test]
fn notions_of_fairness_differ_where_they_do() {
    let only = "go -> b";
    let other = "go -> b; wait { skip }";
    let same = "go -> b; go { skip }";
    let all = FairnessKind::ALL.map(|kind| {
        let of = |steps| waits(steps, kind);
        (kind.name(), [of(only), of(other), of(same)])
    });
    let (no, yes) = ("violated", "holds");
    let expected = [
        // A run goes on as long as it can.
        ("none", [yes, no, no]),
        ("just", ["unknown"; 3]),
        ("weak-process", [yes, no, no]),
        ("strong-process", [yes, no, no]),
        ("weak", [yes, yes, no]),
        ("strong", [yes, yes, no]),
        ("strong-global", [yes, yes, yes]),
    ];
    assert_eq!(all, expected);
}

#[test]
fn what_the_end_of_a_run_does_not_decide_is_unknown() {
    let text = |steps: &str| {
        format!(
            "param N >= 1\nparam T >= 0\nvar x : nat = 0
             process P(i in 1..N) {{ init a\nfrom a {{ {steps} }}\nfrom b {{ back -> a }} }}
             property leaves: eventually exists i in 1..N: P[i] @ b"
        )
    };
    let weak = Some(Fairness::of(FairnessKind::Weak));
    let outcome = check_all(&asked(&text("go -> b"))[0], weak);
    let Verdict::Unknown(UnknownReason::Unsupported(why)) = &outcome.verdict else {
        panic!("{:?}", outcome.verdict);
    };
    assert!(why.contains("return to a location"), "{why}");
    let counting = text("count { x += 1 }").replace("back -> a", "");
    let outcome = check_all(&asked(&counting)[0], weak);
    assert_eq!(outcome.verdict.name(), "unknown");
}

#[test]
fn a_single_process_is_not_two() {
    let text = "param N >= 1\nparam T >= 0\ninit N == T + 1\nvar x : nat = 0
        process P(i in 1..N-T) { init a\nfrom a { go { x += 1 } -> b }\nend b }
        invariant alone: forall i, j in 1..N-T where i != j: !(P[i] @ b && P[j] @ b)
        property together: eventually exists i, j in 1..N-T where i != j: P[i] @ b && P[j] @ b";
    let found = verdicts(text, None);
    let verdicts: Vec<&str> = found.iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, ["holds", "violated"]);
}

#[test]
fn assumptions_exclude_runs() {
    let text = "param N >= 1\nparam T >= 0\nvar x : nat = 0
        process P(i in 1..N) { init a\nfrom a { go { x += 1 } -> b; wait { skip } }\nend b }
        assume eventually always x >= 1
        property some: eventually exists i in 1..N: P[i] @ b
        property all: eventually x >= N
        invariant few: x <= N";
    let found = verdicts(text, None);
    let verdicts: Vec<&str> = found.iter().map(|(_, verdict)| *verdict).collect();
    assert_eq!(verdicts, ["holds", "violated", "holds"]);
}

/// Another family, or a single process, beside the random one, and what is said about it.
const OTHERS: [(&str, [&str; 4]); 2] = [
    (
        "process Q(k in 1..N) {\n init m0\n from m0 { c when GUARD { x += 1 } -> m1\n d when exists j in 1..LAST: P[j] @ l1 -> m2 }\n end m1, m2\n}\n",
        [
            "(exists k in 1..N: Q[k] @ m1)",
            "(exists i in 1..LAST, k in 1..N: P[i] @ l1 && Q[k] @ m1)",
            "(forall k in 1..N: Q[k] @ m1 || (exists i in 1..LAST: P[i] @ l2))",
            "((count k in 1..N: Q[k] @ m0) < (count i in 1..LAST: P[i] @ l0))",
        ],
    ),
    (
        "process Q {\n var n : 0..2 = 0\n init m0\n from m0 { c when n < 2 && GUARD { n += 1; y += 1 } -> m0\n d when n > 0 -> m1 }\n end m1\n}\n",
        [
            "Q @ m1",
            "(Q.n > 0 || x > 0)",
            "(Q @ m0 && (exists i in 1..LAST: P[i] @ l1))",
            "(forall i in 1..LAST: P[i] @ l0 || Q.n == 1)",
        ],
    ),
];

/// A random family with variables, counters and annotations, and questions about it.
fn random_model(random: &mut Random) -> String {
    let n_locations = 3 + random.below(2);
    let has_flag = random.chance(40);
    let resilience = random.pick(&["N > 2 * T", "N > 3 * T", "N >= T", "N == 2 * T + 1"]);
    let last = *random.pick(&["N", "N-T", "N"]);
    let mut text = format!(
        "param N >= 1\nparam T >= 0\ninit {resilience}\nvar x : nat = 0\nvar y : nat = {}\n",
        random.below(2)
    );
    let _ = write!(text, "process P(i in 1..{last}) {{\n  init l0, l1\n");
    if has_flag {
        let start = random.pick(&["false", "any"]);
        let _ = writeln!(text, "  var seen : bool = {start}");
    }
    for source in 0..n_locations {
        let _ = writeln!(text, "  from l{source} {{");
        let n_steps = usize::from(source + 1 < n_locations) + random.below(2);
        for _ in 0..n_steps {
            random_step(random, (source, n_locations), has_flag, last, &mut text);
        }
        if random.chance(30) {
            let _ = writeln!(
                text,
                "    stay when {}",
                random_guard(random, has_flag, last)
            );
        }
        text.push_str("  }\n");
    }
    text.push_str("}\n");
    let other = random.chance(40).then(|| random.pick(&OTHERS));
    if let Some((other, _)) = other {
        let guard = random.pick(&["true", "x >= T", "x + y < N", "x >= N - T"]);
        text += &other.replace("GUARD", guard).replace("LAST", last);
    }
    if random.chance(15) {
        text.push_str("assume eventually always x >= 1\n");
    }
    for number in 0..3 {
        let mut formula = random_property(random, n_locations, last);
        // Names that range over processes outside of temporal operators stand in front of everything.
        if let Some((_, atoms)) = other
            && !formula.starts_with("forall")
        {
            let atom = random.pick(atoms).replace("LAST", last);
            formula = if random.chance(50) {
                format!("({formula}) && always {atom}")
            } else {
                format!("({formula}) || eventually {atom}")
            };
        }
        let _ = writeln!(text, "property p{number}: {formula}");
    }
    text
}

fn random_step(
    random: &mut Random,
    (source, n_locations): (usize, usize),
    has_flag: bool,
    last: &str,
    text: &mut String,
) {
    let mark = random.pick(&["", "", "weak fair ", "strong fair ", "weak fair choice "]);
    let name = random.pick(&["a", "b", "stay"]);
    let guard = random_guard(random, has_flag, last);
    let mut effect = String::new();
    let is_last = source + 1 == n_locations;
    if !is_last {
        effect += random.pick::<&str>(&[
            "",
            "x += 1 ",
            "x += 1 ",
            "y += 2 ",
            "x += 1; y := y + x - x + 1 ",
        ]);
        if random.chance(20) {
            effect += "if x >= T + 1 { y += 1 } ";
        }
        if has_flag && random.chance(50) {
            effect += random.pick::<&str>(&[
                "seen := true ",
                "seen := !seen ",
                "let c = choose bool; seen := c ",
            ]);
        }
    }
    let target = if is_last {
        source
    } else {
        source + 1 + random.below(n_locations - 1 - source)
    };
    let _ = writeln!(
        text,
        "    {mark}{name} when {guard} {{ {effect}}} -> l{target}"
    );
}

fn random_guard(random: &mut Random, has_flag: bool, last: &str) -> String {
    let one = |random: &mut Random| match random.below(12) {
        0 | 1 => "true".to_owned(),
        2 if has_flag => "seen".to_owned(),
        3 if has_flag => "(!seen || x >= T)".to_owned(),
        4 => format!("(exists j in 1..{last}: j != i && P[j] @ l1)"),
        _ => {
            let sum = random.pick(&["x", "x", "y", "2 * x", "x + y"]);
            let sign = random.pick(&[">=", ">=", ">", "<", "=="]);
            let bound = random.pick(&["1", "T", "T + 1", "N - T", "N", "2 * T"]);
            format!("{sum} {sign} {bound}")
        }
    };
    let first = one(random);
    match random.below(6) {
        0 => format!("{first} && {}", one(random)),
        1 => format!("{first} || {}", one(random)),
        _ => first,
    }
}

fn random_atom(random: &mut Random, n_locations: usize, last: &str) -> String {
    let mut location = || format!("l{}", random.below(n_locations));
    let (a, b) = (location(), location());
    match random.below(9) {
        0 => format!("(count i in 1..{last}: P[i] @ {a}) >= 2"),
        1 => format!("(count i in 1..{last}: P[i] @ {{{a}, {b}}}) < N"),
        2 => random
            .pick(&["x >= T + 1", "y < 2", "x + y >= N"])
            .to_string(),
        3 => format!("(forall i, j in 1..{last}: !(P[i] @ {a} && P[j] @ {b}))"),
        4 => format!("(exists i, j in 1..{last} where i != j: P[i] @ {a} && P[j] @ {b})"),
        5 | 6 => format!("(forall i in 1..{last}: P[i] @ {a})"),
        _ => format!("(exists i in 1..{last}: P[i] @ {a})"),
    }
}

fn random_property(random: &mut Random, n_locations: usize, last: &str) -> String {
    let mut atom = || random_atom(random, n_locations, last);
    let (p, q) = (atom(), atom());
    let (a, b) = (random.below(n_locations), random.below(n_locations));
    match random.below(9) {
        0 => format!("always {p}"),
        1 => format!("{p} -> always {q}"),
        2 | 3 => format!("eventually {p}"),
        4 => format!("always ({p} -> eventually {q})"),
        5 => format!("eventually always {p}"),
        6 => format!("forall i in 1..{last}: P[i] @ l{a} -> eventually P[i] @ l{b}"),
        7 => {
            format!("forall i in 1..{last}: always (P[i] @ l{a} && {p} -> eventually !P[i] @ l{a})")
        }
        _ => {
            format!("forall i in 1..{last}: always (P[i] @ l{a} -> {p}) || eventually P[i] @ l{b}")
        }
    }
}

#[test]
fn random_models_agree_with_all_small_instances() {
    agree_with_all_small_instances(0..cases(8));
}

/// Others, so that two threads have something to do.
#[test]
fn more_random_models_agree_with_all_small_instances() {
    agree_with_all_small_instances(1_000_000..1_000_000 + cases(8));
}

fn agree_with_all_small_instances(seeds: Range<u32>) {
    let mut counts = [0; 4];
    for seed in seeds {
        let mut random = Random::new(u64::from(seed));
        let text = random_model(&mut random);
        let fairness = random_fairness(&mut random);
        for asked in &asked(&text) {
            let outcome = check_for(asked, fairness, Duration::from_secs(2));
            let name = &asked.1.name;
            let found = small_violation(&text, name, fairness);
            match &outcome.verdict {
                Verdict::Holds { .. } => {
                    assert_eq!(found, None, "{name} {fairness:?} seed {seed}:\n{text}");
                    counts[0] += 1;
                }
                Verdict::Violated(_) => {
                    counts[1] += 1;
                    check_violated(&text, name, fairness, &outcome.sample_values);
                }
                Verdict::Unknown(UnknownReason::SolverGaveUp) => counts[3] += 1,
                Verdict::Unknown(_) => counts[2] += 1,
            }
        }
    }
    let [n_holds, n_violated, n_unknown, n_silent] = counts;
    println!(
        "{n_holds} hold, {n_violated} violated, {n_unknown} unknown, {n_silent} without an answer"
    );
    assert!(n_holds > 0 && n_violated > 0);
    assert!(2 * n_unknown <= n_holds + n_violated + n_unknown);
}

fn random_fairness(random: &mut Random) -> Option<Fairness> {
    let kinds = [
        FairnessKind::None,
        FairnessKind::WeakProcess,
        FairnessKind::StrongProcess,
        FairnessKind::Weak,
        FairnessKind::Strong,
        FairnessKind::StrongGlobal,
    ];
    let kind = *random.pick(&kinds);
    let annotated = random.chance(30);
    random.chance(70).then_some(Fairness {
        annotated,
        ..Fairness::of(kind)
    })
}

/// What is violated for these values of the parameters is violated in that instance.
fn check_violated(text: &str, name: &str, fairness: Option<Fairness>, values: &[i64]) {
    let [n, t] = values[..] else {
        panic!("{values:?}");
    };
    if n <= 5 {
        let verdict = search(text, &[("N", n), ("T", t)], name, fairness);
        let verdict = verdict.map(|verdict| verdict.name());
        let shown = format!("{name} {fairness:?} N = {n}, T = {t}:\n{text}");
        assert_eq!(verdict, Some("violated"), "{shown}");
    }
}

/// Parameters up to 4 for which an instance violates the property.
fn small_violation(text: &str, name: &str, fairness: Option<Fairness>) -> Option<(i64, i64)> {
    // Instances with other processes besides have many more states.
    let most = if text.contains("process Q") { 3 } else { 4 };
    let all = (1..=most).flat_map(|n| (0..=n).map(move |t| (n, t)));
    let mut all = all.filter(|(n, t)| {
        let verdict = search(text, &[("N", *n), ("T", *t)], name, fairness);
        matches!(verdict, Some(Verdict::Violated(_)))
    });
    all.next()
}

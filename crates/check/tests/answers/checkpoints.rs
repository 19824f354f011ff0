//! Checks that are stopped at random points and go on give the same answer as if they had not been.

use std::sync::{Arc, Mutex};

use base::{Budget, Checkpoints, Fairness, NoProgress, Span, StopReason};
use check::{Outcome, Plan, Reduction, Reductions, check};
use evidence::{UnknownReason, Verdict};
use logic::{Ltl, NamedProperty, Property, classify};
use model::Model;
use testkit::{ModelShape, Random, cases, random_formula, random_model};

/// Keeps the last state in memory; due every few times that it is asked.
#[derive(Debug, Default)]
struct Memory {
    kept: Mutex<Option<(u64, Vec<u64>)>>,
    n_asked: Mutex<u32>,
}

impl Checkpoints for Memory {
    fn is_due(&self) -> bool {
        let mut n_asked = self.n_asked.lock().expect("no panic");
        *n_asked += 1;
        n_asked.is_multiple_of(3)
    }

    fn keep(&self, search: u64, state: &[u64]) -> bool {
        *self.kept.lock().expect("no panic") = Some((search, state.to_vec()));
        true
    }

    fn take(&self, search: u64) -> Option<Vec<u64>> {
        let mut kept = self.kept.lock().expect("no panic");
        kept.take_if(|kept| kept.0 == search).map(|kept| kept.1)
    }
}

fn outcome(model: &Model, property: &NamedProperty, plan: &Plan) -> Outcome {
    let checked = check(model, property, plan, &mut NoProgress);
    checked.unwrap_or_else(|bug| panic!("{bug}"))
}

/// Everything about an outcome that must not depend on stops.
fn summary(outcome: &Outcome) -> (String, u64, u64, Option<u64>) {
    let verdict = match &outcome.verdict {
        Verdict::Violated(violation) => format!("violated {}", violation.trace.is_some()),
        other => other.name().to_owned(),
    };
    let stats = &outcome.stats;
    (
        verdict,
        stats.n_states,
        stats.n_transitions,
        stats.n_product_states,
    )
}

#[test]
fn stopped_checks_go_on_where_they_were() {
    let mut n_stops = 0;
    for seed in 0..4_000 {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose][random.below(3)];
        let model = random_model(&mut random, shape);
        let property = match random.below(4) {
            0 => Property::DeadlockFree,
            1 => classify(Ltl::always(random_formula(&mut random, 8, 0))),
            _ => classify(random_formula(&mut random, 8, 3)),
        };
        let property = NamedProperty {
            name: "p".into(),
            text: String::new(),
            property,
            fairness: None,
            span: Span::nowhere(),
        };
        let kinds = ["none", "weak", "strong", "strong-process", "annotated"];
        let reduction = if random.chance(30) {
            Reduction::ALL
        } else {
            Reduction::None
        };
        let plan = Plan {
            fairness: Fairness::parse(kinds[random.below(kinds.len())]),
            reduction,
            budget: Budget::unlimited().with_max_states(3_000),
            ..Plan::default()
        };
        let whole = outcome(&model, &property, &plan);
        if matches!(whole.verdict, Verdict::Unknown(_)) {
            continue;
        }
        let memory = Arc::new(Memory::default());
        let mut limit = random.below(20) as u64;
        let resumed = loop {
            let plan = Plan {
                checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
                budget: Budget::unlimited().with_max_states(limit),
                ..plan.clone()
            };
            let outcome = outcome(&model, &property, &plan);
            let stopped = Verdict::Unknown(UnknownReason::Stopped(StopReason::StateLimit));
            if outcome.verdict != stopped {
                break outcome;
            }
            n_stops += 1;
            limit += 1 + random.below(60) as u64;
        };
        // A reduced search that expands a level again may choose anew.
        let (whole, resumed) = (summary(&whole), summary(&resumed));
        let is_exact = reduction == Reduction::None && whole.0 == "holds";
        if is_exact {
            assert_eq!(whole, resumed, "seed {seed}, {property:?}");
        } else {
            assert_eq!(whole.0, resumed.0, "seed {seed}, {property:?}");
        }
    }

    assert!(n_stops > 2_000, "{n_stops}");
}

/// One question may take several searches: what one of them kept is of no use to another.
#[test]
fn no_search_goes_on_from_what_another_has_seen() {
    let mut n_stops = 0;
    for seed in 0..2_000 {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let [stopped, other] = [0, 1].map(|_| NamedProperty {
            name: "p".into(),
            text: String::new(),
            property: classify(random_formula(&mut random, 8, 3)),
            fairness: None,
            span: Span::nowhere(),
        });
        let plan = Plan {
            fairness: Fairness::parse("weak"),
            budget: Budget::unlimited().with_max_states(3_000),
            ..Plan::default()
        };
        let memory = Arc::new(Memory::default());
        let keeping = |max_states| Plan {
            checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
            budget: Budget::unlimited().with_max_states(max_states),
            ..plan.clone()
        };
        outcome(&model, &stopped, &keeping(2));
        n_stops += usize::from(memory.kept.lock().expect("no panic").is_some());
        let expected = outcome(&model, &other, &plan);
        let found = outcome(&model, &other, &keeping(3_000));
        let (found, expected) = (summary(&found), summary(&expected));
        assert_eq!(found.0, expected.0, "seed {seed}");
        // A search that goes on looks again at what it has found, so it may see more states.
        if found.0 == "holds" {
            assert_eq!(found, expected, "seed {seed}");
        }
    }

    assert!(n_stops > 500, "{n_stops}");
}

/// Counters with wide levels, so that threads share them, and commands that are taken in one state
/// each, half-way.
const MARKED: &str = "
    var a, b, c, d : 0..11 = 0
    process P(i in 0..3) {
        up { if i == 0 { a := (a + 1) % 12 } if i == 1 { b := (b + 1) % 12 }
             if i == 2 { c := (c + 1) % 12 } if i == 3 { d := (d + 1) % 12 } }
    }
    process Mark(k in 0..11) {
        mark when a == k && b == 11 - k && c == 5 && d == 5 {}
    }
    invariant bounded: a < 12
";

#[test]
fn what_other_threads_have_seen_is_kept_too() {
    let source = base::Source {
        name: "marked.fair".into(),
        text: MARKED.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the model is right");
    let memory = Arc::new(Memory::default());
    let checked = |max_states| {
        let budget = Budget::unlimited().with_threads(3);
        let plan = Plan {
            checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
            budget: budget.with_max_states(max_states),
            ..Plan::default()
        };
        outcome(&model, &loaded.properties[0], &plan)
    };

    // All marks are made in the first half.
    let stopped = checked(15_000);
    assert!(matches!(stopped.verdict, Verdict::Unknown(_)));

    let resumed = checked(30_000);
    assert!(matches!(resumed.verdict, Verdict::Holds { .. }));
    assert_eq!(resumed.stats.n_states, 20_736);
    assert!(resumed.stats.commands_taken.iter().all(|taken| *taken));
}

#[test]
fn interchangeable_processes_are_told_apart_by_a_search_that_is_kept() {
    let text = "
        var on : bool[3] = false
        process P(i in 0..2) { flip { on[i] := !on[i] } }
        property p: always eventually (exists i in 0..2: on[i])
    ";
    let source = base::Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the model is right");
    let decide = |fairness: &str, checkpoints: Option<Arc<dyn Checkpoints>>| {
        let plan = Plan {
            fairness: Fairness::parse(fairness),
            reduction: Reduction::Chosen(Reductions {
                symmetry: true,
                ..Reductions::NONE
            }),
            checkpoints,
            ..Plan::default()
        };
        let outcome = outcome(&model, &loaded.properties[0], &plan);
        (
            outcome.verdict.name(),
            outcome.stats.n_states,
            outcome.remarks,
        )
    };
    let memory = || Some(Arc::new(Memory::default()) as Arc<dyn Checkpoints>);
    // Without fairness no processes need to be told apart.
    let (_, _, remarks) = decide("none", memory());
    assert!(remarks.is_empty(), "{remarks:?}");
    assert_eq!(decide("weak-process", None), ("holds", 4, vec![]));
    let (verdict, n_states, remarks) = decide("weak-process", memory());
    assert_eq!((verdict, n_states), ("holds", 8));
    assert!(
        remarks
            .join("; ")
            .contains("cannot be combined with `--checkpoint`"),
        "{remarks:?}"
    );
}

/// A model, a question, and what a search for the answer kept when it was stopped.
struct Stopped {
    model: Model,
    property: NamedProperty,
    plan: Plan,
    search: u64,
    words: Vec<u64>,
    /// The answer of a search that was not stopped.
    right: &'static str,
}

impl Stopped {
    fn random(seed: u64) -> Option<Self> {
        let mut random = Random::new(seed);
        let shape = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose][random.below(3)];
        let model = random_model(&mut random, shape);
        let property = match random.below(3) {
            0 => Property::DeadlockFree,
            1 => classify(Ltl::always(random_formula(&mut random, 8, 0))),
            _ => classify(random_formula(&mut random, 8, 3)),
        };
        let property = NamedProperty {
            name: "p".into(),
            text: String::new(),
            property,
            fairness: None,
            span: Span::nowhere(),
        };

        let kinds = ["none", "weak", "strong", "strong-global"];
        let plan = Plan {
            fairness: Fairness::parse(kinds[random.below(kinds.len())]),
            budget: Budget::unlimited().with_max_states(2_000),
            ..Plan::default()
        };

        let whole = outcome(&model, &property, &plan);
        if matches!(whole.verdict, Verdict::Unknown(_)) {
            return None;
        }
        let memory = Arc::new(Memory::default());
        let limit = 1 + whole.stats.n_states * random.below(10) as u64 / 10;
        let keeping = Plan {
            checkpoints: Some(Arc::clone(&memory) as Arc<dyn Checkpoints>),
            budget: Budget::unlimited().with_max_states(limit),
            ..plan.clone()
        };
        let stopped = outcome(&model, &property, &keeping);
        let is_stopped = matches!(stopped.verdict, Verdict::Unknown(_));
        let kept = memory.kept.lock().expect("no panic").take();
        let (search, words) = kept.filter(|_| is_stopped)?;
        Some(Self {
            model,
            property,
            plan,
            search,
            words,
            right: whole.verdict.name(),
        })
    }

    /// What a search answers that goes on from these numbers; nothing if it refuses to.
    fn resumed(&self, words: Vec<u64>) -> Option<&'static str> {
        self.resumed_from(&Arc::new(Memory::default()), words)
    }

    fn resumed_from(&self, memory: &Arc<Memory>, words: Vec<u64>) -> Option<&'static str> {
        *memory.kept.lock().expect("no panic") = Some((self.search, words));
        let plan = Plan {
            checkpoints: Some(Arc::clone(memory) as Arc<dyn Checkpoints>),
            ..self.plan.clone()
        };
        let verdict = outcome(&self.model, &self.property, &plan).verdict;
        let damaged = UnknownReason::Stopped(StopReason::DamagedCheckpoint);
        (verdict != Verdict::Unknown(damaged)).then(|| verdict.name())
    }

    /// The positions of the lists and their lengths.
    fn lists(&self) -> Vec<(usize, usize)> {
        let (mut lists, mut at) = (Vec::new(), 0);
        while at < self.words.len() {
            let len = self.words[at] as usize;
            lists.push((at, len));
            at += 1 + len;
        }
        lists
    }
}

/// Numbers that no search can have written: nothing may come of them but a refusal.
fn broken(stopped: &Stopped, random: &mut Random) -> Vec<u64> {
    let mut words = stopped.words.clone();
    let lists = stopped.lists();
    let is_breadth_first = words[1] == 1;
    let n_states = lists[1].1 / words[2] as usize;

    match random.below(6) {
        // The end is missing.
        0 => words.truncate(random.below(words.len())),
        // There is more than there should be.
        1 => words.push(random.below(9) as u64),
        // A list is longer or shorter than it says.
        2 => {
            let (at, _) = lists[random.below(lists.len())];
            words[at] = words[at].wrapping_add([1, u64::MAX, 1 << 40][random.below(3)]);
        }
        // A state occurs twice.
        3 if n_states > 1 => {
            let (at, n_words) = (lists[1].0 + 1, words[2] as usize);
            let (from, to) = (random.below(n_states - 1), n_states - 1);
            words.copy_within(
                at + from * n_words..at + (from + 1) * n_words,
                at + to * n_words,
            );
        }
        // Another search, other sizes, an empty or a wrong frontier.
        4 if is_breadth_first => {
            let at = 1 + random.below(5);
            words[at] = words[at].wrapping_add(1 + random.below(3) as u64);
        }
        5 if is_breadth_first => words[3] = words[4],
        _ => words[1 + random.below(3)] ^= 1 << random.below(64),
    }

    words
}

#[test]
fn broken_checkpoints_are_refused() {
    let (mut n_tried, mut n_refused) = (0, 0);
    for seed in 0..u64::from(cases(250)) {
        let Some(stopped) = Stopped::random(seed) else {
            continue;
        };
        assert_eq!(
            stopped.resumed(stopped.words.clone()),
            Some(stopped.right),
            "seed {seed}"
        );
        let mut random = Random::new(seed);
        for attempt in 0..10 {
            let words = broken(&stopped, &mut random);
            let memory = Arc::new(Memory::default());
            let found = stopped.resumed_from(&memory, words);
            // One question may take several searches, and one that kept nothing may know the answer:
            // then the numbers were not looked at. Whenever they were, they are refused.
            let is_unread = memory.kept.lock().expect("no panic").is_some();
            let is_right = found.is_none_or(|found| found == stopped.right && is_unread);
            assert!(is_right, "seed {seed}, attempt {attempt}: {found:?}");
            n_tried += 1;
            n_refused += u32::from(found.is_none());
        }
    }

    assert!(n_refused > n_tried / 10 * 9, "{n_refused} of {n_tried}");
}

/// A number is changed so that it may still look right. No such file makes a search fail, or find a
/// violation where there is none; that it overlooks one cannot be excluded.
#[test]
fn forged_checkpoints_break_nothing() {
    let (mut n_tried, mut n_refused) = (0, 0);
    for seed in 0..u64::from(cases(250)) {
        let Some(stopped) = Stopped::random(seed) else {
            continue;
        };
        let mut random = Random::new(seed);
        for attempt in 0..30 {
            let mut words = stopped.words.clone();
            for _ in 0..=random.below(2) {
                let at = random.below(words.len());
                let others = [
                    0,
                    1,
                    u64::from(u32::MAX),
                    u64::MAX,
                    words[random.below(words.len())],
                ];
                words[at] = match random.below(3) {
                    0 => words[at] ^ 1 << random.below(64),
                    1 => words[at].wrapping_add([1, u64::MAX][random.below(2)]),
                    _ => others[random.below(others.len())],
                };
            }
            let found = stopped.resumed(words);
            let is_invented = found == Some("violated") && stopped.right == "holds";
            assert!(!is_invented, "seed {seed}, attempt {attempt}");
            n_tried += 1;
            n_refused += u32::from(found.is_none());
        }
    }

    assert!(n_refused > n_tried / 4, "{n_refused} of {n_tried} refused");
}

//! Searches on sets of states come to the verdicts and counts of the searches in memory, wherever the
//! sets are kept and whatever happens to the files.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use base::{Budget, Checkpoints, Fairness, Inherited, Links, NoProgress, Span, StopReason};
use check::{Outcome, Plan, SetCarrier, check};
use evidence::{UnknownReason, Verdict, ViolationKind};
use logic::{Ltl, NamedProperty, Property};
use model::Model;
use testkit::{ModelShape, Random, Shelf, Wires, cases, random_formula, random_model};

const KINDS: [&str; 8] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "just",
    "annotated",
    "weak+annotated",
];

fn decide(model: &Model, property: &NamedProperty, plan: &Plan) -> Outcome {
    let outcome = check(model, property, plan, &mut NoProgress);
    // A violation that cannot be replayed would be a bug here.
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

fn kind(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Violated(violation) => match violation.kind {
            // A run-time error may hide a violation and the other way round, depending on the order.
            ViolationKind::RunTimeError(_) => "error",
            _ => "violated",
        },
        other => other.name(),
    }
}

fn draw(seed: u64) -> Option<(Model, NamedProperty, &'static str)> {
    let mut random = Random::new(seed);
    let shapes = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Loose];
    let shape = *random.pick(&shapes);
    let model = random_model(&mut random, shape);
    if model.abstract_timers().next().is_some() {
        return None;
    }
    let size = random.below(5);
    let formula = random_formula(&mut random, 8, size);
    let property = match random.below(6) {
        0 => Property::DeadlockFree,
        1 if logic::propositional(&formula).is_some() => Property::Invariant(formula),
        2 if logic::propositional(&formula).is_some() => Property::Reachable(formula),
        _ => Property::Ltl(Ltl::always(formula)),
    };
    let property = NamedProperty {
        name: "p".into(),
        text: String::new(),
        property,
        fairness: None,
        span: Span::nowhere(),
    };
    Some((model, property, KINDS[random.below(KINDS.len())]))
}

fn plan(name: &str, seed: u64) -> Plan {
    Plan {
        fairness: Fairness::parse(name),
        all_states: seed.is_multiple_of(2),
        budget: Budget::unlimited().with_max_states(2_000),
        ..Plan::default()
    }
}

/// Compares what is the same for all searches that explore everything. Where processes have control, the
/// runs that a search in memory finds are shortest if what a process does meanwhile is one step.
fn compare(model: &Model, found: &Outcome, expected: &Outcome, context: &str) {
    let has_control = model.parts().control.is_some();
    let kinds = (kind(&found.verdict), kind(&expected.verdict));
    assert_ne!(kinds.0, "unknown", "{context}: {:?}", found.verdict);
    if kinds.0 == "error" || kinds.1 == "error" {
        assert!(kinds.0 != "holds" && kinds.1 != "holds", "{context}");
        return;
    }
    assert_eq!(kinds.0, kinds.1, "{context}");
    if let Verdict::Violated(violation) = &found.verdict
        && let Verdict::Violated(other) = &expected.verdict
        && let ViolationKind::Deadlock | ViolationKind::BadPrefix = violation.kind
        && !has_control
    {
        let lengths = [violation, other].map(|v| v.trace.as_ref().map(|t| t.steps.len()));
        assert_eq!(lengths[0], lengths[1], "{context}: not shortest");
    }
    if kinds.0 == "holds" && found.stats.is_partial == expected.stats.is_partial {
        let counts = |outcome: &Outcome| {
            let stats = outcome.stats.clone();
            let numbers = (stats.n_states, stats.n_transitions, stats.n_product_states);
            let seen = (stats.atoms_seen, stats.commands_taken, stats.action_counts);
            (numbers, seen)
        };
        if matches!(&expected.verdict, Verdict::Holds { witness: None }) {
            assert_eq!(counts(found), counts(expected), "{context}");
        }
    }
}

#[test]
fn carriers_change_no_verdict() {
    let n_models = cases(300);
    let mut tally = BTreeMap::new();
    for seed in 0..u64::from(n_models) {
        let Some((model, property, name)) = draw(seed) else {
            continue;
        };
        let plan = plan(name, seed);
        let expected = decide(&model, &property, &plan);
        if kind(&expected.verdict) == "unknown" {
            continue;
        }
        let folder = Shelf::default();
        let carriers = [
            SetCarrier::Memory,
            SetCarrier::Disk(Arc::new(folder.clone())),
        ];
        for (number, carrier) in carriers.into_iter().enumerate() {
            let n_threads = 1 + (seed as usize + number) / 2 % 4;
            let on_sets = Plan {
                sets: Some(carrier),
                budget: plan.budget.clone().with_threads(n_threads),
                ..plan.clone()
            };
            let found = decide(&model, &property, &on_sets);
            let context = format!("seed {seed}, {name}, carrier {number}, {n_threads} threads");
            compare(&model, &found, &expected, &context);
        }
        assert!(folder.files().is_empty(), "seed {seed}: files are left");
        *tally.entry((name, kind(&expected.verdict))).or_insert(0) += 1;
    }

    for kind in KINDS {
        for verdict in ["holds", "violated"] {
            let n = tally.get(&(kind, verdict)).copied().unwrap_or(0);
            assert!(n >= n_models / 200, "{kind} {verdict}: {n} of {tally:?}");
        }
    }
}

/// Keeps the last position, and what the folder was then, in case the power fails right after.
#[derive(Debug)]
struct Watched {
    folder: Shelf,
    kept: Mutex<Vec<(u64, Vec<u64>, Shelf)>>,
    restored: Mutex<Option<(u64, Vec<u64>)>>,
    /// What earlier processes have left; this one has its files where the one with its number had them.
    estates: Vec<Estate>,
    own: u64,
    is_released: AtomicBool,
}

/// What a process that has ended leaves.
#[derive(Clone, Debug)]
struct Estate {
    process: u64,
    folder: Shelf,
    kept: Option<(u64, Vec<u64>)>,
}

impl Watched {
    fn new(folder: Shelf, restored: Option<(u64, Vec<u64>)>) -> Self {
        Self {
            folder,
            kept: Mutex::default(),
            restored: Mutex::new(restored),
            estates: Vec::new(),
            own: 0,
            is_released: AtomicBool::new(false),
        }
    }

    /// So many processes that go on from what others have left, as their files are shared out among
    /// them.
    fn heirs(n_processes: usize, estates: &[Estate]) -> Vec<Option<Arc<Self>>> {
        let heir = |own: u64| {
            let is_own = |estate: &&Estate| estate.process % n_processes as u64 == own;
            let estates: Vec<Estate> = estates.iter().filter(is_own).cloned().collect();
            let folder = estates.iter().find(|estate| estate.process == own);
            let folder = folder.map_or_else(Shelf::default, |estate| estate.folder.clone());
            Some(Arc::new(Self {
                estates,
                own,
                ..Self::new(folder, None)
            }))
        };
        (0..n_processes as u64).map(heir).collect()
    }

    /// What this process leaves, if it ends now.
    fn left(&self) -> Vec<Estate> {
        let kept = self.kept.lock().expect("no panic");
        let last = kept
            .last()
            .map(|(search, state, _)| (*search, state.clone()));
        let (own, others): (Vec<&Estate>, Vec<&Estate>) = self
            .estates
            .iter()
            .partition(|estate| estate.process == self.own);
        let mut left = vec![Estate {
            process: self.own,
            folder: self.folder.copy(),
            kept: last.or_else(|| own.first().and_then(|estate| estate.kept.clone())),
        }];
        if !self.is_released.load(Ordering::Relaxed) {
            left.extend(others.into_iter().cloned());
        }
        left
    }
}

impl Checkpoints for Watched {
    fn is_due(&self) -> bool {
        true
    }

    fn keep(&self, search: u64, state: &[u64]) -> bool {
        let kept = (search, state.to_vec(), self.folder.copy());
        self.kept.lock().expect("no panic").push(kept);
        true
    }

    fn take(&self, search: u64) -> Option<Vec<u64>> {
        let mut restored = self.restored.lock().expect("no panic");
        restored.take_if(|kept| kept.0 == search).map(|kept| kept.1)
    }

    fn inherit(&self, search: u64) -> Vec<Inherited> {
        let estates = self.estates.iter().map(|estate| Inherited {
            process: estate.process,
            folder: (estate.process != self.own).then(|| Arc::new(estate.folder.clone()) as _),
            state: estate
                .kept
                .clone()
                .filter(|kept| kept.0 == search)
                .map(|kept| kept.1),
        });
        let own = self.take(search).map(|state| Inherited {
            process: self.own,
            folder: None,
            state: Some(state),
        });
        estates.chain(own).collect()
    }

    fn release(&self) {
        self.is_released.store(true, Ordering::Relaxed);
    }
}

fn on_disk(plan: &Plan, checkpoints: &Arc<Watched>, n_threads: usize) -> Plan {
    Plan {
        sets: Some(SetCarrier::Disk(Arc::new(checkpoints.folder.clone()))),
        checkpoints: Some(Arc::clone(checkpoints) as Arc<dyn Checkpoints>),
        // So little that messages are written down.
        budget: plan.budget.clone().with_threads(n_threads),
        ..plan.clone()
    }
}

/// A search that is killed at any moment goes on from the position before that; one whose disk is full
/// says so and goes on when there is room; one whose files are damaged gives no verdict.
#[test]
fn whatever_happens_to_files_changes_no_verdict() {
    let (mut n_killed, mut n_full, mut n_damaged) = (0, 0, 0);
    for seed in 0..u64::from(cases(80)) {
        let Some((model, property, name)) = draw(seed) else {
            continue;
        };
        let mut random = Random::new(seed);
        let n_threads = 1 + random.below(2);
        let plan = plan(name, seed);
        let expected = decide(&model, &property, &plan);
        if kind(&expected.verdict) == "unknown" {
            continue;
        }
        let context = format!("seed {seed}, {name}, {n_threads} threads");

        let watched = Arc::new(Watched::new(Shelf::default(), None));
        let found = decide(&model, &property, &on_disk(&plan, &watched, n_threads));
        compare(&model, &found, &expected, &context);
        let kept = std::mem::take(&mut *watched.kept.lock().expect("no panic"));

        // Killed after a position was kept, with files that were not finished or not removed.
        for (search, state, folder) in &kept {
            folder
                .files()
                .insert(format!("{search:016x}-0-0-999999.run"), vec![1, 2, 3]);
            let restored = Some((*search, state.clone()));
            let again = Arc::new(Watched::new(folder.copy(), restored));
            let resumed = decide(&model, &property, &on_disk(&plan, &again, n_threads));
            compare(&model, &resumed, &found, &format!("{context}, killed"));
            n_killed += 1;
        }

        // Full at some moment; then there is room again.
        let room = random.below(4000) as i64;
        let full = Arc::new(Watched::new(Shelf::default(), None));
        full.folder.set_room(room);
        let stopped = decide(&model, &property, &on_disk(&plan, &full, n_threads));
        if kind(&stopped.verdict) == "unknown" {
            let reason = UnknownReason::Stopped(StopReason::DiskFull);
            assert_eq!(stopped.verdict, Verdict::Unknown(reason), "{context}");
            let last = full.kept.lock().expect("no panic").pop();
            let restored = last.map(|(search, state, _)| (search, state));
            full.folder.set_room(i64::MAX);
            let again = Arc::new(Watched::new(full.folder.copy(), restored));
            let resumed = decide(&model, &property, &on_disk(&plan, &again, n_threads));
            compare(&model, &resumed, &found, &format!("{context}, full"));
            n_full += 1;
        } else {
            compare(&model, &stopped, &expected, &context);
        }

        // A byte that is not what was written.
        let mut positions = kept.into_iter().filter(|kept| !kept.1.is_empty());
        let Some((search, state, folder)) = positions.next_back() else {
            continue;
        };
        if damage(&mut random, &folder, search, &state) {
            let again = Arc::new(Watched::new(folder, Some((search, state))));
            let damaged = decide(&model, &property, &on_disk(&plan, &again, n_threads));
            let reason = UnknownReason::Stopped(StopReason::DamagedCheckpoint);
            if damaged.verdict == Verdict::Unknown(reason) {
                n_damaged += 1;
            } else {
                // Another thread has met the goal or an error before.
                assert_ne!(kind(&damaged.verdict), "holds", "{context}");
                compare(&model, &damaged, &expected, &context);
            }
        }
    }
    println!("{n_killed} killed, {n_full} full, {n_damaged} damaged");
    assert!(n_killed > 80 && n_full > 10 && n_damaged > 10);
}

/// What processes, played by threads, come to. Each has a folder, or keeps its states in memory.
fn decide_together(
    (model, property, plan): (&Model, &NamedProperty, &Plan),
    wires: &[Arc<Wires>],
    kept: &[Option<Arc<Watched>>],
) -> Vec<Outcome> {
    std::thread::scope(|scope| {
        let start = |(links, kept): (&Arc<Wires>, &Option<Arc<Watched>>)| {
            let folder = kept.as_ref().map(|kept| Arc::new(kept.folder.clone()) as _);
            let carrier = SetCarrier::Processes(Arc::clone(links) as Arc<dyn Links>, folder);
            let plan = Plan {
                sets: Some(carrier),
                checkpoints: kept.clone().map(|kept| kept as Arc<dyn Checkpoints>),
                ..plan.clone()
            };
            let links = Arc::clone(links);
            scope.spawn(move || {
                let outcome = decide(model, property, &plan);
                links.leave();
                outcome
            })
        };
        let threads: Vec<_> = wires.iter().zip(kept).map(start).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|outcome| outcome.expect("no panic")).collect()
    })
}

/// Several processes come to the verdict and counts of one. If one of them is lost at some moment,
/// none comes to another verdict, and all go on together from what they have kept.
#[test]
fn processes_change_no_verdict() {
    let (mut n_compared, mut n_lost, mut n_resumed) = (0, 0, 0);
    for seed in 0..u64::from(cases(60)) {
        let Some((model, property, name)) = draw(seed) else {
            continue;
        };
        let mut random = Random::new(seed);
        let (n_processes, n_threads) = (2 + random.below(3), 1 + random.below(2));
        let mut plan = plan(name, seed);
        let expected = decide(&model, &property, &plan);
        if kind(&expected.verdict) == "unknown" {
            continue;
        }
        plan.budget = plan.budget.clone().with_threads(n_threads);
        let question = (&model, &property, &plan);
        let context = format!("seed {seed}, {name}, {n_processes} processes");

        let in_memory: Vec<Option<Arc<Watched>>> = vec![None; n_processes];
        let wires = Wires::between(n_processes);
        for outcome in decide_together(question, &wires, &in_memory) {
            compare(&model, &outcome, &expected, &context);
            n_compared += 1;
        }

        let on_disk = Watched::heirs(n_processes, &[]);
        let wires = Wires::between(n_processes);
        let victim = random.below(n_processes);
        let is_full = random.chance(40);
        if let (true, Some(watched)) = (is_full, &on_disk[victim]) {
            watched.folder.set_room(random.below(3000) as i64);
        } else {
            wires[victim].set_fuse(random.below(120) as i64);
        }
        let mut are_all_lost = true;
        for outcome in decide_together(question, &wires, &on_disk) {
            let reason = if is_full {
                StopReason::DiskFull
            } else {
                StopReason::ProcessLost
            };
            if outcome.verdict == Verdict::Unknown(UnknownReason::Stopped(reason)) {
                n_lost += 1;
            } else {
                compare(&model, &outcome, &expected, &context);
                are_all_lost = false;
            }
        }
        if !are_all_lost {
            continue;
        }

        let left = left_by(&on_disk);
        n_resumed += left.iter().filter(|estate| estate.kept.is_some()).count();
        let again = Watched::heirs(n_processes, &left);
        let wires = Wires::between(n_processes);
        for outcome in decide_together(question, &wires, &again) {
            compare(&model, &outcome, &expected, &format!("{context}, resumed"));
        }
    }
    println!("{n_compared} compared, {n_lost} lost, {n_resumed} resumed");
    assert!(n_compared > 60 && n_lost > 20 && n_resumed > 20);
}

/// What all processes leave.
fn left_by(processes: &[Option<Arc<Watched>>]) -> Vec<Estate> {
    let left = processes.iter().flatten().map(|watched| watched.left());
    left.flatten().collect()
}

/// What processes that have come to the end would have left after some position: all the same, or some
/// of them the next one.
fn left_at(random: &mut Random, processes: &[Option<Arc<Watched>>]) -> Option<(Vec<Estate>, bool)> {
    let kept = processes.iter().flatten().map(|watched| {
        let mut kept = watched.kept.lock().expect("no panic");
        kept.retain(|(_, state, _)| !state.is_empty());
        kept
    });
    let kept: Vec<_> = kept.collect();
    let n_kept = kept
        .iter()
        .map(|kept| kept.len())
        .min()
        .filter(|n| *n > 0)?;
    let at = random.below(n_kept);
    let mut is_even = true;
    let left = kept.iter().enumerate().map(|(process, kept)| {
        let is_ahead = at + 1 < kept.len() && random.below(3) == 0;
        is_even &= !is_ahead;
        let (search, state, folder) = &kept[at + usize::from(is_ahead)];
        Estate {
            process: process as u64,
            folder: folder.copy(),
            kept: Some((*search, state.clone())),
        }
    });
    let left = left.collect();
    Some((left, is_even))
}

/// A search goes on with any number of processes, also if that is interrupted again; not if files of a
/// process are missing or damaged.
#[test]
fn numbers_of_processes_may_change() {
    let (mut n_changed, mut n_again, mut n_missing, mut n_damaged) = (0, 0, 0, 0);
    for seed in 0..u64::from(cases(60)) {
        let Some((model, property, name)) = draw(seed) else {
            continue;
        };
        let mut random = Random::new(seed);
        let mut plan = plan(name, seed);
        let expected = decide(&model, &property, &plan);
        if kind(&expected.verdict) == "unknown" {
            continue;
        }
        let limits = plan.budget.clone();
        let mut decide = |processes: &[Option<Arc<Watched>>], fuse: Option<(usize, i64)>| {
            plan.budget = limits.clone().with_threads(1 + seed as usize / 3 % 2);
            let wires = Wires::between(processes.len());
            fuse.inspect(|(victim, fuse)| wires[*victim].set_fuse(*fuse));
            decide_together((&model, &property, &plan), &wires, processes)
        };

        let first = Watched::heirs(1 + random.below(4), &[]);
        let found = decide(&first, None).remove(0);
        let Some((mut left, is_even)) = left_at(&mut random, &first) else {
            continue;
        };
        let unknown = |reason| Verdict::Unknown(UnknownReason::Stopped(reason));
        let copy = |estate: &Estate| Estate {
            folder: estate.folder.copy(),
            ..estate.clone()
        };
        let whole: Vec<Estate> = left.iter().map(copy).collect();
        for attempt in 0..3 {
            let n_processes = 1 + random.below(4);
            let context = format!("seed {seed}, {name}, {} to {n_processes}", first.len());
            let heirs = Watched::heirs(n_processes, &left);
            let fuse = (random.below(n_processes), random.below(60) as i64);
            let outcomes = decide(&heirs, Some(fuse).filter(|_| attempt < 2));
            n_changed += u32::from(attempt == 0);
            n_again += u32::from(attempt > 0);
            let lost = unknown(StopReason::ProcessLost);
            let is_lost = |outcome: &Outcome| attempt < 2 && outcome.verdict == lost;
            for outcome in outcomes.iter().filter(|outcome| !is_lost(outcome)) {
                compare(&model, outcome, &expected, &context);
                compare(&model, outcome, &found, &context);
            }
            if !outcomes.iter().all(is_lost) {
                break;
            }
            left = left_by(&heirs);
        }

        let left: Vec<Estate> = whole.iter().map(copy).collect();
        if left.len() > 1 {
            let others: Vec<Estate> = left[1..].iter().map(copy).collect();
            let heirs = Watched::heirs(1 + random.below(3), &others);
            for outcome in decide(&heirs, None) {
                assert_eq!(outcome.verdict, unknown(StopReason::FilesMissing), "{seed}");
                n_missing += 1;
            }
        }
        let estate = random.pick(&left).clone();
        let (search, state) = estate.kept.expect("it has kept something");
        let n_processes = left.len() + 1;
        if is_even && damage(&mut random, &estate.folder, search, &state) {
            for outcome in decide(&Watched::heirs(n_processes, &left), None) {
                assert_eq!(
                    outcome.verdict,
                    unknown(StopReason::DamagedCheckpoint),
                    "{seed}"
                );
                n_damaged += 1;
            }
        }
    }
    println!("{n_changed} changed, {n_again} again, {n_missing} missing, {n_damaged} damaged");
    assert!(n_changed > 15 && n_again > 2 && n_missing > 10 && n_damaged > 5);
}

/// Damages a file that a position needs.
fn damage(random: &mut Random, folder: &Shelf, search: u64, state: &[u64]) -> bool {
    let mut files = folder.files();
    let prefix = format!("{search:016x}-");
    let names: Vec<String> = files
        .keys()
        .filter(|name| name.starts_with(&prefix) && !name.contains("999999"))
        .filter(|name| is_named(name, state))
        .cloned()
        .collect();
    if names.is_empty() {
        return false;
    }
    let name = random.pick(&names).clone();
    let bytes = files.get_mut(&name).expect("it is there");
    if bytes.is_empty() || random.chance(10) {
        files.remove(&name);
        return true;
    }
    match random.below(4) {
        0 => bytes.truncate(random.below(bytes.len())),
        1 => bytes.push(random.bits() as u8),
        _ => {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
    }
    true
}

/// Is the file one that the position names, and not one that was to be removed next?
fn is_named(name: &str, state: &[u64]) -> bool {
    let mut words = state;
    let mut words = base::take_list(&mut words).expect("there is a position");
    let _ = base::take_list(&mut words);
    let part = name
        .split('-')
        .nth(2)
        .and_then(|part| part.parse::<usize>().ok());
    let serial = name
        .rsplit('-')
        .next()
        .and_then(|end| end.strip_suffix(".run"));
    let serial = serial.and_then(|serial| serial.parse::<u64>().ok());
    let mut position: &[u64] = &[];
    for _ in 0..=part.expect("names have parts") {
        position = base::take_list(&mut words).expect("there is one for each part");
    }
    let runs = position[2..].chunks(5);
    runs.into_iter()
        .any(|run| run[0] != 0 && Some(run[1]) == serial)
}

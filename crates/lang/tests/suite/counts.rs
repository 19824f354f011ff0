//! Examples have exactly the states and transitions that are known for them.

use std::path::{Path, PathBuf};

use crate::support::{count, model};

fn path_of(example: &str) -> PathBuf {
    let examples = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    examples.join(format!("{example}.fair"))
}

fn text_of(example: &str) -> String {
    std::fs::read_to_string(path_of(example)).expect("the example exists")
}

fn check(path: &str, n: usize, states: usize, transitions: usize) {
    let model = model(&text_of(path), &[("N", &n.to_string())]);
    assert_eq!(count(&model), (states, transitions), "{path}, N = {n}");
}

#[test]
fn micro_systems() {
    let sizes = [
        ("loops", (1, 2)),
        ("two_loops", (1, 2)),
        ("choice", (2, 3)),
        ("same_label", (3, 4)),
        ("same_action", (3, 4)),
        ("toggle", (2, 4)),
    ];
    for (name, size) in sizes {
        let model = model(&text_of(&format!("micro/{name}")), &[]);
        assert_eq!(count(&model), size, "{name}");
    }
}

#[test]
fn leader_election_on_complete_graphs() {
    check("population/le_c", 3, 32, 168);
    check("population/le_c", 4, 64, 456);
    check("population/le_c", 5, 128, 1224);
}

#[test]
fn leader_election_in_trees() {
    check("population/le_t", 3, 32, 146);
    check("population/le_t", 5, 128, 730);
}

#[test]
fn leader_election_on_rings() {
    check("population/le_r", 3, 2048, 11808);
}

#[test]
fn token_circulation() {
    check("population/tc_r", 3, 64, 96);
    check("population/tc_r", 5, 1024, 2560);
}

#[test]
fn leader_election_on_odd_rings() {
    check("population/le_or", 3, 32768, 92160);
    check("population/le_or_revised", 3, 32768, 92160);
}

/// Ten philosophers have 154450 states and 986431 transitions; these are the same model.
#[test]
fn philosophers() {
    check("philosophers", 2, 10, 13);
    check("philosophers", 3, 35, 67);
    check("philosophers", 4, 118, 301);
}

#[test]
fn milners_scheduler() {
    for n in 2..=5_usize {
        let states = (3 * n) << (n - 1);
        let transitions = (3 * n * (n + 1)) << (n - 2);
        check("milner", n, states, transitions);
    }
}

#[test]
fn peterson() {
    check("peterson", 2, 20, 34);
    check("peterson", 3, 417, 945);
}

/// The counts are those of breadth-first searches that were written for the purpose, over frozen sets
/// and tuples. TLC finds the same states of the twins in `bench/tla` (`cargo xtask bench values`
/// compares them, in larger sizes, too), and of the public specifications where there is one
/// (github.com/tlaplus/Examples): 288 of `TwoPhase` with three resource managers, 400 of
/// `SimpleAllocator`, 4097 of `AsyncTerminationDetection`, 1566 of `EWD840_json`, 3921 of `Paxos` with
/// three acceptors, two ballots and two values, 10209 of `LamportMutex` with `maxClock = 3`, and 1520618
/// of `EWD998` with `EWD998Small.cfg`, which is `safra_termination` with `MOST = 3`.
#[test]
fn systems_with_sets_and_sequences() {
    let sizes = [
        ("two_phase_commit", &[][..], (288, 1145)),
        ("gossip", &[], (189, 1717)),
        ("blocking_queue", &[], (22, 41)),
        ("blocking_queue", &[("SIZE", "2")], (24, 55)),
        ("readers_writers", &[], (167, 354)),
        ("simple_allocator", &[], (400, 1632)),
        ("termination_detection", &[], (4097, 45_062)),
        ("token_termination", &[], (1566, 13_939)),
        ("paxos", &[], (3921, 9810)),
        ("raft_election", &[], (2761, 5837)),
        ("chandy_lamport", &[], (518, 1063)),
        ("elevator", &[], (252, 743)),
        ("lamport_mutex", &[("CLOCK", "2")], (511, 1223)),
        ("safra_termination", &[("MOST", "1")], (19_474, 80_980)),
    ];
    for (name, defines, size) in sizes {
        let model = model(&text_of(&format!("values/{name}")), defines);
        assert_eq!(count(&model), size, "{name}");
    }
}

/// Models with several files and with processes that have several indices. The counts are those of
/// breadth-first searches that were written for the purpose, over tuples and frozen sets.
#[test]
fn systems_of_several_files_and_with_several_indices() {
    let stop_and_wait = load_example(&path_of("imports/stop_and_wait"), &[]);
    let model = stop_and_wait.model.expect("the example is right");
    assert_eq!(count(&model), (148, 452));
    check("hygienic_philosophers", 2, 24, 42);
    check("hygienic_philosophers", 3, 930, 2718);
}

/// Files that lie beside an example.
struct Disk;

impl source::Files for Disk {
    fn read(&self, path: &Path) -> Result<String, source::Unreadable> {
        let text = std::fs::read_to_string(path);
        text.map_err(|error| source::Unreadable {
            message: path.display().to_string(),
            cause: Some(error.to_string()),
        })
    }
}

/// Loads an example with what it imports. Files that are there to be imported declare what they do not
/// use.
fn load_example(path: &Path, defines: &[(String, String)]) -> source::Single {
    let source = base::Source {
        name: path.display().to_string(),
        text: std::fs::read_to_string(path).expect("readable"),
    };
    let options = source::Options {
        closed: true,
        defines: defines.to_vec(),
        ..source::Options::default()
    };
    let mut loaded = lang::load_with(source, &Disk, &options).single();
    let is_unused = |d: &base::Diagnostic| crate::support::UNUSED.contains(&d.code);
    loaded.diagnostics.retain(|d| !is_unused(d));
    loaded
}

/// Gives a number of processes that is left open a value.
fn with_processes(text: &str) -> Vec<(String, String)> {
    let free = |line: &str| {
        let rest = line.strip_prefix("param ")?;
        let declared = rest.split_once("//").map_or(rest, |(before, _)| before);
        Some(declared.trim().to_owned())
    };
    let names = text.lines().filter_map(free);
    let source = base::Source {
        name: "example.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load_with(source, &Disk, &source::Options::default());
    if let Some(source::Content::Threshold(_)) = loaded.content {
        // Enough for one faulty process.
        let name = |declared: String| declared.split(' ').next().unwrap_or_default().to_owned();
        let value = |at| if at == 0 { "4" } else { "1" };
        let named = names.enumerate();
        return named
            .map(|(at, declared)| (name(declared), value(at).to_owned()))
            .collect();
    }
    let is_name = |name: &String| name.chars().all(char::is_alphanumeric);
    let names = names.filter(is_name);
    names.map(|name| (name, "3".to_owned())).collect()
}

/// Every example loads without any complaint, and a run-time error is nowhere near its start.
#[test]
fn all_examples_load() {
    let mut folders = vec![format!("{}/../../examples", env!("CARGO_MANIFEST_DIR"))];
    let mut n_examples = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).expect("the examples exist") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                folders.push(path.display().to_string());
                continue;
            }
            if path.extension().is_none_or(|extension| extension != "fair") {
                continue;
            }
            let text = std::fs::read_to_string(&path).expect("readable");
            let loaded = load_example(&path, &with_processes(&text));
            assert_eq!(crate::support::show(&loaded), "", "{}", path.display());
            assert!(!loaded.properties.is_empty(), "{}", path.display());
            n_examples += 1;
        }
    }
    assert!(n_examples >= 18, "{n_examples} examples");
}

/// Judges invariants, reachability and deadlocks of an example on the reference semantics.
fn judge(path: &str) -> Vec<(String, bool)> {
    let loaded = crate::support::load(&text_of(path), &source::Options::default());
    let model = loaded.model.expect("the example is right");
    let mut positions = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for state in model.initial_states().expect("initial states") {
        positions.push((state, Vec::new()));
    }
    let mut next = 0;

    while next < positions.len() {
        let (state, _) = positions[next].clone();
        next += 1;
        if seen.insert(state.clone()) {
            for step in model.steps_or_idle(&state).expect("no run-time error") {
                positions.push((step.target, step.commands.to_vec()));
            }
        }
    }

    let holds = |formula: &logic::Ltl, position: &(model::State, Vec<model::CommandId>)| {
        let prop = logic::propositional(formula).expect("propositional");
        let letter = |atom| model.atom_holds(atom, &position.0, &position.1);
        prop.holds(&|atom| letter(atom).expect("no run-time error"))
    };
    let mut verdicts = Vec::new();

    for property in loaded.properties {
        let verdict = match &property.property {
            logic::Property::Invariant(inner) => positions.iter().all(|p| holds(inner, p)),
            logic::Property::Reachable(inner) => positions.iter().any(|p| holds(inner, p)),
            logic::Property::DeadlockFree => seen
                .iter()
                .all(|state| !model.successors(state).expect("steps").is_empty()),
            logic::Property::Ltl(_)
            | logic::Property::Never(_)
            | logic::Property::CtlStar(_)
            | logic::Property::MayMust(_) => {
                continue;
            }
        };
        verdicts.push((property.name, verdict));
    }

    verdicts
}

#[test]
fn safety_of_examples() {
    let verdicts = |path| -> Vec<String> {
        let judged = judge(path).into_iter();
        judged
            .map(|(name, holds)| format!("{name} {holds}"))
            .collect()
    };
    assert_eq!(verdicts("philosophers"), ["deadlockfree false"]);
    assert_eq!(verdicts("philosophers_right"), ["deadlockfree true"]);
    assert_eq!(verdicts("milner"), ["deadlockfree true"]);
    assert_eq!(verdicts("peterson"), ["exclusion true"]);
    assert_eq!(verdicts("alternating_bit"), ["in_step true"]);
    assert_eq!(verdicts("synchronous_ring"), ["one_token true"]);
    assert_eq!(
        verdicts("barrier"),
        ["all_finished true", "deadlockfree true"]
    );
}

//! Nothing is done twice: no file is read and no trace replayed a second time.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use fairground::{
    Budget, Disk, Fairness, Files, Memory, NoProgress, Options, Plan, Project, REDUCE_AFTER,
    Reduction, Unreadable, Verdict,
};

/// Files that count how often each of them is read.
struct Counting<F> {
    below: F,
    reads: RefCell<BTreeMap<PathBuf, usize>>,
}

impl<F: Files> Counting<F> {
    fn new(below: F) -> Self {
        let reads = RefCell::default();
        Self { below, reads }
    }
}

impl<F: Files> Files for Counting<F> {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        *self.reads.borrow_mut().entry(path.to_owned()).or_default() += 1;
        self.below.read(path)
    }
}

/// What was done for one question.
struct Done {
    name: String,
    verdict: Verdict,
    n_traces: usize,
    n_replays: usize,
}

/// Checks all questions of a file as `fair check` does; the file must be read once.
fn check_all(file: &str, fairness: Option<&str>) -> Vec<Done> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../..")
        .join(file);
    let files = Counting::new(Disk);
    let project = Project::open(&files, &path, &Options::default()).expect("it is right");
    let plan = Plan {
        fairness: fairness.map(|name| Fairness::parse(name).expect("a fairness")),
        reduction: Reduction::Auto {
            after: REDUCE_AFTER,
        },
        ..Plan::default()
    };

    let mut done = Vec::new();
    let mut answers = Vec::new();
    for question in project.questions() {
        let answer = project.check(question, &plan, &mut NoProgress);
        let answer = answer.expect("the evidence is right");
        done.push(Done {
            name: question.name.clone(),
            verdict: answer.verdict(),
            n_traces: usize::from(answer.result.trace.is_some()) + answer.result.branches.len(),
            n_replays: answer.n_replays,
        });
        answers.push((question, answer));
    }

    let answers: Vec<_> = answers.iter().map(|(q, answer)| (*q, answer)).collect();
    let _ = project.warnings(&answers, &plan);

    assert_eq!(files.reads.into_inner(), BTreeMap::from([(path, 1)]));
    done
}

#[test]
fn leader_election_is_read_once_and_its_traces_are_replayed_once() {
    let mut n_violated = 0;
    for fairness in [None, Some("none"), Some("weak")] {
        let done = check_all("examples/leader_election.fair", fairness);
        assert_eq!(done.len(), 2);
        for entry in done {
            assert_eq!(
                entry.n_traces, entry.n_replays,
                "{} {fairness:?}",
                entry.name
            );
            n_violated += usize::from(entry.verdict == Verdict::Violated);
        }
    }
    assert!(n_violated >= 3, "there is something to be replayed");
}

#[test]
fn a_model_that_is_made_larger_is_not_read_again() {
    // Processes grow beyond every bound, so that the model is made again with more terms.
    let main = "#include \"part.csp\"; #assert P deadlockfree;";
    let part = "P = a -> (P ||| P);";
    let memory = Memory::new([("m/main.csp", main), ("m/part.csp", part)]);
    let files = Counting::new(memory);
    let project = Project::open(&files, "m/main.csp", &Options::default()).expect("it is right");
    let plan = Plan {
        budget: Budget::unlimited().with_max_states(100_000),
        ..Plan::default()
    };
    let answer = project.check(&project.questions()[0], &plan, &mut NoProgress);
    assert_eq!(answer.expect("no bug").verdict(), Verdict::Unknown);
    let reads = files.reads.into_inner();
    let paths = ["m/main.csp", "m/part.csp"].map(PathBuf::from);
    assert_eq!(reads, BTreeMap::from(paths.map(|path| (path, 1))));
}

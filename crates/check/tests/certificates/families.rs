//! Proofs for all values of a parameter: what holds is certified, and what was changed is not.

use std::collections::BTreeMap;
use std::path::Path;

use base::{Budget, NoProgress, Source};
use certify::{Certificate, FamilyMark, FamilyProof, Proof, read, verify_for_all, write};
use check::{ForAll, Outcome, Plan, Uncertified, certificate_for_all, check_for_all};
use model::Composition;
use source::{FrontEnd as _, Loaded, Memory, Options};
use testkit::Random;

/// Why there is no certificate for some properties.
const UNCERTIFIABLE: [&str; 2] = [
    "synchronous processes are not expressed",
    "no solver confirms the obligation",
];

/// Solvers need long for these.
const LARGE: [&str; 3] = ["burns.fair", "dijkstra.fair", "szymanski.fair"];

/// A family with its questions.
struct Asked {
    file: String,
    loaded: Loaded,
}

impl Asked {
    fn examples() -> Vec<Self> {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/parameterized");
        let entries = std::fs::read_dir(folder).expect("the folder exists");
        let mut paths: Vec<_> = entries
            .map(|entry| entry.expect("readable").path())
            .collect();
        paths.sort();
        let load = |path: std::path::PathBuf| {
            let file = path
                .file_name()
                .expect("a file")
                .to_string_lossy()
                .into_owned();
            let text = std::fs::read_to_string(&path).expect("readable");
            let name = file.clone();
            let options = Options::default();
            let loaded = lang::Native.load(Source { name, text }, &Memory::default(), &options);
            Self { file, loaded }
        };
        paths.into_iter().map(load).collect()
    }

    fn of(file: &str) -> Self {
        let mut examples = Self::examples().into_iter();
        examples
            .find(|e| e.file == file)
            .expect("there is such an example")
    }

    fn family(&self) -> &source::Family {
        self.loaded.family().expect("it is a family")
    }

    /// By the abstraction alone.
    fn outcome(&self, asked: usize) -> Outcome {
        let question = ForAll {
            template: &self.family().template,
            property: &self.loaded.questions[asked].property,
            scope: &self.loaded.questions[asked].scope,
            instances: &|_| None,
            cross_check: false,
        };
        let answer = check_for_all(&question, &Plan::default(), &mut NoProgress);
        answer.unwrap_or_else(|bug| panic!("{bug}")).outcome
    }

    fn certificate(&self, asked: usize) -> Result<Certificate, Uncertified> {
        let question = &self.loaded.questions[asked];
        let (template, budget) = (&self.family().template, Budget::unlimited());
        let outcome = self.outcome(asked);
        certificate_for_all(template, question, &outcome, &Options::default(), &budget)
    }

    fn verify(&self, certificate: &Certificate) -> Result<String, String> {
        let mut solvers = certify::installed_solvers(&[]);
        let (questions, budget) = (&self.loaded.questions, Budget::unlimited());
        let verified = verify_for_all(self.family(), questions, certificate, &mut solvers, &budget);
        verified
            .map(|c| c.sentence())
            .map_err(|failure| failure.to_string())
    }
}

/// Every property of the examples that holds for all values is certified, or there is a known reason.
/// The large ones are left to longer runs, which print the count.
#[test]
fn what_holds_for_all_values_is_certified() {
    let is_long = testkit::cases(1) > 1;
    let mut coverage: BTreeMap<String, usize> = BTreeMap::new();
    for asked in Asked::examples() {
        if LARGE.contains(&asked.file.as_str()) && !is_long {
            continue;
        }
        for position in 0..asked.loaded.questions.len() {
            let name = &asked.loaded.questions[position].property.name;
            let composition = asked.family().template.parts.composition;
            // All of these hold, as `tests/parameterized.rs` checks.
            let became = if composition == Composition::Synchronous {
                Err("synchronous processes are not expressed".to_owned())
            } else {
                let found = asked.certificate(position);
                let found = found.map_err(|why| why.to_string());
                found.and_then(|found| asked.verify(&found))
            };
            let became = match became {
                Ok(_) => "certified",
                Err(why) => {
                    let known = UNCERTIFIABLE.iter().find(|known| why.contains(**known));
                    known.unwrap_or_else(|| panic!("{} {name}: {why}", asked.file))
                }
            };
            println!("{} {name}: {became}", asked.file);
            *coverage.entry(became.to_owned()).or_default() += 1;
        }
    }
    println!("{coverage:?}");
    assert!(coverage["certified"] >= 12, "{coverage:?}");
}

/// One change that makes a proof say something else.
fn change(random: &mut Random, proof: &mut FamilyProof) {
    let row = random.below(proof.rows.len());
    let Some(runs) = &mut proof.runs else {
        proof.rows.remove(row);
        return;
    };
    let edge = random.below(runs.edges.len());
    match random.below(5) {
        0 => {
            runs.edges.remove(edge);
        }
        1 => {
            let marks = &mut runs.edges[edge].marks;
            if let Some(mark) = marks.iter_mut().find(|m| **m != FamilyMark::Decreases) {
                *mark = FamilyMark::Decreases;
            }
        }
        2 => {
            let all = runs.conditions.iter_mut();
            all.for_each(|condition| condition.enabled.fill(true));
        }
        3 => {
            let truth = runs.atoms.iter_mut().map(|(_, truth)| truth);
            truth.for_each(|truth| truth[row] = !truth[row]);
        }
        _ => runs.initial.clear(),
    }
}

/// A proof that was changed is rejected, unless it still shows the property: then only what does not
/// matter was changed.
#[test]
fn changed_proofs_for_all_values_are_rejected() {
    let (mut n_changed, mut n_rejected) = (0, 0);
    for (file, name) in [("turn.fair", "exclusion"), ("semaphore.fair", "access")] {
        let asked = Asked::of(file);
        let mut questions = asked.loaded.questions.iter();
        let position = questions.position(|q| q.property.name == name);
        let found = asked.certificate(position.expect("it exists"));
        let found = found.unwrap_or_else(|why| panic!("{file}: {why}"));
        assert_eq!(
            read(&write(std::slice::from_ref(&found))),
            Ok(vec![found.clone()])
        );
        for seed in 0..u64::from(testkit::cases(5)) {
            let mut random = Random::new(seed);
            let mut changed = found.clone();
            let [Proof::Family(proof)] = &mut changed.proofs[..] else {
                panic!("{file}: this is not a proof for all values");
            };
            change(&mut random, proof);
            n_changed += u32::from(changed != found);
            n_rejected += u32::from(asked.verify(&changed).is_err());
        }
    }
    assert!(2 * n_rejected > n_changed, "{n_rejected} of {n_changed}");
}

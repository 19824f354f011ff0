//! Proofs for all values of a parameter: what holds is certified, and what was changed is not.

use std::collections::BTreeMap;
use std::path::Path;

use base::{Budget, NoProgress, Source};
use certify::{Certificate, Change, FamilyEdge, FamilyProof, Proof, read, verify_for_all, write};
use check::{ForAll, Outcome, Plan, Uncertified, certificate_for_all, check_for_all};
use logic::Property;
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
            let file = path.file_name().expect("a file").to_string_lossy();
            let text = std::fs::read_to_string(&path).expect("readable");
            Self::load(&file, text)
        };
        paths.into_iter().map(load).collect()
    }

    fn load(file: &str, text: String) -> Self {
        let name = file.to_owned();
        let options = Options::default();
        let loaded = lang::Native.load(Source { name, text }, &Memory::default(), &options);
        let file = file.to_owned();
        Self { file, loaded }
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
        self.certificate_of(asked, &self.outcome(asked))
    }

    fn certificate_of(&self, asked: usize, outcome: &Outcome) -> Result<Certificate, Uncertified> {
        let question = &self.loaded.questions[asked];
        let (template, budget) = (&self.family().template, Budget::unlimited());
        certificate_for_all(template, question, outcome, &Options::default(), &budget)
    }

    fn position(&self, name: &str) -> usize {
        let mut questions = self.loaded.questions.iter();
        let position = questions.position(|q| q.property.name == name);
        position.expect("there is such a question")
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
    match random.below(6) {
        0 => {
            runs.edges.remove(edge);
        }
        5 => {
            // A second copy of a row, in which propositions are otherwise.
            let copy = proof.rows.len() as u32;
            proof.rows.push(proof.rows[row].clone());
            let twin = |edge: &FamilyEdge| FamilyEdge {
                source: copy,
                ..edge.clone()
            };
            let own = runs.edges.iter().filter(|edge| edge.source as usize == row);
            let twins: Vec<FamilyEdge> = own.map(twin).collect();
            runs.edges.extend(twins);
            runs.edges[edge].target = copy;
            let conditions = runs.conditions.iter_mut();
            conditions.for_each(|condition| condition.enabled.push(false));
            let truths = runs.atoms.iter_mut().map(|(_, truth)| truth);
            truths.for_each(|truth| truth.push(!truth[row]));
        }
        1 => {
            let marks = &mut runs.edges[edge].marks;
            if let Some(mark) = marks.iter_mut().find(|m| **m != Change::Decreases) {
                *mark = Change::Decreases;
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
        let found = asked.certificate(asked.position(name));
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

/// Formulas that are violated for each process `p` of `turn.fair`.
const VIOLATED: [&str; 4] = [
    "eventually always P[p] @ idle",
    "eventually always !(P[p] @ critical)",
    "always (P[p] @ waiting -> next P[p] @ critical)",
    "always (turn == p -> always turn == p)",
];

/// Whatever is changed in a graph so that it seems to show what is violated, solvers or instances
/// refute it.
#[test]
fn what_is_violated_for_all_values_is_never_certified() {
    let text = |asked: &Asked| asked.loaded.sources[0].text.clone();
    let mut extended = text(&Asked::of("turn.fair"));
    for (number, formula) in VIOLATED.iter().enumerate() {
        extended += &format!("\nproperty wrong{number}: forall p in 0..N-1: {formula}");
    }
    let asked = Asked::load("turn.fair", extended);
    let shown = asked.outcome(asked.position("access"));
    let (mut n_forged, wanted) = (0, testkit::cases(6));
    for seed in 0_u64.. {
        if n_forged >= wanted {
            break;
        }
        let mut random = Random::new(seed);
        let mut outcome = shown.clone();
        let Some(Proof::Family(proof)) = &mut outcome.proof else {
            panic!("this is not a proof for all values");
        };
        for _ in 0..1 + random.below(6) {
            change(&mut random, proof);
        }
        // Propositions as the question has them, true and false at random.
        let number = random.below(VIOLATED.len());
        let position = asked.position(&format!("wrong{number}"));
        let Property::Ltl(formula) = &asked.loaded.questions[position].property.property else {
            panic!("the question is about runs");
        };
        let n_rows = proof.rows.len();
        let runs = proof.runs.as_mut().expect("there is a graph");
        let always = random.chance(2).then(|| random.chance(2));
        runs.atoms = formula
            .atoms()
            .into_iter()
            .map(|atom| {
                let truth = (0..n_rows).map(|_| always.unwrap_or_else(|| random.chance(2)));
                (atom.index() as u32, truth.collect())
            })
            .collect();
        let Ok(forged) = asked.certificate_of(position, &outcome) else {
            continue;
        };
        let verified = asked.verify(&forged);
        assert!(verified.is_err(), "seed {seed}: {forged:?}");
        n_forged += 1;
    }
}

/// Damage is noticed; behind a digest that fits, nothing panics, and without solvers nothing is
/// accepted.
#[test]
fn damaged_files_for_all_values_are_rejected() {
    let (mut n_damaged, mut n_read, wanted) = (0, 0, testkit::cases(400));
    let budget = Budget::unlimited().with_max_states(200);
    for (file, name) in [("turn.fair", "exclusion"), ("turn.fair", "access")] {
        let asked = Asked::of(file);
        let found = asked.certificate(asked.position(name));
        let whole = write(&[found.unwrap_or_else(|why| panic!("{file}: {why}"))]);
        for seed in 0..u64::from(wanted / 2) {
            let mut random = Random::new(seed);
            let mut bytes = crate::damaged(&mut random, &whole);
            assert!(
                read(&bytes).is_err(),
                "{name} {seed}: damage is not noticed"
            );
            if bytes.len() > 32 {
                crate::seal(&mut bytes);
            }
            for certificate in read(&bytes).into_iter().flatten() {
                let (family, questions) = (asked.family(), &asked.loaded.questions);
                let verified = verify_for_all(family, questions, &certificate, &mut [], &budget);
                assert!(verified.is_err(), "{name} {seed}");
                n_read += 1;
            }
            n_damaged += 1;
        }
    }
    assert!(n_read > n_damaged / 10, "{n_read} of {n_damaged}");
}

/// A state in two rows could be taken for either: with copies of all rows in which a proposition is
/// false, a graph would show that it is false, although the rows themselves say when it is true.
#[test]
fn a_row_that_is_there_twice_is_rejected() {
    let mut text = Asked::of("turn.fair").loaded.sources[0].text.clone();
    text += "\nproperty never: forall p in 0..N-1: eventually always !(P[p] @ critical)";
    let asked = Asked::load("turn.fair", text);
    let mut outcome = asked.outcome(asked.position("access"));
    let Some(Proof::Family(proof)) = &mut outcome.proof else {
        panic!("this is not a proof for all values");
    };
    let n_rows = proof.rows.len() as u32;
    proof.rows.extend(proof.rows.clone());
    let runs = proof.runs.as_mut().expect("there is a graph");
    let copied = |edge: &FamilyEdge| FamilyEdge {
        source: edge.source + n_rows,
        target: edge.target + n_rows,
        ..edge.clone()
    };
    let copies: Vec<FamilyEdge> = runs.edges.iter().map(copied).collect();
    runs.edges.extend(copies);
    runs.initial.iter_mut().for_each(|row| *row += n_rows);
    for condition in &mut runs.conditions {
        condition.enabled.extend_from_within(..);
    }
    let position = asked.position("never");
    let Property::Ltl(formula) = &asked.loaded.questions[position].property.property else {
        panic!("the question is about runs");
    };
    let [(atom, truth)] = &mut runs.atoms[..] else {
        panic!("the property has one proposition");
    };
    *atom = formula.atoms()[0].index() as u32;
    truth.resize(2 * n_rows as usize, false);

    let forged = asked.certificate_of(position, &outcome);
    let forged = forged.map_err(|why| why.to_string());
    let verified = forged.and_then(|forged| asked.verify(&forged));
    assert_eq!(verified, Err("the graph is not well formed".to_owned()));
}

//! The claims about the models in `examples` and `testdata`, in all languages.

use std::path::{Path, PathBuf};

use base::Source;
use model::Model;
use source::{Content, Files, FrontEnd, Options, Unreadable};
use testkit::{Random, cases};

use crate::footprints::{self, Counts};
use crate::forms::compare_elimination;
use crate::relations;
use crate::sources::Subject;
use crate::states::{arbitrary, reachable};

/// Larger models are compared as to their footprints only: pairs of steps would take too long.
const MAX_RELATED: usize = 60;

/// Models with more transitions are not compared at all.
const MAX_TRANSITIONS: usize = 3_000;

#[test]
fn claims_about_examples_are_true() {
    let (mut counts, mut related) = (Counts::default(), relations::Counts::default());
    let mut n_models = 0;
    for path in files() {
        for (name, model) in models(&path) {
            // Unbounded data has no states to be listed.
            if model.transitions().len() > MAX_TRANSITIONS || model.unbounded().is_some() {
                continue;
            }
            n_models += 1;
            let subject = Subject::new(name, model);
            compare(&subject, &mut counts, &mut related);
        }
    }
    assert!(n_models > 100, "{n_models} models");
    // With fewer cases, fewer states of each model are looked at; with more, not always more.
    let many = cases(1_000).min(1_000) as usize;
    assert!(
        counts.changes > 2 * many && counts.steps > many,
        "{counts:?}"
    );
    assert!(related.independent > many, "{related:?}");
}

fn compare(subject: &Subject, counts: &mut Counts, related: &mut relations::Counts) {
    let random = &mut Random::new(7);
    let (states, _) = reachable(&subject.model, cases(10) as usize);
    let claims = subject.claims(false);
    let is_small = claims.units.len() <= MAX_RELATED;

    for state in &states {
        let finding = footprints::compare(subject, &claims, state, random, counts);
        assert_eq!(finding, None);
        assert_eq!(compare_elimination(subject, &claims, state), None);
        if is_small {
            assert_eq!(relations::compare(subject, &claims, state, related), None);
        }
    }

    let claims = subject.claims(true);
    for _ in 0..cases(5) {
        let state = arbitrary(&subject.model, random);
        let finding = footprints::compare(subject, &claims, &state, random, counts);
        assert_eq!(finding, None);
        if is_small {
            assert_eq!(relations::compare(subject, &claims, &state, related), None);
        }
    }
}

fn files() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut open = vec![root.join("examples"), root.join("testdata")];
    let mut found = Vec::new();
    while let Some(folder) = open.pop() {
        for entry in std::fs::read_dir(&folder).expect("the folder exists") {
            let path = entry.expect("readable").path();
            if path.is_dir() {
                open.push(path);
            } else {
                found.push(path);
            }
        }
    }
    found.sort();
    found
}

/// The models of a file; none if it is not a model, or one without a fixed size.
fn models(path: &Path) -> Vec<(String, Model)> {
    const FRONT_ENDS: [&dyn FrontEnd; 3] = [&lang::Native, &csp::Csp, &promela::Promela];
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    let reads = |front_end: &&dyn FrontEnd| front_end.extensions().contains(&extension);
    let Some(front_end) = FRONT_ENDS.into_iter().find(reads) else {
        return Vec::new();
    };
    let Ok(text) = Disk.read(path) else {
        return Vec::new();
    };

    let name = path.display().to_string();
    let source = Source {
        name: name.clone(),
        text,
    };
    let loaded = front_end.load(source, &Disk, &Options::default());
    let Some(Content::Systems(systems)) = loaded.content else {
        return Vec::new();
    };
    let systems = systems.into_iter();
    systems.map(|system| (name.clone(), system.model)).collect()
}

/// The files of the repository.
struct Disk;

impl Files for Disk {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        std::fs::read_to_string(path).map_err(|error| Unreadable {
            message: format!("`{}` cannot be read", path.display()),
            cause: Some(error.to_string()),
        })
    }
}

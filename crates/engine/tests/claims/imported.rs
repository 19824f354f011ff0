//! The claims about the models in `examples` and `testdata`, in all languages.

use std::path::{Path, PathBuf};

use base::Source;
use model::Model;
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
    assert!(counts.changes > 2_000 && counts.steps > 1_000, "{counts:?}");
    assert!(related.independent > 1_000, "{related:?}");
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
    let extension = path.extension().and_then(|e| e.to_str()).unwrap_or("");
    if !["fair", "pml", "csp"].contains(&extension) {
        return Vec::new();
    }
    let Ok(text) = std::fs::read_to_string(path) else {
        return Vec::new();
    };
    let name = path.display().to_string();
    let source = Source {
        name: name.clone(),
        text,
    };
    let options = import::Options::default();
    let folder = path.parent().expect("it is in a folder");
    match extension {
        "fair" => {
            let loaded = lang::load(source, &lang::Options::default());
            loaded
                .model
                .map(|model| (name, model))
                .into_iter()
                .collect()
        }
        "pml" => {
            let mut read = |file: &str| {
                let text = std::fs::read_to_string(folder.join(file));
                let name = file.to_owned();
                text.map(|text| Source { name, text })
                    .map_err(|error| error.to_string())
            };
            let loaded = import::promela::load(source, &options, &mut read);
            loaded
                .model
                .map(|model| (name, model))
                .into_iter()
                .collect()
        }
        _ => {
            let loaded = import::csp::load(source, &options, &mut |_| None);
            let systems = loaded.systems.into_iter();
            systems.map(|system| (name.clone(), system.model)).collect()
        }
    }
}

//! Random models, and what is claimed about them.

use base::{AtomId, Fairness, Source};
use engine::{Claims, System};
use model::{Condition, Model};
use testkit::{ModelShape, Random, communicating_text, random_model, related_text};

/// Under which claims about fairness are compared.
const KINDS: [&str; 5] = [
    "annotated",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
];

/// A model with what is asked about it.
pub struct Subject {
    pub name: String,
    pub model: Model,
    pub atoms: Vec<AtomId>,
    pub conditions: Vec<Condition>,
}

impl Subject {
    pub fn new(name: String, model: Model) -> Self {
        let atoms = (0..model.parts().atoms.len()).map(AtomId::new).collect();
        let kinds = KINDS.map(|kind| Fairness::parse(kind).expect("it is a kind"));
        let mut conditions: Vec<Condition> = Vec::new();
        for condition in kinds.into_iter().flat_map(|k| model.fairness_conditions(k)) {
            if !conditions.contains(&condition) {
                conditions.push(condition);
            }
        }
        Self {
            name,
            model,
            atoms,
            conditions,
        }
    }

    /// A random model of any kind.
    pub fn random(seed: u64) -> Self {
        let random = &mut Random::new(seed);
        let model = match seed % 8 {
            0 => random_model(random, ModelShape::Rich),
            1 => random_model(random, ModelShape::Loose),
            2 => random_model(random, ModelShape::Alike),
            3 => random_model(random, ModelShape::Tiny),
            4 | 5 => load(&related_text(random)),
            _ => load(&communicating_text(random)),
        };
        Self::new(format!("seed {seed}"), model)
    }

    /// What is claimed, for code that may be executed only, or for all code.
    pub fn claims(&self, all_code: bool) -> Claims {
        let system = if all_code {
            System::with_all_code(&self.model)
        } else {
            System::new(&self.model)
        };
        let mut system = system.expect("the model is small");
        let claims = system.claims(&self.atoms, &self.conditions);
        claims.expect("the propositions are small")
    }

    /// Do the steps of a state depend on each other? Then nothing is claimed about what is enabled.
    pub fn has_ruling(&self) -> bool {
        self.model.levels().len() > 1 || self.model.parts().control.is_some()
    }

    /// Do all processes move together? Then nothing is claimed about units.
    pub fn is_synchronous(&self) -> bool {
        self.model.parts().composition == model::Composition::Synchronous
    }
}

/// The model of a text.
pub fn load(text: &str) -> Model {
    let source = Source {
        name: "m.fair".into(),
        text: text.into(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let diagnostics = loaded.diagnostics;
    loaded
        .model
        .unwrap_or_else(|| panic!("{diagnostics:?}\n{text}"))
}

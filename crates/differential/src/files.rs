//! Cases from the files of the repository: examples, tables of verdicts, past findings.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, anyhow, bail};
use base::{Fairness, Source};
use logic::{NamedProperty, Property};
use model::Model;
use model::threshold::ThresholdAutomaton;
use serde::Deserialize;
use source::{Content, Files, FrontEnd, Loaded, Options, QuestionKind, Unreadable};

use crate::{Answer, Case};

/// The kinds of the column `verdicts` of `testdata/*.toml`.
const KINDS: [&str; 6] = [
    "none",
    "weak-process",
    "strong-process",
    "weak",
    "strong",
    "strong-global",
];

/// Instances of examples with one parameter.
const INSTANCES: [i64; 2] = [2, 3];

/// Values of several parameters are tried up to this one.
const MAX_VALUE: i64 = 7;

/// The root of the repository.
#[must_use]
pub fn root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2);
    root.expect("crates lie two levels deep").to_owned()
}

/// Where cases come from: a file, or a row of a table.
#[derive(Clone, Debug)]
pub struct Origin {
    row: Row,
    /// Is the row of a table, which says what is asked and what the answer is?
    is_row: bool,
    /// Is the first of the instances of a family?
    is_first_member: bool,
}

/// A row of `testdata/*.toml`; its `README.md` says what the fields mean.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Row {
    model: String,
    property: String,
    #[serde(default)]
    define: BTreeMap<String, String>,
    #[serde(default)]
    replace: BTreeMap<String, String>,
    #[serde(default)]
    assume: Vec<String>,
    #[serde(default, rename = "abstract")]
    abstract_timers: BTreeMap<String, String>,
    #[serde(default, rename = "states")]
    _states: Option<u64>,
    #[serde(default, rename = "transitions")]
    _transitions: Option<u64>,
    verdicts: Option<String>,
    #[serde(default)]
    under: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct Suite {
    case: Vec<Row>,
}

/// Past findings, which are always compared first. Of the files about defects, those whose text is
/// right; the others are about diagnostics.
///
/// # Errors
/// A file cannot be read.
pub fn corpus() -> Result<Vec<Origin>> {
    let mut origins = models_in("crates/differential/corpus")?;
    if root().join("testdata/defects").is_dir() {
        let mut defects = models_in("testdata/defects")?;
        defects.retain(|origin| origin.load().is_ok());
        origins.extend(defects);
    }
    Ok(origins)
}

/// All examples and all rows of the tables of verdicts, but those of unbounded data: only one route
/// decides these, for which minutes pass (`predicates.rs` compares it on programs of its own).
///
/// # Errors
/// A file cannot be read.
pub fn repository() -> Result<Vec<Origin>> {
    let mut origins = models_in("examples")?;
    origins.retain(|origin| !origin.row.model.starts_with("examples/predicate/"));
    for path in sorted(&root().join("testdata"))? {
        // The rows of the first are calls of the program, and its models are among the past findings;
        // the others have texts that are not finite models.
        let others = ["defects.toml", "families.toml", "programs.toml"];
        let is_table = path
            .extension()
            .is_some_and(|extension| extension == "toml");
        if is_table && !others.iter().any(|other| path.ends_with(other)) {
            let text = fs::read_to_string(&path)?;
            let suite: Suite = toml::from_str(&text).with_context(|| name_of(&path))?;
            let rows = suite.case.into_iter();
            origins.extend(rows.map(|row| Origin {
                row,
                is_row: true,
                is_first_member: false,
            }));
        }
    }
    Ok(origins)
}

fn models_in(folder: &str) -> Result<Vec<Origin>> {
    let mut origins = Vec::new();
    for path in sorted(&root().join(folder))? {
        let name = name_of(&path);
        if path.is_dir() {
            origins.extend(models_in(&name)?);
            continue;
        }
        let extension = path.extension().and_then(|extension| extension.to_str());
        if !matches!(extension, Some("fair" | "csp" | "pml")) {
            continue;
        }
        let text = fs::read_to_string(&path)?;
        let content = read(
            Source {
                name: name.clone(),
                text,
            },
            &Options::default(),
        )?
        .content;
        let is_family = matches!(content, Some(Content::Family(_)));

        for (number, define) in instances(content.as_ref()).into_iter().enumerate() {
            let row = Row {
                model: name.clone(),
                define,
                ..Row::default()
            };
            origins.push(Origin {
                row,
                is_row: false,
                is_first_member: is_family && number == 0,
            });
        }
    }

    Ok(origins)
}

/// Values for the parameters of a text that have none.
fn instances(content: Option<&Content>) -> Vec<BTreeMap<String, String>> {
    match content {
        Some(Content::Family(family)) => {
            let name = &family.template.name;
            let with = |value: i64| BTreeMap::from([(name.clone(), value.to_string())]);
            INSTANCES.into_iter().map(with).collect()
        }
        Some(Content::Threshold(automata)) => small_values(&automata[0]),
        Some(Content::Systems(_)) | None => vec![BTreeMap::new()],
    }
}

/// The least values that the automaton admits, and the least of those that are all positive.
fn small_values(automaton: &ThresholdAutomaton) -> Vec<BTreeMap<String, String>> {
    let mut all: Vec<Vec<i64>> = vec![Vec::new()];
    for _ in &automaton.parameters {
        let longer = |values: Vec<i64>| {
            (0..=MAX_VALUE).map(move |value| [values.as_slice(), &[value]].concat())
        };
        all = all.into_iter().flat_map(longer).collect();
    }
    all.retain(|values| automaton.admits(values));
    all.sort_by_key(|values| values.iter().sum::<i64>());

    let least = all.first();
    let positive = all
        .iter()
        .find(|values| values.iter().all(|value| *value > 0));
    let mut found: Vec<&Vec<i64>> = least.into_iter().chain(positive).collect();
    found.dedup();

    let named = |values: &Vec<i64>| {
        let values = values.iter().map(ToString::to_string);
        automaton.parameters.iter().cloned().zip(values).collect()
    };
    found.into_iter().map(named).collect()
}

fn sorted(folder: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(folder).with_context(|| name_of(folder))?;
    let paths: Result<Vec<PathBuf>, _> = entries.map(|entry| entry.map(|e| e.path())).collect();
    let mut paths = paths?;
    paths.sort();
    Ok(paths)
}

fn name_of(path: &Path) -> String {
    let path = path.strip_prefix(root()).unwrap_or(path);
    path.display().to_string()
}

/// A model that a text describes, and the questions about it.
pub(crate) struct System {
    pub(crate) model: Model,
    pub(crate) properties: Vec<NamedProperty>,
    pub(crate) sources: Vec<Source>,
}

impl Origin {
    /// What a report calls it.
    #[must_use]
    pub fn name(&self) -> String {
        let Row {
            model,
            define,
            replace,
            property,
            ..
        } = &self.row;
        format!("{model} {define:?} {replace:?} {property}")
    }

    /// The text of a model whose number of processes is open; each such text comes once.
    ///
    /// # Errors
    /// The file cannot be read.
    pub fn template(&self) -> Result<Option<String>> {
        if !self.is_first_member {
            return Ok(None);
        }
        let text = fs::read_to_string(root().join(&self.row.model))?;
        Ok(Some(text))
    }

    /// The cases, with searches that store so many states at most. None if no state of the model
    /// can be visited.
    ///
    /// # Errors
    /// The file is not as it should be.
    pub fn cases(&self, max_states: u64) -> Result<Vec<Case>> {
        let mut cases = Vec::new();
        for system in self.load()? {
            let System {
                model,
                properties,
                sources,
            } = system;
            if model.unbounded().is_some() || has_integers(&model) {
                continue;
            }
            for property in properties {
                if matches!(property.property, Property::MayMust(_)) {
                    continue;
                }
                let under = if self.is_row {
                    self.expectations()?
                } else {
                    vec![(check::effective_fairness(&model, &property, None), None)]
                };
                for (fairness, expected) in under {
                    cases.push(Case {
                        name: format!("{}: {}", self.name(), property.name),
                        model: model.clone(),
                        sources: sources.clone(),
                        property: property.clone(),
                        fairness,
                        max_states,
                        expected,
                    });
                }
            }
        }

        Ok(cases)
    }

    fn load(&self) -> Result<Vec<System>> {
        let Row {
            model,
            replace,
            property,
            ..
        } = &self.row;

        let path = root().join(model);
        let mut text = fs::read_to_string(&path).with_context(|| model.clone())?;
        for (old, new) in replace {
            text = text.replace(old, new);
        }
        let mut systems = load(
            Source {
                name: model.clone(),
                text,
            },
            &Options {
                defines: self.row.define.clone().into_iter().collect(),
                assume: self.row.assume.clone(),
                abstract_timers: self.row.abstract_timers.clone().into_iter().collect(),
                ..Options::default()
            },
        )?;

        if self.is_row {
            for system in &mut systems {
                system.properties.retain(|known| known.name == *property);
            }
            if systems.iter().all(|system| system.properties.is_empty()) {
                bail!("{} does not exist", self.name());
            }
        }

        Ok(systems)
    }

    /// Under which fairness which answer is right.
    fn expectations(&self) -> Result<Vec<(Fairness, Option<Answer>)>> {
        let mut rows: Vec<(&str, &str)> = Vec::new();
        if let Some(verdicts) = &self.row.verdicts {
            rows.extend(KINDS.into_iter().zip(verdicts.split_whitespace()));
        }
        let under = self.row.under.iter();
        rows.extend(under.map(|(kind, verdict)| (kind.as_str(), verdict.as_str())));
        let expectation = |(kind, verdict): (&str, &str)| {
            let fairness =
                Fairness::parse(kind).ok_or_else(|| anyhow!("`{kind}` is not a kind"))?;
            let expected = match verdict {
                "Y" => Some(Answer::Holds),
                "N" => Some(Answer::Violated),
                "·" => None,
                other => bail!("{}: `{other}` is not a verdict", self.name()),
            };
            Ok((fairness, expected))
        };
        rows.into_iter().map(expectation).collect()
    }
}

/// The languages whose files are compared.
const FRONT_ENDS: [&dyn FrontEnd; 3] = [&lang::Native, &csp::Csp, &promela::Promela];

/// Files that models import, by their paths in the repository.
struct Repository;

impl Files for Repository {
    fn read(&self, path: &Path) -> Result<String, Unreadable> {
        let text = fs::read_to_string(root().join(path));
        text.map_err(|error| Unreadable {
            message: format!("`{}` cannot be read", path.display()),
            cause: Some(error.to_string()),
        })
    }
}

/// What becomes of a text in the language that its name stands for.
fn read(source: Source, options: &Options) -> Result<Loaded> {
    let extension = Path::new(&source.name)
        .extension()
        .and_then(|extension| extension.to_str())
        .unwrap_or_default();
    let reads = |front_end: &&dyn FrontEnd| front_end.extensions().contains(&extension);
    let front_end = FRONT_ENDS.into_iter().find(reads);
    let front_end = front_end.ok_or_else(|| anyhow!("nothing reads `{}`", source.name))?;
    Ok(front_end.load(source, &Repository, options))
}

/// The systems that a text describes, each with the questions about it that a search of it answers.
pub(crate) fn load(source: Source, options: &Options) -> Result<Vec<System>> {
    let name = source.name.clone();
    // Cases have values for all parameters.
    let options = Options {
        closed: true,
        ..options.clone()
    };
    let loaded = read(source, &options)?;
    let wrong = format!("{name}: {:?}", loaded.diagnostics);
    let Some(Content::Systems(systems)) = loaded.content else {
        bail!(wrong);
    };

    let mut properties: Vec<Vec<NamedProperty>> = vec![Vec::new(); systems.len()];
    for question in loaded.questions {
        match question.kind {
            QuestionKind::Property | QuestionKind::EndStates => {
                properties[question.system].push(question.property);
            }
            QuestionKind::Optimum { .. }
            | QuestionKind::Deterministic { .. }
            | QuestionKind::Refines { .. } => {}
        }
    }

    let system = |(system, properties): (source::System, Vec<NamedProperty>)| System {
        model: system.model,
        properties,
        sources: loaded.sources.clone(),
    };
    Ok(systems.into_iter().zip(properties).map(system).collect())
}

/// Are there integers without bounds? Then routes other than a search may answer.
fn has_integers(model: &Model) -> bool {
    model
        .cells()
        .iter()
        .any(|cell| cell.ty == model::Scalar::Int)
}

//! Which constructs random models and formulas contain, and whether they matter there.
//!
//! A construct is *produced* where it occurs. It *matters* where something else in its place (for an
//! operator the one that is most easily confused with it, for a leaf a constant, for a statement,
//! condition or annotation nothing) behaves differently by the reference semantics: other first
//! states, steps or letters, for constructs about fairness other fair runs, for formulas another
//! verdict. A generator that produces a construct only where it does not matter tests nothing.

mod behaviour;
mod blocks;
mod formulas;
mod mutants;
mod names;
mod sites;
mod table;

use std::collections::BTreeMap;

use base::{Fairness, FairnessKind};
use logic::Property;
use model::{Model, ModelParts};

use crate::{Random, ReferenceGraph, judge};
use behaviour::{Behaviour, fair_runs};
pub use table::{CONSTRUCTS, EXCEPTIONS};

/// How often a construct was met.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub struct Row {
    /// How often it occurred.
    pub produced: u64,
    /// How often it was tried whether it matters.
    pub tried: u64,
    /// How often it mattered.
    pub mattered: u64,
}

/// A row for each construct.
#[derive(Clone, Debug)]
pub struct Census {
    rows: BTreeMap<&'static str, Row>,
}

impl Default for Census {
    fn default() -> Self {
        let row = |name: &&'static str| (*name, Row::default());
        Self {
            rows: CONSTRUCTS.iter().map(row).collect(),
        }
    }
}

/// How many sites of a model are tried.
const N_TRIED: usize = 5;

/// Constructs that have mattered this often are not tried any more.
const ENOUGH: u64 = 5;

impl Census {
    /// The rows, by the name of the construct.
    #[must_use]
    pub fn rows(&self) -> &BTreeMap<&'static str, Row> {
        &self.rows
    }

    /// One line for each construct: its name, how often it was produced, tried, and mattered.
    #[must_use]
    pub fn table(&self) -> String {
        let line = |(name, row): (&&str, &Row)| {
            format!(
                "{name:<34} {:>9} {:>7} {:>7}\n",
                row.produced, row.tried, row.mattered
            )
        };
        self.rows.iter().map(line).collect()
    }

    /// The constructs that were never produced, or never mattered.
    #[must_use]
    pub fn missing(&self) -> Vec<&'static str> {
        let is_missing = |row: &Row| row.produced == 0 || row.mattered == 0;
        let missing = self.rows.iter().filter(|(_, row)| is_missing(row));
        missing.map(|(name, _)| *name).collect()
    }

    /// Adds what another census counted.
    pub fn join(&mut self, other: &Self) {
        for (name, more) in &other.rows {
            let row = self.row(name);
            row.produced += more.produced;
            row.tried += more.tried;
            row.mattered += more.mattered;
        }
    }

    /// Counts the constructs of a model, and tries whether a few of them matter: those that were
    /// tried least.
    pub fn add_model(&mut self, model: &Model) {
        let sites = names_of_sites(model);
        for name in sites.iter().flatten() {
            self.row(name).produced += 1;
        }
        let blocks = blocks::seen_in_steps(model.parts());
        for (name, _) in &blocks {
            self.row(name).produced += 1;
        }

        let behaviour = Behaviour::of(model);
        for error in behaviour.errors() {
            // That an error happens is seen at once.
            let row = self.row(names::of_error(error));
            row.produced += 1;
            row.tried += 1;
            row.mattered += 1;
        }
        self.try_sites(model, &sites, &behaviour);
        self.try_blocks(blocks, &behaviour);
        self.try_fairness(model);
    }

    /// Counts the constructs of a property and of the fairness under which it is asked, and tries
    /// whether they matter.
    pub fn add_property(
        &mut self,
        model: &Model,
        graph: &ReferenceGraph,
        (property, fairness): (&Property, Fairness),
        random: &mut Random,
    ) {
        let notion = formulas::of_fairness(fairness);
        for name in notion.iter().copied().chain(formulas::names(property)) {
            self.row(name).produced += 1;
        }
        let Ok(Some(verdict)) = judge(model, graph, property, fairness) else {
            return;
        };

        let needed = notion.iter().any(|name| self.is_needed(name));
        if needed && let Some(found) = fair_runs(model, &[fairness]) {
            let without = fair_runs(model, &[Fairness::default()]);
            for name in notion {
                self.count(name, without.as_ref() != Some(&found));
            }
        }

        // One subformula of the kind that has mattered least.
        let mut parts = formulas::parts(property);
        if !parts.is_empty() {
            let turn = random.below(parts.len());
            parts.rotate_left(turn);
        }

        let key = |(name, _): &&(&'static str, Vec<Property>)| self.rows[name].mattered;
        let Some((name, others)) = parts.iter().min_by_key(key) else {
            return;
        };
        let differs = others
            .iter()
            .any(|other| judge(model, graph, other, fairness) != Ok(Some(verdict)));
        self.count(name, differs);

        // A kind of property matters where its parts do.
        self.count(formulas::kind(property), differs);
    }

    fn try_sites(&mut self, model: &Model, sites: &[Vec<&'static str>], behaviour: &Behaviour) {
        let mut order: Vec<usize> = (0..sites.len()).collect();
        order.retain(|site| sites[*site].iter().any(|name| self.is_needed(name)));
        let tried = |name: &&str| (self.rows[name].mattered, self.rows[name].tried);
        order.sort_by_key(|site| sites[*site].iter().map(tried).min());

        for site in order.into_iter().take(N_TRIED) {
            let mut differs = None;
            for number in 0.. {
                let Some(parts) = with_replacement(model.parts(), site, number) else {
                    break;
                };
                if let Ok(other) = parts.finish() {
                    differs = Some(Behaviour::of(&other) != *behaviour);
                    if differs == Some(true) {
                        break;
                    }
                }
            }
            if let Some(differs) = differs {
                for name in &sites[site] {
                    self.count(name, differs);
                }
            }
        }
    }

    fn try_blocks(&mut self, mut blocks: Vec<blocks::Without>, behaviour: &Behaviour) {
        blocks.retain(|(name, _)| self.is_needed(name));
        blocks.sort_by_key(|(name, _)| (self.rows[name].mattered, self.rows[name].tried));
        for (name, parts) in blocks.into_iter().take(N_TRIED) {
            if let Ok(other) = parts.finish() {
                self.count(name, Behaviour::of(&other) != *behaviour);
            }
        }
    }

    fn try_fairness(&mut self, model: &Model) {
        let blocks = blocks::seen_in_fair_runs(model.parts());
        for (name, _) in &blocks {
            self.row(name).produced += 1;
        }
        let is_declared = model.parts().fairness.is_some();
        if is_declared {
            self.row("fairness of the model").produced += 1;
        }
        let is_asked = is_declared && self.is_needed("fairness of the model");
        let mut blocks = blocks;
        blocks.retain(|(name, _)| self.is_needed(name));

        let t_fair = Fairness::parse("none+timers").expect("the name is right");
        if model.abstract_timers().next().is_some() && self.is_needed("fairness: timers") {
            let [none, with] = [Fairness::default(), t_fair].map(|f| fair_runs(model, &[f]));
            self.count("fairness: timers", none != with);
        }
        if blocks.is_empty() && !is_asked {
            return;
        }

        // Annotations matter under the first, declared interference under the second.
        let notions = [
            Fairness::parse("annotated").expect("the name is right"),
            Fairness::of(FairnessKind::Just),
            model.parts().fairness.unwrap_or_default(),
        ];
        let Some(judgements) = fair_runs(model, &notions) else {
            return;
        };
        for (name, parts) in blocks {
            let Ok(other) = parts.finish() else { continue };
            if let Some(others) = fair_runs(&other, &notions[..2]) {
                self.count(name, others != judgements[..others.len()]);
            }
        }

        if is_asked && let Some(others) = fair_runs(model, &[Fairness::default()]) {
            let differs = others != judgements[judgements.len() - others.len()..];
            self.count("fairness of the model", differs);
        }
    }

    fn is_needed(&self, name: &str) -> bool {
        self.rows[name].mattered < ENOUGH
    }

    fn count(&mut self, name: &'static str, mattered: bool) {
        let row = self.row(name);
        row.tried += 1;
        row.mattered += u64::from(mattered);
    }

    fn row(&mut self, name: &'static str) -> &mut Row {
        let row = self.rows.get_mut(name);
        row.unwrap_or_else(|| panic!("`{name}` is not in the table of constructs"))
    }
}

fn names_of_sites(model: &Model) -> Vec<Vec<&'static str>> {
    let mut found = Vec::new();
    let mut parts = model.parts().clone();
    sites::walk(&mut parts, &mut |site| {
        found.push(names::of_site(model.parts(), &site));
    });
    found
}

/// The model with one of the replacements for a site; nothing if it has not as many.
fn with_replacement(parts: &ModelParts, site: usize, number: usize) -> Option<ModelParts> {
    let mut parts = parts.clone();
    let (mut next, mut exists) = (0, false);
    sites::walk(&mut parts, &mut |found| {
        if next == site {
            exists = mutants::replace(found, number);
        }
        next += 1;
    });
    exists.then_some(parts)
}

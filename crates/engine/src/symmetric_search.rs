//! The search for a fair run among representatives of states that differ by a permutation of
//! processes.
//!
//! A representative does not say who is who, but fairness asks. So an edge of the product comes
//! with a renaming of the marks of all conditions: let q → t be a step and s the permutation that
//! sorts t into its representative s(t). The condition on X in s(t) is the one on s⁻¹(X) in t.
//! [`omega::find_fair_cycle_symmetric`] does the rest. The steps of the lasso that
//! [`omega::symmetric_lasso`] makes are followed in the model, with the permutation of each, until
//! every process is back in place.
//!
//! One thread, and its state cannot be kept.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use base::{Budget, Progress};
use model::Condition;
use omega::{
    EdgeBuffer, Graph, Lasso, MarkId, NodeId, Renaming, SymmetricAcceptance, SymmetricGraph,
};
use rustc_hash::FxHashMap;

use crate::canonicalize::{Canonicalizer, concrete_run_at};
use crate::compile::CompileError;
use crate::explore::Stats;
use crate::product::{Gauge, Halt, OwnSpace, Plan, Product};
use crate::search::{Outcome, Query, observed, to_trace};
use crate::symmetry::{Permutation, Symmetry};
use crate::system::{Steps, System};

/// Among how many nodes of the covering a short loop is looked for.
const EFFORT: usize = 20_000;

/// Searches a fair run that the automaton accepts. The system must exchange processes, and the
/// conditions be among those that it was told of then. The run is one of the model.
pub(crate) fn find_symmetric_run(
    system: &mut System<'_>,
    query: &Query<'_>,
    budget: &Budget,
    progress: &mut dyn Progress,
) -> Result<(Outcome, Stats), CompileError> {
    let conditions = without_repetitions(query.conditions);
    let query = Query {
        conditions: &conditions,
        checkpoints: None,
        ..query.clone()
    };
    let gauge = Gauge::default();
    let plan = Plan::new(system, &query)?;
    let n_states = query.automaton.n_states();
    let room = (system.n_words(), system.limits);
    let space = OwnSpace::new(room, plan.n_letter_words(), n_states);
    let form = system
        .canonicalizer
        .clone()
        .expect("processes are exchanged");
    let product = Product::new(system, &query, plan, space, (budget, &gauge));
    let mut quotient = Quotient::new(product, form);
    let outcome = search(&mut quotient, &query, &gauge, progress);
    let outcome = outcome.unwrap_or_else(Outcome::from);
    let mut stats = quotient.product.stats(query.atoms);
    stats.is_partial = outcome == Outcome::NoRun && !quotient.product.is_explored();
    stats.memory_bytes += gauge.search_bytes.load(Ordering::Relaxed);
    Ok((outcome, stats))
}

fn search(
    quotient: &mut Quotient<'_, '_>,
    query: &Query<'_>,
    gauge: &Gauge,
    progress: &mut dyn Progress,
) -> Result<Outcome, Halt> {
    let acceptance: SymmetricAcceptance = quotient.product.symmetric_acceptance(query.automaton);
    let mut observe = |stats: &omega::SearchStats| {
        observed(stats, gauge, progress);
        Ok(())
    };
    let search = omega::find_fair_cycle_symmetric(quotient, &acceptance, &mut observe);
    let Some(component) = search.result? else {
        if query.all_states {
            quotient.product.explore_rest()?;
        }
        return Ok(Outcome::NoRun);
    };
    let lasso = omega::symmetric_lasso(quotient, component, &acceptance, EFFORT, &mut observe)?;
    quotient.concrete(&lasso)
}

/// The conditions, each once.
fn without_repetitions(conditions: &[Condition]) -> Vec<Condition> {
    let mut unique: Vec<Condition> = Vec::new();
    for condition in conditions {
        let is_same =
            |other: &Condition| other.kind == condition.kind && other.subject == condition.subject;
        if !unique.iter().any(is_same) {
            unique.push(condition.clone());
        }
    }
    unique
}

/// The product over representatives, with renamings.
struct Quotient<'a, 'm> {
    product: Product<'a, 'm, OwnSpace>,
    form: Arc<Canonicalizer>,
    /// Every condition with its marks.
    conditions: Vec<(Condition, Vec<MarkId>)>,
    numbers: FxHashMap<Permutation, u32>,
    renamings: Vec<Renaming>,
    steps: Steps,
}

impl<'a, 'm> Quotient<'a, 'm> {
    fn new(product: Product<'a, 'm, OwnSpace>, form: Arc<Canonicalizer>) -> Self {
        let conditions = product.condition_marks().into_iter();
        Self {
            conditions: conditions
                .map(|(condition, marks)| (condition.clone(), marks))
                .collect(),
            product,
            form,
            numbers: FxHashMap::default(),
            renamings: Vec::new(),
            steps: Steps::default(),
        }
    }

    fn symmetry(&self) -> &Symmetry {
        let symmetry = self.form.symmetry.as_ref();
        symmetry.expect("processes are exchanged")
    }

    /// The number of the renaming that undoes a permutation.
    fn number(&mut self, sorted: Permutation) -> u32 {
        if let Some(number) = self.numbers.get(&sorted) {
            return *number;
        }
        let number = self.renamings.len() as u32;
        self.renamings.push(self.undoing(&sorted));
        self.numbers.insert(sorted, number);
        number
    }

    fn undoing(&self, sorted: &Permutation) -> Renaming {
        let model = self.product.system.model();
        let mut pairs = Vec::new();
        for (condition, marks) in &self.conditions {
            let subject = self
                .symmetry()
                .permuted_subject(model, sorted, &condition.subject);
            let is_image = |other: &&(Condition, Vec<MarkId>)| {
                other.0.kind == condition.kind && Some(&other.0.subject) == subject.as_ref()
            };
            let image = self.conditions.iter().find(is_image);
            let (_, images) = image.expect("conditions are permuted");
            pairs.extend(images.iter().copied().zip(marks.iter().copied()));
        }
        Renaming::new(pairs)
    }

    /// The edges of a node, and for each step that they take its true position among the steps of
    /// the state, those included that are left out, and the number of its renaming. An idle step
    /// has neither.
    fn expand(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<Vec<(u32, u32)>, Halt> {
        self.product.successors(node, out)?;
        let kept = self.product.kept_units().to_vec();
        let words = self.product.words(node);
        let mut steps = std::mem::take(&mut self.steps);
        let system = &mut *self.product.system;

        // The targets themselves are wanted here.
        let form = system.canonicalizer.take();
        let result = system.steps(&words, &mut steps);
        system.canonicalizer = form;
        result?;

        let mut taken = Vec::new();
        for position in 0..steps.len() {
            if !kept.contains(&steps.units[position]) {
                continue;
            }
            let mut words = steps.target(position, words.len()).to_vec();
            let mut sorted = self.symmetry().identity();
            let system = &mut *self.product.system;
            let scratch = &mut system.canonicalizer_scratch;
            self.form
                .apply(&system.layout, &mut words, scratch, Some(&mut sorted));
            taken.push((position as u32, self.number(sorted)));
        }

        assert!(steps.is_empty() || taken.len() == kept.len());
        self.steps = steps;
        Ok(taken)
    }

    /// A run of the model along a lasso of representatives.
    fn concrete(&mut self, lasso: &Lasso) -> Result<Outcome, Halt> {
        let trace = to_trace(&mut self.product, lasso)?;
        let mut positions = Vec::new();
        let mut edges = EdgeBuffer::new(self.n_mark_words());
        for step in lasso.stem.iter().chain(&lasso.cycle) {
            edges.truncate(0);
            let taken = self.expand(step.source, &mut edges)?;
            let step = edges.step(step.position as usize);
            positions.push(taken.get(step as usize).map_or(0, |taken| taken.0));
        }
        let trace = concrete_run_at(self.product.system, trace, Some(&positions));
        Ok(trace.map_or(Outcome::NotConcrete, |trace| Outcome::Run {
            trace,
            covering: None,
            component: None,
        }))
    }
}

impl Graph for Quotient<'_, '_> {
    type Stop = Halt;

    fn n_mark_words(&self) -> usize {
        self.product.n_mark_words()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), Halt> {
        self.product.initial(out)
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), Halt> {
        self.product.successors(node, out)
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.product.origin(node)
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, Halt> {
        self.product.n_steps(node)
    }

    fn check_limits(&mut self) -> Result<(), Halt> {
        self.product.check_limits()
    }

    fn out_of_numbers(&self) -> Halt {
        self.product.out_of_numbers()
    }
}

impl SymmetricGraph for Quotient<'_, '_> {
    fn symmetric_successors(
        &mut self,
        node: NodeId,
        out: &mut EdgeBuffer,
        renamings: &mut Vec<u32>,
    ) -> Result<(), Halt> {
        let before = out.len();
        let mut taken = self.expand(node, out)?;
        if taken.is_empty() {
            // An idle step changes nothing.
            let identity = self.symmetry().identity();
            taken.push((0, self.number(identity)));
        }
        renamings.extend((before..out.len()).map(|edge| taken[out.step(edge) as usize].1));
        Ok(())
    }

    fn renaming(&self, number: u32) -> &Renaming {
        &self.renamings[number as usize]
    }
}

//! Runs that show why a formula of CTL* has its value in an initial state.

use std::collections::{BTreeSet, VecDeque};

use base::AtomId;
use evidence::{Branch, Branching, QuantifierClaim, StepPool, Trace};
use logic::{CtlStar, Ltl};
use model::CommandId;

use super::concrete::{FairGraph, Truth};
use super::quantifier::{FrameLasso, Obstacle, Quantification};
use crate::explicit::Check;

/// More branches than this are not shown; what they would show is claimed.
const MAX_BRANCHES: usize = 32;

/// What matters is only found out where that takes at most this many evaluations of positions.
const MAX_TRIALS: usize = 20_000;

/// A quantified formula at a node, and what the step that led there executed.
type Place = (usize, u32, Vec<CommandId>);

impl Check<'_, '_> {
    /// The evidence about an initial node. Whatever the formula mentions is shown or claimed there,
    /// and so on along every run that is shown.
    pub(super) fn branching(
        &self,
        quantification: &mut Quantification<'_, FairGraph<'_>>,
        truth: &Truth<'_>,
        root: u32,
    ) -> Result<Branching, Obstacle> {
        let graph = &quantification.frame.graph;
        let mut evidence = Branching {
            root: graph.state(&self.system, root),
            branches: Vec::new(),
            claims: Vec::new(),
        };
        let mut work = Work::default();
        work.add(truth, truth.formula.root(), &[(root, Vec::new())], 0);

        while let Some((number, node, entry)) = work.open.pop_front() {
            let run_exists = truth.run_exists[number].contains(node);
            let is_needed = work.needed.contains(&(number, node));
            if !run_exists || !is_needed || evidence.branches.len() >= MAX_BRANCHES {
                evidence.claims.push(QuantifierClaim {
                    quantified: number,
                    state: graph.state(&self.system, node),
                    entry,
                    run_exists,
                });
                continue;
            }
            let (path, _) = truth.formula.quantified()[number].as_existential();
            let lasso = quantification.lasso(&path, node, &|atom| truth.column(atom))?;
            let lasso = lasso.expect("the search found that there is a run");
            let trace = self.trace(quantification, &lasso);
            let mut entries = vec![entry.clone()];
            entries.extend(trace.steps.iter().map(|step| step.commands.clone()));
            let nodes = lasso.steps.iter().map(|&(node, _)| node);
            let positions: Vec<_> = nodes.zip(entries).collect();
            work.add(truth, &path, &positions, lasso.loop_start);
            evidence.branches.push(Branch {
                quantified: number,
                entry,
                trace,
            });
        }

        Ok(evidence)
    }

    fn trace(&self, on: &Quantification<'_, FairGraph<'_>>, lasso: &FrameLasso) -> Trace {
        let graph = &on.frame.graph;
        let mut pool = StepPool::default();
        let steps = lasso.steps.iter();
        Trace {
            states: steps
                .clone()
                .map(|&(node, _)| graph.state(&self.system, node))
                .collect(),
            steps: steps
                .map(|&(node, step)| {
                    pool.share(graph.trace_step(&self.system, node, step as usize))
                })
                .collect(),
            loop_start: Some(lasso.loop_start),
        }
    }
}

/// What is still to be shown or claimed.
#[derive(Default)]
struct Work {
    open: VecDeque<Place>,
    known: BTreeSet<(usize, u32)>,
    /// What matters: without it, some formula would not be shown.
    needed: BTreeSet<(usize, u32)>,
}

impl Work {
    /// Adds what a formula that holds on a lasso mentions at its positions.
    fn add(
        &mut self,
        truth: &Truth<'_>,
        formula: &Ltl,
        positions: &[(u32, Vec<CommandId>)],
        loop_start: usize,
    ) {
        let mut candidates = BTreeSet::new();
        for number in mentioned(formula) {
            for (node, entry) in positions {
                if truth.run_exists[number].contains(*node) {
                    candidates.insert((number, *node));
                }
                if self.known.insert((number, *node)) {
                    self.open.push_back((number, *node, entry.clone()));
                }
            }
        }
        let nodes: Vec<u32> = positions.iter().map(|(node, _)| *node).collect();
        self.needed.extend(needed(
            truth,
            formula,
            (&nodes, loop_start),
            candidates.into_iter().collect(),
        ));
    }
}

/// Those candidates that cannot be given up, one after the other, without changing the value of the
/// formula on the lasso. All of them, if there are too many to try.
fn needed(
    truth: &Truth<'_>,
    formula: &Ltl,
    (nodes, loop_start): (&[u32], usize),
    candidates: Vec<(usize, u32)>,
) -> Vec<(usize, u32)> {
    if candidates.len() * nodes.len() > MAX_TRIALS {
        return candidates;
    }
    let value = |given_up: &[(usize, u32)]| {
        let letter = |position: usize, atom: AtomId| {
            let node = nodes[position];
            let flipped =
                CtlStar::as_quantified(atom).is_some_and(|n| given_up.contains(&(n, node)));
            truth.column(atom).contains(node) != flipped
        };
        logic::holds_on_lasso(formula, nodes.len(), loop_start, &letter)
    };

    let expected = value(&[]);
    let mut given_up = Vec::new();
    let mut needed = Vec::new();
    for candidate in candidates {
        given_up.push(candidate);
        if value(&given_up) != expected {
            given_up.pop();
            needed.push(candidate);
        }
    }

    needed
}

/// The quantified formulas that a formula mentions.
fn mentioned(formula: &Ltl) -> impl Iterator<Item = usize> + use<> {
    formula
        .atoms()
        .into_iter()
        .filter_map(CtlStar::as_quantified)
}

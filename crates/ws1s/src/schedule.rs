//! Where to quantify: quantifiers are pushed in as far as they go.
//!
//! For `∃x₁…xₙ (c₁ ∧ … ∧ cₘ)` this is bucket elimination (R. Dechter, *Bucket elimination: a
//! unifying framework for reasoning*, Artificial Intelligence 113, 1999,
//! doi:10.1016/S0004-3702(99)00059-4, section 3), known for decision diagrams as early
//! quantification (J. Burch, E. Clarke, D. Long, *Symbolic model checking with partitioned
//! transition relations*, VLSI 1991): take the variable whose
//! conjuncts have the fewest variables together, conjoin just these, project it (with all other
//! bound variables that occur nowhere else), and put the result back. Over a disjunction of
//! classical formulas the quantifier is distributed.
//!
//! The order matters more than any other decision, and no estimate from variables alone is always
//! right: quantified multiples `∃I,J,U,V (U = 29 I ∧ V = 31 J ∧ U + V = T)` are cheap if U and V, which
//! are functions of I and J, go first, although I and J have fewer neighbours. So there are two plans
//! for each connected part of a block, by cost and latest variable first (which is what MONA does);
//! the solver leaves the first if its subset constructions grow out of proportion. See
//! [`crate::formula::Shape::Choice`].
//!
//! Sound for the three-valued reading: `∃x (φ ∧ ψ) = (∃x φ) ∧ ψ` for `x` not in ψ, because ∧ is
//! strict and ∃ is the maximum for undefined < false < true.

use std::cmp::Reverse;

use crate::formula::{Formula, Formulas, Shape, Var};

impl Formulas {
    /// Existential quantification over all of `bound`. The universal one is its dual.
    pub fn exists(&mut self, bound: &[Var], formula: &Formula) -> Formula {
        let bound: Vec<Var> = formula
            .vars
            .iter()
            .copied()
            .filter(|var| bound.contains(var))
            .collect();
        if bound.is_empty() {
            return formula.clone();
        }
        if let Some(disjuncts) = self.classical_disjuncts(formula) {
            let parts: Vec<Formula> = disjuncts.iter().map(|f| self.exists(&bound, f)).collect();
            return self.or(&parts);
        }
        let conjuncts = self.conjuncts(formula);
        if conjuncts.len() == 1 {
            return self.project(&bound, formula);
        }
        self.eliminate(conjuncts, bound)
    }

    /// Universal quantification over all of `bound`.
    pub fn forall(&mut self, bound: &[Var], formula: &Formula) -> Formula {
        let negation = self.not(formula);
        let exists = self.exists(bound, &negation);
        self.not(&exists)
    }

    fn classical_disjuncts(&self, formula: &Formula) -> Option<Vec<Formula>> {
        let is_disjunction =
            formula.negated && matches!(self.info(formula.shape).shape, Shape::And(_));
        if !is_disjunction || !self.is_classical(formula) {
            return None;
        }
        let negations = self.conjuncts(&self.not(formula));
        Some(negations.iter().map(|f| self.not(f)).collect())
    }

    /// Eliminates `bound` from a conjunction, each part that these variables connect on its own.
    fn eliminate(&mut self, conjuncts: Vec<Formula>, bound: Vec<Var>) -> Formula {
        let mut all = Vec::new();
        for (conjuncts, vars) in connected_parts(conjuncts, &bound) {
            let part = match (conjuncts.as_slice(), vars.as_slice()) {
                (_, []) => self.and(&conjuncts),
                ([single], _) => self.exists(&vars, single),
                (_, [_]) => self.eliminate_in(Plan::ByCost, conjuncts, vars),
                _ => {
                    let by_cost = self.eliminate_in(Plan::ByCost, conjuncts.clone(), vars.clone());
                    let latest = self.eliminate_in(Plan::LatestFirst, conjuncts, vars);
                    self.choice(by_cost, latest)
                }
            };
            all.push(part);
        }
        self.and(&all)
    }

    fn eliminate_in(
        &mut self,
        plan: Plan,
        mut conjuncts: Vec<Formula>,
        bound: Vec<Var>,
    ) -> Formula {
        let price = |conjuncts: &[Formula], var| match plan {
            Plan::ByCost => (cost(conjuncts, &var), Reverse(var)),
            Plan::LatestFirst => ((0, 0), Reverse(var)),
        };
        let mut left: Vec<_> = bound.iter().map(|&var| price(&conjuncts, var)).collect();

        while let Some(&(_, Reverse(var))) = left.iter().min() {
            let (bucket, rest): (Vec<_>, Vec<_>) = conjuncts
                .into_iter()
                .partition(|conjunct| conjunct.vars.binary_search(&var).is_ok());
            let touched = vars_of(&bucket);
            let occurs = |var: &Var, f: &Formula| f.vars.binary_search(var).is_ok();
            let is_local = |var: &Var| {
                touched.binary_search(var).is_ok() && !rest.iter().any(|f| occurs(var, f))
            };
            let candidates = left.iter().map(|&(_, Reverse(var))| var);
            let block: Vec<Var> = match plan {
                Plan::ByCost => candidates.filter(is_local).collect(),
                Plan::LatestFirst => vec![var],
            };
            left.retain(|(_, Reverse(other))| *other != var && !block.contains(other));
            let projected = match (plan, bucket.as_slice()) {
                (Plan::ByCost, [single]) => self.exists(&block, single),
                (Plan::ByCost, _) => self.project_bucket(&block, &bucket),
                (Plan::LatestFirst, _) => {
                    let conjunction = self.and(&bucket);
                    self.project(&block, &conjunction)
                }
            };
            conjuncts = rest;
            conjuncts.extend(self.conjuncts(&projected));
            // Only the variables of the bucket have other conjuncts than before.
            for entry in &mut left {
                let Reverse(var) = entry.1;
                if touched.binary_search(&var).is_ok() {
                    *entry = price(&conjuncts, var);
                }
            }
        }

        self.and(&conjuncts)
    }

    /// Projects a conjunction that cannot be taken apart further. With a single disjunction among
    /// classical conjuncts, the quantifier still goes in: `∃x (φ ∧ (ψ ∨ χ))` becomes
    /// `∃x (φ ∧ ψ) ∨ ∃x (φ ∧ χ)`. (With several, the formula would multiply.)
    fn project_bucket(&mut self, block: &[Var], bucket: &[Formula]) -> Formula {
        let is_disjunction = |f: &Formula| self.classical_disjuncts(f).is_some();
        let n_disjunctions = bucket.iter().filter(|f| is_disjunction(f)).count();
        let is_classical = bucket.iter().all(|f| self.is_classical(f));
        let choice = bucket.iter().position(is_disjunction);
        let choice = choice.filter(|_| n_disjunctions == 1 && is_classical);
        let disjuncts = choice.and_then(|index| self.classical_disjuncts(&bucket[index]));

        match (choice, disjuncts) {
            (Some(index), Some(disjuncts)) if disjuncts.len() <= MAX_DISJUNCTS => {
                let mut parts = Vec::new();
                for disjunct in disjuncts {
                    let mut conjuncts = bucket.to_vec();
                    conjuncts[index] = disjunct;
                    let conjunction = self.and(&conjuncts);
                    parts.push(self.exists(block, &conjunction));
                }
                self.or(&parts)
            }
            _ => {
                let conjunction = self.and(bucket);
                self.project(block, &conjunction)
            }
        }
    }
}

/// In which order the variables of a block are eliminated.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Plan {
    /// Those that involve the fewest others first.
    ByCost,
    /// The latest first, one by one.
    LatestFirst,
}

/// The connected parts of a conjunction, where bound variables connect: the conjuncts of each, in
/// the given order, and its bound variables. Conjuncts without bound variables come first.
fn connected_parts(conjuncts: Vec<Formula>, bound: &[Var]) -> Vec<(Vec<Formula>, Vec<Var>)> {
    let mut parts: Vec<(Vec<Formula>, Vec<Var>)> = vec![(Vec::new(), Vec::new())];
    for conjunct in conjuncts {
        let vars = conjunct.vars.iter().copied();
        let mut vars: Vec<Var> = vars.filter(|var| bound.contains(var)).collect();
        if vars.is_empty() {
            parts[0].0.push(conjunct);
            continue;
        }
        let mut joined = Vec::new();
        for index in (1..parts.len()).rev() {
            if vars.iter().any(|var| parts[index].1.contains(var)) {
                let (conjuncts, others) = parts.remove(index);
                joined = [conjuncts, joined].concat();
                vars.extend(others);
            }
        }
        vars.sort_unstable();
        vars.dedup();
        joined.push(conjunct);
        parts.push((joined, vars));
    }

    parts
}

/// How many disjuncts a quantifier is distributed over inside a conjunction.
const MAX_DISJUNCTS: usize = 12;

/// How many variables, and how many conjuncts, the elimination of a variable involves.
fn cost(conjuncts: &[Formula], var: &Var) -> (usize, usize) {
    let occurs = |f: &&Formula| f.vars.binary_search(var).is_ok();
    let bucket: Vec<Formula> = conjuncts.iter().filter(occurs).cloned().collect();
    (vars_of(&bucket).len(), bucket.len())
}

/// The variables of some formulas, in ascending order.
fn vars_of(formulas: &[Formula]) -> Vec<Var> {
    let mut vars: Vec<Var> = formulas.iter().flat_map(|f| f.vars.to_vec()).collect();
    vars.sort_unstable();
    vars.dedup();
    vars
}

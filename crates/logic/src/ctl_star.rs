//! Formulas of CTL*: state formulas with path quantifiers over path formulas.
//!
//! A path formula is an [`Ltl`] formula in which some atoms stand for quantified formulas
//! ([`CtlStar::as_quantified`]). The quantified formulas are kept in a table, inner ones before outer
//! ones. So the table is the order in which they are decided: each is an LTL question once those
//! before it are known everywhere (E. A. Emerson, C.-L. Lei, "Modalities for model checking: branching
//! time logic strikes back", Science of Computer Programming 8, 1987, section 4,
//! doi:10.1016/0167-6423(87)90036-0), and equal subformulas are decided once.

use base::AtomId;
use rustc_hash::FxHashMap;

use crate::ltl::{Ltl, Op};

/// Atoms from this number on stand for quantified formulas. No model has as many atoms.
const FIRST_QUANTIFIED: u32 = 1 << 30;

/// How many quantified formulas a formula may have.
const MAX_QUANTIFIED: usize = 10_000;

/// How deep a formula may be, quantified formulas included. Each path formula has its own limit when
/// it is translated.
const MAX_TOTAL_DEPTH: usize = 4 * crate::MAX_DEPTH;

/// Over which fair runs a path formula is quantified.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PathQuantifier {
    /// All of them.
    All,
    /// At least one.
    Exists,
}

/// A path formula under a quantifier.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub struct Quantified {
    /// The quantifier.
    pub quantifier: PathQuantifier,
    /// What is quantified. Some of its atoms may stand for other quantified formulas.
    pub path: Ltl,
}

impl Quantified {
    /// The path formula `ψ` for which this is `E ψ` or `¬E ψ`, and whether it is `E ψ`.
    #[must_use]
    pub fn as_existential(&self) -> (Ltl, bool) {
        match self.quantifier {
            PathQuantifier::Exists => (self.path.negation_normal_form(), true),
            PathQuantifier::All => (Ltl::not(self.path.clone()).negation_normal_form(), false),
        }
    }
}

/// A state formula of CTL*.
///
/// Invariant: quantified formula `k` mentions only quantified formulas below `k`; no two are equal;
/// the root is propositional over atoms and quantified formulas.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CtlStar {
    quantified: Vec<Quantified>,
    root: Ltl,
}

/// Builds a formula from the inside out.
#[derive(Clone, Debug, Default)]
pub struct CtlStarBuilder {
    quantified: Vec<Quantified>,
    number_by_formula: FxHashMap<Quantified, usize>,
}

impl CtlStarBuilder {
    /// The formula `A path` or `E path`, as an atom that further formulas can mention.
    pub fn quantify(&mut self, quantifier: PathQuantifier, path: Ltl) -> Ltl {
        let formula = Quantified { quantifier, path };
        let next = self.quantified.len();
        let number = *self
            .number_by_formula
            .entry(formula.clone())
            .or_insert(next);
        if number == next {
            self.quantified.push(formula);
        }
        Ltl::atom(CtlStar::quantified_atom(number))
    }

    /// Has any path quantifier been used?
    #[must_use]
    pub fn is_used(&self) -> bool {
        !self.quantified.is_empty()
    }

    /// The state formula `root`.
    ///
    /// # Errors
    /// Why it is none.
    pub fn finish(self, root: Ltl) -> Result<CtlStar, NoStateFormula> {
        let mut depths: Vec<usize> = Vec::new();
        for quantified in &self.quantified {
            depths.push(depth_with(&quantified.path, &depths));
        }
        let depth = depth_with(&root, &depths);
        if self.quantified.len() > MAX_QUANTIFIED || depth > MAX_TOTAL_DEPTH {
            return Err(NoStateFormula::TooLarge);
        }
        if !root.is_propositional() {
            return Err(NoStateFormula::OuterTemporalOperator);
        }
        let formula = CtlStar {
            quantified: self.quantified,
            root,
        };
        Ok(formula.without_unused())
    }
}

/// Why a formula is not a state formula of CTL*.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum NoStateFormula {
    /// A temporal operator is not under a path quantifier.
    OuterTemporalOperator,
    /// It is too large.
    TooLarge,
}

impl CtlStar {
    /// The atom that stands for a quantified formula.
    #[must_use]
    pub fn quantified_atom(number: usize) -> AtomId {
        AtomId(FIRST_QUANTIFIED + u32::try_from(number).expect("few quantified formulas"))
    }

    /// The number of the quantified formula that an atom stands for, if it does.
    #[must_use]
    pub fn as_quantified(atom: AtomId) -> Option<usize> {
        atom.0.checked_sub(FIRST_QUANTIFIED).map(|n| n as usize)
    }

    /// All quantified formulas, inner ones first.
    #[must_use]
    pub fn quantified(&self) -> &[Quantified] {
        &self.quantified
    }

    /// The whole formula, over atoms and quantified formulas.
    #[must_use]
    pub fn root(&self) -> &Ltl {
        &self.root
    }

    /// The negation of the formula.
    #[must_use]
    pub fn negated(&self) -> Self {
        Self {
            quantified: self.quantified.clone(),
            root: self.root.negate(),
        }
    }

    /// The atoms that occur (not those that stand for quantified formulas), in ascending order.
    #[must_use]
    pub fn atoms(&self) -> Vec<AtomId> {
        let paths = self.quantified.iter().map(|q| &q.path);
        let mut atoms: Vec<AtomId> = paths.chain([&self.root]).flat_map(Ltl::atoms).collect();
        atoms.retain(|atom| Self::as_quantified(*atom).is_none());
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }

    /// Does it look into the past? Which past a state has depends on the run that led there, and path
    /// quantifiers are about states.
    #[must_use]
    pub fn has_past(&self) -> bool {
        let mut paths = self.quantified.iter().map(|q| &q.path);
        paths.any(Ltl::has_past) || self.root.has_past()
    }

    /// Does the formula belong to CTL: one temporal operator under each path quantifier?
    #[must_use]
    pub fn is_ctl(&self) -> bool {
        self.quantified.iter().all(|q| is_ctl_path(&q.path))
    }

    /// The LTL formula that all fair runs satisfy iff this formula holds, if there is one by form:
    /// a conjunction of `A ψ` without further quantifiers.
    #[must_use]
    pub fn as_ltl(&self) -> Option<Ltl> {
        let parts = match self.root.op() {
            Op::And(parts) => parts.as_slice(),
            _ => std::slice::from_ref(&self.root),
        };
        let path = |part: &Ltl| match part.op() {
            Op::Atom(atom) => {
                let quantified = &self.quantified[Self::as_quantified(*atom)?];
                let mut atoms = quantified.path.atoms().into_iter();
                let is_flat = atoms.all(|atom| Self::as_quantified(atom).is_none());
                let fits = quantified.quantifier == PathQuantifier::All && is_flat;
                fits.then(|| quantified.path.clone())
            }
            _ => None,
        };
        Some(Ltl::and(
            parts.iter().map(path).collect::<Option<Vec<_>>>()?,
        ))
    }

    /// The text of a formula over atoms and quantified formulas of this formula.
    #[must_use]
    pub fn text_of(&self, formula: &Ltl, name: &dyn Fn(AtomId) -> String) -> String {
        let mut texts: Vec<String> = Vec::new();
        for quantified in &self.quantified {
            let path = text_with(&quantified.path, &texts, name);
            texts.push(match quantified.quantifier {
                PathQuantifier::All => format!("A({path})"),
                PathQuantifier::Exists => format!("E({path})"),
            });
        }
        text_with(formula, &texts, name)
    }

    /// The text of the formula.
    #[must_use]
    pub fn text(&self, name: &dyn Fn(AtomId) -> String) -> String {
        self.text_of(&self.root, name)
    }

    /// Drops quantified formulas that are not mentioned.
    fn without_unused(mut self) -> Self {
        let mut used = vec![false; self.quantified.len()];
        note_used(&self.root, &mut used);
        for number in (0..self.quantified.len()).rev() {
            if used[number] {
                note_used(&self.quantified[number].path, &mut used);
            }
        }
        if used.iter().all(|used| *used) {
            return self;
        }
        let mut new_number = Vec::new();
        let mut kept = Vec::new();

        for (quantified, used) in self.quantified.into_iter().zip(used) {
            new_number.push(kept.len());
            if used {
                kept.push(Quantified {
                    path: renumber(&quantified.path, &new_number),
                    ..quantified
                });
            }
        }

        self.root = renumber(&self.root, &new_number);
        self.quantified = kept;
        self
    }
}

fn text_with(formula: &Ltl, texts: &[String], name: &dyn Fn(AtomId) -> String) -> String {
    let name = |atom: AtomId| match CtlStar::as_quantified(atom) {
        Some(number) => texts[number].clone(),
        None => name(atom),
    };
    formula.display(&name).to_string()
}

/// How deep a formula is, quantified formulas included.
fn depth_with(formula: &Ltl, depths: &[usize]) -> usize {
    let mentioned = formula
        .atoms()
        .into_iter()
        .filter_map(CtlStar::as_quantified);
    formula.depth() + mentioned.map(|number| depths[number]).max().unwrap_or(0)
}

fn note_used(formula: &Ltl, used: &mut [bool]) {
    for number in formula
        .atoms()
        .into_iter()
        .filter_map(CtlStar::as_quantified)
    {
        used[number] = true;
    }
}

fn renumber(formula: &Ltl, new_number: &[usize]) -> Ltl {
    formula.map_atoms(&|atom| match CtlStar::as_quantified(atom) {
        Some(number) => Ltl::atom(CtlStar::quantified_atom(new_number[number])),
        None => Ltl::atom(atom),
    })
}

/// At most one temporal operator, and that outermost.
fn is_ctl_path(path: &Ltl) -> bool {
    path.is_propositional()
        || match path.op() {
            Op::Next(_)
            | Op::Until(..)
            | Op::WeakUntil(..)
            | Op::Release(..)
            | Op::StrongRelease(..)
            | Op::Eventually(_)
            | Op::Always(_) => path.operands().iter().all(|part| part.is_propositional()),
            _ => false,
        }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(index: u32) -> Ltl {
        Ltl::atom(AtomId(index))
    }

    fn name(atom: AtomId) -> String {
        format!("p{}", atom.0)
    }

    #[test]
    fn nested_quantifiers_are_listed_inside_out_and_shared() {
        let mut builder = CtlStarBuilder::default();
        let reset =
            |b: &mut CtlStarBuilder| b.quantify(PathQuantifier::Exists, Ltl::eventually(p(0)));
        let (first, second) = (reset(&mut builder), reset(&mut builder));
        assert_eq!(first, second);
        let always = builder.quantify(PathQuantifier::All, Ltl::always(first));
        let formula = builder
            .finish(Ltl::or([always, second]))
            .expect("a state formula");
        assert_eq!(formula.quantified().len(), 2);
        assert_eq!(formula.text(&name), "A([]E(<>p0)) || E(<>p0)");
        assert_eq!(formula.atoms(), [AtomId(0)]);
        assert!(formula.is_ctl());
        assert_eq!(formula.as_ltl(), None);
    }

    #[test]
    fn fragments_are_recognised() {
        let mut builder = CtlStarBuilder::default();
        let recurs = Ltl::always(Ltl::eventually(p(0)));
        let _unused = builder.quantify(PathQuantifier::Exists, p(7));
        let all = builder.quantify(PathQuantifier::All, recurs.clone());
        let other = builder.quantify(PathQuantifier::All, Ltl::next(p(1)));
        let formula = builder
            .finish(Ltl::and([all, other]))
            .expect("a state formula");
        assert_eq!(formula.quantified().len(), 2);
        assert!(!formula.is_ctl());
        assert_eq!(formula.as_ltl(), Some(Ltl::and([recurs, Ltl::next(p(1))])));
        assert_eq!(formula.negated().as_ltl(), None);
    }

    #[test]
    fn many_formulas_are_fine_and_deep_ones_are_not() {
        let mut wide = CtlStarBuilder::default();
        let mut deep = CtlStarBuilder::default();
        let mut inner = p(0);
        let mut parts = Vec::new();
        for n in 0..3000 {
            parts.push(wide.quantify(PathQuantifier::Exists, Ltl::eventually(p(n))));
            inner = deep.quantify(PathQuantifier::Exists, Ltl::next(inner));
        }
        assert!(wide.finish(Ltl::and(parts)).is_ok());
        assert_eq!(deep.finish(inner), Err(NoStateFormula::TooLarge));
    }

    #[test]
    fn temporal_operators_must_be_quantified() {
        let builder = CtlStarBuilder::default();
        assert_eq!(
            builder.finish(Ltl::next(p(0))),
            Err(NoStateFormula::OuterTemporalOperator)
        );
    }
}

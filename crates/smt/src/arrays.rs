//! Arrays as integers: every element that is mentioned becomes a variable.
//!
//! Reading `a[i]` becomes a variable; two readings of one array agree where their indices do.
//! An equation between arrays becomes a Boolean variable: where it holds, the arrays agree at every
//! index that is mentioned anywhere; where it does not, they differ at an index of their own. An
//! updated array in an equation gets a name and is read like the others. This is complete for
//! formulas without quantifiers, because only finitely many indices matter (A. R. Bradley,
//! Z. Manna, H. B. Sipma, *What's decidable about arrays?*, VMCAI 2006, section 4,
//! doi:10.1007/11609773_28, restricted to equations).

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::print::to_smtlib;
use crate::term::{Sort, Term};
use crate::value::{ArrayValue, Model, Value};

/// An array with a name, equal to another one but at one index.
#[derive(Clone, Debug)]
struct Update {
    name: Arc<str>,
    base: Arc<str>,
    index: Term,
    value: Term,
}

/// What is known about the arrays of the assertions, as lengths of lists that only grow.
#[derive(Clone, Debug, Default)]
struct Level {
    n_reads: usize,
    n_indices: usize,
    n_linked: usize,
    n_equations: usize,
    n_updates: usize,
}

/// The arrays, indices and equations that have been mentioned.
///
/// Invariant: for all of them together, the lemmas returned so far and still asserted say
/// everything that the theory of arrays says.
#[derive(Clone, Debug, Default)]
pub(crate) struct ArrayReduction {
    reads: Vec<(Arc<str>, Term)>,
    /// Indices at which linked arrays are read.
    indices: Vec<Term>,
    /// Arrays that take part in equations and updates.
    linked: Vec<Arc<str>>,
    equations: Vec<(Arc<str>, Arc<str>)>,
    updates: Vec<Update>,
    levels: Vec<Level>,
}

/// The variable that stands for an element.
fn element(array: &Arc<str>, index: &Term) -> Term {
    Term::var(&format!("{array}[{}]", to_smtlib(index)), Sort::Int)
}

fn equality(a: &Arc<str>, b: &Arc<str>) -> Term {
    Term::var(&format!("{a} is {b}"), Sort::Bool)
}

fn difference(a: &Arc<str>, b: &Arc<str>) -> Term {
    Term::var(&format!("{a} differs from {b} at"), Sort::Int)
}

impl ArrayReduction {
    pub(crate) fn push(&mut self) {
        self.levels.push(Level {
            n_reads: self.reads.len(),
            n_indices: self.indices.len(),
            n_linked: self.linked.len(),
            n_equations: self.equations.len(),
            n_updates: self.updates.len(),
        });
    }

    pub(crate) fn pop(&mut self) {
        let level = self.levels.pop().expect("more levels left than opened");
        self.reads.truncate(level.n_reads);
        self.indices.truncate(level.n_indices);
        self.linked.truncate(level.n_linked);
        self.equations.truncate(level.n_equations);
        self.updates.truncate(level.n_updates);
    }

    /// The term without arrays, and what must be asserted with it.
    pub(crate) fn reduce(&mut self, term: &Term) -> (Term, Vec<Term>) {
        let mut lemmas = Vec::new();
        let reduced = self.rewrite(term, &mut lemmas);
        (reduced, lemmas)
    }

    fn rewrite(&mut self, term: &Term, lemmas: &mut Vec<Term>) -> Term {
        match term {
            Term::Bool(_) | Term::Int(_) | Term::Var(..) => term.clone(),
            Term::Not(inner) => Term::not(self.rewrite(inner, lemmas)),
            Term::And(parts) => {
                let parts: Vec<Term> = parts.iter().map(|p| self.rewrite(p, lemmas)).collect();
                Term::and(parts)
            }
            Term::Or(parts) => {
                let parts: Vec<Term> = parts.iter().map(|p| self.rewrite(p, lemmas)).collect();
                Term::or(parts)
            }
            Term::Le(linear) => {
                let left = self.rewrite_sum(linear, lemmas);
                Term::le(left, Term::Int(0))
            }
            Term::Eq(linear) => {
                let left = self.rewrite_sum(linear, lemmas);
                Term::eq(left, Term::Int(0))
            }
            Term::Sum(linear) => self.rewrite_sum(linear, lemmas),
            Term::Div(inner, divisor) => Term::div(self.rewrite(inner, lemmas), *divisor),
            Term::Mod(inner, divisor) => Term::rem(self.rewrite(inner, lemmas), *divisor),
            Term::Ite(a, b, c) => {
                let a = self.rewrite(a, lemmas);
                let b = self.rewrite(b, lemmas);
                Term::ite(a, b, self.rewrite(c, lemmas))
            }
            Term::Select(array, index) => {
                let index = self.rewrite(index, lemmas);
                let array = self.named(array, lemmas);
                self.read(&array, &index, lemmas)
            }
            Term::SameArray(a, b) => {
                let a = self.named(a, lemmas);
                let b = self.named(b, lemmas);
                self.equate(a, b, lemmas)
            }
            // Only inside the two cases above.
            Term::Store(..) => term.clone(),
        }
    }

    fn rewrite_sum(&mut self, linear: &crate::Linear, lemmas: &mut Vec<Term>) -> Term {
        let parts: Vec<(Term, i128)> = linear.terms().map(|(t, f)| (t.clone(), f)).collect();
        let mut sum = vec![Term::Int(linear.offset())];
        for (term, factor) in parts {
            let part = self.rewrite(&term, lemmas);
            let product = Term::mul(&part, &Term::Int(factor));
            sum.push(product.expect("the coefficient was accepted before"));
        }
        Term::add(sum)
    }

    /// The name of an array; an updated one gets a name.
    fn named(&mut self, array: &Term, lemmas: &mut Vec<Term>) -> Arc<str> {
        let Term::Store(base, index, value) = array else {
            let Term::Var(name, _) = array else {
                unreachable!("conditional arrays are split by the constructors");
            };
            return Arc::clone(name);
        };

        let name: Arc<str> = Arc::from(to_smtlib(array));
        if self.updates.iter().any(|update| update.name == name) {
            return name;
        }
        let base = self.named(base, lemmas);
        let index = self.rewrite(index, lemmas);
        let value = self.rewrite(value, lemmas);
        self.updates.push(Update {
            name: Arc::clone(&name),
            base: Arc::clone(&base),
            index: index.clone(),
            value,
        });
        self.link(&base, lemmas);
        self.link(&name, lemmas);
        self.mention(&index, lemmas);
        for index in self.indices.clone() {
            self.apply_updates(&index, lemmas);
        }
        name
    }

    /// An element, with what it has to do with the other elements of its array.
    fn read(&mut self, array: &Arc<str>, index: &Term, lemmas: &mut Vec<Term>) -> Term {
        let value = element(array, index);
        let entry = (Arc::clone(array), index.clone());
        if self.reads.contains(&entry) {
            return value;
        }
        for (other, at) in &self.reads {
            if other == array {
                let same_index = Term::eq(at.clone(), index.clone());
                let same_value = Term::eq(element(other, at), value.clone());
                lemmas.push(Term::implies(same_index, same_value));
            }
        }
        self.reads.push(entry);
        if self.linked.contains(array) {
            self.mention(index, lemmas);
        }
        value
    }

    /// Makes every linked array be read at the index.
    fn mention(&mut self, index: &Term, lemmas: &mut Vec<Term>) {
        if self.indices.contains(index) {
            return;
        }
        self.indices.push(index.clone());
        for array in self.linked.clone() {
            self.read(&array, index, lemmas);
        }
        for (a, b) in self.equations.clone() {
            lemmas.push(agree(&a, &b, index));
        }
        self.apply_updates(index, lemmas);
    }

    fn apply_updates(&self, index: &Term, lemmas: &mut Vec<Term>) {
        for update in &self.updates {
            let here = Term::eq(index.clone(), update.index.clone());
            let value = element(&update.name, index);
            let new = Term::eq(value.clone(), update.value.clone());
            let old = Term::eq(value, element(&update.base, index));
            lemmas.push(Term::ite(here, new, old));
        }
    }

    /// Makes the array be read at every index that is mentioned, and its own indices be mentioned.
    fn link(&mut self, array: &Arc<str>, lemmas: &mut Vec<Term>) {
        if self.linked.contains(array) {
            return;
        }
        self.linked.push(Arc::clone(array));
        for index in self.indices.clone() {
            self.read(array, &index, lemmas);
        }
        let own: Vec<Term> = self
            .reads
            .iter()
            .filter(|(other, _)| other == array)
            .map(|(_, index)| index.clone())
            .collect();
        for index in own {
            self.mention(&index, lemmas);
        }
    }

    fn equate(&mut self, a: Arc<str>, b: Arc<str>, lemmas: &mut Vec<Term>) -> Term {
        if a == b {
            return Term::Bool(true);
        }

        let (a, b) = if a < b { (a, b) } else { (b, a) };
        let equation = (Arc::clone(&a), Arc::clone(&b));
        if self.equations.contains(&equation) {
            return equality(&a, &b);
        }

        self.link(&a, lemmas);
        self.link(&b, lemmas);

        self.equations.push(equation);

        for index in self.indices.clone() {
            lemmas.push(agree(&a, &b, &index));
        }

        // If they differ, they do so at some index: a fresh one stands for it.
        let at = difference(&a, &b);
        self.mention(&at, lemmas);
        let differ = Term::not(Term::eq(element(&a, &at), element(&b, &at)));
        lemmas.push(Term::or([equality(&a, &b), differ]));

        equality(&a, &b)
    }

    /// Gives the array variables values that fit the model of the reduced formulas. Arrays that
    /// are not equal get different defaults.
    pub(crate) fn complete(&self, model: &mut Model) -> Option<()> {
        let mut arrays: BTreeMap<Arc<str>, ArrayValue> = BTreeMap::new();
        let names = self.reads.iter().map(|(name, _)| name).chain(&self.linked);
        let names: BTreeSet<&Arc<str>> = names.collect();
        let mut default = -1_000_003;
        for name in names {
            default -= 1;
            let entries = BTreeMap::new();
            arrays.insert(Arc::clone(name), ArrayValue { default, entries });
        }

        loop {
            let before = arrays.clone();
            self.share_defaults(model, &mut arrays)?;
            if before == arrays {
                break;
            }
        }

        for (name, index) in &self.reads {
            let (at, value) = (model.int(index)?, model.int(&element(name, index))?);
            let array = arrays.get_mut(name)?;
            *array = std::mem::take(array).with(at, value);
        }
        for (name, value) in arrays {
            model.set(&name, Value::Array(value));
        }
        Some(())
    }

    /// Equal arrays, and an array and its update, have the same default: the smaller one.
    fn share_defaults(
        &self,
        model: &Model,
        arrays: &mut BTreeMap<Arc<str>, ArrayValue>,
    ) -> Option<()> {
        let mut pairs: Vec<(&Arc<str>, &Arc<str>)> = Vec::new();

        for (a, b) in &self.equations {
            if model.bool(&equality(a, b))? {
                pairs.push((a, b));
            }
        }

        pairs.extend(
            self.updates
                .iter()
                .map(|update| (&update.name, &update.base)),
        );

        for (a, b) in pairs {
            let least = arrays[a].default.min(arrays[b].default);
            arrays.get_mut(a)?.default = least;
            arrays.get_mut(b)?.default = least;
        }
        Some(())
    }
}

/// If the arrays are equal, their elements at the index are.
fn agree(a: &Arc<str>, b: &Arc<str>, index: &Term) -> Term {
    let same = Term::eq(element(a, index), element(b, index));
    Term::implies(equality(a, b), same)
}

//! Formulas in negation normal form, each stored once.
//!
//! The translation compares and combines formulas all the time; here equality is equality of
//! indices. `simplify.rs` adds the operators that rewrite, `implication.rs` the comparison.

use base::AtomId;
use rustc_hash::FxHashMap;

use crate::ltl::{Ltl, Op};

base::define_index! {
    /// A formula of an [`Arena`].
    pub struct FormId;
}

impl FormId {
    pub(crate) const FALSE: Self = Self(0);
    pub(crate) const TRUE: Self = Self(1);
}

/// A formula in negation normal form.
///
/// Invariant: the operands of `And` and `Or` are at least two, sorted, without repetition, and not of
/// the same kind; constants are operands of nothing.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(crate) enum Form {
    False,
    True,
    Literal(AtomId, bool),
    And(Vec<FormId>),
    Or(Vec<FormId>),
    Next(FormId),
    Eventually(FormId),
    Always(FormId),
    Until(FormId, FormId),
    Release(FormId, FormId),
    WeakUntil(FormId, FormId),
    StrongRelease(FormId, FormId),
}

/// What the shape of a formula says about it.
///
/// `eventual`: if it holds on a suffix of a word, it holds on the word. `universal`: if it holds on a
/// word, it holds on every suffix. Both are sufficient conditions read off the syntax (K. Etessami,
/// G. Holzmann, *Optimizing Büchi Automata*, CONCUR 2000, section 3,
/// <https://doi.org/10.1007/3-540-44618-4_13>). A formula that is both does not depend on any finite
/// prefix; T. Babiak, T. Badie, A. Duret-Lutz, M. Křetínský and J. Strejček (*Compositional Approach
/// to Suspension and Other Improvements to LTL Translation*, SPIN 2013,
/// <https://doi.org/10.1007/978-3-642-39176-7_6>) call it *suspendable*.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Shape {
    pub(crate) propositional: bool,
    pub(crate) eventual: bool,
    pub(crate) universal: bool,
    pub(crate) class: Class,
}

impl Shape {
    /// Does the truth of the formula not depend on any finite prefix?
    pub(crate) fn suspendable(self) -> bool {
        self.eventual && self.universal
    }
}

/// In which classes of the hierarchy a formula is by its shape: Z. Manna, A. Pnueli, *A hierarchy
/// of temporal properties*, PODC 1990, <https://doi.org/10.1145/93385.93442>; the rules for binary
/// operators are those of I. Černá, R. Pelánek, *Relating hierarchy of temporal properties to model
/// checking*, MFCS 2003, <https://doi.org/10.1007/978-3-540-45138-9_26>.
///
/// `safety`: if it fails, finitely many letters show that. `guarantee`: if it holds, finitely many
/// letters show that. `obligation`: a Boolean combination of both kinds.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Class {
    pub(crate) safety: bool,
    pub(crate) guarantee: bool,
    pub(crate) obligation: bool,
}

/// A store of formulas.
pub(crate) struct Arena {
    forms: Vec<(Form, Shape)>,
    sizes: Vec<u64>,
    ids: FxHashMap<Form, FormId>,
    negations: FxHashMap<FormId, FormId>,
    pub(crate) implications: FxHashMap<(FormId, FormId), bool>,
}

impl Arena {
    pub(crate) fn new() -> Self {
        let mut arena = Self {
            forms: Vec::new(),
            sizes: Vec::new(),
            ids: FxHashMap::default(),
            negations: FxHashMap::default(),
            implications: FxHashMap::default(),
        };
        assert_eq!(arena.intern(Form::False), FormId::FALSE);
        assert_eq!(arena.intern(Form::True), FormId::TRUE);
        arena
    }

    /// How large the formula is when it is written as a tree.
    pub(crate) fn size(&self, id: FormId) -> u64 {
        self.sizes[id.index()]
    }

    pub(crate) fn form(&self, id: FormId) -> &Form {
        &self.forms[id.index()].0
    }

    pub(crate) fn shape(&self, id: FormId) -> Shape {
        self.forms[id.index()].1
    }

    /// Stores a formula as it is.
    pub(crate) fn intern(&mut self, form: Form) -> FormId {
        if let Some(&known) = self.ids.get(&form) {
            return known;
        }
        let id = FormId::new(self.forms.len());
        let shape = self.shape_of(&form);
        self.forms.push((form.clone(), shape));
        self.ids.insert(form, id);
        let sizes = self.operands(id).into_iter().map(|part| self.size(part));
        self.sizes.push(sizes.fold(1, u64::saturating_add));
        id
    }

    /// The conjunction of these formulas, not simplified further.
    pub(crate) fn conjunction_as_it_is(&mut self, mut parts: Vec<FormId>) -> FormId {
        parts.sort_unstable();
        parts.dedup();
        match parts[..] {
            [] => FormId::TRUE,
            [only] => only,
            _ => self.intern(Form::And(parts)),
        }
    }

    /// The simplified formula.
    pub(crate) fn import(&mut self, formula: &Ltl) -> FormId {
        let normal = formula.negation_normal_form();
        let mut id_by_address: FxHashMap<usize, FormId> = FxHashMap::default();
        for part in normal.subformulas() {
            let of = |operand: &Ltl| id_by_address[&operand.address()];
            let id = match part.op() {
                Op::True => FormId::TRUE,
                Op::False => FormId::FALSE,
                Op::Atom(atom) => self.intern(Form::Literal(*atom, true)),
                Op::Not(inner) => {
                    let inner = of(inner);
                    self.negate(inner)
                }
                Op::And(parts) => self.and(parts.iter().map(of).collect()),
                Op::Or(parts) => self.or(parts.iter().map(of).collect()),
                Op::Next(a) => self.next(of(a)),
                Op::Eventually(a) => self.eventually(of(a)),
                Op::Always(a) => self.always(of(a)),
                Op::Until(a, b) => self.until(of(a), of(b)),
                Op::Release(a, b) => self.release(of(a), of(b)),
                Op::WeakUntil(a, b) => self.weak_until(of(a), of(b)),
                Op::StrongRelease(a, b) => self.strong_release(of(a), of(b)),
                Op::Implies(..) | Op::Iff(..) => unreachable!("not in negation normal form"),
                Op::Previously(_) | Op::Since(..) => unreachable!("past operators are separated"),
            };
            id_by_address.insert(part.address(), id);
        }

        id_by_address[&normal.address()]
    }

    /// The formula as a tree again. Operands are stored before what uses them, hence no recursion.
    pub(crate) fn export(&self, id: FormId) -> Ltl {
        let mut needed = vec![false; id.index() + 1];
        needed[id.index()] = true;
        for index in (0..=id.index()).rev() {
            if needed[index] {
                for operand in self.operands(FormId::new(index)) {
                    needed[operand.index()] = true;
                }
            }
        }

        let mut formulas: Vec<Option<Ltl>> = vec![None; id.index() + 1];
        for index in (0..=id.index()).filter(|&index| needed[index]) {
            let of = |id: &FormId| formulas[id.index()].clone().expect("operands come first");
            let formula = match self.form(FormId::new(index)) {
                Form::False => Ltl::ff(),
                Form::True => Ltl::tt(),
                Form::Literal(atom, true) => Ltl::atom(*atom),
                Form::Literal(atom, false) => Ltl::not(Ltl::atom(*atom)),
                Form::And(parts) => Ltl::and(parts.iter().map(of)),
                Form::Or(parts) => Ltl::or(parts.iter().map(of)),
                Form::Next(a) => Ltl::next(of(a)),
                Form::Eventually(a) => Ltl::eventually(of(a)),
                Form::Always(a) => Ltl::always(of(a)),
                Form::Until(a, b) => Ltl::until(of(a), of(b)),
                Form::Release(a, b) => Ltl::release(of(a), of(b)),
                Form::WeakUntil(a, b) => Ltl::weak_until(of(a), of(b)),
                Form::StrongRelease(a, b) => Ltl::strong_release(of(a), of(b)),
            };
            formulas[index] = Some(formula);
        }

        formulas[id.index()].clone().expect("just built")
    }

    /// The operands of a formula. Invariant: each is stored before the formula.
    pub(crate) fn operands(&self, id: FormId) -> Vec<FormId> {
        match self.form(id) {
            Form::False | Form::True | Form::Literal(..) => Vec::new(),
            Form::And(parts) | Form::Or(parts) => parts.clone(),
            Form::Next(a) | Form::Eventually(a) | Form::Always(a) => vec![*a],
            Form::Until(a, b)
            | Form::Release(a, b)
            | Form::WeakUntil(a, b)
            | Form::StrongRelease(a, b) => vec![*a, *b],
        }
    }

    /// The negation, in negation normal form again.
    pub(crate) fn negate(&mut self, id: FormId) -> FormId {
        if let Some(&known) = self.negations.get(&id) {
            return known;
        }
        let result = match self.form(id).clone() {
            Form::False => FormId::TRUE,
            Form::True => FormId::FALSE,
            Form::Literal(atom, value) => self.intern(Form::Literal(atom, !value)),
            Form::And(parts) => {
                let parts = self.negate_all(&parts);
                self.or(parts)
            }
            Form::Or(parts) => {
                let parts = self.negate_all(&parts);
                self.and(parts)
            }
            Form::Next(a) => {
                let a = self.negate(a);
                self.next(a)
            }
            Form::Eventually(a) => {
                let a = self.negate(a);
                self.always(a)
            }
            Form::Always(a) => {
                let a = self.negate(a);
                self.eventually(a)
            }
            Form::Until(a, b) => self.negate_both(a, b, Self::release),
            Form::Release(a, b) => self.negate_both(a, b, Self::until),
            Form::WeakUntil(a, b) => self.negate_both(a, b, Self::strong_release),
            Form::StrongRelease(a, b) => self.negate_both(a, b, Self::weak_until),
        };

        self.negations.insert(id, result);
        result
    }

    fn negate_all(&mut self, parts: &[FormId]) -> Vec<FormId> {
        parts.iter().map(|&part| self.negate(part)).collect()
    }

    fn negate_both(
        &mut self,
        a: FormId,
        b: FormId,
        dual: fn(&mut Self, FormId, FormId) -> FormId,
    ) -> FormId {
        let (a, b) = (self.negate(a), self.negate(b));
        dual(self, a, b)
    }

    fn shape_of(&self, form: &Form) -> Shape {
        let both =
            |a: FormId, b: FormId, get: fn(Shape) -> bool| get(self.shape(a)) && get(self.shape(b));
        let class = self.class_of(form);
        let temporal = |eventual, universal| Shape {
            propositional: false,
            eventual,
            universal,
            class,
        };
        let (eventual, universal) = (|s: Shape| s.eventual, |s: Shape| s.universal);

        match form {
            Form::False | Form::True => Shape {
                propositional: true,
                eventual: true,
                universal: true,
                class,
            },
            Form::Literal(..) => Shape {
                propositional: true,
                eventual: false,
                universal: false,
                class,
            },
            Form::And(parts) | Form::Or(parts) => Shape {
                propositional: parts.iter().all(|&part| self.shape(part).propositional),
                eventual: parts.iter().all(|&part| self.shape(part).eventual),
                universal: parts.iter().all(|&part| self.shape(part).universal),
                class,
            },
            Form::Next(a) => temporal(self.shape(*a).eventual, self.shape(*a).universal),
            Form::Eventually(a) => temporal(true, self.shape(*a).universal),
            Form::Always(a) => temporal(self.shape(*a).eventual, true),
            // If `b` is universal, so is `a U b`: before `b` comes it still is to come, and afterwards `b`
            // holds. The others are similar or dual.
            Form::Until(_, b) | Form::Release(_, b) => {
                temporal(self.shape(*b).eventual, self.shape(*b).universal)
            }
            Form::WeakUntil(a, b) => temporal(both(*a, *b, eventual), self.shape(*b).universal),
            Form::StrongRelease(a, b) => temporal(self.shape(*b).eventual, both(*a, *b, universal)),
        }
    }

    fn class_of(&self, form: &Form) -> Class {
        let of = |id: &FormId| self.shape(*id).class;
        let all = |parts: &[FormId], get: fn(Class) -> bool| parts.iter().all(|part| get(of(part)));
        let class = |safety: bool, guarantee: bool, obligation: bool| Class {
            safety,
            guarantee,
            obligation: safety || guarantee || obligation,
        };

        match form {
            Form::False | Form::True | Form::Literal(..) => class(true, true, true),
            Form::And(parts) | Form::Or(parts) => class(
                all(parts, |c| c.safety),
                all(parts, |c| c.guarantee),
                all(parts, |c| c.obligation),
            ),
            Form::Next(a) => of(a),
            Form::Eventually(a) => class(false, of(a).guarantee, false),
            Form::Always(a) => class(of(a).safety, false, false),
            Form::Until(a, b) => class(
                false,
                of(a).guarantee && of(b).guarantee,
                of(a).obligation && of(b).guarantee,
            ),
            Form::Release(a, b) => class(
                of(a).safety && of(b).safety,
                false,
                of(a).obligation && of(b).safety,
            ),
            Form::WeakUntil(a, b) => class(
                of(a).safety && of(b).safety,
                false,
                of(a).safety && of(b).obligation,
            ),
            Form::StrongRelease(a, b) => class(
                false,
                of(a).guarantee && of(b).guarantee,
                of(a).guarantee && of(b).obligation,
            ),
        }
    }
}

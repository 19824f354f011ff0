//! Terms: positions and sets.

use base::Span;

use super::{Binding, Checked, Elaborator, Meaning, join};
use crate::ast::{ArithmeticOperator, Comparison, Element, ExprId, ExprKind, SetOperator};
use crate::atoms::Atom;
use crate::formula::{Formula, Kind, Var};

/// What naming terms has led to: fresh variables, their definitions, and the restrictions of the
/// variables that occur.
#[derive(Default)]
pub(super) struct Context {
    pub(super) fresh: Vec<Var>,
    definitions: Vec<Formula>,
    restrictions: Vec<Formula>,
}

/// A position: `base + plus`, or `base ∸ minus`, or the number `plus`.
/// Invariant: with a base, `plus == 0 || minus == 0`, and neither is negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    base: Option<Var>,
    plus: i64,
    minus: i64,
}

impl Term {
    fn of(var: Var) -> Self {
        Self {
            base: Some(var),
            plus: 0,
            minus: 0,
        }
    }

    fn number(number: i64) -> Self {
        Self {
            base: None,
            plus: number,
            minus: 0,
        }
    }

    /// The variable, if it is nothing else.
    pub(super) fn plain(&self) -> Option<Var> {
        self.base.filter(|_| self.plus == 0 && self.minus == 0)
    }
}

/// A set, as a Boolean combination of simpler ones.
#[derive(Clone, Debug)]
pub(super) enum SetTerm {
    Empty,
    Variable(Var),
    Single(Term),
    Interval(Term, Term),
    Number(u64),
    Operation(SetOperator, Box<(SetTerm, SetTerm)>),
}

impl SetTerm {
    fn union(left: Self, right: Self) -> Self {
        Self::Operation(SetOperator::Union, Box::new((left, right)))
    }

    fn n_leaves(&self) -> usize {
        match self {
            Self::Empty => 0,
            Self::Operation(_, sides) => sides.0.n_leaves() + sides.1.n_leaves(),
            _ => 1,
        }
    }
}

/// An expression with its type.
pub(super) enum Typed {
    Formula(Meaning),
    Term(Term),
    Set(SetTerm),
}

impl Typed {
    pub(super) fn describe(&self) -> &'static str {
        match self {
            Self::Formula(_) => "a formula",
            Self::Term(_) => "a position",
            Self::Set(_) => "a set",
        }
    }
}

/// How many sets one pointwise atom may relate; larger combinations are named in parts.
const MAX_POINTWISE: usize = 6;

impl Elaborator<'_, '_, '_> {
    /// Conjoins the definitions of a context and quantifies its fresh variables.
    pub(super) fn close(&mut self, context: Context, body: Meaning) -> Meaning {
        let mut all = context.definitions;
        all.push(body.formula);
        let meaning = Meaning {
            formula: self.formulas.and(&all),
            restrictions: join(&[&context.restrictions, &body.restrictions]),
        };
        if context.fresh.is_empty() {
            return meaning;
        }
        self.quantify(false, &context.fresh, meaning)
    }

    /// The meaning of an expression of any type.
    pub(super) fn typed(&mut self, id: ExprId, context: &mut Context) -> Checked<Typed> {
        self.enter(self.expr(id).1)?;
        let typed = match self.formula_expr(id) {
            Ok(Some(meaning)) => Ok(Typed::Formula(meaning)),
            Ok(None) => self.term_expr(id, context),
            Err(wrong) => Err(wrong),
        };
        self.nesting -= 1;
        typed
    }

    fn term_expr(&mut self, id: ExprId, context: &mut Context) -> Checked<Typed> {
        let syntax = self.syntax;
        let span = syntax.exprs[id].span;
        Ok(match &syntax.exprs[id].kind {
            ExprKind::Name(name) => return self.name(name, span, context),
            ExprKind::Number(number) => Typed::Term(Term::number(*number)),
            ExprKind::Empty => Typed::Set(SetTerm::Empty),
            ExprKind::SetOperation(operator, left, right) => {
                let left = self.set(*left, context)?;
                let right = self.set(*right, context)?;
                Typed::Set(SetTerm::Operation(*operator, Box::new((left, right))))
            }
            ExprKind::Arithmetic(operator, left, right) => {
                self.arithmetic(*operator, *left, *right, span, context)?
            }
            ExprKind::Modulo {
                minus,
                term,
                amount,
                modulus,
            } => {
                let amount = self.number(*amount)?;
                let operands = (*term, *modulus);
                Typed::Term(self.modulo(*minus, operands, amount, span, context)?)
            }
            ExprKind::Min(set) => Typed::Term(self.extremum(Atom::Min, *set, context)?),
            ExprKind::Max(set) => Typed::Term(self.extremum(Atom::Max, *set, context)?),
            ExprKind::Set(elements) => Typed::Set(self.display(elements, context)?),
            ExprKind::Call(name, arguments) if name == "pconst" => {
                let &[argument] = arguments.as_slice() else {
                    let message = "`pconst` takes one number".to_owned();
                    return self.error("arguments", span, message);
                };
                match u64::try_from(self.number(argument)?) {
                    Ok(number) => Typed::Set(SetTerm::Number(number)),
                    Err(_) => return self.negative(span),
                }
            }
            _ => {
                let message = "this expression has no value here".to_owned();
                return self.error("type", span, message);
            }
        })
    }

    fn negative<T>(&mut self, span: Span) -> Checked<T> {
        self.error("number", span, "this number is negative".to_owned())
    }

    fn name(&mut self, name: &str, span: Span, context: &mut Context) -> Checked<Typed> {
        let is_local = self.locals.iter().any(|(local, _)| local == name);
        if !is_local
            && matches!(
                self.globals.get(name),
                Some((super::Global::Predicate(_), _))
            )
        {
            return Ok(Typed::Formula(self.call(name, &[], span)?));
        }
        Ok(match self.lookup(name, span)? {
            Binding::Number(number) => Typed::Term(Term::number(number)),
            Binding::Formula(meaning) => Typed::Formula(meaning),
            Binding::Variable(variable) => {
                let var = variable.var;
                match var.kind() {
                    Kind::Bool => Typed::Formula(Meaning {
                        formula: self.formulas.boolean(var),
                        restrictions: variable.restrictions,
                    }),
                    Kind::First => {
                        context.restrictions.extend(variable.restrictions);
                        Typed::Term(Term::of(var))
                    }
                    Kind::Set => {
                        context.restrictions.extend(variable.restrictions);
                        Typed::Set(SetTerm::Variable(var))
                    }
                }
            }
        })
    }

    pub(super) fn set(&mut self, id: ExprId, context: &mut Context) -> Checked<SetTerm> {
        let span = self.expr(id).1;
        match self.typed(id, context)? {
            Typed::Set(set) => Ok(set),
            other => {
                let message = format!("a set is needed here, this is {}", other.describe());
                self.error("type", span, message)
            }
        }
    }

    fn term(&mut self, id: ExprId, context: &mut Context) -> Checked<Term> {
        let span = self.expr(id).1;
        match self.typed(id, context)? {
            Typed::Term(term) => Ok(term),
            other => {
                let message = format!("a position is needed here, this is {}", other.describe());
                self.error("type", span, message)
            }
        }
    }

    fn fresh(&mut self, kind: Kind, context: &mut Context) -> Var {
        let var = self.formulas.var(kind);
        context.fresh.push(var);
        var
    }

    fn define(&mut self, atom: Atom, roles: &[Var], context: &mut Context) {
        let definition = self.formulas.atom(atom, roles);
        context.definitions.push(definition);
    }

    /// A variable that has the value of a term.
    pub(super) fn term_variable(
        &mut self,
        term: Term,
        span: Span,
        context: &mut Context,
    ) -> Checked<Var> {
        if let Some(var) = term.plain() {
            return Ok(var);
        }
        if term.base.is_none() && term.plus < 0 {
            return self.negative(span);
        }
        let var = self.fresh(Kind::First, context);
        match term.base {
            None => self.define(Atom::EqualConst(term.plus), &[var], context),
            Some(base) if term.minus > 0 => {
                self.define(Atom::EqualMinus(term.minus as u32), &[var, base], context);
            }
            Some(base) => self.define(Atom::Equal(term.plus), &[var, base], context),
        }
        Ok(var)
    }

    fn arithmetic(
        &mut self,
        operator: ArithmeticOperator,
        left: ExprId,
        right: ExprId,
        span: Span,
        context: &mut Context,
    ) -> Checked<Typed> {
        let left = self.typed(left, context)?;
        let amount = self.number(right)?;
        match (operator, left) {
            (ArithmeticOperator::Plus, Typed::Term(term)) => {
                Ok(Typed::Term(self.shift_term(term, amount, span, context)?))
            }
            (ArithmeticOperator::Minus, Typed::Term(term)) => {
                Ok(Typed::Term(self.shift_term(term, -amount, span, context)?))
            }
            (ArithmeticOperator::Plus, Typed::Set(set)) => {
                Ok(Typed::Set(self.shift_set(set, amount, context)))
            }
            (ArithmeticOperator::Minus, Typed::Set(set)) => {
                Ok(Typed::Set(self.shift_set(set, -amount, context)))
            }
            (ArithmeticOperator::Times | ArithmeticOperator::Divide, Typed::Term(term))
                if term.base.is_none() =>
            {
                let value = match operator {
                    ArithmeticOperator::Times => term.plus.checked_mul(amount),
                    _ => term.plus.checked_div(amount),
                };
                match value {
                    Some(value) if value.abs() < 1 << 31 => Ok(Typed::Term(Term::number(value))),
                    _ => self.error("number", span, "this number is out of range".to_owned()),
                }
            }
            (_, left) => {
                let message = format!("{} cannot be calculated with", left.describe());
                self.error("type", span, message)
            }
        }
    }

    fn shift_term(
        &mut self,
        mut term: Term,
        amount: i64,
        span: Span,
        context: &mut Context,
    ) -> Checked<Term> {
        if amount > 0 && term.base.is_some() && term.minus > 0 {
            term = Term::of(self.term_variable(term, span, context)?);
        }
        let plus = term.plus + amount;
        Ok(match term.base {
            Some(_) if plus < 0 => Term {
                plus: 0,
                minus: term.minus - plus,
                ..term
            },
            _ => Term { plus, ..term },
        })
    }

    fn shift_set(&mut self, set: SetTerm, amount: i64, context: &mut Context) -> SetTerm {
        if amount == 0 {
            return set;
        }
        let mut var = self.set_variable(&set, context);
        for _ in 0..amount.unsigned_abs() {
            let next = self.fresh(Kind::Set, context);
            let atom = if amount > 0 {
                Atom::ShiftUp(1)
            } else {
                Atom::ShiftDown
            };
            self.define(atom, &[next, var], context);
            var = next;
        }
        SetTerm::Variable(var)
    }

    fn extremum(&mut self, atom: Atom, set: ExprId, context: &mut Context) -> Checked<Term> {
        let set = self.set(set, context)?;
        let set = self.set_variable(&set, context);
        let var = self.fresh(Kind::First, context);
        self.define(atom, &[var, set], context);
        Ok(Term::of(var))
    }

    /// `term ± amount % modulus`, one step at a time.
    fn modulo(
        &mut self,
        minus: bool,
        (term, modulus): (ExprId, ExprId),
        amount: i64,
        span: Span,
        context: &mut Context,
    ) -> Checked<Term> {
        let term = self.term(term, context)?;
        let modulus = self.term(modulus, context)?;
        let modulus = self.term_variable(modulus, span, context)?;
        let mut var = self.term_variable(term, span, context)?;
        let minus = minus != (amount < 0);
        for _ in 0..amount.unsigned_abs() {
            let next = self.fresh(Kind::First, context);
            let definition = self.modulo_step(minus, next, var, modulus);
            context.definitions.push(definition);
            var = next;
        }
        Ok(Term::of(var))
    }

    /// `i = j ± 1 % k`. Above the modulus the result is 0; at the modulus, adding gives 1 % k.
    fn modulo_step(&mut self, minus: bool, i: Var, j: Var, k: Var) -> Formula {
        let store = &mut self.formulas;
        let above = store.atom(Atom::Less(0), &[k, j]);
        let i_is_zero = store.atom(Atom::EqualConst(0), &[i]);
        let outside = store.and(&[above.clone(), i_is_zero.clone()]);
        let not_above = store.not(&above);
        let cases = if minus {
            let j_is_zero = store.atom(Atom::EqualConst(0), &[j]);
            let k_is_zero = store.atom(Atom::EqualConst(0), &[k]);
            let before_j = store.atom(Atom::Equal(1), &[j, i]);
            let before_k = store.atom(Atom::Equal(1), &[k, i]);
            [
                before_j,
                store.and(&[j_is_zero.clone(), before_k]),
                store.and(&[j_is_zero, k_is_zero, i_is_zero]),
            ]
        } else {
            let below = store.atom(Atom::Less(-1), &[j, k]);
            let after_j = store.atom(Atom::Equal(1), &[i, j]);
            let j_is_last = store.atom(Atom::Equal(1), &[k, j]);
            let j_is_k = store.atom(Atom::Equal(0), &[j, k]);
            let k_is_small = store.atom(Atom::LessConst(2), &[k]);
            let i_is_one = store.atom(Atom::EqualConst(1), &[i]);
            let wrapped = store.implies(&k_is_small, &i_is_zero);
            let over = store.or(&[k_is_small, i_is_one]);
            [
                store.and(&[below, after_j]),
                store.and(&[j_is_last, i_is_zero]),
                store.and(&[j_is_k, wrapped, over]),
            ]
        };
        let inside = store.or(&cases);
        let inside = store.and(&[not_above, inside]);
        store.or(&[outside, inside])
    }

    fn display(&mut self, elements: &[Element], context: &mut Context) -> Checked<SetTerm> {
        let mut parts = Vec::new();
        let mut number = 0;
        for element in elements {
            match element {
                Element::Single(term) => match self.checked_term(*term, context)? {
                    Term {
                        base: None,
                        plus: plus @ 0..64,
                        ..
                    } => number |= 1 << plus,
                    term => parts.push(SetTerm::Single(term)),
                },
                Element::Interval(from, to) => {
                    let from = self.checked_term(*from, context)?;
                    let to = self.checked_term(*to, context)?;
                    parts.push(SetTerm::Interval(from, to));
                }
            }
        }
        if number != 0 {
            parts.push(SetTerm::Number(number));
        }
        // A balanced union, because combinations are walked recursively.
        while parts.len() > 1 {
            let mut halved = Vec::new();
            let mut rest = parts.into_iter();
            while let Some(left) = rest.next() {
                halved.push(match rest.next() {
                    Some(right) => SetTerm::union(left, right),
                    None => left,
                });
            }
            parts = halved;
        }
        Ok(parts.pop().unwrap_or(SetTerm::Empty))
    }

    /// A term that is not a negative number.
    fn checked_term(&mut self, id: ExprId, context: &mut Context) -> Checked<Term> {
        let term = self.term(id, context)?;
        if term.base.is_none() && term.plus < 0 {
            return self.negative(self.expr(id).1);
        }
        Ok(term)
    }

    /// A variable that has the value of a set.
    pub(super) fn set_variable(&mut self, set: &SetTerm, context: &mut Context) -> Var {
        match set {
            SetTerm::Variable(var) => *var,
            SetTerm::Single(term) => {
                let element = self.known_variable(*term, context);
                let var = self.fresh(Kind::Set, context);
                self.define(Atom::Singleton, &[var, element], context);
                var
            }
            SetTerm::Interval(from, to) => {
                let from = self.known_variable(*from, context);
                let to = self.known_variable(*to, context);
                let var = self.fresh(Kind::Set, context);
                self.define(Atom::Interval, &[var, from, to], context);
                var
            }
            SetTerm::Number(number) => {
                let var = self.fresh(Kind::Set, context);
                self.define(Atom::Number(*number), &[var], context);
                var
            }
            SetTerm::Empty | SetTerm::Operation(..) => {
                let var = self.fresh(Kind::Set, context);
                let sides = [SetTerm::Variable(var), set.clone()];
                let equal = self.pointwise(&sides, context, |bits| bits[0] == bits[1]);
                context.definitions.push(equal);
                var
            }
        }
    }

    /// A variable for a term that was checked not to be negative.
    fn known_variable(&mut self, term: Term, context: &mut Context) -> Var {
        let var = self.term_variable(term, Span::nowhere(), context);
        var.expect("elements of displays are checked")
    }

    /// The atom that says of every position that `relation` holds of its membership in the sets.
    pub(super) fn pointwise(
        &mut self,
        sets: &[SetTerm],
        context: &mut Context,
        relation: impl Fn(&[bool]) -> bool,
    ) -> Formula {
        let mut leaves = Vec::new();
        let budget = MAX_POINTWISE / sets.len();
        let sets: Vec<SetTerm> = sets
            .iter()
            .map(|set| self.with_leaves(set, budget, &mut leaves, context))
            .collect();
        let row = |row: usize| {
            let value = |set: &SetTerm| bit_of(set, &leaves, row);
            relation(&sets.iter().map(value).collect::<Vec<bool>>())
        };
        let table: Vec<bool> = (0..1 << leaves.len()).map(row).collect();
        if table.iter().all(|&holds| holds) {
            return self.formulas.constant(true);
        }
        let n_sets = leaves.len() as u32;
        self.formulas
            .atom(Atom::Pointwise { n_sets, table }, &leaves)
    }

    /// Names the leaves of a combination, and parts of it where it has more than `budget` leaves.
    fn with_leaves(
        &mut self,
        set: &SetTerm,
        budget: usize,
        leaves: &mut Vec<Var>,
        context: &mut Context,
    ) -> SetTerm {
        match set {
            SetTerm::Empty => SetTerm::Empty,
            SetTerm::Operation(operator, sides) if budget > 1 || set.n_leaves() <= budget => {
                let few = budget.min(sides.0.n_leaves());
                let few = few.min((budget / 2).max(budget.saturating_sub(sides.1.n_leaves())));
                let left = self.with_leaves(&sides.0, few, leaves, context);
                let right = self.with_leaves(&sides.1, budget - few, leaves, context);
                SetTerm::Operation(*operator, Box::new((left, right)))
            }
            _ => {
                let var = self.set_variable(set, context);
                if !leaves.contains(&var) {
                    leaves.push(var);
                }
                SetTerm::Variable(var)
            }
        }
    }

    /// `term ∈ set`.
    pub(super) fn membership(
        &mut self,
        term: &Term,
        set: &SetTerm,
        span: Span,
        context: &mut Context,
    ) -> Checked<Formula> {
        Ok(match set {
            SetTerm::Empty => self.formulas.constant(false),
            SetTerm::Single(element) => {
                self.relation(Comparison::Equal, term, element, span, context)?
            }
            SetTerm::Interval(from, to) => {
                let above = self.relation(Comparison::LessEqual, from, term, span, context)?;
                let below = self.relation(Comparison::LessEqual, term, to, span, context)?;
                self.formulas.and(&[above, below])
            }
            SetTerm::Operation(operator, sides) => {
                let left = self.membership(term, &sides.0, span, context)?;
                let right = self.membership(term, &sides.1, span, context)?;
                match operator {
                    SetOperator::Union => self.formulas.or(&[left, right]),
                    SetOperator::Inter => self.formulas.and(&[left, right]),
                    SetOperator::Minus => {
                        let right = self.formulas.not(&right);
                        self.formulas.and(&[left, right])
                    }
                }
            }
            SetTerm::Number(_) => {
                let var = self.set_variable(set, context);
                self.variable_membership(term, var, span, context)?
            }
            SetTerm::Variable(var) => self.variable_membership(term, *var, span, context)?,
        })
    }

    fn variable_membership(
        &mut self,
        term: &Term,
        set: Var,
        span: Span,
        context: &mut Context,
    ) -> Checked<Formula> {
        let (atom, var) = match (term.base, term.minus) {
            (Some(base), 0) => (Atom::In(term.plus as u32), base),
            (Some(base), minus @ 1..=3) => (Atom::InMinus(minus as u32), base),
            _ => (Atom::In(0), self.term_variable(*term, span, context)?),
        };
        Ok(self.formulas.atom(atom, &[var, set]))
    }

    /// A relation of two terms; `~=` is translated like `=`.
    pub(super) fn relation(
        &mut self,
        comparison: Comparison,
        left: &Term,
        right: &Term,
        span: Span,
        context: &mut Context,
    ) -> Checked<Formula> {
        let (negated, left, right) = match comparison {
            Comparison::Less => (false, left, right),
            Comparison::Greater => (false, right, left),
            Comparison::LessEqual => (true, right, left),
            Comparison::GreaterEqual => (true, left, right),
            _ => {
                let sides = (
                    self.simple(left, span, context)?,
                    self.simple(right, span, context)?,
                );
                return Ok(self.equality(sides.0, sides.1));
            }
        };
        let left = self.simple(left, span, context)?;
        let right = self.simple(right, span, context)?;
        let less = self.less(left, right);
        Ok(if negated {
            self.formulas.not(&less)
        } else {
            less
        })
    }

    /// The term without subtraction.
    fn simple(&mut self, term: &Term, span: Span, context: &mut Context) -> Checked<Term> {
        if term.base.is_none() && term.plus < 0 {
            return self.negative(span);
        }
        if term.minus == 0 {
            return Ok(*term);
        }
        Ok(Term::of(self.term_variable(*term, span, context)?))
    }

    fn less(&mut self, left: Term, right: Term) -> Formula {
        let difference = right.plus - left.plus;
        match (left.base, right.base) {
            (None, None) => self.formulas.constant(difference > 0),
            (Some(x), Some(y)) if x == y => self.formulas.constant(difference > 0),
            (Some(x), Some(y)) => self.formulas.atom(Atom::Less(difference), &[x, y]),
            (Some(x), None) => self.formulas.atom(Atom::LessConst(difference), &[x]),
            (None, Some(y)) => {
                // c < y + d, that is, not y < c - d + 1.
                let most = self.formulas.atom(Atom::LessConst(1 - difference), &[y]);
                self.formulas.not(&most)
            }
        }
    }

    fn equality(&mut self, left: Term, right: Term) -> Formula {
        let difference = right.plus - left.plus;
        match (left.base, right.base) {
            (None, None) => self.formulas.constant(difference == 0),
            (Some(x), Some(y)) if x == y => self.formulas.constant(difference == 0),
            (Some(x), Some(y)) => self.formulas.atom(Atom::Equal(difference), &[x, y]),
            (Some(x), None) => self.formulas.atom(Atom::EqualConst(difference), &[x]),
            (None, Some(y)) => self.formulas.atom(Atom::EqualConst(-difference), &[y]),
        }
    }
}

/// Is a position in a combination of leaves? Bit `i` of `row` says whether it is in leaf `i`.
fn bit_of(set: &SetTerm, leaves: &[Var], row: usize) -> bool {
    match set {
        SetTerm::Variable(var) => {
            let leaf = leaves.iter().position(|leaf| leaf == var);
            row >> leaf.expect("its leaves are named") & 1 == 1
        }
        SetTerm::Operation(operator, sides) => {
            let left = bit_of(&sides.0, leaves, row);
            let right = bit_of(&sides.1, leaves, row);
            match operator {
                SetOperator::Union => left || right,
                SetOperator::Inter => left && right,
                SetOperator::Minus => left && !right,
            }
        }
        _ => false,
    }
}

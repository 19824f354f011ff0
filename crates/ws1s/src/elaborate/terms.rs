//! Terms, above all positions.

use base::Span;

use super::sets::SetTerm;
use super::{Binding, Checked, Elaborator, Meaning, join};
use crate::ast::{ArithmeticOperator, Comparison, ExprId, ExprKind};
use crate::atoms::Atom;
use crate::formula::{Formula, Kind, Var};

/// What naming terms has led to: fresh variables, their definitions, and the restrictions of the
/// variables that occur.
#[derive(Default)]
pub(super) struct Context {
    pub(super) fresh: Vec<Var>,
    pub(super) definitions: Vec<Formula>,
    restrictions: Vec<Formula>,
}

/// A position: `base + plus`, or `base ∸ minus`, or the number `plus`.
/// Invariant: with a base, `plus == 0 || minus == 0`, and neither is negative.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) base: Option<Var>,
    pub(super) plus: i64,
    pub(super) minus: i64,
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

/// How far a set, or a position modulo another, may be shifted at once.
const MAX_STEPS: i64 = 10_000;

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

    pub(super) fn negative<T>(&mut self, span: Span) -> Checked<T> {
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

    pub(super) fn term(&mut self, id: ExprId, context: &mut Context) -> Checked<Term> {
        let span = self.expr(id).1;
        match self.typed(id, context)? {
            Typed::Term(term) => Ok(term),
            other => {
                let message = format!("a position is needed here, this is {}", other.describe());
                self.error("type", span, message)
            }
        }
    }

    pub(super) fn fresh(&mut self, kind: Kind, context: &mut Context) -> Var {
        let var = self.formulas.var(kind);
        context.fresh.push(var);
        var
    }

    pub(super) fn define(&mut self, atom: Atom, roles: &[Var], context: &mut Context) {
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
        if matches!(left, Typed::Set(_)) {
            self.check_steps(amount, span)?;
        }
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

    /// Sets and residues are shifted one by one; that should end.
    fn check_steps(&mut self, amount: i64, span: Span) -> Checked<()> {
        if amount.abs() > MAX_STEPS {
            let message = format!("a shift by more than {MAX_STEPS} is not supported here");
            return self.error("number", span, message);
        }
        Ok(())
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
        self.check_steps(amount, span)?;
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

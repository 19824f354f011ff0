//! Terms, above all positions.

use base::Span;

use super::{Binding, Checked, Elaborator, Meaning, join};
use crate::ast::{ArithmeticOperator, Comparison, ExprId, ExprKind};
use crate::atoms::Atom;
use crate::formula::{Formula, Var, VarKind};
use crate::naming::{Naming, SetTerm, Term};

/// What naming terms has led to, and the restrictions of the variables that occur.
#[derive(Default)]
pub(super) struct Context {
    pub(super) naming: Naming,
    restrictions: Vec<Formula>,
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
        let mut all = context.naming.definitions;
        all.push(body.formula);
        let meaning = Meaning {
            formula: self.formulas.and(&all),
            restrictions: join(&[&context.restrictions, &body.restrictions]),
        };
        if context.naming.fresh.is_empty() {
            return meaning;
        }
        self.quantify(false, &context.naming.fresh, meaning)
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
                    VarKind::Bool => Typed::Formula(Meaning {
                        formula: self.formulas.boolean(var),
                        restrictions: variable.restrictions,
                    }),
                    VarKind::First => {
                        context.restrictions.extend(variable.restrictions);
                        Typed::Term(Term::of(var))
                    }
                    VarKind::Set => {
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

    /// A variable that has the value of a term.
    pub(super) fn term_variable(
        &mut self,
        term: Term,
        span: Span,
        context: &mut Context,
    ) -> Checked<Var> {
        self.check_sign(&term, span)?;
        Ok(self.formulas.name_term(term, &mut context.naming))
    }

    /// Reports a number that is not a position.
    pub(super) fn check_sign(&mut self, term: &Term, span: Span) -> Checked<()> {
        if term.is_negative() {
            self.negative(span)
        } else {
            Ok(())
        }
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
        let signed = match operator {
            ArithmeticOperator::Minus => -amount,
            _ => amount,
        };
        let naming = &mut context.naming;

        match (operator, left) {
            (ArithmeticOperator::Plus | ArithmeticOperator::Minus, Typed::Term(term)) => {
                Ok(Typed::Term(self.formulas.shift_term(term, signed, naming)))
            }
            (ArithmeticOperator::Plus | ArithmeticOperator::Minus, Typed::Set(set)) => {
                Ok(Typed::Set(self.formulas.shift_set(set, signed, naming)))
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

    fn extremum(&mut self, atom: Atom, set: ExprId, context: &mut Context) -> Checked<Term> {
        let set = self.set(set, context)?;
        Ok(self.formulas.extremum(atom, &set, &mut context.naming))
    }

    /// `term ± amount % modulus`.
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
        self.check_sign(&term, span)?;
        self.check_sign(&modulus, span)?;
        self.check_steps(amount, span)?;
        let amount = if minus { -amount } else { amount };
        let naming = &mut context.naming;
        Ok(self.formulas.modulo(term, amount, modulus, naming))
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
        self.check_sign(left, span)?;
        self.check_sign(right, span)?;

        // Everything is `<`: the other way round, or negated.
        let (store, naming) = (&mut self.formulas, &mut context.naming);
        let (negated, left, right) = match comparison {
            Comparison::Less => (false, left, right),
            Comparison::Greater => (false, right, left),
            Comparison::LessEqual => (true, right, left),
            Comparison::GreaterEqual => (true, left, right),
            _ => return Ok(store.equal_terms(left, right, naming)),
        };

        let less = store.less_terms(left, right, naming);
        Ok(if negated { store.not(&less) } else { less })
    }
}

//! Formulas.

use base::Span;

use super::terms::{Context, Typed};
use super::{
    Binding, Checked, Elaborator, ExportRequest, MAX_NESTING, Meaning, Order, Variable, join,
};
use crate::ast::{Comparison, ExprId, ExprKind, Name};
use crate::formula::{Formula, Var};
use crate::text;

impl Elaborator<'_, '_, '_> {
    pub(super) fn enter(&mut self, span: Span) -> Checked<()> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            let message = "predicates and expressions are nested too deeply".to_owned();
            return self.error("nesting", span, message);
        }
        Ok(())
    }

    /// The meaning of an expression that must be a formula.
    pub(super) fn formula(&mut self, id: ExprId) -> Checked<Meaning> {
        let span = self.expr(id).1;
        let mut context = Context::default();
        match self.typed(id, &mut context)? {
            Typed::Formula(meaning) => Ok(self.close(context, meaning)),
            other => {
                let message = format!("a formula is needed here, this is {}", other.describe());
                self.error("type", span, message)
            }
        }
    }

    /// The meaning of an expression that is a formula by its form; `None` if it is a term.
    pub(super) fn formula_expr(&mut self, id: ExprId) -> Checked<Option<Meaning>> {
        let syntax = self.syntax;
        let span = syntax.exprs[id].span;
        let meaning = match &syntax.exprs[id].kind {
            ExprKind::True | ExprKind::False => {
                let value = matches!(syntax.exprs[id].kind, ExprKind::True);
                let constant = self.formulas.constant(value);
                self.unrestricted(constant)
            }
            ExprKind::Not(inner) => {
                let mut meaning = self.formula(*inner)?;
                meaning.formula = self.formulas.not(&meaning.formula);
                meaning
            }
            ExprKind::And(operands) => self.connective(operands, |s, fs| s.formulas.and(fs))?,
            ExprKind::Or(operands) => self.connective(operands, |s, fs| s.formulas.or(fs))?,
            ExprKind::Implies(operands) => self.connective(operands, |s, fs| {
                let (last, premises) = fs.split_last().expect("a chain is not empty");
                let mut disjuncts: Vec<Formula> =
                    premises.iter().map(|f| s.formulas.not(f)).collect();
                disjuncts.push(last.clone());
                s.formulas.or(&disjuncts)
            })?,
            ExprKind::Iff(operands) => self.connective(operands, |s, fs| {
                let (last, rest) = fs.split_last().expect("a chain is not empty");
                let step = |right: Formula, left: &Formula| s.formulas.iff(left, &right);
                rest.iter().rev().fold(last.clone(), step)
            })?,
            ExprKind::Compare(comparison, left, right) => {
                self.comparison(*comparison, *left, *right, span)?
            }
            ExprKind::IsEmpty(set) => self.is_empty(*set)?,
            ExprKind::Quantifier { .. } => self.quantifier(id)?,
            ExprKind::Let {
                order,
                definitions,
                body,
            } => self.let_expr(*order, definitions, *body)?,
            ExprKind::Call(name, _) if name == "pconst" => return Ok(None),
            ExprKind::Call(name, arguments) => self.call(name, arguments, span)?,
            ExprKind::Import(file, mapping) => self.import(file, mapping, span)?,
            ExprKind::Export(file, inner) => self.export(file, *inner)?,
            ExprKind::Prefix(inner) => {
                let meaning = self.formula(*inner)?;
                let whole = self.conjoined(&meaning);
                let prefix = self.formulas.prefix(&whole);
                self.unrestricted(prefix)
            }
            ExprKind::Restrict(inner) => {
                let meaning = self.formula(*inner)?;
                Meaning {
                    formula: self.formulas.constant(true),
                    restrictions: self.restrictions_of(&meaning),
                }
            }
            _ => return Ok(None),
        };

        Ok(Some(meaning))
    }

    pub(super) fn unrestricted(&self, formula: Formula) -> Meaning {
        Meaning {
            formula,
            restrictions: Vec::new(),
        }
    }

    fn connective(
        &mut self,
        operands: &[ExprId],
        combine: impl FnOnce(&mut Self, &[Formula]) -> Formula,
    ) -> Checked<Meaning> {
        let mut formulas = Vec::new();
        let mut restrictions = Vec::new();
        for &operand in operands {
            let meaning = self.formula(operand)?;
            formulas.push(meaning.formula);
            restrictions.extend(meaning.restrictions);
        }
        Ok(Meaning {
            formula: combine(self, &formulas),
            restrictions: join(&[&restrictions]),
        })
    }

    fn is_empty(&mut self, id: ExprId) -> Checked<Meaning> {
        let mut context = Context::default();
        let set = self.set(id, &mut context)?;
        let formula = self
            .formulas
            .pointwise(&[set], &mut context.naming, |bits| !bits[0]);
        let meaning = self.unrestricted(formula);
        Ok(self.close(context, meaning))
    }

    /// A quantifier with those of the same sort directly below it as one block.
    fn quantifier(&mut self, id: ExprId) -> Checked<Meaning> {
        let syntax = self.syntax;
        let n_locals = self.locals.len();
        let mut vars = Vec::new();
        let mut at = id;
        let mut block = None;
        while let ExprKind::Quantifier {
            universal,
            order,
            variables,
            body,
        } = &syntax.exprs[at].kind
        {
            if *block.get_or_insert(*universal) != *universal {
                break;
            }
            match self.bind(*order, variables) {
                Ok(bound) => vars.extend(bound),
                Err(wrong) => {
                    self.locals.truncate(n_locals);
                    return Err(wrong);
                }
            }
            at = *body;
        }

        let body = self.formula(at);
        self.locals.truncate(n_locals);
        Ok(self.quantify(block == Some(true), &vars, body?))
    }

    fn let_expr(
        &mut self,
        order: Order,
        definitions: &[(Name, ExprId)],
        body: ExprId,
    ) -> Checked<Meaning> {
        let mut context = Context::default();
        let mut bindings = Vec::new();
        for (name, expr) in definitions {
            let span = self.expr(*expr).1;
            let binding = match (order, self.typed(*expr, &mut context)?) {
                (Order::Zero, Typed::Formula(meaning)) => Binding::Formula(meaning),
                (Order::First, Typed::Term(term)) => {
                    let var = self.term_variable(term, span, &mut context)?;
                    self.let_variable(var)?
                }
                (Order::Second, Typed::Set(set)) => {
                    let var = self.formulas.name_set(&set, &mut context.naming);
                    self.let_variable(var)?
                }
                (_, other) => {
                    let message = format!("this is {}, which `let` cannot bind", other.describe());
                    return self.error("type", span, message);
                }
            };
            bindings.push((name.text.clone(), binding));
        }

        let n_locals = self.locals.len();
        self.locals.extend(bindings);
        let body = self.formula(body);
        self.locals.truncate(n_locals);
        Ok(self.close(context, body?))
    }

    fn let_variable(&mut self, var: Var) -> Checked<Binding> {
        let restrictions = self.default_restriction(var)?;
        Ok(Binding::Variable(Variable {
            var,
            restrictions,
            implicit: false,
        }))
    }

    fn comparison(
        &mut self,
        comparison: Comparison,
        left: ExprId,
        right: ExprId,
        span: Span,
    ) -> Checked<Meaning> {
        let mut context = Context::default();
        let left = self.typed(left, &mut context)?;
        let right = self.typed(right, &mut context)?;
        let describe = (left.describe(), right.describe());

        let formula = match (comparison, left, right) {
            (Comparison::In | Comparison::NotIn, Typed::Term(term), Typed::Set(set)) => {
                self.check_sign(&term, span)?;
                let naming = &mut context.naming;
                self.formulas.membership(&term, &set, naming)
            }
            (Comparison::Sub, Typed::Set(left), Typed::Set(right)) => {
                let (sides, naming) = ([left, right], &mut context.naming);
                let implies = |bits: &[bool]| !bits[0] || bits[1];
                self.formulas.pointwise(&sides, naming, implies)
            }
            (Comparison::Equal | Comparison::NotEqual, Typed::Set(left), Typed::Set(right)) => {
                let naming = &mut context.naming;
                self.formulas.equal_set_terms(&left, &right, naming)
            }
            (Comparison::In | Comparison::NotIn | Comparison::Sub, ..) => {
                return self.mismatch(describe, span);
            }
            (_, Typed::Term(left), Typed::Term(right)) => {
                self.relation(comparison, &left, &right, span, &mut context)?
            }
            _ => return self.mismatch(describe, span),
        };

        let negated = matches!(comparison, Comparison::NotIn | Comparison::NotEqual);
        let meaning = self.unrestricted(formula);
        let mut meaning = self.close(context, meaning);
        if negated {
            meaning.formula = self.formulas.not(&meaning.formula);
        }
        Ok(meaning)
    }

    fn mismatch<T>(&mut self, (left, right): (&str, &str), span: Span) -> Checked<T> {
        let message = format!("this relation cannot relate {left} to {right}");
        self.error("type", span, message)
    }

    fn import(&mut self, file: &str, mapping: &[(Name, Name)], span: Span) -> Checked<Meaning> {
        let content = match (self.loader)(file) {
            Ok(content) => content,
            Err(message) => {
                let message = format!("cannot read `{file}`: {message}");
                return self.error("import", span, message);
            }
        };

        let stored = match text::read(&content) {
            Ok(stored) => stored,
            Err(message) => return self.error("import", span, format!("`{file}`: {message}")),
        };
        let mut vars = Vec::new();
        let mut restrictions = Vec::new();

        for (name, kind) in &stored.tracks {
            let Some((_, ours)) = mapping.iter().find(|(theirs, _)| theirs.text == *name) else {
                let message = format!("the variable `{name}` of `{file}` is not mapped");
                return self.error("import", span, message);
            };
            match self.lookup(&ours.text, ours.span)? {
                Binding::Variable(variable) if variable.var.kind() == *kind => {
                    vars.push(variable.var);
                    restrictions.extend(variable.restrictions);
                }
                _ => {
                    let message = format!("`{}` is of the wrong kind", ours.text);
                    return self.error("type", ours.span, message);
                }
            }
        }

        let Some(formula) = text::formula(&mut self.formulas, &stored, &vars) else {
            let message = "one variable is mapped to twice".to_owned();
            return self.error("import", span, message);
        };
        Ok(Meaning {
            formula,
            restrictions: join(&[&restrictions]),
        })
    }

    fn export(&mut self, file: &str, inner: ExprId) -> Checked<Meaning> {
        let meaning = self.formula(inner)?;
        let formula = self.conjoined(&meaning);
        let mut names = Vec::new();
        for &var in formula.vars() {
            let local = self
                .locals
                .iter()
                .rev()
                .find_map(|(name, binding)| match binding {
                    Binding::Variable(variable) if variable.var == var => Some(name),
                    _ => None,
                });
            let mut globals = self.global_vars.iter();
            let global = globals
                .find(|(global, _)| *global == var)
                .map(|(_, name)| name);
            let name = local.or(global).cloned();
            names.push((var, name.unwrap_or_else(|| format!("v{}", var.index))));
        }

        self.exports.push(ExportRequest {
            file: file.to_owned(),
            formula,
            names,
        });
        Ok(meaning)
    }
}

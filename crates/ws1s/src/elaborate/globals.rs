//! Declarations at the top level.

use std::rc::Rc;

use super::{
    Binding, Checked, Declaration, Declared, Elaborated, Elaborator, Global, Meaning, Name, Order,
    Parameter, Predicate, join, kind_of,
};
use crate::ast::{ArithmeticOperator, ExprId, ExprKind};
use crate::atoms::Atom;
use crate::formula::{Formula, Var, VarKind};

/// The formulas of a program, as they are collected.
struct Collected {
    main: Vec<Meaning>,
    verify: Vec<(String, Meaning)>,
    asserted: Vec<Meaning>,
    all_positions: Option<Var>,
    last_position: Option<Var>,
}

impl Elaborator<'_, '_, '_> {
    pub(super) fn program(mut self, truth: Meaning) -> Elaborated {
        let mut collected = Collected {
            main: vec![truth],
            verify: Vec::new(),
            asserted: Vec::new(),
            all_positions: None,
            last_position: None,
        };

        if self.syntax.m2l {
            self.declare_positions(&mut collected);
        }
        let syntax = self.syntax;

        // Names and defaults first: a default applies to variables declared before it.
        for (index, (declaration, _)) in syntax.declarations.iter().enumerate() {
            self.now = index + 1;
            // The errors were reported.
            let _ = self.declare(declaration, index + 1);
        }

        for (index, (declaration, _)) in syntax.declarations.iter().enumerate() {
            self.now = index + 1;
            self.locals.clear();
            self.nesting = 0;
            let _ = self.translate(declaration, &mut collected);
        }

        self.finish(collected)
    }

    fn finish(mut self, collected: Collected) -> Elaborated {
        let mut assertion: Vec<Formula> = Vec::new();
        for meaning in &collected.asserted {
            assertion.extend(self.restrictions_of(meaning));
        }
        for (var, _) in self.global_vars.clone() {
            assertion.extend(self.global_restriction(var).unwrap_or_default());
            if var.kind() == VarKind::First {
                assertion.push(self.formulas.atom(Atom::FirstOrder, &[var]));
            }
        }

        assertion.sort_unstable();
        assertion.dedup();
        let formulas: Vec<Formula> = collected.main.iter().map(|m| m.formula.clone()).collect();
        let lists: Vec<&[Formula]> = collected.main.iter().map(|m| &m.restrictions[..]).collect();
        let main = Meaning {
            restrictions: join(&lists),
            formula: self.formulas.and(&formulas),
        };
        Elaborated {
            formulas: self.formulas,
            globals: self.global_vars,
            main,
            verify: collected.verify,
            assertion,
            all_positions: collected.all_positions,
            last_position: collected.last_position,
            exports: self.exports,
            diagnostics: self.diagnostics,
        }
    }

    /// M2L-Str is WS1S with a set `$` of all positions, an initial segment, in which everything
    /// lives unless a `where` clause says otherwise.
    fn declare_positions(&mut self, collected: &mut Collected) {
        let all = self.formulas.var(VarKind::Set);
        let global = Global::Variable(all);
        self.globals.insert("$".to_owned(), (global, 0));
        self.global_vars.push((all, "$".to_owned()));
        let position = self.formulas.var(VarKind::First);
        let inside = self.formulas.atom(Atom::In(0), &[position, all]);
        let next_inside = self.formulas.atom(Atom::In(1), &[position, all]);
        let outside = self.formulas.not(&inside);
        let gap = self.formulas.and(&[outside, next_inside]);
        let gap = self.formulas.exists(&[position], &gap);
        let segment = self.formulas.not(&gap);
        let restriction = self.formulas.restrict(&segment);
        self.global_restrictions
            .insert(all, vec![restriction.clone()]);
        self.segment = Some(restriction);
        collected.all_positions = Some(all);
        self.all_positions = Some(all);
    }

    fn declare(&mut self, declaration: &Declaration, at: usize) -> Checked<()> {
        match declaration {
            Declaration::Variables(order, declared) => {
                for Declared { name, restriction } in declared {
                    let var = self.formulas.var(kind_of(*order));
                    self.declare_name(name, Global::Variable(var), at)?;
                    self.global_vars.push((var, name.text.clone()));
                    if let Some(expr) = restriction {
                        self.global_where.insert(var, (*expr, at));
                    }
                }
                Ok(())
            }
            Declaration::Constant(name, expr) => {
                let value = self.number(*expr)?;
                self.declare_name(name, Global::Number(value), at)
            }
            Declaration::Predicate {
                name,
                parameters,
                body,
            } => self.declare_predicate(name, parameters, *body, at),
            Declaration::DefaultWhere(order, name, expr) => {
                let slot = usize::from(*order == Order::Second);
                if self.defaults[slot].is_some() || self.syntax.m2l {
                    let message = "this default is already declared".to_owned();
                    return self.error("duplicate", name.span, message);
                }
                self.defaults[slot] = Some((name.clone(), *expr, at));
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn declare_predicate(
        &mut self,
        name: &Name,
        parameters: &[Parameter],
        body: ExprId,
        at: usize,
    ) -> Checked<()> {
        let predicate = Predicate {
            name: name.clone(),
            parameters: parameters.to_vec(),
            body,
            declared_at: at,
        };
        self.declare_name(name, Global::Predicate(Rc::new(predicate)), at)
    }

    fn declare_name(&mut self, name: &Name, global: Global, at: usize) -> Checked<()> {
        if self.globals.contains_key(&name.text) {
            let message = format!("`{}` is already declared", name.text);
            return self.error("duplicate", name.span, message);
        }
        self.globals.insert(name.text.clone(), (global, at));
        Ok(())
    }

    fn translate(&mut self, declaration: &Declaration, collected: &mut Collected) -> Checked<()> {
        match declaration {
            Declaration::Formula(expr) => collected.main.push(self.formula(*expr)?),
            Declaration::Assert(expr) => collected.asserted.push(self.formula(*expr)?),
            Declaration::Verify(title, expr) => {
                let title = title.clone().unwrap_or_else(|| "<untitled>".to_owned());
                collected.verify.push((title, self.formula(*expr)?));
            }
            // Only its exports count.
            Declaration::Execute(expr) => {
                self.formula(*expr)?;
            }
            Declaration::Variables(_, declared) => {
                self.now += 1;
                for Declared { name, .. } in declared {
                    if let Some((Global::Variable(var), _)) = self.globals.get(&name.text) {
                        let var = *var;
                        self.global_restriction(var)?;
                    }
                }
            }
            Declaration::Predicate { name, .. } => self.check_predicate(name)?,
            Declaration::DefaultWhere(order, ..) => {
                let var = self.formulas.var(kind_of(*order));
                self.default_restriction(var)?;
            }
            Declaration::Constant(..) => {}
            Declaration::AllPos(name) => {
                collected.all_positions = Some(self.position_variable(name, VarKind::Set)?);
            }
            Declaration::LastPos(name) => {
                collected.last_position = Some(self.position_variable(name, VarKind::First)?);
            }
        }

        Ok(())
    }

    fn position_variable(&mut self, name: &Name, kind: VarKind) -> Checked<Var> {
        match self.lookup(&name.text, name.span)? {
            Binding::Variable(variable) if variable.var.kind() == kind => Ok(variable.var),
            _ => {
                let message = format!("`{}` is of the wrong kind", name.text);
                self.error("type", name.span, message)
            }
        }
    }

    /// The restrictions of a global variable.
    pub(super) fn global_restriction(&mut self, var: Var) -> Checked<Vec<Formula>> {
        if let Some(known) = self.global_restrictions.get(&var) {
            return Ok(known.clone());
        }

        // Inside its own restriction, and inside a default, a variable is not restricted by it.
        if self.being_restricted.contains(&var) {
            return Ok(Vec::new());
        }

        let clause = self.global_where.get(&var).copied();
        if clause.is_none() && self.in_default {
            return Ok(Vec::new());
        }
        self.being_restricted.push(var);

        let restrictions = match clause {
            None => self.default_restriction(var),
            Some((expr, at)) => {
                let locals = std::mem::take(&mut self.locals);
                let now = std::mem::replace(&mut self.now, at + 1);
                let meaning = self.formula(expr);
                self.now = now;
                self.locals = locals;
                meaning.map(|meaning| self.restrictions_of(&meaning))
            }
        };

        self.being_restricted.pop();
        let restrictions = restrictions?;
        self.global_restrictions.insert(var, restrictions.clone());
        Ok(restrictions)
    }

    /// The value of a constant expression.
    pub(super) fn number(&mut self, id: ExprId) -> Checked<i64> {
        let (kind, span) = self.expr(id);
        let value = match kind.clone() {
            ExprKind::Number(number) => Some(number),
            ExprKind::Name(name) => match self.lookup(&name, span)? {
                Binding::Number(number) => Some(number),
                _ => {
                    let message = format!("`{name}` is not a constant");
                    return self.error("type", span, message);
                }
            },
            ExprKind::Negative(inner) => self.number(inner)?.checked_neg(),
            ExprKind::Arithmetic(operator, left, right) => {
                let (left, right) = (self.number(left)?, self.number(right)?);
                match operator {
                    ArithmeticOperator::Plus => left.checked_add(right),
                    ArithmeticOperator::Minus => left.checked_sub(right),
                    ArithmeticOperator::Times => left.checked_mul(right),
                    ArithmeticOperator::Divide => left.checked_div(right),
                }
            }
            _ => {
                let message = "a constant is needed here".to_owned();
                return self.error("type", span, message);
            }
        };

        match value {
            Some(value) if value.abs() < 1 << 31 => Ok(value),
            _ => self.error("number", span, "this number is out of range".to_owned()),
        }
    }
}

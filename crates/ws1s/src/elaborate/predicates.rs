//! Calls of predicates and macros (which mean the same).

use std::rc::Rc;

use base::Span;

use super::terms::{Context, Typed};
use super::{
    Actual, Binding, Checked, Elaborator, Global, Instance, Meaning, Name, Predicate, Variable,
    join, kind_of,
};
use crate::ast::{ExprId, Order};
use crate::formula::{Formula, Var};

/// How many call patterns of a predicate are remembered.
const MAX_INSTANCES: usize = 32;

impl Elaborator<'_, '_, '_> {
    /// Translates a predicate for parameters of its own, to find its errors where it is declared.
    pub(super) fn check_predicate(&mut self, name: &Name) -> Checked<()> {
        let Some((Global::Predicate(predicate), _)) = self.globals.get(&name.text) else {
            return Ok(());
        };
        let predicate = Rc::clone(predicate);
        let actuals = predicate.parameters.iter().map(|parameter| {
            let var = self.formulas.var(kind_of(parameter.order));
            Actual::Variable(var, false)
        });
        let actuals: Vec<Actual> = actuals.collect();
        self.expand(&predicate, actuals).map(|_| ())
    }

    pub(super) fn call(
        &mut self,
        name: &str,
        arguments: &[ExprId],
        span: Span,
    ) -> Checked<Meaning> {
        let predicate = match self.globals.get(name) {
            Some((Global::Predicate(predicate), at)) if *at < self.now => Rc::clone(predicate),
            Some((_, at)) if *at < self.now => {
                let message = format!("`{name}` is not a predicate");
                return self.error("type", span, message);
            }
            _ => return self.unknown_name(name, span),
        };

        if predicate.parameters.len() != arguments.len() {
            let (wanted, given) = (predicate.parameters.len(), arguments.len());
            let message = format!("`{name}` takes {wanted} arguments, {given} are given");
            return self.error("arguments", span, message);
        }

        let mut context = Context::default();
        let mut actuals = Vec::new();
        for (index, &argument) in arguments.iter().enumerate() {
            let order = predicate.parameters[index].order;
            actuals.push(self.actual(name, index, order, argument, &mut context)?);
        }

        let body = self.expand(&predicate, actuals)?;
        Ok(self.close(context, body))
    }

    fn actual(
        &mut self,
        name: &str,
        index: usize,
        order: Order,
        argument: ExprId,
        context: &mut Context,
    ) -> Checked<Actual> {
        let span = self.expr(argument).1;
        match (order, self.typed(argument, context)?) {
            (Order::Zero, Typed::Formula(meaning)) => Ok(self.boolean_actual(meaning)),
            (Order::First, Typed::Term(term)) => {
                let known = term.plain();
                let var = self.term_variable(term, span, context)?;
                Ok(Actual::Variable(
                    var,
                    known.is_none() || context.naming.fresh.contains(&var),
                ))
            }
            (Order::Second, Typed::Set(set)) => {
                let var = self.formulas.name_set(&set, &mut context.naming);
                Ok(Actual::Variable(var, context.naming.fresh.contains(&var)))
            }
            _ => {
                let message = format!("argument {} of `{name}` is of the wrong type", index + 1);
                self.error("type", span, message)
            }
        }
    }

    fn boolean_actual(&mut self, meaning: Meaning) -> Actual {
        match *meaning.formula.vars() {
            [var]
                if meaning.restrictions.is_empty()
                    && meaning.formula == self.formulas.boolean(var) =>
            {
                Actual::Variable(var, false)
            }
            _ => Actual::Formula(meaning.formula, meaning.restrictions),
        }
    }

    /// The body of a predicate for actual parameters.
    fn expand(&mut self, predicate: &Rc<Predicate>, actuals: Vec<Actual>) -> Checked<Meaning> {
        // Defaults do not apply inside defaults, nor restrictions inside themselves.
        let is_usual = !self.in_default && self.being_restricted.is_empty();
        let instances = self
            .instances
            .get(&predicate.declared_at)
            .filter(|_| is_usual);
        let known = instances.and_then(|instances| {
            let mut meanings = instances.iter();
            meanings.find_map(|instance| self.renamed(instance, &actuals))
        });
        if let Some(meaning) = known {
            return Ok(meaning);
        }
        self.enter(predicate.name.span)?;

        let locals = std::mem::take(&mut self.locals);
        let now = std::mem::replace(&mut self.now, predicate.declared_at);
        let meaning = self.expand_body(predicate, &actuals);
        self.now = now;
        self.locals = locals;
        self.nesting -= 1;

        let meaning = meaning?;
        let instances = self.instances.entry(predicate.declared_at).or_default();
        if is_usual && instances.len() < MAX_INSTANCES {
            instances.push(Instance {
                actuals,
                meaning: meaning.clone(),
            });
        }

        Ok(meaning)
    }

    fn expand_body(&mut self, predicate: &Predicate, actuals: &[Actual]) -> Checked<Meaning> {
        // All parameters are visible in all restrictions.
        for (parameter, actual) in predicate.parameters.iter().zip(actuals) {
            let binding = match actual {
                Actual::Variable(var, implicit) => Binding::Variable(Variable {
                    var: *var,
                    restrictions: Vec::new(),
                    implicit: *implicit,
                }),
                Actual::Formula(formula, restrictions) => Binding::Formula(Meaning {
                    formula: formula.clone(),
                    restrictions: restrictions.clone(),
                }),
            };
            self.locals
                .push((parameter.declared.name.text.clone(), binding));
        }

        for (index, parameter) in predicate.parameters.iter().enumerate() {
            let Binding::Variable(variable) = self.locals[index].1.clone() else {
                continue;
            };
            let restrictions = match parameter.declared.restriction {
                Some(expr) => {
                    let meaning = self.formula(expr)?;
                    self.restrictions_of(&meaning)
                }
                None if variable.implicit => Vec::new(),
                None => self.default_restriction(variable.var)?,
            };
            self.locals[index].1 = Binding::Variable(Variable {
                restrictions,
                ..variable
            });
        }

        self.formula(predicate.body)
    }

    /// The meaning of an instance for other actuals, if these are ordered in the same way.
    fn renamed(&self, instance: &Instance, actuals: &[Actual]) -> Option<Meaning> {
        if instance.actuals == actuals {
            return Some(instance.meaning.clone());
        }
        let mut pairs = Vec::new();

        for (old, new) in instance.actuals.iter().zip(actuals) {
            match (old, new) {
                (Actual::Variable(old, old_implicit), Actual::Variable(new, new_implicit))
                    if old_implicit == new_implicit =>
                {
                    pairs.push((*old, *new));
                }
                _ => return None,
            }
        }

        pairs.sort_unstable();
        pairs.dedup();
        if pairs.windows(2).any(|pair| pair[0].0 == pair[1].0) {
            return None;
        }
        let meaning = &instance.meaning;
        let restrictions = meaning.restrictions.iter();
        let restrictions: Option<Vec<Formula>> = restrictions
            .map(|f| self.rename_monotone(f, &pairs))
            .collect();
        let formula = self.rename_monotone(&meaning.formula, &pairs)?;
        Some(Meaning {
            formula,
            restrictions: join(&[&restrictions?]),
        })
    }

    /// Renames variables if that keeps their order and identifies none.
    fn rename_monotone(&self, formula: &Formula, pairs: &[(Var, Var)]) -> Option<Formula> {
        let rename = |var: &Var| match pairs.binary_search_by_key(var, |pair| pair.0) {
            Ok(index) => pairs[index].1,
            Err(_) => *var,
        };
        let vars: Vec<Var> = formula.vars().iter().map(rename).collect();
        let ascending = vars.is_sorted_by(|a, b| a < b);
        ascending.then(|| self.formulas.rename(formula, vars))
    }
}

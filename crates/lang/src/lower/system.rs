//! May/must systems and the formulas about them.
//!
//! Atoms of these formulas are the propositions of the system and `@ a, b`: the abstract state is one
//! of these, which is always known.

use base::{AtomId, Diagnostic, Source, Span};
use logic::{CtlStarBuilder, Ltl, MayMustProperty, NamedProperty, Property};
use model::{BinaryOp, MayMustParts, Proposition};
use rustc_hash::FxHashMap;

use super::{Lowerer, text_of};
use crate::ast::{self, Decl, Expr, ExprKind, File, Ident, SystemDecl, Truth, UnaryOp};

/// A formula for paths that satisfy an assumption.
type AssumedFormula<'e> = (Option<&'e Expr>, &'e Expr);

impl<'a> Lowerer<'a> {
    /// Adds all may/must systems to the model; returns their properties.
    pub(super) fn systems(&mut self, file: &'a File, sources: &[Source]) -> Vec<NamedProperty> {
        let mut properties = Vec::new();
        let mut names: FxHashMap<&str, Span> = FxHashMap::default();
        for decl in &file.decls {
            let Decl::System(system) = decl else {
                continue;
            };
            if let Some(first) = names.insert(&system.name.text, system.name.span) {
                self.report_duplicate(&system.name, first);
            }

            let number = self.parts.systems.len();
            let Some(parts) = self.system_parts(system) else {
                continue;
            };
            match parts.finish() {
                Ok(finished) => self.parts.systems.push(finished),
                Err(error) => {
                    self.report(Diagnostic::error("model", error.span, error.message));
                    continue;
                }
            }

            let mut seen: FxHashMap<&str, Span> = FxHashMap::default();
            for property in &system.properties {
                if let Some(first) = seen.insert(&property.name.text, property.name.span) {
                    self.report_duplicate(&property.name, first);
                }
                let name = Ident {
                    text: format!("{}.{}", system.name.text, property.name.text),
                    span: property.name.span,
                };

                let mut text = text_of(property.formula.span, sources);
                if let Some(assuming) = &property.assuming {
                    text = format!("{text} assuming {}", text_of(assuming.span, sources));
                }
                let question = (property.assuming.as_ref(), &property.formula);
                properties.extend(self.system_formula(system, number, &name, &text, question));
            }
        }

        properties
    }

    fn system_parts(&mut self, system: &SystemDecl) -> Option<MayMustParts> {
        let mut numbers: FxHashMap<&str, u32> = FxHashMap::default();
        for state in &system.states {
            let next = numbers.len() as u32;
            if numbers.insert(&state.text, next).is_some() {
                let message = format!("state `{}` is declared twice", state.text);
                self.report(Diagnostic::error("duplicate", state.span, message));
                return None;
            }
        }

        let mut number = |state: &Ident| self.state_number(&numbers, state);
        let mut steps = |steps: &[(Ident, Ident)]| -> Option<Vec<(u32, u32)>> {
            let pair = |(a, b): &(Ident, Ident)| Some((number(a)?, number(b)?));
            steps.iter().map(pair).collect()
        };
        let (free, constrained) = (steps(&system.free)?, steps(&system.constrained)?);
        let initial: Option<Vec<u32>> = system.initial.iter().map(number).collect();
        let mut propositions: Vec<Proposition> = Vec::new();

        for (name, values) in &system.propositions {
            if propositions.iter().any(|known| known.name == name.text) {
                let message = format!("proposition `{}` is declared twice", name.text);
                self.report(Diagnostic::error("duplicate", name.span, message));
                return None;
            }
            propositions.push(self.proposition_of(&numbers, name, values)?);
        }

        // Whatever a formula may say about single states gets a proposition of its own.
        for (state, ident) in system.states.iter().enumerate() {
            let value = |other: usize| Some(other == state);
            propositions.push(Proposition {
                name: format!("@ {}", ident.text),
                values: (0..system.states.len()).map(value).collect(),
            });
        }

        Some(MayMustParts {
            name: system.name.text.clone(),
            states: system
                .states
                .iter()
                .map(|state| state.text.clone())
                .collect(),
            initial: initial?,
            propositions,
            free,
            constrained,
            span: system.name.span,
        })
    }

    fn proposition_of(
        &mut self,
        numbers: &FxHashMap<&str, u32>,
        name: &Ident,
        values: &[(Truth, Vec<Ident>)],
    ) -> Option<Proposition> {
        let mut said: Vec<Option<Truth>> = vec![None; numbers.len()];
        for (truth, states) in values {
            for state in states {
                let number = self.state_number(numbers, state)? as usize;
                if said[number]
                    .replace(*truth)
                    .is_some_and(|other| other != *truth)
                {
                    let message = format!("`{}` has two values in `{}`", name.text, state.text);
                    self.report(Diagnostic::error("contradiction", state.span, message));
                    return None;
                }
            }
        }

        let value = |truth: Option<Truth>| match truth {
            Some(Truth::True) => Some(true),
            Some(Truth::False) => Some(false),
            Some(Truth::Unknown) | None => None,
        };
        Some(Proposition {
            name: name.text.clone(),
            values: said.into_iter().map(value).collect(),
        })
    }

    fn state_number(&mut self, numbers: &FxHashMap<&str, u32>, state: &Ident) -> Option<u32> {
        let found = numbers.get_key_value(state.text.as_str());
        let number = found.map(|(declared, number)| {
            self.resolution.found(&state.text, declared);
            *number
        });
        if number.is_none() {
            let message = format!("there is no state `{}`", state.text);
            let mut names: Vec<&str> = numbers.keys().copied().collect();
            names.sort_unstable();
            let meant = base::closest_name(&state.text, names).map(str::to_owned);
            self.report_with_guess("unknown-state", state.span, message, meant);
        }
        number
    }

    /// A property of the system with this number.
    pub(super) fn system_formula(
        &mut self,
        system: &SystemDecl,
        number: usize,
        name: &Ident,
        text: &str,
        (assuming, formula): AssumedFormula<'_>,
    ) -> Option<NamedProperty> {
        let mut builder = CtlStarBuilder::default();
        let mut fairness = Vec::new();
        for assumption in system.assumptions.iter().chain(assuming) {
            let lowered = self.system_expr(system, assumption, &mut builder)?;
            if builder.is_used() || !super::assume::is_recurrence(&lowered) {
                let message = "an assumption combines `[]<> p` and `<>[] p` by Boolean operators";
                self.report(Diagnostic::error("assumption", assumption.span, message));
                return None;
            }
            fairness.push(lowered);
        }

        let root = self.system_expr(system, formula, &mut builder)?;
        let formula = self.checked_state_formula(builder.finish(root), formula.span)?;
        Some(NamedProperty {
            name: name.text.clone(),
            text: text.to_owned(),
            property: Property::MayMust(MayMustProperty {
                system: number,
                fairness: Ltl::and(fairness),
                formula,
            }),
            fairness: None,
            span: name.span,
        })
    }

    /// A formula over the propositions of a system. The parser limits how deep it can be.
    fn system_expr(
        &mut self,
        system: &SystemDecl,
        expr: &Expr,
        builder: &mut CtlStarBuilder,
    ) -> Option<Ltl> {
        self.spend(1, 1, expr.span)?;
        if let Some((quantifier, op, operand)) = expr.path_quantifier(|_| false) {
            let inner = self.system_expr(system, operand, builder)?;
            let path = op.map_or(Some(inner.clone()), |op| unary(op, inner))?;
            return Some(builder.quantify(quantifier, path));
        }

        let mut part = |lowerer: &mut Self, part: &Expr| lowerer.system_expr(system, part, builder);
        let formula = match &expr.kind {
            ExprKind::Bool(value) => Some(Ltl::constant(*value)),
            ExprKind::Name(name) => return self.system_atom(system, name, expr.span),
            ExprKind::At(None, states) => return self.system_states(system, states),
            ExprKind::Unary(op, inner) => unary(*op, part(self, inner)?),
            ExprKind::Binary(op, left, right) => binary(*op, part(self, left)?, part(self, right)?),
            ExprKind::Chain(first, rest) => {
                let mut parts = vec![part(self, first)?];
                for (_, operand) in rest {
                    parts.push(part(self, operand)?);
                }
                match rest.first() {
                    Some((BinaryOp::And, _)) => Some(Ltl::and(parts)),
                    Some((BinaryOp::Or, _)) => Some(Ltl::or(parts)),
                    _ => None,
                }
            }
            _ => None,
        };

        if formula.is_none() {
            let message = "this cannot stand in a formula about a may/must system";
            self.report(Diagnostic::error("system-formula", expr.span, message).help(
                "it consists of propositions, `@ state`, Boolean and temporal operators and path quantifiers",
            ));
        }

        formula
    }

    fn system_atom(&mut self, system: &SystemDecl, name: &str, span: Span) -> Option<Ltl> {
        let mut names = system
            .propositions
            .iter()
            .map(|(known, _)| known.text.as_str());
        if let Some(position) = names.position(|known| known == name) {
            let declared = &system.propositions[position].0.text;
            self.resolution.found(name, declared);
            return Some(Ltl::atom(AtomId::new(position)));
        }
        let names = system
            .propositions
            .iter()
            .map(|(known, _)| known.text.as_str());
        let meant = base::closest_name(name, names).map(str::to_owned);
        let message = format!("`{}` has no proposition `{name}`", system.name.text);
        self.report_with_guess("unknown-name", span, message, meant);
        None
    }

    fn system_states(&mut self, system: &SystemDecl, states: &[Ident]) -> Option<Ltl> {
        let names = system.states.iter().zip(0..);
        let numbers: FxHashMap<&str, u32> = names.map(|(s, n)| (s.text.as_str(), n)).collect();
        let mut parts = Vec::new();
        for state in states {
            let number = self.state_number(&numbers, state)? as usize;
            parts.push(Ltl::atom(AtomId::new(system.propositions.len() + number)));
        }
        Some(Ltl::or(parts))
    }
}

fn unary(op: UnaryOp, inner: Ltl) -> Option<Ltl> {
    match op {
        UnaryOp::Not => Some(inner.negate()),
        UnaryOp::Always => Some(Ltl::always(inner)),
        UnaryOp::Eventually => Some(Ltl::eventually(inner)),
        UnaryOp::Next => Some(Ltl::next(inner)),
        UnaryOp::Minus | UnaryOp::Previously | UnaryOp::Once | UnaryOp::Historically => None,
    }
}

fn binary(op: ast::BinaryOp, left: Ltl, right: Ltl) -> Option<Ltl> {
    let build = match op {
        ast::BinaryOp::Model(BinaryOp::Implies) => Ltl::implies,
        ast::BinaryOp::Iff => Ltl::iff,
        ast::BinaryOp::LeadsTo => super::formula::leads_to,
        ast::BinaryOp::Until => Ltl::until,
        ast::BinaryOp::WeakUntil => Ltl::weak_until,
        ast::BinaryOp::Release => Ltl::release,
        ast::BinaryOp::StrongRelease => Ltl::strong_release,
        ast::BinaryOp::Model(_)
        | ast::BinaryOp::Since
        | ast::BinaryOp::Subset
        | ast::BinaryOp::Union
        | ast::BinaryOp::Intersection
        | ast::BinaryOp::Difference => return None,
    };
    Some(build(left, right))
}

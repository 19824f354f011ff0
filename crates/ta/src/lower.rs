//! From a tree to an automaton.

use std::collections::{BTreeMap, BTreeSet};

use base::{AtomId, Diagnostic, Span};
use logic::{Ltl, NamedProperty, classify};
use model::BinaryOp;
use model::threshold::{Condition, Proposition, Quantity, Rule, Sum, ThresholdAutomaton};
use source::{Names, Reference, Symbol, SymbolKind};

use crate::parser::{Expr, ExprKind, Ident, RuleText, Tree, Update};

type Lowered<T> = Result<T, Diagnostic>;

/// What a name means.
#[derive(Clone, Debug)]
enum Meaning {
    Quantity(Quantity),
    Value(Sum),
    /// A coefficient that has no value.
    Open,
}

/// Makes an automaton of a tree, and notes what names mean.
pub(crate) struct Lowering<'t> {
    /// The texts, by their numbers.
    texts: Vec<&'t str>,
    meanings: BTreeMap<String, (Meaning, usize)>,
    pub(crate) names: Names,
    pub(crate) warnings: Vec<Diagnostic>,
    atoms: Vec<Proposition>,
    /// Names that depend on coefficients to be found. With these, conditions that happen to be
    /// constant are kept, and sums are linear in the coefficients.
    open: BTreeSet<String>,
}

impl<'t> Lowering<'t> {
    pub(crate) fn new(texts: Vec<&'t str>) -> Self {
        Self {
            texts,
            meanings: BTreeMap::new(),
            names: Names::default(),
            warnings: Vec::new(),
            atoms: Vec::new(),
            open: BTreeSet::new(),
        }
    }

    /// For a sketch: these coefficients are to be found.
    pub(crate) fn with_open(mut self, unknowns: &[String]) -> Self {
        self.open.extend(unknowns.iter().cloned());
        self
    }

    /// The automaton, with its properties. `values` are those that the caller gives to coefficients.
    pub(crate) fn automaton(
        &mut self,
        tree: &Tree,
        values: &BTreeMap<String, i64>,
    ) -> Lowered<(ThresholdAutomaton, Vec<NamedProperty>)> {
        self.declare(tree, values)?;
        let assumptions = self.conditions(&tree.assumptions)?;
        let init = self.conditions(&tree.init)?;
        let rules = tree.rules.iter().map(|rule| self.rule(tree, rule));
        let rules = rules.collect::<Lowered<Vec<_>>>()?;
        let mut properties = Vec::new();
        for (name, formula) in &tree.properties {
            let extent = name.span.to(formula.span);
            self.add_symbol(SymbolKind::Property, name, extent, None)?;
            properties.push(self.property(&name.text, formula)?);
        }

        let texts = |idents: &[Ident]| idents.iter().map(|ident| ident.text.clone()).collect();
        let name = tree.name.as_ref();
        let automaton = ThresholdAutomaton {
            name: name.map_or_else(String::new, |name| name.text.clone()),
            span: name.map_or_else(Span::nowhere, |name| name.span),
            parameters: texts(&tree.parameters),
            locations: texts(&tree.locations),
            shared: texts(&tree.shared),
            assumptions,
            init,
            rules,
            atoms: Vec::new(),
            individuals: None,
        };
        if automaton.locations.is_empty() {
            let message = "the automaton has no locations";
            let help = "write `locations (1) { start: [0]; }`";
            return Err(Diagnostic::error("no-locations", automaton.span, message).help(help));
        }
        Ok((automaton, properties))
    }

    /// All atoms of the properties so far.
    pub(crate) fn atoms(&mut self) -> Vec<Proposition> {
        std::mem::take(&mut self.atoms)
    }

    fn declare(&mut self, tree: &Tree, values: &BTreeMap<String, i64>) -> Lowered<()> {
        let numbered = |kind: fn(usize) -> Quantity, symbol, idents: &'_ [Ident]| {
            let declared = idents
                .iter()
                .enumerate()
                .map(move |(at, ident)| (ident.clone(), symbol, Meaning::Quantity(kind(at))));
            declared.collect::<Vec<_>>()
        };
        let mut all = numbered(Quantity::Parameter, SymbolKind::Parameter, &tree.parameters);
        let counters = numbered(Quantity::Shared, SymbolKind::Variable, &tree.shared);
        all.extend(counters);
        let locations = numbered(Quantity::Location, SymbolKind::Location, &tree.locations);
        all.extend(locations);
        for unknown in &tree.unknowns {
            let value = values.get(&unknown.text);
            let known = value.map(|value| Meaning::Value(Sum::constant(*value)));
            let meaning = known.unwrap_or(Meaning::Open);
            all.push((unknown.clone(), SymbolKind::Constant, meaning));
        }
        for (ident, kind, meaning) in all {
            self.add_symbol(kind, &ident, ident.span, Some(meaning))?;
        }

        for (name, value) in &tree.definitions {
            // A definition may mention a coefficient that nothing else needs.
            let meaning = match self.sum(value) {
                Ok(sum) => Meaning::Value(sum),
                Err(wrong) if wrong.code == NO_VALUE => Meaning::Open,
                Err(wrong) => return Err(wrong),
            };
            if self.is_open(value) {
                self.open.insert(name.text.clone());
            }
            let extent = name.span.to(value.span);
            self.add_symbol(SymbolKind::Definition, name, extent, Some(meaning))?;
        }
        Ok(())
    }

    fn add_symbol(
        &mut self,
        kind: SymbolKind,
        name: &Ident,
        extent: Span,
        meaning: Option<Meaning>,
    ) -> Lowered<()> {
        let symbol = self.names.symbols.len();
        self.names.symbols.push(Symbol {
            name: name.text.clone(),
            kind,
            span: name.span,
            extent,
            detail: String::new(),
            documentation: String::new(),
            owner: None,
            parameters: Vec::new(),
        });
        self.names.references.push(Reference {
            span: name.span,
            symbol,
        });
        // Properties have names of their own.
        let Some(meaning) = meaning else {
            return Ok(());
        };
        let known = self.meanings.insert(name.text.clone(), (meaning, symbol));
        if known.is_some() {
            let message = format!("`{}` is declared twice", name.text);
            return Err(Diagnostic::error("declared-twice", name.span, message));
        }
        Ok(())
    }

    fn meaning(&mut self, name: &str, span: Span) -> Lowered<Meaning> {
        let Some((meaning, symbol)) = self.meanings.get(name).cloned() else {
            let message = format!("there is no `{name}`");
            let wrong = Diagnostic::error("unknown-name", span, message);
            let names = self.meanings.keys().map(String::as_str);
            return Err(match base::closest_name(name, names) {
                Some(close) => wrong.help(format!("did you mean `{close}`?")),
                None => wrong,
            });
        };
        self.names.references.push(Reference { span, symbol });
        Ok(meaning)
    }

    fn conditions(&mut self, exprs: &[Expr]) -> Lowered<Vec<Condition>> {
        exprs.iter().map(|expr| self.condition(expr)).collect()
    }

    /// A formula without temporal operators.
    fn condition(&mut self, expr: &Expr) -> Lowered<Condition> {
        let too_large = || Diagnostic::error("too-large", expr.span, "a number is too large");
        let negated = |condition: &Condition| condition.negation().ok_or_else(too_large);

        Ok(match &expr.kind {
            ExprKind::Bool(value) => Condition::Bool(*value),
            ExprKind::Compare(sign, left, right) => {
                self.comparison(sign, left, right, expr.span)?
            }
            ExprKind::Not(inner) => negated(&self.condition(inner)?)?,
            ExprKind::And(a, b) => Condition::All(vec![self.condition(a)?, self.condition(b)?]),
            ExprKind::Or(a, b) => Condition::Any(vec![self.condition(a)?, self.condition(b)?]),
            ExprKind::Implies(a, b) => {
                let premise = negated(&self.condition(a)?)?;
                Condition::Any(vec![premise, self.condition(b)?])
            }
            ExprKind::Iff(a, b) => {
                let (a, b) = (self.condition(a)?, self.condition(b)?);
                let (not_a, not_b) = (negated(&a)?, negated(&b)?);
                Condition::Any(vec![
                    Condition::All(vec![a, b]),
                    Condition::All(vec![not_a, not_b]),
                ])
            }
            ExprKind::Always(_) | ExprKind::Eventually(_) => {
                let message = "temporal operators are possible in specifications only";
                return Err(Diagnostic::error("temporal", expr.span, message));
            }
            ExprKind::Number(_)
            | ExprKind::Name(_)
            | ExprKind::Negated(_)
            | ExprKind::Arithmetic(..) => return Err(not_a_condition(expr.span)),
        })
    }

    fn comparison(
        &mut self,
        sign: &str,
        left: &Expr,
        right: &Expr,
        span: Span,
    ) -> Lowered<Condition> {
        let (left, right) = (self.sum(left)?, self.sum(right)?);

        let too_large = || Diagnostic::error("too-large", span, "a number is too large");
        let op = match sign {
            "==" => BinaryOp::Eq,
            "!=" => BinaryOp::Ne,
            "<" => BinaryOp::Lt,
            "<=" => BinaryOp::Le,
            ">" => BinaryOp::Gt,
            _ => BinaryOp::Ge,
        };

        let condition = Condition::compare(op, &left, &right).ok_or_else(too_large)?;

        // With unknown coefficients, nothing is decided before they have values.
        Ok(if self.open.is_empty() {
            condition.decided()
        } else {
            condition
        })
    }

    fn sum(&mut self, expr: &Expr) -> Lowered<Sum> {
        let too_large = || Diagnostic::error("too-large", expr.span, "a number is too large");
        match &expr.kind {
            ExprKind::Number(value) => Ok(Sum::constant(*value)),
            ExprKind::Name(name) => match self.meaning(name, expr.span)? {
                Meaning::Quantity(quantity) => Ok(Sum::of(quantity)),
                Meaning::Value(sum) => Ok(sum),
                Meaning::Open => {
                    let message = format!("`{name}` depends on a coefficient that has no value");
                    let help = "give every one of `unknowns` a value, such as `-D a=1`, or have values found by `fair synthesise`";
                    Err(Diagnostic::error(NO_VALUE, expr.span, message).help(help))
                }
            },
            ExprKind::Negated(inner) => {
                let inner = self.sum(inner)?;
                Sum::default().plus(-1, &inner).ok_or_else(too_large)
            }
            ExprKind::Arithmetic('*', a, b) => {
                if self.is_open(a) && self.is_open(b) {
                    let message = "coefficients that are to be found cannot be multiplied";
                    return Err(Diagnostic::error("not-linear", expr.span, message));
                }
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let product = match (a.as_constant(), b.as_constant()) {
                    (Some(factor), _) => Sum::default().plus(factor, &b),
                    (_, Some(factor)) => Sum::default().plus(factor, &a),
                    (None, None) => {
                        let message = "one factor of a product must be a number";
                        return Err(Diagnostic::error("not-linear", expr.span, message));
                    }
                };
                product.ok_or_else(too_large)
            }
            ExprKind::Arithmetic(sign, a, b) => {
                let (a, b) = (self.sum(a)?, self.sum(b)?);
                let factor = if *sign == '-' { -1 } else { 1 };
                a.plus(factor, &b).ok_or_else(too_large)
            }
            _ => {
                let message = "a number is expected, but this is a condition";
                Err(Diagnostic::error("type", expr.span, message))
            }
        }
    }

    /// Does an expression depend on coefficients that are to be found?
    fn is_open(&self, expr: &Expr) -> bool {
        match &expr.kind {
            ExprKind::Name(name) => self.open.contains(name),
            ExprKind::Bool(_) | ExprKind::Number(_) => false,
            ExprKind::Not(inner)
            | ExprKind::Negated(inner)
            | ExprKind::Always(inner)
            | ExprKind::Eventually(inner) => self.is_open(inner),
            ExprKind::And(a, b)
            | ExprKind::Or(a, b)
            | ExprKind::Implies(a, b)
            | ExprKind::Iff(a, b)
            | ExprKind::Compare(_, a, b)
            | ExprKind::Arithmetic(_, a, b) => self.is_open(a) || self.is_open(b),
        }
    }

    fn rule(&mut self, tree: &Tree, rule: &RuleText) -> Lowered<Rule> {
        let mut location = |ident: &Ident| match self.meaning(&ident.text, ident.span)? {
            Meaning::Quantity(Quantity::Location(at)) => Ok(at),
            _ => {
                let message = format!("`{}` is not a location", ident.text);
                Err(Diagnostic::error("type", ident.span, message))
            }
        };

        let (source, target) = (location(&rule.source)?, location(&rule.target)?);
        let guard = self.condition(&rule.guard)?;
        let update = self.update(tree, rule)?;

        Ok(Rule {
            name: format!(
                "{}: {} -> {}",
                rule.number, rule.source.text, rule.target.text
            ),
            source,
            target,
            guard,
            update,
            span: rule.span,
        })
    }

    fn update(&mut self, tree: &Tree, rule: &RuleText) -> Lowered<Vec<(usize, i64)>> {
        let mut changes: BTreeMap<usize, i64> = BTreeMap::new();
        for update in &rule.updates {
            let Update::Set(ident, value) = update else {
                continue;
            };
            let at = self.counter(ident)?;
            let difference = self.sum(value)?.plus(-1, &Sum::of(Quantity::Shared(at)));
            let amount = difference.and_then(|sum| sum.as_constant());
            let amount = amount.ok_or_else(|| {
                let name = &ident.text;
                let message = format!("`{name}` can only be increased by a number");
                let help = format!("write `{name}' == {name} + 1`");
                Diagnostic::error("update", value.span, message).help(help)
            })?;
            self.add_change(&mut changes, at, amount, ident)?;
        }

        for update in &rule.updates {
            let Update::Unchanged(idents) = update else {
                continue;
            };
            for ident in idents {
                let at = self.counter(ident)?;
                self.add_change(&mut changes, at, 0, ident)?;
            }
        }

        let missing = tree.shared.iter().enumerate();
        let missing = missing.filter(|(at, _)| !changes.contains_key(at));
        let missing: Vec<&str> = missing.map(|(_, ident)| ident.text.as_str()).collect();
        if !missing.is_empty() {
            let message = format!("not mentioned, so unchanged: {}", missing.join(", "));
            let warning = Diagnostic::warning("not-mentioned", rule.span, message);
            self.warnings.push(warning);
        }
        Ok(changes
            .into_iter()
            .filter(|(_, amount)| *amount != 0)
            .collect())
    }

    /// Notes what becomes of a counter. The same may be said again. That it is unchanged, though it is
    /// changed elsewhere in the rule, says nothing: ByMC drops such equations (`not_redundant_action` in
    /// its `schemaChecker.ml`), and published automata have them.
    fn add_change(
        &mut self,
        changes: &mut BTreeMap<usize, i64>,
        at: usize,
        amount: i64,
        ident: &Ident,
    ) -> Lowered<()> {
        let name = &ident.text;
        let known = *changes.entry(at).or_insert(amount);
        if known == amount {
            return Ok(());
        }
        if known != 0 && amount != 0 {
            let message = format!("the rule changes `{name}` in two ways");
            return Err(Diagnostic::error("declared-twice", ident.span, message));
        }

        changes.insert(at, known + amount);
        let message = format!("the rule changes `{name}`, so it does not leave it unchanged");
        let help = "as in ByMC, the change counts";
        let warning = Diagnostic::warning("declared-twice", ident.span, message);
        self.warnings.push(warning.help(help));
        Ok(())
    }

    fn counter(&mut self, ident: &Ident) -> Lowered<usize> {
        match self.meaning(&ident.text, ident.span)? {
            Meaning::Quantity(Quantity::Shared(at)) => Ok(at),
            _ => {
                let message = format!("`{}` is not a shared counter", ident.text);
                Err(Diagnostic::error("type", ident.span, message))
            }
        }
    }

    /// A formula as a property.
    pub(crate) fn property(&mut self, name: &str, formula: &Expr) -> Lowered<NamedProperty> {
        let ltl = self.formula(formula)?;
        Ok(NamedProperty {
            name: name.to_owned(),
            text: self.text(formula.span),
            property: classify(ltl),
            fairness: None,
            span: formula.span,
        })
    }

    fn formula(&mut self, expr: &Expr) -> Lowered<Ltl> {
        Ok(match &expr.kind {
            ExprKind::Bool(value) => Ltl::constant(*value),
            ExprKind::Compare(..) => Ltl::atom(self.atom(expr)?),
            ExprKind::Not(inner) => Ltl::not(self.formula(inner)?),
            ExprKind::And(a, b) => Ltl::and([self.formula(a)?, self.formula(b)?]),
            ExprKind::Or(a, b) => Ltl::or([self.formula(a)?, self.formula(b)?]),
            ExprKind::Implies(a, b) => Ltl::implies(self.formula(a)?, self.formula(b)?),
            ExprKind::Iff(a, b) => Ltl::iff(self.formula(a)?, self.formula(b)?),
            ExprKind::Always(inner) => Ltl::always(self.formula(inner)?),
            ExprKind::Eventually(inner) => Ltl::eventually(self.formula(inner)?),
            ExprKind::Number(_)
            | ExprKind::Name(_)
            | ExprKind::Negated(_)
            | ExprKind::Arithmetic(..) => return Err(not_a_condition(expr.span)),
        })
    }

    fn atom(&mut self, expr: &Expr) -> Lowered<AtomId> {
        let condition = self.condition(expr)?;
        let name = self.text(expr.span);
        let is_it = |atom: &Proposition| atom.condition == condition && atom.name == name;
        let position = self.atoms.iter().position(is_it).unwrap_or_else(|| {
            self.atoms.push(Proposition {
                name,
                condition,
                span: expr.span,
            });
            self.atoms.len() - 1
        });
        Ok(AtomId::new(position))
    }

    /// What is written somewhere, in one line.
    fn text(&self, span: Span) -> String {
        let text = self.texts[span.source.index()];
        let written = &text[span.start as usize..span.end as usize];
        written.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// The code of a complaint about a coefficient without a value.
const NO_VALUE: &str = "no-value";

fn not_a_condition(span: Span) -> Diagnostic {
    let message = "a condition is expected, but this is a number";
    Diagnostic::error("type", span, message).help("compare it, for example with `== 0`")
}

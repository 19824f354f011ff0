//! Which parts of a violated property are to blame: the conjuncts that are false, and the values of
//! quantified names for which they are.

use base::{AtomId, Span};
use logic::{Ltl, Op};
use model::{AtomMeaning, BinaryOp, BoundId, Env, Expr, Model, Quantifier, Scalar, State};

use crate::word::Word;

/// More parts than this are not looked for.
const MAX_PARTS: usize = 1000;

/// The parts of an invariant that are broken in a state: for `forall i: …`, one text `i = 2` for
/// each value. Nothing if the invariant as a whole is all that can be named.
pub(crate) fn broken_in_state(model: &Model, invariant: &Ltl, state: &State) -> Vec<String> {
    let mut search = Search {
        model,
        state,
        env: Env::empty(),
        bindings: Vec::new(),
        found: Vec::new(),
        is_part: false,
    };
    search.formula(invariant, true);
    search.found.dedup();
    search.found
}

/// The operands of a conjunction that a lasso violates, if the formula is one.
pub(crate) fn broken_on_lasso(model: &Model, formula: &Ltl, word: &Word) -> Vec<String> {
    // shape: anything but a conjunction has no parts that could be told apart.
    let Op::And(parts) = formula.op() else {
        return Vec::new();
    };
    let name = |atom: AtomId| match &model.parts().atoms[atom.index()].name {
        words if words.contains(' ') => format!("({words})"),
        word => word.clone(),
    };
    let broken = parts.iter().filter(|part| !word.satisfies(part));
    broken
        .take(MAX_PARTS)
        .map(|part| part.display(&name).to_string())
        .collect()
}

/// A search for what makes a formula have a value that it should not have.
struct Search<'a> {
    model: &'a Model,
    state: &'a State,
    env: Env,
    /// The values of the names around.
    bindings: Vec<(BoundId, i64)>,
    found: Vec<String>,
    /// Is the formula one of several, so that its text says something?
    is_part: bool,
}

impl Search<'_> {
    /// Looks for reasons why the formula is not `wanted`.
    fn formula(&mut self, formula: &Ltl, wanted: bool) {
        match formula.op() {
            Op::Atom(atom) => {
                let atom = &self.model.parts().atoms[atom.index()];
                // shape: only propositions about states have parts.
                if let AtomMeaning::State(expr) = &atom.meaning {
                    let n_found = self.found.len();
                    self.expr(expr, wanted);
                    let is_broken = self.value(expr) == Some(i64::from(!wanted));
                    if self.is_part && is_broken && self.found.len() == n_found {
                        let not = if wanted { "" } else { "not " };
                        self.found.push(format!("{not}{}", atom.name));
                    }
                }
            }
            Op::Not(inner) => self.formula(inner, !wanted),
            Op::And(parts) if wanted => self.parts(parts, true),
            Op::Or(parts) if !wanted => self.parts(parts, false),
            // shape: other operators do not tell which operand is to blame.
            _ => {}
        }
    }

    fn parts(&mut self, parts: &[Ltl], wanted: bool) {
        self.is_part = true;
        for part in parts {
            self.formula(part, wanted);
        }
    }

    /// Looks for reasons why the expression is not `wanted`.
    fn expr(&mut self, expr: &Expr, wanted: bool) {
        let is_blameless = self.value(expr) != Some(i64::from(!wanted));
        if is_blameless || self.found.len() >= MAX_PARTS {
            return;
        }
        match (expr, wanted) {
            (Expr::Not(inner), _) => self.expr(inner, !wanted),
            (Expr::Binary(BinaryOp::And, left, right), true)
            | (Expr::Binary(BinaryOp::Or, left, right), false) => {
                self.expr(left, wanted);
                self.expr(right, wanted);
            }
            (Expr::Binary(BinaryOp::Implies, _, right), true) => self.expr(right, true),
            (
                Expr::Quantified {
                    quantifier: Quantifier::Forall,
                    bound,
                    lo,
                    hi,
                    body,
                },
                true,
            )
            | (
                Expr::Quantified {
                    quantifier: Quantifier::Exists,
                    bound,
                    lo,
                    hi,
                    body,
                },
                false,
            ) => {
                let (Some(lo), Some(hi)) = (self.value(lo), self.value(hi)) else {
                    return;
                };
                for value in lo..=hi {
                    self.env.bind(*bound, value);
                    self.bindings.push((*bound, value));
                    self.expr(body, wanted);
                    self.bindings.pop();
                    self.env.unbind();
                }
            }
            // shape: here the text of the property ends; what is known are the names around.
            _ => self.note(),
        }
    }

    fn value(&mut self, expr: &Expr) -> Option<i64> {
        let value = self
            .model
            .eval(expr, self.state, &mut self.env, Span::nowhere());
        value.ok()
    }

    /// Notes the values of the names around, unless there are none, or an element of a set is meant
    /// by several.
    fn note(&mut self) {
        let name = |bound: BoundId| &self.model.parts().bounds[bound.index()];
        let mut names: Vec<&String> = self.bindings.iter().map(|(b, _)| name(*b)).collect();
        names.sort_unstable();
        let is_ambiguous = names.windows(2).any(|pair| pair[0] == pair[1]);
        if self.bindings.is_empty() || is_ambiguous {
            return;
        }

        let texts = self
            .bindings
            .iter()
            .map(|(bound, value)| format!("{} = {}", name(*bound), self.shown(*bound, *value)));
        let text = texts.collect::<Vec<_>>().join(", ");
        self.found.push(text);
    }

    /// The value of a name as its author writes it.
    fn shown(&self, bound: BoundId, value: i64) -> String {
        let parts = self.model.parts();
        let mut types = parts.bound_types.iter();
        match types.find(|(typed, _)| *typed == bound) {
            Some((_, Scalar::Bool)) => (value != 0).to_string(),
            Some((_, Scalar::Enum(id, _))) => {
                let variants = parts.enums.get(id.index()).map(|ty| &ty.variants);
                let position = usize::try_from(value).ok();
                let variant = variants.and_then(|variants| variants.get(position?));
                variant.cloned().unwrap_or_else(|| value.to_string())
            }
            Some((_, Scalar::Range(..) | Scalar::Int)) | None => value.to_string(),
        }
    }
}

//! What a violating run looks like, from the negation of a formula.
//!
//! Every run ends in a configuration that is repeated forever, so `<>[] p` and `[]<> p` say that `p`
//! is true there. What is left are conditions now, at some point, and from some point on: the
//! fragment ELTL_FT of I. Konnov, M. Lazić, H. Veith, J. Widder, *A short counterexample property*,
//! POPL 2017, section 4, doi:10.1145/3009837.3009860, with any linear condition in place of its
//! propositions.

use base::{AtomId, Span};
use logic::{Ltl, Op};
use model::threshold::{Condition, ThresholdAutomaton};

use crate::shape::Outside;

/// What a run looks like from a point on.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Pattern {
    /// The configuration is like this.
    Now(Condition),
    /// The last configuration, which is repeated forever, is like this.
    AtTheEnd(Condition),
    /// This configuration and all later ones are like this.
    Always(Condition),
    /// The run is like this from this or a later point on.
    Eventually(Box<Pattern>),
    /// All of them.
    All(Vec<Pattern>),
    /// At least one of them.
    Any(Vec<Pattern>),
}

impl Pattern {
    /// What runs that violate the formula look like.
    pub(crate) fn of_violations(
        automaton: &ThresholdAutomaton,
        formula: &Ltl,
        span: Span,
    ) -> Result<Self, Outside> {
        let reader = Reader { automaton, span };
        reader.pattern(&formula.negate().negation_normal_form())
    }

    /// How many points of a run it picks.
    pub(crate) fn n_points(&self) -> usize {
        match self {
            Self::Now(_) | Self::AtTheEnd(_) | Self::Always(_) => 0,
            Self::Eventually(inner) => 1 + inner.n_points(),
            Self::All(parts) => parts.iter().map(Self::n_points).sum(),
            // One alternative is chosen, but a point of one may be none of another.
            Self::Any(parts) => parts.iter().map(Self::n_points).max().unwrap_or(0),
        }
    }

    /// What it says about configurations other than the first.
    pub(crate) fn later_conditions(&self) -> Vec<&Condition> {
        match self {
            Self::Now(_) => Vec::new(),
            Self::AtTheEnd(condition) | Self::Always(condition) => vec![condition],
            Self::Eventually(inner) => inner.all_conditions(),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::later_conditions).collect()
            }
        }
    }

    fn all_conditions(&self) -> Vec<&Condition> {
        match self {
            Self::Now(condition) | Self::AtTheEnd(condition) | Self::Always(condition) => {
                vec![condition]
            }
            Self::Eventually(inner) => inner.all_conditions(),
            Self::All(parts) | Self::Any(parts) => {
                parts.iter().flat_map(Self::all_conditions).collect()
            }
        }
    }

    /// The parts all of which are so.
    pub(crate) fn conjuncts(&self) -> Vec<&Self> {
        match self {
            Self::All(parts) => parts.iter().flat_map(Self::conjuncts).collect(),
            Self::Now(_)
            | Self::AtTheEnd(_)
            | Self::Always(_)
            | Self::Eventually(_)
            | Self::Any(_) => vec![self],
        }
    }

    /// Does it depend on more than a beginning of the run?
    pub(crate) fn is_about_the_end(&self) -> bool {
        match self {
            Self::Now(_) => false,
            Self::AtTheEnd(_) | Self::Always(_) => true,
            Self::Eventually(inner) => inner.is_about_the_end(),
            Self::All(parts) | Self::Any(parts) => parts.iter().any(Self::is_about_the_end),
        }
    }
}

struct Reader<'a> {
    automaton: &'a ThresholdAutomaton,
    span: Span,
}

impl Reader<'_> {
    fn outside(&self, message: &str) -> Outside {
        Outside {
            message: message.to_owned(),
            span: self.span,
        }
    }

    /// The pattern of a formula in negation normal form.
    fn pattern(&self, formula: &Ltl) -> Result<Pattern, Outside> {
        if formula.is_propositional() {
            return Ok(Pattern::Now(self.condition(formula)?));
        }
        let each = |parts: &[Ltl]| -> Result<Vec<Pattern>, Outside> {
            parts.iter().map(|part| self.pattern(part)).collect()
        };

        match formula.op() {
            Op::And(parts) => Ok(Pattern::All(each(parts)?)),
            Op::Or(parts) => Ok(Pattern::Any(each(parts)?)),
            Op::Eventually(inner) => match inner.op() {
                Op::Always(last) => Ok(Pattern::AtTheEnd(self.at_the_end(last)?)),
                Op::Eventually(_) => self.pattern(inner),
                _ => Ok(Pattern::Eventually(Box::new(self.pattern(inner)?))),
            },
            Op::Always(inner) => self.always(inner),
            _ => Err(self.outside(
                "the formula has temporal operators other than `[]` and `<>`; threshold automata are decided for these only",
            )),
        }
    }

    /// The pattern of `[] inner`.
    fn always(&self, inner: &Ltl) -> Result<Pattern, Outside> {
        if inner.is_propositional() {
            return Ok(Pattern::Always(self.condition(inner)?));
        }
        match inner.op() {
            Op::And(parts) => {
                let parts = parts.iter().map(|part| self.always(part));
                Ok(Pattern::All(parts.collect::<Result<_, _>>()?))
            }
            Op::Always(_) => self.pattern(inner),
            Op::Eventually(last) => Ok(Pattern::AtTheEnd(self.at_the_end(last)?)),
            Op::Or(parts) => self.always_any(parts),
            _ => Err(self.nested()),
        }
    }

    /// `[] (p || q)` where at most one part is about the present: the others are true always or never.
    fn always_any(&self, parts: &[Ltl]) -> Result<Pattern, Outside> {
        let (now, later): (Vec<&Ltl>, Vec<&Ltl>) =
            parts.iter().partition(|part| part.is_propositional());
        let mut alternatives = Vec::new();
        if !now.is_empty() {
            let now = Ltl::or(now.into_iter().cloned());
            alternatives.push(Pattern::Always(self.condition(&now)?));
        }
        for part in later {
            let pattern = self.pattern(part)?;
            let Pattern::AtTheEnd(_) = pattern else {
                return Err(self.nested());
            };
            alternatives.push(pattern);
        }
        Ok(Pattern::Any(alternatives))
    }

    fn nested(&self) -> Outside {
        self.outside(
            "a run that violates the formula satisfies `[] (p || <> q)` or `[] (p || [] q)`, which is not decided for all parameters",
        )
    }

    /// What a formula says about a configuration that is repeated forever.
    fn at_the_end(&self, formula: &Ltl) -> Result<Condition, Outside> {
        let each = |parts: &[Ltl]| -> Result<Vec<Condition>, Outside> {
            parts.iter().map(|part| self.at_the_end(part)).collect()
        };
        let both = |a: &Ltl, b: &Ltl| Ok(vec![self.at_the_end(a)?, self.at_the_end(b)?]);
        Ok(match formula.op() {
            Op::True | Op::False | Op::Atom(_) | Op::Not(_) => self.condition(formula)?,
            Op::And(parts) => Condition::All(each(parts)?),
            Op::Or(parts) => Condition::Any(each(parts)?),
            Op::Eventually(inner) | Op::Always(inner) | Op::Next(inner) => {
                self.at_the_end(inner)?
            }
            Op::Until(_, last) | Op::Release(_, last) => self.at_the_end(last)?,
            Op::WeakUntil(a, b) => Condition::Any(both(a, b)?),
            Op::StrongRelease(a, b) => Condition::All(both(a, b)?),
            Op::Implies(..) | Op::Iff(..) | Op::Previously(_) | Op::Since(..) => {
                return Err(self.outside("the formula looks into the past"));
            }
        })
    }

    /// The condition that a propositional formula in negation normal form means.
    fn condition(&self, formula: &Ltl) -> Result<Condition, Outside> {
        let each = |parts: &[Ltl]| -> Result<Vec<Condition>, Outside> {
            parts.iter().map(|part| self.condition(part)).collect()
        };
        Ok(match formula.op() {
            Op::True => Condition::Bool(true),
            Op::False => Condition::Bool(false),
            Op::Atom(atom) => self.atom(*atom),
            Op::Not(inner) => {
                let negation = self.condition(inner)?.negation();
                negation.ok_or_else(|| self.outside("a number is too large"))?
            }
            Op::And(parts) => Condition::All(each(parts)?),
            Op::Or(parts) => Condition::Any(each(parts)?),
            _ => return Err(self.outside("the formula is not in negation normal form")),
        })
    }

    fn atom(&self, atom: AtomId) -> Condition {
        self.automaton.atoms[atom.index()].condition.clone()
    }
}

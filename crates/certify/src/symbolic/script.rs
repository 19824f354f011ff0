//! Terms of SMT-LIB, and texts in which long ones have names.

use std::fmt::Write as _;
use std::rc::Rc;

/// Longer terms get a name, so that a text grows with the number of operations only.
const MAX_LENGTH: usize = 48;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Sort {
    Int,
    Bool,
}

/// A term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Term {
    pub(super) text: Rc<str>,
    pub(super) sort: Sort,
    /// Its value, if it is constant; a truth value is 0 or 1.
    pub(super) known: Option<i128>,
}

impl Term {
    pub(super) fn int(value: i128) -> Self {
        let text = if value < 0 {
            format!("(- {})", value.unsigned_abs())
        } else {
            value.to_string()
        };
        Self {
            text: text.into(),
            sort: Sort::Int,
            known: Some(value),
        }
    }

    pub(super) fn bool(value: bool) -> Self {
        Self {
            text: if value { "true" } else { "false" }.into(),
            sort: Sort::Bool,
            known: Some(i128::from(value)),
        }
    }

    /// A constant that is declared, or a term whose value is not known.
    pub(super) fn open(text: &str, sort: Sort) -> Self {
        Self {
            text: text.into(),
            sort,
            known: None,
        }
    }

    fn is(&self, value: bool) -> bool {
        self.sort == Sort::Bool && self.known == Some(i128::from(value))
    }
}

/// Declarations and definitions, one after the other.
#[derive(Clone, Debug, Default)]
pub(super) struct Script {
    text: String,
    n_names: usize,
}

impl Script {
    pub(super) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    pub(super) fn assert(&mut self, term: &Term) {
        self.line(&format!("(assert {})", term.text));
    }

    /// The text with its last assertion, and the question.
    pub(super) fn asked(mut self, last: &Term) -> String {
        self.assert(last);
        self.line("(check-sat)");
        self.text
    }

    /// An integer about which nothing is known.
    pub(super) fn fresh(&mut self) -> Term {
        self.n_names += 1;
        let name = format!("v{}", self.n_names);
        self.line(&format!("(declare-const {name} Int)"));
        Term::open(&name, Sort::Int)
    }

    /// An operator applied to terms.
    pub(super) fn apply(&mut self, sort: Sort, operator: &str, operands: &[&Term]) -> Term {
        let mut text = format!("({operator}");
        for operand in operands {
            let _ = write!(text, " {}", operand.text);
        }
        text.push(')');
        if text.len() <= MAX_LENGTH {
            return Term::open(&text, sort);
        }
        self.n_names += 1;
        let name = format!("v{}", self.n_names);
        self.line(&format!("(define-fun {name} () {sort:?} {text})"));
        Term::open(&name, sort)
    }

    /// The truth value of a number, which is that of "not zero".
    pub(super) fn truth(&mut self, term: &Term) -> Term {
        match (term.sort, term.known) {
            (Sort::Bool, _) => term.clone(),
            (Sort::Int, Some(value)) => Term::bool(value != 0),
            (Sort::Int, None) => {
                let is_zero = self.apply(Sort::Bool, "=", &[term, &Term::int(0)]);
                self.not(&is_zero)
            }
        }
    }

    pub(super) fn number(&mut self, term: &Term) -> Term {
        match (term.sort, term.known) {
            (Sort::Int, _) => term.clone(),
            (Sort::Bool, Some(value)) => Term::int(value),
            (Sort::Bool, None) => {
                self.apply(Sort::Int, "ite", &[term, &Term::int(1), &Term::int(0)])
            }
        }
    }

    pub(super) fn not(&mut self, term: &Term) -> Term {
        match term.known {
            Some(value) => Term::bool(value == 0),
            None => self.apply(Sort::Bool, "not", &[term]),
        }
    }

    pub(super) fn and(&mut self, a: &Term, b: &Term) -> Term {
        if a.is(false) || b.is(true) {
            return a.clone();
        }
        if b.is(false) || a.is(true) {
            return b.clone();
        }
        self.apply(Sort::Bool, "and", &[a, b])
    }

    pub(super) fn or(&mut self, a: &Term, b: &Term) -> Term {
        if a.is(true) || b.is(false) {
            return a.clone();
        }
        if b.is(true) || a.is(false) {
            return b.clone();
        }
        self.apply(Sort::Bool, "or", &[a, b])
    }

    pub(super) fn ite(&mut self, condition: &Term, then: &Term, otherwise: &Term) -> Term {
        if then == otherwise || condition.is(true) {
            return then.clone();
        }
        if condition.is(false) {
            return otherwise.clone();
        }
        if then.sort == otherwise.sort {
            return self.apply(then.sort, "ite", &[condition, then, otherwise]);
        }
        let (then, otherwise) = (self.number(then), self.number(otherwise));
        self.apply(Sort::Int, "ite", &[condition, &then, &otherwise])
    }

    /// A comparison of numbers or of truth values.
    pub(super) fn compare(&mut self, operator: &str, a: &Term, b: &Term) -> Term {
        if let (Some(a), Some(b)) = (a.known, b.known) {
            return Term::bool(match operator {
                "=" => a == b,
                "<" => a < b,
                "<=" => a <= b,
                _ => unreachable!("a comparison"),
            });
        }
        if operator == "=" && a.sort == Sort::Bool && b.sort == Sort::Bool {
            return self.apply(Sort::Bool, "=", &[a, b]);
        }
        let (a, b) = (self.number(a), self.number(b));
        self.apply(Sort::Bool, operator, &[&a, &b])
    }

    /// A sum, difference or product.
    pub(super) fn arithmetic(&mut self, operator: &str, a: &Term, b: &Term) -> Term {
        let (a, b) = (self.number(a), self.number(b));
        if let (Some(a), Some(b)) = (a.known, b.known) {
            let value = match operator {
                "+" => a.checked_add(b),
                "-" => a.checked_sub(b),
                "*" => a.checked_mul(b),
                _ => None,
            };
            if let Some(value) = value {
                return Term::int(value);
            }
        }
        self.apply(Sort::Int, operator, &[&a, &b])
    }

    /// Is the number from `lo` on and up to `hi`? The ends of 64-bit integers do not count as bounds.
    pub(super) fn within(&mut self, number: &Term, (lo, hi): (i64, i64)) -> Term {
        let mut inside = Term::bool(true);
        if lo != i64::MIN {
            inside = self.compare("<=", &Term::int(lo.into()), number);
        }
        if hi != i64::MAX {
            let below = self.compare("<=", number, &Term::int(hi.into()));
            inside = self.and(&inside, &below);
        }
        inside
    }
}

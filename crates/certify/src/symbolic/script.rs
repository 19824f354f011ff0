//! Terms of SMT-LIB, and texts in which long ones have names.

use std::fmt::Write as _;
use std::rc::Rc;

/// Longer terms get a name, so that a text grows with the number of operations only.
const MAX_LENGTH: usize = 48;

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Sort {
    Int,
    Bool,
}

/// A term.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Term {
    pub(crate) text: Rc<str>,
    pub(crate) sort: Sort,
    /// Its value, if it is constant; a truth value is 0 or 1.
    pub(crate) known: Option<i128>,
}

impl Term {
    pub(crate) fn int(value: i128) -> Self {
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

    pub(crate) fn bool(value: bool) -> Self {
        Self {
            text: if value { "true" } else { "false" }.into(),
            sort: Sort::Bool,
            known: Some(i128::from(value)),
        }
    }

    /// A constant that is declared, or a term whose value is not known.
    pub(crate) fn open(text: &str, sort: Sort) -> Self {
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
pub(crate) struct Script {
    text: String,
    n_names: usize,
    /// The variables of the quantifiers around what is written now.
    scope: Vec<String>,
}

impl Script {
    pub(crate) fn line(&mut self, line: &str) {
        let _ = writeln!(self.text, "{line}");
    }

    pub(crate) fn assert(&mut self, term: &Term) {
        self.line(&format!("(assert {})", term.text));
    }

    /// The text with its last assertion, and the question.
    pub(crate) fn asked(mut self, last: &Term) -> String {
        self.assert(last);
        self.line("(check-sat)");
        self.text
    }

    /// An integer about which nothing is known.
    pub(crate) fn fresh(&mut self) -> Term {
        self.n_names += 1;
        let name = format!("v{}", self.n_names);
        self.line(&format!("(declare-const {name} Int)"));
        Term::open(&name, Sort::Int)
    }

    /// An operator applied to terms.
    pub(crate) fn apply(&mut self, sort: Sort, operator: &str, operands: &[&Term]) -> Term {
        let mut text = format!("({operator}");
        for operand in operands {
            let _ = write!(text, " {}", operand.text);
        }
        text.push(')');
        if text.len() <= MAX_LENGTH {
            return Term::open(&text, sort);
        }
        self.define(sort, &text)
    }

    /// A name for a term, which depends on the variables around it.
    fn define(&mut self, sort: Sort, text: &str) -> Term {
        self.n_names += 1;
        let name = format!("v{}", self.n_names);
        let variables: Vec<String> = self.scope.iter().map(|v| format!("({v} Int)")).collect();
        let variables = variables.join(" ");
        self.line(&format!(
            "(define-fun {name} ({variables}) {sort:?} {text})"
        ));
        if self.scope.is_empty() {
            return Term::open(&name, sort);
        }
        Term::open(&format!("({name} {})", self.scope.join(" ")), sort)
    }

    /// Writes something about a new variable.
    pub(crate) fn with_variable<T>(&mut self, act: impl FnOnce(&mut Self, &Term) -> T) -> T {
        let variable = self.enter();
        let result = act(self, &variable);
        self.leave();
        result
    }

    /// A new variable; what is written until [`Script::leave`] may depend on it.
    pub(crate) fn enter(&mut self) -> Term {
        self.n_names += 1;
        let name = format!("x{}", self.n_names);
        self.scope.push(name.clone());
        Term::open(&name, Sort::Int)
    }

    /// A variable that was known before.
    pub(crate) fn enter_again(&mut self, variable: &Term) {
        self.scope.push(variable.text.to_string());
    }

    /// A constant that is true iff the term is, which is about nothing in scope. A term that occurs
    /// often need not be looked at as often.
    pub(crate) fn truth_constant(&mut self, term: &Term) -> Term {
        if term.known.is_some() {
            return term.clone();
        }
        self.n_names += 1;
        let name = format!("b{}", self.n_names);
        self.line(&format!("(declare-const {name} Bool)"));
        self.line(&format!("(assert (= {name} {}))", term.text));
        Term::open(&name, Sort::Bool)
    }

    /// The last variable is not known any more.
    pub(crate) fn leave(&mut self) {
        self.scope.pop();
    }

    /// For every value of a variable that is inside, or for some.
    pub(crate) fn ranged(
        &mut self,
        is_forall: bool,
        variable: &Term,
        is_inside: &Term,
        body: &Term,
    ) -> Term {
        self.scope.push(variable.text.to_string());
        let body = if is_forall {
            let outside = self.not(is_inside);
            self.or(&outside, body)
        } else {
            self.and(is_inside, body)
        };
        self.leave();
        self.quantified(is_forall, variable, &body)
    }

    /// For some, or for every, value of a variable.
    pub(crate) fn quantified(&mut self, is_forall: bool, variable: &Term, body: &Term) -> Term {
        if body.known.is_some() {
            // There are numbers.
            return body.clone();
        }
        let quantifier = if is_forall { "forall" } else { "exists" };
        let text = format!("({quantifier} (({} Int)) {})", variable.text, body.text);
        if text.len() <= MAX_LENGTH {
            return Term::open(&text, Sort::Bool);
        }
        self.define(Sort::Bool, &text)
    }

    /// A function whose value at a variable is a number. The function may be used where nothing is in
    /// scope but what is in scope now.
    pub(crate) fn function(&mut self, variable: &Term, value: &Term) -> std::rc::Rc<str> {
        let value = self.number(value);
        self.n_names += 1;
        let name = format!("f{}", self.n_names);
        let text = format!(
            "(define-fun {name} (({} Int)) Int {})",
            variable.text, value.text
        );
        self.line(&text);
        name.into()
    }

    /// The remainder of a division by a number that is not known, never negative. Solvers know little
    /// about it, but that once around needs no division.
    pub(crate) fn remainder(&mut self, a: &Term, b: &Term) -> Term {
        let (a, b) = (self.number(a), self.number(b));
        let zero = Term::int(0);
        let rest = self.apply(Sort::Int, "mod", &[&a, &b]);
        let (more, less) = (self.arithmetic("+", &a, &b), self.arithmetic("-", &a, &b));
        let mut result = rest;
        for value in [more, less, a] {
            let above = self.compare("<=", &zero, &value);
            let below = self.compare("<", &value, &b);
            let inside = self.and(&above, &below);
            result = self.ite(&inside, &value, &result);
        }
        result
    }

    /// The truth value of a number, which is that of "not zero".
    pub(crate) fn truth(&mut self, term: &Term) -> Term {
        match (term.sort, term.known) {
            (Sort::Bool, _) => term.clone(),
            (Sort::Int, Some(value)) => Term::bool(value != 0),
            (Sort::Int, None) => {
                let is_zero = self.apply(Sort::Bool, "=", &[term, &Term::int(0)]);
                self.not(&is_zero)
            }
        }
    }

    pub(crate) fn number(&mut self, term: &Term) -> Term {
        match (term.sort, term.known) {
            (Sort::Int, _) => term.clone(),
            (Sort::Bool, Some(value)) => Term::int(value),
            (Sort::Bool, None) => {
                self.apply(Sort::Int, "ite", &[term, &Term::int(1), &Term::int(0)])
            }
        }
    }

    pub(crate) fn not(&mut self, term: &Term) -> Term {
        match term.known {
            Some(value) => Term::bool(value == 0),
            None => self.apply(Sort::Bool, "not", &[term]),
        }
    }

    pub(crate) fn and(&mut self, a: &Term, b: &Term) -> Term {
        if a.is(false) || b.is(true) {
            return a.clone();
        }
        if b.is(false) || a.is(true) {
            return b.clone();
        }
        self.apply(Sort::Bool, "and", &[a, b])
    }

    pub(crate) fn or(&mut self, a: &Term, b: &Term) -> Term {
        if a.is(true) || b.is(false) {
            return a.clone();
        }
        if b.is(true) || a.is(false) {
            return b.clone();
        }
        self.apply(Sort::Bool, "or", &[a, b])
    }

    /// One of the terms is true.
    pub(crate) fn any(&mut self, terms: &[Term]) -> Term {
        self.junction("or", false, terms)
    }

    /// All terms are true.
    pub(crate) fn all(&mut self, terms: &[Term]) -> Term {
        self.junction("and", true, terms)
    }

    fn junction(&mut self, operator: &str, neutral: bool, terms: &[Term]) -> Term {
        if terms.iter().any(|term| term.is(!neutral)) {
            return Term::bool(!neutral);
        }
        let open: Vec<&Term> = terms.iter().filter(|term| !term.is(neutral)).collect();
        match open[..] {
            [] => Term::bool(neutral),
            [one] => one.clone(),
            _ => self.apply(Sort::Bool, operator, &open),
        }
    }

    pub(crate) fn ite(&mut self, condition: &Term, then: &Term, otherwise: &Term) -> Term {
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
    pub(crate) fn compare(&mut self, operator: &str, a: &Term, b: &Term) -> Term {
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
    pub(crate) fn arithmetic(&mut self, operator: &str, a: &Term, b: &Term) -> Term {
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
        if b.known == Some(0) && matches!(operator, "+" | "-") {
            return a;
        }
        self.apply(Sort::Int, operator, &[&a, &b])
    }

    /// Is the number from `lo` on and up to `hi`, as far as these are bounds?
    pub(crate) fn within(&mut self, number: &Term, (lo, hi): (Option<i64>, Option<i64>)) -> Term {
        let mut inside = Term::bool(true);
        if let Some(lo) = lo {
            inside = self.compare("<=", &Term::int(lo.into()), number);
        }
        if let Some(hi) = hi {
            let below = self.compare("<=", number, &Term::int(hi.into()));
            inside = self.and(&inside, &below);
        }
        inside
    }
}

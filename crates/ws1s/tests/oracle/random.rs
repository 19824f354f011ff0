//! Random formulas and their text.

/// What a variable ranges over.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Sort {
    Bool,
    First,
    Set,
}

/// Variables are numbered: free ones first, then by depth of binding.
#[derive(Clone, Debug)]
pub enum Formula {
    Constant(bool),
    Bool(usize),
    Less(Term, Term),
    LessEqual(Term, Term),
    Equal(Term, Term),
    In(Term, Set),
    Sub(Set, Set),
    SetEqual(Set, Set),
    Empty(Set),
    Not(Box<Formula>),
    And(Vec<Formula>),
    Or(Vec<Formula>),
    Implies(Box<Formula>, Box<Formula>),
    Iff(Box<Formula>, Box<Formula>),
    Quantifier(bool, Sort, usize, Box<Formula>),
    /// A quantifier with a `where` clause, which some value satisfies.
    Restricted(bool, Sort, usize, Box<(Formula, Formula)>),
    /// `let1`.
    LetTerm(usize, Term, Box<Formula>),
    /// `let2`.
    LetSet(usize, Set, Box<Formula>),
    /// A call of a predicate with this body, whose parameters are the variables in scope.
    Call(Vec<Sort>, Box<Formula>),
}

impl Formula {
    /// The same in terms of connectives and plain quantifiers.
    pub fn plain(&self) -> Self {
        let boxed = |formula: &Self| Box::new(formula.plain());
        let all = |formulas: &[Self]| formulas.iter().map(Self::plain).collect();
        let such_that = |sort, var, definition, body: &Self| {
            let body = Self::And(vec![definition, body.plain()]);
            Self::Quantifier(false, sort, var, Box::new(body))
        };

        match self {
            Self::Not(a) => Self::Not(boxed(a)),
            Self::And(formulas) => Self::And(all(formulas)),
            Self::Or(formulas) => Self::Or(all(formulas)),
            Self::Implies(a, b) => Self::Implies(boxed(a), boxed(b)),
            Self::Iff(a, b) => Self::Iff(boxed(a), boxed(b)),
            Self::Quantifier(universal, sort, var, body) => {
                Self::Quantifier(*universal, *sort, *var, boxed(body))
            }
            Self::Restricted(universal, sort, var, parts) => {
                let (restriction, body) = (boxed(&parts.0), boxed(&parts.1));
                let body = if *universal {
                    Self::Implies(restriction, body)
                } else {
                    Self::And(vec![*restriction, *body])
                };
                Self::Quantifier(*universal, *sort, *var, Box::new(body))
            }
            Self::LetTerm(var, term, body) => {
                let definition = Self::Equal(Term::Var(*var), term.clone());
                such_that(Sort::First, *var, definition, body)
            }
            Self::LetSet(var, set, body) => {
                let definition = Self::SetEqual(Set::Var(*var), set.clone());
                such_that(Sort::Set, *var, definition, body)
            }
            Self::Call(_, body) => body.plain(),
            atom => atom.clone(),
        }
    }

    /// The same with a restriction on every quantified variable.
    pub fn restricted(&self, restriction: &dyn Fn(Sort, usize) -> Option<Self>) -> Self {
        let sub = |formula: &Self| Box::new(formula.restricted(restriction));
        let all = |formulas: &[Self]| formulas.iter().map(|f| *sub(f)).collect();
        match self {
            Self::Not(a) => Self::Not(sub(a)),
            Self::And(formulas) => Self::And(all(formulas)),
            Self::Or(formulas) => Self::Or(all(formulas)),
            Self::Implies(a, b) => Self::Implies(sub(a), sub(b)),
            Self::Iff(a, b) => Self::Iff(sub(a), sub(b)),
            Self::Quantifier(universal, sort, var, body) => match restriction(*sort, *var) {
                Some(clause) => {
                    Self::Restricted(*universal, *sort, *var, Box::new((clause, *sub(body))))
                }
                None => Self::Quantifier(*universal, *sort, *var, sub(body)),
            },
            Self::Call(_, body) => *sub(body),
            other => other.clone(),
        }
    }
}

#[derive(Clone, Debug)]
pub enum Term {
    Var(usize),
    Number(u32),
    Plus(Box<Term>, u32),
    Minus(Box<Term>, u32),
    Min(Box<Set>),
    Max(Box<Set>),
    /// The first plus or minus a number, modulo the second.
    Modulo(Box<Term>, i32, Box<Term>),
}

#[derive(Clone, Debug)]
pub enum Set {
    Var(usize),
    Empty,
    Single(Box<Term>),
    Interval(Box<Term>, Box<Term>),
    Union(Box<Set>, Box<Set>),
    Inter(Box<Set>, Box<Set>),
    Minus(Box<Set>, Box<Set>),
    ShiftUp(Box<Set>),
    ShiftDown(Box<Set>),
    /// `pconst`.
    Number(u64),
}

/// What random formulas are made of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Language {
    /// All terms, and predicates.
    Terms,
    /// Few terms, but predicates, `where` and `let`.
    Binders,
    /// Few terms, and predicates: for defaults.
    Few,
}

/// A generator (xorshift) with the sorts of the variables in scope.
pub struct Random {
    state: u64,
    scope: Vec<Sort>,
    language: Language,
}

impl Random {
    pub fn new(seed: u64) -> Self {
        let mut random = Self {
            state: seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1,
            scope: Vec::new(),
            language: Language::Terms,
        };
        for _ in 0..8 {
            random.next(2);
        }
        random
    }

    pub fn next(&mut self, below: u64) -> u64 {
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        (self.state >> 11) % below
    }

    /// A formula with at most one free variable of each sort.
    pub fn problem(&mut self, language: Language) -> (Formula, Vec<Sort>) {
        self.language = language;
        self.scope.clear();
        for sort in [Sort::Bool, Sort::First, Sort::Set] {
            if self.next(2) == 0 {
                self.scope.push(sort);
            }
        }
        let sorts = self.scope.clone();
        let depth = 2 + self.next(2);
        (self.formula(depth), sorts)
    }

    fn var(&mut self, sort: Sort) -> Option<usize> {
        let of_sort = |index: &usize| self.scope[*index] == sort;
        let known: Vec<usize> = (0..self.scope.len()).filter(of_sort).collect();
        match known.len() {
            0 => None,
            n => Some(known[self.next(n as u64) as usize]),
        }
    }

    fn formula(&mut self, depth: u64) -> Formula {
        if depth == 0 {
            return self.atom();
        }
        if !self.scope.is_empty() && self.next(12) == 0 {
            let body = self.formula(depth - 1);
            return Formula::Call(self.scope.clone(), Box::new(body));
        }
        if self.language == Language::Binders && self.scope.len() < 5 && self.next(10) == 0 {
            return self.binding(depth);
        }
        let sub = |random: &mut Self| Box::new(random.formula(depth - 1));

        match self.next(10) {
            0 => Formula::Not(sub(self)),
            1 | 2 => Formula::And(vec![*sub(self), *sub(self)]),
            3 => Formula::Or(vec![*sub(self), *sub(self)]),
            4 => Formula::Implies(sub(self), sub(self)),
            5 => Formula::Iff(sub(self), sub(self)),
            _ if self.scope.len() >= 5 => self.atom(),
            choice => {
                let sort = match self.next(7) {
                    0 => Sort::Bool,
                    1..=3 => Sort::First,
                    _ => Sort::Set,
                };
                let index = self.scope.len();
                self.scope.push(sort);
                let body = self.formula(depth - 1);
                self.scope.pop();
                Formula::Quantifier(choice % 2 == 0, sort, index, Box::new(body))
            }
        }
    }

    /// `let`, or a quantifier with `where`.
    fn binding(&mut self, depth: u64) -> Formula {
        let var = self.scope.len();
        let is_first = self.next(2) == 0;
        let sort = if is_first { Sort::First } else { Sort::Set };
        let (term, set, bound) = (self.term(1), self.set(0), self.term(0));
        let choice = self.next(3);
        self.scope.push(sort);
        let body = Box::new(self.formula(depth - 1));
        self.scope.pop();
        // Zero and the empty set satisfy these.
        let clause = match sort {
            Sort::First => Formula::LessEqual(Term::Var(var), bound),
            _ => Formula::Sub(Set::Var(var), set.clone()),
        };
        match (choice, is_first) {
            (0, true) => Formula::LetTerm(var, term, body),
            (0, false) => Formula::LetSet(var, set, body),
            (choice, _) => Formula::Restricted(choice == 1, sort, var, Box::new((clause, *body))),
        }
    }

    fn atom(&mut self) -> Formula {
        match self.next(9) {
            0 => match self.var(Sort::Bool) {
                Some(var) => Formula::Bool(var),
                None => Formula::Constant(self.next(2) == 0),
            },
            1 => Formula::Less(self.term(1), self.term(1)),
            2 => Formula::LessEqual(self.term(1), self.term(1)),
            3 => Formula::Equal(self.term(1), self.term(1)),
            4 | 5 => Formula::In(self.term(1), self.set(1)),
            6 => Formula::Sub(self.set(1), self.set(1)),
            7 => Formula::SetEqual(self.set(1), self.set(1)),
            _ => Formula::Empty(self.set(1)),
        }
    }

    fn term(&mut self, depth: u64) -> Term {
        let choice = self.next(8);
        if depth > 0 && choice == 0 {
            return Term::Plus(Box::new(self.term(depth - 1)), 1 + self.next(2) as u32);
        }
        if let Some(var) = self.var(Sort::First).filter(|_| depth > 0 && choice == 1) {
            return Term::Minus(Box::new(Term::Var(var)), 1 + self.next(2) as u32);
        }
        let rich = self.language == Language::Terms && depth > 0;
        if rich && choice == 4 && self.next(2) == 0 {
            let amount = [1, 2, -1][self.next(3) as usize];
            let (term, modulus) = (Box::new(self.term(0)), Box::new(self.term(0)));
            return Term::Modulo(term, amount, modulus);
        }

        if rich && choice < 4 {
            let set = Box::new(self.set(0));
            return if choice == 2 {
                Term::Min(set)
            } else {
                Term::Max(set)
            };
        }

        match self.var(Sort::First) {
            Some(var) if choice < 7 => Term::Var(var),
            _ => Term::Number(self.next(3) as u32),
        }
    }

    fn set(&mut self, depth: u64) -> Set {
        let choice = self.next(12);
        if depth > 0 && choice < 3 {
            let (left, right) = (Box::new(self.set(depth - 1)), Box::new(self.set(depth - 1)));
            return match choice {
                0 => Set::Union(left, right),
                1 => Set::Inter(left, right),
                _ => Set::Minus(left, right),
            };
        }

        let rich = self.language == Language::Terms && depth > 0;
        if rich && choice == 3 {
            return Set::ShiftUp(Box::new(self.set(0)));
        }
        if rich && choice == 4 {
            return Set::ShiftDown(Box::new(self.set(0)));
        }
        match choice {
            5 => Set::Single(Box::new(self.term(0))),
            7 => Set::Number(self.next(12)),
            6 => Set::Interval(Box::new(self.term(0)), Box::new(self.term(0))),
            _ => self.var(Sort::Set).map_or(Set::Empty, Set::Var),
        }
    }
}

fn keyword(prefix: &str, sort: Sort) -> String {
    let order = match sort {
        Sort::Bool => 0,
        Sort::First => 1,
        Sort::Set => 2,
    };
    format!("{prefix}{order}")
}

/// The formula with declarations of its free variables.
pub fn print(formula: &Formula, sorts: &[Sort]) -> String {
    let mut text = String::new();
    for (index, &sort) in sorts.iter().enumerate() {
        text += &format!("{} v{index};\n", keyword("var", sort));
    }
    let mut predicates = Vec::new();
    let main = formula_text(formula, &mut predicates);
    format!("{text}{}{main};\n", predicates.concat())
}

/// The text of a formula; the predicates that it calls are added to `predicates`.
fn formula_text(formula: &Formula, predicates: &mut Vec<String>) -> String {
    let mut list = |formulas: &[Formula], operator: &str| {
        let texts = formulas.iter().map(|f| formula_text(f, predicates));
        format!("({})", texts.collect::<Vec<_>>().join(operator))
    };

    match formula {
        Formula::Constant(value) => value.to_string(),
        Formula::Bool(var) => format!("v{var}"),
        Formula::Less(a, b) => format!("{} < {}", term_text(a), term_text(b)),
        Formula::LessEqual(a, b) => format!("{} >= {}", term_text(b), term_text(a)),
        Formula::Equal(a, b) => format!("{} = {}", term_text(a), term_text(b)),
        Formula::In(a, b) => format!("{} in {}", term_text(a), set_text(b)),
        Formula::Sub(a, b) => format!("{} sub {}", set_text(a), set_text(b)),
        Formula::SetEqual(a, b) => format!("{} = {}", set_text(a), set_text(b)),
        Formula::Empty(a) => format!("empty({})", set_text(a)),
        Formula::Not(a) => format!("~({})", formula_text(a, predicates)),
        Formula::And(all) => list(all, " & "),
        Formula::Or(all) => list(all, " | "),
        Formula::Implies(a, b) => {
            let premise = formula_text(a, predicates);
            format!("({premise} => {})", formula_text(b, predicates))
        }
        Formula::Iff(a, b) => {
            let left = formula_text(a, predicates);
            format!("({left} <=> {})", formula_text(b, predicates))
        }
        Formula::Quantifier(universal, sort, var, body) => {
            let quantifier = keyword(if *universal { "all" } else { "ex" }, *sort);
            format!("({quantifier} v{var}: {})", formula_text(body, predicates))
        }
        Formula::Restricted(universal, sort, var, parts) => {
            let quantifier = keyword(if *universal { "all" } else { "ex" }, *sort);
            let clause = formula_text(&parts.0, predicates);
            let body = formula_text(&parts.1, predicates);
            format!("({quantifier} v{var} where {clause}: {body})")
        }
        Formula::LetTerm(var, term, body) => {
            let body = formula_text(body, predicates);
            format!("(let1 v{var} = {} in {body})", term_text(term))
        }
        Formula::LetSet(var, set, body) => {
            let body = formula_text(body, predicates);
            format!("(let2 v{var} = {} in {body})", set_text(set))
        }
        Formula::Call(sorts, body) => {
            let body = formula_text(body, predicates);
            let parameter = |(index, &sort)| format!("{} v{index}", keyword("var", sort));
            let parameters: Vec<String> = sorts.iter().enumerate().map(parameter).collect();
            let arguments: Vec<String> = (0..sorts.len()).map(|i| format!("v{i}")).collect();
            let number = predicates.len();
            let word = ["pred", "macro"][number % 2];
            let parameters = parameters.join(", ");
            predicates.push(format!("{word} p{number}({parameters}) = {body};\n"));
            format!("p{number}({})", arguments.join(", "))
        }
    }
}

fn term_text(term: &Term) -> String {
    match term {
        Term::Var(var) => format!("v{var}"),
        Term::Number(number) => number.to_string(),
        Term::Plus(term, k) => format!("({} + {k})", term_text(term)),
        Term::Minus(term, k) => format!("({} - {k})", term_text(term)),
        Term::Min(set) => format!("(min {})", set_text(set)),
        Term::Max(set) => format!("(max {})", set_text(set)),
        Term::Modulo(term, amount, modulus) => {
            let sign = if *amount < 0 { "-" } else { "+" };
            let (term, modulus) = (term_text(term), term_text(modulus));
            format!("({term} {sign} {} % {modulus})", amount.abs())
        }
    }
}

fn set_text(set: &Set) -> String {
    match set {
        Set::Var(var) => format!("v{var}"),
        Set::Empty => "empty".to_owned(),
        Set::Single(term) => format!("{{{}}}", term_text(term)),
        Set::Interval(a, b) => format!("{{{},...,{}}}", term_text(a), term_text(b)),
        Set::Union(a, b) => format!("({} union {})", set_text(a), set_text(b)),
        Set::Inter(a, b) => format!("({} inter {})", set_text(a), set_text(b)),
        Set::Minus(a, b) => format!("({} \\ {})", set_text(a), set_text(b)),
        Set::ShiftUp(a) => format!("({} + 1)", set_text(a)),
        Set::ShiftDown(a) => format!("({} - 1)", set_text(a)),
        Set::Number(number) => format!("pconst({number})"),
    }
}

//! A resolver of names that only looks at tokens, for all three languages.
//!
//! Declarations are found by the words and signs around them and by layout. A name means the
//! declaration of its kind with the innermost scope around it.

use fairground::{Piece, PieceKind, scan};

/// Names of different kinds do not meet.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Value,
    Label,
    Action,
    Field,
    Event,
}

/// A declaration: the name at `at` is known from `from` to `to`.
#[derive(Clone, Debug)]
struct Declared {
    name: String,
    kind: Kind,
    at: usize,
    from: usize,
    to: usize,
}

/// The tokens of a text, and what they declare.
pub(crate) struct Naive<'t> {
    text: &'t str,
    tokens: Vec<Piece>,
    declared: Vec<Declared>,
    /// Names where they are, or could be, declared.
    places: Vec<(usize, Kind)>,
    /// Processes with their bodies.
    bodies: Vec<(String, usize, usize)>,
}

/// A name in the text, and where it is declared if it is: in one of these places.
pub(crate) struct Use {
    pub(crate) word: String,
    pub(crate) at: usize,
    pub(crate) declared: Vec<usize>,
}

impl<'t> Naive<'t> {
    fn new(text: &'t str) -> Self {
        let is_code = |p: &Piece| !matches!(p.kind, PieceKind::Comment | PieceKind::Quoted);
        Self {
            text,
            tokens: scan(text).into_iter().filter(is_code).collect(),
            declared: Vec::new(),
            places: Vec::new(),
            bodies: Vec::new(),
        }
    }

    fn word(&self, n: usize) -> &'t str {
        self.tokens.get(n).map_or("", |token| token.text(self.text))
    }

    /// The word `back` tokens before.
    fn before(&self, n: usize, back: usize) -> &'t str {
        n.checked_sub(back).map_or("", |n| self.word(n))
    }

    fn start(&self, n: usize) -> usize {
        self.tokens
            .get(n)
            .map_or(self.text.len(), |token| token.start)
    }

    fn is_name(&self, n: usize) -> bool {
        self.tokens
            .get(n)
            .is_some_and(|t| t.kind == PieceKind::Word)
    }

    fn add(&mut self, kind: Kind, n: usize, (from, to): (usize, usize)) {
        self.places.push((self.start(n), kind));
        if self.is_name(n) {
            let (name, at) = (self.word(n).to_owned(), self.start(n));
            self.declared.push(Declared {
                name,
                kind,
                at,
                from,
                to,
            });
        }
    }

    /// Adds a name unless it is declared already in this scope: its first place counts.
    fn add_first(&mut self, kind: Kind, n: usize, (from, to): (usize, usize)) {
        let name = self.word(n);
        self.places.push((self.start(n), kind));
        let is_it = |d: &Declared| d.name == name && d.kind == kind && d.from == from;
        if !self.declared.iter().any(is_it) {
            self.add(kind, n, (from, to));
        }
    }

    fn everywhere(&self) -> (usize, usize) {
        (0, self.text.len())
    }

    /// The token that closes the bracket at `n`.
    fn closing(&self, n: usize) -> usize {
        let mut depth = 0_i32;
        for m in n..self.tokens.len() {
            depth += match self.word(m) {
                "(" | "[" | "{" => 1,
                ")" | "]" | "}" => -1,
                _ => 0,
            };
            if depth == 0 {
                return m;
            }
        }
        self.tokens.len()
    }

    /// The token that closes the innermost bracket around `n`.
    fn enclosing(&self, n: usize) -> usize {
        let mut depth = 0_i32;
        for m in n..self.tokens.len() {
            match self.word(m) {
                "(" | "[" | "{" => depth += 1,
                ")" | "]" | "}" if depth == 0 => return m,
                ")" | "]" | "}" => depth -= 1,
                _ => {}
            }
        }
        self.tokens.len()
    }

    /// The next of some words at or after `n`, outside of brackets that open there.
    fn next(&self, n: usize, words: &[&str]) -> usize {
        let mut m = n;
        while m < self.tokens.len() && !words.contains(&self.word(m)) {
            m = match self.word(m) {
                "(" | "[" | "{" => self.closing(m) + 1,
                _ => m + 1,
            };
        }
        m
    }

    fn line_start(&self, offset: usize) -> usize {
        self.text[..offset].rfind('\n').map_or(0, |n| n + 1)
    }

    /// Is the token the first of its line?
    fn starts_line(&self, n: usize) -> bool {
        n == 0 || self.line_start(self.start(n)) > self.start(n - 1)
    }

    /// Where the line ends, with those that it is continued on.
    fn line_end(&self, offset: usize) -> usize {
        let mut end = offset;
        loop {
            end += self.text[end..].find('\n').unwrap_or(self.text.len() - end);
            if !self.text[..end].ends_with('\\') {
                return end;
            }
            end += 1;
        }
    }

    /// The body of a process by its name, or around an offset.
    fn body(&self, name: &str) -> Option<(usize, usize)> {
        let found = self.bodies.iter().find(|(process, ..)| process == name)?;
        Some((found.1, found.2))
    }

    fn body_around(&self, offset: usize) -> Option<(usize, usize)> {
        let contains = |(_, from, to): &&(String, usize, usize)| (*from..*to).contains(&offset);
        self.bodies
            .iter()
            .find(contains)
            .map(|(_, from, to)| (*from, *to))
    }

    /// The process named before a `@`, `.` or `:` at `n`: `P`, or `P[…]`.
    fn process_before(&self, n: usize) -> Option<(usize, usize)> {
        let mut at = n.checked_sub(1)?;
        if self.word(at) == "]" {
            at = (0..at)
                .rev()
                .find(|m| self.word(*m) == "[" && self.closing(*m) == at)?;
            at = at.checked_sub(1)?;
        }
        self.body(self.word(at))
    }

    /// The innermost declaration of a name.
    fn meaning(&self, n: usize, kind: Kind, at: usize) -> Option<usize> {
        let name = self.word(n);
        let fits = |d: &&Declared| d.name == name && d.kind == kind && (d.from..d.to).contains(&at);
        let found = self.declared.iter().filter(fits);
        // Of two in one scope the later one counts, if it comes before the name.
        let innermost = found.max_by_key(|d| (d.from, d.at <= at, d.at.min(at)));
        innermost.map(|d| d.at)
    }

    /// Was the name at an offset taken for one of this kind?
    fn is_place(&self, at: usize, kind: Kind) -> bool {
        self.places.contains(&(at, kind))
    }

    fn uses(&self, mean: impl Fn(&Self, usize) -> Option<usize>) -> Vec<Use> {
        let mut uses = Vec::new();
        for n in (0..self.tokens.len()).filter(|n| self.is_name(*n)) {
            let mut declared: Vec<usize> = mean(self, n).into_iter().collect();
            // Which of several types has a component cannot be seen from tokens.
            let word = self.word(n);
            let is_field = |d: &&Declared| d.kind == Kind::Field && d.name == word;
            let fields = self.declared.iter().filter(is_field).map(|d| d.at);
            let fields: Vec<usize> = fields.collect();
            if declared
                .iter()
                .any(|at| fields.contains(at) && *at != self.start(n))
            {
                declared = fields;
            }
            uses.push(Use {
                word: word.to_owned(),
                at: self.start(n),
                declared,
            });
        }
        uses
    }
}

const TYPES: [&str; 10] = [
    "bit", "bool", "byte", "pid", "short", "int", "unsigned", "mtype", "chan", "timer",
];

/// What the names of a Promela text mean.
pub(crate) fn promela(text: &str) -> Vec<Use> {
    let mut naive = Naive::new(text);
    let everywhere = naive.everywhere();
    let mut types: Vec<&str> = TYPES.to_vec();
    for n in 0..naive.tokens.len() {
        match naive.before(n, 1) {
            "define" => {
                naive.add_first(Kind::Value, n, everywhere);
                let opens = naive.word(n + 1) == "(" && naive.start(n + 1) == naive.tokens[n].end;
                let scope = (naive.start(n), naive.line_end(naive.start(n)));
                for m in n + 2..if opens { naive.closing(n + 1) } else { 0 } {
                    naive.add(Kind::Value, m, scope);
                }
            }
            "proctype" | "D_proctype" | "inline" => {
                naive.add(Kind::Value, n, everywhere);
                let open = naive.next(n, &["{"]);
                let scope = (naive.start(n + 1), naive.start(naive.closing(open)));
                if naive.before(n, 1) == "inline" {
                    for m in n + 2..naive.closing(n + 1) {
                        naive.add(Kind::Value, m, scope);
                    }
                }
                naive
                    .bodies
                    .push((naive.word(n).to_owned(), scope.0, scope.1));
            }
            "typedef" => {
                types.push(naive.word(n));
                naive.add(Kind::Value, n, everywhere);
            }
            "ltl" | "never" => naive.add(Kind::Value, n, everywhere),
            _ if ["init", "never", "trace", "notrace"].contains(&naive.word(n)) => {
                if naive.word(n) == "init" {
                    naive.add(Kind::Value, n, everywhere);
                }
                let open = naive.next(n, &["{"]);
                let scope = (naive.start(n), naive.start(naive.closing(open)));
                naive
                    .bodies
                    .push((naive.word(n).to_owned(), scope.0, scope.1));
            }
            _ => {}
        }
    }

    for n in 0..naive.tokens.len() {
        promela_variables(&mut naive, n, &types);
        let body = naive.body_around(naive.start(n));
        let follows = ["", ";", "{", "}", ">", ":", "fi", "od"].contains(&naive.before(n, 1));
        let is_label = naive.word(n + 1) == ":"
            && naive.word(n + 2) != ":"
            && naive.word(naive.enclosing(n)) != ")"
            && naive.body(naive.word(n)).is_none();
        if let (Some(body), true) = (body, is_label && (follows || naive.starts_line(n))) {
            naive.add_first(Kind::Label, n, body);
        }
    }
    naive.uses(promela_meaning)
}

/// `byte x, y = 3;` and `mtype = { a, b }`.
fn promela_variables(naive: &mut Naive<'_>, n: usize, types: &[&str]) {
    if !types.contains(&naive.word(n)) || naive.before(n, 1) == "typedef" {
        return;
    }
    let everywhere = naive.everywhere();
    let mut m = n + 1;
    if naive.word(n) == "mtype" && naive.word(m) == ":" {
        naive.add_first(Kind::Field, m + 1, everywhere);
        m += 2;
    }
    if naive.word(m) == "=" {
        m += 1;
    }
    if naive.word(n) == "mtype" && naive.word(m) == "{" {
        for constant in m + 1..naive.closing(m) {
            naive.add(Kind::Value, constant, everywhere);
        }
        return;
    }

    let in_type = (0..n).rev().find(|k| naive.word(*k) == "typedef");
    let in_type = in_type.is_some_and(|k| naive.closing(k + 2) > n);
    let scope = match naive.body_around(naive.start(n)) {
        _ if in_type => everywhere,
        Some(_) if naive.word(naive.enclosing(n)) == ")" => {
            let (from, to) = naive.body_around(naive.start(n)).expect("a body");
            (from, to)
        }
        Some(_) => (naive.start(n), naive.start(naive.enclosing(n))),
        None => everywhere,
    };
    let kind = if in_type { Kind::Field } else { Kind::Value };
    while naive.is_name(m) && !types.contains(&naive.word(m)) {
        // A macro may stand for the name.
        if naive.word(m + 1) != "(" {
            naive.add(kind, m, scope);
        }
        m = naive.next(m, &[",", ";", ")", "}", "-"]);
        if naive.word(m) != "," {
            break;
        }
        m += 1;
    }
}

fn promela_meaning(naive: &Naive<'_>, n: usize) -> Option<usize> {
    let at = naive.start(n);
    match naive.before(n, 1) {
        "goto" => return naive.meaning(n, Kind::Label, at),
        "@" => return naive.meaning(n, Kind::Label, naive.process_before(n - 1)?.0),
        "." if naive.before(n, 2) != "." => return naive.meaning(n, Kind::Field, at),
        ":" if naive.before(n, 2) == "mtype" => return naive.meaning(n, Kind::Field, at),
        ":" if naive.before(n, 2) != ":" && naive.process_before(n - 1).is_some() => {
            let (_, to) = naive.process_before(n - 1)?;
            let name = naive.word(n);
            let is_it = |d: &&Declared| d.name == name && d.to == to && d.kind == Kind::Value;
            return naive.declared.iter().find(is_it).map(|d| d.at);
        }
        _ => {}
    }
    let own = |kind| naive.is_place(at, kind);
    if own(Kind::Label) || own(Kind::Field) {
        let kind = if own(Kind::Label) {
            Kind::Label
        } else {
            Kind::Field
        };
        return naive.meaning(n, kind, at);
    }
    naive.meaning(n, Kind::Value, at)
}

/// What the names of a CSP# text mean.
pub(crate) fn csp(text: &str) -> Vec<Use> {
    let mut naive = Naive::new(text);
    let everywhere = naive.everywhere();
    // A declaration ends before the next one, which begins a line.
    let begins = |naive: &Naive<'_>, n: usize| {
        naive.starts_line(n) && naive.line_start(naive.start(n)) == naive.start(n)
    };
    let ends: Vec<usize> = (0..=naive.tokens.len())
        .filter(|n| *n == naive.tokens.len() || begins(&naive, *n) && naive.word(*n) != "}")
        .collect();
    for n in 0..naive.tokens.len() {
        let end = ends.iter().find(|end| **end > n).copied().unwrap_or(n);
        let item = (naive.start(n), naive.start(end));
        let is_process = begins(&naive, n)
            && naive.is_name(n)
            && !["var", "channel", "enum", "hvar"].contains(&naive.word(n));
        if is_process || naive.before(n, 1) == "define" {
            naive.add(Kind::Value, n, everywhere);
            let opens = naive.word(n + 1) == "(" && naive.start(n + 1) == naive.tokens[n].end;
            for m in n + 2..if opens { naive.closing(n + 1) } else { 0 } {
                naive.add(Kind::Value, m, item);
            }
        }
        match naive.before(n, 1) {
            "var" | "hvar" | "channel" => {
                let is_global = naive.enclosing(n) == naive.tokens.len();
                let local = (naive.start(n), naive.start(naive.enclosing(n)));
                naive.add(Kind::Value, n, if is_global { everywhere } else { local });
            }
            "enum" => {
                for m in n + 1..naive.closing(n) {
                    naive.add(Kind::Value, m, everywhere);
                }
            }
            _ => {}
        }

        let rest = (naive.start(n), naive.start(naive.enclosing(n)).min(item.1));
        let is_operator = matches!(naive.before(n, 1), "|" | "]" | "&" | ">" | ";" | "{");
        let is_number = naive
            .tokens
            .get(n + 2)
            .is_some_and(|t| t.kind == PieceKind::Number);
        let has_values = naive.word(n + 2) == "{" || is_number;
        if naive.is_name(n) && naive.word(n + 1) == ":" && is_operator && has_values {
            naive.add(Kind::Value, n, rest);
        }
        if naive.word(n) == "?" {
            let mut m = n + 1;
            while naive.is_name(m) {
                naive.add(Kind::Value, m, rest);
                m += if naive.word(m + 1) == "." { 2 } else { 1 };
            }
        }
    }

    for n in 0..naive.tokens.len() {
        let is_step = matches!(naive.word(n + 1), "." | "{")
            || naive.word(n + 1) == "-" && naive.word(n + 2) == ">";
        let begins_step = [
            "", ">", "(", "[", "]", "=", ":", ",", "{", "}", "|", "*", "@",
        ];
        let is_step = is_step && begins_step.contains(&naive.before(n, 1));
        let is_keyword = ["case", "atomic", "else", "enum"].contains(&naive.word(n));
        let in_formula = (naive.start(n), naive.line_end(naive.start(n)));
        let is_assertion =
            text[naive.line_start(in_formula.0)..in_formula.1].starts_with("#assert");
        if naive.is_name(n)
            && is_step
            && !is_keyword
            && !is_assertion
            && naive.before(n, 1) != "define"
        {
            naive.add_first(Kind::Event, n, everywhere);
        }
    }
    naive.uses(|naive, n| {
        let at = naive.start(n);
        let is_event = naive.is_place(at, Kind::Event);
        let has_values = naive.word(n + 1) == ".";
        let event = naive.meaning(n, Kind::Event, at);
        let value = naive.meaning(n, Kind::Value, at);
        if is_event || has_values && event.is_some() && naive.before(n, 1) != "." {
            event
        } else {
            value.or(event)
        }
    })
}

/// Words before names that are bound.
const BINDERS: [&str; 8] = [
    "forall", "exists", "for", "count", "sum", "choose", "min", "max",
];

/// What the names of a native text mean.
pub(crate) fn native(text: &str) -> Vec<Use> {
    let mut naive = Naive::new(text);
    let everywhere = naive.everywhere();
    for n in 0..naive.tokens.len() {
        let is_body = matches!(naive.before(n, 1), "process" | "system")
            && matches!(naive.word(n + 1), "(" | "{")
            && naive.before(n, 2) != "-";
        if is_body {
            naive.add(Kind::Value, n, everywhere);
            let open = naive.next(n, &["{"]);
            let scope = (naive.start(n + 1), naive.start(naive.closing(open)));
            naive
                .bodies
                .push((naive.word(n).to_owned(), scope.0, scope.1));
        }
    }
    for n in 0..naive.tokens.len() {
        native_declaration(&mut naive, n);
        native_bound(&mut naive, n);
        native_steps(&mut naive, n);
    }
    naive.uses(native_meaning)
}

/// Names after the words that declare them.
fn native_declaration(naive: &mut Naive<'_>, n: usize) {
    let body = naive.body_around(naive.start(n));
    let around = body.unwrap_or_else(|| naive.everywhere());
    let everywhere = naive.everywhere();
    match naive.word(n) {
        "const" | "param" | "type" | "chan" | "event" if naive.starts_line(n) => {
            naive.add(Kind::Value, n + 1, everywhere);
        }
        "def" if naive.starts_line(n) => {
            naive.add(Kind::Value, n + 1, around);
            if naive.word(n + 2) == "(" {
                let item = naive.item(n);
                for m in n + 3..naive.closing(n + 2) {
                    naive.add(Kind::Value, m, item);
                }
            }
        }
        "property" | "invariant" | "reachable" | "ranking" if naive.is_name(n + 1) => {
            naive.add(Kind::Event, n + 1, everywhere);
        }
        "enum" | "record" => {
            naive.add(Kind::Value, n + 1, everywhere);
            for m in n + 3..naive.closing(n + 2) {
                if naive.word(n) == "enum" {
                    naive.add(Kind::Value, m, everywhere);
                } else if naive.word(m + 1) == ":" {
                    naive.add(Kind::Field, m, everywhere);
                }
            }
        }
        "var" | "timer" => {
            let mut m = n + 1;
            while naive.is_name(m) {
                naive.add(Kind::Value, m, around);
                m += if naive.word(m + 1) == "," {
                    2
                } else {
                    naive.tokens.len()
                };
            }
        }
        "init" | "from" | "end" | "states"
            if body.is_some() && naive.word(n + 1) != "when" && naive.starts_line(n) =>
        {
            let mut m = n + 1;
            while naive.is_name(m) {
                naive.add_first(Kind::Label, m, around);
                m += if naive.word(m + 1) == "," {
                    2
                } else {
                    naive.tokens.len()
                };
            }
        }
        word if naive.word(n + 1) == ":" && naive.starts_line(n) && word != "abstract" => {
            let is_proposition = ["true", "false", "unknown"].contains(&naive.word(n + 2));
            if is_proposition && body.is_some() {
                naive.add(Kind::Value, n, around);
            }
        }
        "abstract" if naive.starts_line(n) => {
            let open = naive.next(n, &["{"]);
            for m in open + 1..naive.closing(open) {
                let begins = naive.starts_line(m) || naive.before(m, 1) == "invariant";
                if naive.word(m + 1) == ":" && begins {
                    let only_here = (naive.start(m), naive.start(m) + 1);
                    naive.add(Kind::Event, m, only_here);
                }
            }
        }
        "let" => {
            let scope = (naive.start(n), naive.start(naive.enclosing(n)));
            naive.add(Kind::Value, n + 1, scope);
        }
        _ => {}
    }
}

impl Naive<'_> {
    fn indent(&self, offset: usize) -> usize {
        let line = &self.text[self.line_start(offset)..];
        line.len() - line.trim_start_matches(' ').len()
    }

    /// What begins with the line of a token: up to the next line that is not indented further.
    fn item(&self, n: usize) -> (usize, usize) {
        let first = self.line_start(self.start(n));
        let indent = self.indent(first);
        let ends = |m: &usize| {
            self.starts_line(*m)
                && self.indent(self.start(*m)) <= indent
                && !matches!(self.word(*m), "}" | ")" | "{" | "&" | "|")
        };
        let end = (n + 1..self.tokens.len()).find(ends);
        (first, end.map_or(self.text.len(), |m| self.start(m)))
    }

    /// The token that opens the innermost bracket around `n`.
    fn opening(&self, n: usize) -> Option<usize> {
        let is_it = |m: &usize| matches!(self.word(*m), "(" | "[" | "{") && self.closing(*m) > n;
        (0..n).rev().find(is_it)
    }
}

/// `forall i, j in 1..3: …`, `step(i in 1..3) …`, `[i in 1..3: …]`.
fn native_bound(naive: &mut Naive<'_>, n: usize) {
    // The index of a family of channels is not known anywhere.
    let line = &naive.text[naive.line_start(naive.start(n))..];
    if naive.word(n) != "in" || line.starts_with("chan") {
        return;
    }
    let mut names = vec![n - 1];
    let mut first = n - 1;
    let begins = |m: usize| {
        BINDERS.contains(&naive.before(m, 1)) || [",", "("].contains(&naive.before(m, 1))
    };
    while naive.before(first, 1) == "," && naive.is_name(first - 2) && begins(first - 2) {
        first -= 2;
        names.push(first);
    }

    // What binds stands before them: directly, or before others that are bound.
    let open = naive.opening(n);
    let mut before = first;
    while before > 0
        && Some(before - 1) != open
        && !BINDERS.contains(&naive.word(before - 1))
        && naive.word(before - 1) != ":"
    {
        before -= 1;
    }
    let opener = before.checked_sub(1).map_or("", |m| naive.word(m));
    let step = before >= 2 && opener == "(" && naive.is_name(before - 2) && {
        let name = before - 2;
        let first_of_line = naive.starts_line(name) || naive.before(name, 1) == "{";
        first_of_line || naive.before(name, 1) == "process" || naive.before(name, 1) == "fair"
    };
    let (from, end) = naive.item(n);
    let scope = if step {
        naive.body(naive.word(before - 2)).unwrap_or((from, end))
    } else if BINDERS.contains(&opener) || opener == "[" || opener == "{" && before == first {
        (naive.start(first), naive.start(naive.enclosing(n)).min(end))
    } else {
        return;
    };
    for name in names {
        naive.add(Kind::Value, name, scope);
    }
}

/// The names of steps: those that begin lines in a block of steps, and the first of it.
fn native_steps(naive: &mut Naive<'_>, n: usize) {
    if naive.word(n) != "{" {
        return;
    }
    let Some(body) = naive.body_around(naive.start(n)) else {
        return;
    };
    // The block belongs to `from …`, or is that of a process without locations.
    let mut m = n;
    while m > 0 && (naive.is_name(m - 1) || matches!(naive.word(m - 1), "," | "*")) {
        m -= 1;
        if matches!(naive.word(m), "from" | "process" | "system") {
            break;
        }
    }
    let is_whole = naive.start(naive.closing(n)) == body.1 && naive.word(m) != "system";
    if naive.word(m) != "from" && !is_whole {
        return;
    }

    let close = naive.closing(n);
    let mut at = n + 1;
    let mut is_new = true;
    while at < close {
        let word = naive.word(at);
        let is_declaration = match word {
            "var" | "timer" | "init" | "from" | "def" => true,
            "end" => {
                naive.word(at + 1) == "*" || naive.is_name(at + 1) && naive.word(at + 1) != "when"
            }
            _ => false,
        };
        let goes_on = ["when", "where", "sync"].contains(&word);
        let is_prefix = ["strong", "weak", "just", "fair", "unconditional"].contains(&word)
            && naive.is_name(at + 1)
            && naive.word(at + 1) != "when";
        let may_begin = is_new || naive.starts_line(at);
        is_new = naive.before(at, 1) == ">" && naive.before(at, 2) == "-" || is_prefix;
        if naive.is_name(at) && may_begin && !goes_on && !is_prefix && !is_declaration {
            naive.add_first(Kind::Action, at, body);
        }
        at = match word {
            "(" | "[" | "{" => naive.closing(at) + 1,
            _ if is_declaration && may_begin => {
                let end = naive.item(at).1;
                (at + 1..close)
                    .find(|m| naive.start(*m) >= end)
                    .unwrap_or(close)
            }
            _ => at + 1,
        };
    }
}

fn native_meaning(naive: &Naive<'_>, n: usize) -> Option<usize> {
    let at = naive.start(n);
    let own = |kind| naive.is_place(at, kind);
    if own(Kind::Event) {
        return Some(at);
    }
    let line = &naive.text[naive.line_start(at)..];
    if line.starts_with("abstract") && naive.before(n, 1) != "abstract" && naive.word(n) != "for" {
        return naive.meaning(n, Kind::Event, at);
    }
    if naive.before(n, 1) == "." && naive.before(n, 2) != "." {
        let body = naive.process_before(n - 1);
        let inside = |kind| body.and_then(|(from, _)| naive.meaning(n, kind, from));
        let value = inside(Kind::Value).filter(|at| body.is_some_and(|b| (b.0..b.1).contains(at)));
        return value
            .or(inside(Kind::Action))
            .or_else(|| naive.meaning(n, Kind::Field, at));
    }

    // Lists of locations: `from a, b`, `@ {a, b}`.
    let mut m = n;
    while naive.before(m, 1) == "," && naive.is_name(m.saturating_sub(2)) {
        m -= 2;
    }
    let place = match naive.before(m, 1) {
        "{" if naive.before(m, 2) == "@" => Some(m - 2),
        "@" => Some(m - 1),
        _ => None,
    };
    if let Some(place) = place {
        let body = naive
            .process_before(place)
            .or_else(|| naive.body_around(at));
        return naive.meaning(n, Kind::Label, body?.0);
    }
    let leads = naive.before(m, 1) == ">" && naive.before(m, 2) == "-";
    let is_list = matches!(naive.before(m, 1), "from" | "init" | "end" | "states");
    if (leads || is_list)
        && let Some(label) = naive.meaning(n, Kind::Label, at)
    {
        return Some(label);
    }
    if own(Kind::Action) || own(Kind::Field) {
        let kind = if own(Kind::Action) {
            Kind::Action
        } else {
            Kind::Field
        };
        return naive.meaning(n, kind, at);
    }
    let body = naive.body_around(at);
    // In a system given state by state, states stand everywhere.
    let is_system =
        |from: usize| naive.text[..from].split_whitespace().rev().nth(1) == Some("system");
    let in_system = body.is_some_and(|(from, _)| is_system(from));
    let label = naive.meaning(n, Kind::Label, at).filter(|_| in_system);
    label.or_else(|| naive.meaning(n, Kind::Value, at))
}

//! The native language.

use super::{Kind, Naive, Use};

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
    let mut uses = naive.uses(native_meaning);
    // `name.x` is declared in the file that is imported under the name.
    let imports = text.lines().filter(|line| line.starts_with("import "));
    let names =
        imports.filter_map(|line| line.split_whitespace().skip_while(|w| *w != "as").nth(1));
    let names: Vec<&str> = names.collect();
    uses.retain(|used| !names.contains(&used.word.as_ref()));
    uses
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

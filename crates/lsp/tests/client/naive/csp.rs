//! CSP#.

use fairground::PieceKind;

use super::{Kind, Naive, Use};

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

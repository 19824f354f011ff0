//! Promela.

use super::{Declared, Kind, Naive, Use};

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
            naive.add(Kind::Label, n, body);
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

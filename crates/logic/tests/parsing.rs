//! The parser: what it reads, what it reports, and that nothing makes it panic.

mod support;

use base::{AtomId, Severity, Source, SourceId};
use expect_test::{Expect, expect};
use logic::{Ltl, atom_text, parse};
use support::{Random, formula};

fn source(text: &str) -> Source {
    Source {
        name: "<formula>".into(),
        text: text.into(),
    }
}

/// The formula as it is printed, and one line per diagnostic.
fn read(text: &str) -> String {
    let source = source(text);
    let (formula, names, diagnostics) = parse(&source, SourceId(0));
    let mut shown = String::new();
    if let Some(formula) = formula {
        let name = |atom: AtomId| atom_text(&names[atom.index()]).into_owned();
        shown += &format!("{}\n", formula.display(&name));
    }
    for diagnostic in diagnostics {
        let severity = match diagnostic.severity {
            Severity::Warning => "warning",
            Severity::Error => "error",
        };
        let span = diagnostic.labels[0].span;
        shown += &format!(
            "{severity}[{}] {}..{}: {}",
            diagnostic.code, span.start, span.end, diagnostic.message
        );
        for help in diagnostic.help {
            shown += &format!(" ({help})");
        }
        shown += "\n";
    }
    shown
}

fn check(text: &str, expected: Expect) {
    expected.assert_eq(&read(text));
}

#[test]
fn both_notations_are_read() {
    let same = [
        "[](p -> <>q) && !r U s",
        "G(p implies F q) and not r until s",
        "always (p => eventually q) /\\ ~r U s",
        "□(p → ◇q) ∧ ¬r U s",
        "G (p -> (F q)) & ((!r) U s)",
        "p ~> q && !r U s",
    ];
    for text in &same[..5] {
        assert_eq!(read(text), "[](p -> <>q) && !r U s\n", "{text}");
    }
    assert_eq!(read(same[5]), "[](p -> <>(q && !r U s))\n");
}

#[test]
fn precedence_and_association() {
    check(
        "a || b && c -> d <-> e",
        expect![[r#"
        a || b && c -> d <-> e
    "#]],
    );
    check(
        "((a || (b && c)) -> d) <-> e",
        expect![[r#"
        a || b && c -> d <-> e
    "#]],
    );
    check(
        "a U b W c",
        expect![[r#"
        a U (b W c)
    "#]],
    );
    check(
        "a V b M c",
        expect![[r#"
        a R (b M c)
    "#]],
    );
    check(
        "a -> b -> c",
        expect![[r#"
        a -> b -> c
    "#]],
    );
    check(
        "[]<>p U X q",
        expect![[r#"
        []<>p U X q
    "#]],
    );
}

#[test]
fn operators_written_together_and_names() {
    check(
        "GF p -> FG q | GFX r",
        expect![[r#"
        []<>p -> <>[]q || []<>X r
    "#]],
    );
    check(
        "GFp",
        expect![[r#"
            []<>p
            warning[joined-name] 0..3: `GFp` is read as `GF p` (if it is a name, write `"GFp"`)
        "#]],
    );
    check(
        "[]P[1].enter && p[]",
        expect![[r#"
        error[expected-operator] 17..19: expected an operator, found `[]` (operators are `&&`, `||`, `->`, `<->`, `U`, `W`, `R`, `M`)
        error[expected-formula] 19..19: expected a formula, found the end (a formula begins with an atom, `true`, `false`, `(`, `!`, `X`, `[]` or `<>`)
    "#]],
    );
    check(
        r#""x > 3" U rule2.0.1 && P[0]@cs && "a \"b\"" && "F" && "plain""#,
        expect![[r#"
        "x > 3" U rule2.0.1 && P[0]@cs && "a \"b\"" && "F" && plain
    "#]],
    );
}

#[test]
fn errors_say_what_was_expected() {
    check(
        "",
        expect![[r#"
        error[empty-formula] 0..0: there is no formula (for example: `[](request -> <>answer)`)
    "#]],
    );
    check(
        "[](p -> <>q",
        expect![[r#"
        error[unclosed-parenthesis] 11..11: expected an operator or `)`, found the end
    "#]],
    );
    check(
        "p && ) && q)",
        expect![[r#"
        error[expected-formula] 5..6: expected a formula, found `)` (a formula begins with an atom, `true`, `false`, `(`, `!`, `X`, `[]` or `<>`)
        error[unmatched-parenthesis] 11..12: this `)` does not close anything
    "#]],
    );
    check(
        "p untl q && && r s",
        expect![[r#"
            error[expected-operator] 2..6: expected an operator, found `untl` (did you mean `until`?)
            error[expected-formula] 12..14: expected a formula, found `&&` (a formula begins with an atom, `true`, `false`, `(`, `!`, `X`, `[]` or `<>`)
            error[expected-operator] 17..18: expected an operator, found `s` (operators are `&&`, `||`, `->`, `<->`, `U`, `W`, `R`, `M`)
        "#]],
    );
    check(
        "x == 3 && 'y'",
        expect![[r#"
            error[bad-character] 2..4: `==` cannot stand in a formula (a proposition that is not a plain name is written in quotes: `"x == 1"`)
            error[bad-character] 5..6: `3` cannot stand in a formula (a proposition that is not a plain name is written in quotes: `"x == 1"`)
            error[bad-character] 10..11: `\'` cannot stand in a formula (names are quoted with `"`)
            error[bad-character] 12..13: `\'` cannot stand in a formula (names are quoted with `"`)
        "#]],
    );
    check(
        "enabled(a) && \"b",
        expect![[r#"
        error[expected-operator] 7..8: expected an operator, found `(` (a proposition with arguments is written in quotes: `"enabled(a)"`)
        error[unterminated-string] 14..16: the closing `"` is missing (a quoted name ends on the line where it begins)
    "#]],
    );
}

#[test]
fn depth_is_limited_and_breadth_is_not() {
    for (open, close) in [
        ("(", ")"),
        ("!", ""),
        ("[](", ")"),
        ("a -> ", ""),
        ("X(a U ", ")"),
    ] {
        for depth in [100_000, 501] {
            let text = open.repeat(depth) + "p" + &close.repeat(depth);
            let shown = read(&text);
            assert!(shown.starts_with("error[too-deep]"), "{open}: {shown:.200}");
            assert_eq!(shown.lines().count(), 1, "{open}: {shown:.200}");
        }
        let text = open.repeat(150) + "p" + &close.repeat(150);
        assert!(!read(&text).contains("error"), "{open}");
    }
    let wide = vec!["[]<>p"; 20_000].join(" && ");
    assert_eq!(read(&wide), wide.clone() + "\n");
}

#[test]
fn printing_and_parsing_again_gives_the_same_formula() {
    let names = ["p", "P[1].enter", "x > 3"];
    let name = |atom: AtomId| atom_text(names[atom.index()]).into_owned();
    let mut random = Random::new(5);
    for round in 0..20_000 {
        let formula = formula(&mut random, round % 15, 3);
        let text = formula.display(&name).to_string();
        let (again, found, diagnostics) = parse(&source(&text), SourceId(0));
        assert_eq!(diagnostics, [], "{text}");
        let again = again.expect("no error, hence a formula");
        let again_name = |atom: AtomId| atom_text(&found[atom.index()]).into_owned();
        assert_eq!(again.display(&again_name).to_string(), text);
        assert_eq!(renamed(&again, &found, &names), formula, "{text}");
    }
}

/// The formula with atoms numbered by `names` instead of `found`.
fn renamed(formula: &Ltl, found: &[String], names: &[&str]) -> Ltl {
    use logic::Op;
    let go = |f: &Ltl| renamed(f, found, names);
    match formula.op() {
        Op::True | Op::False => formula.clone(),
        Op::Atom(atom) => {
            let index = names.iter().position(|name| *name == found[atom.index()]);
            Ltl::atom(AtomId::new(index.expect("a known name")))
        }
        Op::Not(a) => Ltl::not(go(a)),
        Op::And(parts) => Ltl::and(parts.iter().map(go)),
        Op::Or(parts) => Ltl::or(parts.iter().map(go)),
        Op::Implies(a, b) => Ltl::implies(go(a), go(b)),
        Op::Iff(a, b) => Ltl::iff(go(a), go(b)),
        Op::Next(a) => Ltl::next(go(a)),
        Op::Until(a, b) => Ltl::until(go(a), go(b)),
        Op::WeakUntil(a, b) => Ltl::weak_until(go(a), go(b)),
        Op::Release(a, b) => Ltl::release(go(a), go(b)),
        Op::StrongRelease(a, b) => Ltl::strong_release(go(a), go(b)),
        Op::Previously(a) => Ltl::previously(go(a)),
        Op::Since(a, b) => Ltl::since(go(a), go(b)),
        Op::Eventually(a) => Ltl::eventually(go(a)),
        Op::Always(a) => Ltl::always(go(a)),
    }
}

#[test]
fn no_text_makes_it_panic() {
    let pieces = [
        "(",
        ")",
        "[]",
        "<>",
        "[",
        "]",
        "<",
        ">",
        "-",
        "->",
        "<->",
        "!",
        "~",
        "&",
        "&&",
        "|",
        "U",
        "X",
        "GF",
        "p",
        "P[1]",
        "a.b",
        ".",
        "@",
        "\"",
        "\\",
        "\\\"",
        "\n",
        " ",
        "é",
        "□",
        "\u{0}",
        "until",
        "tru",
        "3",
        "=",
        "'",
        "\u{1F600}",
    ];
    let mut random = Random::new(6);
    for _ in 0..50_000 {
        let n_pieces = random.below(14);
        let text: String = (0..n_pieces)
            .map(|_| pieces[random.below(pieces.len())])
            .collect();
        let n_bytes = random.below(30);
        let bytes: Vec<u8> = (0..n_bytes).map(|_| random.below(256) as u8).collect();
        for text in [text, String::from_utf8_lossy(&bytes).into_owned()] {
            let (formula, _, diagnostics) = parse(&source(&text), SourceId(0));
            let wrong = diagnostics.iter().any(|d| d.severity == Severity::Error);
            assert_eq!(formula.is_none(), wrong, "{text:?}");
            for label in diagnostics.iter().flat_map(|diagnostic| &diagnostic.labels) {
                let range = label.span.start as usize..label.span.end as usize;
                assert!(text.get(range).is_some(), "{text:?}");
            }
        }
    }
}

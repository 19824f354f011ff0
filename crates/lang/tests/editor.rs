//! What editors are told about texts, and the canonical layout.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use source::{Analysis, Options, Piece, PieceKind, scan};
use testkit::text::random_program;
use testkit::{Random, cases};

/// All native texts below `examples`.
fn examples() -> Vec<(PathBuf, String)> {
    fn visit(folder: &Path, found: &mut Vec<(PathBuf, String)>) {
        for entry in std::fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                visit(&path, found);
            } else if path.extension().is_some_and(|e| e == "fair") {
                let text = std::fs::read_to_string(&path).expect("a text");
                found.push((path, text));
            }
        }
    }
    let mut found = Vec::new();
    visit(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples"),
        &mut found,
    );
    found.sort();
    assert!(found.len() > 40);
    found
}

fn analyse(text: &str) -> Analysis {
    let source = base::Source {
        name: "m.fair".to_owned(),
        text: text.to_owned(),
    };
    lang::analyse(source, &Options::default())
}

/// Everything that loading finds, without positions.
fn meaning(text: &str) -> String {
    let source = base::Source {
        name: "m.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load(source, &Options::default());
    let codes: Vec<&str> = loaded.diagnostics.iter().map(|d| d.code).collect();
    let shown = match &loaded.content {
        Some(source::Content::Systems(systems)) => format!("{:?}", systems[0].model.parts()),
        Some(source::Content::Family(family)) => format!("{:?}", family.template),
        Some(source::Content::Threshold(_)) | None => String::new(),
    };
    let questions: Vec<_> = loaded
        .questions
        .iter()
        .map(|q| format!("{:?}", q.property.property))
        .collect();
    without_positions(&format!("{codes:?} {shown} {questions:?}"))
}

fn without_positions(shown: &str) -> String {
    let mut parts = shown.split("Span {");
    let mut kept = parts.next().unwrap_or("").to_owned();
    for part in parts {
        kept.push_str(part.split_once('}').map_or("", |(_, rest)| rest));
    }
    kept
}

fn check_layout(text: &str) {
    let formatted = lang::format(text).unwrap_or_else(|| panic!("not formatted:\n{text}"));
    let again = lang::format(&formatted);
    assert_eq!(
        again.as_deref(),
        Some(formatted.as_str()),
        "not a fixed point:\n{text}"
    );
    assert_eq!(
        meaning(text),
        meaning(&formatted),
        "{text}\n--- becomes\n{formatted}"
    );

    let comments = |text: &str| -> Vec<String> {
        let pieces = scan(text)
            .into_iter()
            .filter(|p| p.kind == PieceKind::Comment);
        pieces.map(|p| p.text(text).trim_end().to_owned()).collect()
    };
    assert_eq!(comments(text), comments(&formatted));
}

#[test]
fn random_texts_mean_the_same_in_canonical_layout() {
    let mut random = Random::new(25);
    for _ in 0..cases(300) {
        let program = random_program(&mut random);
        let text = program.text(&mut random);
        check_layout(&spoil_layout(&text, &mut random));
    }
}

/// The same tokens with other white space and comments.
fn spoil_layout(text: &str, random: &mut Random) -> String {
    let mut spoilt = String::new();
    for line in text.lines() {
        let indent = random.below(9);
        spoilt.extend(std::iter::repeat_n(' ', indent));
        spoilt.push_str(line.trim());
        match random.below(8) {
            0 => spoilt.push_str("   // beside"),
            1 => spoilt.push_str(" /* beside */   \n\n"),
            2 => spoilt.push_str("\n  // above"),
            _ => {}
        }
        spoilt.push('\n');
    }
    spoilt
}

#[test]
fn all_examples_are_in_canonical_layout() {
    for (path, text) in examples() {
        check_layout(&text);
        let formatted = lang::format(&text).expect("a right text");
        assert!(formatted == text, "run `fair fmt {}`", path.display());
    }
}

#[test]
fn layout_is_canonical() {
    let spoilt = "const N=3\n\n\n\nvar x,y:0..N-1=0 // both\nprocess P( i in 0..2 ){\n// up\nup when x<2&& !( y==1 )\n||x==0 { x:=x+ 1;y := -1 }->here\n}";
    let canonical = "const N = 3\n\nvar x, y : 0..N-1 = 0 // both\nprocess P(i in 0..2) {\n    // up\n    up when x<2 && !(y == 1)\n        || x == 0 { x := x+1; y := -1 } -> here\n}\n";
    assert_eq!(lang::format(spoilt).as_deref(), Some(canonical));
}

/// A resolver that only looks at words: for each name that is declared once in the text, where.
fn declared_once<'t>(text: &'t str, pieces: &[Piece]) -> BTreeMap<&'t str, usize> {
    let words: Vec<(&str, usize)> = pieces
        .iter()
        .filter(|piece| piece.kind != PieceKind::Comment)
        .map(|piece| (piece.text(text), piece.start))
        .collect();
    let mut declared: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    let at = |n: usize| words.get(n).map_or("", |word| word.0);
    for n in 0..words.len() {
        let keyword = [
            "const", "param", "type", "enum", "record", "chan", "event", "process", "def",
        ];
        let mut first = n + 1;
        if keyword.contains(&at(n)) {
            declared.entry(at(first)).or_default().push(words[first].1);
        } else if ["var", "timer"].contains(&at(n)) {
            while !["", ":", "abstract"].contains(&at(first)) && !at(first + 1).is_empty() {
                declared.entry(at(first)).or_default().push(words[first].1);
                if at(first + 1) != "," {
                    break;
                }
                first += 2;
            }
        } else if ["in", "=", ":"].contains(&at(n + 1)) || at(n) == "let" || at(n + 1) == "," {
            // Perhaps bound here, so no longer declared once.
            let places = declared.entry(at(n)).or_default();
            if !places.contains(&words[n].1) {
                places.extend([words[n].1, usize::MAX]);
            }
        }
    }
    declared.retain(|_, places| places.len() == 1);
    declared
        .into_iter()
        .map(|(name, places)| (name, places[0]))
        .collect()
}

#[test]
fn names_mean_what_a_naive_resolver_says() {
    let mut n_compared = 0;
    // Texts that import others are not complete by themselves.
    let complete = |(_, text): &(PathBuf, String)| !text.contains("import \"");
    for (path, text) in examples().into_iter().filter(complete) {
        let analysis = analyse(&text);
        assert!(
            analysis
                .diagnostics
                .iter()
                .all(|d| d.severity != base::Severity::Error)
        );
        let pieces = scan(&text);
        let code: Vec<&Piece> = pieces
            .iter()
            .filter(|p| p.kind != PieceKind::Comment)
            .collect();
        let declared = declared_once(&text, &pieces);
        for (n, piece) in code.iter().enumerate() {
            let before = n.checked_sub(1).map_or("", |n| code[n].text(&text));
            // Locations, actions and questions have names of their own.
            let own = [
                "@",
                ">",
                ".",
                "from",
                "init",
                "property",
                "invariant",
                "reachable",
                "{",
                "}",
            ];
            let word = piece.text(&text);
            let Some(&place) = declared.get(word) else {
                continue;
            };
            if own.contains(&before) || piece.kind != PieceKind::Word {
                continue;
            }
            let found = analysis
                .reference_at(piece.start)
                .filter(|r| r.span == piece.span());
            let Some(found) = found else {
                // It may name an action or a question.
                let next = code.get(n + 1).map_or("", |p| p.text(&text));
                let names_step = ["when", "{", "(", "-", "sync"].contains(&next);
                assert!(
                    names_step,
                    "{}: `{word}` at {} is unknown",
                    path.display(),
                    piece.start
                );
                continue;
            };
            let symbol = &analysis.symbols[found.symbol];
            let has_own_name = matches!(
                symbol.kind,
                source::SymbolKind::Action
                    | source::SymbolKind::Location
                    | source::SymbolKind::Property
            );
            if !has_own_name {
                assert_eq!(
                    symbol.span.start as usize,
                    place,
                    "{}: `{word}` at {}",
                    path.display(),
                    piece.start
                );
                n_compared += 1;
            }
        }
    }
    assert!(n_compared > 1000, "only {n_compared} names were compared");
}

#[test]
fn scopes_are_those_of_the_translation() {
    let text = "
const i = 1
var x : array[0..3] of 0..3 = 0
def twice(i) = i + i
process P(i in 0..2) {
    var x : 0..3 = 0
    step(j in 0..2 where j != i) when x < twice(j) { let k = j; x := k }
}
property p: always (forall i in 0..2: P[i].x < 4 || x[i] == twice(i))
";
    let analysis = analyse(text);
    assert!(
        analysis.diagnostics.is_empty(),
        "{:?}",
        analysis.diagnostics
    );
    let definition = |at: &str, plus: usize| {
        let offset = text.find(at).unwrap() + plus;
        let reference = analysis.reference_at(offset).expect(at);
        analysis.symbols[reference.symbol].span.start as usize
    };
    let place = |at: &str, plus: usize| text.find(at).unwrap() + plus;

    assert_eq!(definition("i + i", 0), place("twice(i) = ", 6));
    assert_eq!(definition("!= i)", 3), place("P(i in", 2));
    assert_eq!(definition("j != i", 0), place("(j in", 1));
    assert_eq!(definition("x < twice", 0), place("    var x", 8));
    assert_eq!(definition("x := k", 5), place("let k", 4));
    assert_eq!(definition("P[i].x", 2), place("forall i", 7));
    assert_eq!(definition("P[i].x", 5), place("    var x", 8));
    assert_eq!(definition("x[i] ==", 0), place("var x : array", 4));
}

#[test]
fn damaged_texts_are_analysed_without_panic() {
    let mut random = Random::new(1);
    let examples = examples();
    for _ in 0..cases(100) {
        let (_, text) = &examples[random.below(examples.len())];
        let pieces = scan(text);
        let (from, to) = (random.below(pieces.len()), random.below(pieces.len()));
        let (from, to) = (
            from.min(to),
            (from.min(to) + random.below(6)).min(pieces.len() - 1),
        );
        let damaged = format!("{}{}", &text[..pieces[from].start], &text[pieces[to].end..]);
        let analysis = analyse(&damaged);
        for reference in &analysis.references {
            let written = &damaged[reference.span.start as usize..reference.span.end as usize];
            assert_eq!(written, analysis.symbols[reference.symbol].name);
        }
    }
}

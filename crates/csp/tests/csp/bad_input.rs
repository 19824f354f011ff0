//! Wrong texts: each gets a message with a place.

use base::Severity;

use crate::support::load_with;

/// The first error: its code, and the text that it points at.
fn first_error(text: &str) -> (&'static str, String) {
    let loaded = load_with(text, 0);
    assert!(loaded.content.is_none(), "{text}");
    let mut errors = loaded
        .diagnostics
        .iter()
        .filter(|d| d.severity == Severity::Error);
    let error = errors
        .next()
        .unwrap_or_else(|| panic!("no error in {text}"));
    let span = error.labels[0].span;
    let shown = &loaded.sources[span.source.index()].text[span.start as usize..span.end as usize];
    (error.code, shown.to_owned())
}

#[test]
fn wrong_texts_get_a_located_message() {
    let cases = [
        ("P = Q; #assert P deadlockfree;", "unknown-process", "Q"),
        (
            "P = a -> Pp; Pq = Stop; #assert P deadlockfree;",
            "unknown-process",
            "Pp",
        ),
        (
            "P(i) = Stop; Q = P(1, 2); #assert Q deadlockfree;",
            "wrong-arity",
            "P",
        ),
        ("P(i) = Stop; #assert P deadlockfree;", "wrong-arity", "P"),
        ("P = Stop; #assert Q deadlockfree;", "unknown-process", "Q"),
        (
            "var x = 0; P = [xor i:{0..20000} @ (x == i)] a -> Stop; #assert P deadlockfree;",
            "bad-size",
            "20000",
        ),
        (
            "P = P [] a -> Stop; #assert P deadlockfree;",
            "unguarded-recursion",
            "P",
        ),
        (
            "P = Q; Q = P; #assert P deadlockfree;",
            "unguarded-recursion",
            "Q",
        ),
        (
            "P = P ||| P; #assert P deadlockfree;",
            "unguarded-recursion",
            "P",
        ),
        (
            "P(i) = P(i + 1); #assert P(0) deadlockfree;",
            "unguarded-recursion",
            "P",
        ),
        (
            "var x = 0; P = [x] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x",
        ),
        (
            "var x = true; P = [x + 1 > 1] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x",
        ),
        (
            "var x = 0; P = [x == true] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x == true",
        ),
        (
            "var x = 0; P = [x && true] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x",
        ),
        (
            "var x[3]; P = [x == 0] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x",
        ),
        (
            "var x = 0; P = [x[1] == 0] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x[1]",
        ),
        (
            "channel c 0; P = [c == 0] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "c",
        ),
        (
            "P = [P == 0] a -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "P",
        ),
        (
            "var x = 0; P = x -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "x",
        ),
        (
            "P = d!1 -> Stop; #assert P deadlockfree;",
            "unknown-channel",
            "d",
        ),
        (
            "channel c[2] 0; P = c[2]!1 -> Stop; #assert P deadlockfree;",
            "index-out-of-range",
            "2",
        ),
        (
            "channel c[2] 0; P = c!1 -> Stop; #assert P deadlockfree;",
            "type-mismatch",
            "c",
        ),
        (
            "P = [y == 0] a -> Stop; #assert P deadlockfree;",
            "unknown-name",
            "y",
        ),
        (
            "P(i) = a{i = 1;} -> Stop; #assert P(0) deadlockfree;",
            "assignment",
            "i",
        ),
        (
            "#define N 3; P = a{N = 1;} -> Stop; #assert P deadlockfree;",
            "assignment",
            "N",
        ),
        (
            "#define m m + 1; P = [m > 0] a -> Stop; #assert P deadlockfree;",
            "recursive-macro",
            "m",
        ),
        (
            "var x = y; P = Stop; #assert P deadlockfree;",
            "not-constant",
            "y",
        ),
        (
            "var x; var x; P = Stop; #assert P deadlockfree;",
            "duplicate",
            "x",
        ),
        (
            "var x:{3..1}; P = Stop; #assert P deadlockfree;",
            "empty-range",
            "x",
        ),
        (
            "var x = *; P = Stop; #assert P deadlockfree;",
            "any-without-range",
            "*",
        ),
        (
            "#import \"Lib\"; P = Stop; #assert P deadlockfree;",
            "unsupported",
            "\"Lib\"",
        ),
        (
            "var<Set> s; P = Stop; #assert P deadlockfree;",
            "unknown-class",
            "Set",
        ),
        (
            "P = a{x.Add(1);} -> Stop; #assert P deadlockfree;",
            "unknown-name",
            "x",
        ),
        (
            "#include \"missing.csp\"; P = Stop; #assert P deadlockfree;",
            "include",
            "\"missing.csp\"",
        ),
        ("P = a -> ; #assert P deadlockfree;", "syntax", ";"),
        ("P = a -> Stop #assert P deadlockfree;", "syntax", "#"),
        ("P = Stop; #assert P likes Q;", "unknown-claim", "likes"),
        ("P = Stop; #assert P |= [];", "syntax", ";"),
        (
            "P = aaa -> Stop; #assert P |= <> aab;",
            "unknown-event",
            "aab",
        ),
        ("P = a ? -> Stop;", "syntax", "->"),
        ("P = \u{1F600} -> Stop;", "bad-character", "\u{1F600}"),
        ("", "no-process", ""),
    ];
    for (text, code, place) in cases {
        assert_eq!(first_error(text), (code, place.to_owned()), "{text}");
    }
}

#[test]
fn one_wrong_declaration_does_not_hide_the_next() {
    let text = "P = a -> ; var = 3; Q = b -> Nowhere; R(x = Stop; S = c -> Stop;";
    let loaded = load_with(text, 0);
    let syntax = loaded.diagnostics.iter().filter(|d| d.code == "syntax");
    assert!(syntax.count() >= 3, "{:?}", loaded.diagnostics);
}

#[test]
fn similar_names_are_suggested() {
    let loaded = load_with("Sender = a -> Sendr; #assert Sender deadlockfree;", 0);
    assert!(
        loaded.diagnostics[0].help[0].contains("`Sender`"),
        "{:?}",
        loaded.diagnostics
    );
}

#[test]
fn defined_values_can_be_replaced() {
    let load = |defines: &[(&str, &str)]| {
        let source = base::Source {
            name: "test.csp".to_owned(),
            text: "#define N 2; P = ||| i:{1..N} @ a.i -> Stop; #assert P deadlockfree;".to_owned(),
        };
        let pair = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let options = source::Options {
            defines: defines.iter().map(pair).collect(),
            ..source::Options::default()
        };
        csp::load(source, &source::Memory::default(), &options)
    };
    assert_eq!(load(&[("N", "5")]).systems()[0].model.instances().len(), 5);
    assert_eq!(load(&[("M", "5")]).diagnostics[0].code, "unknown-name");
    assert_eq!(load(&[("N", "many")]).diagnostics[0].code, "bad-define");
}

#[test]
fn included_files_belong_to_the_model() {
    let source = base::Source {
        name: "main.csp".to_owned(),
        text: "#include \"part.csp\"; #assert P deadlockfree;".to_owned(),
    };
    let files = source::Memory::new([("part.csp", "P = a -> P;")]);
    let loaded = csp::load(source, &files, &source::Options::default());
    assert!(loaded.diagnostics.is_empty(), "{:?}", loaded.diagnostics);
    assert_eq!(loaded.sources[1].name, "part.csp");
}

//! Wrong Promela gets messages that say what to do; no text makes the front end panic.

use base::{Diagnostic, Severity, Source};
use source::{Memory, Options, Single};

fn load(text: &str) -> Single {
    let source = Source {
        name: "m.pml".to_owned(),
        text: text.to_owned(),
    };
    promela::load(source, &Memory::default(), &Options::default()).single()
}

/// The diagnostics, one a line: code, position, message, advice.
fn said(text: &str) -> String {
    let loaded = load(text);
    let lines: Vec<String> = loaded
        .diagnostics
        .iter()
        .map(|diagnostic| {
            let span = diagnostic.labels[0].span;
            let source = &loaded.sources[span.source.index()];
            let (line, column) = source.line_column(span.start as usize);
            let help = diagnostic.help.iter().map(|help| format!(" ({help})"));
            let help: String = help.collect();
            let Diagnostic { code, message, .. } = diagnostic;
            format!("{code} {line}:{column}: {message}{help}")
        })
        .collect();
    lines.join("\n")
}

#[track_caller]
fn check(text: &str, expected: &str) {
    assert_eq!(said(text), expected, "for {text}");
}

#[test]
fn missing_semicolon() {
    check(
        "byte x; active proctype P() { x = 1 x = 2 }",
        "missing-semicolon 1:36: `;` is missing before `x` \
         (separate statements with `;` (or `->` after a guard))",
    );
    check("byte x;\nactive proctype P() {\n x = 1\n x = 2\n}", "");
    check(
        "byte x; active proctype P() { if :: true -> x = 1 fi; { x = 2 } x = 3 }",
        "",
    );
}

#[test]
fn assignment_as_guard() {
    check(
        "byte x; active proctype P() { do :: x = 1 -> x = 0 :: x == 0 -> break od }",
        "assignment-as-guard 1:37: an assignment is always executable, so it is not a guard \
         (write `==` to compare, or `;` after an assignment)",
    );
    check(
        "byte x; active proctype P() { (x = 1) -> skip }",
        "syntax 1:34: `=` assigns and cannot stand inside an expression (write `==` to compare)",
    );
}

#[test]
fn undeclared_channel() {
    check(
        "chan queue = [1] of { byte }; active proctype P() { quue!1 }",
        "unknown-name 1:53: the channel `quue` is not declared (did you mean `queue`?)",
    );
    check(
        "active proctype P() { q!1 }",
        "unknown-name 1:23: the channel `q` is not declared \
         (declare it: `chan q = [1] of { byte }`)",
    );
    check(
        "byte q; active proctype P() { q!1 }",
        "wrong-type 1:31: `q` is a byte, not a channel",
    );
}

#[test]
fn run_in_d_step() {
    check(
        "proctype Q() { skip } init { d_step { run Q() } }",
        "run-in-d_step 1:39: `run` cannot stand in a `d_step` \
         (use `atomic`, which may start processes)",
    );
}

#[test]
fn rendezvous_in_d_step() {
    check(
        "chan c = [0] of { bit }; active proctype P() { d_step { c!1 } } \
         active proctype Q() { c?1 }",
        "rendezvous-in-d_step 1:48: a rendezvous cannot happen inside a `d_step` \
         (use `atomic`, or receive in the first statement)",
    );
}

#[test]
fn atomic_that_blocks() {
    check(
        "byte x; active proctype P() { atomic { x = 1; (x == 2); x = 3 } }",
        "atomic-may-block 1:47: if this has to wait, the `atomic` ends here and others may move \
         (put what may wait first, so that the rest is executed as one)",
    );
}

#[test]
fn embedded_c_is_refused_where_it_stands() {
    check(
        "byte x;\nactive proctype P() {\n  x = 1;\n  c_code { x++; }\n}",
        "not-supported 4:3: embedded C code is not supported (write this part in Promela)",
    );
    check(
        "c_decl { int y; }\nactive proctype P() { skip }",
        "not-supported 1:1: embedded C code is not supported \
         (Fairground checks models, not C: write this part in Promela)",
    );
}

#[test]
fn truncated_values() {
    check(
        "byte x = 300; active proctype P() { x = -1 }",
        "truncated 1:10: 300 does not fit into a `byte`; 44 is stored\n\
         truncated 1:41: -1 does not fit into a `byte`; 255 is stored",
    );
}

#[test]
fn hidden_variables_that_are_remembered() {
    check(
        "hidden byte x; byte y; active proctype P() { d_step { x = y; y = x + 1 } }",
        "",
    );
    check(
        "hidden byte x; byte y; active proctype P() { x = y; y = x + 1 }",
        "hidden 1:13: this variable carries values from one step to another, so it is part of the \
         state although it is `hidden` \
         (write it before it is read in the same `d_step`, or drop `hidden`)",
    );
    check(
        "hidden byte x; byte y; active proctype P() { d_step { y = x; x = 1 } }",
        "hidden 1:13: this variable carries values from one step to another, so it is part of the \
         state although it is `hidden` \
         (write it before it is read in the same `d_step`, or drop `hidden`)",
    );
}

#[test]
fn traces_and_priorities() {
    check(
        "chan q = [1] of { byte }; trace { q!1; skip } active proctype P() { q!1 }",
        "trace 1:40: a trace lists sends and receives, nothing else \
         (between them there may be `if`, `do`, `goto`, `break` and labels)",
    );
    check(
        "chan q = [1] of { byte }; trace { q!1 } notrace { q!2 } active proctype P() { q!1 }",
        "trace 1:41: a model has one `trace` or `notrace` at most",
    );
    check(
        "active proctype P() priority 300 { skip }",
        "wrong-type 1:30: a priority is a constant from 1 to 255",
    );
}

#[test]
fn wrong_programs() {
    check(
        "active proctype P() { goto here }",
        "unknown-name 1:23: there is no label `here` in this process",
    );
    check(
        "active proctype P() { break }",
        "syntax 1:23: `break` outside of a loop \
         (`break` leaves the `do` around it; `if` is left by itself)",
    );
    check(
        "active proctype P() { if x == 1 -> skip fi }",
        "syntax 1:26: expected `::` before the first option, found `x` \
         (Promela writes `if :: condition -> … :: else -> … fi`)",
    );
    check(
        "init { run Q() }",
        "unknown-name 1:8: there is no process type `Q`",
    );
    check(
        "proctype P() { skip }",
        "no-process 1:10: no process is started \
         (write `active proctype …`, or an `init` that runs the others)",
    );
    check(
        "byte a[3]; active proctype P() { a[3] = 1; a = 2 }",
        "index 1:36: `a` has no element 3 (its elements are 0 to 2)\n\
         wrong-type 1:44: `a` is an array and needs an index",
    );
    check(
        "byte x; active proctype P() { skip } ltl p { [] x == 1 }",
        "temporal 1:46: a temporal operator inside an arithmetic expression or comparison \
         (`[]` and `<>` bind more strongly than `==`: write `[] (x == 1)`)",
    );
    check(
        "proctype P(byte x) { skip } init { run P() }",
        "wrong-arguments 1:36: `P` takes 1 arguments, but 0 are given",
    );
    check(
        "chan q = [1] of { byte, byte }; active proctype P() { q!1 }",
        "wrong-arguments 1:55: messages of `q` have 2 components, but 1 are given \
         (as in Spin, this is a run-time error when it is executed)",
    );
    check(
        "#include \"no.h\"\nactive proctype P() { skip }",
        "preprocessor 1:2: `no.h` cannot be included: there is no file `no.h`",
    );
    check(
        "inline f(x) { f(x) } active proctype P() { f(1) }",
        "recursive-inline 1:15: the inline `f` calls itself",
    );
    check(
        "",
        "no-process 1:1: the model has no process: neither `init` nor an `active proctype`",
    );
}

/// A linear congruential generator: reproducible and without dependencies.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        let next = self.0.wrapping_mul(6_364_136_223_846_793_005);
        self.0 = next.wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) as usize % n
    }
}

const WORDS: [&str; 88] = [
    "active", "proctype", "P", "Q", "(", ")", "{", "}", "[", "]", ";", "->", "::", ":", ",", ".",
    "..", "=", "==", "!=", "<", ">", "<=", "!", "!!", "?", "??", "+", "-", "*", "/", "%", "&",
    "&&", "|", "||", "~", "@", "++", "--", "<<", ">>", "if", "fi", "do", "od", "atomic", "d_step",
    "unless", "else", "goto", "break", "L", "skip", "true", "timeout", "run", "len", "full",
    "byte", "bool", "chan", "of", "mtype", "typedef", "T", "x", "y", "q", "0", "1", "300",
    "assert", "printf", "\"s\"", "never", "ltl", "<>", "[]", "U", "init", "inline", "for",
    "select", "_pid", "eval", "_", "#define",
];

#[test]
fn no_token_soup_makes_it_panic() {
    let mut random = Random(7);
    for _ in 0..3000 {
        let mut text = String::from("byte x, y; chan q = [1] of { byte }; ");
        for _ in 0..random.below(40) {
            text.push_str(WORDS[random.below(WORDS.len())]);
            text.push_str(if random.below(6) == 0 { "\n" } else { " " });
        }
        let loaded = load(&text);
        let failed = loaded
            .diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error);
        assert_eq!(loaded.model.is_none(), failed, "for {text}");
    }
}

#[test]
fn no_mutation_of_a_model_makes_it_panic() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../../testdata/promela");
    let mut random = Random(11);
    let entries = std::fs::read_dir(folder).expect("the models are there");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();

    for path in paths {
        let text = std::fs::read_to_string(&path).expect("readable");
        let words: Vec<&str> = text.split_inclusive([' ', '\n']).collect();
        for _ in 0..40 {
            let mut words = words.clone();
            for _ in 0..=random.below(3) {
                let at = random.below(words.len());
                match random.below(3) {
                    0 => words[at] = WORDS[random.below(WORDS.len())],
                    1 => words[at] = words[random.below(words.len())],
                    _ => words.truncate(at.max(1)),
                }
            }
            let loaded = load(&words.concat());
            let failed = loaded
                .diagnostics
                .iter()
                .any(|d| d.severity == Severity::Error);
            assert_eq!(loaded.model.is_none(), failed);
        }
    }
}

#[test]
fn deep_nesting_is_refused() {
    for (open, close) in [("(", ")"), ("{ ", " }"), ("if :: ", " fi"), ("!", "")] {
        let body = format!("{}1{}", open.repeat(5000), close.repeat(5000));
        let loaded = load(&format!("active proctype P() {{ {body} }}"));
        assert!(loaded.model.is_none());
        assert!(loaded.diagnostics.iter().any(|d| d.code == "too-deep"));
    }
}

/// What a model with included files is read as: its diagnostics, by code.
fn codes_with(files: &[(&str, &str)]) -> Vec<&'static str> {
    let source = Source {
        name: files[0].0.to_owned(),
        text: files[0].1.to_owned(),
    };
    let memory = Memory::new(files.iter().copied());
    let loaded = promela::load(source, &memory, &Options::default());
    loaded.diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn included_files_lie_beside_those_that_include_them() {
    let model = ("m/main.pml", "#include \"parts/a.h\"\ninit { x = 1 }");
    let a = ("m/parts/a.h", "#include \"b.h\"");
    let none: [&str; 0] = [];
    assert_eq!(codes_with(&[model, a, ("m/parts/b.h", "byte x;")]), none);
    assert_ne!(codes_with(&[model, a, ("m/b.h", "byte x;")]), none);
}

#[test]
fn texts_that_grow_without_end_are_refused() {
    let twice = "#include \"m.pml\"\n#include \"m.pml\"\ninit { skip }";
    assert_eq!(codes_with(&[("m.pml", twice)]), ["include"]);
    let leaf = ("leaf.h", "");
    let includes = "#include \"leaf.h\"\n".repeat(6000);
    assert_eq!(codes_with(&[("m.pml", &includes), leaf])[0], "include");

    let doubling = |first: &str, next: fn(usize) -> String, last: &str| {
        let lines = (1..40).map(next).collect::<String>();
        codes_with(&[("m.pml", &format!("byte x;\n{first}\n{lines}{last}"))])
    };
    let define = |n: usize| format!("#define M{n} M{m} M{m}\n", m = n - 1);
    assert_eq!(
        doubling("#define M0 x = 1;", define, "init { M39 }"),
        ["too-large"]
    );
    assert_eq!(
        doubling("#define M0", define, "init { M39 skip }"),
        ["too-large"]
    );
    let inline = |n: usize| format!("inline f{n}() {{ f{m}(); f{m}() }}\n", m = n - 1);
    let first = "inline f0() { x = 1 }";
    assert_eq!(doubling(first, inline, "init { f39() }"), ["too-large"]);
}

#[test]
fn what_a_condition_leaves_out_need_not_be_tokens() {
    check("#if 0\nit's\n\"open\n#endif\ninit { skip }", "");
    check("#if 0\n'\n#else\ninit { skip }\n#endif", "");
    let said = said("#if 1\nit's\n#endif\ninit { skip }");
    assert!(said.starts_with("syntax 2:3"), "{said}");
}

#[test]
fn too_few_components_are_a_warning_and_too_many_are_not() {
    let channel = "chan c = [1] of { byte, byte };\nbyte x, y, z;\n";
    let few = said(&format!("{channel}init {{ c!1; c?x }}"));
    assert_eq!(few.matches("wrong-arguments").count(), 2, "{few}");
    assert!(
        load(&format!("{channel}init {{ c!1; c?x }}"))
            .model
            .is_some()
    );
    assert!(
        load(&format!("{channel}init {{ c?x,y,z }}"))
            .model
            .is_some()
    );
    assert!(
        load(&format!("{channel}init {{ c!1,2,3 }}"))
            .model
            .is_none()
    );
}

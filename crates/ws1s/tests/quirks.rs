//! MONA's ways that are easy to get wrong, bad input, and limits.

use base::{Budget, Source, StopReason};
use ws1s::{Options, Report, Unknown, Value, Verdict};

fn run_with(text: &str, budget: &Budget) -> Report {
    let source = Source {
        name: "test.mona".into(),
        text: text.to_owned(),
    };
    let mut no_files = |path: &str| Err(format!("no file {path}"));
    ws1s::run(source, &mut no_files, &Options::default(), budget)
}

fn run(text: &str) -> Report {
    let report = run_with(text, &Budget::unlimited());
    assert!(!report.has_errors(), "{text}: {:?}", report.diagnostics);
    report
}

/// The verdict with the lengths of the example and of the counterexample.
fn verdict(text: &str) -> (Verdict, Option<usize>, Option<usize>) {
    let report = run(text);
    let answer = &report.answers[0];
    let length = |word: &Option<ws1s::Word>| word.as_ref().map(|word| word.letters.len());
    (
        answer.verdict,
        length(&answer.example),
        length(&answer.counterexample),
    )
}

/// Line, column and code of every error.
fn errors(text: &str) -> Vec<(usize, usize, &'static str)> {
    let report = run_with(text, &Budget::unlimited());
    let position = |diagnostic: &base::Diagnostic| {
        let span = diagnostic.labels[0].span;
        let source = &report.sources[span.source.index()];
        let (line, column) = source.line_column(span.start as usize);
        (line, column, diagnostic.code)
    };
    report.diagnostics.iter().map(position).collect()
}

const VALID: Verdict = Verdict::Valid;
const UNSATISFIABLE: Verdict = Verdict::Unsatisfiable;
const SATISFIABLE: Verdict = Verdict::Satisfiable;

#[test]
fn subtraction_stops_at_zero() {
    assert_eq!(verdict("0 = 0; ex1 x: x = 0 & x - 1 = 0;").0, VALID);
    assert_eq!(verdict("all1 x: (x - 2) + 1 = x - 1;").0, UNSATISFIABLE);
    assert_eq!(verdict("all1 x: x > 1 => (x - 2) + 1 = x - 1;").0, VALID);
    assert_eq!(verdict("{0,3} - 1 = {0,2};").0, VALID);
}

#[test]
fn extrema_of_the_empty_set_are_zero() {
    assert_eq!(verdict("max empty = 0 & min empty = 0;").0, VALID);
    assert_eq!(
        verdict("var2 X; max X = 0;"),
        (SATISFIABLE, Some(0), Some(2))
    );
}

#[test]
fn strings_with_positions_are_not_empty() {
    // A formula with a first-order quantifier has no value on the empty string.
    assert_eq!(verdict("m2l-str; ex1 p: p = p;"), (VALID, Some(1), None));
    assert_eq!(verdict("m2l-str; true;"), (VALID, Some(0), None));
}

#[test]
fn terms_may_leave_the_string_but_variables_may_not() {
    assert_eq!(
        verdict("m2l-str; all1 x: x < x + 1;"),
        (VALID, Some(1), None)
    );
    let successor = verdict("m2l-str; var1 x; ex1 y: y = x + 1;");
    assert_eq!(successor, (SATISFIABLE, Some(2), Some(1)));
    let outside = verdict("m2l-str; var1 x; ex1 y where true: y = x + 1;");
    assert_eq!(outside, (VALID, Some(1), None));
}

#[test]
fn witnesses_may_lie_beyond_the_given_sets() {
    // Without the right quotient the empty word would refute this.
    assert_eq!(verdict("var2 X; ex1 x: x notin X & x > 3;").0, VALID);
    assert_eq!(verdict("all2 X: ex1 x: all1 y: y in X => y < x;").0, VALID);
}

#[test]
fn a_first_order_variable_is_the_least_element_of_its_track() {
    let report = run("var1 x; x = 2;");
    let example = report.answers[0].example.as_ref().unwrap();
    let (var, _) = report.variables[0];
    assert_eq!(example.value(0, var), Value::Position(Some(2)));
    assert_eq!(example.letters.len(), 3);
}

#[test]
fn booleans_have_a_letter_of_their_own() {
    let report = run("var0 a; var1 x; a & x = 0;");
    let example = report.answers[0].example.as_ref().unwrap();
    assert_eq!(example.booleans, [Some(true), None]);
    assert_eq!(example.letters, [[None, Some(true)]]);
}

#[test]
fn restrictions_count_only_where_their_variable_occurs() {
    assert_eq!(verdict("ex1 x where false: true;").0, VALID);
    // No value is allowed, so there is neither an example nor a counterexample.
    assert_eq!(
        verdict("ex1 x where x < 0: x = x;"),
        (UNSATISFIABLE, None, None)
    );
    assert_eq!(
        verdict("~(ex1 x where false: x = x);"),
        (UNSATISFIABLE, None, None)
    );
    assert_eq!(
        verdict("var1 y; ex1 x where x < y: x = x;"),
        (VALID, Some(2), None)
    );
}

#[test]
fn restrictions_of_parameters_hold_inside_the_predicate() {
    let text = "pred p(var1 x where x > 3) = x > 2; p(2);";
    assert_eq!(verdict(text), (UNSATISFIABLE, None, Some(0)));
    let text = "pred p(var1 x where x > 3) = x > 2; var1 y; p(y);";
    assert_eq!(verdict(text), (VALID, Some(5), None));
}

#[test]
fn let_binds_what_it_says() {
    // MONA 1.4-18 forgets the body of `let0` and calls this valid; here it is what it says.
    assert_eq!(verdict("let0 a = true in a & ~a;").0, UNSATISFIABLE);
    assert_eq!(verdict("let1 x = 3, y = 4 in x < y;").0, VALID);
    assert_eq!(verdict("let2 X = {1} in 1 in X;").0, VALID);
}

#[test]
fn assertions_limit_what_counts() {
    assert_eq!(
        verdict("var1 x; assert x > 3; x > 2;"),
        (VALID, Some(5), None)
    );
}

#[test]
fn every_verify_has_its_answer() {
    let report = run("verify \"foo\" true; var1 x; verify x = 0; x = 1;");
    let found: Vec<_> = report
        .answers
        .iter()
        .map(|a| (a.title.as_deref(), a.verdict))
        .collect();
    let expected = [
        (None, SATISFIABLE),
        (Some("foo"), VALID),
        (Some("<untitled>"), SATISFIABLE),
    ];
    assert_eq!(found, expected);
    let text = ws1s::print_answers(&report);
    assert!(text.starts_with("Main formula:\nA counter-example of least length (1) is:\nx "));
}

#[test]
fn errors_are_located() {
    assert_eq!(errors("true;\na;"), [(2, 1, "unknown-name")]);
    assert_eq!(errors("var1 x; x in 3;"), [(1, 9, "type")]);
    assert_eq!(
        errors("var2 X; X = ;\nvar1 y, ;"),
        [(1, 13, "syntax"), (2, 9, "syntax")]
    );
    assert_eq!(
        errors("pred p(var1 x) = x = 0; p(1, 2);"),
        [(1, 25, "arguments")]
    );
    assert_eq!(
        errors("pred p(var1 x) = q(x); pred q(var1 x) = p(x); true;"),
        [(1, 18, "unknown-name")]
    );
    assert_eq!(errors("var1 x; x = 0 - 1;"), [(1, 9, "number")]);
    assert_eq!(errors("var2 X; X = {1,};"), [(1, 16, "syntax")]);
    assert_eq!(errors("var2 X; X + 100000 = X;"), [(1, 9, "number")]);
    assert_eq!(errors("var1 x; var2 x; true;"), [(1, 14, "duplicate")]);
    assert_eq!(errors("include \"other.mona\"; true;"), [(1, 9, "include")]);
    assert_eq!(errors("var1 x; x + x = 2;"), [(1, 13, "type")]);
    assert_eq!(
        errors("true & /* no end"),
        [(1, 8, "syntax"), (1, 17, "syntax")]
    );
}

#[test]
fn trees_are_not_supported() {
    for text in [
        "ws2s; true;",
        "m2l-tree; true;",
        "guide a->(a,a); true;",
        "universe u; true;",
    ] {
        assert_eq!(errors(text), [(1, 1, "not-supported")], "{text}");
    }
    assert_eq!(errors("var2 [u] X; true;")[0], (1, 6, "not-supported"));
}

#[test]
fn deep_nesting_is_an_error_and_long_chains_are_not() {
    let n = 100_000;
    let nested = format!("{}true{};", "(".repeat(n), ")".repeat(n));
    assert_eq!(errors(&nested), [(1, ws1s::MAX_DEPTH + 1, "nesting")]);
    let negated = format!("{}true;", "~".repeat(n));
    assert_eq!(errors(&negated), [(1, ws1s::MAX_DEPTH + 1, "nesting")]);
    let quantified = format!("{}true;", "ex1 x: ".repeat(n));
    assert_eq!(errors(&quantified)[0].2, "nesting");
    let sum = format!("var1 x; x = 0{};", " + 1".repeat(n));
    assert_eq!(errors(&sum).len(), 1);
    for operator in ["&", "|", "=>", "<=>"] {
        let chain = format!("var1 x; x < 3{};", format!(" {operator} x < 3").repeat(n));
        assert!(run(&chain).answers[0].example.is_some());
    }
    let deepest = ws1s::MAX_DEPTH - 2;
    let nested = format!("{}true{};", "(".repeat(deepest), ")".repeat(deepest));
    assert_eq!(verdict(&nested).0, VALID);
    let negated = format!("{}true;", "~".repeat(deepest & !1));
    assert_eq!(verdict(&negated).0, VALID);
}

#[test]
fn deep_calls_are_an_error() {
    let mut text = String::from("pred p0(var1 x) = x = 0;\n");
    for i in 1..2000 {
        text += &format!("pred p{i}(var1 x) = ~(p{}(x));\n", i - 1);
    }
    // Each predicate is translated when it is declared, so no call is deep.
    assert!(
        run(&format!("{text} ex1 x: p1999(x);")).answers[0]
            .example
            .is_some()
    );
    // Boolean arguments that are formulas are put in place of the parameter: these calls are deep.
    let mut text = String::from("var1 x; pred p0(var0 a) = a;\n");
    for i in 1..400 {
        text += &format!("pred p{i}(var0 a) = ~p{}(a & x < 1);\n", i - 1);
    }
    let found = errors(&format!("{text} p399(x = 0);"));
    assert_eq!(found[0].2, "nesting");
}

/// A formula whose automaton has more than 2^18 states.
const LARGE: &str = "m2l-str; var2 A; ~(ex1 x: x in A & ex1 l: (all1 y: y <= l) & l = x + 18);
    verify ~(ex1 x: x in A & ex1 l: (all1 y: y <= l) & l = x + 18) | ex1 x: x in A;";

#[test]
fn limits_end_in_unknown() {
    let budget = Budget::unlimited().with_max_memory(1 << 20);
    let report = run_with(LARGE, &budget);
    let expected = Verdict::Unknown(Unknown::Stopped(StopReason::MemoryLimit));
    assert!(
        report
            .answers
            .iter()
            .any(|answer| answer.verdict == expected)
    );
    let budget = Budget::unlimited();
    budget.stopper().interrupt();
    let report = run_with("var2 X; ex1 x: x in X & x > 3;", &budget);
    let expected = Verdict::Unknown(Unknown::Stopped(StopReason::Interrupted));
    assert_eq!(report.answers[0].verdict, expected);
}

#[test]
fn long_chains_of_quantifiers_take_no_time() {
    let n = 600;
    let names: Vec<String> = (0..n).map(|i| format!("x{i}")).collect();
    let parts: Vec<String> = (1..n).map(|i| format!("x{} <= x{i}", i - 1)).collect();
    let text = format!("ex1 {}: {};", names.join(","), parts.join(" & "));
    let report = run(&text);
    assert_eq!(report.answers[0].verdict, VALID);
    assert!(report.statistics.largest_states < 10);
}

#[test]
fn independent_quantifiers_are_pushed_in() {
    let n = 40;
    let names: Vec<String> = (0..n).map(|i| format!("X{i}")).collect();
    let parts: Vec<String> = (0..n)
        .map(|i| {
            format!(
                "(ex1 p: p in X{i} & p + {} in X{i} & X{i} sub S)",
                i % 3 + 1
            )
        })
        .collect();
    let text = format!("var2 S; ex2 {}: {};", names.join(","), parts.join(" & "));
    let report = run(&text);
    assert_eq!(report.answers[0].verdict, SATISFIABLE);
    assert!(report.statistics.largest_states < 100);
}

//! What is read, and what is said about texts that are wrong.

use base::Source;
use model::threshold::{Comparison, Condition, Sum, ThresholdAutomaton};
use source::{Content, FrontEnd as _, Loaded, Memory, Options};
use ta::{ThresholdAutomata, read_sketch};

fn load(text: &str, defines: &[(&str, &str)]) -> Loaded {
    let source = Source {
        name: "test.ta".to_owned(),
        text: text.to_owned(),
    };
    let defines = defines.iter();
    let options = Options {
        defines: defines
            .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
            .collect(),
        ..Options::default()
    };
    ThresholdAutomata.load(source, &Memory::default(), &options)
}

/// A text with these rules, and something more in front of them.
fn text(more: &str, rules: &str) -> String {
    format!(
        "skel P {{ local pc; shared x, y; parameters N, T; {more}
  assumptions (1) {{ N > 3 * T; }}
  locations (2) {{ a: [0]; b: [1; 0]; }}
  inits (4) {{ a == N - T; b == 0; x == 0; y == 0; }}
  rules (1) {{
    {rules}
  }}
  specifications (1) {{ p: [](b <= N); }} }}"
    )
}

const STEP: &str = "0: a -> b when (x >= T + 1) do { x' == x + 1; unchanged(y); };";

/// What is said about a text, one line for each.
fn said(loaded: &Loaded) -> Vec<String> {
    let diagnostics = loaded.diagnostics.iter();
    let line = |at: u32| loaded.sources[0].line_column(at as usize).0;
    diagnostics
        .map(|d| format!("{}: {}", line(d.labels[0].span.start), d.message))
        .collect()
}

#[track_caller]
fn check_said(text: &str, expected: &[&str]) {
    assert_eq!(said(&load(text, &[])), expected);
}

#[test]
fn an_automaton_is_read() {
    let loaded = load(&text("define ENOUGH == N - T;", STEP), &[]);
    assert_eq!(said(&loaded), Vec::<String>::new());
    let Some(Content::Threshold(automata)) = &loaded.content else {
        panic!("{:?}", loaded.content);
    };
    let automaton = &automata[0];
    assert_eq!(automaton.parameters, ["N", "T"]);
    assert_eq!(automaton.locations, ["a", "b"]);
    assert_eq!(automaton.rules[0].update, [(0, 1)]);
    assert_eq!(loaded.questions[0].property.text, "[](b <= N)");
}

#[test]
fn values_for_all_parameters_make_a_system() {
    let loaded = load(&text("", STEP), &[("N", "4"), ("T", "1")]);
    let model = &loaded.systems()[0].model;
    let initial = model.initial_states().unwrap();
    assert_eq!(initial.len(), 1);
    assert_eq!(initial[0].cells, [3, 0, 0, 0]);
    assert_eq!(model.action_name(model::ActionId::new(0)), "P.0: a -> b");
}

#[test]
fn values_for_some_parameters_are_assumed() {
    let loaded = load(&text("", STEP), &[("T", "1")]);
    let Some(Content::Threshold(automata)) = &loaded.content else {
        panic!("{:?}", loaded.content);
    };
    let automaton = &automata[0];
    assert!(automaton.admits(&[4, 1]) && !automaton.admits(&[7, 2]));
}

#[test]
fn values_that_the_assumptions_exclude_are_refused() {
    let loaded = load(&text("", STEP), &[("N", "3"), ("T", "1")]);
    assert_eq!(said(&loaded), ["1: the assumptions exclude N = 3, T = 1"]);
    let loaded = load(&text("", STEP), &[("M", "3")]);
    assert_eq!(said(&loaded), ["1: -D M: there is no parameter `M`"]);
}

#[test]
fn coefficients_need_values() {
    let rule = "0: a -> b when (x >= k * T + 1) do { unchanged(x, y); };";
    let text = text("unknowns k;", rule);
    check_said(
        &text,
        &["6: `k` depends on a coefficient that has no value"],
    );
    assert_eq!(said(&load(&text, &[("k", "2")])), Vec::<String>::new());
}

#[test]
fn a_change_counts_though_the_rule_also_says_unchanged() {
    let rule = "0: a -> b when (true) do { unchanged(x, y); x' == x + 1; };";
    let loaded = load(&text("", rule), &[]);
    assert_eq!(
        said(&loaded),
        ["6: the rule changes `x`, so it does not leave it unchanged"]
    );
    let Some(Content::Threshold(automata)) = &loaded.content else {
        panic!("{:?}", loaded.content);
    };
    let automaton = &automata[0];
    assert_eq!(automaton.rules[0].update, [(0, 1)]);

    let twice = "0: a -> b when (true) do { x' == x + 1; x' == x + 2; unchanged(y); };";
    check_said(&text("", twice), &["6: the rule changes `x` in two ways"]);
}

/// A sketch with three coefficients.
fn sketch_text() -> String {
    let rule = "0: a -> b when (x >= k * T + ENOUGH || l == x) do { unchanged(x, y); };";
    let text = text("unknowns k, l, m; define ENOUGH == 2 * l * N - m;", rule);
    text.replace("N > 3 * T;", "N > 3 * T; 0 <= k; k <= l;")
        .replace("b <= N", "b <= N + m || k * b == 0")
}

fn source(text: &str) -> Source {
    Source {
        name: "test.ta".to_owned(),
        text: text.to_owned(),
    }
}

/// The sums of an automaton, constants as they are.
fn sums(automaton: &ThresholdAutomaton) -> Vec<(Sum, Comparison)> {
    let guards = automaton.rules.iter().map(|rule| &rule.guard);
    let atoms = automaton.atoms.iter().map(|atom| &atom.condition);
    let conditions = automaton.assumptions.iter().chain(&automaton.init);
    let mut open: Vec<&Condition> = conditions.chain(guards).chain(atoms).collect();
    let mut found = Vec::new();
    while let Some(condition) = open.pop() {
        match condition {
            Condition::Compare(sum, comparison) => found.push((sum.clone(), *comparison)),
            Condition::All(parts) | Condition::Any(parts) => open.extend(parts),
            Condition::Bool(_) => {}
        }
    }
    found.retain(|(sum, _)| sum.as_constant().is_none());
    found
}

#[test]
fn a_sketch_with_values_is_what_is_read_with_values() {
    let text = sketch_text();
    let read = read_sketch(&source(&text), &Options::default()).unwrap();
    assert_eq!(read.sketch.unknowns, ["k", "l", "m"]);
    for values in [[0, 0, 0], [1, 0, 0], [2, -1, 5], [0, 7, -3], [3, 3, 3]] {
        let instance = read.sketch.instance(&values).unwrap();
        let shown = values.map(|value| value.to_string());
        let defines = [("k", &*shown[0]), ("l", &*shown[1]), ("m", &*shown[2])];
        let loaded = load(&text, &defines);
        let Some(Content::Threshold(direct)) = &loaded.content else {
            panic!("{:?}", said(&loaded));
        };
        assert_eq!(sums(&instance), sums(&direct[0]), "{values:?}");
    }
}

#[test]
fn sketches_are_linear_in_their_coefficients() {
    let wrong = sketch_text().replace("2 * l * N", "m * l");
    let refused = read_sketch(&source(&wrong), &Options::default()).unwrap_err();
    assert_eq!(
        refused.message,
        "coefficients that are to be found cannot be multiplied"
    );

    // With a value it is a number like any other.
    let options = Options {
        defines: vec![("m".to_owned(), "2".to_owned())],
        ..Options::default()
    };
    let read = read_sketch(&source(&wrong), &options).unwrap();
    assert_eq!(read.sketch.unknowns, ["k", "l"]);
}

#[test]
fn wrong_texts_are_explained() {
    check_said(
        "skel { }",
        &["1: the name of the automaton is expected, but `{` is written here"],
    );
    check_said(
        "skel P {",
        &[
            "1: `local`, `shared`, `parameters`, `unknowns`, `define`, `assumptions`, `locations`, `inits`, `rules` or `specifications` is expected, but the text ends here",
        ],
    );
    check_said("/* skel", &["1: the comment is not closed"]);
    let with = |rule: &str| text("", rule);
    check_said(
        &with("0: a -> c when (true) do { unchanged(x, y); };"),
        &["6: there is no `c`"],
    );
    check_said(
        &with("0: a -> x when (true) do { unchanged(x, y); };"),
        &["6: `x` is not a location"],
    );
    check_said(
        &with("0: a -> b when (x) do { unchanged(x, y); };"),
        &["6: a comparison, such as `==` or `>=`, is expected, but `)` is written here"],
    );
    check_said(
        &with("0: a -> b when (x * T > 1) do { unchanged(x, y); };"),
        &["6: one factor of a product must be a number"],
    );
    check_said(
        &with("0: a -> b when (true) do { x' == 0; unchanged(y); };"),
        &["6: `x` can only be increased by a number"],
    );
    check_said(
        &with("0: a -> b when (true) do { x' == x + 1; };"),
        &["6: not mentioned, so unchanged: y"],
    );
    check_said(
        &with("0: a -> b when (<>(x > 1)) do { unchanged(x, y); };"),
        &["6: temporal operators are possible in specifications only"],
    );
    check_said(&text("shared N;", STEP), &["1: `N` is declared twice"]);
}

#[test]
fn no_text_makes_the_reader_panic() {
    let whole = text("define E == N - T;", STEP);
    for end in (0..whole.len()).filter(|end| whole.is_char_boundary(*end)) {
        load(&whole[..end], &[]);
    }
    for at in 0..whole.len() {
        let spoilt = format!("{}{}", &whole[..at], &whole[at + 1..]);
        load(&spoilt, &[]);
    }
}

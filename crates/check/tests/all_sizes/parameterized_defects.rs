//! Models with any number of processes on which the answer was wrong, a panic or missing.

use crate::parameterized_support::{abstract_answer, abstract_answers, answer, defect, instance};
use evidence::Verdict;
use testkit::{Random, cases};

fn word(verdict: &Verdict) -> &'static str {
    match verdict {
        Verdict::Holds { .. } => "holds",
        Verdict::Violated(_) => "violated",
        Verdict::Unknown(_) => "unknown",
    }
}

/// The answer for all values is one of those that are right.
#[test]
fn answers_are_right() {
    let table: [(&str, &str, &[&str]); 9] = [
        ("unsound_for_all", "tail", &["violated", "unknown"]),
        ("crash_min2", "q", &["holds", "unknown"]),
        ("misc2", "never_c", &["violated"]),
        ("oob", "q", &["violated", "holds", "unknown"]),
        ("loop_beyond_array", "q", &["violated", "unknown"]),
        ("start_does_not_fit", "q", &["violated", "unknown"]),
        ("range_below_zero", "q", &["violated", "unknown"]),
        ("value_below_zero", "q", &["violated", "unknown"]),
        ("huge_bound", "q", &["holds", "unknown"]),
    ];
    for (file, name, right) in table {
        let answer = answer(&defect(file), name);
        let word = word(&answer.outcome.verdict);
        assert!(right.contains(&word), "{file}: {word}");
    }
}

/// Where an instance violates a property, nothing proves it, whatever instances say.
#[test]
fn nothing_wrong_is_proved() {
    let table = [
        ("unsound_for_all", "tail", 10),
        ("misc2", "never_c", 7),
        ("loop_beyond_array", "q", 8),
        ("start_does_not_fit", "q", 8),
        ("range_below_zero", "q", 8),
        ("value_below_zero", "q", 8),
    ];
    for (file, name, value) in table {
        let text = defect(file);
        let violated = instance(&text, name, value).map(|verdict| word(&verdict));
        assert_eq!(violated, Some("violated"), "{file}");
        let proved = abstract_answer(&text, name).outcome.verdict;
        assert_ne!(word(&proved), "holds", "{file}");
    }
}

/// A family each of whose members takes one step, with this effect.
fn family(declarations: &str, step: &str, question: &str) -> String {
    format!(
        "param N
        {declarations}
        process P(i in 0..N-1) {{
            init a
            from a {{ go {step} -> b }}
            from b {{ back -> a }}
        }}
        property q: {question}
        "
    )
}

/// Steps that fail in some instance make every proof impossible.
#[test]
fn every_failure_stands_in_the_way_of_a_proof() {
    let v = "var v : 0..1 = 0";
    let y = "var y : array[0..N-1] of 0..1 = 0";
    let always = "forall p in 0..N-1: always (P[p] @ a || P[p] @ b)";
    for (declarations, step) in [
        (v, "{ assert v == 1 }"),
        (v, "{ v := v + 1 }"),
        (y, "{ y[i] := y[i] + 1 }"),
        (y, "{ y[i + 1] := 1 }"),
        (y, "{ for j in 0..N-1 { y[j] := y[j] + 1 } }"),
        ("", "when i < 3 || 1 / (i - i) == 1"),
    ] {
        let text = family(declarations, step, always);
        let proved = abstract_answer(&text, "q").outcome.verdict;
        assert_ne!(word(&proved), "holds", "{text}");
    }
    // What does not fail is proved.
    for (declarations, step) in [
        (v, "{ assert v == 0 }"),
        (v, "when v == 0 { v := v + 1 }"),
        (y, "{ for j in 0..N-1 { y[j] := 1 - y[j] } }"),
    ] {
        let text = family(declarations, step, always);
        let proved = abstract_answer(&text, "q").outcome.verdict;
        assert_eq!(word(&proved), "holds", "{text}");
    }
}

/// What a step cannot do is not taken to be done.
#[test]
fn conditions_inside_of_effects_count() {
    let y = "var y : array[0..N-1] of 0..1 = 0";
    let t = "var t : 0..N-1 = 0";
    let zero = "forall p in 0..N-1: always y[p] == 0";
    for (declarations, step, question) in [
        (y, "{ if i >= 0 { y[i] := 0 } else { y[i] := 1 } }", zero),
        (y, "{ if i < 0 { y[i] := 1 } else { y[i] := 0 } }", zero),
        (y, "{ y[i] := choose v in 1..1 where i < 0 }", zero),
        (
            y,
            "{ for j in 0..N-1 { if j >= 0 { y[j] := 0 } else { y[j] := 1 } } }",
            zero,
        ),
        (y, "{ for j in 0..N-1 { if j < 0 { y[j] := 1 } } }", zero),
        (t, "{ t := choose 0..0 }", "always t == 0"),
        (t, "when i == 0 { t := choose 0..i }", "always t == 0"),
    ] {
        let text = family(declarations, step, question);
        let proved = abstract_answer(&text, "q").outcome.verdict;
        assert_eq!(word(&proved), "holds", "{text}");
    }
}

/// An action with parameters is several actions, and weak fairness of each says nothing about all.
#[test]
fn weak_fairness_of_actions_with_parameters_is_not_weak_fairness_of_one() {
    // Nor is that of two actions that are never both possible.
    for pick in [
        "pick(v in 0..1) when turn == v -> served",
        "one when turn == 0 -> served   two when turn == 1 -> served",
    ] {
        for (index, some, question) in [
            (
                "",
                "process P(i in 0..N-1) { init a from a { idle -> a } }",
                "eventually S @ served",
            ),
            (
                "(i in 0..N-1)",
                "",
                "forall p in 0..N-1: eventually S[p] @ served",
            ),
        ] {
            let text = format!(
                "param N
                var turn : 0..1 = 0
                {some}
                process T {{ init x from x {{ flip {{ turn := 1 - turn }} -> x }} }}
                process S{index} {{
                    init waiting
                    from waiting {{ {pick} }}
                    from served  {{ rest -> served }}
                }}
                property q under weak: {question}
                "
            );
            let violated = instance(&text, "q", 1).map(|verdict| word(&verdict));
            assert_eq!(violated, Some("violated"), "{text}");
            let proved = abstract_answer(&text, "q").outcome.verdict;
            assert_ne!(word(&proved), "holds", "{text}");
        }
    }
}

/// Weak fairness of an action is strong only if nothing but the action disables it: not if its own
/// process may go away.
#[test]
fn weak_fairness_of_an_action_that_its_process_disables_is_weak() {
    let text = "param N
        var done : bool = false
        process P(i in 0..N-1) {
            init a
            from a { go { done := true } -> a   away -> c }
            from c { back -> a }
        }
        property q under weak: eventually done
        ";
    let violated = instance(text, "q", 1).map(|verdict| word(&verdict));
    assert_eq!(violated, Some("violated"));
    assert_ne!(word(&abstract_answer(text, "q").outcome.verdict), "holds");
}

#[test]
fn no_initial_state_is_said() {
    let answer = answer(&defect("crash_min2"), "q");
    assert_eq!(word(&answer.outcome.verdict), "holds");
    let is_said = |remark: &String| remark.contains("no instance has an initial state");
    assert!(
        answer.outcome.remarks.iter().any(is_said),
        "{:?}",
        answer.outcome.remarks
    );
    let warnings = &answer.outcome.warnings;
    assert!(!warnings.is_empty());
}

/// Numbers in the text make small instances special: 7 is mentioned, so 8 and 9 are compared.
#[test]
fn comparisons_go_beyond_the_numbers_in_the_text() {
    let text = "param N
process P(i in 0..N-1) {
    init a
    from a { go when i >= 7 -> b }
    from b { back -> a }
}
property q: forall p in 0..N-1: always (P[p] @ b -> p > 6)
";
    let answer = answer(text, "q");
    assert_eq!(word(&answer.outcome.verdict), "holds");
    let is_said = |remark: &String| remark.contains("N = 1, 2, …, 9 agree");
    assert!(
        answer.outcome.remarks.iter().any(is_said),
        "{:?}",
        answer.outcome.remarks
    );
}

#[test]
fn a_guarded_index_in_a_property_has_a_value() {
    let text = defect("oob");
    for value in 1..4 {
        assert!(instance(&text, "q", value).is_some(), "N = {value}");
    }
}

/// Large and negative numbers, empty ranges and exchanged operators end in an answer or in
/// diagnostics.
#[test]
fn mutated_texts_do_not_panic() {
    let files = [
        "unsound_for_all",
        "crash_min2",
        "misc2",
        "oob",
        "loop_beyond_array",
        "start_does_not_fit",
        "range_below_zero",
        "value_below_zero",
        "huge_bound",
    ];
    let mut random = Random::new(2027);
    let mut n_answers = 0;
    for round in 0..cases(60) as usize {
        let text = mutated(&defect(files[round % files.len()]), &mut random);
        n_answers += abstract_answers(&text).len();
    }
    assert!(n_answers >= cases(60) as usize / 4, "only {n_answers}");
}

/// The text with one or two of its numbers and operators exchanged.
fn mutated(text: &str, random: &mut Random) -> String {
    let numbers = [
        "0",
        "1",
        "2",
        "99",
        "101",
        "4294967295",
        "4294967296",
        "9223372036854775807",
        "(0-9223372036854775807)",
        "(N-2)",
        "(N+4294967296)",
    ];

    let operators = ["<", "<=", "==", "!=", ">", ">="];
    let mut text = text.to_owned();
    for _ in 0..1 + random.below(2) {
        let (from, to) = if random.below(3) == 0 {
            let known = operators.map(|op| format!(" {op} "));
            let Some(position) = known.iter().position(|op| text.contains(op.as_str())) else {
                continue;
            };
            let other = operators[random.below(operators.len())];
            (known[position].clone(), format!(" {other} "))
        } else {
            let digits: Vec<&str> = text
                .split(|c: char| !c.is_ascii_alphanumeric())
                .filter(|word| word.bytes().all(|b| b.is_ascii_digit()) && !word.is_empty())
                .collect();
            let from = digits[random.below(digits.len())].to_owned();
            (from, numbers[random.below(numbers.len())].to_owned())
        };
        text = text.replacen(&from, &to, 1);
    }

    text
}

//! Models with any number of processes on which the answer was wrong, a panic or missing.

#[expect(dead_code, reason = "examples are for the other tests")]
mod parameterized_support;

use evidence::Verdict;
use parameterized_support::{abstract_answer, abstract_answers, answer, defect, instance};
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

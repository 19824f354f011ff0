//! Reports as text, in the manner of MONA.

use std::fmt::Write as _;

use crate::formula::Var;
use crate::run::{Answer, Report, Verdict};
use crate::words::{Value, Word};

/// The verdicts with their examples.
#[must_use]
pub fn print_answers(report: &Report) -> String {
    let mut text = String::new();
    let several = report.answers.len() > 1;
    for (index, answer) in report.answers.iter().enumerate() {
        if index > 0 {
            text.push('\n');
        }
        if several {
            let _ = match &answer.title {
                None => writeln!(text, "Main formula:"),
                Some(title) => writeln!(text, "Formula {title}:"),
            };
        }
        print_answer(&mut text, answer, &report.variables);
    }
    text
}

fn print_answer(text: &mut String, answer: &Answer, variables: &[(Var, String)]) {
    match answer.verdict {
        Verdict::Valid => text.push_str("Formula is valid\n"),
        Verdict::Unsatisfiable => text.push_str("Formula is unsatisfiable\n"),
        Verdict::Satisfiable => {}
        Verdict::Unknown(reason) => {
            let _ = writeln!(text, "Unknown: {}", reason.name());
        }
    }
    if let Some(word) = &answer.counterexample {
        print_word(text, "A counter-example", word, variables);
    }
    if let Some(word) = &answer.example {
        print_word(text, "A satisfying example", word, variables);
    }
}

fn print_word(text: &mut String, what: &str, word: &Word, variables: &[(Var, String)]) {
    let length = word.letters.len();
    let _ = writeln!(text, "{what} of least length ({length}) is:");
    let bit = |bit: Option<bool>| match bit {
        None => 'X',
        Some(false) => '0',
        Some(true) => '1',
    };

    for (index, (_, name)) in variables.iter().enumerate() {
        let booleans = bit(word.booleans[index]);
        let letters: String = word
            .letters
            .iter()
            .map(|letter| bit(letter[index]))
            .collect();
        let _ = writeln!(text, "{name:<15} {booleans} {letters}");
    }

    text.push('\n');
    for (index, (var, name)) in variables.iter().enumerate() {
        let _ = match word.value(index, *var) {
            Value::Bool(value) => writeln!(text, "{name} = {value}"),
            Value::Position(Some(position)) => writeln!(text, "{name} = {position}"),
            Value::Position(None) => writeln!(text, "{name} is undefined"),
            Value::Set(elements) => {
                let elements: Vec<String> = elements.iter().map(usize::to_string).collect();
                writeln!(text, "{name} = {{{}}}", elements.join(","))
            }
        };
    }
}

/// Counters and times.
#[must_use]
pub fn print_statistics(report: &Report) -> String {
    let counters = &report.statistics;
    let mut text = String::new();
    let lines = [
        ("automata", counters.n_automata),
        ("products", counters.n_products),
        ("projections", counters.n_projections),
        ("minimisations", counters.n_minimisations),
        ("largest minimal automaton, states", counters.largest_states),
        ("largest minimal automaton, nodes", counters.largest_nodes),
        (
            "largest automaton before minimisation, states",
            counters.peak_states,
        ),
        ("most bytes at one time", counters.peak_bytes),
    ];

    for (name, value) in lines {
        let _ = writeln!(text, "{name}: {value}");
    }
    for (phase, time) in &report.phases {
        let _ = writeln!(text, "{phase}: {:.3} ms", time.as_secs_f64() * 1000.0);
    }
    text
}

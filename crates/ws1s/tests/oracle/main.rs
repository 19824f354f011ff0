//! Random formulas against two oracles that share nothing with the crate: bounded semantics (exact
//! for M2L-Str) and a textbook construction over an explicit alphabet (exact for WS1S).

mod bounded;
mod random;
mod textbook;

use base::{Budget, Source};
use random::{Random, Sort};
use ws1s::{FALSE, Options, TRUE, Verdict};

const N_BOUNDED: u64 = 12_000;
const N_TEXTBOOK: u64 = 9_000;

fn answer(text: &str, automata: bool) -> ws1s::Answer {
    let source = Source {
        name: "random.mona".into(),
        text: text.to_owned(),
    };
    let options = Options {
        automata,
        clock: None,
    };
    let mut no_files = |path: &str| Err(format!("no file {path}"));
    let mut report = ws1s::run(source, &mut no_files, &options, &Budget::unlimited());
    assert!(!report.has_errors(), "{text}\n{:?}", report.diagnostics);
    report.answers.swap_remove(0)
}

/// The automaton and verdict that the crate finds; it must find the same lazily and eagerly.
fn decide(text: &str) -> (ws1s::Automaton, Verdict) {
    let (eager, lazy) = (answer(text, true), answer(text, false));
    assert_eq!(eager.verdict, lazy.verdict, "{text}");
    let length = |word: &Option<ws1s::Word>| word.as_ref().map(|word| word.letters.len());
    assert_eq!(length(&eager.example), length(&lazy.example), "{text}");
    assert_eq!(
        length(&eager.counterexample),
        length(&lazy.counterexample),
        "{text}"
    );
    (eager.automaton.expect("asked for"), eager.verdict)
}

/// One bit per free variable and letter, as the automaton wants it. It may have dropped variables
/// that do not matter, so letters are built for those that it has.
fn letter(sorts: &[Sort], kept: &[usize], values: &[u64], position: Option<usize>) -> Vec<bool> {
    let bit = |&index: &usize| match (sorts[index], position) {
        (Sort::Bool, None) => values[index] & 1 == 1,
        (Sort::Bool, Some(_)) | (_, None) => false,
        (_, Some(position)) => values[index] >> position & 1 == 1,
    };
    kept.iter().map(bit).collect()
}

fn word(sorts: &[Sort], kept: &[usize], values: &[u64], length: usize) -> Vec<Vec<bool>> {
    let mut letters = vec![letter(sorts, kept, values, None)];
    letters.extend((0..length).map(|position| letter(sorts, kept, values, Some(position))));
    letters
}

/// All values of the free variables in words of a length: a first-order variable is a singleton.
fn assignments(sorts: &[Sort], length: usize) -> Vec<Vec<u64>> {
    let mut all = vec![vec![]];
    for sort in sorts {
        let values: Vec<u64> = match sort {
            Sort::Bool => vec![0, 1],
            Sort::First => (0..length).map(|position| 1 << position).collect(),
            Sort::Set => (0..1 << length).collect(),
        };
        let extend = |given: &Vec<u64>| -> Vec<Vec<u64>> {
            values
                .iter()
                .map(|&value| [given.as_slice(), &[value]].concat())
                .collect()
        };
        all = all.iter().flat_map(extend).collect();
    }
    all
}

/// Compares the automaton, and the verdict, with the oracle on all words of some lengths.
fn compare(
    text: &str,
    sorts: &[Sort],
    lengths: std::ops::RangeInclusive<usize>,
    oracle: &dyn Fn(&[u64], usize) -> bool,
) {
    let (automaton, verdict) = decide(text);
    let kept = kept_variables(sorts, &automaton);
    let (mut some_true, mut some_false) = (false, false);
    for length in lengths {
        for values in assignments(sorts, length) {
            let expected = oracle(&values, length);
            let found = automaton.run(&word(sorts, &kept, &values, length));
            let wanted = if expected { TRUE } else { FALSE };
            assert_eq!(found, wanted, "{text}\nlength {length}, values {values:?}");
            some_true |= expected;
            some_false |= !expected;
        }
    }
    match verdict {
        Verdict::Valid => assert!(!some_false, "{text}"),
        Verdict::Unsatisfiable => assert!(!some_true, "{text}"),
        Verdict::Satisfiable => {}
        Verdict::Unknown(_) => panic!("{text}"),
    }
}

/// Which free variables the automaton has. Random formulas have at most one of each sort.
fn kept_variables(sorts: &[Sort], automaton: &ws1s::Automaton) -> Vec<usize> {
    let kinds: Vec<ws1s::Kind> = automaton.vars().iter().map(|var| var.kind()).collect();
    let is_kept = |index: &usize| {
        kinds.contains(&match sorts[*index] {
            Sort::Bool => ws1s::Kind::Bool,
            Sort::First => ws1s::Kind::First,
            Sort::Set => ws1s::Kind::Set,
        })
    };
    (0..sorts.len()).filter(is_kept).collect()
}

#[test]
fn m2l_formulas_agree_with_bounded_semantics() {
    for seed in 0..N_BOUNDED {
        let mut random = Random::new(seed);
        let (formula, sorts) = random.problem(true);
        let text = format!("m2l-str;\n{}", random::print(&formula, &sorts));
        let longest = bounded::affordable_length(&formula, &sorts);
        compare(&text, &sorts, 1..=longest, &|values, length| {
            bounded::holds(&formula, values, length)
        });
    }
}

#[test]
fn ws1s_formulas_agree_with_the_textbook_construction() {
    for seed in 0..N_TEXTBOOK {
        let mut random = Random::new(seed + 1_000_000);
        let (formula, sorts) = random.problem(false);
        let text = random::print(&formula, &sorts);
        let oracle = textbook::construct(&formula, &sorts);
        compare(&text, &sorts, 1..=4, &|values, length| {
            oracle.accepts(values, length)
        });
        assert_eq!(
            answer(&text, false).verdict,
            oracle.verdict(&sorts),
            "{text}"
        );
    }
}

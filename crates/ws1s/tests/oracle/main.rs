//! Random formulas against two oracles that share nothing with the crate: bounded semantics (exact
//! for M2L-Str) and a textbook construction over an explicit alphabet (exact for WS1S).

mod bounded;
mod random;
mod textbook;

use base::{Budget, Source};
use random::{Formula, Language, Random, Set, Sort, Term};
use ws1s::{FALSE, Options, TRUE, UNDEFINED, Verdict};

const N_BOUNDED: u64 = 12_000;
const N_TEXTBOOK: u64 = 9_000;
const N_DEFAULTS: u64 = 2_000;
const N_PREFIXES: u64 = 1_000;

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

/// Compares the automaton, and the verdict, with the oracle on all words of some lengths. The
/// oracle says nothing of values that violate a restriction.
fn compare(
    text: &str,
    sorts: &[Sort],
    lengths: std::ops::RangeInclusive<usize>,
    oracle: &dyn Fn(&[u64], usize) -> Option<bool>,
) {
    let (automaton, verdict) = decide(text);
    let kept = kept_variables(sorts, &automaton);
    let (mut some_true, mut some_false) = (false, false);
    for length in lengths {
        for values in assignments(sorts, length) {
            let expected = oracle(&values, length);
            let found = automaton.run(&word(sorts, &kept, &values, length));
            let wanted = match expected {
                Some(true) => TRUE,
                Some(false) => FALSE,
                None => UNDEFINED,
            };
            assert_eq!(found, wanted, "{text}\nlength {length}, values {values:?}");
            some_true |= expected == Some(true);
            some_false |= expected == Some(false);
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
    let kinds: Vec<ws1s::VarKind> = automaton.vars().iter().map(|var| var.kind()).collect();
    let is_kept = |index: &usize| {
        kinds.contains(&match sorts[*index] {
            Sort::Bool => ws1s::VarKind::Bool,
            Sort::First => ws1s::VarKind::First,
            Sort::Set => ws1s::VarKind::Set,
        })
    };
    (0..sorts.len()).filter(is_kept).collect()
}

#[test]
fn m2l_formulas_agree_with_bounded_semantics() {
    for seed in 0..N_BOUNDED {
        let mut random = Random::new(seed);
        let (formula, sorts) = random.problem(Language::Terms);
        let text = format!("m2l-str;\n{}", random::print(&formula, &sorts));
        let formula = formula.plain();
        let longest = bounded::affordable_length(&formula, &sorts);
        compare(&text, &sorts, 1..=longest, &|values, length| {
            Some(bounded::holds(&formula, values, length))
        });
    }
}

#[test]
fn ws1s_formulas_agree_with_the_textbook_construction() {
    for seed in 0..N_TEXTBOOK {
        let mut random = Random::new(seed + 1_000_000);
        let (formula, sorts) = random.problem(Language::Binders);
        let text = random::print(&formula, &sorts);
        let oracle = textbook::construct(&formula.plain(), &sorts);
        compare(&text, &sorts, 1..=6, &|values, length| {
            Some(oracle.accepts(values, length))
        });
        let expected = oracle.verdict(&sorts, &Formula::Constant(true));
        assert_eq!(answer(&text, false).verdict, expected, "{text}");
    }
}

/// What the defaults of the next test say of a variable.
fn default_clause(sort: Sort, var: usize) -> Option<Formula> {
    let most = || Box::new(Term::Number(2));
    match sort {
        Sort::Bool => None,
        Sort::First => Some(Formula::LessEqual(Term::Var(var), Term::Number(2))),
        Sort::Set => {
            let range = Set::Interval(Box::new(Term::Number(0)), most());
            Some(Formula::Sub(Set::Var(var), range))
        }
    }
}

#[test]
fn defaults_restrict_every_variable() {
    let defaults = "defaultwhere1(p) = p <= 2;\ndefaultwhere2(P) = P sub {0, ..., 2};\n";
    for seed in 0..N_DEFAULTS {
        let mut random = Random::new(seed + 2_000_000);
        let (formula, sorts) = random.problem(Language::Few);
        let text = format!("{defaults}{}", random::print(&formula, &sorts));
        let plain = formula.plain().restricted(&default_clause).plain();
        let oracle = textbook::construct(&plain, &sorts);
        let clauses = sorts.iter().enumerate();
        let clauses = clauses.filter_map(|(var, &sort)| default_clause(sort, var));
        let restriction = Formula::And(clauses.collect());
        compare(&text, &sorts, 1..=5, &|values, length| {
            let is_defined = bounded::holds(&restriction, values, length);
            is_defined.then(|| oracle.accepts(values, length))
        });
        let expected = oracle.verdict(&sorts, &restriction);
        assert_eq!(answer(&text, false).verdict, expected, "{text}");
    }
}

#[test]
fn prefixes_are_those_of_the_textbook_automaton() {
    let mut n_compared = 0;
    for seed in 0.. {
        let mut random = Random::new(seed + 3_000_000);
        let (formula, sorts) = random.problem(Language::Binders);
        // A first-order variable outside could lie behind the prefix.
        if sorts.contains(&Sort::First) || sorts.is_empty() {
            continue;
        }
        let inner = random::print(&formula, &sorts);
        let start = inner[..inner.len() - 2].rfind(";\n").map_or(0, |at| at + 2);
        let (declarations, main) = inner.split_at(start);
        let text = format!("{declarations}prefix({});\n", main.trim_end_matches(";\n"));
        let oracle = textbook::construct(&formula.plain(), &sorts).prefixes();
        compare(&text, &sorts, 1..=5, &|values, length| {
            Some(oracle.accepts(values, length))
        });
        n_compared += 1;
        if n_compared == N_PREFIXES {
            break;
        }
    }
}

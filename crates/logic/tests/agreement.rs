//! The translation and the simplification against the definition of truth, on random formulas.

mod support;

use base::AtomId;
use logic::{Ltl, Op, TranslateError, simplify, translate};
use support::{Random, Word, accepts, formula, premise};

const N_ATOMS: usize = 3;

/// Checks the automata of a formula and of its negation on random words.
fn check(random: &mut Random, formula: &Ltl, n_words: usize) {
    let translated =
        |formula: &Ltl| translate(formula).unwrap_or_else(|error| panic!("{error}: {formula:?}"));
    let yes = translated(formula);
    let no = translated(&Ltl::not(formula.clone()));
    let simple = simplify(formula);
    for _ in 0..n_words {
        let word = Word::random(random, N_ATOMS);
        let truth = word.satisfies(formula);
        let context = format!("{formula:?} (simplified {simple:?}) on {word:?}");
        assert_eq!(
            word.satisfies(&simple),
            truth,
            "simplification of {context}"
        );
        assert_eq!(accepts(&yes, &word), truth, "translation of {context}");
        assert_eq!(accepts(&no, &word), !truth, "translation of !({context})");
    }
}

#[test]
fn random_formulas() {
    let mut random = Random::new(1);
    for round in 0..30_000 {
        let formula = formula(&mut random, 1 + round % 12, N_ATOMS);
        check(&mut random, &formula, 4);
    }
}

#[test]
fn random_premises() {
    let mut random = Random::new(2);
    for round in 0..15_000 {
        let premise = premise(&mut random, round % 5, N_ATOMS);
        let conclusion = formula(&mut random, round % 6, N_ATOMS);
        let property = Ltl::implies(premise, conclusion);
        check(&mut random, &property, 4);
    }
}

#[test]
fn a_recurring_obligation_does_not_swallow_what_it_spawns() {
    let [b, c] = [0, 1].map(|index| Ltl::atom(AtomId(index)));
    let spawns = Ltl::and([c, Ltl::next(Ltl::eventually(b))]);
    let formula = Ltl::always(Ltl::eventually(Ltl::next(Ltl::or([
        spawns.clone(),
        Ltl::next(Ltl::and([
            spawns,
            Ltl::next(Ltl::next(Ltl::atom(AtomId(2)))),
        ])),
    ]))));
    check(&mut Random::new(3), &formula, 500);
}

#[test]
fn too_deep_formulas_are_refused_and_deep_ones_are_not() {
    let atom = || Ltl::atom(AtomId(0));
    let wrap =
        |depth: usize, operator: &dyn Fn(Ltl, usize) -> Ltl| (1..depth).fold(atom(), operator);
    let operators: [&dyn Fn(Ltl, usize) -> Ltl; 5] = [
        &|inner, _| Ltl::next(inner),
        &|inner, _| Ltl::not(inner),
        &|inner, level| Ltl::until(Ltl::atom(AtomId::new(level % 3)), inner),
        &|inner, level| {
            let other = Ltl::atom(AtomId::new(level % 3));
            if level % 2 == 0 {
                Ltl::and([other, inner])
            } else {
                Ltl::or([other, inner])
            }
        },
        &|inner, level| match level % 4 {
            0 => Ltl::always(inner),
            1 => Ltl::eventually(inner),
            2 => Ltl::next(inner),
            _ => Ltl::and([atom(), inner]),
        },
    ];

    for operator in operators {
        let deep = wrap(logic::MAX_DEPTH, operator);
        assert!(matches!(
            translate(&deep),
            Ok(_) | Err(TranslateError::TooLarge)
        ));
        let depth = 10_000;
        let too_deep = wrap(depth, operator);
        assert_eq!(translate(&too_deep), Err(TranslateError::TooDeep { depth }));
    }
}

/// Nested as deep as allowed, with random operators: whatever comes out, it comes soon and without
/// overflowing the stack of a thread.
#[test]
fn random_deep_formulas_end() {
    let mut random = Random::new(4);
    for _ in 0..40 {
        let mut deep = Ltl::atom(AtomId(0));
        while deep.depth() < logic::MAX_DEPTH {
            let atom = Ltl::atom(AtomId::new(random.below(5)));
            deep = match random.below(11) {
                0 => Ltl::not(deep),
                1 => Ltl::next(deep),
                2 => Ltl::always(deep),
                3 => Ltl::eventually(deep),
                4 => Ltl::until(deep, atom),
                5 => Ltl::until(atom, deep),
                6 => Ltl::release(deep, atom),
                7 => Ltl::weak_until(atom, deep),
                8 => Ltl::strong_release(deep, atom),
                9 => Ltl::implies(deep, atom),
                _ => Ltl::iff(deep, atom),
            };
        }
        let result = translate(&deep);
        assert!(matches!(result, Ok(_) | Err(TranslateError::TooLarge)));
    }
}

/// A formula about the past with this many operators.
fn past(random: &mut Random, n_operators: usize) -> Ltl {
    if n_operators == 0 {
        return Ltl::atom(AtomId::new(random.below(N_ATOMS)));
    }
    let left = random.below(n_operators);
    let mut one = || past(random, n_operators - 1);
    match n_operators % 7 {
        0 => Ltl::not(one()),
        1 | 2 => Ltl::previously(one()),
        3 => Ltl::once(one()),
        4 => Ltl::historically(&one()),
        5 => {
            let (a, b) = (past(random, left), past(random, n_operators - 1 - left));
            Ltl::iff(a, b)
        }
        _ => {
            let (a, b) = (past(random, left), past(random, n_operators - 1 - left));
            Ltl::since(a, b)
        }
    }
}

/// Does a formula about the past hold at a position of the infinite word, by definition?
fn held(formula: &Ltl, word: &Word, position: usize) -> bool {
    let at = |inner: &Ltl, position: usize| held(inner, word, position);
    match formula.op() {
        Op::True => true,
        Op::False => false,
        Op::Atom(atom) => {
            let length = word.letters.len() - word.loop_start;
            let place = match position.checked_sub(word.loop_start) {
                None => position,
                Some(after) => word.loop_start + after % length,
            };
            word.letters[place] >> atom.0 & 1 == 1
        }
        Op::Not(inner) => !at(inner, position),
        Op::Iff(a, b) => at(a, position) == at(b, position),
        Op::Previously(inner) => position > 0 && at(inner, position - 1),
        Op::Since(a, b) => (0..=position)
            .any(|start| at(b, start) && (start + 1..=position).all(|between| at(a, between))),
        _ => unreachable!("not about the past"),
    }
}

/// The word as it is after some rounds of its loop, with what held in the past as further atoms.
fn with_history(word: &Word, pasts: &[Ltl]) -> Word {
    const N_ROUNDS: usize = 7;
    let length = word.letters.len() - word.loop_start;
    let n_positions = word.loop_start + N_ROUNDS * length;
    let letter = |position: usize| {
        let atoms = (0..N_ATOMS as u32).map(|atom| Ltl::atom(AtomId(atom)));
        let all: Vec<Ltl> = atoms.chain(pasts.iter().cloned()).collect();
        let bits = all.iter().enumerate();
        bits.map(|(bit, formula)| u32::from(held(formula, word, position)) << bit)
            .sum()
    };
    let letters: Vec<u32> = (0..n_positions).map(letter).collect();
    let last = n_positions - length;
    assert_eq!(
        letters[last..],
        letters[last - length..last],
        "{pasts:?} repeats"
    );
    Word {
        letters,
        loop_start: last,
    }
}

/// Formulas about the future of what held in the past: the definition, the evaluation on lassos, and
/// the translation.
#[test]
fn random_formulas_about_the_past() {
    let mut random = Random::new(3);
    let (mut n_true, mut n_false) = (0, 0);
    for round in 0..4_000 {
        let sizes = [1 + round % 3, 1 + random.below(3)];
        let pasts = sizes.map(|n_operators| past(&mut random, n_operators));
        let shape = if random.flip() {
            formula(&mut random, 1 + round % 6, N_ATOMS + pasts.len())
        } else {
            premise(&mut random, round % 3, N_ATOMS + pasts.len())
        };
        let whole = shape.map_atoms(&|atom| match atom.index().checked_sub(N_ATOMS) {
            Some(number) => pasts[number].clone(),
            None => Ltl::atom(atom),
        });
        let automaton = translate(&whole).unwrap_or_else(|error| panic!("{error}: {whole:?}"));
        for _ in 0..4 {
            let word = Word::random(&mut random, N_ATOMS);
            let truth = with_history(&word, &pasts).satisfies(&shape);
            let context = format!("{whole:?} on {word:?}");
            assert_eq!(word.satisfies(&whole), truth, "evaluation of {context}");
            assert_eq!(
                accepts(&automaton, &word),
                truth,
                "translation of {context}"
            );
            if truth {
                n_true += 1;
            } else {
                n_false += 1;
            }
        }
    }
    assert!(n_true > 4_000 && n_false > 4_000, "{n_true} {n_false}");
}

#[test]
fn past_operators_do_not_speak_of_the_future() {
    let inner = Ltl::eventually(Ltl::atom(AtomId(0)));
    let refused = translate(&Ltl::once(inner));
    assert_eq!(refused, Err(TranslateError::FutureInPast));
}

/// More marks than can be spread over edges together: each edge of the text carries at most one of
/// those that must come infinitely often, and the words are the same.
#[test]
fn hoa_of_many_marks_accepts_the_same_words() {
    const N_GOALS: usize = 14;
    let again = |atom: usize| Ltl::always(Ltl::eventually(Ltl::atom(AtomId::new(atom))));
    let names: Vec<String> = (0..=N_GOALS).map(|atom| format!("p{atom}")).collect();
    let goals = Ltl::and((0..N_GOALS).map(again));
    let persists = Ltl::not(again(N_GOALS));
    let other = Ltl::and([Ltl::not(again(0)), again(N_GOALS)]);
    let formula = Ltl::or([Ltl::and([goals, persists]), other]);
    let text = omega::to_hoa(&translate(&formula).unwrap(), &names).unwrap();
    let read = omega::from_hoa(&text).unwrap().automaton;
    assert!(read.edges.iter().map(Vec::len).sum::<usize>() < 100);

    let mut random = Random::new(5);
    let mut n_true = 0;
    for _ in 0..400 {
        let mut word = Word::random(&mut random, N_GOALS + 1);
        // Most words lack a goal; these get all of them, one or two at a time.
        for (position, goal) in (0..N_GOALS).filter(|_| random.below(40) > 0).enumerate() {
            let length = word.letters.len() - word.loop_start;
            word.letters[word.loop_start + position % length] |= 1 << goal;
        }
        let truth = word.satisfies(&formula);
        n_true += usize::from(truth);
        assert_eq!(accepts(&read, &word), truth, "{word:?}");
    }
    assert!((40..360).contains(&n_true), "{n_true}");
}

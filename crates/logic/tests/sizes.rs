//! How large the automata of well-known formulas are. A change that makes one larger shows up here.

use std::fmt::Write;

use base::{AtomId, Source, SourceId};
use expect_test::{Expect, expect};
use logic::{Ltl, Op, TranslateError, parse, simplify, translate};
use omega::{Acceptance, Automaton};

fn read(text: &str) -> Ltl {
    let source = Source {
        name: "<formula>".into(),
        text: text.into(),
    };
    let (formula, _, diagnostics) = parse(&source, SourceId(0));
    formula.unwrap_or_else(|| panic!("{text}: {diagnostics:?}"))
}

/// One line per formula: states, edges, edge marks and letter marks of it and of its negation.
fn table(formulas: &str) -> String {
    let mut shown = String::new();
    for text in formulas
        .lines()
        .map(str::trim)
        .filter(|line| !line.is_empty())
    {
        let formula = read(text);
        let [yes, no] = [formula.clone(), Ltl::not(formula)].map(|f| {
            let automaton = translate(&f).unwrap_or_else(|error| panic!("{text}: {error}"));
            let n_edges: usize = automaton.edges.iter().map(Vec::len).sum();
            let n_letter = automaton.letter_marks.len();
            let n_edge_marks = automaton.n_marks - n_letter;
            format!(
                "{} {n_edges} {n_edge_marks}+{n_letter}",
                automaton.n_states()
            )
        });
        writeln!(shown, "{yes:<9} | {no:<9} | {text}").expect("strings do not fail");
    }
    shown
}

fn check(formulas: &str, expected: Expect) {
    expected.assert_eq(&table(formulas));
}

#[test]
fn basic_formulas() {
    check(
        "
        p
        X p
        F p
        G p
        p U q
        p W q
        p R q
        GF p
        FG p
        GF p && GF q
        GF p || FG q
        GF p -> GF q
        GF p <-> GF q
        F p && F q
        F p || G q
        G(p -> F q)
        G(p -> X q)
        G(p -> X X q)
        G(p -> q U r)
        p U (q U r)
        (p U q) U r
        G(p U q)
        F(p && X F q)
        GF(p && X q)
        FG(p || X q)
        ",
        expect![[r#"
            2 2 0+0   | 2 2 0+0   | p
            3 3 0+0   | 3 3 0+0   | X p
            2 3 1+0   | 1 1 0+0   | F p
            1 1 0+0   | 2 3 1+0   | G p
            2 3 1+0   | 2 3 0+0   | p U q
            2 3 0+0   | 2 3 1+0   | p W q
            2 3 0+0   | 2 3 1+0   | p R q
            1 1 0+1   | 1 1 0+1   | GF p
            1 1 0+1   | 1 1 0+1   | FG p
            1 1 0+2   | 1 1 0+2   | GF p && GF q
            1 1 0+2   | 1 1 0+2   | GF p || FG q
            1 1 0+2   | 1 1 0+2   | GF p -> GF q
            1 1 0+3   | 1 1 0+2   | GF p <-> GF q
            4 9 1+0   | 3 5 0+0   | F p && F q
            3 6 1+0   | 2 3 1+0   | F p || G q
            2 5 1+0   | 2 3 1+0   | G(p -> F q)
            2 4 0+0   | 3 6 1+0   | G(p -> X q)
            4 8 0+0   | 4 5 1+0   | G(p -> X X q)
            2 5 1+0   | 3 8 1+0   | G(p -> q U r)
            3 6 1+0   | 3 6 0+0   | p U (q U r)
            4 10 1+0  | 3 7 0+0   | (p U q) U r
            1 2 0+1   | 3 5 2+1   | G(p U q)
            3 5 1+0   | 2 3 0+0   | F(p && X F q)
            2 3 1+0   | 3 7 1+0   | GF(p && X q)
            3 7 1+0   | 2 3 1+0   | FG(p || X q)
        "#]],
    );
}

/// Dwyer, Avrunin, Corbett: *Patterns in Property Specifications for Finite-State Verification*,
/// ICSE 1999, <https://doi.org/10.1145/302405.302672>.
#[test]
fn specification_patterns() {
    check(
        "
        [](!p)
        <>r -> (!p U r)
        [](q -> [](!p))
        []((q && !r && <>r) -> (!p U r))
        [](q && !r -> (!p W r))
        <>p
        !r W (p && !r)
        [](!q) || <>(q && <>p)
        [](q && !r -> (!r W (p && !r)))
        [](q && !r -> (!r U (p && !r)))
        (!p W (p W (!p W (p W []!p))))
        <>r -> (p U r)
        [](q -> []p)
        !p W s
        <>r -> (!p U (s || r))
        []!q || <>(q && (!p W s))
        []((q && !r && <>r) -> (!p U (s || r)))
        [](p -> <>s)
        <>r -> (p -> (!r U (s && !r))) U r
        [](q -> [](p -> <>s))
        []((q && !r && <>r) -> ((p -> (!r U (s && !r))) U r))
        [](q && !r -> ((p -> (!r U (s && !r))) W r))
        <>p -> (!p U (s && !p && X(!p U t)))
        [](s && X<>t -> X(<>(t && <>p)))
        [](p -> <>(s && X<>t))
        [](p -> <>(s && !z && X(!z U t)))
        ",
        expect![[r#"
            1 1 0+0   | 2 3 1+0   | [](!p)
            3 5 0+0   | 3 5 1+0   | <>r -> (!p U r)
            2 3 0+0   | 3 6 1+0   | [](q -> [](!p))
            3 8 0+0   | 4 10 1+0  | []((q && !r && <>r) -> (!p U r))
            2 5 0+0   | 3 8 1+0   | [](q && !r -> (!p W r))
            2 3 1+0   | 1 1 0+0   | <>p
            2 3 0+0   | 2 3 1+0   | !r W (p && !r)
            3 6 1+0   | 2 3 1+0   | [](!q) || <>(q && <>p)
            2 6 0+0   | 3 8 1+0   | [](q && !r -> (!r W (p && !r)))
            2 6 1+0   | 3 5 1+0   | [](q && !r -> (!r U (p && !r)))
            5 9 0+0   | 6 11 1+0  | (!p W (p W (!p W (p W []!p))))
            3 5 0+0   | 3 5 1+0   | <>r -> (p U r)
            2 3 0+0   | 3 6 1+0   | [](q -> []p)
            2 3 0+0   | 2 3 1+0   | !p W s
            3 6 0+0   | 3 5 1+0   | <>r -> (!p U (s || r))
            5 13 1+0  | 3 8 1+0   | []!q || <>(q && (!p W s))
            3 10 0+0  | 4 12 1+0  | []((q && !r && <>r) -> (!p U (s || r)))
            2 5 1+0   | 2 3 1+0   | [](p -> <>s)
            3 7 0+0   | 3 7 1+0   | <>r -> (p -> (!r U (s && !r))) U r
            3 9 1+0   | 3 6 1+0   | [](q -> [](p -> <>s))
            3 11 0+0  | 4 13 1+0  | []((q && !r && <>r) -> ((p -> (!r U (s && !r))) U r))
            3 11 1+0  | 4 8 1+0   | [](q && !r -> ((p -> (!r U (s && !r))) W r))
            3 5 0+0   | 3 6 1+0   | <>p -> (!p U (s && !p && X(!p U t)))
            4 17 1+0  | 3 5 1+0   | [](s && X<>t -> X(<>(t && <>p)))
            4 15 2+0  | 3 6 1+0   | [](p -> <>(s && X<>t))
            4 15 2+0  | 3 9 1+0   | [](p -> <>(s && !z && X(!z U t)))
        "#]],
    );
}

/// From the lists of Etessami, Holzmann (CONCUR 2000) and Somenzi, Bloem (CAV 2000).
#[test]
fn formulas_of_the_literature() {
    check(
        "
        p U (q && []r)
        p U (q && X(r U s))
        p U (q && X(r && <>(s && X<>(t && X<>(u && X<>v)))))
        <>(p && X[]q)
        <>(p && X(q && X<>r))
        <>(q && X(p U r))
        <>[]q || []<>p
        [](p -> q U r)
        <>(p && X<>(q && X<>(r && X<>s)))
        []<>p && []<>q && []<>r && []<>s && []<>t
        (p U q U r) || (q U r U p) || (r U p U q)
        [](p -> q U ([]r || []s))
        p U (q U r) && !(p U r)
        <>p U []q
        []p U q
        !(<><>p <-> <>p)
        !([]<>p -> []<>q)
        !([]<>p <-> []<>q)
        p R (p || q)
        (X p U X q) || !X(p U q)
        (X p U q) || !X(p U (p && q))
        []p -> <>q
        []([]p -> <>q)
        [](p && X p -> X X q)
        ",
        expect![[r#"
            2 3 1+0   | 4 13 1+0  | p U (q && []r)
            3 5 1+0   | 4 13 0+0  | p U (q && X(r U s))
            7 13 1+0  | 8 21 0+0  | p U (q && X(r && <>(s && X<>(t && X<>(u && X<>v)))))
            2 3 1+0   | 2 5 1+0   | <>(p && X[]q)
            4 8 1+0   | 3 6 0+0   | <>(p && X(q && X<>r))
            3 7 1+0   | 2 5 0+0   | <>(q && X(p U r))
            1 1 0+2   | 1 1 0+2   | <>[]q || []<>p
            2 5 1+0   | 3 8 1+0   | [](p -> q U r)
            5 9 1+0   | 4 7 0+0   | <>(p && X<>(q && X<>(r && X<>s)))
            1 1 0+5   | 1 1 0+5   | []<>p && []<>q && []<>r && []<>s && []<>t
            2 4 0+0   | 2 2 0+0   | (p U q U r) || (q U r U p) || (r U p U q)
            4 9 1+0   | 6 26 2+0  | [](p -> q U ([]r || []s))
            3 5 1+0   | 3 7 0+0   | p U (q U r) && !(p U r)
            3 7 1+0   | 2 4 1+0   | <>p U []q
            4 6 1+0   | 3 6 1+0   | []p U q
            0 0 0+0   | 1 1 0+0   | !(<><>p <-> <>p)
            1 1 0+2   | 1 1 0+2   | !([]<>p -> []<>q)
            1 1 0+2   | 1 1 0+3   | !([]<>p <-> []<>q)
            2 3 0+0   | 2 3 1+0   | p R (p || q)
            1 1 0+0   | 0 0 0+0   | (X p U X q) || !X(p U q)
            1 1 0+0   | 0 0 0+0   | (X p U q) || !X(p U (p && q))
            2 4 1+0   | 1 1 0+0   | []p -> <>q
            1 1 0+1   | 1 1 0+1   | []([]p -> <>q)
            3 6 0+0   | 4 8 1+0   | [](p && X p -> X X q)
        "#]],
    );
}

fn all(n: u32, part: impl Fn(Ltl, Ltl) -> Ltl) -> Ltl {
    let atom = |index| Ltl::atom(AtomId(index));
    Ltl::and((0..n).map(|index| part(atom(2 * index), atom(2 * index + 1))))
}

fn again(formula: Ltl) -> Ltl {
    Ltl::always(Ltl::eventually(formula))
}

fn translated(formula: &Ltl) -> Automaton {
    translate(formula).expect("fairness is not a problem")
}

#[test]
fn fairness_in_a_premise_costs_no_state() {
    let goal = || Ltl::atom(AtomId(100));
    let weak = Ltl::implies(all(30, |p, _| again(p)), again(goal()));
    let strong = Ltl::implies(
        all(30, |p, q| Ltl::implies(again(p), again(q))),
        again(goal()),
    );
    for (property, n_letter_marks) in [(weak, 31), (strong, 61)] {
        let automaton = translated(&Ltl::not(property.clone()));
        assert_eq!(automaton.n_states(), 1);
        assert_eq!(automaton.letter_marks.len(), n_letter_marks);
        assert_eq!(translated(&property).n_states(), 1);
    }
}

#[test]
fn fairness_beside_other_formulas_costs_no_state() {
    let [request, answer] = [100, 101].map(|index| Ltl::atom(AtomId(index)));
    let responds = Ltl::always(Ltl::implies(request, Ltl::eventually(answer)));
    let premise = || all(30, |p, q| Ltl::implies(again(p), again(q)));
    let automaton = translated(&Ltl::not(Ltl::implies(premise(), responds.clone())));
    assert_eq!(automaton.n_states(), 2);
    assert_eq!(automaton.letter_marks.len(), 60);
    // The property itself is a union: the premise fails, or there is a response.
    assert_eq!(
        translated(&Ltl::implies(premise(), responds.clone())).n_states(),
        3
    );
    // Nested under operators that do not depend on prefixes.
    let nested = Ltl::always(Ltl::implies(Ltl::next(Ltl::not(premise())), responds));
    assert_eq!(translated(&Ltl::not(nested)).n_states(), 2);
}

#[test]
fn equal_propositions_share_a_mark() {
    let automaton = translated(&read(
        "GF(p && q) && (FG !(q && p) || FG(!q || !p) || GF r)",
    ));
    assert_eq!(automaton.letter_marks.len(), 2);
    let persists = translated(&read("FG p"));
    assert!(matches!(persists.acceptance, Acceptance::Fin(_)));
    assert!(persists.letter_marks[0].when.holds(&|_| false));
}

#[test]
fn many_atoms_are_no_problem() {
    let some = |first: u32| Ltl::or((first..first + 30).map(|index| Ltl::atom(AtomId(index))));
    let formula = Ltl::always(Ltl::implies(some(0), Ltl::eventually(some(30))));
    assert_eq!(translated(&formula).n_states(), 2);
    assert_eq!(translated(&Ltl::not(formula)).n_states(), 2);
}

/// The chains of `genltl --u-right`, `--r-right`, `--u-left`, `--r-left` and `--and-f`: J. Geldenhuys,
/// H. Hansen, *Larger Automata and Less Work for LTL Model Checking*, SPIN 2006,
/// <https://doi.org/10.1007/11691617_4>. What is small is found, however long the chain is.
#[test]
fn chains_have_as_many_states_as_operands() {
    let atom = |index: usize| Ltl::atom(AtomId::new(index));
    let right = |n: usize, operator: fn(Ltl, Ltl) -> Ltl| {
        (0..n - 1)
            .rev()
            .fold(atom(n - 1), |inner, i| operator(atom(i), inner))
    };
    let left = |n: usize, operator: fn(Ltl, Ltl) -> Ltl| {
        (1..n).fold(atom(0), |inner, i| operator(inner, atom(i)))
    };

    for n in 2..=20 {
        assert_eq!(translated(&right(n, Ltl::until)).n_states(), n);
        assert_eq!(translated(&Ltl::not(right(n, Ltl::until))).n_states(), n);
        assert_eq!(translated(&right(n, Ltl::release)).n_states(), n);
    }
    for n in 2..=9 {
        assert_eq!(translated(&Ltl::not(left(n, Ltl::until))).n_states(), n);
        assert_eq!(translated(&left(n, Ltl::release)).n_states(), n);
    }

    // One violation, or one missing event, is enough; which one is guessed.
    let responses = Ltl::and((0..12).map(|i| {
        let answer = Ltl::eventually(atom(2 * i + 1));
        Ltl::always(Ltl::implies(atom(2 * i), answer))
    }));
    assert_eq!(translated(&Ltl::not(responses)).n_states(), 13);
    let events = Ltl::and((0..12).map(|i| Ltl::eventually(atom(i))));
    assert_eq!(translated(&Ltl::not(events)).n_states(), 13);
}

/// Does each state have at most one edge for each letter over the first three atoms?
fn is_deterministic(automaton: &Automaton) -> bool {
    (0..8_u32).all(|letter| {
        let reads = |atom: AtomId| letter >> atom.0 & 1 == 1;
        let n_edges = |edges: &[omega::Edge]| {
            let possible = edges.iter().filter(|edge| edge.guard.contains(&reads));
            possible.count()
        };
        automaton.initial.len() <= 1 && automaton.edges.iter().all(|edges| n_edges(edges) <= 1)
    })
}

#[test]
fn obligations_are_deterministic_unless_guessing_saves_states() {
    for text in [
        "p U q && F r",
        "F p || G q",
        "<>r -> (!p U r)",
        "[](!q) || <>(q && <>p)",
        "(G p || F q) && F r",
    ] {
        assert!(is_deterministic(&translated(&read(text))), "{text}");
    }
    assert!(!is_deterministic(&translated(&read("F(p && X X X X X q)"))));
}

#[test]
fn what_would_explode_is_refused() {
    let atom = |index: u32| Ltl::atom(AtomId(index));
    // 2^30 cubes.
    let clauses = Ltl::and((0..30).map(|i| Ltl::or([atom(2 * i), atom(2 * i + 1)])));
    // A decision diagram of 2^30 nodes, for the order in which the atoms occur.
    let pairs = Ltl::or((0..30).map(|i| Ltl::and([atom(i), atom(30 + i)])));
    let first = Ltl::or((0..30).map(atom));
    let promises = Ltl::and((0..40).map(|i| Ltl::eventually(atom(i))));
    let wide = Ltl::and([first, pairs]);
    for formula in [
        Ltl::next(clauses),
        Ltl::next(wide.clone()),
        again(wide),
        promises,
    ] {
        assert_eq!(translate(&formula), Err(TranslateError::TooLarge));
    }
    // Equivalences of equivalences: linear as a graph, 2^400 as a tree.
    let parity = (0..400).fold(atom(0), |inner, i| Ltl::iff(inner, again(atom(i % 50))));
    assert_eq!(translate(&parity), Err(TranslateError::TooLarge));
}

#[test]
fn rules_write_equivalent_formulas_in_the_same_way() {
    for (one, other) in [
        ("p && (p || q)", "p"),
        ("p || p && q", "p"),
        ("F G (p || G q)", "F G p || F G q"),
        ("F G (p || F q)", "F G p || G F q"),
        ("G F (p && F q)", "G F p && G F q"),
        ("G F (p && G q)", "G F p && F G q"),
    ] {
        assert_eq!(simplify(&read(one)), simplify(&read(other)), "{one}");
    }
}

#[test]
fn an_operand_counts_once_however_many_there_are() {
    // More than are compared with each other.
    let atoms = || (0..200).map(|index| Ltl::atom(AtomId(index)));
    let once = simplify(&Ltl::and(atoms()));
    assert_eq!(simplify(&Ltl::and(atoms().chain(atoms()))), once);
}

/// How large a simplified formula is as a tree, where an operator counts once however many operands
/// it has, and a negated atom is a leaf.
fn tree_size(formula: &Ltl) -> u64 {
    match formula.op() {
        Op::Not(_) => 1,
        _ => formula
            .operands()
            .into_iter()
            .fold(1, |size, part| size + tree_size(part)),
    }
}

#[test]
fn formulas_are_refused_beyond_the_largest_size_and_not_before() {
    const MAX_SIZE: u64 = 100_000;
    let atom = |index: u32| Ltl::atom(AtomId(index));
    let parity = |atoms: &mut dyn Iterator<Item = u32>| {
        let atoms: Vec<Ltl> = atoms.map(atom).collect();
        let mut parts = atoms.into_iter();
        let first = parts.next().expect("there are some");
        parts.fold(first, Ltl::iff)
    };

    // It is always true, but no rule sees that: a parity, or the opposite in another order.
    let odd = parity(&mut (0..14).rev());
    let mut formula = Ltl::or([parity(&mut (0..14)), Ltl::not(odd)]);
    for n_atoms in (2..12).rev() {
        let larger = Ltl::or([formula.clone(), parity(&mut (0..n_atoms).rev())]);
        if tree_size(&simplify(&larger)) <= MAX_SIZE {
            formula = larger;
        }
    }
    let n_missing = MAX_SIZE - tree_size(&simplify(&formula));
    let fill = (100..100 + n_missing as u32).map(atom);
    let largest = Ltl::or([formula].into_iter().chain(fill));
    let larger = Ltl::or([largest.clone(), atom(99)]);

    assert_eq!(tree_size(&simplify(&largest)), MAX_SIZE);
    assert_eq!(translated(&largest).n_states(), 1);
    assert_eq!(translate(&larger), Err(TranslateError::TooLarge));
}

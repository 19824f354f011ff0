//! How large the automata of well-known formulas are. A change that makes one larger shows up here.

use std::fmt::Write;
use std::time::{Duration, Instant};

use base::{AtomId, Source, SourceId};
use expect_test::{Expect, expect};
use logic::{Ltl, parse, translate};
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
        writeln!(shown, "{yes:>10} {no:>10}  {text}").expect("strings do not fail");
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
        expect![[""]],
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
        expect![[""]],
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
        expect![[""]],
    );
}

fn all(n: u32, part: impl Fn(Ltl, Ltl) -> Ltl) -> Ltl {
    let atom = |index| Ltl::atom(AtomId(index));
    Ltl::and((0..n).map(|index| part(atom(2 * index), atom(2 * index + 1))))
}

fn again(formula: Ltl) -> Ltl {
    Ltl::always(Ltl::eventually(formula))
}

fn quickly(formula: &Ltl) -> Automaton {
    let start = Instant::now();
    let automaton = translate(formula).expect("fairness is no problem");
    let time = start.elapsed();
    assert!(time < Duration::from_secs(2), "{time:?}");
    automaton
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
        let automaton = quickly(&Ltl::not(property.clone()));
        assert_eq!(automaton.n_states(), 1);
        assert_eq!(automaton.letter_marks.len(), n_letter_marks);
        assert_eq!(quickly(&property).n_states(), 1);
    }
}

#[test]
fn fairness_beside_other_formulas_costs_no_state() {
    let [request, answer] = [100, 101].map(|index| Ltl::atom(AtomId(index)));
    let responds = Ltl::always(Ltl::implies(request, Ltl::eventually(answer)));
    let premise = || all(30, |p, q| Ltl::implies(again(p), again(q)));
    let automaton = quickly(&Ltl::not(Ltl::implies(premise(), responds.clone())));
    assert_eq!(automaton.n_states(), 2);
    assert_eq!(automaton.letter_marks.len(), 60);
    // The property itself is a union: the premise fails, or there is a response.
    assert_eq!(
        quickly(&Ltl::implies(premise(), responds.clone())).n_states(),
        3
    );
    // Nested under operators that do not depend on prefixes.
    let nested = Ltl::always(Ltl::implies(Ltl::next(Ltl::not(premise())), responds));
    assert_eq!(quickly(&Ltl::not(nested)).n_states(), 2);
}

#[test]
fn equal_propositions_share_a_mark() {
    let automaton = quickly(&read(
        "GF(p && q) && (FG !(q && p) || FG(!q || !p) || GF r)",
    ));
    assert_eq!(automaton.letter_marks.len(), 2);
    let persists = quickly(&read("FG p"));
    assert!(matches!(persists.acceptance, Acceptance::Fin(_)));
    assert!(persists.letter_marks[0].when.holds(&|_| false));
}

#[test]
fn many_atoms_are_no_problem() {
    let some = |first: u32| Ltl::or((first..first + 30).map(|index| Ltl::atom(AtomId(index))));
    let formula = Ltl::always(Ltl::implies(some(0), Ltl::eventually(some(30))));
    assert_eq!(quickly(&formula).n_states(), 2);
    assert_eq!(quickly(&Ltl::not(formula)).n_states(), 2);
}

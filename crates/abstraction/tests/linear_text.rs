//! The text of a replayed path grows with its length, not faster.

use abstraction::predicate::{Domain, execute, program_of};
use base::Source;

/// How many bytes the solver is sent for a path of so many steps.
fn n_bytes(text: &str, n_steps: usize) -> usize {
    let source = Source {
        name: "chain.fair".to_owned(),
        text: text.to_owned(),
    };
    let loaded = lang::load(source, &source::Options::default()).single();
    let model = loaded.model.expect("the text is right");
    let program = program_of(&model).expect("it can be expressed");
    let domain = Domain::new(&program);
    let path: Vec<usize> = (0..n_steps)
        .map(|at| at % program.transitions.len())
        .collect();
    let execution = execute(&program, &domain, &path);
    let last = execution.values.last().expect("there is a state");
    let terms = execution.conditions.iter().chain(last);
    terms.map(|term| smt::to_smtlib(term).len()).sum()
}

#[test]
fn paths_twice_as_long_need_twice_the_text() {
    let texts = [
        include_str!("../../../testdata/defects/blow4.fair"),
        "var x, y : int = 0
         process P { a { if x < y { x := x + y } else { y := y - x } } }
         property q: always x >= 0",
        "var x : int = 0 var b : bool = false
         process P { a { b := (b && x > 3) || (!b && x < 7); if b { x := x + 1 } else { x := 2 * x } } }
         property q: always x >= 0",
    ];
    for text in texts {
        let (short, long) = (n_bytes(text, 20), n_bytes(text, 40));
        assert!(long * 2 <= short * 5, "{short} bytes, then {long}:\n{text}");
    }
}

//! Refinements that every textbook has.

use crate::support::verdicts;

#[test]
fn textbook_refinements() {
    let text = "
        Copy = in -> out -> Copy;
        Twice = in -> out -> in -> out -> Twice;
        Lossy = in -> (out -> Lossy <> Lossy);
        Run = in -> Run [] out -> Run;
        Nothing = Stop;
        #assert Copy refines Twice;
        #assert Twice refines<FD> Copy;
        #assert Lossy refines Copy;
        #assert Copy refines<F> Lossy;
        #assert Copy refines Run;
        #assert Copy refines<F> Run;
        #assert Nothing refines Copy;
        #assert Nothing refines<F> Copy;
    ";
    assert_eq!(verdicts(text), "YYNYYNYN");
}

#[test]
fn variables_are_not_part_of_what_is_compared() {
    let text = "
        var n = 0;
        Counter = [n < 2] up{n = n + 1;} -> Counter [] [n > 0] down{n = n - 1;} -> Counter;
        Spec(i) = [i < 2] up -> Spec(i + 1) [] [i > 0] down -> Spec(i - 1);
        #assert Counter refines<FD> Spec(0);
        #assert Spec(0) refines<FD> Counter;
        #assert Spec(1) refines Counter;
    ";
    assert_eq!(verdicts(text), "YYN");
}

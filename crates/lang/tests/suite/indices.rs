//! Families of processes with several indices.

use crate::support::{count, load, model, show};
use expect_test::{Expect, expect};
use source::Options;

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show(&load(text, &Options::default())));
}

const LINKS: &str = "
    enum Node { a, b, c }
    var sent : array[Node] of array[Node] of 0..2
    var last : Node = a
    process Link(from, to in Node, lane in 3..4) {
        var n : 0..1 = 0
        init idle
        from idle {
            carry when from != to && sent[from][to] < lane - 2 {
                sent[from][to] += 1; n := 1; last := to
            } -> busy
        }
        from busy { rest when Link[to][from][lane] @ idle -> idle }
    }
";

/// The same with one index.
const FLAT: &str = "
    var sent : array[0..2] of array[0..2] of 0..2
    var last : 0..2 = 0
    process Link(l in 0..17) {
        var n : 0..1 = 0
        def source = l / 6
        def target = l / 2 % 3
        def lane = 3 + l % 2
        init idle
        from idle {
            carry when source != target && sent[source][target] < lane - 2 {
                sent[source][target] += 1; n := 1; last := target
            } -> busy
        }
        from busy { rest when Link[target * 6 + source * 2 + lane - 3] @ idle -> idle }
    }
";

#[test]
fn several_indices_number_all_combinations() {
    let found = model(LINKS, &[]);
    let names: Vec<&str> = found.instances().iter().map(|i| i.name.as_str()).collect();
    assert_eq!(names.len(), 18);
    assert_eq!(
        names[..3],
        ["Link[a][a][3]", "Link[a][a][4]", "Link[a][b][3]"]
    );
    assert_eq!(names[17], "Link[c][c][4]");

    // Small enough to be counted: two nodes.
    let small = |text: &str| text.replace("{ a, b, c }", "{ a, b }");
    let flat = FLAT
        .replace("0..17", "0..7")
        .replace("l / 6", "l / 4")
        .replace("% 3", "% 2")
        .replace("target * 6", "target * 4")
        .replace("[0..2]", "[0..1]")
        .replace("last : 0..2", "last : 0..1");
    assert_eq!(count(&model(&small(LINKS), &[])), count(&model(&flat, &[])));
}

#[test]
fn instances_are_named_by_all_indices() {
    let text = format!(
        "{LINKS}
        def busy(x, y) = Link[x][y][3] @ busy
        invariant at:    forall x, y in Node: busy(x, y) -> Link[x][y][3].n == 1
        invariant here:  Link[last][a][4].n <= 1
        property taken:  always (Link[a][b][3].carry -> sent[a][b] > 0)
        property all:    always eventually moves(Link[b][a][4]) || enabled(Link[a][b][3].rest)
        property family: eventually Link.carry
        deadlockfree"
    );
    check(&text, &expect![[r#""#]]);

    let loaded = load(&text, &Options::default());
    let found = loaded.model.expect("a model");
    let state = found.initial_states().expect("initial states").remove(0);
    let steps = found.successors(&state).expect("no error");
    let names: Vec<&str> = steps
        .iter()
        .map(|s| found.action_name(s.actions[0]))
        .collect();
    assert!(names.contains(&"Link[b][c][4].carry"), "{names:?}");
}

/// An index outside of its range does not mean another process.
#[test]
fn indices_out_of_range_are_errors() {
    let text = "
        var i : 0..5 = 0
        process P(x, y in 0..2) { var n : 0..1 = 0  s when x == 9 { n := 1 } }
        process Q { look when P[0][i].n == 0 { i += 1 } }";
    let found = model(text, &[]);
    let mut state = found.initial_states().expect("initial states").remove(0);
    for _ in 0..3 {
        let steps = found.successors(&state).expect("it exists");
        state = steps[0].target.clone();
    }
    assert!(found.successors(&state).is_err());
}

#[test]
fn ends_are_those_of_all_instances() {
    let text = "process P(x, y in 0..1) { init a, b; end a; from a { go when false -> a }
                from b { on when false -> b } }
        deadlockfree";
    let loaded = load(text, &Options::default());
    assert_eq!(show(&loaded), "");
    let shown = format!("{:?}", loaded.properties[0].property);
    assert!(shown.starts_with("Invariant"), "{shown}");
}

#[test]
fn mistakes() {
    check(
        "var n : 0..3 = 0
process P(x, y in 0..2) { var v : 0..1 = 0  s when P[x].v == 0 { n := 1 } }
process Q { s when P @ main && P[1][2][0] @ main && P[3][0] @ main { n := 0 } }
invariant i: forall p in P: n == 0
property t: eventually P[1].s",
        &expect![[r#"
            missing-index 2:52 `P` is a family of processes with 2 indices
                help: say which one is meant: `P[i][j]`
            missing-index 3:20 `P` is a family of processes with 2 indices
                help: say which one is meant: `P[i][j]`
            index-of-single 3:32 `P` has 2 indices
            index-out-of-range 3:55 the index 3 is outside 0..2
            missing-index 5:24 `P` is a family of processes with 2 indices
                help: say which one is meant: `P[i][j]`
        "#]],
    );
    check(
        "process P(x in 0..200, y in 0..200) { s { skip } }
process Q(x in 3..2, y in 0..1) { s { skip } }
process R(x, y) { s { skip } }",
        &expect![[r#"
            syntax 3:15 expected `in`, found `)`
                help: a name ranges over values: `i in 1..3`
        "#]],
    );
    check(
        "process P(x in 0..200, y in 0..200) { s { skip } }
process Q(x in 3..2, y in 0..1) { s { skip } }",
        &expect![[r#"
            range-too-large 1:1 40401 processes are too many
                help: at most 10000 are possible
            empty-range 2:16 the range 3..2 is empty
        "#]],
    );
}

#[test]
fn indices_have_no_gaps() {
    check(
        "process P(i in {1, 3}) { a { skip } }",
        &expect![[r#"
            indices-with-gaps 1:16 indices are a range without gaps, an enumeration or those of a family
                help: write `1..3`, and say in guards for which of them something is meant
        "#]],
    );
    check(
        "process P(i in 1..2, j in {2, 5}) { a { skip } }",
        &expect![[r#"
            indices-with-gaps 1:27 indices are a range without gaps, an enumeration or those of a family
                help: write `2..5`, and say in guards for which of them something is meant
        "#]],
    );
    check(
        "var s : set of 1..3
         process P(i in s) { a { s := {} } }",
        &expect![[r#"
            indices-with-gaps 2:25 indices are a range without gaps, an enumeration or those of a family
                help: write `first..last`; which of them are elements of a set is for guards to say
        "#]],
    );
    check(
        "var a : array[{0, 2}] of bool
         process P { s { a[2] := true } }",
        &expect![[r#"
            indices-with-gaps 1:15 indices are a range without gaps, an enumeration or those of a family
                help: write `0..2`, and say in guards for which of them something is meant
        "#]],
    );
    check(
        "var m : map[{0, 2}] of bool
         process P { s { m[2] := true } }",
        &expect![[r#"
            indices-with-gaps 1:13 indices are a range without gaps, an enumeration or those of a family
                help: write `0..2`, and say in guards for which of them something is meant
        "#]],
    );
    check(
        "chan c[1] for i in {0, 2} of bool
         process P { s c[2] ! true }",
        &expect![[r#"
            indices-with-gaps 1:20 indices are a range without gaps, an enumeration or those of a family
                help: write `0..2`, and say in guards for which of them something is meant
        "#]],
    );

    // Sets without gaps are ranges, and names that are not indices range over any set.
    let text = "
        process P(i in {2, 1, 3}) { a(j in {1, 3}) { skip } }
        property p: forall i in {1, 3}: always eventually i != 2
    ";
    let found = model(text, &[]);
    assert_eq!(found.instances().len(), 3);
    assert_eq!(found.commands().len(), 6);
}

//! `fair graph` and `fair ltl`.

use expect_test::expect;

use crate::models::{ANYWHERE, COUNTER, LARGE, OVERFLOW};
use crate::scene::Scene;

#[test]
fn states_and_steps_are_drawn() {
    let scene = Scene::with("graph_states", "m.fair", COUNTER);
    scene.check(
        &["graph", "m.fair", "-D", "LIMIT=2"],
        expect![[r#"
        digraph states {
          node [shape=box];
          s0 [label="s0\nx = 0", tooltip="x = 0", penwidth=2];
          s1 [label="s1\nx = 1", tooltip="x = 1"];
          s2 [label="s2\nx = 2", tooltip="x = 2", color=orange];
          start0 [shape=point];
          start0 -> s0;
          s0 -> s1 [label="P.up"];
          s1 -> s2 [label="P.up"];
        }
        --- exit status 0
    "#]],
    );
    scene.write("m.fair", ANYWHERE.as_bytes());
    scene.check(
        &["graph", "m.fair"],
        expect![[r#"
        digraph states {
          node [shape=box];
          s0 [label="s0\nx = 0", tooltip="x = 0", penwidth=2];
          s1 [label="s1\nx = 1", tooltip="x = 1", penwidth=2];
          s2 [label="s2\nx = 2", tooltip="x = 2", penwidth=2];
          s3 [label="s3\nx = 3", tooltip="x = 3", color=orange];
          start0 [shape=point];
          start0 -> s0;
          start1 [shape=point];
          start1 -> s1;
          start2 [shape=point];
          start2 -> s2;
          s0 -> s1 [label="P.up"];
          s1 -> s2 [label="P.up"];
          s2 -> s3 [label="P.up"];
        }
        --- exit status 0
    "#]],
    );
}

#[test]
fn components_are_drawn() {
    let scene = Scene::with("graph_condense", "m.fair", LARGE);
    scene.check(&["graph", "m.fair", "--condense"], expect![[r#"
        digraph components {
          node [shape=box];
          c0 [label="256 states\n1024 inner steps\nP[1].reset, P[1].up, P[2].reset, P[2].up, P[3].reset and 3 more", penwidth=2, peripheries=2];
        }
        --- exit status 0
    "#]]);
    scene.write("m.fair", COUNTER.as_bytes());
    scene.check(
        &["graph", "m.fair", "--condense", "-D", "LIMIT=2"],
        expect![[r#"
            digraph components {
              node [shape=box];
              c0 [label="1 state\n0 inner steps", penwidth=2];
              c0 -> c1 [label="1"];
              c1 [label="1 state\n0 inner steps"];
              c1 -> c2 [label="1"];
              c2 [label="1 state\n0 inner steps", peripheries=2];
            }
            --- exit status 0
        "#]],
    );
}

#[test]
fn a_graph_with_a_run_time_error_is_not_complete() {
    let scene = Scene::with("graph_error", "m.fair", OVERFLOW);
    scene.check(&["graph", "m.fair"], expect![[r#"
        digraph states {
          node [shape=box];
          s0 [label="s0\nx = 0", tooltip="x = 0", penwidth=2];
          s1 [label="s1\nx = 1", tooltip="x = 1"];
          s2 [label="s2\nx = 2", tooltip="x = 2", color=red];
          start0 [shape=point];
          start0 -> s0;
          s0 -> s1 [label="P.up"];
          s1 -> s2 [label="P.up"];
        }
        --- stderr
        error: run-time error in a state that is drawn: the value 3 is outside the type of `x`, at m.fair:3:10
        --- exit status 1
    "#]]);
}

#[test]
fn automata_are_printed() {
    let scene = Scene::new("ltl_command");
    scene.check(
        &["ltl", "[]<> a"],
        expect![[r#"
        HOA: v1
        States: 1
        Start: 0
        AP: 1 "a"
        acc-name: Buchi
        Acceptance: 1 Inf(0)
        properties: trans-labels explicit-labels trans-acc
        --BODY--
        State: 0
        [0] 0 {0}
        [!0] 0
        --END--
        --- exit status 0
    "#]],
    );
    scene.check(
        &["ltl", "--format", "dot", "a U b"],
        expect![[r#"
            digraph automaton {
              rankdir=LR;
              node [shape=circle];
              label="accepts: Inf(0)";
              start0 [shape=point];
              start0 -> 0;
              0;
              1;
              0 -> 0 [label="a && !b"];
              0 -> 1 [label="b"];
              1 -> 1 [label="true {0}"];
            }
            --- exit status 0
        "#]],
    );
    scene.check(
        &["ltl", "a U (b"],
        expect![[r#"
        --- stderr
        error[unclosed-parenthesis]: expected an operator or `)`, found the end
         --> <formula>:1:7
          |
        1 | a U (b
          |     - ^
          |     |
          |     opened here

        --- exit status 2
    "#]],
    );
    scene.check(
        &["ltl", ""],
        expect![[r#"
        --- stderr
        error[empty-formula]: there is no formula
         |
         = help: for example: `[](request -> <>answer)`

        --- exit status 2
    "#]],
    );
}

//! `fair ws1s`.

use expect_test::expect;

use crate::scene::Scene;

const PAIR: &str = "var2 X;\nex1 x: x in X & x + 1 in X;\n";

#[test]
fn formulas_are_decided_with_examples() {
    let scene = Scene::with("ws1s_answers", "pair.mona", PAIR);
    scene.check(
        &["ws1s", "pair.mona"],
        expect![[r#"
        A counter-example of least length (0) is:
        X               X

        X = {}
        A satisfying example of least length (2) is:
        X               X 11

        X = {0,1}
        --- exit status 0
    "#]],
    );
    scene.write("valid.mona", b"all1 x: x < x + 1;");
    scene.check(
        &["ws1s", "valid.mona"],
        expect![[r#"
        Formula is valid
        A satisfying example of least length (0) is:

        --- exit status 0
    "#]],
    );
    scene.write("never.mona", b"var2 X; X sub empty & 0 in X;");
    scene.check(
        &["ws1s", "never.mona"],
        expect![[r#"
        Formula is unsatisfiable
        A counter-example of least length (0) is:
        X               X

        X = {}
        --- exit status 0
    "#]],
    );
}

#[test]
fn automata_are_printed_on_demand() {
    let scene = Scene::with("ws1s_automaton", "pair.mona", PAIR);
    scene.check(
        &["ws1s", "pair.mona", "--automaton", "dot"],
        expect![[r#"
        A counter-example of least length (0) is:
        X               X

        X = {}
        A satisfying example of least length (2) is:
        X               X 11

        X = {0,1}
        digraph automaton {
          rankdir = LR;
          start [shape = none, label = ""];
          0 [shape = circle];
          1 [shape = circle];
          2 [shape = circle];
          3 [shape = doublecircle];
          start -> 0;
          0 -> 1 [label = "X"];
          1 -> 1 [label = "0"];
          1 -> 2 [label = "1"];
          2 -> 1 [label = "0"];
          2 -> 3 [label = "1"];
          3 -> 3 [label = "X"];
          label = "variables: X";
        }
        --- exit status 0
    "#]],
    );
    scene.check(
        &["ws1s", "pair.mona", "--automaton", "hoa"],
        expect![[r#"
        A counter-example of least length (0) is:
        X               X

        X = {}
        A satisfying example of least length (2) is:
        X               X 11

        X = {0,1}
        HOA: v1
        tool: "fairground"
        States: 4
        Start: 0
        AP: 1 "X"
        acc-name: finite
        Acceptance: 1 Inf(0)
        properties: deterministic complete
        --BODY--
        State: 0 "false"
        [t] 1
        State: 1 "false"
        [!0] 1
        [0] 2
        State: 2 "false"
        [!0] 1
        [0] 3
        State: 3 "true" {0}
        [t] 3
        --END--
        --- exit status 0
    "#]],
    );
}

#[test]
fn included_files_lie_beside() {
    let main = "include \"lib.mona\";\nvar2 X; pair(X);\n";
    let scene = Scene::with("ws1s_include", "main.mona", main);
    scene.write(
        "lib.mona",
        b"pred pair(var2 X) = ex1 x: x in X & x + 1 in X;\n",
    );
    scene.check(
        &["ws1s", "main.mona"],
        expect![[r#"
        A counter-example of least length (0) is:
        X               X

        X = {}
        A satisfying example of least length (2) is:
        X               X 11

        X = {0,1}
        --- exit status 0
    "#]],
    );
    scene.write("main.mona", b"include \"nowhere.mona\";\ntrue;\n");
    scene.check(&["ws1s", "main.mona"], expect![[r#"
        --- stderr
        error[include]: cannot read `nowhere.mona`: `nowhere.mona` cannot be read: No such file or directory (os error 2)
         --> main.mona:1:9
          |
        1 | include "nowhere.mona";
          |         ^^^^^^^^^^^^^^

        --- exit status 2
    "#]]);
}

#[test]
fn wrong_input_is_located() {
    let scene = Scene::with("ws1s_wrong", "wrong.mona", "var2 X;\nex1 x: x inn X;\n");
    scene.check(
        &["ws1s", "wrong.mona"],
        expect![[r#"
        --- stderr
        error[syntax]: expected `;`, found `inn`
         --> wrong.mona:2:10
          |
        2 | ex1 x: x inn X;
          |          ^^^

        --- exit status 2
    "#]],
    );
    scene.write("tree.mona", b"ws2s;\nvar2 X; X = empty;\n");
    scene.check(
        &["ws1s", "tree.mona"],
        expect![[r#"
        --- stderr
        error[not-supported]: `ws2s` is not supported: trees (WS2S) are out of scope
         --> tree.mona:1:1
          |
        1 | ws2s;
          | ^^^^

        --- exit status 2
    "#]],
    );
    scene.write("model.fair", b"");
    scene.check(
        &["ws1s", "model.fair"],
        expect![[r#"
        --- stderr
        error: `model.fair` is not a `.mona` file
        --- exit status 2
    "#]],
    );
}

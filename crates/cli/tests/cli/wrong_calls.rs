//! Calls that cannot be answered.

use expect_test::expect;

use crate::models::COUNTER;
use crate::scene::Scene;

#[test]
fn files_that_cannot_be_read() {
    let scene = Scene::with("wrong_files", "m.fair", COUNTER);
    scene.check(
        &["check", "missing.fair"],
        expect![[r#"
        --- stderr
        error: `missing.fair` cannot be read: No such file or directory (os error 2)
        --- exit status 2
    "#]],
    );
    scene.check(
        &["simulate", "."],
        expect![[r#"
        --- stderr
        error: `.` is a directory, not a file
        --- exit status 2
    "#]],
    );
    scene.write("model.tla", b"---- MODULE model ----\n");
    scene.write("model", b"nothing\n");
    scene.check(
        &["check", "model.tla"],
        expect![[r#"
            --- stderr
            error: `model.tla`: `.tla` files are not supported; supported: `.fair` (the native language), `.csp` (CSP#), `.pml` (Promela), `.prm` (Promela), `.promela` (Promela), `.ta` (threshold automata); or say the language with `--language`
            --- exit status 2
        "#]],
    );
    scene.check(&["check", "model"], expect![[r#"
        --- stderr
        error: `model`: the file has no extension that says its language; supported: `.fair` (the native language), `.csp` (CSP#), `.pml` (Promela), `.prm` (Promela), `.promela` (Promela), `.ta` (threshold automata); or say the language with `--language`
        --- exit status 2
    "#]]);
    scene.check(&["check", "model", "--language", "tla"], expect![[r#"
        --- stderr
        error: there is no language `tla`; there are: `fair` (the native language), `csp` (CSP#), `pml` (Promela), `ta` (threshold automata)
        --- exit status 2
    "#]]);
    scene.write("bytes.fair", b"var x : bool = false\n\0\n");
    scene.check(
        &["check", "bytes.fair"],
        expect![[r#"
        --- stderr
        error: `bytes.fair` is not a text: byte 21 is zero
        --- exit status 2
    "#]],
    );
}

#[test]
fn models_that_are_wrong() {
    let scene = Scene::with(
        "wrong_model",
        "m.fair",
        "var x : 0..1 = 0\nprocess P { a when y > 0 }\nproperty p: <> x == 1\n",
    );
    scene.check(
        &["check", "m.fair"],
        expect![[r#"
        --- stderr
        error[unknown-name]: `y` is not declared
         --> m.fair:2:20
          |
        2 | process P { a when y > 0 }
          |                    ^

        --- exit status 2
    "#]],
    );
    scene.write("m.fair", b"");
    scene.check(&["check", "m.fair"], expect![[r#"
        --- stderr
        error: `m.fair` has no properties, so there is nothing to check; add one (`property done: eventually finished`) or give one with `--ltl FORMULA` or `--ctl FORMULA`
        --- exit status 2
    "#]]);
    scene.check(
        &["simulate", "m.fair", "--random"],
        expect![[r#"
        start: nothing to see
        deadlock: no step is possible
        --- exit status 0
    "#]],
    );
}

#[test]
fn nothing_to_check() {
    let scene = Scene::with("no_properties", "m.fair", "process P { go { skip } }\n");
    scene.check(&["check", "m.fair"], expect![[r#"
        --- stderr
        error: `m.fair` has no properties, so there is nothing to check; add one (`property done: eventually finished`) or give one with `--ltl FORMULA` or `--ctl FORMULA`
        --- exit status 2
    "#]]);
}

#[test]
fn unknown_properties() {
    let scene = Scene::with("unknown_property", "m.fair", COUNTER);
    scene.check(
        &["check", "m.fair", "--property", "smal"],
        expect![[r#"
        --- stderr
        error: there is no property `smal`; did you mean `small`?
        --- exit status 2
    "#]],
    );
    scene.check(
        &["check", "m.fair", "--property", "liveness"],
        expect![[r#"
        --- stderr
        error: there is no property `liveness`; the model has top, small, two, minus, deadlockfree
        --- exit status 2
    "#]],
    );
}

#[test]
fn wrong_formulas() {
    let scene = Scene::with("wrong_formula", "m.fair", COUNTER);
    scene.check(
        &["check", "m.fair", "--ltl", "<> (x == 3"],
        expect![[r#"
        --- stderr
        error[unclosed-bracket]: expected `)`, found the end of the text
         --> <--ltl>:1:11
          |
        1 | <> (x == 3
          |    -      ^
          |    |
          |    to close this bracket

        --- exit status 2
    "#]],
    );
    scene.check(
        &["check", "m.fair", "--assume", "<> x == 3"],
        expect![[r#"
        --- stderr
        error[assumption]: an assumption combines `[]<> p` and `<>[] p` by Boolean operators
         --> <--assume>:1:1
          |
        1 | <> x == 3
          | ^^^^^^^^^
          |
          = help: for example `assume []<> p -> []<> q`

        --- exit status 2
    "#]],
    );
}

#[test]
fn wrong_values() {
    let scene = Scene::with("wrong_values", "m.fair", COUNTER);
    let wrong = |option: &str, value: &str| {
        let called = scene.call(&["check", "m.fair", option, value]);
        assert_eq!((called.status, called.stdout.as_str()), (2, ""));
        called.stderr
    };
    expect![[r#"
        error: invalid value 'strnog' for '--fairness <KIND>': allowed are none, just, weak-process, strong-process, weak, strong, strong-global, annotated, and KIND+annotated, several of them with commas, or `all`; did you mean `strong`?

        For more information, try '--help'.
    "#]].assert_eq(&wrong("--fairness", "strnog"));
    expect![[r#"
        error: invalid value 'LIMIT' for '-D <NAME=VALUE>': write NAME=VALUE, such as -D N=4

        For more information, try '--help'.
    "#]]
    .assert_eq(&wrong("-D", "LIMIT"));
    expect![[r#"
        error[define]: `-D LIMT=…`: the model has no constant `LIMT`
         |
         = help: did you mean `LIMIT`?

    "#]]
    .assert_eq(&wrong("-D", "LIMT=3"));
    expect![[r#"
        error[define]: `-D LIMIT=x` does not give an integer
         --> m.fair:1:7
          |
        1 | const LIMIT = 3
          |       ^^^^^

    "#]]
    .assert_eq(&wrong("-D", "LIMIT=x"));
    expect![[r#"
        error: invalid value 'soon' for '--timeout <DURATION>': `soon` is not a duration: write a number with ms, s, m or h, such as 500ms or 2m

        For more information, try '--help'.
    "#]].assert_eq(&wrong("--timeout", "soon"));
    expect![[r#"
        error: invalid value '2 apples' for '--max-memory <SIZE>': `2 apples` is not a size: write a number of bytes or one with a unit, such as 512M or 2GiB

        For more information, try '--help'.
    "#]].assert_eq(&wrong("--max-memory", "2 apples"));
    expect![[r#"
        error: unexpected argument '-1' found

          tip: to pass '-1' as a value, use '-- -1'

        Usage: fair check [OPTIONS] <FILE>...

        For more information, try '--help'.
    "#]]
    .assert_eq(&wrong("--max-states", "-1"));
    expect![[r#"
        error: invalid value 'xml' for '--output-format <FORMAT>'
          [possible values: text, json, json-lines, junit, sarif]

        For more information, try '--help'.
    "#]]
    .assert_eq(&wrong("--output-format", "xml"));
    expect![[r#"
        error: there is no directory `no/such` for a trace
    "#]]
    .assert_eq(&wrong("--trace", "no/such/t.itf.json"));
    expect![[r#"
        error: `.` is a directory, not a file
    "#]]
    .assert_eq(&wrong("--trace", "."));
}

#[test]
fn unknown_commands_and_options() {
    let scene = Scene::new("unknown_command");
    scene.check(
        &["chekc", "m.fair"],
        expect![[r#"
        --- stderr
        error: unrecognized subcommand 'chekc'

          tip: a similar subcommand exists: 'check'

        Usage: fair [OPTIONS] <COMMAND>

        For more information, try '--help'.
        --- exit status 2
    "#]],
    );
    scene.check(
        &["check"],
        expect![[r#"
            --- stderr
            error: the following required arguments were not provided:
              <FILE>...

            Usage: fair check <FILE>...

            For more information, try '--help'.
            --- exit status 2
        "#]],
    );
    scene.check(
        &["check", "m.fair", "--cores", "4"],
        expect![[r#"
            --- stderr
            error: unexpected argument '--cores' found

              tip: a similar argument exists: '--workers'

            Usage: fair check --threads <N> <FILE>...

            For more information, try '--help'.
            --- exit status 2
        "#]],
    );
}

//! Reductions, asked for and refused.

use expect_test::expect;

use crate::scene::Scene;

/// Two processes that have nothing to do with each other.
const APART: &str = "\
process P {
    init a
    from a { go -> b }
    from b { go -> c }
    from c { go -> d }
    from d { go -> a }
}
process Q {
    init a
    from a { go -> b }
    from b { go -> c }
    from c { go -> d }
    from d { go -> a }
}
deadlockfree
";

#[test]
fn the_report_says_which_reductions_were_used() {
    let scene = Scene::with("reduced", "m.fair", APART);
    let reduced = |flags: &[&str]| {
        let call = [&["check", "m.fair", "--output-format", "json"], flags].concat();
        let called = scene.call(&call);
        assert_eq!(called.status, 0, "{}", called.stderr);
        let json: serde_json::Value = serde_json::from_str(&called.stdout).expect("it is JSON");
        let result = &json["results"][0];
        (result["reduced"].to_string(), result["states"].as_u64())
    };
    let complete = ("null".to_owned(), Some(16));
    assert_eq!(reduced(&[]), complete);
    assert_eq!(reduced(&["--reduce=auto"]), complete);
    assert_eq!(reduced(&["--reduce=none"]), complete);
    assert_eq!(reduced(&["--reduce=symmetry"]), complete);
    let partial_order = (r#"["partial-order"]"#.to_owned(), Some(4));
    assert_eq!(reduced(&["--reduce"]), partial_order);
    assert_eq!(reduced(&["--reduce=partial-order"]), partial_order);
    scene.check(
        &["check", "-v", "m.fair", "--reduce"],
        expect![[r#"
            deadlockfree  holds  (fairness none, 4 states, T s)
              rests on: partial-order reduction
              formula: deadlockfree
              cost: route explicit, 4 states, 4 transitions, reduced by partial-order, M KiB, T s
            --- exit status 0
        "#]],
    );
}

#[test]
fn nothing_and_something_are_not_both_asked_for() {
    let scene = Scene::with("reduce_none", "m.fair", APART);
    scene.check(
        &["check", "m.fair", "--reduce=none,symmetry"],
        expect![[r#"
            --- stderr
            error: `none` cannot be combined with other reductions
            --- exit status 2
        "#]],
    );
    scene.check(
        &["check", "m.fair", "--reduce=partial-order,auto"],
        expect![[r#"
            --- stderr
            error: `auto` cannot be combined with other reductions
            --- exit status 2
        "#]],
    );
}

//! CSP# files.

use crate::scene::Scene;

const MODEL: &str = "
    var n = 0;
    Spec = a -> b -> Spec;
    Impl = a -> (b -> Impl [] c{n = 3;} -> Impl);
    Sys = Impl ||| Impl;
    #define done n == 3;
    #assert Impl refines Spec;
    #assert Spec refines<FD> Spec;
    #assert Sys |= []<> a;
    #assert Sys |= []<> c;
    #assert Sys reaches done with max(n);
    #assert Sys deterministic;
";

fn verdict_of(scene: &Scene, property: &str, arguments: &[&str]) -> String {
    let call = [&["check", "m.csp", "--property", property][..], arguments].concat();
    scene.call(&call).transcript()
}

#[test]
fn every_kind_of_assertion_is_answered() {
    let scene = Scene::with("csp_kinds", "m.csp", MODEL);
    let expected = [
        (
            "Impl refines Spec",
            "the specification does not have the trace ⟨a, c⟩",
        ),
        ("Spec refines<FD> Spec", "Spec refines<FD> Spec  holds"),
        ("Sys |= []<> a", "Sys |= []<> a  holds"),
        ("Sys |= []<> c", "Sys |= []<> c  violated"),
        ("Sys reaches done with max(n)", "the greatest value is 3"),
        ("Sys deterministic", "here `a` leads to different states"),
    ];
    for (property, text) in expected {
        let shown = verdict_of(&scene, property, &[]);
        assert!(shown.contains(text), "{property}: {shown}");
    }
    let fair = verdict_of(&scene, "Sys |= []<> c", &["--fairness", "strong"]);
    assert!(fair.contains("Sys |= []<> c  holds"), "{fair}");
}

#[test]
fn a_model_that_provides_for_too_little_is_loaded_again() {
    let text = "
        Deep(i) = [i < 6000] a -> Deep(i + 1) [] [i == 6000] b -> Deep(0);
        #assert Deep(0) deadlockfree;
    ";
    let scene = Scene::with("csp_pool", "m.csp", text);
    let shown = verdict_of(&scene, "Deep(0) deadlockfree", &[]);
    assert!(shown.contains("Deep(0) deadlockfree  holds"), "{shown}");
    let endless = "P(i) = a -> P(i + 1); #assert P(0) deadlockfree;";
    scene.write("m.csp", endless.as_bytes());
    let shown = verdict_of(&scene, "P(0) deadlockfree", &[]);
    assert!(
        shown.contains("P(0) deadlockfree  unknown: unsupported"),
        "{shown}"
    );
    assert!(shown.contains("--- exit status 3"), "{shown}");
}

#[test]
fn traces_of_all_systems_replay() {
    let scene = Scene::with("csp_replay", "m.csp", MODEL);
    verdict_of(&scene, "Sys |= []<> c", &["--trace", "t.itf.json"]);
    let shown = scene.call(&["replay", "m.csp", "t.itf.json"]).transcript();
    assert!(
        shown.contains("confirmed: it violates `Sys |= []<> c`"),
        "{shown}"
    );
    verdict_of(&scene, "Impl refines Spec", &["--trace", "r.itf.json"]);
    let shown = scene.call(&["replay", "m.csp", "r.itf.json"]).transcript();
    assert!(shown.contains("valid: a run of the model"), "{shown}");
    assert!(shown.contains("needs a search"), "{shown}");
}

#[test]
fn formulas_and_assumptions_of_the_call_are_understood() {
    let scene = Scene::with("csp_call", "m.csp", MODEL);
    let call = ["check", "m.csp", "--ltl", "[]<> c", "--assume", "[]<> c"];
    let shown = scene.call(&call).transcript();
    assert!(shown.contains("ltl-1  holds"), "{shown}");
    let wrong = scene
        .call(&["check", "m.csp", "--ltl", "[]<> nothing"])
        .transcript();
    assert!(
        wrong.contains("there is no proposition or event `nothing`"),
        "{wrong}"
    );
}

/// What is never taken is said once for each place, not once for each value.
#[test]
fn events_that_never_happen_are_listed_together() {
    let text = "
        var x = 0;
        Count = up{x = 1 - x;} -> Count;
        Read = [] i:{10..99} @ [x == i] read_res.0.i -> Read;
        Sys = Count ||| Read;
        #assert Sys deadlockfree;
    ";
    let scene = Scene::with("csp_never_taken", "m.csp", text);
    let shown = verdict_of(&scene, "Sys deadlockfree", &[]);
    let warnings: Vec<&str> = shown.lines().filter(|l| l.contains("never")).collect();
    let [only] = warnings.as_slice() else {
        panic!("{shown}");
    };
    for part in ["read_res.0.10", "read_res.0.99", "88 more are never taken"] {
        assert!(only.contains(part), "{only}");
    }
}

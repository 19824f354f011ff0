//! What properties, assumptions and annotations become.

use crate::support::{count, load, model, show};
use expect_test::{Expect, expect};
use logic::Property;
use model::{Assumption, Model};
use source::Options;

const DECLARATIONS: &str = "
const N = 2
var x, y : 0..3 = 0
var a : bool[N] = false
event go
event pass(0..N-1)
process P(id in 0..N-1) {
    var z : 0..1 = 0
    init idle
    from idle {
        enter(j in 0..1)                 -> busy
        move  sync pass(id)
    }
    from busy {
        leave { x := choose 0..3 }       -> idle
        stop  sync go
    }
}
process Q { tick { skip }  other sync go }
def one      = (count i in 0..N-1: a[i]) == 1
def near(i)  = P[i] @ busy && x == i
def comes(i) = eventually near(i)
";

/// Every property with its formula over atoms, and every assumption.
fn shown(text: &str) -> String {
    let loaded = load(&format!("{DECLARATIONS}{text}"), &Options::default());
    let diagnostics = show(&loaded);
    let Some(model) = loaded.model else {
        return diagnostics;
    };
    let name = |atom: base::AtomId| format!("`{}`", model.parts().atoms[atom.index()].name);
    let mut shown = diagnostics;

    for property in &loaded.properties {
        let linear = |formula: &logic::Ltl| formula.display(&name).to_string();
        let (kind, formula) = match &property.property {
            Property::Ltl(formula) => ("ltl", linear(formula)),
            Property::Invariant(formula) => ("invariant", linear(formula)),
            Property::Reachable(formula) => ("reachable", linear(formula)),
            Property::DeadlockFree => ("deadlock-free", String::new()),
            Property::CtlStar(formula) => ("ctl*", formula.text(&name)),
            Property::Never(_) => unreachable!("the language has no claims"),
            Property::MayMust(question) => {
                let system = &model.parts().systems[question.system];
                let name = |atom: base::AtomId| system.propositions()[atom.index()].name.clone();
                let fairness = question.fairness.display(&name).to_string();
                let formula = question.formula.text(&name);
                ("may-must", format!("{formula} assuming {fairness}"))
            }
        };
        let fairness = property
            .fairness
            .map_or(String::new(), |f| format!(" under {}", f.name()));
        shown += &format!("{}{fairness}: {kind} {formula}\n", property.name);
    }

    for assumption in &model.parts().assumptions {
        shown += &format!("assume {}\n", assumption_text(assumption, &model));
    }
    shown
}

fn assumption_text(assumption: &Assumption, model: &Model) -> String {
    let literal = |atom: &base::AtomId, positive: &bool| {
        let sign = if *positive { "" } else { "!" };
        format!("{sign}`{}`", model.parts().atoms[atom.index()].name)
    };
    let all = |parts: &[Assumption], symbol: &str| {
        let texts: Vec<String> = parts.iter().map(|p| assumption_text(p, model)).collect();
        format!("({})", texts.join(symbol))
    };
    match assumption {
        Assumption::Infinitely(atom, positive) => format!("[]<>{}", literal(atom, positive)),
        Assumption::Eventually(atom, positive) => format!("<>[]{}", literal(atom, positive)),
        Assumption::All(parts) => all(parts, " && "),
        Assumption::Any(parts) => all(parts, " || "),
    }
}

fn check(text: &str, expect: &Expect) {
    expect.assert_eq(&shown(text));
}

#[test]
fn precedence() {
    check(
        "
property p1: [] x == 1 && y == 2
property p2: a[0] U a[1] && a[0]
property p3: !a[0] U a[1] || <> a[0] -> X a[1]
property p4: always a[0] -> eventually a[1]
property p5: a[0] U a[1] R a[0] W a[1] M a[0]
property p6: not x == 1 until x + 1 * 2 == 3
property p7: G F a[0] <-> a[0] unless next a[1]
property p8: (a[0] || a[1]) release a[1] V a[0]
",
        &expect![[r#"
            p1: ltl []`x == 1` && `y == 2`
            p2: ltl `a[0]` U `a[1]` && `a[0]`
            p3: ltl !`a[0]` U `a[1]` || <>`a[0]` -> X `a[1]`
            p4: ltl []`a[0]` -> <>`a[1]`
            p5: ltl `a[0]` U (`a[1]` R (`a[0]` W (`a[1]` M `a[0]`)))
            p6: ltl !`x == 1` U `x + 1 * 2 == 3`
            p7: ltl []<>`a[0]` <-> `a[0]` W X `a[1]`
            p8: ltl `a[0] || a[1]` R (`a[1]` R `a[0]`)
        "#]],
    );
}

#[test]
fn atoms_are_maximal_and_shared() {
    check(
        "
property p1: always (a[0] && x == 1 || y > 2)
property p2: always (one -> <> (near(1) && comes(0)))
property p3: forall i in 0..N-1: always (P[i] @ busy -> eventually P[i] @ {idle})
property p4: always (exists i, j in 0..1 where i != j: P[i] @ busy && P[j].z == 1)
property p5: <> (exists i in 0..1: a[i]) && <> (exists j in 0..1: a[j])
property p6: always (true && 1 < 2) || <> false
",
        &expect![[r#"
            p1: invariant `a[0] && x == 1 || y > 2`
            p2: ltl [](`one` -> <>(`near(1)` && <>`near(0)`))
            p3: ltl [](`P[0] @ busy` -> <>`P[0] @ idle`) && [](`P[1] @ busy` -> <>`P[1] @ idle`)
            p4: invariant `exists i, j in 0..1 where i != j: P[i] @ busy && P[j].z == 1`
            p5: ltl <>`exists i in 0..1: a[i]` && <>`exists i in 0..1: a[i]`
            p6: ltl []true || <>false
        "#]],
    );
}

#[test]
fn steps() {
    check(
        "
property p1: []<> P[1].enter && []<> P.leave
property p2: [] (P[0].enter(1) -> X P[0] @ busy)
property p3: []<> go || []<> pass(1) || []<> pass
property p4: [] (enabled(P[1].leave) -> <> moves(P[1])) && []<> P[0].* && <> enabled(go)
property p5: exists i in 0..1 where i != 0: []<> P[i].leave
property p6: [] !deadlock
invariant i1: Q.tick -> x < 3
",
        &expect![[r#"
            p1: ltl []<>`P[1].enter` && []<>`P.leave`
            p2: ltl [](`P[0].enter(1)` -> X `P[0] @ busy`)
            p3: ltl []<>`go` || []<>`pass(1)` || []<>`pass`
            p4: ltl [](`enabled(P[1].leave)` -> <>`moves(P[1])`) && []<>`P[0].*` && <>`enabled(go)`
            p5: ltl []<>`P[1].leave`
            p6: invariant !`deadlock`
            i1: invariant `Q.tick` -> `x < 3`
        "#]],
    );
}

#[test]
fn kinds_of_properties() {
    check(
        "
property p1: always a[0] && always a[1]
property p2 under strong-global: <>[] one
property p3: never_one
def never_one = !eventually one
reachable r: near(0) && near(1)
invariant i under weak+annotated: !one
property d: deadlockfree
deadlockfree
",
        &expect![[r#"
            p1: invariant `a[0]` && `a[1]`
            p2 under strong-global: ltl <>[]`one`
            p3: invariant !`one`
            r: reachable `near(0) && near(1)`
            i under weak+annotated: invariant !`one`
            d: deadlock-free 
            deadlockfree: deadlock-free 
        "#]],
    );
}

#[test]
fn assumptions() {
    check(
        "
assume []<> a[0] -> []<> P[0].enter
assume forall i in 0..1: []<> (P[i].enter || a[i])
assume ![]<> x == 1 && <>[](a[0] && a[1])
",
        &expect![[r#"
            assume (<>[]!`a[0]` || []<>`P[0].enter`)
            assume (([]<>`P[0].enter` || []<>`a[0]`) && ([]<>`P[1].enter` || []<>`a[1]`))
            assume (<>[]!`x == 1` && <>[]`a[0] && a[1]`)
        "#]],
    );
}

#[test]
fn texts_of_the_command_line() {
    let options = Options {
        ltl: vec![("--ltl".to_owned(), " <> near(1) ".to_owned())],
        assume: vec!["[]<> go".to_owned()],
        ..Options::default()
    };
    let loaded = load(DECLARATIONS, &options);
    assert_eq!(show(&loaded), "");
    assert_eq!(loaded.properties[0].name, "--ltl");
    assert_eq!(loaded.properties[0].text, "<> near(1)");
    assert_eq!(loaded.properties[0].span.source.index(), 1);
    assert_eq!(loaded.model.expect("right").parts().assumptions.len(), 1);
}

#[test]
fn annotations() {
    let text = "
fairness strong
strong fair process P(i in 0..1) {
    init s
    from s, t {
        weak fair a -> t
        fair choice b -> s
        a { skip }
    }
}";
    let model = model(text, &[]);
    let annotated: Vec<String> = model
        .parts()
        .annotations
        .iter()
        .map(|a| format!("{:?} {:?}", a.kind, a.target))
        .collect();
    expect![[r#"
        Strong Process(ProcessId(0))
        Weak Action(ProcessId(0), "a")
        Unconditional Choice(ProcessId(0), 2)
        Unconditional Choice(ProcessId(0), 3)"#]]
    .assert_eq(&annotated.join("\n"));
    assert_eq!(
        model.parts().fairness.map(base::Fairness::name),
        Some("strong".to_owned())
    );
}

/// The only final values of `x` and `y` that an effect leads to, sorted.
fn results(declarations: &str, effect: &str) -> Vec<Vec<i64>> {
    let text = format!(
        "{declarations}\nprocess P {{\n init s\n from s {{ a {{ {effect} }} -> t }}\n from t {{ }}\n}}"
    );
    let model = model(&text, &[]);
    let initial = model.initial_states().expect("initial states");
    let steps = model.successors(&initial[0]).expect("no run-time error");
    let mut cells: Vec<_> = steps.into_iter().map(|step| step.target.cells).collect();
    cells.sort();
    cells
}

#[test]
fn effects() {
    let two = "var x, y : 0..9 = 1";
    assert_eq!(results(two, "x := 2; y := x + 1"), [[2, 3]]);
    assert_eq!(results(two, "x, y := 2, x + 4"), [[2, 5]]);
    assert_eq!(results(two, "let old = x; x := 5; y := old"), [[5, 1]]);
    assert_eq!(
        results(two, "x := choose 2..4 where x != 3"),
        [[2, 1], [4, 1]]
    );
    assert_eq!(results(two, "x := choose v in 0..2 where v > x"), [[2, 1]]);
    assert_eq!(
        results(
            two,
            "if x == 2 { y := 3 } else if x == 1 { y := 4 } else { y := 5 }"
        ),
        [[1, 4]]
    );
    assert_eq!(results(two, "for i in 1..3 { x := x + i }"), [[7, 1]]);
    assert_eq!(
        results(
            two,
            "x := min(3, y) + max(x, 4) + abs(0 - 2); assert x == 7"
        ),
        [[7, 1]]
    );
    assert_eq!(
        results(two, "x := 7 / 2 + 7 % 4 - -1; y := if x > 3 then 0 else 1"),
        [[7, 0]]
    );

    let none: [[i64; 2]; 0] = [];
    assert_eq!(results(two, "x := choose 5..4"), none);
}

#[test]
fn arrays_and_records() {
    let data = "record R { on: bool, n: 0..3 }\nvar r, s : R = R(true, 2)\nvar a : array[1..3] of 0..9 = [i in 1..3: i * 2]";
    assert_eq!(results(data, "r.n := 3; s := r"), [[1, 3, 1, 3, 2, 4, 6]]);
    assert_eq!(
        results(data, "r := R(false, 0); a := 7"),
        [[0, 0, 1, 2, 7, 7, 7]]
    );
    assert_eq!(
        results(data, "a := [i in 1..3: a[4 - i]]"),
        [[1, 2, 1, 2, 6, 4, 2]]
    );
    assert_eq!(
        results(data, "a := [a[3], a[1], a[2]]"),
        [[1, 2, 1, 2, 6, 2, 4]]
    );
    assert_eq!(
        results(data, "a[1], a[2] := a[2], a[1]"),
        [[1, 2, 1, 2, 4, 2, 6]]
    );
}

#[test]
fn enumerations_and_initial_states() {
    let text = "
enum Color { red, green, blue }
var c, d : Color = any
var b : bool[2] = any
init c != red && (b[0] -> b[1])
process P { turn when c == green { c := Color.blue; d := choose Color } }
";
    let model = model(text, &[]);
    assert_eq!(
        model.initial_states().expect("initial states").len(),
        2 * 3 * 3
    );
}

#[test]
fn matching_messages() {
    let text = "
chan c[2] of (0..3, bool)
var x : 0..3 = 2
process S { init s from s { send c ! (1, true) -> t } from t { more c ! (x, true) -> u } from u { } }
process R {
    init s
    from s { exact c ? (x, _) -> t }
    from t { fits  c ? ((x + 1), true) -> u
             never c ? (3, _) -> u }
    from u { }
}
";
    // The second message equals x + 1 only if it was sent before x was overwritten.
    assert_eq!(count(&model(text, &[])), (7, 8));
}

/// A step may be named like an operator, even where the line before could go on.
#[test]
fn operators_as_names_of_actions() {
    let text = "
var x : bool = true
process P {
    take when x
    release when !x
    next { x := !x }
    until { skip }
}
property p: []<> P.release && P.next U P.until
";
    let model = model(text, &[]);
    let names: Vec<&str> = model.actions().iter().map(|a| a.name.as_str()).collect();
    assert_eq!(names, ["P.take", "P.release", "P.next", "P.until"]);
}

#[test]
fn several_enumerations_may_share_names() {
    let text = "enum A { on, off }\nenum B { on, broken }\nvar a : A = on\nvar b : B = on\nproperty p: always (a == on && on == b)\nprocess P { s { skip } }";
    assert_eq!(model(text, &[]).parts().atoms.len(), 1);
}

#[test]
fn definitions_do_not_see_names_of_their_users() {
    let text = "var i : 0..3 = 2\ndef twice(k) = k + i\nprocess P(i in 0..0) { s when twice(i) == 2 }\nproperty p: exists i in 1..1: <> twice(i) == 3";
    let model = model(text, &[]);
    let initial = model.initial_states().expect("initial states");
    assert_eq!(model.successors(&initial[0]).expect("steps").len(), 1);
    assert!(
        model
            .atom_holds(base::AtomId(0), &initial[0], &[])
            .expect("value")
    );
}

/// The examples of the reference manual are what it says: complete and right.
#[test]
fn examples_of_the_manual() {
    let page = |name: &str| {
        let path = format!("{}/../../docs/{name}", env!("CARGO_MANIFEST_DIR"));
        std::fs::read_to_string(path).expect("the page exists")
    };
    let manual = page("reference/language.md") + &page("how-to/come-from-another-language.md");
    let blocks: Vec<&str> = manual.split("```fair\n").skip(1).collect();
    let blocks = blocks.iter().map(|block| block.split("```").next());
    let blocks: Vec<&str> = blocks.map(|text| text.expect("a block ends")).collect();
    assert!(blocks.len() >= 12);

    // A block that begins with the name of a file can be imported.
    let named = blocks.iter().filter_map(|text| {
        let (name, _) = text.strip_prefix("// ")?.split_once('\n')?;
        name.ends_with(".fair").then_some((name, *text))
    });
    let files = source::Memory::new(named);
    let closed = Options {
        closed: true,
        ..Options::default()
    };
    for text in blocks {
        let source = base::Source {
            name: "test.fair".to_owned(),
            text: text.to_owned(),
        };
        let mut loaded = lang::load_with(source, &files, &closed).single();
        loaded
            .diagnostics
            .retain(|d| !crate::support::UNUSED.contains(&d.code));
        assert_eq!(show(&loaded), "", "{text}");
        assert!(!loaded.properties.is_empty(), "{text}");
    }
}

#[test]
fn path_quantifiers() {
    check(
        "
        property reset:  A(G(E(F one)))
        property short:  AG EF one && !EX(near(1)) || E[ one U near(0) ] && A [] E <> !one
        property linear: A(G(one -> F near(0)))
        property both:   A(F one) && A G near(1)
        property steps:  E(G F P[1].enter(2) && [] (Q.tick -> A X !Q.tick))
        property every:  forall i in 0..1: EF near(i)
        property state:  one -> AX AX one
        ",
        &expect![[r#"
            reset: ctl* A([]E(<>`one`))
            short: ctl* A([]E(<>`one`)) && !E(X `near(1)`) || E(`one` U `near(0)`) && A([]E(<>!`one`))
            linear: ltl [](`one` -> <>`near(0)`)
            both: ltl <>`one` && []`near(1)`
            steps: ctl* E([]<>`P[1].enter(2)` && [](`Q.tick` -> A(X !`Q.tick`)))
            every: ctl* E(<>`near(0)`) && E(<>`near(1)`)
            state: ctl* `one` -> A(X A(X `one`))
        "#]],
    );
}

#[test]
fn letters_that_name_something_are_no_quantifiers() {
    let text = "
        var A : bool[2] = false
        def E(i) = A[i]
        process P { s { A[0] := true } }
        property p: G(A[0] -> F E(1))
        property q: A F A[1]
    ";
    let loaded = load(text, &Options::default());
    assert!(loaded.diagnostics.is_empty(), "{}", show(&loaded));
    let kinds: Vec<bool> = loaded
        .properties
        .iter()
        .map(|p| matches!(p.property, Property::Ltl(_)))
        .collect();
    assert_eq!(kinds, [true, true]);
}

#[test]
fn may_must_systems() {
    check(
        "
        system S {
            states a, b, c; init a
            free a -> b, b -> c
            constrained b -> b
            p: true in a, b, false in c
            q: unknown in a, true in b
            assume []<> p
            property one: @ {a, b} -> A(F(p && E X !q))
            property two assuming <>[] q -> []<> !p: AG p
        }
        ",
        &expect![[r#"
            S.one: may-must @ a || @ b -> A(<>(p && E(X !q))) assuming []<>p
            S.two: may-must A([]p) assuming []<>p && (<>[]q -> []<>!p)
        "#]],
    );
    let text = "system S { states a, b; init b; free a -> b; steps a -> a; p: true in a }";
    let loaded = load(text, &Options::default());
    let model = loaded.model.expect("no errors");
    let system = &model.parts().systems[0];
    assert_eq!(system.free(), [vec![0, 1], vec![1]]);
    // Without any step a state idles, and that it must.
    assert_eq!(system.constrained(), [vec![0], vec![1]]);
    assert_eq!(system.initial(), [1]);
    assert_eq!(system.propositions()[0].values, [Some(true), None]);
}

#[test]
fn formulas_of_the_command_line_with_quantifiers() {
    let options = Options {
        ctl: vec![
            ("ctl-1".into(), "AG EF p".into()),
            ("ctl-2".into(), "p".into()),
        ],
        ..Options::default()
    };
    let of_system = load("system S { states a; init a; p: true in a }", &options);
    assert!(of_system.diagnostics.is_empty(), "{}", show(&of_system));
    let is_system = |p: &logic::NamedProperty| matches!(p.property, Property::MayMust(_));
    assert!(of_system.properties.iter().all(is_system));
    let of_processes = load("var p : bool\nprocess P { s { skip } }", &options);
    assert!(of_processes.diagnostics.is_empty());
    let is_branching = |p: &logic::NamedProperty| matches!(p.property, Property::CtlStar(_));
    assert!(of_processes.properties.iter().all(is_branching));
    let outer = Options {
        ctl: vec![("ctl-1".into(), "G p".into())],
        ..Options::default()
    };
    let wrong = load("var p : bool\nprocess P { s { skip } }", &outer);
    expect![[r#"
        no-state-formula <--ctl> 1:1 a temporal operator stands outside the path quantifiers
            help: write `A(…)` for all fair runs or `E(…)` for some fair run around it
    "#]]
    .assert_eq(&show(&wrong));
}

/// Inside of parentheses a component of a message may be compared with any expression.
#[test]
fn a_condition_can_be_what_a_message_must_equal() {
    let text = "
        var x : 0..1 = 0
        var b : bool = true
        chan one[1] of bool
        chan two[1] of (bool, 0..1)
        process S { put one ! x == 0 }
        process R {
            get  one ? (x == 1 || b) { x := 1 }
            both two ? (x == 1 || b, x)
        }
        reachable got: x == 1
    ";
    // The message is sent, and received once: it is `true`, and so is the condition.
    assert_eq!(count(&model(text, &[])).0, 4);
}

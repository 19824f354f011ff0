//! Formulas built without text mean what their text means.

use base::{Budget, Source};
use ws1s::{Automaton, Formula, Formulas, Options, Position, Set, Var, VarKind};

/// The variables of every test, in the order of the declarations in [`parsed`].
struct Vars {
    x: Var,
    y: Var,
    a: Var,
    b: Var,
}

fn parsed(text: &str) -> Automaton {
    let source = Source {
        name: "built.mona".into(),
        text: format!("var1 x, y; var2 A, B; {text};"),
    };
    let options = Options {
        automata: true,
        clock: None,
    };
    let mut no_files = |_: &str| Err("no files".to_owned());
    let mut report = ws1s::run(source, &mut no_files, &options, &Budget::unlimited());
    assert!(!report.has_errors(), "{text}: {:?}", report.diagnostics);
    report.answers.swap_remove(0).automaton.unwrap()
}

fn built(build: &dyn Fn(&mut Formulas, &Vars) -> Formula) -> Automaton {
    let mut formulas = Formulas::new();
    let vars = Vars {
        x: formulas.var(VarKind::First),
        y: formulas.var(VarKind::First),
        a: formulas.var(VarKind::Set),
        b: formulas.var(VarKind::Set),
    };
    let formula = build(&mut formulas, &vars);
    let positions = [vars.x, vars.y].map(|var| formulas.is_position(var));
    let formula = formulas.and(&[formula, positions[0].clone(), positions[1].clone()]);
    formulas.automaton(&formula, &Budget::unlimited()).unwrap()
}

fn check(text: &str, build: impl Fn(&mut Formulas, &Vars) -> Formula) {
    let budget = Budget::unlimited();
    let (parsed, built) = (parsed(text), built(&build));
    assert!(
        parsed.is_equivalent_to(&built, &budget).unwrap(),
        "{text} is not what was built"
    );
    let (parsed, built) = (parsed.complement(), built.complement());
    assert!(
        parsed.is_equivalent_to(&built, &budget).unwrap(),
        "~({text}) is not what was built"
    );
}

fn at(var: Var) -> Position {
    var.into()
}

#[test]
fn positions() {
    check("x < y", |f, v| f.less(v.x, v.y));
    check("x <= y + 2", |f, v| f.less_equal(v.x, at(v.y).plus(2)));
    check("x - 2 = y", |f, v| f.equal(at(v.x).minus(2), v.y));
    check("x - 2 + 3 < y", |f, v| {
        f.less(at(v.x).minus(2).plus(3), v.y)
    });
    check("x = 3", |f, v| f.equal(v.x, 3));
    check("0 < x + 1", |f, v| f.less(0, at(v.x).plus(1)));
    check("x = min A", |f, v| f.equal(v.x, Set::from(v.a).min()));
    check("max (A union B) < x", |f, v| {
        f.less(Set::from(v.a).union(v.b).max(), v.x)
    });
    check("x = y + 1 % 3", |f, v| f.equal(v.x, at(v.y).next_modulo(3)));
    check("x = y - 1 % max A", |f, v| {
        let modulus = Set::from(v.a).max();
        f.equal(v.x, at(v.y).previous_modulo(modulus))
    });
}

/// Unlike in text, where a negative constant is an error.
#[test]
fn constants_saturate_too() {
    check("x = 0", |f, v| f.equal(v.x, Position::from(2).minus(3)));
}

#[test]
fn sets() {
    check("x in A", |f, v| f.member(v.x, v.a));
    check("x - 1 in A \\ B", |f, v| {
        f.member(at(v.x).minus(1), Set::from(v.a).difference(v.b))
    });
    check("x in {1, y, 70}", |f, v| {
        f.member(v.x, Set::Display(vec![1.into(), v.y.into(), 70.into()]))
    });
    check("A sub B inter {x, ..., y}", |f, v| {
        f.subset(v.a, Set::from(v.b).intersection(Set::interval(v.x, v.y)))
    });
    check("A = {x}", |f, v| f.equal_sets(v.a, Set::single(v.x)));
    check("{x, ..., y + 1} = A", |f, v| {
        f.equal_sets(Set::interval(v.x, at(v.y).plus(1)), v.a)
    });
    check("A = {0, 2}", |f, v| {
        f.equal_sets(v.a, Set::Display(vec![0.into(), 2.into()]))
    });
    check("A + 1 = B - 2", |f, v| {
        f.equal_sets(Set::from(v.a).plus(1), Set::from(v.b).minus(2))
    });
    check("empty(A inter B)", |f, v| {
        f.is_empty(Set::from(v.a).intersection(v.b))
    });
    check("A = empty", |f, v| f.equal_sets(v.a, Set::empty()));
}

/// An initial segment, as parameterized verification needs it.
#[test]
fn quantifiers() {
    check("all1 p: p in A & 0 < p => p - 1 in A", |f, v| {
        let p = f.var(VarKind::First);
        let premises = [f.member(p, v.a), f.less(0, p)];
        let premise = f.and(&premises);
        let conclusion = f.member(at(p).minus(1), v.a);
        let body = f.implies(&premise, &conclusion);
        f.forall(&[p], &body)
    });
    check("ex2 C: C sub A & x in C & y notin C", |f, v| {
        let c = f.var(VarKind::Set);
        let parts = [f.subset(c, v.a), f.member(v.x, c), f.member(v.y, c)];
        let outside = f.not(&parts[2]);
        let body = f.and(&[parts[0].clone(), parts[1].clone(), outside]);
        f.exists(&[c], &body)
    });
}

#[test]
#[should_panic(expected = "a variable of the wrong kind")]
fn a_set_is_no_position() {
    let mut formulas = Formulas::new();
    let set = formulas.var(VarKind::Set);
    let _ = formulas.less(set, 1);
}

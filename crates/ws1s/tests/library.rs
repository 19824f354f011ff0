//! The crate as a library: automata, models, files, the vector-valued product.

use std::collections::{BTreeMap, BTreeSet};

use base::{Budget, Source};
use ws1s::{
    Automaton, FALSE, Formulas, Options, Report, TRUE, Value, Var, VarKind, VectorMachine, Verdict,
    reachable_vectors,
};

fn run(text: &str, files: &BTreeMap<String, String>) -> Report {
    let source = Source {
        name: "dir/main.mona".into(),
        text: text.to_owned(),
    };
    let mut loader = |path: &str| {
        files
            .get(path)
            .cloned()
            .ok_or_else(|| "no such file".to_owned())
    };
    let options = Options {
        automata: true,
        clock: None,
    };
    let report = ws1s::run(source, &mut loader, &options, &Budget::unlimited());
    assert!(!report.has_errors(), "{text}: {:?}", report.diagnostics);
    report
}

/// The automaton of a formula given as text, with its variables by name.
fn automaton(text: &str) -> (Automaton, BTreeMap<String, Var>) {
    let mut report = run(text, &BTreeMap::new());
    let names = report
        .variables
        .iter()
        .map(|(var, name)| (name.clone(), *var));
    let names = names.collect();
    (report.answers.swap_remove(0).automaton.unwrap(), names)
}

#[test]
fn files_are_included_relative_to_the_including_file() {
    let files = BTreeMap::from([
        (
            "dir/sub/a.mona".to_owned(),
            "include \"b.mona\"; pred p(var1 x) = q(x);".to_owned(),
        ),
        (
            "dir/sub/b.mona".to_owned(),
            "pred q(var1 x) = x = 3;".to_owned(),
        ),
    ]);
    let report = run("include \"sub/a.mona\"; var1 x; p(x);", &files);
    assert_eq!(report.answers[0].example.as_ref().unwrap().letters.len(), 4);
    assert_eq!(report.sources.len(), 3);
}

#[test]
fn exported_automata_can_be_imported() {
    let formulas = [
        "x in X & (b | x + 1 notin X) & x > 2",
        "x + 1 in X <=> b",
        "X = {1, x} | b",
        "b",
    ];

    for formula in formulas {
        let declarations = "var0 b; var1 x; var2 X;";
        let exported = run(
            &format!("{declarations} execute export(\"f.aut\", {formula});"),
            &BTreeMap::new(),
        );
        let files: BTreeMap<String, String> = exported.exports.into_iter().collect();
        // In another order, so that tracks must be exchanged.
        let mapping = match formula {
            "b" => "b -> c",
            _ => "X -> Y, b -> c, x -> y",
        };
        let text = format!(
            "var2 Y; var1 y; var0 c; let0 same = (import(\"f.aut\", {mapping})) in same <=> ({});",
            formula
                .replace('x', "y")
                .replace('X', "Y")
                .replace('b', "c"),
        );
        assert_eq!(
            run(&text, &files).answers[0].verdict,
            Verdict::Valid,
            "{formula}"
        );
    }
}

#[test]
fn models_are_enumerated_in_order() {
    let (automaton, _) = automaton("var0 a; var1 x; var2 X; x in X & X sub {0, 1} & (a => x = 0);");
    let models: Vec<Vec<Value>> = automaton.models(4).collect();
    let model = |a, x, set: &[usize]| {
        vec![
            Value::Bool(a),
            Value::Position(Some(x)),
            Value::Set(set.to_vec()),
        ]
    };

    let expected = [
        model(false, 0, &[0]),
        model(true, 0, &[0]),
        model(false, 1, &[1]),
        model(false, 0, &[0, 1]),
        model(false, 1, &[0, 1]),
        model(true, 0, &[0, 1]),
    ];

    assert_eq!(
        models.iter().collect::<BTreeSet<_>>(),
        expected.iter().collect()
    );
    assert_eq!(models.len(), 6);
    assert!(
        models[..2]
            .iter()
            .all(|model| model[1] == Value::Position(Some(0)))
    );
}

#[test]
fn renaming_may_reorder() {
    let budget = Budget::unlimited();
    let mut formulas = Formulas::new();
    let (a, b) = (formulas.var(VarKind::Bool), formulas.var(VarKind::Bool));
    let (fa, fb) = (formulas.boolean(a), formulas.boolean(b));
    let not_b = formulas.not(&fb);
    let only_a = formulas.and(&[fa, not_b]);
    let only_a = formulas.automaton(&only_a, &budget).unwrap();
    let swapped = only_a.rename(&[b, a], &budget).unwrap().unwrap();
    assert_eq!(swapped.run(&[vec![false, true]]), TRUE);
    assert_eq!(swapped.run(&[vec![true, false]]), FALSE);
    assert_eq!(only_a.rename(&[a, a], &budget).unwrap(), None);
    let again = formulas.from_automaton(&only_a);
    assert_eq!(formulas.automaton(&again, &budget).unwrap(), only_a);
}

#[test]
fn pictures_and_text_show_every_state() {
    let (automaton, _) = automaton("var1 x; x = 1;");
    let names = vec!["x".to_owned()];
    let dot = automaton.to_dot(&names);
    assert!(
        dot.contains("shape = doublecircle") && dot.contains("0 -> 1 [label = \"X\"]"),
        "{dot}"
    );
    let hoa = automaton.to_hoa(&names);
    assert!(
        hoa.contains(&format!("States: {}\n", automaton.n_states())),
        "{hoa}"
    );
    assert!(
        hoa.contains("[!0]") && hoa.contains("{0}") && hoa.ends_with("--END--\n"),
        "{hoa}"
    );
}

/// A token that moves one place in a row of processes: which pairs of (token at 0, token at the
/// end, token gone) are connected?
#[test]
fn vectors_reached_together_are_those_that_queries_find() {
    let budget = Budget::unlimited();
    let declarations = "var2 P, T, Q, U;";
    let prefix = "all1 p: p in P & p > 0 => p - 1 in P";
    let relation = format!(
        "{declarations} P = Q & ({prefix}) & ex1 t: T = {{t}} & t in P & (U = {{t + 1}} & t + 1 in P | U = T);"
    );
    let (relation, names) = automaton(&relation);
    let predicate = |body: &str| automaton(&format!("{declarations} {body};")).0;
    let family = ["0 in T", "max P in T & 0 in P", "empty(T)", "1 in P"].map(predicate);
    let guard = predicate(&format!("({prefix}) & P ~= empty"));
    let members: Vec<&Automaton> = family.iter().collect();
    let before = VectorMachine::new(&guard, &members, &budget).unwrap();
    assert_eq!(before.vars(), [names["P"], names["T"]]);
    let after = before
        .rename(&[names["Q"], names["U"]], &budget)
        .unwrap()
        .unwrap();
    let found = reachable_vectors(&relation, &[&before, &after], &budget).unwrap();
    assert_eq!(found, by_queries(&relation, &guard, &members, &names));
    assert!(found.len() > 3);
}

/// The same by one query per pair of vectors.
fn by_queries(
    relation: &Automaton,
    guard: &Automaton,
    family: &[&Automaton],
    names: &BTreeMap<String, Var>,
) -> BTreeSet<Vec<Vec<u32>>> {
    let budget = Budget::unlimited();
    let primed = |automaton: &Automaton| {
        let prime = |var: &Var| {
            if *var == names["P"] {
                names["Q"]
            } else {
                names["U"]
            }
        };
        let vars: Vec<Var> = automaton.vars().iter().map(prime).collect();
        automaton.rename(&vars, &budget).unwrap().unwrap()
    };

    let base = relation
        .and(guard, &budget)
        .unwrap()
        .and(&primed(guard), &budget)
        .unwrap();
    let mut all = BTreeSet::new();

    for row in 0..1u32 << (2 * family.len()) {
        let value = |index: usize| if row >> index & 1 == 1 { TRUE } else { FALSE };
        let mut query = base.clone();
        let (mut before, mut after) = (Vec::new(), Vec::new());
        for (index, member) in family.iter().enumerate() {
            for (automaton, index, vector) in [
                ((*member).clone(), index, &mut before),
                (primed(member), index + family.len(), &mut after),
            ] {
                let wanted = value(index);
                vector.push(wanted);
                let signed = if wanted == TRUE {
                    automaton
                } else {
                    automaton.complement()
                };
                query = query.and(&signed, &budget).unwrap();
            }
        }
        if query.shortest(TRUE).is_some() {
            all.insert(vec![before, after]);
        }
    }

    all
}

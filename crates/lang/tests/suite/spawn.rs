//! Processes that are created: what they are told apart by, and what is wrong about texts with them.

use crate::support::{count, load, model, show};
use expect_test::{Expect, expect};
use model::AtomMeaning;
use source::Options;

fn check(text: &str, expected: &Expect) {
    expected.assert_eq(&show(&load(text, &Options::default())));
}

/// One creation, one step, one end: three states, however many members there are.
#[test]
fn an_index_is_free_again_and_the_least_one_is_taken() {
    let text = |n: usize| {
        format!(
            "process Boss {{ hire when empty(W) {{ spawn W with job = 2 }} }}
             spawned process W(i in 1..{n}) {{
                 var job : 0..3 = i % 2
                 init busy
                 from busy {{ work when job == 2 {{ job := 3 }} -> tired }}
                 from tired {{ go -> end }}
             }}
             deadlockfree"
        )
    };
    for n in 1..4 {
        assert_eq!(count(&model(&text(n), &[])), (3, 3), "{n}");
    }
}

/// Two members that are created in any order and never end: which of them exist is 1, 2 or none, as the
/// least index is taken.
#[test]
fn members_that_are_named_exist_in_any_combination() {
    let least = "process B { a when !full(W) { spawn W } }
        spawned process W(i in 1..2) { rest { skip } }
        deadlockfree";
    assert_eq!(count(&model(least, &[])), (3, 2 + 1 + 2));
    let named = least.replace(
        "a when !full(W) { spawn W }",
        "a(k in W) when !W[k].created { spawn W[k] }",
    );
    assert_eq!(count(&model(&named, &[])), (4, 4 + 2 + 2));
}

#[test]
fn enumerations_several_indices_and_single_processes() {
    let text = "enum Node { a, b }
        var who : Node
        process Boss { go when !Log.created && !full(P) && !L[a][b].created {
            who := spawn P; spawn Log; spawn L[a][b] with n = 2 } }
        spawned process P(x in Node) { stop -> end }
        spawned process Log { note { skip } }
        spawned process L(x, y in Node) { var n : 0..2 = 0  tell { skip } }
        invariant i: L[a][b].created -> L[a][b].n == 2 && who == a";
    let text = text.replace("stop -> end", "init s  from s { stop -> end }");
    let model = model(&text, &[]);
    assert_eq!(count(&model).0, 3);
    let names: Vec<_> = model.instances().iter().map(|i| i.name.as_str()).collect();
    assert_eq!(
        names,
        [
            "Boss", "P[a]", "P[b]", "Log", "L[a][a]", "L[a][b]", "L[b][a]", "L[b][b]"
        ]
    );
}

/// Where nobody is created, a deadlock is a proper end, and a process that exists needs one.
#[test]
fn what_does_not_exist_is_at_a_proper_end() {
    let text = |ends: &str| {
        format!(
            "process Boss {{ end done; init start  from start {{ go {{ spawn W }} -> done }} }}
             spawned process W(i in 1..2) {{ {ends}; init s  from s {{ work -> t }}  from t {{ }} }}
             deadlockfree"
        )
    };
    let allowed = |text: &str| {
        let model = model(text, &[]);
        let atoms = model.parts().atoms.iter();
        let mut ends = Vec::new();
        for atom in atoms {
            // shape: the others are about steps.
            if let AtomMeaning::State(expr) = &atom.meaning {
                ends.push(expr.clone());
            }
        }
        let mut states = model.initial_states().expect("initial states");
        let mut last = states.remove(0);
        let at_end = |state: &model::State| {
            let mut env = model::Env::empty();
            let nowhere = base::Span::nowhere();
            ends.iter()
                .all(|end| model.eval(end, state, &mut env, nowhere) == Ok(1))
        };
        while let Some(step) = model.successors(&last).expect("no error").pop() {
            last = step.target;
        }
        at_end(&last)
    };
    assert!(!allowed(&text("")));
    assert!(allowed(&text("end t")));
    assert!(allowed(&text("end *")));
}

#[test]
fn what_cannot_be_created() {
    let text = "var x : 0..2 = 0
process P(i in 1..2) { a { spawn P } }
process Q { b { spawn x; spawn R with y = 1, z = 2; spawn R with created = true }
            c { x := spawn E } }
spawned process R(i in 1..2) { var z : 0..1 = 0  go when z == 0 { created := false } }
enum Kind { k, l }
spawned process E(e in Kind) { go { skip } }
";
    check(
        text,
        &expect![[r#"
            spawned 2:34 the processes `P` exist from the start
                help: declare them by `spawned process P`
            not-a-process 3:23 only processes can be created
                help: write `spawn P` for a family `spawned process P(i in 1..3) { … }`
            unknown-member 3:39 `R` has no variable `y`
                help: did you mean `z`?
            not-assignable 3:66 whether a process has been created cannot be assigned
                help: write `spawn P` to create a process, and `-> end` where it ends
            type-mismatch 4:22 expected an integer, but the index of the process is a value of `Kind`
            not-assignable 5:67 whether a process has been created cannot be assigned
                help: write `spawn P` to create a process, and `-> end` where it ends
        "#]],
    );
}

#[test]
fn what_created_processes_cannot_have() {
    let text = "event go
chan meet of bool
process Q { b sync go { spawn R }  c meet ! true { spawn R } }
spawned process R(i in 1..2) { var z : 0..1 = any  init s, t  from s, t { a sync go } }
";
    check(
        text,
        &expect![[r#"
            spawned 4:1 a process that is created starts at one location
                help: name one location after `init`, and let its steps lead to the others
            spawned 4:36 a process that is created starts with certain values
                help: let the step that creates it choose: `let v = choose …; spawn R with z = v`
            spawned 3:25 a step that other processes take part in cannot create processes
                help: let another step create them, before or after this one
            spawned 3:52 a step that other processes take part in cannot create processes
                help: let another step create them, before or after this one
            spawned 4:75 a process that may not exist cannot take part in an event, which needs all its processes
                help: use a channel
        "#]],
    );
}

/// The words are names elsewhere.
#[test]
fn words_can_still_be_names() {
    let text = "var spawn, spawned, created : 0..2 = 0
        process end_ { spawn when spawned < 2 { spawn := spawned; spawned += 1; created := spawn } }
        invariant i: created <= 2";
    model(text, &[]);
}

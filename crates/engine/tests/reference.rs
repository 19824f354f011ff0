//! The compiled steps against the reference semantics, on random models with every construct.

use std::collections::BTreeSet;

use base::{Budget, NoProgress};
use engine::{Exploration, Failed, Found, Goal, Stats, Steps, System, explore};
use model::{Model, State, Successor};
use testkit::text::random_program;
use testkit::values::{random_effect, text_of};
use testkit::{ModelShape, Random, ReferenceGraph, cases, halves, random_model, related_text};

/// The steps that the engine computes for a state, sorted; `None` for a run-time error.
fn engine_steps(system: &mut System<'_>, state: &State) -> Option<Vec<Successor>> {
    let words = system.pack(state);
    assert_eq!(system.unpack(&words), *state, "packing is lossless");
    let mut steps = Steps::default();
    system.steps(&words, &mut steps).ok()?;
    let mut found: Vec<Successor> = (0..steps.len())
        .map(|position| {
            let label = system.step_label(&steps, position).clone();
            Successor {
                actions: label.actions.into(),
                movers: label.movers.into(),
                commands: label.commands.into(),
                timers_set: label.timers_set.iter().map(|cell| *cell as usize).collect(),
                target: system.unpack(system.step_target(&steps, position)),
            }
        })
        .collect();
    found.sort();
    Some(found)
}

fn reference_steps(model: &Model, state: &State) -> Option<Vec<Successor>> {
    let mut found = model.successors(state).ok()?;
    found.sort();
    Some(found)
}

fn engine_initial(system: &mut System<'_>) -> Option<BTreeSet<State>> {
    let mut found = BTreeSet::new();
    let result: Result<(), Failed> = system.for_each_initial(&mut |system, words, result| {
        if result? {
            found.insert(system.unpack(words));
        }
        Ok(())
    });
    result.ok().map(|()| found)
}

/// The model compiled for the interpreter, and to machine code where there is any.
fn both_systems(model: &Model) -> [System<'_>; 2] {
    let system = || System::new(model).expect("random models are small");
    let mut native = system();
    let is_translated = native.translate();
    if cfg!(all(target_arch = "x86_64", target_os = "linux")) {
        assert!(is_translated);
    }
    [system().interpreted(), native]
}

fn exploration<'a>(atoms: &'a [base::AtomId], goal: &'a Goal) -> Exploration<'a> {
    Exploration {
        checkpoints: None,
        atoms,
        goal,
        reduce: false,
    }
}

fn plus(left: [usize; 3], right: [usize; 3]) -> [usize; 3] {
    std::array::from_fn(|i| left[i] + right[i])
}

/// How many states, steps and errors of a random model were compared.
fn compare_steps(seed: u64) -> [usize; 3] {
    let shape = match seed % 4 {
        1 => ModelShape::Wide,
        _ => ModelShape::Rich,
    };
    let mut model = random_model(&mut Random::new(seed), shape);
    if seed.is_multiple_of(3) {
        // Abstract timers with concrete settings instead.
        let settings = model.with_settings(seed.is_multiple_of(2), |_| (2, 3));
        model = settings.expect("random models are well formed");
    }
    compare_model(&model, seed)
}

/// How many states, steps and errors were compared.
fn compare_model(model: &Model, seed: u64) -> [usize; 3] {
    let [mut n_states, mut n_steps, mut n_errors] = [0; 3];
    let mut systems = both_systems(model);
    let initial = model
        .initial_states()
        .ok()
        .map(|states| states.into_iter().collect());
    for system in &mut systems {
        assert_eq!(
            engine_initial(system),
            initial,
            "initial states, seed {seed}"
        );
    }
    let mut open: Vec<State> = initial.into_iter().flat_map(BTreeSet::into_iter).collect();
    let mut met: BTreeSet<State> = open.iter().cloned().collect();
    while let Some(state) = open.pop() {
        let expected = reference_steps(model, &state);
        for (position, system) in systems.iter_mut().enumerate() {
            let found = engine_steps(system, &state);
            assert_eq!(
                found, expected,
                "seed {seed}, system {position}, state {state:?}"
            );
        }
        n_states += 1;
        n_errors += usize::from(expected.is_none());
        for step in expected.into_iter().flatten() {
            n_steps += 1;
            if met.len() < 60 && met.insert(step.target.clone()) {
                open.push(step.target);
            }
        }
    }
    [n_states, n_steps, n_errors]
}

#[test]
fn steps_are_those_of_the_reference_semantics() {
    let counts = halves(|half| {
        let seeds = (half..20_000).step_by(2);
        seeds.fold([0; 3], |sums, seed| plus(sums, compare_steps(seed)))
    });
    let [n_states, n_steps, n_errors] = counts.into_iter().fold([0; 3], plus);

    // The comparison is worth something only if it meets steps and errors.
    assert!(
        n_states > 10_000 && n_steps > 10_000 && n_errors > 100,
        "{n_states} {n_steps} {n_errors}"
    );
}

#[test]
fn exploration_counts_what_the_reference_semantics_counts() {
    let mut n_complete = 0;
    for seed in 0..10_000 {
        let model = random_model(&mut Random::new(seed), ModelShape::Rich);
        let budget = Budget::unlimited().with_max_states(10_000);
        let [interpreted, explored] = both_systems(&model).map(|mut system| {
            let explored = explore(
                &mut system,
                &exploration(&[], &Goal::Nothing),
                &budget,
                &mut NoProgress,
            );
            explored.expect("random models are small")
        });
        // Not only the counts: the same run leads to the same failure.
        assert_eq!(interpreted.found, explored.found, "seed {seed}");
        match ReferenceGraph::explore(&model, 300) {
            Err(_) => assert!(matches!(explored.found, Found::Failure(_)), "seed {seed}"),
            Ok(Some(graph)) => {
                assert_eq!(explored.found, Found::Nothing, "seed {seed}");
                compare_counts(&model, &graph, &explored.stats, seed);
                n_complete += 1;
            }
            Ok(None) => {}
        }
    }

    assert!(n_complete > 500, "{n_complete}");
}

/// States in which some process has control are passed through: neither they nor the steps from them are
/// counted, but what is executed there is known.
fn compare_counts(model: &Model, graph: &ReferenceGraph, stats: &Stats, seed: u64) {
    let (mut n_states, mut n_transitions) = (0, 0);
    let mut action_counts = vec![0; model.actions().len()];
    let mut commands_taken = vec![false; model.commands().len()];
    for (state, steps) in graph.states.iter().zip(&graph.steps) {
        let is_counted = u64::from(model.in_control(state).is_none());
        n_states += is_counted;
        n_transitions += is_counted * steps.len() as u64;
        for (step, _) in steps {
            for action in &step.actions {
                action_counts[action.index()] += is_counted;
            }
            for command in &step.commands {
                commands_taken[command.index()] = true;
            }
        }
    }
    assert_eq!(stats.n_states, n_states, "seed {seed}");
    assert_eq!(stats.n_transitions, n_transitions, "seed {seed}");
    assert_eq!(stats.action_counts, action_counts, "seed {seed}");
    assert_eq!(stats.commands_taken, commands_taken, "seed {seed}");
}

/// Does the atom hold anywhere, also where a process has control? Nothing if it cannot be evaluated
/// everywhere.
fn holds_somewhere(model: &Model, graph: &ReferenceGraph, atom: base::AtomId) -> Option<bool> {
    let initial = graph.states[..graph.n_initial].iter();
    let initial = initial.map(|state| model.atom_holds(atom, state, &[]));
    let steps = graph.steps.iter().flatten();
    let after = steps.map(|(step, _)| {
        model.atom_holds_after(atom, &step.target, &step.commands, &step.timers_set)
    });
    let holds: Result<Vec<bool>, _> = initial.chain(after).collect();
    Some(holds.ok()?.contains(&true))
}

/// States that are passed through are not kept, but runs lead through them.
#[test]
fn runs_to_goals_are_those_of_the_reference_semantics() {
    let (mut n_runs, mut n_passed, mut n_absent) = (0, 0, 0);
    for seed in 0..4_000 {
        let model = random_model(&mut Random::new(seed), ModelShape::Rich);
        if model.parts().control.is_none() && seed % 4 > 0 {
            continue;
        }
        let graph = ReferenceGraph::explore(&model, 300);
        for atom in (0..model.parts().atoms.len()).map(base::AtomId::new) {
            let goal = Goal::Satisfies(omega::Prop::Atom(atom));
            let (atoms, budget) = ([atom], Budget::unlimited().with_max_states(10_000));
            let mut system = System::new(&model).expect("random models are small");
            let exploration = exploration(&atoms, &goal);
            let explored = explore(&mut system, &exploration, &budget, &mut NoProgress);
            let found = explored.expect("random models are small").found;
            if let Ok(Some(graph)) = &graph
                && let Some(is_there) = holds_somewhere(&model, graph, atom)
            {
                let is_found = matches!(found, Found::Goal(_));
                assert_eq!(is_found, is_there, "seed {seed}, {atom:?}: {found:?}");
                n_absent += u32::from(!is_there);
            }
            let (Found::Goal(trace) | Found::Failure(Some(trace))) = found else {
                continue;
            };
            n_runs += 1;
            assert_eq!(model.is_initial(&trace.states[0]), Ok(true), "seed {seed}");
            for (pair, step) in trace.states.windows(2).zip(&trace.steps) {
                let steps = model.steps_or_idle(&pair[0]).expect("it has steps");
                let is_it = |known: &model::Successor| {
                    known.target == pair[1] && known.actions[..] == step.actions[..]
                };
                assert!(steps.iter().any(is_it), "seed {seed}, {pair:?}");
                n_passed += usize::from(model.in_control(&pair[1]).is_some());
            }
        }
    }
    assert!(
        n_runs > 100 && n_passed > 20 && n_absent > 100,
        "{n_runs} {n_passed} {n_absent}"
    );
}

/// The model of a text; nothing if a constant in it has a wrong value.
fn model_of(text: String) -> Option<Model> {
    let name = "random.fair".to_owned();
    let loaded = lang::load(base::Source { name, text }, &source::Options::default());
    loaded.single().model
}

/// Sets, bags, maps, sequences, options and steps that communicate several times are made of what the
/// model has; here as the front end makes it.
#[test]
fn steps_of_texts_are_those_of_the_reference_semantics() {
    let n_texts = u64::from(cases(500));
    let counts = halves(|half| {
        let seeds = (half..n_texts).step_by(2);
        seeds.fold([0; 3], |sums, seed| {
            let random = &mut Random::new(seed);
            let effects: Vec<_> = (0..3).map(|_| random_effect(random)).collect();
            let program = random_program(random).text(random);
            let mut texts = vec![text_of(&effects), program];
            if seed % 4 == 0 {
                texts.push(related_text(random));
            }
            let models = texts.into_iter().filter_map(model_of);
            models.fold(sums, |sums, model| plus(sums, compare_model(&model, seed)))
        })
    });
    let [n_states, n_steps, n_errors] = counts.into_iter().fold([0; 3], plus);
    println!("{n_states} states, {n_steps} steps, {n_errors} errors");
    let enough = n_texts as usize;
    assert!(
        n_states > 5 * enough && n_steps > 10 * enough && n_errors > enough / 20,
        "{n_states} {n_steps} {n_errors}"
    );
}

/// A random condition over names, with equations for them, in which some parts may fail.
fn random_condition(random: &mut Random, names: &mut Vec<String>, depth: usize) -> String {
    let name = |random: &mut Random, names: &[String]| random.pick(names).clone();
    if depth == 0 || random.chance(10) {
        let (a, b) = (name(random, names), name(random, names));
        let n = random.below(4);
        return match random.below(9) {
            0 => format!("m[{a}][{b}]"),
            1 => format!("{a} == {n}"),
            2 => format!("{a} == {b}"),
            3 => format!("{b} != {n}"),
            4 => format!("w[{a}] == {b}"),
            5 => format!("{n} / {a} == {b}"),
            6 => format!("w[{a} + {n}] < {b}"),
            7 => format!("m[{n} % 2][{a} % 3]"),
            _ => format!("w[{a}] + z > {n}"),
        };
    }
    let kind = random.below(4);
    let mut inner = |names: &mut Vec<String>| random_condition(random, names, depth - 1);
    match kind {
        0 => format!("({} && {})", inner(names), inner(names)),
        1 => format!("({} || !({}))", inner(names), inner(names)),
        2 => format!("({} -> {})", inner(names), inner(names)),
        _ => random_quantifier(random, names, depth),
    }
}

fn random_quantifier(random: &mut Random, names: &mut Vec<String>, depth: usize) -> String {
    let kind = *random.pick(&["exists", "forall"]);
    let (lo, length) = (random.below(2), random.below(4));
    let name = format!("x{}", names.len());
    let other = random.pick(names).clone();
    names.push(name.clone());
    let equation = match random.below(5) {
        0 => format!(" where {name} == {other}"),
        1 => format!(" where m[{other}][{name}] && {name} == {}", random.below(5)),
        2 => format!(" where {} == {name}", random.below(3)),
        3 => format!(" where !({name} != {other}) && w[{name}] > 0"),
        _ => String::new(),
    };
    let body = random_condition(random, names, depth - 1);
    names.pop();
    format!("({kind} {name} in {lo}..{}{equation}: {body})", lo + length)
}

/// Only one instance of a quantifier may be compiled: the others must be known not to decide and not to
/// fail.
#[test]
fn quantifiers_with_equations_are_those_of_the_reference_semantics() {
    let n_texts = u64::from(cases(1_000));
    let counts = halves(|half| {
        let seeds = (half..n_texts).step_by(2);
        seeds.fold([0; 3], |sums, seed| {
            let random = &mut Random::new(seed ^ 0x9155);
            let names = &mut vec!["i".to_owned(), "z".to_owned()];
            let condition = random_quantifier(random, names, 3);
            let text = format!(
                "var m : bool[2][3] = any
                var w : array[0..2] of 0..3 = [2, 0, 1]
                var z : 0..3 = 0
                process P(i in 0..1) {{
                    go when {condition} {{ z := (z + 1) % 4; w[i] := (w[i] + z) % 4 }}
                }}
                deadlockfree"
            );
            let model = model_of(text.clone()).unwrap_or_else(|| panic!("{text}"));
            plus(sums, compare_model(&model, seed))
        })
    });
    let [n_states, n_steps, n_errors] = counts.into_iter().fold([0; 3], plus);
    println!("{n_states} states, {n_steps} steps, {n_errors} errors");
    let enough = n_texts as usize;
    assert!(
        n_states > 30 * enough && n_steps > 5 * enough && n_errors > 2 * enough,
        "{n_states} {n_steps} {n_errors}"
    );
}

/// A counter over several variables: wide levels, so that threads share them.
const WIDE: &str = "
    var a, b, c, d : 0..11 = 0
    process P(i in 0..3) {
        up { if i == 0 { a := (a + 1) % 12 } if i == 1 { b := (b + 1) % 12 }
             if i == 2 { c := (c + 1) % 12 } if i == 3 { d := (d + 1) % 12 } }
    }
    reachable corner: a == 11 && b == 11 && c == 11 && d == 11
";

#[test]
fn threads_find_the_same() {
    let source = base::Source {
        name: "wide.fair".into(),
        text: WIDE.into(),
    };
    let model = lang::load(source, &source::Options::default())
        .single()
        .model
        .expect("the model is right");
    let goal = Goal::Satisfies(omega::Prop::Atom(base::AtomId(0)));

    for n_threads in [1, 2, 3] {
        let budget = Budget::unlimited().with_threads(n_threads);
        let mut system = System::new(&model).expect("the model is small");
        let all = explore(
            &mut system,
            &exploration(&[], &Goal::Nothing),
            &budget,
            &mut NoProgress,
        );
        let all = all.expect("nothing to compile");
        assert_eq!(
            (all.stats.n_states, all.stats.n_transitions),
            (20_736, 4 * 20_736)
        );
        assert!(all.stats.commands_taken.iter().all(|taken| *taken));
        let found = explore(
            &mut system,
            &exploration(&[base::AtomId(0)], &goal),
            &budget,
            &mut NoProgress,
        );
        match found.expect("the goal is small").found {
            // Shortest: every counter goes from 0 to 11 once.
            Found::Goal(trace) => assert_eq!(trace.steps.len(), 44),
            other => panic!("{other:?}"),
        }
    }
}

/// Many initial states, of several words each, so that threads add them together.
const MANY: &str = "
    var a, b, c : 0..19 = any
    var far : int[6] = 0
    process P(i in 0..5) { far when far[i] == 0 && a == 3 && b == 7 { far[i] := 1000000000 } }
    reachable all: forall i in 0..5: far[i] > 0
";

#[test]
fn threads_add_the_same_initial_states() {
    let source = base::Source {
        name: "many.fair".into(),
        text: MANY.into(),
    };
    let model = lang::load(source, &source::Options::default())
        .single()
        .model
        .expect("the model is right");
    let goal = Goal::Satisfies(omega::Prop::Atom(base::AtomId(0)));

    for n_threads in [1, 2, 3, 2, 3] {
        let budget = Budget::unlimited().with_threads(n_threads);
        let mut system = System::new(&model).expect("the model is small");
        let mut look = |atoms: &[base::AtomId], goal: &Goal| {
            let explored = explore(
                &mut system,
                &exploration(atoms, goal),
                &budget,
                &mut NoProgress,
            );
            explored.expect("the goal is small")
        };
        let all = look(&[], &Goal::Nothing);
        assert_eq!(all.found, Found::Nothing);
        // In twenty of them the six processes move.
        assert_eq!(all.stats.n_states, 8_000 + 20 * 63);
        match look(&[base::AtomId(0)], &goal).found {
            Found::Goal(trace) => assert_eq!(trace.steps.len(), 6),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn a_state_that_instructions_cannot_address_is_refused() {
    let load = |n_cells: usize| {
        let source = base::Source {
            name: "large.fair".into(),
            text: format!(
                "var a : int[{n_cells}] = 0
                 process P {{ go {{ a[{0}] := 1 }} up {{ a[0] := {1} }} down {{ a[0] := -{1} }} }}",
                n_cells - 1,
                i64::MAX
            ),
        };
        lang::load(source, &source::Options::default())
            .single()
            .model
            .expect("the model is right")
    };

    let model = load(65_536);
    assert_eq!(
        System::new(&model).err(),
        Some(engine::CompileError::StateTooLarge)
    );

    // The last word that can be addressed is addressed rightly.
    let model = load(65_534);
    let mut system = System::new(&model).expect("it just fits");
    let initial = model.initial_states().expect("no error").remove(0);
    assert_eq!(
        engine_steps(&mut system, &initial),
        reference_steps(&model, &initial)
    );
}

//! Random models of processes that know each other: every construct of values and communications occurs
//! and matters, and nothing changes whether texts are laid out anew, divided into files, stored and
//! read back, or searched by another route.

use std::collections::{BTreeMap, BTreeSet};

use base::Source;
use differential::{Case, Tally, compare};
use evidence::{NamedRun, Trace, TraceStep};
use model::{AtomMeaning, Model, State};
use report::{StoredTrace, TraceMeta};
use source::{Memory, Options, Single};
use testkit::{Random, cases, halves, related_constructs, related_model};

/// How many states of a model are looked at.
const MAX_STATES: usize = 150;

/// The file with what is declared outside of processes.
const SHARED: &str = "shared.fair";

fn load_with(text: &str, shared: &str) -> Single {
    let files = Memory::new([(SHARED, shared)]);
    let source = Source {
        name: "main.fair".to_owned(),
        text: text.to_owned(),
    };
    lang::load_with(source, &files, &Options::default()).single()
}

fn load(text: &str) -> (Model, Single) {
    let mut loaded = load_with(text, "");
    let model = loaded.model.take();
    let model = model.unwrap_or_else(|| panic!("{:?}\n{text}", loaded.diagnostics));
    (model, loaded)
}

/// What is seen of a model from outside.
#[derive(PartialEq, Eq, Debug)]
struct Behaviour {
    n_states: usize,
    n_steps: usize,
    n_errors: usize,
    /// By proposition: in how many states it holds.
    n_true: Vec<usize>,
    targets: BTreeSet<(Vec<u32>, Vec<i64>)>,
}

impl Behaviour {
    fn of(model: &Model) -> Self {
        // shape: the others are about steps.
        let is_state = |meaning: &AtomMeaning| matches!(meaning, AtomMeaning::State(_));
        let atoms = model.parts().atoms.iter().enumerate();
        let atoms = atoms.filter(|(_, atom)| is_state(&atom.meaning));
        let atoms: Vec<_> = atoms.map(|(at, _)| base::AtomId::new(at)).collect();
        let mut found = Self {
            n_states: 0,
            n_steps: 0,
            n_errors: 0,
            n_true: vec![0; atoms.len()],
            targets: BTreeSet::new(),
        };

        let mut open: Vec<State> = model.initial_states().unwrap_or_default();
        let mut met: BTreeSet<State> = open.iter().cloned().collect();
        while let Some(state) = open.pop() {
            found.n_states += 1;
            for (count, atom) in found.n_true.iter_mut().zip(&atoms) {
                *count += usize::from(model.atom_holds(*atom, &state, &[]) == Ok(true));
            }
            let locations = state.locations.iter().map(|location| location.0);
            found
                .targets
                .insert((locations.collect(), state.cells.clone()));
            let Ok(steps) = model.successors(&state) else {
                found.n_errors += 1;
                continue;
            };
            found.n_steps += steps.len();
            for step in steps {
                if met.len() < MAX_STATES && met.insert(step.target.clone()) {
                    open.push(step.target);
                }
            }
        }
        found
    }
}

#[test]
fn every_construct_of_values_occurs_and_matters() {
    let counts = halves(|half| {
        let mut counts: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
        for seed in (half..u64::from(cases(1_000))).step_by(2) {
            let text = related_model(&mut Random::new(seed), None);
            let mut behaviour = None;
            for (position, construct) in text.constructs.iter().enumerate() {
                let (produced, mattered) = counts.entry(construct).or_default();
                *produced += 1;
                if *mattered > 0 {
                    continue;
                }
                let whole = behaviour.get_or_insert_with(|| Behaviour::of(&load(&text.whole()).0));
                let without = related_model(&mut Random::new(seed), Some(position));
                assert_eq!(without.constructs, text.constructs);
                let without = Behaviour::of(&load(&without.whole()).0);
                *mattered += usize::from(without != *whole);
            }
        }
        counts
    });

    let of = |construct| {
        let counts = counts.iter().filter_map(|counts| counts.get(construct));
        counts.fold((0, 0), |sums, more| (sums.0 + more.0, sums.1 + more.1))
    };
    let mut missing = Vec::new();
    for construct in related_constructs() {
        let (produced, mattered) = of(construct);
        println!("{construct:<60} {produced:>5} {mattered:>5}");
        if produced == 0 || mattered == 0 {
            missing.push(construct);
        }
    }
    assert!(
        missing.is_empty(),
        "never produced or never mattered: {missing:?}"
    );
}

#[test]
fn layout_files_and_storage_change_nothing() {
    for seed in 0..u64::from(cases(120)) {
        let random = &mut Random::new(seed ^ 0x1a70);
        let text = related_model(random, None);
        let whole = text.whole();
        let (model, _) = load(&whole);
        let behaviour = Behaviour::of(&model);

        let laid_out = lang::format(&whole).expect("the text is right");
        assert_eq!(lang::format(&laid_out).as_ref(), Some(&laid_out), "{seed}");
        assert_eq!(Behaviour::of(&load(&laid_out).0), behaviour, "{whole}");

        let plain = format!("import \"{SHARED}\"\n{}", text.rest);
        for divided in [plain, text.with_copy_of(SHARED)] {
            let loaded = load_with(&divided, &text.shared);
            let said = &loaded.diagnostics;
            let divided = loaded
                .model
                .unwrap_or_else(|| panic!("{said:?}\n{divided}"));
            assert_eq!(Behaviour::of(&divided), behaviour, "seed {seed}\n{whole}");
        }

        let trace = walk(&model, random);
        let stored = StoredTrace {
            meta: TraceMeta::default(),
            run: NamedRun::new(&model, &trace).into(),
        };
        let read = report::read_itf(&report::write_itf(&stored)).expect("it was written so");
        let again = read.run.to_trace(&model).expect("it is a run of the model");
        assert_eq!(again.states, trace.states, "seed {seed}\n{whole}");
    }
}

/// A short random run.
fn walk(model: &Model, random: &mut Random) -> Trace {
    let initial = model.initial_states().expect("initial states");
    let mut trace = Trace {
        states: vec![random.pick(&initial).clone()],
        steps: Vec::new(),
        loop_start: None,
    };
    for at in 0..10 {
        let Some(steps) = model.successors(&trace.states[at]).ok() else {
            break;
        };
        if steps.is_empty() {
            break;
        }
        let step = random.pick(&steps).clone();
        trace.steps.push(TraceStep::from(&step).into());
        trace.states.push(step.target);
    }
    trace
}

#[test]
fn routes_agree_on_processes_that_know_each_other() {
    let mut tally = Tally::default();
    for seed in 0..u64::from(cases(24)) {
        let random = &mut Random::new(seed ^ 0xa94e);
        let text = related_model(random, None).whole();
        let (model, loaded) = load(&text);
        if Behaviour::of(&model).n_states >= MAX_STATES {
            continue;
        }
        let fairness = *random.pick(&["none", "weak", "strong-process", "annotated"]);
        let fairness = base::Fairness::parse(fairness).expect("the names are right");
        let property = random.pick(&loaded.properties).clone();
        let kind = property.property.clone();
        let case = Case {
            property,
            sources: loaded.sources,
            ..Case::new(format!("related {seed}"), model, kind, fairness)
        };
        let findings = compare(&case, seed, &mut tally);
        assert!(findings.is_empty(), "{findings:?}\n{text}");
    }
    println!("{tally}");
}

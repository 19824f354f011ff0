//! Proofs about the runs of models whose states cannot be listed.

use std::collections::BTreeMap;
use std::path::Path;

use base::{Budget, Fairness, NoProgress, Route};
use certify::{
    Certificate, Change, DataCondition, DataEdge, DataRuns, Failure, NoRun, Proof, data_conditions,
    read, verify, write,
};
use check::{Outcome, Plan, check, predicate};
use evidence::Verdict;
use logic::{Ltl, Property};
use model::{AtomMeaning, Model, Subject, Successor};
use testkit::{
    ModelShape, Random, ReferenceGraph, has_peer, judge, random_formula, random_model, side_by_side,
};

use crate::invariants::{exact, load};
use crate::{Case, random_fairness};

/// Why there is no certificate for some properties.
const UNCERTIFIABLE: [&str; 3] = [
    "when such a step is possible is not expressed",
    "arrays without bounds are not expressed",
    "an invariant of numbers and locations",
];

/// Solvers or the abstraction need long for these.
const LARGE: [&str; 4] = ["bakery_n", "brp", "leader", "ticket_lock"];

fn z3(case: &Case, certificate: &Certificate) -> Result<(), Failure> {
    let (systems, questions) = (&case.systems, &case.questions);
    let mut solvers = certify::installed_solvers(&["cvc5"]);
    let budget = Budget::unlimited();
    verify(systems, questions, certificate, &mut solvers, &budget).map(|_| ())
}

/// Every property of the examples is certified, or there is a known reason. The large ones are left to
/// longer runs, which print the count.
#[test]
fn what_holds_of_unbounded_data_is_certified() {
    if !has_peer("z3", "--version") {
        return;
    }
    let is_long = testkit::cases(1) > 1;
    let mut coverage: BTreeMap<&str, usize> = BTreeMap::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/predicate");
    let entries = std::fs::read_dir(folder).expect("the folder exists");
    let mut paths: Vec<_> = entries
        .map(|entry| entry.expect("readable").path())
        .collect();
    paths.sort();
    for path in paths {
        let name = path.file_stem().expect("a file").to_string_lossy();
        if LARGE.contains(&&*name) && !is_long {
            continue;
        }
        let text = std::fs::read_to_string(&path).expect("readable");
        for asked in 0..load(&text).1.len() {
            let (systems, questions) = load(&text);
            let became = certified(systems, questions, asked);
            let became = match &became {
                Ok(()) => "certified",
                Err(why) => {
                    let known = UNCERTIFIABLE.iter().find(|known| why.contains(**known));
                    known.unwrap_or_else(|| panic!("{name} {asked}: {why}"))
                }
            };
            println!("{name} {asked}: {became}");
            *coverage.entry(became).or_default() += 1;
        }
    }
    println!("{coverage:?}");
    assert!(coverage["certified"] >= 14, "{coverage:?}");
}

#[derive(serde::Deserialize)]
struct Programs {
    program: Vec<Program>,
}

#[derive(serde::Deserialize)]
struct Program {
    name: String,
    text: String,
    #[serde(default)]
    holds: Vec<String>,
    #[serde(default)]
    open: Vec<String>,
}

/// The embedded solver needs long for these.
const LEFT_OUT: [&str; 2] = ["Collatz", "a loop with two phases of one counter"];

/// Facts and rankings that were found for the programs of the literature are checked by solvers that
/// did not find them.
#[test]
fn what_holds_of_programs_is_certified() {
    if !has_peer("z3", "--version") {
        return;
    }
    let text = include_str!("../../../../testdata/programs.toml");
    let programs: Programs = toml::from_str(text).expect("the table is right");
    let programs = programs.program.iter();
    let programs = programs.filter(|program| !LEFT_OUT.contains(&program.name.as_str()));
    let asked = programs.flat_map(|program| {
        let names = program.holds.iter();
        let names = names.filter(|name| !program.open.contains(name));
        names.map(move |name| (program, name))
    });
    let asked: Vec<_> = asked.collect();

    let became = side_by_side(&asked, |(program, name)| {
        let (systems, questions) = load(&program.text);
        let asked = questions.iter().position(|q| q.property.name == **name);
        let asked = asked.expect("there is such a property");
        match certified(systems, questions, asked) {
            Ok(()) => "certified",
            Err(why) => {
                let known = UNCERTIFIABLE.iter().find(|known| why.contains(**known));
                known.unwrap_or_else(|| panic!("{} {name}: {why}", program.name))
            }
        }
    });

    let mut coverage: BTreeMap<&str, usize> = BTreeMap::new();
    for ((program, name), became) in asked.iter().zip(became) {
        println!("{} {name}: {became}", program.name);
        *coverage.entry(became).or_default() += 1;
    }
    println!("{coverage:?}");
    assert!(coverage["certified"] >= 60, "{coverage:?}");
}

/// Certifies what predicate abstraction says about a question.
fn certified(
    systems: Vec<source::System>,
    questions: Vec<source::Question>,
    asked: usize,
) -> Result<(), String> {
    let question = &questions[asked];
    let model = &systems[question.system].model;
    let plan = Plan {
        route: Some(Route::Predicate),
        predicate: predicate::Options {
            hints: question.scope.hints.clone(),
            ..predicate::Options::default()
        },
        ..Plan::default()
    };
    let outcome = check(model, &question.property, &plan, &mut NoProgress);
    let outcome = outcome.unwrap_or_else(|bug| panic!("{bug}"));
    assert!(outcome.holds(), "{:?}", outcome.verdict);
    let case = Case {
        fairness: outcome.fairness,
        systems,
        questions,
        asked,
    };
    let found = case.certificate(&outcome).map_err(|why| why.to_string())?;
    assert_eq!(
        read(&write(std::slice::from_ref(&found))),
        Ok(vec![found.clone()])
    );
    z3(&case, &found).map_err(|failure| failure.to_string())
}

fn takes(step: &Successor, subject: &Subject) -> bool {
    match subject {
        Subject::Process(instance) => step.movers.contains(instance),
        Subject::Action(action) => step.actions.contains(action),
        Subject::Choice(command) => step.commands.contains(command),
        Subject::Timer(_) | Subject::Team(_) => false,
    }
}

/// The graph of all states, each in a row of its own.
fn exact_runs(model: &Model, graph: &ReferenceGraph, fairness: Fairness) -> DataRuns {
    let mut edges = Vec::new();
    for (source, steps) in graph.steps.iter().enumerate() {
        for (step, target) in steps {
            let own = step.commands.iter().map(|command| Some(command.0));
            let idle = step.commands.is_empty().then_some(None);
            edges.extend(own.chain(idle).map(|command| DataEdge {
                source: source as u32,
                target: *target as u32,
                command,
                changes: Vec::new(),
            }));
        }
    }
    let conditions = data_conditions(model, fairness);
    let conditions = conditions.iter().enumerate().map(|(number, condition)| {
        let is_enabled = |steps: &Vec<(Successor, usize)>| {
            steps
                .iter()
                .any(|(step, _)| takes(step, &condition.subject))
        };
        DataCondition {
            number: number as u32,
            enabled: graph.steps.iter().map(is_enabled).collect(),
        }
    });
    let atoms = model.parts().atoms.iter().enumerate();
    // shape: the others are about steps.
    let about_states = atoms.filter(|(_, atom)| matches!(atom.meaning, AtomMeaning::State(_)));
    let truth = |atom: usize| {
        let holds = |state| model.atom_holds(base::AtomId::new(atom), state, &[]);
        let truth = graph
            .states
            .iter()
            .map(|state| holds(state).expect("a value"));
        (atom as u32, truth.collect())
    };
    DataRuns {
        invariant: exact(graph),
        initial: (0..graph.n_initial as u32).collect(),
        rankings: Vec::new(),
        conditions: conditions.collect(),
        atoms: about_states.map(|(atom, _)| truth(atom)).collect(),
        edges,
        run: NoRun::default(),
    }
}

/// One change that makes a graph say something else.
fn change(random: &mut Random, runs: &mut DataRuns) {
    let row = random.below(runs.invariant.rows.len());
    let edge = random.below(runs.edges.len());
    match random.below(8) {
        0 => {
            runs.edges.remove(edge);
        }
        1 => runs.edges[edge].target = row as u32,
        2 => {
            for (_, truth) in &mut runs.atoms {
                truth[row] = !truth[row];
            }
        }
        3 => {
            let conditions = runs.conditions.iter_mut();
            conditions.for_each(|condition| condition.enabled.fill(true));
        }
        4 => {
            let first = runs.initial.len() > 1;
            runs.initial.truncate(usize::from(first));
        }
        5 => {
            // A number that becomes smaller with every step.
            runs.rankings.push("(+ 1 1)".to_owned());
            let edges = runs.edges.iter_mut();
            edges.for_each(|edge| edge.changes.push(Change::Decreases));
        }
        6 => {
            // A second copy of a row, from which nothing leads away.
            let copy = runs.invariant.rows.len() as u32;
            runs.invariant.rows.push(runs.invariant.rows[row].clone());
            runs.edges[edge].target = copy;
            let atoms = runs.atoms.iter_mut().map(|(_, truth)| truth);
            let enabled = runs.conditions.iter_mut().map(|c| &mut c.enabled);
            atoms.chain(enabled).for_each(|truth| truth.push(true));
        }
        _ => runs.edges.retain(|edge| edge.command.is_some()),
    }
}

/// The graph of all states is accepted, and what was changed is accepted only if the property holds: so
/// what solvers are asked about steps, propositions and fairness is what the reference semantics says.
#[test]
fn graphs_are_what_the_reference_semantics_says() {
    if !has_peer("z3", "--version") {
        return;
    }
    let wanted = testkit::cases(8);
    let [mut n_accepted, mut n_rejected, mut n_violated] = [0; 3];
    for seed in 0_u64.. {
        if n_accepted >= wanted {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let parts = model.parts();
        if !parts.channels.is_empty() || !parts.timers.is_empty() || parts.control.is_some() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 20) else {
            continue;
        };
        let fairness = random_fairness(&mut random);
        let [a, b] = [(); 2].map(|()| random_formula(&mut random, 4, 4));
        let property = Property::Ltl(Ltl::or([a, b]));
        let Ok(Some(holds)) = judge(&model, &graph, &property, fairness) else {
            continue;
        };
        let chooses = format!("{:?}", model.parts().processes).contains("Choose(");
        if graph.states.is_empty() || chooses {
            continue;
        }

        let exact = exact_runs(&model, &graph, fairness);
        let case = Case::new(model, property, fairness);
        let certificate = |runs: DataRuns| {
            let holds = Verdict::Holds { witness: None };
            let mut outcome = Outcome::new(Route::Predicate, fairness, holds);
            outcome.proof = Some(Proof::Graph(runs));
            case.certificate(&outcome).ok()
        };
        if let Some(found) = certificate(exact.clone()) {
            match z3(&case, &found) {
                Ok(()) => assert!(holds, "seed {seed}"),
                // What is not expressed.
                Err(Failure::Unconfirmed(_)) => continue,
                Err(why) => panic!("seed {seed}: {why}"),
            }
            n_accepted += 1;
        }

        for _ in 0..3 {
            let mut changed = exact.clone();
            change(&mut random, &mut changed);
            let Some(forged) = certificate(changed) else {
                continue;
            };
            let verified = z3(&case, &forged);
            assert!(holds || verified.is_err(), "seed {seed}: {forged:?}");
            n_rejected += u32::from(verified.is_err());
            n_violated += u32::from(!holds);
        }
    }
    println!("{n_accepted} accepted, {n_rejected} rejected, {n_violated} about what is violated");
    assert!(n_rejected > 0 && n_violated > 0);
}

/// A ranking must be bounded from below, and a row must be one of a state only.
#[test]
fn a_graph_is_not_believed() {
    if !has_peer("z3", "--version") {
        return;
    }
    let text = "
var n : int = 0
process Down { down when n > -5 || n < 0 { n := n - 1 } }
property ends: eventually n == 7
";
    let (systems, questions) = load(text);
    let case = Case {
        systems,
        questions,
        asked: 0,
        fairness: Fairness::parse("none").expect("a name"),
    };
    let atom = match &case.question().property.property {
        Property::Ltl(formula) => Ltl::atoms(formula)[0],
        other => panic!("{other:?}"),
    };
    let runs = |rank: &str, rows: Vec<Vec<i64>>| DataRuns {
        invariant: certify::Invariant {
            terms: vec!["(= c0 7)".to_owned()],
            rows: rows.clone(),
        },
        initial: vec![0],
        rankings: vec![rank.to_owned()],
        conditions: Vec::new(),
        atoms: vec![(
            atom.index() as u32,
            rows.iter().map(|row| row[0] == 1).collect(),
        )],
        edges: (0..rows.len() as u32)
            .map(|row| DataEdge {
                source: row,
                target: 0,
                command: Some(0),
                changes: vec![Change::Decreases],
            })
            .collect(),
        run: NoRun::default(),
    };
    for (rank, rows) in [
        ("c0", vec![vec![0], vec![1]]),
        ("(* c0 c0)", vec![vec![0], vec![1]]),
        ("(= c0 1)", vec![vec![0], vec![1]]),
        ("c0", vec![vec![0], vec![1], vec![0]]),
        ("c0", vec![vec![0]]),
    ] {
        let holds = Verdict::Holds { witness: None };
        let mut outcome = Outcome::new(Route::Predicate, case.fairness, holds);
        outcome.proof = Some(Proof::Graph(runs(rank, rows.clone())));
        let Ok(found) = case.certificate(&outcome) else {
            assert_eq!(rows.len(), 3, "{rank}: the graph has no forbidden run");
            continue;
        };
        assert!(z3(&case, &found).is_err(), "{rank} {rows:?}");
    }
}

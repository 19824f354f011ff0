//! Justness against its definition.
//!
//! The oracle unfolds a system by what has been enabled and not interfered with since, so it knows
//! nothing of the fact that such a step stays enabled, on which the marks of the searches rest.

use std::collections::BTreeMap;
use std::path::Path;

use base::{Budget, Fairness, FairnessKind, NoProgress, Span};
use check::{Outcome, Plan, Reduction, check, check_notions};
use evidence::{Because, Shown, UnknownReason, Verdict};
use logic::{CtlStarBuilder, Ltl, NamedProperty, PathQuantifier, Property, classify};
use model::{
    AnnotationKind, BinaryOp, Expr, Initial, Interference, LocationId, Model, ModelParts, Place,
    Process, Resource, Scalar, State, Step, StepPattern, Stmt, StmtKind, Type, VarId, Variable,
};
use source::{Content, FrontEnd, Memory};
use testkit::{
    BranchingOracle, Judgement, ModelShape, Random, ReferenceGraph, cases, fair_run_exists,
    random_formula, random_model,
};

const JUST: Fairness = Fairness::of(FairnessKind::Just);

fn named(property: Property) -> NamedProperty {
    NamedProperty {
        name: "p".into(),
        text: String::new(),
        property,
        fairness: None,
        span: Span::nowhere(),
    }
}

fn outcome(model: &Model, property: Property, plan: Plan) -> Outcome {
    let outcome = check(model, &named(property), &plan, &mut NoProgress);
    outcome.unwrap_or_else(|bug| panic!("{bug}"))
}

fn under(fairness: Fairness) -> Plan {
    Plan {
        fairness: Some(fairness),
        budget: Budget::unlimited(),
        ..Plan::default()
    }
}

/// Small systems of every kind, with the verdict that the definition gives.
fn for_each_case(n_wanted: u32, mut visit: impl FnMut(u64, &Model, &Ltl, Fairness, &str)) {
    let (mut n_holds, mut n_violated) = (0, 0);
    for seed in 0.. {
        if n_holds + n_violated >= n_wanted {
            break;
        }
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        if model.abstract_timers().next().is_some() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 24) else {
            continue;
        };
        let mut parts = model.parts().clone();
        for annotation in &mut parts.annotations {
            if random.chance(60) {
                annotation.kind = AnnotationKind::Just;
            }
        }
        let model = parts.finish().expect("it differs in its annotations only");
        for kind in ["just", "just", "just+annotated", "annotated"] {
            if kind == "annotated" && !model.is_just(Fairness::ANNOTATED) {
                continue;
            }
            let fairness = Fairness::parse(kind).expect("the names are right");
            let size = random.below(5);
            let formula = random_formula(&mut random, 8, size);
            let negation = logic::translate(&Ltl::not(formula.clone())).expect("small formulas");
            let judged = fair_run_exists(&model, &graph, &negation, fairness);
            let expected = match judged.expect("atoms of tiny models have values") {
                Judgement::TooLarge => continue,
                Judgement::Exists => "violated",
                Judgement::None => "holds",
            };
            visit(seed, &model, &formula, fairness, expected);
            match expected {
                "holds" => n_holds += 1,
                _ => n_violated += 1,
            }
        }
    }

    assert!(
        n_holds > n_wanted / 8 && n_violated > n_wanted / 8,
        "{n_holds} {n_violated}"
    );
}

#[test]
fn verdicts_agree_with_the_definition() {
    for_each_case(cases(1_500), |seed, model, formula, fairness, expected| {
        let found = outcome(model, classify(formula.clone()), under(fairness));
        let name = |atom: base::AtomId| format!("p{}", atom.0);
        assert_eq!(
            found.verdict.name(),
            expected,
            "seed {seed}, fairness {}, formula {}",
            fairness.name(),
            formula.display(&name)
        );
    });
}

#[test]
fn one_exploration_gives_the_same_verdicts() {
    for_each_case(cases(300), |seed, model, formula, fairness, expected| {
        let property = named(classify(formula.clone()));
        let notions = [Fairness::NONE, fairness];
        let plan = under(fairness);
        let rows = check_notions(model, &[&property], &notions, &plan, &mut NoProgress);
        let rows = rows.unwrap_or_else(|bug| panic!("{bug}"));
        assert_eq!(rows[0][1].verdict.name(), expected, "seed {seed}");
    });
}

#[test]
fn reductions_are_refused_and_threads_agree() {
    for_each_case(cases(200), |seed, model, formula, fairness, expected| {
        let reduced = Plan {
            reduction: Reduction::ALL,
            ..under(fairness)
        };
        let threads = Plan {
            budget: Budget::unlimited().with_threads(2),
            ..under(fairness)
        };
        for plan in [reduced, threads] {
            let found = outcome(model, classify(formula.clone()), plan);
            assert_eq!(found.verdict.name(), expected, "seed {seed}");
        }
    });
}

/// What the marks rest on: as long as nothing interferes with a step, it stays possible, and the same
/// is necessary for it.
#[test]
fn what_nothing_interferes_with_stays() {
    let mut n_kept = 0_u64;
    for seed in 0..u64::from(cases(1_000)) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 60) else {
            continue;
        };
        let interference = Interference::new(&model);
        for (number, state) in graph.states.iter().enumerate() {
            let needs = interference.needs(state);
            for (step, target) in &graph.steps[number] {
                let later = interference.needs(&graph.states[*target]);
                for needs in &needs {
                    if !interference.interferes(state, step, needs) {
                        assert!(later.contains(needs), "seed {seed}: {needs:?}");
                        n_kept += 1;
                    }
                }
            }
        }
    }
    assert!(n_kept > 500, "{n_kept}");
}

/// Where what finds the reads of a step is the same, the reads are: searches keep them by that.
#[test]
fn what_finds_the_reads_of_a_step_says_what_they_are() {
    let mut n_compared = 0;
    for seed in 0..u64::from(cases(600)) {
        let mut random = Random::new(seed);
        let shapes = [ModelShape::Tiny, ModelShape::Rich, ModelShape::Alike];
        let shape = shapes[random.below(3)];
        let model = random_model(&mut random, shape);
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 200) else {
            continue;
        };
        let interference = Interference::new(&model);
        for (team, commands) in interference.teams().iter().enumerate() {
            let &[command] = commands.as_slice() else {
                continue;
            };
            if interference.may_refuse(command) {
                continue;
            }
            let found_by = interference.found_by(command);
            let mut known = BTreeMap::new();
            for state in &graph.states {
                let Some(needs) = interference.needs_of(team, state) else {
                    continue;
                };
                let values: Vec<String> = found_by.iter().map(|part| value(state, *part)).collect();
                let is_shared = !found_by.is_empty() && known.contains_key(&values);
                n_compared += u32::from(is_shared);
                let reads = known.entry(values).or_insert_with(|| needs.reads.clone());
                assert_eq!(*reads, needs.reads, "seed {seed}, {command:?}");
            }
        }
    }
    assert!(n_compared > cases(600) / 4, "{n_compared}");
}

fn value(state: &State, part: Resource) -> String {
    match part {
        Resource::Location(instance) => format!("{:?}", state.locations[instance.index()]),
        Resource::Cell(cell) => format!("{:?}", state.cells[cell]),
        Resource::Channel(channel) => format!("{:?}", state.channels[channel]),
    }
}

/// A step that moves in a step of the system is possible there, and the other way round.
#[test]
fn needs_are_those_of_the_steps_that_exist() {
    for seed in 0..u64::from(cases(500)) {
        let mut random = Random::new(seed);
        let model = random_model(&mut random, ModelShape::Tiny);
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 60) else {
            continue;
        };
        let interference = Interference::new(&model);
        if interference.teams().is_empty() || model.parts().control.is_some() {
            continue;
        }
        for (number, state) in graph.states.iter().enumerate() {
            let mut possible = Vec::new();
            for needs in interference.needs(state) {
                possible.extend(interference.teams()[needs.team].iter().copied());
            }
            let steps = graph.steps[number].iter();
            let mut executed: Vec<_> = steps.flat_map(|(step, _)| step.commands.clone()).collect();
            possible.sort_unstable();
            possible.dedup();
            executed.sort_unstable();
            executed.dedup();
            assert_eq!(possible, executed, "seed {seed}");
        }
    }
}

fn boolean(name: &str) -> Variable {
    Variable {
        name: name.into(),
        ty: Type::Scalar(Scalar::Bool),
        owner: None,
        initial: Initial::Values(vec![Expr::Bool(false)]),
        span: Span::nowhere(),
    }
}

fn place(var: u32) -> Place {
    Place {
        var: VarId(var),
        owner: None,
        path: Vec::new(),
    }
}

/// `P` takes its one step `go` when `guard` is true, and is done; `Q` toggles `x` forever.
fn go_beside_toggle(guard: Expr) -> ModelParts {
    let here = LocationId(0);
    let go = Step {
        guard,
        ..Step::new("go", here, LocationId(1), Span::nowhere())
    };
    let toggle = Step {
        effect: vec![Stmt::new(
            StmtKind::Assign(place(0), Expr::not(Expr::Read(place(0)))),
            Span::nowhere(),
        )],
        ..Step::new("toggle", here, here, Span::nowhere())
    };
    let locations = || vec!["here".to_owned(), "done".to_owned()];
    ModelParts {
        vars: vec![boolean("x")],
        processes: vec![
            Process::new("P", locations(), vec![go], Span::nowhere()),
            Process::new("Q", locations(), vec![toggle], Span::nowhere()),
        ],
        atoms: vec![model::Atom {
            name: "done".into(),
            meaning: model::AtomMeaning::State(Expr::At {
                process: model::ProcessId(0),
                owner: model::Owner::Single,
                locations: vec![LocationId(1)],
            }),
            span: Span::nowhere(),
        }],
        ..ModelParts::default()
    }
}

fn goes(parts: ModelParts) -> Outcome {
    let model = parts.finish().expect("the parts fit");
    let done = Ltl::atom(base::AtomId::new(0));
    outcome(&model, Property::Ltl(Ltl::eventually(done)), under(JUST))
}

#[test]
fn only_what_is_read_counts() {
    // Nothing is read: the other process cannot interfere.
    assert_eq!(
        goes(go_beside_toggle(Expr::Bool(true))).verdict.name(),
        "holds"
    );
    // What the other process changes is read, although it is always true.
    let read = Expr::Read(place(0));
    let either = |left, right| Expr::binary(BinaryOp::Or, left, right);
    let tautology = either(read.clone(), Expr::not(read.clone()));
    assert_eq!(goes(go_beside_toggle(tautology)).verdict.name(), "violated");
    // All of a guard is read, in whatever order its operands are written.
    for guard in [
        either(Expr::Bool(true), read.clone()),
        either(read, Expr::Bool(true)),
    ] {
        assert_eq!(goes(go_beside_toggle(guard)).verdict.name(), "violated");
    }
}

fn load(name: &str, text: &str) -> (Model, Vec<NamedProperty>) {
    let source = base::Source {
        name: name.to_owned(),
        text: text.to_owned(),
    };
    let options = source::Options::default();
    let loaded = lang::Native.load(source, &Memory::default(), &options);
    let Some(Content::Systems(mut systems)) = loaded.content else {
        panic!("{name}: {text}: {:?}", loaded.diagnostics);
    };
    let questions = loaded.questions.into_iter();
    (
        systems.remove(0).model,
        questions.map(|question| question.property).collect(),
    )
}

/// A text in which `k` says which of two parts the step of `P` reads. It is always possible, so it is
/// put off forever only where `Q` changes what it reads.
fn read_by_index(declarations: &str, go: &str, change: &str) -> String {
    format!(
        "var k : 0..1 = any\n{declarations}\n\
         process P {{ init here  from here {{ {go} -> done }} from done {{ }} }}\n\
         process Q {{ {change} }}\n\
         property goes: eventually P @ done\n\
         property goes_from_0: k == 0 -> eventually P @ done\n\
         property goes_from_1: k == 1 -> eventually P @ done\n"
    )
}

/// What is read is found once for all states that agree in what finds it: whichever is met first, the
/// reads in others are theirs.
#[test]
fn what_is_read_is_not_that_of_another_state() {
    let flags = "var a : bool[2] = false";
    let numbers = "var a : array[0..1] of 0..1 = 0\nchan c[1] of 0..1\nprocess S { put c ! 0 }";
    let channels = "chan c[2] for i in 0..1 of 0..1\nvar y : 0..1 = 0";
    for index in [0, 1] {
        let flip = format!("flip {{ a[{index}] := !a[{index}] }}");
        let count = format!("count {{ a[{index}] := 1 - a[{index}] }}");
        let pass = format!("put when empty(c[{index}]) c[{index}] ! 0  get c[{index}] ? y");
        let texts = [
            read_by_index(flags, "go when a[k] || !a[k]", &flip),
            read_by_index(numbers, "go c ? (0 * a[k])", &count),
            read_by_index(channels, "go c[k] ! 1", &pass),
        ];
        for text in texts {
            let (model, properties) = load("m.fair", &text);
            for property in properties {
                let found = outcome(&model, property.property, under(JUST));
                let is_disturbed = property.name.ends_with(&index.to_string());
                let expected = if property.name == "goes" || is_disturbed {
                    "violated"
                } else {
                    "holds"
                };
                assert_eq!(
                    found.verdict.name(),
                    expected,
                    "{} of {text}",
                    property.name
                );
            }
        }
    }
}

/// A step exists only if no step of higher priority is possible, so it reads what decides about those.
#[test]
fn what_rules_out_steps_of_higher_priority_is_read() {
    let read = || Expr::Read(place(0));
    let never = Expr::binary(BinaryOp::And, read(), Expr::not(read()));
    let first = |guard| Step {
        guard,
        priority: 1,
        ..Step::new("first", LocationId(0), LocationId(0), Span::nowhere())
    };
    for (guard, expected) in [(never, "violated"), (Expr::Bool(false), "holds")] {
        let mut parts = go_beside_toggle(Expr::Bool(true));
        let steps = vec![first(guard)];
        let process = Process::new("H", vec!["here".to_owned()], steps, Span::nowhere());
        parts.processes.push(process);
        assert_eq!(goes(parts).verdict.name(), expected);
    }
}

/// Two processes meet only if what one sends is what the other waits for, so both read it.
#[test]
fn what_is_sent_is_read_where_it_decides() {
    for (sent, expected) in [("0 * a", "violated"), ("0", "holds")] {
        let text = format!(
            "var a : 0..1 = 0\nchan c of 0..1\n\
             process P {{ init here  from here {{ go c ! {sent} -> done }} from done {{ }} }}\n\
             process R {{ init here  from here {{ take c ? (0) -> done }} from done {{ }} }}\n\
             process Q {{ count {{ a := 1 - a }} }}\n\
             property goes: eventually P @ done\n"
        );
        let (model, properties) = load("m.fair", &text);
        let found = outcome(&model, properties[0].property.clone(), under(JUST));
        assert_eq!(found.verdict.name(), expected, "{text}");
    }
}

#[test]
fn interference_can_be_declared() {
    let mut parts = go_beside_toggle(Expr::Bool(true));
    let of = |process| StepPattern {
        process: Some(model::ProcessId(process)),
        ..StepPattern::default()
    };
    parts.interferences.push((of(1), of(0)));
    let outcome = goes(parts);
    assert_eq!(outcome.verdict.name(), "violated");

    let Shown::Run(run) = outcome.explanation.shown() else {
        panic!("a run is shown");
    };
    let reasons: Vec<_> = run
        .conditions
        .iter()
        .map(|reason| (reason.condition.as_str(), reason.because))
        .collect();
    assert_eq!(
        reasons,
        [
            ("just(P.go)", Because::Interfered(0)),
            ("just(Q.toggle)", Because::Interfered(0))
        ]
    );

    let mut parts = go_beside_toggle(Expr::Bool(true));
    parts.interferences.push((of(0), of(1)));
    assert_eq!(goes(parts).verdict.name(), "holds");
}

#[test]
fn predicates_do_not_decide_justness() {
    let model = go_beside_toggle(Expr::Bool(true))
        .finish()
        .expect("the parts fit");
    let plan = Plan {
        route: Some(base::Route::Predicate),
        ..under(JUST)
    };
    let done = Ltl::atom(base::AtomId::new(0));
    let found = outcome(&model, Property::Ltl(Ltl::eventually(done)), plan);
    let Verdict::Unknown(UnknownReason::Unsupported(why)) = &found.verdict else {
        panic!("{:?}", found.verdict);
    };
    assert!(why.contains("justness"), "{why}");
}

/// Algorithms for mutual exclusion, too large for the definition: against fixpoints on the reference
/// semantics that share nothing with the searches.
#[test]
fn algorithms_agree_with_the_tableau() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/justness");
    let files = std::fs::read_dir(folder).expect("the folder exists");
    let mut n_verdicts = BTreeMap::new();
    for file in files {
        let path = file.expect("the folder can be read").path();
        let text = std::fs::read_to_string(&path).expect("the model can be read");
        let (model, properties) = load(&path.display().to_string(), &text);
        let graph = ReferenceGraph::explore(&model, 3_000);
        let graph = graph.expect("there is no error").expect("it is small");
        let oracle = BranchingOracle::new(&model, &graph, JUST);
        let oracle = oracle.expect("there is no error").expect("it is simple");

        for property in properties {
            let Property::Ltl(formula) = &property.property else {
                continue;
            };
            let mut builder = CtlStarBuilder::default();
            let root = builder.quantify(PathQuantifier::All, formula.clone());
            let formula = builder.finish(root).expect("it is quantified");
            let expected = oracle.holds(&formula).expect("it is small");
            let found = outcome(&model, property.property.clone(), under(JUST));
            assert_eq!(
                found.holds(),
                expected,
                "{} {}",
                path.display(),
                property.name
            );
            *n_verdicts.entry(expected).or_insert(0) += 1;
        }
    }
    assert!(
        n_verdicts[&true] > 8 && n_verdicts[&false] > 3,
        "{n_verdicts:?}"
    );
}

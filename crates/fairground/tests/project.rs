//! Projects in all languages: what they ask, what is answered, and what is refused.

use std::path::Path;

use fairground::{
    AbstractionFormat, Answer, Budget, Diagnostic, Error, Fairness, Files as _, Here, Judgement,
    Memory, NoProgress, Options, Overlay, Plan, Project, QuestionKind, Random, Replay, Route,
    SolverChoice, SolverName, StopReason, Verdict, solver_maker,
};

const TOGGLE: &str = "
var x : 0..2 = 0
process P {
    up when x == 0 { x := 1 }
    down when x == 1 { x := 0 }
}
invariant small: x < 2
property rises: eventually x == 1
property stays: eventually always x == 1
deadlockfree
";

fn open(name: &str, text: &str) -> Result<Project, Error> {
    Project::open(&Memory::new([(name, text)]), name, &Options::default())
}

fn right(name: &str, text: &str) -> Project {
    open(name, text).unwrap_or_else(|error| panic!("{error}"))
}

fn check(project: &Project, name: &str, plan: &Plan) -> Answer {
    let question = project.question(name).expect("there is such a question");
    let answer = project.check(question, plan, &mut NoProgress);
    answer.unwrap_or_else(|error| panic!("{error}"))
}

/// The error, in words.
fn message<T>(result: Result<T, Error>) -> String {
    match result {
        Ok(_) => panic!("it is accepted"),
        Err(error) => error.to_string(),
    }
}

#[test]
fn questions_are_known_before_they_are_answered() {
    let project = right("toggle.fair", TOGGLE);
    let question = &project.questions()[1];
    assert_eq!(question.name, "rises");
    assert_eq!(question.text, "eventually x == 1");
    assert_eq!(question.system, "toggle.fair");
    let offset = question.span.start as usize;
    assert_eq!(project.sources()[0].line_column(offset).0, 8);
    assert_eq!(project.diagnostics(), [] as [Diagnostic; 0]);

    let kinds = |project: &Project| -> Vec<QuestionKind> {
        project.questions().iter().map(|q| q.kind).collect()
    };
    use QuestionKind::{
        Deterministic, EndStates, Invariant, LinearTime, Optimum, Reachable, Refinement,
    };
    let expected = [Invariant, LinearTime, LinearTime, EndStates];
    assert_eq!(kinds(&project), expected);

    let csp = "var x:{0..3} = 0; P = a{x = x + 1;} -> Stop; Q = a -> Stop; #define one x == 1;
        #assert P deadlockfree; #assert P deterministic; #assert P refines Q;
        #assert P reaches one; #assert P reaches one with max(x); #assert P |= <> one;";
    let expected = [
        EndStates,
        Deterministic,
        Refinement,
        Reachable,
        Optimum,
        LinearTime,
    ];
    assert_eq!(kinds(&right("m.csp", csp)), expected);

    let promela = "byte x; active proctype P() { x = 1; assert(x == 1) } ltl up { <> (x == 1) }";
    let expected = [Invariant, EndStates, LinearTime];
    assert_eq!(kinds(&right("m.pml", promela)), expected);
}

#[test]
fn answers_are_plain_data() {
    let project = right("toggle.fair", TOGGLE);
    let answer = check(&project, "stays", &Plan::default());
    assert_eq!(answer.verdict(), Verdict::Violated);
    assert_eq!(answer.n_replays, 1);
    assert_eq!(answer.stopped, None);

    let taken: u64 = answer.action_counts.iter().map(|(_, count)| count).sum();
    assert!(taken > 0);

    let json = serde_json::to_value(&answer.result).expect("it serialises");
    assert_eq!(json["property"], "stays");
    assert_eq!(json["verdict"], "violated");
    assert_eq!(json["fairness"], "none");
    assert_eq!(json["trace"]["loop"], 0);

    let limited = Plan {
        budget: Budget::unlimited().with_max_states(1),
        ..Plan::default()
    };
    let answer = check(&project, "small", &limited);
    assert_eq!(answer.verdict(), Verdict::Unknown);
    assert_eq!(answer.stopped, Some(StopReason::StateLimit));
}

#[test]
fn every_language_has_its_kinds_answered() {
    let csp = "var x:{0..3} = 0; P = [x < 3] a{x = x + 1;} -> P; Q = a -> Q; R = b -> R;
        #define some x > 0;
        #assert P refines Q; #assert P refines R; #assert P deterministic;
        #assert P reaches some with max(x);";
    let project = right("m.csp", csp);
    let answers: Vec<Answer> = project
        .questions()
        .iter()
        .map(|question| check(&project, &question.name, &Plan::default()))
        .collect();
    let verdicts: Vec<&str> = answers.iter().map(|a| a.verdict().name()).collect();
    assert_eq!(verdicts, ["holds", "violated", "holds", "holds"]);
    assert_eq!(answers[3].result.remarks, ["the greatest value is 3"]);
}

#[test]
fn wrong_texts_and_calls_are_refused() {
    let Err(Error::Text(wrong)) = open("m.fair", "var x : 0..1\nproces P { a }") else {
        panic!("it is accepted");
    };
    assert_eq!(wrong.sources[0].name, "m.fair");
    assert_eq!(wrong.diagnostics[0].code, "syntax");
    assert!(wrong.to_string().starts_with("m.fair:2:1: "), "{wrong}");

    let no_language = message(open("m.txt", ""));
    assert!(no_language.contains("`.pml` (Promela)"), "{no_language}");
    let files = Memory::default();
    let missing = message(Project::open(&files, "m.fair", &Options::default()));
    assert_eq!(missing, "there is no file `m.fair`");
    let options = Options {
        abstract_timers: vec![("t".to_owned(), "1".to_owned())],
        ..Options::default()
    };
    let files = Memory::new([("m.csp", "P = a -> P;")]);
    let refused = message(Project::open(&files, "m.csp", &options));
    assert!(refused.contains("no timers"), "{refused}");
}

#[test]
fn an_open_buffer_takes_the_place_of_its_file() {
    let disk = Memory::new([("toggle.fair", "what was saved is wrong")]);
    let files = Overlay {
        top: Memory::new([("toggle.fair", TOGGLE)]),
        below: &disk,
    };
    let project = Project::open(&files, "toggle.fair", &Options::default());
    assert_eq!(project.expect("it is right").questions().len(), 4);
    assert!(disk.read(Path::new("toggle.fair")).is_ok());
}

#[test]
fn simulated_runs_can_be_replayed() {
    let project = right("toggle.fair", TOGGLE);
    let initial = project.initial_states().expect("there are some");
    let mut walk = project.simulate(initial[0].clone()).expect("one system");
    assert_eq!(walk.here(), Here::Steps(1));
    walk.take(Random::new(1).below(walk.n_possible()));
    assert_eq!(walk.last_step_text(), "P.up: x = 1");
    assert!(walk.back());
    assert!(!walk.back());
    walk.take(0);
    walk.take(0);
    assert_eq!(walk.n_steps(), 2);
    let weak = Fairness::parse("weak").expect("a fairness");
    assert_eq!(walk.pending(weak).len(), 1);

    let valid = Replay::Valid {
        changed: None,
        judgement: Judgement::Nothing,
    };
    let replayed = project.replay(&walk.store());
    assert_eq!(replayed.expect("one system"), valid);
}

#[test]
fn counterexamples_are_confirmed_where_they_belong() {
    let project = right("toggle.fair", TOGGLE);
    let answer = check(&project, "stays", &Plan::default());
    let trace = answer.result.trace.expect("it is violated");
    let Ok(Replay::Valid { changed, judgement }) = project.replay(&trace) else {
        panic!("it is a run");
    };
    assert_eq!(changed, None);
    let confirmed = "violates `stays` under fairness none".to_owned();
    assert_eq!(judgement, Judgement::Confirmed(confirmed));

    let other = TOGGLE.replace("down when x == 1", "down when x == 2");
    let other = right("toggle.fair", &other);
    assert!(matches!(other.replay(&trace), Ok(Replay::Invalid(_))));
    let weaker = TOGGLE.replace("eventually always x == 1", "eventually x == 1");
    let weaker = right("toggle.fair", &weaker);
    let Ok(Replay::Valid { changed, judgement }) = weaker.replay(&trace) else {
        panic!("it is a run");
    };
    assert_eq!(changed.as_deref(), Some("eventually x == 1"));
    assert!(matches!(judgement, Judgement::Refuted(_)));
}

#[test]
fn graphs_have_all_states_and_steps() {
    let project = right("toggle.fair", TOGGLE);
    let graph = project.graph(&Budget::unlimited()).expect("it is small");
    assert_eq!((graph.n_states(), graph.n_steps()), (2, 2));
    assert!(graph.states_dot().contains("P.up"));
    assert!(graph.components_dot().contains("2 states"));
    assert_eq!(graph.errors().count(), 0);
    let stopped = project.graph(&Budget::unlimited().with_max_states(1));
    assert!(matches!(stopped, Err(Error::Limit(StopReason::StateLimit))));
}

const FAMILY: &str = "
param N
process P(i in 0..N-1) { init a  from a { weak fair go -> b }  from b { back -> a } }
property live: forall p in 0..N-1: always eventually P[p] @ b
";

#[test]
fn a_family_is_one_project() {
    let project = right("family.fair", FAMILY);
    assert!(project.is_family());
    let answer = check(&project, "live", &Plan::default());
    assert_eq!(answer.verdict(), Verdict::Holds);
    assert_eq!(answer.result.route, Route::Ws1s);

    let explicit = Plan {
        route: Some(Route::Explicit),
        ..Plan::default()
    };
    let refused = message(project.fits(&explicit));
    assert!(refused.contains("needs a value"), "{refused}");

    let refused = message(project.initial_states());
    assert!(
        refused.contains("`N` of the model has no value"),
        "{refused}"
    );

    let plan = Plan::default();
    let mona = project.abstraction(None, AbstractionFormat::Ws1s, &plan);
    assert!(mona.is_ok_and(|printed| !printed.text.is_empty()));

    let native = project.abstraction(Some("live"), AbstractionFormat::Native, &plan);
    assert!(native.is_ok_and(|printed| printed.text.contains("process")));

    let ws1s = Plan {
        route: Some(Route::Ws1s),
        ..Plan::default()
    };
    let refused = message(right("toggle.fair", TOGGLE).fits(&ws1s));
    assert!(refused.contains("no parameter without value"), "{refused}");

    let options = Options {
        defines: vec![("N".to_owned(), "2".to_owned())],
        ..Options::default()
    };
    let files = Memory::new([("family.fair", FAMILY)]);
    let instance = Project::open(&files, "family.fair", &options).expect("it is right");
    assert!(!instance.is_family());

    let answer = check(&instance, "live", &Plan::default());
    assert_eq!(answer.verdict(), Verdict::Holds);
}

#[test]
fn without_a_launch_no_program_answers() {
    let text = "
        var x : int = 0
        process P { up { x := x + 1 } }
        invariant positive: x >= 0
    ";
    let project = right("count.fair", text);
    let verdict = |solver: SolverName| {
        let choice = SolverChoice {
            solver,
            confirm_with: None,
            patience: std::time::Duration::from_secs(10),
            launch: None,
        };
        let mut plan = Plan {
            route: Some(Route::Predicate),
            ..Plan::default()
        };
        plan.predicate.solver = solver_maker(choice);
        check(&project, "positive", &plan).verdict()
    };
    assert_eq!(verdict(SolverName::Embedded), Verdict::Holds);
    assert_eq!(verdict(SolverName::Auto), Verdict::Holds);
    assert_eq!(verdict(SolverName::Z3), Verdict::Unknown);
}

#[test]
fn abstractions_of_data_are_printed() {
    let text = "
        var x : int = 0
        process P { up { x := x + 1 } }
        invariant positive: x >= 0
    ";
    let project = right("count.fair", text);
    let plan = Plan::default();
    let printed = project.abstraction(None, AbstractionFormat::Smv, &plan);
    let printed = printed.unwrap_or_else(|error| panic!("{error}"));
    assert!(printed.text.contains("MODULE main"), "{}", printed.text);
    assert_eq!(printed.remarks[0], "positive: holds");
    let ws1s = project.abstraction(None, AbstractionFormat::Ws1s, &plan);
    assert!(message(ws1s).contains("does not have a free parameter"));
}

/// How long the sequence becomes is found out; where it grows forever nothing is claimed.
#[test]
fn bounds_that_are_not_written_are_found() {
    let text = |most: &str| {
        format!(
            "var q : seq of 1..2
            process P {{ put(v in 1..2) when {most} {{ q := append(q, v) }} }}
            invariant some: len(q) <= 5
            invariant all: len(q) <= 6
            reachable one: q == [2, 1, 2, 1, 2]
            deadlockfree
            property ends: eventually len(q) == 6"
        )
    };
    let bounded = right("m.fair", &text("len(q) < 6"));
    let plan = Plan::default();
    let questions: Vec<_> = bounded.questions().iter().collect();
    let together = bounded.check_together(&questions, &plan, &mut NoProgress);
    let together = together.unwrap_or_else(|error| panic!("{error}"));
    let verdicts = [
        ("some", Verdict::Violated),
        ("all", Verdict::Holds),
        ("one", Verdict::Holds),
        ("deadlockfree", Verdict::Violated),
        ("ends", Verdict::Holds),
    ];
    for ((name, verdict), together) in verdicts.into_iter().zip(&together) {
        let answer = check(&bounded, name, &plan);
        assert_eq!(answer.verdict(), verdict, "{name}");
        if let Some(together) = together {
            assert_eq!(together.verdict(), verdict, "{name}");
        }
    }

    // The run is one of the model with enough room, and of no other.
    let stored = check(&bounded, "some", &plan).result.trace.expect("a run");
    let replayed = |project: &Project| project.replay(&stored).expect("no family");
    assert!(matches!(replayed(&bounded), Replay::Invalid(_)));
    let roomy = bounded
        .for_walks()
        .unwrap_or_else(|error| panic!("{error}"));
    assert!(matches!(replayed(&roomy), Replay::Valid { .. }));

    let endless = right("m.fair", &text("v == 1"));
    assert_eq!(check(&endless, "some", &plan).verdict(), Verdict::Violated);
    assert_eq!(
        check(&endless, "deadlockfree", &plan).verdict(),
        Verdict::Unknown
    );
}

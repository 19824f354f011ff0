//! What faces show: parts of state graphs, walks with their obligations, traces on their models.

use fairground::{
    Because, DrawingRequest, Fairness, FairnessKind, Memory, NoProgress, Options, Plan, Project,
    Verdict,
};

const TOGGLE: &str = "var x : 0..1 = 0
var busy : bool = false
process P { flip { x := 1 - x } }
process Q {
    work when x == 1 { busy := true }
    rest when busy { busy := false }
}
property works: always eventually busy
invariant fine: x <= 1
";

const PHILOSOPHERS: &str = "const N = 2
var taken : bool[N] = false
process Philosopher(i in 0..N-1) {
    def right = (i + 1) % N
    init thinking
    from thinking { grab when !taken[i] { taken[i] := true } -> hungry }
    from hungry { reach when !taken[right] { taken[right] := true } -> eating }
    from eating { put { taken[i] := false; taken[right] := false } -> thinking }
}
";

/// Only a run that leaves the first loop is fair.
const LEAVING: &str = "process P {
    init a
    from a { stay -> a  leave -> b }
    from b { weak fair go -> c }
    from c { }
}
process Q { tick { skip } }
";

/// `never` is demanded and impossible.
const UNFAIR: &str = "var x : bool = false
process P { fair never when x { skip } }
process Q { tick { skip } }
";

fn open(text: &str, ltl: &[&str]) -> Project {
    let files = Memory::new([("m.fair", text)]);
    let named = (1..)
        .zip(ltl)
        .map(|(n, f)| (format!("ltl-{n}"), (*f).to_owned()));
    let options = Options {
        ltl: named.collect(),
        ..Options::default()
    };
    Project::open(&files, "m.fair", &options).expect("a model")
}

/// A fair run exists iff `false` is violated, and iff some component has a fair loop.
#[test]
fn fair_components_agree_with_verdicts() {
    for text in [TOGGLE, PHILOSOPHERS, LEAVING, UNFAIR] {
        let project = open(text, &["false"]);
        let question = project.question("ltl-1").expect("the formula");
        // Drawings say nothing about justness.
        let drawn = |fairness: &Fairness| fairness.kind != FairnessKind::Just;
        for fairness in Fairness::ALL.into_iter().filter(drawn) {
            let plan = Plan {
                fairness: Some(fairness),
                ..Plan::default()
            };
            let answer = project.check(question, &plan, &mut NoProgress).unwrap();
            let request = DrawingRequest {
                max_states: 100,
                max_nodes: 100,
                fairness,
                ..DrawingRequest::default()
            };
            let drawing = project.drawing(&request).unwrap();
            assert!(drawing.is_complete);
            let has_fair_loop = drawing.nodes.iter().any(|node| node.is_fair == Some(true));
            let is_violated = answer.verdict() == Verdict::Violated;
            assert_eq!(has_fair_loop, is_violated, "{} in {text}", fairness.name());
        }
    }
}

#[test]
fn drawings_are_bounded_and_say_so() {
    let text = "var a : 0..99 = 0 var b : 0..99 = 0
        process P { up { a := (a + 1) % 100 } } process Q { up { b := (b + 1) % 100 } }";
    let project = open(text, &[]);
    let request = |max_states, max_nodes, keep: Option<&str>| DrawingRequest {
        max_states,
        max_nodes,
        keep: keep.map(|name| vec![name.to_owned()]),
        ..DrawingRequest::default()
    };

    let cut = project.drawing(&request(50, 50, None)).unwrap();
    assert_eq!((cut.nodes.len(), cut.is_complete), (50, false));
    assert!(cut.nodes.iter().any(|node| node.is_frontier));
    assert!(cut.nodes.iter().all(|node| node.is_fair != Some(false)));

    let merged = project.drawing(&request(20_000, 200, Some("a"))).unwrap();
    assert_eq!((merged.nodes.len(), merged.is_complete), (100, true));
    assert!(merged.nodes.iter().all(|node| node.n_states == 100));
    // Each node has a step of `P` to the next and steps of `Q` to itself.
    assert_eq!(merged.edges.len(), 200);
    assert!(project.drawing(&request(10, 10, Some("c"))).is_err());
}

#[test]
fn the_way_to_a_node_leads_there() {
    let project = open(PHILOSOPHERS, &[]);
    let request = DrawingRequest {
        max_states: 100,
        max_nodes: 100,
        ..DrawingRequest::default()
    };
    let drawing = project.drawing(&request).unwrap();
    let initial = project.initial_states().unwrap();
    for node in &drawing.nodes {
        let first = initial[node.start.expect("from the start")].clone();
        let mut run = project.simulate(first).unwrap();
        for choice in &node.choices {
            run.take(*choice);
        }
        assert_eq!(run.values(run.n_steps()), node.values);
    }
}

#[test]
fn obligations_tell_since_when_and_when_last() {
    let project = open(TOGGLE, &[]);
    let fairness = Fairness::parse("strong").unwrap();
    let first = project.initial_states().unwrap().remove(0);
    let mut run = project.simulate(first).unwrap();
    let work = |run: &fairground::Simulation<'_>| {
        let all = run.obligations(fairness).into_iter();
        { all }.find(|o| o.condition == "sf(Q.work)").unwrap()
    };
    assert!(!work(&run).is_enabled && !work(&run).is_pending);

    run.take(0);
    let now = work(&run);
    assert!(now.is_enabled && now.is_pending);
    assert_eq!((now.enabled_since, now.last_taken), (Some(1), None));

    // Back in the first state: repeating this forever leaves `work` out although it was enabled.
    run.take(0);
    let looping = run.loop_fairness(fairness).unwrap().expect("a state again");
    assert_eq!((looping.start, looping.is_fair), (0, false));
    let broken = looping
        .reasons
        .iter()
        .filter(|r| r.because == Because::Broken);
    assert_eq!(
        broken.map(|r| r.condition.as_str()).collect::<Vec<_>>(),
        ["sf(Q.work)"]
    );
    let weak = Fairness::parse("weak").unwrap();
    assert!(run.loop_fairness(weak).unwrap().unwrap().is_fair);

    let global = Fairness::parse("strong-global").unwrap();
    let missing = run.loop_fairness(global).unwrap().unwrap().missing;
    assert_eq!(missing.as_deref(), Some("Q.work"));
}

#[test]
fn walks_are_resumed_and_traces_followed() {
    let project = open(TOGGLE, &["busy && x == 0"]);
    let question = project.question("works").unwrap();
    let answer = project
        .check(question, &Plan::default(), &mut NoProgress)
        .unwrap();
    let trace = answer.result.trace.expect("a counterexample");

    let details = project.trace_details(&trace).unwrap();
    assert_eq!(details.places.len(), trace.run.n_steps());
    assert!(details.places.iter().all(|places| places[0].line == 3));
    let rows: Vec<&str> = details.truths.iter().map(|row| row.text.as_str()).collect();
    assert_eq!(rows, ["[]<>busy", "<>busy", "busy"]);

    let (start, choices) = project.choices_along(&trace, trace.run.n_steps()).unwrap();
    let first = project.initial_states().unwrap().swap_remove(start);
    let mut run = project.simulate(first).unwrap();
    choices.iter().for_each(|choice| run.take(*choice));
    let walk = run.into_walk();
    assert_eq!(walk.choices(), choices);
    let mut run = project.resume(walk).unwrap();
    assert_eq!(run.n_steps(), choices.len());

    // `busy && x == 0` holds after `flip`, `work`, `flip` only.
    while run.back() {}
    let stop = project.question("ltl-1").unwrap();
    let mut held = Vec::new();
    for name in ["P.flip", "Q.work", "P.flip"] {
        let mut all = 0..run.n_possible();
        let choice = all.find(|choice| run.possible_details(*choice).actions == [name]);
        run.take(choice.expect("it is possible"));
        held.push(project.holds_at_end(stop, &run).unwrap());
    }
    assert_eq!(held, [false, false, true]);
    let works = project.truths_along(question, &run).unwrap();
    assert_eq!(
        works[1].at,
        [Some(true), Some(true), Some(true), Some(true)]
    );
    assert_eq!(works[0].at[0], None);
}

//! One random system as native text, Promela and CSP#: the three front ends make the same of it.

use base::{Diagnostic, Fairness, Severity, Source};
use logic::{CtlStarBuilder, Ltl, PathQuantifier, Property};
use model::Model;
use source::{Content, FrontEnd, Memory, Options};
use testkit::{Random, ReferenceGraph, Twin, cases, judge, random_twin};

/// Systems with more states are left out.
const MAX_STATES: usize = 60;

/// Actions have other names in each language, processes have not.
const NOTIONS: [&str; 4] = ["none", "weak-process", "strong-process", "strong-global"];

struct Loaded {
    language: &'static str,
    model: Model,
    properties: Vec<Property>,
}

fn source(name: &str, text: String) -> Source {
    let name = name.to_owned();
    Source { name, text }
}

fn assert_right(diagnostics: &[Diagnostic], text: &str) {
    let is_wrong = |d: &&Diagnostic| d.severity == Severity::Error;
    let errors: Vec<_> = diagnostics.iter().filter(is_wrong).collect();
    assert!(errors.is_empty(), "{errors:?}\n{text}");
}

fn load(twin: &Twin) -> [Loaded; 3] {
    let native = read(&lang::Native, "a.fair", twin.native());
    let mut promela = read(&promela::Promela, "a.pml", twin.promela());
    let csp = read(&csp::Csp, "a.csp", twin.csp());
    // Promela asks for assertions and end states first.
    let n_others = promela.properties.len() - twin.n_formulas();
    promela.properties.drain(..n_others);
    [native, promela, csp]
}

fn read(front_end: &dyn FrontEnd, name: &str, text: String) -> Loaded {
    let loaded = front_end.load(
        source(name, text.clone()),
        &Memory::default(),
        &Options::default(),
    );
    assert_right(&loaded.diagnostics, &text);
    let Some(Content::Systems(mut systems)) = loaded.content else {
        panic!("it was loaded");
    };
    let questions = loaded.questions.into_iter();
    Loaded {
        language: front_end.name(),
        model: systems.swap_remove(0).model,
        properties: questions.map(|q| q.property.property).collect(),
    }
}

/// The formula for all fair runs, as a question for the oracle that needs no automata.
fn branching(property: &Property) -> Property {
    let formula = match property {
        Property::Ltl(formula) => formula.clone(),
        Property::Invariant(formula) => Ltl::always(formula.clone()),
        other => panic!("{other:?} was not asked"),
    };
    let mut builder = CtlStarBuilder::default();
    let root = builder.quantify(PathQuantifier::All, formula);
    Property::CtlStar(builder.finish(root).expect("a state formula"))
}

/// How many states there are, whether there is a deadlock, and the verdicts under each notion.
#[derive(PartialEq, Debug)]
struct Findings {
    n_states: usize,
    deadlock_free: Option<bool>,
    verdicts: Vec<Option<bool>>,
}

fn findings(loaded: &Loaded, graph: &ReferenceGraph) -> Findings {
    let ask = |property: &Property, notion: &str| {
        let fairness = Fairness::parse(notion).expect("the names are right");
        judge(&loaded.model, graph, property, fairness).expect("nothing fails")
    };
    let mut verdicts = Vec::new();
    for property in &loaded.properties {
        let question = branching(property);
        verdicts.extend(NOTIONS.map(|notion| ask(&question, notion)));
    }
    Findings {
        n_states: graph.states.len(),
        deadlock_free: ask(&Property::DeadlockFree, "none"),
        verdicts,
    }
}

#[test]
fn twins_have_the_same_states_and_verdicts() {
    let (mut n_systems, mut n_holds, mut n_violated) = (0, 0, 0);
    for seed in 0..u64::from(cases(200)) {
        let twin = random_twin(&mut Random::new(seed));
        let all = load(&twin);
        let graphs = all.each_ref().map(|loaded| {
            let graph = ReferenceGraph::explore(&loaded.model, MAX_STATES);
            graph.unwrap_or_else(|error| panic!("seed {seed}, {}: {error:?}", loaded.language))
        });
        let is_small = graphs.each_ref().map(Option::is_some);
        assert!(
            is_small == [true; 3] || is_small == [false; 3],
            "seed {seed}: {is_small:?}"
        );
        let [Some(native), Some(promela), Some(csp)] = graphs else {
            continue;
        };
        let expected = findings(&all[0], &native);
        assert_eq!(expected.verdicts.len(), NOTIONS.len() * twin.n_formulas());
        for (loaded, graph) in all[1..].iter().zip([promela, csp]) {
            let found = findings(loaded, &graph);
            let language = loaded.language;
            assert_eq!(
                found,
                expected,
                "seed {seed}, {language}\n{}\n{}\n{}",
                twin.native(),
                twin.promela(),
                twin.csp()
            );
        }
        n_systems += 1;
        n_holds += expected
            .verdicts
            .iter()
            .filter(|v| **v == Some(true))
            .count();
        n_violated += expected
            .verdicts
            .iter()
            .filter(|v| **v == Some(false))
            .count();
    }

    println!("{n_systems} systems, {n_holds} hold, {n_violated} violated");
    assert!(n_systems > 0 && n_holds > n_systems && n_violated > n_systems);
}

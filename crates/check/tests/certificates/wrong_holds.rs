//! Wrong searches: no certificate of what they wrongly say to hold is accepted.
//!
//! `cargo xtask mutants` runs both tests with errors in searches, marks, reductions, translations, the
//! store, native code and abstractions. With an error, [`violations_are_found`] must fail, because a
//! wrong "holds" is said of some model, and [`wrong_holds_are_rejected`] must pass.
//!
//! What is violated is known without the code that errors are put into: from the tables in `testdata`,
//! from looking at every position, from random lassos that are judged by the definition of the logic,
//! or from the naive oracle for a claim that is written down here. Of families, an instance is known
//! that violates the property.
//!
//! Nothing here depends on time or on the order in which threads get to run: all searches have one
//! thread, and what is random has a seed.

use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use base::{AtomId, Budget, Fairness, FairnessKind, NoProgress, Route, Source};
use check::{
    ForAll, Outcome, Plan, Reduction, Reductions, certificate_for_all, check, check_for_all,
};
use evidence::{Verdict, Violation, ViolationKind};
use logic::{ClaimState, Ltl, NeverClaim, Property, holds_on_lasso};
use model::Model;
use omega::Cube;
use serde::Deserialize;
use source::{Content, FrontEnd as _, Memory};
use testkit::{ModelShape, Random, ReferenceGraph, judge, random_formula, random_model};

use crate::{Case, random_fairness};

/// Larger systems are left to other tests.
const MAX_STATES: u64 = 3_000;

/// A search that is wrong everywhere is tried on a part of what it is wrong about.
const MAX_REJECTED: usize = 30;

/// Systems that the naive oracle can judge.
const MAX_JUDGED: usize = 24;

/// A question whose answer is not "holds", or a position that can be reached.
struct Refuted {
    label: String,
    case: Case,
    /// The fairness is that of the plan, not of the property.
    is_asked_for: bool,
}

impl Refuted {
    /// Does the outcome say of it what a certificate would have to show?
    fn is_wrong(&self, outcome: &Outcome) -> bool {
        let is_question_of_reach = matches!(
            self.case.question().property.property,
            Property::Reachable(_)
        );
        match &outcome.verdict {
            Verdict::Holds { .. } => !is_question_of_reach,
            Verdict::Violated(violation) => is_question_of_reach && violation.trace.is_none(),
            Verdict::Unknown(_) => false,
        }
    }

    /// What a search that finds nothing says.
    fn blind_outcome(&self) -> Outcome {
        let verdict = match self.case.question().property.property {
            Property::Reachable(_) => Verdict::Violated(Box::new(Violation {
                kind: ViolationKind::Unreachable,
                trace: None,
                covering: None,
                component: None,
            })),
            _ => Verdict::Holds { witness: None },
        };
        Outcome::new(Route::Explicit, self.case.fairness, verdict)
    }

    /// What all kinds of searches wrongly say. One that panics, or whose run is not confirmed, says
    /// nothing.
    fn wrong_outcomes(&self) -> impl Iterator<Item = (&'static str, Outcome)> + '_ {
        let property = &self.case.question().property;
        let outcomes = plans().into_iter().filter_map(move |(name, mut plan)| {
            plan.fairness = self.is_asked_for.then_some(self.case.fairness);
            let search = || check(self.case.model(), property, &plan, &mut NoProgress);
            let outcome = catch_unwind(AssertUnwindSafe(search)).ok()?.ok()?;
            Some((name, outcome))
        });
        outcomes.filter(|(_, outcome)| self.is_wrong(outcome))
    }

    fn assert_rejected(&self, outcome: &Outcome) {
        if let Ok(found) = self.case.certificate(outcome) {
            let verified = self.case.verify(&found);
            assert!(verified.is_err(), "{}: accepted {found:?}", self.label);
        }
    }
}

fn plans() -> Vec<(&'static str, Plan)> {
    let budget = Budget::unlimited().with_max_states(MAX_STATES);
    let plain = Plan {
        all_code: true,
        all_states: true,
        interpreted: true,
        budget: budget.clone(),
        ..Plan::default()
    };
    let native = Plan {
        budget,
        ..Plan::default()
    };
    let reduced = |reductions: Reductions| Plan {
        reduction: Reduction::Chosen(reductions),
        ..native.clone()
    };
    let none = Reductions::NONE;
    let (partial_order, symmetry, dead_variables) = (true, true, true);
    vec![
        ("plain", plain),
        ("native", native.clone()),
        (
            "partial order",
            reduced(Reductions {
                partial_order,
                ..none
            }),
        ),
        ("symmetry", reduced(Reductions { symmetry, ..none })),
        (
            "dead variables",
            reduced(Reductions {
                dead_variables,
                ..none
            }),
        ),
        ("all reductions", reduced(Reductions::ALL)),
        (
            "predicates",
            Plan {
                route: Some(Route::Predicate),
                ..native
            },
        ),
    ]
}

/// A formula with an automaton of the runs that it forbids.
fn formula_with_claim(random: &mut Random) -> (Ltl, NeverClaim) {
    let [p, q] = [(); 2].map(|()| AtomId::new(random.below(8)));
    let (holds, other) = (Ltl::atom(p), Ltl::atom(q));
    let when = |literals: Vec<(AtomId, bool)>| Cube::new(literals);
    let (any, not_p, not_q) = (when(vec![]), when(vec![(p, false)]), when(vec![(q, false)]));
    let state = |accepting: bool, edges: Vec<(Option<Cube>, usize)>| ClaimState {
        edges: edges
            .into_iter()
            .filter_map(|(cube, target)| Some((cube?, target)))
            .collect(),
        accepting,
    };

    let (formula, states) = match random.below(4) {
        0 => {
            let wait = state(false, vec![(any, 0), (not_p.clone(), 1)]);
            let bad = state(true, vec![(not_p, 1)]);
            (Ltl::always(Ltl::eventually(holds)), vec![wait, bad])
        }
        1 => {
            let edges = vec![(when(vec![(p, true)]), 0), (not_p, 1)];
            let states = vec![state(false, edges.clone()), state(true, edges)];
            (Ltl::eventually(Ltl::always(holds)), states)
        }
        2 => {
            let asked = when(vec![(p, true), (q, false)]);
            let wait = state(false, vec![(any, 0), (asked, 1)]);
            let bad = state(true, vec![(not_q, 1)]);
            let answered = Ltl::implies(holds, Ltl::eventually(other));
            (Ltl::always(answered), vec![wait, bad])
        }
        _ => (Ltl::eventually(holds), vec![state(true, vec![(not_p, 0)])]),
    };
    (formula, NeverClaim { states })
}

/// Is there a run that does not satisfy the formula, among some that are tried?
fn has_bad_lasso(
    random: &mut Random,
    model: &Model,
    graph: &ReferenceGraph,
    formula: &Ltl,
) -> bool {
    if graph.n_initial == 0 {
        return false;
    }
    (0..24).any(|_| {
        let mut at = random.below(graph.n_initial);
        let (mut path, mut letters) = (vec![at], Vec::new());
        let letter = |state: usize, commands: &[_]| {
            let holds = |atom| model.atom_holds(AtomId::new(atom), &graph.states[state], commands);
            let truths = (0..model.parts().atoms.len()).map(holds);
            truths.collect::<Result<Vec<bool>, _>>()
        };
        let Ok(first) = letter(at, &[]) else {
            return false;
        };
        letters.push(first);
        for _ in 0..16 {
            let steps = &graph.steps[at];
            let (step, target) = &steps[random.below(steps.len())];
            let Ok(next) = letter(*target, &step.commands) else {
                return false;
            };
            at = *target;
            path.push(at);
            letters.push(next);
        }

        // The run goes back to where it was in the end; the step that led there is the same as the one
        // that leads to the last position.
        let end = path.len() - 1;
        let is_start = |start: usize| path[start] == path[end] && letters[start] == letters[end];
        let Some(start) = (0..end).rev().find(|start| is_start(*start)) else {
            return false;
        };
        let truth = |position: usize, atom: AtomId| letters[position][atom.index()];
        !holds_on_lasso(formula, end, start, &truth)
    })
}

/// A random question that is known to be refuted.
fn random_refuted(seed: u64) -> Option<Refuted> {
    use ModelShape::{Alike, Loose, Rich, Tiny};
    let mut random = Random::new(seed);
    let shape = [Tiny, Loose, Rich, Alike][random.below(4)];
    let model = random_model(&mut random, shape);
    if model.abstract_timers().next().is_some() {
        return None;
    }
    let graph = ReferenceGraph::explore(&model, 250);
    let none = Fairness::parse("none").expect("a name");

    // Assumptions excuse runs that the other judges do not know to be excused.
    let mut way = random.below(6);
    if !model.parts().assumptions.is_empty() {
        way = 2;
    }
    let literal = |random: &mut Random| random_formula(random, 8, 0);
    let (property, fairness, is_refuted) = match (graph, way) {
        (Ok(None), _) => return None,
        // A run-time error violates everything.
        (Err(_), way) if way != 2 => (Property::Ltl(Ltl::always(Ltl::tt())), none, true),
        (Ok(Some(graph)), 0) => {
            let formula = Ltl::or([literal(&mut random), literal(&mut random)]);
            let property = Property::Invariant(formula);
            let is_refuted = judge(&model, &graph, &property, none) == Ok(Some(false));
            (property, none, is_refuted)
        }
        (Ok(Some(graph)), 1) => {
            let formula = Ltl::and([literal(&mut random), literal(&mut random)]);
            let property = Property::Reachable(formula);
            let is_refuted = judge(&model, &graph, &property, none) == Ok(Some(true));
            (property, none, is_refuted)
        }
        (Ok(Some(graph)), 2 | 3) if graph.states.len() <= MAX_JUDGED => {
            let (formula, claim) = formula_with_claim(&mut random);
            let fairness = random_fairness(&mut random);
            let never = Property::Never(claim.clone());
            let is_refuted = judge(&model, &graph, &never, fairness) == Ok(Some(false));
            let property = if random.chance(30) {
                never
            } else {
                Property::Ltl(formula)
            };
            (property, fairness, is_refuted)
        }
        (Err(_), _) => return None,
        (Ok(Some(_)), 2) => return None,
        (Ok(Some(graph)), _) => {
            let size = random.below(4);
            let formula = random_formula(&mut random, 8, size);
            let is_refuted = has_bad_lasso(&mut random, &model, &graph, &formula);
            (Property::Ltl(formula), none, is_refuted)
        }
    };
    is_refuted.then(|| Refuted {
        label: format!("seed {seed}: {property:?}, {}", fairness.name()),
        case: Case::new(model, property, fairness),
        is_asked_for: true,
    })
}

#[derive(Deserialize)]
struct Table {
    case: Vec<Row>,
}

/// A row of a table in `testdata`, as far as it is of interest here.
#[derive(Deserialize)]
struct Row {
    model: String,
    property: String,
    #[serde(default)]
    define: BTreeMap<String, String>,
    #[serde(default)]
    replace: BTreeMap<String, String>,
    #[serde(default)]
    states: u64,
    /// For each kind of fairness.
    #[serde(default)]
    verdicts: String,
    /// For the fairness of the model.
    #[serde(default)]
    verdict: String,
}

/// The rows of a table whose properties are violated.
fn refuted_rows(file: &str) -> Vec<Refuted> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let text = std::fs::read_to_string(root.join("testdata").join(file)).expect("it exists");
    let table: Table = toml::from_str(&text).expect("the table is well formed");

    let mut found = Vec::new();
    for row in table.case {
        // Tables have a column for each notion but justness.
        let mut kinds = FairnessKind::ALL.to_vec();
        kinds.retain(|kind| *kind != FairnessKind::Just);
        let names = kinds.into_iter().map(FairnessKind::name);
        let marks = row.verdicts.split_whitespace();
        let violated = names.zip(marks).filter(|(_, mark)| *mark == "N");
        let mut under: Vec<&str> = violated.map(|(kind, _)| kind).collect();
        let is_asked_for = row.verdict.is_empty();
        if row.verdict == "violated" {
            under.push("none");
        }
        let is_fit = row.model.ends_with(".fair") && row.replace.is_empty() && row.states <= 300;
        for kind in under.into_iter().filter(|_| is_fit) {
            let text = std::fs::read_to_string(root.join(&row.model)).expect("it exists");
            let name = row.model.clone();
            let options = source::Options {
                defines: row.define.clone().into_iter().collect(),
                ..source::Options::default()
            };
            let loaded = lang::Native.load(Source { name, text }, &Memory::default(), &options);
            let questions = loaded.questions;
            let asked = questions
                .iter()
                .position(|q| q.property.name == row.property);
            let (Some(Content::Systems(systems)), Some(asked)) = (loaded.content, asked) else {
                panic!("{} {}", row.model, row.property);
            };
            found.push(Refuted {
                label: format!("{} {} {kind}", row.model, row.property),
                case: Case {
                    systems,
                    questions,
                    asked,
                    fairness: Fairness::parse(kind).expect("a name"),
                },
                is_asked_for,
            });
        }
    }
    found
}

fn all_refuted() -> impl Iterator<Item = Refuted> {
    let tables = [
        "defects.toml",
        "micro.toml",
        "population.toml",
        "wrong_holds.toml",
    ];
    let written = tables.into_iter().flat_map(refuted_rows);
    written.chain((0..u64::from(testkit::cases(400))).filter_map(random_refuted))
}

/// Families of which some instance violates a property.
const FAMILIES: [(&str, &str); 7] = [
    ("unsound_for_all", "tail"),
    ("misc2", "never_c"),
    ("loop_beyond_array", "q"),
    ("start_does_not_fit", "q"),
    ("range_below_zero", "q"),
    ("value_below_zero", "q"),
    ("unguarded_semaphore", "exclusion"),
];

/// What is claimed of all members of a family, by the abstraction alone.
struct ClaimedForAll {
    loaded: source::Loaded,
    asked: usize,
    outcome: Outcome,
}

impl ClaimedForAll {
    fn new(file: &str, name: &str) -> Option<Self> {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata/defects");
        let text = std::fs::read_to_string(root.join(file).with_extension("fair"));
        let text = text.expect("it exists");
        let (name, source_name) = (name.to_owned(), file.to_owned());
        let source = Source {
            name: source_name,
            text,
        };
        let options = source::Options::default();
        let loaded = lang::Native.load(source, &Memory::default(), &options);
        let mut questions = loaded.questions.iter();
        let asked = questions.position(|question| question.property.name == name);
        let asked = asked.expect("the property exists");
        let question = ForAll {
            template: &loaded.family().expect("it is a family").template,
            property: &loaded.questions[asked].property,
            scope: &loaded.questions[asked].scope,
            instances: &|_| None,
            cross_check: false,
        };
        let search = || check_for_all(&question, &Plan::default(), &mut NoProgress);
        let answer = catch_unwind(AssertUnwindSafe(search)).ok()?.ok()?;
        Some(Self {
            loaded,
            asked,
            outcome: answer.outcome,
        })
    }

    fn assert_rejected(&self) {
        let question = &self.loaded.questions[self.asked];
        let options = source::Options::default();
        let family = self.loaded.family().expect("it is a family");
        let (template, budget) = (&family.template, Budget::unlimited());
        let found = certificate_for_all(template, question, &self.outcome, &options, &budget);
        if let Ok(found) = found {
            let mut solvers = certify::installed_solvers(&[]);
            let questions = &self.loaded.questions;
            let verified =
                certify::verify_for_all(family, questions, &found, &mut solvers, &budget);
            assert!(verified.is_err(), "accepted {found:?}");
        }
    }
}

#[test]
fn violations_are_found() {
    let mut n_refuted = 0;
    for refuted in all_refuted() {
        let wrong = refuted.wrong_outcomes().next();
        let plan = wrong.map(|(plan, _)| plan);
        assert_eq!(plan, None, "a wrong verdict: {}", refuted.label);
        n_refuted += 1;
    }
    assert!(n_refuted > 0);
    for (file, name) in FAMILIES {
        let claimed = ClaimedForAll::new(file, name);
        let is_wrong = claimed.is_some_and(|claimed| claimed.outcome.holds());
        assert!(!is_wrong, "a wrong verdict: {file} for all N");
    }
}

#[test]
fn wrong_holds_are_rejected() {
    for (file, name) in FAMILIES {
        let claimed = ClaimedForAll::new(file, name);
        let wrong = claimed.filter(|claimed| claimed.outcome.holds());
        wrong.iter().for_each(ClaimedForAll::assert_rejected);
    }
    let mut n_rejected = 0;
    for refuted in all_refuted() {
        refuted.assert_rejected(&refuted.blind_outcome());
        for (_, outcome) in refuted.wrong_outcomes() {
            refuted.assert_rejected(&outcome);
            n_rejected += 1;
        }
        if n_rejected >= MAX_REJECTED {
            break;
        }
    }
}

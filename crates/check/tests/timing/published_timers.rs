//! Built-in t-fairness against the published algorithm, on random systems with abstract timers.
//!
//! D. Bošnački, N. Ioustinova, N. Sidorova, "Using fairness to make abstractions work", CWI report
//! SEN-E0313, 2003, procedures 8 and 9: a nested depth-first search on replicas of the states, one for
//! each timer. Corrected as `docs/explanation/semantics.md` says: counters run modulo N + 1, and the
//! seed is compared with the successor. The steps are those of the reference semantics.

use std::collections::{BTreeMap, BTreeSet};

use base::{AtomId, Budget, Fairness, NoProgress, Span};
use engine::{Outcome, Query, System, find_run};
use evidence::{Violation, ViolationKind};
use logic::{Ltl, Property};
use model::{Atom, AtomMeaning, BinaryOp, Expr, Model, Successor};
use omega::{Acceptance, Automaton, MarkId};
use testkit::{ModelShape, Random, ReferenceGraph, random_formula, random_model};

/// A state of the system, a state of the automaton, and how many of its marks were seen in turn.
type Node = (usize, u32, usize);

/// The product of a system and an automaton with accepting states.
struct Product<'a> {
    model: &'a Model,
    graph: &'a ReferenceGraph,
    automaton: &'a Automaton,
    marks: Vec<MarkId>,
    timers: Vec<(usize, i64)>,
}

/// The marks of a generalized Büchi condition; nothing for other conditions.
fn buchi_marks(acceptance: &Acceptance) -> Option<Vec<MarkId>> {
    match acceptance {
        Acceptance::True => Some(Vec::new()),
        Acceptance::Inf(mark) => Some(vec![*mark]),
        Acceptance::And(parts) => {
            let marks: Option<Vec<Vec<MarkId>>> = parts.iter().map(buchi_marks).collect();
            Some(marks?.concat())
        }
        _ => None,
    }
}

impl Product<'_> {
    /// The automaton reads the letter of a state entered by a step, seen `before` marks in turn.
    fn read(&self, from: u32, before: usize, to: usize, step: Option<&Successor>) -> Vec<Node> {
        let commands = step.map_or(&[][..], |step| &step.commands);
        let holds = |atom: AtomId| {
            let state = &self.graph.states[to];
            self.model
                .atom_holds(atom, state, commands)
                .expect("atoms of tiny models have values")
        };

        let mut nodes = Vec::new();
        for edge in &self.automaton.edges[from as usize] {
            if !edge.guard.contains(&holds) {
                continue;
            }
            let by_letter = self.automaton.letter_marks.iter();
            let by_letter = by_letter.filter(|letter| letter.when.holds(&holds));
            let mut marks: BTreeSet<MarkId> = edge.marks.iter().copied().collect();
            marks.extend(by_letter.map(|letter| letter.mark));
            let mut seen = if before == self.marks.len() {
                0
            } else {
                before
            };
            while seen < self.marks.len() && marks.contains(&self.marks[seen]) {
                seen += 1;
            }
            nodes.push((to, edge.target.0, seen));
        }

        nodes
    }

    fn initial(&self) -> Vec<Node> {
        let states = 0..self.graph.n_initial;
        let starts = |state| {
            let initial = self.automaton.initial.iter();
            initial.flat_map(move |start| self.read(start.0, 0, state, None))
        };
        states.flat_map(starts).collect()
    }

    fn is_accepting(&self, node: Node) -> bool {
        node.2 == self.marks.len()
    }

    /// The steps of a node in a replica, with the replica that they lead to.
    fn successors(&self, (state, q, seen): Node, replica: usize) -> Vec<(Node, usize)> {
        let n_replicas = self.timers.len() + 1;
        let mut found = Vec::new();
        for (step, target) in &self.graph.steps[state] {
            let is_served = replica > 0 && {
                let (cell, threshold) = self.timers[replica - 1];
                let is_set = step.timers_set.contains(&cell);
                let value = |state: usize| self.graph.states[state].cells[cell];
                value(state) != threshold || is_set && value(*target) == threshold
            };
            let next = if is_served {
                (replica + 1) % n_replicas
            } else {
                replica
            };
            let nodes = self.read(q, seen, *target, Some(step));
            found.extend(nodes.into_iter().map(|node| (node, next)));
        }
        found
    }
}

/// Procedures 8 and 9.
#[derive(Default)]
struct NestedSearch {
    visited: BTreeSet<(Node, usize)>,
    visited_again: BTreeSet<(Node, usize)>,
    seed: Option<(Node, usize)>,
    found: bool,
}

impl NestedSearch {
    fn first(&mut self, product: &Product<'_>, node: Node, replica: usize) {
        self.visited.insert((node, replica));
        let is_accepting = replica == 0 && product.is_accepting(node);
        let next = if is_accepting {
            vec![(node, 1)]
        } else {
            product.successors(node, replica)
        };
        for (node, replica) in next {
            if !self.visited.contains(&(node, replica)) {
                self.first(product, node, replica);
            }
        }
        if is_accepting && !self.found {
            self.seed = Some((node, 0));
            self.second(product, node, 0);
        }
    }

    fn second(&mut self, product: &Product<'_>, node: Node, replica: usize) {
        self.visited_again.insert((node, replica));
        let next = if replica == 0 && product.is_accepting(node) {
            vec![(node, 1)]
        } else {
            product.successors(node, replica)
        };
        for (node, replica) in next {
            if self.seed == Some((node, replica)) {
                self.found = true;
            } else if !self.visited_again.contains(&(node, replica)) {
                self.second(product, node, replica);
            }
        }
    }
}

fn published(product: &Product<'_>) -> bool {
    let mut search = NestedSearch::default();
    for node in product.initial() {
        if !search.visited.contains(&(node, 0)) {
            search.first(product, node, 0);
        }
    }
    search.found
}

/// The search of the tool; what it finds must be a t-fair run that satisfies the formula.
fn built_in(model: &Model, automaton: &Automaton, formula: &Ltl) -> bool {
    let atoms = formula.atoms();
    let fairness = Fairness {
        timers: true,
        ..Fairness::default()
    };
    let mut system = System::new(model).expect("random models are small");
    let query = Query {
        checkpoints: None,
        automaton,
        conditions: &model.fairness_conditions(fairness),
        alternatives: &[],
        strong_global: false,
        atoms: &atoms,
        reduce: false,
        all_states: true,
    };

    let found = find_run(&mut system, &query, &Budget::unlimited(), &mut NoProgress);
    match found.expect("random models are small").0 {
        Outcome::Run { trace, .. } => {
            let violation = Violation {
                kind: ViolationKind::FairLoop,
                trace: Some(trace),
                covering: None,
                component: None,
            };
            let property = Property::Ltl(Ltl::not(formula.clone()));
            let judged = evidence::validate(model, &property, fairness, &[], &violation);
            assert_eq!(judged, Ok(()), "{formula:?}");
            true
        }
        Outcome::NoRun => false,
        other => panic!("{other:?}"),
    }
}

/// The model with a proposition that its first abstract timer is above its threshold.
fn with_waiting(model: &Model) -> (Model, AtomId) {
    let mut parts = model.parts().clone();
    let waits = AtomId::new(parts.atoms.len());
    if let Some((cell, threshold)) = model.abstract_timers().next() {
        let read = Expr::Read(model.place_of_cell(cell));
        let meaning = Expr::binary(BinaryOp::Eq, read, Expr::Int(threshold));
        parts.atoms.push(Atom {
            name: "waits".into(),
            meaning: AtomMeaning::State(meaning),
            span: Span::nowhere(),
        });
    }
    let extended = parts.finish().expect("propositions can be added");
    (extended, waits)
}

#[test]
fn built_in_t_fairness_is_that_of_the_published_algorithm() {
    let mut n_cases: BTreeMap<(bool, bool), usize> = BTreeMap::new();
    for seed in 0..30_000 {
        let mut random = Random::new(seed);
        let (model, waits) = with_waiting(&random_model(&mut random, ModelShape::Tiny));
        let timers: Vec<(usize, i64)> = model.abstract_timers().collect();
        if timers.is_empty() {
            continue;
        }
        let Ok(Some(graph)) = ReferenceGraph::explore(&model, 120) else {
            continue;
        };
        for _ in 0..3 {
            let size = random.below(4);
            let mut formula = random_formula(&mut random, 8, size);
            if random.chance(70) {
                // Only where time passes, and with timers that may never expire, is there something
                // to be excluded.
                let clock = model.parts().clock.expect("there are timers");
                let ticks = Ltl::always(Ltl::eventually(Ltl::atom(clock.tick)));
                let mut stays = Ltl::always(Ltl::atom(waits));
                for _ in 0..1 + random.below(6) {
                    stays = Ltl::next(stays);
                }
                formula = Ltl::and([formula, ticks, stays]);
            }
            let automaton = logic::translate(&formula).expect("small formulas");
            let Some(marks) = buchi_marks(&automaton.acceptance) else {
                continue;
            };
            let product = Product {
                model: &model,
                graph: &graph,
                automaton: &automaton,
                marks,
                timers: timers.clone(),
            };
            let expected = published(&product);
            let atoms = formula.atoms();
            let found = built_in(&model, &automaton, &formula);
            assert_eq!(found, expected, "seed {seed}, {formula:?}");
            let none = is_possible(&model, &formula, &atoms);
            *n_cases.entry((none, found)).or_default() += 1;
        }
    }

    // Runs that only t-fairness excludes are what this is about.
    let excluded = n_cases[&(true, false)];
    assert!(
        n_cases.values().sum::<usize>() > 4_000 && excluded > 50,
        "{n_cases:?}"
    );
}

/// Is there such a run if timers need not expire?
fn is_possible(model: &Model, formula: &Ltl, atoms: &[AtomId]) -> bool {
    let automaton = logic::translate(formula).expect("small formulas");
    let mut system = System::new(model).expect("random models are small");
    let query = Query {
        checkpoints: None,
        automaton: &automaton,
        conditions: &[],
        alternatives: &[],
        strong_global: false,
        atoms,
        reduce: false,
        all_states: true,
    };
    let found = find_run(&mut system, &query, &Budget::unlimited(), &mut NoProgress);
    matches!(
        found.expect("random models are small").0,
        Outcome::Run { .. }
    )
}

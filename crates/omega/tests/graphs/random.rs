//! Random graphs, acceptance conditions and products against the naive definition.

use crate::oracle::{Arrow, Case, Random};
use omega::{
    Acceptance, Closure, EdgeBuffer, ExplicitGraph, Graph, Lasso, NodeId, SearchState,
    covering_lasso, find_fair_cycle, resume_fair_cycle, shortest_lasso,
};

/// Dense mark numbers, or numbers that lie in different words.
fn spread(random: &mut Random) -> Vec<u32> {
    let choices: [[u32; 4]; 3] = [[0, 1, 2, 3], [0, 63, 64, 130], [70, 5, 127, 128]];
    choices[random.below(3)].to_vec()
}

fn draw_acceptance(random: &mut Random, marks: &[u32]) -> Acceptance {
    if random.below(3) == 0 {
        random.pairs(marks)
    } else {
        random.acceptance(marks, 3)
    }
}

fn draw_graph(random: &mut Random) -> Case {
    let n_nodes = random.below(6) + 1;
    let density = random.below(5) + 1;
    let edges = (0..=random.below(9)).map(|_| Arrow {
        source: random.below(n_nodes),
        step: 0,
        target: random.below(n_nodes),
        marks: random.marks(4, density),
    });
    let edges = edges.collect();
    Case {
        n_nodes,
        initial: (0..=random.below(2))
            .map(|_| random.below(n_nodes))
            .collect(),
        edges,
        origins: (0..n_nodes as u32).collect(),
        n_steps: vec![1; n_nodes],
        spread: spread(random),
    }
}

#[test]
fn random_graphs_and_formulas() {
    let mut random = Random(0x00C0_FFEE);
    let mut n_found = 0;
    for _ in 0..12_000 {
        let case = draw_graph(&mut random);
        let sets = case.recurrent_sets(Closure::None);
        for _ in 0..4 {
            let acceptance = draw_acceptance(&mut random, &case.spread);
            let Some(component) = case.check(&acceptance, Closure::None, &sets) else {
                continue;
            };
            n_found += 1;
            let Ok(lasso) = shortest_lasso(&mut case.graph(), &component, &acceptance);
            case.check_lasso(&lasso, &component, &acceptance);
        }
    }
    assert!(
        (5_000..43_000).contains(&n_found),
        "found {n_found} of 48000"
    );
}

/// A product: nodes are pairs of a system state and one of several copies; each system step is
/// taken by some pairs of copies.
fn draw_product(random: &mut Random) -> Case {
    let n_states = random.below(3) + 1;
    let n_copies = random.below(3) + 1;
    let n_steps: Vec<u32> = (0..n_states).map(|_| 1 + random.below(2) as u32).collect();
    let mut edges = Vec::new();

    for (state, &n_steps) in n_steps.iter().enumerate() {
        for step in 0..n_steps {
            let next = random.below(n_states);
            for _ in 0..=random.below(n_copies + 1) {
                edges.push(Arrow {
                    source: state * n_copies + random.below(n_copies),
                    step,
                    target: next * n_copies + random.below(n_copies),
                    marks: random.marks(4, 2),
                });
            }
        }
    }

    edges.truncate(12);
    let n_nodes = n_states * n_copies;
    Case {
        n_nodes,
        initial: (0..=random.below(3))
            .map(|_| random.below(n_nodes))
            .collect(),
        edges,
        origins: (0..n_nodes).map(|node| (node / n_copies) as u32).collect(),
        n_steps,
        spread: spread(random),
    }
}

#[test]
fn random_products_under_strong_global_fairness() {
    let mut random = Random(0x5EED);
    let (mut n_found, mut n_open, mut n_large) = (0, 0, 0);
    for _ in 0..12_000 {
        let case = draw_product(&mut random);
        let sets = case.recurrent_sets(Closure::OnSystem);
        for _ in 0..3 {
            let acceptance = draw_acceptance(&mut random, &case.spread);
            let Some(component) = case.check(&acceptance, Closure::OnSystem, &sets) else {
                continue;
            };
            n_found += 1;
            n_open += usize::from(leaves_product(&case, &component));
            n_large += usize::from(component.nodes.len() > 1);
            let Ok(lasso) = covering_lasso(&mut case.graph(), &component, &acceptance);
            let taken = case.check_lasso(&lasso, &component, &acceptance);
            assert!(
                case.is_closed(taken),
                "does not cover: {case:?} {component:?} {lasso:?}"
            );
            let Ok(lasso) = shortest_lasso(&mut case.graph(), &component, &acceptance);
            case.check_lasso(&lasso, &component, &acceptance);
        }
    }

    // The sample must contain what distinguishes the system from the product.
    assert!(
        n_found > 2_000 && n_open > 200 && n_large > 500,
        "{n_found} {n_open} {n_large}"
    );
}

/// Does an edge leave the component although its projection is closed?
fn leaves_product(case: &Case, component: &omega::Component) -> bool {
    let inside = case.edges_of(component);
    (0..case.edges.len()).any(|edge| {
        let source = omega::NodeId::new(case.edges[edge].source);
        component.nodes.contains(&source) && inside >> edge & 1 == 0
    })
}

/// The length of the shortest accepted lasso of any kind, by dynamic programming over nodes, sets
/// of marks and the start of the cycle.
fn shortest_length(case: &Case, acceptance: &Acceptance) -> usize {
    let stems = distances(case);
    let lengths = (0..case.n_nodes).filter_map(|start| {
        let cycle = shortest_cycle(case, acceptance, start)?;
        Some(stems[start]? + cycle)
    });
    lengths.min().expect("a witness exists")
}

fn distances(case: &Case) -> Vec<Option<usize>> {
    let mut distance = vec![None; case.n_nodes];
    for &node in &case.initial {
        distance[node] = Some(0);
    }
    for _ in 0..case.n_nodes {
        for arrow in &case.edges {
            if let Some(length) = distance[arrow.source] {
                let longer = distance[arrow.target].is_none_or(|old| old > length + 1);
                if longer {
                    distance[arrow.target] = Some(length + 1);
                }
            }
        }
    }
    distance
}

fn shortest_cycle(case: &Case, acceptance: &Acceptance, start: usize) -> Option<usize> {
    let mut layer = vec![(start, 0)];
    let mut seen = vec![false; case.n_nodes * 16];
    for length in 1..=case.n_nodes * 16 {
        let mut next = Vec::new();
        for (node, marks) in layer {
            for arrow in case.edges.iter().filter(|arrow| arrow.source == node) {
                let marks = marks | arrow.marks;
                if arrow.target == start && acceptance.accepts(&case.words(marks)) {
                    return Some(length);
                }
                let place = arrow.target * 16 + marks as usize;
                if !std::mem::replace(&mut seen[place], true) {
                    next.push((arrow.target, marks));
                }
            }
        }
        layer = next;
    }
    None
}

/// The lassos are not always shortest (that is a hard problem), but on small graphs nearly so.
#[test]
fn lassos_are_short() {
    let mut random = Random(0xABCD);
    let (mut total, mut optimum, mut n_cases) = (0, 0, 0);
    while n_cases < 3_000 {
        let case = draw_graph(&mut random);
        let acceptance = draw_acceptance(&mut random, &case.spread);
        let sets = case.recurrent_sets(Closure::None);
        let Some(component) = case.check(&acceptance, Closure::None, &sets) else {
            continue;
        };
        let Ok(Lasso { stem, cycle }) = shortest_lasso(&mut case.graph(), &component, &acceptance);
        n_cases += 1;
        total += stem.len() + cycle.len();
        optimum += shortest_length(&case, &acceptance);
    }

    assert!(
        total >= optimum,
        "shorter than possible: {total} < {optimum}"
    );
    assert!(
        total * 10 <= optimum * 12,
        "{total} steps where {optimum} are enough"
    );
}

/// A graph that stops after some expansions.
struct Stopping {
    graph: ExplicitGraph,
    n_left: usize,
}

impl Graph for Stopping {
    type Stop = ();

    fn n_mark_words(&self) -> usize {
        self.graph.n_mark_words()
    }

    fn initial(&mut self, out: &mut Vec<NodeId>) -> Result<(), ()> {
        let Ok(()) = self.graph.initial(out);
        Ok(())
    }

    fn successors(&mut self, node: NodeId, out: &mut EdgeBuffer) -> Result<(), ()> {
        self.n_left = self.n_left.checked_sub(1).ok_or(())?;
        let Ok(()) = self.graph.successors(node, out);
        Ok(())
    }

    fn origin(&self, node: NodeId) -> u32 {
        self.graph.origin(node)
    }

    fn n_steps(&mut self, node: NodeId) -> Result<u32, ()> {
        let Ok(n_steps) = self.graph.n_steps(node);
        Ok(n_steps)
    }

    fn out_of_numbers(&self) {}
}

#[test]
fn stopped_searches_go_on_where_they_were() {
    let mut random = Random(0x5707);
    let mut n_stops = 0;
    for round in 0..20_000 {
        let (case, closure) = match round % 3 {
            0 => (draw_product(&mut random), Closure::OnSystem),
            _ => (draw_graph(&mut random), Closure::None),
        };
        let acceptance = draw_acceptance(&mut random, &case.spread);
        let whole = find_fair_cycle(&mut case.graph(), &acceptance, closure, &mut |_| Ok(()));
        let Ok(expected) = whole.result;
        let mut stopping = Stopping {
            graph: case.graph(),
            n_left: 0,
        };
        let mut state = SearchState::new(stopping.n_mark_words());
        let mut patience = 1;
        let found = loop {
            stopping.n_left = random.below(patience);
            let search =
                resume_fair_cycle(&mut stopping, &acceptance, closure, &mut |_| Ok(()), state);
            if let Ok(found) = search.result {
                break found;
            }
            n_stops += 1;
            patience += 1;
            let mut words = Vec::new();
            search.state.encode(&mut words);
            let decoded = SearchState::decode(stopping.n_mark_words(), &mut words.as_slice());
            state = decoded.expect("nothing is damaged");
            assert!(state.is_consistent(case.n_nodes), "{case:?} {acceptance:?}");
        };
        assert_eq!(found, expected, "{case:?} {acceptance:?}");
    }

    assert!(n_stops > 50_000, "{n_stops}");
}

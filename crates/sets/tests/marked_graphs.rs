//! Random marked graphs against the naive definition of a fair cycle, on all carriers.

#[path = "../../omega/tests/graphs/oracle.rs"]
mod oracle;
mod support;

use std::cell::RefCell;
use std::sync::Arc;

use base::{Budget, Links, NoProgress, StopReason};
use omega::{Acceptance, Closure, MarkId};
use oracle::{Arrow, Case, Random};
use sets::{
    Answer, Carrier, Expand, InMemory, Meter, OnDisk, Path, Question, Remark, Search, Successors,
    is_supported,
};
use support::Marked;
use testkit::{Shelf, Wires};

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
    let spread = [[0, 1, 2, 3], [0, 63, 64, 130], [70, 5, 127, 128]];
    Case {
        n_nodes,
        initial: (0..=random.below(2))
            .map(|_| random.below(n_nodes))
            .collect(),
        edges,
        origins: (0..n_nodes as u32).collect(),
        n_steps: vec![1; n_nodes],
        spread: spread[random.below(3)].to_vec(),
    }
}

fn draw_acceptance(random: &mut Random, marks: &[u32]) -> Acceptance {
    match random.below(4) {
        0 => random.pairs(marks),
        1 => {
            // What fairness conditions look like.
            let mut mark = || MarkId(marks[random.below(marks.len())]);
            let pairs = [(mark(), mark()), (mark(), mark())];
            let pairs = pairs.map(|(enabled, taken)| Acceptance::streett_pair(enabled, taken));
            Acceptance::all(pairs.into_iter().chain([Acceptance::Inf(mark())]))
        }
        _ => random.acceptance(marks, 3),
    }
}

/// Is the cycle one of the graph, at the end of the stem, and accepted? States do not say which copies
/// they are of, so every choice of edges is tried that fits.
fn check_lasso(graph: &Marked, stem: &Path, cycle: &Path, acceptance: &Acceptance) {
    let case = &graph.case;
    let context = format!("{case:?} {acceptance:?} {stem:?} {cycle:?}");
    assert!(!cycle.steps.is_empty(), "{context}");
    let edges = |path: &Path| -> Vec<usize> {
        let targets = path.steps.iter().skip(1).map(|(state, _)| state);
        let targets = targets.chain([&path.end]);
        let steps = path.steps.iter().zip(targets);
        steps
            .map(|((state, step), target)| graph.edge(state, *step, target).expect(&context))
            .collect()
    };
    let (stem_edges, cycle_edges) = (edges(stem), edges(cycle));

    let all: Vec<usize> = stem_edges.iter().chain(&cycle_edges).copied().collect();
    assert!(
        case.initial.contains(&case.edges[all[0]].source),
        "{context}"
    );
    for pair in all.windows(2) {
        let (first, second) = (&case.edges[pair[0]], &case.edges[pair[1]]);
        assert_eq!(first.target, second.source, "{context}");
    }
    let (first, last) = (cycle_edges[0], cycle_edges[cycle_edges.len() - 1]);
    assert_eq!(
        case.edges[first].source, case.edges[last].target,
        "{context}"
    );

    let set = cycle_edges.iter().fold(0, |set, edge| set | 1_u64 << edge);
    let marks = case.words(case.union(set));
    assert!(acceptance.accepts(&marks), "{context}");
}

fn search<C: Carrier>(graph: &Marked, acceptance: &Acceptance, parts: Vec<C>) -> Answer {
    let answer = search_with(graph, acceptance, parts, None);
    answer.expect("nothing stops the search")
}

fn search_with<C: Carrier>(
    graph: &Marked,
    acceptance: &Acceptance,
    parts: Vec<C>,
    links: Option<&dyn Links>,
) -> Result<Answer, StopReason> {
    let recurrent = graph.recurrent(acceptance);
    let question = Question {
        acceptance: Some(acceptance),
        recurrent: &recurrent,
        all_states: false,
    };
    let meter = Meter::default();
    let graphs = vec![graph.clone(); parts.len()];
    let parts = RefCell::new(parts);
    // Parts are asked for in the order of their numbers.
    let open = |_, _, _| parts.borrow_mut().remove(0);
    let mut silence = NoProgress;
    let mut search = Search::new(question, graphs, &open, links, &meter, &mut silence, None);
    search.run(1, &[])
}

/// Searches in several threads that play processes, each with some parts made by `new_parts`.
fn search_together<C: Carrier>(
    graph: &Marked,
    acceptance: &Acceptance,
    wires: &[Arc<Wires>],
    new_parts: &(dyn Fn(usize) -> Vec<C> + Sync),
) -> Vec<Result<Answer, StopReason>> {
    std::thread::scope(|scope| {
        let start = |(process, links): (usize, &Arc<Wires>)| {
            let links = Arc::clone(links);
            scope.spawn(move || {
                let parts = new_parts(process);
                let answer = search_with(graph, acceptance, parts, Some(&*links));
                links.leave();
                answer
            })
        };
        let threads: Vec<_> = wires.iter().enumerate().map(start).collect();
        let joined = threads.into_iter().map(|thread| thread.join());
        joined.map(|answer| answer.expect("no panic")).collect()
    })
}

#[test]
fn random_graphs_on_all_carriers() {
    let mut random = Random(0x5E75);
    let (mut n_found, mut n_asked) = (0, 0);
    for number in 0..testkit::cases(250) {
        let case = draw_graph(&mut random);
        let sets = case.recurrent_sets(Closure::None);
        let graph = Marked::new(case, 1 + random.below(3), random.below(2) == 0);
        for _ in 0..3 {
            let acceptance = draw_acceptance(&mut random, &graph.case.spread);
            if !is_supported(&acceptance) {
                continue;
            }
            let accepts = |set: &u64| {
                let marks = graph.case.words(graph.case.union(*set));
                acceptance.accepts(&marks)
            };
            let expected = sets.iter().any(accepts);
            n_asked += 1;
            n_found += u32::from(expected);

            let n_words = graph.n_words;
            let in_memory = |_| InMemory::new(n_words);
            let shelf = Shelf::default();
            let on_disk = |part: usize| {
                let prefix = format!("{part}-");
                let folder = Arc::new(shelf.clone());
                // Every message is written down.
                OnDisk::new(folder, prefix, n_words, 0, Budget::unlimited())
            };
            let mut answers = vec![
                search(&graph, &acceptance, vec![in_memory(0)]),
                search(&graph, &acceptance, vec![on_disk(0)]),
            ];
            if number % 4 == 0 {
                answers.push(search(&graph, &acceptance, (0..2).map(in_memory).collect()));
                answers.push(search(&graph, &acceptance, (2..4).map(on_disk).collect()));
            }
            for answer in answers {
                match answer {
                    Answer::Nothing => assert!(!expected, "{graph:?} {acceptance:?}"),
                    Answer::Cycle { stem, cycle } => {
                        check_lasso(&graph, &stem, &cycle, &acceptance);
                    }
                    other => panic!("{other:?}"),
                }
            }
        }
    }
    let share = f64::from(n_found) / f64::from(n_asked);
    assert!((0.1..0.9).contains(&share), "{n_found} of {n_asked}");
}

/// Processes that search together come to one answer, and it is right; if one is lost, to none or to
/// that one.
#[test]
fn random_graphs_in_several_processes() {
    let mut random = Random(0xC1);
    let (mut n_found, mut n_lost) = (0, 0);
    for _ in 0..testkit::cases(60) {
        let case = draw_graph(&mut random);
        let sets = case.recurrent_sets(Closure::None);
        let graph = Marked::new(case, 1 + random.below(3), random.below(2) == 0);
        let acceptance = draw_acceptance(&mut random, &graph.case.spread);
        if !is_supported(&acceptance) {
            continue;
        }
        let accepts = |set: &u64| {
            let marks = graph.case.words(graph.case.union(*set));
            acceptance.accepts(&marks)
        };
        let expected = sets.iter().any(accepts);
        n_found += u32::from(expected);

        let (n_processes, n_parts) = (2 + random.below(3), 1 + random.below(2));
        let n_words = graph.n_words;
        let in_memory = |_| (0..n_parts).map(|_| InMemory::new(n_words)).collect();
        let shelves: Vec<Shelf> = (0..n_processes).map(|_| Shelf::default()).collect();
        let on_disk = |process: usize| {
            let part = |part| {
                let folder = Arc::new(shelves[process].clone());
                OnDisk::new(folder, format!("{part}-"), n_words, 0, Budget::unlimited())
            };
            (0..n_parts).map(part).collect()
        };
        let wires = Wires::between(n_processes);
        let breaks = random.below(3) == 0;
        if breaks {
            wires[random.below(n_processes)].set_fuse(random.below(60) as i64);
        }
        let answers = if random.below(2) == 0 {
            search_together(&graph, &acceptance, &wires, &in_memory)
        } else {
            search_together(&graph, &acceptance, &wires, &on_disk)
        };

        if !breaks {
            assert!(answers.iter().all(|answer| answer == &answers[0]));
        }
        for answer in answers {
            match answer {
                Ok(Answer::Nothing) => assert!(!expected, "{graph:?} {acceptance:?}"),
                Ok(Answer::Cycle { stem, cycle }) => {
                    check_lasso(&graph, &stem, &cycle, &acceptance);
                }
                Err(StopReason::ProcessLost) if breaks => n_lost += 1,
                other => panic!("{other:?}"),
            }
        }
    }
    assert!(n_found > 5 && n_lost > 5, "{n_found} {n_lost}");
}

/// A long way, many edges, and more edges to a node than are counted.
#[test]
fn large_counts_and_long_ways() {
    let n_nodes = 400;
    let arrow = |source, target, marks| Arrow {
        source,
        step: 0,
        target,
        marks,
    };
    let mut edges: Vec<Arrow> = (1..n_nodes - 1).map(|node| arrow(0, node, 0)).collect();
    edges.extend((1..n_nodes - 1).map(|node| arrow(node, n_nodes - 1, 1)));
    edges.extend((1..n_nodes - 2).map(|node| arrow(node, node + 1, 2)));
    for (with_loop, marks) in [(false, 0), (true, 1), (true, 3)] {
        let mut edges = edges.clone();
        if with_loop {
            edges.push(arrow(n_nodes - 1, n_nodes - 1, marks));
        }
        let case = Case {
            n_nodes,
            initial: vec![0],
            edges,
            origins: (0..n_nodes as u32).collect(),
            n_steps: vec![1; n_nodes],
            spread: vec![0, 1],
        };
        let graph = Marked::new(case, 1, false);
        let both = Acceptance::generalized_buchi([MarkId(0), MarkId(1)]);
        let answer = search(&graph, &both, vec![InMemory::new(graph.n_words)]);
        assert_eq!(matches!(answer, Answer::Cycle { .. }), marks == 3);
    }
}

/// A grid in which something is remarked far away from the start, when much has been posted that is
/// not settled.
#[derive(Clone)]
struct Grid {
    size: u64,
    goal: u64,
}

impl Expand for Grid {
    fn n_words(&self) -> usize {
        1
    }

    fn n_copies(&self) -> usize {
        1
    }

    fn n_mark_words(&self) -> usize {
        1
    }

    fn initial(&mut self, out: &mut Successors) -> Result<(), StopReason> {
        out.push_step(&[0]);
        out.push_edge(0, 0, &[0]);
        Ok(())
    }

    fn successors(
        &mut self,
        state: &[u64],
        wanted: &dyn Fn(usize) -> bool,
        _is_new: bool,
        out: &mut Successors,
    ) -> Result<(), StopReason> {
        // Wide levels: every node has three successors in the next level.
        let (level, place) = (state[0] >> 32, state[0] & 0xffff_ffff);
        for more in 0..3 {
            let target = ((level + 1) << 32) | ((3 * place + more) % self.size);
            let step = out.push_step(&[target]);
            if wanted(0) {
                out.push_edge(0, 0, &[0]);
            }
            if target == self.goal {
                out.remark = Some(Remark {
                    step: Some(step),
                    is_goal: true,
                });
            }
        }
        Ok(())
    }

    fn is_state(&self, _: &[u64]) -> bool {
        true
    }

    fn notes(&self) -> Vec<u64> {
        Vec::new()
    }

    fn add_notes(&mut self, notes: &[u64]) -> bool {
        notes.is_empty()
    }
}

#[test]
fn ways_to_what_is_met_begin_at_the_start() {
    let (size, depth) = (40_000, 12);
    let question = Question {
        acceptance: None,
        recurrent: &[],
        all_states: true,
    };
    for n_parts in [1, 2, 3] {
        for place in [20_000, 39_999] {
            let goal = depth << 32 | place;
            let grid = Grid { size, goal };
            let shelf = Shelf::default();
            let open = |_, _, part: usize| {
                let folder = Arc::new(shelf.clone());
                OnDisk::new(folder, format!("{part}-"), 1, 1 << 16, Budget::unlimited())
            };
            let (meter, mut silence) = (Meter::default(), NoProgress);
            let mut search = Search::new(
                question,
                vec![grid.clone(); n_parts],
                &open,
                None,
                &meter,
                &mut silence,
                None,
            );
            let answer = search.run(1, &[]).expect("nothing stops the search");
            let Answer::Met { path, is_goal } = answer else {
                panic!("{answer:?}");
            };
            assert!(is_goal);
            assert_eq!((path.end[0], path.steps.len() as u64), (goal, depth));
            assert_eq!(path.steps[0].0, [0]);
        }
    }
}

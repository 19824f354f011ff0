//! Algorithms for mutual exclusion under justness, with registers that block more or less.
//!
//! R. van Glabbeek, B. Luttik, M. Spronck, Just verification of mutual exclusion algorithms (CONCUR 2025,
//! LIPIcs 348, 17:1–17:25, doi 10.4230/LIPIcs.CONCUR.2025.17), ask for starvation freedom and deadlock
//! freedom under four concurrency relations: see [`Registers`]. What is known about the algorithms is said
//! in [`ALGORITHMS`]; all verdicts are compared with the formulas of that paper, evaluated as they are
//! written (`properties/sf_just_*.mcf` and `df_just_*.mcf` in the folder
//! `examples/academic/non-atomic_registers` of github.com/mCRL2org/mCRL2, commit ff6122b). The paper's own
//! table of results could not be read, so its verdicts are not quoted.

use std::path::Path;

use base::{Budget, Fairness, FairnessKind, NoProgress};
use check::{Plan, check};
use model::{CommandId, Model};
use source::{Content, FrontEnd, Loaded, Memory};
use testkit::ReferenceGraph;

/// Which accesses to a register keep another thread from its access to the same register.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
enum Registers {
    /// None: every thread goes on, whatever the others do. The assumption of the older literature.
    T,
    /// Writing.
    S,
    /// Writing; and reading keeps others from writing.
    I,
    /// All: an access waits until no other goes on.
    A,
}

const REGISTERS: [Registers; 4] = [Registers::T, Registers::S, Registers::I, Registers::A];

/// One register that both threads write, or one for each thread, which it writes and the other reads.
struct Register {
    is_common: bool,
    reads: &'static [&'static str],
    writes: &'static [&'static str],
}

const fn own(reads: &'static [&'static str], writes: &'static [&'static str]) -> Register {
    Register {
        is_common: false,
        reads,
        writes,
    }
}

const fn common(reads: &'static [&'static str], writes: &'static [&'static str]) -> Register {
    Register {
        is_common: true,
        reads,
        writes,
    }
}

/// An algorithm for two threads: a model in `examples/justness`, its registers, the step after which a
/// thread is in its critical section, and what is published about it.
struct Algorithm {
    file: &'static str,
    registers: &'static [Register],
    enter: &'static str,
    /// Is it free of starvation where every thread goes on? Nothing if no verdict was found.
    starves_not: Option<bool>,
    /// Does some thread get in there?
    some_gets_in: Option<bool>,
}

/// Registers of kind A: no algorithm is free of starvation, because a thread that waits can keep the other
/// from writing what it waits for. E. Kindler, R. Walter, Mutex needs fairness (Information Processing
/// Letters 62(1), 1997), W. Vogler, Efficiency of asynchronous systems, read arcs, and the MUTEX-problem
/// (Theoretical Computer Science 275, 2002), and R. van Glabbeek, P. Höfner, CCS: it's not fair! (Acta
/// Informatica 52, 2015) prove it for Petri nets and process algebras; R. van Glabbeek, Modelling mutual
/// exclusion in a process algebra with time-outs (arXiv 2106.12785), says so in its abstract and section 1.
///
/// Registers of kind T, in the order of the table. Only the verdict about Peterson's algorithm is from a text
/// about justness; the others are older claims, taken as T because T is that every thread goes on. What is in
/// quotation marks was read where it is said to stand; the rest was not at hand and is cited from memory or,
/// for Kessels, after a summary by others. That some thread gets in follows for algorithms without starvation.
/// * Peterson: "we confirm the correctness of Peterson's mutual exclusion algorithm for two processes"
///   under justness: V. Dyseryn, R. van Glabbeek, P. Höfner, Analysing mutual exclusion using process
///   algebra with signals (EXPRESS/SOS 2017, EPTCS 255, doi 10.4204/EPTCS.255.2), abstract. (Not where
///   reading keeps others from writing: M. Bouwman, B. Luttik, T. Willemse, Off-the-shelf automated analysis
///   of liveness properties for just paths, Acta Informatica 57, 2020, section 1.1.)
/// * Dijkstra: "guarantees mutual exclusion, but it does not guarantee lockout-freedom": M. Takamura,
///   Y. Igarashi, Simple mutual exclusion algorithms based on bounded tickets on the asynchronous shared
///   memory model (COCOON 2002), section 1; some thread gets in: E. W. Dijkstra, Solution of a problem in
///   concurrent programming control (Communications of the ACM 8(9), 1965), requirement (d), from memory.
/// * Lamport's one-bit algorithm "permits individual starvation": L. Lamport, The mutual exclusion problem,
///   part II: statement and solutions (Journal of the ACM 33(2), 1986), abstract; some thread gets in:
///   section 3.2; his three-bit algorithm is free of lockout: section 3.4; both from memory.
/// * Szymanski: "exhibits strong fairness property by enforcing the linear wait": B. Szymanski, A simple
///   solution to Lamport's concurrent programming problem with linear wait (ICS 1988), abstract.
/// * Kessels: consistency, progress and fairness are proved in J. Kessels, Arbitration without common
///   modifiable variables (Acta Informatica 17, 1982, doi 10.1007/BF00288966).
/// * Burns and Lynch: free of deadlock: J. Burns, N. Lynch, Bounds on shared memory for mutual exclusion
///   (Information and Computation 107(2), 1993), abstract, from memory.
/// * Dekker, Knuth: nothing that could be read.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm {
        file: "peterson",
        registers: &[
            own(&["look"], &["begin", "leave"]),
            common(&["ask"], &["give"]),
        ],
        enter: "enter",
        starves_not: Some(true),
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "dijkstra",
        registers: &[
            own(&["peek"], &["begin", "leave"]),
            own(&["look"], &["clear", "claim", "open"]),
            common(&["ask"], &["take"]),
        ],
        enter: "enter",
        starves_not: Some(false),
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "lamport_one_bit",
        registers: &[own(
            &["peek", "watch", "look"],
            &["raise", "lower", "leave"],
        )],
        enter: "enter",
        starves_not: Some(false),
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "lamport_three_bit",
        registers: &[
            own(&["check"], &["raise", "yield", "lower"]),
            own(&["ask", "look"], &["begin", "leave"]),
            own(&["compare"], &["turn"]),
        ],
        enter: "enter",
        starves_not: Some(true),
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "szymanski",
        registers: &[own(
            &["knock", "look", "watch", "queue", "check"],
            &["begin", "pass", "yield", "close", "leave"],
        )],
        enter: "enter",
        starves_not: Some(true),
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "kessels",
        registers: &[
            own(&["look"], &["begin", "leave"]),
            own(&["ask", "compare"], &["give"]),
        ],
        enter: "enter",
        starves_not: Some(true),
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "burns_lynch",
        registers: &[own(
            &["peek", "check", "look"],
            &["lower", "raise", "leave"],
        )],
        enter: "enter",
        starves_not: None,
        some_gets_in: Some(true),
    },
    Algorithm {
        file: "dekker",
        registers: &[
            own(&["look"], &["begin", "yield", "claim", "leave"]),
            common(&["ask", "watch"], &["pass"]),
        ],
        enter: "enter",
        starves_not: None,
        some_gets_in: None,
    },
    Algorithm {
        file: "knuth",
        registers: &[
            own(&["scan", "check"], &["raise", "claim", "leave"]),
            common(&["ask"], &["take", "pass"]),
        ],
        enter: "take",
        starves_not: None,
        some_gets_in: None,
    },
];

/// A step of a thread.
type Label = (i64, String);

impl Algorithm {
    /// The register that a step accesses, and whether it writes. Registers of one thread are told apart
    /// by who writes them.
    fn access(&self, (thread, step): &Label) -> Option<(usize, i64, bool)> {
        for (number, register) in self.registers.iter().enumerate() {
            let writer = |writer: i64| if register.is_common { 0 } else { writer };
            if register.writes.contains(&step.as_str()) {
                return Some((number, writer(*thread), true));
            }
            if register.reads.contains(&step.as_str()) {
                return Some((number, writer(1 - thread), false));
            }
        }
        None
    }

    /// Does the second step keep the first from being taken? The sets `elimT` to `elimA` of the paper's
    /// models.
    fn eliminates(&self, kind: Registers, step: &Label, by: &Label) -> bool {
        if step.0 == by.0 {
            return true;
        }
        let (Some((of, writer, writes)), Some((by_of, by_writer, by_writes))) =
            (self.access(step), self.access(by))
        else {
            return false;
        };
        let from = match (by_writes, writes) {
            (true, _) => Registers::S,
            (false, true) => Registers::I,
            (false, false) => Registers::A,
        };
        (of, writer) == (by_of, by_writer) && kind >= from
    }

    /// All steps of a thread that access registers.
    fn accesses(&self, thread: i64) -> Vec<Label> {
        let registers = self.registers.iter();
        let steps = registers.flat_map(|register| register.reads.iter().chain(register.writes));
        steps.map(|step| (thread, (*step).to_owned())).collect()
    }

    /// The model with what interferes, and with the two questions.
    fn load(&self, kind: Registers) -> Loaded {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/justness");
        let path = folder.join(self.file).with_extension("fair");
        let text = std::fs::read_to_string(&path).expect("the model can be read");
        let mut text = wanting_apart(&text);
        for (by, step) in [(0, 1), (1, 0)] {
            for by in self.accesses(by) {
                for step in self.accesses(step) {
                    if self.eliminates(kind, &step, &by) {
                        let (by, step) = (name(&by), name(&step));
                        text += &format!("interference {by} with {step}\n");
                    }
                }
            }
        }
        let enter = self.enter;
        text += &format!(
            "property starves_not: forall t in 0..1: always (P[t].want -> eventually P[t].{enter})\n\
             property some_gets_in: forall t in 0..1: always (P[t].want -> \
                 !(!P[t].{enter} until always (!P[0].{enter} && !P[1].{enter})))\n"
        );
        let source = base::Source {
            name: path.display().to_string(),
            text,
        };
        lang::Native.load(source, &Memory::default(), &source::Options::default())
    }

    /// What the formula of the paper says of the steps of a model, for starvation or deadlock freedom.
    fn formula_holds(&self, graph: &Labelled, kind: Registers, of_all: bool) -> bool {
        (0..2).all(|thread| {
            let is_entry = |label: &Label| label.1 == self.enter && (of_all || label.0 == thread);
            let stuck = self.stuck(graph, kind, &graph.which(&is_entry));
            let is_wish = graph.which(&|label| *label == (thread, "want".to_owned()));
            let mut starts = vec![false; graph.n_states];
            for &(_, label, target) in &graph.edges {
                starts[target] |= is_wish[label];
            }
            if of_all {
                let own = graph.which(&|label| *label == (thread, self.enter.to_owned()));
                let along = graph.edges.iter().filter(|(_, label, _)| !own[*label]);
                let along = along.map(|&(source, _, target)| (source, target));
                starts = reach(starts, &next(graph.n_states, along));
            }
            !starts
                .iter()
                .zip(&stuck)
                .any(|(start, stuck)| *start && *stuck)
        })
    }

    /// `nu X. forall a. nonblock(a) && <a>true => <(!c)*> exists b in elim(a), b != c. <b> X`: where just
    /// paths without entries `c` start.
    fn stuck(&self, graph: &Labelled, kind: Registers, is_entry: &[bool]) -> Vec<bool> {
        // That a thread wants to enter is its own affair; in the models it may also rest.
        let is_blocking = graph.which(&|label| ["want", "rest"].contains(&label.1.as_str()));
        let without = graph.edges.iter().filter(|(_, label, _)| !is_entry[*label]);
        let back = without.map(|&(source, _, target)| (target, source));
        let before = next(graph.n_states, back);

        let mut stuck = vec![true; graph.n_states];
        let mut is_stable = false;
        while !is_stable {
            is_stable = true;
            for label in (0..graph.labels.len()).filter(|label| !is_blocking[*label]) {
                let ends = |by: &Label| self.eliminates(kind, &graph.labels[label], by);
                let ends = graph.which(&ends);
                let mut can = vec![false; graph.n_states];
                for &(source, by, target) in &graph.edges {
                    can[source] |= ends[by] && !is_entry[by] && stuck[target];
                }
                let can = reach(can, &before);
                for &(source, enabled, _) in &graph.edges {
                    if enabled == label && stuck[source] && !can[source] {
                        stuck[source] = false;
                        is_stable = false;
                    }
                }
            }
        }
        stuck
    }
}

/// The model with a step of its own for the first write of a thread that wants to enter: that it wants
/// to is its own affair, but after that it must go on.
fn wanting_apart(text: &str) -> String {
    let mut lines = Vec::new();
    for line in text.lines() {
        let wanting = line.trim().strip_prefix("want ");
        let effect = wanting.and_then(|rest| rest.split_once("->"));
        match effect {
            Some((effect, target)) if !effect.contains("skip") => {
                lines.push("want { skip } -> wanting }".to_owned());
                lines.push(format!("from wanting {{ begin {effect} -> {target}"));
            }
            _ => lines.push(line.to_owned()),
        }
    }
    lines.join("\n") + "\n"
}

fn name((thread, step): &Label) -> String {
    format!("P[{thread}].{step}")
}

/// The steps of a system, with who takes them.
struct Labelled {
    n_states: usize,
    labels: Vec<Label>,
    /// Source, position of the label, target.
    edges: Vec<(usize, usize, usize)>,
}

impl Labelled {
    fn new(model: &Model) -> Self {
        let graph = ReferenceGraph::explore(model, 5_000);
        let graph = graph.expect("there is no error").expect("it is small");
        let n_commands = model.commands().len();
        let names = (0..n_commands).map(|id| model.command_name(CommandId::new(id)));
        let labels = names.map(|text| {
            let (thread, step) = text.split_once("].").expect("threads are numbered");
            let thread = thread.strip_prefix("P[").expect("threads are called P");
            let thread = thread.parse().expect("threads are numbered");
            (thread, step.to_owned())
        });
        let mut edges = Vec::new();
        for (source, steps) in graph.steps.iter().enumerate() {
            for (step, target) in steps {
                let [command] = step.commands[..] else {
                    panic!("threads move one at a time and always can");
                };
                edges.push((source, command.index(), *target));
            }
        }
        Self {
            n_states: graph.states.len(),
            labels: labels.collect(),
            edges,
        }
    }

    /// For each label, whether it is meant.
    fn which(&self, is_meant: &dyn Fn(&Label) -> bool) -> Vec<bool> {
        self.labels.iter().map(is_meant).collect()
    }
}

fn next(n_states: usize, edges: impl Iterator<Item = (usize, usize)>) -> Vec<Vec<usize>> {
    let mut next = vec![Vec::new(); n_states];
    edges.for_each(|(from, to)| next[from].push(to));
    next
}

fn reach(mut reached: Vec<bool>, next: &[Vec<usize>]) -> Vec<bool> {
    let mut open: Vec<usize> = (0..reached.len()).filter(|&state| reached[state]).collect();
    while let Some(state) = open.pop() {
        for &target in &next[state] {
            if !std::mem::replace(&mut reached[target], true) {
                open.push(target);
            }
        }
    }
    reached
}

#[test]
fn verdicts_are_the_published_ones() {
    let plan = Plan {
        fairness: Some(Fairness::of(FairnessKind::Just)),
        budget: Budget::unlimited(),
        ..Plan::default()
    };
    let mut n_published = 0;
    let mut n_verdicts = [0, 0];
    for algorithm in &ALGORITHMS {
        for kind in REGISTERS {
            let loaded = algorithm.load(kind);
            let Some(Content::Systems(systems)) = &loaded.content else {
                panic!("{}: {:?}", algorithm.file, loaded.diagnostics);
            };
            let model = &systems[0].model;
            let graph = Labelled::new(model);

            for (wanted, of_all) in [("starves_not", false), ("some_gets_in", true)] {
                let what = format!("{} {wanted} {kind:?}", algorithm.file);
                let mut questions = loaded.questions.iter();
                let question = questions.find(|question| question.property.name == wanted);
                let property = &question.expect("it was added").property;
                let outcome = check(model, property, &plan, &mut NoProgress);
                let holds = outcome.unwrap_or_else(|bug| panic!("{bug}")).holds();
                let by_formula = algorithm.formula_holds(&graph, kind, of_all);
                assert_eq!(holds, by_formula, "{what}: by the formula of the paper");

                let published = match (kind, of_all) {
                    (Registers::T, false) => algorithm.starves_not,
                    (Registers::T, true) => algorithm.some_gets_in,
                    (Registers::I, false) if algorithm.file == "peterson" => Some(false),
                    (Registers::A, false) => Some(false),
                    _ => None,
                };
                if let Some(published) = published {
                    assert_eq!(holds, published, "{what}: as published");
                    n_published += 1;
                }
                n_verdicts[usize::from(holds)] += 1;
                println!("{what}: {holds}");
            }
        }
    }
    assert!(n_published >= 22, "{n_published}");
    assert!(n_verdicts.iter().all(|n| *n >= 20), "{n_verdicts:?}");
}

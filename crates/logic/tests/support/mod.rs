//! Random formulas and words, and a naive acceptance check that shares nothing with the crate.

#![allow(dead_code)] // Every test binary uses a part of this.

use base::{AtomId, bits};
use logic::Ltl;
use omega::{Acceptance, Automaton, MarkId};

/// A small deterministic generator (xorshift64*).
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    pub fn below(&mut self, limit: usize) -> usize {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        (self.0.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 33) as usize % limit
    }

    pub fn flip(&mut self) -> bool {
        self.below(2) == 0
    }
}

/// A formula with this many operators over atoms `0..n_atoms`.
pub fn formula(random: &mut Random, n_operators: usize, n_atoms: usize) -> Ltl {
    if n_operators == 0 {
        return match random.below(20) {
            0 => Ltl::tt(),
            1 => Ltl::ff(),
            _ => Ltl::atom(AtomId::new(random.below(n_atoms))),
        };
    }

    let rest = n_operators - 1;
    match random.below(17) {
        0 | 1 => Ltl::not(formula(random, rest, n_atoms)),
        2 | 3 => Ltl::next(formula(random, rest, n_atoms)),
        4 | 5 => Ltl::eventually(formula(random, rest, n_atoms)),
        6 | 7 => Ltl::always(formula(random, rest, n_atoms)),
        operator => {
            let left = random.below(rest + 1);
            let a = formula(random, left, n_atoms);
            let b = formula(random, rest - left, n_atoms);
            match operator {
                8 | 9 => Ltl::and([a, b]),
                10 | 11 => Ltl::or([a, b]),
                12 => Ltl::until(a, b),
                13 => Ltl::release(a, b),
                14 => Ltl::weak_until(a, b),
                15 => Ltl::strong_release(a, b),
                _ if random.flip() => Ltl::implies(a, b),
                _ => Ltl::iff(a, b),
            }
        }
    }
}

/// A Boolean combination of `[]<>` and `<>[]` of propositional formulas, with now and then
/// another formula in it.
pub fn premise(random: &mut Random, n_operators: usize, n_atoms: usize) -> Ltl {
    if n_operators == 0 {
        let body = proposition(random, 2, n_atoms);
        return match random.below(7) {
            0..=2 => Ltl::always(Ltl::eventually(body)),
            3..=5 => Ltl::eventually(Ltl::always(body)),
            _ => formula(random, 3, n_atoms),
        };
    }
    let left = random.below(n_operators);
    let a = premise(random, left, n_atoms);
    let b = premise(random, n_operators - 1 - left, n_atoms);
    match random.below(6) {
        0 | 1 => Ltl::and([a, b]),
        2 => Ltl::or([a, b]),
        3 => Ltl::implies(a, b),
        4 => Ltl::iff(a, b),
        _ => Ltl::and([Ltl::not(a), b]),
    }
}

fn proposition(random: &mut Random, n_operators: usize, n_atoms: usize) -> Ltl {
    let atom = Ltl::atom(AtomId::new(random.below(n_atoms)));
    match (n_operators, random.below(4)) {
        (0, _) | (_, 0) => atom,
        (_, 1) => Ltl::not(proposition(random, n_operators - 1, n_atoms)),
        (_, 2) => Ltl::and([atom, proposition(random, n_operators - 1, n_atoms)]),
        _ => Ltl::or([atom, proposition(random, n_operators - 1, n_atoms)]),
    }
}

/// An ultimately periodic word; bit `a` of a letter is atom `a`.
#[derive(Debug)]
pub struct Word {
    pub letters: Vec<u32>,
    pub loop_start: usize,
}

impl Word {
    pub fn random(random: &mut Random, n_atoms: usize) -> Self {
        let n_positions = 1 + random.below(6);
        Self {
            letters: (0..n_positions)
                .map(|_| random.below(1 << n_atoms) as u32)
                .collect(),
            loop_start: random.below(n_positions),
        }
    }

    pub fn satisfies(&self, formula: &Ltl) -> bool {
        let letter = |position: usize, atom: AtomId| self.letters[position] >> atom.0 & 1 == 1;
        logic::holds_on_lasso(formula, self.letters.len(), self.loop_start, &letter)
    }
}

/// An edge of the product of automaton and word.
struct Step {
    from: usize,
    to: usize,
    marks: Vec<u64>,
}

/// Does the automaton accept the word? Tries every disjunct of the acceptance.
pub fn accepts(automaton: &Automaton, word: &Word) -> bool {
    let n_positions = word.letters.len();
    let steps = product(automaton, word);
    let everything = closure(automaton.n_states() * n_positions, &steps, |_| true);
    let starts: Vec<usize> = automaton
        .initial
        .iter()
        .map(|state| state.index() * n_positions)
        .collect();
    disjuncts(&automaton.acceptance).iter().any(|(inf, fin)| {
        let allowed = |step: &Step| !fin.iter().any(|mark| bits::get(&step.marks, mark.index()));
        let reach = closure(everything.len(), &steps, allowed);
        (0..everything.len()).any(|node| {
            let reachable = starts
                .iter()
                .any(|&start| start == node || bits::get(&everything[start], node));
            let on_cycle = |step: &&Step| {
                allowed(step)
                    && (step.from == node || bits::get(&reach[node], step.from))
                    && (step.to == node || bits::get(&reach[step.to], node))
            };
            reachable
                && bits::get(&reach[node], node)
                && inf.iter().all(|mark| {
                    let mut inside = steps.iter().filter(on_cycle);
                    inside.any(|step| bits::get(&step.marks, mark.index()))
                })
        })
    })
}

fn product(automaton: &Automaton, word: &Word) -> Vec<Step> {
    let n_positions = word.letters.len();
    let mut steps = Vec::new();
    for (position, &bits_of_letter) in word.letters.iter().enumerate() {
        let letter = |atom: AtomId| bits_of_letter >> atom.0 & 1 == 1;
        let after = if position + 1 < n_positions {
            position + 1
        } else {
            word.loop_start
        };
        for (state, edges) in automaton.edges.iter().enumerate() {
            for edge in edges.iter().filter(|edge| edge.guard.contains(&letter)) {
                let mut marks = vec![0; bits::words_for(automaton.n_marks)];
                for mark in &edge.marks {
                    bits::set(&mut marks, mark.index());
                }
                for entry in &automaton.letter_marks {
                    if entry.when.holds(&letter) {
                        bits::set(&mut marks, entry.mark.index());
                    }
                }
                steps.push(Step {
                    from: state * n_positions + position,
                    to: edge.target.index() * n_positions + after,
                    marks,
                });
            }
        }
    }

    steps
}

/// For each node the nodes that it reaches by at least one allowed step.
fn closure(n_nodes: usize, steps: &[Step], allowed: impl Fn(&Step) -> bool) -> Vec<Vec<u64>> {
    let mut reach = vec![vec![0; bits::words_for(n_nodes)]; n_nodes];
    for step in steps.iter().filter(|step| allowed(step)) {
        bits::set(&mut reach[step.from], step.to);
    }
    for middle in 0..n_nodes {
        let row = reach[middle].clone();
        for from in &mut reach {
            if bits::get(from, middle) {
                bits::union_into(from, &row);
            }
        }
    }
    reach
}

/// The acceptance as alternatives of marks to see infinitely often and marks to avoid.
fn disjuncts(acceptance: &Acceptance) -> Vec<(Vec<MarkId>, Vec<MarkId>)> {
    match acceptance {
        Acceptance::True => vec![(Vec::new(), Vec::new())],
        Acceptance::False => Vec::new(),
        Acceptance::Inf(mark) => vec![(vec![*mark], Vec::new())],
        Acceptance::Fin(mark) => vec![(Vec::new(), vec![*mark])],
        Acceptance::Or(parts) => parts.iter().flat_map(disjuncts).collect(),
        Acceptance::And(parts) => {
            let mut all = vec![(Vec::new(), Vec::new())];
            for part in parts {
                let more = disjuncts(part);
                let pairs = all.iter().flat_map(|a| more.iter().map(move |b| (a, b)));
                all = pairs
                    .map(|(a, b)| {
                        let inf = [&a.0[..], &b.0[..]].concat();
                        (inf, [&a.1[..], &b.1[..]].concat())
                    })
                    .collect();
            }
            all
        }
    }
}

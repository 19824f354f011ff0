//! Past operators: monitors beside the automaton of what remains.
//!
//! Whether a formula about the past holds at a position is determined by the positions up to it, so
//! a deterministic monitor that reads the word knows it. Each past operator, inner ones first, is
//! replaced by an atom of its own; the rest, which has no past operators, is translated as usual; and
//! the result is multiplied with the monitor, which reads the new atoms in place of the word and
//! removes them. That is the construction of O. Lichtenstein, A. Pnueli, L. Zuck, "The glory of the
//! past", Logics of Programs 1985, LNCS 193, doi:10.1007/3-540-15648-8_16, with the past part
//! determined forwards instead of guessed.
//!
//! The operands of past operators must not look into the future.

use base::AtomId;
use omega::{Automaton, Edge, LetterMark, MarkId, Prop, StateId};
use rustc_hash::FxHashMap;

use crate::bdd::{Bdd, Bdds};
use crate::ltl::{Ltl, Op};
use crate::property::propositional;
use crate::translate::TranslateError;

/// Atoms from this number on stand for past operators. No model has as many atoms, and those that
/// stand for quantified formulas begin above.
const FIRST_PAST: u32 = 1 << 29;

/// How many past operators a formula may have: the monitor has two states for each of them, at most.
const MAX_PAST: usize = 12;

/// A formula whose past operators are replaced by atoms.
pub(crate) struct Separated {
    /// What remains.
    pub(crate) formula: Ltl,
    /// What the new atoms stand for; operands contain atoms of earlier ones only.
    operators: Vec<Operator>,
}

/// A past operator. Its operands are propositional.
enum Operator {
    Previously(Prop),
    Since(Prop, Prop),
}

/// Replaces past operators by atoms; nothing if there are none.
pub(crate) fn separate(formula: &Ltl) -> Result<Option<Separated>, TranslateError> {
    if !formula.has_past() {
        return Ok(None);
    }
    let mut operators = Vec::new();
    let mut by_address: FxHashMap<usize, Ltl> = FxHashMap::default();
    for part in formula.subformulas() {
        let of = |operand: &Ltl| by_address[&operand.address()].clone();
        let operand = |operand: &Ltl| {
            let replaced = &by_address[&operand.address()];
            propositional(replaced).ok_or(TranslateError::FutureInPast)
        };
        let operator = match part.op() {
            Op::Previously(a) => Some(Operator::Previously(operand(a)?)),
            Op::Since(a, b) => Some(Operator::Since(operand(a)?, operand(b)?)),
            _ => None,
        };
        let replaced = match operator {
            None => part.rebuilt(&of),
            Some(operator) => {
                operators.push(operator);
                Ltl::atom(AtomId(FIRST_PAST + operators.len() as u32 - 1))
            }
        };
        by_address.insert(part.address(), replaced);
    }

    if operators.len() > MAX_PAST {
        return Err(TranslateError::TooLarge);
    }
    let formula = by_address[&formula.address()].clone();
    Ok(Some(Separated { formula, operators }))
}

/// A bit for each past operator. In the state of the monitor: did the operand of `previously`, or did
/// `since` itself, hold at the position before? Before the first position, nothing did.
type Bits = u32;

/// What the monitor does at a letter.
struct Case {
    /// Which past operators hold at the letter.
    holds: Bits,
    /// Where the monitor goes.
    next: Bits,
    /// The letters.
    letters: Bdd,
}

impl Separated {
    /// The automaton of the formula as it was, from that of what remains.
    pub(crate) fn monitored(&self, automaton: &Automaton) -> Result<Automaton, TranslateError> {
        let mut monitor = Monitor {
            operators: &self.operators,
            bdds: Bdds::new(self.atoms(automaton)),
        };
        let (past, plain): (Vec<LetterMark>, Vec<LetterMark>) = { automaton.letter_marks.iter() }
            .cloned()
            .partition(|mark| mentions_past(&mark.when));
        let mut product = Product {
            numbers: FxHashMap::default(),
            pairs: Vec::new(),
        };
        let mut found = Automaton {
            initial: Vec::new(),
            edges: Vec::new(),
            letter_marks: plain,
            n_marks: automaton.n_marks,
            acceptance: automaton.acceptance.clone(),
        };

        found.initial = { automaton.initial.iter() }
            .map(|state| product.number(*state, 0))
            .collect();
        while let Some(&(state, bits)) = product.pairs.get(found.edges.len()) {
            let mut edges = Vec::new();
            for case in monitor.cases(bits) {
                for edge in &automaton.edges[state.index()] {
                    let target = product.number(edge.target, case.next);
                    monitor.edges(edge, &case, &past, target, &mut edges);
                }
            }
            found.edges.push(edges);
            if monitor.bdds.overflowed() || product.pairs.len() > MAX_STATES {
                return Err(TranslateError::TooLarge);
            }
        }
        Ok(found)
    }

    /// The atoms of the word.
    fn atoms(&self, automaton: &Automaton) -> Vec<AtomId> {
        let mut atoms = Vec::new();

        for edge in automaton.edges.iter().flatten() {
            atoms.extend(edge.guard.literals().iter().map(|(atom, _)| *atom));
        }
        for mark in &automaton.letter_marks {
            collect(&mark.when, &mut atoms);
        }

        for operator in &self.operators {
            match operator {
                Operator::Previously(a) => collect(a, &mut atoms),
                Operator::Since(a, b) => {
                    collect(a, &mut atoms);
                    collect(b, &mut atoms);
                }
            }
        }

        // Past operators are named by atoms of their own, which no letter of a model has.
        atoms.retain(|atom| as_past(*atom).is_none());
        atoms.sort_unstable();
        atoms.dedup();
        atoms
    }
}

/// Larger products are refused.
const MAX_STATES: usize = 100_000;

/// The states of the product, in the order in which they are met.
struct Product {
    numbers: FxHashMap<(StateId, Bits), StateId>,
    pairs: Vec<(StateId, Bits)>,
}

impl Product {
    fn number(&mut self, state: StateId, bits: Bits) -> StateId {
        let fresh = StateId::new(self.pairs.len());
        let number = *self.numbers.entry((state, bits)).or_insert(fresh);
        if number == fresh {
            self.pairs.push((state, bits));
        }
        number
    }
}

struct Monitor<'a> {
    operators: &'a [Operator],
    bdds: Bdds,
}

impl Monitor<'_> {
    /// What can happen in a state of the monitor; the letters of the cases are disjoint, and every
    /// letter is in one.
    fn cases(&mut self, bits: Bits) -> Vec<Case> {
        let mut cases = vec![Case {
            holds: 0,
            next: 0,
            letters: Bdd::TRUE,
        }];

        for number in 0..self.operators.len() {
            let bit = 1 << number;
            let was_true = bits & bit != 0;
            let mut split = Vec::new();
            for case in cases {
                let noted = match &self.operators[number] {
                    Operator::Previously(a) => self.diagram(a, case.holds),
                    Operator::Since(a, b) => {
                        let again = self.diagram(b, case.holds);
                        let still = self.diagram(a, case.holds);
                        if was_true {
                            self.bdds.or(again, still)
                        } else {
                            again
                        }
                    }
                };

                for value in [false, true] {
                    let letters = if value {
                        self.bdds.and(case.letters, noted)
                    } else {
                        self.bdds.minus(case.letters, noted)
                    };
                    let holds = match &self.operators[number] {
                        Operator::Previously(_) => was_true,
                        Operator::Since(..) => value,
                    };
                    if letters != Bdd::FALSE {
                        split.push(Case {
                            holds: case.holds | if holds { bit } else { 0 },
                            next: case.next | if value { bit } else { 0 },
                            letters,
                        });
                    }
                }
            }
            cases = split;
        }

        cases
    }

    /// Adds what becomes of an edge in a case. Marks that depend on the past become marks of edges.
    fn edges(
        &mut self,
        edge: &Edge,
        case: &Case,
        past: &[LetterMark],
        target: StateId,
        out: &mut Vec<Edge>,
    ) {
        let mut letters = case.letters;
        for &(atom, value) in edge.guard.literals() {
            let literal = match as_past(atom) {
                Some(number) if (case.holds >> number & 1 == 1) == value => Bdd::TRUE,
                Some(_) => Bdd::FALSE,
                None => self.bdds.literal(atom, value),
            };
            letters = self.bdds.and(letters, literal);
        }

        // Letters of the edge are told apart by the marks that they carry in this case.
        let mut parts: Vec<(Bdd, Vec<MarkId>)> = vec![(letters, edge.marks.clone())];
        for mark in past {
            let when = self.diagram(&mark.when, case.holds);
            let mut split = Vec::new();
            for (letters, marks) in parts {
                let without = self.bdds.minus(letters, when);
                split.push((without, marks.clone()));
                let with = self.bdds.and(letters, when);
                split.push((with, [marks, vec![mark.mark]].concat()));
            }
            split.retain(|(letters, _)| *letters != Bdd::FALSE);
            parts = split;
        }

        for (letters, marks) in parts {
            let cubes = self.bdds.cubes(letters).into_iter();
            out.extend(cubes.map(|guard| Edge {
                guard,
                marks: marks.clone(),
                target,
            }));
        }
    }

    /// The letters that satisfy a proposition where these past operators hold.
    fn diagram(&mut self, prop: &Prop, holds: Bits) -> Bdd {
        match prop {
            Prop::Const(true) => Bdd::TRUE,
            Prop::Const(false) => Bdd::FALSE,
            Prop::Atom(atom) => match as_past(*atom) {
                Some(number) if holds >> number & 1 == 1 => Bdd::TRUE,
                Some(_) => Bdd::FALSE,
                None => self.bdds.literal(*atom, true),
            },
            Prop::Not(inner) => {
                let inner = self.diagram(inner, holds);
                self.bdds.not(inner)
            }
            Prop::And(parts) => parts.iter().fold(Bdd::TRUE, |all, part| {
                let part = self.diagram(part, holds);
                self.bdds.and(all, part)
            }),
            Prop::Or(parts) => parts.iter().fold(Bdd::FALSE, |any, part| {
                let part = self.diagram(part, holds);
                self.bdds.or(any, part)
            }),
        }
    }
}

/// The number of the past operator that an atom stands for.
fn as_past(atom: AtomId) -> Option<u32> {
    let number = atom.0.checked_sub(FIRST_PAST)?;
    (number < MAX_PAST as u32).then_some(number)
}

fn mentions_past(prop: &Prop) -> bool {
    let mut atoms = Vec::new();
    collect(prop, &mut atoms);
    atoms.iter().any(|atom| as_past(*atom).is_some())
}

fn collect(prop: &Prop, atoms: &mut Vec<AtomId>) {
    match prop {
        Prop::Const(_) => {}
        Prop::Atom(atom) => atoms.push(*atom),
        Prop::Not(inner) => collect(inner, atoms),
        Prop::And(parts) | Prop::Or(parts) => parts.iter().for_each(|part| collect(part, atoms)),
    }
}

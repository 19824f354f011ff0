//! Does a formula notice steps that it does not see?
//!
//! A position of a run is *silent* if it repeats the state propositions of the position before and
//! no step proposition of the formula holds at it: the step that led there is none of those that
//! the formula names. A reduction that leaves out steps adds and removes silent positions. A formula
//! without `X` and `previously` over state propositions cannot tell; one with step propositions may: `[](a -> <> b)`
//! cannot, `[]<> !a` can (a run that takes nothing but `a` has no such position until one is added).
//!
//! Whether a formula can tell is decided as in T. Michaud, A. Duret-Lutz, "Practical
//! stutter-invariance checks for ω-regular languages" (SPIN 2015, doi:10.1007/978-3-319-23404-5_7),
//! section 4, with silent positions in place of repeated letters: two words that differ in silent
//! positions have a common extension by silent positions. So a formula can tell iff a word that
//! satisfies it has an extension that does not, or the other way round; both are questions of
//! emptiness for the product of one automaton, which may stay where it is at silent positions, and
//! the other.

use std::collections::BTreeMap;

use base::AtomId;
use logic::{Ltl, Op};
use omega::{Acceptance, Automaton, Closure, ExplicitGraph, MarkId, NodeId};

/// Formulas over more atoms are not judged.
const MAX_ATOMS: usize = 8;
/// Larger products are not built.
const MAX_NODES: usize = 20_000;

/// Can the formula tell a run from one with more or fewer silent positions? Nothing if that is not
/// found out.
pub(crate) fn is_stutter_sensitive(
    formula: &Ltl,
    is_step: &dyn Fn(AtomId) -> bool,
) -> Option<bool> {
    let is_next = |part: &&Ltl| matches!(part.op(), Op::Next(_) | Op::Previously(_));
    let atoms = formula.atoms();
    if !atoms.iter().any(|atom| is_step(*atom)) && !formula.subformulas().iter().any(is_next) {
        return Some(false);
    }
    if atoms.len() > MAX_ATOMS {
        return None;
    }
    let positive = logic::translate(formula).ok()?;
    let negative = logic::translate(&Ltl::not(formula.clone())).ok()?;
    let alphabet = Alphabet::new(atoms, is_step);
    let forth = has_extension(&alphabet, &positive, &negative)?;
    Some(forth || has_extension(&alphabet, &negative, &positive)?)
}

/// The letters: sets of atoms as bit masks.
struct Alphabet {
    atoms: Vec<AtomId>,
    /// The bits of the step propositions.
    steps: u32,
}

impl Alphabet {
    fn new(atoms: Vec<AtomId>, is_step: &dyn Fn(AtomId) -> bool) -> Self {
        let bit = |(bit, atom): (usize, &AtomId)| u32::from(is_step(*atom)) << bit;
        let steps = atoms.iter().enumerate().map(bit).sum();
        Self { atoms, steps }
    }

    fn contains(&self, letter: u32, atom: AtomId) -> bool {
        let bit = self.atoms.iter().position(|a| *a == atom);
        letter >> bit.expect("the automata are over these atoms") & 1 == 1
    }

    /// Where an automaton may go from a state, with the marks on the way.
    fn steps_of(&self, automaton: &Automaton, state: u32, letter: u32) -> Vec<(u32, Vec<MarkId>)> {
        let holds = |atom: AtomId| self.contains(letter, atom);
        let own = automaton.letter_marks.iter();
        let own: Vec<MarkId> = own
            .filter(|m| m.when.holds(&holds))
            .map(|m| m.mark)
            .collect();
        let edges = automaton.edges[state as usize].iter();
        edges
            .filter(|edge| edge.guard.contains(&holds))
            .map(|edge| (edge.target.0, [edge.marks.as_slice(), &own].concat()))
            .collect()
    }
}

/// A state of each automaton and the state propositions of the last position, if there is one.
type Node = (u32, u32, Option<u32>);

/// Is there a word that `shorter` accepts with an extension by silent positions that `longer`
/// accepts? Nothing if the product is too large.
fn has_extension(alphabet: &Alphabet, shorter: &Automaton, longer: &Automaton) -> Option<bool> {
    let mut product = Product {
        alphabet,
        automata: [shorter, longer],
        nodes: Vec::new(),
        number_by_node: BTreeMap::new(),
        edges: Vec::new(),
    };

    for first in &shorter.initial {
        for second in &longer.initial {
            product.number((first.0, second.0, None));
        }
    }

    let n_initial = product.nodes.len();
    let mut next = 0;
    while next < product.nodes.len() {
        if product.nodes.len() > MAX_NODES {
            return None;
        }
        product.expand(next);
        next += 1;
    }

    Some(product.accepts_something(n_initial))
}

struct Product<'a> {
    alphabet: &'a Alphabet,
    automata: [&'a Automaton; 2],
    nodes: Vec<Node>,
    number_by_node: BTreeMap<Node, usize>,
    edges: Vec<(usize, usize, Vec<MarkId>)>,
}

impl Product<'_> {
    fn number(&mut self, node: Node) -> usize {
        let next = self.nodes.len();
        let number = *self.number_by_node.entry(node).or_insert(next);
        if number == next {
            self.nodes.push(node);
        }
        number
    }

    /// The mark of the positions that are in both words; there must be infinitely many.
    fn both(&self) -> usize {
        self.automata[0].n_marks + self.automata[1].n_marks
    }

    fn expand(&mut self, number: usize) {
        let (first, second, last) = self.nodes[number];
        let [shorter, longer] = self.automata;
        let shift = |mark: &MarkId| MarkId::new(mark.index() + shorter.n_marks);
        for letter in 0..1 << self.alphabet.atoms.len() {
            // No step has led to the first position.
            if last.is_none() && letter & self.alphabet.steps != 0 {
                continue;
            }
            let visible = Some(letter & !self.alphabet.steps);
            let seconds = self.alphabet.steps_of(longer, second, letter);
            for (to_first, marks) in self.alphabet.steps_of(shorter, first, letter) {
                for (to_second, more) in &seconds {
                    let target = self.number((to_first, *to_second, visible));
                    let mut marks = marks.clone();
                    marks.extend(more.iter().map(shift));
                    marks.push(MarkId::new(self.both()));
                    self.edges.push((number, target, marks));
                }
            }
            if last == Some(letter) {
                for (to_second, marks) in seconds {
                    let target = self.number((first, to_second, last));
                    let marks = marks.iter().map(shift).collect();
                    self.edges.push((number, target, marks));
                }
            }
        }
    }

    fn accepts_something(&self, n_initial: usize) -> bool {
        let [shorter, longer] = self.automata;
        let mut graph = ExplicitGraph::new(self.nodes.len(), self.both() + 1);
        (0..n_initial).for_each(|node| graph.add_initial(NodeId::new(node)));
        for (source, target, marks) in &self.edges {
            graph.add_edge(NodeId::new(*source), 0, NodeId::new(*target), marks);
        }
        let shifted = |mark: MarkId| MarkId::new(mark.index() + shorter.n_marks);
        let acceptance = Acceptance::all([
            shorter.acceptance.clone(),
            longer.acceptance.map_marks(&mut |mark| shifted(mark)),
            Acceptance::Inf(MarkId::new(self.both())),
        ]);
        let search =
            omega::find_fair_cycle(&mut graph, &acceptance, Closure::None, &mut |_| Ok(()));
        let Ok(found) = search.result;
        found.is_some()
    }
}

#[cfg(test)]
mod tests {
    use base::{Source, SourceId};

    use super::*;

    /// `a` and `b` are step propositions, `p` and `q` state propositions.
    fn notices(text: &str) -> bool {
        let source = Source {
            name: "<formula>".into(),
            text: text.into(),
        };
        let (formula, names, diagnostics) = logic::parse(&source, SourceId(0));
        assert!(diagnostics.is_empty(), "{text}");
        let is_step = |atom: AtomId| ["a", "b"].contains(&names[atom.index()].as_str());
        is_stutter_sensitive(&formula.expect("no diagnostics"), &is_step).expect("small formulas")
    }

    #[test]
    fn formulas_that_cannot_tell() {
        for text in [
            "[]<> a",
            "[](a -> <> b)",
            "[](a -> p)",
            "<> (a && p)",
            "!a U b",
            "p U q",
            "[](p -> <> q)",
            "<>[] !a",
            // Before the first step nothing has been taken.
            "<> !a",
        ] {
            assert!(!notices(text), "{text}");
        }
    }

    #[test]
    fn formulas_that_can() {
        for text in [
            "<>(p && !a)",
            "X p",
            "[](a -> X b)",
            "[](p -> a)",
            "[]<> !a",
            "[](p -> X q)",
        ] {
            assert!(notices(text), "{text}");
        }
    }
}

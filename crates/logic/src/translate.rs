//! From formulas to automata.
//!
//! The formula is simplified (`simplify.rs`), fairness is taken out of it (`fairness.rs`), the rest goes
//! through the tableau (`tableau.rs`), the automaton is reduced (`reduce.rs`) and, for obligations, made
//! deterministic if that does not make it larger (`obligation.rs`), and at last its guards are written
//! as cubes. A disjunction that mixes fairness with other formulas is translated in two ways,
//! disjunct by disjunct and as a whole, and the smaller automaton is taken.

use std::error::Error;
use std::fmt;

use base::AtomId;
use omega::{Acceptance, Automaton, Edge, MarkId, StateId};

use crate::arena::{Arena, FormId};
use crate::bdd::Bdds;
use crate::fairness::{self, FairConjunction, LetterMarks};
use crate::ltl::{Ltl, Op};
use crate::obligation::minimal_deterministic;
use crate::past;
use crate::reduce::{reduce, simplify_marks};
use crate::tableau::{Effort, Style, TooLarge, tableau};
use crate::tgba::Tgba;

/// Why there is no automaton for a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TranslateError {
    /// Operators are nested deeper than [`crate::MAX_DEPTH`].
    TooDeep {
        /// How deep they are nested.
        depth: usize,
    },
    /// More atoms than [`TranslateError::MAX_ATOMS`].
    TooManyAtoms {
        /// How many atoms occur.
        n_atoms: usize,
    },
    /// The automaton, or something on the way to it, exceeds what is sensible.
    TooLarge,
    /// A past operator has an operand that looks into the future.
    FutureInPast,
}

impl TranslateError {
    /// How many atoms a formula may have.
    pub const MAX_ATOMS: usize = 1000;
}

impl fmt::Display for TranslateError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooDeep { depth } => write!(
                f,
                "operators are nested {depth} deep, at most {} are allowed",
                crate::MAX_DEPTH
            ),
            Self::TooManyAtoms { n_atoms } => write!(
                f,
                "the formula has {n_atoms} atoms, at most {} are allowed",
                Self::MAX_ATOMS
            ),
            Self::TooLarge => f.write_str("the automaton of the formula is too large"),
            Self::FutureInPast => f.write_str(
                "the operands of past operators must not contain operators about the future",
            ),
        }
    }
}

impl Error for TranslateError {}

impl From<TooLarge> for TranslateError {
    fn from(_: TooLarge) -> Self {
        Self::TooLarge
    }
}

/// Larger formulas (as trees, after simplification) are refused. Nested equivalences can get there.
const MAX_SIZE: u64 = 100_000;

/// Automata with more edges are refused.
const MAX_EDGES: usize = 1_000_000;

/// An automaton that accepts exactly the words that satisfy the formula.
///
/// To search for a violation of a property, translate its negation. If no word satisfies the
/// formula, the automaton has no state (some unsatisfiable formulas still get states that accept
/// nothing).
///
/// # Errors
/// If the formula or its automaton is too large.
pub fn translate(formula: &Ltl) -> Result<Automaton, TranslateError> {
    let depth = formula.depth();
    if depth > crate::MAX_DEPTH {
        return Err(TranslateError::TooDeep { depth });
    }
    if let Some(separated) = past::separate(formula)? {
        return separated.monitored(&translate(&separated.formula)?);
    }
    let atoms = atoms_in_order(formula);
    if atoms.len() > TranslateError::MAX_ATOMS {
        return Err(TranslateError::TooManyAtoms {
            n_atoms: atoms.len(),
        });
    }

    let mut arena = Arena::new();
    let mut bdds = Bdds::new(atoms);
    let id = arena.import(formula);
    if arena.size(id) > MAX_SIZE {
        return Err(TranslateError::TooLarge);
    }
    let whole = [fairness::whole(&mut arena, id)];
    let parts = fairness::parts(&mut arena, id);
    if parts == whole {
        return Ok(assemble(&mut arena, &mut bdds, &whole)?);
    }

    // Each way has its own diagrams, so that one that overflows does not spoil the other.
    let mut more_bdds = Bdds::new(atoms_in_order(formula));
    let separate = assemble(&mut arena, &mut bdds, &parts);
    let joint = assemble(&mut arena, &mut more_bdds, &whole);
    Ok(match (separate, joint) {
        (Ok(separate), Ok(joint)) if cost(&separate) <= cost(&joint) => separate,
        (_, Ok(joint)) => joint,
        (separate, Err(_)) => separate?,
    })
}

/// The atoms in the order in which they occur: what occurs together is tested together.
fn atoms_in_order(formula: &Ltl) -> Vec<AtomId> {
    let mut seen = rustc_hash::FxHashSet::default();
    let occurrences = formula.subformulas().into_iter();
    occurrences
        .filter_map(|part| match part.op() {
            Op::Atom(atom) if seen.insert(*atom) => Some(*atom),
            _ => None,
        })
        .collect()
}

/// What a search pays for an automaton, roughly.
fn cost(automaton: &Automaton) -> (usize, usize, usize) {
    let n_edges = automaton.edges.iter().map(Vec::len).sum();
    (automaton.n_states(), n_edges, automaton.n_marks)
}

/// The union of the automata of the parts.
fn assemble(
    arena: &mut Arena,
    bdds: &mut Bdds,
    parts: &[FairConjunction],
) -> Result<Automaton, TooLarge> {
    let mut tgbas = Vec::new();
    for part in parts {
        let tgba = smallest(arena, bdds, part.rest)?;
        if !tgba.arrows.is_empty() {
            tgbas.push((tgba, part.fairness));
        }
    }

    if tgbas.len() > 1 {
        // Edges of the union must tell which automaton they are from.
        tgbas.iter_mut().for_each(|(tgba, _)| ensure_mark(tgba));
    }

    let n_edge_marks = tgbas.iter().map(|(tgba, _)| tgba.n_marks as usize).sum();
    let mut letter_marks = LetterMarks::new(n_edge_marks);
    let mut automaton = Automaton {
        initial: Vec::new(),
        edges: Vec::new(),
        letter_marks: Vec::new(),
        n_marks: n_edge_marks,
        acceptance: Acceptance::False,
    };

    let mut alternatives = Vec::new();
    let mut first_mark = 0;
    for (tgba, fairness) in tgbas {
        let fair = letter_marks.acceptance(arena, bdds, fairness);
        if fair == Acceptance::False {
            continue;
        }
        let own = (first_mark..first_mark + tgba.n_marks as usize).map(MarkId::new);
        let edges = Acceptance::generalized_buchi(own);
        alternatives.push(Acceptance::all([edges, fair]));
        append(&mut automaton, &tgba, first_mark, bdds);
        first_mark += tgba.n_marks as usize;
    }

    automaton.acceptance = Acceptance::any(alternatives);
    automaton.letter_marks = letter_marks.finish();
    automaton.n_marks += automaton.letter_marks.len();

    // Whatever was computed from a diagram that overflowed is void.
    let n_edges: usize = automaton.edges.iter().map(Vec::len).sum();
    if bdds.overflowed() || n_edges > MAX_EDGES {
        return Err(TooLarge);
    }
    Ok(automaton)
}

/// The smallest automaton of the formula that is found.
fn smallest(arena: &mut Arena, bdds: &mut Bdds, formula: FormId) -> Result<Tgba, TooLarge> {
    let plain = Style {
        postpones: false,
        attempts: true,
    };
    let mut best = tableau(arena, bdds, formula, plain, Effort::Necessary)?;
    reduce(&mut best, bdds);
    prefer_deterministic(arena, bdds, formula, &mut best);

    for (postpones, attempts) in [(true, true), (true, false), (false, false)] {
        if best.is_deterministic(bdds) || bdds.is_busy() {
            break;
        }
        let before = bdds.clone();
        let style = Style {
            postpones,
            attempts,
        };
        if let Ok(mut other) = tableau(arena, bdds, formula, style, Effort::Optional) {
            reduce(&mut other, bdds);
            if !bdds.overflowed() && other.cost() < best.cost() {
                best = other;
            }
        }
        if bdds.overflowed() {
            *bdds = before;
        }
    }

    Ok(best)
}

/// Takes the minimal weak deterministic automaton instead, if the formula has one and it has not more
/// states: a search then has one product state for each state of the system and of the automaton's
/// past.
fn prefer_deterministic(arena: &mut Arena, bdds: &mut Bdds, formula: FormId, tgba: &mut Tgba) {
    let Some(complete) = minimal_deterministic(tgba, bdds) else {
        return;
    };
    let mut deterministic = complete.clone();
    deterministic.prune();
    if deterministic.arrows.len() > tgba.arrows.len() {
        return;
    }

    let is_obligation = arena.shape(formula).class.obligation;
    if is_obligation || is_equivalent(arena, bdds, formula, tgba, complete) {
        simplify_marks(&mut deterministic);
        deterministic.merge_guards(bdds);
        *tgba = deterministic;
    }
}

/// Does the weak deterministic automaton accept the same words as `tgba`, the automaton of the formula?
///
/// Many formulas are obligations though their shape does not say so: `[](q && <>r -> !p U r)` is even
/// a safety property, and `[]<>(a -> X a)` is always true. As in Dax, Eisinger, Klaedtke, ATVA 2007, section 4,
/// the automaton is built as if the formula were an obligation, and then compared: no word of it
/// satisfies the negation, and no word of its complement satisfies the formula.
fn is_equivalent(
    arena: &mut Arena,
    bdds: &mut Bdds,
    formula: FormId,
    tgba: &Tgba,
    mut weak: Tgba,
) -> bool {
    if bdds.is_busy() {
        return false;
    }
    let before = bdds.clone();
    let negation = arena.negate(formula);
    let style = Style {
        postpones: false,
        attempts: true,
    };
    let excludes_negation = tableau(arena, bdds, negation, style, Effort::Optional)
        .is_ok_and(|negation| weak.is_disjoint(&negation, bdds) == Some(true));

    // A path of a weak automaton keeps its mark or keeps lacking it from some point on.
    weak.arrows
        .iter_mut()
        .flatten()
        .for_each(|arrow| arrow.marks ^= 1);
    let is_equivalent = excludes_negation && weak.is_disjoint(tgba, bdds) == Some(true);
    if bdds.overflowed() {
        *bdds = before;
        return false;
    }
    is_equivalent
}

/// Gives an automaton without marks one mark, on every edge.
fn ensure_mark(tgba: &mut Tgba) {
    if tgba.n_marks == 0 {
        tgba.n_marks = 1;
        for arrow in tgba.arrows.iter_mut().flatten() {
            arrow.marks = 1;
        }
    }
}

/// Adds the states of one automaton to the union, with its marks starting at `first_mark`.
fn append(automaton: &mut Automaton, tgba: &Tgba, first_mark: usize, bdds: &mut Bdds) {
    let first_state = automaton.edges.len();
    let state = |index: usize| StateId::new(first_state + index);
    automaton
        .initial
        .extend(tgba.initial.iter().map(|&s| state(s)));

    for arrows in &tgba.arrows {
        if bdds.overflowed() {
            return; // The caller notices.
        }
        let mut edges = Vec::new();
        for arrow in arrows {
            let marks: Vec<MarkId> = (0..tgba.n_marks)
                .filter(|mark| arrow.marks >> mark & 1 == 1)
                .map(|mark| MarkId::new(first_mark + mark as usize))
                .collect();
            edges.extend(bdds.cubes(arrow.guard).into_iter().map(|guard| Edge {
                guard,
                marks: marks.clone(),
                target: state(arrow.target),
            }));
        }
        automaton.edges.push(edges);
    }
}

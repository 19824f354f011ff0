//! From automaton to text.

use std::fmt::{self, Write};

use base::AtomId;

use super::split::{CubePart, split};
use crate::{Acceptance, Automaton, Cube, LetterMark, MarkId, Prop, StateId};

/// Letter marks over more atoms are not spread over the edges.
const MAX_LETTER_ATOMS: usize = 10;

/// The format has no marks that depend on the letter alone, and spreading those over the edges that
/// the acceptance mentions under `Fin` would need too many edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooManyLetterAtoms {
    /// How many atoms these marks depend on.
    pub n_atoms: usize,
    /// How many they may depend on.
    pub limit: usize,
}

impl fmt::Display for TooManyLetterAtoms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_atoms, limit } = self;
        write!(
            f,
            "the marks that must come finitely often depend on {n_atoms} atoms, and HOA can only write them as edges, at most for {limit}"
        )
    }
}

impl std::error::Error for TooManyLetterAtoms {}

/// Writes the automaton in the HOA format. Atom `i` is called `atom_names[i]`.
///
/// Reading the result gives the same automaton, except that letter marks have become marks on
/// edges. If they depend on many atoms, it accepts the same words, but of the marks that need only
/// come infinitely often each edge carries at most one.
///
/// # Errors
/// The letter marks that must come finitely often depend on too many atoms.
pub fn to_hoa(
    automaton: &Automaton,
    atom_names: &[impl AsRef<str>],
) -> Result<String, TooManyLetterAtoms> {
    let mut text = format!("HOA: v1\nStates: {}\n", automaton.n_states());
    for state in &automaton.initial {
        line(&mut text, format_args!("Start: {}", state.0));
    }
    let quoted = |name: &str| format!(" \"{}\"", escape(name));
    let names: String = atom_names
        .iter()
        .map(|name| quoted(name.as_ref()))
        .collect();
    line(&mut text, format_args!("AP: {}{names}", atom_names.len()));
    if let Some(name) = acceptance_name(automaton) {
        line(&mut text, format_args!("acc-name: {name}"));
    }
    let formula = acceptance_text(&automaton.acceptance);
    line(
        &mut text,
        format_args!("Acceptance: {} {formula}", automaton.n_marks),
    );
    line(
        &mut text,
        format_args!("properties: trans-labels explicit-labels trans-acc"),
    );
    line(&mut text, format_args!("--BODY--"));

    let mut previous = None;
    let mut state_lines = |text: &mut String, upto: usize| {
        let first = previous.map_or(0, |state: usize| state + 1);
        for state in first..=upto {
            line(text, format_args!("State: {state}"));
        }
        previous = Some(upto.max(previous.unwrap_or(0)));
    };

    for_each_plain_edge(automaton, |source, guard, marks, target| {
        state_lines(&mut text, source.index());
        let marks = marks_text(marks);
        line(
            &mut text,
            format_args!("[{}] {}{marks}", label_text(guard), target.0),
        );
    })?;
    if automaton.n_states() > 0 {
        state_lines(&mut text, automaton.n_states() - 1);
    }
    line(&mut text, format_args!("--END--"));
    Ok(text)
}

fn line(text: &mut String, content: fmt::Arguments<'_>) {
    writeln!(text, "{content}").expect("strings can be written to");
}

/// Calls `visit` with source, guard, marks and target of every edge, in order; edges are split so
/// that letter marks become marks of edges.
///
/// A mark that the acceptance mentions only as `Inf` never does harm, so an edge need not carry it.
/// Where all together would need too many edges, each edge is written without these marks and once
/// more with each of them. A path can then take them in turn, so it sees infinitely often all those
/// that the letters offer infinitely often: the same words are accepted.
fn for_each_plain_edge(
    automaton: &Automaton,
    mut visit: impl FnMut(StateId, &Cube, &[MarkId], StateId),
) -> Result<(), TooManyLetterAtoms> {
    let all: Vec<&LetterMark> = automaton.letter_marks.iter().collect();
    let (together, in_turn): (Vec<_>, Vec<_>) = if n_atoms(&all) <= MAX_LETTER_ATOMS {
        (all, Vec::new())
    } else {
        let may_harm = |mark: &&LetterMark| mentions_fin(&automaton.acceptance, mark.mark);
        all.into_iter().partition(may_harm)
    };
    let (n_atoms, limit) = (n_atoms(&together), MAX_LETTER_ATOMS);
    if n_atoms > limit {
        return Err(TooManyLetterAtoms { n_atoms, limit });
    }

    for (source, edges) in automaton.edges.iter().enumerate() {
        let source = StateId::new(source);
        for edge in edges {
            for (guard, marks) in spread(&edge.guard, &edge.marks, &together) {
                visit(source, &guard, &marks, edge.target);
                for mark in &in_turn {
                    let parts = spread(&guard, &marks, &[mark]).into_iter();
                    for (guard, marks) in parts.filter(|part| part.1.contains(&mark.mark)) {
                        visit(source, &guard, &marks, edge.target);
                    }
                }
            }
        }
    }

    Ok(())
}

/// How many atoms the marks depend on.
fn n_atoms(marks: &[&LetterMark]) -> usize {
    let mut atoms = Vec::new();
    marks
        .iter()
        .for_each(|mark| mark.when.collect_atoms(&mut atoms));
    atoms.sort_unstable();
    atoms.dedup();
    atoms.len()
}

/// Does the acceptance ask that the mark comes finitely often?
fn mentions_fin(acceptance: &Acceptance, mark: MarkId) -> bool {
    match acceptance {
        Acceptance::True | Acceptance::False | Acceptance::Inf(_) => false,
        Acceptance::Fin(other) => *other == mark,
        Acceptance::And(parts) | Acceptance::Or(parts) => {
            parts.iter().any(|part| mentions_fin(part, mark))
        }
    }
}

/// The parts of a guard, each with the marks that its letters carry beside those of the edge.
fn spread(
    guard: &Cube,
    marks: &[MarkId],
    letter_marks: &[&LetterMark],
) -> Vec<(Cube, Vec<MarkId>)> {
    let whens: Vec<&Prop> = letter_marks.iter().map(|mark| &mark.when).collect();
    let parts = split(guard, &whens, usize::MAX).expect("there is no limit");
    let marked = |part: CubePart| {
        let carried = letter_marks.iter().zip(&part.values);
        let carried = carried.filter(|(_, value)| **value);
        let carried = carried.map(|(mark, _)| mark.mark);
        let mut marks: Vec<_> = marks.iter().copied().chain(carried).collect();
        marks.sort_unstable();
        marks.dedup();
        (part.cube, marks)
    };
    parts.into_iter().map(marked).collect()
}

/// ` {0 3}`, or nothing if there are no marks.
pub(crate) fn marks_text(marks: &[MarkId]) -> String {
    let numbers: Vec<_> = marks.iter().map(|mark| mark.0.to_string()).collect();
    if numbers.is_empty() {
        String::new()
    } else {
        format!(" {{{}}}", numbers.join(" "))
    }
}

/// The text as it stands between quotes.
pub(crate) fn escape(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}

fn label_text(guard: &Cube) -> String {
    let literal =
        |&(atom, value): &(AtomId, bool)| format!("{}{}", ["!", ""][usize::from(value)], atom.0);
    let literals: Vec<_> = guard.literals().iter().map(literal).collect();
    if literals.is_empty() {
        "t".into()
    } else {
        literals.join("&")
    }
}

pub(crate) fn acceptance_text(acceptance: &Acceptance) -> String {
    let join = |parts: &[Acceptance], sign: &str, empty: &str| {
        let parts: Vec<_> = parts.iter().map(operand_text).collect();
        if parts.is_empty() {
            empty.into()
        } else {
            parts.join(sign)
        }
    };
    match acceptance {
        Acceptance::True => "t".into(),
        Acceptance::False => "f".into(),
        Acceptance::Inf(mark) => format!("Inf({})", mark.0),
        Acceptance::Fin(mark) => format!("Fin({})", mark.0),
        Acceptance::And(parts) => join(parts, " & ", "t"),
        Acceptance::Or(parts) => join(parts, " | ", "f"),
    }
}

fn operand_text(acceptance: &Acceptance) -> String {
    match acceptance {
        Acceptance::And(_) | Acceptance::Or(_) => format!("({})", acceptance_text(acceptance)),
        _ => acceptance_text(acceptance),
    }
}

/// The name that the format has for the acceptance, if it is exactly of that form.
fn acceptance_name(automaton: &Automaton) -> Option<String> {
    let n_marks = automaton.n_marks;
    let marks = || (0..n_marks).map(MarkId::new);
    let pairs = |pair: fn(MarkId, MarkId) -> Acceptance| {
        (0..n_marks / 2).map(move |i| pair(MarkId::new(2 * i), MarkId::new(2 * i + 1)))
    };
    let even = n_marks > 0 && n_marks.is_multiple_of(2);
    let acceptance = &automaton.acceptance;

    match acceptance {
        Acceptance::True if n_marks == 0 => Some("all".into()),
        Acceptance::False if n_marks == 0 => Some("none".into()),
        Acceptance::Inf(MarkId(0)) if n_marks == 1 => Some("Buchi".into()),
        Acceptance::Fin(MarkId(0)) if n_marks == 1 => Some("co-Buchi".into()),
        _ if n_marks > 1 && *acceptance == Acceptance::generalized_buchi(marks()) => {
            Some(format!("generalized-Buchi {n_marks}"))
        }
        _ if even && *acceptance == Acceptance::all(pairs(Acceptance::streett_pair)) => {
            Some(format!("Streett {}", n_marks / 2))
        }
        _ if even && *acceptance == Acceptance::any(pairs(Acceptance::rabin_pair)) => {
            Some(format!("Rabin {}", n_marks / 2))
        }
        _ => None,
    }
}

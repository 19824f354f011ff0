//! From automaton to text.

use std::fmt::{self, Write};

use base::AtomId;

use super::split::split;
use crate::{Acceptance, Automaton, Cube, MarkId, Prop, StateId};

/// Letter marks over more atoms are not spread over the edges.
const MAX_LETTER_ATOMS: usize = 10;

/// The format has no marks that depend on the letter alone, and spreading these over the edges
/// would need too many edges.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TooManyLetterAtoms {
    /// How many atoms the letter marks depend on.
    pub n_atoms: usize,
    /// How many they may depend on.
    pub limit: usize,
}

impl fmt::Display for TooManyLetterAtoms {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { n_atoms, limit } = self;
        write!(
            f,
            "the fairness marks depend on {n_atoms} atoms, and HOA can only write them as edges, at most for {limit}"
        )
    }
}

impl std::error::Error for TooManyLetterAtoms {}

/// Writes the automaton in the HOA format. Atom `i` is called `atom_names[i]`.
///
/// Reading the result gives the same automaton, except that letter marks have become marks on
/// edges.
///
/// # Errors
/// The letter marks depend on too many atoms.
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
fn for_each_plain_edge(
    automaton: &Automaton,
    mut visit: impl FnMut(StateId, &Cube, &[MarkId], StateId),
) -> Result<(), TooManyLetterAtoms> {
    let mut atoms = Vec::new();
    for letter_mark in &automaton.letter_marks {
        letter_mark.when.collect_atoms(&mut atoms);
    }
    atoms.sort_unstable();
    atoms.dedup();

    let too_many = TooManyLetterAtoms {
        n_atoms: atoms.len(),
        limit: MAX_LETTER_ATOMS,
    };
    if atoms.len() > MAX_LETTER_ATOMS {
        return Err(too_many);
    }
    let whens: Vec<&Prop> = automaton
        .letter_marks
        .iter()
        .map(|mark| &mark.when)
        .collect();

    for (source, edges) in automaton.edges.iter().enumerate() {
        for edge in edges {
            let parts = split(&edge.guard, &whens, 1 << MAX_LETTER_ATOMS);
            for part in parts.expect("there are at most 2^atoms parts") {
                let carried = automaton.letter_marks.iter().zip(&part.values);
                let carried = carried
                    .filter(|(_, value)| **value)
                    .map(|(mark, _)| mark.mark);
                let mut marks: Vec<_> = edge.marks.iter().copied().chain(carried).collect();
                marks.sort_unstable();
                marks.dedup();
                visit(StateId::new(source), &part.cube, &marks, edge.target);
            }
        }
    }

    Ok(())
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

//! States as text: long ones are folded and broken into lines.

use unicode_width::UnicodeWidthStr as _;

/// States with more components than this are folded.
const MAX_UNFOLDED: usize = 8;

/// Where lines of assignments are broken.
const MAX_WIDTH: usize = 100;

/// A state as assignments, one for each component. In a long state, neighbours that differ in one
/// index only and have the same value are folded: `taken[0..4] = false`.
#[must_use]
pub fn state_assignments<'a>(
    components: impl IntoIterator<Item = (&'a str, String)>,
) -> Vec<String> {
    let components = components.into_iter();
    let mut folded: Vec<Folded> = components
        .map(|(name, value)| Folded {
            pieces: pieces(name),
            value,
        })
        .collect();
    if folded.len() > MAX_UNFOLDED {
        // Rows of a matrix are folded first, then what became of the rows.
        loop {
            let n_before = folded.len();
            folded = fold(folded);
            if folded.len() == n_before {
                break;
            }
        }
    }
    folded.iter().map(Folded::text).collect()
}

/// Components with the same value.
struct Folded {
    pieces: Vec<Piece>,
    value: String,
}

/// A part of the name of components.
#[derive(Clone, PartialEq, Eq)]
enum Piece {
    Text(String),
    /// All indices from the first to the second.
    Indices(u64, u64),
}

impl Folded {
    fn text(&self) -> String {
        let piece = |piece: &Piece| match piece {
            Piece::Text(text) => text.clone(),
            Piece::Indices(first, last) if first == last => first.to_string(),
            Piece::Indices(first, last) => format!("{first}..{last}"),
        };
        let name: String = self.pieces.iter().map(piece).collect();
        format!("{name} = {}", self.value)
    }

    /// Takes the next one in, if the two differ in one index only and follow each other.
    fn take_in(&mut self, next: &Self) -> bool {
        if self.value != next.value || self.pieces.len() != next.pieces.len() {
            return false;
        }
        let pairs = self.pieces.iter_mut().zip(&next.pieces);
        let mut differing = pairs.filter(|(own, other)| **own != **other);
        match (differing.next(), differing.next()) {
            (Some((Piece::Indices(_, last), Piece::Indices(first, new_last))), None)
                if last.checked_add(1) == Some(*first) =>
            {
                *last = *new_last;
                true
            }
            _ => false,
        }
    }
}

/// The name with its indices told apart from the rest.
fn pieces(name: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut text = String::new();
    for part in name.split_inclusive(['[', ']']) {
        let inner = part.strip_suffix(']').unwrap_or_default();
        match inner.parse() {
            // A number with leading zeros or a sign is a name, not an index.
            Ok(index) if text.ends_with('[') && format!("{index}") == inner => {
                pieces.push(Piece::Text(std::mem::take(&mut text)));
                pieces.push(Piece::Indices(index, index));
                text.push(']');
            }
            _ => text.push_str(part),
        }
    }
    pieces.push(Piece::Text(text));
    pieces
}

fn fold(components: Vec<Folded>) -> Vec<Folded> {
    let mut folded: Vec<Folded> = Vec::new();
    for component in components {
        let is_inside = folded
            .last_mut()
            .is_some_and(|last| last.take_in(&component));
        if !is_inside {
            folded.push(component);
        }
    }
    folded
}

/// Assignments in lines that are not too long, if that is possible; the first starts at a column, and
/// the others are indented as far.
pub(crate) fn broken_into_lines(assignments: &[String], column: usize) -> String {
    let mut text = String::new();
    let mut at = column;

    for (position, assignment) in assignments.iter().enumerate() {
        let width = assignment.width();
        if position > 0 {
            text.push(',');
            if at + width + 2 > MAX_WIDTH {
                text.push('\n');
                text.push_str(&" ".repeat(column));
                at = column;
            } else {
                text.push(' ');
                at += 2;
            }
        }

        text.push_str(assignment);
        at += width;
    }

    text
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded(components: &[(&str, &str)]) -> String {
        let components = components.iter();
        state_assignments(components.map(|(name, value)| (*name, (*value).to_owned()))).join(", ")
    }

    #[test]
    fn short_states_stay_as_they_are() {
        let state = [("a[0]", "1"), ("a[1]", "1"), ("b", "1")];
        assert_eq!(folded(&state), "a[0] = 1, a[1] = 1, b = 1");
    }

    #[test]
    fn neighbours_with_the_same_value_are_folded() {
        let state = [
            ("P[0]", "idle"),
            ("P[1]", "idle"),
            ("P[2]", "busy"),
            ("P[0].x", "0"),
            ("P[1].x", "0"),
            ("m[0][0]", "7"),
            ("m[0][1]", "7"),
            ("m[1][0]", "7"),
            ("m[1][1]", "7"),
            ("z[3]", "7"),
            ("z[5]", "7"),
            ("z[06]", "7"),
        ];
        let expected = "P[0..1] = idle, P[2] = busy, P[0..1].x = 0, m[0..1][0..1] = 7, \
                        z[3] = 7, z[5] = 7, z[06] = 7";
        assert_eq!(folded(&state), expected);
    }

    #[test]
    fn lines_hang() {
        let assignments: Vec<String> = (0..30).map(|n| format!("variable{n} = {n}")).collect();
        let text = broken_into_lines(&assignments, 7);
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines.len() > 1);
        assert!(lines[1..].iter().all(|line| line.starts_with("       v")));
        assert!(lines.iter().all(|line| line.len() <= MAX_WIDTH + 1));
        let whole: Vec<&str> = lines.iter().map(|line| line.trim()).collect();
        assert_eq!(whole.join(" "), assignments.join(", "));
    }
}

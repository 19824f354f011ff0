//! Text from others, made harmless for terminals.
//!
//! Names, comments, arguments and traces may contain control characters that move the cursor, change
//! the title or hide what follows, and characters that change the direction of writing. None of
//! them leaves the program as it is: a report shows them as what they are. What the program itself
//! prints to decorate its text ([`Style::Ansi`]) is added afterwards.

use std::borrow::Cow;
use std::fmt::Write as _;

use crate::Style;

/// How a character that is not printed as it is appears.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Escape {
    /// `\u{1b}`, in text for people.
    Text,
    /// `\u001b`, in JSON, where such characters occur in strings only.
    Json,
    /// `&#x9b;`, in XML.
    Xml,
    /// `\uFFFD`, the replacement character, in languages without a notation of their own.
    Replacement,
}

/// The text without characters that terminals do not show but obey.
#[must_use]
pub fn printable(text: &str, escape: Escape) -> Cow<'_, str> {
    if !text.contains(is_obeyed) {
        return Cow::Borrowed(text);
    }
    let mut shown = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if is_obeyed(c) {
            push_escaped(&mut shown, c, escape);
        } else {
            shown.push(c);
        }
    }
    Cow::Owned(shown)
}

/// The same for text that this program has decorated: the sequences that it uses itself stay.
#[must_use]
pub fn printable_styled(text: &str, style: Style) -> Cow<'_, str> {
    if style == Style::Plain || !text.contains(is_obeyed) {
        return printable(text, Escape::Text);
    }

    let mut shown = String::with_capacity(text.len());
    let mut rest = text;

    while let Some(start) = rest.find(is_obeyed) {
        shown.push_str(&rest[..start]);
        rest = &rest[start..];

        let length = decoration(rest).unwrap_or_else(|| {
            let first = rest.chars().next().unwrap_or_default();
            push_escaped(&mut shown, first, Escape::Text);
            rest = &rest[first.len_utf8()..];
            0
        });
        shown.push_str(&rest[..length]);
        rest = &rest[length..];
    }

    shown.push_str(rest);
    Cow::Owned(shown)
}

/// How long a sequence is that sets colours and weights, if the text starts with one.
fn decoration(text: &str) -> Option<usize> {
    let codes = text.strip_prefix("\u{1b}[")?;
    let end = codes.find(|c: char| !c.is_ascii_digit() && c != ';')?;
    // 8 hides what follows.
    let hides = codes[..end].split(';').any(|code| code == "8");
    (codes[end..].starts_with('m') && !hides).then_some("\u{1b}[".len() + end + 1)
}

/// Does a terminal, or what lays out text, obey this character instead of showing it?
#[must_use]
pub fn is_obeyed(c: char) -> bool {
    let is_layout = matches!(c, '\n' | '\t');
    let is_direction = matches!(c, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}'
        | '\u{2066}'..='\u{2069}' | '\u{061c}');
    let is_separator = matches!(c, '\u{2028}' | '\u{2029}' | '\u{feff}');
    (c.is_control() && !is_layout) || is_direction || is_separator
}

fn push_escaped(shown: &mut String, c: char, escape: Escape) {
    let code = u32::from(c);
    let written = match escape {
        Escape::Text => write!(shown, "\\u{{{code:x}}}"),
        // All of them have codes below 0x10000.
        Escape::Json => write!(shown, "\\u{code:04x}"),
        Escape::Xml if code >= 0x20 => write!(shown, "&#x{code:x};"),
        Escape::Xml | Escape::Replacement => write!(shown, "\u{fffd}"),
    };
    written.expect("writing to memory succeeds");
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOSTILE: &str = "a\u{1b}[2Jb\u{7}c\rd\u{9b}e\u{202e}f\n\tg";

    #[test]
    fn nothing_is_obeyed_in_any_form() {
        let text = printable(HOSTILE, Escape::Text);
        let expected = "a\\u{1b}[2Jb\\u{7}c\\u{d}d\\u{9b}e\\u{202e}f\n\tg";
        assert_eq!(text, expected);
        for escape in [Escape::Json, Escape::Xml, Escape::Replacement] {
            assert!(!printable(HOSTILE, escape).contains(is_obeyed));
        }
        let json = printable("\"\u{9b}\u{202e}\"", Escape::Json).into_owned();
        let back: String = serde_json::from_str(&json).expect("it is JSON");
        assert_eq!(back, "\u{9b}\u{202e}");
    }

    #[test]
    fn decorations_of_the_program_stay() {
        let painted = "\u{1b}[1;31merror\u{1b}[0m: ä";
        assert_eq!(printable_styled(painted, Style::Ansi), painted);
        assert!(!printable_styled(painted, Style::Plain).contains('\u{1b}'));
        for hostile in [
            "\u{1b}[8mhidden",
            "\u{1b}[2J",
            "\u{1b}]0;t\u{7}",
            "\u{1b}[1;8m",
            "\u{1b}",
        ] {
            let shown = printable_styled(hostile, Style::Ansi);
            assert!(!shown.contains(is_obeyed), "{shown:?}");
        }
    }
}

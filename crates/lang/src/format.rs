//! The canonical layout of texts.
//!
//! Tokens, comments and line breaks stay as they are, so that the text means the same: the parser
//! looks at nothing else. What changes is the white space: lines are indented by brackets and
//! continued lines, tokens are separated as the table in [`Layout::gap`] says, blank lines come one
//! at a time. Two or more spaces between tokens are an alignment that the author made, and are
//! kept.

use base::{Severity, SourceId};

use crate::lexer::{Token, TokenKind, lex};
use crate::parser;

/// How far one level is indented.
const INDENT: usize = 4;

/// Operators that stand between operands with one space on both sides.
const SPACED: [&str; 20] = [
    "<->", "->", "-->", "=>", ":=", "==", "!=", "<=", ">=", "=<", "+=", "-=", "*=", "/=", "&&",
    "||", "/\\", "\\/", "~>", "=",
];

/// Operators that stand between operands with one space or none on both sides, as the author
/// likes: `N-1` and `level + 1`.
const FREE: [&str; 7] = ["+", "-", "*", "/", "%", "<", ">"];

/// Words after which a line goes on.
const OPEN_WORDS: [&str; 21] = [
    "and",
    "or",
    "implies",
    "iff",
    "until",
    "release",
    "unless",
    "weakuntil",
    "since",
    "when",
    "where",
    "in",
    "of",
    "then",
    "else",
    "union",
    "inter",
    "minus",
    "mod",
    "not",
    "subset",
];

/// Words that go on with the line above.
const CONTINUING_WORDS: [&str; 19] = [
    "and",
    "or",
    "implies",
    "iff",
    "until",
    "release",
    "unless",
    "weakuntil",
    "since",
    "when",
    "where",
    "then",
    "else",
    "union",
    "inter",
    "minus",
    "mod",
    "expect",
    "leads",
];

/// The text in canonical layout; nothing if something is wrong with its syntax.
///
/// ```
/// let text = "process   P{\nstep when x<3 {x:=x+1}  // up\n}";
/// let canonical = "process   P {\n    step when x<3 {x := x+1}  // up\n}\n";
/// assert_eq!(lang::format(text).as_deref(), Some(canonical));
/// assert_eq!(lang::format(canonical).as_deref(), Some(canonical));
/// assert_eq!(lang::format("process {"), None);
/// ```
#[must_use]
pub fn format(text: &str) -> Option<String> {
    let mut said = Vec::new();
    parser::parse_file(text, SourceId(0), "", &mut said);
    if said.iter().any(|d| d.severity == Severity::Error) {
        return None;
    }

    let tokens = lex(text, SourceId(0), &mut said);
    let mut layout = Layout {
        text,
        out: String::with_capacity(text.len()),
        brackets: Vec::new(),
        indent: 0,
        declares_variables: false,
        is_continued: false,
        before: None,
        is_delimiter: false,
        peeks: false,
        prefix: false,
    };

    // White space is decided between tokens, where the comments are too.
    let mut end = 0;
    for token in &tokens {
        let start = token.span.start as usize;
        layout.between(end, start, token);
        end = token.span.end as usize;
    }
    Some(layout.out)
}

/// A bracket that is open.
struct Bracket {
    /// How far the line that it stands in is indented, not counting that it goes on with another.
    indent: usize,
    /// The column of what follows it in its line: of what is aligned with that.
    column: Option<usize>,
    /// Is there a space inside?
    is_wide: bool,
}

struct Layout<'a> {
    text: &'a str,
    out: String,
    brackets: Vec<Bracket>,
    /// How far the line that is being written is indented, not counting that it goes on with another.
    indent: usize,
    /// Have we seen `var`, but not its type?
    declares_variables: bool,
    /// Does the line go on with the one above?
    is_continued: bool,
    before: Option<Token<'a>>,
    /// Is the token before the star of `end *` or the end of `<x>`, which are delimiters, not operators?
    is_delimiter: bool,
    /// Are we inside of `c ? <x>`?
    peeks: bool,
    /// Is the token before an operator with one operand, to which it belongs?
    prefix: bool,
}

impl<'a> Layout<'a> {
    /// Writes what stands between two tokens, and the second one.
    fn between(&mut self, start: usize, end: usize, token: &Token<'a>) {
        let gap = &self.text[start..end];
        let is_last = token.kind == TokenKind::End;
        let mut rest = gap;
        let mut had_comment = false;

        // Comments, each with the white space before it.
        while let Some(position) = rest.find('/') {
            let (blank, from) = rest.split_at(position);
            let length = if from.starts_with("//") {
                from.find('\n').unwrap_or(from.len())
            } else {
                from.find("*/").map_or(from.len(), |n| n + 2)
            };
            self.comment(blank, &from[..length], token);
            rest = &from[length..];
            had_comment = true;
        }

        if is_last {
            let written = self.out.trim_end().len();
            self.out.truncate(written);
            if written > 0 {
                self.out.push('\n');
            }
            return;
        }
        if self.out.is_empty() {
            self.put(token);
            return;
        }
        let n_lines = rest.matches('\n').count();
        if n_lines > 0 {
            self.break_lines(n_lines);
            self.indent(Some(token));
        } else if had_comment {
            self.out.push_str(if rest.is_empty() { " " } else { rest });
        } else {
            let width = self.gap(token, rest);
            self.out.extend(std::iter::repeat_n(' ', width));
        }
        self.put(token);
    }

    /// Writes a comment. A comment alone in its line is indented as what follows it.
    fn comment(&mut self, blank: &str, comment: &str, next: &Token<'a>) {
        let n_lines = blank.matches('\n').count();
        if n_lines > 0 && !self.out.is_empty() {
            self.break_lines(n_lines);
            let closes = ["}", ")", "]"].contains(&next.text);
            self.indent((!closes).then_some(next));
        } else if !self.out.is_empty() {
            self.out
                .push_str(if blank.is_empty() { " " } else { blank });
        }
        let comment = comment.trim_end();
        self.out.push_str(comment);
    }

    /// Ends the line; at most one line is left blank.
    fn break_lines(&mut self, n_lines: usize) {
        let written = self.out.trim_end_matches([' ', '\t']).len();
        self.out.truncate(written);
        let n_lines = n_lines.min(2);
        self.out.extend(std::iter::repeat_n('\n', n_lines));
    }

    /// Indents one level more than the line with the innermost open bracket, or as far as what
    /// follows that bracket in its line; and once more what goes on with the line above.
    fn indent(&mut self, token: Option<&Token<'a>>) {
        let text = token.map_or("", |token| token.text);
        let closes = ["}", ")", "]"].contains(&text);
        self.indent = match self.brackets.last() {
            None => 0,
            Some(bracket) if closes => bracket.indent,
            Some(bracket) => bracket.column.unwrap_or(bracket.indent + INDENT),
        };

        let goes_on = token.is_some_and(|token| self.goes_on(token)) && !closes;
        self.is_continued = goes_on;
        let width = self.indent + if goes_on { INDENT } else { 0 };
        self.out.extend(std::iter::repeat_n(' ', width));
    }

    /// Does a line that begins with this token go on with the line above?
    fn goes_on(&self, token: &Token<'a>) -> bool {
        let Some(before) = self.before else {
            return false;
        };
        let is_operator = |text: &str| SPACED.contains(&text) || FREE.contains(&text);
        let begins_operator =
            is_operator(token.text) || ["@", "?", "??", "!", "..", "."].contains(&token.text);
        let is_list = self.brackets.last().is_none() && before.text == ",";
        begins_operator && token.text != "-"
            || CONTINUING_WORDS.contains(&token.text) && token.kind == TokenKind::Word
            || is_operator(before.text) && !self.is_delimiter
            || OPEN_WORDS.contains(&before.text)
            || ["[]", "<>", "always", "eventually", ":"].contains(&before.text)
            || is_list
    }

    /// How many spaces stand before a token in its line.
    fn gap(&self, token: &Token<'a>, written: &str) -> usize {
        let Some(before) = self.before else {
            return 0;
        };
        let width = written.chars().count();
        let words = before.kind != TokenKind::Symbol && token.kind != TokenKind::Symbol;
        let wanted = if words {
            1
        } else {
            self.wanted(&before, token, width)
        };
        match wanted {
            0 if joins(before.text, token.text) => 1,
            0 => 0,
            _ => width.max(1),
        }
    }

    fn wanted(&self, before: &Token<'a>, token: &Token<'a>, width: usize) -> usize {
        let as_written = usize::from(width > 0);
        let in_bracket = self.brackets.last();

        // The first rule that fits decides: brackets and lists come before operators.
        match (before.text, token.text) {
            (_, "," | ";") | ("(" | ".", _) | (_, ")" | "]" | ".") => 0,
            ("[", _) | ("..", _) | (_, "..") => 0,
            ("<", _) | (_, ">") if self.peeks => 0,
            (">", "{") if self.is_delimiter => 1,
            (">", _) if self.is_delimiter => as_written,
            ("{", "}") => as_written,
            ("{", _) | (_, "}") => usize::from(in_bracket.is_some_and(|b| b.is_wide)),
            ("," | ";" | ":", _) => 1,
            (_, ":") => usize::from(self.declares_variables),
            (_, "{") if ["@", "in", "union", "inter", "minus"].contains(&before.text) => 1,
            (")" | "]", "{") => 1,
            (_, "{") if before.kind == TokenKind::Word => 1,
            (_, "!" | "~" | "-") if before.kind == TokenKind::Word && !ends_operand(before) => 1,
            _ if self.prefix => match before.text {
                "[]" | "<>" => as_written,
                _ => 0,
            },
            (_, text) if SPACED.contains(&text) => 1,
            (text, _) if SPACED.contains(&text) => 1,
            (_, text) if FREE.contains(&text) && ends_operand(before) => as_written,
            (text, _) if FREE.contains(&text) => self.after_free(),
            _ => as_written,
        }
    }

    /// After an operator of [`FREE`]: as before it.
    fn after_free(&self) -> usize {
        let written = self.out.trim_end_matches(|c: char| !c.is_whitespace());
        let operator = self.before.map_or(0, |token| token.text.len());
        usize::from(self.out.len() - written.len() == operator)
    }

    /// Writes a token.
    fn put(&mut self, token: &Token<'a>) {
        // What follows a block's bracket in its line is what other lines of the block align with.
        if !token.starts_line
            && self.before.is_some_and(|before| before.text == "{")
            && token.text != "}"
        {
            let column = self.column();
            if let Some(bracket) = self.brackets.last_mut() {
                bracket.column = Some(column);
            }
        }

        let after_operand = self.before.is_some_and(|before| ends_operand(&before));
        self.prefix = match token.text {
            "!" | "-" | "~" => !after_operand,
            "[]" | "<>" => true,
            _ => false,
        };
        match token.text {
            "(" | "[" => self.open(false),
            "{" => {
                let after = &self.text[token.span.end as usize..];
                self.open(after.starts_with(char::is_whitespace));
            }
            ")" | "]" | "}" => {
                self.brackets.pop();
            }
            "var" | "timer" if token.kind == TokenKind::Word => self.declares_variables = true,
            ":" => self.declares_variables = false,
            _ => {}
        }
        if token.starts_line && !["var", "timer"].contains(&token.text) {
            self.declares_variables &= self.is_continued;
        }
        let after_end = self.before.is_some_and(|before| before.text == "end");
        let after_receive = self.before.is_some_and(|b| ["?", "??"].contains(&b.text));
        let ends_peek = token.text == ">" && self.peeks;
        self.is_delimiter = token.text == "*" && after_end || ends_peek;
        self.peeks = token.text == "<" && after_receive || self.peeks && !ends_peek;
        self.out.push_str(token.text);
        self.before = Some(*token);
    }

    fn open(&mut self, is_wide: bool) {
        // What is opened in a line after another bracket belongs to what follows that one.
        let outer = self
            .brackets
            .last()
            .filter(|outer| outer.indent == self.indent);
        let indent = outer.and_then(|outer| outer.column).unwrap_or(self.indent);
        let column = None;
        self.brackets.push(Bracket {
            indent,
            column,
            is_wide,
        });
    }

    /// The number of characters in the line so far.
    fn column(&self) -> usize {
        let start = self.out.rfind('\n').map_or(0, |at| at + 1);
        self.out[start..].chars().count()
    }
}

/// Can an operand end with this token, so that what follows is an operator between operands?
fn ends_operand(token: &Token<'_>) -> bool {
    match token.kind {
        TokenKind::Word => {
            !OPEN_WORDS.contains(&token.text)
                && ![
                    "if",
                    "always",
                    "eventually",
                    "next",
                    "assert",
                    "init",
                    "assume",
                    "choose",
                ]
                .contains(&token.text)
        }
        TokenKind::Number | TokenKind::Text => true,
        TokenKind::Symbol => [")", "]", "}", "_"].contains(&token.text),
        TokenKind::End => false,
    }
}

/// Would two tokens be read otherwise without a space between them?
fn joins(before: &str, after: &str) -> bool {
    let joined = format!("{before}{after}");
    let mut said = Vec::new();
    let tokens = lex(&joined, SourceId(0), &mut said);
    let texts: Vec<&str> = tokens.iter().map(|token| token.text).collect();
    !said.is_empty() || texts != [before, after, ""]
}

//! Tokens of MONA files.

use base::{Diagnostic, SourceId, Span};

/// A token. Keywords and symbols carry their text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Token {
    Name(String),
    Number(i64),
    Text(String),
    /// A keyword or symbol.
    Fixed(&'static str),
    End,
}

const KEYWORDS: &[&str] = &[
    "all0",
    "all1",
    "all2",
    "allpos",
    "assert",
    "const",
    "const_tree",
    "defaultwhere1",
    "defaultwhere2",
    "empty",
    "ex0",
    "ex1",
    "ex2",
    "execute",
    "export",
    "false",
    "guide",
    "import",
    "in",
    "in_state_space",
    "include",
    "inter",
    "lastpos",
    "let0",
    "let1",
    "let2",
    "macro",
    "max",
    "min",
    "notin",
    "pred",
    "prefix",
    "restrict",
    "root",
    "sometype",
    "sub",
    "succ",
    "tree",
    "tree_root",
    "true",
    "type",
    "union",
    "universe",
    "var0",
    "var1",
    "var2",
    "variant",
    "verify",
    "where",
    "ws1s",
    "ws2s",
];

/// Longer symbols before their prefixes.
const SYMBOLS: &[&str] = &[
    "m2l-str", "m2l-tree", "...", "<=>", "->", "<=", "=>", ">=", "~=", "%", "&", "(", ")", "*",
    "+", ",", "-", ".", "/", ":", ";", "<", "=", ">", "[", "\\", "]", "^", "{", "|", "}", "~",
];

/// Splits a text. What is not a token is reported and left out.
pub(crate) fn tokens(
    text: &str,
    source: SourceId,
    diagnostics: &mut Vec<Diagnostic>,
) -> Vec<(Token, Span)> {
    let mut tokens = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        let blank = blank_length(rest);
        if blank == Some(0) {
            let span = Span::new(source, at, at + 2);
            let message = "this comment is not closed";
            diagnostics.push(Diagnostic::error("syntax", span, message));
            break;
        }
        if let Some(length) = blank {
            at += length;
            continue;
        }
        let (token, length) = token(rest);
        let span = Span::new(source, at, at + length);
        match token {
            Some(token) => tokens.push((token, span)),
            None => diagnostics.push(Diagnostic::error("syntax", span, "illegal character")),
        }
        at += length;
    }

    tokens.push((Token::End, Span::new(source, text.len(), text.len())));
    tokens
}

/// The length of the white space or comment at the beginning; 0 for a comment without end.
fn blank_length(rest: &str) -> Option<usize> {
    if let Some(comment) = rest.strip_prefix("/*") {
        return Some(comment.find("*/").map_or(0, |end| end + 4));
    }
    if rest.starts_with('#') {
        return Some(rest.find('\n').unwrap_or(rest.len()));
    }
    let trimmed = rest.trim_start_matches([' ', '\t', '\r', '\n', '\x0c']);
    (trimmed.len() < rest.len()).then(|| rest.len() - trimmed.len())
}

/// The token at the beginning of a text and its length.
fn token(rest: &str) -> (Option<Token>, usize) {
    let quoted = rest.strip_prefix('"').and_then(|text| text.split_once('"'));
    if let Some((text, _)) = quoted.filter(|(text, _)| !text.contains('\n')) {
        return (Some(Token::Text(text.to_owned())), text.len() + 2);
    }

    // A name may contain "m2l", so the two symbols that begin like a name come first.
    if let Some(&symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
        return (Some(Token::Fixed(symbol)), symbol.len());
    }

    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '\'' | '@' | '$');
    let length = rest.find(|c| !is_name(c)).unwrap_or(rest.len());
    if length == 0 {
        return (None, rest.chars().next().map_or(1, char::len_utf8));
    }
    let word = &rest[..length];
    let token = if word.bytes().all(|byte| byte.is_ascii_digit()) {
        Token::Number(word.parse().unwrap_or(i64::MAX))
    } else if let Ok(index) = KEYWORDS.binary_search(&word) {
        Token::Fixed(KEYWORDS[index])
    } else {
        Token::Name(word.to_owned())
    };

    (Some(token), length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keywords_are_sorted() {
        assert!(KEYWORDS.is_sorted());
    }

    #[test]
    fn names_numbers_and_comments() {
        let mut diagnostics = Vec::new();
        let text = "x' 12 1a /* c */ <=> \"f\" # rest";
        let found: Vec<Token> = tokens(text, SourceId(0), &mut diagnostics)
            .into_iter()
            .map(|(token, _)| token)
            .collect();
        let expected = [
            Token::Name("x'".into()),
            Token::Number(12),
            Token::Name("1a".into()),
            Token::Fixed("<=>"),
            Token::Text("f".into()),
            Token::End,
        ];
        assert_eq!(found, expected);
        assert!(diagnostics.is_empty());
    }

    #[test]
    fn bad_characters_are_located() {
        let mut diagnostics = Vec::new();
        tokens("a ! /* b", SourceId(0), &mut diagnostics);
        let starts: Vec<u32> = diagnostics.iter().map(|d| d.labels[0].span.start).collect();
        assert_eq!(starts, [2, 4]);
    }
}

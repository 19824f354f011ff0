//! What to write instead of what is wrong.

use base::{Diagnostic, Source, Span};

/// A change of a text that a diagnostic suggests.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Fix {
    /// What is replaced.
    pub span: Span,
    /// By what.
    pub text: String,
    /// What to call it.
    pub title: String,
}

/// The changes that the help of a diagnostic suggests: a name that is close to the one that is not
/// known, and what is written here instead of an operator, word or sign of another language.
#[must_use]
pub fn fixes(diagnostic: &Diagnostic, sources: &[Source]) -> Vec<Fix> {
    let Some(label) = diagnostic.labels.first() else {
        return Vec::new();
    };
    let span = label.span;
    let text = sources.get(span.source.index()).map(|source| &source.text);
    let rest = text.and_then(|text| text.get(span.start as usize..));
    let written = rest.and_then(|rest| rest.get(..(span.end - span.start) as usize));
    let (Some(rest), Some(written)) = (rest, written) else {
        return Vec::new();
    };

    // `x++`, of which the first sign is pointed at.
    for sign in ["+", "-"] {
        if diagnostic.code == "wrong-operator" && rest.starts_with(&sign.repeat(2)) {
            let span = Span {
                end: span.start + 2,
                ..span
            };
            return vec![Fix::new(span, format!(" {sign}= 1"))];
        }
    }
    if diagnostic.code == "missing-semicolon" {
        return vec![Fix::new(span, ";".to_owned())];
    }

    let text = |help: &String| match meant(help) {
        Some(meant) => replacement(written, meant),
        None => instead(help, written),
    };
    let texts = diagnostic.help.iter().filter_map(text);
    texts.map(|text| Fix::new(span, text)).collect()
}

impl Fix {
    fn new(span: Span, text: String) -> Self {
        let title = if span.end > span.start {
            format!("replace by `{}`", text.trim())
        } else {
            format!("add `{text}`")
        };
        Self { span, text, title }
    }
}

/// What an advice says to write: another operator instead of an operator, or a word with something
/// beside it.
fn instead(help: &str, written: &str) -> Option<String> {
    let is_sign = |c: char| !c.is_alphanumeric() && !c.is_whitespace() && c != '_' && c != '…';
    let is_operator = |text: &str| !text.is_empty() && text.chars().all(is_sign);
    let codes: Vec<&str> = help.split('`').skip(1).step_by(2).collect();
    if is_operator(written) {
        let [code] = codes.as_slice() else {
            return None;
        };
        let fits = is_operator(code) || *code == "leads to";
        return (fits && *code != written).then(|| (*code).to_owned());
    }

    let (_, rest) = help.split_once("write `")?;
    let code = rest.split('`').next()?;
    let has_word = code.split(' ').any(|word| word == written);
    (has_word && code != written).then(|| code.to_owned())
}

/// The name in "did you mean `name`?".
fn meant(help: &str) -> Option<&str> {
    let (_, rest) = help.split_once("did you mean `")?;
    rest.split_once('`').map(|(name, _)| name)
}

/// The written text with one name replaced. It must be a name as a whole, or qualified by one.
fn replacement(written: &str, meant: &str) -> Option<String> {
    let is_name =
        |text: &str| !text.is_empty() && text.chars().all(|c| c.is_alphanumeric() || c == '_');
    if is_name(written) {
        return Some(meant.to_owned());
    }
    let (owner, name) = written.rsplit_once('.')?;
    (is_name(name) && is_name(meant)).then(|| format!("{owner}.{meant}"))
}

#[cfg(test)]
mod tests {
    use base::SourceId;

    use super::*;

    fn suggestion(text: &str, wrong: &str, help: &str) -> Vec<String> {
        suggestion_for("unknown-name", text, wrong, help)
    }

    fn suggestion_for(code: &'static str, text: &str, wrong: &str, help: &str) -> Vec<String> {
        let start = text.find(wrong).unwrap();
        let span = Span::new(SourceId(0), start, start + wrong.len());
        let diagnostic = Diagnostic::error(code, span, "there is no such thing").help(help);
        let source = Source {
            name: "m".to_owned(),
            text: text.to_owned(),
        };
        let found = fixes(&diagnostic, &[source]).into_iter();
        let apply = |fix: Fix| {
            let (start, end) = (fix.span.start as usize, fix.span.end as usize);
            format!("{}{}{}", &text[..start], fix.text, &text[end..])
        };
        found.map(apply).collect()
    }

    #[test]
    fn a_close_name_replaces_the_wrong_one() {
        let help = "did you mean `count`?";
        assert_eq!(
            suggestion("x := coutn + 1", "coutn", help),
            ["x := count + 1"]
        );
        assert_eq!(suggestion("P.coutn", "P.coutn", help), ["P.count"]);
        assert!(suggestion("a + b", "a + b", help).is_empty());
        assert!(suggestion("coutn", "coutn", "declare it first").is_empty());
    }

    #[test]
    fn signs_of_other_languages_are_replaced() {
        let with = |text, wrong, help| suggestion_for("wrong-operator", text, wrong, help);
        assert_eq!(with("a /\\ b", "/\\", "write `&&`"), ["a && b"]);
        assert_eq!(with("~a", "~", "negation is written `!`"), ["!a"]);
        assert_eq!(with("x = 1", "=", "write `:=` to assign"), ["x := 1"]);
        assert_eq!(with("p ~> q", "~>", "write `leads to`"), ["p leads to q"]);
        let help = "write `x += 1` or `x := x + 1`";
        assert_eq!(with("x++", "+", help), ["x += 1"]);
        assert_eq!(with("x--", "-", help), ["x -= 1"]);
        assert!(with("x := 1", ":=", "`:=` assigns in the effect of a step").is_empty());
        let help = "`done` is a location; write `-> done` if the step before it leads there";
        assert_eq!(suggestion("go done", "done", help), ["go -> done"]);
        let help = "separate statements with `;`";
        let added = suggestion_for("missing-semicolon", "x = 1 y = 2", "", help);
        assert_eq!(added, [";x = 1 y = 2"]);
    }
}

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
/// known.
#[must_use]
pub fn fixes(diagnostic: &Diagnostic, sources: &[Source]) -> Vec<Fix> {
    let Some(label) = diagnostic.labels.first() else {
        return Vec::new();
    };
    let span = label.span;
    let text = sources.get(span.source.index()).map(|source| &source.text);
    let written = text.and_then(|text| text.get(span.start as usize..span.end as usize));
    if diagnostic.code == "wrong-operator" {
        return instead(diagnostic, span);
    }
    let meant = diagnostic.help.iter().filter_map(|help| meant(help));

    let fix = |(meant, written): (&str, &str)| {
        let text = replacement(written, meant)?;
        Some(Fix {
            span,
            title: format!("replace by `{text}`"),
            text,
        })
    };
    meant
        .zip(written.into_iter().cycle())
        .filter_map(fix)
        .collect()
}

/// The operators that are written instead of one of another language.
fn instead(diagnostic: &Diagnostic, span: Span) -> Vec<Fix> {
    let operator = |help: &String| {
        let text = help.strip_prefix("write `")?.strip_suffix('`')?.to_owned();
        let title = format!("replace by `{text}`");
        Some(Fix { span, text, title })
    };
    diagnostic.help.iter().filter_map(operator).collect()
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
        let start = text.find(wrong).unwrap();
        let span = Span::new(SourceId(0), start, start + wrong.len());
        let diagnostic =
            Diagnostic::error("unknown-name", span, "there is no such thing").help(help);
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
}

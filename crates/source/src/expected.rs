//! Verdicts that are expected by comments, for languages that have no words for them.

use base::{Diagnostic, Expected, Span};

use crate::{Loaded, Question};

impl Loaded {
    /// Reads what the comments of the first text expect: `// expect violated` in the lines of a
    /// question, or `// expect NAME = violated` anywhere. Names that nothing has are reported.
    #[must_use]
    pub fn expecting_by_comments(mut self) -> Self {
        let Some(source) = self.sources.first() else {
            return self;
        };
        if self.content.is_none() {
            return self;
        }

        let mut wrong = Vec::new();
        for (start, comment) in comments(&source.text) {
            let Some((name, expected)) = expectation(comment) else {
                continue;
            };
            let span = Span::new(base::SourceId(0), start, start + comment.len());
            let line = source.line_column(start).0;
            let is_meant = |question: &&mut Question| match name {
                Some(name) => question.property.name == name,
                None => {
                    let at = question.property.span;
                    let first = source.line_column(at.start as usize).0;
                    let last = source.line_column(at.end as usize).0;
                    at.source == base::SourceId(0) && (first..=last).contains(&line)
                }
            };

            let mut n_meant = 0;
            for question in self.questions.iter_mut().filter(is_meant) {
                question.expected = Some(expected);
                n_meant += 1;
            }
            if n_meant == 0 {
                let message = match name {
                    Some(name) => format!("there is no property `{name}` to expect something of"),
                    None => "there is no property in this line to expect something of".to_owned(),
                };
                wrong.push(Diagnostic::error("unknown-property", span, message));
            }
        }

        if !wrong.is_empty() {
            self.content = None;
            self.questions.clear();
            self.diagnostics.extend(wrong);
        }
        self
    }
}

/// What a comment expects: of the question with a name, or of the one beside it.
fn expectation(comment: &str) -> Option<(Option<&str>, Expected)> {
    let rest = comment.trim().strip_prefix("expect")?;
    let rest = rest.strip_prefix(char::is_whitespace)?.trim();
    if let Some(expected) = Expected::parse(rest) {
        return Some((None, expected));
    }
    let (name, verdict) = rest.rsplit_once('=')?;
    Some((Some(name.trim()), Expected::parse(verdict.trim())?))
}

/// The comments `// …` and `/* … */` of a text without their signs, and where they start.
fn comments(text: &str) -> Vec<(usize, &str)> {
    let mut comments = Vec::new();
    let mut offset = 0;
    while let Some(found) = text[offset..].find('/') {
        let start = offset + found + 2;
        let (kind, end) = match text.get(start - 1..start) {
            Some("/") => ("\n", "\n".len()),
            Some("*") => ("*/", "*/".len()),
            _ => {
                offset += found + 1;
                continue;
            }
        };
        let length = text[start..].find(kind).unwrap_or(text.len() - start);
        comments.push((start, &text[start..start + length]));
        offset = (start + length + end).min(text.len());
    }
    comments
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_are_found_without_their_signs() {
        let text = "a / b // expect violated\nc /* expect p = holds */ d /* é";
        let found: Vec<&str> = comments(text).into_iter().map(|c| c.1).collect();
        assert_eq!(found, [" expect violated", " expect p = holds ", " é"]);
    }

    #[test]
    fn only_verdicts_are_expected() {
        let of = |comment| expectation(comment);
        assert_eq!(of(" expect violated"), Some((None, Expected::Violated)));
        let named = Some((Some("P |= [] x=1"), Expected::Unknown));
        assert_eq!(of("expect P |= [] x=1 = unknown "), named);
        assert_eq!(of("expect the unexpected"), None);
        assert_eq!(of("expected violated"), None);
        assert_eq!(of("expect x = 1"), None);
    }
}

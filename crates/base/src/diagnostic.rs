//! Positions in source texts, and what can be said about them.
//!
//! Parsing never fails: a front end returns what it understood together with diagnostics. How a
//! diagnostic looks on a terminal is the business of the binaries.

crate::define_index! {
    /// One of the texts that a front end has read.
    pub struct SourceId;
}

/// A text together with the name it is known by.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// A path, or something like `<formula>`.
    pub name: String,
    /// The whole text.
    pub text: String,
}

impl Source {
    /// Line and column of a byte offset, both counted from 1; columns count characters.
    #[must_use]
    pub fn line_column(&self, offset: usize) -> (usize, usize) {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let before = &self.text[..offset];
        let line_start = before.rfind('\n').map_or(0, |position| position + 1);
        let line = before.matches('\n').count() + 1;
        (line, before[line_start..].chars().count() + 1)
    }
}

/// A range of bytes in a source. Invariant: `start <= end`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Span {
    /// Which text.
    pub source: SourceId,
    /// First byte.
    pub start: u32,
    /// One past the last byte.
    pub end: u32,
}

impl Span {
    /// The bytes `start..end` of a text; panics above 4 GiB.
    #[must_use]
    pub fn new(source: SourceId, start: usize, end: usize) -> Self {
        let narrow = |offset| u32::try_from(offset).expect("source exceeds 4 GiB");
        Self {
            source,
            start: narrow(start),
            end: narrow(end.max(start)),
        }
    }

    /// The empty span at the beginning of the first text, for what does not come from a text.
    #[must_use]
    pub fn nowhere() -> Self {
        Self::new(SourceId(0), 0, 0)
    }

    /// The smallest span that covers both; both must be of the same text.
    #[must_use]
    pub fn to(self, other: Self) -> Self {
        Self {
            source: self.source,
            start: self.start.min(other.start),
            end: self.end.max(other.end),
        }
    }
}

/// How bad it is.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Severity {
    /// Worth knowing; the model is used as it is.
    Warning,
    /// The model, formula or call is wrong.
    Error,
}

/// A span with a remark.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Label {
    /// What is pointed at.
    pub span: Span,
    /// What is said of it; may be empty.
    pub text: String,
}

/// Something to tell the author of a text.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Diagnostic {
    /// How bad it is.
    pub severity: Severity,
    /// A stable name such as `unknown-name`, for scripts and for the manual.
    pub code: &'static str,
    /// One sentence: what is wrong.
    pub message: String,
    /// The first label is the primary one: its position is *the* position of the diagnostic.
    pub labels: Vec<Label>,
    /// What to do about it.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error that points at `span`.
    #[must_use]
    pub fn error(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Error, code, span, message.into())
    }

    /// A warning that points at `span`.
    #[must_use]
    pub fn warning(code: &'static str, span: Span, message: impl Into<String>) -> Self {
        Self::new(Severity::Warning, code, span, message.into())
    }

    fn new(severity: Severity, code: &'static str, span: Span, message: String) -> Self {
        Self {
            severity,
            code,
            message,
            labels: vec![Label {
                span,
                text: String::new(),
            }],
            help: Vec::new(),
        }
    }

    /// Says something at the primary position, next to the caret.
    #[must_use]
    pub fn at(mut self, text: impl Into<String>) -> Self {
        self.labels[0].text = text.into();
        self
    }

    /// Points at another place as well.
    #[must_use]
    pub fn label(mut self, span: Span, text: impl Into<String>) -> Self {
        self.labels.push(Label {
            span,
            text: text.into(),
        });
        self
    }

    /// Says what to do.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

impl Diagnostic {
    /// Cuts what is too long to be read: names and texts that are repeated may be of any length.
    fn cut(&mut self) {
        cut(&mut self.message);
        self.labels
            .iter_mut()
            .for_each(|label| cut(&mut label.text));
        self.help.iter_mut().for_each(cut);
    }
}

fn cut(text: &mut String) {
    if text.len() > MAX_MESSAGE {
        let mut end = MAX_MESSAGE;
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        let n_more = text.len() - end;
        text.truncate(end);
        *text += &format!("… ({n_more} bytes more)");
    }
}

/// Errors above this number are only counted.
const MAX_ERRORS: usize = 20;

/// Warnings above this number are only counted.
const MAX_WARNINGS: usize = 100;

/// Messages are cut after this many bytes.
const MAX_MESSAGE: usize = 600;

/// Drops repetitions, errors beyond twenty and warnings beyond a hundred, and cuts what is too long
/// to be read.
pub fn cap_errors(diagnostics: &mut Vec<Diagnostic>) {
    let mut kept: Vec<Diagnostic> = Vec::new();
    let mut n_errors = 0;
    let mut n_warnings = 0;
    let mut n_more_warnings = 0;
    let mut n_dropped = 0;
    let mut last_span = Span::nowhere();

    for mut diagnostic in diagnostics.drain(..) {
        diagnostic.cut();
        if kept.contains(&diagnostic) {
            continue;
        }
        if diagnostic.severity == Severity::Error {
            n_errors += 1;
        } else if n_warnings == MAX_WARNINGS {
            n_more_warnings += 1;
            continue;
        } else {
            n_warnings += 1;
        }
        if diagnostic.severity == Severity::Error && n_errors > MAX_ERRORS {
            n_dropped += 1;
            last_span = diagnostic.labels[0].span;
        } else {
            kept.push(diagnostic);
        }
    }

    if n_dropped > 0 {
        let message = format!("and {n_dropped} more");
        kept.push(Diagnostic::error("too-many-errors", last_span, message));
    }

    if n_more_warnings > 0 {
        let message = format!("and {n_more_warnings} more warnings");
        let nowhere = Span::nowhere();
        kept.push(Diagnostic::warning("too-many-warnings", nowhere, message));
    }

    *diagnostics = kept;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_are_never_too_many_nor_too_long_ones() {
        let span = |at| Span::new(SourceId(0), at, at + 1);
        let long = "ä".repeat(100_000);
        let mut all = vec![Diagnostic::error("e", span(0), long.clone()).help(long)];
        for at in 1..1000 {
            all.push(Diagnostic::error("e", span(at), "wrong"));
            all.push(Diagnostic::warning("w", span(at), "odd"));
        }
        cap_errors(&mut all);

        let count = |severity| all.iter().filter(|d| d.severity == severity).count();
        assert_eq!(count(Severity::Error), MAX_ERRORS + 1);
        assert!(count(Severity::Warning) <= MAX_WARNINGS + 1);
        assert!(all.iter().any(|d| d.message == "and 980 more"));
        assert!(all[0].message.len() < 2 * MAX_MESSAGE && all[0].help[0].len() < 2 * MAX_MESSAGE);
    }

    #[test]
    fn lines_and_columns_count_from_one_and_in_characters() {
        let source = Source {
            name: "m".into(),
            text: "äb\ncd".into(),
        };
        assert_eq!(source.line_column(0), (1, 1));
        assert_eq!(source.line_column(2), (1, 2));
        assert_eq!(source.line_column(5), (2, 2));
        assert_eq!(source.line_column(99), (2, 3));
    }
}

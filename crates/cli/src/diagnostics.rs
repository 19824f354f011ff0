//! Diagnostics on standard error, in the look of rustc.

use std::borrow::Cow;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use fairground::report::{Escape, Style, is_obeyed, printable};
use fairground::{Diagnostic, Severity, Source, Span};

use crate::output;

/// Shows a diagnostic with the lines it is about.
pub fn show(diagnostic: &Diagnostic, sources: &[Source]) {
    output::print_error(&render(diagnostic, sources, output::stderr_style()));
}

/// The diagnostic as text. A span that is nowhere is not shown.
pub fn render(diagnostic: &Diagnostic, sources: &[Source], style: Style) -> String {
    let level = match diagnostic.severity {
        Severity::Error => Level::ERROR,
        Severity::Warning => Level::WARNING,
    };

    let diagnostic = &harmless(diagnostic);
    let sources: Vec<Cow<'_, Source>> = sources.iter().map(printable_source).collect();

    let title = level
        .primary_title(diagnostic.message.as_str())
        .id(diagnostic.code);
    let mut group: Group<'_> = Group::with_title(title);
    for (position, source) in primary_first(diagnostic, &sources) {
        if let Some(snippet) = snippet(diagnostic, position, source) {
            group = group.element(snippet);
        }
    }

    for help in &diagnostic.help {
        group = group.element(Level::HELP.message(help.as_str()));
    }

    let renderer = match style {
        Style::Plain => Renderer::plain(),
        Style::Ansi => Renderer::styled(),
    };
    format!("{}\n\n", renderer.render(&[group]))
}

/// The diagnostic without characters that a terminal obeys.
fn harmless(diagnostic: &Diagnostic) -> Diagnostic {
    let mut harmless = diagnostic.clone();
    let labels = harmless.labels.iter_mut().map(|label| &mut label.text);
    let texts = labels.chain(&mut harmless.help);
    for text in texts.chain([&mut harmless.message]) {
        if let Cow::Owned(shown) = printable(text, Escape::Text) {
            *text = shown;
        }
    }
    harmless
}

/// The text without characters that a terminal obeys. All spans stay what they are.
fn printable_source(source: &Source) -> Cow<'_, Source> {
    let name = printable(&source.name, Escape::Text);
    // Ends of lines of other systems are not shown.
    let text = printable(&source.text, Escape::Text);
    if let (Cow::Borrowed(_), Cow::Borrowed(_)) = (&name, text) {
        return Cow::Borrowed(source);
    }

    let mut text = String::with_capacity(source.text.len());
    let mut characters = source.text.chars().peekable();
    while let Some(c) = characters.next() {
        let is_end = c == '\r' && characters.peek() == Some(&'\n');
        text.push(match c.len_utf8() {
            _ if is_end || !is_obeyed(c) => c,
            1 => '?',
            2 => '¿',
            _ => char::REPLACEMENT_CHARACTER,
        });
    }
    let name = name.into_owned();
    Cow::Owned(Source { name, text })
}

/// The texts with their positions; the one that the diagnostic is about leads.
fn primary_first<'a>(
    diagnostic: &Diagnostic,
    sources: &'a [Cow<'_, Source>],
) -> impl Iterator<Item = (usize, &'a Source)> {
    let primary = diagnostic.labels.first();
    let primary = primary.map(|label| label.span.source.index());
    let is_primary = move |(position, _): &(usize, &Source)| Some(*position) == primary;
    let all = || sources.iter().map(|source| &**source).enumerate();
    let first = all().filter(is_primary);
    let others = all();
    first.chain(others.filter(move |entry| !is_primary(entry)))
}

/// What a diagnostic says about one of the texts.
fn snippet<'a>(
    diagnostic: &'a Diagnostic,
    position: usize,
    source: &'a Source,
) -> Option<Snippet<'a, annotate_snippets::Annotation<'a>>> {
    let mut snippet = Snippet::source(source.text.as_str()).path(source.name.as_str());
    let mut is_empty = true;

    for (index, label) in diagnostic.labels.iter().enumerate() {
        if label.span.source.index() != position || label.span == Span::nowhere() {
            continue;
        }

        let kind = match index {
            0 => AnnotationKind::Primary,
            _ => AnnotationKind::Context,
        };
        let annotation = kind.span(range(label.span, &source.text));
        snippet = snippet.annotation(match label.text.as_str() {
            "" => annotation,
            text => annotation.label(text),
        });
        is_empty = false;
    }

    (!is_empty).then_some(snippet)
}

/// The span as a range inside the text that cuts no character.
fn range(span: Span, text: &str) -> std::ops::Range<usize> {
    let inside = |offset: u32| {
        let mut offset = (offset as usize).min(text.len());
        while !text.is_char_boundary(offset) {
            offset -= 1;
        }
        offset
    };
    inside(span.start)..inside(span.end)
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};
    use fairground::SourceId;

    use super::*;

    fn check(diagnostic: &Diagnostic, expected: Expect) {
        let source = |name: &str, text: &str| Source {
            name: name.into(),
            text: text.into(),
        };
        let sources = [
            source("m.fair", "var ä : 0..3\nvar x\n"),
            source("<--ltl>", "<> y"),
        ];
        expected.assert_eq(&render(diagnostic, &sources, Style::Plain));
    }

    #[test]
    fn every_text_is_shown_with_its_labels_and_help() {
        let in_formula = Span::new(SourceId(1), 3, 4);
        let in_model = Span::new(SourceId(0), 18, 19);
        let diagnostic = Diagnostic::error("unknown-name", in_formula, "there is no `y`")
            .at("not found")
            .label(in_model, "this is similar")
            .help("did you mean `x`?");
        check(
            &diagnostic,
            expect![[r#"
                error[unknown-name]: there is no `y`
                 --> <--ltl>:1:4
                  |
                1 | <> y
                  |    ^ not found
                  |
                 ::: m.fair:2:5
                  |
                2 | var x
                  |     - this is similar
                  |
                  = help: did you mean `x`?

            "#]],
        );
    }

    #[test]
    fn what_others_wrote_does_not_reach_the_terminal() {
        let source = Source {
            name: "m\u{1b}[2J.fair".into(),
            text: "var \u{1b}[31mx // \u{202e}\u{9b}\r gone\r\nend".into(),
        };
        let at = Span::new(SourceId(0), 4, 10);
        let diagnostic = Diagnostic::error("e", at, "no \u{1b}]0;title\u{7}")
            .at("\u{1b}[8m")
            .help("\u{1b}[31m");
        let shown = render(&diagnostic, &[source], Style::Plain);
        let harmless = printable(&shown, Escape::Text);
        assert_eq!(harmless, shown);
        assert!(shown.contains("var ?[31mx // \u{fffd}¿? gone"), "{shown}");
    }

    #[test]
    fn spans_outside_the_text_do_no_harm() {
        let cut = Span::new(SourceId(0), 5, 900);
        check(
            &Diagnostic::warning("odd", cut, "odd"),
            expect![[r#"
            warning[odd]: odd
             --> m.fair:1:5
              |
            1 |   var ä : 0..3
              |  _____^
            2 | | var x
              | |______^

        "#]],
        );
        let nowhere = Diagnostic::error("bad-define", Span::nowhere(), "no constant `N`");
        check(
            &nowhere,
            expect![[r#"
            error[bad-define]: no constant `N`

        "#]],
        );
    }
}

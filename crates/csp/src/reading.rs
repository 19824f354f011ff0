//! Texts, the files that they include, and the libraries that they import.

use base::{Diagnostic, Source, SourceId, Span};
use source::MAX_BYTES;

use super::ast::Spec;
use super::{Reader, library, parser};

/// What the names of files with libraries end with.
const LIBRARY: &str = ".lib";

fn is_library(name: &str) -> bool {
    name.ends_with(LIBRARY)
}

/// What an included file contains; nothing if it cannot be read.
type ReadFile<'f> = &'f mut dyn FnMut(&str) -> Option<String>;

impl Reader<'_> {
    /// What the text and the files that it includes declare, as far as they were understood.
    pub(crate) fn parse(&mut self, read: ReadFile<'_>) -> Spec {
        let mut spec = Spec::default();
        let mut position = 0;
        while position < self.sources.len() {
            let id = SourceId::new(position);
            let text = self.sources[position].text.clone();
            if text.len() > MAX_BYTES {
                let message = format!("the text has more than {} bytes", MAX_BYTES);
                let span = Span::new(id, 0, 0);
                self.diagnostics
                    .push(Diagnostic::error("too-large", span, message));
                return spec;
            }
            let in_library = position > 0 && is_library(&self.sources[position].name);
            let diagnostics = &mut self.diagnostics;
            parser::parse(&text, id, in_library, &mut spec, diagnostics);

            // Included files join the list that the loop goes through; each is read once.
            for (path, span) in std::mem::take(&mut spec.includes) {
                if self.sources.iter().any(|source| *source.name == *path) {
                    continue;
                }
                match read(&path) {
                    Some(text) => self.sources.push(Source {
                        name: path.to_string(),
                        text,
                    }),
                    None => {
                        let message = format!("`{path}` cannot be read");
                        self.diagnostics
                            .push(Diagnostic::error("include", span, message));
                    }
                }
            }
            for (name, span) in std::mem::take(&mut spec.imports) {
                self.import(&name, span, read);
            }
            position += 1;
        }

        spec
    }

    /// Adds the text of a library: one of PAT's, or a file beside the model.
    fn import(&mut self, name: &str, span: Span, read: ReadFile<'_>) {
        let file = format!("{name}{LIBRARY}");
        if self.sources.iter().any(|source| source.name == file) {
            return;
        }
        let text = read(&file).or_else(|| library::standard(name).map(str::to_owned));
        let Some(text) = text else {
            let message = format!("the library `{name}` is written in C#, which is not read here");
            let help = format!(
                "write its functions or classes as programs in a file `{file}` beside the model; docs/reference/csp.md says how"
            );
            let diagnostic = Diagnostic::error("unsupported", span, message);
            self.diagnostics.push(diagnostic.help(help));
            return;
        };
        self.sources.push(Source { name: file, text });
        for other in library::needed(name) {
            self.import(other, span, read);
        }
    }
}

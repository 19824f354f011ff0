//! A text that an editor has open.

use std::path::{Path, PathBuf};

use fairground::{
    Analysis, Confined, Files, Label, Memory, Options, Overlay, SourceId, Span, Symbol, SymbolKind,
};
use serde_json::{Value as Json, json};

/// A text that an editor has open, and what is known about it.
pub(crate) struct Document {
    pub(crate) uri: String,
    pub(crate) path: PathBuf,
    pub(crate) text: String,
    /// What the editor calls this state of the text.
    pub(crate) version: Json,
    /// The offsets at which lines begin.
    lines: Vec<usize>,
    pub(crate) analysis: Analysis,
}

impl Document {
    /// A text as it was opened or changed, beside other open ones.
    pub(crate) fn new(uri: &str, text: String, version: Json, open: Memory) -> Self {
        let path = path_of(uri);
        let below = Confined::beside(&path, &[]);
        let files = Overlay {
            top: open,
            below: &below,
        };
        let analysis = analyse(&files, &path, &text);
        let starts = text.match_indices('\n').map(|(at, _)| at + 1);
        Self {
            uri: uri.to_owned(),
            lines: std::iter::once(0).chain(starts).collect(),
            path,
            text,
            version,
            analysis,
        }
    }

    /// Is it a text of the native language?
    pub(crate) fn is_native(&self) -> bool {
        self.path.extension().is_some_and(|e| e == "fair")
    }

    /// What is written at a place; nothing if it is not a place of this text.
    pub(crate) fn slice(&self, span: Span) -> &str {
        self.text
            .get(span.start as usize..span.end as usize)
            .unwrap_or("")
    }

    /// The offset of a position of the protocol: a line, and UTF-16 units in it.
    pub(crate) fn offset(&self, position: &Json) -> usize {
        let number = |key: &str| position[key].as_u64().unwrap_or(0) as usize;
        let line = number("line").min(self.lines.len() - 1);
        let start = self.lines[line];
        let end = self
            .lines
            .get(line + 1)
            .map_or(self.text.len(), |next| next - 1);
        let mut units = number("character");
        for (at, c) in self.text[start..end].char_indices() {
            if units < c.len_utf16() {
                return start + at;
            }
            units -= c.len_utf16();
        }
        end
    }

    /// The position of an offset.
    pub(crate) fn position(&self, offset: usize) -> Json {
        let mut offset = offset.min(self.text.len());
        while !self.text.is_char_boundary(offset) {
            offset -= 1;
        }
        let line = self.lines.partition_point(|start| *start <= offset) - 1;
        let units = self.text[self.lines[line]..offset].encode_utf16().count();
        json!({ "line": line, "character": units })
    }

    pub(crate) fn range(&self, span: Span) -> Json {
        self.range_of(span.start as usize, span.end as usize)
    }

    pub(crate) fn range_of(&self, start: usize, end: usize) -> Json {
        json!({ "start": self.position(start), "end": self.position(end) })
    }

    /// The offset of a place that is counted from 1, in characters.
    pub(crate) fn offset_of(&self, line: usize, column: usize) -> usize {
        let line = line.saturating_sub(1).min(self.lines.len() - 1);
        let start = self.lines[line];
        let rest = &self.text[start..];
        let at = rest.char_indices().nth(column.saturating_sub(1));
        at.map_or(self.text.len(), |(at, _)| start + at)
    }

    /// A place of this text, or of a file that it includes.
    pub(crate) fn location(&self, span: Span) -> Json {
        let other = self.analysis.sources.get(span.source.index());
        match other.filter(|_| !is_here(span)) {
            None => json!({ "uri": self.uri, "range": self.range(span) }),
            Some(source) => {
                let position = |offset| position_in(&source.text, offset as usize);
                let range = json!({ "start": position(span.start), "end": position(span.end) });
                json!({ "uri": uri_of(&source.name), "range": range })
            }
        }
    }

    /// The texts that were read for this one, itself included.
    pub(crate) fn texts(&self) -> Memory {
        let sources = self.analysis.sources.iter();
        let mut texts = Memory::new(sources.map(|s| (PathBuf::from(&s.name), s.text.clone())));
        texts.insert(self.path.clone(), self.text.clone());
        texts
    }

    /// Does it include the file at this path?
    pub(crate) fn includes(&self, path: &Path) -> bool {
        let mut included = self.analysis.sources.iter().skip(1);
        included.any(|source| Path::new(&source.name) == path)
    }

    /// The symbol that a name at a position means.
    pub(crate) fn symbol_at(&self, position: &Json) -> Option<usize> {
        let reference = self.analysis.reference_at(self.offset(position))?;
        Some(reference.symbol)
    }

    /// The questions of the text.
    pub(crate) fn properties(&self) -> impl Iterator<Item = &Symbol> {
        let symbols = self.analysis.symbols.iter();
        symbols.filter(|symbol| symbol.kind == SymbolKind::Property)
    }

    /// How a question is called outside of its text: with the system that it belongs to.
    pub(crate) fn full_name(&self, property: &Symbol) -> String {
        match property
            .owner
            .and_then(|owner| self.analysis.symbols.get(owner))
        {
            Some(owner) => format!("{}.{}", owner.name, property.name),
            None => property.name.clone(),
        }
    }

    /// Everything that is to be said about the text.
    pub(crate) fn diagnostics(&self) -> Vec<Json> {
        let own = self.analysis.diagnostics.iter();
        own.map(|diagnostic| {
            let mut message = diagnostic.message.clone();
            for help in &diagnostic.help {
                message.push_str("\nhelp: ");
                message.push_str(help);
            }
            let first = diagnostic.labels.first().map(|label| label.span);
            let span = first.filter(|span| is_here(*span));
            // What is wrong in another file is said at the beginning, with the way there.
            let elsewhere = usize::from(span.is_some());
            let others = diagnostic.labels.iter().skip(elsewhere);
            let message_of = |label: &Label| match label.text.as_str() {
                "" => diagnostic.message.clone(),
                text => text.to_owned(),
            };
            let related = others.map(|label| {
                json!({ "location": self.location(label.span), "message": message_of(label) })
            });
            let related: Vec<Json> = related.collect();
            json!({
                "range": span.map_or_else(|| self.range_of(0, 0), |span| self.range(span)),
                "severity": match diagnostic.severity {
                    fairground::Severity::Error => 1,
                    fairground::Severity::Warning => 2,
                },
                "code": diagnostic.code,
                "source": "fair",
                "message": message,
                "relatedInformation": related,
            })
        })
        .collect()
    }
}

/// Is it a place of the text that is open, not of one that it includes?
pub(crate) fn is_here(span: Span) -> bool {
    span.source == SourceId(0)
}

/// The position of an offset in any text.
fn position_in(text: &str, offset: usize) -> Json {
    let before = text.get(..offset).unwrap_or(text);
    let start = before.rfind('\n').map_or(0, |at| at + 1);
    let units = before[start..].encode_utf16().count();
    json!({ "line": before.matches('\n').count(), "character": units })
}

/// The address of the file at a path.
fn uri_of(path: &str) -> String {
    let mut uri = String::from("file://");
    for &byte in path.as_bytes() {
        if byte.is_ascii_alphanumeric() || b"/._-~".contains(&byte) {
            uri.push(char::from(byte));
        } else {
            uri.push_str(&format!("%{byte:02X}"));
        }
    }
    uri
}

/// What is known about a text; nothing if its language is not known.
pub(crate) fn analyse(files: &dyn Files, path: &std::path::Path, text: &str) -> Analysis {
    fairground::analyse(files, path, text, &Options::default()).unwrap_or_default()
}

/// The path in a `file:` address. Other addresses are taken as they are, for their extensions.
pub(crate) fn path_of(uri: &str) -> PathBuf {
    let encoded = uri.strip_prefix("file://").unwrap_or(uri).as_bytes();
    let digit = |at: usize| {
        let byte = encoded.get(at).copied()?;
        char::from(byte).to_digit(16)
    };

    let mut bytes = Vec::new();
    let mut at = 0;
    while let Some(&byte) = encoded.get(at) {
        match (byte, digit(at + 1), digit(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                bytes.push((high * 16 + low) as u8);
                at += 3;
            }
            _ => {
                bytes.push(byte);
                at += 1;
            }
        }
    }
    PathBuf::from(String::from_utf8_lossy(&bytes).into_owned())
}

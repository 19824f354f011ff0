//! What is known about the names of a text, for editors.

use base::{Diagnostic, Source, SourceId, Span};

use crate::Loaded;

/// What is known about a text, also if something is wrong with it. References and comments are those of
/// the first source.
#[derive(Clone, Debug, Default)]
pub struct Analysis {
    /// All texts; the position of a text is its `SourceId`.
    pub sources: Vec<Source>,
    /// What the text declares, in the order of the text.
    pub symbols: Vec<Symbol>,
    /// Where names are used, declarations included, in the order of the text.
    pub references: Vec<Reference>,
    /// Comments, in the order of the text.
    pub comments: Vec<Span>,
    /// What is to be said about the text: what loading it says.
    pub diagnostics: Vec<Diagnostic>,
    /// Are all uses of names known that the text has? Else only those whose names are unique.
    pub is_complete: bool,
}

/// Something with a name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Symbol {
    /// Its name.
    pub name: String,
    /// What it is.
    pub kind: SymbolKind,
    /// Where its name is declared.
    pub span: Span,
    /// The whole declaration.
    pub extent: Span,
    /// Its type, range or value, as the language writes it.
    pub detail: String,
    /// The comment above or beside its declaration.
    pub documentation: String,
    /// The symbol that it belongs to, by position: the process of a local variable.
    pub owner: Option<usize>,
    /// The names of its parameters, if it takes arguments.
    pub parameters: Vec<String>,
}

/// What something with a name is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum SymbolKind {
    /// A constant.
    Constant,
    /// A parameter of a family of models.
    Parameter,
    /// A type.
    Type,
    /// A value of an enumeration.
    Variant,
    /// A component of a record.
    Field,
    /// A variable.
    Variable,
    /// A timer.
    Timer,
    /// A definition.
    Definition,
    /// A channel.
    Channel,
    /// An event.
    Event,
    /// A process or a family of processes.
    Process,
    /// A location of a process, or a state.
    Location,
    /// An action of a process.
    Action,
    /// A question.
    Property,
    /// A name that is bound by a quantifier, a step, a definition or a statement.
    Bound,
    /// A may/must system.
    System,
}

impl SymbolKind {
    /// The stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Constant => "constant",
            Self::Parameter => "parameter",
            Self::Type => "type",
            Self::Variant => "value",
            Self::Field => "component",
            Self::Variable => "variable",
            Self::Timer => "timer",
            Self::Definition => "definition",
            Self::Channel => "channel",
            Self::Event => "event",
            Self::Process => "process",
            Self::Location => "location",
            Self::Action => "action",
            Self::Property => "property",
            Self::Bound => "bound name",
            Self::System => "system",
        }
    }
}

/// A use of a name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Reference {
    /// Where it is written.
    pub span: Span,
    /// What it means, by position.
    pub symbol: usize,
}

impl Analysis {
    /// The use of a name at an offset, its end included.
    #[must_use]
    pub fn reference_at(&self, offset: usize) -> Option<Reference> {
        // At the border of two names the second one is meant.
        let behind = self
            .references
            .partition_point(|r| r.span.start as usize <= offset);
        let last = self.references[..behind].last()?;
        (last.span.end as usize >= offset).then_some(*last)
    }

    /// All uses of a symbol, its declaration included.
    pub fn references_of(&self, symbol: usize) -> impl Iterator<Item = Span> + '_ {
        let uses = self.references.iter().filter(move |r| r.symbol == symbol);
        uses.map(|reference| reference.span)
    }

    /// What a text that was loaded consists of, for front ends that do not note what names mean: a
    /// name is known wherever it is written if only one thing has it.
    #[must_use]
    pub fn of_loaded(loaded: Loaded) -> Self {
        let text = loaded.sources.first().map_or("", |source| &source.text);
        let pieces = scan(text);
        let mut analysis = Self {
            comments: comments(&pieces),
            symbols: symbols_of(&loaded, text, &pieces),
            ..Self::default()
        };
        analysis.symbols.sort_by_key(|symbol| symbol.span.start);
        analysis.document(SourceId(0), text);

        for piece in pieces.iter().filter(|piece| piece.kind == PieceKind::Word) {
            let word = piece.text(text);
            let mut named =
                (0..analysis.symbols.len()).filter(|&n| analysis.symbols[n].name == word);
            if let (Some(symbol), None) = (named.next(), named.next()) {
                let span = piece.span();
                analysis.references.push(Reference { span, symbol });
            }
        }
        analysis.diagnostics = loaded.diagnostics;
        analysis.sources = loaded.sources;
        analysis
    }

    /// Takes the documentation of all symbols of a source from its comments: those in the lines directly
    /// above a declaration, else one at the end of its first line.
    pub fn document(&mut self, source: SourceId, text: &str) {
        for symbol in &mut self.symbols {
            if symbol.kind == SymbolKind::Bound || symbol.span.source != source {
                continue;
            }
            let start = text[..symbol.extent.start as usize]
                .rfind('\n')
                .map_or(0, |n| n + 1);
            let above = above(text, start, &self.comments);
            let end = text[symbol.span.end as usize..].find('\n');
            let end = end.map_or(text.len(), |n| symbol.span.end as usize + n);
            let in_line = |c: &&Span| (symbol.span.end as usize..end).contains(&(c.start as usize));
            let beside = self.comments.iter().find(in_line);
            symbol.documentation = if above.is_empty() {
                beside.map_or(String::new(), |span| plain(text, *span))
            } else {
                above
            };
        }
    }
}

/// The comments in the lines directly above an offset.
fn above(text: &str, line_start: usize, comments: &[Span]) -> String {
    let mut lines = Vec::new();
    let mut below = line_start;
    for comment in comments.iter().rev() {
        let (start, end) = (comment.start as usize, comment.end as usize);
        if end > below {
            continue;
        }
        let line = text[..start].rfind('\n').map_or(0, |n| n + 1);
        let alone = text[line..start].trim().is_empty();
        let adjacent =
            text[end..below].trim().is_empty() && text[end..below].matches('\n').count() == 1;
        if !alone || !adjacent {
            break;
        }
        lines.push(plain(text, *comment));
        below = line;
    }
    lines.reverse();
    lines.join("\n")
}

/// A comment without its marks.
fn plain(text: &str, span: Span) -> String {
    let comment = &text[span.start as usize..span.end as usize];
    let inner = match comment.strip_prefix("/*") {
        Some(inner) => inner.strip_suffix("*/").unwrap_or(inner),
        None => comment.trim_start_matches('/'),
    };
    inner.trim().to_owned()
}

/// What a model that was loaded consists of.
fn symbols_of(loaded: &Loaded, text: &str, pieces: &[Piece]) -> Vec<Symbol> {
    let mut symbols = Vec::new();
    let mut add = |kind, name: &str, span: Span, detail: String, owner| {
        let written = (span.source == SourceId(0)).then(|| word_at(text, pieces, name, span));
        // A question may be called by its text, which is not a name.
        let is_question = kind == SymbolKind::Property && span.source == SourceId(0);
        let written = written.flatten().or(is_question.then_some(span));
        if let Some(written) = written {
            symbols.push(Symbol {
                name: name.to_owned(),
                kind,
                span: written,
                extent: written.to(span),
                detail,
                documentation: String::new(),
                owner,
                parameters: Vec::new(),
            });
        }
    };

    if let Some(system) = loaded.systems().first() {
        let parts = system.model.parts();
        for process in &parts.processes {
            let range = process
                .index
                .map(|range| format!("{}..{}", range.lo, range.hi));
            add(
                SymbolKind::Process,
                &process.name,
                process.span,
                range.unwrap_or_default(),
                None,
            );
        }
        for var in &parts.vars {
            let owner = var.owner.map(|owner| &parts.processes[owner.index()].name);
            let detail = owner.map_or(String::new(), |owner| format!("of {owner}"));
            add(SymbolKind::Variable, &var.name, var.span, detail, None);
        }
        for channel in &parts.channels {
            let detail = format!("capacity {}", channel.capacity);
            add(
                SymbolKind::Channel,
                &channel.name,
                channel.span,
                detail,
                None,
            );
        }
        for event in &parts.events {
            add(
                SymbolKind::Event,
                &event.name,
                event.span,
                String::new(),
                None,
            );
        }
    }
    for question in &loaded.questions {
        let property = &question.property;
        add(
            SymbolKind::Property,
            &property.name,
            property.span,
            property.text.clone(),
            None,
        );
    }
    symbols
}

/// Where a name is written at or after the beginning of its declaration.
fn word_at(text: &str, pieces: &[Piece], name: &str, span: Span) -> Option<Span> {
    let from = pieces.partition_point(|piece| piece.start < span.start as usize);
    let near = pieces[from..].iter().take(8);
    let mut words = near.filter(|piece| piece.kind == PieceKind::Word);
    words
        .find(|piece| piece.text(text) == name)
        .map(Piece::span)
}

/// A part of a text, as all languages read it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Piece {
    /// What it is.
    pub kind: PieceKind,
    /// The offset of its first byte.
    pub start: usize,
    /// The offset behind its last byte.
    pub end: usize,
}

/// What a part of a text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PieceKind {
    /// A comment with its marks.
    Comment,
    /// A name or keyword.
    Word,
    /// Digits.
    Number,
    /// Characters between quotation marks.
    Quoted,
    /// One character of anything else but white space.
    Symbol,
}

impl Piece {
    /// How it is written in the text.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> &'t str {
        &text[self.start..self.end]
    }

    /// Where it is written.
    #[must_use]
    pub fn span(&self) -> Span {
        Span::new(SourceId(0), self.start, self.end)
    }
}

/// Where comments are written.
#[must_use]
pub fn comments(pieces: &[Piece]) -> Vec<Span> {
    let comments = pieces
        .iter()
        .filter(|piece| piece.kind == PieceKind::Comment);
    comments.map(Piece::span).collect()
}

/// Splits a text of any language into comments, words, numbers and other characters.
#[must_use]
pub fn scan(text: &str) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut start = 0;
    while let Some(first) = text[start..].chars().next() {
        let rest = &text[start..];
        let length_while = |fits: fn(char) -> bool| rest.find(|c| !fits(c)).unwrap_or(rest.len());
        let (kind, length) = if first.is_whitespace() {
            start += first.len_utf8();
            continue;
        } else if rest.starts_with("//") {
            (PieceKind::Comment, rest.find('\n').unwrap_or(rest.len()))
        } else if let Some(inner) = rest.strip_prefix("/*") {
            (
                PieceKind::Comment,
                inner.find("*/").map_or(rest.len(), |n| n + 4),
            )
        } else if first.is_alphabetic() || first == '_' {
            (
                PieceKind::Word,
                length_while(|c| c.is_alphanumeric() || c == '_' || c == '\''),
            )
        } else if first.is_ascii_digit() {
            (
                PieceKind::Number,
                length_while(|c| c.is_ascii_digit() || c == '_'),
            )
        } else if first == '"' {
            let line = &rest[1..rest.find('\n').unwrap_or(rest.len())];
            (PieceKind::Quoted, line.find('"').map_or(1, |n| n + 2))
        } else {
            (PieceKind::Symbol, first.len_utf8())
        };
        let end = start + length;
        pieces.push(Piece { kind, start, end });
        start = end;
    }
    pieces
}

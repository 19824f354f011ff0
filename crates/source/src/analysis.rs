//! What is known about the names of a text, for editors.

use std::collections::{BTreeMap, BTreeSet};

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
}

/// What a front end has found out about the names of a text, in any order.
#[derive(Clone, Debug, Default)]
pub struct Names {
    /// What the text declares.
    pub symbols: Vec<Symbol>,
    /// Where names are used, declarations included. A name may have several meanings: one inside of
    /// a macro means something else wherever the macro is used.
    pub references: Vec<Reference>,
    /// Parts of the text that were not read: behind an error, left out by a condition, or in a macro
    /// that is not used. A name in them means what is called so around them, else globally.
    pub unread: Vec<Span>,
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

    /// What is known about a text that was loaded, and about its names.
    #[must_use]
    pub fn of_names(mut names: Names, loaded: Loaded) -> Self {
        let text = loaded.sources.first().map_or("", |source| &source.text);
        let pieces = scan(text);
        names.add_questions(&loaded);
        names.sort();
        names.guess(text, &pieces);

        let Names {
            symbols,
            mut references,
            ..
        } = names;
        references.retain(|reference| {
            let span = reference.span;
            let written = text.get(span.start as usize..span.end as usize);
            span.source == SourceId(0) && written == Some(&symbols[reference.symbol].name)
        });
        references.sort_by_key(|reference| (reference.span.start, reference.symbol));
        references.dedup();

        let mut analysis = Self {
            symbols,
            references,
            comments: comments(&pieces),
            ..Self::default()
        };
        analysis.document(SourceId(0), text);
        analysis.diagnostics = loaded.diagnostics;
        analysis.sources = loaded.sources;
        analysis
    }

    /// All that a name means where it is written.
    pub fn meanings_at(&self, span: Span) -> impl Iterator<Item = usize> + '_ {
        let from = self
            .references
            .partition_point(|r| r.span.start < span.start);
        let here = self.references[from..].iter();
        here.take_while(move |r| r.span == span).map(|r| r.symbol)
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

    // From below: each comment must touch the code, or a comment that does.
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

impl Names {
    /// Adds questions that have no names in the text, such as the one about end states.
    fn add_questions(&mut self, loaded: &Loaded) {
        for question in &loaded.questions {
            let property = &question.property;
            let is_it = |s: &Symbol| s.kind == SymbolKind::Property && s.name == property.name;
            if property.span.source == SourceId(0) && !self.symbols.iter().any(is_it) {
                self.symbols.push(Symbol {
                    name: property.name.clone(),
                    kind: SymbolKind::Property,
                    span: property.span,
                    extent: property.span,
                    detail: property.text.clone(),
                    documentation: String::new(),
                    owner: None,
                    parameters: Vec::new(),
                });
            }
        }
    }

    /// Puts the symbols into the order of the text.
    fn sort(&mut self) {
        let mut order: Vec<usize> = (0..self.symbols.len()).collect();
        order.sort_by_key(|&old| self.symbols[old].span.start);
        let mut new_from_old = vec![0; order.len()];
        for (new, &old) in order.iter().enumerate() {
            new_from_old[old] = new;
        }

        self.symbols = order.iter().map(|&old| self.symbols[old].clone()).collect();
        for symbol in &mut self.symbols {
            symbol.owner = symbol.owner.map(|old| new_from_old[old]);
        }
        for reference in &mut self.references {
            reference.symbol = new_from_old[reference.symbol];
        }
    }

    /// Says what names mean in parts that were not read.
    pub fn guess(&mut self, text: &str, pieces: &[Piece]) {
        let known: BTreeSet<u32> = self.references.iter().map(|r| r.span.start).collect();
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (number, symbol) in self.symbols.iter().enumerate() {
            by_name.entry(&symbol.name).or_default().push(number);
        }

        let mut guessed = Vec::new();
        for piece in pieces.iter().filter(|piece| piece.kind == PieceKind::Word) {
            let span = piece.span();
            let contains = |outer: &Span| {
                outer.source == span.source && outer.start <= span.start && span.end <= outer.end
            };
            let Some(named) = by_name.get(piece.text(text)) else {
                continue;
            };
            if known.contains(&span.start) || !self.unread.iter().any(contains) {
                continue;
            }
            let owner = |symbol: usize| self.symbols[symbol].owner;
            let is_around =
                |s: &usize| owner(*s).is_some_and(|o| contains(&self.symbols[o].extent));
            let inner = named.iter().copied().find(is_around);
            let global = || named.iter().copied().find(|s| owner(*s).is_none());
            if let Some(symbol) = inner.or_else(global) {
                guessed.push(Reference { span, symbol });
            }
        }
        self.references.extend(guessed);
    }
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

//! What is known about the names of a text, for editors.
//!
//! What names mean is what the translation to a model found when it looked them up
//! (`lower/resolution.rs`); this module only says it by positions in the text. A text with errors is
//! translated as far as it was understood.

use base::{Diagnostic, Severity, Source, SourceId, Span};
use rustc_hash::FxHashMap;
use source::{
    Analysis, Files, Memory, Names, Options, Reference, Symbol, SymbolKind, comments, scan,
};

use crate::ast::{Decl, Def, File, Ident, ProcessDecl, Sources, SystemDecl, TimerDecl, VarDecl};
use crate::lower::{self, Resolved};
use crate::{MAX_BYTES, Parsed, import};

/// What is known about a text that imports nothing, also if something is wrong with it.
///
/// ```
/// let text = "var x : 0..3 = 0 process P { step when x < 3 { x := x + 1 } } property p: (";
/// let source = base::Source { name: "m.fair".into(), text: text.into() };
/// let analysis = lang::analyse(source, &source::Options::default());
/// assert_eq!(analysis.diagnostics.len(), 1);
/// let x = analysis.reference_at(text.find("x <").unwrap()).unwrap();
/// assert_eq!(analysis.symbols[x.symbol].detail, "0..3");
/// assert_eq!(analysis.references_of(x.symbol).count(), 4);
/// ```
#[must_use]
pub fn analyse(source: Source, options: &Options) -> Analysis {
    analyse_with(source, &Memory::default(), options)
}

/// What is known about a text, also if something is wrong with it. Imported files lie beside those that
/// import them in `files`.
#[must_use]
pub fn analyse_with(source: Source, files: &dyn Files, options: &Options) -> Analysis {
    if source.text.len() > MAX_BYTES {
        let loaded = crate::load_with(source, files, options);
        let diagnostics = loaded.diagnostics;
        return Analysis {
            diagnostics,
            ..Analysis::default()
        };
    }

    let mut said = Vec::new();
    let mut sources = vec![source];
    let file = import::read(files, &mut sources, &mut said);
    let parsed = Parsed {
        file,
        formulas: Vec::new(),
        sources,
        said,
        options: Options {
            defines: options.defines.clone(),
            ..Options::default()
        },
    };
    let failed = parsed.said.iter().any(|d| d.severity == Severity::Error);
    let mut said = parsed.said.clone();
    let free = parsed.free_parameters();
    let resolved = lower::resolve(&parsed.texts(&parsed.options), free, &mut said);

    // What the translation says about a text that was not understood as a whole follows from that.
    let mut diagnostics: Vec<Diagnostic> = if failed { parsed.said } else { said };
    base::cap_errors(&mut diagnostics);
    let mut collector = Collector::new(&parsed.sources, &parsed.file, &resolved);
    collector.file(&parsed.file);
    let analysis = collector.finish(diagnostics);
    Analysis {
        sources: parsed.sources,
        ..analysis
    }
}

/// Symbols and uses of names.
struct Collector<'a> {
    sources: &'a [Source],
    written: &'a FxHashMap<usize, Span>,
    resolved: &'a Resolved,
    symbols: Vec<Symbol>,
    /// Symbols by the addresses of the names that declare them.
    by_address: FxHashMap<usize, usize>,
    /// What is being declared.
    extent: Span,
    owner: Option<usize>,
    /// Definitions with parameters, which are not looked into unless something uses them.
    unread: Vec<Span>,
}

impl<'a> Collector<'a> {
    fn new(sources: &'a [Source], file: &'a File, resolved: &'a Resolved) -> Self {
        Self {
            sources,
            written: &file.written,
            resolved,
            symbols: Vec::new(),
            by_address: FxHashMap::default(),
            extent: Span::new(SourceId(0), 0, 0),
            owner: None,
            unread: Vec::new(),
        }
    }

    fn at(&self, span: Span) -> String {
        self.written_at(span)
            .split_whitespace()
            .collect::<Vec<_>>()
            .join(" ")
    }

    fn written_at(&self, span: Span) -> &'a str {
        let text = &self.sources[span.source.index()].text;
        let range = span.start as usize..span.end as usize;
        text.get(range).unwrap_or("")
    }

    /// Declares a name, unless its declaration means an earlier one, as a second step of an action.
    fn add(&mut self, kind: SymbolKind, name: &Ident, detail: String) -> usize {
        let address = name.text.as_ptr().addr();
        let earlier = self.resolved.declared.get(&address);
        if let Some(known) = earlier.and_then(|declared| self.by_address.get(declared)) {
            return *known;
        }

        let extent = match self.owner {
            Some(_) => name.span,
            None => self.extent,
        };

        self.symbols.push(Symbol {
            name: name.text.clone(),
            kind,
            span: name.span,
            extent,
            detail,
            documentation: String::new(),
            owner: self.owner,
            parameters: Vec::new(),
        });

        let symbol = self.symbols.len() - 1;
        self.by_address.insert(address, symbol);
        symbol
    }

    fn file(&mut self, file: &File) {
        for (decl, extent) in file.decls.iter().zip(&file.extents) {
            self.extent = *extent;
            self.owner = None;
            self.decl(decl);
        }
    }

    fn decl(&mut self, decl: &Decl) {
        match decl {
            Decl::Const { name, value, .. } => {
                let computed = self.resolved.values.get(&name.text.as_ptr().addr());
                let detail = computed.cloned().unwrap_or_else(|| self.at(value.span));
                self.add(SymbolKind::Constant, name, detail);
            }
            Decl::Param { name } => {
                self.add(SymbolKind::Parameter, name, "any number of them".to_owned());
            }
            Decl::DataParam { name, least } => {
                let detail = format!("at least {}", self.at(least.span));
                self.add(SymbolKind::Parameter, name, detail);
            }
            Decl::Type { name } => {
                self.add(SymbolKind::Type, name, String::new());
            }
            Decl::Enum { name, variants } => {
                let listed: Vec<&str> = variants.iter().map(|v| v.text.as_str()).collect();
                let ty = self.add(
                    SymbolKind::Type,
                    name,
                    format!("{{ {} }}", listed.join(", ")),
                );
                for variant in variants {
                    self.inside(ty, |c| {
                        c.add(SymbolKind::Variant, variant, name.text.clone())
                    });
                }
            }
            Decl::Record { name, fields } => {
                let ty = self.add(SymbolKind::Type, name, "record".to_owned());
                for (field, field_ty) in fields {
                    let detail = self.at(field_ty.span);
                    self.inside(ty, |c| c.add(SymbolKind::Field, field, detail));
                }
            }
            Decl::Var(decl) => self.variables(decl),
            Decl::Timer(decl) => self.timers(decl),
            Decl::Def(def) => self.definition(def),
            Decl::Chan(decl) => {
                let payload: Vec<String> = decl.payload.iter().map(|ty| self.at(ty.span)).collect();
                let detail = format!("of {}", payload.join(", "));
                self.add(SymbolKind::Channel, &decl.name, detail);
            }
            Decl::Event { name, arguments } => {
                let types: Vec<String> = arguments.iter().map(|ty| self.at(ty.span)).collect();
                let event = self.add(SymbolKind::Event, name, types.join(", "));
                self.symbols[event].parameters = types;
            }
            Decl::Process(decl) => self.process(decl),
            Decl::Property(decl) => {
                let detail = self.at(self.extent);
                self.add(SymbolKind::Property, &decl.name, detail);
            }
            Decl::System(decl) => self.system(decl),
            Decl::Abstract(decl) => {
                let rankings = decl.rankings.iter().map(|(name, _, expr)| (name, expr));
                let others = decl.predicates.iter().chain(&decl.invariants);
                for (name, expr) in others.map(|(name, expr)| (name, expr)).chain(rankings) {
                    let detail = self.at(expr.span);
                    self.add(SymbolKind::Definition, name, detail);
                }
            }
            Decl::Import(_)
            | Decl::Init(_)
            | Decl::Synchronous
            | Decl::Fairness(..)
            | Decl::Assume(_)
            | Decl::Interference(..)
            | Decl::View(_) => {}
        }
    }

    /// Declares names that belong to a symbol.
    fn inside<T>(&mut self, owner: usize, declare: impl FnOnce(&mut Self) -> T) -> T {
        let outer = self.owner.replace(owner);
        let result = declare(self);
        self.owner = outer;
        result
    }

    fn variables(&mut self, decl: &VarDecl) {
        for name in &decl.names {
            let detail = self.at(decl.ty.span);
            self.add(SymbolKind::Variable, name, detail);
        }
    }

    fn timers(&mut self, decl: &TimerDecl) {
        let detail = match &decl.threshold {
            Some(threshold) => format!("abstract from {}", self.at(threshold.span)),
            None => String::new(),
        };
        for name in decl.vars.iter().flat_map(|var| &var.names) {
            self.add(SymbolKind::Timer, name, detail.clone());
        }
    }

    fn definition(&mut self, def: &Def) {
        let detail = self.at(def.body.span);
        let symbol = self.add(SymbolKind::Definition, &def.name, detail);
        let parameters = def.parameters.iter().map(|p| p.text.clone());
        self.symbols[symbol].parameters = parameters.collect();
        let extent = def.name.span.to(def.body.span);
        self.symbols[symbol].extent = self.symbols[symbol].extent.to(extent);
        self.unread.push(extent);
        self.inside(symbol, |c| {
            for parameter in &def.parameters {
                c.add(SymbolKind::Bound, parameter, "parameter".to_owned());
            }
        });
    }

    fn process(&mut self, decl: &ProcessDecl) {
        let indices = decl.indices.iter().map(|(name, lo, hi)| {
            let domain = self.at(lo.span.to(hi.span));
            format!("{} in {domain}", name.text)
        });
        let detail = indices.collect::<Vec<_>>().join(", ");
        let process = self.add(SymbolKind::Process, &decl.name, detail);
        self.inside(process, |c| c.process_body(decl));
    }

    fn process_body(&mut self, decl: &ProcessDecl) {
        for (name, lo, hi) in &decl.indices {
            let detail = self.at(lo.span.to(hi.span));
            self.add(SymbolKind::Bound, name, detail);
        }
        for var in &decl.vars {
            self.variables(var);
        }
        for timer in &decl.timers {
            self.timers(timer);
        }
        for def in &decl.defs {
            self.definition(def);
        }

        let sources = decl.blocks.iter().flat_map(|block| match &block.sources {
            Sources::Named(names) => names.as_slice(),
            Sources::All | Sources::Implicit => &[],
        });
        let ends = decl.ends.iter().flat_map(|ends| &ends.names);
        for name in decl.initial.iter().chain(sources).chain(ends) {
            self.add(SymbolKind::Location, name, format!("of {}", decl.name.text));
        }
        for step in decl.blocks.iter().flat_map(|block| &block.steps) {
            let action = self.add(
                SymbolKind::Action,
                &step.name,
                format!("of {}", decl.name.text),
            );
            self.inside(action, |c| {
                for binder in &step.parameters {
                    let detail = c.at(binder.lo.span.to(binder.hi.span));
                    for name in &binder.names {
                        c.add(SymbolKind::Bound, name, detail.clone());
                    }
                }
            });
        }
    }

    fn system(&mut self, decl: &SystemDecl) {
        let system = self.add(SymbolKind::System, &decl.name, String::new());
        self.inside(system, |c| {
            for state in &decl.states {
                c.add(SymbolKind::Location, state, "state".to_owned());
            }
            for (name, _) in &decl.propositions {
                c.add(SymbolKind::Variable, name, "proposition".to_owned());
            }
            for property in &decl.properties {
                let detail = c.at(property.formula.span);
                c.add(SymbolKind::Property, &property.name, detail);
            }
        });
    }

    /// Adds names that are bound somewhere, and says where all names are used.
    fn finish(mut self, diagnostics: Vec<Diagnostic>) -> Analysis {
        self.bound_names();
        let mut references: Vec<Reference> = Vec::new();
        for (address, &span) in self.written {
            let declared = self.resolved.declared.get(address).unwrap_or(address);
            if let Some(&symbol) = self.by_address.get(declared)
                && span.source == SourceId(0)
                && self.written_at(span) == self.symbols[symbol].name
            {
                references.push(Reference { span, symbol });
            }
        }

        // In parts that were not understood, names are told apart by their spelling.
        let text = &self.sources[0].text;
        let pieces = scan(text);
        let mut names = Names {
            symbols: self.symbols,
            references,
            unread: self.unread,
        };
        names.guess(text, &pieces);
        let Names {
            symbols,
            mut references,
            ..
        } = names;

        references.sort_by_key(|reference| reference.span.start);
        references.dedup_by_key(|reference| reference.span);

        let mut analysis = Analysis {
            symbols,
            references,
            diagnostics,
            ..Analysis::default()
        };
        for (position, source) in self.sources.iter().enumerate().rev() {
            analysis.comments = comments(&scan(&source.text));
            analysis.document(SourceId::new(position), &source.text);
        }
        analysis
    }

    fn bound_names(&mut self) {
        let mut bound: Vec<(u32, usize)> = Vec::new();
        for declared in self.resolved.declared.values() {
            if let Some(span) = self.written.get(declared)
                && !self.by_address.contains_key(declared)
            {
                bound.push((span.start, *declared));
            }
        }

        // Hash order must not decide which symbol comes first.
        bound.sort_unstable();
        bound.dedup();

        for (_, address) in bound {
            let span = self.written[&address];
            let extent = span;
            self.symbols.push(Symbol {
                name: self.at(span),
                kind: SymbolKind::Bound,
                span,
                extent,
                detail: String::new(),
                documentation: String::new(),
                owner: None,
                parameters: Vec::new(),
            });
            self.by_address.insert(address, self.symbols.len() - 1);
        }
    }
}

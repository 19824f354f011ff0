//! What the names of a text mean, for editors.
//!
//! Processes are run with their arguments, so the same name stands for many values. Where it is
//! declared depends on the text alone: locals and parameters first, then what is global, as in
//! `value.rs`; which names a receive binds is what [`binder`] says. Events are declared by being
//! written: the first place counts.

use std::collections::HashMap;

use base::{SourceId, Span};
use source::{Names, Reference, Symbol, SymbolKind};

use super::ast::{
    Action, AssertionClaim, ChannelUse, EventSpec, Expr, ExprKind, ExprRef, Formula, Ident,
    IndexDef, IndexValues, MacroBody, Prefix, Proc, ProcKind, ProcessUse, RecordItem, Spec, Stmt,
    StmtKind, VarDecl, VarInit,
};
use super::declared::visit_atoms;
use super::lexer::Name;
use super::ranges::binder;
use super::scope::{Scope, Ty};
use super::text_at;

/// What the names of a text mean, `has_errors` if parts of it were not understood.
pub(crate) fn names(
    spec: &Spec,
    scope: &Scope,
    sources: &[base::Source],
    has_errors: bool,
) -> Names {
    let mut walk = NameWalk {
        scope,
        sources,
        names: Names::default(),
        globals: HashMap::new(),
        events: HashMap::new(),
        locals: Vec::new(),
        owner: None,
    };

    walk.declarations(spec);
    walk.spec(spec);

    if has_errors {
        let whole = Span::new(SourceId(0), 0, sources[0].text.len());
        walk.names.unread.push(whole);
    }

    walk.names
}

/// A symbol by position; nothing if it is declared in another file.
type Found = Option<usize>;

struct NameWalk<'a> {
    scope: &'a Scope,
    sources: &'a [base::Source],
    names: Names,
    globals: HashMap<Name, Found>,
    events: HashMap<Name, Found>,
    /// Parameters, indices, received values and local variables, innermost last.
    locals: Vec<(Name, Found)>,
    /// What is being declared.
    owner: Found,
}

impl NameWalk<'_> {
    fn add(&mut self, kind: SymbolKind, name: &Ident, extent: Span, detail: String) -> Found {
        if name.span.source != SourceId(0) {
            return None;
        }
        self.names.symbols.push(Symbol {
            name: name.text.to_string(),
            kind,
            span: name.span,
            extent: name.span.to(extent),
            detail,
            documentation: String::new(),
            owner: self.owner,
            parameters: Vec::new(),
        });
        let symbol = self.names.symbols.len() - 1;
        self.refer(name.span, Some(symbol));
        Some(symbol)
    }

    fn refer(&mut self, span: Span, found: Found) {
        if let Some(symbol) = found {
            self.names.references.push(Reference { span, symbol });
        }
    }

    fn global(&mut self, kind: SymbolKind, name: &Ident, extent: Span, detail: String) -> Found {
        let symbol = self.add(kind, name, extent, detail);
        self.globals.entry(name.text.clone()).or_insert(symbol);
        symbol
    }

    fn bind(&mut self, name: &Ident, detail: String) {
        let symbol = self.add(SymbolKind::Bound, name, name.span, detail);
        self.locals.push((name.text.clone(), symbol));
    }

    fn take_parameters(&mut self, symbol: Found, parameters: &[Ident]) {
        if let Some(symbol) = symbol {
            let listed = parameters.iter().map(|p| p.text.to_string());
            self.names.symbols[symbol].parameters = listed.collect();
        }
    }

    /// Everything global, because it may be used before it is declared.
    fn declarations(&mut self, spec: &Spec) {
        for constants in &spec.enums {
            for (value, name) in constants.iter().enumerate() {
                self.global(SymbolKind::Variant, name, name.span, format!("= {value}"));
            }
        }

        for decl in &spec.macros {
            let value = self.scope.constants.get(&decl.name.text);
            let (detail, extent) = match (&decl.body, value) {
                (MacroBody::Expr(body), Some((value, ty))) => (shown(*value, *ty), body.span),
                (MacroBody::Expr(body), None) => (text_at(body.span, self.sources), body.span),
                (MacroBody::Block(_), _) => ("a program".to_owned(), decl.name.span),
            };
            let is_value = decl.parameters.is_empty() && matches!(decl.body, MacroBody::Expr(_));
            let kind = if is_value {
                SymbolKind::Constant
            } else {
                SymbolKind::Definition
            };
            let symbol = self.global(kind, &decl.name, extent, detail);
            self.take_parameters(symbol, &decl.parameters);
        }

        for decl in &spec.vars {
            let detail = self.values(&decl.name.text);
            self.global(SymbolKind::Variable, &decl.name, decl.name.span, detail);
        }
        for decl in &spec.channels {
            let position = self.scope.channel_by_name.get(&decl.name.text);
            let detail = match position.map(|position| &self.scope.channels[*position]) {
                Some(channel) => format!("of size {}", channel.size),
                None => String::new(),
            };
            self.global(SymbolKind::Channel, &decl.name, decl.size.span, detail);
        }
        for decl in &spec.processes {
            let (kind, extent) = (SymbolKind::Process, decl.body.span);
            let symbol = self.global(kind, &decl.name, extent, String::new());
            self.take_parameters(symbol, &decl.parameters);
        }
    }

    /// Which values a variable has.
    fn values(&self, name: &Name) -> String {
        let Some(position) = self.scope.var_by_name.get(name) else {
            return String::new();
        };
        let var = &self.scope.vars[*position];
        let values = match (var.range, var.ty) {
            (Some((lo, hi)), _) => format!("{lo}..{hi}"),
            (None, Ty::Bool) => "bool".to_owned(),
            (None, Ty::Int | Ty::Any) => "int".to_owned(),
        };
        let sizes: Vec<String> = var.dimensions.iter().map(ToString::to_string).collect();
        if sizes.is_empty() {
            values
        } else {
            format!("array[{}] of {values}", sizes.join(", "))
        }
    }

    fn spec(&mut self, spec: &Spec) {
        for expr in &spec.ranges {
            self.expr(expr);
        }

        for decl in &spec.macros {
            let owner = self.globals.get(&decl.name.text).copied().flatten();
            self.inside(owner, |walk| {
                for parameter in &decl.parameters {
                    walk.bind(parameter, "parameter".to_owned());
                }
                match &decl.body {
                    MacroBody::Expr(body) => walk.expr(body),
                    MacroBody::Block(program) => walk.statements(program),
                }
            });
        }

        for decl in &spec.vars {
            self.variable(decl);
        }
        for decl in &spec.channels {
            self.exprs(decl.count.as_slice());
            self.expr(&decl.size);
        }

        for decl in &spec.processes {
            let owner = self.globals.get(&decl.name.text).copied().flatten();
            self.inside(owner, |walk| {
                for parameter in &decl.parameters {
                    walk.bind(parameter, "parameter".to_owned());
                }
                walk.process(&decl.body);
            });
        }
        for decl in &spec.alphabets {
            self.alphabet(&decl.process, &decl.events);
        }
        for decl in &spec.assertions {
            self.process_use(&decl.process);
            self.claim(&decl.claim);
        }
    }

    /// Walks over something whose names end with it.
    fn inside(&mut self, owner: Found, walk: impl FnOnce(&mut Self)) {
        let outer = std::mem::replace(&mut self.owner, owner);
        self.scoped(walk);
        self.owner = outer;
    }

    fn scoped(&mut self, walk: impl FnOnce(&mut Self)) {
        let n_locals = self.locals.len();
        walk(self);
        self.locals.truncate(n_locals);
    }

    fn variable(&mut self, decl: &VarDecl) {
        self.exprs(&decl.dimensions);
        if let Some((lo, hi)) = &decl.range {
            self.exprs(lo.as_slice());
            self.exprs(hi.as_slice());
        }

        match &decl.init {
            VarInit::Default | VarInit::Any(_) => {}
            VarInit::Value(value) => self.expr(value),
            VarInit::Record(items, _) => {
                for item in items {
                    match item {
                        RecordItem::Repeat(value, count) => {
                            self.expr(value);
                            self.exprs(count.as_slice());
                        }
                        RecordItem::Range(from, to) => {
                            self.expr(from);
                            self.expr(to);
                        }
                    }
                }
            }
        }
    }

    /// Parameters of the process may occur in its alphabet.
    fn alphabet(&mut self, process: &Ident, events: &[EventSpec]) {
        let found = self.globals.get(&process.text).copied().flatten();
        self.refer(process.span, found);
        self.scoped(|walk| {
            let owned = |symbol: &usize| walk.names.symbols[*symbol].owner == found;
            let parameters = (0..walk.names.symbols.len()).filter(owned);
            let parameters = parameters.filter(|s| {
                let symbol = &walk.names.symbols[*s];
                found.is_some() && symbol.detail == "parameter"
            });
            let named = |s: usize| (walk.names.symbols[s].name.as_str().into(), Some(s));
            let parameters: Vec<(Name, Found)> = parameters.map(named).collect();
            walk.locals.extend(parameters);
            walk.events(events);
        });
    }

    fn events(&mut self, events: &[EventSpec]) {
        for event in events {
            self.scoped(|walk| {
                walk.indices(&event.indices);
                walk.event(&event.name);
                walk.exprs(&event.arguments);
            });
        }
    }

    fn indices(&mut self, indices: &[IndexDef]) {
        for index in indices {
            let detail = match &index.values {
                IndexValues::Range(lo, hi) => {
                    self.expr(lo);
                    self.expr(hi);
                    text_at(lo.span.to(hi.span), self.sources)
                }
                IndexValues::List(list) => {
                    self.exprs(list);
                    String::new()
                }
            };
            self.bind(&index.name, detail);
        }
    }

    /// An event where it may be declared.
    fn event(&mut self, name: &Ident) {
        match self.events.get(&name.text) {
            Some(found) => {
                let found = *found;
                self.refer(name.span, found);
            }
            None => {
                let outer = self.owner.take();
                let symbol = self.add(SymbolKind::Event, name, name.span, String::new());
                self.owner = outer;
                self.events.insert(name.text.clone(), symbol);
            }
        }
    }

    fn channel(&mut self, channel: &ChannelUse) {
        let found = self.globals.get(&channel.name.text).copied().flatten();
        self.refer(channel.name.span, found);
        self.exprs(channel.index.as_slice());
    }

    fn process_use(&mut self, used: &ProcessUse) {
        let found = self.globals.get(&used.name.text).copied().flatten();
        self.refer(used.name.span, found);
        self.exprs(&used.arguments);
    }

    fn claim(&mut self, claim: &AssertionClaim) {
        match claim {
            AssertionClaim::DeadlockFree
            | AssertionClaim::NonTerminating
            | AssertionClaim::DivergenceFree
            | AssertionClaim::Deterministic => {}
            AssertionClaim::Reaches(goal, value) => {
                self.expr(goal);
                value.iter().for_each(|(_, value)| self.expr(value));
            }
            AssertionClaim::Ltl(formula) => {
                let mut atoms = Vec::new();
                visit_atoms(formula, &mut |atom| atoms.push(atom.clone()));
                atoms.iter().for_each(|atom| self.atom(atom));
            }
            AssertionClaim::Refines(_, other) => self.process_use(other),
        }
    }

    /// A proposition, or an event with its values, or the name of one in quotation marks.
    fn atom(&mut self, atom: &Formula) {
        match atom {
            Formula::Name(name, arguments) => {
                let is_state = self.scope.macros.contains_key(&name.text)
                    || self.scope.constants.contains_key(&name.text)
                    || self.scope.var_by_name.contains_key(&name.text);
                self.proposition(name, arguments.is_empty() && is_state);
                self.exprs(arguments);
            }
            Formula::Quoted(text, span) => {
                let inner = text.trim_start();
                let start = span.start as usize + 1 + (text.len() - inner.len());
                let is_part = |c: char| c.is_ascii_alphanumeric() || c == '_';
                let length = inner.find(|c| !is_part(c)).unwrap_or(inner.len());
                let name = Ident {
                    text: inner[..length].into(),
                    span: Span::new(span.source, start, start + length),
                };
                self.proposition(&name, false);
            }
            _ => {}
        }
    }

    fn proposition(&mut self, name: &Ident, is_state: bool) {
        let is_channel = self.scope.channel_by_name.contains_key(&name.text);
        let found = match self.events.get(&name.text) {
            Some(event) if !is_state => *event,
            _ if is_state || is_channel => self.globals.get(&name.text).copied().flatten(),
            _ => None,
        };
        self.refer(name.span, found);
    }

    fn process(&mut self, proc: &Proc) {
        match &proc.kind {
            ProcKind::Stop | ProcKind::Skip => {}
            ProcKind::Assert(expr) => self.expr(expr),
            ProcKind::Call(name, arguments) => {
                let object = name.text.split('.').next().unwrap_or(&name.text);
                let found = self.globals.get(object).copied().flatten();
                self.refer(name.span, found);
                self.exprs(arguments);
            }
            ProcKind::Prefix(prefixes, rest) => self.scoped(|walk| {
                for prefix in prefixes {
                    walk.prefix(prefix);
                }
                walk.process(rest);
            }),
            ProcKind::If(_, condition, then, otherwise) => {
                self.expr(condition);
                self.process(then);
                otherwise.iter().for_each(|body| self.process(body));
            }
            ProcKind::Case(branches, default) => {
                for (condition, body) in branches {
                    self.expr(condition);
                    self.process(body);
                }
                default.iter().for_each(|body| self.process(body));
            }
            ProcKind::Guard(condition, body) => {
                self.expr(condition);
                self.process(body);
            }
            ProcKind::Atomic(body) => self.process(body),
            ProcKind::Hide(body, events) => {
                self.process(body);
                self.events(events);
            }
            ProcKind::Seq(a, b) | ProcKind::Interrupt(a, b) => {
                self.process(a);
                self.process(b);
            }
            ProcKind::Choice(_, parts)
            | ProcKind::Interleave(parts)
            | ProcKind::Parallel(parts) => parts.iter().for_each(|part| self.process(part)),
            ProcKind::Indexed(_, indices, body) => self.scoped(|walk| {
                walk.indices(indices);
                walk.process(body);
            }),
            ProcKind::Replicated(count, body) => {
                self.exprs(count.as_slice());
                self.process(body);
            }
        }
    }

    /// What a prefix receives is known in its condition, its program and afterwards.
    fn prefix(&mut self, prefix: &Prefix) {
        match &prefix.action {
            Action::Tau => {}
            Action::Event(name, arguments) => {
                self.event(name);
                self.exprs(arguments);
            }
            Action::Send(channel, values) => {
                self.channel(channel);
                self.exprs(values);
            }
            Action::Receive(channel, condition, patterns) => {
                self.channel(channel);
                for pattern in patterns {
                    match binder(self.scope, pattern) {
                        Some(name) => {
                            let name = Ident {
                                text: name.clone(),
                                span: pattern.span,
                            };
                            self.bind(&name, format!("received from {}", channel.name.text));
                        }
                        None => self.expr(pattern),
                    }
                }
                self.exprs(condition.as_slice());
            }
        }
        if let Some(program) = &prefix.program {
            self.statements(program);
        }
    }

    fn statements(&mut self, statements: &[Stmt]) {
        self.scoped(|walk| {
            for statement in statements {
                walk.statement(statement);
            }
        });
    }

    fn statement(&mut self, statement: &Stmt) {
        match &statement.kind {
            StmtKind::Empty | StmtKind::Clear(_) | StmtKind::Fail(_) => {}
            StmtKind::Block(inner) => self.statements(inner),
            StmtKind::LocalArray(name, sizes, value) => {
                self.exprs(sizes);
                self.exprs(value.as_slice());
                self.bind(name, "local to the program".to_owned());
            }
            StmtKind::LocalObject(decl) => {
                self.exprs(&decl.arguments);
                self.bind(&decl.name, "local to the program".to_owned());
            }
            StmtKind::Local(name, value) => {
                self.exprs(value.as_slice());
                self.bind(name, "local to the program".to_owned());
            }
            StmtKind::If(condition, then, otherwise) => {
                self.expr(condition);
                self.scoped(|walk| walk.statement(then));
                if let Some(otherwise) = otherwise {
                    self.scoped(|walk| walk.statement(otherwise));
                }
            }
            StmtKind::While(condition, body) => {
                self.expr(condition);
                self.scoped(|walk| walk.statement(body));
            }
            StmtKind::Expr(expr) => self.expr(expr),
        }
    }

    fn exprs(&mut self, list: &[ExprRef]) {
        for expr in list {
            self.expr(expr);
        }
    }

    fn expr(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Bool(_) => {}
            ExprKind::Name(name) => self.value(name, expr.span),
            ExprKind::Index(name, indices) => {
                self.value(name, expr.span);
                self.exprs(indices);
            }
            ExprKind::Not(inner) | ExprKind::Neg(inner) | ExprKind::Increment(inner, _) => {
                self.expr(inner);
            }
            ExprKind::Binary(_, left, right) | ExprKind::Assign(left, right) => {
                self.expr(left);
                self.expr(right);
            }
            ExprKind::Indexed(_, indices, body) => self.scoped(|walk| {
                walk.indices(indices);
                walk.expr(body);
            }),
            ExprKind::Call(name, arguments) => {
                let object = name.text.split('.').next().unwrap_or(&name.text);
                let found = self.globals.get(object).copied().flatten();
                self.refer(name.span, found);
                self.exprs(arguments);
            }
        }
    }

    /// A name at the start of an expression.
    fn value(&mut self, name: &Name, span: Span) {
        let name = name.split('.').next().unwrap_or(name);
        let local = self.locals.iter().rev().find(|(local, _)| **local == *name);
        let found = match local {
            Some((_, found)) => *found,
            None => self.globals.get(name).copied().flatten(),
        };
        let start = span.start as usize;
        self.refer(Span::new(span.source, start, start + name.len()), found);
    }
}

fn shown(value: i64, ty: Ty) -> String {
    match ty {
        Ty::Bool => (value != 0).to_string(),
        Ty::Int | Ty::Any => value.to_string(),
    }
}

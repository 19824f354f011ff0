//! What the names of a text mean, for editors.
//!
//! A name is identified by the address of its text: all copies of a token share it, also those that
//! macros and inlines put elsewhere. Lookups note which declaration they have found ([`Notes`]), so
//! there is one resolution of names. Here everything is looked up once, also what never runs and
//! what is left of a text with errors.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

use base::{Diagnostic, SourceId, Span};
use source::{Names, Reference, Symbol, SymbolKind};

use super::ast::{Argument, Expr, ExprKind, Init, Program, Stmt, VarRef};
use super::flow::{self, Body, ElementKind, Flow, Leaf, Target};
use super::preprocess::Seen;
use super::symbols::{Context, GLOBAL, Symbols, Ty, Var};

/// Which declarations names were found to mean, by the addresses of both.
#[derive(Clone, Debug, Default)]
pub(crate) struct Notes(RefCell<BTreeSet<(usize, usize)>>);

impl Notes {
    /// A name was looked up, and its declaration was found.
    pub(crate) fn found(&self, name: &str, declared: &str) {
        self.0
            .borrow_mut()
            .insert((address(name), address(declared)));
    }
}

fn address(name: &str) -> usize {
    name.as_ptr().addr()
}

/// What stands outside of all processes.
const OUTSIDE: Context = Context {
    scope: GLOBAL,
    order: u32::MAX,
    owner: None,
};

/// What the names of a text mean. `parsed` is what reading it has found, `has_errors` whether parts
/// of it were not understood.
pub(crate) fn names(
    program: &Program,
    seen: &Seen,
    parsed: &Notes,
    text: &str,
    has_errors: bool,
) -> Names {
    // What is wrong is said when the text is loaded.
    let mut said = Vec::new();
    let mut symbols = Symbols::new(program, &mut said);
    let flows = flows(program, &mut symbols, &mut said);
    let walk = NameWalk {
        program,
        symbols: &symbols,
        flows: &flows,
    };
    walk.program();

    let mut collector = Collector::new(text, seen);
    collector.macros();
    collector.declarations(program, &symbols);
    collector.bodies(program, &symbols, &flows);
    collector.finish(&[&seen.notes, parsed, &symbols.notes], has_errors)
}

/// The control flow of all processes, claims and traces, in this order.
fn flows(program: &Program, symbols: &mut Symbols, said: &mut Vec<Diagnostic>) -> Vec<Flow> {
    let mut flows = Vec::new();
    let mut add =
        |statements: &[Stmt], end, (scope, owner), symbols: &mut Symbols, said: &mut _| {
            let body = Body {
                statements,
                end,
                scope,
                owner,
                is_claim: owner.is_none(),
            };
            flows.push(flow::elements(&body, &program.remote_labels, symbols, said));
        };

    for (position, process) in program.processes.iter().enumerate() {
        let (scope, _) = symbols.declare_parameters(process, position, said);
        let place = (scope, Some(position));
        add(&process.body, process.end, place, symbols, said);
    }
    for claim in &program.claims {
        add(&claim.body, claim.end, (GLOBAL, None), symbols, said);
    }
    for trace in &program.traces {
        add(&trace.body, trace.end, (GLOBAL, None), symbols, said);
    }
    flows
}

/// Looks everything up.
struct NameWalk<'a> {
    program: &'a Program,
    symbols: &'a Symbols,
    flows: &'a [Flow],
}

impl NameWalk<'_> {
    fn program(&self) {
        for var in &self.symbols.vars {
            let context = Context {
                scope: var.scope,
                order: var.order,
                owner: var.owner,
            };
            self.initial(&var.init, context);
        }
        for field in self.symbols.structs.iter().flat_map(|(_, fields)| fields) {
            self.initial(&field.init, OUTSIDE);
        }

        for process in &self.program.processes {
            let clauses = [&process.active, &process.priority, &process.provided];
            for expr in clauses.into_iter().flatten() {
                self.expr(expr, OUTSIDE);
            }
        }
        for formula in &self.program.formulas {
            self.expr(&formula.body, OUTSIDE);
        }
        for flow in self.flows {
            self.flow(flow);
        }

        for subtype in &self.program.subtypes {
            let mut declared = self
                .program
                .mtypes
                .iter()
                .filter_map(|m| m.subtype.as_ref());
            if let Some(declared) = declared.find(|declared| *declared == subtype) {
                self.symbols.notes.found(subtype, declared);
            }
        }
    }

    fn initial(&self, init: &Init, context: Context) {
        match init {
            Init::Zero => {}
            Init::Value(value) => self.expr(value, context),
            Init::List(values) => self.exprs(values, context),
            Init::Channel { capacity, fields } => {
                self.expr(capacity, context);
                for (ty, span) in fields {
                    self.symbols.resolve_type(ty, *span, &mut Vec::new());
                }
            }
        }
    }

    fn flow(&self, flow: &Flow) {
        for element in &flow.elements {
            match &element.kind {
                ElementKind::Leaf(leaf) => self.leaf(leaf, element.context),
                ElementKind::Goto(Target::Label(label)) if flow.jumps.is_none() => {
                    self.label(label, flow);
                }
                ElementKind::Goto(_)
                | ElementKind::Dot
                | ElementKind::Choice(_)
                | ElementKind::Unless(_)
                | ElementKind::Block(_)
                | ElementKind::DStep(_)
                | ElementKind::End => {}
            }
        }
        for (goto, label) in flow.jumps.iter().flatten() {
            self.symbols.notes.found(goto, label);
        }
    }

    fn label(&self, label: &Rc<str>, flow: &Flow) {
        if let Some((_, declared)) = flow.label(label) {
            self.symbols.notes.found(label, declared);
        }
    }

    fn leaf(&self, leaf: &Leaf, context: Context) {
        match leaf {
            Leaf::Condition(expr) | Leaf::Assert(expr) => self.expr(expr, context),
            Leaf::Assign(var, value) | Leaf::SetTimer(var, value) => {
                self.var(var, context);
                self.expr(value, context);
            }
            Leaf::SetPriority(pid, value) => {
                self.expr(pid, context);
                self.expr(value, context);
            }
            Leaf::Send {
                channel, arguments, ..
            } => {
                self.var(channel, context);
                self.exprs(arguments, context);
            }
            Leaf::Receive {
                channel, arguments, ..
            } => {
                self.var(channel, context);
                self.arguments(arguments, context);
            }
            Leaf::Print(printed) => self.exprs(&printed.values, context),
            Leaf::Clear(_) | Leaf::Else => {}
        }
    }

    fn exprs(&self, exprs: &[Expr], context: Context) {
        for expr in exprs {
            self.expr(expr, context);
        }
    }

    fn arguments(&self, arguments: &[Argument], context: Context) {
        for argument in arguments {
            match argument {
                Argument::Store(var) => self.var(var, context),
                Argument::Match(expr) => self.expr(expr, context),
            }
        }
    }

    fn expr(&self, expr: &Expr, context: Context) {
        match &expr.kind {
            ExprKind::Int(_) | ExprKind::Timeout | ExprKind::NonProgress => {}
            ExprKind::Var(var)
            | ExprKind::Probe(_, var)
            | ExprKind::Expired(var)
            | ExprKind::IsOff(var) => self.var(var, context),
            ExprKind::Unary(_, inner) | ExprKind::Enabled(inner) | ExprKind::Priority(inner) => {
                self.expr(inner, context);
            }
            ExprKind::Binary(_, left, right) => {
                self.expr(left, context);
                self.expr(right, context);
            }
            ExprKind::Cond(condition, then, otherwise) => {
                for part in [condition, then, otherwise] {
                    self.expr(part, context);
                }
            }
            ExprKind::Run {
                name,
                arguments,
                priority,
            } => {
                self.process(name);
                self.exprs(arguments, context);
                priority.iter().for_each(|expr| self.expr(expr, context));
            }
            ExprKind::Poll {
                channel, arguments, ..
            } => {
                self.var(channel, context);
                self.arguments(arguments, context);
            }
            ExprKind::RemoteLabel {
                process,
                pid,
                label,
            } => {
                pid.iter().for_each(|expr| self.expr(expr, context));
                if let Some(proctype) = self.process(process) {
                    self.label(label, &self.flows[proctype]);
                }
            }
            ExprKind::RemoteVar { process, pid, var } => {
                pid.iter().for_each(|expr| self.expr(expr, context));
                let proctype = self.process(process);
                let root = proctype.and_then(|p| self.symbols.find_local(p, &var.parts[0].name));
                self.parts(var, root, context);
            }
        }
    }

    fn process(&self, name: &Rc<str>) -> Option<usize> {
        let proctype = self.program.proctype(name)?;
        let declared = &self.program.processes[proctype].name;
        self.symbols.notes.found(name, declared);
        Some(proctype)
    }

    fn var(&self, var: &VarRef, context: Context) {
        let name = &var.parts[0].name;
        // Constants and names with a meaning of their own come first, as in the translation.
        let is_special = matches!(&**name, "_pid" | "_nr_pr" | "_last" | "_priority" | "_");
        let root = if self.symbols.mtype(name).is_some() || is_special {
            None
        } else {
            self.symbols.lookup(name, context)
        };
        self.parts(var, root, context);
    }

    /// Fields and indices of a variable.
    fn parts(&self, var: &VarRef, root: Option<usize>, context: Context) {
        let mut ty = root.map(|root| self.symbols.vars[root].ty);
        for (position, part) in var.parts.iter().enumerate() {
            if position > 0 {
                ty = match ty {
                    Some(Ty::Struct(index)) => {
                        let field = self.symbols.find_field(index, &part.name);
                        field.map(|at| self.symbols.structs[index].1[at].ty)
                    }
                    _ => None,
                };
            }
            part.index
                .iter()
                .for_each(|index| self.expr(index, context));
        }
    }
}

/// Collects symbols and references.
struct Collector<'a> {
    text: &'a str,
    seen: &'a Seen,
    /// Where names are written, by their addresses.
    written: BTreeMap<usize, Span>,
    names: Names,
    /// Symbols by the addresses of the names that declare them.
    by_address: BTreeMap<usize, usize>,
}

impl<'a> Collector<'a> {
    fn new(text: &'a str, seen: &'a Seen) -> Self {
        let words = seen.words.iter();
        Self {
            text,
            seen,
            written: words.map(|(name, span)| (address(name), *span)).collect(),
            names: Names::default(),
            by_address: BTreeMap::new(),
        }
    }

    fn slice(&self, start: u32, end: u32) -> String {
        let text = self.text.get(start as usize..end as usize).unwrap_or("");
        text.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    /// Declares a name, unless it is not written in this text or is known: what an inline declares is
    /// declared wherever the inline is called.
    fn add(
        &mut self,
        kind: SymbolKind,
        name: &Rc<str>,
        (extent, detail): (Span, String),
        owner: Option<usize>,
    ) -> Option<usize> {
        if let Some(known) = self.by_address.get(&address(name)) {
            return Some(*known);
        }
        let span = *self.written.get(&address(name))?;
        let is_whole = extent.source == span.source && extent.start <= span.start;
        self.names.symbols.push(Symbol {
            name: name.to_string(),
            kind,
            span,
            extent: if is_whole { extent.to(span) } else { span },
            detail,
            documentation: String::new(),
            owner,
            parameters: Vec::new(),
        });
        let symbol = self.names.symbols.len() - 1;
        self.by_address.insert(address(name), symbol);
        Some(symbol)
    }

    fn parameters(&mut self, symbol: Option<usize>, parameters: &[Rc<str>]) {
        let Some(symbol) = symbol else { return };
        let listed = parameters.iter().map(ToString::to_string);
        self.names.symbols[symbol].parameters = listed.collect();
        for parameter in parameters {
            let place = (Span::nowhere(), "parameter".to_owned());
            self.add(SymbolKind::Bound, parameter, place, Some(symbol));
        }
    }

    fn macros(&mut self) {
        for (defined, extent) in &self.seen.macros {
            let kind = if defined.parameters.is_empty() {
                SymbolKind::Constant
            } else {
                SymbolKind::Definition
            };
            let behind = defined.parameters.last().unwrap_or(&defined.name);
            let behind = self
                .written
                .get(&address(behind))
                .map_or(0, |span| span.end);
            let body = self.slice(behind, extent.end);
            let body = body.trim_start_matches([' ', ')']).replace("\\ ", "");
            let symbol = self.add(kind, &defined.name, (*extent, body), None);
            self.parameters(symbol, &defined.parameters);
            self.names.unread.push(*extent);
        }
    }

    fn declarations(&mut self, program: &Program, symbols: &Symbols) {
        for mtype in &program.mtypes {
            for (name, span) in &mtype.names {
                let value = symbols.mtypes.get(name).copied().unwrap_or(0);
                let of = mtype
                    .subtype
                    .as_ref()
                    .map_or(String::new(), |s| format!(":{s}"));
                let detail = format!("= {value} of mtype{of}");
                self.add(SymbolKind::Variant, name, (*span, detail), None);
            }
            if let Some(subtype) = &mtype.subtype {
                let place = (Span::nowhere(), "of mtype".to_owned());
                self.add(SymbolKind::Type, subtype, place, None);
            }
        }
        for typedef in &program.typedefs {
            let place = (typedef.span, "typedef".to_owned());
            let ty = self.add(SymbolKind::Type, &typedef.name, place, None);
            let fields = symbols
                .structs
                .iter()
                .find(|(name, _)| *name == typedef.name);
            for field in fields.into_iter().flat_map(|(_, fields)| fields) {
                let detail = type_text(field.ty, symbols);
                self.add(
                    SymbolKind::Field,
                    &field.name,
                    (Span::nowhere(), detail),
                    ty,
                );
            }
        }

        for inline in &program.inlines {
            let place = (inline.span, String::new());
            let symbol = self.add(SymbolKind::Definition, &inline.name, place, None);
            self.parameters(symbol, &inline.parameters);
            self.names.unread.push(inline.span);
        }
        for formula in &program.formulas {
            if let Some(name) = &formula.name {
                let span = formula.body.span;
                let detail = self.slice(span.start, span.end);
                self.add(SymbolKind::Property, name, (formula.span, detail), None);
            }
        }
        for claim in &program.claims {
            if let Some(name) = &claim.name {
                let place = (claim.span, "no run satisfies the claim".to_owned());
                self.add(SymbolKind::Property, name, place, None);
            }
        }
    }

    /// Processes, and what bodies declare.
    fn bodies(&mut self, program: &Program, symbols: &Symbols, flows: &[Flow]) {
        let mut owners = Vec::new();
        for process in &program.processes {
            let parameters: Vec<Rc<str>> =
                process.parameters.iter().map(|p| p.name.clone()).collect();
            let extent = process.span.to(process.end);
            if process.is_init {
                self.written.insert(address(&process.name), process.span);
            }
            let place = (extent, String::new());
            let owner = self.add(SymbolKind::Process, &process.name, place, None);
            if let Some(owner) = owner {
                let listed = parameters.iter().map(ToString::to_string);
                self.names.symbols[owner].parameters = listed.collect();
                self.names.symbols[owner].extent = extent;
            }
            owners.push(owner);
        }

        for var in &symbols.vars {
            let process = var.owner.and_then(|position| owners[position]);
            let owner = self.inline_around(&var.name).or(process);
            let kind = match var.ty {
                Ty::Chan => SymbolKind::Channel,
                Ty::Timer => SymbolKind::Timer,
                _ => SymbolKind::Variable,
            };
            let detail = self.variable_text(var, symbols);
            self.add(kind, &var.name, (var.span, detail), owner);
        }
        for (position, flow) in flows.iter().enumerate() {
            let process = owners.get(position).copied().flatten();
            let of_elements = flow.elements.iter().flat_map(|element| &element.labels);
            for label in of_elements.chain(&flow.written_labels) {
                let owner = self.inline_around(label).or(process);
                let of = match program.processes.get(position) {
                    Some(process) => format!("of {}", process.name),
                    None => "of a claim".to_owned(),
                };
                let detail = format!("{of}{}", role(label));
                self.add(
                    SymbolKind::Location,
                    label,
                    (Span::nowhere(), detail),
                    owner,
                );
            }
        }
    }

    /// The inline in whose body a name is written.
    fn inline_around(&self, name: &Rc<str>) -> Option<usize> {
        let at = self.written.get(&address(name))?;
        let contains = |symbol: &Symbol| {
            symbol.kind == SymbolKind::Definition
                && symbol.extent.start <= at.start
                && at.end <= symbol.extent.end
        };
        self.names.symbols.iter().position(contains)
    }

    fn variable_text(&self, var: &Var, symbols: &Symbols) -> String {
        let written = self.written.get(&address(&var.name));
        let rest = written.map_or(String::new(), |at| self.slice(at.end, var.span.end));
        format!("{}{rest}", type_text(var.ty, symbols))
    }

    /// Says what all names mean that lookups have found, and where text was not read.
    fn finish(mut self, notes: &[&Notes], has_errors: bool) -> Names {
        for (&name, &symbol) in &self.by_address {
            let span = self.written[&name];
            self.names.references.push(Reference { span, symbol });
        }
        for notes in notes {
            for (name, declared) in notes.0.borrow().iter() {
                if let (Some(&span), Some(&symbol)) =
                    (self.written.get(name), self.by_address.get(declared))
                {
                    self.names.references.push(Reference { span, symbol });
                }
            }
        }

        self.names.unread.extend(&self.seen.skipped);
        let asked = self.seen.asked.iter();
        let asked = asked.filter_map(|name| self.written.get(&address(name)));
        self.names.unread.extend(asked);
        if has_errors {
            self.names
                .unread
                .push(Span::new(SourceId(0), 0, self.text.len()));
        }
        self.names
    }
}

/// What properties see in a label.
fn role(label: &str) -> &'static str {
    if label.starts_with("end") {
        ", a valid end"
    } else if label.starts_with("accept") {
        ", to be left in the end"
    } else if label.starts_with("progress") {
        ", to be passed again and again"
    } else {
        ""
    }
}

/// A type, and the values that it has.
fn type_text(ty: Ty, symbols: &Symbols) -> String {
    let range = || {
        let (lo, hi) = ty.bounds();
        format!(" ({lo}..{hi})")
    };
    match ty {
        Ty::Struct(index) => symbols.structs[index].0.to_string(),
        Ty::Unsigned(width) => format!("unsigned : {width}{}", range()),
        Ty::Byte | Ty::Short | Ty::Int => format!("{}{}", ty.name(), range()),
        Ty::Bit | Ty::Bool | Ty::Mtype | Ty::Chan | Ty::Timer => ty.name().to_owned(),
    }
}

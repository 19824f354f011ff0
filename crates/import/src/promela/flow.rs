//! Control flow: the locations of a process and the statements that lead from one to the next.
//!
//! State counts can equal Spin's only if locations are Spin's. So this module builds the same
//! graph: every statement is an element; selections, loops, `unless` and sequences in braces are
//! elements of their own, whose steps are those of the statements that can come first in them;
//! `goto`, `break` and the ends of selections are passed through when looking for the next location
//! (G.J. Holzmann, *The Spin Model Checker*, 2003, chapter 6; Spin's `flow.c` and `pangen1.c` define
//! the details).

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Diagnostic, Span};

use super::ast::{Argument, Binary, Expr, ExprKind, Init, Part, Stmt, StmtKind, VarDecl, VarRef};
use super::symbols::{Context, Symbols, Ty};

/// A statement that is a step by itself.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    Condition(Expr),
    Assign(VarRef, Expr),
    /// Sets a whole variable (by position) to zero where it is declared.
    Clear(usize),
    SetTimer(VarRef, Expr),
    Send {
        channel: VarRef,
        arguments: Vec<Expr>,
        sorted: bool,
    },
    Receive {
        channel: VarRef,
        arguments: Vec<Argument>,
        any: bool,
        peek: bool,
    },
    Else,
    Assert(Expr),
    Print,
}

/// Elements in a row.
#[derive(Clone, Debug, Default)]
pub(crate) struct Sequence {
    elements: Vec<usize>,
    first: usize,
    last: usize,
}

/// What an element is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Leaf(Leaf),
    /// To a label, or to the end of a loop.
    Goto(Target),
    /// The end of a selection: passed through.
    Dot,
    /// `if` or `do`.
    Choice(Vec<Sequence>),
    Unless(Sequence),
    /// `{ … }` or `atomic { … }`.
    Block(Sequence),
    DStep(Sequence),
    /// The end of the process.
    End,
}

/// Where a jump leads.
#[derive(Clone, Debug)]
pub(crate) enum Target {
    Label(Rc<str>),
    Element(usize),
}

/// An element.
#[derive(Clone, Debug)]
pub(crate) struct Element {
    pub(crate) kind: Kind,
    next: Option<usize>,
    pub(crate) labels: Vec<Rc<str>>,
    pub(crate) in_atomic: bool,
    pub(crate) in_d_step: bool,
    /// First elements of the escapes that cover it, outermost first.
    escapes: Vec<usize>,
    pub(crate) context: Context,
    pub(crate) span: Span,
}

/// The control flow of a process or claim.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) elements: Vec<Element>,
    /// Where the process starts.
    pub(crate) start: usize,
}

/// A step that leaves a location.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Exit {
    /// The element that is executed.
    pub(crate) element: usize,
    /// The location afterwards; nothing after the end of the process.
    pub(crate) target: Option<usize>,
    /// Zero, or the escape that it belongs to. Exits of an escape are possible only if none of the
    /// escapes before it is, and ordinary exits only if no escape is.
    pub(crate) escape: usize,
}

/// Where statements are being added.
#[derive(Clone, Copy)]
struct Place {
    scope: usize,
    owner: Option<usize>,
    in_atomic: bool,
    in_d_step: bool,
    /// Are declarations still initialised when the process starts?
    at_start: bool,
    break_target: Option<usize>,
}

struct Builder<'a> {
    elements: Vec<Element>,
    sequences: Vec<Sequence>,
    symbols: &'a mut Symbols,
    remote_labels: &'a BTreeSet<Rc<str>>,
    is_claim: bool,
    diagnostics: &'a mut Vec<Diagnostic>,
}

/// What a flow is built from.
pub(crate) struct Body<'a> {
    pub(crate) statements: &'a [Stmt],
    pub(crate) end: Span,
    pub(crate) scope: usize,
    pub(crate) owner: Option<usize>,
    pub(crate) is_claim: bool,
}

/// Builds the control flow of a body; declares its variables.
pub(crate) fn build(
    body: &Body<'_>,
    remote_labels: &BTreeSet<Rc<str>>,
    symbols: &mut Symbols,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Flow> {
    let n_errors = diagnostics.len();
    let mut builder = Builder {
        elements: Vec::new(),
        sequences: Vec::new(),
        symbols,
        remote_labels,
        is_claim: body.is_claim,
        diagnostics,
    };
    let place = Place {
        scope: body.scope,
        owner: body.owner,
        in_atomic: false,
        in_d_step: false,
        at_start: true,
        break_target: None,
    };
    let mut place_now = place;
    builder.sequences.push(Sequence::default());
    builder.statements(body.statements, &mut place_now);
    let end = builder.new_element(Kind::End, place, body.end);
    builder.append(end);
    let sequence = builder.sequences.pop().expect("it was pushed");
    builder.tie_loose_ends();
    let elements = builder.elements;
    let flow = Flow {
        start: sequence.first,
        elements,
    };
    flow.check_jumps(diagnostics);
    let failed = diagnostics[n_errors..]
        .iter()
        .any(|d| d.severity == base::Severity::Error);
    (!failed).then(|| Flow {
        start: flow.hunt(flow.start),
        ..flow
    })
}

impl Builder<'_> {
    fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(code, span, message));
    }

    fn new_element(&mut self, kind: Kind, place: Place, span: Span) -> usize {
        self.elements.push(Element {
            kind,
            next: None,
            labels: Vec::new(),
            in_atomic: place.in_atomic,
            in_d_step: place.in_d_step,
            escapes: Vec::new(),
            context: Context {
                scope: place.scope,
                order: self.symbols.now(),
                owner: place.owner,
            },
            span,
        });
        self.elements.len() - 1
    }

    fn append(&mut self, element: usize) {
        let sequence = self.sequences.last_mut().expect("a sequence is open");
        append(&mut self.elements, sequence, element);
    }

    /// A sequence of its own; at least one element.
    fn sequence(&mut self, statements: &[Stmt], mut place: Place, span: Span) -> Sequence {
        place.at_start = false;
        self.sequences.push(Sequence::default());
        self.statements(statements, &mut place);
        if self
            .sequences
            .last()
            .expect("it was pushed")
            .elements
            .is_empty()
        {
            self.error(
                "syntax",
                span,
                "a sequence must have at least one statement",
            );
            let skip = Kind::Leaf(Leaf::Condition(int(1, span)));
            let element = self.new_element(skip, place, span);
            self.append(element);
        }
        self.sequences.pop().expect("it was pushed")
    }

    fn statements(&mut self, statements: &[Stmt], place: &mut Place) {
        for statement in statements {
            if let StmtKind::Declare(declared) = &statement.kind {
                for decl in declared {
                    self.declare(decl, *place);
                }
            } else {
                self.statement(statement, &[], *place);
                place.at_start = false;
            }
        }
    }

    /// A declaration after the first statement is a step that sets the variable.
    fn declare(&mut self, decl: &VarDecl, place: Place) {
        let is_step = !place.at_start
            && decl.ty != super::ast::TypeName::Timer
            && match decl.init {
                Init::Zero => true,
                Init::Value(_) => decl.length.is_none(),
                Init::List(_) | Init::Channel { .. } => false,
            };
        let diagnostics = &mut *self.diagnostics;
        let declared = self
            .symbols
            .declare(decl, place.scope, place.owner, !is_step, diagnostics);
        let Some(var) = declared else { return };
        if !is_step {
            return;
        }
        let leaf = match &decl.init {
            Init::Value(value) => {
                let name = decl.name.clone();
                let part = Part {
                    name,
                    index: None,
                    span: decl.span,
                };
                let target = VarRef {
                    parts: vec![part],
                    span: decl.span,
                };
                Leaf::Assign(target, value.clone())
            }
            _ => Leaf::Clear(var),
        };
        let element = self.new_element(Kind::Leaf(leaf), place, decl.span);
        self.append(element);
    }

    /// Adds a statement that carries labels.
    fn statement(&mut self, statement: &Stmt, labels: &[Rc<str>], place: Place) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Label(name, inner) => {
                let mut all = labels.to_vec();
                all.push(name.clone());
                self.statement(inner, &all, place);
            }
            StmtKind::Declare(_) => {
                self.error("syntax", span, "a declaration cannot stand here");
            }
            StmtKind::Spliced(inner) => {
                let scope = self.symbols.open(place.scope);
                let mut inner_place = Place { scope, ..place };
                self.statements(inner, &mut inner_place);
            }
            StmtKind::If(options) => self.choice(options, false, labels, place, span),
            StmtKind::Do(options) => self.choice(options, true, labels, place, span),
            StmtKind::For { .. } | StmtKind::ForIn { .. } | StmtKind::Select { .. } => {
                self.desugared(statement, labels, place);
            }
            StmtKind::Unless(main, escape) => self.unless(main, escape, labels, place, span),
            StmtKind::Block(inner) => {
                let scope = self.symbols.open(place.scope);
                let sequence = self.sequence(inner, Place { scope, ..place }, span);
                self.labelled(Kind::Block(sequence), labels, place, span);
            }
            StmtKind::Atomic(inner) => {
                let scope = self.symbols.open(place.scope);
                let in_atomic = true;
                let inner_place = Place {
                    scope,
                    in_atomic,
                    ..place
                };
                let sequence = self.sequence(inner, inner_place, span);
                self.refuse_label_at_start(&sequence, "atomic");
                self.labelled(Kind::Block(sequence), labels, place, span);
            }
            StmtKind::DStep(inner) => self.d_step(inner, labels, place, span),
            StmtKind::Break => self.jump_out(labels, place, span),
            StmtKind::Goto(label) => {
                self.goto(Target::Label(label.clone()), labels, place, span);
            }
            other => {
                let leaf = leaf_of(other);
                self.labelled(Kind::Leaf(leaf), labels, place, span);
            }
        }
    }

    fn labelled(&mut self, kind: Kind, labels: &[Rc<str>], place: Place, span: Span) -> usize {
        let element = self.new_element(kind, place, span);
        self.elements[element].labels = labels.to_vec();
        self.append(element);
        element
    }

    fn jump_out(&mut self, labels: &[Rc<str>], place: Place, span: Span) {
        match place.break_target {
            Some(target) => self.goto(Target::Element(target), labels, place, span),
            None => {
                let message = "`break` outside of a loop";
                let diagnostic = Diagnostic::error("syntax", span, message);
                let help = "`break` leaves the `do` around it; `if` is left by itself";
                self.diagnostics.push(diagnostic.help(help));
            }
        }
    }

    /// A jump. A label that somebody looks at makes it a step.
    fn goto(&mut self, target: Target, labels: &[Rc<str>], place: Place, span: Span) {
        let is_seen = |label: &Rc<str>| is_special(label) || self.remote_labels.contains(label);
        if labels.iter().any(is_seen) {
            let skip = Kind::Leaf(Leaf::Condition(int(1, span)));
            self.labelled(skip, labels, place, span);
            self.labelled(Kind::Goto(target), &[], place, span);
        } else {
            self.labelled(Kind::Goto(target), labels, place, span);
        }
    }

    fn refuse_label_at_start(&mut self, sequence: &Sequence, what: &str) {
        let element = &self.elements[sequence.first];
        if let Some(label) = element.labels.first() {
            let message = format!("the label `{label}` cannot stand at the start of a `{what}`");
            let diagnostic = Diagnostic::error("syntax", element.span, message);
            let help = format!("write `{label}: {what} {{ … }}`");
            self.diagnostics.push(diagnostic.help(help));
        }
    }

    fn d_step(&mut self, inner: &[Stmt], labels: &[Rc<str>], place: Place, span: Span) {
        let scope = self.symbols.open(place.scope);
        let inner_place = Place {
            scope,
            in_d_step: true,
            break_target: place.break_target,
            ..place
        };
        let sequence = self.sequence(inner, inner_place, span);
        self.refuse_label_at_start(&sequence, "d_step");
        // Inside a d_step another one is only a sequence.
        let kind = match place.in_d_step {
            true => Kind::Block(sequence),
            false => Kind::DStep(sequence),
        };
        self.labelled(kind, labels, place, span);
    }

    fn choice(
        &mut self,
        options: &[Vec<Stmt>],
        is_loop: bool,
        labels: &[Rc<str>],
        mut place: Place,
        span: Span,
    ) {
        place.at_start = false;
        let choice = self.new_element(Kind::Dot, place, span);
        let dot = self.new_element(Kind::Dot, place, span);
        let exit = is_loop.then(|| self.new_element(Kind::Dot, place, span));
        let inner_place = Place {
            break_target: exit.or(place.break_target),
            ..place
        };
        let mut sequences: Vec<Sequence> = options
            .iter()
            .map(|option| self.sequence(option, inner_place, span))
            .collect();
        self.move_else(&mut sequences, span);
        for sequence in &mut sequences {
            if !self.is_claim {
                self.prune_skips(sequence);
            }
            link(&mut self.elements, sequence, dot);
        }
        self.elements[choice].kind = Kind::Choice(sequences);
        self.elements[choice].labels = labels.to_vec();
        if let Some(exit) = exit {
            self.append(dot);
            self.append(choice);
            self.append(exit);
        } else {
            self.append(choice);
            self.append(dot);
        }
    }

    /// `else` is tried last.
    fn move_else(&mut self, sequences: &mut [Sequence], span: Span) {
        let is_else = |sequence: &Sequence| {
            matches!(self.elements[sequence.first].kind, Kind::Leaf(Leaf::Else))
        };
        let n_else = sequences.iter().filter(|s| is_else(s)).count();
        sequences.sort_by_key(is_else);
        if n_else > 1 {
            self.error("syntax", span, "a selection has at most one `else`");
        }
    }

    /// Of unlabelled `skip`s in a row inside an option, Spin keeps one.
    fn prune_skips(&mut self, sequence: &mut Sequence) {
        let mut n_skips = 0;
        let elements = sequence.elements.clone();
        let mut kept: Vec<usize> = Vec::new();
        for (position, &element) in elements.iter().enumerate() {
            let described = &self.elements[element];
            let (skips, prints) = match &described.kind {
                Kind::Leaf(Leaf::Print) => (true, true),
                Kind::Leaf(Leaf::Condition(expr)) => (matches!(expr.kind, ExprKind::Int(1)), false),
                _ => (false, false),
            };
            n_skips = match skips && described.labels.is_empty() {
                true => n_skips + 1,
                false => 0,
            };
            let is_inside = position > 0 && position + 1 < elements.len();
            if n_skips > 1 && !prints && is_inside {
                let before = *kept.last().expect("it is not the first");
                self.elements[before].next = described.next;
            } else {
                kept.push(element);
            }
        }
        sequence.elements = kept;
    }

    fn unless(
        &mut self,
        main: &Stmt,
        escape: &Stmt,
        labels: &[Rc<str>],
        mut place: Place,
        span: Span,
    ) {
        place.at_start = false;
        if place.in_d_step {
            self.error("syntax", span, "`unless` has no meaning inside a `d_step`");
        }
        // A label in front belongs to the whole.
        let mut all = labels.to_vec();
        let mut main = main;
        while let StmtKind::Label(name, inner) = &main.kind {
            all.push(name.clone());
            main = inner;
        }
        let wrapped = !all.is_empty();
        if wrapped {
            self.sequences.push(Sequence::default());
        }
        let parts = |statement: &Stmt| match &statement.kind {
            StmtKind::Block(inner) => (inner.clone(), true),
            _ => (vec![statement.clone()], false),
        };
        let element = self.new_element(Kind::Dot, place, span);
        let dot = self.new_element(Kind::Dot, place, span);
        let sequence_of = |builder: &mut Self, statement: &Stmt| {
            let (inner, is_block) = parts(statement);
            let scope = match is_block {
                true => builder.symbols.open(place.scope),
                false => place.scope,
            };
            builder.sequence(&inner, Place { scope, ..place }, statement.span)
        };
        let mut normal = sequence_of(self, main);
        let mut exception = sequence_of(self, escape);
        let covered = normal.clone();
        link(&mut self.elements, &mut normal, dot);
        link(&mut self.elements, &mut exception, dot);
        self.attach(&covered, exception.first, &exception);
        self.elements[element].kind = Kind::Unless(normal);
        self.append(element);
        self.append(dot);
        if wrapped {
            let sequence = self.sequences.pop().expect("it was pushed");
            self.labelled(Kind::Block(sequence), &all, place, span);
        }
    }

    /// Covers all elements of a sequence by an escape.
    fn attach(&mut self, sequence: &Sequence, escape: usize, whole: &Sequence) {
        for &element in &sequence.elements.clone() {
            self.attach_to(element, escape, whole);
        }
    }

    fn attach_to(&mut self, element: usize, escape: usize, whole: &Sequence) {
        if self.elements[element].escapes.contains(&escape) {
            return;
        }
        let inner_escapes = self.elements[element].escapes.clone();
        for inner in inner_escapes {
            self.attach_along(inner, escape, whole);
        }
        self.elements[element].escapes.insert(0, escape);
        match self.elements[element].kind.clone() {
            Kind::Unless(sequence) | Kind::Block(sequence) => {
                self.attach(&sequence, escape, whole);
            }
            Kind::Choice(sequences) => {
                for sequence in &sequences {
                    self.attach(sequence, escape, whole);
                }
            }
            Kind::DStep(sequence) => self.attach_to(sequence.first, escape, whole),
            Kind::Leaf(_) | Kind::Goto(_) | Kind::Dot | Kind::End => {}
        }
    }

    /// Covers an inner escape, from its first element to the end of its sequence.
    fn attach_along(&mut self, first: usize, escape: usize, whole: &Sequence) {
        let mut at = Some(first);
        let mut n_seen = 0;
        while let Some(element) = at {
            if matches!(self.elements[element].kind, Kind::Dot) || n_seen > self.elements.len() {
                break;
            }
            n_seen += 1;
            self.attach_to(element, escape, whole);
            at = self.elements[element].next;
        }
    }

    /// `for` and `select` as the loops that they stand for.
    fn desugared(&mut self, statement: &Stmt, labels: &[Rc<str>], place: Place) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::For {
                var,
                from,
                to,
                body,
            } => self.counting(var, from, (Binary::Le, to), body, labels, place),
            StmtKind::Select { var, from, to } => {
                self.selection(var, from, to, labels, place, span);
            }
            StmtKind::ForIn { var, within, body } => {
                self.for_in(var, within, body, labels, place, span);
            }
            _ => unreachable!("only loops are desugared"),
        }
    }

    fn counting(
        &mut self,
        var: &VarRef,
        from: &Expr,
        (compare, to): (Binary, &Expr),
        body: &[Stmt],
        labels: &[Rc<str>],
        place: Place,
    ) {
        let span = var.span;
        self.statement(&assign(var, from.clone(), span), &[], place);
        let test = binary(compare, read(var), to.clone(), span);
        let next = binary(Binary::Add, read(var), int(1, span), span);
        let looping = vec![
            stmt(StmtKind::Condition(test), span),
            stmt(StmtKind::Spliced(body.to_vec()), span),
            assign(var, next, span),
        ];
        let leaving = vec![stmt(StmtKind::Else, span), stmt(StmtKind::Break, span)];
        self.choice(&[looping, leaving], true, labels, place, span);
    }

    /// A choice of any value. Spin writes narrow ranges of numbers out as options.
    fn selection(
        &mut self,
        var: &VarRef,
        from: &Expr,
        to: &Expr,
        labels: &[Rc<str>],
        place: Place,
        span: Span,
    ) {
        let is_plain = var.parts.len() == 1 && var.parts[0].index.is_none();
        if let (ExprKind::Int(a), ExprKind::Int(b), true) = (&from.kind, &to.kind, is_plain)
            && a <= b
            && b - a <= 32
        {
            let options: Vec<Vec<Stmt>> = (*a..=*b)
                .map(|value| vec![assign(var, int(value, span), span)])
                .collect();
            self.choice(&options, false, labels, place, span);
            return;
        }
        self.statement(&assign(var, from.clone(), span), &[], place);
        let test = binary(Binary::Lt, read(var), to.clone(), span);
        let next = binary(Binary::Add, read(var), int(1, span), span);
        let leaving = vec![stmt(StmtKind::Break, span)];
        let looping = vec![
            stmt(StmtKind::Condition(test), span),
            assign(var, next, span),
        ];
        self.choice(&[leaving, looping], true, labels, place, span);
    }

    /// Over the indices of an array, or over the messages of a channel by rotating it once.
    fn for_in(
        &mut self,
        var: &VarRef,
        within: &VarRef,
        body: &[Stmt],
        labels: &[Rc<str>],
        place: Place,
        span: Span,
    ) {
        let context = Context {
            scope: place.scope,
            order: self.symbols.now(),
            owner: place.owner,
        };
        let found = self.symbols.resolve(within, context, "variable");
        let index = match found {
            Ok(index) => index,
            Err(diagnostic) => {
                self.diagnostics.push(diagnostic);
                return;
            }
        };
        let (ty, mut length) = (self.symbols.vars[index].ty, self.symbols.vars[index].length);
        if within.parts.len() > 1 {
            length = self.field_length(ty, &within.parts[1..]);
        }
        let is_element = within.parts.last().is_some_and(|part| part.index.is_some());
        if let Some(length) = length.filter(|_| !is_element) {
            let last = i64::try_from(length).unwrap_or(i64::MAX) - 1;
            let to = int(last, span);
            self.counting(var, &int(0, span), (Binary::Le, &to), body, labels, place);
            return;
        }
        if ty != Ty::Chan {
            let message = "`for (x in y)` needs an array or a channel";
            self.error("wrong-type", within.span, message);
            return;
        }
        let counter = VarDecl {
            name: "_for".into(),
            ty: super::ast::TypeName::Byte,
            length: None,
            init: Init::List(Vec::new()),
            span,
        };
        let scope = self.symbols.open(place.scope);
        let place = Place { scope, ..place };
        let diagnostics = &mut *self.diagnostics;
        self.symbols
            .declare(&counter, scope, place.owner, true, diagnostics);
        let part = Part {
            name: "_for".into(),
            index: None,
            span,
        };
        let counter = VarRef {
            parts: vec![part],
            span,
        };
        let mut rotated = vec![
            stmt(
                StmtKind::Receive {
                    channel: within.clone(),
                    arguments: vec![Argument::Store(var.clone())],
                    any: false,
                    peek: false,
                },
                span,
            ),
            stmt(
                StmtKind::Send {
                    channel: within.clone(),
                    arguments: vec![read(var)],
                    sorted: false,
                },
                span,
            ),
        ];
        rotated.push(stmt(StmtKind::Spliced(body.to_vec()), span));
        let length = Expr {
            kind: ExprKind::Probe(super::ast::Probe::Len, within.clone()),
            span,
        };
        self.counting(
            &counter,
            &int(0, span),
            (Binary::Lt, &length),
            &rotated,
            labels,
            place,
        );
    }

    fn field_length(&self, ty: Ty, parts: &[Part]) -> Option<usize> {
        let Ty::Struct(index) = ty else { return None };
        let fields = &self.symbols.structs[index].1;
        let field = fields.iter().find(|field| field.name == parts[0].name)?;
        match parts {
            [_] => field.length,
            _ => self.field_length(field.ty, &parts[1..]),
        }
    }

    /// The last element of a block goes on where the block does.
    fn tie_loose_ends(&mut self) {
        for position in (0..self.elements.len()).rev() {
            let (Kind::Block(sequence) | Kind::DStep(sequence)) = &self.elements[position].kind
            else {
                continue;
            };
            let (last, next) = (sequence.last, self.elements[position].next);
            if self.elements[last].next.is_none() {
                self.elements[last].next = next;
            }
        }
    }
}

fn append(elements: &mut [Element], sequence: &mut Sequence, element: usize) {
    match sequence.elements.last() {
        None => sequence.first = element,
        Some(_) => elements[sequence.last].next = Some(element),
    }
    sequence.elements.push(element);
    sequence.last = element;
}

/// Goes on with an element that is not part of the sequence.
fn link(elements: &mut [Element], sequence: &mut Sequence, element: usize) {
    elements[sequence.last].next = Some(element);
    sequence.last = element;
}

fn leaf_of(kind: &StmtKind) -> Leaf {
    match kind.clone() {
        StmtKind::Condition(expr) => Leaf::Condition(expr),
        StmtKind::Assign(var, expr) => Leaf::Assign(var, expr),
        StmtKind::SetTimer(var, expr) => Leaf::SetTimer(var, expr),
        StmtKind::Send {
            channel,
            arguments,
            sorted,
        } => Leaf::Send {
            channel,
            arguments,
            sorted,
        },
        StmtKind::Receive {
            channel,
            arguments,
            any,
            peek,
        } => Leaf::Receive {
            channel,
            arguments,
            any,
            peek,
        },
        StmtKind::Else => Leaf::Else,
        StmtKind::Assert(expr) => Leaf::Assert(expr),
        StmtKind::Print => Leaf::Print,
        _ => unreachable!("composite statements are handled before"),
    }
}

fn stmt(kind: StmtKind, span: Span) -> Stmt {
    Stmt { kind, span }
}

fn int(value: i64, span: Span) -> Expr {
    let kind = ExprKind::Int(value);
    Expr { kind, span }
}

fn read(var: &VarRef) -> Expr {
    Expr {
        kind: ExprKind::Var(var.clone()),
        span: var.span,
    }
}

fn binary(op: Binary, left: Expr, right: Expr, span: Span) -> Expr {
    let kind = ExprKind::Binary(op, Box::new(left), Box::new(right));
    Expr { kind, span }
}

fn assign(var: &VarRef, value: Expr, span: Span) -> Stmt {
    stmt(StmtKind::Assign(var.clone(), value), span)
}

/// Labels that properties look at.
pub(crate) fn is_special(label: &str) -> bool {
    label.starts_with("accept") || label.starts_with("end") || label.starts_with("progress")
}

impl Flow {
    /// The element that carries a label.
    pub(crate) fn find_label(&self, label: &str) -> Option<usize> {
        let has = |element: &Element| element.labels.iter().any(|other| **other == *label);
        self.elements.iter().position(has)
    }

    fn destination(&self, target: &Target) -> Option<usize> {
        match target {
            Target::Element(element) => Some(*element),
            Target::Label(label) => self.find_label(label),
        }
    }

    /// Every jump must have a destination, and none may cross the border of a `d_step`.
    fn check_jumps(&self, diagnostics: &mut Vec<Diagnostic>) {
        for element in &self.elements {
            let Kind::Goto(target) = &element.kind else {
                continue;
            };
            let Some(destination) = self.destination(target) else {
                let Target::Label(label) = target else {
                    continue;
                };
                let message = format!("there is no label `{label}` in this process");
                let labels = self.elements.iter().flat_map(|e| &e.labels).map(|l| &**l);
                let mut diagnostic = Diagnostic::error("unknown-name", element.span, message);
                if let Some(close) = base::closest_name(label, labels) {
                    diagnostic = diagnostic.help(format!("did you mean `{close}`?"));
                }
                diagnostics.push(diagnostic);
                continue;
            };
            if element.in_d_step != self.elements[destination].in_d_step {
                let message = "a jump cannot lead into or out of a `d_step`";
                let diagnostic = Diagnostic::error("syntax", element.span, message);
                diagnostics.push(diagnostic.help("`atomic` allows it"));
            }
        }
        for (position, element) in self.elements.iter().enumerate() {
            if matches!(element.kind, Kind::Goto(_)) && self.try_hunt(position).is_none() {
                let message = "these jumps lead to each other for ever";
                diagnostics.push(Diagnostic::error("syntax", element.span, message));
                return;
            }
        }
    }

    /// The location at or after an element: jumps and ends of selections are passed through.
    pub(crate) fn hunt(&self, element: usize) -> usize {
        self.try_hunt(element)
            .expect("jumps in circles were refused")
    }

    fn try_hunt(&self, mut element: usize) -> Option<usize> {
        for _ in 0..=self.elements.len() {
            element = match &self.elements[element].kind {
                Kind::Goto(target) => match self.destination(target) {
                    Some(destination) => destination,
                    None => return Some(element),
                },
                Kind::Dot => match self.elements[element].next {
                    Some(next) => next,
                    None => return Some(element),
                },
                Kind::Unless(sequence) => sequence.first,
                _ => return Some(element),
            };
        }
        None
    }

    /// The statements that can come first at an element, in order.
    fn leaves(&self, element: usize, out: &mut Vec<usize>) {
        let mut element = element;
        for _ in 0..=self.elements.len() {
            element = match (&self.elements[element].kind, self.elements[element].next) {
                (Kind::Dot, Some(next)) => next,
                (Kind::Unless(sequence), _) => sequence.first,
                _ => break,
            };
        }
        match &self.elements[element].kind {
            Kind::Choice(sequences) => {
                for sequence in sequences {
                    self.leaves(sequence.first, out);
                }
            }
            Kind::Block(sequence) => self.leaves(sequence.first, out),
            _ => out.push(element),
        }
    }

    fn target_of(&self, element: usize) -> Option<usize> {
        match &self.elements[element].kind {
            Kind::End => None,
            Kind::Goto(_) => Some(self.hunt(element)),
            _ => self.elements[element].next.map(|next| self.hunt(next)),
        }
    }

    /// The steps that leave a location, those of escapes first.
    pub(crate) fn exits(&self, location: usize) -> Vec<Exit> {
        let mut leaves = Vec::new();
        self.leaves(location, &mut leaves);
        let mut escapes: Vec<Exit> = Vec::new();
        for &leaf in &leaves {
            for &escape in self.elements[leaf].escapes.iter().rev() {
                let mut first = Vec::new();
                self.leaves(escape, &mut first);
                for element in first {
                    let exit = Exit {
                        element,
                        target: self.target_of(element),
                        escape: escape + 1,
                    };
                    if !escapes.contains(&exit) && !leaves.contains(&element) {
                        escapes.insert(0, exit);
                    }
                }
            }
        }
        let ordinary = leaves.into_iter().map(|element| Exit {
            element,
            target: self.target_of(element),
            escape: 0,
        });
        escapes.into_iter().chain(ordinary).collect()
    }

    /// The first element of a `d_step`.
    pub(crate) fn d_step_start(&self, element: usize) -> Option<usize> {
        match &self.elements[element].kind {
            Kind::DStep(sequence) => Some(self.hunt(sequence.first)),
            _ => None,
        }
    }

    /// All locations that can be reached, the first one first.
    pub(crate) fn locations(&self) -> Vec<usize> {
        let mut found = vec![self.start];
        let mut at = 0;
        while at < found.len() {
            for exit in self.exits(found[at]) {
                if let Some(target) = exit.target
                    && !found.contains(&target)
                {
                    found.push(target);
                }
            }
            at += 1;
        }
        found
    }
}

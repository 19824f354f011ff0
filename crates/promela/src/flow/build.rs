//! Building the elements of a body, statement by statement.

use std::collections::BTreeSet;
use std::rc::Rc;

use base::{Diagnostic, Span};

use super::labels;
use super::{Element, ElementKind, Flow, Leaf, Sequence, Target, is_special};
use crate::ast::{Expr, ExprKind, Init, Stmt, StmtKind, TypeName, VarComponent, VarDecl, VarRef};
use crate::symbols::{Context, Symbols};

/// Where statements are being added.
#[derive(Clone, Copy)]
pub(super) struct Place {
    pub(super) scope: usize,
    pub(super) owner: Option<usize>,
    pub(super) in_atomic: bool,
    pub(super) in_d_step: bool,
    /// Are declarations still initialised when the process starts?
    pub(super) at_start: bool,
    pub(super) break_target: Option<usize>,
}

/// A body that is being turned into elements.
pub(super) struct FlowBuilder<'a> {
    pub(super) elements: Vec<Element>,
    pub(super) sequences: Vec<Sequence>,
    pub(super) symbols: &'a mut Symbols,
    pub(super) remote_labels: &'a BTreeSet<Rc<str>>,
    pub(super) is_claim: bool,
    pub(super) diagnostics: &'a mut Vec<Diagnostic>,
}

/// What a flow is built from.
pub(crate) struct Body<'a> {
    pub(crate) statements: &'a [Stmt],
    pub(crate) end: Span,
    pub(crate) scope: usize,
    pub(crate) owner: Option<usize>,
    pub(crate) is_claim: bool,
}

/// Builds the control flow of a body; declares its variables. Nothing if something is wrong.
pub(crate) fn build(
    body: &Body<'_>,
    remote_labels: &BTreeSet<Rc<str>>,
    symbols: &mut Symbols,
    diagnostics: &mut Vec<Diagnostic>,
) -> Option<Flow> {
    let n_errors = diagnostics.len();
    let flow = elements(body, remote_labels, symbols, diagnostics);
    flow.check_jumps(diagnostics);

    let failed = diagnostics[n_errors..]
        .iter()
        .any(|d| d.severity == base::Severity::Error);
    (!failed).then(|| Flow {
        start: flow.hunt(flow.start),
        ..flow
    })
}

/// The elements of a body, whatever is wrong with it; declares its variables.
pub(crate) fn elements(
    body: &Body<'_>,
    remote_labels: &BTreeSet<Rc<str>>,
    symbols: &mut Symbols,
    diagnostics: &mut Vec<Diagnostic>,
) -> Flow {
    let mut builder = FlowBuilder {
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
    let apart = labels::apart(body.statements);
    let statements = apart
        .as_ref()
        .map_or(body.statements, |apart| &apart.statements);
    builder.statements(statements, &mut place_now);

    let end = builder.new_element(ElementKind::End, place, body.end);
    builder.append(end);
    let sequence = builder.sequences.pop().expect("it was pushed");
    builder.tie_loose_ends();

    let (jumps, written_labels) = apart.map(|apart| (apart.jumps, apart.labels)).unzip();
    Flow {
        start: sequence.first,
        elements: builder.elements,
        jumps,
        written_labels: written_labels.unwrap_or_default(),
    }
}

impl FlowBuilder<'_> {
    pub(super) fn error(&mut self, code: &'static str, span: Span, message: impl Into<String>) {
        self.diagnostics
            .push(Diagnostic::error(code, span, message));
    }

    fn new_element(&mut self, kind: ElementKind, place: Place, span: Span) -> usize {
        self.elements.push(Element {
            kind,
            next: None,
            labels: Vec::new(),
            in_atomic: place.in_atomic,
            ends_atomic: false,
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
            let skip = ElementKind::Leaf(Leaf::Condition(skip(span)));
            let element = self.new_element(skip, place, span);
            self.append(element);
        }
        self.sequences.pop().expect("it was pushed")
    }

    fn statements(&mut self, statements: &[Stmt], place: &mut Place) {
        for statement in statements {
            match &statement.kind {
                StmtKind::Declare(declared) => {
                    for decl in declared {
                        self.declare(decl, *place);
                    }
                }
                StmtKind::Exclusive(channels) => self.mention(channels, *place),
                _ => {
                    self.statement(statement, &[], *place);
                    place.at_start = false;
                }
            }
        }
    }

    /// Notes what names mean that are not part of a step.
    fn mention(&self, channels: &[VarRef], place: Place) {
        let context = Context {
            scope: place.scope,
            order: self.symbols.now(),
            owner: place.owner,
        };
        for channel in channels {
            self.symbols.lookup(&channel.parts[0].name, context);
        }
    }

    /// A declaration after the first statement is a step that sets the variable.
    fn declare(&mut self, decl: &VarDecl, place: Place) {
        let is_step = !place.at_start
            && decl.ty != TypeName::Timer
            && match decl.init {
                Init::Zero => true,
                Init::Value(_) => decl.length.is_none(),
                Init::List(_) => true,
                Init::Channel { .. } => false,
            };
        // A list is stored when the process starts; the step sets the first element again.
        let at_start = !is_step || matches!(decl.init, Init::List(_));

        let diagnostics = &mut *self.diagnostics;
        let declared = self
            .symbols
            .declare(decl, place.scope, place.owner, at_start, diagnostics);
        let Some(var) = declared else { return };
        if !is_step {
            return;
        }
        let assign = |index: Option<Expr>, value: &Expr| {
            let part = VarComponent {
                name: decl.name.clone(),
                index: index.map(Box::new),
                span: decl.span,
            };
            let target = VarRef {
                parts: vec![part],
                span: decl.span,
            };
            Leaf::Assign(target, value.clone())
        };
        let leaf = match &decl.init {
            Init::Value(value) => assign(None, value),
            Init::List(values) if !values.is_empty() => {
                let first = Expr {
                    kind: ExprKind::Int(0),
                    span: decl.span,
                };
                assign(Some(first), &values[0])
            }
            Init::Zero | Init::List(_) | Init::Channel { .. } => Leaf::Clear(var),
        };

        let element = self.new_element(ElementKind::Leaf(leaf), place, decl.span);
        self.append(element);
    }

    /// Adds a statement that carries labels.
    pub(super) fn statement(&mut self, statement: &Stmt, labels: &[Rc<str>], place: Place) {
        let span = statement.span;
        match &statement.kind {
            StmtKind::Label(name, inner) => {
                let mut all = labels.to_vec();
                all.push(name.clone());
                self.statement(inner, &all, place);
            }
            StmtKind::Declare(_) | StmtKind::Exclusive(_) => {
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
                self.labelled(ElementKind::Block(sequence), labels, place, span);
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
                if !place.in_atomic {
                    self.elements[sequence.last].ends_atomic = true;
                }
                self.labelled(ElementKind::Block(sequence), labels, place, span);
            }
            StmtKind::DStep(inner) => self.d_step(inner, labels, place, span),
            StmtKind::Break => self.jump_out(labels, place, span),
            StmtKind::Goto(label) => {
                self.goto(Target::Label(label.clone()), labels, place, span);
            }
            other => {
                let leaf = leaf_of(other);
                self.labelled(ElementKind::Leaf(leaf), labels, place, span);
            }
        }
    }

    fn labelled(
        &mut self,
        kind: ElementKind,
        labels: &[Rc<str>],
        place: Place,
        span: Span,
    ) -> usize {
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

    /// A jump. A label that a formula or claim mentions makes it a step.
    fn goto(&mut self, target: Target, labels: &[Rc<str>], place: Place, span: Span) {
        let is_seen = |label: &Rc<str>| is_special(label) || self.remote_labels.contains(label);
        if labels.iter().any(is_seen) {
            let skip = ElementKind::Leaf(Leaf::Condition(skip(span)));
            self.labelled(skip, labels, place, span);
            self.labelled(ElementKind::Goto(target), &[], place, span);
        } else {
            self.labelled(ElementKind::Goto(target), labels, place, span);
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
        let kind = if place.in_d_step {
            ElementKind::Block(sequence)
        } else {
            ElementKind::DStep(sequence)
        };
        self.labelled(kind, labels, place, span);
    }

    pub(super) fn choice(
        &mut self,
        options: &[Vec<Stmt>],
        is_loop: bool,
        labels: &[Rc<str>],
        mut place: Place,
        span: Span,
    ) {
        place.at_start = false;
        let choice = self.new_element(ElementKind::Dot, place, span);
        let dot = self.new_element(ElementKind::Dot, place, span);
        let exit = is_loop.then(|| self.new_element(ElementKind::Dot, place, span));
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

        self.elements[choice].kind = ElementKind::Choice(sequences);
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
            matches!(
                self.elements[sequence.first].kind,
                ElementKind::Leaf(Leaf::Else)
            )
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
                ElementKind::Leaf(Leaf::Print(_)) => (true, true),
                ElementKind::Leaf(Leaf::Condition(expr)) => {
                    (matches!(expr.kind, ExprKind::Int(1)), false)
                }
                _ => (false, false),
            };
            n_skips = if skips && described.labels.is_empty() {
                n_skips + 1
            } else {
                0
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
        let element = self.new_element(ElementKind::Dot, place, span);
        let dot = self.new_element(ElementKind::Dot, place, span);
        let sequence_of = |builder: &mut Self, statement: &Stmt| {
            let (inner, is_block) = parts(statement);
            let scope = if is_block {
                builder.symbols.open(place.scope)
            } else {
                place.scope
            };
            builder.sequence(&inner, Place { scope, ..place }, statement.span)
        };

        let mut normal = sequence_of(self, main);
        let mut exception = sequence_of(self, escape);
        let covered = normal.clone();
        link(&mut self.elements, &mut normal, dot);
        link(&mut self.elements, &mut exception, dot);
        self.attach(&covered, exception.first, &exception);
        self.elements[element].kind = ElementKind::Unless(normal);
        self.append(element);
        self.append(dot);
        if wrapped {
            let sequence = self.sequences.pop().expect("it was pushed");
            self.labelled(ElementKind::Block(sequence), &all, place, span);
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
            ElementKind::Unless(sequence) | ElementKind::Block(sequence) => {
                self.attach(&sequence, escape, whole);
            }
            ElementKind::Choice(sequences) => {
                for sequence in &sequences {
                    self.attach(sequence, escape, whole);
                }
            }
            ElementKind::DStep(sequence) => self.attach_to(sequence.first, escape, whole),
            ElementKind::Leaf(_) | ElementKind::Goto(_) | ElementKind::Dot | ElementKind::End => {}
        }
    }

    /// Covers an inner escape, from its first element to the end of its sequence.
    fn attach_along(&mut self, first: usize, escape: usize, whole: &Sequence) {
        let mut at = Some(first);
        let mut n_seen = 0;
        while let Some(element) = at {
            if matches!(self.elements[element].kind, ElementKind::Dot)
                || n_seen > self.elements.len()
            {
                break;
            }
            n_seen += 1;
            self.attach_to(element, escape, whole);
            at = self.elements[element].next;
        }
    }

    /// The last element of a block goes on where the block does.
    fn tie_loose_ends(&mut self) {
        for position in (0..self.elements.len()).rev() {
            let (ElementKind::Block(sequence) | ElementKind::DStep(sequence)) =
                &self.elements[position].kind
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
        StmtKind::SetPriority(pid, expr) => Leaf::SetPriority(pid, expr),
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
        StmtKind::Print(printed) => Leaf::Print(printed),
        _ => unreachable!("composite statements are handled before"),
    }
}

/// The condition that always holds.
fn skip(span: Span) -> Expr {
    let kind = ExprKind::Int(1);
    Expr { kind, span }
}

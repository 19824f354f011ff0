//! Control flow: the locations of a process and the statements that lead from one to the next.
//!
//! State counts can equal Spin's only if locations are Spin's. So this module builds the same
//! graph: every statement is an element; selections, loops, `unless` and sequences in braces are
//! elements of their own, whose steps are those of the statements that can come first in them;
//! `goto`, `break` and the ends of selections are passed through when looking for the next location
//! (G.J. Holzmann, *The Spin Model Checker*, 2003, chapter 6; Spin's `flow.c` and `pangen1.c` define
//! the details).

mod build;
mod desugar;
mod labels;

use std::rc::Rc;

use base::{Diagnostic, Span};

use super::ast::{Argument, Expr, Printed, VarRef};
use super::symbols::Context;

pub(crate) use build::{Body, build, elements};

/// A statement that is a step by itself.
#[derive(Clone, Debug)]
pub(crate) enum Leaf {
    Condition(Expr),
    Assign(VarRef, Expr),
    /// Sets a whole variable (by position) to zero where it is declared.
    Clear(usize),
    SetTimer(VarRef, Expr),
    /// Of the process with this number.
    SetPriority(Expr, Expr),
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
    /// For simulations; it has no other meaning here.
    Print(Printed),
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
pub(crate) enum ElementKind {
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
    pub(crate) kind: ElementKind,
    next: Option<usize>,
    pub(crate) labels: Vec<Rc<str>>,
    pub(crate) in_atomic: bool,
    /// Is it the last element of the outermost `atomic` around it?
    pub(super) ends_atomic: bool,
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
    /// The names in jumps and of their labels, where several labels have the same name.
    pub(crate) jumps: Option<Vec<(Rc<str>, Rc<str>)>>,
    /// All labels as they are written, where several have the same name: then elements have others.
    pub(crate) written_labels: Vec<Rc<str>>,
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

/// Labels that properties look at.
pub(crate) fn is_special(label: &str) -> bool {
    label.starts_with("accept") || label.starts_with("end") || label.starts_with("progress")
}

impl Flow {
    /// The element that carries a label.
    pub(crate) fn find_label(&self, label: &str) -> Option<usize> {
        Some(self.label(label)?.0)
    }

    /// A label with the element that carries it.
    pub(crate) fn label(&self, label: &str) -> Option<(usize, &Rc<str>)> {
        let numbered = self.elements.iter().enumerate();
        let mut labels =
            numbered.flat_map(|(n, element)| element.labels.iter().map(move |l| (n, l)));
        labels.find(|(_, other)| ***other == *label)
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
            let ElementKind::Goto(target) = &element.kind else {
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
            if matches!(element.kind, ElementKind::Goto(_))
                && self.try_hunt(position, false).is_none()
            {
                let message = "these jumps lead to each other forever";
                diagnostics.push(Diagnostic::error("syntax", element.span, message));
                return;
            }
        }
    }

    /// The location at or after an element: jumps and ends of selections are passed through.
    pub(crate) fn hunt(&self, element: usize) -> usize {
        self.try_hunt(element, false)
            .expect("jumps in circles were refused")
    }

    /// The location after a step that executes `from` and leads to `element`. A step that does not
    /// end an `atomic` does not leave it either: a jump out of it is a step of its own, in front of
    /// which a sender waits when a receiver that is in an `atomic` goes on (Spin's `huntele`).
    fn hunt_after(&self, from: usize, element: usize) -> usize {
        let stays = !self.elements[from].in_d_step && self.holds_atomic(from);
        self.try_hunt(element, stays)
            .expect("jumps in circles were refused")
    }

    /// Does a process go on without the others after this element? A jump from one `atomic` to
    /// another does not end the first (Spin's `patch_atomic`).
    fn holds_atomic(&self, position: usize) -> bool {
        let element = &self.elements[position];
        match &element.kind {
            ElementKind::Goto(target) => {
                let destination = self.destination(target);
                let leads_inside = |to: usize| self.elements[to].in_atomic;
                element.in_atomic && destination.is_some_and(leads_inside)
            }
            _ => element.in_atomic && !element.ends_atomic,
        }
    }

    fn try_hunt(&self, mut element: usize, stays_in_atomic: bool) -> Option<usize> {
        for _ in 0..=self.elements.len() {
            let next = match &self.elements[element].kind {
                ElementKind::Goto(target) => match self.destination(target) {
                    Some(destination) => destination,
                    None => return Some(element),
                },
                ElementKind::Dot => match self.elements[element].next {
                    Some(next) => next,
                    None => return Some(element),
                },
                ElementKind::Unless(sequence) => sequence.first,
                _ => return Some(element),
            };
            if stays_in_atomic && !self.holds_atomic(next) {
                return Some(element);
            }
            element = next;
        }
        None
    }

    /// The statements that can come first at an element, in order.
    fn leaves(&self, element: usize, out: &mut Vec<usize>) {
        let mut element = element;
        for _ in 0..=self.elements.len() {
            element = match (&self.elements[element].kind, self.elements[element].next) {
                (ElementKind::Dot, Some(next)) => next,
                (ElementKind::Unless(sequence), _) => sequence.first,
                _ => break,
            };
        }
        match &self.elements[element].kind {
            ElementKind::Choice(sequences) => {
                for sequence in sequences {
                    self.leaves(sequence.first, out);
                }
            }
            ElementKind::Block(sequence) => self.leaves(sequence.first, out),
            _ => out.push(element),
        }
    }

    fn target_of(&self, element: usize) -> Option<usize> {
        match &self.elements[element].kind {
            ElementKind::End => None,
            ElementKind::Goto(target) => {
                let destination = self.destination(target).unwrap_or(element);
                Some(self.hunt_after(element, destination))
            }
            _ => {
                let next = self.elements[element].next?;
                Some(self.hunt_after(element, next))
            }
        }
    }

    /// The steps that leave a location, those of escapes first.
    pub(crate) fn exits(&self, location: usize) -> Vec<Exit> {
        let mut leaves = Vec::new();
        if matches!(self.elements[location].kind, ElementKind::Dot) {
            leaves.push(location);
        } else {
            self.leaves(location, &mut leaves);
        }

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
            ElementKind::DStep(sequence) => Some(self.hunt(sequence.first)),
            _ => None,
        }
    }

    /// All locations that can be reached, the first one first.
    pub(crate) fn locations(&self) -> Vec<usize> {
        let mut found = vec![self.start];
        let mut is_found = vec![false; self.elements.len()];
        is_found[self.start] = true;
        let mut at = 0;
        while at < found.len() {
            for exit in self.exits(found[at]) {
                if let Some(target) = exit.target
                    && !std::mem::replace(&mut is_found[target], true)
                {
                    found.push(target);
                }
            }
            at += 1;
        }
        found
    }
}

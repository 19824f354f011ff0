//! What can be said about declarations as a whole: global variables, calls, events with programs.

use std::collections::BTreeMap;

use base::{Diagnostic, Span};
use model::{ArrayType, Expr, Initial, ModelParts, Scalar, Type, VarId, Variable};

use super::Given;
use super::ast::{Action, AssertionClaim, ExprRef, Formula, Proc, ProcKind, Spec};
use super::discovery::Values;
use super::lexer::Name;
use super::ranges::{FULL, Ranges, join};
use super::scope::{Scope, Ty, Var};

/// Items and numbers of messages of a channel with a buffer.
pub(crate) type Buffer = Option<(VarId, VarId)>;

/// The global variables: those of the text, then two for each channel with a buffer.
pub(crate) fn globals(scope: &Scope, ranges: &Ranges) -> (ModelParts, Vec<Buffer>) {
    let mut parts = ModelParts::default();
    for (position, var) in scope.vars.iter().enumerate() {
        let mut variable = variable(var, values(scope, ranges, position));
        // Each component has a copy of its own.
        if var.is_scratch {
            variable = zeros(variable.name, (0, 0), &[], variable.span);
        }
        parts.vars.push(variable);
    }

    let mut buffers = Vec::new();
    for (position, channel) in scope.channels.iter().enumerate() {
        // Channels without a buffer synchronise and hold nothing.
        if channel.size == 0 {
            buffers.push(None);
            continue;
        }
        let width = ranges.message_width(position);
        let values = ranges.messages[position].iter().filter_map(|m| m.values);
        let (lo, mut hi) = values.fold((0, 0), join);
        // If messages have different forms, each is stored with the number of its form.
        hi = hi.max(ranges.forms[position].len() as i64 - 1);
        let mut dimensions: Vec<i64> = channel.count.into_iter().collect();
        let counts = dimensions.clone();
        dimensions.push(channel.size);
        if width > 1 {
            dimensions.push(width as i64);
        }
        let items = zeros(
            channel.name.text.to_string(),
            (lo, hi),
            &dimensions,
            channel.name.span,
        );
        let name = format!("ccount({})", channel.name.text);
        let count = zeros(name, (0, channel.size), &counts, channel.name.span);
        let first = VarId::new(parts.vars.len());
        parts.vars.extend([items, count]);
        buffers.push(Some((first, VarId::new(first.index() + 1))));
    }

    (parts, buffers)
}

/// The type of the cells of a variable.
pub(crate) fn values(scope: &Scope, ranges: &Ranges, position: usize) -> Scalar {
    let var = &scope.vars[position];
    let values = ranges.vars[position].values.unwrap_or(FULL);
    let initial = var.initial.as_ref();
    let held = initial.into_iter().flatten().map(|value| (*value, *value));

    // Without a declared range, the range analysis says which values can occur beside the
    // initial ones.
    let (lo, hi) = match var.range {
        Some(range) => range,
        None => held.fold(values, join),
    };
    if ranges.var_types[position] == Ty::Bool && (lo, hi) == (0, 1) {
        Scalar::Bool
    } else {
        Scalar::Range(lo, hi)
    }
}

/// A variable of the text.
pub(crate) fn variable(var: &Var, scalar: Scalar) -> Variable {
    Variable {
        name: var.name.text.to_string(),
        ty: array(scalar, &var.dimensions),
        owner: None,
        initial: match &var.initial {
            None => Initial::Any,
            Some(values) => {
                debug_assert_eq!(values.len(), var.n_cells(), "one value for each cell");
                Initial::Values(values.iter().map(|value| Expr::Int(*value)).collect())
            }
        },
        span: var.name.span,
    }
}

fn array(scalar: Scalar, dimensions: &[i64]) -> Type {
    let wrap = |element: Type, len: &i64| {
        Type::Array(Box::new(ArrayType {
            lo: 0,
            len: *len as usize,
            element,
        }))
    };
    dimensions.iter().rev().fold(Type::Scalar(scalar), wrap)
}

fn zeros(name: String, (lo, hi): (i64, i64), dimensions: &[i64], span: Span) -> Variable {
    let n_cells = dimensions.iter().product::<i64>() as usize;
    Variable {
        name,
        ty: array(Scalar::Range(lo, hi), dimensions),
        owner: None,
        initial: Initial::Values(vec![Expr::Int(0); n_cells]),
        span,
    }
}

/// The values of events that formulas mention, by event or channel with its mark.
pub(crate) fn mentioned(spec: &Spec, formulas: &[Given<'_>], scope: &Scope) -> Values {
    let mut map = Values::new();
    let mut add = |formula: &Formula| {
        visit_atoms(formula, &mut |atom| {
            let (key, numbers) = match atom {
                Formula::Name(name, arguments) => {
                    let value = |argument: &ExprRef| scope.constant(argument).map(|(v, _)| v);
                    let numbers: Option<Vec<i64>> = arguments.iter().map(value).collect();
                    (format!("{}.", name.text), numbers)
                }
                Formula::Quoted(text, _) => {
                    let text: String = text.chars().filter(|c| !c.is_whitespace()).collect();
                    let Some(at) = text.find(['!', '?', '.']) else {
                        return;
                    };
                    let (key, rest) = text.split_at(at + 1);
                    let numbers = rest.split('.').map(|number| number.parse().ok()).collect();
                    (key.to_owned(), numbers)
                }
                _ => return,
            };
            if let Some(numbers) = numbers {
                map.entry(key).or_default().insert(numbers);
            }
        });
    };

    for decl in &spec.assertions {
        if let AssertionClaim::Ltl(formula) = &decl.claim {
            add(formula);
        }
    }

    formulas.iter().for_each(|given| add(&given.formula));
    map
}

/// Calls `visit` with every proposition of a formula.
pub(crate) fn visit_atoms(formula: &Formula, visit: &mut dyn FnMut(&Formula)) {
    match formula {
        Formula::Constant(_) | Formula::Name(..) | Formula::Quoted(..) => visit(formula),
        Formula::Not(a)
        | Formula::Next(a)
        | Formula::Always(a)
        | Formula::Eventually(a)
        | Formula::Paths(_, a) => {
            visit_atoms(a, visit);
        }
        Formula::Until(a, b)
        | Formula::Release(a, b)
        | Formula::WeakUntil(a, b)
        | Formula::And(a, b)
        | Formula::Or(a, b)
        | Formula::Xor(a, b)
        | Formula::Implies(a, b)
        | Formula::Iff(a, b) => {
            visit_atoms(a, visit);
            visit_atoms(b, visit);
        }
    }
}

/// Does some process mention an event or channel with this name?
pub(crate) fn is_event(scope: &Scope, wanted: &str) -> bool {
    let mut found = scope.channel_by_name.contains_key(wanted);
    for decl in &scope.processes {
        walk(&decl.body, &mut |proc| {
            if let ProcKind::Prefix(prefixes, _) = &proc.kind {
                found |= prefixes.iter().any(|prefix| match &prefix.action {
                    Action::Event(name, _) => &*name.text == wanted,
                    _ => false,
                });
            }
        });
    }
    found
}

/// Calls `visit` with every process expression inside another, outer ones first.
fn walk<'p>(proc: &'p Proc, visit: &mut dyn FnMut(&'p Proc)) {
    visit(proc);
    match &proc.kind {
        ProcKind::Stop | ProcKind::Skip | ProcKind::Assert(_) | ProcKind::Call(..) => {}
        ProcKind::Prefix(_, body)
        | ProcKind::Guard(_, body)
        | ProcKind::Atomic(body)
        | ProcKind::Hide(body, _)
        | ProcKind::Indexed(_, _, body)
        | ProcKind::Replicated(_, body) => walk(body, visit),
        ProcKind::If(_, _, then, otherwise) => {
            walk(then, visit);
            otherwise.iter().for_each(|body| walk(body, visit));
        }
        ProcKind::Case(branches, default) => {
            branches.iter().for_each(|(_, body)| walk(body, visit));
            default.iter().for_each(|body| walk(body, visit));
        }
        ProcKind::Seq(a, b) | ProcKind::Interrupt(a, b) => {
            walk(a, visit);
            walk(b, visit);
        }
        ProcKind::Choice(_, parts) | ProcKind::Interleave(parts) | ProcKind::Parallel(parts) => {
            parts.iter().for_each(|part| walk(part, visit));
        }
    }
}

/// Reports calls of processes that do not exist or take other arguments, used or not.
pub(crate) fn check_calls(scope: &Scope, diagnostics: &mut Vec<Diagnostic>) {
    for decl in &scope.processes {
        walk(&decl.body, &mut |proc| {
            let ProcKind::Call(name, arguments) = &proc.kind else {
                return;
            };
            let Some(&callee) = scope.process_by_name.get(&name.text) else {
                let advice = scope.advice(&name.text, scope.process_by_name.keys());
                let message = format!("there is no process `{}`", name.text);
                let diagnostic = Diagnostic::error("unknown-process", name.span, message);
                diagnostics.push(if advice.is_empty() {
                    diagnostic
                } else {
                    diagnostic.help(advice)
                });
                return;
            };
            let callee = &scope.processes[callee];
            let (wanted, given) = (callee.parameters.len(), arguments.len());
            if wanted != given {
                let message = format!("`{}` takes {wanted} arguments, not {given}", name.text);
                let diagnostic = Diagnostic::error("wrong-arity", name.span, message);
                diagnostics.push(diagnostic.label(callee.name.span, "defined here"));
            }
        });
    }
}

/// Warns of events that occur with and without a program: the two never synchronise.
pub(crate) fn warn_programs(scope: &Scope, diagnostics: &mut Vec<Diagnostic>) {
    let mut plain: BTreeMap<&Name, Span> = BTreeMap::new();
    let mut with_program: BTreeMap<&Name, Span> = BTreeMap::new();
    let mut has_parallel = false;
    for decl in &scope.processes {
        walk(&decl.body, &mut |proc| match &proc.kind {
            ProcKind::Prefix(prefixes, _) => {
                for prefix in prefixes {
                    if let Action::Event(name, _) = &prefix.action {
                        let map = match prefix.program {
                            Some(_) => &mut with_program,
                            None => &mut plain,
                        };
                        map.entry(&name.text).or_insert(name.span);
                    }
                }
            }
            ProcKind::Parallel(_) | ProcKind::Indexed(super::ast::IndexedOp::Parallel, _, _) => {
                has_parallel = true
            }
            _ => {}
        });
    }

    for (name, span) in with_program.into_iter().filter(|_| has_parallel) {
        if let Some(other) = plain.get(name) {
            let message = format!(
                "`{name}` occurs with and without a program; with a program it never synchronises"
            );
            let diagnostic = Diagnostic::warning("event-with-program", span, message);
            let diagnostic = diagnostic.label(*other, "without a program here");
            let help = "move the program to an event of its own that follows";
            diagnostics.push(diagnostic.help(help));
        }
    }
}

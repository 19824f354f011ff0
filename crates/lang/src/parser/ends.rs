//! What `deadlockfree` means where processes declare proper ends.
//!
//! It becomes the invariant that a deadlock implies that every process is at one of its ends: an
//! ordinary formula, so that everything that deals with formulas deals with it.

use base::{Diagnostic, Span};
use model::Quantifier;

use crate::ast::{
    BinaryOp, Binder, Decl, Expr, ExprKind, File, Ident, ProcessDecl, PropertyBody, UnaryOp,
};

/// Gives `deadlockfree` its meaning. A process without ends has none, so there is no proper end then.
pub(super) fn apply(file: &mut File, diagnostics: &mut Vec<Diagnostic>) {
    let processes: Vec<&ProcessDecl> = processes(file).collect();
    let Some(declared) = processes.iter().find_map(|process| process.ends.as_ref()) else {
        return;
    };
    if let Some(other) = processes.iter().find(|process| has_no_end(process)) {
        let message = format!(
            "no deadlock is a proper end, because `{}` declares no end",
            other.name.text
        );
        let help = format!(
            "write `end *` in `{}` if it may stop anywhere, or name its ends",
            other.name.text
        );
        let warning = Diagnostic::warning("useless-end", declared.span, message);
        diagnostics.push(warning.help(help));
        return;
    }

    let span = declared.span;
    let n_questions = { file.decls.iter() }
        .filter(|decl| is_deadlock_question(decl))
        .count();
    let formulas: Vec<Expr> = (0..n_questions).map(|_| formula(file, span)).collect();
    let questions = file.decls.iter_mut().filter_map(|decl| match decl {
        Decl::Property(property) => match property.question {
            PropertyBody::DeadlockFree => Some(&mut property.question),
            _ => None,
        },
        _ => None,
    });
    for (question, formula) in questions.zip(formulas) {
        *question = PropertyBody::ProperEnds(formula);
    }
}

fn processes(file: &File) -> impl Iterator<Item = &ProcessDecl> {
    file.decls.iter().filter_map(|decl| match decl {
        Decl::Process(process) => Some(process),
        _ => None,
    })
}

fn is_deadlock_question(decl: &Decl) -> bool {
    match decl {
        Decl::Property(property) => matches!(property.question, PropertyBody::DeadlockFree),
        _ => false,
    }
}

/// A deadlock implies that every process is at one of its ends.
fn formula(file: &File, span: Span) -> Expr {
    let at_ends = processes(file).filter_map(|process| at_end(process, span));
    let mut at_ends = at_ends.collect::<Vec<_>>().into_iter();
    let at_ends = match at_ends.next() {
        None => expr(ExprKind::Bool(true), span),
        Some(first) if at_ends.len() == 0 => first,
        Some(first) => {
            let rest = at_ends.map(|end| (model::BinaryOp::And, end)).collect();
            expr(ExprKind::Chain(Box::new(first), rest), span)
        }
    };
    let deadlock = expr(ExprKind::Name("deadlock".to_owned()), span);
    let implies = BinaryOp::Model(model::BinaryOp::Implies);
    expr(
        ExprKind::Binary(implies, Box::new(deadlock), Box::new(at_ends)),
        span,
    )
}

/// A process that was not created, or does not exist any more, is at a proper end.
fn has_no_end(process: &ProcessDecl) -> bool {
    process.ends.is_none() && process.spawned.is_none()
}

/// That all instances of a process are at one of its ends; nothing if it may stop anywhere.
fn at_end(process: &ProcessDecl, span: Span) -> Option<Expr> {
    let ends = process.ends.as_ref();
    let span = ends.map_or(span, |ends| ends.span);
    if ends.is_some_and(|ends| ends.names.is_empty()) {
        return None;
    }

    let ident = |text: &str| Ident {
        text: text.to_owned(),
        span,
    };
    let name = || expr(ExprKind::Name(process.name.text.clone()), span);
    let ends = ends.map_or(&[][..], |ends| &ends.names);
    let locations: Vec<Ident> = ends.iter().map(|end| ident(&end.text)).collect();

    // The instance `P[i][j]`, under a quantifier for each of its indices.
    let mut instance = name();
    let mut binders = Vec::new();
    for (number, (_, lo, hi)) in process.indices.iter().enumerate() {
        let mut index = ["i", "j", "k"]
            .get(number)
            .map_or_else(|| format!("i{number}"), |letter| (*letter).to_owned());
        if process.name.text == index {
            index.push('_');
        }
        let used = Box::new(expr(ExprKind::Name(index.clone()), span));
        instance = expr(ExprKind::Index(Box::new(instance), used), span);
        binders.push(Binder {
            names: vec![ident(&index)],
            lo: lo.clone(),
            hi: hi.clone(),
            condition: None,
        });
    }

    // An instance that does not exist does not have to arrive.
    let created = process.spawned.as_ref().map(|created| {
        let field = ExprKind::Field(Box::new(instance.clone()), ident(&created.text));
        let not = ExprKind::Unary(UnaryOp::Not, Box::new(expr(field, span)));
        expr(not, span)
    });

    let at = ExprKind::At(Some(Box::new(instance)), locations);
    let body = match created {
        None => at,
        Some(absent) if ends.is_empty() => absent.kind,
        Some(absent) => {
            let at = (model::BinaryOp::Or, expr(at, span));
            ExprKind::Chain(Box::new(absent), vec![at])
        }
    };

    if binders.is_empty() {
        return Some(expr(body, span));
    }
    let quantified = ExprKind::Quantified {
        quantifier: Quantifier::Forall,
        counts: false,
        binders,
        body: Box::new(expr(body, span)),
    };
    Some(expr(quantified, span))
}

fn expr(kind: ExprKind, span: Span) -> Expr {
    Expr { kind, span }
}

//! Where in a model something could be left out or replaced.

use model::{
    Access, AtomMeaning, ChannelRef, Expr, Initial, ModelParts, Owner, Pattern, Place, Setting,
    Stmt, StmtKind, Sync,
};

/// What an expression or statement is part of.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Context {
    /// A guard.
    Guard,
    /// An effect, a message or a pattern.
    Effect,
    /// The condition of a loop without a counter.
    Loop,
    /// An atomic proposition.
    Atom,
    /// Initial values, initial constraints, parameters and their conditions, arguments of events.
    Static,
}

/// A part of a model that can be replaced.
pub(super) enum Site<'a> {
    Expr(&'a mut Expr, Context),
    Stmt(&'a mut Vec<Stmt>, usize),
    Sync(&'a mut Sync),
    Pattern(&'a mut Pattern),
    Meaning(&'a mut AtomMeaning),
}

type Visit<'v> = dyn FnMut(Site<'_>) + 'v;

/// Visits every expression, statement, communication, pattern and proposition, outer ones first.
/// What a visit puts in place of something is visited, too.
pub(super) fn walk(parts: &mut ModelParts, visit: &mut Visit<'_>) {
    for variable in &mut parts.vars {
        match &mut variable.initial {
            Initial::Values(values) => {
                for value in values {
                    expr(value, Context::Static, visit);
                }
            }
            Initial::Any => {}
        }
    }

    for step in parts.processes.iter_mut().flat_map(|p| &mut p.steps) {
        for parameter in &mut step.parameters {
            expr(&mut parameter.lo, Context::Static, visit);
            expr(&mut parameter.hi, Context::Static, visit);
        }
        expr(&mut step.condition, Context::Static, visit);
        expr(&mut step.guard, Context::Guard, visit);
        sync(&mut step.sync, visit);
        stmts(&mut step.effect, visit);
    }

    for constraint in &mut parts.init {
        expr(constraint, Context::Static, visit);
    }
    for atom in &mut parts.atoms {
        visit(Site::Meaning(&mut atom.meaning));
        match &mut atom.meaning {
            AtomMeaning::State(inner) | AtomMeaning::Certainly(inner, _) => {
                expr(inner, Context::Atom, visit);
            }
            AtomMeaning::Taken(_)
            | AtomMeaning::Enabled(_)
            | AtomMeaning::Deadlock
            | AtomMeaning::TimerSet(_) => {}
        }
    }
}

/// The expressions directly inside an expression.
pub(super) fn operands(parent: &mut Expr) -> Vec<&mut Expr> {
    match parent {
        Expr::Int(_) | Expr::Bool(_) | Expr::Enum(..) | Expr::Bound(_) => vec![],
        Expr::Read(place) => place_operands(place),
        Expr::Not(inner) | Expr::Neg(inner) | Expr::Wrap { inner, .. } => vec![inner],
        Expr::Binary(_, a, b) => vec![a, b],
        Expr::Ite(a, b, c) => vec![a, b, c],
        Expr::Quantified { lo, hi, body, .. } => vec![lo, hi, body],
        Expr::At { owner, .. } => owner_operands(owner),
        Expr::Length(channel) => channel_operands(channel),
    }
}

fn place_operands(place: &mut Place) -> Vec<&mut Expr> {
    let mut inside = place.owner.as_mut().map_or(vec![], owner_operands);
    for access in &mut place.path {
        match access {
            Access::Index(index) => inside.push(index),
            Access::Field(_) => {}
        }
    }
    inside
}

fn owner_operands(owner: &mut Owner) -> Vec<&mut Expr> {
    match owner {
        Owner::Indexed(index) => vec![index],
        Owner::Own | Owner::Single => vec![],
    }
}

fn channel_operands(channel: &mut ChannelRef) -> Vec<&mut Expr> {
    channel.index.iter_mut().map(|index| &mut **index).collect()
}

fn expr(site: &mut Expr, context: Context, visit: &mut Visit<'_>) {
    visit(Site::Expr(site, context));
    for operand in operands(site) {
        expr(operand, context, visit);
    }
}

fn all(exprs: Vec<&mut Expr>, visit: &mut Visit<'_>) {
    for site in exprs {
        expr(site, Context::Effect, visit);
    }
}

fn sync(site: &mut Sync, visit: &mut Visit<'_>) {
    visit(Site::Sync(site));
    match site {
        Sync::Internal => {}
        Sync::Send { channel, payload } => {
            all(channel_operands(channel), visit);
            all(payload.iter_mut().collect(), visit);
        }
        Sync::Receive { channel, patterns } => {
            all(channel_operands(channel), visit);
            for pattern in patterns {
                visit(Site::Pattern(pattern));
                match pattern {
                    Pattern::Match(value) => expr(value, Context::Effect, visit),
                    Pattern::Store(place) => all(place_operands(place), visit),
                    Pattern::Ignore => {}
                }
            }
        }
        Sync::Event { arguments, .. } => {
            for argument in arguments {
                expr(argument, Context::Static, visit);
            }
        }
    }
}

fn stmts(list: &mut Vec<Stmt>, visit: &mut Visit<'_>) {
    let n_stmts = list.len();
    for position in 0..n_stmts {
        visit(Site::Stmt(list, position));
        if list.len() != n_stmts {
            return;
        }
        stmt(&mut list[position].kind, visit);
    }
}

fn stmt(kind: &mut StmtKind, visit: &mut Visit<'_>) {
    match kind {
        StmtKind::Assign(place, value) => {
            all(place_operands(place), visit);
            expr(value, Context::Effect, visit);
        }
        StmtKind::If(condition, then, otherwise) => {
            expr(condition, Context::Effect, visit);
            stmts(then, visit);
            stmts(otherwise, visit);
        }
        StmtKind::For(_, lo, hi, body) => {
            all(vec![lo, hi], visit);
            stmts(body, visit);
        }
        StmtKind::Choose(_, lo, hi, condition) => all(vec![lo, hi, condition], visit),
        StmtKind::While(condition, body) => {
            expr(condition, Context::Loop, visit);
            stmts(body, visit);
        }
        // What a counter becomes stands in a loop: a constant would make it endless.
        StmtKind::Set(_, value) => expr(value, Context::Loop, visit),
        StmtKind::Assert(value) | StmtKind::Let(_, value) => expr(value, Context::Effect, visit),
        StmtKind::SetTimer(place, setting) => {
            all(place_operands(place), visit);
            match setting {
                Setting::To(value) => expr(value, Context::Effect, visit),
                Setting::Any => {}
            }
        }
        StmtKind::Fail(_) | StmtKind::Tick | StmtKind::Exhausted => {}
    }
}

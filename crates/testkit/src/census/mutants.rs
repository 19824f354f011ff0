//! What can stand in place of a part of a model: a constant, one of its own parts, its next of kin,
//! or nothing.

use model::{AtomMeaning, BinaryOp, Expr, Pattern, Quantifier, Setting, Stmt, StmtKind, Sync};

use super::sites::{Context, Site};

/// Puts replacement number `number` in place of the site. False if there are not as many.
pub(super) fn replace(site: Site<'_>, number: usize) -> bool {
    match site {
        Site::Expr(expr, context) => put(expr, exprs(expr, context), number),
        Site::Stmt(list, position) => replace_stmt(list, position, number),
        Site::Sync(sync) => {
            let others = match sync {
                Sync::Internal => vec![],
                Sync::Send { .. } | Sync::Receive { .. } | Sync::Event { .. } => {
                    vec![Sync::Internal]
                }
            };
            put(sync, others, number)
        }
        Site::Pattern(pattern) => {
            let others = match pattern {
                Pattern::Match(_) | Pattern::Store(_) => vec![Pattern::Ignore],
                Pattern::Ignore => [0, 1].map(|v| Pattern::Match(Expr::Int(v))).to_vec(),
            };
            put(pattern, others, number)
        }
        Site::Meaning(meaning) => {
            let others = match &*meaning {
                AtomMeaning::Certainly(inner, value) => {
                    vec![AtomMeaning::State(if *value {
                        inner.clone()
                    } else {
                        Expr::not(inner.clone())
                    })]
                }
                AtomMeaning::State(_)
                | AtomMeaning::Taken(_)
                | AtomMeaning::Enabled(_)
                | AtomMeaning::Deadlock
                | AtomMeaning::TimerSet(_) => [false, true]
                    .map(|value| AtomMeaning::State(Expr::Bool(value)))
                    .to_vec(),
            };
            put(meaning, others, number)
        }
    }
}

fn put<T>(place: &mut T, mut others: Vec<T>, number: usize) -> bool {
    let exists = number < others.len();
    if exists {
        *place = others.swap_remove(number);
    }
    exists
}

/// Leaves become constants. Anything else becomes its next of kin or one of its own parts: a
/// constant in its place would mostly be noticed, whatever the operator is.
fn exprs(expr: &Expr, context: Context) -> Vec<Expr> {
    match expr {
        Expr::Int(_)
        | Expr::Bool(_)
        | Expr::Enum(..)
        | Expr::Read(_)
        | Expr::Bound(_)
        | Expr::At { .. }
        | Expr::Length(_) => constants(expr, context),
        Expr::Not(inner) | Expr::Neg(inner) => vec![(**inner).clone()],
        Expr::Wrap {
            bits,
            signed,
            inner,
        } => {
            let is_representable = *bits < 64;
            let turned = is_representable.then(|| Expr::Wrap {
                bits: *bits,
                signed: !signed,
                inner: inner.clone(),
            });
            turned.into_iter().chain([(**inner).clone()]).collect()
        }
        Expr::Binary(op, left, right) => {
            vec![Expr::Binary(kin(*op), left.clone(), right.clone())]
        }
        Expr::Ite(_, then, otherwise) => vec![(**then).clone(), (**otherwise).clone()],
        Expr::Quantified {
            quantifier,
            bound,
            lo,
            hi,
            body,
        } => vec![Expr::Quantified {
            quantifier: match quantifier {
                Quantifier::Forall | Quantifier::Sum => Quantifier::Exists,
                Quantifier::Exists => Quantifier::Forall,
            },
            bound: *bound,
            lo: lo.clone(),
            hi: hi.clone(),
            body: body.clone(),
        }],
    }
}

/// A loop whose condition is true, or whose counter is a constant, has no end.
fn constants(expr: &Expr, context: Context) -> Vec<Expr> {
    let values: &[i64] = match context {
        Context::Loop => &[],
        Context::Guard | Context::Effect | Context::Atom | Context::Static => &[0, 1],
    };
    let others = values.iter().map(|value| Expr::Int(*value));
    others.filter(|other| other != expr).collect()
}

/// The operator that an error would most likely take for this one.
fn kin(op: BinaryOp) -> BinaryOp {
    match op {
        BinaryOp::Add => BinaryOp::Sub,
        BinaryOp::Sub | BinaryOp::Mul => BinaryOp::Add,
        BinaryOp::Div => BinaryOp::Quot,
        BinaryOp::Mod => BinaryOp::Rem,
        BinaryOp::Quot => BinaryOp::Div,
        BinaryOp::Rem => BinaryOp::Mod,
        BinaryOp::BitAnd => BinaryOp::BitOr,
        BinaryOp::BitOr => BinaryOp::BitXor,
        BinaryOp::BitXor => BinaryOp::BitOr,
        BinaryOp::Shl => BinaryOp::Shr,
        BinaryOp::Shr => BinaryOp::Shl,
        BinaryOp::And => BinaryOp::Or,
        BinaryOp::Or => BinaryOp::And,
        BinaryOp::Implies => BinaryOp::Eq,
        BinaryOp::Eq => BinaryOp::Ne,
        BinaryOp::Ne => BinaryOp::Eq,
        BinaryOp::Lt => BinaryOp::Le,
        BinaryOp::Le => BinaryOp::Lt,
        BinaryOp::Gt => BinaryOp::Ge,
        BinaryOp::Ge => BinaryOp::Gt,
    }
}

fn replace_stmt(list: &mut Vec<Stmt>, position: usize, number: usize) -> bool {
    // Names must stay known to what comes behind.
    let others = match &list[position].kind {
        StmtKind::Let(bound, _) => [0, 1]
            .map(|value| StmtKind::Let(*bound, Expr::Int(value)))
            .to_vec(),
        StmtKind::Choose(bound, lo, hi, _) => [lo, hi]
            .map(|end| StmtKind::Let(*bound, end.clone()))
            .to_vec(),
        StmtKind::Set(bound, value) => {
            let more = Expr::binary(BinaryOp::Add, value.clone(), Expr::Int(1));
            vec![StmtKind::Set(*bound, more)]
        }
        StmtKind::SetTimer(place, Setting::Any) => {
            let off = Setting::To(Expr::Int(-1));
            let zero = Setting::To(Expr::Int(0));
            [off, zero]
                .map(|setting| StmtKind::SetTimer(place.clone(), setting))
                .to_vec()
        }
        StmtKind::Assign(..)
        | StmtKind::If(..)
        | StmtKind::For(..)
        | StmtKind::Assert(_)
        | StmtKind::While(..)
        | StmtKind::Fail(_)
        | StmtKind::SetTimer(_, Setting::To(_))
        | StmtKind::Tick
        | StmtKind::Exhausted => {
            if number == 0 {
                list.remove(position);
            }
            return number == 0;
        }
    };

    put(&mut list[position].kind, others, number)
}

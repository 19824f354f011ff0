//! The names of constructs. Every match is exhaustive: a new constructor does not compile until it
//! has a name, and a name that the table does not list is refused by the census.

use model::{
    Access, AnnotationKind, Assumption, AtomMeaning, BinaryOp, ChannelRef, ErrorKind, Expr,
    ModelParts, Owner, Pattern, Place, Quantifier, Scalar, Setting, StepPattern, Stmt, StmtKind,
    Sync, Target, Type,
};

use super::sites::{Context, Site};

type Names = Vec<&'static str>;

/// Numbers from here on are near the end of 64 bits.
const LARGE: u64 = 1 << 62;

pub(super) fn of_site(parts: &ModelParts, site: &Site<'_>) -> Names {
    match site {
        Site::Expr(expr, context) => of_expr(parts, expr, *context),
        Site::Stmt(list, position) => of_stmt(parts, &list[*position]),
        Site::Sync(sync) => of_sync(parts, sync),
        Site::Pattern(pattern) => match pattern {
            Pattern::Match(_) => vec!["Pattern::Match"],
            Pattern::Store(place) => with(["Pattern::Store"], of_place(parts, place)),
            Pattern::Ignore => vec!["Pattern::Ignore"],
        },
        Site::Meaning(meaning) => of_meaning(parts, meaning),
    }
}

fn with<const N: usize>(first: [&'static str; N], rest: Names) -> Names {
    first.into_iter().chain(rest).collect()
}

fn of_expr(parts: &ModelParts, expr: &Expr, context: Context) -> Names {
    match expr {
        Expr::Int(value) if value.unsigned_abs() >= LARGE - 1 => {
            vec!["Expr::Int", "number near the end of 64 bits"]
        }
        Expr::Int(_) => vec!["Expr::Int"],
        Expr::Bool(_) => vec!["Expr::Bool"],
        Expr::Enum(..) => vec!["Expr::Enum"],
        Expr::Read(place) => with(["Expr::Read"], of_place(parts, place)),
        Expr::Bound(_) => vec!["Expr::Bound"],
        Expr::Not(_) => vec!["Expr::Not"],
        Expr::Neg(_) => vec!["Expr::Neg"],
        Expr::Binary(op, ..) => vec!["Expr::Binary", of_binary(*op)],
        Expr::Ite(..) => vec!["Expr::Ite"],
        Expr::Quantified { quantifier, .. } => {
            let kind = match quantifier {
                Quantifier::Forall => "Quantifier::Forall",
                Quantifier::Exists => "Quantifier::Exists",
                Quantifier::Sum => "Quantifier::Sum",
            };
            vec!["Expr::Quantified", kind]
        }
        Expr::At { owner, .. } => vec!["Expr::At", of_owner(owner)],
        Expr::Length(channel) => {
            let position = match context {
                Context::Guard => "length in a guard",
                Context::Atom => "length in a proposition",
                Context::Effect | Context::Loop | Context::Static => "length elsewhere",
            };
            with(["Expr::Length", position], of_channel(parts, channel))
        }
        Expr::Wrap { signed: true, .. } => vec!["Expr::Wrap", "Wrap signed"],
        Expr::Wrap { signed: false, .. } => vec!["Expr::Wrap", "Wrap unsigned"],
    }
}

fn of_binary(op: BinaryOp) -> &'static str {
    match op {
        BinaryOp::Add => "BinaryOp::Add",
        BinaryOp::Sub => "BinaryOp::Sub",
        BinaryOp::Mul => "BinaryOp::Mul",
        BinaryOp::Div => "BinaryOp::Div",
        BinaryOp::Mod => "BinaryOp::Mod",
        BinaryOp::Quot => "BinaryOp::Quot",
        BinaryOp::Rem => "BinaryOp::Rem",
        BinaryOp::BitAnd => "BinaryOp::BitAnd",
        BinaryOp::BitOr => "BinaryOp::BitOr",
        BinaryOp::BitXor => "BinaryOp::BitXor",
        BinaryOp::Shl => "BinaryOp::Shl",
        BinaryOp::Shr => "BinaryOp::Shr",
        BinaryOp::And => "BinaryOp::And",
        BinaryOp::Or => "BinaryOp::Or",
        BinaryOp::Implies => "BinaryOp::Implies",
        BinaryOp::Eq => "BinaryOp::Eq",
        BinaryOp::Ne => "BinaryOp::Ne",
        BinaryOp::Lt => "BinaryOp::Lt",
        BinaryOp::Le => "BinaryOp::Le",
        BinaryOp::Gt => "BinaryOp::Gt",
        BinaryOp::Ge => "BinaryOp::Ge",
    }
}

fn of_owner(owner: &Owner) -> &'static str {
    match owner {
        Owner::Own => "Owner::Own",
        Owner::Single => "Owner::Single",
        Owner::Indexed(_) => "Owner::Indexed",
    }
}

fn of_place(parts: &ModelParts, place: &Place) -> Names {
    let mut names: Names = place.owner.iter().map(of_owner).collect();
    let mut n_indices = 0;
    for access in &place.path {
        match access {
            Access::Index(index) => {
                n_indices += 1;
                names.push("Access::Index");
                // shape: other indices are counted as what they are.
                if matches!(index, Expr::Read(inner) if !inner.path.is_empty()) {
                    names.push("element of an array as index");
                }
            }
            Access::Field(_) => names.push("Access::Field"),
        }
    }
    if n_indices > 1 {
        names.push("array of arrays");
    }
    names.push(of_scalar(parts, place));
    names
}

/// The type of the cell that a place names.
fn of_scalar(parts: &ModelParts, place: &Place) -> &'static str {
    let mut ty = &parts.vars[place.var.index()].ty;
    for access in &place.path {
        ty = match (access, ty) {
            (Access::Index(_), Type::Array(array)) => &array.element,
            (Access::Field(field), Type::Record(record)) => {
                &parts.records[record.index()].fields[*field].1
            }
            (Access::Index(_), Type::Scalar(_) | Type::Record(_))
            | (Access::Field(_), Type::Scalar(_) | Type::Array(_)) => {
                unreachable!("accesses fit the type")
            }
        };
    }

    match ty {
        Type::Scalar(Scalar::Bool) => "Scalar::Bool",
        Type::Scalar(Scalar::Range(lo, hi)) if hi.checked_sub(*lo).is_none() => {
            "range of all 64 bits"
        }
        Type::Scalar(Scalar::Range(..)) => "Scalar::Range",
        Type::Scalar(Scalar::Int) => "Scalar::Int",
        Type::Scalar(Scalar::Enum(..)) => "Scalar::Enum",
        Type::Array(_) | Type::Record(_) => unreachable!("places are scalars"),
    }
}

fn of_channel(parts: &ModelParts, reference: &ChannelRef) -> Names {
    let channel = &parts.channels[reference.channel.index()];
    let room = if channel.capacity == 0 {
        "channel: rendezvous"
    } else {
        "channel: buffered"
    };
    let array = channel.indices.map(|_| "channel: array");
    let several = (channel.payload.len() > 1).then_some("channel: several components");
    [Some(room), array, several].into_iter().flatten().collect()
}

fn of_sync(parts: &ModelParts, sync: &Sync) -> Names {
    match sync {
        Sync::Internal => vec!["Sync::Internal"],
        Sync::Send { channel, .. } => with(["Sync::Send"], of_channel(parts, channel)),
        Sync::Receive { channel, .. } => with(["Sync::Receive"], of_channel(parts, channel)),
        Sync::Event { .. } => vec!["Sync::Event"],
    }
}

fn of_stmt(parts: &ModelParts, stmt: &Stmt) -> Names {
    match &stmt.kind {
        StmtKind::Assign(place, _) => with(["StmtKind::Assign"], of_place(parts, place)),
        StmtKind::If(..) => vec!["StmtKind::If"],
        StmtKind::For(..) => vec!["StmtKind::For"],
        StmtKind::Choose(..) => vec!["StmtKind::Choose"],
        StmtKind::Assert(_) => vec!["StmtKind::Assert"],
        StmtKind::Let(..) => vec!["StmtKind::Let"],
        StmtKind::Set(..) => vec!["StmtKind::Set"],
        StmtKind::While(..) => vec!["StmtKind::While"],
        StmtKind::Fail(_) => vec!["StmtKind::Fail"],
        StmtKind::SetTimer(place, setting) => {
            let timer = parts.timers.iter().find(|timer| timer.var == place.var);
            let is_abstract = timer.is_some_and(|timer| timer.threshold.is_some());
            let kind = if is_abstract {
                "timer: abstract"
            } else {
                "timer: concrete"
            };
            let setting = match setting {
                Setting::To(_) => "Setting::To",
                Setting::Any => "Setting::Any",
            };
            vec!["StmtKind::SetTimer", kind, setting]
        }
        StmtKind::Tick => vec!["StmtKind::Tick"],
        StmtKind::Exhausted => vec!["StmtKind::Exhausted"],
    }
}

fn of_meaning(parts: &ModelParts, meaning: &AtomMeaning) -> Names {
    match meaning {
        AtomMeaning::State(_) => vec!["AtomMeaning::State"],
        AtomMeaning::Taken(pattern) => with(["AtomMeaning::Taken"], of_step_pattern(pattern)),
        AtomMeaning::Enabled(pattern) => {
            let communicates = parts.processes.iter().enumerate().any(|(number, process)| {
                let fits = pattern.process.is_some_and(|p| p.index() == number);
                let mut steps = process.steps.iter();
                fits && steps.any(|step| {
                    // shape: the others do not communicate by channels.
                    let talks = matches!(step.sync, Sync::Send { .. } | Sync::Receive { .. });
                    talks && pattern.action.as_ref() == Some(&step.name)
                })
            });
            let mut names = with(["AtomMeaning::Enabled"], of_step_pattern(pattern));
            if communicates {
                names.push("enabled communication");
            }
            names
        }
        AtomMeaning::Deadlock => vec!["AtomMeaning::Deadlock"],
        AtomMeaning::Certainly(..) => vec!["AtomMeaning::Certainly"],
        AtomMeaning::TimerSet(_) => vec!["AtomMeaning::TimerSet"],
    }
}

fn of_step_pattern(pattern: &StepPattern) -> Names {
    let StepPattern {
        process,
        index,
        action,
        event,
        arguments,
    } = pattern;
    let named = [
        process.map(|_| "StepPattern.process"),
        index.map(|_| "StepPattern.index"),
        action.as_ref().map(|_| "StepPattern.action"),
        event.map(|_| "StepPattern.event"),
        arguments.as_ref().map(|_| "StepPattern.arguments"),
    ];
    named.into_iter().flatten().collect()
}

pub(super) fn of_annotation(kind: AnnotationKind, target: &Target) -> &'static str {
    match (kind, target) {
        (AnnotationKind::Unconditional, Target::Process(_)) => "fair process",
        (AnnotationKind::Unconditional, Target::Action(..)) => "fair action",
        (AnnotationKind::Unconditional, Target::Event(_)) => "fair event",
        (AnnotationKind::Unconditional, Target::Choice(..)) => "fair choice",
        (AnnotationKind::Just, _) => "just fair",
        (AnnotationKind::Weak, Target::Process(_)) => "weak fair process",
        (AnnotationKind::Weak, Target::Action(..)) => "weak fair action",
        (AnnotationKind::Weak, Target::Event(_)) => "weak fair event",
        (AnnotationKind::Weak, Target::Choice(..)) => "weak fair choice",
        (AnnotationKind::Strong, Target::Process(_)) => "strong fair process",
        (AnnotationKind::Strong, Target::Action(..)) => "strong fair action",
        (AnnotationKind::Strong, Target::Event(_)) => "strong fair event",
        (AnnotationKind::Strong, Target::Choice(..)) => "strong fair choice",
        (_, Target::Subject(_)) => "fair subject",
    }
}

pub(super) fn of_assumption(assumption: &Assumption) -> &'static str {
    match assumption {
        Assumption::Infinitely(..) => "Assumption::Infinitely",
        Assumption::Eventually(..) => "Assumption::Eventually",
        Assumption::All(_) => "Assumption::All",
        Assumption::Any(_) => "Assumption::Any",
    }
}

pub(super) fn of_error(kind: &ErrorKind) -> &'static str {
    match kind {
        ErrorKind::DivisionByZero => "error: division by zero",
        ErrorKind::Overflow => "error: overflow",
        ErrorKind::IndexOutOfRange { .. } => "error: index out of range",
        ErrorKind::ValueOutOfRange { .. } => "error: value out of range",
        ErrorKind::WriteConflict { .. } => "error: write conflict",
        ErrorKind::AssertionFailed => "error: assertion failed",
        ErrorKind::ShiftOutOfRange { .. } => "error: shift out of range",
        ErrorKind::EndlessLoop => "error: endless loop",
        ErrorKind::Described(_) => "error: described",
        ErrorKind::Exhausted => "error: exhausted",
    }
}

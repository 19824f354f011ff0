//! What names mean: constants, macros, variables, channels and processes.

use std::collections::HashMap;
use std::rc::Rc;

use base::{Diagnostic, Span, closest_name};

use super::ast::{
    BinaryOp, ChannelDecl, EventSpec, Expr, ExprKind, ExprRef, Ident, MacroBody, MacroDecl,
    ProcDecl, RecordItem, Spec, VarDecl, VarInit,
};
use super::lexer::Name;

/// Arrays with more elements than this are refused.
const MAX_CELLS: i64 = 100_000;

/// The type of a value. The language is weakly typed: what a variable holds may be a number here
/// and a truth value there, which is [`Ty::Any`].
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Debug)]
pub(crate) enum Ty {
    Bool,
    Int,
    Any,
}

impl Ty {
    pub(crate) fn fits(self, wanted: Self) -> bool {
        self == wanted || self == Self::Any || wanted == Self::Any
    }
}

/// A global variable.
#[derive(Clone, Debug)]
pub(crate) struct Var {
    pub(crate) name: Ident,
    /// Its dimensions; none for a single cell.
    pub(crate) dimensions: Vec<i64>,
    /// What the author says about its values.
    pub(crate) range: Option<(i64, i64)>,
    /// The initial values, one for each cell; nothing if they may be any.
    pub(crate) initial: Option<Vec<i64>>,
    pub(crate) ty: Ty,
    /// Is it local to programs?
    pub(crate) is_scratch: bool,
}

impl Var {
    pub(crate) fn n_cells(&self) -> usize {
        self.dimensions.iter().product::<i64>() as usize
    }
}

/// A channel or an array of channels.
#[derive(Clone, Debug)]
pub(crate) struct Chan {
    pub(crate) name: Ident,
    /// How many, if it is an array.
    pub(crate) count: Option<i64>,
    /// How many messages each holds.
    pub(crate) size: i64,
}

/// What names mean.
#[derive(Debug, Default)]
pub(crate) struct Scope {
    pub(crate) constants: HashMap<Name, (i64, Ty)>,
    pub(crate) macros: HashMap<Name, MacroDecl>,
    pub(crate) vars: Vec<Var>,
    pub(crate) var_by_name: HashMap<Name, usize>,
    pub(crate) channels: Vec<Chan>,
    pub(crate) channel_by_name: HashMap<Name, usize>,
    pub(crate) processes: Vec<ProcDecl>,
    pub(crate) process_by_name: HashMap<Name, usize>,
    pub(crate) alphabets: HashMap<Name, Rc<Vec<EventSpec>>>,
}

/// Looks at all declarations.
pub(crate) fn scope(
    spec: &Spec,
    defines: &[(String, String)],
    diagnostics: &mut Vec<Diagnostic>,
) -> Scope {
    let mut builder = ScopeBuilder {
        scope: Scope::default(),
        declared: HashMap::new(),
        diagnostics,
    };

    // Constants first: sizes and ranges of what follows depend on them.
    builder.constants(spec, defines);
    for decl in &spec.vars {
        builder.variable(decl);
    }
    for decl in &spec.channels {
        builder.channel(decl);
    }
    for decl in &spec.processes {
        builder.process(decl);
    }
    for decl in &spec.alphabets {
        builder.alphabet(&decl.process, &decl.events);
    }

    builder.scope
}

struct ScopeBuilder<'a> {
    scope: Scope,
    declared: HashMap<Name, Span>,
    diagnostics: &'a mut Vec<Diagnostic>,
}

impl ScopeBuilder<'_> {
    fn declare(&mut self, name: &Ident) {
        if let Some(before) = self.declared.insert(name.text.clone(), name.span) {
            let message = format!("`{}` is declared twice", name.text);
            let diagnostic = Diagnostic::error("duplicate", name.span, message);
            self.diagnostics
                .push(diagnostic.label(before, "declared here as well"));
        }
    }

    fn error(&mut self, code: &'static str, span: Span, message: String) {
        self.diagnostics
            .push(Diagnostic::error(code, span, message));
    }

    fn constants(&mut self, spec: &Spec, defines: &[(String, String)]) {
        for names in &spec.enums {
            for (position, name) in names.iter().enumerate() {
                self.declare(name);
                let value = (position as i64, Ty::Int);
                self.scope.constants.insert(name.text.clone(), value);
            }
        }

        for decl in &spec.macros {
            self.declare(&decl.name);
            self.scope
                .macros
                .insert(decl.name.text.clone(), decl.clone());
        }

        for (name, value) in defines {
            self.override_constant(name, value);
        }

        // A constant may mention others that come later, so try until nothing changes.
        loop {
            let before = self.scope.constants.len();
            for decl in &spec.macros {
                if let MacroBody::Expr(body) = &decl.body
                    && decl.parameters.is_empty()
                    && !self.scope.constants.contains_key(&decl.name.text)
                    && let Some(value) = self.scope.constant(body)
                {
                    self.scope.constants.insert(decl.name.text.clone(), value);
                }
            }
            if self.scope.constants.len() == before {
                return;
            }
        }
    }

    fn override_constant(&mut self, name: &str, value: &str) {
        let span = Span::nowhere();
        let Some(decl) = self.scope.macros.get(name) else {
            let known = self.scope.macros.keys().map(|name| &**name);
            let mut known: Vec<&str> = known.collect();
            known.sort_unstable();
            let advice = match closest_name(name, known) {
                Some(close) => format!("; did you mean `{close}`?"),
                None => String::new(),
            };
            let message = format!("-D names `{name}`, but there is no such constant{advice}");
            return self.error("unknown-name", span, message);
        };

        let span = decl.name.span;
        let value = match value {
            "true" => (1, Ty::Bool),
            "false" => (0, Ty::Bool),
            number => match number.parse::<i32>() {
                Ok(number) => (i64::from(number), Ty::Int),
                Err(_) => {
                    let message = format!(
                        "`{number}` is not a value of `{name}`: give a number, `true` or `false`"
                    );
                    return self.error("bad-define", span, message);
                }
            },
        };

        self.scope.constants.insert(name.into(), value);
    }

    /// A constant that must be there.
    fn number(&mut self, expr: &ExprRef, what: &str) -> Option<i64> {
        match self.scope.constant(expr) {
            Some((value, _)) => Some(value),
            None => {
                self.error(
                    "not-constant",
                    expr.span,
                    format!("{what} must be constant"),
                );
                None
            }
        }
    }

    fn variable(&mut self, decl: &VarDecl) {
        self.declare(&decl.name);
        let mut dimensions = Vec::new();
        for expr in &decl.dimensions {
            match self.number(expr, "the size of an array") {
                Some(size) if (1..=MAX_CELLS).contains(&size) => dimensions.push(size),
                Some(size) => {
                    let message = format!("an array cannot have {size} elements");
                    return self.error("bad-size", expr.span, message);
                }
                None => return,
            }
        }

        if dimensions.iter().product::<i64>() > MAX_CELLS {
            let message = format!("an array cannot have more than {MAX_CELLS} elements");
            return self.error("bad-size", decl.name.span, message);
        }

        let mut range = None;
        if let Some((lo, hi)) = &decl.range {
            let mut end = |expr: &Option<ExprRef>, default: i32| match expr {
                None => Some(i64::from(default)),
                Some(expr) => self.number(expr, "the end of a range"),
            };
            let (Some(lo), Some(hi)) = (end(lo, i32::MIN), end(hi, i32::MAX)) else {
                return;
            };
            if lo > hi {
                let message = format!("the range {lo}..{hi} is empty");
                return self.error("empty-range", decl.name.span, message);
            }
            range = Some((lo, hi));
        }

        self.initialised(decl, dimensions, range);
    }

    fn initialised(&mut self, decl: &VarDecl, mut dimensions: Vec<i64>, range: Option<(i64, i64)>) {
        let n_cells = dimensions.iter().product::<i64>() as usize;
        let mut ty = Ty::Int;
        let initial = match &decl.init {
            VarInit::Default => {
                // The author has not said what it is for.
                ty = Ty::Any;
                let zero = range.map_or(0, |(lo, hi)| 0.clamp(lo, hi));
                Some(vec![zero; n_cells])
            }
            VarInit::Any(span) => {
                let Some((lo, hi)) = range else {
                    let message = format!(
                        "`{}` starts with any value, so it needs a range, as in `:{{0..3}}`",
                        decl.name.text
                    );
                    return self.error("any-without-range", *span, message);
                };
                if hi - lo > 1_000_000 {
                    let message = "the range is too large to start with any of its values";
                    return self.error("any-without-range", *span, message.to_owned());
                }
                None
            }
            VarInit::Value(expr) => {
                let Some((value, value_ty)) = self.scope.constant(expr) else {
                    let message = "an initial value must be constant".to_owned();
                    return self.error("not-constant", expr.span, message);
                };
                ty = value_ty;
                Some(vec![value; n_cells])
            }
            VarInit::Record(items, span) => {
                let Some((values, value_ty)) = self.record(items) else {
                    return;
                };
                ty = value_ty;
                if dimensions.is_empty() {
                    dimensions.push(values.len() as i64);
                } else if values.len() != n_cells {
                    let message = format!(
                        "`{}` has {n_cells} elements, but {} values are given",
                        decl.name.text,
                        values.len()
                    );
                    return self.error("bad-size", *span, message);
                }
                Some(values)
            }
        };

        let position = self.scope.vars.len();
        self.scope
            .var_by_name
            .insert(decl.name.text.clone(), position);
        self.scope.vars.push(Var {
            name: decl.name.clone(),
            dimensions,
            range,
            initial,
            ty,
            is_scratch: decl.is_scratch,
        });
    }

    /// The values of `[1(2), 3..6, true]`.
    fn record(&mut self, items: &[RecordItem]) -> Option<(Vec<i64>, Ty)> {
        let mut values = Vec::new();
        let mut types = Vec::new();
        for item in items {
            match item {
                RecordItem::Repeat(expr, count) => {
                    let Some((value, ty)) = self.scope.constant(expr) else {
                        self.number(expr, "an initial value")?;
                        return None;
                    };
                    let count = match count {
                        Some(count) => self.number(count, "the number of repetitions")?,
                        None => 1,
                    };
                    let count = count.clamp(0, MAX_CELLS) as usize;
                    values.extend(std::iter::repeat_n(value, count));
                    types.push(ty);
                }
                RecordItem::Range(from, to) => {
                    let from = self.number(from, "the end of a range")?;
                    let to_value = self.number(to, "the end of a range")?;
                    if (from - to_value).abs() > MAX_CELLS {
                        self.error("bad-size", to.span, "the range is too large".to_owned());
                        return None;
                    }
                    if from <= to_value {
                        values.extend(from..=to_value)
                    } else {
                        values.extend((to_value..=from).rev())
                    }
                    types.push(Ty::Int);
                }
            }
        }

        let same = types.windows(2).all(|pair| pair[0] == pair[1]);
        let ty = types.first().copied().unwrap_or(Ty::Int);
        Some((values, if same { ty } else { Ty::Any }))
    }

    fn channel(&mut self, decl: &ChannelDecl) {
        self.declare(&decl.name);
        let count = match &decl.count {
            None => None,
            Some(expr) => match self.number(expr, "the number of channels") {
                Some(count) if (1..=10_000).contains(&count) => Some(count),
                Some(count) => {
                    let message = format!("there cannot be {count} channels");
                    return self.error("bad-size", expr.span, message);
                }
                None => return,
            },
        };

        let size = match self.number(&decl.size, "the size of a channel") {
            Some(size) if (0..=10_000).contains(&size) => size,
            Some(size) => {
                let message = format!("a channel cannot hold {size} messages");
                return self.error("bad-size", decl.size.span, message);
            }
            None => return,
        };

        let position = self.scope.channels.len();
        self.scope
            .channel_by_name
            .insert(decl.name.text.clone(), position);
        self.scope.channels.push(Chan {
            name: decl.name.clone(),
            count,
            size,
        });
    }

    fn process(&mut self, decl: &ProcDecl) {
        self.declare(&decl.name);
        let position = self.scope.processes.len();
        self.scope
            .process_by_name
            .insert(decl.name.text.clone(), position);
        self.scope.processes.push(decl.clone());
    }

    fn alphabet(&mut self, process: &Ident, events: &Rc<Vec<EventSpec>>) {
        if !self.scope.process_by_name.contains_key(&process.text) {
            let message = format!("there is no process `{}`", process.text);
            self.error("unknown-process", process.span, message);
        }
        self.scope
            .alphabets
            .insert(process.text.clone(), events.clone());
    }
}

impl Scope {
    /// The value of an expression that mentions constants only.
    pub(crate) fn constant(&self, expr: &Expr) -> Option<(i64, Ty)> {
        match &expr.kind {
            ExprKind::Int(value) => Some((*value, Ty::Int)),
            ExprKind::Bool(value) => Some((i64::from(*value), Ty::Bool)),
            ExprKind::Name(name) => self.constants.get(name).copied(),
            ExprKind::Not(inner) => {
                let (value, _) = self.constant(inner)?;
                Some((i64::from(value == 0), Ty::Bool))
            }
            ExprKind::Neg(inner) => Some((self.constant(inner)?.0.checked_neg()?, Ty::Int)),
            ExprKind::Binary(op, left, right) => {
                let (a, b) = (self.constant(left)?.0, self.constant(right)?.0);
                binary(*op, a, b)
            }
            _ => None,
        }
    }

    /// All names of one sort that could have been meant.
    pub(crate) fn advice<'s>(&self, name: &str, known: impl Iterator<Item = &'s Name>) -> String {
        let mut known: Vec<&str> = known.map(|name| &**name).collect();
        known.sort_unstable();
        match closest_name(name, known) {
            Some(close) => format!("did you mean `{close}`?"),
            None => String::new(),
        }
    }
}

/// The value of an operator; nothing for a division by zero or an overflow. As in PAT, a remainder
/// is never negative: `(0 - 1) % 3` is 2.
pub(crate) fn binary(op: BinaryOp, a: i64, b: i64) -> Option<(i64, Ty)> {
    let truth = |value: bool| Some((i64::from(value), Ty::Bool));
    let number = |value: Option<i64>| value.map(|value| (value, Ty::Int));
    match op {
        BinaryOp::Or => truth(a != 0 || b != 0),
        BinaryOp::And => truth(a != 0 && b != 0),
        BinaryOp::Xor => truth((a != 0) != (b != 0)),
        BinaryOp::BitAnd => number(Some(a & b)),
        BinaryOp::BitOr => number(Some(a | b)),
        BinaryOp::BitXor => number(Some(a ^ b)),
        BinaryOp::Eq => truth(a == b),
        BinaryOp::Ne => truth(a != b),
        BinaryOp::Lt => truth(a < b),
        BinaryOp::Le => truth(a <= b),
        BinaryOp::Gt => truth(a > b),
        BinaryOp::Ge => truth(a >= b),
        BinaryOp::Add => number(a.checked_add(b)),
        BinaryOp::Sub => number(a.checked_sub(b)),
        BinaryOp::Mul => number(a.checked_mul(b)),
        BinaryOp::Div => number(a.checked_div(b)),
        // As PAT does it: see `value::arithmetic`.
        BinaryOp::Rem => number(a.checked_rem(b).map(|rest| match rest {
            ..0 => rest + b,
            _ => rest,
        })),
    }
}

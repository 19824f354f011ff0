//! Expressions as text, for the names of atoms.

use logic::PathQuantifier;
use model::Quantifier;

use super::Lowerer;
use crate::ast::{BinaryOp, Binder, Expr, ExprKind, Ident, UnaryOp};

/// How tightly an expression binds, as in the parser; 9 for what needs no parentheses.
fn level(expr: &Expr) -> u8 {
    use model::BinaryOp as Op;
    let of_op = |op: &Op| match op {
        Op::Implies => 1,
        Op::Or => 2,
        Op::And => 3,
        Op::Add | Op::Sub => 7,
        Op::Mul | Op::Div | Op::Mod => 8,
        _ => 6,
    };

    match &expr.kind {
        ExprKind::Quantified { .. } | ExprKind::If(..) => 0,
        ExprKind::Binary(BinaryOp::Model(op), ..) => of_op(op),
        ExprKind::Binary(BinaryOp::Iff, ..) => 0,
        ExprKind::Binary(BinaryOp::LeadsTo, ..) => 1,
        ExprKind::Binary(BinaryOp::Subset, ..) | ExprKind::In { .. } | ExprKind::Between(..) => 6,
        ExprKind::Binary(BinaryOp::Union | BinaryOp::Intersection | BinaryOp::Difference, ..) => 7,
        ExprKind::Binary(..) => 4,
        ExprKind::Chain(_, rest) => rest.first().map_or(9, |(op, _)| of_op(op)),
        ExprKind::Unary(UnaryOp::Minus, _) => 8,
        ExprKind::Unary(..) => 5,
        _ => 9,
    }
}

fn symbol(op: model::BinaryOp) -> &'static str {
    use model::BinaryOp as Op;
    match op {
        Op::Add => " + ",
        Op::Sub => " - ",
        Op::Mul => " * ",
        Op::Div => " / ",
        Op::Mod => " % ",
        Op::Quot => " quot ",
        Op::Rem => " rem ",
        Op::BitAnd => " & ",
        Op::BitOr => " | ",
        Op::BitXor => " ^ ",
        Op::Shl => " << ",
        Op::Shr => " >> ",
        Op::And => " && ",
        Op::Or => " || ",
        Op::Implies => " -> ",
        Op::Eq => " == ",
        Op::Ne => " != ",
        Op::Lt => " < ",
        Op::Le => " <= ",
        Op::Gt => " > ",
        Op::Ge => " >= ",
    }
}

impl Lowerer<'_> {
    /// How a literal is written.
    pub(super) fn literal_text(&self, expr: &model::Expr) -> Option<String> {
        match expr {
            model::Expr::Int(value) => Some(value.to_string()),
            model::Expr::Bool(value) => Some(value.to_string()),
            model::Expr::Enum(id, n) => {
                Some(self.parts.enums[id.index()].variants[*n as usize].clone())
            }
            model::Expr::Read(_)
            | model::Expr::Bound(_)
            | model::Expr::Not(_)
            | model::Expr::Neg(_)
            | model::Expr::Binary(..)
            | model::Expr::Ite(..)
            | model::Expr::Quantified { .. }
            | model::Expr::At { .. }
            | model::Expr::Length(_)
            | model::Expr::Wrap { .. } => None,
        }
    }

    /// The text of an expression in one way of writing it, with values for the names that stand
    /// for constants or arguments here.
    pub(super) fn text(&self, expr: &Expr) -> String {
        let mut writer = Writer {
            lowerer: self,
            hidden: Vec::new(),
            out: String::new(),
        };
        writer.expr(expr, 0);
        writer.out
    }
}

struct Writer<'l, 'a> {
    lowerer: &'l Lowerer<'a>,
    /// Names that are bound inside the expression.
    hidden: Vec<String>,
    out: String,
}

impl Writer<'_, '_> {
    /// Writes an expression, in parentheses if it binds less tightly than `least`.
    fn expr(&mut self, expr: &Expr, least: u8) {
        let in_parentheses = level(expr) < least;
        if in_parentheses {
            self.out.push('(');
        }
        self.bare(expr);
        if in_parentheses {
            self.out.push(')');
        }
    }

    fn bare(&mut self, expr: &Expr) {
        match &expr.kind {
            ExprKind::Int(value) => self.out.push_str(&value.to_string()),
            ExprKind::Bool(value) => self.out.push_str(&value.to_string()),
            ExprKind::Any => self.out.push_str("any"),
            ExprKind::Name(name) => self.name(name),
            ExprKind::Index(base, index) => {
                self.expr(base, 9);
                self.out.push('[');
                self.expr(index, 0);
                self.out.push(']');
            }
            ExprKind::Field(base, field) => {
                self.expr(base, 9);
                self.out.push('.');
                self.out.push_str(&field.text);
            }
            ExprKind::AnyStep(base) => {
                self.expr(base, 9);
                self.out.push_str(".*");
            }
            ExprKind::Call(function, arguments) => {
                self.expr(function, 9);
                self.list("(", arguments, ")");
            }
            ExprKind::At(process, locations) => self.at(process.as_deref(), locations),
            ExprKind::Unary(op, inner) => self.unary(*op, inner),
            ExprKind::Path(quantifier, inner) => {
                self.out.push_str(match quantifier {
                    PathQuantifier::All => "A(",
                    PathQuantifier::Exists => "E(",
                });
                self.expr(inner, 0);
                self.out.push(')');
            }
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, level(expr)),
            ExprKind::Chain(first, rest) => {
                let level = level(expr);
                self.expr(first, level + 1);
                for (op, operand) in rest {
                    self.out.push_str(symbol(*op));
                    self.expr(operand, level + 1);
                }
            }
            ExprKind::If(condition, then, otherwise) => {
                self.out.push_str("if ");
                self.expr(condition, 1);
                self.out.push_str(" then ");
                self.expr(then, 1);
                self.out.push_str(" else ");
                self.expr(otherwise, 0);
            }
            ExprKind::Quantified {
                quantifier,
                counts,
                binders,
                body,
            } => self.quantified(*quantifier, *counts, binders, body),
            ExprKind::Array(elements) => self.list("[", elements, "]"),
            ExprKind::Set(elements) => self.list("{", elements, "}"),
            ExprKind::Filter(binder) => {
                self.out.push('{');
                let n_hidden = self.hidden.len();
                self.binders(std::slice::from_ref(binder));
                self.hidden.truncate(n_hidden);
                self.out.push('}');
            }
            ExprKind::Image(element, binder) => {
                // The names of the binder hide others in the element that stands before it.
                let n_hidden = self.hidden.len();
                let before = self.out.len();
                self.binders(std::slice::from_ref(binder));
                let binders = self.out.split_off(before);
                self.out.push('{');
                self.expr(element, 1);
                self.hidden.truncate(n_hidden);
                self.out.push_str(&format!(" for {binders}}}"));
            }
            ExprKind::Entries(entries) => {
                for (position, (key, value)) in entries.iter().enumerate() {
                    self.out.push_str(if position == 0 { "{" } else { ", " });
                    self.expr(key, 1);
                    self.out.push_str(": ");
                    self.expr(value, 1);
                }
                self.out.push('}');
            }
            ExprKind::MapOf(binder, value) => {
                self.out.push('{');
                let n_hidden = self.hidden.len();
                self.binders(std::slice::from_ref(binder));
                self.out.push_str(": ");
                self.expr(value, 1);
                self.hidden.truncate(n_hidden);
                self.out.push('}');
            }
            ExprKind::First(domain) | ExprKind::Last(domain) => self.expr(domain, 7),
            ExprKind::In {
                element, domain, ..
            } => {
                self.expr(element, 7);
                self.out.push_str(" in ");
                self.expr(domain, 7);
            }
            ExprKind::Between(element, lo, hi) => {
                self.expr(element, 7);
                self.out.push_str(" in ");
                self.expr(lo, 7);
                self.out.push_str("..");
                self.expr(hi, 7);
            }
            ExprKind::Comprehension(name, lo, hi, body) => {
                self.out.push_str(&format!("[{} in ", name.text));
                self.range(lo, hi);
                self.out.push_str(": ");
                self.hidden.push(name.text.clone());
                self.expr(body, 0);
                self.hidden.pop();
                self.out.push(']');
            }
        }
    }

    fn name(&mut self, name: &str) {
        let is_hidden = self.hidden.iter().any(|hidden| hidden == name);
        let visible = (!is_hidden).then_some(name);
        let binding = visible.and_then(|name| self.lowerer.binding(name));
        match binding.and_then(|binding| binding.text.as_deref()) {
            Some(text) if text.chars().all(|c| c.is_alphanumeric() || c == '_') => {
                self.out.push_str(text);
            }
            Some(text) => self.out.push_str(&format!("({text})")),
            None => self.out.push_str(name),
        }
    }

    fn list(&mut self, open: &str, elements: &[Expr], close: &str) {
        self.out.push_str(open);
        for (position, element) in elements.iter().enumerate() {
            if position > 0 {
                self.out.push_str(", ");
            }
            self.expr(element, 0);
        }
        self.out.push_str(close);
    }

    fn at(&mut self, process: Option<&Expr>, locations: &[Ident]) {
        if let Some(process) = process {
            self.expr(process, 9);
            self.out.push(' ');
        }
        let names: Vec<&str> = locations.iter().map(|name| name.text.as_str()).collect();
        match names.as_slice() {
            [name] => self.out.push_str(&format!("@ {name}")),
            names => self.out.push_str(&format!("@ {{{}}}", names.join(", "))),
        }
    }

    fn unary(&mut self, op: UnaryOp, inner: &Expr) {
        self.out.push_str(match op {
            UnaryOp::Not => "!",
            UnaryOp::Minus => "-",
            UnaryOp::Always => "[]",
            UnaryOp::Eventually => "<>",
            UnaryOp::Next => "X ",
            UnaryOp::Previously => "previously ",
            UnaryOp::Once => "once ",
            UnaryOp::Historically => "historically ",
        });
        // Comparisons below `!` need none, but are read more easily with them.
        self.expr(inner, 9);
    }

    fn binary(&mut self, op: BinaryOp, left: &Expr, right: &Expr, level: u8) {
        let text = match op {
            BinaryOp::Model(op) => symbol(op),
            BinaryOp::Iff => " <-> ",
            BinaryOp::LeadsTo => " leads to ",
            BinaryOp::Subset => " subset ",
            BinaryOp::Union => " union ",
            BinaryOp::Intersection => " inter ",
            BinaryOp::Difference => " minus ",
            BinaryOp::Until => " U ",
            BinaryOp::WeakUntil => " W ",
            BinaryOp::Release => " R ",
            BinaryOp::StrongRelease => " M ",
            BinaryOp::Since => " since ",
        };
        self.expr(left, level + 1);
        self.out.push_str(text);
        self.expr(right, level + u8::from(level >= 4));
    }

    fn quantified(
        &mut self,
        quantifier: Quantifier,
        counts: bool,
        binders: &[Binder],
        body: &Expr,
    ) {
        self.out.push_str(match quantifier {
            Quantifier::Forall => "forall ",
            Quantifier::Exists => "exists ",
            Quantifier::Sum if counts => "count ",
            Quantifier::Sum => "sum ",
        });

        let n_hidden = self.hidden.len();
        self.binders(binders);
        self.out.push_str(": ");
        self.expr(body, 0);
        self.hidden.truncate(n_hidden);
    }

    /// Writes names with their domains and conditions, and hides what they meant outside.
    fn binders(&mut self, binders: &[Binder]) {
        for (position, binder) in binders.iter().enumerate() {
            if position > 0 {
                self.out.push_str(", ");
            }
            let names: Vec<&str> = binder.names.iter().map(|n| n.text.as_str()).collect();
            self.out.push_str(&names.join(", "));
            self.out.push_str(" in ");
            self.range(&binder.lo, &binder.hi);
            self.hidden.extend(names.into_iter().map(str::to_owned));
            if let Some(conditions) = binder.condition.as_ref().and_then(written) {
                self.out.push_str(" where ");
                self.list_of_conditions(&conditions);
            }
        }
    }

    /// Conditions, all of which are demanded.
    fn list_of_conditions(&mut self, conditions: &[&Expr]) {
        let least = if conditions.len() > 1 { 4 } else { 0 };
        for (position, condition) in conditions.iter().enumerate() {
            if position > 0 {
                self.out.push_str(" && ");
            }
            self.expr(condition, least);
        }
    }

    /// `lo..hi`, or what it stands for.
    fn range(&mut self, lo: &Expr, hi: &Expr) {
        self.expr(lo, 7);
        if !matches!(lo.kind, ExprKind::First(_)) {
            self.out.push_str("..");
            self.expr(hi, 7);
        }
    }
}

/// What is demanded of names besides being elements of their domain.
fn written(condition: &Expr) -> Option<Vec<&Expr>> {
    let is_implied = |expr: &Expr| matches!(expr.kind, ExprKind::In { is_bound: true, .. });
    let parts: Vec<&Expr> = match &condition.kind {
        ExprKind::Chain(first, rest) if is_implied(first) => {
            let rest = rest.iter().map(|(_, part)| part);
            rest.filter(|part| !is_implied(part)).collect()
        }
        _ if is_implied(condition) => Vec::new(),
        _ => vec![condition],
    };
    (!parts.is_empty()).then_some(parts)
}

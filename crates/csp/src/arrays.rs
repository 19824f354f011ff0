//! Arrays as wholes in messages and arguments of processes.
//!
//! An array is the list of its cells: a message carries all of them, and a name that is bound to an
//! array stands for as many values. As in PAT, such a name has one index, whatever the dimensions of
//! the variable that was sent.

use std::rc::Rc;

use base::Span;
use model::Expr as Value;

use super::ast::{BinaryOp, Expr, ExprKind, ExprRef};
use super::functions::chosen;
use super::ranges::{Interval, Shape};
use super::scope::Ty;
use super::term::{Arg, ByAddress, Env, Machine};
use super::value::{Context, Typed, comparison};

impl Machine<'_> {
    /// The values that an expression stands for, each with its range: several for an array.
    pub(crate) fn cells(
        &mut self,
        expr: &ExprRef,
        env: &Env,
    ) -> Option<(Shape, Vec<(Value, Interval)>)> {
        let interval = self.interval(expr, env).unwrap_or((0, 0));
        let Some(cells) = self.array(expr, env) else {
            let (value, _) = self.value(expr, env)?;
            return Some((None, vec![(value, interval)]));
        };
        let mut values = Vec::new();
        for cell in cells.iter() {
            values.push((self.arg(cell)?.0, interval));
        }
        Some((Some(values.len()), values))
    }

    /// The cells of an expression that is an array as a whole.
    pub(crate) fn array(&mut self, expr: &Expr, env: &Env) -> Option<Rc<[Arg]>> {
        let ExprKind::Name(name) = &expr.kind else {
            return None;
        };
        if let Some(arg) = env.get(name) {
            return match arg {
                Arg::Array(cells) => Some(cells.clone()),
                Arg::Const(..) | Arg::Slot(_) | Arg::Bound(_) | Arg::Lazy(..) => None,
            };
        }
        let context = Context {
            env,
            locals: Vec::new(),
            depth: 0,
        };
        let var = self.whole_array(expr, &context)?;
        Some(self.cells_of(var))
    }

    /// The cells of a variable, which are read when they are needed.
    fn cells_of(&mut self, var: usize) -> Rc<[Arg]> {
        if let Some(cells) = self.cells.get(&var) {
            return cells.clone();
        }
        let decl = &self.scope.vars[var];
        let made = |kind| Expr {
            kind,
            span: decl.name.span,
        };
        let mut indices: Vec<Vec<ExprRef>> = vec![Vec::new()];
        for len in &decl.dimensions {
            let longer = |path: &Vec<ExprRef>| -> Vec<Vec<ExprRef>> {
                let with =
                    |index| [path.as_slice(), &[Rc::new(made(ExprKind::Int(index)))]].concat();
                (0..*len).map(with).collect()
            };
            indices = indices.iter().flat_map(longer).collect();
        }

        let cell = |path| {
            let read = made(ExprKind::Index(decl.name.text.clone(), path));
            Arg::Lazy(ByAddress(Rc::new(read)), super::outside())
        };
        let cells: Rc<[Arg]> = indices.into_iter().map(cell).collect();
        self.cells.insert(var, cells.clone());
        cells
    }

    /// A cell of an array that a name is bound to.
    pub(crate) fn received_cell(
        &mut self,
        cells: &[Arg],
        indices: &[ExprRef],
        span: Span,
        context: &mut Context<'_>,
    ) -> Option<Typed> {
        let [index] = indices else {
            let message = "an array that was received or passed has one index";
            return self.error("type-mismatch", span, message);
        };
        let chosen_by = self.number_in(index, context)?;
        let (lo, hi) = self.interval(index, context.env).unwrap_or((0, 0));
        let known = chosen_by.as_literal();
        let (lo, hi) = known.map_or((lo, hi), |index| (index, index));
        let last = cells.len() as i64 - 1;
        if lo < 0 || hi > last {
            let message = format!("the index may be {lo} to {hi}, but the last cell is {last}");
            let diagnostic = base::Diagnostic::error("index-out-of-range", span, message);
            let help = "give what the index is computed from a range, as in `var i:{0..1} = 0;`";
            self.diagnostics.push(diagnostic.help(help));
            return None;
        }

        let (mut value, _) = self.arg(&cells[hi as usize])?;
        for n in (lo..hi).rev() {
            let here = comparison(BinaryOp::Eq, chosen_by.clone(), Value::Int(n));
            value = chosen(here, self.arg(&cells[n as usize])?.0, value);
        }
        Some((value, Ty::Any))
    }
}

/// The components of a message as they are shown: `[1,2].3`.
pub(crate) fn message(form: &[Shape], numbers: &[i64]) -> String {
    let mut rest = numbers;
    let mut shown = Vec::new();
    for shape in form {
        let (cells, behind) = rest.split_at(shape.unwrap_or(1));
        let cells: Vec<String> = cells.iter().map(i64::to_string).collect();
        let cells = cells.join(",");
        shown.push(shape.map_or(cells.clone(), |_| format!("[{cells}]")));
        rest = behind;
    }
    shown.join(".")
}

//! Operators over index ranges: one operand for each value.

use std::rc::Rc;

use model::Stmt;

use super::ast::{
    BinaryOp, ChoiceKind, Expr, ExprKind, ExprRef, IndexDef, IndexValues, IndexedOp, Proc,
    ProcKind, ProcRef,
};
use super::lexer::Name;
use super::ranges::visit_names;
use super::scope::Ty;
use super::term::{Arg, Env, MAX_COPIES, Machine, Term, choice};

impl Machine<'_> {
    pub(crate) fn indexed(
        &mut self,
        op: IndexedOp,
        indices: &[IndexDef],
        body: &ProcRef,
        env: &Env,
        lets: &mut Option<&mut Vec<Stmt>>,
    ) -> Option<Term> {
        let guarded;
        let body = if op == IndexedOp::Choice(ChoiceKind::General) {
            guarded = self.within_range(indices, body, env);
            &guarded
        } else {
            body
        };

        let envs = self.index_envs(op, indices, env)?;

        Some(match op {
            IndexedOp::Parallel => {
                let mut list = Vec::new();
                for env in envs {
                    let alphabet = self.alphabet(body, &env)?;
                    list.push((self.normal(body, &env, lets)?, alphabet));
                }
                Term::Parallel(list)
            }
            IndexedOp::Interleave | IndexedOp::Choice(_) => {
                let mut list = Vec::new();
                for env in envs {
                    list.push(self.normal(body, &env, lets)?);
                }
                match op {
                    IndexedOp::Choice(kind) => Term::Choice(choice(kind), list),
                    _ => Term::Interleave(list),
                }
            }
        })
    }

    /// Where a choice has as many branches as data says, each branch needs its index to be within
    /// range; which indices there can be is known from the ranges of the data. Other operators
    /// cannot leave out operands in this way.
    fn within_range(&mut self, indices: &[IndexDef], body: &ProcRef, env: &Env) -> ProcRef {
        let is_open = |index: &&IndexDef| match &index.values {
            IndexValues::Range(lo, hi) => {
                let is_index = |name: &Name| indices.iter().any(|i| i.name.text == *name);
                let is_known = |name: &Name| match env.get(name) {
                    Some(arg) => matches!(arg, Arg::Const(..)),
                    None => self.scope.constants.contains_key(name),
                };
                let mut is_open = false;
                for end in [lo, hi] {
                    visit_names(end, &mut |name| {
                        is_open |= !is_index(name) && !is_known(name)
                    });
                }
                is_open
            }
            IndexValues::List(_) => false,
        };

        let open: Vec<&IndexDef> = indices.iter().filter(is_open).collect();
        if open.is_empty() {
            return body.clone();
        }

        // The same body is met for each value of the indices.
        let key = Rc::as_ptr(body);
        if let Some(guarded) = self.within_range.get(&key) {
            return guarded.clone();
        }

        let mut guarded = body.clone();
        for index in open {
            let IndexValues::Range(lo, hi) = &index.values else {
                continue;
            };
            let span = index.name.span;
            let expr = |kind| Rc::new(Expr { kind, span });
            let name = expr(ExprKind::Name(index.name.text.clone()));
            for (least, most) in [(lo, &name), (&name, hi)] {
                let kind = ExprKind::Binary(BinaryOp::Le, least.clone(), most.clone());
                let kind = ProcKind::Guard(expr(kind), guarded);
                guarded = Rc::new(Proc {
                    kind,
                    span: body.span,
                });
            }
        }

        self.within_range.insert(key, guarded.clone());
        guarded
    }

    /// One environment for each combination of index values.
    pub(crate) fn index_envs(
        &mut self,
        op: IndexedOp,
        indices: &[IndexDef],
        env: &Env,
    ) -> Option<Vec<Env>> {
        let mut envs = vec![env.clone()];

        for index in indices {
            let mut next = Vec::new();
            for env in &envs {
                let values = match self.open_values(op, index, env) {
                    Some(values) => values,
                    None => self.index_values(index, env)?,
                };
                if next.len() + values.len() > MAX_COPIES {
                    let message = format!("there are more than {MAX_COPIES} instances");
                    return self.error("bad-size", index.name.span, message);
                }
                for value in values {
                    let arg = Arg::Const(value, Ty::Int);
                    next.push(env.with([(index.name.text.clone(), arg)]));
                }
            }
            envs = next;
        }
        Some(envs)
    }

    /// All values that the index of a general choice can have, if data says which it has.
    fn open_values(&self, op: IndexedOp, index: &IndexDef, env: &Env) -> Option<Vec<i64>> {
        let IndexValues::Range(lo, hi) = &index.values else {
            return None;
        };
        let is_known = |end: &ExprRef| self.const_value(end, env).is_some();
        if op != IndexedOp::Choice(ChoiceKind::General) || is_known(lo) && is_known(hi) {
            return None;
        }
        let (first, _) = self.interval(lo, env)?;
        let (_, last) = self.interval(hi, env)?;
        (last.saturating_sub(first) < MAX_COPIES as i64).then(|| (first..=last).collect())
    }

    fn index_values(&mut self, index: &IndexDef, env: &Env) -> Option<Vec<i64>> {
        match &index.values {
            IndexValues::Range(lo, hi) => {
                let first = self.constant(lo, env, "the end of a range")?;
                let last = self.constant(hi, env, "the end of a range")?;
                if last - first >= MAX_COPIES as i64 {
                    let message = format!("there are more than {MAX_COPIES} instances");
                    return self.error("bad-size", hi.span, message);
                }
                Some((first..=last).collect())
            }
            IndexValues::List(list) => {
                let mut values = Vec::new();
                for expr in list {
                    values.push(self.constant(expr, env, "a value of an index")?);
                }
                Some(values)
            }
        }
    }
}

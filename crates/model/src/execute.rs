//! Execution of effects, straight from their meaning.

use base::Span;

use crate::eval::Evaluation;
use crate::timer::{set_timer, tick};
use crate::{Env, ErrorKind, Expr, MAX_ITERATIONS, Model, Place, State, Stmt, StmtKind};

/// A state that an effect may lead to, and what it wrote on the way.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) state: State,
    pub(crate) env: Env,
    /// The cells assigned to, whether or not their values changed.
    pub(crate) written: Vec<usize>,
    /// The cells of the abstract timers that were set.
    pub(crate) timers_set: Vec<usize>,
}

/// An error and the statement in which it happened.
pub(crate) type Located = (ErrorKind, Span);

/// Runs a sequence of statements from every branch; each choice multiplies the branches.
pub(crate) fn run(
    model: &Model,
    statements: &[Stmt],
    mut branches: Vec<Branch>,
) -> Result<Vec<Branch>, Located> {
    let mut next = Vec::new();
    for statement in statements {
        for branch in branches.drain(..) {
            run_one(model, statement, branch, &mut next)?;
        }
        std::mem::swap(&mut branches, &mut next);
    }
    Ok(branches)
}

/// Adds the branches that one statement leads to.
fn run_one(
    model: &Model,
    statement: &Stmt,
    mut branch: Branch,
    next: &mut Vec<Branch>,
) -> Result<(), Located> {
    let span = statement.span;
    match &statement.kind {
        StmtKind::Assign(place, value) => {
            let value = branch.eval(model, value).map_err(|e| (e, span))?;
            branch.store(model, place, value).map_err(|e| (e, span))?;
            next.push(branch);
        }
        StmtKind::If(condition, then, otherwise) => {
            let condition = branch.eval(model, condition).map_err(|e| (e, span))?;
            let chosen = if condition != 0 { then } else { otherwise };
            next.extend(run(model, chosen, vec![branch])?);
        }
        StmtKind::For(bound, lo, hi, body) => {
            let lo = branch.eval(model, lo).map_err(|e| (e, span))?;
            let hi = branch.eval(model, hi).map_err(|e| (e, span))?;
            let mut branches = vec![branch];
            for value in lo..=hi {
                for branch in &mut branches {
                    branch.env.bind(*bound, value);
                }
                branches = run(model, body, branches)?;
            }
            next.extend(branches);
        }
        StmtKind::Choose(bound, lo, hi, condition) => {
            let lo = branch.eval(model, lo).map_err(|e| (e, span))?;
            let hi = branch.eval(model, hi).map_err(|e| (e, span))?;
            for value in lo..=hi {
                let mut chosen = branch.clone();
                chosen.env.bind(*bound, value);

                // A value that the condition excludes is not an alternative; without any, the step
                // is not possible.
                if chosen.eval(model, condition).map_err(|e| (e, span))? != 0 {
                    next.push(chosen);
                }
            }
        }
        StmtKind::Assert(condition) => {
            match branch.eval(model, condition).map_err(|e| (e, span))? {
                0 => return Err((ErrorKind::AssertionFailed, span)),
                _ => next.push(branch),
            }
        }
        StmtKind::Let(bound, value) => {
            let value = branch.eval(model, value).map_err(|e| (e, span))?;
            branch.env.bind(*bound, value);
            next.push(branch);
        }
        StmtKind::Set(bound, value) => {
            let value = branch.eval(model, value).map_err(|e| (e, span))?;
            branch.env.rebind(*bound, value);
            next.push(branch);
        }
        StmtKind::While(condition, body) => {
            next.extend(run_while(model, (condition, span), body, branch)?);
        }
        StmtKind::SetTimer(place, setting) => {
            let branches = set_timer(model, place, setting, branch);
            next.extend(branches.map_err(|e| (e, span))?);
        }
        StmtKind::Tick => next.extend(tick(model, branch)),
        StmtKind::Fail(message) => return Err((ErrorKind::Described(message.clone()), span)),
        StmtKind::Exhausted => return Err((ErrorKind::Exhausted, span)),
    }
    Ok(())
}

/// Every branch leaves the loop by itself; one that does not is an error of all.
fn run_while(
    model: &Model,
    (condition, span): (&Expr, Span),
    body: &[Stmt],
    start: Branch,
) -> Result<Vec<Branch>, Located> {
    let (mut inside, mut left) = (vec![start], Vec::new());
    for _ in 0..=MAX_ITERATIONS {
        let mut going_on = Vec::new();
        for mut branch in inside {
            match branch.eval(model, condition).map_err(|e| (e, span))? {
                0 => left.push(branch),
                _ => going_on.push(branch),
            }
        }
        if going_on.is_empty() {
            return Ok(left);
        }
        inside = run(model, body, going_on)?;
    }
    Err((ErrorKind::EndlessLoop, span))
}

impl Branch {
    pub(crate) fn eval(&mut self, model: &Model, expr: &Expr) -> Result<i64, ErrorKind> {
        let state = &self.state;
        Evaluation { model, state }.eval(expr, &mut self.env)
    }

    /// Stores a value, checking it against the type of the cell.
    pub(crate) fn store(
        &mut self,
        model: &Model,
        place: &Place,
        value: i64,
    ) -> Result<(), ErrorKind> {
        let state = &self.state;
        let cell = Evaluation { model, state }.cell(place, &mut self.env)?;
        let description = &model.cells()[cell];
        if !description.ty.contains(value) {
            return Err(ErrorKind::ValueOutOfRange {
                cell: description.name.clone(),
                value,
            });
        }
        self.state.cells[cell] = value;
        self.written.push(cell);
        Ok(())
    }
}

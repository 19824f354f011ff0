//! Execution of effects, straight from their meaning.

use base::Span;
use smallvec::{SmallVec, smallvec};

use crate::eval::{Evaluation, Fault};
use crate::timer::{set_timer, tick};
use crate::{Env, ErrorKind, Expr, MAX_ITERATIONS, Model, Place, State, Stmt, StmtKind};

/// A state that an effect may lead to, and what it wrote on the way.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    pub(crate) state: State,
    pub(crate) env: Env,
    /// The cells assigned to, whether or not their values changed.
    pub(crate) written: SmallVec<[usize; 2]>,
    /// The cells of the abstract timers that were set.
    pub(crate) timers_set: Vec<usize>,
}

/// An error and the statement in which it happened.
pub(crate) type Located = (Fault, Span);

/// All ways of executing an effect so far: mostly one.
pub(crate) type Branches = SmallVec<[Branch; 1]>;

impl Model {
    /// A state that statements of a command lead to, if there is one. Nothing else of a step is done.
    #[must_use]
    pub fn after(&self, state: &State, env: Env, statements: &[Stmt]) -> Option<(State, Env)> {
        let mut branches: Branches = smallvec![Branch {
            state: state.clone(),
            env,
            written: SmallVec::new(),
            timers_set: Vec::new(),
        }];
        run(self, statements, &mut branches).ok()?;
        let first = branches.into_iter().next()?;
        Some((first.state, first.env))
    }
}

/// Runs a sequence of statements from every branch; each choice multiplies the branches.
pub(crate) fn run(
    model: &Model,
    statements: &[Stmt],
    branches: &mut Branches,
) -> Result<(), Located> {
    let mut statements = statements.iter();
    statements.try_for_each(|statement| run_one(model, statement, branches))
}

/// Replaces every branch by those that one statement leads to.
fn run_one(model: &Model, statement: &Stmt, branches: &mut Branches) -> Result<(), Located> {
    let span = statement.span;
    match &statement.kind {
        StmtKind::Assign(place, value) => {
            for branch in branches {
                let value = branch.eval(model, value).map_err(|e| (e, span))?;
                branch.store(model, place, value).map_err(|e| (e, span))?;
            }
        }
        StmtKind::If(condition, then, otherwise) => {
            for mut branch in std::mem::take(branches) {
                let condition = branch.eval(model, condition).map_err(|e| (e, span))?;
                let chosen = if condition != 0 { then } else { otherwise };
                let mut own = smallvec![branch];
                run(model, chosen, &mut own)?;
                branches.extend(own);
            }
        }
        StmtKind::For(bound, lo, hi, body) => {
            for mut branch in std::mem::take(branches) {
                let lo = branch.eval(model, lo).map_err(|e| (e, span))?;
                let hi = branch.eval(model, hi).map_err(|e| (e, span))?;
                let mut own: Branches = smallvec![branch];
                for value in lo..=hi {
                    for branch in &mut own {
                        branch.env.bind(*bound, value);
                    }
                    run(model, body, &mut own)?;
                }
                branches.extend(own);
            }
        }
        StmtKind::Choose(_, _, hi, _) if crate::is_endless_choice(hi) && !branches.is_empty() => {
            let message = "the values of a choice among all integers cannot be tried one by one";
            return Err((ErrorKind::Described(message.to_owned()).into(), span));
        }
        StmtKind::Choose(bound, lo, hi, condition) => {
            for mut branch in std::mem::take(branches) {
                let lo = branch.eval(model, lo).map_err(|e| (e, span))?;
                let hi = branch.eval(model, hi).map_err(|e| (e, span))?;
                for value in lo..=hi {
                    let mut chosen = branch.clone();
                    chosen.env.bind(*bound, value);

                    // A value that the condition excludes is not an alternative; without any, the
                    // step is not possible.
                    if chosen.eval(model, condition).map_err(|e| (e, span))? != 0 {
                        branches.push(chosen);
                    }
                }
            }
        }
        StmtKind::Assert(condition) => {
            for branch in branches {
                if branch.eval(model, condition).map_err(|e| (e, span))? == 0 {
                    return Err((ErrorKind::AssertionFailed.into(), span));
                }
            }
        }
        StmtKind::Let(bound, value) => {
            for branch in branches {
                let value = branch.eval(model, value).map_err(|e| (e, span))?;
                branch.env.bind(*bound, value);
            }
        }
        StmtKind::Set(bound, value) => {
            for branch in branches {
                let value = branch.eval(model, value).map_err(|e| (e, span))?;
                branch.env.rebind(*bound, value);
            }
        }
        StmtKind::While(condition, body) => {
            for branch in std::mem::take(branches) {
                branches.extend(run_while(model, (condition, span), body, branch)?);
            }
        }
        StmtKind::SetTimer(place, setting) => {
            for branch in std::mem::take(branches) {
                let set = set_timer(model, place, setting, branch);
                branches.extend(set.map_err(|e| (e, span))?);
            }
        }
        StmtKind::Tick => {
            for branch in std::mem::take(branches) {
                branches.extend(tick(model, branch));
            }
        }
        // Without a branch, nothing gets here.
        StmtKind::Fail(message) if !branches.is_empty() => {
            return Err((ErrorKind::Described(message.clone()).into(), span));
        }
        StmtKind::Exhausted if !branches.is_empty() => {
            return Err((ErrorKind::Exhausted.into(), span));
        }
        StmtKind::Fail(_) | StmtKind::Exhausted => {}
    }
    Ok(())
}

/// Every branch leaves the loop by itself; one that does not is an error of all.
fn run_while(
    model: &Model,
    (condition, span): (&Expr, Span),
    body: &[Stmt],
    start: Branch,
) -> Result<Branches, Located> {
    let (mut inside, mut left): (Branches, Branches) = (smallvec![start], Branches::new());

    for _ in 0..=MAX_ITERATIONS {
        let mut going_on = Branches::new();
        for mut branch in inside {
            match branch.eval(model, condition).map_err(|e| (e, span))? {
                0 => left.push(branch),
                _ => going_on.push(branch),
            }
        }

        if going_on.is_empty() {
            return Ok(left);
        }
        run(model, body, &mut going_on)?;
        inside = going_on;
    }

    Err((ErrorKind::EndlessLoop.into(), span))
}

impl Branch {
    pub(crate) fn eval(&mut self, model: &Model, expr: &Expr) -> Result<i64, Fault> {
        let state = &self.state;
        Evaluation { model, state }.eval(expr, &mut self.env)
    }

    /// Stores a value, checking it against the type of the cell.
    pub(crate) fn store(&mut self, model: &Model, place: &Place, value: i64) -> Result<(), Fault> {
        let state = &self.state;
        let cell = Evaluation { model, state }.cell(place, &mut self.env)?;
        let description = &model.cells()[cell];
        if !description.ty.contains(value) {
            Err(ErrorKind::out_of_range(&description.name, value))?;
        }
        self.state.cells[cell] = value;
        self.written.push(cell);
        Ok(())
    }
}

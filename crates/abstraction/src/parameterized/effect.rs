//! Effects of steps, by symbolic execution.
//!
//! A step with conditions and choices among constants is split into *branches*; each has a
//! condition on the state before the step, choices among indices, and what it stores.

use base::Span;
use model::{BoundId, Expr, Parameter, Place, Stmt, StmtKind};

use super::cases::Cases;
use super::logic::{IndexVar, Logic, Term};
use super::system::{Outside, Source, System, outside};
use super::translate::{FieldWrite, Store, Translator, Write};

/// Steps with more branches than this are refused.
const MAX_BRANCHES: usize = 256;

/// One way through the effect of a step.
#[derive(Clone, Debug, Default)]
pub(super) struct Branch {
    /// When it is taken, for the choices.
    pub(super) path: Vec<Logic>,
    /// Indices that are chosen.
    pub(super) choices: Vec<IndexVar>,
    /// What is bound on the way.
    names: Vec<(BoundId, Cases)>,
    pub(super) store: Store,
}

/// All ways through an effect. Errors are noted with the translator.
pub(super) fn run(
    translator: &mut Translator<'_, '_>,
    statements: &[Stmt],
    start: Branch,
) -> Result<Vec<Branch>, Outside> {
    let mut branches = vec![start];
    for statement in statements {
        let mut next = Vec::new();
        for branch in branches {
            next.extend(execute(translator, statement, branch)?);
        }
        if next.len() > MAX_BRANCHES {
            return Err(outside("a step with so many cases", statement.span));
        }
        branches = next;
    }
    Ok(branches)
}

/// All values of a parameter of an action.
pub(super) fn choose_parameter(
    translator: &mut Translator<'_, '_>,
    parameter: &Parameter,
    branch: Branch,
) -> Result<Vec<Branch>, Outside> {
    let range = (&parameter.lo, &parameter.hi);
    choose(
        translator,
        parameter.bound,
        range,
        &Expr::Bool(true),
        branch,
    )
}

/// Goes on only where a condition holds.
pub(super) fn require(
    translator: &mut Translator<'_, '_>,
    condition: &Expr,
    branch: &mut Branch,
) -> Result<(), Outside> {
    let condition = within(translator, branch, |t| t.condition(condition))?;
    branch.path.push(condition);
    Ok(())
}

/// Evaluates in the state that a branch has reached; errors count on its path only.
fn within<T>(
    translator: &mut Translator<'_, '_>,
    branch: &Branch,
    part: impl FnOnce(&mut Translator<'_, '_>) -> Result<T, Outside>,
) -> Result<T, Outside> {
    let n_names = translator.names.len();
    translator.names.extend(branch.names.iter().cloned());
    let store = std::mem::replace(&mut translator.store, branch.store.clone());
    let outer = std::mem::take(&mut translator.errors);
    let result = part(translator);
    let errors = std::mem::replace(&mut translator.errors, outer);
    for error in errors {
        let error = Logic::all(branch.path.iter().cloned().chain([error]));
        let choices = branch.choices.iter();
        let closed = choices.fold(error, |inner, var| Logic::exists(*var, inner));
        translator.errors.push(closed);
    }
    translator.store = store;
    translator.names.truncate(n_names);
    result
}

fn execute(
    translator: &mut Translator<'_, '_>,
    statement: &Stmt,
    mut branch: Branch,
) -> Result<Vec<Branch>, Outside> {
    translator.span = statement.span;
    match &statement.kind {
        StmtKind::Assign(place, value) => {
            assign(translator, place, value, &mut branch)?;
            Ok(vec![branch])
        }
        StmtKind::If(condition, then, otherwise) => {
            let condition = within(translator, &branch, |t| t.condition(condition))?;
            let mut no = branch.clone();
            no.path.push(Logic::not(condition.clone()));
            branch.path.push(condition);
            let mut branches = run(translator, then, branch)?;
            branches.extend(run(translator, otherwise, no)?);
            Ok(branches)
        }
        StmtKind::Assert(condition) => {
            within(translator, &branch, |t| {
                let condition = t.condition(condition)?;
                t.errors.push(Logic::not(condition));
                Ok(())
            })?;
            Ok(vec![branch])
        }
        StmtKind::Choose(bound, lo, hi, condition) => {
            choose(translator, *bound, (lo, hi), condition, branch)
        }
        StmtKind::For(bound, lo, hi, body) => {
            let range = within(translator, &branch, |t| t.constant_range((lo, hi)))?;

            // Between constants the loop is unrolled; a loop over all processes is one simultaneous
            // assignment instead, since their number is not known.
            let Some(values) = range else {
                for_all(translator, *bound, (lo, hi), body, &mut branch)?;
                return Ok(vec![branch]);
            };
            let mut branches = vec![branch];
            for value in values {
                let mut next = Vec::new();
                for mut branch in branches {
                    let term = Term::number(value);
                    branch
                        .names
                        .push((*bound, vec![(Logic::Const(true), term)]));
                    next.extend(run(translator, body, branch)?);
                }
                branches = next;
            }
            Ok(branches)
        }
        StmtKind::SetTimer(..) | StmtKind::Tick => Err(outside("a timer", statement.span)),
        StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::While(..)
        | StmtKind::Fail(_)
        | StmtKind::Exhausted => Err(outside(
            "a statement that only imported languages have",
            statement.span,
        )),
    }
}

fn choose(
    translator: &mut Translator<'_, '_>,
    bound: BoundId,
    range: (&Expr, &Expr),
    condition: &Expr,
    branch: Branch,
) -> Result<Vec<Branch>, Outside> {
    let (lo, hi) = within(translator, &branch, |t| {
        Ok((t.cases(range.0)?, t.cases(range.1)?))
    })?;

    // "Choose among one value" is how front ends remember a value.
    if lo == hi && *condition == Expr::Bool(true) {
        let mut branch = branch;
        branch.names.push((bound, lo));
        return Ok(vec![branch]);
    }

    let constants = within(translator, &branch, |t| t.constant_range(range))?;
    let mut branches = Vec::new();
    let mut add = |translator: &mut Translator<'_, '_>, term: Term, mut branch: Branch| {
        branch.names.push((bound, vec![(Logic::Const(true), term)]));
        let condition = within(translator, &branch, |t| t.condition(condition))?;
        branch.path.push(condition);
        branches.push(branch);
        Ok(())
    };

    match constants {
        Some(values) => {
            for value in values {
                add(translator, Term::number(value), branch.clone())?;
            }
        }
        None => {
            let var = translator.fresh.var();
            let mut branch = branch;
            let inside = within(translator, &branch, |t| t.range_condition(range, var))?;
            branch.choices.push(var);
            branch.path.push(inside);
            add(translator, Term::var(var), branch)?;
        }
    }

    Ok(branches)
}

fn assign(
    translator: &mut Translator<'_, '_>,
    place: &Place,
    value: &Expr,
    branch: &mut Branch,
) -> Result<(), Outside> {
    let system = translator.system;
    let source = Source::Variable(place.var);
    let (at, value) = within(translator, branch, |t| {
        let value = t.cases(value)?;
        check_fits(t, place, &value);
        let is_owned = system.column_of(source).is_some() || system.field_of(place.var).is_some();
        let at = if is_owned {
            Some(t.owner_of(place)?)
        } else {
            None
        };
        for (condition, index) in at.iter().flatten() {
            t.check_process(condition, *index);
        }
        Ok((at, value))
    })?;

    let store = &mut branch.store;
    if let Some(pointer) = system.pointer_of(place.var) {
        store.pointers.push((pointer, value));
    } else if let Some(cell) = system.cell_of(source) {
        store.cells.push((cell, value));
    } else if let Some(field) = system.field_of(place.var) {
        let at = at.unwrap_or_default();
        store.fields.push(FieldWrite { field, at, value });
    } else if let Some(column) = system.column_of(source) {
        let var = translator.fresh.var();
        let here = |(condition, index): &(Logic, Term)| {
            Logic::all([condition.clone(), Logic::equal(Term::var(var), *index)])
        };
        let condition = Logic::any(at.iter().flatten().map(here).collect::<Vec<_>>());
        store.writes.push(Write {
            column,
            var,
            condition,
            value,
        });
    }

    Ok(())
}

/// Notes when a value is not one of the type of the place.
fn check_fits(translator: &mut Translator<'_, '_>, place: &Place, value: &Cases) {
    let system = translator.system;
    let source = Source::Variable(place.var);
    for (condition, term) in value {
        let pointer = system.pointer_of(place.var);
        let fits = match (pointer, system.field_of(place.var)) {
            (Some(pointer), _) => system.pointer_fits(pointer, *term),
            (None, Some(field)) => system.field_fits(field, *term),
            (None, None) => value_fits(system, source, *term),
        };
        let misfit = Logic::all([condition.clone(), Logic::not(fits)]);
        if misfit != Logic::Const(false) {
            translator.errors.push(misfit);
        }
    }
}

fn value_fits(system: &System<'_>, source: Source, term: Term) -> Logic {
    let column = system
        .column_of(source)
        .map(|id| &system.columns[id.index()]);
    let cell = system.cell_of(source).map(|id| &system.cells[id.index()]);
    let finite = column.or(cell).expect("every variable is known");
    let values = finite.values.iter();
    let equal = |value: &i64| Logic::equal(term, Term::number(*value));
    Logic::any(values.map(equal).collect::<Vec<_>>())
}

/// `for j in lo..hi { a[j] := e }` over an open range: all at once. The values may depend on what
/// the same process has, not on what others have been given in the same loop.
fn for_all(
    translator: &mut Translator<'_, '_>,
    bound: BoundId,
    range: (&Expr, &Expr),
    body: &[Stmt],
    branch: &mut Branch,
) -> Result<(), Outside> {
    let var = translator.fresh.var();
    let inside = within(translator, branch, |t| t.range_condition(range, var))?;
    branch
        .names
        .push((bound, vec![(Logic::Const(true), Term::var(var))]));
    let written = columns_written(bound, body)?;

    refuse_fields(translator.system, body)?;
    for statement in body {
        all_at_once(
            translator,
            statement,
            (bound, var),
            &inside,
            &written,
            branch,
        )?;
    }
    branch.names.pop();
    Ok(())
}

/// Refuses loops over processes that read a field: what is written is looked at for other processes
/// than that of the iteration, and what these have in the field is not known.
fn refuse_fields(system: &System<'_>, body: &[Stmt]) -> Result<(), Outside> {
    for statement in body {
        let mut reads = false;
        Stmt::for_each_expr(std::slice::from_ref(statement), &mut |expr| {
            expr.for_each_read(&mut |place| reads |= system.field_of(place.var).is_some());
        });
        if reads {
            let what = "an index of every process that a loop over processes reads";
            return Err(outside(what, statement.span));
        }
    }
    Ok(())
}

/// The columns that a loop over processes writes, each at the process of the iteration.
fn columns_written(bound: BoundId, body: &[Stmt]) -> Result<Vec<Source>, Outside> {
    let mut written = Vec::new();
    for statement in body {
        match &statement.kind {
            StmtKind::Assign(place, _) if indexed_by(place, bound) => {
                written.push(Source::Variable(place.var));
            }
            StmtKind::If(_, then, otherwise) => {
                written.extend(columns_written(bound, then)?);
                written.extend(columns_written(bound, otherwise)?);
            }
            StmtKind::Assign(..)
            | StmtKind::For(..)
            | StmtKind::Choose(..)
            | StmtKind::Assert(_)
            | StmtKind::Let(..)
            | StmtKind::Set(..)
            | StmtKind::While(..)
            | StmtKind::Fail(_)
            | StmtKind::SetTimer(..)
            | StmtKind::Tick
            | StmtKind::Exhausted => return Err(loop_outside(statement.span)),
        }
    }

    Ok(written)
}

fn loop_outside(span: Span) -> Outside {
    outside(
        "a statement in a loop over processes that does not assign the array element of its own index",
        span,
    )
}

fn indexed_by(place: &Place, bound: BoundId) -> bool {
    let index = match place.path.as_slice() {
        [access] => access.index(),
        _ => None,
    };
    place.owner.is_none() && index.and_then(Expr::as_bound) == Some(bound)
}

fn all_at_once(
    translator: &mut Translator<'_, '_>,
    statement: &Stmt,
    iteration: (BoundId, IndexVar),
    inside: &Logic,
    written: &[Source],
    branch: &mut Branch,
) -> Result<(), Outside> {
    translator.span = statement.span;
    let (bound, var) = iteration;
    match &statement.kind {
        StmtKind::Assign(place, value) => {
            check_independent(value, bound, written, statement.span)?;
            let column = translator.system.column_of(Source::Variable(place.var));
            let column = column.ok_or_else(|| loop_outside(statement.span))?;
            let value = in_iteration(translator, branch, var, inside, |t| {
                let value = t.cases(value)?;
                check_fits(t, place, &value);
                let missing = Logic::not(t.system.is_process(Term::var(var)));
                t.errors.push(missing);
                Ok(value)
            })?;
            branch.store.writes.push(Write {
                column,
                var,
                condition: inside.clone(),
                value,
            });
            Ok(())
        }
        StmtKind::If(condition, then, otherwise) => {
            check_independent(condition, bound, written, statement.span)?;
            let condition =
                in_iteration(translator, branch, var, inside, |t| t.condition(condition))?;
            let yes = Logic::all([inside.clone(), condition.clone()]);
            let no = Logic::all([inside.clone(), Logic::not(condition)]);
            for (inside, part) in [(yes, then), (no, otherwise)] {
                for statement in part {
                    all_at_once(translator, statement, iteration, &inside, written, branch)?;
                }
            }
            Ok(())
        }
        StmtKind::For(..)
        | StmtKind::Choose(..)
        | StmtKind::Assert(_)
        | StmtKind::Let(..)
        | StmtKind::Set(..)
        | StmtKind::While(..)
        | StmtKind::Fail(_)
        | StmtKind::SetTimer(..)
        | StmtKind::Tick
        | StmtKind::Exhausted => Err(loop_outside(statement.span)),
    }
}

/// Evaluates for one iteration of a loop over processes; errors of any iteration count.
fn in_iteration<T>(
    translator: &mut Translator<'_, '_>,
    branch: &Branch,
    var: IndexVar,
    inside: &Logic,
    part: impl FnOnce(&mut Translator<'_, '_>) -> Result<T, Outside>,
) -> Result<T, Outside> {
    within(translator, branch, |t| {
        let outer = std::mem::take(&mut t.errors);
        let result = part(t);
        let errors = std::mem::replace(&mut t.errors, outer);
        for error in errors {
            let error = Logic::all([inside.clone(), error]);
            t.errors.push(Logic::exists(var, error));
        }
        result
    })
}

/// Refuses expressions that read what other iterations write, at any depth: which element is read
/// may itself be read from an array that the loop writes.
fn check_independent(
    expr: &Expr,
    bound: BoundId,
    written: &[Source],
    span: Span,
) -> Result<(), Outside> {
    let mut is_independent = true;
    expr.for_each_read(&mut |place| {
        let is_written = written.contains(&Source::Variable(place.var));
        is_independent &= !is_written || indexed_by(place, bound);
    });
    if is_independent {
        return Ok(());
    }
    Err(outside(
        "a loop over processes whose iterations read each other",
        span,
    ))
}

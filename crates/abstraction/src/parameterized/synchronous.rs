//! Steps in which every process that can move does.
//!
//! Every process reads the state before the step and writes only what is its own, so the step is a
//! conjunction over all processes: `∀i: (some step of i) ∨ (i cannot move and stays)`.

use model::{ProcessId, Step};

use super::logic::{CellId, ColumnId, Logic, PointerId, Term, Time};
use super::steps::{Family, Transition, Ways, cell_after, close, pointer_after};
use super::system::{Outside, Source, outside};

/// The name of the step.
const NAME: &str = "round";

/// What a process writes.
#[derive(Default)]
struct Owned {
    columns: Vec<ColumnId>,
    cells: Vec<CellId>,
    pointers: Vec<PointerId>,
}

/// Adds the only transition of a synchronous family.
pub(super) fn add_transition(family: &mut Family<'_>) -> Result<(), Outside> {
    let parts = family.system.parts();
    let mut taken = Owned::default();
    let (mut relations, mut movable) = (Vec::new(), Vec::new());
    for (position, process) in parts.processes.iter().enumerate() {
        let id = ProcessId::new(position);
        let is_family = family.system.families.contains(&id);
        let var = family.fresh.var();
        let own = is_family.then_some(Term::var(var));
        let mut steps = Vec::new();
        for step in &process.steps {
            steps.push((step, family.ways(id, step, own)?));
        }
        let owned = owned(family, id, &steps, own)?;
        check_disjoint(&taken, &owned, process.span)?;
        let can_move = steps
            .iter()
            .map(|(_, ways)| Logic::all([ways.here.clone(), ways.guard.clone()]));
        let can_move = Logic::any(can_move.collect::<Vec<_>>());
        let relation = one_process(family, id, &steps, &owned, own, &can_move);
        for (_, ways) in &steps {
            for (failure, span) in &ways.failures {
                let here = Logic::all([ways.here.clone(), failure.clone()]);
                let closed = if is_family {
                    Logic::exists(var, here)
                } else {
                    here
                };
                family.failures.push((closed, *span));
            }
        }
        match own {
            Some(index) => {
                let inside = family.system.is_process(index);
                relations.push(Logic::forall(var, Logic::implies(inside, relation)));
                movable.push(Logic::exists(var, can_move));
            }
            None => {
                relations.push(relation);
                movable.push(can_move);
            }
        }
        taken.columns.extend(owned.columns);
        taken.cells.extend(owned.cells);
        taken.pointers.extend(owned.pointers);
    }

    relations.extend(frame(family, &taken));
    let enabled = Logic::any(movable);
    family.transitions.push(Transition {
        name: NAME.to_owned(),
        process: None,
        has_actor: false,
        step: 0,
        has_parameters: false,
        enabled: enabled.clone(),
        guard: enabled.clone(),
        relation: Logic::all([enabled, Logic::all(relations)]),
    });
    Ok(())
}

/// What the steps of a process write; a member of a family may write only what is its own.
fn owned(
    family: &Family<'_>,
    id: ProcessId,
    steps: &[(&Step, Ways)],
    own: Option<Term>,
) -> Result<Owned, Outside> {
    let system = &family.system;
    let mut owned = Owned::default();
    let location = Source::Location(id);
    owned.columns.extend(system.column_of(location));
    owned.cells.extend(system.cell_of(location));
    for (position, column) in system.columns.iter().enumerate() {
        if column.family == Some(id) {
            owned.columns.push(ColumnId::new(position));
        }
    }

    for (step, ways) in steps {
        for store in ways.branches.iter().map(|branch| &branch.store) {
            owned
                .cells
                .extend(store.cells.iter().map(|(cell, _)| *cell));
            owned
                .pointers
                .extend(store.pointers.iter().map(|(pointer, _)| *pointer));
            for write in &store.writes {
                let is_own = own
                    .is_none_or(|own| write.condition == Logic::equal(Term::var(write.var), own));
                if !is_own {
                    return Err(outside(
                        "a write to another process in a synchronous step",
                        step.span,
                    ));
                }
                owned.columns.push(write.column);
            }
        }
        let writes_shared = own.is_some() && !(owned.cells.is_empty() && owned.pointers.is_empty());
        if writes_shared {
            return Err(outside(
                "a shared variable written by every process in a synchronous step",
                step.span,
            ));
        }
    }

    owned.columns.sort_unstable();
    owned.columns.dedup();
    owned.cells.sort_unstable();
    owned.cells.dedup();
    owned.pointers.sort_unstable();
    owned.pointers.dedup();
    Ok(owned)
}

fn check_disjoint(taken: &Owned, owned: &Owned, span: base::Span) -> Result<(), Outside> {
    let clash = owned.columns.iter().any(|c| taken.columns.contains(c))
        || owned.cells.iter().any(|c| taken.cells.contains(c))
        || owned.pointers.iter().any(|p| taken.pointers.contains(p));
    if clash {
        Err(outside(
            "a variable that two processes write in one synchronous step",
            span,
        ))
    } else {
        Ok(())
    }
}

/// A process takes one of its steps, or cannot move and keeps everything.
fn one_process(
    family: &mut Family<'_>,
    id: ProcessId,
    steps: &[(&Step, Ways)],
    owned: &Owned,
    own: Option<Term>,
    can_move: &Logic,
) -> Logic {
    let mut ways_to_move = Vec::new();
    for (step, ways) in steps {
        for branch in &ways.branches {
            let mut parts = vec![ways.here.clone()];
            parts.extend(branch.path.iter().cloned());
            for column in &owned.columns {
                parts.push(column_part(family, id, step, *column, branch, own));
            }
            for cell in &owned.cells {
                parts.push(cell_after(&family.system, *cell, branch, id, step));
            }
            for pointer in &owned.pointers {
                parts.push(pointer_after(*pointer, branch));
            }
            ways_to_move.push(close(&branch.choices, Logic::all(parts)));
        }
    }

    let mut stays = vec![Logic::not(can_move.clone())];
    stays.extend(owned.columns.iter().map(|column| match own {
        Some(own) => Logic::SameAt(*column, own),
        None => Logic::SameColumn(*column),
    }));
    stays.extend(owned.cells.iter().map(|cell| Logic::SameCell(*cell)));

    let unmoved = super::effect::Branch::default();
    stays.extend(
        owned
            .pointers
            .iter()
            .map(|pointer| pointer_after(*pointer, &unmoved)),
    );
    ways_to_move.push(Logic::all(stays));
    Logic::any(ways_to_move)
}

fn column_part(
    family: &mut Family<'_>,
    id: ProcessId,
    step: &Step,
    column: ColumnId,
    branch: &super::effect::Branch,
    own: Option<Term>,
) -> Logic {
    match own {
        Some(own) if family.system.columns[column.index()].source == Source::Location(id) => {
            Logic::Has(column, step.target.index(), own, Time::Next)
        }
        Some(own) => family.value_after(column, branch, own),
        None => {
            let var = family.fresh.var();
            Logic::forall(var, family.value_after(column, branch, Term::var(var)))
        }
    }
}

/// What no process writes stays.
fn frame(family: &Family<'_>, taken: &Owned) -> Vec<Logic> {
    let system = &family.system;
    let unmoved = super::effect::Branch::default();
    let columns = (0..system.columns.len()).map(ColumnId::new);
    let cells = (0..system.cells.len()).map(CellId::new);
    let pointers = (0..system.pointers.len()).map(PointerId::new);
    let mut parts: Vec<Logic> = columns
        .filter(|column| !taken.columns.contains(column))
        .map(Logic::SameColumn)
        .collect();
    parts.extend(
        cells
            .filter(|cell| !taken.cells.contains(cell))
            .map(Logic::SameCell),
    );
    let kept = pointers.filter(|pointer| !taken.pointers.contains(pointer));
    parts.extend(kept.map(|pointer| pointer_after(pointer, &unmoved)));
    parts
}

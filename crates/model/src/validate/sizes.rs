//! How large things are, worked out without making them.

use base::Span;

use super::fail;
use crate::{ModelError, ModelParts, RecordForm, RecordId, Type, VarId};

/// Records inside records deeper than this are refused.
const MAX_DEPTH: usize = 256;

/// Numbers that are too large for anything stay there.
const HUGE: i128 = 1 << 100;

/// How many cells values have and how many instances processes.
pub(super) struct Sizes {
    vars: Vec<Size>,
    /// The instances of each process.
    pub(super) instances: Vec<i128>,
    /// The cells of all variables, with a copy for each instance of an owner.
    pub(super) n_cells: i128,
    /// The same, plus everything that is visited on the way to them.
    pub(super) n_visited: i128,
}

/// The size of a type.
#[derive(Clone, Copy)]
struct Size {
    cells: i128,
    /// The cells, and the composite values around them. A value without cells is visited, too.
    visited: i128,
    depth: usize,
}

impl Sizes {
    /// The sizes; an error if a type does not have one.
    pub(super) fn of(parts: &ModelParts) -> Result<Self, ModelError> {
        let mut records = Records {
            parts,
            sizes: vec![None; parts.records.len()],
            open: vec![false; parts.records.len()],
        };
        for position in 0..parts.records.len() {
            records.record(RecordId::new(position), Span::nowhere(), 0)?;
        }
        let instances: Vec<i128> = parts.processes.iter().map(n_instances).collect();

        let (mut n_cells, mut n_visited) = (0, 0);
        let mut vars = Vec::new();
        for variable in &parts.vars {
            let size = records.ty(&variable.ty, variable.span, 0)?;
            let copies = match variable.owner {
                None => 1,
                Some(process) => match instances.get(process.index()) {
                    Some(n_instances) => *n_instances,
                    None => {
                        let message = format!(
                            "`{}` is local to a process that does not exist",
                            variable.name
                        );
                        return fail("unknown-process", variable.span, message);
                    }
                },
            };
            n_cells += product(size.cells, copies);
            n_visited += product(size.visited, copies);
            vars.push(size);
        }

        Ok(Self {
            vars,
            instances,
            n_cells,
            n_visited,
        })
    }

    /// The cells of one copy of a variable.
    pub(super) fn cells_of(&self, var: VarId) -> i128 {
        self.vars[var.index()].cells
    }

    /// All instances of all processes.
    pub(super) fn n_instances(&self) -> i128 {
        self.instances.iter().sum()
    }
}

/// How many integers there are from the first to the second.
pub(super) fn length(lo: i64, hi: i64) -> i128 {
    (i128::from(hi) - i128::from(lo) + 1).max(0)
}

fn n_instances(process: &crate::Process) -> i128 {
    process.index.map_or(1, |range| length(range.lo, range.hi))
}

fn product(a: i128, b: i128) -> i128 {
    a.saturating_mul(b).min(HUGE)
}

/// The sizes of records that are known, and those that are being worked out.
struct Records<'p> {
    parts: &'p ModelParts,
    sizes: Vec<Option<Size>>,
    open: Vec<bool>,
}

impl Records<'_> {
    fn ty(&mut self, ty: &Type, span: Span, depth: usize) -> Result<Size, ModelError> {
        if depth > MAX_DEPTH {
            return fail("type-too-deep", span, "types are nested too deeply");
        }
        match ty {
            Type::Scalar(_) => Ok(Size {
                cells: 1,
                visited: 1,
                depth: 1,
            }),
            Type::Array(array) => {
                let element = self.ty(&array.element, span, depth + 1)?;
                let last = i64::try_from(array.len)
                    .ok()
                    .and_then(|len| array.lo.checked_add(len));
                if last.is_none() {
                    return fail(
                        "array-too-long",
                        span,
                        "an array has more elements than indices",
                    );
                }
                Ok(Size {
                    cells: product(element.cells, array.len as i128),
                    visited: product(element.visited, array.len as i128) + 1,
                    depth: element.depth + 1,
                })
            }
            Type::Record(id) => self.record(*id, span, depth),
        }
    }

    fn record(&mut self, id: RecordId, span: Span, depth: usize) -> Result<Size, ModelError> {
        let parts = self.parts;
        let Some(record) = parts.records.get(id.index()) else {
            return fail("unknown-record", span, format!("{id:?} does not exist"));
        };
        if self.open[id.index()] {
            let message = format!("the record `{}` contains itself", record.name);
            return fail("recursive-record", span, message);
        }

        // A record is measured once; its depth counts wherever it is used.
        let size = match self.sizes[id.index()] {
            Some(size) => size,
            None => {
                self.open[id.index()] = true;
                let mut size = Size {
                    cells: 0,
                    visited: 1,
                    depth: 1,
                };
                // Elements have no cells, but their types must be sound, too.
                if let RecordForm::Set(ty) | RecordForm::Bag(ty) | RecordForm::Map(ty) =
                    &record.form
                {
                    self.ty(ty, span, depth + 1)?;
                }
                for (_, ty) in &record.fields {
                    let field = self.ty(ty, span, depth + 1)?;
                    size.cells = (size.cells + field.cells).min(HUGE);
                    size.visited = (size.visited + field.visited).min(HUGE);
                    size.depth = size.depth.max(field.depth + 1);
                }
                self.open[id.index()] = false;
                self.sizes[id.index()] = Some(size);
                size
            }
        };

        if size.depth > MAX_DEPTH {
            return fail("type-too-deep", span, "types are nested too deeply");
        }
        Ok(size)
    }
}

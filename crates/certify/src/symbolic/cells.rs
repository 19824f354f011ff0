//! The states of a model as terms: one for each cell and each location.

use model::{
    Access, BinaryOp, BoundId, Command, CommandId, Expr, InstanceId, LocationId, Model, ModelParts,
    OPEN_VALUES, Owner, Place, ProcessId, Quantifier, Scalar, Stmt, Type,
};

use super::execute::{Execution, MAX_CASES, Memory, Refusal};
use super::script::{Script, Term};

/// Cells and locations, all of which are numbers.
#[derive(Clone)]
pub(crate) struct Cells<'m> {
    pub(crate) model: &'m Model,
    pub(crate) cells: Vec<Term>,
    pub(crate) locations: Vec<Term>,
    /// What moves.
    pub(crate) instance: Option<InstanceId>,
}

/// The least and the greatest value of a type, if it has them. Nothing is known about the values of one
/// that is left open.
pub(super) fn bounds(ty: Scalar) -> (Option<i64>, Option<i64>) {
    if matches!(ty, Scalar::Enum(_, OPEN_VALUES)) {
        return (None, None);
    }
    let (lo, hi) = ty.bounds();
    let is_end = |end: i64, value: i64| ty.is_unbounded() && value == end;
    (
        (!is_end(i64::MIN, lo)).then_some(lo),
        (!is_end(i64::MAX, hi)).then_some(hi),
    )
}

impl Memory for Cells<'_> {
    fn parts(&self) -> &ModelParts {
        self.model.parts()
    }

    fn read(execution: &mut Execution<Self>, place: &Place) -> Result<Term, Refusal> {
        let mut value = Term::int(0);
        for (condition, cell) in execution.cells_of(place)? {
            let there = execution.memory.cells[cell].clone();
            value = execution.script.ite(&condition, &there, &value);
        }
        Ok(value)
    }

    fn store(execution: &mut Execution<Self>, place: &Place, value: &Term) -> Result<(), Refusal> {
        for (condition, cell) in execution.cells_of(place)? {
            let bounds = bounds(execution.memory.model.cells()[cell].ty);
            let fits = execution.script.within(value, bounds);
            execution.under(&condition, |this| {
                this.require(&fits);
                Ok(())
            })?;
            let before = execution.memory.cells[cell].clone();
            execution.memory.cells[cell] = execution.script.ite(&condition, value, &before);
        }
        Ok(())
    }

    fn at(
        execution: &mut Execution<Self>,
        process: ProcessId,
        owner: &Owner,
        locations: &[LocationId],
    ) -> Result<Term, Refusal> {
        let mut is_there = Term::bool(false);
        for (condition, instance) in execution.instances(process, owner)? {
            for location in locations {
                let at = execution.memory.locations[instance.index()].clone();
                let script = &mut execution.script;
                let at = script.compare("=", &at, &Term::int(location.index() as i128));
                let both = script.and(&condition, &at);
                is_there = script.or(&is_there, &both);
            }
        }
        Ok(is_there)
    }

    fn open_range(
        _execution: &mut Execution<Self>,
        _quantifier: Quantifier,
        _range: (BoundId, &Term, &Term),
        _body: &Expr,
    ) -> Result<Term, Refusal> {
        Err("ranges that depend on the state are not expressed".to_owned())
    }

    fn open_loop(
        _execution: &mut Execution<Self>,
        _range: (BoundId, &Term, &Term),
        _body: &[Stmt],
    ) -> Result<(), Refusal> {
        Err("ranges that depend on the state are not expressed".to_owned())
    }

    fn special(
        _execution: &mut Execution<Self>,
        _op: BinaryOp,
        _left: &Expr,
        _right: &Expr,
    ) -> Result<Option<Term>, Refusal> {
        Ok(None)
    }

    fn merge(script: &mut Script, condition: &Term, then: &Self, otherwise: &Self) -> Self {
        let both = then.cells.iter().zip(&otherwise.cells);
        Self {
            cells: both.map(|(a, b)| script.ite(condition, a, b)).collect(),
            ..otherwise.clone()
        }
    }
}

impl Execution<Cells<'_>> {
    /// Takes a step, as far as its guard.
    pub(crate) fn guard(&mut self, id: CommandId) -> Result<(), Refusal> {
        let model = self.memory.model;
        let Command {
            instance, bindings, ..
        } = &model.commands()[id.index()];
        let step = model.step_of(id);
        let known = bindings
            .iter()
            .map(|(bound, value)| (*bound, Term::int((*value).into())));
        self.bounds = known.collect();
        self.memory.instance = Some(*instance);

        let source = Term::int(step.source.index() as i128);
        let location = self.memory.locations[instance.index()].clone();
        self.alive = self.script.compare("=", &location, &source);
        let guard = self.truth(&step.guard)?;
        self.alive = self.script.and(&self.alive, &guard);
        Ok(())
    }

    /// The rest of the step.
    pub(crate) fn effect(&mut self, id: CommandId) -> Result<(), Refusal> {
        let model = self.memory.model;
        let instance = model.commands()[id.index()].instance;
        let step = model.step_of(id);
        self.run(&step.effect)?;
        self.memory.locations[instance.index()] = Term::int(step.target.index() as i128);
        Ok(())
    }

    /// Which of some numbers a term is; a run-time error if it is none of them.
    fn cases(
        &mut self,
        term: &Term,
        lo: i128,
        n_values: usize,
    ) -> Result<Vec<(Term, usize)>, Refusal> {
        if n_values as i128 > MAX_CASES {
            return Err("a range is too large".to_owned());
        }

        let mut cases = Vec::new();
        let mut is_one = Term::bool(false);
        for offset in 0..n_values {
            let value = Term::int(lo + offset as i128);
            let condition = self.script.compare("=", term, &value);
            if condition.known != Some(0) {
                is_one = self.script.or(&is_one, &condition);
                cases.push((condition, offset));
            }
        }

        self.require(&is_one);
        Ok(cases)
    }

    fn instances(
        &mut self,
        process: ProcessId,
        owner: &Owner,
    ) -> Result<Vec<(Term, InstanceId)>, Refusal> {
        let one = |instance: Option<InstanceId>| {
            let instance = instance.ok_or_else(|| "a process is missing".to_owned())?;
            Ok(vec![(Term::bool(true), instance)])
        };
        match owner {
            Owner::Own => one(self.memory.instance),
            Owner::Single => one(self.memory.model.instance_of(process, None)),
            Owner::Indexed(index) => {
                let index = self.eval(index)?;
                let family = &self.memory.model.parts().processes[process.index()];
                let range = family
                    .index
                    .ok_or_else(|| "a process has no index".to_owned())?;
                let n_values = usize::try_from(i128::from(range.hi) - i128::from(range.lo) + 1);
                let mut found = Vec::new();
                for (condition, offset) in
                    self.cases(&index, range.lo.into(), n_values.unwrap_or(0))?
                {
                    let instance = self
                        .memory
                        .model
                        .instance_of(process, Some(range.lo + offset as i64));
                    found.push((
                        condition,
                        instance.ok_or_else(|| "a process is missing".to_owned())?,
                    ));
                }
                Ok(found)
            }
        }
    }

    /// The cells that a place may name, each with its condition.
    fn cells_of(&mut self, place: &Place) -> Result<Vec<(Term, usize)>, Refusal> {
        let model = self.memory.model;
        let variable = &model.parts().vars[place.var.index()];
        let mut found = match (&place.owner, variable.owner) {
            (Some(owner), Some(process)) => {
                let instances = self.instances(process, owner)?.into_iter();
                let first = |instance| model.first_cell(place.var, Some(instance));
                instances
                    .map(|(condition, i)| (condition, first(i)))
                    .collect()
            }
            _ => vec![(Term::bool(true), model.first_cell(place.var, None))],
        };

        let records = &model.parts().records;
        let mut ty = &variable.ty;
        for access in &place.path {
            match (access, ty) {
                (Access::Index(index), Type::Array(array)) => {
                    let index = self.eval(index)?;
                    let n_cells = array.element.n_cells(records);
                    let cases = self.cases(&index, array.lo.into(), array.len)?;
                    let mut refined = Vec::new();
                    for (condition, first) in &found {
                        for (here, offset) in &cases {
                            let both = self.script.and(condition, here);
                            refined.push((both, first + offset * n_cells));
                        }
                    }
                    found = refined;
                    ty = &array.element;
                }
                (Access::Field(field), Type::Record(record)) => {
                    let fields = &records[record.index()].fields;
                    let n_before: usize = fields[..*field]
                        .iter()
                        .map(|(_, ty)| ty.n_cells(records))
                        .sum();
                    found.iter_mut().for_each(|(_, cell)| *cell += n_before);
                    ty = &fields[*field].1;
                }
                _ => return Err("a path does not fit its type".to_owned()),
            }
        }
        Ok(found)
    }
}

//! The steps, the initial states and the failures of a family, as formulas.

use base::Span;
use model::{Composition, Expr, Initial, ProcessId, Step, Sync};

use super::cases::Cases;
use super::effect::{self, Branch};
use super::fields::{self, Detail};
use super::logic::{Base, ColumnId, FieldId, IndexVar, Logic, Term, Time};
use super::synchronous;
use super::system::{Finite, Fresh, Outside, Source, System, outside};
use super::translate::Translator;

/// What one action of a process does, for any process.
#[derive(Clone, Debug)]
pub struct Transition {
    /// The name of the action.
    pub name: String,
    /// Whose; nothing if all processes move together.
    pub process: Option<ProcessId>,
    /// Is the process a member of a family, and [`Family::actor`] its index?
    pub has_actor: bool,
    /// Which step of the process.
    pub step: usize,
    /// Has the action parameters? Then it stands for several actions.
    pub has_parameters: bool,
    /// When it is possible; where fields are involved, when that is certain.
    pub enabled: Logic,
    /// When it is possible, in terms of fields.
    pub guard: Logic,
    /// The states before and after it.
    pub relation: Logic,
}

/// A template as a transition system over sets.
#[derive(Clone, Debug)]
pub struct Family<'t> {
    /// What the states are made of.
    pub system: System<'t>,
    /// The index of the process that moves.
    pub actor: IndexVar,
    /// What can happen.
    pub transitions: Vec<Transition>,
    /// Do all processes move together?
    pub is_synchronous: bool,
    /// The initial states.
    pub initial: Logic,
    /// What `init` demands of the size alone. It is true of every state of every instance that has
    /// any.
    pub size: Logic,
    /// When an instance has no initial states because a value does not exist or does not fit, and
    /// where. These are about the size of an instance, not about states that can be reached: such an
    /// instance has none.
    pub failing_starts: Vec<(Logic, Span)>,
    /// States in which a guard or an effect has no value, and where.
    pub failures: Vec<(Logic, Span)>,
    /// How much is kept of fields.
    pub detail: Detail,
    /// Are the values of distinguished processes kept?
    pub watches: bool,
    /// For variables of further formulas.
    pub fresh: Fresh,
}

impl<'t> Family<'t> {
    /// Translates a template.
    ///
    /// # Errors
    /// What is outside the class.
    pub fn new(template: &'t model::Template) -> Result<Self, Outside> {
        let system = System::new(template)?;
        let mut fresh = Fresh::default();
        let actor = fresh.var();
        let mut family = Self {
            system,
            actor,
            transitions: Vec::new(),
            is_synchronous: template.parts.composition == Composition::Synchronous,
            initial: Logic::Const(true),
            size: Logic::Const(true),
            failing_starts: Vec::new(),
            failures: Vec::new(),
            detail: Detail::default(),
            watches: true,
            fresh,
        };

        family.initial = family.initial_states()?;
        if family.is_synchronous {
            synchronous::add_transition(&mut family)?;
        } else {
            family.add_transitions()?;
        }
        family.bind_reads();

        family
            .failures
            .retain(|(failure, _)| *failure != Logic::Const(false));
        family
            .failing_starts
            .retain(|(failure, _)| *failure != Logic::Const(false));
        Ok(family)
    }

    /// Says of everything that is read of fields which process it belongs to.
    fn bind_reads(&mut self) {
        let fresh = self.fresh.clone();
        let bind = |logic: &mut Logic| {
            *logic = fresh.bound(std::mem::replace(logic, Logic::Const(true)));
        };
        bind(&mut self.initial);
        for transition in &mut self.transitions {
            bind(&mut transition.enabled);
            bind(&mut transition.guard);
            bind(&mut transition.relation);
        }
        let failures = self.failures.iter_mut().chain(&mut self.failing_starts);
        failures.for_each(|(failure, _)| bind(failure));
    }

    /// Describes a state: columns are empty outside the family, pointers have values of their type.
    #[must_use]
    pub fn well_formed(&mut self) -> Logic {
        let system = &self.system;
        let mut parts = vec![system.last_covers_first()];
        let var = self.fresh.var();
        let index = Term::var(var);

        for (position, column) in system.columns.iter().enumerate() {
            let id = ColumnId::new(position);
            let has = |number| Logic::Has(id, number, index, Time::Now);
            let known = Logic::any((0..column.values.len()).map(has).collect::<Vec<_>>());
            let inside = system.is_process(index);
            // Outside the family all tracks are 0, which is how the first value is written.
            let outside = Logic::all([Logic::not(inside.clone()), has(0)]);
            let body = Logic::any([Logic::all([inside, known]), outside]);
            parts.push(Logic::forall(var, body));
        }

        for (position, cell) in system.cells.iter().enumerate() {
            let id = super::logic::CellId::new(position);
            let is = |number| Logic::Is(id, number, Time::Now);
            parts.push(Logic::any(
                (0..cell.values.len()).map(is).collect::<Vec<_>>(),
            ));
        }

        let shared = system.pointers.iter().enumerate();
        for (position, _) in shared.filter(|(_, pointer)| pointer.of.is_none()) {
            let id = super::logic::PointerId::new(position);
            let value = Term::of(Base::Pointer(id, Time::Now));
            parts.push(system.pointer_fits(id, value));
        }

        parts.extend(fields::well_formed(system, &mut self.fresh));
        Logic::all(parts)
    }

    /// States in which nothing can happen; where fields are involved, in which that is possible.
    #[must_use]
    pub fn deadlock(&self) -> Logic {
        self.nothing(|transition| &transition.enabled)
    }

    /// States in which nothing can happen, in terms of fields.
    #[must_use]
    pub fn deadlock_as_written(&self) -> Logic {
        self.nothing(|transition| &transition.guard)
    }

    fn nothing(&self, enabled: impl Fn(&Transition) -> &Logic) -> Logic {
        let none = |transition: &Transition| {
            let enabled = enabled(transition).clone();
            Logic::not(if transition.has_actor {
                Logic::exists(self.actor, enabled)
            } else {
                enabled
            })
        };
        Logic::all(self.transitions.iter().map(none).collect::<Vec<_>>())
    }

    fn initial_states(&mut self) -> Result<Logic, Outside> {
        let system = self.system.clone();
        let mut parts = Vec::new();
        let mut failures = Vec::new();
        for (position, column) in system.columns.iter().enumerate() {
            let var = self.fresh.var();
            let index = Term::var(var);
            let allowed = self.initial_values(&system, column, Some(index), &mut failures)?;
            let has = |(number, condition): (usize, Logic)| {
                Logic::all([
                    condition,
                    Logic::Has(ColumnId::new(position), number, index, Time::Now),
                ])
            };
            let body = Logic::any(allowed.into_iter().map(has).collect::<Vec<_>>());
            parts.push(Logic::forall(
                var,
                Logic::implies(system.is_process(index), body),
            ));
            for (failure, _) in &mut failures {
                let mut free = failure.free_vars().into_iter();
                if free.any(|found| self.fresh.depends(Term::var(found), var)) {
                    let inside = Logic::all([system.is_process(index), failure.clone()]);
                    *failure = Logic::exists(var, inside);
                }
            }
        }

        for position in 0..system.fields.len() {
            parts.push(self.initial_field(FieldId::new(position), &mut failures)?);
        }

        for (position, cell) in system.cells.iter().enumerate() {
            let id = super::logic::CellId::new(position);
            let allowed = self.initial_values(&system, cell, None, &mut failures)?;
            let is =
                |(number, condition)| Logic::all([condition, Logic::Is(id, number, Time::Now)]);
            parts.push(Logic::any(allowed.into_iter().map(is).collect::<Vec<_>>()));
        }

        for (position, pointer) in system.pointers.iter().enumerate() {
            let variable = &system.parts().vars[pointer.var.index()];
            let id = super::logic::PointerId::new(position);
            let value = Term::of(Base::Pointer(id, Time::Now));
            let values = match &variable.initial {
                Initial::Values(values) => values,
                Initial::Any => continue,
            };
            let mut translator = Translator::new(&system, &mut self.fresh, variable.span);
            let cases = translator.cases(&values[0])?;
            let errors = translator.errors.into_iter();
            failures.extend(errors.map(|error| (error, variable.span)));
            for (condition, term) in &cases {
                let misfit = Logic::not(system.pointer_fits(id, *term));
                failures.push((Logic::all([condition.clone(), misfit]), variable.span));
            }
            let equal = |(condition, term): (Logic, Term)| {
                Logic::all([condition, Logic::equal(value, term)])
            };
            parts.push(Logic::any(cases.into_iter().map(equal).collect::<Vec<_>>()));
        }

        // Conditions are evaluated where the values are those of the declarations.
        let declared = Logic::all(parts.clone());
        for expr in &system.parts().init {
            let mut translator = Translator::new(&system, &mut self.fresh, system.template.span);
            let demanded = translator.condition(expr)?;
            let errors = translator.errors.into_iter();
            if !expr.mentions_state() {
                self.size = Logic::all([self.size.clone(), demanded.clone()]);
            }
            parts.push(demanded);
            let failing = |error| Logic::all([declared.clone(), error]);
            failures.extend(errors.map(|error| (failing(error), system.template.span)));
        }

        self.failing_starts.extend(failures);
        Ok(Logic::all(parts))
    }

    /// What every process has in a field at the start.
    fn initial_field(
        &mut self,
        id: FieldId,
        failures: &mut Vec<(Logic, Span)>,
    ) -> Result<Logic, Outside> {
        let system = self.system.clone();
        let field = &system.fields[id.index()];
        let variable = &system.parts().vars[field.var.index()];
        let values = match &variable.initial {
            Initial::Values(values) => values,
            Initial::Any => return Ok(Logic::Const(true)),
        };
        let var = self.fresh.var();
        let index = Term::var(var);
        let inside = system.is_process(index);
        let mut translator = Translator::new(&system, &mut self.fresh, variable.span);
        if let Some(process) = field.family {
            translator.own = Some((process, index));
            let range = system.parts().processes[process.index()].index;
            translator.bind(range.expect("a family has an index").bound, index);
        }

        let cases = translator.cases(&values[0])?;
        let mut errors = std::mem::take(&mut translator.errors);
        for (condition, term) in &cases {
            let misfit = Logic::not(system.field_fits(id, *term));
            errors.push(Logic::all([condition.clone(), misfit]));
        }
        failures.extend(errors.into_iter().map(|error| {
            let here = Logic::all([inside.clone(), error]);
            (Logic::exists(var, here), variable.span)
        }));

        let starts = |(condition, term): (Logic, Term)| {
            Logic::all([condition, Logic::Holds(id, index, term, Time::Now)])
        };
        let body = Logic::any(cases.into_iter().map(starts).collect::<Vec<_>>());
        Ok(Logic::Each(var, id, Box::new(body)))
    }

    /// The values with which a column or cell may start, and when.
    fn initial_values(
        &mut self,
        system: &System<'t>,
        finite: &Finite,
        index: Option<Term>,
        failures: &mut Vec<(Logic, Span)>,
    ) -> Result<Vec<(usize, Logic)>, Outside> {
        let always = |number: usize| (number, Logic::Const(true));
        let var = match finite.source {
            Source::Location(process) => {
                let initial = &system.parts().processes[process.index()].initial;
                return Ok(initial.iter().map(|l| always(l.index())).collect());
            }
            Source::Variable(var) => var,
            Source::Bit(_) => unreachable!("bits are added to a finished family"),
        };

        let variable = &system.parts().vars[var.index()];
        let values = match &variable.initial {
            Initial::Values(values) => values,
            Initial::Any => return Ok((0..finite.values.len()).map(always).collect()),
        };
        let mut translator = Translator::new(system, &mut self.fresh, variable.span);
        if let (Some(process), Some(index)) = (finite.family, index) {
            translator.own = Some((process, index));
            let range = system.parts().processes[process.index()].index;
            translator.bind(range.expect("a family has an index").bound, index);
        }

        let cases = translator.cases(&values[0])?;
        let errors = translator.errors.into_iter();
        failures.extend(errors.map(|error| (error, variable.span)));

        let mut allowed = Vec::new();
        let mut misfit = vec![Logic::Const(true)];
        for (number, value) in finite.values.iter().enumerate() {
            let fits = super::cases::is_value(&cases, *value);
            misfit.push(Logic::not(fits.clone()));
            allowed.push((number, fits));
        }

        failures.push((Logic::all(misfit), variable.span));
        Ok(allowed)
    }

    fn add_transitions(&mut self) -> Result<(), Outside> {
        let parts = self.system.parts();
        for (position, process) in parts.processes.iter().enumerate() {
            for number in 0..process.steps.len() {
                self.add_transition(ProcessId::new(position), number)?;
            }
        }
        Ok(())
    }

    fn add_transition(&mut self, process: ProcessId, number: usize) -> Result<(), Outside> {
        let system = self.system.clone();
        let step = &system.parts().processes[process.index()].steps[number];
        let is_family = system.families.contains(&process);
        let own = is_family.then_some(Term::var(self.actor));
        let ways = self.ways(process, step, own)?;
        let mut relations = Vec::new();
        let mut enabled = Vec::new();
        for branch in ways.branches {
            let path = Logic::all(branch.path.clone());
            enabled.push(close(&branch.choices, path.clone()));
            let after = self.after(&branch, process, step, own);
            relations.push(close(&branch.choices, Logic::all([path, after])));
        }

        for (failure, span) in ways.failures {
            let here = Logic::all([ways.here.clone(), failure]);
            let closed = if is_family {
                Logic::exists(self.actor, here)
            } else {
                here
            };
            self.failures.push((closed, span));
        }

        let enabled = Logic::all([ways.here.clone(), Logic::any(enabled)]);
        self.transitions.push(Transition {
            name: step.name.clone(),
            process: Some(process),
            has_actor: is_family,
            step: number,
            has_parameters: !step.parameters.is_empty(),
            guard: enabled.clone(),
            enabled,
            relation: Logic::all([ways.here, Logic::any(relations)]),
        });
        Ok(())
    }

    /// All ways in which a process can take a step.
    pub(super) fn ways(
        &mut self,
        process: ProcessId,
        step: &Step,
        own: Option<Term>,
    ) -> Result<Ways, Outside> {
        match step.sync {
            Sync::Internal => {}
            Sync::Send { .. } | Sync::Receive { .. } | Sync::Event { .. } => {
                let what = format!("the communication of `{}`", step.name);
                return Err(outside(&what, step.span));
            }
        }

        let system = self.system.clone();
        let source = Source::Location(process);
        let place = step.source.index();
        let mut translator = Translator::new(&system, &mut self.fresh, step.span);

        // A process of a family is a column entry at its own index, a single process is a cell.
        let here = match (own, system.column_of(source), system.cell_of(source)) {
            (Some(own), Some(column), _) => {
                translator.own = Some((process, own));
                let range = system.parts().processes[process.index()].index;
                translator.bind(range.expect("a family has an index").bound, own);
                let at = Logic::Has(column, place, own, Time::Now);
                Logic::all([system.is_process(own), at])
            }
            (None, _, Some(cell)) => Logic::Is(cell, place, Time::Now),
            _ => unreachable!("a process has a location"),
        };

        // Every choice of the parameters is a branch of its own, because guards and effects may
        // read them.
        let mut starts = vec![Branch::default()];
        for parameter in &step.parameters {
            let mut next = Vec::new();
            for start in starts {
                next.extend(effect::choose_parameter(&mut translator, parameter, start)?);
            }
            starts = next;
        }

        let mut branches = Vec::new();
        for mut start in starts {
            // The guard is taken before the effect runs: whether the step is enabled does not
            // depend on what the effect chooses.
            effect::require(&mut translator, &step.condition, &mut start)?;
            effect::require(&mut translator, &step.guard, &mut start)?;
            let guard = Logic::all(start.path.clone());
            branches.push((
                close(&start.choices, guard),
                effect::run(&mut translator, &step.effect, start)?,
            ));
        }

        let errors = std::mem::take(&mut translator.errors);
        Ok(Ways {
            here,
            guard: Logic::any(
                branches
                    .iter()
                    .map(|(guard, _)| guard.clone())
                    .collect::<Vec<_>>(),
            ),
            branches: branches
                .into_iter()
                .flat_map(|(_, branches)| branches)
                .collect(),
            failures: errors.into_iter().map(|error| (error, step.span)).collect(),
        })
    }

    /// What everything is after a branch in which one process moves alone.
    fn after(
        &mut self,
        branch: &Branch,
        process: ProcessId,
        step: &Step,
        own: Option<Term>,
    ) -> Logic {
        let n_columns = self.system.columns.len();
        let mut parts: Vec<Logic> = (0..n_columns)
            .map(|position| self.column_after(ColumnId::new(position), branch, process, step, own))
            .collect();
        let system = &self.system;
        for position in 0..system.cells.len() {
            let id = super::logic::CellId::new(position);
            parts.push(cell_after(system, id, branch, process, step));
        }
        for position in 0..system.pointers.len() {
            parts.push(pointer_after(
                super::logic::PointerId::new(position),
                branch,
            ));
        }
        for position in 0..self.system.fields.len() {
            parts.push(self.field_after(FieldId::new(position), branch));
        }
        Logic::all(parts)
    }

    /// What every process has in a field after a branch.
    fn field_after(&mut self, id: FieldId, branch: &Branch) -> Logic {
        let mut writes = branch.store.fields.iter();
        if !writes.any(|write| write.field == id) {
            return Logic::SameField(id);
        }
        let var = self.fresh.var();
        let index = Term::var(var);
        let mut cases = vec![(Logic::Const(true), self.fresh.held(id, index))];
        for write in branch.store.fields.iter().filter(|write| write.field == id) {
            cases = write.seen_from(index, cases);
        }
        let after = |(condition, term): (Logic, Term)| {
            Logic::all([condition, Logic::Holds(id, index, term, Time::Next)])
        };
        let body = Logic::any(cases.into_iter().map(after).collect::<Vec<_>>());
        Logic::Each(var, id, Box::new(body))
    }

    fn column_after(
        &mut self,
        id: ColumnId,
        branch: &Branch,
        process: ProcessId,
        step: &Step,
        own: Option<Term>,
    ) -> Logic {
        let moves = self.system.columns[id.index()].source == Source::Location(process)
            && step.source != step.target;
        let is_written = branch.store.writes.iter().any(|write| write.column == id);
        if !moves && !is_written {
            return Logic::SameColumn(id);
        }
        let var = self.fresh.var();
        let index = Term::var(var);
        let mut body = self.value_after(id, branch, index);
        if moves {
            let own = own.expect("a column of locations belongs to a family");
            let is_own = Logic::equal(index, own);
            let there = Logic::Has(id, step.target.index(), index, Time::Next);
            let other = Logic::all([Logic::not(is_own.clone()), body]);
            body = Logic::any([Logic::all([is_own, there]), other]);
        }
        Logic::forall(var, body)
    }

    /// What a process has in a column after the writes of a branch.
    pub(super) fn value_after(&self, id: ColumnId, branch: &Branch, index: Term) -> Logic {
        let column = &self.system.columns[id.index()];
        let mut after = Logic::SameAt(id, index);
        for write in branch
            .store
            .writes
            .iter()
            .filter(|write| write.column == id)
        {
            let here = write.condition.substitute(write.var, index);
            let mut values = Vec::new();
            for (condition, term) in &write.value {
                let condition = condition.substitute(write.var, index);
                let term = term.substitute(write.var, index);
                for (number, value) in column.values.iter().enumerate() {
                    let equal = Logic::equal(term, Term::number(*value));
                    let has = Logic::Has(id, number, index, Time::Next);
                    values.push(Logic::all([condition.clone(), equal, has]));
                }
            }
            let kept = Logic::all([Logic::not(here.clone()), after]);
            after = Logic::any([kept, Logic::all([here, Logic::any(values)])]);
        }
        after
    }
}

/// All ways to take a step.
pub(super) struct Ways {
    /// The process exists and is at the source.
    pub(super) here: Logic,
    /// The guard, for some parameters.
    pub(super) guard: Logic,
    pub(super) branches: Vec<Branch>,
    pub(super) failures: Vec<(Logic, Span)>,
}

/// For some choices.
pub(super) fn close(choices: &[IndexVar], inner: Logic) -> Logic {
    choices
        .iter()
        .rev()
        .fold(inner, |inner, var| Logic::exists(*var, inner))
}

/// What a cell is after a branch.
pub(super) fn cell_after(
    system: &System<'_>,
    id: super::logic::CellId,
    branch: &Branch,
    process: ProcessId,
    step: &Step,
) -> Logic {
    let cell = &system.cells[id.index()];
    if cell.source == Source::Location(process) {
        return Logic::Is(id, step.target.index(), Time::Next);
    }
    let Some((_, cases)) = branch.store.cells.iter().rev().find(|known| known.0 == id) else {
        return Logic::SameCell(id);
    };
    let mut parts = Vec::new();
    for (condition, term) in cases {
        for (number, value) in cell.values.iter().enumerate() {
            let equal = Logic::equal(*term, Term::number(*value));
            let is = Logic::Is(id, number, Time::Next);
            parts.push(Logic::all([condition.clone(), equal, is]));
        }
    }
    Logic::any(parts)
}

/// What a pointer holds after a branch.
pub(super) fn pointer_after(id: super::logic::PointerId, branch: &Branch) -> Logic {
    let next = Term::of(Base::Pointer(id, Time::Next));
    let stored = branch
        .store
        .pointers
        .iter()
        .rev()
        .find(|known| known.0 == id);
    let now = vec![(Logic::Const(true), Term::of(Base::Pointer(id, Time::Now)))];
    let cases: &Cases = stored.map_or(&now, |known| &known.1);
    let equal = |(condition, term): &(Logic, Term)| {
        Logic::all([condition.clone(), Logic::equal(next, *term)])
    };
    Logic::any(cases.iter().map(equal).collect::<Vec<_>>())
}

/// The condition of an expression for a process, with the errors that it may meet.
pub(super) fn condition_of(
    family: &mut Family<'_>,
    names: &[(model::BoundId, Term)],
    expr: &Expr,
    span: Span,
) -> Result<(Logic, Vec<Logic>), Outside> {
    let system = family.system.clone();
    let mut translator = Translator::new(&system, &mut family.fresh, span);
    for (bound, term) in names {
        translator.bind(*bound, *term);
    }
    let condition = translator.condition(expr)?;
    let errors = translator.errors;
    let bound = |logic| family.fresh.bound(logic);
    Ok((bound(condition), errors.into_iter().map(bound).collect()))
}

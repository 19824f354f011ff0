//! Execution of effects from all states at once.
//!
//! The counterpart of `model::execute`. A [`Branch`] is what an effect has done so far: which states
//! it is about, and what the fields that were written hold now, as a function of the state before.
//! An `if` splits a branch and joins it again; a choice makes several that stay apart, because they
//! are different steps from the same state.

use std::collections::BTreeMap;

use model::{BoundId, Expr, InstanceId, Place, Setting, Stmt, StmtKind};

use crate::bdd::{Bdd, Halt};
use crate::encoding::Encoding;
use crate::evaluate::{Evaluation, MAX_INSTANCES, check_instances};
use crate::value::{Value, ValueBuilder};

/// A loop that is executed more often in one step is not unfolded.
const MAX_ROUNDS: usize = 10_000;

/// What a field holds, and in which states it was written.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    pub(crate) value: Value,
    pub(crate) when: Bdd,
}

/// A way of executing an effect.
#[derive(Clone, Debug)]
pub(crate) struct Branch {
    /// The states before the step that it is about. Elsewhere the rest means nothing.
    pub(crate) states: Bdd,
    pub(crate) bounds: Vec<(BoundId, Value)>,
    pub(crate) fields: BTreeMap<usize, Written>,
}

impl Branch {
    /// Nothing was done yet.
    pub(crate) fn new(states: Bdd) -> Self {
        Self {
            states,
            bounds: Vec::new(),
            fields: BTreeMap::new(),
        }
    }

    /// What a field holds.
    pub(crate) fn value(&self, encoding: &Encoding<'_>, field: usize) -> Value {
        let written = self.fields.get(&field);
        written.map_or_else(|| encoding.value(field).clone(), |w| w.value.clone())
    }

    /// Writes a field in these states, or everywhere.
    pub(crate) fn write(
        &mut self,
        encoding: &Encoding<'_>,
        field: usize,
        value: Value,
        when: &Bdd,
    ) -> Result<(), Halt> {
        let written = if when.is_true() {
            let when = when.clone();
            Written { value, when }
        } else {
            let value = Value::choice(when, &value, &self.value(encoding, field))?;
            let before = self.fields.get(&field);
            let when = before.map_or(Ok(when.clone()), |before| before.when.or(when))?;
            Written { value, when }
        };
        self.fields.insert(field, written);
        Ok(())
    }

    /// The branch in those of its states that are among these.
    fn within(&self, states: &Bdd) -> Result<Self, Halt> {
        Ok(Self {
            states: self.states.and(states)?,
            ..self.clone()
        })
    }

    /// One branch of two that have no state in common.
    fn join(self, other: &Self, encoding: &Encoding<'_>) -> Result<Self, Halt> {
        let here = self.states.clone();
        let mut fields = BTreeMap::new();
        let all = self.fields.keys().chain(other.fields.keys());
        for &field in all {
            if fields.contains_key(&field) {
                continue;
            }
            let value = Value::choice(
                &here,
                &self.value(encoding, field),
                &other.value(encoding, field),
            )?;
            let nowhere = encoding.manager.constant(false);
            let when = |branch: &Self| {
                let written = branch.fields.get(&field);
                written.map_or(nowhere.clone(), |written| written.when.clone())
            };
            let when = here.ite(&when(&self), &when(other))?;
            fields.insert(field, Written { value, when });
        }

        let mut bounds = Vec::new();
        for ((name, mine), (_, theirs)) in self.bounds.iter().zip(&other.bounds) {
            let value = if std::rc::Rc::ptr_eq(&mine.0, &theirs.0) {
                mine.clone()
            } else {
                Value::choice(&here, mine, theirs)?
            };
            bounds.push((*name, value));
        }
        Ok(Self {
            states: here.or(&other.states)?,
            bounds,
            fields,
        })
    }
}

/// Executes statements for one process, and notes what goes wrong.
pub(crate) struct Execution<'a, 'm> {
    pub(crate) encoding: &'a Encoding<'m>,
    pub(crate) instance: Option<InstanceId>,
    /// Where a run-time error happens.
    pub(crate) errors: Bdd,
    /// Values that fields take and that are not among those they are known to have.
    pub(crate) new_values: Vec<(usize, i64, Bdd)>,
}

impl<'a, 'm> Execution<'a, 'm> {
    pub(crate) fn new(encoding: &'a Encoding<'m>, instance: Option<InstanceId>) -> Self {
        Self {
            encoding,
            instance,
            errors: encoding.manager.constant(false),
            new_values: Vec::new(),
        }
    }

    pub(crate) fn value(&mut self, branch: &Branch, expr: &Expr) -> Result<Value, Halt> {
        let states = branch.states.clone();
        self.evaluation(branch).value(expr, &states)
    }

    pub(crate) fn truth(&mut self, branch: &Branch, expr: &Expr) -> Result<Bdd, Halt> {
        let states = branch.states.clone();
        self.evaluation(branch).truth(expr, &states)
    }

    pub(crate) fn evaluation<'b>(&'b mut self, branch: &'b Branch) -> Evaluation<'b, 'm>
    where
        'a: 'b,
    {
        Evaluation::new(self.encoding, branch, self.instance, &mut self.errors)
    }

    fn fail(&mut self, states: &Bdd) -> Result<(), Halt> {
        self.errors = self.errors.or(states)?;
        Ok(())
    }

    /// Replaces branches by those that a sequence of statements leads to.
    pub(crate) fn run(
        &mut self,
        statements: &[Stmt],
        mut branches: Vec<Branch>,
    ) -> Result<Vec<Branch>, Halt> {
        for statement in statements {
            let mut next = Vec::new();
            for branch in branches {
                next.extend(self.step(&statement.kind, branch)?);
            }
            next.retain(|branch| !branch.states.is_false());
            branches = next;
            self.encoding.manager.poll()?;
        }
        Ok(branches)
    }

    fn step(&mut self, statement: &StmtKind, mut branch: Branch) -> Result<Vec<Branch>, Halt> {
        match statement {
            StmtKind::Assign(place, value) => {
                let value = self.value(&branch, value)?;
                self.store(&mut branch, place, &value)?;
            }
            StmtKind::If(condition, then, otherwise) => {
                let condition = self.truth(&branch, condition)?;
                return self.split(&branch, &condition, then, otherwise);
            }
            StmtKind::For(bound, lo, hi, body) => {
                return self.repeat(&branch, *bound, (lo, hi), body);
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                return self.choose(&branch, *bound, (lo, hi), condition);
            }
            StmtKind::Assert(condition) => {
                let condition = self.truth(&branch, condition)?;
                self.fail(&branch.states.minus(&condition)?)?;
                branch.states = branch.states.and(&condition)?;
            }
            StmtKind::Let(bound, value) => {
                let value = self.value(&branch, value)?;
                branch.bounds.push((*bound, value));
            }
            StmtKind::Set(bound, value) => {
                let value = self.value(&branch, value)?;
                let mut names = branch.bounds.iter_mut().rev();
                let found = names.find(|(name, _)| name == bound);
                found
                    .expect("`ModelParts::finish` checks that names are bound")
                    .1 = value;
            }
            StmtKind::While(condition, body) => return self.run_while(branch, condition, body),
            StmtKind::SetTimer(place, setting) => return self.set_timer(&branch, place, setting),
            StmtKind::Tick => self.tick(&mut branch)?,
            StmtKind::Fail(_) | StmtKind::Exhausted => {
                self.fail(&branch.states)?;
                return Ok(Vec::new());
            }
        }
        Ok(vec![branch])
    }

    fn split(
        &mut self,
        branch: &Branch,
        condition: &Bdd,
        then: &[Stmt],
        otherwise: &[Stmt],
    ) -> Result<Vec<Branch>, Halt> {
        let n_bounds = branch.bounds.len();
        let with = branch.within(condition)?;
        let without = Branch {
            states: branch.states.minus(condition)?,
            ..branch.clone()
        };
        let mut with = self.run_from(then, with)?;
        let mut without = self.run_from(otherwise, without)?;

        if let ([_], [_]) = (&with[..], &without[..]) {
            let (Some(mut with), Some(mut without)) = (with.pop(), without.pop()) else {
                unreachable!("there is one of each");
            };
            with.bounds.truncate(n_bounds);
            without.bounds.truncate(n_bounds);
            return Ok(vec![with.join(&without, self.encoding)?]);
        }
        with.append(&mut without);
        for branch in &mut with {
            branch.bounds.truncate(n_bounds);
        }
        Ok(with)
    }

    fn run_from(&mut self, statements: &[Stmt], branch: Branch) -> Result<Vec<Branch>, Halt> {
        if branch.states.is_false() {
            return Ok(Vec::new());
        }
        self.run(statements, vec![branch])
    }

    /// The ends of a range, and the part of the branch in which it has them.
    fn ranges(
        &mut self,
        branch: &Branch,
        (lo, hi): (&Expr, &Expr),
    ) -> Result<Vec<(i64, i64, Branch)>, Halt> {
        let lo = self.value(branch, lo)?.within(&branch.states)?;
        let hi = self.value(branch, hi)?.within(&branch.states)?;
        let mut ranges = Vec::new();
        lo.pairs(&hi, |lo, hi, when| {
            check_instances(lo, hi)?;
            ranges.push((lo, hi, branch.within(&when)?));
            Ok(())
        })?;
        Ok(ranges)
    }

    fn repeat(
        &mut self,
        branch: &Branch,
        bound: BoundId,
        range: (&Expr, &Expr),
        body: &[Stmt],
    ) -> Result<Vec<Branch>, Halt> {
        let n_bounds = branch.bounds.len();
        let mut left: Vec<Branch> = Vec::new();

        for (lo, hi, start) in self.ranges(branch, range)? {
            let mut own = vec![start];
            for value in lo..=hi {
                let value = Value::constant(&self.encoding.manager, value);
                for branch in &mut own {
                    branch.bounds.truncate(n_bounds);
                    branch.bounds.push((bound, value.clone()));
                }
                own = self.run(body, own)?;
            }
            left.extend(own);
        }

        // The bound name ends with the repetition.
        for branch in &mut left {
            branch.bounds.truncate(n_bounds);
        }
        self.joined(left)
    }

    /// Joins neighbours that are about different states, so that branches do not multiply.
    fn joined(&self, branches: Vec<Branch>) -> Result<Vec<Branch>, Halt> {
        let mut joined: Vec<Branch> = Vec::new();
        for branch in branches {
            match joined.pop() {
                Some(last) if last.states.is_disjoint(&branch.states)? => {
                    joined.push(last.join(&branch, self.encoding)?);
                }
                last => {
                    joined.extend(last);
                    joined.push(branch);
                }
            }
        }
        Ok(joined)
    }

    fn choose(
        &mut self,
        branch: &Branch,
        bound: BoundId,
        range: (&Expr, &Expr),
        condition: &Expr,
    ) -> Result<Vec<Branch>, Halt> {
        let mut chosen = Vec::new();
        for (lo, hi, start) in self.ranges(branch, range)? {
            for value in lo..=hi {
                let mut branch = start.clone();
                let value = Value::constant(&self.encoding.manager, value);
                branch.bounds.push((bound, value));
                let condition = self.truth(&branch, condition)?;
                branch.states = branch.states.and(&condition)?;
                if !branch.states.is_false() {
                    chosen.push(branch);
                }
            }
        }
        Ok(chosen)
    }

    fn run_while(
        &mut self,
        branch: Branch,
        condition: &Expr,
        body: &[Stmt],
    ) -> Result<Vec<Branch>, Halt> {
        let n_bounds = branch.bounds.len();

        let (mut inside, mut left) = (vec![branch], Vec::new());
        for _ in 0..MAX_ROUNDS {
            let mut going_on = Vec::new();
            for branch in inside {
                let condition = self.truth(&branch, condition)?;
                let done = Branch {
                    states: branch.states.minus(&condition)?,
                    ..branch.clone()
                };
                left.push(done);
                going_on.push(branch.within(&condition)?);
            }

            left.retain(|branch: &Branch| !branch.states.is_false());
            going_on.retain(|branch| !branch.states.is_false());
            if going_on.is_empty() {
                return self.joined(left);
            }

            inside = self.run(body, going_on)?;
            for branch in &mut inside {
                branch.bounds.truncate(n_bounds);
            }
        }

        Err(Halt::Unsupported(format!(
            "a loop is executed more than {MAX_ROUNDS} times in one step"
        )))
    }

    /// Stores a value, checking it against the type of the cell.
    pub(crate) fn store(
        &mut self,
        branch: &mut Branch,
        place: &Place,
        value: &Value,
    ) -> Result<(), Halt> {
        let states = branch.states.clone();
        let cells = self.evaluation(branch).cell(place, &states)?;
        for (cell, when) in cells.0.iter() {
            let ty = self.encoding.model.cells()[*cell as usize].ty;
            let field = self.encoding.domains.cell(*cell as usize);
            let here = states.and(when)?;
            let fits = self.fitting(field, value, &here, |value| ty.contains(value))?;
            branch.write(self.encoding, field, fits, when)?;
        }
        Ok(())
    }

    /// Those values that a field can take. Others are errors, or not yet known.
    pub(crate) fn fitting(
        &mut self,
        field: usize,
        value: &Value,
        states: &Bdd,
        is_in_type: impl Fn(i64) -> bool,
    ) -> Result<Value, Halt> {
        let known = &self.encoding.domains.values[field];

        let mut fits = ValueBuilder::default();
        for (value, when) in value.0.iter() {
            let is_in_type = is_in_type(*value);
            if is_in_type && known.binary_search(value).is_ok() {
                fits.add(*value, when.clone())?;
                continue;
            }

            let here = when.and(states)?;
            if here.is_false() {
                continue;
            }

            if is_in_type {
                self.new_values.push((field, *value, here));
            } else {
                self.fail(&here)?;
            }
        }
        Ok(fits.finish())
    }

    /// Sets a timer that is not abstract. Every value that `any` stands for is a branch.
    fn set_timer(
        &mut self,
        branch: &Branch,
        place: &Place,
        setting: &Setting,
    ) -> Result<Vec<Branch>, Halt> {
        let timer = self.encoding.model.timer(place.var);
        let timer = timer.expect("`ModelParts::finish` checks what is set");
        let mut ranges = Vec::new();
        match setting {
            Setting::Any => {
                let (lo, hi) = timer
                    .any
                    .expect("`ModelParts::finish` checks what `any` stands for");
                ranges.push((lo, hi, branch.clone()));
            }
            Setting::To(expr) => {
                let value = self.value(branch, expr)?.within(&branch.states)?;
                for (value, when) in value.0.iter() {
                    let is_any = timer.stretched_from.is_some_and(|from| *value >= from);
                    let any = timer.any.filter(|_| is_any);
                    let (lo, hi) = any.unwrap_or((*value, *value));
                    ranges.push((lo, hi, branch.within(when)?));
                }
            }
        }

        let mut branches = Vec::new();
        for (lo, hi, start) in ranges {
            if hi.saturating_sub(lo) > MAX_INSTANCES {
                check_instances(lo, hi)?;
            }
            for value in lo..=hi {
                let mut set = start.clone();
                let value = Value::constant(&self.encoding.manager, value);
                self.store(&mut set, place, &value)?;
                branches.push(set);
            }
        }
        self.joined(branches)
    }

    /// One unit of time passes for timers that are not abstract.
    fn tick(&mut self, branch: &mut Branch) -> Result<(), Halt> {
        for &(cell, _) in self.encoding.model.timer_cells() {
            let field = self.encoding.domains.cell(cell);
            let mut less = ValueBuilder::default();
            let mut running = self.encoding.manager.constant(false);
            for (value, when) in branch.value(self.encoding, field).0.iter() {
                if *value >= 0 {
                    less.add(value - 1, when.clone())?;
                    running = running.or(when)?;
                }
            }
            let here = branch.states.and(&running)?;
            let fits = self.fitting(field, &less.finish(), &here, |_| true)?;
            branch.write(self.encoding, field, fits, &running)?;
        }
        Ok(())
    }
}

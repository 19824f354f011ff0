//! What one process can do, as rules between its states.

use base::Span;
use model::threshold::{Condition, Quantity, Sum};
use model::{BoundId, Expr, Initial, LocationId, Owner, Place, Step, Stmt, StmtKind, Sync};

use super::world::{Meaning, Scope, Value, World, Wrong, outside};

/// A way of taking a step in a state.
pub(super) struct Way {
    pub(super) source: usize,
    pub(super) target: usize,
    pub(super) guard: Condition,
    pub(super) update: Vec<(usize, i64)>,
    /// Which step of the process, with which values of its parameters.
    pub(super) step: usize,
    pub(super) arguments: Vec<i64>,
}

/// The states that a process of a family can be in, and what it can do there.
pub(super) struct Behaviour {
    pub(super) initial: Vec<usize>,
    /// In ascending order.
    pub(super) states: Vec<usize>,
    pub(super) ways: Vec<Way>,
}

/// A step while its effect is worked out: one of the ways in which it may go on.
#[derive(Clone)]
struct Doing {
    scope: Scope,
    guard: Vec<Condition>,
}

impl World<'_> {
    /// All states that can be reached if every guard is true some time.
    pub(super) fn behaviour(&self, family: usize) -> Result<Behaviour, Wrong> {
        let initial = self.initial_states(family)?;
        let mut states = initial.clone();
        let mut ways = Vec::new();

        let mut next = 0;
        while let Some(state) = states.get(next).copied() {
            next += 1;
            let process = &self.parts.processes[self.families[family].process.index()];
            let (location, _) = self.families[family].state(state);

            for (number, step) in process.steps.iter().enumerate() {
                if step.source == location {
                    self.ways(family, state, (number, step), &mut ways)?;
                }
            }

            for way in &ways {
                if !states.contains(&way.target) {
                    states.push(way.target);
                }
            }
        }

        states.sort_unstable();
        Ok(Behaviour {
            initial,
            states,
            ways,
        })
    }

    fn initial_states(&self, family: usize) -> Result<Vec<usize>, Wrong> {
        let description = &self.families[family];
        let process = &self.parts.processes[description.process.index()];
        let mut lists: Vec<Vec<i64>> = vec![Vec::new()];
        for (var, lo, hi) in &description.locals {
            let variable = &self.parts.vars[var.index()];
            let values = match &variable.initial {
                Initial::Any => (*lo..=*hi).collect(),
                Initial::Values(values) => {
                    let value = self.constant(&values[0], &Scope::at(variable.span))?;
                    self.check_fits(value, (*lo, *hi), variable.span)?;
                    vec![value]
                }
            };
            let longer = |list: &Vec<i64>| {
                let list = list.clone();
                let with = move |value: &i64| [list.as_slice(), &[*value]].concat();
                values.iter().map(with).collect::<Vec<_>>()
            };
            lists = lists.iter().flat_map(longer).collect();
        }

        let at = |location: &LocationId| {
            let location = *location;
            let number = move |list: &Vec<i64>| description.number(location, list);
            lists.iter().map(number).collect::<Vec<_>>()
        };
        let mut states: Vec<usize> = process.initial.iter().flat_map(at).collect();
        states.sort_unstable();
        states.dedup();
        Ok(states)
    }

    fn check_fits(&self, value: i64, (lo, hi): (i64, i64), span: Span) -> Result<(), Wrong> {
        if (lo..=hi).contains(&value) {
            return Ok(());
        }
        let message = format!("a local variable may become {value}, which is outside {lo}..{hi}");
        let help = "guard the step, or give the variable more values";
        Err(outside(span, message, help))
    }

    /// The ways of taking a step in a state.
    fn ways(
        &self,
        family: usize,
        state: usize,
        (number, step): (usize, &Step),
        ways: &mut Vec<Way>,
    ) -> Result<(), Wrong> {
        self.check_alone(step)?;
        let description = &self.families[family];
        let mut scope = Scope::at(step.span);
        scope.slots.push(self.slot(family, state));
        scope.own = Some(0);
        let process = &self.parts.processes[description.process.index()];
        let index = process.index.map(|index| index.bound);
        scope
            .names
            .extend(index.map(|name| (name, Meaning::Process(0))));

        for (arguments, scope) in self.arguments(step, scope)? {
            let guard = self.condition(&step.guard, &scope)?;
            if guard == Condition::Bool(false) {
                continue;
            }
            let start = Doing {
                scope,
                guard: vec![guard],
            };
            for done in self.run(&step.effect, vec![start])? {
                let guard = Condition::all(done.guard);
                if guard == Condition::Bool(false) {
                    continue;
                }
                let added = done.scope.added.into_iter();
                ways.push(Way {
                    source: state,
                    target: description.number(step.target, &done.scope.slots[0].locals),
                    guard,
                    update: added.filter(|(_, amount)| *amount != 0).collect(),
                    step: number,
                    arguments: arguments.clone(),
                });
            }
        }
        Ok(())
    }

    fn check_alone(&self, step: &Step) -> Result<(), Wrong> {
        match step.sync {
            Sync::Internal => Ok(()),
            Sync::Send { .. } | Sync::Receive { .. } | Sync::Event { .. } => {
                let message = "a step has a partner, or uses a channel";
                let help = "processes of a threshold automaton meet in counters only: count messages that are sent (`sent := sent + 1`), and compare (`when sent >= N - T`)";
                Err(outside(step.span, message, help))
            }
        }
    }

    /// The lists of values that the parameters of a step can have.
    fn arguments(&self, step: &Step, scope: Scope) -> Result<Vec<(Vec<i64>, Scope)>, Wrong> {
        let mut lists = vec![(Vec::new(), scope)];
        for parameter in &step.parameters {
            let mut longer = Vec::new();
            for (list, scope) in lists {
                for value in self.range(&parameter.lo, &parameter.hi, &scope)? {
                    let list = [list.as_slice(), &[value]].concat();
                    longer.push((list, scope.with(parameter.bound, number(value))));
                }
            }
            lists = longer;
        }
        let mut kept = Vec::new();
        for (list, scope) in lists {
            if self.constant(&step.condition, &scope)? != 0 {
                kept.push((list, scope));
            }
        }
        Ok(kept)
    }

    /// What becomes of each of `ways` by statements, one after the other.
    fn run(&self, statements: &[Stmt], mut ways: Vec<Doing>) -> Result<Vec<Doing>, Wrong> {
        for statement in statements {
            let mut after = Vec::new();
            for mut way in ways {
                way.scope.span = statement.span;
                after.extend(self.execute(&statement.kind, way)?);
            }
            ways = after;
        }
        Ok(ways)
    }

    fn execute(&self, statement: &StmtKind, mut way: Doing) -> Result<Vec<Doing>, Wrong> {
        let span = way.scope.span;
        match statement {
            StmtKind::Assign(place, value) => {
                self.assign(place, value, &mut way.scope)?;
                Ok(vec![way])
            }
            StmtKind::Let(name, value) | StmtKind::Set(name, value) => {
                let value = Meaning::Value(self.value(value, &way.scope)?);
                way.scope.names.push((*name, value));
                Ok(vec![way])
            }
            StmtKind::If(condition, then, otherwise) => {
                self.execute_if(condition, then, otherwise, way)
            }
            StmtKind::For(name, lo, hi, body) => {
                let range = self.range(lo, hi, &way.scope)?;
                let mut ways = vec![way];
                for value in range {
                    for way in &mut ways {
                        way.scope.names.push((*name, number(value)));
                    }
                    ways = self.run(body, ways)?;
                }
                Ok(ways)
            }
            StmtKind::Choose(name, lo, hi, condition) => {
                self.choose(*name, (lo, hi), condition, &way)
            }
            StmtKind::Assert(condition) => {
                if self.condition(condition, &way.scope)? == Condition::Bool(true) {
                    return Ok(vec![way]);
                }
                let message = "whether this assertion holds is not known";
                let help = "ask an invariant instead";
                Err(outside(span, message, help))
            }
            StmtKind::While(..)
            | StmtKind::Fail(_)
            | StmtKind::SetTimer(..)
            | StmtKind::Tick
            | StmtKind::Exhausted => {
                let message = "a step of a threshold automaton does not do this";
                let help = "it increases counters by numbers, and sets variables of its process";
                Err(outside(span, message, help))
            }
        }
    }

    fn execute_if(
        &self,
        condition: &Expr,
        then: &[Stmt],
        otherwise: &[Stmt],
        way: Doing,
    ) -> Result<Vec<Doing>, Wrong> {
        let yes = self.condition(condition, &way.scope)?;
        let Some(no) = yes.negation() else {
            return Err(outside(
                way.scope.span,
                "a number is too large",
                "use smaller ones",
            ));
        };

        let mut ways = Vec::new();
        for (case, body) in [(yes, then), (no, otherwise)] {
            if case == Condition::Bool(false) {
                continue;
            }
            let mut way = way.clone();
            way.guard.push(case);
            ways.extend(self.run(body, vec![way])?);
        }

        Ok(ways)
    }

    fn choose(
        &self,
        name: BoundId,
        (lo, hi): (&Expr, &Expr),
        condition: &Expr,
        way: &Doing,
    ) -> Result<Vec<Doing>, Wrong> {
        let mut ways = Vec::new();
        for value in self.range(lo, hi, &way.scope)? {
            let mut way = way.clone();
            way.scope.names.push((name, number(value)));
            let case = self.condition(condition, &way.scope)?;
            if case != Condition::Bool(false) {
                way.guard.push(case);
                ways.push(way);
            }
        }
        Ok(ways)
    }

    fn assign(&self, place: &Place, value: &Expr, scope: &mut Scope) -> Result<(), Wrong> {
        let variable = &self.parts.vars[place.var.index()];
        let name = &variable.name;

        match &place.owner {
            None => {
                let position = self.counters.iter().position(|known| *known == place.var);
                let position = position.unwrap_or_default();
                let before = scope.added.get(&position).copied().unwrap_or(0);
                let old = Sum::of(Quantity::Shared(position));
                let added = self.number(value, scope)?.plus(-1, &old);
                let added = added.and_then(|sum| sum.as_constant());
                let Some(added) = added.filter(|added| *added >= before) else {
                    let message = format!("the counter `{name}` is not increased by a number here");
                    let help = format!(
                        "write `{name} := {name} + 1`: counters of threshold automata are never decreased, reset or copied"
                    );
                    return Err(outside(scope.span, message, &help));
                };
                scope.added.insert(position, added);
            }
            Some(Owner::Own) => {
                let value = self.constant(value, scope)?;
                let slot = &mut scope.slots[0];
                let locals = &self.families[slot.family].locals;
                let position = locals.iter().position(|(known, ..)| *known == place.var);
                let position = position.unwrap_or_default();
                let (_, lo, hi) = locals[position];
                self.check_fits(value, (lo, hi), scope.span)?;
                slot.locals[position] = value;
            }
            Some(Owner::Single | Owner::Indexed(_)) => {
                let message = format!("`{name}` belongs to another process");
                let help = "a step changes counters and variables of its own process only";
                return Err(outside(scope.span, message, help));
            }
        }
        Ok(())
    }
}

fn number(value: i64) -> Meaning {
    Meaning::Value(Value::Number(Sum::constant(value)))
}

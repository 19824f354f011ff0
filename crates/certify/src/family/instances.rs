//! Evaluates the objects of a certificate in the states of instances, by the reference semantics.
//!
//! Solvers have the last word. This notices a translation for them that is wrong in the same way as
//! the one that found the proof.

use base::{Budget, Severity};
use model::{Env, Expr, Model, ProcessId, State, Template, Type, VarId, as_open_end};
use source::{Family, Question};

use super::FamilyProof;
use super::formula::{Base, Formula, Index, Meaning};
use crate::{Failure, StateWalk};

/// Instances up to this value of the parameter are looked at.
const LAST: i64 = 8;

/// Numbers beyond this in a text are not followed.
const MAX_FOLLOWED: i64 = 40;

/// Larger instances are not looked at, nor those after them.
const MAX_STATES: usize = 20_000;

/// Evaluates facts and predicates in all states of instances; says of which.
pub(super) fn evaluate(
    family: &Family,
    question: &Question,
    proof: &FamilyProof,
    budget: &Budget,
) -> Result<Vec<i64>, Failure> {
    let mut evaluated = Vec::new();
    for value in 0..=LAST.max(beyond_constants(&family.template)) {
        let loaded = family.members.with_value(value);
        let is_error = loaded
            .diagnostics
            .iter()
            .any(|d| d.severity == Severity::Error);
        let [system] = loaded.systems() else {
            continue;
        };
        // A value for which the text makes no sense is not one of the instances.
        if is_error {
            continue;
        }
        let instance = Instance {
            model: &system.model,
            template: &family.template,
            value,
        };
        if !instance.evaluate(question, proof, budget)? {
            break;
        }
        evaluated.push(value);
    }
    Ok(evaluated)
}

/// A value beyond every number in the text, as far as such numbers are followed.
fn beyond_constants(template: &Template) -> i64 {
    let mut greatest = 0;
    let mut note = |value: i64| {
        let size = as_open_end(value).unwrap_or(value).unsigned_abs();
        let size = i64::try_from(size).unwrap_or(i64::MAX);
        if size <= MAX_FOLLOWED {
            greatest = greatest.max(size);
        }
    };

    for process in &template.parts.processes {
        process.index.iter().for_each(|range| {
            note(range.lo);
            note(range.hi);
        });
    }

    for variable in &template.parts.vars {
        let mut ty = &variable.ty;
        while let Type::Array(array) = ty {
            note(array.lo);
            ty = &array.element;
        }
        if let Type::Scalar(scalar) = ty {
            let (lo, hi) = scalar.bounds();
            note(lo);
            note(hi);
        }
    }

    template.parts.for_each_operand(&mut |expr: &Expr| {
        expr.walk(&mut |inner| inner.as_literal().into_iter().for_each(&mut note));
    });

    // One beyond the greatest is equal to none of them; two leaves room for a `+ 1` of the text.
    greatest + 2
}

struct Instance<'a> {
    model: &'a Model,
    template: &'a Template,
    value: i64,
}

impl Instance<'_> {
    /// Looks at all states; stops if there are too many.
    fn evaluate(
        &self,
        question: &Question,
        proof: &FamilyProof,
        budget: &Budget,
    ) -> Result<bool, Failure> {
        let choices = self.distinguished(question)?;
        let Ok(mut walk) = StateWalk::new(self.model, Vec::new(), MAX_STATES, budget) else {
            return Ok(false);
        };

        loop {
            let visits = match walk.next_visits() {
                Ok(visits) => visits,
                Err(Failure::Stopped(reason)) => return Err(Failure::Stopped(reason)),
                Err(_) if walk.is_full() => return Ok(false),
                Err(failure) => return Err(failure),
            };
            if visits.is_empty() {
                return Ok(true);
            }

            for visit in &visits {
                for choice in &choices {
                    self.check_state(&visit.state, choice, proof)?;
                }
            }
        }
    }

    /// All processes that the question is about.
    fn distinguished(&self, question: &Question) -> Result<Vec<Vec<i64>>, Failure> {
        let scope = &question.scope;
        // None of these expressions mentions the state.
        let nowhere = State {
            locations: Vec::new(),
            cells: Vec::new(),
            channels: Vec::new(),
        };
        let constant = |expr: &Expr, chosen: &[i64]| {
            let mut env = Env::empty();
            env.bind(self.template.parameter, self.value);
            let names = scope.distinguished.iter().map(|d| d.bound);
            names
                .zip(chosen)
                .for_each(|(name, value)| env.bind(name, *value));
            let span = question.property.span;
            self.model
                .eval(expr, &nowhere, &mut env, span)
                .map_err(Failure::from)
        };
        let mut choices = vec![Vec::new()];
        for distinguished in &scope.distinguished {
            let mut longer = Vec::new();
            for choice in choices {
                let (lo, hi) = (
                    constant(&distinguished.lo, &choice)?,
                    constant(&distinguished.hi, &choice)?,
                );
                longer.extend((lo..=hi).map(|value| [&choice[..], &[value]].concat()));
            }
            choices = longer;
        }
        let mut meant = Vec::new();
        for choice in choices {
            if constant(&scope.condition, &choice)? != 0 {
                meant.push(choice);
            }
        }
        Ok(meant)
    }

    fn check_state(
        &self,
        state: &State,
        distinguished: &[i64],
        proof: &FamilyProof,
    ) -> Result<(), Failure> {
        let mut evaluation = Evaluation {
            instance: self,
            state,
            variables: (0..).zip(distinguished.iter().copied()).collect(),
        };

        let mut truth = |formula: &Formula| formula.mean(&mut evaluation).map_err(Failure::Wrong);
        for fact in &proof.facts {
            if !truth(fact)? {
                return Err(self.wrong("a fact does not hold in a state"));
            }
        }

        let row: Result<Vec<bool>, Failure> = proof.predicates.iter().map(truth).collect();
        if !proof.rows.contains(&row?) {
            return Err(self.wrong("a state is not in the invariant"));
        }
        Ok(())
    }

    fn wrong(&self, what: &str) -> Failure {
        Failure::Wrong(format!("{what} of {} = {}", self.template.name, self.value))
    }
}

/// A formula in a state.
struct Evaluation<'e> {
    instance: &'e Instance<'e>,
    state: &'e State,
    variables: Vec<(u32, i64)>,
}

impl Evaluation<'_> {
    /// What a slot holds; nothing beyond its indices.
    fn content(&self, slot: u32, at: Option<i64>) -> Result<Option<i64>, String> {
        let (model, parts) = (self.instance.model, &self.instance.template.parts);
        let slot = slot as usize;
        let n_processes = parts.processes.len();

        let process = ProcessId::new(slot);
        if slot < n_processes {
            let has_index = parts.processes[slot].index.is_some();
            if has_index != at.is_some() {
                return Err("a slot does not exist".to_owned());
            }
            let instance = model.instance_of(process, at);
            return Ok(instance.map(|i| i64::from(self.state.locations[i.index()].0)));
        }

        let Some(variable) = model.parts().vars.get(slot - n_processes) else {
            return Err("a slot does not exist".to_owned());
        };
        let var = VarId::new(slot - n_processes);

        let cell = match (variable.owner, &variable.ty, at) {
            (None, Type::Scalar(_), None) => Some(model.first_cell(var, None)),
            (None, Type::Array(array), Some(at)) => {
                let offset = at
                    .checked_sub(array.lo)
                    .and_then(|n| usize::try_from(n).ok());
                let offset = offset.filter(|offset| *offset < array.len);
                offset.map(|offset| model.first_cell(var, None) + offset)
            }
            (Some(owner), Type::Scalar(_), at) => {
                let is_family = parts.processes[owner.index()].index.is_some();
                if is_family != at.is_some() {
                    return Err("a slot does not exist".to_owned());
                }
                let instance = model.instance_of(owner, at);
                instance.map(|instance| model.first_cell(var, Some(instance)))
            }
            _ => return Err("a slot does not exist".to_owned()),
        };

        Ok(cell.map(|cell| self.state.cells[cell]))
    }
}

impl Meaning for Evaluation<'_> {
    type Truth = bool;
    type Number = i64;

    fn not(&mut self, inner: bool) -> bool {
        !inner
    }

    fn join(&mut self, is_all: bool, parts: Vec<bool>) -> bool {
        if is_all {
            parts.iter().all(|part| *part)
        } else {
            parts.iter().any(|part| *part)
        }
    }

    fn index(&mut self, (base, offset): Index) -> Result<i64, String> {
        let base = match base {
            Base::Zero => 0,
            Base::Parameter => self.instance.value,
            Base::Variable(variable) => {
                let mut known = self.variables.iter().rev();
                let found = known.find(|(known, _)| *known == variable);
                found.ok_or("a variable is not bound")?.1
            }
            Base::Slot(slot) => self.content(slot, None)?.ok_or("a slot does not exist")?,
        };
        let sum = base.checked_add(offset);
        sum.ok_or_else(|| "a number is too large".to_owned())
    }

    fn compare(&mut self, is_less: bool, left: i64, right: i64) -> bool {
        if is_less { left < right } else { left == right }
    }

    fn has(&mut self, slot: u32, at: Option<i64>, value: i64) -> Result<bool, String> {
        Ok(self.content(slot, at)? == Some(value))
    }

    fn some(&mut self, variable: u32, inner: &Formula) -> Result<bool, String> {
        for value in 0..=self.instance.value {
            self.variables.push((variable, value));
            let holds = inner.mean(self);
            self.variables.pop();
            if holds? {
                return Ok(true);
            }
        }
        Ok(false)
    }
}

//! A model as guarded simultaneous assignments over solver terms.
//!
//! Every instance of a process contributes its location, every cell its value, every channel its
//! length and slots. A *transition* is one way of taking an action: one command, or the commands
//! of all participants of a rendezvous, event or synchronous step, each reading the state before.
//! Integers are mathematical: overflow does not happen here.

use std::collections::BTreeMap;
use std::sync::Arc;

use base::Span;
use model::{ActionId, BoundId, CommandId, InstanceId, Model, VarId};
use smt::{Interval, Sort, Term};

/// Why a model cannot be treated, and where.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// One clause.
    pub message: String,
    /// What it is about.
    pub span: Span,
}

/// What a variable of the program stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Content {
    /// The location of an instance.
    Location(InstanceId),
    /// A cell.
    Cell(usize),
    /// An array without bounds.
    Array(VarId, usize),
    /// How many messages a single channel holds.
    Length(usize),
    /// A component of a message: single channel, position, component.
    Slot(usize, usize, usize),
}

/// A variable of the program.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct StateVar {
    /// Its name, also in solver terms.
    pub name: Arc<str>,
    /// Its sort.
    pub sort: Sort,
    /// What it stands for.
    pub content: Content,
    /// Its least and greatest value, if it is an integer.
    pub interval: Interval,
    /// Is it a value of an uninterpreted type (or an array of such)?
    pub is_open: bool,
}

impl StateVar {
    /// The variable as a term.
    #[must_use]
    pub fn term(&self) -> Term {
        Term::Var(Arc::clone(&self.name), self.sort)
    }

    /// All values, if there are at most `limit`.
    #[must_use]
    pub fn values(&self, limit: i128) -> Option<Vec<i64>> {
        match (self.sort, self.interval) {
            (Sort::Bool, _) => Some(vec![0, 1]),
            (Sort::Int, (Some(lo), Some(hi))) if hi - lo < limit => {
                let (lo, hi) = (i64::try_from(lo).ok()?, i64::try_from(hi).ok()?);
                Some((lo..=hi).collect())
            }
            _ => None,
        }
    }
}

/// A value that a transition chooses.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Local {
    /// Its name in terms.
    pub name: Arc<str>,
    /// Its sort.
    pub sort: Sort,
    /// Its bounds, where they are constant.
    pub interval: Interval,
    /// The choice in the model, if it is one among infinitely many integers.
    pub endless: Option<BoundId>,
}

/// A guarded simultaneous assignment.
#[derive(Clone, Debug)]
pub struct Transition {
    /// What happens. Sorted.
    pub actions: Vec<ActionId>,
    /// Who takes part. Sorted.
    pub movers: Vec<InstanceId>,
    /// Which commands are executed. Sorted.
    pub commands: Vec<CommandId>,
    /// The locations from which it starts, as (variable, location).
    pub sources: Vec<(usize, i64)>,
    /// When it is possible: locations, guards, and the conditions on chosen values.
    pub guard: Term,
    /// When it is possible for some choice: the guard without chosen values. `None` if that is not
    /// known.
    pub enabled: Option<Term>,
    /// The new values of the variables that it may change.
    pub updates: BTreeMap<usize, Term>,
    /// The values that it chooses.
    pub locals: Vec<Local>,
}

/// A condition under which the model has a run-time error.
#[derive(Clone, Debug)]
pub struct Failure {
    /// The condition.
    pub condition: Term,
    /// Values chosen before it happens.
    pub locals: Vec<Local>,
}

/// A model as guarded simultaneous assignments.
#[derive(Clone, Debug)]
pub struct Program {
    /// The variables.
    pub vars: Vec<StateVar>,
    /// What holds initially.
    pub init: Term,
    /// The transitions.
    pub transitions: Vec<Transition>,
    /// The run-time errors of guards and effects.
    pub failures: Vec<Failure>,
}

impl Program {
    /// The variable of an instance's location.
    #[must_use]
    pub fn location_var(&self, instance: InstanceId) -> usize {
        self.position(&Content::Location(instance))
            .expect("every instance has a location")
    }

    /// The variable with this content.
    #[must_use]
    pub fn position(&self, content: &Content) -> Option<usize> {
        self.vars.iter().position(|var| var.content == *content)
    }

    /// The position of the variable with this name.
    #[must_use]
    pub fn var_named(&self, name: &str) -> Option<usize> {
        self.vars.iter().position(|var| &*var.name == name)
    }

    /// Bounds of the named variables, as a term.
    #[must_use]
    pub fn bounds_of(&self, positions: impl IntoIterator<Item = usize>) -> Term {
        let bounds = |position: usize| {
            let var = &self.vars[position];
            within(&var.term(), var.sort, var.interval)
        };
        Term::and(positions.into_iter().map(bounds))
    }
}

/// The term lies in the interval.
#[must_use]
pub fn within(term: &Term, sort: Sort, interval: Interval) -> Term {
    if sort != Sort::Int {
        return Term::Bool(true);
    }
    let low = interval.0.map(|lo| Term::le(Term::Int(lo), term.clone()));
    let high = interval.1.map(|hi| Term::le(term.clone(), Term::Int(hi)));
    Term::and(low.into_iter().chain(high))
}

/// The variables of a model.
pub(crate) fn variables(model: &Model) -> Vec<StateVar> {
    let mut vars = Vec::new();
    for (position, instance) in model.instances().iter().enumerate() {
        let id = InstanceId::new(position);
        let last = model.process_of(id).locations.len() as i128 - 1;
        vars.push(StateVar {
            name: Arc::from(format!("{} @", instance.name)),
            sort: Sort::Int,
            content: Content::Location(id),
            interval: (Some(0), Some(last)),
            is_open: false,
        });
    }

    vars.extend((0..model.cells().len()).map(|cell| cell_variable(model, cell)));
    let mut single = 0;
    for channel in &model.parts().channels {
        for copy in 0..channel.n_single() {
            let name = match channel.indices {
                Some((lo, _)) => format!("{}[{}]", channel.name, lo + copy as i64),
                None => channel.name.clone(),
            };
            channel_variables(&name, channel, single, &mut vars);
            single += 1;
        }
    }

    vars
}

fn cell_variable(model: &Model, cell: usize) -> StateVar {
    let description = &model.cells()[cell];
    let variable = &model.parts().vars[description.var.index()];
    let (mut sort, interval, is_open) = scalar(description.ty);
    let mut content = Content::Cell(cell);
    let mut name = description.name.clone();
    if let model::Type::Array(array) = &variable.ty
        && model::is_unbounded_array(array)
    {
        sort = Sort::Array;
        content = Content::Array(description.var, cell);
        name.truncate(name.rfind('[').unwrap_or(name.len()));
    }
    StateVar {
        name: Arc::from(name),
        sort,
        content,
        interval,
        is_open,
    }
}

/// Sort, bounds and openness of a scalar type. For a type without bounds the ends of the 64-bit range
/// mean "no bound".
pub(crate) fn scalar(ty: model::Scalar) -> (Sort, Interval, bool) {
    match ty {
        model::Scalar::Bool => (Sort::Bool, (None, None), false),
        model::Scalar::Enum(_, model::OPEN_VALUES) => (Sort::Int, (None, None), true),
        other => {
            let (lo, hi) = other.bounds();
            let is_open = other.is_unbounded();
            let lo = (!is_open || lo != i64::MIN).then_some(i128::from(lo));
            let hi = (!is_open || hi != i64::MAX).then_some(i128::from(hi));
            (Sort::Int, (lo, hi), false)
        }
    }
}

fn channel_variables(
    name: &str,
    channel: &model::Channel,
    single: usize,
    vars: &mut Vec<StateVar>,
) {
    if channel.capacity == 0 {
        return;
    }
    vars.push(StateVar {
        name: Arc::from(format!("len {name}")),
        sort: Sort::Int,
        content: Content::Length(single),
        interval: (Some(0), Some(channel.capacity as i128)),
        is_open: false,
    });

    for slot in 0..channel.capacity {
        for (component, ty) in channel.payload.iter().enumerate() {
            let (sort, interval, is_open) = scalar(*ty);
            // An empty slot holds zero, whatever the type of the messages.
            let low = interval.0.map(|lo| lo.min(0));
            let high = interval.1.map(|hi| hi.max(0));
            vars.push(StateVar {
                name: Arc::from(format!("{name}!{slot}.{component}")),
                sort,
                content: Content::Slot(single, slot, component),
                interval: (low, high),
                is_open,
            });
        }
    }
}

//! Which values variables, process parameters and messages can have: an interval analysis.
//!
//! Intervals make states small and let events carry values that depend on the state. The analysis
//! ignores the order of steps, follows the order of statements within a program, and uses guards
//! that are tested in the same step as the program (P. Cousot, R. Cousot, "Abstract
//! interpretation: a unified lattice model for static analysis of programs by construction or
//! approximation of fixpoints", POPL 1977, section 9: interval lattice with widening; here the
//! widening goes through the constants of the model before it gives up). It also finds out which parameters depend on *data*: those become local variables, all
//! others are constants of the process term.
//!
//! Invariant: the intervals contain every value that can occur, because a value that leaves 32 bits
//! or a declared range is a run-time error.

mod intervals;
mod walk;

use std::collections::{BTreeSet, HashMap, HashSet};

use super::ast::{Expr, ExprKind, IndexValues};
use super::lexer::Name;
use super::scope::{Scope, Ty};

pub(crate) use intervals::Evaluation;
use walk::RangeWalk;

/// First and last value.
pub(crate) type Interval = (i64, i64);

/// How many cells a value has that is an array; nothing for a single value.
pub(crate) type Shape = Option<usize>;

/// The shapes of the components of a message.
pub(crate) type Form = Vec<Shape>;

/// All values of a number.
pub(crate) const FULL: Interval = (i32::MIN as i64, i32::MAX as i64);

/// After this many rounds every growing interval becomes [`FULL`].
const MAX_ROUNDS: usize = 200;

/// What is known of a name in a process definition.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct NameInfo {
    /// Its values; nothing if it never gets one.
    pub(crate) values: Option<Interval>,
    /// Does it depend on variables or messages?
    pub(crate) is_data: bool,
    n_changes: u32,
}

/// The result of the analysis.
#[derive(Debug, Default)]
pub(crate) struct Ranges {
    pub(crate) vars: Vec<NameInfo>,
    pub(crate) var_types: Vec<Ty>,
    pub(crate) names: HashMap<(usize, Name), NameInfo>,
    /// The components of messages, by channel.
    pub(crate) messages: Vec<Vec<NameInfo>>,
    /// The forms of messages, by channel.
    pub(crate) forms: Vec<BTreeSet<Form>>,
    /// The shapes of what names of process definitions stand for.
    shapes: HashMap<(usize, Name), BTreeSet<Shape>>,
    called: HashSet<usize>,
    thresholds: BTreeSet<i64>,
    changed: bool,
    give_up: bool,
}

/// Analyses everything that the processes `roots` can reach.
pub(crate) fn analyse(scope: &Scope, roots: &[(usize, Vec<Option<i64>>)]) -> Ranges {
    let mut ranges = Ranges {
        vars: Vec::new(),
        var_types: scope.vars.iter().map(|var| var.ty).collect(),
        messages: vec![Vec::new(); scope.channels.len()],
        forms: vec![BTreeSet::new(); scope.channels.len()],
        ..Ranges::default()
    };

    for var in &scope.vars {
        let values = match (&var.initial, var.range) {
            (_, Some(range)) => Some(range),
            (Some(values), None) => values
                .iter()
                .copied()
                .zip(values.iter().copied())
                .reduce(join),
            (None, None) => Some(FULL),
        };
        ranges.vars.push(NameInfo {
            values,
            ..NameInfo::default()
        });
    }

    ranges.thresholds = scope.constants.values().map(|(value, _)| *value).collect();
    for (process, arguments) in roots {
        ranges.called.insert(*process);
        let parameters = &scope.processes[*process].parameters;
        for (parameter, argument) in parameters.iter().zip(arguments) {
            let key = (*process, parameter.text.clone());
            let values = argument.map_or(FULL, |value| (value, value));
            ranges.join_shapes(key.clone(), [None]);
            ranges.join_name(key, Some(values), false);
        }
    }

    for round in 0.. {
        ranges.changed = false;
        ranges.give_up = round > MAX_ROUNDS;
        for def in 0..scope.processes.len() {
            if ranges.called.contains(&def) {
                let mut walk = RangeWalk::new(scope, &mut ranges, def);
                walk.process(&scope.processes[def].body, &HashMap::new());
            }
        }
        if !ranges.changed {
            break;
        }
    }

    ranges
}

/// The smallest interval that contains both.
pub(crate) fn join(a: Interval, b: Interval) -> Interval {
    (a.0.min(b.0), a.1.max(b.1))
}

impl Ranges {
    /// The values of a name of a definition; everything if nothing is known.
    pub(crate) fn of_name(&self, def: usize, name: &Name) -> Option<Interval> {
        let info = self.names.get(&(def, name.clone()))?;
        Some(info.values.unwrap_or(FULL))
    }

    /// How many cells a message of the channel takes; the last one says which form it has if there
    /// are several.
    pub(crate) fn message_width(&self, channel: usize) -> usize {
        let forms = &self.forms[channel];
        let longest = forms.iter().map(|form| n_cells(form)).max();
        longest.unwrap_or(1).max(1) + usize::from(forms.len() > 1)
    }

    /// Can a name of a definition stand for an array?
    pub(crate) fn is_array(&self, def: usize, name: &Name) -> bool {
        let shapes = self.shapes.get(&(def, name.clone()));
        shapes.is_some_and(|shapes| shapes.iter().any(Option::is_some))
    }

    /// Does a name of a definition depend on data?
    pub(crate) fn is_data(&self, def: usize, name: &Name) -> bool {
        let info = self.names.get(&(def, name.clone()));
        info.is_some_and(|info| info.is_data)
    }

    fn grow(&mut self, mut info: NameInfo, values: Option<Interval>, is_data: bool) -> NameInfo {
        let grown = match (info.values, values) {
            (old, None) => old,
            (None, new) => new,
            (Some(old), Some(new)) => Some(self.widen(old, join(old, new), info.n_changes)),
        };
        let grown = grown.map(|(lo, hi)| (lo.clamp(FULL.0, FULL.1), hi.clamp(FULL.0, FULL.1)));
        if grown != info.values || is_data && !info.is_data {
            self.changed = true;
            info.n_changes += 1;
        }
        info.values = grown;
        info.is_data |= is_data;
        info
    }

    fn widen(&self, old: Interval, new: Interval, n_changes: u32) -> Interval {
        if old == new || n_changes < 3 {
            return new;
        }
        let mut wide = new;
        if new.0 < old.0 {
            let below = self.thresholds.range(..=new.0).next_back();
            wide.0 = *below.filter(|_| !self.give_up).unwrap_or(&FULL.0);
        }
        if new.1 > old.1 {
            let above = self.thresholds.range(new.1..).next();
            wide.1 = *above.filter(|_| !self.give_up).unwrap_or(&FULL.1);
        }
        wide
    }

    fn join_name(&mut self, key: (usize, Name), values: Option<Interval>, is_data: bool) {
        let info = self.names.get(&key).copied().unwrap_or_default();
        let info = self.grow(info, values, is_data);
        self.names.insert(key, info);
    }

    fn join_shapes(&mut self, key: (usize, Name), shapes: impl IntoIterator<Item = Shape>) {
        let known = self.shapes.entry(key).or_default();
        for shape in shapes {
            self.changed |= known.insert(shape);
        }
    }

    fn join_message(&mut self, channel: usize, component: usize, values: Option<Interval>) {
        if self.messages[channel].len() <= component {
            self.messages[channel].resize(component + 1, NameInfo::default());
        }
        let info = self.grow(self.messages[channel][component], values, true);
        self.messages[channel][component] = info;
    }
}

/// How many cells a message of this form takes.
pub(crate) fn n_cells(form: &[Shape]) -> usize {
    form.iter().map(|shape| shape.unwrap_or(1)).sum()
}

/// The name that a component of a receive binds, unless it is a value to be matched.
pub(crate) fn binder<'e>(scope: &Scope, pattern: &'e Expr) -> Option<&'e Name> {
    match &pattern.kind {
        ExprKind::Name(name) if !scope.constants.contains_key(name) => Some(name),
        _ => None,
    }
}

/// Calls `visit` with every name of variables and parameters in an expression, and with the names
/// of macros and channels.
pub(crate) fn visit_names(expr: &Expr, visit: &mut dyn FnMut(&Name)) {
    match &expr.kind {
        ExprKind::Int(_) | ExprKind::Bool(_) => {}
        ExprKind::Name(name) => visit(name),
        ExprKind::Index(name, indices) => {
            visit(name);
            indices.iter().for_each(|index| visit_names(index, visit));
        }
        ExprKind::Not(inner) | ExprKind::Neg(inner) | ExprKind::Increment(inner, _) => {
            visit_names(inner, visit);
        }
        ExprKind::Binary(_, left, right) | ExprKind::Assign(left, right) => {
            visit_names(left, visit);
            visit_names(right, visit);
        }
        ExprKind::Indexed(_, indices, body) => {
            for index in indices {
                match &index.values {
                    IndexValues::Range(lo, hi) => {
                        visit_names(lo, visit);
                        visit_names(hi, visit);
                    }
                    IndexValues::List(list) => list.iter().for_each(|e| visit_names(e, visit)),
                }
            }
            let bound = |name: &Name| indices.iter().any(|index| index.name.text == *name);
            let mut inner = Vec::new();
            visit_names(body, &mut |name| inner.push(name.clone()));
            inner.iter().filter(|name| !bound(name)).for_each(visit);
        }
        ExprKind::Call(name, arguments) => {
            visit(&name.text);
            arguments
                .iter()
                .for_each(|argument| visit_names(argument, visit));
        }
    }
}

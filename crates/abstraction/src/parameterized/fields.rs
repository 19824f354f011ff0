//! Indices that every process has: local variables and array elements that hold an index.
//!
//! A function from processes to indices has no counterpart in WS1S. Formulas first speak of it as
//! it is ([`Logic::Let`], [`Logic::Holds`]); [`Family::hold`] then replaces it by what is kept of it:
//!
//! - the values of the distinguished processes, exactly, each as a pointer;
//! - for a finite list of conditions on a value and the process that has it ([`Bit`]), the set of
//!   processes that satisfy it.
//!
//! A value that is read becomes *some* value that agrees with what is kept of its process, and two
//! values that are read agree if they are of the same process (W. Ackermann, *Solvable Cases of the
//! Decision Problem*, 1954). So a formula has two neighbours among those that speak of what is kept
//! alone: one that is true wherever it is (for steps, starts, failures and deadlocks), and one that
//! is true only where it is (for what is enabled under fairness, and facts). They are the same where
//! only values of distinguished processes are read.

use super::describe::Describer;
use super::logic::{Base, CellId, ColumnId, FieldId, IndexVar, Logic, PointerId, Term, Time};
use super::steps::Family;
use super::system::{Bit, Finite, Fresh, Pointer, Source, System};

/// More conditions on the values of a field are not kept.
const MAX_BITS: usize = 6;

/// How much is kept of the fields of all processes.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub enum Detail {
    /// Nothing.
    #[default]
    Distinguished,
    /// What guards ask of them.
    Guards,
    /// Also the ends of the range, the process itself, and what is assigned.
    All,
}

/// Which neighbour of a formula.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    /// True wherever the formula is.
    Above,
    /// True only where the formula is.
    Below,
}

impl Side {
    fn other(self) -> Self {
        match self {
            Self::Above => Self::Below,
            Self::Below => Self::Above,
        }
    }
}

impl Family<'_> {
    /// Replaces fields in everything by what is kept of them.
    pub fn hold(&mut self, distinguished: &[(IndexVar, String)]) {
        if self.system.fields.is_empty() {
            return;
        }
        let watched = if self.watches { distinguished } else { &[] };
        for (var, name) in watched {
            self.watch(*var, name);
        }
        self.add_bits();

        self.initial = self.reduced(&self.initial.clone(), Side::Above);
        for mut transition in std::mem::take(&mut self.transitions) {
            transition.enabled = self.reduced(&transition.guard, Side::Below);
            transition.relation = self.reduced(&transition.relation, Side::Above);
            self.transitions.push(transition);
        }
        for (failure, span) in std::mem::take(&mut self.failures) {
            let failure = self.reduced(&failure, Side::Above);
            self.failures.push((failure, span));
        }
        for (failure, span) in std::mem::take(&mut self.failing_starts) {
            let failure = self.reduced(&failure, Side::Above);
            self.failing_starts.push((failure, span));
        }
    }

    /// A neighbour of a formula that speaks of what is kept alone.
    pub fn reduced(&mut self, logic: &Logic, side: Side) -> Logic {
        if self.system.fields.is_empty() {
            return logic.clone();
        }
        let mut reducer = Reducer {
            system: &self.system,
            fresh: &mut self.fresh,
            known: Vec::new(),
        };
        reducer.reduce(logic, side)
    }

    /// Keeps what a process has in every field.
    fn watch(&mut self, var: IndexVar, process: &str) {
        for (position, field) in self.system.fields.iter().enumerate() {
            let name = match field.family {
                Some(family) => {
                    let family = &self.system.parts().processes[family.index()].name;
                    format!("{family}[{process}].{}", field.name)
                }
                None => format!("{}[{process}]", field.name),
            };
            self.system.pointers.push(Pointer {
                var: field.var,
                name,
                first: field.first,
                last: field.last,
                of: Some((FieldId::new(position), Term::var(var))),
            });
        }
    }

    fn add_bits(&mut self) {
        let (value, at) = (self.fresh.var(), self.fresh.var());
        let mut chosen = Chosen {
            value,
            at,
            found: Vec::new(),
        };
        if self.detail >= Detail::Guards {
            for transition in &self.transitions {
                chosen.asked(&transition.guard, &mut Vec::new());
            }
        }
        if self.detail >= Detail::All {
            for transition in &self.transitions {
                chosen.asked(&transition.relation, &mut Vec::new());
            }
            chosen.ends(&self.system);
        }

        for (position, field) in self.system.fields.clone().into_iter().enumerate() {
            let id = FieldId::new(position);
            for logic in chosen.of(id, field.first).iter().take(MAX_BITS) {
                let number = self.system.bits.len();
                self.system.bits.push(Bit {
                    field: id,
                    value,
                    at,
                    logic: logic.clone(),
                });
                let names = [(value, field.name.clone()), (at, "its index".to_owned())];
                let describer = Describer::new(&self.system, &names);
                let (no, yes) = (Logic::not(logic.clone()), logic);
                let labels = vec![describer.text(&no), describer.text(yes)];
                self.system.columns.push(Finite {
                    source: Source::Bit(number),
                    name: labels[1].clone(),
                    values: vec![0, 1],
                    labels,
                    family: field.family,
                });
            }
        }
    }
}

/// Conditions on a value and the process that has it.
struct Chosen {
    value: IndexVar,
    at: IndexVar,
    found: Vec<(FieldId, Logic)>,
}

impl Chosen {
    fn add(&mut self, field: FieldId, logic: Logic) {
        let negation = Logic::not(logic.clone());
        let is_known = |known: &(FieldId, Logic)| {
            known.0 == field && (known.1 == logic || known.1 == negation)
        };
        if !matches!(logic, Logic::Const(_)) && !self.found.iter().any(is_known) {
            self.found.push((field, logic));
        }
    }

    /// What to keep of a field. Where it is compared by order with something, equality with it is
    /// two comparisons by order, of which one may be known already.
    fn of(&self, field: FieldId, first: i64) -> Vec<Logic> {
        let value = Term::var(self.value);
        let own = || self.found.iter().filter(|(of, _)| *of == field);
        let ordered: Vec<Base> = own()
            .filter_map(|(_, logic)| match logic {
                Logic::Less(_, other) => Some(other.base),
                _ => None,
            })
            .collect();
        let mut kept = Vec::new();
        for (_, logic) in own() {
            // shape: conditions are comparisons of the value, which comes first in `Less` alone.
            let parts = match logic {
                Logic::Equal(left, right) => {
                    let other = if left.base == value.base {
                        *right
                    } else {
                        *left
                    };
                    if ordered.contains(&other.base) {
                        vec![Logic::less(value, other), Logic::less(value, other.plus(1))]
                    } else {
                        vec![logic.clone()]
                    }
                }
                other => vec![other.clone()],
            };
            for part in parts {
                let is_never = |other: &Term| other.base == Base::Zero && other.offset <= first;
                let is_trivial = matches!(&part, Logic::Less(_, other) if is_never(other));
                if !is_trivial && !kept.contains(&part) {
                    kept.push(part);
                }
            }
        }
        kept
    }

    /// What a formula asks of the values that it reads; `known` says whose they are.
    fn asked(&mut self, logic: &Logic, known: &mut Vec<(IndexVar, FieldId, Term)>) {
        match logic {
            Logic::Not(inner) | Logic::Exists(_, inner) => self.asked(inner, known),
            Logic::And(parts) | Logic::Or(parts) => {
                parts.iter().for_each(|part| self.asked(part, known));
            }
            Logic::Let(var, field, at, inner) => {
                known.push((*var, *field, *at));
                self.asked(inner, known);
                known.pop();
            }
            Logic::Less(left, right) => {
                if let Some((field, other)) = self.compared(*left, *right, known) {
                    self.add(field, Logic::less(Term::var(self.value), other));
                }
                // Over the integers `other < value` is not `value < other + 1`.
                if let Some((field, other)) = self.compared(*right, *left, known) {
                    self.add(field, Logic::less(Term::var(self.value), other.plus(1)));
                }
            }
            Logic::Equal(left, right) => {
                for (one, other) in [(*left, *right), (*right, *left)] {
                    if let Some((field, other)) = self.compared(one, other, known) {
                        self.add(field, Logic::equal(Term::var(self.value), other));
                    }
                }
            }
            Logic::Has(column, number, at, Time::Now) => {
                let base = known.iter().find(|(var, ..)| at.base == Base::Var(*var));
                if let Some((_, field, _)) = base {
                    let place = Term::var(self.value).plus(at.offset);
                    self.add(*field, Logic::Has(*column, *number, place, Time::Now));
                }
            }
            Logic::Holds(field, _, value, Time::Next) => {
                let value = match value.base {
                    Base::Zero | Base::Last | Base::Pointer(..) => *value,
                    Base::Var(_) => return,
                };
                self.add(*field, Logic::equal(Term::var(self.value), value));
            }
            Logic::Const(_)
            | Logic::Has(_, _, _, Time::Next)
            | Logic::Is(..)
            | Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_)
            | Logic::Holds(_, _, _, Time::Now)
            | Logic::SameField(_) => {}
            Logic::Each(_, _, inner) => self.asked(inner, known),
        }
    }

    /// What a value is compared with, if it is a value that was read and the other one depends on
    /// its process and the system alone.
    fn compared(
        &self,
        one: Term,
        other: Term,
        known: &[(IndexVar, FieldId, Term)],
    ) -> Option<(FieldId, Term)> {
        let read = known.iter().find(|(var, ..)| one.base == Base::Var(*var));
        let (_, field, at) = read?;
        let other = match other.base {
            Base::Zero | Base::Last | Base::Pointer(_, Time::Now) => other,
            Base::Pointer(_, Time::Next) => return None,
            base if base == at.base => Term::var(self.at).plus(other.offset - at.offset),
            Base::Var(_) => return None,
        };
        Some((*field, other.plus(-one.offset)))
    }

    /// The ends of the ranges, and the process itself.
    fn ends(&mut self, system: &System<'_>) {
        let (value, at) = (Term::var(self.value), Term::var(self.at));
        for (position, field) in system.fields.iter().enumerate() {
            let id = FieldId::new(position);
            for other in [Term::number(field.first), field.last, at] {
                self.add(id, Logic::equal(value, other));
            }
        }
    }
}

/// Every process has some value in every field that agrees with what is kept.
pub(super) fn well_formed(system: &System<'_>, fresh: &mut Fresh) -> Vec<Logic> {
    let mut parts = Vec::new();
    for (position, pointer) in system.pointers.iter().enumerate() {
        let Some((_, at)) = pointer.of else {
            continue;
        };
        let id = PointerId::new(position);
        let value = Term::of(Base::Pointer(id, Time::Now));
        let inside = system.is_process(at);
        let fits = Logic::all([inside.clone(), system.pointer_fits(id, value)]);
        let none = Logic::all([Logic::not(inside), Logic::equal(value, Term::number(0))]);
        parts.push(Logic::any([fits, none]));
    }

    for position in 0..system.fields.len() {
        let field = FieldId::new(position);
        if !system.bits.iter().any(|bit| bit.field == field) {
            continue;
        }
        let (var, value) = (fresh.var(), fresh.var());
        let at = Term::var(var);
        let agrees = agrees(system, field, (at, Term::var(value)), Time::Now);
        let body = Logic::implies(system.is_process(at), Logic::exists(value, agrees));
        parts.push(Logic::forall(var, body));
    }
    parts
}

/// Does a value agree with what is kept of the process that has it?
fn agrees(system: &System<'_>, field: FieldId, (at, value): (Term, Term), time: Time) -> Logic {
    let mut parts = vec![system.field_fits(field, value)];
    let bits = (0..system.bits.len()).filter(|bit| system.bits[*bit].field == field);
    parts.extend(bits.map(|bit| describes(system, bit, (at, value), time)));
    for (position, pointer) in system.pointers.iter().enumerate() {
        if let Some((of, watched)) = pointer.of
            && of == field
        {
            let known = Term::of(Base::Pointer(PointerId::new(position), time));
            let is_it = Logic::equal(at, watched);
            parts.push(Logic::implies(is_it, Logic::equal(value, known)));
        }
    }
    Logic::all(parts)
}

/// Is a bit of a process what its value says?
fn describes(system: &System<'_>, number: usize, (at, value): (Term, Term), time: Time) -> Logic {
    let bit = &system.bits[number];
    let said = match time {
        Time::Now => bit.logic.clone(),
        Time::Next => bit.logic.primed(),
    };
    let said = said.substitute(bit.value, value).substitute(bit.at, at);
    Logic::iff(Logic::Has(column(system, number), 1, at, time), said)
}

/// The column of a bit.
fn column(system: &System<'_>, number: usize) -> ColumnId {
    let column = system.column_of(Source::Bit(number));
    column.expect("every bit is a column")
}

/// Replaces fields in formulas.
struct Reducer<'r, 't> {
    system: &'r System<'t>,
    fresh: &'r mut Fresh,
    /// Values that have been read: the field, the process, and the value.
    known: Vec<(FieldId, Term, Term)>,
}

impl Reducer<'_, '_> {
    fn reduce(&mut self, logic: &Logic, side: Side) -> Logic {
        match logic {
            Logic::Not(inner) => Logic::not(self.reduce(inner, side.other())),
            Logic::And(parts) => {
                let kept = Kept::of(parts);
                let reduced = parts.iter().map(|part| match part {
                    Logic::SameField(field) if side == Side::Above => self.same(*field, &kept),
                    part => self.reduce(part, side),
                });
                Logic::all(reduced.collect::<Vec<_>>())
            }
            Logic::Or(parts) => {
                let reduced = parts.iter().map(|part| self.reduce(part, side));
                Logic::any(reduced.collect::<Vec<_>>())
            }
            Logic::Exists(var, inner) => Logic::exists(*var, self.reduce(inner, side)),
            Logic::Let(var, field, at, inner) => self.read(*var, (*field, *at), inner, side),
            // Only steps and starts say what a field holds.
            Logic::Holds(field, at, value, time) => match side {
                Side::Above => self.holds(*field, (*at, *value), *time),
                Side::Below => Logic::Const(false),
            },
            Logic::SameField(field) => match side {
                Side::Above => self.same(*field, &Kept::default()),
                Side::Below => Logic::Const(false),
            },
            Logic::Each(var, field, inner) => match side {
                Side::Above => self.each(*var, *field, inner),
                Side::Below => Logic::Const(false),
            },
            Logic::Const(_)
            | Logic::Less(..)
            | Logic::Equal(..)
            | Logic::Has(..)
            | Logic::Is(..)
            | Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_) => logic.clone(),
        }
    }

    /// Some value, or every value, that the process may have.
    fn read(
        &mut self,
        var: IndexVar,
        (field, at): (FieldId, Term),
        inner: &Logic,
        side: Side,
    ) -> Logic {
        let watched = self.system.pointers.iter();
        let exact = watched.map(|p| p.of).position(|of| of == Some((field, at)));
        let exact = exact.map(|id| Term::of(Base::Pointer(PointerId::new(id), Time::Now)));
        let is_it = |known: &&(FieldId, Term, Term)| known.0 == field && known.1 == at;
        let again = self.known.iter().find(is_it).map(|known| known.2);
        if let Some(value) = exact.or(again) {
            return self.reduce(&inner.substitute(var, value), side);
        }

        let value = Term::var(var);
        let inside = self.system.is_process(at);
        let none = Logic::equal(value, Term::number(0));
        let possible = Logic::any([
            Logic::all([inside.clone(), self.possible(field, (at, value))]),
            Logic::all([Logic::not(inside), none]),
        ]);
        self.known.push((field, at, value));
        let inner = self.reduce(inner, side);
        self.known.pop();
        match side {
            Side::Above => Logic::exists(var, Logic::all([possible, inner])),
            Side::Below => Logic::forall(var, Logic::implies(possible, inner)),
        }
    }

    /// Agrees a value with what is kept, and with what has been read?
    fn possible(&self, field: FieldId, (at, value): (Term, Term)) -> Logic {
        let mut parts = vec![agrees(self.system, field, (at, value), Time::Now)];
        for (_, other, known) in self.known.iter().filter(|known| known.0 == field) {
            let is_it = Logic::equal(at, *other);
            parts.push(Logic::implies(is_it, Logic::equal(value, *known)));
        }
        Logic::all(parts)
    }

    /// Distinguished processes one by one; all of them only if something is kept of all.
    fn each(&mut self, var: IndexVar, field: FieldId, inner: &Logic) -> Logic {
        let watched = self.system.pointers.iter();
        let own = watched.filter_map(|pointer| pointer.of);
        let own: Vec<Term> = own
            .filter(|(of, _)| *of == field)
            .map(|(_, at)| at)
            .collect();
        let mut parts = Vec::new();
        for at in own {
            let inside = self.system.is_process(at);
            let here = self.reduce(&inner.substitute(var, at), Side::Above);
            parts.push(Logic::implies(inside, here));
        }
        if self.bits(field).next().is_some() {
            let all = self.reduce(inner, Side::Above);
            let inside = self.system.is_process(Term::var(var));
            let columns = self.bits(field).map(|bit| column(self.system, bit));
            let outside = columns.map(|id| Logic::SameAt(id, Term::var(var)));
            let outside = Logic::all(
                outside
                    .chain([Logic::not(inside.clone())])
                    .collect::<Vec<_>>(),
            );
            let body = Logic::any([Logic::all([inside, all]), outside]);
            parts.push(Logic::forall(var, body));
        }
        Logic::all(parts)
    }

    fn holds(&self, field: FieldId, (at, value): (Term, Term), time: Time) -> Logic {
        agrees(self.system, field, (at, value), time)
    }

    fn bits(&self, field: FieldId) -> impl Iterator<Item = usize> {
        let all = 0..self.system.bits.len();
        all.filter(move |bit| self.system.bits[*bit].field == field)
    }

    /// No process gets another value. What is kept of it changes only with what it is compared
    /// with.
    fn same(&mut self, field: FieldId, kept: &Kept) -> Logic {
        let mut parts = Vec::new();
        for (position, pointer) in self.system.pointers.iter().enumerate() {
            if pointer.of.is_some_and(|(of, _)| of == field) {
                let value = |time| Term::of(Base::Pointer(PointerId::new(position), time));
                parts.push(Logic::equal(value(Time::Now), value(Time::Next)));
            }
        }

        let mut moved = Vec::new();
        for bit in self.bits(field) {
            if kept.covers(&self.system.bits[bit].logic) {
                parts.push(Logic::SameColumn(column(self.system, bit)));
            } else {
                moved.push(bit);
            }
        }
        if moved.is_empty() {
            return Logic::all(parts);
        }

        let (var, value) = (self.fresh.var(), self.fresh.var());
        let (at, held) = (Term::var(var), Term::var(value));
        let inside = self.system.is_process(at);
        let mut agrees = vec![self.possible(field, (at, held))];
        let new = moved.iter();
        agrees.extend(new.map(|bit| describes(self.system, *bit, (at, held), Time::Next)));
        let agrees = Logic::exists(value, Logic::all(agrees));
        let columns = moved.iter().map(|bit| column(self.system, *bit));
        let outside = columns.map(|id| Logic::SameAt(id, at));
        let outside = Logic::all(outside.chain([Logic::not(inside.clone())]));
        let body = Logic::any([Logic::all([inside, agrees]), outside]);
        parts.push(Logic::forall(var, body));
        Logic::all(parts)
    }
}

/// What a step does not change.
#[derive(Default)]
struct Kept {
    pointers: Vec<PointerId>,
    columns: Vec<ColumnId>,
    cells: Vec<CellId>,
}

impl Kept {
    /// According to these parts of a conjunction.
    fn of(parts: &[Logic]) -> Self {
        let mut kept = Self::default();
        for part in parts {
            // shape: other parts do not say that something stays as it is.
            match part {
                Logic::SameColumn(id) => kept.columns.push(*id),
                Logic::SameCell(id) => kept.cells.push(*id),
                Logic::Equal(left, right) if left.offset == right.offset => {
                    if let (Base::Pointer(one, a), Base::Pointer(other, b)) =
                        (left.base, right.base)
                        && one == other
                        && a != b
                    {
                        kept.pointers.push(one);
                    }
                }
                _ => {}
            }
        }
        kept
    }

    /// Depends a condition of a bit on nothing else?
    fn covers(&self, logic: &Logic) -> bool {
        let term = |term: &Term| match term.base {
            Base::Pointer(id, _) => self.pointers.contains(&id),
            Base::Zero | Base::Last | Base::Var(_) => true,
        };
        match logic {
            Logic::Const(_) => true,
            Logic::Not(inner) => self.covers(inner),
            Logic::And(parts) | Logic::Or(parts) => parts.iter().all(|part| self.covers(part)),
            Logic::Less(left, right) | Logic::Equal(left, right) => term(left) && term(right),
            Logic::Has(column, _, at, _) => self.columns.contains(column) && term(at),
            Logic::Is(cell, ..) => self.cells.contains(cell),
            Logic::Exists(_, inner) => self.covers(inner),
            Logic::SameAt(..)
            | Logic::SameColumn(_)
            | Logic::SameCell(_)
            | Logic::Let(..)
            | Logic::Holds(..)
            | Logic::SameField(_)
            | Logic::Each(..) => unreachable!("bits are about one state and no field"),
        }
    }
}

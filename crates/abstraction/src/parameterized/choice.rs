//! Which predicates to keep and which sets to watch, found in the model.
//!
//! Predicates: where the distinguished processes are and what they have; the values of cells;
//! whether a pointer points to a distinguished process; the conditions in guards, for the
//! distinguished processes and, where they name no process, as they are. *Finer* abstractions add
//! which sets of locations are empty and what the process has that a pointer points to.
//!
//! Rankings (Baukus, Lakhnech, Stahl, section 6.1 and the examples): every location and every value of a local
//! variable; what lies on a cycle of the control flow that avoids the start; all of these without the
//! process that a pointer points to; and for rings the processes between a pointer and a
//! distinguished process.

use std::collections::BTreeSet;

use super::describe::Describer;
use super::fields::{Detail, Side};
use super::logic::{Base, CellId, ColumnId, IndexVar, Logic, PointerId, Term, Time};
use super::question::FamilyQuestion;
use super::relation::{Predicate, Ranking};
use super::steps::Family;
use super::system::{Source, System};

/// More arrays of truth values than this are not looked at as tokens.
const MAX_FLAGS: usize = 2;

/// How much is kept.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Level {
    /// What the question speaks about. Suffices where proved facts imply the answer.
    Bare,
    /// The distinguished processes and the guards.
    Coarse,
    /// Also which sets are empty, and the processes that pointers point to.
    Fine,
}

/// The guard of a transition; where fields are involved, for every distinguished process, whose
/// values are known.
fn guards(family: &mut Family<'_>, question: &FamilyQuestion, number: usize) -> Vec<Logic> {
    let transition = &family.transitions[number];
    if family.system.fields.is_empty() || !transition.has_actor {
        return vec![transition.enabled.clone()];
    }
    let (guard, actor) = (transition.guard.clone(), family.actor);
    let movers = question.vars().into_iter();
    let own = movers.map(|var| guard.substitute(actor, Term::var(var)));
    let own: Vec<Logic> = own.collect();
    own.iter()
        .map(|guard| family.reduced(guard, Side::Below))
        .collect()
}

/// Adds what is found in the model to what the author asks for.
pub fn predicates(
    family: &mut Family<'_>,
    question: &FamilyQuestion,
    level: Level,
) -> Vec<Predicate> {
    if level == Level::Bare {
        return question.predicates.clone();
    }
    let mut chosen = Chosen {
        system: family.system.clone(),
        names: question.distinguished.clone(),
        found: question.predicates.clone(),
    };
    let system = family.system.clone();

    for var in question.vars() {
        for id in (0..system.columns.len()).map(ColumnId::new) {
            chosen.values_of(family, id, Term::var(var));
        }
        for pointer in (0..system.pointers.len()).map(PointerId::new) {
            let value = Term::of(Base::Pointer(pointer, Time::Now));
            chosen.add(Logic::equal(value, Term::var(var)));
            if system.pointers[pointer.index()].of.is_some() {
                chosen.add(Logic::less(value, Term::var(var)));
            }
        }
    }

    for (position, cell) in system.cells.iter().enumerate() {
        for number in values_to_name(cell.values.len()) {
            chosen.add(Logic::Is(CellId::new(position), number, Time::Now));
        }
    }

    for number in 0..family.transitions.len() {
        for guard in guards(family, question, number) {
            let mut parts = BTreeSet::new();
            conditions(&guard, &mut parts);
            for part in parts {
                chosen.instances(family, question, &part);
            }
        }
    }

    if level == Level::Fine {
        chosen.refine(family);
    }
    chosen.found
}

struct Chosen<'t> {
    system: System<'t>,
    names: Vec<(IndexVar, String)>,
    found: Vec<Predicate>,
}

impl Chosen<'_> {
    fn add(&mut self, logic: Logic) {
        let negation = Logic::not(logic.clone());
        let is_known = |known: &Predicate| known.logic == logic || known.logic == negation;
        if matches!(logic, Logic::Const(_)) || self.found.iter().any(is_known) {
            return;
        }
        let name = Describer::new(&self.system, &self.names).text(&logic);
        self.found.push(Predicate { name, logic });
    }

    /// Which value a process has in a column.
    fn values_of(&mut self, family: &Family<'_>, column: ColumnId, index: Term) {
        let column_of = &family.system.columns[column.index()];
        if let Source::Bit(number) = column_of.source {
            return self.bit_of(number, index);
        }
        let n_values = column_of.values.len();
        for number in values_to_name(n_values) {
            self.add(Logic::Has(column, number, index, Time::Now));
        }
    }

    /// What is kept of a field, said of the value itself where that is known.
    fn bit_of(&mut self, number: usize, index: Term) {
        let bit = &self.system.bits[number];
        let of = Some((bit.field, index));
        let known = self.system.pointers.iter().position(|p| p.of == of);
        let Some(known) = known else {
            return;
        };
        let value = Term::of(Base::Pointer(PointerId::new(known), Time::Now));
        let said = bit.logic.substitute(bit.value, value);
        self.add(said.substitute(bit.at, index));
    }

    /// A part of a guard, for every distinguished process if it is about the one that moves.
    fn instances(&mut self, family: &Family<'_>, question: &FamilyQuestion, part: &Logic) {
        if self.is_finer(family, part) {
            return;
        }
        let free = part.free_vars();
        if free.is_empty() {
            return self.add(part.clone());
        }
        if free.iter().all(|var| question.vars().contains(var)) {
            return self.add(part.clone());
        }
        if free.iter().all(|var| *var == family.actor) {
            for var in question.vars() {
                self.add(part.substitute(family.actor, Term::var(var)));
            }
        }
    }

    /// How the values of distinguished processes lie to each other.
    fn refine_fields(&mut self, system: &System<'_>) {
        let values = || {
            let all = system.pointers.iter().enumerate();
            all.filter_map(|(position, pointer)| Some((position, pointer.of?.0)))
        };
        let value = |position: usize| Term::of(Base::Pointer(PointerId::new(position), Time::Now));
        for (one, field) in values() {
            for (other, _) in values().filter(|(other, of)| one < *other && *of == field) {
                self.add(Logic::equal(value(one), value(other)));
                self.add(Logic::less(value(one), value(other)));
            }
        }
    }

    /// What the process has that a value of a distinguished process points to is kept with the
    /// conditions on all such values.
    fn is_finer(&self, family: &Family<'_>, part: &Logic) -> bool {
        let is_value = |at: &Term| match at.base {
            Base::Pointer(id, _) => self.system.pointers[id.index()].of.is_some(),
            Base::Zero | Base::Last | Base::Var(_) => false,
        };
        let is_finer = matches!(part, Logic::Has(_, _, at, _) if is_value(at));
        is_finer && family.detail == Detail::Distinguished
    }

    fn refine(&mut self, family: &Family<'_>) {
        let system = &family.system;
        let mut fresh = family.fresh.clone();
        self.refine_fields(system);
        for (position, column) in system.columns.iter().enumerate() {
            let id = ColumnId::new(position);
            for number in 0..column.values.len() {
                let var = fresh.var();
                let has = Logic::Has(id, number, Term::var(var), Time::Now);
                let inside = Logic::all([system.is_process(Term::var(var)), has]);
                self.add(Logic::exists(var, inside));
            }
            for pointer in (0..system.pointers.len()).map(PointerId::new) {
                let value = Term::of(Base::Pointer(pointer, Time::Now));
                self.values_of(family, id, value);
            }
        }
    }
}

/// One of two values says what the other is.
fn values_to_name(n_values: usize) -> std::ops::Range<usize> {
    match n_values {
        1 => 0..0,
        2 => 1..2,
        n => 0..n,
    }
}

/// The parts that a condition combines by Boolean operators.
fn conditions(logic: &Logic, found: &mut BTreeSet<Logic>) {
    match logic {
        Logic::Not(inner) => conditions(inner, found),
        Logic::And(parts) | Logic::Or(parts) => {
            parts.iter().for_each(|part| conditions(part, found));
        }
        Logic::Const(_) => {}
        other => {
            found.insert(other.clone());
        }
    }
}

/// The sets to be watched.
pub fn rankings(family: &mut Family<'_>, question: &FamilyQuestion) -> Vec<Ranking> {
    let mut found = question.rankings.clone();
    if question.only {
        return found;
    }
    let var = family.fresh.var();
    let sets = sets(family, var);
    let system = &family.system;
    let mut add = |name: String, logic: Logic| {
        let is_known = found
            .iter()
            .any(|known| known.logic == logic.substitute(var, Term::var(known.var)));
        if !is_known {
            found.push(Ranking { name, var, logic });
        }
    };

    for (name, logic) in &sets {
        add(name.clone(), logic.clone());
    }
    for pointer in (0..system.pointers.len()).map(PointerId::new) {
        let held = Term::of(Base::Pointer(pointer, Time::Now));
        let pointer_name = &system.pointers[pointer.index()].name;
        for (name, logic) in &sets {
            let other = Logic::not(Logic::equal(Term::var(var), held));
            let name = format!("{name} other than {pointer_name}");
            add(name, Logic::all([logic.clone(), other]));
        }
        let from = Logic::at_most(held, Term::var(var));
        add(
            format!("processes before {pointer_name}"),
            Logic::not(from.clone()),
        );
        add(format!("processes from {pointer_name} on"), from);
        for (distinguished, process) in &question.distinguished {
            let between = between(held, Term::var(var), Term::var(*distinguished));
            add(
                format!("processes between {pointer_name} and {process}"),
                between,
            );
        }
    }

    // A flag that travels around a ring is like a pointer to where it is.
    let token = family.fresh.var();
    let system = &family.system;
    for (id, name) in flags(system) {
        let held = Logic::Has(id, 1, Term::var(token), Time::Now);
        let inside = Logic::all([system.is_process(Term::var(token)), held]);
        for (distinguished, process) in &question.distinguished {
            let between = between(Term::var(token), Term::var(var), Term::var(*distinguished));
            let logic = Logic::exists(token, Logic::all([inside.clone(), between]));
            let name = format!("processes between {name} and {process}");
            found.push(Ranking { name, var, logic });
        }
    }

    let mut add = |name: String, logic: Logic| found.push(Ranking { name, var, logic });
    // What grows instead of becoming smaller; of two values each is the rest of the other.
    for (position, column) in system.columns.iter().enumerate() {
        let n_values = column.values.len();
        for number in (0..n_values).filter(|_| n_values > 2) {
            let has = Logic::Has(ColumnId::new(position), number, Term::var(var), Time::Now);
            let name = format!("{} not {}", column.name, column.labels[number]);
            add(name, Logic::not(has));
        }
    }
    // A wave on a line starts at the first process, with whose flag the others catch up.
    for (id, name) in flags(system) {
        let flag = |index| Logic::Has(id, 1, index, Time::Now);
        let same = Logic::iff(flag(Term::var(var)), flag(Term::number(system.first)));
        let differs = Logic::not(same);
        add(format!("{name} unlike that of the first"), differs);
    }

    found
}

/// Sets that a step *can* make smaller on the way to a goal: who has not a value, and who is before,
/// between, or behind those who have it.
pub fn further_rankings(family: &mut Family<'_>, question: &FamilyQuestion) -> Vec<Ranking> {
    if question.only {
        return Vec::new();
    }
    let (var, one, other) = (family.fresh.var(), family.fresh.var(), family.fresh.var());
    let system = &family.system;
    let term = Term::var(var);
    let mut found = Vec::new();
    for (name, logic) in sets(family, var) {
        // Who has it, before the process, and behind it.
        let at = |who: IndexVar| logic.substitute(var, Term::var(who));
        let some = |who: IndexVar, is_there: Logic| {
            let inside = system.is_process(Term::var(who));
            Logic::exists(who, Logic::all([inside, at(who), is_there]))
        };
        let before = some(one, Logic::less(Term::var(one), term));
        let behind = some(one, Logic::less(term, Term::var(one)));
        let two_before = [
            Logic::less(Term::var(one), Term::var(other)),
            Logic::less(Term::var(other), term),
        ];
        let two_before = some(one, some(other, Logic::all(two_before)));
        let here = || Logic::not(logic.clone());
        let first_two = [
            before.clone(),
            Logic::not(two_before),
            behind.clone(),
            here(),
        ];
        let mut add = |name: String, logic: Logic| found.push(Ranking { name, var, logic });
        add(format!("not {name}"), here());
        add(
            format!("before all {name}"),
            Logic::all([Logic::not(before.clone()), behind.clone(), here()]),
        );
        add(
            format!("behind all {name}"),
            Logic::all([before, Logic::not(behind), here()]),
        );
        add(
            format!("between the first two {name}"),
            Logic::all(first_two),
        );

        // From the next one on either side of a distinguished process to this process.
        let inside = |low: Term, who: IndexVar, high: Term| {
            let who = Term::var(who);
            Logic::all([Logic::at_most(low, who), Logic::at_most(who, high)])
        };
        for (distinguished, process) in &question.distinguished {
            let goal = Term::var(*distinguished);
            let up_to = [
                Logic::at_most(term, goal),
                some(one, Logic::at_most(Term::var(one), term)),
                Logic::not(some(one, inside(term.plus(1), one, goal))),
            ];
            let down_to = [
                Logic::at_most(goal, term),
                some(one, Logic::at_most(term, Term::var(one))),
                Logic::not(some(one, inside(goal, one, term.plus(-1)))),
            ];
            add(format!("from {name} up to {process}"), Logic::all(up_to));
            add(
                format!("from {name} down to {process}"),
                Logic::all(down_to),
            );
        }
    }

    for pointer in (0..system.pointers.len()).map(PointerId::new) {
        let held = Term::of(Base::Pointer(pointer, Time::Now));
        let pointer_name = &system.pointers[pointer.index()].name;
        for (distinguished, process) in &question.distinguished {
            let goal = Term::var(*distinguished);
            let way = |from, to| Logic::all([Logic::at_most(from, term), Logic::less(term, to)]);
            let logic = Logic::any([way(held, goal), way(goal, held)]);
            let name = format!("processes on the line from {pointer_name} to {process}");
            found.push(Ranking { name, var, logic });
        }
    }
    found
}

/// Shared arrays of truth values, if they are few.
fn flags<'s>(system: &'s System<'_>) -> Vec<(ColumnId, &'s str)> {
    let columns = system.columns.iter().enumerate();
    let flags =
        columns.filter(|(_, column)| column.labels == ["false", "true"] && column.family.is_none());
    let flags: Vec<_> = flags
        .map(|(position, column)| (ColumnId::new(position), column.name.as_str()))
        .collect();
    if flags.len() > MAX_FLAGS {
        return Vec::new();
    }
    flags
}

/// `x` comes after `from` and before `to` on the ring.
fn between(from: Term, x: Term, to: Term) -> Logic {
    let less = |a, b, c| Logic::all([Logic::less(a, b), Logic::less(b, c)]);
    Logic::any([less(from, x, to), less(to, from, x), less(x, to, from)])
}

/// Sets of processes: by location, by value, and by cycle of the control flow.
fn sets(family: &Family<'_>, var: IndexVar) -> Vec<(String, Logic)> {
    let system = &family.system;
    let mut sets = Vec::new();
    for (position, column) in system.columns.iter().enumerate() {
        let id = ColumnId::new(position);
        let has = |number| Logic::Has(id, number, Term::var(var), Time::Now);
        let name = |numbers: &[usize]| {
            let labels: Vec<&str> = numbers.iter().map(|n| column.labels[*n].as_str()).collect();
            match column.source {
                Source::Location(_) => format!("{} @ {}", column.name, labels.join(", ")),
                Source::Variable(_) => format!("{} == {}", column.name, labels.join(", ")),
                Source::Bit(_) => labels.join(", "),
            }
        };
        if column.values.len() < 2 {
            continue;
        }
        for number in 0..column.values.len() {
            sets.push((name(&[number]), has(number)));
        }
        for cycle in cycles(family, column.source) {
            let parts: Vec<Logic> = cycle.iter().map(|number| has(*number)).collect();
            sets.push((name(&cycle), Logic::any(parts)));
        }
    }

    sets
}

/// The strongly connected parts of the control flow without its initial locations.
fn cycles(family: &Family<'_>, source: Source) -> Vec<Vec<usize>> {
    let Source::Location(process) = source else {
        return Vec::new();
    };
    let process = &family.system.parts().processes[process.index()];
    let n = process.locations.len();
    let is_initial = |location: usize| process.initial.iter().any(|l| l.index() == location);
    let mut reaches = vec![vec![false; n]; n];
    for step in &process.steps {
        let (from, to) = (step.source.index(), step.target.index());
        if !is_initial(from) && !is_initial(to) {
            reaches[from][to] = true;
        }
    }

    for middle in 0..n {
        for from in 0..n {
            for to in 0..n {
                reaches[from][to] |= reaches[from][middle] && reaches[middle][to];
            }
        }
    }

    let mut found: Vec<Vec<usize>> = Vec::new();
    for (location, reached) in reaches.iter().enumerate() {
        let is_mate = |other: &usize| reached[*other] && reaches[*other][location];
        let cycle: Vec<usize> = (0..n).filter(is_mate).collect();
        if cycle.len() > 1 && !found.contains(&cycle) {
            found.push(cycle);
        }
    }

    found
}

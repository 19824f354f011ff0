//! Facts that are often true of every reachable state: combinations of properties of one or two
//! processes and of the system that occur in no sample. What is true of them is proved elsewhere.
//!
//! A combination is a set of literals. Those with few literals come first, and one that contains a
//! combination that does not occur either is left out, since the smaller one says more. So the facts
//! relate local variables to locations, neighbours to each other, and processes to pointers, in
//! the words of the template alone.

use std::collections::BTreeSet;

use super::describe::Describer;
use super::logic::{Base, CellId, ColumnId, IndexVar, Logic, PointerId, Term, Time};
use super::relation::Predicate;
use super::samples::Sample;
use super::steps::Family;
use super::system::{Finite, Source, System};

/// More candidates than this are not tried.
const MAX_CANDIDATES: usize = 200;

/// Without samples most candidates fail, so fewer are tried.
const MAX_UNFILTERED: usize = 120;

/// Columns and cells with more values than this have no candidates.
const MAX_VALUES: usize = 12;

/// How rich the candidates are.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Depth {
    /// Two literals.
    Pairs,
    /// Three literals.
    Triples,
    /// Also neighbours in more detail.
    Neighbours,
    /// Also that no process in a part of the family has a value.
    Parts,
}

/// A property of the first process, of the second, of both, or of the system.
#[derive(Clone, Debug)]
struct Literal {
    kind: Kind,
    /// What excludes other literals of the same kind: a column, a cell, a pointer.
    group: usize,
    logic: Logic,
    name: String,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    /// What the first process has.
    First,
    /// How the first process lies to a pointer.
    FirstLies,
    /// What the second process has.
    Second,
    /// How the second process lies to a pointer.
    SecondLies,
    /// How the processes lie to each other.
    Order,
    /// What a cell has.
    Cell,
    /// No process has a value.
    Nowhere,
    /// No process has a value in a part of the family.
    Part,
}

impl Kind {
    fn mentions_second(self) -> bool {
        matches!(self, Self::Second | Self::SecondLies | Self::Order)
    }
}

/// The kinds of combinations, smaller ones first.
fn shapes(depth: Depth) -> Vec<&'static [Kind]> {
    use Kind::{Cell, First, FirstLies, Nowhere, Order, Part, Second, SecondLies};
    let mut shapes: Vec<&[Kind]> = vec![
        &[First],
        &[Nowhere],
        &[Cell, Cell],
        &[First, Second],
        &[First, FirstLies],
        &[First, Cell],
        &[First, First],
        &[Cell, Nowhere],
        &[Nowhere, Nowhere],
    ];
    if depth >= Depth::Triples {
        let triples: [&[Kind]; 11] = [
            &[First, Second, Order],
            &[First, FirstLies, Cell],
            &[First, Second, Cell],
            &[First, First, Cell],
            &[First, First, FirstLies],
            &[First, Second, FirstLies],
            &[First, Second, SecondLies],
            &[First, First, Second],
            &[First, Cell, Cell],
            &[Nowhere, Nowhere, Nowhere],
            &[First, First, First],
        ];
        shapes.extend(triples);
    }
    let more: &[&[Kind]] = match depth {
        Depth::Pairs | Depth::Triples => &[],
        Depth::Neighbours => &[
            &[First, First, Second, Order],
            &[First, FirstLies, Second, Order],
            &[First, First, FirstLies, Second, Order],
            &[First, First, Second, SecondLies, Order],
        ],
        Depth::Parts => &[
            &[Cell, Part],
            &[First, FirstLies, Part],
            &[First, Cell, Part],
            &[First, FirstLies, Cell, Part],
        ],
    };
    shapes.extend(more);
    shapes
}

/// Mutual exclusion in its usual forms: between two processes, by a pointer to the one that may enter,
/// by the value of a shared cell, by order.
fn usual_shapes() -> Vec<&'static [Kind]> {
    use Kind::{Cell, First, FirstLies, Order, Second};
    vec![
        &[First, Second],
        &[First, FirstLies],
        &[First, Cell],
        &[First, Second, Order],
    ]
}

/// Combinations that occur in no sample, as facts.
pub fn candidates(family: &mut Family<'_>, samples: &[Sample], depth: Depth) -> Vec<Predicate> {
    let (x, y, z) = (family.fresh.var(), family.fresh.var(), family.fresh.var());
    let system = &family.system;
    let literals = Literals { system, x, y, z }.all(depth);
    let occurring = occurring(system, &literals, samples, (x, y));
    let limit = if samples.is_empty() {
        MAX_UNFILTERED
    } else {
        MAX_CANDIDATES
    };

    let shapes = if samples.is_empty() {
        usual_shapes()
    } else {
        shapes(depth)
    };
    let mut found: Vec<Vec<usize>> = Vec::new();
    for shape in shapes {
        let mut all = Vec::new();
        combinations(&literals, shape, &mut Vec::new(), &mut all);
        for combination in all {
            let contains = |known: &Vec<usize>| known.iter().all(|l| combination.contains(l));
            if found.len() < limit
                && !found.iter().any(contains)
                && !found
                    .iter()
                    .any(|known| contains(&mirrored(&literals, known)))
                && !occurring.has(&combination)
            {
                found.push(combination);
            }
        }
    }

    let fact = |combination: &Vec<usize>| fact(system, &literals, combination, (x, y));
    found.iter().map(fact).collect()
}

/// All combinations of a shape, each once.
fn combinations(
    literals: &[Literal],
    shape: &[Kind],
    chosen: &mut Vec<usize>,
    found: &mut Vec<Vec<usize>>,
) {
    let Some(kind) = shape.get(chosen.len()) else {
        found.push(chosen.clone());
        return;
    };
    for (number, literal) in literals.iter().enumerate() {
        let is_apart = |other: &usize| {
            let other = &literals[*other];
            literal.kind != other.kind || literal.group > other.group
        };
        if literal.kind == *kind && chosen.iter().all(is_apart) {
            chosen.push(number);
            combinations(literals, shape, chosen, found);
            chosen.pop();
        }
    }
}

/// The same about the processes in the other order.
fn mirrored(literals: &[Literal], combination: &[usize]) -> Vec<usize> {
    let swapped = |kind: Kind| match kind {
        Kind::First => Kind::Second,
        Kind::Second => Kind::First,
        Kind::FirstLies => Kind::SecondLies,
        Kind::SecondLies => Kind::FirstLies,
        Kind::Order | Kind::Cell | Kind::Nowhere | Kind::Part => kind,
    };
    let mirror = |number: &usize| {
        let literal = &literals[*number];
        let group = match literal.kind {
            Kind::Order => literal.group ^ 1,
            _ => literal.group,
        };
        let kind = swapped(literal.kind);
        let is_it = |other: &Literal| {
            other.kind == kind && other.group == group && other.name == literal.name
        };
        literals.iter().position(is_it).unwrap_or(*number)
    };
    combination.iter().map(mirror).collect()
}

/// "These do not occur together."
fn fact(
    system: &System<'_>,
    literals: &[Literal],
    combination: &[usize],
    (x, y): (IndexVar, IndexVar),
) -> Predicate {
    let chosen = || combination.iter().map(|number| &literals[*number]);
    let kinds: Vec<Kind> = chosen().map(|literal| literal.kind).collect();
    let mut parts: Vec<Logic> = chosen().map(|literal| literal.logic.clone()).collect();
    let is_about = |kind: &Kind| matches!(kind, Kind::First | Kind::FirstLies);
    let has_second = kinds.iter().any(|kind| kind.mentions_second());
    // Not every position of a word is a process, so each statement says that it is about one.
    if has_second {
        parts.push(Logic::not(Logic::equal(Term::var(x), Term::var(y))));
        parts.push(system.is_process(Term::var(y)));
    }
    if has_second || kinds.iter().any(is_about) {
        parts.push(system.is_process(Term::var(x)));
    }

    let mut occurs = Logic::all(parts);
    if has_second {
        occurs = Logic::exists(y, occurs);
    }
    if has_second || kinds.iter().any(is_about) {
        occurs = Logic::exists(x, occurs);
    }
    let names: Vec<&str> = chosen().map(|literal| literal.name.as_str()).collect();
    let name = match kinds.as_slice() {
        [Kind::First] => format!("no process at {}", names[0]),
        [Kind::First, Kind::Second] if names[0] == names[1] => format!("never two at {}", names[0]),
        [Kind::First, Kind::Second] => format!("never two at {} and {}", names[0], names[1]),
        _ => format!("never together: {}", names.join(", ")),
    };
    let logic = Logic::not(occurs);
    Predicate { name, logic }
}

/// Which literals are true together.
struct Occurring {
    sets: BTreeSet<Vec<u64>>,
}

impl Occurring {
    fn has(&self, combination: &[usize]) -> bool {
        let holds = |set: &Vec<u64>| {
            combination
                .iter()
                .all(|number| set[number / 64] & (1 << (number % 64)) != 0)
        };
        self.sets.iter().any(holds)
    }
}

/// The sets of literals that are true of two processes, or of one, in a sample.
fn occurring(
    system: &System<'_>,
    literals: &[Literal],
    samples: &[Sample],
    (x, y): (IndexVar, IndexVar),
) -> Occurring {
    let mut sets = BTreeSet::new();
    let n_words = literals.len().div_ceil(64);
    for sample in samples {
        let truth = |vars: &mut Vec<(IndexVar, i64)>, wanted: &dyn Fn(Kind) -> bool| {
            let mut set = vec![0_u64; n_words];
            for (number, literal) in literals.iter().enumerate() {
                if wanted(literal.kind) && sample.holds(system, &literal.logic, vars) {
                    set[number / 64] |= 1 << (number % 64);
                }
            }
            set
        };

        let of_system = |kind| matches!(kind, Kind::Cell | Kind::Nowhere | Kind::Part);
        let of_first = |kind| matches!(kind, Kind::First | Kind::FirstLies);
        let of_second = |kind| matches!(kind, Kind::Second | Kind::SecondLies);
        let of_order = |kind| kind == Kind::Order;
        let always = truth(&mut Vec::new(), &of_system);
        let members: Vec<i64> = (system.first..=sample.last).collect();
        let first = members.iter().map(|m| truth(&mut vec![(x, *m)], &of_first));
        let second = members
            .iter()
            .map(|m| truth(&mut vec![(y, *m)], &of_second));
        let (first, second): (Vec<_>, Vec<_>) = (first.collect(), second.collect());
        for (i, a) in first.iter().enumerate() {
            sets.insert(joined(&[a, &always]));
            for (j, b) in second.iter().enumerate().filter(|(j, _)| *j != i) {
                let vars = &mut vec![(x, members[i]), (y, members[j])];
                let order = truth(vars, &of_order);
                sets.insert(joined(&[a, b, &order, &always]));
            }
        }
    }
    Occurring { sets }
}

fn joined(sets: &[&Vec<u64>]) -> Vec<u64> {
    let words = 0..sets[0].len();
    words
        .map(|word| sets.iter().fold(0, |all, set| all | set[word]))
        .collect()
}

/// Makes literals.
struct Literals<'s, 't> {
    system: &'s System<'t>,
    x: IndexVar,
    y: IndexVar,
    /// Is bound inside of literals.
    z: IndexVar,
}

impl Literals<'_, '_> {
    fn all(&self, depth: Depth) -> Vec<Literal> {
        let mut found = Vec::new();
        let (x, y) = (Term::var(self.x), Term::var(self.y));
        self.of_process(x, (Kind::First, Kind::FirstLies), &mut found);
        self.of_process(y, (Kind::Second, Kind::SecondLies), &mut found);
        self.of_order(&mut found);
        self.of_system(&mut found);
        if depth == Depth::Parts {
            self.of_parts(&mut found);
        }
        found
    }

    /// The values of the columns that are looked at.
    fn values(&self) -> impl Iterator<Item = (ColumnId, usize, String)> {
        let columns = self.system.columns.iter().enumerate();
        let few = columns.filter(|(_, column)| (2..=MAX_VALUES).contains(&column.values.len()));
        few.flat_map(|(position, column)| {
            let id = ColumnId::new(position);
            (0..column.values.len()).map(move |number| (id, number, place(column, number)))
        })
    }

    fn pointers(&self) -> impl Iterator<Item = (PointerId, Term, &str)> {
        let pointers = self.system.pointers.iter().enumerate();
        let shared = pointers.filter(|(_, pointer)| pointer.of.is_none());
        shared.map(|(position, pointer)| {
            let id = PointerId::new(position);
            (
                id,
                Term::of(Base::Pointer(id, Time::Now)),
                pointer.name.as_str(),
            )
        })
    }

    fn of_process(&self, process: Term, (has, lies): (Kind, Kind), found: &mut Vec<Literal>) {
        let ends = [
            (
                "first",
                Logic::equal(process, Term::number(self.system.first)),
            ),
            ("last", Logic::equal(process, Term::last())),
        ];
        for (number, (end, is_end)) in ends.into_iter().enumerate() {
            let group = self.system.pointers.len() + number;
            let both = [
                (format!("it is the {end}"), is_end.clone()),
                (format!("it is not the {end}"), Logic::not(is_end)),
            ];
            found.extend(both.map(|(name, logic)| Literal {
                kind: lies,
                group,
                logic,
                name,
            }));
        }
        for (id, number, name) in self.values() {
            found.push(Literal {
                kind: has,
                group: id.index(),
                logic: Logic::Has(id, number, process, Time::Now),
                name,
            });
        }
        for (id, pointer, name) in self.pointers() {
            // A pointer that may be one more than every index is compared with both.
            let is_longer = self.system.pointers[id.index()].last != Term::last();
            for shift in 0..=i64::from(is_longer) {
                let process = process.plus(shift);
                let text = if shift == 0 { "it" } else { "it + 1" };
                let orders = [
                    (Logic::equal(process, pointer), format!("{text} is {name}")),
                    (
                        Logic::not(Logic::equal(process, pointer)),
                        format!("{text} is not {name}"),
                    ),
                    (Logic::less(process, pointer), format!("{text} < {name}")),
                    (Logic::less(pointer, process), format!("{text} > {name}")),
                ];
                found.extend(orders.map(|(logic, name)| Literal {
                    kind: lies,
                    group: id.index(),
                    logic,
                    name,
                }));
            }
        }
    }

    /// Groups of mirrored literals differ in the last bit.
    fn of_order(&self, found: &mut Vec<Literal>) {
        let (x, y) = (Term::var(self.x), Term::var(self.y));
        let next = |from: Term, to: Term| {
            let (first, last) = (Term::number(self.system.first), Term::last());
            let around = Logic::all([Logic::equal(from, last), Logic::equal(to, first)]);
            Logic::any([Logic::equal(to, from.plus(1)), around])
        };
        let orders = [
            ("in this order", Logic::less(x, y)),
            ("in this order", Logic::less(y, x)),
            ("next to each other", next(x, y)),
            ("next to each other", next(y, x)),
        ];
        let numbered = orders.into_iter().enumerate();
        found.extend(numbered.map(|(group, (name, logic))| Literal {
            kind: Kind::Order,
            group,
            logic,
            name: name.to_owned(),
        }));
    }

    fn of_system(&self, found: &mut Vec<Literal>) {
        for (position, cell) in self.system.cells.iter().enumerate() {
            if !(2..=MAX_VALUES).contains(&cell.values.len()) {
                continue;
            }
            for number in 0..cell.values.len() {
                found.push(Literal {
                    kind: Kind::Cell,
                    group: position,
                    logic: Logic::Is(CellId::new(position), number, Time::Now),
                    name: place(cell, number),
                });
            }
        }
        self.of_pointers(found);
        for (group, (id, number, name)) in self.values().enumerate() {
            found.push(Literal {
                kind: Kind::Nowhere,
                group,
                logic: self.nowhere(id, number, Logic::Const(true)),
                name: format!("no process at {name}"),
            });
        }
    }

    /// How pointers lie to each other and to the ends; like cells.
    fn of_pointers(&self, found: &mut Vec<Literal>) {
        let describer = Describer::new(self.system, &[]);
        let n_cells = self.system.cells.len();
        let all: Vec<_> = self.pointers().collect();
        let mut add = |group: usize, logics: Vec<Logic>| {
            for logic in logics {
                let name = describer.text(&logic);
                let group = n_cells + group;
                let kind = Kind::Cell;
                let literal = Literal {
                    kind,
                    group,
                    logic,
                    name,
                };
                found.push(literal);
            }
        };
        for (number, (id, pointer, _)) in all.iter().enumerate() {
            let known = &self.system.pointers[id.index()];
            let lowest = Logic::equal(*pointer, Term::number(known.first));
            let highest = Logic::equal(*pointer, known.last);
            let ends = vec![
                lowest.clone(),
                Logic::not(lowest),
                highest.clone(),
                Logic::not(highest),
            ];
            add(number, ends);
            for (other, (_, second, _)) in all.iter().enumerate().skip(number + 1) {
                let group = all.len() * (number + 1) + other;
                let same = Logic::equal(*pointer, *second);
                let (less, more) = (
                    Logic::less(*pointer, *second),
                    Logic::less(*second, *pointer),
                );
                add(group, vec![same.clone(), Logic::not(same), less, more]);
            }
        }
    }

    fn of_parts(&self, found: &mut Vec<Literal>) {
        let z = Term::var(self.z);
        let mut group = 0;
        for (_, pointer, pointer_name) in self.pointers() {
            let parts = [
                ("<", Logic::less(z, pointer)),
                (">", Logic::less(pointer, z)),
                ("<=", Logic::at_most(z, pointer)),
                (">=", Logic::at_most(pointer, z)),
            ];
            for (op, part) in parts {
                for (id, number, name) in self.values() {
                    group += 1;
                    found.push(Literal {
                        kind: Kind::Part,
                        group,
                        logic: self.nowhere(id, number, part.clone()),
                        name: format!("no process {op} {pointer_name} at {name}"),
                    });
                }
            }
        }
    }

    fn nowhere(&self, id: ColumnId, number: usize, part: Logic) -> Logic {
        let z = Term::var(self.z);
        let has = Logic::Has(id, number, z, Time::Now);
        let inside = Logic::all([self.system.is_process(z), part, has]);
        Logic::not(Logic::exists(self.z, inside))
    }
}

fn place(finite: &Finite, number: usize) -> String {
    let label = &finite.labels[number];
    match finite.source {
        Source::Location(_) => label.clone(),
        Source::Variable(_) => format!("{} = {label}", finite.name),
        Source::Bit(_) => label.clone(),
    }
}

//! From formulas about a family to WS1S.
//!
//! A column with `k` values takes ⌈log₂ k⌉ sets: set `b` holds the processes whose value has bit
//! `b`. Locations partition the processes, so one set for each would only add tracks. The variables
//! of the states before and after a step alternate, so that "nothing changes" has a small diagram.

use std::collections::BTreeMap;

use ::base::Budget;
use ws1s::{Automaton, Formula, Formulas, Position, Unknown, Var, VarKind};

use super::logic::{Base, CellId, ColumnId, IndexVar, Logic, Term, Time};
use super::system::System;

/// Translates formulas about one family.
pub(super) struct Encoder<'b> {
    formulas: Formulas,
    budget: &'b Budget,
    last: Var,
    /// Variables that are free in automata, then those that are bound somewhere.
    vars: BTreeMap<IndexVar, Var>,
    /// For each pointer before and after.
    pointers: Vec<[Var; 2]>,
    /// For each column and bit before and after.
    columns: Vec<Vec<[Var; 2]>>,
    /// For each cell and bit before and after.
    cells: Vec<Vec<[Var; 2]>>,
    /// How many values there are.
    n_values: (Vec<usize>, Vec<usize>),
}

impl<'b> Encoder<'b> {
    /// For a system; `free` are the variables that automata keep.
    pub(super) fn new(system: &System<'_>, free: &[IndexVar], budget: &'b Budget) -> Self {
        let mut formulas = Formulas::new();
        let last = formulas.var(VarKind::First);
        let vars = free
            .iter()
            .map(|var| (*var, formulas.var(VarKind::First)))
            .collect();
        let mut pair = |kind| [formulas.var(kind), formulas.var(kind)];
        let pointers = system
            .pointers
            .iter()
            .map(|_| pair(VarKind::First))
            .collect();
        let mut bits =
            |values: &[i64], kind| (0..n_bits(values.len())).map(|_| pair(kind)).collect();
        let columns = system
            .columns
            .iter()
            .map(|c| bits(&c.values, VarKind::Set))
            .collect();
        let cells = system
            .cells
            .iter()
            .map(|c| bits(&c.values, VarKind::Bool))
            .collect();
        let count =
            |finite: &[super::system::Finite]| finite.iter().map(|f| f.values.len()).collect();
        Self {
            formulas,
            budget,
            last,
            vars,
            pointers,
            columns,
            cells,
            n_values: (count(&system.columns), count(&system.cells)),
        }
    }

    /// The automaton of a formula.
    pub(super) fn automaton(&mut self, logic: &Logic) -> Result<Automaton, Unknown> {
        let formula = self.formula(logic);
        self.formulas.automaton(&formula, self.budget)
    }

    /// What is after a step that the process with this index takes.
    pub(super) fn after_a_step(&mut self, actor: IndexVar) -> Vec<Var> {
        let actor = self.var(actor);
        let bits = self.columns.iter().chain(&self.cells).flatten();
        let pairs = self.pointers.iter().chain(bits);
        pairs.map(|pair| pair[1]).chain([actor]).collect()
    }

    /// The words that satisfy an automaton for some values of variables.
    pub(super) fn exists(
        &mut self,
        bound: &[Var],
        inner: &Automaton,
    ) -> Result<Automaton, Unknown> {
        let inner = self.formulas.from_automaton(inner);
        let some = self.formulas.exists(bound, &inner);
        self.formulas.automaton(&some, self.budget)
    }

    /// The variables of the state after the step for those before it.
    pub(super) fn primed(&self, vars: &[Var]) -> Vec<Var> {
        let all = || {
            let bits = self.columns.iter().chain(&self.cells).flatten();
            self.pointers.iter().chain(bits)
        };
        let prime = |var: &Var| {
            let pair = all().find(|pair| pair[0] == *var);
            pair.map_or(*var, |pair| pair[1])
        };
        vars.iter().map(prime).collect()
    }

    fn formula(&mut self, logic: &Logic) -> Formula {
        match logic {
            Logic::Const(value) => self.formulas.constant(*value),
            Logic::Not(inner) => {
                let inner = self.formula(inner);
                self.formulas.not(&inner)
            }
            Logic::And(parts) => {
                let parts: Vec<Formula> = parts.iter().map(|part| self.formula(part)).collect();
                self.formulas.and(&parts)
            }
            Logic::Or(parts) => {
                let parts: Vec<Formula> = parts.iter().map(|part| self.formula(part)).collect();
                self.formulas.or(&parts)
            }
            Logic::Less(left, right) => self.less(*left, *right),
            Logic::Equal(left, right) => self.equal(*left, *right),
            Logic::Has(column, number, at, time) => self.has(*column, *number, *at, *time),
            Logic::Is(cell, number, time) => self.is(*cell, *number, *time),
            Logic::SameAt(column, at) => {
                let bits = self.columns[column.index()].clone();
                let same = |this: &mut Self, [now, next]: [Var; 2]| {
                    let (now, next) = (this.member(*at, now), this.member(*at, next));
                    this.formulas.iff(&now, &next)
                };
                let parts: Vec<Formula> = bits.into_iter().map(|bit| same(self, bit)).collect();
                self.formulas.and(&parts)
            }
            Logic::SameColumn(column) => {
                let bits = self.columns[column.index()].clone();
                let same = |[now, next]: [Var; 2]| self.formulas.equal_sets(now, next);
                let parts: Vec<Formula> = bits.into_iter().map(same).collect();
                self.formulas.and(&parts)
            }
            Logic::SameCell(cell) => {
                let bits = self.cells[cell.index()].clone();
                let mut parts = Vec::new();
                for [now, next] in bits {
                    let (now, next) = (self.formulas.boolean(now), self.formulas.boolean(next));
                    parts.push(self.formulas.iff(&now, &next));
                }
                self.formulas.and(&parts)
            }
            Logic::Exists(var, inner) => {
                let var = self.var(*var);
                let inner = self.formula(inner);
                self.formulas.exists(&[var], &inner)
            }
            Logic::Let(..) | Logic::Holds(..) | Logic::SameField(_) | Logic::Each(..) => {
                unreachable!("fields are replaced before formulas are decided")
            }
        }
    }

    fn var(&mut self, var: IndexVar) -> Var {
        let Self { formulas, vars, .. } = self;
        *vars
            .entry(var)
            .or_insert_with(|| formulas.var(VarKind::First))
    }

    fn base(&mut self, base: Base) -> Position {
        match base {
            Base::Zero => Position::Number(0),
            Base::Last => Position::Var(self.last),
            Base::Var(var) => Position::Var(self.var(var)),
            Base::Pointer(pointer, time) => {
                Position::Var(self.pointers[pointer.index()][time as usize])
            }
        }
    }

    /// Both terms with the same number added, so that no offset is negative.
    fn lifted(&mut self, left: Term, right: Term) -> (Position, Position) {
        let lift = left.offset.min(right.offset);
        let plus = |position: Position, offset: i64| match u32::try_from(offset) {
            Ok(0) => position,
            Ok(n) => match position {
                Position::Number(number) => Position::Number(number + n),
                position => position.plus(n),
            },
            Err(_) => unreachable!("offsets are small and were lifted"),
        };
        let (a, b) = (self.base(left.base), self.base(right.base));
        (plus(a, left.offset - lift), plus(b, right.offset - lift))
    }

    fn less(&mut self, left: Term, right: Term) -> Formula {
        let (left, right) = self.lifted(left, right);
        self.formulas.less(left, right)
    }

    fn equal(&mut self, left: Term, right: Term) -> Formula {
        let (left, right) = self.lifted(left, right);
        self.formulas.equal(left, right)
    }

    /// `at ∈ set`; an index below 0 is in no set.
    fn member(&mut self, at: Term, set: Var) -> Formula {
        let position = self.base(at.base);
        match u32::try_from(at.offset) {
            Ok(n) => self.formulas.member(position.plus(n), set),
            Err(_) => {
                let back = u32::try_from(-at.offset).expect("offsets are small");
                let exists = self.formulas.less(position.clone(), back);
                let exists = self.formulas.not(&exists);
                let member = self.formulas.member(position.minus(back), set);
                self.formulas.and(&[exists, member])
            }
        }
    }

    fn has(&mut self, column: ColumnId, number: usize, at: Term, time: Time) -> Formula {
        let bits = self.columns[column.index()].clone();
        let mut parts = Vec::new();
        for (bit, pair) in bits.into_iter().enumerate() {
            let member = self.member(at, pair[time as usize]);
            parts.push(if number >> bit & 1 == 1 {
                member
            } else {
                self.formulas.not(&member)
            });
        }
        debug_assert!(number < self.n_values.0[column.index()]);
        self.formulas.and(&parts)
    }

    fn is(&mut self, cell: CellId, number: usize, time: Time) -> Formula {
        let bits = self.cells[cell.index()].clone();
        let mut parts = Vec::new();
        for (bit, pair) in bits.into_iter().enumerate() {
            let holds = self.formulas.boolean(pair[time as usize]);
            parts.push(if number >> bit & 1 == 1 {
                holds
            } else {
                self.formulas.not(&holds)
            });
        }
        debug_assert!(number < self.n_values.1[cell.index()]);
        self.formulas.and(&parts)
    }
}

/// How many bits tell so many values apart.
fn n_bits(n_values: usize) -> usize {
    n_values.next_power_of_two().trailing_zeros() as usize
}

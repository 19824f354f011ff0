//! Effects: statements and stores.

use model::{BoundId, Expr, InstanceId, MAX_ITERATIONS, Place, Stmt, StmtKind};

use super::place::Target;
use super::{Compiler, Operand};
use crate::program::chooses;
use jit::Field;
use jit::{Arith, Op, Reg};

impl Compiler<'_> {
    /// Emits code for a sequence of statements.
    pub(crate) fn statements(&mut self, statements: &[Stmt]) {
        for statement in statements {
            self.statement(&statement.kind);
        }
    }

    pub(super) fn statement(&mut self, statement: &StmtKind) {
        match statement {
            StmtKind::Assign(place, value) => {
                let value = self.value(value);
                self.store(place, value);
            }
            StmtKind::If(condition, then, otherwise) => {
                let (is_false, done) = (self.label(), self.label());
                self.jump_if(condition, false, is_false);
                self.scoped(then);
                self.jump_op(Op::Jump { to: 0 }, done);
                self.place_label(is_false);
                self.scoped(otherwise);
                self.place_label(done);
            }
            StmtKind::For(bound, lo, hi, body) => {
                self.repeat(*bound, lo, hi, |compiler| compiler.scoped(body));
            }
            StmtKind::Choose(bound, lo, hi, condition) => {
                let choices = self.made_choices.as_mut().filter(|_| lo != hi);
                let made = choices.and_then(Iterator::next);
                let value = match made {
                    Some(value) => Operand::Const(value),
                    None if lo == hi => self.value_in_new_register(lo),
                    None => self.choose(lo, hi),
                };
                self.bindings.push((*bound, value));
                let possible = self.label();
                self.jump_if(condition, true, possible);
                self.emit(Op::Reject);
                self.place_label(possible);
            }
            StmtKind::Assert(condition) => {
                let fine = self.label();
                self.jump_if(condition, true, fine);
                self.emit(Op::Fail);
                self.place_label(fine);
            }
            StmtKind::Let(bound, value) => {
                // A register of its own: later statements may give the name another value.
                let value = self.value(value);
                let dst = self.register();
                self.copy_to(dst, value);
                self.bindings.push((*bound, Operand::Reg(dst)));
            }
            StmtKind::Set(bound, value) => {
                let value = self.value(value);
                let Operand::Reg(dst) = self.binding(*bound) else {
                    unreachable!("only names bound by `Let` are set");
                };
                self.copy_to(dst, value);
            }
            StmtKind::SetTimer(place, setting) => self.set_timer(place, setting),
            StmtKind::Tick => self.tick(),
            StmtKind::While(condition, body) => self.repeat_while(condition, body),
            StmtKind::Fail(_) | StmtKind::Exhausted => self.emit(Op::Fail),
        }
    }

    /// A value that later statements do not change.
    fn value_in_new_register(&mut self, expr: &Expr) -> Operand {
        let value = self.value(expr);
        let dst = self.register();
        self.copy_to(dst, value);
        Operand::Reg(dst)
    }

    fn choose(&mut self, lo: &Expr, hi: &Expr) -> Operand {
        let lo = self.value(lo);
        let lo = self.in_register(lo);
        let hi = self.value(hi);
        let hi = self.in_register(hi);
        let dst = self.register();
        self.emit(Op::Choose { dst, lo, hi });
        Operand::Reg(dst)
    }

    /// All combinations of the choices in some statements, in order; nothing if there are more than
    /// `limit`, or if a choice depends on the state or is not made in every case.
    pub(crate) fn choices_of(
        &mut self,
        statements: &[Stmt],
        limit: usize,
    ) -> Option<Vec<Vec<i64>>> {
        let n_bindings = self.bindings.len();
        let mut names: Vec<BoundId> = Vec::new();
        let mut combinations: Vec<Vec<i64>> = vec![Vec::new()];
        for statement in statements {
            let names_a_value = match &statement.kind {
                StmtKind::Let(..) => true,
                StmtKind::Choose(_, lo, hi, _) => lo == hi,
                StmtKind::Assign(..)
                | StmtKind::If(..)
                | StmtKind::For(..)
                | StmtKind::Assert(_)
                | StmtKind::Set(..)
                | StmtKind::While(..)
                | StmtKind::Fail(_)
                | StmtKind::SetTimer(..)
                | StmtKind::Tick
                | StmtKind::Exhausted => false,
            };
            if names_a_value {
                // Later choices may depend on a name whose value is not known.
                return None;
            }
            // shape: statements that choose deeper inside are found by `chooses`.
            let StmtKind::Choose(bound, lo, hi, _) = &statement.kind else {
                if chooses(self.model, std::slice::from_ref(statement)) {
                    return None;
                }
                continue;
            };
            let mut longer = Vec::new();
            for combination in combinations {
                let made = names.iter().copied().zip(combination.iter().copied());
                self.bindings.truncate(n_bindings);
                self.bindings
                    .extend(made.map(|(name, value)| (name, Operand::Const(value))));
                let (lo, hi) = (self.fold(lo)?, self.fold(hi)?);
                if hi.saturating_sub(lo) >= limit as i64 {
                    return None;
                }
                longer.extend((lo..=hi).map(|value| [&combination[..], &[value]].concat()));
                if longer.len() > limit {
                    return None;
                }
            }
            names.push(*bound);
            combinations = longer;
        }

        self.bindings.truncate(n_bindings);
        Some(combinations)
    }

    fn repeat_while(&mut self, condition: &Expr, body: &[Stmt]) {
        let left = self.in_fresh_register(i64::from(MAX_ITERATIONS));
        let zero = self.in_fresh_register(0);
        let one = self.in_fresh_register(1);
        let (again, go_on, done) = (self.label(), self.label(), self.label());
        self.place_label(again);
        self.jump_if(condition, false, done);
        self.jump_unless_equal(left, Operand::Reg(zero), go_on);
        self.emit(Op::Fail);
        self.place_label(go_on);
        let (op, dst) = (Arith::Sub, left);
        self.emit(Op::Arith {
            op,
            dst,
            a: left,
            b: one,
        });
        self.scoped(body);
        self.jump_op(Op::Jump { to: 0 }, again);
        self.place_label(done);
    }

    fn in_fresh_register(&mut self, value: i64) -> Reg {
        let dst = self.register();
        self.emit(Op::Const { dst, value });
        dst
    }

    /// Statements whose choices are not known behind them.
    pub(super) fn scoped(&mut self, statements: &[Stmt]) {
        let n_bindings = self.bindings.len();
        self.statements(statements);
        self.bindings.truncate(n_bindings);
    }

    pub(crate) fn store(&mut self, place: &Place, value: Operand) {
        match (self.target(place), value) {
            (Target::Field(field), Operand::Const(value)) => self.store_constant(field, value),
            (Target::Field(field), Operand::Reg(src)) => {
                self.footprint
                    .write_fields(&self.tables.fields, field..field + 1);
                self.emit(Op::Store { field, src });
            }
            (Target::At { base, offset, span }, value) => {
                self.footprint
                    .write_fields(&self.tables.fields, base..base + span);
                let src = self.in_register(value);
                self.emit(Op::StoreAt { base, offset, src });
            }
        }
    }

    pub(super) fn store_constant(&mut self, field: u32, value: i64) {
        let description = &self.tables.fields[field as usize];
        if !description.contains(value) {
            self.emit(Op::Fail);
            return;
        }
        let raw = description.encode(value);
        self.store_raw(field, raw);
    }

    /// Stores known bits; stores to the same word without anything but stores between are merged.
    pub(super) fn store_raw(&mut self, field: u32, raw: u64) {
        self.footprint
            .write_fields(&self.tables.fields, field..field + 1);
        let Field {
            word, shift, mask, ..
        } = self.tables.fields[field as usize];
        let (word, mask, bits) = (word as u16, mask << shift, raw << shift);

        for position in (self.barrier..self.tables.ops.len()).rev() {
            match &mut self.tables.ops[position] {
                Op::StoreMasked {
                    word: other,
                    mask: before,
                    bits: stored,
                } if *other == word => {
                    *stored = *stored & !mask | bits;
                    *before |= mask;
                    return;
                }
                Op::StoreMasked { .. } => {}
                _ => break,
            }
        }

        self.emit(Op::StoreMasked { word, mask, bits });
    }

    /// Sets the location of an instance.
    pub(crate) fn store_location(&mut self, instance: InstanceId, location: model::LocationId) {
        let field = self.layout.first_location + instance.0;
        self.store_raw(field, u64::from(location.0));
    }
}

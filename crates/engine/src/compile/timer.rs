//! Timers: setting them, and the tick.

use model::{Place, Setting};

use super::place::Target;
use super::{Compiler, Operand};
use jit::{Arith, Op, Reg};

impl Compiler<'_> {
    /// Emits code that sets a timer; an abstract one is noted.
    pub(super) fn set_timer(&mut self, place: &Place, setting: &Setting) {
        let timer = self.model.timer(place.var).expect("only timers are set");
        let (threshold, any, stretched) = (timer.threshold, timer.any, timer.stretched_from);
        let value = match (setting, threshold, any) {
            (Setting::To(expr), _, any) => {
                let value = self.value(expr);
                match stretched.zip(any) {
                    Some((from, any)) => self.stretched(value, from, any),
                    None => value,
                }
            }
            (Setting::Any, Some(threshold), _) => Operand::Const(threshold),
            (Setting::Any, None, Some(any)) => {
                let dst = self.register();
                self.choose_between(dst, any);
                Operand::Reg(dst)
            }
            (Setting::Any, None, None) => {
                unreachable!("front ends allow `any` for abstract timers")
            }
        };

        let Some(threshold) = threshold else {
            return self.store(place, value);
        };
        let value = self.at_most(value, threshold);
        self.store(place, value);

        let first = self.layout.first_cell;
        let (cell, offset) = match self.target(place) {
            Target::Field(field) => (field - first, None),
            Target::At { base, offset, .. } => (base - first, Some(offset)),
        };
        self.emit(Op::NoteTimer { cell, offset });
    }

    fn choose_between(&mut self, dst: Reg, (lo, hi): (i64, i64)) {
        let lo = self.in_register(Operand::Const(lo));
        let hi = self.in_register(Operand::Const(hi));
        self.emit(Op::Choose { dst, lo, hi });
    }

    /// A value, or if it is large, any of those that large values stand for.
    fn stretched(&mut self, value: Operand, from: i64, any: (i64, i64)) -> Operand {
        let dst = self.register();
        self.copy_to(dst, value);
        let from = self.in_register(Operand::Const(from));
        let small = self.label();
        self.jump_if_less(dst, from, small);
        self.choose_between(dst, any);
        self.place_label(small);
        Operand::Reg(dst)
    }

    fn at_most(&mut self, value: Operand, most: i64) -> Operand {
        let src = match value {
            Operand::Const(value) => return Operand::Const(value.min(most)),
            Operand::Reg(src) => src,
        };
        let dst = self.register();
        self.copy_to(dst, Operand::Reg(src));
        let most_reg = self.in_register(Operand::Const(most));
        let small = self.label();
        self.jump_if_less(dst, most_reg, small);
        self.copy_to(dst, Operand::Const(most));
        self.place_label(small);
        Operand::Reg(dst)
    }

    fn jump_if_less(&mut self, a: Reg, b: Reg, to: super::Label) {
        let less = Op::JumpCompare {
            op: Arith::Lt,
            sense: true,
            a,
            b,
            to: 0,
        };
        self.jump_op(less, to);
    }

    /// Emits code that decreases every timer that is not off.
    pub(super) fn tick(&mut self) {
        for &(cell, threshold) in self.model.timer_cells() {
            let field = self.layout.first_cell + cell as u32;
            let value = self.load(&Target::Field(field));
            let zero = self.in_register(Operand::Const(0));
            let one = self.in_register(Operand::Const(1));
            let off = self.label();
            self.jump_if_less(value, zero, off);
            let less = self.register();
            self.copy_to(less, Operand::Reg(one));
            if let Some(threshold) = threshold {
                let known = self.label();
                self.jump_unless_equal(value, Operand::Const(threshold), known);
                // Above the threshold, time passes by 0 or by 1 as far as the abstraction can tell.
                self.emit(Op::Choose {
                    dst: less,
                    lo: zero,
                    hi: one,
                });
                self.place_label(known);
            }
            let next = self.register();
            self.emit(Op::Arith {
                op: Arith::Sub,
                dst: next,
                a: value,
                b: less,
            });
            self.footprint
                .write_fields(&self.tables.fields, field..field + 1);
            self.emit(Op::Store { field, src: next });
            self.place_label(off);
        }
    }
}

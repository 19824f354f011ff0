//! Conditions as jumps.
//!
//! A condition is never computed to a value where a jump will do. Tests of fields against constants
//! need no register, and neighbouring tests of one word are merged into one masked comparison.

use model::{BinaryOp, Expr, Place, Quantifier};

use super::place::Target;
use super::{Compiler, Label, Operand, UNKNOWN, arithmetic};
use jit::Field;
use jit::{Arith, Op, Reg};

impl Compiler<'_> {
    /// Emits code that jumps to `to` iff the Boolean expression has the value `sense`.
    pub(crate) fn jump_if(&mut self, expr: &Expr, sense: bool, to: Label) {
        if let Some(value) = self.fold(expr) {
            if (value != 0) == sense {
                self.jump_op(Op::Jump { to: 0 }, to);
            }
            return;
        }
        match self
            .sharing
            .and_then(|sharing| sharing.slot(expr, &self.bindings))
        {
            Some(slot) => self.jump_if_shared(slot, expr, sense, to),
            None => self.jump_if_computed(expr, sense, to),
        }
    }

    /// A condition that several guards share: it is computed once for each state.
    pub(super) fn jump_if_shared(&mut self, slot: u16, expr: &Expr, sense: bool, to: Label) {
        let (is_true, is_false, done) = (self.label(), self.label(), self.label());
        let recall = Op::Recall {
            slot,
            to: UNKNOWN,
            otherwise: UNKNOWN,
        };
        self.patches.push((self.tables.ops.len(), is_true));
        self.jump_op(recall, is_false);
        let not = self.label();
        self.jump_if_computed(expr, false, not);
        self.emit(Op::Remember { slot, value: true });
        self.place_label(is_true);
        self.jump_op(Op::Jump { to: 0 }, if sense { to } else { done });
        self.place_label(not);
        self.emit(Op::Remember { slot, value: false });
        self.place_label(is_false);
        if !sense {
            self.jump_op(Op::Jump { to: 0 }, to);
        }
        self.place_label(done);
    }

    pub(super) fn jump_if_computed(&mut self, expr: &Expr, sense: bool, to: Label) {
        match expr {
            Expr::Not(inner) => self.jump_if(inner, !sense, to),
            Expr::Binary(BinaryOp::And, left, right) => {
                self.jump_if_both((left, true), (right, true), sense, to);
            }
            Expr::Binary(BinaryOp::Or, left, right) => {
                self.jump_if_both((left, false), (right, false), !sense, to);
            }
            Expr::Binary(BinaryOp::Implies, left, right) => {
                self.jump_if_both((left, true), (right, false), !sense, to);
            }
            Expr::Binary(op, left, right) if is_comparison(*op) => {
                self.jump_if_compare(*op, left, right, sense, to);
            }
            Expr::Quantified {
                quantifier,
                bound,
                lo,
                hi,
                body,
            } if *quantifier != Quantifier::Sum => {
                // `exists` is decided by the first true instance, `forall` by the first false one.
                let decisive = *quantifier == Quantifier::Exists;
                let (range, instance) = ((*bound, &**lo, &**hi), (&**body, decisive));
                if sense == decisive {
                    self.instances(range, instance, |compiler| {
                        compiler.jump_if(body, sense, to)
                    });
                } else {
                    let decided = self.label();
                    self.instances(range, instance, |compiler| {
                        compiler.jump_if(body, decisive, decided);
                    });
                    self.jump_op(Op::Jump { to: 0 }, to);
                    self.place_label(decided);
                }
            }
            Expr::Read(place) => match self.target(place) {
                target if self.only_value(&target).is_some() => {
                    if self.only_value(&target) == Some(i64::from(sense)) {
                        self.jump_op(Op::Jump { to: 0 }, to);
                    }
                }
                Target::Field(field) => self.jump_if_field(field, 1, sense, to),
                target => {
                    let src = self.load(&target);
                    self.jump_op(Op::JumpIf { src, sense, to: 0 }, to);
                }
            },
            Expr::At {
                process,
                owner,
                locations,
            } => {
                let target = self.location(*process, owner);
                self.jump_if_at(&target, locations, sense, to);
            }
            Expr::Int(_)
            | Expr::Bool(_)
            | Expr::Enum(..)
            | Expr::Bound(_)
            | Expr::Neg(_)
            | Expr::Binary(..)
            | Expr::Ite(..)
            | Expr::Quantified { .. }
            | Expr::Length(_)
            | Expr::Wrap { .. } => {
                let src = self.value(expr);
                let src = self.in_register(src);
                self.jump_op(Op::JumpIf { src, sense, to: 0 }, to);
            }
        }
    }

    /// Jumps iff (left has its value and right has its value) is `sense`, left first.
    pub(super) fn jump_if_both(
        &mut self,
        left: (&Expr, bool),
        right: (&Expr, bool),
        sense: bool,
        to: Label,
    ) {
        if sense {
            let no = self.label();
            self.jump_if(left.0, !left.1, no);
            self.jump_if(right.0, right.1, to);
            self.place_label(no);
        } else {
            self.jump_if(left.0, !left.1, to);
            self.jump_if(right.0, !right.1, to);
        }
    }

    pub(super) fn jump_if_compare(
        &mut self,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        sense: bool,
        to: Label,
    ) {
        if matches!(op, BinaryOp::Eq | BinaryOp::Ne) {
            let sense = sense == (op == BinaryOp::Eq);
            for (read, constant) in [(left, right), (right, left)] {
                // shape: a faster form of one comparison; all others are compiled below.
                if let (Expr::Read(place), Some(value)) = (read, self.fold(constant))
                    && self.jump_if_equal(place, value, sense, to)
                {
                    return;
                }
            }
        }

        let (op, swapped) = arithmetic(op).expect("Boolean operators are handled before");
        let a = self.value(left);
        let a = self.in_register(a);
        let b = self.value(right);
        let b = self.in_register(b);
        let (a, b) = if swapped { (b, a) } else { (a, b) };
        self.jump_op(
            Op::JumpCompare {
                op,
                sense,
                a,
                b,
                to: 0,
            },
            to,
        );
    }

    /// Tests a known field against a constant that it can hold, without a load. False if that is
    /// not possible; then nothing was emitted.
    pub(super) fn jump_if_equal(
        &mut self,
        place: &Place,
        value: i64,
        sense: bool,
        to: Label,
    ) -> bool {
        let Some(field) = self.known_field(place) else {
            return false;
        };
        let description = self.tables.fields[field as usize];
        if !description.contains(value) {
            return false;
        }
        self.jump_if_field(field, description.encode(value), sense, to);
        true
    }

    /// Jumps iff (the bits of the field equal `raw`) is `sense`.
    pub(super) fn jump_if_field(&mut self, field: u32, raw: u64, sense: bool, to: Label) {
        self.footprint
            .read_fields(&self.tables.fields, field..field + 1);
        let Field {
            word, shift, mask, ..
        } = self.tables.fields[field as usize];

        // Of one bit, "is not" is "is the other"; tests that jump on a difference can be merged.
        let (raw, sense) = match (mask, sense) {
            (1, true) => (1 - raw, false),
            other => (raw, other.1),
        };
        let (word, mask, value) = (word as u16, mask << shift, raw << shift);
        if !sense && self.merge_test(word, mask, value, to) {
            return;
        }
        let test = Op::JumpMasked {
            word,
            sense,
            to: 0,
            mask,
            value,
        };

        self.jump_op(test, to);
    }

    /// Adds a test to the instruction before, if that jumps to the same place on a difference in
    /// the same word.
    pub(super) fn merge_test(&mut self, word: u16, mask: u64, value: u64, to: Label) -> bool {
        let position = self.tables.ops.len();
        let same_target = self
            .patches
            .last()
            .is_some_and(|&(at, label)| at + 1 == position && label == to);
        if position <= self.barrier || !same_target {
            return false;
        }

        match self.tables.ops.last_mut() {
            Some(Op::JumpMasked {
                word: other,
                sense: false,
                mask: before,
                value: wanted,
                ..
            }) if *other == word && *before & mask & (*wanted ^ value) == 0 => {
                *before |= mask;
                *wanted |= value;
                true
            }
            _ => false,
        }
    }

    pub(super) fn jump_if_at(
        &mut self,
        target: &Target,
        locations: &[model::LocationId],
        sense: bool,
        to: Label,
    ) {
        match (locations, target) {
            ([location], Target::Field(field)) => {
                self.jump_if_field(*field, u64::from(location.0), sense, to);
            }
            _ if sense => self.jump_if_among(target, locations, to),
            _ => {
                let found = self.label();
                self.jump_if_among(target, locations, found);
                self.jump_op(Op::Jump { to: 0 }, to);
                self.place_label(found);
            }
        }
    }

    /// Jumps iff the value at `target` is one of the locations.
    pub(super) fn jump_if_among(
        &mut self,
        target: &Target,
        locations: &[model::LocationId],
        to: Label,
    ) {
        match *target {
            Target::Field(field) => {
                for location in locations {
                    self.jump_if_field(field, u64::from(location.0), true, to);
                }
            }
            Target::At { .. } => {
                let a = self.load(target);
                for location in locations {
                    let b = self.in_register(Operand::Const(i64::from(location.0)));
                    let op = Arith::Eq;
                    self.jump_op(
                        Op::JumpCompare {
                            op,
                            sense: true,
                            a,
                            b,
                            to: 0,
                        },
                        to,
                    );
                }
            }
        }
    }

    /// Jumps iff the register does not equal the operand.
    pub(crate) fn jump_unless_equal(&mut self, a: Reg, b: Operand, to: Label) {
        let b = self.in_register(b);
        let op = Arith::Eq;
        self.jump_op(
            Op::JumpCompare {
                op,
                sense: false,
                a,
                b,
                to: 0,
            },
            to,
        );
    }
}

fn is_comparison(op: BinaryOp) -> bool {
    match op {
        BinaryOp::Eq | BinaryOp::Ne | BinaryOp::Lt | BinaryOp::Le | BinaryOp::Gt | BinaryOp::Ge => {
            true
        }
        BinaryOp::Add
        | BinaryOp::Sub
        | BinaryOp::Mul
        | BinaryOp::Div
        | BinaryOp::Mod
        | BinaryOp::Quot
        | BinaryOp::Rem
        | BinaryOp::BitAnd
        | BinaryOp::BitOr
        | BinaryOp::BitXor
        | BinaryOp::Shl
        | BinaryOp::Shr
        | BinaryOp::And
        | BinaryOp::Or
        | BinaryOp::Implies => false,
    }
}

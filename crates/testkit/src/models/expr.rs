//! Random expressions.

use model::{BinaryOp, Expr, Owner, ProcessId, Quantifier};

use super::{Generator, LOCAL, X, place};

const BITWISE: [BinaryOp; 3] = [BinaryOp::BitAnd, BinaryOp::BitOr, BinaryOp::BitXor];
const SHIFTS: [BinaryOp; 2] = [BinaryOp::Shl, BinaryOp::Shr];
const DIVISIONS: [BinaryOp; 4] = [BinaryOp::Div, BinaryOp::Mod, BinaryOp::Quot, BinaryOp::Rem];

impl Generator<'_> {
    /// A value that fits `x`, or in rich models now and then one that does not.
    pub(super) fn small_value(&mut self) -> Expr {
        let value = self.expr(2, true);
        let n_values = if self.is_rich() { 4 } else { 2 };
        if self.is_rich() && self.random.chance(10) {
            return value;
        }
        Expr::binary(BinaryOp::Mod, value, Expr::Int(n_values))
    }

    /// A number that is not large: it may be the end of a loop.
    pub(super) fn expr(&mut self, depth: usize, in_process: bool) -> Expr {
        if depth == 0 || self.random.chance(30) {
            return self.number(in_process);
        }
        let (a, b) = (
            self.expr(depth - 1, in_process),
            self.expr(depth - 1, in_process),
        );

        match self.random.below(12) {
            0 | 1 => Expr::binary(BinaryOp::Add, a, b),
            2 => Expr::binary(BinaryOp::Mul, a, b),
            3 => Expr::binary(BinaryOp::Sub, a, b),
            4 => Expr::Neg(Box::new(a)),
            5 => {
                let divisor = if self.is_rich() {
                    b
                } else {
                    Expr::Int(*self.random.pick(&[-2, 2, 3]))
                };
                let a = Expr::binary(BinaryOp::Sub, a, Expr::Int(1));
                Expr::binary(*self.random.pick(&DIVISIONS), a, divisor)
            }
            6 => Expr::binary(*self.random.pick(&BITWISE), a, b),
            7 => {
                let amount = if self.is_rich() {
                    b
                } else {
                    Expr::Int(self.random.below(3) as i64)
                };
                Expr::binary(*self.random.pick(&SHIFTS), a, amount)
            }
            8 => self.wrapped(a),
            9 => {
                let body = |me: &mut Self| {
                    if me.random.chance(50) {
                        me.expr(depth - 1, in_process)
                    } else {
                        me.condition(depth - 1, in_process)
                    }
                };
                self.quantified(Quantifier::Sum, Expr::Int(1), body)
            }
            _ => {
                let condition = self.condition(depth - 1, in_process);
                Expr::Ite(Box::new(condition), Box::new(a), Box::new(b))
            }
        }
    }

    fn number(&mut self, in_process: bool) -> Expr {
        match self.random.below(6) {
            0 => Expr::Read(place(X, None, vec![])),
            1 if in_process && self.process == ProcessId(0) => {
                Expr::Read(place(LOCAL, Some(Owner::Own), vec![]))
            }
            2 if !self.bounds.is_empty() => Expr::Bound(*self.random.pick(&self.bounds)),
            3 => {
                let owner = self.owner_of(0);
                Expr::Read(place(LOCAL, Some(owner), vec![]))
            }
            _ => Expr::Int(self.random.below(3) as i64),
        }
    }

    /// The low bits of a number, or of a large one.
    fn wrapped(&mut self, small: Expr) -> Expr {
        let inner = if self.random.chance(30) {
            self.huge_expr(1)
        } else {
            Expr::binary(BinaryOp::Add, small, Expr::Int(3))
        };
        Expr::Wrap {
            bits: 1 + self.random.below(4) as u8,
            signed: self.random.chance(50),
            inner: Box::new(inner),
        }
    }

    pub(super) fn condition(&mut self, depth: usize, in_process: bool) -> Expr {
        if depth == 0 {
            let fact = self.fact();
            return if self.random.chance(50) {
                fact
            } else {
                Expr::not(fact)
            };
        }

        match self.random.below(9) {
            0..=2 => {
                let ops = [
                    BinaryOp::Eq,
                    BinaryOp::Ne,
                    BinaryOp::Lt,
                    BinaryOp::Le,
                    BinaryOp::Gt,
                    BinaryOp::Ge,
                ];
                let op = *self.random.pick(&ops);
                Expr::binary(op, self.expr(1, in_process), self.expr(1, in_process))
            }
            3 => {
                let ops = [
                    BinaryOp::And,
                    BinaryOp::Or,
                    BinaryOp::Implies,
                    BinaryOp::Eq,
                    BinaryOp::Ne,
                ];
                let op = *self.random.pick(&ops);
                let left = self.condition(depth - 1, in_process);
                Expr::binary(op, left, self.condition(depth - 1, in_process))
            }
            4 => Expr::not(self.condition(depth - 1, in_process)),
            5 => {
                let kinds = [Quantifier::Forall, Quantifier::Exists];
                let quantifier = *self.random.pick(&kinds);
                let hi = self.expr(1, in_process);
                self.quantified(quantifier, hi, |me| me.condition(depth - 1, in_process))
            }
            6 if in_process && self.random.chance(50) => Expr::At {
                process: self.process,
                owner: Owner::Own,
                locations: vec![model::LocationId(0)],
            },
            6 => self.whereabouts(),
            7 if self.is_rich() && self.random.chance(30) => {
                let ops = [BinaryOp::Lt, BinaryOp::Ge, BinaryOp::Eq];
                let op = *self.random.pick(&ops);
                Expr::binary(op, self.huge_expr(2), self.huge_expr(1))
            }
            _ => self.condition(0, in_process),
        }
    }

    /// The body for the values from 0 to `hi` of a new name.
    fn quantified(
        &mut self,
        quantifier: Quantifier,
        hi: Expr,
        body: impl FnOnce(&mut Self) -> Expr,
    ) -> Expr {
        let bound = self.bound("q");
        self.bounds.push(bound);
        let body = body(self);
        self.bounds.pop();
        Expr::Quantified {
            quantifier,
            bound,
            lo: Box::new(Expr::Int(0)),
            hi: Box::new(hi),
            body: Box::new(body),
        }
    }
}

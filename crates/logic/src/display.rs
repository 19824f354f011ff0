//! Formulas as text.

use std::fmt::{self, Write};

use base::AtomId;

use crate::ltl::{Ltl, Op};

/// A formula together with the names of its atoms, ready to be printed.
pub struct Display<'a> {
    formula: &'a Ltl,
    name: &'a dyn Fn(AtomId) -> String,
}

impl Ltl {
    /// Prints with the fewest parentheses, except that binary temporal operators and equivalences
    /// inside each other always get them: few readers know how `a U b W c` associates.
    ///
    /// Names are printed as they are; [`crate::atom_text`] quotes those that need it.
    #[must_use]
    pub fn display<'a>(&'a self, name: &'a dyn Fn(AtomId) -> String) -> Display<'a> {
        Display {
            formula: self,
            name,
        }
    }
}

/// How tightly an operator binds; a looser operand needs parentheses.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Binding {
    Iff,
    Implies,
    Or,
    And,
    Temporal,
    Unary,
}

impl Binding {
    /// The next tighter one: what an operand needs if it must not be of the same kind.
    fn tighter(self) -> Self {
        match self {
            Self::Iff => Self::Implies,
            Self::Implies => Self::Or,
            Self::Or => Self::And,
            Self::And => Self::Temporal,
            Self::Temporal | Self::Unary => Self::Unary,
        }
    }
}

/// What is still to be written. The printer keeps a stack of these instead of recursing.
enum Piece<'a> {
    Text(&'static str),
    Formula(&'a Ltl, Binding),
}

impl fmt::Display for Display<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut stack = vec![Piece::Formula(self.formula, Binding::Iff)];
        while let Some(piece) = stack.pop() {
            let (formula, at_least) = match piece {
                Piece::Text(text) => {
                    f.write_str(text)?;
                    continue;
                }
                Piece::Formula(formula, at_least) => (formula, at_least),
            };
            if let Op::Atom(atom) = formula.op() {
                f.write_str(&(self.name)(*atom))?;
                continue;
            }
            let (binding, pieces) = split(formula);
            if binding < at_least {
                f.write_char('(')?;
                stack.push(Piece::Text(")"));
            }
            stack.extend(pieces.into_iter().rev());
        }

        Ok(())
    }
}

/// How tightly the outermost operator binds, and the pieces that the formula consists of.
fn split(formula: &Ltl) -> (Binding, Vec<Piece<'_>>) {
    let prefix = |symbol, inner| {
        let pieces = vec![Piece::Text(symbol), Piece::Formula(inner, Binding::Unary)];
        (Binding::Unary, pieces)
    };
    let infix = |binding: Binding, symbol, parts: Vec<_>, last: Binding| {
        let mut pieces = Vec::new();
        let n_parts = parts.len();
        for (position, part) in parts.into_iter().enumerate() {
            let is_last = position + 1 == n_parts;
            if position > 0 {
                pieces.push(Piece::Text(symbol));
            }
            let needed = if is_last { last } else { binding.tighter() };
            pieces.push(Piece::Formula(part, needed));
        }
        (binding, pieces)
    };

    let temporal = |symbol| {
        infix(
            Binding::Temporal,
            symbol,
            formula.operands(),
            Binding::Unary,
        )
    };

    match formula.op() {
        Op::True => (Binding::Unary, vec![Piece::Text("true")]),
        Op::False => (Binding::Unary, vec![Piece::Text("false")]),
        Op::Atom(_) => unreachable!("atoms are printed by the caller"),
        Op::Not(inner) => prefix("!", inner),
        Op::Next(inner) => prefix("X ", inner),
        Op::Eventually(inner) => prefix("<>", inner),
        Op::Always(inner) => prefix("[]", inner),
        Op::And(_) => infix(Binding::And, " && ", formula.operands(), Binding::Temporal),
        Op::Or(_) => infix(Binding::Or, " || ", formula.operands(), Binding::And),
        Op::Implies(..) => infix(
            Binding::Implies,
            " -> ",
            formula.operands(),
            Binding::Implies,
        ),
        Op::Iff(..) => infix(Binding::Iff, " <-> ", formula.operands(), Binding::Implies),
        Op::Until(..) => temporal(" U "),
        Op::WeakUntil(..) => temporal(" W "),
        Op::Release(..) => temporal(" R "),
        Op::StrongRelease(..) => temporal(" M "),
        Op::Previously(inner) => prefix("previously ", inner),
        Op::Since(all, inner) if *all.op() == Op::True => prefix("once ", inner),
        Op::Since(..) => temporal(" since "),
    }
}

/// Atoms are printed as `p0`, `p1`, …
impl fmt::Debug for Ltl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |atom: AtomId| format!("p{}", atom.0);
        fmt::Display::fmt(&self.display(&name), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn p(index: u32) -> Ltl {
        Ltl::atom(AtomId(index))
    }

    #[test]
    fn parentheses_are_few() {
        let response = Ltl::always(Ltl::implies(p(0), Ltl::eventually(p(1))));
        assert_eq!(format!("{response:?}"), "[](p0 -> <>p1)");
        let mixed = Ltl::or([Ltl::and([p(0), Ltl::until(p(1), p(2))]), Ltl::next(p(0))]);
        assert_eq!(format!("{mixed:?}"), "p0 && p1 U p2 || X p0");
        let chain = Ltl::implies(Ltl::implies(p(0), p(1)), Ltl::implies(p(1), p(2)));
        assert_eq!(format!("{chain:?}"), "(p0 -> p1) -> p1 -> p2");
        let nested = Ltl::until(p(0), Ltl::until(p(1), p(2)));
        assert_eq!(format!("{nested:?}"), "p0 U (p1 U p2)");
        let negated = Ltl::not(Ltl::and([p(0), Ltl::always(Ltl::eventually(p(1)))]));
        assert_eq!(format!("{negated:?}"), "!(p0 && []<>p1)");
    }
}

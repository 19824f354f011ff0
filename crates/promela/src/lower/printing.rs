//! What steps print, for simulations.
//!
//! Inside a `d_step` nothing is printed: its statements are one effect.

use model::{Expr, ProcessId, Stmt};
use source::{Print, PrintedPiece};

use crate::ast::{self, Printed};
use crate::flow::{ElementKind, Leaf};

use super::expr::Who;
use super::process::Planned;
use super::{Lowering, Unit};

impl Lowering<'_> {
    /// Notes what a step prints. Its effect is that of its statement, then those of the chain.
    pub(super) fn note_prints(
        &mut self,
        unit: &Unit,
        planned: &Planned,
        effect: &[Stmt],
        step: (ProcessId, usize),
        who: &Who,
    ) {
        let prints = |element: usize| {
            matches!(
                unit.flow.elements[element].kind,
                ElementKind::Leaf(Leaf::Print(_))
            )
        };
        let has_prints = prints(planned.exit.element) || planned.chain.iter().any(|e| prints(*e));
        // What no state remembers cannot be shown.
        if !has_prints || !self.special.temporaries.is_empty() {
            return;
        }

        let mut n_behind = 0;
        let elements = std::iter::once(&planned.exit.element).chain(&planned.chain);
        for &element in elements.collect::<Vec<_>>().into_iter().rev() {
            let element_kind = unit.flow.elements[element].kind.clone();
            if let ElementKind::Leaf(Leaf::Print(printed)) = element_kind {
                let n_before = effect.len().saturating_sub(n_behind);
                let context = unit.flow.elements[element].context;
                let who = Who {
                    context,
                    ..who.clone()
                };
                let pieces = self.pieces(&printed, &who);
                let before = effect[..n_before].to_vec();
                self.prints.push(Print {
                    step,
                    before,
                    pieces,
                });
            } else if element != planned.exit.element {
                let element = unit.flow.elements[element].clone();
                let ways = self.variants(&element, who);
                n_behind += ways.iter().map(|way| way.effect.len()).sum::<usize>();
            }
        }
    }

    /// The pieces of a `printf`, as C reads its format. What is wrong with its values is not an error:
    /// printing is not checked.
    fn pieces(&mut self, printed: &Printed, who: &Who) -> Vec<PrintedPiece> {
        let n_said = self.diagnostics.len();
        let n_pitfalls = self.pitfalls.len();
        let is_number = self.mtype_is_number;

        let mut values = printed.values.iter();
        let mut pieces = Vec::new();
        let mut text = String::new();
        let mut format = printed.format.chars();
        while let Some(c) = format.next() {
            match c {
                '\\' => text.extend(escaped(format.next())),
                '%' => {
                    let conversion = format.find(|c| !c.is_ascii_digit() && !"-+ #.l".contains(*c));
                    let value = match conversion {
                        Some('%') | None => None,
                        Some(_) => values.next(),
                    };
                    let Some(value) = value else {
                        text.push('%');
                        continue;
                    };
                    pieces.push(PrintedPiece::Text(std::mem::take(&mut text)));
                    pieces.push(self.piece(conversion, value, who));
                }
                c => text.push(c),
            }
        }
        pieces.push(PrintedPiece::Text(text));

        self.diagnostics.truncate(n_said);
        self.pitfalls.truncate(n_pitfalls);
        self.mtype_is_number = is_number;
        pieces
    }

    fn piece(&mut self, conversion: Option<char>, value: &ast::Expr, who: &Who) -> PrintedPiece {
        let value: Expr = self.value(value, who).expr;
        match conversion {
            Some('c') => PrintedPiece::Character(value),
            Some('e') => {
                let names = self.symbols.mtypes.iter();
                let names = names.map(|(name, number)| (*number, name.to_string()));
                PrintedPiece::Named(value, names.collect())
            }
            _ => PrintedPiece::Number(value),
        }
    }
}

/// What a character behind a backslash stands for.
fn escaped(c: Option<char>) -> Option<char> {
    Some(match c? {
        'n' => '\n',
        't' => '\t',
        other => other,
    })
}

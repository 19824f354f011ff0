//! The reachable abstract states as an invariant for the checker of certificates.

use abstraction::predicate::{AbstractGraph, Content, Domain, Program};
use certify::Invariant;
use smt::{Linear, Sort, Term};

/// The invariant that the explored states are; nothing if it speaks of what the checker does not know.
pub(super) fn invariant_of(
    program: &Program,
    domain: &Domain,
    graph: &AbstractGraph,
) -> Option<Invariant> {
    let printer = Printer { program };
    let kept = domain.kept.iter().map(|(var, _)| printer.name(*var));
    let predicates = domain.predicates.iter().map(|p| printer.text(&p.term));
    Some(Invariant {
        terms: kept.chain(predicates).collect::<Option<_>>()?,
        rows: graph.states.iter().map(|state| state.to_vec()).collect(),
    })
}

/// Writes terms in the names of the checker.
struct Printer<'p> {
    program: &'p Program,
}

impl Printer<'_> {
    fn name(&self, var: usize) -> Option<String> {
        match self.program.vars[var].content {
            Content::Cell(cell) => Some(format!("c{cell}")),
            Content::Location(instance) => Some(format!("l{}", instance.index())),
            Content::Array(..) | Content::Length(_) | Content::Slot(..) => None,
        }
    }

    fn text(&self, term: &Term) -> Option<String> {
        Some(match term {
            Term::Bool(value) => format!("(= 1 {})", u8::from(*value)),
            Term::Int(value) => number(*value),
            Term::Var(name, sort) => {
                let mut vars = self.program.vars.iter();
                let name = self.name(vars.position(|var| var.name == *name)?)?;
                match sort {
                    Sort::Int => name,
                    Sort::Bool => format!("(= {name} 1)"),
                    Sort::Array => return None,
                }
            }
            Term::Not(inner) => format!("(not {})", self.text(inner)?),
            Term::And(parts) => self.junction("and", parts)?,
            Term::Or(parts) => self.junction("or", parts)?,
            Term::Le(linear) => format!("(<= {} 0)", self.sum(linear)?),
            Term::Eq(linear) => format!("(= {} 0)", self.sum(linear)?),
            Term::Sum(linear) => self.sum(linear)?,
            Term::Div(term, by) => format!("(div {} {})", self.text(term)?, number(*by)),
            Term::Mod(term, by) => format!("(mod {} {})", self.text(term)?, number(*by)),
            Term::Ite(condition, then, otherwise) => {
                let [condition, then, otherwise] =
                    [condition, then, otherwise].map(|part| self.text(part));
                format!("(ite {} {} {})", condition?, then?, otherwise?)
            }
            Term::SameArray(..) | Term::Select(..) | Term::Store(..) => return None,
        })
    }

    fn junction(&self, operator: &str, parts: &[Term]) -> Option<String> {
        let parts: Option<Vec<String>> = parts.iter().map(|part| self.text(part)).collect();
        Some(format!("({operator} {})", parts?.join(" ")))
    }

    fn sum(&self, linear: &Linear) -> Option<String> {
        let mut text = format!("(+ {}", number(linear.offset()));
        for (term, factor) in linear.terms() {
            text += &format!(" (* {} {})", number(factor), self.text(term)?);
        }
        Some(text + " 0)")
    }
}

fn number(value: i128) -> String {
    if value < 0 {
        format!("(- {})", value.unsigned_abs())
    } else {
        value.to_string()
    }
}

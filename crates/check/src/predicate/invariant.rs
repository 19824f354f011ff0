//! The reachable abstract states as an invariant for the checker of certificates, and their steps as a
//! graph that runs follow.

use abstraction::predicate::{AbstractGraph, AtomTerm, Content, Domain, Effect, Program};
use certify::{Change, DataCondition, DataEdge, DataRuns, Invariant, NoRun};
use model::ConditionKind;
use smt::{Linear, Sort, Term};

use super::product::{Product, Ranked};
use super::setup::Check;

/// The invariant that the explored states are; nothing if it speaks of what the checker does not know.
pub(super) fn invariant_of(
    program: &Program,
    domain: &Domain,
    graph: &AbstractGraph,
) -> Option<Invariant> {
    let printer = Printer { program };
    let kept = domain.kept.iter().map(|(var, _)| printer.name(*var));
    let predicates = domain.predicates.iter().map(|p| printer.text(&p.term));
    // A fact holds in all states that are at its locations, so it is true of every row.
    let facts = domain.facts.iter().map(|fact| {
        let at = fact.at.iter();
        let at = at.map(|(slot, value)| domain.describe(program, *slot, *value));
        printer.text(&Term::implies(Term::and(at), fact.term.clone()))
    });
    let with_facts = |state: &[i64]| [state, &vec![1; domain.facts.len()]].concat();
    Some(Invariant {
        terms: kept.chain(predicates).chain(facts).collect::<Option<_>>()?,
        rows: graph.states.iter().map(|state| with_facts(state)).collect(),
    })
}

/// The graph that was found to have no fair run that breaks the property, without the reason why;
/// nothing if it speaks of what the checker does not know.
pub(super) fn runs_of(
    check: &Check<'_>,
    product: &Product<'_, '_>,
    rankings: &[Term],
) -> Option<DataRuns> {
    let (graph, abstraction) = (product.graph, product.abstraction);
    let program = abstraction.program;
    let printer = Printer { program };
    let rankings: Option<Vec<String>> = rankings.iter().map(|rank| printer.text(rank)).collect();

    let mut edges = Vec::new();
    for (source, of_state) in graph.edges.iter().enumerate() {
        for (position, edge) in of_state.iter().enumerate() {
            let commands = edge
                .transition
                .map(|t| &program.transitions[t].commands[..]);
            let change = |ranked: &Ranked| match ranked.effects[source][position] {
                Effect::Decreasing => Change::Decreases,
                Effect::Falling | Effect::Quiet => Change::Keeps,
                Effect::Increasing => Change::MayIncrease,
            };
            edges.push(DataEdge {
                source: source as u32,
                target: edge.target as u32,
                command: match commands {
                    None => None,
                    Some([command]) => Some(command.0),
                    Some(_) => return None,
                },
                changes: product.rankings.iter().map(change).collect(),
            });
        }
    }
    edges.sort_unstable();
    edges.dedup();

    let mut conditions = Vec::new();
    for (number, condition) in product.conditions.iter().enumerate() {
        let is_certain = |state: &[i64]| product.is_certain(&condition.subject, state);
        let enabled: Vec<bool> = graph.states.iter().map(|s| is_certain(s)).collect();
        if condition.kind == ConditionKind::Unconditional || enabled.contains(&true) {
            let number = number as u32;
            conditions.push(DataCondition { number, enabled });
        }
    }

    let atoms = check.setup.atoms.iter();
    let about_states = atoms.filter(|(_, meaning)| matches!(meaning, AtomTerm::State(_)));
    let mut atoms: Vec<(u32, Vec<bool>)> = about_states
        .map(|(atom, _)| {
            let states = graph.states.iter();
            let holds = states.map(|state| product.letters.holds(*atom, state, None));
            (atom.index() as u32, holds.collect())
        })
        .collect();
    atoms.sort_unstable();

    Some(DataRuns {
        invariant: invariant_of(program, &abstraction.domain, graph)?,
        initial: (0..graph.n_initial as u32).collect(),
        rankings: rankings?,
        conditions,
        atoms,
        edges,
        run: NoRun::default(),
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

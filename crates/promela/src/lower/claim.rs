//! `never` claims: automata of bad runs.
//!
//! A claim takes a step at every position of a run outside of atomics; its conditions are read as
//! the letters of the run. Reaching its end is bad at once. Steps of the claim that are inside an
//! `atomic` of the claim happen at the same position.

use base::{AtomId, Diagnostic};
use logic::{ClaimState, Ltl, NamedProperty, NeverClaim, Op, Property};
use model::Expr;
use omega::Cube;

use crate::ast;
use crate::flow::{self, Body, ElementKind, Flow, Leaf};
use crate::symbols::GLOBAL;

use super::d_step::is_else;
use super::expr::Who;
use super::property::named;
use super::{Lowering, all, any};

/// Steps of a claim inside its atomics may follow each other this often at one position.
const MAX_CHAIN: usize = 100;

/// A claim under construction.
struct ClaimBuilder<'a> {
    flow: &'a Flow,
    locations: Vec<usize>,
    /// The state behind the end of the claim.
    end: usize,
}

/// Conditions that must hold for a step of the claim, and where it leads.
type Way = (Vec<(AtomId, bool)>, usize);

impl Lowering<'_> {
    /// The claims as properties: no run may satisfy them.
    pub(super) fn claims(&mut self) -> Vec<NamedProperty> {
        let program = self.program;
        let mut found = Vec::new();
        for claim in &program.claims {
            let name = claim.name.as_deref().unwrap_or("never");
            if let Some(property) = self.claim(claim) {
                let text = "no run satisfies the claim";
                found.push(named(name, text, Property::Never(property), claim.span));
            }
        }
        found
    }

    fn claim(&mut self, claim: &ast::ClaimDecl) -> Option<NeverClaim> {
        let body = Body {
            statements: &claim.body,
            end: claim.end,
            scope: GLOBAL,
            owner: None,
            is_claim: true,
        };

        let labels = &self.program.remote_labels;
        let n_vars = self.symbols.vars.len();
        let flow = flow::build(&body, labels, &mut self.symbols, self.diagnostics)?;
        if self.symbols.vars.len() > n_vars {
            let message = "a claim has no variables of its own";
            self.error("claim", claim.span, message);
            return None;
        }

        let locations = flow.locations();
        let builder = ClaimBuilder {
            flow: &flow,
            end: locations.len(),
            locations,
        };
        let inside = self.inside_atomic().map(|formula| match formula.op() {
            Op::Atom(atom) => *atom,
            _ => unreachable!("it is an atom"),
        });
        let mut states = Vec::new();

        for (position, location) in builder.locations.iter().enumerate() {
            let described = &flow.elements[*location];
            let accepting = described
                .labels
                .iter()
                .any(|label| label.starts_with("accept"));
            let mut edges = Vec::new();
            for (mut literals, target) in self.ways(&builder, *location, 0)? {
                literals.extend(inside.map(|atom| (atom, false)));
                edges.extend(Cube::new(literals).map(|guard| (guard, target)));
            }
            if let Some(atom) = inside {
                let wait = Cube::new([(atom, true)]).expect("one literal");
                edges.push((wait, position));
            }
            states.push(ClaimState { accepting, edges });
        }

        states.push(ClaimState {
            accepting: true,
            edges: vec![(Cube::default(), builder.end)],
        });
        Some(NeverClaim { states })
    }

    /// The steps that leave a location of a claim.
    fn ways(
        &mut self,
        builder: &ClaimBuilder<'_>,
        location: usize,
        depth: usize,
    ) -> Option<Vec<Way>> {
        let flow = builder.flow;
        let mut ways = Vec::new();
        let mut before: Vec<Expr> = Vec::new();
        if matches!(flow.elements[location].kind, ElementKind::End) {
            return Some(vec![(Vec::new(), builder.end)]);
        }

        for exit in flow.exits(location) {
            let element = flow.elements[exit.element].clone();
            let (guard, violated) = match &element.kind {
                ElementKind::Leaf(Leaf::Condition(expr)) => {
                    (self.condition(expr, &Who::no_process()), None)
                }
                ElementKind::Leaf(Leaf::Else) => (Expr::not(any(before.iter().cloned())), None),
                ElementKind::Leaf(Leaf::Assert(expr)) => {
                    let holds = self.condition(expr, &Who::no_process());
                    (holds.clone(), Some(Expr::not(holds)))
                }
                ElementKind::Leaf(Leaf::Print(_)) | ElementKind::Goto(_) | ElementKind::Dot => {
                    (Expr::Bool(true), None)
                }
                _ => {
                    let message = "a claim only observes: it cannot assign, send or receive";
                    let diagnostic = Diagnostic::error("claim", element.span, message);
                    self.say(diagnostic.help("write conditions over global variables"));
                    return None;
                }
            };
            if !is_else(flow, exit.element) {
                before.push(guard.clone());
            }

            // A failed assertion of a claim is an error like its end, which accepts every
            // continuation.
            if let Some(violated) = violated {
                let literals = self.literals(&all([violated]), &element);
                ways.extend(literals.map(|literals| (literals, builder.end)));
            }
            let Some(literals) = self.literals(&guard, &element) else {
                continue;
            };
            let target = exit.target?;

            // An `atomic` of a claim reads one position with all its statements, so their
            // conditions are one conjunction.
            let goes_on = element.in_atomic && flow.elements[target].in_atomic;
            if !goes_on || depth >= MAX_CHAIN {
                let position = builder
                    .locations
                    .iter()
                    .position(|other| *other == target)?;
                ways.push((literals, position));
                continue;
            }
            for (more, end) in self.ways(builder, target, depth + 1)? {
                ways.push((literals.iter().copied().chain(more).collect(), end));
            }
        }

        Some(ways)
    }

    /// A condition as literals; nothing if it is false.
    fn literals(&mut self, guard: &Expr, element: &flow::Element) -> Option<Vec<(AtomId, bool)>> {
        // shape: a guard that is not a negation is a literal itself.
        let (guard, value) = if let Expr::Not(inner) = guard {
            ((**inner).clone(), false)
        } else {
            (guard.clone(), true)
        };
        let name = if value {
            self.text(element.span)
        } else {
            format!("not {}", self.text(element.span))
        };
        let formula: Ltl = self.state_atom(&name, guard, element.span);
        match formula.op() {
            Op::Atom(atom) => Some(vec![(*atom, value)]),
            Op::True if value => Some(Vec::new()),
            Op::False if !value => Some(Vec::new()),
            _ => None,
        }
    }
}
